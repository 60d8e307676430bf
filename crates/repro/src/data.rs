//! The tables the papers measure on: Adult, the census extracts, uniform and Gaussian numbers.
//!
//! Files are read by the library's own reader with every wanted column as a quasi attribute ([`Raw`]); an
//! experiment then says which of them it needs as what ([`Raw::data`]). Where a file is absent the columns
//! are made up (`standin`), and [`Raw::origin`] says so in every result.

use crate::settings::Settings;
use crate::standin;
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tacenda::ingest;
use tacenda::ingest::{ReadOptions, Source};
use tacenda::model::{Domain, Hierarchy, Quasi, RecordKey, Rng, Schema, Sensitive, Table, Value, Values};

/// The key of all record keys here; nothing is secret.
pub const KEY: [u8; 32] = [1; 32];

/// One column with its codes.
#[derive(Clone, Debug)]
pub struct CodedColumn {
    /// Its name and domain.
    pub quasi: Quasi,
    /// The code of each row.
    pub codes: Vec<u32>,
}

/// Columns of people, sorted by key.
#[derive(Clone, Debug)]
pub struct Raw {
    /// Who.
    pub keys: Vec<RecordKey>,
    /// The columns.
    pub columns: Vec<CodedColumn>,
    /// Where they come from, for the results.
    pub origin: String,
}

/// A table to draw snapshots from.
#[derive(Clone, Debug)]
pub struct Data {
    /// Its columns.
    pub schema: Schema,
    /// Everyone.
    pub table: Table,
    /// Where they come from, for the results.
    pub origin: String,
}

impl CodedColumn {
    /// The same values without a tree, in the order of the tree's leaves: any run of them may be published.
    pub fn ordered(mut self) -> CodedColumn {
        if let Domain::Category(tree) = &self.quasi.domain {
            let labels: Vec<String> = (0..tree.leaf_count()).map(|leaf| tree.leaf_label(leaf).to_string()).collect();
            self.quasi.domain = Domain::Category(Hierarchy::flat(labels).expect("leaves are apart"));
        }
        self
    }

    /// Coarser values: `label` of each leaf, numbered in the order of the leaves. No tree is left.
    pub fn grouped(self, label: impl Fn(&Hierarchy, u32) -> String) -> CodedColumn {
        let Domain::Category(tree) = &self.quasi.domain else { return self };
        let mut labels: Vec<String> = Vec::new();
        let codes: Vec<u32> = (0..tree.leaf_count())
            .map(|leaf| {
                let text = label(tree, leaf);
                let place = labels.iter().position(|known| *known == text);
                place.unwrap_or_else(|| {
                    labels.push(text);
                    labels.len() - 1
                }) as u32
            })
            .collect();
        let domain = Domain::Category(Hierarchy::flat(labels).expect("labels are apart"));
        CodedColumn {
            quasi: Quasi::new(&self.quasi.name, domain),
            codes: self.codes.iter().map(|&code| codes[code as usize]).collect(),
        }
    }

    /// The text of a code.
    fn text(&self, code: u32) -> String {
        match &self.quasi.domain {
            Domain::Category(tree) => tree.leaf_label(code).to_string(),
            Domain::Integer { lo, .. } => format!("{:06}", lo + i64::from(code)),
            _ => format!("{code:06}"),
        }
    }
}

impl Raw {
    /// Reads the wanted columns of a file; the others are left out.
    fn read(path: &Path, wanted: &[(&str, Domain)], others: &[&str], origin: &str) -> Result<Raw> {
        let quasi: Vec<Quasi> = wanted.iter().map(|(name, domain)| Quasi::new(name, domain.clone())).collect();
        let mut schema = Schema::new("id", quasi, vec![]);
        schema.dropped = others.iter().map(|&name| name.to_string()).collect();
        let source = Source::open(path).map_err(|error| anyhow!("{error}"))?;
        let read = ingest::read_snapshot(&source, &schema, &KEY, &Values::default(), &ReadOptions::default());
        let table = read.map_err(|error| anyhow!("{}: {error}", path.display()))?.table;
        let columns = schema.quasi.iter().enumerate();
        let columns = columns.map(|(at, quasi)| CodedColumn { quasi: quasi.clone(), codes: table.quasi(at).to_vec() });
        Ok(Raw { keys: table.keys().to_vec(), columns: columns.collect(), origin: origin.to_string() })
    }

