//! The difference of two releases without their suppressed rows.
//!
//! A suppressed row may have any value in every column. It overlaps everything, so it connects all groups, and the
//! difference of two releases then speaks of the whole table only. Tools that suppress rows, such as ARX, leave them out
//! when they count. A reader may do so too, if the same people are suppressed in both releases. Nobody knows that from the
//! releases, so what follows is a note, and says *if*.

use crate::audit::checks::Ask;
use crate::audit::checks::pairs::Components;
use crate::audit::checks::tally::Tally;
use crate::audit::{Fault, Outcome, Quantity, Statement, Witness};
use crate::model::{Regions, Release, Value};
use crate::space::stab::Stab;
use rustc_hash::FxHashMap;

/// A release without its suppressed rows.
struct Rest {
    release: Release,
    /// Per group, its number in the whole release.
    groups: Vec<u32>,
}

/// Looks for arrivals with too few values among the rows that are not suppressed, in releases that lost no such row.
pub(super) fn difference(ask: &Ask<'_>, outcome: &mut Outcome) {
    if !ask.attacker.presence {
        return;
    }
    let traces = |place: u32| Some(&ask.series.traces[place as usize]);
    let has_suppressed = |(place, release): (u32, &Release)| {
        (0..release.group_count()).any(|group| release.is_suppressed(group, ask.series.schema, traces(place)))
    };
    // Without any, nothing is copied.
    if !ask.releases().any(has_suppressed) {
        return;
    }
    let rests: Vec<Option<Rest>> = ask.releases().map(|(place, release)| rest(ask, place, release)).collect();
    for &(earlier, later) in &ask.pairs {
        let (Some(old), Some(new)) = (&rests[earlier as usize], &rests[later as usize]) else { continue };
        let whole = |place: u32| ask.series.releases[place as usize].group_count();
        if old.groups.len() == whole(earlier) && new.groups.len() == whole(later) {
            continue;
        }
        compare(ask, (earlier, later), (old, new), outcome);
    }
}

/// The release without its suppressed rows; `None` if it has no other rows, or counterfeits, whose places nobody knows.
fn rest(ask: &Ask<'_>, place: u32, release: &Release) -> Option<Rest> {
    let traces = &ask.series.traces[place as usize];
    let is_kept = |&group: &u32| !release.is_suppressed(group as usize, ask.series.schema, Some(traces));
    let groups: Vec<u32> = (0..release.group_count() as u32).filter(is_kept).collect();
    if groups.is_empty() || release.counterfeit_count() > 0 {
        return None;
    }
    let mut rest = Release { values: release.values.clone(), ..Release::default() };
    rest.regions = Regions::new(release.regions.attributes());
    for &group in &groups {
        rest.regions.push(release.region(group as usize));
        rest.sensitive.extend_from_slice(release.group_values(group as usize));
        rest.ends.push(rest.sensitive.len() as u32);
        rest.counterfeits.push(0);
    }
    Some(Rest { release: rest, groups })
}

fn compare(ask: &Ask<'_>, (earlier, later): (u32, u32), (old, new): (&Rest, &Rest), outcome: &mut Outcome) {
    let stab = |rest: &Rest| Stab::without_values(&rest.release);
    let (components, _) = Components::new(&stab(old), &stab(new)).list();
    let l = u64::from(ask.thresholds.l.max(2));
    let mut tally = Tally::new(Fault::ArrivalsUnlessSuppressed);
    for component in components.iter() {
        let mut gained: FxHashMap<Value, i64> = FxHashMap::default();
        let mut add = |release: &Release, groups: &[u32], sign: i64| {
            let rows = groups.iter().flat_map(|&group| release.group_values(group as usize));
            rows.for_each(|&value| *gained.entry(value).or_default() += sign);
        };
        add(&new.release, component.later, 1);
        add(&old.release, component.earlier, -1);
        // A row that is gone may have been suppressed, or its person left: then any row may be an arrival's.
        if gained.values().any(|&count| count < 0) {
            return;
        }
        let arrivals: i64 = gained.values().sum();
        let mut among: Vec<Value> = gained.into_iter().filter(|entry| entry.1 > 0).map(|entry| entry.0).collect();
        among.sort_unstable();
        let distinct = among.len() as u64;
        if arrivals == 0 || distinct >= l || component.earlier.is_empty() {
            continue;
        }
        let before = component.earlier.iter().map(|&group| (earlier, old.groups[group as usize]));
        let after = component.later.iter().map(|&group| (later, new.groups[group as usize]));
        let groups: Vec<(u32, u32)> = before.chain(after).collect();
        tally.add(arrivals as u64, distinct, || Witness {
            values: among,
            ..Witness::new(Statement::ArrivalsUnlessSuppressed, groups, distinct, l)
        });
    }
    let number = |place: u32| ask.series.releases[place as usize].number;
    outcome.measure(Some(number(later)), Quantity::ArrivalsUnlessSuppressed, tally.people() as f64);
    outcome.found(tally.finding(number(later), vec![number(earlier)]));
}
