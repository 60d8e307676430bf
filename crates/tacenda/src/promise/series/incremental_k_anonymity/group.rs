//! People are only added, and a person's region only shrinks. So comparing releases reveals nothing beyond the latest
//! release.
//!
//! # Source
//! 000: Pei, Xu, Wang, Wang, Wang, *Maintaining k-anonymity against incremental updates*; section 4.2
//! (monotonic incremental anonymization, Theorem 1), section 5.1 (initial data set), section 5.2
//! (incremental updates).
//!
//! # Promise
//! For every set of releases, let a person's inferred region be the meet of their regions in those they are in. Then
//! every person shares their inferred region with at least k - 1 others. Without `l`, the promise says nothing about
//! sensitive values. Without `cohorts`, it says nothing against a reader who knows when a person arrived. With
//! `cohorts`, even that reader sees at least k people with the same history, and with `l` no value that more than one
//! in `l` of them have. Without `cohorts`, `l` means that no value makes up more than one in `l` of a group of a
//! release. It then says nothing about a comparison of two releases, nor against a reader who knows the program or who
//! arrived when.
//!
//! # Steps
//!
//! | paper | here |
//! |---|---|
//! | 5.1 partition the quasi-identifier space (Mondrian) | `Tree::split` over the declared domain |
//! | 5.2 insert the new tuples into the groups | `locate` |
//! | 5.2 refine groups of more than 2k - 1 tuples | `refine`, which calls `Tree::split` with the group's cell |
//! | (ours) a tree of its own for each batch | `add_cohort` |
//!
//! # Departures
//! - Cells of the declared domain are published. Bounding boxes would break the theorem: a box that grows reveals the
//!   newcomer who made it grow. With `tight` a box is fixed when its group is made and never grows; people outside all
//!   boxes wait.
//! - Without `cohorts`, both places around the median are tried, so that no allowable strict cut is missed.
//! - With `cohorts`, the cut is the one that narrows what is published the most, at any place (`grouping::partition`,
//!   science A0.6). In parts of up to 128 k people, groups are clusters: they are no cells, and their regions may overlap.
//!   The paper's median leaves skewed columns whole: on the 30,162 people below, count queries were off by 46 % in the
//!   mean and are by 14 %.
//! - With `cohorts` the guard `l` decides which groups are published, never where people are cut. If a failed guard
//!   could prevent a cut, an uncut group would show that to a reader who knows the program. So the groups depend on quasi
//!   values and keys only, and a group that fails the guard waits. (A rule that guarded cuts would break science E1-13; a
//!   property test found it. See science A0.6.)
//! - Without `cohorts` each cut is guarded on both sides (science A0.5-13), at two places per attribute. A table that
//!   fails as a whole is refused. If a group would fail with its newcomers, all of these wait. Both reveal something
//!   about values to a reader who knows the program, so `l` is claimed for each release alone.
//! - Categories are cut between siblings, at the highest level of the hierarchy that allows a cut. The spread of people
//!   on a category is the share of leaves below their lowest common ancestor. Counting branches instead (science A0.2)
//!   leaves deep hierarchies uncut: on the 30,162 complete training rows of Adult with k = 10 the mean share of leaves
//!   covered is 16.3 % that way and 8.1 % this way, cut at medians. An attribute's weight multiplies its spread.
//! - Without `cohorts` a column with missing values is first cut between numbers and NULL, because no
//!   printable value holds NULL and some of the numbers. With fewer than k people on either side the
//!   column stays whole.
//! - `cohorts` (the default): people published for the first time in one release are cut among themselves, once, and
//!   each group keeps its people and its region for good. That region may be the smallest around its people, because it
//!   never changes. A batch of fewer than k people waits whole. People who wait are cut anew when somebody new arrives.
//!   If a person is known to be in the data and waits, that hints at a frequent value around them (science CE-8).
//! - The paper does not cover departures of people. They are refused, or the leaver's whole group is withheld from all
//!   later releases. Without `cohorts` withholding is not enough if fewer than k of the group's earliest arrivals are
//!   in it, because they alone would keep the coarser region. Then it is refused.
//!
//! # Cost
//! First release O(d n log n) time for n people and d attributes, 2 d + 8 bytes per person beside the table (4 d + 8
//! where a domain has more than 65,536 codes). With `cohorts` clustering adds O(d k n). An update costs one pass over the
//! table, and the same for the m people of the batch. Without `cohorts`, m is the number of people of the groups that
//! somebody joined, and each newcomer costs a search of O(d log g) in g groups.

