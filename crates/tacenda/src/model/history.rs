//! The history: facts about everyone who was ever in the series.
//!
//! The history is written by `publish` from finished releases, never by a policy. A policy reads it
//! and keeps no state of its own.

use crate::model::{
    Membership, PeopleCounts, PublishedView, Quasi, RecordKey, Regions, Release, Schema, Span, SpanColumn, Table,
    Value, ValueSetId, ValueSets, Values, View,
};
use std::collections::BTreeMap;
use std::fmt;

/// A person through time.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct Record {
    /// Who.
    pub key: RecordKey,
    /// The release at whose snapshot they were first seen.
    pub first_seen: u32,
    /// The first release they were published in: their cohort. 0 if never.
    pub cohort: u32,
    /// The last release they were published in. 0 if never.
    pub last_release: u32,
    /// Their group in that release, in the policy's order; forgotten once they left the table.
    pub group: u32,
    /// Their sensitive value there; forgotten once they left the table.
    pub value: Value,
    /// The value set of their group there.
    pub value_set: ValueSetId,
}

impl Record {
    /// Whether they were ever published.
    pub fn is_published(&self) -> bool {
        self.last_release != 0
    }

    /// Somebody who is first seen for release `number`, before they are published.
    fn unpublished(key: RecordKey, number: u32) -> Record {
        let (value, value_set) = (Value(0), ValueSetId(0));
        Record { key, first_seen: number, cohort: 0, last_release: 0, group: 0, value, value_set }
    }

    /// Publishes them in release `number`.
    fn enter(&mut self, number: u32, group: u32, value: Value, value_set: ValueSetId) {
        if self.cohort == 0 {
            self.cohort = number;
        }
        *self = Record { last_release: number, group, value, value_set, ..*self };
    }

    /// What is kept of a person who is no longer in the table: enough to find their value set when they return, but not
    /// their value.
    fn gone(self) -> Record {
        Record { group: 0, value: Value(0), ..self }
    }
}

impl fmt::Debug for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Record(seen from {}, published {} to {})", self.first_seen, self.cohort, self.last_release)
    }
}

/// The groups of the last release, in the policy's order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PastGroups {
    /// What they were published with.
    pub regions: Regions,
    /// Their cells, if the policy has cells; otherwise empty.
    pub cells: Regions,
}

/// Everything known of the series so far. Private.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct History {
    /// How many releases there are.
    pub releases: u32,
    /// Everyone ever seen, sorted by key. People who left stay here, because they need their old value set if they
    /// return.
    pub records: Vec<Record>,
    /// Value sets that a person had before the one in their record, sorted by key; only for people
    /// whose sensitive value changed.
    pub past_sets: Vec<(RecordKey, ValueSetId)>,
    /// All value sets of the series.
    pub value_sets: ValueSets,
    /// All sensitive values of the series.
    pub values: Values,
    /// The groups of the last release.
    pub groups: PastGroups,
    /// Numbers that the policy needs next time, and counts of the auditor.
    pub facts: BTreeMap<String, u64>,
    /// Per record, that person's place over all releases so far. Empty for promises about the whole series, which need
    /// no such account.
    pub met: Vec<Met>,
    /// The places that `met` names.
    pub places: Regions,
    /// The published views, in the order they left; empty for promises that are not about views.
    pub views: Vec<PastView>,
    /// The counts that were published, with the number of their release.
    pub counts: Vec<(u32, PeopleCounts)>,
    /// People of whom nothing else is kept, sorted: they are in no later release (science A3.14).
    pub erased: Vec<RecordKey>,
}

/// A person's place over all releases so far: the intersection of their regions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Met {
    /// The number of the place; [`Met::NOWHERE`] if never published.
    pub place: u32,
    /// The fewest people who ever shared such a place with them, themselves included; [`Met::NOWHERE`]
    /// while they were in one release only.
    pub fewest: u32,
}

impl Met {
    /// Marks that there is no place, or no number, yet.
    pub const NOWHERE: u32 = u32::MAX;

    /// For a person who was never published.
    pub const NEVER: Met = Met { place: Met::NOWHERE, fewest: Met::NOWHERE };
}

