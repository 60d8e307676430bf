//! People over time: who arrives, leaves, returns and changes from one snapshot to the next.

use crate::made_up::dice::mix;
use crate::made_up::shape::{CsvLine, ProjectFile, Shape};
use crate::model::{RecordKey, Rng, Row, Schema, Table, Value};
use rayon::slice::ParallelSliceMut;
use std::io;
use std::io::Write;

/// The most quasi attributes a shape may have.
const MOST_QUASI: usize = 8;

/// How much happens between two snapshots, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Churn {
    /// Of the people present, how many leave. As many arrive.
    pub turnover: f64,
    /// The share of arrivals who were present before, as far as there are such people.
    pub returning: f64,
    /// Of those who stay, how many have other quasi values.
    pub moving: f64,
    /// Of those who stay, how many have a new sensitive value.
    pub changing: f64,
}

impl Churn {
    /// This share leaves and as many arrive; one in ten arrivals was present before, and nobody changes.
    pub fn of(turnover: f64) -> Churn {
        Churn { turnover, returning: 0.1, moving: 0.0, changing: 0.0 }
    }
}

/// A series of snapshots to be generated.
///
/// A person's number is the low half of their key, so that a table can be written as CSV. The high half is a hash of
/// it, so that the order of a table reveals nothing.
#[derive(Clone, Debug)]
pub struct Generated<S> {
    /// What the people look like.
    pub shape: S,
    /// How many there are at the start.
    pub people: u32,
    /// How many snapshots there are.
    pub releases: u32,
    /// How much happens between two.
    pub churn: Churn,
    /// Where all chance comes from.
    pub seed: u64,
}

impl<S: Shape> Generated<S> {
    /// The columns.
    pub fn schema(&self) -> &Schema {
        &self.shape.columns().schema
    }

    /// The policy file and the hierarchy files.
    pub fn project(&self) -> Vec<ProjectFile> {
        self.shape.project()
    }

    /// The snapshots, one after another.
    pub fn tables(&self) -> Snapshots<'_, S> {
        Snapshots {
            generated: self,
            rng: Rng::from_number(self.seed),
            release: 0,
            present: Vec::new(),
            away: Vec::new(),
            next_id: 1,
        }
    }

    /// Writes a snapshot as CSV with a header, its rows in a random order.
    pub fn write_csv(&self, table: &Table, out: impl Write) -> io::Result<()> {
        let mut order: Vec<Row> = table.rows().collect();
        Rng::from_number(mix(self.seed) ^ table.len() as u64).shuffle(&mut order);
        let mut quasi = [0; MOST_QUASI];
        let mut rows = order.into_iter();
        self.write_lines(out, |write| {
            let Some(row) = rows.next() else { return false };
            for (attribute, code) in quasi[..table.quasi_count()].iter_mut().enumerate() {
                *code = table.quasi(attribute)[row.index()];
            }
            let public = table.public().get(row.index()).copied().unwrap_or(0);
            write(CsvLine { id: table.key(row).lo, quasi: &quasi, value: table.sensitive()[row.index()], public });
            true
        })
    }

    /// Writes the header and as many lines as `next` hands over, in large pieces.
    fn write_lines(
        &self,
        mut out: impl Write,
        mut next: impl FnMut(&mut dyn FnMut(CsvLine<'_>)) -> bool,
    ) -> io::Result<()> {
        const PIECE: usize = 1 << 16;
        let columns = self.shape.columns();
        let mut buffer = Vec::with_capacity(PIECE + 1024);
        buffer.extend_from_slice(columns.header().as_bytes());
        while next(&mut |line| columns.write_line(&self.shape, &line, &mut buffer)) {
            if buffer.len() >= PIECE {
                out.write_all(&buffer)?;
                buffer.clear();
            }
        }
        out.write_all(&buffer)?;
        out.flush()
    }
}

/// One person while snapshots are being generated.
#[derive(Clone, Copy)]
struct MadeUpPerson {
    key: RecordKey,
    quasi: [u32; MOST_QUASI],
    value: Value,
}

impl MadeUpPerson {
    fn draw(shape: &impl Shape, rng: &mut Rng, release: u32, id: u64) -> MadeUpPerson {
        let mut quasi = [0; MOST_QUASI];
        shape.draw_quasi(rng, release, &mut quasi);
        let value = shape.draw_value(rng, &quasi);
        MadeUpPerson { key: RecordKey { hi: mix(id), lo: id }, quasi, value }
    }
}

/// Hands out the snapshots of a [`Generated`], the first to the last.
pub struct Snapshots<'a, S> {
    generated: &'a Generated<S>,
    rng: Rng,
    release: u32,
    /// Sorted by key.
    present: Vec<MadeUpPerson>,
    away: Vec<MadeUpPerson>,
    next_id: u64,
}

impl<S: Shape> Iterator for Snapshots<'_, S> {
    type Item = Table;

    fn next(&mut self) -> Option<Table> {
        if self.release == self.generated.releases {
            return None;
        }
        self.release += 1;
        if self.release == 1 {
            self.present = self.newcomers(self.generated.people as usize);
            self.present.par_sort_unstable_by_key(|person| person.key);
        } else {
            self.evolve();
        }
        Some(self.table())
    }
}

impl<S: Shape> Snapshots<'_, S> {
    fn newcomers(&mut self, count: usize) -> Vec<MadeUpPerson> {
        let first = self.next_id;
        self.next_id += count as u64;
        let shape = &self.generated.shape;
        (first..self.next_id).map(|id| MadeUpPerson::draw(shape, &mut self.rng, self.release, id)).collect()
    }

    /// Some leave and some change; then as many arrive as have left.
    fn evolve(&mut self) {
        let Churn { turnover, returning, moving, changing } = self.generated.churn;
        let shape = &self.generated.shape;
        let mut stay = Vec::with_capacity(self.present.len());
        let mut leave = Vec::new();
        for mut person in std::mem::take(&mut self.present) {
            if self.rng.unit() < turnover {
                leave.push(person);
                continue;
            }
            if moving > 0.0 && self.rng.unit() < moving {
                shape.relocate(&mut self.rng, &mut person.quasi);
            }
            if changing > 0.0 && self.rng.unit() < changing {
                person.value = shape.draw_value(&mut self.rng, &person.quasi);
            }
            stay.push(person);
        }
        let back = ((leave.len() as f64 * returning) as usize).min(self.away.len());
        let mut arrive = self.newcomers(leave.len() - back);
        for _ in 0..back {
            let index = self.rng.below(self.away.len() as u64) as usize;
            let mut person = self.away.swap_remove(index);
            shape.come_back(&mut self.rng, self.release, &mut person.quasi);
            arrive.push(person);
        }
        self.away.append(&mut leave);
        stay.append(&mut arrive);
        stay.par_sort_by_key(|person| person.key);
        self.present = stay;
    }

    fn table(&self) -> Table {
        let columns = self.generated.shape.columns();
        let keys: Vec<RecordKey> = self.present.iter().map(|person| person.key).collect();
        let quasi = (0..columns.schema.quasi.len())
            .map(|attribute| self.present.iter().map(|person| person.quasi[attribute]).collect())
            .collect();
        let sensitive = self.present.iter().map(|person| person.value).collect();
        let public = if columns.public_texts.is_empty() {
            Vec::new()
        } else {
            keys.iter().map(|key| self.generated.shape.public(key.lo)).collect()
        };
        Table::new(keys, quasi, sensitive, columns.values.clone(), public, columns.public_texts.clone())
    }
}
