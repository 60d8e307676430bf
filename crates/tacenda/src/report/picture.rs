//! The regions of the releases on two attributes: a picture of the partition.
//!
//! The attributes are the two that all releases together say most about. Of many groups every n-th
//! is drawn, so that the picture has the same size for any release and the same look every time.

use crate::model::Domain;
use crate::model::Quasi;
use crate::model::Release;
use crate::model::Schema;
use crate::model::Span;
use crate::report::Panel;
use crate::report::Picture;
use crate::report::ReleaseFacts;
use crate::report::words::clean;

/// The most releases that are drawn.
const MOST_PANELS: usize = 12;

/// The most regions that are drawn of one release.
const MOST_BOXES: usize = 500;

/// Draws the releases; `None` where there are not two attributes to draw on.
pub fn picture(schema: &Schema, releases: &[Release], facts: &[ReleaseFacts]) -> Option<Picture> {
    let (across, up) = two_attributes(schema, facts)?;
    let chosen = chosen(releases.len());
    let panels = chosen.iter().map(|&release| panel(schema, &releases[release], across, up)).collect();
    Some(Picture {
        across: schema.quasi[across].name.clone(),
        up: schema.quasi[up].name.clone(),
        across_ends: ends(&schema.quasi[across]),
        up_ends: ends(&schema.quasi[up]),
        panels,
        left_off: releases.len() - chosen.len(),
    })
}

/// The two attributes with the highest precision over all releases, in the policy's order.
fn two_attributes(schema: &Schema, facts: &[ReleaseFacts]) -> Option<(usize, usize)> {
    let precision = |index: usize| facts.iter().map(|release| release.loss.attributes[index].precision).sum::<f64>();
    // A picture needs room: attributes of two or three values come last.
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

fn panel(schema: &Schema, release: &Release, across: usize, up: usize) -> Panel {
    let step = release.group_count().div_ceil(MOST_BOXES).max(1);
    let mut boxes: Vec<(u32, u32, u32, u32, u32)> = (0..release.group_count())
        .step_by(step)
        .map(|group| {
            let region = release.region(group);
            let (left, right) = thousandths(&schema.quasi[across], region[across]);
            let (bottom, top) = thousandths(&schema.quasi[up], region[up]);
            (left, right, bottom, top, release.people(group))
        })
        .collect();
    // Wide regions first, so that narrow ones are drawn over them.
    boxes.sort_by_key(|&(left, right, bottom, top, people)| {
        (std::cmp::Reverse((right - left) * (top - bottom)), left, right, bottom, top, people)
    });
    Panel { label: clean(&release.label), groups: release.group_count() as u64, boxes }
}

/// Where a span lies in its domain, in thousandths.
fn thousandths(quasi: &Quasi, span: Span) -> (u32, u32) {
    let size = u64::from(quasi.size().max(1));
    let at = |code: u64| (code * 1000 / size) as u32;
    (at(u64::from(span.lo)), at(u64::from(span.hi) + 1))
}

/// The ends of an attribute, as printed beside an axis.
fn ends(quasi: &Quasi) -> (String, String) {
    match &quasi.domain {
        Domain::Category(tree) => {
            (clean(tree.leaf_label(0)), clean(tree.leaf_label(tree.leaf_count().saturating_sub(1))))
        }
        _ => {
            let (mut lo, mut hi) = (String::new(), String::new());
            quasi.print_bound(0, &mut lo);
            quasi.print_bound(quasi.size() - u32::from(quasi.nullable), &mut hi);
            (lo, hi)
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
    fn a_span_lies_where_it_is_in_the_domain() {
        let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 10 });
        assert_eq!(thousandths(&age, Span::new(2, 4)), (200, 500));
        assert_eq!(thousandths(&age, age.root()), (0, 1000));
        assert_eq!(ends(&age), ("0".into(), "10".into()));
    }
}
