//! Whether a series with `reader = "rule"` will collapse: so many values in sets of m, so few people, so much change.
//!
//! A person's value set never shrinks. If people leave a set faster than newcomers with its values arrive, counterfeits
//! stand in for them. Where values are many and people few, that feeds itself: rare values find no company, new sets are
//! made of what is left over, and each of them has gaps of its own after the next release.
//!
//! The engine itself places people who leave and arrive at the rate that was seen, release after release. Only values
//! matter for that, so everyone stands at one place.

use super::forecast::{ASSUMED, COUNTERFEITS_AHEAD, RUINOUS, Stayed};
use crate::grouping::buckets::cut::CutEffort;
use crate::model::{
    Domain, Grouping, History, Lots, Membership, Published, Quasi, RecordKey, Regions, Release, Rng, Schema, Sensitive,
    Span, Table, Value, counted,
};
use crate::promise::{MInvariance, OnIneligible};

/// With more people than this for each value of each set, a series does not collapse within the forecast.
const CROWD: u64 = 64;

/// How many releases ahead the forecast goes at most.
const AHEAD: usize = 40;

/// About how many people are placed in all releases together.
const FOLLOWED: usize = 1 << 19;

/// A shorter forecast says nothing.
const LEAST: usize = 4;

/// The warning that the series will collapse, if it will.
pub(super) fn warning(promise: &MInvariance, table: &Table, release: &Release, last: Option<&Table>) -> Option<String> {
    let (people, counts) = (table.len(), counts(table));
    if !is_asked(promise, people, &counts) {
        return None;
    }
    let (values, ahead) = (held(&counts), ahead(people));
    let leave = last.map_or(ASSUMED, |last| Stayed::between(last, table).leave());
    let expected = Expected::of(promise, table, release, last, leave, ahead);
    let (number, &[counterfeits, withheld]) =
        (1..).zip(&expected.shares).find(|(_, [counterfeits, withheld])| counterfeits + withheld > RUINOUS)?;
    Some(format!(
        "{}: {} in sets of {} are too many for {} of whom {:.1} % leave each time{}: {} from now, expect about \
         {:.1} % counterfeits and {:.1} % withheld people, and more later; {}",
        COUNTERFEITS_AHEAD.0,
        counted(values, "value", "values"),
        promise.m,
        counted(people as u64, "person", "people"),
        100.0 * leave,
        if last.is_some() { ", as now" } else { "" },
        counted(number, "release", "releases"),
        100.0 * counterfeits,
        100.0 * withheld,
        match last {
            None if promise.m == 2 => "publish coarser sensitive values, or publish less often",
            None => "lower m, publish coarser sensitive values, or publish less often",
            // Neither m nor the values of a running series can be changed.
            Some(_) =>
                "publish less often, or raise max_share if so many are acceptable; a new series can have a lower m",
        }
    ))
}

/// Whether so few people, of whom so many have each value, are looked at.
pub(super) fn is_asked(promise: &MInvariance, people: usize, values: &[u64]) -> bool {
    people as u64 <= CROWD * held(values) * u64::from(promise.m) && ahead(people) >= LEAST
}

/// How many values somebody has.
fn held(counts: &[u64]) -> u64 {
    counts.iter().filter(|&&count| count > 0).count() as u64
}

/// How many releases ahead the forecast goes for so many people.
fn ahead(people: usize) -> usize {
    (FOLLOWED / people.max(1)).min(AHEAD)
}

/// The next releases, in shares of rows that are counterfeits and of people who are withheld.
struct Expected {
    shares: Vec<[f64; 2]>,
}

impl Expected {
    fn of(
        promise: &MInvariance,
        table: &Table,
        release: &Release,
        last: Option<&Table>,
        leave: f64,
        ahead: usize,
    ) -> Expected {
        let mut rng = Lots::from_number(1).stream(&[0]);
        let (mut people, mut history) = now(table, release, &mut rng);
        let arrivals = arrivals(table, last);
        let arrive = (table.len() as f64 * leave).round() as usize;
        // Who waits is counted. A refusal would end the forecast before it shows anything.
        let on_ineligible = match promise.on_ineligible {
            OnIneligible::Refuse => OnIneligible::Defer,
            other => other,
        };
        let engine = MInvariance { on_ineligible, effort: CutEffort::Fast, ..*promise };
        let mut shares = Vec::new();
        let mut next = people.len() as u64;
        for number in 1..=ahead {
            people.retain(|_| rng.unit() >= leave);
            for _ in 0..arrive {
                people.push((next, arrivals[rng.below(arrivals.len() as u64) as usize]));
                next += 1;
            }
            let table = table_of(&people, table);
            let lots = Lots::from_number(number as u64);
            let Ok(grouping) = engine.group_with(&schema(), &history, &table, &lots, true) else { break };
            let (release, membership) = publish(&history, &table, &grouping);
            let rows = release.row_count().max(1) as f64;
            shares.push([
                release.counterfeit_count() as f64 / rows,
                grouping.withheld.len() as f64 / table.len().max(1) as f64,
            ]);
            history = history.after(&table, &release, &membership, Published::default());
        }
        Expected { shares }
    }
}

