//! From answers to a decision: the verdict in a sentence, the three questions of WP216, what the answers depend on, and
//! what to do next.
//!
//! "Not assessed" never counts as a pass.

use crate::audit::{Check, Coverage, Fault, Finding, Outcome, Reason, Severity, Verdict, WayOut};
use crate::model::{Reader, Release, Scope};
use crate::report::words::{capital, clean, counted, list, number, people, percent};
use crate::report::{
    Decision, Edition, FindingFacts, GATE, Gate, Material, QuestionFacts, ReleaseFacts, SequenceFacts, VerdictFacts,
    sequence,
};

/// What bears on one of the three questions.
struct Bearing {
    /// All findings of these checks bear on it.
    checks: &'static [Check],
    /// These findings of other checks bear on it too.
    faults: &'static [Fault],
    /// Notes that bear on it although they are no findings.
    notes: &'static [Fault],
    /// Checks that must be answered for an answer to the question.
    asked: &'static [Check],
    /// At least one of these must be answered, because the others alone show too little.
    needed: &'static [Check],
}

const SINGLING_OUT: Bearing = Bearing {
    checks: &[Check::GroupSizes, Check::MovedRegions, Check::Boundaries, Check::Joins],
    // A single arrival or departure, or a single row that can be theirs, singles a person out.
    faults: &[
        Fault::LinkedTooFew,
        Fault::ArrivalsCertain,
        Fault::ArrivalsFew,
        Fault::LeaversCertain,
        Fault::OneCorresponding,
        Fault::FewNewcomers,
    ],
    // No promise covers this, so it is a note. But an end of a region that fits one person singles that person out.
    notes: &[Fault::TightBoundaries],
    asked: &[Check::GroupSizes, Check::MovedRegions, Check::Boundaries, Check::Joins, Check::Difference],
    needed: &[Check::GroupSizes],
};
const LINKABILITY: Bearing = Bearing { checks: &LINKS, faults: &[], notes: &[], asked: &LINKS, needed: &TIES };
const INFERENCE: Bearing = Bearing {
    checks: &GUESSES,
    faults: &[Fault::LinkedFewValues],
    // No promise hides who waits, so these are notes. But they reveal values.
    notes: &[Fault::WaitingCertain, Fault::WaitingTellsValue],
    asked: &GUESSES,
    needed: &[Check::Diversity, Check::Candidates, Check::Posterior],
};

/// Checks that show which rows belong to one person.
const LINKS: [Check; 6] =
    [Check::LinkedIds, Check::Correspondence, Check::Matching, Check::Equivalence, Check::RowOrder, Check::GroupNames];

/// Checks that reveal a person's value.
const GUESSES: [Check; 11] = [
    Check::Diversity,
    Check::Frequency,
    Check::Closeness,
    Check::Difference,
    Check::Candidates,
    Check::Posterior,
    Check::Learned,
    Check::EverLinked,
    Check::Changes,
    Check::Waiting,
    Check::Rerun,
];

/// Checks that tie rows together without ids.
const TIES: [Check; 3] = [Check::Correspondence, Check::Matching, Check::Equivalence];

impl Bearing {
    fn bears(&self, finding: &FindingFacts) -> bool {
        self.checks.iter().any(|check| check.name() == finding.check)
            || self.faults.iter().any(|fault| fault.code() == finding.code)
    }
}

