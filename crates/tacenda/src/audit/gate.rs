//! The gate: a finished release is judged before it exists.
//!
//! The gate sees the private truth and the finished release, never the policy that made it. First it
//! checks that the release is true and whole, whatever was promised; then that the promise holds,
//! from the promise's definition, together with everything published before.

use crate::audit::Fault;
use crate::audit::Finding;
use crate::audit::invariance;
use crate::model::DiversityMode;
use crate::model::History;
use crate::model::Membership;
use crate::model::Promise;
use crate::model::Release;
use crate::model::Schema;
use crate::model::Table;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What the gate looks at. Private: holds the truth.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The columns.
    pub schema: &'a Schema,
    /// Everything published before.
    pub history: &'a History,
    /// The snapshot.
    pub table: &'a Table,
    /// The release that is to be published.
    pub release: &'a Release,
    /// Who stands where in it.
    pub membership: &'a Membership,
}

/// Judges a release. An empty answer means that it is true, whole, and keeps the promise.
pub fn gate(promise: &Promise, evidence: Evidence<'_>) -> Vec<Finding> {
    // What follows indexes by group and row; a release whose parts do not fit is judged no further.
    if !is_well_formed(&evidence) {
        let people = evidence.table.len() as u64;
        return vec![Finding { fault: Fault::Malformed, release: evidence.release.number, people, groups: 0, example: None }];
    }
    let mut faults = truth(&evidence);
    match promise {
        Promise::MInvariance { m, k } => faults.merge(invariance::check(*m, *k, &evidence)),
        Promise::IncrementalLDiversity { l, mode: DiversityMode::Safe } => {
            faults.merge(invariance::check(*l, None, &evidence));
            faults.merge(no_counterfeits(&evidence));
        }
        _ => unimplemented!("the other promises"),
    }
    faults.into_findings(evidence.release.number)
}

/// Faults counted by kind while groups are looked at side by side.
#[derive(Default)]
pub(crate) struct Faults(BTreeMap<Fault, Tally>);

#[derive(Clone, Copy)]
struct Tally {
    people: u64,
    groups: u64,
    example: Option<u32>,
}

impl Faults {
    /// Counts a fault of one group.
    pub(crate) fn group(&mut self, fault: Fault, group: usize, people: u64) {
        let number = group as u32 + 1;
        let tally = self.0.entry(fault).or_insert(Tally { people: 0, groups: 0, example: None });
        tally.people += people;
        tally.groups += 1;
        tally.example = Some(tally.example.map_or(number, |example| example.min(number)));
    }

    /// Counts a fault that has no group.
    pub(crate) fn people(&mut self, fault: Fault, people: u64) {
        self.0.entry(fault).or_insert(Tally { people: 0, groups: 0, example: None }).people += people;
    }

