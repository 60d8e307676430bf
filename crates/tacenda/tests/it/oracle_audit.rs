//! The auditor against plain brute force, written here and nowhere else: every way to give people rows is tried.
//!
//! `TACENDA_LONG=1` runs all 5,000 series and compares the summary with `tests/oracle/summary.txt`. The normal run takes the
//! first 240 of them. Both must have no false pass and no false accusation.

use crate::audit_sketch::{Case, release, schema, table};
use expect_test::expect_file;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tacenda::audit::{Check, Quantity, Severity, VerdictWord};
use tacenda::model::{Release, Span, Value};

const SEED: u64 = 16;
const ALL: u64 = 5_000;
const FEW: u64 = 240;

/// Percent of the series that are made so that nothing is learned.
const CLEAN: u64 = 35;

/// splitmix64: the same numbers everywhere.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.roll(100) < percent
    }
}

/// What a series is made of.
#[derive(Clone, Copy, Debug)]
struct Make {
    people: u64,
    releases: u64,
    values: u64,
    groups: u64,
    points: u64,
    /// Percent of people who are away from a release, whose value changes, and of groups with a counterfeit.
    away: u64,
    changes: u64,
    counterfeits: u64,
}

fn letter(value: u64) -> char {
    char::from(b'a' + value as u8)
}

/// People in random groups with the smallest boxes.
fn series(dice: &mut Dice, make: Make) -> Case {
    let points: Vec<u64> = (0..make.people).map(|_| dice.roll(make.points)).collect();
    let mut values: Vec<u64> = (0..make.people).map(|_| dice.roll(make.values)).collect();
    let mut words: Vec<(String, String)> = Vec::new();
    while words.len() < make.releases as usize {
        for value in &mut values {
            if !words.is_empty() && dice.happens(make.changes) {
                *value = dice.roll(make.values);
            }
        }
        let here: Vec<usize> = (0..points.len()).filter(|_| !dice.happens(make.away)).collect();
        if here.is_empty() {
            continue;
        }
        let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        here.iter().for_each(|&person| groups.entry(dice.roll(make.groups)).or_default().push(person));
        let people: Vec<String> =
            here.iter().map(|&person| format!("{person}/{}/{}", points[person], letter(values[person]))).collect();
        let groups: Vec<String> = groups
            .values()
            .map(|members| {
                let lo = members.iter().map(|&person| points[person]).min().unwrap();
                let hi = members.iter().map(|&person| points[person]).max().unwrap();
                let own: String = members.iter().map(|&person| letter(values[person])).collect();
                match dice.happens(make.counterfeits) {
                    true => format!("{lo}-{hi}/{own}{}+1", letter(dice.roll(make.values))),
                    false => format!("{lo}-{hi}/{own}"),
                }
            })
            .collect();
        words.push((people.join(" "), groups.join(" ")));
    }
    let words: Vec<(&str, &str)> = words.iter().map(|(people, groups)| (&people[..], &groups[..])).collect();
    Case::of(&words)
}

/// People who stay together, `size` at a time, each with another value: nothing is learned of them. Where values change, they
/// change among the people of a group.
fn kept(dice: &mut Dice, groups: u64, releases: u64, size: u64, changes: bool) -> Case {
    let mut values: Vec<Vec<u64>> = (0..groups).map(|_| (0..size).collect()).collect();
    let mut words: Vec<(String, String)> = Vec::new();
    while words.len() < releases as usize {
        if changes && !words.is_empty() {
            for own in &mut values {
                let (one, other) = (dice.roll(size) as usize, dice.roll(size) as usize);
                own.swap(one, other);
            }
        }
        let here: Vec<u64> = (0..groups).filter(|_| !dice.happens(20)).collect();
        if here.is_empty() {
            continue;
        }
        let person = |group: u64, at: u64| {
            format!("{}/{}/{}", group * size + at, group * 3 + at % 3, letter(values[group as usize][at as usize]))
        };
        let people: Vec<String> = here
            .iter()
            .flat_map(|&group| (0..size).map(move |at| (group, at)))
            .map(|(group, at)| person(group, at))
            .collect();
        let all: String = (0..size).map(letter).collect();
        let published: Vec<String> =
            here.iter().map(|group| format!("{}-{}/{all}", group * 3, group * 3 + 2)).collect();
        words.push((people.join(" "), published.join(" ")));
    }
    let words: Vec<(&str, &str)> = words.iter().map(|(people, groups)| (&people[..], &groups[..])).collect();
    Case::of(&words)
}

