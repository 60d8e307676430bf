//! What can be said on the command line.

use clap::Args;
use clap::Parser;
use clap::Subcommand;
use clap::ValueEnum;
use std::path::PathBuf;

/// Publish a changing table of people again and again, so that all releases together betray no one.
#[derive(Debug, Parser)]
#[command(name = "tacenda", version, after_help = AFTER, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

const AFTER: &str = "\
Exit codes: 0 done · 1 findings, or the promise would not hold · 2 usage or policy file · 3 data rejected ·
4 the promise cannot be met with this data · 5 integrity · 6 needs a person · 7 environment · 70 a bug.

Start with `tacenda demo`, or with your own table: `tacenda init table.csv`.";

/// Words that every command understands.
#[derive(Args, Clone, Debug)]
pub struct Common {
    /// The project folder.
    #[arg(short = 'C', long = "project", value_name = "DIR", default_value = ".", global = true)]
    pub project: PathBuf,
    /// The policy file.
    #[arg(long, value_name = "FILE", global = true, help = "The policy file [default: DIR/tacenda.toml]")]
    pub policy: Option<PathBuf>,
    /// How results are printed.
    #[arg(long, value_enum, default_value_t = Format::Text, global = true)]
    pub format: Format,
    /// Write the result to a file instead of standard output.
    #[arg(short, long, value_name = "FILE", global = true)]
    pub output: Option<PathBuf>,
    /// Say nothing but results and errors.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more.
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Show no progress bar.
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// When to use colour. NO_COLOR is honoured.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true)]
    pub color: Color,
    /// How many threads to use. The result does not depend on it.
    #[arg(long, value_name = "N", global = true, value_parser = parse_threads, help = "How many threads to use [default: all cores]")]
    pub threads: Option<usize>,
    /// Refuse a table that would need more memory than this, such as 4G.
    #[arg(long, value_name = "SIZE", global = true, value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Do not ask.
    #[arg(long, global = true)]
    pub yes: bool,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Format {
    /// For people.
    Text,
    /// For programs; the schema is in docs/schema.
    Json,
    /// For code scanning; audits only.
    Sarif,
    /// For test reports; audits only.
    Junit,
    /// For a pull request or a wiki; audits only.
    Markdown,
    /// One file for a browser; audits only.
    Html,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Break a naive series of made-up data, then publish the same data safely
    Demo(DemoArgs),
    /// Look at a table and draft the policy file
    Init(InitArgs),
    /// Is the policy sound, and can this data meet it? Writes nothing
    Check(CheckArgs),
    /// Rehearse the next release: who came and left, promise, cost
    Plan(PlanArgs),
    /// Make the next release
    Publish(PublishArgs),
    /// The series so far
    Log,
    /// One release
    Show(ShowArgs),
    /// Check ledger, vault and release folders against their digests
    Verify,
    /// Count people in a release: estimate, lowest and highest possible number
    Count(CountArgs),
    /// What a code means, in plain words
    Explain(ExplainArgs),
    /// The report on everything published: for recipients, the steward or an auditor
    Report(ReportArgs),
    /// The promises there are, with their parameters
    Promises,
    /// Completions for a shell
    Completions(CompletionsArgs),
    /// The manual page
    Man,
    /// The JSON schemas of what the commands print
    Schemas,
}

/// A table to read.
#[derive(Args, Clone, Debug)]
pub struct Data {
    /// The table: CSV, TSV or Parquet, plain or compressed; `-` for standard input
    #[arg(value_name = "DATA")]
    pub path: Option<PathBuf>,
    /// DATA holds changes: rows with a column `op` (insert, update, delete)
    #[arg(long)]
    pub delta: bool,
    /// Name values in errors about hierarchies. They are cells of your table
    #[arg(long)]
    pub show_values: bool,
}

#[derive(Args, Debug)]
pub struct DemoArgs {
    /// Where to leave the project
    #[arg(value_name = "DIR", default_value = "tacenda-demo")]
    pub folder: PathBuf,
    /// How many patients
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(2_000..=1_000_000))]
    pub patients: u32,
    /// The seed of the made-up data
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Args, Debug)]
pub struct InitArgs {
    /// The table to look at
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// The series' name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    pub data: Data,
    /// Try other parameters, such as `m=2..6`
    #[arg(long, value_name = "PARAMETER=FROM..TO")]
    pub what_if: Option<String>,
    /// The view to try, for a policy with views
    #[arg(long, value_name = "NAME")]
    pub view: Option<String>,
}

#[derive(Args, Debug)]
pub struct PlanArgs {
    #[command(flatten)]
    pub data: Data,
    /// The release's label, such as 2026-Q3
    #[arg(long)]
    pub label: Option<String>,
    /// Where to write the plan
    #[arg(long, value_name = "FILE", help = "Where to write the plan [default: DIR/tacenda-plan.json]")]
    pub plan: Option<PathBuf>,
    /// The view to rehearse, for a policy with views
    #[arg(long, value_name = "NAME")]
    pub view: Option<String>,
}

#[derive(Args, Debug)]
pub struct PublishArgs {
    #[command(flatten)]
    pub data: Data,
    /// The release's label, such as 2026-Q3
    #[arg(long)]
    pub label: Option<String>,
    /// Publish exactly what a plan rehearsed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "delta", "label", "view"])]
    pub plan: Option<PathBuf>,
    /// The view to publish, for a policy with views
    #[arg(long, value_name = "NAME")]
    pub view: Option<String>,
}

#[derive(Args, Debug)]
pub struct ShowArgs {
    /// The release: its number, its label, or its folder. The last one if left out
    #[arg(value_name = "RELEASE")]
    pub release: Option<String>,
}

#[derive(Args, Debug)]
pub struct CountArgs {
    /// The release: its number, its label, or its folder
    #[arg(value_name = "RELEASE")]
    pub release: String,
    /// Whom to count, such as 'age >= 65 and diagnosis = flu'
    #[arg(long = "where", value_name = "CONDITION", default_value = "")]
    pub condition: String,
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The code, such as D103
    #[arg(value_name = "CODE")]
    pub code: String,
}

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Whom it is for. The steward's and the auditor's hold private numbers
    #[arg(long, value_enum, default_value_t = Edition::Steward)]
    pub edition: Edition,
    /// Until when it is to hold, such as 2027-06-30 [default: a year after the last release]
    #[arg(long, value_name = "DATE")]
    pub review_by: Option<String>,
}

/// Whom a report is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Edition {
    /// Whoever has the releases: only what the published files and the policy say.
    Recipient,
    /// Who answers for the releases: everything, to be signed.
    Steward,
    /// Who checks them: everything.
    Auditor,
}

#[derive(Args, Debug)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// Reads a number of threads that a machine can have.
fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads @ 1..=1024) => Ok(threads),
        _ => Err("say a number from 1 to 1024".into()),
    }
}

/// Reads `500M`, `4G`, `4GiB` or a plain number of bytes.
fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1u64 << 30,
        _ => return Err("say it as 500M or 4G".into()),
    };
    let number: u64 = digits.trim().parse().map_err(|_| "say it as 500M or 4G")?;
    number.checked_mul(unit).ok_or_else(|| "that is more than any machine has".into())
}
