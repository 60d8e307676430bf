//! What ids that link releases give away: the inference table (science D4.2).
//!
//! # Definition
//! The regions of one id are intersected over the releases. E is the number of ids with the same intersection. It
//! applies to a reader who does not know who was present when. H is the number of ids that were in the same groups in
//! the same releases. It applies to a reader who knows presence. H is never more than E.
//!
//! If the regions of an id do not overlap, the person changed or a row is wrong. That is a finding. The id is then
//! counted in H but not in E. A changed sensitive value is visible to everyone. Ids with the same history are
//! indistinguishable in every release, and each release shows the values that they have there. The release with the
//! fewest values counts.

use crate::audit::checks::Ask;
use crate::audit::checks::tally::Tally;
use crate::audit::{Check, Coverage, Fault, Outcome, Quantity, Reason, Statement, Witness};
use crate::model::{Release, Span, Value};
use rustc_hash::FxHashMap;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let linked: Vec<(u32, &Release)> = ask.releases().filter(|(_, release)| !release.linked.is_empty()).collect();
    if linked.is_empty() {
        return Outcome::not_applicable(Check::LinkedIds, Reason::NoLinkedIds);
    }
    let table = Inference::new(ask, &linked);
    let ids = table.histories.len() as u64;
    let mut outcome = Outcome::new(Check::LinkedIds, Coverage { looked_at: ids, of: ids, what: "ids" });
    let (last, others) = last_and_others(&linked);
    for tally in table.judge(ask, &mut outcome) {
        outcome.found(tally.finding(last, others.clone()));
    }
    outcome
}

fn last_and_others(linked: &[(u32, &Release)]) -> (u32, Vec<u32>) {
    let mut numbers: Vec<u32> = linked.iter().map(|(_, release)| release.number).collect();
    let last = numbers.pop().expect("there is a release with linked ids");
    (last, numbers)
}

/// The inference table: what follows from tracing every id.
struct Inference {
    attributes: usize,
    /// Per id, the meet of its regions, one id after another.
    meets: Vec<Span>,
    /// Per id, a number for the groups it was in: equal for equal histories.
    histories: Vec<u32>,
    /// Per id, its value in each of its releases, if the release has values.
    values: Vec<Vec<Option<Value>>>,
    changed: Vec<bool>,
    /// Per id, its groups: release and group.
    groups: Vec<Vec<(u32, u32)>>,
}

impl Inference {
    fn new(ask: &Ask<'_>, linked: &[(u32, &Release)]) -> Inference {
        let attributes = linked[0].1.regions.attributes();
        let mut table = Inference {
            attributes,
            meets: Vec::new(),
            histories: Vec::new(),
            values: Vec::new(),
            changed: Vec::new(),
            groups: Vec::new(),
        };
        let mut places: FxHashMap<u64, u32> = FxHashMap::default();
        let mut next = 1;
        for &(place, release) in linked {
            let tells = !ask.series.traces[place as usize].without_sensitive;
            let mut steps: FxHashMap<(u32, u32), u32> = FxHashMap::default();
            for group in 0..release.group_count() {
                for row in release.group_rows(group) {
                    let id = *places.entry(release.linked[row]).or_insert_with(|| table.add());
                    let step = (table.histories[id as usize], group as u32);
                    let history = *steps.entry(step).or_insert_with(|| {
                        next += 1;
                        next - 1
                    });
                    let value = tells.then_some(release.sensitive[row]);
                    table.follow(id as usize, (place, group as u32), release.region(group), value, history);
                }
            }
        }
        table
    }

    /// Adds an id whose region is still the whole domain and that was in no group yet.
    fn add(&mut self) -> u32 {
        self.meets.extend(std::iter::repeat_n(Span::new(0, u32::MAX), self.attributes));
        self.histories.push(0);
        self.values.push(Vec::new());
        self.changed.push(false);
        self.groups.push(Vec::new());
        self.histories.len() as u32 - 1
    }

    fn follow(&mut self, id: usize, group: (u32, u32), region: &[Span], value: Option<Value>, history: u32) {
        let meets = &mut self.meets[id * self.attributes..(id + 1) * self.attributes];
        meets.iter_mut().zip(region).for_each(|(meet, span)| *meet = meet.meet(*span));
        self.histories[id] = history;
        self.groups[id].push(group);
        self.changed[id] |= value.is_some() && self.last(id).is_some_and(|before| Some(before) != value);
        self.values[id].push(value);
    }

