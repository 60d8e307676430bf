//! An order of values in which every published set is a run, if there is one.
//!
//! Sets that are nested or disjoint form a tree. Otherwise overlapping sets are laid out one after another. Among
//! overlapping sets the order is determined up to its direction, so each further set fits in exactly one way or not at
//! all (Fulkerson and Gross 1965).

/// The most sets that are laid out, because their overlaps are computed pair by pair.
const MOST_SETS: usize = 4_000;

/// Values `0..count` and distinct sets of them, each ascending with at least two values.
pub struct Family<'a> {
    /// How many values there are.
    pub count: usize,
    /// The sets.
    pub sets: &'a [Vec<u32>],
}

/// Per set, the smallest other set that contains it; `None` if some sets overlap.
pub fn tree(family: &Family<'_>) -> Option<Vec<Option<u32>>> {
    let mut by_size: Vec<u32> = (0..family.sets.len() as u32).collect();
    by_size.sort_by_key(|&set| std::cmp::Reverse(family.sets[set as usize].len()));
    let mut owner: Vec<Option<u32>> = vec![None; family.count];
    let mut parents = vec![None; family.sets.len()];
    for set in by_size {
        let members = &family.sets[set as usize];
        let around = owner[members[0] as usize];
        if members.iter().any(|&value| owner[value as usize] != around) {
            return None;
        }
        parents[set as usize] = around;
        members.iter().for_each(|&value| owner[value as usize] = Some(set));
    }
    Some(parents)
}

/// An order in which every set is a run; otherwise the first set that fits no order with the others.
pub fn order(family: &Family<'_>) -> Result<Vec<u32>, usize> {
    let natural: Vec<u32> = (0..family.count as u32).collect();
    if first_torn(family, &natural).is_none() {
        return Ok(natural);
    }
    if family.sets.len() > MOST_SETS {
        return Err(first_torn(family, &natural).expect("checked above"));
    }
    let mut blocks: Vec<Vec<u32>> = vec![natural];
    let mut components = components(family);
    components.sort_by_key(|component| {
        let values = values(component.iter().map(|&set| &family.sets[set]));
        let largest = component.iter().map(|&set| family.sets[set].len()).max();
        std::cmp::Reverse((values.len(), largest, std::cmp::Reverse(component[0])))
    });
    for component in &components {
        let laid = lay_out(family, component)?;
        let all = values(laid.iter());
        let around = blocks.iter().position(|block| is_subset(&all, block)).ok_or(component[0])?;
        let rest: Vec<u32> = blocks[around].iter().copied().filter(|value| all.binary_search(value).is_err()).collect();
        let mut parts = laid;
        if !rest.is_empty() {
            parts.push(rest);
        }
        blocks.splice(around..=around, parts);
    }
    let order: Vec<u32> = blocks.concat();
    match first_torn(family, &order) {
        None => Ok(order),
        Some(set) => Err(set),
    }
}

/// The most sets that are tried for an order that fits most cells.
const TRIED_SETS: usize = 200;

/// An order in which the sets of many rows are runs. Sets are added one after another, as long as an order exists.
pub fn near_order(family: &Family<'_>, rows: impl Fn(usize) -> u64) -> Vec<u32> {
    let mut by_rows: Vec<usize> = (0..family.sets.len()).collect();
    by_rows.sort_by_key(|&set| (std::cmp::Reverse(rows(set)), set));
    let mut kept: Vec<Vec<u32>> = Vec::new();
    let mut best: Vec<u32> = (0..family.count as u32).collect();
    for set in by_rows.into_iter().take(TRIED_SETS) {
        kept.push(family.sets[set].clone());
        match order(&Family { count: family.count, sets: &kept }) {
            Ok(found) => best = found,
            Err(_) => drop(kept.pop()),
        }
    }
    best
}

/// The first set that is no run of an order.
fn first_torn(family: &Family<'_>, order: &[u32]) -> Option<usize> {
    let mut place = vec![0u32; family.count];
    order.iter().enumerate().for_each(|(at, &value)| place[value as usize] = at as u32);
    family.sets.iter().position(|set| {
        let places = || set.iter().map(|&value| place[value as usize]);
        let (lo, hi) = (places().min().unwrap_or(0), places().max().unwrap_or(0));
        (hi - lo) as usize + 1 != set.len()
    })
}

/// Sets that are connected by overlaps, each in an order in which every set overlaps one before it.
fn components(family: &Family<'_>) -> Vec<Vec<usize>> {
    let mut found = vec![false; family.sets.len()];
    let mut components = Vec::new();
    for start in 0..family.sets.len() {
        if found[start] {
            continue;
        }
        found[start] = true;
        let mut component = vec![start];
        let mut next = 0;
        while next < component.len() {
            let here = component[next];
            next += 1;
            for (other, (set, found)) in family.sets.iter().zip(&mut found).enumerate() {
                if !*found && overlap(&family.sets[here], set) {
                    *found = true;
                    component.push(other);
                }
            }
        }
        components.push(component);
    }
    components
}

/// Whether two sets share a value and neither holds the other.
fn overlap(left: &[u32], right: &[u32]) -> bool {
    let shared = left.iter().filter(|value| right.binary_search(value).is_ok()).count();
    shared > 0 && shared < left.len() && shared < right.len()
}

