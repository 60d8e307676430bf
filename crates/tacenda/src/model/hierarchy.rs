//! A tree of labels over an attribute's values.
//!
//! Leaves are numbered from left to right, in the order of the file. So every node is a run of leaf codes, and the
//! lowest common ancestor of a set of leaves is that of its first and last leaf. Trees may be unbalanced: a label that
//! is repeated along a row of the file is one node.

use crate::model::Span;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The label of a value that was not recorded. It is an ordinary leaf, never a wildcard.
pub const NULL: &str = "NULL";

/// The label of every root.
pub const ROOT: &str = "*";

/// A rooted tree with ordered leaves. Node 0 is the root; nodes are in depth-first order.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Hierarchy {
    labels: Vec<String>,
    parents: Vec<u32>,
    spans: Vec<Span>,
    heights: Vec<u32>,
    leaves: Vec<u32>,
    by_label: FxHashMap<String, u32>,
}

/// What is wrong with the rows of a hierarchy. `line` counts from 1.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HierarchyError {
    /// No rows at all.
    #[error("the hierarchy is empty; write one line per value: value;group;…;*")]
    Empty,
    /// A row with more or fewer levels than the first.
    #[error("line {line} has {found} levels, the first line has {wanted}; give every line the same number")]
    Ragged {
        /// The line.
        line: usize,
        /// Its number of levels.
        found: usize,
        /// The number of levels of the first line.
        wanted: usize,
    },
    /// The same leaf twice.
    #[error("line {line} repeats a value of line {first}; list every value once")]
    Repeated {
        /// The second line.
        line: usize,
        /// The first line.
        first: usize,
    },
    /// A label with two parents, or one that is both a value and a group.
    #[error("line {line}, level {level}: this label already names another node; no label may name two")]
    TwoPlaces {
        /// The line.
        line: usize,
        /// The level, 0 for the value itself.
        level: usize,
    },
    /// An empty label, or one that could not be read back from a release.
    #[error("line {line}, level {level}: a label may not be empty or * below the root")]
    BadLabel {
        /// The line.
        line: usize,
        /// The level, 0 for the value itself.
        level: usize,
    },
}

impl Hierarchy {
    /// A root with the given values directly below it.
    pub fn flat<S: Into<String>>(values: impl IntoIterator<Item = S>) -> Result<Hierarchy, HierarchyError> {
        let rows: Vec<Vec<String>> = values.into_iter().map(|value| vec![value.into(), ROOT.into()]).collect();
        Hierarchy::from_rows(&rows)
    }

    /// Reads rows in ARX's layout: the value, then its ancestors from the nearest to the root. If the last labels are
    /// not all the same, a root is added above them.
    pub fn from_rows(rows: &[Vec<String>]) -> Result<Hierarchy, HierarchyError> {
        let wanted = rows.first().ok_or(HierarchyError::Empty)?.len();
        let common_root = rows.iter().all(|row| row.last() == rows[0].last()) && wanted > 1;
        let mut building = Building::default();
        for (index, row) in rows.iter().enumerate() {
            let line = index + 1;
            if row.len() != wanted {
                return Err(HierarchyError::Ragged { line, found: row.len(), wanted });
            }
            building.add(line, row, common_root)?;
        }
        Ok(building.finish())
    }

    /// The same tree with a leaf `NULL` as the root's last child, unless it has one already.
    pub fn with_null(self) -> Hierarchy {
        if self.by_label.contains_key(NULL) {
            return self;
        }
        let mut labels = self.labels;
        let mut parents = self.parents;
        labels.push(NULL.to_string());
        parents.push(0);
        Hierarchy::index(labels, parents)
    }

    /// The same tree without a leaf `NULL`.
    pub fn without_null(&self) -> Result<Hierarchy, HierarchyError> {
        let is_value = |(code, _): &(u32, Vec<String>)| self.null() != Some(*code);
        let rows: Vec<Vec<String>> = (0..).zip(self.rows()).filter(is_value).map(|(_, row)| row).collect();
        Hierarchy::from_rows(&rows)
    }

