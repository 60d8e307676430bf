//! Which values remain possible at a place, if people are not known (science D4.4).
//!
//! A person who lies where groups of two releases overlap, and is in both, has a value that both releases have at this
//! point. Three releases may leave fewer values than any two of them. So places of longer runs of releases are
//! examined as well: the last release first, then one more at a time, as long as nothing was found and a value
//! remains. Whether anyone is there cannot be seen in the releases.
//!
//! # Cost
//! Two releases have as many places as pairs of groups that overlap. Longer runs can have far more. So every group gets
//! a share of `Budget::places`, and a group that needs more is not assessed.

use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, pairs};
use crate::audit::{Check, Coverage, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::{Release, Span, Value};
use crate::space::sets::{insert, members, words};
use crate::space::stab::Stab;
use rayon::prelude::*;

/// How many groups are examined before the budget is checked again.
const PIECE: usize = 512;

/// The most parts that a place is cut into.
const MOST_PARTS: usize = 256;

pub(super) fn check(ask: &Ask<'_>) -> Outcome {
    if ask.pairs.is_empty() || !ask.attacker.presence {
        return Outcome::not_applicable(Check::Candidates, Reason::PeopleUnknown);
    }
    let mut outcome = Outcome::new(Check::Candidates, Coverage { what: "groups", ..Coverage::default() });
    let laid = Laid::new(ask);
    for (earlier, later) in ask.pairs.iter().copied() {
        outcome = of_two(ask, &laid, laid.layer(earlier), laid.layer(later), outcome);
    }
    for later in 2..laid.layers.len() {
        outcome = of_more(ask, &laid, later, outcome);
    }
    if outcome.findings.is_empty() && outcome.coverage.looked_at < outcome.coverage.of {
        match ask.theorem_as_promised() {
            Some(theorem) => outcome.proved(theorem),
            None => outcome.verdict = Verdict::NotAssessed(Reason::TooManyOverlaps),
        }
    }
    if ask.thresholds.l <= 1 && outcome.findings.is_empty() {
        outcome.verdict = Verdict::Measured;
    }
    outcome
}

/// Places of two releases.
fn of_two(ask: &Ask<'_>, laid: &Laid<'_>, earlier: usize, later: usize, mut outcome: Outcome) -> Outcome {
    let mut tally = Tally::new(Fault::PlaceGivesAway);
    let places = look_over(
        laid,
        earlier,
        ask.budget.places() / ask.pairs.len() as u64,
        &mut tally,
        &mut outcome.coverage,
        |place| {
            let mut search = Search::new(laid, u64::MAX);
            search.extend(place, later, false);
            search
        },
    );
    let (earlier, later) = (laid.layers[earlier].release, laid.layers[later].release);
    outcome.measure(Some(later.number), Quantity::PlacesOfTwo, places as f64);
    found(outcome, tally, later, vec![earlier.number])
}

/// Places of three or more consecutive releases, the last of which is given.
fn of_more(ask: &Ask<'_>, laid: &Laid<'_>, last: usize, mut outcome: Outcome) -> Outcome {
    let release = laid.layers[last].release;
    let mut tally = Tally::new(Fault::PlaceGivesAway);
    let stretches = laid.layers.len() as u64 - 2;
    let share = ask.budget.places() / stretches / (release.group_count() as u64).max(1);
    let places = look_over(laid, last, u64::MAX, &mut tally, &mut outcome.coverage, |place| {
        let mut search = Search::new(laid, share.max(1));
        search.extend(place, last - 1, true);
        search
    });
    outcome.measure(Some(release.number), Quantity::PlacesOfMore, places as f64);
    let groups = tally.worst().map_or(&[][..], |witness| &witness.groups);
    let numbers = groups.iter().map(|&(place, _)| ask.series.releases[place as usize].number);
    let others = numbers.filter(|&number| number != release.number).collect();
    found(outcome, tally, release, others)
}

/// Examines the places of every group of a layer, until the limit is reached. Returns how many places were examined.
fn look_over<'a, 'b>(
    laid: &'a Laid<'b>,
    layer: usize,
    most: u64,
    tally: &mut Tally,
    coverage: &mut Coverage,
    look: impl Fn(&Place) -> Search<'a, 'b> + Sync,
) -> u64 {
    let release = laid.layers[layer].release;
    let groups: Vec<u32> = (0..release.group_count() as u32).filter(|&at| release.people(at as usize) > 0).collect();
    coverage.of += groups.len() as u64;
    let mut places = 0;
    for piece in groups.chunks(PIECE) {
        if places >= most {
            break;
        }
        let searches: Vec<Search<'_, '_>> =
            piece.par_iter().map(|&group| look(&Place::of(laid, layer, group))).collect();
        for search in searches {
            places += search.places;
            coverage.looked_at += u64::from(!search.is_cut_short);
            search.tell(tally);
        }
    }
    places
}

fn found(mut outcome: Outcome, mut tally: Tally, last: &Release, others: Vec<u32>) -> Outcome {
    tally.at_most(last.row_count() as u64);
    outcome.found(tally.finding(last.number, others));
    outcome
}

/// The releases that have a sensitive column, to be compared.
struct Laid<'a> {
    layers: Vec<Layer<'a>>,
    words: usize,
    l: u64,
    keeps_sets: bool,
}

