//! Does an insert into a maintained clustering cost more when there are more clusters?
//!
//! Clusters of ten among 10,000, 100,000 and 1,000,000 people, then 1 % more. The time of an insert is that
//! of an update less that of an update without newcomers, by the number of newcomers. `cargo bench --bench
//! inserts` prints JSON lines and a table; as `cargo test` runs it, a tiny size shows that it works. Nothing
//! here fails on a time: the work itself is counted in the tests of the clusters.

use serde_json::json;
use std::env;
use std::time::Instant;
use tacenda::made_up::{Churn, Generated, Shape, adult, census};
use tacenda::model::{History, Lots, Seed, Table};
use tacenda::promise::{Grouper, KAnonymity, Output, PolicyFile, Reasons, SeriesSettings, ShareLimits};

use tacenda::publish::{Before, prepare};

fn main() {
    let is_bench = env::args().any(|word| word == "--bench");
    let sizes: &[u32] = if is_bench { &[10_000, 100_000, 1_000_000] } else { &[1_000, 2_000] };
    println!("{:<8} {:>10} {:>10} {:>14} {:>12}", "data", "people", "clusters", "us an insert", "to smallest");
    series("census", sizes, |people| census::snapshots(people, 1, Churn::of(0.0), 1));
    series("adult", sizes, |people| adult::snapshots(people, 1, Churn::of(0.0), 1));
}

fn series<S: Shape>(name: &str, sizes: &[u32], made: impl Fn(u32) -> Generated<S>) {
    let mut smallest = None;
    for &people in sizes {
        let more = (people / 100).max(1000);
        let (clusters, seconds) = insert_seconds(&made(people + more), people as usize);
        let micros = seconds / f64::from(more) * 1e6;
        let ratio = micros / *smallest.get_or_insert(micros);
        println!("{name:<8} {people:>10} {clusters:>10} {micros:>14.1} {ratio:>12.2}");
        println!("{}", json!({ "data": name, "people": people, "clusters": clusters, "micros": micros }));
    }
}

/// Clusters some of the people, then lets the rest in: how many clusters, and how long that took.
fn insert_seconds<S: Shape>(made: &Generated<S>, people: usize) -> (usize, f64) {
    let everyone = made.tables().next().expect("a table");
    let some = first(&everyone, people);
    let policy = KAnonymity { optimise: false, ..KAnonymity::new(10) };
    let file = PolicyFile {
        series: SeriesSettings::default(),
        schema: made.schema().clone(),
        promise: policy.into(),
        reasons: Reasons::default(),
        limits: ShareLimits::default(),
        output: Output::default(),
    };
    let nothing = History::default();
    let before = Before { history: &nothing, snapshot: None };
    let prepared = prepare(&file, &policy, &Seed([1; 32]), before, &some, "first").expect("a release");
    let update = |table: &Table| {
        let start = Instant::now();
        let grouping = policy.group(&file.schema, &prepared.history, table, &Lots::from_number(1));
        grouping.expect("a grouping");
        start.elapsed().as_secs_f64()
    };
    // The shortest of three: the machine may be doing other work.
    let shortest = |table: &Table| (0..3).map(|_| update(table)).fold(f64::INFINITY, f64::min);
    (prepared.release.group_count(), (shortest(&everyone) - shortest(&some)).max(0.0))
}

/// The first rows of a table. Rows stand in the order of keyed hashes, so that is a random sample.
fn first(table: &Table, rows: usize) -> Table {
    let quasi = (0..table.quasi_count()).map(|attribute| table.quasi(attribute)[..rows].to_vec()).collect();
    let public = table.public().get(..rows).unwrap_or_default().to_vec();
    Table::new(
        table.keys()[..rows].to_vec(),
        quasi,
        table.sensitive()[..rows].to_vec(),
        table.values.clone(),
        public,
        table.public_texts.clone(),
    )
}
