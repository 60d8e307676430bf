//! What can be said on the command line.

use crate::screen::passphrase;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tacenda::audit::Effort;
use tacenda::ingest::Given;
use tacenda::keys::KeyFolder;
use tacenda::ledger::Anchors;
use tacenda::model::Language;
use tacenda::use_cases::{FailOn, FileOptions, Order, ProjectFolder, Said, SubjectRequest};
use tacenda_postgres::Postgres;

/// Publish a changing table of people again and again, so that all releases together keep one promise.
#[derive(Debug, Parser)]
#[command(name = "tacenda", version, after_help = AFTER, max_term_width = 100)]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

const AFTER: &str = "\
Exit codes:
  0  done
  1  something was found, or the release would break the promise
  2  the command line or the policy file is wrong
  3  the data are not accepted
  4  the promise cannot be met with these data
  5  files of the project or of a release are damaged
  6  a person must decide, or an audit could not answer everything
  7  the disk, a database or the system failed; nothing was published
  8  published, but not delivered to every database
 70  a bug of Tacenda

Start with `tacenda demo`, or with your own table: `tacenda init table.csv`.";

/// Options of every command. They have a heading of their own, so that a command's own options come first.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub struct Common {
    /// The project folder.
    #[arg(short = 'C', long = "project", value_name = "DIR", default_value = ".", global = true)]
    pub project: PathBuf,
    /// The policy file.
    #[arg(long, value_name = "FILE", global = true, help = "The policy file [default: DIR/tacenda.toml]")]
    pub policy: Option<PathBuf>,
    /// The folder outside the project that records how far its series has come.
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        help = "The folder outside the project that records how far its series has come [default: the user's state \
            folder]"
    )]
    pub anchor: Option<PathBuf>,
    /// A receipt, or a release folder, that stands in for a lost anchor.
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help = "A receipt, or the newest release folder that recipients have: stands in for a lost anchor"
    )]
    pub anchor_from: Option<PathBuf>,
    /// The folder with your keys.
    #[arg(
        long,
        value_name = "DIR",
        global = true,
        help = "The folder with your keys [default: tacenda/keys in the user's configuration folder]"
    )]
    pub keys: Option<PathBuf>,
    /// How results are printed [default: text; audit and report choose by the ending of -o]
    #[arg(long, value_enum, global = true, hide_default_value = true)]
    pub format: Option<FormatArg>,
    /// Write the result to a file instead of standard output.
    #[arg(short, long, value_name = "FILE", global = true)]
    pub output: Option<PathBuf>,
    /// Print only results, warnings and errors.
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Print more details.
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
    /// Keep people on disk, or refuse the table, if more memory than this is expected, such as 4G.
    #[arg(long, value_name = "SIZE", global = true, value_parser = parse_size)]
    pub memory: Option<u64>,
    /// Answer yes to every question.
    #[arg(long, global = true)]
    pub yes: bool,
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum FormatArg {
    /// For people.
    Text,
    /// One page for decision makers, without codes; audit and report only.
    Brief,
    /// For programs; the schema is in docs/schema.
    Json,
    /// For code scanning; audit and report only.
    Sarif,
    /// For test reports; audit and report only.
    Junit,
    /// For a pull request or a wiki; audit, report and receipt only.
    Markdown,
    /// One file for a browser; audit, report and receipt only.
    Html,
}

impl Common {
    /// The project folder.
    pub fn folder(&self) -> ProjectFolder {
        let (root, policy) = (self.project.clone(), self.policy.clone());
        let (anchors, anchor_from) = (self.anchors(), self.anchor_from.clone());
        ProjectFolder {
            root,
            place: None,
            policy,
            anchors,
            anchor_from,
            keys: self.keys(),
            accept_rollback: None,
            database: Some(Arc::new(Postgres)),
        }
    }

    /// Where it is remembered how far a series went.
    fn anchors(&self) -> Option<Anchors> {
        self.anchor.as_deref().map(Anchors::at).or_else(Anchors::of_user)
    }

    /// Where the user's keys are. Passphrases come from the environment, or from a person at the terminal.
    pub fn keys(&self) -> Option<KeyFolder> {
        let folder = self.keys.as_deref().map(KeyFolder::at).or_else(KeyFolder::of_user)?;
        Some(folder.asking(Arc::new(passphrase)))
    }

