//! How long the limits will hold: the next releases, made from the table itself.
//!
//! People leave, change and arrive at the rates that were just seen. An arrival is a copy of somebody who just arrived.
//! The same program groups them, release after release, with limits lifted; nothing is written. It is a simulation from
//! one table. It says what to expect if the table continues to change like this, and nothing else.

use crate::measure::{loss, nine_decimals};
use crate::model::{Change, RecordKey, Rng, Row, Seed, Table, Value};
use crate::promise::series::ASSUMED_CHURN;
use crate::promise::{PolicyFile, Promised, ShareLimits};
use crate::publish::{Before, Ingredients, Rehearsal, prepare};
use schemars::JsonSchema;
use serde::Serialize;

/// The most releases that the forecast covers.
const AHEAD: usize = 8;

/// The number of simulated futures; the band lies between the best and the worst of them.
const FUTURES: u8 = 3;

/// About how many rows are grouped in total; for large tables the forecast is shorter.
const ROWS: usize = 600_000;

/// The share of people assumed to leave and to arrive, before a second release shows it.
const ASSUMED: f64 = ASSUMED_CHURN;

/// What the next releases will need, if the table continues to change as it just did.
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
    /// How many of them, from the first on, keep the limits of the policy file in the worst future.
    pub within: u32,
    /// The same in the best one.
    pub within_most: u32,
    /// Why the next release cannot be made, if it cannot.
    pub ends: Option<String>,
    /// Which change of a limit would allow all of them, if one is needed.
    pub helps: Option<String>,
}

/// An expected release: the median and the largest values over the futures.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct ForecastRelease {
    /// Counterfeits, as a share of the rows.
    pub counterfeits: f64,
    /// The most of them.
    pub counterfeits_most: f64,
    /// Withheld people, as a share of all.
    pub withheld: f64,
    /// The most of them.
    pub withheld_most: f64,
    /// The loss.
    pub loss: f64,
}

/// One future: counterfeits, withheld people and loss of each release, and why it ends.
#[derive(Default)]
struct Future {
    releases: Vec<[f64; 3]>,
    ends: Option<String>,
}

/// Forecasts from a rehearsed release; `None` for promises about views, and for tables that are too large. With `churn`, so many
/// people leave and arrive each time.
pub(super) fn forecast(
    file: &PolicyFile,
    material: &Ingredients,
    rehearsal: &Rehearsal,
    churn: Option<f64>,
) -> Option<ForecastReport> {
    let Promised::Series(promise) = &file.promise else { return None };
    let table = material.table();
    let ahead = (ROWS / (usize::from(FUTURES) * table.len().max(1))).min(AHEAD);
    if ahead == 0 || table.is_empty() {
        return None;
    }
    let seen = Pace::of(rehearsal.prepared.change, material.last(), table);
    let pace = match churn {
        Some(churn) => Pace { leave: churn, arrive: churn, assumed: true, ..seen },
        None => seen,
    };
    let limits = ShareLimits { counterfeits: 1.0, withheld: 1.0 };
    let free = PolicyFile { limits, ..file.clone() };
    let least = file.terms().least_group;
    // A separate seed, so that the forecast reveals nothing about later draws.
    let future = |number: u8| {
        let (seed, mut rng) = (Seed([7 + number; 32]), Rng::from_number(7 + u64::from(number)));
        let (mut history, mut last) = (rehearsal.prepared.history.clone(), table.clone());
        let mut future = Future::default();
        for number in 1..=ahead {
            let next = pace.next(&last, table, number as u64, &mut rng);
            let before = Before { history: &history, snapshot: Some(&last) };
            match prepare(&free, promise.inner(), &seed, before, &next, "forecast") {
                Ok(prepared) => {
                    let rows = prepared.release.row_count().max(1) as f64;
                    future.releases.push([
                        prepared.release.counterfeit_count() as f64 / rows,
                        prepared.membership.withheld.len() as f64 / next.len() as f64,
                        loss(&prepared.release, &prepared.schema, least).leaf_share,
                    ]);
                    (history, last) = (prepared.history, next);
                }
                Err(error) => {
                    future.ends = Some(error.to_string());
                    break;
                }
            }
        }
        future
    };
    let futures: Vec<Future> = (0..FUTURES).map(future).collect();
    let keeps = |release: &&[f64; 3]| release[0] <= file.limits.counterfeits && release[1] <= file.limits.withheld;
    let within = |future: &Future| future.releases.iter().take_while(keeps).count() as u32;
    let releases = middle(&futures);
    let all = releases.len() as u32;
    let (least, most) = (futures.iter().map(within).min()?, futures.iter().map(within).max()?);
    let ends = futures.iter().find_map(|future| future.ends.clone());
    let helps = (least < all && ends.is_none()).then(|| what_helps(&releases, file.limits)).flatten();
    let Pace { leave, arrive, change, assumed, .. } = pace;
    let (leave, arrive, change) = (nine_decimals(leave), nine_decimals(arrive), nine_decimals(change));
    Some(ForecastReport { leave, arrive, change, assumed, releases, within: least, within_most: most, ends, helps })
}

