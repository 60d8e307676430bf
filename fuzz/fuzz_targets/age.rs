//! Fuzzes `entry::age`.
#![no_main]

#[path = "../entry.rs"]
#[allow(dead_code)]
mod entry;

#[path = "../mutate.rs"]
#[allow(dead_code)]
mod mutate;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::age(bytes);
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate::in_place("age", data, size, most, seed)
});
