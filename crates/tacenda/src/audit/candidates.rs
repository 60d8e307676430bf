//! The attack that scales: which sensitive values are left for each person (science D4.4).
//!
//! The attacker knows everyone's exact quasi values and in which releases they are. In each release
//! a person is in some group whose region covers them, so their value is one of those groups'
//! values. A person has one value, so over the releases these sets are intersected.
//!
//! # What is and is not proved
//! As long as nobody's value changes, a person's value is always among their candidates. So a single candidate is a
//! breach that any reader of the releases can repeat. Several candidates prove nothing; `refine` and `worlds` look
//! closer.
//!
//! If a value has changed, the intersection may be empty. Then the attacker knows of the change and starts again from
//! this release, and the person counts as *inconsistent*. The intersection may also be non-empty and wrong. Given the
//! truth, [`Candidates::judge`] counts how often the attacker is right and how often misled.

use crate::audit::knowledge::Knowledge;
use crate::model::{Release, Value};
use crate::space::sets::{members, words};
use crate::space::stab::Stab;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};
use rustc_hash::FxHashSet;
use std::fmt;

/// What is left for each person.
#[derive(Clone, Eq, PartialEq)]
pub struct Candidates {
    words: usize,
    /// Per person, the set of values.
    sets: Vec<u64>,
    /// Per person, whether their sets contradicted each other.
    inconsistent: Vec<bool>,
    /// The people whose point is covered by no group of a release they are in, once for every such release.
    nowhere: Vec<u32>,
}

/// The attacker's conclusions, compared with the truth.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Judgement {
    /// People whose only candidate is right.
    pub certain_right: u32,
    /// People whose only candidate is wrong, because their value has changed.
    pub certain_wrong: u32,
    /// People whose value is not among their candidates: it has changed.
    pub misled: u32,
}

/// Points or people a thread takes at a time.
const PIECE: usize = 4096;

/// Attacks the releases together. The releases share one numbering of values, and `knowledge` speaks
/// of the same releases in the same order.
pub fn attack(releases: &[Release], knowledge: &Knowledge<'_>) -> Candidates {
    assert_eq!(releases.len(), knowledge.releases(), "one table of knowledge per release");
    let values = releases.iter().map(|release| release.values.len()).max().unwrap_or(0);
    let mut candidates = Candidates::everything(knowledge.len(), values);
    for (index, release) in releases.iter().enumerate() {
        candidates.learn(&Stab::new(release, values), knowledge, index);
    }
    candidates
}

/// Attacks the releases without knowing who is in which. A person's value is then one of those that any release has at
/// their point. With `first_release`, the attacker knows that the person is in the first release, so the value is one
/// of those that it has there. A person is looked for at the first point known.
pub fn attack_unsure(releases: &[Release], knowledge: &Knowledge<'_>, first_release: bool) -> Candidates {
    assert_eq!(releases.len(), knowledge.releases(), "one table of knowledge per release");
    let values = releases.iter().map(|release| release.values.len()).max().unwrap_or(0);
    let all = Candidates::everything(1, values);
    let words = all.words;
    let mut candidates = Candidates {
        sets: vec![0; knowledge.len() * words],
        inconsistent: vec![false; knowledge.len()],
        ..all.clone()
    };
    // Where each person is first.
    let mut first: Vec<(u32, u32)> = vec![(u32::MAX, 0); knowledge.len()];
    for release in (0..releases.len()).rev() {
        for (row, &person) in knowledge.people(release).iter().enumerate() {
            if person != Knowledge::ABSENT {
                first[person as usize] = (release as u32, row as u32);
            }
        }
    }
    for (index, release) in releases.iter().enumerate() {
        let stab = Stab::new(release, values);
        candidates.sets.par_chunks_mut(PIECE * words).zip(first.par_chunks(PIECE)).for_each(|(sets, first)| {
            let mut point = vec![0; knowledge.attributes()];
            let mut found = vec![0; words];
            for (set, &(home, row)) in sets.chunks_exact_mut(words).zip(first) {
                if home == u32::MAX || (first_release && home == 0 && index > 0) {
                    continue;
                }
                knowledge.read_point(home as usize, row as usize, &mut point);
                keep_values(&stab, &point, all.bits(0), &mut found);
                set.iter_mut().zip(&found).for_each(|(set, found)| *set |= found);
            }
        });
    }
    candidates
}

