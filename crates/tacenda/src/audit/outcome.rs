//! What an audit answers: one outcome per check, each with its verdict, coverage, findings and numbers.

use crate::audit::story::Story;
use crate::audit::{Fault, Finding, Quantity, Reason, Statement};
use crate::model::Value;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Everything an audit found out.
#[derive(Clone, Debug, Default)]
pub struct Assessment {
    /// One outcome per check, in the order of [`Check::ALL`].
    pub outcomes: Vec<Outcome>,
    /// The worst case, step by step: a person whose value was found, or the one closest to it. If people are not known,
    /// a person in the worst place found.
    pub story: Option<Story>,
    /// The answers of the same checks at two people and two values, if the given thresholds are lower. Singling out and
    /// certainty mean nothing below two. A promise is not judged by these answers.
    pub at_two: Vec<Outcome>,
    /// How many pairs of releases were not compared with each other.
    pub pairs_left_out: u64,
}

/// A question the auditor asks of every series.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Check {
    /// How many people are in each group (science D4.1).
    GroupSizes,
    /// How many values each group holds: distinct, entropy, recursive (science D4.1).
    Diversity,
    /// The largest share of one value in a group (science D4.1).
    Frequency,
    /// How far a group's values are from the whole table's (science D4.1, t-closeness).
    Closeness,
    /// What ids that link releases give away: the inference table (science D4.2).
    LinkedIds,
    /// What the difference of two releases says of newcomers and leavers (science D4.3).
    Difference,
    /// Which values remain possible for each person, by intersection and by matching (science D4.4).
    Candidates,
    /// Which rows of two releases must be the same people (science D4.5).
    Correspondence,
    /// Which pairs of groups share a person in some consistent matching (science D4.6).
    Matching,
    /// How likely each value is for each person, counting all worlds (science D4.7).
    Posterior,
    /// Which people must share a value (science D4.8).
    Equivalence,
    /// What joining releases with different columns gives away (science D4.9).
    Joins,
    /// Whether the order of rows is that of the input or of another release (science D4.10).
    RowOrder,
    /// Whether group names stay the same over releases (science D4.10).
    GroupNames,
    /// Whether one person moved the boundary of a region (science D4.10).
    MovedRegions,
    /// Whether boundaries are values of people (science D4.10).
    Boundaries,
    /// How the loss grows over the releases (science D4.11).
    Drift,
    /// What can be learned from correlations in the releases themselves (science D4.12, B10).
    Learned,
    /// Whether the change of a value shows, and what follows from it (science B5, A3.12).
    Changes,
    /// How likely a person was ever linked to a value, where values change (B5).
    EverLinked,
    /// What people who are in a table and not in its release give away (science A2.4, CE-8).
    Waiting,
    /// Whether the releases are one unbroken series, as their manifests say (science D4.14).
    Chain,
    /// Whether groups depend on who has which value, tried by making the releases again (science A3.11).
    Rerun,
}

/// What a check says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Verdict {
    /// Examined everything and found nothing.
    Pass,
    /// Found something that is a warning or worse.
    Fail,
    /// Found only notes.
    Noted,
    /// Only measured; there is no threshold.
    Measured,
    /// Does not apply to this series, and why.
    NotApplicable(Reason),
    /// Could not be answered for everyone, and why. Never a pass.
    NotAssessed(Reason),
}

/// A verdict without its reason, as it is printed and written.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum VerdictWord {
    /// PASS
    Pass,
    /// FAIL
    Fail,
    /// NOTED
    Noted,
    /// MEASURED
    Measured,
    /// NOT APPLICABLE
    #[serde(rename = "NOT APPLICABLE")]
    NotApplicable,
    /// NOT ASSESSED
    #[serde(rename = "NOT ASSESSED")]
    NotAssessed,
}

/// One check's answer.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The question.
    pub check: Check,
    /// The answer.
    pub verdict: Verdict,
    /// How much was examined.
    pub coverage: Coverage,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was measured.
    pub measures: Vec<Measure>,
    /// The theorem that answers for people who were not examined one by one.
    pub theorem: Option<Theorem>,
    /// The least budget that could answer for the others, if it is known.
    pub needs: Option<u64>,
}