/// One of them, with an index.
struct Layer<'a> {
    /// Its place in the series.
    place: u32,
    release: &'a Release,
    index: Stab,
    /// Per group, its values.
    values: Vec<u64>,
}

impl<'a> Laid<'a> {
    fn new(ask: &Ask<'a>) -> Laid<'a> {
        let values = pairs::value_count(ask);
        let words = words(values);
        let layer = |(place, release): (u32, &'a Release)| {
            let mut bits = vec![0; release.group_count() * words];
            for (group, bits) in bits.chunks_exact_mut(words).enumerate() {
                release.group_values(group).iter().for_each(|value| insert(bits, value.index()));
            }
            Layer { place, release, index: Stab::new(release, values), values: bits }
        };
        Laid {
            layers: ask.with_sensitive().map(layer).collect(),
            words,
            l: ask.thresholds.l.into(),
            keeps_sets: pairs::keeps_sets(ask.series.promise),
        }
    }

    /// The layer of the release at a place of the series.
    fn layer(&self, place: u32) -> usize {
        self.layers.iter().position(|layer| layer.place == place).expect("only releases with values are compared")
    }

    fn values(&self, layer: usize, group: u32) -> &[u64] {
        &self.layers[layer].values[group as usize * self.words..][..self.words]
    }

    /// Finds a part of the region where too few values are left. A value is left at a point if groups over the point
    /// have it in each of the releases. A group that covers only a part of the region says nothing about the rest. So
    /// the region is cut until all points of a part are alike, or until too few values can no longer be left in it.
    fn tell(&self, chain: &[(usize, u32)], region: &[Span], looked_at: &mut u64) -> Told {
        let mut parts: Vec<Vec<Span>> = vec![region.to_vec()];
        for _ in 0..MOST_PARTS {
            let Some(part) = parts.pop() else { return Told::Nothing };
            *looked_at += 1;
            let (mut some, mut all) = (vec![u64::MAX; self.words], vec![u64::MAX; self.words]);
            let mut edge: Option<(usize, u32)> = None;
            for &(layer, _) in chain {
                let (mut here, mut throughout) = (vec![0; self.words], vec![0; self.words]);
                self.layers[layer].each_over(&part, |group, region| {
                    let values = self.values(layer, group);
                    join(&mut here, values);
                    match first_edge(region, &part) {
                        None => join(&mut throughout, values),
                        found => edge = edge.or(found),
                    }
                });
                meet(&mut some, &here);
                meet(&mut all, &throughout);
            }
            if count(&some) == 0 || count(&all) >= self.l {
                continue;
            }
            if count(&some) < self.l {
                return Told::Values(part, some);
            }
            let (attribute, last) = edge.expect("what is not the same throughout has an edge");
            let (mut low, mut high) = (part.clone(), part);
            low[attribute].hi = last;
            high[attribute].lo = last + 1;
            parts.extend([low, high]);
        }
        if parts.is_empty() { Told::Nothing } else { Told::TooMuch }
    }
}

/// The answer for a place.
enum Told {
    /// In this part of the place only these values are left.
    Values(Vec<Span>, Vec<u64>),
    /// Enough values are left everywhere.
    Nothing,
    /// It has too many parts.
    TooMuch,
}

/// The first line on which a region ends inside a part: the attribute, and the last code before it.
pub(super) fn first_edge(region: &[Span], part: &[Span]) -> Option<(usize, u32)> {
    region.iter().zip(part).enumerate().find_map(|(attribute, (span, part))| {
        let before = (part.lo < span.lo).then(|| span.lo - 1);
        before.or((span.hi < part.hi).then_some(span.hi)).map(|last| (attribute, last))
    })
}

fn join(one: &mut [u64], other: &[u64]) {
    one.iter_mut().zip(other).for_each(|(one, other)| *one |= other);
}

fn meet(one: &mut [u64], other: &[u64]) {
    one.iter_mut().zip(other).for_each(|(one, other)| *one &= other);
}

impl Layer<'_> {
    /// Calls `each` with every group that overlaps a region and holds a person.
    fn each_over(&self, region: &[Span], mut each: impl FnMut(u32, &[Span])) {
        self.index.each_overlapping(region, |group| {
            if self.release.people(group as usize) > 0 {
                each(group, self.release.region(group as usize));
            }
            true
        });
    }
}

/// Where one group each of some releases overlap.
struct Place {
    /// The groups, by layer.
    chain: Vec<(usize, u32)>,
    region: Vec<Span>,
    /// The values that all these groups have. A person who is in these groups has one of them. A person at the place
    /// may be in other groups that cover it.
    shared: Vec<u64>,
}

