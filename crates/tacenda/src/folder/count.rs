//! Counts people in a release: an estimate, and bounds.
//!
//! The estimate spreads a group's people over its region (science A3.9): group by group, people × the share of the
//! region that the question covers × the share of rows whose sensitive value fits. If counts are published, shares are
//! weighted so that all groups together give these counts ([`Densities`]). Otherwise shares count values; for real
//! numbers, in units of the last decimal.
//!
//! The lower bound counts groups that lie wholly inside the question, as if all counterfeits were among the rows that
//! fit. The upper bound counts every group that overlaps the question. Public columns are in a separate random order
//! within a group, so nothing ties them to a sensitive value. Both bounds allow for that. They also allow for labels that
//! stand for several values ([`Fit`]), and for values that were not listed when a person came, and are listed now: such a
//! person is published as `other` and stays so.

use crate::folder::fits::{Fit, Texts, compare, parts};
use crate::folder::{Comparison, Condition, FolderError, Question, Word, parse_question};
use crate::measure::Densities;
use crate::model::{Domain, OTHER, Quasi, Release, Role, RowRule, Schema, Span, Value, counted};
use jiff::civil::Date;
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The estimate.
    pub estimate: f64,
    /// No table behind this release can have fewer among the people of the release.
    pub lowest: u64,
    /// No table behind this release can have more among the people of the release.
    pub highest: u64,
    /// How many people the release holds in all.
    pub people: u64,
    /// What the asker should know, such as a value that no row has.
    pub notes: Vec<String>,
}

/// Answers a question such as `age >= 65 and diagnosis = flu`.
pub fn count(release: &Release, schema: &Schema, question: &str) -> Result<Answer, FolderError> {
    answer(release, schema, &parse_question(question)?)
}

/// Answers a question that has been read.
pub fn answer(release: &Release, schema: &Schema, question: &Question) -> Result<Answer, FolderError> {
    let mut selection = Selection::everyone(release, schema);
    for condition in &question.conditions {
        selection.restrict(release, schema, condition)?;
    }
    let groups: Vec<usize> = (0..release.group_count()).collect();
    // Sums in a fixed order: the answer must not depend on the number of threads.
    let parts: Vec<(f64, u64, u64)> = groups
        .par_chunks(1 << 12)
        .map(|groups| {
            groups
                .iter()
                .map(|&group| selection.count(release, group))
                .fold((0.0, 0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1, sum.2 + part.2))
        })
        .collect();
    let (estimate, lowest, highest) =
        parts.iter().fold((0.0, 0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1, sum.2 + part.2));
    let people = release.row_count() as u64 - release.counterfeit_count();
    Ok(Answer { estimate, lowest, highest, people, notes: selection.notes })
}

/// What a question asks for: codes per quasi attribute, values, combinations of public cells.
struct Selection {
    /// Per attribute, the codes that fit, as ascending disjoint runs; `None` if all fit.
    codes: Vec<Option<Vec<Span>>>,
    /// Per attribute, the code of `other`, unless the question is about that itself.
    others: Vec<Option<u32>>,
    values: Vec<Fit>,
    publics: Vec<Fit>,
    densities: Densities,
    notes: Vec<String>,
}

impl Selection {
    fn everyone(release: &Release, schema: &Schema) -> Selection {
        Selection {
            codes: vec![None; schema.quasi.len()],
            others: schema.quasi.iter().map(Quasi::other).collect(),
            values: vec![Fit::ALL; release.values.len()],
            publics: vec![Fit::ALL; release.public_texts.len()],
            densities: Densities::of(release, schema),
            notes: Vec::new(),
        }
    }

