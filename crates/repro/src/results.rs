//! `RESULTS.md`: per figure the setting, what the paper says, what we find, and whether that agrees.
//!
//! Verdicts are worked out from the numbers of the run. Each part owns a section between two marks, so that
//! running one paper again leaves the others' results as they are.

use crate::clock::Spent;
use crate::figure::Figure;
use crate::settings::{Part, Settings};
use anyhow::Result;
use std::fmt::Write;
use std::fs;

/// One figure with all there is to say about it.
#[derive(Clone, Debug)]
pub struct FigureReport {
    /// The figure.
    pub figure: Figure,
    /// Which figure of the paper it is, such as `Figure 4`; or what it adds.
    pub of: String,
    /// Data, sizes, parameters, runs.
    pub setting: String,
    /// What the paper says, and what we find.
    pub claims: Vec<Claim>,
}

/// A sentence of a paper held against our numbers.
#[derive(Clone, Debug)]
pub struct Claim {
    /// What the paper says, with its place.
    pub said: String,
    /// What we find, with numbers.
    pub found: String,
    /// How the two compare.
    pub verdict: ClaimVerdict,
}

/// How our numbers compare with a paper's claim.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ClaimVerdict {
    /// The same shape, and numbers where there are any.
    Confirmed,
    /// Better than the paper says.
    Beaten,
    /// Not so; `found` says why.
    Contradicted,
    /// Not in the paper.
    New,
}

impl Claim {
    /// A claim that holds or does not. `why` is the reason in case it does not.
    pub fn judged(said: &str, found: String, holds: bool, why: &str) -> Claim {
        let verdict = if holds { ClaimVerdict::Confirmed } else { ClaimVerdict::Contradicted };
        let found = if holds || why.is_empty() { found } else { format!("{found} Reason: {why}") };
        Claim { said: said.into(), found, verdict }
    }

    /// A claim that is beaten, confirmed or contradicted.
    pub fn ranked(said: &str, found: String, verdict: ClaimVerdict, why: &str) -> Claim {
        let found = if verdict == ClaimVerdict::Contradicted && !why.is_empty() {
            format!("{found} Reason: {why}")
        } else {
            found
        };
        Claim { said: said.into(), found, verdict }
    }

    /// Something the paper does not measure.
    pub fn new(found: String) -> Claim {
        Claim { said: "not measured".into(), found, verdict: ClaimVerdict::New }
    }
}

impl ClaimVerdict {
    /// Beaten if `better`, else confirmed if `holds`.
    pub fn of(holds: bool, better: bool) -> ClaimVerdict {
        match (holds, better) {
            (_, true) => ClaimVerdict::Beaten,
            (true, false) => ClaimVerdict::Confirmed,
            (false, false) => ClaimVerdict::Contradicted,
        }
    }

    fn word(self) -> &'static str {
        match self {
            ClaimVerdict::Confirmed => "confirmed",
            ClaimVerdict::Beaten => "beaten",
            ClaimVerdict::Contradicted => "contradicted",
            ClaimVerdict::New => "new",
        }
    }
}

/// What one part found.
pub struct PartResults {
    /// Which part.
    pub part: Part,
    /// Its figures.
    pub reports: Vec<FigureReport>,
    /// What it took.
    pub spent: Spent,
}

/// The most rows of a table in the text; the CSV has all.
const MOST_ROWS: usize = 12;

const HEAD: &str = "# Results\n\n\
The experiments of the five papers, run again by `cargo run --release -p repro -- all`. Everything below is \
printed by the run. *confirmed*: the same shape, and the same numbers where the paper's text states any; *beaten*: \
better than the paper says; *contradicted*: not so, with the reason; *new*: the paper did not measure it. The \
papers' plots are not in their text, so only what the text says is quoted. Times are CPU seconds of all threads \
unless it says wall: the machine may be shared. Data are read from `--data`; where it says MADE-UP they are not real. \
Each figure has a `.csv` with every number, an `.svg` and a `.png` beside this file.\n";

/// Writes the figures of a section, and its part of `RESULTS.md`.
pub fn write(settings: &Settings, section: &PartResults) -> Result<()> {
    for report in &section.reports {
        report.figure.write(&settings.out)?;
    }
    replace(settings, section.part.name(), &text(settings, section)?)
}

