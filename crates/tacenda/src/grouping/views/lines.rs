//! The earlier views line by line, and their join with each other.

use crate::grouping::views::history::{Line, TooMany};
use crate::grouping::views::link::{Link, can_meet, link, link_columns};
use crate::model::{Classes, Impossible, PublishedView, Requirement, Span, View};
use rustc_hash::FxHashMap;

/// The join of the earlier views with each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Joined {
    /// Per distinct combination of join spans, the link class in each view.
    pub(super) combinations: Vec<Box<[u32]>>,
    /// Per combination, one past its last line.
    pub(super) ends: Vec<u32>,
    pub(super) lines: Vec<Line>,
    /// Per value of the history's part of Y, how many values it stands for: 1, or the rows of a partition if the key of
    /// a view is in Y.
    pub(super) y_weight: Vec<u64>,
    /// Per value of the history's part of Y, its spans in the order of the requirement's Y. A span is empty if its
    /// column belongs to the new view.
    pub(super) y_spans: Vec<Vec<Span>>,
}

/// The lines of one earlier view.
pub(super) struct Lines {
    view: usize,
    pub(super) link: Link,
    /// The columns that join earlier views with each other, and per class of rows that agree on them, the spans.
    inner_names: Vec<String>,
    inner_spans: Vec<Vec<Span>>,
    /// Per such class, its lines.
    lines: Vec<Vec<Own>>,
    /// Per value of Y, its spans by column of the view.
    y_columns: Vec<usize>,
    y_spans: Vec<Vec<Span>>,
}

/// Rows of one view that agree on all relevant columns.
#[derive(Clone, Copy)]
struct Own {
    link: u32,
    x: u32,
    y: u32,
    rows: u64,
    /// How many values of Y they stand for.
    weight: u64,
}

impl Lines {
    pub(super) fn new(
        view: usize,
        published: &PublishedView,
        new: &View,
        others: &[&View],
        requirement: &Requirement,
        rules: &[Impossible],
    ) -> Lines {
        let (link, link_of_row) = link(published, new, rules);
        let inner_columns = link_columns(&published.view, others, rules);
        let inner = published.classes(&inner_columns);
        let x = published.classes(&requirement.x_in(view));
        // With the key in Y, every row is a value of its own and the other columns of Y add nothing.
        let keyed = requirement.is_keyed(view);
        let y_columns = if keyed { Vec::new() } else { requirement.y_in(view) };
        let y = published.classes(&y_columns);
        let all = Classes::of(published.len(), &[&inner.of_row, &link_of_row, &x.of_row, &y.of_row]);
        let mut lines = vec![Vec::new(); inner.len()];
        for class in 0..all.len() {
            let row = all.sample[class] as usize;
            let (y, weight) = if keyed { (class as u32, all.size[class]) } else { (y.of_row[row], 1) };
            lines[inner.of_row[row] as usize].push(Own {
                link: link_of_row[row],
                x: x.of_row[row],
                y,
                rows: all.size[class],
                weight,
            });
        }
        let names =
            |columns: &[usize]| columns.iter().map(|&column| published.view.columns[column].name.clone()).collect();
        let spans_of = |sample: &[u32], columns: &[usize]| -> Vec<Vec<Span>> {
            sample.iter().map(|&row| published.spans(row as usize, columns)).collect()
        };
        let y_spans = spans_of(if keyed { &all.sample } else { &y.sample }, &y_columns);
        let inner_spans = spans_of(&inner.sample, &inner_columns);
        Lines { view, link, inner_names: names(&inner_columns), inner_spans, lines, y_columns, y_spans }
    }
}

/// The earlier views being joined with each other.
pub(super) struct Joining<'a> {
    tables: &'a [Lines],
    requirement: &'a Requirement,
    rules: &'a [Impossible],
    cap: usize,
    steps: usize,
    /// Numbers given so far to combinations of link classes, X values and Y values.
    links: FxHashMap<Box<[u32]>, u32>,
    xs: FxHashMap<Box<[u32]>, u32>,
    ys: FxHashMap<Box<[u32]>, u32>,
    found: Vec<(u32, Line)>,
    y_weight: Vec<u64>,
    y_parts: Vec<Box<[u32]>>,
}

