//! Why a project cannot be opened, rehearsed or published.

use crate::audit::{Fault, Finding};
use crate::folder::FolderError;
use crate::grouping::GroupingError;
use crate::grouping::views::ViewsError;
use crate::ingest::{self, IngestError, PolicyFileError, policy_file};
use crate::keys::KeyError;
use crate::ledger::{LedgerError, ResealError};
use crate::model::{Page, coded, exit_of, people};
use crate::promise::{Reasons, entries};
use std::path::PathBuf;

coded! {
    /// Everything that can go wrong between a policy file and a release. Nothing was published.
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum ProjectError wraps {
        /// The policy file is at fault.
        #[error(transparent)]
        PolicyFile(#[from] PolicyFileError),
        /// The data are at fault, or cannot be read.
        #[error(transparent)]
        Ingest(#[from] IngestError),
        /// Ledger, vault or disk.
        #[error(transparent)]
        Ledger(LedgerError),
        /// A key, a passphrase or a signature.
        #[error(transparent)]
        Key(#[from] KeyError),
        /// A release folder cannot be written or read.
        #[error(transparent)]
        Folder(#[from] FolderError),
        /// The release does not come about.
        #[error(transparent)]
        Publish(#[from] PublishError),
    } and {
        #[error("release {number} already has the label {label:?}; choose another with --label")]
        LabelUsed {
            /// The label.
            label: String,
            /// The release that has it.
            number: u32,
        } = "R202", "the label was used before",
            "Every release of a series has a label of its own, so that it can be named in a conversation. Choose \
             another with --label.";
        #[error(
            "release {number} already has the label {label:?}, and it was made from another table; choose another \
             label, or give that table"
        )]
        OtherData {
            /// The label.
            label: String,
            /// The release that has it.
            number: u32,
        } = "R608", "the label is taken by another table",
            "A release with this label is published, and it was not made from this table. A published release cannot be \
             changed. If this is a new release, choose another label. If this is a retry, give the table that the \
             release was made from; then nothing happens. If people stayed other after their value was listed, or were erased \
             since, only the file itself is recognised, byte by byte: then look at the release with tacenda show.";
        #[error(
            "a label is 1 to 100 letters, digits, blanks or . _ - + : /, and does not look like a release number; choose another with --label"
        )]
        BadLabel = "R201", "a label that cannot be used",
            "A label is part of file names, manifests and the ledger. It has 1 to 100 letters, digits, blanks or . _ \
             - + : /. A number alone is not a label: it is the number of a release.";
        #[error(
            "the policy file names another series than the ledger, which has {ledger:?}; change series.name back, or set the old series aside with tacenda new"
        )]
        OtherSeries {
            /// The ledger's series.
            ledger: String,
        } = "R203", "another series",
            "A project folder holds one series. The ledger was begun under another name than the policy file has \
             now. Change series.name back, or set the old series aside with tacenda new --name NAME.";
        #[error(
            "the policy file was changed since the last release in a way that its series does not allow: {why}; a published \
             release cannot be taken back, so change the policy back, or start a new series with tacenda new --name NAME"
        )]
        Loosened {
            /// In what.
            why: String,
        } = "R204", "a change that the series does not allow",
            "Earlier releases were published under another promise or with other columns, and they cannot be taken back. A \
             policy may become stricter where the promise allows it. A looser one needs a new series, and so does a stricter \
             one that the published groups do not keep. Then audit both series together.";
        #[error(
            "{what}; this promise holds for one release at a time: to publish a second one, put {}", Reasons::SERIES_RISK
        )]
        NeedsReason {
            /// What the series would reveal.
            what: String,
        } = "R601", "needs a reason",
            "This promise protects one release at a time. Comparing two releases reveals more, and the message says \
             how much. If that is acceptable, say why in the policy file: accept_series_risk = \"…\" under \
             [promise]. The reason is printed in the report.";
        #[error(
            "on_ineligible = \"counterfeit\" gives people away: if all other rows of a group are counterfeits, its person has the \
             value that is too frequent; use \"refuse\" or \"defer\", or put accept_counterfeit = \"your reason\" under [promise]"
        )]
        GivesPeopleAway = "R606", "counterfeits give people away",
            "With on_ineligible = \"counterfeit\" all other rows of a person's group may be counterfeits. Such a \
             person almost certainly has the value that is too frequent. No way of placing counterfeits mends that. \
             Use \"refuse\" and coarsen the sensitive attribute, or lower m. If it is acceptable nevertheless, say \
             why in the policy file: accept_counterfeit = \"…\" under [promise]. Every release says what it gives \
             away.";
        #[error(
            "column {column} has a text that a spreadsheet would run as a formula; rename it, or put spreadsheet_safe = false \
             under [output]"
        )]
        Formula {
            /// The column.
            column: String,
        } = "R610", "a text that a spreadsheet would run",
            "A name, label or value begins with =, +, -, @ or a tab, and is no number. Or a part of it does, after a semicolon \
             or a tab. Blanks before it do not count. A spreadsheet runs such a cell \
             as a formula, with or without quotes. Somebody could have typed it into the table to attack recipients. \
             Rename it in the table or in the hierarchy. If no recipient uses a spreadsheet, put spreadsheet_safe = \
             false under [output].";
        #[error("this policy publishes views; name one with --view: {known}")]
        NeedsView {
            /// The views there are.
            known: String,
        } = "R205", "no view is named",
            "A policy with views publishes one view at a time. Name it with --view NAME.";
        #[error("{what}; {way_out}")]
        BadView {
            /// What is wrong.
            what: String,
            /// What to do.
            way_out: String,
        } = "R206", "a view that cannot be published",
            "The policy file has no such view, or it is published already. A published view cannot be changed: name \
             a new view. With pool, each view is judged for its recipients, so a published view cannot get more of \
             them. Without pool, all views are judged together, and recipients do not matter.";
        #[error("view {view}: {what}; change what the policy file says of the view, or leave that release out")]
        Adopted {
            /// The view.
            view: String,
            /// What is wrong.
            what: String,
        } = "R207", "a release that cannot be taken in as a view",
            "A view with adopted = \"FILE\" or \"FOLDER\" is a release made elsewhere. Its columns must be those of \
             the view, with the domains of [columns], because recipients join on them. Every cell must have an exact \
             meaning here: a range within the domain, a node of the hierarchy, or a set of neighbouring values. \
             Anything else is refused. notation, any and hierarchy under the view say how to read the file. If no \
             row fits anybody in the table, the file is about other people or was read wrongly.";
        #[error("the plan is out of date: {what} has changed since; make a new plan")]
        PlanStale {
            /// What has changed.
            what: &'static str,
        } = "R602", "the plan is out of date",
            "A plan rehearses one release from one input, one policy file and one state of the ledger. One of them \
             has changed, so the release would differ from the one that the plan showed. Make a new plan.";
        #[error("nothing is published yet; tacenda publish DATA makes the first release")]
        NothingPublished = "R208", "nothing is published yet",
            "A report is about releases, and the ledger of this project has none. tacenda publish DATA makes the \
             first one.";
        #[error("--truth names {tables} tables for {releases} releases; name one per release, in order")]
        TruthCount {
            /// How many tables were given.
            tables: usize,
            /// How many releases there are.
            releases: usize,
        } = "R209", "one private table per release",
            "To attack people one by one, the audit needs the private table of every release, in the order of the \
             releases: --truth T1 T2 …. tacenda log lists the releases.";
        #[error("this table needs about {} MB, and --memory allows {} MB; allow more, or publish on a larger machine", needed >> 20, allowed >> 20)]
        Memory {
            /// How many bytes.
            needed: u64,
            /// How many are allowed.
            allowed: u64,
        } = "R701", "not enough memory allowed",
            "Publishing this table needs more memory than --memory allows, even from disk. Nothing was published. A \
             release keeps its own rows and groups in memory, whatever the way. With m-invariance, everyone with one value \
             set is cut together, so the largest such set must fit, too. docs/scale.md says how much that is. Allow more, or \
             publish on a larger machine.";
        #[error(
            "in memory this table needs about {} MB, and --memory allows {} MB; it cannot be published from disk: {why}; \
             allow more memory, or publish on a larger machine",
            needed >> 20, allowed >> 20
        )]
        OnlyInMemory {
            /// How many bytes.
            needed: u64,
            /// How many are allowed.
            allowed: u64,
            /// Why people must be in memory.
            why: &'static str,
        } = "R705", "this table needs to be in memory",
            "If a table needs more memory than --memory allows, tacenda publish keeps its people on disk. That works for \
             whole tables with one row per person. It works for incremental-k-anonymity (without cohorts: if no l is set), and \
             for m-invariance with effort = \"fast\". It works for incremental-l-diversity in its safe mode. It \
             does not work for the other promises and views, for --delta, and for plan and check. Nothing was published. Allow more memory, or publish on a larger \
             machine.";
        #[error(
            "the quasi columns have too many values to be counted from disk; round the widest one with grid, or allow \
             more memory"
        )]
        TooManyCodes = "R706", "too many values to be counted",
            "A table whose people are on disk is cut by counting how many people have each value. The domains of all \
             quasi columns together may have 16 million values. A wide column of numbers or dates has more. Before the \
             first release a smaller domain or coarser numbers help. With enough memory nothing needs to be counted.";
        #[error(
            "the table changed while the cluster read it: some of its rows were read twice, and differently; write it to files or a \
             table first, and publish that"
        )]
        TableMoved = "R707", "the table changed while it was read",
            "A cluster reads rows again when a machine fails, or when memory is short. Every row is counted at every step. Here the \
             second reading gave other rows than the first. The table may depend on chance or on the clock, or somebody wrote to \
             it meanwhile. Nothing was published. Write the table to files, or name one version of it, and publish that.";
        #[error(
            "the table has more than {most} different texts in its sensitive or public columns, and the driver of a cluster holds no \
             more; take public columns out, or publish it with tacenda publish"
        )]
        TooManyTexts {
            /// How many there may be.
            most: usize,
        } = "R708", "too many texts for the driver of a cluster",
            "The machines of a cluster number texts together, so the driver holds all different ones. There are too many here: usually \
             a public column names people. Take it out, or publish the table on one machine.";
        #[error(
            "the machines of the cluster have another version of tacenda than the driver; install the same wheel everywhere"
        )]
        OtherVersions = "R709", "other versions in the cluster",
            "Machines of a cluster form groups and judge them. Another version may form other groups, so it is refused. Install the \
             same wheel on the driver and on every machine.";
        #[error("this table cannot be published from a cluster: {why}; publish it on one machine with tacenda publish, in a project that is a folder")]
        NotInCluster {
            /// Why not.
            why: &'static str,
        } = "R710", "this table cannot be published from a cluster",
            "A cluster forms groups unit by unit. That works for whole tables with one row per person, and for promises that are \
             published from disk. These are incremental-k-anonymity (without cohorts: if no l is set), m-invariance with effort = \
             \"fast\", and incremental-l-diversity in its safe mode. It does not work for the other promises and views, nor if one \
             value set has more people than one machine can take. Nothing was published. Publish the table on one machine.";
        #[error(
            "{file} was made elsewhere, and {model} needs to know which group each person was in; give the table it \
             was made from with --truth, or start a new series and audit both together"
        )]
        AdoptNeedsTruth {
            /// The promise.
            model: &'static str,
            /// The file.
            file: String,
        } = "R603", "adopting needs the private table",
            "This promise depends on each person's group in every release. For a release made elsewhere, only the \
             table it was made from shows the groups: give it with --truth. Without it nothing can be promised about \
             both together. Then start a new series, and audit both together.";
        #[error(
            "{rows} of the {of} rows of {file} fit nobody in the table given with it; give the table that it was \
             made from"
        )]
        AdoptUnfit {
            /// The file.
            file: String,
            /// How many rows nobody can be behind.
            rows: u64,
            /// Of how many.
            of: u64,
        } = "R301", "the table does not fit the release",
            "Every row of an adopted release must fit a person in its private table: the group's region contains the \
             person, and the value is the same. Here some rows fit nobody. It is another table, or its values were \
             coarsened before they were published.";
        #[error(
            "the column {column} of a release to be adopted holds ranges, sets or empty cells that the policy file cannot express; \
             extend its domain or hierarchy, or use --any '' if an empty cell means any value"
        )]
        AdoptNotExpressed {
            /// The column.
            column: String,
        } = "R302", "the policy cannot express what a release says",
            "The vault keeps adopted releases in terms of the policy's domains and hierarchies. It cannot keep a \
             range outside the domain, or a set that is neither a node nor a run of listed values. Extend the domain \
             or the hierarchy: later releases must be compared with this one.";
        #[error(
            "a release to be adopted links records by a column, or has the identifier itself, and this policy file promises nothing \
             about that; adopt it under incremental-k-anonymity with linked_ids = true, or start a new series"
        )]
        AdoptLinked = "R605", "an adopted release links records",
            "A column that is the same in every release links a person's rows. Only incremental-k-anonymity with \
             linked_ids = true covers that.";
        #[error("reader = \"method\" does not cover releases made elsewhere; set reader = \"rule\" to adopt them, or start a new series")]
        AdoptedUnderMethod = "R607", "adopting is not covered",
            "The proof of reader = \"method\" rests on how this program forms groups. Releases made elsewhere were formed in \
             another way. Set reader = \"rule\", which needs only the rule that the releases keep.";
        #[error(
            "the releases to be adopted do not keep the promise: {}; {} can no longer be protected and would be \
             withheld from now on; \
             to continue, put accept_adopted = \"your reason\" under [promise], or start a new series",
            .findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
            people(*exposed)
        )]
        AdoptNeedsReason {
            /// What the auditor found.
            findings: Vec<Finding>,
            /// How many people are given away.
            exposed: u64,
        } = "R604", "adopted releases do not keep the promise",
            "Published releases cannot be taken back, but the series can continue without making things worse. \
             People for whom the adopted releases leave too few values are withheld from all later ones. Everyone \
             else keeps their value set. If that is acceptable, say why in the policy file: accept_adopted = \"…\" \
             under [promise].";
        #[error("a file cannot be read or written: {source}")]
        Environment {
            /// Why.
            source: std::io::Error,
        } = "R703", "a file cannot be read or written",
            "The disk or the permissions are at fault. Nothing was published.";
        #[error("no backup can be written to {}: {why}; mend that, or name another place", place.display())]
        NoBackup {
            /// The file or the folder.
            place: PathBuf,
            /// Why not.
            why: String,
        } = "R704", "no backup can be written",
            "publish writes a backup before it commits if --backup, or [backup] in the policy file, says where. If that fails, \
             nothing is published. The folder must be there: it is not made, because a disk that is not mounted would go \
             unnoticed. It may not be a symbolic link. --backup FILE names another place for once.";
        #[error("the system provides no random numbers, and the seed of a series must be random")]
        NoRandomness = "R702", "no randomness",
            "The seed of a series must be unpredictable. The system did not provide random numbers.";
    }
}

