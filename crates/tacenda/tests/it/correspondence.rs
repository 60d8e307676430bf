//! Correspondence against brute force: every way to carry the rows of one release over to another is tried, and what each
//! point leaves is compared with what the auditor says, person by person. `TACENDA_LONG=1` takes 5,000 series.

use crate::audit_sketch::{Case, release, schema, table};
use crate::audit_verify::{Placing, placings, verify};
use crate::oracle_audit::Dice;
use std::collections::{BTreeMap, BTreeSet};
use tacenda::audit::{Check, VerdictWord};
use tacenda::model::{Release, Terms};
use tacenda::promise::{Grouper, IncrementalKAnonymity, OnDelete};

/// Codes of a point are below.
const SIDE: u64 = 4;

/// Somebody: where they are, their value, the release they come with, and their group in each.
struct Somebody {
    point: Vec<u64>,
    value: char,
    arrival: u64,
    groups: Vec<u64>,
}

/// People who come and stay. If groups are units, everyone stays with those they came with.
fn series(dice: &mut Dice, are_units: bool) -> Case {
    let (attributes, releases) = (1 + dice.roll(2) as usize, 2 + dice.roll(2));
    let (count, values, groups) = (4 + dice.roll(5), 2 + dice.roll(2), 1 + dice.roll(3));
    let somebody = |dice: &mut Dice, at: u64| {
        let point = (0..attributes).map(|_| dice.roll(SIDE)).collect();
        let (value, arrival) =
            (char::from(b'a' + dice.roll(values) as u8), if at == 0 { 0 } else { dice.roll(releases) });
        let own: Vec<u64> = (0..releases).map(|_| dice.roll(groups)).collect();
        // A group of its own for who came at another time.
        let stay = vec![arrival * groups + own[0]; releases as usize];
        Somebody { point, value, arrival, groups: if are_units { stay } else { own } }
    };
    let people: Vec<Somebody> = (0..count).map(|at| somebody(dice, at)).collect();
    let (mut tables, mut all) = (Vec::new(), Vec::new());
    for number in 0..releases {
        let here: Vec<(usize, &Somebody)> = people.iter().enumerate().filter(|one| one.1.arrival <= number).collect();
        let words = here.iter().map(|(id, one)| {
            let point: Vec<String> = one.point.iter().map(u64::to_string).collect();
            format!("{id}/{}/{}", point.join(","), one.value)
        });
        tables.push(table(&words.collect::<Vec<_>>().join(" ")));
        let mut of_group: BTreeMap<u64, Vec<&Somebody>> = BTreeMap::new();
        here.iter().for_each(|(_, one)| of_group.entry(one.groups[number as usize]).or_default().push(one));
        let words = of_group.values().map(|members| {
            let span = |at: usize| {
                let codes = || members.iter().map(|one| one.point[at]);
                format!("{}-{}", codes().min().unwrap(), codes().max().unwrap())
            };
            let region: Vec<String> = (0..attributes).map(span).collect();
            let rows: String = members.iter().map(|one| one.value).collect();
            let has_fake = !are_units && dice.roll(100) < 10;
            let fake =
                if has_fake { format!("{}+1", char::from(b'a' + dice.roll(values) as u8)) } else { String::new() };
            format!("{}/{rows}{fake}", region.join(","))
        });
        let words: Vec<String> = words.collect();
        all.push(release(number as u32 + 1, &words.join(" ")));
    }
    Case::new(schema(attributes), tables, all)
}

fn cohorts() -> Terms {
    let policy = IncrementalKAnonymity { k: 2, cohorts: true, l: None, tight: false, on_delete: OnDelete::Refuse };
    policy.promise().terms()
}

fn over(release: &Release, point: &[u32]) -> Vec<u32> {
    let covers = |&group: &usize| release.region(group).iter().zip(point).all(|(span, &code)| span.contains(code));
    (0..release.group_count()).filter(covers).map(|group| group as u32).collect()
}

/// Points that are looked at: of people by number where there are tables, otherwise all.
fn points(case: &Case, (i, j): (usize, usize), is_arrival: bool) -> Vec<(usize, Vec<u32>)> {
    if case.tables.is_empty() {
        let side = SIDE as u32;
        let all = (0..side.pow(case.schema.quasi.len() as u32)).map(|number| vec![number % side, number / side]);
        return all.map(|mut point| (0, point.drain(..case.schema.quasi.len()).collect())).collect();
    }
    let (before, after) = (&case.tables[i], &case.tables[j]);
    let is_asked = |&row: &usize| before.find(after.keys()[row]).is_none() == is_arrival;
    let point = |row: usize| (0..after.quasi_count()).map(|at| after.quasi(at)[row]).collect();
    (0..after.len()).filter(is_asked).map(|row| (row, point(row))).collect()
}

/// People by number, with where they are.
type Standing = BTreeSet<(usize, Vec<u32>)>;

