//! One requirement while the new view is being specialised.
//!
//! Cells of the new view with different values of X never contribute to the same combination of X. So cells are
//! gathered in groups that agree on X, and each group is judged on its own. It is judged as it is, and as it would be
//! after every division that affects it. A division that is carried out changes only the groups it touches.

use crate::grouping::views::history::Profile;
use crate::grouping::views::judge::{NewY, Part, judge};
use crate::grouping::views::matcher::Matcher;
use crate::grouping::views::tally::Tally;
use crate::grouping::views::tree::{Divided, GeneralisedValue, Tree, WORTH_A_THREAD};
use crate::grouping::views::worst::Worst;
use crate::model::Span;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A requirement on the join of the new view with some earlier views.
#[derive(Clone)]
pub(super) struct JoinCheck {
    /// Which requirement.
    pub(super) requirement: usize,
    /// Whether specialising can only lose privacy (see `explain`).
    pub(super) is_monotone: bool,
    pub(super) matcher: Arc<Matcher>,
    pub(super) y: Arc<NewY>,
    /// Per generalised attribute, whether it is in X.
    pub(super) in_x: Vec<bool>,
    /// Per generalised attribute, its place among the join columns.
    pub(super) join: Vec<Option<usize>>,
    /// Fixed attributes that join: place among the join columns, fixed attribute.
    pub(super) join_fixed: Vec<(usize, usize)>,
    /// Fixed attributes in X.
    pub(super) x_fixed: Vec<usize>,
    groups: Vec<Group>,
    /// Per group, how often it was judged.
    versions: Vec<u32>,
    group_of_cell: Vec<u32>,
    profile_of_cell: Vec<Arc<Profile>>,
    /// The worst of all groups.
    all: Tally,
    /// Per value of an attribute in X, the worst of the groups that have it.
    having: Vec<Tally>,
    /// Per value, the worst of the groups that its division would change, after that division.
    noticing: Vec<Tally>,
}

/// Cells that agree on X.
#[derive(Clone, Default)]
struct Group {
    cells: Vec<u32>,
    now: Worst,
    /// Per value that could be divided, how the group would fare; ascending.
    after: Vec<(u32, Worst)>,
    /// Its values of X when it was judged.
    had: Vec<u32>,
}

/// How a requirement fares, now and after each division.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) now: Worst,
    /// Per value.
    pub(super) after: Vec<Worst>,
}

impl JoinCheck {
    /// Gathers the cells of the most general state and judges them.
    pub(super) fn start(&mut self, tree: &Tree) {
        let mut groups: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        for cell in 0..tree.cells.len() {
            let key = self.x_fixed.iter().map(|&fixed| tree.fixed_code(fixed, cell)).collect();
            let next = groups.len() as u32;
            let group = *groups.entry(key).or_insert(next);
            if group == next {
                self.groups.push(Group::default());
                self.versions.push(0);
            }
            self.groups[group as usize].cells.push(cell as u32);
            self.group_of_cell.push(group);
            self.profile_of_cell.push(self.matcher.profile(&self.join_spans(tree, cell)));
        }
        self.judge_groups(tree, &(0..self.groups.len() as u32).collect::<Vec<u32>>());
    }

    pub(super) fn new(
        requirement: usize,
        matcher: Matcher,
        y: NewY,
        in_x: Vec<bool>,
        join: Vec<Option<usize>>,
        join_fixed: Vec<(usize, usize)>,
        x_fixed: Vec<usize>,
    ) -> JoinCheck {
        JoinCheck {
            requirement,
            is_monotone: false,
            matcher: Arc::new(matcher),
            y: Arc::new(y),
            in_x,
            join,
            join_fixed,
            x_fixed,
            groups: Vec::new(),
            versions: Vec::new(),
            group_of_cell: Vec::new(),
            profile_of_cell: Vec::new(),
            all: Tally::default(),
            having: Vec::new(),
            noticing: Vec::new(),
        }
    }

