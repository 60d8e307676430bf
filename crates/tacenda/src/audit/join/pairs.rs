//! Which rows of each two views can be one person, class by class.

use crate::model::{Classes, Impossible, PublishedView, Span, View};
use crate::space::matching::Matching;
use std::sync::Arc;

/// The most pairs of classes of two views that are listed, whatever the limit, to bound memory.
const LISTED: u64 = 1 << 26;

/// For every two views, the classes of rows that agree in the joining columns, and which classes match.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    /// Per view and other view, the classes of its rows; empty on the diagonal.
    classes: Vec<Vec<Arc<Classes>>>,
    /// Per view and other view, per class, the classes of the other that it can meet, ascending.
    meets: Vec<Vec<Arc<Vec<Vec<u32>>>>>,
    /// Per view, how many rows it has.
    rows: Vec<u64>,
    /// Whether all matching pairs were listed within the limit. Otherwise nothing can be concluded.
    pub(super) is_small: bool,
    /// The pairs of views without an assignment of all rows. Between them the kernel excludes nothing.
    pub(super) unassigned: Vec<(usize, usize)>,
}

impl Pairs {
    pub(super) fn new(views: &[PublishedView], rules: &[Impossible], limit: u64) -> Pairs {
        let count = views.len();
        let mut pairs = Pairs {
            classes: vec![vec![Arc::default(); count]; count],
            meets: vec![vec![Arc::default(); count]; count],
            rows: views.iter().map(|view| view.len() as u64).collect(),
            is_small: true,
            unassigned: Vec::new(),
        };
        for a in 0..count {
            for b in (0..count).filter(|&b| b != a) {
                pairs.classes[a][b] = Arc::new(views[a].classes(&joining(&views[a].view, &views[b].view, rules)));
            }
        }
        for a in 0..count {
            for b in a + 1..count {
                let mut left = limit.min(LISTED);
                let (own, other) = (&pairs.classes[a][b], &pairs.classes[b][a]);
                let Some(meets) = meeting((&views[a], own), (&views[b], other), rules, &mut left) else {
                    pairs.is_small = false;
                    return pairs;
                };
                pairs.meets[b][a] = Arc::new(turned(&meets, pairs.classes[b][a].len()));
                pairs.meets[a][b] = Arc::new(meets);
            }
        }
        pairs
    }

    /// The same for some of the views, in this order.
    pub(super) fn only(&self, views: &[usize]) -> Pairs {
        let classes = |&a: &usize| views.iter().map(|&b| self.classes[a][b].clone()).collect();
        let meets = |&a: &usize| views.iter().map(|&b| self.meets[a][b].clone()).collect();
        Pairs {
            classes: views.iter().map(classes).collect(),
            meets: views.iter().map(meets).collect(),
            rows: views.iter().map(|&view| self.rows[view]).collect(),
            is_small: self.is_small,
            unassigned: Vec::new(),
        }
    }

    /// Per view and other view, rows that can meet no row of it.
    pub(super) fn lonely(&self) -> Vec<Vec<u64>> {
        let count = self.classes.len();
        let of_pair = |view: usize, other: usize| {
            let sizes = self.classes[view][other].size.iter().zip(self.meets[view][other].iter());
            sizes.filter(|(_, met)| met.is_empty()).map(|(&size, _)| size).sum()
        };
        (0..count).map(|view| (0..count).map(|other| of_pair(view, other)).collect()).collect()
    }

    /// The class of a row of `view` with regard to `other`.
    pub(super) fn class(&self, view: usize, other: usize, row: u32) -> u32 {
        self.classes[view][other].of_row[row as usize]
    }

    /// The classes of rows of `view` with regard to `other`.
    pub(super) fn classes(&self, view: usize, other: usize) -> &Classes {
        &self.classes[view][other]
    }

    /// Whether two classes can meet.
    pub(super) fn can_meet(&self, view: usize, class: u32, other: usize, other_class: u32) -> bool {
        self.meets[view][other][class as usize].binary_search(&other_class).is_ok()
    }

    /// The classes of `other` that a class of `view` can meet.
    pub(super) fn met(&self, view: usize, class: u32, other: usize) -> &[u32] {
        &self.meets[view][other][class as usize]
    }