/// A published view: its distinct rows, and how often each occurs.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PastView {
    /// The view's name.
    pub name: String,
    /// The release it left with; 0 for one that was made elsewhere.
    pub release: u32,
    /// Who got it.
    pub recipients: Vec<String>,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its distinct rows, one span per column.
    pub rows: Regions,
    /// How often each occurs.
    pub counts: Vec<u32>,
}

impl PastView {
    /// What is remembered of a published view.
    pub fn of(published: &PublishedView, release: u32, recipients: Vec<String>) -> PastView {
        let columns: Vec<usize> = (0..published.view.columns.len()).collect();
        let classes = published.classes(&columns);
        let mut rows = Regions::new(columns.len());
        classes.sample.iter().for_each(|&row| rows.push(&published.spans(row as usize, &columns)));
        PastView {
            name: published.view.name.clone(),
            release,
            recipients,
            columns: published.view.columns.iter().map(|column| column.name.clone()).collect(),
            rows,
            counts: classes.size.iter().map(|&size| size as u32).collect(),
        }
    }

    /// The view as it was published, with the columns of `schema`; `None` where a column is not there.
    pub fn published(&self, schema: &Schema) -> Option<PublishedView> {
        let quasi = |name: &String| schema.quasi.iter().find(|quasi| quasi.name == *name).cloned();
        let columns = self.columns.iter().map(quasi).collect::<Option<Vec<Quasi>>>()?;
        let of_column = |at: usize| {
            let distinct: Vec<Span> = self.rows.iter().map(|row| row[at]).collect();
            let mut column = SpanColumn::new(&distinct);
            let repeated = column.codes.iter().zip(&self.counts);
            column.codes = repeated.flat_map(|(&code, &count)| std::iter::repeat_n(code, count as usize)).collect();
            column
        };
        let spans = (0..columns.len()).map(of_column).collect();
        Some(PublishedView::new(View { name: self.name.clone(), columns }, spans))
    }
}

impl History {
    /// Whether somebody is in the last release.
    pub fn is_current(&self, record: &Record) -> bool {
        record.is_published() && record.last_release == self.releases
    }

    /// The history after a release of a view of everyone in `table`.
    pub fn after_view(&self, table: &Table, number: u32, views: Vec<PastView>) -> History {
        assert_eq!(number, self.releases + 1, "releases follow each other");
        let record = |(key, known): (&RecordKey, Option<&Record>)| Record {
            last_release: number,
            ..known.copied().unwrap_or(Record { cohort: number, ..Record::unpublished(*key, number) })
        };
        History {
            releases: number,
            records: table.keys().iter().zip(self.align(table)).map(record).collect(),
            values: table.values.clone(),
            views,
            erased: self.erased.clone(),
            ..History::default()
        }
    }

    /// Whether nothing is kept of a person but that they are to be left out.
    pub fn is_erased(&self, key: RecordKey) -> bool {
        self.erased.binary_search(&key).is_ok()
    }

    /// Forgets people, given sorted: their values, their value sets, and all of those who left before. With `bar` they are
    /// in no later release.
    ///
    /// Of somebody in the last release, the record stays until the next one: which group lost a person decides what may
    /// follow. It says what that release says of the group, and no value.
    pub fn forget(&mut self, keys: &[RecordKey], bar: bool) {
        let is_meant = |key: RecordKey| keys.binary_search(&key).is_ok();
        self.past_sets.retain(|(key, _)| !is_meant(*key));
        let releases = self.releases;
        let stays =
            |record: &Record| !is_meant(record.key) || (record.is_published() && record.last_release == releases);
        if !self.met.is_empty() {
            let mut kept = self.records.iter().map(stays);
            self.met.retain(|_| kept.next().unwrap_or(true));
        }
        self.records.retain(stays);
        let met = self.met.iter_mut().map(Some).chain(std::iter::repeat_with(|| None));
        for (record, met) in self.records.iter_mut().zip(met).filter(|(record, _)| is_meant(record.key)) {
            (record.value, record.value_set) = (Value(0), ValueSetId(0));
            met.into_iter().for_each(|met| *met = Met::NEVER);
        }
        if bar {
            self.erased.extend_from_slice(keys);
            self.erased.sort_unstable();
            self.erased.dedup();
        }
    }

