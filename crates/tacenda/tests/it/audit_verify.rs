//! Re-verifies findings from the published releases and their witness alone, by brute force. Shares
//! nothing with the checks but the words they answer in.

use crate::audit_sketch::Case;
use std::collections::{BTreeMap, BTreeSet};
use tacenda::audit::{Fault, Finding, Statement, Witness};
use tacenda::model::{Release, Table, Value};

/// Whether a finding's witness holds. Panics with the claim where it does not.
pub fn verify(case: &Case, finding: &Finding) {
    let witness = finding.witness.as_ref().expect("every finding has a witness");
    let holds = match finding.fault {
        Fault::ArrivalsCertain
        | Fault::ArrivalsFewValues
        | Fault::ArrivalsFew
        | Fault::LeaversCertain
        | Fault::LeaversFewValues
        | Fault::FewNewcomers => {
            let (two, witness) = of_two(case, finding, witness);
            holds(&two, finding.fault, &witness)
        }
        fault => holds(case, fault, witness),
    };
    assert!(holds, "{} does not hold: {witness:?}\n{:#?}", finding.fault.code(), case.releases);
    assert!(finding.people > 0, "{finding}");
}

/// No other group but suppressed ones overlaps those of the witness; they lost no row, and gained rows with its values only.
fn apart_from_suppressed(case: &Case, witness: &Witness) -> bool {
    let (i, j) = two(witness);
    let overlaps = |a: (u32, usize), b: (u32, usize)| {
        let regions = [case.releases[a.0 as usize].region(a.1), case.releases[b.0 as usize].region(b.1)];
        regions[0].iter().zip(regions[1]).all(|(a, b)| a.lo <= b.hi && b.lo <= a.hi)
    };
    let is_whole = |place: u32, group: usize| {
        case.releases[place as usize]
            .region(group)
            .iter()
            .zip(&case.schema.quasi)
            .all(|(span, quasi)| *span == quasi.root())
    };
    let mut counts: BTreeMap<Value, i64> = BTreeMap::new();
    for &(place, group) in &witness.groups {
        let sign = if place == j { 1 } else { -1 };
        let rows = case.releases[place as usize].group_values(group as usize);
        rows.iter().for_each(|&value| *counts.entry(value).or_default() += sign);
        let other = if place == j { i } else { j };
        for at in 0..case.releases[other as usize].group_count() {
            let is_named = witness.groups.contains(&(other, at as u32));
            if !is_named && !is_whole(other, at) && overlaps((place, group as usize), (other, at)) {
                return false;
            }
        }
    }
    let gained: Vec<Value> = counts.iter().filter(|entry| *entry.1 > 0).map(|entry| *entry.0).collect();
    counts.values().all(|&count| count >= 0)
        && gained == witness.values
        && gained.len() as u64 == witness.number
        && witness.number < witness.line
}

/// The two releases that a finding compares, and its witness among these. Any two may be compared, and all groups of the
/// witness may be in one of them.
fn of_two(case: &Case, finding: &Finding, witness: &Witness) -> (Case, Witness) {
    let place = |number: u32| case.releases.iter().position(|release| release.number == number).unwrap();
    let places = [place(finding.others[0]), place(finding.release)];
    let mut two = case.clone();
    two.releases = places.iter().map(|&place| case.releases[place].clone()).collect();
    two.traces = places.iter().map(|&place| case.traces[place].clone()).collect();
    if !case.tables.is_empty() {
        two.tables = places.iter().map(|&place| case.tables[place].clone()).collect();
    }
    let among = |&(place, group): &(u32, u32)| (u32::from(place as usize == places[1]), group);
    (two, Witness { groups: witness.groups.iter().map(among).collect(), ..witness.clone() })
}

fn holds(case: &Case, fault: Fault, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    match fault {
        Fault::AloneInGroup | Fault::SmallGroup => {
            let (release, group) = one(case, witness);
            release.people(group) as u64 == number && number < line
        }
        Fault::OneValue | Fault::FewValues => {
            let (release, group) = one(case, witness);
            let set: BTreeSet<Value> = release.group_values(group).iter().copied().collect();
            set == witness.values.iter().copied().collect() && set.len() as u64 == number && number < line
        }
        Fault::ArrivalsUnlessSuppressed => apart_from_suppressed(case, witness),
        Fault::FrequentValue => {
            let (release, group) = one(case, witness);
            let rows = release.group_values(group);
            let count = rows.iter().filter(|&&value| value == witness.values[0]).count() as u64;
            count == number && count * line > rows.len() as u64
        }
        Fault::TooFarFromWhole => is_far(case, witness),
        Fault::ArrivalsCertain | Fault::ArrivalsFewValues => {
            is_apart(case, witness)
                && has_only(case, witness, true)
                && witness.values.len() as u64 == number
                && number < line
        }
        Fault::LeaversCertain | Fault::LeaversFewValues => {
            is_apart(case, witness)
                && has_only(case, witness, false)
                && witness.values.len() as u64 == number
                && number < line
        }
        Fault::ArrivalsFew => {
            let more: i64 = change(case, witness).values().sum();
            is_apart(case, witness) && more as u64 == number && number > 0 && number < line
        }
        Fault::ValueCertain | Fault::FewCandidates => leaves_few(case, witness),
        Fault::PlaceGivesAway => place_gives_away(case, witness),
        Fault::OneCorresponding | Fault::FewCorresponding => few_correspond(case, witness),
        Fault::FewNewcomers => few_arrive(case, witness),
        Fault::FewMatchedValues => few_values_match(case, witness),
        Fault::WorldsCertain | Fault::LikelyValue => is_likely(case, fault, witness),
        Fault::OneKnownGivesAway => others_give_away(case, witness),
        Fault::MustShareValue => share_a_value(case, witness),
        Fault::MovedByOne => moved_by_one(case, witness),
        Fault::EverLinkedLikely => is_ever_linked(case, witness),
        Fault::LinkedTooFew | Fault::LinkedFewValues => few_alike(case, fault, witness),
        Fault::LinkedIdsPublished => ids(case).len() as u64 == number,
        Fault::LinkedContradiction => regions_apart(case, witness),
        Fault::LinkedValueChanged => {
            let rows = rows_of(case, common_id(case, witness));
            rows.iter().any(|row| row.2 != rows[0].2)
        }
        Fault::OrderLinks => {
            let (pairs, same) = order(case, witness);
            same == number && pairs / 2 == line && same * 4 > pairs * 3
        }
        Fault::StableNames => names_stay(case, witness),
        Fault::TightBoundaries => is_tight(case, witness),
        Fault::ChangeShows => change_shows(case, witness),
        Fault::JoinFewPeople | Fault::JoinLikelyValue => join(case, fault, witness),
        Fault::AtOnceFewRows | Fault::AtOnceFewValues => at_once(case, fault, witness),
        Fault::LearnedValues => learned(case).abs_diff(number) <= 1 && number * 2 * line > 3000,
        other => panic!("no independent check of {}", other.code()),
    }
}

