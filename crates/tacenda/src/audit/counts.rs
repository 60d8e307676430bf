//! Attacks the published counts of quasi values: those of a new release and those of all releases before, together.
//!
//! A reader who knows everyone's quasi-identifiers and who is in which release can compute the counts, and learns
//! nothing (science A3.13). These checks are for readers who know less. Every count and every change since any earlier
//! release must be 0 or at least the threshold of the promise. Cells must be the same in all releases. And together
//! with the number of people, which is public, no count may be confined to between 1 and that threshold.
//!
//! The counts are computed again from the private table, person by person, independently of how they were made.

use crate::audit::{Evidence, Fault, Faults};
use crate::model::{CountedColumn, LEAST_UNIT, PeopleCounts, Release, Schema, Span, Terms, people_by_code};
use std::collections::BTreeMap;

/// What is wrong with the counts of a release; nothing where there are none.
pub(crate) fn check(terms: &Terms, evidence: &Evidence<'_>) -> Faults {
    let people = evidence.membership.rows.len() as u64 - evidence.release.counterfeit_count();
    let truth = |attribute: usize, size: u32| truth(evidence, attribute, size);
    check_counts(terms, evidence.schema, &evidence.history.counts, evidence.release, people, &truth)
}

/// The same for so many people. `truth` says how many of them have each code of an attribute of that size.
pub(super) fn check_counts(
    terms: &Terms,
    schema: &Schema,
    before: &[(u32, PeopleCounts)],
    release: &Release,
    people: u64,
    truth: &dyn Fn(usize, u32) -> Vec<(u32, u64)>,
) -> Faults {
    let mut faults = Faults::default();
    let Some(counts) = &release.counts else { return faults };
    let Some(least) = terms.counts_from else {
        faults.people(Fault::CountsNotCovered, people);
        return faults;
    };
    for column in &counts.columns {
        let Some((attribute, quasi)) = schema.quasi_named(&column.name) else {
            faults.people(Fault::CountCellsMoved, people);
            continue;
        };
        let cells = quasi.cells(column.rule);
        let is_cell = |(span, _): &(Span, u64)| cells.binary_search(span).is_ok();
        let same_rule =
            |(_, past): &(u32, PeopleCounts)| past.column(&column.name).is_none_or(|past| past.rule == column.rule);
        if !column.cells.iter().all(is_cell)
            || !column.cells.is_sorted_by(|a, b| a.0 < b.0)
            || !before.iter().all(same_rule)
        {
            faults.people(Fault::CountCellsMoved, people);
            continue;
        }
        let truth = truth(attribute, quasi.size());
        if let Some(off) = furthest(column, &truth, &cells, counts.unit) {
            faults.people(Fault::CountWrong, off);
        }
        let few =
            told_apart(column, before, least.max(LEAST_UNIT)) + confined(column, &cells, people, counts.unit, least);
        if few > 0 {
            faults.people(Fault::CountTooFine, few);
        }
    }
    faults
}

/// How many published people have each code, ascending.
fn truth(evidence: &Evidence<'_>, attribute: usize, size: u32) -> Vec<(u32, u64)> {
    let codes = evidence.table.quasi(attribute);
    let rows = 0..evidence.release.row_count();
    let people = rows.filter_map(|row| evidence.membership.person(row));
    let truth: Vec<u32> = people.map(|person| codes[person.index()]).collect();
    people_by_code(truth.into_iter(), size)
}

/// By how many people a running total is off, if it is not the true total rounded to the nearest multiple of the unit.
fn furthest(column: &CountedColumn, truth: &[(u32, u64)], cells: &[Span], unit: u32) -> Option<u64> {
    let shown: BTreeMap<Span, u64> = column.cells.iter().copied().collect();
    let (mut said, mut actual) = (0u64, 0u64);
    let mut furthest = None;
    let mut truth = truth.iter().peekable();
    for cell in cells {
        while let Some((_, people)) = truth.next_if(|(code, _)| *code <= cell.hi) {
            actual += people;
        }
        said += shown.get(cell).copied().unwrap_or(0);
        let off = actual.abs_diff(said);
        // Half a unit is rounded up, never down.
        if 2 * off > u64::from(unit) || (2 * off == u64::from(unit) && said < actual) {
            furthest = furthest.max(Some(off));
        }
    }
    furthest
}

