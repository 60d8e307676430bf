//! Why a project cannot be opened, rehearsed or published.

use crate::folder::FolderError;
use crate::ingest::{IngestError, PolicyFileError};
use crate::ledger::LedgerError;
use crate::model::people;
use crate::publish::PublishError;

/// Everything that can go wrong between a policy file and a release. Nothing was published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectError {
    /// The policy file is at fault.
    #[error(transparent)]
    PolicyFile(#[from] PolicyFileError),
    /// The data are at fault, or cannot be read.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// Ledger, vault or disk.
    #[error(transparent)]
    Ledger(LedgerError),
    /// A release folder cannot be written or read.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The release does not come about.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The label was used before.
    #[error("the label {label:?} is release {number} already; choose another with --label")]
    LabelUsed {
        /// The label.
        label: String,
        /// The release that has it.
        number: u32,
    },
    /// The label cannot stand in a file.
    #[error(
        "a label is 1 to 100 letters, digits, blanks or . _ - + : /, and does not look like a release number; choose another with --label"
    )]
    BadLabel,
    /// The policy file names another series than the ledger.
    #[error(
        "the policy file names another series than the ledger, which has {ledger:?}; change series.name back, or start a new project folder"
    )]
    OtherSeries {
        /// The ledger's series.
        ledger: String,
    },
    /// The policy file promises less than before.
    #[error(
        "the policy file is looser than at the last release: {why}; what is out cannot be taken back, so change it back, or start a new series"
    )]
    Loosened {
        /// In what.
        why: String,
    },
    /// A promise that holds per release only is about to be published again.
    #[error(
        "{what}; this promise holds for one release at a time: to publish a second one, put accept_series_risk = \"your reason\" under [promise]"
    )]
    NeedsReason {
        /// What the series would reveal.
        what: String,
    },
    /// A promise about views, and no view is named.
    #[error("this policy publishes views; say which with --view: {known}")]
    NeedsView {
        /// The views there are.
        known: String,
    },
    /// A view is named that cannot be published.
    #[error("{what}; {way_out}")]
    BadView {
        /// What is wrong.
        what: String,
        /// What to do.
        way_out: String,
    },
    /// A release made elsewhere cannot be taken in as a view.
    #[error("view {view}: {what}; change what the policy file says of the view, or leave that release out")]
    Adopted {
        /// The view.
        view: String,
        /// What is wrong.
        what: String,
    },
    /// A plan no longer fits.
    #[error("the plan no longer fits: {what} has changed since; make a new plan")]
    PlanStale {
        /// What has changed.
        what: &'static str,
    },
    /// There is nothing to report on.
    #[error("nothing is published yet; tacenda publish DATA makes the first release")]
    NothingPublished,
    /// There must be one private table a release.
    #[error("--truth names {tables} tables for {releases} releases; name one a release, in order")]
    TruthCount {
        /// How many tables were given.
        tables: usize,
        /// How many releases there are.
        releases: usize,
    },
    /// More memory would be needed than allowed.
    #[error("this table needs about {} MB and --memory allows {}; allow more, or publish on a larger machine", needed >> 20, allowed >> 20)]
    Memory {
        /// How many bytes.
        needed: u64,
        /// How many are allowed.
        allowed: u64,
    },
    /// A release made elsewhere without the table behind it, under a promise about people.
    #[error(
        "{file} was made elsewhere, and {model} goes on from what each person stood among in it, which only the table behind it tells; \
         give it with --truth, or start a new series and audit both together"
    )]
    AdoptNeedsTruth {
        /// The promise.
        model: &'static str,
        /// The file.
        file: String,
    },
    /// A release made elsewhere and the table given with it do not belong together.
    #[error(
        "{rows} of the {of} rows of {file} have nobody behind them in the table given with it; give the very table it was made from"
    )]
    AdoptUnfit {
        /// The file.
        file: String,
        /// How many rows nobody can be behind.
        rows: u64,
        /// Of how many.
        of: u64,
    },
    /// A release made elsewhere says something that the policy's columns have no word for.
    #[error(
        "the column {column} of a release to be adopted holds ranges, sets or empty cells that the policy file cannot express; \
         extend its domain or hierarchy, or say --any '' where an empty cell stands for any value"
    )]
    AdoptNotExpressed {
        /// The column.
        column: String,
    },
    /// A release made elsewhere ties a person's rows together.
    #[error(
        "a release to be adopted links records by a column, or has the identifier itself, and this policy file promises nothing \
         about that; adopt it under incremental-k-anonymity with linked_ids = true, or start a new series"
    )]
    AdoptLinked,
    /// Releases made elsewhere do not keep the promise.
    #[error(
        "the releases to be adopted do not keep the promise: {}; {} can no longer be hidden and would be withheld from now on; \
         to go on, put accept_adopted = \"your reason\" under [promise], or start a new series",
        .findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        people(*exposed)
    )]
    AdoptNeedsReason {
        /// What the auditor found.
        findings: Vec<crate::audit::Finding>,
        /// How many people are given away.
        exposed: u64,
    },
    /// A file cannot be read or written.
    #[error("a file cannot be read or written: {source}")]
    Environment {
        /// Why.
        source: std::io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers, and without them nothing is secret")]
    NoRandomness,
}

