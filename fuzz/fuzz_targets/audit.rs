//! Fuzzes `entry::audit`.
#![no_main]

#[path = "../entry.rs"]
#[allow(dead_code)]
mod entry;

#[path = "../mutate.rs"]
#[allow(dead_code)]
mod mutate;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::audit(bytes);
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate::in_place("audit", data, size, most, seed)
});
