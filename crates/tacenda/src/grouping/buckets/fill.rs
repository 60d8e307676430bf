//! Which newcomers fill the gaps of existing buckets: those nearby.
//!
//! How many newcomers of each value move is decided before, from counts alone. Which gaps are filled depends on the
//! values of the people in the bucket. A reader who knows the program can use that (science CE-6). So only promises
//! against the rule reader may fill gaps.

use crate::grouping::buckets::Bucket;
use crate::model::Value;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::BinaryHeap;

/// Newcomers of each value, in the order of the curve.
pub struct Waiting {
    /// Per value: key on the curve, row.
    pub lists: Vec<Vec<(u64, u32)>>,
}

impl Waiting {
    /// Puts the newcomers of each value into the order of the curve; ties by row.
    pub fn new(newcomers: &[Vec<u32>], keys: &[u64]) -> Waiting {
        let lists = newcomers
            .par_iter()
            .map(|rows| {
                let mut list: Vec<(u64, u32)> = rows.iter().map(|&row| (keys[row as usize], row)).collect();
                list.par_sort_unstable();
                list
            })
            .collect();
        Waiting { lists }
    }

    /// Fills `moved[value]` gaps of every value with the newcomers nearest to them. Other gaps stay.
    pub fn fill(&mut self, buckets: &mut [Bucket], keys: &[u64], moved: &[u64]) {
        let moves = moved.iter().map(|&moved| Moves { total: moved as usize, each: None }).collect();
        self.fill_some(buckets, keys, moves);
    }

    /// Fills `quotas[bucket][position]` gaps of every value of every bucket with the newcomers nearest to them.
    pub fn fill_quotas(&mut self, buckets: &mut [Bucket], keys: &[u64], quotas: &[Vec<u64>]) {
        let mut moves: Vec<Moves> =
            self.lists.iter().map(|_| Moves { total: 0, each: Some(FxHashMap::default()) }).collect();
        for (index, (bucket, quotas)) in buckets.iter().zip(quotas).enumerate() {
            for (value, &quota) in bucket.set.iter().zip(quotas) {
                let moves = &mut moves[value.index()];
                moves.total += quota as usize;
                moves.each.as_mut().expect("given above").insert(index as u32, quota);
            }
        }
        self.fill_some(buckets, keys, moves);
    }

    fn fill_some(&mut self, buckets: &mut [Bucket], keys: &[u64], moves: Vec<Moves>) {
        let mut slots: Vec<Vec<(u64, u32)>> = vec![Vec::new(); self.lists.len()];
        let found: Vec<Vec<(Value, u64)>> = buckets.par_iter().map(|bucket| anchors(bucket, keys)).collect();
        for (index, found) in found.into_iter().enumerate() {
            for (value, anchor) in found {
                slots[value.index()].push((anchor, index as u32));
            }
        }
        let chosen: Vec<Vec<(u32, u32)>> = self
            .lists
            .par_iter_mut()
            .zip(slots)
            .zip(moves)
            .map(|((list, slots), moves)| nearest(list, slots, moves))
            .collect();
        for (value, chosen) in chosen.into_iter().enumerate() {
            for (bucket, row) in chosen {
                let bucket = &mut buckets[bucket as usize];
                let position = bucket.position(Value(value as u32)).expect("a gap is in the value set");
                bucket.add(position, row);
            }
        }
        // A bucket in which every value has a gap has a copy too many. Once that is removed, one list of every bucket
        // has no counterfeit, so every group cut from it has at least one person.
        for bucket in buckets {
            bucket.copies = bucket.lists.iter().map(Vec::len).max().unwrap_or(0) as u64;
        }
    }

    /// The newcomers without a place, per value.
    pub fn left(self) -> Vec<Vec<u32>> {
        self.lists.into_iter().map(|list| list.into_iter().map(|(_, row)| row).collect()).collect()
    }
}

/// The places of a bucket's gaps on the curve, value by value.
///
/// All rows of the bucket together mark where its copies should be. The gaps of a value are where its own rows fall
/// behind those marks.
fn anchors(bucket: &Bucket, keys: &[u64]) -> Vec<(Value, u64)> {
    if (0..bucket.set.len()).all(|position| bucket.gap(position) == 0) {
        return Vec::new();
    }
    let sorted = |rows: &mut dyn Iterator<Item = &u32>| {
        let mut places: Vec<u64> = rows.map(|&row| keys[row as usize]).collect();
        places.sort_unstable();
        places
    };
    let everyone = sorted(&mut bucket.lists.iter().flatten());
    let copies = bucket.copies as usize;
    let marks: Vec<u64> = (0..copies).map(|copy| everyone[(2 * copy + 1) * everyone.len() / (2 * copies)]).collect();
    let mut anchors = Vec::new();
    for (position, list) in bucket.lists.iter().enumerate() {
        let gaps = copies - list.len();
        if gaps == 0 {
            continue;
        }
        let places = sorted(&mut list.iter());
        let behind = lag(&marks, &places, gaps as i64);
        let mut before = 0;
        for (&mark, &behind) in marks.iter().zip(&behind) {
            for _ in before..behind {
                anchors.push((bucket.set[position], mark));
            }
            before = behind;
        }
    }
    anchors
}

