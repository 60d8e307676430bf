//! The earlier views, joined as an attacker would join them, partition by partition.
//!
//! Rows of an earlier view that agree on all relevant columns are one line with a count. Lines of several views are
//! combined if all pairs can be the same person. (Spans are intervals, so spans that overlap pairwise have a common
//! point.) The new view is matched with the distinct combinations of join spans only. A bit per combination says
//! whether a span of the new view matches it.

use crate::grouping::views::lines::{Joined, Joining, Lines};
use crate::grouping::views::link::{Bits, Link, link, link_columns, to_bits};
use crate::grouping::views::worst::Worst;
use crate::model::{Bound, Impossible, PublishedView, Requirement, Span, View};

/// The earlier views of one check, joined.
#[derive(Clone, Debug)]
pub(super) struct EarlierViews {
    joined: Joined,
    /// How each view of the join is matched with the new one.
    links: Vec<Link>,
    /// Views that only contribute a factor: they have no column of X or Y and join only the new view.
    factors: Vec<Link>,
    /// Whether Y has a part here.
    pub(super) has_y: bool,
}

/// Equal joined rows of the earlier views: their values of X and Y, and their number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) count: u128,
}

/// What one combination of the new view's join spans matches, by value of the history's part of X.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    /// The values of the history's part of X that are matched, ascending.
    pub(super) entries: Vec<Entry>,
    /// Per entry, its values of Y, ascending, with their counts.
    pub(super) values: Vec<(u32, u128)>,
    /// The least number of distinct Y values of an entry; `None` if nothing is matched.
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

/// The join of the earlier views has more lines than may be listed.
#[derive(Debug)]
pub(super) struct TooMany;

impl EarlierViews {
    /// Joins the earlier views numbered `members` (0 is the new view) as far as `requirement` needs it.
    pub(super) fn new(
        new: &View,
        earlier: &[PublishedView],
        members: &[usize],
        requirement: &Requirement,
        rules: &[Impossible],
        cap: usize,
    ) -> Result<EarlierViews, TooMany> {
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
        let has_y = joined.iter().any(|(view, _)| has_y(requirement, *view));
        let joined = Joining::new(&tables, requirement, rules, cap).run()?;
        let links = tables.into_iter().map(|table| table.link).collect();
        Ok(EarlierViews { joined, links, factors, has_y })
    }

    /// How many values of Y a value of the history's part stands for.
    pub(super) fn y_weight(&self, y: u32) -> u64 {
        self.joined.y_weight[y as usize]
    }

    /// The spans of a value of the history's part of Y, in the order of the requirement's Y.
    pub(super) fn y_spans(&self, y: u32) -> &[Span] {
        &self.joined.y_spans[y as usize]
    }

    /// How many combinations there are.
    pub(super) fn len(&self) -> usize {
        self.joined.combinations.len()
    }

    /// Which combinations a row with `span` in the column `name` matches.
    pub(super) fn bits(&self, name: &str, span: Span, rules: &[Impossible]) -> Bits {
        let meets: Vec<Vec<bool>> = self.links.iter().map(|link| link.meets(name, span, rules)).collect();
        let met = |combination: &[u32]| combination.iter().zip(&meets).all(|(&class, meets)| meets[class as usize]);
        to_bits(self.joined.combinations.iter().map(|combination| met(combination)))
    }

    /// The factor of `factors` for rows with these spans.
    pub(super) fn factor(&self, spans: &[(&str, Span)], rules: &[Impossible]) -> u128 {
        let rows = |link: &Link| -> u128 {
            let meets: Vec<Vec<bool>> = spans.iter().map(|&(name, span)| link.meets(name, span, rules)).collect();
            let classes = 0..link.size.len();
            classes
                .filter(|&class| meets.iter().all(|meets| meets[class]))
                .map(|class| u128::from(link.size[class]))
                .sum()
        };
        self.factors.iter().map(rows).product()
    }

    /// Sums up the combinations in `bits`, times `factor`. Entries are kept only if `keep` says so. If one partition of
    /// the new view makes up a value of X on its own, only the worst entry matters.
    pub(super) fn profile(&self, bits: &[u64], factor: u128, bound: &Bound, keep: Keep) -> Profile {
        let mut lines: Vec<Line> = Vec::new();
        for at in (0..self.len()).filter(|at| factor > 0 && bits[at / 64] >> (at % 64) & 1 == 1) {
            let start = if at == 0 { 0 } else { self.joined.ends[at - 1] as usize };
            lines.extend_from_slice(&self.joined.lines[start..self.joined.ends[at] as usize]);
        }
        lines.sort_unstable_by_key(|line| (line.x, line.y));
        let mut profile = Profile { share: (0, 1), ..Profile::default() };
        for of_x in lines.chunk_by(|a, b| a.x == b.x) {
            let start = profile.values.len() as u32;
            let values = of_x.chunk_by(|a, b| a.y == b.y);
            profile
                .values
                .extend(values.map(|same| (same[0].y, same.iter().map(|line| line.count).sum::<u128>() * factor)));
            let values = &profile.values[start as usize..];
            let count = values.iter().map(|value| value.1).sum();
            let distinct = values.iter().map(|value| self.y_weight(value.0)).fold(0, u64::saturating_add);
            profile.least_distinct = Some(profile.least_distinct.map_or(distinct, |least| least.min(distinct)));
            for &(y, of_y) in values {
                // If a value stands for the rows of a partition, each row has its share of the count.
                let one = of_y / u128::from(self.y_weight(y));
                profile.worst = profile.worst.and(Worst::share(one, count, self.threshold(bound, y)));
                let share = cut_down(one, count);
                if share.0 * profile.share.1 > profile.share.0 * share.1 {
                    profile.share = share;
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
        bound.threshold(|at| self.y_spans(y)[at])
    }
}

/// A fraction whose products with another one cannot overflow. Large counts are rounded up.
fn cut_down(part: u128, whole: u128) -> (u128, u128) {
    let spare = (128 - whole.leading_zeros()).saturating_sub(62);
    ((part >> spare) + u128::from(spare > 0 && part > 0), whole >> spare)
}

/// Whether a profile lists its entries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Keep {
    /// Only the worst of them is remembered.
    Worst,
    /// All.
    Entries,
}

pub(super) fn has_y(requirement: &Requirement, view: usize) -> bool {
    requirement.y.iter().any(|at| at.view == view)
}
