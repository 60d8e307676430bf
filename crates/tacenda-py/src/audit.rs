//! An audit of releases made by anyone.

use crate::series::Data;
use crate::{error, plain};
use pyo3::prelude::*;
use std::path::Path;
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::{Attacker, Limits, Series, Thresholds, examine};
use tacenda::ingest::foreign::{Ask, File, Foreign, Missing, Wish};
use tacenda::ingest::{IngestError, Source, foreign};
use tacenda::report;
use tacenda::report::{About, Edition, Material, Names, PrivateFacts, Report, TextOptions, json, text};

/// Attacks `releases`, in order of time. Answers with the report as plain data and as text.
#[pyfunction]
#[pyo3(signature = (releases, quasi, sensitive, truth, id, k, l, presence, missing))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn audit<'py>(
    py: Python<'py>,
    releases: Vec<Data>,
    quasi: Vec<String>,
    sensitive: Vec<String>,
    truth: Vec<Data>,
    id: Option<String>,
    k: u32,
    l: u32,
    presence: bool,
    missing: Option<String>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let told = py.detach(|| {
        let missing = missing.and_then(|name| Missing::named(&name)).unwrap_or_default();
        let wish = |name: &String| (name.clone(), Wish { missing, ..Wish::default() });
        let wishes = quasi.iter().map(wish).collect();
        let ask = Ask { quasi, sensitive, identifier: id, wishes, ..Ask::default() };
        let files = releases.into_iter().enumerate().map(|(at, data)| file(at, data));
        let files = files.collect::<Result<Vec<File>, IngestError>>()?;
        let truth = truth.into_iter().map(Data::open).collect::<Result<Vec<Source>, IngestError>>()?;
        let read = foreign::read(&files, &truth, &ask)?;
        Ok(judge(&read, Thresholds { k, l, t: None }, Attacker { presence, ..Attacker::default() }))
    });
    let report = told.map_err(|fault: IngestError| error::raise(py, fault.into()))?;
    let plain = serde_json::from_str(&json(&report)).unwrap_or_default();
    Ok((plain::to_python(py, &plain)?, text(&report, TextOptions::default())))
}

/// A release to be read: its label is its file's name, or its number.
fn file(at: usize, data: Data) -> Result<File, IngestError> {
    let (label, counterfeits) = match &data {
        Data::Path(path) => {
            let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
            let beside = path.with_file_name(format!("{stem}.counterfeits.csv"));
            (stem, Path::exists(&beside).then(|| Source::open(&beside)).transpose()?)
        }
        Data::Frame(_) => (format!("frame {}", at + 1), None),
    };
    Ok(File { source: data.open()?, label, counterfeits })
}

fn judge(read: &Foreign, thresholds: Thresholds, attacker: Attacker) -> Report {
    let knowledge = (!read.truth.is_empty()).then(|| Knowledge::from_tables(&read.truth));
    let series = Series {
        schema: &read.schema,
        releases: &read.releases,
        traces: &read.shown,
        promise: None,
        knowledge: knowledge.as_ref(),
    };
    let assessment = examine(&series, attacker, &thresholds, &Limits::default(), &|_| {});
    let about = About {
        name: "audit".into(),
        software: format!("tacenda {}", env!("CARGO_PKG_VERSION")),
        notes: read.notes.clone(),
        assumptions: read.assumptions.clone(),
        ..About::default()
    };
    let truth = read.releases.iter().zip(&read.shown).zip(&read.truth).map(|((release, traces), table)| {
        report::truth_facts(release, !traces.without_sensitive, table, &read.schema, &thresholds)
    });
    let private = knowledge.is_some().then(|| PrivateFacts { truth: truth.collect(), churn: Vec::new() });
    Report::new(&Material {
        edition: Edition::Auditor,
        series,
        assessment: &assessment,
        attacker,
        thresholds,
        about: &about,
        names: Names::Coded,
        limits: Limits::default(),
        governance: None,
        private,
        has_truth: knowledge.is_some(),
    })
}
