//! The engine against a join that is written out row by row.

use crate::grouping::views::search::Engine;
use crate::grouping::views::task::prepare;
use crate::grouping::views::{
    BrokenCondition, JoinMeasure, Note, Options, Task, Unrelated, ViewsError, Warning, explain_requirement, specialise,
    utility,
};
use crate::model::{
    Bound, Domain, Hierarchy, Impossible, PublishedView, Quasi, Requirement, Rng, Score, Span, SpanColumn, Threshold,
    View, ViewColumn, ViewRows,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn tree(rows: &[&str]) -> Hierarchy {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
    Hierarchy::from_rows(&rows).unwrap()
}

fn category(name: &str, rows: &[&str]) -> Quasi {
    Quasi::new(name, Domain::Category(tree(rows)))
}

/// A view and its rows, one per word, cells divided by `/`; every cell is a leaf.
fn new_view(columns: &[Quasi], rows: &str) -> (View, ViewRows) {
    let mut codes: Vec<Vec<u32>> = vec![Vec::new(); columns.len()];
    for row in rows.split_whitespace() {
        for (column, cell) in row.split('/').enumerate() {
            codes[column].push(columns[column].encode(cell).unwrap());
        }
    }
    (View { name: "new".into(), columns: columns.to_vec() }, ViewRows::new(codes, Vec::new()))
}

/// A view that is out, written the same way; cells may be generalised.
fn earlier(name: &str, columns: &[Quasi], rows: &str) -> PublishedView {
    let mut spans: Vec<Vec<Span>> = vec![Vec::new(); columns.len()];
    for row in rows.split_whitespace() {
        for (column, cell) in row.split('/').enumerate() {
            spans[column].push(columns[column].read(cell).unwrap());
        }
    }
    let view = View { name: name.into(), columns: columns.to_vec() };
    PublishedView::new(view, spans.iter().map(|column| SpanColumn::new(column)).collect())
}

/// A made-up task: a base table, the new view and one or two earlier ones cut out of it.
struct Case {
    view: View,
    rows: ViewRows,
    earlier: Vec<PublishedView>,
    requirements: Vec<Requirement>,
    impossible: Vec<Impossible>,
}

impl Case {
    fn task(&self) -> Task<'_> {
        Task {
            view: &self.view,
            rows: &self.rows,
            earlier: &self.earlier,
            requirements: &self.requirements,
            impossible: &self.impossible,
        }
    }

    fn random(rng: &mut Rng) -> Case {
        let base = [
            category("a", &["p;l;*", "q;l;*", "r;m;*", "s;m;*"]),
            category("b", &["u;x;*", "v;x;*", "w;w;*"]),
            Quasi::new("n", Domain::Integer { lo: 0, hi: 6 }),
            category("s", &["0", "1", "2"]),
            category("t", &["0", "1"]),
        ];
        let people = 3 + rng.below(6) as usize;
        let table: Vec<Vec<u32>> =
            base.iter().map(|quasi| (0..people).map(|_| rng.below(quasi.size().into()) as u32).collect()).collect();
        let pick = |rng: &mut Rng| -> Vec<usize> { (0..base.len()).filter(|_| rng.below(3) > 0).collect() };
        let mut own = pick(rng);
        if own.is_empty() {
            own.push(0);
        }
        let view = View { name: "new".into(), columns: own.iter().map(|&at| base[at].clone()).collect() };
        let target = (0..people).map(|_| rng.below(2) as u32).collect();
        let rows = ViewRows::new(own.iter().map(|&at| table[at].clone()).collect(), target);
        let mut out = Vec::new();
        for number in 0..1 + rng.below(5) / 3 {
            let columns = pick(rng);
            let columns = if columns.is_empty() { vec![1] } else { columns };
            let spans = columns.iter().map(|&at| SpanColumn::new(&generalise(&base[at], &table[at], rng))).collect();
            let columns = columns.iter().map(|&at| base[at].clone()).collect();
            out.push(PublishedView::new(View { name: format!("out{number}"), columns }, spans));
        }
        let mut case = Case { view, rows, earlier: out, requirements: Vec::new(), impossible: Vec::new() };
        for _ in 0..1 + rng.below(2) {
            let requirement = case.requirement(rng);
            case.requirements.push(requirement);
        }
        if rng.below(4) == 0 {
            case.impossible
                .push(Impossible { left: ("a".into(), Span::new(0, 1)), right: ("s".into(), Span::exact(0)) });
        }
        case
    }

    /// Changes the requirements so that the corrected theorem applies wherever the earlier view is a cut.
    fn meet_the_theorem(&mut self, rng: &mut Rng) {
        self.earlier.truncate(1);
        self.impossible.clear();
        self.requirements.truncate(1);
        let join = self.task().join_columns(&[1]);
        let requirement = &mut self.requirements[0];
        requirement.x.retain(|at| at.view < 2);
        requirement.x.extend(join.iter().map(|&column| ViewColumn::new(0, column)));
        requirement.x.sort_unstable();
        requirement.x.dedup();
        let side = rng.below(2) as usize;
        requirement.y.retain(|at| at.view == side && !requirement.x.contains(at));
        if requirement.y.is_empty() {
            requirement.y.push(ViewColumn::record(side));
        }
        if let Bound::Linkability { max_permille, listed } = &mut requirement.bound {
            (*max_permille, *listed) = (Some(500), Vec::new());
        }
    }

    fn requirement(&self, rng: &mut Rng) -> Requirement {
        let mut all: Vec<ViewColumn> = (0..self.view.columns.len()).map(|column| ViewColumn::new(0, column)).collect();
        for (index, earlier) in self.earlier.iter().enumerate() {
            all.extend((0..earlier.view.columns.len()).map(|column| ViewColumn::new(index + 1, column)));
        }
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for at in all {
            match rng.below(5) {
                0..=2 => x.push(at),
                3 => y.push(at),
                _ => {}
            }
        }
        for view in 0..=self.earlier.len() {
            if rng.below(5) == 0 {
                y.push(ViewColumn::record(view));
            }
        }
        if y.is_empty() {
            y.push(ViewColumn::record(rng.below(2) as usize));
        }
        if rng.below(2) == 0 {
            return Requirement::anonymity(x, y, 1 + rng.below(4));
        }
        let mut requirement = Requirement::linkability(x, y, 300 + 100 * rng.below(8) as u32);
        if let Bound::Linkability { max_permille, listed } = &mut requirement.bound
            && requirement.y.iter().all(|at| at.column.is_some())
            && rng.below(3) == 0
        {
            let values = requirement.y.iter().map(|_| Span::new(0, 1)).collect();
            listed.push(Threshold { values, max_permille: 400 });
            if rng.below(2) == 0 {
                *max_permille = None;
            }
        }
        requirement
    }
}

