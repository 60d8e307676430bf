//! What the difference of two releases reveals about arrivals and departures (science D4.3).
//!
//! # Definition
//! Compare two releases. Groups whose regions overlap are connected; a component is a smallest set of groups with no
//! connection to others. A person in both releases is in groups of one component. So the rows that a component gained,
//! value by value, belong to arrivals or counterfeits, and the rows it lost belonged to departures or counterfeits.
//! Arrivals = rows gained + *swapped* rows, and departures = rows lost + swapped rows (counterfeits included): a
//! swapped row left and another with the same value arrived. Without swapped rows, arrivals have the values of the
//! rows gained and no other; with some, any value of the component's later rows. Fewer than l such values are a
//! finding; departures likewise. Of the groups' numbers of counterfeits only the sum is used, which can only leave
//! more values possible.
//!
//! # What is assumed
//! If people are known, arrivals and departures are counted; a person whose value changed is both. If they are not
//! known, nobody is assumed to have left where no component lost a row and the promise does not say otherwise: the
//! releases do not contradict that. Otherwise a component is clear only if l values remain for every possible number
//! of departures.
//!
//! Some components remain open. m-invariance clears one whose groups have each of at least m values equally often, if
//! people keep their value sets, as promised. The argument: without swapped rows, an arrival's value is among the rows
//! gained. So its value set had too few rows of that value before, and then too few of each of its values. Hence all
//! its values are among the rows gained. Cohorts clear a component whose groups are all unchanged: arrivals fill
//! groups of their own. The report names the promise that was relied on.
//!
//! # Not concluded
//! Numbers that do not add up: there the tables and the releases contradict each other.

use crate::audit::checks::pairs::{Component, ComponentList, Components};
use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, pairs, suppressed};
use crate::audit::knowledge::Knowledge;
use crate::audit::{Check, Coverage, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::{GroupRule, Release, Span, Terms, Value};
use crate::space::stab::{Stab, United};
use rustc_hash::FxHashMap;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    if ask.pairs.is_empty() {
        return Outcome::not_applicable(Check::Difference, Reason::OneReleaseWithValues);
    }
    let mut outcome = Outcome::new(Check::Difference, Coverage { what: "components", ..Coverage::default() });
    let values = pairs::value_count(ask);
    let mut is_contradicted = false;
    for (earlier, later) in ask.pairs.iter().copied() {
        let pair = Pair::new(ask, earlier, later, values);
        is_contradicted |= pair.judge(ask, &mut outcome);
    }
    if outcome.findings.is_empty() && outcome.coverage.looked_at < outcome.coverage.of {
        outcome.verdict = match (is_contradicted, ask.attacker.presence) {
            (true, _) => Verdict::NotAssessed(Reason::Contradiction),
            (false, true) => Verdict::NotAssessed(Reason::DeparturesUnknown),
            (false, false) => Verdict::Measured,
        };
    } else if !ask.attacker.presence && !ask.attacker.first_release {
        outcome.verdict = Verdict::Measured;
    } else if outcome.findings.is_empty() && ask.left_out.pairs > 0 && !is_promised_over_all(ask) {
        outcome.verdict = Verdict::NotAssessed(Reason::PairsLeftOut);
        outcome.needs = Some(ask.budget.steps.saturating_add(ask.left_out.rows.saturating_mul(100)));
    }
    // A note answers nothing that is open.
    let verdict = outcome.verdict;
    suppressed::difference(ask, &mut outcome);
    if verdict != Verdict::Pass {
        outcome.verdict = verdict;
    }
    outcome
}

/// Whether a promise about the whole series also clears pairs of releases that were not compared. It does if every
/// component keeps it by itself, for any two releases (see the head of the file).
fn is_promised_over_all(ask: &Ask<'_>) -> bool {
    let is_about_groups = |promise: &Terms| matches!(promise.groups, GroupRule::Balanced | GroupRule::Unchanged);
    ask.series.promise.is_some_and(is_about_groups)
}

/// The comparison of two releases.
struct Pair<'a> {
    places: (u32, u32),
    earlier: &'a Release,
    later: &'a Release,
    components: ComponentList,
    /// Per component, its root.
    roots: Vec<u32>,
    /// Per root, arrivals and departures; `None` if people are not known.
    moves: Option<FxHashMap<u32, Moves>>,
    values: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Moves {
    came: u64,
    left: u64,
}

/// The rows that a component gained and lost, by value.
struct Change {
    more: Vec<(Value, u64)>,
    less: Vec<(Value, u64)>,
}