impl From<ResealError> for ProjectError {
    fn from(error: ResealError) -> ProjectError {
        match error {
            ResealError::Key(error) => error.into(),
            ResealError::Ledger(error) => error.into(),
        }
    }
}

impl ProjectError {
    /// The exit code that goes with it.
    pub fn exit_code(&self) -> u8 {
        match self {
            ProjectError::PolicyFile(_) => 2,
            ProjectError::Ingest(error) => error.exit_code(),
            ProjectError::Ledger(error) => error.exit_code(),
            ProjectError::Key(error) => error.exit_code(),
            ProjectError::Folder(error) => error.exit_code(),
            ProjectError::Publish(error) => error.exit_code(),
            other => exit_of(other.code()),
        }
    }
}

coded! {
    /// Why a release does not come about. Nothing was published.
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum PublishError wraps {
        /// No groups can be formed with these data.
        #[error(transparent)]
        Grouping(#[from] GroupingError),
        /// No view can be published with these data.
        #[error(transparent)]
        Views(#[from] ViewsError),
    } and {
        #[error(
            "{counterfeits} of {rows} rows would be counterfeits ({:.1} %), and [counterfeits] max_share = {allowed} allows fewer; set \
             it to {:.3} or more, or publish later with more arrivals{}",
            100.0 * *counterfeits as f64 / *rows as f64,
            needed(*counterfeits, *rows),
            start_over(*counterfeits, *rows)
        )]
        TooManyCounterfeits {
            /// How many there would be.
            counterfeits: usize,
            /// Of how many rows.
            rows: usize,
            /// The largest share.
            allowed: f64,
        } = "R411", "too many counterfeits",
            "The policy file limits how many published rows may be artificial (counterfeits.max_share). With these data the promise \
             needs more. The limit may be raised at any time: no promise rests on it, and recipients see how many counterfeits there \
             are. m cannot be lowered within a series. Many people left at once, or many values are rare: merging rare values needs \
             a new series. tacenda plan says what to expect of the next releases.";
        #[error(
            "{withheld} of {rows} rows would be withheld ({:.1} %), and [withheld] max_share = {allowed} allows fewer; set it to {:.3} or \
             more, or publish later with more arrivals{}",
            100.0 * *withheld as f64 / *rows as f64,
            needed(*withheld, *rows),
            start_over(*withheld, *rows)
        )]
        TooManyWithheld {
            /// How many there would be.
            withheld: usize,
            /// Of how many rows.
            rows: usize,
            /// The largest share.
            allowed: f64,
        } = "R412", "too many rows withheld",
            "The policy file limits how many rows of the table may be left out of a release (withheld.max_share). \
             With these data the promise needs more. The limit may be raised at any time: no promise rests on it. tacenda plan \
             says what to expect of the next releases.";
        #[error("the auditor refused the release: {}", list(.0))]
        Refused(Vec<Finding>) = "R401", "the auditor refused the release",
            "The auditor judged the finished release together with everything published before, and found that the \
             promise would not hold. Nothing was published. Either the algorithm has a bug, or a study mode cannot \
             keep its promise.";
    }
}

