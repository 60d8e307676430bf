//! What a report says, as plain data: the same numbers for every form it is printed in.
//!
//! A report is filtered when it is made, not when it is printed. So a report for recipients never holds what they may
//! not see. Its JSON is these structs, field by field.

use crate::audit::{Severity, VerdictWord};
use crate::measure::CountErrors;
use crate::model::{Language, Role};
use crate::report::words::{counted, list, number, people, percent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of the JSON.
pub const FORMAT: u32 = 1;

/// Replaces the name of a check in a finding of the gate.
pub const GATE: &str = "gate";

/// Whom a report is for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Edition {
    /// Recipients of the release: only what the published files and the policy say.
    Recipient,
    /// The person responsible for the release: its cost, private numbers, and what to sign.
    Steward,
    /// The person who checks: every proof, and how to repeat it; nothing from the vault.
    Auditor,
}

/// What is decided. "Not assessed" never counts as a pass.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum Decision {
    /// Everything was examined and nothing was found.
    #[serde(rename = "PASS")]
    Pass,
    /// Nothing was found, provided that the named assumptions are true.
    #[serde(rename = "PASS WITH NAMED ASSUMPTION")]
    PassAssuming,
    /// Nothing breaks the promise or the thresholds, but something that they do not cover can be learned.
    #[serde(rename = "NOT PROMISED")]
    NotPromised,
    /// Something was found.
    #[serde(rename = "FAIL")]
    Fail,
    /// Some question could not be answered for everyone.
    #[serde(rename = "NOT ASSESSED")]
    NotAssessed,
    /// Of one question: neither the promise nor a threshold asks it, or nothing that was checked answers it. The verdict names
    /// it, and never has this word itself.
    #[serde(rename = "NOT ASKED")]
    NotAsked,
}

/// Which risk is divided into classes.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RiskKind {
    /// Guessing a person's sensitive value: the share of the most frequent value of their group.
    #[default]
    Inference,
    /// Guessing which row is a person's: one over the people of their group.
    Identity,
}

/// A whole report.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Report {
    /// The version of this form.
    pub format: u32,
    /// Whom it is for.
    pub edition: Edition,
    /// The language of the HTML page. Every other form is English.
    #[serde(skip)]
    pub language: Language,
    /// What was looked at.
    pub series: SeriesFacts,
    /// The result.
    pub verdict: VerdictFacts,
    /// Each release.
    pub releases: Vec<ReleaseFacts>,
    /// All releases together.
    pub sequence: SequenceFacts,
    /// Each question that was asked, with its answer.
    pub checks: Vec<CheckFacts>,
    /// What was found, the worst first.
    pub findings: Vec<FindingFacts>,
    /// The worst case, step by step: a person whose value was found, or who is closest to a threshold. Not for recipients.
    pub story: Option<StoryFacts>,
    /// Singling out, linkability, inference (Article 29 Working Party, opinion 05/2014).
    pub three_questions: Vec<QuestionFacts>,
    /// What the answers depend on.
    pub assumptions: Vec<String>,
    /// What they do not cover.
    pub not_covered: Vec<String>,
    /// What to do next; not for recipients.
    pub next_steps: Vec<String>,
    /// The regions on two attributes, for a picture.
    pub picture: Option<Picture>,
    /// What it was made from and with.
    pub provenance: Provenance,
    /// How this can be repeated; for the auditor.
    pub reproduce: Vec<String>,
    /// How people who leave are treated, and until when this holds; not for recipients.
    pub governance: Option<GovernanceFacts>,
    /// What makes each quasi column identifying; for the steward.
    pub identifying: Vec<IdentifyingFacts>,
    /// Who signs what; for the steward.
    pub signing: Vec<SigningFacts>,
    /// Numbers from the vault and the private tables; for the steward, and for an auditor who supplied the tables.
    pub private: Option<PrivateFacts>,
}

/// What was examined.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SeriesFacts {
    /// The short name, or the files' common one.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// Whom to ask.
    pub contact: String,
    /// What was promised, if that is known.
    pub promise: Option<PromiseFacts>,
    /// Which risk is divided into classes: the one that the promise is about.
    pub risk: RiskKind,
    /// The columns and their roles.
    pub columns: Vec<ColumnFacts>,
}

