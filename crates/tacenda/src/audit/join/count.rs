//! a(x), a_Y(x) and l_y(x) on the join, counted by partitions and not by rows.
//!
//! Rows of the first view that match the same rows of the other views share a profile: these matches, grouped by the
//! other views' part of X. Values of X that differ in the first view are independent, so each is counted on its own and
//! its memory is freed.

use crate::audit::join::JoinReading;
use crate::audit::join::pairs::Pairs;
use crate::audit::join::together::Kernel;
use crate::model::{Bound, Classes, PublishedView, Requirement, Span};
use rustc_hash::FxHashMap;

/// A requirement on the join of views.
pub(super) struct Join<'a> {
    pub(super) views: Vec<&'a PublishedView>,
    pub(super) requirement: &'a Requirement,
    /// How many steps may be taken.
    pub(super) limit: u64,
}

/// Rows of one view that are alike in all that matters.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// One of them.
    row: u32,
    size: u64,
    x: u32,
    /// The value of Y. If the key is in Y, a number that stands for all rows of the part.
    y: u32,
}

/// The parts of one view.
struct Parts {
    list: Vec<Part>,
    /// Per class with regard to the first view, its parts.
    by_class: Vec<Vec<u32>>,
    is_keyed: bool,
}

/// What rows of the first view meet.
#[derive(Default)]
struct Profile {
    entries: Vec<Entry>,
    values: Vec<(u32, u128)>,
    /// a_Y of the entries, ascending, as if Y had no part in the first view.
    distinct: Vec<u64>,
    /// The number of joined rows of one row of the first view.
    rows: u128,
}

/// One value of the other views' part of X.
#[derive(Clone, Copy)]
struct Entry {
    x: u32,
    count: u128,
    start: usize,
    end: usize,
}

/// A share and whether it is too large.
#[derive(Clone, Copy, Default)]
struct Share {
    ppm: Option<u64>,
    is_broken: bool,
}

/// Values of the other views' part of Y: how many values each stands for, and its row of each view.
#[derive(Default)]
struct OtherY {
    ids: FxHashMap<Box<[u32]>, u32>,
    weight: Vec<u64>,
    samples: Vec<Box<[u32]>>,
}

/// Counting one requirement.
struct Counting<'a> {
    join: &'a Join<'a>,
    pairs: &'a Pairs,
    kernel: &'a Kernel,
    parts: Vec<Parts>,
    xs: FxHashMap<Box<[u32]>, u32>,
    ys: OtherY,
    steps: u64,
}

