//! How a command ends badly: a code, what is wrong, one thing to do, and an exit code.

use crate::args::Format;
use serde_json::json;
use std::fmt::Display;
use std::panic;
use std::process::ExitCode;

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
}

impl Failure {
    /// A failure with one line.
    pub fn new(code: &str, exit: u8, message: impl Display) -> Failure {
        Failure { code: code.to_string(), exit, message: message.to_string(), lines: Vec::new() }
    }

    /// Wrong use of the command line.
    pub fn usage(message: impl Display) -> Failure {
        Failure::new("U201", 2, message)
    }

    /// The environment failed: disk, pipe, terminal.
    pub fn environment(message: impl Display) -> Failure {
        Failure::new("U701", 7, message)
    }

    /// The same with one more line.
    pub fn line(mut self, line: impl Display) -> Failure {
        self.lines.push(line.to_string());
        self
    }

    fn print(&self, format: Format) {
        match format {
            Format::Text => {
                eprintln!("error[{}]: {}", self.code, self.message);
                for line in &self.lines {
                    eprintln!("{line}");
                }
                eprintln!("  more: tacenda explain {}", self.code);
            }
            Format::Json => {
                let error = json!({
                    "error": { "code": self.code, "exit": self.exit, "message": self.message, "lines": self.lines }
                });
                eprintln!("{error}");
            }
        }
    }
}

/// Runs a command and turns its end into an exit code. A bug of ours says so and loses nothing:
/// whatever was half done is finished or removed at the next run.
pub fn catch(format: Format, run: impl FnOnce() -> Result<u8, Failure> + panic::UnwindSafe) -> ExitCode {
    panic::set_hook(Box::new(|_| {}));
    let end = panic::catch_unwind(run);
    let _ = panic::take_hook();
    match end {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(failure)) => {
            failure.print(format);
            ExitCode::from(failure.exit)
        }
        Err(payload) => {
            // Our own assertions name what broke and never a cell.
            let what = payload.downcast_ref::<String>().map(String::as_str);
            let what = what.or(payload.downcast_ref::<&str>().copied()).unwrap_or("an assertion failed");
            Failure::new("B701", 70, format!("this is a bug in tacenda: {what}; nothing was published")).print(format);
            ExitCode::from(70)
        }
    }
}
