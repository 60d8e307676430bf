//! What a witness claims, as a sentence with its numbers, its groups and its values in it.
//!
//! Values have the names that the report gives them: coded, unless they are shown.

use crate::audit::Statement;
use crate::report::WitnessFacts;
use crate::report::words::{capital, clip, counted, decimal, list, number, people, percent};

/// The most groups and values that a sentence names; more are counted.
const MOST_NAMES: usize = 6;

/// Letters of a group's name and of a value.
const MOST_LETTERS: usize = 60;

/// The sentence of a witness. `releases` are all that the finding takes, ascending.
pub fn claim(statement: Statement, witness: &WitnessFacts, releases: &[u32]) -> String {
    let (count, line) = (witness.number, witness.line);
    let (k, l) = (
        format!("fewer than {}, the threshold k", number(line)),
        format!("fewer than {}, the threshold l", number(line)),
    );
    let one_in = format!("more than 1 in {}, the threshold", number(line));
    let groups = || groups(witness, |_| true);
    let values = || values(witness);
    let rows = witness.groups.first().map_or(0, |group| u64::from(group.row_count));
    let rows_of = || format!("the {} of {}", counted(rows, "row", "rows"), groups());
    let whole = list(releases);
    let apart = || format!("No other group of releases {whole} overlaps {}.", groups());
    let earlier = releases.first().copied().unwrap_or(0);
    let from = || self::groups(witness, |release| release == earlier);
    let to = || self::groups(witness, |release| release != earlier);
    let placed = || {
        format!(
            "If every row of release {earlier} goes to a row with its value in an overlapping group of the later release"
        )
    };
    let ways = || format!("give everyone in {} a row in each release they are in, with one value each", groups());
    match statement {
        Statement::FewPeople if rows > count => format!(
            "{} has {}, of which {} counterfeit: it holds {}, {k}.",
            capital(&groups()),
            counted(rows, "row", "rows"),
            counted(rows - count, "is", "are"),
            people(count)
        ),
        Statement::FewPeople => format!("{} holds {}, {k}.", capital(&groups()), people(count)),
        Statement::FewValues => format!("{} hold {}: {l}.", capital(&rows_of()), values()),
        Statement::FrequentValue => format!(
            "{} of {} {} {}: {one_in}.",
            number(count),
            rows_of(),
            if count == 1 { "says" } else { "say" },
            names(&witness.values)
        ),
        Statement::FarFromWhole => format!(
            "The values of {} lie {} from those of the whole release (half the sum of the differences of their shares): more \
             than {}, the threshold t.",
            groups(),
            decimal(millionths(count)),
            decimal(millionths(line))
        ),
        Statement::LinkedIds => {
            format!("{} published, and each links the rows of one person.", counted(count, "id is", "ids are"))
        }
        Statement::LinkedValueChanged => format!("One id has different values in {}.", groups()),
        Statement::LinkedRegionsApart => format!("One id is in {}, whose regions do not overlap.", groups()),
        Statement::FewAlike { by_groups: true } => {
            format!("{} always in the same groups, {}: {k}.", counted(count, "id was", "ids were"), groups())
        }
        Statement::FewAlike { by_groups: false } => format!(
            "{} the same region over all releases, where {} overlap: {k}.",
            counted(count, "id has", "ids have"),
            groups()
        ),
        Statement::FewValuesAmongAlike { by_groups: true } => {
            format!("The ids that were always in the same groups, {}, have in one of them {}: {l}.", groups(), values())
        }
        Statement::FewValuesAmongAlike { by_groups: false } => {
            format!(
                "The ids that have the same region over all releases, where {} overlap, have {}: {l}.",
                groups(),
                values()
            )
        }
        Statement::Arrivals { swapped: false } => {
            format!(
                "{} The rows they gained are those of arrivals, or counterfeits, and have {}: {l}.",
                apart(),
                values()
            )
        }
        Statement::Arrivals { swapped: true } => format!(
            "{} More people and counterfeits arrived than rows were gained, so that an arrival can have any value of the later \
             rows. These have {}: {l}.",
            apart(),
            values()
        ),
        Statement::Departures { swapped: false } => format!(
            "{} The rows they lost were those of people who left, or counterfeits, and had {}: {l}.",
            apart(),
            values()
        ),
        Statement::Departures { swapped: true } => format!(
            "{} More people and counterfeits left than rows were lost, so that a person who left can have had any value of the \
             earlier rows. These have {}: {l}.",
            apart(),
            values()
        ),
        Statement::FewArrivals => {
            format!("{} The rows they gained are those of {}: {k}.", apart(), counted(count, "arrival", "arrivals"))
        }
        Statement::FewCandidates { presence: true } => format!(
            "In each release that holds this person, their value is in a group that covers them, and everyone needs a row of \
             their own. Together, {} leave {}: {l}.",
            groups(),
            values()
        ),
        Statement::FewCandidates { presence: false } => {
            format!("The groups that can hold this person, {}, have {}: {l}.", groups(), values())
        }
        Statement::FewValuesAtPlace => format!(
            "For a person who is in all of these releases, at some point where {} overlap, they leave {}: {l}.",
            groups(),
            values()
        ),
        Statement::FewCorresponding => {
            format!("{}, at most {} can go from {} to {}: {k}.", placed(), counted(count, "row", "rows"), from(), to())
        }
        Statement::FewLeftForArrivals => format!(
            "{}, then of {} at most {} not taken and can be an arrival's: {k}.",
            placed(),
            rows_of(),
            counted(count, "is", "are")
        ),
        Statement::FewMatchedValues => {
            format!("{}, then the rows that can go from {} to {} have {}: {l}.", placed(), from(), to(), values())
        }
        Statement::LikelyValue => format!(
            "Of all ways to {}, {} give this person {}: {one_in}.",
            ways(),
            percent(count as f64 / 1000.0),
            names(&witness.values)
        ),
        Statement::CertainByOthers => format!(
            "Of all ways to {}, those that fit the true values of at most {} leave this person one value.",
            ways(),
            counted(count, "other person", "other people")
        ),
        Statement::EqualValues => {
            format!("All ways to {} give the same value to {}, this person among them.", ways(), people(count))
        }
        Statement::FewAfterJoin => format!(
            "{} Then some combination of the quasi-identifiers has {} of release {earlier}: {k}.",
            joined(&whole),
            counted(count, "row", "rows")
        ),
        Statement::LikelyAfterJoin => format!(
            "{} Then, for some combination of the quasi-identifiers, one value has a share of {}: more than {}, the threshold.",
            joined(&whole),
            percent(millionths(count)),
            percent(millionths(line))
        ),
        Statement::SameOrder { pairs, within_groups } => format!(
            "Of {} of rows that occur once in both files{}, {} in the same order in both. Chance would give about {}.",
            counted(pairs, "pair", "pairs"),
            if within_groups { ", within one group," } else { "" },
            counted(count, "is", "are"),
            number(pairs / 2)
        ),
        Statement::StableNames => format!(
            "{} of the {} that groups have in both releases {} groups that overlap, such as {}.",
            number(count),
            counted(line, "name", "names"),
            if count == 1 { "stands for" } else { "stand for" },
            groups()
        ),
        Statement::MovedByOne => format!(
            "{} have the same rows, but for {} with {}, and the region of one lies inside that of the other. The boundary \
             that moved is a quasi-identifier of the person with that row; at least {} in each group.",
            capital(&groups()),
            counted(count, "row", "rows"),
            names(&witness.values),
            counted(line, "person is", "people are")
        ),
        Statement::OffGrid { declared } => format!(
            "{} of the {} of {} inside its domain {} off the {}.",
            number(count),
            counted(line, "boundary", "boundaries"),
            witness.attribute.as_deref().unwrap_or("one column"),
            if count == 1 { "lies" } else { "lie" },
            if declared { "declared grid" } else { "most common grid of step 5" }
        ),
        Statement::Learned => format!(
            "A naive Bayes model of the published rows, applied within the groups that cover a person, is right for {} of the \
             people: more than {}, the threshold (1.5 in {}).",
            percent(count as f64 / 1000.0),
            percent(1.5 / line.max(1) as f64),
            number(line)
        ),
        Statement::EverLinked => format!(
            "The chance that this person had {} in some release is {}, one less the product of the shares of other values in \
             the groups that cover them: {one_in}.",
            names(&witness.values),
            percent(millionths(count))
        ),
    }
}

