//! Sensitive values and sets of them.
//!
//! A value is the combination of all sensitive attributes. Its number stays the same for the whole series: values new
//! in a release are numbered after all older ones, in the order of their texts.

use crate::model::Release;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::fmt;
use std::hash::BuildHasher;
use unicode_normalization::UnicodeNormalization;

/// A sensitive value of the series.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Value(pub u32);

impl Value {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The texts of all values of a series: one cell per sensitive attribute, empty for "not recorded".
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Values {
    texts: Vec<Box<[Box<str>]>>,
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The cells of a value.
    pub fn cells(&self, value: Value) -> &[Box<str>] {
        &self.texts[value.index()]
    }

    /// All values in order.
    pub fn iter(&self) -> impl Iterator<Item = (Value, &[Box<str>])> {
        self.texts.iter().enumerate().map(|(index, cells)| (Value(index as u32), &cells[..]))
    }

    /// Which value has which cells.
    pub fn index(&self) -> FxHashMap<&[Box<str>], Value> {
        self.iter().map(|(value, cells)| (cells, value)).collect()
    }

    /// Adds the values that are not there yet, sorted by text, after those that are.
    pub fn extend(&mut self, cells: impl IntoIterator<Item = Box<[Box<str>]>>) {
        let known = self.index();
        let mut new: Vec<Box<[Box<str>]>> = cells.into_iter().filter(|cells| !known.contains_key(&cells[..])).collect();
        new.sort_unstable();
        new.dedup();
        self.texts.append(&mut new);
    }

    /// The values that repeat another one in another spelling. Counted separately, they would look diverse.
    pub fn spelled_twice(&self) -> Vec<Value> {
        let mut first: FxHashMap<Vec<String>, Value> = FxHashMap::default();
        let is_second = |&(value, cells): &(Value, &[Box<str>])| {
            *first.entry(cells.iter().map(|cell| plain_spelling(cell)).collect()).or_insert(value) != value
        };
        self.iter().filter(is_second).map(|(value, _)| value).collect()
    }

    /// Forgets the texts of a value. Its number stays, so that those of others do not move; what stands there instead is no
    /// text of a table, because those have no such character.
    /// Returns whether there was a text.
    pub fn blank(&mut self, value: Value) -> bool {
        let Some(texts) = self.texts.get_mut(value.index()) else { return false };
        let blank: Box<str> = format!("\u{1}{}", value.0).into();
        let had_text = texts.iter().any(|text| *text != blank);
        texts.fill(blank);
        had_text
    }

    /// Takes the values in the order given; for reading back what was stored.
    pub fn from_ordered(texts: Vec<Box<[Box<str>]>>) -> Values {
        Values { texts }
    }

    /// Values of one attribute, sorted and numbered from 0; for tests and generators.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Values {
        let mut values = Values::default();
        values.extend(texts.into_iter().map(|text| vec![Box::from(text)].into_boxed_slice()));
        values
    }
}

/// A text without mere differences of spelling: case, blanks, the encoding of letters (an accent may be a separate
/// character), invisible characters, letters of other alphabets that look the same, points and quotes around it, and `.0`
/// after a whole number. A sign such as `+` or `?` says something: `A+` and `A-` are two values.
pub(crate) fn plain_spelling(text: &str) -> String {
    let text: String = text.nfkc().filter(|letter| !is_invisible(*letter)).collect::<String>().to_lowercase();
    let text: String = text.nfkc().map(looks_like).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.parse::<f64>() {
        Ok(_) if text.contains('.') => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        Ok(_) => text,
        // A text of nothing else stays as it is.
        Err(_) => match text
            .trim_matches(['.', ',', ';', ':', '\'', '"', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}', ' '])
        {
            "" => text,
            inner => inner.to_string(),
        },
    }
}

/// Whether nothing is drawn for a letter: Unicode's default ignorable characters.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The Latin letter that a small Cyrillic or Greek letter, or its capital, looks like. Letters that stand for something of
/// their own beside Latin ones are left out, such as the micro sign.
fn looks_like(letter: char) -> char {
    const LOOKS: [(&str, &str); 2] = [("авекмнорстухіјѕһԁԛԝ", "abekmhopctyxijshdqw"), ("αβεικορτχ", "abeikoptx")];
    let same = |(others, latin): &(&str, &str)| others.chars().zip(latin.chars()).find(|(other, _)| *other == letter);
    if letter.is_ascii() { letter } else { LOOKS.iter().find_map(same).map_or(letter, |(_, latin)| latin) }
}

impl fmt::Debug for Values {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Values({} values)", self.texts.len())
    }
}

/// A set of sensitive values that groups of this series have had.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ValueSetId(pub u32);