/// A theorem whose condition was checked, so that an answer holds at any size.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Theorem {
    /// Every group has each of its values equally often, and everyone keeps one value set. Then all values of a set are
    /// equally likely for everyone who has it (science A3.10).
    EquallyLikely,
    /// The same, but that everyone keeps one value set is promised and was not checked here.
    EquallyLikelyAsPromised,
    /// Every group has each of its values equally often, and some seating lets everyone keep one value set. Then
    /// exchanging values of a set gives another seating, so every value of the set stays possible (science A3.10).
    StillPossible,
    /// Groups never change and keep their people. Then every exchange of values within a group fits all releases
    /// (science A0.6).
    Exchangeable,
    /// The same, but that people stay in their group is promised and was not checked here.
    ExchangeableAsPromised,
}

impl fmt::Display for Theorem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Theorem::EquallyLikely => {
                "by a theorem (science A3.10): every group has each of its values equally often, which was checked \
                 here; and everyone kept one value set while their value stayed, which the gate checked before each release"
            }
            Theorem::EquallyLikelyAsPromised => {
                "by a theorem (science A3.10): every group has each of its values equally often, which was checked here; and everyone \
                 keeps one value set while their value stays, which is promised"
            }
            Theorem::StillPossible => {
                "by a theorem (science A3.10): every group has each of its values equally often, and everyone can have kept one value \
                 set; both were checked here"
            }
            Theorem::Exchangeable => {
                "by a theorem (science A0.6): every group has enough values, which was checked here; and people stay \
                 in their groups, which the gate checked before each release"
            }
            Theorem::ExchangeableAsPromised => {
                "by a theorem (science A0.6): every group has enough people and values, which was checked here; and people stay in \
                 their groups, which is promised"
            }
        })
    }
}

/// How much was examined, and of how much.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Coverage {
    /// How many were examined.
    pub looked_at: u64,
    /// How many there are.
    pub of: u64,
    /// What was counted: people, groups, pairs of groups.
    pub what: &'static str,
}

/// One number, of one release or of the series.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The number of the release; `None` for the whole series.
    pub release: Option<u32>,
    /// What was measured.
    pub quantity: Quantity,
    /// How much it is.
    pub value: f64,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Less protection than the threshold asks for.
    Warning,
    /// Somebody's value or row is certain, or a promise is broken.
    Severe,
}

/// What proves a finding: enough for a short script to check it against the published files.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Witness {
    /// What is claimed of the groups, values and numbers below, and how to check it.
    pub claim: Statement,
    /// The groups it rests on: release (its place in the series, from 0) and group (from 0).
    pub groups: Vec<(u32, u32)>,
    /// The sensitive values it speaks of.
    pub values: Vec<Value>,
    /// The person it speaks of, by number in the knowledge.
    pub person: Option<u32>,
    /// The quasi attribute it speaks of, by number in the schema.
    pub attribute: Option<u32>,
    /// The number that is claimed, such as a size.
    pub number: u64,
    /// The threshold it is compared with, such as k; for some claims, the whole of which it is a part.
    pub line: u64,
}

impl Witness {
    /// A witness that names groups only: no value, person or attribute.
    pub fn new(claim: Statement, groups: Vec<(u32, u32)>, number: u64, line: u64) -> Witness {
        Witness { claim, groups, values: Vec::new(), person: None, attribute: None, number, line }
    }
}

impl Assessment {
    /// Everything that was found, in the order of the checks.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.outcomes.iter().flat_map(|outcome| &outcome.findings)
    }

    /// The worst severity of all findings.
    pub fn worst(&self) -> Option<Severity> {
        self.findings().map(|finding| finding.fault.severity()).max()
    }

    /// The checks that are not assessed and could have found something of at least this severity.
    pub fn gaps(&self, severity: Severity) -> impl Iterator<Item = &Outcome> {
        let is_gap = move |outcome: &&Outcome| {
            matches!(outcome.verdict, Verdict::NotAssessed(_)) && outcome.check.worst() >= severity
        };
        self.outcomes.iter().filter(is_gap)
    }

    /// The outcome of a check.
    pub fn outcome(&self, check: Check) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.check == check)
    }
}

impl Check {
    /// All checks, in the order they are asked and printed.
    pub const ALL: [Check; 23] = [
        Check::GroupSizes,
        Check::Diversity,
        Check::Frequency,
        Check::Closeness,
        Check::LinkedIds,
        Check::Difference,
        Check::Candidates,
        Check::Correspondence,
        Check::Matching,
        Check::Posterior,
        Check::Equivalence,
        Check::Joins,
        Check::RowOrder,
        Check::GroupNames,
        Check::MovedRegions,
        Check::Boundaries,
        Check::Drift,
        Check::Learned,
        Check::EverLinked,
        Check::Changes,
        Check::Waiting,
        Check::Chain,
        Check::Rerun,
    ];

