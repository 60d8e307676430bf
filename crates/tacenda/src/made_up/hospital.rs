//! A hospital that publishes its inpatients every quarter.
//!
//! Ten thousand patients; each quarter some leave, some arrive, some come back with a new admission,
//! a few move house and a few have a new diagnosis. No diagnosis is held by a quarter of the
//! patients or of the newcomers, so that m = 4 can be kept on every snapshot.

use crate::made_up::dice::{Dice, mix};
use crate::made_up::people::{Churn, Generated};
use crate::made_up::shape::{Columns, ProjectFile, Shape, day_number, days, rows};
use crate::model::{Domain, Grid, Hierarchy, Public, Quasi, Rng, Role, Schema, Sensitive, Value, Values};
use jiff::ToSpan;
use jiff::civil::Date;
use std::fmt::Write;

/// The name of the demo: the promise that answers it.
pub const DEMO: &str = "m-invariance";

/// What happens in the demo, in a few words.
pub const ABOUT: &str = "people arrive, leave, return and change";

/// The paper of the demo.
pub const CITATION: &str =
    "X. Xiao, Y. Tao. m-invariance: towards privacy preserving re-publication of dynamic datasets. SIGMOD 2007";

/// A diagnosis and how often children, adults and the old have it.
const DIAGNOSES: [(&str, [f64; 3]); 20] = [
    ("appendicitis", [9.0, 5.0, 1.5]),
    ("arrhythmia", [1.0, 4.0, 9.0]),
    ("asthma", [11.0, 5.0, 2.5]),
    ("bronchitis", [10.0, 5.0, 5.0]),
    ("cataract", [0.5, 2.0, 8.0]),
    ("concussion", [9.0, 4.0, 3.0]),
    ("depression", [4.0, 8.0, 4.0]),
    ("diabetes", [4.0, 7.0, 9.0]),
    ("dyspepsia", [5.0, 6.0, 4.0]),
    ("epilepsy", [5.0, 3.0, 2.0]),
    ("flu", [11.0, 8.0, 6.0]),
    ("fracture", [12.0, 8.0, 10.0]),
    ("gallstones", [0.5, 6.0, 5.0]),
    ("gastritis", [5.0, 8.0, 5.0]),
    ("heart failure", [0.5, 3.0, 11.0]),
    ("hernia", [3.0, 6.0, 5.0]),
    ("kidney stones", [1.0, 6.0, 3.0]),
    ("pneumonia", [6.0, 5.0, 9.0]),
    ("stroke", [0.5, 3.0, 9.0]),
    ("thyroid disorder", [2.0, 6.0, 4.0]),
];

/// People per ten years of age, from 0.
const AGES: [f64; 10] = [9.0, 6.0, 9.0, 11.0, 11.0, 13.0, 15.0, 15.0, 9.0, 2.0];

const WARD_TYPES: [(&str, f64); 6] =
    [("day", 18.0), ("double", 30.0), ("four-bed", 25.0), ("intensive", 5.0), ("short-stay", 12.0), ("single", 10.0)];

const FIRST_NAMES: [&str; 24] = [
    "Ada", "Ben", "Clara", "David", "Emma", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Katrin", "Leo", "Mina", "Noah",
    "Olga", "Paul", "Rosa", "Samir", "Tilda", "Umar", "Vera", "Wim", "Yara", "Zoe",
];
const LAST_NAMES: [&str; 24] = [
    "Adler", "Bauer", "Cramer", "Dorn", "Engel", "Fuchs", "Graf", "Haas", "Ivers", "Jansen", "Keller", "Lang", "Moser",
    "Novak", "Otto", "Peters", "Ritter", "Sommer", "Thiel", "Ulrich", "Vogt", "Weiss", "York", "Ziegler",
];

/// The areas people live in: the first two digits of their postcode, and how many live there.
const AREAS: [(u32, f64); 5] = [(12, 45.0), (13, 25.0), (14, 15.0), (16, 10.0), (20, 5.0)];

/// Postcodes of an area.
const PER_AREA: u32 = 48;

const FIRST_DAY: Date = Date::constant(2020, 1, 1);
const LAST_DAY: Date = Date::constant(2031, 1, 1);
const FIRST_QUARTER: Date = Date::constant(2026, 1, 1);

const POLICY: &str = r#"policy = 1                                  # version of this language

[series]
name    = "ward-stays"
title   = "Inpatient stays, quarterly (made up)"
contact = "data-steward@hospital.example"

[columns]                                   # every source column is named, or publishing stops
patient_id  = { role = "identifier" }
full_name   = { role = "drop" }
age         = { role = "quasi", type = "integer", domain = [0, 120] }
postcode    = { role = "quasi", type = "category", hierarchy = "hierarchies/postcode.csv" }
sex         = { role = "quasi", type = "category", values = ["F", "M"] }
admitted_on = { role = "quasi", type = "date", domain = [2020-01-01, 2031-01-01], grid = "month" }
diagnosis   = { role = "sensitive", type = "category", missing = "error" }
ward_type   = { role = "public", because = "Public bed plan, six values" }

