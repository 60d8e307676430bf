//! How far count queries on a release are from the truth. For the steward: it needs the snapshot.
//!
//! # Source
//! Paper 003, section 6, "Utility of the Published Data": `select count(*)` with a range on quasi
//! attributes and on the sensitive attribute. With expected selectivity θ and conditions on `d` quasi
//! attributes, every range covers the share θ^(1/(d+1)) of its domain and starts at random.
//!
//! # Departures
//! The paper puts a condition on every attribute. Here `d` may be less; then each query draws which.
//! A range of sensitive values is a run of values in the order of their texts. Queries whose true
//! answer is 0 have no relative error; they are counted and left out.
//!
//! # Cost
//! Rows × queries comparisons, block by block so that a block's columns stay in the cache.

use crate::measure::density::{Densities, GroupShares};
use crate::model::{Release, Rng, Schema, Span, Table};
use rayon::prelude::*;
use serde::Serialize;

/// Which queries are asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// How many.
    pub queries: u32,
    /// The expected share of rows that fit.
    pub selectivity: f64,
    /// On how many quasi attributes; all if there are fewer.
    pub attributes: u32,
}

impl Default for Workload {
    /// A thousand queries of selectivity 10 % with a condition on every attribute.
    fn default() -> Workload {
        Workload { queries: 1000, selectivity: 0.1, attributes: u32::MAX }
    }
}

/// How far the answers are off, as shares of the true answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QueryError {
    /// How many queries were asked.
    pub queries: u32,
    /// How many of them have the true answer 0 and are left out.
    pub empty: u32,
    /// The median error.
    pub median: f64,
    /// The mean error.
    pub mean: f64,
    /// Nine in ten queries are off by at most this.
    pub ninth_decile: f64,
}

/// How many rows or groups are counted at a time.
const BLOCK: usize = 1 << 12;

/// Asks the release random count queries and compares with `table`, the snapshot it was made from.
pub fn query_error(
    release: &Release,
    schema: &Schema,
    table: &Table,
    workload: &Workload,
    rng: &mut Rng,
) -> QueryError {
    let ranks = ranks(table);
    let queries: Vec<Query> = (0..workload.queries).map(|_| Query::draw(schema, ranks.len(), workload, rng)).collect();
    let actual = actual(table, &ranks, &queries);
    let estimates = estimates(release, schema, &ranks, &queries);
    let mut errors: Vec<f64> = actual
        .iter()
        .zip(&estimates)
        .filter(|&(&actual, _)| actual > 0)
        .map(|(&actual, estimate)| (actual as f64 - estimate).abs() / actual as f64)
        .collect();
    errors.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let place = ((errors.len() as f64 * share).ceil() as usize).saturating_sub(1);
        errors.get(place).copied().unwrap_or(0.0)
    };
    QueryError {
        queries: workload.queries,
        empty: workload.queries - errors.len() as u32,
        median: at(0.5),
        mean: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
        ninth_decile: at(0.9),
    }
}

/// A count query: a span per attribute it asks about, and a run of values.
#[derive(Clone, Debug)]
struct Query {
    spans: Vec<(usize, Span)>,
    values: Span,
}

impl Query {
    fn draw(schema: &Schema, values: usize, workload: &Workload, rng: &mut Rng) -> Query {
        let asked = schema.quasi.len().min(workload.attributes as usize);
        let mut attributes: Vec<usize> = (0..schema.quasi.len()).collect();
        rng.shuffle(&mut attributes);
        attributes.truncate(asked);
        attributes.sort_unstable();
        let share = workload.selectivity.powf(1.0 / (asked as f64 + 1.0));
        let mut range = |size: u32| {
            let length = ((f64::from(size) * share).round() as u32).clamp(1, size);
            let lo = rng.below(u64::from(size - length) + 1) as u32;
            Span::new(lo, lo + length - 1)
        };
        let spans = attributes.iter().map(|&index| (index, range(schema.quasi[index].size()))).collect();
        Query { spans, values: range(values.max(1) as u32) }
    }
}

/// The place of every value in the order of texts: numbers of values depend on the past.
fn ranks(table: &Table) -> Vec<u32> {
    let mut order: Vec<(&[Box<str>], usize)> =
        table.values.iter().map(|(value, cells)| (cells, value.index())).collect();
    order.sort_unstable();
    let mut ranks = vec![0; order.len()];
    for (rank, (_, value)) in order.into_iter().enumerate() {
        ranks[value] = rank as u32;
    }
    ranks
}