    /// The name on the command line and in JSON.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Whether it compares regions of several releases, so that its findings depend on which regions overlap.
    pub fn compares_regions(self) -> bool {
        matches!(
            self,
            Check::Difference
                | Check::Candidates
                | Check::Correspondence
                | Check::Matching
                | Check::Posterior
                | Check::Equivalence
                | Check::Joins
                | Check::MovedRegions
                | Check::Waiting
        )
    }

    /// The worst severity that the check can find.
    pub fn worst(self) -> Severity {
        match self {
            Check::GroupSizes
            | Check::Diversity
            | Check::LinkedIds
            | Check::Difference
            | Check::Candidates
            | Check::Correspondence
            | Check::Posterior
            | Check::Changes
            | Check::Chain
            | Check::Rerun => Severity::Severe,
            Check::Closeness
            | Check::Matching
            | Check::Joins
            | Check::RowOrder
            | Check::GroupNames
            | Check::MovedRegions => Severity::Warning,
            Check::Frequency
            | Check::Equivalence
            | Check::Boundaries
            | Check::Drift
            | Check::Learned
            | Check::EverLinked
            | Check::Waiting => Severity::Note,
        }
    }

    /// Whether a check that finds nothing proves that nothing is there, for the given attacker. The other checks only
    /// try one way of finding something.
    pub fn is_exhaustive(self) -> bool {
        match self {
            Check::GroupSizes
            | Check::Diversity
            | Check::Frequency
            | Check::Closeness
            | Check::LinkedIds
            | Check::Difference
            | Check::Candidates
            | Check::Correspondence
            | Check::Matching
            | Check::Posterior
            | Check::Equivalence
            | Check::Joins
            | Check::Chain
            | Check::Drift => true,
            Check::RowOrder
            | Check::GroupNames
            | Check::MovedRegions
            | Check::Boundaries
            | Check::Learned
            | Check::EverLinked
            | Check::Changes
            | Check::Waiting
            | Check::Rerun => false,
        }
    }

    /// The question in plain words.
    pub fn question(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Check::GroupSizes => ("group-sizes", "How many people are published alike?"),
            Check::Diversity => ("diversity", "How many sensitive values does a group hold?"),
            Check::Frequency => ("frequency", "How frequent is the most frequent value of a group?"),
            Check::Closeness => ("closeness", "How far are a group's values from those of the whole table?"),
            Check::LinkedIds => ("linked-ids", "What do ids that link releases give away?"),
            Check::Difference => {
                ("difference", "What does the difference of two releases reveal about arrivals and departures?")
            }
            Check::Candidates => ("candidates", "Which values remain possible for each person?"),
            Check::Correspondence => ("correspondence", "Which rows of two releases must be the same people?"),
            Check::Matching => ("matching", "Which pairs of groups can share a person at all?"),
            Check::Posterior => ("posterior", "How likely is each value for each person, counting all worlds?"),
            Check::Equivalence => ("equivalence", "Which people must share a value?"),
            Check::Joins => ("joins", "What does joining releases with different columns give away?"),
            Check::RowOrder => ("row-order", "Does the order of the rows link releases?"),
            Check::GroupNames => ("group-names", "Do group names link releases?"),
            Check::MovedRegions => ("moved-regions", "Did one person move the boundary of a region?"),
            Check::Boundaries => ("boundaries", "Are boundaries the values of people?"),
            Check::Drift => ("drift", "How does the loss change from release to release?"),
            Check::Learned => ("learned", "What can be learned from correlations in the releases themselves?"),
            Check::EverLinked => ("ever-linked", "How likely is it that a person was ever linked to a value?"),
            Check::Changes => ("changes", "Is a change of value visible, and what follows from it?"),
            Check::Waiting => ("waiting", "What do people who wait give away?"),
            Check::Chain => ("chain", "Are these releases one unbroken series?"),
            Check::Rerun => ("rerun", "Would exchanged values have given the same groups?"),
        }
    }
}

