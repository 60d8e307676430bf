//! Adult-shaped people: eight quasi attributes with the marginals of the well-known Adult data, and
//! occupation and relationship as one combined sensitive value.
//!
//! Occupation alone has values with a share above a tenth. Combined with relationship it has none, so that m = 10 is
//! possible.

use crate::made_up::dice::Dice;
use crate::made_up::people::{Churn, Generated};
use crate::made_up::shape::{Columns, ProjectFile, Shape, rows};
use crate::model::{Domain, Hierarchy, Quasi, Rng, Schema, Sensitive, Value, Values};

/// A hierarchy line, and how many people per thousand have it.
type Leaves = &'static [(&'static str, f64)];

const WORKCLASS: Leaves = &[
    ("Private;Non-government;*", 739.0),
    ("Self-emp-not-inc;Non-government;*", 83.0),
    ("Self-emp-inc;Non-government;*", 36.0),
    ("Federal-gov;Government;*", 31.0),
    ("Local-gov;Government;*", 69.0),
    ("State-gov;Government;*", 42.0),
    ("Without-pay;Unpaid;*", 0.5),
];

const EDUCATION: Leaves = &[
    ("Preschool;Primary;Without diploma;*", 1.6),
    ("1st-4th;Primary;Without diploma;*", 4.9),
    ("5th-6th;Primary;Without diploma;*", 9.9),
    ("7th-8th;Primary;Without diploma;*", 18.2),
    ("9th;Secondary;Without diploma;*", 15.0),
    ("10th;Secondary;Without diploma;*", 27.0),
    ("11th;Secondary;Without diploma;*", 35.8),
    ("12th;Secondary;Without diploma;*", 12.8),
    ("HS-grad;High school;With diploma;*", 326.0),
    ("Some-college;High school;With diploma;*", 219.0),
    ("Assoc-voc;Associate;With diploma;*", 43.0),
    ("Assoc-acdm;Associate;With diploma;*", 33.0),
    ("Bachelors;University;With diploma;*", 167.0),
    ("Masters;University;With diploma;*", 56.0),
    ("Prof-school;University;With diploma;*", 17.0),
    ("Doctorate;University;With diploma;*", 12.0),
];

const MARITAL: Leaves = &[
    ("Married-civ-spouse;Spouse present;*", 466.0),
    ("Married-AF-spouse;Spouse present;*", 0.7),
    ("Divorced;Spouse not present;*", 139.0),
    ("Never-married;Spouse not present;*", 323.0),
    ("Separated;Spouse not present;*", 31.0),
    ("Widowed;Spouse not present;*", 28.0),
    ("Married-spouse-absent;Spouse not present;*", 12.0),
];

const RACE: Leaves = &[
    ("White;*", 860.0),
    ("Black;*", 94.0),
    ("Asian-Pac-Islander;*", 29.0),
    ("Amer-Indian-Eskimo;*", 9.6),
    ("Other;*", 7.8),
];

const SEX: Leaves = &[("Female;*", 325.0), ("Male;*", 675.0)];

const COUNTRY: Leaves = &[
    ("United-States;North America;*", 913.0),
    ("Canada;North America;*", 3.6),
    ("Outlying-US;North America;*", 0.5),
    ("Mexico;Latin America;*", 20.0),
    ("Puerto-Rico;Latin America;*", 3.9),
    ("Cuba;Latin America;*", 2.9),
    ("Jamaica;Latin America;*", 2.3),
    ("El-Salvador;Latin America;*", 3.3),
    ("Dominican-Republic;Latin America;*", 2.1),
    ("Guatemala;Latin America;*", 1.9),
    ("Columbia;Latin America;*", 1.8),
    ("Haiti;Latin America;*", 1.5),
    ("Nicaragua;Latin America;*", 1.1),
    ("Peru;Latin America;*", 1.0),
    ("Ecuador;Latin America;*", 0.9),
    ("Trinadad&Tobago;Latin America;*", 0.6),
    ("Honduras;Latin America;*", 0.4),
    ("Germany;Europe;*", 4.3),
    ("England;Europe;*", 2.6),
    ("Italy;Europe;*", 2.2),
    ("Poland;Europe;*", 1.8),
    ("Portugal;Europe;*", 1.4),
    ("Greece;Europe;*", 1.1),
    ("France;Europe;*", 0.8),
    ("Ireland;Europe;*", 0.8),
    ("Yugoslavia;Europe;*", 0.5),
    ("Hungary;Europe;*", 0.4),
    ("Scotland;Europe;*", 0.4),
    ("Holand-Netherlands;Europe;*", 0.1),
    ("Philippines;Asia;*", 6.3),
    ("India;Asia;*", 3.3),
    ("China;Asia;*", 2.5),
    ("South;Asia;*", 2.2),
    ("Japan;Asia;*", 2.0),
    ("Vietnam;Asia;*", 1.8),
    ("Taiwan;Asia;*", 1.2),
    ("Iran;Asia;*", 1.2),
    ("Hong;Asia;*", 0.6),
    ("Thailand;Asia;*", 0.6),
    ("Cambodia;Asia;*", 0.6),
    ("Laos;Asia;*", 0.5),
];