    /// The rows from which [`Hierarchy::from_rows`] makes this tree, in the order of the leaves. A leaf at a higher
    /// level repeats its label.
    pub fn rows(&self) -> Vec<Vec<String>> {
        let levels = self.heights[0].max(1) as usize + 1;
        let row = |&leaf: &u32| {
            let mut ancestors = Vec::with_capacity(levels);
            let mut node = leaf;
            while node != 0 {
                ancestors.push(self.labels[node as usize].clone());
                node = self.parents[node as usize];
            }
            let missing = levels - 1 - ancestors.len();
            let mut row = vec![self.labels[leaf as usize].clone(); missing];
            row.append(&mut ancestors);
            row.push(self.labels[0].clone());
            row
        };
        self.leaves.iter().map(row).collect()
    }

    /// This tree with the nodes of `before` in their order and the new ones last below their parents. The error says,
    /// in words, what is no growth.
    pub(super) fn grown_from(&self, before: &Hierarchy) -> Result<Hierarchy, String> {
        if before.is_flat() && !self.is_flat() {
            return Err("a list of values cannot become a tree within a series".into());
        }
        let parent_label = |tree: &Hierarchy, node: usize| match tree.parents[node] {
            0 => ROOT.to_string(),
            parent => tree.labels[parent as usize].clone(),
        };
        for node in 1..before.labels.len() {
            let stays = self.by_label.get(&before.labels[node]).is_some_and(|&now| {
                let now = now as usize;
                parent_label(self, now) == parent_label(before, node)
                    && (self.heights[now] == 0) == (before.heights[node] == 0)
            });
            if !stays {
                return Err("a value or a node of the last release is gone or has another place".into());
            }
        }
        let (mut labels, mut parents) = (before.labels.clone(), before.parents.clone());
        let mut places = before.by_label.clone();
        // The root may have had a label that is a value now.
        places.retain(|_, node| *node != 0);
        for node in 1..self.labels.len() {
            let label = &self.labels[node];
            if !places.contains_key(label) {
                places.insert(label.clone(), labels.len() as u32);
                labels.push(label.clone());
                parents.push(match self.parents[node] {
                    0 => 0,
                    parent => places[&self.labels[parent as usize]],
                });
            }
        }
        Ok(Hierarchy::index(labels, parents))
    }

    /// The leaves of every inner node here and in a tree that grew from this one, sorted; none for a list.
    pub(super) fn moved_nodes(&self, grown: &Hierarchy) -> Vec<(Span, Span)> {
        if self.is_flat() {
            return Vec::new();
        }
        let now = |node: usize| if node == 0 { 0 } else { grown.by_label[&self.labels[node]] as usize };
        let inner = (0..self.labels.len()).filter(|&node| self.heights[node] > 0);
        let mut nodes: Vec<(Span, Span)> = inner.map(|node| (self.spans[node], grown.spans[now(node)])).collect();
        // In depth-first order, the highest of several nodes over the same leaves comes first; that one is printed.
        nodes.sort_by_key(|(old, _)| (old.lo, old.hi));
        nodes.dedup_by_key(|(old, _)| *old);
        nodes
    }

    /// The first leaf of every node so many steps below the root, and every leaf that is nearer to the root.
    pub(super) fn cut(&self, depth: u32) -> Vec<u32> {
        let mut depths = vec![0; self.labels.len()];
        let mut starts = Vec::new();
        for node in 1..self.labels.len() {
            // A parent comes before its children.
            depths[node] = depths[self.parents[node] as usize] + 1;
            if depths[node] == depth || depths[node] < depth && self.heights[node] == 0 {
                starts.push(self.spans[node].lo);
            }
        }
        starts
    }

    /// How many leaves there are.
    pub fn leaf_count(&self) -> u32 {
        self.leaves.len() as u32
    }

    /// Whether there is nothing between the root and the leaves.
    pub fn is_flat(&self) -> bool {
        self.heights[0] <= 1
    }

    /// The length of the longest path from the root down to a leaf.
    pub fn height(&self) -> u32 {
        self.heights[0]
    }

