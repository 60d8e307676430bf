//! The paper's examples and their corrections, and the counts against the join row by row.

use super::*;
use crate::model::{Domain, Hierarchy, Quasi, Rng, Span, SpanColumn, Threshold, View};
use proptest::prelude::*;

fn category(name: &str, rows: &[&str]) -> Quasi {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
    Quasi::new(name, Domain::Category(Hierarchy::from_rows(&rows).unwrap()))
}

/// A view, one row a word, cells divided by `/`.
fn view(columns: &[Quasi], rows: &str) -> PublishedView {
    let mut spans: Vec<Vec<Span>> = vec![Vec::new(); columns.len()];
    for row in rows.split_whitespace() {
        for (column, cell) in row.split('/').enumerate() {
            spans[column].push(columns[column].read(cell).unwrap());
        }
    }
    let view = View { name: "v".into(), columns: columns.to_vec() };
    PublishedView::new(view, spans.iter().map(|column| SpanColumn::new(column)).collect())
}

fn at(view: usize, column: usize) -> ViewColumn {
    ViewColumn::new(view, column)
}

/// Judges one requirement, and checks the raw reading against the join row by row.
fn judge(views: &[PublishedView], requirement: Requirement) -> RequirementReport {
    let requirements = [requirement];
    let evidence = JoinEvidence { views, requirements: &requirements, impossible: &[], limit: 1_000_000 };
    let report = judge_join(&evidence).requirements.remove(0);
    assert_eq!(report.raw, read_naively(views, &materialise(views, &[]), &requirements[0]));
    report
}

/// science G17: the paper's Example 1.
#[test]
fn example_1_joins_to_seven_rows_and_betrays_alice_and_cathy() {
    let name = category("name", &["alice", "bob", "cathy"]);
    let job = category("job", &["banker", "clerk", "driver", "engineer"]);
    let disease = category("disease", &["cancer", "hiv"]);
    let views = [
        view(&[name, job.clone()], "alice/banker alice/banker bob/clerk bob/driver cathy/engineer"),
        view(&[job, disease], "banker/cancer banker/cancer clerk/hiv driver/cancer engineer/hiv"),
    ];
    let joined = materialise(&views, &[]);
    let count = |name: u32, disease: u32| {
        let is = |chosen: &&Vec<usize>| {
            views[0].column(0).span(chosen[0]).lo == name && views[1].column(1).span(chosen[1]).lo == disease
        };
        joined.iter().filter(is).count()
    };
    assert_eq!(joined.len(), 7);
    assert_eq!([count(0, 0), count(1, 1), count(1, 0), count(2, 1)], [4, 1, 1, 1]);
    let linked = judge(&views, Requirement::linkability(vec![at(0, 0)], vec![at(1, 1)], 500)).raw;
    assert_eq!((linked.rows, linked.combinations, linked.broken, linked.people), (7, 3, 2, 3));
    assert_eq!(linked.largest_ppm, Some(1_000_000));
    // {bob, hiv} stands in one joined row, {alice, cancer} in four.
    let rows = vec![ViewColumn::record(0), ViewColumn::record(1)];
    let anonymous = judge(&views, Requirement::anonymity(vec![at(0, 0), at(1, 1)], rows, 4)).raw;
    assert_eq!((anonymous.least, anonymous.combinations, anonymous.broken), (Some(1), 4, 3));
}

/// science G18: the paper's own counterexample, a record that matches nothing after specialisation.
#[test]
fn a_dangling_record_is_counted_and_drops_out_of_the_join() {
    let c = category("c", &["c1", "c2"]);
    let d = category("d", &["d1;d;*", "d2;d;*", "d3;d3;*"]);
    let y = category("y", &["y1", "y2", "y3"]);
    let out = view(&[d.clone(), y], "d3/y3 d3/y2 d1/y1");
    let requirement = Requirement::anonymity(vec![at(0, 0), at(0, 1), at(1, 0)], vec![at(1, 1)], 1);
    let before = [view(&[c.clone(), d.clone()], "c1/d3 c2/d"), out.clone()];
    let after = [view(&[c, d], "c1/d3 c2/d2"), out];
    assert_eq!(judge(&before, requirement.clone()).raw.least, Some(1));
    assert_eq!(judge(&after, requirement).raw.least, Some(2));
    let dangling = |views: &[PublishedView]| {
        judge_join(&JoinEvidence { views, requirements: &[], impossible: &[], limit: 1000 }).dangling
    };
    assert_eq!((dangling(&before), dangling(&after)), (vec![0, 0], vec![1, 1]));
}

