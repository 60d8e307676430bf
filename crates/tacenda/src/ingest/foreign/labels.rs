//! A column of labels: a tree or an order in which every published set is a run, and the span of every text.
//!
//! If no hierarchy is given, one is built from the published single values, sets and prefixes. A prefix contains the
//! values that begin with it, and a rest for everything else that it may hide.

use crate::ingest::error::Kind;
use crate::ingest::foreign::cell::Cell;
use crate::ingest::foreign::column::{Meaning, Texts, Unreadable};
use crate::ingest::foreign::sets::Family;
use crate::ingest::foreign::{bound, sets};
use crate::model::{Domain, Hierarchy, Quasi, Span};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The one leaf of a column that publishes no value at all.
const NOTHING: &str = "any value";

/// The leaf for further values that `*` may mean, if some other cell means exactly all the values given.
const OTHER: &str = "any other value";

/// Reads every text as a value of its own.
pub fn exact(name: &str, published: &Texts<'_>, truth: &Texts<'_>) -> Result<Meaning, Unreadable> {
    let leaves = published.texts.iter().zip(&published.cells).chain(truth.texts.iter().zip(&truth.cells));
    let leaves = leaves.filter(|(_, cell)| !matches!(cell, Cell::Missing | Cell::Any));
    let mut leaves: Vec<String> = sorted(leaves.map(|(text, _)| text.trim())).into_iter().map(String::from).collect();
    let domain = count(leaves.len());
    if leaves.len() == 1 && has_any(published) {
        add_other(&mut leaves);
    }
    let tree = flat(&leaves.iter().map(String::as_str).collect::<Vec<&str>>())?;
    let quasi = attribute(name, tree, published, truth);
    let span = |(text, cell): (&&str, &Cell<'_>)| match cell {
        cell if published.is_any(cell) => quasi.root(),
        Cell::Missing => null(&quasi),
        _ => leaf(&quasi, text.trim()),
    };
    let spans = published.texts.iter().zip(&published.cells).map(span).collect();
    let kinds = vec![0; published.texts.len()];
    Ok(Meaning { spans, kinds, values: "labels".into(), domain, quasi })
}

/// Values, sets and prefixes as they are published. `widened` are the texts that are read as more values than they may
/// mean.
pub fn of_published(
    name: &str,
    published: &Texts<'_>,
    truth: &Texts<'_>,
    widened: &[usize],
) -> Result<Meaning, Unreadable> {
    let bad: Vec<usize> = (0..truth.cells.len())
        .filter(|&at| matches!(truth.cells[at], Cell::Range(_) | Cell::Prefix(_) | Cell::Set(_) | Cell::Any))
        .map(|at| at + published.texts.len())
        .collect();
    if !bad.is_empty() {
        return Err(Unreadable::new(Kind::NotExact, bad));
    }
    let wanted = Wanted::collect(published, truth);
    let (mut leaves, members) = wanted.leaves_and_sets(published);
    let domain = count(leaves.len());
    if has_any(published) && members.iter().flatten().any(|set| set.len() == leaves.len()) {
        add_other(&mut leaves);
    }
    // Each distinct set of two or more leaves, with a text that has it.
    let mut distinct: BTreeMap<&[u32], usize> = BTreeMap::new();
    for (at, set) in members.iter().enumerate() {
        if let Some(set) = set.as_ref().filter(|set| set.len() > 1 && set.len() < leaves.len()) {
            distinct.entry(set).or_insert(at);
        }
    }
    let sets: Vec<Vec<u32>> = distinct.keys().map(|set| set.to_vec()).collect();
    let texts: Vec<usize> = distinct.values().copied().collect();
    let family = Family { count: leaves.len(), sets: &sets };
    let tree = match sets::tree(&family) {
        Some(parents) => nested(&leaves, &sets, &parents, &texts, published)?,
        None => {
            let rows = |set: usize| published.counts[texts[set]];
            let order = sets::order(&family).unwrap_or_else(|_| sets::near_order(&family, rows));
            let labels: Vec<&str> = order.iter().map(|&leaf| leaves[leaf as usize].as_str()).collect();
            flat(&labels)?
        }
    };
    let quasi = attribute(name, tree, published, truth);
    let span = |at: usize| match (&published.cells[at], &members[at]) {
        (cell, _) if published.is_any(cell) => quasi.root(),
        (Cell::Missing, _) => null(&quasi),
        (_, Some(set)) => {
            set.iter().map(|&member| leaf(&quasi, &leaves[member as usize])).fold(Span::EMPTY, Span::join)
        }
        _ => quasi.root(),
    };
    let spans: Vec<Span> = (0..published.texts.len()).map(span).collect();
    let is_around = |at: usize| members[at].as_ref().is_some_and(|set| spans[at].width() as usize > set.len());
    let kinds = kinds((0..spans.len()).map(|at| match widened.binary_search(&at) {
        Ok(_) => Some(Loose::Label(published.texts[at].trim())),
        Err(_) => members[at].as_ref().filter(|_| is_around(at)).map(|set| Loose::Set(set)),
    }));
    Ok(Meaning { spans, kinds, values: "labels".into(), domain, quasi })
}

