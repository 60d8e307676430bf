//! The top of a partition tree, grown from counts: nobody's row is in memory.
//!
//! The tree of `partition` decides every cut by how many people of a cell have which code. So its top can be grown by
//! passes over the people: each pass counts some cells, and each counted cell is cut where the whole tree would cut it.
//! The cells of `buckets::cells` are cut by counts as well, together with those of values.
//! What is left are units: cells that are small enough to be held or to be clustered, or that cannot be cut. The tree
//! below each is grown as always. Units and leaves have one order, from left to right, so the groups are those of the whole tree.

use crate::grouping::buckets::cells::cut_counted;
use crate::grouping::partition::{CodeCounts, CutDesk, Cuts, Publishes};
use crate::model::{Schema, Span};
use serde::{Deserialize, Serialize};

/// How many numbers a pass may count with.
const MOST_COUNTERS: usize = 1 << 24;

/// The top of a tree.
pub struct Top<'a> {
    rule: Rule<'a>,
    schema: &'a Schema,
    /// How many codes each column that is counted has: the attributes, and after them the values if they matter.
    sizes: Vec<usize>,
    /// The first is the root.
    nodes: Vec<Node>,
    /// How many people a unit may have.
    unit: usize,
    /// Nodes that are too large and were not counted yet.
    open: Vec<usize>,
    counters: usize,
}

/// How a cell is cut.
enum Rule<'a> {
    /// As `partition` cuts.
    Partition(Cuts<'a>),
    /// As `buckets::cells` cuts for groups of so many values.
    Cells(u64),
}

struct Node {
    cell: Vec<Span>,
    people: usize,
    cut: Option<Cut>,
}

/// The counts of one pass.
pub struct Pass {
    /// The nodes that are counted, ascending.
    nodes: Vec<usize>,
    /// Per node, attribute and code.
    counts: Vec<u32>,
}

/// The attribute of a cut, the last code of its left side, and the left node. The right one follows it.
type Cut = (usize, u32, usize);

/// The node that a person ends in.
fn walk(point: &[u32], cut: impl Fn(usize) -> Option<Cut>) -> usize {
    let mut node = 0;
    while let Some((attribute, at, left)) = cut(node) {
        node = left + usize::from(point[attribute] > at);
    }
    node
}

/// Counts a person of the node whose counts start there.
fn count_at(mut start: usize, sizes: &[usize], point: &[u32], counts: &mut [u32]) {
    for (size, &code) in sizes.iter().zip(point) {
        counts[start + code as usize] += 1;
        start += size;
    }
}

/// The cuts of a top, to be sent to another machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Route {
    cuts: Vec<Option<Cut>>,
}

impl Route {
    fn node_of(&self, point: &[u32]) -> usize {
        walk(point, |node| self.cuts[node])
    }
}

/// Counts some of the people of a pass, on another machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Counter {
    route: Route,
    nodes: Vec<usize>,
    sizes: Vec<usize>,
}

impl Counter {
    /// Counts to begin with.
    pub fn zeros(&self) -> Vec<u32> {
        vec![0; self.nodes.len() * self.counters()]
    }

    fn counters(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// Counts a person: the quasi codes, and after them the value, if it matters.
    pub fn count(&self, point: &[u32], counts: &mut [u32]) {
        if let Ok(place) = self.nodes.binary_search(&self.route.node_of(point)) {
            count_at(place * self.counters(), &self.sizes, point, counts);
        }
    }
}

impl Pass {
    /// Adds what another machine has counted: the number of a counter, and how many people.
    pub fn add(&mut self, at: usize, people: u32) {
        self.counts[at] += people;
    }
}

/// Tells the units of people, on another machine.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Sorter {
    route: Route,
    numbers: Vec<usize>,
}

impl Sorter {
    /// The unit of a person.
    pub fn unit(&self, point: &[u32]) -> usize {
        self.numbers[self.route.node_of(point)]
    }
}