const INCOME: Leaves = &[("<=50K;*", 752.0), (">50K;*", 248.0)];

/// Ages from 17, in steps of five years.
const AGES: [f64; 15] = [98.0, 120.0, 130.0, 132.0, 130.0, 112.0, 88.0, 68.0, 50.0, 34.0, 18.0, 10.0, 5.0, 3.0, 2.0];

const OCCUPATION: [(&str, f64); 14] = [
    ("Adm-clerical", 123.0),
    ("Armed-Forces", 0.3),
    ("Craft-repair", 133.0),
    ("Exec-managerial", 132.0),
    ("Farming-fishing", 33.0),
    ("Handlers-cleaners", 45.0),
    ("Machine-op-inspct", 66.0),
    ("Other-service", 107.0),
    ("Priv-house-serv", 5.0),
    ("Prof-specialty", 134.0),
    ("Protective-serv", 22.0),
    ("Sales", 119.0),
    ("Tech-support", 31.0),
    ("Transport-moving", 51.0),
];

const RELATIONSHIP: [&str; 6] = ["Husband", "Not-in-family", "Other-relative", "Own-child", "Unmarried", "Wife"];

/// A category: its name, the hierarchy's file, its leaves.
const CATEGORIES: [(&str, Leaves); 7] = [
    ("workclass", WORKCLASS),
    ("education", EDUCATION),
    ("marital_status", MARITAL),
    ("race", RACE),
    ("sex", SEX),
    ("native_country", COUNTRY),
    ("income", INCOME),
];

/// Adult-shaped people.
#[derive(Clone, Debug)]
pub struct Adult {
    columns: Columns,
    ages: Dice,
    /// One a category, in the order above.
    categories: Vec<Dice>,
    young_marital: Dice,
    occupations: Dice,
    alone: Dice,
    young_alone: Dice,
}

/// `people` rows at the start, `releases` snapshots, and `churn` between two.
pub fn snapshots(people: u32, releases: u32, churn: Churn, seed: u64) -> Generated<Adult> {
    Generated { shape: Adult::new(), people, releases, churn, seed }
}

impl Adult {
    /// Adult-shaped people.
    pub fn new() -> Adult {
        Adult {
            columns: columns(),
            ages: Dice::new(&AGES),
            categories: CATEGORIES.iter().map(|(_, leaves)| weights(leaves)).collect(),
            young_marital: Dice::new(&[120.0, 0.5, 30.0, 820.0, 15.0, 1.0, 10.0]),
            occupations: Dice::new(&OCCUPATION.map(|(_, weight)| weight)),
            // For people without a spouse: not in family, other relative, own child, unmarried.
            alone: Dice::new(&[0.0, 55.0, 5.0, 12.0, 28.0, 0.0]),
            young_alone: Dice::new(&[0.0, 28.0, 7.0, 58.0, 7.0, 0.0]),
        }
    }
}

impl Default for Adult {
    fn default() -> Adult {
        Adult::new()
    }
}

impl Shape for Adult {
    fn columns(&self) -> &Columns {
        &self.columns
    }

    fn draw_quasi(&self, rng: &mut Rng, _release: u32, quasi: &mut [u32]) {
        quasi[0] = (self.ages.roll(rng) * 5 + rng.below(5) as u32).min(73);
        for (category, dice) in self.categories.iter().enumerate() {
            quasi[category + 1] = dice.roll(rng);
        }
        if quasi[0] < 8 {
            quasi[3] = self.young_marital.roll(rng);
        }
    }

