//! Places people whose sensitive value has left all the value sets they have had.
//!
//! Their next value set must hold the new value and share no value with any set they have had (science A3.6-3). They
//! are placed before the newcomers, because they have fewer possible places. Three ways are tried in turn: a gap of a
//! bucket they may enter; such a bucket together with one newcomer of every other value; a new set with newcomers. If
//! none works without an additional counterfeit, they wait.

use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::balance::{Counts, balance};
use crate::grouping::buckets::crowd::Crowd;
use crate::grouping::buckets::division::Updated;
use crate::model::Value;

/// How many buckets are tried with newcomers before a new set is opened.
const TRIES: usize = 8;

/// Places everyone in `updated` if possible. Returns those who wait.
pub fn place(
    crowd: &Crowd<'_>,
    updated: Vec<Updated>,
    newcomers: &[u64],
    buckets: &mut Vec<Bucket>,
    m: u64,
) -> Vec<u32> {
    let mut placing = Placing::new(crowd.value_count, newcomers, buckets, m);
    let mut people: Vec<Unplaced> = updated
        .into_iter()
        .map(|person| {
            let mut past: Vec<Value> =
                person.sets.iter().flat_map(|&set| crowd.history.value_sets.get(set)).copied().collect();
            past.sort_unstable();
            Unplaced { row: person.row, value: crowd.value(person.row), past }
        })
        .collect();
    people.retain(|person| !placing.fill_gap(person));
    people.retain(|person| !(placing.fill_gap(person) || placing.join(person) || placing.open(person)));
    people.retain(|person| !placing.fill_gap(person));
    people.iter().map(|person| person.row).collect()
}

/// Someone to place.
struct Unplaced {
    row: u32,
    value: Value,
    /// All values of the sets they have had, ascending.
    past: Vec<Value>,
}

impl Unplaced {
    /// Whether they may enter a set that holds their value.
    fn may_enter(&self, set: &[Value]) -> bool {
        set.iter().all(|value| self.past.binary_search(value).is_err())
    }
}

/// The buckets while people are placed.
struct Placing<'a> {
    buckets: &'a mut Vec<Bucket>,
    /// Per value, the buckets whose set holds it.
    holding: Vec<Vec<usize>>,
    counts: Counts,
    m: u64,
}

impl<'a> Placing<'a> {
    fn new(values: usize, newcomers: &[u64], buckets: &'a mut Vec<Bucket>, m: u64) -> Placing<'a> {
        let mut holding = vec![Vec::new(); values];
        let mut gaps = vec![0; values];
        for (index, bucket) in buckets.iter().enumerate() {
            for (position, value) in bucket.set.iter().enumerate() {
                holding[value.index()].push(index);
                gaps[value.index()] += bucket.gap(position);
            }
        }
        Placing { buckets, holding, counts: Counts { newcomers: newcomers.to_vec(), gaps }, m }
    }

    /// Fills a gap of the bucket with the largest gap.
    fn fill_gap(&mut self, person: &Unplaced) -> bool {
        let gap = |index: usize| {
            let bucket = &self.buckets[index];
            bucket.gap(bucket.position(person.value).expect("the set holds the value"))
        };
        let open = self.holding[person.value.index()]
            .iter()
            .copied()
            .filter(|&index| gap(index) > 0 && person.may_enter(&self.buckets[index].set));
        let Some(index) = open.max_by_key(|&index| (gap(index), std::cmp::Reverse(index))) else { return false };
        self.enter(index, person);
        true
    }

    /// Joins a bucket that has no gap, with one newcomer of each other value.
    fn join(&mut self, person: &Unplaced) -> bool {
        let mut open: Vec<usize> = self.holding[person.value.index()]
            .iter()
            .copied()
            .filter(|&index| person.may_enter(&self.buckets[index].set))
            .collect();
        open.sort_unstable_by_key(|&index| (std::cmp::Reverse(self.buckets[index].copies), index));
        let found = open.into_iter().take(TRIES).find(|&index| {
            let set = self.buckets[index].set.clone();
            self.costs_nothing(&set, person.value)
        });
        let Some(index) = found else { return false };
        self.enter(index, person);
        true
    }

    /// Opens a new set with the values that most newcomers have.
    fn open(&mut self, person: &Unplaced) -> bool {
        let spare =
            |value: &Value| self.counts.newcomers[value.index()].saturating_sub(self.counts.gaps[value.index()]);
        let mut others: Vec<Value> = (0..self.holding.len() as u32)
            .map(Value)
            .filter(|value| *value != person.value && spare(value) > 0 && person.past.binary_search(value).is_err())
            .collect();
        others.sort_by_key(|value| (std::cmp::Reverse(spare(value)), *value));
        others.truncate(self.m as usize - 1);
        let mut set = others;
        set.push(person.value);
        set.sort_unstable();
        if (set.len() as u64) < self.m || !self.costs_nothing(&set, person.value) {
            return false;
        }
        let index = match self.buckets.iter().position(|bucket| bucket.set == set) {
            Some(index) => index,
            None => {
                set.iter().for_each(|value| self.holding[value.index()].push(self.buckets.len()));
                self.buckets.push(Bucket::new(&set));
                self.buckets.len() - 1
            }
        };
        self.enter(index, person);
        true
    }

    /// Whether one more copy of `set`, with `value` taken, leads to no more counterfeits than before.
    fn costs_nothing(&self, set: &[Value], value: Value) -> bool {
        let others = || set.iter().filter(|&&other| other != value).map(|other| other.index());
        if others().any(|other| self.counts.newcomers[other] <= self.counts.gaps[other]) {
            return false;
        }
        let mut after = self.counts.clone();
        others().for_each(|other| after.gaps[other] += 1);
        match (counterfeits(&self.counts, self.m), counterfeits(&after, self.m)) {
            (Some(before), Some(after)) => after <= before,
            // Newcomers are not eligible yet; some of them will wait later. One of each value is there.
            (None, _) => true,
            (Some(_), None) => false,
        }
    }

    fn enter(&mut self, index: usize, person: &Unplaced) {
        let bucket = &mut self.buckets[index];
        let position = bucket.position(person.value).expect("the set holds the value");
        if bucket.gap(position) > 0 {
            self.counts.gaps[person.value.index()] -= 1;
        } else {
            let others = bucket.set.iter().filter(|&&other| other != person.value);
            others.for_each(|other| self.counts.gaps[other.index()] += 1);
        }
        bucket.add(position, person.row);
    }
}

/// How many gaps newcomers would leave to counterfeits.
fn counterfeits(counts: &Counts, m: u64) -> Option<u64> {
    let moved: u64 = balance(counts, m)?.iter().sum();
    Some(counts.gaps.iter().sum::<u64>() - moved)
}
