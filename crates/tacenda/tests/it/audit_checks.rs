//! One planted breach of each kind, and the papers' own examples.

use crate::audit_sketch::{Case, release, schema, table, value};
use crate::audit_verify::verify;
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::{
    Attacker, Budget, Check, JoinEvidence, Quantity, Reason, Series, Severity, Thresholds, Traces, Verdict,
    VerdictWord, examine_only, stories_of,
};
use tacenda::made_up::naive::{Diversity, Naive};
use tacenda::made_up::{hospital, paper003};
use tacenda::model::{Release, Table, Value};
use tacenda::promise::{IncrementalKAnonymity, MInvariance, Parameters, XyAnonymity};

const ARRIVAL: Attacker = Attacker { presence: false, first_release: true, known_people: 0, reader: None };
const QUASI: Attacker = Attacker { presence: false, first_release: false, known_people: 0, reader: None };

/// What a check says, with every witness re-verified.
fn told(case: &Case, check: Check) -> String {
    case.ask(check).findings.iter().for_each(|finding| verify(case, finding));
    case.told(check)
}

fn measure(case: &Case, check: Check, quantity: Quantity) -> f64 {
    let outcome = case.ask(check);
    let found = outcome.measures.iter().find(|measure| measure.quantity == quantity);
    found.unwrap_or_else(|| panic!("no {quantity}")).value
}

#[test]
fn each_release_alone() {
    let case = Case::of(&[("1/1/a 2/2/a 3/9/b 4/10/c 5/11/d 6/12/d", "1-2/aa 9-10/bc 11-11/d 12-12/d")]);
    let case = case.seen_from_outside().lines(3, 3);
    assert_eq!(told(&case, Check::GroupSizes), "FAIL A701 2 A702 4");
    assert_eq!(told(&case, Check::Diversity), "FAIL A703 4 A704 2");
    assert_eq!(told(&case, Check::Frequency), "NOTED A705 6");
    assert_eq!(told(&case, Check::Closeness), "MEASURED");
    let strict = Case { lines: Thresholds { t: Some(0.5), ..case.lines }, ..case.clone() };
    // {a,a} against a 2/6: 4/6. {b,c}: 1/2 - 1/6 twice. {d}: 4/6.
    assert_eq!(told(&strict, Check::Closeness), "FAIL A706 6");
    assert!((measure(&case, Check::Closeness, Quantity::LargestDistance) - 4.0 / 6.0).abs() < 1e-8);
    assert_eq!(measure(&case, Check::GroupSizes, Quantity::SmallestGroup), 1.0);
    // Counterfeits are nobody.
    let case = Case::new(schema(1), Vec::new(), vec![release(1, "1-2/ab+1")]);
    assert_eq!(told(&case, Check::GroupSizes), "FAIL A701 1");
    // A group of counterfeits alone is nobody's, and proves nothing.
    let case = Case::new(schema(1), Vec::new(), vec![release(1, "1-2/ab+2 3-4/ab+1")]);
    assert_eq!(told(&case, Check::GroupSizes), "FAIL A701 1");
    let outcome = case.ask(Check::GroupSizes);
    let witness = outcome.findings[0].witness.as_ref().unwrap();
    assert_eq!((&witness.groups[..], witness.number), (&[(0, 1)][..], 1));
    assert_eq!((outcome.findings[0].groups, measure(&case, Check::GroupSizes, Quantity::SmallestGroup)), (1, 1.0));
    let case = Case::new(schema(1), Vec::new(), vec![release(1, "1-2/ab+2 3-4/ab")]);
    assert_eq!(told(&case, Check::GroupSizes), "PASS");
    assert_eq!(measure(&case, Check::GroupSizes, Quantity::MeanRisk), 0.5);
    let far = Case::new(schema(1), Vec::new(), vec![release(1, "1-2/cc+2 3-4/aabb")]);
    let far = Case { lines: Thresholds { t: Some(0.5), ..far.lines }, ..far };
    assert_eq!(told(&far, Check::Closeness), "PASS");
    assert!((measure(&far, Check::Closeness, Quantity::MeanDistance) - 1.0 / 3.0).abs() < 1e-8);
    let case = Case::new(schema(1), Vec::new(), vec![release(1, "1-2/aa+2 3-4/ab")]);
    assert_eq!((told(&case, Check::Diversity), told(&case, Check::Frequency)), ("PASS".into(), "PASS".into()));
    assert_eq!(measure(&case, Check::Diversity, Quantity::LeastDistinctValues), 2.0);
    assert_eq!(measure(&case, Check::Frequency, Quantity::LargestShare), 0.5);
}

/// science G5: Tables 2 and 5 of paper 000. Zip code, gender (0 female, 1 male), age; case-ids.
#[test]
fn linked_ids_of_paper_000_single_people_out() {
    let linked = |mut release: Release, ids: &[u64]| {
        release.linked = ids.to_vec();
        release
    };
    // Rows of a group stand by value: bird-flu a, HIV b, insomnia c, cancer d, obesity e, SARS f.
    let first = linked(release(1, "30-39,0-1,21-48/ab 30-39,0,26-31/cd"), &[1, 2, 3, 4]);
    let second = linked(release(2, "33,0,21-26/ac 37,1,48-54/be 30-39,0,31/df"), &[1, 3, 2, 5, 4, 6]);
    let mut case = Case::new(schema(3), Vec::new(), vec![first, second]);
    case.attacker = QUASI;
    // E = (1:1, 2:1, 3:1, 4:2, 5:1, 6:2): four below two.
    assert_eq!(told(&case, Check::LinkedIds), "FAIL A711 6 A712 4 A713 4");
    assert_eq!(measure(&case, Check::LinkedIds, Quantity::LeastAlike), 1.0);
    // Who knows who was there when tells 4 from 6 as well.
    case.attacker = Attacker::default();
    assert_eq!(told(&case, Check::LinkedIds), "FAIL A711 6 A712 6 A713 6");
    case.releases.truncate(1);
    case.traces.truncate(1);
    assert_eq!(told(&case, Check::LinkedIds), "NOTED A711 4");
}

#[test]
fn an_id_that_contradicts_itself_is_told() {
    let mut case = Case::of(&[("1/1/a 2/2/b", "1-2/ab"), ("1/9/c 2/2/b", "2-2/b 9-9/c")]);
    case.releases[0].linked = vec![7, 8];
    case.releases[1].linked = vec![8, 7];
    assert_eq!(told(&case, Check::LinkedIds), "FAIL A711 2 A712 2 A713 2 A714 1 A715 1");
    assert_eq!(case.ask(Check::LinkedIds).findings.last().unwrap().fault.severity(), Severity::Note);
}

/// science G9, CE-1: one newcomer, and the class grows by their value.
#[test]
fn a_single_newcomer_is_betrayed_by_the_difference() {
    let case = Case::of(&[("1/10/a 2/11/b", "10-11/ab"), ("1/10/a 2/11/b 3/10/a", "10-11/aab")]);
    assert_eq!(told(&case, Check::Difference), "FAIL A721 1 A723 1");
    assert_eq!(told(&case.clone().seen_from_outside(), Check::Difference), "FAIL A721 1 A723 1");
    let finding = &case.ask(Check::Difference).findings[0];
    assert_eq!((finding.release, &finding.others[..], finding.fault.severity()), (2, &[1][..], Severity::Severe));
    // A promise that allows leaving leaves it open; groups that break it are not cleared by it.
    let m = MInvariance::new(2).terms();
    let case = Case { promise: Some(m), ..case.seen_from_outside() };
    assert_eq!(told(&case, Check::Difference), "NOT ASSESSED");
}