[promise]
model = "m-invariance"
m     = 4

[counterfeits]
max_share = 0.02                            # of published rows; more is refused
[withheld]
max_share = 0.01

[output]
formats    = ["csv", "parquet"]
row_weight = true
"#;

/// The hospital's patients.
#[derive(Clone, Debug)]
pub struct Hospital {
    columns: Columns,
    ages: Dice,
    areas: Dice,
    postcodes: Dice,
    diagnoses: [Dice; 3],
    ward_types: Dice,
    quarter_starts: Vec<u32>,
}

/// Ten thousand patients over four quarters.
pub fn demo(seed: u64) -> Generated<Hospital> {
    snapshots(10_000, 4, seed)
}

/// `people` patients over `releases` quarters.
pub fn snapshots(people: u32, releases: u32, seed: u64) -> Generated<Hospital> {
    let churn = Churn { turnover: 0.2, returning: 0.25, moving: 0.02, changing: 0.005 };
    Generated { shape: Hospital::new(), people, releases, churn, seed }
}

/// What a release is called: `2026-Q1` for the first.
pub fn label(release: u32) -> String {
    format!("{}-Q{}", 2026 + (release - 1) / 4, (release - 1) % 4 + 1)
}

impl Hospital {
    /// A hospital.
    pub fn new() -> Hospital {
        let quarter = |index: i32| {
            (day_number(FIRST_QUARTER.saturating_add((3 * index).months())) - day_number(FIRST_DAY)) as u32
        };
        Hospital {
            columns: columns(),
            ages: Dice::new(&AGES),
            areas: Dice::new(&AREAS.map(|(_, weight)| weight)),
            // Some postcodes of an area are towns.
            postcodes: Dice::new(&(0..PER_AREA).map(|index| 1.0 / f64::from(index + 4)).collect::<Vec<_>>()),
            diagnoses: [0, 1, 2].map(|stage| Dice::new(&DIAGNOSES.map(|(_, weights)| weights[stage]))),
            ward_types: Dice::new(&WARD_TYPES.map(|(_, weight)| weight)),
            quarter_starts: (-3..20).map(quarter).collect(),
        }
    }

    /// A day of the quarter before the release with this number is made; the year before, for the first.
    fn admission(&self, rng: &mut Rng, release: u32) -> u32 {
        let last = (release as usize + 3).min(self.quarter_starts.len() - 1);
        let first = if release == 1 { 0 } else { last - 1 };
        let (first, last) = (self.quarter_starts[first], self.quarter_starts[last]);
        first + rng.below(u64::from(last - first)) as u32
    }

    fn postcode(&self, rng: &mut Rng) -> u32 {
        self.areas.roll(rng) * PER_AREA + self.postcodes.roll(rng)
    }
}

impl Default for Hospital {
    fn default() -> Hospital {
        Hospital::new()
    }
}

impl Shape for Hospital {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn draw_quasi(&self, rng: &mut Rng, release: u32, quasi: &mut [u32]) {
        quasi[0] = self.ages.roll(rng) * 10 + rng.below(10) as u32;
        quasi[1] = self.postcode(rng);
        quasi[2] = rng.below(2) as u32;
        quasi[3] = self.admission(rng, release);
    }

    fn draw_value(&self, rng: &mut Rng, quasi: &[u32]) -> Value {
        let stage = match quasi[0] {
            0..18 => 0,
            18..65 => 1,
            _ => 2,
        };
        // The diagnoses are listed in the order of their texts, which is how values are numbered.
        Value(self.diagnoses[stage].roll(rng))
    }

    fn relocate(&self, rng: &mut Rng, quasi: &mut [u32]) {
        quasi[1] = self.postcode(rng);
    }

    fn come_back(&self, rng: &mut Rng, release: u32, quasi: &mut [u32]) {
        quasi[3] = self.admission(rng, release);
    }

    fn public(&self, id: u64) -> u32 {
        self.ward_types.side(mix(id ^ 0x5151))
    }

    fn write_identifier(&self, id: u64, out: &mut Vec<u8>) {
        use std::io::Write;
        write!(out, "P{id:06}").expect("writing to memory cannot fail");
    }

    fn write_dropped(&self, _index: usize, id: u64, out: &mut Vec<u8>) {
        let draw = mix(id ^ 0x0abc);
        out.extend_from_slice(FIRST_NAMES[(draw % 24) as usize].as_bytes());
        out.push(b' ');
        out.extend_from_slice(LAST_NAMES[(draw / 24 % 24) as usize].as_bytes());
    }

    fn project(&self) -> Vec<ProjectFile> {
        vec![
            ProjectFile { path: "tacenda.toml".into(), text: POLICY.into() },
            ProjectFile { path: "hierarchies/postcode.csv".into(), text: postcode_file() },
        ]
    }
}

