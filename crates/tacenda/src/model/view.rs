//! Views: different columns of the same people, and what must hold when views are joined.
//!
//! A view is a list of columns. A published view is a bag of rows with one span per column, however it was made. Two
//! rows of two views can be the same person if the spans of every common column overlap and no declared impossibility
//! excludes it. Because tree nodes are runs of leaves, "on one root path" and "overlap" are the same question.

use crate::model::{CellFault, Quasi, Release, Schema, Span};
use rayon::prelude::*;
use std::fmt;

/// A named list of columns. Columns of the same name in two views are one attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// What the view is called.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Quasi>,
}

/// One published column: the distinct spans that occur, ascending, and which of them each row has.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SpanColumn {
    /// The spans that occur, ascending, each once.
    pub spans: Vec<Span>,
    /// Per row, its place in `spans`.
    pub codes: Vec<u32>,
}

/// A view that is published or about to be: a bag of rows with one span per column. Public.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedView {
    /// Which view it is.
    pub view: View,
    columns: Vec<SpanColumn>,
    rows: usize,
}

/// Private: the rows of a view before they are generalised.
#[derive(Clone, Eq, PartialEq)]
pub struct ViewRows {
    columns: Vec<Vec<u32>>,
    target: Vec<u32>,
    rows: usize,
}

/// Per column of a view, the spans it is published with: ascending, disjoint, covering every code that occurs. `None`
/// if it is published as it is.
pub type Cuts = Vec<Option<Vec<Span>>>;

/// A column of a view, or the record itself, as one side of a requirement.
///
/// Views are numbered in the order in which they are passed with the requirement.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ViewColumn {
    /// The view.
    pub view: usize,
    /// The column; `None` is the key of the view, as if every row had its own number.
    pub column: Option<usize>,
}

/// What must hold on the join of all views. One row is one person.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Requirement {
    /// What an attacker knows.
    pub x: Vec<ViewColumn>,
    /// What identifies (anonymity) or must not be learned (linkability).
    pub y: Vec<ViewColumn>,
    /// The bound.
    pub bound: Bound,
}

/// The number in a requirement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Bound {
    /// Every combination of X goes with at least `k` values of Y.
    Anonymity {
        /// The least number.
        k: u64,
    },
    /// No value of Y makes up a larger share of a combination of X.
    Linkability {
        /// The largest share in thousandths of every value not in `listed`; `None` if those are not sensitive.
        max_permille: Option<u32>,
        /// Values with a threshold of their own.
        listed: Vec<Threshold>,
    },
    /// No value of Y makes up more than one in `l` of a combination of X. This is exact, unlike thousandths.
    OneIn {
        /// The denominator.
        l: u32,
    },
}

/// A threshold for some values of Y.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Threshold {
    /// One span per entry of Y, in its order; a value is meant when each of its spans lies inside.
    pub values: Vec<Span>,
    /// The largest share, in thousandths.
    pub max_permille: u32,
}

/// Two values of two attributes that never belong to one person, and so neither do any below them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Impossible {
    /// One attribute and the span of its subtree.
    pub left: (String, Span),
    /// The other.
    pub right: (String, Span),
}

/// What the detail of a view is used for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Score {
    /// Predicting the target column (paper 004, equation 2). Without a target, like `Distortion`.
    Entropy,
    /// Staying close to the values (equation 3): as many units as there are rows with the value.
    #[default]
    Distortion,
    /// Distinguishing rows: as many units as there are pairs that would no longer be alike.
    Discernability,
}

/// Rows sorted into classes of equal codes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Classes {
    /// Per row, its class. Classes are numbered in the order of their codes.
    pub of_row: Vec<u32>,
    /// Per class, one of its rows.
    pub sample: Vec<u32>,
    /// Per class, how many rows it has.
    pub size: Vec<u64>,
}

impl View {
    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

impl ViewColumn {
    /// A column.
    pub fn new(view: usize, column: usize) -> ViewColumn {
        ViewColumn { view, column: Some(column) }
    }

