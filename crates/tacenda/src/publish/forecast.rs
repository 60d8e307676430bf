//! How long the limits will hold: the next releases, made from the table itself.
//!
//! People leave, change and arrive at the rates that were just seen, and whoever arrives is like somebody who just
//! arrived. The same program groups them, release after release, with limits lifted; nothing is written. It is a
//! simulation from one table: it says what to expect while the table goes on like this, and nothing else.

use crate::measure::{loss, nine_decimals};
use crate::model::{Change, RecordKey, Rng, Row, Seed, Table, Value};
use crate::promise::{PolicyFile, Promised, ShareLimits};
use crate::publish::{Before, Ingredients, Rehearsal, prepare};
use schemars::JsonSchema;
use serde::Serialize;

/// How many releases are looked ahead, at most.
const AHEAD: usize = 8;

/// How many rows are grouped in all, about: large tables are followed less far.
const ROWS: usize = 400_000;

/// The share that is assumed to leave, and to arrive, before a second release shows it.
const ASSUMED: f64 = 0.1;

/// What the next releases will need, if the table goes on as it just did.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ForecastReport {
    /// The share of people who leave each time.
    pub leave: f64,
    /// Arrivals each time, as a share of the people.
    pub arrive: f64,
    /// The share of people whose sensitive value changes each time.
    pub change: f64,
    /// Whether these shares were assumed, because there is one table only.
    pub assumed: bool,
    /// The releases, the next one first.
    pub releases: Vec<ForecastRelease>,
    /// How many of them keep the limits of the policy file, from the first on.
    pub within: u32,
    /// Why the next one cannot be made at all, if it cannot.
    pub ends: Option<String>,
}

/// A release that is to be expected.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ForecastRelease {
    /// Counterfeits, as a share of the rows.
    pub counterfeits: f64,
    /// Withheld people, as a share of all.
    pub withheld: f64,
    /// The loss.
    pub loss: f64,
}

/// Looks ahead from a rehearsed release; `None` for promises about views, and for tables that are too large to follow.
pub(super) fn forecast(file: &PolicyFile, material: &Ingredients, rehearsal: &Rehearsal) -> Option<ForecastReport> {
    let Promised::Series(promise) = &file.promise else { return None };
    let table = material.table();
    let ahead = (ROWS / table.len().max(1)).min(AHEAD);
    if ahead == 0 || table.is_empty() {
        return None;
    }
    let pace = Pace::of(rehearsal.prepared.change, material.last(), table);
    let limits = ShareLimits { counterfeits: 1.0, withheld: 1.0 };
    let free = PolicyFile { limits, ..file.clone() };
    // A seed of its own: what is foreseen shows nothing of what will be drawn.
    let (seed, mut rng) = (Seed([7; 32]), Rng::from_number(7));
    let (mut history, mut last) = (rehearsal.prepared.history.clone(), table.clone());
    let (mut releases, mut ends) = (Vec::new(), None);
    for number in 1..=ahead {
        let next = pace.next(&last, table, number as u64, &mut rng);
        let before = Before { history: &history, snapshot: Some(&last) };
        match prepare(&free, promise.inner(), &seed, before, &next, "forecast") {
            Ok(prepared) => {
                let rows = prepared.release.row_count().max(1) as f64;
                let least = file.terms().least_group;
                releases.push(ForecastRelease {
                    counterfeits: nine_decimals(prepared.release.counterfeit_count() as f64 / rows),
                    withheld: nine_decimals(prepared.membership.withheld.len() as f64 / next.len() as f64),
                    loss: nine_decimals(loss(&prepared.release, &prepared.schema, least).leaf_share),
                });
                (history, last) = (prepared.history, next);
            }
            Err(error) => {
                ends = Some(error.to_string());
                break;
            }
        }
    }
    let keeps = |release: &&ForecastRelease| {
        release.counterfeits <= file.limits.counterfeits && release.withheld <= file.limits.withheld
    };
    let within = releases.iter().take_while(keeps).count() as u32;
    let Pace { leave, arrive, change, assumed, .. } = pace;
    let (leave, arrive, change) = (nine_decimals(leave), nine_decimals(arrive), nine_decimals(change));
    Some(ForecastReport { leave, arrive, change, assumed, releases, within, ends })
}

/// How fast a table changes, and who arrives.
struct Pace {
    leave: f64,
    arrive: f64,
    change: f64,
    assumed: bool,
    /// Rows of the table that are like those who will arrive.
    like: Vec<Row>,
}

impl Pace {
    fn of(change: Change, last: Option<&Table>, table: &Table) -> Pace {
        let everyone: Vec<Row> = table.rows().collect();
        let Some(last) = last.filter(|last| !last.is_empty()) else {
            return Pace { leave: ASSUMED, arrive: ASSUMED, change: 0.0, assumed: true, like: everyone };
        };
        let new: Vec<Row> = table.rows().filter(|&row| last.find(table.key(row)).is_none()).collect();
        let (before, now) = (last.len() as f64, table.len() as f64);
        Pace {
            leave: f64::from(change.left) / before,
            arrive: new.len() as f64 / now,
            change: f64::from(change.sensitive_changed) / now,
            assumed: false,
            like: if new.is_empty() { everyone } else { new },
        }
    }

    /// The table after one more period. `first` is the table whose rows `like` names.
    fn next(&self, now: &Table, first: &Table, number: u64, rng: &mut Rng) -> Table {
        let mut like = || self.like[rng.below(self.like.len() as u64) as usize];
        let arrivals = (self.arrive * first.len() as f64).round() as u64;
        let mut rows: Vec<(RecordKey, Vec<u32>, Value)> = Vec::with_capacity(now.len() + arrivals as usize);
        let mut point = Vec::new();
        for new in 0..arrivals {
            let row = like();
            first.read_point(row, &mut point);
            let key = RecordKey::of(&[9; 32], format!("{number} {new}").as_bytes());
            rows.push((key, point.clone(), first.sensitive()[row.index()]));
        }
        for row in now.rows() {
            let fate = rng.unit();
            if fate < self.leave {
                continue;
            }
            now.read_point(row, &mut point);
            let changes = fate < self.leave + self.change;
            let value = match changes {
                true => first.sensitive()[self.like[rng.below(self.like.len() as u64) as usize].index()],
                false => now.sensitive()[row.index()],
            };
            rows.push((now.key(row), point.clone(), value));
        }
        rows.sort_unstable_by_key(|row| row.0);
        rows.dedup_by_key(|row| row.0);
        let column = |at: usize| rows.iter().map(|row| row.1[at]).collect();
        let quasi = (0..now.quasi_count()).map(column).collect();
        let (keys, values) = (rows.iter().map(|row| row.0).collect(), rows.iter().map(|row| row.2).collect());
        Table::new(keys, quasi, values, now.values.clone(), Vec::new(), Vec::new())
    }
}