#[test]
fn leavers_are_betrayed_where_nobody_came() {
    let words = [
        ("1/10/a 2/11/b 3/10/c 4/50/a 5/51/b", "10-11/abc 50-51/ab"),
        ("1/10/a 2/11/b 4/50/a 5/51/b", "10-11/ab 50-51/ab"),
    ];
    let case = Case::of(&words);
    assert_eq!(told(&case, Check::Difference), "FAIL A724 1");
    // Nobody knows who left, so sums only bound it.
    assert_eq!(told(&case.clone().seen_from_outside(), Check::Difference), "NOT ASSESSED");
    let unsure = Case { attacker: QUASI, ..case.seen_from_outside() };
    assert_eq!(told(&unsure, Check::Difference), "MEASURED");
    // Two came and one left at once: who came has what is there more, who left what is there less.
    let mixed =
        Case::of(&[(words[0].0, words[0].1), ("1/10/a 2/11/b 6/11/d 7/11/d 4/50/a 5/51/b", "10-11/abdd 50-51/ab")]);
    assert_eq!(told(&mixed, Check::Difference), "FAIL A721 2 A724 1");
    // One came with the value of one who left: any row may be theirs, and everything adds up.
    let swapped = Case::of(&[(words[0].0, words[0].1), ("1/10/a 2/11/b 6/11/c 4/50/a 5/51/b", "10-11/abc 50-51/ab")]);
    assert_eq!(told(&swapped, Check::Difference), "PASS");
    assert_eq!(swapped.ask(Check::Difference).coverage.looked_at, 2);
}

/// Numbers of counterfeits are public, so sums bound who came: within them, newcomers may be any row.
#[test]
fn counterfeits_blur_the_difference_only_as_far_as_they_go() {
    // One row more, and it is either the newcomer's or the counterfeit.
    let blurred = Case::of(&[("1/10/a 2/11/b", "10-11/ab"), ("1/10/a 2/11/b 3/10/a", "10-11/aabb+1")]);
    assert_eq!(told(&blurred, Check::Difference), "PASS");
    // The newcomer and the counterfeit are both a.
    let seen = Case::of(&[("1/10/a 2/11/b", "10-11/ab"), ("1/10/a 2/11/b 3/10/a", "10-11/aaab+1")]);
    assert_eq!(told(&seen, Check::Difference), "FAIL A721 1");
    // The tables do not fit: three people, and five rows of people.
    let wrong = Case::of(&[("1/10/a 2/11/b", "10-11/ab"), ("1/10/a 2/11/b 3/10/a", "10-11/aaabb")]);
    assert_eq!(told(&wrong, Check::Difference), "NOT ASSESSED");
    assert_eq!((wrong.ask(Check::Difference).coverage.looked_at, wrong.ask(Check::Difference).coverage.of), (0, 1));
}

/// An m-invariant series from outside: sums leave it open who came, the promise does not.
#[test]
fn m_invariance_clears_a_difference_that_sums_leave_open() {
    let words = [("1/10/b 2/11/c", "10-11/bc"), ("3/10/a 4/11/b", "10-11/ab")];
    let case = Case::of(&words).lines(1, 2);
    assert_eq!(told(&case, Check::Difference), "PASS");
    let outside = case.seen_from_outside();
    assert_eq!(told(&outside, Check::Difference), "NOT ASSESSED");
    let m = Some(MInvariance::new(2).terms());
    assert_eq!(told(&Case { promise: m, ..outside }, Check::Difference), "PASS");
}

/// Person 1 goes from a to b, person 2 (b) leaves, person 3 (c) comes. The only way to give everyone one
/// value for good gives person 2 an a; the truth is b.
#[test]
fn a_value_that_changed_misleads_nobody() {
    let case = Case::of(&[("1/10/a 2/11/b", "10-11/ab"), ("1/10/b 3/11/c", "10-11/bc")]);
    assert_eq!(told(&case, Check::Candidates), "PASS");
    assert_eq!(told(&case, Check::Posterior), "PASS");
    assert_eq!(told(&case, Check::Equivalence), "PASS");
    assert_eq!(measure(&case, Check::Candidates, Quantity::People), 3.0);
    assert_eq!(measure(&case, Check::Candidates, Quantity::PeopleChanged), 1.0);
    // Alone in a group: certain at one time, and said once, for the value of that time.
    let alone = Case::of(&[("1/10/a 2/50/b", "10-10/a 50-50/b"), ("1/10/b 2/50/b", "10-10/b 50-50/b")]);
    assert_eq!(told(&alone, Check::Candidates), "FAIL A731 2");
    assert_eq!(told(&alone, Check::Posterior), "FAIL A755 2");
    // Who changed left with the old value and came with the new one.
    let one = Case::of(&[("1/10/a 2/11/b", "10-11/ab"), ("1/10/c 2/11/b", "10-11/bc")]);
    assert_eq!(told(&one, Check::Difference), "FAIL A721 1 A724 1");
}

/// Tables that do not fit the releases have no world: that is no pass.
#[test]
fn tables_that_contradict_the_releases_are_not_assessed() {
    let case = Case::of(&[("1/10/a 2/11/b", "10-11/ab"), ("1/10/a 2/11/b", "10-11/cd")]);
    assert_eq!(told(&case, Check::Posterior), "NOT ASSESSED");
    assert_eq!(case.ask(Check::Posterior).coverage.looked_at, 0);
    assert_eq!(told(&case, Check::Candidates), "NOT ASSESSED");
    for check in [Check::Candidates, Check::Posterior, Check::Equivalence] {
        let verdict = case.ask(check).verdict;
        assert!(verdict == Verdict::NotAssessed(Reason::Contradiction), "{verdict:?}");
    }
    // More rows than people.
    let more = Case::of(&[("1/10/a 2/11/b", "10-11/abb")]);
    assert_eq!(told(&more, Check::Candidates), "NOT ASSESSED");
    assert_eq!(told(&more, Check::Posterior), "NOT ASSESSED");
}

/// Three people in a group of three values, in two releases: no group of two rows, and all the same nobody is
/// cleared without looking.
#[test]
fn equals_are_found_in_groups_of_any_size() {
    let apart = Case::of(&[("1/1/a 2/2/b 3/3/c", "1-3/abc")]);
    assert_eq!(told(&apart, Check::Equivalence), "PASS");
    assert_eq!(apart.ask(Check::Equivalence).coverage.looked_at, 3);
    // 1, 2 and 3 differ; so do 2, 3 and 4: 1 and 4 are equal.
    let people = "1/1/a 2/2/b 3/2/c 4/3/a";
    let equal = Case::of(&[("1/1/a 2/2/b 3/2/c", "1-2/abc"), ("2/2/b 3/2/c 4/3/a", "2-3/abc")]);
    assert_eq!(told(&equal, Check::Equivalence), "NOTED A761 2");
    let mut large = Case::of(&[(people, "1-3/aabc")]);
    large.budget.steps = 10;
    assert_eq!(told(&large, Check::Equivalence), "NOT ASSESSED");
}