use crate::grouping::GroupingError;
use crate::grouping::partition::{Leaves, MOST_ATTRIBUTES, Publishes, Tree};
use crate::grouping::top::Top;
use crate::model::{Grouping, History, Lots, Record, Release, Row, Schema, Span, Table};
use crate::promise::series::incremental_k_anonymity::warnings;
use crate::promise::series::{Changes, FromDisk, Grouper, Locate, SeriesPromise};
use crate::promise::{IncrementalKAnonymity, OnDelete};
use crate::space::stab::Stab;
use rayon::prelude::*;
use std::collections::BTreeMap;

impl Grouper for IncrementalKAnonymity {
    fn promise(&self) -> SeriesPromise {
        (*self).into()
    }

    fn group(&self, schema: &Schema, history: &History, table: &Table, _: &Lots) -> Result<Grouping, GroupingError> {
        self.refuse_columns(schema)?;
        let past = Past::read(history, table);
        self.refuse_losses(past.missing, || past.first_cohort_of_broken(history))?;
        past.changes(history, table).refuse()?;
        let tree = Tree::new(schema, table, self.least(), self.l, self.publishes());
        let mut grouping = Grouping::default();
        grouping.withheld.extend_from_slice(&past.withheld);
        if self.cohorts || history.releases == 0 {
            past.republish(history, &mut grouping);
            if self.is_cut(past.newcomers.len(), past.is_anybody_new) {
                self.add_cohort(schema, &tree, history, past.newcomers, &mut grouping)?;
            } else {
                grouping.withheld.extend(past.newcomers);
            }
        } else {
            let joining = Self::joining(history, table, &past, &mut grouping);
            self.refine(&tree, history, &past, &joining, &mut grouping);
        }
        grouping.withheld.sort_unstable();
        if grouping.is_empty() {
            return Err(GroupingError::TooFew { rows: table.len() - past.withheld.len(), least: self.k });
        }
        Ok(grouping)
    }
}

/// With cohorts a group never changes and arrivals are cut once, among themselves. So the people of some groups, and the
/// arrivals of one cell, can be placed without the others. Without cohorts an arrival joins the group whose cell contains
/// them, and groups are cut further one by one. So some groups and those who join them can be placed without the others.
impl FromDisk for IncrementalKAnonymity {
    fn refuse_columns(&self, schema: &Schema) -> Result<(), GroupingError> {
        match schema.quasi.len() {
            0 => Err(GroupingError::NoQuasi),
            attributes if attributes > MOST_ATTRIBUTES => {
                Err(GroupingError::TooWide { attributes, most: MOST_ATTRIBUTES })
            }
            _ => Ok(()),
        }
    }

    fn locate<'h>(&self, history: &'h History) -> Option<Locate<'h>> {
        let joins = !self.cohorts && history.releases > 0;
        joins.then(|| {
            let cells = Stab::of(&history.groups.regions);
            Box::new(move |point: &[u32]| cells.find(point)) as Locate<'h>
        })
    }

    fn keep(&self, schema: &Schema, history: &History, table: &Table, joining: &[(u32, Row)]) -> (Grouping, Changes) {
        let past = Past::read(history, table);
        assert_eq!(past.newcomers.len(), joining.len(), "every arrival of a unit joins a group");
        let mut grouping = Grouping::default();
        grouping.withheld.extend_from_slice(&past.withheld);
        if self.cohorts {
            past.republish(history, &mut grouping);
            return (grouping, past.changes(history, table));
        }
        let tree = Tree::new(schema, table, self.least(), self.l, self.publishes());
        self.refine(&tree, history, &past, joining, &mut grouping);
        grouping.withheld.sort_unstable();
        let first_cohort = (past.missing > 0).then(|| past.first_cohort_of_broken(history));
        (grouping, Changes { first_cohort, ..past.changes(history, table) })
    }

    fn refuse(&self, missing: usize, changes: Changes) -> Result<(), GroupingError> {
        self.refuse_losses(missing, || changes.first_cohort.unwrap_or(u32::MAX))?;
        changes.refuse()
    }

    /// People who wait are cut again only when somebody new arrives, not until a cut happens to pass.
    fn is_cut(&self, newcomers: usize, is_anybody_new: bool) -> bool {
        is_anybody_new && self.is_cohort(newcomers)
    }

    fn top<'a>(&self, schema: &'a Schema, newcomers: usize, unit: usize, _: usize) -> Option<Top<'a>> {
        Top::new(schema, self.least(), self.publishes(), newcomers, unit)
    }

    fn cut(&self, schema: &Schema, table: &Table, cell: &[Span], _: &Lots) -> Grouping {
        let tree = Tree::new(schema, table, self.least(), self.l, self.publishes());
        let (mut grouping, mut rows) = (Grouping::default(), table.rows().collect::<Vec<Row>>());
        let leaves = tree.split(&mut rows, cell);
        push_leaves(&tree, &rows, &leaves, &mut grouping);
        grouping.withheld.sort_unstable();
        grouping
    }

    fn refuse_empty(&self, is_first: bool, newcomers: usize, rows: usize) -> Result<(), GroupingError> {
        if is_first && self.is_cohort(newcomers) {
            self.refuse_uneven(true, newcomers)?;
        }
        Err(GroupingError::TooFew { rows, least: self.k })
    }

    fn counted_for_warnings(&self, schema: &Schema) -> Vec<(usize, u32)> {
        warnings::missing(self, schema)
    }

    fn warnings(&self, schema: &Schema, release: &Release, counted: &[u64], people: usize) -> Vec<String> {
        warnings::warnings_of(self, schema, release, counted, people)
    }
}

