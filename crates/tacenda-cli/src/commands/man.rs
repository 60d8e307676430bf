//! The manual page, on standard output: one page for the command and one section per subcommand.

use crate::args::Cli;
use crate::failure::Failure;
use crate::screen::Screen;
use clap::CommandFactory;

pub fn run(screen: &Screen) -> Result<u8, Failure> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    let render = |command: clap::Command, page: &mut Vec<u8>| clap_mangen::Man::new(command).render(page);
    render(command.clone(), &mut page).map_err(Failure::environment)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        render(subcommand.clone(), &mut page).map_err(Failure::environment)?;
    }
    screen.print(&String::from_utf8_lossy(&page))?;
    Ok(0)
}
