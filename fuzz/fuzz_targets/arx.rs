//! Fuzzes `entry::arx`.
#![no_main]

#[path = "../entry.rs"]
#[allow(dead_code)]
mod entry;

#[path = "../mutate.rs"]
#[allow(dead_code)]
mod mutate;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    entry::arx(bytes);
});

libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, most: usize, seed: u32| {
    mutate::in_place("arx", data, size, most, seed)
});
