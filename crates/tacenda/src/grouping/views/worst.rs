//! The worst case of a requirement over some combinations of X.

/// The worst of some combinations of X: its cost, and whether the requirement still holds. Costs are integers, so that
/// the order of evaluation does not matter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Worst {
    /// The larger, the worse: a share in millionths, or how far a number of Y values lies below the largest number.
    pub(super) cost: u64,
    /// Whether the requirement holds.
    pub(super) holds: bool,
}

impl Default for Worst {
    /// The worst of no combinations at all.
    fn default() -> Worst {
        Worst { cost: 0, holds: true }
    }
}

impl Worst {
    /// The worse of two.
    pub(super) fn and(self, other: Worst) -> Worst {
        Worst { cost: self.cost.max(other.cost), holds: self.holds && other.holds }
    }

    /// A combination with this many Y values, of which `k` are required.
    pub(super) fn distinct(values: u64, k: u64) -> Worst {
        Worst { cost: u64::MAX - values, holds: values >= k }
    }

    /// A combination in which one Y value has `part` of `whole`. It holds if there is no threshold.
    pub(super) fn share(part: u128, whole: u128, permille: Option<u32>) -> Worst {
        let Some(permille) = permille else {
            return Worst::default();
        };
        // Counts of large joins are scaled down, so that the products below cannot overflow.
        let spare = (128 - whole.leading_zeros()).saturating_sub(100);
        let (part, whole) = ((part >> spare) + u128::from(spare > 0 && part > 0), (whole >> spare).max(1));
        let cost = (part * 1_000_000).div_ceil(whole);
        Worst { cost: cost as u64, holds: part * 1000 <= whole * u128::from(permille) }
    }

    /// The least number of Y values, for a requirement of anonymity; `None` if nothing was matched.
    pub(super) fn least(self) -> Option<u64> {
        (self.cost > 0).then(|| u64::MAX - self.cost)
    }
}