    /// The code of the leaf with this label.
    pub fn leaf(&self, label: &str) -> Option<u32> {
        let node = *self.by_label.get(label)?;
        let span = self.spans[node as usize];
        (self.heights[node as usize] == 0).then_some(span.lo)
    }

    /// The label of a leaf.
    pub fn leaf_label(&self, code: u32) -> &str {
        &self.labels[self.leaves[code as usize] as usize]
    }

    /// The code of the leaf `NULL`, if there is one.
    pub fn null(&self) -> Option<u32> {
        self.leaf(NULL)
    }

    /// The leaves below the node with this label; the root also answers to `*`.
    pub fn node_span(&self, label: &str) -> Option<Span> {
        if label == ROOT {
            return Some(self.spans[0]);
        }
        Some(self.spans[*self.by_label.get(label)? as usize])
    }

    /// The label of the node that covers exactly `span`: the leaf itself, `*` for the root, or the highest of several
    /// nodes over the same leaves.
    pub fn node_label(&self, span: Span) -> Option<&str> {
        if span.lo == span.hi {
            return Some(self.leaf_label(span.lo));
        }
        let node = self.ancestor(span);
        let label = if node == 0 { ROOT } else { self.labels[node as usize].as_str() };
        (self.spans[node as usize] == span).then_some(label)
    }

    /// The leaves below the lowest common ancestor of `span`'s ends.
    pub fn cover(&self, span: Span) -> Span {
        self.spans[self.ancestor(span) as usize]
    }

    /// The leaves below the children of the lowest common ancestor from the one with `span`'s first leaf to the one with
    /// its last: what is left of the ancestor if it is cut between its children.
    pub fn hull(&self, span: Span) -> Span {
        if span.lo == span.hi {
            return span;
        }
        let whole = self.cover(span);
        let child = |leaf: u32| {
            let mut node = self.leaves[leaf as usize] as usize;
            while self.spans[self.parents[node] as usize] != whole {
                node = self.parents[node] as usize;
            }
            self.spans[node]
        };
        child(span.lo).join(child(span.hi))
    }

    /// The height of the lowest common ancestor of `span`'s ends: 0 for a single leaf.
    pub fn cover_height(&self, span: Span) -> u32 {
        if span.lo == span.hi {
            return 0;
        }
        self.heights[self.ancestor(span) as usize]
    }

    /// The smallest node that covers `span` and at least `leaves` leaves; the root if none does.
    pub fn cover_at_least(&self, span: Span, leaves: u32) -> Span {
        let mut node = self.ancestor(span) as usize;
        while self.spans[node].width() < leaves && node != 0 {
            node = self.parents[node] as usize;
        }
        self.spans[node]
    }

    /// The spans of the children of the node that covers `span`, left to right; empty for a leaf or
    /// where no node covers exactly `span`.
    pub fn children(&self, span: Span) -> Vec<Span> {
        let node = self.ancestor(span);
        if self.spans[node as usize] != span {
            return Vec::new();
        }
        // In a chain of nodes over the same leaves, go down to the one that branches.
        let mut node = node as usize;
        loop {
            let children: Vec<usize> =
                (node + 1..self.parents.len()).filter(|&child| self.parents[child] as usize == node).collect();
            match children.as_slice() {
                [] => return Vec::new(),
                [only] => node = *only,
                many => return many.iter().map(|&child| self.spans[child]).collect(),
            }
        }
    }

    /// For every pair of neighbouring leaves, the depth below the root of their lowest common
    /// ancestor: a cut between two leaves with depth 0 lies between two children of the root.
    pub fn cut_depths(&self) -> Vec<u32> {
        (1..self.leaf_count())
            .map(|code| {
                let mut node = self.ancestor(Span::new(code - 1, code));
                let mut depth = 0;
                while node != 0 {
                    node = self.parents[node as usize];
                    depth += 1;
                }
                depth
            })
            .collect()
    }

    /// The highest node whose span is the smallest that covers `span`.
    fn ancestor(&self, span: Span) -> u32 {
        let mut node = self.leaves[span.lo as usize];
        while self.spans[node as usize].hi < span.hi {
            node = self.parents[node as usize];
        }
        // In a chain of nodes over the same leaves, climb to the highest, which is the one that is printed.
        while node != 0 && self.spans[self.parents[node as usize] as usize] == self.spans[node as usize] {
            node = self.parents[node as usize];
        }
        node
    }

