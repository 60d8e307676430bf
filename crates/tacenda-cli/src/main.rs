//! The `tacenda` command: words for the user around the library, and nothing else.
//!
//! `main` parses, [`commands::run`] is a `match` over the commands, each command is one file.

mod args;
mod commands;
mod failure;
mod screen;

use clap::Parser;
use std::process::ExitCode;

/// Publishing allocates in large pieces from two threads; this allocator is measurably better at it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    failure::catch(cli.common.format(), || commands::run(cli))
}
