//! What `reader = "method"` will cost over the next releases, and when its proof does not apply. What `reader = "rule"`
//! will cost is in `collapse`.
//!
//! With it, newcomers fill no gaps. So every leaver costs a counterfeit in their value set until the other members have
//! left too. Counterfeits grow with the share of people who leave, and faster if sets have few members.

use crate::grouping::buckets::balance::is_eligible;
use crate::model::{Lots, Page, Release, Table, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many releases ahead the forecast goes.
const AHEAD: usize = 5;

/// The most simulated futures. In a large release one future is enough.
const FUTURES: u64 = 16;

/// About how many people are simulated in all futures together.
const FOLLOWED: u64 = 1 << 20;

/// The share of people assumed to leave and to arrive if nothing is known yet.
pub(crate) const ASSUMED: f64 = 0.05;

/// A larger share of counterfeits within the forecast is advised against, because it continues to grow.
pub(super) const RUINOUS: f64 = 0.05;

/// Values with fewer people are too rare to judge departures by value.
const ENOUGH: u64 = 50;

pub(super) const COUNTERFEITS_AHEAD: Page = (
    "R802",
    "counterfeits to expect",
    "A warning, not an error. With reader = \"method\" newcomers fill no gaps: where people left, \
     counterfeits stand in for them. The message says how many to expect over the next releases. It comes \
     from a simulation: people leave at the rate of this release, whatever their value, and as many arrive. \
     Small tables, and tables that many people leave, need very many. Where more than 5 % are expected, the message \
     advises against it: the share goes on growing after these releases. Then begin a new series with reader = \
     \"rule\". With five or more values in a set, surplus = \"withhold\" needs fewer \
     counterfeits. With reader = \"rule\" the message comes only where a collapse is expected: too many values in sets of \
     m, for so few people of whom so many leave. The program itself places simulated people, up to 40 releases ahead. The \
     message says when more than 5 % counterfeits and withheld people are expected. That goes on growing. Before the \
     first release, lower m or publish coarser sensitive values. Later, publish less often, or raise max_share if so many \
     are acceptable.",
);

pub(super) const LEAVING_BY_VALUE: Page = (
    "R803",
    "leaving depends on the value",
    "A warning, not an error. People with some sensitive values leave more often than people with others. \
     Values of fewer than 50 people are not compared. The proof of reader = \"method\" assumes that the \
     reader expects everybody to leave equally often. A reader who knows better can learn more than the bound \
     says. Nothing mends that for reader = \"method\". A new series with reader = \"rule\" does not claim it.",
);

pub(super) const ALONE: Page = (
    "R805",
    "a person is alone in a group with artificial rows",
    "A warning, not an error. The promise is about values and sets no minimum for the people in a group. Here a group \
     holds one person and artificial rows. The number of artificial rows is public, so everyone can see that the group \
     holds one person. Which row is theirs is not known. The page of the release answers NOT PROMISED to the question whether \
     people can be singled out. With k = 2 under [promise] nobody is alone in later releases. It costs a few more \
     withheld people.",
);

pub(super) const NO_REFUSAL_AHEAD: Page = (
    "R804",
    "a stronger promise would work for this table",
    "A note before the first release. The named way to form groups was tried on this table: the release can be made, \
     and the auditor passes it. For the next five releases a simulation drew arrivals from the values of this table, 5 \
     % as many people each time, 80 times. None of these arrivals was too uneven to be placed. For m-invariance, 5 % \
     of the people were also made to leave each time. The counterfeits stayed under the limit of the policy file; if \
     they did not, the note says that nobody may leave. Your arrivals may be different. A release that is refused and \
     skipped is visible, and the bound is not proved for such a series.",
);

/// Whether the arrivals can be placed among themselves in all of some simulated futures. Every release brings the share
/// [`ASSUMED`] of new people, with values drawn from those of this table.
fn arrivals_stay_even(table: &Table, m: u32) -> bool {
    let arrive = (table.len() as f64 * ASSUMED).ceil() as usize;
    let is_even = |batch: u32| {
        let mut rng = Lots::from_number(1).stream(&[batch]);
        let mut counts = vec![0; table.values.len()];
        for _ in 0..arrive {
            counts[table.sensitive()[rng.below(table.len() as u64) as usize].index()] += 1;
        }
        is_eligible(&counts, u64::from(m))
    };
    (0..AHEAD as u32 * FUTURES as u32).all(is_even)
}

/// The sentence that no refusal is expected over the next releases under this condition; `None` if one is expected.
pub(in crate::promise::series) fn no_refusal_if(leaving: &str, table: &Table, m: u32) -> Option<String> {
    let arrive = 100.0 * ASSUMED;
    arrivals_stay_even(table, m).then(|| {
        format!(
            "Assumed: {leaving}, no sensitive value changes, and {arrive:.0} % as many people arrive each time, with values \
             like these. Then no refusal is expected over the next {AHEAD} releases"
        )
    })
}

/// A condition, in words that follow "if".
pub(in crate::promise::series) const NOBODY_LEAVES: &str = "nobody leaves";

/// How many people may leave each time so that counterfeits stay within their limit, in words that follow "if".
pub(super) fn people_may_leave(release: &Release, counterfeits: f64) -> String {
    match counterfeits_ahead(release, ASSUMED).into_iter().all(|share| share <= counterfeits) {
        true => format!("no more than {:.0} % of the people leave each time", 100.0 * ASSUMED),
        false => NOBODY_LEAVES.into(),
    }
}

/// Warnings about continuing from `release`. `stayed` says who of the table before is still there.
pub(super) fn warnings(release: &Release, stayed: Option<&Stayed>) -> Vec<String> {
    let leave = stayed.map_or(ASSUMED, Stayed::leave);
    let ahead = counterfeits_ahead(release, leave);
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let shares: Vec<String> = ahead.iter().map(|&share| percent(share)).collect();
    let as_now = if stayed.is_some() { ", as now" } else { "" };
    let advice = match ahead.iter().any(|&share| share > RUINOUS) {
        true => {
            "that is too many, and it will grow: reader = \"method\" is advised against for this table; begin a new series \
                 with reader = \"rule\""
        }
        false => "if that is too many, begin a new series with reader = \"rule\"",
    };
    let mut warnings = vec![format!(
        "{}: with reader = \"method\", expect about {} counterfeits in the next {AHEAD} releases, if {} of the \
         people leave each time{as_now}; {advice}",
        COUNTERFEITS_AHEAD.0,
        shares.join(", "),
        percent(leave),
    )];
    if let Some((least, most)) = stayed.and_then(Stayed::by_value) {
        warnings.push(format!(
            "{}: between {} and {} of the people left, depending on their sensitive value; a reader who knows such rates can \
             learn more than the promise says, so reader = \"method\" is advised against for this table",
            LEAVING_BY_VALUE.0,
            percent(least),
            percent(most),
        ));
    }
    warnings
}

/// The shares of counterfeits in the next releases. Everybody leaves with probability `leave` each time, and as many
/// people arrive, in whole copies of existing sets.
fn counterfeits_ahead(release: &Release, leave: f64) -> Vec<f64> {
    // Per value set: its number of copies, and how many of its rows are counterfeits.
    let mut sets: BTreeMap<Vec<Value>, (u64, u64)> = BTreeMap::new();
    for group in 0..release.group_count() {
        let mut set = release.sensitive[release.group_rows(group)].to_vec();
        let rows = set.len() as u64;
        set.dedup();
        let each = rows / set.len() as u64;
        let of_set = sets.entry(set).or_default();
        of_set.0 += each;
        of_set.1 += u64::from(release.counterfeits[group]);
    }
    let futures = (FOLLOWED / release.row_count().max(1) as u64).clamp(1, FUTURES) as u32;
    let (mut gaps, mut people) = ([0.0; AHEAD], [0.0; AHEAD]);
    for (number, (set, &(copies, counterfeits))) in (0..).zip(&sets) {
        for future in 0..futures {
            let mut rng = Lots::from_number(1).stream(&[number, future]);
            let mut lists = vec![copies; set.len()];
            // The values of the counterfeits are not known here, so they are drawn at random.
            for _ in 0..counterfeits {
                let list = &mut lists[rng.below(set.len() as u64) as usize];
                *list = list.saturating_sub(1);
            }
            for ahead in 0..AHEAD {
                let before: u64 = lists.iter().sum();
                for list in &mut lists {
                    *list -= (0..*list).filter(|_| rng.unit() < leave).count() as u64;
                }
                let arrived = (before - lists.iter().sum::<u64>()) / set.len() as u64;
                lists.iter_mut().for_each(|list| *list += arrived);
                let most = lists.iter().copied().max().unwrap_or(0);
                gaps[ahead] += lists.iter().map(|list| most - list).sum::<u64>() as f64;
                people[ahead] += lists.iter().sum::<u64>() as f64;
            }
        }
    }
    gaps.iter()
        .zip(people)
        .map(|(gaps, people)| if gaps + people == 0.0 { 0.0 } else { gaps / (gaps + people) })
        .collect()
}

/// The people of the last table who are still there, per value.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Stayed {
    /// Per value: how many there were, and how many of them left.
    counts: Vec<(u64, u64)>,
}

