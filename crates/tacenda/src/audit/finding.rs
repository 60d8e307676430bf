//! A finding: one way to learn too much, or one way in which a release is not what it says.

use crate::audit::Witness;
use crate::model::{coded, counted, people};
use std::fmt;

/// One fault of a release, with how many people it concerns. Says nothing of who or what.
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
    #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
    pub enum Fault of units {
        RegionMisses = "A601", "a region does not contain its person",
            "A published row must be true: its region contains the quasi values of the person behind it. A policy \
             that shrinks regions would publish false rows, and give away who does not fit.";
        ValueChanged = "A602", "a sensitive value is not the person's",
            "Sensitive values are published as they are. A row with another value is false.";
        PersonTwice = "A603", "a person stands in two rows",
            "Every admitted person stands in exactly one row. A doubled person is counted as two and makes a group \
             look larger than it is.";
        PersonLost = "A604", "a person was lost",
            "Every row of the snapshot is either published or withheld, and withheld rows are counted. A row that \
             vanishes is a bug.";
        CounterfeitsMiscounted = "A605", "counterfeits are miscounted",
            "The number of counterfeits of every group is published so that readers can count people. A wrong number \
             is a false statistic.";
        RegionTooNarrow = "A606", "a region is too narrow or off the grid",
            "The policy file sets a least width and a public grid so that boundaries do not give away the value of \
             the person at the edge.";
        Malformed = "A607", "the release is not laid out as it must be",
            "Groups, regions and rows of a release must fit each other, and rows must stand in an order that says \
             nothing of the input.";
        NobodyThere = "A608", "a group holds nobody",
            "A group made of counterfeits alone would be pure invention.";
        TooFewPeople = "A611", "a group holds too few people",
            "The promise names the least number of people who are published alike. A smaller group singles its \
             members out.";
        TooFewValues = "A612", "a group holds too few sensitive values",
            "The promise names the least number of sensitive values among which a person's own cannot be told. A \
             smaller set tells more.";
        Unbalanced = "A613", "a value occurs more often than another in its group",
            "The bound of 1/m rests on every value of a group being as likely as any other: each must occur equally \
             often, exactly once where the promise has no k.";
        ValueSetChanged = "A614", "a person met another value set",
            "A person's groups must carry the same set of values in every release, for ever, or after a change of \
             their value one that shares nothing with the sets before. Otherwise the sets are intersected, and what \
             is left may be one value.";
        UnexpectedCounterfeits = "A615", "there are counterfeits under a promise without any",
            "This promise says that no published row is artificial.";
        RegionNotNested = "A621", "a person's region is not inside the earlier one",
            "When a region is not inside the one before, a reader of both intersects them and may single the person \
             out.";
        RegionsOverlap = "A622", "two regions of a release overlap",
            "Cells of one release divide the domain between them. Overlapping cells let a reader of two releases \
             tell members apart.";
        CohortTooSmall = "A623", "too few people of one arrival share a region",
            "Someone who knows when people arrived compares only those who arrived together. Fewer than k of them in \
             one region are exposed.";
        CohortsMixed = "A626", "people of different arrivals stand in one group",
            "Under this promise every group holds people of one arrival, for ever. Someone who knows who arrived \
             when would see through a mixture.";
        ValueTooFrequent = "A624", "a value is too frequent in a group",
            "The guard l says that no value makes up more than one in l of a group.";
        LeftAlone = "A625", "people were taken out of a published group one by one",
            "When a single member of a group disappears, comparing the releases gives that member's value. The whole \
             group has to be withheld.";
        CameBack = "A627", "a person who was left out is back",
            "Someone who was published and then left out must stay out under this promise: the gap sets them apart.";
        GroupAltered = "A628", "a group that was published before is published otherwise",
            "Under this promise groups never change once published: each comes again with the same people and the \
             same region, or is left out whole. Whoever knows who arrived when could undo any other change, and the \
             difference of two releases would no longer be the newcomers alone.";
        TooFewCandidates = "A631", "comparing releases leaves too few possible values",
            "A reader of all releases who knows people's quasi values and when they were present intersects what \
             each release leaves open. For these people too little is left.";
        SeriesSinglesOut = "A632", "comparing releases singles people out",
            "Regions of the same person in different releases are intersected, or a boundary that moved when one \
             person came or left gives that person's value away.";
        JoinTooFewValues = "A641", "joined views leave too few values",
            "Whoever lays views of the same people side by side matches rows on the columns they share. For some \
             combination of X fewer values of Y remain than promised.";
        JoinShareTooLarge = "A642", "joined views make a value too likely",
            "Whoever lays views of the same people side by side matches rows on the columns they share. For some \
             combination of X one value of Y makes up a larger share of the matches than promised.";
        MatchingTellsMore = "A643", "matching all rows at once tells more than the join",
            "Views of the same people are projections of one table: each row of one belongs to exactly one row of \
             the other. A match that lies in no assignment of all rows is impossible and can be left out. What \
             remains keeps the promise no longer.";
        ViewsNotRelated = "A644", "views are not of the same people",
            "Every row of a view must have a possible counterpart in every other view, and all rows together must be \
             assignable. If that fails, the views were not made from the same people, or an [[impossible]] pair is \
             not impossible.";
        JoinNotJudged = "A645", "the join of views is too large to judge",
            "The views match in so many ways that counting them, or matching all of them at once, would take too many \
             steps. What cannot be judged is not published. Publish fewer columns in a view, or coarser ones.";
        AloneInGroup = "A701", "a group holds one person",
            "Whoever knows this person's quasi values finds their row, and with it everything the row says.";
        SmallGroup = "A702", "a group holds fewer people than the line",
            "The line k says how many people must be published alike. Fewer are easier to tell apart.";
        OneValue = "A703", "a group has one sensitive value",
            "Everyone in the group has this value. Nobody needs to be told apart to learn it.";
        FewValues = "A704", "a group has fewer sensitive values than the line",
            "The line l says how many values must remain possible for a person. In this group fewer do.";
        FrequentValue = "A705", "a value is more frequent in a group than one in l",
            "Guessing the most frequent value of the group is right more often than one time in l.";
        ValueCertain = "A731", "a person's value is certain",
            "In each release a person is in, their value is one of those of the groups that cover them. Over all \
             releases, one value is left.";
        FewCandidates = "A732", "fewer values than the line are left for a person",
            "In each release a person is in, their value is one of those of the groups that cover them. Over all \
             releases, fewer values than the line are left.";
        TooFarFromWhole = "A706", "a group's values are too far from the whole table's",
            "Someone who finds a person's group learns how their chances differ from everybody's. The distance is \
             above the line t.";
        LinkedIdsPublished = "A711", "rows carry ids that link releases",
            "A reader can follow each row from release to release. Such data are pseudonymous, not anonymous, and \
             everything the releases say of a row is intersected.";
        LinkedTooFew = "A712", "following ids leaves fewer people alike than the line",
            "The regions of one id are intersected over the releases. Fewer rows than the line k share what is left.";
        LinkedFewValues = "A713", "people alike by their ids have too few values",
            "Rows whose ids tell the same story over the releases are told apart by nothing else. They have fewer \
             sensitive values than the line l.";
        LinkedContradiction = "A714", "the regions of an id do not meet",
            "No value fits all regions that one id was published with: the person changed, or a row is not true. A \
             reader sees that something changed.";
        LinkedValueChanged = "A715", "the value of an id changed",
            "A reader who follows the id sees both values and that they changed.";
        ArrivalsCertain = "A721", "the difference of two releases gives newcomers' value away",
            "Groups that overlap hold the same people in both releases. What the later ones have more are the \
             newcomers' rows, and they have one value.";
        ArrivalsFewValues = "A722", "the difference of two releases leaves newcomers too few values",
            "Groups that overlap hold the same people in both releases. What the later ones have more are the \
             newcomers' rows, with fewer values than the line l.";
        ArrivalsFew = "A723", "the difference of two releases leaves too few newcomers",
            "Groups that overlap hold the same people in both releases. What the later ones have more are the \
             newcomers' rows, fewer than the line k.";
        LeaversCertain = "A724", "the difference of two releases gives leavers' value away",
            "Groups that overlap hold the same people in both releases but for those who left. What the earlier ones \
             had more are their rows, and they have one value.";
        LeaversFewValues = "A725", "the difference of two releases leaves leavers too few values",
            "Groups that overlap hold the same people in both releases but for those who left. What the earlier ones \
             had more are their rows, with fewer values than the line l.";
        PlaceGivesAway = "A733", "whoever stands in one place in these releases has too few values",
            "Nobody's data are known here. But anyone who lies in this place and is in all these releases has a \
             value that groups over the place have in each of them, and these are fewer than the line l. How many \
             people that is cannot be told from outside; the number is the most that fit.";
        OneKnownGivesAway = "A734", "knowing some people's values gives another's away",
            "In all worlds that fit the releases, a person has one value as soon as the values of so many others are \
             known.";
        FewCorresponding = "A741", "few rows of the later release can be a person of the earlier",
            "Everyone of the earlier release is in the later one, with the same value. Of the rows that could be a \
             person's, so many cannot be when everyone is placed at once that fewer than the line k are left.";
        OneCorresponding = "A742", "one row of the later release can be a person of the earlier",
            "Everyone of the earlier release is in the later one, with the same value. When everyone is placed at \
             once, one row is left for the person.";
        FewNewcomers = "A743", "few rows of a group can be newcomers",
            "So many rows of the group must belong to people of the earlier release that fewer than the line k can \
             be newcomers'.";
        FewMatchedValues = "A751", "matching two releases leaves too few values",
            "When everyone of the earlier release is given a row of the later one, whoever stands in both of these \
             groups has one of fewer values than the line l.";
        WorldsCertain = "A755", "a person has one value in all worlds",
            "All ways to place everyone in all releases were counted. In each of them the person has this value.";
        LikelyValue = "A756", "a value is more likely than one in l",
            "All ways to place everyone in all releases were counted. In more than one of l of them the person has \
             this value.";
        MustShareValue = "A761", "people must share a value",
            "Two people with the two values of a group, one of them later with somebody else in a group with the \
             same two values: the first and the last have the same value. Whoever learns one of them learns all.";
        JoinFewPeople = "A765", "joining releases with different columns leaves too few people",
            "A combination of what both releases say goes with fewer rows than the line k, counting only pairs of \
             rows that can be part of a whole.";
        JoinLikelyValue = "A766", "joining releases with different columns gives a value away",
            "Among the rows that a combination of both releases joins with, a value is more frequent than one in l.";
        AtOnceFewRows = "A767", "matching all releases at once leaves too few rows",
            "Three or more releases have different columns of the same people. When everyone is given a row of each of \
             them, what one release says of a person leaves fewer rows of another than the line k.";
        AtOnceFewValues = "A768", "matching all releases at once leaves too few values",
            "Three or more releases have different columns of the same people. When everyone is given a row of each of \
             them, what one release says of a person leaves fewer values than the line l. Two releases at a time need \
             not show it.";
        OrderLinks = "A771", "the order of rows links two releases",
            "Rows that occur once in both files stand in the same order far more often than by chance, and not \
             because the files are sorted by what they show. The order of the input is a linked id.";
        StableNames = "A772", "group names link two releases",
            "Groups of the same name in both files lie over each other far more often than others: the name outlives \
             the release, and a reader can follow the group.";
        MovedByOne = "A773", "a region moved by one person",
            "Two groups are the same but for one row and a side of the region. The side that moved is the value of \
             the person who came or left.";
        TightBoundaries = "A774", "boundaries are values of people",
            "Most boundaries lie on no public grid. A region that is as small as its people allow has a person on \
             every side.";
        LearnedValues = "A781", "values can be learned from the releases themselves",
            "What the releases say of how quasi and sensitive values go together, applied to a person within their \
             group, guesses right far more often than the group alone allows.";
        EverLinkedLikely = "A785", "a person was likely linked to a value in some release",
            "Where values change, each release is another chance. The chance that a person had the value in at least \
             one of them is above one in l.";
    }
}

impl Fault {
    /// Whether it is counted in combinations of X, not in groups.
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