fn joined(releases: &str) -> String {
    format!(
        "Join releases {releases} on the columns they share, without pairs of rows that no assignment of all rows contains."
    )
}

fn millionths(count: u64) -> f64 {
    count as f64 / 1e6
}

/// The groups of some releases: `group 3 of release 1 and groups 1 and 2 of release 2`.
fn groups(witness: &WitnessFacts, of: impl Fn(u32) -> bool) -> String {
    let wanted: Vec<_> = witness.groups.iter().filter(|group| of(group.release)).collect();
    if wanted.len() > MOST_NAMES {
        return format!("{} groups", number(wanted.len() as u64));
    }
    let named: Vec<String> = wanted
        .chunk_by(|one, other| one.release == other.release)
        .map(|groups| {
            let names: Vec<String> = groups.iter().map(|group| clip(&group.group, MOST_LETTERS)).collect();
            let word = if names.len() == 1 { "group" } else { "groups" };
            format!("{word} {} of release {}", list(&names), groups[0].release)
        })
        .collect();
    if named.is_empty() { "no group".into() } else { list(&named) }
}

/// The number of values, and their names: `2 values (D1 and D2)`.
fn values(witness: &WitnessFacts) -> String {
    let count = counted(witness.number, "value", "values");
    if witness.values.is_empty() { count } else { format!("{count} ({})", names(&witness.values)) }
}

