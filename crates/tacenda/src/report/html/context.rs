//! Context: which data, which releases, for whom.

use crate::model::Role;
use crate::report::html::parts::{N, W, row};
use crate::report::html::plots::{Caption, Phrase};
use crate::report::html::{Page, Section, parts, plots};
use crate::report::words::{clip, counted, number};
use maud::{Markup, html};

impl Page<'_> {
    /// A caption with a name of its own on the page.
    pub(super) fn caption(&mut self, title: &str, description: Vec<Phrase>) -> Caption {
        self.plots += 1;
        Caption { id: self.plots, title: title.into(), description }
    }

    /// The register of releases, with a bar each.
    pub(super) fn releases(&mut self) -> Option<Section> {
        let releases = &self.report.releases;
        let most = self.cap(200);
        let rows: Vec<Vec<Markup>> = releases
            .iter()
            .take(most)
            .map(|release| {
                row![
                    release.number,
                    parts::label(&release.label),
                    parts::label(release.at.as_deref().map_or("", day)),
                    number(release.rows),
                    number(release.people),
                    number(release.groups),
                ]
            })
            .collect();
        let columns = [("No.", N), ("Label", W), ("Published", W), ("Rows", N), ("People", N), ("Groups", N)];
        let dated = releases.iter().any(|release| release.at.is_some());
        let body = html! {
            // A single bar shows nothing.
            @if releases.len() > 1 { (self.timeline()) }
            h3 { "Register of releases" }
            (parts::table_without(&columns, rows, &[(2, dated)], releases.len().saturating_sub(most)))
            (self.digests())
        };
        Some(Section { id: "releases", clause: "Context", title: "The data set and its releases", body })
    }

    fn timeline(&mut self) -> Markup {
        let releases = &self.report.releases;
        let mut description = vec![Phrase::said("People in each release. ")];
        for (at, release) in releases.iter().take(40).enumerate() {
            description.extend((at > 0).then(|| Phrase::said("; ")));
            description.push(Phrase::data(&release.label));
            description.push(Phrase::said(format!(": {}", number(release.people))));
        }
        let caption = self.caption("Timeline of the releases", description);
        let drawn = &releases[releases.len().saturating_sub(60)..];
        let skipped = releases.len() - drawn.len();
        html! {
            figure {
                (plots::timeline(drawn, &caption))
                figcaption {
                    "People in each release."
                    @if releases.iter().any(|release| release.counterfeits > 0) {
                        " The light part on top is artificial rows."
                    }
                    @if skipped > 0 { " The first " (skipped) " releases are not drawn." }
                }
            }
        }
    }

    /// The SHA-256 of every file of every release.
    fn digests(&self) -> Markup {
        let releases = &self.report.releases;
        let all = releases.iter().flat_map(|release| release.files.iter().map(move |file| (release.number, file)));
        let most = self.cap(1000);
        let hash = |text: &str| html! { span class="hash nw" translate="no" { (clip(text, 64)) } };
        let rows: Vec<Vec<Markup>> = all
            .clone()
            .take(most)
            .map(|(at, file)| row![at, parts::data(&clip(&file.name, 120)), hash(&file.sha256)])
            .collect();
        let columns = [("No.", N), ("File", W), ("SHA-256", W)];
        html! {
            @if !rows.is_empty() {
                details {
                    summary { "SHA-256 of every file" }
                    (parts::table(&columns, &rows, all.count().saturating_sub(most)))
                }
            }
        }
    }

    /// What only people know: why, for whom, under which conditions.
    pub(super) fn environment(&mut self) -> Option<Section> {
        if !self.is_signed() {
            return None;
        }
        let declared = self.report.governance.as_ref().map_or(&[][..], |governance| &governance.declared);
        let said = |text: &str| {
            if text.is_empty() {
                parts::fill()
            } else {
                html! { (clip(text, 2000)) }
            }
        };
        let mut rows: Vec<(&str, Markup)> =
            declared.iter().map(|fact| (fact.name.as_str(), said(&fact.text))).collect();
        rows.push(("Unit of privacy", self.unit()));
        let body = html! {
            p {
                "Stated by the person responsible for the release, in the policy file or here. Whether someone can be \
                 identified depends on who holds the data and on what else they can reasonably get."
            }
            (parts::facts(&rows))
        };
        Some(Section { id: "environment", clause: "Context", title: "Purpose, recipients, environment", body })
    }

    fn unit(&self) -> Markup {
        let columns = self.report.series.columns.iter();
        let names: Vec<&str> =
            columns.filter(|column| column.role == Role::Identifier).map(|column| column.name.as_str()).collect();
        html! {
            "one person; "
            @if names.is_empty() {
                "as the rows of the releases distinguish people"
            } @else {
                "told apart by " (counted(names.len() as u64, "column", "columns"))
                @for name in names { ", " code { (clip(name, 80)) } }
            }
        }
    }
}

/// The day of a time.
pub(super) fn day(at: &str) -> &str {
    at.split('T').next().unwrap_or(at)
}
