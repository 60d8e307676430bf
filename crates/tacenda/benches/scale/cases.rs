//! The cases: each makes its data and puts one piece of work on the scale.
//!
//! All chance comes from fixed seeds. What a case makes beforehand must start no thread: see `main.rs`.

use crate::on_the_scale;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::{Assessment, Attacker, Budget, Evidence, Series, Thresholds};
use tacenda::folder::{Issue, ManifestFacts, Target};
use tacenda::ingest::foreign::{Ask, Foreign};
use tacenda::ingest::{ReadOptions, Source, foreign};
use tacenda::made_up::naive::{Diversity, Naive};
use tacenda::made_up::{Churn, Generated, Shape, adult, census};
use tacenda::model::{History, Seed, Table, Values};
use tacenda::promise::{PolicyFile, Promised, SeriesPromise};
use tacenda::publish::{Before, NewView, Prepared, prepare, prepare_view};
use tacenda::report::{About, Edition, Material, Names, Report, TextOptions};
use tacenda::{audit, folder, ingest, report};

/// Every case and its name.
pub const CASES: &[(&str, fn())] = &[
    ("read-csv", read_csv),
    ("read-parquet", read_parquet),
    ("m-invariance-first", || first(&churning())),
    ("m-invariance-update", || update(&churning())),
    ("incremental-k-anonymity-first", || first(&growing(30_000, COHORTS))),
    ("incremental-k-anonymity-update", || update(&growing(30_000, COHORTS))),
    ("incremental-l-diversity-first", || first(&growing(10_000, L_DIVERSITY))),
    ("incremental-l-diversity-update", || update(&growing(10_000, L_DIVERSITY))),
    ("k-anonymity-first", || first(&growing(2_000, CLUSTERS))),
    ("k-anonymity-update", || update(&growing(2_000, CLUSTERS))),
    ("view", view),
    ("gate", gate),
    ("audit-with-truth", || audit_files(true)),
    ("audit-without-truth", || audit_files(false)),
    ("write-folder", write_folder),
    ("report", render),
];

const M_INVARIANCE: &str = "model = \"m-invariance\"\nm = 10\n";
const COHORTS: &str = "model = \"incremental-k-anonymity\"\nk = 10\ncohorts = true\n";
const L_DIVERSITY: &str = "model = \"incremental-l-diversity\"\nl = 10\n";
const CLUSTERS: &str = "model = \"k-anonymity\"\nk = 10\noptimise = true\naccept_series_risk = \"a benchmark\"\n";

/// The second view shares three columns with the first.
const VIEWS: &str = r#"model = "xy-anonymity"
k = 10
y = ["work.record"]
x = ["workclass", "education", "marital_status", "race", "sex", "native_country"]
[views.places]
columns = ["marital_status", "race", "sex", "native_country"]
[views.work]
columns = ["workclass", "education", "marital_status", "race", "sex"]
"#;

const SEED: Seed = Seed([1; 32]);

/// A policy, the table of its first release and that of its second.
struct Tables {
    file: PolicyFile,
    first: Table,
    second: Table,
}

/// Census-shaped people, of whom one in a hundred leaves and as many come.
fn churning() -> Tables {
    let made = census::snapshots(30_000, 2, Churn::of(0.01), 1);
    let mut tables = made.tables();
    let mut next = || tables.next().expect("there are two tables");
    Tables { file: policy_file(&made, M_INVARIANCE), first: next(), second: next() }
}

/// Adult-shaped people, to whom one more in a hundred comes.
fn growing(people: u32, promise: &str) -> Tables {
    let made = adult::snapshots(people + people / 100, 1, Churn::of(0.0), 1);
    let second = made.tables().next().expect("there is a table");
    Tables { file: policy_file(&made, promise), first: some(&second, people as usize), second }
}

/// The first rows of a table. Rows are sorted by keyed hashes, so that this is a random sample.
fn some(table: &Table, rows: usize) -> Table {
    let quasi = (0..table.quasi_count()).map(|attribute| table.quasi(attribute)[..rows].to_vec()).collect();
    let (keys, sensitive) = (table.keys()[..rows].to_vec(), table.sensitive()[..rows].to_vec());
    Table::new(keys, quasi, sensitive, table.values.clone(), Vec::new(), Vec::new())
}

