//! The paper's examples and their corrections, and the counts against the join row by row.

use super::*;
use crate::model::{Domain, Hierarchy, Quasi, Rng, Span, SpanColumn, Threshold, View};
use proptest::prelude::*;

fn category(name: &str, rows: &[&str]) -> Quasi {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
    Quasi::new(name, Domain::Category(Hierarchy::from_rows(&rows).unwrap()))
}

/// A view, one row per word, cells divided by `/`.
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

/// The views of science CE-9.
fn ce_9() -> [PublishedView; 3] {
    let name = category("name", &["n1", "n2", "n3"]);
    let bit = |name: &str| category(name, &["0", "1"]);
    let disease = category("disease", &["flu", "hiv"]);
    [
        view(&[name, bit("a"), bit("b")], "n1/1/1 n2/*/* n3/1/*"),
        view(&[bit("a"), bit("c")], "*/1 0/0 1/*"),
        view(&[bit("b"), bit("c"), disease], "*/*/hiv */*/flu 0/1/hiv"),
    ]
}

/// science CE-9: only n3 can have the row with b 0 and c 1, which is hiv. Two views at a time do not show it.
#[test]
fn three_views_judged_at_once_show_a_certain_disease() {
    let views = ce_9();
    let requirement = Requirement::anonymity(vec![at(0, 0)], vec![at(2, 2)], 2);
    let two_at_a_time = pairs_of_assignments(&views, &[]);
    assert_eq!(read_naively(&views, &two_at_a_time, &requirement).least, Some(2));
    let kept = kernel_by_trying(&views, &[]).unwrap();
    assert!(kept.iter().filter(|chosen| chosen[0] == 2).all(|chosen| chosen[2] == 2), "{kept:?}");
    let report = judge(&views, requirement.clone());
    assert_eq!((report.raw.least, report.coverage), (Some(2), JoinCoverage::All));
    let kernel = report.kernel.unwrap();
    assert_eq!((kernel.least, kernel.broken, kernel.people), (Some(1), 1, 1));
    assert_eq!(kernel, read_naively(&views, &kept, &requirement));
}

/// What takes too many steps is not called exact, and does not hold.
#[test]
fn a_kernel_that_takes_too_many_steps_is_said_to_be_of_two_views() {
    let views = ce_9();
    let requirements = [Requirement::anonymity(vec![at(0, 0)], vec![at(2, 2)], 2)];
    let evidence = JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit: 100 };
    let report = judge_join(&evidence);
    assert_eq!(report.requirements[0].coverage, JoinCoverage::KernelOfTwo);
    assert_eq!(report.requirements[0].kernel.as_ref().unwrap().least, Some(2));
    assert!(!report.holds());
}

/// Each two of these have an assignment, all three have none.
#[test]
fn views_that_only_two_at_a_time_are_of_the_same_people_are_found() {
    let bit = |name: &str| category(name, &["0", "1"]);
    // a = b, b = c, and a is not c.
    let views = [
        view(&[bit("a"), bit("b")], "0/0 1/1"),
        view(&[bit("b"), bit("c")], "0/0 1/1"),
        view(&[bit("c"), bit("a")], "0/1 1/0"),
    ];
    let requirements = [Requirement::anonymity(vec![at(0, 0)], vec![at(1, 1)], 1)];
    let evidence = JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit: 1_000_000 };
    let report = judge_join(&evidence);
    assert_eq!((report.has_assignment, report.requirements[0].coverage), (Some(true), JoinCoverage::Unassigned));
    assert!(!report.holds());
    assert_eq!(kernel_by_trying(&views, &[]), None);
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

/// Whether two rows can be one person, written down once more.
fn fit(views: &[PublishedView], (u, row): (usize, usize), (v, other): (usize, usize), rules: &[Impossible]) -> bool {
    let cells = |view: usize, row: usize| {
        let columns = views[view].view.columns.iter().enumerate();
        columns.map(move |(at, quasi)| (&quasi.name, views[view].column(at).span(row))).collect::<Vec<_>>()
    };
    let lies = |span: Span, inside: Span| inside.lo <= span.lo && span.hi <= inside.hi;
    cells(u, row).iter().all(|(name, span)| {
        cells(v, other).iter().all(|(other, theirs)| {
            let rule_against = rules.iter().any(|rule| {
                let is = |one: &(String, Span), two: &(String, Span)| {
                    one.0 == **name && lies(*span, one.1) && two.0 == **other && lies(*theirs, two.1)
                };
                is(&rule.left, &rule.right) || is(&rule.right, &rule.left)
            });
            if name == other { span.lo <= theirs.hi && theirs.lo <= span.hi } else { !rule_against }
        })
    })
}