/// How far the values of a group are from those of the release.
fn is_far(case: &Case, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    let (release, group) = one(case, witness);
    let share =
        |rows: &[Value], value: Value| rows.iter().filter(|&&other| other == value).count() as f64 / rows.len() as f64;
    let (rows, all) = (release.group_values(group), &release.sensitive[..]);
    let sum: f64 = (0..8).map(|v| (share(rows, Value(v)) - share(all, Value(v))).abs()).sum();
    (sum / 2.0 * 1e6).round() as u64 == number && number > line
}

/// What is left for a person, in one time between changes of their value.
fn leaves_few(case: &Case, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    // Of one time between changes of the person's value, and the true value of that time is left.
    let all = stretches(case);
    let holds = |at: usize| {
        let mut possible = BTreeSet::new();
        if case.attacker.presence {
            worlds(case, &mut |values, _| possible.extend(values[at]));
        } else {
            // Any value of any group over the person, wherever they are first.
            let points = &all[at].points;
            let first = points.iter().flatten().next().expect("in some release").clone();
            // Who is known to be in the first release is looked for there alone.
            let is_first = case.attacker.first_release && points[0].is_some();
            for release in case.releases.iter().take(if is_first { 1 } else { usize::MAX }) {
                let here = (0..release.group_count()).filter(|&group| covers(release, group, &first));
                possible.extend(here.flat_map(|group| release.group_values(group)).copied());
            }
        }
        possible.iter().all(|value| witness.values.contains(value)) && possible.contains(&all[at].value)
    };
    of_person(&all, witness).into_iter().any(holds) && witness.values.len() as u64 == number && number < line
}

/// What is left at some point where all the groups lie.
fn place_gives_away(case: &Case, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    // Every point where all the groups lie, one attribute.
    let lies = |code: u32| {
        let covers = |&(i, g): &(u32, u32)| covers(&case.releases[i as usize], g as usize, &[code]);
        witness.groups.iter().all(covers)
    };
    let left = |code: u32| -> BTreeSet<Value> {
        let over = |&(i, _): &(u32, u32)| -> BTreeSet<Value> {
            let release = &case.releases[i as usize];
            let stands = |&group: &usize| covers(release, group, &[code]) && release.people(group) > 0;
            let here = (0..release.group_count()).filter(stands);
            here.flat_map(|group| release.group_values(group).to_vec()).collect()
        };
        witness.groups.iter().map(over).reduce(|one, other| &one & &other).expect("groups")
    };
    let given: BTreeSet<Value> = witness.values.iter().copied().collect();
    let holds = |code: u32| lies(code) && !left(code).is_empty() && left(code).is_subset(&given);
    witness.groups.len() >= 2 && (0..128).any(holds) && given.len() as u64 == number && number < line
}

/// How many rows can go from one side to the other.
fn few_correspond(case: &Case, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    let (old, new) = sides(witness);
    let between =
        |placing: &Placing| placing.iter().filter(|(a, b, _)| old.contains(a) && new.contains(b)).count() as u64;
    let most = placings(case, two(witness)).iter().map(between).max().unwrap_or(0);
    most <= number && number < line && (old.len() * new.len() > 1 || most == number)
}

/// How many rows of some groups no row of one earlier release must take.
fn few_arrive(case: &Case, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    let j = witness.groups[0].0;
    let is_asked = |group: u32| witness.groups.contains(&(j, group));
    let release = &case.releases[j as usize];
    let groups = (0..release.group_count()).filter(|&group| is_asked(group as u32));
    let rows: u64 = groups.map(|group| release.group_rows(group).len() as u64).sum();
    let holds = |i: u32| {
        let into = |placing: &Placing| placing.iter().filter(|(_, b, _)| is_asked(*b)).count() as u64;
        let taken = placings(case, (i, j)).iter().map(into).min().unwrap_or(0);
        rows - taken == number
    };
    (0..j).any(holds) && number < line
}

