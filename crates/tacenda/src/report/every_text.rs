//! Does the page for recipients have every text in every language? Pages of every kind are made and taken apart.

use crate::audit::{
    Assessment, Attacker, Budget, Check, Coverage, Fault, Finding, Outcome, Reason, Series, Severity, Theorem,
    Thresholds, Verdict,
};
use crate::model::{Domain, Grid, Hierarchy, Language, Public, Quasi, Role, Scope, Sensitive, Traces};
use crate::report::samples::{Sample, broken, clean, release};
use crate::report::{Edition, Gate, Material, Names, Report, html, translated};
use std::collections::BTreeSet;

const OTHERS: [Language; 2] = [Language::German, Language::French];

/// How a page is asked for.
#[derive(Clone, Copy)]
struct How {
    attacker: Attacker,
    thresholds: Thresholds,
    counterfeits_known: bool,
}

impl Default for How {
    fn default() -> How {
        How { attacker: Attacker::default(), thresholds: Thresholds::default(), counterfeits_known: true }
    }
}

/// The page of a sample for recipients.
fn page(sample: &Sample, how: How) -> String {
    let traces: Vec<Traces> = sample
        .releases
        .iter()
        .map(|_| Traces { counterfeits_known: how.counterfeits_known, ..Traces::default() })
        .collect();
    let report = Report::new(&Material {
        edition: Edition::Recipient,
        series: Series {
            schema: &sample.schema,
            releases: &sample.releases,
            traces: &traces,
            promise: sample.promise.as_ref(),
            knowledge: None,
            permanent: &[],
            population: None,
            households: None,
            rerun: None,
        },
        assessment: &sample.assessment,
        attacker: how.attacker,
        thresholds: how.thresholds,
        about: &sample.about,
        names: Names::Coded,
        budget: Budget::default(),
        governance: None,
        private: None,
        has_truth: false,
    });
    html(&report)
}

/// Asserts that every text of the pages has a translation.
fn check(pages: &[String]) {
    for language in OTHERS {
        let missing: BTreeSet<String> = pages.iter().flat_map(|page| translated(page, language).missing).collect();
        assert!(missing.is_empty(), "{} has no text for: {missing:#?}", language.word());
    }
}

fn finding(fault: Fault) -> Finding {
    Finding { fault, release: 2, people: 3, groups: 2, example: None, others: vec![1], witness: None }
}

fn outcome(check: Check, verdict: Verdict, what: &'static str) -> Outcome {
    Outcome { verdict, ..Outcome::new(check, Coverage { looked_at: 1200, of: 3400, what }) }
}

fn judged(outcomes: Vec<Outcome>) -> Sample {
    Sample { assessment: Assessment { outcomes, ..Assessment::default() }, ..clean() }
}

/// Everything that may be counted.
const COUNTED: [&str; 13] = [
    "people",
    "groups",
    "releases",
    "changes",
    "rows",
    "names in common",
    "components",
    "pairs of groups",
    "pairs of releases",
    "joins of releases",
    "boundaries",
    "ids",
    "people of releases",
];

#[test]
fn every_finding_has_its_words() {
    let mut all = judged(vec![outcome(Check::Candidates, Verdict::Fail, "people")]);
    all.assessment.outcomes[0].findings = Fault::ALL.iter().map(|&fault| finding(fault)).collect();
    let one = |&fault: &Fault| {
        let mut sample = judged(Vec::new());
        sample.about.gate = Gate::Found(vec![Finding { release: 1, others: Vec::new(), ..finding(fault) }]);
        sample
    };
    // A verdict names the worst; each severity has its words.
    let worst = [Fault::ValueCertain, Fault::SmallGroup, Fault::TightBoundaries];
    let mut pages: Vec<String> = worst.iter().map(|fault| page(&one(fault), How::default())).collect();
    pages.push(page(&all, How::default()));
    // What two people and two values find beside.
    let mut beside = clean();
    let findings = Fault::ALL.iter().filter(|fault| fault.severity() != Severity::Note).map(|&fault| finding(fault));
    beside.assessment.at_two =
        vec![Outcome { findings: findings.collect(), ..outcome(Check::GroupSizes, Verdict::Fail, "groups") }];
    pages.push(page(&beside, How::default()));
    beside.promise = None;
    pages.push(page(&beside, How { thresholds: Thresholds { k: 1, l: 1, t: None }, ..How::default() }));
    check(&pages);
}

