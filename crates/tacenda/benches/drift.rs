//! Does a long series get worse? A hundred releases with 5 % churn: loss, value sets, counterfeits, and
//! the error of count queries at some of them.
//!
//! `cargo bench --bench drift` prints JSON lines and a table. `-- --people 200000` takes more people, `-- --fine` spends
//! more work on close groups, and `-- --withhold` lets people wait where one of them saves many counterfeits, as drafts do.
//! As `cargo test` runs it, a small and short series shows that it works.

use serde_json::json;
use std::env;
use tacenda::made_up::{Churn, Generated, Shape, adult, census};
use tacenda::measure;
use tacenda::measure::Workload;
use tacenda::model::{History, Rng, Seed};
use tacenda::promise::{
    CutEffort, MInvariance, OnIneligible, Output, PolicyFile, Reasons, SeriesSettings, ShareLimits, Surplus,
};
use tacenda::publish::{Before, prepare};

/// The releases that are measured.
const SHOWN: [u32; 7] = [1, 2, 3, 10, 20, 50, 100];

fn main() {
    let is_given = |wanted: &str| env::args().any(|word| word == wanted);
    let is_bench = is_given("--bench");
    let effort = if is_given("--fine") { CutEffort::Fine } else { CutEffort::Fast };
    let surplus = if is_given("--withhold") { Surplus::Withhold } else { Surplus::Counterfeit };
    let given = env::args().skip_while(|word| word != "--people").nth(1);
    let many = given.map_or(30_000, |number| number.parse().expect("a number of people"));
    let (people, releases) = if is_bench { (many, 100) } else { (1_000, 3) };
    println!(
        "{:<8} {:>3} {:>8} {:>8} {:>11} {:>13} {:>9} {:>12}",
        "data", "m", "release", "loss", "value sets", "counterfeits", "withheld", "query error"
    );
    for m in [4, 10] {
        let promise = MInvariance { on_ineligible: OnIneligible::Defer, effort, surplus, ..MInvariance::new(m) };
        series("adult", &adult::snapshots(people, releases, Churn::of(0.05), 1), promise);
        series("census", &census::snapshots(people, releases, Churn::of(0.05), 1), promise);
    }
}

fn series<S: Shape>(name: &str, made: &Generated<S>, promise: MInvariance) {
    let m = promise.m;
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
        println!(
            "{name:<8} {m:>3} {release:>8} {loss:>8.4} {sets:>11} {counterfeits:>13} {withheld:>9} {:>12.4}",
            error.median
        );
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
