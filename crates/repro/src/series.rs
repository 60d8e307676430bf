//! Publishing release after release without a folder, with the gate, and with a clock on the policy.

use crate::clock::{Spent, timed};
use tacenda::audit::{Evidence, Finding, gate};
use tacenda::model::{
    Choices, Grouping, History, Limits, Membership, Output, PolicyFile, Promise, Published, Release, Schema, Seed,
    Table,
};
use tacenda::policy;
use tacenda::policy::{Policy, PolicyError};
use tacenda::publish::recode;

/// A series of releases of our own.
pub struct Series {
    file: PolicyFile,
    policy: Box<dyn Policy>,
    /// Everything published so far.
    pub history: History,
    seed: Seed,
}

/// One release of a series.
pub struct Step {
    /// What leaves.
    pub release: Release,
    /// Who stands where.
    pub membership: Membership,
    /// What the policy took to form the groups.
    pub spent: Spent,
    /// What the gate found.
    pub findings: Vec<Finding>,
}

impl Series {
    /// Nothing published yet.
    pub fn new(schema: &Schema, promise: Promise, choices: Choices) -> Series {
        let file = PolicyFile {
            series: tacenda::model::Series::default(),
            schema: schema.clone(),
            promise,
            choices,
            limits: Limits { counterfeits: 1.0, withheld: 1.0 },
            output: Output::default(),
            views: Default::default(),
        };
        Series { policy: policy::of(&file), file, history: History::default(), seed: Seed([1; 32]) }
    }

    /// A series that goes on from where `history` ends.
    pub fn after(schema: &Schema, promise: Promise, choices: Choices, history: History) -> Series {
        Series { history, ..Series::new(schema, promise, choices) }
    }

    /// Publishes one more release. The policy is asked once per release; the gate judges, and is not timed.
    ///
    /// # Panics
    /// If the policy cannot form groups: the experiments are made so that it can.
    pub fn publish(&mut self, table: &Table) -> Step {
        let mut rng = self.seed.rng("group", self.history.releases + 1);
        let (schema, history) = (&self.file.schema, &self.history);
        let (grouping, spent) = timed(|| self.policy.group(schema, history, table, &mut rng));
        self.finish(table, grouping, spent)
    }

    /// Publishes one more release with groups that `form` makes of the schema and the history.
    pub fn publish_with(
        &mut self,
        table: &Table,
        form: impl FnOnce(&Schema, &History) -> Result<Grouping, PolicyError>,
    ) -> Step {
        let (grouping, spent) = timed(|| form(&self.file.schema, &self.history));
        self.finish(table, grouping, spent)
    }

    /// Recodes, judges and remembers.
    fn finish(&mut self, table: &Table, grouping: Result<Grouping, PolicyError>, spent: Spent) -> Step {
        let number = self.history.releases + 1;
        let schema = &self.file.schema;
        let grouping = grouping.unwrap_or_else(|error| panic!("the policy cannot form groups: {error}"));
        grouping.assert_covers(table);
        let (release, membership) = recode(&self.file, &grouping, table, &self.seed, number, "repro");
        let evidence = Evidence { schema, history: &self.history, table, release: &release, membership: &membership };
        let findings = gate(&self.policy.promise(), evidence);
        let published = Published { cells: grouping.cells, facts: grouping.facts, ..Published::default() };
        self.history = self.history.after(table, &release, &membership, published);
        Step { release, membership, spent, findings }
    }
}

impl Step {
    /// The release, with the assurance that the gate found nothing.
    ///
    /// # Panics
    /// If it found something: our policies keep their promises.
    pub fn passed(self) -> Step {
        assert!(self.findings.is_empty(), "the gate found {:?}", self.findings);
        self
    }
}
