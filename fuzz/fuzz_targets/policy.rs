//! Fuzzes `entry::policy`.
#![no_main]

#[path = "../entry.rs"]
#[allow(dead_code)]
mod entry;

#[path = "../mutate.rs"]
#[allow(dead_code)]
mod mutate;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::policy(bytes);
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate::in_place("policy", data, size, most, seed)
});
