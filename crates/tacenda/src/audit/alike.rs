//! The rows of a table by point, so that what holds for a point is asked once.
//!
//! A few attributes of many people leave far fewer points than people, and neighbours in this order ask neighbouring
//! parts of an index.

use crate::audit::knowledge::Knowledge;

/// Everyone in a release, those at one point next to each other.
pub(super) struct Alike {
    /// Rows of the table.
    rows: Vec<u32>,
    /// Where the rows of a point end.
    ends: Vec<u32>,
}

impl Alike {
    pub(super) fn new(knowledge: &Knowledge<'_>, release: usize) -> Alike {
        let attributes = knowledge.attributes();
        let mut point = vec![0; attributes];
        // What is equal has equal keys. Where others have the same one, a point is asked for more than once.
        let bits = (64 / attributes.max(1)).max(1) as u32;
        let mut keyed: Vec<(u64, u32)> = Vec::with_capacity(knowledge.people(release).len());
        for (row, _) in knowledge.people(release).iter().enumerate().filter(|(_, person)| **person != Knowledge::ABSENT)
        {
            knowledge.read_point(release, row, &mut point);
            let key = point.iter().fold(0u64, |key, &code| key.rotate_left(bits) ^ u64::from(code));
            keyed.push((key, row as u32));
        }
        keyed.sort_unstable();
        let rows: Vec<u32> = keyed.into_iter().map(|(_, row)| row).collect();
        let mut ends = Vec::new();
        let mut last = vec![u32::MAX; attributes];
        for (place, &row) in rows.iter().enumerate() {
            knowledge.read_point(release, row as usize, &mut point);
            if place > 0 && point != last {
                ends.push(place as u32);
            }
            last.copy_from_slice(&point);
        }
        if !rows.is_empty() {
            ends.push(rows.len() as u32);
        }
        Alike { rows, ends }
    }

    /// How many points there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The rows at a point.
    pub(super) fn rows(&self, point: usize) -> &[u32] {
        let start = if point == 0 { 0 } else { self.ends[point - 1] };
        &self.rows[start as usize..self.ends[point] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::sketch::table;

    #[test]
    fn everyone_stands_at_their_point_once() {
        let tables = [table("1/10/a 2/7/b 3/10/c 4/8/d 5/7/a")];
        let alike = Alike::new(&Knowledge::from_tables(&tables), 0);
        let mut points: Vec<&[u32]> = (0..alike.len()).map(|point| alike.rows(point)).collect();
        points.sort_unstable();
        assert_eq!(points, [&[0, 2][..], &[1, 4], &[3]]);
    }
}