/// science G18, CE-3: with Y in both views specialising raises anonymity.
#[test]
fn ce_3_goes_from_36_rows_and_one_value_to_18_rows_and_three() {
    let (c, d) = (category("c", &["p", "q"]), category("d", &["u", "w"]));
    let (y1, y2) = (category("y1", &["1", "2", "3"]), category("y2", &["1", "2", "3"]));
    let new = |d_values: [&str; 2]| {
        let [u, w] = d_values;
        view(&[c.clone(), d.clone(), y1.clone()], &format!("q/{u}/1 q/{u}/2 q/{u}/3 p/{w}/1 p/{w}/1 p/{w}/1"))
    };
    let out = view(&[d.clone(), y2], "u/1 u/1 u/1 w/1 w/2 w/3");
    let requirement = Requirement::anonymity(vec![at(0, 0), at(0, 1), at(1, 0)], vec![at(0, 2), at(1, 1)], 3);
    let before = judge(&[new(["*", "*"]), out.clone()], requirement.clone()).raw;
    let after = judge(&[new(["u", "w"]), out], requirement).raw;
    assert_eq!((before.rows, before.least, before.holds), (36, Some(1), false));
    assert_eq!((after.rows, after.least, after.holds), (18, Some(3), true));
}

/// science G18, CE-4: a join column outside X; A goes from 1 to 2 and L from 1 to 1/2.
#[test]
fn ce_4_a_join_column_outside_x_lets_specialising_help() {
    let (c, d, f) = (category("c", &["c", "k"]), category("d", &["1", "2"]), category("f", &["1", "2"]));
    let (e, y) = (category("e", &["0", "1"]), category("y", &["a", "b", "g", "h"]));
    let columns = [c, d.clone(), f.clone(), y];
    let general = view(&columns, "c/*/1/a c/*/2/b k/*/1/g k/*/1/h");
    let special = view(&columns, "c/1/1/a c/1/2/b k/2/1/g k/2/1/h");
    let out = view(&[d, f, e], "1/1/1 1/2/1 2/1/0 2/1/0");
    let x = vec![at(0, 0), at(0, 1), at(1, 2)];
    let anonymity = Requirement::anonymity(x.clone(), vec![at(0, 3)], 2);
    let linkability = Requirement::linkability(x, vec![at(0, 3)], 500);
    assert_eq!(judge(&[general.clone(), out.clone()], anonymity.clone()).raw.least, Some(1));
    assert_eq!(judge(&[special.clone(), out.clone()], anonymity).raw.least, Some(2));
    assert_eq!(judge(&[general, out.clone()], linkability.clone()).raw.largest_ppm, Some(1_000_000));
    assert_eq!(judge(&[special, out], linkability).raw.largest_ppm, Some(500_000));
}

/// science G18, Case 2: truth 2 where the paper's formula says 4.
#[test]
fn a_key_met_through_two_partitions_counts_once() {
    let (n, j) = (category("n", &["n", "o"]), category("j", &["1;j;*", "2;j;*", "3;3;*"]));
    let views = [view(&[n, j.clone()], "n/1 n/2"), view(&[j], "j j")];
    let raw = judge(&views, Requirement::anonymity(vec![at(0, 0)], vec![ViewColumn::record(1)], 1)).raw;
    assert_eq!((raw.rows, raw.least), (4, Some(2)));
}

/// science CE-9: only n3 can have the row with b 0 and c 1, which is hiv. Two views at a time do not show it.
#[test]
fn three_views_judged_two_at_a_time_hide_a_certain_disease() {
    let name = category("name", &["n1", "n2", "n3"]);
    let bit = |name: &str| category(name, &["0", "1"]);
    let disease = category("disease", &["flu", "hiv"]);
    let views = [
        view(&[name, bit("a"), bit("b")], "n1/1/1 n2/*/* n3/1/*"),
        view(&[bit("a"), bit("c")], "*/1 0/0 1/*"),
        view(&[bit("b"), bit("c"), disease], "*/*/hiv */*/flu 0/1/hiv"),
    ];
    let report = judge(&views, Requirement::anonymity(vec![at(0, 0)], vec![at(2, 2)], 2));
    assert_eq!((report.raw.least, report.kernel.and_then(|kernel| kernel.least)), (Some(2), Some(2)));
    // All ways to give every name a row of both other views: n3 has the third disease in all of them.
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let meet = |(u, c): (usize, usize), (v, d): (usize, usize), row: usize, other: usize| {
        let (left, right) = (views[u].column(c).span(row), views[v].column(d).span(other));
        left.lo <= right.hi && right.lo <= left.hi
    };
    let mut held = Vec::new();
    for second in orders {
        for third in orders {
            let fits = (0..3).all(|person| {
                meet((0, 1), (1, 0), person, second[person])
                    && meet((0, 2), (2, 0), person, third[person])
                    && meet((1, 1), (2, 1), second[person], third[person])
            });
            if fits {
                held.push(third[2]);
            }
        }
    }
    assert!(!held.is_empty() && held.iter().all(|&row| row == 2), "{held:?}");
}