    /// The form that is asked for; text where none is.
    pub fn format(&self) -> FormatArg {
        self.format.unwrap_or(FormatArg::Text)
    }

    /// The form of a report: what is asked for, or else what the ending of the file stands for, or else `otherwise`.
    pub fn form(&self, otherwise: FormatArg) -> FormatArg {
        let ending = self.output.as_ref().and_then(|path| path.extension()).and_then(|ending| ending.to_str());
        self.format.unwrap_or_else(|| match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("txt") => FormatArg::Text,
            Some("json") => FormatArg::Json,
            Some("md") => FormatArg::Markdown,
            Some("html" | "htm") => FormatArg::Html,
            Some("sarif") => FormatArg::Sarif,
            Some("xml") => FormatArg::Junit,
            _ => otherwise,
        })
    }
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
    /// Break a naive series of made-up data, then publish the same data safely; `--list` has one demo for each paper
    Demo(DemoArgs),
    /// Look at a table and draft the policy file
    Init(InitArgs),
    /// Is the policy sound, and can these data keep it? Writes nothing
    Check(CheckArgs),
    /// Rehearse the next release: arrivals, departures, promise, cost
    Plan(PlanArgs),
    /// Make the next release
    Publish(PublishArgs),
    /// Deliver published releases to the databases of the policy file: what is not there yet
    Deliver(DeliverArgs),
    /// Adopt releases made elsewhere, so that the next release is judged together with them
    Adopt(AdoptArgs),
    /// The series so far
    Log,
    /// One release
    Show(ShowArgs),
    /// What a recipient sees change from one release to another
    Diff(DiffArgs),
    /// Declare a release withdrawn: the next release tells recipients; later releases are still judged together with it
    Retract(RetractArgs),
    /// Erase a person from the vault and from all later releases; the identifier is read from standard input
    Erase,
    /// Forget people who left and have not been published for N releases
    Retain(RetainArgs),
    /// A receipt of how far the series has come, to print and keep apart from every disk
    Receipt,
    /// Start a new series in this folder after a false start: the old one is kept in earlier/
    New(NewArgs),
    /// Check ledger, vault and release folders against their digests, and signatures against a key
    Verify(VerifyArgs),
    /// Your signing key: make one, show it, replace it
    Key(KeyArgs),
    /// Approve a plan with your key, as a second person
    Approve(ApproveArgs),
    /// The private vault: encrypt it, decrypt it, change its key
    Vault(VaultArgs),
    /// Write the project into one file, encrypted for your key and the recovery key
    Backup(BackupArgs),
    /// Put a backup back into a folder that has no project
    Restore(BackupArgs),
    /// Count people in a release: estimate, lowest and highest possible number
    Count(CountArgs),
    /// What can anyone learn from these releases? Any tool may have made them
    Audit(Box<AuditArgs>),
    /// Explain a code, a finding, a group or a person in plain words
    Explain(Box<ExplainArgs>),
    /// The report on everything published: for recipients, the steward or an auditor. The exit code is 0 whatever its verdict
    Report(ReportArgs),
    /// Open a page on this machine: start, rehearse, publish, audit and explain in a browser
    Serve(ServeArgs),
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
pub struct DataArgs {
    /// The table: CSV, TSV, Parquet or Excel (FILE.xlsx#SHEET), text plain or compressed; `-` for standard input; a table of a
    /// database (postgresql://HOST/DATABASE?table=SCHEMA.NAME). If left out, the [source] of the policy file
    #[arg(value_name = "DATA")]
    pub path: Option<PathBuf>,
    /// DATA holds changes: rows with a column `op` (insert, update, delete)
    #[arg(long)]
    pub delta: bool,
    /// Show the values that an error is about. They are cells of your table
    #[arg(long)]
    pub show_values: bool,
}