/// What else to do where so much is needed that the release would be of little use.
fn start_over(some: usize, of: usize) -> &'static str {
    match some * 4 > of {
        true => {
            "; with so many, little of the release remains: tacenda new --name NAME starts a series that is not bound \
             by this one"
        }
        false => "",
    }
}

/// The smallest limit, to three decimals, that allows `some` of `of`.
fn needed(some: usize, of: usize) -> f64 {
    (1000.0 * some as f64 / of.max(1) as f64).ceil() / 1000.0
}

impl PublishError {
    /// The exit code that goes with it.
    pub fn exit_code(&self) -> u8 {
        match self {
            PublishError::Refused(_) => 1,
            PublishError::Views(error) => error.exit_code(),
            _ => 4,
        }
    }
}

fn list(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// Every code of the library with its page, for `explain`.
pub fn codes() -> Vec<Page> {
    let own = [
        ingest::CODES,
        policy_file::CODES,
        KeyError::PAGES,
        LedgerError::PAGES,
        FolderError::PAGES,
        GroupingError::PAGES,
        ViewsError::PAGES,
        Fault::PAGES,
        PublishError::PAGES,
        ProjectError::PAGES,
    ];
    own.concat().into_iter().chain(entries().flat_map(|entry| entry.pages).copied()).collect()
}
