//! Records are only added, and everyone's sensitive value stays one of at least `l`.
//!
//! # Source
//! Paper 002 (science A2). The paper's own algorithm is [`DiversityMode::Paper`], in `paper.rs`, for study. It breaks
//! its promise.
//!
//! # Promise
//! Safe mode promises m-invariance with `m = l`, without counterfeits. All groups of a person have one value set of at
//! least `l` values, each equally often. It does not say when a newcomer is published. Holders of a value that more
//! than one in `l` newcomers have may wait. If a person is known to be in the data and waits, that almost reveals their
//! value (science A2.4).
//!
//! Paper mode promises at least `l` different values in every group, and nothing about the series.
//!
//! # Steps
//! | science A2.4 | here |
//! |---|---|
//! | refuse deletions and changes | `check_only_added` |
//! | largest `l`-eligible subset of waiting and new, the rest waits | [`MInvariance`] with `Defer` |
//! | assign, split | the same |
//!
//! # Departures
//! The paper adds single records to old classes, and divides classes if both parts keep the set of values. Both reveal
//! newcomers, and after a division old members, by the counts of the values (science A2.3). In safe mode newcomers
//! enter only in whole copies of a value set, so every class stays balanced.
//!
//! A person who left after an adopted release is withheld for good, because a single member who returns would need a
//! counterfeit.
//!
//! # Cost
//! That of m-invariance. Paper mode takes time quadratic in the number of newcomers, times the number of classes.

use crate::grouping::GroupingError;
use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::cells::{MayCut, by_own_histogram, dealt_in_cells, draw};
use crate::grouping::buckets::crowd::Crowd;
use crate::grouping::buckets::cut::{CutEffort, Cutting, cut};
use crate::grouping::buckets::hilbert::Curve;
use crate::grouping::buckets::split::refuse_too_wide;
use crate::grouping::top::Top;
use crate::model::{Grouping, History, Lots, Reader, Record, Release, Row, Schema, Span, Table};
use crate::promise::series::incremental_l_diversity::paper;
use crate::promise::series::m_invariance::refuse_uneven;
use crate::promise::series::{Changes, FromDisk, FromSeats, Grouper, Noticed, Seating, SeriesPromise};
use crate::promise::{DiversityMode, GroupForming, IncrementalLDiversity, MInvariance, OnIneligible};
use std::collections::BTreeMap;

impl Grouper for IncrementalLDiversity {
    fn promise(&self) -> SeriesPromise {
        (*self).into()
    }

    fn group(&self, schema: &Schema, history: &History, table: &Table, lots: &Lots) -> Result<Grouping, GroupingError> {
        check_only_added(history, table)?;
        let is_back =
            |record: Option<&Record>| record.is_some_and(|record| !history.is_current(record) && record.is_published());
        let records = table.rows().zip(history.align(table));
        let back: Vec<Row> = records.filter(|(_, record)| is_back(*record)).map(|(row, _)| row).collect();
        if back.is_empty() {
            return self.group_present(schema, history, table, lots);
        }
        // They left after a release made elsewhere, and their return would unbalance a class.
        let (present, rows) = without(table, &back);
        let inner = self.group_present(schema, history, &present, lots)?;
        let place = |row: &Row| rows[row.index()];
        let mut grouping = Grouping::default();
        for group in inner.groups() {
            grouping.push(&group.rows.iter().map(place).collect::<Vec<Row>>(), group.counterfeits);
        }
        grouping.withheld = inner.withheld.iter().map(place).chain(back).collect();
        grouping.withheld.sort_unstable();
        grouping.facts = inner.facts;
        Ok(grouping)
    }
}

/// Where groups are formed within cells, published groups stay as they are, and a cell of arrivals is grouped without the
/// others. So the people of some groups, and the arrivals of some cells, can be placed alone.
impl FromDisk for IncrementalLDiversity {
    fn refuse_columns(&self, schema: &Schema) -> Result<(), GroupingError> {
        refuse_too_wide(schema)
    }

