//! Three and more views at once, against every assignment of all rows, written down here once more.

use crate::audit_sketch::{self, Case};
use crate::audit_verify::verify;
use crate::views_kit::{category, file, names, publish, table, views};
use std::collections::BTreeSet;
use tacenda::audit::{
    Check, JoinCoverage, JoinEvidence, Reason, STEPS_TOGETHER, Traces, Verdict, judge_join, materialise, read_naively,
};
use tacenda::model::{
    Domain, History, PublishedView, Quasi, Requirement, Rng, Span, SpanColumn, Table, View, ViewColumn,
};
use tacenda::promise::{XyAnonymity, XyLinkability};
use tacenda::publish::PublishError;

/// The joined rows that somebody has in some assignment of all rows of these views, which have as many rows each.
fn assigned(views: &[PublishedView]) -> Vec<Vec<usize>> {
    fn go(joined: &[Vec<usize>], people: &mut Vec<usize>, count: usize, used: &mut BTreeSet<usize>) {
        if people.len() == count {
            used.extend(people.iter());
            return;
        }
        for at in 0..joined.len() {
            let is_free = |other: &usize| joined[*other].iter().zip(&joined[at]).all(|(theirs, own)| theirs != own);
            // The people are the rows of the first view, in order.
            if joined[at][0] == people.len() && people.iter().all(is_free) {
                people.push(at);
                go(joined, people, count, used);
                people.pop();
            }
        }
    }
    let meets = |(u, row): (usize, usize), (v, other): (usize, usize)| {
        views[u].view.columns.iter().enumerate().all(|(at, column)| {
            let Some(there) = views[v].view.column(&column.name) else { return true };
            let (own, theirs) = (views[u].column(at).span(row), views[v].column(there).span(other));
            own.lo <= theirs.hi && theirs.lo <= own.hi
        })
    };
    let mut joined: Vec<Vec<usize>> = vec![Vec::new()];
    for (view, published) in views.iter().enumerate() {
        let longer = joined.iter().flat_map(|chosen| {
            let fits = |row: &usize| (0..view).all(|other| meets((other, chosen[other]), (view, *row)));
            let with = |row: usize| chosen.iter().copied().chain([row]).collect::<Vec<usize>>();
            (0..published.len()).filter(fits).map(with).collect::<Vec<_>>()
        });
        joined = longer.collect();
    }
    let mut used = BTreeSet::new();
    go(&joined, &mut Vec::new(), views[0].len(), &mut used);
    used.into_iter().map(|at| joined[at].clone()).collect()
}

const COLUMNS: [&str; 5] = ["name", "a", "b", "c", "dis"];

/// The views of the crafted tables, in the order in which they are published.
const VIEWS: [(&str, &[&str]); 3] = [("v3", &["b", "c", "dis"]), ("v2", &["a", "c"]), ("v1", &["name", "a", "b"])];

fn quasi(people: usize) -> Vec<Quasi> {
    let list = |count: usize| (0..count).map(|at| at.to_string()).collect::<Vec<String>>();
    let of = |name: &str, count: usize| category(name, &list(count).iter().map(String::as_str).collect::<Vec<&str>>());
    vec![of("name", people), of("a", 2), of("b", 2), of("c", 2), of("dis", 3)]
}

/// A table as a view with these columns and exact cells.
fn exact(table: &Table, columns: &[&str]) -> PublishedView {
    let all = quasi(table.len());
    let place = |name: &&str| COLUMNS.iter().position(|known| known == name).unwrap();
    let spans =
        |at: usize| SpanColumn::new(&table.quasi(at).iter().map(|&code| Span::exact(code)).collect::<Vec<Span>>());
    let view = View { name: columns.concat(), columns: columns.iter().map(|name| all[place(name)].clone()).collect() };
    PublishedView::new(view, columns.iter().map(|name| spans(place(name))).collect())
}

/// Every name goes with two diseases at least.
fn two_diseases(of_name: usize, of_disease: (usize, usize)) -> Requirement {
    Requirement::anonymity(vec![ViewColumn::new(of_name, 0)], vec![ViewColumn::new(of_disease.0, of_disease.1)], 2)
}

/// Tables of a few people whose join leaves everyone two diseases, while the assignments leave somebody one.
fn crafted(count: usize) -> Vec<Table> {
    let mut found = Vec::new();
    for seed in 0.. {
        let mut rng = Rng::from_number(seed);
        let people = 4 + rng.below(3) as usize;
        let mut column = |values: u64| -> Vec<u32> { (0..people).map(|_| rng.below(values) as u32).collect() };
        let table = table(vec![(0..people as u32).collect(), column(2), column(2), column(2), column(3)]);
        let views = VIEWS.map(|(_, columns)| exact(&table, columns));
        let requirement = two_diseases(2, (0, 2));
        if read_naively(&views, &materialise(&views, &[]), &requirement).holds
            && !read_naively(&views, &assigned(&views), &requirement).holds
        {
            found.push(table);
        }
        if found.len() == count {
            break;
        }
    }
    found
}

