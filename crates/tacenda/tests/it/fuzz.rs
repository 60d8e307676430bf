//! The fuzzed entry points, over the corpus and over changed copies of it.

#[path = "../../../../fuzz/entry.rs"]
mod entry;

use std::fs;
use std::path::Path;
use tacenda::model::Rng;

/// Changed copies of each seed.
const COPIES: u64 = 60;

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A copy with a few bytes changed, left out or doubled.
fn changed(seed: &[u8], rng: &mut Rng) -> Vec<u8> {
    let odd = b"[](){}<>=+-*.,;\"\n\t0199e \xc3\xff\0";
    let mut copy = seed.to_vec();
    for _ in 0..=rng.below(4) {
        let at = rng.below(copy.len().max(1) as u64) as usize;
        match rng.below(3) {
            0 if at < copy.len() => copy[at] = odd[rng.below(odd.len() as u64) as usize],
            1 if at < copy.len() => drop(copy.remove(at)),
            _ => copy.insert(at.min(copy.len()), odd[rng.below(odd.len() as u64) as usize]),
        }
    }
    copy
}

fn run(target: &str, entry: fn(&[u8])) {
    let seeds = corpus(target);
    assert!(seeds.len() >= 4, "the corpus is there");
    for (at, seed) in seeds.iter().enumerate() {
        entry(seed);
        let mut rng = Rng::from_number(at as u64);
        (0..COPIES).for_each(|_| entry(&changed(seed, &mut rng)));
    }
}

#[test]
fn any_text_is_read_as_a_cell() {
    run("cell", entry::cell);
}

#[test]
fn any_bytes_are_releases_or_a_named_error() {
    run("release", entry::release);
}