/// The true answers.
fn actual(table: &Table, ranks: &[u32], queries: &[Query]) -> Vec<u64> {
    let starts: Vec<usize> = (0..table.len()).step_by(BLOCK).collect();
    starts
        .par_iter()
        .map(|&start| {
            let rows = start..(start + BLOCK).min(table.len());
            let values: Vec<u32> = table.sensitive()[rows.clone()].iter().map(|value| ranks[value.index()]).collect();
            let mut fits = vec![0u32; values.len()];
            let mut counts = vec![0u64; queries.len()];
            for (count, query) in counts.iter_mut().zip(queries) {
                within(&values, query.values, &mut fits, |fit, inside| *fit = inside);
                for &(attribute, span) in &query.spans {
                    let codes = &table.quasi(attribute)[rows.clone()];
                    within(codes, span, &mut fits, |fit, inside| *fit &= inside);
                }
                *count = u64::from(fits.iter().sum::<u32>());
            }
            counts
        })
        .reduce(
            || vec![0; queries.len()],
            |mut sum, counts| {
                sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
                sum
            },
        )
}

/// Calls `note` with 1 for every code inside `span` and 0 for the others, without branches.
fn within(codes: &[u32], span: Span, fits: &mut [u32], note: impl Fn(&mut u32, u32)) {
    for (fit, &code) in fits.iter_mut().zip(codes) {
        note(fit, u32::from(code.wrapping_sub(span.lo) <= span.hi - span.lo));
    }
}

/// The answers a recipient estimates (science A3.9), with the published counts where there are some.
fn estimates(release: &Release, schema: &Schema, ranks: &[u32], queries: &[Query]) -> Vec<f64> {
    let starts: Vec<usize> = (0..release.group_count()).step_by(BLOCK / 4).collect();
    let densities = &Densities::of(release, schema);
    let parts: Vec<Vec<f64>> = starts
        .par_iter()
        .map(|&start| {
            let end = (start + BLOCK / 4).min(release.group_count());
            let block = Block::new(release, densities, ranks, start..end);
            let mut shares = vec![0.0; end - start];
            queries.iter().map(|query| block.estimate(query, &mut shares)).collect()
        })
        .collect();
    // Added in the order of the blocks, whichever was ready first.
    let mut sums = vec![0.0; queries.len()];
    for part in parts {
        sums.iter_mut().zip(part).for_each(|(sum, estimate)| *sum += estimate);
    }
    sums
}

/// Some groups, by columns.
struct Block<'a> {
    regions: GroupShares<'a>,
    /// People per row.
    weights: Vec<f64>,
    values: Vec<u32>,
    ends: Vec<usize>,
}

