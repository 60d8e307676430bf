//! The definition of incremental k-anonymity (paper 000, section 2), for any set of releases: what they say together about
//! each person. Tests hold series against it.

use std::collections::BTreeMap;
use tacenda::model::Span;

/// What a set of releases says together about each person: the definition.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InferenceTable {
    regions: BTreeMap<u64, Vec<Span>>,
}

impl InferenceTable {
    /// Lays one more release over the others: whom it says what of.
    pub fn observe<'a>(&mut self, rows: impl IntoIterator<Item = (u64, &'a [Span])>) {
        for (person, region) in rows {
            match self.regions.get_mut(&person) {
                Some(known) => known.iter_mut().zip(region).for_each(|(known, span)| *known = known.meet(*span)),
                None => _ = self.regions.insert(person, region.to_vec()),
            }
        }
    }

    /// What is inferred of a person.
    pub fn region(&self, person: u64) -> Option<&[Span]> {
        self.regions.get(&person).map(Vec::as_slice)
    }

    /// Per person, how many people have exactly the same inferred region, they themselves included.
    pub fn class_sizes(&self) -> BTreeMap<u64, u32> {
        let mut sizes: BTreeMap<&[Span], u32> = BTreeMap::new();
        self.regions.values().for_each(|region| *sizes.entry(region).or_default() += 1);
        self.regions.iter().map(|(&person, region)| (person, sizes[region.as_slice()])).collect()
    }

    /// How many people's inferred regions hold `codes`.
    pub fn candidates(&self, codes: &[u32]) -> u32 {
        let holds = |region: &&Vec<Span>| region.iter().zip(codes).all(|(span, &code)| span.contains(code));
        self.regions.values().filter(holds).count() as u32
    }
}

/// Zip 20430 to 20439, female then male, age from 0.
fn region(text: &str) -> Vec<Span> {
    let span = |text: &str| {
        let (lo, hi) = text.split_once('-').unwrap_or((text, text));
        Span::new(lo.parse().unwrap(), hi.parse().unwrap())
    };
    text.split_whitespace().map(span).collect()
}

fn observe(table: &mut InferenceTable, rows: &[(u64, &str)]) {
    let rows: Vec<(u64, Vec<Span>)> = rows.iter().map(|&(case, text)| (case, region(text))).collect();
    table.observe(rows.iter().map(|(case, region)| (*case, region.as_slice())));
}

/// science G5: tables 2 and 5 of paper 000 give table 6.
#[test]
fn g5_tables_2_and_5_single_people_out() {
    let mut table = InferenceTable::default();
    observe(&mut table, &[(1, "0-9 0-1 21-48"), (2, "0-9 0-1 21-48"), (3, "0-9 0 26-31"), (4, "0-9 0 26-31")]);
    assert!(table.class_sizes().values().all(|&size| size == 2));
    let second =
        [(1, "3 0 21-26"), (2, "7 1 48-54"), (3, "3 0 21-26"), (4, "0-9 0 31"), (5, "7 1 48-54"), (6, "0-9 0 31")];
    observe(&mut table, &second);
    assert_eq!(table.class_sizes().into_iter().collect::<Vec<_>>(), [(1, 1), (2, 1), (3, 1), (4, 2), (5, 1), (6, 2)]);
    assert_eq!(table.region(2), Some(&region("7 1 48")[..]));
    assert_eq!(table.region(3), Some(&region("3 0 26")[..]));
    let true_codes = [[3, 0, 21], [7, 1, 48], [3, 0, 26], [7, 0, 31], [7, 1, 54], [5, 0, 31]];
    assert_eq!(true_codes.map(|codes| table.candidates(&codes)), [1, 2, 2, 2, 1, 2]);
}
