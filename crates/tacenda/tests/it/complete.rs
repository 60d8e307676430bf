//! Small series are answered completely: no check of the standard effort leaves a gap, and what is counted is what brute
//! force counts.

use crate::audit_sketch::{Case, release, schema, table};
use crate::oracle_audit::{Dice, seatings};
use std::collections::{BTreeMap, BTreeSet};
use tacenda::audit::{Check, Outcome, Quantity, Reason, Verdict};
use tacenda::model::{Regions, Release, Value};

/// How people come into groups.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Neighbours, so many at a time: groups hardly overlap.
    Neighbours(u64),
    /// By chance, into so many groups: groups overlap a great deal.
    Chance(u64),
    /// Neighbours in one attribute or in the other, another one in every release.
    Turns(u64),
}

/// Up to `people` people in up to `releases` releases.
fn series(dice: &mut Dice, people: u64, releases: u64, way: Way, (away, counterfeits): (u64, u64)) -> Case {
    let values = 3 + dice.roll(3);
    let points: Vec<[u64; 2]> = (0..people).map(|_| [dice.roll(30), dice.roll(30)]).collect();
    let own: Vec<u64> = (0..people).map(|_| dice.roll(values)).collect();
    let letter = |value: u64| char::from(b'a' + value as u8);
    let (mut tables, mut all) = (Vec::new(), Vec::new());
    for number in 0..releases {
        let mut here: Vec<usize> = (0..people as usize).filter(|_| dice.roll(100) >= away).collect();
        if here.is_empty() {
            here.push(0);
        }
        let words: Vec<String> = here
            .iter()
            .map(|&person| format!("{person}/{},{}/{}", points[person][0], points[person][1], letter(own[person])))
            .collect();
        tables.push(table(&words.join(" ")));
        let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let by = if matches!(way, Way::Turns(_)) { number as usize % 2 } else { 0 };
        here.sort_by_key(|&person| (points[person][by], person));
        let shift = dice.roll(3);
        for (at, &person) in here.iter().enumerate() {
            let group = match way {
                Way::Neighbours(size) | Way::Turns(size) => (at as u64 + shift) / size,
                Way::Chance(groups) => dice.roll(groups),
            };
            groups.entry(group).or_default().push(person);
        }
        let words: Vec<String> = groups
            .values()
            .map(|members| {
                let span = |at: usize| {
                    let codes = || members.iter().map(|&person| points[person][at]);
                    format!("{}-{}", codes().min().unwrap(), codes().max().unwrap())
                };
                let rows: String = members.iter().map(|&person| letter(own[person])).collect();
                let fake = if dice.roll(100) < counterfeits {
                    format!("{}+1", letter(dice.roll(values)))
                } else {
                    String::new()
                };
                format!("{},{}/{rows}{fake}", span(0), span(1))
            })
            .collect();
        all.push(release(number as u32 + 1, &words.join(" ")));
    }
    Case::new(schema(2), tables, all)
}

/// The gaps of a series: check and reason.
fn gaps(case: &Case) -> Vec<(Check, Reason)> {
    let outcomes = case.ask_all().outcomes;
    let gap = |outcome: &Outcome| match outcome.verdict {
        Verdict::NotAssessed(reason) => Some((outcome.check, reason)),
        _ => None,
    };
    outcomes.iter().filter_map(gap).collect()
}

/// A series of some seed: its size, its kind and what happens in it are drawn.
fn drawn(seed: u64) -> Case {
    let mut dice = Dice(seed);
    let (people, releases) = (6 + dice.roll(20), 2 + dice.roll(4));
    let way = match dice.roll(5) {
        0 | 1 => Way::Neighbours(2 + dice.roll(4)),
        2 | 3 => Way::Turns(2 + dice.roll(4)),
        _ => Way::Chance(2 + dice.roll(3)),
    };
    // Groups of people who have nothing in common all overlap: of these fewer can be counted.
    let people = if matches!(way, Way::Chance(_)) { people.min(12) } else { people };
    let odd = [(0, 0), (15, 0), (15, 15)][dice.roll(3) as usize];
    series(&mut dice, people, releases, way, odd).lines(2, 2 + dice.roll(2) as u32)
}

fn count() -> u64 {
    if std::env::var_os("TACENDA_LONG").is_some() { 500 } else { 40 }
}

/// With the tables no question stays open. Without them only the number of people who left does.
#[test]
fn a_small_series_leaves_no_gap() {
    for seed in 0..count() {
        let case = drawn(250_000 + seed);
        assert_eq!(gaps(&case), [], "series {seed}");
        let outside = gaps(&case.seen_from_outside());
        assert!(
            outside.iter().all(|gap| *gap == (Check::Difference, Reason::DeparturesUnknown)),
            "{seed}: {outside:?}"
        );
    }
}

/// Somebody: per release, where they are.
type Points = Vec<Option<Vec<u32>>>;

/// Everyone's points and value.
fn people(case: &Case) -> Vec<(Points, Value)> {
    let mut all: BTreeMap<u64, (Points, Value)> = BTreeMap::new();
    for (place, table) in case.tables.iter().enumerate() {
        for row in 0..table.len() {
            let new = || (vec![None; case.tables.len()], table.sensitive()[row]);
            let own = all.entry(table.keys()[row].hi).or_insert_with(new);
            own.0[place] = Some((0..table.quasi_count()).map(|at| table.quasi(at)[row]).collect());
        }
    }
    all.into_values().collect()
}