/// The values of rows that can go from one side to the other.
fn few_values_match(case: &Case, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    let (old, new) = sides(witness);
    let all = placings(case, two(witness));
    let there = all.iter().flatten().filter(|(a, b, _)| old.contains(a) && new.contains(b)).map(|entry| entry.2);
    let values: Vec<Value> = there.collect::<BTreeSet<Value>>().into_iter().collect();
    values == witness.values && values.len() as u64 == number && number < line
}

/// The share of all worlds that give a person a value.
fn is_likely(case: &Case, fault: Fault, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    let (all, value) = (stretches(case), witness.values[0]);
    of_person(&all, witness).into_iter().any(|at| {
        let (mut part, mut whole) = (0u128, 0u128);
        worlds(case, &mut |values, weight| {
            whole += weight;
            part += if values[at] == Some(value) { weight } else { 0 };
        });
        // What is certain is true.
        let is_true = fault == Fault::LikelyValue || all[at].value == value;
        is_true && (part * 1000 / whole).abs_diff(u128::from(number)) <= 1 && part * u128::from(line) > whole
    })
}

/// Whether some few others, once known, leave a person one value.
fn others_give_away(case: &Case, witness: &Witness) -> bool {
    let number = witness.number;
    let mut all: Vec<Vec<Option<Value>>> = Vec::new();
    worlds(case, &mut |values, _| all.push(values.to_vec()));
    let people = stretches(case);
    let gives_away = |person: usize| {
        // Every choice of so many others, as bits.
        let chosen = |bits: u32| (0..people.len()).filter(move |other| bits >> other & 1 == 1);
        let may_choose = |bits: &u32| u64::from(bits.count_ones()) <= number && bits >> person & 1 == 0;
        (0..1u32 << people.len()).filter(may_choose).any(|bits| {
            let fits = all.iter().filter(|world| chosen(bits).all(|at| world[at] == Some(people[at].value)));
            fits.map(|world| world[person]).collect::<BTreeSet<_>>().len() == 1
        })
    };
    number > 0 && of_person(&people, witness).into_iter().any(gives_away)
}

/// Who has the value of a person in every world.
fn share_a_value(case: &Case, witness: &Witness) -> bool {
    let number = witness.number;
    let holds = |person: usize| {
        let mut equal: Option<BTreeSet<usize>> = None;
        worlds(case, &mut |values, _| {
            let here: BTreeSet<usize> = (0..values.len()).filter(|&at| values[at] == values[person]).collect();
            equal = Some(equal.take().map_or(here.clone(), |before| before.intersection(&here).copied().collect()));
        });
        equal.is_some_and(|equal| equal.len() as u64 >= number)
    };
    number >= 2 && of_person(&stretches(case), witness).into_iter().any(holds)
}

/// Whether two groups differ in one row and one boundary.
fn moved_by_one(case: &Case, witness: &Witness) -> bool {
    let [(i, g), (j, h)] = witness.groups[..] else { return false };
    let (old, new) = (&case.releases[i as usize], &case.releases[j as usize]);
    let mut counts: BTreeMap<Value, i64> = BTreeMap::new();
    old.group_values(g as usize).iter().for_each(|&value| *counts.entry(value).or_default() -= 1);
    new.group_values(h as usize).iter().for_each(|&value| *counts.entry(value).or_default() += 1);
    counts.retain(|_, count| *count != 0);
    let inside = |a: &[tacenda::model::Span], b: &[tacenda::model::Span]| {
        a.iter().zip(b).all(|(a, b)| b.lo <= a.lo && a.hi <= b.hi)
    };
    let (a, b) = (old.region(g as usize), new.region(h as usize));
    counts.len() == 1
        && counts.iter().all(|(value, count)| *value == witness.values[0] && count.abs() == 1)
        && a != b
        && a.iter().zip(b).all(|(a, b)| a.lo == b.lo || a.hi == b.hi)
        && (inside(a, b) || inside(b, a))
}

/// The chance that a person ever had a value.
fn is_ever_linked(case: &Case, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    let (person, value) = (witness.person.expect("a person") as usize, witness.values[0]);
    let mut never = 1.0;
    for (release, point) in case.releases.iter().zip(&points(case)[person]) {
        let Some(point) = point else { continue };
        let rows: Vec<Value> = (0..release.group_count())
            .filter(|&group| covers(release, group, point))
            .flat_map(|group| release.group_values(group).to_vec())
            .collect();
        never *= rows.iter().filter(|&&other| other != value).count() as f64 / rows.len() as f64;
    }
    ((1.0 - never) * 1e6).round() as u64 == number && number * line > 1_000_000
}

/// The ids with the same history, and their values.
fn few_alike(case: &Case, fault: Fault, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    let id = common_id(case, witness);
    let alike: Vec<u64> = ids(case).into_iter().filter(|&other| is_alike(case, id, other)).collect();
    let steps = if case.attacker.presence { rows_of(case, id).len() } else { 1 };
    let values = |step: usize| -> BTreeSet<Value> {
        let value = |rows: Vec<(usize, usize, Value)>| match case.attacker.presence {
            true => rows[step].2,
            false => rows.last().unwrap().2,
        };
        alike.iter().map(|&id| value(rows_of(case, id))).collect()
    };
    let fewest = (0..steps).map(|step| values(step).len()).min().unwrap();
    let found = if fault == Fault::LinkedTooFew { alike.len() } else { fewest };
    found as u64 == number && number < line
}

