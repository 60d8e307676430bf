//! Incremental k-anonymity: goldens of paper 000, properties 7 to 14 over random histories, the
//! definition as an oracle for the check, and mutations that the check must refuse.

use crate::inference_table::InferenceTable;
use proptest::prelude::{ProptestConfig, any};
use proptest::{prop_assert, prop_assert_eq, proptest};
use std::collections::BTreeMap;
use tacenda::audit::{Evidence, Fault};
use tacenda::grouping::GroupingError;
use tacenda::model::{
    Domain, Grid, Grouping, Hierarchy, History, Lots, Membership, Published, Quasi, RecordKey, Regions, Release, Rng,
    Row, Schema, Sensitive, Span, Table, Value, Values,
};
use tacenda::promise::{Grouper, IncrementalKAnonymity, OnDelete};

const COHORTS: IncrementalKAnonymity =
    IncrementalKAnonymity { k: 2, cohorts: true, l: None, tight: false, on_delete: OnDelete::Refuse };
const CELLS: IncrementalKAnonymity = IncrementalKAnonymity { cohorts: false, ..COHORTS };

/// A person: a number, quasi codes, a sensitive value.
#[derive(Clone, Debug, PartialEq)]
struct CodedPerson {
    id: u64,
    codes: Vec<u32>,
    value: u32,
}

/// A series as it goes on, with every release as the world sees it.
struct SeriesRun {
    schema: Schema,
    policy: IncrementalKAnonymity,
    history: History,
    /// Per release, whom it says what of.
    seen: Vec<BTreeMap<u64, Vec<Span>>>,
}

fn key(id: u64) -> RecordKey {
    // Any fixed mixture: tables are sorted by key, and the order of people should mean nothing.
    RecordKey { hi: id.wrapping_mul(0x9E37_79B9_7F4A_7C15), lo: id }
}

fn table(schema: &Schema, people: &[CodedPerson]) -> Table {
    let mut people: Vec<&CodedPerson> = people.iter().collect();
    people.sort_by_key(|person| key(person.id));
    let column = |attribute: usize| people.iter().map(|person| person.codes[attribute]).collect();
    let texts: Vec<String> = (0..20).map(|value| format!("{value:02}")).collect();
    Table::new(
        people.iter().map(|person| key(person.id)).collect(),
        (0..schema.quasi.len()).map(column).collect(),
        people.iter().map(|person| Value(person.value)).collect(),
        Values::of(texts.iter().map(String::as_str)),
        Vec::new(),
        Vec::new(),
    )
}

fn recode(number: u32, table: &Table, grouping: &Grouping) -> (Release, Membership) {
    let mut release =
        Release { number, regions: grouping.regions.clone(), values: table.values.clone(), ..Release::default() };
    let mut membership = Membership { withheld: grouping.withheld.clone(), ..Membership::default() };
    for (index, group) in grouping.groups().enumerate() {
        let mut rows: Vec<Row> = group.rows.to_vec();
        rows.sort_by_key(|row| table.sensitive()[row.index()]);
        release.sensitive.extend(rows.iter().map(|row| table.sensitive()[row.index()]));
        membership.rows.extend(rows.iter().map(|row| row.0));
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(0);
        membership.policy_groups.push(index as u32);
    }
    (release, membership)
}

impl SeriesRun {
    fn new(schema: &Schema, policy: IncrementalKAnonymity) -> SeriesRun {
        SeriesRun { schema: schema.clone(), policy, history: History::default(), seen: Vec::new() }
    }

    fn group(&self, table: &Table) -> Result<Grouping, GroupingError> {
        self.policy.group(&self.schema, &self.history, table, &Lots::from_number(1))
    }

    /// What the gate says: faults, and how many people each concerns.
    fn judge(&self, table: &Table, release: &Release, membership: &Membership) -> Vec<(Fault, u64)> {
        let evidence = Evidence { schema: &self.schema, history: &self.history, table, release, membership };
        let findings = self.policy.promise().judge(evidence);
        findings.into_iter().map(|finding| (finding.fault, finding.people)).collect()
    }

    fn advance(&mut self, table: &Table, release: &Release, membership: &Membership, cells: Regions) {
        let id = |row: usize| table.key(membership.person(row).expect("nobody is counterfeit")).lo;
        let groups = 0..release.group_count();
        let rows = groups.flat_map(|group| release.group_rows(group).map(move |row| (group, row)));
        self.seen.push(rows.map(|(group, row)| (id(row), release.region(group).to_vec())).collect());
        let published = Published { cells, ..Published::default() };
        self.history = self.history.after(table, release, membership, published);
    }

    /// Publishes, and lets the check judge.
    fn publish(&mut self, people: &[CodedPerson]) -> Result<(Table, Grouping), GroupingError> {
        let table = table(&self.schema, people);
        let grouping = self.group(&table)?;
        grouping.assert_covers(&table);
        let (release, membership) = recode(self.history.releases + 1, &table, &grouping);
        assert_eq!(self.judge(&table, &release, &membership), []);
        self.advance(&table, &release, &membership, grouping.cells.clone());
        Ok((table, grouping))
    }

    /// The size of the smallest class of the inference table of every set of releases.
    fn smallest_inferred_class(&self) -> u32 {
        let inferred = |set: u32| {
            let mut inference = InferenceTable::default();
            for (_, seen) in self.seen.iter().enumerate().filter(|(index, _)| set >> index & 1 == 1) {
                inference.observe(seen.iter().map(|(&id, region)| (id, region.as_slice())));
            }
            inference.class_sizes().into_values().min()
        };
        (1..1u32 << self.seen.len()).filter_map(inferred).min().unwrap_or(u32::MAX)
    }
}

