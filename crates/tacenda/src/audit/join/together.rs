//! All views at once: which combinations of one row per view lie in some assignment of all rows of all views.
//!
//! # Definition
//! There are as many people as the largest view has rows. An assignment gives every row of every view to one person.
//! Nobody gets two rows of one view, and any two rows of a person match. The kernel is the set of combinations that one
//! person has in some assignment.
//!
//! # Steps
//! Rows that agree in all joining columns are of one kind. The views are split as far as it is proved that nothing is
//! lost (science A4.8-a, A4.8-b, A4.8-c). Parts that nothing joins are judged separately. A view that is tied to at
//! most one other is removed. Views that are cut on one common column are decided by their order. If two views remain,
//! their pairs decide everything. Any other rest is searched (`cyclic`).

use crate::audit::join::cyclic::{self, Spent};
use crate::audit::join::pairs::{Pairs, joining};
use crate::model::{Classes, Impossible, PublishedView, Span};
use crate::space::ties::Ties;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most steps of the search of all views at once, whatever the limit.
pub(super) const STEPS: u64 = 1 << 22;

/// The answer for all views at once.
pub(super) enum Together {
    /// The kernel.
    Exact(Kernel),
    /// There is no assignment: the views are not of the same people.
    Unassigned,
    /// The steps did not suffice.
    TooLarge,
}

/// The combinations that some assignment has.
pub(super) struct Kernel {
    /// Every two rows of a combination must be a pair of these.
    pub(super) pairs: Pairs,
    /// And its kinds must be a combination of each of these.
    cycles: Vec<Cycle>,
}

/// The combinations that remain in a part that was searched.
struct Cycle {
    views: Vec<usize>,
    /// Per view, the kind of each row; `ELSEWHERE` where it is in another part.
    kind_of_row: Vec<Vec<u32>>,
    kept: FxHashSet<Box<[u32]>>,
}

const ELSEWHERE: u32 = u32::MAX;

impl Kernel {
    /// A kernel that the pairs of views decide.
    pub(super) fn of_pairs(pairs: Pairs) -> Kernel {
        Kernel { pairs, cycles: Vec::new() }
    }

    /// Whether the kernel has a combination whose pairs it has. `row` gives the row of each view.
    pub(super) fn keeps(&self, row: impl Fn(usize) -> u32) -> bool {
        self.cycles.iter().all(|cycle| {
            let kind = |(&view, kinds): (&usize, &Vec<u32>)| kinds[row(view) as usize];
            let kinds: Box<[u32]> = cycle.views.iter().zip(&cycle.kind_of_row).map(kind).collect();
            kinds.contains(&ELSEWHERE) || cycle.kept.contains(&kinds)
        })
    }
}

/// Views that are being split. `pairs` are those that remain of every two views.
pub(super) struct Parts<'a> {
    views: &'a [&'a PublishedView],
    rules: &'a [Impossible],
    pairs: Pairs,
    /// Per view, the kinds of its rows. One more kind stands for the people who are absent from it, if there are any.
    kinds: Vec<Classes>,
}

/// Some of the views, each with some of its kinds.
type Part = Vec<(usize, Vec<u32>)>;

impl<'a> Parts<'a> {
    pub(super) fn new(views: &'a [&'a PublishedView], rules: &'a [Impossible], pairs: Pairs) -> Parts<'a> {
        let kinds = |view: usize| {
            let others = (0..views.len()).filter(|&other| other != view);
            let columns: Vec<&[u32]> = others.map(|other| &pairs.classes(view, other).of_row[..]).collect();
            Classes::of(views[view].len(), &columns)
        };
        let kinds = (0..views.len()).map(kinds).collect();
        Parts { views, rules, pairs, kinds }
    }

    /// The kernel, in at most `limit` steps.
    pub(super) fn kernel(self, limit: u64) -> Together {
        if !self.pairs.unassigned.is_empty() {
            return Together::Unassigned;
        }
        let mut steps = limit.min(STEPS);
        let all = |view: usize| {
            let kinds = self.kinds[view].len() as u32 + u32::from(self.pairs.absent(view) > 0);
            (view, (0..kinds).collect())
        };
        let mut parts: Vec<Part> = vec![(0..self.views.len()).map(all).collect()];
        let mut cycles = Vec::new();
        while let Some(part) = parts.pop() {
            for mut part in self.split(part) {
                if part.len() <= 2 {
                    continue;
                }
                if let Some(leaf) = self.leaf(&part) {
                    part.remove(leaf);
                    parts.push(part);
                } else if !self.is_ordered(&part) {
                    match self.search(&part, &mut steps) {
                        Ok(Some(cycle)) => cycles.push(cycle),
                        Ok(None) => return Together::Unassigned,
                        Err(Spent) => return Together::TooLarge,
                    }
                }
            }
        }
        Together::Exact(Kernel { pairs: self.pairs, cycles })
    }

    fn is_absent(&self, view: usize, kind: u32) -> bool {
        kind as usize == self.kinds[view].len()
    }

    fn has_absent(&self, part: &Part) -> bool {
        part.iter().any(|(view, kinds)| kinds.iter().any(|&kind| self.is_absent(*view, kind)))
    }

    /// The class of a kind with regard to another view.
    fn class(&self, view: usize, kind: u32, other: usize) -> u32 {
        self.pairs.class(view, other, self.kinds[view].sample[kind as usize])
    }