impl Join<'_> {
    /// Counts a requirement; `None` if that would take too many steps.
    pub(super) fn read(&self, kernel: &Kernel) -> Option<JoinReading> {
        let pairs = &kernel.pairs;
        let parts = (0..self.views.len()).map(|view| self.parts(pairs, view)).collect();
        let mut counting =
            Counting { join: self, pairs, kernel, parts, xs: FxHashMap::default(), ys: OtherY::default(), steps: 0 };
        let first: Vec<Part> = counting.parts[0].list.clone();
        let (combination_of, samples) = self.combinations(pairs, &first);
        let mut profiles = Vec::with_capacity(samples.len());
        for &row in &samples {
            profiles.push(counting.profile(row)?);
        }
        let mut order: Vec<usize> = (0..first.len()).collect();
        order.sort_unstable_by_key(|&part| (first[part].x, combination_of[part], first[part].y));
        let mut reading = JoinReading::default();
        for alike in order.chunk_by(|&a, &b| first[a].x == first[b].x) {
            let members: Vec<(Part, &Profile)> =
                alike.iter().map(|&part| (first[part], &profiles[combination_of[part] as usize])).collect();
            let is_one = alike.iter().all(|&part| combination_of[part] == combination_of[alike[0]]);
            reading = reading.and(if is_one { counting.one(&members)? } else { counting.many(&members)? });
        }
        Some(reading)
    }

    fn parts(&self, pairs: &Pairs, view: usize) -> Parts {
        let published = self.views[view];
        let x = published.classes(&self.requirement.x_in(view));
        let is_keyed = self.requirement.is_keyed(view);
        let y = published.classes(&self.requirement.y_in(view));
        let others = (0..self.views.len()).filter(|&other| other != view);
        let mut columns: Vec<&[u32]> = others.map(|other| &pairs.classes(view, other).of_row[..]).collect();
        columns.extend([&x.of_row[..], &y.of_row[..]]);
        let classes = Classes::of(published.len(), &columns);
        let mut parts = Parts { list: Vec::new(), by_class: Vec::new(), is_keyed };
        if view > 0 {
            parts.by_class = vec![Vec::new(); pairs.classes(view, 0).len()];
        }
        for (part, (&row, &size)) in classes.sample.iter().zip(&classes.size).enumerate() {
            let value = if is_keyed { part as u32 } else { y.of_row[row as usize] };
            parts.list.push(Part { row, size, x: x.of_row[row as usize], y: value });
            if view > 0 {
                parts.by_class[pairs.class(view, 0, row) as usize].push(part as u32);
            }
        }
        parts
    }

    /// Numbers the parts of the first view by what they can match, with one row for each number.
    fn combinations(&self, pairs: &Pairs, first: &[Part]) -> (Vec<u32>, Vec<u32>) {
        let classes_of =
            |other: usize| -> Vec<u32> { first.iter().map(|part| pairs.class(0, other, part.row)).collect() };
        let columns: Vec<Vec<u32>> = (1..self.views.len()).map(classes_of).collect();
        let classes = Classes::of(first.len(), &columns.iter().map(|column| &column[..]).collect::<Vec<&[u32]>>());
        let samples = classes.sample.iter().map(|&part| first[part as usize].row).collect();
        (classes.of_row, samples)
    }

    fn has_other_y(&self) -> bool {
        self.requirement.y.iter().any(|at| at.view > 0)
    }
}