/// The groups in words: the people of each, and what they are published with.
fn words(series: &SeriesRun, table: &Table, grouping: &Grouping, names: &BTreeMap<u64, &str>) -> Vec<String> {
    let group = |index: usize| {
        let rows = grouping.group(index).rows;
        let mut people: Vec<&str> = rows.iter().map(|&row| names[&table.key(row).lo]).collect();
        people.sort_unstable();
        let mut text = people.join(" ");
        for (quasi, &span) in series.schema.quasi.iter().zip(grouping.regions.get(index)) {
            text.push(' ');
            quasi.print(span, &mut text);
        }
        text
    };
    let mut groups: Vec<String> = (0..grouping.len()).map(group).collect();
    groups.sort();
    groups
}

fn integer(name: &str, lo: i64, hi: i64) -> Quasi {
    Quasi::new(name, Domain::Integer { lo, hi })
}

fn category(rows: &[&str]) -> Quasi {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
    Quasi::new("category", Domain::Category(Hierarchy::from_rows(&rows).unwrap()))
}

// ---- goldens ----

fn patients() -> (Schema, Vec<CodedPerson>, BTreeMap<u64, &'static str>) {
    let schema = Schema::new(
        "name",
        vec![integer("zip", 20430, 20440), category(&["F;*", "M;*"]), integer("age", 0, 121)],
        vec![Sensitive::open("disease")],
    );
    let rows = [
        ("Anna", 20433, 0, 21),
        ("Bob", 20437, 1, 48),
        ("Carol", 20433, 0, 26),
        ("Daisy", 20437, 0, 31),
        ("Eddy", 20437, 1, 54),
        ("Frank", 20435, 0, 31),
    ];
    let person = |(id, &(_, zip, sex, age)): (usize, &(&str, u32, u32, u32))| CodedPerson {
        id: id as u64,
        codes: vec![zip - 20430, sex, age],
        value: id as u32,
    };
    let people = rows.iter().enumerate().map(person).collect();
    (schema, people, (0..).zip(rows.map(|row| row.0)).collect())
}

/// science G3.
#[test]
fn g3_newcomers_refine_the_cell_they_fall_into() {
    let (schema, people, names) = patients();
    let mut series = SeriesRun::new(&schema, CELLS);
    let (table, grouping) = series.publish(&people[..4]).unwrap();
    assert_eq!(
        words(&series, &table, &grouping, &names),
        ["Anna Carol [20430,20434) * *", "Bob Daisy [20434,20440) * *"]
    );
    let (table, grouping) = series.publish(&people).unwrap();
    assert_eq!(
        words(&series, &table, &grouping, &names),
        ["Anna Carol [20430,20434) * *", "Bob Eddy [20434,20440) M *", "Daisy Frank [20434,20440) F *"]
    );
    assert_eq!(series.smallest_inferred_class(), 2);
    let cohort = |id| series.history.record(key(id)).unwrap().cohort;
    assert_eq!([0, 1, 2, 3, 4, 5].map(cohort), [1, 1, 1, 1, 2, 2]);
}

/// science G4.
#[test]
fn g4_cohorts_keep_their_own_boxes() {
    let (schema, people, names) = patients();
    let mut series = SeriesRun::new(&schema, COHORTS);
    let (table, grouping) = series.publish(&people[..4]).unwrap();
    let first = ["Anna Carol [20433,20434) F [21,27)", "Bob Daisy [20437,20438) * [31,49)"];
    assert_eq!(words(&series, &table, &grouping, &names), first);
    let (table, grouping) = series.publish(&people).unwrap();
    let second = [first[0], first[1], "Eddy Frank [20435,20438) * [31,55)"];
    assert_eq!(words(&series, &table, &grouping, &names), second);
    assert_eq!(series.smallest_inferred_class(), 2);
}

/// A schema of one number from 0 to 100, and people with these values.
fn numbers(values: &[u32]) -> (Schema, Vec<CodedPerson>) {
    let schema = Schema::new("id", vec![integer("x", 0, 101)], vec![Sensitive::open("s")]);
    let person = |(id, &code): (usize, &u32)| CodedPerson { id: id as u64, codes: vec![code], value: id as u32 };
    (schema, values.iter().enumerate().map(person).collect())
}

/// The regions that a build would publish that takes bounding boxes for cells.
fn bounding_boxes(table: &Table, grouping: &Grouping) -> Regions {
    let mut boxes = Regions::new(table.quasi_count());
    for group in grouping.groups() {
        let span = |attribute: usize| {
            let codes = group.rows.iter().map(|row| Span::exact(table.quasi(attribute)[row.index()]));
            codes.fold(Span::EMPTY, Span::join)
        };
        boxes.push(&(0..table.quasi_count()).map(span).collect::<Vec<_>>());
    }
    boxes
}