    fn draw_value(&self, rng: &mut Rng, quasi: &[u32]) -> Value {
        let relationship = match (quasi[3], quasi[5], quasi[0]) {
            (0 | 1, 1, _) => 0,
            (0 | 1, _, _) => 5,
            (_, _, 0..8) => self.young_alone.roll(rng),
            _ => self.alone.roll(rng),
        };
        // Occupations and relationships are listed in the order of their texts, so their pairs are too.
        Value(self.occupations.roll(rng) * RELATIONSHIP.len() as u32 + relationship)
    }

    /// Another kind of employer.
    fn relocate(&self, rng: &mut Rng, quasi: &mut [u32]) {
        quasi[1] = self.categories[0].roll(rng);
    }

    fn project(&self) -> Vec<ProjectFile> {
        let mut policy = String::from(
            r#"policy = 1

[series]
name  = "adult"
title = "Adult-shaped people (made up)"

[columns]
person         = { role = "identifier" }
age            = { role = "quasi", type = "integer", domain = [17, 91] }
"#,
        );
        for (name, _) in CATEGORIES {
            policy += &format!(
                "{name:14} = {{ role = \"quasi\", type = \"category\", hierarchy = \"hierarchies/{name}.csv\" }}\n"
            );
        }
        policy += r#"occupation     = { role = "sensitive", type = "category", missing = "error" }
relationship   = { role = "sensitive", type = "category", missing = "error" }

[promise]
model = "m-invariance"
m     = 4
"#;
        let hierarchies = CATEGORIES.iter().map(|(name, leaves)| ProjectFile {
            path: format!("hierarchies/{name}.csv"),
            text: leaves.iter().map(|(line, _)| format!("{line}\n")).collect(),
        });
        [ProjectFile { path: "tacenda.toml".into(), text: policy }].into_iter().chain(hierarchies).collect()
    }
}

fn weights(leaves: Leaves) -> Dice {
    Dice::new(&leaves.iter().map(|(_, weight)| *weight).collect::<Vec<_>>())
}

fn columns() -> Columns {
    let mut quasi = vec![Quasi::new("age", Domain::Integer { lo: 17, hi: 91 })];
    for (name, leaves) in CATEGORIES {
        let lines: Vec<&str> = leaves.iter().map(|(line, _)| *line).collect();
        let tree = Hierarchy::from_rows(&rows(&lines.join("\n"))).expect("the categories are trees");
        quasi.push(Quasi::new(name, Domain::Category(tree)));
    }
    let mut values = Values::default();
    values.extend(OCCUPATION.iter().flat_map(|(occupation, _)| {
        RELATIONSHIP
            .iter()
            .map(move |relationship| vec![Box::from(*occupation), Box::from(*relationship)].into_boxed_slice())
    }));
    let sensitive = vec![Sensitive::open("occupation"), Sensitive::open("relationship")];
    Columns::new(Schema::new("person", quasi, sensitive), values, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_can_stand_together() {
        let generated = snapshots(20_000, 1, Churn::of(0.05), 1);
        let table = generated.tables().next().unwrap();
        let mut counts = [0u32; 84];
        table.sensitive().iter().for_each(|value| counts[value.index()] += 1);
        assert!(*counts.iter().max().unwrap() * 11 < 20_000, "{counts:?}");
        assert_eq!(generated.schema().quasi.len(), 8);
    }

    #[test]
    fn only_the_married_are_husbands_and_wives() {
        let table = snapshots(2_000, 1, Churn::of(0.0), 3).tables().next().unwrap();
        for row in table.rows() {
            let cells = table.values.cells(table.sensitive()[row.index()]);
            let married = table.quasi(3)[row.index()] <= 1;
            assert_eq!(married, matches!(&*cells[1], "Husband" | "Wife"));
            assert!(&*cells[1] != "Husband" || table.quasi(5)[row.index()] == 1);
        }
    }

    #[test]
    fn leaves_are_numbered_as_they_are_listed() {
        let shape = Adult::new();
        for (attribute, (_, leaves)) in CATEGORIES.iter().enumerate() {
            for (code, (line, _)) in leaves.iter().enumerate() {
                let leaf = line.split(';').next().unwrap();
                assert_eq!(shape.columns.schema.quasi[attribute + 1].encode(leaf), Ok(code as u32), "{leaf}");
            }
        }
    }
}