    fn keep(&self, _: &Schema, history: &History, table: &Table, _: &[(u32, Row)]) -> (Grouping, Changes) {
        let (earlier, newcomers) = last_groups(history, table);
        assert!(newcomers.is_empty(), "a unit of old groups has no arrivals");
        let mut grouping = Grouping::default();
        push_all(earlier, &mut grouping);
        (grouping, changes(history, table).1)
    }

    fn refuse(&self, missing: usize, changes: Changes) -> Result<(), GroupingError> {
        refuse_changes(missing, changes)
    }

    fn refuse_values(&self, arrivals: &[u64]) -> Result<(), GroupingError> {
        refuse_uneven(arrivals, self.l)
    }

    /// Nobody waits: what cannot be grouped is refused.
    fn is_cut(&self, newcomers: usize, _: bool) -> bool {
        newcomers > 0
    }

    fn top<'a>(&self, schema: &'a Schema, newcomers: usize, unit: usize, values: usize) -> Option<Top<'a>> {
        Top::of_cells(schema, u64::from(self.l), values, newcomers, unit)
    }

    fn cut(&self, schema: &Schema, table: &Table, _: &[Span], lots: &Lots) -> Grouping {
        let mut grouping = Grouping::default();
        let newcomers = table.rows().map(|row| row.0).collect();
        self.form_in_cells(schema, table, newcomers, lots, by_own_histogram, &mut grouping);
        grouping
    }

    fn refuse_empty(&self, _: bool, _: usize, _: usize) -> Result<(), GroupingError> {
        Ok(())
    }
}

/// Close groups are those of m-invariance: everyone gets a bucket first, and a bucket is cut without the others.
impl FromSeats for IncrementalLDiversity {
    fn refuse_columns(&self, schema: &Schema) -> Result<(), GroupingError> {
        refuse_too_wide(schema)
    }

    fn only_adds(&self) -> bool {
        true
    }

    fn changes(&self, history: &History, table: &Table) -> Changes {
        changes(history, table).1
    }

    fn refuse_changes(&self, missing: usize, changes: Changes) -> Result<(), GroupingError> {
        refuse_changes(missing, changes)
    }

    fn needs_curve(&self, history: &History) -> bool {
        self.engine().needs_curve(history)
    }

    fn seat<'c>(&self, crowd: &Crowd<'c>, curve: &Curve<'c>, lots: &Lots) -> Result<Seating, GroupingError> {
        self.engine().seat_with(crowd, curve, lots, false)
    }

    fn cut(&self, schema: &Schema, table: &Table, buckets: Vec<Bucket>, lots: &Lots) -> Grouping {
        self.engine().cut(schema, table, buckets, lots)
    }

    fn asks_for_values(&self, _people: usize, _values: &[u64]) -> bool {
        false
    }

    fn warnings(&self, _: &Release, _: &Noticed<'_>) -> Vec<String> {
        Vec::new()
    }
}

impl IncrementalLDiversity {
    /// What forms close groups.
    fn engine(&self) -> MInvariance {
        let on_ineligible = match self.reader {
            Reader::Rule => OnIneligible::Defer,
            // Deferring would choose people by their value, which this reader could use.
            Reader::Method => OnIneligible::Refuse,
        };
        MInvariance { on_ineligible, reader: self.reader, ..MInvariance::new(self.l) }
    }

    /// Groups a table in which everyone published before was in the last release.
    fn group_present(
        &self,
        schema: &Schema,
        history: &History,
        table: &Table,
        lots: &Lots,
    ) -> Result<Grouping, GroupingError> {
        match self.mode {
            DiversityMode::Paper => paper::group(self.l, schema, history, table),
            DiversityMode::Safe if self.groups != GroupForming::Close => {
                self.group_in_cells(schema, history, table, lots, by_own_histogram)
            }
            DiversityMode::Safe => {
                // No counterfeits for steering either, which m-invariance spends in large tables.
                let grouping = self.engine().group_with(schema, history, table, lots, false)?;
                assert_eq!(grouping.counterfeit_count(), 0, "where nobody leaves there is no gap to fill");
                Ok(grouping)
            }
        }
    }