/// Somebody while their value stays: per release their point; and whose time it is.
struct Period {
    owner: u64,
    points: Vec<Option<u32>>,
}

/// Everyone, anew from each change of their value on.
fn periods(case: &Case) -> Vec<Period> {
    let mut now: BTreeMap<u64, (usize, Value)> = BTreeMap::new();
    let mut periods: Vec<Period> = Vec::new();
    for (place, table) in case.tables.iter().enumerate() {
        for row in 0..table.len() {
            let (key, value) = (table.keys()[row].hi, table.sensitive()[row]);
            let at = match now.get(&key) {
                Some(&(at, before)) if before == value => at,
                _ => {
                    periods.push(Period { owner: key, points: vec![None; case.tables.len()] });
                    periods.len() - 1
                }
            };
            now.insert(key, (at, value));
            periods[at].points[place] = Some(table.quasi(0)[row]);
        }
    }
    periods
}

/// In how many ways the people of a release can be in its rows, each row its own, if these are their values. Rows that are
/// left are counterfeits, as many as each group says.
pub fn seatings(release: &Release, people: &[(Vec<u32>, Value)]) -> u128 {
    fn seat(release: &Release, people: &[(Vec<u32>, Value)], taken: &mut Vec<bool>, left: &mut [u32]) -> u128 {
        let Some(((point, value), rest)) = people.split_first() else {
            return u128::from(left.iter().all(|&left| left == 0));
        };
        let (mut ways, mut row) = (0, 0);
        for group in 0..release.group_count() {
            for &other in release.group_values(group) {
                let covers = release.region(group).iter().zip(point).all(|(span, &code)| span.contains(code));
                let fits = covers && other == *value;
                if fits && !taken[row] && left[group] > 0 {
                    taken[row] = true;
                    left[group] -= 1;
                    ways += seat(release, rest, taken, left);
                    left[group] += 1;
                    taken[row] = false;
                }
                row += 1;
            }
        }
        ways
    }
    let mut left: Vec<u32> = (0..release.group_count())
        .map(|group| release.group_values(group).len() as u32 - release.counterfeits[group])
        .collect();
    seat(release, people, &mut vec![false; release.row_count()], &mut left)
}

/// Per period, in how many worlds it has each value.
fn worlds(case: &Case, periods: &[Period], values: u64) -> Vec<BTreeMap<Value, u128>> {
    let mut shares: Vec<BTreeMap<Value, u128>> = vec![BTreeMap::new(); periods.len()];
    let mut chosen: Vec<Value> = vec![Value(0); periods.len()];
    for number in 0..values.pow(periods.len() as u32) {
        let mut rest = number;
        for value in &mut chosen {
            *value = Value((rest % values) as u32);
            rest /= values;
        }
        let ways = |place: usize| {
            let here = periods.iter().zip(&chosen);
            let people: Vec<(Vec<u32>, Value)> =
                here.filter_map(|(period, &value)| Some((vec![period.points[place]?], value))).collect();
            seatings(&case.releases[place], &people)
        };
        let mut weight = 1;
        for place in 0..case.releases.len() {
            weight *= if weight == 0 { 0 } else { ways(place) };
        }
        if weight > 0 {
            for (share, &value) in shares.iter_mut().zip(&chosen) {
                *share.entry(value).or_default() += weight;
            }
        }
    }
    shares
}

/// What all series came to.
#[derive(Debug, Default)]
struct Sum {
    series: [u64; 4],
    with_somebody_certain: [u64; 4],
    found: [u64; 4],
    not_assessed: [u64; 4],
    /// Neither brute force nor the auditor finds anything, and nothing is open.
    clean: [u64; 4],
    false_passes: u64,
    false_accusations: u64,
}

const KINDS: [&str; 4] = ["with the tables", "values change, with the tables", "without the tables", "views"];

/// A view, a region in it, and how many rows it has.
type RegionOfView = (usize, Vec<Span>, usize);