impl Counting<'_> {
    fn step(&mut self, steps: u64) -> Option<()> {
        self.steps += steps;
        (self.steps <= self.join.limit).then_some(())
    }

    /// What a row of the first view meets.
    fn profile(&mut self, row: u32) -> Option<Profile> {
        let mut found: Vec<(u32, u32, u128)> = Vec::new();
        self.choose(row, &mut Vec::new(), &mut found)?;
        found.sort_unstable();
        let mut profile = Profile::default();
        for of_x in found.chunk_by(|a, b| a.0 == b.0) {
            let start = profile.values.len();
            let values = of_x.chunk_by(|a, b| a.1 == b.1);
            profile.values.extend(values.map(|same| (same[0].1, same.iter().map(|line| line.2).sum::<u128>())));
            let values = &profile.values[start..];
            let count = values.iter().map(|value| value.1).sum();
            profile.distinct.push(values.iter().map(|value| self.ys.weight[value.0 as usize]).sum());
            profile.rows += count;
            profile.entries.push(Entry { x: of_x[0].0, count, start, end: profile.values.len() });
        }
        profile.distinct.sort_unstable();
        Some(profile)
    }

    /// Chooses a part of every other view so that all can be one person.
    fn choose(&mut self, row: u32, chosen: &mut Vec<u32>, found: &mut Vec<(u32, u32, u128)>) -> Option<()> {
        let view = chosen.len() + 1;
        if view == self.join.views.len() {
            let own = |view: usize| match view {
                0 => row,
                view => self.parts[view].list[chosen[view - 1] as usize].row,
            };
            if self.kernel.keeps(own) {
                found.push(self.line(chosen));
            }
            return self.step(1);
        }
        let pairs = self.pairs;
        for &class in pairs.met(0, pairs.class(0, view, row), view) {
            for at in 0..self.parts[view].by_class[class as usize].len() {
                let part = self.parts[view].by_class[class as usize][at];
                self.step(1)?;
                let own = self.parts[view].list[part as usize].row;
                let fits = chosen.iter().enumerate().all(|(other, &theirs)| {
                    let other_row = self.parts[other + 1].list[theirs as usize].row;
                    pairs.can_meet(
                        view,
                        pairs.class(view, other + 1, own),
                        other + 1,
                        pairs.class(other + 1, view, other_row),
                    )
                });
                if fits {
                    chosen.push(part);
                    self.choose(row, chosen, found)?;
                    chosen.pop();
                }
            }
        }
        Some(())
    }

    fn line(&mut self, chosen: &[u32]) -> (u32, u32, u128) {
        let part = |(view, &part): (usize, &u32)| self.parts[view + 1].list[part as usize];
        let x: Box<[u32]> = chosen.iter().enumerate().map(|at| part(at).x).collect();
        let y: Box<[u32]> = chosen.iter().enumerate().map(|at| part(at).y).collect();
        let rows: Box<[u32]> = chosen.iter().enumerate().map(|at| part(at).row).collect();
        let count = chosen.iter().enumerate().map(|at| u128::from(part(at).size)).product();
        let keyed = chosen.iter().enumerate().filter(|(view, _)| self.parts[view + 1].is_keyed);
        let weight = keyed.map(|at| part(at).size).product();
        let next = self.xs.len() as u32;
        let x = *self.xs.entry(x).or_insert(next);
        let next = self.ys.ids.len() as u32;
        let y = *self.ys.ids.entry(y).or_insert(next);
        if y == next {
            self.ys.weight.push(weight);
            self.ys.samples.push(rows);
        }
        (x, y, count)
    }

    /// The threshold of a value of Y, given a row of the first view and a value elsewhere.
    fn threshold(&self, row: u32, y: u32) -> Option<(u32, u32)> {
        self.join.requirement.bound.line(|at| {
            let at = self.join.requirement.y[at];
            let row = if at.view == 0 { row } else { self.ys.samples[y as usize][at.view - 1] };
            at.column.map_or(Span::EMPTY, |column| self.join.views[at.view].column(column).span(row as usize))
        })
    }

    /// Counts one value of the first view's part of X whose rows all have the same profile.
    fn one(&mut self, members: &[(Part, &Profile)]) -> Option<JoinReading> {
        let profile = members[0].1;
        let size: u64 = members.iter().map(|(part, _)| part.size).sum();
        let mut reading = JoinReading {
            rows: u128::from(size) * profile.rows,
            combinations: profile.entries.len() as u64,
            ..JoinReading::default()
        };
        if profile.entries.is_empty() {
            return Some(reading);
        }
        let values = by_value(members, self.parts[0].is_keyed);
        match self.join.requirement.bound {
            Bound::Anonymity { k } => {
                let own: u64 = values.iter().map(|value| value.1).sum();
                reading.least = Some(own.saturating_mul(profile.distinct[0]));
                reading.broken = profile.distinct.partition_point(|&distinct| own.saturating_mul(distinct) < k) as u64;
            }
            Bound::Linkability { .. } | Bound::OneIn { .. } if !self.join.has_other_y() => {
                self.step(values.len() as u64)?;
                let mut worst = Share::default();
                for &(row, weight, rows) in &values {
                    worst = worst.and(share(rows / u128::from(weight), size.into(), self.threshold(row, 0)));
                }
                reading.largest_ppm = worst.ppm;
                reading.broken = if worst.is_broken { reading.combinations } else { 0 };
            }
            Bound::Linkability { .. } | Bound::OneIn { .. } => {
                self.step((values.len() * profile.values.len()) as u64)?;
                for entry in &profile.entries {
                    let mut worst = Share::default();
                    for &(y, count) in &profile.values[entry.start..entry.end] {
                        let one = count / u128::from(self.ys.weight[y as usize]);
                        for &(row, weight, rows) in &values {
                            let part = rows / u128::from(weight) * one;
                            worst = worst.and(share(part, u128::from(size) * entry.count, self.threshold(row, y)));
                        }
                    }
                    reading.largest_ppm = reading.largest_ppm.max(worst.ppm);
                    reading.broken += u64::from(worst.is_broken);
                }
            }
        }
        reading.holds = reading.broken == 0;
        reading.people = if reading.holds { 0 } else { size };
        Some(reading)
    }

    /// Counts one value of the first view's part of X whose rows have different profiles.
    fn many(&mut self, members: &[(Part, &Profile)]) -> Option<JoinReading> {
        let mut met: Vec<(u32, usize, usize)> = Vec::new();
        for (at, (_, profile)) in members.iter().enumerate() {
            met.extend(profile.entries.iter().enumerate().map(|(entry, of)| (of.x, at, entry)));
        }
        self.step(met.len() as u64)?;
        met.sort_unstable();
        let mut reading = JoinReading::default();
        let mut is_exposed = vec![false; members.len()];
        for of_x in met.chunk_by(|a, b| a.0 == b.0) {
            let part = self.one_x(members, of_x)?;
            if !part.holds {
                of_x.iter().for_each(|&(_, at, _)| is_exposed[at] = true);
            }
            reading = reading.and(part);
        }
        reading.people =
            members.iter().zip(is_exposed).filter(|(_, exposed)| *exposed).map(|(member, _)| member.0.size).sum();
        Some(reading)
    }

    /// Counts one value of X: all pairs of a value of Y in the first view and a value of Y in the others.
    fn one_x(&mut self, members: &[(Part, &Profile)], of_x: &[(u32, usize, usize)]) -> Option<JoinReading> {
        let is_keyed = self.parts[0].is_keyed;
        // (value in the first view, value elsewhere) -> rows of the join, values it stands for, a row
        let mut pairs: FxHashMap<(u32, u32), (u128, u64, u32)> = FxHashMap::default();
        let mut rows = 0u128;
        for &(_, at, entry) in of_x {
            let (part, profile) = members[at];
            let entry = profile.entries[entry];
            rows += u128::from(part.size) * entry.count;
            self.step((entry.end - entry.start) as u64)?;
            for &(y, count) in &profile.values[entry.start..entry.end] {
                let weight = if is_keyed { part.size } else { 1 } * self.ys.weight[y as usize];
                let pair = pairs.entry((part.y, y)).or_insert((0, weight, part.row));
                pair.0 += u128::from(part.size) * count;
            }
        }
        let mut reading = JoinReading { rows, combinations: 1, ..JoinReading::default() };
        if let Bound::Anonymity { k } = self.join.requirement.bound {
            let distinct = pairs.values().map(|pair| pair.1).sum();
            reading.least = Some(distinct);
            reading.holds = distinct >= k;
        } else {
            for (&(_, y), &(count, weight, row)) in &pairs {
                let share = share(count / u128::from(weight), rows, self.threshold(row, y));
                reading.largest_ppm = reading.largest_ppm.max(share.ppm);
                reading.holds &= !share.is_broken;
            }
        }
        reading.broken = u64::from(!reading.holds);
        Some(reading)
    }
}

