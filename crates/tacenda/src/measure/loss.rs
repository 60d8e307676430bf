//! Measures that need the release and the policy only.

use crate::model::{Domain, Quasi, Release, Schema, Span};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

/// How much less a release says than its snapshot. See the room's page for the definitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Rows, counterfeits included.
    pub rows: u64,
    /// People.
    pub people: u64,
    /// Groups.
    pub groups: u64,
    /// Per quasi attribute, in the policy's order.
    pub attributes: Vec<AttributeLoss>,
    /// Mean leaf share of the attributes.
    pub leaf_share: f64,
    /// Information loss of paper 001, in all.
    pub information_loss: f64,
    /// The same, per person.
    pub information_loss_per_person: f64,
    /// Sum of squared group sizes.
    pub discernability: u64,
    /// Mean group size in multiples of the least that is allowed.
    pub c_avg: f64,
    /// Rows of the smallest group.
    pub group_size_min: u64,
    /// Mean rows of a group.
    pub group_size_mean: f64,
    /// Rows of the largest group.
    pub group_size_max: u64,
}

/// The loss of one attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttributeLoss {
    /// Its name.
    pub name: String,
    /// The share of the domain that a span covers beyond one value, mean over people.
    pub leaf_share: f64,
    /// 1 − leaf share.
    pub precision: f64,
    /// Its part of the information loss of paper 001, per person.
    pub information_loss: f64,
}

impl Loss {
    /// As JSON, numbers with nine decimals at most.
    pub fn to_json(&self) -> serde_json::Value {
        let mut json = serde_json::to_value(self).expect("names and numbers are JSON");
        round(&mut json);
        json
    }

    /// The same, for `serialize_with`.
    pub fn rounded<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

/// Measures a release whose groups have at least `least` rows by promise.
pub fn loss(release: &Release, schema: &Schema, least: u32) -> Loss {
    let scales: Vec<Scale> = schema.quasi.iter().map(Scale::new).collect();
    let groups: Vec<usize> = (0..release.group_count()).collect();
    let sums = groups
        .par_chunks(1 << 14)
        .map(|groups| {
            let mut sums = Sums::new(scales.len());
            for &group in groups {
                sums.add(release, &scales, group);
            }
            sums
        })
        .reduce(|| Sums::new(scales.len()), Sums::join);
    let people = release.row_count() as u64 - release.counterfeit_count();
    let share = |sum: u64, whole: u32| {
        if whole == 0 || people == 0 { 0.0 } else { sum as f64 / f64::from(whole) / people as f64 }
    };
    let attributes: Vec<AttributeLoss> = schema
        .quasi
        .iter()
        .enumerate()
        .map(|(index, quasi)| {
            let leaf_share = share(sums.open[index], quasi.size() - 1);
            let information_loss = share(sums.cost[index], scales[index].whole);
            AttributeLoss { name: quasi.name.clone(), leaf_share, precision: 1.0 - leaf_share, information_loss }
        })
        .collect();
    let per_person: f64 = attributes.iter().map(|attribute| attribute.information_loss).sum();
    let count = attributes.len().max(1) as f64;
    let mean_size = release.row_count() as f64 / release.group_count().max(1) as f64;
    Loss {
        rows: release.row_count() as u64,
        people,
        groups: release.group_count() as u64,
        leaf_share: attributes.iter().map(|attribute| attribute.leaf_share).sum::<f64>() / count,
        attributes,
        information_loss: per_person * people as f64,
        information_loss_per_person: per_person,
        discernability: sums.squares,
        c_avg: mean_size / f64::from(least.max(1)),
        group_size_min: if release.group_count() == 0 { 0 } else { sums.min },
        group_size_mean: mean_size,
        group_size_max: sums.max,
    }
}

/// How paper 001 prices a span: `cost / whole`.
struct Scale<'a> {
    quasi: &'a Quasi,
    whole: u32,
}

impl Scale<'_> {
    fn new(quasi: &Quasi) -> Scale<'_> {
        let whole = match &quasi.domain {
            Domain::Category(tree) => tree.height(),
            _ => (quasi.size() - u32::from(quasi.nullable)).saturating_sub(1),
        };
        Scale { quasi, whole }
    }

    fn cost(&self, span: Span) -> u32 {
        match &self.quasi.domain {
            Domain::Category(tree) => tree.cover_height(span),
            // A span of numbers with NULL has no largest and smallest value, so it costs as much as the whole domain.
            _ if span.width() > 1 && self.quasi.null() == Some(span.hi) => self.whole,
            _ => span.width() - 1,
        }
    }
}

/// Sums over groups, as whole numbers: their order does not matter.
struct Sums {
    open: Vec<u64>,
    cost: Vec<u64>,
    squares: u64,
    min: u64,
    max: u64,
}

impl Sums {
    fn new(attributes: usize) -> Sums {
        Sums { open: vec![0; attributes], cost: vec![0; attributes], squares: 0, min: u64::MAX, max: 0 }
    }

