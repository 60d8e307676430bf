//! A small series and an assessment made by hand, for the tests of this room.

use crate::audit::story::{SeenGroup, Story, StoryStep};
use crate::audit::{
    Assessment, Attacker, Budget, Check, Coverage, Fault, Finding, Outcome, Quantity, Reason, Series, Statement,
    Thresholds, Verdict, Witness,
};
use crate::measure::{AttributeError, CountErrors};
use crate::model::{
    Domain, GroupRule, Hides, Hierarchy, Quasi, Regions, Release, Schema, Scope, Sensitive, Span, Terms, Value, Values,
};
use crate::report::{
    About, BeforeFacts, ChurnFacts, DeclaredFact, Edition, FileFacts, GovernanceFacts, Material, Names, PrivateFacts,
    QueryErrorFacts, ReleaseOrigin, Report, TruthFacts,
};

/// Everything a report of the sample is made from.
pub struct Sample {
    pub schema: Schema,
    pub releases: Vec<Release>,
    pub promise: Option<Terms>,
    pub assessment: Assessment,
    pub about: About,
    pub has_truth: bool,
}

/// One group per word: `lo-hi:sex:values`, where values are letters and `+n` counts counterfeits.
pub fn release(number: u32, label: &str, groups: &str) -> Release {
    let values = Values::of(["asthma", "bronchitis", "cholera", "dyspepsia", "eczema"]);
    let mut release = Release { number, label: label.into(), regions: Regions::new(2), values, ..Release::default() };
    for word in groups.split(' ') {
        let (word, counterfeits) = word.split_once('+').unwrap_or((word, "0"));
        let [ages, sex, letters] = word.split(':').collect::<Vec<_>>()[..] else { panic!("three parts") };
        let (lo, hi) = ages.split_once('-').unwrap();
        let sexes = match sex {
            "F" => Span::exact(0),
            "M" => Span::exact(1),
            _ => Span::new(0, 1),
        };
        release.regions.push(&[Span::new(lo.parse().unwrap(), hi.parse().unwrap()), sexes]);
        let mut rows: Vec<Value> = letters.bytes().map(|letter| Value(u32::from(letter - b'a'))).collect();
        rows.sort_unstable();
        release.sensitive.append(&mut rows);
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(counterfeits.parse().unwrap());
    }
    release
}

pub fn schema() -> Schema {
    Schema::new(
        "patient",
        vec![
            Quasi::new("age", Domain::Integer { lo: 0, hi: 100 }),
            Quasi::new("sex", Domain::Category(Hierarchy::flat(["F", "M"]).unwrap())),
        ],
        vec![Sensitive::open("diagnosis")],
    )
}

/// Two releases that betray somebody.
pub fn broken() -> Sample {
    let releases = vec![
        release(1, "2026-Q1", "20-29:F:ab 30-49:*:cde 50-79:M:abcd+1"),
        release(2, "2026-Q2", "20-24:F:ac 25-49:*:bcde 50-79:M:abcd"),
    ];
    let whole = |of: u64, what: &'static str| Coverage { looked_at: of, of, what };
    let mut sizes = Outcome::new(Check::GroupSizes, whole(6, "groups"));
    let mut drift = Outcome { verdict: Verdict::Measured, ..Outcome::new(Check::Drift, whole(2, "releases")) };
    drift.measure(Some(1), Quantity::Loss, 0.25);
    drift.measure(None, Quantity::LossGrowth, f64::NAN);
    let finding = Finding {
        fault: Fault::TooFewCandidates,
        release: 2,
        people: 2,
        groups: 2,
        example: Some(1),
        others: vec![1],
        witness: Some(Witness {
            values: vec![Value(0)],
            person: Some(7),
            ..Witness::new(Statement::FewCandidates { presence: true }, vec![(0, 0), (1, 0)], 1, 2)
        }),
    };
    let alone = Finding {
        fault: Fault::TooFewPeople,
        release: 1,
        people: 2,
        groups: 1,
        example: None,
        others: vec![],
        witness: None,
    };
    sizes.found([alone]);
    let mut candidates = Outcome::new(Check::Candidates, whole(18, "people"));
    candidates.found([finding]);
    let posterior = Outcome {
        verdict: Verdict::NotAssessed(Reason::TooLargeToCount),
        ..Outcome::new(Check::Posterior, Coverage { looked_at: 12, of: 18, what: "people" })
    };
    let links = Outcome::not_applicable(Check::LinkedIds, Reason::NoLinkedIds);
    let seen = |group: u32, region: [&str; 2], values: &[u32]| SeenGroup {
        group,
        region: region.map(String::from).to_vec(),
        values: values.iter().map(|&value| Value(value)).collect(),
    };
    let step = |number: u32, label: &str, group: SeenGroup, left: &[u32]| StoryStep {
        release: number,
        label: label.into(),
        known: vec!["[23,24)".into(), "F".into()],
        found: group.values.clone(),
        groups: vec![group],
        left: left.iter().map(|&value| Value(value)).collect(),
        restarted: false,
    };
    let story = Story {
        person: Some(7),
        matched: None,
        steps: vec![
            step(1, "2026-Q1", seen(0, ["[20,30)", "F"], &[0, 1]), &[0, 1]),
            step(2, "2026-Q2", seen(0, ["[20,25)", "F"], &[0, 2]), &[0]),
        ],
    };
    let outcomes = vec![sizes, links, candidates, posterior, drift];
    Sample { releases, ..clean_with(Assessment { outcomes, story: Some(story), ..Assessment::default() }) }
}

