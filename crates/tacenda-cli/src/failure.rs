//! How a command ends badly: a code, what is wrong, one thing to do, and an exit code.

use crate::args::FormatArg;
use crate::screen::printable;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;
use std::{io, panic};
use tacenda::use_cases::{ProblemReport, RequestFault, keep_panics_quiet, told_of_bug};

/// Why a command ended badly.
#[derive(Debug)]
pub struct Failure {
    /// A code with a page in `explain`.
    pub code: String,
    /// The exit code.
    pub exit: u8,
    /// What is wrong and where.
    pub message: String,
    /// Further lines, each on its own: problems, snippets, help.
    pub lines: Vec<String>,
    /// The same for programs.
    pub problems: Vec<ProblemReport>,
}

/// What `--format json` prints on standard error.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ErrorReport {
    /// What went wrong.
    pub error: ErrorBody,
}

/// What went wrong.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ErrorBody {
    /// A code with a page in `tacenda explain`.
    pub code: String,
    /// The exit code.
    pub exit: u8,
    /// What is wrong.
    pub message: String,
    /// The single problems, where there are several.
    pub problems: Vec<ProblemReport>,
}

impl Failure {
    /// A failure with one line.
    pub fn new(code: &str, exit: u8, message: impl Display) -> Failure {
        Failure { code: code.to_string(), exit, message: message.to_string(), lines: Vec::new(), problems: Vec::new() }
    }

    /// Wrong use of the command line.
    pub fn usage(message: impl Display) -> Failure {
        Failure::new(RequestFault::Usage.code(), 2, message)
    }

    /// The environment failed: disk, pipe, terminal.
    pub fn environment(message: impl Display) -> Failure {
        Failure::new(RequestFault::Environment.code(), 7, message)
    }

    /// A question to which nobody said yes.
    pub fn nobody_agreed(message: impl Display) -> Failure {
        Failure::new(RequestFault::NobodyAgreed.code(), 6, message)
    }

    /// A bug of ours.
    pub fn bug(message: impl Display) -> Failure {
        Failure::new(RequestFault::Bug.code(), 70, message)
    }

    /// The same with one more line.
    pub fn line(mut self, line: impl Display) -> Failure {
        self.lines.push(printable(&line.to_string()));
        self
    }

    /// The same with lines that have colours of their own. The caller has already escaped their texts.
    pub fn drawn(mut self, lines: String) -> Failure {
        self.lines.push(lines);
        self
    }

    fn print(self, format: FormatArg) {
        let text = match format {
            FormatArg::Json => {
                let Failure { code, exit, message, problems, .. } = self;
                let report = ErrorReport { error: ErrorBody { code, exit, message, problems } };
                serde_json::to_string(&report).unwrap_or_default() + "\n"
            }
            _ => {
                let lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
                format!("error[{0}]: {1}\n{lines}  more: tacenda explain {0}\n", self.code, printable(&self.message))
            }
        };
        // Nobody may be listening any more; the exit code still speaks.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Runs a command and turns its end into an exit code. A bug of ours says so and loses nothing:
/// whatever was half done is finished or removed at the next run.
pub fn catch(format: FormatArg, run: impl FnOnce() -> Result<u8, Failure> + panic::UnwindSafe) -> u8 {
    keep_panics_quiet();
    match panic::catch_unwind(run) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            let exit = failure.exit;
            failure.print(format);
            exit
        }
        Err(payload) => {
            let what = told_of_bug(&*payload);
            let bug = Failure::bug(format!("this is a bug in tacenda: {what}; tacenda log lists what was published"));
            let exit = bug.exit;
            bug.print(format);
            exit
        }
    }
}