/// science G6, E1-14: a build that publishes bounding boxes is refused.
#[test]
fn g6_bounding_boxes_are_refused() {
    let (schema, people) = numbers(&[20, 24, 50, 60, 30]);
    let mut cells = SeriesRun::new(&schema, CELLS);
    cells.publish(&people[..4]).unwrap();
    let (_, grouping) = cells.publish(&people).unwrap();
    assert_eq!(grouping.groups().map(|group| group.rows.len()).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(cells.smallest_inferred_class(), 2);
    assert_eq!(cells.seen[1][&4], [Span::new(25, 100)]);

    let mut boxes = SeriesRun::new(&schema, CELLS);
    let mut grouping = Grouping::default();
    grouping.push(&[Row(0), Row(1)], &[]);
    for people in [&people[..4], &people[..]] {
        let table = table(&schema, people);
        let of =
            |wanted: fn(u64) -> bool| -> Vec<Row> { table.rows().filter(|&row| wanted(table.key(row).lo)).collect() };
        let mut grouping = Grouping::default();
        grouping.push(&of(|id| id < 2), &[]);
        grouping.push(&of(|id| id >= 2), &[]);
        grouping.regions = bounding_boxes(&table, &grouping);
        let (release, membership) = recode(boxes.history.releases + 1, &table, &grouping);
        let breaches = boxes.judge(&table, &release, &membership);
        if boxes.history.releases == 1 {
            assert_eq!(breaches, [(Fault::RegionNotNested, 2)]);
        } else {
            assert_eq!(breaches, []);
        }
        boxes.advance(&table, &release, &membership, Regions::default());
    }
    assert_eq!(boxes.smallest_inferred_class(), 1);
}

/// science G7: a cross of five points is one leaf of five; 1, 1, 2, 2, 2, 2 with k = 2 is cut at 1.
#[test]
fn g7_a_cross_is_one_leaf_and_both_places_around_the_median_are_tried() {
    let plane = Schema::new("id", vec![integer("x", -5, 6), integer("y", -5, 6)], vec![Sensitive::open("s")]);
    let cross = [(4, 5), (6, 5), (5, 4), (5, 6), (5, 5)];
    let point = |(id, &(x, y)): (usize, &(u32, u32))| CodedPerson { id: id as u64, codes: vec![x, y], value: 0 };
    let cross: Vec<CodedPerson> = cross.iter().enumerate().map(point).collect();
    let sizes = |schema: &Schema, policy, people: &[CodedPerson]| {
        let (_, grouping) = SeriesRun::new(schema, policy).publish(people).unwrap();
        grouping.groups().map(|group| group.rows.len()).collect::<Vec<_>>()
    };
    let (line, people) = numbers(&[1, 1, 2, 2, 2, 2]);
    assert_eq!(sizes(&plane, CELLS, &cross), [5]);
    assert_eq!(sizes(&line, CELLS, &people), [2, 4]);
    // Groups of cohorts are no cells, so no cut must go through the cross.
    assert_eq!(sizes(&plane, COHORTS, &cross), [3, 2]);
    assert_eq!(sizes(&line, COHORTS, &people), [2, 2, 2]);
}

// ---- refusals ----

#[test]
fn too_few_people_and_uneven_values_are_refused() {
    let (schema, people) = numbers(&[1, 2, 3]);
    let error = SeriesRun::new(&schema, IncrementalKAnonymity { k: 4, ..COHORTS }).publish(&people).err();
    assert_eq!(error, Some(GroupingError::TooFew { rows: 3, least: 4 }));
    let mut same = people.clone();
    same[1].value = 0;
    same[2].value = 0;
    let error = SeriesRun::new(&schema, IncrementalKAnonymity { l: Some(2), ..COHORTS }).publish(&same).err();
    assert_eq!(error, Some(GroupingError::Uneven { rows: 3, l: 2, cohorts: true }));
    let cells = IncrementalKAnonymity { l: Some(2), cohorts: false, ..COHORTS };
    let error = SeriesRun::new(&schema, cells).publish(&same).expect_err("one value").to_string();
    assert!(error.contains("all of them together must pass") && !error.contains("raise k"), "{error}");
}

#[test]
fn a_table_without_quasi_attributes_is_refused() {
    let schema = Schema::new("id", Vec::new(), vec![Sensitive::open("s")]);
    let people: Vec<CodedPerson> = (0..5).map(|id| CodedPerson { id, codes: Vec::new(), value: 0 }).collect();
    assert_eq!(SeriesRun::new(&schema, COHORTS).publish(&people).err(), Some(GroupingError::NoQuasi));
}

#[test]
fn departures_and_changes_are_refused() {
    let (schema, people) = numbers(&[1, 2, 3, 50, 51, 52]);
    for policy in [CELLS, COHORTS] {
        let mut series = SeriesRun::new(&schema, policy);
        series.publish(&people).unwrap();
        assert!(matches!(series.publish(&people[1..]), Err(GroupingError::Deleted { records: 1, .. })));
        let mut moved = people.clone();
        moved[0].codes[0] = 99;
        assert!(matches!(series.publish(&moved), Err(GroupingError::Changed { records: 1, what: "quasi", .. })));
        let mut ill = people.clone();
        ill[0].value = 9;
        assert!(matches!(series.publish(&ill), Err(GroupingError::Changed { records: 1, what: "sensitive", .. })));
        series.publish(&people).unwrap();
    }
}

#[test]
fn a_small_batch_waits_and_comes_out_with_the_next() {
    let (schema, people) = numbers(&[1, 2, 50, 51, 30, 31, 32]);
    let mut series = SeriesRun::new(&schema, COHORTS);
    series.publish(&people[..4]).unwrap();
    let (_, grouping) = series.publish(&people[..5]).unwrap();
    assert_eq!((grouping.withheld.len(), grouping.len()), (1, 2));
    let (_, grouping) = series.publish(&people).unwrap();
    assert_eq!((grouping.withheld.len(), grouping.len()), (0, 3));
}

#[test]
fn a_departure_takes_its_whole_group_out_for_good() {
    let (schema, people) = numbers(&[1, 2, 50, 51, 1]);
    for policy in [CELLS, COHORTS] {
        let mut series = SeriesRun::new(&schema, IncrementalKAnonymity { on_delete: OnDelete::Withhold, ..policy });
        series.publish(&people[..4]).unwrap();
        let (table, grouping) = series.publish(&people[1..4]).unwrap();
        assert_eq!((grouping.withheld.len(), grouping.len()), (1, 1));
        assert_eq!(table.key(grouping.withheld[0]).lo, 1);
        // The one who left is back, and somebody new falls into the same place: all of them wait.
        let (_, grouping) = series.publish(&people).unwrap();
        assert_eq!((grouping.withheld.len(), grouping.len()), (3, 1));
        assert_eq!(series.smallest_inferred_class(), 2);
    }
}

/// One old person and one new in a group: if both went, the old one alone would keep the coarse region.
#[test]
fn withholding_is_refused_where_it_would_show_who_was_first() {
    let (schema, people) = numbers(&[10, 40, 60, 11, 41]);
    let mut series = SeriesRun::new(&schema, IncrementalKAnonymity { on_delete: OnDelete::Withhold, ..CELLS });
    series.publish(&people[..3]).unwrap();
    series.publish(&people).unwrap();
    assert_eq!(series.seen[1][&0], series.seen[1][&3]);
    assert!(matches!(series.publish(&people[1..]), Err(GroupingError::Deleted { records: 1, .. })));
    // The check, too, refuses a release that leaves them out.
    let table = table(&schema, &people[1..]);
    let mut grouping = Grouping::default();
    let stay: Vec<Row> = table.rows().filter(|&row| table.key(row).lo != 3).collect();
    grouping.push_with_region(&stay, &[], &series.seen[1][&1].clone());
    grouping.withheld = table.rows().filter(|&row| table.key(row).lo == 3).collect();
    let (release, membership) = recode(3, &table, &grouping);
    let breaches = series.judge(&table, &release, &membership);
    assert_eq!(breaches, [(Fault::LeftAlone, 1)]);
    series.advance(&table, &release, &membership, Regions::default());
    assert_eq!(series.smallest_inferred_class(), 1);
}

#[test]
fn people_outside_all_boxes_wait_in_tight_mode() {
    let (schema, people) = numbers(&[10, 20, 50, 60, 30, 55]);
    let mut series = SeriesRun::new(&schema, IncrementalKAnonymity { tight: true, ..CELLS });
    let (_, grouping) = series.publish(&people[..4]).unwrap();
    assert_eq!(
        grouping.regions.iter().map(|region| region[0]).collect::<Vec<_>>(),
        [Span::new(10, 20), Span::new(50, 60)]
    );
    let (table, grouping) = series.publish(&people).unwrap();
    assert_eq!(grouping.withheld.iter().map(|&row| table.key(row).lo).collect::<Vec<_>>(), [4]);
    assert_eq!(series.smallest_inferred_class(), 2);
}

/// People enough that both sides of a cut go to different threads, and codes too wide for two bytes.
#[test]
fn groups_of_a_large_table_do_not_depend_on_threads() {
    for wide in [1_000, 1_000_000] {
        let quasi = vec![integer("x", 0, wide), integer("y", 0, 50), category(&["a;x;*", "b;x;*", "c;c;*"])];
        let schema = Schema::new("id", quasi, vec![Sensitive::open("s")]);
        let mut rng = Rng::from_number(9);
        let person = |id: u64| {
            let codes = vec![rng.below(wide as u64) as u32, rng.below(50) as u32, rng.below(3) as u32];
            CodedPerson { id, codes, value: rng.below(9) as u32 }
        };
        let people: Vec<CodedPerson> = (0..20_000).map(person).collect();
        for policy in [COHORTS, CELLS, IncrementalKAnonymity { tight: true, ..CELLS }] {
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut series = SeriesRun::new(&schema, policy);
                    [12_000, 20_000].map(|end| series.publish(&people[..end]).unwrap().1)
                })
            };
            assert_eq!(run(1), run(3));
        }
    }
}