    fn restrict(&mut self, release: &Release, schema: &Schema, condition: &Condition) -> Result<(), FolderError> {
        let name = &condition.column.text;
        let found = schema.order.iter().find(|&&(role, index)| schema.column_name(role, index) == name);
        match found {
            None => Err(no_column(schema, &condition.column)),
            Some(&(Role::Quasi, index)) => {
                let fit = codes(&schema.quasi[index], condition)?;
                if condition.values.iter().any(|value| value.text == OTHER) {
                    self.others[index] = None;
                }
                let codes = &mut self.codes[index];
                *codes = Some(match codes.take() {
                    None => fit,
                    Some(before) => meet(&before, &fit),
                });
                Ok(())
            }
            Some(&(Role::Sensitive, index)) => {
                let known = texts_of(release, schema, index);
                let cells: Vec<&str> = release.values.iter().map(|(_, cells)| &*cells[index]).collect();
                self.note_unknown(
                    cells.iter().flat_map(|cell| parts(cell, known.combined)).chain(cells.clone()),
                    condition,
                );
                let fits: Vec<Fit> = cells.iter().map(|cell| known.fit(cell, condition)).collect();
                self.note_labels(release, &fits, condition);
                self.values.iter_mut().zip(fits).for_each(|(fit, new)| *fit = fit.and(new));
                Ok(())
            }
            Some(&(_, index)) => {
                let cells: Vec<&str> = release.public_texts.iter().map(|cells| &*cells[index]).collect();
                self.note_unknown(cells.iter().copied(), condition);
                let fits = cells.iter().map(|cell| Texts::plain().fit(cell, condition));
                self.publics.iter_mut().zip(fits).for_each(|(fit, new)| *fit = fit.and(new));
                Ok(())
            }
        }
    }

    /// Notes if no row can have the value, because it may be a typing error.
    fn note_unknown<'t>(&mut self, texts: impl Iterator<Item = &'t str>, condition: &Condition) {
        if !matches!(condition.comparison, Comparison::Equal | Comparison::NotEqual) {
            return;
        }
        let texts: BTreeSet<&str> = texts.collect();
        for value in &condition.values {
            if !texts.iter().any(|text| compare(text, &value.text) == Ordering::Equal) {
                let hint = nearest(&value.text, texts.iter().copied());
                self.notes.push(format!("no row has {:?} in {}{hint}", value.text, condition.column.text));
            }
        }
    }

    /// Notes how many rows have a label that leaves open whether they fit.
    fn note_labels(&mut self, release: &Release, fits: &[Fit], condition: &Condition) {
        let is_open = |fit: Fit| fit.possible && !fit.sure;
        let open = release.sensitive.iter().filter(|value| is_open(fits[value.index()])).count() as u64;
        if open > 0 {
            self.notes.push(format!(
                "{} a label of {} that stands for several values: \"at least\" and \"at most\" allow for all of them",
                counted(open, "row has", "rows have"),
                condition.column.text
            ));
        }
    }

    /// Estimate, lowest and highest count in one group.
    fn count(&self, release: &Release, group: usize) -> (f64, u64, u64) {
        let (mut share, mut inside) = (1.0, true);
        for (attribute, (codes, &span)) in self.codes.iter().zip(release.region(group)).enumerate() {
            let Some(codes) = codes else { continue };
            let common: u32 = codes.iter().map(|run| run.meet(span).width()).sum();
            let may_be_other = self.others[attribute].is_some_and(|other| span.contains(other));
            if common == 0 && !may_be_other {
                return (0.0, 0, 0);
            }
            if common < span.width() {
                let weight = |span: Span| self.densities.weight(attribute, span);
                share *= codes.iter().map(|run| weight(run.meet(span))).sum::<f64>() / weight(span);
            }
            inside &= common == span.width() && !may_be_other;
        }
        let range = release.group_rows(group);
        let rows = range.len() as u64;
        let counterfeits = u64::from(release.counterfeits[group]);
        let people = rows - counterfeits;
        let values = release.sensitive[range.clone()].iter().map(|value| self.values[value.index()]);
        let publics = release.public.get(range).filter(|_| !release.public.is_empty());
        let publics = publics.unwrap_or_default().iter().map(|&public| self.publics[public as usize]);
        let values = Fitting::of(values, rows);
        let publics = if release.public.is_empty() { Fitting::all(rows) } else { Fitting::of(publics, rows) };
        let estimate = people as f64 * share * values.share(rows) * publics.share(rows);
        let certain = values.sure.saturating_sub(counterfeits) + publics.sure.saturating_sub(counterfeits);
        let lowest = if inside { certain.saturating_sub(people) } else { 0 };
        (estimate, lowest, values.possible.min(publics.possible).min(people))
    }
}

/// How many rows of a group fit.
struct Fitting {
    sure: u64,
    likely: u64,
    possible: u64,
}

impl Fitting {
    fn all(rows: u64) -> Fitting {
        Fitting { sure: rows, likely: rows, possible: rows }
    }

    fn of(fits: impl Iterator<Item = Fit>, rows: u64) -> Fitting {
        let mut fitting = Fitting { sure: 0, likely: 0, possible: 0 };
        for fit in fits {
            fitting.sure += u64::from(fit.sure);
            fitting.likely += u64::from(fit.likely);
            fitting.possible += u64::from(fit.possible);
        }
        debug_assert!(fitting.possible <= rows, "only rows fit");
        fitting
    }

