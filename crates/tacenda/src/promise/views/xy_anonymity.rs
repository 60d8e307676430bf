//! (X,Y)-anonymity, paper 004: every combination of known columns goes with at least `k` values of the columns to be
//! protected.

use crate::model::{Bound, Demand, Schema, Terms};
use crate::promise::views::{OfViews, X_KEY, Y_KEY, read_y, terms};
use crate::promise::{Drafted, Entry, Looser, Parameters};
use crate::settings::{Section, Walk, key};
use serde::{Deserialize, Serialize};

/// Every combination of `x` in the join of all views goes with at least `k` values of `y`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XyAnonymity {
    /// The columns an attacker knows.
    pub x: Vec<String>,
    /// The columns that identify.
    pub y: Vec<String>,
    /// The least number of `y` values.
    pub k: u32,
}

impl Parameters for XyAnonymity {
    const ENTRY: &'static Entry = &Entry {
        name: "xy-anonymity",
        line: "recipients get different columns of the same people; a reader who knows x is left with at least k values of y",
        parameters: "x; y; k; pool; target; score = entropy | distortion | discernability; [views.NAME], [[also]], [[impossible]]",
        paper: "004",
        keys: &[X_KEY, Y_KEY, key("promise", "k", "a number, at least 2", "", "the least number of values of y")],
        draft: Drafted {
            comment: "# For an attacker who knows x, at least k values of y remain.\n",
            parameters: |k| format!("k     = {k}\n"),
            needs_sensitive: true,
            leaving: "no: all views show the same people",
        },
        pages: &[],
        stated: &["x", "y", "k"],
    };

    fn read(section: &Section<'_, '_>, _: Option<&Schema>, walk: &mut Walk) -> Option<XyAnonymity> {
        let x = walk.names(section, "x")?;
        let y = read_y(section, walk)?;
        Some(XyAnonymity { x, y, k: walk.parameter(section, "k")? })
    }

    fn terms(&self) -> Terms {
        let k = self.k;
        let sentence = format!(
            "These releases have different columns. Among all record matchings that fit the released \
             tables and the stated common sense rules, every combination of X goes with at least {k} values of Y."
        );
        let parameters =
            vec![format!("x = {}", self.x.join(", ")), format!("y = {}", self.y.join(", ")), format!("k = {k}")];
        Terms { least_group: k, parameters, ..terms(Self::ENTRY.name, sentence) }
    }

    fn may_follow(&self, before: &XyAnonymity) -> Result<(), Looser> {
        Looser::unless_at_least("k", Some(before.k), Some(self.k))?;
        Looser::unless_same("x", &before.x, &self.x)?;
        Looser::unless_same("y", &before.y, &self.y)
    }

    fn set(&mut self, key: &str, value: u32) -> bool {
        let is_known = key == "k";
        if is_known {
            self.k = value;
        }
        is_known
    }
}

impl OfViews for XyAnonymity {
    fn demand(&self) -> Demand {
        Demand { x: self.x.clone(), y: self.y.clone(), bound: Bound::Anonymity { k: u64::from(self.k) } }
    }
}
