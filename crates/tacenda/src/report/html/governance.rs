//! Governance: people who leave, how long the report holds, who answers for it.

use crate::report::html::{Page, Section, parts};
use crate::report::words::clip;
use maud::html;

impl Page<'_> {
    /// How people who leave are treated.
    pub(super) fn deletion(&mut self) -> Option<Section> {
        let governance = self.report.governance.as_ref()?;
        let body = html! {
            p { (clip(&governance.deletion, 2000)) }
            p {
                "A published release cannot be taken back. A person who is erased from the source stays in the \
                 published releases."
            }
        };
        Some(Section { id: "deletion", clause: "Governance", title: "Erasure and people who leave", body })
    }

    /// Until when the report holds.
    pub(super) fn validity(&mut self) -> Option<Section> {
        let governance = self.report.governance.as_ref()?;
        let body = html! {
            @match &governance.review_by {
                Some(date) => p {
                    "This assessment is to be reviewed by " strong { (date) } ", or earlier on any of these:"
                },
                None => {
                    p { "Valid until: " (parts::fill()) }
                    p { "To be reviewed earlier on any of these:" }
                }
            }
            (parts::bullets(&governance.review_triggers, self.cap(20)))
        };
        Some(Section { id: "validity", clause: "Governance", title: "Validity and review", body })
    }

    /// How an auditor repeats this.
    pub(super) fn repeat(&mut self) -> Option<Section> {
        let report = self.report;
        if report.reproduce.is_empty() {
            return None;
        }
        let body = html! {
            p { "Anyone who has the files can repeat this." }
            ul {
                @for line in report.reproduce.iter().take(self.cap(20)) {
                    li { code { (clip(line, 1000)) } }
                }
            }
        };
        Some(Section { id: "repeat", clause: "Governance", title: "How to repeat this", body })
    }

    /// Who prepared, reviewed and owns the decision, and what each confirms.
    pub(super) fn signatures(&mut self) -> Option<Section> {
        if !self.is_signed() {
            return None;
        }
        let body = html! {
            p { "Each person who signs confirms the statements under their role. NOT ASSESSED is not a pass." }
            @for signature in &self.report.signing {
                div class="sign" {
                    h3 { (signature.role) }
                    (parts::bullets(&signature.confirms, 8))
                    dl {
                        @for what in ["Name", "Date", "Signature"] {
                            div { dt { (what) } dd class="fill" {} }
                        }
                    }
                }
            }
        };
        Some(Section { id: "signatures", clause: "Governance", title: "Signatures", body })
    }
}
