//! Mitigation: counterfeits, withheld people, and the utility of the releases.

use crate::measure::CountErrors;
use crate::report::html::parts::{N, TableColumn, W, row};
use crate::report::html::plots::Phrase;
use crate::report::html::{Page, Section, parts, plots};
use crate::report::words::{clip, decimal, number, percent};
use maud::{Markup, html};

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
        let columns: [TableColumn; 9] = [
            ("No.", N),
            ("Label", W),
            ("Artificial rows", N),
            ("Of all rows", N),
            ("Withheld", N),
            ("Of the table", N),
            ("Arrived", N),
            ("Gone after", N),
            ("Waiting", N),
        ];
        let rows: Vec<Vec<Markup>> = report
            .releases
            .iter()
            .take(most)
            .map(|release| {
                let churn = private.and_then(|all| all.churn.iter().find(|churn| churn.release == release.number));
                let truth = private.and_then(|all| all.truth.iter().find(|truth| truth.release == release.number));
                let cell = |count: Option<u64>| count.map_or("–".to_string(), number);
                let share = truth.map(|truth| percent(truth.withheld as f64 / truth.people.max(1) as f64));
                row![
                    release.number,
                    parts::label(&release.label),
                    number(release.counterfeits),
                    percent(release.counterfeits as f64 / release.rows.max(1) as f64),
                    cell(truth.map(|truth| truth.withheld)),
                    share.as_deref().unwrap_or("–"),
                    cell(churn.map(|churn| churn.arrived)),
                    cell(churn.map(|churn| churn.last_published)),
                    cell(churn.map(|churn| churn.waiting_since)),
                ]
            })
            .collect();
        let keep = [(4, has_truth), (5, has_truth), (6, has_churn), (7, has_churn), (8, has_churn)];
        let body = html! {
            p {
                "Artificial rows (counterfeits) replace people who left, or add values that are too rare. How many each group \
                 has is published; " code { "row_weight" } " counts people without them."
            }
            (parts::table_without(&columns, rows, &keep, report.releases.len().saturating_sub(most)))
            @if has_truth || has_churn {
                p class="soft small" {
                    @if has_truth {
                        "Withheld: people of the private table who were left out of that release; – where the table is not at \
                         hand. "
                    }
                    @if has_churn {
                        "Arrived: people first seen then. Gone after: people in this release and in none since. Waiting: people of the last \
                         snapshot who are not in the last release and have waited since this one. People who left meanwhile \
                         are not counted."
                    }
                }
            }
        };
        let title = if has_truth || has_churn { "Artificial and withheld rows" } else { "Artificial rows" };
        Some(Section { id: "added", clause: "Mitigation", title, body })
    }

    /// Precision per attribute, the usual loss measures, and the error of count queries.
    pub(super) fn utility(&mut self) -> Option<Section> {
        let releases = &self.report.releases;
        let last = releases.last()?;
        let attributes = &last.loss.attributes[..last.loss.attributes.len().min(MOST_ATTRIBUTES)];
        let mut description = vec![Phrase::said("Precision of each attribute; in the last release: ")];
        for (at, attribute) in attributes.iter().enumerate() {
            description.extend((at > 0).then(|| Phrase::said(", ")));
            description.push(Phrase::data(&attribute.name));
            description.push(Phrase::said(format!(" {}", percent(attribute.precision))));
        }
        let caption = self.caption("Precision per attribute", description);
        // As many releases as a line can show.
        let drawn = &releases[releases.len().saturating_sub(200)..];
        let shares: Vec<(&str, f64)> =
            attributes.iter().map(|attribute| (attribute.name.as_str(), attribute.precision)).collect();
        let body = html! {
            h3 { "Precision per attribute" }
            figure {
                @if releases.len() > 1 {
                    (plots::precision(drawn, attributes.len().min(8), &caption))
                } @else {
                    (plots::shares(&shares, &caption))
                }
                figcaption { "100 %: every value is exact. 0 %: nothing is said." }
            }
            (self.precision_table(attributes.len()))
            (self.loss_table())
            (self.queries())
        };
        Some(Section { id: "utility", clause: "Mitigation", title: "What the releases still say", body })
    }

    fn precision_table(&self, shown: usize) -> Markup {
        let releases = &self.report.releases;
        let names = releases.last().map_or(&[][..], |last| &last.loss.attributes[..shown]);
        html! {
            details {
                summary { "The same in numbers" }
                div class="scroll" { table {
                    thead { tr {
                        th scope="col" { "Release" }
                        @for attribute in names { th scope="col" class="n" translate="no" { (clip(&attribute.name, 40)) } }
                    } }
                    tbody {
                        @for release in releases.iter().take(self.cap(100)) {
                            tr {
                                td translate="no" { (clip(&release.label, 60)) }
                                @for attribute in release.loss.attributes.iter().take(shown) {
                                    td class="n" { (percent(attribute.precision)) }
                                }
                            }
                        }
                    }
                } }
            }
        }
    }

    fn loss_table(&self) -> Markup {
        let releases = &self.report.releases;
        let most = self.cap(200);
        let rows: Vec<Vec<Markup>> = releases
            .iter()
            .take(most)
            .map(|release| {
                let loss = &release.loss;
                row![
                    release.number,
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
        html! {
            h3 { "Loss" }
            (parts::table(&columns, &rows, releases.len().saturating_sub(most)))
        }
    }

    /// How far counts are off; nothing where this is not for the reader.
    fn queries(&mut self) -> Markup {
        let report = self.report;
        let Some(private) = &report.private else { return html! {} };
        let asked = private.truth.iter().filter_map(|truth| Some((truth, truth.query_error.as_ref()?)));
        let Some((last, error)) = asked.clone().next_back() else {
            return html! {
                h3 { "Accuracy of count queries" }
                p { "Not measured: no private table was at hand." }
            };
        };
        let shares = [("median", error.median), ("mean", error.mean), ("nine in ten within", error.ninth_decile)];
        let description = vec![Phrase::said(format!(
            "Relative error of {} random count queries: median {}, mean {}, nine in ten within {}.",
            number(u64::from(error.queries)),
            percent(error.median),
            percent(error.mean),
            percent(error.ninth_decile)
        ))];
        let caption = self.caption("Accuracy of count queries", description);
        let most = self.cap(200);
        let rows: Vec<Vec<Markup>> = asked
            .clone()
            .take(most)
            .map(|(truth, error)| {
                row![truth.release, percent(error.median), percent(error.mean), percent(error.ninth_decile)]
            })
            .collect();
        let columns = [("No.", N), ("Median error", N), ("Mean error", N), ("Nine in ten within", N)];
        html! {
            h3 { "Accuracy of count queries" }
            figure {
                (plots::shares(&shares, &caption))
                figcaption {
                    "Relative error of " (number(u64::from(error.queries))) " random count queries of expected selectivity "
                    (percent(error.selectivity)) " with a range on every attribute, on release " (last.release)
                    ", against its table."
                }
            }
            @if rows.len() > 1 { (parts::table(&columns, &rows, asked.count().saturating_sub(most))) }
            @if let Some(errors) = &last.count_errors { (simple_counts(errors, last.release)) }
        }
    }
}

/// How far counts of one and of two columns are off.
fn simple_counts(errors: &CountErrors, release: u32) -> Markup {
    let rows: Vec<Vec<Markup>> = errors
        .attributes
        .iter()
        .map(|column| row![column.name, percent(column.median), percent(column.ninth_decile)])
        .collect();
    html! {
        p {
            "Simple counts on release " (release) ": the median error is " (percent(errors.one))
            " for counts of one quasi column, and " (percent(errors.two)) " for counts of two columns."
            @if let Some((one, two)) = errors.without_counts {
                " Without the published counts it would be " (percent(one)) " and " (percent(two)) "."
            }
        }
        (parts::table(&[("Column", W), ("Median error", N), ("Nine in ten within", N)], &rows, 0))
    }
}
