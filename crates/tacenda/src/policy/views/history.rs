//! What is out already, as one attacker would join it: the earlier views, partition by partition.
//!
//! Rows of an earlier view that are alike on everything that matters are one line with a count. The
//! lines of several views are combined where they can be the same person, pairwise (spans are runs, so
//! pairs that meet have a common point). The new view is matched against the distinct combinations of
//! join spans only; a bit a combination says which of them a span of the new view can meet.

use crate::model::Bound;
use crate::model::Classes;
use crate::model::Impossible;
use crate::model::PublishedView;
use crate::model::Requirement;
use crate::model::Span;
use crate::model::View;
use crate::model::ViewRows;
use crate::policy::views::worst::Worst;
use rustc_hash::FxHashMap;

/// The earlier views of one check, joined.
#[derive(Clone, Debug)]
pub(super) struct History {
    links: Vec<Link>,
    /// Per distinct combination of join spans, the link class in each view of `links`.
    combinations: Vec<Box<[u32]>>,
    /// Per combination, one past its last line.
    ends: Vec<u32>,
    lines: Vec<Line>,
    /// Per value of the history's part of Y, how many values it stands for: 1, or the rows of a partition
    /// where the key of a view is part of Y.
    pub(super) y_weight: Vec<u64>,
    /// Per value of the history's part of Y, its spans in the order of the requirement's Y; empty
    /// spans where an entry belongs to the new view.
    pub(super) y_spans: Vec<Vec<Span>>,
    /// Whether Y has a part here.
    pub(super) has_y: bool,
    /// Views that only multiply: they hold nothing of X and Y and join nothing but the new view.
    factors: Vec<Link>,
}

/// How an earlier view meets the new one.
#[derive(Clone, Debug)]
struct Link {
    /// The names of its columns that matter for that.
    names: Vec<String>,
    /// Per class of rows alike on them: the spans.
    spans: Vec<Vec<Span>>,
    /// Per class: how many rows.
    size: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    x: u32,
    y: u32,
    count: u128,
}

/// What one combination of the new view's join spans meets, by value of the history's part of X.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    /// The values of the history's part of X that are met, ascending.
    pub(super) entries: Vec<Entry>,
    /// Per entry, its values of Y, ascending, with their counts.
    pub(super) values: Vec<(u32, u128)>,
    /// The least number of distinct Y values of an entry; `None`: nothing is met.
    pub(super) least_distinct: Option<u64>,
    /// The worst share of one Y value in an entry, judged as if Y had no part in the new view.
    pub(super) worst: Worst,
    /// The largest share of one Y value in an entry, as a fraction.
    pub(super) share: (u128, u128),
}

/// One value of the history's part of X.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) x: u32,
    pub(super) count: u128,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A set of combinations, one bit each.
pub(super) type Bits = Box<[u64]>;

/// The join of the earlier views has more lines than may be listed.
#[derive(Debug)]
pub(super) struct TooMany;

impl History {
    /// Joins the earlier views numbered `members` (0 is the new view) as far as `requirement` needs it.
    pub(super) fn new(
        new: &View,
        earlier: &[PublishedView],
        members: &[usize],
        requirement: &Requirement,
        rules: &[Impossible],
        cap: usize,
    ) -> Result<History, TooMany> {
        let views: Vec<(usize, &PublishedView)> = members.iter().map(|&view| (view, &earlier[view - 1])).collect();
        let is_linked = |a: &View, b: &View| !link_columns(a, &[b], rules).is_empty();
        let (only_factor, joined): (Vec<_>, Vec<_>) = views.iter().partition(|(view, published)| {
            let silent = requirement.x_in(*view).is_empty() && !has_y(requirement, *view);
            silent && views.iter().all(|(other, also)| other == view || !is_linked(&published.view, &also.view))
        });
        let factors = only_factor.into_iter().map(|(_, published)| link(published, new, rules).0).collect();
        let mut tables = Vec::new();
        for (view, published) in &joined {
            let others: Vec<&View> =
                joined.iter().filter(|(other, _)| other != view).map(|(_, also)| &also.view).collect();
            tables.push(Lines::new(*view, published, new, &others, requirement, rules));
        }
        let mut history = History {
            links: Vec::new(),
            combinations: Vec::new(),
            ends: Vec::new(),
            lines: Vec::new(),
            y_weight: Vec::new(),
            y_spans: Vec::new(),
            has_y: joined.iter().any(|(view, _)| has_y(requirement, *view)),
            factors,
        };
        Joining::new(&tables, requirement, rules, cap).run(&mut history)?;
        history.links = tables.into_iter().map(|table| table.link).collect();
        Ok(history)
    }

