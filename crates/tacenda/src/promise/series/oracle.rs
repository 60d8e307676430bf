//! For tests: all worlds and all coins of tiny tables. What is a reader sure of who knows this program?
//!
//! The reader is told who is in which group (science A3.11-a), knows who is present when, and knows the program but not
//! its seed. For every assignment of values to people, and for every way the lots can fall, the program is run. Then
//! Bayes' rule is applied in whole numbers.

use crate::grouping::GroupingError;
use crate::grouping::evolve::{SnapshotRow, after, group_values, schema, table, values};
use crate::model::lots::GivenLots;
use crate::model::{Grouping, History, Lots, Reader, RecordKey, Rng, Schema, Table, Value};
use crate::promise::series::incremental_l_diversity::drawn;
use crate::promise::series::{Grouper, SeriesPromise};
use crate::promise::{GroupForming, IncrementalLDiversity, MInvariance, Surplus};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

/// Divisible by all products of chances that are met; asserted.
const WHOLE: u128 = 720_720 * 720_720 * 720_720 * 720_720;

/// What a test publishes.
struct Script {
    /// The quasi codes of each person.
    places: &'static [&'static [u32]],
    /// Who is present in each release.
    present: &'static [&'static [usize]],
    /// How many sensitive values there are.
    values: u32,
    /// How often each value occurs, where the reader knows that; it makes fewer assignments.
    histogram: Option<&'static [usize]>,
}

/// How likely each value is before anything is published, in parts: alike, or not.
const PRIORS: [[u128; 4]; 2] = [[1, 1, 1, 1], [4, 2, 1, 1]];

/// How a reader thinks that the program draws.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Draws {
    /// As it does: every order of the people of a value is as likely.
    ByLot,
    /// In the order of the first quasi code, as a walk along a curve would.
    ByPlace,
}

/// The groups of all releases: who is in each, and its value set.
type Seen = Vec<Vec<(Vec<usize>, Vec<Value>)>>;

/// The worst that a reader can make of any outcome.
struct Worst {
    /// The largest share of the assignments that fit, that give a published person one value.
    share: (u128, u128),
    /// How many outcomes there are.
    outcomes: usize,
    /// In how many of them somebody's share is above 1/m.
    above: usize,
}

impl Worst {
    fn is_at_most(&self, m: u32) -> bool {
        self.share.0 * u128::from(m) <= self.share.1
    }
}

/// One way the lots fall.
struct Fallen {
    /// The order of people.
    ranks: HashMap<u64, u64>,
    /// The number that each unit draws, and below what; zero where none is said. Threads ask in any order.
    drawn: Mutex<Drawn>,
}

/// Per unit, a number and its bound.
type Drawn = BTreeMap<Vec<u32>, (u64, u64)>;

impl GivenLots for Fallen {
    fn of(&self, record: RecordKey) -> u64 {
        self.ranks.get(&record.lo).copied().unwrap_or(0)
    }

    fn below(&self, unit: &[u32], bound: u64) -> u64 {
        let mut drawn = self.drawn.lock().unwrap();
        let (number, known) = *drawn.entry(unit.to_vec()).or_insert((0, bound));
        assert_eq!(known, bound, "what a unit draws does not depend on what others drew");
        number
    }
}

/// Every order of `people`.
fn orders(people: &[usize]) -> Vec<Vec<usize>> {
    match people {
        [] => vec![Vec::new()],
        _ => (0..people.len())
            .flat_map(|first| {
                let rest: Vec<usize> =
                    people.iter().enumerate().filter(|&(at, _)| at != first).map(|(_, &one)| one).collect();
                orders(&rest).into_iter().map(move |order| [vec![people[first]], order].concat())
            })
            .collect(),
    }
}

/// The ranks of people, one for every way to order those of each value.
fn ranks(people: &[usize], held: &[u32], values: u32) -> Vec<HashMap<u64, u64>> {
    let mut all = vec![HashMap::new()];
    for value in 0..values {
        let holders: Vec<usize> = people.iter().copied().filter(|&one| held[one] == value).collect();
        let orders = orders(&holders);
        all = all
            .iter()
            .flat_map(|ranks| {
                orders.iter().map(move |order| {
                    let mut ranks: HashMap<u64, u64> = ranks.clone();
                    ranks.extend(order.iter().zip(1..).map(|(&one, rank)| (one as u64, rank)));
                    ranks
                })
            })
            .collect();
    }
    all
}

