//! A series without a disk, for study, notebooks and tests.
//!
//! The same computation as a [`Project`](crate::publish::Project), gate included, with the same bytes for the same
//! seed. Its memory is lost when it is dropped. Publish real data from a project, because the next release must know
//! this one.

use crate::ingest::{Loaded, ReadOptions, Source};
use crate::measure::loss;
use crate::model::{History, Seed, Table};
use crate::promise::{PolicyFile, Promised, SeriesPromise};
use crate::publish::{Before, Judged, ProjectError, prepare, project};

/// A series that lives as long as this value. Private.
#[derive(Debug)]
pub struct InMemory {
    loaded: Loaded,
    promise: SeriesPromise,
    seed: Seed,
    history: History,
    last: Option<Table>,
    labels: Vec<String>,
}

impl InMemory {
    /// A series without a release. If no seed is given, a random one is used.
    pub fn new(loaded: Loaded, seed: Option<Seed>) -> Result<InMemory, ProjectError> {
        let Promised::Series(promise) = loaded.policy.promise.clone() else {
            // Only a project remembers views made elsewhere and the recipients of views.
            return Err(ProjectError::BadView {
                what: "a policy with views needs a project folder".into(),
                way_out: "publish them with tacenda publish --view NAME".into(),
            });
        };
        let seed = seed.map_or_else(project::random_seed, Ok)?;
        Ok(InMemory { loaded, promise, seed, history: History::default(), last: None, labels: Vec::new() })
    }

    /// The policy.
    pub fn policy(&self) -> &PolicyFile {
        &self.loaded.policy
    }

    /// Remarks about the policy that are no faults.
    pub fn policy_notes(&self) -> &[String] {
        &self.loaded.notes
    }

    /// How many releases there are.
    pub fn releases(&self) -> u32 {
        self.history.releases
    }

    /// How many steps [`InMemory::publish`] tells of.
    pub const STEPS: usize = 3;

    /// Makes the next release, has it judged, and remembers it; or changes nothing. `step` is called before each step. It may
    /// unwind: then nothing has changed.
    pub fn publish(
        &mut self,
        source: &Source,
        delta: bool,
        label: Option<&str>,
        options: &ReadOptions,
        step: &dyn Fn(&str),
    ) -> Result<Judged, ProjectError> {
        let file = &self.loaded.policy;
        let before = Before { history: &self.history, snapshot: self.last.as_ref() };
        let used = self.labels.iter().zip(1..).map(|(label, number)| (number, label.as_str()));
        let label = project::free_label(label, self.history.releases + 1, used)?;
        step("reading");
        let snapshot = project::read(source, delta, &file.schema, &self.seed, before, options)?;
        step("grouping and judging");
        let prepared = prepare(file, self.promise.inner(), &self.seed, before, &snapshot.table, &label)?;
        project::assert_reason(file, &prepared)?;
        step("measuring");
        let loss = loss(&prepared.release, &file.schema, self.promise.terms().least_group);
        let warnings = self.promise.inner().warnings(&file.schema, &snapshot.table, &prepared.release, before.snapshot);
        let (judged, history) = Judged::of(prepared, loss, warnings);
        self.history = history;
        self.last = Some(snapshot.table);
        self.labels.push(label);
        Ok(judged)
    }
}
