//! Sends newcomers into value sets that exist already.
//!
//! New value sets cost twice: their few members stand far apart, and every one of them who leaves later
//! leaves a gap that someone from far away must fill. So newcomers who are left after the gaps are filled
//! first join buckets that exist, a whole copy of the value set at a time. Only counts are looked at, and
//! the rest stays eligible.

use crate::model::Value;
use crate::policy::buckets::balance::is_eligible;

/// How many copies of each set the newcomers in `rest` fill; takes them out of `rest`.
pub fn steer(rest: &mut [u64], sets: &[&[Value]], m: u64) -> Vec<u64> {
    let mut copies = vec![0; sets.len()];
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
    copies
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