impl IncrementalKAnonymity {
    fn publishes(&self) -> Publishes {
        match (self.cohorts, self.tight) {
            (true, _) => Publishes::Cover,
            (false, true) => Publishes::BoxInCell,
            (false, false) => Publishes::Cell,
        }
    }

    /// The least number of people of a group that is formed. With cohorts it is a multiple of `l`: a group of three
    /// passes `l = 2` only with three different values, a group of four with two. It depends on the policy alone.
    fn least(&self) -> u32 {
        match self.l.filter(|_| self.cohorts) {
            Some(l) => self.k.checked_next_multiple_of(l).unwrap_or(self.k),
            None => self.k,
        }
    }

    /// Whether so many people who were never published are enough to be cut.
    fn is_cohort(&self, newcomers: usize) -> bool {
        newcomers >= self.k.max(1) as usize
    }

    /// Cuts the people who were never published among themselves.
    ///
    /// The groups depend on quasi values and keys alone. Whether a group is published depends on the values of that group alone. A
    /// cut that was rejected because of the guard would reveal something about the values on its two sides.
    fn add_cohort(
        &self,
        schema: &Schema,
        tree: &Tree<'_>,
        history: &History,
        mut newcomers: Vec<Row>,
        grouping: &mut Grouping,
    ) -> Result<(), GroupingError> {
        let rows = newcomers.len();
        let is_whole_domain_uneven = !self.cohorts && !tree.passes(&newcomers);
        if !is_whole_domain_uneven {
            let roots: Vec<Span> = schema.quasi.iter().map(|quasi| quasi.root()).collect();
            let leaves = tree.split(&mut newcomers, &roots);
            push_leaves(tree, &newcomers, &leaves, grouping);
        }
        if history.releases == 0 { self.refuse_uneven(grouping.is_empty(), rows) } else { Ok(()) }
    }

    /// A first release has a group, unless values are too uneven.
    fn refuse_uneven(&self, is_empty: bool, rows: usize) -> Result<(), GroupingError> {
        match is_empty {
            true => Err(GroupingError::Uneven { rows, l: self.l.unwrap_or(1), cohorts: self.cohorts }),
            false => Ok(()),
        }
    }

    /// The newcomers who join a group, with the group whose cell contains them, sorted. Those in no cell wait.
    fn joining(history: &History, table: &Table, past: &Past, grouping: &mut Grouping) -> Vec<(u32, Row)> {
        let cells = Stab::of(&history.groups.regions);
        let locate = |point: &mut Vec<u32>, &row: &Row| {
            table.read_point(row, point);
            cells.find(point)
        };
        let found: Vec<Option<u32>> = past.newcomers.par_iter().map_init(Vec::new, locate).collect();
        let mut joining: Vec<(u32, Row)> = Vec::new();
        for (&row, unit) in past.newcomers.iter().zip(found) {
            match unit {
                Some(unit) => joining.push((unit, row)),
                None => grouping.withheld.push(row),
            }
        }
        joining.sort_unstable();
        joining
    }