/// The number of a promise about views is no line for groups, and what it says of X and Y is not guessed at.
#[test]
fn a_promise_about_views_draws_no_line_for_groups() {
    let release = |number| release(number, "0-1,5-5/abc");
    let mut case = Case::new(schema(2), Vec::new(), vec![release(1), release(2)]);
    case.traces[0].columns = vec![true, false];
    case.promise = Some(XyAnonymity { x: vec!["zip".into()], y: vec!["record".into()], k: 40 }.terms());
    case.lines = Thresholds::of(case.promise.as_ref().unwrap());
    assert_eq!(told(&case, Check::GroupSizes), "PASS");
    assert_eq!(told(&case, Check::Joins), "NOT ASSESSED");
    // Whoever draws a line is answered.
    assert_eq!(told(&case.lines(4, 1), Check::Joins), "FAIL A765 3");
}

/// A share of exactly one in three is not more than one in three.
#[test]
fn a_join_is_held_against_the_exact_share() {
    let release = |number| release(number, "0-1,5-5/abc");
    let mut case = Case::new(schema(2), Vec::new(), vec![release(1), release(2)]).lines(1, 3);
    case.traces = vec![
        Traces { columns: vec![true, false], ..Traces::default() },
        Traces { columns: vec![true, true], ..Traces::default() },
    ];
    assert_eq!(case.told(Check::Joins), "PASS");
    let case = case.lines(1, 4);
    assert_eq!(told(&case, Check::Joins), "FAIL A766 3");
    let witness = case.ask(Check::Joins).findings[0].witness.clone().unwrap();
    assert_eq!((witness.number, witness.line), (333_334, 250_000));
}

#[test]
fn newcomers_with_two_values_are_fewer_than_three() {
    let case =
        Case::of(&[("1/10/a 2/11/b 3/12/c", "10-12/abc"), ("1/10/a 2/11/b 3/12/c 4/10/a 5/10/b", "10-12/aabbc")]);
    assert_eq!(told(&case.clone().lines(2, 3), Check::Difference), "FAIL A722 2");
    assert_eq!(told(&case.clone().lines(3, 2), Check::Difference), "FAIL A723 2");
    assert_eq!(told(&case.lines(2, 2), Check::Difference), "PASS");
}

fn paper(second: Release) -> Case {
    let tables = vec![paper003::table_1a(), paper003::table_2a()];
    Case::new(paper003::schema(), tables, vec![paper003::release_1b().0, second])
}

/// science G11: four people of the paper are certain, and the story is told.
#[test]
fn the_paper_s_naive_releases_betray_four_people() {
    let case = paper(paper003::release_2b().0);
    assert_eq!(case.told(Check::Candidates), "FAIL A731 4");
    let assessment = case.ask_all();
    assert_eq!(assessment.worst(), Some(Severity::Severe));
    let knowledge = Knowledge::from_tables(&case.tables);
    let story = assessment.story.expect("somebody is certain");
    assert_eq!(paper003::name(knowledge.key(story.person.unwrap())), "Bob");
    assert_eq!(measure(&case, Check::Candidates, Quantity::PeopleWithValuesLeft(1)), 4.0);
    // Without the people, the place where Bob was is found all the same.
    let outside = case.clone().seen_from_outside();
    let outcome = outside.ask(Check::Candidates);
    assert_eq!(outcome.verdict, Verdict::Fail);
    let witness = outcome.findings[0].witness.clone().unwrap();
    assert_eq!((witness.number, outcome.findings[0].fault.code()), (1, "A733"));
    let story = outside.ask_all().story.expect("a place is told of");
    assert_eq!((story.person, story.left(), story.steps.len()), (None, &witness.values[..], 2));
    // Who does not know who was there when cannot intersect.
    assert_eq!(Case { attacker: QUASI, ..case.clone() }.told(Check::Candidates), "PASS");
    assert_eq!(Case { attacker: ARRIVAL, ..case }.told(Check::Candidates), "PASS");
}

/// Groups overlap: what one person's groups leave is more than matching everyone at once leaves. The story ends in what
/// the finding says.
#[test]
fn a_story_ends_in_what_the_finding_says() {
    let case = Case::of(&[
        ("1/21/a 2/26/b 3/35/c 4/36/d", "20-29/ab 20-39/cd"),
        ("1/21/a 2/26/b 3/35/c 4/36/d 5/23/c", "20-24/ac 25-39/bcd"),
    ]);
    assert_eq!(told(&case, Check::Candidates), "FAIL A731 3");
    let story = case.ask_all().story.expect("somebody is certain");
    let stepped = story.steps.last().unwrap().left.len();
    assert_eq!((stepped, story.left().len(), story.matched.as_ref().map(Vec::len)), (2, 1, Some(1)));
}

/// Of the place that the witness names only a part gives anything away: the story is told of that part.
#[test]
fn a_place_is_told_of_where_it_gives_something_away() {
    // Over 20 to 29 the later release has a second group that ends at 24: only from 25 on is one value left.
    let case = Case::of(&[("1/20/a 2/29/b", "20-29/ab"), ("1/20/a 2/29/b 3/20/b 4/21/c", "20-29/ac 20-24/bc")]);
    let case = case.seen_from_outside();
    let outcome = case.ask(Check::Candidates);
    let found = outcome.findings.iter().find(|finding| finding.fault.code() == "A733").expect("a place");
    let story = case.ask_all().story.expect("a place is told of");
    assert_eq!(story.left(), found.witness.as_ref().unwrap().values);
    assert_eq!(story.left(), [value('a')]);
    let last = story.steps.last().unwrap();
    assert_eq!((last.groups.len(), last.known[0].as_str()), (1, "[25,30)"));
}

/// Everyone's story, values that change included, leaves as many values as the measures count.
#[test]
fn stories_agree_with_what_is_counted() {
    let generated = hospital::snapshots(90, 3, 7);
    let tables: Vec<Table> = generated.tables().collect();
    let naive = Naive { k: 2, l: 2, diversity: Diversity::Frequency };
    let publish = |(table, number): (&Table, u32)| naive.publish(generated.schema(), table, number, "").unwrap().0;
    let releases: Vec<Release> = tables.iter().zip(1..).map(publish).collect();
    let case = Case::new(generated.schema().clone(), tables, releases);
    let outcome = case.ask(Check::Candidates);
    let mut left = std::collections::BTreeMap::new();
    let mut matched = 0;
    case.with_series(|series| {
        for person in 0..series.knowledge.unwrap().len() as u32 {
            let stories = stories_of(series, case.attacker, &case.budget, person);
            matched += stories.iter().filter(|story| story.matched.is_some()).count();
            let least = stories.iter().map(|story| story.left().len()).min().expect("everyone is in some release");
            *left.entry(least).or_insert(0u32) += 1;
        }
    });
    assert!(matched > 0, "somebody loses values by matching everyone at once");
    for (count, people) in left.range(..8) {
        let quantity = Quantity::PeopleWithValuesLeft(*count as u32);
        let said = outcome.measures.iter().find(|measure| measure.quantity == quantity).map(|measure| measure.value);
        assert_eq!(said, Some(f64::from(*people)), "{quantity}");
    }
}

/// Someone whom no group covers was not looked at.
#[test]
fn people_in_no_group_are_not_passed() {
    let case = Case::of(&[("1/1/a 2/2/b 3/30/a", "1-2/ab"), ("1/1/a 2/2/b 3/30/a", "1-2/ab")]);
    assert_eq!(told(&case, Check::Candidates), "NOT ASSESSED");
    for check in [Check::Candidates, Check::Posterior, Check::Equivalence] {
        let outcome = case.ask(check);
        assert_eq!((outcome.coverage.looked_at, outcome.coverage.of), (2, 3));
        let is_said = outcome.verdict == Verdict::NotAssessed(Reason::Uncovered);
        assert!(is_said, "{:?}", outcome.verdict);
    }
}

