//! What m-invariance costs: seconds for large tables, and loss over many releases.
//!
//! `cargo run --release -p tacenda --example m_invariance_cost -- speed 200000 1000000`
//! `cargo run --release -p tacenda --example m_invariance_cost -- drift 20000 4 10`
//!
//! The data are census-shaped and made up: age 79 values, gender 2, education 17, birthplace 57 in a tree
//! of three levels; occupation, 50 values with skewed frequencies that hang on education, is sensitive.

use std::time::Instant;
use tacenda::model::Domain;
use tacenda::model::Grouping;
use tacenda::model::Hierarchy;
use tacenda::model::History;
use tacenda::model::Membership;
use tacenda::model::OnIneligible;
use tacenda::model::Published;
use tacenda::model::Quasi;
use tacenda::model::RecordKey;
use tacenda::model::Regions;
use tacenda::model::Release;
use tacenda::model::Rng;
use tacenda::model::Schema;
use tacenda::model::Sensitive;
use tacenda::model::Span;
use tacenda::model::Table;
use tacenda::model::Value;
use tacenda::model::Values;
use tacenda::policy::MInvariance;
use tacenda::policy::Policy;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Vec<usize> = arguments.iter().skip(1).map(|text| text.parse().expect("a number")).collect();
    match arguments.first().map(String::as_str) {
        Some("speed") => numbers.iter().for_each(|&rows| speed(rows)),
        Some("drift") => numbers[1..].iter().for_each(|&m| drift(numbers[0], m as u32)),
        _ => eprintln!("usage: m_invariance_cost speed ROWS... | drift ROWS M..."),
    }
}

/// One person: age, gender, education, birthplace; occupation.
type Person = (RecordKey, [u32; 4], u32);

fn schema() -> Schema {
    let places: Vec<Vec<String>> = (0..57)
        .map(|place| vec![format!("p{place:02}"), format!("r{}", place / 6), format!("c{}", place / 18), "*".into()])
        .collect();
    let flat = |count: u32| Hierarchy::flat((0..count).map(|label| label.to_string())).expect("distinct labels");
    let quasi = vec![
        Quasi::new("age", Domain::Integer { lo: 15, hi: 94 }),
        Quasi::new("gender", Domain::Category(flat(2))),
        Quasi::new("education", Domain::Integer { lo: 0, hi: 17 }),
        Quasi::new("birthplace", Domain::Category(Hierarchy::from_rows(&places).expect("a tree"))),
    ];
    Schema::new("id", quasi, vec![Sensitive::open("occupation")])
}

fn person(rng: &mut Rng) -> Person {
    let key = RecordKey { hi: rng.bits(), lo: rng.bits() };
    let bell = |rng: &mut Rng, below: u64| ((rng.below(below) + rng.below(below) + rng.below(below)) / 3) as u32;
    let age = bell(rng, 79).min(rng.below(79) as u32 + 20).min(78);
    let education = bell(rng, 17);
    // Most people are born in one of a few places.
    let place = if rng.below(10) < 7 { rng.below(12) * 5 % 57 } else { rng.below(57) } as u32;
    // A skewed draw, shifted by education for half of the people: the largest share stays below a tenth.
    let skewed = (rng.unit().powf(1.35) * 50.0) as u32;
    let shift = if rng.below(2) == 0 { education * 2 } else { 0 };
    (key, [age, rng.below(2) as u32, education, place], (skewed + shift) % 50)
}

fn table(mut people: Vec<Person>) -> Table {
    people.sort_unstable_by_key(|person| person.0);
    let texts: Vec<String> = (0..50).map(|value| format!("o{value:02}")).collect();
    Table::new(
        people.iter().map(|person| person.0).collect(),
        (0..4).map(|attribute| people.iter().map(|person| person.1[attribute]).collect()).collect(),
        people.iter().map(|person| Value(person.2)).collect(),
        Values::of(texts.iter().map(String::as_str)),
        Vec::new(),
        Vec::new(),
    )
}