/// A column of an earlier view: as it is, with a cut, or each cell on its own.
fn generalise(quasi: &Quasi, codes: &[u32], rng: &mut Rng) -> Vec<Span> {
    let way = rng.below(4);
    let cut = rng.below(u64::from(quasi.size())) as u32;
    let lift = |code: u32| match quasi.hierarchy() {
        Some(tree) if code < cut => tree.cover_at_least(Span::exact(code), 2),
        Some(_) => Span::exact(code),
        None if code < cut => Span::new(0, cut - 1),
        None => Span::new(cut, quasi.size() - 1),
    };
    let mut spans = Vec::new();
    for &code in codes {
        spans.push(match way {
            0 | 1 => Span::exact(code),
            // Lifting every leaf below a node or none is a cut; this may lift some.
            2 => lift(code),
            _ if rng.below(2) == 0 => quasi.root(),
            _ => Span::exact(code),
        });
    }
    spans
}

/// The worst over all x, from the definitions: least a_Y, or largest share and whether all hold.
fn naive(case: &Case, new: &PublishedView, requirement: &Requirement) -> (JoinMeasure, bool) {
    let views: Vec<&PublishedView> = [new].into_iter().chain(&case.earlier).collect();
    let mut joined: Vec<Vec<usize>> = vec![Vec::new()];
    for (number, view) in views.iter().enumerate() {
        let longer = |chosen: &Vec<usize>| -> Vec<Vec<usize>> {
            let fits = |&row: &usize| (0..number).all(|other| is_match(case, views[other], chosen[other], view, row));
            (0..view.len()).filter(fits).map(|row| chosen.iter().copied().chain([row]).collect()).collect()
        };
        joined = joined.iter().flat_map(longer).collect();
    }
    let cell = |chosen: &[usize], at: &ViewColumn| match at.column {
        Some(column) => views[at.view].column(column).span(chosen[at.view]),
        None => Span { lo: 9, hi: chosen[at.view] as u32 },
    };
    let mut by_x: BTreeMap<Vec<Span>, BTreeMap<Vec<Span>, u64>> = BTreeMap::new();
    for chosen in &joined {
        let x = requirement.x.iter().map(|at| cell(chosen, at)).collect();
        let y = requirement.y.iter().map(|at| cell(chosen, at)).collect();
        *by_x.entry(x).or_default().entry(y).or_default() += 1;
    }
    if let Bound::Anonymity { k } = requirement.bound {
        let least = by_x.values().map(|values| values.len() as u64).min();
        return (JoinMeasure::Anonymity { least }, least.is_none_or(|least| least >= k));
    }
    let (mut largest_ppm, mut holds) = (0, true);
    for values in by_x.values() {
        let rows: u64 = values.values().sum();
        for (y, count) in values {
            let entry = |at: usize| if requirement.y[at].column.is_none() { Span::EMPTY } else { y[at] };
            if let Some(permille) = requirement.bound.threshold(entry) {
                largest_ppm = largest_ppm.max((count * 1_000_000).div_ceil(rows));
                holds &= count * 1000 <= rows * u64::from(permille);
            }
        }
    }
    (JoinMeasure::Linkability { largest_ppm }, holds)
}

