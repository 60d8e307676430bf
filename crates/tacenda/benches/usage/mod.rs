//! What a process has used so far, and where its time went. Shared by the benchmarks.

#![allow(dead_code, reason = "no benchmark uses all of it")]

use serde_json::{Value as Json, json};
use std::cell::RefCell;
use std::fs;
use std::time::Instant;

/// The allocator of the command: what is measured is what ships.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// User and system time of this process and its threads so far.
pub fn cpu_seconds() -> f64 {
    ticks(11) + ticks(12)
}

/// The part of it that the system spent for them: page faults, files.
pub fn system_seconds() -> f64 {
    ticks(12)
}

/// A field of the kernel's account, in seconds. Ticks are hundredths of a second on every Linux we know.
fn ticks(place: usize) -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    after_name.split_whitespace().nth(place).and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0) / 100.0
}

/// The most memory this process ever held.
pub fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// Notes when each step begins.
pub struct Steps(RefCell<Vec<(String, Instant)>>);

impl Steps {
    pub fn new() -> Steps {
        Steps(RefCell::new(vec![("opening".to_string(), Instant::now())]))
    }

    pub fn begin(&self, what: &str) {
        self.0.borrow_mut().push((what.to_string(), Instant::now()));
    }

    /// Seconds on the wall, by step; the last one ends now.
    pub fn spent(self) -> Json {
        self.begin("end");
        let steps = self.0.into_inner();
        let spent = |pair: &[(String, Instant)]| (pair[0].0.clone(), json!((pair[1].1 - pair[0].1).as_secs_f64()));
        steps.windows(2).map(spent).collect::<serde_json::Map<String, Json>>().into()
    }
}