    /// A column.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn column(&self, name: &str) -> CodedColumn {
        self.columns
            .iter()
            .find(|column| column.quasi.name == name)
            .expect("experiments ask for columns there are")
            .clone()
    }

    /// The people whose identifiers run from 1 to `last`.
    fn first(self, last: u64) -> Raw {
        let mut wanted: Vec<RecordKey> = (1..=last).map(|id| RecordKey::of(&KEY, id.to_string().as_bytes())).collect();
        wanted.sort_unstable();
        let rows: Vec<u32> =
            (0..self.keys.len() as u32).filter(|&row| wanted.binary_search(&self.keys[row as usize]).is_ok()).collect();
        self.some(&rows)
    }

    /// Some rows, given in ascending order.
    fn some(self, rows: &[u32]) -> Raw {
        let take = |codes: &[u32]| rows.iter().map(|&row| codes[row as usize]).collect();
        Raw {
            keys: rows.iter().map(|&row| self.keys[row as usize]).collect(),
            columns: self
                .columns
                .into_iter()
                .map(|column| CodedColumn { codes: take(&column.codes), ..column })
                .collect(),
            origin: self.origin,
        }
    }

    /// A table with these quasi attributes, and one more column as the sensitive one.
    pub fn data(&self, quasi: Vec<CodedColumn>, sensitive: Option<&CodedColumn>) -> Data {
        let (values, column) = match sensitive {
            None => (Values::of(["-"]), vec![Value(0); self.keys.len()]),
            Some(column) => sensitive_values(column),
        };
        let (attributes, codes): (Vec<Quasi>, Vec<Vec<u32>>) =
            quasi.into_iter().map(|column| (column.quasi, column.codes)).unzip();
        let name = sensitive.map_or("none", |column| &column.quasi.name);
        Data {
            schema: Schema::new("id", attributes, vec![Sensitive::open(name)]),
            table: Table::new(self.keys.clone(), codes, column, values, vec![], vec![]),
            origin: self.origin.clone(),
        }
    }
}

/// Values in the order of their texts, as the reader would number them.
fn sensitive_values(column: &CodedColumn) -> (Values, Vec<Value>) {
    let texts: Vec<String> = (0..column.quasi.size()).map(|code| column.text(code)).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|&code| &texts[code]);
    let mut places = vec![Value(0); texts.len()];
    order.iter().enumerate().for_each(|(place, &code)| places[code] = Value(place as u32));
    let values = Values::of(texts.iter().map(String::as_str));
    (values, column.codes.iter().map(|&code| places[code as usize]).collect())
}

impl Data {
    /// The rows given, as a table of their own.
    pub fn some(&self, rows: &[u32]) -> Table {
        let mut rows = rows.to_vec();
        rows.sort_unstable();
        let table = &self.table;
        let take = |attribute: usize| rows.iter().map(|&row| table.quasi(attribute)[row as usize]).collect();
        Table::new(
            rows.iter().map(|&row| table.keys()[row as usize]).collect(),
            (0..table.quasi_count()).map(take).collect(),
            rows.iter().map(|&row| table.sensitive()[row as usize]).collect(),
            table.values.clone(),
            vec![],
            vec![],
        )
    }

    /// All rows in a random order that the seed fixes.
    pub fn shuffled(&self, seed: u64) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.table.len() as u32).collect();
        Rng::from_number(seed).shuffle(&mut rows);
        rows
    }
}

/// Adult's columns: name and, where it is a number, its values.
const ADULT: [(&str, Option<(i64, i64)>); 15] = [
    ("age", Some((17, 91))),
    ("workclass", None),
    ("fnlwgt", Some((13_492, 1_490_401))),
    ("education", None),
    ("education-num", Some((1, 17))),
    ("marital-status", None),
    ("occupation", None),
    ("relationship", None),
    ("race", None),
    ("sex", None),
    ("capital-gain", Some((0, 100_000))),
    ("capital-loss", Some((0, 4_357))),
    ("hours-per-week", Some((1, 100))),
    ("native-country", None),
    ("salary-class", None),
];

/// How many complete rows the training file of Adult has: the papers' 30,162.
pub const TRAINING: u64 = 30_162;

