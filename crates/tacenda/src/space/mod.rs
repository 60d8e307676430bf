//! Geometry and matching on which several rooms stand: regions, and who can stand where.
//!
//! `stab` is the one index over regions: which cover a point, which overlap a region. `matching` is the one
//! kernel that seats people in places. `ties` says what is connected, `sets` are sets of small numbers.
//! Nothing here knows a promise, so the gate and the policies may both stand on it. What both use alone
//! is never enough to trust a release: the properties here compare each fast way with the plain one.

pub(crate) mod sets;
pub(crate) mod ties;
pub(crate) mod stab;
pub(crate) mod matching;
