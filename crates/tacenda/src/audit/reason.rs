//! Why a check does not apply, or could not be answered: every reason, with its sentence, in one place.
//!
//! Code decides on the reason. The sentence is for people, and may be reworded at any time.

use std::fmt;

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident = $sentence:literal,)*) => {
        /// Why a check does not apply, or could not be answered for everyone.
        #[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
        pub enum Reason {
            $($(#[$doc])* $reason,)*
        }

        impl Reason {
            /// All reasons.
            pub const ALL: &[Reason] = &[$(Reason::$reason),*];

            fn sentence(self) -> &'static str {
                match self {
                    $(Reason::$reason => $sentence,)*
                }
            }
        }
    };
}

reasons! {
    /// Nobody gave the private tables.
    PeopleUnknown = "the private tables were not given, so the people are not known",
    /// The attacker knows some people's values. Which people these are can only be tried with the private tables.
    AccomplicesUnknown = "the private tables were not given, so it is not known whose values the attacker knows",
    /// The given attacker does not know who was present.
    PresenceUnknown = "the attacker does not know who is in which release",
    /// There are no values to protect.
    NoSensitiveColumn = "no release has a sensitive column",
    /// There is nothing to compare.
    OneReleaseWithValues = "fewer than two releases have a sensitive column",
    /// Our own files are sorted, so their order says nothing.
    SortedRows = "fewer than two releases have rows in an order of their own",
    /// There is nothing to join.
    SameColumns = "all releases have the same columns",
    /// Groups have no names to compare.
    NoGroupNames = "no two releases name their groups",
    /// Only releases of ours say which one came before.
    NoChain = "fewer than two releases say which release came before them",
    /// There are no ids to follow.
    NoLinkedIds = "no release has ids that link it to another",
    /// Only numbers and dates have boundaries.
    NoNumbers = "no quasi-identifier is a number or a date",
    /// A value that stays is one secret.
    ValuesStay = "nobody's value changes",
    /// Everyone in the tables is published, or who is not is not known.
    NobodyWaits = "nobody who is in a private table is known to be left out of its release",
    /// A row needs a counterpart only where everyone stayed.
    PeopleLeft = "people left between the releases, so a row needs no counterpart",
    /// Departures can only be counted with the private tables.
    DeparturesUnknown = "people left, and without the private tables their number has only bounds",
    /// Some group or place has more overlaps than are examined.
    TooManyOverlaps = "too many groups overlap",
    /// Some pairs of groups have only a bound.
    RowsBounded = "for some overlapping groups, or groups with counterfeits, the rows that correspond have only a bound",
    /// If several groups cover a place, it is open which of them holds a person.
    SharedPlaces = "several groups of a release cover the same place, or hold counterfeits",
    /// The promise about views was kept at the gate, and no thresholds over all columns were given.
    NoJoinThresholds = "each view was judged when it was published; thresholds over all columns (--k, --l) were not given",
    /// A join was cut short.
    JoinTooLarge = "a join is too large, or no assignment of all rows exists",
    /// Matching all releases at once was not finished.
    TooLargeAtOnce = "matching three or more releases with different columns at once takes too many steps",
    /// The private tables cannot be those behind the releases.
    Contradiction = "the tables and the releases contradict each other",
    /// Someone's point lies in no group.
    Uncovered = "some people are in no group of a release that should hold them",
    /// The releases or the tables may be misread.
    ReadingDoubted = "people of the private tables fit no group, so the files may be misread; nobody is accused on that basis",
    /// Not all components were matched.
    TooLargeToMatch = "some components are too large to match everyone at once",
    /// Matching was stopped.
    MatchingUnfinished = "matching everyone at once did not finish",
    /// Not all components were counted.
    TooLargeToCount = "some components are too large to count all worlds",
    /// Ids rule out worlds that were counted.
    LinkedIdsIgnored = "ids link rows of several releases, and counting worlds does not follow them",
    /// No promise speaks of a reader who knows the program.
    MethodNotPromised = "no promise here holds against a reader who knows the program",
    /// Releases can only be made again with the seed.
    SeedUnknown = "only the project that made the releases has the seed to make them again",
    /// The tables, the policy or the program have changed since the release.
    NotMadeAgain = "these tables, this policy and this program do not give the same releases again",
    /// That two people share a value is outside the promise, and the series is too large to find all of them.
    SharingNotPromised = "no promise here hides that two people share a value; not everyone was examined",
    /// Somebody lost a value that was said to stay.
    NotPermanent = "somebody lost a value that was named as permanent",
    /// Releases that are not neighbours were not compared.
    PairsLeftOut = "not all pairs of releases were compared",
    /// The table of the population lacks people who are in the releases.
    PopulationTooSmall = "the population has fewer people for a group than the release, so it is not a table of everyone",
    /// Only a sample was looked at.
    SampledPeople = "only a random sample of the people was examined",
}

