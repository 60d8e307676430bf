//! Which groups of a release cover a point.
//!
//! A tree of boxes: every node holds the smallest box over its groups and the union of their values.
//! Where groups are disjoint, a question costs about the depth of the tree; where they overlap, it
//! costs about the answers. A question after values skips what has none of those still asked for.

use crate::model::Release;
use crate::model::Span;

/// Sets of values as bits, so many words each.
pub(super) fn words(values: usize) -> usize {
    values.div_ceil(64).max(1)
}

/// An index over the groups of one release.
pub(super) struct Stab {
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

impl Stab {
    /// An index over a release, for values numbered below `values`.
    pub(super) fn new(release: &Release, values: usize) -> Stab {
        let (attributes, words) = (release.regions.attributes(), words(values));
        let mut groups: Vec<u32> = (0..release.group_count() as u32).collect();
        let mut stab = Stab {
            attributes,
            words,
            nodes: Vec::new(),
            boxes: Vec::new(),
            values: Vec::new(),
            groups: Vec::new(),
            group_boxes: Vec::with_capacity(groups.len() * attributes),
            group_values: vec![0; groups.len() * words],
        };
        if !groups.is_empty() {
            let whole = smallest_box(release, &groups);
            stab.build(release, &whole, &mut groups, 0);
        }
        for (place, &group) in groups.iter().enumerate() {
            stab.group_boxes.extend_from_slice(release.region(group as usize));
            let bits = &mut stab.group_values[place * words..(place + 1) * words];
            release.group_values(group as usize).iter().for_each(|value| insert(bits, value.index()));
        }
        stab.groups = groups;
        stab.sum_values();
        stab
    }

    /// Calls `each` with every group that covers `point`, in the order of the tree.
    pub(super) fn each(&self, point: &[u32], mut each: impl FnMut(u32)) {
        self.walk(
            point,
            |_| true,
            |place| {
                each(self.groups[place]);
                true
            },
        );
    }

    /// Takes the values of the groups that cover `point` out of `missing`. Stops when none is left.
    pub(super) fn take_values(&self, point: &[u32], missing: &mut [u64]) {
        let missing = std::cell::RefCell::new(missing);
        let asked = |bits: &[u64]| bits.iter().zip(missing.borrow().iter()).any(|(have, want)| have & want != 0);
        self.walk(
            point,
            |node| asked(&self.values[node * self.words..(node + 1) * self.words]),
            |place| {
                let bits = &self.group_values[place * self.words..(place + 1) * self.words];
                let mut missing = missing.borrow_mut();
                missing.iter_mut().zip(bits).for_each(|(want, have)| *want &= !have);
                missing.iter().any(|&want| want != 0)
            },
        );
    }

    /// Visits the groups that cover `point` below nodes that `enter` lets through, until `visit` says no.
    fn walk(&self, point: &[u32], enter: impl Fn(usize) -> bool, mut visit: impl FnMut(usize) -> bool) {
        if self.nodes.is_empty() {
            return;
        }
        // Deep enough: every step down halves the groups.
        let mut stack = [0u32; 64];
        let mut depth = 1;
        while depth > 0 {
            depth -= 1;
            let index = stack[depth] as usize;
            let node = &self.nodes[index];
            if !covers(&self.boxes[index * self.attributes..(index + 1) * self.attributes], point) || !enter(index) {
                continue;
            }
            if node.right != 0 {
                stack[depth] = node.right;
                stack[depth + 1] = index as u32 + 1;
                depth += 2;
                continue;
            }
            for place in node.first as usize..node.last as usize {
                let region = &self.group_boxes[place * self.attributes..(place + 1) * self.attributes];
                if covers(region, point) && !visit(place) {
                    return;
                }
            }
        }
    }

    fn build(&mut self, release: &Release, whole: &[Span], groups: &mut [u32], first: u32) {
        let index = self.nodes.len();
        self.nodes.push(Node { right: 0, first, last: first + groups.len() as u32 });
        self.boxes.extend(smallest_box(release, groups));
        if groups.len() <= LEAF {
            return;
        }
        // Twice the middle of a box, so that it is whole.
        let middle = |group: u32, attribute: usize| {
            let span = release.region(group as usize)[attribute];
            u64::from(span.lo) + u64::from(span.hi)
        };
        let spread = |attribute: &usize| {
            let middles = groups.iter().map(|&group| middle(group, *attribute));
            let (lo, hi) = middles.fold((u64::MAX, 0), |(lo, hi), middle| (lo.min(middle), hi.max(middle)));
            (hi - lo) * 1_000_000 / (2 * u64::from(whole[*attribute].width()))
        };
        let widest = (0..self.attributes).max_by_key(|attribute| (spread(attribute), usize::MAX - attribute));
        let half = groups.len() / 2;
        if let Some(attribute) = widest {
            groups.select_nth_unstable_by_key(half, |&group| (middle(group, attribute), group));
        }
        let (left, right) = groups.split_at_mut(half);
        self.build(release, whole, left, first);
        self.nodes[index].right = self.nodes.len() as u32;
        self.build(release, whole, right, first + half as u32);
    }

    /// Gives every node the values of the groups below it; children stand behind their parents.
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

/// Puts a value into a set.
pub(super) fn insert(bits: &mut [u64], value: usize) {
    bits[value / 64] |= 1 << (value % 64);
}

/// The values of a set, ascending.
pub(super) fn members(bits: &[u64]) -> impl Iterator<Item = u32> {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        let mut rest = bits;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let lowest = rest.trailing_zeros();
                rest &= rest - 1;
                word as u32 * 64 + lowest
            })
        })
    })
}

fn covers(region: &[Span], point: &[u32]) -> bool {
    region.iter().zip(point).all(|(span, &code)| span.contains(code))
}

fn smallest_box(release: &Release, groups: &[u32]) -> Vec<Span> {
    let mut whole = vec![Span::EMPTY; release.regions.attributes()];
    for &group in groups {
        whole.iter_mut().zip(release.region(group as usize)).for_each(|(all, one)| *all = all.join(*one));
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Regions;
    use crate::model::Value;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
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