#[test]
fn every_answer_of_every_check_has_its_words() {
    let mut pages = Vec::new();
    for reasons in Reason::ALL.chunks(Check::ALL.len()) {
        for verdict in [Verdict::NotAssessed, Verdict::NotApplicable] {
            let asked = Check::ALL.iter().zip(reasons).zip(COUNTED.iter().cycle());
            let outcomes = asked.map(|((&check, &reason), what)| outcome(check, verdict(reason), what));
            pages.push(page(&judged(outcomes.collect()), How::default()));
        }
    }
    // Each reason where links are tied together.
    for &reason in Reason::ALL {
        let ties = [Check::Correspondence, Check::Matching, Check::Equivalence];
        let outcomes = ties.map(|check| Outcome::not_applicable(check, reason));
        pages.push(page(&judged(outcomes.to_vec()), How::default()));
    }
    let theorems = [
        Theorem::EquallyLikely,
        Theorem::EquallyLikelyAsPromised,
        Theorem::StillPossible,
        Theorem::Exchangeable,
        Theorem::ExchangeableAsPromised,
    ];
    let proved = theorems
        .map(|theorem| Outcome { theorem: Some(theorem), ..outcome(Check::Posterior, Verdict::Pass, "people") });
    pages.push(page(&judged(proved.to_vec()), How::default()));
    for verdict in [Verdict::Pass, Verdict::Noted, Verdict::Measured, Verdict::Fail] {
        let outcomes = Check::ALL.map(|check| Outcome {
            coverage: Coverage { looked_at: 4, of: if check == Check::Drift { 0 } else { 4 }, what: "groups" },
            ..outcome(check, verdict, "groups")
        });
        pages.push(page(&judged(outcomes.to_vec()), How::default()));
    }
    check(&pages);
}

#[test]
fn every_reader_and_threshold_has_its_words() {
    let mut pages = Vec::new();
    for known_people in [0, 1, 3] {
        for (presence, first_release) in [(true, false), (false, true), (false, false)] {
            for (k, l, t) in [(1, 1, None), (1, 3, None), (3, 1, Some(0.25)), (3, 2, None)] {
                let attacker = Attacker { presence, first_release, known_people, reader: None };
                let thresholds = Thresholds { k, l, t };
                let how = How { attacker, thresholds, counterfeits_known: presence };
                for mut sample in [clean(), broken()] {
                    sample.assessment.pairs_left_out = u64::from(known_people);
                    pages.push(page(&sample, how));
                    sample.promise = None;
                    pages.push(page(&sample, how));
                }
            }
        }
    }
    let mut measured = judged(vec![outcome(Check::Drift, Verdict::Measured, "releases")]);
    pages.push(page(&measured, How::default()));
    measured.assessment.outcomes = Vec::new();
    pages.push(page(&measured, How::default()));
    check(&pages);
}

