//! A snapshot, encoded: the private table at one moment.

use crate::model::{RecordKey, Row, Value, Values};
use std::fmt;

/// A private table: one row per person, sorted by key, all columns as codes.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Table {
    keys: Vec<RecordKey>,
    quasi: Vec<Vec<u32>>,
    sensitive: Vec<Value>,
    public: Vec<u32>,
    /// The texts of the sensitive values, for the whole series so far.
    pub values: Values,
    /// The texts behind the public columns: one row of cells per combination that occurs, sorted.
    pub public_texts: Vec<Vec<Box<str>>>,
}

impl Table {
    /// A table from its columns. `public` is empty where there are no public columns.
    ///
    /// # Panics
    /// If the columns differ in length or the keys do not ascend. Readers sort rows and refuse duplicates.
    pub fn new(
        keys: Vec<RecordKey>,
        quasi: Vec<Vec<u32>>,
        sensitive: Vec<Value>,
        values: Values,
        public: Vec<u32>,
        public_texts: Vec<Vec<Box<str>>>,
    ) -> Table {
        assert!(keys.len() < u32::MAX as usize, "rows are numbered with 32 bits");
        assert!(keys.is_sorted_by(|a, b| a < b), "a table is sorted by key, each key once");
        assert!(quasi.iter().all(|column| column.len() == keys.len()), "every column has every row");
        assert!(sensitive.len() == keys.len(), "every row has a sensitive value");
        assert!(
            public.is_empty() && public_texts.is_empty() || public.len() == keys.len(),
            "public is whole or absent"
        );
        Table { keys, quasi, sensitive, public, values, public_texts }
    }

    /// The first rows. Keys are keyed hashes, so these are a random sample of people.
    #[must_use]
    pub fn first(&self, rows: usize) -> Table {
        let rows = rows.min(self.len());
        Table {
            keys: self.keys[..rows].to_vec(),
            quasi: self.quasi.iter().map(|column| column[..rows].to_vec()).collect(),
            sensitive: self.sensitive[..rows].to_vec(),
            public: self.public.iter().take(rows).copied().collect(),
            values: self.values.clone(),
            public_texts: self.public_texts.clone(),
        }
    }

    /// The people whose keys begin with the bits of `part`, if keys are cut into `parts` parts. `parts` is a power of two.
    #[must_use]
    pub fn part(&self, part: usize, parts: usize) -> Table {
        let rows = RecordKey::part_of(&self.keys, |key| *key, part, parts);
        Table {
            keys: self.keys[rows.clone()].to_vec(),
            quasi: self.quasi.iter().map(|column| column[rows.clone()].to_vec()).collect(),
            sensitive: self.sensitive[rows.clone()].to_vec(),
            public: if self.public.is_empty() { Vec::new() } else { self.public[rows].to_vec() },
            values: self.values.clone(),
            public_texts: self.public_texts.clone(),
        }
    }

    /// This table and another, whose keys all come after.
    #[must_use]
    pub fn followed_by(mut self, mut next: Table) -> Table {
        assert!(
            self.keys.last() < next.keys.first() || next.keys.is_empty(),
            "a table is sorted by key, each key once"
        );
        self.keys.append(&mut next.keys);
        self.quasi.iter_mut().zip(&mut next.quasi).for_each(|(mine, theirs)| mine.append(theirs));
        self.sensitive.append(&mut next.sensitive);
        self.public.append(&mut next.public);
        self
    }

