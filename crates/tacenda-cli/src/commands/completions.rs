//! Completions for a shell, on standard output.

use crate::args::Cli;
use crate::args::CompletionsArgs;
use crate::failure::Failure;
use clap::CommandFactory;
use std::io;

pub fn run(args: &CompletionsArgs) -> Result<u8, Failure> {
    clap_complete::generate(args.shell, &mut Cli::command(), "tacenda", &mut io::stdout());
    Ok(0)
}