impl Sum {
    fn words(&self, seed: u64) -> String {
        let mut out = format!("seed {seed}, {} series\n", self.series.iter().sum::<u64>());
        for (kind, name) in KINDS.iter().enumerate() {
            let _ = writeln!(
                out,
                "{}: {} series, {} in which brute force finds something, {} in which the auditor does, {} clean, {} with a gap",
                name,
                self.series[kind],
                self.with_somebody_certain[kind],
                self.found[kind],
                self.clean[kind],
                self.not_assessed[kind]
            );
        }
        let _ = writeln!(out, "false passes: {}, false accusations: {}", self.false_passes, self.false_accusations);
        out
    }
}

/// With the tables: everyone's chances are those of all worlds, and whoever is said to be certain is.
fn with_tables(dice: &mut Dice, sum: &mut Sum, kind: usize) {
    let changes = if kind == 1 { 25 } else { 0 };
    let (people, releases) = match kind {
        1 => (2 + dice.roll(3), 2),
        _ => (2 + dice.roll(5), 1 + dice.roll(3)),
    };
    let make = Make { people, releases, values: 3, groups: 3, points: 6, away: 20, changes, counterfeits: 10 };
    let (k, l) = (2, 2 + dice.roll(2) as u32);
    let case = match dice.happens(CLEAN) {
        true => {
            let groups = if kind == 1 { 1 } else { 1 + dice.roll(2) };
            kept(dice, groups, releases, u64::from(l), kind == 1)
        }
        false => series(dice, make),
    };
    let case = case.lines(k, l);
    let periods = periods(&case);
    let shares = worlds(&case, &periods, make.values);
    let above = |share: &BTreeMap<Value, u128>| {
        let (most, whole) = (share.values().max().copied().unwrap_or(0), share.values().sum::<u128>());
        (most * u128::from(l) > whole, most == whole)
    };
    let owners = |test: &dyn Fn(&BTreeMap<Value, u128>) -> bool| -> BTreeSet<u64> {
        periods.iter().zip(&shares).filter(|(_, share)| test(share)).map(|(period, _)| period.owner).collect()
    };
    let (certain, likely) = (owners(&|share| above(share).1), owners(&|share| above(share).0));
    let few = owners(&|share| (share.len() as u32) < l);
    let assessment = case.ask_all();
    let posterior = assessment.outcome(Check::Posterior).unwrap();
    let has_gap = assessment.gaps(Severity::Severe).next().is_some();
    let is_found = assessment.worst() >= Some(Severity::Warning);
    sum.with_somebody_certain[kind] += u64::from(!likely.is_empty());
    sum.found[kind] += u64::from(is_found);
    sum.not_assessed[kind] += u64::from(has_gap);
    sum.clean[kind] += u64::from(likely.is_empty() && !is_found && !has_gap);
    let measured = |quantity: Quantity| {
        posterior.measures.iter().find(|measure| measure.quantity == quantity).unwrap().value as usize
    };
    assert_eq!(posterior.coverage.looked_at, posterior.coverage.of, "small series are counted completely: {case:?}");
    let people = |code: &str| -> u64 {
        assessment.findings().filter(|finding| finding.fault.code() == code).map(|finding| finding.people).sum()
    };
    // Nothing hidden: whoever brute force has is there, by number.
    let is_missed =
        measured(Quantity::PeopleCertainInAllWorlds) < certain.len() || people("A755") < certain.len() as u64;
    let is_missed = is_missed || (!likely.is_empty() && posterior.verdict.word() != VerdictWord::Fail);
    // Nothing made up.
    let is_made_up = people("A755") > certain.len() as u64
        || (likely.is_empty() && posterior.verdict.word() == VerdictWord::Fail)
        || people("A731") > certain.len() as u64
        || people("A731") + people("A732") > few.len() as u64
        || (people("A721") > 0 && certain.is_empty())
        || (people("A722") > 0 && few.is_empty());
    sum.false_passes += u64::from(is_missed);
    sum.false_accusations += u64::from(is_made_up);
    assert!(!is_missed, "missed {certain:?} {likely:?}: {case:?}\n{assessment:?}");
    assert!(!is_made_up, "made up, {certain:?} {few:?}: {case:?}\n{assessment:?}");
}

