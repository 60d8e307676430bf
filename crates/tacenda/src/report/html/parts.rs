//! Small pieces of a page: tables, lists, badges.

use crate::audit::{Severity, VerdictWord};
use crate::report::Decision;
use crate::report::words::clip;
use maud::{Markup, html};
use std::fmt::Display;

/// A column of a table: its heading, and whether it holds numbers.
pub type TableColumn = (&'static str, Align);

/// How a column is set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Align {
    /// Words.
    Words,
    /// Numbers, their last digits below each other.
    Numbers,
}

/// Words.
pub const W: Align = Align::Words;
/// Numbers.
pub const N: Align = Align::Numbers;

impl Align {
    /// The class of the style sheet.
    pub fn class(self) -> Option<&'static str> {
        (self == N).then_some("n")
    }
}

/// The cells of a row, from anything that can be rendered.
macro_rules! row {
    ($($cell:expr),* $(,)?) => {
        vec![$(maud::html! { ($cell) }),*]
    };
}
pub(super) use row;

/// A table, and how many rows were left off.
pub fn table(columns: &[TableColumn], rows: &[Vec<Markup>], left_off: usize) -> Markup {
    html! {
        div class="scroll" {
            table {
                thead { tr {
                    @for (name, align) in columns {
                        th scope="col" class=[align.class()] { (name) }
                    }
                } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (cell, (_, align)) in row.iter().zip(columns) {
                                td class=[align.class()] { (cell) }
                            }
                        }
                    }
                }
            }
        }
        (left_off_note(left_off))
    }
}

/// The note about rows that are not on the page.
pub fn left_off_note(left_off: usize) -> Markup {
    html! {
        @if left_off > 0 {
            p class="soft small" { "And " (left_off) " more; the JSON report has all." }
        }
    }
}

/// A table without the columns that `keep` marks as empty.
pub fn table_without(
    columns: &[TableColumn],
    rows: Vec<Vec<Markup>>,
    keep: &[(usize, bool)],
    left_off: usize,
) -> Markup {
    let kept = |at: usize| keep.iter().all(|&(column, wanted)| column != at || wanted);
    let columns: Vec<TableColumn> =
        columns.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, column)| *column).collect();
    let rows: Vec<Vec<Markup>> = rows
        .into_iter()
        .map(|row| row.into_iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, cell)| cell).collect())
        .collect();
    table(&columns, &rows, left_off)
}

/// What comes from the data or from the policy file: it stands in every language as it is.
pub fn data(text: &str) -> Markup {
    html! { span translate="no" { (text) } }
}

/// A label, kept on one line where it is short.
pub fn label(text: &str) -> Markup {
    let is_short = text.chars().count() <= 24;
    html! { span class=[is_short.then_some("nw")] translate="no" { (clip(text, 60)) } }
}

/// The name of a column.
pub fn column_name(name: &str) -> Markup {
    html! { code class="nw" translate="no" { (clip(name, 40)) } }
}

/// A line to write on.
pub fn fill() -> Markup {
    html! { span class="fill" {} }
}

/// Two columns: what, and what it is.
pub fn facts(rows: &[(&str, Markup)]) -> Markup {
    html! {
        div class="scroll" { table { tbody {
            @for (name, value) in rows {
                tr { th scope="row" { (name) } td { (value) } }
            }
        } } }
    }
}

/// A list of sentences.
pub fn bullets<T: AsRef<str>>(points: &[T], most: usize) -> Markup {
    html! {
        ul {
            @for point in points.iter().take(most) {
                li { (clip(point.as_ref(), 1000)) }
            }
            @if points.len() > most {
                li { "and " (points.len() - most) " more" }
            }
        }
    }
}

/// How a verdict or a severity is coloured and marked.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// Nothing was found.
    Pass,
    /// Something was found.
    Fail,
    /// A question is open, or a warning.
    Open,
    /// Neither good nor bad.
    Plain,
}

impl Tone {
    /// The class of the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Pass => "pass",
            Tone::Fail => "fail",
            Tone::Open => "open",
            Tone::Plain => "none",
        }
    }
}

impl From<Decision> for Tone {
    fn from(decision: Decision) -> Tone {
        match decision {
            Decision::Pass | Decision::PassAssuming => Tone::Pass,
            Decision::Fail => Tone::Fail,
            Decision::NotAssessed | Decision::NotPromised => Tone::Open,
            Decision::NotAsked => Tone::Plain,
        }
    }
}

impl From<VerdictWord> for Tone {
    fn from(verdict: VerdictWord) -> Tone {
        match verdict {
            VerdictWord::Pass => Tone::Pass,
            VerdictWord::Fail => Tone::Fail,
            VerdictWord::NotAssessed => Tone::Open,
            VerdictWord::Noted | VerdictWord::Measured | VerdictWord::NotApplicable => Tone::Plain,
        }
    }
}

impl From<Severity> for Tone {
    fn from(severity: Severity) -> Tone {
        match severity {
            Severity::Severe => Tone::Fail,
            Severity::Warning => Tone::Open,
            Severity::Note => Tone::Plain,
        }
    }
}

/// A verdict as a word with a sign, distinguished by shape as well as by colour.
pub fn badge(word: impl Copy + Display + Into<Tone>) -> Markup {
    let tone = word.into();
    html! { span class={ "badge " (tone.class()) } { (icon(tone)) (word.to_string()) } }
}

/// The sign of a verdict: a tick in a circle, a cross in a diamond, a mark in a triangle, a stroke.
pub fn icon(tone: Tone) -> Markup {
    html! {
        svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="var(--mark)" stroke-width="2"
            stroke-linecap="round" stroke-linejoin="round" {
            @match tone {
                Tone::Pass => { circle cx="12" cy="12" r="10" {} path d="M7.5 12.5l3 3 6-6.5" {} }
                Tone::Fail => { path d="M12 1.5L22.5 12 12 22.5 1.5 12z" {} path d="M9 9l6 6M15 9l-6 6" {} }
                Tone::Open => { path d="M12 2.5L23 21.5H1z" {} path d="M12 9.5v5M12 18v.01" {} }
                Tone::Plain => { circle cx="12" cy="12" r="10" {} path d="M8 12h8" {} }
            }
        }
    }
}