impl Script {
    fn table(&self, present: &[usize], held: &[u32]) -> Table {
        let people: Vec<SnapshotRow> =
            present.iter().map(|&one| (one as u64, self.places[one].to_vec(), held[one])).collect();
        table(&values(self.values), self.places[0].len(), &people)
    }

    /// All releases that can come of one assignment, each with its weight.
    fn outcomes(&self, policy: &dyn Grouper, withholds: bool, draws: Draws, held: &[u32]) -> BTreeMap<Seen, u128> {
        let schema = schema(&vec![20; self.places[0].len()]);
        // Two ways to one outcome lead on alike.
        let mut states: BTreeMap<Seen, (u128, History)> = BTreeMap::from([(Vec::new(), (WHOLE, History::default()))]);
        for present in self.present {
            let table = self.table(present, held);
            let mut next: BTreeMap<Seen, (u128, History)> = BTreeMap::new();
            for (seen, (weight, history)) in &states {
                // The lots of people who were published before decide only who of them is withheld.
                let is_new = |one: &usize| !seen.iter().flatten().any(|(people, _)| people.contains(one));
                let drawn: Vec<usize> = present.iter().copied().filter(|one| withholds || is_new(one)).collect();
                let ways = match draws {
                    Draws::ByLot => ranks(&drawn, held, self.values),
                    Draws::ByPlace => {
                        vec![present.iter().map(|&one| (one as u64, u64::from(self.places[one][0]))).collect()]
                    }
                };
                assert_eq!(weight % ways.len() as u128, 0);
                let weight = weight / ways.len() as u128;
                for ranks in ways {
                    for (grouping, weight) in
                        every_draw(&ranks, weight, |lots| policy.group(&schema, history, &table, lots))
                    {
                        // A series that is refused is not seen.
                        let Ok(grouping) = grouping else { continue };
                        let mut seen = seen.clone();
                        seen.push(groups(&table, &grouping));
                        let after = || (0, after(&schema, history, &table, &grouping));
                        next.entry(seen).or_insert_with(after).0 += weight;
                    }
                }
            }
            states = next;
        }
        states.into_iter().map(|(seen, (weight, _))| (seen, weight)).collect()
    }

