//! What makes a column identifying: the table that an expert determination asks for, one line per quasi column.
//!
//! How far a column distinguishes people is measured in the last release. Whether it stays the same over time, and who
//! else has it, cannot be read from the data; that is left to be filled in. Safe harbor is judged only by the kind and
//! name of a column. It is a hint, not a legal opinion.

use crate::model::{Domain, Quasi, Release, Schema, Span};
use crate::report::IdentifyingFacts;
use std::collections::BTreeMap;

/// Every quasi column, as in the last release.
pub fn identifying(schema: &Schema, releases: &[Release]) -> Vec<IdentifyingFacts> {
    let Some(last) = releases.last() else { return Vec::new() };
    let columns = schema.quasi.iter().enumerate().take(last.regions.attributes());
    columns.map(|(at, quasi)| facts(quasi, last, at)).collect()
}

fn facts(quasi: &Quasi, release: &Release, attribute: usize) -> IdentifyingFacts {
    let mut alike: BTreeMap<Span, u64> = BTreeMap::new();
    for group in 0..release.group_count() {
        *alike.entry(release.region(group)[attribute]).or_default() += u64::from(release.people(group));
    }
    IdentifyingFacts {
        column: quasi.name.clone(),
        values: quasi.size(),
        regions: alike.len() as u32,
        fewest_alike: alike.values().copied().filter(|&people| people > 0).min().unwrap_or(0),
        safe_harbor: safe_harbor(quasi).map(String::from),
    }
}

/// What safe harbor (45 CFR 164.514(b)(2)) says about a column of this kind and name, if anything.
fn safe_harbor(quasi: &Quasi) -> Option<&'static str> {
    let name = quasi.name.to_lowercase();
    let mut words = name.split(|letter: char| !letter.is_alphanumeric());
    let is_called = |some: &[&str]| words.clone().any(|word| some.contains(&word));
    if matches!(quasi.domain, Domain::Date { .. }) {
        return Some("Only the year of a date about a person may be published.");
    }
    if is_called(&["zip", "zipcode", "postcode", "postal", "plz"]) {
        return Some(
            "Only the first three digits of a ZIP code may be published, and 000 where fewer than 20,000 people live.",
        );
    }
    if is_called(&["city", "county", "street", "address", "district", "precinct", "parish", "town"]) {
        return Some("Areas smaller than a state may not be published.");
    }
    let reaches_ninety = match quasi.domain {
        Domain::Integer { hi, .. } => hi > 90,
        Domain::Real { hi, decimals, .. } => hi > 90 * 10i64.pow(u32::from(decimals)),
        _ => true,
    };
    (words.any(|word| word == "age") && reaches_ninety)
        .then_some("Ages of 90 and above must be published as one group.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{broken, release, schema};

    #[test]
    fn a_column_is_measured_as_it_was_published() {
        let sample = broken();
        let last = sample.releases.last().unwrap();
        let facts = identifying(&sample.schema, &sample.releases);
        assert_eq!(facts.len(), 2);
        for (at, facts) in facts.iter().enumerate() {
            // Counted directly, over every pair of groups.
            let same = |group: usize| {
                let mine = last.region(group)[at];
                let others = (0..last.group_count()).filter(|&other| last.region(other)[at] == mine);
                others.map(|other| u64::from(last.people(other))).sum::<u64>()
            };
            assert_eq!(facts.fewest_alike, (0..last.group_count()).map(same).min().unwrap());
        }
        assert!(identifying(&sample.schema, &[]).is_empty());
    }

    /// Values there are, regions that were published, and the fewest people (not rows, not groups) who share one; in the
    /// last release.
    #[test]
    fn a_column_is_counted_in_people_of_the_last_release() {
        let releases = [
            release(1, "a", "0-99:*:abcdeabcde"),
            release(2, "b", "20-29:F:ab 30-49:F:cde 50-79:M:abcd+1 80-99:M:a+1"),
        ];
        let facts = identifying(&schema(), &releases);
        let counted: Vec<(u32, u32, u64)> =
            facts.iter().map(|facts| (facts.values, facts.regions, facts.fewest_alike)).collect();
        assert_eq!(counted, [(100, 4, 2), (2, 2, 3)]);
    }

    #[test]
    fn safe_harbor_is_hinted_at_by_kind_and_name() {
        let named = |name: &str, domain: Domain| {
            let mut quasi = broken().schema.quasi[0].clone();
            (quasi.name, quasi.domain) = (name.into(), domain);
            safe_harbor(&quasi)
        };
        let whole = |hi| Domain::Integer { lo: 0, hi };
        assert!(named("Age at entry", whole(120)).unwrap().contains("90"));
        assert_eq!(named("age", whole(90)), None);
        assert_eq!(named("language", whole(120)), None);
        assert!(named("ZIP", whole(99_999)).unwrap().contains("20,000"));
        assert!(named("home_county", whole(10)).unwrap().contains("state"));
        assert!(named("seen", Domain::Date { lo: 0, hi: 900 }).unwrap().contains("year"));
        assert!(named("age", Domain::Real { lo: 0, hi: 1000, decimals: 1 }).unwrap().contains("90"));
    }
}
