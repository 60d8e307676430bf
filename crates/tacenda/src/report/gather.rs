//! Gathers a report from the releases and the auditor's answers, according to what its readers may see.

use crate::audit::story::Story;
use crate::audit::{Assessment, Attacker, Budget, Check, Fault, Finding, Series, Thresholds, Witness};
use crate::model::{Language, is_data_file};
use crate::report::claim::claim;
use crate::report::codes::Codes;
use crate::report::release_facts::{Lens, release_facts};
use crate::report::words::{clean, list};
use crate::report::{
    CheckFacts, Edition, FORMAT, FileFacts, FindingFacts, GATE, GovernanceFacts, LimitFacts, MeasureFacts,
    PrivateFacts, Provenance, ReleaseFacts, Report, SeriesFacts, StepFacts, StepGroup, StoryFacts, WitnessFacts,
    WitnessGroup, columns, identifying, judge, picture, sequence, signing,
};

/// The most rows of a group that a witness lists.
const WITNESS_ROWS: usize = 200;

/// The most values of a group that a witness lists.
const WITNESS_VALUES: usize = 40;

/// The most groups that a step of a story shows.
const STEP_GROUPS: usize = 8;

/// What a report is made from.
#[derive(Clone, Debug)]
pub struct Material<'a> {
    /// Whom it is for.
    pub edition: Edition,
    /// The series that was examined.
    pub series: Series<'a>,
    /// The auditor's answers; empty if only the gate judged.
    pub assessment: &'a Assessment,
    /// What the attacker knows.
    pub attacker: Attacker,
    /// Where a number becomes a finding.
    pub thresholds: Thresholds,
    /// Names, files and hashes.
    pub about: &'a About,
    /// Whether sensitive values are named.
    pub names: Names,
    /// How much work the attacks were allowed.
    pub budget: Budget,
    /// How people who leave are treated, and until when this holds.
    pub governance: Option<GovernanceFacts>,
    /// What the vault and the private tables say.
    pub private: Option<PrivateFacts>,
    /// True if the reader supplied the private tables, as in an audit with them. Only then does an auditor see what they
    /// say.
    pub has_truth: bool,
}

/// Names, files and hashes: what is known about a series beside its rows.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The short name.
    pub name: String,
    /// The title for people.
    pub title: String,
    /// Whom to ask.
    pub contact: String,
    /// The program and its version.
    pub software: String,
    /// The SHA-256 of the policy file.
    pub policy_sha256: Option<String>,
    /// A hash of the seed.
    pub seed_commitment: Option<String>,
    /// The hash of the ledger's last line.
    pub ledger_head: Option<String>,
    /// Notes about how the input was read.
    pub notes: Vec<String>,
    /// What was assumed about the publisher when reading the input, one sentence each.
    pub assumptions: Vec<String>,
    /// Columns whose labels were taken for disjoint values without evidence. Findings that depend on it are
    /// conditional.
    pub guessed: Vec<String>,
    /// The command that makes it.
    pub command: Option<String>,
    /// How it can be repeated, one line each.
    pub reproduce: Vec<String>,
    /// When the report was made; `None` if the same input must give the same bytes.
    pub made_at: Option<String>,
    /// Per release, where it comes from; may be shorter.
    pub sources: Vec<ReleaseOrigin>,
    /// The gate's judgement before the releases were published.
    pub gate: Gate,
    /// Whether some releases were made elsewhere and adopted.
    pub has_adopted: bool,
    /// How these break the promise.
    pub broken: Vec<Finding>,
    /// What is not covered, besides what the promise itself names, one sentence each.
    pub not_covered: Vec<String>,
    /// Why the risk of comparing releases was accepted, if the policy file says so.
    pub accepted_series_risk: Option<String>,
    /// The language of the page for recipients.
    pub language: Language,
}

/// Where a release comes from.
#[derive(Clone, Debug, Default)]
pub struct ReleaseOrigin {
    /// When it was published.
    pub at: Option<String>,
    /// Its files.
    pub files: Vec<FileFacts>,
    /// The path of its data file: as it was named, or from the project's folder on.
    pub data: Option<String>,
}

impl ReleaseOrigin {
    /// The data file among the names of a release's files. Descriptions and counts are left out.
    pub fn data_name<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        names.into_iter().find(|name| is_data_file(name))
    }
}

/// The gate's judgement before the releases were published.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Gate {
    /// There was no gate, or its judgement is not known.
    #[default]
    NotAsked,
    /// It found nothing.
    FoundNothing,
    /// It found something, and the data are made up.
    Found(Vec<Finding>),
}

