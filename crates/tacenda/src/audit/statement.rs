//! What a witness states: which claim its groups, values and numbers prove.
//!
//! The statement has no words. The report turns it into a sentence with its numbers and the names of groups and values.

/// What is stated of a [`Witness`](crate::audit::Witness). `number` and `line` are its fields: a count, and the
/// threshold it is compared with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Statement {
    /// The rows of the group, without its counterfeits, are `number`: fewer than k.
    FewPeople,
    /// `number` people of the population fit the group: fewer than k.
    FewOfPopulation,
    /// Only people of one household fit the group, which has `number` people.
    OneHousehold,
    /// A household is known, and each of its people has a row of their own. That leaves the person the value given.
    CertainByHousehold {
        /// The person's own household, but the person; otherwise another one.
        own: bool,
    },
    /// The distinct values of the group are the values given, `number` of them: fewer than l.
    FewValues,
    /// The value occurs `number` times in the group: more than one row in l.
    FrequentValue,
    /// Half the sum of the differences between the shares of values in the group and in the whole release is `number`
    /// in millionths: more than t.
    FarFromWhole,
    /// The rows of the releases carry `number` ids.
    LinkedIds,
    /// The rows of one id in the groups have different values.
    LinkedValueChanged,
    /// The groups hold one id, and their regions do not overlap.
    LinkedRegionsApart,
    /// The groups are those of one id, and `number` ids, itself included, cannot be distinguished from it: fewer than k.
    FewAlike {
        /// Compared by the groups they were in; otherwise by the intersection of their regions.
        by_groups: bool,
    },
    /// The groups are those of one id, and the ids that cannot be distinguished from it have the values given in one release:
    /// fewer than l.
    FewValuesAmongAlike {
        /// As in [`Statement::FewAlike`].
        by_groups: bool,
    },
    /// The groups overlap no other groups of the two releases, and arrivals have one of the values given: fewer than l.
    Arrivals {
        /// There are more arrivals than rows gained, so any later row may be theirs.
        swapped: bool,
    },
    /// The groups overlap no other groups of the two releases, and departures had one of the values given: fewer than
    /// l.
    Departures {
        /// There are more departures than rows lost, so any earlier row may have been theirs.
        swapped: bool,
    },
    /// The groups overlap no other groups of the two releases, and gained `number` rows, all of arrivals: fewer than k.
    FewArrivals,
    /// If the people whose rows are suppressed are the same in both releases, the rows that the groups gained are those of
    /// arrivals, and have the values given: fewer than l.
    ArrivalsUnlessSuppressed,
    /// The groups cover the person, and leave the values given: fewer than l.
    FewCandidates {
        /// The attacker knows in which releases the person is, and everyone needs a row of their own; otherwise any
        /// value of any of the groups is left.
        presence: bool,
    },
    /// Somewhere in the overlap of the groups, no other values than those given occur in all of the releases: fewer
    /// than l.
    FewValuesAtPlace,
    /// Every row of the earlier release goes to a row of the later one with its value in an overlapping group. Of the
    /// rows of the first groups at most `number` can go to the last: fewer than k.
    FewCorresponding,
    /// In the same placing, all but `number` rows of the group are always taken: fewer than k.
    FewLeftForArrivals,
    /// In the same placing, only rows with the values given go from the first groups to the last: fewer than l.
    FewMatchedValues,
    /// Of all ways to give everyone in the groups a row in each release, `number` in a thousand give the person the
    /// value: more than one in l.
    LikelyValue,
    /// Of all these ways, those that fit the values of some of the others, at most `number`, leave the person one value.
    CertainByOthers,
    /// All these ways give the same value to `number` people, the person among them.
    EqualValues,
    /// In the join of two releases, some combination of all quasi columns has `number` rows of the first: fewer than k.
    FewAfterJoin,
    /// In the join of two releases, one value has a share of `number` in millionths of some combination: more than
    /// `line`.
    LikelyAfterJoin,
    /// In all ways to give everyone a row of each release, some combination of the quasi columns of the first release
    /// goes with `number` rows of the second: fewer than k.
    FewRowsAtOnce,
    /// The same with `number` values of the second: fewer than l.
    FewValuesAtOnce,
    /// Of the rows that occur once in both files, `number` pairs are in the same order in both.
    SameOrder {
        /// Of how many.
        pairs: u64,
        /// Only pairs within a group were compared, because a file is sorted by group.
        within_groups: bool,
    },
    /// `number` of the `line` names that groups have in both releases are names of groups that overlap, as those given do.
    StableNames,
    /// The groups have the same rows, but for one with the value, and one region lies inside the other.
    MovedByOne,
    /// `number` of the `line` boundaries of the attribute lie off the grid.
    OffGrid {
        /// The declared grid; otherwise that of the most common remainder by five.
        declared: bool,
    },
    /// `number` of the `line` ends of regions fit one person of the private table who is in the region, as some of the groups
    /// given.
    EndsIsolate,
    /// A naive Bayes model is right for `number` in a thousand people: more than one and a half in l.
    Learned,
    /// The chance that the person had the value in some release is `number` in millionths: more than one in l.
    EverLinked,
    /// The groups that can hold the person before and after a change have no value in common.
    ChangeShows {
        /// No value set in common; they may share values.
        by_sets: bool,
    },
    /// A person whose value changed had no permanent value before. Then the groups leave this person the given values:
    /// fewer than l.
    FewByPermanent,
    /// Of the `line` people who wait, `number` have the value given.
    FrequentAmongWaiting {
        /// How many people of the table have it.
        of_table: u64,
        /// How many people the table has.
        table: u64,
    },
    /// Of the `line` people who were published before and wait now, `number` have another value than before.
    ChangedAndWaits {
        /// How many of those who were published again have another value.
        others: u64,
        /// How many these are.
        stayed: u64,
    },
    /// People who waited together failed the threshold together. Then the groups leave this person the given values: fewer
    /// than l.
    FewByWaiting,
    /// Two manifests with the number `number` differ.
    TwoOfOneNumber,
    /// The manifest of release `number` names another release before it than release `line` that is there; if both numbers
    /// are equal, its own number and the number before do not fit.
    ChainBroken,
    /// Release `number` follows others that are not there: the one before it here is release `line`.
    ReleasesMissing,
    /// After an exchange of values, groups with `number` of the `line` people of the release come out otherwise, the one
    /// given among them.
    GroupsMoved,
}
