//! How codes move when the domain of an attribute grows between two releases.
//!
//! A domain grows if every old value keeps its place. A tree gets new leaves and nodes, a list new values, a range of
//! numbers or dates wider bounds, a column room for missing values. The grown domain keeps the order of the old codes,
//! and new children come last. So codes shift but never change their order. Published values keep their meaning: a list
//! or an interval covers the same values as before, and a node stays the same node.

use crate::model::{Domain, Grid, Hierarchy, History, OTHER, PastGroups, Quasi, Regions, Schema, Span, Table, counted};

/// How many times as wide a domain may get.
const MOST_TIMES: i64 = 1000;

/// How the codes of one attribute move.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Recoding {
    /// They stay.
    Same,
    /// Numbers and dates: all codes shift up by `by`, the number of new values below.
    Shift {
        /// How many values there are below the old ones.
        by: u32,
        /// The code of a missing value before.
        old_null: Option<u32>,
        /// All codes after.
        root: Span,
    },
    /// Leaves of a tree: the new code of each, and the new leaves of each node that was there.
    Leaves {
        /// By old code.
        codes: Vec<u32>,
        /// Old and new leaves of the inner nodes, sorted; empty for a list.
        nodes: Vec<(Span, Span)>,
    },
}

/// How the codes of all attributes of a schema move, with the name of each.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Growth(Vec<(String, Recoding)>);

/// What was added to a column.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Added {
    /// The column.
    pub column: String,
    /// What was added, in words. A domain is public, so this reveals no person's value.
    pub what: String,
    /// The leaves that are new.
    pub leaves: Vec<String>,
}

impl Added {
    /// A sensitive column takes missing values.
    pub fn missing(column: String) -> Added {
        Added { column, what: "missing values, as a value of their own".into(), leaves: Vec::new() }
    }

    /// New lines in the hierarchy of a sensitive column.
    pub fn lines(column: String, count: usize) -> Added {
        let what = counted(count as u64, "new line in its hierarchy", "new lines in its hierarchy");
        Added { column, what, leaves: Vec::new() }
    }
}

impl Recoding {
    /// The code of a value now.
    pub fn code(&self, code: u32) -> u32 {
        match self {
            Recoding::Same => code,
            Recoding::Shift { old_null, root, .. } if *old_null == Some(code) => root.hi,
            Recoding::Shift { by, .. } => code + by,
            Recoding::Leaves { codes, .. } => codes[code as usize],
        }
    }

    /// A published span, now.
    pub fn span(&self, span: Span) -> Span {
        match self {
            Recoding::Shift { old_null, root, .. } if *old_null == Some(span.hi) && span.lo != span.hi => *root,
            Recoding::Leaves { nodes, .. } if span.lo != span.hi => {
                match nodes.binary_search_by_key(&(span.lo, span.hi), |(old, _)| (old.lo, old.hi)) {
                    Ok(at) => nodes[at].1,
                    Err(_) => Span { lo: self.code(span.lo), hi: self.code(span.hi) },
                }
            }
            _ if span.is_empty() => span,
            _ => Span { lo: self.code(span.lo), hi: self.code(span.hi) },
        }
    }
}

impl Growth {
    /// Whether no code moves.
    pub fn is_still(&self) -> bool {
        self.0.iter().all(|(_, recoding)| *recoding == Recoding::Same)
    }

    /// What happens to the codes of an attribute.
    pub fn of(&self, attribute: usize) -> &Recoding {
        &self.0[attribute].1
    }

    /// A table with the codes of the grown schema.
    pub fn table(&self, mut table: Table) -> Table {
        for (attribute, (_, recoding)) in self.0.iter().enumerate().filter(|(_, (_, moved))| *moved != Recoding::Same) {
            table.recode(attribute, |code| recoding.code(code));
        }
        table
    }

    /// Regions with the codes of the grown schema.
    pub fn regions(&self, regions: &Regions) -> Regions {
        if regions.attributes() != self.0.len() {
            return regions.clone();
        }
        let mut grown = Regions::new(regions.attributes());
        for region in regions.iter() {
            let region: Vec<Span> =
                region.iter().zip(&self.0).map(|(&span, (_, recoding))| recoding.span(span)).collect();
            grown.push(&region);
        }
        grown
    }

    /// A history with the codes of the grown schema. Views have columns of their own and never grow.
    pub fn history(&self, history: History) -> History {
        if self.is_still() {
            return history;
        }
        let moved = |name: &str, span: Span| match self.0.iter().find(|(column, _)| column == name) {
            Some((_, recoding)) => recoding.span(span),
            None => span,
        };
        let past = history.counts.iter().cloned();
        History {
            counts: past.map(|(release, counts)| (release, counts.moved(moved))).collect(),
            groups: PastGroups {
                regions: self.regions(&history.groups.regions),
                cells: self.regions(&history.groups.cells),
            },
            places: self.regions(&history.places),
            ..history
        }
    }
}