/// Whether the regions of an id do not overlap.
fn regions_apart(case: &Case, witness: &Witness) -> bool {
    let rows = rows_of(case, common_id(case, witness));
    let regions: Vec<&[tacenda::model::Span]> = rows.iter().map(|&(i, g, _)| case.releases[i].region(g)).collect();
    (0..regions[0].len()).any(|at| {
        let lo = regions.iter().map(|region| region[at].lo).max();
        lo > regions.iter().map(|region| region[at].hi).min()
    })
}

/// How many names stand for groups that overlap.
fn names_stay(case: &Case, witness: &Witness) -> bool {
    let (number, line) = (witness.number, witness.line);
    let [(i, g), (j, h)] = witness.groups[..] else { return false };
    let names = |at: u32| &case.traces[at as usize].group_names;
    let (old, new) = (&case.releases[i as usize], &case.releases[j as usize]);
    let (mut shared, mut over) = (0, 0);
    for (at, name) in names(i).iter().enumerate() {
        let Some(to) = names(j).iter().position(|other| other == name) else { continue };
        shared += 1;
        over += u64::from(overlap(old, at, new, to));
    }
    names(i)[g as usize] == names(j)[h as usize] && (over, shared) == (number, line) && over * 10 >= shared * 9
}

fn one<'a>(case: &'a Case, witness: &Witness) -> (&'a Release, usize) {
    let [(release, group)] = witness.groups[..] else { panic!("one group") };
    (&case.releases[release as usize], group as usize)
}

fn covers(release: &Release, group: usize, point: &[u32]) -> bool {
    release.region(group).iter().zip(point).all(|(span, &code)| span.lo <= code && code <= span.hi)
}

fn overlap(a: &Release, g: usize, b: &Release, h: usize) -> bool {
    a.region(g).iter().zip(b.region(h)).all(|(a, b)| a.lo <= b.hi && b.lo <= a.hi)
}

/// The two releases of a witness, lower first.
fn two(witness: &Witness) -> (u32, u32) {
    let places: BTreeSet<u32> = witness.groups.iter().map(|group| group.0).collect();
    (*places.first().unwrap(), *places.last().unwrap())
}

/// Value by value, rows of the witness's groups in the later release less those in the earlier.
fn change(case: &Case, witness: &Witness) -> BTreeMap<Value, i64> {
    let (_, later) = pair_of(case, witness);
    let mut counts: BTreeMap<Value, i64> = BTreeMap::new();
    for &(place, group) in &witness.groups {
        let sign = if place == later { 1 } else { -1 };
        for &value in case.releases[place as usize].group_values(group as usize) {
            *counts.entry(value).or_default() += sign;
        }
    }
    counts
}

/// The pair of neighbours a witness speaks of, also where all its groups are in one of them.
fn pair_of(case: &Case, witness: &Witness) -> (u32, u32) {
    let (low, high) = two(witness);
    if low != high {
        return (low, high);
    }
    // Newcomers in groups of their own, or leavers whose groups are gone.
    let is_new = low > 0 && matches!(witness.claim, Statement::Arrivals { .. } | Statement::FewArrivals);
    if is_new || low as usize + 1 == case.releases.len() { (low - 1, low) } else { (low, low + 1) }
}

fn distinct(change: &BTreeMap<Value, i64>) -> Vec<Value> {
    change.iter().filter(|(_, count)| **count != 0).map(|(&value, _)| value).collect()
}

/// No group of the two releases outside the witness overlaps one inside.
fn is_apart(case: &Case, witness: &Witness) -> bool {
    let (i, j) = pair_of(case, witness);
    let inside: BTreeSet<(u32, u32)> = witness.groups.iter().copied().collect();
    let all = |place: u32| (0..case.releases[place as usize].group_count() as u32).map(move |group| (place, group));
    let crosses = |a: &(u32, u32), b: &(u32, u32)| {
        overlap(&case.releases[a.0 as usize], a.1 as usize, &case.releases[b.0 as usize], b.1 as usize)
    };
    !all(i).any(|a| all(j).any(|b| inside.contains(&a) != inside.contains(&b) && crosses(&a, &b)))
}

fn sides(witness: &Witness) -> (Vec<u32>, Vec<u32>) {
    let (i, j) = two(witness);
    let of = |place: u32| witness.groups.iter().filter(|group| group.0 == place).map(|group| group.1).collect();
    (of(i), of(j))
}

/// Where rows go: earlier group, later group and value.
pub type Placing = Vec<(u32, u32, Value)>;