#[test]
fn numbers_and_null_are_kept_apart_or_published_as_the_root() {
    let schema = Schema::new("id", vec![integer("x", 0, 10).nullable()], vec![Sensitive::open("s")]);
    let person = |(id, &code): (usize, &u32)| CodedPerson { id: id as u64, codes: vec![code], value: 0 };
    let people = |codes: &[u32]| codes.iter().enumerate().map(person).collect::<Vec<_>>();
    let spans = |policy: IncrementalKAnonymity, codes: &[u32]| {
        let (_, grouping) = SeriesRun::new(&schema, policy).publish(&people(codes)).unwrap();
        grouping.regions.iter().map(|region| (region[0].lo, region[0].hi)).collect::<Vec<_>>()
    };
    // Two people without a value stand apart; one alone keeps the whole column in cells together, and
    // only one companion in cohorts.
    assert_eq!(spans(CELLS, &[1, 2, 7, 8, 10, 10]), [(0, 2), (3, 9), (10, 10)]);
    assert_eq!(spans(CELLS, &[1, 2, 7, 8, 8, 10]), [(0, 10)]);
    assert_eq!(spans(COHORTS, &[1, 2, 7, 8, 10, 10]), [(1, 2), (7, 8), (10, 10)]);
    assert_eq!(spans(COHORTS, &[1, 2, 7, 8, 8, 10]), [(1, 2), (8, 8), (0, 10)]);
}

