//! Questions about the whole library, one file each.

mod adult;
mod attacks;
mod audit_checks;
mod audit_property;
mod audit_sketch;
mod audit_verify;
mod compat;
mod corrupt;
mod crash;
mod crash_disk;
mod custody;
mod fuzz;
mod gate;
mod incremental_k_anonymity;
mod k_anonymity_measured;
mod kit;
mod promise;
mod property;
mod recode;
mod round_trip;
mod small_project;
mod tidy;
mod use_cases;
mod views;
mod views_gate;
mod views_kit;
