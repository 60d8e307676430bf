//! A finding: one way to learn too much, or one way in which a release is not what it says.

use crate::audit::Witness;
use crate::model::{counted, people};
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

/// What can be wrong with a release. Each has a code with a page in `explain`.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Fault {
    /// A row's region does not contain the person's quasi values.
    RegionMisses,
    /// A row's sensitive value is not the person's.
    ValueChanged,
    /// A person stands in more than one row.
    PersonTwice,
    /// A person of the table is neither published nor withheld.
    PersonLost,
    /// The published number of counterfeits is not the true one.
    CounterfeitsMiscounted,
    /// A region is narrower than the least width, or off the public grid.
    RegionTooNarrow,
    /// The release is not laid out as a release must be.
    Malformed,
    /// A group without a single person.
    NobodyThere,
    /// A group with fewer people than promised.
    TooFewPeople,
    /// A group with fewer distinct sensitive values than promised.
    TooFewValues,
    /// A group in which some value occurs more often than another.
    Unbalanced,
    /// A person met another value set than before.
    ValueSetChanged,
    /// Counterfeits under a promise that has none.
    UnexpectedCounterfeits,
    /// A person's region is not inside the one they had before.
    RegionNotNested,
    /// Two regions of one release overlap without being equal.
    RegionsOverlap,
    /// Fewer people of one arrival than promised share a region.
    CohortTooSmall,
    /// People of different arrivals stand in one group.
    CohortsMixed,
    /// A value makes up too large a share of a group.
    ValueTooFrequent,
    /// A person who was published is neither published nor withheld with their whole group.
    LeftAlone,
    /// A person who was left out of an earlier release is back.
    CameBack,
    /// A group that was published before is published otherwise.
    GroupAltered,
    /// Comparing releases leaves a person with too few possible values.
    TooFewCandidates,
    /// Comparing releases singles people out.
    SeriesSinglesOut,
    /// On the join of views, too few values of Y go with a combination of X.
    JoinTooFewValues,
    /// On the join of views, a value of Y makes up too large a share of a combination of X.
    JoinShareTooLarge,
    /// The join looks safe, but leaving out what no matching of all rows allows tells more.
    MatchingTellsMore,
    /// Rows of views that must be of the same people have no counterpart.
    ViewsNotRelated,
    /// The join of views is too large to judge.
    JoinNotJudged,
    /// A group with one person.
    AloneInGroup,
    /// A group with fewer people than the line.
    SmallGroup,
    /// A group whose rows all have one value.
    OneValue,
    /// A group with fewer values than the line.
    FewValues,
    /// A value that more than one row in l has.
    FrequentValue,
    /// One value is left for a person.
    ValueCertain,
    /// Fewer values than the line are left for a person.
    FewCandidates,
    /// A group whose values are farther from the whole table's than the line.
    TooFarFromWhole,
    /// Rows carry ids that link releases.
    LinkedIdsPublished,
    /// Following ids leaves fewer people alike than the line.
    LinkedTooFew,
    /// People alike by their ids have fewer values than the line.
    LinkedFewValues,
    /// The regions of an id do not meet.
    LinkedContradiction,
    /// The value of an id changed.
    LinkedValueChanged,
    /// Newcomers of a component have one value.
    ArrivalsCertain,
    /// Newcomers of a component have fewer values than the line.
    ArrivalsFewValues,
    /// A component has fewer newcomers than the line.
    ArrivalsFew,
    /// Leavers of a component have one value.
    LeaversCertain,
    /// Leavers of a component have fewer values than the line.
    LeaversFewValues,
    /// Anyone in a place of some releases has fewer values than the line.
    PlaceGivesAway,
    /// Knowing other people's values leaves one for a person.
    OneKnownGivesAway,
    /// Fewer rows than the line can be a person's in both releases.
    FewCorresponding,
    /// One row can be a person's in both releases.
    OneCorresponding,
    /// Fewer rows of a group than the line can be newcomers'.
    FewNewcomers,
    /// Matching two releases leaves fewer values than the line.
    FewMatchedValues,
    /// A person has one value in all worlds.
    WorldsCertain,
    /// A person has a value in more worlds than one in l.
    LikelyValue,
    /// People must share a value.
    MustShareValue,
    /// A join leaves fewer people than the line.
    JoinFewPeople,
    /// A join makes a value more frequent than one in l.
    JoinLikelyValue,
    /// The order of rows links two releases.
    OrderLinks,
    /// Group names link two releases.
    StableNames,
    /// A region moved by one person.
    MovedByOne,
    /// Boundaries are values of people.
    TightBoundaries,
    /// Values can be learned from correlations.
    LearnedValues,
    /// A person was ever linked to a value more likely than one in l.
    EverLinkedLikely,
}

