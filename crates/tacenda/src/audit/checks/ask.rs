//! What is asked of every check, and what several of them share.

use crate::audit::checks::candidates::Left;
use crate::audit::checks::flows::{Flows, NoFlows};
use crate::audit::checks::posterior::Counts;
use crate::audit::checks::{certificate, pairs};
use crate::audit::knowledge::Knowledge;
use crate::audit::{Attacker, Budget, Coverage, Reason, Series, Theorem, Thresholds};
use crate::model::{GroupRule, Release, Value};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// One examination.
pub(in crate::audit) struct Ask<'a> {
    pub(in crate::audit) series: Series<'a>,
    pub(in crate::audit) attacker: Attacker,
    pub(in crate::audit) thresholds: Thresholds,
    pub(in crate::audit) budget: Budget,
    stretches: OnceLock<Option<(Knowledge<'a>, Vec<u32>)>>,
    left: OnceLock<Option<Left>>,
    counts: OnceLock<Option<Counts>>,
    /// The pairs of releases that are compared, neighbours first.
    pub(super) pairs: Vec<(u32, u32)>,
    /// How many pairs are not compared, and how many rows comparing them would read.
    pub(in crate::audit) left_out: LeftOut,
    flows: Vec<OnceLock<Result<Flows<'a>, NoFlows>>>,
}

/// Pairs of releases that are not compared.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(in crate::audit) struct LeftOut {
    pub(in crate::audit) pairs: u64,
    pub(in crate::audit) rows: u64,
}