    /// Per view, rows that can meet no row of some other view.
    pub(super) fn dangling(&self) -> Vec<u64> {
        let count = self.classes.len();
        let of_view = |view: usize| {
            let rows = (0..count).filter(|&other| other != view).flat_map(|other| {
                let classes = &self.classes[view][other];
                let flags: Vec<bool> = self.meets[view][other].iter().map(Vec::is_empty).collect();
                let is_lonely = move |class: u32| flags.get(class as usize).copied().unwrap_or(false);
                classes.of_row.iter().enumerate().filter(move |(_, class)| is_lonely(**class)).map(|(row, _)| row)
            });
            let mut rows: Vec<usize> = rows.collect();
            rows.sort_unstable();
            rows.dedup();
            rows.len() as u64
        };
        (0..count).map(of_view).collect()
    }

    /// How many people there are: as many as the largest view has rows.
    pub(super) fn people(&self) -> u64 {
        self.rows.iter().copied().max().unwrap_or(0)
    }

    /// How many people have no row in a view.
    pub(super) fn absent(&self, view: usize) -> u64 {
        self.people() - self.rows[view]
    }

    /// The same with only those pairs that lie in some assignment of all rows of the two views; `None` if it would take
    /// too long. Two views without such an assignment keep all their pairs.
    pub(super) fn kernel(&self) -> Option<Pairs> {
        if !self.is_small {
            return None;
        }
        let mut kernel = self.clone();
        for (a, b) in self.each_two() {
            kernel.keep_usable(self, (a, b), self.rows[a].max(self.rows[b]));
        }
        Some(kernel)
    }

    /// The kernel of some views, given that of all. Two views may both lack people whom a third one has. Then fewer of
    /// their pairs can be excluded.
    pub(super) fn kernel_among(&self, all: &Pairs, views: &[usize]) -> Pairs {
        let (raw, mut kernel) = (self.only(views), all.only(views));
        let people = raw.people();
        for (a, b) in raw.each_two() {
            if raw.rows[a].max(raw.rows[b]) < people {
                kernel.meets[a][b] = raw.meets[a][b].clone();
                kernel.meets[b][a] = raw.meets[b][a].clone();
                kernel.keep_usable(&raw, (a, b), people);
            } else if all.unassigned.contains(&(views[a], views[b])) {
                kernel.unassigned.push((a, b));
            }
        }
        kernel
    }