fn is_subset(some: &[u32], all: &[u32]) -> bool {
    some.iter().all(|value| all.binary_search(value).is_ok())
}

fn values<'a>(sets: impl Iterator<Item = &'a Vec<u32>>) -> Vec<u32> {
    let mut all: Vec<u32> = sets.flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Lays overlapping sets out as blocks, each ascending, so that every set is a run of blocks.
fn lay_out(family: &Family<'_>, component: &[usize]) -> Result<Vec<Vec<u32>>, usize> {
    let mut blocks: Vec<Vec<u32>> = vec![family.sets[component[0]].clone()];
    for &set in &component[1..] {
        blocks = insert(blocks, &family.sets[set]).ok_or(set)?;
    }
    Ok(blocks)
}

/// The blocks with one more set as a run of them.
fn insert(mut blocks: Vec<Vec<u32>>, set: &[u32]) -> Option<Vec<Vec<u32>>> {
    let is_in = |value: &u32| set.binary_search(value).is_ok();
    let shares: Vec<usize> = blocks.iter().map(|block| block.iter().filter(|value| is_in(value)).count()).collect();
    let first = shares.iter().position(|&share| share > 0)?;
    let last = shares.iter().rposition(|&share| share > 0)?;
    if (first + 1..last).any(|at| shares[at] < blocks[at].len()) {
        return None;
    }
    let placed = values(blocks.iter());
    let outside: Vec<u32> = set.iter().copied().filter(|value| placed.binary_search(value).is_err()).collect();
    let is_full = |at: usize| shares[at] == blocks[at].len();
    let end = blocks.len() - 1;
    // New values go to one end of the line, and the set must extend to that end.
    let to_right = !outside.is_empty() && last == end && (is_full(end) || first == end);
    let to_left = !outside.is_empty() && !to_right && first == 0 && (is_full(0) || last == 0);
    if !outside.is_empty() && !to_right && !to_left {
        return None;
    }
    let split = |block: &[u32]| -> (Vec<u32>, Vec<u32>) { block.iter().partition(|value| is_in(value)) };
    let (first_full, last_full) = (is_full(first), is_full(last));
    if last != first && !last_full {
        let (inside, rest) = split(&blocks[last]);
        blocks.splice(last..=last, [inside, rest]);
    }
    if !first_full {
        let (inside, rest) = split(&blocks[first]);
        let turned = first == last && to_left;
        blocks.splice(first..=first, if turned { [inside, rest] } else { [rest, inside] });
    }
    if to_right {
        blocks.push(outside);
    } else if to_left {
        blocks.insert(0, outside);
    }
    Some(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn clean(sets: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
        let mut sets: Vec<Vec<u32>> =
            sets.into_iter().map(|set| values([set].iter())).filter(|set| set.len() > 1).collect();
        sets.sort();
        sets.dedup();
        sets
    }

    /// Tries every order of a few values.
    fn exists(count: u32, sets: &[Vec<u32>]) -> bool {
        fn go(rest: &mut Vec<u32>, order: &mut Vec<u32>, family: &Family<'_>) -> bool {
            if rest.is_empty() {
                return first_torn(family, order).is_none();
            }
            (0..rest.len()).any(|at| {
                let value = rest.remove(at);
                order.push(value);
                let found = go(rest, order, family);
                order.pop();
                rest.insert(at, value);
                found
            })
        }
        go(&mut (0..count).collect(), &mut Vec::new(), &Family { count: count as usize, sets })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        #[test]
        fn an_order_is_found_where_there_is_one(
            sets in prop::collection::vec(prop::collection::vec(0u32..6, 2..5), 0..6),
        ) {
            let sets = clean(sets);
            let family = Family { count: 6, sets: &sets };
            prop_assert_eq!(order(&family).is_ok(), exists(6, &sets), "{:?}", sets);
        }

        #[test]
        fn runs_of_a_hidden_order_are_runs_again(
            hidden in Just((0u32..12).collect::<Vec<u32>>()).prop_shuffle(),
            ends in prop::collection::vec((0usize..12, 0usize..12), 1..14),
        ) {
            let sets = clean(ends.iter().map(|&(a, b)| hidden[a.min(b)..=a.max(b)].to_vec()).collect());
            let family = Family { count: 12, sets: &sets };
            let order = order(&family);
            prop_assert!(order.is_ok(), "{:?}", sets);
            prop_assert_eq!(first_torn(&family, &order.unwrap()), None);
        }
    }

    #[test]
    fn nested_sets_make_a_tree_and_overlapping_ones_none() {
        let sets = clean(vec![vec![0, 1, 2, 3], vec![0, 1], vec![2, 3], vec![4, 5]]);
        let parents = tree(&Family { count: 6, sets: &sets }).unwrap();
        let of = |set: &[u32]| {
            parents[sets.iter().position(|other| other == set).unwrap()].map(|at| sets[at as usize].len())
        };
        assert_eq!((of(&[0, 1]), of(&[2, 3]), of(&[0, 1, 2, 3]), of(&[4, 5])), (Some(4), Some(4), None, None));
        assert_eq!(tree(&Family { count: 3, sets: &[vec![0, 1], vec![1, 2]] }), None);
    }
}
