//! Checksums: taken while a file is written, compared when it is read.

use crate::files;
use crate::folder::{FolderError, Target};
use crate::model::hex;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::{fs, io};

/// The list of checksums, in the form `sha256sum --check` reads.
pub const SUMS: &str = "SHA256SUMS";

/// A file that was written.
#[derive(Clone, Debug, Eq, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WrittenFile {
    /// Its name in the folder.
    pub name: String,
    /// How long it is.
    pub bytes: u64,
    /// Its checksum in hexadecimal.
    pub sha256: String,
}

/// Passes bytes on and takes their checksum.
pub struct Digesting {
    out: Box<dyn Target>,
    hash: Sha256,
    bytes: u64,
}

impl Digesting {
    /// Counts what goes to `out`.
    pub fn new(out: Box<dyn Target>) -> Digesting {
        Digesting { out, hash: Sha256::new(), bytes: 0 }
    }

    /// Ends the file, and says what was written under `name`.
    pub fn finish(self, name: &str) -> io::Result<WrittenFile> {
        self.out.finish()?;
        Ok(WrittenFile { name: name.into(), bytes: self.bytes, sha256: hex(&self.hash.finalize()) })
    }
}

impl Write for Digesting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.out.write(bytes)?;
        self.hash.update(&bytes[..taken]);
        self.bytes += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The text of [`SUMS`] over `files`, without itself.
pub fn sums(files: &[WrittenFile]) -> String {
    let mut text = String::new();
    for file in files.iter().filter(|file| file.name != SUMS) {
        writeln!(text, "{}  {}", file.sha256, file.name).expect("writing to a string cannot fail");
    }
    text
}

/// Checks every file that [`SUMS`] lists, and returns their names in order.
pub fn verify(folder: &Path) -> Result<Vec<String>, FolderError> {
    let list = folder.join(SUMS);
    let read = open(&list).and_then(io::read_to_string);
    let text = read.map_err(|source| FolderError::Read { file: SUMS.into(), source })?;
    let mut names = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some((wanted, name)) = line.split_once("  ") else {
            return Err(FolderError::File {
                file: SUMS.into(),
                what: format!("line {} is not a checksum, two blanks and a name", index + 1),
            });
        };
        // A list from elsewhere must not make us read outside the folder.
        if name.is_empty() || name.contains(['/', '\\']) || name.starts_with("..") {
            return Err(FolderError::File {
                file: SUMS.into(),
                what: format!("line {} names no file of this folder", index + 1),
            });
        }
        let found = of_file(&folder.join(name)).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => {
                FolderError::File { file: SUMS.into(), what: format!("{name} is listed and not there") }
            }
            _ => FolderError::Read { file: name.into(), source },
        })?;
        if found != wanted {
            return Err(FolderError::Digest { file: name.into(), list: SUMS });
        }
        names.push(name.to_string());
    }
    Ok(names)
}

/// A file of a release folder that is neither on its list of checksums nor one of `beside`, the files about that list.
pub fn unlisted(folder: &Path, beside: &[&str]) -> io::Result<Option<String>> {
    let list = open(&folder.join(SUMS)).and_then(io::read_to_string)?;
    let listed: Vec<&str> = list.lines().filter_map(|line| line.split_once("  ")).map(|(_, name)| name).collect();
    let mut there = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<io::Result<Vec<String>>>()?;
    there.sort_unstable();
    let is_known = |name: &str| name == SUMS || listed.contains(&name) || beside.contains(&name);
    Ok(there.into_iter().find(|name| !is_known(name)))
}

/// Opens a file of a folder that anybody may have made. A pipe is refused, because opening it would wait for a writer.
pub fn open(path: &Path) -> io::Result<File> {
    files::open(path)
}

/// The checksum of a file, in hexadecimal.
fn of_file(path: &Path) -> io::Result<String> {
    let mut file = open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&buffer[..count]);
    }
}
