//! The binary `tacenda`.

use std::process::ExitCode;

/// Publishing allocates in large pieces from two threads; this allocator is measurably better at it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    #[cfg(unix)]
    leave_no_core();
    #[cfg(target_os = "linux")]
    give_memory_back();
    tacenda_cli::run(std::env::args_os()).into()
}

/// A core dump would hold keys and the table. One byte is too few for any, and Linux then hands none to a program either. Where
/// this is refused, dumps are as the system has them.
#[cfg(unix)]
fn leave_no_core() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(1), maximum: Some(1) });
}

/// `--memory` is about what the system counts. So freed memory goes back to it at once, and pages are small: a third less at the
/// peak. The allocator asks for this before the program's first line, so the program begins again; if it cannot, it goes on.
#[cfg(target_os = "linux")]
fn give_memory_back() {
    use std::os::unix::process::CommandExt;
    const SETTINGS: [(&str, &str); 2] = [("MIMALLOC_PURGE_DELAY", "0"), ("MIMALLOC_ALLOW_THP", "0")];
    let mut words = std::env::args_os();
    let is_asked = words.any(|word| word.as_encoded_bytes().starts_with(b"--memory"));
    if !is_asked || SETTINGS.iter().any(|(name, _)| std::env::var_os(name).is_some()) {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let _ = std::process::Command::new(program).arg0(name).args(words).envs(SETTINGS).exec();
}
