//! A span: the codes that a published value covers.
//!
//! A span is a run of neighbouring codes, both ends included. Because leaves are numbered from left
//! to right, a hierarchy node is a run too, and so is the whole domain. All operations are total:
//! every pair of spans has a meet, which may be empty.

use serde::{Deserialize, Serialize};

/// A run of codes, `lo..=hi`; empty when `lo > hi`.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Span {
    /// The lowest code.
    pub lo: u32,
    /// The highest code, included.
    pub hi: u32,
}

impl Span {
    /// The span that holds nothing. All empty spans are equal to this one once made by [`Span::meet`].
    pub const EMPTY: Span = Span { lo: 1, hi: 0 };

    /// The span from `lo` to `hi`, both included.
    ///
    /// # Panics
    /// If `lo > hi`; the empty span is [`Span::EMPTY`].
    pub fn new(lo: u32, hi: u32) -> Span {
        assert!(lo <= hi, "a span runs upwards");
        Span { lo, hi }
    }

    /// The span of one code.
    pub fn exact(code: u32) -> Span {
        Span { lo: code, hi: code }
    }

    /// Whether it holds nothing.
    pub fn is_empty(self) -> bool {
        self.lo > self.hi
    }

    /// How many codes it covers.
    pub fn width(self) -> u32 {
        if self.is_empty() { 0 } else { self.hi - self.lo + 1 }
    }

    /// Whether `code` lies in it.
    pub fn contains(self, code: u32) -> bool {
        self.lo <= code && code <= self.hi
    }

    /// Whether every code of it lies in `other`. The empty span lies in every span.
    pub fn subset(self, other: Span) -> bool {
        self.is_empty() || (other.lo <= self.lo && self.hi <= other.hi)
    }

    /// The codes in both.
    pub fn meet(self, other: Span) -> Span {
        let meet = Span { lo: self.lo.max(other.lo), hi: self.hi.min(other.hi) };
        if self.is_empty() || other.is_empty() || meet.is_empty() { Span::EMPTY } else { meet }
    }

    /// Whether some code is in both.
    pub fn overlap(self, other: Span) -> bool {
        !self.meet(other).is_empty()
    }

    /// The smallest span that holds both.
    pub fn join(self, other: Span) -> Span {
        if self.is_empty() {
            other
        } else if other.is_empty() {
            self
        } else {
            Span { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn span() -> impl Strategy<Value = Span> {
        prop_oneof![
            1 => Just(Span::EMPTY),
            9 => (0u32..20, 0u32..20).prop_map(|(a, b)| Span::new(a.min(b), a.max(b))),
        ]
    }

    proptest! {
        /// science E1-1.
        #[test]
        fn spans_are_an_algebra(a in span(), b in span(), c in span(), code in 0u32..20) {
            prop_assert_eq!(a.meet(b), b.meet(a));
            prop_assert_eq!(a.meet(b).meet(c), a.meet(b.meet(c)));
            prop_assert_eq!(a.meet(a), a);
            prop_assert_eq!(a.subset(b), a.meet(b) == a);
            prop_assert_eq!(a.meet(b).contains(code), a.contains(code) && b.contains(code));
            prop_assert!(a.meet(b).width() <= a.width().min(b.width()));
            prop_assert_eq!(a.overlap(b), a.meet(b) != Span::EMPTY);
            prop_assert!(a.subset(a.join(b)) && b.subset(a.join(b)));
            prop_assert_eq!(a.width() as usize, (0..20).filter(|&code| a.contains(code)).count());
        }
    }
}