/// Writes what everything together took.
pub fn write_total(settings: &Settings, spent: Spent) -> Result<()> {
    let threads = rayon::current_num_threads();
    let text = format!(
        "## Total\n\nThe whole run took {:.0} s on the wall and {:.0} CPU s, with {threads} threads.\n",
        spent.wall, spent.cpu
    );
    replace(settings, "total", &text)
}

fn text(settings: &Settings, section: &PartResults) -> Result<String> {
    let mut text = String::new();
    let mode = if settings.quick { " Quick mode: small samples, few points." } else { "" };
    writeln!(text, "## {}\n", section.part.title())?;
    writeln!(text, "Took {:.0} s on the wall, {:.0} CPU s.{mode}\n", section.spent.wall, section.spent.cpu)?;
    writeln!(text, "| figure | verdicts |\n|---|---|")?;
    for report in &section.reports {
        let verdicts: Vec<&str> = report.claims.iter().map(|claim| claim.verdict.word()).collect();
        writeln!(text, "| {} ({}) | {} |", report.of, report.figure.title, verdicts.join(", "))?;
    }
    for report in &section.reports {
        writeln!(text, "\n### {}: {}\n", report.of, report.figure.title)?;
        writeln!(text, "Setting: {}\n", report.setting)?;
        writeln!(text, "![{}]({}.svg)\n", report.figure.title, report.figure.name)?;
        table(&mut text, &report.figure)?;
        writeln!(text)?;
        for claim in &report.claims {
            writeln!(text, "- The paper: {}. We: {} **{}**", claim.said, claim.found, claim.verdict.word())?;
        }
    }
    Ok(text)
}

/// The figure's table; where it is long, evenly chosen rows of it.
fn table(text: &mut String, figure: &Figure) -> Result<()> {
    let rows = figure.rows();
    let (header, body) = rows.split_first().expect("a table has a header");
    let escape = |cell: &String| cell.replace('|', "\\|");
    writeln!(text, "| {} |", header.iter().map(escape).collect::<Vec<_>>().join(" | "))?;
    writeln!(text, "|{}", "---|".repeat(header.len()))?;
    let shown = body.len().min(MOST_ROWS);
    for index in 0..shown {
        let row = &body[if shown < 2 { 0 } else { index * (body.len() - 1) / (shown - 1) }];
        writeln!(text, "| {} |", row.iter().map(escape).collect::<Vec<_>>().join(" | "))?;
    }
    if shown < body.len() {
        writeln!(text, "\n({shown} of {} rows; the others are in {}.csv.)", body.len(), figure.name)?;
    }
    Ok(())
}

/// Puts a section in its place of `RESULTS.md`, new or instead of the old one.
fn replace(settings: &Settings, name: &str, section: &str) -> Result<()> {
    const ORDER: [&str; 7] = ["000", "001", "002", "003", "004", "peers", "total"];
    let path = settings.out.join("RESULTS.md");
    let old = fs::read_to_string(&path).unwrap_or_default();
    let marks = |name: &str| (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->\n"));
    let mut text = HEAD.to_string();
    for other in ORDER {
        let (begin, end) = marks(other);
        let known = old.split_once(&begin).and_then(|(_, rest)| rest.split_once(&end)).map(|(inside, _)| inside);
        let inside = if other == name { Some(section) } else { known };
        if let Some(inside) = inside {
            write!(text, "\n{begin}{inside}{end}")?;
        }
    }
    fs::write(path, text)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_section_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { data: None, quick: true, out: folder.path().into(), runs: 1 };
        replace(&settings, "003", "three\n").unwrap();
        replace(&settings, "000", "zero\n").unwrap();
        replace(&settings, "003", "three again\n").unwrap();
        let text = fs::read_to_string(folder.path().join("RESULTS.md")).unwrap();
        let (zero, three) = (text.find("zero").unwrap(), text.find("three again").unwrap());
        assert!(zero < three && !text.contains("three\n"));
        assert!(text.starts_with("# Results"));
    }
}