/// The people in counts and changes that are neither 0 nor at least `least`: in this release, and between it and every
/// earlier one.
fn told_apart(column: &CountedColumn, before: &[(u32, PeopleCounts)], least: u32) -> u64 {
    let few = |number: u64| if number < u64::from(least) { number } else { 0 };
    let mut found: u64 = column.cells.iter().map(|&(_, people)| few(people)).sum();
    for past in before.iter().filter_map(|(_, past)| past.column(&column.name)) {
        let mut both: BTreeMap<Span, (u64, u64)> = BTreeMap::new();
        column.cells.iter().for_each(|&(cell, people)| both.entry(cell).or_default().0 = people);
        for &(cell, people) in &past.cells {
            // A domain that has grown since then cut this cell short at its end.
            let at = column.cells.partition_point(|(now, _)| now.hi < cell.lo);
            let grown = column.cells.get(at).map(|(now, _)| *now).filter(|now| cell.subset(*now));
            both.entry(grown.unwrap_or(cell)).or_default().1 = people;
        }
        // The earlier promise may have had a lower threshold.
        found += both.values().map(|&(now, then)| few_change(now, then, LEAST_UNIT)).sum::<u64>();
    }
    found
}

fn few_change(now: u64, then: u64, least: u32) -> u64 {
    let change = now.abs_diff(then);
    if change < u64::from(least) { change } else { 0 }
}

