//! Which regions overlap: groups of one release with groups of another, and the regions of one index with each other.
//!
//! Both trees are walked at once, from pairs of boxes to pairs of smaller boxes. A pair is skipped if the boxes are
//! disjoint, or if everything below both is already one set. Querying one tree for each group of the other would also
//! work. But it can cost the product of their sizes: if some corner of the tree stays untied for long, every query
//! descends there in vain.

use super::{Stab, overlaps};
use crate::model::Span;
use crate::space::ties::Ties;

/// Ties every group of `left` to every group of `right` that it overlaps. In `ties`, the groups of `left` are numbered
/// from 0 and those of `right` follow.
pub(crate) fn tie_overlapping(left: &Stab, right: &Stab, ties: &mut Ties) {
    if left.nodes.is_empty() || right.nodes.is_empty() {
        return;
    }
    let sides = [Side::new(left, 0), Side::new(right, left.group_count())];
    Walk { sides, ties }.pair(0, 0);
}

/// Per region, whether it overlaps another one of the index.
pub(crate) fn overlaps_another(stab: &Stab) -> Vec<bool> {
    let mut search = Within { stab, found: vec![false; stab.groups.len()], whole: vec![false; stab.nodes.len()] };
    if !stab.nodes.is_empty() {
        search.below(0);
    }
    let mut overlaps = vec![false; stab.groups.len()];
    search.found.iter().zip(&stab.groups).for_each(|(&found, &group)| overlaps[group as usize] = found);
    overlaps
}

/// The search within one tree. A pair of nodes is skipped if the boxes are disjoint, or if everything below both is
/// already found.
struct Within<'a> {
    stab: &'a Stab,
    /// Per place of the leaves, whether its region overlaps another one.
    found: Vec<bool>,
    /// Per node, whether that holds for every place below it.
    whole: Vec<bool>,
}

impl Within<'_> {
    fn below(&mut self, index: usize) {
        let node = &self.stab.nodes[index];
        match node.right as usize {
            0 => {
                (node.first..node.last).for_each(|one| (one + 1..node.last).for_each(|other| self.compare(one, other)))
            }
            right => {
                self.below(index + 1);
                self.below(right);
                self.between(index + 1, right);
            }
        }
        self.look_up(index);
    }

    fn between(&mut self, left: usize, right: usize) {
        let (one, other) = (&self.stab.nodes[left], &self.stab.nodes[right]);
        if self.whole[left] && self.whole[right] || !overlaps(self.stab.node_box(left), self.stab.node_box(right)) {
            return;
        }
        match (one.right as usize, other.right as usize) {
            (0, 0) => (one.first..one.last).for_each(|a| (other.first..other.last).for_each(|b| self.compare(a, b))),
            (second, last) if last == 0 || second != 0 && one.last - one.first >= other.last - other.first => {
                self.between(left + 1, right);
                self.between(second, right);
            }
            (_, second) => {
                self.between(left, right + 1);
                self.between(left, second);
            }
        }
        self.look_up(left);
        self.look_up(right);
    }

    fn compare(&mut self, one: u32, other: u32) {
        let (one, other) = (one as usize, other as usize);
        if !(self.found[one] && self.found[other]) && overlaps(self.stab.group_box(one), self.stab.group_box(other)) {
            (self.found[one], self.found[other]) = (true, true);
        }
    }

    /// Records whether everything below a node is found, judged by its children.
    fn look_up(&mut self, index: usize) {
        let node = &self.stab.nodes[index];
        self.whole[index] = match node.right as usize {
            0 => self.found[node.first as usize..node.last as usize].iter().all(|&found| found),
            right => self.whole[index + 1] && self.whole[right],
        };
    }
}

/// One of the releases.
struct Side<'a> {
    stab: &'a Stab,
    /// Per node, whether all groups below it are tied to each other.
    united: Vec<bool>,
    offset: u32,
}

impl<'a> Side<'a> {
    fn new(stab: &'a Stab, offset: u32) -> Side<'a> {
        Side { stab, united: vec![false; stab.nodes.len()], offset }
    }

    /// The name of the group at a place of the leaves.
    fn name(&self, place: u32) -> u32 {
        self.offset + self.stab.groups[place as usize]
    }

    /// Some group below a node.
    fn some(&self, node: usize) -> u32 {
        self.name(self.stab.nodes[node].first)
    }

    fn right(&self, node: usize) -> usize {
        self.stab.nodes[node].right as usize
    }

    fn size(&self, node: usize) -> u32 {
        self.stab.nodes[node].last - self.stab.nodes[node].first
    }

    fn region(&self, place: u32) -> &[Span] {
        self.stab.group_box(place as usize)
    }
}

struct Walk<'a, 'b> {
    sides: [Side<'a>; 2],
    ties: &'b mut Ties,
}

impl Walk<'_, '_> {
    /// Ties what overlaps below a node of the left and a node of the right tree.
    fn pair(&mut self, left: usize, right: usize) {
        let [one, other] = &self.sides;
        if !overlaps(one.stab.node_box(left), other.stab.node_box(right)) {
            return;
        }
        let is_united = (one.united[left], other.united[right]);
        if is_united == (true, true) && self.ties.are_tied(one.some(left), other.some(right)) {
            return;
        }
        match (one.right(left), other.right(right)) {
            (0, _) => self.leaf(0, left, u32::MAX, right),
            (_, 0) => self.leaf(1, right, u32::MAX, left),
            // The node that is not united is split first, because most of its parts will be.
            (second, _)
                if is_united == (false, true) || is_united.0 == is_united.1 && one.size(left) >= other.size(right) =>
            {
                self.pair(left + 1, right);
                self.pair(second, right);
                self.look_up(0, left);
            }
            (_, second) => {
                self.pair(left, right + 1);
                self.pair(left, second);
                self.look_up(1, right);
            }
        }
    }