/// Per release, the median and the largest values over all futures, up to the end of the shortest future.
fn middle(futures: &[Future]) -> Vec<ForecastRelease> {
    let ahead = futures.iter().map(|future| future.releases.len()).min().unwrap_or(0);
    let of = |release: usize, what: usize| {
        let mut shares: Vec<f64> = futures.iter().map(|future| future.releases[release][what]).collect();
        shares.sort_unstable_by(f64::total_cmp);
        (nine_decimals(shares[shares.len() / 2]), nine_decimals(shares[shares.len() - 1]))
    };
    let release = |release: usize| {
        let ((counterfeits, counterfeits_most), (withheld, withheld_most)) = (of(release, 0), of(release, 1));
        ForecastRelease { counterfeits, counterfeits_most, withheld, withheld_most, loss: of(release, 2).0 }
    };
    (0..ahead).map(release).collect()
}

/// The limit that is reached, and what would allow all releases.
fn what_helps(releases: &[ForecastRelease], limits: ShareLimits) -> Option<String> {
    let most = |share: fn(&ForecastRelease) -> f64| releases.iter().map(share).fold(0.0, f64::max);
    let enough = |share: f64| (share * 100.0).ceil() / 100.0;
    let (counterfeits, withheld) = (most(|release| release.counterfeits_most), most(|release| release.withheld_most));
    let mut changes = Vec::new();
    if counterfeits > limits.counterfeits {
        changes.push(format!("max_share = {:.2} under [counterfeits]", enough(counterfeits)));
    }
    if withheld > limits.withheld {
        changes.push(format!("max_share = {:.2} under [withheld]", enough(withheld)));
    }
    (!changes.is_empty()).then(|| changes.join(" and "))
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
        // The last number is that of the public cells, if there are any.
        type ForecastRow = (RecordKey, Vec<u32>, Value, Option<u32>);
        let mut rows: Vec<ForecastRow> = Vec::with_capacity(now.len() + arrivals as usize);
        let public = |table: &Table, row: Row| table.public().get(row.index()).copied();
        let mut point = Vec::new();
        for new in 0..arrivals {
            let row = like();
            first.read_point(row, &mut point);
            let key = RecordKey::of(&[9; 32], format!("{number} {new}").as_bytes());
            rows.push((key, point.clone(), first.sensitive()[row.index()], public(first, row)));
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
            rows.push((now.key(row), point.clone(), value, public(now, row)));
        }
        rows.sort_unstable_by_key(|row| row.0);
        rows.dedup_by_key(|row| row.0);
        let column = |at: usize| rows.iter().map(|row| row.1[at]).collect();
        let quasi = (0..now.quasi_count()).map(column).collect();
        let (keys, values) = (rows.iter().map(|row| row.0).collect(), rows.iter().map(|row| row.2).collect());
        let public = rows.iter().filter_map(|row| row.3).collect();
        Table::new(keys, quasi, values, now.values.clone(), public, now.public_texts.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Values;

    #[test]
    fn public_cells_go_with_their_people() {
        let keys = (0..100).map(|lo| RecordKey { hi: 0, lo }).collect();
        let (ages, values) = ((0..100).collect(), vec![Value(0); 100]);
        let (public, texts) = ((0..100).map(|row| row % 2).collect(), vec![vec!["a".into()], vec!["b".into()]]);
        let table = Table::new(keys, vec![ages], values, Values::of(["v"]), public, texts);
        let pace = Pace { leave: 0.1, arrive: 0.1, change: 0.0, assumed: true, like: table.rows().collect() };
        let next = pace.next(&table, &table, 1, &mut Rng::from_number(1));
        assert_eq!((next.public().len(), &next.public_texts), (next.len(), &table.public_texts));
        let is_own = |row: Row| next.public()[row.index()] == next.quasi(0)[row.index()] % 2;
        assert!(next.len() > 90 && next.rows().all(is_own));
    }
}