/// For two releases, who has one row that can be theirs, or fewer than k, of those who stayed; and of those who arrived, who has
/// fewer than k. `None` where the rows of the one do not fit into the other.
fn few(case: &Case, pair: (usize, usize)) -> Option<[Standing; 3]> {
    let (earlier, later) = (&case.releases[pair.0], &case.releases[pair.1]);
    let mut all = placings(case, (pair.0 as u32, pair.1 as u32));
    if case.promise.is_some() {
        let is_same = |&(a, b, _): &(u32, u32, _)| {
            let (a, b) = (a as usize, b as usize);
            earlier.region(a) == later.region(b) && earlier.group_values(a) == later.group_values(b)
        };
        all.retain(|placing| placing.iter().all(is_same));
    }
    if all.is_empty() {
        return None;
    }
    let is_few = |rows: usize| rows > 0 && rows < case.lines.k as usize;
    let mut found: [Standing; 3] = Default::default();
    for (person, point) in points(case, pair, false) {
        let (old, new) = (over(earlier, &point), over(later, &point));
        let between = |placing: &Placing| placing.iter().filter(|(a, b, _)| old.contains(a) && new.contains(b)).count();
        let rows = all.iter().map(between).max().unwrap();
        if is_few(rows) {
            found[usize::from(rows > 1)].insert((person, point));
        }
    }
    for (person, point) in points(case, pair, true) {
        let new = over(later, &point);
        let into = |placing: &Placing| placing.iter().filter(|(_, b, _)| new.contains(b)).count();
        let rows: usize = new.iter().map(|&group| later.group_rows(group as usize).len()).sum();
        if is_few(rows - all.iter().map(into).min().unwrap()) {
            found[2].insert((person, point));
        }
    }
    Some(found)
}

/// What the auditor says of two releases: the people of A742, A741 and A743.
fn told(case: &Case) -> BTreeMap<(u32, u32), [u64; 3]> {
    let outcome = case.ask(Check::Correspondence);
    assert_ne!(outcome.verdict.word(), VerdictWord::NotAssessed, "a few people leave no gap: {case:?}");
    let mut told: BTreeMap<(u32, u32), [u64; 3]> = BTreeMap::new();
    for finding in &outcome.findings {
        if case.promise.is_none() {
            verify(case, finding);
        }
        let place = ["A742", "A741", "A743"].iter().position(|code| *code == finding.fault.code()).unwrap();
        told.entry((finding.others[0], finding.release)).or_default()[place] += finding.people;
    }
    told
}

/// Compares one series; answers how many pairs of releases were compared, and how many of them had a finding.
fn compare(case: &Case) -> (u64, u64) {
    let told = told(case);
    let count = case.releases.len();
    let (mut pairs, mut with) = (0, 0);
    for pair in (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j))) {
        let names = (case.releases[pair.0].number, case.releases[pair.1].number);
        let here = told.get(&names).copied().unwrap_or_default();
        let Some(few) = few(case, pair) else {
            assert_eq!(here, [0; 3], "{names:?} of {case:?}");
            continue;
        };
        (pairs, with) = (pairs + 1, with + u64::from(here != [0; 3]));
        for (told, few) in here.iter().zip(&few) {
            // Without the tables it is about places: somebody may stand there, or nobody.
            let is_right =
                if case.tables.is_empty() { (*told > 0) != few.is_empty() } else { *told == few.len() as u64 };
            assert!(is_right, "{names:?}: told {here:?}, brute force {few:?} of {case:?}");
        }
    }
    (pairs, with)
}

fn count() -> u64 {
    if std::env::var_os("TACENDA_LONG").is_some() { 5_000 } else { 150 }
}

#[test]
fn correspondence_says_what_brute_force_says() {
    let (mut pairs, mut with) = (0, 0);
    for seed in 0..count() {
        let mut dice = Dice(743_000_000 + seed);
        let case = series(&mut dice, false).lines(2 + dice.roll(2) as u32, 2);
        for case in [case.clone(), case.seen_from_outside()] {
            let found = compare(&case);
            (pairs, with) = (pairs + found.0, with + found.1);
        }
    }
    println!("{pairs} pairs of releases, {with} with a finding");
    assert!(with * 10 >= pairs && with * 10 <= pairs * 9, "some are found and some are not: {with} of {pairs}");
}

/// Whoever knows that groups come again unchanged takes no row of an old group for an arrival's.
#[test]
fn correspondence_of_cohorts_says_what_brute_force_says() {
    let (mut pairs, mut with) = (0, 0);
    for seed in 0..count() {
        let mut dice = Dice(744_000_000 + seed);
        let case = Case { promise: Some(cohorts()), ..series(&mut dice, true) }.lines(2 + dice.roll(2) as u32, 1);
        for case in [case.clone(), case.seen_from_outside()] {
            let found = compare(&case);
            (pairs, with) = (pairs + found.0, with + found.1);
        }
    }
    println!("{pairs} pairs of releases of cohorts, {with} with a finding");
    assert!(with * 10 >= pairs && with * 10 <= pairs * 9, "some are found and some are not: {with} of {pairs}");
}

/// A group of four and then one of three beside it: where only the first lies, two rows could be exchanged for those of
/// arrivals, but nobody arrived there.
#[test]
fn an_old_cohort_holds_no_arrivals() {
    let words = ("0-1/aabbc", "0-1/aabbc 0-0/abcc");
    let case = Case::new(schema(1), Vec::new(), vec![release(1, words.0), release(2, words.1)]).lines(4, 1);
    assert_eq!(case.told(Check::Correspondence), "FAIL A743 3");
    let case = Case { promise: Some(cohorts()), ..case };
    assert_eq!(case.told(Check::Correspondence), "PASS");
}
