//! Which regions cover a point, or overlap a region: the one index over regions.
//!
//! It is a tree of boxes: every node holds the smallest box around its groups and the union of their values. If groups
//! are disjoint, a query costs about the depth of the tree. If they overlap, it costs about the number of answers. A
//! query for values skips nodes that have none of the values still wanted.
//!
//! The tree is balanced, whatever cuts made the regions. If a column grows with time, the last cell is cut again and
//! again, and the tree of cuts becomes a chain. This tree does not (science A0.4).

mod overlap;

use crate::model::{Regions, Release, Span};
use crate::space::sets::{insert, words};
use crate::space::ties::Ties;
pub(crate) use overlap::{overlaps_another, tie_overlapping};

/// An index over the groups of one release, or over regions alone.
pub(crate) struct Stab {
    attributes: usize,
    words: usize,
    nodes: Vec<Node>,
    /// Per node, its box.
    boxes: Vec<Span>,
    /// Per node, the values below it.
    values: Vec<u64>,
    /// The groups in the order of the leaves, their boxes and values.
    groups: Vec<u32>,
    group_boxes: Vec<Span>,
    group_values: Vec<u64>,
}

/// Per node, whether all groups below it are tied to each other.
pub(crate) struct United(Vec<bool>);

/// A node in depth-first order: its left child follows it.
struct Node {
    /// The right child; 0 for a leaf.
    right: u32,
    /// The groups of a leaf.
    first: u32,
    last: u32,
}

/// How many groups a leaf holds at most.
const LEAF: usize = 4;

/// Each side of a cut has at least this fraction of the groups: one in `SHARE`.
const SHARE: usize = 8;

/// More than the depth of any tree: each step leaves at most seven of eight groups, and groups have 32-bit numbers.
const DEPTH: usize = 192;

impl Stab {
    /// An index over a release, for values numbered below `values`.
    pub(crate) fn new(release: &Release, values: usize) -> Stab {
        let words = words(values);
        let mut stab = Stab::build(&release.regions, release.group_count(), words);
        stab.group_values = vec![0; stab.groups.len() * words];
        for (bits, &group) in stab.group_values.chunks_exact_mut(words).zip(&stab.groups) {
            release.group_values(group as usize).iter().for_each(|value| insert(bits, value.index()));
        }
        stab.sum_values();
        stab
    }

    /// An index over regions that have no values.
    pub(crate) fn of(regions: &Regions) -> Stab {
        Stab::build(regions, regions.len(), 0)
    }

    /// An index over the regions of a release, without its values.
    pub(crate) fn without_values(release: &Release) -> Stab {
        Stab::build(&release.regions, release.group_count(), 0)
    }

    fn build(regions: &Regions, count: usize, words: usize) -> Stab {
        let mut groups: Vec<u32> = (0..count as u32).collect();
        let mut stab = Stab {
            attributes: regions.attributes(),
            words,
            // There are rarely more nodes than groups. Room that is never used takes no memory.
            nodes: Vec::with_capacity(count),
            boxes: Vec::with_capacity(count * regions.attributes()),
            values: Vec::new(),
            groups: Vec::new(),
            group_boxes: Vec::with_capacity(count * regions.attributes()),
            group_values: Vec::new(),
        };
        if !groups.is_empty() {
            let whole = smallest_box(regions, &groups);
            stab.divide(regions, &whole, &mut groups, 0);
        }
        groups.iter().for_each(|&group| stab.group_boxes.extend_from_slice(regions.get(group as usize)));
        stab.groups = groups;
        stab
    }

    /// How many groups there are.
    pub(crate) fn group_count(&self) -> u32 {
        self.groups.len() as u32
    }

    /// Calls `each` with every group that covers `point`, in the order of the tree.
    pub(crate) fn each(&self, point: &[u32], mut each: impl FnMut(u32)) {
        self.walk(point, |place| {
            each(self.groups[place]);
            true
        });
    }

    /// The groups that cover `point`, in the order of the tree, as long as there are at most `most`.
    pub(crate) fn few(&self, point: &[u32], most: usize, found: &mut Vec<u32>) -> bool {
        let first = found.len();
        self.walk(point, |place| {
            found.push(self.groups[place]);
            found.len() - first <= most
        });
        if found.len() - first > most {
            found.truncate(first);
            return false;
        }
        true
    }

