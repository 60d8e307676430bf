//! What maintained clusterings cost and lose on real tables. Slow and needs the data folder
//! (`TACENDA_DATA`, or `../shared/data` beside the repository), so all of it is ignored by default:
//! `cargo test --release -p tacenda --test it measured -- --ignored --nocapture --test-threads 1`.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;
use tacenda::measure::loss;
use tacenda::model::{
    Domain, Grouping, Hierarchy, History, Lots, Membership, Published, Quasi, RecordKey, Regions, Release, Rng, Row,
    Schema, Span, Table, Value, Values,
};
use tacenda::promise::{Grouper, IncrementalKAnonymity, KAnonymity, LossKind};

const ADULT: [&str; 8] =
    ["age", "workclass", "education-num", "marital-status", "occupation", "race", "sex", "native-country"];

pub const OURS: KAnonymity = KAnonymity::new(10);
pub const PLAIN: KAnonymity = KAnonymity { optimise: false, ..OURS };
const PAPER: KAnonymity = KAnonymity { loss: LossKind::Height, ..PLAIN };

pub fn data() -> PathBuf {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("TACENDA_DATA").map_or(beside, PathBuf::from)
}

fn hierarchy(folder: &str, name: &str) -> Domain {
    let text = fs::read_to_string(data().join(folder).join(format!("{name}.csv"))).unwrap();
    let rows: Vec<Vec<String>> = text.lines().map(|line| line.split(';').map(String::from).collect()).collect();
    Domain::Category(Hierarchy::from_rows(&rows).unwrap())
}

/// How the two numbers of Adult are declared.
#[derive(Clone, Copy, PartialEq)]
pub enum Numbers {
    /// As trees, with the files of the data folder.
    Trees,
    /// As whole numbers over what occurs, as the peers were measured.
    Observed,
    /// As whole numbers over the leaves of the trees.
    Declared,
    /// As trees, and sets of leaves are published in every column.
    Sets,
}

pub fn adult_schema(numbers: Numbers) -> Schema {
    let quasi = ADULT
        .iter()
        .map(|name| {
            let domain = match (*name, numbers) {
                ("age", Numbers::Observed) => Domain::Integer { lo: 17, hi: 91 },
                ("age", Numbers::Declared) => Domain::Integer { lo: 0, hi: 100 },
                ("education-num", Numbers::Observed | Numbers::Declared) => Domain::Integer { lo: 1, hi: 17 },
                _ => hierarchy("adult_hierarchies", name),
            };
            Quasi { sets: numbers == Numbers::Sets, ..Quasi::new(name, domain) }
        })
        .collect();
    Schema::new("id", quasi, vec![])
}

/// The rows with ids from `first` to `last`.
pub fn adult(schema: &Schema, first: u64, last: u64) -> Vec<(u64, Vec<u32>)> {
    let mut reader = csv::Reader::from_path(data().join("adult.csv")).unwrap();
    let header = reader.headers().unwrap().clone();
    let columns = ADULT.map(|name| header.iter().position(|column| column == name).unwrap());
    let rows = reader.records().map(|record| {
        let record = record.unwrap();
        let codes = columns.iter().zip(&schema.quasi).map(|(&at, quasi)| quasi.encode(&record[at]).unwrap()).collect();
        (record[0].parse().unwrap(), codes)
    });
    rows.filter(|(id, _)| (first..=last).contains(id)).collect()
}

pub fn table(rows: &[(u64, Vec<u32>)]) -> Table {
    let mut rows: Vec<(RecordKey, &Vec<u32>)> =
        rows.iter().map(|(id, codes)| (RecordKey::of(&[1; 32], &id.to_le_bytes()), codes)).collect();
    rows.sort_unstable();
    let attributes = rows[0].1.len();
    let quasi = (0..attributes).map(|attribute| rows.iter().map(|row| row.1[attribute]).collect()).collect();
    let count = rows.len();
    Table::new(rows.iter().map(|row| row.0).collect(), quasi, vec![Value(0); count], Values::of(["-"]), vec![], vec![])
}