/// science G19: Bob needs the clerk, so Cathy is the driver.
#[test]
fn the_kernel_leaves_cathy_one_disease() {
    let (name, job) = (category("name", &["bob", "cathy"]), category("job", &["clerk", "driver"]));
    let disease = category("disease", &["flu", "hiv"]);
    let views = [view(&[name, job.clone()], "bob/clerk cathy/*"), view(&[job, disease], "clerk/hiv driver/flu")];
    let report = judge(&views, Requirement::anonymity(vec![at(0, 0)], vec![at(1, 1)], 1));
    let kernel = report.kernel.unwrap();
    assert_eq!((report.raw.rows, kernel.rows), (3, 2));
    let cathy = Requirement::linkability(vec![at(0, 0)], vec![at(1, 1)], 500);
    let report = judge(&views, cathy);
    assert_eq!((report.raw.broken, report.kernel.unwrap().broken), (1, 2));
}

/// The same beside a view that has a clerk too many: between it and the diseases nothing is left out, and
/// Bob and Cathy are told apart as before.
#[test]
fn a_pair_without_an_assignment_does_not_spoil_the_others() {
    let (name, job) = (category("name", &["bob", "cathy"]), category("job", &["clerk", "driver"]));
    let disease = category("disease", &["flu", "hiv"]);
    let views = [
        view(&[name, job.clone()], "bob/clerk cathy/*"),
        view(&[job.clone(), disease], "clerk/hiv driver/flu"),
        view(&[job], "clerk clerk"),
    ];
    let requirements = [Requirement::linkability(vec![at(0, 0)], vec![at(1, 1)], 500)];
    let evidence = JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit: 1000 };
    let report = judge_joins(&evidence, &[vec![0, 1]]);
    assert_eq!((report.has_assignment, report.unassigned, report.lonely[1][2]), (Some(false), vec![(1, 2)], 1));
    let part = &report.requirements[0];
    assert_eq!((part.raw.broken, part.kernel.as_ref().unwrap().broken), (1, 2));
}

#[test]
fn views_that_no_assignment_fits_are_found() {
    let job = category("job", &["clerk", "driver"]);
    let views = [view(std::slice::from_ref(&job), "clerk clerk driver"), view(&[job], "clerk driver driver")];
    let requirements = [Requirement::anonymity(vec![at(0, 0)], vec![ViewColumn::record(0)], 1)];
    let evidence = JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit: 1000 };
    let report = judge_join(&evidence);
    assert_eq!((report.is_related(), report.has_assignment, report.holds()), (true, Some(false), false));
}

#[test]
fn work_past_the_limit_is_said_not_to_be_done() {
    let job = category("job", &["clerk", "driver"]);
    let one = view(std::slice::from_ref(&job), "clerk driver");
    let requirements = [Requirement::anonymity(vec![at(0, 0)], vec![ViewColumn::record(1)], 1)];
    let two = [one.clone(), one];
    let report = judge_join(&JoinEvidence { views: &two, requirements: &requirements, impossible: &[], limit: 1 });
    assert_eq!(report.requirements[0].coverage, JoinCoverage::NotAssessed);
    assert!(!report.holds());
    // Nothing joins these three: each four rows meet each four.
    let three = ["a", "b", "c"].map(|name| view(&[category(name, &["1", "2", "3", "4"])], "1 2 3 4"));
    let requirements = [Requirement::anonymity(vec![at(0, 0), at(2, 0)], vec![at(1, 0)], 1)];
    let report = judge_join(&JoinEvidence { views: &three, requirements: &requirements, impossible: &[], limit: 20 });
    assert_eq!(report.requirements[0].coverage, JoinCoverage::PairsOnly);
    assert!(!report.holds());
}

/// Views cut out of one made-up table, each cell as it is or generalised on its own.
fn random_views(rng: &mut Rng, people: usize, count: usize) -> Vec<PublishedView> {
    let base = [
        category("a", &["p;l;*", "q;l;*", "r;m;*", "s;m;*"]),
        Quasi::new("n", Domain::Integer { lo: 0, hi: 5 }),
        category("s", &["0", "1", "2"]),
        category("t", &["0", "1"]),
    ];
    let table: Vec<Vec<u32>> =
        base.iter().map(|quasi| (0..people).map(|_| rng.below(quasi.size().into()) as u32).collect()).collect();
    let mut views = Vec::new();
    for _ in 0..count {
        let mut columns: Vec<usize> = (0..base.len()).filter(|_| rng.below(3) > 0).collect();
        if columns.is_empty() {
            columns.push(0);
        }
        let mut cell = |column: usize, code: u32| match rng.below(3) {
            0 if column == 0 => base[0].hierarchy().unwrap().cover_at_least(Span::exact(code), 2),
            0 if column == 1 => Span::new(code.saturating_sub(1), (code + 1).min(4)),
            1 => base[column].root(),
            _ => Span::exact(code),
        };
        let spans = columns.iter().map(|&column| {
            let rows: Vec<Span> = table[column].iter().map(|&code| cell(column, code)).collect();
            SpanColumn::new(&rows)
        });
        let spans = spans.collect();
        let columns = columns.iter().map(|&column| base[column].clone()).collect();
        views.push(PublishedView::new(View { name: "v".into(), columns }, spans));
    }
    views
}

