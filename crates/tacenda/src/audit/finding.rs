//! A finding: one way to learn too much, or one way in which a release is not true.

use crate::audit::Witness;
use crate::model::{coded, counted, people};
use std::fmt;

/// One fault of a release, with how many people it concerns. It names no person and no value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// What is wrong.
    pub fault: Fault,
    /// The release it was found in.
    pub release: u32,
    /// How many people it concerns.
    pub people: u64,
    /// How many groups it was found in.
    pub groups: u64,
    /// The number of one of those groups, as published.
    pub example: Option<u32>,
    /// The numbers of the other releases it takes.
    pub others: Vec<u32>,
    /// What proves it; the gate, which sees the truth, needs none.
    pub witness: Option<Witness>,
}

coded! {
    /// What can be wrong with a release. Each has a code with a page in `explain`.
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, serde::Deserialize, serde::Serialize)]
    pub enum Fault of units {
        RegionMisses = "A601", "a region does not contain its person",
            "A published row must be true: its region contains the quasi-identifiers of its person. A policy that \
             shrinks regions would publish false rows, and reveal who does not fit.";
        ValueChanged = "A602", "a sensitive value is not the person's",
            "Sensitive values are published as they are. A row with another value is false.";
        PersonTwice = "A603", "a person is in two rows",
            "Every published person is in exactly one row. A person in two rows is counted twice, and the group looks \
             larger than it is.";
        PersonLost = "A604", "a person was lost",
            "Every row of the snapshot is either published or withheld, and withheld rows are counted. A row that is \
             neither is a bug.";
        CounterfeitsMiscounted = "A605", "counterfeits are miscounted",
            "The number of counterfeits of every group is published so that readers can count people. A wrong number \
             is a false statistic.";
        RegionTooNarrow = "A606", "a region is too narrow or off the grid",
            "The policy file sets a least width and a public grid, so that boundaries do not reveal the value of the \
             person at the edge.";
        Malformed = "A607", "the release is malformed",
            "Groups, regions and rows of a release must fit each other, and the order of rows must say nothing about \
             the input.";
        NobodyThere = "A608", "a group has no people",
            "All rows of the group are counterfeits. Such a group describes nobody.";
        SpelledTwice = "A609", "a group has one value in two spellings",
            "Two spellings of one value (Flu and flu) are one value to a reader. Counted apart they would make a group look \
             more diverse than it is.";
        TooFewPeople = "A611", "a group has too few people",
            "The promise sets the least number of people in a group. In a smaller group each person is easier to \
             single out.";
        TooFewValues = "A612", "a group has too few sensitive values",
            "The promise sets the least number of sensitive values in a group. With fewer values a person's own is \
             easier to guess.";
        Unbalanced = "A613", "a value occurs more often than another in its group",
            "The bound of 1/m holds if all values of a group are equally likely. So each must occur equally often: \
             exactly once where the promise has no k.";
        ValueSetChanged = "A614", "a person's value set changed",
            "A person's groups must have the same set of sensitive values in every release. If the person's value \
             changes, the new set must share nothing with the earlier ones. Otherwise the sets can be intersected, \
             and one value may remain.";
        UnexpectedCounterfeits = "A615", "there are counterfeits, and the promise excludes them",
            "This promise says that no published row is artificial.";
        CountWrong = "A616", "a published count is not what it should be",
            "Counts of quasi values are rounded so that every running total of a column is the nearest multiple of the unit. \
             Another number is a false statistic.";
        CountTooFine = "A617", "published counts reveal a small number",
            "Every published count, and every change of it since any earlier release, must be 0 or at least what the promise \
             asks for. Otherwise a reader who does not know everyone's quasi-identifiers learns about a few people.";
        CountCellsMoved = "A618", "the cells of published counts are not the same in all releases",
            "Counts are published for cells that are fixed for the whole series. The difference of two cells that nearly agree \
             would be a count of a few people.";
        CountsNotCovered = "A619", "counts are published, and the promise does not cover them",
            "Counts of quasi values reveal who entered or left. A promise allows them only if it holds for a reader who knows \
             that anyway.";
        RegionNotNested = "A621", "a person's region is not inside the earlier one",
            "If a region is not inside the earlier one, a reader of both can intersect them and may single the person \
             out.";
        RegionsOverlap = "A622", "two regions of a release overlap",
            "Under this promise the regions of one release must not overlap. Overlapping regions let a reader of two releases \
             distinguish members of a group.";
        CohortTooSmall = "A623", "too few people of one arrival share a region",
            "An attacker who knows when people arrived compares only those who arrived together. Fewer than k of them \
             share a region.";
        CohortsMixed = "A626", "people of different arrivals share a group",
            "Under this promise a group only has people who arrived together. An attacker who knows who arrived when \
             can divide a mixed group.";
        ValueTooFrequent = "A624", "a value is too frequent in a group",
            "The threshold l says that no value may have a share of more than 1/l in a group.";
        LeftAlone = "A625", "people were removed from a published group one by one",
            "If a single member of a group disappears, comparing the releases reveals that member's value. The whole \
             group must be withheld.";
        CameBack = "A627", "a person who was left out is back",
            "Under this promise a person who was published and then left out must stay out. The gap distinguishes the \
             person from the others.";
        GroupAltered = "A628", "a published group changed",
            "Under this promise a published group never changes. It is published again with the same people and the \
             same region, or it is left out as a whole. Any other change helps an attacker who knows when people \
             arrived: comparing two releases then reveals more than the arrivals.";
        TooFewCandidates = "A631", "comparing releases leaves too few possible values",
            "An attacker reads all releases and knows the quasi-identifiers and the presence of everyone. \
             Intersecting the releases leaves too few possible values for these people.";
        SeriesSinglesOut = "A632", "comparing releases singles people out",
            "The regions of one person in different releases can be intersected. Or a boundary moved when one person \
             arrived or left, and reveals that person's value.";
        JoinTooFewValues = "A641", "joined views leave too few values",
            "A recipient of several views joins their rows on common columns. For some combination of X, fewer values \
             of Y remain than promised.";
        JoinShareTooLarge = "A642", "joined views make a value too likely",
            "A recipient of several views joins their rows on common columns. For some combination of X, one value of \
             Y has a larger share of the matches than promised.";
        MatchingTellsMore = "A643", "matching all rows at once reveals more than the join",
            "The views are projections of one table, so each row of one belongs to exactly one row of the other. Some \
             matches are part of no assignment of all rows, so they are impossible. Without them the promise does not \
             hold.";
        ViewsNotRelated = "A644", "the views are not of the same people",
            "Every row of a view must have a possible counterpart in every other view, and some assignment must cover \
             all rows. There is none: the views were not made from the same people, or an [[impossible]] pair does \
             occur.";
        JoinNotJudged = "A645", "the join of the views is too large to judge",
            "The views match in too many ways to count them, or to match all of them at once. What cannot be judged is \
             not published. Publish fewer columns in a view, or coarser ones.";
        AloneInGroup = "A701", "a group has one person",
            "An attacker who knows this person's quasi-identifiers finds the row, and with it everything the row \
             says.";
        SmallGroup = "A702", "a group has fewer people than the threshold",
            "The threshold k is the least number of people in a group. In a smaller group each person is easier to \
             single out.";
        OneOfPopulation = "A707", "one person of the population fits a group",
            "The table of the population (--population) has one person whose quasi-identifiers fit this group. A reader who \
             has that table then knows who is in the row, without knowing beforehand that the person is in the release. Publish \
             larger groups, or coarser values.";
        FewOfPopulation = "A708", "fewer people of the population than the threshold fit a group",
            "The table of the population (--population) has fewer than k people whose quasi-identifiers fit this group. A \
             reader who has that table finds the person among them (k-map, journalist risk). Publish larger groups, or coarser \
             values.";
        OneHousehold = "A709", "a group has people of one household only",
            "The private tables name households (--household). Only people of one household fit this group. So a reader who knows them knows that all values of the group are theirs, although the group has k people. Publish larger groups, or keep the people of a household in different groups.";
        OneValue = "A703", "a group has one sensitive value",
            "Everyone in the group has this value. An attacker who finds the group learns it.";
        FewValues = "A704", "a group has fewer sensitive values than the threshold",
            "The threshold l is the least number of values that must remain possible for a person. This group has \
             fewer.";
        FrequentValue = "A705", "a value has a share of more than 1/l in a group",
            "An attacker who guesses the most frequent value of the group is right more often than one time in l.";
        ValueCertain = "A731", "a person's value is certain",
            "In each release the person's value is in one of the groups that cover the person. Over all releases, one \
             value remains.";
        FewCandidates = "A732", "fewer values than the threshold remain for a person",
            "In each release the person's value is in one of the groups that cover the person. Over all releases, \
             fewer than l values remain.";
        TooFarFromWhole = "A706", "a group's values are too far from the whole table's",
            "An attacker who finds a person's group learns how the chances in it differ from those in the whole \
             table. The distance exceeds the threshold t.";
        LinkedIdsPublished = "A711", "ids link the rows of different releases",
            "A reader can follow each row from release to release, and intersect everything that the releases say \
             about it. Such data are pseudonymous, not anonymous.";
        LinkedTooFew = "A712", "linked ids leave fewer people alike than the threshold",
            "The regions of one id are intersected over the releases. Fewer than k rows share what remains.";
        LinkedFewValues = "A713", "people who are alike by their ids have too few values",
            "These ids have the same groups or regions in all releases, so nothing distinguishes them. They have \
             fewer than l sensitive values.";
        LinkedContradiction = "A714", "the regions of an id do not overlap",
            "No value fits all regions of this id: the person changed, or a row is false. A reader sees that \
             something changed.";
        LinkedValueChanged = "A715", "the value of an id changed",
            "A reader who follows the id sees both values, and that the value changed.";
        ArrivalsCertain = "A721", "the difference of two releases reveals the arrivals' value",
            "Overlapping groups have the same people in both releases. The rows that the later groups gained are the \
             arrivals', and these have one value.";
        ArrivalsFewValues = "A722", "the difference of two releases leaves too few values for arrivals",
            "Overlapping groups have the same people in both releases. The rows that the later groups gained are the \
             arrivals', and these have fewer than l values.";
        ArrivalsFew = "A723", "the difference of two releases leaves too few arrivals",
            "Overlapping groups have the same people in both releases. The rows that the later groups gained are the \
             arrivals', and these are fewer than k.";
        LeaversCertain = "A724", "the difference of two releases reveals the departures' value",
            "Overlapping groups have the same people in both releases, except those who left. The rows that the \
             earlier groups lost are theirs, and these have one value.";
        LeaversFewValues = "A725", "the difference of two releases leaves too few values for departures",
            "Overlapping groups have the same people in both releases, except those who left. The rows that the \
             earlier groups lost are theirs, and these have fewer than l values.";
        ArrivalsUnlessSuppressed = "A726", "without suppressed rows, the difference of two releases leaves too few values for arrivals",
            "Suppressed rows may have any value in every column. If they are the same people in both releases, the other rows \
             can be compared without them, as tools that suppress rows count. Then the rows that groups gained are the \
             arrivals', and these have fewer than l values. The releases do not say who was suppressed, so this is a note. \
             Leave suppressed rows out of the release, or do not publish a release that differs in few rows.";
        PlaceGivesAway = "A733", "where groups of several releases overlap, too few values are common to all",
            "The private tables were not given, so it is not known who is in which group. But groups of several \
             releases overlap here. A person in this overlap who is in all these releases has a value that all these \
             groups have. Fewer than l values are common to them. The number of people is the most that can be in the \
             overlap.";
        OneKnownGivesAway = "A734", "knowing some people's values reveals another's",
            "An attacker who also knows the sensitive values of a few other people can rule out every value of this \
             person but one. --attacker known=B says how many others that may be.";
        HouseholdGivesAway = "A735", "knowing a household reveals a person's value",
            "The private tables name households (--household). A reader knows the values of everyone else in the person's household, or of another household in the same groups. All other values are theirs, and one is left for the person. Publish larger groups with more values.";
        FewCorresponding = "A741", "few rows of the later release can belong to a person of the earlier",
            "Everyone in the earlier release is in the later one, with the same value. If all are matched to rows at \
             once, fewer than k rows remain possible for the person.";
        OneCorresponding = "A742", "one row of the later release can belong to a person of the earlier",
            "Everyone in the earlier release is in the later one, with the same value. If all are matched to rows at \
             once, one row remains possible for the person.";
        FewNewcomers = "A743", "few rows of a group can be arrivals",
            "People of the earlier release must hold most rows of the group. Fewer than k rows can belong to arrivals.";
        FewMatchedValues = "A751", "matching two releases leaves too few values",
            "Everyone in the earlier release is matched to a row of the later one. Then a person who is in both of \
             these groups has one of fewer than l values.";
        WorldsCertain = "A755", "a person has one value in all worlds",
            "All ways to assign people to rows in all releases were counted. The person has this value in every one \
             of them.";
        LikelyValue = "A756", "a value is more likely than 1/l",
            "All ways to assign people to rows in all releases were counted. The person has this value in more than a \
             share of 1/l of them.";
        MustShareValue = "A761", "people must share a value",
            "Two people share a group with two values. Later one of them shares a group with a third person and the \
             same two values. So the first and the third person have the same value, and learning one reveals the \
             other.";
        JoinFewPeople = "A765", "joining releases with different columns leaves too few people",
            "Some combination of the columns of both releases has fewer than k rows. Pairs of rows that no assignment \
             of all rows contains are not counted.";
        JoinLikelyValue = "A766", "joining releases with different columns makes a value too likely",
            "The rows of both releases were joined. Of the joined rows of some combination of columns, one value has \
             a share of more than 1/l.";
        AtOnceFewRows = "A767", "matching all releases at once leaves too few rows",
            "Three or more releases have different columns of the same people. Everyone has one row in each of them. \
             Matching all rows at once leaves a person of one release fewer than k possible rows of another.";
        AtOnceFewValues = "A768", "matching all releases at once leaves too few values",
            "Three or more releases have different columns of the same people. Everyone has one row in each of them. \
             Matching all rows at once leaves a person of one release fewer than l possible values. Two of the \
             releases alone need not show this.";
        OrderLinks = "A771", "the order of rows links two releases",
            "Rows that occur once in both files are in the same order far more often than by chance, and the files \
             are not sorted by their columns. So the order of the input shows, and it links rows like an id.";
        StableNames = "A772", "group names link two releases",
            "Groups with the same name in both files overlap far more often than others. So names persist, and a \
             reader can follow a group.";
        MovedByOne = "A773", "one person moved the boundary of a region",
            "Two groups differ in one row and in one side of the region. The side that moved is the value of the \
             person who arrived or left.";
        TightBoundaries = "A774", "boundaries are values of people",
            "Most boundaries are not on a public grid. A region that is as small as possible ends at the values of \
             people in it. \"In this region, and with its last value\" then often fits one person: that singles them out. \
             With the private tables this is counted. Publish on a grid: grid = 10 in the policy file before the first release, \
             or round the values in the table. A series that has begun keeps its grid; a new series can have one.";
        LearnedValues = "A781", "values can be learned from the releases themselves",
            "The releases show how quasi-identifiers and sensitive values correlate. Applied to a person within their \
             group, this guesses right far more often than the group alone allows.";
        EverLinkedLikely = "A785", "a person was probably linked to a value in some release",
            "If values change, each release is another chance. The probability that the person had the value in at \
             least one release is above 1/l.";
        ChangeShows = "A788", "a person's change of value is visible",
            "The groups that can hold the person before and after have no value in common (or no value set in common, \
             where people keep theirs). So every reader can see that the value changed. No promise hides that. Publish \
             a value that does not change, or name permanent values (--permanent) to see what follows.";
        PermanentCertain = "A789", "a value that never goes away is certain for a person",
            "Some values never go away, as stated with --permanent. A person whose value changed did not have one of \
             them before. So somebody else had it. Keep permanent values apart from values that change: in a column or \
             a series of their own.";
        PermanentFewValues = "A790", "a value that never goes away leaves fewer values than the threshold",
            "Some values never go away, as stated with --permanent. A person whose value changed did not have one of \
             them before. That leaves others fewer values than the threshold. Keep permanent values apart from values \
             that change.";
        WaitingTellsValue = "A794", "people who wait have one value far more often than others",
            "These people are in the private table and not in the release. One value is far more frequent among them than \
             in the whole table, beyond chance. So a reader who knows that a person is in the data and waits guesses this \
             value, and is often right. No promise hides who waits. Choose a smaller m or l, or coarser values, so that \
             nobody must wait. Or keep secret who is in the table.";
        WaitingTellsChange = "A795", "people who wait after being published have another value",
            "These people were published before, are in the private table, and are not in the release. Their value changed \
             far more often than that of people who were published again. So a reader who knows that they are still in the data \
             learns that their value changed. No promise hides this. Publish a value that does not change.";
        WaitingCertain = "A796", "waiting makes a person's value certain",
            "A group that fails the threshold l waits as a whole. So people who waited together failed it together, and one \
             value is frequent among them. A reader who knows that they were in the table compares the groups in which they are \
             published later: one value remains. The promise does not cover this. Publish without l, or keep secret who is in \
             the table.";
        WaitingFewValues = "A797", "waiting leaves a person fewer values than the threshold",
            "A group that fails the threshold l waits as a whole. So people who waited together failed it together, and one \
             value is frequent among them. Together with the groups in which they are published later, this leaves fewer than \
             l values. The promise does not cover this. Publish without l, or keep secret who is in the table.";
        TwoOfOneNumber = "A791", "two different releases have the same number",
            "A series has one release of each number. Two show that it was continued twice from one state: from a restored \
             backup, from a copy of the project, or by two people. Each release keeps the promise with the earlier ones, and \
             nothing was promised of both together. A reader who has both can compare them: in a test, nine people's values became \
             certain. Ask the publisher which one counts. A publisher withdraws one of them, and does not publish from that \
             copy again.";
        ChainBroken = "A792", "a release does not follow the one before it",
            "The manifest of every release names the release before it by its checksum. Here it names another one. Somebody \
             changed or exchanged a release, or the series was continued twice. The promise was judged with the release that \
             is named, not with this one. Ask the publisher for the right folder, and check signatures with tacenda verify \
             --key.";
        ReleasesMissing = "A793", "releases between others are missing",
            "The numbers of these releases have a gap. A promise is about all releases of a series together, and what is not \
             here was not examined. A reader who has the missing ones may learn more than this audit says. Add their folders, and \
             ask again.";
        GroupsTellValues = "A787", "groups depend on who has which value",
            "The releases were made again with the same seed, and with values exchanged among people of one value set. \
             Other groups came out. A reader who knows the program can rule such exchanges out, and may be left with fewer \
             values than promised.";
    }
}