impl<'a> Pair<'a> {
    fn new(ask: &Ask<'a>, earlier: u32, later: u32, values: usize) -> Pair<'a> {
        let releases = ask.series.releases;
        let places = (earlier, later);
        let (earlier, later) = (&releases[earlier as usize], &releases[later as usize]);
        // Only regions are asked for.
        let (old, new) = rayon::join(|| Stab::without_values(earlier), || Stab::without_values(later));
        let mut components = Components::new(&old, &new);
        let moves = ask
            .people()
            .filter(|_| ask.attacker.presence)
            .map(|knowledge| moves(knowledge, places, &old, &new, &mut components));
        drop((old, new));
        let (components, roots) = components.list();
        Pair { places, earlier, later, components, roots, moves, values }
    }

    /// Judges every component. Returns whether some number does not add up.
    fn judge(&self, ask: &Ask<'_>, outcome: &mut Outcome) -> bool {
        let mut counts = vec![0i64; self.values];
        let (mut more, mut less) = (0, 0);
        // Changes are worked out twice: there may be as many components as groups.
        for component in self.components.iter() {
            let change = self.change(component, &mut counts);
            more += change.more.iter().map(|entry| entry.1).sum::<u64>();
            less += change.less.iter().map(|entry| entry.1).sum::<u64>();
        }
        let number = Some(self.later.number);
        outcome.measure(number, Quantity::Components, self.components.len() as f64);
        outcome.measure(number, Quantity::RowsGained, more as f64);
        outcome.measure(number, Quantity::RowsLost, less as f64);
        outcome.coverage.of += self.components.len() as u64;
        let has_left = less > 0
            || pairs::only_grows(ask.series.promise) == Some(false)
            || pairs::lost_a_group(ask.series.promise, self.earlier, self.later);
        let mut judge = Judge::new(ask, self);
        let mut is_contradicted = false;
        for (component, root) in self.components.iter().zip(&self.roots) {
            let change = &self.change(component, &mut counts);
            let fakes = self.counterfeits(component);
            let is_clear = match &self.moves {
                Some(moves) => {
                    let moves = moves.get(root).copied().unwrap_or_default();
                    let adds_up = judge.component(component, change, moves, fakes);
                    is_contradicted |= !adds_up;
                    adds_up
                }
                None if has_left || fakes != (0, 0) => {
                    self.keeps_values(component, change, judge.l) || self.is_promised(ask, component)
                }
                None => {
                    let came = change.more.iter().map(|entry| entry.1).sum();
                    judge.component(component, change, Moves { came, left: 0 }, fakes)
                }
            };
            outcome.coverage.looked_at += u64::from(is_clear);
        }
        for tally in judge.into_tallies() {
            outcome.found(tally.finding(self.later.number, vec![self.earlier.number]));
        }
        is_contradicted
    }

    fn change(&self, component: Component<'_>, counts: &mut [i64]) -> Change {
        let mut touched: Vec<Value> = Vec::new();
        let mut add = |release: &Release, groups: &[u32], sign: i64| {
            for &group in groups {
                for &value in release.group_values(group as usize) {
                    touched.push(value);
                    counts[value.index()] += sign;
                }
            }
        };
        add(self.later, component.later, 1);
        add(self.earlier, component.earlier, -1);
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

    /// How many counterfeits a component has, before and after.
    fn counterfeits(&self, component: Component<'_>) -> (u64, u64) {
        let sum = |release: &Release, groups: &[u32]| -> u64 {
            groups.iter().map(|&group| u64::from(release.counterfeits[group as usize])).sum()
        };
        (sum(self.earlier, component.earlier), sum(self.later, component.later))
    }

    /// The values of a component, before and after, ascending.
    fn sets(&self, component: Component<'_>) -> (Vec<Value>, Vec<Value>) {
        let set = |release: &Release, groups: &[u32]| {
            let mut values: Vec<Value> =
                groups.iter().flat_map(|&group| release.group_values(group as usize)).copied().collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        (set(self.earlier, component.earlier), set(self.later, component.later))
    }

    /// Whether arrivals and departures keep l values in any case: without swapped rows and with some.
    fn keeps_values(&self, component: Component<'_>, change: &Change, l: u64) -> bool {
        let keeps = |rows: &[(Value, u64)]| rows.is_empty() || rows.len() as u64 >= l;
        let (before, after) = self.sets(component);
        let has_common = before.iter().any(|value| after.contains(value));
        let many = |values: &[Value]| values.len() as u64 >= l;
        keeps(&change.more) && keeps(&change.less) && (!has_common || (many(&before) && many(&after)))
    }

    /// Whether the promise clears a component that the sums leave open (see the head of the file).
    fn is_promised(&self, ask: &Ask<'_>, component: Component<'_>) -> bool {
        let (k, l) = (u64::from(ask.thresholds.k), ask.thresholds.l as usize);
        let is_whole = |release: &Release, group: u32| {
            let values = release.group_values(group as usize);
            let runs: Vec<usize> = values.chunk_by(|a, b| a == b).map(<[Value]>::len).collect();
            match ask.series.promise.map(|promise| promise.groups) {
                Some(GroupRule::Balanced) => runs.len() >= l && runs.iter().all(|&run| run == runs[0]),
                Some(GroupRule::Unchanged) => runs.len() >= l && u64::from(release.people(group as usize)) >= k,
                Some(GroupRule::Open) | None => false,
            }
        };
        component.earlier.iter().all(|&group| is_whole(self.earlier, group))
            && component.later.iter().all(|&group| is_whole(self.later, group))
    }
}

/// The thresholds, and what fell below them.
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
            // m-invariance promises k people in a group, not k arrivals. And an attacker who does not know when people
            // arrived cannot tell arrivals from others.
            k: match ask.series.promise {
                Some(promise) if promise.groups == GroupRule::Balanced => 0,
                _ if !ask.attacker.presence => 0,
                _ => ask.thresholds.k.into(),
            },
            l: match ask.attacker.presence || ask.attacker.first_release {
                true => ask.thresholds.l.into(),
                false => 0,
            },
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

    /// Judges one component. Returns whether its numbers add up.
    fn component(&mut self, component: Component<'_>, change: &Change, moves: Moves, fakes: (u64, u64)) -> bool {
        let sum = |rows: &[(Value, u64)]| rows.iter().map(|entry| entry.1).sum::<u64>();
        let (new, gone) = ((moves.came + fakes.1), (moves.left + fakes.0));
        let swapped = new.checked_sub(sum(&change.more));
        if swapped.is_none() || swapped != gone.checked_sub(sum(&change.less)) {
            return false;
        }
        let swapped = swapped > Some(0);
        let (before, after) = if swapped { self.pair.sets(component) } else { (Vec::new(), Vec::new()) };
        let possible = |rows: &[(Value, u64)], all: Vec<Value>| match swapped {
            true => all,
            false => rows.iter().map(|entry| entry.0).collect(),
        };
        let witness = |claim, values: &[Value], number, line| Witness {
            values: values.to_vec(),
            ..Witness::new(claim, self.pair.groups(component), number, line)
        };
        let (newcomers, leavers) = (possible(&change.more, after), possible(&change.less, before));
        let sides = [
            (moves.came, newcomers, &mut self.certain, &mut self.few_values, Statement::Arrivals { swapped }),
            (
                moves.left,
                leavers,
                &mut self.leavers_certain,
                &mut self.leavers_few_values,
                Statement::Departures { swapped },
            ),
        ];
        for (people, values, certain, few_values, claim) in sides {
            let distinct = values.len() as u64;
            if people > 0 && distinct < self.l {
                let tally = if distinct == 1 { certain } else { few_values };
                tally.add(people, distinct, || witness(claim, &values, distinct, self.l));
            }
        }
        // If nobody left and there are no counterfeits, the rows gained are those of the arrivals.
        if gone == 0 && fakes.1 == 0 && 0 < moves.came && moves.came < self.k {
            let values: Vec<Value> = change.more.iter().map(|entry| entry.0).collect();
            self.few.add(moves.came, moves.came, || witness(Statement::FewArrivals, &values, moves.came, self.k));
        }
        true
    }
}

impl Pair<'_> {
    fn groups(&self, component: Component<'_>) -> Vec<(u32, u32)> {
        let earlier = component.earlier.iter().map(|&group| (self.places.0, group));
        earlier.chain(component.later.iter().map(|&group| (self.places.1, group))).collect()
    }
}

/// The arrivals and departures of each component. A person with several possible groups ties these together, so that
/// everyone belongs to one component. A person who is at the same point in both releases adds no new tie.
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
    // (group of the earlier, group of the later release) of each person who changed place.
    let mut seen: Vec<(Option<u32>, Option<u32>)> = Vec::new();
    let (ties, offset) = components.ties();
    let (mut united_old, mut united_new): (United, United) = (old.united_in(ties, 0), new.united_in(ties, offset));
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