/// Any two neighbours leave two values at the place; all three leave one, and four releases no other.
#[test]
fn three_releases_leave_fewer_values_than_any_two() {
    let three = [("1/3/a", "0-9/abc"), ("1/3/a", "0-5/abd 6-9/abd"), ("1/3/a", "2-9/acd")];
    let case = Case::of(&three).lines(1, 2).seen_from_outside();
    let outcome = case.ask(Check::Candidates);
    assert_eq!(outcome.verdict, Verdict::Fail);
    let [finding] = &outcome.findings[..] else { panic!("{:?}", outcome.findings) };
    assert_eq!((finding.fault.code(), finding.release, &finding.others[..]), ("A733", 3, &[1, 2][..]));
    assert_eq!((finding.people, finding.groups), (2, 2));
    let witness = finding.witness.as_ref().unwrap();
    assert_eq!((&witness.groups[..], &witness.values[..]), (&[(0, 0), (1, 0), (2, 0)][..], &[Value(0)][..]));
    assert_eq!(Case::of(&three[..2]).lines(1, 2).seen_from_outside().told(Check::Candidates), "PASS");
    assert_eq!(Case::of(&three[1..]).lines(1, 2).seen_from_outside().told(Check::Candidates), "PASS");
    // Who comes later adds nothing to what three releases tell already.
    let four = [three[0], three[1], three[2], ("1/3/a", "0-9/abcd")];
    assert_eq!(Case::of(&four).lines(1, 2).seen_from_outside().told(Check::Candidates), "FAIL A733 2");
    // In four releases it may take all four.
    let four = [("1/3/a", "0-9/abcd"), ("1/3/a", "0-9/abce"), ("1/3/a", "0-9/abde"), ("1/3/a", "0-9/acde")];
    let told = |count: usize| Case::of(&four[..count]).lines(1, 2).seen_from_outside().told(Check::Candidates);
    assert_eq!((told(3), told(4)), ("PASS".to_string(), "FAIL A733 1".to_string()));
    // A group over part of a place says nothing of the rest: at 3 only a is left.
    let part = [("1/3/a", "0-9/ab"), ("1/3/a", "0-9/ace 5-6/bdf")];
    assert_eq!(Case::of(&part).lines(1, 2).seen_from_outside().told(Check::Candidates), "FAIL A733 1");
    // Nobody stands in a group of counterfeits.
    let fake = [("1/3/a", "0-4/ab"), ("1/3/a", "0-4/ab 0-4/a+1"), ("1/3/a", "5-9/c+1 0-4/ab")];
    assert_eq!(Case::of(&fake).lines(1, 2).seen_from_outside().told(Check::Candidates), "PASS");
    // Too much work is not a pass.
    let mut small = Case::of(&four[..3]).lines(1, 2).seen_from_outside();
    small.budget.steps = 4;
    assert_eq!(small.told(Check::Candidates), "NOT ASSESSED");
}

/// science G11, G14: nobody below two, everyone at most a half, and three pairs that must be equal.
#[test]
fn the_paper_s_counterfeits_protect_everyone_but_from_being_equal() {
    let mut case = paper(paper003::release_3a().0);
    case.promise = Some(MInvariance::new(2).terms());
    case.lines = Thresholds::of(case.promise.as_ref().unwrap());
    assert_eq!(case.told(Check::Candidates), "PASS");
    assert_eq!(case.told(Check::Posterior), "PASS");
    assert_eq!(measure(&case, Check::Posterior, Quantity::LargestPosterior), 0.5);
    assert_eq!(case.told(Check::Equivalence), "NOTED A761 6");
    assert_eq!(measure(&case, Check::Equivalence, Quantity::LargestClassOfEquals), 2.0);
    let assessment = case.ask_all();
    assert!(assessment.worst() <= Some(Severity::Note), "{:?}", assessment.findings().collect::<Vec<_>>());
    // A component that takes more steps than there are is not counted, and said so.
    case.budget = Budget { steps: 1000, ..Budget::default() };
    assert_eq!(case.told(Check::Posterior), "NOT ASSESSED");
}

/// science G10, CE-2: a division betrays old members, in all three worlds.
#[test]
fn a_division_betrays_old_members_in_all_worlds() {
    let people = "1/1/a 2/2/a 3/8/a 4/9/a 5/3/b";
    let case = Case::of(&[(people, "1-9/aaaab"), ("1/1/a 2/2/a 3/8/a 4/9/a 5/3/b 6/8/b", "1-3/aab 8-9/aab")]);
    assert_eq!(told(&case, Check::Posterior), "FAIL A755 3 A756 3");
    assert_eq!(measure(&case, Check::Posterior, Quantity::PeopleCertainInAllWorlds), 3.0);
    assert_eq!(told(&case, Check::Difference), "FAIL A721 1 A723 1");
}

#[test]
fn knowing_one_person_gives_the_other_away() {
    let mut case = Case::of(&[("1/1/a 2/2/b", "1-2/ab")]);
    case.attacker.known_people = 1;
    assert_eq!(told(&case, Check::Posterior), "FAIL A734 2");
    let mut three = Case::of(&[("1/1/a 2/2/b 3/3/c", "1-3/abc")]);
    three.attacker.known_people = 1;
    assert_eq!(told(&three, Check::Posterior), "PASS");
    three.attacker.known_people = 2;
    assert_eq!(three.told(Check::Posterior), "FAIL A734 3");
}

/// science B2, G3, G24: Daisy was with Bob and is with Frank; one row can be hers in both.
#[test]
fn daisy_is_cracked_by_her_arrival() {
    let tables = [
        "1/33,0,21/a 2/37,1,48/b 3/33,0,26/c 4/37,0,31/d",
        "1/33,0,21/a 2/37,1,48/b 3/33,0,26/c 4/37,0,31/d 5/37,1,54/e 6/35,0,31/f",
    ];
    let releases = ["30-33,0-1,0-120/ac 34-39,0-1,0-120/bd", "30-33,0-1,0-120/ac 34-39,0,0-120/df 34-39,1,0-120/be"];
    let mut case = Case::new(
        schema(3),
        tables.iter().map(|words| table(words)).collect(),
        vec![release(1, releases[0]), release(2, releases[1])],
    );
    // Bob and Daisy are cracked; and Eddy and Frank, the newcomers.
    assert_eq!(told(&case, Check::Correspondence), "FAIL A742 2 A743 2");
    assert_eq!(told(&case, Check::Matching), "FAIL A751 2");
    case.attacker = ARRIVAL;
    assert_eq!(told(&case.clone().seen_from_outside(), Check::Correspondence), "FAIL A742 2 A743 2");
    case.attacker = QUASI;
    assert_eq!(told(&case, Check::Correspondence), "NOT APPLICABLE");
    // Cohorts keep apart who came when: nobody is cracked (science G4).
    let cohorts = ["30-33,0-1,0-120/ac 34-39,0-1,0-120/bd", "30-33,0-1,0-120/ac 34-39,0-1,0-120/bd 35-37,0-1,31-54/ef"];
    case.releases = vec![release(1, cohorts[0]), release(2, cohorts[1])];
    case.attacker = Attacker::default();
    case.promise = Some(IncrementalKAnonymity::new(2).terms());
    assert_eq!(told(&case, Check::Correspondence), "PASS");
    assert_eq!(told(&case, Check::Difference), "PASS");
}