    /// Groups newcomers among themselves, within cells. Published groups stay as they are.
    pub(in crate::promise::series) fn group_in_cells(
        &self,
        schema: &Schema,
        history: &History,
        table: &Table,
        lots: &Lots,
        may_cut: MayCut,
    ) -> Result<Grouping, GroupingError> {
        refuse_too_wide(schema)?;
        let (earlier, newcomers) = last_groups(history, table);
        let mut counts = vec![0; table.values.len()];
        newcomers.iter().for_each(|&row| counts[table.sensitive()[row as usize].index()] += 1);
        refuse_uneven(&counts, self.l)?;
        let mut grouping = Grouping::default();
        push_all(earlier, &mut grouping);
        self.form_in_cells(schema, table, newcomers, lots, may_cut, &mut grouping);
        Ok(grouping)
    }

    /// Adds the groups of newcomers.
    fn form_in_cells(
        &self,
        schema: &Schema,
        table: &Table,
        newcomers: Vec<u32>,
        lots: &Lots,
        may_cut: MayCut,
        grouping: &mut Grouping,
    ) {
        let buckets = dealt_in_cells(schema, table, newcomers, lots, u64::from(self.l), may_cut);
        match self.groups {
            GroupForming::Drawn => draw(&buckets, grouping),
            GroupForming::Dealt | GroupForming::Close => {
                let cutting = Cutting { people: 1, effort: CutEffort::Fast, is_newcomer: None };
                cut(schema, table, buckets, lots, &cutting, grouping);
            }
        }
    }

    /// Per row, the number of the bucket that a newcomer is dealt into. Two cells may have buckets of the same value set.
    pub(super) fn bucket_numbers(&self, schema: &Schema, history: &History, table: &Table, lots: &Lots) -> Vec<u32> {
        let mut numbers = vec![u32::MAX; table.len()];
        let (_, newcomers) = last_groups(history, table);
        let buckets = dealt_in_cells(schema, table, newcomers, lots, u64::from(self.l), by_own_histogram);
        for (number, bucket) in (0..).zip(&buckets) {
            bucket.lists.iter().flatten().for_each(|&row| numbers[row as usize] = number);
        }
        numbers
    }
}

/// The rows of each group of the last release, and the rows of everyone else.
pub(super) fn last_groups(history: &History, table: &Table) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut newcomers = Vec::new();
    for (row, record) in table.rows().zip(history.align(table)) {
        match record.filter(|record| history.is_current(record)) {
            Some(record) => groups.entry(record.group).or_default().push(row.0),
            None => newcomers.push(row.0),
        }
    }
    (groups.into_values().collect(), newcomers)
}

/// The table without some rows, given in ascending order, and for each remaining row its old number.
fn without(table: &Table, some: &[Row]) -> (Table, Vec<Row>) {
    let rows: Vec<Row> = table.rows().filter(|row| some.binary_search(row).is_err()).collect();
    let pick = |column: &[u32]| rows.iter().map(|row| column[row.index()]).collect::<Vec<u32>>();
    let public = if table.public().is_empty() { Vec::new() } else { pick(table.public()) };
    let present = Table::new(
        rows.iter().map(|&row| table.key(row)).collect(),
        (0..table.quasi_count()).map(|attribute| pick(table.quasi(attribute))).collect(),
        rows.iter().map(|row| table.sensitive()[row.index()]).collect(),
        table.values.clone(),
        public,
        table.public_texts.clone(),
    );
    (present, rows)
}

/// Refuses a table in which a published person is missing or has another value.
///
/// Only a change of quasi values beyond the published region can be seen here. People who were published, but not in
/// the last release, left earlier. Only a series that continues from adopted releases has such people, and they stay
/// out.
fn check_only_added(history: &History, table: &Table) -> Result<(), GroupingError> {
    let published = history.records.iter().filter(|record| history.is_current(record)).count();
    let (found, changes) = changes(history, table);
    refuse_changes(published - found, changes)
}