fn speed(rows: usize) {
    let schema = schema();
    let mut rng = Rng::from_number(1);
    let mut people: Vec<Person> = (0..rows).map(|_| person(&mut rng)).collect();
    let policy = MInvariance { m: 10, k: None, on_ineligible: OnIneligible::Defer };
    let mut history = History::default();
    for (release, churn) in [0, 100, 20].into_iter().enumerate() {
        for _ in 0..people.len().checked_div(churn).unwrap_or(0) {
            let at = rng.below(people.len() as u64) as usize;
            people[at] = person(&mut rng);
        }
        let table = table(people.clone());
        let before = memory();
        let start = Instant::now();
        let grouping = policy.group(&schema, &history, &table, &mut rng).expect("deferred, never refused");
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{rows} rows, release {}, 1 in {churn} new: {seconds:.2} s, {} groups, loss {:.4}, {} counterfeits, {} waiting, peak +{} bytes a row",
            release + 1,
            grouping.len(),
            loss(&schema, &table, &grouping),
            grouping.counterfeit_count(),
            grouping.withheld.len(),
            (memory().saturating_sub(before)) * 1024 / rows as u64,
        );
        history = after(&schema, &history, &table, &grouping);
    }
}

fn drift(rows: usize, m: u32) {
    let schema = schema();
    let mut rng = Rng::from_number(2);
    let mut people: Vec<Person> = (0..rows).map(|_| person(&mut rng)).collect();
    let policy = MInvariance { m, k: None, on_ineligible: OnIneligible::Defer };
    let mut history = History::default();
    let mut first = 0.0;
    for release in 1..=20 {
        let table = table(people.clone());
        let start = Instant::now();
        let grouping = policy.group(&schema, &history, &table, &mut rng).expect("deferred, never refused");
        let seconds = start.elapsed().as_secs_f64();
        let loss = loss(&schema, &table, &grouping);
        if release == 1 {
            first = loss;
        }
        let mut sets: Vec<Vec<Value>> = grouping
            .groups()
            .map(|group| {
                let real = group.rows.iter().map(|row| table.sensitive()[row.index()]);
                let mut set: Vec<Value> = real.chain(group.counterfeits.iter().copied()).collect();
                set.sort_unstable();
                set
            })
            .collect();
        sets.sort_unstable();
        sets.dedup();
        println!(
            "n {rows} m {m} release {release:2}: loss {loss:.4} ({:.3} x), {} sets, {} counterfeits ({:.3} %), {} waiting, {seconds:.2} s",
            loss / first,
            sets.len(),
            grouping.counterfeit_count(),
            100.0 * grouping.counterfeit_count() as f64 / rows as f64,
            grouping.withheld.len(),
        );
        history = after(&schema, &history, &table, &grouping);
        for _ in 0..rows / 20 {
            let at = rng.below(people.len() as u64) as usize;
            people[at] = person(&mut rng);
        }
    }
}

/// The mean share of the domain that is left open, over people and attributes.
fn loss(schema: &Schema, table: &Table, grouping: &Grouping) -> f64 {
    let mut sum = 0.0;
    for group in grouping.groups() {
        for (attribute, quasi) in schema.quasi.iter().enumerate() {
            sum += group.rows.len() as f64 * quasi.openness(region(quasi, table.quasi(attribute), &group));
        }
    }
    sum / schema.quasi.len() as f64 / grouping.row_count() as f64
}

fn region(quasi: &Quasi, column: &[u32], group: &tacenda::model::GroupView<'_>) -> Span {
    let codes = group.rows.iter().map(|row| Span::exact(column[row.index()]));
    quasi.cover(codes.reduce(Span::join).expect("a group has a person"))
}

fn after(schema: &Schema, history: &History, table: &Table, grouping: &Grouping) -> History {
    let mut release = Release { number: history.releases + 1, values: table.values.clone(), ..Release::default() };
    release.regions = Regions::new(schema.quasi.len());
    let mut membership = Membership { withheld: grouping.withheld.clone(), ..Membership::default() };
    for (index, group) in grouping.groups().enumerate() {
        let mut rows: Vec<(Value, u32)> =
            group.rows.iter().map(|row| (table.sensitive()[row.index()], row.0)).collect();
        rows.extend(group.counterfeits.iter().map(|&value| (value, Membership::COUNTERFEIT)));
        rows.sort_unstable();
        release.sensitive.extend(rows.iter().map(|row| row.0));
        membership.rows.extend(rows.iter().map(|row| row.1));
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(group.counterfeits.len() as u32);
        membership.policy_groups.push(index as u32);
        let spans: Vec<Span> = (0..schema.quasi.len())
            .map(|attribute| region(&schema.quasi[attribute], table.quasi(attribute), &group))
            .collect();
        release.regions.push(&spans);
    }
    history.after(table, &release, &membership, Published::default())
}

/// The most memory this process has had so far, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}