/// The joined rows that somebody has in some assignment of all rows of all views, by trying all assignments; `None`
/// where there is none. The people are the rows of the largest view; each has at most one row of every other.
fn kernel_by_trying(views: &[PublishedView], rules: &[Impossible]) -> Option<Vec<Vec<usize>>> {
    struct Trying<'a> {
        views: &'a [PublishedView],
        rules: &'a [Impossible],
        largest: usize,
        /// Whom each row of each view was given to.
        given: Vec<Vec<bool>>,
        people: Vec<Vec<Option<usize>>>,
        used: std::collections::BTreeSet<Vec<usize>>,
        is_found: bool,
    }
    impl Trying<'_> {
        fn go(&mut self, person: usize, view: usize) {
            let count = self.views[self.largest].len();
            if person == count {
                if self.given.iter().flatten().all(|given| *given) {
                    self.is_found = true;
                    let whole = self.people.iter().filter_map(|rows| rows.iter().copied().collect::<Option<Vec<_>>>());
                    self.used.extend(whole);
                }
                return;
            }
            if view == self.views.len() {
                return self.go(person + 1, 0);
            }
            let rows: Vec<usize> =
                if view == self.largest { vec![person] } else { (0..self.views[view].len()).collect() };
            for row in rows {
                let mut earlier = self.people[person][..view].iter().enumerate();
                let fits = earlier.all(|(other, theirs)| {
                    theirs.is_none_or(|theirs| fit(self.views, (view, row), (other, theirs), self.rules))
                });
                if fits && !self.given[view][row] {
                    self.given[view][row] = true;
                    self.people[person][view] = Some(row);
                    self.go(person, view + 1);
                    self.people[person][view] = None;
                    self.given[view][row] = false;
                }
            }
            let waiting = self.given[view].iter().filter(|given| !**given).count();
            if waiting < count - person {
                self.go(person, view + 1);
            }
        }
    }
    let largest = (0..views.len()).max_by_key(|&view| views[view].len()).unwrap();
    let mut trying = Trying {
        views,
        rules,
        largest,
        given: views.iter().map(|view| vec![false; view.len()]).collect(),
        people: vec![vec![None; views.len()]; views[largest].len()],
        used: std::collections::BTreeSet::new(),
        is_found: false,
    };
    trying.go(0, 0);
    trying.is_found.then(|| trying.used.into_iter().collect())
}

/// The joined rows each two of which lie in an assignment of their two views: what is not enough.
fn pairs_of_assignments(views: &[PublishedView], rules: &[Impossible]) -> Vec<Vec<usize>> {
    let mut joined = materialise(views, rules);
    for b in 0..views.len() {
        for a in 0..b {
            let two = [views[a].clone(), views[b].clone()];
            let kept = kernel_by_trying(&two, rules).unwrap();
            joined.retain(|chosen| kept.contains(&vec![chosen[a], chosen[b]]));
        }
    }
    joined
}

