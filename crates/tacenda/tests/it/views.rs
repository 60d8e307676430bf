//! Do views that the policy specialises pass the auditor, who knows nothing of the policy?

use tacenda::audit::{JoinEvidence, judge_join};
use tacenda::grouping::views::{JoinMeasure, Options, Task, Warning, specialise};
use tacenda::model::{
    Bound, Cuts, Domain, Hierarchy, PublishedView, Quasi, Requirement, Rng, Span, SpanColumn, View, ViewColumn,
    ViewRows,
};

fn category(name: &str, rows: &[&str]) -> Quasi {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
    Quasi::new(name, Domain::Category(Hierarchy::from_rows(&rows).unwrap()))
}

/// Whether the new view with these cuts passes, together with what is out.
fn passes(task: &Task<'_>, cuts: &Cuts) -> bool {
    let new = PublishedView::recode(task.view, task.rows, cuts);
    let views: Vec<PublishedView> = [new].into_iter().chain(task.earlier.iter().cloned()).collect();
    let evidence =
        JoinEvidence { views: &views, requirements: task.requirements, impossible: task.impossible, limit: 10_000_000 };
    judge_join(&evidence).holds()
}

/// Random people in two or three views: the measures agree, and stepping back ends in a state that passes.
#[test]
fn the_auditor_agrees_and_stepping_back_makes_it_content() {
    let (mut published, mut stepped_back) = (0, 0);
    for seed in 0..300 {
        let mut rng = Rng::from_number(seed);
        // Three views in a ring, recoded cell by cell, are searched: fewer people keep that short.
        let earlier = 1 + rng.below(2) as usize;
        let people = 8 + rng.below([40, 16][earlier - 1]) as usize;
        let base = [
            category("a", &["p;l;*", "q;l;*", "r;m;*", "s;m;*"]),
            Quasi::new("n", Domain::Integer { lo: 0, hi: 12 }),
            category("s", &["0", "1", "2"]),
            category("t", &["0", "1", "2"]),
        ];
        let table: Vec<Vec<u32>> =
            base.iter().map(|quasi| (0..people).map(|_| rng.below(quasi.size().into()) as u32).collect()).collect();
        let view = View { name: "new".into(), columns: base[..3].to_vec() };
        let rows = ViewRows::new(table[..3].to_vec(), Vec::new());
        let mut out = Vec::new();
        for columns in [vec![0, 1, 3], vec![1, 2]].into_iter().take(earlier) {
            // Each cell as it is or generalised on its own: local recoding.
            let mut cell =
                |column: usize, code: u32| if rng.below(3) == 0 { base[column].root() } else { Span::exact(code) };
            let spans = columns.iter().map(|&column| {
                let cells: Vec<Span> = table[column].iter().map(|&code| cell(column, code)).collect();
                SpanColumn::new(&cells)
            });
            let spans = spans.collect();
            let columns = columns.iter().map(|&column| base[column].clone()).collect();
            out.push(PublishedView::new(View { name: "out".into(), columns }, spans));
        }
        let x = vec![ViewColumn::new(0, 0), ViewColumn::new(0, 1)];
        let requirement = match rng.below(3) {
            0 => Requirement::anonymity(x, vec![ViewColumn::record(0)], 3),
            1 => Requirement::linkability(x, vec![ViewColumn::new(1, 2)], 600),
            _ => Requirement::anonymity(x, vec![ViewColumn::new(0, 2), ViewColumn::new(1, 2)], 3),
        };
        let requirements = [requirement];
        let task = Task { view: &view, rows: &rows, earlier: &out, requirements: &requirements, impossible: &[] };
        let Ok(mut outcome) = specialise(&task, &Options::default()) else { continue };
        published += 1;
        let views: Vec<PublishedView> = [outcome.publish(&task)].into_iter().chain(out.iter().cloned()).collect();
        let evidence = JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit: 10_000_000 };
        let report = judge_join(&evidence);
        let raw = &report.requirements[0].raw;
        assert!(raw.holds && report.is_related(), "seed {seed}");
        let seen = match requirements[0].bound {
            Bound::Anonymity { .. } => JoinMeasure::Anonymity { least: raw.least },
            Bound::Linkability { .. } | Bound::OneIn { .. } => {
                JoinMeasure::Linkability { largest_ppm: raw.largest_ppm.unwrap_or(0) }
            }
        };
        assert_eq!(outcome.measures, [seen], "seed {seed}");
        match outcome.back_off(|cuts| passes(&task, cuts)) {
            Some(0) => assert!(report.holds(), "seed {seed}"),
            Some(steps) => {
                stepped_back += 1;
                assert!(passes(&task, &outcome.cuts), "seed {seed}");
                assert_eq!(outcome.warnings, [Warning::SteppedBack { steps }]);
            }
            None => assert!(!report.holds(), "seed {seed}"),
        }
    }
    assert!(published > 100 && stepped_back > 0, "{published} published, {stepped_back} stepped back");
}