#[derive(Args, Debug)]
pub struct DemoArgs {
    /// The demo, by the name of its promise. A word that is no name is DIR
    #[arg(value_name = "NAME", help = "The demo, by the name of its promise [default: m-invariance]")]
    pub name: Option<PathBuf>,
    /// Where to leave the project
    #[arg(value_name = "DIR", help = "Where to leave the project; also without NAME [default: tacenda-demo]")]
    pub folder: Option<PathBuf>,
    /// List the demos: one for the situation of each paper
    #[arg(long, conflicts_with_all = ["name", "folder", "patients", "seed"])]
    pub list: bool,
    /// How many patients, for m-invariance
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(2_000..=1_000_000))]
    pub patients: u32,
    /// The seed of the made-up data, for m-invariance
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

#[derive(Args, Debug)]
pub struct InitArgs {
    /// The table to look at: a file, or postgresql://HOST/DATABASE?table=SCHEMA.NAME
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// The series' name
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The promise to draft; `tacenda promises` lists them [default: the one that fits the columns]
    #[arg(long, value_name = "NAME")]
    pub promise: Option<String>,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    #[command(flatten)]
    pub data: DataArgs,
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
    pub data: DataArgs,
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
    pub data: DataArgs,
    /// The release's label, such as 2026-Q3
    #[arg(long)]
    pub label: Option<String>,
    /// Publish exactly what a plan rehearsed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "delta", "label", "view"])]
    pub plan: Option<PathBuf>,
    /// The view to publish, for a policy with views
    #[arg(long, value_name = "NAME")]
    pub view: Option<String>,
    /// Publish although the project was restored or copied (L511). The ledger keeps the reason
    #[arg(long, value_name = "REASON")]
    pub accept_rollback: Option<String>,
    /// Write a backup of the project to FILE first, not where the policy file says; if that fails, nothing is published
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct DeliverArgs {
    /// The place, by its name in the policy file; all places if left out
    #[arg(value_name = "NAME")]
    pub to: Option<String>,
    /// The release, by its number or label. The database is asked even if the ledger has the delivery
    #[arg(long, value_name = "RELEASE")]
    pub release: Option<String>,
}

#[derive(Args, Debug)]
pub struct BackupArgs {
    /// The backup
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

#[derive(Args, Debug)]
pub struct AdoptArgs {
    /// The published files, the oldest first: CSV or Parquet, in any of the usual notations
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The private table of each file, in the same order, with the columns of the policy file
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub truth: Vec<PathBuf>,
    /// The label of each release, in the same order
    #[arg(long, value_name = "LABEL", num_args = 1..)]
    pub label: Vec<String>,
    /// The column that numbers groups, if not group_id
    #[arg(long, value_name = "COLUMN")]
    pub group: Option<String>,
    /// How a column is written: auto, interval, integer, real, real:DECIMALS, date, prefix, set, exact
    #[arg(long, value_name = "COLUMN=NOTATION")]
    pub notation: Vec<String>,
    /// The file's own hierarchy of a column, in ARX's layout, if its labels are not those of the policy
    #[arg(long, value_name = "COLUMN=FILE")]
    pub hierarchy: Vec<String>,
    /// A text that means any value, as * does; for one column or for all
    #[arg(long, value_name = "[COLUMN=]TEXT")]
    pub any: Vec<String>,
}

#[derive(Args, Debug)]
pub struct DiffArgs {
    /// The first release: its number, its label, or its folder
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The second release
    #[arg(value_name = "TO")]
    pub to: String,
}

#[derive(Args, Debug)]
pub struct RetractArgs {
    /// The release: its number or its label
    #[arg(value_name = "RELEASE")]
    pub release: String,
    /// Why, in one line. Recipients read it with the next release
    #[arg(long, value_name = "TEXT")]
    pub because: String,
}

#[derive(Args, Debug)]
pub struct NewArgs {
    /// The name of the new series; must be given if releases of the old one are out
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
}

#[derive(Args, Debug)]
pub struct RetainArgs {
    /// For how many releases people who left are kept
    #[arg(value_name = "N")]
    pub releases: u32,
}

#[derive(Args, Debug)]
pub struct VerifyArgs {
    /// A project folder, or release folders: these are also compared with each other. The project of -C if left out
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// The publisher's public key, or its file. Then only what this key signed counts, or a key that it signed. May be repeated
    #[arg(long = "key", value_name = "PUBKEY")]
    pub trusted: Vec<String>,
}

#[derive(Args, Debug)]
pub struct KeyArgs {
    #[command(subcommand)]
    pub what: KeyCommand,
}

/// What can be done with a signing key.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum KeyCommand {
    /// Make a signing key. A passphrase is asked for, or taken from TACENDA_PASSPHRASE
    New(NewKeyArgs),
    /// Show the public key. Recipients need it, by another way than a release
    Show,
    /// Make a new key that the old one signs
    Rotate(NewKeyArgs),
}

#[derive(Args, Clone, Copy, Debug)]
pub struct NewKeyArgs {
    /// Make a key without a passphrase: anybody who reads its file can sign
    #[arg(long)]
    pub no_passphrase: bool,
}

#[derive(Args, Debug)]
pub struct VaultArgs {
    #[command(subcommand)]
    pub what: VaultCommand,
}

/// What can be done with a vault.
#[derive(Clone, Copy, Debug, Subcommand)]
pub enum VaultCommand {
    /// Encrypt the vault of a project from an earlier version. New projects have an encrypted one
    Lock,
    /// Decrypt the vault: a person who reads its files can then re-identify everyone
    Unlock,
    /// Encrypt the vault with a new key
    Rekey,
    /// Encrypt the key that opens your vaults with a passphrase
    Passphrase(NewKeyArgs),
}

#[derive(Args, Debug)]
pub struct ApproveArgs {
    /// The plan file
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
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
pub struct AuditArgs {
    /// Published files or release folders, in order of time; the project's releases if left out. The files of a folder, or of
    /// a pattern such as 'out/*.csv', are put in the order of the dates in their names
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// What the attacker knows: quasi, then any of presence, first-release, known=B [default: quasi,presence]
    #[arg(long, value_name = "WORDS")]
    pub attacker: Option<String>,
    /// The threshold k: the least number of people in a group [default: what the project promises, or 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub k: Option<u32>,
    /// The threshold l: the least number of sensitive values that must remain possible [default: as for k]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub l: Option<u32>,
    /// The threshold t: the largest distance of a group's values from the whole table's [default: none]
    #[arg(long, value_name = "X", value_parser = parse_share)]
    pub t: Option<f64>,
    /// Make only this check; may be repeated
    #[arg(long = "check", value_name = "NAME")]
    pub checks: Vec<String>,
    /// The reader to judge for: one who knows the rule of the releases, or one who also knows the program [default:
    /// what the project promises, or rule]
    #[arg(long, value_name = "rule|method")]
    pub reader: Option<String>,
    /// Sensitive values that nobody ever loses, such as a chronic disease
    #[arg(long, value_name = "VALUE", num_args = 1..)]
    pub permanent: Vec<String>,
    /// A table of everyone whom the releases might be about, for journalist risk and k-map
    #[arg(long, value_name = "FILE")]
    pub population: Option<PathBuf>,
    /// The column of the private tables that is the same for people who live together
    #[arg(long, value_name = "COLUMN", requires = "truth")]
    pub household: Option<String>,
    #[command(flatten)]
    pub work: WorkArgs,
    /// What makes the exit code 1 (a finding) or 6 (a question that is NOT ASSESSED and may hide a finding)
    #[arg(long, value_enum, default_value_t = FailOnArg::Any)]
    pub fail_on: FailOnArg,
    /// Also say what every finding means, and try what would help: leaving out columns, or a release. Each try is an audit
    #[arg(long)]
    pub explain: bool,
    /// Show sensitive values by name; on a terminal only
    #[arg(long)]
    pub show_values: bool,
}

/// How much work the attacks may do.
#[derive(Args, Clone, Copy, Debug)]
pub struct WorkArgs {
    /// How hard to try. A question that needs more work is NOT ASSESSED
    #[arg(long, value_enum, default_value_t = EffortArg::Standard)]
    pub effort: EffortArg,
    /// The steps that each search may take, instead of those of --effort (quick 5 million, standard 200 million, thorough
    /// 10 billion)
    #[arg(long, value_name = "STEPS", conflicts_with = "effort", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
}

impl WorkArgs {
    /// The effort.
    pub fn effort(self) -> Effort {
        match self.effort {
            EffortArg::Quick => Effort::Quick,
            EffortArg::Standard => Effort::Standard,
            EffortArg::Thorough => Effort::Thorough,
        }
    }
}

/// How hard to try.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum EffortArg {
    /// A first look.
    Quick,
    /// The usual effort.
    Standard,
    /// May take minutes.
    Thorough,
}

/// How published files are read.
#[derive(Args, Clone, Debug)]
pub struct ReadingArgs {
    /// The quasi-identifiers, such as age,zip,sex
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub quasi: Vec<String>,
    /// The sensitive columns; several count as one combined value
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub sensitive: Vec<String>,
    /// The private tables that the releases were made from, one per release, in order
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub truth: Vec<PathBuf>,
    /// The column of the private tables that names a person
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,
    /// The column that numbers groups, if not group_id
    #[arg(long, value_name = "COLUMN")]
    pub group: Option<String>,
    /// The column that links records of different releases, or none [default: record, or a column that is unique in each file
    /// and links rows that fit]
    #[arg(long, value_name = "COLUMN")]
    pub linked: Option<String>,
    /// The column that says for how many people a row stands, or none [default: count, n or the like, if no combination has
    /// two rows]
    #[arg(long, value_name = "COLUMN")]
    pub weight: Option<String>,
    /// How a column is written: auto, interval, integer, real, real:DECIMALS, date, prefix, set, exact
    #[arg(long, value_name = "COLUMN=NOTATION")]
    pub notation: Vec<String>,
    /// A column's hierarchy, in ARX's layout
    #[arg(long, value_name = "COLUMN=FILE")]
    pub hierarchy: Vec<String>,
    /// A folder of hierarchies in ARX's layout, in files named after their columns: age.csv, adult_hierarchy_age.csv. Or a
    /// project file of ARX (.deid)
    #[arg(long, value_name = "DIR")]
    pub hierarchies: Option<PathBuf>,
    /// The form of dates and times that are not written as 2026-11-15, in one column or in all: %d.%m.%Y, %m/%d/%Y, %H:%M
    #[arg(long, value_name = "[COLUMN=]FORM")]
    pub date_format: Vec<String>,
    /// A column's domain, half open [default: all values in the files]
    #[arg(long, value_name = "COLUMN=LO..HI")]
    pub domain: Vec<String>,
    /// A text that means any value, as * does; for one column or for all
    #[arg(long, value_name = "[COLUMN=]TEXT")]
    pub any: Vec<String>,
    /// What empty cells, NA, NULL and ? mean, in one column or in all: any value, or a value of their own [default: any,
    /// unless the column also has * or the private tables have such cells there]
    #[arg(long, value_name = "[COLUMN=]any|value")]
    pub missing: Vec<String>,
    /// The order of the files: as given, or by the dates in their names
    #[arg(long, value_enum, default_value_t = OrderArg::Given)]
    pub order: OrderArg,
    /// The files' dates, in the order of the files. The files are then sorted by date
    #[arg(long, value_name = "DATES", value_delimiter = ',')]
    pub dates: Vec<String>,
}

impl ReadingArgs {
    /// The request for these files; for the project's releases where there are none.
    pub fn request(&self, files: &[PathBuf], common: &Common) -> SubjectRequest {
        SubjectRequest {
            releases: files.iter().cloned().map(Given::Path).collect(),
            truth: self.truth.iter().cloned().map(Given::Path).collect(),
            project: common.folder(),
            quasi: self.quasi.clone(),
            sensitive: self.sensitive.clone(),
            id: self.id.clone(),
            linked: self.linked.clone(),
            options: FileOptions {
                hierarchies: self.hierarchies.clone(),
                ..options(&self.group, &self.notation, &self.hierarchy, &self.any)
            },
            weight: self.weight.clone(),
            date_format: said(&self.date_format),
            domain: said(&self.domain),
            missing: said(&self.missing),
            order: match (self.dates.is_empty(), self.order) {
                (false, _) => Order::Dated(self.dates.clone()),
                (true, OrderArg::Date) => Order::Named,
                (true, OrderArg::Given) => Order::Given,
            },
        }
    }
}

impl AdoptArgs {
    /// How the files are read.
    pub fn options(&self) -> FileOptions {
        options(&self.group, &self.notation, &self.hierarchy, &self.any)
    }
}

fn options(group: &Option<String>, notation: &[String], hierarchy: &[String], any: &[String]) -> FileOptions {
    let (notation, hierarchy, any) = (said(notation), said(hierarchy), said(any));
    FileOptions { group: group.clone(), notation, hierarchy, any, ..FileOptions::default() }
}

fn said(words: &[String]) -> Vec<Said> {
    words.iter().map(|words| Said::parse(words)).collect()
}

/// The order of files.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum OrderArg {
    /// As on the command line.
    Given,
    /// By the dates in their names.
    Date,
}

