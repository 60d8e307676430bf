//! What to expect of the next release, value by value: who stays, and how many come.
//!
//! The last change of the table is the forecast of the next one. Rates depend on values, so only promises against the
//! rule reader may look at them.

use crate::grouping::buckets::crowd::Rates;

/// A value with few people is judged as if so many more had stayed at the mean rate.
const PRIOR: f64 = 10.0;

/// The share that stays if nothing is known.
const USUAL: f64 = 0.9;

/// The forecast for every value.
pub struct Outlook {
    /// The share of people with the value who still have it in the next release.
    pub stay: Vec<f64>,
    /// How many people will need a new place with the value.
    pub arrivals: Vec<f64>,
}

impl Outlook {
    /// From who of the last release is here with the same value, and who needs a place now.
    pub fn new(rates: &Rates, arriving: &[u64]) -> Outlook {
        // The value of somebody who was erased may be gone.
        let of = |counts: &[u64]| -> Vec<f64> {
            (0..arriving.len()).map(|value| counts.get(value).map_or(0.0, |&people| people as f64)).collect()
        };
        let (was, stayed) = (of(&rates.was), of(&rates.stayed));
        let (all, kept): (f64, f64) = (was.iter().sum(), stayed.iter().sum());
        let mean = (kept + USUAL * PRIOR) / (all + PRIOR);
        Outlook {
            stay: was.iter().zip(&stayed).map(|(was, stayed)| (stayed + PRIOR * mean) / (was + PRIOR)).collect(),
            arrivals: arriving.iter().map(|&people| people as f64).collect(),
        }
    }
}