/// Every way to give each row of one release that is a person's a row of its own in another, with its value, in overlapping
/// groups. Which rows of a group are counterfeits is not known, only how many; they go nowhere, and nobody is in more rows of a
/// group than it has people.
pub fn placings(case: &Case, (i, j): (u32, u32)) -> Vec<Placing> {
    let (earlier, later) = (&case.releases[i as usize], &case.releases[j as usize]);
    let mut rows: Vec<(u32, Value)> = Vec::new();
    for group in 0..earlier.group_count() {
        rows.extend(earlier.group_values(group).iter().map(|&value| (group as u32, value)));
    }
    let mut free: BTreeMap<(u32, Value), u32> = BTreeMap::new();
    for group in 0..later.group_count() {
        later.group_values(group).iter().for_each(|&value| *free.entry((group as u32, value)).or_default() += 1);
    }
    let people: Vec<u32> = (0..later.group_count()).map(|group| later.people(group)).collect();
    // What was placed so far, what is free, how many more each group takes, and how many more are counterfeits.
    type State = (Placing, BTreeMap<(u32, Value), u32>, Vec<u32>, Vec<u32>);
    let mut states: BTreeSet<State> = BTreeSet::from([(Vec::new(), free, people, earlier.counterfeits.clone())]);
    for (group, value) in rows {
        let mut next: BTreeSet<State> = BTreeSet::new();
        for (placing, free, people, fakes) in states {
            if fakes[group as usize] > 0 {
                let mut fewer = fakes.clone();
                fewer[group as usize] -= 1;
                next.insert((placing.clone(), free.clone(), people.clone(), fewer));
            }
            for to in 0..later.group_count() as u32 {
                let is_free = free.get(&(to, value)).is_some_and(|&free| free > 0) && people[to as usize] > 0;
                if is_free && overlap(earlier, group as usize, later, to as usize) {
                    let (mut placing, mut free, mut people) = (placing.clone(), free.clone(), people.clone());
                    placing.push((group, to, value));
                    placing.sort_unstable();
                    *free.get_mut(&(to, value)).unwrap() -= 1;
                    people[to as usize] -= 1;
                    next.insert((placing, free, people, fakes.clone()));
                }
            }
        }
        states = next;
    }
    states.into_iter().filter(|state| state.3.iter().all(|&fakes| fakes == 0)).map(|state| state.0).collect()
}

/// Per person by key, their point in each release.
fn points(case: &Case) -> Vec<Vec<Option<Vec<u32>>>> {
    let keys: BTreeSet<_> = case.tables.iter().flat_map(|table| table.keys()).copied().collect();
    let point = |table: &Table, key| {
        let row = table.find(key)?;
        Some((0..table.quasi_count()).map(|at| table.quasi(at)[row.index()]).collect())
    };
    keys.into_iter().map(|key| case.tables.iter().map(|table| point(table, key)).collect()).collect()
}

/// A person between two changes of their value.
struct Stretch {
    owner: usize,
    points: Vec<Option<Vec<u32>>>,
    value: Value,
}

/// Everyone, with whoever's value changed as somebody new from then on.
fn stretches(case: &Case) -> Vec<Stretch> {
    let keys: BTreeSet<_> = case.tables.iter().flat_map(|table| table.keys()).copied().collect();
    let mut all: Vec<Stretch> = Vec::new();
    for (owner, (key, points)) in keys.into_iter().zip(points(case)).enumerate() {
        let first = all.len();
        for (place, point) in points.into_iter().enumerate().filter(|(_, point)| point.is_some()) {
            let table = &case.tables[place];
            let value = table.sensitive()[table.find(key).unwrap().index()];
            if all.len() == first || all[all.len() - 1].value != value {
                all.push(Stretch { owner, points: vec![None; case.tables.len()], value });
            }
            all.last_mut().unwrap().points[place] = point;
        }
    }
    all
}

fn of_person(all: &[Stretch], witness: &Witness) -> Vec<usize> {
    let person = witness.person.expect("a person") as usize;
    (0..all.len()).filter(|&at| all[at].owner == person).collect()
}

/// Whether newcomers to the groups of a witness, or leavers of them, have its values and no others: in all
/// ways to place everyone in the two releases. From outside, where nobody left: the rows more.
fn has_only(case: &Case, witness: &Witness, came: bool) -> bool {
    let (i, j) = pair_of(case, witness);
    if case.tables.is_empty() || !case.attacker.presence {
        let change = change(case, witness);
        return change.values().all(|&more| (more >= 0) == came || more == 0) && distinct(&change) == witness.values;
    }
    let two = |place: u32| place as usize;
    let pair = Case {
        tables: vec![case.tables[two(i)].clone(), case.tables[two(j)].clone()],
        releases: vec![case.releases[two(i)].clone(), case.releases[two(j)].clone()],
        traces: vec![case.traces[two(i)].clone(), case.traces[two(j)].clone()],
        ..case.clone()
    };
    let (there, here) = if came { (0, 1) } else { (1, 0) };
    let place = if came { j } else { i };
    let stands = |point: &Vec<u32>| {
        let groups = witness.groups.iter().filter(|group| group.0 == place);
        groups.into_iter().any(|group| covers(&case.releases[two(place)], group.1 as usize, point))
    };
    let moved: Vec<usize> = stretches(&pair)
        .iter()
        .enumerate()
        .filter(|(_, one)| one.points[there].is_none() && one.points[here].as_ref().is_some_and(stands))
        .map(|(at, _)| at)
        .collect();
    let mut holds = !moved.is_empty();
    worlds(&pair, &mut |values, _| {
        holds &= moved.iter().all(|&at| values[at].is_some_and(|value| witness.values.contains(&value)));
    });
    holds
}

/// No group before has a value, or a value set, that one after has.
fn change_shows(case: &Case, witness: &Witness) -> bool {
    let first = witness.groups.iter().map(|group| group.0).min().expect("groups");
    let (before, after): (Vec<_>, Vec<_>) = witness.groups.iter().partition(|group| group.0 == first);
    let values = |&&(place, group): &&(u32, u32)| case.releases[place as usize].value_set(group as usize);
    !after.is_empty()
        && before.iter().all(|group| {
            let before = values(group);
            after.iter().all(|group| values(group).iter().all(|value| !before.contains(value)))
        })
}

