//! What the difference of two releases says of newcomers and leavers (SCIENCE D4.3).
//!
//! # Definition
//! Lay two releases over each other. Groups whose regions overlap are tied together; the smallest sets
//! of groups that nothing ties to others are the components. Who is in both releases stands in groups
//! of one component. Where nobody left, the rows that a component has more in the later release are
//! the newcomers' rows; where nobody came, what it has less are the leavers'.
//!
//! # What is assumed
//! Where people are known, who came and left is counted. Where they are not, nobody is taken to have left
//! if no component lost a row and the promise does not say otherwise: then the releases themselves do not
//! contradict it. A component with counterfeits is passed over: its rows are not all people. Values are
//! taken not to change.
//!
//! # Not concluded
//! Where people came to a component and left it, sums bound how many, and no more.

use crate::audit::Check;
use crate::audit::Coverage;
use crate::audit::Fault;
use crate::audit::Outcome;
use crate::audit::Verdict;
use crate::audit::Witness;
use crate::audit::checks::Ask;
use crate::audit::checks::pairs;
use crate::audit::checks::pairs::Component;
use crate::audit::checks::pairs::Components;
use crate::audit::checks::tally::Tally;
use crate::audit::knowledge::Knowledge;
use crate::audit::stab::Stab;
use crate::audit::stab::United;
use crate::model::Promise;
use crate::model::Release;
use crate::model::Span;
use crate::model::Value;
use rustc_hash::FxHashMap;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    if pairs::pairs(ask).is_empty() {
        return Outcome::not_applicable(Check::Difference, "there is one release with a sensitive column");
    }
    let mut outcome = Outcome::new(Check::Difference, Coverage { what: "components", ..Coverage::default() });
    let mut blurred = false;
    let values = pairs::value_count(ask);
    for (earlier, later) in pairs::pairs(ask) {
        let pair = Pair::new(ask, earlier, later, values);
        blurred |= pair.judge(ask, &mut outcome);
    }
    if outcome.findings.is_empty() && blurred {
        outcome.verdict = if ask.attacker.presence {
            Verdict::NotAssessed("people left, and who was there is not known here: sums only bound how many")
        } else {
            Verdict::Measured
        };
    }
    outcome
}

/// Two releases laid over each other.
struct Pair<'a> {
    places: (u32, u32),
    earlier: &'a Release,
    later: &'a Release,
    components: Vec<(u32, Component)>,
    /// Per component, who came and who left; `None` where people are not known.
    moves: Option<FxHashMap<u32, Moves>>,
    values: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Moves {
    came: u64,
    left: u64,
}

/// What a component has in the later release, less what it had in the earlier.
struct Change {
    more: Vec<(Value, u64)>,
    less: Vec<(Value, u64)>,
}

