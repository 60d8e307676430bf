//! Whether the people of the private tables fit the files as they were read.
//!
//! A release has a group for everyone in its table, except for people whose rows were left out. If more people fit no
//! group than rows are missing, the files were misread, or the tables belong to other releases. Then nothing is
//! concluded about people; the reading is doubted first.

use crate::model::{Membership, Release, Row, Schema, Span, Table, counted, people};
use crate::space::stab::Stab;

/// The most people without a group for whom the excluding column is searched.
const ASKED: usize = 500;

/// The most columns that are named as the cause.
const NAMED: usize = 3;

/// What became of the people of the tables.
#[derive(Default)]
pub(super) struct Fit {
    /// Per table, the people who fit no group because their row was left out; empty if nobody was.
    pub left_out: Vec<Membership>,
    /// Whether more people fit no group than rows are missing.
    pub is_doubted: bool,
    /// What was seen, one sentence each.
    pub said: Vec<String>,
}

/// Looks for everyone's group.
pub(super) fn fit(schema: &Schema, releases: &[Release], truth: &[Table]) -> Fit {
    let mut fit = Fit::default();
    let mut left_out = Vec::new();
    for (release, table) in releases.iter().zip(truth) {
        let stab = Stab::without_values(release);
        let nowhere: Vec<Row> =
            (0..table.len() as u32).filter(|&row| stab.find(&point(table, row)).is_none()).map(Row).collect();
        let rows = release.row_count() as u64 - release.counterfeit_count();
        let missing = (table.len() as u64).saturating_sub(rows);
        let (count, number) = (nowhere.len() as u64, release.number);
        if count > missing {
            fit.is_doubted = true;
            let who = people(count);
            let lacks = counted(missing, "row", "rows");
            let blame = blame(schema, &stab, table, &nowhere);
            fit.said.push(format!(
                "In release {number} {who} of the private table fit no group, and {lacks} are missing: the files may be \
                 misread{blame}. Give hierarchies (--hierarchies DIR), or say how the column is written."
            ));
        } else if missing > 0 {
            let known = match missing == count {
                true => "no group covers them".into(),
                false => format!("no group covers {} of them; who the others are is not known", people(count)),
            };
            let missing = people(missing);
            fit.said.push(format!("Release {number} has no row for {missing} of the private table: {known}."));
        }
        left_out.push(Membership { withheld: nowhere, ..Membership::default() });
    }
    let some = left_out.iter().any(|left_out| !left_out.withheld.is_empty());
    if some && !fit.is_doubted {
        fit.left_out = left_out;
    }
    fit
}

/// The columns without which most of the people would fit a group.
fn blame(schema: &Schema, stab: &Stab, table: &Table, nowhere: &[Row]) -> String {
    let asked = &nowhere[..nowhere.len().min(ASKED)];
    let mut would: Vec<(usize, &str)> = Vec::new();
    for (attribute, quasi) in schema.quasi.iter().enumerate() {
        let fits = |row: &&Row| {
            let mut region: Vec<Span> = point(table, row.0).into_iter().map(Span::exact).collect();
            region[attribute] = quasi.root();
            let mut found = false;
            stab.each_overlapping(&region, |_| {
                found = true;
                false
            });
            found
        };
        would.push((asked.iter().filter(fits).count(), &quasi.name));
    }
    would.retain(|(count, _)| *count > 0);
    would.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let of = asked.len();
    let named: Vec<String> =
        would.iter().take(NAMED).map(|(count, name)| format!("{name} alone shuts out {count} of {of}")).collect();
    if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) }
}

fn point(table: &Table, row: u32) -> Vec<u32> {
    (0..table.quasi_count()).map(|attribute| table.quasi(attribute)[row as usize]).collect()
}
