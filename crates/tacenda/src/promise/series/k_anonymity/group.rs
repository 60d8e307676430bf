//! Clusters of at least `k` similar people, kept from release to release. Newcomers join the cluster they widen the
//! least, and a cluster that falls below `k` is dissolved into the others.
//!
//! # Source
//! Paper 001 (Truta, Campan): section 3.1 with figure 1 (I3M+), 3.2 with figure 2 (I3M-), 4 with figure 3
//! (IL_Optimization). Base: greedy k-member of its reference 3 (Byun, Kamra, Bertino, Li).
//!
//! # Promise
//! In each release, every group holds at least `k` people. It says nothing about a comparison of two releases: the
//! paper leaves that to future work, and `audit::k_anonymity::account` measures it.
//!
//! # Steps
//! | the paper | here |
//! |---|---|
//! | IL(cl), definition 4 | `cluster::store::Cluster::loss`, costs in `cluster::cost` |
//! | k-member, reference 3 | `cluster::k_member` |
//! | FindBestCluster | `cluster::index::Index::best`, the same answer as a look at all |
//! | I3M+ | `cluster::maintain::Maintained::insert` |
//! | Split2kCluster | `cluster::split::split` |
//! | I3M-, DisperseLessKCluster | `cluster::maintain::Maintained::disperse_small` |
//! | update: delete, then insert | `stayed`: who left their region is a newcomer |
//! | IL_Optimization, ComputeOptimalBreak | `cluster::optimise` |
//!
//! `base = k-member, loss = height` is the paper; `optimise = false` leaves its optimiser out. Without `base`,
//! `optimise = true` begins with our own clustering, `base = tree`. It cuts the table into parts (`partition::parts`). In
//! each part it cuts on (`cluster::cut`), reduces clusters to `k` (`cluster::even`), exchanges rows between neighbours
//! (`cluster::exchange`), and breaks needless clusters.
//! `loss = leaf-share` minimises the share of all values that the published regions cover.
//!
//! # Departures
//! - Ranges are those of the declared domain. Observed ranges would drift from release to release.
//! - Empty clusters are removed at once: one that stayed would take every later row at no cost.
//! - Breaks are tested just before they are made, the broken cluster is removed, and passes repeat until no break is
//!   left. With more than 4,096 clusters, a pass tries only the 4,096 most expensive ones; after an update, only among
//!   those that changed.
//! - In the first clustering with `optimise`, each row beyond `k` counts as a small loss (`CROWDING`), so that groups
//!   stay small if that costs little. Every break lowers loss plus crowding. But only without crowding, as in the
//!   paper, is a break the best of its cluster, and only then is no useful break left in the end.
//! - Before k-member, tables of more than 32,768 rows are cut by `cluster::cut` into blocks of at most 4,096 similar
//!   rows. Runs along a Hilbert curve would also work; which loses less was not measured.
//! - A row whose codes changed stays if they still lie in its group's region, because the history remembers only the
//!   region.
//! - `refresh`: everything is clustered from scratch if the loss per row exceeds this factor times the loss after the
//!   last clustering from scratch, and if that is better. The paper says "from time to time".
//! - `seed_rule`: in the pseudo-code of k-member the next seed is far from the last row added; with `last-seed` it is
//!   far from the last seed.
//!
//! # Cost
//! n rows, d attributes, v clusters. k-member: O(n B d / k) with blocks of B rows. Ours: O(n d log n) for the
//! cuts, a constant number of tries per cluster after that. An insert or a dispersed row: one best-first
//! search, sub-linear in v in practice, O(v d) at worst. A split: O(k |cl| d). Memory: the codes once more,
//! and the clusters' bounds.