    /// The join spans of a cell.
    fn join_spans(&self, tree: &Tree, cell: usize) -> Vec<Span> {
        let mut spans = vec![Span::EMPTY; self.matcher.width()];
        for (attribute, place) in self.join.iter().enumerate() {
            if let Some(place) = *place {
                spans[place] = tree.span(attribute, cell);
            }
        }
        for &(place, fixed) in &self.join_fixed {
            spans[place] = Span::exact(tree.fixed_code(fixed, cell));
        }
        spans
    }

    /// Follows a division of `value` that the tree has carried out.
    pub(super) fn follow(&mut self, tree: &Tree, value: usize, divided: &[Divided]) {
        let attribute = tree.values[value].attribute;
        let joins = self.join[attribute].is_some();
        self.group_of_cell.resize(tree.cells.len(), u32::MAX);
        let nothing = self.profile_of_cell[0].clone();
        self.profile_of_cell.resize(tree.cells.len(), nothing);
        let mut touched: Vec<u32> = Vec::new();
        for Divided { cell, parts } in divided {
            let group = self.group_of_cell[*cell as usize];
            touched.push(group);
            let profile = self.profile_of_cell[*cell as usize].clone();
            for &(_, part) in parts {
                self.group_of_cell[part as usize] = group;
                self.profile_of_cell[part as usize] =
                    if joins { self.matcher.profile(&self.join_spans(tree, part as usize)) } else { profile.clone() };
            }
            self.groups[group as usize].cells.extend(parts[1..].iter().map(|&(_, part)| part));
        }
        touched.sort_unstable();
        touched.dedup();
        if self.in_x[attribute] {
            self.divide_groups(tree, attribute, &mut touched);
        }
        if self.in_x[attribute] || joins {
            self.judge_groups(tree, &touched);
        }
    }

    /// Divides groups whose cells are no longer alike on X; new groups join `touched`.
    fn divide_groups(&mut self, tree: &Tree, attribute: usize, touched: &mut Vec<u32>) {
        for at in 0..touched.len() {
            let group = touched[at] as usize;
            let mut cells = std::mem::take(&mut self.groups[group].cells);
            let value_of = |&cell: &u32| tree.cells[cell as usize].values[attribute];
            cells.sort_unstable_by_key(|cell| (value_of(cell), *cell));
            for (index, alike) in cells.chunk_by(|a, b| value_of(a) == value_of(b)).enumerate() {
                let place = if index == 0 { group } else { self.groups.len() };
                alike.iter().for_each(|&cell| self.group_of_cell[cell as usize] = place as u32);
                if index == 0 {
                    self.groups[group].cells = alike.to_vec();
                } else {
                    self.groups.push(Group { cells: alike.to_vec(), ..Group::default() });
                    self.versions.push(0);
                    touched.push(place as u32);
                }
            }
        }
    }

    /// Judges groups as they are and as they would be after every division.
    fn judge_groups(&mut self, tree: &Tree, groups: &[u32]) {
        let mut tasks: Vec<(u32, Option<u32>)> = Vec::new();
        for &group in groups {
            tasks.push((group, None));
            for value in self.divisible(tree, group as usize) {
                tasks.push((group, Some(value)));
            }
        }
        let judge = |&(group, value): &(u32, Option<u32>)| self.judge_group(tree, group as usize, value);
        // Few groups are large, and little work is not worth a thread.
        let at_once = if tasks.len() < 256 { 1 } else { 16 };
        let answers: Vec<Worst> = if self.rows_of(tree, groups) < WORTH_A_THREAD {
            tasks.iter().map(judge).collect()
        } else {
            tasks.par_iter().with_min_len(at_once).map(judge).collect()
        };
        self.having.resize_with(tree.values.len(), Tally::default);
        self.noticing.resize_with(tree.values.len(), Tally::default);
        for (&(group, value), answer) in tasks.iter().zip(answers) {
            match value {
                None => self.renew(tree, group as usize, answer),
                Some(value) => {
                    self.groups[group as usize].after.push((value, answer));
                    self.noticing[value as usize].add(answer, (group, self.versions[group as usize]));
                }
            }
        }
    }