/// Nine people on a line, six of them in the first release as [1,3] and [50,52]; then groups made by
/// hand, and which sentences the check finds for them.
fn found(policy: IncrementalKAnonymity, groups: &[(&[u64], u32, u32)], alter: impl Fn(&mut Release)) -> Vec<Fault> {
    let (schema, mut people) = numbers(&[1, 2, 3, 50, 51, 52, 30, 31, 32]);
    people[7].value = people[6].value;
    let mut series = SeriesRun::new(&schema, policy);
    let by_hand = |table: &Table, groups: &[(&[u64], u32, u32)]| {
        let mut grouping = Grouping::default();
        let mut left: Vec<Row> = table.rows().collect();
        for &(ids, lo, hi) in groups {
            let (rows, rest) = left.into_iter().partition::<Vec<Row>, _>(|&row| ids.contains(&table.key(row).lo));
            grouping.push_with_region(&rows, &[], &[Span::new(lo, hi)]);
            left = rest;
        }
        grouping.withheld = left;
        grouping
    };
    let first = table(&schema, &people[..6]);
    let (release, membership) = recode(1, &first, &by_hand(&first, &[(&[0, 1, 2], 1, 3), (&[3, 4, 5], 50, 52)]));
    assert_eq!(series.judge(&first, &release, &membership), []);
    series.advance(&first, &release, &membership, Regions::default());
    let second = table(&schema, &people);
    let (mut release, membership) = recode(2, &second, &by_hand(&second, groups));
    alter(&mut release);
    series.judge(&second, &release, &membership).into_iter().map(|(fault, _)| fault).collect()
}

#[test]
fn every_way_to_break_the_promise_is_named() {
    let old: [(&[u64], u32, u32); 2] = [(&[0, 1, 2], 1, 3), (&[3, 4, 5], 50, 52)];
    let check = |policy, groups: &[(&[u64], u32, u32)], wanted: &[Fault]| {
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        assert_eq!(found(policy, groups, |_| ()), wanted);
    };
    for policy in [COHORTS, CELLS] {
        check(policy, &[old[0], old[1], (&[6, 7, 8], 30, 32)], &[]);
        check(policy, &[old[0], old[1]], &[]);
        check(policy, &[old[0], old[1], (&[6], 30, 32)], &[Fault::TooFewPeople]);
        check(policy, &[old[0], old[1], (&[6, 7, 8], 30, 31)], &[Fault::RegionMisses]);
        check(policy, &[(&[0, 1], 1, 3), old[1], (&[6, 7, 8], 30, 32)], &[Fault::LeftAlone]);
        let grown: &[Fault] = match policy.cohorts {
            true => &[Fault::RegionNotNested, Fault::GroupAltered],
            false => &[Fault::RegionNotNested],
        };
        check(policy, &[(&[0, 1, 2], 1, 4), old[1]], grown);
        let guarded = IncrementalKAnonymity { l: Some(2), ..policy };
        check(guarded, &[old[0], old[1], (&[6, 7, 8], 30, 32)], &[Fault::ValueTooFrequent]);
    }
    let mixed = [Fault::RegionNotNested, Fault::GroupAltered, Fault::CohortsMixed];
    check(COHORTS, &[(&[0, 1, 2, 6, 7], 1, 31), old[1]], &mixed);
    check(COHORTS, &[(&[0, 1, 2, 6], 1, 30), old[1]], &[&mixed[..], &[Fault::CohortTooSmall]].concat());
    check(CELLS, &[old[0], old[1], (&[6, 7, 8], 30, 50)], &[Fault::RegionsOverlap]);
    let altered = found(COHORTS, &[old[0], old[1]], |release| release.counterfeits[0] = 1);
    assert_eq!(altered, [Fault::CounterfeitsMiscounted, Fault::UnexpectedCounterfeits]);
}

/// A build that goes on cutting old groups, or narrows their regions, breaks no count: every part has k people
/// of one arrival inside the region they had. Groups with cohorts never change all the same.
#[test]
fn a_group_with_cohorts_comes_again_as_it_was_or_not_at_all() {
    let (schema, people) = numbers(&[1, 2, 3, 4, 50, 51]);
    let told = |policy: IncrementalKAnonymity, second: &[(&[u64], u32, u32)]| {
        let mut series = SeriesRun::new(&schema, policy);
        let all = table(&schema, &people);
        let by_hand = |groups: &[(&[u64], u32, u32)]| {
            let mut grouping = Grouping::default();
            for &(ids, lo, hi) in groups {
                let rows: Vec<Row> = all.rows().filter(|&row| ids.contains(&all.key(row).lo)).collect();
                grouping.push_with_region(&rows, &[], &[Span::new(lo, hi)]);
            }
            let is_in = |row: &Row| grouping.groups().any(|group| group.rows.contains(row));
            let out: Vec<Row> = all.rows().filter(|row| !is_in(row)).collect();
            grouping.withheld = out;
            grouping
        };
        let (release, membership) = recode(1, &all, &by_hand(&[(&[0, 1, 2, 3], 0, 9), (&[4, 5], 50, 51)]));
        series.advance(&all, &release, &membership, Regions::default());
        let (release, membership) = recode(2, &all, &by_hand(second));
        series.judge(&all, &release, &membership)
    };
    let rest: (&[u64], u32, u32) = (&[4, 5], 50, 51);
    let cut: [(&[u64], u32, u32); 3] = [(&[0, 1], 0, 2), (&[2, 3], 3, 9), rest];
    assert_eq!(told(COHORTS, &cut), [(Fault::GroupAltered, 4)]);
    assert_eq!(told(CELLS, &cut), [], "the paper's own way");
    assert_eq!(told(COHORTS, &[(&[0, 1, 2, 3], 1, 4), rest]), [(Fault::GroupAltered, 4)]);
    assert_eq!(told(COHORTS, &[(&[0, 1, 2, 3], 0, 9), rest]), []);
    assert_eq!(told(COHORTS, &[rest]), [], "a whole group may be left out");
}