    /// Ties the groups of a leaf whose bits are set to the groups that they overlap below a node of the other tree.
    fn leaf(&mut self, side: usize, leaf: usize, mut asked: u32, node: usize) {
        let (mine, theirs) = (&self.sides[side], &self.sides[1 - side]);
        let first = mine.stab.nodes[leaf].first;
        let whole = theirs.stab.node_box(node);
        for bit in 0..mine.size(leaf) {
            let place = first + bit;
            let is_open = overlaps(mine.region(place), whole)
                && !(theirs.united[node] && self.ties.are_tied(mine.name(place), theirs.some(node)));
            if !is_open {
                asked &= !(1 << bit);
            }
        }
        asked &= (1 << mine.size(leaf)) - 1;
        if asked == 0 {
            return;
        }
        match theirs.right(node) {
            0 => {
                let places = &theirs.stab.nodes[node];
                for place in (0..mine.size(leaf)).filter(|bit| asked & (1 << bit) != 0).map(|bit| first + bit) {
                    for other in
                        (places.first..places.last).filter(|&it| overlaps(theirs.region(it), mine.region(place)))
                    {
                        self.ties.tie(mine.name(place), theirs.name(other));
                    }
                }
                self.look_up(side, leaf);
            }
            second => {
                self.leaf(side, leaf, asked, node + 1);
                self.leaf(side, leaf, asked, second);
            }
        }
        self.look_up(1 - side, node);
    }

    /// Records whether all groups below a node are tied to each other, judged by its children.
    fn look_up(&mut self, side: usize, node: usize) {
        let it = &self.sides[side];
        if it.united[node] {
            return;
        }
        let some = it.some(node);
        let is_united = match it.right(node) {
            0 => {
                let places = &it.stab.nodes[node];
                (places.first..places.last).all(|place| self.ties.are_tied(some, it.name(place)))
            }
            right => it.united[node + 1] && it.united[right] && self.ties.are_tied(some, it.some(right)),
        };
        self.sides[side].united[node] = is_united;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Regions, Release, Value};
    use proptest::prelude::*;

    /// Where a group lies and how far it reaches, in two attributes of few values.
    type Rectangle = ((u32, u32), (u32, u32));

    fn release(places: &[Rectangle]) -> Release {
        let mut release = Release { regions: Regions::new(2), ..Release::default() };
        for ((x, width), (y, height)) in places {
            release.regions.push(&[Span::new(*x, x + width), Span::new(*y, y + height)]);
            release.sensitive.push(Value(0));
            release.ends.push(release.sensitive.len() as u32);
        }
        release
    }

    fn places(most: usize, reach: u32) -> impl Strategy<Value = Vec<Rectangle>> {
        proptest::collection::vec(((0u32..40, 0..reach), (0u32..4, 0u32..2)), 0..most)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// From hardly any overlap to one set of all.
        #[test]
        fn what_overlaps_is_tied_and_nothing_else(
            (left, right) in (1u32..20).prop_flat_map(|reach| (places(90, reach), places(90, reach))),
        ) {
            let (left, right) = (release(&left), release(&right));
            let count = left.group_count() + right.group_count();
            let (mut ties, mut slow) = (Ties::new(count), Ties::new(count));
            tie_overlapping(&Stab::new(&left, 1), &Stab::new(&right, 1), &mut ties);
            for one in 0..left.group_count() {
                for other in (0..right.group_count()).filter(|&other| overlaps(left.region(one), right.region(other))) {
                    slow.tie(one as u32, (left.group_count() + other) as u32);
                }
            }
            for group in 0..count as u32 {
                prop_assert_eq!(ties.find(group), slow.find(group));
            }
            let another = |&one: &usize| (0..left.group_count()).any(|other| other != one && overlaps(left.region(one), left.region(other)));
            let scan: Vec<bool> = (0..left.group_count()).map(|one| another(&one)).collect();
            prop_assert_eq!(overlaps_another(&Stab::of(&left.regions)), scan);
        }
    }
}
