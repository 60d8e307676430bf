//! A project that publishes a table of a cluster.

use crate::model::RowRule;
use crate::promise::{DiskForm, Promised, SeriesPromise};
use crate::publish::on_disk::{Cluster, Driving, drive};
use crate::publish::{Ingredients, Project, ProjectError};

/// The memory that the driver is expected to need, per row and besides (docs/scale.md). In an update the people of the vault
/// pass through it.
const BYTES_PER_ROW: u64 = 80;
const BYTES_PER_ROW_OF_UPDATE: u64 = 240;
const BYTES_BESIDES: u64 = 128 << 20;

/// A table that a cluster has.
#[derive(Clone, Copy, Debug)]
pub struct ClusterTable<'a> {
    /// Its columns.
    pub columns: &'a [String],
    /// In how many parts its people are kept. No release depends on it.
    pub parts: usize,
    /// How many people a unit may have. No release depends on it.
    pub unit: usize,
    /// The most memory that the driver may use.
    pub memory: Option<u64>,
}

impl Project {
    /// The same as [`Project::material_within`], with a table that a cluster has. The cluster forms the release and judges it
    /// unit by unit on the way, unless a release of the series has the label already.
    pub fn material_of_cluster(
        &self,
        cluster: &mut dyn Cluster,
        table: &ClusterTable<'_>,
        label: Option<&str>,
        step: &dyn Fn(&str),
    ) -> Result<Ingredients, ProjectError> {
        let store = self.store().expect("a project opened for publishing has a store");
        let (promise, form) = self.in_cluster().map_err(|why| ProjectError::NotInCluster { why })?;
        let is_used = store.publications().any(|publication| label == Some(publication.label.as_str()));
        let label = if is_used { None } else { Some(self.unused_label(label, store.releases() + 1)?) };
        let fits = |rows: u64, is_update: bool| {
            let per_row = if is_update { BYTES_PER_ROW_OF_UPDATE } else { BYTES_PER_ROW };
            let needed = rows.saturating_mul(per_row) + BYTES_BESIDES;
            let is_enough = |allowed: &u64| needed <= *allowed;
            table
                .memory
                .filter(|allowed| !is_enough(allowed))
                .map_or(Ok(()), |allowed| Err(ProjectError::Memory { needed, allowed }))
        };
        let driving = Driving {
            file: self.policy(),
            promise,
            form,
            store,
            amended: &self.amended,
            seed: self.seed(),
            label: label.as_deref(),
            columns: table.columns,
            parts: table.parts.max(1).next_power_of_two(),
            unit: table.unit.max(1),
            fits: &fits,
            step,
        };
        let (history, snapshot, on_disk) = drive(driving, cluster)?;
        Ok(Ingredients { history, last: None, snapshot, on_disk: Some(on_disk), source: None })
    }

    /// How the promise is kept in a cluster, or why it cannot be.
    fn in_cluster(&self) -> Result<(&SeriesPromise, DiskForm<'_>), &'static str> {
        let form = match &self.policy().promise {
            Promised::Series(promise) => promise.inner().disk_form().map(|form| (promise, form)),
            Promised::Views(_) => return Err("a view is specialised with everyone in memory"),
        };
        let form = form.ok_or("its promise forms groups of everyone at once")?;
        if self.policy().schema.person.rule != RowRule::One {
            return Err("people with several rows are put together in memory");
        }
        Ok(form)
    }
}