    /// Renumbers the nodes depth first and works out spans and heights.
    fn index(labels: Vec<String>, parents: Vec<u32>) -> Hierarchy {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); labels.len()];
        for (node, &parent) in parents.iter().enumerate().skip(1) {
            children[parent as usize].push(node as u32);
        }
        let count = labels.len();
        let mut tree = Hierarchy {
            labels: Vec::with_capacity(count),
            parents: Vec::with_capacity(count),
            spans: vec![Span::EMPTY; count],
            heights: vec![0; count],
            leaves: Vec::new(),
            by_label: FxHashMap::default(),
        };
        let mut stack = vec![(0u32, 0u32)];
        while let Some((old, parent)) = stack.pop() {
            let node = tree.labels.len() as u32;
            tree.labels.push(labels[old as usize].clone());
            tree.parents.push(parent);
            if children[old as usize].is_empty() {
                tree.spans[node as usize] = Span::exact(tree.leaves.len() as u32);
                tree.leaves.push(node);
            }
            stack.extend(children[old as usize].iter().rev().map(|&child| (child, node)));
        }
        for node in (1..count).rev() {
            let parent = tree.parents[node] as usize;
            tree.spans[parent] = tree.spans[parent].join(tree.spans[node]);
            tree.heights[parent] = tree.heights[parent].max(tree.heights[node] + 1);
        }
        tree.by_label = tree.labels.iter().enumerate().map(|(node, label)| (label.clone(), node as u32)).collect();
        tree
    }
}

/// A tree while its rows are being read; nodes in the order they are met.
#[derive(Default)]
struct Building {
    labels: Vec<String>,
    parents: Vec<u32>,
    /// Per node, whether something stands below it.
    is_inner: Vec<bool>,
    /// Per label, its node, and for a leaf its line.
    seen: FxHashMap<String, (u32, Option<usize>)>,
}

