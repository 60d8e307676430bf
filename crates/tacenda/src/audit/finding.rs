//! A finding: one way to learn too much, or one way in which a release is not what it says.

use crate::audit::Witness;
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
];

impl Fault {
    /// Its code, such as `A614`.
    pub fn code(self) -> &'static str {
        self.page().1
    }

    /// Whether it is counted in combinations of X, not in groups.
    fn is_of_views(self) -> bool {
        self >= Fault::JoinTooFewValues
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
        write!(out, "{}: {}; {} people", self.fault.code(), self.fault.title(), self.people)?;
        if self.groups > 0 {
            write!(
                out,
                " in {} {}",
                self.groups,
                if self.fault.is_of_views() { "combinations of X" } else { "groups" }
            )?;
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
    fn every_fault_has_one_page_and_one_code() {
        let mut codes: Vec<&str> = CODES.iter().map(|page| page.1).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), CODES.len());
        assert_eq!(Fault::JoinNotJudged as usize + 1, CODES.len(), "the last fault, and a page for each before it");
        assert!(CODES.iter().enumerate().all(|(index, page)| page.0 as usize == index), "pages stand in order");
    }
}
