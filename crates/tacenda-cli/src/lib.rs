//! The `tacenda` command: words for the user around the library, and nothing else.
//!
//! [`run`] parses, `commands::run` is a `match` over the commands, each command is one file. The binary and the Python
//! package both call [`run`]: they are the same command.

mod args;
mod commands;
mod failure;
mod screen;

use clap::Parser;
use std::ffi::OsString;
use std::io;
use std::io::Write;

/// Runs the command with these words, the first of which is its own name. The answer is the exit code.
///
/// It never ends the process itself, because that may be a Python interpreter. What it printed has left its buffers.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let code = match args::Cli::try_parse_from(words) {
        Ok(cli) => failure::catch(cli.common.format(), || commands::run(cli)),
        // Wrong words, or a question for help. Nobody may be listening any more; the exit code still speaks.
        Err(said) => {
            let _ = said.print();
            u8::try_from(said.exit_code()).unwrap_or(2)
        }
    };
    let _ = io::stdout().flush();
    code
}
