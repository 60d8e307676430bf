//! A report for programs: its fields, one by one. The schema is in docs/schema/report.json.

use crate::report::Report;

/// The report as JSON.
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("names and numbers are JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{broken, clean};
    use crate::report::{Decision, Edition};

    #[test]
    fn what_was_written_is_read_back() {
        for edition in [Edition::Recipient, Edition::Steward, Edition::Auditor] {
            for report in [broken().report(edition), clean().report(edition)] {
                let back: Report = serde_json::from_str(&json(&report)).unwrap();
                assert_eq!(back, report);
            }
        }
    }

    #[test]
    fn a_witness_is_there_in_full() {
        let json: serde_json::Value = serde_json::from_str(&json(&broken().report(Edition::Auditor))).unwrap();
        let finding = json["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == "A631").unwrap();
        let witness = &finding["witness"];
        assert_eq!(witness["groups"][0]["region"], serde_json::json!(["[20,30)", "F"]));
        assert_eq!(witness["groups"][1]["rows"], serde_json::json!([1, 2]));
        assert_eq!((&witness["number"], &witness["line"]), (&1.into(), &2.into()));
        assert_eq!(witness["values"], serde_json::json!(["D1"]));
        assert!(json["checks"][4]["measures"][1]["value"].is_null(), "what is no number is null");
    }

    #[test]
    fn not_assessed_is_never_a_pass() {
        let mut sample = broken();
        sample.assessment.outcomes.iter_mut().for_each(|outcome| outcome.findings.clear());
        assert_eq!(sample.report(Edition::Auditor).verdict.decision, Decision::NotAssessed);
        sample.assessment.outcomes.clear();
        assert_eq!(sample.report(Edition::Auditor).verdict.decision, Decision::NotAssessed);
        assert_eq!(clean().report(Edition::Auditor).verdict.decision, Decision::PassAssuming);
        assert_eq!(broken().report(Edition::Auditor).verdict.decision, Decision::Fail);
    }
}
