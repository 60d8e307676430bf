//! Sets of small numbers as bits.

/// How many words a set of numbers below `values` takes.
pub(crate) fn words(values: usize) -> usize {
    values.div_ceil(64).max(1)
}

/// Puts a value into a set.
pub(crate) fn insert(bits: &mut [u64], value: usize) {
    bits[value / 64] |= 1 << (value % 64);
}

/// Whether a value is in a set.
pub(crate) fn holds(bits: &[u64], value: usize) -> bool {
    bits[value / 64] >> (value % 64) & 1 == 1
}

/// The values of a set, ascending.
pub(crate) fn members(bits: &[u64]) -> impl Iterator<Item = u32> {
    bits.iter().enumerate().flat_map(|(word, &bits)| {
        let mut rest = bits;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let lowest = rest.trailing_zeros();
                rest &= rest - 1;
                word as u32 * 64 + lowest
            })
        })
    })
}