    /// The key of a view.
    pub fn record(view: usize) -> ViewColumn {
        ViewColumn { view, column: None }
    }

    /// Whether a name in a policy file means a column of a view, by itself or as that view's.
    pub fn is_meant(name: &str, view: &str, column: &str) -> bool {
        name == column || name.split_once('.') == Some((view, column))
    }

    /// What a name in a policy file means: `job` is the column in every view that has it, `tax.job` the one in the view
    /// `tax`, and `tax.record` the key of that view. Empty if it means nothing.
    pub fn find(views: &[&View], name: &str) -> Vec<ViewColumn> {
        if let Some((view, column)) = name.split_once('.')
            && let Some(view) = views.iter().position(|candidate| candidate.name == view)
        {
            return match views[view].column(column) {
                Some(column) => vec![ViewColumn::new(view, column)],
                None if column == "record" => vec![ViewColumn::record(view)],
                None => Vec::new(),
            };
        }
        let places = views.iter().enumerate();
        places.filter_map(|(view, columns)| Some(ViewColumn::new(view, columns.column(name)?))).collect()
    }
}

impl Requirement {
    /// X, Y and at least `k` values.
    pub fn anonymity(x: Vec<ViewColumn>, y: Vec<ViewColumn>, k: u64) -> Requirement {
        Requirement { x, y, bound: Bound::Anonymity { k } }
    }

    /// X, Y and a largest share that holds for every value.
    pub fn linkability(x: Vec<ViewColumn>, y: Vec<ViewColumn>, max_permille: u32) -> Requirement {
        Requirement { x, y, bound: Bound::Linkability { max_permille: Some(max_permille), listed: Vec::new() } }
    }

    /// X, Y and a largest share of one in `l` for every value.
    pub fn one_in(x: Vec<ViewColumn>, y: Vec<ViewColumn>, l: u32) -> Requirement {
        Requirement { x, y, bound: Bound::OneIn { l } }
    }

    /// The columns of X in one view, ascending.
    pub fn x_in(&self, view: usize) -> Vec<usize> {
        columns_in(&self.x, view)
    }

    /// The columns of Y in one view, ascending.
    pub fn y_in(&self, view: usize) -> Vec<usize> {
        columns_in(&self.y, view)
    }

    /// Whether the key of a view is part of Y.
    pub fn is_keyed(&self, view: usize) -> bool {
        self.y.contains(&ViewColumn::record(view))
    }
}

fn columns_in(side: &[ViewColumn], view: usize) -> Vec<usize> {
    let mut columns: Vec<usize> = side.iter().filter(|at| at.view == view).filter_map(|at| at.column).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}

impl Bound {
    /// The threshold of a value of Y as a fraction, given its spans; `None` if it is not sensitive.
    pub fn line(&self, value: impl Fn(usize) -> Span) -> Option<(u32, u32)> {
        match self {
            Bound::OneIn { l } => Some((1, *l)),
            other => other.threshold(value).map(|permille| (permille, 1000)),
        }
    }

