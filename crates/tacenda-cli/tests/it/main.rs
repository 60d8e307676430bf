//! Questions about the command, one file each. Everything here runs the real binary.

mod commands;
mod kill;
mod kit;
mod report;
mod scenario;
mod schema;
mod views;