/// How many gaps are at or before each mark. These are the ascending numbers from 0 to `gaps` that best fit how far
/// `places` falls behind the marks, by least absolute deviations.
fn lag(marks: &[u64], places: &[u64], gaps: i64) -> Vec<i64> {
    let mut heap = BinaryHeap::new();
    let mut met = 0;
    let mut fit: Vec<i64> = (0..marks.len())
        .map(|index| {
            let border = marks.get(index + 1).map_or(u64::MAX, |&next| marks[index] + (next - marks[index]) / 2);
            met += places[met..].partition_point(|&place| place <= border);
            let behind = index as i64 + 1 - met as i64;
            heap.push(behind);
            if *heap.peek().expect("just pushed") > behind {
                heap.pop();
                heap.push(behind);
            }
            *heap.peek().expect("just pushed")
        })
        .collect();
    let mut least = gaps;
    for behind in fit.iter_mut().rev() {
        least = least.min(*behind).max(0);
        *behind = least;
    }
    *fit.last_mut().expect("a bucket with gaps has copies") = gaps;
    fit
}

/// How many gaps of a value are filled.
struct Moves {
    total: usize,
    /// How many in each bucket, if that is decided.
    each: Option<FxHashMap<u32, u64>>,
}

/// Gives the nearest remaining newcomer to some of the slots. If not all can be served, slots with a close newcomer
/// come first. Returns bucket and row, and removes the newcomers from the list.
fn nearest(list: &mut Vec<(u64, u32)>, mut slots: Vec<(u64, u32)>, moves: Moves) -> Vec<(u32, u32)> {
    let Moves { total: number, mut each } = moves;
    if number == 0 {
        return Vec::new();
    }
    slots.sort_unstable();
    if number < slots.len() {
        let distance = |anchor: u64| {
            let at = list.partition_point(|&(key, _)| key < anchor);
            let before = at.checked_sub(1).map_or(u64::MAX, |at| anchor - list[at].0);
            before.min(list.get(at).map_or(u64::MAX, |&(key, _)| key - anchor))
        };
        let mut by_distance: Vec<(u64, u64, u32)> =
            slots.iter().map(|&(anchor, bucket)| (distance(anchor), anchor, bucket)).collect();
        by_distance.sort_unstable();
        let mut is_wanted = |bucket: u32| match &mut each {
            Some(each) => {
                let left = each.entry(bucket).or_default();
                let is_wanted = *left > 0;
                *left = left.saturating_sub(1);
                is_wanted
            }
            None => true,
        };
        let wanted = by_distance.into_iter().filter(|&(_, _, bucket)| is_wanted(bucket));
        slots = wanted.take(number).map(|(_, anchor, bucket)| (anchor, bucket)).collect();
        slots.sort_unstable();
    }
    let mut there = There::new(list.len());
    let mut chosen = Vec::with_capacity(number);
    for (anchor, bucket) in slots {
        let at = list.partition_point(|&(key, _)| key < anchor);
        let (before, after) = (there.before(at), there.from(at));
        let index = match (before, after) {
            (Some(before), Some(after)) if anchor - list[before].0 <= list[after].0 - anchor => before,
            (_, Some(after)) => after,
            (Some(before), None) => before,
            (None, None) => unreachable!("there are at least as many newcomers as moves"),
        };
        there.take(index);
        chosen.push((bucket, index as u32));
    }
    // The same newcomers and slots, matched in their order along the curve: the total distance never grows.
    let mut taken: Vec<u32> = chosen.iter().map(|&(_, index)| index).collect();
    taken.sort_unstable();
    for (chosen, index) in chosen.iter_mut().zip(taken) {
        chosen.1 = list[index as usize].1;
    }
    let mut index = 0;
    list.retain(|_| {
        index += 1;
        there.is_there(index - 1)
    });
    chosen
}

/// Which entries of a list remain, with quick steps to the next one in both directions.
struct There {
    /// For place `i`, some place at or after it; `i` itself if it remains.
    next: Vec<u32>,
    /// For place `i`, one past some place before it.
    last: Vec<u32>,
}

impl There {
    fn new(len: usize) -> There {
        There { next: (0..=len as u32).collect(), last: (0..=len as u32).collect() }
    }

    fn is_there(&self, index: usize) -> bool {
        self.next[index] == index as u32
    }

    fn take(&mut self, index: usize) {
        self.next[index] = index as u32 + 1;
        self.last[index + 1] = index as u32;
    }

    /// The first remaining entry at or after `index`.
    fn from(&mut self, index: usize) -> Option<usize> {
        let found = find(&mut self.next, index);
        (found + 1 < self.next.len()).then_some(found)
    }

    /// The last remaining entry before `index`.
    fn before(&mut self, index: usize) -> Option<usize> {
        find(&mut self.last, index).checked_sub(1)
    }
}

/// Follows links to the end, and shortens them.
fn find(links: &mut [u32], mut index: usize) -> usize {
    while links[index] as usize != index {
        links[index] = links[links[index] as usize];
        index = links[index] as usize;
    }
    index
}