/// What was promised.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PromiseFacts {
    /// Its name in the policy file.
    pub model: String,
    /// Its parameters, such as `m = 4`.
    pub parameters: Vec<String>,
    /// The promise in one short sentence.
    #[serde(default)]
    pub in_short: String,
    /// The promise in full, with the attacker.
    pub sentence: String,
    /// What it does not cover.
    pub limits: Vec<String>,
    /// The largest risk it allows, as one in this many; none if it names no bound.
    pub one_in: Option<u32>,
}

/// A column.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ColumnFacts {
    /// Its name.
    pub name: String,
    /// Its role: identifier, quasi, sensitive, public, drop.
    #[schemars(with = "String")]
    pub role: Role,
    /// What values it has.
    pub values: String,
    /// What was done to it.
    pub technique: String,
}

/// The result.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct VerdictFacts {
    /// The decision.
    pub decision: Decision,
    /// The same in a sentence.
    pub sentence: String,
    /// How many people the widest finding concerns.
    pub people: u64,
    /// The worst severity: note, warning, severe.
    #[schemars(with = "Option<String>")]
    pub worst: Option<Severity>,
}

/// One release, as anyone can count it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReleaseFacts {
    /// Its number.
    pub number: u32,
    /// Its label.
    pub label: String,
    /// When it was published, if that is known.
    pub at: Option<String>,
    /// Its files.
    pub files: Vec<FileFacts>,
    /// The path of its data file: as given, or relative to the project folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// Rows, counterfeits included.
    pub rows: u64,
    /// People.
    pub people: u64,
    /// Groups.
    pub groups: u64,
    /// Counterfeits: rows with nobody behind them.
    pub counterfeits: u64,
    /// How exposed people are in this release alone.
    pub risk: RiskFacts,
    /// How many groups have how many people.
    pub group_sizes: Vec<Bar>,
    /// Twenty classes of risk, each 0.05 wide, its upper end included: how many people are in each.
    pub risk_classes: Vec<u64>,
    /// The information loss, compared with its snapshot.
    pub loss: LossFacts,
}

/// A file that was examined.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FileFacts {
    /// Its name.
    pub name: String,
    /// How long it is.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// How exposed people are in one release alone.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RiskFacts {
    /// People of the smallest group.
    pub smallest_group: u32,
    /// The largest risk of being singled out: one over the smallest group (prosecutor risk).
    pub highest_identity: f64,
    /// The mean risk of being singled out: groups over people. It is also the marketer risk: the expected share of
    /// correct matches, if an attacker knows exactly these people and matches all of them at once.
    pub mean_identity: f64,
    /// People in groups of fewer than k.
    pub people_below_k: u64,
    /// The fewest sensitive values in a group.
    pub fewest_values: u32,
    /// People in groups of fewer than l values.
    pub people_below_l: u64,
    /// The largest share of one value in a group.
    pub highest_share: f64,
    /// The same without suppressed rows, as ARX counts.
    #[serde(default)]
    pub without_suppressed: SuppressedFacts,
}

/// The risks of people whose rows are not suppressed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SuppressedFacts {
    /// Rows in which every quasi-identifier may be any value.
    pub suppressed: u64,
    /// People of the smallest other group.
    pub smallest_group: u32,
    /// One over the smallest other group: the prosecutor risk, and without a population also the journalist risk.
    pub highest_identity: f64,
    /// Other groups over the people in them: marketer risk.
    pub mean_identity: f64,
}

/// How exposed people are to a reader who has a table of the population.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct JournalistFacts {
    /// The fewest people of the population who fit a group of any release (k-map).
    pub least: u64,
    /// One over that number.
    pub highest: f64,
    /// The mean over everyone in all releases of one over the people of the population who fit the group.
    pub mean: f64,
}

/// How exposed people are by all releases together.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SequenceFacts {
    /// People over all releases; each person counts once for every release they are in.
    pub appearances: u64,
    /// The largest risk of being singled out in any release (prosecutor risk). Comparing releases can only raise it.
    pub highest_identity: f64,
    /// Groups over people, all releases together: mean prosecutor risk, and marketer risk.
    pub mean_identity: f64,
    /// The same for a reader who has a table of the population, and does not know who is in the release; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journalist: Option<JournalistFacts>,
    /// The share of appearances in groups of fewer than k.
    pub share_below_k: f64,
    /// The largest share of one value in a group of any release.
    pub highest_share: f64,
    /// The largest probability of a value for a person, counting all worlds the promise allows, over all releases.
    pub largest_posterior: Option<f64>,
    /// The same, counting all worlds the releases allow.
    pub largest_posterior_blind: Option<f64>,
    /// For how many people the probabilities were counted, and of how many.
    pub posterior_of: (u64, u64),
    /// The fewest values that remain possible for a person after comparing all releases.
    pub smallest_candidates: Option<u32>,
    /// The fewest published ids whose regions over all releases are the same (E).
    pub least_alike: Option<u32>,
    /// The fewest published ids that were always in the same groups (H).
    pub least_always_together: Option<u32>,
    /// What could not be computed, and why.
    pub not_computed: Vec<String>,
}

