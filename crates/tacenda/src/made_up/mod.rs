//! Made-up people, for the demo, tests and benchmarks; and a naive publisher to break.
//!
//! A [`Shape`] says which columns there are and how one person is drawn. [`Generated`] lets such
//! people arrive, leave, return and change, and hands out snapshots as tables or as CSV. Everything
//! comes from one seed. `paper003` is the running example of paper 003, as data. A [`Situation`] is what another paper is
//! about, in small.

mod dice;
mod shape;
mod people;
pub mod hospital;
pub mod census;
pub mod adult;
pub mod naive;
pub mod paper003;
mod situations;

pub use people::{Churn, Generated, Snapshots};
pub use shape::{Columns, ProjectFile, Shape};
pub use situations::{SITUATIONS, Situation, Stage};
