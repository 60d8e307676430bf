//! Tests of the library as a whole, in one binary.

mod corrupt;
mod crash;
mod crash_disk;
mod small_project;