/// The overall verdict. It is never better than the worst answer to the three questions, and names those that were not asked.
pub fn verdict(
    material: &Material<'_>,
    findings: &[FindingFacts],
    questions: &[QuestionFacts],
    assumptions: &[String],
) -> VerdictFacts {
    let releases = counted(material.series.releases.len() as u64, "release", "releases");
    let worst = findings.first();
    let concerned = findings.iter().filter(|finding| finding.severity != Severity::Note);
    let widest = concerned.map(|finding| at_least(material, finding)).max();
    let asked = material.assessment.outcomes.len() as u64;
    // A gap that can hide only notes is named under what is not covered.
    let gaps = material.assessment.gaps(Severity::Warning).count() as u64;
    let is_judged = |outcome: &Outcome| !matches!(outcome.verdict, Verdict::Measured | Verdict::NotApplicable(_));
    let judged = material.assessment.outcomes.iter().any(is_judged);
    let nothing = if findings.is_empty() { "Nothing" } else { "Nothing but notes" };
    let (decision, mut sentence) = if let (Some(widest), Some(worst)) = (widest, worst) {
        (Decision::Fail, not_kept(material, findings).unwrap_or_else(|| too_much(material, widest, worst, findings)))
    } else if asked == 0 {
        match material.about.gate {
            Gate::NotAsked => (Decision::NotAssessed, format!("Nothing was checked in {releases}.")),
            _ => (Decision::PassAssuming, gate_said(material)),
        }
    } else if gaps > 0 {
        let sentence = format!(
            "{nothing} was found in what was examined of {releases}. That does not prove that nothing is there: {} of {} \
             questions could not be answered for everyone.",
            number(gaps),
            number(asked)
        );
        (Decision::NotAssessed, sentence)
    } else if has_no_threshold(material) {
        let sentence = format!("{nothing} was found in {releases}, but no threshold was set.");
        (Decision::NotAssessed, sentence)
    } else if !judged {
        let sentence = format!("Nothing was judged in {releases}: no check that applies has a threshold.");
        (Decision::NotAssessed, sentence)
    } else if assumptions.is_empty() {
        (Decision::Pass, format!("{nothing} was found in {releases}: {}.", line(material)))
    } else {
        let sentence = format!(
            "{nothing} was found in {releases}: {}. This rests on {}.",
            line(material),
            counted(assumptions.len() as u64, "assumption named below", "assumptions named below")
        );
        (Decision::PassAssuming, sentence)
    };
    // Missing knowledge must not look like a pass.
    let unasked = without_people(material).len() as u64;
    if unasked > 0 && decision != Decision::Fail {
        let were = if unasked == 1 { "was" } else { "were" };
        sentence.push_str(&format!(
            " The private tables were not given, so {} of {} questions {were} not asked.",
            number(unasked),
            number(asked)
        ));
    }
    let passes = matches!(decision, Decision::Pass | Decision::PassAssuming);
    let unpromised = questions.iter().filter(|question| question.decision == Decision::NotPromised);
    unpromised.clone().for_each(|question| sentence.push_str(&not_promised(material, question)));
    if passes {
        sentence.push_str(&listed(" Not answered for everyone", questions, Decision::NotAssessed));
        sentence.push_str(&listed(" Not asked here", questions, Decision::NotAsked));
    }
    // Where nothing was asked, nothing is answered. Who audits by some checks only has asked for no more.
    let is_unasked = asked == 0 && questions.iter().all(|question| question.decision == Decision::NotAsked);
    let is_open = is_unasked || questions.iter().any(|question| question.decision == Decision::NotAssessed);
    let decision = match (passes, is_open, unpromised.count()) {
        (false, _, _) | (true, false, 0) => decision,
        (true, true, _) => Decision::NotAssessed,
        (true, false, _) => Decision::NotPromised,
    };
    VerdictFacts { decision, sentence, people: widest.unwrap_or(0), worst: worst.map(|finding| finding.severity) }
}

/// The part of the verdict's sentence about what is possible although the promise and the thresholds allow it.
fn not_promised(material: &Material<'_>, question: &QuestionFacts) -> String {
    let nobody = match material.series.promise {
        Some(_) => "The promise does not prevent",
        None => "No threshold prevents",
    };
    let why = question.possible.as_deref().unwrap_or("see the question below");
    format!(" {nobody} {} in this way: {why}.", question.name)
}

/// The questions with this answer, so that nobody takes them for passed.
fn listed(what: &str, questions: &[QuestionFacts], answer: Decision) -> String {
    let open = questions.iter().filter(|question| question.decision == answer);
    let open: Vec<&str> = open.map(|question| question.name.as_str()).collect();
    if open.is_empty() { String::new() } else { format!("{what}: {}.", list(&open)) }
}

/// The sentence of a series that was broken before it came here, if nothing worse was found since.
fn not_kept(material: &Material<'_>, findings: &[FindingFacts]) -> Option<String> {
    let mut weighty = findings.iter().filter(|finding| finding.severity != Severity::Note);
    let broken = &material.about.broken;
    let is_old = |finding: &FindingFacts| {
        let is_it = |old: &Finding| (old.release, old.fault.code()) == (finding.release, finding.code.as_str());
        finding.check == GATE && broken.iter().any(is_it)
    };
    if broken.is_empty() || !weighty.all(is_old) {
        return None;
    }
    let said = broken
        .iter()
        .map(|old| format!(" Release {} was made elsewhere and does not keep it: {}.", old.release, old.fault.title()));
    Some("The promise does not hold for this series.".to_string() + &said.collect::<String>())
}

/// What it means that a check found nothing.
pub fn nothing(outcome: &Outcome) -> Option<&'static str> {
    let Coverage { looked_at, of, .. } = outcome.coverage;
    match outcome.verdict {
        Verdict::Pass if of == 0 => Some("there is nothing to examine"),
        Verdict::Pass if outcome.check.is_exhaustive() && looked_at == of => Some("nothing is there"),
        Verdict::Pass => Some("nothing was found, which does not prove that nothing is there"),
        _ => None,
    }
}

/// How many people a finding certainly concerns.
fn at_least(material: &Material<'_>, finding: &FindingFacts) -> u64 {
    // If people are not known, the number of people in a place or between two groups is only an upper bound.
    let bounds = [
        Fault::PlaceGivesAway,
        Fault::OneCorresponding,
        Fault::FewCorresponding,
        Fault::FewNewcomers,
        Fault::FewMatchedValues,
    ];
    // A broken chain is nobody's row: it says that more may be out than was examined.
    let is_bound = material.series.knowledge.is_none() && bounds.iter().any(|fault| fault.code() == finding.code);
    if is_bound || finding.check == Check::Chain.name() { 0 } else { finding.people }
}