    /// How many combinations there are.
    pub(super) fn len(&self) -> usize {
        self.combinations.len()
    }

    /// Which combinations a row with `span` in the column `name` can meet.
    pub(super) fn bits(&self, name: &str, span: Span, rules: &[Impossible]) -> Bits {
        let meets: Vec<Vec<bool>> = self.links.iter().map(|link| link.meets(name, span, rules)).collect();
        let met = |combination: &Box<[u32]>| combination.iter().zip(&meets).all(|(&class, meets)| meets[class as usize]);
        to_bits(self.combinations.iter().map(met))
    }

    /// What the views that only multiply contribute to rows with these spans.
    pub(super) fn factor(&self, spans: &[(&str, Span)], rules: &[Impossible]) -> u128 {
        let rows = |link: &Link| -> u128 {
            let meets: Vec<Vec<bool>> = spans.iter().map(|&(name, span)| link.meets(name, span, rules)).collect();
            let classes = 0..link.size.len();
            classes.filter(|&class| meets.iter().all(|meets| meets[class])).map(|class| u128::from(link.size[class])).sum()
        };
        self.factors.iter().map(rows).product()
    }

    /// Sums up what the combinations in `bits` hold, times `factor`. The entries themselves are kept
    /// only where `keep` says so: where one partition of the new view meets a value of X on its own, the
    /// worst entry is all that matters.
    pub(super) fn profile(&self, bits: &[u64], factor: u128, bound: &Bound, keep: Keep) -> Profile {
        let mut lines: Vec<Line> = Vec::new();
        for at in (0..self.len()).filter(|at| factor > 0 && bits[at / 64] >> (at % 64) & 1 == 1) {
            let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
            lines.extend_from_slice(&self.lines[start..self.ends[at] as usize]);
        }
        lines.sort_unstable_by_key(|line| (line.x, line.y));
        let mut profile = Profile { share: (0, 1), ..Profile::default() };
        for of_x in lines.chunk_by(|a, b| a.x == b.x) {
            let start = profile.values.len() as u32;
            let values = of_x.chunk_by(|a, b| a.y == b.y);
            profile.values.extend(values.map(|same| (same[0].y, same.iter().map(|line| line.count).sum::<u128>() * factor)));
            let values = &profile.values[start as usize..];
            let count = values.iter().map(|value| value.1).sum();
            let distinct = values.iter().map(|value| self.y_weight[value.0 as usize]).fold(0, u64::saturating_add);
            profile.least_distinct = Some(profile.least_distinct.map_or(distinct, |least| least.min(distinct)));
            for &(y, of_y) in values {
                // Where a value stands for the rows of a partition, each row has its share of the count.
                let one = of_y / u128::from(self.y_weight[y as usize]);
                profile.worst = profile.worst.and(Worst::share(one, count, self.threshold(bound, y)));
                if one * profile.share.1 > profile.share.0 * count {
                    profile.share = (one, count);
                }
            }
            profile.entries.push(Entry { x: of_x[0].x, count, start, end: profile.values.len() as u32 });
            if keep == Keep::Worst {
                profile.values.clear();
                profile.entries.clear();
            }
        }
        profile
    }

    fn threshold(&self, bound: &Bound, y: u32) -> Option<u32> {
        bound.threshold(|at| self.y_spans[y as usize][at])
    }
}

