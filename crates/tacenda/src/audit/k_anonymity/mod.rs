//! What a series reveals although each release is k-anonymous.
//!
//! The promise is about one release, and the gate checks it there. A reader who has several releases and knows whom to
//! look for can compare them (science A1.6):
//!
//! - A person's point lies in the intersection of their regions. The more the regions differ, the fewer people share
//!   that place. The history keeps everyone's place and the fewest people who ever shared it, because a later release
//!   does not undo what was learned.
//! - The rows that a component gained or lost since the last release belong to arrivals and departures. The auditor's
//!   own check counts this, with full knowledge of the truth.
//! - If a group changed by one person only and its region moved, the side that moved is that person's value.
//!
//! [`account`] counts all three; it names nobody.
//!
//! # Not measured
//! Releases that were adopted without their tables: nobody's place in them is known, and the report says so.
//! Differences between releases that are not consecutive. If a person's quasi values changed so that their regions do
//! not overlap, their place starts again with the later region.

#[cfg(test)]
mod naive;

use crate::audit::by_group::ByGroup;
use crate::audit::knowledge::Knowledge;
use crate::audit::second_look::last_release;
use crate::audit::{Attacker, Budget, Check, Evidence, Fault, Series, Thresholds, Traces, examine_only};
use crate::model::{
    History, Membership, Met, Record, RecordKey, Regions, Release, Row, Span, Table, Terms, counted, number, people,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;

/// The fact of the history that counts published releases whose people are not known.
pub const UNKNOWN_RELEASES: &str = "series_unknown_releases";

/// How many people's values were revealed by differences so far.
const GIVEN_AWAY: &str = "series_given_away";

/// How many regions were moved by one person so far.
const MOVED_BY_ONE: &str = "series_moved_by_one";

/// What a reader of all releases learns beyond the last one. Counts only.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SeriesRisk {
    /// People of this release who were published before.
    pub again: u32,
    /// Those of them whose place was shared by fewer than `k` people, now or at an earlier release.
    pub below_k: u32,
    /// Those of them who were alone there.
    pub alone: u32,
    /// The smallest number of people who shared such a place; 0 if nobody was published before.
    pub smallest: u32,
    /// Arrivals and departures whose value the difference of two releases revealed, since the first release.
    pub given_away: u64,
    /// Groups that exactly one person joined or left and whose region moved, since the first release. The moved side is
    /// that person's value.
    pub moved_by_one: u64,
    /// Earlier releases whose people are not known. They are left out of all counts above.
    pub unknown_releases: u64,
}

impl fmt::Display for SeriesRisk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.again {
            0 => write!(out, "nobody of this release is known to have been in an earlier one")?,
            again => write!(
                out,
                "comparing this release with the earlier ones leaves {} of {} in groups of fewer than k, {} of them \
                 alone",
                number(self.below_k.into()),
                people(u64::from(again)),
                number(self.alone.into())
            )?,
        }
        write!(
            out,
            "; so far, differences reveal the sensitive value of {} who arrived or left, and {} a boundary that \
             reveals one person's value",
            people(self.given_away),
            counted(self.moved_by_one, "group has", "groups have")
        )?;
        match self.unknown_releases {
            0 => Ok(()),
            count => write!(
                out,
                "; not measured: {count} earlier {} whose people are not known, and which may reveal more",
                if count == 1 { "release" } else { "releases" }
            ),
        }
    }
}

/// What a release adds to the account of a series.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Account {
    /// What the series reveals; `None` for its first release.
    pub risk: Option<SeriesRisk>,
    /// Per row of the table, the place of that person over all releases.
    pub met: Vec<Met>,
    /// The places that `met` names; those of the history come first.
    pub places: Regions,
    /// The sums, for the next time.
    pub facts: BTreeMap<String, u64>,
}

