//! Identifiability: how exposed people are in each release, in numbers and pictures.

use crate::report::html::parts::{N, W, row};
use crate::report::html::plots::Phrase;
use crate::report::html::{Page, Section, parts, plots};
use crate::report::words::{clip, counted, number, percent};
use crate::report::{Edition, ReleaseFacts, RiskFacts, RiskKind, sequence};
use maud::{Markup, html};

/// Least group sizes that are in use, and where. Kept as sizes: 1/11 is more than 0.09.
const HABITS: [(u32, &str); 5] = [
    (3, "smallest in use"),
    (5, "common practice"),
    (11, "public use: EMA, Health Canada, CMS"),
    (15, "between"),
    (20, "sensitive data for the public"),
];

/// The most releases that are drawn one by one.
const MOST_PANELS: usize = 12;

impl Page<'_> {
    /// Each release alone: numbers, risk, group sizes, regions.
    pub(super) fn risk(&mut self) -> Option<Section> {
        let drawn = drawn(&self.report.releases);
        let one_in = self.report.series.promise.as_ref().and_then(|promise| promise.one_in);
        let body = html! {
            (self.risk_table())
            (self.distribution(&drawn, one_in))
            (self.sizes(&drawn, one_in))
            (self.picture())
        };
        Some(Section { id: "risk", clause: "Identifiability", title: "Risk, release by release", body })
    }

    fn distribution(&mut self, drawn: &[&ReleaseFacts], one_in: Option<u32>) -> Markup {
        html! {
            h3 { "Risk within each release" }
            figure {
                div class="panels" {
                    @for release in drawn {
                        @let counts: Vec<String> = release
                            .risk_classes
                            .iter()
                            .enumerate()
                            .filter(|(_, count)| **count > 0)
                            .map(|(at, count)| format!("up to {}: {}", percent((at + 1) as f64 / 20.0), number(*count)))
                            .collect();
                        @let description = vec![Phrase::said(format!("People by risk. {}", counts.join("; ")))];
                        @let caption = self.caption("Risk distribution", description);
                        (panel(&release.label, plots::risk(&release.risk_classes, one_in, &caption)))
                    }
                }
                figcaption {
                    @match self.report.series.risk {
                        RiskKind::Inference => {
                            "How likely a reader who knows a person's group guesses their sensitive value: the share \
                             of the group's most frequent value"
                        }
                        RiskKind::Identity => {
                            "How likely a reader who knows a person's quasi-identifiers guesses their row: one divided \
                             by the people of the group"
                        }
                    }
                    ". Height: people."
                    @if let Some(one_in) = one_in {
                        " The dashed line is what the promise allows: 1 in " (one_in) ". Bars beyond it would have another colour."
                    }
                }
            }
        }
    }

    fn risk_table(&mut self) -> Markup {
        let (k, l) = (self.report.provenance.k, self.report.provenance.l);
        let releases = &self.report.releases;
        let most = self.cap(200);
        let rows: Vec<Vec<Markup>> = releases
            .iter()
            .take(most)
            .map(|release| {
                let risk = &release.risk;
                let share = risk.people_below_k as f64 / release.people.max(1) as f64;
                row![
                    release.number,
                    parts::label(&release.label),
                    number(u64::from(risk.smallest_group)),
                    percent(risk.highest_identity),
                    percent(risk.mean_identity),
                    format!("{} ({})", number(risk.people_below_k), percent(share)),
                    number(u64::from(risk.fewest_values)),
                    number(risk.people_below_l),
                    percent(risk.highest_share),
                ]
            })
            .collect();
        let columns = [
            ("No.", N),
            ("Label", W),
            ("Smallest group", N),
            ("Highest risk", N),
            ("Mean risk", N),
            ("Below k", N),
            ("Fewest values", N),
            ("Below l", N),
            ("Largest share", N),
        ];
        // A threshold of 1 is none: nothing falls below it.
        let has_values = self.report.has_values();
        let keep = [(5, k > 1), (6, has_values), (7, l > 1 && has_values), (8, has_values)];
        html! {
            (parts::table_without(&columns, rows, &keep, releases.len().saturating_sub(most)))
            p class="soft small" {
                "Highest and mean risk of being singled out: one divided by the people of the group (prosecutor risk)."
                @if k > 1 { " Below k: people in groups of fewer than " (k) " people." }
                @if l > 1 && has_values { " Below l: people in groups of fewer than " (l) " values." }
                @if has_values { " Largest share: of one sensitive value in a group." }
                " The section on attacks says what comparing releases adds."
            }
            @for suppressed in releases.iter().take(most).filter_map(ReleaseFacts::suppressed_in_words) {
                p class="small" { (suppressed) }
            }
            (self.before())
            (self.together())
            @if self.report.edition != Edition::Recipient { (self.habits()) }
        }
    }

    /// What publishing the tables as they are would have risked.
    fn before(&self) -> Markup {
        let Some(private) = self.report.private.as_ref().filter(|private| !private.truth.is_empty()) else {
            return html! {};
        };
        let most = self.cap(200);
        let rows: Vec<Vec<Markup>> = private
            .truth
            .iter()
            .take(most)
            .map(|truth| {
                let after = self.report.releases.iter().find(|release| release.number == truth.release);
                let after = |pick: fn(&RiskFacts) -> f64| {
                    after.map_or("–".to_string(), |release| percent(pick(&release.risk)))
                };
                row![
                    truth.release,
                    number(truth.before.unique),
                    percent(truth.before.highest_identity),
                    after(|risk| risk.highest_identity),
                    percent(truth.before.mean_identity),
                    after(|risk| risk.mean_identity),
                ]
            })
            .collect();
        let columns = [
            ("No.", N),
            ("Unique before", N),
            ("Highest risk before", N),
            ("after", N),
            ("Mean risk before", N),
            ("after", N),
        ];
        html! {
            h3 { "Risk before and after" }
            (parts::table(&columns, &rows, private.truth.len().saturating_sub(most)))
            p class="soft small" {
                "Before: by the exact quasi-identifiers of the private table, had it been published as it is. The \
                 sensitive value of everyone who is singled out would then be known."
            }
        }
    }

    /// All releases together.
    fn together(&self) -> Markup {
        let rows: Vec<(&str, Markup)> =
            sequence::rows(self.report).into_iter().map(|(name, value)| (name, html! { (value) })).collect();
        html! {
            h3 { "All releases together" }
            (parts::facts(&rows))
            details {
                summary { "What was not computed" }
                (parts::bullets(&self.report.sequence.not_computed, 12))
            }
        }
    }

    /// The smallest group, compared with sizes that others require.
    fn habits(&self) -> Markup {
        let smallest = self.report.releases.iter().map(|release| release.risk.smallest_group).min().unwrap_or(0);
        let met = |least: u32| if smallest >= least { "met" } else { "not met" };
        let rows: Vec<Vec<Markup>> =
            HABITS.iter().map(|&(least, whose)| row![least, format!("1 in {least}"), whose, met(least)]).collect();
        let columns = [("Least group", N), ("Risk", W), ("In use", W), ("Every release", W)];
        html! {
            details {
                summary { "Against thresholds in use" }
                (parts::table(&columns, &rows, 0))
            }
        }
    }

    fn sizes(&mut self, drawn: &[&ReleaseFacts], one_in: Option<u32>) -> Markup {
        let least = one_in.filter(|_| self.report.series.risk == RiskKind::Identity);
        html! {
            h3 { "Group sizes" }
            figure {
                div class="panels" {
                    @for release in drawn {
                        @let counts: Vec<String> =
                            release.group_sizes.iter().filter(|bar| bar.count > 0).map(plots::bar_in_words).collect();
                        @let description = vec![Phrase::said(format!("Groups by number of people. {}", counts.join("; ")))];
                        @let caption = self.caption("Group sizes", description);
                        (panel(&release.label, plots::sizes(&release.group_sizes, least, &caption)))
                    }
                }
                figcaption { "How many groups have how many people; counterfeits are not counted." }
            }
        }
    }

    fn picture(&mut self) -> Markup {
        let report = self.report;
        let Some(picture) = &report.picture else { return html! {} };
        let most = self.cap(160);
        html! {
            h3 { "The groups on two attributes" }
            figure {
                div class="panels wide" {
                    @for facts in &picture.panels {
                        @let (drawn, of) = (number(facts.boxes.len().min(most) as u64), number(facts.groups));
                        @let description = vec![
                            Phrase::said(format!("Regions of {drawn} of {of} groups: ")),
                            Phrase::data(&picture.across),
                            Phrase::said(" from left to right, "),
                            Phrase::data(&picture.up),
                            Phrase::said(" from bottom to top."),
                        ];
                        @let caption = self.caption("Picture of the partition", description);
                        (panel(&facts.label, plots::regions(picture, facts, most, &caption)))
                    }
                }
                figcaption {
                    "Each box is the region a group is published with. The stronger the colour, the more groups overlap."
                    @if picture.panels.iter().any(|panel| panel.groups as usize > panel.boxes.len().min(most)) {
                        " Of many groups an even sample is drawn."
                    }
                    @if picture.left_off > 0 {
                        " " (counted(picture.left_off as u64, "release", "releases")) " in between are not drawn."
                    }
                }
            }
        }
    }
}

fn panel(label: &str, plot: Markup) -> Markup {
    html! { div class="panel" { h4 translate="no" { (clip(label, 60)) } (plot) } }
}

/// The releases that are drawn: all, or an even choice with the first and the last.
fn drawn(releases: &[ReleaseFacts]) -> Vec<&ReleaseFacts> {
    if releases.len() <= MOST_PANELS {
        return releases.iter().collect();
    }
    (0..MOST_PANELS).map(|panel| &releases[panel * (releases.len() - 1) / (MOST_PANELS - 1)]).collect()
}
