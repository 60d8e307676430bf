//! What is told of a bug of ours: where it is, and never a cell of the table.

use std::any::Any;
use std::panic;
use std::path::Path;
use std::sync::{Mutex, Once};

/// Where the last panic was.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// From now on a panic prints nothing: its message may quote a cell. [`told_of_bug`] says where it was.
pub fn keep_panics_quiet() {
    static QUIET: Once = Once::new();
    QUIET.call_once(|| {
        panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(|at| place(at.file(), at.line()));
            if let Ok(mut last) = PLACE.lock() {
                *last = place;
            }
        }));
    });
}

/// What broke and where, from what a panic left. Texts that were put together at run time are left out: the standard
/// library quotes the text that it cannot cut, and the value that nobody expected.
pub fn told_of_bug(thrown: &(dyn Any + Send)) -> String {
    let what = thrown.downcast_ref::<&str>().copied().unwrap_or("an assertion failed");
    match PLACE.lock().ok().and_then(|place| place.clone()) {
        Some(place) => format!("{what}, at {place}"),
        None => what.into(),
    }
}

/// A place in our sources, or the name of a file of another library: where that lies is nobody's business.
fn place(file: &str, line: u32) -> String {
    let path = Path::new(file);
    let name = path.file_name().filter(|_| path.is_absolute()).map_or(file.into(), |name| name.to_string_lossy());
    format!("{name}:{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_quotes_no_cell() {
        let cell = String::from("é secret");
        let thrown = panic::catch_unwind(|| cell[1..].len()).unwrap_err();
        assert!(
            thrown.downcast_ref::<String>().is_some_and(|said| said.contains("secret")),
            "this is what must not be told"
        );
        assert!(!told_of_bug(&*thrown).contains("secret"));
        let thrown = panic::catch_unwind(|| panic!("no group is empty")).unwrap_err();
        assert!(told_of_bug(&*thrown).starts_with("no group is empty"));
    }

    #[test]
    fn a_place_is_one_of_our_sources_or_a_name() {
        assert_eq!(place("crates/tacenda/src/lib.rs", 7), "crates/tacenda/src/lib.rs:7");
        assert_eq!(place("/home/me/.cargo/registry/src/csv/reader.rs", 7), "reader.rs:7");
    }
}
