//! A backup is whole and closed to others. A restored project goes on as it did before, or a person says why not.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacenda::ingest::Given;
use tacenda::keys::KeyFolder;
use tacenda::ledger::{Anchors, Disk, RealDisk};
use tacenda::publish::{Cluster, ClusterStep, Listener, ProjectError};
use tacenda::use_cases;
use tacenda::use_cases::{ClusterCut, ProjectFolder, PublishReport, ReleaseRequest, UseCaseError, VerifyRequest};
use tempfile::TempDir;

const POLICY: &str = "policy = 1\n[series]\nname = 'wards'\n[columns]\nid = { role = 'identifier' }\n\
    age = { role = 'quasi', type = 'integer', domain = [0, 120] }\nillness = { role = 'sensitive', type = 'category' }\n\
    [promise]\nmodel = 'm-invariance'\nm = 2\n[counterfeits]\nmax_share = 0.5\n[withheld]\nmax_share = 0.5\n";

/// A house with keys and anchors, a project, and a place for backups.
struct House(TempDir);

impl House {
    fn new() -> House {
        let house = House(tempfile::tempdir().unwrap());
        fs::create_dir(house.place("project")).unwrap();
        fs::write(house.place("project/tacenda.toml"), POLICY).unwrap();
        house
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn keys(&self) -> KeyFolder {
        KeyFolder::at(&self.place("keys"))
    }

    fn project(&self, name: &str) -> ProjectFolder {
        ProjectFolder {
            root: self.place(name),
            anchors: Some(Anchors::at(&self.place("anchors"))),
            keys: Some(self.keys()),
            ..ProjectFolder::default()
        }
    }

    fn request(&self, name: &str, table: usize) -> ReleaseRequest {
        let row = |id: usize| format!("p{id},{},{}\n", 20 + id % 50, ["flu", "gout", "asthma"][id % 3]);
        let path = self.place("table.csv");
        let rows: String = (table * 4..table * 4 + 30).map(row).collect();
        fs::write(&path, format!("id,age,illness\n{rows}")).unwrap();
        ReleaseRequest { project: self.project(name), data: Some(Given::Path(path)), ..ReleaseRequest::default() }
    }

    /// Publishes the table of a number.
    fn publish(&self, name: &str, table: usize) -> Result<PublishReport, UseCaseError> {
        self.request(name, table).prepare(None, &|_, _| {})?.publish(&|_, _| {})
    }

    fn rows(&self, name: &str, number: usize) -> Vec<u8> {
        let release = self.place(name).join(format!("releases/wards/r{number:04}"));
        let mut files: Vec<PathBuf> = fs::read_dir(release).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let is_data = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "csv" || ending == "parquet");
        files.iter().filter(|path| is_data(path)).flat_map(|path| fs::read(path).unwrap()).collect()
    }

    fn is_whole(&self, name: &str) -> bool {
        let (root, own) = (self.place(name), self.keys());
        let verified =
            use_cases::verify(&VerifyRequest { own: Some(&own), ..VerifyRequest::of(&root) }, &|_, _| {}).unwrap();
        verified.whole && verified.vault
    }
}

fn code(result: Result<PublishReport, UseCaseError>) -> &'static str {
    result.err().map_or("published", |error| error.code())
}

