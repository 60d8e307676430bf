//! Rows by the group each is in: counted, then laid out one group after another.

/// The rows of every group, ascending within a group.
pub(super) struct ByGroup {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

impl ByGroup {
    /// Sorts rows into `groups` groups. Rows of no group are left out.
    pub(super) fn new(groups: usize, of_rows: impl Iterator<Item = Option<u32>> + Clone) -> ByGroup {
        let mut ends = vec![0u32; groups];
        of_rows.clone().flatten().for_each(|group| ends[group as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            (*end, sum) = (sum, sum + *end);
        }
        let mut rows = vec![0u32; sum as usize];
        for (row, group) in (0..).zip(of_rows) {
            if let Some(group) = group {
                let end = &mut ends[group as usize];
                rows[*end as usize] = row;
                *end += 1;
            }
        }
        ByGroup { rows, ends }
    }

    /// The rows of each group, in the order of the groups.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.rows[std::mem::replace(&mut start, end as usize)..end as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_stands_in_their_group_once() {
        let groups = [Some(2), None, Some(0), Some(2), Some(3)];
        let sorted = ByGroup::new(5, groups.into_iter());
        assert_eq!(sorted.iter().collect::<Vec<_>>(), [&[2][..], &[], &[0, 3], &[4], &[]]);
        assert_eq!(ByGroup::new(0, std::iter::empty()).iter().count(), 0);
    }
}