    /// Adds what another part found.
    pub(crate) fn merge(&mut self, other: Faults) {
        for (fault, more) in other.0 {
            let tally = self.0.entry(fault).or_insert(Tally { people: 0, groups: 0, example: None });
            tally.people += more.people;
            tally.groups += more.groups;
            tally.example = match (tally.example, more.example) {
                (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
                (mine, theirs) => mine.or(theirs),
            };
        }
    }

    fn into_findings(self, release: u32) -> Vec<Finding> {
        let finding = |(fault, tally): (Fault, Tally)| Finding {
            fault,
            release,
            people: tally.people,
            groups: tally.groups,
            example: tally.example,
        };
        self.0.into_iter().map(finding).collect()
    }
}

/// Looks at all groups side by side and adds up what was found.
pub(crate) fn each_group(evidence: &Evidence<'_>, look: impl Fn(usize, &mut Faults) + Sync) -> Faults {
    (0..evidence.release.group_count())
        .into_par_iter()
        .with_min_len(1024)
        .fold(Faults::default, |mut faults, group| {
            look(group, &mut faults);
            faults
        })
        .reduce(Faults::default, |mut left, right| {
            left.merge(right);
            left
        })
}

/// Whether the parts of the release and of the membership fit each other.
fn is_well_formed(evidence: &Evidence<'_>) -> bool {
    let (release, membership, table) = (evidence.release, evidence.membership, evidence.table);
    let rows = release.row_count();
    let groups = release.group_count();
    let real = |row: u32| row == Membership::COUNTERFEIT || (row as usize) < table.len();
    let mut order = membership.policy_groups.clone();
    order.sort_unstable();
    release.number == evidence.history.releases + 1
        && release.ends.is_sorted()
        && release.ends.last().map_or(0, |&end| end as usize) == rows
        && release.regions.len() == groups
        && release.regions.attributes() == evidence.schema.quasi.len()
        && release.counterfeits.len() == groups
        && membership.rows.len() == rows
        && membership.rows.iter().all(|&row| real(row))
        && membership.withheld.iter().all(|row| row.index() < table.len())
        && order.iter().enumerate().all(|(index, &group)| index == group as usize)
        && (release.public.is_empty() == evidence.schema.public.is_empty())
        && (release.public.is_empty() || release.public.len() == rows)
        && release.public.iter().all(|&text| (text as usize) < release.public_texts.len())
        && (release.linked.is_empty() || release.linked.len() == rows)
        && release.sensitive.iter().all(|value| value.index() < release.values.len())
        && (0..groups).all(|group| !release.group_rows(group).is_empty() && release.group_values(group).is_sorted())
}

/// What holds of every release, whatever was promised: it is true, and nobody is lost or doubled.
fn truth(evidence: &Evidence<'_>) -> Faults {
    let (release, membership, table) = (evidence.release, evidence.membership, evidence.table);
    let mut faults = each_group(evidence, |group, faults| {
        let region = release.region(group);
        let admitted = region.iter().zip(&evidence.schema.quasi).all(|(&span, quasi)| quasi.admits(span));
        let (mut missed, mut changed, mut counterfeits) = (0, 0, 0);
        for row in release.group_rows(group) {
            let Some(person) = membership.person(row) else {
                counterfeits += 1;
                continue;
            };
            let covers = |attribute: usize| region[attribute].contains(table.quasi(attribute)[person.index()]);
            missed += u64::from(!(0..region.len()).all(covers));
            changed += u64::from(table.sensitive()[person.index()] != release.sensitive[row]);
        }
        let people = u64::from(release.people(group).min(release.group_rows(group).len() as u32));
        if !admitted {
            faults.group(Fault::RegionTooNarrow, group, people);
        }
        if missed > 0 {
            faults.group(Fault::RegionMisses, group, missed);
        }
        if changed > 0 {
            faults.group(Fault::ValueChanged, group, changed);
        }
        if counterfeits != release.counterfeits[group] {
            faults.group(Fault::CounterfeitsMiscounted, group, people);
        }
        if counterfeits as usize == release.group_rows(group).len() {
            faults.group(Fault::NobodyThere, group, 0);
        }
    });
    let mut places = vec![0u8; table.len()];
    for person in (0..membership.rows.len()).filter_map(|row| membership.person(row)).chain(membership.withheld.iter().copied()) {
        places[person.index()] = places[person.index()].saturating_add(1);
    }
    let twice = places.iter().filter(|&&count| count > 1).count() as u64;
    let lost = places.iter().filter(|&&count| count == 0).count() as u64;
    if twice > 0 {
        faults.people(Fault::PersonTwice, twice);
    }
    if lost > 0 {
        faults.people(Fault::PersonLost, lost);
    }
    faults
}

/// For promises in which no row is artificial.
fn no_counterfeits(evidence: &Evidence<'_>) -> Faults {
    each_group(evidence, |group, faults| {
        if evidence.release.counterfeits[group] > 0 {
            faults.group(Fault::UnexpectedCounterfeits, group, u64::from(evidence.release.people(group)));
        }
    })
}
