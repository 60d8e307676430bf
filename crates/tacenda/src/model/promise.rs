//! What is claimed of a whole series.
//!
//! The enum is closed: a claim the auditor has no check for does not compile.

use crate::model::ListedShare;

/// A claim about every release of a series, taken together.
#[derive(Clone, Debug, PartialEq)]
pub enum Promise {
    /// Paper 003: every group holds at least `m` values equally often, and a person's groups carry
    /// one value set over their whole life. With `k`, every group holds at least `k` people.
    MInvariance {
        /// The least number of values of a group.
        m: u32,
        /// The least number of people of a group; `None`: each value once.
        k: Option<u32>,
    },
    /// Paper 000: the inference table of any set of releases is k-anonymous.
    IncrementalKAnonymity {
        /// The least number of people that cannot be told apart.
        k: u32,
        /// Whether that holds even for someone who knows who arrived when.
        cohorts: bool,
        /// No value may make up more than one in `l` of a group, where given. With cohorts that holds of what all
        /// releases together tell; without, of each group of each release alone.
        l: Option<u32>,
    },
    /// Paper 001: each release on its own is k-anonymous. Says nothing of the series.
    KAnonymity {
        /// The least number of people of a group.
        k: u32,
    },
    /// Paper 002: a person's sensitive value is one of `l`, records are only added.
    IncrementalLDiversity {
        /// The least number of values of a group.
        l: u32,
        /// The corrected algorithm, or the paper's, which breaks its promise.
        mode: DiversityMode,
    },
    /// Paper 004: every combination of `x` in the join of all views goes with at least `k` values of `y`.
    XyAnonymity {
        /// The columns an attacker knows.
        x: Vec<String>,
        /// The columns that identify.
        y: Vec<String>,
        /// The least number of `y` values.
        k: u32,
    },
    /// Paper 004: in the join of all views no value of `y` makes up more than `max_confidence` of a combination of `x`.
    XyLinkability {
        /// The columns an attacker knows.
        x: Vec<String>,
        /// The columns that must not be learned.
        y: Vec<String>,
        /// The largest share, in thousandths.
        max_confidence_permille: u32,
        /// Values with a share of their own; the first that fits counts.
        listed: Vec<ListedShare>,
        /// Whether only listed values are sensitive.
        only_listed: bool,
    },
}

/// Which form of paper 002.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DiversityMode {
    /// Insert-only m-invariance: nothing is published that the promise does not cover.
    Safe,
    /// As printed, for study.
    Paper,
}

impl Promise {
    /// Whether it says that the groups of one person all have one value set.
    pub fn keeps_value_sets(&self) -> bool {
        matches!(
            self,
            Promise::MInvariance { .. }
                | Promise::IncrementalLDiversity { mode: DiversityMode::Safe, .. }
                | Promise::IncrementalKAnonymity { cohorts: true, .. }
        )
    }

    /// Whether people may leave between releases. The promises that grow only have who came.
    pub fn lets_people_leave(&self) -> bool {
        !matches!(self, Promise::IncrementalKAnonymity { .. } | Promise::IncrementalLDiversity { .. })
    }