fn region(schema: &Schema, table: &Table, rows: &[Row]) -> Vec<Span> {
    let tight = |attribute: usize| {
        rows.iter().fold(Span::EMPTY, |span, row| span.join(Span::exact(table.quasi(attribute)[row.index()])))
    };
    schema.quasi.iter().enumerate().map(|(attribute, quasi)| quasi.cover(tight(attribute))).collect()
}

/// What a grouping says and leaves open.
pub struct Measures {
    /// In percent, the mean openness over attributes and rows.
    pub ncp: f64,
    pub discernability: u64,
    /// Information loss of paper 001, in all.
    pub information_loss: f64,
}

pub fn measures(schema: &Schema, table: &Table, grouping: &Grouping) -> Measures {
    let (release, _) = release(schema, 1, table, grouping);
    let loss = loss(&release, schema, 10);
    Measures {
        ncp: 100.0 * loss.leaf_share,
        discernability: loss.discernability,
        information_loss: loss.information_loss,
    }
}

/// The release a grouping is published as.
fn release(schema: &Schema, number: u32, table: &Table, grouping: &Grouping) -> (Release, Membership) {
    let mut release = Release { number, regions: Regions::new(schema.quasi.len()), ..Release::default() };
    let mut membership = Membership::default();
    for (index, group) in grouping.groups().enumerate() {
        membership.rows.extend(group.rows.iter().map(|row| row.0));
        membership.policy_groups.push(index as u32);
        release.ends.push(membership.rows.len() as u32);
        release.regions.push(&region(schema, table, group.rows));
        release.counterfeits.push(0);
    }
    release.sensitive = vec![Value(0); membership.rows.len()];
    (release, membership)
}

/// The history after a grouping was published.
pub fn published(schema: &Schema, history: &History, table: &Table, grouping: &Grouping) -> History {
    let (release, membership) = release(schema, history.releases + 1, table, grouping);
    history.after(table, &release, &membership, Published { facts: grouping.facts.clone(), ..Published::default() })
}

fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let result = work();
    (result, cpu_seconds() - cpu, wall.elapsed().as_secs_f64())
}

pub fn group(policy: &KAnonymity, schema: &Schema, history: &History, table: &Table) -> Grouping {
    let grouping = policy.group(schema, history, table, &Lots::from_number(1)).unwrap();
    grouping.assert_covers(table);
    assert!(grouping.groups().all(|group| group.rows.len() >= policy.k as usize));
    grouping
}

#[test]
#[ignore = "measures; needs the data folder"]
fn measured_loss_on_adult() {
    println!("numbers    policy                 CPU s  wall s  groups  discernability  NCP %");
    for (numbers, name) in [(Numbers::Observed, "observed"), (Numbers::Declared, "declared"), (Numbers::Trees, "trees")]
    {
        let schema = adult_schema(numbers);
        let table = table(&adult(&schema, 1, 30162));
        for (policy, label) in [(OURS, "leaf share, optimise"), (PLAIN, "leaf share, plain"), (PAPER, "height, plain")]
        {
            let (grouping, cpu, wall) = timed(|| group(&policy, &schema, &History::default(), &table));
            let Measures { ncp, discernability, .. } = measures(&schema, &table, &grouping);
            println!("{name:9}  {label:21} {cpu:6.2} {wall:7.2} {:7} {discernability:15} {ncp:6.3}", grouping.len());
        }
    }
}

/// A count: attributes, each with the codes that are counted.
type CountQuery = Vec<(usize, Vec<bool>)>;