fn covers(release: &Release, group: usize, point: &[u32]) -> bool {
    release.region(group).iter().zip(point).all(|(span, &code)| span.contains(code))
}

/// People who can get into each other's way, with the groups they can be in.
type Tied = (BTreeSet<usize>, BTreeSet<(usize, usize)>);

/// Sets of people who share no group.
fn tied(case: &Case, people: &[(Points, Value)]) -> Vec<Tied> {
    let mut sets: Vec<Tied> = Vec::new();
    for (person, (points, _)) in people.iter().enumerate() {
        let mut own: Tied = (BTreeSet::from([person]), BTreeSet::new());
        for (place, release) in case.releases.iter().enumerate() {
            let Some(point) = &points[place] else { continue };
            own.1.extend((0..release.group_count()).filter(|&at| covers(release, at, point)).map(|at| (place, at)));
        }
        let (near, far): (Vec<Tied>, Vec<Tied>) = sets.into_iter().partition(|set| !set.1.is_disjoint(&own.1));
        near.into_iter().for_each(|set| {
            own.0.extend(set.0);
            own.1.extend(set.1);
        });
        sets = far;
        sets.push(own);
    }
    sets
}

/// The groups of a release that belong to a set.
fn part(release: &Release, place: usize, groups: &BTreeSet<(usize, usize)>) -> Release {
    let mut part = Release { regions: Regions::new(release.regions.attributes()), ..Release::default() };
    for &(_, group) in groups.iter().filter(|group| group.0 == place) {
        part.regions.push(release.region(group));
        part.sensitive.extend_from_slice(release.group_values(group));
        part.ends.push(part.sensitive.len() as u32);
        part.counterfeits.push(release.counterfeits[group]);
    }
    part
}

/// Per person of a set, the share of the likeliest value: every way to give them values is tried, and every way to seat them.
/// `None` where there are too many.
fn likeliest(case: &Case, all: &[(Points, Value)], (who, groups): &Tied) -> Option<Vec<f64>> {
    let parts: Vec<Release> =
        case.releases.iter().enumerate().map(|(place, release)| part(release, place, groups)).collect();
    let mut values: Vec<Value> = parts.iter().flat_map(|part| part.sensitive.clone()).collect();
    values.sort_unstable();
    values.dedup();
    let ways = (values.len() as u64).checked_pow(who.len() as u32).filter(|&ways| ways <= 5_000)?;
    if who.len() > 8 {
        return None;
    }
    let mut shares: Vec<BTreeMap<Value, u128>> = vec![BTreeMap::new(); who.len()];
    for number in 0..ways {
        let mut rest = number;
        let own: Vec<Value> = who
            .iter()
            .map(|_| {
                let value = values[(rest % values.len() as u64) as usize];
                rest /= values.len() as u64;
                value
            })
            .collect();
        let mut weight = 1;
        for (place, part) in parts.iter().enumerate() {
            let here = who.iter().zip(&own);
            let seated: Vec<(Vec<u32>, Value)> =
                here.filter_map(|(&person, &value)| Some((all[person].0[place].clone()?, value))).collect();
            weight *= if weight == 0 { 0 } else { seatings(part, &seated) };
        }
        if weight > 0 {
            shares.iter_mut().zip(&own).for_each(|(share, &value)| *share.entry(value).or_default() += weight);
        }
    }
    let share =
        |share: &BTreeMap<Value, u128>| *share.values().max().unwrap() as f64 / share.values().sum::<u128>() as f64;
    Some(shares.iter().map(share).collect())
}

/// Up to 25 people and 5 releases: the largest chance, and who is above one in l, are those of brute force.
#[test]
fn a_small_series_is_counted_as_brute_force_counts_it() {
    let (mut compared, mut most) = (0, 0);
    for seed in 0..count() * 2 {
        let case = drawn(900_000 + seed);
        let people = people(&case);
        let sets = tied(&case, &people);
        let shares: Option<Vec<Vec<f64>>> = sets.iter().map(|set| likeliest(&case, &people, set)).collect();
        let Some(shares) = shares else { continue };
        let shares = shares.concat();
        let outcome = case.ask(Check::Posterior);
        assert_eq!(outcome.coverage.looked_at, outcome.coverage.of, "series {seed}");
        let measured =
            |quantity: Quantity| outcome.measures.iter().find(|measure| measure.quantity == quantity).unwrap().value;
        let largest = shares.iter().copied().fold(0.0, f64::max);
        assert!((measured(Quantity::LargestPosterior) - largest).abs() < 1e-6, "series {seed}: {largest}");
        let above = shares.iter().filter(|&&share| share * f64::from(case.lines.l) > 1.0 + 1e-9).count();
        assert_eq!(measured(Quantity::PeopleAboveOneInL), above as f64, "series {seed}");
        let certain = shares.iter().filter(|&&share| share > 1.0 - 1e-9).count();
        assert_eq!(measured(Quantity::PeopleCertainInAllWorlds), certain as f64, "series {seed}");
        (compared, most) = (compared + 1, most.max(people.len()));
    }
    println!("{compared} series compared, of up to {most} people");
    assert!(compared >= count() / 5, "{compared} series were small enough for brute force");
}
