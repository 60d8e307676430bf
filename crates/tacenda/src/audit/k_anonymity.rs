//! What two releases give away though each is k-anonymous.
//!
//! The promise speaks of one release, and the gate checks it there. Someone with two of them, who knows
//! whom they look for, can lay the regions over each other: who stands in both lies where the two regions
//! meet, and the more they differ the fewer people share that place. And where a group stayed but for one
//! person who came or went, a side of its region that moved is that person's value. [`series_risk`] counts
//! both; it names nobody.

use crate::model::History;
use crate::model::Membership;
use crate::model::Release;
use crate::model::Schema;
use crate::model::Span;
use crate::model::Table;
use rustc_hash::FxHashMap;
use std::fmt;

/// What someone who has the last release and this one learns beyond either. Counts only.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SeriesRisk {
    /// People who stand in both releases.
    pub in_both: u32,
    /// Those of them whose two regions meet in a place that fewer than `k` people share.
    pub below_k: u32,
    /// Those of them who are alone there.
    pub alone: u32,
    /// The smallest number of people who share such a place; 0 if nobody stands in both.
    pub smallest: u32,
    /// Groups that exactly one person joined or left and whose region moved on some side: the moved
    /// side is that person's value.
    pub moved_by_one: u32,
}

impl fmt::Display for SeriesRisk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "whoever compares this release with the last one finds {} of {} people among fewer than k, {} of them alone, and {} \
             groups whose boundary gives one person's value away",
            self.below_k, self.in_both, self.alone, self.moved_by_one
        )
    }
}

/// Compares the last release with this one, for `k`: how many people share the place where their two
/// regions meet, and how many groups one person moved.
pub fn series_risk(
    k: u32,
    schema: &Schema,
    history: &History,
    table: &Table,
    release: &Release,
    membership: &Membership,
) -> SeriesRisk {
    if history.releases == 0 {
        return SeriesRisk::default();
    }
    let groups = groups_of(release, membership, table.len());
    let attributes = schema.quasi.len();
    // Who stands in both, by old and new group: the number of people per pair of groups.
    let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (group, record) in groups.iter().zip(history.align(table)) {
        let record = record.filter(|record| record.is_published() && record.last_release == history.releases);
        if let Some((group, record)) = group.zip(record) {
            *pairs.entry((record.group, group)).or_default() += 1;
        }
    }
    // Two pairs of groups whose regions meet in the same place cannot be told apart by it.
    let mut places: FxHashMap<Vec<Span>, u32> = FxHashMap::default();
    for (&(old, new), &people) in &pairs {
        let regions = history.groups.regions.get(old as usize).iter().zip(release.region(new as usize));
        let place: Vec<Span> = regions.take(attributes).map(|(old, new)| old.meet(*new)).collect();
        *places.entry(place).or_default() += people;
    }
    let mut risk = SeriesRisk { in_both: pairs.values().sum(), ..SeriesRisk::default() };
    risk.smallest = places.values().copied().min().unwrap_or(0);
    risk.below_k = places.values().filter(|&&people| people < k).sum();
    risk.alone = places.values().filter(|&&people| people == 1).sum();
    risk.moved_by_one = moved_by_one(history, release, &pairs);
    risk
}

/// Groups that are an old group but for one person, and whose region is not the old one.
fn moved_by_one(history: &History, release: &Release, pairs: &FxHashMap<(u32, u32), u32>) -> u32 {
    let mut old_sizes = vec![0u32; history.groups.regions.len()];
    for record in history.records.iter().filter(|record| record.last_release == history.releases) {
        old_sizes[record.group as usize] += u32::from(record.is_published());
    }
    let moved = pairs.iter().filter(|&(&(old, new), &people)| {
        let left = old_sizes[old as usize] - people;
        let joined = release.people(new as usize).saturating_sub(people);
        left + joined == 1 && history.groups.regions.get(old as usize) != release.region(new as usize)
    });
    moved.count() as u32
}

