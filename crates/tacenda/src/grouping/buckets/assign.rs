//! Which value sets the newcomers form who have no place yet.
//!
//! Only counts are used. Each step takes the most frequent values, as few as possible, and as many copies of that set
//! as leave the rest eligible.

use crate::model::Value;

/// One step: some copies of one value set.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Step {
    /// How many rows of each value.
    pub copies: u64,
    /// The values, ascending.
    pub set: Vec<Value>,
}

/// The steps that place all rows with these value counts.
///
/// # Panics
/// If more than one in `m` of the rows has the same value. Balancing never leaves such a rest.
pub fn assign(counts: &[u64], m: u64) -> Vec<Step> {
    let mut left: Vec<(u64, Value)> =
        counts.iter().enumerate().map(|(value, &count)| (count, Value(value as u32))).collect();
    let mut steps: Vec<Step> = Vec::new();
    loop {
        left.retain(|&(count, _)| count > 0);
        if left.is_empty() {
            return steps;
        }
        left.sort_unstable_by_key(|&(count, value)| (std::cmp::Reverse(count), value));
        let (copies, width) = step(&left, m).expect("an eligible rest always has a step");
        let mut set: Vec<Value> = left[..width].iter().map(|&(_, value)| value).collect();
        set.sort_unstable();
        left[..width].iter_mut().for_each(|(count, _)| *count -= copies);
        match steps.iter_mut().find(|step| step.set == set) {
            Some(step) => step.copies += copies,
            None => steps.push(Step { copies, set }),
        }
    }
}

/// The copies and the number of values of the next step; `left` descends.
fn step(left: &[(u64, Value)], m: u64) -> Option<(u64, usize)> {
    let total: u64 = left.iter().map(|&(count, _)| count).sum();
    let count = |index: usize| left.get(index).map_or(0, |&(count, _)| count);
    let spare = total.checked_sub(m * count(0))?;
    (m as usize..=left.len()).find_map(|width| {
        let by_next = total.checked_sub(m * count(width))? / width as u64;
        let by_first = if width as u64 > m { spare / (width as u64 - m) } else { u64::MAX };
        let copies = count(width - 1).min(by_next).min(by_first);
        (copies >= 1).then_some((copies, width))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::buckets::balance::is_eligible;
    use proptest::prelude::*;

    /// Prints steps as `ab*2 abc*1`, value 0 being `a`.
    fn print(steps: &[Step]) -> String {
        let set = |step: &Step| step.set.iter().map(|value| (b'a' + value.0 as u8) as char).collect::<String>();
        steps.iter().map(|step| format!("{}*{}", set(step), step.copies)).collect::<Vec<_>>().join(" ")
    }

    /// science G12. Values are numbered alphabetically: bro, dys, flu, gas are a, b, c, d.
    #[test]
    fn the_worked_cases_come_out() {
        assert_eq!(print(&assign(&[1, 3, 3, 4], 2)), "bd*2 cd*2 abc*1");
        assert_eq!(print(&assign(&[2, 2], 2)), "ab*2");
        assert_eq!(print(&assign(&[3, 2, 2], 2)), "ab*1 ac*1 abc*1");
        assert_eq!(print(&assign(&[1, 1, 1, 1, 1], 3)), "abcde*1");
        assert_eq!(print(&assign(&[], 3)), "");
    }

    /// The first width with a positive number of copies, and the most copies, by trying.
    fn by_trying(left: &[(u64, Value)], m: u64) -> Option<(u64, usize)> {
        (m as usize..=left.len()).find_map(|width| {
            (1..=left[width - 1].0).rev().find_map(|copies| {
                let rest: Vec<u64> = left
                    .iter()
                    .enumerate()
                    .map(|(index, &(count, _))| count - if index < width { copies } else { 0 })
                    .collect();
                is_eligible(&rest, m).then_some((copies, width))
            })
        })
    }

    proptest! {
        /// science E1-25.
        #[test]
        fn a_step_is_what_trying_all_finds(counts in proptest::collection::vec(1u64..9, 1..8), m in 2u64..5) {
            prop_assume!(is_eligible(&counts, m));
            let mut left: Vec<(u64, Value)> =
                counts.iter().enumerate().map(|(value, &count)| (count, Value(value as u32))).collect();
            left.sort_unstable_by_key(|&(count, value)| (std::cmp::Reverse(count), value));
            prop_assert_eq!(step(&left, m), by_trying(&left, m));
        }

        #[test]
        fn everyone_is_placed(counts in proptest::collection::vec(0u64..60, 1..20), m in 2u64..6) {
            prop_assume!(is_eligible(&counts, m));
            let steps = assign(&counts, m);
            prop_assert!(steps.len() <= counts.len() + m as usize);
            let mut placed = vec![0; counts.len()];
            for step in &steps {
                prop_assert!(step.set.len() as u64 >= m && step.copies > 0);
                step.set.iter().for_each(|value| placed[value.index()] += step.copies);
            }
            prop_assert_eq!(&placed, &counts);
        }
    }
}
