//! The `tacenda` command: words for the user around the library, and nothing else.
//!
//! [`run`] parses, `commands::run` is a `match` over the commands, each command is one file. The binary and the Python
//! package both call [`run`]: they are the same command.

mod addresses;
mod args;
mod commands;
mod failure;
mod screen;

use clap::{CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::io;
use std::io::Write;

/// Runs the command with these words, the first of which is its own name. The answer is the exit code.
///
/// It never ends the process itself, because that may be a Python interpreter. What it printed has left its buffers.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    let found = args::Cli::command().try_get_matches_from(&words);
    // Before anything else: whatever is wrong with the words, they are repeated then.
    let checked = addresses::refuse_passwords(&words);
    let code = match found.and_then(|found| Ok((args::Cli::from_arg_matches(&found)?, found))) {
        Ok((cli, found)) => {
            let checked = checked.and_then(|()| addresses::refuse_misplaced(&found));
            failure::catch(cli.common.format(), || checked.and_then(|()| commands::run(cli)))
        }
        Err(_) if checked.is_err() => failure::catch(args::FormatArg::Text, || checked.map(|()| 2)),
        // Wrong words, or a question for help. Nobody may be listening any more; the exit code still speaks.
        Err(said) => {
            let _ = said.print();
            u8::try_from(said.exit_code()).unwrap_or(2)
        }
    };
    let _ = io::stdout().flush();
    code
}