impl Candidates {
    /// Every value for everyone.
    fn everything(people: usize, values: usize) -> Candidates {
        let words = words(values);
        let mut all = vec![u64::MAX; words];
        all[words - 1] = if values.is_multiple_of(64) && values > 0 { u64::MAX } else { (1 << (values % 64)) - 1 };
        Candidates { words, sets: all.repeat(people), inconsistent: vec![false; people], nowhere: Vec::new() }
    }

    /// Intersects everyone's set with the values that one release leaves.
    fn learn(&mut self, stab: &Stab, knowledge: &Knowledge<'_>, release: usize) {
        let alike = knowledge.by_point(release);
        let points: Vec<&[u32]> = alike.iter().filter(|rows| !rows.is_empty()).collect();
        let learned: Vec<Learned> = points
            .into_par_iter()
            .with_min_len(PIECE)
            .fold(Learned::default, |mut learned, rows| {
                learned.look(self, stab, knowledge, release, rows);
                learned
            })
            .collect();
        for learned in learned {
            for (&person, found) in learned.people.iter().zip(learned.sets.chunks_exact(self.words)) {
                self.sets[person as usize * self.words..][..self.words].copy_from_slice(found);
            }
            learned.restarted.into_iter().for_each(|person| self.inconsistent[person as usize] = true);
            self.nowhere.extend(learned.nowhere);
        }
    }

    /// How many people there are.
    pub fn people(&self) -> usize {
        self.inconsistent.len()
    }

    /// How many values are left for a person.
    pub fn size(&self, person: u32) -> u32 {
        self.bits(person).iter().map(|bits| bits.count_ones()).sum()
    }

    /// The values left for a person, ascending.
    pub fn values(&self, person: u32) -> Vec<Value> {
        members(self.bits(person)).map(Value).collect()
    }

    /// Whether a value is left for a person.
    pub(super) fn has(&self, person: u32, value: Value) -> bool {
        self.bits(person).get(value.index() / 64).is_some_and(|bits| bits >> (value.index() % 64) & 1 == 1)
    }

    /// Whether a person's sets contradicted each other, so that their value must have changed.
    pub fn is_inconsistent(&self, person: u32) -> bool {
        self.inconsistent[person as usize]
    }

    /// How often a person's point was covered by no group of a release they are in.
    pub fn uncovered(&self) -> usize {
        self.nowhere.len()
    }

    /// How many people are covered by no group of some release they are in.
    pub fn people_nowhere(&self) -> usize {
        self.nowhere.iter().collect::<FxHashSet<_>>().len()
    }

    /// How many people are inconsistent.
    pub fn inconsistent(&self) -> usize {
        self.inconsistent.iter().filter(|&&inconsistent| inconsistent).count()
    }

    /// How many people have 0, 1, 2… candidates.
    pub fn histogram(&self) -> Vec<u32> {
        let mut histogram = vec![0; self.words * 64 + 1];
        self.all().for_each(|person| histogram[self.size(person) as usize] += 1);
        let used = histogram.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
        histogram.truncate(used);
        histogram
    }

    /// The people with exactly one candidate.
    pub fn certain(&self) -> impl Iterator<Item = u32> {
        self.all().filter(|&person| self.size(person) == 1)
    }

    /// How many people have fewer than `m` candidates.
    pub fn below(&self, m: u32) -> usize {
        self.all().filter(|&person| self.size(person) < m).count()
    }

    /// Compares the candidates with the truth: everyone's value in the last release they are in.
    pub fn judge(&self, knowledge: &Knowledge<'_>) -> Judgement {
        let mut judgement = Judgement::default();
        for (person, truth) in knowledge.truth().into_iter().enumerate() {
            let Some(truth) = truth else { continue };
            let person = person as u32;
            let right = self.has(person, truth);
            judgement.misled += u32::from(!right);
            if self.size(person) == 1 {
                judgement.certain_right += u32::from(right);
                judgement.certain_wrong += u32::from(!right);
            }
        }
        judgement
    }

