//! A hierarchy file in ARX's layout: a line per leaf, then its ancestors up to the root.

use crate::ingest::foreign::read_hierarchy;
use crate::model::Hierarchy;
use std::path::Path;

/// Reads a hierarchy. Cells are separated by semicolons, tabs or commas, whichever the first line has.
pub fn read(path: &Path) -> Result<Hierarchy, String> {
    let bytes = read_hierarchy(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let delimiter = [b';', b'\t', b','].into_iter().find(|delimiter| first.contains(delimiter)).unwrap_or(b';');
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(text);
    let mut rows: Vec<Vec<String>> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|_| format!("{}: a line after row {} is not UTF-8", path.display(), rows.len()))?;
        rows.push(record.iter().map(|label| label.trim().to_string()).collect());
    }
    Hierarchy::from_rows(&rows).map_err(|error| format!("{}: {error}", path.display()))
}