/// One bar of a histogram.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Bar {
    /// The lowest number in it.
    pub from: u64,
    /// The highest number in it.
    pub to: u64,
    /// How many.
    pub count: u64,
}

/// The information loss of a release, compared with its snapshot.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LossFacts {
    /// The mean share of the domains that published values cover beyond one value, 0 to 1.
    pub leaf_share: f64,
    /// The information loss of paper 001, per person.
    pub information_loss_per_person: f64,
    /// The sum of squared group sizes.
    pub discernability: u64,
    /// The mean group size, in multiples of the smallest allowed.
    pub c_avg: f64,
    /// Per quasi attribute.
    pub attributes: Vec<AttributeFacts>,
}

/// How precise an attribute is.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct AttributeFacts {
    /// Its name.
    pub name: String,
    /// 1 if every value is exact, 0 if every value is `*`.
    pub precision: f64,
}

/// One question and its answer.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct CheckFacts {
    /// Its name.
    pub check: String,
    /// The question.
    pub question: String,
    /// PASS, FAIL, MEASURED, NOT APPLICABLE or NOT ASSESSED.
    #[schemars(with = "String")]
    pub verdict: VerdictWord,
    /// Why it does not apply, or could not be answered; or the theorem that answers for everyone.
    pub why: Option<String>,
    /// How many were examined.
    pub looked_at: u64,
    /// Of how many.
    pub of: u64,
    /// What was counted.
    pub what: String,
    /// How many findings it has.
    pub findings: u64,
    /// What was measured; for the auditor.
    pub measures: Vec<MeasureFacts>,
}

/// One number.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct MeasureFacts {
    /// The number of the release; none for the whole series.
    pub release: Option<u32>,
    /// What was measured.
    pub name: String,
    /// The value; none if it is not a number.
    pub value: Option<f64>,
}

/// One way to learn too much.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct FindingFacts {
    /// Its place in the list, from 1, for `tacenda explain finding N`.
    #[serde(default)]
    pub number: u32,
    /// Its code, with a page in `tacenda explain`.
    pub code: String,
    /// Its title.
    pub title: String,
    /// note, warning or severe.
    #[schemars(with = "String")]
    pub severity: Severity,
    /// The check that found it.
    pub check: String,
    /// The release it was found in.
    pub release: u32,
    /// The other releases that it needs.
    pub others: Vec<u32>,
    /// How many people it concerns.
    pub people: u64,
    /// How many groups.
    pub groups: u64,
    /// What proves it; for the auditor.
    pub witness: Option<WitnessFacts>,
}

impl Report {
    /// The closing sections, in every form that is read from top to bottom.
    pub(super) fn closing_points(&self) -> [(&'static str, &[String]); 5] {
        [
            ("What this rests on", &self.assumptions),
            ("What this does not cover", &self.not_covered),
            ("What was not computed", &self.sequence.not_computed),
            ("What to do next", &self.next_steps),
            ("How to repeat this", &self.reproduce),
        ]
    }
}

impl LimitFacts {
    /// The same in words.
    pub fn words(&self) -> String {
        let pairs = match self.pairs_left_out {
            0 => "all pairs of releases were compared".to_string(),
            pairs => format!("{} were not compared", counted(pairs, "pair of releases", "pairs of releases")),
        };
        format!("{} steps for each search; {pairs}; seed {}", number(self.steps), self.seed)
    }
}

impl StoryFacts {
    /// The heading above it.
    pub fn heading(&self) -> String {
        let heading = match self.left == 1 || self.finding.is_some() {
            true => "The worst case, step by step",
            false => "Who is closest to a threshold, step by step",
        };
        self.finding.map_or(heading.into(), |finding| format!("{heading} (finding {finding})"))
    }

