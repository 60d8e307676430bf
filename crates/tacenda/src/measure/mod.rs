//! What a release costs: loss, precision per attribute, error of count queries.
//!
//! One definition a measure, the same in `plan`, `show`, the manifest and JSON:
//!
//! | measure | definition |
//! |---|---|
//! | leaf share (NCP) of an attribute | (width − 1) / (size − 1) of the published span, where width counts the values it covers and size those of the domain, "not recorded" included; mean over people; 0 where size is 1 |
//! | leaf share of a release | mean over the quasi attributes, unweighted |
//! | precision of an attribute | 1 − its leaf share: 1 where every value is exact, 0 where none is said |
//! | information loss (001) | per person the sum over quasi attributes: a number or date costs (max − min) / (domain's max − min), a category the height of the lowest common ancestor / the height of the tree, a set without a node as much as its lowest common ancestor, "recorded or not" 1; total over people |
//! | discernability | sum over groups of rows², counterfeits included |
//! | C_avg | (rows / groups) / k, where k is the least group the promise allows |
//! | group size | rows of a group: least, mean, largest |
//! | query error | median of \|actual − estimate\| / actual over random count queries; needs the truth |
//! | classification error | percent of test rows whose class a decision tree predicts wrongly; it is grown on training rows, and both are generalised; needs the truth |
//!
//! Private data are not published: [`query_error`] is for the steward, and [`loss`] is computed from the release and
//! the policy alone. Means are over people, because counterfeits lose nothing. Sums are integers or are added in a
//! fixed order, so the number of threads changes no digit.

mod loss;
mod density;
mod marginals;
mod query_error;
mod tree;

pub(crate) use density::Densities;
pub(crate) use loss::nine_decimals;
pub use loss::{AttributeLoss, Loss, loss};
pub use marginals::{AttributeError, CountErrors, count_error_of_one, count_errors};
pub use query_error::{QueryError, Workload, query_error};
pub use tree::{Feature, Tree};
