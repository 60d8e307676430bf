//! Questions about the command, one file each. Everything here runs the real binary.

mod choices;
mod commands;
mod kill;
mod kit;
mod scenario;
mod schema;