    fn add(&mut self, release: &Release, scales: &[Scale<'_>], group: usize) {
        let rows = release.group_rows(group).len() as u64;
        let people = u64::from(release.people(group));
        for (index, (scale, &span)) in scales.iter().zip(release.region(group)).enumerate() {
            self.open[index] += people * u64::from(span.width() - 1);
            self.cost[index] += people * u64::from(scale.cost(span));
        }
        self.squares += rows * rows;
        self.min = self.min.min(rows);
        self.max = self.max.max(rows);
    }

    fn join(mut self, other: Sums) -> Sums {
        for (mine, theirs) in self.open.iter_mut().zip(&other.open) {
            *mine += theirs;
        }
        for (mine, theirs) in self.cost.iter_mut().zip(&other.cost) {
            *mine += theirs;
        }
        self.squares += other.squares;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self
    }
}

/// A number as reports print it.
pub fn nine_decimals(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

fn round(json: &mut serde_json::Value) {
    match json {
        serde_json::Value::Number(number) if number.is_f64() => {
            let value = number.as_f64().expect("it is a float");
            *json = serde_json::json!(nine_decimals(value));
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(round),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(round),
        _ => (),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Hierarchy, Regions, Sensitive, Value, Values};
    use proptest::prelude::*;

    fn release(groups: &[(&[Span], u32, u32)]) -> Release {
        let mut release = Release { values: Values::of(["x"]), ..Release::default() };
        release.regions = Regions::new(groups[0].0.len());
        for (region, rows, counterfeits) in groups {
            release.regions.push(region);
            release.sensitive.extend((0..*rows).map(|_| Value(0)));
            release.ends.push(release.sensitive.len() as u32);
            release.counterfeits.push(*counterfeits);
        }
        release
    }

    fn near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
    }

    /// Table 1 of paper 001 (science A1.1, G1): ages 25 to 55, zip codes of five digits, gender.
    #[test]
    fn table_1_of_paper_001_loses_what_the_paper_says() {
        let zip = |zip: &str| (0..=5).map(|cut| format!("{}{}", &zip[..5 - cut], "*".repeat(cut))).collect();
        let zips: Vec<Vec<String>> = ["41076", "41099", "41999", "48201"].map(zip).into();
        // Another first digit, so that the root is needed.
        let zips = [zips, vec![zip("51076")]].concat();
        let schema = Schema::new(
            "",
            vec![
                Quasi::new("age", Domain::Integer { lo: 25, hi: 56 }),
                Quasi::new("zip", Domain::Category(Hierarchy::from_rows(&zips).unwrap())),
                Quasi::new("gender", Domain::Category(Hierarchy::flat(["F", "M"]).unwrap())),
            ],
            vec![Sensitive::open("illness")],
        );
        let s = Span::new;
        let found = loss(
            &release(&[
                (&[s(0, 15), s(0, 2), s(0, 1)], 2, 0),
                (&[s(5, 25), s(0, 4), Span::exact(0)], 2, 0),
                (&[s(1, 10), s(0, 2), s(0, 1)], 3, 0),
            ]),
            &schema,
            2,
        );
        near(found.information_loss, 397.0 / 30.0);
        near(found.information_loss_per_person, 397.0 / 210.0);
        assert_eq!(found.discernability, 4 + 4 + 9);
        near(found.c_avg, 7.0 / 3.0 / 2.0);
        near(found.attributes[0].leaf_share, (2.0 * 15.0 + 2.0 * 20.0 + 3.0 * 9.0) / 30.0 / 7.0);
        near(found.attributes[2].precision, 2.0 / 7.0);
        let two = loss(
            &release(&[(&[s(0, 15), s(0, 2), s(0, 1)], 3, 0), (&[s(5, 25), s(0, 4), Span::exact(0)], 4, 0)]),
            &schema,
            2,
        );
        near(two.information_loss, 389.0 / 30.0);
    }

    #[test]
    fn means_are_over_people_and_nothing_is_divided_by_nothing() {
        let mut attribute = Quasi::new("age", Domain::Integer { lo: 0, hi: 11 }).nullable();
        attribute.weight = 3.0;
        let one = Quasi::new("one", Domain::Integer { lo: 4, hi: 5 });
        let schema = Schema::new("", vec![attribute.clone(), one], vec![Sensitive::open("x")]);
        let exact = Span::exact(0);
        let found =
            loss(&release(&[(&[attribute.root(), exact], 4, 3), (&[Span::exact(11), exact], 3, 0)]), &schema, 2);
        near(found.attributes[0].leaf_share, 0.25);
        near(found.attributes[0].information_loss, 0.25);
        near(found.attributes[1].leaf_share, 0.0);
        assert_eq!((found.rows, found.people, found.group_size_min, found.group_size_max), (7, 4, 3, 4));
        let mut empty = release(&[(&[exact, exact], 1, 0)]);
        empty = Release { regions: Regions::new(2), ends: vec![], sensitive: vec![], counterfeits: vec![], ..empty };
        assert_eq!(loss(&empty, &schema, 2).information_loss, 0.0);
        assert!(found.to_json()["attributes"][0]["precision"].as_f64() == Some(0.75));
    }

    proptest! {
        /// The fast way is the plain way.
        #[test]
        fn sums_over_groups_are_sums_over_rows(groups in prop::collection::vec((0u32..20, 0u32..20, 1u32..5), 1..30)) {
            let attribute = Quasi::new("a", Domain::Integer { lo: 0, hi: 20 });
            let schema = Schema::new("", vec![attribute.clone()], vec![Sensitive::open("x")]);
            let spans: Vec<[Span; 1]> = groups.iter().map(|&(a, b, _)| [Span::new(a.min(b), a.max(b))]).collect();
            let parts: Vec<(&[Span], u32, u32)> =
                spans.iter().zip(&groups).map(|(span, &(.., rows))| (&span[..], rows, rows / 2)).collect();
            let release = release(&parts);
            let found = loss(&release, &schema, 1);
            let mut people = Vec::new();
            for (span, rows, counterfeits) in &parts {
                people.extend(std::iter::repeat_n(attribute.openness(span[0]), (rows - counterfeits) as usize));
            }
            let wanted = people.iter().sum::<f64>() / people.len() as f64;
            prop_assert!((found.leaf_share - wanted).abs() < 1e-9);
            prop_assert_eq!(found.discernability, groups.iter().map(|&(.., rows)| u64::from(rows * rows)).sum::<u64>());
        }
    }
}
