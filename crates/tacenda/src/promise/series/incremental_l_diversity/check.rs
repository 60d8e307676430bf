//! Whether everyone's sensitive value stays one of at least `l` while records are only added.
//!
//! Safe mode is m-invariance with `m = l` and without counterfeits (`audit::invariance`). The paper's mode is judged by
//! the values that comparing two releases leaves possible (`audit::difference`).

use crate::audit::{Evidence, Faults, difference, invariance, no_counterfeits};
use crate::promise::series::Checked;
use crate::promise::{DiversityMode, IncrementalLDiversity};

impl Checked for IncrementalLDiversity {
    fn check(&self, evidence: &Evidence<'_>) -> Faults {
        let faults = match self.mode {
            DiversityMode::Safe => invariance::check(self.l, None, evidence),
            DiversityMode::Paper if evidence.history.releases == 0 => difference::check(self.l, evidence),
            // The difference counts people whom the comparison leaves too few values. Even with enough values, one may
            // be likelier than promised. Only balanced groups and constant value sets are proved to be enough, so
            // anything less in a changed group is a finding.
            DiversityMode::Paper => {
                difference::check(self.l, evidence).and(invariance::check_changed(self.l, Some(1), evidence))
            }
        };
        faults.and(no_counterfeits(evidence))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::sketch::{release, table};
    use crate::model::{Domain, History, Membership, Published, Quasi, Schema, Sensitive};
    use crate::promise::SeriesPromise;

    /// A table and a release of it, written as in `sketch`; and for each row of the release, the person.
    type Step<'a> = (&'a str, &'a str, &'a [u32]);

    /// What the gate says of the second step under the paper's own promise: codes and people.
    fn told(l: u32, first: Step<'_>, second: Step<'_>) -> Vec<(&'static str, u64)> {
        let schema =
            Schema::new("id", vec![Quasi::new("q", Domain::Integer { lo: 0, hi: 64 })], vec![Sensitive::open("s")]);
        let who = |rows: &[u32], groups: usize| Membership {
            rows: rows.to_vec(),
            policy_groups: (0..groups as u32).collect(),
            withheld: Vec::new(),
        };
        let (before, old) = (table(first.0), release(1, first.1));
        let history = History::default().after(&before, &old, &who(first.2, old.group_count()), Published::default());
        let (now, new) = (table(second.0), release(2, second.1));
        let membership = who(second.2, new.group_count());
        let evidence =
            Evidence { schema: &schema, history: &history, table: &now, release: &new, membership: &membership };
        let promise =
            SeriesPromise::from(IncrementalLDiversity { mode: DiversityMode::Paper, ..IncrementalLDiversity::new(l) });
        promise.judge(evidence).iter().map(|finding| (finding.fault.code(), finding.people)).collect()
    }

    /// science G9, CE-1: C is the only newcomer and the class has one a more. A and B keep both values.
    #[test]
    fn g9_the_gate_counts_the_newcomer_of_ce_1() {
        let first = ("1/10/a 2/11/b", "10-11/ab", &[0, 1][..]);
        let second = ("1/10/a 2/11/b 3/10/a", "10-11/aab", &[0, 2, 1][..]);
        assert_eq!(told(2, first, second), [("A613", 3), ("A631", 1)]);
        let two = ("1/10/a 2/11/b 3/10/a 4/11/b", "10-11/aabb", &[0, 2, 1, 3][..]);
        assert_eq!(told(2, first, two), []);
    }

    /// science G10, CE-2: F is the only newcomer and has b; C and D, who stand with F, are left with a. A, B and E
    /// keep two values.
    #[test]
    fn g10_the_gate_counts_the_old_members_of_ce_2() {
        let first = ("1/1/a 2/2/a 3/8/a 4/9/a 5/3/b", "1-9/aaaab", &[0, 1, 2, 3, 4][..]);
        let all = "1/1/a 2/2/a 3/8/a 4/9/a 5/3/b 6/8/b";
        assert_eq!(told(2, first, (all, "1-3/aab 8-9/aab", &[0, 1, 4, 2, 3, 5])), [("A613", 6), ("A631", 3)]);
        // Undivided, the newcomer alone is given away.
        assert_eq!(told(2, first, (all, "1-9/aaaabb", &[0, 1, 2, 3, 4, 5])), [("A613", 6), ("A631", 1)]);
    }

    /// Two old groups in one: everyone of the first has a or b, everyone of the second c or d, whatever else is there.
    #[test]
    fn people_of_several_groups_are_left_with_the_values_of_their_own() {
        let first = ("1/1/a 2/2/b 3/8/c 4/9/d", "1-2/ab 8-9/cd", &[0, 1, 2, 3][..]);
        let second = ("1/1/a 2/2/b 3/8/c 4/9/d", "1-9/abcd", &[0, 1, 2, 3][..]);
        assert_eq!(told(3, first, second), [("A614", 4), ("A631", 4)]);
    }
}
