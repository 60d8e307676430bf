//! How long incremental k-anonymity takes: a first release and additions of 1 % and 10 %.
//!
//! `cargo run --release -p tacenda --example incremental_k_anonymity -- 1000000`
//! With a folder that holds `adult.csv` and `adult_hierarchies/`, also what it costs in precision:
//! 12,000 rows, then 6,000 more, next to the same partitioning from scratch.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;
use tacenda::audit::incremental_k_anonymity::Claim;
use tacenda::audit::incremental_k_anonymity::check;
use tacenda::model::Domain;
use tacenda::model::Grouping;
use tacenda::model::Hierarchy;
use tacenda::model::History;
use tacenda::model::Membership;
use tacenda::model::OnDelete;
use tacenda::model::Published;
use tacenda::model::Quasi;
use tacenda::model::RecordKey;
use tacenda::model::Release;
use tacenda::model::Rng;
use tacenda::model::Row;
use tacenda::model::Schema;
use tacenda::model::Sensitive;
use tacenda::model::Table;
use tacenda::model::Value;
use tacenda::model::Values;
use tacenda::policy::Policy;
use tacenda::policy::incremental_k_anonymity::IncrementalKAnonymity;

const K: u32 = 10;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let modes = [("cohorts", true, false), ("cells", false, false), ("tight", false, true)];
    for argument in &arguments {
        for (name, cohorts, tight) in modes {
            let policy = IncrementalKAnonymity { k: K, cohorts, l: None, tight, on_delete: OnDelete::Refuse };
            match argument.parse::<usize>() {
                Ok(rows) => time(name, policy, rows),
                Err(_) => adult(name, policy, Path::new(argument)),
            }
        }
    }
}

/// One row a person: a key, codes, a sensitive value. Adult-shaped: eight attributes, skewed.
fn made_up(rows: usize) -> (Schema, Vec<(RecordKey, [u32; 8], u32)>) {
    let tree = |branches: &[usize]| {
        let leaves: usize = branches.iter().sum();
        let branch = |leaf: usize| {
            let mut end = 0;
            branches.iter().position(|size| {
                end += size;
                leaf < end
            })
        };
        let rows = (0..leaves).map(|leaf| vec![format!("v{leaf}"), format!("b{:?}", branch(leaf)), "*".into()]);
        Domain::Category(Hierarchy::from_rows(&rows.collect::<Vec<_>>()).expect("a sound tree"))
    };
    let schema = Schema::new(
        "id",
        vec![
            Quasi::new("age", Domain::Integer { lo: 0, hi: 120 }),
            Quasi::new("workclass", tree(&[1, 2, 3, 2])),
            Quasi::new("education-num", Domain::Integer { lo: 1, hi: 17 }),
            Quasi::new("marital-status", tree(&[1, 3, 3])),
            Quasi::new("occupation", tree(&[4, 6, 4])),
            Quasi::new("race", tree(&[1, 4])),
            Quasi::new("sex", tree(&[1, 1])),
            Quasi::new("native-country", tree(&[3, 10, 12, 16])),
        ],
        vec![Sensitive::open("income")],
    );
    let mut rng = Rng::from_number(11);
    let people = (0..rows)
        .map(|id| {
            // A skew like that of the census: the first leaves are the most frequent.
            let mut skewed = |size: u32, power: i32| ((rng.unit().powi(power)) * f64::from(size)) as u32;
            let codes = [
                17 + skewed(74, 2),
                skewed(8, 4),
                4 + skewed(12, 1),
                skewed(7, 2),
                skewed(14, 1),
                skewed(5, 5),
                skewed(2, 1),
                skewed(41, 8),
            ];
            let id = (id as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            (RecordKey { hi: id, lo: 0 }, codes, rng.below(50) as u32)
        })
        .collect();
    (schema, people)
}

fn table(people: &[(RecordKey, [u32; 8], u32)]) -> Table {
    let mut people = people.to_vec();
    people.sort_unstable_by_key(|person| person.0);
    let texts: Vec<String> = (0..50).map(|value| format!("{value:02}")).collect();
    Table::new(
        people.iter().map(|person| person.0).collect(),
        (0..8).map(|attribute| people.iter().map(|person| person.1[attribute]).collect()).collect(),
        people.iter().map(|person| Value(person.2)).collect(),
        Values::of(texts.iter().map(String::as_str)),
        Vec::new(),
        Vec::new(),
    )
}

fn recode(number: u32, table: &Table, grouping: &Grouping) -> (Release, Membership) {
    let mut release = Release { number, regions: grouping.regions.clone(), ..Release::default() };
    let mut membership = Membership { withheld: grouping.withheld.clone(), ..Membership::default() };
    for (index, group) in grouping.groups().enumerate() {
        let mut rows: Vec<Row> = group.rows.to_vec();
        rows.sort_by_key(|row| table.sensitive()[row.index()]);
        release.sensitive.extend(rows.iter().map(|row| table.sensitive()[row.index()]));
        membership.rows.extend(rows.iter().map(|row| row.0));
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(0);
        membership.policy_groups.push(index as u32);
    }
    (release, membership)
}

struct Outcome {
    history: History,
    grouping: Grouping,
    /// On the clock, and of all processors together.
    seconds: (f64, f64),
    judging: (f64, f64),
}

fn publish(policy: IncrementalKAnonymity, schema: &Schema, history: &History, table: &Table) -> Outcome {
    let (start, cpu) = (Instant::now(), cpu_seconds());
    let grouping = policy.group(schema, history, table, &mut Rng::from_number(1)).expect("groups are formed");
    let seconds = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let (release, membership) = recode(history.releases + 1, table, &grouping);
    let claim = Claim { k: policy.k, cohorts: policy.cohorts, l: policy.l };
    let (start, cpu) = (Instant::now(), cpu_seconds());
    assert_eq!(check(claim, schema, history, table, &release, &membership), []);
    let judging = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu);
    let published = Published { cells: grouping.cells.clone(), facts: BTreeMap::new() };
    let history = history.after(table, &release, &membership, published);
    Outcome { history, grouping, seconds, judging }
}