impl<'a> Joining<'a> {
    pub(super) fn new(
        tables: &'a [Lines],
        requirement: &'a Requirement,
        rules: &'a [Impossible],
        cap: usize,
    ) -> Joining<'a> {
        Joining {
            tables,
            requirement,
            rules,
            cap,
            steps: 0,
            links: FxHashMap::default(),
            xs: FxHashMap::default(),
            ys: FxHashMap::default(),
            found: Vec::new(),
            y_weight: Vec::new(),
            y_parts: Vec::new(),
        }
    }

    /// Lists the join; fails if it has too many lines.
    pub(super) fn run(mut self) -> Result<Joined, TooMany> {
        let mut joined = Joined::default();
        self.classes(&mut Vec::new())?;
        // Adds up equal lines and sorts them by combination.
        self.found.sort_unstable_by_key(|(link, line)| (*link, line.x, line.y));
        let mut combinations: Vec<(u32, Box<[u32]>)> = self.links.into_iter().map(|(key, id)| (id, key)).collect();
        combinations.sort_unstable();
        joined.combinations = combinations.into_iter().map(|(_, key)| key).collect();
        joined.ends = vec![0; joined.combinations.len()];
        for same in self.found.chunk_by(|a, b| (a.0, a.1.x, a.1.y) == (b.0, b.1.x, b.1.y)) {
            joined.lines.push(Line { count: same.iter().map(|(_, line)| line.count).sum(), ..same[0].1 });
            joined.ends[same[0].0 as usize] = joined.lines.len() as u32;
        }
        joined.y_weight = self.y_weight;
        let entries = self.requirement.y.iter();
        let of_entry: Vec<Option<(usize, usize)>> = entries
            .map(|at| {
                let table = self.tables.iter().position(|table| table.view == at.view)?;
                Some((table, self.tables[table].y_columns.iter().position(|&column| Some(column) == at.column)?))
            })
            .collect();
        let spans = |parts: &[u32]| {
            let of = |entry: &Option<(usize, usize)>| {
                entry.map_or(Span::EMPTY, |(table, column)| self.tables[table].y_spans[parts[table] as usize][column])
            };
            of_entry.iter().map(of).collect()
        };
        joined.y_spans = self.y_parts.iter().map(|parts| spans(parts)).collect();
        Ok(joined)
    }

    /// Chooses one class per view so that all can be one person, then lists their lines.
    fn classes(&mut self, chosen: &mut Vec<usize>) -> Result<(), TooMany> {
        if chosen.len() == self.tables.len() {
            return self.combine(chosen, &mut Vec::new());
        }
        let table = &self.tables[chosen.len()];
        for class in 0..table.inner_spans.len() {
            self.steps += 1;
            if self.steps > self.cap.saturating_mul(64) {
                return Err(TooMany);
            }
            let fits = (0..chosen.len()).all(|other| self.fits(other, chosen[other], chosen.len(), class));
            if fits {
                chosen.push(class);
                self.classes(chosen)?;
                chosen.pop();
            }
        }
        Ok(())
    }

    fn fits(&self, table: usize, class: usize, other: usize, other_class: usize) -> bool {
        let (table, other) = (&self.tables[table], &self.tables[other]);
        table.inner_names.iter().zip(&table.inner_spans[class]).all(|(name, &span)| {
            let mut theirs = other.inner_names.iter().zip(&other.inner_spans[other_class]);
            theirs.all(|(other, &theirs)| can_meet(name, span, other, theirs, self.rules))
        })
    }

    fn combine(&mut self, chosen: &[usize], lines: &mut Vec<usize>) -> Result<(), TooMany> {
        if lines.len() < chosen.len() {
            for line in 0..self.tables[lines.len()].lines[chosen[lines.len()]].len() {
                lines.push(line);
                self.combine(chosen, lines)?;
                lines.pop();
            }
            return Ok(());
        }
        if self.found.len() >= self.cap {
            return Err(TooMany);
        }
        let parts: Vec<_> =
            (0..lines.len()).map(|table| self.tables[table].lines[chosen[table]][lines[table]]).collect();
        let number = |ids: &mut FxHashMap<Box<[u32]>, u32>, key: Box<[u32]>| {
            let next = ids.len() as u32;
            *ids.entry(key).or_insert(next)
        };
        let link = number(&mut self.links, parts.iter().map(|part| part.link).collect());
        let x = number(&mut self.xs, parts.iter().map(|part| part.x).collect());
        let key: Box<[u32]> = parts.iter().map(|part| part.y).collect();
        let y = number(&mut self.ys, key.clone());
        if y as usize == self.y_weight.len() {
            self.y_weight.push(parts.iter().map(|part| part.weight).product());
            self.y_parts.push(key);
        }
        let count = parts.iter().map(|part| u128::from(part.rows)).product();
        self.found.push((link, Line { x, y, count }));
        Ok(())
    }
}