impl<'a> Top<'a> {
    /// A top over `people` people with groups of at least `k`, cut until a unit has at most `unit` people. `None` if the
    /// columns have too many codes to be counted.
    pub(crate) fn new(schema: &'a Schema, k: u32, publishes: Publishes, people: usize, unit: usize) -> Option<Top<'a>> {
        let sizes = schema.quasi.iter().map(|quasi| quasi.size() as usize).collect();
        let cuts = Cuts::new(schema, k, publishes);
        let unit = unit.max(cuts.part);
        Top::with(Rule::Partition(cuts), schema, sizes, people, unit)
    }

    /// A top over the cells of groups with `m` values, of which there are `values`.
    pub(crate) fn of_cells(schema: &'a Schema, m: u64, values: usize, people: usize, unit: usize) -> Option<Top<'a>> {
        let sizes = schema.quasi.iter().map(|quasi| quasi.size() as usize).chain([values]).collect();
        Top::with(Rule::Cells(m), schema, sizes, people, unit)
    }

    fn with(rule: Rule<'a>, schema: &'a Schema, sizes: Vec<usize>, people: usize, unit: usize) -> Option<Top<'a>> {
        let counters = sizes.iter().sum();
        if counters > MOST_COUNTERS {
            return None;
        }
        let cell = schema.quasi.iter().map(|quasi| quasi.root()).collect();
        let root = Node { cell, people, cut: None };
        let open = if people > unit { vec![0] } else { Vec::new() };
        Some(Top { rule, schema, sizes, nodes: vec![root], unit, open, counters })
    }

    /// The next pass over all people; `None` if the top is grown.
    pub fn next_pass(&mut self) -> Option<Pass> {
        let most = (MOST_COUNTERS / self.counters.max(1)).max(1);
        let mut nodes: Vec<usize> = self.open.drain(..self.open.len().min(most)).collect();
        nodes.sort_unstable();
        let counts = vec![0; nodes.len() * self.counters];
        (!nodes.is_empty()).then_some(Pass { nodes, counts })
    }

    /// Counts a person: the quasi codes, and after them the value, if it matters.
    pub fn count(&self, point: &[u32], pass: &mut Pass) {
        let Ok(place) = pass.nodes.binary_search(&self.node_of(point)) else { return };
        count_at(place * self.counters, &self.sizes, point, &mut pass.counts);
    }

    /// What another machine needs to count some of the people of a pass.
    pub fn counter(&self, pass: &Pass) -> Counter {
        let cuts = self.nodes.iter().map(|node| node.cut).collect();
        Counter { route: Route { cuts }, nodes: pass.nodes.clone(), sizes: self.sizes.clone() }
    }

    /// Cuts the nodes that a pass has counted.
    pub fn grow(&mut self, pass: &Pass) {
        for (&node, counts) in pass.nodes.iter().zip(pass.counts.chunks(self.counters.max(1))) {
            self.cut(node, counts);
        }
    }

    fn cut(&mut self, node: usize, counts: &[u32]) {
        let mut rest = counts;
        let mut columns: Vec<&[u32]> = Vec::with_capacity(self.sizes.len());
        for &size in &self.sizes {
            let (column, others) = rest.split_at(size);
            columns.push(column);
            rest = others;
        }
        let Some((attribute, at)) = self.chosen(node, &columns) else { return };
        let Node { cell, people, .. } = &self.nodes[node];
        let left_people = columns[attribute][..=at as usize].iter().map(|&count| count as usize).sum();
        let (mut left, mut right) = (cell.clone(), cell.clone());
        left[attribute].hi = at;
        right[attribute].lo = at + 1;
        let right_people = people - left_people;
        let first = self.nodes.len();
        self.nodes[node].cut = Some((attribute, at, first));
        self.nodes.push(Node { cell: left, people: left_people, cut: None });
        self.nodes.push(Node { cell: right, people: right_people, cut: None });
        self.open.extend((first..first + 2).filter(|&child| self.nodes[child].people > self.unit));
    }

    /// The attribute and the last code of the left side, where a node is cut.
    fn chosen(&self, node: usize, columns: &[&[u32]]) -> Option<(usize, u32)> {
        let Node { cell, people, .. } = &self.nodes[node];
        match &self.rule {
            Rule::Partition(cuts) => cuts.choose(*people, cell, &mut Columns(columns), &mut CutDesk::default()),
            Rule::Cells(m) => {
                let values = columns[self.schema.quasi.len()];
                let most = u64::from(values.iter().copied().max().unwrap_or(0));
                cut_counted(self.schema, *people as u64, columns, most, *m)
            }
        }
    }

    fn node_of(&self, point: &[u32]) -> usize {
        walk(point, |node| self.nodes[node].cut)
    }

    /// The units from left to right, once the top is grown.
    pub fn units(self) -> Units {
        let mut order = Vec::new();
        let mut next = vec![0];
        while let Some(node) = next.pop() {
            match self.nodes[node].cut {
                Some((_, _, left)) => next.extend([left + 1, left]),
                None => order.push(node),
            }
        }
        let mut numbers = vec![0; self.nodes.len()];
        (0..).zip(&order).for_each(|(number, &node)| numbers[node] = number);
        Units { nodes: self.nodes, order, numbers }
    }
}

/// The counts of a node, per attribute and code.
struct Columns<'a>(&'a [&'a [u32]]);

impl CodeCounts for Columns<'_> {
    fn span(&self, attribute: usize) -> Span {
        let occurs = |&count: &u32| count > 0;
        let first = self.0[attribute].iter().position(occurs).unwrap_or(0);
        let last = self.0[attribute].iter().rposition(occurs).unwrap_or(0);
        Span::new(first as u32, last as u32)
    }

    fn each(&mut self, attribute: usize, tell: &mut dyn FnMut(u32, usize)) {
        let codes = (0..).zip(self.0[attribute]).filter(|&(_, &count)| count > 0);
        codes.for_each(|(code, &count)| tell(code, count as usize));
    }

    fn passes(&self, _: usize, _: u32) -> bool {
        true
    }
}

/// The units of a grown top.
pub struct Units {
    nodes: Vec<Node>,
    order: Vec<usize>,
    numbers: Vec<usize>,
}

impl Units {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The unit of a person.
    pub fn of(&self, point: &[u32]) -> usize {
        self.numbers[walk(point, |node| self.nodes[node].cut)]
    }

