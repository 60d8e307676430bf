//! Series to audit, written as words: people, groups, and what happened to them.

use proptest::prelude::*;
use tacenda::audit;
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::{Assessment, Attacker, Budget, Check, Outcome, Series, Thresholds, Traces};
use tacenda::model::{
    Domain, Quasi, RecordKey, Regions, Release, Schema, Sensitive, Span, Table, Terms, Value, Values,
};

/// A series with everything that can be known of it.
#[derive(Clone, Debug)]
pub struct Case {
    pub schema: Schema,
    pub tables: Vec<Table>,
    pub releases: Vec<Release>,
    pub traces: Vec<Traces>,
    pub promise: Option<Terms>,
    pub attacker: Attacker,
    pub lines: Thresholds,
    pub budget: Budget,
}

impl Case {
    pub fn new(schema: Schema, tables: Vec<Table>, releases: Vec<Release>) -> Case {
        let traces = vec![Traces::default(); releases.len()];
        Case {
            schema,
            tables,
            releases,
            traces,
            promise: None,
            attacker: Attacker::default(),
            lines: Thresholds::default(),
            budget: Budget::default(),
        }
    }

    /// One attribute, one table and one release a pair of words.
    pub fn of(words: &[(&str, &str)]) -> Case {
        let tables = words.iter().map(|words| table(words.0)).collect();
        let releases = words.iter().zip(1..).map(|(words, number)| release(number, words.1)).collect();
        Case::new(schema(1), tables, releases)
    }

    pub fn lines(mut self, k: u32, l: u32) -> Case {
        self.lines = Thresholds { k, l, t: None };
        self
    }

    /// The same series without its people.
    pub fn seen_from_outside(mut self) -> Case {
        self.tables.clear();
        self
    }

    pub fn ask_all(&self) -> Assessment {
        self.ask_for(&Check::ALL)
    }

    pub fn ask_for(&self, checks: &[Check]) -> Assessment {
        self.with_series(|series| {
            audit::examine_only(series, self.attacker, &self.lines, &self.budget, &|_| {}, checks)
        })
    }