/// The sentence of a series that fails: who learns what of whom, and the worst of all findings.
fn too_much(material: &Material<'_>, widest: u64, worst: &FindingFacts, findings: &[FindingFacts]) -> String {
    // Notes are no accusations: they are counted apart, here as on the page.
    let others = match findings.iter().filter(|finding| finding.severity != Severity::Note).count() {
        0 | 1 => String::new(),
        count => format!(" ({} in all)", counted(count as u64, "finding", "findings")),
    };
    let reader = match material.series.releases.len() {
        1 => "this release".to_string(),
        2 => "both releases".to_string(),
        releases => format!("all {}", counted(releases as u64, "release", "releases")),
    };
    let mut weighty = findings.iter().filter(|finding| finding.severity != Severity::Note);
    if weighty.all(|finding| finding.check == Check::Chain.name()) {
        return format!("These releases are not one unbroken series: {}{others}.", worst.title);
    }
    let about = match widest {
        0 => String::new(),
        _ => format!(" about at least {}", people(widest)),
    };
    format!("Someone who reads {reader} can learn too much{about}. The worst: {}{others}.", worst.title)
}

/// Whether there is no threshold: no promise, and none that was asked for.
fn has_no_threshold(material: &Material<'_>) -> bool {
    let lines = &material.thresholds;
    material.series.promise.is_none() && lines.k <= 1 && lines.l <= 1 && lines.t.is_none()
}

/// What the gate judged before a release was published, if nothing else was asked.
fn gate_said(material: &Material<'_>) -> String {
    if material.series.promise.is_none_or(|promise| promise.scope != Scope::EachRelease) {
        return "Before it was published, this release was judged together with every earlier one of its series. \
                Nothing was found that breaks the promise."
            .into();
    }
    let said = "Before it was published, this release was judged by itself: its promise covers one release at a time. \
                Nothing was found that breaks it. What comparing releases reveals is not covered";
    match &material.about.accepted_series_risk {
        Some(reason) => format!("{said}: that risk was accepted, with the reason \"{}\".", clean(reason)),
        None => format!("{said}."),
    }
}

