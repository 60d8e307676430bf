//! Tables that do not fit into memory: the real binary stays within what it is allowed, and gives the same release.

use crate::kit::TestProject;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::process::Stdio;

const POLICY: &str = "policy = 1\n[series]\nname = \"large\"\n[columns]\nid = { role = \"identifier\" }\n\
    age = { role = \"quasi\", type = \"integer\", domain = [0, 100] }\n\
    born = { role = \"quasi\", type = \"integer\", domain = [1900, 2030] }\n\
    region = { role = \"quasi\", type = \"integer\", domain = [0, 1000] }\n\
    sex = { role = \"quasi\", type = \"category\", values = [\"F\", \"M\", \"X\"] }\n\
    illness = { role = \"sensitive\", type = \"category\" }\n\
    [promise]\nmodel = \"incremental-k-anonymity\"\nk = 10\n";

/// Writes a table of made-up people.
fn write_table(project: &TestProject, people: u64) {
    let mut out = std::io::BufWriter::new(fs::File::create(project.file("table.csv")).unwrap());
    out.write_all(b"id,age,born,region,sex,illness\n").unwrap();
    let mut line = String::new();
    for id in 0..people {
        let dice = (id + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let (age, born, region) = (dice % 100, 1900 + (dice >> 8) % 130, (dice >> 20) % 1000);
        let (sex, illness) = (["F", "M", "X"][(dice >> 40) as usize % 3], (dice >> 50) % 20);
        line.clear();
        writeln!(line, "person-{id},{age},{born},{region},{sex},illness-{illness}").unwrap();
        out.write_all(line.as_bytes()).unwrap();
    }
    out.flush().unwrap();
}

/// Publishes the table, and returns the most memory that the process had, in bytes.
#[cfg(target_os = "linux")]
fn publish(project: &TestProject, memory: &str) -> u64 {
    let words = ["publish", "table.csv", "--yes", "--quiet", "--threads", "2", "--memory", memory];
    let mut child = project.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let kilobytes = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB"));
        peak = peak.max(kilobytes.and_then(|number| number.trim().parse().ok()).unwrap_or(0) * 1024);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    peak
}

/// The names of scratch files.
fn scratch(project: &TestProject) -> usize {
    let names = fs::read_dir(project.file(".tacenda/vault")).unwrap();
    names.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("scratch")).count()
}

/// Kills a publisher that has people on disk.
#[cfg(target_os = "linux")]
fn kill_a_publisher(project: &TestProject, memory: &str) {
    let words = ["publish", "table.csv", "--yes", "--quiet", "--memory", memory];
    let mut child = project.command(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while scratch(project) < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it keeps people on disk");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(scratch(project) > 0, "a killed process removes nothing");
}

fn data(project: &TestProject, release: u32) -> Vec<u8> {
    fs::read(project.file(&format!("releases/large/r{release:04}/large-r{release:04}.csv"))).unwrap()
}

/// Publishes a first release, after a publisher was killed, and an update. With `compared` both are published in memory as
/// well: the releases are the same.
#[cfg(target_os = "linux")]
fn assert_bounded(sizes: &[u64], memory: &str, bytes: u64, compared: bool) {
    let (little, much) =
        (TestProject::with(&[("tacenda.toml", POLICY)]), TestProject::with(&[("tacenda.toml", POLICY)]));
    [&little, &much].into_iter().for_each(TestProject::fix_seed);
    for (release, &people) in (1..).zip(sizes) {
        write_table(&little, people);
        if release == 1 {
            kill_a_publisher(&little, memory);
        }
        let peak = publish(&little, memory);
        println!("release {release} of {people} people: {} MB of {}", peak >> 20, bytes >> 20);
        assert!(peak <= bytes, "release {release} took {peak} bytes, and {bytes} are allowed");
        assert_eq!(scratch(&little), 0, "nothing stays behind, not even what the killed process left");
        if compared {
            write_table(&much, people);
            publish(&much, "100G");
            assert!(data(&little, release) == data(&much, release), "release {release} is the same from disk");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_table_is_published_within_the_memory_that_is_allowed() {
    assert_bounded(&[700_000], "195M", 195 << 20, false);
    if std::env::var_os("TACENDA_LONG").is_some() {
        assert_bounded(&[1_800_000, 2_000_000], "300M", 300 << 20, true);
        assert_bounded(&[18_000_000, 20_000_000], "1700M", 1700 << 20, false);
    }
}
