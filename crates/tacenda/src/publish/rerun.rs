//! Makes the releases of a series again, and once more with values exchanged.
//!
//! The values of everyone in a value set are exchanged: each becomes the next value of the set. Everyone who is dealt
//! in a release takes over the lot of somebody with that value, in order. Then every random choice falls for the new
//! holder as it fell for the old one. By the proof (science A3.11-b, science A3.11-d, science A3.11-e) no group of any release may change.

use crate::audit::{Exchanged, Rerun};
use crate::model::lots::GivenLots;
use crate::model::{
    History, Lots, Membership, Published, RecordKey, Release, Row, Seed, Span, Table, Value, ValueSetId,
};
use crate::promise::{PolicyFile, Promised, SeriesPromise, Within};
use crate::publish::{Stamp, recode};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// A series, and everything that it was made from. Private.
pub struct Remaking<'a> {
    /// The policy of the last release.
    pub policy: &'a PolicyFile,
    /// The secret of the series.
    pub seed: &'a Seed,
    /// The table behind each release.
    pub tables: Vec<&'a Table>,
    /// The releases, as they were published.
    pub releases: &'a [Release],
}

impl fmt::Debug for Remaking<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Remaking({} releases)", self.releases.len())
    }
}

impl Rerun for Remaking<'_> {
    fn exchange(&self) -> Option<Vec<Exchanged>> {
        let Promised::Series(promise) = &self.policy.promise else { return None };
        let mut history = History::default();
        // After a refusal there are no further releases.
        let mut other_history = Some(History::default());
        let mut answer = Vec::new();
        for (&table, published) in self.tables.iter().zip(self.releases) {
            let lots = self.seed.lots("group", published.number);
            let made = self.make(promise, &history, table, &lots, published)?;
            if !is_same(&made.release, published) {
                return None;
            }
            let within = promise.inner().exchanged_within(&self.policy.schema, &history, table, &lots);
            let (exchanged, handed) = exchange(&within, &history, table, &made, lots);
            let lots = Lots::given(Arc::new(handed));
            let other = other_history.and_then(|before| self.make(promise, &before, &exchanged, &lots, published));
            answer.push(compare(&made, other.as_ref()));
            history = made.history;
            other_history = other.map(|other| other.history);
        }
        Some(answer)
    }
}

/// A release that was made again.
struct Made {
    release: Release,
    membership: Membership,
    history: History,
}

impl Remaking<'_> {
    /// Who was left out of each release. `None` if a release that is made again is another one, as after a change of the
    /// policy or of this program.
    pub(super) fn left_out(&self) -> Option<Vec<Membership>> {
        let Promised::Series(promise) = &self.policy.promise else { return None };
        let mut history = History::default();
        let mut answer = Vec::new();
        for (&table, published) in self.tables.iter().zip(self.releases) {
            let lots = self.seed.lots("group", published.number);
            let made = self.make(promise, &history, table, &lots, published)?;
            if !is_same(&made.release, published) {
                return None;
            }
            answer.push(Membership { withheld: made.membership.withheld, ..Membership::default() });
            history = made.history;
        }
        Some(answer)
    }

    fn make(
        &self,
        promise: &SeriesPromise,
        before: &History,
        table: &Table,
        lots: &Lots,
        published: &Release,
    ) -> Option<Made> {
        let schema = &self.policy.schema;
        let grouping = promise.inner().group(schema, before, table, lots).ok()?;
        let stamp = Stamp { seed: self.seed, number: published.number, label: &published.label, linked_ids: false };
        let (release, membership) = recode(schema, &grouping, table, stamp);
        let left = Published { cells: grouping.cells, facts: grouping.facts, ..Published::default() };
        let history = before.after(table, &release, &membership, left);
        Some(Made { release, membership, history })
    }
}

/// Whether two releases have the same groups, whatever the order of rows.
fn is_same(one: &Release, other: &Release) -> bool {
    let groups = |release: &Release| -> Vec<(Vec<Span>, Vec<Value>, u32)> {
        let group = |group: usize| {
            let mut values = release.group_values(group).to_vec();
            values.sort_unstable();
            (release.region(group).to_vec(), values, release.counterfeits[group])
        };
        (0..release.group_count()).map(group).collect()
    };
    groups(one) == groups(other)
}

