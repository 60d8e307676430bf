//! Who waits so that a value set needs fewer counterfeits.
//!
//! After people left, a set can hold more people of one value than of the others, and counterfeits even it out. One person
//! fewer of the value that leads saves one counterfeit of each other value. Lots decide who of them waits.

use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::deal::by_lot;
use crate::model::{Lots, RecordKey};
use rustc_hash::FxHashSet;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Somebody waits if the counterfeits that this saves, times the share of counterfeits, are at least this share over the square
/// of m: with large sets few counterfeits now become many later.
const WORTH: (u64, u64) = (18, 25);

/// The least m that counts there.
const LEAST_M: u64 = 3;

/// At most one in so many people waits, for whatever reason: one in a hundred, and a reserve for people who are left with too few
/// others in their set.
pub const MOST: usize = 104;

/// While more than one in so many is a counterfeit, more people wait: the table shrinks, and places stay empty.
const NEED: u64 = 12;

/// At most one in so many people waits then.
const MOST_IN_NEED: usize = 40;

/// Withholds people by lot, of values with more holders than the upper quartile of their set's values. Returns their
/// rows.
pub fn even_out(keys: &[RecordKey], buckets: &mut [Bucket], lots: &Lots) -> Vec<u32> {
    let mut withheld = Vec::new();
    for bucket in buckets {
        let mut lengths: Vec<usize> = bucket.lists.iter().map(Vec::len).collect();
        lengths.sort_unstable();
        let level = lengths[(3 * (lengths.len() - 1)).div_ceil(4)];
        for list in &mut bucket.lists {
            if list.len() > level {
                *list = by_lot(std::mem::take(list), keys, lots);
                withheld.extend(list.drain(level..));
            }
        }
        bucket.copies = level as u64;
    }
    withheld
}

/// Lets people wait who hold the leading value of their set, where few of them cause many counterfeits: those first who
/// save most. Newcomers never wait. A group has at least `people` people, and `waiting` people wait already. Returns the
/// rows of those who wait.
pub fn hold_leaders(
    keys: &[RecordKey],
    buckets: &mut [Bucket],
    lots: &Lots,
    is_newcomer: impl Fn(u32) -> bool,
    people: usize,
    waiting: usize,
    m: u64,
) -> Vec<u32> {
    let everyone = keys.len();
    let square = m.max(LEAST_M).pow(2);
    // Buckets with too few people are withheld whole.
    buckets.iter_mut().filter(|bucket| bucket.people() < people).for_each(|bucket| bucket.copies = 0);
    let small: usize = buckets.iter().filter(|bucket| bucket.copies == 0).map(Bucket::people).sum();
    let mut waiting = waiting + small;
    let mut sets: Vec<Held> = buckets.iter().map(|bucket| Held::new(bucket, &is_newcomer)).collect();
    let mut counterfeits: u64 = sets.iter().map(Held::counterfeits).sum();
    let steps = sets.iter().enumerate().filter_map(|(at, set)| Some((set.step(people)?.worth(), Reverse(at))));
    let mut next: BinaryHeap<(u64, Reverse<usize>)> = steps.collect();
    while let Some((_, Reverse(at))) = next.pop() {
        let step = sets[at].step(people).expect("it was put there");
        let is_worth = step.saves * counterfeits * square * WORTH.1 >= WORTH.0 * step.waits * everyone as u64;
        if !is_worth {
            break;
        }
        let most = everyone / if counterfeits * NEED > everyone as u64 { MOST_IN_NEED } else { MOST };
        if waiting + step.waits as usize > most {
            continue;
        }
        waiting += step.waits as usize;
        counterfeits -= step.saves;
        sets[at].take(step.level);
        next.extend(sets[at].step(people).map(|step| (step.worth(), Reverse(at))));
    }
    let mut held = Vec::new();
    for (bucket, set) in buckets.iter_mut().zip(&sets).filter(|(bucket, set)| set.level < bucket.copies) {
        for (list, &length) in bucket.lists.iter_mut().zip(&set.lengths).filter(|(list, length)| **length < list.len())
        {
            let (kept, mut rows): (Vec<u32>, Vec<u32>) = list.iter().partition(|&&row| is_newcomer(row));
            rows = by_lot(rows, keys, lots);
            held.extend(rows.drain(length - kept.len()..));
            rows.extend(kept);
            *list = rows;
        }
        bucket.copies = set.level;
    }
    held
}

/// Takes people out of their buckets.
pub fn take(buckets: &mut Vec<Bucket>, rows: &[u32]) {
    if rows.is_empty() {
        return;
    }
    let rows: FxHashSet<u32> = rows.iter().copied().collect();
    for bucket in buckets.iter_mut() {
        bucket.lists.iter_mut().for_each(|list| list.retain(|row| !rows.contains(row)));
        bucket.copies = bucket.lists.iter().map(Vec::len).max().unwrap_or(0) as u64;
    }
    buckets.retain(|bucket| bucket.copies > 0);
}

/// How many people of each value of a set are published.
struct Held {
    lengths: Vec<usize>,
    /// Per value, how many of them are newcomers.
    newcomers: Vec<usize>,
    /// How many copies it has.
    level: u64,
}

/// The least number of people who wait so that a set has fewer copies.
struct HeldStep {
    waits: u64,
    saves: u64,
    level: u64,
}

impl HeldStep {
    /// What it saves per person, to compare it with others.
    fn worth(&self) -> u64 {
        (self.saves << 16) / self.waits.max(1)
    }
}

