//! What a kernel is told to do, as bytes: it runs on machines that have neither the project nor its seed.

use crate::grouping::ENGINE;
use crate::grouping::top::{Counter, Sorter};
use crate::ingest::{AddedLeaves, Kind, Problem};
use crate::model::{RecordKey, Schema, Span};
use crate::promise::SeriesPromise;
use crate::publish::ProjectError;
use crate::publish::on_disk::cluster::blobs::RowSum;
use crate::publish::on_disk::compare::Crowded;
use serde::{Deserialize, Serialize};

/// What a kernel is told. It holds derived keys, so it is private.
#[derive(Deserialize, Serialize)]
pub(super) struct KernelTask {
    pub schema: Schema,
    /// The weights of the quasi attributes, bit by bit: text may lose the last of them.
    weights: Vec<u64>,
    pub promise: SeriesPromise,
    pub job: Job,
}

/// The version that wrote a task. Machines of another version may form other groups.
fn version() -> String {
    format!("{} {ENGINE:?}", env!("CARGO_PKG_VERSION"))
}

impl KernelTask {
    pub fn write(schema: &Schema, promise: &SeriesPromise, job: Job) -> Vec<u8> {
        let weights = schema.quasi.iter().map(|quasi| quasi.weight.to_bits()).collect();
        let task = KernelTask { schema: schema.clone(), weights, promise: promise.clone(), job };
        serde_json::to_vec(&(version(), task)).expect("names and numbers are JSON")
    }

    pub fn read(bytes: &[u8]) -> Result<KernelTask, ProjectError> {
        let (written, task): (String, serde_json::Value) =
            serde_json::from_slice(bytes).map_err(|_| ProjectError::OtherVersions)?;
        let task: Option<KernelTask> = serde_json::from_value(task).ok().filter(|_| written == version());
        let mut task = task.ok_or(ProjectError::OtherVersions)?;
        for (quasi, bits) in task.schema.quasi.iter_mut().zip(&task.weights) {
            quasi.weight = f64::from_bits(*bits);
        }
        Ok(task)
    }
}

/// What there is to do.
#[derive(Deserialize, Serialize)]
pub(super) enum Job {
    /// Rows become codes. The public texts of people who were erased are left out.
    Encode { key: [u8; 32], parts: usize, erased: Vec<[u64; 2]> },
    /// People of a part are compared with the vault. Hashes become numbers.
    Compare(Comparing),
    /// Arrivals are counted.
    Count(Counter),
    /// Everyone goes to the driver without quasi columns; with a place on the curve, if it is asked.
    Crowd { releases: u32, curve: bool },
    /// Groups of the last release are looked at, where people are only added. `compares` says whether the driver needs them.
    Look { past: Past, compares: bool },
    /// The codes of arrivals go to the driver.
    Points,
    /// Arrivals go to the groups that they join. People who are left out go to places behind the units.
    Join { units: Units, groups_per_unit: usize },
    /// Everyone goes to the unit of their bucket. People who wait go to places behind the units.
    Deal { units: Units },
    /// Arrivals go to their units, if they are cut. People who are left out go to places behind the units.
    Spread { sorter: Option<Sorter>, units: Units },
    /// People go to the driver as they are, in so many parts.
    Recall { parts: usize },
    /// Groups are formed. `lots` is the key of the lots of this release.
    Solve { past: Past, linked: Option<[u8; 32]>, lots: [u8; 32] },
    /// The gate judges. `compares` says whether the last release is needed, too.
    Check { past: Past, parts: usize, compares: bool },
    /// People of a part are sorted.
    Gather,
}

/// How people are compared with the vault.
#[derive(Deserialize, Serialize)]
pub(super) struct Comparing {
    pub releases: u32,
    /// The numbers of texts, by hash.
    pub values: Vec<(u64, u32)>,
    pub public: Vec<(u64, u32)>,
    pub groups_per_unit: usize,
    /// The people who were erased, sorted.
    pub erased: Vec<[u64; 2]>,
    /// The leaves that columns gained since the first release.
    pub added: AddedLeaves,
    /// Whether columns gained values.
    pub is_amended: bool,
}

/// How units are numbered: those of people of the last release, those of arrivals, and then the parts of people left out.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(super) struct Units {
    pub kept: usize,
    pub new: usize,
}

impl Units {
    /// How many units have groups.
    pub fn len(self) -> usize {
        self.kept + self.new
    }
}

/// What a unit needs to know besides its people.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Past {
    pub releases: u32,
    pub values: Vec<Vec<String>>,
    /// How many of them the series had before.
    pub known: usize,
    /// How many public combinations there are.
    pub public_texts: usize,
    pub units: Units,
    pub groups_per_unit: usize,
    /// The cells of the units of arrivals.
    pub cells: Vec<Vec<Span>>,
    /// All value sets of the series.
    pub value_sets: Vec<Vec<u32>>,
    /// The people who were erased, sorted.
    pub erased: Vec<[u64; 2]>,
}

/// What is said after rows were encoded.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct SaidEncoded {
    pub sum: RowSum,
    pub values: Vec<(u64, Vec<String>)>,
    pub public_texts: Vec<(u64, Vec<String>)>,
    pub problems: Vec<SaidProblem>,
}

/// Keys as they are sent.
pub(super) fn sent_keys(keys: &[RecordKey]) -> Vec<[u64; 2]> {
    keys.iter().map(|key| [key.hi, key.lo]).collect()
}

/// Whether somebody is among people who were sent, sorted.
pub(super) fn is_among(sent: &[[u64; 2]], key: RecordKey) -> bool {
    sent.binary_search(&[key.hi, key.lo]).is_ok()
}

/// A problem with the table.
#[derive(Deserialize, Serialize)]
pub(super) struct SaidProblem {
    code: String,
    column: Option<String>,
    rows: u64,
    detail: String,
}

impl SaidProblem {
    pub fn of(problem: &Problem) -> SaidProblem {
        let Problem { column, rows, detail, .. } = problem;
        SaidProblem { code: problem.code().into(), column: column.clone(), rows: *rows, detail: detail.clone() }
    }

    pub fn problem(self) -> Problem {
        let kind = Kind::ALL.iter().find(|kind| kind.code() == self.code).copied().unwrap_or(Kind::NotWhatItSays);
        Problem { column: self.column, rows: self.rows, ..Problem::whole(kind, self.detail) }
    }
}

/// What is said after groups of the last release were looked at.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct SaidLooked {
    pub moved: usize,
    pub revalued: usize,
}

/// What is said after a part was compared.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct SaidCompared {
    /// The rows as they were read, and as they are from now on.
    pub read: RowSum,
    pub people: RowSum,
    pub duplicates: u64,
    /// How many people were left out because they are erased.
    pub erased: usize,
    pub crowded: Crowded,
    /// Per quasi attribute, how many rows have a value that is not listed.
    pub others: Vec<u64>,
}