    /// The worst over all assignments, coins and priors.
    fn worst(&self, policy: &dyn Grouper, withholds: bool, draws: Draws, m: u32) -> Worst {
        let people = self.places.len();
        let worlds = u64::from(self.values).pow(people as u32);
        let held = |world: u64| -> Vec<u32> {
            let value = |one: u32| world / u64::from(self.values).pow(one) % u64::from(self.values);
            (0..people as u32).map(|one| value(one) as u32).collect()
        };
        let fits = |world: &u64| {
            let held = held(*world);
            let occurs = |value: usize| held.iter().filter(|&&one| one as usize == value).count();
            self.histogram.is_none_or(|wanted| wanted.iter().enumerate().all(|(value, &times)| occurs(value) == times))
        };
        let told: Vec<(Vec<u32>, BTreeMap<Seen, u128>)> = (0..worlds)
            .into_par_iter()
            .filter(fits)
            .map(|world| (held(world), self.outcomes(policy, withholds, draws, &held(world))))
            .collect();
        let mut worst = Worst { share: (0, 1), outcomes: 0, above: 0 };
        for prior in PRIORS {
            // Per outcome: the weight of each value of each person.
            let mut beliefs: BTreeMap<&Seen, Vec<Vec<u128>>> = BTreeMap::new();
            for (held, outcomes) in &told {
                let prior: u128 = held.iter().map(|&value| prior[value as usize]).product();
                for (seen, weight) in outcomes {
                    let belief = beliefs.entry(seen).or_insert_with(|| vec![vec![0; self.values as usize]; people]);
                    for (one, &value) in held.iter().enumerate() {
                        belief[one][value as usize] += weight * prior;
                    }
                }
            }
            worst.outcomes = beliefs.len();
            for (seen, belief) in beliefs {
                let is_published = |one: &usize| seen.iter().flatten().any(|(people, _)| people.contains(one));
                let total: u128 = belief[0].iter().sum();
                let shares = (0..people).filter(is_published).flat_map(|one| &belief[one]);
                let Some(&most) = shares.max() else { continue };
                worst.above += usize::from(most * u128::from(m) > total);
                if most as f64 / total as f64 > worst.share.0 as f64 / worst.share.1 as f64 {
                    let divisor = gcd(most, total);
                    worst.share = (most / divisor, total / divisor);
                }
            }
        }
        worst
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Runs `run` with every number that it may draw, and says how likely each answer is.
fn every_draw<R>(ranks: &HashMap<u64, u64>, weight: u128, run: impl Fn(&Lots) -> R) -> Vec<(R, u128)> {
    let mut answers = Vec::new();
    let mut drawn = Drawn::new();
    loop {
        let fallen = Arc::new(Fallen { ranks: ranks.clone(), drawn: Mutex::new(drawn) });
        let answer = run(&Lots::given(fallen.clone()));
        drawn = fallen.drawn.lock().unwrap().clone();
        let ways: u128 = drawn.values().map(|&(_, bound)| u128::from(bound)).product();
        assert_eq!(weight % ways, 0, "weights are whole numbers");
        answers.push((answer, weight / ways));
        // The next numbers, as a counter counts.
        let has_next = drawn.values_mut().any(|(number, bound)| {
            *number = (*number + 1) % *bound;
            *number > 0
        });
        if !has_next {
            return answers;
        }
    }
}

/// Who is in which group, and with which values.
fn groups(table: &Table, grouping: &Grouping) -> Vec<(Vec<usize>, Vec<Value>)> {
    let people = grouping.groups().map(|group| group.rows.iter().map(|&row| table.key(row).lo as usize).collect());
    let mut groups: Vec<(Vec<usize>, Vec<Value>)> = people.zip(group_values(table, grouping)).collect();
    groups.iter_mut().for_each(|group| group.0.sort_unstable());
    groups.sort();
    groups
}

const LINE: &[&[u32]] = &[&[0], &[1], &[2], &[3], &[4], &[5]];
const CROWD: &[&[u32]] = &[&[0], &[0], &[1], &[7], &[7], &[9]];
const PLANE: &[&[u32]] = &[&[0, 5], &[1, 0], &[2, 9], &[6, 1], &[7, 8], &[9, 4]];
const ALL: &[usize] = &[0, 1, 2, 3, 4, 5];

/// Series with arrivals, departures and returns.
fn series(places: &'static [&'static [u32]]) -> Vec<(&'static str, Script)> {
    let script = |people: usize, present| Script { places: &places[..people], present, values: 3, histogram: None };
    vec![
        ("2 in, 1 out, 2 in, 1 back", script(4, &[&[0, 1], &[1, 2, 3], &[0, 1, 2, 3]])),
        ("4 in, 1 out, 2 in", script(6, &[&[0, 2, 4, 5], &[0, 1, 2, 3, 4]])),
        ("4 in, 2 out, 2 in", script(6, &[&[0, 1, 2, 3], &[2, 3, 4, 5]])),
    ]
}

fn method(m: u32) -> MInvariance {
    MInvariance { reader: Reader::Method, ..MInvariance::new(m) }
}

/// science A3.11-b: against a reader who knows the program, nobody's value is more likely than 1/m.
#[test]
fn dealt_copies_leave_a_reader_who_knows_the_program_with_one_in_m() {
    for places in [LINE, CROWD, PLANE] {
        for (name, script) in series(places) {
            for surplus in [Surplus::Counterfeit, Surplus::Withhold] {
                let policy = MInvariance { surplus, ..method(2) };
                let worst = script.worst(&policy, surplus == Surplus::Withhold, Draws::ByLot, 2);
                assert!(worst.outcomes > 5, "{name}: {} outcomes", worst.outcomes);
                assert_eq!((worst.share, worst.above), ((1, 2), 0), "{name}, {surplus:?}");
            }
        }
    }
    let script = Script { places: PLANE, present: &[ALL], values: 4, histogram: None };
    let worst = script.worst(&method(3), false, Draws::ByLot, 3);
    assert_eq!((worst.share, worst.above), ((1, 3), 0), "m = 3");
}

/// The same where records are only added.
#[test]
fn dealt_records_that_are_only_added_leave_one_in_l() {
    for places in [LINE, CROWD] {
        let script = Script { places, present: &[&[0, 1, 3, 4], ALL], values: 3, histogram: None };
        let policy = IncrementalLDiversity { reader: Reader::Method, ..IncrementalLDiversity::new(2) };
        let worst = script.worst(&policy, false, Draws::ByLot, 2);
        assert_eq!((worst.share, worst.above), ((1, 2), 0));
    }
}

/// science CE-5 is over: with lots the first release of any m-invariant series holds against the method.
#[test]
fn a_first_release_holds_against_the_method_whatever_the_reader() {
    for places in [LINE, CROWD, PLANE] {
        let script = Script { places, present: &[ALL], values: 3, histogram: None };
        let worst = script.worst(&MInvariance::new(2), false, Draws::ByLot, 2);
        assert_eq!((worst.share, worst.above), ((1, 2), 0));
    }
}

/// The oracle finds what it is for: a walk along the quasi codes makes people certain (science CE-5).
#[test]
fn a_walk_in_the_order_of_the_places_is_caught() {
    for places in [LINE, PLANE] {
        let script = Script { places, present: &[ALL], values: 3, histogram: None };
        let worst = script.worst(&method(2), false, Draws::ByPlace, 2);
        assert!(!worst.is_at_most(2) && worst.above > 0, "{:?}", worst.share);
    }
}

/// Newcomers who fill gaps give away who left them (science CE-6): that is why `reader = "method"` fills none.
#[test]
fn filling_gaps_is_caught() {
    let script = Script { places: LINE, present: &[&[0, 1], &[1, 2, 3, 4, 5]], values: 3, histogram: None };
    let worst = script.worst(&MInvariance::new(2), false, Draws::ByLot, 2);
    assert!(worst.above > 0, "{} outcomes, worst {:?}", worst.outcomes, worst.share);
    let worst = script.worst(&method(2), false, Draws::ByLot, 2);
    assert_eq!((worst.share, worst.above), ((1, 2), 0));
}

const EIGHT: &[&[u32]] = &[&[0, 3], &[1, 9], &[2, 1], &[3, 6], &[4, 2], &[5, 8], &[6, 0], &[7, 5]];
const ALL_EIGHT: &[usize] = &[0, 1, 2, 3, 4, 5, 6, 7];

fn eight(histogram: &'static [usize]) -> Script {
    Script { places: EIGHT, present: &[ALL_EIGHT], values: 4, histogram: Some(histogram) }
}

/// science A3.11-d: groups that are drawn within cells say nothing of who in a group has which value.
#[test]
fn drawn_groups_leave_one_in_l() {
    let policy =
        IncrementalLDiversity { reader: Reader::Method, groups: GroupForming::Drawn, ..IncrementalLDiversity::new(2) };
    // With (2, 2, 2, 2) the table is cut in two, with (4, 2, 1, 1) it is not.
    for histogram in [&[2, 2, 2, 2], &[4, 2, 1, 1]] {
        let worst = eight(histogram).worst(&policy, false, Draws::ByLot, 2);
        assert_eq!((worst.share, worst.above), ((1, 2), 0), "{histogram:?}");
    }
    let grows =
        Script { places: EIGHT, present: &[&[0, 2, 5, 6], ALL_EIGHT], values: 4, histogram: Some(&[2, 2, 2, 2]) };
    let worst = grows.worst(&policy, false, Draws::ByLot, 2);
    assert_eq!((worst.share, worst.above), ((1, 2), 0));
}

/// A promise that looks at the sides of a cut, and leaves a node whole where one of them would not do.
struct MergesUpward;

impl Grouper for MergesUpward {
    fn promise(&self) -> SeriesPromise {
        IncrementalLDiversity::new(2).into()
    }

