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

/// Runs the command with these words, the first of which is its own name. The answer is the exit code.
///
/// Wrong words and `--help` end the process, as everywhere on a command line.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = args::Cli::parse_from(words);
    failure::catch(cli.common.format(), || commands::run(cli))
}
