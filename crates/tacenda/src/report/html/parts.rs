//! Small pieces of a page: tables, lists, badges.

use crate::audit::{Severity, VerdictWord};
use crate::report::Decision;
use crate::report::html::{clip, escape};
use std::fmt::Write;

/// A column of a table: its heading, and whether it holds numbers.
pub type Column = (&'static str, Align);

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

/// A table. Cells are HTML; what comes from outside must be escaped already.
pub fn table(columns: &[Column], rows: &[Vec<String>], left_off: usize) -> String {
    let class = |align: Align| if align == N { " class=\"n\"" } else { "" };
    let mut out = String::from("<div class=\"scroll\"><table><thead><tr>");
    for (name, align) in columns {
        let _ = write!(out, "<th scope=\"col\"{}>{name}</th>", class(*align));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (cell, (_, align)) in row.iter().zip(columns) {
            let _ = write!(out, "<td{}>{cell}</td>", class(*align));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    if left_off > 0 {
        let _ = writeln!(out, "<p class=\"soft small\">And {left_off} more; the JSON report has all.</p>");
    }
    out
}

/// A table without the columns that `keep` says hold nothing.
pub fn table_without(columns: &[Column], rows: Vec<Vec<String>>, keep: &[(usize, bool)], left_off: usize) -> String {
    let kept = |at: usize| keep.iter().all(|&(column, wanted)| column != at || wanted);
    let columns: Vec<Column> =
        columns.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, column)| *column).collect();
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| row.into_iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, cell)| cell).collect())
        .collect();
    table(&columns, &rows, left_off)
}

/// A label, kept on one line where it is short.
pub fn label(text: &str) -> String {
    let shown = escape(&clip(text, 60));
    if text.chars().count() <= 24 { format!("<span class=\"nw\">{shown}</span>") } else { shown }
}

/// Two columns: what, and what it is. Values are HTML.
pub fn facts(rows: &[(&str, String)]) -> String {
    let mut out = String::from("<div class=\"scroll\"><table><tbody>\n");
    for (name, value) in rows {
        let _ = writeln!(out, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

/// A list of sentences.
pub fn bullets<T: AsRef<str>>(points: &[T], most: usize) -> String {
    let mut out = String::from("<ul>");
    for point in points.iter().take(most) {
        let _ = write!(out, "<li>{}</li>", escape(&clip(point.as_ref(), 1000)));
    }
    if points.len() > most {
        let _ = write!(out, "<li>and {} more</li>", points.len() - most);
    }
    out.push_str("</ul>\n");
    out
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
            Decision::NotAssessed => Tone::Open,
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

/// A verdict as a word with a sign, told apart by shape as well as by colour.
pub fn badge(tone: impl Into<Tone>, word: &str) -> String {
    let tone = tone.into();
    format!("<span class=\"badge {}\">{}{}</span>", tone.class(), icon(tone), escape(word))
}

/// The sign of a verdict: a tick in a circle, a cross in a diamond, a mark in a triangle, a stroke.
pub fn icon(tone: Tone) -> &'static str {
    match tone {
        Tone::Pass => {
            "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\" fill=\"none\" stroke=\"var(--mark)\" stroke-width=\"2\" \
             stroke-linecap=\"round\" stroke-linejoin=\"round\"><circle cx=\"12\" cy=\"12\" r=\"10\"/><path d=\"M7.5 12.5l3 3 6-6.5\"/></svg>"
        }
        Tone::Fail => {
            "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\" fill=\"none\" stroke=\"var(--mark)\" stroke-width=\"2\" \
             stroke-linecap=\"round\" stroke-linejoin=\"round\"><path d=\"M12 1.5L22.5 12 12 22.5 1.5 12z\"/><path d=\"M9 9l6 6M15 9l-6 6\"/></svg>"
        }
        Tone::Open => {
            "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\" fill=\"none\" stroke=\"var(--mark)\" stroke-width=\"2\" \
             stroke-linecap=\"round\" stroke-linejoin=\"round\"><path d=\"M12 2.5L23 21.5H1z\"/><path d=\"M12 9.5v5M12 18v.01\"/></svg>"
        }
        Tone::Plain => {
            "<svg viewBox=\"0 0 24 24\" aria-hidden=\"true\" fill=\"none\" stroke=\"var(--mark)\" stroke-width=\"2\" \
             stroke-linecap=\"round\"><circle cx=\"12\" cy=\"12\" r=\"10\"/><path d=\"M8 12h8\"/></svg>"
        }
    }
}