    fn group(&self, schema: &Schema, history: &History, table: &Table, lots: &Lots) -> Result<Grouping, GroupingError> {
        drawn(2, schema, history, table, lots, |cut, table, m| {
            let value = |row: &u32| table.sensitive()[*row as usize];
            let times = |side: &[u32], one: u32| side.iter().filter(|row| value(row) == value(&one)).count();
            let most = |side: &[u32]| side.iter().map(|&one| times(side, one)).max().unwrap_or(0) as u64;
            let [left, right] = &cut.sides;
            most(left).max(most(right)) * m <= left.len().min(right.len()) as u64
        })
    }
}

/// Merging cells upward where a side is not eligible tells that it is not.
#[test]
fn merging_cells_upward_is_caught() {
    let worst = eight(&[3, 2, 2, 1]).worst(&MergesUpward, false, Draws::ByLot, 2);
    assert!(worst.above > 0, "{} outcomes, worst {:?}", worst.outcomes, worst.share);
}

/// Lots of a table of any size, some of them handed over.
struct Handed {
    seed: Lots,
    /// Lots that people have instead of their own.
    lots: HashMap<u64, u64>,
    /// A value set, and whose draws each of its values takes.
    draws: Option<(Vec<u32>, Vec<usize>)>,
}

impl GivenLots for Handed {
    fn of(&self, record: RecordKey) -> u64 {
        self.lots.get(&record.lo).copied().unwrap_or_else(|| self.seed.of(record))
    }

