//! How long does it take to specialise a view against one that is out?
//!
//! The shape of the paper's enlarged Set A: two views of Adult with three common columns, people drawn
//! with uneven, dependent values. Prints seconds for each number of records, for anonymity with k = 40 (the
//! paper's Top6, Y the key of the new view) and linkability at 90 % (its Top1). With `numbers` the new view has
//! six columns of numbers as well (Set B).
//!
//! `cargo bench -p tacenda --bench specialise -- [numbers] 200000 1000000`

use std::time::Instant;
use tacenda::audit::{JoinEvidence, judge_join};
use tacenda::grouping::views::{Options, Task, specialise, utility};
use tacenda::model::{
    Bound, Cuts, Domain, Hierarchy, PublishedView, Quasi, Requirement, Rng, Score, Span, Threshold, View, ViewColumn,
    ViewRows,
};

/// Name, leaves and how many leaves a node of the level above has (paper 004, table 2).
const COLUMNS: [(&str, u32, u32); 8] = [
    ("education", 16, 4),
    ("occupation", 14, 5),
    ("work class", 8, 3),
    ("marital status", 7, 3),
    ("relationship", 6, 2),
    ("sex", 2, 1),
    ("native country", 40, 8),
    ("race", 5, 5),
];

/// Columns of numbers of the new view, and how many values they have.
const NUMBERS: [(&str, i64); 6] =
    [("age", 74), ("gain", 100_000), ("loss", 4357), ("years", 16), ("weight", 1_477_000), ("hours", 99)];

fn main() {
    let numbers = if std::env::args().any(|argument| argument == "numbers") { NUMBERS.len() } else { 0 };
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![45_222] } else { sizes };
    println!(
        "{:>9} {:>12} {:>9} {:>9} {:>9} {:>7}  outcome",
        "records", "requirement", "build", "publish", "audit", "steps"
    );
    for size in sizes {
        let (view, rows, out) = make(size, numbers);
        let links = [3, 4, 5].map(|column| ViewColumn::new(0, column));
        let mut x: Vec<ViewColumn> = (0..6).map(|column| ViewColumn::new(0, column)).collect();
        x.extend((0..5).map(|column| ViewColumn::new(1, column)));
        x.extend((6..6 + numbers).map(|column| ViewColumn::new(0, column)));
        let anonymity = Requirement::anonymity(x, vec![ViewColumn::record(0)], 40);
        run("k = 40", size, &view, &rows, &out, anonymity);
        // Y is marital status, its rarer half sensitive; X all else of the new view and the copies of its join columns.
        let mut x: Vec<ViewColumn> = [0, 1, 2].map(|column| ViewColumn::new(0, column)).to_vec();
        x.extend([links[1], links[2], ViewColumn::new(1, 1), ViewColumn::new(1, 2)]);
        x.extend((6..6 + numbers).map(|column| ViewColumn::new(0, column)));
        let listed = rarer_half(rows.column(3), 7);
        let bound = Bound::Linkability { max_permille: None, listed };
        run("90 %", size, &view, &rows, &out, Requirement { x, y: vec![links[0]], bound });
    }
}

fn run(name: &str, size: usize, view: &View, rows: &ViewRows, out: &[PublishedView], requirement: Requirement) {
    let requirements = [requirement];
    let task = Task { view, rows, earlier: out, requirements: &requirements, impossible: &[] };
    let options = Options { information: Score::Entropy, ..Options::default() };
    let start = Instant::now();
    let outcome = match specialise(&task, &options) {
        Ok(outcome) => outcome,
        Err(error) => return println!("{size:>9} {name:>12} {error}"),
    };
    let build = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let published = outcome.publish(&task);
    let publish = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let views: Vec<PublishedView> = [published].into_iter().chain(out.iter().cloned()).collect();
    let evidence = JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit: 1 << 32 };
    let report = judge_join(&evidence);
    let audit = start.elapsed().as_secs_f64();
    let kept = utility(view, rows, &outcome.cuts);
    println!(
        "{size:>9} {name:>12} {build:>9.3} {publish:>9.3} {audit:>9.3} {:>7}  {:?}, gate {}, distortion {:.2}, cut sizes {:?}",
        outcome.trail.len(),
        outcome.measures,
        if report.holds() { "passes" } else { "fails" },
        kept.distortion_categories,
        outcome.cuts.iter().map(|cut| cut.as_ref().map_or(0, Vec::len)).collect::<Vec<usize>>(),
    );
}

/// People with eight attributes and a class; the new view has the first six, the other the last five.
fn make(size: usize, numbers: usize) -> (View, ViewRows, Vec<PublishedView>) {
    let mut rng = Rng::from_number(4);
    let mut table: Vec<Vec<u32>> = vec![Vec::with_capacity(size); COLUMNS.len()];
    let mut target = Vec::with_capacity(size);
    for _ in 0..size {
        // One hidden number makes the attributes and the class depend on each other.
        let hidden = rng.unit();
        for (column, &(_, leaves, _)) in COLUMNS.iter().enumerate() {
            let own = if rng.below(3) == 0 { rng.unit() } else { hidden };
            let uneven = own * (0.4 + 0.6 * rng.unit());
            table[column].push(((uneven * f64::from(leaves)) as u32).min(leaves - 1));
        }
        target.push(u32::from(hidden * 0.7 + rng.unit() * 0.3 > 0.6));
    }
    let quasi: Vec<Quasi> = COLUMNS.iter().map(|&(name, leaves, fan)| attribute(name, leaves, fan)).collect();
    let mut own = quasi[..6].to_vec();
    let mut codes = table[..6].to_vec();
    for &(name, values) in &NUMBERS[..numbers] {
        own.push(Quasi::new(name, Domain::Integer { lo: 0, hi: values }));
        let mut draw = |class: u32| {
            let near = 0.5 * rng.unit() + 0.25 * rng.unit() + 0.25 * f64::from(class) * rng.unit();
            ((near * values as f64) as u32).min(values as u32 - 1)
        };
        codes.push(target.iter().map(|&class| draw(class)).collect());
    }
    let view = View { name: "taxation".into(), columns: own };
    let rows = ViewRows::new(codes, target);
    let other = View { name: "immigration".into(), columns: quasi[3..].to_vec() };
    let other_rows = ViewRows::new(table[3..].to_vec(), Vec::new());
    let as_it_is: Cuts = vec![None; 5];
    let out = vec![PublishedView::recode(&other, &other_rows, &as_it_is)];
    (view, rows, out)
}

fn attribute(name: &str, leaves: u32, fan: u32) -> Quasi {
    let row = |leaf: u32| {
        vec![format!("{leaf}"), format!("node {}", leaf / fan), format!("top {}", leaf / fan / 2), "*".into()]
    };
    let rows: Vec<Vec<String>> = (0..leaves).map(row).collect();
    Quasi::new(name, Domain::Category(Hierarchy::from_rows(&rows).expect("the labels are apart")))
}

/// A threshold of 90 % for the rarer half of the values that occur.
fn rarer_half(codes: &[u32], leaves: u32) -> Vec<Threshold> {
    let mut counts: Vec<(usize, u32)> =
        (0..leaves).map(|leaf| (codes.iter().filter(|&&code| code == leaf).count(), leaf)).collect();
    counts.sort_unstable();
    let half = counts.iter().take(leaves as usize / 2);
    half.map(|&(_, leaf)| Threshold { values: vec![Span::exact(leaf)], max_permille: 900 }).collect()
}