/// Without the tables: a place is found exactly where some two releases, or some that follow each other, leave too few
/// values at a point; and what is certain of arrivals is so where nobody left.
fn without_tables(dice: &mut Dice, sum: &mut Sum) {
    let grows = dice.happens(50);
    let make = Make {
        people: 3 + dice.roll(6),
        releases: 2 + dice.roll(3),
        values: 4,
        groups: 3,
        points: 8,
        away: if grows { 0 } else { 25 },
        changes: 0,
        counterfeits: 0,
    };
    let case = match dice.happens(CLEAN) {
        true => {
            let (groups, size) = (1 + dice.roll(2), 2 + dice.roll(3));
            kept(dice, groups, make.releases, size, false)
        }
        false => series(dice, make),
    };
    let case = case.lines(2, 2).seen_from_outside();
    let releases = &case.releases;
    let over = |release: &Release, code: u32| -> BTreeSet<Value> {
        let here = (0..release.group_count()).filter(|&group| release.region(group)[0].contains(code));
        here.flat_map(|group| release.group_values(group).to_vec()).collect()
    };
    let is_telling = |places: &[usize]| {
        (0..make.points as u32).any(|code| {
            let left = places.iter().map(|&place| over(&releases[place], code)).reduce(|a, b| &a & &b).unwrap();
            left.len() == 1
        })
    };
    let count = releases.len();
    let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| vec![first, second]));
    let runs = (0..count).flat_map(|first| (first + 3..=count).map(move |end| (first..end).collect()));
    let is_there = pairs.chain(runs).any(|places| is_telling(&places));
    let outcome = case.ask(Check::Candidates);
    let is_found = outcome.verdict.word() == VerdictWord::Fail;
    sum.with_somebody_certain[2] += u64::from(is_there);
    sum.found[2] += u64::from(is_found);
    sum.not_assessed[2] += u64::from(outcome.verdict.word() == VerdictWord::NotAssessed);
    sum.clean[2] += u64::from(!is_there && outcome.verdict.word() == VerdictWord::Pass);
    let (is_missed, is_made_up) = (is_there && outcome.verdict.word() == VerdictWord::Pass, !is_there && is_found);
    sum.false_passes += u64::from(is_missed);
    sum.false_accusations += u64::from(is_made_up);
    assert!(!is_missed && !is_made_up, "{case:?}\n{outcome:?}");
}

/// Three views of a few people: what all assignments of all rows leave open.
fn views(dice: &mut Dice, sum: &mut Sum) {
    let people = 2 + dice.roll(3) as usize;
    let columns: [[usize; 2]; 3] = [[0, 1], [1, 2], [0, 2]];
    let is_clean = dice.happens(CLEAN);
    // People who are alike in every column, with different values, cannot be told apart.
    let code = |dice: &mut Dice| if is_clean { 0 } else { dice.roll(2) as u32 };
    let points: Vec<Vec<u32>> = (0..people).map(|_| (0..3).map(|_| code(dice)).collect()).collect();
    let values: Vec<u64> = (0..people).map(|at| if is_clean { at as u64 % 2 } else { dice.roll(2) }).collect();
    let releases: Vec<Release> = (0..3)
        .map(|view| {
            let mut rows: BTreeMap<String, String> = BTreeMap::new();
            for person in 0..people {
                let cell = |at: usize| match columns[view].contains(&at) {
                    true => points[person][at].to_string(),
                    false => "0-127".to_string(),
                };
                let region: Vec<String> = (0..3).map(cell).collect();
                let own = if view == 2 { letter(values[person]) } else { 'a' };
                rows.entry(region.join(",")).or_default().push(own);
            }
            let words: Vec<String> = rows.iter().map(|(region, values)| format!("{region}/{values}")).collect();
            release(view as u32 + 1, &words.join(" "))
        })
        .collect();
    let mut case = Case::new(schema(3), Vec::new(), releases).lines(2, 1 + dice.roll(2) as u32);
    for (view, traces) in case.traces.iter_mut().enumerate() {
        traces.columns = (0..3).map(|at| columns[view].contains(&at)).collect();
        traces.without_sensitive = view != 2;
    }
    let is_there = is_left_open_too_little(&case, people);
    let outcome = case.ask(Check::Joins);
    let codes: Vec<&str> = outcome.findings.iter().map(|finding| finding.fault.code()).collect();
    let is_found = codes.contains(&"A767") || codes.contains(&"A768");
    let is_open = outcome.verdict.word() == VerdictWord::NotAssessed;
    sum.with_somebody_certain[3] += u64::from(is_there);
    sum.found[3] += u64::from(is_found);
    sum.not_assessed[3] += u64::from(is_open);
    sum.clean[3] += u64::from(!is_there && !is_found && !is_open);
    let (is_missed, is_made_up) = (is_there && !is_found && !is_open, !is_there && is_found);
    sum.false_passes += u64::from(is_missed);
    sum.false_accusations += u64::from(is_made_up);
    assert!(!is_missed && !is_made_up, "there: {is_there}, {codes:?} {case:?}\n{outcome:?}");
}

