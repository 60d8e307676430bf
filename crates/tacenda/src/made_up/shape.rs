//! What a kind of made-up people looks like: the columns, and how one person is drawn.

use crate::model::{Domain, Rng, Role, Schema, Value, Values};
use jiff::ToSpan;
use jiff::civil::Date;

/// How a kind of people is drawn. All randomness comes from the given stream.
pub trait Shape: Sync {
    /// The columns and their texts.
    fn columns(&self) -> &Columns;

    /// Draws the quasi codes of someone who is first seen in `release`, counted from 1.
    fn draw_quasi(&self, rng: &mut Rng, release: u32, quasi: &mut [u32]);

    /// Draws the sensitive value of someone with these quasi codes.
    fn draw_value(&self, rng: &mut Rng, quasi: &[u32]) -> Value;

    /// Changes the quasi codes of a person who moves.
    fn relocate(&self, rng: &mut Rng, quasi: &mut [u32]);

    /// Changes the quasi codes of a person who returns in `release`; by default nothing.
    fn come_back(&self, _rng: &mut Rng, _release: u32, _quasi: &mut [u32]) {}

    /// Which row of the public texts a person has.
    fn public(&self, _id: u64) -> u32 {
        0
    }

    /// Writes the identifier's cell.
    fn write_identifier(&self, id: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(itoa::Buffer::new().format(id).as_bytes());
    }

    /// Writes the cell of a column that is dropped.
    fn write_dropped(&self, _index: usize, _id: u64, _out: &mut Vec<u8>) {}

    /// The policy file and the hierarchy files that go with the data.
    fn project(&self) -> Vec<ProjectFile>;
}

/// A file of a project folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProjectFile {
    /// Its path below the folder.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// The columns of a shape, and the text of every code.
#[derive(Clone, Debug)]
pub struct Columns {
    /// The columns by role.
    pub schema: Schema,
    /// The sensitive values.
    pub values: Values,
    /// The texts of the public columns; empty where there are none.
    pub public_texts: Vec<Vec<Box<str>>>,
    texts: Vec<Vec<Box<str>>>,
}

impl Columns {
    /// Works out the text of every code. Domains are small here.
    pub fn new(schema: Schema, values: Values, public_texts: Vec<Vec<Box<str>>>) -> Columns {
        let texts = schema
            .quasi
            .iter()
            .map(|attribute| (0..attribute.size()).map(|code| exact_text(&attribute.domain, code)).collect())
            .collect();
        Columns { schema, values, public_texts, texts }
    }

    /// The header line of a CSV.
    pub fn header(&self) -> String {
        let mut names = vec![self.schema.identifier.as_str()];
        names.extend(self.schema.dropped.iter().map(String::as_str));
        names.extend(self.schema.published_columns());
        names.join(",") + "\n"
    }

    /// Appends one CSV line. No text of a shape needs quoting.
    pub fn write_line(&self, shape: &impl Shape, person: &CsvLine<'_>, out: &mut Vec<u8>) {
        shape.write_identifier(person.id, out);
        for index in 0..self.schema.dropped.len() {
            out.push(b',');
            shape.write_dropped(index, person.id, out);
        }
        for &(role, index) in &self.schema.order {
            out.push(b',');
            let text = match role {
                Role::Quasi => &self.texts[index][person.quasi[index] as usize],
                Role::Sensitive => &self.values.cells(person.value)[index],
                Role::Public => &self.public_texts[person.public as usize][index],
                Role::Identifier | Role::Drop => unreachable!("neither is published"),
            };
            out.extend_from_slice(text.as_bytes());
        }
        out.push(b'\n');
    }
}

/// One person as a line of a CSV.
pub struct CsvLine<'a> {
    /// Their number.
    pub id: u64,
    /// Their quasi codes.
    pub quasi: &'a [u32],
    /// Their sensitive value.
    pub value: Value,
    /// Which row of the public texts they have.
    pub public: u32,
}

/// The days from `first` to `last`, counted from 1970-01-01, as a half-open domain.
pub(super) fn days(first: Date, last: Date) -> Domain {
    Domain::Date { lo: day_number(first), hi: day_number(last) }
}

/// Days since 1970-01-01.
pub(super) fn day_number(date: Date) -> i64 {
    i64::from(date.since(Date::constant(1970, 1, 1)).expect("made-up dates are near").get_days())
}

/// Rows of a hierarchy file, from lines such as `a;x;*`.
pub(super) fn rows(text: &str) -> Vec<Vec<String>> {
    text.lines().map(|line| line.split(';').map(String::from).collect()).collect()
}

fn exact_text(domain: &Domain, code: u32) -> Box<str> {
    match domain {
        Domain::Category(tree) => tree.leaf_label(code).into(),
        Domain::Integer { lo, .. } => (lo + i64::from(code)).to_string().into(),
        Domain::Date { lo, .. } => {
            let date = Date::constant(1970, 1, 1).saturating_add((lo + i64::from(code)).days());
            date.to_string().into()
        }
        Domain::Real { .. } => unreachable!("no shape has a real attribute"),
    }
}
