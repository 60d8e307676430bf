//! How far simple counts on a release are from the truth: of one attribute, and of two. For the steward: it needs the snapshot.
//!
//! | counts | asked |
//! |---|---|
//! | of one quasi attribute | every value of a category that somebody has, at most [`MOST`]; of numbers and dates as many ranges, each between the values of two people drawn by lot |
//! | of two attributes | two attributes drawn by lot, the sensitive value among them; of each what one person drawn by lot has, or a range between two people |
//!
//! The answers are those of `tacenda count`: spread evenly within regions, or by the published counts where there are some.

use crate::measure::density::{Densities, GroupShares};
use crate::model::{Release, Rng, Schema, Span, Table, Value, percent};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many counts of one attribute are asked at most.
const MOST: usize = 200;

/// How many counts of two attributes are asked.
const PAIRS: usize = 500;

/// The limit of work: groups times questions.
const BUDGET: usize = 400_000_000;

/// How far simple counts are off, as shares of the true answers. Medians.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CountErrors {
    /// Counts of one attribute, all attributes together.
    pub one: f64,
    /// Counts of two attributes.
    pub two: f64,
    /// Both, as if no counts were published; only if some are.
    pub without_counts: Option<(f64, f64)>,
    /// Counts of one attribute, one attribute at a time.
    pub attributes: Vec<AttributeError>,
}

/// How far counts of one attribute are off.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AttributeError {
    /// The column.
    pub name: String,
    /// The median error.
    pub median: f64,
    /// Nine in ten counts are off by at most this.
    pub ninth_decile: f64,
}

impl CountErrors {
    /// In one line, with the three columns that are off most.
    pub fn line(&self) -> String {
        let mut columns: Vec<&AttributeError> = self.attributes.iter().collect();
        columns.sort_by(|a, b| b.median.total_cmp(&a.median));
        let named = columns.iter().take(3).map(|column| format!("{} {}", column.name, percent(column.median)));
        let named: Vec<String> = named.collect();
        let without = self.without_counts.map_or(String::new(), |(one, two)| {
            format!("; without the published counts {} and {}", percent(one), percent(two))
        });
        format!(
            "median error {} for counts of one quasi column ({}), {} for counts of two columns{without}",
            percent(self.one),
            named.join(", "),
            percent(self.two)
        )
    }
}

/// Asks the release simple counts and compares with `table`, the snapshot it was made from.
pub fn count_errors(release: &Release, schema: &Schema, table: &Table, rng: &mut Rng) -> CountErrors {
    let seed = rng.below(u64::MAX);
    let asked = |release: &Release| ask_all(release, schema, table, &mut Rng::from_number(seed));
    let errors = asked(release);
    let without_counts = release.counts.as_ref().map(|_| {
        let even = asked(&Release { counts: None, ..release.clone() });
        (even.one, even.two)
    });
    CountErrors { without_counts, ..errors }
}

/// [`CountErrors::one`] alone, the same number in a small part of the time.
pub fn count_error_of_one(release: &Release, schema: &Schema, table: &Table, rng: &mut Rng) -> f64 {
    let seed = rng.below(u64::MAX);
    let densities = Densities::of(release, schema);
    let regions = densities.of_groups(release, 0..release.group_count());
    quantile(&ask_ones(release, schema, table, &regions, &mut Rng::from_number(seed)).0, 0.5)
}

/// How many questions of a kind are asked, at most as many as `wanted`.
fn affordable(release: &Release, wanted: usize) -> usize {
    wanted.min((BUDGET / release.group_count().max(1)).clamp(20, MOST + PAIRS))
}

/// Counts of one attribute: the errors of all, ascending, and of each attribute.
fn ask_ones(
    release: &Release,
    schema: &Schema,
    table: &Table,
    regions: &GroupShares,
    rng: &mut Rng,
) -> (Vec<f64>, Vec<AttributeError>) {
    let (mut all, mut attributes) = (Vec::new(), Vec::new());
    if table.is_empty() {
        return (all, attributes);
    }
    let ones = affordable(release, MOST);
    for (attribute, quasi) in schema.quasi.iter().enumerate() {
        let condition = |of: Condition| Question { conditions: vec![of] };
        let questions: Vec<Question> = match quasi.hierarchy() {
            Some(_) => {
                let mut codes: Vec<u32> = table.quasi(attribute).to_vec();
                codes.sort_unstable();
                codes.dedup();
                rng.shuffle(&mut codes);
                let one = |&code: &u32| condition(Condition::Quasi(attribute, Span::exact(code)));
                codes.iter().take(ones).map(one).collect()
            }
            None => (0..ones).map(|_| condition(drawn(schema, table, attribute, rng))).collect(),
        };
        let found = errors(release, regions, table, &questions);
        let at = |share: f64| quantile(&found, share);
        attributes.push(AttributeError { name: quasi.name.clone(), median: at(0.5), ninth_decile: at(0.9) });
        all.extend(found);
    }
    all.sort_unstable_by(f64::total_cmp);
    (all, attributes)
}