fn names(values: &[String]) -> String {
    let mut named: Vec<String> = values.iter().take(MOST_NAMES).map(|value| clip(value, MOST_LETTERS)).collect();
    if values.len() > MOST_NAMES {
        named.push(format!("{} more", number((values.len() - MOST_NAMES) as u64)));
    }
    list(&named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::WitnessGroup;
    use expect_test::{Expect, expect};

    fn group(release: u32, group: &str, row_count: u32) -> WitnessGroup {
        let (label, group) = (String::new(), group.to_string());
        WitnessGroup { release, label, group, region: Vec::new(), holds: Vec::new(), rows: Vec::new(), row_count }
    }

    fn check(statements: &[Statement], number: u64, line: u64, expected: Expect) {
        let witness = WitnessFacts {
            claim: String::new(),
            groups: vec![group(1, "17", 4), group(2, "3", 5), group(2, "4", 1)],
            values: vec!["D1".into()],
            person: None,
            attribute: Some("age".into()),
            number,
            line,
        };
        let said = |&statement: &Statement| claim(statement, &witness, &[1, 2]) + "\n";
        expected.assert_eq(&statements.iter().map(said).collect::<String>());
    }

    #[test]
    fn what_is_below_a_threshold_has_its_number_and_its_threshold() {
        let of_groups = [
            Statement::FewValues,
            Statement::FewAlike { by_groups: true },
            Statement::FewAlike { by_groups: false },
            Statement::FewValuesAmongAlike { by_groups: true },
            Statement::FewValuesAmongAlike { by_groups: false },
            Statement::Arrivals { swapped: false },
            Statement::Arrivals { swapped: true },
            Statement::Departures { swapped: false },
            Statement::Departures { swapped: true },
            Statement::FewArrivals,
            Statement::FewCandidates { presence: true },
            Statement::FewCandidates { presence: false },
            Statement::FewValuesAtPlace,
            Statement::FewCorresponding,
            Statement::FewLeftForArrivals,
            Statement::FewMatchedValues,
            Statement::FewAfterJoin,
        ];
        check(&of_groups, 1, 2, expect![[""]]);
    }

    #[test]
    fn people_are_counted_without_counterfeits() {
        check(&[Statement::FewPeople], 4, 5, expect![[""]]);
        check(&[Statement::FewPeople], 1, 2, expect![[""]]);
    }

    #[test]
    fn what_is_above_a_threshold_has_its_share_and_its_threshold() {
        check(&[Statement::FrequentValue], 3, 2, expect![[""]]);
        check(&[Statement::LikelyValue, Statement::Learned], 750, 2, expect![[""]]);
        check(&[Statement::EverLinked], 750_000, 2, expect![[""]]);
        check(&[Statement::FarFromWhole, Statement::LikelyAfterJoin], 350_000, 200_000, expect![[""]]);
    }

    #[test]
    fn what_links_releases_is_counted() {
        let linked = [Statement::LinkedIds, Statement::LinkedValueChanged, Statement::LinkedRegionsApart];
        check(&linked, 12, 0, expect![[""]]);
        let of_people = [Statement::CertainByOthers, Statement::EqualValues];
        check(&of_people, 3, 2, expect![[""]]);
        let traces = [
            Statement::StableNames,
            Statement::OffGrid { declared: true },
            Statement::OffGrid { declared: false },
            Statement::SameOrder { pairs: 45, within_groups: true },
            Statement::SameOrder { pairs: 45, within_groups: false },
        ];
        check(&traces, 9, 10, expect![[""]]);
        check(&[Statement::MovedByOne], 1, 3, expect![[""]]);
    }

    #[test]
    fn many_groups_and_values_are_counted() {
        let witness = WitnessFacts {
            claim: String::new(),
            groups: (0..9).map(|at| group(1, &at.to_string(), 2)).collect(),
            values: (1..10).map(|at| format!("D{at}")).collect(),
            person: None,
            attribute: None,
            number: 9,
            line: 10,
        };
        let said = claim(Statement::FewValuesAtPlace, &witness, &[1]);
        expect![[""]].assert_eq(&said);
    }
}
