//! One person, attacked step by step: the worked example of a report.
//!
//! It scans every group of every release and uses no index, so it also checks the attack that it explains. The last
//! step is what matching everyone at once leaves. It cannot be seen in the groups of one person, and findings count by
//! it. If people are not known, a place is attacked.

use crate::audit::knowledge::Knowledge;
use crate::model::{Quasi, Release, Schema, Span, Value};
use crate::space::stab::overlaps;
use std::fmt;

/// How one person's value was found out, one step per release they are in.
#[derive(Clone, Eq, PartialEq)]
pub struct Story {
    /// The person's number in the attacker's knowledge; `None` if people are not known and the story is about a place.
    pub person: Option<u32>,
    /// The releases they are in, in order.
    pub steps: Vec<StoryStep>,
    /// The values left once everyone is matched with a row at once, ascending, where these are fewer than the last step
    /// leaves.
    pub matched: Option<Vec<Value>>,
}

/// What one release says about the person.
#[derive(Clone, Eq, PartialEq)]
pub struct StoryStep {
    /// The release's number.
    pub release: u32,
    /// The release's label.
    pub label: String,
    /// What the attacker knew: the person's quasi values, as a release would print them alone.
    pub known: Vec<String>,
    /// The groups the person may be in.
    pub groups: Vec<SeenGroup>,
    /// The values of these groups, ascending.
    pub found: Vec<Value>,
    /// The values left after this step, ascending.
    pub left: Vec<Value>,
    /// Whether this step contradicted the ones before, so that the attacker started again.
    pub restarted: bool,
}

/// A group the person may be in.
#[derive(Clone, Eq, PartialEq)]
pub struct SeenGroup {
    /// Its place in the release, counted from 0.
    pub group: u32,
    /// Its region as printed, one text per quasi attribute.
    pub region: Vec<String>,
    /// Its rows' values.
    pub values: Vec<Value>,
}

/// Tells the story of one person.
pub fn tell(schema: &Schema, releases: &[Release], knowledge: &Knowledge<'_>, person: u32) -> Story {
    let mut steps: Vec<StoryStep> = Vec::new();
    for (index, release) in releases.iter().enumerate() {
        let Some(point) = knowledge.point(index, person) else { continue };
        let groups: Vec<SeenGroup> = (0..release.group_count())
            .filter(|&group| release.region(group).iter().zip(&point).all(|(span, &code)| span.contains(code)))
            .map(|group| SeenGroup {
                group: group as u32,
                region: print(&schema.quasi, release.region(group)),
                values: release.group_values(group).to_vec(),
            })
            .collect();
        let mut found: Vec<Value> = groups.iter().flat_map(|group| &group.values).copied().collect();
        found.sort_unstable();
        found.dedup();
        let before = steps.last().map(|step| &step.left);
        let common: Vec<Value> = match before {
            Some(before) => found.iter().copied().filter(|value| before.contains(value)).collect(),
            None => found.clone(),
        };
        let restarted = common.is_empty() && !found.is_empty() && before.is_some();
        let left = match before {
            Some(before) if found.is_empty() => before.clone(),
            _ if restarted => found.clone(),
            _ => common,
        };
        let known: Vec<Span> = point.iter().map(|&code| Span::exact(code)).collect();
        let known = print(&schema.quasi, &known);
        steps.push(StoryStep {
            release: release.number,
            label: release.label.clone(),
            known,
            groups,
            found,
            left,
            restarted,
        });
    }
    Story { person: Some(person), steps, matched: None }
}

/// The most parts that a place is cut into.
const MOST_PARTS: usize = 4096;