    /// Whom it is about, and what is known about them.
    pub fn opening(&self) -> String {
        let known = |(name, value): &(String, Option<String>)| match value {
            Some(value) => format!("{name} {value}"),
            None => name.clone(),
        };
        let known: Vec<String> = self.known.iter().map(known).collect();
        match self.of_place {
            true => format!("The attacker knows a person who is in all of these releases and has {}.", list(&known)),
            false => format!("The attacker knows a person: {}.", list(&known)),
        }
    }
}

impl StoryFacts {
    /// The conclusion.
    pub fn ending(&self) -> String {
        match (self.left, &self.provided) {
            (1, None) => "One value remains: it is certain.".into(),
            (1, Some(provided)) => format!("One value remains, {provided}. Nothing in the files says that."),
            (left, _) => format!("{} remain.", counted(left as u64, "value", "values")),
        }
    }
}

impl StepFacts {
    /// The sentence for a changed value.
    pub const RESTARTED: &str = "This contradicts the step before: the value changed, and the attack starts again.";

    /// How many groups the person may be in.
    pub fn groups_in_words(&self) -> String {
        match self.group_count {
            1 => "one group".into(),
            count => counted(count as u64, "group", "groups"),
        }
    }
}

impl Report {
    /// Whether some release has a sensitive column. Otherwise no form says anything about values.
    pub fn has_values(&self) -> bool {
        self.releases.iter().any(ReleaseFacts::has_values)
    }
}

impl ReleaseFacts {
    /// Whether it has a sensitive column.
    pub fn has_values(&self) -> bool {
        self.risk.fewest_values > 0
    }

    /// How suppressed rows change the numbers, if there are some.
    pub fn suppressed_in_words(&self) -> Option<String> {
        let apart = &self.risk.without_suppressed;
        (apart.suppressed > 0).then(|| {
            format!(
                "Release {}: {} suppressed (any value in every column). Here they count as one more group: mean risk {}. \
                 ARX leaves them out: smallest group {}, highest risk {}, mean risk {}.",
                self.number,
                counted(apart.suppressed, "row is", "rows are"),
                percent(self.risk.mean_identity),
                number(u64::from(apart.smallest_group)),
                percent(apart.highest_identity),
                percent(apart.mean_identity),
            )
        })
    }
}

impl WitnessFacts {
    /// The note about groups that are not shown.
    pub fn more_groups(&self, shown: usize) -> Option<String> {
        let more = self.groups.len().saturating_sub(shown) as u64;
        (more > 0).then(|| format!("and {}", counted(more, "more group", "more groups")))
    }
}

impl FindingFacts {
    /// How many people it concerns, in words. The ledger does not count those of a release that was made elsewhere.
    pub fn people_in_words(&self) -> String {
        if self.is_counted() { people(self.people) } else { "people not counted".into() }
    }

    /// Whether its people were counted.
    pub fn is_counted(&self) -> bool {
        self.people > 0 || self.check != GATE
    }

    /// All releases that it needs, ascending.
    pub fn releases(&self) -> Vec<u32> {
        let mut releases = self.others.clone();
        releases.push(self.release);
        releases.sort_unstable();
        releases.dedup();
        releases
    }
}

/// What proves a finding.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct WitnessFacts {
    /// What is claimed, and how to check it.
    pub claim: String,
    /// The groups that prove it.
    pub groups: Vec<WitnessGroup>,
    /// The sensitive values it names, coded unless they are shown.
    pub values: Vec<String>,
    /// The person it is about, under a pseudonym of this audit. Without the tables nobody can resolve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The quasi attribute it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The number that is claimed.
    pub number: u64,
    /// The threshold it is compared with.
    pub line: u64,
}

/// A group that a witness names.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct WitnessGroup {
    /// The release's number.
    pub release: u32,
    /// The release's label.
    pub label: String,
    /// The group as the file names it, or its place in the release, counted from 1.
    pub group: String,
    /// Its region as printed, one text per quasi attribute.
    pub region: Vec<String>,
    /// Each sensitive value of its rows, coded unless they are shown, with its number of rows; the first 40.
    #[serde(default)]
    pub holds: Vec<(String, u32)>,
    /// Its rows in the file, counted from 1 below the heading; the first 200.
    pub rows: Vec<u32>,
    /// How many rows it has in all.
    pub row_count: u32,
}

/// One person, attacked step by step; if people are not known, anyone in a place.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StoryFacts {
    /// The number of the finding that it illustrates; none if nobody's value was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<u32>,
    /// Whether it is about a place instead of a person.
    #[serde(default)]
    pub of_place: bool,
    /// Whether values have codes, such as D1, in place of their names.
    #[serde(default)]
    pub coded: bool,
    /// What the attacker knew: name and value. A person's values are included only if values are shown.
    pub known: Vec<(String, Option<String>)>,
    /// One step per release.
    pub steps: Vec<StepFacts>,
    /// The values left after matching everyone with a row at once, if these are fewer than after the last step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<Vec<String>>,
    /// How many values are left at the end.
    pub left: usize,
    /// The assumption it depends on, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provided: Option<String>,
}

