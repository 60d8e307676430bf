//! A code, a finding, a group or a person, in plain words.

use crate::args::{Common, ExplainArgs};
use crate::commands::audit::names;
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, telling};
use std::io;
use tacenda::use_cases::{
    ExplainReport, UseCaseError, explain_code, explain_finding, explain_group, explain_person, wrapped,
};

pub fn run(args: &ExplainArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let words: Vec<&str> = args.what.iter().map(String::as_str).collect();
    let report = match words[..] {
        ["finding", number] => finding(number, args),
        ["group", place] => {
            let names = names(args.show_values, common, screen);
            let bar = screen.bar();
            explain_group(place, args.reading.request(&args.releases, common), names, &telling(&bar))
        }
        ["person"] => {
            let identifier = identifier()?;
            let names = names(args.show_values, common, screen);
            let bar = screen.bar();
            explain_person(&identifier, args.reading.request(&args.releases, common), names, &telling(&bar))
        }
        ["person", _] => {
            return Err(Failure::usage("a person's key is read from standard input, never from the command line"));
        }
        [code] => {
            let report = explain_code(code).map_err(|error| shared::unread(error, screen))?;
            let text = format!("{}: {}\n\n{}\n", report.code, report.title, wrapped(&report.explanation));
            screen.result(&text, &report)?;
            return Ok(0);
        }
        _ => return Err(Failure::usage("name a code, finding N, group RELEASE:GROUP, or person")),
    };
    let report = report.map_err(|error| shared::unread(error, screen))?;
    screen.result(&report.explanation, &report)?;
    Ok(0)
}

fn finding(number: &str, args: &ExplainArgs) -> Result<ExplainReport, UseCaseError> {
    let unnamed = "name the audit: tacenda audit … --format json -o audit.json, then --audit audit.json";
    let audit = args.audit.as_ref().ok_or_else(|| UseCaseError::Usage(unnamed.into()))?;
    explain_finding(number, audit)
}

/// A person's identifier, from standard input.
fn identifier() -> Result<String, Failure> {
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(|error| Failure::environment(format!("standard input: {error}")))?;
    match line.trim_end_matches(['\n', '\r']) {
        "" => Err(Failure::usage("write the person's identifier to standard input, on a line of its own")),
        identifier => Ok(identifier.to_string()),
    }
}
