//! A report for people: one HTML file that needs nothing else.
//!
//! No script, no network, no font from elsewhere; light and dark by the reader's own setting; made to
//! be printed and signed. Sections stand in the order of ISO/IEC 27559: context, data,
//! identifiability, mitigation, governance. Every text from outside goes through [`escape`]. Lists are
//! cut, and cut again should the page still be too long: it stays under two megabytes for any report.

mod parts;
mod plots;
mod context;
mod data;
mod identifiability;
mod attacks;
mod mitigation;
mod governance;

use crate::audit::Severity;
use crate::report::Report;
use crate::report::html::parts::{Tone, icon};
use crate::report::words::{capital, clip, counted, number, percent};
use std::fmt::Write;

/// The longest page in bytes.
const MOST_BYTES: usize = 2_000_000;

/// The report as one HTML page.
pub fn html(report: &Report) -> String {
    let mut page = String::new();
    for cut in [1, 4, 16, 64] {
        page = Page { report, cut, plots: 0 }.render();
        if page.len() < MOST_BYTES {
            break;
        }
    }
    page
}

/// A page being made.
struct Page<'a> {
    report: &'a Report,
    /// What the lengths of lists are divided by.
    cut: usize,
    /// How many plots there are so far, for their names.
    plots: u32,
}

/// A numbered part of the page.
struct Section {
    id: &'static str,
    /// The part of ISO/IEC 27559 it belongs to.
    clause: &'static str,
    title: &'static str,
    body: String,
}