use crate::grouping::cluster::cost::{Costs, Points};
use crate::grouping::cluster::cut::ranks;
use crate::grouping::cluster::exchange::Effort;
use crate::grouping::cluster::k_member::k_member;
use crate::grouping::cluster::maintain::Maintained;
use crate::grouping::cluster::optimise::optimise;
use crate::grouping::cluster::part::cluster_thoroughly;
use crate::grouping::cluster::store::{Cluster, Space, total_loss};
use crate::grouping::partition::parts;
use crate::grouping::{Base, Drift, GroupingError, LossKind};
use crate::model::{Grouping, History, Lots, Row, Schema, Span, Table};
use crate::promise::KAnonymity;
use crate::promise::series::{Grouper, SeriesPromise};
use rayon::prelude::*;

/// The loss per row after the last clustering from scratch, as a share of the greatest possible loss, in units of
/// 2^-32.
const STATIC_LOSS: &str = "static_loss";

/// The kind of that loss. Losses of two kinds cannot be compared.
const STATIC_UNIT: &str = "static_unit";

/// In the first clustering, each row beyond `k` adds this fraction of the greatest loss to every row of its cluster:
/// one in `CROWDING`.
const CROWDING: u64 = 300;

/// The first clustering begins with parts of up to this many times `k` rows.
const PART: usize = 256;

impl Grouper for KAnonymity {
    fn promise(&self) -> SeriesPromise {
        (*self).into()
    }

    fn group(&self, schema: &Schema, history: &History, table: &Table, lots: &Lots) -> Result<Grouping, GroupingError> {
        let k = self.k.max(1);
        if table.len() < k as usize {
            return Err(GroupingError::TooFew { rows: table.len(), least: k });
        }
        let (costs, points, sizes) = (Costs::new(schema, self.loss), Points::of(table), sizes(schema));
        let space = Space { points: &points, costs: &costs, sizes: &sizes, k: k as usize, crowding: 0 };
        let static_loss = self.static_loss(history);
        let (clusters, static_loss) = match self.maintain(space, history, table) {
            Some(kept) => self.refreshed(space, kept, static_loss, || self.cluster_anew(space, schema, table, lots)),
            None => {
                let clusters = self.cluster_anew(space, schema, table, lots);
                let loss = row_loss(space, &clusters, table.len());
                (clusters, Some(loss))
            }
        };
        let mut grouping = grouping_of(clusters);
        if let Some(loss) = static_loss {
            grouping.facts.insert(STATIC_LOSS.into(), loss);
            grouping.facts.insert(STATIC_UNIT.into(), self.unit());
        }
        Ok(grouping)
    }

    /// Clusters a table in both ways and compares the losses. `None` if there is nothing to maintain.
    fn drift(&self, schema: &Schema, history: &History, table: &Table, lots: &Lots) -> Option<Drift> {
        let (costs, points, sizes) = (Costs::new(schema, self.loss), Points::of(table), sizes(schema));
        let space = Space { points: &points, costs: &costs, sizes: &sizes, k: self.k.max(1) as usize, crowding: 0 };
        let kept = row_loss(space, &self.maintain(space, history, table)?, table.len());
        let scratch = row_loss(space, &self.cluster_anew(space, schema, table, lots), table.len());
        let last_scratch = self.static_loss(history).unwrap_or(scratch);
        let share = |loss: u64| loss as f64 / (1u64 << 32) as f64;
        Some(Drift {
            kept: share(kept),
            last_scratch: share(last_scratch),
            scratch: share(scratch),
            factor: self.refresh,
            refreshes: self.has_drifted(kept, last_scratch) && scratch < kept,
        })
    }
}

fn grouping_of(clusters: Vec<Cluster>) -> Grouping {
    let mut grouping = Grouping::default();
    for cluster in clusters {
        let mut rows: Vec<Row> = cluster.rows.into_iter().map(Row).collect();
        rows.sort_unstable();
        grouping.push(&rows, &[]);
    }
    grouping
}

impl KAnonymity {
    /// The number that stands for the kind of loss in the history.
    fn unit(&self) -> u64 {
        match self.loss {
            LossKind::Height => 1,
            LossKind::LeafShare => 2,
        }
    }

    /// The loss of the last clustering from scratch, if it is known in the current kind of loss.
    fn static_loss(&self, history: &History) -> Option<u64> {
        history.facts.get(STATIC_LOSS).copied().filter(|_| history.facts.get(STATIC_UNIT) == Some(&self.unit()))
    }

