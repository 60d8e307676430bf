//! A report for a terminal: what `tacenda audit` prints.

use crate::audit::{Severity, VerdictWord};
use crate::report::sequence::not_counted;
use crate::report::words::{MATCHED, counted, decimal, list, no_threshold, number, people, percent};
use crate::report::{ChurnFacts, Decision, FindingFacts, ReleaseFacts, Report, StepFacts, StoryFacts, TruthFacts};
use std::fmt::Write;

/// How a text is laid out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct TextOptions {
    /// Mark verdicts with colour.
    pub color: bool,
    /// Print what was measured below each check.
    pub measures: bool,
}

/// The most findings of one kind that are printed; the rest is counted.
const MOST_FINDINGS: usize = 20;

/// The most groups of a step that are printed.
const MOST_GROUPS: usize = 3;

/// The report as text.
pub fn text(report: &Report, options: TextOptions) -> String {
    let mut page = Page { out: String::new(), options };
    page.verdict(report);
    if let Some(story) = &report.story {
        page.story(story);
    }
    page.alone(report);
    page.together(report);
    page.checks(report);
    page.private(report);
    page.rests(report);
    page.identifying(report);
    page.signing(report);
    page.out
}

struct Page {
    out: String,
    options: TextOptions,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    fn heading(&mut self, text: &str) {
        let _ = writeln!(self.out, "\n{}", self.painted(text, "1"));
    }

    fn painted(&self, text: &str, paint: &str) -> String {
        if self.options.color { format!("\u{1b}[{paint}m{text}\u{1b}[0m") } else { text.to_string() }
    }

    fn verdict(&mut self, report: &Report) {
        let paint = match report.verdict.decision {
            Decision::Fail => "1;31",
            Decision::NotAssessed | Decision::NotPromised | Decision::NotAsked => "1;33",
            Decision::Pass | Decision::PassAssuming => "1;32",
        };
        let word = self.painted(report.verdict.decision.words(), paint);
        self.wrapped("", &format!("{word}: {}", report.verdict.sentence));
        if let Some(promise) = &report.series.promise {
            self.wrapped("  ", &format!("Promised ({}): {}", promise.model, promise.in_short));
        }
    }

    fn alone(&mut self, report: &Report) {
        self.heading("Each release alone");
        let width = report.releases.iter().map(|release| release.label.chars().count()).max().unwrap_or(0).clamp(5, 24);
        self.line(&format!(
            "  {:>3}  {:<width$} {:>10} {:>10} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9}",
            "", "label", "people", "artificial", "groups", "smallest", "values", "share", "below k", "below l"
        ));
        let (k, l) = (report.provenance.k, report.provenance.l);
        // Nobody falls below a threshold of one, so a zero there would look like a pass.
        let below = |line: u32, count: u64| if line > 1 { number(count) } else { "–".to_string() };
        for release in &report.releases {
            let risk = &release.risk;
            let of_values = |text: String| if release.has_values() { text } else { "–".to_string() };
            self.line(&format!(
                "  {:>3}  {:<width$} {:>10} {:>10} {:>9} {:>9} {:>8} {:>8} {:>9} {:>9}",
                release.number,
                release.label,
                number(release.people),
                number(release.counterfeits),
                number(release.groups),
                number(u64::from(risk.smallest_group)),
                of_values(number(u64::from(risk.fewest_values))),
                of_values(percent(risk.highest_share)),
                below(k, risk.people_below_k),
                of_values(below(l, risk.people_below_l)),
            ));
        }
        let no_threshold = no_threshold(report.series.promise.is_some());
        let below = match (k > 1, l > 1) {
            (true, true) => format!("below k, below l: people in groups of fewer than {k} people or {l} values."),
            (true, false) => format!("below k: people in groups of fewer than {k} people. below l: {no_threshold}."),
            (false, true) => format!("below k: {no_threshold}. below l: people in groups of fewer than {l} values."),
            (false, false) => format!("below k, below l: {no_threshold}."),
        };
        self.wrapped(
            "  ",
            &format!(
                "smallest: people in the smallest group. values, share: the fewest values in a group and the largest \
                 share of a value in a group. {below}"
            ),
        );
        for suppressed in report.releases.iter().filter_map(ReleaseFacts::suppressed_in_words) {
            self.wrapped("  ", &suppressed);
        }
        self.findings(report.findings.iter().filter(|finding| finding.others.is_empty()).collect());
    }