/// The people of this release, numbered, with their values, and the history that says who has which set. Which rows of a
/// group are counterfeits is drawn.
fn now(table: &Table, release: &Release, rng: &mut Rng) -> (Vec<(u64, Value)>, History) {
    let mut people = Vec::new();
    let mut membership = Membership::default();
    let mut regions = Regions::new(1);
    for group in 0..release.group_count() {
        let rows = release.group_rows(group);
        let mut is_person = vec![true; rows.len()];
        is_person[..release.counterfeits[group] as usize].fill(false);
        rng.shuffle(&mut is_person);
        for (row, is_person) in rows.zip(is_person) {
            membership.rows.push(if is_person { people.len() as u32 } else { Membership::COUNTERFEIT });
            if is_person {
                people.push((people.len() as u64, release.sensitive[row]));
            }
        }
        membership.policy_groups.push(group as u32);
        regions.push(&[Span::exact(0)]);
    }
    let release = Release {
        number: 1,
        regions,
        ends: release.ends.clone(),
        sensitive: release.sensitive.clone(),
        values: table.values.clone(),
        counterfeits: release.counterfeits.clone(),
        ..Release::default()
    };
    let history = History::default().after(&table_of(&people, table), &release, &membership, Published::default());
    (people, history)
}

/// The values of those who arrived since the last table; of everyone, if nobody did or there is none.
fn arrivals(table: &Table, last: Option<&Table>) -> Vec<Value> {
    let is_new = |key: &RecordKey| last.is_some_and(|last| last.keys().binary_search(key).is_err());
    let new: Vec<Value> =
        table.keys().iter().zip(table.sensitive()).filter(|(key, _)| is_new(key)).map(|(_, &value)| value).collect();
    if new.is_empty() { table.sensitive().to_vec() } else { new }
}

fn counts(table: &Table) -> Vec<u64> {
    let mut counts = vec![0; table.values.len()];
    table.sensitive().iter().for_each(|value| counts[value.index()] += 1);
    counts
}

/// One column with one value: everyone stands at the same place.
fn schema() -> Schema {
    Schema::new("", vec![Quasi::new("", Domain::Integer { lo: 0, hi: 1 })], vec![Sensitive::open("")])
}

fn table_of(people: &[(u64, Value)], like: &Table) -> Table {
    Table::new(
        people.iter().map(|&(number, _)| RecordKey { hi: 0, lo: number }).collect(),
        vec![vec![0; people.len()]],
        people.iter().map(|&(_, value)| value).collect(),
        like.values.clone(),
        Vec::new(),
        Vec::new(),
    )
}

fn publish(history: &History, table: &Table, grouping: &Grouping) -> (Release, Membership) {
    let mut release = Release {
        number: history.releases + 1,
        regions: Regions::new(1),
        values: table.values.clone(),
        ..Release::default()
    };
    let mut membership = Membership { withheld: grouping.withheld.clone(), ..Membership::default() };
    for (index, group) in grouping.groups().enumerate() {
        let mut rows: Vec<(Value, u32)> =
            group.rows.iter().map(|row| (table.sensitive()[row.index()], row.0)).collect();
        rows.extend(group.counterfeits.iter().map(|&value| (value, Membership::COUNTERFEIT)));
        rows.sort_unstable();
        for (value, row) in rows {
            release.sensitive.push(value);
            membership.rows.push(row);
        }
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(group.counterfeits.len() as u32);
        release.regions.push(&[Span::exact(0)]);
        membership.policy_groups.push(index as u32);
    }
    (release, membership)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, table, values};

    /// So many people with values drawn from so many, rare ones rarer; and their first release.
    fn first(people: u64, kinds: u32, m: u32) -> (Table, Release) {
        let mut rng = Rng::from_number(5);
        let mut value = || rng.below(u64::from(kinds)).min(rng.below(u64::from(kinds))) as u32;
        let rows: Vec<SnapshotRow> = (0..people).map(|id| (id, vec![0], value())).collect();
        let table = table(&values(kinds), 1, &rows);
        let engine = MInvariance { on_ineligible: OnIneligible::Defer, ..MInvariance::new(m) };
        let grouping = engine.group_with(&schema(), &History::default(), &table, &Lots::from_number(1), true).unwrap();
        let release = publish(&History::default(), &table, &grouping).0;
        (table, release)
    }

    #[test]
    fn many_values_in_large_sets_of_few_people_collapse_and_few_do_not() {
        let (few, release) = first(600, 60, 8);
        let said = warning(&MInvariance::new(8), &few, &release, None).unwrap();
        assert!(said.starts_with("R802: 56 values in sets of 8 are too many for 600 people"), "{said}");
        assert_eq!(warning(&MInvariance::new(8), &few, &release, None), Some(said), "the same table, the same words");
        let (even, release) = first(600, 8, 2);
        assert_eq!(warning(&MInvariance::new(2), &even, &release, None), None);
        let (many, release) = first(4000, 8, 3);
        assert_eq!(warning(&MInvariance::new(3), &many, &release, None), None, "a crowd is not even looked at");
    }

    #[test]
    fn where_nobody_leaves_nothing_collapses() {
        let (few, release) = first(600, 60, 8);
        assert_eq!(warning(&MInvariance::new(8), &few, &release, Some(&few)), None);
    }
}