#[test]
fn people_who_left_make_correspondence_moot() {
    let case = Case::of(&[("1/10/a 2/11/b", "10-11/ab"), ("1/10/a 3/11/c", "10-11/ac")]);
    assert_eq!(told(&case, Check::Correspondence), "NOT APPLICABLE");
    assert_eq!(told(&case.seen_from_outside(), Check::Matching), "NOT APPLICABLE");
}

/// science G23: a value that changes, two groups of two: 3/4 ever.
#[test]
fn two_groups_of_two_give_three_quarters_ever() {
    let case = Case::of(&[("1/1/a 2/2/b", "1-2/ab"), ("1/1/c 2/2/a", "1-2/ac")]);
    assert_eq!(told(&case, Check::EverLinked), "NOTED A785 2");
    assert_eq!(measure(&case, Check::EverLinked, Quantity::LargestChanceEver), 0.75);
    let lasting = Case::of(&[("1/1/a 2/2/b", "1-2/ab"), ("1/1/a 2/2/b", "1-2/ab")]);
    assert_eq!(told(&lasting, Check::EverLinked), "NOT APPLICABLE");
}

/// science A0.5-1: a newcomer at the edge widens the box, a leaver narrows it.
#[test]
fn a_box_that_moved_by_one_is_found() {
    let grown = Case::of(&[("1/50/a 2/60/b 3/20/c", "50-60/ab 20-24/cd"), ("4/30/c", "30-60/abc 20-24/cd")]);
    assert_eq!(told(&grown.seen_from_outside(), Check::MovedRegions), "FAIL A773 1");
    let shrunk = Case::of(&[("1/1/a", "10-30/abc 50-60/ab"), ("1/1/a", "10-20/ab 50-60/ab")]);
    assert_eq!(told(&shrunk.clone().seen_from_outside(), Check::MovedRegions), "FAIL A773 1");
    // A cell that was cut: the row that is missing may stand in the other half.
    let cut = Case::of(&[("1/1/a", "10-30/abc 50-60/ab"), ("1/1/a", "10-20/ab 21-30/cd 50-60/ab")]);
    assert_eq!(told(&cut.seen_from_outside(), Check::MovedRegions), "PASS");
    let beside = Case::of(&[("1/1/a", "10-30/abc 21-30/cd"), ("1/1/a", "10-20/ab 21-30/cd")]);
    assert_eq!(told(&beside.seen_from_outside(), Check::MovedRegions), "FAIL A773 1", "it was there before");
    let joined = Case::of(&[("1/1/a", "10-20/ab 21-30/cd 50-60/ab"), ("1/1/a", "10-30/abc 50-60/ab")]);
    assert_eq!(told(&joined.seen_from_outside(), Check::MovedRegions), "PASS");
    let kept = Case::of(&[("1/1/a", "10-30/abc 50-60/ab"), ("1/1/a", "10-30/ab 50-60/ab")]);
    assert_eq!(told(&kept.seen_from_outside(), Check::MovedRegions), "PASS");
    assert_eq!(
        told(&Case { promise: Some(MInvariance::new(2).terms()), ..shrunk.seen_from_outside() }, Check::MovedRegions),
        "PASS"
    );
}

/// A file of single-row groups in an order of its own; the same order in both.
#[test]
fn rows_in_the_order_of_the_input_link_two_releases() {
    let groups: Vec<String> = (0..12).map(|at| format!("{}-{}/ab", 10 * at, 10 * at + 5)).collect();
    let words = groups.join(" ");
    let mut case = Case::new(schema(1), Vec::new(), vec![release(1, &words), release(2, &words)]);
    // Row r of the release stands at place 7 r mod 24: the same in both files, and by no group.
    let shuffled: Vec<u32> = (0..24).map(|row| row * 7 % 24).collect();
    case.traces = vec![Traces { places: shuffled.clone(), ..Traces::default() }; 2];
    assert_eq!(told(&case, Check::RowOrder), "FAIL A771 24");
    // Another order in the second file says nothing; nor does the order of the groups.
    case.traces[1].places = (0..24).map(|row| (row * 11 + 5) % 24).collect();
    assert_eq!(told(&case, Check::RowOrder), "PASS");
    case.traces = vec![Traces { places: (0..24).collect(), ..Traces::default() }; 2];
    assert_eq!(told(&case, Check::RowOrder), "PASS");
    // Group by group, and within each group in the same unsorted order in both.
    let words = words.replace("ab", "abc");
    case.releases = vec![release(1, &words), release(2, &words)];
    let turned: Vec<u32> = (0..36).map(|row| row / 3 * 3 + 2 - row % 3).collect();
    case.traces = vec![Traces { places: turned, ..Traces::default() }; 2];
    assert_eq!(told(&case, Check::RowOrder), "FAIL A771 36");
    case.traces = vec![Traces::default(); 2];
    assert_eq!(told(&case, Check::RowOrder), "NOT APPLICABLE");
}

/// Numbers from 1 on that do not follow the regions were carried along, whatever the order of the file.
#[test]
fn numbers_that_outlive_a_release_are_found() {
    let words =
        |from: u32| (0..8).map(|at| format!("{}-{}/ab", 10 * at + from, 10 * at + 9)).collect::<Vec<_>>().join(" ");
    let mut case = Case::new(schema(1), Vec::new(), vec![release(1, &words(0)), release(2, &words(1))]);
    let named = |names: [u32; 8]| Traces {
        group_names: names.map(|name| name.to_string().into()).to_vec(),
        ..Traces::default()
    };
    case.traces = vec![named([4, 7, 1, 8, 2, 6, 3, 5]); 2];
    assert_eq!(told(&case, Check::GroupNames), "FAIL A772 16");
    // Another order each time, or that of the regions, says nothing.
    case.traces[1] = named([1, 3, 8, 5, 4, 2, 7, 6]);
    assert_eq!(told(&case, Check::GroupNames), "PASS");
    case.traces = vec![named([1, 2, 3, 4, 5, 6, 7, 8]); 2];
    assert_eq!(told(&case, Check::GroupNames), "PASS");
}

#[test]
fn names_that_outlive_a_release_are_found() {
    let case =
        Case::of(&[("1/1/a", "1-9/ab 20-29/ab 40-49/ab 60-69/ab"), ("1/1/a", "2-8/ab 21-28/ab 41-48/ab 61-68/ab")]);
    let named = |names: [&str; 4]| Traces { group_names: names.map(Box::from).to_vec(), ..Traces::default() };
    let mut case = case.seen_from_outside();
    case.traces = vec![named(["g17", "g3", "g99", "g4"]); 2];
    assert_eq!(told(&case, Check::GroupNames), "FAIL A772 8");
    case.traces[1] = named(["g3", "g99", "g4", "g17"]);
    assert_eq!(told(&case, Check::GroupNames), "PASS");
    case.traces = vec![named(["1", "2", "3", "4"]); 2];
    assert_eq!(told(&case, Check::GroupNames), "PASS");
}

