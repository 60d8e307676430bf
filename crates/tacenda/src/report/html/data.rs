//! Data: the columns, the policy, the software, the promise and its attacker.

use crate::report::LimitFacts;
use crate::report::html::parts::{N, W};
use crate::report::html::{Page, Section, clip, escape, parts};
use crate::report::words::{list, number};

/// How much work the attacks were allowed, in words.
fn attack_limits(limits: &LimitFacts) -> String {
    format!(
        "matchings of up to {} people and worlds of up to {} people ({} nodes) that hang together; {} pairs of groups between \
         {} releases; seed {}",
        number(limits.refine_people),
        number(limits.worlds_people),
        number(limits.worlds_nodes),
        number(limits.pairs),
        if limits.all_pairs { "any two" } else { "two neighbouring" },
        limits.seed
    )
}

impl Page<'_> {
    /// Every column with its role and what is done to it.
    pub(super) fn columns(&mut self) -> Option<Section> {
        let columns = &self.report.series.columns;
        if columns.is_empty() {
            return None;
        }
        let most = self.cap(200);
        let rows: Vec<Vec<String>> = columns
            .iter()
            .take(most)
            .map(|column| {
                vec![
                    format!("<code class=\"nw\">{}</code>", escape(&clip(&column.name, 40))),
                    column.role.word().to_string(),
                    escape(&clip(&column.values, 120)),
                    escape(&clip(&column.technique, 240)),
                ]
            })
            .collect();
        let mut body = String::from(
            "<p>Quasi-identifiers are what someone may know of a person. Sensitive columns are what must not be learned.</p>\n",
        );
        let heads = [("Column", W), ("Role", W), ("Values", W), ("What is done to it", W)];
        body.push_str(&parts::table(&heads, &rows, columns.len().saturating_sub(most)));
        body.push_str(&self.identifying());
        Some(Section { id: "columns", clause: "Data", title: "Columns and their roles", body })
    }

    /// What makes each quasi column identifying: measured as far as it can be, the rest to be filled in.
    fn identifying(&self) -> String {
        let columns = &self.report.identifying;
        if columns.is_empty() {
            return String::new();
        }
        let most = self.cap(200);
        let line = || "<span class=\"fill\"></span>".to_string();
        let rows: Vec<Vec<String>> = columns
            .iter()
            .take(most)
            .map(|column| {
                vec![
                    format!("<code class=\"nw\">{}</code>", escape(&clip(&column.column, 40))),
                    number(column.values.into()),
                    number(column.regions.into()),
                    number(column.fewest_alike),
                    line(),
                    line(),
                    escape(column.safe_harbor.as_deref().unwrap_or("")),
                ]
            })
            .collect();
        let heads = [
            ("Column", W),
            ("Values", N),
            ("Published", N),
            ("Fewest alike", N),
            ("Stays the same over time?", W),
            ("Who else has it?", W),
            ("Safe harbor", W),
        ];
        format!(
            "<h3>What makes a column identifying</h3>\n<p>How far a column tells people apart is measured in the last release: how \
             many different regions it has, and the fewest people who share one. The two questions are for whoever signs. \
             Safe harbor is a hint by kind and name of the column.</p>\n{}",
            parts::table(&heads, &rows, columns.len().saturating_sub(most))
        )
    }

    /// Policy, parameters, software, hashes.
    pub(super) fn policy(&mut self) -> Option<Section> {
        let (series, facts) = (&self.report.series, &self.report.provenance);
        let mut rows: Vec<(&str, String)> = Vec::new();
        let hash = |text: &String| format!("<span class=\"hash\">{}</span>", escape(&clip(text, 128)));
        match &series.promise {
            Some(promise) => {
                let parameters = escape(&clip(&promise.parameters.join(", "), 400));
                rows.push(("Promise", format!("<code>{}</code>, {parameters}", escape(&promise.model))));
            }
            None => rows.push(("Promise", "not known: the files were judged as they are".into())),
        }
        let mut lines = Vec::new();
        if facts.k > 1 {
            lines.push(format!("at least {} people alike", facts.k));
        }
        if facts.l > 1 {
            lines.push(format!("at least {} values possible", facts.l));
        }
        if let Some(t) = facts.t {
            lines.push(format!("distance at most {t}"));
        }
        if !self.report.checks.is_empty() {
            rows.push(("Lines of the audit", if lines.is_empty() { "none".into() } else { lines.join(", ") }));
            rows.push(("The attacker knows", escape(&list(&facts.attacker))));
        }
        if let Some(limits) = &facts.limits {
            rows.push(("Limits of the attacks", attack_limits(limits)));
        }
        if let Some(governance) = &self.report.governance {
            governance.limits.iter().for_each(|limit| rows.push(("Limit", escape(&clip(limit, 240)))));
            if let Some(reason) = &governance.accepted_risk {
                rows.push(("Accepted risk, and why", escape(&clip(reason, 1000))));
            }
        }
        for (name, text) in [
            ("Policy, SHA-256", &facts.policy_sha256),
            ("Seed commitment", &facts.seed_commitment),
            ("Ledger head", &facts.ledger_head),
        ] {
            if let Some(text) = text.as_ref().filter(|text| !text.is_empty()) {
                rows.push((name, hash(text)));
            }
        }
        rows.push(("Software", escape(&facts.software)));
        let mut body = parts::facts(&rows);
        if !facts.notes.is_empty() {
            body.push_str("<h3>How the input was read</h3>");
            body.push_str(&parts::bullets(&facts.notes, self.cap(60)));
        }
        Some(Section { id: "policy", clause: "Data", title: "Policy, parameters, provenance", body })
    }

    /// The promise's sentence, word for word, and where it ends.
    pub(super) fn threat_model(&mut self) -> Option<Section> {
        let report = self.report;
        let mut body = match &report.series.promise {
            Some(promise) => format!("<blockquote>{}</blockquote>\n", escape(&promise.sentence)),
            None => "<p>No promise is known for these releases. They were attacked as anyone could attack them.</p>\n"
                .into(),
        };
        if !report.assumptions.is_empty() {
            body.push_str("<h3>What the verdict rests on</h3>");
            body.push_str(&parts::bullets(&report.assumptions, self.cap(40)));
        }
        body.push_str("<h3>What is not covered</h3>");
        body.push_str(&parts::bullets(&report.not_covered, self.cap(60)));
        Some(Section { id: "threat", clause: "Data", title: "The promise and its limits", body })
    }
}
