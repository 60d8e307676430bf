//! Sends newcomers into existing value sets.
//!
//! A new value set costs twice. Its few members are far apart, and each member who leaves later leaves a gap that
//! someone from far away must fill. So newcomers who remain after the gaps are filled first join existing buckets, in
//! whole copies of the value set. Only counts are used, and the rest stays eligible.

use crate::grouping::buckets::assign::{Step, assign};
use crate::grouping::buckets::balance::is_eligible;
use crate::model::Value;

/// How many further new sets are tried before the best placement so far is taken.
const ROUNDS: usize = 6;

/// How often a copy is exchanged for another without gain, in the search for a gain.
const DETOURS: usize = 60;

/// Sets are tried in tiers: first those at least 1/4 as large as the largest, then 1/16, 1/64, and all (0). Members of
/// a large bucket are close together, and it can drop a copy when people leave.
const TIERS: [u64; 4] = [4, 16, 64, 0];

/// A way to place newcomers.
pub struct Placement {
    /// How many copies each of the sets that exist takes.
    pub copies: Vec<u64>,
    /// The new sets.
    pub new: Vec<Step>,
}

/// Places newcomers with these counts. They go into `sets` if possible, whose buckets have `sizes` copies, the larger
/// ones first. The others go into as few new sets as it finds.
///
/// The newcomers whom existing sets cannot take show which set is missing. With that set added, everything is tried
/// again from the start, because one well-chosen set often avoids many others.
pub fn place(counts: &[u64], sets: &[&[Value]], sizes: &[u64], m: u64) -> Placement {
    let mut lacking: Vec<Vec<Value>> = Vec::new();
    let mut best: Option<Placement> = None;
    for _ in 0..=ROUNDS {
        let mut rest = counts.to_vec();
        let family: Vec<&[Value]> = sets.iter().copied().chain(lacking.iter().map(|set| &set[..])).collect();
        let mut copies = vec![0; family.len()];
        for share in TIERS {
            let largest = sizes.iter().copied().max().unwrap_or(0);
            let tier: Vec<usize> = (0..family.len())
                .filter(|&set| share == 0 || sizes.get(set).is_some_and(|&size| size * share >= largest))
                .collect();
            let chosen: Vec<&[Value]> = tier.iter().map(|&set| family[set]).collect();
            let mut taken: Vec<u64> = tier.iter().map(|&set| copies[set]).collect();
            steer(&mut rest, &mut taken, &chosen, m);
            tier.iter().zip(taken).for_each(|(&set, taken)| copies[set] = taken);
        }
        let mut new = Vec::new();
        for step in assign(&rest, m) {
            match family.iter().position(|set| **set == *step.set) {
                Some(index) => copies[index] += step.copies,
                None => new.push(step),
            }
        }
        let next = new.first().map(|step| step.set.clone());
        let added = lacking.iter().cloned().zip(copies.split_off(sets.len()));
        new.extend(added.filter(|&(_, copies)| copies > 0).map(|(set, copies)| Step { copies, set }));
        if best.as_ref().is_none_or(|best| new.len() < best.new.len()) {
            best = Some(Placement { copies, new });
        }
        match next {
            Some(set) if !sets.is_empty() => lacking.push(set),
            _ => break,
        }
    }
    best.expect("at least one way was tried")
}

/// Adds to `copies` how often the newcomers in `rest` fill each set, and takes them out of `rest`.
fn steer(rest: &mut [u64], copies: &mut [u64], sets: &[&[Value]], m: u64) {
    let mut total: u64 = rest.iter().sum();
    let mut open: Vec<usize> = (0..sets.len()).collect();
    while total > 0 {
        open.retain(|&set| least(rest, sets[set]) > 0);
        let mut order: Vec<(u64, usize)> = open.iter().map(|&set| (score(rest, sets[set]), set)).collect();
        order.sort_unstable_by_key(|&(score, set)| (std::cmp::Reverse(score), set));
        let Some((set, number)) = order.iter().find_map(|&(_, set)| {
            let most = (least(rest, sets[set]) / 4).max(1);
            [most, 1]
                .into_iter()
                .find(|&number| leaves_eligible(rest, sets[set], number, m))
                .map(|number| (set, number))
        }) else {
            break;
        };
        copies[set] += number;
        sets[set].iter().for_each(|value| rest[value.index()] -= number);
        total -= number * sets[set].len() as u64;
    }
    improve(rest, copies, sets, m);
}