/// Whether sensitive values are named.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Names {
    /// As D1, D2, …
    #[default]
    Coded,
    /// As they are.
    Shown,
}

/// What an edition may say. Only this place decides; every form prints what it gets.
struct May {
    /// Private numbers: churn, who waits, withheld rows, risk before, error of counts.
    private: bool,
    /// Columns that were never published, the worked example, next steps, governance, when it was made.
    inside: bool,
    /// Proofs: witnesses, what checks measured, limits of the work, how to repeat it.
    proof: bool,
    /// What to sign.
    sign: bool,
}

impl May {
    fn of(material: &Material<'_>) -> May {
        match material.edition {
            Edition::Recipient => May { private: false, inside: false, proof: false, sign: false },
            Edition::Steward => May { private: true, inside: true, proof: false, sign: true },
            Edition::Auditor => May { private: material.has_truth, inside: true, proof: true, sign: false },
        }
    }
}

impl Report {
    /// Gathers everything the edition may say.
    pub fn new(material: &Material<'_>) -> Report {
        let series = &material.series;
        let about = material.about;
        let may = May::of(material);
        let has_values = series.traces.is_empty() || series.traces.iter().any(|traces| !traces.without_sensitive);
        let risk = columns::risk_kind(series.promise, has_values);
        let least = series.promise.map_or(material.thresholds.k, |promise| promise.least_group);
        let lens = Lens { schema: series.schema, thresholds: material.thresholds, least, risk };
        let releases: Vec<ReleaseFacts> = series
            .releases
            .iter()
            .enumerate()
            .map(|(at, release)| release_facts(release, series.traces.get(at), about.sources.get(at), &lens))
            .collect();
        let mut codes = Codes::new(material.names, series.releases.last().map(|release| &release.values));
        // The worked example names values first, so that its codes are the low ones.
        let story = material.assessment.story.as_ref().filter(|_| may.inside);
        let mut story = story.map(|story| story_facts(story, material, &mut codes));
        let findings = findings(material, &may, &mut codes);
        if let Some(story) = &mut story {
            story.finding = told_by(story, &findings);
        }
        let at_two = at_two(material, &findings);
        let assumptions = judge::assumptions(material);
        let sequence = sequence::sequence(material, &releases);
        let three_questions =
            judge::three_questions(material, &releases, &[&findings, &at_two], &assumptions, &sequence);
        let verdict = judge::verdict(material, &findings, &three_questions, &assumptions);
        let governance = material.governance.clone().filter(|_| may.inside);
        let private = material.private.clone().filter(|_| may.private);
        let next_steps = judge::next_steps(material, &findings, verdict.decision);
        let signing = match may.sign {
            true => signing::signing(&releases, &verdict, &assumptions, governance.as_ref(), private.as_ref()),
            false => Vec::new(),
        };
        Report {
            format: FORMAT,
            edition: material.edition,
            language: if material.edition == Edition::Recipient { about.language } else { Language::English },
            series: SeriesFacts {
                name: about.name.clone(),
                title: about.title.clone(),
                contact: about.contact.clone(),
                promise: series.promise.map(|promise| columns::promise(promise, &about.not_covered)),
                risk,
                columns: columns::columns(series.schema, material.edition, series.promise.is_some()),
            },
            three_questions,
            next_steps: if may.inside { next_steps } else { Vec::new() },
            not_covered: judge::not_covered(material, &at_two),
            checks: checks(material.assessment, &may),
            picture: picture::picture(series.schema, series.releases, &releases),
            provenance: provenance(material, &may),
            reproduce: if may.proof { about.reproduce.clone() } else { Vec::new() },
            governance,
            identifying: if may.sign { identifying::identifying(series.schema, series.releases) } else { Vec::new() },
            signing,
            private,
            verdict,
            releases,
            sequence,
            findings,
            story,
            assumptions,
        }
    }
}

fn checks(assessment: &Assessment, may: &May) -> Vec<CheckFacts> {
    assessment
        .outcomes
        .iter()
        .map(|outcome| CheckFacts {
            check: outcome.check.name().into(),
            question: outcome.check.question().into(),
            verdict: outcome.verdict.word(),
            why: outcome
                .verdict
                .reason()
                .map(|reason| reason.to_string())
                .or_else(|| outcome.theorem.map(|theorem| theorem.to_string()))
                .or_else(|| judge::nothing(outcome).map(String::from)),
            looked_at: outcome.coverage.looked_at,
            of: outcome.coverage.of,
            what: outcome.coverage.what.into(),
            findings: outcome.findings.len() as u64,
            measures: outcome
                .measures
                .iter()
                .filter(|_| may.proof)
                .map(|measure| MeasureFacts {
                    release: measure.release,
                    name: measure.quantity.to_string(),
                    value: measure.value.is_finite().then_some(measure.value),
                })
                .collect(),
        })
        .collect()
}