/// The people in cells for which the counts and the number of people leave only 1 to `least` − 1.
fn confined(column: &CountedColumn, cells: &[Span], people: u64, unit: u32, least: u32) -> u64 {
    let shown: BTreeMap<Span, u64> = column.cells.iter().copied().collect();
    let (below, above) = (u64::from(unit / 2), u64::from((unit - 1) / 2));
    // The range of each running total: what was shown, plus or minus the rounding. The last total is known.
    let mut ranges = vec![(0, 0)];
    let mut said = 0;
    for cell in cells {
        said += shown.get(cell).copied().unwrap_or(0);
        ranges.push((said.saturating_sub(below), said + above));
    }
    if let Some(last) = ranges.last_mut() {
        *last = (people, people);
    }
    // Running totals never fall.
    for at in 1..ranges.len() {
        ranges[at].0 = ranges[at].0.max(ranges[at - 1].0);
    }
    for at in (1..ranges.len()).rev() {
        ranges[at - 1].1 = ranges[at - 1].1.min(ranges[at].1);
    }
    let possible =
        ranges.windows(2).map(|pair| (pair[1].0.saturating_sub(pair[0].1), pair[1].1 - pair[0].0.min(pair[1].1)));
    possible.filter(|&(fewest, most)| fewest > 0 && most < u64::from(least)).map(|(fewest, _)| fewest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        CellRule, Domain, History, Membership, Quasi, RecordKey, Regions, Release, Row, Schema, Scope, Sensitive,
        Table, Value, Values,
    };

    /// The ages of people, and the counts published in bands of ten. The last person is withheld.
    struct Case {
        ages: Vec<u32>,
        shown: Vec<(u32, u64)>,
        past: Vec<Vec<(u32, u64)>>,
        unit: u32,
        covered: bool,
    }

    fn counts(unit: u32, shown: &[(u32, u64)]) -> PeopleCounts {
        let cells = shown.iter().map(|&(lo, people)| (Span::new(lo, lo + 9), people)).collect();
        PeopleCounts { unit, columns: vec![CountedColumn { name: "age".into(), rule: CellRule::Bands(10), cells }] }
    }

    impl Case {
        fn found(&self) -> Vec<Fault> {
            let schema =
                Schema::new("", vec![Quasi::new("age", Domain::Integer { lo: 0, hi: 50 })], vec![Sensitive::open("x")]);
            let people = self.ages.len();
            let keys = (0..people as u64).map(|lo| RecordKey { hi: 0, lo }).collect();
            let values = Values::of(["a"]);
            let table = Table::new(
                keys,
                vec![self.ages.clone()],
                vec![Value(0); people],
                values.clone(),
                Vec::new(),
                Vec::new(),
            );
            let mut regions = Regions::new(1);
            regions.push(&[Span::new(0, 49)]);
            let published = people as u32 - 1;
            let release = Release {
                number: self.past.len() as u32 + 1,
                // One counterfeit.
                ends: vec![published + 1],
                regions,
                sensitive: vec![Value(0); people],
                counterfeits: vec![1],
                values,
                counts: Some(counts(self.unit, &self.shown)),
                ..Release::default()
            };
            let membership = Membership {
                rows: (0..published).chain([Membership::COUNTERFEIT]).collect(),
                policy_groups: vec![0],
                withheld: vec![Row(published)],
            };
            let past = self.past.iter().map(|shown| counts(5, shown));
            let history = History { counts: (1..).zip(past).collect(), ..History::default() };
            let mut terms = Terms::new("x", Scope::Series, String::new(), &[]);
            terms.counts_from = self.covered.then_some(3);
            let evidence = Evidence {
                schema: &schema,
                history: &history,
                table: &table,
                release: &release,
                membership: &membership,
            };
            check(&terms, &evidence).into_findings(1).into_iter().map(|finding| finding.fault).collect()
        }
    }

    /// 12 people below 10, 8 below 20, 1 below 50; one more below 20 is withheld.
    fn case() -> Case {
        let ages = [vec![4; 12], vec![15; 8], vec![41], vec![15]].concat();
        Case { ages, shown: vec![(0, 10), (10, 10)], past: Vec::new(), unit: 5, covered: true }
    }

    #[test]
    fn counts_of_published_people_pass() {
        assert_eq!(case().found(), []);
        assert_eq!(Case { past: vec![vec![(0, 25)], vec![(10, 5)]], ..case() }.found(), []);
    }

    #[test]
    fn a_wrong_count_is_refused() {
        assert_eq!(Case { shown: vec![(0, 15), (10, 5)], ..case() }.found(), [Fault::CountWrong]);
        assert_eq!(Case { shown: vec![(0, 10)], ..case() }.found(), [Fault::CountWrong]);
        // The exact numbers are wrong too: they would show the one person.
        let exact = Case { shown: vec![(0, 12), (10, 8), (40, 1)], ..case() };
        assert!(exact.found().contains(&Fault::CountTooFine), "{:?}", exact.found());
    }

    #[test]
    fn a_small_change_since_any_release_is_refused() {
        for past in [vec![vec![(0, 8), (10, 10)], vec![(0, 50)]], vec![vec![(0, 50)], vec![(0, 10), (10, 13)]]] {
            assert_eq!(Case { past, ..case() }.found(), [Fault::CountTooFine]);
        }
        let unit = Case { shown: vec![(0, 12), (10, 9)], unit: 3, ..case() };
        assert_eq!(Case { past: vec![vec![(0, 10), (10, 10)]], ..unit }.found(), [Fault::CountTooFine]);
    }

    #[test]
    fn moved_cells_and_uncovered_counts_are_refused() {
        assert_eq!(Case { shown: vec![(0, 10), (11, 10)], ..case() }.found(), [Fault::CountCellsMoved]);
        assert_eq!(Case { covered: false, ..case() }.found(), [Fault::CountsNotCovered]);
    }

    #[test]
    fn what_the_total_confines_is_found() {
        let column = &counts(5, &[(0, 20)]).columns[0];
        let cells = [Span::new(0, 9), Span::new(10, 19)];
        // 20 shown means 18 to 22. With 25 people in all, the other cell has 3 to 7; with 24 at most 6, at least 2.
        assert_eq!(confined(column, &cells, 24, 5, 5), 0);
        // Two people who cannot be below 10: a rounding that is too narrow would say so.
        assert_eq!(confined(column, &cells, 22, 1, 5), 2);
    }
}