/// Repeatedly replaces one copy by two. If that is impossible, it replaces one copy by another that leaves other values
/// over, and tries again.
fn improve(rest: &mut [u64], copies: &mut [u64], sets: &[&[Value]], m: u64) {
    let mut tried = vec![0u32; sets.len()];
    let mut idle = 0;
    while idle < DETOURS && rest.iter().any(|&count| count > 0) {
        let mut sideways: Option<(u32, usize, usize)> = None;
        let mut gained = false;
        for out in 0..sets.len() {
            if copies[out] == 0 {
                continue;
            }
            add(rest, sets[out]);
            let mut found = None;
            'search: for one in 0..sets.len() {
                if one == out || least(rest, sets[one]) == 0 {
                    continue;
                }
                take(rest, sets[one]);
                let eligible = is_eligible(rest, m);
                let fits = |set: &&[Value]| least(rest, set) > 0 && leaves_eligible(rest, set, 1, m);
                if let Some(two) = sets.iter().position(fits) {
                    found = Some((one, two));
                    break 'search;
                }
                if eligible && sideways.is_none_or(|best| tried[one] < best.0) {
                    sideways = Some((tried[one], out, one));
                }
                add(rest, sets[one]);
            }
            if let Some((one, two)) = found {
                take(rest, sets[two]);
                copies[out] -= 1;
                copies[one] += 1;
                copies[two] += 1;
                gained = true;
                break;
            }
            take(rest, sets[out]);
        }
        if gained {
            continue;
        }
        idle += 1;
        let Some((_, out, one)) = sideways else { break };
        add(rest, sets[out]);
        take(rest, sets[one]);
        copies[out] -= 1;
        copies[one] += 1;
        tried[one] += 1;
        tried[out] += 1;
    }
}

fn add(rest: &mut [u64], set: &[Value]) {
    set.iter().for_each(|value| rest[value.index()] += 1);
}

fn take(rest: &mut [u64], set: &[Value]) {
    set.iter().for_each(|value| rest[value.index()] -= 1);
}

fn least(rest: &[u64], set: &[Value]) -> u64 {
    set.iter().map(|value| rest[value.index()]).min().unwrap_or(0)
}

/// The mean number of newcomers waiting per value, in fixed point: sets of frequent values first.
fn score(rest: &[u64], set: &[Value]) -> u64 {
    set.iter().map(|value| rest[value.index()]).sum::<u64>() * 1024 / set.len() as u64
}

fn leaves_eligible(rest: &[u64], set: &[Value], number: u64, m: u64) -> bool {
    let mut after = rest.to_vec();
    set.iter().for_each(|value| after[value.index()] -= number);
    is_eligible(&after, m)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn family() -> impl Strategy<Value = (Vec<u64>, Vec<Vec<Value>>, Vec<u64>)> {
        let values = 4usize..9;
        values.prop_flat_map(|values| {
            let counts = prop::collection::vec(0u64..12, values);
            let set = prop::collection::btree_set(0..values as u32, 2..values);
            let sets = prop::collection::vec(set, 1..8);
            (counts, sets, prop::collection::vec(1u64..100, 8)).prop_map(|(counts, sets, sizes)| {
                let sets: Vec<Vec<Value>> = sets.into_iter().map(|set| set.into_iter().map(Value).collect()).collect();
                let sizes = sizes[..sets.len()].to_vec();
                (counts, sets, sizes)
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Everyone is placed, and no place stays empty.
        #[test]
        fn everyone_is_placed_and_nobody_who_does_not_exist((counts, sets, sizes) in family()) {
            let m = 2;
            prop_assume!(is_eligible(&counts, m));
            let sets: Vec<&[Value]> = sets.iter().map(|set| &set[..]).collect();
            let plan = place(&counts, &sets, &sizes, m);
            let (mut placed, mut new) = (vec![0u64; counts.len()], vec![0u64; counts.len()]);
            for (set, copies) in sets.iter().zip(&plan.copies) {
                set.iter().for_each(|value| placed[value.index()] += copies);
            }
            for step in &plan.new {
                step.set.iter().for_each(|value| new[value.index()] += step.copies);
            }
            for value in 0..counts.len() {
                prop_assert!(new[value] <= counts[value], "a new set holds newcomers only");
                prop_assert_eq!(placed[value] + new[value], counts[value], "everyone is placed");
            }
        }
    }
}