    fn below(&self, unit: &[u32], bound: u64) -> u64 {
        let mut unit = unit.to_vec();
        let set = unit.len() - 2;
        if let Some((exchanged, from)) = &self.draws
            && unit[..set] == exchanged[..]
        {
            unit[set] = from[unit[set] as usize] as u32;
        }
        self.seed.below(&unit, bound)
    }
}

/// science A3.11-b at any size: exchange the values of everyone in a bucket and hand their lots over in order, and all
/// groups of all releases are the same.
#[test]
fn exchanging_the_values_of_a_bucket_changes_no_group() {
    let mut rng = Rng::from_number(7);
    let people = 900;
    let places: Vec<Vec<u32>> = (0..people).map(|_| vec![rng.below(20) as u32, rng.below(20) as u32]).collect();
    let held: Vec<u32> = (0..people).map(|_| rng.below(9).min(rng.below(9)) as u32).collect();
    // A third comes later, and a tenth of the first leave.
    let present = [(0..600).collect::<Vec<usize>>(), (0..people).filter(|one| one % 10 != 3 || *one >= 600).collect()];
    let schema = schema(&[20, 20]);
    let run = |held: &[u32], handed: &[Handed; 2]| -> Seen {
        let mut history = History::default();
        let mut seen = Vec::new();
        for (present, handed) in present.iter().zip(handed) {
            let rows: Vec<SnapshotRow> =
                present.iter().map(|&one| (one as u64, places[one].clone(), held[one])).collect();
            let table = table(&values(9), 2, &rows);
            let Handed { seed, lots, draws } = handed;
            let handed = Handed { seed: seed.clone(), lots: lots.clone(), draws: draws.clone() };
            let grouping = method(3).group(&schema, &history, &table, &Lots::given(Arc::new(handed))).unwrap();
            seen.push(groups(&table, &grouping));
            history = after(&schema, &history, &table, &grouping);
        }
        seen
    };
    let seeds = [Lots::from_number(1), Lots::from_number(2)];
    let plain = seeds.clone().map(|seed| Handed { seed, lots: HashMap::new(), draws: None });
    let before = run(&held, &plain);
    assert!(before[1].iter().any(|(people, values)| people.len() < values.len()), "somebody who left has a stand-in");
    let mut sets: Vec<Vec<Value>> = before[0].iter().map(|group| group.1.clone()).collect();
    sets.sort();
    sets.dedup();
    assert!(sets.len() > 3);
    for set in sets {
        // Each value becomes the next one of the set.
        let next = |value: u32| set[(set.iter().position(|one| one.0 == value).unwrap() + 1) % set.len()].0;
        let of_release = |release: usize| -> Vec<usize> {
            before[release].iter().filter(|group| group.1 == set).flat_map(|group| group.0.clone()).collect()
        };
        let first = of_release(0);
        let cohorts = [first.clone(), of_release(1).into_iter().filter(|one| *one >= 600).collect()];
        let mut other = held.clone();
        let from: Vec<usize> = (0..set.len()).map(|at| (at + set.len() - 1) % set.len()).collect();
        let draws = Some((set.iter().map(|value| value.0).collect::<Vec<u32>>(), from));
        let mut handed = plain.each_ref().map(|plain| Handed {
            seed: plain.seed.clone(),
            lots: HashMap::new(),
            draws: draws.clone(),
        });
        for (cohort, handed) in cohorts.iter().zip(&mut handed) {
            let by_lot = |value: u32| {
                let lot = |one: usize| handed.seed.of(RecordKey { hi: 0, lo: one as u64 });
                let mut holders: Vec<(u64, usize)> =
                    cohort.iter().filter(|&&one| held[one] == value).map(|&one| (lot(one), one)).collect();
                holders.sort_unstable();
                holders
            };
            let mut lots = HashMap::new();
            for value in &set {
                for ((_, one), (lot, _)) in by_lot(value.0).into_iter().zip(by_lot(next(value.0))) {
                    lots.insert(one as u64, lot);
                    other[one] = next(value.0);
                }
            }
            handed.lots = lots;
        }
        assert_ne!(other, held);
        assert_eq!(run(&other, &handed), before, "{set:?}");
    }
}