#[test]
fn regions_off_the_grid_and_people_who_are_back_are_named() {
    let (mut schema, people) = numbers(&[1, 2, 3, 50, 51, 52]);
    let mut series = SeriesRun::new(&schema, IncrementalKAnonymity { on_delete: OnDelete::Withhold, ..COHORTS });
    series.publish(&people).unwrap();
    series.publish(&people[1..]).unwrap();
    let table = table(&schema, &people);
    let mut grouping = Grouping::default();
    for (low, lo, hi) in [(true, 1, 3), (false, 50, 52)] {
        let rows: Vec<Row> = table.rows().filter(|&row| (table.key(row).lo < 3) == low).collect();
        grouping.push_with_region(&rows, &[], &[Span::new(lo, hi)]);
    }
    let (release, membership) = recode(3, &table, &grouping);
    let found = series.judge(&table, &release, &membership);
    assert_eq!(found, [(Fault::CameBack, 3)], "the three whose group was withheld are back");
    schema.quasi[0].grid = Grid::Every { pitch: 10, phase: 0 };
    series.schema = schema;
    let found = series.judge(&table, &release, &membership);
    assert_eq!(found[0], (Fault::RegionTooNarrow, 6));
}

// ---- random histories ----

/// Attributes of every kind: numbers with grid, least width and NULL, constants, flat, unbalanced and
/// single-leaf hierarchies.
fn random_quasi(rng: &mut Rng) -> Quasi {
    let mut quasi = match rng.below(8) {
        0 => integer("narrow", 0, 4),
        1 => integer("wide", 0, 200_000),
        2 => integer("constant", 7, 8),
        3 => category(&["a;x;p;*", "b;x;p;*", "c;y;p;*", "d;d;q;*", "e;e;e;*", "f;z;q;*", "g;z;q;*"]),
        4 => category(&["a", "b", "c", "d", "e"]),
        5 => category(&["only;*"]),
        _ => integer("plain", 0, 40),
    };
    if rng.below(3) == 0 {
        quasi = quasi.nullable();
    }
    if rng.below(3) == 0 {
        quasi.min_width = 1 + rng.below(4) as u32;
    }
    if quasi.hierarchy().is_none() {
        quasi.grid = match rng.below(4) {
            0 => Grid::Every { pitch: 5, phase: rng.below(5) as u32 },
            1 => Grid::Lines(vec![3, 9, 10, 25]),
            _ => Grid::Free,
        };
    }
    quasi.weight = if rng.below(4) == 0 { 2.0 } else { 1.0 };
    quasi
}

/// What the evolution of a table looks like.
struct Evolution {
    schema: Schema,
    /// The people present at each release; they are only added.
    snapshots: Vec<Vec<CodedPerson>>,
}

fn evolution(seed: u64) -> Evolution {
    let mut rng = Rng::from_number(seed);
    let attributes = 1 + rng.below(4);
    let quasi: Vec<Quasi> = (0..attributes).map(|_| random_quasi(&mut rng)).collect();
    let schema = Schema::new("id", quasi, vec![Sensitive::open("s")]);
    // Duplicates beyond 2k, constants, keys that grow with time, ends of the domain.
    let styles: Vec<u64> = (0..attributes).map(|_| rng.below(6)).collect();
    let releases = 2 + rng.below(4);
    let mut people: Vec<CodedPerson> = Vec::new();
    let mut snapshots = Vec::new();
    for release in 0..releases {
        let batch = [0, 1, 3, 10, 30, 80]
            [rng.below(if release == 0 { 2 } else { 6 }) as usize + if release == 0 { 4 } else { 0 }];
        for _ in 0..batch {
            let code = |(quasi, style): (&Quasi, &u64)| {
                let size = u64::from(quasi.size());
                let code = match style {
                    0 => rng.below(size.min(3)),
                    1 => 0,
                    2 => release * size / releases + rng.below(size.div_ceil(releases)),
                    3 => [0, size - 1][rng.below(2) as usize],
                    _ => rng.below(size),
                };
                code.min(size - 1) as u32
            };
            let codes = schema.quasi.iter().zip(&styles).map(code).collect();
            people.push(CodedPerson { id: people.len() as u64, codes, value: 0 });
        }
        snapshots.push(people.clone());
    }
    // Now and then most people have one value, far above one in l.
    let values = 2 + rng.below(5);
    let is_skewed = rng.below(3) == 0;
    let assigned: Vec<u32> =
        people.iter().map(|_| if is_skewed && rng.below(3) > 0 { 0 } else { rng.below(values) as u32 }).collect();
    for person in snapshots.iter_mut().flatten() {
        person.value = assigned[person.id as usize];
    }
    Evolution { schema, snapshots }
}

