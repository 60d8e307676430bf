//! Why a project cannot be opened, rehearsed or published.

use crate::folder::FolderError;
use crate::ingest::IngestError;
use crate::ingest::PolicyFileError;
use crate::ledger::LedgerError;
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
    #[error("view {view}: {what}; change the view's columns, or leave that release out")]
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
    /// More memory would be needed than allowed.
    #[error("this table needs about {} MB and --memory allows {}; allow more, or publish on a larger machine", needed >> 20, allowed >> 20)]
    Memory {
        /// How many bytes.
        needed: u64,
        /// How many are allowed.
        allowed: u64,
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
            ProjectError::NeedsView { .. } | ProjectError::BadView { .. } | ProjectError::Adopted { .. } => 2,
            ProjectError::NeedsReason { .. } | ProjectError::PlanStale { .. } => 6,
            ProjectError::Memory { .. } | ProjectError::NoRandomness => 7,
        }
    }
}

/// Per code: its title and what it means, for `explain`.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "R201",
        "a label that cannot be used",
        "A label stands in file names, manifests and the ledger. It is 1 to 100 letters, digits, blanks or . _ - + : /.",
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
    (
        "R205",
        "no view is named",
        "A policy with views publishes one view at a time. Say which with --view NAME.",
    ),
    (
        "R206",
        "a view that cannot be published",
        "The policy file has no such view, or it is out already. What is out cannot be changed: hand the same release to more recipients, or name a new view.",
    ),
    (
        "R207",
        "a release that cannot be taken in as a view",
        "A view with adopted = \"FOLDER\" stands for a release made elsewhere. Its columns must be those the view lists, with the domains of [columns], because readers join on them.",
    ),
    (
        "R208",
        "nothing is published yet",
        "A report is about releases, and the ledger of this project has none. tacenda publish DATA makes the first one.",
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
        "The guard l asks that no sensitive value is held by more than one in l of a group. With these data no group can be formed that passes. Lower l, raise k, or coarsen the sensitive attribute.",
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
        "Some rows have no possible counterpart in another view: the tables are not of the same people, or an [[impossible]] pair is not impossible.",
    ),
    (
        "R434",
        "the promise cannot be met",
        "Even with everything in X generalised the promise is broken, and the theorem says that no other cut can help. What is out cannot be changed: lower the promise, or take columns out of X.",
    ),
    (
        "R435",
        "no way was found",
        "The most general view breaks the promise, and a bounded search among finer ones found none that keeps it. There may be one: the search is not complete. Generalise the earlier views the next time, or lower the promise.",
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
    ("R701", "not enough memory allowed", "The table is too large for --memory. Nothing was published."),
    ("R702", "no randomness", "The seed of a series must be unpredictable. The system did not provide random numbers."),
];
