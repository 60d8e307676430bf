//! What a kernel is told to do, as bytes: it runs on machines that have neither the project nor its seed.

use crate::grouping::ENGINE;
use crate::grouping::top::{Counter, Sorter};
use crate::ingest::{Kind, Problem};
use crate::model::{Schema, Span};
use crate::promise::SeriesPromise;
use crate::publish::ProjectError;
use crate::publish::on_disk::Counted;
use crate::publish::on_disk::cluster::blobs::RowSum;
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
    /// Rows become codes.
    Encode { key: [u8; 32], parts: usize },
    /// People of a part are compared with the vault. Hashes become numbers.
    Compare { releases: u32, values: Vec<(u64, u32)>, public: Vec<(u64, u32)>, groups_per_unit: usize },
    /// Arrivals are counted.
    Count(Counter),
    /// Arrivals go to their units, if they are cut. People who are left out go to places behind the units.
    Spread { sorter: Option<Sorter>, units: Units },
    /// People go to the driver as they are, in so many parts.
    Recall { parts: usize },
    /// Groups are formed.
    Solve { past: Past, linked: Option<[u8; 32]> },
    /// The gate judges. `compares` says whether the last release is needed, too.
    Check { past: Past, parts: usize, compares: bool },
    /// People of a part are sorted.
    Gather,
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
}

/// What is said after rows were encoded.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct SaidEncoded {
    pub sum: RowSum,
    pub values: Vec<(u64, Vec<String>)>,
    pub public_texts: Vec<(u64, Vec<String>)>,
    pub problems: Vec<SaidProblem>,
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

/// What is said after a part was compared.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct SaidCompared {
    /// The rows as they were read, and as they are from now on.
    pub read: RowSum,
    pub people: RowSum,
    pub duplicates: u64,
    pub counted: Counted,
    /// Per quasi attribute, how many rows have a value that is not listed.
    pub others: Vec<u64>,
}
