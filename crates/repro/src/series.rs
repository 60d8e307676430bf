//! Publishing release after release without a folder, with the gate, and with a clock on the policy.

use crate::clock::{Spent, timed};
use tacenda::audit::{Evidence, Finding};
use tacenda::grouping::GroupingError;
use tacenda::model::{Grouping, History, Lots, Membership, Published, Release, Schema, Seed, Table};
use tacenda::promise::SeriesPromise;
use tacenda::publish::{Stamp, recode};

/// A series of releases of our own.
pub struct OwnSeries {
    schema: Schema,
    promise: SeriesPromise,
    /// Everything published so far.
    pub history: History,
    seed: Seed,
}

/// One release of a series.
pub struct OwnRelease {
    /// What leaves.
    pub release: Release,
    /// Who stands where.
    pub membership: Membership,
    /// What the policy took to form the groups.
    pub spent: Spent,
    /// What the gate found.
    pub findings: Vec<Finding>,
}

impl OwnSeries {
    /// Nothing published yet.
    pub fn new(schema: &Schema, promise: impl Into<SeriesPromise>) -> OwnSeries {
        let (schema, promise) = (schema.clone(), promise.into());
        OwnSeries { schema, promise, history: History::default(), seed: Seed([1; 32]) }
    }

    /// A series that goes on from where `history` ends.
    pub fn after(schema: &Schema, promise: impl Into<SeriesPromise>, history: History) -> OwnSeries {
        OwnSeries { history, ..OwnSeries::new(schema, promise) }
    }

    /// Publishes one more release. The policy is asked once per release; the gate judges, and is not timed.
    ///
    /// # Panics
    /// If the policy cannot form groups: the experiments are made so that it can.
    pub fn publish(&mut self, table: &Table) -> OwnRelease {
        let promise = self.promise.clone();
        self.publish_with(table, |schema, history, lots| promise.inner().group(schema, history, table, lots))
    }

    /// Publishes one more release with groups that `form` makes of the schema and the history.
    pub fn publish_with(
        &mut self,
        table: &Table,
        form: impl FnOnce(&Schema, &History, &Lots) -> Result<Grouping, GroupingError>,
    ) -> OwnRelease {
        let lots = self.seed.lots("group", self.history.releases + 1);
        let (grouping, spent) = timed(|| form(&self.schema, &self.history, &lots));
        self.finish(table, grouping, spent)
    }

    /// Recodes, judges and remembers.
    fn finish(&mut self, table: &Table, grouping: Result<Grouping, GroupingError>, spent: Spent) -> OwnRelease {
        let number = self.history.releases + 1;
        let schema = &self.schema;
        let grouping = grouping.unwrap_or_else(|error| panic!("the policy cannot form groups: {error}"));
        grouping.assert_covers(table);
        let stamp = Stamp { seed: &self.seed, number, label: "repro", linked_ids: false };
        let (release, membership) = recode(schema, &grouping, table, stamp);
        let evidence = Evidence { schema, history: &self.history, table, release: &release, membership: &membership };
        let findings = self.promise.judge(evidence);
        let published = Published { cells: grouping.cells, facts: grouping.facts, ..Published::default() };
        self.history = self.history.after(table, &release, &membership, published);
        OwnRelease { release, membership, spent, findings }
    }
}

impl OwnRelease {
    /// The release, with the assurance that the gate found nothing.
    ///
    /// # Panics
    /// If it found something: our policies keep their promises.
    pub fn passed(self) -> OwnRelease {
        assert!(self.findings.is_empty(), "the gate found {:?}", self.findings);
        self
    }
}
