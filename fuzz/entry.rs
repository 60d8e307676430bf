//! What is fuzzed: the reader of releases made by anyone. `./test` runs the same functions over the corpus
//! and over changed copies of it (`crates/tacenda/tests/it/fuzz.rs`).

use tacenda::ingest::foreign::{Ask, Cell, File};
use tacenda::ingest::{Source, foreign};

/// Any text is a cell of some kind.
pub fn cell(bytes: &[u8]) {
    let _ = Cell::read(&String::from_utf8_lossy(bytes));
}

/// Any bytes are releases, or an error that names what is wrong. A zero byte divides two files; three of them
/// divide releases from the truth.
pub fn release(bytes: &[u8]) {
    let (published, truth) = match bytes.windows(3).position(|three| three == [0, 0, 0]) {
        Some(at) => (&bytes[..at], Some(&bytes[at + 3..])),
        None => (bytes, None),
    };
    let spool = |bytes: &[u8]| Source::spool("fuzz", bytes).expect("a temporary file can be written");
    let files: Vec<File> = published
        .split(|&byte| byte == 0)
        .take(4)
        .map(|part| File { source: spool(part), label: "fuzz".into(), counterfeits: None })
        .collect();
    let truth: Vec<Source> = match truth {
        Some(truth) => files.iter().map(|_| spool(truth)).collect(),
        None => Vec::new(),
    };
    let ask = Ask {
        quasi: vec!["a".into(), "b".into()],
        sensitive: vec!["s".into()],
        identifier: (!truth.is_empty()).then(|| "id".into()),
        ..Ask::default()
    };
    match foreign::read(&files, &truth, &ask) {
        Ok(read) => {
            for release in &read.releases {
                assert_eq!(release.ends.last().copied().unwrap_or(0) as usize, release.row_count());
                for group in 0..release.group_count() {
                    let region = release.region(group).iter().zip(&read.schema.quasi);
                    region.for_each(|(span, quasi)| assert!(!span.is_empty() && span.subset(quasi.root())));
                    assert!(release.group_values(group).is_sorted());
                }
            }
        }
        Err(error) => assert!(error.code().starts_with('D')),
    }
}