/// Per code: its title and what it means, for `explain`.
pub const CODES: &[(Fault, &str, &str, &str)] = &[
    (
        Fault::RegionMisses,
        "A601",
        "a region does not contain its person",
        "A published row must be true: its region contains the quasi values of the person behind it. A policy that shrinks regions would publish false rows, and give away who does not fit.",
    ),
    (
        Fault::ValueChanged,
        "A602",
        "a sensitive value is not the person's",
        "Sensitive values are published as they are. A row with another value is false.",
    ),
    (
        Fault::PersonTwice,
        "A603",
        "a person stands in two rows",
        "Every admitted person stands in exactly one row. A doubled person is counted as two and makes a group look larger than it is.",
    ),
    (
        Fault::PersonLost,
        "A604",
        "a person was lost",
        "Every row of the snapshot is either published or withheld, and withheld rows are counted. A row that vanishes is a bug.",
    ),
    (
        Fault::CounterfeitsMiscounted,
        "A605",
        "counterfeits are miscounted",
        "The number of counterfeits of every group is published so that readers can count people. A wrong number is a false statistic.",
    ),
    (
        Fault::RegionTooNarrow,
        "A606",
        "a region is too narrow or off the grid",
        "The policy file sets a least width and a public grid so that boundaries do not give away the value of the person at the edge.",
    ),
    (
        Fault::Malformed,
        "A607",
        "the release is not laid out as it must be",
        "Groups, regions and rows of a release must fit each other, and rows must stand in an order that says nothing of the input.",
    ),
    (Fault::NobodyThere, "A608", "a group holds nobody", "A group made of counterfeits alone would be pure invention."),
    (
        Fault::TooFewPeople,
        "A611",
        "a group holds too few people",
        "The promise names the least number of people who are published alike. A smaller group singles its members out.",
    ),
    (
        Fault::TooFewValues,
        "A612",
        "a group holds too few sensitive values",
        "The promise names the least number of sensitive values among which a person's own cannot be told. A smaller set tells more.",
    ),
    (
        Fault::Unbalanced,
        "A613",
        "a value occurs more often than another in its group",
        "The bound of 1/m rests on every value of a group being as likely as any other: each must occur equally often, exactly once where the promise has no k.",
    ),
    (
        Fault::ValueSetChanged,
        "A614",
        "a person met another value set",
        "A person's groups must carry the same set of values in every release, for ever, or after a change of their value one that shares nothing with the sets before. Otherwise the sets are intersected, and what is left may be one value.",
    ),
    (
        Fault::UnexpectedCounterfeits,
        "A615",
        "there are counterfeits under a promise without any",
        "This promise says that no published row is artificial.",
    ),
    (
        Fault::RegionNotNested,
        "A621",
        "a person's region is not inside the earlier one",
        "When a region is not inside the one before, a reader of both intersects them and may single the person out.",
    ),
    (
        Fault::RegionsOverlap,
        "A622",
        "two regions of a release overlap",
        "Cells of one release divide the domain between them. Overlapping cells let a reader of two releases tell members apart.",
    ),
    (
        Fault::CohortTooSmall,
        "A623",
        "too few people of one arrival share a region",
        "Someone who knows when people arrived compares only those who arrived together. Fewer than k of them in one region are exposed.",
    ),
    (
        Fault::CohortsMixed,
        "A626",
        "people of different arrivals stand in one group",
        "Under this promise every group holds people of one arrival, for ever. Someone who knows who arrived when would see through a mixture.",
    ),
    (
        Fault::ValueTooFrequent,
        "A624",
        "a value is too frequent in a group",
        "The guard l says that no value makes up more than one in l of a group.",
    ),
    (
        Fault::LeftAlone,
        "A625",
        "people were taken out of a published group one by one",
        "When a single member of a group disappears, comparing the releases gives that member's value. The whole group has to be withheld.",
    ),
    (
        Fault::CameBack,
        "A627",
        "a person who was left out is back",
        "Someone who was published and then left out must stay out under this promise: the gap sets them apart.",
    ),
    (
        Fault::GroupAltered,
        "A628",
        "a group that was published before is published otherwise",
        "Under this promise groups never change once published: each comes again with the same people and the same region, or is left out whole. Whoever knows who arrived when could undo any other change, and the difference of two releases would no longer be the newcomers alone.",
    ),
    (
        Fault::TooFewCandidates,
        "A631",
        "comparing releases leaves too few possible values",
        "A reader of all releases who knows people's quasi values and when they were present intersects what each release leaves open. For these people too little is left.",
    ),
    (
        Fault::SeriesSinglesOut,
        "A632",
        "comparing releases singles people out",
        "Regions of the same person in different releases are intersected, or a boundary that moved when one person came or left gives that person's value away.",
    ),
    (
        Fault::JoinTooFewValues,
        "A641",
        "joined views leave too few values",
        "Whoever lays views of the same people side by side matches rows on the columns they share. For some combination of X fewer values of Y remain than promised.",
    ),
    (
        Fault::JoinShareTooLarge,
        "A642",
        "joined views make a value too likely",
        "Whoever lays views of the same people side by side matches rows on the columns they share. For some combination of X one value of Y makes up a larger share of the matches than promised.",
    ),
    (
        Fault::MatchingTellsMore,
        "A643",
        "matching all rows at once tells more than the join",
        "Views of the same people are projections of one table: each row of one belongs to exactly one row of the other. A match that lies in no assignment of all rows is impossible and can be left out. What remains keeps the promise no longer.",
    ),
    (
        Fault::ViewsNotRelated,
        "A644",
        "views are not of the same people",
        "Every row of a view must have a possible counterpart in every other view, and all rows together must be assignable. If that fails, the views were not made from the same people, or an [[impossible]] pair is not impossible.",
    ),
    (
        Fault::JoinNotJudged,
        "A645",
        "the join of views is too large to judge",
        "The views match in so many ways that counting them would take too long. What cannot be judged is not published. Publish fewer columns in a view, or coarser ones.",
    ),
    (
        Fault::AloneInGroup,
        "A701",
        "a group holds one person",
        "Whoever knows this person's quasi values finds their row, and with it everything the row says.",
    ),
    (
        Fault::SmallGroup,
        "A702",
        "a group holds fewer people than the line",
        "The line k says how many people must be published alike. Fewer are easier to tell apart.",
    ),
    (
        Fault::OneValue,
        "A703",
        "a group has one sensitive value",
        "Everyone in the group has this value. Nobody needs to be told apart to learn it.",
    ),
    (
        Fault::FewValues,
        "A704",
        "a group has fewer sensitive values than the line",
        "The line l says how many values must remain possible for a person. In this group fewer do.",
    ),
    (
        Fault::FrequentValue,
        "A705",
        "a value is more frequent in a group than one in l",
        "Guessing the most frequent value of the group is right more often than one time in l.",
    ),
    (
        Fault::ValueCertain,
        "A731",
        "a person's value is certain",
        "In each release a person is in, their value is one of those of the groups that cover them. Over all releases, one value is left.",
    ),
    (
        Fault::FewCandidates,
        "A732",
        "fewer values than the line are left for a person",
        "In each release a person is in, their value is one of those of the groups that cover them. Over all releases, fewer values than the line are left.",
    ),
    (
        Fault::TooFarFromWhole,
        "A706",
        "a group's values are too far from the whole table's",
        "Someone who finds a person's group learns how their chances differ from everybody's. The distance is above the line t.",
    ),
    (
        Fault::LinkedIdsPublished,
        "A711",
        "rows carry ids that link releases",
        "A reader can follow each row from release to release. Such data are pseudonymous, not anonymous, and everything the releases say of a row is intersected.",
    ),
    (
        Fault::LinkedTooFew,
        "A712",
        "following ids leaves fewer people alike than the line",
        "The regions of one id are intersected over the releases. Fewer rows than the line k share what is left.",
    ),
    (
        Fault::LinkedFewValues,
        "A713",
        "people alike by their ids have too few values",
        "Rows whose ids tell the same story over the releases are told apart by nothing else. They have fewer sensitive values than the line l.",
    ),
    (
        Fault::LinkedContradiction,
        "A714",
        "the regions of an id do not meet",
        "No value fits all regions that one id was published with: the person changed, or a row is not true. A reader sees that something changed.",
    ),
    (
        Fault::LinkedValueChanged,
        "A715",
        "the value of an id changed",
        "A reader who follows the id sees both values and that they changed.",
    ),
    (
        Fault::ArrivalsCertain,
        "A721",
        "the difference of two releases gives newcomers' value away",
        "Groups that overlap hold the same people in both releases. What the later ones have more are the newcomers' rows, and they have one value.",
    ),
    (
        Fault::ArrivalsFewValues,
        "A722",
        "the difference of two releases leaves newcomers too few values",
        "Groups that overlap hold the same people in both releases. What the later ones have more are the newcomers' rows, with fewer values than the line l.",
    ),
    (
        Fault::ArrivalsFew,
        "A723",
        "the difference of two releases leaves too few newcomers",
        "Groups that overlap hold the same people in both releases. What the later ones have more are the newcomers' rows, fewer than the line k.",
    ),
    (
        Fault::LeaversCertain,
        "A724",
        "the difference of two releases gives leavers' value away",
        "Groups that overlap hold the same people in both releases but for those who left. What the earlier ones had more are their rows, and they have one value.",
    ),
    (
        Fault::LeaversFewValues,
        "A725",
        "the difference of two releases leaves leavers too few values",
        "Groups that overlap hold the same people in both releases but for those who left. What the earlier ones had more are their rows, with fewer values than the line l.",
    ),
    (
        Fault::PlaceGivesAway,
        "A733",
        "whoever stands in one place in these releases has too few values",
        "Nobody's data are known here. But anyone who lies in this place and is in all these releases has a value that groups over the place have in each of them, and these are fewer than the line l. How many people that is cannot be told from outside; the number is the most that fit.",
    ),
    (
        Fault::OneKnownGivesAway,
        "A734",
        "knowing some people's values gives another's away",
        "In all worlds that fit the releases, a person has one value as soon as the values of so many others are known.",
    ),
    (
        Fault::FewCorresponding,
        "A741",
        "few rows of the later release can be a person of the earlier",
        "Everyone of the earlier release is in the later one, with the same value. Of the rows that could be a person's, so many cannot be when everyone is placed at once that fewer than the line k are left.",
    ),
    (
        Fault::OneCorresponding,
        "A742",
        "one row of the later release can be a person of the earlier",
        "Everyone of the earlier release is in the later one, with the same value. When everyone is placed at once, one row is left for the person.",
    ),
    (
        Fault::FewNewcomers,
        "A743",
        "few rows of a group can be newcomers",
        "So many rows of the group must belong to people of the earlier release that fewer than the line k can be newcomers'.",
    ),
    (
        Fault::FewMatchedValues,
        "A751",
        "matching two releases leaves too few values",
        "When everyone of the earlier release is given a row of the later one, whoever stands in both of these groups has one of fewer values than the line l.",
    ),
    (
        Fault::WorldsCertain,
        "A755",
        "a person has one value in all worlds",
        "All ways to place everyone in all releases were counted. In each of them the person has this value.",
    ),
    (
        Fault::LikelyValue,
        "A756",
        "a value is more likely than one in l",
        "All ways to place everyone in all releases were counted. In more than one of l of them the person has this value.",
    ),
    (
        Fault::MustShareValue,
        "A761",
        "people must share a value",
        "Two people with the two values of a group, one of them later with somebody else in a group with the same two values: the first and the last have the same value. Whoever learns one of them learns all.",
    ),
    (
        Fault::JoinFewPeople,
        "A765",
        "joining releases with different columns leaves too few people",
        "A combination of what both releases say goes with fewer rows than the line k, counting only pairs of rows that can be part of a whole.",
    ),
    (
        Fault::JoinLikelyValue,
        "A766",
        "joining releases with different columns gives a value away",
        "Among the rows that a combination of both releases joins with, a value is more frequent than one in l.",
    ),
    (
        Fault::OrderLinks,
        "A771",
        "the order of rows links two releases",
        "Rows that occur once in both files stand in the same order far more often than by chance, and not because the files are sorted by what they show. The order of the input is a linked id.",
    ),
    (
        Fault::StableNames,
        "A772",
        "group names link two releases",
        "Groups of the same name in both files lie over each other far more often than others: the name outlives the release, and a reader can follow the group.",
    ),
    (
        Fault::MovedByOne,
        "A773",
        "a region moved by one person",
        "Two groups are the same but for one row and a side of the region. The side that moved is the value of the person who came or left.",
    ),
    (
        Fault::TightBoundaries,
        "A774",
        "boundaries are values of people",
        "Most boundaries lie on no public grid. A region that is as small as its people allow has a person on every side.",
    ),
    (
        Fault::LearnedValues,
        "A781",
        "values can be learned from the releases themselves",
        "What the releases say of how quasi and sensitive values go together, applied to a person within their group, guesses right far more often than the group alone allows.",
    ),
    (
        Fault::EverLinkedLikely,
        "A785",
        "a person was likely linked to a value in some release",
        "Where values change, each release is another chance. The chance that a person had the value in at least one of them is above one in l.",
    ),
];

impl Fault {
    /// Its code, such as `A614`.
    pub fn code(self) -> &'static str {
        self.page().1
    }

    /// Whether it is counted in combinations of X, not in groups.
    fn is_of_views(self) -> bool {
        (Fault::JoinTooFewValues..=Fault::JoinNotJudged).contains(&self)
    }

    /// Its title.
    pub fn title(self) -> &'static str {
        self.page().2
    }

    fn page(self) -> &'static (Fault, &'static str, &'static str, &'static str) {
        CODES.iter().find(|page| page.0 == self).expect("every fault has a page, a test says")
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
    fn every_fault_has_one_page_and_one_code() {
        let mut codes: Vec<&str> = CODES.iter().map(|page| page.1).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), CODES.len());
        assert_eq!(Fault::EverLinkedLikely as usize + 1, CODES.len(), "the last fault, and a page for each before it");
        assert!(CODES.iter().enumerate().all(|(index, page)| page.0 as usize == index), "pages stand in order");
    }
}
