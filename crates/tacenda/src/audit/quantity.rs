//! What checks measure: every quantity, with its name, in one place.
//!
//! Code looks a quantity up by its variant. The name is for people and for JSON.

use std::fmt;

macro_rules! quantities {
    ($($quantity:ident = $name:literal,)*) => {
        /// What a check measured.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum Quantity {
            $(#[doc = $name] $quantity,)*
            /// How many people have this many possible values. The last count includes all larger numbers.
            PeopleWithValuesLeft(u32),
        }

        impl fmt::Display for Quantity {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Quantity::$quantity => out.write_str($name),)*
                    Quantity::PeopleWithValuesLeft(1) => out.write_str("people with 1 value left"),
                    Quantity::PeopleWithValuesLeft(Quantity::MOST_VALUES) => {
                        write!(out, "people with {} or more values left", Quantity::MOST_VALUES)
                    }
                    Quantity::PeopleWithValuesLeft(count) => write!(out, "people with {count} values left"),
                }
            }
        }
    };
}

quantities! {
    Rows = "rows",
    People = "people",
    Groups = "groups",
    SmallestGroup = "smallest group",
    MeanRisk = "mean risk",
    PeopleBelowK = "people below k",
    LeastOfPopulation = "fewest people of the population for a group (k-map)",
    HighestJournalistRisk = "highest journalist risk",
    MeanJournalistRisk = "mean journalist risk",
    LeastHouseholds = "fewest households of a group",
    LeastDistinctValues = "fewest distinct values",
    LeastEntropyDiversity = "least entropy diversity",
    LargestRecursiveC = "largest recursive c",
    LargestShare = "largest share of a value",
    LargestDistance = "largest distance",
    LargestBeta = "largest beta-likeness",
    MeanDistance = "mean distance",
    Ids = "ids",
    LeastAlike = "least E",
    LeastAlwaysTogether = "least H",
    IdsBelowK = "ids below k",
    IdsContradicted = "ids contradicted",
    IdsChanged = "ids whose value changed",
    Components = "components",
    RowsGained = "rows gained, at least",
    RowsLost = "rows lost, at least",
    ArrivalsUnlessSuppressed = "arrivals with too few values if suppressed rows are left out",
    PeopleCertain = "people certain",
    PeopleCertainByHousehold = "people certain once a household is known",
    PeopleBelowL = "people below l",
    PeopleChanged = "people whose value changed",
    PointsUncovered = "points no group covers",
    PeopleMoved = "people whose group changes if values are exchanged",
    ValuesRuledOut = "values ruled out by matching",
    PlacesOfTwo = "places of two releases examined",
    PlacesOfMore = "places of more releases examined",
    PairsWithDepartures = "pairs of releases between which people left",
    LeastCorresponding = "fewest rows that correspond",
    PairsOverlapping = "pairs of groups that overlap",
    PairsSharing = "pairs of groups that can share a person",
    LargestPosterior = "largest posterior",
    LargestPosteriorBlind = "largest posterior, blind",
    PeopleWithoutWorld = "people without a world",
    PeopleCertainInAllWorlds = "people certain in all worlds",
    PeopleAboveOneInL = "people with a value likelier than one in l",
    PeopleCertainByOthers = "people certain once others are known",
    PeopleSharing = "people who must share a value",
    LargestClassOfEquals = "largest class of equals",
    RowsUnmatched = "rows that match nothing",
    RowsOfJoin = "rows of the join",
    RowsInBoth = "rows found in both files",
    ShareInOrder = "share of pairs in the same order",
    NamesInCommon = "names in common",
    NamesOverlapping = "names whose groups overlap",
    Boundaries = "boundaries",
    ValuesChanged = "changes of a value",
    ChangesShown = "people whose change is visible",
    PeopleWaiting = "people who wait",
    LargestShareWaiting = "largest share of a value among people who wait",
    ShareOffGrid = "share off any grid",
    ShareOfEndsIsolating = "share of ends that fit one person",
    ShareOfValuesIsolating = "share of values inside that fit one person",
    ShareAttained = "share of sides with a person on them",
    Loss = "loss",
    AverageClass = "c_avg",
    SquaredSizes = "sum of squared group sizes",
    LossGrowth = "loss of the last release over the first's",
    ShareGuessed = "share with a posterior above 1.5 in l",
    Accuracy = "accuracy",
    AccuracyOfMostFrequent = "accuracy of the most frequent value",
    LargestChanceEver = "largest chance ever",
    PeopleEverAboveOneInL = "people ever linked above one in l",
}

impl Quantity {
    /// People with at least this many values left are counted together.
    pub const MOST_VALUES: u32 = 8;
}