fn time(name: &str, policy: IncrementalKAnonymity, rows: usize) {
    let (schema, people) = made_up(rows + rows / 10);
    let first = table(&people[..rows]);
    let before = peak();
    let base = publish(policy, &schema, &History::default(), &first);
    let memory = (peak() - before) as f64 / rows as f64;
    report(name, rows, "first", &base, &schema, memory);
    drop(first);
    for (share, part) in [("1 %", rows / 100), ("10 %", rows / 10)] {
        let grown = table(&people[..rows + part]);
        report(name, rows + part, share, &publish(policy, &schema, &base.history, &grown), &schema, 0.0);
    }
}

fn report(name: &str, rows: usize, what: &str, outcome: &Outcome, schema: &Schema, memory: f64) {
    println!(
        "{name:8} {rows:9} {what:6} group {:7.3} s ({:.2} cpu)  check {:7.3} s ({:.2} cpu)  {} groups  {} wait  discernability {:.0}  loss {:.2} %  {}",
        outcome.seconds.0,
        outcome.seconds.1,
        outcome.judging.0,
        outcome.judging.1,
        outcome.grouping.len(),
        outcome.grouping.withheld.len(),
        discernability(&outcome.grouping),
        100.0 * loss(schema, &outcome.grouping),
        if memory > 0.0 { format!("{memory:.0} bytes a row at the peak, release included") } else { String::new() },
    );
}

/// The sum over groups of the square of their size.
fn discernability(grouping: &Grouping) -> f64 {
    grouping.groups().map(|group| (group.rows.len() as f64).powi(2)).sum()
}

/// The mean share of a domain that a published value leaves open.
fn loss(schema: &Schema, grouping: &Grouping) -> f64 {
    let open = |(index, group): (usize, tacenda::model::GroupView<'_>)| {
        let spans = schema.quasi.iter().zip(grouping.regions.get(index));
        group.rows.len() as f64 * spans.map(|(quasi, &span)| quasi.openness(span)).sum::<f64>()
    };
    grouping.groups().enumerate().map(open).sum::<f64>() / (grouping.row_count() * schema.quasi.len()) as f64
}

/// The most memory this process has had, in bytes; 0 where the system does not say.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// What all processors together have spent on this process; 0 where the system does not say.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |field: usize| fields.get(field).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn adult(name: &str, policy: IncrementalKAnonymity, folder: &Path) {
    const COLUMNS: [&str; 8] =
        ["age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country"];
    let tree = |column: &str| {
        let text =
            fs::read_to_string(folder.join("adult_hierarchies").join(format!("{column}.csv"))).expect("a hierarchy");
        let rows: Vec<Vec<String>> = text.lines().map(|line| line.split(';').map(String::from).collect()).collect();
        Domain::Category(Hierarchy::from_rows(&rows).expect("a sound hierarchy"))
    };
    let domain = |column: &str| match column {
        "age" => Domain::Integer { lo: 0, hi: 100 },
        "education-num" => Domain::Integer { lo: 1, hi: 17 },
        _ => tree(column),
    };
    let quasi: Vec<Quasi> = COLUMNS.iter().map(|column| Quasi::new(column, domain(column))).collect();
    let schema = Schema::new("id", quasi, vec![Sensitive::open("salary-class")]);
    let text = fs::read_to_string(folder.join("adult.csv")).expect("adult.csv");
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let places = COLUMNS.map(|column| header.iter().position(|name| *name == column).expect("a column"));
    let mut people: Vec<(RecordKey, [u32; 8], u32)> = lines
        .take(30_162)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let mut codes = [0; 8];
            for (attribute, &place) in places.iter().enumerate() {
                codes[attribute] = schema.quasi[attribute].encode(cells[place]).expect("a known value");
            }
            let id: u64 = cells[0].parse().expect("a number");
            (RecordKey { hi: id.wrapping_mul(0x9E37_79B9_7F4A_7C15), lo: 0 }, codes, 0)
        })
        .collect();
    let all = publish(policy, &schema, &History::default(), &table(&people));
    report(name, people.len(), "all", &all, &schema, 0.0);
    // Which rows come first is chance, so several draws are shown.
    for draw in 1..=5 {
        Rng::from_number(draw).shuffle(&mut people);
        let first = publish(policy, &schema, &History::default(), &table(&people[..12_000]));
        report(name, 12_000, "first", &first, &schema, 0.0);
        let grown = table(&people[..18_000]);
        report(name, 18_000, "more", &publish(policy, &schema, &first.history, &grown), &schema, 0.0);
        report(name, 18_000, "anew", &publish(policy, &schema, &History::default(), &grown), &schema, 0.0);
    }
}