    /// What a reader with a table of the population finds.
    fn journalist(&mut self, report: &Report) {
        let Some(journalist) = &report.sequence.journalist else { return };
        let least = format!("{} of the population for the smallest group (k-map)", people(journalist.least));
        self.wrapped(
            "  ",
            &format!(
                "Singled out by a reader with a table of the population: {} at most (journalist), {} on average; {least}.",
                percent(journalist.highest),
                percent(journalist.mean)
            ),
        );
    }

    fn together(&mut self, report: &Report) {
        if report.releases.len() < 2 {
            self.journalist(report);
            return;
        }
        self.heading("All together");
        let findings: Vec<&FindingFacts> =
            report.findings.iter().filter(|finding| !finding.others.is_empty()).collect();
        if findings.is_empty() {
            self.line("  nothing was found by comparing releases");
        }
        self.findings(findings);
        let sequence = &report.sequence;
        self.wrapped(
            "  ",
            &format!(
                "Singled out in any one release: {} at most (prosecutor), {} on average (also marketer).",
                percent(sequence.highest_identity),
                percent(sequence.mean_identity)
            ),
        );
        self.journalist(report);
        if let Some(fewest) = sequence.smallest_candidates {
            self.line(&format!("  Fewest possible values of a person after comparing all releases: {fewest}."));
        }
        if let Some(largest) = sequence.largest_posterior {
            let (looked_at, of) = sequence.posterior_of;
            let counted = format!("{} of {} people counted", number(looked_at), number(of));
            self.line(&format!("  Largest probability of a value for a person: {} ({counted}).", percent(largest)));
        } else if sequence.posterior_of.1 > 0 {
            let why = not_counted(sequence.posterior_of.1);
            self.line(&format!("  Largest probability of a value for a person: {why}."));
        }
    }

    fn findings(&mut self, findings: Vec<&FindingFacts>) {
        for finding in findings.iter().take(MOST_FINDINGS) {
            let paint = match finding.severity {
                Severity::Severe => "31",
                Severity::Warning => "33",
                Severity::Note => "36",
            };
            let severity = self.painted(&finding.severity.to_string(), paint);
            let releases = finding.releases();
            let word = if releases.len() == 1 { "release" } else { "releases" };
            let groups = match finding.groups {
                0 => String::new(),
                count => format!(" in {}", counted(count, "group", "groups")),
            };
            self.line(&format!(
                "  {}. {severity} {} {}: {}{groups}, {word} {}",
                finding.number,
                finding.code,
                finding.title,
                finding.people_in_words(),
                list(&releases)
            ));
            if let Some(witness) = &finding.witness {
                self.wrapped("      ", &witness.claim);
                for group in witness.groups.iter().take(MOST_GROUPS) {
                    let region = group.region.join(" ");
                    self.line(&format!(
                        "        release {} group {}: {region} ({})",
                        group.release,
                        group.group,
                        counted(u64::from(group.row_count), "row", "rows")
                    ));
                }
                if let Some(more) = witness.more_groups(MOST_GROUPS) {
                    self.line(&format!("        {more}"));
                }
            }
        }
        if findings.len() > MOST_FINDINGS {
            let more = (findings.len() - MOST_FINDINGS) as u64;
            self.line(&format!("  and {}; --format json has all", counted(more, "more finding", "more findings")));
        }
    }

    fn story(&mut self, story: &StoryFacts) {
        self.heading(&story.heading());
        self.wrapped("  ", &story.opening());
        let names: Vec<&str> = story.known.iter().map(|(name, _)| name.as_str()).collect();
        for step in &story.steps {
            let groups = step.groups_in_words();
            self.line(&format!("  Release {} ({}): the person can only be in {groups}.", step.release, step.label));
            for group in step.groups.iter().take(MOST_GROUPS) {
                let region: Vec<String> =
                    names.iter().zip(&group.region).map(|(name, text)| format!("{name} {text}")).collect();
                self.line(&format!("      {}: {}", region.join(", "), group.values.join(", ")));
            }
            if step.group_count > MOST_GROUPS {
                self.line(&format!("      and {} more", step.group_count - MOST_GROUPS));
            }
            if step.restarted {
                self.line(&format!("      {}", StepFacts::RESTARTED));
            }
            self.line(&format!("      remaining: {}", step.left.join(", ")));
        }
        if let Some(matched) = &story.matched {
            self.wrapped("  ", MATCHED);
            self.line(&format!("      remaining: {}", matched.join(", ")));
        }
        self.line(&format!("  {}", story.ending()));
    }