#[test]
fn boundaries_off_any_grid_are_noted() {
    let tight = Case::of(&[("1/1/a", "1-7/ab 8-13/ab 16-22/ab 24-31/ab")]).seen_from_outside();
    assert_eq!(told(&tight, Check::Boundaries), "NOTED A774 8");
    let snapped = Case::of(&[("1/1/a", "5-9/ab 10-14/ab 20-29/ab 40-49/ab")]).seen_from_outside();
    assert_eq!(told(&snapped, Check::Boundaries), "PASS");
    // A value that is published as it is has no boundaries, whatever it is.
    let exact = Case::of(&[("1/1/a", "1-1/ab 3-3/ab 17-17/ab 22-22/ab 31-31/ab 38-38/ab 5-9/ab")]).seen_from_outside();
    assert_eq!(told(&exact, Check::Boundaries), "PASS");
}

/// Six people in ten regions: with the tables, ends that fit one person are counted against other values.
#[test]
fn ends_that_fit_one_person_are_counted() {
    let person = |at: u32, code: u32| format!("{at}/{code}/{}", ["a", "b"][at as usize % 2]);
    // From end to end of each region, with people on both ends and two in the middle.
    let tight: Vec<String> = (0..10).map(|at| format!("{}-{}/aabb", at * 12, at * 12 + 9)).collect();
    let people = (0..10u32).flat_map(|at| [0, 4, 4, 9].map(|step| at * 12 + step));
    let people: Vec<String> = people.zip(0..).map(|(code, at)| person(at, code)).collect();
    let case = Case::of(&[(&people.join(" "), &tight.join(" "))]);
    assert_eq!(told(&case, Check::Boundaries), "NOTED A774 20");
    // The same people in regions that end where nobody stands.
    let grid: Vec<String> = (0..10).map(|at| format!("{}-{}/aabb", at * 12, at * 12 + 11)).collect();
    let people = (0..10u32).flat_map(|at| [1, 4, 4, 9].map(|step| at * 12 + step));
    let people: Vec<String> = people.zip(0..).map(|(code, at)| person(at, code)).collect();
    assert_eq!(told(&Case::of(&[(&people.join(" "), &grid.join(" "))]), Check::Boundaries), "PASS");
}

/// Rows that may be anything connect all groups: two arrivals then have two values. Without these rows each has one, if the
/// same people are suppressed in both releases.
#[test]
fn the_difference_is_also_told_without_suppressed_rows() {
    let with = [("1/1/a", "1-9/ab 11-19/ab 0-127/ce"), ("1/1/a", "1-9/abc 11-19/abd 0-127/ce")];
    let told_of = |words: &[(&str, &str)]| told(&Case::of(words).lines(1, 2).seen_from_outside(), Check::Difference);
    assert_eq!(told_of(&with), "NOTED A726 2");
    let without = with.map(|(people, groups)| (people, groups.trim_end_matches(" 0-127/ce")));
    assert_eq!(told_of(&without), "FAIL A721 2");
    // Whoever arrives in a group of their own is not told apart by it, and enough values are enough.
    assert_eq!(told_of(&[with[0], ("1/1/a", "1-9/ab 11-19/ab 21-29/ab 0-127/ce")]), "PASS");
    assert_eq!(told_of(&[with[0], ("1/1/a", "1-9/abcd 11-19/ab 21-29/aa 0-127/ce")]), "PASS");
    assert_eq!(told_of(&[with[0], ("1/1/a", "1-9/abcd 11-19/abef 0-127/ce")]), "PASS");
    // A row that went away may have been suppressed: nothing follows.
    assert_eq!(told_of(&[with[0], ("1/1/a", "1-9/ac 11-19/abd 0-127/bce")]), "PASS");
}

/// Bu 2008: q's value changed, which shows; a never goes away, so q had b, and p has a.
#[test]
fn a_value_that_never_goes_away_gives_others_away() {
    let case = Case::of(&[("1/1/a 2/2/b", "1-2/ab"), ("1/1/a 2/2/c 3/2/d 4/1/b", "1-1/ab 2-2/cd")]);
    let told = |case: &Case, permanent: &[Value]| {
        let assessment = case.with_series(|series| {
            let series = Series { permanent, ..*series };
            examine_only(&series, case.attacker, &case.lines, &case.budget, &|_| {}, &[Check::Changes])
        });
        let outcome = &assessment.outcomes[0];
        let codes: Vec<String> =
            outcome.findings.iter().map(|finding| format!(" {} {}", finding.fault.code(), finding.people)).collect();
        outcome.verdict.word().to_string() + &codes.concat()
    };
    assert_eq!(told(&case, &[]), "NOTED A788 1");
    assert_eq!(told(&case, &[value('a')]), "FAIL A788 1 A789 2");
    // Nobody can have had it who changed: nothing follows.
    assert_eq!(told(&case, &[value('e')]), "NOTED A788 1");
    // Who had it has it no more: it is not permanent.
    assert_eq!(told(&case, &[value('b')]), "NOT ASSESSED A788 1");
    // Nobody changes: the question makes no sense.
    let stays = Case::of(&[("1/1/a 2/2/b", "1-2/ab"), ("1/1/a 2/2/b", "1-2/ab")]);
    assert_eq!(told(&stays, &[value('a')]), "NOT APPLICABLE");
    // Two of four change, and a and b never go away: the other two have a or b,
    // and who came to them c or d, where three values are asked for.
    let first = ("1/1/a 2/2/b 3/9/c 4/9/d", "1-9/abcd");
    let second = ("1/1/a 2/2/b 5/1/c 6/2/d 3/9/e 4/9/f 7/9/g 8/9/h", "1-2/abcd 9-9/efgh");
    let mut four = Case::of(&[first, second]);
    four.lines.l = 3;
    assert_eq!(told(&four, &[value('a'), value('b')]), "FAIL A788 2 A790 4");
    assert_eq!(told(&four, &[]), "NOTED A788 2");
    // A change among values that all groups have does not show.
    let hidden = Case::of(&[("1/1/a 2/2/b", "1-2/ab"), ("1/1/b 2/2/a", "1-2/ab")]);
    assert_eq!(told(&hidden, &[]), "PASS");
}

/// science G19: Bob is a clerk; Cathy may be anything in one release, and in the other has a job and a disease.
#[test]
fn joining_different_columns_leaves_cathy_one_disease() {
    let people = release(1, "1,0-1/aa");
    // Names 1 and 2, jobs clerk 0 and driver 1; the first file has no disease, the second no names.
    let mut first = release(1, "1,0/a 2,0-1/a");
    first.values = people.values;
    let second = release(2, "0-127,0/a 0-127,1/b");
    let mut case = Case::new(schema(2), Vec::new(), vec![first, second]);
    case.traces[0].without_sensitive = true;
    case.traces[1].columns = vec![false, true];
    let outcome = case.ask(Check::Joins);
    let codes: Vec<&str> = outcome.findings.iter().map(|finding| finding.fault.code()).collect();
    assert_eq!(codes, ["A765", "A766"]);
    let value = outcome.findings[1].witness.as_ref().unwrap();
    assert_eq!((value.number, value.line), (1_000_000, 500_000));
    // Re-verified by materialising the join: Cathy as a clerk cannot be.
    let views = [view(&case, 0, &[0, 1], false), view(&case, 1, &[1], true)];
    let x = vec![
        tacenda::model::ViewColumn::new(0, 0),
        tacenda::model::ViewColumn::new(0, 1),
        tacenda::model::ViewColumn::new(1, 0),
    ];
    let requirement = tacenda::model::Requirement::linkability(x, vec![tacenda::model::ViewColumn::new(1, 1)], 500);
    let joined = tacenda::audit::materialise(&views, &[]);
    assert_eq!(joined.len(), 3);
    assert!(!tacenda::audit::read_naively(&views, &joined, &requirement).holds);
    let evidence = JoinEvidence { views: &views, requirements: &[requirement], impossible: &[], limit: 1000 };
    assert_eq!(tacenda::audit::judge_join(&evidence).requirements[0].kernel.as_ref().unwrap().rows, 2);
    // The same columns everywhere: nothing to join.
    case.traces = vec![Traces::default(); 2];
    assert_eq!(case.told(Check::Joins), "NOT APPLICABLE");
}