    /// The table without some people, given by their keys, sorted; and how many it lost. Public texts that nobody has any
    /// more are dropped.
    #[must_use]
    pub fn without(self, keys: &[RecordKey]) -> (Table, usize) {
        if keys.is_empty() {
            return (self, 0);
        }
        let stays: Vec<usize> = (0..self.len()).filter(|&row| keys.binary_search(&self.keys[row]).is_err()).collect();
        let lost = self.len() - stays.len();
        if lost == 0 {
            return (self, 0);
        }
        let pick = |column: &[u32]| stays.iter().map(|&row| column[row]).collect::<Vec<u32>>();
        let mut public = if self.public.is_empty() { Vec::new() } else { pick(&self.public) };
        let mut used = public.clone();
        used.sort_unstable();
        used.dedup();
        public.iter_mut().for_each(|code| *code = used.partition_point(|old| old < code) as u32);
        let table = Table {
            keys: stays.iter().map(|&row| self.keys[row]).collect(),
            quasi: self.quasi.iter().map(|column| pick(column)).collect(),
            sensitive: stays.iter().map(|&row| self.sensitive[row]).collect(),
            public,
            public_texts: used.iter().map(|&code| self.public_texts[code as usize].clone()).collect(),
            values: self.values,
        };
        (table, lost)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = Row> + use<> {
        (0..self.keys.len() as u32).map(Row)
    }

    /// The keys, ascending.
    pub fn keys(&self) -> &[RecordKey] {
        &self.keys
    }

    /// The key of a row.
    pub fn key(&self, row: Row) -> RecordKey {
        self.keys[row.index()]
    }

    /// The row with this key.
    pub fn find(&self, key: RecordKey) -> Option<Row> {
        self.keys.binary_search(&key).ok().map(|index| Row(index as u32))
    }

    /// How many quasi attributes there are.
    pub fn quasi_count(&self) -> usize {
        self.quasi.len()
    }

    /// The codes of one quasi attribute.
    pub fn quasi(&self, attribute: usize) -> &[u32] {
        &self.quasi[attribute]
    }

    /// Gives the values of one quasi attribute other codes.
    pub fn recode(&mut self, attribute: usize, code: impl Fn(u32) -> u32) {
        self.quasi[attribute].iter_mut().for_each(|old| *old = code(*old));
    }

    /// Gives some rows one code of a quasi attribute.
    pub fn set(&mut self, attribute: usize, rows: &[Row], code: u32) {
        rows.iter().for_each(|row| self.quasi[attribute][row.index()] = code);
    }

    /// Reads the quasi codes of a row.
    pub fn read_point(&self, row: Row, point: &mut Vec<u32>) {
        point.clear();
        point.extend(self.quasi.iter().map(|codes| codes[row.index()]));
    }

    /// The sensitive values.
    pub fn sensitive(&self) -> &[Value] {
        &self.sensitive
    }

    /// Per row, which row of `public_texts` it has; empty where there are no public columns.
    pub fn public(&self) -> &[u32] {
        &self.public
    }

    /// Feeds everything in the table to a hash, in a fixed order. `name` translates quasi codes, so that the hash does
    /// not depend on them.
    pub fn feed(&self, name: impl Fn(usize, u32) -> u64, hash: &mut impl FnMut(&[u8])) {
        let mut bytes = Vec::with_capacity(1 << 16);
        let mut add = |number: u64, width: usize| {
            bytes.extend_from_slice(&number.to_le_bytes()[..width]);
            if bytes.len() > (1 << 16) - 16 {
                hash(&bytes);
                bytes.clear();
            }
        };
        add(self.keys.len() as u64, 8);
        self.keys.iter().for_each(|key| {
            add(key.hi, 8);
            add(key.lo, 8);
        });
        for (attribute, codes) in self.quasi.iter().enumerate() {
            codes.iter().for_each(|&code| add(name(attribute, code), 8));
        }
        self.sensitive.iter().for_each(|value| add(u64::from(value.0), 4));
        self.public.iter().for_each(|&code| add(u64::from(code), 4));
        hash(&bytes);
        for text in self.public_texts.iter().flatten() {
            hash(&(text.len() as u64).to_le_bytes());
            hash(text.as_bytes());
        }
    }

    /// Whether two rows of two tables have the same quasi codes.
    pub fn same_quasi(&self, row: Row, other: &Table, other_row: Row) -> bool {
        self.quasi.iter().zip(&other.quasi).all(|(mine, theirs)| mine[row.index()] == theirs[other_row.index()])
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Table({} rows, {} quasi attributes)", self.keys.len(), self.quasi.len())
    }
}