/// All findings, the worst first.
fn findings(material: &Material<'_>, may: &May, codes: &mut Codes<'_>) -> Vec<FindingFacts> {
    let found = material.assessment.outcomes.iter().flat_map(|outcome| {
        let check = outcome.check.name();
        outcome.findings.iter().map(move |finding| (check, finding))
    });
    let at_the_gate = match &material.about.gate {
        Gate::Found(findings) => &findings[..],
        _ => &[],
    };
    let at_the_gate = at_the_gate.iter().chain(&material.about.broken).map(|finding| (GATE, finding));
    let mut all: Vec<(&str, &Finding)> = found.chain(at_the_gate).collect();
    all.sort_by(|(_, a), (_, b)| {
        let worse = b.fault.severity().cmp(&a.fault.severity()).then(b.people.cmp(&a.people));
        worse.then(a.fault.code().cmp(b.fault.code())).then(a.release.cmp(&b.release)).then(a.others.cmp(&b.others))
    });
    let mut facts: Vec<FindingFacts> =
        all.into_iter().map(|(check, finding)| finding_facts(check, finding, material, may, codes)).collect();
    facts.iter_mut().zip(1..).for_each(|(finding, number)| finding.number = number);
    facts
}

/// The finding that a story illustrates: the one about people with as few values left, or the one about its place.
fn told_by(story: &StoryFacts, findings: &[FindingFacts]) -> Option<u32> {
    let fault = match (story.of_place, story.left) {
        (true, _) => Fault::PlaceGivesAway,
        (false, 1) => Fault::ValueCertain,
        (false, _) => Fault::FewCandidates,
    };
    let releases: Vec<u32> = story.steps.iter().map(|step| step.release).collect();
    let tells =
        |finding: &&FindingFacts| finding.code == fault.code() && (!story.of_place || finding.releases() == releases);
    findings.iter().find(tells).map(|finding| finding.number)
}

/// Additional findings at thresholds of two people and two values, of kinds that the given thresholds do not find.
fn at_two(material: &Material<'_>, findings: &[FindingFacts]) -> Vec<FindingFacts> {
    let outcomes = material.assessment.at_two.iter();
    let all = outcomes.flat_map(|outcome| outcome.findings.iter().map(|finding| plain(outcome.check.name(), finding)));
    all.filter(|finding| findings.iter().all(|known| known.code != finding.code)).collect()
}

fn finding_facts(
    check: &str,
    finding: &Finding,
    material: &Material<'_>,
    may: &May,
    codes: &mut Codes<'_>,
) -> FindingFacts {
    let witness = finding.witness.as_ref().filter(|_| may.proof);
    let mut plain = plain(check, finding);
    if let Some(provided) = provided(material).filter(|_| compares_regions(check, finding)) {
        plain.title = format!("{}, {provided}", plain.title);
    }
    FindingFacts {
        witness: witness.map(|witness| {
            let facts = witness_facts(witness, &material.series, codes);
            WitnessFacts { claim: claim(witness.claim, &facts, &plain.releases()), ..facts }
        }),
        ..plain
    }
}

/// The condition of findings that compare regions of several releases: that different labels have nothing in common.
fn provided(material: &Material<'_>) -> Option<String> {
    let columns = &material.about.guessed;
    (!columns.is_empty()).then(|| {
        let named: Vec<String> = columns.iter().map(|name| clean(name)).collect();
        format!("if different labels of {} have nothing in common", list(&named))
    })
}

/// Whether a finding depends on which regions overlap.
fn compares_regions(check: &str, finding: &Finding) -> bool {
    let compares = Check::ALL.iter().any(|one| one.name() == check && one.compares_regions());
    compares || finding.fault == Fault::LinkedTooFew
}

/// A finding without what proves it.
fn plain(check: &str, finding: &Finding) -> FindingFacts {
    FindingFacts {
        number: 0,
        code: finding.fault.code().into(),
        title: finding.fault.title().into(),
        severity: finding.fault.severity(),
        check: check.into(),
        release: finding.release,
        others: finding.others.clone(),
        people: finding.people,
        groups: finding.groups,
        witness: None,
    }
}