    pub fn with_series<T>(&self, then: impl FnOnce(&Series<'_>) -> T) -> T {
        let knowledge = (!self.tables.is_empty()).then(|| Knowledge::from_tables(&self.tables));
        then(&Series {
            schema: &self.schema,
            releases: &self.releases,
            traces: &self.traces,
            promise: self.promise.as_ref(),
            knowledge: knowledge.as_ref(),
            permanent: &[],
            population: None,
            households: None,
            rerun: None,
        })
    }

    pub fn ask(&self, check: Check) -> Outcome {
        self.ask_for(&[check]).outcomes.remove(0)
    }

    /// Verdict and findings of a check: `FAIL A731 1`, code and people.
    pub fn told(&self, check: Check) -> String {
        let outcome = self.ask(check);
        let mut told = outcome.verdict.word().to_string();
        for finding in &outcome.findings {
            told += &format!(" {} {}", finding.fault.code(), finding.people);
        }
        told
    }
}

pub fn schema(attributes: usize) -> Schema {
    let quasi = |at: usize| Quasi::new(&format!("q{at}"), Domain::Integer { lo: 0, hi: 128 });
    Schema::new("id", (0..attributes).map(quasi).collect(), vec![Sensitive::open("s")])
}

pub fn values() -> Values {
    Values::of(["a", "b", "c", "d", "e", "f", "g", "h"])
}

pub fn value(letter: char) -> Value {
    Value(letter as u32 - 'a' as u32)
}

/// One person a word: `id/point/value`, points with commas between attributes.
pub fn table(people: &str) -> Table {
    let mut rows: Vec<(u64, Vec<u32>, Value)> = people
        .split(' ')
        .map(|word| {
            let parts: Vec<&str> = word.split('/').collect();
            let point = parts[1].split(',').map(|code| code.parse().unwrap()).collect();
            (parts[0].parse().unwrap(), point, value(parts[2].chars().next().unwrap()))
        })
        .collect();
    rows.sort();
    let attributes = rows[0].1.len();
    Table::new(
        rows.iter().map(|row| RecordKey { hi: row.0, lo: 0 }).collect(),
        (0..attributes).map(|at| rows.iter().map(|row| row.1[at]).collect()).collect(),
        rows.iter().map(|row| row.2).collect(),
        values(),
        Vec::new(),
        Vec::new(),
    )
}

/// One group per word: `lo-hi/values`, spans with commas between attributes, `+n` for n counterfeits.
pub fn release(number: u32, groups: &str) -> Release {
    let spans = |word: &str| -> Vec<Span> {
        word.split(',')
            .map(|span| {
                let (lo, hi) = span.split_once('-').unwrap_or((span, span));
                Span::new(lo.parse().unwrap(), hi.parse().unwrap())
            })
            .collect()
    };
    let words: Vec<&str> = groups.split(' ').collect();
    let attributes = spans(words[0].split('/').next().unwrap()).len();
    let mut release = Release { number, regions: Regions::new(attributes), values: values(), ..Release::default() };
    for word in words {
        let (word, counterfeits) = word.split_once('+').unwrap_or((word, "0"));
        let (region, letters) = word.split_once('/').unwrap();
        release.regions.push(&spans(region));
        let mut rows: Vec<Value> = letters.chars().map(value).collect();
        rows.sort_unstable();
        release.sensitive.append(&mut rows);
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(counterfeits.parse().unwrap());
    }
    release
}

/// Up to three releases of a few people in any groups with the smallest boxes, now and then with a
/// counterfeit unless they only grow.
pub fn evolution(most: usize, grows: bool) -> impl Strategy<Value = Case> {
    changing(most, grows, false)
}

/// The same, and some people have another value from some release on.
pub fn changing(most: usize, grows: bool, changes: bool) -> impl Strategy<Value = Case> {
    let groups = prop::collection::vec(0usize..3, 3);
    let present = prop::collection::vec(prop::bool::weighted(0.7), 3);
    let change = prop::option::weighted(0.4, (1usize..3, 0u32..4)).prop_map(move |change| change.filter(|_| changes));
    let people = prop::collection::vec((0u32..10, 0u32..4, groups, present, change), 2..=most);
    let counterfeits = prop::collection::vec(prop::option::weighted(0.15, 0u32..4), 9);
    (people, counterfeits, 1usize..=3).prop_filter_map("somebody is there", move |(people, counterfeits, count)| {
        let mut words: Vec<(String, String)> = Vec::new();
        for number in 0..count {
            let is_here = |person: &usize| {
                let present = &people[*person].3;
                if grows { present[..=number].iter().any(|&here| here) } else { present[number] }
            };
            let here: Vec<usize> = (0..people.len()).filter(is_here).collect();
            if here.is_empty() {
                return None;
            }
            let letter = |value: u32| char::from(b'a' + value as u8);
            let value = |person: usize| match people[person].4 {
                Some((since, value)) if since <= number => value,
                _ => people[person].1,
            };
            let word = |&person: &usize| format!("{person}/{}/{}", people[person].0, letter(value(person)));
            let group_word = |group: usize| {
                let members: Vec<usize> =
                    here.iter().copied().filter(|&person| people[person].2[number] == group).collect();
                let lo = members.iter().map(|&person| people[person].0).min()?;
                let hi = members.iter().map(|&person| people[person].0).max()?;
                let real: String = members.iter().map(|&person| letter(value(person))).collect();
                Some(match counterfeits[number * 3 + group].filter(|_| !grows) {
                    Some(fake) => format!("{lo}-{hi}/{real}{}+1", letter(fake)),
                    None => format!("{lo}-{hi}/{real}"),
                })
            };
            let table = here.iter().map(word).collect::<Vec<_>>().join(" ");
            words.push((table, (0..3).filter_map(group_word).collect::<Vec<_>>().join(" ")));
        }
        let words: Vec<(&str, &str)> = words.iter().map(|words| (&words.0[..], &words.1[..])).collect();
        Some(Case::of(&words))
    })
}