/// Every earlier state is restored and gone on from: with what followed then, with something else, and with a reason.
#[test]
fn a_restored_state_goes_on_as_it_did_or_not_at_all() {
    let house = House::new();
    const STATES: usize = 4;
    for number in 1..=STATES {
        // Written right before release `number` is committed.
        let request = ReleaseRequest {
            backup: Some(house.place(&format!("{}.age", number - 1))),
            ..house.request("project", number)
        };
        request.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    }
    use_cases::backup(&house.project("project"), &house.place(&format!("{STATES}.age"))).unwrap();
    let anchors = fs::read_dir(house.place("anchors")).unwrap().next().unwrap().unwrap().path();
    let newest = fs::read(&anchors).unwrap();
    for state in 0..=STATES {
        fs::write(&anchors, &newest).unwrap();
        let name = format!("restored-{state}");
        let report = use_cases::restore(&house.project(&name), &house.place(&format!("{state}.age"))).unwrap();
        assert_eq!((report.releases as usize, report.behind.is_some()), (state, state < STATES));
        assert!(house.is_whole(&name) && house.place(&name).join("tacenda.toml").exists());
        if state < STATES {
            // Something else than what followed then, or a line that did not.
            assert_eq!(code(house.publish(&name, state + 2)), "L511");
            if state > 0 {
                let retracted = use_cases::retract(&house.project(&name), "1", "a test").unwrap_err();
                assert_eq!(retracted.code(), "L511");
            }
            assert!(fs::read(&anchors).unwrap() == newest, "the anchor stays");
        }
        for number in state + 1..=STATES {
            house.publish(&name, number).unwrap_or_else(|error| panic!("{state}, {number}: {error}"));
            assert!(
                house.rows(&name, number) == house.rows("project", number),
                "{state}: release {number} is the same"
            );
        }
        // All is here again: from now on anything may follow.
        house.publish(&name, STATES + 3).unwrap();
        assert!(house.is_whole(&name));
        #[cfg(unix)]
        for folder in [".tacenda/vault", ".tacenda/staging"] {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(house.place(&name).join(folder)).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o700, "{folder} is as private as in a new project");
        }
        // The folder it was restored from is now the one that is behind.
        assert_eq!(code(house.publish("project", STATES + 1)), "L511");
    }
    // With a reason anything may follow, and the ledger keeps it.
    fs::write(&anchors, &newest).unwrap();
    use_cases::restore(&house.project("accepted"), &house.place("2.age")).unwrap();
    let mut request = house.request("accepted", 9);
    request.project.accept_rollback = Some("releases 3 and 4 never left".into());
    request.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    assert!(fs::read_to_string(house.place("accepted/.tacenda/ledger.jsonl")).unwrap().contains("never left"));
}

#[test]
fn a_backup_shows_nothing_and_opens_with_either_key_alone() {
    let house = House::new();
    house.publish("project", 1).unwrap();
    let file = house.place("all.age");
    use_cases::backup(&house.project("project"), &file).unwrap();
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n"));
    for canary in ["asthma", "wards", "ledger.jsonl", "seed_commitment"] {
        assert!(!bytes.windows(canary.len()).any(|found| found == canary.as_bytes()), "{canary}");
    }
    for (at, name) in ["vault.key", "recovery.key"].into_iter().enumerate() {
        let keys = house.place(&format!("only-{name}"));
        let project = ProjectFolder { keys: Some(KeyFolder::at(&keys)), ..house.project(&format!("by-{at}")) };
        KeyFolder::at(&keys).make_vault_identity().unwrap();
        assert_eq!(use_cases::restore(&project, &file).unwrap_err().code(), "K605");
        fs::remove_file(keys.join("recovery.key")).unwrap();
        fs::copy(house.keys().path().join(name), keys.join(name)).unwrap();
        assert_eq!(use_cases::restore(&project, &file).unwrap().releases, 1);
    }
}

#[test]
fn a_damaged_or_hostile_backup_restores_nothing() {
    let house = House::new();
    house.publish("project", 1).unwrap();
    let file = house.place("all.age");
    use_cases::backup(&house.project("project"), &file).unwrap();
    // Not over a project.
    assert_eq!(use_cases::restore(&house.project("project"), &file).unwrap_err().exit_code(), 2);
    let good = fs::read(&file).unwrap();
    let bad = house.place("bad.age");
    let refused = |bytes: &[u8]| {
        fs::write(&bad, bytes).unwrap();
        let error = use_cases::restore(&house.project("nothing"), &bad).unwrap_err();
        assert!(!house.place("nothing/.tacenda").exists() && !house.place("nothing/releases").exists());
        error.code()
    };
    for at in (0..good.len()).step_by(good.len() / 40) {
        let mut flipped = good.clone();
        flipped[at] ^= 1;
        let codes = [refused(&flipped), refused(&good[..at])];
        assert!(codes.iter().all(|code| ["K507", "K605", "L514"].contains(code)), "{at}: {codes:?}");
    }
    assert_eq!(refused(b"no backup at all"), "K507");
    assert!(!fs::read_dir(house.place("nothing")).unwrap().any(|left| left.is_ok()), "nothing is left behind");
}