/// Whether, for what one view says of somebody, all assignments leave fewer than k rows or l values of another.
fn is_left_open_too_little(case: &Case, people: usize) -> bool {
    let rows = |view: usize| -> Vec<(Vec<Span>, Value)> {
        let release = &case.releases[view];
        let of_group = |group: usize| {
            release.group_values(group).iter().map(move |&value| (release.region(group).to_vec(), value))
        };
        (0..release.group_count()).flat_map(of_group).collect()
    };
    let rows: Vec<Vec<(Vec<Span>, Value)>> = (0..3).map(rows).collect();
    let fits = |a: &[Span], b: &[Span]| a.iter().zip(b).all(|(a, b)| a.lo.max(b.lo) <= a.hi.min(b.hi));
    let mut orders = vec![Vec::new()];
    for _ in 0..people {
        orders = orders
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                let more = (0..people).filter(|at| !order.contains(at)).collect::<Vec<_>>();
                more.into_iter().map(move |at| [&order[..], &[at]].concat())
            })
            .collect();
    }
    // Person p has row p of the first view; the other two are laid beside it in every order.
    let mut open: BTreeMap<RegionOfView, (BTreeSet<usize>, BTreeSet<Value>)> = BTreeMap::new();
    for second in &orders {
        for third in &orders {
            let of = |person: usize| [person, second[person], third[person]];
            let is_world = (0..people).all(|person| {
                let own = of(person);
                (0..3).all(|a| (a + 1..3).all(|b| fits(&rows[a][own[a]].0, &rows[b][own[b]].0)))
            });
            if !is_world {
                continue;
            }
            for own in (0..people).map(of) {
                for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))).filter(|(a, b)| a != b) {
                    let left = open.entry((a, rows[a][own[a]].0.clone(), b)).or_default();
                    left.0.insert(own[b]);
                    left.1.insert(rows[b][own[b]].1);
                }
            }
        }
    }
    let (k, l) = (case.lines.k as usize, case.lines.l as usize);
    let has_values = |view: usize| !case.traces[view].without_sensitive;
    open.iter().any(|((_, _, b), (rows, values))| rows.len() < k || (has_values(*b) && values.len() < l))
}

#[test]
fn the_auditor_agrees_with_brute_force() {
    let is_long = std::env::var_os("TACENDA_LONG").is_some();
    let mut sum = Sum::default();
    for number in 0..if is_long { ALL } else { FEW } {
        let mut dice = Dice(SEED.wrapping_mul(1 << 32) ^ number);
        let kind = dice.roll(4) as usize;
        sum.series[kind] += 1;
        match kind {
            0 | 1 => with_tables(&mut dice, &mut sum, kind),
            2 => without_tables(&mut dice, &mut sum),
            _ => views(&mut dice, &mut sum),
        }
    }
    let words = sum.words(SEED);
    println!("{words}");
    assert_eq!((sum.false_passes, sum.false_accusations), (0, 0), "{words}");
    assert!(sum.clean.iter().sum::<u64>() * 4 >= sum.series.iter().sum::<u64>(), "a quarter is clean: {words}");
    if is_long {
        expect_file!["../oracle/summary.txt"].assert_eq(&words);
    }
}