    /// How many atoms the groups hold.
    fn rows_of(&self, tree: &Tree, groups: &[u32]) -> usize {
        let cells = groups.iter().flat_map(|&group| &self.groups[group as usize].cells);
        cells.map(|&cell| tree.atoms(cell as usize).len()).sum()
    }

    /// Replaces the earlier judgement of a group by the current one.
    fn renew(&mut self, tree: &Tree, index: usize, now: Worst) {
        let group = &mut self.groups[index];
        if self.versions[index] > 0 {
            self.all.take_back(group.now);
            group.had.iter().for_each(|&value| self.having[value as usize].take_back(group.now));
            group.after.drain(..).for_each(|(value, worst)| self.noticing[value as usize].take_back(worst));
        }
        self.versions[index] += 1;
        let stamp = (index as u32, self.versions[index]);
        let values = tree.cells[group.cells[0] as usize].values.iter().enumerate();
        group.had = values.filter(|(attribute, _)| self.in_x[*attribute]).map(|(_, &value)| value).collect();
        group.now = now;
        self.all.add(now, stamp);
        group.had.iter().for_each(|&value| self.having[value as usize].add(now, stamp));
    }

    /// The values whose division would change a group.
    fn divisible(&self, tree: &Tree, group: usize) -> Vec<u32> {
        let cells = &self.groups[group].cells;
        let mut values = Vec::new();
        for attribute in 0..tree.attributes.len() {
            if self.in_x[attribute] {
                values.push(tree.cells[cells[0] as usize].values[attribute]);
            } else if self.join[attribute].is_some() {
                values.extend(cells.iter().map(|&cell| tree.cells[cell as usize].values[attribute]));
            }
        }
        values.retain(|&value| tree.values[value as usize].is_candidate());
        values.sort_unstable();
        values.dedup();
        values
    }

    /// The worst of a group, as it is or with one value divided.
    fn judge_group(&self, tree: &Tree, group: usize, value: Option<u32>) -> Worst {
        let mut parts = Parts { check: self, tree, list: Vec::new(), places: FxHashMap::default() };
        for &cell in &self.groups[group].cells {
            parts.add(cell as usize, value);
        }
        let mut list = parts.list;
        list.sort_by_key(|part| part.group);
        let of_x = list.chunk_by_mut(|a, b| a.group == b.group);
        of_x.map(|alike| judge(&self.matcher, &self.y, alike)).fold(Worst::default(), Worst::and)
    }

    /// How the requirement fares over all groups.
    pub(super) fn standing(&mut self, tree: &Tree) -> Standing {
        let now = Worst { cost: self.all.cost(&self.versions), holds: self.all.broken() == 0 };
        let mut after = vec![now; tree.values.len()];
        for (attribute, live) in tree.live().into_iter().enumerate() {
            if self.in_x[attribute] {
                // Every group has exactly one value of the attribute, so the unaffected groups are those with another
                // value.
                let costs: Vec<u64> = live.iter().map(|&value| self.having[value].cost(&self.versions)).collect();
                for (&value, others) in live.iter().zip(but_one(&costs)) {
                    let broken = self.all.broken() - self.having[value].broken();
                    let noticing = &mut self.noticing[value];
                    after[value] = Worst {
                        cost: others.max(noticing.cost(&self.versions)),
                        holds: broken + noticing.broken() == 0,
                    };
                }
            } else if self.join[attribute].is_some() {
                for &value in &live {
                    let fare = |group: &Group| {
                        let at = group.after.binary_search_by_key(&(value as u32), |entry| entry.0);
                        at.map_or(group.now, |at| group.after[at].1)
                    };
                    after[value] = self.groups.iter().map(fare).fold(Worst::default(), Worst::and);
                }
            }
        }
        Standing { now, after }
    }
}

