//! A cluster: whatever its machines, partitions and failures, the release is that of the way in memory, to the byte.

use crate::on_disk::{
    Kind, PLAIN, Seats, TableRow, amend, amended_people, assert_same, churn, copy, erase, input, kind, listed_project,
    person, project, seats, seats_project, store, write_table,
};
use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use tacenda::model::Rng;
use tacenda::publish::{
    Access, Blob, BlobKind, Cluster, ClusterStep, ClusterTable, Kernel, Listener, NextRelease, Project, ProjectError,
    StepInput,
};

const COLUMNS: [&str; 5] = ["id", "age", "place", "illness", "ward"];

/// What is done to the blobs of a step.
type Harm = fn(&mut [Blob]);

/// Machines in this process. Chance decides who holds what, in which order it comes, and which work is done twice.
struct ByHand {
    table: Vec<RecordBatch>,
    kept: Vec<Blob>,
    rng: Rng,
    /// Whether some of the table is lost when it is read again.
    forgets: bool,
    /// What is done to blobs that a step has made, by its name.
    harm: Option<(&'static str, Harm)>,
    /// All that machines were told.
    tasks: Vec<Vec<u8>>,
}

fn clone(blob: &Blob) -> Blob {
    Blob { place: blob.place, kind: blob.kind, bytes: blob.bytes.clone() }
}

impl ByHand {
    fn new(people: &[TableRow], partitions: usize, seed: u64) -> ByHand {
        let fields = COLUMNS.map(|name| Field::new(name, DataType::Utf8, true));
        let schema = Arc::new(Schema::new(fields.to_vec()));
        let mut rng = Rng::from_number(seed);
        let mut parts: Vec<Vec<&TableRow>> = vec![Vec::new(); partitions];
        people.iter().for_each(|person| parts[rng.below(partitions as u64) as usize].push(person));
        let batch = |rows: Vec<&TableRow>| {
            let column = |text: &dyn Fn(&TableRow) -> Option<String>| -> ArrayRef {
                Arc::new(rows.iter().map(|row| text(row)).collect::<StringArray>())
            };
            let columns: Vec<ArrayRef> = vec![
                column(&|row| Some(format!("p{}", row.0))),
                column(&|row| row.1.map(|age| age.to_string())),
                column(&|row| Some(row.2.to_string())),
                column(&|row| Some(format!("illness {}", row.3))),
                column(&|row| Some(format!("ward {}", row.4))),
            ];
            RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
        };
        ByHand {
            table: parts.into_iter().map(batch).collect(),
            kept: Vec::new(),
            rng,
            forgets: false,
            harm: None,
            tasks: Vec::new(),
        }
    }

