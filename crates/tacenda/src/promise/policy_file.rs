//! The policy file, parsed: what a steward has decided.

use crate::model::{Hides, Language, PeopleCounts, Quasi, RowRule, Schema, Terms};
use crate::promise::{NamedView, Promise, SeriesPromise, Views};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The contents of `tacenda.toml`, as types.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyFile {
    /// The name of the series and its contact.
    pub series: SeriesSettings,
    /// The columns.
    pub schema: Schema,
    /// What is promised.
    pub promise: Promised,
    /// Why risks that the promise does not cover are accepted.
    pub reasons: Reasons,
    /// How much may be added or left out.
    pub limits: ShareLimits,
    /// What is written.
    pub output: Output,
}

/// What a policy file promises: about a series of one table, or about views.
#[derive(Clone, Debug, PartialEq)]
pub enum Promised {
    /// About all releases of one table.
    Series(SeriesPromise),
    /// About views, which it names.
    Views(Views),
}

/// Why a risk is accepted, in the steward's words.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Reasons {
    /// Why a second release is published under a promise that holds per release only.
    pub accept_series_risk: Option<String>,
    /// Why a series continues from adopted releases that do not keep the promise.
    pub accept_adopted: Option<String>,
    /// Why a series begins under a promise that reveals some people's values.
    pub accept_counterfeit: Option<String>,
}

impl Reasons {
    /// The setting that accepts what a series reveals under a promise that holds per release only.
    pub const SERIES_RISK: &str = "accept_series_risk = \"your reason\" under [promise]";
}

/// What is not covered if adopted releases do not keep the promise.
const ADOPTED: &str = "This series has releases made elsewhere that do not keep its promise. What they revealed \
                       stays revealed, and comparing them with later releases may reveal more about the people in \
                       them. The promise covers the later releases only.";

/// What is not covered with several sensitive columns.
const COMBINED: &str =
    "Several sensitive columns count as one value, their combination. One of them alone may be certain.";

/// What is not covered if a person's rows are combined.
const COMBINED_ROWS: &str = "Where the table has several rows of a person, their sensitive values count as one value, such as \
                             asthma+flu. Values of a group may share a part, and then that part is certain.";

/// What is not covered if only one of a person's rows counts.
const FIRST_ROW: &str = "Where the table has several rows of a person, only the first one is published.";
const LATEST_ROW: &str = "Where the table has several rows of a person, only the latest one is published.";

impl PolicyFile {
    /// Takes columns in another order, if that has all of them.
    pub fn sort_columns(&mut self, wanted: &[&str]) {
        self.schema = self.schema.in_order_of(wanted);
        if let Promised::Views(views) = &mut self.promise {
            let place: Vec<&str> = self.schema.published_columns().collect();
            let sort = |view: &mut NamedView| {
                view.columns.sort_by_key(|name| place.iter().position(|known| known == name));
            };
            views.list.iter_mut().for_each(sort);
        }
    }

    /// All promises, the one in `[promise]` first.
    pub fn promises(&self) -> Vec<Promise> {
        match &self.promise {
            Promised::Series(promise) => vec![promise.clone().into()],
            Promised::Views(views) => views.promises().cloned().map(Promise::View).collect(),
        }
    }

    /// The promise in `[promise]`.
    pub fn first_promise(&self) -> Promise {
        match &self.promise {
            Promised::Series(promise) => promise.clone().into(),
            Promised::Views(views) => views.promise.clone().into(),
        }
    }

    /// The terms of the first promise, and everything that is not covered: by the promise itself, because recipients
    /// are judged separately, and because of adopted releases.
    pub fn terms(&self) -> Terms {
        let mut terms = match &self.promise {
            Promised::Series(promise) => promise.terms(),
            Promised::Views(views) => views.terms(),
        };
        if self.schema.sensitive.len() > 1 && matches!(terms.hides, Hides::Value(_)) {
            terms.limits.insert(0, COMBINED);
        }
        match self.schema.person.rule {
            RowRule::One => {}
            RowRule::First => terms.limits.push(FIRST_ROW),
            RowRule::Latest => terms.limits.push(LATEST_ROW),
            RowRule::Combine => terms.limits.insert(0, COMBINED_ROWS),
        }
        if self.reasons.accept_adopted.is_some() {
            terms.limits.insert(0, ADOPTED);
        }
        terms
    }

    /// Sets a number of the first promise by its key in the policy file; returns false if there is no such number.
    pub fn set(&mut self, key: &str, value: u32) -> bool {
        match &mut self.promise {
            Promised::Series(promise) => promise.set(key, value),
            Promised::Views(views) => views.promise.set(key, value),
        }
    }

