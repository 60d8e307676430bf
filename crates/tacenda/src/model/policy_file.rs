//! The policy file, parsed: what a steward has decided.

use crate::model::{Promise, Schema, Views};

/// Everything `tacenda.toml` says, as types.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyFile {
    /// What the series is called and whom to ask.
    pub series: Series,
    /// The columns.
    pub schema: Schema,
    /// What must hold.
    pub promise: Promise,
    /// How to get there.
    pub choices: Choices,
    /// How much may be added or left out.
    pub limits: Limits,
    /// What is written.
    pub output: Output,
    /// The views, for a promise about them; otherwise none.
    pub views: Views,
}

impl PolicyFile {
    /// Everything that is promised: the promise, and what must hold besides.
    pub fn promises(&self) -> impl Iterator<Item = &Promise> {
        std::iter::once(&self.promise).chain(&self.views.also)
    }

    /// What is not covered, one sentence each: by the promise, because recipients are judged apart, and because of
    /// releases made elsewhere.
    pub fn limits_said(&self) -> Vec<&'static str> {
        const APART: &str = "It holds for recipients of whom the publisher was told that they may lay their views side by side; \
                             others who do so may learn more.";
        const ADOPTED: &str = "Releases made elsewhere belong to this series and do not keep its promise. What they give away stays \
                               given away, and laid beside later releases they may give away more about the people in them: \
                               the promise is about the later releases among themselves.";
        let apart = (!self.views.pools.is_empty()).then_some(APART);
        let adopted = self.choices.accept_adopted.is_some().then_some(ADOPTED);
        adopted.into_iter().chain(apart).chain(self.promise.limits()).collect()
    }
}

/// What the series is called and whom to ask.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Series {
    /// A short name, used for folders and files: lower case letters, digits and dashes.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Whom to ask.
    pub contact: String,
}

/// How a promise is kept, where there is a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Choices {
    /// What happens when the newcomers' values are too uneven.
    pub on_ineligible: OnIneligible,
    /// What happens when a record disappears under an insert-only promise.
    pub on_delete: OnDelete,
    /// Publish fixed tight boxes instead of cells (incremental k-anonymity without cohorts).
    pub tight: bool,
    /// Run the loss optimisation of paper 001.
    pub optimise: bool,
    /// What a clustering from scratch begins with; `None`: the tree with `optimise`, k-member without.
    pub base: Option<Base>,
    /// From where k-member looks for its next seed.
    pub seed_rule: SeedRule,
    /// Re-cluster from scratch when the loss exceeds this many times the loss of the last time.
    pub refresh: Option<f64>,
    /// What clusterings minimise.
    pub loss: LossKind,
    /// Why a promise that holds per release only may be published a second time.
    pub accept_series_risk: Option<String>,
    /// Why a series may go on from adopted releases that do not keep the promise.
    pub accept_adopted: Option<String>,
    /// The data are made up: a study mode may publish what it breaks.
    pub made_up: bool,
}

impl Default for Choices {
    fn default() -> Choices {
        Choices {
            on_ineligible: OnIneligible::Refuse,
            on_delete: OnDelete::Refuse,
            tight: false,
            optimise: true,
            base: None,
            seed_rule: SeedRule::LastAdded,
            refresh: None,
            loss: LossKind::LeafShare,
            accept_series_risk: None,
            accept_adopted: None,
            made_up: false,
        }
    }
}

/// What happens when the newcomers' values are too uneven to stand together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OnIneligible {
    /// Nothing is published.
    Refuse,
    /// The newest holders of the most frequent values wait.
    Defer,
    /// Counterfeits of the rarest values are added.
    Counterfeit,
}

/// What happens when a record disappears under an insert-only promise.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum OnDelete {
    /// Nothing is published.
    Refuse,
    /// The whole unit is withheld, for good.
    Withhold,
}

/// What a clustering from scratch begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Base {
    /// Greedy k-member, as in paper 001.
    KMember,
    /// Cuts from the top, then exchanges between neighbours.
    Tree,
}

/// From where k-member looks for its next seed: the farthest row from there.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SeedRule {
    /// From the last row added to a cluster, as its pseudo-code says.
    LastAdded,
    /// From the last seed, as some programs do.
    LastSeed,
}

/// What clusterings minimise.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LossKind {
    /// Height of the lowest common ancestor, as in paper 001.
    Height,
    /// Share of the leaves that are left open.
    LeafShare,
}

/// How much may be added or left out, as shares of the published rows and of the table's rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The largest share of counterfeits among published rows.
    pub counterfeits: f64,
    /// The largest share of the table's rows that may be withheld.
    pub withheld: f64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { counterfeits: 0.02, withheld: 0.01 }
    }
}

/// What is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Output {
    /// The file formats, each once.
    pub formats: Vec<Format>,
    /// Whether rows carry a weight that sums up to people.
    pub row_weight: bool,
    /// Whether rows carry a keyed hash that is stable over the series.
    pub linked_ids: bool,
}

impl Default for Output {
    fn default() -> Output {
        Output { formats: vec![Format::Csv, Format::Parquet], row_weight: true, linked_ids: false }
    }
}

/// A file format of a release.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Format {
    /// Comma-separated text.
    Csv,
    /// Apache Parquet.
    Parquet,
}