    /// The blobs of each place, in any order; some places are worked on twice, as after a failure.
    fn by_place(&mut self, blobs: Vec<Blob>, task: &[u8]) -> Vec<Blob> {
        let mut places: BTreeMap<u32, Vec<Blob>> = BTreeMap::new();
        blobs.into_iter().for_each(|blob| places.entry(blob.place).or_default().push(blob));
        let mut made = Vec::new();
        for (place, mut blobs) in places {
            self.rng.shuffle(&mut blobs);
            let kernel = Kernel::new(task).unwrap();
            let mine: Vec<(BlobKind, &[u8])> = blobs.iter().map(|blob| (blob.kind, &blob.bytes[..])).collect();
            if self.rng.below(3) == 0 {
                kernel.run(place, &mine);
            }
            made.extend(kernel.run(place, &mine));
        }
        made
    }
}

impl Cluster for ByHand {
    fn step(&mut self, step: ClusterStep<'_>, listener: &mut Listener<'_>) -> Result<(), ProjectError> {
        self.tasks.extend(step.spread.iter().chain(&step.each_place).cloned());
        let mut blobs: Vec<Blob> = match step.from {
            StepInput::Table => {
                let kernel = Kernel::new(step.spread.as_ref().unwrap()).unwrap();
                self.table.iter().flat_map(|batch| kernel.encode(std::slice::from_ref(batch))).collect()
            }
            StepInput::Kept(kinds) => self.kept.iter().filter(|blob| kinds.contains(&blob.kind)).map(clone).collect(),
        };
        if self.forgets && step.name == "compare" {
            blobs.pop();
        }
        self.rng.shuffle(&mut blobs);
        if let (StepInput::Kept(_), Some(task)) = (step.from, &step.spread) {
            let kernel = Kernel::new(task).unwrap();
            let pieces: Vec<Blob> = blobs
                .chunks(1 + self.rng.below(3) as usize)
                .flat_map(|some| {
                    let some: Vec<_> = some.iter().map(|blob| (blob.place, blob.kind, &blob.bytes[..])).collect();
                    kernel.spread_out(&some)
                })
                .collect();
            blobs = pieces;
        }
        blobs.extend(step.more);
        if let Some(task) = &step.each_place {
            blobs = self.by_place(blobs, task);
        }
        if let Some((_, harm)) = self.harm.filter(|(name, _)| *name == step.name) {
            harm(&mut blobs);
        }
        self.rng.shuffle(&mut blobs);
        let (said, kept): (Vec<Blob>, Vec<Blob>) = blobs.into_iter().partition(|blob| blob.kind.is_for_driver());
        if step.keeps {
            self.kept = kept;
        } else {
            assert!(kept.is_empty(), "{}: nothing is lost", step.name);
        }
        said.into_iter().try_for_each(listener)
    }
}

fn publish_in(
    root: &Path,
    cluster: &mut ByHand,
    cut: (usize, usize),
    label: Option<&str>,
) -> Result<Option<u32>, ProjectError> {
    Ok(publish_warned(root, cluster, cut, label)?.0)
}

/// Publishes. Returns the release that was there already, and warnings.
fn publish_warned(
    root: &Path,
    cluster: &mut ByHand,
    (parts, unit): (usize, usize),
    label: Option<&str>,
) -> Result<(Option<u32>, Vec<String>), ProjectError> {
    let mut project = Project::open(root, None, Access::Publish)?;
    let columns = COLUMNS.map(String::from);
    let table = ClusterTable { columns: &columns, parts, unit, memory: None };
    let material = project.material_of_cluster(cluster, &table, label, &|_| ())?;
    let wanted = NextRelease { label, ..NextRelease::default() };
    if let Some(number) = project.published_from(&material, wanted)? {
        return Ok((Some(number), Vec::new()));
    }
    let rehearsal = project.rehearse(&material, wanted, &|_| ())?;
    project.publish(&material, &rehearsal, &|_| ())?;
    Ok((None, rehearsal.warnings))
}

/// The way in memory. Returns warnings.
fn publish(root: &Path, people: &[TableRow], label: &str) -> Result<Vec<String>, ProjectError> {
    let table = root.join("table.csv");
    write_table(&table, people, 0);
    let mut project = Project::open(root, None, Access::Publish)?;
    let material = project.material(input(table, None), &|_| ())?;
    let wanted = NextRelease { label: Some(label), ..NextRelease::default() };
    let rehearsal = project.rehearse(&material, wanted, &|_| ())?;
    project.publish(&material, &rehearsal, &|_| ())?;
    Ok(rehearsal.warnings)
}

/// Publishes the people of a round in memory and in clusters, each with partitions, parts and units of its own.
fn publish_and_compare(
    memory: &Path,
    clusters: &[(&Path, (usize, u32, usize))],
    people: &[TableRow],
    (round, seed): (usize, u64),
) {
    // Another label each time, because a table may be the same twice.
    let label = format!("round {round}");
    let wanted = publish(memory, people, &label).map_err(|error| error.to_string());
    for &(folder, (partitions, parts, unit)) in clusters {
        let mut machines = ByHand::new(people, partitions, seed.wrapping_add(round as u64));
        let got = publish_warned(folder, &mut machines, (1 << parts, unit), Some(&label));
        let got = got.map(|got| got.1).map_err(|error| error.to_string());
        let what = format!("round {round} in {partitions}, {parts}, {unit}");
        assert_eq!(wanted, got, "{what}");
        assert_same(memory, folder, &what);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    /// First release and three updates, for several partitions, parts and sizes of units, also after an erasure. A refusal is
    /// the same refusal, too.
    #[test]
    fn a_release_of_a_cluster_is_that_of_memory(
        kind in kind(),
        people in (0u32..340).map(person).collect::<Vec<_>>(),
        batches in prop::collection::vec(0usize..80, 4),
        leaver in 0usize..400,
        erased in prop::option::weighted(0.3, 0u32..60),
        cuts in prop::collection::vec((1usize..6, 0u32..4, 6usize..90), 2),
        seed in any::<u64>(),
    ) {
        let base = project(kind);
        let memory = copy(base.path());
        let folders: Vec<tempfile::TempDir> = cuts.iter().map(|_| copy(base.path())).collect();
        let clusters: Vec<_> = folders.iter().map(tempfile::TempDir::path).zip(cuts).collect();
        let mut here: Vec<TableRow> = Vec::new();
        let mut rest = people.into_iter();
        for (round, &batch) in batches.iter().enumerate() {
            here.extend(rest.by_ref().take(batch + if round == 0 { 20 } else { 0 }));
            if kind.withhold && round == 2 && leaver < here.len() {
                here.remove(leaver);
            }
            if let Some(id) = erased.filter(|_| round == 2) {
                let roots = clusters.iter().map(|cluster| cluster.0).chain([memory.path()]);
                roots.filter(|root| store(root).releases() > 0).for_each(|root| erase(root, id));
            }
            publish_and_compare(memory.path(), &clusters, &here, (round, seed));
        }
    }

    /// Buckets: people arrive, leave, return, change and are erased, columns gain values, and a cluster publishes the same.
    #[test]
    fn buckets_of_a_cluster_are_those_of_memory(
        kind in seats(),
        people in (0u32..600).map(person).collect::<Vec<_>>(),
        first in 0usize..300,
        churns in prop::collection::vec(churn(), 4),
        cuts in prop::collection::vec((1usize..6, 0u32..4, 10usize..150), 2),
        seed in any::<u64>(),
    ) {
        let base = seats_project(kind);
        let memory = copy(base.path());
        let folders: Vec<tempfile::TempDir> = cuts.iter().map(|_| copy(base.path())).collect();
        let clusters: Vec<_> = folders.iter().map(tempfile::TempDir::path).zip(cuts).collect();
        let roots: Vec<&Path> = clusters.iter().map(|cluster| cluster.0).chain([memory.path()]).collect();
        let mut rest = people.into_iter();
        let mut here: Vec<TableRow> = rest.by_ref().take(first).collect();
        let mut gone: Vec<TableRow> = Vec::new();
        for (round, churn) in churns.iter().enumerate() {
            if round > 0 {
                churn.apply(&mut here, &mut gone, kind.reader == "rule");
            }
            here.extend(rest.by_ref().take(churn.arrive));
            churn.amend(&roots);
            publish_and_compare(memory.path(), &clusters, &here, (round, seed));
        }
    }
}

/// Columns gain values: the vault is sent with the new codes, and who was read as `other` stays there.
#[test]
fn a_series_goes_on_in_a_cluster_after_an_amendment() {
    let memory = listed_project();
    let cluster = copy(memory.path());
    for round in 0..4u32 {
        if round == 1 {
            [memory.path(), cluster.path()].into_iter().for_each(amend);
        }
        let cut = (1 + round as usize, round, 20 + 10 * round as usize);
        publish_and_compare(memory.path(), &[(cluster.path(), cut)], &amended_people(round), (round as usize, 5));
    }
}

/// Machines get derived keys. The seed, in whatever notation, is in no task.
#[test]
fn no_machine_is_told_the_seed() {
    let kind = Seats { m: 2, k: None, reader: "rule", withhold: false, on_ineligible: "defer", public: true };
    for root in [seats_project(kind), project(Kind { linked: true, cohorts: false, ..PLAIN })] {
        let seed = store(root.path()).seed().unwrap().0;
        let notations = [
            seed.map(|byte| byte.to_string()).join(","),
            seed.map(|byte| format!("{byte:02x}")).concat(),
            seed.map(|byte| format!("{byte:02X}")).concat(),
        ];
        for (round, people) in [people(0, 60), people(0, 90)].iter().enumerate() {
            let mut machines = ByHand::new(people, 3, 1);
            publish_in(root.path(), &mut machines, (4, 10), Some(&format!("round {round}"))).unwrap();
            assert!(machines.tasks.len() > 5, "machines were told something");
            for task in &machines.tasks {
                let text = String::from_utf8(task.clone()).unwrap();
                assert!(notations.iter().all(|seed| !text.contains(seed)));
                assert!(!task.windows(32).any(|window| window == seed));
            }
        }
    }
}

fn plain() -> Kind {
    Kind { k: 3, l: None, public: true, linked: true, withhold: false, cohorts: true, tight: false, diverse: None }
}

fn people(from: u32, to: u32) -> Vec<TableRow> {
    (from..to).map(|id| (id, Some(id * 7 % 64), id % 12, id % 5, id % 3)).collect()
}

#[test]
fn a_person_in_two_partitions_is_refused() {
    let root = project(plain());
    let mut twice = people(0, 40);
    twice.push(twice[7]);
    for partitions in 1..4 {
        let error = publish_in(root.path(), &mut ByHand::new(&twice, partitions, 1), (4, 10), None).unwrap_err();
        assert_eq!(error.code(), "D104");
        assert!(error.to_string().contains("2 rows"), "{error}");
    }
}

#[test]
fn problems_of_all_machines_are_one_error() {
    let root = project(plain());
    let mut bad = people(0, 40);
    bad[3].1 = Some(900);
    bad[30].1 = Some(901);
    let error = publish_in(root.path(), &mut ByHand::new(&bad, 5, 1), (4, 10), None).unwrap_err();
    assert_eq!(error.code(), "D109");
    assert!(error.to_string().contains("2 rows"), "{error}");
    let error = publish_in(root.path(), &mut ByHand::new(&[], 2, 1), (4, 10), None).unwrap_err();
    assert_eq!(error.code(), "D116");
}

#[test]
fn a_table_that_changes_while_it_is_read_is_refused() {
    let root = project(plain());
    let mut machines = ByHand::new(&people(0, 40), 3, 1);
    machines.forgets = true;
    let error = publish_in(root.path(), &mut machines, (4, 10), None).unwrap_err();
    assert_eq!(error.code(), "R707");
}

fn numbers(blob: &Blob) -> Vec<u32> {
    blob.bytes.chunks_exact(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

fn set(blob: &mut Blob, at: usize, number: u32) {
    blob.bytes[4 * at..4 * at + 4].copy_from_slice(&number.to_le_bytes());
}

/// The people of the first release have two quasi codes; then come the value and the public cell.
const WIDTH: usize = 4 + 2 + 1 + 1;

/// The numbers before the groups of a unit.
const HEADER: usize = 10;

/// Gives a person of a group another value.
fn revalue(blobs: &mut [Blob]) {
    let blob = blobs.iter_mut().find(|blob| blob.kind == BlobKind::Groups && numbers(blob)[0] > 0).unwrap();
    let all = numbers(blob);
    let (groups, first) = (all[0] as usize, HEADER + all[0] as usize * 5);
    let starts = std::iter::once(0).chain(all[HEADER..HEADER + groups - 1].iter().map(|&end| end as usize));
    let is_other = |at: &usize| all[*at] != 0;
    let found = starts.map(|start| first + start).find(is_other);
    // The groups of a bucket may all begin with the first value.
    let row = found.or_else(|| (first..first + all[1] as usize).rev().find(is_other)).unwrap();
    set(blob, row, 0);
}

/// Makes a region too small for its people.
fn shrink(blobs: &mut [Blob]) {
    let blob = blobs.iter_mut().find(|blob| blob.kind == BlobKind::Groups && numbers(blob)[0] > 0).unwrap();
    let region = HEADER + numbers(blob)[0] as usize;
    (region..region + 4).for_each(|at| set(blob, at, 0));
}

/// Puts two people into each other's groups.
fn swap(blobs: &mut [Blob]) {
    let mut groups: Vec<(usize, usize, u32)> = Vec::new();
    for (at, blob) in blobs.iter().enumerate().filter(|(_, blob)| blob.kind == BlobKind::Placed) {
        let rows = numbers(blob);
        groups.extend(rows.chunks_exact(WIDTH + 1).enumerate().map(|(row, one)| (at, row, one[WIDTH])));
    }
    let (one, two) = (groups[0], *groups.iter().find(|other| other.2 != groups[0].2).unwrap());
    set(&mut blobs[one.0], one.1 * (WIDTH + 1) + WIDTH, two.2);
    set(&mut blobs[two.0], two.1 * (WIDTH + 1) + WIDTH, one.2);
}

/// Loses a person on the way into the vault.
fn lose(blobs: &mut [Blob]) {
    let blob = blobs.iter_mut().find(|blob| blob.kind == BlobKind::Placed).unwrap();
    blob.bytes.truncate(blob.bytes.len() - 4 * (WIDTH + 1));
}

/// Has a person twice.
fn repeat(blobs: &mut [Blob]) {
    let blob = blobs.iter_mut().find(|blob| blob.kind == BlobKind::Placed).unwrap();
    let again = blob.bytes[..4 * (WIDTH + 1)].to_vec();
    blob.bytes.extend(again);
}

/// Loses a person on the way to the driver, before anybody gets a bucket.
fn overlook(blobs: &mut [Blob]) {
    let blob = blobs.iter_mut().find(|blob| blob.kind == BlobKind::Crowd && !blob.bytes.is_empty()).unwrap();
    blob.bytes.truncate(blob.bytes.len() - 4 * 7);
}

/// Adds a counterfeit that is none.
fn pretend(blobs: &mut [Blob]) {
    let blob = blobs.iter_mut().find(|blob| blob.kind == BlobKind::Groups && numbers(blob)[0] > 0).unwrap();
    let all = numbers(blob);
    let [groups, rows, public, linked] = [0, 1, 2, 3].map(|at| all[at] as usize);
    set(blob, HEADER + groups * 5 + rows + public + 2 * linked, 1);
}

/// The same where everyone gets a bucket first. A machine that tells a wrong value there is not among them: others stand
/// together then, and the gate judges them by the true values.
#[test]
fn harm_to_buckets_is_refused() {
    let kind = Seats { m: 2, k: None, reader: "rule", withhold: false, on_ineligible: "refuse", public: true };
    let harms: [(&str, Harm, &str); 7] = [
        ("crowd", overlook, "R707"),
        ("solve", revalue, "A6"),
        ("solve", shrink, "A601"),
        ("solve", pretend, "A6"),
        ("check", swap, "A601"),
        ("check", lose, "R707"),
        ("check", repeat, "R707"),
    ];
    for (name, harm, found) in harms {
        let root = seats_project(kind);
        let mut machines = ByHand::new(&people(0, 60), 3, 1);
        machines.harm = Some((name, harm));
        let published = publish_in(root.path(), &mut machines, (4, 10), None);
        let error = published.err().unwrap_or_else(|| panic!("{name}: {found} was expected, and nothing was found"));
        let codes = format!("{} {error}", error.code());
        assert!(codes.contains(found), "{name}: {found} was expected: {codes}");
        assert!(!root.path().join("releases").exists(), "nothing is published");
    }
}

/// Whatever a machine makes of its work, the gate or the sums find it.
#[test]
fn harm_on_the_way_is_refused() {
    let harms: [(&str, Harm, &str); 5] = [
        ("solve", revalue, "A602"),
        ("solve", shrink, "A601"),
        ("check", swap, "A601"),
        ("check", lose, "R707"),
        ("check", repeat, "R707"),
    ];
    for (name, harm, found) in harms {
        let root = project(plain());
        let mut machines = ByHand::new(&people(0, 60), 3, 1);
        machines.harm = Some((name, harm));
        let error = publish_in(root.path(), &mut machines, (4, 10), None).unwrap_err();
        let codes = format!("{} {error}", error.code());
        assert!(codes.contains(found), "{found} was expected: {codes}");
        assert!(!root.path().join("releases").exists(), "nothing is published");
    }
}

#[test]
fn a_published_label_is_recognised_or_refused() {
    let root = project(plain());
    let publish = |people: &[TableRow], label: &str, partitions: usize| {
        publish_in(root.path(), &mut ByHand::new(people, partitions, 3), (4, 10), Some(label))
    };
    assert_eq!(publish(&people(0, 40), "a", 2).unwrap(), None);
    assert_eq!(publish(&people(0, 60), "b", 3).unwrap(), None);
    assert_eq!(publish(&people(0, 60), "b", 1).unwrap(), Some(2));
    assert_eq!(publish(&people(0, 40), "a", 3).unwrap(), Some(1));
    assert_eq!(publish(&people(0, 50), "b", 2).unwrap_err().code(), "R608");
    assert_eq!(publish(&people(0, 50), "12", 2).unwrap_err().code(), "R201");
}

#[test]
fn a_kernel_of_another_version_is_refused() {
    assert_eq!(Kernel::new(b"[\"0.0.0\", {}]").unwrap_err().code(), "R709");
}