impl Outcome {
    /// An outcome that found nothing yet.
    pub fn new(check: Check, coverage: Coverage) -> Outcome {
        Outcome {
            check,
            verdict: Verdict::Pass,
            coverage,
            findings: Vec::new(),
            measures: Vec::new(),
            theorem: None,
            needs: None,
        }
    }

    /// An outcome that does not apply.
    pub fn not_applicable(check: Check, why: Reason) -> Outcome {
        Outcome { verdict: Verdict::NotApplicable(why), ..Outcome::new(check, Coverage::default()) }
    }

    /// Passes by a theorem, if nothing was found. The coverage still says how many were examined one by one.
    pub(super) fn proved(&mut self, theorem: Theorem) {
        self.theorem = Some(theorem);
    }

    /// Adds findings. Each makes the check fail unless it is only a note.
    pub fn found(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            debug_assert!(
                finding.fault.severity() <= self.check.worst(),
                "{:?} finds no {:?}",
                self.check,
                finding.fault
            );
            let is_note = finding.fault.severity() == Severity::Note && self.verdict != Verdict::Fail;
            self.verdict = if is_note { Verdict::Noted } else { Verdict::Fail };
            self.findings.push(finding);
        }
    }

    /// Records a number, rounded to nine decimals, so that sums of shares do not depend on the order of groups.
    pub fn measure(&mut self, release: Option<u32>, quantity: Quantity, value: f64) {
        let value = if value.abs() < 1e6 { (value * 1e9).round() / 1e9 } else { value };
        self.measures.push(Measure { release, quantity, value });
    }
}

impl Verdict {
    /// Why there is no answer.
    pub fn reason(self) -> Option<Reason> {
        match self {
            Verdict::NotApplicable(reason) | Verdict::NotAssessed(reason) => Some(reason),
            _ => None,
        }
    }

    /// The verdict without its reason.
    pub fn word(self) -> VerdictWord {
        match self {
            Verdict::Pass => VerdictWord::Pass,
            Verdict::Fail => VerdictWord::Fail,
            Verdict::Noted => VerdictWord::Noted,
            Verdict::Measured => VerdictWord::Measured,
            Verdict::NotApplicable(_) => VerdictWord::NotApplicable,
            Verdict::NotAssessed(_) => VerdictWord::NotAssessed,
        }
    }
}

impl fmt::Display for VerdictWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            VerdictWord::Pass => "PASS",
            VerdictWord::Fail => "FAIL",
            VerdictWord::Noted => "NOTED",
            VerdictWord::Measured => "MEASURED",
            VerdictWord::NotApplicable => "NOT APPLICABLE",
            VerdictWord::NotAssessed => "NOT ASSESSED",
        })
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Severe => "severe",
        })
    }
}

impl Fault {
    /// How bad it is.
    pub fn severity(self) -> Severity {
        match self {
            Fault::SmallGroup
            | Fault::FewOfPopulation
            | Fault::OneHousehold
            | Fault::HouseholdGivesAway
            | Fault::FewValues
            | Fault::TooFarFromWhole
            | Fault::LinkedTooFew
            | Fault::LinkedFewValues
            | Fault::ArrivalsFewValues
            | Fault::ArrivalsFew
            | Fault::LeaversFewValues
            | Fault::FewCandidates
            | Fault::PlaceGivesAway
            | Fault::OneKnownGivesAway
            | Fault::FewCorresponding
            | Fault::FewNewcomers
            | Fault::FewMatchedValues
            | Fault::LikelyValue
            | Fault::JoinFewPeople
            | Fault::JoinLikelyValue
            | Fault::AtOnceFewRows
            | Fault::AtOnceFewValues
            | Fault::OrderLinks
            | Fault::StableNames
            | Fault::MovedByOne
            | Fault::PermanentFewValues => Severity::Warning,
            // No promise covers these, and some are only likely.
            Fault::FrequentValue
            | Fault::LinkedIdsPublished
            | Fault::LinkedContradiction
            | Fault::LinkedValueChanged
            | Fault::MustShareValue
            | Fault::TightBoundaries
            | Fault::LearnedValues
            | Fault::ChangeShows
            | Fault::ArrivalsUnlessSuppressed
            | Fault::WaitingTellsValue
            | Fault::WaitingTellsChange
            | Fault::WaitingCertain
            | Fault::WaitingFewValues
            | Fault::EverLinkedLikely => Severity::Note,
            // Everything that the gate finds breaks a promise.
            _ => Severity::Severe,
        }
    }
}