/// Two releases that betray nobody.
pub fn clean() -> Sample {
    let outcomes = [Check::GroupSizes, Check::Diversity, Check::Candidates]
        .map(|check| Outcome::new(check, Coverage { looked_at: 4, of: 4, what: "groups" }));
    clean_with(Assessment { outcomes: outcomes.to_vec(), ..Assessment::default() })
}

/// A promise as a report is told it.
fn promise() -> Terms {
    let sentence = "Across all releases of this series, a reader attributes a person's sensitive value correctly with \
                    probability at most 1/2. Every way to assign people to rows that fits all releases counts equally.";
    let limits = [
        "It does not hide who is in the data.",
        "It does not hide that two people share a value.",
        "It does not resist knowledge of other people's values, or of who shares a value, such as relatives.",
        "Published tables may contain declared artificial records.",
    ];
    Terms {
        parameters: vec!["m = 2".into()],
        l: Some(2),
        hides: Hides::Value(2),
        least_group: 2,
        keeps_value_sets: true,
        groups: GroupRule::Balanced,
        adds_counterfeits: true,
        ..Terms::new("m-invariance", Scope::Series, sentence.into(), &limits)
    }
}

fn clean_with(assessment: Assessment) -> Sample {
    let file = |name: &str| FileFacts { name: name.into(), bytes: 120, sha256: "ab".repeat(32) };
    let source = |at: &str, name: &str| ReleaseOrigin {
        at: Some(at.into()),
        files: vec![file(name)],
        data: Some(format!("out/{name}")),
    };
    Sample {
        schema: schema(),
        releases: vec![release(1, "2026-Q1", "20-29:F:ab 30-79:*:cdab"), release(2, "2026-Q2", "20-79:*:abcd+1")],
        promise: Some(promise()),
        assessment,
        about: About {
            name: "ward-stays".into(),
            title: "Inpatient stays, quarterly".into(),
            contact: "steward@hospital.example".into(),
            software: "tacenda 0.1.0".into(),
            command: Some("tacenda audit r1.csv r2.csv".into()),
            reproduce: vec!["tacenda audit r1.csv r2.csv --format json".into()],
            policy_sha256: Some("cd".repeat(32)),
            seed_commitment: Some("ef".repeat(32)),
            sources: vec![source("2026-04-01T00:00:00Z", "r1.csv"), source("2026-07-01T00:00:00Z", "r2.csv")],
            ..About::default()
        },
        has_truth: false,
    }
}

impl Sample {
    pub fn report(&self, edition: Edition) -> Report {
        self.report_with(edition, Names::Coded)
    }

    pub fn report_with(&self, edition: Edition, names: Names) -> Report {
        let series = Series {
            schema: &self.schema,
            releases: &self.releases,
            traces: &[],
            promise: self.promise.as_ref(),
            knowledge: None,
            permanent: &[],
            population: None,
            households: None,
            rerun: None,
        };
        Report::new(&Material {
            edition,
            series,
            assessment: &self.assessment,
            attacker: Attacker::default(),
            thresholds: Thresholds::default(),
            about: &self.about,
            names,
            budget: Budget::default(),
            governance: Some(governance()),
            private: Some(private()),
            has_truth: self.has_truth,
        })
    }
}

/// Numbers that only the steward may see; each is one that occurs nowhere else.
pub fn private() -> PrivateFacts {
    let truth = |release: u32, withheld: u64, median: f64| TruthFacts {
        release,
        people: 40_507,
        withheld,
        before: BeforeFacts {
            smallest_group: 1,
            unique: 40_519,
            highest_identity: 1.0,
            mean_identity: 0.8641,
            people_below_k: 40_529,
        },
        query_error: Some(QueryErrorFacts {
            queries: 1000,
            selectivity: 0.1,
            median,
            mean: 0.16181,
            ninth_decile: 0.27183,
        }),
        count_errors: Some(CountErrors {
            one: 0.15913,
            two: 0.17913,
            without_counts: Some((0.20913, 0.21913)),
            attributes: vec![AttributeError { name: "age".into(), median: 0.18913, ninth_decile: 0.19913 }],
        }),
    };
    PrivateFacts {
        churn: vec![
            ChurnFacts { release: 1, arrived: 40_417, last_published: 40_423, waiting_since: 40_427 },
            ChurnFacts { release: 2, arrived: 40_429, last_published: 40_433, waiting_since: 40_459 },
        ],
        truth: vec![truth(1, 40_471, 0.13131), truth(2, 40_483, 0.14157)],
    }
}

/// What the policy file says of leaving, limits and dates.
pub fn governance() -> GovernanceFacts {
    let declared = |name: &str, text: &str| DeclaredFact { name: name.into(), text: text.into() };
    GovernanceFacts {
        declared: vec![declared("Purpose of the release", "Planning of wards"), declared("Legal basis", "")],
        deletion: "People who leave keep their value set in the vault.".into(),
        limits: vec!["counterfeits: at most 2.0 % of the published rows".into()],
        accepted_risk: None,
        review_by: Some("2027-07-01".into()),
        review_triggers: vec!["a new release".into()],
    }
}
