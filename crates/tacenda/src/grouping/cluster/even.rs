//! Reduces clusters to the minimum size and clusters the spare rows again.
//!
//! Cutting leaves clusters of up to `2k - 1` rows. Every row beyond `k` widens its cluster, or is missing where it
//! would fit another. The spare rows of all clusters are those that widen their cluster the most. They are cut and
//! clustered again until fewer than `2k` are left.

use crate::grouping::SeedRule;
use crate::grouping::cluster::cut::cut;
use crate::grouping::cluster::k_member::{greedy, place};
use crate::grouping::cluster::store::{Cluster, Space};
use rayon::prelude::*;

/// From this many rows on, equal people are set apart before a part is clustered.
const LARGE: usize = 1 << 10;

/// Clusters rows by cutting them; parts of `2k` rows or more are clustered greedily.
pub(crate) fn cut_and_cluster(space: Space, rows: Vec<u32>, ranks: &[u32]) -> Vec<Cluster> {
    let parts = cut(space, rows, ranks);
    let formed: Vec<Vec<Cluster>> = parts
        .into_par_iter()
        .map(|mut part| {
            if part.len() < 2 * space.k {
                return vec![space.cluster(part)];
            }
            // The rarest come first: among equally good companions they are the hardest to place elsewhere.
            part.sort_unstable_by_key(|&row| ranks[row as usize]);
            let mut clusters = if part.len() > LARGE { set_apart(space, &mut part, ranks) } else { Vec::new() };
            let (formed, rest) = greedy(space, part, SeedRule::LastAdded);
            clusters.extend(formed);
            place(space, &mut clusters, &rest);
            clusters
        })
        .collect();
    formed.into_iter().flatten().collect()
}

/// Takes equal people out of a part as clusters without loss, and leaves between `k` and `2k` of each kind. A part that
/// no cut improves consists mostly of equal people, and greedy clustering takes quadratic time.
pub(super) fn set_apart(space: Space, part: &mut Vec<u32>, ranks: &[u32]) -> Vec<Cluster> {
    part.sort_unstable_by_key(|&row| (space.points.get(row), ranks[row as usize]));
    let mut clusters = Vec::new();
    let mut left = Vec::new();
    for alike in part.chunk_by(|&one, &other| space.points.get(one) == space.points.get(other)) {
        let spare = (alike.len() / space.k).saturating_sub(1) * space.k;
        clusters.extend(alike[..spare].chunks(space.k).map(|rows| space.cluster(rows.to_vec())));
        left.extend_from_slice(&alike[spare..]);
    }
    left.sort_unstable_by_key(|&row| ranks[row as usize]);
    *part = left;
    clusters
}

/// Makes clusters of `k` out of larger ones.
pub(crate) fn even(space: Space, clusters: &mut Vec<Cluster>, ranks: &[u32]) {
    loop {
        let spare: Vec<Vec<u32>> = clusters.par_iter_mut().map(|cluster| trim(space, cluster, ranks)).collect();
        let mut spare: Vec<u32> = spare.into_iter().flatten().collect();
        spare.sort_unstable_by_key(|&row| ranks[row as usize]);
        if spare.len() < 2 * space.k {
            place(space, clusters, &spare);
            return;
        }
        clusters.extend(cut_and_cluster(space, spare, ranks));
    }
}

/// Takes the rows beyond `k` out of a cluster, each time the row whose removal leaves the least cost. Ties go to the
/// rarest row.
fn trim(space: Space, cluster: &mut Cluster, ranks: &[u32]) -> Vec<u32> {
    let mut spare = Vec::new();
    if cluster.rows.len() <= space.k {
        return spare;
    }
    let mut rows = std::mem::take(&mut cluster.rows);
    while rows.len() > space.k {
        let mut best = (u32::MAX, u32::MAX, 0);
        space.without_each(&rows, |index, spans| {
            best = best.min((space.costs.of(spans), ranks[rows[index] as usize], index));
        });
        spare.push(rows.remove(best.2));
    }
    *cluster = space.cluster(rows);
    spare
}
