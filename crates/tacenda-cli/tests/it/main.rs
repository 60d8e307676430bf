//! Questions about the command, one file each. Everything here runs the real binary.

mod adopt;
mod answers;
mod audit;
mod choices;
mod commands;
mod kill;
mod kit;
mod report;
mod scenario;
mod schema;
mod views;
mod ways;
