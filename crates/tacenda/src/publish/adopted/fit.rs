//! Whether a view made elsewhere is about the people of the table.
//!
//! A misread file, or the wrong file, matches few of our rows. Rows without a match are judged without it, so the file
//! would seem to reveal nothing. The private table shows that before anything is judged.

use crate::model::{Classes, PastView, Schema, Table};

/// The most comparisons of people with rows.
const MOST: u64 = 1 << 28;

/// How the rows of a view and the people of a table belong together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Fit {
    people: u64,
    /// People who match no row.
    without_row: u64,
    rows: u64,
    /// Rows that match nobody.
    without_person: u64,
}

impl Fit {
    /// Compares every person with every row; `None` if that would take too long.
    pub fn of(past: &PastView, schema: &Schema, table: &Table) -> Option<Fit> {
        let place = |name: &String| schema.quasi.iter().position(|quasi| quasi.name == *name);
        let columns: Vec<&[u32]> = past.columns.iter().filter_map(place).map(|at| table.quasi(at)).collect();
        let people = Classes::of(table.len(), &columns);
        if people.len() as u64 * past.rows.len() as u64 > MOST {
            return None;
        }
        let mut is_met = vec![false; past.rows.len()];
        let mut without_row = 0;
        for (&sample, &size) in people.sample.iter().zip(&people.size) {
            let mut is_found = false;
            for (row, is_met) in past.rows.iter().zip(&mut is_met) {
                let fits = row.iter().zip(&columns).all(|(span, codes)| span.contains(codes[sample as usize]));
                *is_met |= fits;
                is_found |= fits;
            }
            without_row += if is_found { 0 } else { size };
        }
        let counted = |met: bool| {
            let rows = past.counts.iter().zip(&is_met).filter(|(_, is_met)| **is_met == met);
            rows.map(|(&count, _)| u64::from(count)).sum::<u64>()
        };
        let (met, without_person) = (counted(true), counted(false));
        Some(Fit { people: table.len() as u64, without_row, rows: met + without_person, without_person })
    }

    /// Whether no row matches anybody.
    pub fn is_nobodys(self) -> bool {
        self.without_person == self.rows
    }

    /// What does not belong together, in words.
    pub fn notes(fit: Option<Fit>, name: &str) -> Vec<String> {
        let Some(fit) = fit else {
            return vec![format!("{name} is too large to check whether it is about the same people")];
        };
        let mut notes = Vec::new();
        if fit.without_row > 0 {
            notes.push(format!(
                "{} of {} people fit no row of {name}: they are not in it, or it was made from another table",
                fit.without_row, fit.people
            ));
        }
        if fit.without_person > 0 {
            notes.push(format!(
                "{} of {} rows of {name} fit nobody in the table: counterfeits, people who left, or another table",
                fit.without_person, fit.rows
            ));
        }
        notes
    }
}