/// science CE-9, A4.8: published as they are, each of these leaves somebody one disease.
#[test]
fn crafted_tables_are_generalised_or_refused() {
    let (mut generalised, mut refused) = (0, 0);
    for table in crafted(30) {
        let raw = VIEWS.map(|(_, columns)| exact(&table, columns));
        let requirements = [two_diseases(2, (0, 2))];
        let evidence = JoinEvidence { views: &raw, requirements: &requirements, impossible: &[], limit: 1 << 30 };
        let report = judge_join(&evidence);
        let part = &report.requirements[0];
        let kernel = part.kernel.as_ref().unwrap();
        assert_eq!((part.coverage, part.raw.holds, kernel.holds), (JoinCoverage::All, true, false));
        assert_eq!(*kernel, read_naively(&raw, &assigned(&raw), &requirements[0]));

        let promise = XyAnonymity { x: names(&["name"]), y: names(&["dis"]), k: 2 };
        let file = file(quasi(table.len()), &VIEWS, promise);
        let mut history = History::default();
        for (name, _) in &VIEWS[..2] {
            history = publish(&file, name, &history, &table).unwrap().history;
        }
        match publish(&file, "v1", &history, &table) {
            Ok(prepared) => {
                let out: Vec<PublishedView> =
                    prepared.history.views.iter().map(|past| past.published(&file.schema).unwrap()).collect();
                assert!(prepared.view().unwrap().steps_back > 0);
                assert!(read_naively(&out, &assigned(&out), &two_diseases(2, (0, 2))).holds);
                generalised += 1;
            }
            Err(PublishError::Views(_) | PublishError::Refused(_)) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    println!("{generalised} generalised, {refused} refused");
    assert_eq!(generalised + refused, 30);
}

/// The crafted views as releases that somebody else made.
fn releases(table: &Table) -> Case {
    let word = |columns: [bool; 4]| {
        let row = |row: usize| {
            let cell = |(at, has): (usize, &bool)| if *has { table.quasi(at)[row].to_string() } else { "0-127".into() };
            let cells: Vec<String> = columns.iter().enumerate().map(cell).collect();
            format!("{}/{}", cells.join(","), char::from(b'a' + table.quasi(4)[row] as u8))
        };
        (0..table.len()).map(row).collect::<Vec<String>>().join(" ")
    };
    // name, a, b, c
    let columns = [[true, true, true, false], [false, true, false, true], [false, false, true, true]];
    let releases = columns.iter().zip(1..).map(|(columns, number)| audit_sketch::release(number, &word(*columns)));
    let mut case = Case::new(audit_sketch::schema(4), Vec::new(), releases.collect());
    case.traces = columns
        .iter()
        .enumerate()
        .map(|(at, columns)| Traces { columns: columns.to_vec(), without_sensitive: at < 2, ..Traces::default() })
        .collect();
    case
}

#[test]
fn crafted_views_fail_the_audit_with_a_witness() {
    for table in crafted(25) {
        let outcome = releases(&table).lines(1, 2).ask(Check::Joins);
        assert_eq!(outcome.verdict, Verdict::Fail);
        // What the first release, with the names, leaves of the third, with the diseases.
        let told = outcome
            .findings
            .iter()
            .find(|finding| (finding.fault.code(), finding.release, finding.others.first()) == ("A768", 3, Some(&1)));
        assert_eq!(told.unwrap().witness.as_ref().unwrap().number, 1);
        outcome.findings.iter().for_each(|finding| verify(&releases(&table).lines(1, 2), finding));
    }
}

/// Everyone has a twin who differs in the disease alone: whatever is matched, both stay possible.
fn twins(seed: u64) -> Case {
    let mut rng = Rng::from_number(seed);
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); 5];
    for _ in 0..3 + rng.below(3) {
        let point = [0, rng.below(2), rng.below(2), rng.below(2)];
        for twin in 0..2u32 {
            columns.iter_mut().zip(point).for_each(|(column, code)| column.push(code as u32));
            columns[4].push(twin);
        }
    }
    releases(&table(columns))
}