    /// The person whose story shows the breach best. Their only candidate is right. It follows from the fewest
    /// releases, but from more than one if possible. Ties go to the first by key.
    pub fn example(&self, knowledge: &Knowledge<'_>) -> Option<u32> {
        let truth = knowledge.truth();
        let mut presence = vec![0u32; self.people()];
        for release in 0..knowledge.releases() {
            let present = knowledge.people(release).iter().filter(|&&person| person != Knowledge::ABSENT);
            present.for_each(|&person| presence[person as usize] += 1);
        }
        self.certain()
            .filter(|&person| !self.is_inconsistent(person))
            .filter(|&person| truth[person as usize].is_some_and(|truth| self.values(person) == [truth]))
            .min_by_key(|&person| {
                let releases = presence[person as usize];
                (releases < 2, releases, person)
            })
    }

    /// The person closest to being found out, if nobody is: the fewest values left, then the most releases, then the
    /// first by key.
    pub fn closest(&self, knowledge: &Knowledge<'_>) -> Option<u32> {
        let mut presence = vec![0u32; self.people()];
        for release in 0..knowledge.releases() {
            let present = knowledge.people(release).iter().filter(|&&person| person != Knowledge::ABSENT);
            present.for_each(|&person| presence[person as usize] += 1);
        }
        self.all()
            .filter(|&person| presence[person as usize] > 0 && self.size(person) > 0 && !self.is_inconsistent(person))
            .min_by_key(|&person| (self.size(person), std::cmp::Reverse(presence[person as usize]), person))
    }

    fn all(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.people() as u32
    }

    /// How many words a set has.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    /// The set of a person.
    pub(super) fn bits(&self, person: u32) -> &[u64] {
        &self.sets[person as usize * self.words..][..self.words]
    }

    /// Removes the values that are not in `kept` from a person's set. Returns how many were removed.
    pub(super) fn narrow(&mut self, person: u32, kept: &[u64]) -> u32 {
        let set = &mut self.sets[person as usize * self.words..][..self.words];
        let mut gone = 0;
        for (bits, kept) in set.iter_mut().zip(kept) {
            gone += (*bits & !kept).count_ones();
            *bits &= kept;
        }
        gone
    }
}

/// What a release says about some people.
#[derive(Default)]
struct Learned {
    people: Vec<u32>,
    /// Per person, the set of values.
    sets: Vec<u64>,
    restarted: Vec<u32>,
    nowhere: Vec<u32>,
    point: Vec<u32>,
}

impl Learned {
    /// Looks at the people of one point. The index is asked once for all of them, about every value that any of them
    /// has left.
    fn look(&mut self, before: &Candidates, stab: &Stab, knowledge: &Knowledge<'_>, release: usize, rows: &[u32]) {
        self.point.resize(knowledge.attributes(), 0);
        knowledge.read_point(release, rows[0] as usize, &mut self.point);
        let people = rows.iter().map(|&row| knowledge.people(release)[row as usize]);
        let mut known = vec![0; before.words];
        let mut here = known.clone();
        for person in people.clone() {
            known.iter_mut().zip(before.bits(person)).for_each(|(known, bits)| *known |= bits);
        }
        keep_values(stab, &self.point, &known, &mut here);
        let mut everything = Vec::new();
        for person in people {
            let known = before.bits(person);
            let first = self.sets.len();
            self.people.push(person);
            self.sets.extend(known.iter().zip(&here).map(|(known, here)| known & here));
            if self.sets[first..].iter().any(|&bits| bits != 0) {
                continue;
            }
            if everything.is_empty() {
                everything = vec![0; before.words];
                keep_values(stab, &self.point, &vec![u64::MAX; before.words], &mut everything);
            }
            if everything.iter().all(|&bits| bits == 0) {
                self.nowhere.push(person);
                self.sets[first..].copy_from_slice(known);
            } else {
                self.sets[first..].copy_from_slice(&everything);
                self.restarted.push(person);
            }
        }
    }
}

impl fmt::Debug for Candidates {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Candidates({} people)", self.people())
    }
}

