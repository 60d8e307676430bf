//! Texts that a spreadsheet would run as a formula.
//!
//! Recipients open releases in spreadsheets. A label such as `=HYPERLINK(…)` then runs on their machine, even if it is
//! in quotes. Such labels are refused, unless the policy file says `spreadsheet_safe = false` under `[output]`.

use crate::model::{Domain, Release, Schema};
use crate::publish::ProjectError;

/// Refuses a release with a text that begins like a formula.
pub(super) fn refuse(schema: &Schema, release: &Release) -> Result<(), ProjectError> {
    let found = |column: &str| Err(ProjectError::Formula { column: column.into() });
    if let Some(column) = schema.published_columns().find(|name| is_formula(name)) {
        return found(column);
    }
    for quasi in &schema.quasi {
        let Domain::Category(tree) = &quasi.domain else { continue };
        if tree.rows().iter().flatten().any(|label| is_formula(label)) {
            return found(&quasi.name);
        }
    }
    // Only what occurs is written.
    let mut occurs = vec![false; release.values.len()];
    release.sensitive.iter().for_each(|value| occurs[value.index()] = true);
    for (_, cells) in release.values.iter().filter(|(value, _)| occurs[value.index()]) {
        if let Some((column, _)) = schema.sensitive.iter().zip(cells).find(|(_, cell)| is_formula(cell)) {
            return found(&column.name);
        }
    }
    for texts in &release.public_texts {
        if let Some((column, _)) = schema.public.iter().zip(texts).find(|(_, cell)| is_formula(cell)) {
            return found(&column.name);
        }
    }
    Ok(())
}

/// Whether a spreadsheet takes a cell for a formula. A number with a sign is none, nor is a sign alone.
fn is_formula(cell: &str) -> bool {
    let begins = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    begins && !matches!(cell, "-" | "+") && cell.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_told_from_numbers_and_signs() {
        for cell in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "--", "-none"] {
            assert!(is_formula(cell), "{cell:?}");
        }
        for cell in ["-5", "+3.25", "-", "+", "a=b", "", "[20,30)", "{a,b}", "1-2", "*"] {
            assert!(!is_formula(cell), "{cell:?}");
        }
    }
}