impl<'a> Ask<'a> {
    pub(in crate::audit) fn new(
        series: Series<'a>,
        attacker: Attacker,
        thresholds: Thresholds,
        budget: Budget,
    ) -> Ask<'a> {
        let mut ask = Ask {
            series,
            attacker,
            thresholds,
            budget,
            stretches: OnceLock::new(),
            left: OnceLock::new(),
            counts: OnceLock::new(),
            pairs: Vec::new(),
            left_out: LeftOut::default(),
            flows: Vec::new(),
        };
        (ask.pairs, ask.left_out) = pairs::pairs(&ask);
        ask.flows = ask.pairs.iter().map(|_| OnceLock::new()).collect();
        ask
    }

    /// The releases with their places in the series.
    pub(super) fn releases(&self) -> impl Iterator<Item = (u32, &'a Release)> + use<'a> {
        self.series.releases.iter().enumerate().map(|(place, release)| (place as u32, release))
    }

    /// The releases that have a sensitive column.
    pub(in crate::audit) fn with_sensitive(&self) -> impl Iterator<Item = (u32, &'a Release)> + use<'a> {
        let traces = self.series.traces;
        self.releases().filter(move |&(place, _)| !traces[place as usize].without_sensitive)
    }

    /// How many of the pairs are neighbours; they come first.
    pub(super) fn neighbours(&self) -> usize {
        self.with_sensitive().count().saturating_sub(1)
    }

    /// The number of the last release, and those of all before it.
    pub(super) fn last_and_others(&self) -> (u32, Vec<u32>) {
        let mut numbers: Vec<u32> = self.series.releases.iter().map(|release| release.number).collect();
        (numbers.pop().unwrap_or(0), numbers)
    }

    /// The coverage of a check that looked at all groups of these releases.
    pub(super) fn groups_of<'b>(releases: impl Iterator<Item = (u32, &'b Release)>) -> Coverage {
        let groups = releases.map(|(_, release)| release.group_count() as u64).sum();
        Coverage { looked_at: groups, of: groups, what: "groups" }
    }

    /// Whether a release has a sensitive column.
    pub(super) fn tells(&self, release: usize) -> bool {
        !self.series.traces[release].without_sensitive
    }

    /// Everyone, for checks that assume that values stay the same. A person whose value changed counts as a new person
    /// from then on, so none of these people changes value. This models an attacker who knows when values change.
    pub(super) fn people(&self) -> Option<&Knowledge<'a>> {
        let knowledge = self.series.knowledge?;
        Some(self.stretches().map_or(knowledge, |(stretched, _)| stretched))
    }

    /// The person of the knowledge that one of [`Ask::people`] belongs to.
    pub(super) fn owner(&self, person: u32) -> u32 {
        self.stretches().map_or(person, |(_, owners)| owners[person as usize])
    }

    /// Why nobody can be placed in a group.
    pub(super) fn why_unplaced(&self) -> Reason {
        if self.series.knowledge.is_none() { Reason::PeopleUnknown } else { Reason::PresenceUnknown }
    }

    /// The theorem that answers for everyone, if its condition holds. The promise must be judged by worlds that keep
    /// its rule, the gate must have seen that everyone keeps it, and every group must meet the theorem's condition.
    pub(super) fn theorem(&self) -> Option<Theorem> {
        let is_seen = self.series.knowledge.is_some_and(Knowledge::kept_sets);
        let is_judged = self.attacker.presence && self.attacker.known_people == 0;
        match self.series.promise?.groups {
            _ if !is_seen || !is_judged => None,
            GroupRule::Balanced if self.counts_are_known() && self.is_balanced() => Some(Theorem::EquallyLikely),
            GroupRule::Unchanged if self.are_whole() => Some(Theorem::Exchangeable),
            _ => None,
        }
    }

    /// The same for a check that only asks which values stay possible. It needs no promise: with the private tables it
    /// is enough that everyone can have kept one value set.
    pub(super) fn theorem_of_values(&self) -> Option<Theorem> {
        let is_judged = self.attacker.presence && self.attacker.known_people == 0;
        let seated =
            || (is_judged && self.is_balanced() && certificate::can_keep_sets(self)).then_some(Theorem::StillPossible);
        self.theorem().or_else(seated).or_else(|| self.theorem_as_promised())
    }

    /// Whether the private tables can be those behind the releases: everyone but those who are missing has a row with their
    /// value.
    fn tables_fit(&self) -> bool {
        let Some(knowledge) = self.series.knowledge else { return true };
        self.with_sensitive().all(|(place, release)| {
            let mut rows: FxHashMap<Value, u64> = FxHashMap::default();
            release.sensitive.iter().for_each(|&value| *rows.entry(value).or_default() += 1);
            let place = place as usize;
            let people = knowledge.people(place).iter().zip(knowledge.values(place));
            let (mut present, mut without) = (0u64, 0u64);
            for (_, value) in people.filter(|(person, _)| **person != Knowledge::ABSENT) {
                present += 1;
                match rows.get_mut(value).filter(|rows| **rows > 0) {
                    Some(rows) => *rows -= 1,
                    None => without += 1,
                }
            }
            let seats = release.row_count() as u64 - release.counterfeit_count();
            present >= seats && without <= present - seats
        })
    }

    /// The theorem that answers for rows and groups if the promise is kept. The groups must meet both thresholds, and the
    /// private tables, where they are known, must be possible.
    pub(super) fn theorem_as_promised(&self) -> Option<Theorem> {
        let promise = self.series.promise.filter(|promise| promise.keeps_value_sets)?;
        match promise.groups {
            _ if self.attacker.known_people > 0 || !self.tables_fit() => None,
            GroupRule::Balanced
                if self.counts_are_known() && self.thresholds.k <= self.thresholds.l && self.is_balanced() =>
            {
                Some(Theorem::EquallyLikelyAsPromised)
            }
            GroupRule::Unchanged if self.are_whole() => Some(Theorem::ExchangeableAsPromised),
            _ => None,
        }
    }

    /// Whether the promise says that groups stay as they are.
    pub(super) fn are_units(&self) -> bool {
        self.series.promise.is_some_and(|promise| promise.groups == GroupRule::Unchanged)
    }

    /// Whether every group says how many of its rows are counterfeits.
    fn counts_are_known(&self) -> bool {
        self.series.traces.iter().all(|traces| traces.counterfeits_known)
    }

    /// Whether every release has values.
    fn has_values(&self) -> bool {
        self.series.traces.iter().all(|traces| !traces.without_sensitive)
    }

    /// Whether every group has at least `l` values, each equally often. The values of a group are sorted.
    fn is_balanced(&self) -> bool {
        let is_balanced = |values: &[Value]| {
            let mut runs = values.chunk_by(|a, b| a == b).map(<[Value]>::len);
            let first = runs.next().unwrap_or(0);
            let others = runs.try_fold(1u32, |count, run| (run == first).then_some(count + 1));
            others.is_some_and(|distinct| distinct >= self.thresholds.l)
        };
        let mut releases = self.series.releases.iter();
        self.has_values()
            && releases.all(|release| (0..release.group_count()).all(|group| is_balanced(release.group_values(group))))
    }

    /// Whether every group has at least `k` people, no counterfeits, and no value in more than one in `l` of its rows.
    fn are_whole(&self) -> bool {
        let (k, l) = (self.thresholds.k, self.thresholds.l as usize);
        let is_whole = |release: &Release, group: usize| {
            let values = release.group_values(group);
            let most = values.chunk_by(|a, b| a == b).map(<[Value]>::len).max().unwrap_or(0);
            release.people(group) >= k && release.counterfeits[group] == 0 && most * l <= values.len()
        };
        let mut releases = self.series.releases.iter();
        self.has_values() && releases.all(|release| (0..release.group_count()).all(|group| is_whole(release, group)))
    }

    fn stretches(&self) -> Option<&(Knowledge<'a>, Vec<u32>)> {
        let make = || self.series.knowledge?.by_stretch(|release| self.tells(release));
        self.stretches.get_or_init(make).as_ref()
    }

    /// All worlds of small components, where people are known. Worked out once.
    pub(super) fn counts(&self) -> Option<&Counts> {
        self.counts.get_or_init(|| Counts::new(self)).as_ref()
    }

    /// What is left for each person, where people are known. Worked out once.
    pub(super) fn left(&self) -> Option<&Left> {
        self.left.get_or_init(|| Left::new(self)).as_ref()
    }

    /// Everyone of one release matched to rows of another. `place` is the place of the two in the list of pairs. Worked
    /// out once.
    pub(super) fn flows(&self, place: usize, earlier: u32, later: u32) -> Result<&Flows<'a>, NoFlows> {
        let flows = self.flows[place].get_or_init(|| Flows::new(self, earlier, later));
        flows.as_ref().map_err(|why| *why)
    }
}
