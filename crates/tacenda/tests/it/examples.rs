//! The programs in `examples/` run, and their assertions hold.

#[path = "../../examples/audit_other_tools.rs"]
mod audit_other_tools;
#[path = "../../examples/count_in_a_release.rs"]
mod count_in_a_release;
#[path = "../../examples/publish_a_series.rs"]
mod publish_a_series;
#[path = "../../examples/publish_views.rs"]
mod publish_views;
#[path = "../../examples/write_a_report.rs"]
mod write_a_report;

#[test]
fn the_example_publishes_a_series() {
    publish_a_series::main().unwrap();
}

#[test]
fn the_example_audits_the_files_of_other_tools() {
    audit_other_tools::main().unwrap();
}

#[test]
fn the_example_publishes_views() {
    publish_views::main().unwrap();
}

#[test]
fn the_example_writes_a_report() {
    write_a_report::main().unwrap();
}

#[test]
fn the_example_counts_in_a_release() {
    count_in_a_release::main().unwrap();
}