    fn checks(&mut self, report: &Report) {
        if report.checks.is_empty() {
            return;
        }
        self.heading("Each check");
        for check in &report.checks {
            let paint = match check.verdict {
                VerdictWord::Pass => "32",
                VerdictWord::Fail => "31",
                VerdictWord::NotAssessed => "33",
                VerdictWord::Noted | VerdictWord::Measured | VerdictWord::NotApplicable => "2",
            };
            let verdict = self.painted(&format!("{:<14}", check.verdict), paint);
            let coverage = match check.of {
                0 => String::new(),
                of if check.looked_at == of => format!(" ({} {})", number(of), check.what),
                of => format!(" ({} of {} {})", number(check.looked_at), number(of), check.what),
            };
            let why = check.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
            self.line(&format!("  {verdict} {:<15} {}{why}{coverage}", check.check, check.question));
            if self.options.measures || check.verdict == VerdictWord::Measured {
                for measure in &check.measures {
                    let whose = measure.release.map_or("series".to_string(), |release| format!("release {release}"));
                    let value = measure.value.map_or("not a number".to_string(), decimal);
                    self.line(&format!("      {whose}: {} {value}", measure.name));
                }
            }
        }
    }

    fn private(&mut self, report: &Report) {
        let Some(private) = &report.private else { return };
        if !private.truth.is_empty() {
            self.heading("Against the private tables");
            let head = ["people", "withheld", "unique before", "risk before", "median error", "9 in 10"];
            self.table(&head, &[10, 10, 13, 11, 12, 12], private.truth.iter().map(TruthFacts::cells));
            self.wrapped(
                "  ",
                "unique before, risk before: if the table were published unchanged: people with unique \
                 quasi-identifiers, and the mean risk of being singled out. errors: of random count queries.",
            );
        }
        if !private.churn.is_empty() {
            self.heading("Arrivals, departures and people who wait");
            let head = ["arrived", "gone after", "waiting"];
            self.table(&head, &[10, 10, 10], private.churn.iter().map(ChurnFacts::cells));
            self.wrapped("  ", ChurnFacts::HEADS);
        }
    }

    /// Rows that begin with the number of a release, below a head; `widths` are of the other columns.
    fn table<const N: usize>(&mut self, head: &[&str], widths: &[usize], rows: impl Iterator<Item = [String; N]>) {
        let mut row = |number: &str, cells: &mut dyn Iterator<Item = &str>| {
            let mut line = format!("  {number:>3} ");
            cells.zip(widths).for_each(|(cell, width)| line.push_str(&format!(" {cell:>width$}")));
            self.line(&line);
        };
        row("", &mut head.iter().copied());
        rows.for_each(|cells| row(&cells[0], &mut cells[1..].iter().map(String::as_str)));
    }

    fn identifying(&mut self, report: &Report) {
        if report.identifying.is_empty() {
            return;
        }
        self.heading("How identifying each column is in the last release");
        self.line("      values  published  fewest alike  column");
        for column in &report.identifying {
            self.line(&format!(
                "  {:>10} {:>10} {:>13}  {}",
                number(column.values.into()),
                number(column.regions.into()),
                number(column.fewest_alike),
                column.column
            ));
            if let Some(hint) = &column.safe_harbor {
                self.wrapped("    safe harbor: ", hint);
            }
        }
    }

    fn signing(&mut self, report: &Report) {
        if report.signing.is_empty() {
            return;
        }
        self.heading("What is signed, and by whom");
        for signature in &report.signing {
            self.line(&format!("  {}", signature.role));
            signature.confirms.iter().for_each(|point| self.wrapped("    - ", point));
        }
    }

    fn rests(&mut self, report: &Report) {
        if let Some(promise) = report.series.promise.as_ref().filter(|promise| promise.sentence != promise.in_short) {
            self.heading("The promise in full");
            self.wrapped("  ", &promise.sentence);
        }
        for (heading, points) in report.closing_points() {
            if !points.is_empty() {
                self.heading(heading);
                for point in points {
                    self.wrapped("  - ", point);
                }
            }
        }
    }