/// Whether a profile lists its entries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Keep {
    /// Only the worst of them is remembered.
    Worst,
    /// All.
    Entries,
}

impl Link {
    /// Per class, whether a row with `span` in the column `name` can be the same person.
    fn meets(&self, name: &str, span: Span, rules: &[Impossible]) -> Vec<bool> {
        let can = |spans: &Vec<Span>| {
            let mut own = self.names.iter().zip(spans);
            own.all(|(other, &theirs)| can_meet(name, span, other, theirs, rules))
        };
        self.spans.iter().map(can).collect()
    }
}

/// Whether one row's column and another row's column can belong to one person.
pub(super) fn can_meet(name: &str, span: Span, other: &str, theirs: Span, rules: &[Impossible]) -> bool {
    if name == other { span.overlap(theirs) } else { !rules.iter().any(|rule| rule.rules_out(name, span, other, theirs)) }
}

/// The columns of `view` that matter when it is matched with `others`.
pub(super) fn link_columns(view: &View, others: &[&View], rules: &[Impossible]) -> Vec<usize> {
    let has = |name: &str| others.iter().any(|other| other.column(name).is_some());
    let matters = |name: &str| {
        has(name)
            || rules.iter().any(|rule| rule.left.0 == name && has(&rule.right.0) || rule.right.0 == name && has(&rule.left.0))
    };
    (0..view.columns.len()).filter(|&column| matters(&view.columns[column].name)).collect()
}

/// How many rows of the new view, as they are, and of an earlier view match nothing of the other.
/// Generalising the new view can only add matches.
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

fn to_bits(flags: impl ExactSizeIterator<Item = bool>) -> Bits {
    let mut bits = vec![0u64; flags.len().div_ceil(64)].into_boxed_slice();
    for (at, flag) in flags.enumerate() {
        bits[at / 64] |= u64::from(flag) << (at % 64);
    }
    bits
}

fn has_y(requirement: &Requirement, view: usize) -> bool {
    requirement.y.iter().any(|at| at.view == view)
}

/// How `published` meets `new`, and the class of each of its rows.
fn link(published: &PublishedView, new: &View, rules: &[Impossible]) -> (Link, Vec<u32>) {
    let columns = link_columns(&published.view, &[new], rules);
    let classes = published.classes(&columns);
    let names = columns.iter().map(|&column| published.view.columns[column].name.clone()).collect();
    let spans = classes.sample.iter().map(|&row| published.spans(row as usize, &columns)).collect();
    (Link { names, spans, size: classes.size }, classes.of_row)
}

/// The lines of one earlier view.
struct Lines {
    view: usize,
    link: Link,
    /// Per class of rows alike on what joins earlier views to each other: names and spans.
    inner_names: Vec<String>,
    inner_spans: Vec<Vec<Span>>,
    /// Per such class, its lines: link class, value of X, value of Y, rows, weight.
    lines: Vec<Vec<(u32, u32, u32, u64, u64)>>,
    /// Per value of Y, its spans by column of the view.
    y_columns: Vec<usize>,
    y_spans: Vec<Vec<Span>>,
}

impl Lines {
    fn new(
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
            lines[inner.of_row[row] as usize].push((link_of_row[row], x.of_row[row], y, all.size[class], weight));
        }
        let names = |columns: &[usize]| columns.iter().map(|&column| published.view.columns[column].name.clone()).collect();
        let spans_of = |sample: &[u32], columns: &[usize]| -> Vec<Vec<Span>> {
            sample.iter().map(|&row| published.spans(row as usize, columns)).collect()
        };
        let y_spans = spans_of(if keyed { &all.sample } else { &y.sample }, &y_columns);
        let inner_spans = spans_of(&inner.sample, &inner_columns);
        Lines { view, link, inner_names: names(&inner_columns), inner_spans, lines, y_columns, y_spans }
    }
}