/// The made-up people's policy file with another promise, no limits, and both formats.
fn policy_file<S: Shape>(made: &Generated<S>, promise: &str) -> PolicyFile {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in made.project() {
        let path = folder.path().join(&file.path);
        fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
        let mut text = file.text;
        if file.path == "tacenda.toml" {
            let columns = text.split("[promise]").next().expect("columns come first").to_string();
            let rest = "[counterfeits]\nmax_share = 1.0\n[withheld]\nmax_share = 1.0\n[output]\nformats = [\"csv\", \"parquet\"]\n";
            text = format!("{columns}[promise]\n{promise}{rest}");
            if promise == VIEWS {
                text = text.replace("\"sensitive\", type = \"category\", missing = \"error\"", "\"drop\"");
            }
        }
        fs::write(path, text).expect("a file");
    }
    ingest::read_policy(&folder.path().join("tacenda.toml")).expect("a good policy").policy
}

fn promise(file: &PolicyFile) -> &SeriesPromise {
    match &file.promise {
        Promised::Series(promise) => promise,
        Promised::Views(_) => panic!("the case is about a series"),
    }
}

fn release(file: &PolicyFile, history: &History, snapshot: Option<&Table>, table: &Table) -> Prepared {
    let before = Before { history, snapshot };
    prepare(file, promise(file).inner(), &SEED, before, table, "scale").expect("a release that passes the gate")
}

/// Groups, recodes and judges a first release.
fn first(tables: &Tables) {
    on_the_scale(&mut || {
        black_box(release(&tables.file, &History::default(), None, &tables.first));
    });
}

/// Groups, recodes and judges a second release.
fn update(tables: &Tables) {
    let before = release(&tables.file, &History::default(), None, &tables.first);
    on_the_scale(&mut || {
        black_box(release(&tables.file, &before.history, Some(&tables.first), &tables.second));
    });
}

/// Judges the second release of a series.
fn gate() {
    let Tables { file, first, second } = churning();
    let history = release(&file, &History::default(), None, &first).history;
    let made = release(&file, &history, Some(&first), &second);
    let evidence = Evidence {
        schema: &file.schema,
        history: &history,
        table: &second,
        release: &made.release,
        membership: &made.membership,
    };
    on_the_scale(&mut || assert!(promise(&file).judge(evidence).is_empty()));
}

/// Specialises, recodes and judges a view next to one that is published.
fn view() {
    let Tables { file, first: table, .. } = growing(20_000, VIEWS);
    let publish = |name: &str, history: &History| {
        let views = file.views().expect("the promise is about views");
        let named = views.find(name).expect("the policy has this view");
        let before = Before { history, snapshot: None };
        prepare_view(NewView { schema: &file.schema, views, named }, &[], &SEED, before, &table, "scale")
            .expect("a view that passes the gate")
    };
    let history = publish("places", &History::default()).history;
    on_the_scale(&mut || {
        black_box(publish("work", &history));
    });
}