/// The meaning of a text whose span is wider.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
enum Loose<'a> {
    Label(&'a str),
    Set(&'a [u32]),
}

/// A number for each distinct meaning, in their order. Texts with one number mean the same.
fn kinds<'a>(said: impl Iterator<Item = Option<Loose<'a>>>) -> Vec<u32> {
    let said: Vec<Option<Loose<'a>>> = said.collect();
    let all: BTreeSet<Loose<'a>> = said.iter().flatten().copied().collect();
    let numbers: BTreeMap<Loose<'a>, u32> = all.into_iter().zip(1..).collect();
    said.iter().map(|said| said.map_or(0, |said| numbers[&said])).collect()
}

/// Nodes of a given tree.
pub fn in_hierarchy(
    name: &str,
    tree: Hierarchy,
    published: &Texts<'_>,
    truth: &Texts<'_>,
) -> Result<Meaning, Unreadable> {
    let leaves = tree.leaf_count();
    let quasi = attribute(name, tree, published, truth);
    let tree = quasi.hierarchy().expect("made of a hierarchy");
    // The leaves that a cell names.
    let codes = |cell: &Cell<'_>| -> Option<Vec<u32>> {
        let mut codes: Vec<u32> = match cell {
            Cell::Set(members) => {
                let spans = members.iter().map(|member| tree.node_span(member));
                spans.collect::<Option<Vec<Span>>>()?.into_iter().flat_map(|span| span.lo..=span.hi).collect()
            }
            Cell::Range(range) => {
                let is_in = |code: &u32| bound::read(tree.leaf_label(*code)).is_some_and(|at| range.holds(at));
                (0..leaves).filter(is_in).collect()
            }
            _ => return None,
        };
        codes.sort_unstable();
        codes.dedup();
        Some(codes)
    };
    let mut said: Vec<Option<Vec<u32>>> = vec![None; published.texts.len()];
    let span = |at: usize| match &published.cells[at] {
        cell if published.is_any(cell) => Some(quasi.root()),
        Cell::Missing => Some(null(&quasi)),
        cell => tree.node_span(published.texts[at].trim()).or_else(|| {
            let codes = codes(cell)?;
            let span = Span::new(*codes.first()?, *codes.last()?);
            if (span.width() as usize) > codes.len() {
                said[at] = Some(codes);
            }
            Some(span)
        }),
    };
    let spans: Vec<Option<Span>> = (0..published.texts.len()).map(span).collect();
    let bad: Vec<usize> = (0..spans.len()).filter(|&at| spans[at].is_none()).collect();
    if !bad.is_empty() {
        return Err(Unreadable::new(Kind::UnknownValue, bad));
    }
    let domain = format!("the {leaves} leaves of the hierarchy given");
    let kinds = kinds(said.iter().map(|said| said.as_deref().map(Loose::Set)));
    let spans = spans.into_iter().flatten().collect();
    Ok(Meaning { spans, kinds, values: "a given hierarchy".into(), domain, quasi })
}