    /// The least published count above 0; `None` if no counts of quasi values are published. The promise must allow
    /// counts and the policy file must not decline them.
    pub fn counts_from(&self) -> Option<u32> {
        self.terms().counts_from.filter(|_| self.output.counts)
    }

    /// The columns whose counts are not published though those of others are, each with the reason. `counted` are the counts of a
    /// release, if there is one.
    pub fn uncounted(&self, counted: Option<&PeopleCounts>) -> Vec<(&str, &'static str)> {
        if self.counts_from().is_none() {
            return Vec::new();
        }
        let reason = |quasi: &Quasi| match counted {
            Some(counts) if counts.column(&quasi.name).is_some() => None,
            Some(_) => quasi.not_counted_because().or(Some("the first release with counts did not count it")),
            None => quasi.not_counted_because(),
        };
        self.schema.quasi.iter().filter_map(|quasi| Some((quasi.name.as_str(), reason(quasi)?))).collect()
    }

    /// Whether it is a study on made-up data, which may publish what breaks the promise.
    pub fn is_study(&self) -> bool {
        matches!(&self.promise, Promised::Series(promise) if promise.inner().is_study())
    }

    /// The views, if it has some.
    pub fn views(&self) -> Option<&Views> {
        match &self.promise {
            Promised::Series(_) => None,
            Promised::Views(views) => Some(views),
        }
    }

    /// How people who leave the data are treated, for the report.
    pub fn departures(&self) -> &'static str {
        match &self.promise {
            Promised::Series(promise) => promise.inner().departures(),
            Promised::Views(_) => "All views show the same records. When a person leaves, further views are refused.",
        }
    }
}

impl<P: Into<SeriesPromise>> From<P> for Promised {
    fn from(promise: P) -> Promised {
        Promised::Series(promise.into())
    }
}

/// The name of the series and its contact.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SeriesSettings {
    /// A short name, used for folders and files: lower case letters, digits and dashes.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// Whom to ask.
    pub contact: String,
    /// The language of the page for recipients.
    pub language: Language,
    /// What only people know, for the report.
    pub governance: Governance,
    /// Who must sign and approve.
    pub signatures: SignatureRules,
    /// Where a backup is written before each release; nowhere if the policy file does not say.
    pub backup: Option<BackupRule>,
}

/// Where `publish` writes a backup before it commits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BackupRule {
    /// The folder.
    pub folder: PathBuf,
    /// How many states stay there, counted in releases; all of them if not given.
    pub keep: Option<u32>,
}

/// The keys that a release needs. If the policy file names none, the list is empty and no signature is needed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SignatureRules {
    /// The public keys that may sign a release.
    pub signers: Vec<String>,
    /// The public keys that may approve a plan. One of them must approve, and it must not be the key that signs.
    pub approvers: Vec<String>,
}

/// What only people know about a series: why, for whom, under which conditions. Empty if the policy file does not say.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Governance {
    /// Why the releases are made.
    pub purpose: String,
    /// Who gets them.
    pub recipients: String,
    /// Where they are used: in public, under contract, in a secure room.
    pub environment: String,
    /// What contracts and technology forbid or prevent.
    pub controls: String,
    /// What else recipients can reasonably get.
    pub other_data: String,
    /// Which law allows it.
    pub legal_basis: String,
}

impl Governance {
    /// The keys of `[governance]`.
    pub const KEYS: [&str; 6] = ["purpose", "recipients", "environment", "controls", "other_data", "legal_basis"];

    /// The field that a key of `[governance]` sets.
    pub fn field(&mut self, key: &str) -> Option<&mut String> {
        match key {
            "purpose" => Some(&mut self.purpose),
            "recipients" => Some(&mut self.recipients),
            "environment" => Some(&mut self.environment),
            "controls" => Some(&mut self.controls),
            "other_data" => Some(&mut self.other_data),
            "legal_basis" => Some(&mut self.legal_basis),
            _ => None,
        }
    }
}

/// How much may be added or left out, as shares of the published rows and of the table's rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareLimits {
    /// The largest share of counterfeits among published rows.
    pub counterfeits: f64,
    /// The largest share of the table's rows that may be withheld.
    pub withheld: f64,
}

impl Default for ShareLimits {
    fn default() -> ShareLimits {
        ShareLimits { counterfeits: 0.02, withheld: 0.01 }
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
    /// Whether texts that a spreadsheet would run as a formula are refused.
    pub spreadsheet_safe: bool,
    /// Whether counts of people by quasi value are published beside the rows, if the promise allows it.
    pub counts: bool,
}

impl Default for Output {
    fn default() -> Output {
        Output {
            formats: vec![Format::Csv, Format::Parquet],
            row_weight: true,
            linked_ids: false,
            spreadsheet_safe: true,
            counts: true,
        }
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
