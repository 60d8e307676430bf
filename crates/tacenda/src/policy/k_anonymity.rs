//! Clusters of at least `k` people, kept from release to release.

use crate::model::Grouping;
use crate::model::History;
use crate::model::LossKind;
use crate::model::Promise;
use crate::model::Rng;
use crate::model::Row;
use crate::model::Schema;
use crate::model::Span;
use crate::model::Table;
use crate::policy::Policy;
use crate::policy::PolicyError;
use crate::policy::cluster::cost::Costs;
use crate::policy::cluster::cost::Points;
use crate::policy::cluster::cut::ranks;
use crate::policy::cluster::even::cut_and_cluster;
use crate::policy::cluster::even::even;
use crate::policy::cluster::exchange::exchange;
use crate::policy::cluster::k_member::k_member;
use crate::policy::cluster::maintain::Maintained;
use crate::policy::cluster::optimise::optimise;
use crate::policy::cluster::store::Cluster;
use crate::policy::cluster::store::Space;
use crate::policy::cluster::store::total_loss;

/// Paper 001: maintained clusterings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KAnonymity {
    /// The least number of people of a group.
    pub k: u32,
    /// Spend more work on less loss: our own first clustering, and needless clusters broken up.
    pub optimise: bool,
    /// Cluster from scratch when the loss of a row exceeds this many times that after the last time.
    pub refresh: Option<f64>,
    /// What should be small.
    pub loss: LossKind,
}

/// The loss of a row after the last clustering from scratch, as a share of the greatest, in 2^-32.
const STATIC_LOSS: &str = "static_loss";

impl Policy for KAnonymity {
    fn promise(&self) -> Promise {
        Promise::KAnonymity { k: self.k }
    }

    fn group(&self, schema: &Schema, history: &History, table: &Table, rng: &mut Rng) -> Result<Grouping, PolicyError> {
        let k = self.k.max(1);
        if table.len() < k as usize {
            return Err(PolicyError::TooFew { rows: table.len(), least: k });
        }
        let costs = Costs::new(schema, self.loss);
        let points = Points::of(table);
        let sizes: Vec<u32> = schema.quasi.iter().map(|quasi| quasi.size()).collect();
        let space = Space { points: &points, costs: &costs, sizes: &sizes, k: k as usize };
        let static_loss = history.facts.get(STATIC_LOSS).copied();
        let kept = self.maintain(space, history, table).filter(|clusters| {
            let limit = self.refresh.zip(static_loss).map(|(factor, loss)| factor * loss as f64);
            limit.is_none_or(|limit| row_loss(space, clusters, table.len()) as f64 <= limit)
        });
        let (clusters, static_loss) = match kept {
            Some(clusters) => (clusters, static_loss),
            None => {
                let clusters = self.from_scratch(space, table.len(), rng);
                let loss = row_loss(space, &clusters, table.len());
                (clusters, Some(loss))
            }
        };
        let mut grouping = Grouping::default();
        for cluster in clusters {
            let mut rows: Vec<Row> = cluster.rows.into_iter().map(Row).collect();
            rows.sort_unstable();
            grouping.push(&rows, &[]);
        }
        grouping.facts.extend(static_loss.map(|loss| (STATIC_LOSS.to_string(), loss)));
        Ok(grouping)
    }
}

impl KAnonymity {
    /// Clusters all rows, whatever was published before.
    fn from_scratch(&self, space: Space, rows: usize, rng: &mut Rng) -> Vec<Cluster> {
        let rows: Vec<u32> = (0..rows as u32).collect();
        if !self.optimise {
            return k_member(space, rows);
        }
        let ranks = ranks(space, &rows);
        let mut clusters = cut_and_cluster(space, rows, &ranks);
        even(space, &mut clusters, &ranks);
        exchange(space, &mut clusters, &ranks, rng);
        optimise(space, &mut clusters, None);
        clusters
    }

    /// The clusters of the last release, with the changes since. `None` if too few are left of them.
    fn maintain(&self, space: Space, history: &History, table: &Table) -> Option<Vec<Cluster>> {
        let Stayed { clusters, left, newcomers } = stayed(space, history, table);
        if table.len() - newcomers.len() < space.k {
            return None;
        }
        let mut maintained = Maintained::new(space, clusters);
        maintained.touched = left;
        maintained.disperse_small();
        for row in newcomers {
            maintained.insert(row);
        }
        let Maintained { mut clusters, touched, .. } = maintained;
        if self.optimise {
            optimise(space, &mut clusters, Some(&touched));
        }
        clusters.retain(|cluster| !cluster.rows.is_empty());
        Some(clusters)
    }
}

/// What the changes leave of the last release.
struct Stayed {
    /// Its clusters as far as their people are still there and in their region.
    clusters: Vec<Cluster>,
    /// Which of them somebody left.
    left: Vec<usize>,
    /// Everyone else, in the order of the table.
    newcomers: Vec<u32>,
}

/// Takes everyone who left or moved out of the clusters of the last release. Whoever changed and is
/// still in the region stays in place.
fn stayed(space: Space, history: &History, table: &Table) -> Stayed {
    let regions = &history.groups.regions;
    let mut sizes = vec![0; regions.len()];
    for record in history.records.iter().filter(|record| record.is_published()) {
        if record.last_release == history.releases {
            sizes[record.group as usize] += 1;
        }
    }
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); regions.len()];
    let mut newcomers = Vec::new();
    for (row, record) in (0u32..).zip(history.align(table)) {
        let group = record
            .filter(|record| record.is_published() && record.last_release == history.releases)
            .map(|record| record.group as usize)
            .filter(|&group| contains(regions.get(group), space.points.get(row)));
        match group {
            Some(group) => members[group].push(row),
            None => newcomers.push(row),
        }
    }
    let left = (0..members.len()).filter(|&group| members[group].len() < sizes[group]).collect();
    Stayed { clusters: members.into_iter().map(|rows| space.cluster(rows)).collect(), left, newcomers }
}

fn contains(region: &[Span], point: &[u32]) -> bool {
    region.iter().zip(point).all(|(span, &code)| span.contains(code))
}

/// The mean loss of a row, as a share of the greatest, in 2^-32.
fn row_loss(space: Space, clusters: &[Cluster], rows: usize) -> u64 {
    ((total_loss(clusters) << 32) / (rows as u128 * u128::from(space.costs.full()))) as u64
}
