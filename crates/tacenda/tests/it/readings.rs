//! How files are read: samples of what ARX, sdcMicro, anjana, anonypy, anonypyx, pandas and R write, each with the expected
//! reading of every column.
//!
//! A sample is one text: what it is, what is asked, the files, and after `--- expect` the reading. `UPDATE_EXPECT=1` writes
//! the last part; read it afterwards.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};
use tacenda::ingest::Source;
use tacenda::ingest::foreign::{Ask, DateForm, File, Foreign, Missing, Notation, Weight, read};

/// The least number of samples there must be.
const SAMPLES: usize = 60;

struct Sample {
    ask: Ask,
    files: Vec<File>,
    truth: Vec<Source>,
    /// Everything before the expectation.
    head: String,
    expect: String,
    /// Holds the hierarchies.
    _folder: tempfile::TempDir,
}

#[test]
fn every_sample_is_read_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readings");
    let mut samples: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.sort();
    assert!(samples.len() >= SAMPLES, "{} samples", samples.len());
    let mut wrong = Vec::new();
    for path in samples {
        let sample = Sample::open(&path);
        let reading = match read(&sample.files, &sample.truth, &sample.ask) {
            Ok(foreign) => told(&foreign),
            Err(error) => format!("{error}\n"),
        };
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, format!("{}--- expect\n{reading}", sample.head)).unwrap();
        } else if reading != sample.expect {
            wrong.push(format!("{}\nexpected:\n{}read:\n{reading}", path.display(), sample.expect));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

impl Sample {
    fn open(path: &Path) -> Sample {
        let text = fs::read_to_string(path).unwrap();
        let (head, expect) = text.split_once("--- expect\n").unwrap_or_else(|| panic!("{}", path.display()));
        let folder = tempfile::tempdir().unwrap();
        let mut sample = Sample {
            ask: Ask { finds_links: true, reads_around: true, weight: Weight::Find, ..Ask::default() },
            files: Vec::new(),
            truth: Vec::new(),
            head: head.into(),
            expect: expect.into(),
            _folder: folder,
        };
        let mut parts = head.split("--- ");
        for line in parts.next().unwrap().lines().filter(|line| !line.starts_with('#')) {
            sample.say(line, path);
        }
        for part in parts {
            let (name, text) = part.split_once('\n').unwrap();
            match name {
                "truth" => sample.truth.push(Source::spool("truth.csv", text.as_bytes()).unwrap()),
                name if name.ends_with(".csv") => fs::write(sample._folder.path().join(name), text).unwrap(),
                label => {
                    let source = Source::spool(&format!("{label}.csv"), text.as_bytes()).unwrap();
                    sample.files.push(File { source, label: label.into(), counterfeits: None });
                }
            }
        }
        sample
    }

    fn say(&mut self, line: &str, path: &Path) {
        let (what, said) = line.split_once(' ').unwrap_or_else(|| panic!("{}: {line}", path.display()));
        let names = || said.split(',').map(String::from).collect();
        let (column, text) = said.split_once('=').unwrap_or(("", said));
        let columns = match column {
            "" => self.ask.quasi.clone(),
            column => vec![column.to_string()],
        };
        let wishes = columns.into_iter();
        match what {
            "quasi" => self.ask.quasi = names(),
            "sensitive" => self.ask.sensitive = names(),
            "linked" => (self.ask.finds_links, self.ask.linked) = (false, Some(said.into()).filter(|_| said != "none")),
            "weight" if said == "none" => self.ask.weight = Weight::None,
            "weight" => self.ask.weight = Weight::Column(said.into()),
            "hierarchy" => wishes.for_each(|column| {
                self.ask.wishes.entry(column).or_default().hierarchy = Some(self._folder.path().join(text));
            }),
            "notation" => wishes.for_each(|column| {
                self.ask.wishes.entry(column).or_default().notation = Notation::named(text).unwrap();
            }),
            "missing" => wishes.for_each(|column| {
                self.ask.wishes.entry(column).or_default().missing = Missing::named(text).unwrap();
            }),
            "date-format" => wishes.for_each(|column| {
                self.ask.wishes.entry(column).or_default().dates = Some(DateForm::parse(text).unwrap());
            }),
            _ => panic!("{}: {line}", path.display()),
        }
    }
}

/// What was read: every column, every group, and everything that was concluded.
fn told(foreign: &Foreign) -> String {
    let mut out = String::new();
    for column in &foreign.columns {
        let forms: Vec<String> = column.notations.iter().map(|(form, count)| format!("{form} {count}")).collect();
        let (name, guessed) = (&column.column, if column.guessed { ", guessed" } else { "" });
        writeln!(out, "{name}: {} ({}), domain {}{guessed}", column.values, forms.join(", "), column.domain).unwrap();
    }
    for (release, shown) in foreign.releases.iter().zip(&foreign.shown) {
        let linked = if release.linked.is_empty() { "" } else { ", linked" };
        writeln!(out, "{}: {} rows{linked}", release.label, release.row_count()).unwrap();
        for group in 0..release.group_count() {
            let mut region = Vec::new();
            for (quasi, &span) in foreign.schema.quasi.iter().zip(release.region(group)) {
                let mut text = String::new();
                quasi.print(span, &mut text);
                region.push(text);
            }
            let values: Vec<String> =
                release.group_values(group).iter().map(|&value| release.values.cells(value).join("/")).collect();
            let name = shown.group_names.get(group).map_or(String::new(), |name| format!("{name}: "));
            writeln!(out, "  {name}{} | {}", region.join(" | "), values.join(", ")).unwrap();
        }
    }
    for said in foreign.assumptions.iter().chain(&foreign.notes) {
        writeln!(out, "{said}").unwrap();
    }
    out
}