/// A file that keeps nothing.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Target for Nowhere {
    fn finish(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// Writes all files of a release, to nowhere.
fn write_folder() {
    let Tables { file, first, .. } = churning();
    let release = release(&file, &History::default(), None, &first).release;
    on_the_scale(&mut || {
        let nowhere = &mut |_: &str| Ok(Box::new(Nowhere) as Box<dyn Target>);
        folder::write(&Issue::new(&release, &file), &ManifestFacts::default(), nowhere).expect("nothing can fail");
    });
}

fn read_csv() {
    let made = census::snapshots(30_000, 1, Churn::of(0.0), 1);
    let table = made.tables().next().expect("one snapshot");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("table.csv");
    made.write_csv(&table, File::create(&path).expect("a file")).expect("a table");
    read(&path, &policy_file(&made, M_INVARIANCE));
}

fn read_parquet() {
    let made = census::snapshots(30_000, 1, Churn::of(0.0), 1);
    let table = made.tables().next().expect("one snapshot");
    let mut text = Vec::new();
    made.write_csv(&table, &mut text).expect("a table");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("table.parquet");
    let batch = batch(std::str::from_utf8(&text).expect("text"));
    let mut writer =
        ArrowWriter::try_new(File::create(&path).expect("a file"), batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("a table");
    writer.close().expect("a file");
    read(&path, &policy_file(&made, M_INVARIANCE));
}

/// Reads a table with one thread.
fn read(path: &Path, file: &PolicyFile) {
    let options = ReadOptions { threads: 1, ..ReadOptions::default() };
    on_the_scale(&mut || {
        let source = Source::open(path).expect("a table");
        let read = ingest::read_snapshot(&source, &file.schema, &SEED.0, &Values::default(), &options);
        black_box(read.expect("a good table"));
    });
}

/// The columns of a CSV: as numbers where all are numbers.
fn batch(text: &str) -> RecordBatch {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = lines.next().expect("a header");
    let lines: Vec<Vec<&str>> = lines.collect();
    let column = |at: usize| -> ArrayRef {
        let cells = || lines.iter().map(|line| line[at]);
        match cells().map(|cell| cell.parse().ok()).collect::<Option<Vec<i64>>>() {
            Some(numbers) => Arc::new(Int64Array::from(numbers)),
            None => Arc::new(StringArray::from_iter_values(cells())),
        }
    };
    let columns = header.iter().enumerate().map(|(at, name)| (*name, column(at)));
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// Reads releases that another tool could have made, and asks every question of them.
fn audit_files(with_truth: bool) {
    let files = Files::new();
    on_the_scale(&mut || {
        black_box(files.assess(with_truth, |_| ()));
    });
}

/// Renders what an audit found, in all forms.
fn render() {
    Files::new().assess(true, |material| {
        on_the_scale(&mut || {
            let report = Report::new(&material);
            black_box(report::text(&report, TextOptions::default()));
            black_box((report::json(&report), report::html(&report), report::markdown(&report)));
            black_box((report::sarif(&report), report::junit(&report)));
        });
    });
}

/// Three releases, each anonymised on its own, and the tables that they were made from.
struct Files {
    /// It is deleted with this value.
    _folder: tempfile::TempDir,
    releases: Vec<PathBuf>,
    tables: Vec<PathBuf>,
    ask: Ask,
}

impl Files {
    fn new() -> Files {
        let made = census::snapshots(4_000, 3, Churn::of(0.05), 1);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = policy_file(&made, M_INVARIANCE);
        let naive = Naive { k: 10, l: 4, diversity: Diversity::Frequency };
        let (mut releases, mut tables) = (Vec::new(), Vec::new());
        for (table, number) in made.tables().zip(1..) {
            let release = naive.publish(made.schema(), &table, number, "scale").expect("a diverse table").0;
            let out = folder.path().join(format!("{number}"));
            fs::create_dir(&out).expect("a folder");
            let create = &mut |name: &str| Ok(Box::new(File::create(out.join(name))?) as Box<_>);
            folder::write(&Issue::new(&release, &file), &ManifestFacts::default(), create).expect("a release");
            releases.push(out.join(format!("{}.csv", folder::file_stem(&file.series.name, number))));
            tables.push(out.join("table.csv"));
            made.write_csv(&table, File::create(out.join("table.csv")).expect("a file")).expect("a table");
        }
        let quasi = file.schema.quasi.iter().map(|quasi| quasi.name.clone()).collect();
        let sensitive = vec!["occupation".into()];
        let ask = Ask { quasi, sensitive, identifier: Some("person".into()), ..Ask::default() };
        Files { _folder: folder, releases, tables, ask }
    }

    /// Reads and examines them, and hands over what a report is made from.
    fn assess(&self, with_truth: bool, then: impl FnOnce(Material<'_>)) {
        let open = |path: &PathBuf| Source::open(path).expect("a file");
        let file = |path: &PathBuf| foreign::File { source: open(path), label: "scale".into(), counterfeits: None };
        let files: Vec<foreign::File> = self.releases.iter().map(file).collect();
        let truth: Vec<Source> = self.tables.iter().filter(|_| with_truth).map(open).collect();
        let Foreign { schema, releases, shown: traces, truth, .. } =
            foreign::read(&files, &truth, &self.ask).expect("releases that can be read");
        let knowledge = with_truth.then(|| Knowledge::from_tables(&truth));
        let series = Series {
            schema: &schema,
            releases: &releases,
            traces: &traces,
            promise: None,
            knowledge: knowledge.as_ref(),
            permanent: &[],
            population: None,
            households: None,
            rerun: None,
        };
        let (attacker, thresholds, budget) =
            (Attacker::default(), Thresholds { k: 10, l: 4, t: None }, Budget::default());
        let assessment: Assessment = audit::examine(&series, attacker, &thresholds, &budget, &|_| ());
        then(Material {
            edition: Edition::Auditor,
            series,
            assessment: &assessment,
            attacker,
            thresholds,
            about: &About::default(),
            names: Names::Coded,
            budget,
            governance: None,
            private: None,
            has_truth: with_truth,
        });
    }
}