impl Place {
    fn of(laid: &Laid<'_>, layer: usize, group: u32) -> Place {
        Place {
            chain: vec![(layer, group)],
            region: laid.layers[layer].release.region(group as usize).to_vec(),
            shared: laid.values(layer, group).to_vec(),
        }
    }

    fn and(&self, laid: &Laid<'_>, layer: usize, group: u32) -> Place {
        let region = laid.layers[layer].release.region(group as usize);
        let mut chain = self.chain.clone();
        chain.push((layer, group));
        Place {
            chain,
            region: self.region.iter().zip(region).map(|(a, b)| a.meet(*b)).collect(),
            shared: self.shared.iter().zip(laid.values(layer, group)).map(|(a, b)| a & b).collect(),
        }
    }
}

/// The search that starts at one group, and what it found.
struct Search<'a, 'b> {
    laid: &'a Laid<'b>,
    places: u64,
    most: u64,
    is_cut_short: bool,
    found: Vec<(Place, Vec<u64>)>,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(laid: &'a Laid<'b>, most: u64) -> Search<'a, 'b> {
        Search { laid, places: 0, most, is_cut_short: false, found: Vec::new() }
    }

    /// Overlaps a place with one more release and, with `goes_on`, with each release before that.
    fn extend(&mut self, place: &Place, layer: usize, goes_on: bool) {
        let laid = self.laid;
        let mut groups: Vec<u32> = Vec::new();
        laid.layers[layer].each_over(&place.region, |group, _| groups.push(group));
        groups.sort_unstable();
        for group in groups {
            if self.places >= self.most {
                self.is_cut_short = true;
                return;
            }
            self.places += 1;
            // A person who keeps one value set is never in two groups with different sets.
            if laid.keeps_sets && (laid.values(layer, group) != place.shared || count(&place.shared) >= laid.l) {
                continue;
            }
            let further = place.and(laid, layer, group);
            if goes_on && count(&further.shared) == 0 {
                // The groups have no value in common, so nobody is in all of them.
                continue;
            }
            if count(&further.shared) < laid.l {
                match laid.tell(&further.chain, &further.region, &mut self.places) {
                    Told::Values(part, values) => {
                        if !(goes_on && self.is_told(&further)) {
                            self.found.push((Place { region: part, ..further }, values));
                        }
                        continue;
                    }
                    Told::Nothing => (),
                    Told::TooMuch => self.is_cut_short = true,
                }
            }
            if goes_on && layer > 0 {
                self.extend(&further, layer - 1, true);
            }
        }
    }

    /// Whether a shorter run already shows as much: two releases, or all but the last.
    fn is_told(&mut self, place: &Place) -> bool {
        if place.chain.len() <= 2 {
            return true;
        }
        let (&(layer, group), rest) = place.chain[1..].split_first().expect("three releases or more");
        let shorter = Place::of(self.laid, layer, group);
        let shorter = rest.iter().fold(shorter, |place, &(layer, group)| place.and(self.laid, layer, group));
        matches!(self.laid.tell(&shorter.chain, &shorter.region, &mut self.places), Told::Values(..))
    }

    fn tell(self, tally: &mut Tally) {
        for (Place { mut chain, region, .. }, values) in self.found {
            chain.sort_unstable();
            let values: Vec<Value> = members(&values).map(Value).collect();
            let people = self.laid.people(&chain, &region, &values);
            let count = values.len() as u64;
            tally.add(people, count, || {
                let groups = chain.iter().map(|&(layer, group)| (self.laid.layers[layer].place, group)).collect();
                Witness { values, ..Witness::new(Statement::FewValuesAtPlace, groups, count, self.laid.l) }
            });
        }
    }
}

impl Laid<'_> {
    /// The most people who can be in all these groups. If nobody can, the most people who can be at the place.
    fn people(&self, chain: &[(usize, u32)], region: &[Span], values: &[Value]) -> u64 {
        let rows = |layer: usize, group: u32, value: Value| {
            let values = self.layers[layer].release.group_values(group as usize);
            values.iter().filter(|&&other| other == value).count() as u64
        };
        let rows_over = |layer: usize, value: Value| {
            let mut sum = 0;
            self.layers[layer].each_over(region, |group, _| sum += rows(layer, group, value));
            sum
        };
        let least = |rows: &dyn Fn(&(usize, u32), Value) -> u64| -> u64 {
            values.iter().map(|&value| chain.iter().map(|link| rows(link, value)).min().unwrap_or(0)).sum()
        };
        match least(&|&(layer, group), value| rows(layer, group, value)) {
            0 => least(&|&(layer, _), value| rows_over(layer, value)),
            people => people,
        }
    }
}

fn count(values: &[u64]) -> u64 {
    values.iter().map(|bits| u64::from(bits.count_ones())).sum()
}