impl<'a> Pair<'a> {
    fn new(ask: &Ask<'a>, earlier: u32, later: u32, values: usize) -> Pair<'a> {
        let releases = ask.series.releases;
        let places = (earlier, later);
        let (earlier, later) = (&releases[earlier as usize], &releases[later as usize]);
        let stab = Stab::new(later, values);
        let mut components = Components::new(earlier, later, &stab);
        let moves = ask
            .series
            .knowledge
            .filter(|_| ask.attacker.presence)
            .map(|knowledge| moves(knowledge, places, &Stab::new(earlier, values), &stab, &mut components));
        Pair { places, earlier, later, components: components.list(), moves, values }
    }

    /// Judges every component. Answers whether people left and nobody knows who.
    fn judge(&self, ask: &Ask<'_>, outcome: &mut Outcome) -> bool {
        let mut counts = vec![0i64; self.values];
        let changes: Vec<Change> =
            self.components.iter().map(|(_, component)| self.change(component, &mut counts)).collect();
        let (mut more, mut less) = (0, 0);
        for change in &changes {
            more += change.more.iter().map(|entry| entry.1).sum::<u64>();
            less += change.less.iter().map(|entry| entry.1).sum::<u64>();
        }
        let number = Some(self.later.number);
        outcome.measure(number, "components", self.components.len() as f64);
        outcome.measure(number, "rows more, at least", more as f64);
        outcome.measure(number, "rows less, at least", less as f64);
        outcome.coverage.of += self.components.len() as u64;
        outcome.coverage.looked_at += self.components.len() as u64;
        let has_left = less > 0
            || pairs::only_grows(ask.series.promise) == Some(false)
            || pairs::lost_a_group(ask.series.promise, self.earlier, self.later);
        let mut judge = Judge::new(ask, self);
        for ((root, component), change) in self.components.iter().zip(&changes) {
            let (came, left) = match &self.moves {
                Some(moves) => {
                    let moves = moves.get(root).copied().unwrap_or_default();
                    (moves.came, moves.left)
                }
                None if has_left => continue,
                None => (change.more.iter().map(|entry| entry.1).sum(), 0),
            };
            judge.component(component, change, came, left);
        }
        for tally in judge.into_tallies() {
            if let Some(finding) = tally.finding(self.later.number, vec![self.earlier.number]) {
                *outcome =
                    std::mem::replace(outcome, Outcome::new(Check::Difference, Coverage::default())).found(finding);
            }
        }
        self.moves.is_none() && has_left
    }

    fn change(&self, component: &Component, counts: &mut [i64]) -> Change {
        let mut touched: Vec<Value> = Vec::new();
        let mut add = |release: &Release, groups: &[u32], sign: i64| {
            for &group in groups {
                for &value in release.group_values(group as usize) {
                    touched.push(value);
                    counts[value.index()] += sign;
                }
            }
        };
        add(self.later, &component.later, 1);
        add(self.earlier, &component.earlier, -1);
        let mut change = Change { more: Vec::new(), less: Vec::new() };
        for value in touched {
            let count = std::mem::take(&mut counts[value.index()]);
            if count > 0 {
                change.more.push((value, count as u64));
            } else if count < 0 {
                change.less.push((value, -count as u64));
            }
        }
        change.more.sort_unstable();
        change.less.sort_unstable();
        change
    }

    fn has_counterfeits(&self, component: &Component) -> bool {
        component.earlier.iter().any(|&group| self.earlier.counterfeits[group as usize] > 0)
            || component.later.iter().any(|&group| self.later.counterfeits[group as usize] > 0)
    }
}

/// The lines, and what crossed them.
struct Judge<'a, 'b> {
    pair: &'b Pair<'a>,
    k: u64,
    l: u64,
    certain: Tally,
    few_values: Tally,
    few: Tally,
    leavers_certain: Tally,
    leavers_few_values: Tally,
}

impl<'a, 'b> Judge<'a, 'b> {
    fn new(ask: &Ask<'_>, pair: &'b Pair<'a>) -> Judge<'a, 'b> {
        Judge {
            pair,
            // Under m-invariance groups have k people; that newcomers are k is promised to nobody.
            k: match ask.series.promise {
                Some(Promise::MInvariance { .. }) => 0,
                _ => ask.thresholds.k.into(),
            },
            l: ask.thresholds.l.into(),
            certain: Tally::new(Fault::ArrivalsCertain),
            few_values: Tally::new(Fault::ArrivalsFewValues),
            few: Tally::new(Fault::ArrivalsFew),
            leavers_certain: Tally::new(Fault::LeaversCertain),
            leavers_few_values: Tally::new(Fault::LeaversFewValues),
        }
    }

    fn into_tallies(self) -> [Tally; 5] {
        [self.certain, self.few_values, self.few, self.leavers_certain, self.leavers_few_values]
    }