/// How many people of the last release are here, and how many of them have changed.
fn changes(history: &History, table: &Table) -> (usize, Changes) {
    let (mut found, mut changes) = (0, Changes::default());
    for (row, record) in table.rows().zip(history.align(table)) {
        let Some(record) = record.filter(|record| history.is_current(record)) else { continue };
        found += 1;
        changes.revalued += usize::from(table.sensitive()[row.index()] != record.value);
        let region = history.groups.regions.get(record.group as usize);
        let inside = |(attribute, span): (usize, &Span)| span.contains(table.quasi(attribute)[row.index()]);
        changes.moved += usize::from(!region.iter().enumerate().all(inside));
    }
    (found, changes)
}

fn refuse_changes(missing: usize, changes: Changes) -> Result<(), GroupingError> {
    let way_out = "start a new series with the model m-invariance, which allows it";
    if missing > 0 {
        return Err(GroupingError::Deleted { records: missing, way_out });
    }
    match (changes.revalued, changes.moved) {
        (0, 0) => Ok(()),
        (0, records) => Err(GroupingError::Changed { records, what: "quasi", way_out }),
        (records, _) => Err(GroupingError::Changed { records, what: "sensitive", way_out }),
    }
}

/// Adds groups without counterfeits.
fn push_all(groups: Vec<Vec<u32>>, grouping: &mut Grouping) {
    for rows in groups {
        grouping.push(&rows.into_iter().map(Row).collect::<Vec<Row>>(), &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, Watch, after, group_values, schema, table, values};
    use crate::model::Value;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn run(mode: DiversityMode, l: u32, history: &History, table: &Table) -> Result<Grouping, GroupingError> {
        let policy = IncrementalLDiversity { mode, ..IncrementalLDiversity::new(l) };
        policy.group(&schema(&[100]), history, table, &crate::model::Lots::from_number(1))
    }

    /// People at ages; value 0 is cancer, 1 is flu.
    fn ward(people: &[(u64, u32, u32)]) -> Table {
        let people: Vec<SnapshotRow> = people.iter().map(|&(id, age, value)| (id, vec![age], value)).collect();
        table(&values(2), 1, &people)
    }

    /// The groups as sorted numbers of people.
    fn groups(table: &Table, grouping: &Grouping) -> BTreeSet<BTreeSet<u64>> {
        grouping.groups().map(|group| group.rows.iter().map(|&row| table.key(row).lo).collect()).collect()
    }

    fn sets<const N: usize>(groups: [&[u64]; N]) -> BTreeSet<BTreeSet<u64>> {
        groups.iter().map(|group| group.iter().copied().collect()).collect()
    }

    /// Newcomers are grouped among themselves, and what is out stays as it is.
    #[test]
    fn groups_within_cells_stay_as_they_are_while_the_table_grows() {
        [GroupForming::Dealt, GroupForming::Drawn].into_iter().for_each(groups_stay_as_they_are);
    }

    fn groups_stay_as_they_are(groups: GroupForming) {
        let schema = schema(&[100]);
        let policy = IncrementalLDiversity { reader: Reader::Method, groups, ..IncrementalLDiversity::new(3) };
        let people: Vec<SnapshotRow> =
            (0..900).map(|id| (id, vec![(id * 37 % 100) as u32], (id * id % 13) as u32)).collect();
        let (mut history, mut watch, mut first) = (History::default(), Watch::default(), BTreeSet::new());
        for releases in 1..=3 {
            let table = table(&values(13), 1, &people[..300 * releases]);
            let lots = Lots::from_number(releases as u64);
            let grouping = policy.group(&schema, &history, &table, &lots).unwrap();
            watch.look(&table, &grouping, 3, None);
            assert!(grouping.withheld.is_empty() && grouping.counterfeit_count() == 0);
            let numbers = |rows: &[Row]| rows.iter().map(|&row| table.key(row).lo).collect::<BTreeSet<u64>>();
            let groups: BTreeSet<BTreeSet<u64>> = grouping.groups().map(|group| numbers(group.rows)).collect();
            assert!(first.is_subset(&groups), "groups that are out come again");
            first = groups;
            history = after(&schema, &history, &table, &grouping);
        }
        let two = table(&values(13), 1, &[(1, vec![1], 0), (2, vec![2], 0)]);
        let refused = policy.group(&schema, &History::default(), &two, &Lots::from_number(1));
        assert!(matches!(refused, Err(GroupingError::Ineligible { .. })));
    }

    /// In tables of thousands m-invariance spends a few counterfeits to keep value sets few; here none.
    #[test]
    fn a_large_table_gets_no_counterfeits_either() {
        let mut rng = crate::model::Rng::from_number(3);
        let mut people: Vec<SnapshotRow> = Vec::new();
        let mut history = History::default();
        for (release, batch) in [9_000, 37, 111, 503].into_iter().enumerate() {
            people.extend((0..batch).map(|number| {
                let value = rng.below(8).min(rng.below(8)) as u32;
                (release as u64 * 10_000 + number, vec![rng.below(100) as u32], value)
            }));
            let now = table(&values(8), 1, &people);
            let grouping = run(DiversityMode::Safe, 3, &history, &now).unwrap();
            assert_eq!(grouping.counterfeit_count(), 0);
            history = after(&schema(&[100]), &history, &now, &grouping);
        }
    }

    /// science A2.3, CE-1, G9: the newcomer C is the only difference, so C has flu.
    #[test]
    fn the_papers_algorithm_adds_a_single_newcomer_to_a_class() {
        let first = ward(&[(1, 20, 1), (2, 30, 0)]);
        let grouping = run(DiversityMode::Paper, 2, &History::default(), &first).unwrap();
        let history = after(&schema(&[100]), &History::default(), &first, &grouping);
        let second = ward(&[(1, 20, 1), (2, 30, 0), (3, 25, 1)]);
        let grouping = run(DiversityMode::Paper, 2, &history, &second).unwrap();
        assert_eq!(groups(&second, &grouping), sets([&[1, 2, 3]]));
        assert_eq!(group_values(&second, &grouping), [[Value(0), Value(1), Value(1)]]);
        // The safe mode lets C wait.
        let grouping = run(DiversityMode::Safe, 2, &history, &second).unwrap();
        assert_eq!((groups(&second, &grouping), grouping.withheld.len()), (sets([&[1, 2]]), 1));
    }

    /// science A2.3, CE-2, G10: after the division C and D have flu and F has cancer in all three worlds.
    #[test]
    fn the_papers_algorithm_divides_a_class_and_gives_old_members_away() {
        let old = [(1, 10, 1), (2, 11, 1), (3, 80, 1), (4, 81, 1), (5, 12, 0)];
        let first = ward(&old);
        let grouping = run(DiversityMode::Paper, 2, &History::default(), &first).unwrap();
        assert_eq!(groups(&first, &grouping), sets([&[1, 2, 3, 4, 5]]));
        let history = after(&schema(&[100]), &History::default(), &first, &grouping);
        let mut people = old.to_vec();
        people.push((6, 82, 0));
        let second = ward(&people);
        let grouping = run(DiversityMode::Paper, 2, &history, &second).unwrap();
        assert_eq!(groups(&second, &grouping), sets([&[1, 2, 5], &[3, 4, 6]]));
    }

    #[test]
    fn departures_and_changes_are_refused() {
        let first = ward(&[(1, 20, 1), (2, 30, 0)]);
        let grouping = run(DiversityMode::Safe, 2, &History::default(), &first).unwrap();
        let history = after(&schema(&[100]), &History::default(), &first, &grouping);
        let answer = |people: &[(u64, u32, u32)]| run(DiversityMode::Safe, 2, &history, &ward(people)).unwrap_err();
        assert!(matches!(answer(&[(1, 20, 1)]), GroupingError::Deleted { records: 1, .. }));
        assert!(matches!(
            answer(&[(1, 20, 0), (2, 30, 0)]),
            GroupingError::Changed { records: 1, what: "sensitive", .. }
        ));
        assert!(matches!(answer(&[(1, 20, 1), (2, 31, 0)]), GroupingError::Changed { records: 1, what: "quasi", .. }));
    }

    /// A second release made elsewhere lacks people of the first. They are back in the table, or not.
    #[test]
    fn who_left_an_adopted_release_stays_out() {
        let everyone = [(1, 20, 1), (2, 30, 0), (3, 80, 1), (4, 90, 0)];
        let first = ward(&everyone);
        let mut grouping = Grouping::default();
        for group in [[0, 1], [2, 3]] {
            grouping.push(&group.map(Row), &[]);
        }
        let history = after(&schema(&[100]), &History::default(), &first, &grouping);
        let second = ward(&everyone[..2]);
        let mut grouping = Grouping::default();
        grouping.push(&[Row(0), Row(1)], &[]);
        let history = after(&schema(&[100]), &history, &second, &grouping);
        for mode in [DiversityMode::Safe, DiversityMode::Paper] {
            let third = ward(&everyone);
            let grouping = run(mode, 2, &history, &third).unwrap();
            grouping.assert_covers(&third);
            assert_eq!(groups(&third, &grouping), sets([&[1, 2]]), "{mode:?}");
            assert_eq!(grouping.withheld, [Row(2), Row(3)]);
            // One who is back alone does not ask for a counterfeit.
            let one = ward(&everyone[..3]);
            assert_eq!(run(mode, 2, &history, &one).unwrap().withheld, [Row(2)]);
            let gone = ward(&everyone[..2]);
            assert_eq!(groups(&gone, &run(mode, 2, &history, &gone).unwrap()), sets([&[1, 2]]));
        }
    }

    fn batches() -> impl Strategy<Value = Vec<Vec<(u32, u32)>>> {
        proptest::collection::vec(proptest::collection::vec((0u32..100, 0u32..5), 0..20), 4)
    }

    fn snapshots(batches: &[Vec<(u32, u32)>]) -> Vec<Table> {
        let mut people: Vec<SnapshotRow> = Vec::new();
        let grow = |batch: &Vec<(u32, u32)>| {
            for &(age, value) in batch {
                people.push((people.len() as u64, vec![age], value));
            }
            table(&values(5), 1, &people)
        };
        batches.iter().map(grow).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        /// science E1-21: no counterfeits, nobody lost, once published always published, m-invariant.
        #[test]
        fn the_safe_mode_keeps_its_promise(batches in batches(), l in 2u32..4) {
            let mut history = History::default();
            let mut watch = Watch::default();
            for table in snapshots(&batches) {
                let grouping = run(DiversityMode::Safe, l, &history, &table).unwrap();
                watch.look(&table, &grouping, l, None);
                prop_assert_eq!(grouping.counterfeit_count(), 0);
                for &row in &grouping.withheld {
                    prop_assert!(history.record(table.key(row)).is_none_or(|record| !record.is_published()));
                }
                history = after(&schema(&[100]), &history, &table, &grouping);
            }
        }

        /// science E1-20, its first half: the classes of old members keep their set of values.
        #[test]
        fn the_paper_mode_keeps_the_set_of_values_of_every_class(batches in batches(), l in 2u32..4) {
            let mut history = History::default();
            for table in snapshots(&batches) {
                let Ok(grouping) = run(DiversityMode::Paper, l, &history, &table) else { continue };
                grouping.assert_covers(&table);
                for (group, mut values) in grouping.groups().zip(group_values(&table, &grouping)) {
                    values.dedup();
                    prop_assert!(values.len() >= l as usize);
                    for &row in group.rows {
                        if let Some(record) = history.record(table.key(row)).filter(|record| record.is_published()) {
                            prop_assert_eq!(history.value_sets.get(record.value_set), &values[..]);
                        }
                    }
                }
                history = after(&schema(&[100]), &history, &table, &grouping);
            }
        }
    }
}
