//! A folder of files, or a pattern of names, instead of a list of files.

use crate::ingest::{Given, foreign};
use crate::model::is_data_file;
use crate::use_cases::subject::own;
use crate::use_cases::{Order, SubjectRequest, UseCaseError};
use std::path::{Path, PathBuf};

/// Puts the files of folders and patterns in their place. Where there are such, files are put in the order of the dates in
/// their names, if nothing else was said and every name has one.
pub(super) fn unfold(request: &mut SubjectRequest) -> Result<(), UseCaseError> {
    let before = request.releases.len();
    let releases = unfolded(std::mem::take(&mut request.releases))?;
    let truth = unfolded(std::mem::take(&mut request.truth))?;
    let is_unfolded = releases.len() != before || releases.iter().any(|(_, is_new)| *is_new);
    request.releases = releases.into_iter().map(|(given, _)| given).collect();
    request.truth = truth.into_iter().map(|(given, _)| given).collect();
    let is_dated = |given: &Given| match given {
        Given::Path(path) => foreign::date_in(&name(path)).is_some(),
        Given::Frame(_) => false,
    };
    let all_dated = request.releases.iter().chain(&request.truth).all(is_dated);
    if is_unfolded && request.order == Order::Given && request.releases.len() > 1 && all_dated {
        // Both lists are sorted alike, so that each release keeps its table.
        let sort = |list: &mut Vec<Given>| {
            list.sort_by_key(|given| match given {
                Given::Path(path) => foreign::date_in(&name(path)),
                Given::Frame(_) => None,
            });
        };
        sort(&mut request.truth);
        sort(&mut request.releases);
        request.order = Order::Named;
    }
    Ok(())
}

/// Every file, and whether it comes from a folder or a pattern.
fn unfolded(list: Vec<Given>) -> Result<Vec<(Given, bool)>, UseCaseError> {
    let mut all = Vec::new();
    for given in list {
        match &given {
            Given::Path(path) if path.is_dir() && own::folder_of(&given).is_none() => {
                all.extend(within(path, "*")?.into_iter().map(|path| (Given::Path(path), true)));
            }
            Given::Path(path) if !path.exists() && name(path).contains(['*', '?']) => {
                let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
                let found = within(folder.unwrap_or(Path::new(".")), &name(path))?;
                all.extend(found.into_iter().map(|path| (Given::Path(path), true)));
            }
            _ => all.push((given, false)),
        }
    }
    Ok(all)
}

/// The data files and release folders of a folder whose names match, by name.
fn within(folder: &Path, pattern: &str) -> Result<Vec<PathBuf>, UseCaseError> {
    let wrong = |what: &str| UseCaseError::usage(format!("{}: {what}", folder.display()));
    let entries = std::fs::read_dir(folder).map_err(|_| wrong("there is no such folder"))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    found.retain(|path| {
        let small = name(path).to_ascii_lowercase();
        let is_release = path.is_dir() && own::folder_of(&Given::Path(path.clone())).is_some();
        matches(pattern.as_bytes(), name(path).as_bytes())
            && !small.starts_with('.')
            && (is_release || path.is_file() && is_data_file(&small))
    });
    found.sort();
    match found.is_empty() {
        true => Err(wrong("no file in it looks like a release: .csv, .tsv, .txt, .parquet, also .gz and .zst")),
        false => Ok(found),
    }
}

fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Whether a name matches a pattern in which `*` is any text and `?` any sign.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, name) || name.split_first().is_some_and(|(_, name)| matches(pattern, name))
        }
        (Some((b'?', rest)), Some((_, name))) => matches(rest, name),
        (Some((sign, rest)), Some((letter, name))) => sign == letter && matches(rest, name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_matches_whole_names() {
        let is = |pattern: &str, name: &str| matches(pattern.as_bytes(), name.as_bytes());
        assert!(is("*.csv", "a.csv") && is("r?.csv", "r1.csv") && is("*2026*", "w-2026-Q1.csv") && is("*", ""));
        assert!(!is("*.csv", "a.csv.gz") && !is("r?.csv", "r12.csv") && !is("a", "ab"));
    }
}
