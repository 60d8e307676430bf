//! The regions of the releases on two attributes: a picture of the partition.
//!
//! The attributes are the two that are published most precisely over all releases. Of many groups only every n-th is
//! drawn, so that the picture has a bounded size and always looks the same.

use crate::model::{Domain, Quasi, Release, Schema, Span};
use crate::report::words::clean;
use crate::report::{Panel, Picture, ReleaseFacts};

/// The most releases that are drawn.
const MOST_PANELS: usize = 12;

/// The most regions that are drawn of one release.
const MOST_BOXES: usize = 500;

/// Draws the releases; `None` where there are not two attributes to draw on.
pub fn picture(schema: &Schema, releases: &[Release], facts: &[ReleaseFacts]) -> Option<Picture> {
    let (across, up) = two_attributes(schema, facts)?;
    let chosen = chosen(releases.len());
    let axes = (Axis::new(schema, releases, across), Axis::new(schema, releases, up));
    let panels = chosen.iter().map(|&release| panel(&releases[release], &axes)).collect();
    Some(Picture {
        across: schema.quasi[across].name.clone(),
        up: schema.quasi[up].name.clone(),
        across_ends: axes.0.ends(),
        up_ends: axes.1.ends(),
        panels,
        left_off: releases.len() - chosen.len(),
    })
}

/// The two attributes with the highest precision over all releases, in the policy's order.
fn two_attributes(schema: &Schema, facts: &[ReleaseFacts]) -> Option<(usize, usize)> {
    let precision = |index: usize| facts.iter().map(|release| release.loss.attributes[index].precision).sum::<f64>();
    // Attributes of two or three values make poor pictures, so they come last.
    let mut order: Vec<usize> = (0..schema.quasi.len()).filter(|&index| schema.quasi[index].size() > 1).collect();
    order.sort_by(|&a, &b| {
        let roomy = |index: usize| schema.quasi[index].size() >= 8;
        roomy(b).cmp(&roomy(a)).then(precision(b).total_cmp(&precision(a))).then(a.cmp(&b))
    });
    match order[..] {
        [a, b, ..] => Some((a.min(b), a.max(b))),
        _ => None,
    }
}

/// Which releases are drawn: all, or as many as fit, evenly from the first to the last.
fn chosen(count: usize) -> Vec<usize> {
    if count <= MOST_PANELS {
        return (0..count).collect();
    }
    (0..MOST_PANELS).map(|panel| panel * (count - 1) / (MOST_PANELS - 1)).collect()
}

fn panel(release: &Release, (across, up): &(Axis<'_>, Axis<'_>)) -> Panel {
    let step = release.group_count().div_ceil(MOST_BOXES).max(1);
    let mut boxes: Vec<(u32, u32, u32, u32, u32)> = (0..release.group_count())
        .step_by(step)
        .map(|group| {
            let region = release.region(group);
            let (left, right) = across.thousandths(region[across.attribute]);
            let (bottom, top) = up.thousandths(region[up.attribute]);
            (left, right, bottom, top, release.people(group))
        })
        .collect();
    // Wide regions first, so that narrow ones are drawn over them.
    boxes.sort_by_key(|&(left, right, bottom, top, people)| {
        (std::cmp::Reverse((right - left) * (top - bottom)), left, right, bottom, top, people)
    });
    Panel { label: clean(&release.label), groups: release.group_count() as u64, boxes }
}

/// An attribute, and the part of its domain that is drawn: where published regions are narrower than the domain.
struct Axis<'a> {
    quasi: &'a Quasi,
    attribute: usize,
    shown: Span,
}

impl<'a> Axis<'a> {
    fn new(schema: &'a Schema, releases: &[Release], attribute: usize) -> Axis<'a> {
        let quasi = &schema.quasi[attribute];
        let spans = releases.iter().flat_map(|release| release.regions.iter().map(|region| region[attribute]));
        // A region of the whole domain shows nothing and would hide the others.
        let shown = spans.filter(|&span| span != quasi.root()).fold(Span::EMPTY, Span::join);
        Axis { quasi, attribute, shown: if shown.is_empty() { quasi.root() } else { shown } }
    }

    /// Where a span lies in what is drawn, in thousandths.
    fn thousandths(&self, span: Span) -> (u32, u32) {
        let span = span.meet(self.shown);
        if span.is_empty() {
            return (0, 1000);
        }
        let at = |code: u32| (u64::from(code - self.shown.lo) * 1000 / u64::from(self.shown.width())) as u32;
        (at(span.lo), at(span.hi + 1))
    }

    /// The ends of what is drawn, as printed beside an axis.
    fn ends(&self) -> (String, String) {
        let Span { lo, hi } = self.shown;
        match &self.quasi.domain {
            Domain::Category(tree) => (clean(tree.leaf_label(lo)), clean(tree.leaf_label(hi))),
            _ => {
                let numbers = self.quasi.size() - u32::from(self.quasi.nullable);
                let (mut from, mut to) = (String::new(), String::new());
                self.quasi.print_bound(lo.min(numbers), &mut from);
                self.quasi.print_bound((hi + 1).min(numbers), &mut to);
                (from, to)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_releases_the_first_and_the_last_are_drawn() {
        assert_eq!(chosen(3), [0, 1, 2]);
        let many = chosen(50);
        assert_eq!((many.len(), many[0], many[11]), (MOST_PANELS, 0, 49));
    }

    #[test]
    fn a_span_lies_where_it_is_in_what_is_drawn() {
        let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 20 });
        let axis = Axis { quasi: &age, attribute: 0, shown: Span::new(5, 14) };
        assert_eq!(axis.thousandths(Span::new(7, 9)), (200, 500));
        assert_eq!(axis.thousandths(age.root()), (0, 1000));
        assert_eq!(axis.ends(), ("5".into(), "15".into()));
    }
}
