//! Census-shaped people: the columns on which the papers measure, for any number of rows.
//!
//! Age (79 values), gender (2), education (17), birthplace (57, in a tree of divisions and regions),
//! and occupation (50 values, skewed, no value above a twelfth) as the sensitive one.

use crate::made_up::dice::Dice;
use crate::made_up::people::{Churn, Generated};
use crate::made_up::shape::{Columns, ProjectFile, Shape, rows};
use crate::model::{Domain, Hierarchy, Quasi, Rng, Schema, Sensitive, Value, Values};
use std::fmt::Write;

/// Regions, their divisions, and the states of these.
const PLACES: [(&str, &str, &str); 12] = [
    ("Northeast", "New England", "CT MA ME NH RI VT"),
    ("Northeast", "Mid Atlantic", "NJ NY PA"),
    ("Midwest", "East North Central", "IL IN MI OH WI"),
    ("Midwest", "West North Central", "IA KS MN MO ND NE SD"),
    ("South", "South Atlantic", "DC DE FL GA MD NC SC VA WV"),
    ("South", "East South Central", "AL KY MS TN"),
    ("South", "West South Central", "AR LA OK TX"),
    ("West", "Mountain", "AZ CO ID MT NM NV UT WY"),
    ("West", "Pacific", "AK CA HI OR WA"),
    ("Abroad", "Americas", "Canada Mexico PuertoRico"),
    ("Abroad", "Overseas", "Asia Europe"),
    ("Abroad", "Elsewhere", "Other"),
];

/// How many people were born in each place, in the order above.
const BIRTHS: [f64; 57] = [
    1.1, 2.3, 0.5, 0.4, 0.4, 0.2, 2.6, 6.6, 5.0, 4.5, 2.3, 3.6, 4.2, 2.0, 1.2, 1.0, 1.6, 2.0, 0.4, 0.7, 0.4, 0.4, 0.3,
    2.4, 2.4, 1.5, 2.8, 1.5, 2.0, 1.0, 2.0, 1.8, 1.5, 2.0, 1.1, 2.0, 1.4, 5.0, 0.8, 1.0, 0.4, 0.4, 0.6, 0.3, 0.8, 0.2,
    0.2, 6.5, 0.3, 0.9, 1.5, 0.7, 4.2, 0.9, 4.0, 2.2, 1.0,
];

/// How many people have each level of education.
const EDUCATION: [f64; 17] = [1.2, 0.4, 0.6, 1.0, 1.3, 1.8, 2.0, 2.2, 2.4, 3.0, 28.0, 15.0, 8.0, 19.0, 8.0, 2.0, 1.5];

/// How many occupations there are.
const OCCUPATIONS: u32 = 50;

/// Census-shaped people.
#[derive(Clone, Debug)]
pub struct Census {
    columns: Columns,
    ages: Dice,
    education: Dice,
    births: Dice,
    /// For people with little and with much education.
    occupations: [Dice; 2],
}

/// `people` rows at the start, `releases` snapshots, and `churn` between two.
pub fn snapshots(people: u32, releases: u32, churn: Churn, seed: u64) -> Generated<Census> {
    Generated { shape: Census::new(), people, releases, churn, seed }
}

impl Census {
    /// Census-shaped people.
    pub fn new() -> Census {
        let age = |age: u32| if age < 50 { 1.0 } else { (1.0 - f64::from(age - 50) / 47.0).max(0.02) };
        let occupation = |number: u32| 1.0 / f64::from(number + 9);
        Census {
            columns: columns(),
            ages: Dice::new(&(17..96).map(age).collect::<Vec<_>>()),
            education: Dice::new(&EDUCATION),
            births: Dice::new(&BIRTHS),
            occupations: [
                Dice::new(&(0..OCCUPATIONS).map(occupation).collect::<Vec<_>>()),
                // The same skew with the occupations in another order.
                Dice::new(&(0..OCCUPATIONS).map(|number| occupation(number * 7 % OCCUPATIONS)).collect::<Vec<_>>()),
            ],
        }
    }
}