/// All value sets of a series, each with a permanent number. There may be as many as groups, so they lie one after another.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct ValueSets {
    values: Vec<Value>,
    ends: Vec<u32>,
    /// The number of each set at the first free place from its hash on, or [`ValueSets::FREE`]: at least half of the places.
    places: Vec<u32>,
}

impl ValueSets {
    const FREE: u32 = u32::MAX;

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The values of a set, ascending.
    pub fn get(&self, id: ValueSetId) -> &[Value] {
        let at = id.0 as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.values[start..self.ends[at] as usize]
    }

    /// All sets in order.
    pub fn iter(&self) -> impl Iterator<Item = (ValueSetId, &[Value])> {
        (0..self.ends.len() as u32).map(|number| (ValueSetId(number), self.get(ValueSetId(number))))
    }

    /// The number of a set, if the series has had it.
    pub fn find(&self, set: &[Value]) -> Option<ValueSetId> {
        let number = *self.places.get(self.place(set)?)?;
        (number != ValueSets::FREE).then_some(ValueSetId(number))
    }

    /// The place of a set, or where it would be; `None` where there are no places.
    fn place(&self, set: &[Value]) -> Option<usize> {
        let last = self.places.len().checked_sub(1)?;
        let mut place = FxBuildHasher.hash_one(set) as usize & last;
        while self.places[place] != ValueSets::FREE && self.get(ValueSetId(self.places[place])) != set {
            place = (place + 1) & last;
        }
        Some(place)
    }

    /// The value set of each group of a release.
    pub fn of_release(&mut self, release: &Release) -> Vec<ValueSetId> {
        (0..release.group_count()).map(|group| self.intern(&release.value_set(group))).collect()
    }

    /// The number of a set, new if need be.
    ///
    /// # Panics
    /// If the values are not ascending.
    pub fn intern(&mut self, set: &[Value]) -> ValueSetId {
        assert!(set.is_sorted_by(|a, b| a < b), "a value set is ascending");
        if let Some(id) = self.find(set) {
            return id;
        }
        let id = ValueSetId(self.ends.len() as u32);
        self.values.extend_from_slice(set);
        self.ends.push(self.values.len() as u32);
        if 2 * self.ends.len() > self.places.len() {
            self.places = vec![ValueSets::FREE; (2 * self.ends.len()).next_power_of_two()];
            (0..id.0).for_each(|number| self.take_place(ValueSetId(number)));
        }
        self.take_place(id);
        id
    }

    fn take_place(&mut self, id: ValueSetId) {
        let place = self.place(self.get(id)).expect("there are free places");
        self.places[place] = id.0;
    }
}

impl fmt::Debug for ValueSets {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ValueSets({} sets)", self.len())
    }
}

#[cfg(test)]
mod sets {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every set has one number, for ever, and is found again.
        #[test]
        fn a_set_keeps_its_number(sets in proptest::collection::vec(proptest::collection::btree_set(0u32..9, 0..5), 0..200)) {
            let (mut interned, mut plain): (ValueSets, Vec<Vec<Value>>) = Default::default();
            for set in sets {
                let set: Vec<Value> = set.into_iter().map(Value).collect();
                let number = plain.iter().position(|known| *known == set);
                prop_assert_eq!(interned.find(&set), number.map(|number| ValueSetId(number as u32)));
                let number = number.unwrap_or_else(|| {
                    plain.push(set.clone());
                    plain.len() - 1
                });
                prop_assert_eq!(interned.intern(&set), ValueSetId(number as u32));
            }
            let all: Vec<(ValueSetId, &[Value])> = interned.iter().collect();
            let expected = plain.iter().enumerate().map(|(number, set)| (ValueSetId(number as u32), &set[..]));
            prop_assert_eq!(all, expected.collect::<Vec<_>>());
            prop_assert_eq!(interned.len(), plain.len());
        }
    }
}

#[cfg(test)]
mod spelling {
    use super::*;

    #[test]
    fn a_value_in_another_spelling_is_found() {
        let twice = |texts: &[&str]| {
            let values = Values::of(texts.iter().copied());
            values.spelled_twice().into_iter().map(|value| values.cells(value)[0].to_string()).collect::<Vec<_>>()
        };
        assert_eq!(twice(&["flu", "Flu", " flu", "gout"]), ["Flu", "flu"]);
        assert_eq!(twice(&["1", "1.0", "1.50", "1.5", "10", "100"]), ["1.0", "1.50"]);
        assert_eq!(twice(&["hay  fever", "Hay fever"]).len(), 1);
        // An accent as part of its letter and as a character of its own, a wide letter, a space without width.
        assert_eq!(twice(&["caf\u{e9}", "CAFE\u{301}", "gout", "\u{ff47}out", "gou\u{200b}t", "cafe"]).len(), 3);
        // Codes are not numbers, and different codes are different values.
        assert_eq!(twice(&["025", "25", "A1", "A10", ""]), [""; 0]);
    }
}
