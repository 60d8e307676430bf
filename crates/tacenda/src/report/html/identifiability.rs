//! Identifiability: how exposed people are in each release, in numbers and pictures.

use crate::report::html::parts::{N, W};
use crate::report::html::{Page, Section, clip, escape, parts, plots};
use crate::report::sequence::not_counted;
use crate::report::words::{counted, no_line, number, percent};
use crate::report::{Edition, ReleaseFacts, RiskKind};

/// Least group sizes that are in use, and where. Kept as sizes: 1/11 is more than 0.09.
const HABITS: [(u32, &str); 5] = [
    (3, "smallest in use"),
    (5, "the habit of five"),
    (11, "public use: EMA, Health Canada, CMS"),
    (15, "between"),
    (20, "sensitive data for the public"),
];

/// The most releases that are drawn one by one.
const MOST_PANELS: usize = 12;

impl Page<'_> {
    /// Each release alone: numbers, risk, group sizes, regions.
    pub(super) fn risk(&mut self) -> Option<Section> {
        let mut body = self.risk_table();
        let drawn = drawn(&self.report.releases);
        let one_in = self.report.series.promise.as_ref().and_then(|promise| promise.one_in);
        let what = match self.report.series.risk {
            RiskKind::Inference => {
                "How likely someone who knows a person's group guesses their sensitive value: the share of the group's most \
                 frequent value"
            }
            RiskKind::Identity => {
                "How likely someone who knows a person's quasi-identifiers guesses their row: one over the people of the group"
            }
        };
        let line = one_in.map_or(String::new(), |one_in| {
            format!(
                " The dashed line is what the promise allows: 1 in {one_in}. Bars beyond it would have another colour."
            )
        });
        body.push_str("<h3>Risk within each release</h3><figure><div class=\"panels\">\n");
        for release in &drawn {
            let counts: Vec<String> = release
                .risk_classes
                .iter()
                .enumerate()
                .filter(|(_, count)| **count > 0)
                .map(|(at, count)| format!("up to {}: {}", percent((at + 1) as f64 / 20.0), number(*count)))
                .collect();
            let caption = self.caption("Risk distribution", format!("People by risk. {}", counts.join("; ")));
            body.push_str(&panel(&release.label, &plots::risk(&release.risk_classes, one_in, &caption)));
        }
        body.push_str(&format!("</div><figcaption>{what}. Height: people.{line}</figcaption></figure>\n"));
        body.push_str(&self.sizes(&drawn, one_in));
        body.push_str(&self.picture());
        Some(Section { id: "risk", clause: "Identifiability", title: "Risk, release by release", body })
    }

    fn risk_table(&mut self) -> String {
        let (k, l) = (self.report.provenance.k, self.report.provenance.l);
        let releases = &self.report.releases;
        let most = self.cap(200);
        let row = |name: String, label: String, risk: &crate::report::RiskFacts, people: u64| {
            vec![
                name,
                label,
                number(u64::from(risk.smallest_group)),
                percent(risk.highest_identity),
                percent(risk.mean_identity),
                format!(
                    "{} ({})",
                    number(risk.people_below_k),
                    percent(risk.people_below_k as f64 / people.max(1) as f64)
                ),
                number(u64::from(risk.fewest_values)),
                number(risk.people_below_l),
                percent(risk.highest_share),
            ]
        };
        let rows: Vec<Vec<String>> = releases
            .iter()
            .take(most)
            .map(|release| {
                let label = parts::label(&release.label);
                row(release.number.to_string(), label, &release.risk, release.people)
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
        // A line of 1 is none: nothing falls below it.
        let keep = [(5, k > 1), (7, l > 1)];
        let mut body = parts::table_without(&columns, rows, &keep, releases.len().saturating_sub(most));
        let below_k =
            if k > 1 { format!(" Below k: people in groups of fewer than {k} people.") } else { String::new() };
        let below_l =
            if l > 1 { format!(" Below l: people in groups of fewer than {l} values.") } else { String::new() };
        body.push_str(&format!(
            "<p class=\"soft small\">Highest and mean risk: of being singled out, one over the people of the group (prosecutor \
             risk).{below_k}{below_l} Largest share: of one sensitive value in a group. What follows from comparing releases \
             stands under attacks.</p>\n"
        ));
        body.push_str(&self.before());
        body.push_str(&self.together());
        if self.report.edition != Edition::Recipient {
            body.push_str(&self.habits());
        }
        body
    }

    /// What publishing the tables as they are would have risked.
    fn before(&self) -> String {
        let Some(private) = self.report.private.as_ref().filter(|private| !private.truth.is_empty()) else {
            return String::new();
        };
        let most = self.cap(200);
        let rows: Vec<Vec<String>> = private
            .truth
            .iter()
            .take(most)
            .map(|truth| {
                let after = self.report.releases.iter().find(|release| release.number == truth.release);
                let after = |pick: fn(&crate::report::RiskFacts) -> f64| {
                    after.map_or("–".to_string(), |release| percent(pick(&release.risk)))
                };
                vec![
                    truth.release.to_string(),
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
        let table = parts::table(&columns, &rows, private.truth.len().saturating_sub(most));
        format!(
            "<h3>Risk before and after</h3>\n{table}<p class=\"soft small\">Before: by the exact quasi-identifiers of the private \
             table, had it been published as it is. Its sensitive values would then be known of everyone who is singled \
             out.</p>\n"
        )
    }

    /// All releases together.
    fn together(&self) -> String {
        let sequence = &self.report.sequence;
        let below_k = match self.report.provenance.k {
            0..=1 => no_line(self.report.series.promise.is_some()).to_string(),
            _ => percent(sequence.share_below_k),
        };
        let mut rows: Vec<(&str, String)> = vec![
            ("Highest risk of being singled out in any release (prosecutor)", percent(sequence.highest_identity)),
            ("Mean risk (prosecutor; also marketer)", percent(sequence.mean_identity)),
            ("Appearances of people in groups below k", below_k),
            ("Largest share of a value in a group of any release", percent(sequence.highest_share)),
        ];
        if let Some(fewest) = sequence.smallest_candidates {
            rows.push(("Fewest values possible for a person after comparing all", fewest.to_string()));
        }
        if let Some(largest) = sequence.largest_posterior {
            let (looked_at, of) = sequence.posterior_of;
            let counted = format!("{} ({} of {} people counted)", percent(largest), number(looked_at), number(of));
            rows.push(("Largest probability of a value, as the promise counts", counted));
        } else if sequence.posterior_of.1 > 0 {
            let why = not_counted(sequence.posterior_of.1);
            rows.push(("Largest probability of a value, as the promise counts", why));
        }
        if let Some(largest) = sequence.largest_posterior_blind {
            rows.push(("Largest probability of a value, counting blindly", percent(largest)));
        }
        if let Some(least) = sequence.least_alike {
            rows.push(("Fewest ids with the same regions in all releases (E)", number(u64::from(least))));
        }
        if let Some(least) = sequence.least_always_together {
            rows.push(("Fewest ids that were always in the same groups (H)", number(u64::from(least))));
        }
        format!(
            "<h3>All releases together</h3>\n{}<details><summary>What was not computed</summary>{}</details>\n",
            parts::facts(&rows),
            parts::bullets(&sequence.not_computed, 12)
        )
    }

    /// The smallest group held against sizes that others require.
    fn habits(&self) -> String {
        let smallest = self.report.releases.iter().map(|release| release.risk.smallest_group).min().unwrap_or(0);
        let rows: Vec<Vec<String>> = HABITS
            .iter()
            .map(|(least, whose)| {
                let verdict = if smallest >= *least { "met" } else { "not met" };
                vec![least.to_string(), format!("1 in {least}"), whose.to_string(), verdict.to_string()]
            })
            .collect();
        let columns = [("Least group", N), ("Risk", W), ("In use", W), ("Every release", W)];
        format!("<details><summary>Against thresholds in use</summary>{}</details>\n", parts::table(&columns, &rows, 0))
    }

    fn sizes(&mut self, drawn: &[&ReleaseFacts], one_in: Option<u32>) -> String {
        let least = one_in.filter(|_| self.report.series.risk == RiskKind::Identity);
        let mut body = String::from("<h3>Group sizes</h3><figure><div class=\"panels\">\n");
        for release in drawn {
            let counts: Vec<String> = release
                .group_sizes
                .iter()
                .filter(|bar| bar.count > 0)
                .map(|bar| match bar.from == bar.to {
                    true => format!("{} people: {}", bar.from, counted(bar.count, "group", "groups")),
                    false => format!("{} to {} people: {}", bar.from, bar.to, counted(bar.count, "group", "groups")),
                })
                .collect();
            let caption = self.caption("Group sizes", format!("Groups by number of people. {}", counts.join("; ")));
            body.push_str(&panel(&release.label, &plots::sizes(&release.group_sizes, least, &caption)));
        }
        body.push_str("</div><figcaption>How many groups have how many people; counterfeits are not counted.</figcaption></figure>\n");
        body
    }

    fn picture(&mut self) -> String {
        let report = self.report;
        let Some(picture) = &report.picture else { return String::new() };
        let mut body = String::from("<h3>The groups on two attributes</h3><figure><div class=\"panels wide\">\n");
        let most = self.cap(160);
        for panel_facts in &picture.panels {
            let drawn = panel_facts.boxes.len().min(most);
            let description = format!(
                "Regions of {} of {} groups: {} from left to right, {} from bottom to top.",
                number(drawn as u64),
                number(panel_facts.groups),
                picture.across,
                picture.up
            );
            let caption = self.caption("Picture of the partition", description);
            body.push_str(&panel(&panel_facts.label, &plots::regions(picture, panel_facts, most, &caption)));
        }
        let left_off = match picture.left_off {
            0 => String::new(),
            count => format!(" {} in between are not drawn.", counted(count as u64, "release", "releases")),
        };
        let sampled = if picture.panels.iter().any(|panel| panel.groups as usize > panel.boxes.len().min(most)) {
            " Of many groups an even sample is drawn."
        } else {
            ""
        };
        body.push_str(&format!(
            "</div><figcaption>Each box is the region a group is published with. The stronger the colour, the more groups lie over each \
             other.{sampled}{left_off}</figcaption></figure>\n"
        ));
        body
    }
}

fn panel(label: &str, plot: &str) -> String {
    format!("<div class=\"panel\"><h4>{}</h4>{plot}</div>\n", escape(&clip(label, 60)))
}

/// The releases that are drawn: all, or an even choice with the first and the last.
fn drawn(releases: &[ReleaseFacts]) -> Vec<&ReleaseFacts> {
    if releases.len() <= MOST_PANELS {
        return releases.iter().collect();
    }
    (0..MOST_PANELS).map(|panel| &releases[panel * (releases.len() - 1) / (MOST_PANELS - 1)]).collect()
}
