//! How far simple counts on a release are from the truth: of one attribute, and of two. For the steward: it needs the snapshot.
//!
//! | counts | asked |
//! |---|---|
//! | of one quasi attribute | every value of a category that somebody has, at most [`MOST`]; of numbers and dates as many ranges, each between the values of two people drawn by lot |
//! | of two attributes | two attributes drawn by lot, the sensitive value among them; of each what one person drawn by lot has, or a range between two people |
//!
//! The answers are those of `tacenda count`: spread evenly within regions, or by the published counts where there are some.

use crate::measure::Densities;
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

fn ask_all(release: &Release, schema: &Schema, table: &Table, rng: &mut Rng) -> CountErrors {
    if table.is_empty() {
        return CountErrors::default();
    }
    let densities = Densities::of(release, schema);
    let most = (BUDGET / release.group_count().max(1)).clamp(20, MOST + PAIRS);
    let (ones, pairs) = (MOST.min(most), PAIRS.min(most));
    let ask = |questions: Vec<Question>| errors(release, &densities, table, &questions);
    let mut all = Vec::new();
    let mut attributes = Vec::new();
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
        let found = ask(questions);
        let at = |share: f64| quantile(&found, share);
        attributes.push(AttributeError { name: quasi.name.clone(), median: at(0.5), ninth_decile: at(0.9) });
        all.extend(found);
    }
    all.sort_unstable_by(f64::total_cmp);
    let all_columns = schema.quasi.len() + usize::from(!schema.sensitive.is_empty());
    let mut two = Vec::new();
    if all_columns > 1 {
        let pair = |_| {
            let first = rng.below(all_columns as u64) as usize;
            let second = (first + 1 + rng.below(all_columns as u64 - 1) as usize) % all_columns;
            let conditions = [first, second].map(|attribute| drawn(schema, table, attribute, rng));
            Question { conditions: conditions.into() }
        };
        two = ask((0..pairs).map(pair).collect());
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
fn errors(release: &Release, densities: &Densities, table: &Table, questions: &[Question]) -> Vec<f64> {
    // Values are compared by their texts, because a release that was read back has its own numbers.
    let index = release.values.index();
    let number = |value: u32| index.get(table.values.cells(Value(value))).copied();
    let error = |question: &Question| {
        let fits = |row: usize| {
            question.conditions.iter().all(|condition| match *condition {
                Condition::Quasi(attribute, span) => span.contains(table.quasi(attribute)[row]),
                Condition::Value(value) => table.sensitive()[row].0 == value,
            })
        };
        let actual = (0..table.len()).filter(|&row| fits(row)).count();
        let in_group = |group: usize| {
            let mut people = f64::from(release.people(group));
            for condition in &question.conditions {
                people *= match *condition {
                    Condition::Quasi(attribute, span) => {
                        let region = release.region(group)[attribute];
                        let common = region.meet(span);
                        match common.is_empty() {
                            true => return 0.0,
                            false if common == region => 1.0,
                            false => densities.weight(attribute, common) / densities.weight(attribute, region),
                        }
                    }
                    Condition::Value(value) => {
                        let values = release.group_values(group);
                        let with = values.iter().filter(|&&of| Some(of) == number(value)).count();
                        with as f64 / values.len() as f64
                    }
                };
            }
            people
        };
        let estimate: f64 = (0..release.group_count()).map(in_group).sum();
        (actual > 0).then(|| (actual as f64 - estimate).abs() / actual as f64)
    };
    let mut errors: Vec<f64> = questions.par_iter().filter_map(error).collect();
    errors.sort_unstable_by(f64::total_cmp);
    errors
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = ((sorted.len() as f64 * share).ceil() as usize).saturating_sub(1);
    sorted.get(place).copied().unwrap_or(0.0)
}