/// What one release says about the person.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StepFacts {
    /// The release's number.
    pub release: u32,
    /// The release's label.
    pub label: String,
    /// How many groups the person may be in.
    pub group_count: usize,
    /// The first groups they may be in.
    pub groups: Vec<StepGroup>,
    /// The values of these groups, coded unless they are shown.
    pub found: Vec<String>,
    /// The values left after this step.
    pub left: Vec<String>,
    /// Whether this step contradicted the ones before, so that the attacker started again.
    pub restarted: bool,
}

/// A group the person may be in.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StepGroup {
    /// Its place in the release, counted from 1.
    pub group: u32,
    /// Its region as printed.
    pub region: Vec<String>,
    /// Its values, each once.
    pub values: Vec<String>,
    /// How many rows it has.
    pub rows: usize,
}

/// One of the three questions of WP216.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct QuestionFacts {
    /// singling out, linkability, inference.
    pub name: String,
    /// The question in plain words.
    pub question: String,
    /// The answer.
    pub decision: Decision,
    /// What is possible although no promise covers it; part of a sentence.
    pub possible: Option<String>,
    /// What was measured.
    pub evidence: Vec<String>,
    /// The limits of the answer.
    pub limit: String,
}

/// The regions of the releases on two attributes.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Picture {
    /// The attribute from left to right.
    pub across: String,
    /// The attribute from bottom to top.
    pub up: String,
    /// The ends of the attribute from left to right.
    pub across_ends: (String, String),
    /// The ends of the attribute from bottom to top.
    pub up_ends: (String, String),
    /// One per release.
    pub panels: Vec<Panel>,
    /// How many releases have no panel.
    pub left_off: usize,
}

/// The regions of one release.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Panel {
    /// The release's label.
    pub label: String,
    /// How many groups the release has.
    pub groups: u64,
    /// Regions in thousandths of the domain: left, right, bottom, top, people.
    pub boxes: Vec<(u32, u32, u32, u32, u32)>,
}

/// What the report was made from and with.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Provenance {
    /// The program and its version.
    pub software: String,
    /// The SHA-256 of the policy file and its hierarchies.
    pub policy_sha256: Option<String>,
    /// A hash of the seed. It can prove later that the seed was not changed, and reveals nothing.
    pub seed_commitment: Option<String>,
    /// The hash of the ledger's last line.
    pub ledger_head: Option<String>,
    /// The least number of people who must not be distinguished.
    pub k: u32,
    /// The least number of values that must remain possible.
    pub l: u32,
    /// The largest distance of a group's values from the table's.
    pub t: Option<f64>,
    /// What the attacker knows.
    pub attacker: Vec<String>,
    /// Notes about how the input was read.
    pub notes: Vec<String>,
    /// The command that made it, if there is one.
    pub command: Option<String>,
    /// The limits of the attacks' work; for the auditor.
    pub limits: Option<LimitFacts>,
    /// When the report was made, if that is included.
    pub made_at: Option<String>,
}

/// The limits of the attacks' work. What exceeds them is NOT ASSESSED.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct LimitFacts {
    /// The steps that each search may take.
    pub steps: u64,
    /// How many pairs of releases were not compared with each other.
    pub pairs_left_out: u64,
    /// The seed of attacks that use randomness.
    pub seed: u64,
}

/// How people who leave are treated, what the policy file allows, and until when the report holds.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct GovernanceFacts {
    /// What only people know: why, for whom, under which conditions. A text is empty if the policy file does not say.
    #[serde(default)]
    pub declared: Vec<DeclaredFact>,
    /// How people who leave the data are treated.
    pub deletion: String,
    /// The limits of counterfeits and withheld people in the policy file.
    pub limits: Vec<String>,
    /// Why a promise that holds per release only was accepted, if the policy file says so.
    pub accepted_risk: Option<String>,
    /// Until when the report is meant to hold.
    pub review_by: Option<String>,
    /// What ends its validity earlier.
    pub review_triggers: Vec<String>,
}

/// A statement of the policy file that only people can make.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct DeclaredFact {
    /// Its topic.
    pub name: String,
    /// Its text; may be empty.
    pub text: String,
}