    /// The record of a person.
    pub fn record(&self, key: RecordKey) -> Option<&Record> {
        self.records.binary_search_by_key(&key, |record| record.key).ok().map(|index| &self.records[index])
    }

    /// All value sets a person has had, the latest first; empty if never published.
    pub fn sets_of(&self, record: &Record) -> Vec<ValueSetId> {
        if record.is_published() { self.sets_with(record.key, record.value_set) } else { Vec::new() }
    }

    /// The same for somebody whose latest set is known.
    pub fn sets_with(&self, person: RecordKey, latest: ValueSetId) -> Vec<ValueSetId> {
        let start = self.past_sets.partition_point(|(key, _)| *key < person);
        let past = self.past_sets[start..].iter().take_while(|(key, _)| *key == person).map(|&(_, set)| set);
        std::iter::once(latest).chain(past).collect()
    }

    /// Whether no further release can hide a person with `value` among `least` values, whose latest set is known. That happens if a
    /// release made elsewhere gave them a smaller set. It also happens if two such releases gave them sets that overlap
    /// without being equal, because only the common values are left.
    pub fn exposes(&self, person: RecordKey, latest: ValueSetId, value: Value, least: u32) -> bool {
        let sets = self.sets_with(person, latest);
        let holds = |set: &ValueSetId| self.value_sets.get(*set).binary_search(&value).is_ok();
        sets.iter().copied().find(holds).is_some_and(|own| self.is_weak(&sets, own, least))
    }

    /// The same for a person who still has the value of their last release: it is in that release's set.
    pub fn exposed(&self, record: &Record, least: u32) -> bool {
        record.is_published() && self.is_weak(&self.sets_of(record), record.value_set, least)
    }

    fn is_weak(&self, sets: &[ValueSetId], own: ValueSetId, least: u32) -> bool {
        let own_values = self.value_sets.get(own);
        let overlaps = |other: ValueSetId| {
            other != own && self.value_sets.get(other).iter().any(|value| own_values.binary_search(value).is_ok())
        };
        own_values.len() < least as usize || sets.iter().copied().any(overlaps)
    }

    /// The records of a table's rows, by one merge: `None` for a person never seen.
    pub fn align<'a>(&'a self, table: &'a Table) -> impl Iterator<Item = Option<&'a Record>> {
        let mut records = self.records.iter().peekable();
        table.keys().iter().map(move |&key| {
            while records.next_if(|record| record.key < key).is_some() {}
            records.next_if(|record| record.key == key)
        })
    }

    /// The records of some people after release `number`. `self` has the records of these people before, `table` their
    /// rows, and `places` says per row the group in the policy's order and its value set.
    pub fn records_after(&self, number: u32, table: &Table, places: &[Option<(u32, ValueSetId)>]) -> NextRecords {
        self.people_after(number, table, places, |_| ())
    }

    fn people_after(
        &self,
        number: u32,
        table: &Table,
        places: &[Option<(u32, ValueSetId)>],
        mut tell: impl FnMut(Carried),
    ) -> NextRecords {
        let mut past_sets = Vec::new();
        let mut records = Vec::with_capacity(self.records.len().max(table.len()));
        let mut old = self.records.iter().copied().enumerate().peekable();
        for row in table.rows() {
            let key = table.key(row);
            while let Some((index, gone)) = old.next_if(|(_, record)| record.key < key) {
                if self.is_erased(gone.key) {
                    continue;
                }
                records.push(gone.gone());
                tell(Carried::Gone(index));
            }
            tell(Carried::Here(row.index()));
            let known = old.next_if(|(_, record)| record.key == key);
            let mut record = known.map_or_else(|| Record::unpublished(key, number), |(_, record)| record);
            if let Some((group, set)) = places[row.index()] {
                let left_behind = (key, record.value_set);
                if record.is_published()
                    && record.value_set != set
                    && self.past_sets.binary_search(&left_behind).is_err()
                {
                    past_sets.push(left_behind);
                }
                record.enter(number, group, table.sensitive()[row.index()], set);
            }
            records.push(record);
        }
        for (index, gone) in old.filter(|(_, gone)| !self.is_erased(gone.key)) {
            records.push(gone.gone());
            tell(Carried::Gone(index));
        }
        (records, past_sets)
    }