    /// A paragraph of at most 100 columns; further lines stand below the first word.
    fn wrapped(&mut self, start: &str, text: &str) {
        let mut line = start.to_string();
        let indent = " ".repeat(start.chars().count());
        let mut empty = true;
        for word in text.split_whitespace() {
            if !empty && line.chars().count() + 1 + word.chars().count() > 100 {
                self.line(&line);
                line = indent.clone();
                empty = true;
            }
            if !empty {
                line.push(' ');
            }
            line.push_str(word);
            empty = false;
        }
        self.line(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{broken, clean};
    use crate::report::{Edition, Names};
    use expect_test::expect;

    #[test]
    #[expect(clippy::too_many_lines, reason = "the page, line by line")]
    fn a_broken_series_is_told_in_plain_words() {
        let report = broken().report(Edition::Auditor);
        expect![[r#"
            FAIL: Someone who reads both releases can learn too much about at least 2 people. The worst: a group
            has too few people (2 findings in all).
              Promised (m-invariance): A person's sensitive value stays one of at least 2, over all releases
              together, for the reader that the full promise names.

            The worst case, step by step
              The attacker knows a person: age and sex.
              Release 1 (2026-Q1): the person can only be in one group.
                  age [20,30), sex F: D1, D2
                  remaining: D1, D2
              Release 2 (2026-Q2): the person can only be in one group.
                  age [20,25), sex F: D1, D3
                  remaining: D1
              One value remains: it is certain.

            Each release alone
                   label       people artificial    groups  smallest   values    share   below k   below l
                1  2026-Q1          8          1         3         2        2   50.0 %         0         0
                2  2026-Q2         10          0         3         2        2   50.0 %         0         0
              smallest: people in the smallest group. values, share: the fewest values in a group and the
              largest share of a value in a group. below k, below l: people in groups of fewer than 2 people or
              2 values.
              1. severe A611 a group has too few people: 2 people in 1 group, release 1

            All together
              2. severe A631 comparing releases leaves too few possible values: 2 people in 2 groups, releases 1 and 2
                  In each release, a group that covers the person has the person's value, and everyone needs a
                  row of their own. Together, group 1 of release 1 and group 1 of release 2 leave 1 value (D1):
                  fewer than 2, the threshold l.
                    release 1 group 1: [20,30) F (2 rows)
                    release 2 group 1: [20,25) F (2 rows)
              Singled out in any one release: 50.0 % at most (prosecutor), 33.3 % on average (also marketer).

            Each check
              FAIL           group-sizes     How many people are published alike? (6 groups)
              NOT APPLICABLE linked-ids      What do ids that link releases give away?: no release has ids that link it to another
              FAIL           candidates      Which values remain possible for each person? (18 people)
              NOT ASSESSED   posterior       How likely is each value for each person, counting all worlds?: some components are too large to count all worlds (12 of 18 people)
              MEASURED       drift           How does the loss change from release to release? (2 releases)
                  release 1: loss 0.25
                  series: loss of the last release over the first's not a number

            The promise in full
              Across all releases of this series, a reader attributes a person's sensitive value correctly with
              probability at most 1/2. Every way to assign people to rows that fits all releases counts equally.

            What this rests on
              - The attacker knows no other person's sensitive value.
              - The private tables were not given: people are counted in the published groups, and one person
                may be counted more than once.
              - The publisher keeps each person's value set the same in all releases while the value stays, as
                promised. The releases alone cannot show it.
              - Releases were compared as if nobody's sensitive value had changed. People whose value did change
                are not covered by these comparisons.

            What this does not cover
              - It does not hide who is in the data.
              - It does not hide that two people share a value.
              - It does not resist knowledge of other people's values, or of who shares a value, such as
                relatives.
              - Published tables may contain declared artificial records.
              - Not differential privacy.
              - No protection against other data sets about the same people published elsewhere.
              - Not judged: a reader who knows the program that made the releases (--reader method).
              - Not assessed: How likely is each value for each person, counting all worlds? Some components are
                too large to count all worlds.

            What was not computed
              - Journalist risk: no table of the population is given. It is at most the prosecutor risk.
              - Marketer risk assumes an attacker who knows exactly the published people. With a larger table of
                people it is lower.
              - Prosecutor risk over all releases: the highest of any single release is only a lower bound. The
                checks say how many people comparing releases exposes.
              - Probabilities and possible values over all releases: they need the private tables, which were
                not given or are not for this edition.

            What to do next
              - Read what the worst finding means: tacenda explain A611.
              - A published release cannot be taken back. Inform those who are responsible for the data, and
                publish no further releases of this kind.
              - tacenda adopt takes the releases into a project and says how many people it must withhold for
                good. tacenda plan then says, before anything is published, whether the next release can keep a
                promise over the whole series.
              - Give the private tables (--truth FILE --id COLUMN) to count the people exactly.

            How to repeat this
              - tacenda audit r1.csv r2.csv --format json
        "#]].assert_eq(&text(&report, TextOptions::default()));
    }

    #[test]
    fn a_clean_series_is_told_in_plain_words() {
        let report = clean().report(Edition::Auditor);
        expect![[r#"
            PASS WITH NAMED ASSUMPTION: Nothing was found in 2 releases: everyone is in a group of at least 2
            people and keeps at least 2 possible values. This rests on 4 assumptions named below. Not asked
            here: linkability.
              Promised (m-invariance): A person's sensitive value stays one of at least 2, over all releases
              together, for the reader that the full promise names.

            Each release alone
                   label       people artificial    groups  smallest   values    share   below k   below l
                1  2026-Q1          6          0         2         2        2   50.0 %         0         0
                2  2026-Q2          3          1         1         3        4   25.0 %         0         0
              smallest: people in the smallest group. values, share: the fewest values in a group and the
              largest share of a value in a group. below k, below l: people in groups of fewer than 2 people or
              2 values.

            All together
              nothing was found by comparing releases
              Singled out in any one release: 50.0 % at most (prosecutor), 33.3 % on average (also marketer).

            Each check
              PASS           group-sizes     How many people are published alike?: nothing is there (4 groups)
              PASS           diversity       How many sensitive values does a group hold?: nothing is there (4 groups)
              PASS           candidates      Which values remain possible for each person?: nothing is there (4 groups)

            The promise in full
              Across all releases of this series, a reader attributes a person's sensitive value correctly with
              probability at most 1/2. Every way to assign people to rows that fits all releases counts equally.

            What this rests on
              - The attacker knows no other person's sensitive value.
              - The private tables were not given: people are counted in the published groups, and one person
                may be counted more than once.
              - The publisher keeps each person's value set the same in all releases while the value stays, as
                promised. The releases alone cannot show it.
              - Releases were compared as if nobody's sensitive value had changed. People whose value did change
                are not covered by these comparisons.

            What this does not cover
              - It does not hide who is in the data.
              - It does not hide that two people share a value.
              - It does not resist knowledge of other people's values, or of who shares a value, such as
                relatives.
              - Published tables may contain declared artificial records.
              - Not differential privacy.
              - No protection against other data sets about the same people published elsewhere.
              - Not judged: a reader who knows the program that made the releases (--reader method).

            What was not computed
              - Journalist risk: no table of the population is given. It is at most the prosecutor risk.
              - Marketer risk assumes an attacker who knows exactly the published people. With a larger table of
                people it is lower.
              - Prosecutor risk over all releases: the highest of any single release is only a lower bound. The
                checks say how many people comparing releases exposes.
              - Probabilities and possible values over all releases: they need the private tables, which were
                not given or are not for this edition.

            What to do next
              - Audit again when a release is added, or when new data about the same people appear.

            How to repeat this
              - tacenda audit r1.csv r2.csv --format json
        "#]]
        .assert_eq(&text(&report, TextOptions::default()));
    }

    #[test]
    fn values_are_named_only_when_asked() {
        let coded = text(&broken().report(Edition::Auditor), TextOptions::default());
        let shown = text(&broken().report_with(Edition::Auditor, Names::Shown), TextOptions::default());
        assert!(!coded.contains("asthma") && !coded.contains("[23,24)"));
        assert!(shown.contains("asthma") && shown.contains("age [23,24)"));
    }

    #[test]
    fn colour_is_only_there_when_asked() {
        let report = broken().report(Edition::Auditor);
        assert!(!text(&report, TextOptions::default()).contains('\u{1b}'));
        assert!(text(&report, TextOptions { color: true, measures: true }).contains("\u{1b}[1;31mFAIL"));
    }
}