/// What makes the exit code 1 or 6.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum FailOnArg {
    /// Severe findings, and questions that are NOT ASSESSED and may hide one.
    Severe,
    /// Warnings and severe findings, and questions that are NOT ASSESSED and may hide one.
    Any,
    /// Warnings and severe findings.
    Found,
    /// Nothing.
    Never,
}

impl From<FailOnArg> for FailOn {
    fn from(on: FailOnArg) -> FailOn {
        match on {
            FailOnArg::Severe => FailOn::Severe,
            FailOnArg::Any => FailOn::Any,
            FailOnArg::Found => FailOn::Found,
            FailOnArg::Never => FailOn::Never,
        }
    }
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// A code such as D103; or finding N, group RELEASE:GROUP, person
    #[arg(value_name = "WHAT", required = true, num_args = 1..=2)]
    pub what: Vec<String>,
    /// The saved audit that has the finding: audit --format json -o FILE
    #[arg(long, value_name = "FILE")]
    pub audit: Option<PathBuf>,
    /// Show sensitive values by name; on a terminal only
    #[arg(long)]
    pub show_values: bool,
    /// Published files or release folders; the project's releases if left out
    #[arg(long = "releases", value_name = "FILE", num_args = 1..)]
    pub releases: Vec<PathBuf>,
    #[command(flatten)]
    pub reading: ReadingArgs,
}

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// Whom the report is for. The steward's edition has private numbers; the auditor's has every proof and nothing
    /// from the vault
    #[arg(long, value_enum, default_value_t = EditionArg::Steward)]
    pub edition: EditionArg,
    /// When the assessment must be reviewed, such as 2027-06-30 [default: a year after the last release]
    #[arg(long, value_name = "DATE")]
    pub review_by: Option<String>,
    /// The private tables that the releases were made from, one per release, in order; the vault has the last one only
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub truth: Vec<PathBuf>,
    /// The language of the recipients' page, as HTML [default: that of the policy file]
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub language: Option<LanguageArg>,
    #[command(flatten)]
    pub work: WorkArgs,
}

