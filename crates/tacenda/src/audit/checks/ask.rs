//! What is asked of every check, and what several of them share.

use crate::audit::Attacker;
use crate::audit::Coverage;
use crate::audit::Limits;
use crate::audit::Series;
use crate::audit::Thresholds;
use crate::audit::checks::candidates::Left;
use crate::model::Release;
use std::cell::OnceCell;

/// One examination.
pub(in crate::audit) struct Ask<'a> {
    pub(in crate::audit) series: Series<'a>,
    pub(in crate::audit) attacker: Attacker,
    pub(in crate::audit) thresholds: Thresholds,
    pub(in crate::audit) limits: Limits,
    left: OnceCell<Option<Left>>,
}

impl<'a> Ask<'a> {
    pub(in crate::audit) fn new(
        series: Series<'a>,
        attacker: Attacker,
        thresholds: Thresholds,
        limits: Limits,
    ) -> Ask<'a> {
        Ask { series, attacker, thresholds, limits, left: OnceCell::new() }
    }

    /// The releases with their places in the series.
    pub(super) fn releases(&self) -> impl Iterator<Item = (u32, &'a Release)> + use<'a> {
        self.series.releases.iter().enumerate().map(|(place, release)| (place as u32, release))
    }

    /// The releases that have a sensitive column.
    pub(super) fn with_sensitive(&self) -> impl Iterator<Item = (u32, &'a Release)> + use<'a> {
        let traces = self.series.traces;
        self.releases().filter(move |&(place, _)| !traces[place as usize].without_sensitive)
    }

    /// How many groups all releases have.
    pub(super) fn all_groups(&self) -> u64 {
        self.series.releases.iter().map(|release| release.group_count() as u64).sum()
    }

    /// Everything was looked at: all groups of some releases.
    pub(super) fn groups_of<'b>(releases: impl Iterator<Item = (u32, &'b Release)>) -> Coverage {
        let groups = releases.map(|(_, release)| release.group_count() as u64).sum();
        Coverage { looked_at: groups, of: groups, what: "groups" }
    }

    /// What is left for each person, where people are known. Worked out once.
    pub(super) fn left(&self) -> Option<&Left> {
        self.left.get_or_init(|| Left::new(self)).as_ref()
    }
}
