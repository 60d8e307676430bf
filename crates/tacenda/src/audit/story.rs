//! One person, attacked step by step: what the worked example of a report shows.
//!
//! It asks every group of every release in turn and uses no index, so that it also checks the attack
//! it explains. What matching everyone at once takes away beyond that is a last step: it cannot be seen in the
//! groups of one person, and is what the findings count by. Where people are not known, a place is attacked.

use crate::audit::knowledge::Knowledge;
use crate::model::Quasi;
use crate::model::Release;
use crate::model::Schema;
use crate::model::Span;
use crate::model::Value;
use std::fmt;

/// How one person's value was found out, one step a release they are in.
#[derive(Clone, Eq, PartialEq)]
pub struct Story {
    /// The person's number in the attacker's knowledge; `None` where people are not known, and it is told of whoever
    /// lies in a place.
    pub person: Option<u32>,
    /// The releases they are in, in order.
    pub steps: Vec<Step>,
    /// The values left once everyone is matched with a row at once, ascending, where these are fewer than the last step
    /// leaves.
    pub matched: Option<Vec<Value>>,
}

/// What one release says about the person.
#[derive(Clone, Eq, PartialEq)]
pub struct Step {
    /// The release's number.
    pub release: u32,
    /// The release's label.
    pub label: String,
    /// What the attacker knew: the person's quasi values, as a release would print them alone.
    pub known: Vec<String>,
    /// The groups the person may stand in.
    pub groups: Vec<SeenGroup>,
    /// The values of these groups, ascending.
    pub found: Vec<Value>,
    /// The values left after this step, ascending.
    pub left: Vec<Value>,
    /// Whether this step contradicted the ones before, so that the attacker started again.
    pub restarted: bool,
}

/// A group the person may stand in.
#[derive(Clone, Eq, PartialEq)]
pub struct SeenGroup {
    /// Its place in the release, counted from 0.
    pub group: u32,
    /// Its region as printed, one text a quasi attribute.
    pub region: Vec<String>,
    /// Its rows' values.
    pub values: Vec<Value>,
}

/// Tells the story of one person.
pub fn tell(schema: &Schema, releases: &[Release], knowledge: &Knowledge<'_>, person: u32) -> Story {
    let mut steps: Vec<Step> = Vec::new();
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
        steps.push(Step {
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

impl Story {
    /// The same story, ended by what matching everyone at once leaves.
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