/// Up to 60 people: the values that matching everyone leaves are those that brute force leaves, release by release until
/// nothing changes.
#[test]
fn matching_everyone_leaves_what_brute_force_leaves() {
    let is_long = std::env::var_os("TACENDA_LONG").is_some();
    for number in 0..if is_long { 30 } else { 3 } {
        let mut dice = Dice(60_000 + number);
        let make =
            Make { people: 60, releases: 3, values: 5, groups: 20, points: 24, away: 10, changes: 0, counterfeits: 0 };
        let case = series(&mut dice, make).lines(2, 3);
        let left = narrowed(&case);
        let outcome = case.ask(Check::Candidates);
        assert_eq!(outcome.coverage.looked_at, outcome.coverage.of, "series {number}");
        let measured =
            |quantity: Quantity| outcome.measures.iter().find(|measure| measure.quantity == quantity).unwrap().value;
        let certain = left.values().filter(|values| values.len() == 1).count();
        let below = left.values().filter(|values| values.len() < 3).count();
        assert_eq!(measured(Quantity::PeopleCertain), certain as f64, "series {number}");
        assert_eq!(measured(Quantity::PeopleBelowL), below as f64, "series {number}");
    }
}

/// Everyone's values: those of the groups over them in all releases, less those that no seating of a release gives them.
fn narrowed(case: &Case) -> BTreeMap<u64, BTreeSet<Value>> {
    let mut left: BTreeMap<u64, BTreeSet<Value>> = BTreeMap::new();
    let rows = |release: &Release| -> Vec<(Span, Value)> {
        let of_group = |group: usize| {
            release.group_values(group).iter().map(move |&value| (release.region(group)[0], value)).collect::<Vec<_>>()
        };
        (0..release.group_count()).flat_map(of_group).collect()
    };
    let people = |place: usize| -> Vec<(u64, u32)> {
        let table = &case.tables[place];
        (0..table.len()).map(|row| (table.keys()[row].hi, table.quasi(0)[row])).collect()
    };
    for (place, release) in case.releases.iter().enumerate() {
        for (person, point) in people(place) {
            let here: BTreeSet<Value> =
                rows(release).iter().filter(|(span, _)| span.contains(point)).map(|row| row.1).collect();
            let common = left.get(&person).map_or(here.clone(), |before| before & &here);
            left.insert(person, common);
        }
    }
    loop {
        let before = left.clone();
        for (place, release) in case.releases.iter().enumerate() {
            let (rows, people) = (rows(release), people(place));
            let mut kept = left.clone();
            for (at, (person, _)) in people.iter().enumerate() {
                for &value in &left[person] {
                    let may = |other: usize, row: usize| {
                        let (name, point) = people[other];
                        let (span, seat) = rows[row];
                        let is_open = if other == at { seat == value } else { left[&name].contains(&seat) };
                        span.contains(point) && is_open
                    };
                    if !can_all_be_seated(people.len(), rows.len(), &may) {
                        kept.get_mut(person).unwrap().remove(&value);
                    }
                }
            }
            left = kept;
        }
        if left == before {
            return left;
        }
    }
}

/// Kuhn's algorithm, as in any textbook.
fn can_all_be_seated(people: usize, rows: usize, may: &dyn Fn(usize, usize) -> bool) -> bool {
    fn seat(
        person: usize,
        rows: usize,
        may: &dyn Fn(usize, usize) -> bool,
        seen: &mut [bool],
        taken: &mut [Option<usize>],
    ) -> bool {
        for row in 0..rows {
            if seen[row] || !may(person, row) {
                continue;
            }
            seen[row] = true;
            if taken[row].is_none_or(|other| seat(other, rows, may, seen, taken)) {
                taken[row] = Some(person);
                return true;
            }
        }
        false
    }
    let mut taken = vec![None; rows];
    (0..people).all(|person| seat(person, rows, may, &mut vec![false; rows], &mut taken))
}

/// The words of a table are those of the case: a check of this file's own making.
#[test]
fn brute_force_itself_counts_the_paper_s_newcomer() {
    // science G9: A and B in {a,b}; C joins and the class is {a,a,b}: C has a.
    let case = Case::of(&[("1/10/a 2/10/b", "10-10/ab"), ("1/10/a 2/10/b 3/10/a", "10-10/aab")]);
    let shares = worlds(&case, &periods(&case), 2);
    assert_eq!(shares.iter().map(BTreeMap::len).collect::<Vec<_>>(), [2, 2, 1]);
    assert_eq!(table("1/10/a").len(), 1);
}
