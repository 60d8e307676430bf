//! Context: which data, which releases, for whom.

use crate::report::html::Page;
use crate::report::html::Section;
use crate::report::html::clip;
use crate::report::html::escape;
use crate::report::html::parts;
use crate::report::html::parts::N;
use crate::report::html::parts::W;
use crate::report::html::plots;
use crate::report::html::plots::Caption;
use crate::report::words::counted;
use crate::report::words::number;

impl Page<'_> {
    /// A caption with a name of its own on the page.
    pub(super) fn caption(&mut self, title: &str, description: String) -> Caption {
        self.plots += 1;
        Caption { id: self.plots, title: title.into(), description }
    }

    /// The register of releases, with a bar each.
    pub(super) fn releases(&mut self) -> Option<Section> {
        let releases = &self.report.releases;
        let numbers: Vec<String> =
            releases.iter().take(40).map(|release| format!("{}: {}", release.label, number(release.people))).collect();
        let description = format!("People in each release. {}", numbers.join("; "));
        let caption = self.caption("Timeline of the releases", description);
        let drawn = &releases[releases.len().saturating_sub(60)..];
        let mut body = String::from("<figure>");
        body.push_str(&plots::timeline(drawn, &caption));
        let added = if releases.iter().any(|release| release.counterfeits > 0) {
            " The light part on top is artificial rows."
        } else {
            ""
        };
        let skipped = match releases.len() - drawn.len() {
            0 => String::new(),
            count => format!(" The first {count} releases are not drawn."),
        };
        body.push_str(&format!("<figcaption>People in each release.{added}{skipped}</figcaption></figure>\n"));
        let most = self.cap(200);
        let rows: Vec<Vec<String>> = releases
            .iter()
            .take(most)
            .map(|release| {
                let files: Vec<String> = release
                    .files
                    .iter()
                    .take(12)
                    .map(|file| {
                        let (name, hash) = (escape(&clip(&file.name, 120)), escape(&clip(&file.sha256, 64)));
                        format!("{name}<br><span class=\"hash\">{hash}</span>")
                    })
                    .collect();
                vec![
                    release.number.to_string(),
                    escape(&clip(&release.label, 100)),
                    escape(release.at.as_deref().map_or("", |at| at.split('T').next().unwrap_or(at))),
                    number(release.rows),
                    number(release.people),
                    number(release.groups),
                    files.join("<br>"),
                ]
            })
            .collect();
        body.push_str("<h3>Register of releases</h3>\n");
        let columns = [
            ("No.", N),
            ("Label", W),
            ("Published", W),
            ("Rows", N),
            ("People", N),
            ("Groups", N),
            ("Files, SHA-256", W),
        ];
        let dated = releases.iter().any(|release| release.at.is_some());
        let filed = releases.iter().any(|release| !release.files.is_empty());
        body.push_str(&without_empty(&columns, rows, &[(2, dated), (6, filed)], releases.len().saturating_sub(most)));
        Some(Section { id: "releases", clause: "Context", title: "The data set and its releases", body })
    }

    /// What only people know: why, for whom, under which conditions.
    pub(super) fn environment(&mut self) -> Option<Section> {
        if !self.is_private() {
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
        let identifiers = self.report.series.columns.iter().filter(|column| column.role == "identifier");
        let names: Vec<String> =
            identifiers.map(|column| format!("<code>{}</code>", escape(&clip(&column.name, 80)))).collect();
        match names.len() {
            0 => "as the rows of the releases tell people apart".into(),
            count => format!("told apart by {} {}", counted(count as u64, "column,", "columns,"), names.join(", ")),
        }
    }
}

/// A table without the columns that hold nothing.
fn without_empty(columns: &[parts::Column], rows: Vec<Vec<String>>, keep: &[(usize, bool)], left_off: usize) -> String {
    let kept = |at: usize| keep.iter().all(|&(column, wanted)| column != at || wanted);
    let columns: Vec<parts::Column> =
        columns.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, column)| *column).collect();
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| row.into_iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, cell)| cell).collect())
        .collect();
    parts::table(&columns, &rows, left_off)
}
