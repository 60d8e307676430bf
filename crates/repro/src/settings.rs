//! What is run, on which data, and where results go.

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use std::fs;
use std::path::PathBuf;

/// The experiments of the five papers, run again.
///
/// Data are read from a folder with `adult.csv` and `adult_hierarchies/` (UCI Adult,
/// <https://archive.ics.uci.edu/dataset/2/adult>), `census_occ_large.parquet`, `census.parquet` and
/// `census_hierarchies/` (US Census Bureau, American Community Survey 2018 PUMS,
/// <https://www.census.gov/programs-surveys/acs/microdata.html>). What is absent is made up, and the results say so.
#[derive(Debug, Parser)]
#[command(name = "repro")]
pub struct ReproArgs {
    /// Which experiments.
    pub part: Part,
    /// The folder with the real data.
    #[arg(long, default_value = "../shared/data")]
    pub data: PathBuf,
    /// Small samples, few points, one run: under two minutes.
    #[arg(long)]
    pub quick: bool,
    /// Where results go.
    #[arg(long, default_value = "repro/out")]
    pub out: PathBuf,
    /// How many runs are averaged where a paper averages ten.
    #[arg(long)]
    pub runs: Option<u32>,
}

/// A paper, the peers, or everything.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Part {
    /// Everything.
    All,
    /// Pei and others: k-anonymity against incremental updates.
    #[value(name = "000")]
    P000,
    /// Truta and Campan: maintained clusterings.
    #[value(name = "001")]
    P001,
    /// Incremental l-diversity by clustering.
    #[value(name = "002")]
    P002,
    /// Xiao and Tao: m-invariance.
    #[value(name = "003")]
    P003,
    /// Wang and Fung: sequential releases.
    #[value(name = "004")]
    P004,
    /// Other tools on the same file.
    Peers,
}

impl Part {
    /// Its name in files and headings.
    pub fn name(self) -> &'static str {
        match self {
            Part::All => "all",
            Part::P000 => "000",
            Part::P001 => "001",
            Part::P002 => "002",
            Part::P003 => "003",
            Part::P004 => "004",
            Part::Peers => "peers",
        }
    }

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Part::All => "All",
            Part::P000 => "Paper 000: Maintaining k-anonymity against incremental updates",
            Part::P001 => "Paper 001: k-anonymization incremental maintenance and optimization techniques",
            Part::P002 => "Paper 002: l-diversity for incremental data by clustering",
            Part::P003 => "Paper 003: m-invariance",
            Part::P004 => "Paper 004: Anonymizing sequential releases",
            Part::Peers => "Peers: other tools on the same file",
        }
    }
}

/// The command line, made whole.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder with the real data; `None`: everything is made up.
    pub data: Option<PathBuf>,
    /// Whether this is the quick mode.
    pub quick: bool,
    /// Where results go. It exists.
    pub out: PathBuf,
    /// How many runs are averaged where a paper averages ten.
    pub runs: u32,
}

impl Settings {
    /// Makes the output folder and looks whether there are data.
    pub fn new(cli: &ReproArgs) -> Result<Settings> {
        fs::create_dir_all(&cli.out).with_context(|| format!("cannot make the folder {}", cli.out.display()))?;
        let data = cli.data.is_dir().then(|| cli.data.clone());
        if data.is_none() {
            println!("no folder {}: all people are MADE UP", cli.data.display());
        }
        let runs = cli.runs.unwrap_or(if cli.quick { 1 } else { 10 }).max(1);
        Ok(Settings { data, quick: cli.quick, out: cli.out.clone(), runs })
    }

    /// One of two, by the mode.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }
}