    fn share(&self, rows: u64) -> f64 {
        self.likely as f64 / rows as f64
    }
}

/// What is known of the texts of a sensitive column.
fn texts_of<'a>(release: &'a Release, schema: &'a Schema, index: usize) -> Texts<'a> {
    let (coarse, combined) = (schema.sensitive[index].coarse(), schema.person.rule == RowRule::Combine);
    if coarse.is_empty() {
        return Texts { combined, ..Texts::plain() };
    }
    let cell = |value: Value| &*release.values.cells(value)[index];
    let mut held = BTreeSet::new();
    for group in 0..release.group_count() {
        let values = release.group_values(group);
        // One of the rows with a value is somebody's if there are more of them than counterfeits.
        let counterfeits = release.counterfeits[group] as usize;
        let rows = |value: Value| values.iter().filter(|&&other| cell(other) == cell(value)).count();
        let certain = values.iter().filter(|&&value| counterfeits == 0 || rows(value) > counterfeits);
        held.extend(certain.flat_map(|&value| parts(cell(value), combined)));
    }
    Texts { coarse, combined, held }
}

/// The codes that fit a condition.
fn codes(attribute: &Quasi, condition: &Condition) -> Result<Vec<Span>, FolderError> {
    let mut runs = Vec::new();
    for value in &condition.values {
        runs.push(match &attribute.domain {
            _ if value.text.is_empty() || (value.text == "NULL" && attribute.nullable) => {
                let null = attribute.null().ok_or_else(|| FolderError::NoValue {
                    position: value.position,
                    what: format!("{} is always recorded", attribute.name),
                    hint: String::new(),
                })?;
                ordered(attribute, condition, value)?;
                Span::exact(null)
            }
            Domain::Category(_) => {
                ordered(attribute, condition, value)?;
                attribute.read(&value.text).ok_or_else(|| no_label(attribute, value))?
            }
            _ => number_codes(attribute, condition.comparison, value)?,
        });
    }
    runs.retain(|run| !run.is_empty());
    runs.sort_unstable();
    let mut apart: Vec<Span> = Vec::new();
    for run in runs {
        match apart.last_mut() {
            Some(last) if run.lo <= last.hi.saturating_add(1) => last.hi = last.hi.max(run.hi),
            _ => apart.push(run),
        }
    }
    if condition.comparison == Comparison::NotEqual {
        return Ok(complement(&apart, attribute.root()));
    }
    Ok(apart)
}

/// The codes of a number or date that fit; for `!=` those that do not.
fn number_codes(attribute: &Quasi, comparison: Comparison, value: &Word) -> Result<Span, FolderError> {
    let numbers = attribute.size() - u32::from(attribute.nullable);
    let (wanted, form) = match attribute.domain {
        Domain::Date { .. } => (days(&value.text), "a date such as 2026-11-15"),
        _ => (value.text.parse::<f64>().ok().filter(|number| number.is_finite()), "a number"),
    };
    let fault = |what: String| FolderError::NoValue { position: value.position, what, hint: String::new() };
    let wanted = wanted.ok_or_else(|| fault(format!("{} is compared with {form}", attribute.name)))?;
    let below = first_code(numbers, |code| attribute.bound(code) >= wanted);
    let up_to = first_code(numbers, |code| attribute.bound(code) > wanted);
    let (lo, end) = match comparison {
        Comparison::Less => (0, below),
        Comparison::AtMost => (0, up_to),
        Comparison::More => (up_to, numbers),
        Comparison::AtLeast => (below, numbers),
        Comparison::Equal | Comparison::NotEqual if below == up_to => {
            let (mut first, mut last) = (String::new(), String::new());
            attribute.print_bound(0, &mut first);
            attribute.print_bound(numbers - 1, &mut last);
            return Err(fault(format!("{} has values from {first} to {last}; this value is outside", attribute.name)));
        }
        Comparison::Equal | Comparison::NotEqual => (below, up_to),
    };
    Ok(if lo < end { Span::new(lo, end - 1) } else { Span::EMPTY })
}

