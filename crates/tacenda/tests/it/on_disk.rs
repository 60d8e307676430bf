//! People on disk: the release, the vault and the ledger are those of the way in memory, to the byte.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tacenda::ingest::Given;
use tacenda::ledger::{Publication, RealDisk, Store};
use tacenda::publish::{Access, Input, Machine, NextRelease, Project, ProjectError};

/// How the promise and the columns of a series vary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub k: u32,
    pub l: Option<u32>,
    pub public: bool,
    pub linked: bool,
    pub withhold: bool,
    pub cohorts: bool,
    pub tight: bool,
    /// incremental-l-diversity, and how its groups are formed; `rule` for close groups against the rule reader.
    pub diverse: Option<&'static str>,
}

/// A person: identifier, age or none, place, illness, ward.
pub(crate) type TableRow = (u32, Option<u32>, u32, u32, u32);

fn policy(kind: Kind) -> String {
    let Kind { k, l, public, linked, withhold, cohorts, tight, diverse } = kind;
    let l = l.map_or(String::new(), |l| format!("l = {l}\n"));
    let ward = if public { "role = \"public\", because = \"a test\"" } else { "role = \"drop\"" };
    let on_delete = if withhold { "on_delete = \"withhold\"\n" } else { "" };
    let promise = diverse.map_or_else(
        || format!("model = \"incremental-k-anonymity\"\nk = {k}\n"),
        |groups| {
            let l = k.min(3);
            let groups = match groups {
                "rule" => String::new(),
                groups => format!("reader = \"method\"\ngroups = \"{groups}\"\n"),
            };
            format!("model = \"incremental-l-diversity\"\nl = {l}\n{groups}")
        },
    );
    let form = if cohorts { String::new() } else { format!("cohorts = false\ntight = {tight}\n") };
    format!(
        "policy = 1\n[series]\nname = \"disk\"\n[columns]\nid = {{ role = \"identifier\" }}\n\
         age = {{ role = \"quasi\", type = \"integer\", domain = [0, 64], grid = 2 }}\n\
         place = {{ role = \"quasi\", type = \"category\", hierarchy = \"place.csv\" }}\n\
         illness = {{ role = \"sensitive\", type = \"category\" }}\nward = {{ {ward} }}\n\
         [promise]\n{promise}{l}{on_delete}{form}[withheld]\nmax_share = 1.0\n\
         [output]\nformats = [\"csv\", \"parquet\"]\nlinked_ids = {linked}\n"
    )
}

pub(crate) fn write_table(path: &Path, people: &[TableRow], turn: usize) {
    let mut lines: Vec<String> = people
        .iter()
        .map(|(id, age, place, illness, ward)| {
            let age = age.map_or(String::new(), |age| age.to_string());
            format!("p{id},{age},{place},illness {illness},ward {ward}")
        })
        .collect();
    let len = lines.len().max(1);
    lines.rotate_left(turn % len);
    if turn % 2 == 1 {
        lines.reverse();
    }
    fs::write(path, format!("id,age,place,illness,ward\n{}\n", lines.join("\n"))).unwrap();
}

/// A project folder with a seed, to be copied.
pub(crate) fn project(kind: Kind) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tacenda.toml"), policy(kind)).unwrap();
    let tree: Vec<String> = (0..12).map(|leaf| format!("{leaf};n{};*", leaf / 3)).collect();
    fs::write(folder.path().join("place.csv"), tree.join("\n") + "\n").unwrap();
    drop(Project::open(folder.path(), None, Access::Publish).unwrap());
    folder
}

pub(crate) fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    copy_into(from, to.path());
    to
}

