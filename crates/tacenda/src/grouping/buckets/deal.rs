//! Deals people into buckets by lot, as paper 003 does.
//!
//! How many people of each value a bucket takes is decided before, from counts alone. Lots decide which people of a
//! value go where, so every way is equally likely, no matter who has which value (science A3.11-b).

use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::assign::Step;
use crate::model::{Lots, RecordKey};
use rayon::prelude::*;

/// People of each value, in the order of their lots.
pub struct Deck {
    lists: Vec<Vec<u32>>,
    /// Per value, how many have been dealt.
    dealt: Vec<usize>,
}

impl Deck {
    /// Puts the people of each value into the order of their lots.
    pub fn new(people: Vec<Vec<u32>>, keys: &[RecordKey], lots: &Lots) -> Deck {
        let dealt = vec![0; people.len()];
        let lists = people.into_par_iter().map(|rows| by_lot(rows, keys, lots)).collect();
        Deck { lists, dealt }
    }

    /// Deals `copies` people of every value of its set into a bucket.
    pub fn deal(&mut self, bucket: &mut Bucket, copies: u64) {
        for (value, list) in bucket.set.iter().zip(&mut bucket.lists) {
            let dealt = &mut self.dealt[value.index()];
            list.extend_from_slice(&self.lists[value.index()][*dealt..*dealt + copies as usize]);
            *dealt += copies as usize;
        }
        bucket.copies += copies;
    }

    /// Deals so many people of each value of its set into a bucket.
    pub fn deal_each(&mut self, bucket: &mut Bucket, people: &[u64]) {
        for ((value, list), &people) in bucket.set.iter().zip(&mut bucket.lists).zip(people) {
            let dealt = &mut self.dealt[value.index()];
            list.extend_from_slice(&self.lists[value.index()][*dealt..*dealt + people as usize]);
            *dealt += people as usize;
        }
        bucket.copies = bucket.lists.iter().map(Vec::len).max().unwrap_or(0) as u64;
    }

    /// Everyone who was not dealt.
    pub fn left(self) -> Vec<u32> {
        self.lists.into_iter().zip(self.dealt).flat_map(|(list, dealt)| list.into_iter().skip(dealt)).collect()
    }

    /// Deals everyone who is left into new buckets, according to `steps`.
    pub fn deal_new(mut self, steps: &[Step]) -> Vec<Bucket> {
        let buckets = steps
            .iter()
            .map(|step| {
                let mut bucket = Bucket::new(&step.set);
                self.deal(&mut bucket, step.copies);
                bucket
            })
            .collect();
        assert!(
            self.dealt.iter().zip(&self.lists).all(|(&dealt, list)| dealt == list.len()),
            "the steps place everyone"
        );
        buckets
    }
}

/// Rows in the order of their lots. `keys` has everyone's key.
pub fn by_lot(rows: Vec<u32>, keys: &[RecordKey], lots: &Lots) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> = rows.into_par_iter().map(|row| (lots.of(keys[row as usize]), row)).collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|(_, row)| row).collect()
}

/// For every counterfeit of a bucket, a row of the bucket whose codes it borrows. Every row is equally likely.
pub fn stand_ins(bucket: &Bucket, lots: &Lots) -> Vec<Vec<u32>> {
    if (0..bucket.set.len()).all(|position| bucket.gap(position) == 0) {
        return vec![Vec::new(); bucket.set.len()];
    }
    // Sorted by row, so that the choice does not depend on who has which value.
    let mut rows = bucket.lists.concat();
    rows.sort_unstable();
    let mut unit: Vec<u32> = bucket.set.iter().map(|value| value.0).collect();
    let set = unit.len();
    let mut beside = |position: usize, number: u64| {
        unit.truncate(set);
        unit.extend([position as u32, number as u32]);
        rows[lots.below(&unit, rows.len() as u64) as usize]
    };
    let mut counterfeits =
        |position: usize| (0..bucket.gap(position)).map(|number| beside(position, number)).collect::<Vec<u32>>();
    (0..set).map(&mut counterfeits).collect()
}