impl Building {
    fn add(&mut self, line: usize, row: &[String], common_root: bool) -> Result<(), HierarchyError> {
        if self.labels.is_empty() {
            let root = if common_root { row[row.len() - 1].clone() } else { ROOT.to_string() };
            self.seen.insert(root.clone(), (0, None));
            self.labels.push(root);
            self.parents.push(0);
            self.is_inner.push(true);
        }
        let below_root = if common_root { &row[..row.len() - 1] } else { row };
        let mut parent = 0;
        for (level, label) in below_root.iter().enumerate().rev() {
            let is_leaf = level == 0;
            let repeats_parent = label == &self.labels[parent as usize];
            if label.is_empty() || (label == ROOT && !(repeats_parent && parent == 0 && !is_leaf)) {
                return Err(HierarchyError::BadLabel { line, level });
            }
            if repeats_parent && (parent != 0 || !is_leaf) {
                // In an unbalanced branch the label repeats, so the node stays the same. If this is the value itself,
                // the node is a leaf.
                if is_leaf {
                    self.mark_leaf(line, label)?;
                }
                continue;
            }
            parent = match self.seen.get(label) {
                None => self.push(label, parent),
                Some(&(_, Some(first))) if is_leaf => return Err(HierarchyError::Repeated { line, first }),
                Some(&(node, None)) if !is_leaf && self.parents[node as usize] == parent && node != 0 => node,
                Some(_) => return Err(HierarchyError::TwoPlaces { line, level }),
            };
            if is_leaf {
                self.mark_leaf(line, label)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, label: &str, parent: u32) -> u32 {
        let node = self.labels.len() as u32;
        self.labels.push(label.to_string());
        self.parents.push(parent);
        self.is_inner.push(false);
        self.is_inner[parent as usize] = true;
        self.seen.insert(label.to_string(), (node, None));
        node
    }

    fn mark_leaf(&mut self, line: usize, label: &str) -> Result<(), HierarchyError> {
        let entry = self.seen.get_mut(label).expect("the label was just met");
        if let Some(first) = entry.1 {
            return Err(HierarchyError::Repeated { line, first });
        }
        if entry.0 != 0 && self.is_inner[entry.0 as usize] {
            return Err(HierarchyError::TwoPlaces { line, level: 0 });
        }
        entry.1 = Some(line);
        Ok(())
    }

    fn finish(self) -> Hierarchy {
        Hierarchy::index(self.labels, self.parents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(rows: &[&str]) -> Result<Hierarchy, HierarchyError> {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
        Hierarchy::from_rows(&rows)
    }

    #[test]
    fn leaves_are_numbered_so_that_every_node_is_a_run() {
        let tree = tree(&["a;x;*", "b;y;*", "c;x;*", "d;d;*"]).unwrap();
        assert_eq!(["a", "c", "b", "d"].map(|leaf| tree.leaf(leaf).unwrap()), [0, 1, 2, 3]);
        assert_eq!(tree.node_span("x"), Some(Span::new(0, 1)));
        assert_eq!(tree.node_label(Span::new(0, 1)), Some("x"));
        assert_eq!(tree.node_label(Span::new(0, 3)), Some("*"));
        assert_eq!(tree.node_label(Span::new(1, 2)), None);
        assert_eq!(tree.cover(Span::new(1, 2)), Span::new(0, 3));
        assert_eq!((tree.height(), tree.cover_height(Span::new(0, 1))), (2, 1));
        assert_eq!(tree.children(Span::new(0, 3)), [Span::new(0, 1), Span::exact(2), Span::exact(3)]);
        assert_eq!(tree.cut_depths(), [1, 0, 0]);
    }

    /// As many leaves as a country has postcodes would never be read if each looked at all others.
    #[test]
    fn a_large_tree_is_read_in_one_pass() {
        let rows =
            (0..300_000).map(|leaf| vec![format!("{leaf:06}"), format!("{:03}***", leaf / 1000), "*".to_string()]);
        let tree = Hierarchy::from_rows(&rows.collect::<Vec<_>>()).unwrap();
        assert_eq!((tree.leaf_count(), tree.node_span("007***")), (300_000, Some(Span::new(7_000, 7_999))));
    }

    #[test]
    fn rows_make_the_same_tree_again() {
        for rows in [&["a;x;*", "b;y;*", "c;x;*", "d;d;*"][..], &["a", "b"], &["a;p;x", "b;q;y"], &["a;Any"]] {
            let tree = tree(rows).unwrap();
            assert_eq!(Hierarchy::from_rows(&tree.rows()), Ok(tree.clone()));
            assert_eq!(Hierarchy::from_rows(&tree.clone().with_null().rows()), Ok(tree.with_null()));
        }
    }

    #[test]
    fn null_becomes_the_last_child_of_the_root() {
        let tree = tree(&["a;x;*", "b;y;*"]).unwrap().with_null();
        assert_eq!(tree.null(), Some(2));
        assert_eq!(tree.clone().with_null(), tree);
    }

    #[test]
    fn bad_rows_are_named() {
        assert_eq!(tree(&[]), Err(HierarchyError::Empty));
        assert_eq!(tree(&["a;x;*", "b;*"]), Err(HierarchyError::Ragged { line: 2, found: 2, wanted: 3 }));
        assert_eq!(tree(&["a;x;*", "a;x;*"]), Err(HierarchyError::Repeated { line: 2, first: 1 }));
        assert_eq!(tree(&["a;x;*", "b;a;*"]), Err(HierarchyError::TwoPlaces { line: 2, level: 1 }));
        assert_eq!(tree(&["a;x;p;*", "b;x;q;*"]), Err(HierarchyError::TwoPlaces { line: 2, level: 1 }));
        assert_eq!(tree(&["a;x;*", "*;x;*"]), Err(HierarchyError::BadLabel { line: 2, level: 0 }));
        assert_eq!(tree(&["a;;*"]), Err(HierarchyError::BadLabel { line: 1, level: 1 }));
    }

    #[test]
    fn a_single_column_gets_a_root() {
        let tree = tree(&["a", "b"]).unwrap();
        assert_eq!((tree.leaf_count(), tree.is_flat()), (2, true));
    }
}
