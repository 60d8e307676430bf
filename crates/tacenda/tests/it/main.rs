//! Tests of the library as a whole, in one binary.

mod compat;
mod corrupt;
mod crash;
mod crash_disk;
mod round_trip;
mod small_project;