/// Adult, all 45,222 complete rows or the training rows only.
pub fn adult(settings: &Settings, training_only: bool) -> Result<Raw> {
    let Some(folder) = settings.data.as_ref().filter(|folder| folder.join("adult.csv").exists()) else {
        return Ok(standin::adult(if training_only { TRAINING } else { 45_222 } as u32));
    };
    let mut wanted = Vec::new();
    for (name, numbers) in ADULT {
        let domain = match numbers {
            Some((lo, hi)) => Domain::Integer { lo, hi },
            None => tree(folder, "adult_hierarchies", name)?,
        };
        wanted.push((name, domain));
    }
    let raw = Raw::read(&folder.join("adult.csv"), &wanted, &[], "UCI Adult")?;
    let mut raw = if training_only { raw.first(TRAINING) } else { raw };
    raw.origin = format!("UCI Adult, {} complete rows", raw.keys.len());
    Ok(raw)
}

/// Which rows of Adult are training rows: those with the first 30,162 identifiers. Made-up rows are dealt out.
pub fn is_training(raw: &Raw) -> Vec<bool> {
    let mut wanted: Vec<RecordKey> = (1..=TRAINING).map(|id| RecordKey::of(&KEY, id.to_string().as_bytes())).collect();
    wanted.sort_unstable();
    let found: Vec<bool> = raw.keys.iter().map(|key| wanted.binary_search(key).is_ok()).collect();
    if found.iter().any(|&is| is) { found } else { raw.keys.iter().map(|key| key.lo % 3 != 0).collect() }
}

/// The large census extract (the paper's OCC): age, gender, education, birthplace; occupation sensitive.
pub fn occupations(settings: &Settings) -> Result<Data> {
    let file = "census_occ_large.parquet";
    let Some(folder) = settings.data.as_ref().filter(|folder| folder.join(file).exists()) else {
        return Ok(standin::census(settings.pick(600_000, 6_000), 1));
    };
    let raw = large_extract(folder, file)?;
    let occupation = group_occupations(raw.column("occupation"), 50);
    Ok(raw.data(census_quasi(&raw), Some(&occupation)))
}

fn large_extract(folder: &Path, file: &str) -> Result<Raw> {
    let mut wanted = census_columns(folder)?;
    wanted.push(("occupation", tree(folder, "census_hierarchies", "occupation")?));
    let raw =
        Raw::read(&folder.join(file), &wanted, &["work_class", "hours_per_week", "state", "income_over_50k"], "")?;
    let mut raw = raw.first(600_000);
    raw.origin = format!("US Census ACS 2018 PUMS, employed persons, the first {} rows", raw.keys.len());
    Ok(raw)
}

/// The same with occupations in fifty runs of like size along their tree, so that none is rare.
pub fn even_occupations(settings: &Settings) -> Result<Data> {
    let file = "census_occ_large.parquet";
    let Some(folder) = settings.data.as_ref().filter(|folder| folder.join(file).exists()) else {
        return occupations(settings);
    };
    let raw = large_extract(folder, file)?;
    let occupation = raw.column("occupation");
    let mut counts = vec![0usize; occupation.quasi.size() as usize];
    occupation.codes.iter().for_each(|&code| counts[code as usize] += 1);
    let mut before = 0;
    let runs: Vec<usize> = counts
        .iter()
        .map(|count| {
            before += count;
            (before - count) * 50 / raw.keys.len()
        })
        .collect();
    let even = occupation.grouped(|_, leaf| format!("occupations {:02}", runs[leaf as usize] + 1));
    Ok(raw.data(census_quasi(&raw), Some(&even)))
}

/// The smaller census extract with income (the paper's SAL): the same attributes; income in 50 bins sensitive.
pub fn incomes(settings: &Settings) -> Result<Data> {
    let file = "census.parquet";
    let Some(folder) = settings.data.as_ref().filter(|folder| folder.join(file).exists()) else {
        return Ok(standin::census(settings.pick(295_243, 6_000), 2));
    };
    let mut wanted = census_columns(folder)?;
    wanted.push(("income50", Domain::Integer { lo: 0, hi: 50 }));
    let others = ["occupation", "income", "marital_status", "race", "work_class", "state"];
    let mut raw = Raw::read(&folder.join(file), &wanted, &others, "")?;
    raw.origin = format!("US Census ACS 2018 PUMS, persons with income, {} rows", raw.keys.len());
    Ok(raw.data(census_quasi(&raw), Some(&raw.column("income50"))))
}

fn census_columns(folder: &Path) -> Result<Vec<(&'static str, Domain)>> {
    let mut wanted = vec![("age", Domain::Integer { lo: 16, hi: 100 })];
    for name in ["gender", "education", "birthplace"] {
        wanted.push((name, tree(folder, "census_hierarchies", name)?));
    }
    Ok(wanted)
}