/// The boundaries of an attribute of the integers 0 to 127, without a grid.
fn is_tight(case: &Case, witness: &Witness) -> bool {
    let Some(&(place, _)) = witness.groups.first() else { return false };
    if witness.claim == Statement::EndsIsolate {
        let (release, table) = (&case.releases[place as usize], &case.tables[place as usize]);
        let spans = (0..release.group_count()).map(|group| release.region(group)[0]);
        let spans: Vec<_> = spans.filter(|span| (span.lo, span.hi) != (0, 127) && span.lo < span.hi).collect();
        let alone = |code: u32| table.quasi(0).iter().filter(|&&other| other == code).count() == 1;
        let ends = spans.iter().flat_map(|span| [span.lo, span.hi]).filter(|&code| alone(code)).count();
        return (ends as u64, 2 * spans.len() as u64) == (witness.number, witness.line);
    }
    let attribute = witness.attribute.expect("an attribute") as usize;
    let release = &case.releases[place as usize];
    let mut lines = BTreeSet::new();
    for group in 0..release.group_count() {
        let span = release.region(group)[attribute];
        if (span.lo, span.hi) != (0, 127) && span.lo < span.hi {
            lines.extend([span.lo, span.hi + 1]);
        }
    }
    lines.retain(|line| (1..128).contains(line));
    let on = (0..5).map(|rest| lines.iter().filter(|line| *line % 5 == rest).count()).max().unwrap_or(0);
    let shown = witness.groups.iter().all(|&(at, group)| {
        let span = case.releases[at as usize].region(group as usize)[attribute];
        at == place && (lines.contains(&span.lo) || lines.contains(&(span.hi + 1)))
    });
    ((lines.len() - on) as u64, lines.len() as u64) == (witness.number, witness.line)
        && witness.number * 2 > witness.line
        && shown
}

/// Gives everyone a row of each release in all ways there are, and reads off the fewest rows or values of the second
/// release that go with one combination of the first.
fn at_once(case: &Case, fault: Fault, witness: &Witness) -> bool {
    type Row = (Vec<Option<(u32, u32)>>, Option<Value>);
    let rows = |place: u32| -> Vec<Row> {
        let (release, traces) = (&case.releases[place as usize], &case.traces[place as usize]);
        let has = |at: usize| traces.columns.get(at).copied().unwrap_or(true);
        let of_group = |group: usize| {
            let spans = release.region(group).iter().enumerate();
            let region: Vec<_> = spans.map(|(at, span)| has(at).then_some((span.lo, span.hi))).collect();
            let value = |row: usize| (!traces.without_sensitive).then_some(release.sensitive[row]);
            release.group_rows(group).map(move |row| (region.clone(), value(row)))
        };
        (0..release.group_count()).flat_map(of_group).collect()
    };
    let releases: Vec<Vec<Row>> = witness.groups.iter().map(|&(place, _)| rows(place)).collect();
    let meets = |a: &Row, b: &Row| {
        let spans = a.0.iter().zip(&b.0).all(|(a, b)| a.zip(*b).is_none_or(|(a, b)| a.0 <= b.1 && b.0 <= a.1));
        spans && a.1.zip(b.1).is_none_or(|(a, b)| a == b)
    };
    // One person after another takes a row of each release.
    type Meets<'a> = &'a dyn Fn(&Row, &Row) -> bool;
    fn go(releases: &[Vec<Row>], meets: Meets<'_>, taken: &mut Vec<Vec<usize>>, found: &mut BTreeSet<(usize, usize)>) {
        let placed = taken[releases.len() - 1].len();
        if placed == releases[0].len() {
            found.extend(taken[0].iter().copied().zip(taken[1].iter().copied()));
            return;
        }
        let at = (0..releases.len()).find(|&at| taken[at].len() == placed).unwrap();
        for row in 0..releases[at].len() {
            let fits = |other: usize| meets(&releases[at][row], &releases[other][taken[other][placed]]);
            if !taken[at].contains(&row) && (at > 0 || row == placed) && (0..at).all(fits) {
                taken[at].push(row);
                go(releases, meets, taken, found);
                taken[at].pop();
            }
        }
    }
    if releases.iter().any(|rows| rows.len() != releases[0].len()) {
        return false;
    }
    let mut found = BTreeSet::new();
    go(&releases, &meets, &mut vec![Vec::new(); releases.len()], &mut found);
    type Left<'a> = BTreeMap<&'a [Option<(u32, u32)>], BTreeSet<(usize, Option<Value>)>>;
    let mut left: Left<'_> = BTreeMap::new();
    for &(own, other) in &found {
        let what = match fault {
            Fault::AtOnceFewRows => (other, None),
            _ => (0, releases[1][other].1),
        };
        left.entry(&releases[0][own].0).or_default().insert(what);
    }
    left.values().map(BTreeSet::len).min() == Some(witness.number as usize) && witness.number < witness.line
}

