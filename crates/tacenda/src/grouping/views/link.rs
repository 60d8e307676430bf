//! How two views are matched: which columns join them, and which spans can belong to one person.

use crate::model::{Classes, Impossible, PublishedView, Span, View, ViewRows};
use rustc_hash::FxHashMap;

/// A set of things that are numbered from 0, one bit each.
pub(super) type Bits = Box<[u64]>;

/// How an earlier view is matched with the new one.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The names of its columns that take part.
    pub(super) names: Vec<String>,
    /// Per class of rows that agree on them, the spans.
    pub(super) spans: Vec<Vec<Span>>,
    /// Per class, how many rows it has.
    pub(super) size: Vec<u64>,
}

impl Link {
    /// Per class, whether a row with `span` in the column `name` can be the same person.
    pub(super) fn meets(&self, name: &str, span: Span, rules: &[Impossible]) -> Vec<bool> {
        let can = |spans: &Vec<Span>| {
            let mut own = self.names.iter().zip(spans);
            own.all(|(other, &theirs)| can_meet(name, span, other, theirs, rules))
        };
        self.spans.iter().map(can).collect()
    }
}

/// How `published` is matched with `new`, and the class of each of its rows.
pub(super) fn link(published: &PublishedView, new: &View, rules: &[Impossible]) -> (Link, Vec<u32>) {
    let columns = link_columns(&published.view, &[new], rules);
    let classes = published.classes(&columns);
    let names = columns.iter().map(|&column| published.view.columns[column].name.clone()).collect();
    let spans = classes.sample.iter().map(|&row| published.spans(row as usize, &columns)).collect();
    (Link { names, spans, size: classes.size }, classes.of_row)
}

/// Whether one row's column and another row's column can belong to one person.
pub(super) fn can_meet(name: &str, span: Span, other: &str, theirs: Span, rules: &[Impossible]) -> bool {
    if name == other {
        span.overlap(theirs)
    } else {
        !rules.iter().any(|rule| rule.rules_out(name, span, other, theirs))
    }
}

/// The columns of `view` that take part when it is matched with `others`.
pub(super) fn link_columns(view: &View, others: &[&View], rules: &[Impossible]) -> Vec<usize> {
    let has = |name: &str| others.iter().any(|other| other.column(name).is_some());
    let matters = |name: &str| {
        has(name)
            || rules
                .iter()
                .any(|rule| rule.left.0 == name && has(&rule.right.0) || rule.right.0 == name && has(&rule.left.0))
    };
    (0..view.columns.len()).filter(|&column| matters(&view.columns[column].name)).collect()
}

/// How many rows of the ungeneralised new view match no row of an earlier view, and the other way round. Generalising
/// the new view can only add matches.
pub(super) fn dangling(new: &View, rows: &ViewRows, earlier: &PublishedView, rules: &[Impossible]) -> (u64, u64) {
    let link = link(earlier, new, rules).0;
    let columns = link_columns(new, &[&earlier.view], rules);
    let codes: Vec<&[u32]> = columns.iter().map(|&column| rows.column(column)).collect();
    let classes = Classes::of(rows.len(), &codes);
    let mut known: FxHashMap<(usize, u32), Bits> = FxHashMap::default();
    let words = link.size.len().div_ceil(64);
    let mut met_by_any = vec![0u64; words];
    let mut new_rows = 0;
    for (class, &row) in classes.sample.iter().enumerate() {
        let mut met = vec![u64::MAX; words];
        for (at, &column) in columns.iter().enumerate() {
            let code = codes[at][row as usize];
            let bits = known.entry((at, code)).or_insert_with(|| {
                to_bits(link.meets(&new.columns[column].name, Span::exact(code), rules).into_iter())
            });
            met.iter_mut().zip(bits.iter()).for_each(|(met, bits)| *met &= bits);
        }
        if words == 0 || met.iter().enumerate().all(|(at, &bits)| bits & in_use(link.size.len(), at) == 0) {
            new_rows += classes.size[class];
        }
        met_by_any.iter_mut().zip(met).for_each(|(any, met)| *any |= met);
    }
    let outside = |&class: &usize| met_by_any[class / 64] >> (class % 64) & 1 == 0;
    (new_rows, (0..link.size.len()).filter(outside).map(|class| link.size[class]).sum())
}

/// The bits of word `at` that stand for one of `count` things.
fn in_use(count: usize, at: usize) -> u64 {
    let left = count - at * 64;
    if left >= 64 { u64::MAX } else { (1 << left) - 1 }
}

pub(super) fn to_bits(flags: impl ExactSizeIterator<Item = bool>) -> Bits {
    let mut bits = vec![0u64; flags.len().div_ceil(64)].into_boxed_slice();
    for (at, flag) in flags.enumerate() {
        bits[at / 64] |= u64::from(flag) << (at % 64);
    }
    bits
}
