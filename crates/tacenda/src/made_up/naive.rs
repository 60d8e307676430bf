//! A plain Mondrian that anonymises each snapshot on its own: the target of the attacks.
//!
//! It is no policy of ours and knows no history. It cuts the table in two at the median of the
//! widest attribute, as long as both halves are k-anonymous and l-diverse, and publishes each leaf
//! with the smallest region that covers it. Each release taken alone keeps its promise.

use crate::model::{Membership, Quasi, Regions, Release, Schema, Span, Table};

/// What every group of a release must be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Naive {
    /// The least number of people.
    pub k: u32,
    /// The least diversity.
    pub l: u32,
    /// What diversity means.
    pub diversity: Diversity,
}

/// What l-diverse means.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Diversity {
    /// At least l distinct values.
    Distinct,
    /// No value is held by more than one in l.
    Frequency,
}

/// Fewer rows than this are divided on the thread that has them.
const SMALL: usize = 16_384;

impl Naive {
    /// A release of `table` alone. `None` if not even the whole table is anonymous enough.
    pub fn publish(&self, schema: &Schema, table: &Table, number: u32, label: &str) -> Option<(Release, Membership)> {
        let mondrian = Mondrian { naive: *self, quasi: &schema.quasi, table };
        let mut rows: Vec<u32> = (0..table.len() as u32).collect();
        let mut scratch = Scratch::new(table.values.len());
        if table.is_empty() || !mondrian.is_anonymous(&rows, &mut scratch) {
            return None;
        }
        let ends = mondrian.divide(&mut rows, &mut scratch);
        Some(mondrian.release(rows, &ends, number, label))
    }
}

struct Mondrian<'a> {
    naive: Naive,
    quasi: &'a [Quasi],
    table: &'a Table,
}

/// Counts per value, all zero between two uses.
struct Scratch {
    counts: Vec<u32>,
}

impl Scratch {
    fn new(values: usize) -> Scratch {
        Scratch { counts: vec![0; values] }
    }
}

impl Mondrian<'_> {
    /// Sorts `rows` by group, and returns the sizes of the groups.
    fn divide(&self, rows: &mut [u32], scratch: &mut Scratch) -> Vec<u32> {
        let Some(middle) = self.cut(rows, scratch) else {
            return vec![rows.len() as u32];
        };
        let (left, right) = rows.split_at_mut(middle);
        if left.len() + right.len() < SMALL {
            let mut sizes = self.divide(left, scratch);
            sizes.append(&mut self.divide(right, scratch));
            return sizes;
        }
        let values = scratch.counts.len();
        let (mut sizes, mut more) = rayon::join(
            || self.divide(left, &mut Scratch::new(values)),
            || self.divide(right, &mut Scratch::new(values)),
        );
        sizes.append(&mut more);
        sizes
    }

    /// Puts the rows of one half before those of the other, and returns their number. It takes the widest attribute
    /// that allows a cut, and of its cuts near the median the most even one.
    fn cut(&self, rows: &mut [u32], scratch: &mut Scratch) -> Option<usize> {
        if rows.len() < 2 * self.naive.k as usize {
            return None;
        }
        let spans: Vec<Span> = (0..self.quasi.len()).map(|attribute| self.extent(attribute, rows)).collect();
        let mut order: Vec<usize> = (0..spans.len()).filter(|&attribute| spans[attribute].width() > 1).collect();
        let openness = |attribute: &usize| {
            let quasi = &self.quasi[*attribute];
            quasi.openness(quasi.cover(spans[*attribute])) * quasi.weight
        };
        order.sort_by(|a, b| openness(b).total_cmp(&openness(a)).then(a.cmp(b)));
        for attribute in order {
            let codes = self.table.quasi(attribute);
            let mut sorted: Vec<u32> = rows.iter().map(|&row| codes[row as usize]).collect();
            let half = sorted.len() / 2;
            let median = *sorted.select_nth_unstable(half).1;
            let mut lines = lines_near(&self.quasi[attribute], spans[attribute], median);
            let left = |line: u32| sorted.iter().filter(|&&code| code < line).count();
            lines.sort_by_key(|&line| (left(line).abs_diff(half), line));
            for line in lines {
                let middle = partition(rows, |row| codes[row as usize] < line);
                if self.is_anonymous(&rows[..middle], scratch) && self.is_anonymous(&rows[middle..], scratch) {
                    return Some(middle);
                }
            }
        }
        None
    }

    fn extent(&self, attribute: usize, rows: &[u32]) -> Span {
        let codes = self.table.quasi(attribute);
        let (lo, hi) = rows.iter().fold((u32::MAX, 0), |(lo, hi), &row| {
            let code = codes[row as usize];
            (lo.min(code), hi.max(code))
        });
        Span::new(lo, hi)
    }

    fn is_anonymous(&self, rows: &[u32], scratch: &mut Scratch) -> bool {
        if rows.len() < self.naive.k as usize || rows.len() < self.naive.l as usize {
            return false;
        }
        let sensitive = self.table.sensitive();
        let (mut distinct, mut most) = (0u32, 0u32);
        for &row in rows {
            let count = &mut scratch.counts[sensitive[row as usize].index()];
            distinct += u32::from(*count == 0);
            *count += 1;
            most = most.max(*count);
        }
        rows.iter().for_each(|&row| scratch.counts[sensitive[row as usize].index()] = 0);
        match self.naive.diversity {
            Diversity::Distinct => distinct >= self.naive.l,
            Diversity::Frequency => u64::from(most) * u64::from(self.naive.l) <= rows.len() as u64,
        }
    }

    fn release(&self, mut rows: Vec<u32>, sizes: &[u32], number: u32, label: &str) -> (Release, Membership) {
        let sensitive = self.table.sensitive();
        let public = self.table.public();
        let mut release = Release {
            number,
            label: label.into(),
            regions: Regions::new(self.quasi.len()),
            counterfeits: vec![0; sizes.len()],
            public_texts: self.table.public_texts.clone(),
            values: self.table.values.clone(),
            ..Release::default()
        };
        let mut start = 0;
        for &size in sizes {
            let group = &mut rows[start..start + size as usize];
            start += size as usize;
            group.sort_unstable_by_key(|&row| (sensitive[row as usize], row));
            let region: Vec<Span> = (0..self.quasi.len())
                .map(|attribute| self.quasi[attribute].cover(self.extent(attribute, group)))
                .collect();
            release.regions.push(&region);
            release.ends.push(start as u32);
        }
        release.sensitive = rows.iter().map(|&row| sensitive[row as usize]).collect();
        if !public.is_empty() {
            release.public = rows.iter().map(|&row| public[row as usize]).collect();
            // Dealt in a separate random order, so that public cells are not linked to sensitive values.
            for group in 0..sizes.len() {
                let rows = release.group_rows(group);
                release.public[rows].sort_unstable();
            }
        }
        let policy_groups = (0..sizes.len() as u32).collect();
        (release, Membership { rows, policy_groups, withheld: Vec::new() })
    }
}