/// The earlier views being joined with each other.
struct Joining<'a> {
    tables: &'a [Lines],
    requirement: &'a Requirement,
    rules: &'a [Impossible],
    cap: usize,
    /// Numbers given so far to combinations of link classes, X values and Y values.
    links: FxHashMap<Box<[u32]>, u32>,
    xs: FxHashMap<Box<[u32]>, u32>,
    ys: FxHashMap<Box<[u32]>, u32>,
    found: Vec<(u32, Line)>,
    y_weight: Vec<u64>,
    y_parts: Vec<Box<[u32]>>,
}

impl<'a> Joining<'a> {
    fn new(tables: &'a [Lines], requirement: &'a Requirement, rules: &'a [Impossible], cap: usize) -> Joining<'a> {
        Joining {
            tables,
            requirement,
            rules,
            cap,
            links: FxHashMap::default(),
            xs: FxHashMap::default(),
            ys: FxHashMap::default(),
            found: Vec::new(),
            y_weight: Vec::new(),
            y_parts: Vec::new(),
        }
    }

    fn run(mut self, history: &mut History) -> Result<(), TooMany> {
        self.classes(&mut Vec::new())?;
        // Sums equal lines and puts them by combination.
        self.found.sort_unstable_by_key(|(link, line)| (*link, line.x, line.y));
        let mut combinations: Vec<(u32, Box<[u32]>)> = self.links.into_iter().map(|(key, id)| (id, key)).collect();
        combinations.sort_unstable();
        history.combinations = combinations.into_iter().map(|(_, key)| key).collect();
        history.ends = vec![0; history.combinations.len()];
        for same in self.found.chunk_by(|a, b| (a.0, a.1.x, a.1.y) == (b.0, b.1.x, b.1.y)) {
            history.lines.push(Line { count: same.iter().map(|(_, line)| line.count).sum(), ..same[0].1 });
            history.ends[same[0].0 as usize] = history.lines.len() as u32;
        }
        history.y_weight = self.y_weight;
        let entries = self.requirement.y.iter();
        let of_entry: Vec<Option<(usize, usize)>> = entries
            .map(|at| {
                let table = self.tables.iter().position(|table| table.view == at.view)?;
                Some((table, self.tables[table].y_columns.iter().position(|&column| Some(column) == at.column)?))
            })
            .collect();
        let spans = |parts: &Box<[u32]>| {
            let of = |entry: &Option<(usize, usize)>| {
                entry.map_or(Span::EMPTY, |(table, column)| self.tables[table].y_spans[parts[table] as usize][column])
            };
            of_entry.iter().map(of).collect()
        };
        history.y_spans = self.y_parts.iter().map(spans).collect();
        Ok(())
    }

    /// Chooses one class per view so that all can be one person, then lists their lines.
    fn classes(&mut self, chosen: &mut Vec<usize>) -> Result<(), TooMany> {
        if chosen.len() == self.tables.len() {
            return self.combine(chosen, &mut Vec::new());
        }
        let table = &self.tables[chosen.len()];
        for class in 0..table.inner_spans.len() {
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
        let parts: Vec<_> = (0..lines.len()).map(|table| self.tables[table].lines[chosen[table]][lines[table]]).collect();
        let number = |ids: &mut FxHashMap<Box<[u32]>, u32>, key: Box<[u32]>| {
            let next = ids.len() as u32;
            *ids.entry(key).or_insert(next)
        };
        let link = number(&mut self.links, parts.iter().map(|part| part.0).collect());
        let x = number(&mut self.xs, parts.iter().map(|part| part.1).collect());
        let key: Box<[u32]> = parts.iter().map(|part| part.2).collect();
        let y = number(&mut self.ys, key.clone());
        if y as usize == self.y_weight.len() {
            self.y_weight.push(parts.iter().map(|part| part.4).product());
            self.y_parts.push(key);
        }
        let count = parts.iter().map(|part| u128::from(part.3)).product();
        self.found.push((link, Line { x, y, count }));
        Ok(())
    }
}
