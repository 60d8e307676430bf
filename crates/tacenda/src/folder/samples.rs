//! Small releases for the tests of this room.

use crate::folder::{Issue, ManifestFacts, PreviousRelease, write};
use crate::model::{
    Domain, Hierarchy, Public, Quasi, Regions, Release, Rng, Role, Schema, Sensitive, Span, Value, Values,
};
use crate::promise::{Format, MInvariance, Output, PolicyFile, Reasons, SeriesSettings, ShareLimits};
use proptest::prelude::*;
use std::fs::File;
use std::path::Path;

/// A policy for `schema`.
pub fn policy(schema: Schema) -> PolicyFile {
    PolicyFile {
        series: SeriesSettings {
            name: "ward-stays".into(),
            title: "Inpatient stays".into(),
            contact: "steward@hospital.example".into(),
            ..SeriesSettings::default()
        },
        schema,
        promise: MInvariance::new(2).into(),
        reasons: Reasons::default(),
        limits: ShareLimits::default(),
        output: Output::default(),
    }
}

/// Groups as (region, values, counterfeits); values are texts of one sensitive attribute.
pub fn release(groups: &[(&[Span], &[&str], u32)]) -> Release {
    let values = Values::of(groups.iter().flat_map(|(_, values, _)| values.iter().copied()));
    let index = values.index();
    let mut release = Release { number: 2, label: "2026-Q3".into(), ..Release::default() };
    release.regions = Regions::new(groups[0].0.len());
    for (region, texts, counterfeits) in groups {
        release.regions.push(region);
        let mut rows: Vec<Value> = texts.iter().map(|&text| index[&[Box::from(text)][..]]).collect();
        rows.sort_unstable();
        release.sensitive.extend(rows);
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(*counterfeits);
    }
    release.values = values;
    release
}

/// Table 3a of paper 003, zip codes in thousands: six groups, 13 rows, two of them counterfeits.
pub fn table_3a() -> (Release, Schema) {
    let schema = Schema::new(
        "name",
        vec![
            Quasi::new("age", Domain::Integer { lo: 0, hi: 120 }),
            Quasi::new("zip", Domain::Integer { lo: 0, hi: 100 }),
        ],
        vec![Sensitive::open("disease")],
    );
    let s = Span::new;
    let release = release(&[
        (&[s(21, 22), s(12, 14)], &["bronchitis", "dyspepsia"], 1),
        (&[s(23, 25), s(21, 25)], &["flu", "gastritis"], 0),
        (&[s(37, 43), s(26, 33)], &["dyspepsia", "flu", "gastritis"], 1),
        (&[s(41, 46), s(20, 30)], &["flu", "gastritis"], 0),
        (&[s(54, 56), s(31, 34)], &["dyspepsia", "gastritis"], 0),
        (&[s(60, 65), s(36, 44)], &["flu", "gastritis"], 0),
    ]);
    (release, schema)
}

/// Facts with something in every field.
pub fn facts() -> ManifestFacts {
    ManifestFacts {
        previous: Some(PreviousRelease { number: 1, label: "2026-Q2".into(), manifest_digest: "ab".repeat(32) }),
        ledger_head: "cd".repeat(32),
        policy_digest: "ef".repeat(32),
        software: "tacenda 0.1.0".into(),
        loss: serde_json::json!({ "discernability": 29 }),
        engine: 2,
        erratum: None,
        withdrawn: None,
        more_files: Vec::new(),
        view: None,
        signer: None,
    }
}

/// Writes a release into `folder`.
pub fn write_to(folder: &Path, release: &Release, policy: &PolicyFile) -> Vec<String> {
    write(&Issue::new(release, policy), &facts(), &mut |name| Ok(Box::new(File::create(folder.join(name))?))).unwrap()
}

