//! The gate's second look: the auditor's own checks of a release that keeps its promise.
//!
//! The promise is checked from its definition and with the private truth. These checks know neither. They see what a
//! reader would see, so that a mistake in the one is not repeated in the other. A finding above a note refuses the
//! release.
//!
//! # What is asked
//! Of the release alone: group sizes and diversity, with the thresholds of the promise. Together with the last
//! release, if the promise is for additions only: the difference. The history keeps the people and regions of the last
//! release but not its counterfeits, so promises with counterfeits are not compared here. An audit of the whole
//! project compares them from the published files.

use crate::audit::by_group::ByGroup;
use crate::audit::examine::examine_at;
use crate::audit::gate::Evidence;
use crate::audit::{Attacker, Budget, Check, Finding, Series, Severity, Thresholds, Traces};
use crate::model::{History, Record, Regions, Release, Schema, Terms, Value};

/// The findings of a reader who has the last release and this one.
pub(crate) fn look(terms: &Terms, evidence: &Evidence<'_>) -> Vec<Finding> {
    if !compares(terms, evidence.history) {
        return look_at(terms, evidence.schema, std::slice::from_ref(evidence.release));
    }
    look_at(terms, evidence.schema, &[without_erased(evidence.history), evidence.release.clone()])
}

/// Whether a new release is compared with the last one.
pub(super) fn compares(terms: &Terms, history: &History) -> bool {
    terms.only_adds() && history.releases > 0
}

/// The findings of a reader about the last of these releases. They are the last release and this one, or this one only.
pub(super) fn look_at(terms: &Terms, schema: &Schema, releases: &[Release]) -> Vec<Finding> {
    let alone = [Check::GroupSizes, Check::Diversity];
    let Some((newest, [_, ..])) = releases.split_last() else { return found(terms, schema, releases, &alone) };
    // What a release says by itself does not depend on the one before, whose findings are not asked for. Only if something
    // is found, it is told as a reader of both would.
    let is_fine = |releases: &[Release], checks: &[Check]| found(terms, schema, releases, checks).is_empty();
    if is_fine(std::slice::from_ref(newest), &alone) && is_fine(releases, &[Check::Difference]) {
        return Vec::new();
    }
    found(terms, schema, releases, &[Check::GroupSizes, Check::Diversity, Check::Difference])
}

/// What some checks find about the last of these releases.
fn found(terms: &Terms, schema: &Schema, releases: &[Release], checks: &[Check]) -> Vec<Finding> {
    let traces = vec![Traces { counterfeits_known: true, ..Traces::default() }; releases.len()];
    let series = Series {
        schema,
        releases,
        traces: &traces,
        promise: Some(terms),
        knowledge: None,
        permanent: &[],
        population: None,
        households: None,
        rerun: None,
    };
    let lines = Thresholds::of(terms);
    let answer = examine_at(&series, Attacker::default(), &lines, &Budget::default(), checks);
    let number = releases.last().map_or(0, |release| release.number);
    let is_new = |finding: &&Finding| finding.release == number;
    answer.findings().filter(is_new).filter(|finding| finding.fault.severity() > Severity::Note).cloned().collect()
}

/// The last release without the groups of people who were erased since: these groups are left out as a whole from now on, and
/// what they held is no longer known.
pub(super) fn without_erased(history: &History) -> Release {
    let release = last_release(history);
    let is_current = |record: &&Record| history.is_current(record) && history.is_erased(record.key);
    let mut torn: Vec<u32> = history.records.iter().filter(is_current).map(|record| record.group).collect();
    torn.sort_unstable();
    if torn.is_empty() {
        return release;
    }
    let (mut regions, mut sensitive) = (Regions::new(release.regions.attributes()), Vec::new());
    let mut ends = Vec::new();
    for group in (0..release.group_count()).filter(|group| torn.binary_search(&(*group as u32)).is_err()) {
        regions.push(release.region(group));
        sensitive.extend_from_slice(release.group_values(group));
        ends.push(sensitive.len() as u32);
    }
    Release { counterfeits: vec![0; ends.len()], regions, sensitive, ends, ..release }
}

/// The last release as far as the history has it: its groups in the policy's order, people only. People who were erased
/// since have no row.
pub(super) fn last_release(history: &History) -> Release {
    let regions = history.groups.regions.clone();
    let groups = regions.len();
    let group_now = |record: &Record| {
        (record.last_release == history.releases && !history.is_erased(record.key)).then_some(record.group)
    };
    let (mut sensitive, mut ends): (Vec<Value>, Vec<u32>) = (Vec::new(), Vec::with_capacity(groups));
    for people in ByGroup::new(groups, history.records.iter().map(group_now)).iter() {
        let first = sensitive.len();
        sensitive.extend(people.iter().map(|&place| history.records[place as usize].value));
        sensitive[first..].sort_unstable();
        ends.push(sensitive.len() as u32);
    }
    Release {
        number: history.releases,
        ends,
        regions,
        sensitive,
        counterfeits: vec![0; groups],
        values: history.values.clone(),
        ..Release::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::sketch::{release, table};
    use crate::model::{Domain, GroupRule, Membership, Published, Quasi, Scope, Sensitive};

    /// science CE-1 seen by the gate: codes and people.
    fn told(terms: &Terms, second: (&str, &str)) -> Vec<(&'static str, u64)> {
        let schema =
            Schema::new("id", vec![Quasi::new("q", Domain::Integer { lo: 0, hi: 64 })], vec![Sensitive::open("s")]);
        let (first, before) = (release(1, "10-11/ab"), table("1/10/a 2/11/b"));
        let who = |rows: u32| Membership { rows: (0..rows).collect(), policy_groups: vec![0], withheld: Vec::new() };
        let history = History::default().after(&before, &first, &who(2), Published::default());
        assert_eq!(last_release(&history).sensitive, first.sensitive);
        let (table, release) = (table(second.0), release(2, second.1));
        let membership = who(release.row_count() as u32);
        let evidence =
            Evidence { schema: &schema, history: &history, table: &table, release: &release, membership: &membership };
        look(terms, &evidence).iter().map(|finding| (finding.fault.code(), finding.people)).collect()
    }

    #[test]
    fn a_lone_newcomer_is_seen_without_the_truth() {
        let lone = ("1/10/a 2/11/b 3/10/a", "10-11/aab");
        let two = ("1/10/a 2/11/b 3/10/a 4/11/b", "10-11/aabb");
        let nothing = Terms::new("a promise", Scope::Series, String::new(), &[]);
        let only_adds = Terms { lets_people_leave: false, keeps_value_sets: true, ..nothing.clone() };
        let safe = Terms { l: Some(2), ..only_adds.clone() };
        assert_eq!(told(&safe, lone), [("A721", 1)]);
        assert_eq!(told(&safe, two), []);
        let cohorts = Terms { k: Some(2), groups: GroupRule::Unchanged, ..only_adds };
        let beside = ("1/10/a 2/11/b 3/10/a", "10-11/ab 10-11/a");
        assert_eq!(told(&cohorts, beside), [("A701", 1), ("A723", 1)]);
        // Groups of cohorts never grow. A group that did looks like one that left, and the promise's own check reports
        // it.
        assert_eq!(told(&cohorts, lone), []);
        // The paper's own modes promise nothing for arrivals.
        let cells = Terms { k: Some(2), lets_people_leave: false, holds_with_presence_known: false, ..nothing.clone() };
        assert_eq!(told(&cells, lone), []);
        assert_eq!(told(&Terms { k: Some(4), scope: Scope::EachRelease, ..nothing }, lone), [("A702", 3)]);
    }
}