impl Default for Census {
    fn default() -> Census {
        Census::new()
    }
}

impl Shape for Census {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn draw_quasi(&self, rng: &mut Rng, _release: u32, quasi: &mut [u32]) {
        quasi[0] = self.ages.roll(rng);
        quasi[1] = (rng.bits() >> 63) as u32;
        quasi[2] = self.education.roll(rng);
        quasi[3] = self.births.roll(rng);
    }

    fn draw_value(&self, rng: &mut Rng, quasi: &[u32]) -> Value {
        Value(self.occupations[usize::from(quasi[2] > 11)].roll(rng))
    }

    /// Changes education by a year of school; the birthplace stays.
    fn relocate(&self, _rng: &mut Rng, quasi: &mut [u32]) {
        quasi[2] = (quasi[2] + 1).min(16);
    }

    fn project(&self) -> Vec<ProjectFile> {
        let policy = r#"policy = 1

[series]
name  = "census"
title = "Census-shaped people (made up)"

[columns]
person     = { role = "identifier" }
age        = { role = "quasi", type = "integer", domain = [17, 96] }
gender     = { role = "quasi", type = "category", values = ["F", "M"] }
education  = { role = "quasi", type = "integer", domain = [0, 17] }
birthplace = { role = "quasi", type = "category", hierarchy = "hierarchies/birthplace.csv" }
occupation = { role = "sensitive", type = "category", missing = "error" }

[promise]
model = "m-invariance"
m     = 10
"#;
        vec![
            ProjectFile { path: "tacenda.toml".into(), text: policy.into() },
            ProjectFile { path: "hierarchies/birthplace.csv".into(), text: birthplace_file() },
        ]
    }
}

fn birthplace_file() -> String {
    let mut text = String::new();
    for (region, division, states) in PLACES {
        for state in states.split(' ') {
            writeln!(text, "{state};{division};{region};*").expect("writing to a string cannot fail");
        }
    }
    text
}

fn columns() -> Columns {
    let birthplaces = Hierarchy::from_rows(&rows(&birthplace_file())).expect("the birthplaces are a tree");
    let genders = Hierarchy::flat(["F", "M"]).expect("two values are a tree");
    let quasi = vec![
        Quasi::new("age", Domain::Integer { lo: 17, hi: 96 }),
        Quasi::new("gender", Domain::Category(genders)),
        Quasi::new("education", Domain::Integer { lo: 0, hi: 17 }),
        Quasi::new("birthplace", Domain::Category(birthplaces)),
    ];
    let occupations: Vec<String> = (1..=OCCUPATIONS).map(|number| format!("occupation {number:02}")).collect();
    let values = Values::of(occupations.iter().map(String::as_str));
    Columns::new(Schema::new("person", quasi, vec![Sensitive::open("occupation")]), values, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_have_the_sizes_of_the_papers() {
        let generated = snapshots(30_000, 2, Churn::of(0.05), 1);
        let sizes: Vec<u32> = generated.schema().quasi.iter().map(Quasi::size).collect();
        assert_eq!(sizes, [79, 2, 17, 57]);
        let tree = generated.schema().quasi[3].hierarchy().unwrap();
        assert_eq!(tree.height(), 3);
        let tables: Vec<_> = generated.tables().collect();
        let mut counts = [0u32; OCCUPATIONS as usize];
        tables[0].sensitive().iter().for_each(|value| counts[value.index()] += 1);
        // m = 10 is possible.
        assert!(*counts.iter().max().unwrap() * 12 < 30_000, "{counts:?}");
        let stayed = tables[1].keys().iter().filter(|&&key| tables[0].find(key).is_some()).count();
        assert!((28_300..28_700).contains(&stayed), "{stayed}");
        assert_eq!(tables[1].len(), 30_000);
    }
}