fn view(case: &Case, place: usize, columns: &[usize], sensitive: bool) -> tacenda::model::PublishedView {
    let release = &case.releases[place];
    let mut quasi: Vec<_> = columns.iter().map(|&at| case.schema.quasi[at].clone()).collect();
    let mut all: Vec<Vec<tacenda::model::Span>> = vec![Vec::new(); columns.len()];
    for group in 0..release.group_count() {
        for _ in release.group_rows(group) {
            all.iter_mut().zip(columns).for_each(|(column, &at)| column.push(release.region(group)[at]));
        }
    }
    if sensitive {
        quasi.push(tacenda::model::Quasi::new("s", tacenda::model::Domain::Integer { lo: 0, hi: 8 }));
        all.push(release.sensitive.iter().map(|value| tacenda::model::Span::exact(value.0)).collect());
    }
    let columns = all.iter().map(|column| tacenda::model::SpanColumn::new(column)).collect();
    tacenda::model::PublishedView::new(tacenda::model::View { name: place.to_string(), columns: quasi }, columns)
}

/// Value a goes with low points and b with high ones; groups mix them, and the model sees through.
#[test]
fn a_correlation_is_learned_from_the_releases() {
    // Pure groups teach; then mixed groups of one low and one high point.
    let mut people: Vec<String> = Vec::new();
    let mut groups: Vec<String> = Vec::new();
    for at in 0..20u32 {
        let (low, high) = (at, 100 + at);
        people.push(format!("{}/{low}/a", 2 * at));
        people.push(format!("{}/{high}/b", 2 * at + 1));
        groups.push(format!("{low}-{high}/ab"));
    }
    let pure = "0-19/aaaaaaaaaaaaaaaaaaaa 100-119/bbbbbbbbbbbbbbbbbbbb";
    let (people, groups) = (people.join(" "), groups.join(" "));
    let case = Case::of(&[(&people, pure), (&people, &groups)]);
    let outcome = case.ask(Check::Learned);
    assert_eq!(outcome.verdict, Verdict::Noted);
    assert_eq!(measure(&case, Check::Learned, Quantity::Accuracy), 1.0);
    let plain = measure(&case, Check::Learned, Quantity::AccuracyOfMostFrequent);
    assert!(plain <= 0.6, "{plain}");
    // Nothing to learn where values go with nothing.
    let mixed = Case::of(&[("1/1/a 2/2/b 3/3/a 4/4/b", "1-4/aabb")]);
    assert_eq!(mixed.told(Check::Learned), "MEASURED");
}

#[test]
fn drift_is_measured_from_the_definition() {
    let case = Case::new(schema(1), Vec::new(), vec![release(1, "0-0/ab 0-127/abc"), release(2, "0-127/abcde")]);
    let outcome = case.ask(Check::Drift);
    let told: Vec<(Option<u32>, String, f64)> =
        outcome.measures.iter().map(|measure| (measure.release, measure.quantity.to_string(), measure.value)).collect();
    // Three of five people have the whole domain.
    assert_eq!(told[0], (Some(1), "loss".into(), 0.6));
    assert_eq!(told[1], (Some(1), "c_avg".into(), 1.25));
    assert_eq!(told[2], (Some(1), "sum of squared group sizes".into(), 13.0));
    assert_eq!(told.last().unwrap().1, "loss of the last release over the first's");
    assert!((told.last().unwrap().2 - 1.0 / 0.6).abs() < 1e-8);
}

#[test]
fn what_hits_a_limit_is_not_assessed() {
    // No value as often as the other, so that no theorem answers.
    let case = Case::of(&[("1/10/a 2/11/b 3/12/b", "10-12/abb"), ("1/10/a 2/11/b 3/12/b", "10-12/abb")]);
    let mut small = case.clone();
    small.budget = Budget { steps: 4, ..Budget::default() };
    let outcome = small.ask(Check::Candidates);
    assert_eq!(
        (outcome.verdict.word(), outcome.coverage.looked_at, outcome.coverage.of),
        (VerdictWord::NotAssessed, 0, 3)
    );
    assert_eq!(small.told(Check::Posterior), "NOT ASSESSED");
    let mut few = case.clone().seen_from_outside();
    few.budget.steps = 0;
    assert_eq!(few.told(Check::Correspondence), "NOT ASSESSED");
    assert_eq!(few.told(Check::Candidates), "NOT ASSESSED");
    assert!(few.ask_all().gaps(Severity::Severe).next().is_some());
}

#[test]
fn a_naive_hospital_is_found_out_and_the_witnesses_hold() {
    let generated = hospital::snapshots(600, 3, 7);
    let tables: Vec<Table> = generated.tables().collect();
    let naive = Naive { k: 4, l: 4, diversity: Diversity::Frequency };
    let publish = |(table, number): (&Table, u32)| naive.publish(generated.schema(), table, number, "").unwrap().0;
    let releases: Vec<Release> = tables.iter().zip(1..).map(publish).collect();
    let case = Case::new(generated.schema().clone(), tables, releases).lines(4, 4);
    let assessment = case.ask_all();
    assert!(assessment.outcome(Check::Candidates).unwrap().findings[0].people > 10);
    assert_eq!(assessment.worst(), Some(Severity::Severe));
    assert!(assessment.story.is_some());
    assert_eq!(assessment.outcomes.len(), Check::ALL.len());
    // Each release alone keeps its lines.
    assert_eq!(assessment.outcome(Check::GroupSizes).unwrap().verdict, Verdict::Pass);
    assert_eq!(assessment.outcome(Check::Frequency).unwrap().verdict, Verdict::Pass);
    assert_eq!(value('b').0, 1);
}

/// A file without a sensitive column has one value everywhere, which says nothing about anyone's.
#[test]
fn a_release_without_values_teaches_none() {
    let people = "1/10/b 2/11/c";
    let mut case = Case::of(&[(people, "10-11/bc"), (people, "10-11/aa"), (people, "10-11/bc")]);
    case.traces[1].without_sensitive = true;
    case.traces[1].columns = vec![true];
    for check in [Check::Candidates, Check::Difference, Check::MovedRegions, Check::Diversity] {
        assert_eq!(told(&case, check), "PASS", "{check:?}");
    }
    assert_eq!(told(&case, Check::Posterior), "PASS");
    case.releases.iter_mut().for_each(|release| release.linked = vec![1, 2]);
    assert_eq!(told(&case, Check::LinkedIds), "NOTED A711 2");
}