/// Of the `known` values, those that some group over `point` holds.
fn keep_values(stab: &Stab, point: &[u32], known: &[u64], found: &mut [u64]) {
    found.copy_from_slice(known);
    stab.take_values(point, found);
    found.iter_mut().zip(known).for_each(|(missing, known)| *missing = known & !*missing);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::sketch::{evolution, release, table};
    use proptest::prelude::*;

    fn letters(candidates: &Candidates) -> Vec<String> {
        let letter = |value: Value| char::from(b'a' + value.0 as u8);
        (0..candidates.people() as u32)
            .map(|person| candidates.values(person).into_iter().map(letter).collect())
            .collect()
    }

    #[test]
    fn two_releases_that_share_one_value_betray_it() {
        let tables = [table("1/10/a 2/11/b 3/20/c 4/21/d"), table("1/10/a 3/20/c 4/21/d")];
        let releases = [release(1, "10-11/ab 20-21/cd"), release(2, "10-20/ac 20-21/cd")];
        let knowledge = Knowledge::from_tables(&tables);
        let candidates = attack(&releases, &knowledge);
        assert_eq!(letters(&candidates), ["a", "ab", "cd", "cd"]);
        assert_eq!(candidates.certain().collect::<Vec<_>>(), [0]);
        assert_eq!((candidates.below(2), candidates.below(3)), (1, 4));
        assert_eq!(candidates.histogram(), [0, 1, 3]);
        assert_eq!(candidates.judge(&knowledge).certain_right, 1);
        assert_eq!(candidates.example(&knowledge), Some(0));
    }

    #[test]
    fn a_person_who_returns_to_other_company_is_betrayed() {
        // science G15: in {a,b}, absent, back in {a,c}.
        let tables = [table("1/10/a 2/10/b"), table("2/10/b 3/10/c"), table("1/10/a 3/10/c")];
        let releases = [release(1, "10-10/ab"), release(2, "10-10/bc"), release(3, "10-10/ac")];
        let candidates = attack(&releases, &Knowledge::from_tables(&tables));
        assert_eq!(letters(&candidates), ["a", "b", "c"]);
    }

    #[test]
    fn a_changed_value_is_told_from_a_breach() {
        let tables = [table("1/10/a 2/10/b"), table("1/10/c 2/10/b 3/10/d")];
        let releases = [release(1, "10-10/ab"), release(2, "10-10/cd 10-10/bd")];
        let knowledge = Knowledge::from_tables(&tables);
        let candidates = attack(&releases, &knowledge);
        // The first person's value changed, and the attacker wrongly believes that it is b.
        assert_eq!(letters(&candidates), ["b", "b", "bcd"]);
        let judgement = candidates.judge(&knowledge);
        assert_eq!(judgement, Judgement { certain_right: 1, certain_wrong: 1, misled: 1 });
        let releases = [release(1, "10-10/ab"), release(2, "10-10/cd")];
        let candidates = attack(&releases, &knowledge);
        assert_eq!((letters(&candidates), candidates.inconsistent()), (vec!["cd".into(), "cd".into(), "cd".into()], 2));
    }

    #[test]
    fn a_point_no_group_covers_is_reported_and_teaches_nothing() {
        let tables = [table("1/10/a 2/50/b")];
        let candidates = attack(&[release(1, "10-11/ab")], &Knowledge::from_tables(&tables));
        assert_eq!((letters(&candidates)[1].as_str(), candidates.uncovered()), ("abcde", 1));
    }

    #[test]
    fn who_is_withheld_is_not_in_the_release() {
        use crate::model::{Membership, Row};
        let tables = [table("1/10/a 2/10/b 3/11/c")];
        let membership = Membership { withheld: vec![Row(2)], ..Membership::default() };
        let knowledge = Knowledge::from_published([(&tables[0], &membership)]);
        let candidates = attack(&[release(1, "10-11/ab")], &knowledge);
        assert_eq!(letters(&candidates), ["ab", "ab", "abcde"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        /// science E1-34, E1-35: the truth is always a candidate; a further release only takes away.
        #[test]
        fn the_truth_is_always_a_candidate((tables, releases) in evolution(20)) {
            let mut sizes = [5; 20];
            for count in 1..=tables.len() {
                let knowledge = Knowledge::from_tables(&tables[..count]);
                let candidates = attack(&releases[..count], &knowledge);
                prop_assert_eq!(candidates.inconsistent(), 0);
                prop_assert_eq!(candidates.judge(&knowledge).misled, 0);
                for person in 0..candidates.people() as u32 {
                    let who = knowledge.key(person).hi as usize;
                    prop_assert!(candidates.size(person) <= sizes[who]);
                    sizes[who] = candidates.size(person);
                }
            }
        }
    }
}
