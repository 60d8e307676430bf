//! Attacks that once found more than was promised, run against the program of today. docs/guarantees.md lists them with
//! the numbers that are asserted here.

use crate::kit::{file, seed};
use std::collections::{BTreeMap, BTreeSet};
use tacenda::model::{
    Domain, Grid, History, Quasi, Reader, RecordKey, Rng, Row, Schema, Sensitive, Table, Value, Values,
};
use tacenda::promise::{
    Grouper, IncrementalKAnonymity, KAnonymity, MInvariance, OnIneligible, PolicyFile, Promised, SeriesPromise, Surplus,
};
use tacenda::publish::{Before, Prepared, PublishError, prepare};

/// One person: number, place, value.
type Someone = (u64, [u32; 2], u32);

/// Two whole numbers below 1000, with lines a pitch apart.
fn schema(pitch: u32) -> Schema {
    let grid = if pitch == 1 { Grid::Free } else { Grid::Every { pitch, phase: 0 } };
    let quasi = |name: &str| Quasi { grid: grid.clone(), ..Quasi::new(name, Domain::Integer { lo: 0, hi: 1000 }) };
    Schema::new("id", vec![quasi("x"), quasi("y")], vec![Sensitive::open("value")])
}

fn table(people: &[Someone]) -> Table {
    let mut people = people.to_vec();
    people.sort_unstable();
    let key = |person: &Someone| RecordKey { hi: person.0, lo: 0 };
    let column = |at: usize| people.iter().map(|person| person.1[at]).collect();
    let values = people.iter().map(|person| Value(person.2)).collect();
    let texts = Values::of(["a", "b", "c", "d", "e", "f"]);
    Table::new(people.iter().map(key).collect(), vec![column(0), column(1)], values, texts, Vec::new(), Vec::new())
}

/// Publishes the snapshots one after another, with places on lines a pitch apart.
fn publish<P: Grouper + Copy + Into<SeriesPromise>>(
    policy: P,
    pitch: u32,
    snapshots: &[Vec<Someone>],
) -> Result<Vec<(Table, Prepared)>, PublishError> {
    let file = PolicyFile { schema: schema(pitch), ..file(Promised::Series(policy.into())) };
    let mut done: Vec<(Table, Prepared)> = Vec::new();
    for people in snapshots {
        let table = table(people);
        let history = done.last().map_or_else(History::default, |(_, prepared)| prepared.history.clone());
        let before = Before { history: &history, snapshot: done.last().map(|(table, _)| table) };
        let prepared = prepare(&file, &policy, &seed(), before, &table, "label")?;
        done.push((table, prepared));
    }
    Ok(done)
}

/// So many people, with values that are as frequent as `weights` says.
fn people(rng: &mut Rng, from: u64, count: u64, weights: &[u64]) -> Vec<Someone> {
    let value = |rng: &mut Rng| {
        let mut left = rng.below(weights.iter().sum());
        let is_it = |weight: &u64| {
            let found = left < *weight;
            left = left.saturating_sub(*weight);
            found
        };
        weights.iter().position(is_it).unwrap() as u32
    };
    let mut person = |id| (id, [rng.below(1000) as u32, rng.below(1000) as u32], value(rng));
    (from..from + count).map(&mut person).collect()
}

/// Per value set, how many copies of it a release has.
fn copies(prepared: &Prepared) -> BTreeMap<Vec<Value>, usize> {
    let mut copies = BTreeMap::new();
    for group in 0..prepared.release.group_count() {
        *copies.entry(prepared.release.value_set(group)).or_insert(0) += 1;
    }
    copies
}

/// The value set of everyone who stands alone with counterfeits, and their value.
fn lone((table, prepared): &(Table, Prepared)) -> Vec<(Vec<Value>, Value)> {
    let (release, membership) = (&prepared.release, &prepared.membership);
    let is_lone = |group: &usize| release.people(*group) == 1 && release.counterfeits[*group] > 0;
    let value = |group: usize| {
        let row = release.group_rows(group).find_map(|row| membership.person(row)).unwrap();
        (release.value_set(group), table.sensitive()[row.index()])
    };
    (0..release.group_count()).filter(is_lone).map(value).collect()
}

/// Attack 1b, science CE-6: what newcomers had to spare cannot be the gap beside a person who stands alone. Answers with
/// how many the rule speaks of, and for how many it is right.
fn by_gaps(policy: MInvariance, series: u64) -> (usize, usize) {
    let (mut said, mut right) = (0, 0);
    for number in 0..series {
        let mut rng = Rng::from_number(number);
        let mut everyone = people(&mut rng, 0, 200, &[8, 6, 4, 2, 1, 1]);
        let first = everyone.clone();
        everyone.retain(|_| rng.below(100) >= 12);
        everyone.extend(people(&mut rng, 200, 20, &[8, 6, 4, 2, 1, 1]));
        let Ok(done) = publish(policy, 1, &[first, everyone]) else { continue };
        let before = copies(&done[0].1);
        let grew = copies(&done[1].1).into_iter().filter(|(set, count)| before.get(set).is_none_or(|old| count > old));
        let spare: BTreeSet<Value> = grew.flat_map(|(set, _)| set).collect();
        for (set, value) in lone(&done[1]) {
            let fits = |own: &&Value| set.iter().all(|gap| gap == *own || !spare.contains(gap));
            let left: Vec<&Value> = set.iter().filter(fits).collect();
            if let [only] = left[..] {
                said += 1;
                right += usize::from(*only == value);
            }
        }
    }
    (said, right)
}