    /// The kept clusters, or better ones from scratch if the rule demands it; and the static loss.
    ///
    /// After releases made elsewhere, or with another kind of loss, there is no static loss to compare with. Then it is
    /// measured on this table.
    fn refreshed(
        &self,
        space: Space,
        kept: Vec<Cluster>,
        static_loss: Option<u64>,
        cluster_anew: impl FnOnce() -> Vec<Cluster>,
    ) -> (Vec<Cluster>, Option<u64>) {
        let rows = kept.iter().map(|cluster| cluster.rows.len()).sum();
        let loss = row_loss(space, &kept, rows);
        let is_fine = static_loss.is_some_and(|static_loss| !self.has_drifted(loss, static_loss));
        if self.refresh.is_none() || is_fine {
            return (kept, static_loss);
        }
        let anew = cluster_anew();
        let scratch = row_loss(space, &anew, rows);
        let is_wanted = self.has_drifted(loss, static_loss.unwrap_or(scratch)) && scratch < loss;
        (if is_wanted { anew } else { kept }, Some(scratch))
    }

    /// Whether the rule of `refresh` demands a clustering from scratch.
    fn has_drifted(&self, kept: u64, last_scratch: u64) -> bool {
        self.refresh.is_some_and(|factor| kept as f64 > factor * last_scratch as f64)
    }

    /// IL_Optimization alone, on the clusters of the last release, without arrivals or departures. It is for measuring
    /// the optimiser separately.
    pub fn optimise_last(&self, schema: &Schema, history: &History, table: &Table) -> Grouping {
        let costs = Costs::new(schema, self.loss);
        let points = Points::of(table);
        let sizes = sizes(schema);
        let k = self.k.max(1) as usize;
        let space = Space { points: &points, costs: &costs, sizes: &sizes, k, crowding: 0 };
        let mut clusters = stayed(space, history, table).clusters;
        optimise(space, &mut clusters, None);
        grouping_of(clusters)
    }