/// Codes near the median before which an attribute may be cut: the ends of the median's cell on the
/// grid, or in a tree the borders between the children of the lowest node over `span`.
fn lines_near(quasi: &Quasi, span: Span, median: u32) -> Vec<u32> {
    let inside = |line: &u32| span.lo < *line && *line <= span.hi;
    if let Some(tree) = quasi.nodes() {
        return tree.children(tree.cover(span)).iter().map(|child| child.lo).filter(inside).collect();
    }
    let cell = quasi.cover(Span::exact(median));
    [cell.lo, cell.hi + 1].into_iter().filter(inside).collect()
}

/// Puts the rows that stand `left` before the others, each side in its old order.
fn partition(rows: &mut [u32], left: impl Fn(u32) -> bool) -> usize {
    let others: Vec<u32> = rows.iter().copied().filter(|&row| !left(row)).collect();
    let mut middle = 0;
    for index in 0..rows.len() {
        let row = rows[index];
        if left(row) {
            rows[middle] = row;
            middle += 1;
        }
    }
    rows[middle..].copy_from_slice(&others);
    middle
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::people::Churn;
    use crate::made_up::{census, hospital};

    fn check(naive: Naive, schema: &Schema, table: &Table) -> Release {
        let (release, membership) = naive.publish(schema, table, 1, "first").unwrap();
        let mut seen = vec![false; table.len()];
        for group in 0..release.group_count() {
            let values = release.group_values(group);
            assert!(values.is_sorted() && values.len() >= naive.k as usize);
            let most = values.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap();
            match naive.diversity {
                Diversity::Distinct => assert!(release.value_set(group).len() >= naive.l as usize),
                Diversity::Frequency => assert!(most * naive.l as usize <= values.len()),
            }
            for row in release.group_rows(group) {
                let person = membership.person(row).unwrap();
                assert!(!std::mem::replace(&mut seen[person.index()], true), "everyone once");
                assert_eq!(release.sensitive[row], table.sensitive()[person.index()]);
                for (attribute, span) in release.region(group).iter().enumerate() {
                    assert!(span.contains(table.quasi(attribute)[person.index()]));
                    assert!(schema.quasi[attribute].admits(*span));
                }
            }
        }
        assert!(seen.into_iter().all(|seen| seen));
        release
    }

    #[test]
    fn each_release_alone_is_anonymous_and_diverse() {
        let generated = hospital::snapshots(3_000, 1, 4);
        let table = generated.tables().next().unwrap();
        for diversity in [Diversity::Distinct, Diversity::Frequency] {
            let release = check(Naive { k: 4, l: 4, diversity }, generated.schema(), &table);
            assert!(release.group_count() > 250, "{} groups", release.group_count());
        }
    }

    #[test]
    fn a_table_that_is_not_diverse_is_not_published() {
        let generated = census::snapshots(30, 1, Churn::of(0.0), 1);
        let table = generated.tables().next().unwrap();
        let naive = Naive { k: 2, l: 40, diversity: Diversity::Distinct };
        assert_eq!(naive.publish(generated.schema(), &table, 1, "first"), None);
    }

    #[test]
    fn threads_change_nothing() {
        let generated = census::snapshots(40_000, 1, Churn::of(0.0), 1);
        let table = generated.tables().next().unwrap();
        let naive = Naive { k: 10, l: 10, diversity: Diversity::Frequency };
        let many = check(naive, generated.schema(), &table);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let one = pool.install(|| naive.publish(generated.schema(), &table, 1, "first").unwrap().0);
        assert_eq!(many, one);
    }
}