    fn component(&mut self, component: &Component, change: &Change, came: u64, left: u64) {
        if (came == 0) == (left == 0) || self.pair.has_counterfeits(component) {
            return;
        }
        let (rows, others) = if left == 0 { (&change.more, &change.less) } else { (&change.less, &change.more) };
        let count: u64 = rows.iter().map(|entry| entry.1).sum();
        // What does not add up is a change of value, which sums cannot follow.
        if !others.is_empty() || count != came + left {
            return;
        }
        let distinct = rows.len() as u64;
        let witness = |claim, number, line| Witness {
            claim,
            groups: self.pair.groups(component),
            values: rows.iter().map(|entry| entry.0).collect(),
            person: None,
            number,
            line,
        };
        if distinct < self.l {
            let (tally, claim) = match (left == 0, distinct == 1) {
                (true, true) => (&mut self.certain, MORE),
                (true, false) => (&mut self.few_values, MORE),
                (false, true) => (&mut self.leavers_certain, LESS),
                (false, false) => (&mut self.leavers_few_values, LESS),
            };
            tally.add(count, distinct, || witness(claim, distinct, self.l));
        }
        if left == 0 && count < self.k {
            self.few.add(count, count, || witness(FEW, count, self.k));
        }
    }
}

const MORE: &str = "the groups overlap no other groups of the two releases; the rows they have more in the later one \
                    are newcomers', and the distinct values of these are those given, fewer than the line";
const LESS: &str = "the groups overlap no other groups of the two releases; the rows they have less in the later one \
                    are leavers', and the distinct values of these are those given, fewer than the line";
const FEW: &str = "the groups overlap no other groups of the two releases; the rows they have more in the later one \
                   are newcomers', and the number of them is below the line";

impl Pair<'_> {
    fn groups(&self, component: &Component) -> Vec<(u32, u32)> {
        let earlier = component.earlier.iter().map(|&group| (self.places.0, group));
        earlier.chain(component.later.iter().map(|&group| (self.places.1, group))).collect()
    }
}

/// Who came to and left each component. People with several possible groups tie these together, so that
/// everyone belongs to one component; who is in both releases at one point ties nothing new.
fn moves(
    knowledge: &Knowledge<'_>,
    (earlier, later): (u32, u32),
    old: &Stab,
    new: &Stab,
    components: &mut Components,
) -> FxHashMap<u32, Moves> {
    let (rows_before, rows_after) = (knowledge.rows(earlier as usize), knowledge.rows(later as usize));
    let mut here = vec![0; knowledge.attributes()];
    let mut there = here.clone();
    // (group of the earlier, group of the later release) of whoever changed place.
    let mut seen: Vec<(Option<u32>, Option<u32>)> = Vec::new();
    let (mut united_old, mut united_new): (United, United) = (old.united(), new.united());
    for (&before, &after) in rows_before.iter().zip(&rows_after) {
        if before == Knowledge::ABSENT && after == Knowledge::ABSENT {
            continue;
        }
        if before != Knowledge::ABSENT && after != Knowledge::ABSENT {
            knowledge.read_point(earlier as usize, before as usize, &mut here);
            knowledge.read_point(later as usize, after as usize, &mut there);
            if here == there {
                continue;
            }
        }
        let (ties, offset) = components.ties();
        let mut place = |stab: &Stab, united: &mut United, release: u32, row: u32, offset: u32| {
            (row != Knowledge::ABSENT).then(|| {
                knowledge.read_point(release as usize, row as usize, &mut here);
                let point: Vec<Span> = here.iter().map(|&code| Span::exact(code)).collect();
                stab.unite(&point, None, |_| true, united, ties, offset)
            })?
        };
        let old_group = place(old, &mut united_old, earlier, before, 0);
        let new_group = place(new, &mut united_new, later, after, offset);
        seen.push((old_group, new_group));
    }
    let mut moves: FxHashMap<u32, Moves> = FxHashMap::default();
    let (ties, _) = components.ties();
    for (before, after) in seen {
        let (before, after) = (before.map(|group| ties.find(group)), after.map(|group| ties.find(group)));
        if before == after {
            continue;
        }
        if let Some(root) = before {
            moves.entry(root).or_default().left += 1;
        }
        if let Some(root) = after {
            moves.entry(root).or_default().came += 1;
        }
    }
    moves
}
