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
#[expect(clippy::too_many_lines, reason = "one arm for each statement: a list, not a way")]
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
    let later = releases.last().copied().unwrap_or(0);
    let from = || self::groups(witness, |release| release == earlier);
    let to = || self::groups(witness, |release| release != earlier);
    let placed = || {
        format!(
            "If every row of release {earlier} goes to a row with its value in an overlapping group of release {later}"
        )
    };
    let ways = || format!("give everyone in {} a row in each release they are in, with one value each", groups());
    match statement {
        Statement::FewPeople if rows > count => format!(
            "{} has {}, of which {} counterfeit. It holds {}: {k}.",
            capital(&groups()),
            counted(rows, "row", "rows"),
            counted(rows - count, "is", "are"),
            people(count)
        ),
        Statement::FewPeople => format!("{} holds {}: {k}.", capital(&groups()), people(count)),
        Statement::FewOfPopulation => {
            format!(
                "{} of the population {} {}: {k}.",
                capital(&people(count)),
                if count == 1 { "fits" } else { "fit" },
                groups()
            )
        }
        Statement::OneHousehold => {
            format!("{} holds {}, and only people of one household fit it.", capital(&groups()), people(count))
        }
        Statement::CertainByHousehold { own } => format!(
            "{} has a row of their own. If their values are known, {} leave the person {}.",
            if own { "Everyone else in the person's household" } else { "Everyone of another household" },
            groups(),
            values()
        ),
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
            format!("{} in {}, and in no other group: {k}.", counted(count, "id was", "ids were"), groups())
        }
        Statement::FewAlike { by_groups: false } => format!(
            "The overlap of {} is the region of {} over all releases: {k}.",
            groups(),
            counted(count, "id", "ids")
        ),
        Statement::FewValuesAmongAlike { by_groups: true } => {
            format!("The ids that were in {}, and in no other group, have in one of them {}: {l}.", groups(), values())
        }
        Statement::FewValuesAmongAlike { by_groups: false } => {
            format!("The ids whose region over all releases is the overlap of {} have {}: {l}.", groups(), values())
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
        Statement::ArrivalsUnlessSuppressed => format!(
            "If the people whose rows are suppressed are the same in both releases, the rows that {} gained are those of arrivals. \
             These have {}: {l}.",
            groups(),
            values()
        ),
        Statement::FewCandidates { presence: true } => format!(
            "In each release, a group that covers the person has the person's value, and everyone needs a row of their \
             own. Together, {} leave {}: {l}.",
            groups(),
            values()
        ),
        Statement::FewCandidates { presence: false } => {
            format!("The groups that can hold this person, {}, have {}: {l}.", groups(), values())
        }
        Statement::FewValuesAtPlace => format!(
            "The overlap of {} has a point where all of these releases have only {} in common: {l}.",
            groups(),
            values()
        ),
        Statement::FewCorresponding => {
            format!("{}, at most {} can go from {} to {}: {k}.", placed(), counted(count, "row", "rows"), from(), to())
        }
        Statement::FewLeftForArrivals => format!(
            "{}, then {} of {} are always taken. At most {} can belong to arrivals: {k}.",
            placed(),
            number(rows.saturating_sub(count)),
            rows_of(),
            number(count)
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
            "If the values of at most {1} are known, one value remains for this person in all ways to {0}.",
            ways(),
            counted(count, "other person", "other people")
        ),
        Statement::EqualValues => {
            format!(
                "Of all ways to {}, each gives the same value to {}, this person among them.",
                ways(),
                people(count)
            )
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
        Statement::FewRowsAtOnce => {
            format!("{} {}: {k}.", at_once(&whole), left_at_once(witness, &counted(count, "row", "rows")))
        }
        Statement::FewValuesAtOnce => {
            format!("{} {}: {l}.", at_once(&whole), left_at_once(witness, &counted(count, "value", "values")))
        }
        Statement::SameOrder { pairs, within_groups } => format!(
            "Of {} of rows that occur once in both files{}, {} in the same order in both. Chance would give about {}.",
            counted(pairs, "pair", "pairs"),
            if within_groups { ", within one group" } else { "" },
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
            "{} have the same rows, except {} with {}, and the region of one lies inside that of the other. The \
             boundary that moved is a quasi-identifier of the person with that row; at least {} in each group.",
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
        Statement::EndsIsolate => format!(
            "{} of the {} of regions fit exactly one person of the table who is in the region, such as an end of {}. Other values inside the \
             regions do so less often.",
            number(count),
            counted(line, "end", "ends"),
            groups()
        ),
        Statement::Learned => format!(
            "A naive Bayes model of the published rows, applied within the groups that cover a person, is right for {} of the \
             people: more than {}, the threshold (1.5 in {}).",
            percent(count as f64 / 1000.0),
            percent(1.5 / line.max(1) as f64),
            number(line)
        ),
        Statement::ChangeShows { by_sets } => format!(
            "The groups that can hold this person before and after, {}, have no {} in common.",
            groups(),
            if by_sets { "value set" } else { "value" }
        ),
        Statement::FewByPermanent => format!(
            "A person whose value changed did not have a permanent value before. Everyone needs a row of their own. \
             Together, {} leave {}: {l}.",
            groups(),
            values()
        ),
        Statement::FrequentAmongWaiting { of_table, table } => format!(
            "{} of the {} who wait {} {}. Of all {} of the table, {} {} it.",
            number(count),
            people(line),
            if count == 1 { "has" } else { "have" },
            names(&witness.values),
            people(table),
            number(of_table),
            if of_table == 1 { "has" } else { "have" },
        ),
        Statement::ChangedAndWaits { others, stayed } => format!(
            "{} of the {} who were published before and wait now {} another value than before. Of {} published again, {}.",
            number(count),
            people(line),
            if count == 1 { "has" } else { "have" },
            people(stayed),
            counted(others, "has", "have"),
        ),
        Statement::FewByWaiting => format!(
            "People who waited together failed the threshold together, so one value is frequent among them. Everyone needs a \
             row of their own. Together, {} leave {}: {l}.",
            groups(),
            values()
        ),
        Statement::GroupsMoved => format!(
            "Made again with the same seed, after values were exchanged within value sets, the release has other groups for {} \
             of {}; {} is one of those that changed.",
            number(count),
            people(line),
            groups()
        ),
        Statement::TwoOfOneNumber => format!(
            "Two manifests say release {count} of one series, and their checksums differ (sha256sum manifest.json)."
        ),
        Statement::ChainBroken if count == line => {
            format!("The manifest of release {count} does not name release {} before it.", count.saturating_sub(1))
        }
        Statement::ChainBroken => format!(
            "previous.manifest_sha256 in the manifest of release {count} is not the checksum of the manifest of release {line}."
        ),
        Statement::ReleasesMissing if line + 2 == count => {
            format!("Release {} is not here: release {count} follows it.", count - 1)
        }
        Statement::ReleasesMissing => {
            format!("Releases {} to {} are not here: release {count} follows them.", line + 1, count - 1)
        }
        Statement::EverLinked => format!(
            "The chance that this person had {} in some release is {}: one minus the product of the shares of other \
             values in the groups that cover them: {one_in}.",
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

fn at_once(releases: &str) -> String {
    format!("Give everyone one row of each of the releases {releases}, so that every row has a person.")
}

/// What the first release of a witness leaves of the second.
fn left_at_once(witness: &WitnessFacts, what: &str) -> String {
    let release = |at: usize| witness.groups.get(at).map_or(0, |group| group.release);
    format!("Then what release {} says about a person leaves {what} of release {}", release(0), release(1))
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

    /// A group is `release:name:rows`.
    fn witness(groups: &str, values: &[&str], number: u64, line: u64) -> WitnessFacts {
        let group = |word: &str| {
            let [release, name, rows] = word.split(':').collect::<Vec<_>>()[..] else { panic!("three parts") };
            WitnessGroup {
                release: release.parse().unwrap(),
                label: String::new(),
                group: name.into(),
                region: Vec::new(),
                holds: Vec::new(),
                rows: Vec::new(),
                row_count: rows.parse().unwrap(),
            }
        };
        WitnessFacts {
            claim: String::new(),
            groups: groups.split_whitespace().map(group).collect(),
            values: values.iter().map(ToString::to_string).collect(),
            person: None,
            attribute: Some("age".into()),
            number,
            line,
        }
    }

    fn check(groups: &str, statements: &[Statement], number: u64, line: u64, expected: Expect) {
        let witness = witness(groups, &["D1"], number, line);
        let said = |&statement: &Statement| claim(statement, &witness, &[1, 2]) + "\n";
        expected.assert_eq(&statements.iter().map(said).collect::<String>());
    }

    const ONE: &str = "1:17:4";
    const LATER: &str = "2:3:5";
    const BOTH: &str = "1:17:4 2:3:5 2:4:1";

    #[test]
    fn a_group_of_one_release_has_its_rows_and_its_threshold() {
        check(
            ONE,
            &[Statement::FewPeople],
            4,
            5,
            expect![[r#"
            Group 17 of release 1 holds 4 people: fewer than 5, the threshold k.
        "#]],
        );
        check(
            ONE,
            &[Statement::FewPeople, Statement::FewValues],
            1,
            2,
            expect![[r#"
            Group 17 of release 1 has 4 rows, of which 3 are counterfeit. It holds 1 person: fewer than 2, the threshold k.
            The 4 rows of group 17 of release 1 hold 1 value (D1): fewer than 2, the threshold l.
        "#]],
        );
        check(
            ONE,
            &[Statement::FrequentValue],
            3,
            2,
            expect![[r#"
            3 of the 4 rows of group 17 of release 1 say D1: more than 1 in 2, the threshold.
        "#]],
        );
        check(
            ONE,
            &[Statement::FarFromWhole],
            350_000,
            200_000,
            expect![[r#"
            The values of group 17 of release 1 lie 0.35 from those of the whole release (half the sum of the differences of their shares): more than 0.2, the threshold t.
        "#]],
        );
        check(
            LATER,
            &[Statement::FewLeftForArrivals],
            1,
            2,
            expect![[r#"
                If every row of release 1 goes to a row with its value in an overlapping group of release 2, then 4 of the 5 rows of group 3 of release 2 are always taken. At most 1 can belong to arrivals: fewer than 2, the threshold k.
            "#]],
        );
    }

    #[test]
    fn groups_of_two_releases_have_their_numbers_and_their_threshold() {
        let below = [
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
            Statement::FewMatchedValues,
            Statement::FewAfterJoin,
            Statement::FewRowsAtOnce,
            Statement::FewValuesAtOnce,
        ];
        check(
            BOTH,
            &below,
            1,
            2,
            expect![[r#"
                1 id was in group 17 of release 1 and groups 3 and 4 of release 2, and in no other group: fewer than 2, the threshold k.
                The overlap of group 17 of release 1 and groups 3 and 4 of release 2 is the region of 1 id over all releases: fewer than 2, the threshold k.
                The ids that were in group 17 of release 1 and groups 3 and 4 of release 2, and in no other group, have in one of them 1 value (D1): fewer than 2, the threshold l.
                The ids whose region over all releases is the overlap of group 17 of release 1 and groups 3 and 4 of release 2 have 1 value (D1): fewer than 2, the threshold l.
                No other group of releases 1 and 2 overlaps group 17 of release 1 and groups 3 and 4 of release 2. The rows they gained are those of arrivals, or counterfeits, and have 1 value (D1): fewer than 2, the threshold l.
                No other group of releases 1 and 2 overlaps group 17 of release 1 and groups 3 and 4 of release 2. More people and counterfeits arrived than rows were gained, so that an arrival can have any value of the later rows. These have 1 value (D1): fewer than 2, the threshold l.
                No other group of releases 1 and 2 overlaps group 17 of release 1 and groups 3 and 4 of release 2. The rows they lost were those of people who left, or counterfeits, and had 1 value (D1): fewer than 2, the threshold l.
                No other group of releases 1 and 2 overlaps group 17 of release 1 and groups 3 and 4 of release 2. More people and counterfeits left than rows were lost, so that a person who left can have had any value of the earlier rows. These have 1 value (D1): fewer than 2, the threshold l.
                No other group of releases 1 and 2 overlaps group 17 of release 1 and groups 3 and 4 of release 2. The rows they gained are those of 1 arrival: fewer than 2, the threshold k.
                In each release, a group that covers the person has the person's value, and everyone needs a row of their own. Together, group 17 of release 1 and groups 3 and 4 of release 2 leave 1 value (D1): fewer than 2, the threshold l.
                The groups that can hold this person, group 17 of release 1 and groups 3 and 4 of release 2, have 1 value (D1): fewer than 2, the threshold l.
                The overlap of group 17 of release 1 and groups 3 and 4 of release 2 has a point where all of these releases have only 1 value (D1) in common: fewer than 2, the threshold l.
                If every row of release 1 goes to a row with its value in an overlapping group of release 2, at most 1 row can go from group 17 of release 1 to groups 3 and 4 of release 2: fewer than 2, the threshold k.
                If every row of release 1 goes to a row with its value in an overlapping group of release 2, then the rows that can go from group 17 of release 1 to groups 3 and 4 of release 2 have 1 value (D1): fewer than 2, the threshold l.
                Join releases 1 and 2 on the columns they share, without pairs of rows that no assignment of all rows contains. Then some combination of the quasi-identifiers has 1 row of release 1: fewer than 2, the threshold k.
                Give everyone one row of each of the releases 1 and 2, so that every row has a person. Then what release 1 says about a person leaves 1 row of release 2: fewer than 2, the threshold k.
                Give everyone one row of each of the releases 1 and 2, so that every row has a person. Then what release 1 says about a person leaves 1 value of release 2: fewer than 2, the threshold l.
            "#]],
        );
        check(
            BOTH,
            &[Statement::LikelyAfterJoin],
            1_000_000,
            500_000,
            expect![[r#"
            Join releases 1 and 2 on the columns they share, without pairs of rows that no assignment of all rows contains. Then, for some combination of the quasi-identifiers, one value has a share of 100.0 %: more than 50.0 %, the threshold.
        "#]],
        );
        check(
            "1:17:4 2:3:5",
            &[Statement::MovedByOne],
            1,
            3,
            expect![[r#"
            Group 17 of release 1 and group 3 of release 2 have the same rows, except 1 row with D1, and the region of one lies inside that of the other. The boundary that moved is a quasi-identifier of the person with that row; at least 3 people are in each group.
        "#]],
        );
    }

    #[test]
    fn what_is_likely_has_its_share_and_its_threshold() {
        check(
            BOTH,
            &[Statement::LikelyValue],
            750,
            2,
            expect![[r#"
            Of all ways to give everyone in group 17 of release 1 and groups 3 and 4 of release 2 a row in each release they are in, with one value each, 75.0 % give this person D1: more than 1 in 2, the threshold.
        "#]],
        );
        check(
            "",
            &[Statement::Learned],
            800,
            2,
            expect![[r#"
            A naive Bayes model of the published rows, applied within the groups that cover a person, is right for 80.0 % of the people: more than 75.0 %, the threshold (1.5 in 2).
        "#]],
        );
        check(
            "",
            &[Statement::EverLinked],
            750_000,
            2,
            expect![[r#"
            The chance that this person had D1 in some release is 75.0 %: one minus the product of the shares of other values in the groups that cover them: more than 1 in 2, the threshold.
        "#]],
        );
    }

    #[test]
    fn what_links_people_and_releases_is_counted() {
        let linked = [Statement::LinkedIds, Statement::LinkedValueChanged, Statement::LinkedRegionsApart];
        check(
            BOTH,
            &linked,
            12,
            0,
            expect![[r#"
            12 ids are published, and each links the rows of one person.
            One id has different values in group 17 of release 1 and groups 3 and 4 of release 2.
            One id is in group 17 of release 1 and groups 3 and 4 of release 2, whose regions do not overlap.
        "#]],
        );
        check(
            BOTH,
            &[Statement::CertainByOthers, Statement::EqualValues],
            3,
            2,
            expect![[r#"
                If the values of at most 3 other people are known, one value remains for this person in all ways to give everyone in group 17 of release 1 and groups 3 and 4 of release 2 a row in each release they are in, with one value each.
                Of all ways to give everyone in group 17 of release 1 and groups 3 and 4 of release 2 a row in each release they are in, with one value each, each gives the same value to 3 people, this person among them.
            "#]],
        );
        let traces = [
            Statement::StableNames,
            Statement::OffGrid { declared: true },
            Statement::OffGrid { declared: false },
            Statement::SameOrder { pairs: 12, within_groups: true },
            Statement::SameOrder { pairs: 12, within_groups: false },
        ];
        check(
            "1:17:4 2:17:5",
            &traces,
            9,
            10,
            expect![[r#"
            9 of the 10 names that groups have in both releases stand for groups that overlap, such as group 17 of release 1 and group 17 of release 2.
            9 of the 10 boundaries of age inside its domain lie off the declared grid.
            9 of the 10 boundaries of age inside its domain lie off the most common grid of step 5.
            Of 12 pairs of rows that occur once in both files, within one group, 9 are in the same order in both. Chance would give about 6.
            Of 12 pairs of rows that occur once in both files, 9 are in the same order in both. Chance would give about 6.
        "#]],
        );
    }

    #[test]
    fn many_groups_and_values_are_counted() {
        let witness = witness(&"1:2:3 ".repeat(9), &["D1"; 9], 9, 10);
        expect!["The overlap of 9 groups has a point where all of these releases have only 9 values (D1, D1, D1, D1, D1, D1 and 3 more) in common: fewer than 10, the threshold l."].assert_eq(&claim(Statement::FewValuesAtPlace, &witness, &[1]));
    }
}
