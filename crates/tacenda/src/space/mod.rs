//! Geometry and matching that several rooms use: regions, and who can take which place.
//!
//! `stab` is the one index over regions: which cover a point, which overlap a region. `matching` is the one kernel that
//! seats people in places. `ties` is union-find, `sets` are sets of small numbers. Nothing here knows a promise, so the
//! gate and the algorithms that form groups may both use it. A mistake here could mislead both. So properties compare
//! each fast algorithm with a plain one.

pub(crate) mod sets;
pub(crate) mod ties;
pub(crate) mod stab;
pub(crate) mod matching;
