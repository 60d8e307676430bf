//! Context: which data, which releases, for whom.

use crate::model::Role;
use crate::report::html::parts::{N, W};
use crate::report::html::plots::Caption;
use crate::report::html::{Page, Section, clip, escape, parts, plots};
use crate::report::words::{counted, number};

impl Page<'_> {
    /// A caption with a name of its own on the page.
    pub(super) fn caption(&mut self, title: &str, description: String) -> Caption {
        self.plots += 1;
        Caption { id: self.plots, title: title.into(), description }
    }

    /// The register of releases, with a bar each.
    pub(super) fn releases(&mut self) -> Option<Section> {
        let releases = &self.report.releases;
        let mut body = String::new();
        // One bar tells nothing.
        if releases.len() > 1 {
            body.push_str(&self.timeline());
        }
        let most = self.cap(200);
        let rows: Vec<Vec<String>> = releases
            .iter()
            .take(most)
            .map(|release| {
                let day = release.at.as_deref().map_or("", |at| at.split('T').next().unwrap_or(at));
                vec![
                    release.number.to_string(),
                    parts::label(&release.label),
                    parts::label(day),
                    number(release.rows),
                    number(release.people),
                    number(release.groups),
                ]
            })
            .collect();
        body.push_str("<h3>Register of releases</h3>\n");
        let columns = [("No.", N), ("Label", W), ("Published", W), ("Rows", N), ("People", N), ("Groups", N)];
        let dated = releases.iter().any(|release| release.at.is_some());
        body.push_str(&parts::table_without(&columns, rows, &[(2, dated)], releases.len().saturating_sub(most)));
        body.push_str(&self.digests());
        Some(Section { id: "releases", clause: "Context", title: "The data set and its releases", body })
    }

    fn timeline(&mut self) -> String {
        let releases = &self.report.releases;
        let numbers: Vec<String> =
            releases.iter().take(40).map(|release| format!("{}: {}", release.label, number(release.people))).collect();
        let description = format!("People in each release. {}", numbers.join("; "));
        let caption = self.caption("Timeline of the releases", description);
        let drawn = &releases[releases.len().saturating_sub(60)..];
        let added = match releases.iter().any(|release| release.counterfeits > 0) {
            true => " The light part on top is artificial rows.",
            false => "",
        };
        let skipped = match releases.len() - drawn.len() {
            0 => String::new(),
            count => format!(" The first {count} releases are not drawn."),
        };
        format!(
            "<figure>{}<figcaption>People in each release.{added}{skipped}</figcaption></figure>\n",
            plots::timeline(drawn, &caption)
        )
    }

    /// The SHA-256 of every file of every release.
    fn digests(&self) -> String {
        let releases = &self.report.releases;
        let all = releases.iter().flat_map(|release| release.files.iter().map(move |file| (release.number, file)));
        let most = self.cap(1000);
        let rows: Vec<Vec<String>> = all
            .clone()
            .take(most)
            .map(|(release, file)| {
                let (name, hash) = (escape(&clip(&file.name, 120)), escape(&clip(&file.sha256, 64)));
                vec![release.to_string(), name, format!("<span class=\"hash nw\">{hash}</span>")]
            })
            .collect();
        if rows.is_empty() {
            return String::new();
        }
        let columns = [("No.", N), ("File", W), ("SHA-256", W)];
        let table = parts::table(&columns, &rows, all.count().saturating_sub(most));
        format!("<details><summary>SHA-256 of every file</summary>{table}</details>\n")
    }

    /// What only people know: why, for whom, under which conditions.
    pub(super) fn environment(&mut self) -> Option<Section> {
        if !self.is_signed() {
            return None;
        }
        let line = || "<span class=\"fill\"></span>".to_string();
        let mut body = String::from(
            "<p>To be filled in by the person who answers for the release. Whether someone can be identified depends on who \
             holds the data and on what else they can reasonably get.</p>\n",
        );
        body.push_str(&parts::facts(&[
            ("Purpose of the release", line()),
            ("Recipients of each release", line()),
            ("Environment (public, under contract, secure room)", line()),
            ("Contract and technical controls", line()),
            ("Other data that recipients can reasonably get", line()),
            ("Unit of privacy", format!("one person; {}", self.unit())),
        ]));
        Some(Section { id: "environment", clause: "Context", title: "Purpose, recipients, environment", body })
    }

    fn unit(&self) -> String {
        let identifiers = self.report.series.columns.iter().filter(|column| column.role == Role::Identifier);
        let names: Vec<String> =
            identifiers.map(|column| format!("<code>{}</code>", escape(&clip(&column.name, 80)))).collect();
        match names.len() {
            0 => "as the rows of the releases tell people apart".into(),
            count => format!("told apart by {} {}", counted(count as u64, "column,", "columns,"), names.join(", ")),
        }
    }
}