/// Joins two releases row by row, without rows that no assignment of all rows uses, and reads off the
/// fewest rows of the first, or the largest share of values, of any combination of regions.
fn join(case: &Case, fault: Fault, witness: &Witness) -> bool {
    let (i, j) = two(witness);
    let has = |place: u32, at: usize| case.traces[place as usize].columns.get(at).copied().unwrap_or(true);
    let tells = |place: u32| !case.traces[place as usize].without_sensitive;
    type Row = (Vec<Option<(u32, u32)>>, Option<Value>);
    let rows = |place: u32| -> Vec<Row> {
        let release = &case.releases[place as usize];
        let mut rows = Vec::new();
        for group in 0..release.group_count() {
            let spans = release.region(group).iter().enumerate();
            let region: Vec<_> = spans.map(|(at, span)| has(place, at).then_some((span.lo, span.hi))).collect();
            let values = release.group_rows(group).map(|row| tells(place).then_some(release.sensitive[row]));
            rows.extend(values.map(|value| (region.clone(), value)));
        }
        rows
    };
    let (left, right) = (rows(i), rows(j));
    let meets = |a: &Row, b: &Row| {
        let spans = a.0.iter().zip(&b.0).all(|(a, b)| match (a, b) {
            (Some(a), Some(b)) => a.0 <= b.1 && b.0 <= a.1,
            _ => true,
        });
        spans && (a.1.is_none() || b.1.is_none() || a.1 == b.1)
    };
    // Pairs of some assignment that gives every row of both a partner of its own.
    fn assign(
        left: usize,
        used: &mut Vec<usize>,
        count: usize,
        fits: &dyn Fn(usize, usize) -> bool,
        found: &mut BTreeSet<(usize, usize)>,
    ) {
        if used.len() == left {
            found.extend(used.iter().copied().enumerate());
            return;
        }
        let at = used.len();
        for other in (0..count).filter(|&other| fits(at, other)) {
            if !used.contains(&other) {
                used.push(other);
                assign(left, used, count, fits, found);
                used.pop();
            }
        }
    }
    let mut found = BTreeSet::new();
    if left.len() == right.len() {
        assign(left.len(), &mut Vec::new(), right.len(), &|a, b| meets(&left[a], &right[b]), &mut found);
    }
    type Joined = BTreeMap<(Vec<Option<(u32, u32)>>, Vec<Option<(u32, u32)>>), Vec<(usize, Vec<Option<Value>>)>>;
    let mut joined: Joined = BTreeMap::new();
    for (a, b) in found {
        let x = (left[a].0.clone(), right[b].0.clone());
        joined.entry(x).or_default().push((a, vec![left[a].1, right[b].1]));
    }
    let numbers = joined.values().map(|rows| {
        if fault == Fault::JoinFewPeople {
            return rows.iter().map(|row| row.0).collect::<BTreeSet<_>>().len() as u64;
        }
        let count = |y: &Vec<Option<Value>>| rows.iter().filter(|row| row.1 == *y).count() as u64;
        rows.iter().map(|row| (count(&row.1) * 1_000_000).div_ceil(rows.len() as u64)).max().unwrap_or(0)
    });
    match fault {
        Fault::JoinFewPeople => numbers.min() == Some(witness.number) && witness.number < witness.line,
        _ => numbers.max() == Some(witness.number) && witness.number > witness.line,
    }
}

/// Naive Bayes over integers 0 to 127 in bins of two, plainly: how many of a thousand people it gets right.
fn learned(case: &Case) -> u64 {
    let attributes = case.schema.quasi.len();
    let mut weights = vec![vec![vec![0.0f64; 64]; 8]; attributes];
    for release in &case.releases {
        for group in 0..release.group_count() {
            for (at, span) in release.region(group).iter().enumerate() {
                let bins = span.lo as usize / 2..=span.hi as usize / 2;
                let width = bins.clone().count() as f64;
                for value in release.group_values(group) {
                    bins.clone().for_each(|bin| weights[at][value.index()][bin] += 1.0 / width);
                }
            }
        }
    }
    let log = |value: usize, point: &[u32]| -> f64 {
        let one = |at: usize| {
            let row = &weights[at][value];
            ((row[point[at] as usize / 2] + 1.0 / 64.0) / (row.iter().sum::<f64>() + 1.0)).ln()
        };
        (0..attributes).map(one).sum()
    };
    let keys: BTreeSet<_> = case.tables.iter().flat_map(|table| table.keys()).copied().collect();
    let (mut right, mut all) = (0u64, 0u64);
    for (key, points) in keys.into_iter().zip(points(case)) {
        let place = points.iter().rposition(Option::is_some).unwrap();
        let (release, point) = (&case.releases[place], points[place].as_ref().unwrap());
        let mut shares = [0.0f64; 8];
        for group in (0..release.group_count()).filter(|&group| covers(release, group, point)) {
            release.group_values(group).iter().for_each(|value| shares[value.index()] += 1.0);
        }
        let sum: f64 = shares.iter().sum();
        let score = |value: &usize| (shares[*value] / sum).ln() + log(*value, point);
        let possible = (0..8).filter(|&value| shares[value] > 0.0);
        let best = possible.reduce(|best, value| if score(&value) > score(&best) + 1e-9 { value } else { best });
        let truth = case.tables[place].sensitive()[case.tables[place].find(key).unwrap().index()];
        all += 1;
        right += u64::from(best == Some(truth.index()));
    }
    (right * 1000 + all / 2) / all
}

/// Calls `each` with every way to place everyone: their values, and in how many ways rows alike can be
/// told apart. Worlds that keep their value sets only, where the promise says so.
fn worlds(case: &Case, each: &mut dyn FnMut(&[Option<Value>], u128)) {
    let people: Vec<Vec<Option<Vec<u32>>>> = stretches(case).into_iter().map(|one| one.points).collect();
    let mut room: Vec<Vec<BTreeMap<Value, u32>>> = case
        .releases
        .iter()
        .map(|release| {
            (0..release.group_count())
                .map(|group| {
                    let mut counts = BTreeMap::new();
                    release.group_values(group).iter().for_each(|&value| *counts.entry(value).or_insert(0) += 1);
                    counts
                })
                .collect()
        })
        .collect();
    let mut values = vec![None; people.len()];
    stand(case, &people, 0, 0, &mut room, &mut values, 1, each);
}

