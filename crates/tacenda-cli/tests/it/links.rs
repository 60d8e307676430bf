//! Every link of the docs leads somewhere, and every page of the docs is in the book.
//!
//! Links into the repository must name a file, and a heading of it where they name one. Addresses of other sites are only
//! looked at, never fetched: tests need no network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The pages below a folder, by their path from the root.
fn pages_below(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root()).unwrap().to_path_buf();
        if path.is_dir() {
            found.extend(pages_below(name.to_str().unwrap()));
        } else if path.extension() == Some("md".as_ref()) {
            found.push(name);
        }
    }
    found
}

/// All pages with links.
fn pages() -> Vec<PathBuf> {
    let fronts = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];
    let mut found: Vec<PathBuf> = fronts.iter().map(PathBuf::from).collect();
    found.extend(["crates/tacenda-py/README.md", "repro/out/RESULTS.md"].map(PathBuf::from));
    found.extend(pages_below("docs"));
    found
}

/// A page without what stands in blocks of code.
fn prose(page: &str) -> String {
    let mut is_code = false;
    let mut text = String::new();
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if !is_code && !is_fence {
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

/// What stands between backticks is no link.
fn without_names(text: &str) -> String {
    text.split('`').enumerate().map(|(index, part)| if index % 2 == 0 { part } else { "" }).collect()
}

/// The targets of the links and pictures of a page.
fn links(page: &str) -> Vec<String> {
    let text = without_names(&prose(page));
    let ends = text.match_indices("](").map(|(at, _)| &text[at + 2..]);
    ends.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_string()).collect()
}

/// The names of the headings of a page, as GitHub and mdBook make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeMap::new());
    for line in prose(page).lines() {
        let Some(heading) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#')) else { continue };
        let Some(heading) = heading.strip_prefix(' ') else { continue };
        // Only the text of a link is read.
        let mut text = String::new();
        let mut rest = heading;
        while let Some((before, after)) = rest.split_once("](") {
            text.push_str(before);
            rest = after.split_once(')').map_or("", |(_, after)| after);
        }
        text.push_str(rest);
        let kept = text.trim().chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let name: String =
            kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let count = seen.entry(name.clone()).or_insert(0);
        found.insert(if *count == 0 { name } else { format!("{name}-{count}") });
        *count += 1;
    }
    found
}

/// Why a link of a page leads nowhere.
fn fault(from: &Path, target: &str) -> Option<String> {
    if let Some((kind, rest)) = target.split_once("://") {
        let host = rest.split('/').next().unwrap_or_default();
        let is_address = kind == "https" && host.contains('.') && !target.contains(char::is_whitespace);
        return (!is_address).then(|| "is no address that begins with https://".into());
    }
    let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
    let place = if path.is_empty() { from.to_path_buf() } else { flat(&from.parent().unwrap().join(path)) };
    // Pictures of the gallery are made when the book is.
    if place.starts_with("docs/gallery") {
        return None;
    }
    let file = root().join(&place);
    if !file.exists() {
        return Some("names no file".into());
    }
    let anchor = anchor?;
    let has = place.extension() == Some("md".as_ref()) && anchors(&fs::read_to_string(file).unwrap()).contains(anchor);
    (!has).then(|| "names no heading".into())
}

/// A path without `..`.
fn flat(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            part => found.push(part),
        }
    }
    found
}

#[test]
fn every_link_leads_somewhere() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in pages() {
        for target in links(&fs::read_to_string(root().join(&page)).unwrap()) {
            count += 1;
            let found = fault(&page, &target);
            wrong.extend(found.map(|fault| format!("{}: {target} {fault}", page.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 100, "only {count} links were found");
}

/// The book has every page of the docs once, in an order somebody chose.
#[test]
fn every_page_is_in_the_book_once() {
    let summary = PathBuf::from("docs/SUMMARY.md");
    let listed = links(&fs::read_to_string(root().join(&summary)).unwrap());
    let listed: Vec<PathBuf> = listed.iter().map(|target| flat(&Path::new("docs").join(target))).collect();
    let once: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
    let missing: Vec<PathBuf> =
        pages_below("docs").into_iter().filter(|page| *page != summary && !once.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:?}");
}

#[test]
fn links_that_lead_nowhere_are_found() {
    let found = |target: &str| fault(Path::new("docs/guide.md"), target).is_some();
    for wrong in [
        "gone.md",
        "#gone",
        "guarantees.md#gone",
        "../docs/gone.md",
        "http://plain.example",
        "https://nowhere",
        "schema#a",
    ] {
        assert!(found(wrong), "{wrong}");
    }
    for right in ["guarantees.md", "../README.md#more", "formats.md#exit-codes", "schema/", "https://doi.org/10.1145/1"]
    {
        assert!(!found(right), "{right}");
    }
    let page = "# A `b`, c\n## A [link](x.md) here\n## A\n## A\n```\n# not [one](y)\n```\n`[no](z)` [yes](w)";
    assert_eq!(links(page), ["x.md", "w"]);
    assert_eq!(anchors(page), ["a-b-c", "a-link-here", "a", "a-1"].map(String::from).into());
}
