//! From groups to a release: regions, order, numbers.
//!
//! The order of the input is removed here. Groups are numbered by a keyed permutation. Within a group, rows are sorted
//! by sensitive value. Public cells are dealt out in a separate random order, so that no row links a public cell to a
//! sensitive value or distinguishes a counterfeit from a person.

use crate::model::{Grouping, Lots, Membership, RecordKey, Regions, Release, Schema, Seed, Span, Table, Value};
use rayon::prelude::*;

/// Groups per task: large enough that a task is worth its cost.
const CHUNK: usize = 4096;

/// What identifies a release of a series.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// The secret of the series.
    pub seed: &'a Seed,
    /// The number of the release.
    pub number: u32,
    /// Its label.
    pub label: &'a str,
    /// Whether rows get an id that is stable over the series.
    pub linked_ids: bool,
}

/// Recodes `grouping` into a release with the columns of `schema`, and returns the private record of who is in which
/// row.
pub fn recode(schema: &Schema, grouping: &Grouping, table: &Table, stamp: Stamp<'_>) -> (Release, Membership) {
    let Stamp { seed, number, label, linked_ids } = stamp;
    let order = numbers(seed, number, grouping.len());
    let parts: Vec<Part> = order.par_chunks(CHUNK).map(|groups| Part::new(schema, grouping, table, groups)).collect();
    let rows = grouping.row_count() + grouping.counterfeit_count();
    let mut release = Release {
        number,
        label: label.to_string(),
        ends: Vec::with_capacity(order.len()),
        regions: Regions::new(schema.quasi.len()),
        sensitive: Vec::with_capacity(rows),
        counterfeits: Vec::with_capacity(order.len()),
        values: table.values.clone(),
        ..Release::default()
    };
    let mut membership =
        Membership { rows: Vec::with_capacity(rows), policy_groups: order, withheld: grouping.withheld.clone() };
    for part in parts {
        let base = release.sensitive.len() as u32;
        release.ends.extend(part.ends.iter().map(|end| base + end));
        release.sensitive.extend(part.rows.iter().map(|row| row.0));
        release.counterfeits.extend(part.counterfeits);
        part.regions.chunks_exact(schema.quasi.len()).for_each(|region| release.regions.push(region));
        membership.rows.extend(part.rows.iter().map(|row| row.1));
    }
    if !schema.public.is_empty() {
        deal_public(table, seed, &mut release, &membership);
    }
    if linked_ids {
        let key = seed.key("linked ids");
        release.linked = membership.rows.par_iter().map(|&row| linked_id(&key, table, row)).collect();
    }
    (release, membership)
}

/// Some groups of a release, made by one task.
pub(super) struct Part {
    pub ends: Vec<u32>,
    pub counterfeits: Vec<u32>,
    pub regions: Vec<Span>,
    /// Per row its value, and the table's row or [`Membership::COUNTERFEIT`].
    pub rows: Vec<(Value, u32)>,
}

impl Part {
    pub fn new(schema: &Schema, grouping: &Grouping, table: &Table, groups: &[u32]) -> Part {
        let mut part = Part {
            ends: Vec::with_capacity(groups.len()),
            counterfeits: Vec::with_capacity(groups.len()),
            regions: Vec::with_capacity(groups.len() * schema.quasi.len()),
            rows: Vec::new(),
        };
        for &index in groups {
            let group = grouping.group(index as usize);
            let start = part.rows.len();
            part.rows.extend(group.rows.iter().map(|row| (table.sensitive()[row.index()], row.0)));
            part.rows.extend(group.counterfeits.iter().map(|&value| (value, Membership::COUNTERFEIT)));
            part.rows[start..].sort_unstable();
            part.ends.push(part.rows.len() as u32);
            part.counterfeits.push(group.counterfeits.len() as u32);
            if grouping.regions.is_empty() {
                for (attribute, quasi) in schema.quasi.iter().enumerate() {
                    let codes = table.quasi(attribute);
                    let span =
                        group.rows.iter().fold(Span::EMPTY, |span, row| span.join(Span::exact(codes[row.index()])));
                    part.regions.push(quasi.cover(span));
                }
            } else {
                part.regions.extend_from_slice(grouping.regions.get(index as usize));
            }
        }
        part
    }
}

/// Deals the public cells of each group's people out to its rows in a random order; a counterfeit
/// gets a copy of somebody's.
fn deal_public(table: &Table, seed: &Seed, release: &mut Release, membership: &Membership) {
    let lots = public_lots(seed, release.number);
    release.public_texts = table.public_texts.clone();
    release.public = Vec::with_capacity(release.sensitive.len());
    for group in 0..release.group_count() {
        let rows = release.group_rows(group);
        let size = rows.len();
        let cells =
            rows.filter_map(|row| membership.person(row)).map(|person| table.public()[person.index()]).collect();
        release.public.append(&mut dealt(&lots, group, size, cells));
    }
}

/// The lots of the public cells of a release.
pub(super) fn public_lots(seed: &Seed, number: u32) -> Lots {
    seed.lots("public cells", number)
}

/// The public cells of a group's people, in the order in which its `size` rows get them.
pub(super) fn dealt(lots: &Lots, group: usize, size: usize, mut cells: Vec<u32>) -> Vec<u32> {
    let mut rng = lots.stream(&[group as u32]);
    let people = cells.len() as u64;
    for _ in cells.len()..size {
        let copy = cells[rng.below(people) as usize];
        cells.push(copy);
    }
    rng.shuffle(&mut cells);
    cells
}

/// The order of the groups in a release: the group of the policy's order that stands at each place.
pub(super) fn numbers(seed: &Seed, number: u32, groups: usize) -> Vec<u32> {
    seed.lots("group numbers", number).permutation(groups)
}

/// The id that ties a person's rows together over the series, where the promise allows it.
pub(super) fn linked_id(key: &[u8; 32], table: &Table, row: u32) -> u64 {
    assert!(row != Membership::COUNTERFEIT, "promises with linked ids have no counterfeits");
    RecordKey::of(key, &table.keys()[row as usize].to_bytes()).hi
}