/// A folder with all kinds of columns: every type, missing values, two sensitive attributes, public
/// columns, odd texts.
pub fn every_kind() -> Schema {
    let rows = ["a;north;*", "b;north;*", "c, \"d\";south;*", "e;e;*"];
    let rows = rows.map(|row| row.split(';').map(String::from).collect::<Vec<_>>());
    let tree = Hierarchy::from_rows(&rows).unwrap();
    let flat = Hierarchy::flat(["F", "M", "=X", "line\nbreak"]).unwrap();
    let mut schema = Schema::new(
        "",
        vec![
            Quasi::new("age", Domain::Integer { lo: -3, hi: 9 }).nullable(),
            Quasi::new("weight, kg", Domain::Real { lo: -15, hi: 15, decimals: 1 }),
            Quasi::new("born", Domain::Date { lo: -5, hi: 40 }).nullable(),
            Quasi::new("place", Domain::Category(tree)).nullable(),
            Quasi::new("sex", Domain::Category(flat)),
        ],
        vec![Sensitive { nullable: true, ..Sensitive::open("diagnosis") }, Sensitive::open("outcome")],
    );
    schema.public = vec![Public { name: "ward \"A\"".into(), because: "public bed plan".into() }];
    // Columns of all roles stand between each other.
    schema.order.retain(|&column| column != (Role::Sensitive, 0));
    schema.order.insert(2, (Role::Sensitive, 0));
    schema.order.insert(0, (Role::Public, 0));
    schema
}

/// The same with sets of leaves in the tree's column.
pub fn with_sets() -> Schema {
    let mut schema = every_kind();
    schema.quasi[3].sets = true;
    schema
}

/// A release over [`every_kind`] with groups of every shape, the same every time.
pub fn of_every_kind() -> (Release, PolicyFile) {
    let mut rng = Rng::from_number(5);
    let schema = every_kind();
    let own = |cells: &[&str]| cells.iter().map(|&cell| Box::from(cell)).collect::<Vec<Box<str>>>();
    let values = [["flu", "home"], ["", "home"], ["=1+1", "stays, \"long\""], ["two\nlines", "stays"]];
    let mut release = Release { number: 12, label: "every kind".into(), ..Release::default() };
    release.values = Values::from_ordered(values.iter().map(|cells| own(cells).into_boxed_slice()).collect());
    release.public_texts = vec![own(&["east"]), own(&["west, wing"])];
    release.regions = Regions::new(schema.quasi.len());
    for group in 0..60 {
        let region: Vec<Span> = schema.quasi.iter().map(|attribute| span(attribute, group % 4, &mut rng)).collect();
        release.regions.push(&region);
        let rows = 2 + rng.below(3) as u32;
        release.sensitive.extend((0..rows).map(Value));
        release.public.extend((0..rows).map(|_| rng.below(2) as u32));
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(rng.below(2) as u32);
    }
    (release, policy(schema))
}

/// Groups of ten over the columns of the papers' census data, for measuring.
pub fn census_shaped(rows: u32) -> (Release, PolicyFile) {
    let mut rng = Rng::from_number(6);
    let labels = |what: &str, count: u32| Hierarchy::flat((0..count).map(|at| format!("{what} {at:02}"))).unwrap();
    let schema = Schema::new(
        "",
        vec![
            Quasi::new("age", Domain::Integer { lo: 17, hi: 96 }),
            Quasi::new("gender", Domain::Category(labels("gender", 2))),
            Quasi::new("education", Domain::Integer { lo: 0, hi: 17 }),
            Quasi::new("birthplace", Domain::Integer { lo: 0, hi: 57 }),
        ],
        vec![Sensitive::open("occupation")],
    );
    let occupations: Vec<String> = (0..50).map(|at| format!("occupation {at:02}")).collect();
    let mut release = Release { number: 1, label: "census".into(), ..Release::default() };
    release.values = Values::of(occupations.iter().map(String::as_str));
    release.regions = Regions::new(4);
    for start in (0..rows).step_by(10) {
        let region: Vec<Span> = schema.quasi.iter().map(|attribute| span(attribute, 3, &mut rng)).collect();
        release.regions.push(&region);
        let first = rng.below(41) as u32;
        release.sensitive.extend((0..10.min(rows - start)).map(|at| Value(first + at)));
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(u32::from(rng.below(100) == 0));
    }
    (release, policy(schema))
}