/// A restored project has every file that its policy names, wherever the policy names it, and goes on.
#[test]
fn a_backup_has_every_file_that_the_policy_names() {
    let house = House::new();
    let named = ["trees/age.csv", "sql/stays.sql", "old/first.csv", "trees/other.csv", "older/r0001/data.csv"];
    for name in named {
        let path = house.place("project").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "flu;*\ngout;*\nasthma;*\n").unwrap();
    }
    fs::write(house.place("outside.csv"), "a canary").unwrap();
    fs::write(house.place("project/loose.csv"), "nobody names it").unwrap();
    let policy = POLICY
        .replace("type = 'category'", "hierarchy = 'trees/age.csv'")
        .replace("[promise]", "[source]\npostgres = 'service=a'\nquery = './sql/stays.sql'\n[promise]");
    let views = "[views.old]\nadopted = 'old/first.csv'\nhierarchy = { age = 'trees/other.csv', sex = '../outside.csv' }\n[views.older]\nadopted = 'older/r0001'\n";
    fs::write(house.place("project/tacenda.toml"), &policy).unwrap();
    house.publish("project", 1).unwrap();
    // Keys of other promises, and a file that is none of the project's: a backup is made whatever the policy says by now.
    fs::write(house.place("project/tacenda.toml"), format!("{policy}{views}")).unwrap();
    use_cases::backup(&house.project("project"), &house.place("all.age")).unwrap();
    use_cases::restore(&house.project("restored"), &house.place("all.age")).unwrap();
    for name in named {
        assert!(house.place("restored").join(name).is_file(), "{name}");
    }
    assert!(!house.place("restored/loose.csv").exists());
    fs::write(house.place("restored/tacenda.toml"), &policy).unwrap();
    house.publish("restored", 2).unwrap();
    // A policy that cannot be read any more is kept as well.
    fs::write(house.place("project/tacenda.toml"), "policy = ").unwrap();
    use_cases::backup(&house.project("project"), &house.place("broken.age")).unwrap();
    use_cases::restore(&house.project("mended"), &house.place("broken.age")).unwrap();
    assert!(house.place("mended/tacenda.toml").is_file());
}

/// A kill between the two last renames leaves the releases without their ledger. The same restore again finishes it, and only where
/// all of it is what the backup holds.
#[test]
fn a_killed_restore_is_finished_by_the_next() {
    let house = House::new();
    (1..=2).for_each(|number| drop(house.publish("project", number).unwrap()));
    let file = house.place("all.age");
    use_cases::backup(&house.project("project"), &file).unwrap();
    let (project, root) = (house.project("restored"), house.place("restored"));
    use_cases::restore(&project, &file).unwrap();
    // As the kill leaves it.
    let left = root.join(".tacenda-restoreAbCdEf");
    fs::create_dir(&left).unwrap();
    fs::rename(root.join(".tacenda"), left.join(".tacenda")).unwrap();
    let release = root.join("releases/wards/r0001");
    let manifest = release.join("manifest.json");
    let good = fs::read(&manifest).unwrap();
    let (stray, elsewhere) = (release.join("stray.csv"), root.join("elsewhere"));
    let refused = |what: &str| {
        let error = use_cases::restore(&project, &file).unwrap_err();
        assert_eq!(error.exit_code(), 2, "{what}: {error}");
        assert!(!root.join(".tacenda").exists() && left.join(".tacenda").exists(), "{what}");
    };
    fs::write(&stray, "").unwrap();
    refused("a file more");
    fs::rename(&stray, &elsewhere).unwrap();
    fs::rename(&manifest, &elsewhere).unwrap();
    refused("a file less");
    fs::write(&manifest, good.to_ascii_uppercase()).unwrap();
    refused("other bytes");
    fs::remove_file(&manifest).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&elsewhere, &manifest).unwrap();
        refused("a link");
        fs::remove_file(&manifest).unwrap();
    }
    fs::rename(&elsewhere, &manifest).unwrap();
    assert_eq!(use_cases::restore(&project, &file).unwrap().releases, 2);
    assert!(house.is_whole("restored") && !left.exists());
    house.publish("restored", 3).unwrap();
    // What was put in place is a project: it is not restored over.
    assert_eq!(use_cases::restore(&project, &file).unwrap_err().exit_code(), 2);
}

