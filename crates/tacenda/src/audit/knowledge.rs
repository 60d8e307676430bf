//! What the attacker knows: everyone's exact quasi values, and who is in which release.
//!
//! It is built from the private tables, by key, because the strongest attacker knows everything in them except the
//! sensitive values. These are read only to judge whether the attacker was right.

use crate::audit::by_group::ByGroup;
use crate::model::{Classes, Membership, RecordKey, Table, Value};
use std::fmt;

/// Everyone's points and presence, one table per release.
#[derive(Clone)]
pub struct Knowledge<'a> {
    tables: Vec<&'a Table>,
    /// Everyone who is in any of the tables, ascending.
    keys: Vec<RecordKey>,
    /// Per table and row, the person, or [`Knowledge::ABSENT`].
    people: Vec<Vec<u32>>,
    /// Whether the gate saw everyone keep one value set when these releases were made from these tables.
    kept_sets: bool,
    /// Whether people of the tables fit no group, so that releases or tables may be misread.
    doubted: bool,
}

impl<'a> Knowledge<'a> {
    /// Marks a row of the table that is not in the release.
    pub(super) const ABSENT: u32 = u32::MAX;

    /// Everyone in each table is in the release with the same place.
    pub fn from_tables(tables: impl IntoIterator<Item = &'a Table>) -> Knowledge<'a> {
        let tables: Vec<&Table> = tables.into_iter().collect();
        let keys = tables.iter().fold(Vec::new(), |keys, table| union(keys, table.keys()));
        assert!(keys.len() < Knowledge::ABSENT as usize, "people are numbered with 32 bits");
        let people = tables.iter().map(|table| places(&keys, table.keys())).collect();
        Knowledge { tables, keys, people, kept_sets: false, doubted: false }
    }

    /// Everyone in each table but those who were withheld is in the release with the same place.
    pub fn from_published(published: impl IntoIterator<Item = (&'a Table, &'a Membership)>) -> Knowledge<'a> {
        let (tables, memberships): (Vec<&Table>, Vec<&Membership>) = published.into_iter().unzip();
        let mut knowledge = Knowledge::from_tables(tables);
        for (people, membership) in knowledge.people.iter_mut().zip(memberships) {
            membership.withheld.iter().for_each(|row| people[row.index()] = Knowledge::ABSENT);
        }
        knowledge
    }