    /// The classes of some kinds with regard to another view, each with the place of one of its kinds.
    fn classes(&self, (view, kinds): &(usize, Vec<u32>), other: usize) -> FxHashMap<u32, u32> {
        let present = kinds.iter().zip(0u32..).filter(|(kind, _)| !self.is_absent(*view, **kind));
        present.map(|(&kind, place)| (self.class(*view, kind, other), place)).collect()
    }

    /// The parts that nothing joins (science A4.8-a). Absence matches every row.
    fn split(&self, part: Part) -> Vec<Part> {
        if self.has_absent(&part) {
            return vec![part];
        }
        let starts: Vec<u32> =
            part.iter().scan(0, |next, (_, kinds)| Some(std::mem::replace(next, *next + kinds.len() as u32))).collect();
        let mut ties = Ties::new(part.iter().map(|(_, kinds)| kinds.len()).sum());
        for b in 0..part.len() {
            for a in (0..part.len()).filter(|&a| a != b) {
                let (view, other) = (part[a].0, part[b].0);
                let theirs = self.classes(&part[b], view);
                let mut seen: FxHashMap<u32, u32> = FxHashMap::default();
                for (&kind, place) in part[a].1.iter().zip(starts[a]..) {
                    let class = self.class(view, kind, other);
                    if let Some(&alike) = seen.get(&class) {
                        ties.tie(alike, place);
                        continue;
                    }
                    seen.insert(class, place);
                    let met = self.pairs.met(view, class, other).iter().filter_map(|class| theirs.get(class));
                    met.for_each(|&met| ties.tie(place, starts[b] + met));
                }
            }
        }
        let mut parts: Vec<Part> = Vec::new();
        let mut number: FxHashMap<u32, usize> = FxHashMap::default();
        for (&(view, ref kinds), start) in part.iter().zip(starts) {
            for (&kind, place) in kinds.iter().zip(start..) {
                let at = *number.entry(ties.find(place)).or_insert_with(|| {
                    parts.push(Part::new());
                    parts.len() - 1
                });
                match parts[at].last_mut().filter(|last| last.0 == view) {
                    Some((_, kinds)) => kinds.push(kind),
                    None => parts[at].push((view, vec![kind])),
                }
            }
        }
        parts
    }

    /// A view that is tied to at most one other (science A4.8-b): its rows match all rows of every other view but one.
    fn leaf(&self, part: &Part) -> Option<usize> {
        let is_tied = |a: usize, b: usize| {
            let (own, theirs) = (self.classes(&part[a], part[b].0), self.classes(&part[b], part[a].0));
            let met = |class: &u32| self.pairs.met(part[a].0, *class, part[b].0).iter();
            !own.keys().all(|class| met(class).filter(|class| theirs.contains_key(class)).count() == theirs.len())
        };
        let ties = |a: &usize| (0..part.len()).filter(|b| b != a && is_tied(*a, *b)).count();
        (0..part.len()).find(|a| ties(a) <= 1)
    }

    /// Whether one common column is all that joins the views, and the spans of each view are equal or disjoint
    /// (science A4.8-c).
    fn is_ordered(&self, part: &Part) -> bool {
        let mut names: FxHashSet<&str> = FxHashSet::default();
        for &(view, _) in part {
            for &(other, _) in part.iter().filter(|(other, _)| *other != view) {
                let columns = joining(&self.views[view].view, &self.views[other].view, self.rules);
                names.extend(columns.iter().map(|&column| self.views[view].view.columns[column].name.as_str()));
            }
        }
        let is_cut = |name: &str, view: usize, kinds: &[u32]| {
            let Some(column) = self.views[view].view.column(name) else { return false };
            let row = |kind: &u32| self.kinds[view].sample[*kind as usize] as usize;
            let mut spans: Vec<Span> =
                kinds.iter().map(|kind| self.views[view].column(column).span(row(kind))).collect();
            spans.sort_unstable();
            spans.dedup();
            spans.windows(2).all(|two| !two[0].overlap(two[1]))
        };
        names.len() == 1
            && !self.has_absent(part)
            && names.iter().all(|name| part.iter().all(|(view, kinds)| is_cut(name, *view, kinds)))
    }

    fn search(&self, part: &Part, steps: &mut u64) -> Result<Option<Cycle>, Spent> {
        let count = |view: usize, kind: u32| match self.kinds[view].size.get(kind as usize) {
            Some(&rows) => rows as u32,
            None => self.pairs.absent(view) as u32,
        };
        let rows: Vec<Vec<u32>> =
            part.iter().map(|(view, kinds)| kinds.iter().map(|&kind| count(*view, kind)).collect()).collect();
        let can_meet = |(a, own): (usize, usize), (b, theirs): (usize, usize)| {
            let ((view, kind), (other, their_kind)) = ((part[a].0, part[a].1[own]), (part[b].0, part[b].1[theirs]));
            self.is_absent(view, kind)
                || self.is_absent(other, their_kind)
                || self.pairs.can_meet(view, self.class(view, kind, other), other, self.class(other, their_kind, view))
        };
        let Some(kept) = cyclic::kernel(&rows, can_meet, steps)? else { return Ok(None) };
        let kind_of_row = |(view, kinds): &(usize, Vec<u32>)| {
            let mut place = vec![ELSEWHERE; self.kinds[*view].len() + 1];
            kinds.iter().zip(0u32..).for_each(|(&kind, at)| place[kind as usize] = at);
            self.kinds[*view].of_row.iter().map(|&kind| place[kind as usize]).collect()
        };
        Ok(Some(Cycle {
            views: part.iter().map(|(view, _)| *view).collect(),
            kind_of_row: part.iter().map(kind_of_row).collect(),
            kept: kept.into_iter().collect(),
        }))
    }
}