/// Whether a span can stand in a release, from the description of the columns.
fn printable(quasi: &Quasi, span: Span) -> bool {
    match quasi.hierarchy() {
        Some(_) => span.width() >= quasi.min_width || span == quasi.root(),
        None => quasi.admits(span),
    }
}

/// science E1-10, by brute force: no strict cut of a group's cell leaves k people on both sides.
fn assert_no_cut_is_left(schema: &Schema, table: &Table, grouping: &Grouping, k: u32) {
    for (index, group) in grouping.groups().enumerate() {
        for (attribute, quasi) in schema.quasi.iter().enumerate() {
            let codes: Vec<u32> = group.rows.iter().map(|row| table.quasi(attribute)[row.index()]).collect();
            let cell = grouping.regions.get(index)[attribute];
            for at in cell.lo..cell.hi.min(cell.lo + 300) {
                let left = codes.iter().filter(|&&code| code <= at).count();
                let allowed = printable(quasi, Span::new(cell.lo, at)) && printable(quasi, Span::new(at + 1, cell.hi));
                assert!(
                    !allowed || left < k as usize || codes.len() - left < k as usize,
                    "a cut of attribute {attribute} was missed"
                );
            }
        }
    }
}

/// science E1-12: people with equal quasi values have equal regions.
fn assert_equal_people_are_published_alike(table: &Table, grouping: &Grouping) {
    let mut seen: BTreeMap<Vec<u32>, Vec<Span>> = BTreeMap::new();
    for (index, group) in grouping.groups().enumerate() {
        for &row in group.rows {
            let codes = (0..table.quasi_count()).map(|attribute| table.quasi(attribute)[row.index()]).collect();
            let region = grouping.regions.get(index).to_vec();
            assert_eq!(*seen.entry(codes).or_insert_with(|| region.clone()), region);
        }
    }
}

/// science E1-7: a point lies in exactly one cell.
fn assert_cells_partition(schema: &Schema, grouping: &Grouping, rng: &mut Rng) {
    for _ in 0..50 {
        let probe: Vec<u32> = schema.quasi.iter().map(|quasi| rng.below(u64::from(quasi.size())) as u32).collect();
        let holds = |region: &&[Span]| region.iter().zip(&probe).all(|(span, &code)| span.contains(code));
        assert_eq!(grouping.regions.iter().filter(holds).count(), 1);
    }
}