/// The values of Y among parts of the first view: a row, how many values it stands for, and rows.
fn by_value(members: &[(Part, &Profile)], is_keyed: bool) -> Vec<(u32, u64, u128)> {
    let mut values: Vec<(u32, u64, u128)> = Vec::new();
    for alike in members.chunk_by(|a, b| !is_keyed && a.0.y == b.0.y) {
        let size: u64 = alike.iter().map(|(part, _)| part.size).sum();
        values.push((alike[0].0.row, if is_keyed { size } else { 1 }, size.into()));
    }
    values
}

/// Compares `part` of `whole` with a threshold. Without a threshold the value is not sensitive.
fn share(part: u128, whole: u128, line: Option<(u32, u32)>) -> Share {
    let Some((most, of)) = line else {
        return Share::default();
    };
    // Counts of many joined views would overflow when multiplied. Both are scaled down, and the part is rounded up, so
    // that the share is never understated.
    let spare = (128 - whole.leading_zeros()).saturating_sub(100);
    let (part, whole) = ((part >> spare) + u128::from(spare > 0), (whole >> spare).max(1));
    let ppm = (part * 1_000_000).div_ceil(whole) as u64;
    Share { ppm: Some(ppm), is_broken: part * u128::from(of) > whole * u128::from(most) }
}

impl Share {
    fn and(self, other: Share) -> Share {
        Share { ppm: self.ppm.max(other.ppm), is_broken: self.is_broken || other.is_broken }
    }
}