/// One value, not recorded, any value, or something between.
fn span(attribute: &Quasi, kind: u32, rng: &mut Rng) -> Span {
    let mut code = || rng.below(u64::from(attribute.size())) as u32;
    match kind {
        0 => attribute.cover(Span::exact(code())),
        1 => attribute.null().map_or(attribute.root(), Span::exact),
        2 => attribute.root(),
        _ => {
            let (a, b) = (code(), code());
            attribute.cover(Span::new(a.min(b), a.max(b)))
        }
    }
}

/// Releases over `schema`, with rows in the order of their values' numbers.
pub fn releases(schema: Schema) -> impl Strategy<Value = (Release, PolicyFile)> {
    let texts =
        prop::sample::select(vec!["", "flu", "=1+1", "a,b", "say \"hi\"", "two\nlines", " blank ", "é", "*", "0"]);
    let values = prop::collection::btree_set(prop::collection::vec(texts.clone(), schema.sensitive.len()), 1..6);
    let publics = prop::collection::btree_set(prop::collection::vec(texts, schema.public.len()), 1..4);
    let group = prop::collection::vec(any::<(u32, u32, u64)>(), 1..5);
    let regions = prop::collection::vec(any::<(u32, u32)>(), schema.quasi.len());
    let groups = prop::collection::vec((group, regions, any::<u32>()), 0..6);
    let output = (any::<bool>(), any::<bool>(), 0..3usize);
    (values, publics, groups, output, any::<u64>()).prop_map(move |(values, publics, groups, output, shift)| {
        let own = |cells: Vec<&str>| cells.into_iter().map(Box::from).collect::<Vec<Box<str>>>();
        // The oldest value need not be the first by text.
        let mut texts: Vec<Box<[Box<str>]>> = values.into_iter().map(|cells| own(cells).into_boxed_slice()).collect();
        let middle = shift as usize % texts.len();
        texts.rotate_left(middle);
        let mut release = Release { number: 7, label: "seven".into(), ..Release::default() };
        release.values = Values::from_ordered(texts);
        release.public_texts =
            if schema.public.is_empty() { Vec::new() } else { publics.into_iter().map(own).collect() };
        release.regions = Regions::new(schema.quasi.len());
        let (linked, row_weight, formats) = output;
        for (rows, region, counterfeits) in groups {
            let region: Vec<Span> = schema
                .quasi
                .iter()
                .zip(region)
                .map(|(attribute, (a, b))| {
                    let (a, b) = (a % attribute.size(), b % attribute.size());
                    attribute.cover(Span::new(a.min(b), a.max(b)))
                })
                .collect();
            release.regions.push(&region);
            release.counterfeits.push(counterfeits % rows.len() as u32);
            let mut keys: Vec<(Value, u32, u64)> = rows
                .into_iter()
                .map(|(value, public, id)| {
                    let value = Value(value % release.values.len() as u32);
                    (value, public % release.public_texts.len().max(1) as u32, id)
                })
                .collect();
            keys.sort_unstable();
            for (value, public, id) in keys {
                release.sensitive.push(value);
                if !schema.public.is_empty() {
                    release.public.push(public);
                }
                if linked {
                    release.linked.push(id);
                }
            }
            release.ends.push(release.sensitive.len() as u32);
        }
        let mut policy = policy(schema.clone());
        policy.output.row_weight = row_weight;
        policy.output.linked_ids = linked;
        policy.output.formats =
            [vec![Format::Csv, Format::Parquet], vec![Format::Csv], vec![Format::Parquet]][formats].clone();
        (release, policy)
    })
}
