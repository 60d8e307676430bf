//! How many newcomers of each value fill the gaps of leavers.
//!
//! Only counts are used. The closed form finds the largest number of newcomers that can move into gaps while the rest
//! stays eligible: at most one in `m` of the rest has the same value (science A3.3).

/// Newcomers and gaps, per value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Counts {
    /// How many newcomers have each value.
    pub newcomers: Vec<u64>,
    /// How many gaps there are for each value.
    pub gaps: Vec<u64>,
}

/// Whether rows with these values can be divided into groups of at least `m` different values.
pub fn is_eligible(counts: &[u64], m: u64) -> bool {
    let most = counts.iter().copied().max().unwrap_or(0);
    most * m <= counts.iter().sum::<u64>()
}

/// How many newcomers of each value move into gaps, as many as possible in total; `None` if no number leaves the rest
/// eligible.
pub fn balance(counts: &Counts, m: u64) -> Option<Vec<u64>> {
    let caps: Vec<u64> = counts.newcomers.iter().zip(&counts.gaps).map(|(&have, &want)| have.min(want)).collect();
    let moves = largest(counts, &caps, m)?;
    let total: u64 = counts.newcomers.iter().sum();
    let rest_each = (total - moves) / m;
    let mut moved: Vec<u64> = counts.newcomers.iter().map(|&have| have.saturating_sub(rest_each)).collect();
    let mut more = moves - moved.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..caps.len()).collect();
    order.sort_by_key(|&value| std::cmp::Reverse(counts.newcomers[value]));
    for value in order {
        let add = more.min(caps[value] - moved[value]);
        moved[value] += add;
        more -= add;
    }
    assert_eq!(more, 0, "a feasible number of moves fits the gaps");
    Some(moved)
}

/// The largest feasible number of moves.
fn largest(counts: &Counts, caps: &[u64], m: u64) -> Option<u64> {
    let total: u64 = counts.newcomers.iter().sum();
    let over = counts.newcomers.iter().zip(caps).map(|(&have, &cap)| have - cap).max().unwrap_or(0);
    let upper = caps.iter().sum::<u64>().min(total.checked_sub(m * over)?);
    let mut sorted = counts.newcomers.clone();
    sorted.sort_unstable();
    let mut sums = vec![0; sorted.len() + 1];
    for (index, &count) in sorted.iter().enumerate().rev() {
        sums[index] = sums[index + 1] + count;
    }
    let mut rest_each = (total - upper) / m;
    loop {
        let moves = upper.min(total.checked_sub(m * rest_each)?);
        let first = sorted.partition_point(|&count| count <= rest_each);
        let forced = sums[first] - rest_each * (sorted.len() - first) as u64;
        if moves >= forced {
            return Some(moves);
        }
        rest_each += 1;
    }
}

/// The most newcomers of each value that may stay so that [`balance`] finds a way.
///
/// Newcomers beyond the gaps are cut down to one level for all values, and to one above it where that still works.
pub fn admissible(counts: &Counts, m: u64) -> Vec<u64> {
    let cut = |level: u64| Counts {
        newcomers: counts.newcomers.iter().zip(&counts.gaps).map(|(&have, &gaps)| have.min(gaps + level)).collect(),
        gaps: counts.gaps.clone(),
    };
    let excess = |value: usize| counts.newcomers[value].saturating_sub(counts.gaps[value]);
    let highest = (0..counts.gaps.len()).map(excess).max().unwrap_or(0);
    // Level 0 always works, because then everyone who stays fills a gap.
    let (mut works, mut fails) = (0, highest + 1);
    while fails - works > 1 {
        let middle = works + (fails - works) / 2;
        if balance(&cut(middle), m).is_some() { works = middle } else { fails = middle }
    }
    let mut kept = cut(works);
    let mut order: Vec<usize> = (0..counts.gaps.len()).filter(|&value| excess(value) > works).collect();
    order.sort_by_key(|&value| std::cmp::Reverse(excess(value)));
    for value in order {
        kept.newcomers[value] += 1;
        if balance(&kept, m).is_none() {
            kept.newcomers[value] -= 1;
        }
    }
    kept.newcomers
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The most moves that leave an eligible rest, by trying them all.
    fn by_trying(counts: &Counts, m: u64) -> Option<u64> {
        fn go(counts: &Counts, m: u64, value: usize, moved: &mut Vec<u64>) -> Option<u64> {
            if value == counts.gaps.len() {
                let rest: Vec<u64> = counts.newcomers.iter().zip(&*moved).map(|(have, moved)| have - moved).collect();
                return is_eligible(&rest, m).then(|| moved.iter().sum());
            }
            let most = counts.newcomers[value].min(counts.gaps[value]);
            (0..=most)
                .filter_map(|number| {
                    moved.push(number);
                    let best = go(counts, m, value + 1, moved);
                    moved.pop();
                    best
                })
                .max()
        }
        go(counts, m, 0, &mut Vec::new())
    }

    fn counts() -> impl Strategy<Value = Counts> {
        proptest::collection::vec((0u64..6, 0u64..5), 1..6).prop_map(|pairs| {
            let (newcomers, gaps) = pairs.into_iter().unzip();
            Counts { newcomers, gaps }
        })
    }

    proptest! {
        /// science E1-24.
        #[test]
        fn the_closed_form_moves_as_many_as_trying_all_ways(counts in counts(), m in 2u64..5) {
            let found = balance(&counts, m);
            prop_assert_eq!(found.as_ref().map(|moved| moved.iter().sum::<u64>()), by_trying(&counts, m));
            if let Some(moved) = found {
                let rest: Vec<u64> = counts.newcomers.iter().zip(&moved).map(|(have, moved)| have - moved).collect();
                prop_assert!(is_eligible(&rest, m));
                prop_assert!(moved.iter().zip(&counts.gaps).all(|(moved, gaps)| moved <= gaps));
            }
        }

        #[test]
        fn those_who_may_stay_can_be_balanced_and_no_one_more_can(counts in counts(), m in 2u64..5) {
            let kept = admissible(&counts, m);
            let with = |newcomers: Vec<u64>| balance(&Counts { newcomers, gaps: counts.gaps.clone() }, m);
            prop_assert!(with(kept.clone()).is_some());
            if with(counts.newcomers.clone()).is_some() {
                prop_assert_eq!(&kept, &counts.newcomers);
            }
            for value in 0..kept.len() {
                if kept[value] < counts.newcomers[value] {
                    let mut more = kept.clone();
                    more[value] += 1;
                    prop_assert!(with(more).is_none());
                }
            }
        }
    }

    /// science G13: one move, whatever the order of the buckets; values bro, dys, flu, gas.
    #[test]
    fn the_papers_example_moves_one() {
        let counts = Counts { newcomers: vec![0, 1, 2, 2], gaps: vec![1, 1, 1, 0] };
        // Flu and dyspepsia are both possible; the more frequent value moves.
        assert_eq!(balance(&counts, 2), Some(vec![0, 0, 1, 0]));
    }
}
