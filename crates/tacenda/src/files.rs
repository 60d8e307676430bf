//! Files that anybody may have put there: read only if they are regular ones, and of bounded size.
//!
//! A named pipe would wait for a writer for ever, and a device may never end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The most bytes that are read into memory. No policy file, plan, key or saved audit has as many.
const MOST: u64 = 1 << 30;

/// Opens a regular file, or what a link says is one.
pub fn open(path: &Path) -> io::Result<File> {
    match fs::metadata(path)?.is_file() {
        true => File::open(path),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file; name one")),
    }
}

/// The bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST {
        true => Err(io::Error::new(io::ErrorKind::InvalidData, "it is larger than 1 GiB; name another file")),
        false => Ok(bytes),
    }
}

/// The text of a regular file.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}