impl Schema {
    /// This schema with the codes of `before` kept in their order, how they move, and what is new. The error says, in
    /// words, which column changed in a way that is no growth.
    pub fn grown_from(&self, before: &Schema) -> Result<(Schema, Growth, Vec<Added>), String> {
        let names = |schema: &Schema| schema.quasi.iter().map(|quasi| quasi.name.clone()).collect::<Vec<_>>();
        if names(self) != names(before) {
            return Err("the quasi columns are not the same".into());
        }
        let (mut schema, mut growth, mut added) = (self.clone(), Growth::default(), Vec::new());
        for (quasi, old) in schema.quasi.iter_mut().zip(&before.quasi) {
            let (grown, recoding, new) = quasi.grown_from(old).map_err(|why| format!("column {}: {why}", old.name))?;
            *quasi = grown;
            growth.0.push((old.name.clone(), recoding));
            added.extend(new);
        }
        Ok((schema, growth, added))
    }
}

impl Quasi {
    /// This attribute with the codes of `before` kept in their order, if it grew from there.
    pub fn grown(&self, before: &Quasi) -> Option<Quasi> {
        self.grown_from(before).ok().map(|(grown, _, _)| grown)
    }

    /// How codes of `before` move to this attribute, if it grew from there; they stay where it did not.
    pub(super) fn recoding_from(&self, before: &Quasi) -> Recoding {
        self.grown_from(before).map_or(Recoding::Same, |(_, recoding, _)| recoding)
    }

    fn grown_from(&self, before: &Quasi) -> Result<(Quasi, Recoding, Option<Added>), String> {
        if before.nullable && !self.nullable {
            return Err("missing values were allowed and no longer are".into());
        }
        if before.takes_unknown && !self.takes_unknown {
            return Err("values that are not listed were read as other and no longer are".into());
        }
        if before.sets != self.sets {
            return Err("cells is not what it was".into());
        }
        if before.min_width != self.min_width {
            return Err("min_width is not what it was".into());
        }
        match (&self.domain, &before.domain) {
            (Domain::Category(new), Domain::Category(old)) => self.grown_tree(new, before, old),
            _ => self.grown_range(before),
        }
    }

    fn grown_tree(
        &self,
        new: &Hierarchy,
        before: &Quasi,
        old: &Hierarchy,
    ) -> Result<(Quasi, Recoding, Option<Added>), String> {
        let tree = new.grown_from(old)?;
        let codes: Vec<u32> = (0..old.leaf_count()).filter_map(|code| tree.leaf(old.leaf_label(code))).collect();
        if self.sets && (0..).zip(&codes).any(|(old, &new)| old != new) {
            // A set is a run of leaves, and a new leaf among them would seem to have been published.
            return Err("with cells = \"sets\", new values must come after all others: give them a node of their own \
                        at the end, in a column without missing values"
                .into());
        }
        let nodes = old.moved_nodes(&tree);
        let leaves: Vec<String> = (0..tree.leaf_count())
            .map(|code| tree.leaf_label(code))
            .filter(|label| old.leaf(label).is_none())
            .map(String::from)
            .collect();
        let is_same = (0..).zip(&codes).all(|(old, &new)| old == new) && leaves.is_empty();
        let recoding = if is_same { Recoding::Same } else { Recoding::Leaves { codes, nodes } };
        let mut what = Vec::new();
        if !leaves.is_empty() {
            what.push(counted(leaves.len() as u64, "new value", "new values"));
        }
        if self.takes_unknown && !before.takes_unknown {
            what.push(format!("{OTHER} for values that are not listed"));
        }
        let (column, what) = (self.name.clone(), what.join(", "));
        let added = (!what.is_empty()).then_some(Added { column, what, leaves });
        Ok((Quasi { domain: Domain::Category(tree), ..self.clone() }, recoding, added))
    }

    fn grown_range(&self, before: &Quasi) -> Result<(Quasi, Recoding, Option<Added>), String> {
        let (Some((lo, hi)), Some((old_lo, old_hi))) = (self.range_like(before), before.range_like(before)) else {
            return Err("its type or precision is not what it was".into());
        };
        if lo > old_lo || hi < old_hi {
            return Err("the domain no longer holds all that it held".into());
        }
        // Counts keep the cells of the first release, so there would be as many more of them.
        if (hi - lo) / MOST_TIMES > (old_hi - old_lo).max(MOST_TIMES) {
            return Err(format!("the new bounds are more than {MOST_TIMES} times as far apart as the old ones"));
        }
        let by = (old_lo - lo) as u32;
        let root = self.root();
        let recoding = Recoding::Shift { by, old_null: before.null(), root };
        if !self.keeps_lines_of(before, &recoding) {
            return Err(
                "the new bounds would move published boundaries: an end of the old domain lies on no line of grid and \
                        min_width"
                    .into(),
            );
        }
        let is_same = by == 0 && hi == old_hi && before.nullable == self.nullable;
        let mut what = Vec::new();
        if (lo, hi) != (old_lo, old_hi) {
            what.push("wider bounds");
        }
        if before.nullable != self.nullable {
            what.push("missing values");
        }
        let added = (!is_same).then(|| Added { column: self.name.clone(), what: what.join(", "), leaves: Vec::new() });
        Ok((self.clone(), if is_same { Recoding::Same } else { recoding }, added))
    }