/// Where a link stands in the place of the project's folders, nothing is put beside it.
#[cfg(unix)]
#[test]
fn a_restore_over_a_link_leaves_nothing_behind() {
    let house = House::new();
    house.publish("project", 1).unwrap();
    use_cases::backup(&house.project("project"), &house.place("all.age")).unwrap();
    for own in [".tacenda", "releases"] {
        let root = house.place(&format!("over{own}"));
        fs::create_dir(&root).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", root.join(own)).unwrap();
        let project = house.project(&format!("over{own}"));
        assert_eq!(use_cases::restore(&project, &house.place("all.age")).unwrap_err().exit_code(), 2);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 1, "{own}");
    }
}

/// In object storage the files that a policy names do not lie beside the project: a backup without them would restore no working
/// project. It is refused before the project is set up, as deliveries are.
#[test]
fn a_project_in_object_storage_promises_no_backup() {
    struct NoCluster;
    impl Cluster for NoCluster {
        fn step(&mut self, _: ClusterStep<'_>, _: &mut Listener<'_>) -> Result<(), ProjectError> {
            panic!("nothing is asked of the cluster")
        }
    }
    let house = House::new();
    fs::create_dir(house.place("kept")).unwrap();
    let deliver = "[deliver.open]\npostgres = 'service=a'\nschema = 's'\n";
    for (more, backup, said) in [
        ("[backup]\nfolder = '../kept'\n", None, "[backup]"),
        ("", Some(house.place("once.age")), "[backup]"),
        (deliver, None, "[deliver]"),
    ] {
        fs::write(house.place("project/tacenda.toml"), format!("{POLICY}{more}")).unwrap();
        let place: Option<Arc<dyn Disk>> = Some(Arc::new(RealDisk));
        let project = ProjectFolder { place, ..house.project("project") };
        let request = ReleaseRequest { project, backup, ..ReleaseRequest::default() };
        let columns = ["id", "age", "illness"].map(String::from);
        let refused = request.prepare_in(&mut NoCluster, &columns, ClusterCut::default(), &|_, _| {}).err().unwrap();
        assert_eq!(refused.exit_code(), 2, "{refused}");
        assert!(refused.to_string().contains(said), "{refused}");
        assert!(!house.place("project/.tacenda").exists());
    }
}

/// A failed backup stops the release.
#[test]
fn without_its_backup_nothing_is_published() {
    let house = House::new();
    house.publish("project", 1).unwrap();
    let backup = Some(Path::new("/nowhere/at/all.age").to_path_buf());
    let request = ReleaseRequest { backup, ..house.request("project", 2) };
    let failed = request.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap_err();
    assert_eq!(failed.exit_code(), 7);
    assert!(!house.place("project/releases/wards/r0002").exists());
    house.publish("project", 2).unwrap();
}