/// One line a postcode: itself, then its prefixes.
fn postcode_file() -> String {
    let mut text = String::new();
    for (area, _) in AREAS {
        for index in 0..PER_AREA {
            // Six districts of an area with eight postcodes each.
            let (district, number) = (index / 8, index % 8);
            let code = area * 1000 + district * 100 + number * 11 + 5;
            let digits = code.to_string();
            let (two, three, four) = (&digits[..2], &digits[..3], &digits[..4]);
            writeln!(text, "{digits};{four}*;{three}**;{two}***;*").expect("writing to a string cannot fail");
        }
    }
    text
}

fn columns() -> Columns {
    let postcodes = Hierarchy::from_rows(&rows(&postcode_file())).expect("the postcodes are a tree");
    let sexes = Hierarchy::flat(["F", "M"]).expect("two values are a tree");
    let mut admitted_on = Quasi::new("admitted_on", days(FIRST_DAY, LAST_DAY));
    admitted_on.grid = Grid::Lines(
        (0..132)
            .map(|month| (day_number(FIRST_DAY.saturating_add(month.months())) - day_number(FIRST_DAY)) as u32)
            .collect(),
    );
    let quasi = vec![
        Quasi::new("age", Domain::Integer { lo: 0, hi: 120 }),
        Quasi::new("postcode", Domain::Category(postcodes)),
        Quasi::new("sex", Domain::Category(sexes)),
        admitted_on,
    ];
    let mut schema = Schema::new("patient_id", quasi, vec![Sensitive::open("diagnosis")]);
    schema.dropped.push("full_name".into());
    schema.public.push(Public { name: "ward_type".into(), because: "Public bed plan, six values".into() });
    schema.order.push((Role::Public, 0));
    let public_texts = WARD_TYPES.iter().map(|(text, _)| vec![Box::from(*text)]).collect();
    Columns::new(schema, Values::of(DIAGNOSES.map(|(text, _)| text)), public_texts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Table;

    fn largest_share(values: impl Iterator<Item = Value>) -> f64 {
        let mut counts = [0u32; 20];
        values.for_each(|value| counts[value.index()] += 1);
        f64::from(*counts.iter().max().unwrap()) / f64::from(counts.iter().sum::<u32>())
    }

    #[test]
    fn four_can_be_kept_on_every_snapshot_and_for_newcomers() {
        let mut seen: Vec<Table> = Vec::new();
        for table in demo(1).tables() {
            assert!((9_900..=10_100).contains(&table.len()));
            assert!(largest_share(table.sensitive().iter().copied()) < 0.15);
            let new: Vec<Value> = table
                .rows()
                .filter(|&row| seen.iter().all(|old| old.find(table.key(row)).is_none()))
                .map(|row| table.sensitive()[row.index()])
                .collect();
            assert!(new.len() > 1000 && largest_share(new.into_iter()) < 0.2);
            seen.push(table);
        }
        assert_eq!(seen.len(), 4);
        let back =
            seen[2].keys().iter().filter(|&&key| seen[0].find(key).is_some() && seen[1].find(key).is_none()).count();
        let changed = |what: fn(&Table, &Table, crate::model::Row, crate::model::Row) -> bool| {
            let rows = seen[1].rows().filter_map(|row| seen[0].find(seen[1].key(row)).map(|old| (old, row)));
            rows.filter(|&(old, row)| what(&seen[0], &seen[1], old, row)).count()
        };
        let moved = changed(|first, second, old, row| !first.same_quasi(old, second, row));
        let other =
            changed(|first, second, old, row| first.sensitive()[old.index()] != second.sensitive()[row.index()]);
        assert!(back > 200 && moved > 80 && (10..80).contains(&other), "{back} back, {moved} moved, {other} changed");
    }

    #[test]
    fn a_csv_holds_every_patient_once_in_a_random_order() {
        let generated = snapshots(50, 1, 2);
        let table = generated.tables().next().unwrap();
        let mut text = Vec::new();
        generated.write_csv(&table, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("patient_id,full_name,age,postcode,sex,admitted_on,diagnosis,ward_type"));
        let lines: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
        assert!(lines.iter().all(|line| line.len() == 8));
        let mut ids: Vec<&str> = lines.iter().map(|line| line[0]).collect();
        assert!(!ids.is_sorted());
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 50);
        for line in &lines {
            let row = table.rows().find(|&row| format!("P{:06}", table.key(row).lo) == line[0]).unwrap();
            for (attribute, cell) in [(0, line[2]), (1, line[3]), (2, line[4]), (3, line[5])] {
                assert_eq!(generated.schema().quasi[attribute].encode(cell), Ok(table.quasi(attribute)[row.index()]));
            }
            assert_eq!(&*table.values.cells(table.sensitive()[row.index()])[0], line[6]);
        }
    }

    #[test]
    fn names_of_releases_follow_the_quarters() {
        assert_eq!([1, 4, 5].map(label), ["2026-Q1", "2026-Q4", "2027-Q1"]);
    }
}
