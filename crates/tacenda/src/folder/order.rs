//! The order of rows in a file, and what is printed for each group.
//!
//! Groups are in the release's order, which is a new random permutation. Within a group, rows are sorted by their
//! *texts*: sensitive cells, then public cells, then linked id. Sorting by internal numbers would reveal which value
//! occurred first in the series.

use crate::folder::Issue;
use crate::model::{Release, Schema};

/// Which columns a data file has.
#[derive(Clone, Copy, Debug)]
pub struct FileColumns<'a> {
    /// The published columns.
    pub schema: &'a Schema,
    /// Whether rows have a linked id.
    pub linked: bool,
    /// Whether rows have a weight.
    pub row_weight: bool,
}

impl<'a> FileColumns<'a> {
    /// The shape of a release.
    pub fn of(issue: &Issue<'a>) -> FileColumns<'a> {
        let Issue { release, schema, policy } = *issue;
        FileColumns { schema, linked: !release.linked.is_empty(), row_weight: policy.output.row_weight }
    }
}

/// The order of a release's rows in its files.
pub struct RowOrder<'a> {
    release: &'a Release,
    value_ranks: Vec<u32>,
    public_ranks: Vec<u32>,
}

impl<'a> RowOrder<'a> {
    /// Works out the order of the texts.
    pub fn new(release: &'a Release) -> RowOrder<'a> {
        let values: Vec<&[Box<str>]> = release.values.iter().map(|(_, cells)| cells).collect();
        let publics: Vec<&[Box<str>]> = release.public_texts.iter().map(|cells| &cells[..]).collect();
        RowOrder { release, value_ranks: ranks(&values), public_ranks: ranks(&publics) }
    }

    /// Puts the rows of `group` into `rows`, in the order of the file.
    pub fn rows(&self, group: usize, rows: &mut Vec<u32>) {
        let range = self.release.group_rows(group);
        rows.clear();
        rows.extend(range.start as u32..range.end as u32);
        if !rows.is_sorted_by_key(|&row| self.key(row)) {
            rows.sort_unstable_by_key(|&row| self.key(row));
        }
    }

    fn key(&self, row: u32) -> (u32, u32, u64) {
        let row = row as usize;
        let public = self.release.public.get(row).map_or(0, |&public| self.public_ranks[public as usize]);
        let linked = self.release.linked.get(row).copied().unwrap_or(0);
        (self.value_ranks[self.release.sensitive[row].index()], public, linked)
    }
}

/// The weight of every row of a group, so that weights sum up to people.
pub fn weight(rows: usize, counterfeits: u32) -> f64 {
    (rows as f64 - f64::from(counterfeits)) / rows as f64
}

/// Prints a weight with at most six decimals and no trailing zeros.
pub fn print_weight(rows: usize, counterfeits: u32, out: &mut String) {
    if counterfeits == 0 {
        return out.push('1');
    }
    let text = format!("{:.6}", weight(rows, counterfeits));
    out.push_str(text.trim_end_matches('0').trim_end_matches('.'));
}

/// Prints a linked id: sixteen hexadecimal digits.
pub fn print_linked(linked: u64, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for shift in (0..16).rev() {
        out.push(DIGITS[(linked >> (4 * shift)) as usize & 15]);
    }
}

/// The place of each text among all of them, sorted. Equal texts have equal places.
fn ranks(texts: &[&[Box<str>]]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..texts.len() as u32).collect();
    order.sort_unstable_by_key(|&index| texts[index as usize]);
    let mut ranks = vec![0; texts.len()];
    let mut rank = 0;
    for (place, &index) in order.iter().enumerate() {
        if place > 0 && texts[order[place - 1] as usize] != texts[index as usize] {
            rank = place as u32;
        }
        ranks[index as usize] = rank;
    }
    ranks
}
