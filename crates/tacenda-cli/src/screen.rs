//! What the user sees: results on standard output, everything else on standard error.

use crate::args::{Color, Common, FormatArg};
use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;
use std::{env, fs, io, thread};
use tacenda::{report, use_cases};

/// Where results, notes and progress go.
pub struct Screen {
    common: Common,
}

impl Screen {
    pub fn new(common: &Common) -> Screen {
        Screen { common: common.clone() }
    }

    /// Prints a result: the text for people, or the value as JSON.
    pub fn result(&self, text: &str, value: &impl Serialize) -> Result<(), Failure> {
        let printed = match self.common.format() {
            FormatArg::Text => printable(text),
            FormatArg::Json => {
                let json = serde_json::to_string_pretty(value);
                json.map_err(Failure::bug)? + "\n"
            }
            _ => unreachable!("refused before anything was done"),
        };
        self.print(&printed)
    }

    /// Makes sure that the result can be written, before anything is done that cannot be undone.
    pub fn claim_output(&self) -> Result<(), Failure> {
        let Some(path) = &self.common.output else { return Ok(()) };
        match is_stream(path) {
            true => Ok(()),
            false => use_cases::assert_private(path).map_err(Failure::environment),
        }
    }

    /// Prints a text as it is, where the result goes.
    pub fn print(&self, printed: &str) -> Result<(), Failure> {
        match &self.common.output {
            Some(path) if is_stream(path) => File::options()
                .write(true)
                .truncate(true)
                .open(path)
                .and_then(|mut file| file.write_all(printed.as_bytes()))
                .map_err(|error| Failure::environment(format!("{}: {error}", path.display()))),
            // Results tell of private tables.
            Some(path) => use_cases::write_private(path, printed.as_bytes()).map_err(Failure::environment),
            None => match io::stdout().write_all(printed.as_bytes()) {
                // A reader that has seen enough, such as `head`, is no failure.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                done => done.map_err(|error| Failure::environment(format!("standard output: {error}"))),
            },
        }
    }

    /// Says something beside the result.
    pub fn note(&self, text: &str) {
        if !self.common.quiet {
            // Nobody may be listening any more.
            let _ = writeln!(io::stderr(), "{}", printable(text));
        }
    }

    /// Says what nobody may miss, whatever is asked of the output: a job that runs alone is asked to be quiet, and its results
    /// are read by a program.
    pub fn warn(&self, text: &str) {
        let _ = writeln!(io::stderr(), "{}", printable(&format!("warning: {text}")));
    }

    /// Says something only if asked to say more.
    pub fn detail(&self, text: &str) {
        if self.common.verbose {
            self.note(text);
        }
    }

    /// A bar for steps, shown on a terminal only, once a second has passed.
    pub fn bar(&self) -> ProgressBar {
        if self.common.no_progress || self.common.quiet || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} {bar:24} {pos}/{len} {msg} {elapsed}");
        bar.set_style(style.expect("the template is ours"));
        let later = bar.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_secs(1));
            if !later.is_finished() {
                later.set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
                later.enable_steady_tick(Duration::from_millis(250));
            }
        });
        bar
    }

    /// Asks a yes-or-no question on a terminal; `--yes` answers it; elsewhere the answer is no.
    pub fn agrees(&self, question: &str) -> Result<bool, Failure> {
        if self.common.yes {
            return Ok(true);
        }
        match self.ask(question)? {
            Some(answer) => Ok(matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes")),
            None => Ok(false),
        }
    }

    /// Asks for a line on a terminal; `None` elsewhere, and at the end of the input.
    pub fn ask(&self, question: &str) -> Result<Option<String>, Failure> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return Ok(None);
        }
        eprint!("{} ", printable(question));
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer);
        let read = read.map_err(|error| Failure::environment(format!("standard input: {error}")))?;
        // The end of the input is nobody's answer.
        Ok((read > 0).then(|| answer.trim().to_string()))
    }

    /// Whether colour may be used on standard error.
    pub fn color(&self) -> bool {
        match self.common.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none(),
        }
    }
}

/// A passphrase: from the environment, or from a person at the terminal.
pub fn passphrase(question: &str) -> Option<String> {
    if let Ok(given) = env::var("TACENDA_PASSPHRASE") {
        return Some(given);
    }
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    let _ = write!(io::stderr(), "{question} ");
    rpassword::read_password().ok()
}

/// Moves a bar on by one step of so many and says what is being done.
pub fn telling(bar: &ProgressBar) -> impl Fn(usize, &str) + Sync + '_ {
    |steps, what| {
        bar.inc(1);
        // A table on disk takes as many passes as it needs.
        bar.set_length(bar.position().max(steps as u64));
        bar.set_message(what.to_string());
    }
}

/// Whether a path names a pipe or a device, such as `/dev/stdout`, which is written to as it is. Links count only where the
/// system alone can put them.
fn is_stream(path: &Path) -> bool {
    let is_of_system =
        path.parent() == Some(Path::new("/dev")) || path.starts_with("/dev/fd") || path.starts_with("/proc");
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => is_of_system,
        Ok(found) => !found.is_file() && !found.is_dir(),
        Err(_) => false,
    }
}

/// The text without characters that command a terminal: names of columns and files come from anybody.
pub fn printable(text: &str) -> String {
    let commands = |letter: char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t'))
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.replace(commands, "\u{fffd}")
}

/// A whole number in groups of three, for people: `12,345`.
pub fn number(count: impl Into<u64>) -> String {
    report::number(count.into())
}