/// How identifying a quasi-identifier is.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct IdentifyingFacts {
    /// The column.
    pub column: String,
    /// How many values it can have.
    pub values: u32,
    /// How many different regions the last release has in it.
    pub regions: u32,
    /// The fewest people who share one of these regions.
    pub fewest_alike: u64,
    /// A hint, by kind and name, if HIPAA's safe harbor would not allow the column as it is.
    pub safe_harbor: Option<String>,
}

/// What one signature confirms.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct SigningFacts {
    /// Who signs.
    pub role: String,
    /// What they confirm, one sentence each.
    pub confirms: Vec<String>,
}

/// Numbers from the vault and the private tables.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PrivateFacts {
    /// Per release, arrivals, departures and people who wait; from the vault.
    pub churn: Vec<ChurnFacts>,
    /// Per release with an available private table, a comparison of the two.
    pub truth: Vec<TruthFacts>,
}

/// Arrivals and departures at a release.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ChurnFacts {
    /// The release's number.
    pub release: u32,
    /// People never seen before.
    pub arrived: u64,
    /// People published here and not since.
    pub last_published: u64,
    /// People of the last snapshot who are not in the last release, and have waited since this one. People who left
    /// while they waited are not counted.
    pub waiting_since: u64,
}

/// A release compared with its private table.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TruthFacts {
    /// The release's number.
    pub release: u32,
    /// People of the table.
    pub people: u64,
    /// People of the table who were left out of the release.
    pub withheld: u64,
    /// How exposed they would be if the table had been published as it is.
    pub before: BeforeFacts,
    /// How far count queries on the release are off; none if it has no sensitive column.
    pub query_error: Option<QueryErrorFacts>,
    /// How far simple counts are off.
    #[serde(default)]
    pub count_errors: Option<CountErrors>,
}

/// How exposed people would be by their exact quasi-identifiers.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct BeforeFacts {
    /// The fewest people with the same quasi-identifiers.
    pub smallest_group: u32,
    /// People whose quasi-identifiers nobody else has.
    pub unique: u64,
    /// The largest risk of being singled out.
    pub highest_identity: f64,
    /// The mean risk of being singled out.
    pub mean_identity: f64,
    /// People whose quasi-identifiers fewer than k people share.
    pub people_below_k: u64,
}

/// How far count queries are from the truth.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct QueryErrorFacts {
    /// How many queries were asked.
    pub queries: u32,
    /// The expected share of rows that fit.
    pub selectivity: f64,
    /// The median of |actual − estimate| / actual.
    pub median: f64,
    /// The mean of it.
    pub mean: f64,
    /// Nine in ten queries are off by at most this.
    pub ninth_decile: f64,
}

impl ChurnFacts {
    /// What the headings of such a table mean.
    pub const HEADS: &str = "gone after: people in this release and in none since. waiting: people who have waited since this \
                             release, and wait now.";

    /// Release, arrived, gone after, waiting: a row of a table.
    pub fn cells(&self) -> [String; 4] {
        let counts = [self.arrived, self.last_published, self.waiting_since].map(number);
        let [arrived, last_published, waiting_since] = counts;
        [self.release.to_string(), arrived, last_published, waiting_since]
    }
}

impl TruthFacts {
    /// Release, people, withheld, unique before, mean risk before, median error, ninth decile: a row of a table.
    pub fn cells(&self) -> [String; 7] {
        let error = |pick: fn(&QueryErrorFacts) -> f64| {
            self.query_error.as_ref().map_or("–".to_string(), |error| percent(pick(error)))
        };
        [
            self.release.to_string(),
            number(self.people),
            number(self.withheld),
            number(self.before.unique),
            percent(self.before.mean_identity),
            error(|error| error.median),
            error(|error| error.ninth_decile),
        ]
    }
}

impl Edition {
    /// The word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Edition::Recipient => "recipient",
            Edition::Steward => "steward",
            Edition::Auditor => "auditor",
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.words())
    }
}

impl Decision {
    /// The words that are printed.
    pub fn words(self) -> &'static str {
        match self {
            Decision::Pass => "PASS",
            Decision::PassAssuming => "PASS WITH NAMED ASSUMPTION",
            Decision::NotPromised => "NOT PROMISED",
            Decision::Fail => "FAIL",
            Decision::NotAssessed => "NOT ASSESSED",
            Decision::NotAsked => "NOT ASKED",
        }
    }
}
