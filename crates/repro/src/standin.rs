//! Made-up columns for where the real files are absent, shaped like them. Every result says so.

use crate::data::{CodedColumn, Data, Raw};
use tacenda::made_up;
use tacenda::made_up::Churn;
use tacenda::model::{Domain, Hierarchy, Quasi, Rng, Table};

/// What the results call such data.
const MADE_UP: &str = "MADE-UP stand-in (no real data)";

/// Adult-shaped people: the library's made-up Adult, and the columns it lacks.
pub fn adult(people: u32) -> Raw {
    let made = made_up::adult::snapshots(people, 1, Churn::of(0.0), 1);
    let table = made.tables().next().expect("there is one snapshot");
    let names = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"];
    let mut columns: Vec<CodedColumn> = names
        .iter()
        .enumerate()
        .map(|(at, name)| {
            let quasi = Quasi { name: name.to_string(), ..made.schema().quasi[at].clone() };
            CodedColumn { quasi, codes: table.quasi(at).to_vec() }
        })
        .collect();
    columns.extend(["occupation", "relationship"].iter().enumerate().map(|(at, name)| cells(&table, at, name)));
    columns.extend(numbers(&table));
    Raw { keys: table.keys().to_vec(), columns, origin: format!("{MADE_UP}, {people} Adult-shaped rows") }
}

/// One cell of the combined sensitive value as a column.
fn cells(table: &Table, at: usize, name: &str) -> CodedColumn {
    let mut labels: Vec<String> = table.values.iter().map(|(_, cells)| cells[at].to_string()).collect();
    labels.sort_unstable();
    labels.dedup();
    let code = |value| {
        let text = &*table.values.cells(value)[at];
        labels.binary_search_by(|label| label.as_str().cmp(text)).expect("every label is listed") as u32
    };
    let codes = table.sensitive().iter().map(|&value| code(value)).collect();
    // Two halves under one root, so that there is something to generalise to.
    let half = labels.len() / 2;
    let row = |(at, label): (usize, &String)| {
        let half = if at < half { "first half" } else { "second half" };
        vec![label.clone(), format!("{name}: {half}"), "*".into()]
    };
    let rows: Vec<Vec<String>> = labels.iter().enumerate().map(row).collect();
    let tree = Hierarchy::from_rows(&rows).expect("labels are apart");
    CodedColumn { quasi: Quasi::new(name, Domain::Category(tree)), codes }
}

/// The class, which depends on age, education and marriage, and the numbers, some of which depend on it.
fn numbers(table: &Table) -> Vec<CodedColumn> {
    let mut rng = Rng::from_number(7);
    let number = |name: &str, lo: i64, hi: i64| CodedColumn {
        quasi: Quasi::new(name, Domain::Integer { lo, hi }),
        codes: Vec::with_capacity(table.len()),
    };
    let mut education = number("education-num", 1, 17);
    let mut weight = number("fnlwgt", 13_492, 1_490_401);
    let mut gain = number("capital-gain", 0, 100_000);
    let mut loss = number("capital-loss", 0, 4_357);
    let mut hours = number("hours-per-week", 1, 100);
    let classes = Hierarchy::flat(["<=50K", ">50K"]).expect("two labels");
    let mut class = CodedColumn { quasi: Quasi::new("salary-class", Domain::Category(classes)), codes: Vec::new() };
    for row in 0..table.len() {
        let (age, school, married) = (table.quasi(0)[row], table.quasi(2)[row], table.quasi(3)[row] <= 1);
        let years = f64::from(age.min(35)) / 35.0;
        let merit = 0.3 * years + 0.04 * f64::from(school) + 0.35 * f64::from(u8::from(married)) + 0.5 * rng.unit();
        let rich = merit > 1.15;
        class.codes.push(u32::from(rich));
        education.codes.push(school);
        weight.codes.push(rng.below(400_000) as u32);
        let lucky = rng.unit() < if rich { 0.2 } else { 0.04 };
        gain.codes.push(if lucky { 1_000 + rng.below(14_000) as u32 } else { 0 });
        loss.codes.push(if rng.unit() < 0.05 { 1_500 + rng.below(900) as u32 } else { 0 });
        hours.codes.push((30 + rng.below(20) as u32 + if rich { 8 } else { 0 }).min(98));
    }
    vec![education, weight, gain, loss, hours, class]
}

/// Census-shaped people with about fifty sensitive values; the birthplaces without their tree.
pub fn census(people: u32, seed: u64) -> Data {
    let made = made_up::census::snapshots(people, 1, Churn::of(0.0), seed);
    let table = made.tables().next().expect("there is one snapshot");
    let mut schema = made.schema().clone();
    for quasi in &mut schema.quasi {
        let column = CodedColumn { quasi: quasi.clone(), codes: vec![] }.ordered();
        *quasi = column.quasi;
    }
    Data { schema, table, origin: format!("{MADE_UP}, {people} census-shaped rows") }
}