/// Sizes, columns, ids, counterfeits and gates of every kind.
#[test]
fn every_kind_of_release_has_its_words() {
    let mut pages = Vec::new();
    let gates = [Gate::NotAsked, Gate::FoundNothing, Gate::Found(vec![finding(Fault::TooFewPeople)])];
    for scope in [Scope::Series, Scope::EachRelease, Scope::Views] {
        for (gate, reason) in gates.iter().flat_map(|gate| [(gate, None), (gate, Some("It is a study. Really."))]) {
            let mut sample = judged(Vec::new());
            sample.about.gate = gate.clone();
            sample.about.accepted_series_risk = reason.map(String::from);
            sample.promise.iter_mut().for_each(|promise| promise.scope = scope);
            for releases in [2, 1] {
                sample.releases.truncate(releases);
                pages.push(page(&sample, How::default()));
            }
            sample.releases = vec![release(1, "one", "20-29:F:ab+1 30-79:*:cdab"), release(2, "two", "0-99:*:abcd+1")];
            sample.releases[0].linked = (0..6).collect();
            pages.push(page(&sample, How::default()));
        }
    }
    let mut many = clean();
    let groups: Vec<String> =
        (0..300).map(|at| format!("{}-{}:F:{}", at % 90, at % 90 + 5, "abc".repeat(at % 70 + 1))).collect();
    many.releases = (1..=230).map(|number| release(number, &format!("r{number}"), "20-29:F:ab 30-79:*:cdab")).collect();
    many.releases[0] = release(1, "first", &groups.join(" "));
    many.about.command = None;
    pages.push(page(&many, How::default()));
    let mut columns = clean();
    let tree = [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]].map(|row| row.map(String::from).to_vec());
    let age = &mut columns.schema.quasi[0];
    (age.grid, age.min_width, age.nullable) = (Grid::Every { pitch: 10, phase: 0 }, 5, true);
    columns.schema.quasi[1] = Quasi::new("place", Domain::Category(Hierarchy::from_rows(&tree).unwrap())).nullable();
    columns.schema.quasi[1].grid = Grid::Lines(vec![0, 1]);
    columns.schema.sensitive.push(Sensitive { labels: vec![("a".into(), "b".into())], ..Sensitive::open("code") });
    columns.schema.public.push(Public { name: "ward".into(), because: "It is a list. Everyone has it.".into() });
    columns.schema.order.extend([(Role::Sensitive, 1), (Role::Public, 0)]);
    pages.push(page(&columns, How::default()));
    columns.schema.quasi.truncate(1);
    columns.schema.quasi.push(Quasi::new("alone", Domain::Category(Hierarchy::flat(["only"]).unwrap())));
    columns.releases = vec![release(1, "one", "20-29:F:ab 30-79:F:cdab")];
    pages.push(page(&columns, How::default()));
    check(&pages);
}

/// Words of the page that a table could have as names, labels and values; short, so that no plot cuts them.
const OURS: [&str; 6] = ["People", "Release", "Findings", "none", "1 release", "1,234.5"];

/// A word that is on no page.
const THEIRS: &str = "Zzyzx";

/// The page of a series in which everything has one name.
fn named(name: &str) -> String {
    let mut sample = broken();
    sample.schema.quasi[0].name = name.into();
    sample.schema.sensitive[0].name = name.into();
    sample.releases.iter_mut().for_each(|release| release.label = name.into());
    (sample.about.name, sample.about.title) = (name.into(), name.into());
    (sample.about.contact, sample.about.software) = (name.into(), name.into());
    sample.about.sources[0].files[0].name = name.into();
    sample.about.not_covered = vec![format!("Release 1 was withdrawn on 2026-01-02: {name}. Do not use it.")];
    page(&sample, How::default())
}

#[test]
fn what_comes_from_the_data_stays_as_it_is() {
    for language in OTHERS {
        let theirs = translated(&named(THEIRS), language);
        assert!(theirs.missing.is_empty(), "{:?}", theirs.missing);
        assert!(theirs.page.matches(THEIRS).count() > 30, "{}", theirs.page.matches(THEIRS).count());
        for ours in OURS {
            let said = translated(&named(ours), language).page;
            assert!(said == theirs.page.replace(THEIRS, ours), "{ours} does not stay {ours} in {}", language.word());
        }
    }
}

/// The tags are the same in every language, and a page says its own.
#[test]
fn a_translated_page_is_the_same_page() {
    let mut sample = broken();
    let tags = |page: &str| -> Vec<String> {
        let tags = page.split('<').skip(1).map(|part| part.split(['>', ' ']).next().unwrap().to_string());
        tags.filter(|tag| !tag.ends_with('p')).collect()
    };
    let english = html(&sample.report(Edition::Recipient));
    for (language, binding) in OTHERS.into_iter().zip(["Verbindlich ist der Wortlaut", "fait foi"]) {
        sample.about.language = language;
        let page = html(&sample.report(Edition::Recipient));
        assert!(page.contains(&format!("<html lang=\"{}\">", language.word())) && page.contains(binding));
        assert_eq!(tags(&page), tags(&english));
        for edition in [Edition::Steward, Edition::Auditor] {
            let page = html(&sample.report(edition));
            assert!(page.contains("<html lang=\"en\">") && !page.contains(binding), "other editions are English");
        }
    }
    assert!(!english.contains("binding text"));
}
