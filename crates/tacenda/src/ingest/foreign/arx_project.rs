//! Hierarchies in a project file of ARX (`.deid`).
//!
//! Such a file is a zip archive. ARX's own program (`WorkerSave`, the same from its version 2 to its newest) writes one CSV
//! file for every hierarchy, named after its column: into `output/hierarchies` those that made the output, and into
//! `input/hierarchies` those that were last edited. Nothing else of the archive is read: the rest are serialised Java objects,
//! or says nothing about columns.
//!
//! A hierarchy is named by a path that goes on behind the archive: `study.deid/output/hierarchies/age.csv`.

use std::fs::File;
use std::io;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// Where hierarchies are, the better place first: what made the output counts.
const PLACES: [&str; 2] = ["output/hierarchies/", "input/hierarchies/"];

/// The most bytes of one hierarchy.
const MOST: u64 = 1 << 28;

/// The hierarchies in a project file: the name of the column, and the path behind that of the archive.
pub fn hierarchies(archive: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let zip = open(archive)?;
    for place in PLACES {
        let column = |name: &str| Some(name.strip_prefix(place)?.strip_suffix(".csv")?.to_string());
        let mut found: Vec<(String, PathBuf)> =
            zip.file_names().flatten().filter_map(|name| Some((column(&name)?, archive.join(&*name)))).collect();
        found.sort();
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The bytes of a hierarchy file, which may be in a project file.
pub fn read_hierarchy(path: &Path) -> io::Result<Vec<u8>> {
    let Some((archive, name)) = inside(path) else { return crate::files::read(path) };
    let mut zip = open(archive)?;
    let member = zip.by_name(&name).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    member.take(MOST + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MOST {
        true => Err(io::Error::other(format!("it has more than {MOST} bytes when it is unpacked"))),
        false => Ok(bytes),
    }
}

/// Whether there is a hierarchy file at the path.
pub fn is_hierarchy(path: &Path) -> bool {
    match inside(path) {
        Some((archive, name)) => open(archive).is_ok_and(|zip| zip.index_for_name(&name).is_some()),
        None => path.is_file(),
    }
}

/// The archive of a path that goes on behind it, and the name in the archive.
fn inside(path: &Path) -> Option<(&Path, String)> {
    let archive = path.ancestors().skip(1).find(|above| above.is_file())?;
    let parts = path.strip_prefix(archive).ok()?.iter().map(|part| part.to_string_lossy());
    Some((archive, parts.collect::<Vec<_>>().join("/")))
}

fn open(archive: &Path) -> io::Result<ZipArchive<BufReader<File>>> {
    ZipArchive::new(BufReader::new(crate::files::open(archive)?)).map_err(io::Error::other)
}