/// Lots of a release, some of them handed over.
struct Handed {
    own: Lots,
    others: HashMap<RecordKey, u64>,
}

impl GivenLots for Handed {
    fn of(&self, record: RecordKey) -> u64 {
        self.others.get(&record).copied().unwrap_or_else(|| self.own.of(record))
    }

    /// A counterfeit is drawn for a value set, a position in it and a number. The exchange moved people on by one
    /// position.
    fn below(&self, unit: &[u32], bound: u64) -> u64 {
        let mut unit = unit.to_vec();
        let set = unit.len() - 2;
        unit[set] = (unit[set] + set as u32 - 1) % set as u32;
        self.own.below(&unit, bound)
    }
}

/// The table with exchanged values, and the lots that go with it.
fn exchange(within: &Within, before: &History, table: &Table, made: &Made, lots: Lots) -> (Table, Handed) {
    let mut values = table.sensitive().to_vec();
    for (row, record) in table.rows().zip(made.history.align(table)) {
        let set = record.filter(|record| record.is_published()).map(|record| record.value_set);
        let next = set.and_then(|set| next(&made.history, set, values[row.index()]));
        values[row.index()] = next.unwrap_or(values[row.index()]);
    }
    // The people dealt in this release, by value set (or group) and value, in the order of their lots.
    let mut dealt: BTreeMap<u32, BTreeMap<Value, Vec<(u64, Row)>>> = BTreeMap::new();
    let mut sets: BTreeMap<u32, ValueSetId> = BTreeMap::new();
    for ((row, record), old) in table.rows().zip(made.history.align(table)).zip(before.align(table)) {
        let is_new = !old.is_some_and(|old| old.is_published());
        let Some(record) = record.filter(|record| is_new && made.history.is_current(record)) else { continue };
        let unit = match within {
            Within::ValueSet => record.value_set.0,
            Within::Bucket(numbers) => numbers[row.index()],
            Within::Group => record.group,
        };
        sets.insert(unit, record.value_set);
        let of_value = dealt.entry(unit).or_default().entry(table.sensitive()[row.index()]);
        of_value.or_default().push((lots.of(table.key(row)), row));
    }
    let mut others = HashMap::new();
    for (unit, mut people) in dealt {
        people.values_mut().for_each(|people| people.sort_unstable());
        for (&value, holders) in &people {
            let next = next(&made.history, sets[&unit], value).and_then(|next| people.get(&next));
            for (&(_, row), &(lot, _)) in holders.iter().zip(next.into_iter().flatten()) {
                others.insert(table.key(row), lot);
            }
        }
    }
    let quasi = (0..table.quasi_count()).map(|attribute| table.quasi(attribute).to_vec()).collect();
    let (public, texts) = (table.public().to_vec(), table.public_texts.clone());
    let table = Table::new(table.keys().to_vec(), quasi, values, table.values.clone(), public, texts);
    (table, Handed { own: lots, others })
}

/// The next value of a set, cyclically; `None` if the set does not have this value.
fn next(history: &History, set: ValueSetId, value: Value) -> Option<Value> {
    let set = history.value_sets.get(set);
    let at = set.iter().position(|&other| other == value)?;
    Some(set[(at + 1) % set.len()])
}

/// Which groups are not the same: by the people in them, and by their values.
fn compare(made: &Made, other: Option<&Made>) -> Exchanged {
    let groups = |made: &Made| -> Vec<(Vec<u32>, Vec<Value>)> {
        let group = |group: usize| {
            let mut rows = made.membership.rows[made.release.group_rows(group)].to_vec();
            rows.sort_unstable();
            (rows, made.release.group_values(group).to_vec())
        };
        (0..made.release.group_count()).map(group).collect()
    };
    let others: HashSet<(Vec<u32>, Vec<Value>)> = other.into_iter().flat_map(groups).collect();
    let people = |group: u32| u64::from(made.release.people(group as usize));
    let changed = (0..).zip(groups(made)).filter(|(_, group)| !others.contains(group)).map(|(group, _)| group);
    let groups: Vec<u32> = changed.collect();
    Exchanged {
        people: (0..made.release.group_count() as u32).map(people).sum(),
        moved: groups.iter().map(|&group| people(group)).sum(),
        groups,
    }
}