/// Adds a k-anonymous release to the account of its series. `snapshot` is the table of the last release.
pub fn account(terms: &Terms, evidence: &Evidence<'_>, snapshot: Option<&Table>) -> Account {
    let history = evidence.history;
    let standing = Standing::of(evidence);
    let (mut met, places) = meet(evidence, &standing);
    if history.releases == 0 {
        return Account { risk: None, met, places, facts: BTreeMap::new() };
    }
    let mut risk = share(terms.k.unwrap_or(1), history, &standing, places.len(), &mut met);
    let fact = |name: &str| history.facts.get(name).copied().unwrap_or(0);
    risk.unknown_releases = fact(UNKNOWN_RELEASES);
    if history.met.is_empty() {
        // A version that kept no account wrote this history, so only the last release is known.
        risk.unknown_releases = risk.unknown_releases.max(u64::from(history.releases - 1));
    }
    risk.moved_by_one = fact(MOVED_BY_ONE) + u64::from(moved_by_one(evidence, &standing));
    risk.given_away = fact(GIVEN_AWAY);
    let is_last_known = history.records.iter().any(|record| history.is_current(record));
    match snapshot.filter(|_| is_last_known) {
        Some(snapshot) => risk.given_away += given_away(terms, evidence, snapshot),
        // Without the last table, the arrivals and departures since then cannot be counted.
        None => risk.unknown_releases = risk.unknown_releases.max(1),
    }
    let facts =
        [(UNKNOWN_RELEASES, risk.unknown_releases), (GIVEN_AWAY, risk.given_away), (MOVED_BY_ONE, risk.moved_by_one)];
    let facts = facts.into_iter().filter(|fact| fact.1 > 0).map(|(name, count)| (name.to_string(), count)).collect();
    Account { risk: Some(risk), met, places, facts }
}

/// Per row of the table, the place of its record in the history.
fn places_in(history: &History, table: &Table) -> Vec<Option<u32>> {
    let mut index = 0;
    let mut place = |&key: &RecordKey| {
        while history.records.get(index).is_some_and(|record| record.key < key) {
            index += 1;
        }
        history.records.get(index).is_some_and(|record| record.key == key).then_some(index as u32)
    };
    table.keys().iter().map(&mut place).collect()
}

/// Everyone's place, including this release. The numbers of people are still the earlier ones.
fn meet(evidence: &Evidence<'_>, standing: &Standing) -> (Vec<Met>, Regions) {
    let Evidence { schema, history, release, .. } = *evidence;
    let before = |index: usize| match history.met.get(index) {
        Some(&met) => met,
        None if history.is_current(&history.records[index]) => {
            Met { place: history.records[index].group, ..Met::NEVER }
        }
        None => Met::NEVER,
    };
    let mut met: Vec<Met> =
        standing.records.iter().map(|record| record.map_or(Met::NEVER, |index| before(index as usize))).collect();
    // An older vault has only the last release.
    let kept = if history.met.is_empty() { &history.groups.regions } else { &history.places };
    let mut places = Regions::new(schema.quasi.len());
    let mut old: FxHashMap<&[Span], u32> = FxHashMap::default();
    let mut new: FxHashMap<Vec<Span>, u32> = FxHashMap::default();
    for place in kept.iter() {
        old.entry(place).or_insert(places.len() as u32);
        places.push(place);
    }
    let mut both: Vec<Span> = Vec::new();
    let before: Vec<u32> = met.iter().map(|met| met.place).collect();
    standing.each_part(&before, |group, place, rows| {
        let now = release.region(group);
        both.clear();
        match place {
            Met::NOWHERE => both.extend_from_slice(now),
            place => both.extend(places.get(place as usize).iter().zip(now).map(|(then, now)| then.meet(*now))),
        }
        if both.iter().any(|span| span.is_empty()) {
            both.clear();
            both.extend_from_slice(now);
        }
        let number = match old.get(&both[..]).or_else(|| new.get(&both[..])) {
            Some(&number) => number,
            None => {
                places.push(&both);
                new.insert(both.clone(), places.len() as u32 - 1);
                places.len() as u32 - 1
            }
        };
        rows.iter().for_each(|&row| met[row as usize].place = number);
    });
    (met, places)
}