    /// The last value of an id.
    fn last(&self, id: usize) -> Option<Value> {
        self.values[id].iter().rev().find_map(|value| *value)
    }

    /// The values of ids that cannot be distinguished, in the release where these values are fewest.
    fn fewest(&self, class: &[u32], are_alike_in_history: bool) -> Vec<Value> {
        let distinct = |values: &mut dyn Iterator<Item = Value>| -> Vec<Value> {
            let mut values: Vec<Value> = values.collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        if !are_alike_in_history {
            return distinct(&mut class.iter().filter_map(|&id| self.last(id as usize)));
        }
        let steps = 0..self.values[class[0] as usize].len();
        let step = |step: usize| distinct(&mut class.iter().filter_map(|&id| self.values[id as usize][step]));
        steps.map(step).filter(|values| !values.is_empty()).min_by_key(Vec::len).unwrap_or_default()
    }

    fn meet(&self, id: usize) -> &[Span] {
        &self.meets[id * self.attributes..(id + 1) * self.attributes]
    }

    fn judge(&self, ask: &Ask<'_>, outcome: &mut Outcome) -> [Tally; 5] {
        let (k, l) = (u64::from(ask.thresholds.k), u64::from(ask.thresholds.l));
        let mut published = Tally::new(Fault::LinkedIdsPublished);
        let mut contradicted = Tally::new(Fault::LinkedContradiction);
        let mut changed = Tally::new(Fault::LinkedValueChanged);
        let ids = self.histories.len() as u64;
        published.add(ids, 0, || self.witness(Statement::LinkedIds, 0, ids, 0));
        let is_empty = |id: usize| self.meet(id).iter().any(|span| span.is_empty());
        let mut by_region: FxHashMap<&[Span], Vec<u32>> = FxHashMap::default();
        let mut by_history: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for id in 0..self.histories.len() {
            if self.changed[id] {
                changed.add(1, 0, || self.witness(Statement::LinkedValueChanged, id, 1, 0));
            }
            if is_empty(id) {
                contradicted.add(1, 0, || self.witness(Statement::LinkedRegionsApart, id, 1, 0));
            } else {
                by_region.entry(self.meet(id)).or_default().push(id as u32);
            }
            by_history.entry(self.histories[id]).or_default().push(id as u32);
        }
        let least = |sizes: &mut dyn Iterator<Item = usize>| sizes.min().unwrap_or(0) as f64;
        outcome.measure(None, Quantity::Ids, ids as f64);
        outcome.measure(None, Quantity::LeastAlike, least(&mut by_region.values().map(Vec::len)));
        outcome.measure(None, Quantity::LeastAlwaysTogether, least(&mut by_history.values().map(Vec::len)));
        let (mut few, mut few_values) = (Tally::new(Fault::LinkedTooFew), Tally::new(Fault::LinkedFewValues));
        let by_groups = ask.attacker.presence;
        let among = Statement::FewValuesAmongAlike { by_groups };
        // Sorted by their first id, so that the answer does not depend on the order of a map.
        let mut classes: Vec<&Vec<u32>> =
            if ask.attacker.presence { by_history.values().collect() } else { by_region.values().collect() };
        classes.sort_unstable_by_key(|class| class[0]);
        for class in classes {
            let size = class.len() as u64;
            if size < k {
                few.add(size, size, || self.witness(Statement::FewAlike { by_groups }, class[0] as usize, size, k));
            }
            let values = self.fewest(class, ask.attacker.presence);
            let distinct = values.len() as u64;
            if distinct > 0 && distinct < l {
                let witness = || Witness { values, ..self.witness(among, class[0] as usize, distinct, l) };
                few_values.add(size, distinct, witness);
            }
        }
        let people_with = |tally: &Tally| tally.people() as f64;
        outcome.measure(None, Quantity::IdsBelowK, people_with(&few));
        outcome.measure(None, Quantity::IdsContradicted, people_with(&contradicted));
        outcome.measure(None, Quantity::IdsChanged, people_with(&changed));
        [published, few, few_values, contradicted, changed]
    }

    /// A witness that names the groups of one id.
    fn witness(&self, claim: Statement, id: usize, number: u64, line: u64) -> Witness {
        Witness::new(claim, self.groups[id].clone(), number, line)
    }
}