/// What is published, before leaves have numbers.
struct Wanted<'a> {
    /// Single values and members of sets, in their natural order.
    values: Vec<&'a str>,
    /// Prefixes with the text that shows them.
    stems: BTreeMap<&'a str, &'a str>,
}

impl<'a> Wanted<'a> {
    fn collect(published: &'a Texts<'_>, truth: &'a Texts<'_>) -> Wanted<'a> {
        let mut values: Vec<&str> = Vec::new();
        let mut stems: BTreeMap<&str, &str> = BTreeMap::new();
        let all = published.texts.iter().zip(&published.cells).chain(truth.texts.iter().zip(&truth.cells));
        for (text, cell) in all {
            match cell {
                Cell::Label(label) => values.push(label),
                Cell::Point(_) => values.push(text.trim()),
                Cell::Set(members) => values.extend(members.iter().map(|member| &**member)),
                // A stem may occur with several numbers of stars; the longest text names it.
                Cell::Prefix(stem) => {
                    let shown = stems.entry(stem).or_insert(text.trim());
                    if text.trim().len() > shown.len() {
                        *shown = text.trim();
                    }
                }
                _ => {}
            }
        }
        Wanted { values: sorted(values.into_iter()), stems }
    }

    /// The labels of the leaves, and per published text the leaves it means.
    fn leaves_and_sets(&self, published: &Texts<'_>) -> (Vec<String>, Vec<Option<Vec<u32>>>) {
        // A prefix with nothing below it is a leaf. Otherwise its rest is one more leaf below it.
        let is_parent = |stem: &str| {
            self.values.iter().any(|value| value.starts_with(stem))
                || self.stems.keys().any(|other| *other != stem && other.starts_with(stem))
        };
        let rest = |(stem, shown): (&&str, &&str)| {
            let label = if is_parent(stem) { format!("{shown} (others)") } else { shown.to_string() };
            (stem.to_string(), label)
        };
        let rests: Vec<(String, String)> = self.stems.iter().map(rest).collect();
        let mut keyed: Vec<(String, String)> =
            self.values.iter().map(|value| (value.to_string(), value.to_string())).chain(rests).collect();
        keyed.sort_by(|left, right| natural(&left.1, &right.1));
        keyed.dedup_by(|left, right| left.1 == right.1);
        let by_label: FxHashMap<&str, u32> =
            keyed.iter().enumerate().map(|(at, (_, label))| (label.as_str(), at as u32)).collect();
        let below = |stem: &str| {
            let is_below = |&at: &u32| keyed[at as usize].0.starts_with(stem);
            (0..keyed.len() as u32).filter(is_below).collect::<Vec<u32>>()
        };
        let mut known: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let members = published.texts.iter().zip(&published.cells).map(|(text, cell)| match cell {
            Cell::Label(label) => Some(vec![by_label[label]]),
            Cell::Point(_) => Some(vec![by_label[text.trim()]]),
            Cell::Prefix(stem) => Some(known.entry(stem).or_insert_with(|| below(stem)).clone()),
            Cell::Set(members) => {
                let mut set: Vec<u32> = members.iter().map(|member| by_label[&**member]).collect();
                set.sort_unstable();
                set.dedup();
                Some(set)
            }
            _ => None,
        });
        let members = members.collect();
        let leaves = keyed.iter().map(|(_, label)| label.clone()).collect();
        (leaves, members)
    }
}

