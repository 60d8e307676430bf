//! Data: the columns, the policy, the software, the promise and its attacker.

use crate::report::html::parts::{N, W, row};
use crate::report::html::{Page, Section, parts};
use crate::report::words::{clip, list, number};
use maud::{Markup, html};

impl Page<'_> {
    /// Every column with its role and what is done to it.
    pub(super) fn columns(&mut self) -> Option<Section> {
        let columns = &self.report.series.columns;
        if columns.is_empty() {
            return None;
        }
        let most = self.cap(200);
        let rows: Vec<Vec<Markup>> = columns
            .iter()
            .take(most)
            .map(|column| {
                row![
                    parts::column_name(&column.name),
                    column.role.word(),
                    values(&column.values),
                    clip(&column.technique, 240),
                ]
            })
            .collect();
        let heads = [("Column", W), ("Role", W), ("Values", W), ("What is done to it", W)];
        let body = html! {
            p {
                "Quasi-identifiers are what someone may know of a person. Sensitive columns are what must not be learned."
            }
            (parts::table(&heads, &rows, columns.len().saturating_sub(most)))
            (self.identifying())
        };
        Some(Section { id: "columns", clause: "Data", title: "Columns and their roles", body })
    }

    /// What makes each quasi column identifying: measured as far as it can be, the rest to be filled in.
    fn identifying(&self) -> Markup {
        let columns = &self.report.identifying;
        let most = self.cap(200);
        let rows: Vec<Vec<Markup>> = columns
            .iter()
            .take(most)
            .map(|column| {
                row![
                    parts::column_name(&column.column),
                    number(column.values.into()),
                    number(column.regions.into()),
                    number(column.fewest_alike),
                    parts::fill(),
                    parts::fill(),
                    column.safe_harbor.as_deref().unwrap_or(""),
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
        html! {
            @if !columns.is_empty() {
                h3 { "What makes a column identifying" }
                p {
                    "The last release shows how identifying a column is: how many different regions it has, and \
                     the fewest people who share one. The person who signs answers the two questions. Safe harbor is a hint by \
                     the kind and the name of the column."
                }
                (parts::table(&heads, &rows, columns.len().saturating_sub(most)))
            }
        }
    }

    /// Policy, parameters, software, hashes.
    pub(super) fn policy(&mut self) -> Option<Section> {
        let (series, facts) = (&self.report.series, &self.report.provenance);
        let text = |text: &str| html! { (text) };
        let mut rows: Vec<(&str, Markup)> = Vec::new();
        rows.push((
            "Promise",
            match &series.promise {
                Some(promise) => {
                    html! { code { (promise.model) } ", " (parts::data(&clip(&promise.parameters.join(", "), 400))) }
                }
                None => text("not known: the files were judged without a promise"),
            },
        ));
        let mut thresholds = Vec::new();
        if facts.k > 1 {
            thresholds.push(format!("at least {} people alike", facts.k));
        }
        if facts.l > 1 {
            thresholds.push(format!("at least {} values possible", facts.l));
        }
        if let Some(t) = facts.t {
            thresholds.push(format!("distance at most {t}"));
        }
        if !self.report.checks.is_empty() {
            let none = thresholds.is_empty();
            rows.push(("Thresholds of the audit", text(&if none { "none".into() } else { thresholds.join(", ") })));
            rows.push(("The attacker knows", text(&list(&facts.attacker))));
        }
        if let Some(limits) = &facts.limits {
            rows.push(("Limits of the attacks", text(&limits.words())));
        }
        if let Some(governance) = &self.report.governance {
            governance.limits.iter().for_each(|limit| rows.push(("Limit", text(&clip(limit, 240)))));
            if let Some(reason) = &governance.accepted_risk {
                rows.push(("Accepted risk, and why", text(&clip(reason, 1000))));
            }
        }
        for (name, hash) in [
            ("Policy, SHA-256", &facts.policy_sha256),
            ("Seed commitment", &facts.seed_commitment),
            ("Ledger head", &facts.ledger_head),
        ] {
            if let Some(hash) = hash.as_ref().filter(|hash| !hash.is_empty()) {
                rows.push((name, html! { span class="hash" translate="no" { (clip(hash, 128)) } }));
            }
        }
        rows.push(("Software", parts::data(&facts.software)));
        let body = html! {
            (parts::facts(&rows))
            @if !facts.notes.is_empty() {
                h3 { "How the input was read" }
                (parts::bullets(&facts.notes, self.cap(60)))
            }
        };
        Some(Section { id: "policy", clause: "Data", title: "Policy, parameters, provenance", body })
    }

    /// The promise's sentence, word for word, and where it ends.
    pub(super) fn threat_model(&mut self) -> Option<Section> {
        let report = self.report;
        let body = html! {
            @match &report.series.promise {
                Some(promise) => blockquote { (promise.sentence) },
                None => p {
                    "No promise is known for these releases. They were attacked as anyone could attack them."
                },
            }
            @if !report.assumptions.is_empty() {
                h3 { "What the verdict rests on" }
                (parts::bullets(&report.assumptions, self.cap(40)))
            }
            h3 { "What is not covered" }
            (parts::bullets(&report.not_covered, self.cap(60)))
        };
        Some(Section { id: "threat", clause: "Data", title: "The promise and its limits", body })
    }
}

/// What a column can hold. Bounds are written in every language as the data write them.
fn values(text: &str) -> Markup {
    let (bounds, rest) =
        text.strip_prefix('[').and_then(|inside| inside.find(')')).map_or(("", text), |end| text.split_at(end + 2));
    html! {
        @if !bounds.is_empty() { (parts::data(&clip(bounds, 120))) }
        (clip(rest, 120))
    }
}
