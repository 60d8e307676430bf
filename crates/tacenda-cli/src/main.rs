//! The binary `tacenda`.

use std::process::ExitCode;

/// Publishing allocates in large pieces from two threads; this allocator is measurably better at it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    tacenda_cli::run(std::env::args_os()).into()
}