impl Held {
    fn new(bucket: &Bucket, is_newcomer: impl Fn(u32) -> bool) -> Held {
        let new = |list: &Vec<u32>| list.iter().filter(|&&row| is_newcomer(row)).count();
        Held {
            lengths: bucket.lists.iter().map(|list| list.len().min(bucket.copies as usize)).collect(),
            newcomers: bucket.lists.iter().map(new).collect(),
            level: bucket.copies,
        }
    }

    fn counterfeits(&self) -> u64 {
        self.level * self.lengths.len() as u64 - self.lengths.iter().sum::<usize>() as u64
    }

    /// One copy fewer, or none if the group would have too few people; `None` if newcomers would have to wait.
    fn step(&self, people: usize) -> Option<HeldStep> {
        if self.level == 0 {
            return None;
        }
        let waits = |level: u64| self.lengths.iter().map(|&length| (length as u64).saturating_sub(level)).sum::<u64>();
        let there: u64 = waits(0);
        let level = if there - waits(self.level - 1) < people as u64 { 0 } else { self.level - 1 };
        let stay = self.newcomers.iter().all(|&newcomers| newcomers as u64 <= level);
        let saves = (self.level - level) * self.lengths.len() as u64 - waits(level);
        stay.then_some(HeldStep { waits: waits(level), saves, level })
    }

    fn take(&mut self, level: u64) {
        self.level = level;
        self.lengths.iter_mut().for_each(|length| *length = (*length).min(level as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Value;
    use proptest::prelude::*;

    /// The keys of so many people.
    fn keys(people: usize) -> Vec<RecordKey> {
        (0..people as u64).map(|key| RecordKey { hi: key, lo: 0 }).collect()
    }

    fn buckets(lengths: &[Vec<usize>]) -> (usize, Vec<Bucket>) {
        let mut rows = 0..;
        let bucket = |lengths: &Vec<usize>| {
            let mut bucket = Bucket::new(&(0..lengths.len() as u32).map(Value).collect::<Vec<_>>());
            for (position, &people) in lengths.iter().enumerate() {
                rows.by_ref().take(people).for_each(|row| bucket.add(position, row));
            }
            bucket
        };
        let buckets = lengths.iter().map(bucket).collect();
        (rows.next().unwrap() as usize, buckets)
    }

    fn counterfeits(buckets: &[Bucket]) -> u64 {
        buckets.iter().flat_map(|bucket| (0..bucket.set.len()).map(|position| bucket.gap(position))).sum()
    }

    #[test]
    fn who_leads_alone_waits() {
        // 3 people of one value beside one of each other: 2 who wait save 2 counterfeits each.
        let mut lengths = vec![vec![40, 40, 40]; 3];
        lengths.push(vec![3, 1, 1]);
        let (people, mut buckets) = buckets(&lengths);
        let held = hold_leaders(&keys(people), &mut buckets, &Lots::from_number(1), |_| false, 2, 0, 3);
        // 4 counterfeits of 365 people are too few for anybody to wait for 2 of them.
        assert!(held.is_empty());
        let mut many: Vec<Vec<usize>> = vec![vec![10, 10, 10]; 10];
        many.extend(vec![vec![9, 4, 4]; 4]);
        let (people, mut buckets) = self::buckets(&many);
        let before = counterfeits(&buckets);
        let held = hold_leaders(&keys(people), &mut buckets, &Lots::from_number(1), |_| false, 2, 0, 3);
        // Three of 368 may wait, and more while more than one in twelve is a counterfeit.
        assert_eq!((people, before, held.len(), counterfeits(&buckets)), (368, 40, 5, 30));
        let none = hold_leaders(&keys(people), &mut buckets, &Lots::from_number(1), |_| false, 2, 3, 3);
        assert!(none.is_empty(), "one in a hundred waits already");
    }

    proptest! {
        /// Nobody is lost, no newcomer waits, few people wait, each saves what it must, and groups keep their people.
        #[test]
        fn few_wait_and_each_saves_counterfeits(
            lengths in prop::collection::vec(prop::collection::vec(0usize..30, 2..8), 1..12),
            new in 0u32..7,
            people in 1usize..4,
        ) {
            let (everyone, mut buckets) = buckets(&lengths);
            buckets.retain(|bucket| bucket.people() >= people);
            let (before, there) = (counterfeits(&buckets), buckets.clone());
            let is_newcomer = |row: u32| row % 7 < new;
            let held = hold_leaders(&keys(everyone), &mut buckets, &Lots::from_number(3), is_newcomer, people, 0, 3);
            let most = if before * NEED > everyone as u64 { MOST_IN_NEED } else { MOST };
            prop_assert!(held.len() <= everyone / most && held.iter().all(|&row| !is_newcomer(row)));
            prop_assert!(before - counterfeits(&buckets) >= held.len() as u64 * u64::from(!held.is_empty()));
            let mut rows: Vec<u32> = buckets.iter().flat_map(|bucket| bucket.lists.concat()).chain(held.clone()).collect();
            rows.sort_unstable();
            let mut all: Vec<u32> = there.iter().flat_map(|bucket| bucket.lists.concat()).collect();
            all.sort_unstable();
            prop_assert_eq!(rows, all);
            for bucket in &buckets {
                prop_assert!(bucket.people() == 0 || bucket.people() >= people);
                prop_assert_eq!(bucket.copies, bucket.lists.iter().map(Vec::len).max().unwrap_or(0) as u64);
            }
        }
    }
}
