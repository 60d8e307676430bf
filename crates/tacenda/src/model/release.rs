//! A release: what is published. And its private counterpart: who is in which row.

use crate::model::{PeopleCounts, Quasi, Recoding, Regions, Row, Schema, Span, Traces, Value, Values, number};
use std::fmt;
use std::ops::Range;

/// A published table. Rows are sorted by group, and within a group by sensitive value.
///
/// Everything in here is public. Nothing in it depends on the order of the input, on internal
/// numbers, or on which row is a counterfeit.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Release {
    /// 1 for the first release of a series.
    pub number: u32,
    /// The steward's name for it, such as `2026-Q3`.
    pub label: String,
    /// One past the last row of each group.
    pub ends: Vec<u32>,
    /// The regions of the groups.
    pub regions: Regions,
    /// The sensitive value of each row.
    pub sensitive: Vec<Value>,
    /// How many rows of each group are counterfeits.
    pub counterfeits: Vec<u32>,
    /// Per row, which row of `public_texts` it has; empty where there are no public columns.
    pub public: Vec<u32>,
    /// The texts behind `public`.
    pub public_texts: Vec<Vec<Box<str>>>,
    /// Per row, the linked id; empty unless the policy publishes them.
    pub linked: Vec<u64>,
    /// The texts of the sensitive values. It may hold more than occur here; only those that occur are written.
    pub values: Values,
    /// How many people have which quasi values, column by column and rounded; only if the promise allows it.
    pub counts: Option<PeopleCounts>,
}

/// Private: which person is in which row of a release.
#[derive(Clone, Default, Eq, PartialEq)]
pub struct Membership {
    /// Per row of the release, the row of the table, or [`Membership::COUNTERFEIT`].
    pub rows: Vec<u32>,
    /// Per group of the release, its place in the policy's order.
    pub policy_groups: Vec<u32>,
    /// Rows of the table that were left out.
    pub withheld: Vec<Row>,
}

impl Release {
    /// The release, which was published with the columns of `own`, with the quasi attributes of `all` in their order;
    /// and which of them it has. The order may change between releases, and a view has only some attributes. A missing
    /// attribute is the root.
    pub fn laid_out(self, own: &Schema, all: &Schema) -> (Release, Vec<bool>) {
        let place = |quasi: &Quasi| own.quasi.iter().position(|other| other.name == quasi.name);
        let places: Vec<Option<usize>> = all.quasi.iter().map(place).collect();
        let columns = places.iter().map(Option::is_some).collect();
        // A column may have gained values since then, so the release is read with its own values.
        let moved = |(at, place): (usize, &Option<usize>)| {
            place.map_or(Recoding::Same, |place| all.quasi[at].recoding_from(&own.quasi[place]))
        };
        let moves: Vec<Recoding> = places.iter().enumerate().map(moved).collect();
        let in_place =
            places.len() == own.quasi.len() && places.iter().enumerate().all(|(at, &place)| Some(at) == place);
        if in_place && moves.iter().all(|recoding| *recoding == Recoding::Same) {
            return (self, columns);
        }
        let mut regions = Regions::new(places.len());
        for region in self.regions.iter() {
            let span = |(at, place): (usize, &Option<usize>)| {
                place.map_or(all.quasi[at].root(), |place| moves[at].span(region[place]))
            };
            regions.push(&places.iter().enumerate().map(span).collect::<Vec<Span>>());
        }
        let moved = |name: &str, span: Span| match all.quasi.iter().position(|quasi| quasi.name == name) {
            Some(at) => moves[at].span(span),
            None => span,
        };
        let counts = self.counts.map(|counts| counts.moved(moved));
        (Release { regions, counts, ..self }, columns)
    }

    /// Some groups of the release, given ascending, without the counts beside the rows.
    #[must_use]
    pub fn only(&self, groups: &[u32]) -> Release {
        let mut part = Release {
            number: self.number,
            label: self.label.clone(),
            regions: Regions::new(self.regions.attributes()),
            public_texts: self.public_texts.clone(),
            values: self.values.clone(),
            ..Release::default()
        };
        for &group in groups {
            let rows = self.group_rows(group as usize);
            part.regions.push(self.region(group as usize));
            part.counterfeits.push(self.counterfeits[group as usize]);
            part.public.extend_from_slice(self.public.get(rows.clone()).unwrap_or_default());
            part.linked.extend_from_slice(self.linked.get(rows.clone()).unwrap_or_default());
            part.sensitive.extend_from_slice(&self.sensitive[rows]);
            part.ends.push(part.sensitive.len() as u32);
        }
        part
    }

