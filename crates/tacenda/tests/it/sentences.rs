//! What a promise says stands in one place, and the docs quote it word by word.

use std::path::Path;
use tacenda::model::Reader;
use tacenda::promise::{
    GroupForming, IncrementalKAnonymity, IncrementalLDiversity, KAnonymity, MInvariance, Parameters, XyAnonymity,
    XyLinkability,
};

/// One line, with one blank between words, without the marks of a quotation.
fn flat(text: &str) -> String {
    text.replace("\n>", "\n").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A sentence with numbers that occur in no other place, named as the docs name them.
fn named(sentence: &str, numbers: &[(&str, &str)]) -> String {
    numbers.iter().fold(flat(sentence), |text, (number, name)| text.replace(number, name))
}

#[test]
fn the_page_of_guarantees_quotes_every_promise_word_by_word() {
    let page =
        flat(&std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guarantees.md")).unwrap());
    let mut said: Vec<String> = Vec::new();
    for reader in [Reader::Rule, Reader::Method] {
        said.push(named(&MInvariance { reader, ..MInvariance::new(97) }.terms().sentence, &[("97", "m")]));
        let diversity = IncrementalLDiversity { reader, ..IncrementalLDiversity::new(97) };
        said.push(named(&diversity.terms().sentence, &[("97", "l")]));
    }
    let drawn =
        IncrementalLDiversity { reader: Reader::Method, groups: GroupForming::Drawn, ..IncrementalLDiversity::new(97) };
    let sentence = drawn.terms().sentence;
    let (rest, last) = sentence.split_once(" How groups were drawn").expect("a sentence more");
    said.extend([named(rest, &[("97", "l")]), format!("How groups were drawn{last}")]);
    for cohorts in [true, false] {
        let promise = IncrementalKAnonymity { cohorts, l: Some(89), ..IncrementalKAnonymity::new(97) };
        said.push(named(&promise.terms().sentence, &[("97", "k"), ("96", "k − 1"), ("89", "l")]));
    }
    said.push(named(&KAnonymity::new(97).terms().sentence, &[("97", "k")]));
    let y = vec!["y".to_string()];
    said.push(named(&XyAnonymity { x: y.clone(), y: y.clone(), k: 97 }.terms().sentence, &[("97", "k")]));
    let share = XyLinkability { x: y.clone(), y, max_confidence_permille: 977, listed: Vec::new(), only_listed: false };
    said.push(named(&share.terms().sentence, &[("97.7", "p")]));
    for sentence in said {
        assert!(page.contains(&sentence), "docs/guarantees.md does not quote: {sentence}");
    }
}

/// No sentence claims the reader who knows the program but those that are proved against it.
#[test]
fn only_the_method_reader_is_said_to_know_the_program() {
    let rule = MInvariance::new(4).terms();
    assert!(
        !rule.sentence.contains("program") && rule.limits.iter().any(|limit| limit.contains("how this program places"))
    );
    let method = MInvariance { reader: Reader::Method, ..MInvariance::new(4) }.terms();
    assert!(method.sentence.contains("exactly how this program works"));
}

/// What the program refuses is seen, and the theorem says nothing of it: every release says so.
#[test]
fn a_skipped_release_is_said_to_be_visible_and_outside_the_bound() {
    let diversity = IncrementalLDiversity { reader: Reader::Method, ..IncrementalLDiversity::new(4) };
    let [dealt, drawn] =
        [GroupForming::Dealt, GroupForming::Drawn].map(|groups| IncrementalLDiversity { groups, ..diversity });
    let invariance = MInvariance { reader: Reader::Method, ..MInvariance::new(4) };
    let page =
        flat(&std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guarantees.md")).unwrap());
    for terms in [diversity.terms(), dealt.terms(), drawn.terms(), invariance.terms()] {
        let skipped = terms.limits.iter().find(|limit| limit.contains("skipped")).expect("a limit");
        assert!(skipped.contains("who sees that") && skipped.contains("does not hold for such a series"), "{skipped}");
        let chosen = terms.limits.iter().find(|limit| limit.contains("chosen by comparing")).expect("another");
        for limit in [skipped, chosen] {
            assert!(page.contains(&flat(limit)), "docs/guarantees.md does not say: {limit}");
        }
    }
    assert!(MInvariance::new(4).terms().limits.iter().all(|limit| !limit.contains("skipped")));
}