/// How many people of this release who were published before share each place, and the fewest so far.
fn share(k: u32, history: &History, standing: &Standing, places: usize, met: &mut [Met]) -> SeriesRisk {
    let is_again = |row: usize| {
        let record = standing.records[row].map(|index| &history.records[index as usize]);
        standing.groups[row].is_some() && record.is_some_and(Record::is_published)
    };
    let again: Vec<bool> = (0..met.len()).map(is_again).collect();
    let mut counts = vec![0u32; places];
    for (met, _) in met.iter().zip(&again).filter(|(_, again)| **again) {
        counts[met.place as usize] += 1;
    }
    let mut risk = SeriesRisk { smallest: u32::MAX, ..SeriesRisk::default() };
    for (met, _) in met.iter_mut().zip(&again).filter(|(_, again)| **again) {
        met.fewest = met.fewest.min(counts[met.place as usize]);
        risk.again += 1;
        risk.below_k += u32::from(met.fewest < k);
        risk.alone += u32::from(met.fewest == 1);
        risk.smallest = risk.smallest.min(met.fewest);
    }
    if risk.again == 0 {
        risk.smallest = 0;
    }
    risk
}

/// The number of arrivals and departures whose value the last release and this one reveal. The auditor's own check
/// counts them, with all quasi values and presence known.
fn given_away(terms: &Terms, evidence: &Evidence<'_>, snapshot: &Table) -> u64 {
    let history = evidence.history;
    let is_out = |record: Option<&Record>| !record.is_some_and(|record| history.is_current(record));
    let records = history.align(snapshot);
    let withheld: Vec<Row> =
        snapshot.rows().zip(records).filter(|(_, record)| is_out(*record)).map(|(row, _)| row).collect();
    let before = Membership { withheld, ..Membership::default() };
    let knowledge = Knowledge::from_published([(snapshot, &before), (evidence.table, evidence.membership)]);
    let releases = [last_release(history), evidence.release.clone()];
    let without_sensitive = evidence.schema.sensitive.is_empty();
    let traces = vec![Traces { counterfeits_known: true, without_sensitive, ..Traces::default() }; 2];
    let series = Series {
        schema: evidence.schema,
        releases: &releases,
        traces: &traces,
        promise: Some(terms),
        knowledge: Some(&knowledge),
        permanent: &[],
        population: None,
        households: None,
        rerun: None,
    };
    // A value is revealed if it is the only one left. The promise itself has no threshold for values.
    let lines = Thresholds { l: 2, ..Thresholds::of(terms) };
    let answer = examine_only(&series, Attacker::default(), &lines, &Budget::default(), &|_| {}, &[Check::Difference]);
    let is_certain = |fault: Fault| matches!(fault, Fault::ArrivalsCertain | Fault::LeaversCertain);
    answer.findings().filter(|finding| is_certain(finding.fault)).map(|finding| finding.people).sum()
}

/// Groups that equal an old group but for one person, and whose region differs.
fn moved_by_one(evidence: &Evidence<'_>, standing: &Standing) -> u32 {
    let Evidence { history, release, .. } = *evidence;
    let mut old_sizes = vec![0u32; history.groups.regions.len()];
    for record in history.records.iter().filter(|record| history.is_current(record)) {
        old_sizes[record.group as usize] += 1;
    }
    let old_group = |index: &Option<u32>| {
        let record = index.map(|index| &history.records[index as usize]);
        record.filter(|record| history.is_current(record)).map_or(Met::NOWHERE, |record| record.group)
    };
    let old_groups: Vec<u32> = standing.records.iter().map(old_group).collect();
    let mut moved = 0;
    standing.each_part(&old_groups, |new, old, rows| {
        if old == Met::NOWHERE {
            return;
        }
        let (old, people) = (old as usize, rows.len() as u32);
        let left = old_sizes[old] - people;
        let joined = release.people(new).saturating_sub(people);
        moved += u32::from(left + joined == 1 && history.groups.regions.get(old) != release.region(new));
    });
    moved
}

/// Where each row of the table is, in the release and in the history.
struct Standing {
    groups: Vec<Option<u32>>,
    records: Vec<Option<u32>>,
    by_group: ByGroup,
}

impl Standing {
    fn of(evidence: &Evidence<'_>) -> Standing {
        let groups = groups_of(evidence.release, evidence.membership, evidence.table.len());
        let by_group = ByGroup::new(evidence.release.group_count(), groups.iter().copied());
        Standing { records: places_in(evidence.history, evidence.table), groups, by_group }
    }