fn random_requirement(rng: &mut Rng, views: &[PublishedView]) -> Requirement {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (view, published) in views.iter().enumerate() {
        for column in 0..published.view.columns.len() {
            match rng.below(5) {
                0..=2 => x.push(at(view, column)),
                3 => y.push(at(view, column)),
                _ => {}
            }
        }
        if rng.below(4) == 0 {
            y.push(ViewColumn::record(view));
        }
    }
    if y.is_empty() {
        y.push(ViewColumn::record(rng.below(views.len() as u64) as usize));
    }
    if rng.below(2) == 0 {
        return Requirement::anonymity(x, y, 1 + rng.below(4));
    }
    let listed = if rng.below(3) == 0 {
        vec![Threshold { values: y.iter().map(|_| Span::new(0, 1)).collect(), max_permille: 300 }]
    } else {
        Vec::new()
    };
    let max_permille = (listed.is_empty() || rng.below(2) == 0).then_some(600);
    Requirement { x, y, bound: Bound::Linkability { max_permille, listed } }
}

/// The joined rows of two views whose pair lies in some assignment of all rows, by trying them all.
fn kernel_by_trying(views: &[PublishedView], impossible: &[Impossible]) -> Vec<Vec<usize>> {
    fn go(at: usize, edges: &[Vec<usize>], chosen: &mut Vec<usize>, used: &mut Vec<Vec<usize>>) {
        if at == chosen.capacity() {
            used.extend(chosen.iter().enumerate().map(|(left, &right)| vec![left, right]));
            return;
        }
        for edge in edges.iter().filter(|edge| edge[0] == at) {
            if !chosen.contains(&edge[1]) {
                chosen.push(edge[1]);
                go(at + 1, edges, chosen, used);
                chosen.pop();
            }
        }
    }
    let edges = materialise(views, impossible);
    let mut used = Vec::new();
    let mut chosen = Vec::with_capacity(views[0].len());
    assert_eq!(chosen.capacity(), views[0].len());
    go(0, &edges, &mut chosen, &mut used);
    used.sort();
    used.dedup();
    used
}

proptest! {
    /// science E1-30: two and three views, all kinds of Y, rules, local recoding.
    #[test]
    fn counts_by_partition_are_those_of_the_join(seed in any::<u64>(), count in 2usize..4) {
        let mut rng = Rng::from_number(seed);
        let people = 2 + rng.below(5) as usize;
        let views = random_views(&mut rng, people, count);
        let requirements = [random_requirement(&mut rng, &views), random_requirement(&mut rng, &views)];
        let rule = Impossible { left: ("a".into(), Span::new(0, 1)), right: ("s".into(), Span::exact(0)) };
        let impossible = if rng.below(3) == 0 { vec![rule] } else { Vec::new() };
        let evidence = JoinEvidence { views: &views, requirements: &requirements, impossible: &impossible, limit: 1_000_000 };
        let joined = materialise(&views, &impossible);
        for (report, requirement) in judge_join(&evidence).requirements.iter().zip(&requirements) {
            prop_assert_eq!(&report.raw, &read_naively(&views, &joined, requirement));
            prop_assert_eq!(report.coverage, JoinCoverage::All);
        }
    }

    /// science E1-33: what is left are the pairs of some assignment, and the truth is among them.
    #[test]
    fn the_kernel_is_what_some_assignment_uses(seed in any::<u64>()) {
        let mut rng = Rng::from_number(seed);
        let people = 2 + rng.below(5) as usize;
        let views = random_views(&mut rng, people, 2);
        let requirements = [random_requirement(&mut rng, &views)];
        let evidence = JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit: 1_000_000 };
        let report = judge_join(&evidence);
        let kept = kernel_by_trying(&views, &[]);
        prop_assert!((0..people).all(|person| kept.contains(&vec![person, person])));
        let kernel = report.requirements[0].kernel.clone().unwrap();
        prop_assert_eq!(kernel, read_naively(&views, &kept, &requirements[0]));
        prop_assert_eq!(report.has_assignment, Some(true));
    }
}