impl ProjectError {
    /// Its code, with a page in `explain`.
    pub fn code(&self) -> &'static str {
        match self {
            ProjectError::PolicyFile(error) => error.code(),
            ProjectError::Ingest(error) => error.code(),
            ProjectError::Ledger(error) => error.code(),
            ProjectError::Folder(error) => error.code(),
            ProjectError::Publish(error) => error.code(),
            ProjectError::LabelUsed { .. } => "R202",
            ProjectError::BadLabel => "R201",
            ProjectError::OtherSeries { .. } => "R203",
            ProjectError::Loosened { .. } => "R204",
            ProjectError::NeedsView { .. } => "R205",
            ProjectError::BadView { .. } => "R206",
            ProjectError::Adopted { .. } => "R207",
            ProjectError::NeedsReason { .. } => "R601",
            ProjectError::PlanStale { .. } => "R602",
            ProjectError::NothingPublished => "R208",
            ProjectError::TruthCount { .. } => "R209",
            ProjectError::AdoptUnfit { .. } => "R301",
            ProjectError::AdoptNotExpressed { .. } => "R302",
            ProjectError::AdoptNeedsTruth { .. } => "R603",
            ProjectError::AdoptNeedsReason { .. } => "R604",
            ProjectError::AdoptLinked => "R605",
            ProjectError::Environment { .. } => "R703",
            ProjectError::Memory { .. } => "R701",
            ProjectError::NoRandomness => "R702",
        }
    }

    /// The exit code that goes with it.
    pub fn exit_code(&self) -> u8 {
        match self {
            ProjectError::PolicyFile(_) | ProjectError::OtherSeries { .. } | ProjectError::Loosened { .. } => 2,
            ProjectError::Ingest(error) => error.exit_code(),
            ProjectError::Ledger(error) => error.exit_code(),
            ProjectError::Folder(error) => error.exit_code(),
            ProjectError::Publish(error) => error.exit_code(),
            ProjectError::LabelUsed { .. } | ProjectError::BadLabel | ProjectError::NothingPublished => 2,
            ProjectError::TruthCount { .. } => 2,
            ProjectError::NeedsView { .. } | ProjectError::BadView { .. } | ProjectError::Adopted { .. } => 2,
            ProjectError::AdoptUnfit { .. } | ProjectError::AdoptNotExpressed { .. } => 3,
            ProjectError::NeedsReason { .. } | ProjectError::PlanStale { .. } => 6,
            ProjectError::AdoptNeedsTruth { .. }
            | ProjectError::AdoptNeedsReason { .. }
            | ProjectError::AdoptLinked => 6,
            ProjectError::Memory { .. } | ProjectError::NoRandomness | ProjectError::Environment { .. } => 7,
        }
    }
}