fn is_match(case: &Case, a: &PublishedView, row: usize, b: &PublishedView, other: usize) -> bool {
    a.view.columns.iter().enumerate().all(|(i, left)| {
        b.view.columns.iter().enumerate().all(|(j, right)| {
            let (span, theirs) = (a.column(i).span(row), b.column(j).span(other));
            let ruled = case.impossible.iter().any(|rule| rule.rules_out(&left.name, span, &right.name, theirs));
            if left.name == right.name { span.overlap(theirs) } else { !ruled }
        })
    })
}

const ALLOW: Options = Options { information: Score::Entropy, search: 30, lines: 100_000, unrelated: Unrelated::Allow };

/// Where every check of an engine stands.
fn standing(engine: &mut Engine) -> Vec<(JoinMeasure, bool)> {
    let standings = engine.standings();
    let each = engine.checks.iter().zip(&standings);
    each.map(|(check, standing)| (check.measure(standing.now), standing.now.holds)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// science E1-30: whatever is divided in whatever order, counts by partition are those of
    /// the join row by row, and what was foretold of every division is what comes of it.
    #[test]
    fn counts_by_partition_are_those_of_the_join(seed in any::<u64>()) {
        let mut rng = Rng::from_number(seed);
        let case = Case::random(&mut rng);
        let mut engine = prepare(&case.task(), &case.task().everything(), &ALLOW).unwrap().engine;
        engine.checks.iter_mut().for_each(|check| check.is_monotone = false);
        loop {
            let cuts = engine.tree.cuts(case.view.columns.len());
            let published = PublishedView::recode(&case.view, &case.rows, &cuts);
            for ((measure, holds), check) in standing(&mut engine).into_iter().zip(&engine.checks) {
                prop_assert_eq!((measure, holds), naive(&case, &published, &case.requirements[check.requirement]));
            }
            let standings = engine.standings();
            let values: Vec<usize> =
                (0..engine.tree.values.len()).filter(|&value| engine.tree.values[value].is_candidate()).collect();
            for &value in &values {
                let mut after = engine.clone();
                after.divide(value);
                for (foretold, came) in standings.iter().zip(after.standings()) {
                    prop_assert_eq!(foretold.after[value], came.now);
                }
            }
            if values.is_empty() {
                break;
            }
            engine.divide(values[rng.below(values.len() as u64) as usize]);
        }
    }

    /// science E1-31, E1-32: what comes out is a cut, keeps every requirement, and cannot be
    /// specialised further.
    #[test]
    fn the_outcome_is_a_cut_that_holds_and_is_maximal(seed in any::<u64>()) {
        let mut rng = Rng::from_number(seed);
        let case = Case::random(&mut rng);
        let Ok(outcome) = specialise(&case.task(), &ALLOW) else { return Ok(()) };
        for (column, cut) in outcome.cuts.iter().enumerate() {
            let Some(cut) = cut else { continue };
            let quasi = &case.view.columns[column];
            prop_assert_eq!(cut.iter().map(|span| span.width()).sum::<u32>(), quasi.size(), "apart and covering");
            prop_assert!(cut.is_sorted_by(|a, b| a.hi < b.lo));
            if let Some(tree) = quasi.hierarchy() {
                prop_assert!(cut.iter().all(|&span| tree.cover(span) == span));
            }
        }
        let published = outcome.publish(&case.task());
        for (requirement, &measure) in case.requirements.iter().zip(&outcome.measures) {
            prop_assert_eq!((measure, true), naive(&case, &published, requirement));
        }
        for (column, cut) in outcome.cuts.iter().enumerate() {
            let (Some(cut), Some(tree)) = (cut, case.view.columns[column].hierarchy()) else { continue };
            let occurs = |span: Span| case.rows.column(column).iter().any(|&code| span.contains(code));
            for &span in cut.iter().filter(|&&span| occurs(span) && !tree.children(span).is_empty()) {
                let mut finer = outcome.cuts.clone();
                let mut spans: Vec<Span> = cut.iter().copied().filter(|&other| other != span).collect();
                spans.extend(tree.children(span));
                spans.sort_unstable();
                finer[column] = Some(spans);
                let published = PublishedView::recode(&case.view, &case.rows, &finer);
                let broken = case.requirements.iter().any(|requirement| !naive(&case, &published, requirement).1);
                prop_assert!(broken, "a further specialisation is valid");
            }
        }
    }

    /// science E1-3.
    #[test]
    fn neither_the_order_of_rows_nor_the_threads_show(seed in any::<u64>(), information in 0usize..3) {
        let mut rng = Rng::from_number(seed);
        let case = Case::random(&mut rng);
        let information = [Score::Entropy, Score::Distortion, Score::Discernability][information];
        let options = Options { information, ..ALLOW };
        let mut order: Vec<usize> = (0..case.rows.len()).collect();
        rng.shuffle(&mut order);
        let shuffled = |codes: &[u32]| order.iter().map(|&row| codes[row]).collect();
        let columns = (0..case.view.columns.len()).map(|column| shuffled(case.rows.column(column))).collect();
        let other = ViewRows::new(columns, shuffled(case.rows.target()));
        let one = specialise(&case.task(), &options);
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        prop_assert_eq!(&one, &alone.install(|| specialise(&case.task(), &options)));
        prop_assert_eq!(one, specialise(&Task { rows: &other, ..case.task() }, &options));
    }

    /// Stepping back walks the way that was come, and lands on a state that passes.
    #[test]
    fn stepping_back_walks_the_way_that_was_come(seed in any::<u64>(), wanted in 0usize..8) {
        let mut rng = Rng::from_number(seed);
        let case = Case::random(&mut rng);
        let Ok(mut outcome) = specialise(&case.task(), &ALLOW) else { return Ok(()) };
        let spans = |cuts: &crate::model::Cuts| cuts.iter().flatten().map(Vec::len).sum::<usize>();
        let first = spans(&outcome.cuts_before(outcome.trail.len()));
        prop_assert_eq!(first, outcome.cuts.iter().flatten().count(), "one root an attribute");
        let before = outcome.clone();
        match outcome.back_off(|cuts| spans(cuts) <= first + wanted) {
            None => prop_assert!(false, "the first state passes"),
            Some(steps) => {
                prop_assert!(spans(&outcome.cuts) <= first + wanted);
                prop_assert_eq!(&outcome.cuts, &before.cuts_before(steps));
                prop_assert_eq!(outcome.trail.len() + steps, before.trail.len());
                let fewer = steps == 0 || spans(&before.cuts_before(steps - 1)) > first + wanted;
                prop_assert!(fewer, "no step more than needed");
            }
        }
    }
}

/// science E1-32: where no condition of the corrected theorem fails, specialising never helps.
#[test]
fn specialising_never_helps_under_the_corrected_theorem() {
    let mut looked_at = 0;
    for seed in 0..800 {
        let mut rng = Rng::from_number(seed);
        let mut case = Case::random(&mut rng);
        case.meet_the_theorem(&mut rng);
        let mut engine = prepare(&case.task(), &case.task().everything(), &ALLOW).unwrap().engine;
        loop {
            let values: Vec<usize> =
                (0..engine.tree.values.len()).filter(|&value| engine.tree.values[value].is_candidate()).collect();
            if values.is_empty() {
                break;
            }
            let standings = engine.standings();
            for (check, standing) in engine.checks.iter().zip(&standings).filter(|(check, _)| check.is_monotone) {
                looked_at += 1;
                for &value in &values {
                    assert!(standing.after[value].cost >= standing.now.cost, "seed {seed}, {}", check.requirement);
                }
            }
            engine.divide(values[rng.below(values.len() as u64) as usize]);
        }
    }
    assert!(looked_at > 500, "only {looked_at} states met the theorem's conditions");
}

fn job() -> Quasi {
    category("job", &["banker;finance;*", "clerk;finance;*", "driver;manual;*", "engineer;manual;*"])
}

/// The paper's Example 1: names and jobs are to go out after jobs and diseases.
#[test]
fn names_are_published_so_that_no_disease_is_certain() {
    let name = category("name", &["alice", "bob", "cathy"]);
    let (view, rows) = new_view(&[name, job()], "alice/banker alice/banker bob/clerk bob/driver cathy/engineer");
    let disease = category("disease", &["cancer", "hiv"]);
    let out = [earlier("out", &[job(), disease], "banker/cancer banker/cancer clerk/hiv driver/cancer engineer/hiv")];
    let requirements = [Requirement::linkability(
        vec![ViewColumn::new(0, 0), ViewColumn::new(0, 1)],
        vec![ViewColumn::new(1, 1)],
        700,
    )];
    let task = Task { view: &view, rows: &rows, earlier: &out, requirements: &requirements, impossible: &[] };
    let outcome = specialise(&task, &Options::default()).unwrap();
    // Jobs in two halves: 2 of 3 in finance have cancer, 1 of 2 in manual work. Any further, and a job tells all.
    assert_eq!(outcome.cuts[1].as_deref(), Some(&[Span::new(0, 1), Span::new(2, 3)][..]));
    assert_eq!(outcome.cuts[0].as_deref(), Some(&[0, 1, 2].map(Span::exact)[..]));
    assert_eq!(outcome.measures, [JoinMeasure::Linkability { largest_ppm: 666_667 }]);
    let notes = explain_requirement(&task, 0).unwrap();
    assert_eq!(notes, [Note::Omitted { view: "out".into(), column: "job".into() }]);
}

/// science A4.2: X holds both copies of the only join column and Y is out already.
#[test]
fn a_requirement_out_of_reach_is_said_to_be() {
    let name = category("name", &["alice", "bob"]);
    let (view, rows) = new_view(&[name, job()], "alice/banker bob/clerk");
    let disease = category("disease", &["cancer", "hiv"]);
    let out = [earlier("out", &[job(), disease], "banker/cancer clerk/hiv")];
    let x = vec![ViewColumn::new(0, 0), ViewColumn::new(0, 1), ViewColumn::new(1, 0)];
    let requirements = [Requirement::linkability(x.clone(), vec![ViewColumn::new(1, 1)], 500)];
    let task = Task { view: &view, rows: &rows, earlier: &out, requirements: &requirements, impossible: &[] };
    let measure = JoinMeasure::Linkability { largest_ppm: 1_000_000 };
    assert_eq!(
        explain_requirement(&task, 0).unwrap(),
        [Note::OutOfReach { view: "out".into() }, Note::Broken { measure, is_final: true }]
    );
    let error = specialise(&task, &Options::default()).unwrap_err();
    assert!(matches!(error, ViewsError::Unmeetable { requirement: 1, .. }), "{error}");
    assert_eq!((error.code(), error.exit_code()), ("R434", 4));
    // With the key of the new view as Y it is plain k-anonymity of the new view.
    let requirements = [Requirement::anonymity(x, vec![ViewColumn::record(0)], 2)];
    let task = Task { requirements: &requirements, ..task };
    assert_eq!(explain_requirement(&task, 0).unwrap(), [Note::OneTable { view: "new".into() }]);
    let outcome = specialise(&task, &Options::default()).unwrap();
    assert_eq!(outcome.measures, [JoinMeasure::Anonymity { least: Some(2) }]);
}

/// science CE-3: the most general state breaks the requirement and a finer one keeps it.
#[test]
fn the_search_finds_what_corollary_4_2_rules_out() {
    let c = category("c", &["p", "q"]);
    let d = category("d", &["u", "w"]);
    let y1 = category("y1", &["1", "2", "3"]);
    let y2 = category("y2", &["1", "2", "3"]);
    let (view, rows) = new_view(&[c, d.clone(), y1], "q/u/1 q/u/2 q/u/3 p/w/1 p/w/1 p/w/1");
    let out = [earlier("out", &[d, y2], "u/1 u/1 u/1 w/1 w/2 w/3")];
    let x = vec![ViewColumn::new(0, 0), ViewColumn::new(0, 1), ViewColumn::new(1, 0)];
    let requirements = [Requirement::anonymity(x, vec![ViewColumn::new(0, 2), ViewColumn::new(1, 1)], 3)];
    let task = Task { view: &view, rows: &rows, earlier: &out, requirements: &requirements, impossible: &[] };
    let notes = explain_requirement(&task, 0).unwrap();
    assert!(notes.contains(&Note::NotMonotone(BrokenCondition::YInSeveralViews)), "{notes:?}");
    let outcome = specialise(&task, &Options::default()).unwrap();
    assert_eq!(outcome.measures, [JoinMeasure::Anonymity { least: Some(3) }]);
    let requirements = [Requirement { bound: Bound::Anonymity { k: 4 }, ..requirements[0].clone() }];
    let task = Task { requirements: &requirements, ..task };
    let error = specialise(&task, &Options::default()).unwrap_err();
    assert!(matches!(error, ViewsError::NoneFound { requirement: 1, .. }), "{error}");
}

/// science CE-4: a join column outside X; specialising D helps.
#[test]
fn a_join_column_outside_x_lets_specialising_help() {
    let (c, d, f) = (category("c", &["c", "k"]), category("d", &["1", "2"]), category("f", &["1", "2"]));
    let (e, y) = (category("e", &["0", "1"]), category("y", &["a", "b", "g", "h"]));
    let (view, rows) = new_view(&[c, d.clone(), f.clone(), y], "c/1/1/a c/1/2/b k/2/1/g k/2/1/h");
    let out = [earlier("out", &[d, f, e], "1/1/1 1/2/1 2/1/0 2/1/0")];
    let x = vec![ViewColumn::new(0, 0), ViewColumn::new(0, 1), ViewColumn::new(1, 2)];
    let requirements = [Requirement::anonymity(x, vec![ViewColumn::new(0, 3)], 1)];
    let case = Case { view, rows, earlier: out.to_vec(), requirements: requirements.to_vec(), impossible: Vec::new() };
    let mut engine = prepare(&case.task(), &case.task().everything(), &Options::default()).unwrap().engine;
    let doubt = Note::NotMonotone(BrokenCondition::JoinOutsideX { column: "f".into() });
    assert!(explain_requirement(&case.task(), 0).unwrap().contains(&doubt));
    let c = engine.tree.find(0, Span::new(0, 1)).unwrap();
    engine.divide(c);
    assert_eq!(standing(&mut engine)[0].0, JoinMeasure::Anonymity { least: Some(1) });
    let d = engine.tree.find(1, Span::new(0, 1)).unwrap();
    engine.divide(d);
    assert_eq!(standing(&mut engine)[0].0, JoinMeasure::Anonymity { least: Some(2) });
}

/// science A4.5, case 2: one earlier partition meets two new ones; the paper's formula says 4.
#[test]
fn a_key_that_is_met_twice_counts_once() {
    let (n, j) = (category("n", &["n", "o"]), category("j", &["1;j;*", "2;j;*", "3;3;*"]));
    let (view, rows) = new_view(&[n, j.clone()], "n/1 n/2");
    let out = [earlier("out", &[j], "j j")];
    let requirements = [Requirement::anonymity(vec![ViewColumn::new(0, 0)], vec![ViewColumn::record(1)], 1)];
    let task = Task { view: &view, rows: &rows, earlier: &out, requirements: &requirements, impossible: &[] };
    let outcome = specialise(&task, &Options::default()).unwrap();
    assert_eq!(outcome.measures, [JoinMeasure::Anonymity { least: Some(2) }]);
}

#[test]
fn views_of_other_people_are_refused() {
    let (view, rows) = new_view(&[job()], "banker driver");
    let out = [earlier("out", &[job()], "banker clerk")];
    let requirements = [Requirement::anonymity(vec![ViewColumn::new(0, 0)], vec![ViewColumn::record(0)], 1)];
    let task = Task { view: &view, rows: &rows, earlier: &out, requirements: &requirements, impossible: &[] };
    let error = specialise(&task, &Options::default()).unwrap_err();
    assert_eq!(error, ViewsError::NotRelated { view: "out".into(), new: 1, earlier: 1 });
}

#[test]
fn too_many_earlier_views_are_looked_at_one_by_one_and_that_is_said() {
    let (s, t) = (category("s", &["0", "1"]), category("t", &["0", "1"]));
    let (view, rows) = new_view(&[job()], "banker clerk driver engineer");
    let out = [earlier("one", &[job(), s], "banker/0 clerk/1 driver/0 engineer/1"), earlier("two", &[t], "0 1 0 1")];
    let requirements = [Requirement::linkability(
        vec![ViewColumn::new(0, 0), ViewColumn::new(2, 0)],
        vec![ViewColumn::new(1, 1)],
        500,
    )];
    let task = Task { view: &view, rows: &rows, earlier: &out, requirements: &requirements, impossible: &[] };
    let whole = specialise(&task, &Options::default()).unwrap();
    assert_eq!(whole.warnings, []);
    let pairs = specialise(&task, &Options { lines: 3, ..Options::default() }).unwrap();
    assert_eq!(pairs.warnings, [Warning::PairsOnly { requirement: 1, lines: 3 }]);
    assert_eq!(whole.cuts, pairs.cuts, "here the second view adds nothing");
}

/// With nothing out, Y the key and X all columns, this is k-anonymity: the paper's KAD and KAE.
#[test]
fn with_nothing_out_it_is_k_anonymity() {
    let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 100 });
    let (view, rows) = new_view(&[job(), age], "banker/20 clerk/22 driver/40 driver/41 engineer/60 engineer/61");
    let x = vec![ViewColumn::new(0, 0), ViewColumn::new(0, 1)];
    let requirements = [Requirement::anonymity(x, vec![ViewColumn::record(0)], 2)];
    let task = Task { view: &view, rows: &rows, earlier: &[], requirements: &requirements, impossible: &[] };
    let outcome = specialise(&task, &Options::default()).unwrap();
    // Age in halves loses 3 of 6, job would lose 4; after that every division leaves someone alone.
    assert_eq!(outcome.measures, [JoinMeasure::Anonymity { least: Some(3) }]);
    assert_eq!(outcome.cuts[1].as_deref(), Some(&[Span::new(0, 40), Span::new(41, 99)][..]));
    assert_eq!(outcome.publish(&task).classes(&[0, 1]).size, [3, 3]);
}