/// Groups over parts of a place: together they have values enough, and at 0 and 1 only a goes from one to the other. Two people
/// with a stand there.
#[test]
fn what_several_groups_have_together_hides_no_part_of_a_place() {
    let table = "1/0/a 2/1/a 3/3/b 4/3/e 5/7/b 6/12/c";
    let case = Case::of(&[(table, "0-9/aabe 5-14/bc"), (table, "0-14/aabc 2-4/be")]).lines(2, 2);
    assert_eq!(told(&case.clone().seen_from_outside(), Check::Matching), "FAIL A751 2");
    assert_eq!(told(&case, Check::Candidates), "FAIL A731 2");
}

/// Nobody stands where the groups overlap that would share one row.
#[test]
fn pairs_of_groups_without_people_accuse_nobody() {
    let people = "1/1,11/a 2/2,12/b 3/3,13/c 4/11,1/a 5/12,2/d 6/13,3/e";
    let releases = ["0-9,0-19/abc 10-19,0-19/ade", "0-19,10-19/abc 0-19,0-9/ade"];
    let tables = vec![table(people), table(people)];
    let releases = releases.iter().zip(1..).map(|(words, number)| release(number, words)).collect();
    let case = Case::new(schema(2), tables, releases).lines(2, 2);
    assert_eq!((told(&case, Check::Correspondence), told(&case, Check::Matching)), ("PASS".into(), "PASS".into()));
    let outside = case.seen_from_outside();
    assert!(told(&outside, Check::Correspondence).starts_with("FAIL A742"));
    assert!(told(&outside, Check::Matching).starts_with("FAIL A751"));
}

/// Who moves has a history that nobody shares; and what ids had in an earlier release counts as much as what they have now.
#[test]
fn ids_are_followed_through_every_release() {
    let linked = |mut release: Release, ids: &[u64]| {
        release.linked = ids.to_vec();
        release
    };
    let first = linked(release(1, "0-9/aabb 10-19/aabb"), &[1, 2, 3, 7, 4, 5, 6, 8]);
    let second = linked(release(2, "0-9/aabb 10-19/aabb"), &[4, 2, 3, 7, 1, 5, 6, 8]);
    let moved = Case::new(schema(1), Vec::new(), vec![first, second]).lines(2, 2);
    assert_eq!(told(&moved, Check::LinkedIds), "FAIL A711 8 A712 2 A713 2 A714 2");
    let first = linked(release(1, "0-9/aabbcc"), &[3, 5, 4, 6, 1, 2]);
    let second = linked(release(2, "0-4/ab 5-9/abcc"), &[1, 2, 5, 6, 3, 4]);
    let changed = Case::new(schema(1), Vec::new(), vec![first, second]).lines(2, 2);
    assert!(told(&changed, Check::LinkedIds).contains("A713 2"), "{}", told(&changed, Check::LinkedIds));
}

/// Ids that link rows split groups that look alike without them: worlds that do not follow them clear nobody.
#[test]
fn worlds_without_their_ids_clear_nobody() {
    let table = "1/1/a 2/2/b 3/3/a 4/4/b";
    let mut case = Case::of(&[(table, "1-4/aabb"), (table, "1-4/aabb")]).lines(2, 2);
    assert_eq!(told(&case, Check::Posterior), "PASS");
    case.releases.iter_mut().for_each(|release| release.linked = vec![1, 2, 3, 4]);
    assert_eq!(told(&case, Check::Posterior), "NOT ASSESSED");
    case.promise = Some(IncrementalKAnonymity::new(2).terms());
    assert_eq!(told(&case, Check::Posterior), "PASS", "a cohort has the same rows throughout");
}

/// Knowing more people never tells less, and what is known is what is true.
#[test]
fn known_people_are_as_many_as_there_are() {
    let knowing = |table: &str, release: &str, known_people: u32| {
        let case = Case::of(&[(table, release)]).lines(1, 2);
        Case { attacker: Attacker { known_people, ..case.attacker }, ..case }
    };
    for known in 1..4 {
        let case = knowing("1/1/a 2/2/b 3/10/a 4/11/b", "1-2/ab 10-11/ab", known);
        assert_eq!(told(&case, Check::Posterior), "FAIL A734 4", "{known}");
    }
    // Of {a, a, b}, only b tells the others' values; any one of them leaves a and b.
    assert_eq!(told(&knowing("1/1/a 2/2/a 3/3/b", "1-3/aab", 1), Check::Posterior), "FAIL A756 3 A734 2");
    let outside = knowing("1/1/a 2/2/b", "1-2/ab", 1).seen_from_outside();
    assert_eq!(told(&outside, Check::Posterior), "NOT ASSESSED");
}

/// A release without values takes nothing away from what the others tell.
#[test]
fn a_release_without_values_hides_nothing() {
    let table = "1/1/a 2/2/b 3/3/c";
    let two = [("1/1/a 2/2/b", "1-2/ab"), (table, "1-3/abc")];
    let told = |case: &Case| told(case, Check::Posterior);
    let without = told(&Case::of(&two).lines(1, 2));
    let mut three = Case::of(&[two[0], two[1], (table, "1-3/abc")]).lines(1, 2);
    three.traces[2].without_sensitive = true;
    assert_eq!((without.as_str(), told(&three).as_str()), ("FAIL A755 1", "FAIL A755 1"));
}

/// Who does not know when people came cannot tell newcomers from the others.
#[test]
fn differences_need_somebody_who_knows_who_was_there() {
    let mut case = Case::of(&[("1/1/a 2/2/b", "1-2/ab"), ("1/1/a 2/2/b 3/2/a", "1-2/aab")]).lines(2, 2);
    assert_eq!(told(&case, Check::Difference), "FAIL A721 1 A723 1");
    case.attacker = Attacker { presence: false, ..case.attacker };
    assert_eq!(told(&case, Check::Difference), "MEASURED");
}

/// Rows of people whom the tables do not have: the tables are not those of the release.
#[test]
fn a_group_of_people_who_are_not_known_is_a_contradiction() {
    let case = Case::of(&[("1/1/a 2/2/b", "1-2/ab 10-11/ab")]);
    let verdict = case.ask(Check::Candidates).verdict;
    assert!(verdict == Verdict::NotAssessed(Reason::Contradiction), "{verdict:?}");
}

/// Leavers, candidates and corresponding rows below the line, and not at one.
#[test]
fn what_is_below_the_line_and_not_alone_has_its_own_code() {
    let six = "1/1/a 2/2/b 3/3/c 4/4/a 5/5/b 6/6/c";
    let left = Case::of(&[(six, "1-6/aabbcc"), ("3/3/c 4/4/a 5/5/b 6/6/c", "1-6/abcc")]).lines(1, 3);
    assert_eq!(told(&left, Check::Difference), "FAIL A725 2");
    let few = Case::of(&[("1/1/a 2/2/b", "1-2/ab")]).lines(1, 3);
    assert_eq!(told(&few, Check::Candidates), "FAIL A732 2");
    let people = "1/1,11/a 2/2,12/b 3/3,13/c 4/4,4/b 5/11,1/d 6/12,2/e 7/13,3/f 8/14,14/e";
    let releases = ["0-9,0-19/abbc 10-19,0-19/deef", "0-19,10-19/abce 0-19,0-9/bdef"];
    let releases = releases.iter().zip(1..).map(|(words, number)| release(number, words)).collect();
    let case = Case::new(schema(2), vec![table(people), table(people)], releases).lines(3, 1);
    assert_eq!(told(&case, Check::Correspondence), "FAIL A742 2");
    let words = told(&case.lines(4, 1), Check::Correspondence);
    assert!(words.contains("A741 6"), "{words}");
}
