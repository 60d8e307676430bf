//! Fuzzes `entry::anchor`.
#![no_main]

#[path = "../entry.rs"]
#[allow(dead_code)]
mod entry;

#[path = "../mutate.rs"]
#[allow(dead_code)]
mod mutate;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::anchor(bytes);
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate::in_place("anchor", data, size, most, seed)
});