impl Reason {
    /// Whether the question was not asked because people are not known. A verdict must say so, because missing
    /// knowledge must not look like a pass.
    pub fn is_people_unknown(self) -> bool {
        matches!(self, Reason::PeopleUnknown | Reason::AccomplicesUnknown)
    }
}

/// What would answer a question that is not assessed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WayOut {
    /// More steps.
    Budget,
    /// Something else, in a sentence.
    Said(&'static str),
}

impl Reason {
    /// What would settle a question that is not assessed for this reason.
    pub fn way_out(self) -> WayOut {
        const TRUTH: &str = "give the private tables (--truth FILE… --id COLUMN), one per release";
        match self {
            Reason::TooManyOverlaps
            | Reason::TooLargeToMatch
            | Reason::MatchingUnfinished
            | Reason::TooLargeToCount
            | Reason::PairsLeftOut => WayOut::Budget,
            Reason::PeopleUnknown | Reason::AccomplicesUnknown | Reason::DeparturesUnknown => WayOut::Said(TRUTH),
            Reason::PresenceUnknown => WayOut::Said("name an attacker who knows it (--attacker quasi,presence)"),
            Reason::NoJoinThresholds => WayOut::Said("set thresholds over all columns (--k, --l)"),
            Reason::Contradiction | Reason::Uncovered | Reason::ReadingDoubted => WayOut::Said(
                "check that these are the tables that the releases were made from, and that every column is read as it is \
                 meant (--notation, --hierarchies, --missing)",
            ),
            Reason::PopulationTooSmall => WayOut::Said(
                "give a table of everyone whom the releases might be about, those in them included (--population)",
            ),
            Reason::NotPermanent => WayOut::Said("name only values that nobody loses (--permanent)"),
            Reason::SeedUnknown => WayOut::Said("audit in the project that made the releases, with all private tables"),
            Reason::NotMadeAgain => WayOut::Said(
                "audit with the tables, the policy file and the version of the program that made the releases",
            ),
            Reason::LinkedIdsIgnored => {
                WayOut::Said("no budget settles this; linked-ids answers what the ids give away by themselves")
            }
            Reason::RowsBounded | Reason::SharedPlaces => WayOut::Said(
                "no budget settles this, because groups of one release overlap or hold counterfeits; candidates and \
                 posterior answer with the private tables (--truth FILE… --id COLUMN)",
            ),
            Reason::JoinTooLarge | Reason::TooLargeAtOnce => {
                WayOut::Said("no budget settles this; audit fewer of the releases together, or fewer columns")
            }
            Reason::SampledPeople => WayOut::Said("no budget settles this; the sample is drawn with a fixed seed"),
            Reason::NoSensitiveColumn
            | Reason::OneReleaseWithValues
            | Reason::SortedRows
            | Reason::SameColumns
            | Reason::NoGroupNames
            | Reason::NoLinkedIds
            | Reason::NoChain
            | Reason::NoNumbers
            | Reason::ValuesStay
            | Reason::NobodyWaits
            | Reason::PeopleLeft
            | Reason::MethodNotPromised
            | Reason::SharingNotPromised => WayOut::Said("nothing: the question does not apply to these releases"),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.sentence())
    }
}