    /// What another machine needs to tell the unit of a person.
    pub fn sorter(&self) -> Sorter {
        let cuts = self.nodes.iter().map(|node| node.cut).collect();
        Sorter { route: Route { cuts }, numbers: self.numbers.clone() }
    }

    /// The cell of a unit.
    pub fn cell(&self, unit: usize) -> &[Span] {
        &self.nodes[self.order[unit]].cell
    }

    /// How many people a unit has.
    pub fn people(&self, unit: usize) -> usize {
        self.nodes[self.order[unit]].people
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, schema_with_tree, table, values};
    use crate::grouping::partition::{Leaves, Tree};
    use crate::model::{Rng, Row, Table};
    use proptest::prelude::*;

    /// Skewed people: most are alike, some are anywhere.
    fn people(seed: u64, count: u64) -> Vec<SnapshotRow> {
        let mut rng = Rng::from_number(seed);
        let mut code = |size: u64| rng.below(size).min(rng.below(size)).min(rng.below(size)) as u32;
        (0..count).map(|id| (id, vec![code(100), code(7), code(12)], 0)).collect()
    }

    fn leaves(schema: &Schema, table: &Table, k: u32, cell: &[Span]) -> (Vec<Vec<u64>>, Vec<Span>) {
        let mut rows: Vec<Row> = table.rows().collect();
        let Leaves { sizes, spans } = Tree::new(schema, table, k, None, Publishes::Cover).split(&mut rows, cell);
        let mut rest = &rows[..];
        let groups = sizes.iter().map(|&size| {
            let (group, others) = rest.split_at(size as usize);
            rest = others;
            group.iter().map(|&row| table.key(row).lo).collect()
        });
        (groups.collect(), spans)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// The groups of the units, one after another, are those of the whole tree.
        #[test]
        fn units_have_the_groups_of_the_whole_tree(
            seed in any::<u64>(), count in 400u64..1800, k in 2u32..6, unit in 1usize..300,
        ) {
            let schema = schema_with_tree(&[100, 7]);
            let all = people(seed, count);
            let roots: Vec<Span> = schema.quasi.iter().map(|quasi| quasi.root()).collect();
            let whole = leaves(&schema, &table(&values(1), 3, &all), k, &roots);
            let mut top = Top::new(&schema, k, Publishes::Cover, all.len(), unit).unwrap();
            while let Some(mut pass) = top.next_pass() {
                all.iter().for_each(|(_, point, _)| top.count(point, &mut pass));
                top.grow(&pass);
            }
            let units = top.units();
            prop_assert!(units.len() > 1 || count <= (unit as u64).max(128 * u64::from(k)));
            let mut parts = (Vec::new(), Vec::new());
            for at in 0..units.len() {
                let mine: Vec<SnapshotRow> = all.iter().filter(|person| units.of(&person.1) == at).cloned().collect();
                prop_assert_eq!(mine.len(), units.people(at));
                let (groups, spans) = leaves(&schema, &table(&values(1), 3, &mine), k, units.cell(at));
                parts.0.extend(groups);
                parts.1.extend(spans);
            }
            prop_assert_eq!(parts, whole);
        }
    }
}
