//! Mitigation: what was added and left out, and what the releases still say.

use crate::report::html::parts::{Column, N, W};
use crate::report::html::{Page, Section, clip, escape, parts, plots};
use crate::report::words::{decimal, number, percent};
use crate::report::{QueryErrorFacts, TruthFacts};

/// The most attributes that are drawn or listed.
const MOST_ATTRIBUTES: usize = 12;

impl Page<'_> {
    /// Artificial rows; for the steward also who came, went and was left out.
    pub(super) fn added_and_left_out(&mut self) -> Option<Section> {
        let report = self.report;
        let most = self.cap(200);
        let private = report.private.as_ref();
        let has_churn = private.is_some_and(|private| !private.churn.is_empty());
        let has_truth = private.is_some_and(|private| !private.truth.is_empty());
        let columns: [Column; 9] = [
            ("No.", N),
            ("Label", W),
            ("Artificial rows", N),
            ("Of all rows", N),
            ("Withheld", N),
            ("Of the table", N),
            ("Arrived", N),
            ("Last published", N),
            ("Waiting since", N),
        ];
        let rows: Vec<Vec<String>> = report
            .releases
            .iter()
            .take(most)
            .map(|release| {
                let churn = private.and_then(|all| all.churn.iter().find(|churn| churn.release == release.number));
                let truth = private.and_then(|all| all.truth.iter().find(|truth| truth.release == release.number));
                let cell = |count: Option<u64>| count.map_or("–".to_string(), number);
                let share = truth.map(|truth| percent(truth.withheld as f64 / truth.people.max(1) as f64));
                vec![
                    release.number.to_string(),
                    parts::label(&release.label),
                    number(release.counterfeits),
                    percent(release.counterfeits as f64 / release.rows.max(1) as f64),
                    cell(truth.map(|truth| truth.withheld)),
                    share.unwrap_or_else(|| "–".to_string()),
                    cell(churn.map(|churn| churn.arrived)),
                    cell(churn.map(|churn| churn.last_published)),
                    cell(churn.map(|churn| churn.waiting_since)),
                ]
            })
            .collect();
        let mut body = String::from(
            "<p>Artificial rows (counterfeits) stand in for people who left or for values that are too rare. How many each group \
             has is published; <code>row_weight</code> counts people without them.</p>\n",
        );
        let keep = [(4, has_truth), (5, has_truth), (6, has_churn), (7, has_churn), (8, has_churn)];
        body.push_str(&parts::table_without(&columns, rows, &keep, report.releases.len().saturating_sub(most)));
        let mut legend = Vec::new();
        if has_truth {
            legend.push("Withheld: people of the private table who were left out of that release; – where the table is not at hand.");
        }
        if has_churn {
            legend.push(
                "Arrived: people first seen then. Last published: people published there and not again so far. Waiting since: \
                 people of the last snapshot who are not in the last release, by the release since which they wait; people who \
                 left meanwhile are not counted.",
            );
        }
        if !legend.is_empty() {
            body.push_str(&format!("<p class=\"soft small\">{}</p>\n", legend.join(" ")));
        }
        let title = if has_truth || has_churn { "Artificial and withheld rows" } else { "Artificial rows" };
        Some(Section { id: "added", clause: "Mitigation", title, body })
    }

    /// Precision per attribute, the usual loss measures, and the error of count queries.
    pub(super) fn utility(&mut self) -> Option<Section> {
        let releases = &self.report.releases;
        let last = releases.last()?;
        let shown = last.loss.attributes.len().min(MOST_ATTRIBUTES);
        let words: Vec<String> = last.loss.attributes[..shown]
            .iter()
            .map(|attribute| format!("{} {}", attribute.name, percent(attribute.precision)))
            .collect();
        let description = format!("Precision of each attribute; in the last release: {}", words.join(", "));
        let caption = self.caption("Precision per attribute", description);
        let mut body = String::from("<h3>Precision per attribute</h3><figure>");
        if releases.len() > 1 {
            body.push_str(&plots::precision(releases_drawn(releases), shown.min(8), &caption));
        } else {
            let rows: Vec<(String, f64, String)> = last.loss.attributes[..shown]
                .iter()
                .map(|attribute| (attribute.name.clone(), attribute.precision, percent(attribute.precision)))
                .collect();
            body.push_str(&plots::shares(&rows, &caption));
        }
        body.push_str("<figcaption>100 %: every value is exact. 0 %: nothing is said.</figcaption></figure>\n");
        body.push_str(&self.precision_table(shown));
        body.push_str(&self.loss_table());
        body.push_str(&self.queries());
        Some(Section { id: "utility", clause: "Mitigation", title: "What the releases still say", body })
    }

    fn precision_table(&self, shown: usize) -> String {
        let releases = &self.report.releases;
        let most = self.cap(100);
        let names = releases.last().map_or(&[][..], |last| &last.loss.attributes[..shown]);
        let mut out = String::from(
            "<details><summary>The same in numbers</summary><div class=\"scroll\"><table><thead><tr><th scope=\"col\">Release</th>",
        );
        for attribute in names {
            out.push_str(&format!("<th scope=\"col\" class=\"n\">{}</th>", escape(&clip(&attribute.name, 40))));
        }
        out.push_str("</tr></thead><tbody>\n");
        for release in releases.iter().take(most) {
            out.push_str(&format!("<tr><td>{}</td>", escape(&clip(&release.label, 60))));
            for attribute in release.loss.attributes.iter().take(shown) {
                out.push_str(&format!("<td class=\"n\">{}</td>", percent(attribute.precision)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div></details>\n");
        out
    }

    fn loss_table(&self) -> String {
        let releases = &self.report.releases;
        let most = self.cap(200);
        let rows: Vec<Vec<String>> = releases
            .iter()
            .take(most)
            .map(|release| {
                let loss = &release.loss;
                vec![
                    release.number.to_string(),
                    parts::label(&release.label),
                    percent(loss.leaf_share),
                    decimal(loss.information_loss_per_person),
                    number(loss.discernability),
                    decimal(loss.c_avg),
                ]
            })
            .collect();
        let columns = [
            ("No.", N),
            ("Label", W),
            ("Left open (NCP)", N),
            ("Information loss a person", N),
            ("Discernability", N),
            ("C_avg", N),
        ];
        format!("<h3>Loss</h3>\n{}", parts::table(&columns, &rows, releases.len().saturating_sub(most)))
    }

    /// How far counts are off; nothing where this is not for the reader.
    fn queries(&mut self) -> String {
        let report = self.report;
        let Some(private) = &report.private else { return String::new() };
        let asked = private.truth.iter().filter_map(|truth| Some((truth, truth.query_error.as_ref()?)));
        let Some((last, error)) = asked.clone().next_back() else {
            return "<h3>Accuracy of count queries</h3><p>Not measured: no private table was at hand.</p>\n".into();
        };
        let rows = [("median", error.median), ("mean", error.mean), ("nine in ten within", error.ninth_decile)];
        let rows: Vec<(String, f64, String)> =
            rows.map(|(word, share)| (word.to_string(), share, percent(share))).into();
        let description = format!(
            "Relative error of {} random count queries: median {}, mean {}, nine in ten within {}.",
            number(u64::from(error.queries)),
            percent(error.median),
            percent(error.mean),
            percent(error.ninth_decile)
        );
        let caption = self.caption("Accuracy of count queries", description);
        let mut out = format!(
            "<h3>Accuracy of count queries</h3><figure>{}<figcaption>Relative error of {} random count queries of expected \
             selectivity {} with a range on every attribute, on release {}, against its table.</figcaption></figure>\n",
            plots::shares(&rows, &caption),
            number(u64::from(error.queries)),
            percent(error.selectivity),
            last.release
        );
        if asked.clone().count() > 1 {
            let most = self.cap(200);
            let row = |(truth, error): (&TruthFacts, &QueryErrorFacts)| {
                let (median, mean, nine) = (error.median, error.mean, error.ninth_decile);
                vec![truth.release.to_string(), percent(median), percent(mean), percent(nine)]
            };
            let rows: Vec<Vec<String>> = asked.clone().take(most).map(row).collect();
            let columns = [("No.", N), ("Median error", N), ("Mean error", N), ("Nine in ten within", N)];
            out.push_str(&parts::table(&columns, &rows, asked.count().saturating_sub(most)));
        }
        out
    }
}

/// The last releases, as many as a line can show.
fn releases_drawn(releases: &[crate::report::ReleaseFacts]) -> &[crate::report::ReleaseFacts] {
    &releases[releases.len().saturating_sub(200)..]
}