fn copy_into(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy_into(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

pub(crate) fn input(table: PathBuf, memory: Option<u64>) -> Input {
    Input { table: Given::Path(table), delta: false, show_values: false, memory, threads: 2 }
}

/// Publishes the next release; on disk with so many people in a file, or in memory. Returns its number and its warnings.
fn publish(
    root: &Path,
    people: &[TableRow],
    per_file: Option<usize>,
    turn: usize,
) -> Result<(u32, Vec<String>), ProjectError> {
    let table = root.join("table.csv");
    write_table(&table, people, turn);
    let mut project = Project::open(root, None, Access::Publish)?;
    per_file.into_iter().for_each(|people| project.keep_on_disk(people));
    let material = project.material_within(input(table, None), &|_| ())?;
    let rehearsal = project.rehearse(&material, NextRelease::default(), &|_| ())?;
    let number = project.publish(&material, &rehearsal, &|_| ())?.number;
    Ok((number, rehearsal.warnings))
}

/// Forgets a person.
pub(crate) fn erase(root: &Path, id: u32) {
    Project::open(root, None, Access::Publish).unwrap().erase(&[format!("p{id}")]).unwrap();
}

/// Every file of the releases.
fn releases(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![root.join("releases")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => drop(files.insert(path.strip_prefix(root).unwrap().into(), fs::read(&path).unwrap())),
            }
        }
    }
    files
}

/// The files of releases whose bytes do not depend on when they were made.
fn data(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let is_data = |path: &Path| path.extension().is_some_and(|ending| ending == "csv" || ending == "parquet");
    releases(root).into_iter().filter(|(path, _)| is_data(path)).collect()
}

pub(crate) fn store(root: &Path) -> Store {
    Store::open_read(std::sync::Arc::new(RealDisk), root).unwrap()
}

fn scratch(root: &Path) -> usize {
    let names = fs::read_dir(root.join(".tacenda/vault")).unwrap();
    names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("scratch")).count()
}

/// Asserts that both projects have published and remember the same.
pub(crate) fn assert_same(memory: &Path, disk: &Path, what: &str) {
    assert_eq!(data(memory), data(disk), "{what}: the data");
    let (one, two) = (store(memory), store(disk));
    assert!(one.history().unwrap() == two.history().unwrap(), "{what}: the history");
    assert!(one.snapshot().unwrap() == two.snapshot().unwrap(), "{what}: the snapshot");
    let facts = |store: &Store| -> Vec<(Option<String>, Option<String>, String)> {
        let fact = |line: &Publication| (line.input.clone(), line.source.clone(), format!("{:?}", line.numbers));
        store.publications().map(fact).collect()
    };
    let without_source = |facts: Vec<(Option<String>, Option<String>, String)>| {
        facts.into_iter().map(|(input, _, numbers)| (input, numbers)).collect::<Vec<_>>()
    };
    assert_eq!(without_source(facts(&one)), without_source(facts(&two)), "{what}: the ledger");
    assert_eq!(scratch(disk), 0, "{what}: scratch files are gone");
}

pub(crate) fn person(id: u32) -> impl Strategy<Value = TableRow> {
    (prop::option::weighted(0.9, 0u32..64), 0u32..12, 0u32..5, 0u32..3)
        .prop_map(move |(age, place, illness, ward)| (id, age, place, illness, ward))
}