    /// The same people, with only some of the releases.
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> Knowledge<'a> {
        let kept: Vec<usize> = (0..self.tables.len()).filter(|&release| keep(release)).collect();
        Knowledge {
            tables: kept.iter().map(|&release| self.tables[release]).collect(),
            keys: self.keys.clone(),
            people: kept.iter().map(|&release| self.people[release].clone()).collect(),
            kept_sets: self.kept_sets,
            doubted: self.doubted,
        }
    }

    /// The same, with a note whether the gate saw that everyone keeps one value set, or disjoint sets if their value
    /// changed. The gate must have checked each person before each of these releases, and the releases must have been
    /// made from these tables.
    pub fn with_kept_sets(self, kept_sets: bool) -> Knowledge<'a> {
        Knowledge { kept_sets, ..self }
    }

    /// The same, with a note whether more people of the tables fit no group than rows are missing.
    pub fn with_doubt(self, doubted: bool) -> Knowledge<'a> {
        Knowledge { doubted, ..self }
    }

    /// Whether the releases or the tables may be misread. Then nothing about a person may be concluded from them.
    pub fn is_doubted(&self) -> bool {
        self.doubted
    }

    /// Whether the gate saw that everyone keeps one value set.
    pub fn kept_sets(&self) -> bool {
        self.kept_sets
    }

    /// The same knowledge, in which a person whose value changed is a new person from then on, and for each of these
    /// people the person they are here. `None` if no value changed. Only releases that have values are compared.
    ///
    /// None of these people ever changes value, so conclusions that assume this are true of them. The new people come
    /// after the others and have the key of the original person.
    pub(super) fn by_stretch(&self, tells: impl Fn(usize) -> bool) -> Option<(Knowledge<'a>, Vec<u32>)> {
        let mut owners: Vec<u32> = (0..self.keys.len() as u32).collect();
        let mut now = owners.clone();
        let mut last: Vec<Option<Value>> = vec![None; self.keys.len()];
        let mut people = self.people.clone();
        for (release, people) in people.iter_mut().enumerate() {
            for (person, &value) in people.iter_mut().zip(self.tables[release].sensitive()) {
                let at = *person as usize;
                if *person == Knowledge::ABSENT {
                    continue;
                }
                if tells(release) && last[at].replace(value).is_some_and(|before| before != value) {
                    now[at] = owners.len() as u32;
                    owners.push(*person);
                }
                *person = now[at];
            }
        }
        let keys: Vec<RecordKey> = owners.iter().map(|&person| self.keys[person as usize]).collect();
        (keys.len() > self.keys.len())
            .then(|| (Knowledge { tables: self.tables.clone(), keys, people, ..*self }, owners))
    }

    /// How many people there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many releases it speaks of.
    pub fn releases(&self) -> usize {
        self.tables.len()
    }

    /// The key of a person; for the steward, who may look them up.
    pub fn key(&self, person: u32) -> RecordKey {
        self.keys[person as usize]
    }

    /// The pseudonym of a person in reports; `None` if there is no such person. Without the tables, nobody can compute
    /// it from an identifier or find the same person in another audit.
    pub fn name(&self, person: u32) -> Option<String> {
        let key = self.keys.get(person as usize)?;
        let mut tables = blake3::Hasher::new();
        for table in &self.tables {
            table.keys().iter().for_each(|key| _ = tables.update(&key.to_bytes()));
            table.sensitive().iter().for_each(|value| _ = tables.update(&value.0.to_le_bytes()));
            for at in 0..table.quasi_count() {
                table.quasi(at).iter().for_each(|code| _ = tables.update(&code.to_le_bytes()));
            }
        }
        let name = RecordKey::of(tables.finalize().as_bytes(), &key.to_bytes());
        Some(format!("{:016x}{:016x}", name.hi, name.lo))
    }

    /// The person with this key.
    pub fn person(&self, key: RecordKey) -> Option<u32> {
        self.keys.binary_search(&key).ok().map(|index| index as u32)
    }

    /// The quasi codes of a person in a release they are in.
    pub fn point(&self, release: usize, person: u32) -> Option<Vec<u32>> {
        let row = self.people[release].iter().position(|&other| other == person)?;
        let mut point = vec![0; self.tables[release].quasi_count()];
        self.read_point(release, row, &mut point);
        Some(point)
    }

    /// Per row of a table, who it is.
    pub(super) fn people(&self, release: usize) -> &[u32] {
        &self.people[release]
    }

    /// The rows of a table by their point: rows at one point together, neighbouring points near each other. With few
    /// attributes there are far fewer points than people.
    pub(super) fn by_point(&self, release: usize) -> ByGroup {
        let table = self.tables[release];
        let columns: Vec<&[u32]> = (0..table.quasi_count()).map(|attribute| table.quasi(attribute)).collect();
        let points = Classes::of(table.len(), &columns);
        let is_here = |person: &u32| *person != Knowledge::ABSENT;
        let of_rows = points.of_row.iter().zip(&self.people[release]);
        ByGroup::new(points.len(), of_rows.map(|(&point, person)| is_here(person).then_some(point)))
    }

    /// Everyone who is in the table and not in the release, with their value. Not for people split by
    /// [`Knowledge::by_stretch`], whose keys are not unique.
    pub(super) fn waiting(&self, release: usize) -> Vec<(u32, Value)> {
        let table = self.tables[release];
        let rows = self.people[release].iter().zip(table.keys()).zip(table.sensitive());
        let absent = rows.filter(|((person, _), _)| **person == Knowledge::ABSENT);
        absent.filter_map(|((_, &key), &value)| Some((self.person(key)?, value))).collect()
    }

    /// The quasi codes of a row of a table.
    pub(super) fn read_point(&self, release: usize, row: usize, point: &mut [u32]) {
        let table = self.tables[release];
        point.iter_mut().enumerate().for_each(|(attribute, code)| *code = table.quasi(attribute)[row]);
    }

    /// The sensitive value of every row of a table. Not knowledge: the truth, to judge by.
    pub(super) fn values(&self, release: usize) -> &[Value] {
        self.tables[release].sensitive()
    }

    /// Per person, their row in a release, or [`Knowledge::ABSENT`].
    pub(super) fn rows(&self, release: usize) -> Vec<u32> {
        let mut rows = vec![Knowledge::ABSENT; self.keys.len()];
        for (row, &person) in self.people[release].iter().enumerate() {
            if person != Knowledge::ABSENT {
                rows[person as usize] = row as u32;
            }
        }
        rows
    }

    /// How many quasi attributes there are.
    pub(super) fn attributes(&self) -> usize {
        self.tables.first().map_or(0, |table| table.quasi_count())
    }

    /// Everyone's sensitive value in the last release they are in. Not knowledge: the truth, to judge by.
    pub(super) fn truth(&self) -> Vec<Option<Value>> {
        let mut truth = vec![None; self.keys.len()];
        for (table, people) in self.tables.iter().zip(&self.people) {
            for (&person, &value) in people.iter().zip(table.sensitive()) {
                if person != Knowledge::ABSENT {
                    truth[person as usize] = Some(value);
                }
            }
        }
        truth
    }

    /// The people whose sensitive value is not the same in all their releases. This is the truth, to judge by.
    pub(super) fn changed(&self) -> Vec<bool> {
        let (mut last, mut changed) = (vec![None; self.keys.len()], vec![false; self.keys.len()]);
        for (table, people) in self.tables.iter().zip(&self.people) {
            for (&person, &value) in people.iter().zip(table.sensitive()) {
                if person != Knowledge::ABSENT {
                    let before: Option<Value> = last[person as usize].replace(value);
                    changed[person as usize] |= before.is_some_and(|before| before != value);
                }
            }
        }
        changed
    }
}