fn random_policy(rng: &mut Rng) -> IncrementalKAnonymity {
    IncrementalKAnonymity {
        k: 2 + rng.below(4) as u32,
        cohorts: rng.below(2) == 0,
        l: (rng.below(3) == 0).then_some(2),
        tight: rng.below(3) == 0,
        on_delete: OnDelete::Withhold,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// science E1-7, E1-8, E1-9, E1-10, E1-11, E1-12, E1-13, over histories of additions. That
    /// every unit of a cohort has k people and passes the guard is asked by the check in `publish`.
    #[test]
    fn the_promise_holds_over_every_evolution(seed in any::<u64>()) {
        let Evolution { schema, snapshots } = evolution(seed);
        let mut rng = Rng::from_number(seed ^ 1);
        let policy = random_policy(&mut rng);
        let mut series = SeriesRun::new(&schema, policy);
        let mut before: Option<(Table, Grouping)> = None;
        for people in &snapshots {
            let (table, grouping) = match series.publish(people) {
                Ok(published) => published,
                Err(GroupingError::TooFew { .. } | GroupingError::Uneven { .. }) => break,
                Err(error) => panic!("{error}"),
            };
            if !policy.cohorts {
                assert_equal_people_are_published_alike(&table, &grouping);
            }
            // The guard, with cohorts and without: in every group of every release.
            for group in grouping.groups().filter(|_| policy.l.is_some()) {
                let mut counts: BTreeMap<Value, u32> = BTreeMap::new();
                group.rows.iter().for_each(|row| *counts.entry(table.sensitive()[row.index()]).or_default() += 1);
                let most = counts.values().copied().max().unwrap_or(0);
                prop_assert!(most * policy.l.unwrap_or(1) <= group.rows.len() as u32);
            }
            let plain = !policy.cohorts && !policy.tight;
            if plain {
                assert_cells_partition(&schema, &grouping, &mut rng);
                if policy.l.is_none() {
                    assert_no_cut_is_left(&schema, &table, &grouping, policy.k);
                    prop_assert!(grouping.withheld.is_empty());
                }
            }
            if let Some((old_table, old)) = &before {
                // science E1-8, E1-13: nobody is withdrawn, and no region is outside the one before it.
                let seen = &series.seen[series.seen.len() - 2..];
                for (id, then) in &seen[0] {
                    let now = &seen[1][id];
                    prop_assert!(now.iter().zip(then).all(|(now, then)| now.subset(*then)));
                    prop_assert!(!policy.cohorts || now == then);
                }
                // science E1-11: nobody new leaves the release as it was. That the search finds the leaf that the tree would is
                // tested where it is, in `space/stab`.
                if old_table == &table {
                    prop_assert_eq!(&grouping, old);
                }
            }
            before = Some((table, grouping));
        }
        // science E1-9: the inference table of every set of releases.
        prop_assert!(series.seen.is_empty() || series.smallest_inferred_class() >= policy.k);
    }

    /// science E1-13: values are permuted within the units of a series, and no release changes.
    #[test]
    fn who_stands_where_does_not_depend_on_who_has_which_value(seed in any::<u64>()) {
        let Evolution { schema, snapshots } = evolution(seed);
        let mut rng = Rng::from_number(seed ^ 2);
        let policy = IncrementalKAnonymity { cohorts: true, l: Some(2), ..random_policy(&mut rng) };
        let run = |values: &BTreeMap<u64, u32>| {
            let mut series = SeriesRun::new(&schema, policy);
            let mut groupings = Vec::new();
            for people in &snapshots {
                let valued = |person: &CodedPerson| CodedPerson {
                    value: values.get(&person.id).copied().unwrap_or(person.value),
                    ..person.clone()
                };
                let people: Vec<CodedPerson> = people.iter().map(valued).collect();
                match series.publish(&people) {
                    Ok(published) => groupings.push(published),
                    Err(_) => break,
                }
            }
            (groupings, series.history)
        };
        let (before, history) = run(&BTreeMap::new());
        let Some((table, last)) = before.last() else { return Ok(()) };
        let mut permuted = BTreeMap::new();
        for group in last.groups() {
            // Whoever waited before was held back because of the values of those they waited with: their values
            // stay. Everyone else of a unit may have any of its values.
            let came_at_once = |row: &&Row| {
                let record = history.record(table.key(**row)).expect("everyone published has a record");
                record.first_seen == record.cohort
            };
            let rows: Vec<&Row> = group.rows.iter().filter(came_at_once).collect();
            let mut values: Vec<u32> = rows.iter().map(|row| table.sensitive()[row.index()].0).collect();
            rng.shuffle(&mut values);
            permuted.extend(rows.iter().map(|row| table.key(**row).lo).zip(values));
        }
        let groupings = |run: &[(Table, Grouping)]| run.iter().map(|(_, grouping)| grouping.clone()).collect::<Vec<_>>();
        prop_assert_eq!(groupings(&run(&permuted).0), groupings(&before));
    }

    /// The same groups whatever the number of threads and the order of the people.
    #[test]
    fn groups_do_not_depend_on_threads(seed in any::<u64>()) {
        let Evolution { schema, snapshots } = evolution(seed);
        let policy = random_policy(&mut Rng::from_number(seed ^ 3));
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut series = SeriesRun::new(&schema, policy);
                snapshots.iter().map_while(|people| series.publish(people).ok()).map(|(_, grouping)| grouping).collect::<Vec<_>>()
            })
        };
        prop_assert_eq!(run(1), run(3));
    }

    /// People leave at random: the policy refuses, or the definition still holds over all releases.
    #[test]
    fn departures_never_break_the_definition(seed in any::<u64>()) {
        let Evolution { schema, snapshots } = evolution(seed);
        let mut rng = Rng::from_number(seed ^ 4);
        let policy = random_policy(&mut rng);
        let mut series = SeriesRun::new(&schema, policy);
        for people in &snapshots {
            let here: Vec<CodedPerson> = people.iter().filter(|_| rng.below(20) > 0).cloned().collect();
            if series.publish(&here).is_err() && series.seen.is_empty() {
                break;
            }
            prop_assert!(series.seen.is_empty() || series.smallest_inferred_class() >= policy.k);
        }
    }

    /// science E1-14 and the check's soundness: whatever regions and groups are published, if the check
    /// has found nothing so far, the definition holds.
    #[test]
    fn what_the_check_lets_pass_keeps_the_definition(seed in any::<u64>()) {
        let Evolution { schema, snapshots } = evolution(seed);
        let mut rng = Rng::from_number(seed ^ 5);
        let policy = IncrementalKAnonymity { k: 2, l: None, ..random_policy(&mut rng) };
        let mut series = SeriesRun::new(&schema, policy);
        let kind = rng.below(4);
        for people in &snapshots {
            let here: Vec<CodedPerson> = people.iter().filter(|_| kind != 3 || rng.below(30) > 0).cloned().collect();
            let table = table(&schema, &here);
            let Ok(grouping) = series.group(&table) else { break };
            let mut mutant = Grouping::default();
            for (index, group) in grouping.groups().enumerate() {
                let region = grouping.regions.get(index);
                match kind {
                    // A group is cut in two wherever its rows fall, or left out.
                    1 if group.rows.len() >= 4 && rng.below(4) == 0 => {
                        mutant.push_with_region(&group.rows[..2], &[], region);
                        mutant.push_with_region(&group.rows[2..], &[], region);
                    }
                    2 if rng.below(10) == 0 => mutant.withheld.extend(group.rows),
                    _ => mutant.push_with_region(group.rows, &[], region),
                }
            }
            if kind == 0 {
                mutant.regions = bounding_boxes(&table, &mutant);
            }
            mutant.withheld.extend(&grouping.withheld);
            if mutant.is_empty() {
                break;
            }
            let (release, membership) = recode(series.history.releases + 1, &table, &mutant);
            let breaches = series.judge(&table, &release, &membership);
            let fine = breaches.iter().all(|(fault, _)| *fault == Fault::RegionTooNarrow);
            series.advance(&table, &release, &membership, mutant.cells.clone());
            if !fine {
                break;
            }
            prop_assert!(series.smallest_inferred_class() >= policy.k);
        }
    }
}