    /// The threshold in thousandths, rounded down.
    pub fn threshold(&self, value: impl Fn(usize) -> Span) -> Option<u32> {
        match self {
            Bound::Anonymity { .. } => None,
            Bound::OneIn { l } => Some(1000 / *l),
            Bound::Linkability { max_permille, listed } => listed
                .iter()
                .find(|entry| entry.values.iter().enumerate().all(|(at, &span)| value(at).subset(span)))
                .map(|entry| entry.max_permille)
                .or(*max_permille),
        }
    }
}

impl Impossible {
    /// Whether `name` = `span` on one row rules out `other_name` = `other_span` on the other.
    pub fn rules_out(&self, name: &str, span: Span, other_name: &str, other_span: Span) -> bool {
        let ruled = |left: &(String, Span), right: &(String, Span)| {
            left.0 == name && right.0 == other_name && span.subset(left.1) && other_span.subset(right.1)
        };
        ruled(&self.left, &self.right) || ruled(&self.right, &self.left)
    }
}

impl ViewRows {
    /// Rows from columns of codes; `target` is the class of each row, or empty.
    ///
    /// # Panics
    /// If the columns differ in length.
    pub fn new(columns: Vec<Vec<u32>>, target: Vec<u32>) -> ViewRows {
        let rows = columns.first().map_or(0, Vec::len);
        assert!(columns.iter().all(|column| column.len() == rows), "every column has every row");
        assert!(target.is_empty() || target.len() == rows, "every row has a class or none has");
        ViewRows { columns, target, rows }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The codes of one column.
    pub fn column(&self, column: usize) -> &[u32] {
        &self.columns[column]
    }

    /// The class of each row, or nothing.
    pub fn target(&self) -> &[u32] {
        &self.target
    }
}

impl fmt::Debug for ViewRows {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ViewRows({} rows, {} columns)", self.rows, self.columns.len())
    }
}

impl SpanColumn {
    /// A column from one span per row.
    pub fn new(rows: &[Span]) -> SpanColumn {
        let mut spans = rows.to_vec();
        spans.sort_unstable();
        spans.dedup();
        let place = |span: &Span| spans.binary_search(span).expect("every span was just listed") as u32;
        let codes = rows.iter().map(place).collect();
        SpanColumn { spans, codes }
    }

    /// The span of a row.
    pub fn span(&self, row: usize) -> Span {
        self.spans[self.codes[row] as usize]
    }
}

impl PublishedView {
    /// A view from its columns.
    ///
    /// # Panics
    /// If the columns do not fit the view or differ in length.
    pub fn new(view: View, columns: Vec<SpanColumn>) -> PublishedView {
        assert_eq!(view.columns.len(), columns.len(), "a published view has every column of the view");
        let rows = columns.first().map_or(0, |column| column.codes.len());
        assert!(columns.iter().all(|column| column.codes.len() == rows), "every column has every row");
        PublishedView { view, columns, rows }
    }

    /// A release as a view: its regions, and its sensitive values as exact values of the attributes `sensitive`.
    /// Counterfeits are rows like any other, because a reader cannot recognise them.
    pub fn of_release(
        name: &str,
        schema: &Schema,
        sensitive: &[Quasi],
        release: &Release,
    ) -> Result<PublishedView, CellFault> {
        let mut columns: Vec<Vec<Span>> =
            vec![Vec::with_capacity(release.row_count()); schema.quasi.len() + sensitive.len()];
        for group in 0..release.group_count() {
            let rows = release.group_rows(group);
            for (column, &span) in release.region(group).iter().enumerate() {
                columns[column].extend(rows.clone().map(|_| span));
            }
            for &value in release.group_values(group) {
                for (at, quasi) in sensitive.iter().enumerate() {
                    let code = quasi.encode(&release.values.cells(value)[at])?;
                    columns[schema.quasi.len() + at].push(Span::exact(code));
                }
            }
        }
        let all = schema.quasi.iter().chain(sensitive).cloned().collect();
        let columns = columns.iter().map(|column| SpanColumn::new(column)).collect();
        Ok(PublishedView::new(View { name: name.into(), columns: all }, columns))
    }

    /// Publishes `rows` with the spans of `cuts`.
    ///
    /// # Panics
    /// If a code lies in no span of its cut. A cut must cover every code that occurs.
    pub fn recode(view: &View, rows: &ViewRows, cuts: &Cuts) -> PublishedView {
        let columns =
            (0..view.columns.len()).map(|column| recode(&view.columns[column], rows.column(column), &cuts[column]));
        PublishedView::new(view.clone(), columns.collect())
    }

