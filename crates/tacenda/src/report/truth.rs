//! A release compared with its private table: who was withheld, what risk the table itself would have had, and how far
//! counts are off. Private.

use crate::audit::Thresholds;
use crate::measure::{Workload, count_errors, query_error};
use crate::model::{Release, Rng, Schema, Table};
use crate::report::{BeforeFacts, QueryErrorFacts, TruthFacts};
use rustc_hash::FxHashMap;

/// The limit of rows times queries of one release; large tables get fewer queries.
const MOST_WORK: u64 = 1_000_000_000;

/// Compares a release with its table. `has_values` says whether it was published with the sensitive column.
pub fn truth_facts(
    release: &Release,
    has_values: bool,
    table: &Table,
    schema: &Schema,
    thresholds: &Thresholds,
) -> TruthFacts {
    let published = release.row_count() as u64 - release.counterfeit_count();
    TruthFacts {
        release: release.number,
        people: table.len() as u64,
        withheld: (table.len() as u64).saturating_sub(published),
        before: before(table, thresholds.k),
        query_error: (has_values && !table.is_empty()).then(|| queries(release, schema, table)),
        count_errors: (has_values && !table.is_empty())
            .then(|| count_errors(release, schema, table, &mut Rng::from_number(1))),
    }
}

fn queries(release: &Release, schema: &Schema, table: &Table) -> QueryErrorFacts {
    let whole = Workload::default();
    let most = (MOST_WORK / table.len().max(1) as u64).max(50);
    let workload = Workload { queries: u64::from(whole.queries).min(most) as u32, ..whole };
    let error = query_error(release, schema, table, &workload, &mut Rng::from_number(1));
    QueryErrorFacts {
        queries: error.queries,
        selectivity: workload.selectivity,
        median: error.median,
        mean: error.mean,
        ninth_decile: error.ninth_decile,
    }
}

/// Puts people with the same exact quasi-identifiers together.
fn before(table: &Table, k: u32) -> BeforeFacts {
    let mut alike: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    for row in 0..table.len() {
        let point = (0..table.quasi_count()).map(|attribute| table.quasi(attribute)[row]).collect();
        *alike.entry(point).or_default() += 1;
    }
    let smallest = alike.values().copied().min().unwrap_or(0);
    let people_in = |wanted: &dyn Fn(u32) -> bool| {
        alike.values().filter(|&&size| wanted(size)).map(|&size| u64::from(size)).sum::<u64>()
    };
    BeforeFacts {
        smallest_group: smallest,
        unique: people_in(&|size| size == 1),
        highest_identity: if smallest == 0 { 0.0 } else { 1.0 / f64::from(smallest) },
        mean_identity: alike.len() as f64 / table.len().max(1) as f64,
        people_below_k: people_in(&|size| size < k),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RecordKey, Value, Values};
    use crate::report::samples;

    #[test]
    fn before_counts_people_alike_by_their_exact_values() {
        let keys = (0..5).map(|lo| RecordKey { hi: 0, lo }).collect();
        let codes = vec![vec![1, 1, 1, 2, 3], vec![0, 0, 0, 0, 0]];
        let table = Table::new(keys, codes, vec![Value(0); 5], Values::of(["a"]), vec![], vec![]);
        let before = before(&table, 2);
        assert_eq!((before.smallest_group, before.unique, before.people_below_k), (1, 2, 2));
        assert_eq!((before.highest_identity, before.mean_identity), (1.0, 0.6));
    }

    #[test]
    fn who_is_not_in_the_release_was_withheld() {
        let release = samples::release(1, "2026-Q1", "20-29:F:ab 30-79:*:cdab+1");
        let keys = (0..7).map(|lo| RecordKey { hi: 0, lo }).collect();
        let codes = vec![vec![21, 22, 33, 34, 35, 36, 90], vec![0, 0, 0, 1, 0, 1, 1]];
        let held = [0, 1, 2, 3, 0, 1, 4].map(Value).to_vec();
        let table = Table::new(keys, codes, held, release.values.clone(), vec![], vec![]);
        let schema = samples::schema();
        let facts = truth_facts(&release, true, &table, &schema, &Thresholds::default());
        assert_eq!((facts.people, facts.withheld), (7, 2));
        assert!(facts.query_error.is_some());
        assert!(truth_facts(&release, false, &table, &schema, &Thresholds::default()).query_error.is_none());
    }
}