/// What a policy file asks for is written before each release, each state under its own name. Old ones go, and nothing else.
#[test]
fn the_policy_file_says_where_backups_go() {
    let house = House::new();
    let rule = |folder: &str| {
        fs::write(house.place("project/tacenda.toml"), format!("{POLICY}[backup]\nfolder = '{folder}'\nkeep = 2\n"))
            .unwrap()
    };
    rule("../kept/");
    let failed = house.publish("project", 1).unwrap_err();
    assert_eq!((failed.code(), failed.exit_code()), ("R704", 7), "a folder that is not there is not made");
    fs::create_dir(house.place("kept")).unwrap();
    // Files that only look like ours.
    let others = ["wards-notes.age", "wards-00000000-r0000-00000000.age", "wards-r0000-00000000.age"];
    others.iter().for_each(|name| fs::write(house.place("kept").join(name), "").unwrap());
    let mut backups: Vec<PathBuf> = Vec::new();
    for number in 1..=4 {
        let report = house.publish("project", number).unwrap();
        backups.push(report.backup.unwrap());
        let name = backups[number - 1].file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("wards-") && name.contains(&format!("-r{:04}-", number - 1)), "{name}");
    }
    assert_eq!(backups.iter().map(|file| file.exists()).collect::<Vec<_>>(), [false, false, true, true]);
    assert!(others.iter().all(|name| house.place("kept").join(name).exists()));
    // After an erasure it is another state, under another name.
    use_cases::erase(&house.project("project"), &["p20".into()]).unwrap();
    let after = house.publish("project", 5).unwrap().backup.unwrap();
    assert!(after != backups[3] && backups[3].exists());
    // Another place for once.
    let once = ReleaseRequest { backup: Some(house.place("once.age")), ..house.request("project", 6) };
    let report = once.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    assert_eq!(report.backup, Some(house.place("once.age")));
    assert!(
        !fs::read_dir(house.place("kept")).unwrap().any(|file| file
            .unwrap()
            .path()
            .display()
            .to_string()
            .contains("-r0005-"))
    );
    // Not through a link.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(house.place("kept"), house.place("linked")).unwrap();
        for folder in ["../linked", "../linked/", "../linked/."] {
            rule(folder);
            let failed = house.publish("project", 7).unwrap_err();
            assert!(failed.code() == "R704" && failed.to_string().contains("link"), "{folder}: {failed}");
        }
        // The way out that the error names.
        let once = ReleaseRequest { backup: Some(house.place("again.age")), ..house.request("project", 7) };
        once.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    }
    rule("../kept");
    // A project that was set back overwrites nothing that is newer, and removes nothing newer.
    let listed = || {
        fs::read_dir(house.place("kept"))
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect::<std::collections::BTreeSet<_>>()
    };
    let before: Vec<(PathBuf, Vec<u8>)> =
        listed().into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect();
    use_cases::restore(&house.project("back"), &backups[3]).unwrap();
    let mut request = house.request("back", 9);
    request.project.accept_rollback = Some("a test".into());
    request.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    assert!(before.iter().all(|(file, bytes)| fs::read(file).unwrap() == *bytes) && listed().len() == before.len() + 1);
    // Without keys nothing can be encrypted.
    let mut request = house.request("other", 1);
    request.project.keys = None;
    fs::create_dir(house.place("other")).unwrap();
    fs::copy(house.place("project/tacenda.toml"), house.place("other/tacenda.toml")).unwrap();
    assert_eq!(request.prepare(None, &|_, _| {}).err().unwrap().code(), "R704");
}