/// A language of the page for recipients.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum LanguageArg {
    /// English.
    En,
    /// German.
    De,
    /// French.
    Fr,
}

impl From<LanguageArg> for Language {
    fn from(language: LanguageArg) -> Language {
        match language {
            LanguageArg::En => Language::English,
            LanguageArg::De => Language::German,
            LanguageArg::Fr => Language::French,
        }
    }
}

/// Whom a report is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum EditionArg {
    /// Recipients of the releases: only what the published files and the policy say.
    Recipient,
    /// The person responsible for the releases: their cost, private numbers, what to sign.
    Steward,
    /// The person who checks them: every proof and how to repeat it, and nothing from the vault.
    Auditor,
}

#[derive(Args, Debug)]
pub struct ServeArgs {
    /// The port to listen on; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Allow publishing from the page. The label must be typed there
    #[arg(long)]
    pub allow_publish: bool,
    /// After how many minutes without use the page locks itself
    #[arg(long, value_name = "MINUTES", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub idle: u32,
    /// Use the address 127.0.0.1 instead of a name of its own, for browsers that do not know names ending in .localhost
    #[arg(long)]
    pub plain_address: bool,
    /// The address to listen on. Another than this machine's own needs --i-know
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub bind: IpAddr,
    /// Run as root, or listen on another address, although nothing is encrypted on the way
    #[arg(long)]
    pub i_know: bool,
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
        _ => Err("give a number from 1 to 1024".into()),
    }
}

/// Reads a number from 0 to 1.
fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a number from 0 to 1".into()),
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
        _ => return Err("write it as 500M or 4G".into()),
    };
    let number: u64 = digits.trim().parse().map_err(|_| "write it as 500M or 4G")?;
    number.checked_mul(unit).ok_or_else(|| "that is more than any machine has".into())
}