    /// Clusters all rows, whatever was published before.
    fn cluster_anew(&self, space: Space, schema: &Schema, table: &Table, lots: &Lots) -> Vec<Cluster> {
        let rows: Vec<u32> = (0..table.len() as u32).collect();
        let base = self.base.unwrap_or(if self.optimise { Base::Tree } else { Base::KMember });
        if base == Base::KMember {
            let mut clusters = k_member(space, rows, self.seed_rule);
            if self.optimise {
                optimise(space, &mut clusters, None);
            }
            return clusters;
        }
        let space = Space { crowding: space.costs.full() / CROWDING, ..space };
        let (ranks, effort) = (ranks(space, &rows), Effort::of(rows.len() / space.k));
        let parts = parts(schema, table, self.k, PART * space.k);
        let formed: Vec<Vec<Cluster>> =
            parts.into_par_iter().map(|part| cluster_thoroughly(space, part, &ranks, effort, lots)).collect();
        formed.into_iter().flatten().collect()
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

/// What remains of the last release after the changes.
struct Stayed {
    /// Its clusters, with the people who are still there and in their region.
    clusters: Vec<Cluster>,
    /// The clusters that somebody left.
    left: Vec<usize>,
    /// Everyone else, in the order of the table.
    newcomers: Vec<u32>,
}

/// Removes everyone who left or moved from the clusters of the last release. A person who changed and is still in the
/// region stays in place.
fn stayed(space: Space, history: &History, table: &Table) -> Stayed {
    let regions = &history.groups.regions;
    let mut sizes = vec![0; regions.len()];
    for record in history.records.iter().filter(|record| history.is_current(record)) {
        sizes[record.group as usize] += 1;
    }
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); regions.len()];
    let mut newcomers = Vec::new();
    for (row, record) in (0u32..).zip(history.align(table)) {
        let group = record
            .filter(|record| history.is_current(record))
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

fn sizes(schema: &Schema) -> Vec<u32> {
    schema.quasi.iter().map(|quasi| quasi.size()).collect()
}

fn contains(region: &[Span], point: &[u32]) -> bool {
    region.iter().zip(point).all(|(span, &code)| span.contains(code))
}

/// The mean loss per row, as a share of the greatest possible loss, in units of 2^-32.
fn row_loss(space: Space, clusters: &[Cluster], rows: usize) -> u64 {
    ((total_loss(clusters) << 32) / (rows as u128 * u128::from(space.costs.full()))) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::SeedRule;
    use crate::model::{
        Domain, Hierarchy, Membership, Published, Quasi, RecordKey, Regions, Release, Rng, Value, Values,
    };
    use proptest::prelude::*;

    fn schema() -> Schema {
        let rows = ["a;x;*", "b;x;*", "c;y;*", "d;y;*"].map(|row| row.split(';').map(String::from).collect());
        let quasi = vec![
            Quasi::new("age", Domain::Integer { lo: 0, hi: 40 }),
            Quasi::new("place", Domain::Category(Hierarchy::from_rows(&rows).unwrap())),
        ];
        Schema::new("id", quasi, vec![])
    }

    /// People as `(key, age, place)`, in any order.
    fn table(people: &[(u64, u32, u32)]) -> Table {
        let mut people = people.to_vec();
        people.sort_unstable();
        let keys = people.iter().map(|person| RecordKey { hi: 0, lo: person.0 }).collect();
        let quasi =
            vec![people.iter().map(|person| person.1).collect(), people.iter().map(|person| person.2).collect()];
        Table::new(keys, quasi, vec![Value(0); people.len()], Values::of(["-"]), vec![], vec![])
    }

    fn published(history: &History, table: &Table, grouping: &Grouping) -> History {
        let schema = schema();
        let regions = Regions::new(2);
        let mut release = Release { number: history.releases + 1, regions, ..Release::default() };
        let mut membership = Membership::default();
        for (index, group) in grouping.groups().enumerate() {
            membership.rows.extend(group.rows.iter().map(|row| row.0));
            membership.policy_groups.push(index as u32);
            release.ends.push(membership.rows.len() as u32);
            release.counterfeits.push(0);
            let tight = |attribute: usize| {
                let codes = group.rows.iter().map(|row| table.quasi(attribute)[row.index()]);
                codes.fold(Span::EMPTY, |span, code| span.join(Span::exact(code)))
            };
            release.regions.push(&[schema.quasi[0].cover(tight(0)), schema.quasi[1].cover(tight(1))]);
        }
        release.sensitive = vec![Value(0); membership.rows.len()];
        history.after(table, &release, &membership, Published { facts: grouping.facts.clone(), ..Published::default() })
    }

    fn policy(k: u32) -> KAnonymity {
        KAnonymity::new(k)
    }

    fn group(policy: &KAnonymity, history: &History, table: &Table) -> Grouping {
        policy.group(&schema(), history, table, &Lots::from_number(1)).unwrap()
    }

    fn keys(table: &Table, grouping: &Grouping) -> Vec<Vec<u64>> {
        grouping.groups().map(|group| group.rows.iter().map(|row| table.key(*row).lo).collect()).collect()
    }

    #[test]
    fn too_few_rows_are_refused() {
        let few = table(&[(1, 1, 0), (2, 2, 0)]);
        let answer = policy(3).group(&schema(), &History::default(), &few, &Lots::from_number(1));
        assert_eq!(answer, Err(GroupingError::TooFew { rows: 2, least: 3 }));
    }

    #[test]
    fn whoever_moved_out_of_the_region_is_a_newcomer_and_whoever_moved_within_stays() {
        let before = table(&[(1, 1, 0), (2, 5, 0), (3, 3, 0), (4, 30, 2), (5, 34, 2), (6, 32, 2)]);
        let first = group(&policy(2), &History::default(), &before);
        let history = published(&History::default(), &before, &first);
        assert_eq!(keys(&before, &first), [vec![1, 2, 3], vec![4, 5, 6]]);
        let after = table(&[(1, 1, 0), (2, 5, 0), (3, 4, 0), (4, 30, 2), (5, 34, 2), (6, 2, 0)]);
        let plain = KAnonymity { optimise: false, ..policy(2) };
        let second = group(&plain, &history, &after);
        // 6 moved from the second group to the first, which then had 2k rows and was split.
        assert_eq!(keys(&after, &second), [vec![2, 3], vec![4, 5], vec![1, 6]]);
    }

    #[test]
    fn a_loss_that_has_drifted_is_refreshed() {
        let people: Vec<(u64, u32, u32)> = (0..20).map(|key| (key, 2 * key as u32, (key / 5) as u32)).collect();
        let before = table(&people);
        let plain = KAnonymity { optimise: false, ..policy(2) };
        let first = group(&plain, &History::default(), &before);
        let mut history = published(&History::default(), &before, &first);
        let scratch = history.facts[STATIC_LOSS];
        assert!(scratch > 0);
        assert_eq!(group(&KAnonymity { refresh: Some(1.0), ..plain }, &history, &before), first);
        // Pretend that clustering from scratch once did better than what is kept.
        history.facts.insert(STATIC_LOSS.into(), scratch / 2);
        let kept = group(&KAnonymity { refresh: Some(2.1), ..plain }, &history, &before);
        assert_eq!(kept.facts[STATIC_LOSS], scratch / 2, "within the limit the old mark stays");
        let anew = group(&KAnonymity { refresh: Some(1.5), ..plain }, &history, &before);
        assert_eq!(anew.facts[STATIC_LOSS], scratch, "beyond it everything is clustered anew");
    }

    /// After releases made elsewhere there is no mark to compare with: the rule still works.
    #[test]
    fn a_series_without_a_mark_is_refreshed_too() {
        let near: Vec<(u64, u32, u32)> = (0..12).map(|key| (key, key as u32, 0)).collect();
        let before = table(&near);
        // Somebody else put everyone with somebody far away.
        let mut theirs = Grouping::default();
        for row in 0..6 {
            theirs.push(&[Row(row), Row(row + 6)], &[]);
        }
        let history = published(&History::default(), &before, &theirs);
        assert!(history.facts.is_empty());
        let rule = KAnonymity { optimise: false, refresh: Some(1.1), ..policy(2) };
        let grouping = group(&rule, &history, &before);
        assert_eq!(grouping.facts[STATIC_UNIT], rule.unit());
        assert_ne!(keys(&before, &grouping), keys(&before, &theirs));
        let drift = rule.drift(&schema(), &history, &before, &Lots::from_number(1)).unwrap();
        assert!(drift.refreshes && drift.kept > drift.scratch && drift.last_scratch == drift.scratch);
        // Without a rule nothing is clustered from scratch, and there is no mark to keep.
        let kept = group(&KAnonymity { refresh: None, ..rule }, &history, &before);
        assert_eq!((keys(&before, &kept), kept.facts.len()), (keys(&before, &theirs), 0));
    }

    #[test]
    fn a_mark_in_another_kind_of_loss_is_not_compared_with() {
        let people: Vec<(u64, u32, u32)> = (0..20).map(|key| (key, 2 * key as u32, (key % 4) as u32)).collect();
        let before = table(&people);
        let height = KAnonymity { loss: LossKind::Height, optimise: false, refresh: Some(1.0), ..policy(2) };
        let first = group(&height, &History::default(), &before);
        let history = published(&History::default(), &before, &first);
        let share = KAnonymity { loss: LossKind::LeafShare, ..height };
        let anew = group(&share, &History::default(), &before);
        let second = group(&share, &history, &before);
        assert_eq!(second.facts[STATIC_UNIT], share.unit());
        assert_eq!(second.facts[STATIC_LOSS], anew.facts[STATIC_LOSS], "measured on this table, in this kind of loss");
    }

    fn random_table(seed: u64, rows: u64) -> Table {
        let mut rng = Rng::from_number(seed);
        let people: Vec<(u64, u32, u32)> =
            (0..rows).map(|key| (key, rng.below(40) as u32, rng.below(4) as u32)).collect();
        table(&people)
    }

    /// Clusters that are better than those from scratch are not given up, whatever the mark says.
    #[test]
    fn nothing_is_swapped_for_something_worse() {
        let plain = KAnonymity { optimise: false, refresh: Some(1.0), ..policy(3) };
        let is_better = |seed: &u64| {
            let before = random_table(*seed, 40);
            let [ours, scratch] =
                [policy(3), plain].map(|policy| group(&policy, &History::default(), &before).facts[STATIC_LOSS]);
            ours < scratch
        };
        let before = random_table((0..50).find(is_better).expect("the tree is better somewhere"), 40);
        let ours = group(&policy(3), &History::default(), &before);
        let mut history = published(&History::default(), &before, &ours);
        history.facts.insert(STATIC_LOSS.into(), 1);
        let grouping = group(&plain, &history, &before);
        assert_eq!(keys(&before, &grouping), keys(&before, &ours));
        assert!(!plain.drift(&schema(), &history, &before, &Lots::from_number(1)).unwrap().refreshes);
    }

    /// The paper's own way: k-member, then IL_Optimization, which only makes it better.
    #[test]
    fn the_papers_base_can_be_optimised() {
        let plain = KAnonymity { optimise: false, loss: LossKind::Height, ..policy(3) };
        let paper = KAnonymity { base: Some(Base::KMember), optimise: true, ..plain };
        let (tree, seeds) = (KAnonymity { base: None, ..paper }, KAnonymity { seed_rule: SeedRule::LastSeed, ..plain });
        let (mut is_better, mut is_another) = (false, [false; 2]);
        for seed in 0..30 {
            let before = random_table(seed, 60);
            let [plain, paper, tree, seeds] =
                [plain, paper, tree, seeds].map(|policy| group(&policy, &History::default(), &before));
            assert!(paper.facts[STATIC_LOSS] <= plain.facts[STATIC_LOSS]);
            is_better |= paper.facts[STATIC_LOSS] < plain.facts[STATIC_LOSS];
            is_another[0] |= paper != tree;
            is_another[1] |= seeds != plain;
        }
        assert!(is_better && is_another == [true; 2], "each choice does something");
    }

    #[test]
    fn threads_and_the_order_of_rows_do_not_matter() {
        let mut rng = Rng::from_number(5);
        let mut people: Vec<(u64, u32, u32)> =
            (0..9000).map(|key| (key, rng.below(40) as u32, rng.below(4) as u32)).collect();
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
        let alone = one.install(|| group(&policy(7), &History::default(), &table(&people)));
        rng.shuffle(&mut people);
        let together = many.install(|| group(&policy(7), &History::default(), &table(&people)));
        assert_eq!(alone, together);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

        /// science E1-15 over whole histories: people come, leave, return and change.
        #[test]
        fn every_release_has_groups_of_k(
            snapshots in prop::collection::vec(prop::collection::btree_map(0u64..60, (0u32..40, 0u32..4), 6..50), 1..5),
            k in 1u32..6,
            optimise in any::<bool>(),
            height in any::<bool>(),
            refresh in prop::option::of(1.0f64..1.5),
            (base, last_seed) in (prop::option::of(Just(Base::KMember)), any::<bool>()),
        ) {
            let loss = if height { LossKind::Height } else { LossKind::LeafShare };
            let seed_rule = if last_seed { SeedRule::LastSeed } else { SeedRule::LastAdded };
            let policy = KAnonymity { k, optimise, base, seed_rule, refresh, loss };
            let mut history = History::default();
            for people in &snapshots {
                let people: Vec<(u64, u32, u32)> = people.iter().map(|(&key, &(age, place))| (key, age, place)).collect();
                let table = table(&people);
                let grouping = group(&policy, &history, &table);
                grouping.assert_covers(&table);
                for group in grouping.groups() {
                    prop_assert!((k as usize..2 * k as usize).contains(&group.rows.len()));
                }
                history = published(&history, &table, &grouping);
            }
        }
    }
}