/// The group of each row of the table in a release.
fn groups_of(release: &Release, membership: &Membership, rows: usize) -> Vec<Option<u32>> {
    let mut groups = vec![None; rows];
    for group in 0..release.group_count() {
        for row in release.group_rows(group) {
            if let Some(person) = membership.person(row) {
                groups[person.index()] = Some(group as u32);
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Domain;
    use crate::model::Published;
    use crate::model::Quasi;
    use crate::model::RecordKey;
    use crate::model::Regions;
    use crate::model::Value;
    use crate::model::Values;

    fn schema() -> Schema {
        Schema::new("id", vec![Quasi::new("age", Domain::Integer { lo: 0, hi: 100 })], vec![])
    }

    /// People as `(key, age)`, ascending by key.
    fn table(people: &[(u64, u32)]) -> Table {
        let keys = people.iter().map(|&(key, _)| RecordKey { hi: 0, lo: key }).collect();
        let ages = people.iter().map(|&(_, age)| age).collect();
        Table::new(keys, vec![ages], vec![Value(0); people.len()], Values::of(["-"]), vec![], vec![])
    }

    /// A release of groups given as the rows in them and the region they are published with.
    fn release(number: u32, groups: &[(&[u32], [u32; 2])]) -> (Release, Membership) {
        let mut release = Release { number, regions: Regions::new(1), ..Release::default() };
        let mut membership = Membership::default();
        for (index, (rows, [lo, hi])) in groups.iter().enumerate() {
            membership.rows.extend_from_slice(rows);
            membership.policy_groups.push(index as u32);
            release.ends.push(membership.rows.len() as u32);
            release.regions.push(&[Span::new(*lo, *hi)]);
            release.counterfeits.push(rows.iter().filter(|&&row| row == Membership::COUNTERFEIT).count() as u32);
        }
        release.sensitive = vec![Value(0); membership.rows.len()];
        (release, membership)
    }

    #[test]
    fn two_releases_meet_where_few_stand() {
        let people = [(1, 20), (2, 25), (3, 50), (4, 55), (5, 60), (6, 65)];
        let before = table(&people);
        let (first, who) = release(1, &[(&[0, 1, 2], [20, 50]), (&[3, 4, 5], [55, 65])]);
        let history = History::default().after(&before, &first, &who, Published::default());
        assert_eq!(series_risk(2, &schema(), &History::default(), &before, &first, &who), SeriesRisk::default());
        // The same groups again: nothing new. Then other groups: person 3 is alone in both.
        let (same, who) = release(2, &[(&[0, 1, 2], [20, 50]), (&[3, 4, 5], [55, 65])]);
        let risk = series_risk(2, &schema(), &history, &before, &same, &who);
        assert_eq!(risk, SeriesRisk { in_both: 6, smallest: 3, ..SeriesRisk::default() });
        let (other, who) = release(2, &[(&[0, 1], [20, 25]), (&[2, 3, 4, 5], [50, 65])]);
        let risk = series_risk(3, &schema(), &history, &before, &other, &who);
        assert_eq!(risk, SeriesRisk { in_both: 6, below_k: 3, alone: 1, smallest: 1, moved_by_one: 2 });
    }

    #[test]
    fn a_leaver_at_the_edge_moves_the_region() {
        let (first, who) = release(1, &[(&[0, 1, 2], [20, 50]), (&[3, 4], [55, 60])]);
        let before = table(&[(1, 20), (2, 25), (3, 50), (4, 55), (5, 60)]);
        let history = History::default().after(&before, &first, &who, Published::default());
        let after = table(&[(1, 20), (2, 25), (4, 55), (5, 60)]);
        let (shrunk, who) = release(2, &[(&[0, 1], [20, 25]), (&[2, 3], [55, 60])]);
        assert_eq!(series_risk(2, &schema(), &history, &after, &shrunk, &who).moved_by_one, 1);
        // Published as before, the leaver leaves no trace in the region.
        let (kept, who) = release(2, &[(&[0, 1], [20, 50]), (&[2, 3], [55, 60])]);
        assert_eq!(series_risk(2, &schema(), &history, &after, &kept, &who).moved_by_one, 0);
    }
}