    fn each_two(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let count = self.rows.len();
        (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
    }

    /// Keeps the pairs of two views that lie in some assignment to this many people, each with at most one row of each
    /// view. A person without a row is absent from that view, and absence matches every row of the other.
    fn keep_usable(&mut self, raw: &Pairs, (a, b): (usize, usize), people: u64) {
        let of_class = raw.meets[a][b].iter().zip(0u32..);
        let mut arcs: Vec<(u32, u32)> =
            of_class.flat_map(|(met, class)| met.iter().map(move |&other| (class, other))).collect();
        let listed = arcs.len();
        // Rows are numbered with 32 bits, so no class has more.
        let sizes = |classes: &Classes| classes.size.iter().map(|&size| size as u32).collect();
        let (mut supplies, mut capacities): (Vec<u32>, Vec<u32>) =
            (sizes(&raw.classes[a][b]), sizes(&raw.classes[b][a]));
        let absent = |view: usize| (people - raw.rows[view]) as u32;
        if absent(a) > 0 {
            arcs.extend((0..capacities.len() as u32).map(|class| (supplies.len() as u32, class)));
            supplies.push(absent(a));
        }
        if absent(b) > 0 {
            arcs.extend((0..supplies.len() as u32).map(|class| (class, capacities.len() as u32)));
            capacities.push(absent(b));
        }
        let matching = Matching { supplies, capacities, arcs };
        let Some(usable) = matching.usable_arcs() else {
            self.unassigned.push((a, b));
            return;
        };
        let mut meets = vec![Vec::new(); raw.classes[a][b].len()];
        for (&(class, other), _) in matching.arcs.iter().zip(&usable).take(listed).filter(|(_, usable)| **usable) {
            meets[class as usize].push(other);
        }
        self.meets[b][a] = Arc::new(turned(&meets, raw.classes[b][a].len()));
        self.meets[a][b] = Arc::new(meets);
    }
}

/// The columns of `view` on which its match with `other` rests.
pub(super) fn joining(view: &View, other: &View, rules: &[Impossible]) -> Vec<usize> {
    let rests = |name: &str| {
        let by_rule = |rule: &Impossible| {
            rule.left.0 == name && other.column(&rule.right.0).is_some()
                || rule.right.0 == name && other.column(&rule.left.0).is_some()
        };
        other.column(name).is_some() || rules.iter().any(by_rule)
    };
    (0..view.columns.len()).filter(|&column| rests(&view.columns[column].name)).collect()
}

/// Whether two rows can be one person: the definition.
pub(super) fn is_match(
    view: &PublishedView,
    row: usize,
    other: &PublishedView,
    other_row: usize,
    rules: &[Impossible],
) -> bool {
    view.view.columns.iter().enumerate().all(|(column, quasi)| {
        let span = view.column(column).span(row);
        other.view.columns.iter().enumerate().all(|(other_column, other_quasi)| {
            let other_span = other.column(other_column).span(other_row);
            if quasi.name == other_quasi.name {
                span.overlap(other_span)
            } else {
                !rules.iter().any(|rule| rule.rules_out(&quasi.name, span, &other_quasi.name, other_span))
            }
        })
    })
}

/// Per class of `view`, the classes of `other` that it matches; `None` if there are more than `left`, which is counted
/// down. Answers per column and span are computed once. For one pair of rows, `is_match` above is the definition.
fn meeting(
    (view, classes): (&PublishedView, &Classes),
    (other, other_classes): (&PublishedView, &Classes),
    rules: &[Impossible],
    left: &mut u64,
) -> Option<Vec<Vec<u32>>> {
    let columns = joining(&view.view, &other.view, rules);
    let other_columns = joining(&other.view, &view.view, rules);
    let words = other_classes.len().div_ceil(64);
    let mut known: Vec<Vec<Option<Vec<u64>>>> =
        columns.iter().map(|&column| vec![None; view.column(column).spans.len()]).collect();
    let mut meets = Vec::with_capacity(classes.len());
    for &row in &classes.sample {
        let mut met = vec![u64::MAX; words];
        for (at, &column) in columns.iter().enumerate() {
            let code = view.column(column).codes[row as usize] as usize;
            let bits = known[at][code].get_or_insert_with(|| {
                let name = &view.view.columns[column].name;
                let span = view.column(column).spans[code];
                let can = |&row: &u32| can_meet(name, span, other, row as usize, &other_columns, rules);
                let mut bits = vec![0u64; words];
                let flags = other_classes.sample.iter().map(can).enumerate();
                flags.for_each(|(class, can)| bits[class / 64] |= u64::from(can) << (class % 64));
                bits
            });
            met.iter_mut().zip(bits.iter()).for_each(|(met, bits)| *met &= bits);
        }
        let is_met = |&class: &u32| met[class as usize / 64] >> (class % 64) & 1 == 1;
        let met: Vec<u32> = (0..other_classes.len() as u32).filter(is_met).collect();
        *left = left.checked_sub(met.len() as u64)?;
        meets.push(met);
    }
    Some(meets)
}

fn can_meet(
    name: &str,
    span: Span,
    other: &PublishedView,
    row: usize,
    columns: &[usize],
    rules: &[Impossible],
) -> bool {
    columns.iter().all(|&column| {
        let other_name = &other.view.columns[column].name;
        let other_span = other.column(column).span(row);
        if name == other_name {
            span.overlap(other_span)
        } else {
            !rules.iter().any(|rule| rule.rules_out(name, span, other_name, other_span))
        }
    })
}

/// The same relation, seen from the other side.
fn turned(meets: &[Vec<u32>], classes: usize) -> Vec<Vec<u32>> {
    let mut turned = vec![Vec::new(); classes];
    for (class, met) in meets.iter().enumerate() {
        met.iter().for_each(|&other| turned[other as usize].push(class as u32));
    }
    turned
}