    /// Per column, whether every row has a single value there.
    pub fn exact_columns(&self) -> Vec<bool> {
        self.columns.iter().map(|column| column.spans.iter().all(|span| span.width() == 1)).collect()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// A column.
    pub fn column(&self, column: usize) -> &SpanColumn {
        &self.columns[column]
    }

    /// The rows sorted into classes that agree on `columns`.
    pub fn classes(&self, columns: &[usize]) -> Classes {
        let codes: Vec<&[u32]> = columns.iter().map(|&column| &self.columns[column].codes[..]).collect();
        Classes::of(self.rows, &codes)
    }

    /// The spans of a row on `columns`.
    pub fn spans(&self, row: usize, columns: &[usize]) -> Vec<Span> {
        columns.iter().map(|&column| self.columns[column].span(row)).collect()
    }
}

/// One column published with the spans of a cut. A scan per row and a look-up per span.
fn recode(quasi: &Quasi, codes: &[u32], cut: &Option<Vec<Span>>) -> SpanColumn {
    let mut used = vec![false; quasi.size() as usize];
    codes.iter().for_each(|&code| used[code as usize] = true);
    let spans: Vec<Span> = match cut {
        Some(cut) => cut.iter().copied().filter(|span| (span.lo..=span.hi).any(|code| used[code as usize])).collect(),
        None => (0..quasi.size()).filter(|&code| used[code as usize]).map(Span::exact).collect(),
    };
    assert!(spans.is_sorted_by(|a, b| a.hi < b.lo), "the spans of a cut are apart and ascending");
    let mut place = vec![u32::MAX; quasi.size() as usize];
    for (at, span) in spans.iter().enumerate() {
        place[span.lo as usize..=span.hi as usize].fill(at as u32);
    }
    let codes: Vec<u32> = codes.iter().map(|&code| place[code as usize]).collect();
    assert!(codes.iter().all(|&place| place != u32::MAX), "a cut covers every code that occurs");
    SpanColumn { spans, codes }
}

impl Classes {
    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.sample.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sample.is_empty()
    }