/// Views in a ring, in which each two neighbours share a column: cells are as they are or say nothing. Now and then
/// all views have all columns, and say nothing of those that are not theirs.
fn ring(rng: &mut Rng, people: usize, count: usize, open: u64) -> Vec<PublishedView> {
    let is_wide = rng.below(3) == 0;
    let bits: Vec<Quasi> = (0..count).map(|at| category(&format!("c{at}"), &["0", "1"])).collect();
    let disease = category("s", &["0", "1", "2"]);
    let draw = |rng: &mut Rng, quasi: &Quasi| rng.below(quasi.size().into()) as u32;
    let table: Vec<Vec<u32>> = bits.iter().map(|bit| (0..people).map(|_| draw(rng, bit)).collect()).collect();
    let sick: Vec<Span> = (0..people).map(|_| Span::exact(draw(rng, &disease))).collect();
    let mut views = Vec::new();
    for at in 0..count {
        let mut columns = Vec::new();
        let mut spans: Vec<SpanColumn> = Vec::new();
        for column in [at, (at + 1) % count] {
            let cell = |code: &u32| if rng.below(4) < open { bits[column].root() } else { Span::exact(*code) };
            columns.push(bits[column].clone());
            spans.push(SpanColumn::new(&table[column].iter().map(cell).collect::<Vec<Span>>()));
        }
        for column in (0..count).filter(|&column| is_wide && column != at && column != (at + 1) % count) {
            columns.push(bits[column].clone());
            spans.push(SpanColumn::new(&vec![bits[column].root(); people]));
        }
        if at == 0 {
            columns.push(disease.clone());
            spans.push(SpanColumn::new(&sick));
        }
        views.push(PublishedView::new(View { name: format!("v{at}"), columns }, spans));
    }
    views
}

/// The same views without some of their rows.
fn thinned(rng: &mut Rng, views: Vec<PublishedView>) -> Vec<PublishedView> {
    let thin = |(at, published): (usize, PublishedView)| {
        let rows: Vec<usize> = (0..published.len()).filter(|_| at == 0 || rng.below(5) > 0).collect();
        let columns = 0..published.view.columns.len();
        let column =
            |column: usize| -> Vec<Span> { rows.iter().map(|&row| published.column(column).span(row)).collect() };
        let columns = columns.map(|at| SpanColumn::new(&column(at))).collect();
        PublishedView::new(published.view.clone(), columns)
    };
    views.into_iter().enumerate().map(thin).collect()
}

/// science E1-39: three to five views, against all assignments: of rings and of any columns, with rules, with people
/// whom some views lack.
#[test]
fn the_kernel_of_all_views_is_what_some_assignment_uses() {
    let (mut more_than_pairs, mut lacking) = (0, 0);
    for seed in 0..800 {
        let mut rng = Rng::from_number(seed);
        let count = 3 + rng.below(3) as usize;
        let people = 2 + rng.below([4, 3, 2][count - 3]) as usize;
        let open = rng.below(3);
        let is_ring = rng.below(2) == 0;
        let mut views =
            if is_ring { ring(&mut rng, people, count, open) } else { random_views(&mut rng, people, count) };
        let rule = Impossible { left: ("a".into(), Span::new(0, 1)), right: ("s".into(), Span::exact(0)) };
        let rules = if rng.below(3) == 0 { vec![rule] } else { Vec::new() };
        if rng.below(3) == 0 {
            views = thinned(&mut rng, views);
        }
        let requirements = [random_requirement(&mut rng, &views), random_requirement(&mut rng, &views)];
        let evidence =
            JoinEvidence { views: &views, requirements: &requirements, impossible: &rules, limit: 10_000_000 };
        let report = judge_join(&evidence);
        let kept = kernel_by_trying(&views, &rules);
        for (part, requirement) in report.requirements.iter().zip(&requirements) {
            match &kept {
                Some(kept) => {
                    let kernel = read_naively(&views, kept, requirement);
                    assert_eq!((part.coverage, &part.kernel), (JoinCoverage::All, &Some(kernel)), "seed {seed}");
                }
                None => assert_eq!(part.coverage, JoinCoverage::Unassigned, "seed {seed}"),
            }
        }
        let is_full = views.iter().all(|view| view.len() == people);
        if let (Some(kept), true) = (&kept, is_full) {
            more_than_pairs += u32::from(pairs_of_assignments(&views, &rules) != *kept);
        }
        lacking += u32::from(kept.is_some() && !is_full);
    }
    assert!(more_than_pairs > 20 && lacking > 100, "{more_than_pairs} {lacking}");
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
            // A rule may speak against the very people the views were made of.
            prop_assert!(matches!(report.coverage, JoinCoverage::All | JoinCoverage::Unassigned));
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
        let kept = kernel_by_trying(&views, &[]).unwrap();
        prop_assert!((0..people).all(|person| kept.contains(&vec![person, person])));
        let kernel = report.requirements[0].kernel.clone().unwrap();
        prop_assert_eq!(kernel, read_naively(&views, &kept, &requirements[0]));
        prop_assert_eq!(report.has_assignment, Some(true));
    }
}