/// Who was erased stays erased on this machine, also if a person goes on from a backup of the time before: people whom that
/// state knows, and people whom it does not.
#[test]
fn a_backup_brings_nobody_back_who_was_erased() {
    let house = House::new();
    use_cases::backup(
        &{
            house.publish("project", 1).unwrap();
            house.project("project")
        },
        &house.place("1.age"),
    )
    .unwrap();
    house.publish("project", 2).unwrap();
    use_cases::backup(&house.project("project"), &house.place("2.age")).unwrap();
    // p30 is in all tables, p36 came with the second.
    let erased = ["p30".to_string(), "p36".to_string()];
    assert_eq!(use_cases::erase(&house.project("project"), &erased).unwrap().erased.people, 2);
    let anchor = fs::read_dir(house.place("anchors")).unwrap().next().unwrap().unwrap().path();
    let newest = fs::read(&anchor).unwrap();
    for state in [1, 2] {
        fs::write(&anchor, &newest).unwrap();
        let name = format!("restored-{state}");
        assert!(
            use_cases::restore(&house.project(&name), &house.place(&format!("{state}.age"))).unwrap().behind.is_some()
        );
        // Even the table that followed then: p30 would be in its release.
        let refused: Vec<&str> = (1..4).map(|table| code(house.publish(&name, table))).collect();
        assert!(refused.iter().all(|code| *code == "L511"), "{state}: {refused:?}");
        let planned = use_cases::plan(house.request(&name, 3), None, &|_, _| {}).unwrap_err();
        assert_eq!((planned.code(), planned.exit_code()), ("L511", 5));
        assert!(!house.place(&name).join("tacenda-plan.json").exists());
        let mut request = house.request(&name, 3);
        request.project.accept_rollback = Some("nobody got the others".into());
        let report = request.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
        assert_eq!(report.summary.unwrap().people, 28, "30 people are in the table, and two of them were erased");
        assert!(house.is_whole(&name));
        let events: Vec<String> =
            use_cases::log(&house.place(&name)).unwrap().events.iter().map(|line| line.event.clone()).collect();
        assert!(events.ends_with(&["rollback".into(), "erase".into(), "publish".into()]), "{events:?}");
        // Later too, and said once.
        assert_eq!(house.publish(&name, 4).unwrap().summary.unwrap().people, 28);
    }
}

/// Before its first release a project can remember nobody, so going on from there is refused.
#[test]
fn a_state_without_releases_is_not_gone_on_from_once_people_were_erased() {
    let house = House::new();
    let first = ReleaseRequest { backup: Some(house.place("0.age")), ..house.request("project", 1) };
    first.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    let restored = |name: &str| {
        use_cases::restore(&house.project(name), &house.place("0.age")).unwrap();
        let mut request = house.request(name, 2);
        request.project.accept_rollback = Some("a test".into());
        let next = request.prepare(None, &|_, _| {});
        code(next.and_then(|next| next.publish(&|_, _| {})))
    };
    let anchor = fs::read_dir(house.place("anchors")).unwrap().next().unwrap().unwrap().path();
    let newest = fs::read(&anchor).unwrap();
    assert_eq!(restored("early"), "published");
    fs::write(&anchor, &newest).unwrap();
    use_cases::erase(&house.project("project"), &["p10".into()]).unwrap();
    assert_eq!(restored("late"), "L511");
}

/// What cannot be restored is no backup: the damage is told when there is still something to mend it from. A stray file does no
/// harm, because it is not packed.
#[test]
fn a_damaged_project_gives_no_backup() {
    let house = House::new();
    (1..=2).for_each(|number| drop(house.publish("project", number).unwrap()));
    let release = house.place("project/releases/wards/r0001");
    let vault = house.place("project/.tacenda/vault");
    let named = |folder: &Path, part: &str| {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.into_iter().find(|path| path.display().to_string().contains(part)).unwrap()
    };
    let backup = |name: &str| use_cases::backup(&house.project("project"), &house.place(name));
    fs::write(release.join(".DS_Store"), "a desktop left this").unwrap();
    for (at, file) in [named(&release, ".csv"), named(&vault, "keys-"), named(&vault, "history-")].iter().enumerate() {
        let good = fs::read(file).unwrap();
        let mut bad = good.clone();
        let middle = bad.len() / 2;
        bad[middle] ^= 1;
        fs::write(file, bad).unwrap();
        let name = format!("{at}.age");
        let error = backup(&name).unwrap_err();
        assert!(["L503", "L507"].contains(&error.code()) && error.exit_code() == 5, "{error}");
        assert!(!house.place(&name).exists());
        // The release that would follow is not published either, and the older backups stay.
        let request = ReleaseRequest { backup: Some(house.place(&name)), ..house.request("project", 3) };
        let published = request.prepare(None, &|_, _| {}).and_then(|next| next.publish(&|_, _| {}));
        assert!(published.is_err() && !house.place(&name).exists(), "{}", file.display());
        fs::write(file, good).unwrap();
    }
    backup("whole.age").unwrap();
    use_cases::restore(&house.project("restored"), &house.place("whole.age")).unwrap();
    assert!(house.is_whole("restored"));
}