    /// The bounds, if the type is that of `other`.
    fn range_like(&self, other: &Quasi) -> Option<(i64, i64)> {
        match (&self.domain, &other.domain) {
            (Domain::Integer { lo, hi }, Domain::Integer { .. }) | (Domain::Date { lo, hi }, Domain::Date { .. }) => {
                Some((*lo, *hi))
            }
            (Domain::Real { lo, hi, decimals }, Domain::Real { decimals: other, .. }) if decimals == other => {
                Some((*lo, *hi))
            }
            _ => None,
        }
    }

    /// Whether every old value is still published in the same way. That concerns both ends, where bounds cut grid cells
    /// short, and the values in between, where only the lines matter.
    fn keeps_lines_of(&self, before: &Quasi, recoding: &Recoding) -> bool {
        let same_kind = match (&self.grid, &before.grid) {
            (Grid::Free, Grid::Free) | (Grid::Lines(_), Grid::Lines(_)) => true,
            (Grid::Every { pitch, .. }, Grid::Every { pitch: old, .. }) => pitch == old,
            _ => false,
        };
        let numbers = before.size() - u32::from(before.nullable);
        let pitch = match &before.grid {
            Grid::Every { pitch, .. } => *pitch,
            _ => 1,
        };
        // The first and the last cells, which bounds may cut short, and both sides of their edges.
        let steps = [0, 1, pitch, before.min_width, pitch.saturating_add(before.min_width)];
        let near = |step: u32| [step.saturating_sub(1), step, step.saturating_add(1)];
        let offsets = steps.into_iter().flat_map(near).filter(|&offset| offset < numbers);
        let ends = offsets.flat_map(|offset| [offset, numbers - 1 - offset]);
        let on_lines: Vec<u32> = match &before.grid {
            Grid::Lines(lines) => lines.clone(),
            _ => Vec::new(),
        };
        let alike = |code: u32| {
            let span = Span::exact(code);
            self.cover(recoding.span(span)) == recoding.span(before.cover(span))
        };
        same_kind && ends.chain(on_lines).all(alike)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(rows: &[&str]) -> Hierarchy {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
        Hierarchy::from_rows(&rows).unwrap()
    }

    fn grown(new: Quasi, old: Quasi) -> Result<(Quasi, Recoding, Option<Added>), String> {
        new.grown_from(&old)
    }

    #[test]
    fn new_leaves_come_last_below_their_node() {
        let old = Quasi::new("place", Domain::Category(tree(&["a1;a;*", "a2;a;*", "b1;b;*"]))).nullable();
        let new = tree(&["a0;a;*", "a1;a;*", "a2;a;*", "c1;c;*", "b1;b;*"]);
        let (place, recoding, added) = grown(Quasi::new("place", Domain::Category(new)).nullable(), old).unwrap();
        let tree = place.hierarchy().unwrap();
        let leaves: Vec<&str> = (0..tree.leaf_count()).map(|code| tree.leaf_label(code)).collect();
        assert_eq!(leaves, ["a1", "a2", "a0", "b1", "NULL", "c1"]);
        assert_eq!([0, 1, 2, 3].map(|code| recoding.code(code)), [0, 1, 3, 4]);
        assert_eq!(recoding.span(Span::new(0, 1)), Span::new(0, 2), "a node stays that node");
        assert_eq!(recoding.span(Span::new(0, 3)), Span::new(0, 5), "so does the root");
        assert_eq!(added.unwrap().leaves, ["a0", "c1"]);
    }

    #[test]
    fn bounds_do_not_move_out_of_sight() {
        let number = |hi: i64| Quasi::new("cost", Domain::Integer { lo: 0, hi });
        assert!(grown(number(1_000_000), number(120)).is_ok());
        assert!(grown(number(3_000_000_000), number(120)).unwrap_err().contains("1000 times"));
        assert!(grown(number(3_000_000_000), number(10_000_000)).is_ok());
    }

    /// A set is a run of leaves. A new leaf among them would be in sets that were published before it was listed.
    #[test]
    fn sets_of_leaves_grow_at_their_end_only() {
        let place = |rows: &[&str], sets: bool| Quasi { sets, ..Quasi::new("place", Domain::Category(tree(rows))) };
        let old = || place(&["a1;a;*", "b1;b;*"], true);
        let (_, recoding, _) = grown(place(&["a1;a;*", "b1;b;*", "b2;b;*", "c1;c;*"], true), old()).unwrap();
        assert_eq!(recoding.span(Span::new(0, 0)), Span::new(0, 0));
        let among = grown(place(&["a1;a;*", "a2;a;*", "b1;b;*"], true), old());
        assert!(among.unwrap_err().contains("after all others"));
        assert!(grown(place(&["a1;a;*", "b1;b;*"], false), old()).unwrap_err().contains("cells"));
        assert!(grown(place(&["a1;a;*", "a2;a;*", "b1;b;*"], false), place(&["a1;a;*", "b1;b;*"], false)).is_ok());
    }

    #[test]
    fn a_list_covers_what_it_covered() {
        let list =
            |values: &[&str]| Quasi::new("sex", Domain::Category(Hierarchy::flat(values.iter().copied()).unwrap()));
        let (sex, recoding, added) = grown(list(&["X", "F", "M"]), list(&["F", "M"])).unwrap();
        assert_eq!(recoding.span(Span::new(0, 1)), Span::new(0, 1));
        assert_eq!(sex.root(), Span::new(0, 2));
        assert_eq!(added.unwrap().what, "1 new value");
        // The order of the file says nothing.
        let (same, recoding, added) = grown(list(&["M", "F"]), list(&["F", "M"])).unwrap();
        assert_eq!((same, recoding, added), (list(&["F", "M"]), Recoding::Same, None));
    }

    #[test]
    fn reading_values_that_are_not_listed_is_an_amendment() {
        let list = |takes_unknown: bool| Quasi {
            takes_unknown,
            ..Quasi::new("race", Domain::Category(Hierarchy::flat(["A", "other"]).unwrap()))
        };
        let (_, recoding, added) = grown(list(true), list(false)).unwrap();
        assert_eq!((recoding, added.unwrap().what.as_str()), (Recoding::Same, "other for values that are not listed"));
        assert!(grown(list(false), list(true)).is_err());
    }

    #[test]
    fn bounds_widen_by_whole_steps() {
        let age = |lo: i64, hi: i64, pitch: u32| Quasi {
            grid: Grid::Every { pitch, phase: (-lo).rem_euclid(i64::from(pitch)) as u32 },
            ..Quasi::new("age", Domain::Integer { lo, hi })
        };
        // An end far away counts too.
        assert!(grown(age(0, 9_000_000, 100_000), age(0, 5_550_000, 100_000)).is_err());
        let (_, recoding, added) = grown(age(0, 150, 5), age(10, 120, 5)).unwrap();
        assert_eq!(recoding.span(Span::new(0, 9)), Span::new(10, 19));
        assert_eq!(added.unwrap().what, "wider bounds");
        assert!(grown(age(0, 150, 5), age(10, 118, 5)).unwrap_err().contains("move published boundaries"));
        assert!(grown(age(0, 150, 10), age(10, 120, 5)).is_err());
        assert!(grown(age(20, 150, 5), age(10, 120, 5)).unwrap_err().contains("no longer holds"));
        let (_, recoding, added) = grown(age(10, 120, 5).nullable(), age(10, 120, 5)).unwrap();
        assert_eq!((recoding.code(3), added.unwrap().what.as_str()), (3, "missing values"));
        let (_, recoding, _) = grown(age(5, 130, 5).nullable(), age(10, 120, 5).nullable()).unwrap();
        assert_eq!((recoding.code(110), recoding.code(0)), (125, 5));
        assert_eq!(recoding.span(Span::new(0, 110)), Span::new(0, 125), "anything or missing stays that");
    }

    #[test]
    fn what_moves_a_value_is_no_growth() {
        let place = |rows: &[&str]| Quasi::new("place", Domain::Category(tree(rows)));
        let old = || place(&["a1;a;*", "b1;b;*"]);
        for bad in [&["a1;b;*", "b1;b;*"][..], &["a1;a;*"], &["a1;a;*", "b;b;*"], &["a1;a;c;*", "b1;b;c;*", "d;d;d;*"]]
        {
            assert!(grown(place(bad), old()).is_err(), "{bad:?}");
        }
        let list = Quasi::new("place", Domain::Category(Hierarchy::flat(["x", "y"]).unwrap()));
        let with_node = place(&["x;x;*", "y;y;*", "z1;z;*", "z2;z;*"]);
        assert!(grown(with_node, list).unwrap_err().contains("list"));
        assert!(grown(old(), old().nullable()).is_err());
    }
}