    /// The name used in the policy file.
    pub fn model(&self) -> &'static str {
        match self {
            Promise::MInvariance { .. } => "m-invariance",
            Promise::IncrementalKAnonymity { .. } => "incremental-k-anonymity",
            Promise::KAnonymity { .. } => "k-anonymity",
            Promise::IncrementalLDiversity { .. } => "incremental-l-diversity",
            Promise::XyAnonymity { .. } => "xy-anonymity",
            Promise::XyLinkability { .. } => "xy-linkability",
        }
    }

    /// The promise in one sentence, as the report prints it.
    pub fn sentence(&self) -> String {
        match self {
            Promise::MInvariance { m, k } => {
                let people =
                    k.map_or(String::new(), |k| format!(" Every group of a release holds at least {k} people."));
                format!(
                    "Across all releases of this series, someone who knows the exact quasi-identifiers and the presence \
                     of everyone in every release, and how we work, and counts all consistent assignments equally, \
                     attributes a person's sensitive value correctly with probability at most 1/{m}.{people}"
                )
            }
            Promise::IncrementalKAnonymity { k, cohorts: false, l } => {
                let guard = l.map_or(String::new(), |l| {
                    format!(" In each release alone, no sensitive value is held by more than one in {l} of a group.")
                });
                format!(
                    "Across all releases in this series, including the record ids we publish, each person stays \
                     indistinguishable from at least {} others for anyone who knows exact quasi-identifiers but not when \
                     any person entered the data.{guard} Records are only added.",
                    k - 1
                )
            }
            Promise::IncrementalKAnonymity { k, cohorts: true, l } => {
                let guard = l.map_or(String::new(), |l| {
                    format!(" and no sensitive value can be attributed to them with more than frequency 1/{l}")
                });
                format!(
                    "Across all releases in this series, including the record ids we publish, even for someone who knows \
                     exact quasi-identifiers and which releases contain which people, each person is one of at least {k} \
                     records{guard}. Some records are withheld until enough others arrive."
                )
            }
            Promise::KAnonymity { k } => format!(
                "Protects against someone who sees only this release and knows everyone's quasi-identifiers: each person is \
                 one of at least {k} records. It gives no protection to anyone who can compare it with another release of \
                 the same data."
            ),
            Promise::IncrementalLDiversity { l, mode: DiversityMode::Safe } => format!(
                "Across all releases of this series, someone who knows the exact quasi-identifiers and the presence of \
                 everyone in every release, and how we work, and counts all consistent assignments equally, attributes a \
                 person's sensitive value correctly with probability at most 1/{l}. Records are only added, none is \
                 artificial; some wait."
            ),
            Promise::IncrementalLDiversity { l, mode: DiversityMode::Paper } => format!(
                "Every group of every release holds at least {l} distinct sensitive values. This is the published algorithm, \
                 kept for study: comparing its releases reveals people."
            ),
            Promise::XyAnonymity { k, .. } => format!(
                "For this set of releases with different columns, every combination of X remains compatible with at least \
                 {k} values of Y among all record matchings consistent with the released tables and the stated common sense \
                 rules."
            ),
            Promise::XyLinkability { max_confidence_permille, listed, only_listed, .. } => {
                let percent = |permille: u32| format!("{:.1} %", f64::from(permille) / 10.0);
                let which = match (only_listed, listed.is_empty()) {
                    (true, _) => "no sensitive Y value exceeds its share, at most",
                    (false, false) => "no Y value exceeds its share, where none is listed",
                    (false, true) => "no Y value exceeds a share of",
                };
                let most = match only_listed {
                    true => listed.iter().map(|share| share.max_permille).max().unwrap_or(*max_confidence_permille),
                    false => *max_confidence_permille,
                };
                format!(
                    "For this set of releases with different columns, {which} {} for any combination of X among all record \
                     matchings consistent with the released tables and the stated common sense rules.",
                    percent(most)
                )
            }
        }
    }

    /// What the promise does not cover, one sentence each.
    pub fn limits(&self) -> Vec<&'static str> {
        const EVERYONE: [&str; 2] = [
            "Not differential privacy.",
            "No protection against other data sets about the same people published elsewhere.",
        ];
        let own: &[&'static str] = match self {
            Promise::MInvariance { .. } => &[
                "It does not hide who is in the data.",
                "It does not hide that two people share a value.",
                "It does not resist knowledge of other people's values.",
                "Published tables may contain declared artificial records.",
            ],
            Promise::IncrementalLDiversity { mode: DiversityMode::Safe, .. } => &[
                "It does not hide who is in the data.",
                "It does not hide that two people share a value.",
                "It does not resist knowledge of other people's values.",
                "That a person known to be in the data waits is itself a hint at a frequent value.",
            ],
            Promise::IncrementalLDiversity { mode: DiversityMode::Paper, .. } => {
                &["It does not protect newcomers, nor members of divided groups, from a comparison of two releases."]
            }
            Promise::IncrementalKAnonymity { cohorts, l, .. } => match (cohorts, l) {
                (true, Some(_)) => &[
                    "It does not hide who is in the data.",
                    "That a person known to be in the data waits is itself a hint at a frequent value.",
                ],
                (true, None) => &[
                    "It does not hide who is in the data.",
                    "It does not limit what is learned about sensitive values: no guard is named.",
                ],
                (false, None) => &[
                    "It does not protect against someone who knows when a person entered the data.",
                    "It does not limit what is learned about sensitive values: no guard is named.",
                ],
                (false, Some(_)) => &[
                    "It does not protect against someone who knows when a person entered the data.",
                    "Its guard holds for each group of each release alone: not for what is learned by comparing releases, \
                     nor against someone who knows how we cut or who arrived when.",
                ],
            },
            Promise::KAnonymity { .. } => &[
                "It does not protect against a comparison with any other release of the same data.",
                "It does not limit what is learned about sensitive values.",
            ],
            Promise::XyAnonymity { .. } | Promise::XyLinkability { .. } => &[
                "It counts candidates among matchings; it is not a probability.",
                "It does not cover columns outside X and Y.",
            ],
        };
        own.iter().copied().chain(EVERYONE).collect()
    }

    /// Whether records may leave, return or change under this promise.
    pub fn is_insert_only(&self) -> bool {
        matches!(self, Promise::IncrementalKAnonymity { .. } | Promise::IncrementalLDiversity { .. })
    }
}
