//! Governance: people who leave, how long the report holds, who answers for it.

use crate::report::html::{Page, Section, clip, escape, parts};
use std::fmt::Write;

impl Page<'_> {
    /// How people who leave are treated.
    pub(super) fn deletion(&mut self) -> Option<Section> {
        let governance = self.report.governance.as_ref()?;
        let body = format!(
            "<p>{}</p>\n<p>What was published cannot be taken back: a person who is erased from the source stays in the releases \
             that are out, protected by the promise.</p>\n",
            escape(&clip(&governance.deletion, 2000))
        );
        Some(Section { id: "deletion", clause: "Governance", title: "Erasure and people who leave", body })
    }

    /// Until when the report holds.
    pub(super) fn validity(&mut self) -> Option<Section> {
        let governance = self.report.governance.as_ref()?;
        let by = match &governance.review_by {
            Some(date) => format!(
                "<p>This assessment is to be reviewed by <strong>{}</strong>, or earlier on any of these:</p>",
                escape(date)
            ),
            None => {
                "<p>Valid until: <span class=\"fill\"></span></p><p>To be reviewed earlier on any of these:</p>".into()
            }
        };
        let body = format!("{by}\n{}", parts::bullets(&governance.review_triggers, self.cap(20)));
        Some(Section { id: "validity", clause: "Governance", title: "Validity and review", body })
    }

    /// How an auditor repeats this.
    pub(super) fn repeat(&mut self) -> Option<Section> {
        let report = self.report;
        if report.reproduce.is_empty() {
            return None;
        }
        let mut body = String::from("<p>Whoever has the files can repeat this.</p>\n<ul>");
        for line in report.reproduce.iter().take(self.cap(20)) {
            let _ = write!(body, "<li><code>{}</code></li>", escape(&clip(line, 1000)));
        }
        body.push_str("</ul>\n");
        Some(Section { id: "repeat", clause: "Governance", title: "How to repeat this", body })
    }

    /// Who prepared, reviewed and owns the decision, and what each confirms.
    pub(super) fn signatures(&mut self) -> Option<Section> {
        if !self.is_signed() {
            return None;
        }
        let mut body = String::from(
            "<p>By signing, each confirms what stands with their name. A verdict of NOT ASSESSED is not a pass.</p>\n",
        );
        for signature in &self.report.signing {
            let _ = writeln!(
                body,
                "<div class=\"sign\"><h3>{}</h3>{}<dl>\
                 <div><dt>Name</dt><dd class=\"fill\"></dd></div><div><dt>Date</dt><dd class=\"fill\"></dd></div>\
                 <div><dt>Signature</dt><dd class=\"fill\"></dd></div></dl></div>",
                escape(&signature.role),
                parts::bullets(&signature.confirms, 8)
            );
        }
        Some(Section { id: "signatures", clause: "Governance", title: "Signatures", body })
    }
}
