//! What anyone can count in one release.

use crate::audit::{Thresholds, Traces};
use crate::measure::{Loss, loss};
use crate::model::{Release, Schema};
use crate::report::words::clean;
use crate::report::{
    AttributeFacts, Bar, LossFacts, ReleaseFacts, ReleaseOrigin, RiskFacts, RiskKind, SuppressedFacts,
};
use std::collections::BTreeMap;

/// How many classes of risk there are.
const RISK_CLASSES: usize = 20;

/// The most bars of group sizes; above, sizes are put together by powers of two.
const MOST_BARS: usize = 24;

/// What is needed to count a release.
pub struct Lens<'a> {
    /// The columns.
    pub schema: &'a Schema,
    /// Where a number becomes a finding.
    pub thresholds: Thresholds,
    /// The least group the promise allows.
    pub least: u32,
    /// Which risk is put in classes.
    pub risk: RiskKind,
}

/// Counts a release in one pass over its groups.
pub fn release_facts(
    release: &Release,
    traces: Option<&Traces>,
    source: Option<&ReleaseOrigin>,
    lens: &Lens,
) -> ReleaseFacts {
    let mut risk = RiskFacts { smallest_group: u32::MAX, fewest_values: u32::MAX, ..RiskFacts::default() };
    let mut sizes: BTreeMap<u32, u64> = BTreeMap::new();
    let mut classes = vec![0u64; RISK_CLASSES];
    // The largest share as a fraction, compared without rounding.
    let mut highest = (0u64, 1u64);
    let without_values = traces.is_some_and(|traces| traces.without_sensitive);
    let mut with_people = 0u64;
    // Nobody is in a group of counterfeits only, so it is no risk to anyone and hides nobody.
    for group in (0..release.group_count()).filter(|&group| release.people(group) > 0) {
        let people = release.people(group);
        let values = release.group_values(group);
        let rows = values.len() as u64;
        *sizes.entry(people).or_default() += 1;
        with_people += 1;
        risk.smallest_group = risk.smallest_group.min(people);
        if people < lens.thresholds.k {
            risk.people_below_k += u64::from(people);
        }
        let (distinct, most) = if without_values { (0, 0) } else { tally(values) };
        if !without_values {
            risk.fewest_values = risk.fewest_values.min(distinct);
            if distinct < lens.thresholds.l {
                risk.people_below_l += u64::from(people);
            }
            if most * highest.1 > highest.0 * rows {
                highest = (most, rows);
            }
        }
        let (part, whole) = match lens.risk {
            RiskKind::Inference if !without_values => (most, rows),
            _ => (1, u64::from(people)),
        };
        classes[class(part, whole)] += u64::from(people);
    }
    let people = release.row_count() as u64 - release.counterfeit_count();
    if risk.smallest_group == u32::MAX {
        risk.smallest_group = 0;
    }
    if risk.fewest_values == u32::MAX {
        risk.fewest_values = 0;
    }
    risk.highest_identity = if risk.smallest_group == 0 { 0.0 } else { 1.0 / f64::from(risk.smallest_group) };
    risk.mean_identity = with_people as f64 / people.max(1) as f64;
    risk.highest_share = highest.0 as f64 / highest.1 as f64;
    risk.without_suppressed = without_suppressed(release, traces, lens.schema);
    ReleaseFacts {
        number: release.number,
        label: clean(&release.label),
        at: source.and_then(|source| source.at.clone()),
        files: source.map_or(Vec::new(), |source| source.files.clone()),
        data: source.and_then(|source| source.data.clone()),
        rows: release.row_count() as u64,
        people,
        groups: release.group_count() as u64,
        counterfeits: release.counterfeit_count(),
        risk,
        group_sizes: bars(&sizes),
        risk_classes: classes,
        loss: loss_facts(&loss(release, lens.schema, lens.least)),
    }
}

/// The risks of people whose rows are not suppressed. A suppressed row may have any value in every quasi column of the
/// file.
fn without_suppressed(release: &Release, traces: Option<&Traces>, schema: &Schema) -> SuppressedFacts {
    let (mut suppressed, mut people, mut groups, mut smallest) = (0u64, 0u64, 0u64, u32::MAX);
    for group in (0..release.group_count()).filter(|&group| release.people(group) > 0) {
        let here = release.people(group);
        if release.is_suppressed(group, schema, traces) {
            suppressed += u64::from(here);
            continue;
        }
        people += u64::from(here);
        groups += 1;
        smallest = smallest.min(here);
    }
    let smallest_group = if groups == 0 { 0 } else { smallest };
    SuppressedFacts {
        suppressed,
        smallest_group,
        highest_identity: if smallest_group == 0 { 0.0 } else { 1.0 / f64::from(smallest_group) },
        mean_identity: groups as f64 / people.max(1) as f64,
    }
}