    /// A group that covers `point`, if there is one. It is the only one if groups are disjoint.
    pub(crate) fn find(&self, point: &[u32]) -> Option<u32> {
        let mut found = None;
        self.walk(point, |place| {
            found = Some(self.groups[place]);
            false
        });
        found
    }

    /// Calls `visit` with every group that overlaps `region`, until it returns `false`.
    pub(crate) fn each_overlapping(&self, region: &[Span], mut visit: impl FnMut(u32) -> bool) {
        self.walk_where(|whole| overlaps(whole, region), |place| visit(self.groups[place]));
    }

    /// The state in which no group is tied to another.
    pub(crate) fn united(&self) -> United {
        United(vec![false; self.nodes.len()])
    }

    /// The state of the given ties. Groups are numbered from `offset` on.
    pub(crate) fn united_in(&self, ties: &mut Ties, offset: u32) -> United {
        let mut united = self.united();
        let mut are_tied = |one: u32, other: u32| {
            ties.are_tied(offset + self.groups[one as usize], offset + self.groups[other as usize])
        };
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let right = node.right as usize;
            united.0[index] = match right {
                0 => (node.first..node.last).all(|place| are_tied(node.first, place)),
                _ => united.0[index + 1] && united.0[right] && are_tied(node.first, self.nodes[right].first),
            };
        }
        united
    }

    /// Ties to each other all groups that overlap `region` and whose values pass `wants`, and to `me` if given. Groups
    /// are numbered from `offset` on in `ties`. Returns one of them.
    ///
    /// Below a node whose groups are all tied to each other, one group is enough. So if everything is connected, a
    /// query costs about the depth of the tree.
    pub(crate) fn unite(
        &self,
        region: &[Span],
        mut me: Option<u32>,
        wants: impl Fn(&[u64]) -> bool,
        united: &mut United,
        ties: &mut Ties,
        offset: u32,
    ) -> Option<u32> {
        if !self.nodes.is_empty() {
            self.unite_below(0, region, &mut me, &wants, united, ties, offset);
        }
        me
    }

    #[expect(clippy::too_many_arguments, reason = "a recursion that carries its world along")]
    fn unite_below(
        &self,
        index: usize,
        region: &[Span],
        me: &mut Option<u32>,
        wants: &impl Fn(&[u64]) -> bool,
        united: &mut United,
        ties: &mut Ties,
        offset: u32,
    ) {
        let node = &self.nodes[index];
        if !overlaps(self.node_box(index), region) {
            return;
        }
        let first = offset + self.groups[node.first as usize];
        if united.0[index] && me.is_some_and(|me| ties.are_tied(me, first)) {
            return;
        }
        if !wants(&self.values[index * self.words..(index + 1) * self.words]) {
            return;
        }
        if node.right == 0 {
            for place in node.first as usize..node.last as usize {
                let values = &self.group_values[place * self.words..(place + 1) * self.words];
                if overlaps(self.group_box(place), region) && wants(values) {
                    let group = offset + self.groups[place];
                    ties.tie(me.unwrap_or(group), group);
                    *me = Some(group);
                }
            }
            let places = node.first as usize..node.last as usize;
            united.0[index] =
                united.0[index] || places.into_iter().all(|place| ties.are_tied(first, offset + self.groups[place]));
            return;
        }
        let right = node.right as usize;
        self.unite_below(index + 1, region, me, wants, united, ties, offset);
        self.unite_below(right, region, me, wants, united, ties, offset);
        let other = offset + self.groups[self.nodes[right].first as usize];
        united.0[index] = united.0[index] || united.0[index + 1] && united.0[right] && ties.are_tied(first, other);
    }

    fn node_box(&self, index: usize) -> &[Span] {
        &self.boxes[index * self.attributes..(index + 1) * self.attributes]
    }

    fn group_box(&self, place: usize) -> &[Span] {
        &self.group_boxes[place * self.attributes..(place + 1) * self.attributes]
    }

    /// Removes the values of the groups that cover `point` from `missing`. Stops when none is left.
    pub(crate) fn take_values(&self, point: &[u32], missing: &mut [u64]) {
        let asked = |bits: &[u64], missing: &[u64]| bits.iter().zip(missing).any(|(have, want)| have & want != 0);
        let words = |index: usize| index * self.words..(index + 1) * self.words;
        self.descend(
            missing,
            |missing, node| asked(&self.values[words(node)], missing) && covers(self.node_box(node), point),
            |missing, place| {
                let bits = &self.group_values[words(place)];
                if asked(bits, missing) && covers(self.group_box(place), point) {
                    missing.iter_mut().zip(bits).for_each(|(want, have)| *want &= !have);
                }
                missing.iter().any(|&want| want != 0)
            },
        );
    }

    /// Visits the groups that cover `point` until `visit` returns `false`.
    fn walk(&self, point: &[u32], visit: impl FnMut(usize) -> bool) {
        self.walk_where(|region| covers(region, point), visit);
    }

    /// Visits the groups whose boxes pass `meets`, below nodes whose boxes do, until `visit` returns `false`.
    fn walk_where(&self, meets: impl Fn(&[Span]) -> bool, mut visit: impl FnMut(usize) -> bool) {
        self.descend(
            &mut visit,
            |_, node| meets(self.node_box(node)),
            |visit, place| !meets(self.group_box(place)) || visit(place),
        );
    }

    /// Descends from the root wherever `enter` returns `true`, and visits the places of the leaves there until `visit`
    /// returns `false`. Both see the `state`, which visits change.
    fn descend<S: ?Sized>(
        &self,
        state: &mut S,
        enter: impl Fn(&S, usize) -> bool,
        visit: impl Fn(&mut S, usize) -> bool,
    ) {
        if self.nodes.is_empty() {
            return;
        }
        let mut stack = [0u32; DEPTH];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let index = stack[depth] as usize;
            let node = &self.nodes[index];
            if !enter(state, index) {
                continue;
            }
            if node.right != 0 {
                stack[depth] = node.right;
                stack[depth + 1] = index as u32 + 1;
                depth += 2;
                continue;
            }
            if !(node.first as usize..node.last as usize).all(|place| visit(state, place)) {
                return;
            }
        }
    }

    /// Puts groups below a new node, in the order of its leaves.
    fn divide(&mut self, regions: &Regions, whole: &[Span], groups: &mut [u32], first: u32) {
        let index = self.nodes.len();
        self.nodes.push(Node { right: 0, first, last: first + groups.len() as u32 });
        self.boxes.extend(smallest_box(regions, groups));
        if groups.len() <= LEAF {
            return;
        }
        // Twice the middle of a box, so that it is an integer.
        let middle = |group: u32, attribute: usize| {
            let span = regions.get(group as usize)[attribute];
            u64::from(span.lo) + u64::from(span.hi)
        };
        let spread = |attribute: &usize| {
            let middles = groups.iter().map(|&group| middle(group, *attribute));
            let (lo, hi) = middles.fold((u64::MAX, 0), |(lo, hi), middle| (lo.min(middle), hi.max(middle)));
            (hi - lo) * 1_000_000 / (2 * u64::from(whole[*attribute].width()))
        };
        let widest = (0..self.attributes).max_by_key(|attribute| (spread(attribute), usize::MAX - attribute));
        let mut half = groups.len() / 2;
        if let Some(attribute) = widest {
            let key = |&group: &u32| (middle(group, attribute), group);
            let cut = |groups: &mut [u32], half| key(groups.select_nth_unstable_by_key(half, key).1).0;
            let median = cut(groups, half);
            // Cuts between two different values, because equal ones would give overlapping boxes on both sides.
            let below = groups.iter().filter(|&group| key(group).0 < median).count();
            let upto = groups.iter().filter(|&group| key(group).0 <= median).count();
            let is_even = |cut: &usize| SHARE * (*cut).min(groups.len() - cut) >= groups.len();
            if let Some(better) = [below, upto].into_iter().filter(is_even).min_by_key(|cut| cut.abs_diff(half)) {
                half = better;
                cut(groups, half);
            }
        }
        let (left, right) = groups.split_at_mut(half);
        self.divide(regions, whole, left, first);
        self.nodes[index].right = self.nodes.len() as u32;
        self.divide(regions, whole, right, first + half as u32);
    }

    /// Gives every node the values of the groups below it. Children come after their parents.
    fn sum_values(&mut self) {
        self.values = vec![0; self.nodes.len() * self.words];
        for index in (0..self.nodes.len()).rev() {
            let node = &self.nodes[index];
            for word in 0..self.words {
                self.values[index * self.words + word] = if node.right == 0 {
                    (node.first..node.last)
                        .fold(0, |bits, place| bits | self.group_values[place as usize * self.words + word])
                } else {
                    self.values[(index + 1) * self.words + word] | self.values[node.right as usize * self.words + word]
                };
            }
        }
    }
}

