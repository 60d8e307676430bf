//! The binary `tacenda`.

use std::process::ExitCode;

/// Publishing allocates in large pieces from two threads; this allocator is measurably better at it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(unix)]
    leave_no_core();
    tacenda_cli::run(std::env::args_os()).into()
}

/// A core dump would hold keys and the table. One byte is too few for any, and Linux then hands none to a program either. Where
/// this is refused, dumps are as the system has them.
#[cfg(unix)]
fn leave_no_core() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(1), maximum: Some(1) });
}