/// Checks that could not be made because people are not known.
fn without_people(material: &Material<'_>) -> Vec<&'static str> {
    let needs_people = |outcome: &&Outcome| outcome.verdict.reason().is_some_and(Reason::is_people_unknown);
    material.assessment.outcomes.iter().filter(needs_people).map(|outcome| outcome.check.name()).collect()
}

/// The thresholds that everybody meets, in words; only those that were examined.
fn line(material: &Material<'_>) -> String {
    let outcomes = &material.assessment.outcomes;
    let is_clear = |check: Check| {
        let clear = |verdict| matches!(verdict, Verdict::Pass | Verdict::Noted | Verdict::NotApplicable(_));
        outcomes.iter().any(|outcome| outcome.check == check && clear(outcome.verdict))
    };
    let (k, l) = (u64::from(material.thresholds.k), u64::from(material.thresholds.l));
    let stays = k > 1 && is_clear(Check::GroupSizes);
    let keeps = l > 1 && is_clear(Check::Diversity) && is_clear(Check::Candidates);
    match (stays, keeps) {
        (true, true) => {
            format!("everyone is in a group of at least {} and keeps at least {l} possible values", people(k))
        }
        (true, false) => format!("everyone is in a group of at least {}", people(k)),
        (false, true) => format!("everyone keeps at least {l} possible values"),
        (false, false) if k <= 1 && l <= 1 => "no threshold was set".to_string(),
        (false, false) => {
            let asked: Vec<&str> = outcomes.iter().map(|outcome| outcome.check.name()).collect();
            format!("only these checks were made: {}", asked.join(", "))
        }
    }
}

/// Whether some release has a sensitive column.
fn has_values(material: &Material<'_>) -> bool {
    let traces = material.series.traces;
    traces.is_empty() || traces.iter().any(|traces| !traces.without_sensitive)
}

/// What the answers depend on.
pub fn assumptions(material: &Material<'_>) -> Vec<String> {
    let series = &material.series;
    let mut assumptions = Vec::new();
    if material.assessment.outcomes.is_empty() && material.about.gate != Gate::NotAsked {
        assumptions.push(
            "The publisher's own gate judged the release. Anyone can check the published files with tacenda audit."
                .into(),
        );
    }
    if !material.assessment.outcomes.is_empty() {
        let attacker = &material.attacker;
        if !attacker.presence {
            assumptions.push("The attacker does not know who is in which release.".into());
        }
        if attacker.known_people == 0 && has_values(material) {
            assumptions.push("The attacker knows no other person's sensitive value.".into());
        }
        if series.knowledge.is_none() {
            assumptions.push(
                "The private tables were not given: people are counted in the published groups, and one person may \
                 be counted more than once."
                    .into(),
            );
        }
        assumptions.extend(relied_on(material));
        let unknown = series.traces.iter().filter(|traces| !traces.counterfeits_known).count();
        if unknown > 0 {
            assumptions.push(format!(
                "In {} the number of counterfeits is not known, and is assumed to be 0.",
                counted(unknown as u64, "release", "releases")
            ));
        }
        assumptions.extend(material.about.assumptions.iter().cloned());
    }
    assumptions
}

/// What was assumed about people and the publisher, as far as some check that was made depends on it.
fn relied_on(material: &Material<'_>) -> Vec<String> {
    let (series, several) = (&material.series, material.series.releases.len() > 1);
    let asked = |checks: &[Check]| material.assessment.outcomes.iter().any(|outcome| checks.contains(&outcome.check));
    let mut relied = Vec::new();
    if series.promise.is_some() && series.releases.iter().any(|release| !release.linked.is_empty()) {
        relied.push("Ids that link releases are published on purpose: these releases are pseudonymous.".into());
    }
    if !several {
        return relied;
    }
    let joined =
        [Check::Candidates, Check::Difference, Check::Correspondence, Check::Matching, Check::MovedRegions].as_slice();
    if series.promise.is_some_and(|promise| promise.keeps_value_sets) && asked(joined) {
        relied.push(
            "The publisher keeps each person's value set the same in all releases while the value stays, as promised. The \
             releases alone cannot show it."
                .into(),
        );
    }
    let left_out = material.assessment.pairs_left_out;
    if asked(joined) && left_out > 0 {
        relied.push(format!(
            "{} were not compared with each other, because that is above the budget (--budget).",
            capital(&counted(
                left_out,
                "pair of releases that are not neighbours",
                "pairs of releases that are not neighbours"
            ))
        ));
    }
    if series.knowledge.is_none() && asked(joined) && has_values(material) {
        // Some values do change, and the steward knows it. So the sentence says what was assumed, not what is true.
        relied.push(
            "Releases were compared as if nobody's sensitive value had changed. People whose value did change are not \
             covered by these comparisons."
                .into(),
        );
        if !series.promise.is_some_and(|promise| promise.lets_people_leave) {
            relied.push("If a release has every row of the one before, nobody left in between.".into());
        }
    }
    relied
}

/// What was not examined, besides what the promise itself names.
pub fn not_covered(material: &Material<'_>, at_two: &[FindingFacts]) -> Vec<String> {
    let mut limits: Vec<String> = match material.series.promise {
        Some(promise) => promise.limits.iter().copied().map(String::from).collect(),
        None => vec![
            "Not differential privacy.".into(),
            "No protection against other data sets about the same people published elsewhere.".into(),
        ],
    };
    limits.splice(0..0, material.about.not_covered.iter().cloned());
    limits.extend(stronger_readers(material, at_two));
    let unasked = without_people(material);
    if !unasked.is_empty() {
        limits.push(format!(
            "The private tables were not given, so {} could not be asked. An attacker who knows the people may learn \
             more than was found here.",
            list(&unasked)
        ));
    }
    for outcome in &material.assessment.outcomes {
        if let Verdict::NotAssessed(why) = outcome.verdict {
            limits.push(format!("Not assessed: {} {}.", outcome.check.question(), capital(&why.to_string())));
        }
    }
    limits
}

/// What a stronger reader could do, or a stricter threshold would find. It is listed but not judged.
fn stronger_readers(material: &Material<'_>, at_two: &[FindingFacts]) -> Vec<String> {
    let mut listed = Vec::new();
    if material.assessment.outcomes.is_empty() {
        return listed;
    }
    if material.attacker.judged_reader(material.series.promise) == Reader::Rule {
        let rerun = material.assessment.outcome(Check::Rerun);
        let moved = rerun.into_iter().flat_map(|outcome| &outcome.measures).map(|measure| measure.value);
        let moved = moved.fold(0.0, f64::max) as u64;
        listed.push(match moved {
            0 => "Not judged: a reader who knows the program that made the releases (--reader method).".to_string(),
            moved => format!(
                "Not promised: a reader who knows the program that made the releases. When values were exchanged, the groups of \
                 {} changed; such a reader can rule values out.",
                people(moved)
            ),
        });
    }
    if material.series.promise.is_some() && !material.attacker.presence && !material.attacker.first_release {
        listed.push("Not judged: a reader who knows who is in which release (--attacker quasi,presence).".into());
    }
    for finding in at_two.iter().filter(|finding| finding.severity != Severity::Note) {
        listed.push(format!(
            "Not promised, found at two people and two values: {} {} ({}).",
            finding.code,
            finding.title,
            people(finding.people)
        ));
    }
    listed
}

/// What would answer the open questions, and what that costs.
fn ways_out(material: &Material<'_>) -> Vec<String> {
    let mut ways: Vec<String> = Vec::new();
    if is_unseated(material) {
        ways.push("To answer inference: give the private tables (--truth FILE…), one per release.".into());
    }
    for outcome in material.assessment.gaps(Severity::Warning) {
        let Some(reason) = outcome.verdict.reason() else { continue };
        let way = match (reason.way_out(), outcome.needs) {
            (WayOut::Said(way), _) => way.to_string(),
            (WayOut::Budget, Some(steps)) => format!(
                "raise the budget. Each search had {} steps, and this one needs at least {} (--budget {steps}). Twice the steps \
                 take about twice the time",
                number(material.budget.steps),
                number(steps)
            ),
            (WayOut::Budget, None) => format!(
                "raise the budget. Each search had {} steps, and how many this one needs is not known (--effort thorough, or \
                 --budget N)",
                number(material.budget.steps)
            ),
        };
        ways.push(format!("To answer {}: {way}.", outcome.check.name()));
    }
    ways.dedup();
    ways
}

/// The step that says where a finding is explained.
pub fn explain_step(code: &str) -> String {
    format!("Read what the worst finding means: tacenda explain {code}.")
}

/// What to do next.
pub fn next_steps(material: &Material<'_>, findings: &[FindingFacts], decision: Decision) -> Vec<String> {
    let mut steps = Vec::new();
    match decision {
        Decision::Fail => {
            let code = &findings[0].code;
            steps.push(explain_step(code));
            if !material.about.broken.is_empty() {
                steps.push(
                    "What the releases made elsewhere gave away stays given away. Inform those who are responsible for the \
                     data. They decide whether the series goes on: its policy file has the reason why it did."
                        .into(),
                );
            } else if material.series.releases.len() > 1 {
                steps.push(
                    "A published release cannot be taken back. Inform those who are responsible for the data, and \
                     publish no further releases of this kind."
                        .into(),
                );
                steps.push(
                    "tacenda adopt takes the releases into a project and says how many people it must withhold for good. \
                     tacenda plan then says, before anything is published, whether the next release can keep a promise \
                     over the whole series."
                        .into(),
                );
                if !material.about.guessed.is_empty() {
                    steps.push(
                        "Give the hierarchies of the labels (--hierarchies DIR) to know whether the findings hold."
                            .into(),
                    );
                }
            } else {
                steps.push("Publish the table under a promise instead: tacenda init DATA drafts a policy file.".into());
            }
            if material.series.knowledge.is_none() {
                steps.push("Give the private tables (--truth FILE --id COLUMN) to count the people exactly.".into());
            }
        }
        Decision::NotAssessed if !material.assessment.outcomes.is_empty() && has_no_threshold(material) => {
            steps.push("Set thresholds: --k and --l of at least 2.".into());
        }
        Decision::NotAssessed if !material.assessment.outcomes.is_empty() => {
            steps.extend(ways_out(material));
        }
        Decision::NotAssessed | Decision::NotAsked => steps.push("Audit the releases: tacenda audit.".into()),
        Decision::Pass | Decision::PassAssuming | Decision::NotPromised => {
            if decision == Decision::NotPromised {
                steps.push(
                    "Read the questions that are NOT PROMISED. Prevent by other means what must not happen: by contract, or in a \
                     controlled environment."
                        .into(),
                );
            }
            if material.edition == Edition::Steward && material.series.knowledge.is_none() {
                steps.push(
                    "Before anybody signs, give all private tables: tacenda report --truth FILE …, one per release. Without them \
                     the questions about people were not asked."
                        .into(),
                );
            }
            steps.push("Audit again when a release is added, or when new data about the same people appear.".into());
        }
    }
    steps
}

/// Singling out, linkability, inference: the answers with their evidence and limits.
///
/// They are about people, not about a promise. A promise without a threshold, or with a threshold of one, does not make
/// them pass. So they are answered at two people and two values at least. `findings` are those at the given thresholds,
/// and those added by two people and two values.
pub fn three_questions(
    material: &Material<'_>,
    releases: &[ReleaseFacts],
    findings: &[&[FindingFacts]; 2],
    assumptions: &[String],
    sequence: &SequenceFacts,
) -> Vec<QuestionFacts> {
    let [alone, tied, guessed] = sequence::evidence(sequence);
    let smallest = releases.iter().map(|release| release.risk.smallest_group).min().unwrap_or(0);
    let linked = material.series.releases.iter().any(|release| !release.linked.is_empty());
    let is_alone = smallest == 1 || sequence.least_alike == Some(1) || sequence.least_always_together == Some(1);
    let promised = material.series.promise.and_then(|terms| terms.k);
    let asked = Asked { material, findings, assumptions };
    let singled_out = asked.answer(&SINGLING_OUT, is_alone.then_some("somebody stands alone"), promised);
    let linkable = asked.answer(&LINKABILITY, linked.then_some("ids that link releases are published"), None);
    let mut singling = vec![format!("The smallest group of any release holds {}.", people(u64::from(smallest)))];
    singling.extend(material.series.releases.iter().filter_map(Release::alone_sentence).next_back());
    singling.extend(alone);
    singling.extend(asked.broken_before(promised));
    singling.extend(evidence(&SINGLING_OUT, findings, material));
    singling.extend(left_open(&SINGLING_OUT, material));
    let mut linking = vec![of_ids(material, linked)];
    linking.extend(tied);
    linking.extend(evidence(&LINKABILITY, findings, material));
    linking.extend(untied(material));
    linking.extend(left_open(&LINKABILITY, material));
    let (inferable, inferring) = match has_values(material) {
        true => asked.of_values(releases, sequence, guessed),
        false => {
            let nothing = "No column is declared sensitive, so nothing was asked about values.";
            ((Decision::NotAsked, None), vec![nothing.to_string()])
        }
    };
    vec![
        QuestionFacts {
            name: "singling out".into(),
            question: "Can one person be singled out?".into(),
            decision: singled_out.0,
            possible: singled_out.1,
            evidence: singling,
            limit: "It counts people in the same group. It does not hide who is in the data.".into(),
        },
        QuestionFacts {
            name: "linkability".into(),
            question: "Can rows of the same person, or of two people, be linked?".into(),
            decision: linkable.0,
            possible: linkable.1,
            evidence: linking,
            limit: "It covers links within these releases. Other data about the same people were not examined.".into(),
        },
        QuestionFacts {
            name: "inference".into(),
            question: "Can someone's sensitive value be worked out, or guessed too well?".into(),
            decision: inferable.0,
            possible: inferable.1,
            evidence: inferring,
            limit: "It does not hide what is true of a whole population, such as a correlation.".into(),
        },
    ]
}

/// Whether ids link releases, and what that means.
fn of_ids(material: &Material<'_>, linked: bool) -> String {
    let said = match linked {
        true if material.series.promise.is_some() => {
            "Ids that link releases are published: pseudonymous, not anonymous. The verdict above answers for the promise, \
             which allows them; this question is about what anyone can link."
        }
        true => "Ids that link releases are published: pseudonymous, not anonymous.",
        false => "No ids that link releases are published.",
    };
    said.to_string()
}

/// Why nothing was tied together, if none of the checks that could do so was made.
fn untied(material: &Material<'_>) -> Option<String> {
    let mut reasons: Vec<String> = Vec::new();
    for outcome in material.assessment.outcomes.iter().filter(|outcome| TIES.contains(&outcome.check)) {
        match outcome.verdict {
            Verdict::NotApplicable(why) => reasons.push(format!("{} ({why})", outcome.check.name())),
            _ => return None,
        }
    }
    (!reasons.is_empty()).then(|| format!("Links without ids were not examined: {}.", list(&reasons)))
}

/// The checks for a question that could not be answered for everyone.
fn left_open(bearing: &Bearing, material: &Material<'_>) -> Option<String> {
    let mut reasons: Vec<String> = Vec::new();
    for outcome in material.assessment.outcomes.iter().chain(&material.assessment.at_two) {
        if let Verdict::NotAssessed(why) = outcome.verdict {
            let reason = format!("{} ({why})", outcome.check.name());
            if bearing.asked.contains(&outcome.check) && !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    (!reasons.is_empty()).then(|| format!("Left open: {}.", list(&reasons)))
}

/// What a question is answered from.
struct Asked<'a> {
    material: &'a Material<'a>,
    /// At the given thresholds, and those added by two people and two values.
    findings: &'a [&'a [FindingFacts]; 2],
    assumptions: &'a [String],
}

impl Asked<'_> {
    /// The answer about values, and its evidence.
    fn of_values(
        &self,
        releases: &[ReleaseFacts],
        sequence: &SequenceFacts,
        guessed: Vec<String>,
    ) -> ((Decision, Option<String>), Vec<String>) {
        // A release without a sensitive column has no values, which does not mean too few.
        let telling = releases.iter().filter(|release| release.has_values());
        let fewest = telling.map(|release| release.risk.fewest_values).min().unwrap_or(0);
        let share = releases.iter().map(|release| release.risk.highest_share).fold(0.0, f64::max);
        let is_certain =
            fewest == 1 || sequence.smallest_candidates == Some(1) || sequence.largest_posterior >= Some(1.0);
        let promised = self.material.series.promise.and_then(|terms| terms.l);
        let answer = self.answer(&INFERENCE, is_certain.then_some("somebody has one possible value"), promised);
        let mut said = vec![format!(
            "Within one release, the fewest sensitive values of a group are {fewest}, and the largest share of one value is {}.",
            percent(share)
        )];
        said.extend(guessed);
        said.extend(self.broken_before(promised));
        said.extend(is_unseated(self.material).then(|| {
            "Some releases were made elsewhere. Without the private tables it is open who is in which of their groups, and for \
             these people the promise is not proved."
                .to_string()
        }));
        said.extend(evidence(&INFERENCE, self.findings, self.material));
        said.extend(left_open(&INFERENCE, self.material));
        (answer, said)
    }

    /// The answer to one question, and what is possible although no promise covers it. `plain` is a fact that answers
    /// the question with yes, whatever was promised. `promised` is the least number that the promise states here.
    fn answer(&self, bearing: &Bearing, plain: Option<&str>, promised: Option<u32>) -> (Decision, Option<String>) {
        let [at_the_lines, at_two] = *self.findings;
        let is_found = |finding: &&FindingFacts| finding.severity != Severity::Note && bearing.bears(finding);
        let gate_only = self.material.assessment.outcomes.is_empty();
        let gate_found = gate_only && matches!(self.material.about.gate, Gate::Found(_));
        let gate_found = gate_found || self.broken_before(promised).next().is_some();
        if gate_found || at_the_lines.iter().any(|finding| is_found(&finding)) {
            return (Decision::Fail, None);
        }
        let is_told = |finding: &&FindingFacts| bearing.notes.iter().any(|fault| fault.code() == finding.code);
        let told = at_two.iter().find(is_found).or_else(|| at_the_lines.iter().chain(at_two).find(is_told));
        // Its code stands with the finding. This is for the sentence that everybody reads.
        let told = told.map(|finding| format!("{} ({})", finding.title, people(finding.people)));
        if let Some(possible) = told.or_else(|| plain.map(String::from)) {
            return (Decision::NotPromised, Some(possible));
        }
        let answer = if gate_only { self.by_the_gate(promised) } else { self.by_the_checks(bearing) };
        let is_of_values = bearing.needed.contains(&Check::Posterior);
        let is_open = is_of_values && promised.is_some() && is_unseated(self.material) && answer != Decision::NotAsked;
        (if is_open { Decision::NotAssessed } else { answer }, None)
    }

    /// How releases made elsewhere break the promise, if it covers the question.
    fn broken_before(&self, promised: Option<u32>) -> impl Iterator<Item = String> {
        let is_promised = promised.is_some_and(|least| least > 1);
        self.material
            .about
            .broken
            .iter()
            .filter(move |_| is_promised)
            .map(|old| format!("{} {} (release {}, made elsewhere).", old.fault.code(), old.fault.title(), old.release))
    }

    /// The gate judges the promise, so it answers only what the promise covers. A promise about each release covers a series
    /// that has only one.
    fn by_the_gate(&self, promised: Option<u32>) -> Decision {
        let is_first = self.material.series.releases.iter().all(|release| release.number == 1);
        let covers = |scope: Scope| scope != Scope::EachRelease || is_first;
        let is_covered = self.material.series.promise.is_some_and(|promise| covers(promise.scope));
        let is_judged = is_covered && self.material.about.gate == Gate::FoundNothing;
        if is_judged && promised.is_some_and(|least| least > 1) { Decision::PassAssuming } else { Decision::NotAsked }
    }

    fn by_the_checks(&self, bearing: &Bearing) -> Decision {
        let assessment = self.material.assessment;
        let all = || assessment.outcomes.iter().chain(&assessment.at_two);
        let is_answered = |outcome: &Outcome| {
            let is_needed = bearing.needed.contains(&outcome.check);
            is_needed && matches!(outcome.verdict, Verdict::Pass | Verdict::Fail | Verdict::Noted | Verdict::Measured)
        };
        let is_open = |outcome: &Outcome| {
            bearing.asked.contains(&outcome.check) && matches!(outcome.verdict, Verdict::NotAssessed(_))
        };
        // What can only be noted changes the answer if the note bears on it. No promise and no threshold asks for that, nor
        // for what two people and two values would show.
        let decides = |outcome: &Outcome| outcome.check.worst() >= Severity::Warning;
        let may_note = |outcome: &Outcome| matches!(outcome.check, Check::Boundaries | Check::Waiting);
        let is_gap = assessment.outcomes.iter().any(|outcome| is_open(outcome) && decides(outcome));
        let is_left = all().any(|outcome| is_open(outcome) && (decides(outcome) || may_note(outcome)));
        match (is_gap, is_left || !all().any(is_answered), self.assumptions.is_empty()) {
            (true, _, _) => Decision::NotAssessed,
            (false, true, _) => Decision::NotAsked,
            (false, false, true) => Decision::Pass,
            (false, false, false) => Decision::PassAssuming,
        }
    }
}