/// A witness without its sentence.
fn witness_facts(witness: &Witness, series: &Series<'_>, codes: &mut Codes<'_>) -> WitnessFacts {
    // The values of the claim are named first, so that they get the lowest codes.
    let values = codes.names(&witness.values);
    let mut group = |&(place, group): &(u32, u32)| {
        let release = series.releases.get(place as usize)?;
        let group = group as usize;
        if group >= release.group_count() {
            return None;
        }
        let traces = series.traces.get(place as usize);
        let name = traces.and_then(|traces| traces.group_names.get(group)).map(|name| clean(name));
        let places = traces.map_or(&[][..], |traces| &traces.places[..]);
        let rows = release.group_rows(group);
        let in_file = |row: usize| places.get(row).copied().unwrap_or(row as u32) + 1;
        let mut listed: Vec<u32> = rows.clone().map(in_file).collect();
        listed.sort_unstable();
        listed.truncate(WITNESS_ROWS);
        let region = release.region(group).iter().zip(&series.schema.quasi);
        let tells = traces.is_none_or(|traces| !traces.without_sensitive);
        let held = release.group_values(group).chunk_by(|a, b| a == b).take(WITNESS_VALUES).filter(|_| tells);
        Some(WitnessGroup {
            release: release.number,
            label: clean(&release.label),
            group: name.unwrap_or_else(|| (group + 1).to_string()),
            region: region
                .map(|(span, quasi)| {
                    let mut text = String::new();
                    quasi.print(*span, &mut text);
                    clean(&text)
                })
                .collect(),
            holds: held.map(|run| (codes.names(&run[..1]).remove(0), run.len() as u32)).collect(),
            row_count: rows.len() as u32,
            rows: listed,
        })
    };
    WitnessFacts {
        claim: String::new(),
        groups: witness.groups.iter().filter_map(&mut group).collect(),
        values,
        person: witness.person.and_then(|person| series.knowledge?.name(person)),
        attribute: witness.attribute.map(|at| clean(&series.schema.quasi[at as usize].name)),
        number: witness.number,
        line: witness.line,
    }
}

fn story_facts(story: &Story, material: &Material<'_>, codes: &mut Codes<'_>) -> StoryFacts {
    let quasi = &material.series.schema.quasi;
    let known = story.steps.first().map_or(&[][..], |step| &step.known[..]);
    // A place is where published regions overlap: anyone can see it.
    let of_place = story.person.is_none();
    let is_shown = of_place || material.names == Names::Shown;
    let shown = |at: usize| known.get(at).filter(|_| is_shown).map(|text| clean(text));
    let steps: Vec<StepFacts> = story
        .steps
        .iter()
        .map(|step| {
            let mut groups = Vec::new();
            for group in step.groups.iter().take(STEP_GROUPS) {
                let mut set = group.values.clone();
                set.sort_unstable();
                set.dedup();
                groups.push(StepGroup {
                    group: group.group + 1,
                    region: group.region.iter().map(|text| clean(text)).collect(),
                    values: codes.names(&set),
                    rows: group.values.len(),
                });
            }
            StepFacts {
                release: step.release,
                label: clean(&step.label),
                group_count: step.groups.len(),
                groups,
                found: codes.names(&step.found),
                left: codes.names(&step.left),
                restarted: step.restarted,
            }
        })
        .collect();
    StoryFacts {
        finding: None,
        of_place,
        coded: material.names == Names::Coded,
        known: quasi.iter().enumerate().map(|(at, quasi)| (quasi.name.clone(), shown(at))).collect(),
        matched: story.matched.as_ref().map(|values| codes.names(values)),
        left: story.left().len(),
        provided: provided(material),
        steps,
    }
}

fn provenance(material: &Material<'_>, may: &May) -> Provenance {
    let about = material.about;
    Provenance {
        software: about.software.clone(),
        policy_sha256: about.policy_sha256.clone(),
        seed_commitment: about.seed_commitment.clone().filter(|_| may.inside),
        ledger_head: about.ledger_head.clone(),
        k: material.thresholds.k,
        l: material.thresholds.l,
        t: material.thresholds.t,
        attacker: attacker(&material.attacker),
        notes: about.notes.clone(),
        command: about.command.clone(),
        limits: may.proof.then_some(LimitFacts {
            steps: material.budget.steps,
            pairs_left_out: material.assessment.pairs_left_out,
            seed: material.budget.seed,
        }),
        made_at: about.made_at.clone(),
    }
}

/// What the attacker knows, in words.
fn attacker(attacker: &Attacker) -> Vec<String> {
    let mut knows = vec!["everyone's exact quasi-identifiers".to_string()];
    if attacker.presence {
        knows.push("who is in which release".into());
    }
    if attacker.first_release {
        knows.push("that the target is in the first release".into());
    }
    match attacker.known_people {
        0 => (),
        1 => knows.push("one other person's sensitive value".into()),
        count => knows.push(format!("{count} other people's sensitive values")),
    }
    knows
}
