//! Remembers which rows of the earlier views a combination of join spans matches.
//!
//! There are few distinct combinations of join spans, however many rows there are. Each is looked up once, as an AND of
//! bit sets, and its matches are summed up once.

use crate::grouping::views::history::{EarlierViews, Keep, Profile};
use crate::grouping::views::link::Bits;
use crate::model::{Bound, Impossible, Span};
use rustc_hash::FxHashMap;
use std::sync::{Arc, RwLock};

/// The earlier views of one check, with what was looked up so far.
#[derive(Debug)]
pub(super) struct Matcher {
    pub(super) history: EarlierViews,
    pub(super) bound: Bound,
    rules: Vec<Impossible>,
    keep: Keep,
    /// The names of the new view's join columns.
    names: Vec<String>,
    bits: RwLock<FxHashMap<(usize, Span), Arc<Bits>>>,
    profiles: RwLock<FxHashMap<Box<[Span]>, Arc<Profile>>>,
}

const POISONED: &str = "no look-up panics while it holds the lock";

impl Matcher {
    pub(super) fn new(
        history: EarlierViews,
        bound: Bound,
        rules: &[Impossible],
        keep: Keep,
        names: Vec<String>,
    ) -> Matcher {
        let (bits, profiles) = (RwLock::default(), RwLock::default());
        Matcher { history, bound, rules: rules.to_vec(), keep, names, bits, profiles }
    }

    /// How many join columns the new view has.
    pub(super) fn width(&self) -> usize {
        self.names.len()
    }

    /// What rows with these join spans match.
    pub(super) fn profile(&self, spans: &[Span]) -> Arc<Profile> {
        if let Some(profile) = self.profiles.read().expect(POISONED).get(spans) {
            return profile.clone();
        }
        let bits = self.met(spans);
        let named: Vec<(&str, Span)> = self.names.iter().map(String::as_str).zip(spans.iter().copied()).collect();
        let factor = self.history.factor(&named, &self.rules);
        let profile = Arc::new(self.history.profile(&bits, factor, &self.bound, self.keep));
        // Another thread may have been first. Its answer is the same, and all threads share one of them.
        self.profiles.write().expect(POISONED).entry(spans.into()).or_insert(profile).clone()
    }

    /// Which combinations of the earlier views match rows with these spans.
    pub(super) fn met(&self, spans: &[Span]) -> Bits {
        let mut met = vec![u64::MAX; self.history.len().div_ceil(64)].into_boxed_slice();
        for (column, &span) in spans.iter().enumerate() {
            let bits = self.column_bits(column, span);
            met.iter_mut().zip(bits.iter()).for_each(|(met, bits)| *met &= bits);
        }
        met
    }

    fn column_bits(&self, column: usize, span: Span) -> Arc<Bits> {
        if let Some(bits) = self.bits.read().expect(POISONED).get(&(column, span)) {
            return bits.clone();
        }
        let bits = Arc::new(self.history.bits(&self.names[column], span, &self.rules));
        self.bits.write().expect(POISONED).entry((column, span)).or_insert(bits).clone()
    }
}