/// Whether two regions share a point.
pub(crate) fn overlaps(left: &[Span], right: &[Span]) -> bool {
    left.iter().zip(right).all(|(left, right)| left.lo.max(right.lo) <= left.hi.min(right.hi))
}

fn covers(region: &[Span], point: &[u32]) -> bool {
    region.iter().zip(point).all(|(span, &code)| span.contains(code))
}

fn smallest_box(regions: &Regions, groups: &[u32]) -> Vec<Span> {
    let mut whole = vec![Span::EMPTY; regions.attributes()];
    for &group in groups {
        whole.iter_mut().zip(regions.get(group as usize)).for_each(|(all, one)| *all = all.join(*one));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Rng, Value};
    use crate::space::sets::members;
    use proptest::prelude::*;

    #[test]
    fn two_sets_are_not_one() {
        let mut release = Release { regions: Regions::new(1), ..Release::default() };
        for place in [0, 0, 0, 0, 9, 9, 9, 9] {
            release.regions.push(&[Span::exact(place)]);
            release.sensitive.push(Value(0));
            release.ends.push(release.sensitive.len() as u32);
        }
        let (stab, mut ties) = (Stab::new(&release, 1), Ties::new(8));
        assert_eq!(stab.united_in(&mut ties, 0).0, [false, false, false]);
        for group in [1, 2, 3, 5, 6, 7] {
            ties.tie(group - 1, group);
        }
        assert_eq!(stab.united_in(&mut ties, 0).0, [false, true, true]);
        ties.tie(0, 7);
        assert_eq!(stab.united_in(&mut ties, 0).0, [true, true, true]);
    }

    const SIZE: u32 = 1 << 20;

    /// Compares with looking through all disjoint regions, and answers with the nodes entered for a point.
    fn check(boxes: &[[Span; 2]], rng: &mut Rng) -> f64 {
        let mut regions = Regions::new(2);
        boxes.iter().for_each(|region| regions.push(region));
        let stab = Stab::of(&regions);
        let mut entered = 0;
        for _ in 0..500 {
            let point = [(); 2].map(|()| rng.below(u64::from(SIZE)) as u32);
            let scan = boxes.iter().position(|region| covers(region, &point));
            assert_eq!(stab.find(&point), scan.map(|place| place as u32));
            let count = std::cell::Cell::new(0);
            let enter = |node| {
                count.set(count.get() + 1);
                covers(stab.node_box(node), &point)
            };
            stab.descend(&mut (), |(), node| enter(node), |(), place| !covers(stab.group_box(place), &point));
            entered += count.get();
        }
        f64::from(entered) / 500.0
    }

    /// Cells as they arise: a random cell is cut at random, again and again.
    /// science E1-11: the same cell as by walking down the tree.
    #[test]
    fn finds_the_cell_that_the_tree_would_find() {
        let mut rng = Rng::from_number(5);
        let mut boxes = vec![[Span::new(0, SIZE - 1); 2]];
        for _ in 0..2000 {
            let index = rng.below(boxes.len() as u64) as usize;
            let attribute = rng.below(2) as usize;
            let span = boxes[index][attribute];
            if span.width() < 2 {
                continue;
            }
            let at = span.lo + rng.below(u64::from(span.width() - 1)) as u32;
            let mut right = boxes[index];
            right[attribute].lo = at + 1;
            boxes[index][attribute].hi = at;
            boxes.push(right);
        }
        boxes.retain(|_| rng.below(10) > 0);
        check(&boxes, &mut rng);
    }

    /// A key that grows with time always cuts the last cell: the policy's own tree is a chain.
    #[test]
    fn a_chain_of_cuts_is_searched_in_logarithmic_depth() {
        let mut rng = Rng::from_number(6);
        let slab = |slice: u32| [Span::new(slice * 256, slice * 256 + 255), Span::new(0, SIZE - 1)];
        let boxes: Vec<[Span; 2]> = (0..SIZE / 256).map(slab).collect();
        // Both children of each of the twelve levels.
        assert!(check(&boxes, &mut rng) <= 2.0 * 12.0);
    }

    /// Two keys that grow together: every cut leaves a thin slab and a corner, by turns.
    #[test]
    fn a_corner_cut_by_turns_is_searched_in_logarithmic_depth() {
        let mut rng = Rng::from_number(7);
        let mut corner = [Span::new(0, SIZE - 1); 2];
        let mut boxes = Vec::new();
        for turn in 0..2000 {
            let mut slab = corner;
            slab[turn % 2].hi = slab[turn % 2].lo + 511;
            corner[turn % 2].lo += 512;
            boxes.push(slab);
        }
        boxes.push(corner);
        assert!(check(&boxes, &mut rng) <= 4.0 * 11.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn uniting_ties_what_overlaps_and_nothing_else(
            boxes in proptest::collection::vec(((0u32..30, 0u32..6), (0u32..30, 0u32..6), 0u32..3), 1..40),
            asked in proptest::collection::vec(((0u32..30, 0u32..6), (0u32..30, 0u32..6), 0u32..3), 1..12),
        ) {
            let region = |it: &((u32, u32), (u32, u32), u32)| {
                [Span::new(it.0.0, it.0.0 + it.0.1), Span::new(it.1.0, it.1.0 + it.1.1)]
            };
            let mut release = Release { regions: Regions::new(2), ..Release::default() };
            for it in &boxes {
                release.regions.push(&region(it));
                release.sensitive.push(Value(it.2));
                release.ends.push(release.sensitive.len() as u32);
            }
            let stab = Stab::new(&release, 3);
            let (mut united, mut ties) = (stab.united(), Ties::new(boxes.len()));
            let mut slow = Ties::new(boxes.len());
            for it in &asked {
                // A value that is not wanted hides its groups.
                let wants = |bits: &[u64]| bits[0] & !(1 << it.2) != 0;
                if it.0.0 % 2 == 0 {
                    united = stab.united_in(&mut ties, 0);
                }
                let me = stab.unite(&region(it), None, wants, &mut united, &mut ties, 0);
                let hit = |&place: &u32| {
                    boxes[place as usize].2 != it.2 && overlaps(release.region(place as usize), &region(it))
                };
                let hits: Vec<u32> = (0..boxes.len() as u32).filter(hit).collect();
                hits.windows(2).for_each(|pair| slow.tie(pair[0], pair[1]));
                prop_assert_eq!(me.is_some(), !hits.is_empty());
                if let (Some(me), Some(&hit)) = (me, hits.first()) {
                    prop_assert!(ties.are_tied(me, hit));
                }
                let mut found = Vec::new();
                stab.each_overlapping(&region(it), |group| { found.push(group); true });
                found.sort_unstable();
                let all: Vec<u32> = (0..boxes.len() as u32)
                    .filter(|&place| overlaps(release.region(place as usize), &region(it))).collect();
                prop_assert_eq!(found, all);
            }
            for node in 0..boxes.len() as u32 {
                prop_assert_eq!(ties.find(node), slow.find(node));
            }
            let united = stab.united_in(&mut ties, 0);
            for (index, node) in stab.nodes.iter().enumerate() {
                let mut below = (node.first..node.last).map(|place| slow.find(stab.groups[place as usize]));
                let first = below.next();
                prop_assert_eq!(united.0[index], below.all(|group| Some(group) == first));
            }
        }

        #[test]
        fn the_index_finds_what_a_scan_finds(
            boxes in proptest::collection::vec(((0u32..20, 0u32..8), (0u32..20, 0u32..20), 0u32..70), 1..60),
            point in (0u32..28, 0u32..28),
        ) {
            let mut release = Release { regions: Regions::new(2), ..Release::default() };
            for ((x, width), (y, height), value) in &boxes {
                release.regions.push(&[Span::new(*x, x + width), Span::new(*y, y + height)]);
                release.sensitive.push(Value(*value));
                release.ends.push(release.sensitive.len() as u32);
            }
            let point = [point.0, point.1];
            let scan: Vec<u32> =
                (0..boxes.len() as u32).filter(|&group| covers(release.region(group as usize), &point)).collect();
            let stab = Stab::new(&release, 70);
            let mut found = Vec::new();
            stab.each(&point, |group| found.push(group));
            found.sort_unstable();
            prop_assert_eq!(&found, &scan);
            let alone = Stab::of(&release.regions);
            prop_assert!(alone.find(&point).map_or(scan.is_empty(), |group| scan.contains(&group)));
            let mut missing = [u64::MAX, 0b11_1111];
            stab.take_values(&point, &mut missing);
            let mut left: Vec<u32> = members(&missing).collect();
            let mut values: Vec<u32> = scan.iter().map(|&group| boxes[group as usize].2).collect();
            values.sort_unstable();
            values.dedup();
            left.append(&mut values);
            left.sort_unstable();
            prop_assert_eq!(left, (0..70).collect::<Vec<_>>());
        }
    }
}