#[test]
fn gaps_tell_whom_they_stand_beside_only_where_the_reader_knows_the_rule() {
    let rule = by_gaps(MInvariance::new(2), 150);
    let method = by_gaps(MInvariance { reader: Reader::Method, ..MInvariance::new(2) }, 150);
    // Half is promised. The rule of this attack is only one of many.
    assert_eq!((rule, method), ((222, 202), (439, 228)));
}

/// Attack 1c, science CE-7.
#[test]
fn who_stands_alone_with_counterfeits_has_the_frequent_value() {
    let (mut alone, mut right) = (0, 0);
    for number in 0..12u64 {
        let m = 2 + number as u32 % 3;
        let everyone = people(&mut Rng::from_number(number), 0, 300, &[u64::from(5 * m), 2, 2, 2, 2, 2]);
        let policy = MInvariance { on_ineligible: OnIneligible::Counterfeit, ..MInvariance::new(m) };
        let done = publish(policy, 1, &[everyone]).unwrap();
        for (_, value) in lone(&done[0]) {
            alone += 1;
            right += usize::from(value == Value(0));
        }
    }
    assert_eq!((alone, right), (963, 963));
}

/// Attack 5: only holders of the most frequent value wait.
#[test]
fn who_waits_has_the_frequent_value() {
    let (mut waiting, mut right) = (0, 0);
    for number in 0..12 {
        let everyone = people(&mut Rng::from_number(number), 0, 200, &[12, 2, 2, 2, 2, 2]);
        let policy = MInvariance { on_ineligible: OnIneligible::Defer, ..MInvariance::new(2) };
        let (table, prepared) = &publish(policy, 1, &[everyone]).unwrap()[0];
        let value = |row: &Row| table.sensitive()[row.index()];
        waiting += prepared.membership.withheld.len();
        right += prepared.membership.withheld.iter().filter(|row| value(row) == Value(0)).count();
    }
    assert_eq!((waiting, right), (244, 244));
}

/// Attack 5 under the guard `l`, science CE-8: p and q are a group of one value and wait. Then each is published with one
/// other, and the only value that both groups have is theirs.
#[test]
fn who_waits_for_the_guard_shares_what_their_groups_have_in_common() {
    const HIV: u32 = 0;
    let first = vec![(1, [10, 10], 1), (2, [20, 10], 2), (3, [800, 10], HIV), (4, [900, 10], HIV)];
    let later = vec![(5, [810, 10], 1), (6, [910, 10], 2)];
    let policy = IncrementalKAnonymity { l: Some(2), ..IncrementalKAnonymity::new(2) };
    let done = publish(policy, 1, &[first.clone(), [first, later].concat()]).unwrap();
    assert_eq!(done[0].1.membership.withheld, [Row(2), Row(3)]);
    let (table, prepared) = &done[1];
    let of_group = |id: u64| {
        let is_theirs = |group: &usize| {
            let mut rows = prepared.release.group_rows(*group).filter_map(|row| prepared.membership.person(row));
            rows.any(|row| table.key(row).hi == id)
        };
        let group = (0..prepared.release.group_count()).find(is_theirs).unwrap();
        prepared.release.value_set(group).into_iter().collect::<BTreeSet<Value>>()
    };
    let common: Vec<Value> = of_group(3).intersection(&of_group(4)).copied().collect();
    assert_eq!(common, [Value(HIV)]);
}

/// Attack 6, science CE-10: value a never goes. Whoever's value set changed did not have it, so a companion has.
fn by_permanence(policy: MInvariance) -> Result<(usize, usize), PublishError> {
    let (mut said, mut right) = (0, 0);
    for number in 0..20 {
        let mut rng = Rng::from_number(number);
        let first = people(&mut rng, 0, 200, &[1, 1, 1, 1, 1, 1]);
        let mut second = first.clone();
        for person in second.iter_mut().filter(|person| person.2 != 0) {
            if rng.below(10) == 0 {
                person.2 = rng.below(6) as u32;
            }
        }
        let done = publish(policy, 1, &[first, second])?;
        let set_of = |at: usize| {
            let (table, prepared) = &done[at];
            let mut sets = BTreeMap::new();
            for group in 0..prepared.release.group_count() {
                for row in prepared.release.group_rows(group).filter_map(|row| prepared.membership.person(row)) {
                    sets.insert(table.key(row), prepared.release.value_set(group));
                }
            }
            sets
        };
        let (before, after) = (set_of(0), set_of(1));
        let (table, prepared) = &done[0];
        for group in 0..prepared.release.group_count() {
            if !prepared.release.value_set(group).contains(&Value(0)) {
                continue;
            }
            let rows = prepared.release.group_rows(group).filter_map(|row| prepared.membership.person(row));
            let is_open = |row: &Row| {
                let key = table.key(*row);
                after.get(&key).is_none_or(|set| *set == before[&key])
            };
            let left: Vec<Row> = rows.filter(is_open).collect();
            if let [only] = left[..] {
                said += 1;
                right += usize::from(table.sensitive()[only.index()] == Value(0));
            }
        }
    }
    Ok((said, right))
}