/// The story of a person who is in all of some releases, at a point in the overlap of one group of each. At that point
/// only the given values are left. `None` if no such point is found.
pub fn tell_place(schema: &Schema, releases: &[Release], groups: &[(u32, u32)], values: &[Value]) -> Option<Story> {
    let mut region: Option<Vec<Span>> = None;
    let mut chain: Vec<&Release> = Vec::new();
    for &(place, group) in groups {
        let release = releases.get(place as usize)?;
        let theirs = release.region(group as usize);
        region = Some(match region {
            Some(region) => region.iter().zip(theirs).map(|(a, b)| a.meet(*b)).collect(),
            None => theirs.to_vec(),
        });
        if !chain.iter().any(|known| known.number == release.number) {
            chain.push(release);
        }
    }
    chain.sort_by_key(|release| release.number);
    let place = find_place(&chain, region?, values)?;
    let known = print(&schema.quasi, &place);
    let mut steps: Vec<StoryStep> = Vec::new();
    for release in chain {
        let groups: Vec<SeenGroup> = over(release, &place)
            .into_iter()
            .map(|group| SeenGroup {
                group,
                region: print(&schema.quasi, release.region(group as usize)),
                values: release.group_values(group as usize).to_vec(),
            })
            .collect();
        let found = values_of(release, groups.iter().map(|group| group.group));
        let left = match steps.last() {
            Some(step) => found.iter().copied().filter(|value| step.left.contains(value)).collect(),
            None => found.clone(),
        };
        let (number, label) = (release.number, release.label.clone());
        steps.push(StoryStep { release: number, label, known: known.clone(), groups, found, left, restarted: false });
    }
    Some(Story { person: None, steps, matched: None })
}

/// A part of a region that each group covers completely or not at all, and in which exactly these values are left. A
/// region is cut at every boundary of a group inside it.
fn find_place(chain: &[&Release], region: Vec<Span>, values: &[Value]) -> Option<Vec<Span>> {
    let near: Vec<Vec<u32>> = chain.iter().map(|release| over(release, &region)).collect();
    let mut parts = vec![region];
    for _ in 0..MOST_PARTS {
        let part = parts.pop()?;
        if part.iter().any(|span| span.is_empty()) {
            continue;
        }
        let mut edge: Option<(usize, u32)> = None;
        let mut left: Option<Vec<Value>> = None;
        for (release, near) in chain.iter().zip(&near) {
            let meets = |group: &u32| overlaps(release.region(*group as usize), &part);
            let here: Vec<u32> = near.iter().copied().filter(meets).collect();
            edge = edge.or_else(|| here.iter().find_map(|&group| first_edge(release.region(group as usize), &part)));
            let found = values_of(release, here.into_iter());
            left = Some(match left {
                Some(left) => left.into_iter().filter(|value| found.contains(value)).collect(),
                None => found,
            });
        }
        match edge {
            None if left.as_deref() == Some(values) => return Some(part),
            None => (),
            Some((attribute, last)) => {
                let (mut low, mut high) = (part.clone(), part);
                low[attribute].hi = last;
                high[attribute].lo = last + 1;
                parts.extend([high, low]);
            }
        }
    }
    None
}

/// The groups that hold a person and overlap a region, by a scan.
fn over(release: &Release, region: &[Span]) -> Vec<u32> {
    let is_over = |&group: &usize| release.people(group) > 0 && overlaps(release.region(group), region);
    (0..release.group_count()).filter(is_over).map(|group| group as u32).collect()
}

/// A boundary of a region inside a part: the attribute, and the last code before the boundary.
fn first_edge(region: &[Span], part: &[Span]) -> Option<(usize, u32)> {
    region.iter().zip(part).enumerate().find_map(|(attribute, (span, part))| {
        let before = (part.lo < span.lo).then(|| span.lo - 1);
        before.or((span.hi < part.hi).then_some(span.hi)).map(|last| (attribute, last))
    })
}

/// The values of some groups, ascending.
fn values_of(release: &Release, groups: impl Iterator<Item = u32>) -> Vec<Value> {
    let mut values: Vec<Value> = groups.flat_map(|group| release.group_values(group as usize)).copied().collect();
    values.sort_unstable();
    values.dedup();
    values
}

impl Story {
    /// The same story, with what matching everyone at once leaves as its last step.
    pub(super) fn ended_by(self, matched: Vec<Value>) -> Story {
        let takes_away = matched.len() < self.left().len();
        Story { matched: takes_away.then_some(matched), ..self }
    }

    /// The values left at the end.
    pub fn left(&self) -> &[Value] {
        let stepped = self.steps.last().map_or(&[][..], |step| &step.left);
        self.matched.as_deref().unwrap_or(stepped)
    }
}

impl fmt::Debug for Story {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Story({} steps, {} values left)", self.steps.len(), self.left().len())
    }
}

fn print(quasi: &[Quasi], region: &[Span]) -> Vec<String> {
    quasi
        .iter()
        .zip(region)
        .map(|(attribute, span)| {
            let mut text = String::new();
            attribute.print(*span, &mut text);
            text
        })
        .collect()
}
