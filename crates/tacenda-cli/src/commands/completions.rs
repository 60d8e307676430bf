//! Completions for a shell, on standard output.

use crate::args::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::screen::Screen;
use clap::CommandFactory;

pub fn run(args: &CompletionsArgs, screen: &Screen) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tacenda", &mut script);
    screen.print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
