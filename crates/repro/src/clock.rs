//! Time: on the wall, and of the processor, because machines are shared.

use rustix::time::{ClockId, clock_gettime};
use std::time::Instant;

/// Time spent, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Of the processor, all threads together.
    pub cpu: f64,
    /// On the wall.
    pub wall: f64,
}

/// Does `work` and says how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Spent) {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let result = work();
    (result, Spent { cpu: cpu_seconds() - cpu, wall: wall.elapsed().as_secs_f64() })
}

/// Processor time of all threads so far.
fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}
