//! Questions about the command, one file each. Everything here runs the real binary.

mod adopt;
mod advice;
mod answers;
mod audit;
mod audit_advice;
mod choices;
mod commands;
mod keys;
mod kill;
mod kit;
mod languages;
mod links;
mod odd_files;
mod report;
mod scale;
mod scenario;
mod schema;
mod transcripts;
mod trust;
mod vault;
mod verdicts;
mod views;
mod ways;