    /// How many groups there are.
    pub fn group_count(&self) -> usize {
        self.ends.len()
    }

    /// How many rows there are, counterfeits included.
    pub fn row_count(&self) -> usize {
        self.sensitive.len()
    }

    /// How many counterfeits there are.
    pub fn counterfeit_count(&self) -> u64 {
        self.counterfeits.iter().map(|&count| u64::from(count)).sum()
    }

    /// The rows of a group.
    pub fn group_rows(&self, group: usize) -> Range<usize> {
        let start = if group == 0 { 0 } else { self.ends[group - 1] as usize };
        start..self.ends[group] as usize
    }

    /// The sensitive values of a group, ascending.
    pub fn group_values(&self, group: usize) -> &[Value] {
        &self.sensitive[self.group_rows(group)]
    }

    /// The region of a group.
    pub fn region(&self, group: usize) -> &[Span] {
        self.regions.get(group)
    }

    /// The value set of a group: its sensitive values, ascending, each once.
    pub fn value_set(&self, group: usize) -> Vec<Value> {
        let mut set = self.group_values(group).to_vec();
        set.dedup();
        set
    }

    /// A digest of everything in it, for telling whether two releases are the same.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut numbers = |part: &mut dyn Iterator<Item = u64>| {
            let mut count = 0u64;
            for number in part {
                hasher.update(&number.to_le_bytes());
                count += 1;
            }
            hasher.update(&count.to_le_bytes());
        };
        numbers(&mut [u64::from(self.number)].into_iter());
        numbers(&mut self.label.bytes().map(u64::from));
        numbers(&mut self.ends.iter().map(|&end| u64::from(end)));
        numbers(&mut self.regions.iter().flatten().map(|span| u64::from(span.lo) << 32 | u64::from(span.hi)));
        numbers(&mut self.sensitive.iter().map(|value| u64::from(value.0)));
        numbers(&mut self.counterfeits.iter().map(|&count| u64::from(count)));
        numbers(&mut self.public.iter().map(|&cells| u64::from(cells)));
        numbers(&mut self.linked.iter().copied());
        if let Some(counts) = &self.counts {
            let cells = counts.columns.iter().flat_map(|column| &column.cells);
            numbers(&mut cells.flat_map(|(span, people)| [u64::from(span.lo), u64::from(span.hi), *people]));
        }
        hasher.finalize().to_hex().to_string()
    }

    /// How many people are alone in a group with counterfeits.
    pub fn alone(&self) -> u64 {
        (0..self.group_count()).filter(|&group| self.people(group) == 1 && self.counterfeits[group] > 0).count() as u64
    }

    /// The sentence about them, the same everywhere; `None` if there is nobody.
    pub fn alone_sentence(&self) -> Option<String> {
        let who = match self.alone() {
            0 => return None,
            1 => "1 person stands".to_string(),
            many => format!("{} people stand", number(many)),
        };
        Some(format!(
            "{who} in a group with artificial rows only. Everyone can see that the group holds one person, but not \
             which row is theirs."
        ))
    }

    /// Whether the rows of a group are suppressed: any value in every quasi column that the file has.
    pub fn is_suppressed(&self, group: usize, schema: &Schema, traces: Option<&Traces>) -> bool {
        let has = |at: usize| traces.is_none_or(|traces| traces.columns.get(at).copied().unwrap_or(true));
        let mut spans = self.region(group).iter().zip(&schema.quasi).enumerate().filter(|(at, _)| has(*at)).peekable();
        spans.peek().is_some() && spans.all(|(_, (span, quasi))| *span == quasi.root())
    }

    /// How many people are in a group.
    pub fn people(&self, group: usize) -> u32 {
        self.group_rows(group).len() as u32 - self.counterfeits[group]
    }
}

impl Membership {
    /// Marks a row with nobody behind it.
    pub const COUNTERFEIT: u32 = u32::MAX;

    /// The person in a row of the release.
    pub fn person(&self, release_row: usize) -> Option<Row> {
        let row = self.rows[release_row];
        (row != Membership::COUNTERFEIT).then_some(Row(row))
    }
}

impl fmt::Debug for Membership {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Membership({} rows, {} withheld)", self.rows.len(), self.withheld.len())
    }
}