/// Whether a release was made elsewhere, the promise is about value sets, and it is not known who is in which of its groups.
fn is_unseated(material: &Material<'_>) -> bool {
    let keeps_sets = material.series.promise.is_some_and(|promise| promise.keeps_value_sets);
    material.about.has_adopted && keeps_sets && material.series.knowledge.is_none()
}

/// The findings that bear on a question, one sentence per code.
fn evidence(bearing: &Bearing, findings: &[&[FindingFacts]; 2], material: &Material<'_>) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut codes: Vec<&str> = Vec::new();
    let [at_the_lines, at_two] = findings;
    let all = at_the_lines.iter().map(|finding| (finding, true)).chain(at_two.iter().map(|finding| (finding, false)));
    for (finding, is_promised) in all.filter(|(finding, _)| bearing.bears(finding)) {
        if codes.contains(&finding.code.as_str()) {
            continue;
        }
        codes.push(&finding.code);
        let releases = finding.releases();
        let word = if releases.len() == 1 { "release" } else { "releases" };
        let aside = match (is_promised, material.series.promise) {
            (true, _) => "",
            // A note has no threshold at all.
            _ if finding.severity == Severity::Note => "",
            (false, Some(_)) => " The promise sets no threshold here; this question sets one, of two.",
            (false, None) => " No threshold was set here; this question sets one, of two.",
        };
        sentences.push(format!(
            "{} {} ({word} {}, {}).{aside}",
            finding.code,
            finding.title,
            list(&releases),
            people(finding.people)
        ));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Report;
    use crate::report::samples::{broken, clean, release};

    fn report(verdict: Verdict) -> Report {
        let mut sample = clean();
        let open = Outcome { verdict, ..Outcome::new(Check::Posterior, Coverage::default()) };
        sample.assessment.outcomes.push(open);
        sample.report(Edition::Auditor)
    }

    /// Whatever words a reason has: where it means that the people are not known, the verdict and its limits say so.
    #[test]
    fn no_reason_drops_the_warning_that_people_are_not_known() {
        let unknown: Vec<Reason> = Reason::ALL.iter().copied().filter(|reason| reason.is_people_unknown()).collect();
        assert_eq!(unknown, [Reason::PeopleUnknown, Reason::AccomplicesUnknown]);
        for &reason in Reason::ALL {
            for verdict in [Verdict::NotApplicable(reason), Verdict::NotAssessed(reason)] {
                let report = report(verdict);
                let warns = report
                    .verdict
                    .sentence
                    .contains("The private tables were not given, so 1 of 4 questions was not asked.");
                assert_eq!(warns, reason.is_people_unknown(), "{verdict:?}");
                let is_limit = |limit: &String| limit.contains("so posterior could not be asked");
                assert_eq!(report.not_covered.iter().any(is_limit), reason.is_people_unknown(), "{verdict:?}");
            }
            // A sentence that says it is a reason that means it.
            assert_eq!(reason.to_string().starts_with("the private tables were not given"), reason.is_people_unknown());
        }
    }

    /// Every page has one verdict: it is never better than the worst answer, and names what it leaves open.
    #[test]
    fn no_page_says_pass_and_fail_of_one_thing() {
        let alone = || {
            let mut sample = clean();
            sample.releases[0] = release(1, "2026-Q1", "20-29:F:ab+1 30-79:*:cdab");
            sample
        };
        let linked = || {
            let mut sample = clean();
            sample.releases[0].linked = (0..6).collect();
            sample
        };
        let mut told = Vec::new();
        for (name, mut sample) in [("clean", clean()), ("alone", alone()), ("linked", linked()), ("broken", broken())] {
            for gate in [None, Some(Gate::FoundNothing)] {
                if let Some(gate) = gate.clone() {
                    (sample.assessment, sample.about.gate) = (Default::default(), gate);
                }
                for edition in [Edition::Recipient, Edition::Steward, Edition::Auditor] {
                    let report = sample.report(edition);
                    let verdict = &report.verdict;
                    for question in &report.three_questions {
                        let agrees = match question.decision {
                            Decision::Fail => verdict.decision == Decision::Fail,
                            Decision::NotPromised => {
                                !matches!(verdict.decision, Decision::Pass | Decision::PassAssuming)
                                    && verdict.sentence.contains(question.possible.as_deref().unwrap())
                            }
                            Decision::NotAssessed => {
                                matches!(verdict.decision, Decision::Fail | Decision::NotAssessed)
                            }
                            Decision::NotAsked => {
                                matches!(verdict.decision, Decision::Fail | Decision::NotAssessed)
                                    || verdict.sentence.contains(&question.name)
                            }
                            Decision::Pass | Decision::PassAssuming => true,
                        };
                        assert!(agrees, "{name}: {} is {}, {verdict:?}", question.name, question.decision);
                    }
                }
                told.push((name, gate.is_some(), sample.report(Edition::Recipient).verdict.decision.words()));
            }
        }
        assert_eq!(
            told,
            [
                ("clean", false, "PASS WITH NAMED ASSUMPTION"),
                ("clean", true, "PASS WITH NAMED ASSUMPTION"),
                ("alone", false, "NOT PROMISED"),
                ("alone", true, "NOT PROMISED"),
                ("linked", false, "NOT PROMISED"),
                ("linked", true, "NOT PROMISED"),
                ("broken", false, "FAIL"),
                ("broken", true, "PASS WITH NAMED ASSUMPTION"),
            ]
        );
    }

    #[test]
    fn what_is_not_assessed_passes_for_no_reason() {
        for &reason in Reason::ALL {
            let report = report(Verdict::NotAssessed(reason));
            assert_eq!(report.verdict.decision, Decision::NotAssessed, "{reason:?}");
            assert!(report.verdict.sentence.contains("1 of 4 questions could not be answered"), "{reason:?}");
            assert!(report.next_steps.iter().any(|step| step.starts_with("To answer posterior: ")), "{reason:?}");
        }
    }
}
