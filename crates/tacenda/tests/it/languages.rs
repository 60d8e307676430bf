//! Does every promise say in every language what it says in English? Sentences and limits of every promise under every
//! parameter that changes a word, and what a policy file adds.

use crate::kit::file;
use tacenda::model::{Language, Reader, RowRule, Sensitive, Terms};
use tacenda::promise::{
    DiversityMode, GroupForming, IncrementalKAnonymity, IncrementalLDiversity, KAnonymity, ListedShare, MInvariance,
    OnIneligible, Parameters, XyAnonymity, XyLinkability,
};
use tacenda::report::translated;

const BOTH: [Reader; 2] = [Reader::Rule, Reader::Method];

fn m_invariance() -> Vec<Terms> {
    let mut all = Vec::new();
    for reader in BOTH {
        for k in [None, Some(1234)] {
            for on_ineligible in [OnIneligible::Refuse, OnIneligible::Defer, OnIneligible::Counterfeit] {
                all.push(MInvariance { reader, k, on_ineligible, ..MInvariance::new(7) }.terms());
            }
        }
    }
    all
}

fn diversity() -> Vec<Terms> {
    let mut all = Vec::new();
    for reader in BOTH {
        for groups in [GroupForming::Close, GroupForming::Dealt, GroupForming::Drawn] {
            for mode in [DiversityMode::Safe, DiversityMode::Paper] {
                all.push(IncrementalLDiversity { reader, groups, mode, ..IncrementalLDiversity::new(7) }.terms());
            }
        }
    }
    all
}

fn anonymity() -> Vec<Terms> {
    let mut all = vec![KAnonymity::new(7).terms()];
    for (cohorts, tight) in [(true, false), (false, true), (false, false)] {
        for l in [None, Some(8)] {
            all.push(IncrementalKAnonymity { cohorts, tight, l, ..IncrementalKAnonymity::new(7) }.terms());
        }
    }
    all
}

fn views() -> Vec<Terms> {
    let (x, y) = (vec!["job".to_string()], vec!["income".to_string()]);
    let mut all = vec![XyAnonymity { x: x.clone(), y: y.clone(), k: 7 }.terms()];
    let share = ListedShare { values: vec!["high".into()], spans: Vec::new(), max_permille: 125 };
    for (listed, only_listed) in [(vec![], false), (vec![share.clone()], false), (vec![share], true)] {
        let promise = XyLinkability { x: x.clone(), y: y.clone(), max_confidence_permille: 250, listed, only_listed };
        all.push(promise.terms());
    }
    all
}

/// What a policy file adds to what its promise does not cover.
fn policies() -> Vec<Terms> {
    let mut all = Vec::new();
    for rule in [RowRule::One, RowRule::First, RowRule::Latest, RowRule::Combine] {
        let mut policy = file(tacenda::promise::SeriesPromise::from(MInvariance::new(7)));
        policy.schema.person.rule = rule;
        policy.schema.sensitive.push(Sensitive::open("ward"));
        policy.reasons.accept_adopted = Some("It is a study.".into());
        all.push(policy.terms());
    }
    all
}

/// The text of a page that has one.
fn said(text: &str, language: Language) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    let said = translated(&format!("<p>{escaped}</p>"), language);
    assert!(said.missing.is_empty(), "{}: {:?}", language.word(), said.missing);
    said.page
}

/// Everything that looks like a number, in order of size: another language may put them in another order.
fn numbers(text: &str) -> Vec<&str> {
    let mut numbers: Vec<&str> =
        text.split(|letter: char| !letter.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    numbers.sort_unstable();
    numbers
}

#[test]
fn every_promise_is_said_in_every_language_with_all_its_numbers() {
    let all = [m_invariance(), diversity(), anonymity(), views(), policies()].concat();
    let mut count = 0;
    for terms in &all {
        for text in std::iter::once(terms.sentence.as_str()).chain(terms.limits.iter().copied()) {
            for language in [Language::German, Language::French] {
                let said = said(text, language);
                assert_ne!(said, format!("<p>{text}</p>"));
                assert_eq!(numbers(&said), numbers(text), "{said}");
                count += 1;
            }
        }
    }
    assert!(count > 400, "{count}");
}

/// The words that a promise turns on, so that no translation forgets a not.
#[test]
fn a_sentence_that_denies_denies_in_every_language() {
    let all = [m_invariance(), diversity(), anonymity(), views(), policies()].concat();
    let denies = |text: &str, words: &[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
    for terms in &all {
        for limit in &terms.limits {
            for sentence in limit.split_inclusive(". ").map(str::trim) {
                if !denies(sentence, &["not ", "nobody", "no ", "never", "nothing", "nor "]) {
                    continue;
                }
                let german = said(sentence, Language::German);
                assert!(denies(&german, &["nicht", "kein", "niemand", "nie", "weder", "noch"]), "{german}");
                let french = said(sentence, Language::French);
                assert!(denies(&french, &["ne ", "n’", "aucun", "personne", "jamais", "ni "]), "{french}");
            }
        }
    }
}