/// A thousand random counts over two or three attributes, with their answers of at least a hundred. A number lies between
/// the values of two people, a category in a random set of up to half of its leaves.
fn random_counts(schema: &Schema, table: &Table) -> Vec<(CountQuery, f64)> {
    let mut rng = Rng::from_number(7);
    let mut found = Vec::new();
    while found.len() < 1000 {
        let mut attributes: Vec<usize> = (0..schema.quasi.len()).collect();
        rng.shuffle(&mut attributes);
        attributes.truncate(2 + rng.below(2) as usize);
        let query: CountQuery = attributes
            .into_iter()
            .map(|attribute| {
                let size = schema.quasi[attribute].size() as usize;
                let mut wanted = vec![false; size];
                if ["age", "education-num"].contains(&ADULT[attribute]) {
                    let mut end = || table.quasi(attribute)[rng.below(table.len() as u64) as usize] as usize;
                    let (a, b) = (end(), end());
                    wanted[a.min(b)..=a.max(b)].fill(true);
                } else {
                    (0..=rng.below((size as u64 / 2).max(1)))
                        .for_each(|_| wanted[rng.below(size as u64) as usize] = true);
                }
                (attribute, wanted)
            })
            .collect();
        let fits = |row: &Row| query.iter().all(|(at, wanted)| wanted[table.quasi(*at)[row.index()] as usize]);
        let people = table.rows().filter(fits).count();
        if people >= 100 {
            found.push((query, people as f64));
        }
    }
    found
}

/// The mean and the median error of counts, in percent, if people lie evenly in their regions.
fn count_error(queries: &[(CountQuery, f64)], groups: &[(usize, Vec<Span>)]) -> (f64, f64) {
    let mut errors: Vec<f64> = queries
        .iter()
        .map(|(query, people)| {
            let share = |region: &[Span], (at, wanted): &(usize, Vec<bool>)| {
                let (lo, hi) = (region[*at].lo as usize, region[*at].hi as usize);
                wanted[lo..=hi].iter().filter(|wanted| **wanted).count() as f64 / (hi - lo + 1) as f64
            };
            let in_group = |(size, region): &(usize, Vec<Span>)| {
                *size as f64 * query.iter().map(|part| share(region, part)).product::<f64>()
            };
            let estimate: f64 = groups.iter().map(in_group).sum();
            100.0 * (estimate - people).abs() / people
        })
        .collect();
    errors.sort_unstable_by(f64::total_cmp);
    (errors.iter().sum::<f64>() / errors.len() as f64, errors[errors.len() / 2])
}

/// How wide each column is published and how far counts are off, for both promises of groups of k.
#[test]
#[ignore = "measures; needs the data folder"]
fn measured_counts_on_adult() {
    println!("columns  promise      CPU s  groups  discernability  NCP %   error %: mean, median   NCP % by column");
    for (numbers, name) in [(Numbers::Trees, "trees"), (Numbers::Declared, "numbers"), (Numbers::Sets, "sets")] {
        let schema = adult_schema(numbers);
        let all = adult(&schema, 1, 30162);
        let now = table(&all);
        let queries = random_counts(&schema, &now);
        let told = |label: &str, cpu: f64, table: &Table, grouping: &Grouping| {
            let (release, _) = release(&schema, 1, table, grouping);
            let loss = loss(&release, &schema, 10);
            let groups: Vec<(usize, Vec<Span>)> = (0..release.group_count())
                .map(|group| (release.group_rows(group).len(), release.region(group).to_vec()))
                .collect();
            let (mean, median) = count_error(&queries, &groups);
            let columns: Vec<String> =
                loss.attributes.iter().map(|column| format!("{:.1}", 100.0 * column.leaf_share)).collect();
            println!(
                "{name:8} {label:12} {cpu:5.2} {:7} {:15} {:6.3} {mean:12.2}, {median:6.2}   {}",
                release.group_count(),
                loss.discernability,
                100.0 * loss.leaf_share,
                columns.join(" ")
            );
        };
        let incremental = IncrementalKAnonymity::new(10);
        let lots = Lots::from_number(1);
        let mut history = History::default();
        for (label, last) in [("incr. r1", 20_000), ("incr. r2", 25_000), ("incr. r3", 30_162)] {
            let part = table(&all[..last]);
            let (grouping, cpu, _) = timed(|| incremental.group(&schema, &history, &part, &lots).unwrap());
            told(label, cpu, &part, &grouping);
            history = published(&schema, &history, &part, &grouping);
        }
        let (grouping, cpu, _) = timed(|| incremental.group(&schema, &History::default(), &now, &lots).unwrap());
        told("incremental", cpu, &now, &grouping);
        let (grouping, cpu, _) = timed(|| group(&OURS, &schema, &History::default(), &now));
        told("k-anonymity", cpu, &now, &grouping);
    }
}