    /// The history after `release`, made from the finished release and who is in it.
    pub fn after(&self, table: &Table, release: &Release, membership: &Membership, published: Published) -> History {
        let number = release.number;
        assert_eq!(number, self.releases + 1, "releases follow each other");
        let mut value_sets = self.value_sets.clone();
        let places = places(table, release, membership, &mut value_sets);
        let met = |next: &mut Vec<Met>, person: Carried| match person {
            // A person who is not in the table keeps their place.
            Carried::Gone(index) => next.push(self.met.get(index).copied().unwrap_or(Met::NEVER)),
            Carried::Here(row) => next.extend(published.met.get(row)),
        };
        let mut next_met = Vec::new();
        let (records, mut past_sets) = self.people_after(number, table, &places, |person| met(&mut next_met, person));
        let mut met = next_met;
        let places = match published.met.is_empty() {
            true => Regions::default(),
            false => only_used(&mut met, &published.places),
        };
        if published.met.is_empty() {
            met.clear();
        }
        past_sets.extend_from_slice(&self.past_sets);
        past_sets.sort_unstable();
        let regions = in_policy_order(release, &membership.policy_groups);
        History {
            releases: number,
            records,
            past_sets,
            value_sets,
            values: table.values.clone(),
            groups: PastGroups { regions, cells: published.cells },
            facts: published.facts,
            met,
            places,
            views: Vec::new(),
            erased: self.erased.clone(),
            counts: self.counts.iter().cloned().chain(release.counts.clone().map(|counts| (number, counts))).collect(),
        }
    }
}

/// Whose record is made.
#[derive(Clone, Copy)]
enum Carried {
    /// Of somebody who is no longer in the table: their place among the records before.
    Gone(usize),
    /// Of a row of the table.
    Here(usize),
}

/// The records after a release, and the value sets that people left behind.
pub type NextRecords = (Vec<Record>, Vec<(RecordKey, ValueSetId)>);

/// Per row of the table, its group in the policy's order and that group's value set.
fn places(
    table: &Table,
    release: &Release,
    membership: &Membership,
    value_sets: &mut ValueSets,
) -> Vec<Option<(u32, ValueSetId)>> {
    let mut places = vec![None; table.len()];
    let sets = value_sets.of_release(release);
    for (group, set) in sets.into_iter().enumerate() {
        for person in release.group_rows(group).filter_map(|row| membership.person(row)) {
            places[person.index()] = Some((membership.policy_groups[group], set));
        }
    }
    places
}

/// The regions of a release in the order of the policy's groups.
pub fn in_policy_order(release: &Release, policy_groups: &[u32]) -> Regions {
    let mut published_as = vec![0; release.group_count()];
    (0..).zip(policy_groups).for_each(|(group, &policy_group)| published_as[policy_group as usize] = group);
    let mut regions = Regions::new(release.regions.attributes());
    published_as.into_iter().for_each(|group| regions.push(release.region(group)));
    regions
}

/// The places that somebody is in, renumbered.
fn only_used(met: &mut [Met], places: &Regions) -> Regions {
    let mut numbers = vec![Met::NOWHERE; places.len()];
    let mut used = Regions::new(places.attributes());
    for met in met.iter_mut().filter(|met| met.place != Met::NOWHERE) {
        let number = &mut numbers[met.place as usize];
        if *number == Met::NOWHERE {
            *number = used.len() as u32;
            used.push(places.get(met.place as usize));
        }
        met.place = *number;
    }
    used
}

/// What a grouping adds to the history, besides the release itself.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Published {
    /// The groups' cells in the policy's order, or empty.
    pub cells: Regions,
    /// Numbers that the policy needs next time, and counts of the auditor.
    pub facts: BTreeMap<String, u64>,
    /// Per row of the table, that person's place over all releases so far; or empty.
    pub met: Vec<Met>,
    /// The places that `met` names, and those of the history before.
    pub places: Regions,
}

impl fmt::Debug for History {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "History({} releases, {} records)", self.releases, self.records.len())
    }
}