impl Page<'_> {
    fn render(mut self) -> String {
        let sections: Vec<Section> = [
            self.releases(),
            self.environment(),
            self.columns(),
            self.policy(),
            self.threat_model(),
            self.risk(),
            self.attacks(),
            self.added_and_left_out(),
            self.utility(),
            self.deletion(),
            self.validity(),
            self.repeat(),
            self.signatures(),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut out = self.head();
        out.push_str(&self.opening());
        out.push_str("<nav aria-label=\"Contents\"><ol>");
        for (at, section) in sections.iter().enumerate() {
            let _ = write!(out, "<li><a href=\"#{}\"><span>{}</span>{}</a></li>", section.id, at + 1, section.title);
        }
        out.push_str("</ol></nav>\n");
        for (at, section) in sections.iter().enumerate() {
            let Section { id, clause, title, body } = section;
            let _ = writeln!(
                out,
                "<section id=\"{id}\"><p class=\"eyebrow\">{clause}</p><h2>{}. {title}</h2>\n{body}</section>",
                at + 1
            );
        }
        let made = self.report.provenance.made_at.as_ref().map_or(String::new(), |at| format!(", {}", escape(at)));
        let _ = writeln!(
            out,
            "<footer>Made by {}{made}. {} edition.{}</footer>",
            escape(&self.report.provenance.software),
            capital(self.report.edition.word()),
            self.for_programs(),
        );
        out.push_str("</main></body></html>\n");
        out
    }

    /// The command that gives the same numbers as JSON.
    fn for_programs(&self) -> String {
        let command = self.report.provenance.command.as_ref();
        command.map_or(String::new(), |command| {
            let command = escape(&clip(command, 600));
            format!(" The same numbers for programs: <code>{command} --format json</code>.")
        })
    }

    fn title(&self) -> String {
        let series = &self.report.series;
        clip(if series.title.is_empty() { &series.name } else { &series.title }, 300)
    }

    fn head(&self) -> String {
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"robots\" content=\"noindex\">\n<title>{}: privacy report</title>\n<style>\n{}</style></head>\n\
             <body><main>\n",
            escape(&self.title()),
            include_str!("style.css"),
        )
    }

    /// The title, the verdict, the numbers that matter most, and what to do.
    fn opening(&self) -> String {
        let report = self.report;
        let verdict = &report.verdict;
        let class = Tone::from(verdict.decision).class();
        let mut out = format!(
            "<header><p class=\"eyebrow\">Privacy report · {} edition</p><h1>{}</h1><p class=\"lead\">{}</p></header>\n",
            report.edition.word(),
            escape(&self.title()),
            self.subtitle(),
        );
        let _ = writeln!(
            out,
            "<div class=\"verdict {class}\">{}<strong>{}</strong><p>{}</p></div>",
            icon(verdict.decision.into()),
            verdict.decision.words(),
            escape(&verdict.sentence),
        );
        out.push_str(&self.figures());
        if !report.next_steps.is_empty() {
            out.push_str("<h3>What to do next</h3>");
            out.push_str(&parts::bullets(&report.next_steps, self.cap(20)));
        }
        out
    }

    fn subtitle(&self) -> String {
        let report = self.report;
        let releases = &report.releases;
        let mut parts = vec![format!("Series <code>{}</code>", escape(&clip(&report.series.name, 120)))];
        match &releases[..] {
            [] => parts.push("no releases".into()),
            [only] => parts.push(format!("release {}, {}", only.number, escape(&clip(&only.label, 120)))),
            [first, .., last] => parts.push(format!(
                "{} from {} to {}",
                counted(releases.len() as u64, "release", "releases"),
                escape(&clip(&first.label, 120)),
                escape(&clip(&last.label, 120))
            )),
        }
        if !report.series.contact.is_empty() {
            parts.push(escape(&clip(&report.series.contact, 120)));
        }
        parts.join(" · ")
    }

    fn figures(&self) -> String {
        let report = self.report;
        let Some(last) = report.releases.last() else { return String::new() };
        let smallest = report.releases.iter().map(|release| release.risk.smallest_group).min().unwrap_or(0);
        let share = report.releases.iter().map(|release| release.risk.highest_share).fold(0.0, f64::max);
        let figure = |name: &str, value: String, more: String| {
            format!("<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>")
        };
        let promised = report.series.promise.as_ref().and_then(|promise| promise.one_in);
        let allowed = promised.map_or(String::new(), |one_in| format!("promise: 1 in {one_in} at most"));
        let of = |wanted: bool| if wanted { allowed.clone() } else { String::new() };
        let is_inference = report.series.risk == crate::report::RiskKind::Inference;
        let mut out = String::from("<dl class=\"figures\">");
        let people = format!("in {}", counted(last.groups, "group", "groups"));
        out.push_str(&figure("People published", number(last.people), people));
        let one_in = match smallest {
            0 => String::new(),
            _ if is_inference => "people".to_string(),
            _ => of(true),
        };
        out.push_str(&figure("Smallest group", number(u64::from(smallest)), one_in));
        let more = if is_inference && promised.is_some() { of(true) } else { "of one value in a group".into() };
        out.push_str(&figure("Largest share", percent(share), more));
        out.push_str(&figure("Precision kept", percent(1.0 - last.loss.leaf_share), "mean over attributes".into()));
        // Notes are worth knowing and are nobody's finding out: they are counted apart, as the verdict does.
        let notes = report.findings.iter().filter(|finding| finding.severity == Severity::Note).count() as u64;
        let (found, asked) = (report.findings.len() as u64 - notes, report.checks.len() as u64);
        let asked = match (asked, notes) {
            (0, _) => "the gate judged it".to_string(),
            (asked, 0) => format!("from {}", counted(asked, "check", "checks")),
            (asked, notes) => {
                format!("and {}, from {}", counted(notes, "note", "notes"), counted(asked, "check", "checks"))
            }
        };
        out.push_str(&figure("Findings", number(found), asked));
        out.push_str("</dl>\n");
        out
    }

    /// How many items of a list are shown.
    fn cap(&self, most: usize) -> usize {
        (most / self.cut).max(1)
    }

    /// Whether it is to be filled in and signed.
    fn is_signed(&self) -> bool {
        !self.report.signing.is_empty()
    }
}

/// A text that may stand anywhere in HTML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            letter if letter.is_control() && letter != '\n' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests;