    /// Puts newcomers into their groups, and cuts those groups further. Where a group is out, its newcomers wait.
    fn refine(&self, tree: &Tree<'_>, history: &History, past: &Past, joining: &[(u32, Row)], grouping: &mut Grouping) {
        let regions = &history.groups.regions;
        let (joining, waiting): (Vec<_>, Vec<_>) =
            joining.iter().partition(|(unit, _)| !past.rows(*unit as usize).is_empty());
        grouping.withheld.extend(waiting.into_iter().map(|(_, row)| row));
        let batches: Vec<&[(u32, Row)]> = joining.chunk_by(|a, b| a.0 == b.0).collect();
        let refined: Vec<Option<(Vec<Row>, Leaves)>> = batches
            .par_iter()
            .map(|batch| {
                let unit = batch[0].0 as usize;
                let mut rows = past.rows(unit).to_vec();
                rows.extend(batch.iter().map(|&(_, row)| row));
                rows.sort_unstable();
                if !tree.passes(&rows) {
                    return None;
                }
                let mut leaves = tree.split(&mut rows, regions.get(unit));
                if leaves.sizes.len() == 1 {
                    // Nothing was cut, and the box of a group is fixed when it is made.
                    leaves.spans = regions.get(unit).to_vec();
                }
                Some((rows, leaves))
            })
            .collect();
        let mut touched = batches.iter().zip(refined).peekable();
        for unit in 0..past.unit_count() {
            match touched.next_if(|(batch, _)| batch[0].0 as usize == unit) {
                Some((_, Some((rows, leaves)))) => push_leaves(tree, &rows, &leaves, grouping),
                Some((batch, None)) => {
                    // With them the group would fail the guard, so all of them wait.
                    grouping.withheld.extend(batch.iter().map(|&(_, row)| row));
                    past.republish_one(unit, history, grouping);
                }
                None => past.republish_one(unit, history, grouping),
            }
        }
    }

    /// Refuses that people of the last release are missing. `first_cohort` says how many people the earliest cohort of a
    /// group that lost somebody has, at least.
    fn refuse_losses(&self, missing: usize, first_cohort: impl FnOnce() -> u32) -> Result<(), GroupingError> {
        if missing == 0 {
            return Ok(());
        }
        let refused = |way_out| Err(GroupingError::Deleted { records: missing, way_out });
        if self.on_delete == OnDelete::Refuse {
            return refused(
                "put them back, or set on_delete to \"withhold\": then everyone in their groups stays out of all later releases",
            );
        }
        if !self.cohorts && first_cohort() < self.k {
            return refused(
                "arrivals have refined their groups, so withholding them would reveal who was there first; put them \
                 back, or start a new series with cohorts = true",
            );
        }
        Ok(())
    }
}

impl Changes {
    fn refuse(self) -> Result<(), GroupingError> {
        if self.moved > 0 {
            return Err(GroupingError::Changed {
                records: self.moved,
                what: "quasi",
                way_out: "publish what does not change, such as the year of birth instead of the age, or give those people \
                          new identifiers",
            });
        }
        if self.revalued > 0 {
            return Err(GroupingError::Changed {
                records: self.revalued,
                what: "sensitive",
                way_out: "keep the value of the first release, or start a new series with m-invariance, which allows it",
            });
        }
        Ok(())
    }
}

/// Adds the leaves of a tree as groups; `rows` are in their order. A leaf that fails the guard waits.
fn push_leaves(tree: &Tree<'_>, rows: &[Row], leaves: &Leaves, grouping: &mut Grouping) {
    let attributes = leaves.spans.len() / leaves.sizes.len();
    let mut start = 0;
    for (&size, region) in leaves.sizes.iter().zip(leaves.spans.chunks_exact(attributes)) {
        let group = &rows[start..start + size as usize];
        if tree.passes(group) {
            grouping.push_with_region(group, &[], region);
        } else {
            grouping.withheld.extend_from_slice(group);
        }
        start += group.len();
    }
}

/// The rows of a table, compared with the last release.
struct Past {
    /// Per row of the table its group in the last release, [`NEW`] or [`OUT`].
    units: Vec<u32>,
    /// The rows of each group of the last release that lost nobody; none for other groups.
    members: Vec<Row>,
    ends: Vec<u32>,
    /// The people who were never published.
    newcomers: Vec<Row>,
    /// Whether one of them was in no earlier snapshot.
    is_anybody_new: bool,
    /// The people whose group lost somebody, now or earlier. They are withheld for good.
    withheld: Vec<Row>,
    /// How many people of the last release are gone.
    missing: usize,
    /// Per group of the last release, whether somebody is gone.
    broken: Vec<bool>,
    /// How many people of intact groups have another sensitive value now.
    revalued: usize,
}

/// Never published.
const NEW: u32 = u32::MAX;