impl<'a> Block<'a> {
    fn new(release: &Release, densities: &'a Densities, ranks: &[u32], groups: std::ops::Range<usize>) -> Block<'a> {
        let first_row = release.group_rows(groups.start).start;
        let last_row = release.group_rows(groups.end - 1).end;
        let weight = |group: usize| f64::from(release.people(group)) / release.group_rows(group).len() as f64;
        Block {
            regions: densities.of_groups(release, groups.clone()),
            weights: groups.clone().map(weight).collect(),
            values: release.sensitive[first_row..last_row].iter().map(|value| ranks[value.index()]).collect(),
            ends: groups.map(|group| release.group_rows(group).end - first_row).collect(),
        }
    }

    fn estimate(&self, query: &Query, shares: &mut [f64]) -> f64 {
        shares.copy_from_slice(&self.weights);
        for &(attribute, asked) in &query.spans {
            self.regions.narrow(attribute, asked, shares);
        }
        let (mut sum, mut start) = (0.0, 0);
        for (share, &end) in shares.iter().zip(&self.ends) {
            if *share > 0.0 {
                let fit =
                    |&rank: &u32| u32::from(rank.wrapping_sub(query.values.lo) <= query.values.hi - query.values.lo);
                let fits: u32 = self.values[start..end].iter().map(fit).sum();
                sum += share * f64::from(fits);
            }
            start = end;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Domain, Quasi, RecordKey, Regions, Sensitive, Value, Values};

    fn schema() -> Schema {
        let quasi = |name: &str, hi: i64| Quasi::new(name, Domain::Integer { lo: 0, hi });
        Schema::new("", vec![quasi("a", 30), quasi("b", 7), quasi("c", 1)], vec![Sensitive::open("x")])
    }

    /// Random rows, and a release that puts neighbours in groups of `size`, one counterfeit in each
    /// third group.
    fn sample(rows: u32, size: u32) -> (Table, Release) {
        let mut rng = Rng::from_number(u64::from(rows));
        // Numbered against the order of texts: only texts may matter.
        let texts = ["e", "d", "c", "b", "a"].map(|text| vec![Box::from(text)].into_boxed_slice());
        let values = Values::from_ordered(texts.into());
        // Values go with the first attribute, or wide groups would say as much as narrow ones.
        let mut person = |_| {
            let a = rng.below(30) as u32;
            (a, rng.below(7) as u32, Value((a / 6 + rng.below(2) as u32) % 5))
        };
        let mut people: Vec<(u32, u32, Value)> = (0..rows).map(&mut person).collect();
        people.sort_unstable();
        let keys = (0..rows).map(|row| RecordKey { hi: 0, lo: u64::from(row) }).collect();
        let column = |pick: fn(&(u32, u32, Value)) -> u32| people.iter().map(pick).collect::<Vec<u32>>();
        let quasi = vec![column(|row| row.0), column(|row| row.1), vec![0; rows as usize]];
        let sensitive = people.iter().map(|row| row.2).collect();
        let table = Table::new(keys, quasi, sensitive, values.clone(), Vec::new(), Vec::new());
        let mut release = Release { number: 1, regions: Regions::new(3), values, ..Release::default() };
        for (index, group) in people.chunks(size as usize).enumerate() {
            let cover = |pick: fn(&(u32, u32, Value)) -> u32| {
                group.iter().map(pick).fold(Span::EMPTY, |span, code| span.join(Span::exact(code)))
            };
            release.regions.push(&[cover(|row| row.0), cover(|row| row.1), Span::exact(0)]);
            let counterfeit = size > 1 && index % 3 == 0;
            let added = counterfeit.then_some(Value(0));
            let mut values: Vec<Value> = group.iter().map(|row| row.2).chain(added).collect();
            values.sort_unstable();
            release.sensitive.extend(values);
            release.ends.push(release.sensitive.len() as u32);
            release.counterfeits.push(u32::from(counterfeit));
        }
        (table, release)
    }

    #[test]
    fn a_release_that_says_everything_is_never_wrong() {
        let (table, release) = sample(500, 1);
        let found = query_error(&release, &schema(), &table, &Workload::default(), &mut Rng::from_number(1));
        assert!(found.median < 1e-12 && found.ninth_decile < 1e-12 && found.mean < 1e-12, "{found:?}");
        assert!(found.queries == 1000 && found.empty < 10, "{found:?}");
    }

    #[test]
    fn wider_groups_and_smaller_queries_are_less_exact() {
        let median = |size: u32, selectivity: f64| {
            let (table, release) = sample(3000, size);
            let workload = Workload { queries: 300, selectivity, attributes: 2 };
            query_error(&release, &schema(), &table, &workload, &mut Rng::from_number(1)).median
        };
        // A group of 30 has one value of the first attribute, of 1500 half of all.
        let (narrow, wide) = (median(30, 0.1), median(1500, 0.1));
        assert!(0.0 < narrow && narrow < wide, "{narrow} {wide}");
        let (large, small) = (median(300, 0.3), median(300, 0.01));
        assert!(large < small, "{large} {small}");
    }

    /// The fast way is the plain way: row by row and group by group from the definition.
    #[test]
    fn answers_are_those_of_the_definition() {
        let (table, release) = sample(997, 6);
        let schema = schema();
        let ranks = ranks(&table);
        assert_eq!(ranks, [4, 3, 2, 1, 0]);
        let mut rng = Rng::from_number(9);
        let workload = Workload { queries: 40, selectivity: 0.1, attributes: 2 };
        let queries: Vec<Query> = (0..40).map(|_| Query::draw(&schema, 5, &workload, &mut rng)).collect();
        let actual = actual(&table, &ranks, &queries);
        let estimates = estimates(&release, &schema, &ranks, &queries);
        for (at, query) in queries.iter().enumerate() {
            assert_eq!(query.spans.len(), 2);
            let fits_value = |value: Value| query.values.contains(ranks[value.index()]);
            let fits = |row: &usize| {
                let spans = query.spans.iter().all(|&(index, span)| span.contains(table.quasi(index)[*row]));
                spans && fits_value(table.sensitive()[*row])
            };
            assert_eq!(actual[at], (0..table.len()).filter(fits).count() as u64);
            let mut estimate = 0.0;
            for group in 0..release.group_count() {
                let mut part = f64::from(release.people(group));
                for &(index, span) in &query.spans {
                    let region = release.region(group)[index];
                    part *= f64::from(region.meet(span).width()) / f64::from(region.width());
                }
                let values = release.group_values(group);
                part *= values.iter().filter(|&&value| fits_value(value)).count() as f64 / values.len() as f64;
                estimate += part;
            }
            assert!((estimates[at] - estimate).abs() < 1e-9);
        }
    }

    #[test]
    fn threads_change_no_digit() {
        let (table, release) = sample(20_000, 3);
        let ask = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let workload = Workload { queries: 50, ..Workload::default() };
            pool.install(|| query_error(&release, &schema(), &table, &workload, &mut Rng::from_number(2)))
        };
        assert_eq!(ask(1), ask(3));
    }

    /// `cargo test --release … -- --ignored --nocapture how_fast`.
    #[test]
    #[ignore = "a measurement"]
    fn how_fast_queries_are_asked() {
        let rows: u32 = std::env::var("TACENDA_ROWS").map_or(5_000_000, |rows| rows.parse().unwrap());
        let (table, release) = sample(rows, 10);
        let start = std::time::Instant::now();
        let found = query_error(&release, &schema(), &table, &Workload::default(), &mut Rng::from_number(1));
        println!("1000 queries on {rows} rows: {:.2} s, {found:?}", start.elapsed().as_secs_f64());
        let start = std::time::Instant::now();
        let loss = crate::measure::loss(&release, &schema(), 10);
        println!("loss: {:.2} s, {:.4}", start.elapsed().as_secs_f64(), loss.leaf_share);
    }
}
