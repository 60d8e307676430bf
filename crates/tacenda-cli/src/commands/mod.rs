//! One file per command: words for the user, and a call into the library.

mod demo;
mod init;
mod check;
mod plan;
mod publish;
mod deliver;
mod adopt;
mod log;
mod show;
mod verify;
mod count;
mod audit;
mod diff;
mod explain;
mod report;
mod receipt;
mod erase;
mod retract;
mod key;
mod approve;
mod vault;
mod backup;
mod new;
mod serve;
mod promises;
mod completions;
mod man;
mod schemas;
mod shared;

use crate::args::{Cli, Command, FormatArg};
use crate::failure::Failure;
use crate::screen::Screen;
use tacenda::use_cases;

/// Runs a command; the answer is the exit code.
pub fn run(cli: Cli) -> Result<u8, Failure> {
    if let Some(threads) = cli.common.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(|error| Failure::environment(format!("--threads {threads}: {error}")))?;
    }
    refuse_format(&cli)?;
    let screen = Screen::new(&cli.common);
    let keys = cli.common.keys().filter(|keys| !keys.has_vault_identity());
    caution(&cli, &screen)?;
    let ended = dispatch(&cli, &screen);
    // The first project of a user makes the key of vaults; the commands about vaults say so themselves.
    if let Some(keys) = keys.filter(|keys| keys.has_vault_identity() && !matches!(cli.command, Command::Vault(_))) {
        screen.note(&vault::made_key(keys.path()));
    }
    ended
}

/// Says what a person should know of the project before the command answers from it or adds to it.
fn caution(cli: &Cli, screen: &Screen) -> Result<(), Failure> {
    let mut project = cli.common.folder();
    let warn = |text: &String| screen.warn(text);
    match &cli.command {
        Command::Plan(_) | Command::Publish(_) | Command::Adopt(_) => {
            if let Command::Publish(args) = &cli.command {
                project.accept_rollback = args.accept_rollback.clone();
            }
            project.assert_remembered().map_err(|error| shared::failure(error, screen))?;
            use_cases::before_publishing(&project).iter().for_each(warn);
        }
        // What they write is remembered: after them nobody would be told.
        Command::Erase | Command::Retain(_) | Command::Retract(_) | Command::Deliver(_) => {
            use_cases::unremembered(&project).iter().for_each(warn);
        }
        Command::Audit(args) if !args.files.is_empty() => {}
        Command::Check(_)
        | Command::Log
        | Command::Show(_)
        | Command::Diff(_)
        | Command::Count(_)
        | Command::Audit(_)
        | Command::Report(_)
        | Command::Receipt
        | Command::Backup(_)
        | Command::Vault(_)
        | Command::Serve(_) => {
            let set_back = use_cases::set_back(&project).map_err(|error| shared::failure(error, screen))?;
            set_back.iter().for_each(warn);
        }
        _ => {}
    }
    Ok(())
}

fn dispatch(cli: &Cli, screen: &Screen) -> Result<u8, Failure> {
    match &cli.command {
        Command::Demo(args) => demo::run(args, &cli.common, screen),
        Command::Init(args) => init::run(args, &cli.common, screen),
        Command::Check(args) => check::run(args, &cli.common, screen),
        Command::Plan(args) => plan::run(args, &cli.common, screen),
        Command::Publish(args) => publish::run(args, &cli.common, screen),
        Command::Deliver(args) => deliver::run(args, &cli.common, screen),
        Command::Adopt(args) => adopt::run(args, &cli.common, screen),
        Command::Log => log::run(&cli.common, screen),
        Command::Show(args) => show::run(args, &cli.common, screen),
        Command::Diff(args) => diff::run(args, &cli.common, screen),
        Command::Retract(args) => retract::run(args, &cli.common, screen),
        Command::Erase => erase::run(&cli.common, screen),
        Command::Retain(args) => erase::retain(args, &cli.common, screen),
        Command::Receipt => receipt::run(&cli.common, screen),
        Command::New(args) => new::run(args, &cli.common, screen),
        Command::Verify(args) => verify::run(args, &cli.common, screen),
        Command::Key(args) => key::run(args, &cli.common, screen),
        Command::Approve(args) => approve::run(args, &cli.common, screen),
        Command::Vault(args) => vault::run(args, &cli.common, screen),
        Command::Backup(args) => backup::run(args, &cli.common, screen),
        Command::Restore(args) => backup::restore(args, &cli.common, screen),
        Command::Count(args) => count::run(args, &cli.common, screen),
        Command::Audit(args) => audit::run(args, &cli.common, screen),
        Command::Explain(args) => explain::run(args, &cli.common, screen),
        Command::Report(args) => report::run(args, &cli.common, screen),
        Command::Serve(args) => serve::run(args, &cli.common, screen),
        Command::Promises => promises::run(screen),
        Command::Completions(args) => completions::run(args, screen),
        Command::Man => man::run(screen),
        Command::Schemas => schemas::run(screen),
    }
}

/// Refuses a form of output that the command does not have, before anything is done.
fn refuse_format(cli: &Cli) -> Result<(), Failure> {
    let has_all = matches!(cli.command, Command::Audit(_) | Command::Report(_));
    let is_page = matches!(cli.common.format(), FormatArg::Markdown | FormatArg::Html);
    if has_all || matches!(cli.common.format(), FormatArg::Text | FormatArg::Json) {
        return Ok(());
    }
    match cli.command {
        Command::Receipt if is_page => Ok(()),
        Command::Receipt => Err(Failure::usage("a receipt prints --format text, json, markdown or html")),
        _ => Err(Failure::usage("this command prints --format text or json; audit and report print more")),
    }
}