/// The four quasi attributes with the domain sizes of the paper's table 5: 17 levels of education, 57
/// birthplaces (the states, the island areas, the continents), published as runs.
fn census_quasi(raw: &Raw) -> Vec<CodedColumn> {
    let education = raw.column("education").grouped(|tree, leaf| {
        let label = tree.leaf_label(leaf);
        let grade = label.strip_prefix("Grade ").and_then(|grade| grade.parse::<u32>().ok());
        match (label, grade) {
            ("No schooling completed" | "Nursery school, preschool" | "Kindergarten", _) => "no school".into(),
            (_, Some(1..=4)) => "grades 1 to 4".into(),
            (_, Some(5..=6)) => "grades 5 and 6".into(),
            (_, Some(7..=8)) => "grades 7 and 8".into(),
            _ => label.to_string(),
        }
    });
    let birthplace = raw.column("birthplace").grouped(|tree, leaf| {
        let path = &tree.rows()[leaf as usize];
        match (path.get(1).map(String::as_str), path.get(2).map(String::as_str)) {
            (Some("US Island Areas"), _) => "US Island Areas".into(),
            (_, Some("United States")) => path[0].clone(),
            (_, Some(continent)) => continent.to_string(),
            _ => path[0].clone(),
        }
    });
    vec![raw.column("age"), raw.column("gender").ordered(), education, birthplace]
}

/// Cuts each of the 26 groups of occupations into runs of neighbours, so that there are about `wanted`
/// values of about equal weight.
fn group_occupations(column: CodedColumn, wanted: usize) -> CodedColumn {
    let Domain::Category(tree) = &column.quasi.domain else { return column };
    let mut counts = vec![0usize; tree.leaf_count() as usize];
    column.codes.iter().for_each(|&code| counts[code as usize] += 1);
    let groups: Vec<String> = tree.rows().iter().map(|row| row[1].clone()).collect();
    let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
    groups.iter().zip(&counts).for_each(|(group, count)| *sums.entry(group).or_default() += count);
    let (total, mut seen): (usize, BTreeMap<&str, usize>) = (column.codes.len(), BTreeMap::new());
    let labels: Vec<String> = groups
        .iter()
        .zip(&counts)
        .map(|(group, &count)| {
            let sum = sums[group.as_str()].max(1);
            let runs = ((wanted * sum) as f64 / total as f64).round().max(1.0) as usize;
            let before = seen.entry(group).or_default();
            let run = (*before * runs / sum).min(runs - 1);
            *before += count;
            format!("{group} {}", run + 1)
        })
        .collect();
    column.clone().grouped(|_, leaf| labels[leaf as usize].clone())
}

fn tree(folder: &Path, of: &str, name: &str) -> Result<Domain> {
    let path = folder.join(of).join(format!("{name}.csv"));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let rows: Vec<Vec<String>> = text.lines().map(|line| line.split(';').map(String::from).collect()).collect();
    let tree = Hierarchy::from_rows(&rows).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    Ok(Domain::Category(tree))
}

/// How the numbers of paper 000 are spread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Spread {
    /// Evenly.
    Uniform,
    /// Around the middle of the domain with standard deviation 2.
    Gaussian,
}

/// Paper 000, section 6.2: four attributes, real numbers from 0 to 15, with three decimals.
pub fn numbers(spread: Spread, count: usize, seed: u64) -> Data {
    let mut rng = Rng::from_number(seed);
    let mut keys: Vec<RecordKey> = (0..count as u64).map(|id| RecordKey::of(&KEY, &id.to_le_bytes())).collect();
    keys.sort_unstable();
    let mut draw = || {
        let number = match spread {
            Spread::Uniform => rng.unit() * 15.0,
            // Box and Muller; what falls outside the domain is drawn again.
            Spread::Gaussian => loop {
                let (radius, angle) = ((-2.0 * (1.0 - rng.unit()).ln()).sqrt(), rng.unit() * std::f64::consts::TAU);
                let number = 7.5 + 2.0 * radius * angle.cos();
                if (0.0..15.0).contains(&number) {
                    break number;
                }
            },
        };
        (number * 1000.0) as u32
    };
    let names = ["a", "b", "c", "d"];
    let columns = names.map(|name| CodedColumn {
        quasi: Quasi::new(name, Domain::Real { lo: 0, hi: 15_001, decimals: 3 }),
        codes: (0..count).map(|_| draw()).collect(),
    });
    let raw = Raw { keys, columns: vec![], origin: format!("{spread:?} numbers, as the paper generates them") };
    raw.data(columns.into(), None)
}
