//! The papers' experiments, run again: our numbers next to theirs.
//!
//! `cargo run --release -p repro -- all` writes one table and one plot a figure, and `RESULTS.md`. One
//! subcommand a paper does that paper alone and leaves the others' results as they are. Each paper is one
//! file and answers with [`results::FigureReport`]s; everything that is said in `RESULTS.md` is printed from them.

mod settings;
mod clock;
mod data;
mod standin;
mod series;
mod figure;
mod results;
mod paper000;
mod paper001;
mod paper002;
mod paper003;
mod paper004;
mod peers;

use anyhow::Result;
use clap::Parser;
use results::PartResults;
use settings::{Part, ReproArgs, Settings};

/// The same allocator as the command's, so that times compare.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let cli = ReproArgs::parse();
    let settings = Settings::new(&cli)?;
    let parts: Vec<Part> = match cli.part {
        Part::All => vec![Part::P000, Part::P001, Part::P002, Part::P003, Part::P004, Part::Peers],
        part => vec![part],
    };
    let (done, spent) = clock::timed(|| parts.iter().try_for_each(|&part| run(part, &settings)));
    done?;
    if cli.part == Part::All {
        results::write_total(&settings, spent)?;
    }
    println!("done: {:.0} s, {:.0} CPU s; see {}", spent.wall, spent.cpu, settings.out.join("RESULTS.md").display());
    Ok(())
}

/// Runs one part and writes what it found.
fn run(part: Part, settings: &Settings) -> Result<()> {
    let (reports, spent) = clock::timed(|| match part {
        Part::P000 => paper000::run(settings),
        Part::P001 => paper001::run(settings),
        Part::P002 => paper002::run(settings),
        Part::P003 => paper003::run(settings),
        Part::P004 => paper004::run(settings),
        Part::Peers => peers::run(settings),
        Part::All => unreachable!("all is a list of parts"),
    });
    let section = PartResults { part, reports: reports?, spent };
    results::write(settings, &section)
}