/// The first code for which `reached` holds, `numbers` if none.
fn first_code(numbers: u32, reached: impl Fn(u32) -> bool) -> u32 {
    let (mut lo, mut hi) = (0, numbers);
    while lo < hi {
        let middle = lo + (hi - lo) / 2;
        if reached(middle) {
            hi = middle;
        } else {
            lo = middle + 1;
        }
    }
    lo
}

/// Days since 1970-01-01.
fn days(text: &str) -> Option<f64> {
    let date: Date = text.parse().ok()?;
    Some(f64::from(date.since(Date::constant(1970, 1, 1)).ok()?.get_days()))
}

/// Labels and missing values are equal or not; they have no order.
fn ordered(attribute: &Quasi, condition: &Condition, value: &Word) -> Result<(), FolderError> {
    if matches!(condition.comparison, Comparison::Equal | Comparison::NotEqual) {
        return Ok(());
    }
    let what = format!("{} can only be compared with = != and in (…) here", attribute.name);
    Err(FolderError::NoValue { position: value.position, what, hint: String::new() })
}

fn meet(a: &[Span], b: &[Span]) -> Vec<Span> {
    let all = a.iter().flat_map(|&a| b.iter().map(move |&b| a.meet(b)));
    let mut runs: Vec<Span> = all.filter(|run| !run.is_empty()).collect();
    runs.sort_unstable();
    runs
}

fn complement(runs: &[Span], root: Span) -> Vec<Span> {
    let mut rest = Vec::new();
    let mut next = root.lo;
    for run in runs {
        if next < run.lo {
            rest.push(Span::new(next, run.lo - 1));
        }
        next = run.hi + 1;
    }
    if next <= root.hi {
        rest.push(Span::new(next, root.hi));
    }
    rest
}

fn no_column(schema: &Schema, column: &Word) -> FolderError {
    let mut hint = nearest(&column.text, schema.published_columns());
    if hint.is_empty() {
        let names: Vec<&str> = schema.published_columns().collect();
        hint = format!("; there are {}", names.join(", "));
    }
    FolderError::NoColumn { position: column.position, column: column.text.clone(), hint }
}

fn no_label(attribute: &Quasi, value: &Word) -> FolderError {
    let rows = attribute.hierarchy().map(|tree| tree.rows()).unwrap_or_default();
    let hint = nearest(&value.text, rows.iter().flatten().map(String::as_str).filter(|&name| name != "*"));
    let what = format!("{} has no value or group {:?}", attribute.name, value.text);
    FolderError::NoValue { position: value.position, what, hint }
}