    /// Calls `visit` for every group and past, with the rows of that group that have this past. `pasts` gives the past
    /// of each row.
    fn each_part(&self, pasts: &[u32], mut visit: impl FnMut(usize, u32, &[u32])) {
        let mut rows: Vec<u32> = Vec::new();
        for (group, all) in self.by_group.iter().enumerate() {
            rows.clear();
            rows.extend_from_slice(all);
            let past = |row: &u32| pasts[*row as usize];
            rows.sort_unstable_by_key(past);
            rows.chunk_by(|a, b| past(a) == past(b)).for_each(|part| visit(group, past(&part[0]), part));
        }
    }
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
    use crate::audit::sketch;
    use crate::model::{Domain, Published, Quasi, Schema, Scope, Sensitive};
    use proptest::prelude::*;

    fn schema() -> Schema {
        let sensitive = vec![Sensitive::open("s")];
        Schema::new("id", vec![Quasi::new("age", Domain::Integer { lo: 0, hi: 100 })], sensitive)
    }

    /// A series of releases: people as `id/age/value`, and groups as the ids in them, published with the
    /// smallest regions.
    struct Told {
        history: History,
        last: Option<Table>,
    }

    impl Told {
        fn new() -> Told {
            Told { history: History::default(), last: None }
        }

        fn publish(&mut self, k: u32, people: &str, groups: &[&[u64]]) -> Option<SeriesRisk> {
            let table = sketch::table(people);
            let number = self.history.releases + 1;
            let mut release =
                Release { number, regions: Regions::new(1), values: table.values.clone(), ..Release::default() };
            let mut membership = Membership::default();
            for (at, ids) in groups.iter().enumerate() {
                let row = |id: &u64| table.keys().iter().position(|key| key.hi == *id).unwrap() as u32;
                let mut rows: Vec<u32> = ids.iter().map(row).collect();
                rows.sort_unstable_by_key(|&row| table.sensitive()[row as usize]);
                let ages = || rows.iter().map(|&row| table.quasi(0)[row as usize]);
                release.regions.push(&[Span::new(ages().min().unwrap(), ages().max().unwrap())]);
                release.sensitive.extend(rows.iter().map(|&row| table.sensitive()[row as usize]));
                membership.rows.extend_from_slice(&rows);
                membership.policy_groups.push(at as u32);
                release.ends.push(membership.rows.len() as u32);
                release.counterfeits.push(0);
            }
            let is_out = |row: &Row| !membership.rows.contains(&row.0);
            membership.withheld = table.rows().filter(is_out).collect();
            let schema = schema();
            let evidence = Evidence {
                schema: &schema,
                history: &self.history,
                table: &table,
                release: &release,
                membership: &membership,
            };
            let terms = Terms { k: Some(k), ..Terms::new("k-anonymity", Scope::EachRelease, String::new(), &[]) };
            let account = account(&terms, &evidence, self.last.as_ref());
            naive::assert_same(k, &evidence, &account);
            let Account { risk, met, places, facts } = account;
            let published = Published { facts, met, places, ..Published::default() };
            self.history = self.history.after(&table, &release, &membership, published);
            self.last = Some(table);
            risk
        }
    }

    #[test]
    fn two_releases_meet_where_few_stand() {
        let people = "1/20/a 2/25/b 3/50/c 4/55/a 5/60/b 6/65/c";
        let mut told = Told::new();
        assert_eq!(told.publish(2, people, &[&[1, 2, 3], &[4, 5, 6]]), None);
        // The same groups again: nothing new. Then other groups: person 3 is alone in all of them.
        let risk = told.publish(3, people, &[&[1, 2, 3], &[4, 5, 6]]).unwrap();
        assert_eq!(risk, SeriesRisk { again: 6, smallest: 3, ..SeriesRisk::default() });
        let risk = told.publish(3, people, &[&[1, 2], &[3, 4, 5, 6]]).unwrap();
        let expected = SeriesRisk { again: 6, below_k: 3, alone: 1, smallest: 1, moved_by_one: 2, ..risk };
        assert_eq!(risk, expected);
    }

    #[test]
    fn a_leaver_at_the_edge_moves_the_region() {
        let mut told = Told::new();
        told.publish(2, "1/20/a 2/25/b 3/50/c 4/55/a 5/60/b", &[&[1, 2, 3], &[4, 5]]);
        let risk = told.publish(2, "1/20/a 2/25/b 4/55/a 5/60/b", &[&[1, 2], &[4, 5]]).unwrap();
        assert_eq!((risk.moved_by_one, risk.given_away), (1, 1));
        // What was given away stays so.
        let risk = told.publish(2, "1/20/a 2/25/b 4/55/a 5/60/b", &[&[1, 2], &[4, 5]]).unwrap();
        assert_eq!((risk.moved_by_one, risk.given_away), (1, 1));
    }

