//! Cuts buckets into groups, and adds the groups to a grouping.

use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::deal::stand_ins;
use crate::grouping::buckets::exchange::{CutBucket, exchange};
use crate::grouping::buckets::split::{Costs, Lists, NOBODY, split};
use crate::model::{Grouping, Lots, Row, Schema, Table};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How much work is spent on close groups. Which groups are allowed does not depend on it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutEffort {
    /// Buckets are cut.
    #[default]
    Fast,
    /// After the cut, neighbouring groups exchange people.
    Fine,
}

/// How buckets are cut.
pub struct Cutting<'a> {
    /// The least number of people of a group.
    pub people: usize,
    /// How much work is spent.
    pub effort: CutEffort,
    /// Who may still enter another bucket for their value, if anybody may.
    pub is_newcomer: Option<&'a [bool]>,
}

/// Cuts every bucket into groups. Each bucket must hold enough people for one.
pub fn cut(
    schema: &Schema,
    table: &Table,
    buckets: Vec<Bucket>,
    lots: &Lots,
    cutting: &Cutting<'_>,
    grouping: &mut Grouping,
) {
    let costs = Costs::new(schema);
    let mut cuts: Vec<CutBucket> = buckets
        .into_par_iter()
        .with_max_len(1)
        .map(|mut bucket| {
            bucket.lists.iter_mut().for_each(|list| list.sort_unstable());
            let stand_ins = stand_ins(&bucket, lots);
            let lists = Lists { people: &bucket.lists, stand_ins: &stand_ins };
            let groups = split(table, &costs, lists, cutting.people);
            (bucket.set, groups)
        })
        .collect();
    if cutting.effort == CutEffort::Fine {
        exchange(table, &costs, &mut cuts, cutting.is_newcomer);
    }
    let (mut rows, mut counterfeits) = (Vec::new(), Vec::new());
    for (set, groups) in cuts {
        let mut at = 0;
        for &copies in &groups.copies {
            let end = at + copies as usize * set.len();
            rows.clear();
            counterfeits.clear();
            for (place, &row) in groups.places[at..end].iter().enumerate() {
                if row == NOBODY {
                    counterfeits.push(set[place / copies as usize]);
                } else {
                    rows.push(Row(row));
                }
            }
            grouping.push(&rows, &counterfeits);
            at = end;
        }
    }
}