impl Stayed {
    /// Compares two tables, or the same part of both.
    pub fn between(last: &Table, table: &Table) -> Stayed {
        let most = last.sensitive().iter().map(|value| value.index() + 1).max().unwrap_or(0);
        let mut counts = vec![(0, 0); most];
        let now = table.keys();
        for row in last.rows() {
            let count = &mut counts[last.sensitive()[row.index()].index()];
            count.0 += 1;
            count.1 += u64::from(now.binary_search(&last.key(row)).is_err());
        }
        Stayed { counts }
    }

    /// These people, and those of other parts.
    #[must_use]
    pub fn and(mut self, other: Stayed) -> Stayed {
        self.counts.resize(self.counts.len().max(other.counts.len()), (0, 0));
        for (mine, theirs) in self.counts.iter_mut().zip(other.counts) {
            *mine = (mine.0 + theirs.0, mine.1 + theirs.1);
        }
        self
    }

    /// The share of people who left.
    pub(super) fn leave(&self) -> f64 {
        let (were, left) = self.counts.iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
        if were == 0 { 0.0 } else { left as f64 / were as f64 }
    }

    /// The least and the greatest share of people who left, by value, if they differ by more than chance.
    fn by_value(&self) -> Option<(f64, f64)> {
        let overall = self.leave();
        let large: Vec<(f64, f64)> = self
            .counts
            .iter()
            .filter(|count| count.0 >= ENOUGH)
            .map(|&(were, left)| (were as f64, left as f64))
            .collect();
        if large.len() < 2 || overall == 0.0 || overall == 1.0 {
            return None;
        }
        // A chi-square test against one rate for all values; the limit is five standard deviations above the mean.
        let square = |&(were, left): &(f64, f64)| (left - were * overall).powi(2) / (were * overall * (1.0 - overall));
        let freedom = (large.len() - 1) as f64;
        let differs = large.iter().map(square).sum::<f64>() > freedom + 5.0 * (2.0 * freedom).sqrt();
        let shares = large.iter().map(|&(were, left)| left / were);
        differs.then(|| (shares.clone().fold(1.0, f64::min), shares.fold(0.0, f64::max)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, key, table, values};
    use crate::model::Values;

    fn people(leaves: impl Fn(u64, u32) -> bool) -> Table {
        let all = (0..3000).map(|id| (id, vec![(id % 97) as u32], (id % 6) as u32));
        let there: Vec<SnapshotRow> = all.filter(|one| !leaves(one.0, one.2)).collect();
        table(&values(6), 1, &there)
    }

    /// So many groups of one set of `width` values.
    fn release(groups: u32, width: u32) -> Release {
        Release {
            ends: (1..=groups).map(|group| group * width).collect(),
            sensitive: (0..groups).flat_map(|_| (0..width).map(Value)).collect(),
            values: Values::of(["a", "b", "c", "d"]),
            counterfeits: vec![0; groups as usize],
            ..Release::default()
        }
    }

    #[test]
    fn more_counterfeits_are_foreseen_in_later_releases_and_in_smaller_sets() {
        let (large, small) = (counterfeits_ahead(&release(5000, 3), 0.05), counterfeits_ahead(&release(50, 3), 0.05));
        assert!(large[4] > large[0] && large[0] > 0.0, "{large:?}");
        assert!(small[4] > 2.0 * large[4], "{small:?} {large:?}");
        assert_eq!(counterfeits_ahead(&release(50, 3), 0.0), [0.0; AHEAD], "where nobody leaves there are none");
        let with_gaps = Release { counterfeits: vec![1; 50], ..release(50, 3) };
        assert!(counterfeits_ahead(&with_gaps, 0.0)[0] > 0.05, "gaps that are there stay");
    }

    /// Half of the people have one value: a few arrivals are too uneven for m = 2 now and then, six even values never are.
    #[test]
    fn no_refusal_is_foreseen_only_where_arrivals_stay_even() {
        let even = people(|_, _| false);
        assert!(arrivals_stay_even(&even, 3));
        assert!(!arrivals_stay_even(&even, 6), "all six values equally often is luck");
        let half: Vec<SnapshotRow> =
            (0..3000).map(|id| (id, vec![0], if id % 2 == 0 { 0 } else { 1 + (id % 5) as u32 })).collect();
        assert!(!arrivals_stay_even(&table(&values(6), 1, &half), 2));
        assert!(!arrivals_stay_even(&even.first(20), 2), "one person alone cannot be placed");
        assert!(
            no_refusal_if(NOBODY_LEAVES, &even, 3)
                .unwrap()
                .contains("5 % as many people arrive each time, with values like these. Then")
        );
        assert!(people_may_leave(&release(5000, 3), 0.05).contains("5 %"));
        assert_eq!(people_may_leave(&release(50, 3), 0.02), "nobody leaves");
    }

    #[test]
    fn that_leaving_depends_on_the_value_is_seen_and_chance_is_not() {
        let last = people(|_, _| false);
        let by_chance = Stayed::between(&last, &people(|id, _| Lots::from_number(id).of(key(id)).is_multiple_of(10)));
        assert!((by_chance.leave() - 0.1).abs() < 0.02);
        assert_eq!(by_chance.by_value(), None);
        let by_value = Stayed::between(&last, &people(|id, value| id % 60 < 6 * (1 + value as u64)));
        let (least, most) = by_value.by_value().unwrap();
        assert!(least < most / 2.0, "{least} {most}");
        let said = warnings(&release(1000, 3), Some(&by_value));
        assert!(said[1].starts_with("R803") && said[1].ends_with("is advised against for this table"), "{said:?}");
        // Where a third of the people leave sets of forty, it is ruinous; where a twentieth leave sets of thousands, it is not.
        let small = warnings(&release(40, 3), Some(&by_value));
        assert!(small[0].contains("that is too many, and it will grow"), "{small:?}");
        let said = warnings(&release(5000, 3), None);
        assert!(said[0].ends_with("if that is too many, begin a new series with reader = \"rule\""), "{said:?}");
        let said = warnings(&release(1000, 3), Some(&Stayed::between(&last, &last)));
        assert!(said.len() == 1 && said[0].starts_with("R802") && said[0].contains("0.0 %"), "{said:?}");
    }
}