impl Fault {
    /// Whether the fault is counted in combinations of X instead of groups.
    fn is_of_views(self) -> bool {
        (Fault::JoinTooFewValues..=Fault::JoinNotJudged).contains(&self)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}; {}", self.fault.code(), self.fault.title(), people(self.people))?;
        if self.groups > 0 {
            let (one, many) = match self.fault.is_of_views() {
                true => ("combination of X", "combinations of X"),
                false => ("group", "groups"),
            };
            write!(out, " in {}", counted(self.groups, one, many))?;
        }
        if let Some(example) = self.example {
            write!(out, ", for example group {example}")?;
        }
        write!(out, " of release {}", self.release)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_counts_as_people_do() {
        let finding = |people, groups| Finding {
            fault: Fault::TooFewCandidates,
            release: 2,
            people,
            groups,
            example: Some(1),
            others: Vec::new(),
            witness: None,
        };
        let said = |people, groups| finding(people, groups).to_string();
        assert!(said(1, 1).contains("; 1 person in 1 group, for example group 1 of release 2"), "{}", said(1, 1));
        assert!(said(3, 2).contains("; 3 people in 2 groups,"), "{}", said(3, 2));
    }

    #[test]
    fn every_fault_has_a_code_of_its_own() {
        let mut codes: Vec<&str> = Fault::ALL.iter().map(|fault| fault.code()).collect();
        assert!(Fault::ALL.iter().zip(Fault::PAGES).all(|(fault, page)| fault.code() == page.0));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), Fault::ALL.len());
    }
}