/// How many values there are, and how often the most frequent one occurs; `values` ascend.
fn tally(values: &[crate::model::Value]) -> (u32, u64) {
    let runs = values.chunk_by(|a, b| a == b);
    runs.fold((0, 0), |(distinct, most), run| (distinct + 1, most.max(run.len() as u64)))
}

/// The class of a risk: the first holds up to 0.05, the last up to 1.
fn class(part: u64, whole: u64) -> usize {
    let place = (part * RISK_CLASSES as u64).div_ceil(whole.max(1));
    (place as usize).clamp(1, RISK_CLASSES) - 1
}

/// Sizes one by one where they are few, by powers of two where they are many.
fn bars(sizes: &BTreeMap<u32, u64>) -> Vec<Bar> {
    let (Some((&least, _)), Some((&largest, _))) = (sizes.first_key_value(), sizes.last_key_value()) else {
        return Vec::new();
    };
    if ((largest - least) as usize) < MOST_BARS {
        let bar = |size: u32| Bar {
            from: u64::from(size),
            to: u64::from(size),
            count: sizes.get(&size).copied().unwrap_or(0),
        };
        return (least..=largest).map(bar).collect();
    }
    let mut bars = Vec::new();
    let mut from = u64::from(least);
    while from <= u64::from(largest) {
        let to = if from == 0 { 0 } else { (from + 1).next_power_of_two() - 1 };
        let count = sizes.range(from as u32..=to.min(u64::from(u32::MAX)) as u32).map(|(_, count)| count).sum();
        bars.push(Bar { from, to: to.min(u64::from(largest)), count });
        from = to + 1;
    }
    bars
}

fn loss_facts(loss: &Loss) -> LossFacts {
    let round = |value: f64| (value * 1e9).round() / 1e9;
    LossFacts {
        leaf_share: round(loss.leaf_share),
        information_loss_per_person: round(loss.information_loss_per_person),
        discernability: loss.discernability,
        c_avg: round(loss.c_avg),
        attributes: loss
            .attributes
            .iter()
            .map(|attribute| AttributeFacts { name: attribute.name.clone(), precision: round(attribute.precision) })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{release, schema};

    /// One group of counterfeits alone, one of one person, one of three.
    #[test]
    fn a_group_of_nobody_is_not_the_smallest() {
        let (schema, thresholds) = (schema(), Thresholds::default());
        let lens = Lens { schema: &schema, thresholds, least: 2, risk: RiskKind::Identity };
        let facts = |groups: &str| release_facts(&release(1, "r", groups), None, None, &lens);
        let risk = facts("20-29:F:ab+2 30-39:F:ab+1 40-49:F:abc").risk;
        assert_eq!((risk.smallest_group, risk.highest_identity, risk.people_below_k), (1, 1.0, 1));
        let risk = facts("20-29:F:ab+2").risk;
        assert_eq!((risk.smallest_group, risk.highest_identity), (0, 0.0));
    }

    /// Three suppressed rows, and two people in one group.
    #[test]
    fn suppressed_rows_are_counted_apart() {
        let (schema, thresholds) = (schema(), Thresholds::default());
        let lens = Lens { schema: &schema, thresholds, least: 2, risk: RiskKind::Identity };
        let mut suppressed = release(1, "r", "20-29:F:ab 30-39:M:abc");
        let mut regions = crate::model::Regions::new(schema.quasi.len());
        regions.push(suppressed.region(0));
        regions.push(&schema.quasi.iter().map(crate::model::Quasi::root).collect::<Vec<_>>());
        suppressed.regions = regions;
        let risk = release_facts(&suppressed, None, None, &lens).risk;
        let apart = &risk.without_suppressed;
        assert_eq!((apart.suppressed, apart.smallest_group, apart.mean_identity), (3, 2, 0.5));
        assert_eq!((risk.smallest_group, risk.mean_identity), (2, 0.4));
    }

    #[test]
    fn a_risk_of_exactly_one_in_four_stands_below_the_line_of_one_in_four() {
        assert_eq!(class(1, 4), 4);
        assert_eq!(class(26, 100), 5);
        assert_eq!((class(1, 1), class(1, 1000)), (19, 0));
    }

    #[test]
    fn many_sizes_are_put_together_and_none_is_lost() {
        let few: BTreeMap<u32, u64> = [(3, 5), (5, 1)].into();
        assert_eq!(bars(&few).iter().map(|bar| bar.count).collect::<Vec<_>>(), [5, 0, 1]);
        let many: BTreeMap<u32, u64> = (2..1000).map(|size| (size, 2)).collect();
        let bars = bars(&many);
        assert!(bars.len() < 12);
        assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), 2 * 998);
        assert!(bars.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
    }
}