fn ask_all(release: &Release, schema: &Schema, table: &Table, rng: &mut Rng) -> CountErrors {
    if table.is_empty() {
        return CountErrors::default();
    }
    let densities = Densities::of(release, schema);
    let regions = densities.of_groups(release, 0..release.group_count());
    let (all, attributes) = ask_ones(release, schema, table, &regions, rng);
    let all_columns = schema.quasi.len() + usize::from(!schema.sensitive.is_empty());
    let mut two = Vec::new();
    if all_columns > 1 {
        let pair = |_| {
            let first = rng.below(all_columns as u64) as usize;
            let second = (first + 1 + rng.below(all_columns as u64 - 1) as usize) % all_columns;
            let conditions = [first, second].map(|attribute| drawn(schema, table, attribute, rng));
            Question { conditions: conditions.into() }
        };
        let questions: Vec<Question> = (0..affordable(release, PAIRS)).map(pair).collect();
        two = errors(release, &regions, table, &questions);
    }
    CountErrors { one: quantile(&all, 0.5), two: quantile(&two, 0.5), without_counts: None, attributes }
}

/// What must hold for everyone who is counted.
struct Question {
    conditions: Vec<Condition>,
}

#[derive(Clone, Copy)]
enum Condition {
    /// A quasi attribute lies in a span.
    Quasi(usize, Span),
    /// The sensitive value has this number in the table.
    Value(u32),
}

/// A random condition on an attribute, from values that people have. An index past the last quasi attribute means the
/// sensitive value.
fn drawn(schema: &Schema, table: &Table, attribute: usize, rng: &mut Rng) -> Condition {
    let mut somebody = || rng.below(table.len() as u64) as usize;
    let Some(quasi) = schema.quasi.get(attribute) else { return Condition::Value(table.sensitive()[somebody()].0) };
    let one = table.quasi(attribute)[somebody()];
    let other = table.quasi(attribute)[somebody()];
    let is_value = quasi.hierarchy().is_some() || [one, other].iter().any(|&code| quasi.null() == Some(code));
    Condition::Quasi(attribute, if is_value { Span::exact(one) } else { Span::new(one.min(other), one.max(other)) })
}

/// The errors of all questions that somebody fits, ascending.
fn errors(release: &Release, regions: &GroupShares, table: &Table, questions: &[Question]) -> Vec<f64> {
    let people: Vec<f64> = (0..release.group_count()).map(|group| f64::from(release.people(group))).collect();
    // Values are compared by their texts, because a release that was read back has its own numbers.
    let index = release.values.index();
    let error = |question: &Question| {
        let actual = actual(table, question);
        if actual == 0 {
            return None;
        }
        let mut shares = people.clone();
        for condition in &question.conditions {
            match *condition {
                Condition::Quasi(attribute, span) => regions.narrow(attribute, span, &mut shares),
                Condition::Value(value) => {
                    let asked = index.get(table.values.cells(Value(value))).copied();
                    for (group, share) in shares.iter_mut().enumerate().filter(|(_, share)| **share > 0.0) {
                        let values = release.group_values(group);
                        let with = values.iter().filter(|&&of| Some(of) == asked).count();
                        *share *= with as f64 / values.len() as f64;
                    }
                }
            }
        }
        let estimate: f64 = shares.iter().sum();
        Some((actual as f64 - estimate).abs() / actual as f64)
    };
    let mut errors: Vec<f64> = questions.par_iter().filter_map(error).collect();
    errors.sort_unstable_by(f64::total_cmp);
    errors
}

/// How many people of the table fit, column by column.
fn actual(table: &Table, question: &Question) -> usize {
    let mut fits = vec![true; table.len()];
    for condition in &question.conditions {
        match *condition {
            Condition::Quasi(attribute, span) => {
                let codes = fits.iter_mut().zip(table.quasi(attribute));
                codes.for_each(|(fit, &code)| *fit &= span.contains(code));
            }
            Condition::Value(asked) => {
                let values = fits.iter_mut().zip(table.sensitive());
                values.for_each(|(fit, value)| *fit &= value.0 == asked);
            }
        }
    }
    fits.iter().filter(|&&fit| fit).count()
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = ((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1);
    sorted.get(place).copied().unwrap_or(0.0)
}