/// Per code: its title and what it means, for `explain`.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "R201",
        "a label that cannot be used",
        "A label stands in file names, manifests and the ledger. It is 1 to 100 letters, digits, blanks or . _ - + : /, and not a number alone, which names a release by its place.",
    ),
    (
        "R202",
        "the label was used before",
        "Every release of a series has a label of its own, so that it can be named in a conversation. Choose another with --label.",
    ),
    (
        "R203",
        "another series",
        "A project folder holds one series. The ledger was begun under another name than the policy file has now. Change series.name back, or start a new folder.",
    ),
    (
        "R204",
        "the policy was loosened",
        "What is out cannot be taken back: earlier releases were published under a stronger promise or with other columns, and people rely on it. Tighten as you like where the promise allows; loosening needs a new series, and the auditor should then be run over both.",
    ),
    ("R205", "no view is named", "A policy with views publishes one view at a time. Say which with --view NAME."),
    (
        "R206",
        "a view that cannot be published",
        "The policy file has no such view, or it is out already, and what is out cannot be changed: name a new view. With pool, each view was judged for the recipients it went to, so that a view that is out gets no more of them: whom else it is handed to sees what was not judged. Without pool all views are judged together, whoever has them.",
    ),
    (
        "R207",
        "a release that cannot be taken in as a view",
        "A view with adopted = \"FILE\" or \"FOLDER\" stands for a release made elsewhere. Its columns must be those the view lists, with the domains of [columns], because readers join on them. What a cell of another tool's file says is kept exactly or refused: a range within the domain, a node of the hierarchy, a set whose values stand side by side in the hierarchy or in the list of values. Say with notation, any and hierarchy under the view how the file is to be read. A file of which no row can be anybody in the table is about other people, or was read wrongly.",
    ),
    (
        "R208",
        "nothing is published yet",
        "A report is about releases, and the ledger of this project has none. tacenda publish DATA makes the first one.",
    ),
    (
        "R209",
        "one private table a release",
        "People are attacked one by one only where the private table behind every release is given, in the order of the releases: --truth T1 T2 …. tacenda log lists the releases.",
    ),
    (
        "R301",
        "the table does not fit the release",
        "To adopt a release with the table behind it, everyone in it must be found: some group whose region holds them has a row with their value. Here some rows have nobody behind them, so the table is another one, or its values were coarsened before they were published.",
    ),
    (
        "R302",
        "a release says what the policy cannot express",
        "Adopted releases are remembered in the codes of the policy file. A range outside the domain, or a set that is no node and no run of listed values, has none. Extend the domain or the hierarchy, so that later releases can be held against it.",
    ),
    (
        "R401",
        "the auditor refused the release",
        "Policies are not trusted. The auditor judged the finished release together with everything published before and found that the promise would not hold. This is a bug in a policy or a promise that cannot be kept in study mode; nothing was published.",
    ),
    (
        "R411",
        "too many counterfeits",
        "The policy file limits how many published rows may be artificial (counterfeits.max_share). With these data the promise needs more. Raise the share, lower the parameter, or wait for more rows.",
    ),
    (
        "R412",
        "too many rows withheld",
        "The policy file limits how many rows of the table may be left out of a release (withheld.max_share). With these data the promise needs more.",
    ),
    ("R421", "too few rows", "Even one group needs more rows than the table has."),
    (
        "R422",
        "the newcomers' values are too uneven",
        "To stand in groups of m different values, no value may be held by more than about one in m of the newcomers. Lower m, publish coarser sensitive values, let the surplus wait (on_ineligible = \"defer\") or add counterfeits (on_ineligible = \"counterfeit\").",
    ),
    (
        "R423",
        "too few distinct sensitive values",
        "A group needs as many distinct sensitive values as the parameter says, and the table has fewer.",
    ),
    (
        "R424",
        "records disappeared",
        "This promise holds for additions only. A record that disappears gives its value away when two releases are compared. Keep the record, withhold its whole group for good (on_delete = \"withhold\"), or start a series with m-invariance, which allows it.",
    ),
    (
        "R425",
        "records changed",
        "This promise does not allow values to change. An age that grows every year announces itself: publish the birth year. Or start a series with m-invariance, which allows changes.",
    ),
    (
        "R426",
        "too many quasi attributes",
        "This promise handles a limited number of quasi attributes. Drop some, or publish them as views.",
    ),
    (
        "R427",
        "no group passes the guard",
        "The guard l asks that no sensitive value is held by more than one in l of a group. With these data no group can be formed that passes. Lower l, raise k, or coarsen the sensitive attribute. Without cohorts the table as a whole must pass, and k does not help.",
    ),
    (
        "R428",
        "no quasi attributes",
        "This promise divides people by their quasi attributes, and the policy file names none.",
    ),
    (
        "R429",
        "other people",
        "Views are different columns of the same people. The snapshot has other people than the one the earlier views were made from, so that rows would have no counterpart. Publish every view from the same snapshot.",
    ),
    (
        "R431",
        "a requirement that makes no sense",
        "X and Y of a promise about views must name different columns, and Y at least one.",
    ),
    (
        "R432",
        "one column, two domains",
        "Columns of one name are one attribute, and views are joined on it. Its domain or hierarchy must be the same in every view.",
    ),
    (
        "R433",
        "the views are not about the same people",
        "Some rows have no possible counterpart in another view: the tables are not of the same people, or an [[impossible]] pair is not impossible, because somebody in the table has both values.",
    ),
    (
        "R434",
        "the promise cannot be met",
        "Even with everything in X generalised the promise is broken, and the theorem says that no other cut can help. What is out cannot be changed: lower the promise, or take columns out of X.",
    ),
    (
        "R435",
        "no way was found",
        "The most general view breaks the promise, and a bounded search among finer ones found none that keeps it. There may be one: the search is not complete, and nothing makes it longer. Lower the promise, put fewer columns in the view, or generalise the earlier views in a new series.",
    ),
    (
        "R601",
        "needs a reason",
        "This promise protects one release at a time. Whoever compares two releases learns more, and the message says how much. If that is acceptable, say why in the policy file: accept_series_risk = \"…\" under [promise]. The reason is printed in the report.",
    ),
    (
        "R602",
        "the plan no longer fits",
        "A plan rehearses one release from one input, one policy file and one state of the ledger. One of them has changed, so publishing would not make what was looked at. Make a new plan.",
    ),
    (
        "R603",
        "adopting needs the truth",
        "This promise is about what each person stood among in every release. For a release that was made elsewhere that is known only from the table behind it: give it with --truth. Without it nothing can be promised across the two; start a new series, and audit both together.",
    ),
    (
        "R604",
        "adopted releases do not keep the promise",
        "What is out cannot be taken back. The series can go on so that nothing is made worse: people whose adopted releases leave too few values are withheld from all later ones, and everyone else keeps the values they stood among. If that is acceptable, say why in the policy file: accept_adopted = \"…\" under [promise].",
    ),
    (
        "R605",
        "an adopted release links records",
        "A column that is stable over releases ties a person's rows together, whatever else is promised. Only incremental-k-anonymity with linked_ids = true covers that.",
    ),
    ("R703", "a file cannot be read or written", "The disk or the permissions are at fault. Nothing was published."),
    ("R701", "not enough memory allowed", "The table is too large for --memory. Nothing was published."),
    (
        "R801",
        "a column is not cut",
        "A warning, not an error. Under incremental-k-anonymity without cohorts every group is published with its cell, and no printable value holds an empty cell together with some of the numbers. So a column of numbers or dates with missing = \"value\", which is the default, is cut between numbers and empty cells first, or not at all: where fewer than k cells are empty, or fewer than k are not, every cell says *, and boxes fixed at birth are as wide as their people lie apart. If no cell will ever be empty, set missing = \"error\" before the first release; it cannot be changed later. Or publish with cohorts = true, where only the group of an empty cell is widened.",
    ),
    ("R702", "no randomness", "The seed of a series must be unpredictable. The system did not provide random numbers."),
];