/// `; did you mean …?` where something is near. To one or two letters everything is near.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> String {
    let near = names
        .map(|name| (strsim::damerau_levenshtein(&wanted.to_lowercase(), &name.to_lowercase()), name))
        .min_by_key(|&(distance, name)| (distance, name));
    let length = wanted.chars().count();
    match near {
        Some((distance, name)) if length > 2 && distance <= length.div_ceil(3) => format!("; did you mean {name}?"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::samples::{every_kind, releases, table_3a, with_sets};
    use proptest::prelude::*;

    fn ask(question: &str) -> Answer {
        let (release, schema) = table_3a();
        count(&release, &schema, question).unwrap()
    }

    fn refused(question: &str) -> String {
        let (release, schema) = table_3a();
        let error = count(&release, &schema, question).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        error.to_string()
    }

    /// science G16.
    #[test]
    fn table_3a_gives_the_numbers_worked_out_by_hand() {
        assert_eq!(ask("").estimate, 11.0);
        assert_eq!(ask("age >= 20 and age <= 24 and disease = dyspepsia").estimate, 0.5);
        assert!((ask("age >= 20 and age <= 24 and disease = gastritis").estimate - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn bounds_allow_for_counterfeits_and_for_cut_groups() {
        let bounds = |question: &str| {
            let answer = ask(question);
            (answer.lowest, answer.highest)
        };
        assert_eq!(bounds(""), (11, 11));
        // Group 1 lies inside, and its one dyspepsia row may be the counterfeit.
        assert_eq!(bounds("age < 23 and disease = dyspepsia"), (0, 1));
        assert_eq!(bounds("age < 23"), (1, 1));
        // Group 2 is cut.
        assert_eq!(bounds("age >= 20 and age <= 24"), (1, 3));
        // Groups 2 to 6 have 2, 2, 2, 1 and 2 such rows; one of group 3 may be the counterfeit.
        assert_eq!(bounds("disease in (flu, gastritis)"), (8, 9));
        assert_eq!(bounds("disease != flu and age > 119"), (0, 0));
    }

    #[test]
    fn conditions_on_one_column_narrow_each_other() {
        assert_eq!(ask("age >= 23 and age < 26 and age != 24").estimate, 2.0 * 2.0 / 3.0);
        assert_eq!(ask("age in (23, 24, 25)").estimate, ask("age >= 23 and age <= 25").estimate);
        assert_eq!(ask("age >= 24.5 and age < 26").estimate, 2.0 / 3.0);
    }

    #[test]
    fn slips_are_named_with_the_nearest_word() {
        assert_eq!(refused("aeg > 3"), "position 1 of the question: there is no column \"aeg\"; did you mean age?");
        assert_eq!(
            refused("group_id = 1"),
            "position 1 of the question: there is no column \"group_id\"; there are age, zip, disease"
        );
        assert_eq!(refused("age > old"), "position 7 of the question: age is compared with a number");
        assert_eq!(
            refused("age = 120"),
            "position 7 of the question: age has values from 0 to 119; this value is outside"
        );
        assert_eq!(refused("age = ''"), "position 7 of the question: age is always recorded");
        assert_eq!(ask("disease = fluu").notes, ["no row has \"fluu\" in disease; did you mean flu?"]);
    }

    #[test]
    fn labels_groups_dates_and_missing_values_can_be_asked_for() {
        let schema = every_kind();
        let runs = |question: &str| {
            let question = parse_question(question).unwrap();
            let condition = &question.conditions[0];
            let attribute = schema.quasi.iter().find(|quasi| quasi.name == condition.column.text).unwrap();
            codes(attribute, condition).map_err(|error| error.to_string())
        };
        assert_eq!(runs("place = north"), Ok(vec![Span::new(0, 1)]));
        assert_eq!(runs("place != north"), Ok(vec![Span::new(2, 4)]));
        assert_eq!(runs("place in (a, e, '')"), Ok(vec![Span::exact(0), Span::new(3, 4)]));
        assert_eq!(runs("born >= 1970-01-02"), Ok(vec![Span::new(6, 44)]));
        assert_eq!(runs("born = NULL"), Ok(vec![Span::exact(45)]));
        assert_eq!(runs("born < 1900-01-01"), Ok(vec![]));
        assert_eq!(runs("'weight, kg' < 0.29"), Ok(vec![Span::new(0, 17)]));
        assert_eq!(runs("'weight, kg' = 0.3"), Ok(vec![Span::exact(18)]));
        assert_eq!(
            runs("born = 15.11.2026").unwrap_err(),
            "position 8 of the question: born is compared with a date such as 2026-11-15"
        );
        assert_eq!(
            runs("place < north").unwrap_err(),
            "position 9 of the question: place can only be compared with = != and in (…) here"
        );
        assert_eq!(
            runs("place = nort").unwrap_err(),
            "position 9 of the question: place has no value or group \"nort\"; did you mean north?"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// science E1-28; and the estimate is possible.
        #[test]
        fn estimates_grow_with_the_question_and_stay_possible(
            (release, policy) in prop_oneof![releases(every_kind()), releases(with_sets())],
            age in -3i32..9, more in 0i32..5, text in "(flu|0|=1\\+1)",
        ) {
            let ask = |question: &str| count(&release, &policy.schema, question).unwrap();
            let everyone = ask("");
            let people = release.row_count() as u64 - release.counterfeit_count();
            prop_assert!((everyone.estimate - people as f64).abs() < 1e-9);
            prop_assert_eq!((everyone.lowest, everyone.highest, everyone.people), (people, people, people));
            let narrow = format!("age >= {age} and diagnosis = '{text}'");
            let wide = format!("age >= {} and diagnosis = '{text}'", age - more);
            let both = format!("{narrow} and 'ward \"A\"' = flu");
            let [leaf, node] = ["place = a", "place = north"].map(ask);
            prop_assert!(leaf.estimate <= node.estimate + 1e-9 && leaf.highest <= node.highest);
            let [narrow, wide, both] = [narrow, wide, both].map(|question| ask(&question));
            prop_assert!(narrow.estimate <= wide.estimate + 1e-9 && both.estimate <= narrow.estimate + 1e-9);
            for answer in [&narrow, &wide, &both] {
                prop_assert!(answer.lowest as f64 <= answer.estimate + 1e-9);
                prop_assert!(answer.estimate <= answer.highest as f64 + 1e-9 && answer.highest <= people);
            }
        }
    }
}
