//! Nothing in a release tells a counterfeit from a person, or gives the order of the input away.

use crate::kit;
use std::collections::BTreeMap;
use std::io;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tacenda::folder;
use tacenda::folder::{Issue, ManifestFacts, Target};
use tacenda::model::{Grouping, Public, RecordKey, Release, Role, Row, Table, Value, Values};
use tacenda::promise::{MInvariance, PolicyFile};
use tacenda::publish::{Stamp, recode};

/// Two groups of two rows; in the first, one row has a person behind it and the other has not.
fn release(file: &PolicyFile, person_has: Value, counterfeit_has: Value) -> Release {
    let keys = (1..4).map(|key| RecordKey { hi: 0, lo: key }).collect();
    let sensitive = vec![person_has, Value(0), Value(1)];
    let texts = vec![vec![Box::from("east")], vec![Box::from("west")]];
    let table = Table::new(
        keys,
        vec![vec![30, 50, 55], vec![1, 4, 5]],
        sensitive,
        Values::of(["flu", "gastritis"]),
        vec![0, 0, 1],
        texts,
    );
    let mut grouping = Grouping::default();
    grouping.push(&[Row(0)], &[counterfeit_has]);
    grouping.push(&[Row(1), Row(2)], &[]);
    let stamp = Stamp { seed: &kit::seed(), number: 1, label: "one", linked_ids: file.output.linked_ids };
    recode(&file.schema, &grouping, &table, stamp).0
}

fn file() -> PolicyFile {
    let mut file = kit::file(MInvariance::new(2));
    file.schema.public.push(Public { name: "side".into(), because: "a bed plan".into() });
    file.schema.order.push((Role::Public, 0));
    file
}

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Target for Memory {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// All files of a release, by name.
fn bytes(file: &PolicyFile, release: &Release) -> BTreeMap<String, Vec<u8>> {
    let mut files: BTreeMap<String, Memory> = BTreeMap::new();
    let mut create = |name: &str| -> io::Result<Box<dyn Target>> {
        Ok(Box::new(files.entry(name.to_string()).or_default().clone()))
    };
    folder::write(&Issue::new(release, file), &ManifestFacts::default(), &mut create).unwrap();
    files.into_iter().map(|(name, memory)| (name, memory.0.lock().unwrap().clone())).collect()
}

#[test]
fn swapping_the_counterfeit_and_the_person_changes_no_byte() {
    let file = file();
    let one = release(&file, Value(0), Value(1));
    let other = release(&file, Value(1), Value(0));
    assert_eq!(one, other);
    let files = bytes(&file, &one);
    assert!(files.len() >= 6, "{:?}", files.keys());
    assert_eq!(files, bytes(&file, &other));
}

#[test]
fn a_counterfeit_has_a_public_cell_like_anybody() {
    let release = release(&file(), Value(0), Value(1));
    assert_eq!(release.public.len(), 4);
    let lone = (0..2).find(|&group| release.counterfeits[group] == 1).unwrap();
    let cells: Vec<u32> = release.group_rows(lone).map(|row| release.public[row]).collect();
    assert_eq!(cells, [0, 0], "a copy of the one person's");
}
