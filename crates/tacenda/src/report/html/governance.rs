//! Governance: people who leave, how long the report holds, who answers for it.

use crate::report::html::Page;
use crate::report::html::Section;
use crate::report::html::clip;
use crate::report::html::escape;
use crate::report::html::parts;

impl Page<'_> {
    /// How people who leave are treated.
    pub(super) fn deletion(&mut self) -> Option<Section> {
        let private = self.report.private.as_ref()?;
        let body = format!(
            "<p>{}</p>\n<p>What was published cannot be taken back: a person who is erased from the source stays in the releases \
             that are out, protected by the promise.</p>\n",
            escape(&clip(&private.deletion, 2000))
        );
        Some(Section { id: "deletion", clause: "Governance", title: "Erasure and people who leave", body })
    }

    /// Until when the report holds.
    pub(super) fn validity(&mut self) -> Option<Section> {
        let private = self.report.private.as_ref()?;
        let by = match &private.review_by {
            Some(date) => format!(
                "<p>This assessment is to be reviewed by <strong>{}</strong>, or earlier on any of these:</p>",
                escape(date)
            ),
            None => {
                "<p>Valid until: <span class=\"fill\"></span></p><p>To be reviewed earlier on any of these:</p>".into()
            }
        };
        let body = format!("{by}\n{}", parts::bullets(&private.review_triggers, self.cap(20)));
        Some(Section { id: "validity", clause: "Governance", title: "Validity and review", body })
    }

    /// Who prepared, reviewed and owns the decision.
    pub(super) fn signatures(&mut self) -> Option<Section> {
        if !self.is_private() {
            return None;
        }
        let mut body = String::from(
            "<p>By signing, each confirms the part above that is theirs. A verdict of NOT ASSESSED is not a pass.</p>\n\
             <div class=\"scroll sign\"><table class=\"form\"><thead><tr><th scope=\"col\">Role</th><th scope=\"col\">Name</th>\
             <th scope=\"col\">Date</th><th scope=\"col\">Signature</th></tr></thead><tbody>",
        );
        for role in ["Prepared by", "Expert or disclosure review board", "Data owner"] {
            body.push_str(&format!("<tr><th scope=\"row\">{role}</th><td></td><td></td><td></td></tr>"));
        }
        body.push_str("</tbody></table></div>\n");
        Some(Section { id: "signatures", clause: "Governance", title: "Signatures", body })
    }
}