/// A tree with a node for each set.
fn nested(
    leaves: &[String],
    sets: &[Vec<u32>],
    parents: &[Option<u32>],
    texts: &[usize],
    published: &Texts<'_>,
) -> Result<Hierarchy, Unreadable> {
    let mut smallest: Vec<Option<u32>> = vec![None; leaves.len()];
    let mut by_size: Vec<usize> = (0..sets.len()).collect();
    by_size.sort_by_key(|&set| std::cmp::Reverse(sets[set].len()));
    for set in by_size {
        sets[set].iter().for_each(|&leaf| smallest[leaf as usize] = Some(set as u32));
    }
    let label = |set: u32| match &published.cells[texts[set as usize]] {
        Cell::Set(_) => {
            let members: Vec<&str> = sets[set as usize].iter().map(|&leaf| leaves[leaf as usize].as_str()).collect();
            format!("{{{}}}", members.join(", "))
        }
        _ => published.texts[texts[set as usize]].trim().to_string(),
    };
    let paths: Vec<Vec<String>> = leaves
        .iter()
        .zip(&smallest)
        .map(|(leaf, &set)| {
            let mut path = vec![leaf.clone()];
            let mut node = set;
            while let Some(set) = node {
                path.push(label(set));
                node = parents[set as usize];
            }
            path
        })
        .collect();
    let depth = paths.iter().map(Vec::len).max().unwrap_or(1);
    let rows: Vec<Vec<String>> = paths
        .into_iter()
        .map(|path| {
            let mut row = vec![path[0].clone(); depth - path.len()];
            row.extend(path);
            row.push("*".into());
            row
        })
        .collect();
    if rows.is_empty() {
        return flat(&[]);
    }
    Hierarchy::from_rows(&rows).map_err(|error| Unreadable::whole(Kind::NoOrder, error.to_string()))
}

fn flat(leaves: &[&str]) -> Result<Hierarchy, Unreadable> {
    let leaves = if leaves.is_empty() { &[NOTHING] } else { leaves };
    Hierarchy::flat(leaves.iter().copied()).map_err(|error| Unreadable::whole(Kind::UnknownNotation, error.to_string()))
}

fn attribute(name: &str, tree: Hierarchy, published: &Texts<'_>, truth: &Texts<'_>) -> Quasi {
    let quasi = Quasi::new(name, Domain::Category(tree));
    if published.has_null() || truth.has_null() { quasi.nullable() } else { quasi }
}

fn has_any(published: &Texts<'_>) -> bool {
    published.cells.iter().any(|cell| published.is_any(cell))
}

/// Adds a leaf, so that a cell that means anything differs from one that means all the values given.
fn add_other(leaves: &mut Vec<String>) {
    let mut other = OTHER.to_string();
    while leaves.contains(&other) {
        other.push('…');
    }
    leaves.push(other);
}

fn null(quasi: &Quasi) -> Span {
    Span::exact(quasi.null().expect("a column with missing cells is nullable"))
}

fn leaf(quasi: &Quasi, label: &str) -> Span {
    let tree = quasi.hierarchy().expect("made of a hierarchy");
    Span::exact(tree.leaf(label).expect("every published value is a leaf"))
}

fn count(leaves: usize) -> String {
    if leaves == 1 { "the one value given".into() } else { format!("the {leaves} values given") }
}

/// Distinct texts in their natural order.
fn sorted<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut texts: Vec<&str> = texts.collect();
    texts.sort_unstable_by(|left, right| natural(left, right));
    texts.dedup();
    texts
}

/// Numbers by size before other texts by their letters.
fn natural(left: &str, right: &str) -> Ordering {
    // A text with a leading zero is a code and is sorted as text.
    let number = |text: &str| bound::read(text).and_then(|_| text.parse::<f64>().ok());
    match (number(left), number(right)) {
        (Some(a), Some(b)) => a.total_cmp(&b).then(left.cmp(right)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => left.cmp(right),
    }
}