pub(crate) fn kind() -> impl Strategy<Value = Kind> {
    let form = (
        any::<bool>(),
        any::<bool>(),
        prop::option::weighted(0.4, prop::sample::select(vec!["dealt", "drawn", "close", "rule"])),
    );
    (2u32..6, prop::option::of(2u32..3), any::<bool>(), any::<bool>(), any::<bool>(), form).prop_map(
        |(k, l, public, linked, withhold, (cohorts, tight, diverse))| Kind {
            k,
            l: l.filter(|_| cohorts && diverse.is_none()),
            public,
            linked: linked && diverse.is_none(),
            withhold: withhold && diverse.is_none(),
            cohorts: cohorts || diverse.is_some(),
            tight: tight && !cohorts && diverse.is_none(),
            diverse,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    /// First release and three updates, for units of several sizes and input in several orders, also after an erasure. A
    /// refusal is the same refusal, too.
    #[test]
    fn a_release_from_disk_is_that_of_memory(
        kind in kind(),
        people in (0u32..600).map(person).collect::<Vec<_>>(),
        batches in prop::collection::vec(0usize..80, 4),
        leaver in 0usize..400,
        erased in prop::option::of(0u32..60),
        sizes in prop::collection::vec(6usize..90, 2),
    ) {
        let base = project(kind);
        let memory = copy(base.path());
        let disks: Vec<tempfile::TempDir> = sizes.iter().map(|_| copy(base.path())).collect();
        let mut here: Vec<TableRow> = Vec::new();
        let mut rest = people.into_iter();
        for (round, &batch) in batches.iter().enumerate() {
            // Enough that cells are cut before they are small enough to be played out.
            here.extend(rest.by_ref().take(batch + if round == 0 { 20 + leaver } else { 0 }));
            if kind.withhold && round == 2 && leaver < here.len() {
                here.remove(leaver);
            }
            if let Some(id) = erased.filter(|_| round == 2) {
                let folders = disks.iter().chain([&memory]).map(tempfile::TempDir::path);
                folders.filter(|root| store(root).releases() > 0).for_each(|root| erase(root, id));
            }
            let wanted = publish(memory.path(), &here, None, round).map_err(|error| error.to_string());
            for (at, (disk, &size)) in disks.iter().zip(&sizes).enumerate() {
                let got = publish(disk.path(), &here, Some(size), 7 * at + round).map_err(|error| error.to_string());
                prop_assert_eq!(&wanted, &got, "round {} with files of {}", round, size);
                assert_same(memory.path(), disk.path(), &format!("round {round}, files of {size}"));
            }
        }
    }
}

/// How m-invariance and its columns vary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seats {
    pub m: u32,
    pub k: Option<u32>,
    pub reader: &'static str,
    pub withhold: bool,
    pub on_ineligible: &'static str,
    pub public: bool,
}

pub(crate) fn seats() -> impl Strategy<Value = Seats> {
    let uneven = prop::sample::select(vec!["refuse", "defer", "defer", "counterfeit"]);
    (2u32..4, prop::option::of(2u32..5), prop::bool::weighted(0.7), any::<bool>(), uneven, any::<bool>()).prop_map(
        |(m, k, rule, withhold, on_ineligible, public)| Seats {
            m,
            k: k.map(|k| if rule { k } else { k.min(m) }),
            reader: if rule { "rule" } else { "method" },
            withhold,
            on_ineligible: if rule { on_ineligible } else { "refuse" },
            public,
        },
    )
}

/// A project whose promise is m-invariance.
pub(crate) fn seats_project(kind: Seats) -> tempfile::TempDir {
    let Seats { m, k, reader, withhold, on_ineligible, public } = kind;
    let folder = project(PLAIN);
    let path = folder.path().join("tacenda.toml");
    let text = fs::read_to_string(&path).unwrap();
    let k = k.map_or(String::new(), |k| format!("k = {k}\n"));
    let surplus = if withhold { "withhold" } else { "counterfeit" };
    let promise = format!(
        "model = \"m-invariance\"\nm = {m}\n{k}reader = \"{reader}\"\nsurplus = \"{surplus}\"\n\
         on_ineligible = \"{on_ineligible}\"\naccept_counterfeit = \"a test\"\n"
    );
    let text = text
        .replace("model = \"incremental-k-anonymity\"\nk = 3\n", &promise)
        .replace("[withheld]\nmax_share = 1.0\n", "[withheld]\nmax_share = 1.0\n[counterfeits]\nmax_share = 0.9\n");
    let ward = "ward = { role = \"public\", because = \"a test\" }";
    let text = if public { text.replace("ward = { role = \"drop\" }", ward) } else { text };
    fs::write(path, text.replace("linked_ids = false\n", "")).unwrap();
    folder
}

/// What happens to people between two releases: each number says of one in so many.
#[derive(Clone, Debug)]
pub(crate) struct Churn {
    pub arrive: usize,
    leave: Vec<usize>,
    returns: Vec<usize>,
    revalued: Vec<(usize, u32)>,
    moved: Vec<(usize, u32)>,
    erased: Option<u32>,
    grows: bool,
}

pub(crate) fn churn() -> impl Strategy<Value = Churn> {
    (
        0usize..60,
        prop::collection::vec(0usize..500, 0..25),
        prop::collection::vec(0usize..40, 0..6),
        prop::collection::vec((0usize..500, 0u32..5), 0..5),
        prop::collection::vec((0usize..500, 0u32..12), 0..5),
        prop::option::weighted(0.2, 0u32..200),
        prop::bool::weighted(0.2),
    )
        .prop_map(|(arrive, leave, returns, revalued, moved, erased, grows)| Churn {
            arrive,
            leave,
            returns,
            revalued,
            moved,
            erased,
            grows,
        })
}

impl Churn {
    /// Changes the people who are here. Nobody's value changes where the reader knows the method.
    pub fn apply(&self, here: &mut Vec<TableRow>, gone: &mut Vec<TableRow>, values_change: bool) {
        for &row in &self.leave {
            if row < here.len() {
                gone.push(here.swap_remove(row));
            }
        }
        for &row in &self.returns {
            if row < gone.len() {
                here.push(gone.swap_remove(row));
            }
        }
        for &(row, illness) in self.revalued.iter().filter(|_| values_change) {
            here.iter_mut().skip(row).take(1).for_each(|person| person.3 = illness);
        }
        for &(row, place) in &self.moved {
            here.iter_mut().skip(row).take(1).for_each(|person| person.2 = place);
        }
    }

    /// Erases somebody, and gives a column more values, in projects that have a release.
    pub fn amend(&self, roots: &[&Path]) {
        for &root in roots.iter().filter(|root| store(root).releases() > 0) {
            self.erased.into_iter().for_each(|id| erase(root, id));
            if self.grows {
                let path = root.join("tacenda.toml");
                let text = fs::read_to_string(&path).unwrap();
                fs::write(&path, text.replace("domain = [0, 64]", "domain = [0, 70]")).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    /// Buckets: people arrive, leave, return, change and are erased, columns gain values, and both ways publish the same.
    #[test]
    fn buckets_from_disk_are_those_of_memory(
        kind in seats(),
        people in (0u32..700).map(person).collect::<Vec<_>>(),
        first in 0usize..400,
        churns in prop::collection::vec(churn(), 4),
        sizes in prop::collection::vec(10usize..150, 2),
    ) {
        let base = seats_project(kind);
        let memory = copy(base.path());
        let disks: Vec<tempfile::TempDir> = sizes.iter().map(|_| copy(base.path())).collect();
        let roots: Vec<&Path> = disks.iter().chain([&memory]).map(tempfile::TempDir::path).collect();
        let mut rest = people.into_iter();
        let mut here: Vec<TableRow> = rest.by_ref().take(first).collect();
        let mut gone: Vec<TableRow> = Vec::new();
        for (round, churn) in churns.iter().enumerate() {
            if round > 0 {
                churn.apply(&mut here, &mut gone, kind.reader == "rule");
            }
            here.extend(rest.by_ref().take(churn.arrive));
            churn.amend(&roots);
            let wanted = publish(memory.path(), &here, None, round).map_err(|error| error.to_string());
            for (at, (disk, &size)) in disks.iter().zip(&sizes).enumerate() {
                let got = publish(disk.path(), &here, Some(size), 7 * at + round).map_err(|error| error.to_string());
                prop_assert_eq!(&wanted, &got, "round {} with files of {}", round, size);
                assert_same(memory.path(), disk.path(), &format!("round {round}, files of {size}"));
            }
        }
    }
}

pub(crate) const PLAIN: Kind =
    Kind { k: 3, l: None, public: false, linked: false, withhold: false, cohorts: true, tight: false, diverse: None };

/// A project with a column whose values are listed, others being `other`.
pub(crate) fn listed_project() -> tempfile::TempDir {
    let folder = project(PLAIN);
    let path = folder.path().join("tacenda.toml");
    let ward = "ward = { role = \"quasi\", type = \"category\", values = [\"ward 0\", \"ward 1\", \"other\"], \
                unknown = \"other\" }";
    let text = fs::read_to_string(&path).unwrap().replace("ward = { role = \"drop\" }", ward);
    fs::write(&path, text).unwrap();
    folder
}

/// Gives three columns of it more values.
pub(crate) fn amend(root: &Path) {
    let path = root.join("tacenda.toml");
    let text = fs::read_to_string(&path).unwrap();
    let text = text.replace("domain = [0, 64]", "domain = [0, 70]");
    fs::write(&path, text.replace("[\"ward 0\",", "[\"ward 2\", \"ward 0\",")).unwrap();
    let mut tree: Vec<String> = (0..14).map(|leaf| format!("{leaf};n{};*", leaf % 12 / 3)).collect();
    // A node's leaves stand together in the file.
    tree.sort_by_key(|line| line[line.find(';').unwrap()..].to_string());
    fs::write(root.join("place.csv"), tree.join("\n") + "\n").unwrap();
}

/// The people of such a project, who have the new values from the second round on.
pub(crate) fn amended_people(round: u32) -> Vec<TableRow> {
    let mut people = crowd(70 + 50 * round);
    if round > 0 {
        people.iter_mut().skip(80).for_each(|(id, _, place, _, _)| *place = *id % 14);
    }
    people
}

/// Columns gain values: the vault is read with the new codes, and who was read as `other` stays there.
#[test]
fn a_series_goes_on_from_disk_after_an_amendment() {
    for sizes in [[7, 30], [90, 11]] {
        let (memory, disk) = (listed_project(), tempfile::tempdir().unwrap());
        copy_into(memory.path(), disk.path());
        for round in 0..4u32 {
            if round == 1 {
                [memory.path(), disk.path()].into_iter().for_each(amend);
            }
            let people = amended_people(round);
            publish(memory.path(), &people, None, 0).unwrap();
            publish(disk.path(), &people, Some(sizes[round as usize % 2]), round as usize).unwrap();
            assert_same(memory.path(), disk.path(), &format!("round {round}"));
        }
    }
}

/// Without cohorts regions may not overlap. No unit shows all of them, so the whole is judged too.
#[test]
fn two_ways_of_one_series_without_cohorts_take_turns() {
    let cells = Kind { cohorts: false, ..PLAIN };
    let (turns, memory) = (project(cells), tempfile::tempdir().unwrap());
    copy_into(turns.path(), memory.path());
    for (round, per_file) in [None, Some(9), Some(40), None, Some(3)].into_iter().enumerate() {
        let people = crowd(60 + 90 * round as u32);
        publish(turns.path(), &people, per_file, round).unwrap();
        publish(memory.path(), &people, None, 0).unwrap();
        assert_same(memory.path(), turns.path(), &format!("round {round}"));
    }
}

fn crowd(people: u32) -> Vec<TableRow> {
    (0..people).map(|id| (id, Some(id * 7 % 64), id % 12, id % 5, id % 3)).collect()
}

/// The error of a publication.
fn refusal(root: &Path, per_file: Option<usize>) -> String {
    let mut project = Project::open(root, None, Access::Publish).unwrap();
    per_file.into_iter().for_each(|people| project.keep_on_disk(people));
    let material = project.material_within(input(root.join("table.csv"), None), &|_| ());
    material.map(drop).unwrap_err().to_string()
}

#[test]
fn faults_of_the_input_are_those_of_memory() {
    let folder = project(PLAIN);
    let table = folder.path().join("table.csv");
    for rows in [
        "a,1,1,x,w\nb,2,2,x,w\na,3,3,x,w\nc,4,4,x,w\nb,5,5,x,w\n",
        "a,900,1,x,w\nb,2,99,x,w\n,3,3,x,w\nd,4,4,,w\ne,4\n",
        "a,1,1,Flu,w\nb,2,2,flu,w\n",
    ] {
        fs::write(&table, format!("id,age,place,illness,ward\n{rows}")).unwrap();
        assert_eq!(refusal(folder.path(), None), refusal(folder.path(), Some(1)), "{rows}");
        assert_eq!(scratch(folder.path()), 0);
    }
}

#[test]
fn the_same_table_is_recognised_from_disk() {
    let folder = project(PLAIN);
    publish(folder.path(), &crowd(90), Some(20), 0).unwrap();
    for per_file in [None, Some(7)] {
        let mut project = Project::open(folder.path(), None, Access::Publish).unwrap();
        per_file.into_iter().for_each(|people| project.keep_on_disk(people));
        let material = project.material_within(input(folder.path().join("table.csv"), None), &|_| ()).unwrap();
        assert_eq!(project.published_from(&material, NextRelease::default()).unwrap(), Some(1));
    }
}

/// A vault that was written whole is read in parts, and one in parts is read whole.
#[test]
fn both_ways_take_turns() {
    let (turns, memory) = (project(PLAIN), tempfile::tempdir().unwrap());
    copy_into(turns.path(), memory.path());
    for (round, per_file) in [Some(9), None, Some(40), None, Some(3)].into_iter().enumerate() {
        let people = crowd(60 + 40 * round as u32);
        publish(turns.path(), &people, per_file, round).unwrap();
        publish(memory.path(), &people, None, 0).unwrap();
        assert_same(memory.path(), turns.path(), &format!("round {round}"));
    }
}

#[test]
fn what_cannot_be_published_from_disk_is_refused_with_the_reason() {
    let folder = project(PLAIN);
    write_table(&folder.path().join("table.csv"), &crowd(90), 0);
    let text = fs::read_to_string(folder.path().join("tacenda.toml")).unwrap();
    let refused = |policy: &str| {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("tacenda.toml"), policy).unwrap();
        folder
    };
    for (change, why) in [
        ("model = \"incremental-k-anonymity\"\nk = 3\nl = 2\ncohorts = false\n", "forms groups of everyone at once"),
        ("model = \"m-invariance\"\nm = 2\neffort = \"fine\"\n", "forms groups of everyone at once"),
    ] {
        let policy = text.replace("model = \"incremental-k-anonymity\"\nk = 3\n", change);
        let lab = refused(&policy.replace("linked_ids = false\n", ""));
        fs::copy(folder.path().join("place.csv"), lab.path().join("place.csv")).unwrap();
        fs::copy(folder.path().join("table.csv"), lab.path().join("table.csv")).unwrap();
        let project = Project::open(lab.path(), None, Access::Publish).unwrap();
        let error = project.material_within(input(lab.path().join("table.csv"), Some(1000)), &|_| ()).unwrap_err();
        assert_eq!((error.code(), error.exit_code()), ("R705", 7), "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
    let project = Project::open(folder.path(), None, Access::Publish).unwrap();
    let table = || input(folder.path().join("table.csv"), Some(1000));
    assert_eq!(project.material_within(table(), &|_| ()).unwrap_err().code(), "R701", "even a release needs memory");
    let delta = Input { delta: true, ..table() };
    assert_eq!(project.material_within(delta, &|_| ()).unwrap_err().code(), "R705");
    assert_eq!(project.material(table(), &|_| ()).unwrap_err().code(), "R705", "check and plan need it in memory");
}

/// Everyone with one value set is cut together. If they do not fit, nothing is cut, and nothing stays behind.
#[test]
fn a_bucket_that_does_not_fit_is_refused() {
    let kind = Seats { m: 2, k: None, reader: "rule", withhold: false, on_ineligible: "refuse", public: false };
    let folder = seats_project(kind);
    write_table(&folder.path().join("table.csv"), &crowd(200), 0);
    let mut project = Project::open(folder.path(), None, Access::Publish).unwrap();
    project.keep_on_disk(20);
    // Besides a fixed part, 200 people with two columns take 200 * (24 + 128) bytes at most.
    for (memory, is_enough) in [(128 << 20, false), ((128 << 20) + 200 * 152, true)] {
        let steps = std::cell::RefCell::new(Vec::new());
        let step = |what: &str| steps.borrow_mut().push(what.to_string());
        let material = project.material_within(input(folder.path().join("table.csv"), Some(memory)), &step).unwrap();
        let rehearsed = project.rehearse(&material, NextRelease::default(), &step);
        assert_eq!(steps.into_inner().contains(&"grouping, bucket by bucket".to_string()), is_enough);
        match rehearsed {
            Ok(_) => assert!(is_enough),
            Err(error) => assert_eq!((error.code(), is_enough), ("R701", false), "{error}"),
        }
        drop(material);
        assert_eq!(scratch(folder.path()), 0);
    }
}

/// Without `--memory` the way is chosen by what is free, and nothing is refused.
#[test]
fn the_way_is_chosen_by_itself() {
    let told = |policy: Kind, free: fn() -> Option<u64>| {
        let folder = project(policy);
        write_table(&folder.path().join("table.csv"), &crowd(90), 0);
        let machine = Machine { free_memory: free, ..Machine::default() };
        let project = Project::open_on(machine, folder.path(), None, Access::Publish).unwrap();
        let steps = std::cell::RefCell::new(Vec::new());
        let step = |what: &str| steps.borrow_mut().push(what.to_string());
        let material = project.material_within(input(folder.path().join("table.csv"), None), &step).unwrap();
        project.rehearse(&material, NextRelease::default(), &step).unwrap();
        (material.notes().last().cloned().unwrap_or_default(), steps.into_inner().join("; "))
    };
    let little = || Some(20_000);
    let much = || Some(1 << 30);
    let on_disk = "reading onto the disk; sorting, and comparing with the vault; grouping arrivals, unit by unit; judging, \
                   unit by unit; judging the whole; measuring";
    let in_memory = "remembering; reading; grouping and judging; measuring";
    let (note, steps) = told(PLAIN, little);
    assert_eq!(note, "the people were kept on disk, because the table needs more memory than is free");
    assert_eq!(steps, on_disk);
    assert_eq!(told(PLAIN, much).1, in_memory);
    assert_eq!(told(PLAIN, || None).1, in_memory, "a system that does not say");
    let (note, steps) = told(Kind { cohorts: false, l: Some(2), ..PLAIN }, little);
    assert!(note.contains("cannot be published from disk: its promise"), "{note}");
    assert_eq!(steps, in_memory);
}

#[cfg(unix)]
#[test]
fn scratch_files_are_private_encrypted_and_gone_after_a_crash() {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;
    use tacenda::keys::KeyFolder;
    use tacenda::ledger::unsealed;
    let (folder, keys) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let keys = KeyFolder::at(&keys.path().join("keys"));
    fs::write(folder.path().join("tacenda.toml"), policy(PLAIN)).unwrap();
    fs::write(folder.path().join("place.csv"), "0;*\n1;*\n").unwrap();
    let machine = Machine { keys: Some(keys.clone()), ..Machine::default() };
    drop(Project::open_on(machine, folder.path(), None, Access::Publish).unwrap());
    let open = || Store::open_write(unsealed(Arc::new(RealDisk), folder.path(), Some(&keys)).unwrap(), folder.path());
    let store = open().unwrap();
    let kept = store.scratch();
    let file = kept.write(b"a canary sings").unwrap();
    assert_eq!(kept.read(file).unwrap(), b"a canary sings");
    let mut some = [0; 8];
    assert_eq!((kept.open(file).unwrap().fill(&mut some).unwrap(), &some), (8, b"a canary"));
    let vault = folder.path().join(".tacenda/vault");
    let path = fs::read_dir(&vault).unwrap().map(|entry| entry.unwrap().path());
    let path = path.into_iter().find(|path| path.to_string_lossy().contains("scratch-")).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let bytes = fs::read(&path).unwrap();
    assert!(!bytes.windows(6).any(|window| window == b"canary"), "it is encrypted");
    // A crash: nobody removes the file.
    std::mem::forget(kept);
    drop(store);
    assert_eq!(scratch(folder.path()), 1);
    drop(open().unwrap());
    assert_eq!(scratch(folder.path()), 0, "the next open for writing removes it");
    let store = open().unwrap();
    let kept = store.scratch();
    kept.write(b"again").unwrap();
    drop(kept);
    assert_eq!(scratch(folder.path()), 0, "and so does the end of a publication");
}