#[test]
fn a_changed_value_set_tells_a_companions_permanent_value() {
    assert_eq!(by_permanence(MInvariance::new(2)).unwrap(), (52, 52));
    let method = MInvariance { reader: Reader::Method, ..MInvariance::new(2) };
    assert!(matches!(by_permanence(method), Err(PublishError::Grouping(_))), "changed values are refused");
}

/// Whoever was published and then waits has another value than before: nothing else makes them wait.
#[test]
fn who_was_published_and_waits_has_another_value() {
    let (mut waiting, mut changed) = (0, 0);
    for number in 0..20 {
        let mut rng = Rng::from_number(number);
        let first = people(&mut rng, 0, 200, &[1, 1, 1, 1, 1, 1]);
        let mut second = first.clone();
        for person in second.iter_mut().filter(|_| rng.below(10) == 0) {
            person.2 = (person.2 + 1) % 6;
        }
        // Four of six values: no other set is free of all of them.
        let done = publish(MInvariance::new(4), 1, &[first.clone(), second]).unwrap();
        for row in &done[1].1.membership.withheld {
            let id = done[1].0.key(*row).hi as usize;
            waiting += 1;
            changed += usize::from(Value(first[id].2) != done[1].0.sensitive()[row.index()]);
        }
    }
    assert_eq!((waiting, changed), (141, 141));
}

/// A limit of `reader = "method"`: whoever is withheld may change their value within their value set, and nobody notices.
#[test]
fn a_value_that_changes_while_its_person_is_withheld_is_not_refused() {
    let policy = MInvariance { reader: Reader::Method, surplus: Surplus::Withhold, ..MInvariance::new(5) };
    let mut rng = Rng::from_number(3);
    let mut first = people(&mut rng, 0, 200, &[1]);
    first.iter_mut().for_each(|person| person.2 = person.0 as u32 % 6);
    let second: Vec<Someone> = first.iter().copied().filter(|_| rng.below(100) >= 30).collect();
    let done = publish(policy, 1, &[first.clone(), second.clone()]).unwrap();
    let withheld = done[1].0.key(done[1].1.membership.withheld[0]);
    let release = &done[0].1.release;
    let is_theirs = |group: &usize| {
        let mut rows = release.group_rows(*group).filter_map(|row| done[0].1.membership.person(row));
        rows.any(|row| done[0].0.key(row) == withheld)
    };
    let set = release.value_set((0..release.group_count()).find(is_theirs).unwrap());
    let change = |id: u64, third: &[Someone]| {
        let mut third = third.to_vec();
        let person = third.iter_mut().find(|person| person.0 == id).unwrap();
        person.2 = set.iter().find(|value| value.0 != person.2).unwrap().0;
        publish(policy, 1, &[first.clone(), second.clone(), third])
    };
    assert!(change(withheld.hi, &second).is_ok());
    let published = done[1].0.key(done[1].1.membership.person(0).unwrap());
    assert!(change(published.hi, &second).is_err(), "the change of a published person is refused");
}

/// Attack 7: in how many of 100 groups the upper end of a box isolates one person; and a value drawn from the box.
fn singled_out<P: Grouper + Copy + Into<SeriesPromise>>(policy: P, pitch: u32) -> (usize, usize) {
    let mut rng = Rng::from_number(1);
    let everyone = people(&mut rng, 0, 600, &[1, 1, 1, 1, 1, 1]);
    let done = publish(policy, pitch, std::slice::from_ref(&everyone)).unwrap();
    let release = &done[0].1.release;
    let (mut by_end, mut by_chance) = (0, 0);
    for group in 0..release.group_count() {
        let region = release.region(group);
        let inside =
            |person: &&Someone| region.iter().zip(person.1).all(|(span, code)| span.lo <= code && code <= span.hi);
        let isolates = |x: u32| everyone.iter().filter(inside).filter(|person| person.1[0] == x).count() == 1;
        let width = u64::from(region[0].hi - region[0].lo + 1);
        by_end += usize::from(isolates(region[0].hi));
        by_chance += usize::from(isolates(region[0].lo + rng.below(width) as u32));
    }
    let percent = |count: usize| (count * 100 + release.group_count() / 2) / release.group_count();
    (percent(by_end), percent(by_chance))
}

#[test]
fn the_end_of_a_tight_box_singles_out_unless_it_lies_on_a_grid() {
    let k = KAnonymity::new(5);
    let found = [
        singled_out(k, 1),
        singled_out(IncrementalKAnonymity::new(5), 1),
        singled_out(MInvariance::new(4), 1),
        singled_out(k, 20),
    ];
    assert_eq!(found, [(97, 11), (95, 9), (88, 10), (10, 9)]);
}