    /// Sorts `rows` rows into classes of equal codes on all `columns`.
    pub fn of(rows: usize, columns: &[&[u32]]) -> Classes {
        let mut keys: Vec<u64> = vec![0; rows];
        let mut space: u64 = 1;
        for column in columns {
            let size = u64::from(column.iter().copied().max().unwrap_or(0)) + 1;
            if space.checked_mul(size).is_none_or(|product| product > 1 << 62) {
                // Too many combinations to number them all: number those that occur.
                let ranks = rank(&keys, space);
                space = ranks.iter().copied().max().map_or(1, |most| u64::from(most) + 1);
                keys.iter_mut().zip(&ranks).for_each(|(key, &rank)| *key = u64::from(rank));
            }
            keys.iter_mut().zip(column.iter()).for_each(|(key, &code)| *key = *key * size + u64::from(code));
            space *= size;
        }
        let of_row = rank(&keys, space);
        let count = of_row.iter().copied().max().map_or(0, |most| most as usize + 1);
        let mut classes = Classes { of_row, sample: vec![u32::MAX; count], size: vec![0; count] };
        for (row, &class) in classes.of_row.iter().enumerate() {
            classes.size[class as usize] += 1;
            let sample = &mut classes.sample[class as usize];
            *sample = (*sample).min(row as u32);
        }
        classes
    }
}

/// Numbers the distinct keys in ascending order; all keys are below `space`.
fn rank(keys: &[u64], space: u64) -> Vec<u32> {
    if space <= (4 * keys.len() as u64).max(1 << 16) {
        let mut place = vec![0u32; space as usize];
        keys.iter().for_each(|&key| place[key as usize] = 1);
        let mut next = 0;
        for entry in &mut place {
            let met = *entry;
            *entry = next;
            next += met;
        }
        return keys.iter().map(|&key| place[key as usize]).collect();
    }
    let mut order: Vec<(u64, u32)> = keys.iter().zip(0u32..).map(|(&key, row)| (key, row)).collect();
    // Threads pay off only for many rows.
    if order.len() < 1 << 14 {
        order.sort_unstable();
    } else {
        order.par_sort_unstable();
    }
    let mut ranks = vec![0u32; keys.len()];
    let mut current = 0;
    for pair in 0..order.len() {
        if pair > 0 && order[pair].0 != order[pair - 1].0 {
            current += 1;
        }
        ranks[order[pair].1 as usize] = current;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Domain, Hierarchy, Regions, Sensitive, Value, Values};
    use proptest::prelude::*;

    #[test]
    fn a_name_means_every_copy_unless_a_view_is_named() {
        let quasi = |name: &str| Quasi::new(name, Domain::Integer { lo: 0, hi: 9 });
        let tax = View { name: "tax".into(), columns: vec![quasi("job"), quasi("sex")] };
        let visa = View { name: "visa".into(), columns: vec![quasi("sex")] };
        let views = [&tax, &visa];
        assert_eq!(ViewColumn::find(&views, "sex"), [ViewColumn::new(0, 1), ViewColumn::new(1, 0)]);
        assert_eq!(ViewColumn::find(&views, "visa.sex"), [ViewColumn::new(1, 0)]);
        assert_eq!(ViewColumn::find(&views, "tax.record"), [ViewColumn::record(0)]);
        assert_eq!(ViewColumn::find(&views, "tax.age"), []);
    }

    #[test]
    fn a_release_is_a_view_with_regions_and_values() {
        let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 100 });
        let disease = Quasi::new("disease", Domain::Category(Hierarchy::flat(["flu", "hiv", "none"]).unwrap()));
        let schema = Schema::new("id", vec![age], vec![Sensitive::open("disease")]);
        let mut regions = Regions::new(1);
        regions.push(&[Span::new(20, 29)]);
        regions.push(&[Span::new(25, 60)]);
        let values = Values::of(["flu", "hiv"]);
        let release = Release {
            ends: vec![2, 3],
            regions,
            sensitive: vec![Value(0), Value(1), Value(1)],
            values,
            ..Release::default()
        };
        let view = PublishedView::of_release("ward", &schema, &[disease], &release).unwrap();
        assert_eq!(view.len(), 3);
        assert_eq!(view.spans(1, &[0, 1]), [Span::new(20, 29), Span::exact(1)]);
        assert_eq!(view.spans(2, &[0, 1]), [Span::new(25, 60), Span::exact(1)]);
    }

    #[test]
    fn an_impossibility_holds_below_its_nodes_and_both_ways_round() {
        let rule = Impossible { left: ("sex".into(), Span::exact(0)), right: ("state".into(), Span::new(3, 5)) };
        assert!(rule.rules_out("sex", Span::exact(0), "state", Span::exact(4)));
        assert!(rule.rules_out("state", Span::exact(4), "sex", Span::exact(0)));
        assert!(!rule.rules_out("sex", Span::new(0, 1), "state", Span::exact(4)));
    }

    proptest! {
        #[test]
        fn classes_are_numbered_by_their_codes(rows in prop::collection::vec((0u32..4, 0u32..3_000_000_000, 0u32..3_000_000_000), 0..40)) {
            let columns: [Vec<u32>; 3] = [
                rows.iter().map(|row| row.0).collect(),
                rows.iter().map(|row| row.1 / 1_500_000_000 * 1_400_000_000).collect(),
                rows.iter().map(|row| row.2 / 1_500_000_000 * 1_400_000_000).collect(),
            ];
            let classes = Classes::of(rows.len(), &[&columns[0], &columns[1], &columns[2]]);
            let key = |row: usize| (columns[0][row], columns[1][row], columns[2][row]);
            for a in 0..rows.len() {
                for b in 0..rows.len() {
                    prop_assert_eq!(key(a).cmp(&key(b)), classes.of_row[a].cmp(&classes.of_row[b]));
                }
            }
            prop_assert_eq!(classes.size.iter().sum::<u64>(), rows.len() as u64);
        }
    }
}
