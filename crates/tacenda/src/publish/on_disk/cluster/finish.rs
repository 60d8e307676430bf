//! After the cluster: everyone is on the driver's disk, and the finished release is judged person by person and as a whole.

use crate::audit::{Fault, Faults, Whole, gate_people, gate_whole};
use crate::ledger::{LedgerError, ScratchFile};
use crate::model::{Membership, Release, Schema};
use crate::publish::on_disk::cluster::blobs::RowSum;
use crate::publish::on_disk::release::{Making, placed_rows};
use crate::publish::on_disk::rows::{self, Shape};
use crate::publish::on_disk::{NextPeople, OnDisk};
use crate::publish::{PeopleFacts, Prepared, Prepares, ProjectError, is_refused};
use std::collections::BTreeMap;

/// A release that a cluster has formed, and judged unit by unit. Private.
#[derive(Debug)]
pub(in crate::publish) struct Elsewhere {
    pub(super) release: Release,
    /// The group of the policy's order at each place.
    pub(super) order: Vec<u32>,
    pub(super) faults: Faults,
    /// Per attribute, how many published people have each code.
    pub(super) codes: Vec<BTreeMap<u32, u64>>,
    /// The last release, if the new one is compared with it.
    pub(super) last: Option<Release>,
    pub(super) left_out: usize,
    pub(super) taken_out: usize,
    /// By part, who is in which group.
    pub(super) placed: Vec<Option<ScratchFile>>,
}

/// Takes everyone of a part: rows sorted by key, each with a group. Returns the file of who is in which group.
pub(super) fn gathered(
    on_disk: &mut OnDisk,
    schema: &Schema,
    part: usize,
    numbers: &[u32],
) -> Result<(ScratchFile, RowSum), LedgerError> {
    let width = Shape::of(schema).width();
    let mut sum = RowSum::default();
    let (mut people, mut placed): (Vec<&[u32]>, Vec<u32>) = Default::default();
    for row in numbers.chunks_exact(width + 1) {
        sum.add(&row[..width]);
        rows::put_key(rows::key(row), &mut placed);
        placed.push(row[width]);
        // Somebody who is there twice is placed twice, and the gate sees it.
        if people.last().is_none_or(|last| rows::key(last) != rows::key(row)) {
            people.push(&row[..width]);
        }
    }
    on_disk.snapshot.put(&on_disk.scratch, part, schema, &people)?;
    Ok((rows::write(&on_disk.scratch, &placed)?, sum))
}

/// Judges the release person by person and as a whole, after the cluster has judged it unit by unit.
pub(in crate::publish) fn prepare(
    making: &Making<'_>,
    judged: Elsewhere,
) -> Result<(Prepared, NextPeople), ProjectError> {
    let Making { file, promise, history, on_disk, .. } = *making;
    let Elsewhere { release, order, mut faults, codes, last, left_out, taken_out, placed } = judged;
    let (schema, terms) = (&file.schema, promise.terms());
    let mut places = vec![0; order.len()];
    (0..).zip(&order).for_each(|(place, &group): (u32, _)| places[group as usize] = place);
    for (part, &of_part) in placed.iter().enumerate() {
        let table = on_disk.snapshot.read(&on_disk.scratch, part, schema)?;
        let of_row = placed_rows(&table, &rows::read_some(&on_disk.scratch, of_part)?, &places);
        faults.merge(gate_people(&table, &release, &of_row));
    }
    if on_disk.people() != on_disk.counted.here {
        faults.people(Fault::PersonLost, on_disk.counted.here.abs_diff(on_disk.people()) as u64);
    }
    faults.replace(promise.inner().check_whole(&release));
    let releases: Vec<Release> = last.into_iter().chain([release]).collect();
    let findings = gate_whole(Whole { terms: &terms, schema, history, releases: &releases, faults, codes: &codes });
    is_refused(promise, findings)?;
    let release = releases.into_iter().next_back().expect("there is a release");
    let (next, people_after) = making.after(&release, &order, &placed)?;
    let facts = PeopleFacts {
        people: on_disk.people() as u64,
        withheld: left_out as u64,
        taken_out: (on_disk.counted.out + taken_out) as u64,
    };
    let prepared = Prepared {
        release,
        schema: schema.clone(),
        membership: Membership::default(),
        history: next,
        change: on_disk.counted.change,
        facts,
        about: Prepares::Series { findings: Vec::new(), series_risk: None },
    };
    Ok((prepared, people_after))
}
