//! Texts that a spreadsheet would run as a formula.
//!
//! Recipients open releases in spreadsheets. A label such as `=HYPERLINK(…)` then runs on their machine, even if it is
//! in quotes. Such labels are refused, unless the policy file says `spreadsheet_safe = false` under `[output]`. What comes after
//! a semicolon or a tab counts, too: in half of the world these part cells.

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

/// Whether a spreadsheet may take a cell, or a part of it, for a formula. A number with a sign is none, nor is a sign alone.
fn is_formula(cell: &str) -> bool {
    let begins = |part: &str| {
        let seen = part.trim_start_matches(is_unseen).trim_end();
        seen.starts_with(SIGNS) && !matches!(seen, "-" | "+") && seen.parse::<f64>().is_err()
    };
    cell.starts_with(['\t', '\r']) || cell.split([';', '\t', '\r', '\n']).any(begins)
}

/// How a formula begins, also in the wide and small forms that some spreadsheets take for the same.
const SIGNS: [char; 12] = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫'];

/// Blanks, and characters that nobody sees. Programs that clean a cell remove them.
fn is_unseen(letter: char) -> bool {
    letter.is_whitespace()
        || letter.is_control()
        || matches!(
            letter,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{feff}'
        )
        || matches!(letter, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_told_from_numbers_and_signs() {
        let plain = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\tflu", "--", "-none"];
        let hidden =
            [" =1", "\u{a0}=1", "\u{200b}=1", "\u{feff}@A1", "＝1+1", " ＋1|2", "flu;=1", "flu\t=1", "a;b; @A1"];
        for cell in plain.into_iter().chain(hidden) {
            assert!(is_formula(cell), "{cell:?}");
        }
        let plain = ["-5", "+3.25", "-", "+", "a=b", "", "[20,30)", "{a,b}", "1-2", "*"];
        for cell in plain.into_iter().chain([" -5", "a; b", "a;b=c", "flu;-5", " ", ";", "a\tb"]) {
            assert!(!is_formula(cell), "{cell:?}");
        }
    }
}