#[expect(clippy::too_many_arguments, reason = "a recursion that carries its world along")]
fn stand(
    case: &Case,
    people: &[Vec<Option<Vec<u32>>>],
    person: usize,
    release: usize,
    room: &mut Vec<Vec<BTreeMap<Value, u32>>>,
    values: &mut Vec<Option<Value>>,
    weight: u128,
    each: &mut dyn FnMut(&[Option<Value>], u128),
) {
    if person == people.len() {
        let is_full = |(release, groups): (&Release, &Vec<BTreeMap<Value, u32>>)| {
            groups.iter().zip(&release.counterfeits).all(|(left, &fake)| left.values().sum::<u32>() == fake)
        };
        if case.releases.iter().zip(room.iter()).all(is_full) {
            each(values, weight);
        }
        return;
    }
    if release == case.releases.len() {
        return stand(case, people, person + 1, 0, room, values, weight, each);
    }
    let Some(point) = &people[person][release] else {
        return stand(case, people, person, release + 1, room, values, weight, each);
    };
    for group in
        (0..case.releases[release].group_count()).filter(|&group| covers(&case.releases[release], group, point))
    {
        let here: Vec<Value> = match values[person] {
            Some(value) => vec![value],
            None => room[release][group].keys().copied().collect(),
        };
        for value in here {
            let left = room[release][group].get(&value).copied().unwrap_or(0);
            if left == 0 {
                continue;
            }
            let before = values[person].replace(value);
            room[release][group].insert(value, left - 1);
            stand(case, people, person, release + 1, room, values, weight * u128::from(left), each);
            room[release][group].insert(value, left);
            values[person] = before;
        }
    }
}

fn ids(case: &Case) -> Vec<u64> {
    let all: BTreeSet<u64> = case.releases.iter().flat_map(|release| &release.linked).copied().collect();
    all.into_iter().collect()
}

/// The rows of an id: release, group, value.
fn rows_of(case: &Case, id: u64) -> Vec<(usize, usize, Value)> {
    let mut rows = Vec::new();
    for (place, release) in case.releases.iter().enumerate() {
        for group in 0..release.group_count() {
            let here = release.group_rows(group).filter(|&row| release.linked.get(row) == Some(&id));
            rows.extend(here.map(|row| (place, group, release.sensitive[row])));
        }
    }
    rows
}

fn common_id(case: &Case, witness: &Witness) -> u64 {
    let groups: Vec<(usize, usize)> = witness.groups.iter().map(|&(i, g)| (i as usize, g as usize)).collect();
    let is_it = |id: &u64| rows_of(case, *id).iter().map(|row| (row.0, row.1)).collect::<Vec<_>>() == groups;
    ids(case).into_iter().find(is_it).expect("an id with these groups")
}

/// Whether two ids tell the same story: the same groups, or, without presence, the same meet.
fn is_alike(case: &Case, id: u64, other: u64) -> bool {
    let (a, b) = (rows_of(case, id), rows_of(case, other));
    if case.attacker.presence {
        return a.iter().map(|row| (row.0, row.1)).eq(b.iter().map(|row| (row.0, row.1)));
    }
    let meet = |rows: &[(usize, usize, Value)]| -> Vec<(u32, u32)> {
        let regions: Vec<_> = rows.iter().map(|&(i, g, _)| case.releases[i].region(g)).collect();
        (0..regions[0].len())
            .map(|at| {
                let lo = regions.iter().map(|region| region[at].lo).max().unwrap();
                (lo, regions.iter().map(|region| region[at].hi).min().unwrap())
            })
            .collect()
    };
    meet(&a) == meet(&b)
}

/// Pairs of rows that occur once in both files, and how many of them stand in the same order.
fn order(case: &Case, witness: &Witness) -> (u64, u64) {
    let (i, j) = two(witness);
    type Rows = BTreeMap<(Vec<(u32, u32)>, Value), Vec<(usize, u32)>>;
    let rows = |place: u32| -> Rows {
        let (release, traces) = (&case.releases[place as usize], &case.traces[place as usize]);
        let mut rows: Rows = BTreeMap::new();
        for group in 0..release.group_count() {
            let region: Vec<(u32, u32)> = release.region(group).iter().map(|span| (span.lo, span.hi)).collect();
            for row in release.group_rows(group) {
                rows.entry((region.clone(), release.sensitive[row])).or_default().push((group, traces.places[row]));
            }
        }
        rows.retain(|_, found| found.len() == 1);
        rows
    };
    let by_group = |place: u32| {
        let (release, traces) = (&case.releases[place as usize], &case.traces[place as usize]);
        (0..release.group_count()).all(|group| {
            let mut places: Vec<u32> = release.group_rows(group).map(|row| traces.places[row]).collect();
            places.sort_unstable();
            places.windows(2).all(|pair| pair[0] + 1 == pair[1])
        })
    };
    let within = by_group(i) || by_group(j);
    let (old, new) = (rows(i), rows(j));
    let shared: Vec<(usize, u32, u32)> =
        old.iter().filter_map(|(key, a)| Some((a[0].0, a[0].1, new.get(key)?[0].1))).collect();
    let (mut pairs, mut same) = (0, 0);
    for (at, a) in shared.iter().enumerate() {
        for b in shared[at + 1..].iter().filter(|b| !within || a.0 == b.0) {
            pairs += 1;
            same += u64::from((a.1 < b.1) == (a.2 < b.2));
        }
    }
    (pairs, same)
}
