//! The counts that are published beside the rows: people by quasi value, one column at a time.

use crate::model::{CellRule, CountedColumn, History, Membership, PeopleCounts, Quasi, Span, Table, people_by_code};
use crate::promise::PolicyFile;

/// The counts of a release, if the promise allows them and the policy file does not decline. They count published
/// people only, neither counterfeits nor withheld people.
pub(super) fn of(file: &PolicyFile, history: &History, table: &Table, membership: &Membership) -> Option<PeopleCounts> {
    let people: Vec<u32> = membership.rows.iter().copied().filter(|&row| row != Membership::COUNTERFEIT).collect();
    let by_code = |attribute: usize, size: u32| {
        people_by_code(people.iter().map(|&row| table.quasi(attribute)[row as usize]), size)
    };
    of_people(file, history, people.len() as u64, &by_code)
}

/// The same for so many people. `by_code` says how many of them have each code of an attribute of that size.
pub(super) fn of_people(
    file: &PolicyFile,
    history: &History,
    people: u64,
    by_code: &dyn Fn(usize, u32) -> Vec<(u32, u64)>,
) -> Option<PeopleCounts> {
    let least = file.counts_from()?;
    let before = history.counts.last().map(|(_, counts)| counts);
    let unit = PeopleCounts::next_unit(least, before.map(|counts| counts.unit));
    if people < u64::from(unit) {
        return None;
    }
    let column = |(attribute, quasi): (usize, &Quasi)| {
        let name = &quasi.name;
        // The columns that were counted first stay the counted ones, each with its cells.
        let rule = match before {
            Some(before) => before.column(name)?.rule,
            None => quasi.cell_rule()?,
        };
        let cells = count(quasi, rule, by_code(attribute, quasi.size()));
        Some(CountedColumn { name: name.clone(), rule, cells: shown(&cells, unit) })
    };
    let columns: Vec<CountedColumn> = file.schema.quasi.iter().enumerate().filter_map(column).collect();
    (!columns.is_empty()).then_some(PeopleCounts { unit, columns })
}

/// How many people each cell has.
fn count(quasi: &Quasi, rule: CellRule, by_code: Vec<(u32, u64)>) -> Vec<(Span, u64)> {
    let mut cells: Vec<(Span, u64)> = quasi.cells(rule).into_iter().map(|cell| (cell, 0)).collect();
    for (code, people) in by_code {
        let at = cells.partition_point(|(cell, _)| cell.hi < code);
        cells[at].1 += people;
    }
    cells
}

/// The published counts: by how much the rounded running total rises in each cell. Cells that show 0 are left out.
fn shown(cells: &[(Span, u64)], unit: u32) -> Vec<(Span, u64)> {
    let (mut total, mut said) = (0, 0);
    let mut shown = Vec::new();
    for &(cell, people) in cells {
        total += people;
        let rounded = PeopleCounts::rounded(total, unit);
        if rounded > said {
            shown.push((cell, rounded - said));
        }
        said = rounded;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    const UNIT: u32 = 5;

    /// What anyone sees of a column: what its cells show, and the number of people.
    type Public = (Vec<(Span, u64)>, u64);

    fn column(people: &[u64]) -> Vec<(Span, u64)> {
        (0..).map(Span::exact).zip(people.iter().copied()).collect()
    }

    #[test]
    fn every_run_of_cells_is_less_than_a_unit_off() {
        let people = [1, 0, 3, 7, 2, 2, 2, 11, 4, 0, 1];
        let shown: BTreeMap<Span, u64> = shown(&column(&people), UNIT).into_iter().collect();
        for from in 0..people.len() {
            for to in from..people.len() {
                let said: u64 = (from..=to).filter_map(|at| shown.get(&Span::exact(at as u32))).sum();
                let actual: u64 = people[from..=to].iter().sum();
                assert!(said.abs_diff(actual) < u64::from(UNIT), "{from} to {to}: {said} of {actual}");
                assert!(actual > 0 || said == 0, "nobody is invented");
            }
        }
    }

    /// science A3.13-3, by trying all columns of three cells with at most 14 people. A reader who sees the counts and
    /// the number of people, and knows the rounding, can never conclude that a cell, or its change between two
    /// releases, is about fewer people than a unit.
    #[test]
    fn no_cell_and_no_change_is_ever_known_to_be_small() {
        let mut seen: BTreeMap<Public, [BTreeSet<u64>; 3]> = BTreeMap::new();
        for (a, b, c) in (0..15).flat_map(|a| (0..15).flat_map(move |b| (0..15).map(move |c| (a, b, c)))) {
            let total = a + b + c;
            if (u64::from(UNIT)..15).contains(&total) {
                let possible = seen.entry((shown(&column(&[a, b, c]), UNIT), total)).or_default();
                possible.iter_mut().zip([a, b, c]).for_each(|(possible, people)| possible.extend([people]));
            }
        }
        let is_fine = |number: u64| number == 0 || number >= u64::from(UNIT);
        for possible in seen.values() {
            assert!(possible.iter().all(|cell| cell.iter().any(|&people| is_fine(people))));
        }
        for ((_, then_total), then) in &seen {
            for ((_, now_total), now) in &seen {
                for (then, now) in then.iter().zip(now) {
                    let any = then.iter().any(|then| now.iter().any(|now| is_fine(now.abs_diff(*then))));
                    // A column that is one cell says no more than the number of people, which is public.
                    assert!(any || then_total != now_total && then.len() == 1 && now.len() == 1, "{then:?} {now:?}");
                }
            }
        }
    }
}
