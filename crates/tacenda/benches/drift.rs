//! Does a long series get worse? A hundred releases with 5 % churn: loss, value sets, counterfeits, and
//! the error of count queries at some of them.
//!
//! `cargo bench --bench drift` prints JSON lines and a table; `-- --people 200000` takes more people. As `cargo test`
//! runs it, a small and short series shows that it works.

use serde_json::json;
use std::env;
use tacenda::made_up::{Churn, Generated, Shape, adult, census};
use tacenda::measure;
use tacenda::measure::Workload;
use tacenda::model::{History, Rng, Seed};
use tacenda::promise::{MInvariance, OnIneligible, Output, PolicyFile, Reasons, SeriesSettings, ShareLimits};
use tacenda::publish::{Before, prepare};

/// The releases that are measured.
const SHOWN: [u32; 7] = [1, 2, 3, 10, 20, 50, 100];

fn main() {
    let is_bench = env::args().any(|word| word == "--bench");
    let given = env::args().skip_while(|word| word != "--people").nth(1);
    let many = given.map_or(30_000, |number| number.parse().expect("a number of people"));
    let (people, releases) = if is_bench { (many, 100) } else { (1_000, 3) };
    println!(
        "{:<8} {:>3} {:>8} {:>8} {:>11} {:>13} {:>12}",
        "data", "m", "release", "loss", "value sets", "counterfeits", "query error"
    );
    for m in [4, 10] {
        series("adult", &adult::snapshots(people, releases, Churn::of(0.05), 1), m);
        series("census", &census::snapshots(people, releases, Churn::of(0.05), 1), m);
    }
}

fn series<S: Shape>(name: &str, made: &Generated<S>, m: u32) {
    let promise = MInvariance { on_ineligible: OnIneligible::Defer, ..MInvariance::new(m) };
    let file = PolicyFile {
        series: SeriesSettings::default(),
        schema: made.schema().clone(),
        promise: promise.into(),
        reasons: Reasons::default(),
        limits: ShareLimits { counterfeits: 1.0, withheld: 1.0 },
        output: Output::default(),
    };
    let mut history = History::default();
    let mut first = None;
    for (table, release) in made.tables().zip(1..) {
        let before = Before { history: &history, snapshot: None };
        let prepared = prepare(&file, &promise, &Seed([1; 32]), before, &table, "drift").expect("a release");
        if !SHOWN.contains(&release) {
            history = prepared.history;
            continue;
        }
        let loss = measure::loss(&prepared.release, &file.schema, m).leaf_share;
        let workload = Workload { queries: 300, ..Workload::default() };
        let error = measure::query_error(&prepared.release, &file.schema, &table, &workload, &mut Rng::from_number(1));
        let counterfeits = prepared.release.counterfeit_count();
        let withheld = prepared.membership.withheld.len();
        let sets = prepared.history.value_sets.len();
        println!("{name:<8} {m:>3} {release:>8} {:>8.4} {sets:>11} {counterfeits:>13} {:>12.4}", loss, error.median);
        println!(
            "{}",
            json!({
                "data": name, "m": m, "release": release, "people": table.len(), "loss": loss, "value_sets": sets,
                "counterfeits": counterfeits, "withheld": withheld, "query_error": error.median,
                "loss_ratio": loss / *first.get_or_insert(loss),
            })
        );
        history = prepared.history;
    }
}