    /// science A1.6, difference of multisets: each newcomer is what their group has more.
    #[test]
    fn newcomers_who_are_the_only_difference_are_counted() {
        let mut told = Told::new();
        told.publish(2, "1/10/a 2/12/b 3/30/a 4/34/b", &[&[1, 2], &[3, 4]]);
        let all = "1/10/a 2/12/b 3/30/a 4/34/b 5/11/a 6/31/b";
        let risk = told.publish(2, all, &[&[1, 2, 5], &[3, 4, 6]]).unwrap();
        assert_eq!(risk, SeriesRisk { again: 4, smallest: 2, given_away: 2, ..SeriesRisk::default() });
    }

    #[test]
    fn who_was_singled_out_once_stays_so() {
        let mut told = Told::new();
        told.publish(2, "1/10/a 2/12/b 3/30/a 4/34/b", &[&[1, 2], &[3, 4]]);
        for _ in 0..2 {
            let risk = told.publish(2, "1/10/a 3/30/a 4/34/b", &[&[1, 3, 4]]).unwrap();
            assert_eq!((risk.again, risk.below_k, risk.alone), (3, 1, 1));
        }
    }

    /// Neighbours meet where two stand, the first and the last where one does.
    #[test]
    fn releases_that_do_not_follow_each_other_meet_too() {
        let people = "1/10/a 2/20/b 3/30/a 4/40/b";
        let mut told = Told::new();
        told.publish(2, people, &[&[1, 2], &[3, 4]]);
        assert_eq!(told.publish(2, people, &[&[1, 2, 3, 4]]).unwrap().below_k, 0);
        let risk = told.publish(2, people, &[&[1, 4], &[2, 3]]).unwrap();
        assert_eq!((risk.below_k, risk.alone), (4, 4));
    }

    #[test]
    fn a_release_without_its_people_is_not_called_harmless() {
        let mut told = Told::new();
        told.history.releases = 1;
        told.history.facts.insert(UNKNOWN_RELEASES.into(), 1);
        let risk = told.publish(2, "1/10/a 2/12/b", &[&[1, 2]]).unwrap();
        assert_eq!(risk, SeriesRisk { unknown_releases: 1, ..SeriesRisk::default() });
        let text = risk.to_string();
        assert!(text.contains("not measured: 1 earlier release whose people are not known"), "{text}");
        assert!(!text.contains("0 of 0"), "{text}");
    }

    /// People in any of four groups who come, go, change their age, and are withheld now and then (group 4).
    fn series() -> impl Strategy<Value = Vec<Vec<(u64, u32, usize)>>> {
        let person = (proptest::bool::weighted(0.85), 0u32..12, proptest::bool::weighted(0.1), 0usize..5);
        proptest::collection::vec((0u32..12, proptest::collection::vec(person, 4)), 1..16).prop_map(|people| {
            let here = |release: usize| {
                let told = people.iter().enumerate().filter(move |(_, person)| person.1[release].0);
                told.map(move |(id, (age, moves))| {
                    let (_, other, is_changed, group) = moves[release];
                    (id as u64, if is_changed { other } else { *age }, group)
                })
            };
            (0..4).map(|release| here(release).collect()).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        /// `publish` compares every account with the naive one.
        #[test]
        fn the_account_is_that_of_going_from_person_to_person(series in series(), k in 1u32..5) {
            let mut told = Told::new();
            for people in series.iter().filter(|people| !people.is_empty()) {
                let word = |&(id, age, _): &(u64, u32, usize)| format!("{id}/{age}/{}", char::from(b'a' + (id % 5) as u8));
                let text = people.iter().map(word).collect::<Vec<_>>().join(" ");
                let groups: Vec<Vec<u64>> = (0..4)
                    .map(|group| people.iter().filter(|it| it.2 == group).map(|it| it.0).collect())
                    .filter(|group: &Vec<u64>| !group.is_empty())
                    .collect();
                told.publish(k, &text, &groups.iter().map(Vec::as_slice).collect::<Vec<_>>());
            }
        }
    }
}