#[test]
fn clean_views_are_not_accused() {
    for seed in 0..100 {
        let outcome = twins(seed).ask(Check::Joins);
        assert_eq!((outcome.verdict, outcome.findings.len()), (Verdict::Pass, 0), "seed {seed}");
        assert_eq!((outcome.coverage.looked_at, outcome.coverage.of), (4, 4));
    }
}

/// The guarantees state how many steps a join may take.
#[test]
fn the_guarantees_name_the_steps() {
    assert_eq!(STEPS_TOGETHER, 4_194_304);
    assert!(include_str!("../../../../docs/guarantees.md").contains("4,194,304 steps"));
}

/// With few steps nothing is cleared, and the reason says why.
#[test]
fn views_that_take_too_many_steps_are_not_cleared() {
    let mut reasons: Vec<Option<Reason>> = Vec::new();
    for pairs in (0..14).map(|bits| 1 << bits) {
        let mut case = twins(1);
        case.budget.steps = pairs;
        reasons.push(match case.ask(Check::Joins).verdict {
            Verdict::Pass => None,
            Verdict::NotAssessed(reason) => Some(reason),
            other => panic!("{other:?}"),
        });
    }
    assert!(reasons.contains(&Some(Reason::TooLargeAtOnce)), "{reasons:?}");
    // Once there are steps enough, more of them change nothing.
    let first = reasons.iter().position(Option::is_none).unwrap();
    assert!(first > 0 && reasons[first..].iter().all(Option::is_none), "{reasons:?}");
}

/// science E1-39: three to five views of a few people, under both promises: each that goes out keeps its promise among
/// all assignments, whichever of them somebody lays side by side.
#[test]
fn series_of_three_to_five_views_keep_their_promise_among_all_assignments() {
    let (mut third, mut all_out) = (0, 0);
    for seed in 0..120 {
        let mut rng = Rng::from_number(seed);
        let count = 3 + rng.below(3) as usize;
        let people = [5, 4, 4][count - 3];
        let base = vec![
            category("a", &["p;l;*", "q;l;*", "r;m;*", "s;m;*"]),
            Quasi::new("n", Domain::Integer { lo: 0, hi: 4 }),
            category("b", &["0", "1"]),
            category("s", &["0", "1", "2"]),
            category("t", &["0", "1"]),
        ];
        let mut column =
            |quasi: &Quasi| -> Vec<u32> { (0..people).map(|_| rng.below(quasi.size().into()) as u32).collect() };
        let table = table(base.iter().map(&mut column).collect());
        let list: [(&str, &[&str]); 5] = [
            ("one", &["a", "n", "s"]),
            ("two", &["a", "b"]),
            ("three", &["n", "b"]),
            ("four", &["b", "t"]),
            ("five", &["a", "t"]),
        ];
        let x = names(&[["n"], ["a"], ["b"]][rng.below(3) as usize]);
        let file = if rng.below(2) == 0 {
            file(base, &list[..count], XyAnonymity { x, y: names(&["s"]), k: 2 })
        } else {
            let y = names(&["s"]);
            let promise = XyLinkability { x, y, max_confidence_permille: 700, listed: Vec::new(), only_listed: false };
            file(base, &list[..count], promise)
        };
        let mut order: Vec<&str> = list[..count].iter().map(|view| view.0).collect();
        rng.shuffle(&mut order);
        let mut history = History::default();
        for view in order {
            match publish(&file, view, &history, &table) {
                Ok(prepared) => history = prepared.history,
                Err(PublishError::Views(_) | PublishError::Refused(_)) => continue,
                Err(error) => panic!("seed {seed}: {error}"),
            }
            let out: Vec<PublishedView> =
                history.views.iter().map(|past| past.published(&file.schema).unwrap()).collect();
            third += usize::from(out.len() > 2);
            let newest = out.len() - 1;
            for part in (0..1usize << newest).map(|bits| bits | 1 << newest) {
                let held: Vec<PublishedView> =
                    (0..out.len()).filter(|view| part >> view & 1 == 1).map(|view| out[view].clone()).collect();
                let shapes: Vec<&View> = held.iter().map(|published| &published.view).collect();
                let kept = assigned(&held);
                for demand in views(&file).demands() {
                    for requirement in demand.requirements(&shapes, |_| false) {
                        if part + 1 < 1 << out.len() && requirement.x.is_empty() {
                            continue;
                        }
                        assert!(read_naively(&held, &kept, &requirement).holds, "seed {seed}, part {part:b}");
                    }
                }
            }
        }
        all_out += usize::from(history.views.len() == count);
    }
    println!("{third} views after two others, {all_out} series complete");
    assert!(third > 100 && all_out > 20, "{third} {all_out}");
}
