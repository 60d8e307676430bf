//! A code, a finding, a group or a person, in plain words.

mod case;

pub use case::{explain_finding, explain_group, explain_person, person_stories};

use crate::report::{Report, TextOptions};
use crate::use_cases::{DatabaseError, RequestFault, UseCaseError};
use crate::{publish, report};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

/// The answer of explain.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ExplainReport {
    /// The code.
    pub code: String,
    /// Its title.
    pub title: String,
    /// What it means.
    pub explanation: String,
}

/// The page of a code.
pub fn explain_code(code: &str) -> Result<ExplainReport, UseCaseError> {
    let Some((code, title, explanation)) = page(code) else {
        let message = format!("there is no code {code}; codes look like D103 and are printed as error[D103]");
        return Err(UseCaseError::usage(message));
    };
    Ok(ExplainReport { code: code.into(), title: title.into(), explanation: explanation.into() })
}

/// The report of an audit, what its findings mean, the worst first, and at the end what to do next.
pub fn explain_audit(report: &Report) -> String {
    // What to do next stands at the end only.
    let mut out = report::text(&Report { next_steps: Vec::new(), ..report.clone() }, TextOptions::default());
    let mut codes: Vec<&str> = Vec::new();
    for finding in &report.findings {
        if codes.contains(&finding.code.as_str()) {
            continue;
        }
        let Some((code, title, explanation)) = page(&finding.code) else { continue };
        if codes.is_empty() {
            out.push_str("\nWhat the findings mean\n");
        }
        codes.push(code);
        let _ = write!(out, "\n{code}: {title}\n{}\n", wrapped(explanation));
    }
    if !report.next_steps.is_empty() {
        out.push_str("\nWhat to do next\n\n");
    }
    for step in &report.next_steps {
        let _ = writeln!(out, "- {}", wrapped(step).replace('\n', "\n  "));
    }
    out
}

/// The page of a code: code, title, explanation.
fn page(code: &str) -> Option<(&'static str, &'static str, &'static str)> {
    let code = code.to_ascii_uppercase();
    let own = RequestFault::PAGES.iter().chain(DatabaseError::PAGES).copied();
    publish::codes().into_iter().chain(own).find(|page| page.0 == code)
}

/// The text in lines of at most 80 characters.
pub fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 80 {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out
}