/// An earlier view that holds nothing of X and Y and joins the new view alone only multiplies.
#[test]
fn a_silent_view_changes_counts_and_nothing_else() {
    let (view, rows) = new_view(&[job()], "banker clerk driver engineer");
    let t = category("t", &["0", "1"]);
    let out = [
        earlier("one", std::slice::from_ref(&t), "0 1 0 1"),
        earlier("two", &[job()], "finance finance manual manual"),
    ];
    let requirements = [Requirement::linkability(vec![ViewColumn::new(0, 0)], vec![ViewColumn::new(1, 0)], 500)];
    let task = Task { view: &view, rows: &rows, earlier: &out, requirements: &requirements, impossible: &[] };
    let outcome = specialise(&task, &Options::default()).unwrap();
    assert_eq!(outcome.cuts[0].as_ref().map(Vec::len), Some(4));
    assert_eq!(outcome.measures, [JoinMeasure::Linkability { largest_ppm: 500_000 }]);
}

#[test]
fn utility_counts_levels_and_widths() {
    let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 10 });
    let (view, rows) = new_view(&[job(), age], "banker/0 clerk/4 driver/5 engineer/9");
    let rows = ViewRows::new(vec![rows.column(0).to_vec(), rows.column(1).to_vec()], vec![0, 0, 1, 1]);
    let cuts = vec![Some(vec![Span::new(0, 1), Span::exact(2), Span::exact(3)]), Some(vec![Span::new(0, 9)])];
    let found = utility(&view, &rows, &cuts);
    assert_eq!((found.distortion_categories, found.distortion_numbers), (0.5, 1.0));
    assert_eq!(found.information_kept, [Some(1.0), Some(0.0)]);
    assert_eq!(found.discernability, 4 + 1 + 1);
}