impl fmt::Debug for Knowledge<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Knowledge({} people, {} releases)", self.keys.len(), self.tables.len())
    }
}

/// Two ascending lists as one.
fn union(left: Vec<RecordKey>, right: &[RecordKey]) -> Vec<RecordKey> {
    let mut all = Vec::with_capacity(left.len().max(right.len()));
    let mut rest = right.iter().copied().peekable();
    for key in left {
        while let Some(earlier) = rest.next_if(|&other| other < key) {
            all.push(earlier);
        }
        rest.next_if_eq(&key);
        all.push(key);
    }
    all.extend(rest);
    all
}

/// The place in `all` of each of `some`; both ascend.
fn places(all: &[RecordKey], some: &[RecordKey]) -> Vec<u32> {
    let mut at = 0;
    let place = |key: &RecordKey| {
        while all[at] < *key {
            at += 1;
        }
        at as u32
    };
    some.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Row, Values};

    /// Two attributes; four people at three points, one of whom is in the table and not in the release.
    #[test]
    fn everyone_in_a_release_stands_at_their_point_and_nobody_else_does() {
        let keys = (0..5).map(|lo| RecordKey { hi: 0, lo }).collect();
        let quasi = vec![vec![3, 3, 7, 3, 3], vec![1, 2, 2, 1, 1]];
        let table = Table::new(keys, quasi, vec![Value(0); 5], Values::of(["a"]), Vec::new(), Vec::new());
        let left_out = Membership { withheld: vec![Row(3)], ..Membership::default() };
        let knowledge = Knowledge::from_published([(&table, &left_out)]);
        let points = knowledge.by_point(0);
        let mut found: Vec<&[u32]> = points.iter().filter(|rows| !rows.is_empty()).collect();
        found.sort_unstable();
        assert_eq!(found, [&[0, 4][..], &[1], &[2]]);
    }
}