#[test]
#[ignore = "measures; needs the data folder"]
fn measured_maintenance_on_adult() {
    let schema = adult_schema(Numbers::Declared);
    let all = adult(&schema, 1, 45222);
    println!("change       policy    CPU s maintained / scratch   NCP % maintained / scratch");
    for (policy, label) in [(OURS, "optimise"), (PLAIN, "plain")] {
        let base = 30_000;
        let first = table(&all[..base]);
        let grouping = group(&policy, &schema, &History::default(), &first);
        let history = published(&schema, &History::default(), &first, &grouping);
        for percent in [1, 5, 20] {
            let change = base * percent / 100;
            for (name, now) in [("insert", table(&all[..base + change])), ("delete", table(&all[change..base]))] {
                let (kept, cpu, _) = timed(|| group(&policy, &schema, &history, &now));
                let (anew, cpu_anew, _) = timed(|| group(&policy, &schema, &History::default(), &now));
                println!(
                    "{name} {percent:2} %  {label:9} {cpu:10.2} / {cpu_anew:.2} {:18.3} / {:.3}",
                    measures(&schema, &now, &kept).ncp,
                    measures(&schema, &now, &anew).ncp
                );
            }
        }
    }
}

/// Rows shaped like the census: eight attributes over its trees, each person drawn around one of many
/// skewed types.
fn census(count: usize) -> (Schema, Vec<(u64, Vec<u32>)>) {
    let mut quasi = vec![
        Quasi::new("age", Domain::Integer { lo: 0, hi: 100 }),
        Quasi::new("hours", Domain::Integer { lo: 0, hi: 100 }),
    ];
    for name in ["gender", "education", "birthplace", "occupation", "work_class", "state"] {
        quasi.push(Quasi::new(name, hierarchy("census_hierarchies", name)));
    }
    let mut rng = Rng::from_number(7);
    let mut skewed = |size: u32| (0..3).map(|_| rng.below(u64::from(size)) as u32).min().unwrap();
    let types: Vec<Vec<u32>> = (0..2000).map(|_| quasi.iter().map(|quasi| skewed(quasi.size())).collect()).collect();
    let mut rng = Rng::from_number(8);
    let rows = (0..count as u64)
        .map(|id| {
            let kind = &types[rng.below(2000).min(rng.below(2000)) as usize];
            let mut draw = |(quasi, &code): (&Quasi, &u32)| match rng.below(4) {
                0 => rng.below(u64::from(quasi.size())) as u32,
                1 => (code + rng.below(5) as u32).min(quasi.size() - 1),
                _ => code,
            };
            (id, quasi.iter().zip(kind).map(&mut draw).collect())
        })
        .collect();
    (Schema::new("id", quasi, vec![]), rows)
}

/// Time per insert at 1,000 and at 100,000 clusters, and what a million rows cost.
#[test]
#[ignore = "measures; needs the data folder"]
fn measured_scale_on_census_shaped_rows() {
    let (schema, rows) = census(1_010_000);
    println!("rows      policy    first CPU s (wall)   NCP %   then 1 % more: CPU s   us an insert");
    for (policy, label) in [(PLAIN, "plain"), (OURS, "optimise")] {
        for count in [10_000, 100_000, 1_000_000] {
            let first = table(&rows[..count]);
            let (grouping, cpu, wall) = timed(|| group(&policy, &schema, &History::default(), &first));
            let loss = measures(&schema, &first, &grouping).ncp;
            let history = published(&schema, &History::default(), &first, &grouping);
            let more = (count / 100).max(1000);
            let (_, idle, _) = timed(|| group(&policy, &schema, &history, &first));
            let (now, fewer) = (table(&rows[..count + more]), more as f64);
            let (_, update, _) = timed(|| group(&policy, &schema, &history, &now));
            println!(
                "{count:8}  {label:8} {cpu:10.2} ({wall:.2}) {loss:12.3} {update:15.2} {:18.1}",
                (update - idle) / fewer * 1e6
            );
        }
    }
}