/// Per entry, the largest of all other entries.
fn but_one(costs: &[u64]) -> Vec<u64> {
    let mut answer = vec![0; costs.len()];
    let mut so_far = 0;
    for (at, &cost) in costs.iter().enumerate() {
        answer[at] = so_far;
        so_far = so_far.max(cost);
    }
    so_far = 0;
    for (at, &cost) in costs.iter().enumerate().rev() {
        answer[at] = answer[at].max(so_far);
        so_far = so_far.max(cost);
    }
    answer
}

/// The parts of a group: its rows by value of X and by what they match.
struct Parts<'a> {
    check: &'a JoinCheck,
    tree: &'a Tree,
    list: Vec<Part>,
    places: FxHashMap<(u32, usize), u32>,
}

impl Parts<'_> {
    /// Adds a cell, divided by the children of `value` where it has that value.
    fn add(&mut self, cell: usize, value: Option<u32>) {
        let tree = self.tree;
        let profile = &self.check.profile_of_cell[cell];
        let divides = value.filter(|&value| tree.cells[cell].values[tree.values[value as usize].attribute] == value);
        let Some(value) = divides else {
            let part = self.place(0, profile);
            return self.fill(part, cell);
        };
        let value = &tree.values[value as usize];
        // Rows by child and by value of Y. If Y lists no values here, there is one column.
        let universe = self.check.y.universe();
        let (codes, weights) = (tree.codes(value.attribute, cell), tree.weights(cell));
        let ys = self.check.y.column().map(|at| tree.extra(at, cell));
        if value.children.len() * universe > (4 * codes.len()).max(1024) {
            for (at, (&code, &weight)) in codes.iter().zip(weights).enumerate() {
                let part = self.child_place(cell, value, value.child(code));
                self.list[part as usize].add(ys.map(|ys| ys[at]), weight);
            }
            return;
        }
        let mut counts = vec![0u64; value.children.len() * universe];
        match ys {
            Some(ys) => {
                for ((&code, &weight), &y) in codes.iter().zip(weights).zip(ys) {
                    counts[value.child(code) * universe + y as usize] += weight;
                }
            }
            None => codes.iter().zip(weights).for_each(|(&code, &weight)| counts[value.child(code)] += weight),
        }
        for (child, counts) in counts.chunks_exact(universe).enumerate() {
            if counts.iter().any(|&rows| rows > 0) {
                let part = self.child_place(cell, value, child);
                self.list[part as usize].add_counts(&self.check.y, counts);
            }
        }
    }

    /// The place of the rows of a cell that belong to one child of a value.
    fn child_place(&mut self, cell: usize, value: &GeneralisedValue, child: usize) -> u32 {
        let check = self.check;
        let group = if check.in_x[value.attribute] { child as u32 } else { 0 };
        let Some(place) = check.join[value.attribute] else {
            return self.place(group, &check.profile_of_cell[cell]);
        };
        // A child matches fewer rows than its parent, so it is looked up again.
        let mut spans = check.join_spans(self.tree, cell);
        spans[place] = value.children[child];
        self.place(group, &check.matcher.profile(&spans))
    }

    fn fill(&mut self, part: u32, cell: usize) {
        let part = &mut self.list[part as usize];
        let Some(at) = self.check.y.column() else {
            part.weight += self.tree.cells[cell].weight;
            return;
        };
        for (&y, &weight) in self.tree.extra(at, cell).iter().zip(self.tree.weights(cell)) {
            part.add(Some(y), weight);
        }
    }

    /// The place of the part with this value of X and this profile.
    fn place(&mut self, group: u32, profile: &Arc<Profile>) -> u32 {
        let next = self.list.len() as u32;
        let place = *self.places.entry((group, Arc::as_ptr(profile) as usize)).or_insert(next);
        if place == next {
            self.list.push(Part::new(group, profile.clone()));
        }
        place
    }
}