/// Out for good.
const OUT: u32 = u32::MAX - 1;

impl Past {
    fn read(history: &History, table: &Table) -> Past {
        let mut past = Past {
            units: Vec::new(),
            members: Vec::new(),
            ends: Vec::new(),
            newcomers: Vec::new(),
            is_anybody_new: false,
            withheld: Vec::new(),
            missing: 0,
            broken: vec![false; history.groups.regions.len()],
            revalued: 0,
        };
        let mut units = Vec::with_capacity(table.len());
        let mut revalued = Vec::new();
        let mut records = history.records.iter().peekable();
        for row in table.rows() {
            let key = table.key(row);
            while let Some(gone) = records.next_if(|record| record.key < key) {
                past.lose(gone, history.is_current(gone));
            }
            units.push(match records.next_if(|record| record.key == key) {
                Some(record) if history.is_current(record) => {
                    if record.value != table.sensitive()[row.index()] {
                        revalued.push(row);
                    }
                    record.group
                }
                // They were published, but not in the last release, because their group lost somebody.
                Some(record) if record.is_published() => OUT,
                Some(_) => NEW,
                None => {
                    past.is_anybody_new = true;
                    NEW
                }
            });
        }
        records.for_each(|gone| past.lose(gone, history.is_current(gone)));
        past.revalued = revalued.iter().filter(|row| !past.is_out(units[row.index()])).count();
        past.units = units;
        past.place(table);
        past
    }

    fn lose(&mut self, record: &Record, is_current: bool) {
        if is_current {
            self.missing += 1;
            self.broken[record.group as usize] = true;
        }
    }

    fn is_out(&self, unit: u32) -> bool {
        unit == OUT || unit != NEW && self.broken[unit as usize]
    }

    /// Sorts the rows by unit, by counting.
    fn place(&mut self, table: &Table) {
        let mut ends = vec![0u32; self.broken.len()];
        for &unit in self.units.iter().filter(|&&unit| unit < OUT && !self.broken[unit as usize]) {
            ends[unit as usize] += 1;
        }
        let mut total = 0;
        for end in &mut ends {
            let size = *end;
            *end = total;
            total += size;
        }
        self.members = vec![Row(0); total as usize];
        for row in table.rows() {
            let unit = self.units[row.index()];
            if unit == NEW {
                self.newcomers.push(row);
            } else if self.is_out(unit) {
                self.withheld.push(row);
            } else {
                let end = &mut ends[unit as usize];
                self.members[*end as usize] = row;
                *end += 1;
            }
        }
        self.ends = ends;
    }

    /// How many people of intact groups have changed.
    fn changes(&self, history: &History, table: &Table) -> Changes {
        let regions = &history.groups.regions;
        let has_moved = |&(row, &unit): &(usize, &u32)| {
            let spans = || regions.get(unit as usize).iter().enumerate();
            !self.is_out(unit)
                && unit != NEW
                && !spans().all(|(attribute, span)| span.contains(table.quasi(attribute)[row]))
        };
        let moved = self.units.par_iter().enumerate().filter(has_moved).count();
        Changes { moved, revalued: self.revalued, first_cohort: None }
    }

    fn unit_count(&self) -> usize {
        self.ends.len()
    }

    fn rows(&self, unit: usize) -> &[Row] {
        let start = if unit == 0 { 0 } else { self.ends[unit - 1] as usize };
        &self.members[start..self.ends[unit] as usize]
    }

    fn republish(&self, history: &History, grouping: &mut Grouping) {
        (0..self.unit_count()).for_each(|unit| self.republish_one(unit, history, grouping));
    }

    fn republish_one(&self, unit: usize, history: &History, grouping: &mut Grouping) {
        if !self.rows(unit).is_empty() {
            grouping.push_with_region(self.rows(unit), &[], history.groups.regions.get(unit));
        }
    }

    /// Over the groups that lost somebody, the smallest number of people of a group's earliest cohort.
    fn first_cohort_of_broken(&self, history: &History) -> u32 {
        let mut earliest: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for record in &history.records {
            if history.is_current(record) && self.broken[record.group as usize] {
                let (cohort, people) = earliest.entry(record.group).or_insert((record.cohort, 0));
                if record.cohort < *cohort {
                    (*cohort, *people) = (record.cohort, 0);
                }
                *people += u32::from(record.cohort == *cohort);
            }
        }
        earliest.values().map(|&(_, people)| people).min().unwrap_or(u32::MAX)
    }
}
