//! What a policy file may say, what it may not, and where the finger points.

use super::*;
use crate::model::{Domain, Grid, Span};
use crate::promise::{
    Base, DiversityMode, Format, IncrementalKAnonymity, IncrementalLDiversity, KAnonymity, ListedShare, LossKind,
    MInvariance, OnDelete, OnIneligible, Score, SeedRule, SeriesPromise, XyAnonymity, XyLinkability,
};
use proptest::prelude::*;

const WARD: &str = r#"policy = 1

[series]
name    = "ward-stays"
title   = "Inpatient stays, quarterly"
contact = "data-steward@hospital.example"

[columns]
patient_id  = { role = "identifier" }
full_name   = { role = "drop" }
age         = { role = "quasi", type = "integer", domain = [0, 120], weight = 2.0 }
postcode    = { role = "quasi", type = "category", hierarchy = "hierarchies/postcode.csv" }
sex         = { role = "quasi", type = "category", values = ["F", "M", "X"], missing = "error" }
admitted_on = { role = "quasi", type = "date", domain = [2020-01-15, 2020-04-01], grid = "month" }
cost        = { role = "quasi", type = "real", domain = [-10, 1000.5], precision = 0.1, grid = 25 }
diagnosis   = { role = "sensitive", type = "category", missing = "error" }
ward_type   = { role = "public", because = "Public bed plan, six values" }

[promise]
model = "m-invariance"
m     = 4

[counterfeits]
max_share = 0.05

[output]
formats    = ["csv"]
row_weight = false
"#;

const POSTCODES: &str = "\u{feff}1234;12**;*\r\n1299;12**;*\r\n\r\n2000;20**;*\r\n";

/// A folder with the hierarchy, and the policy file's path in it.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("hierarchies")).unwrap();
    std::fs::write(folder.path().join("hierarchies/postcode.csv"), POSTCODES).unwrap();
    let path = folder.path().join("tacenda.toml");
    (folder, path)
}

fn parse(text: &str) -> Result<Loaded, PolicyFileError> {
    let (_folder, path) = folder();
    parse_policy(text, &path)
}

/// The ward's file with one text put for another.
fn with(from: &str, to: &str) -> String {
    assert!(WARD.contains(from), "{from}");
    WARD.replacen(from, to, 1)
}

fn with_promise(promise: &str) -> String {
    with("model = \"m-invariance\"\nm     = 4\n", promise)
}

#[test]
fn the_file_of_the_design_is_read() {
    let (_folder, path) = folder();
    std::fs::write(&path, WARD).unwrap();
    let loaded = read_policy(&path).unwrap();
    let policy = &loaded.policy;
    let published: Vec<&str> = policy.schema.published_columns().collect();
    assert_eq!(published, ["age", "postcode", "sex", "admitted_on", "cost", "diagnosis", "ward_type"]);
    assert_eq!(
        (policy.schema.identifier.as_str(), &policy.schema.dropped[..]),
        ("patient_id", &["full_name".to_string()][..])
    );
    let quasi = &policy.schema.quasi;
    assert_eq!(quasi[0].domain, Domain::Integer { lo: 0, hi: 120 });
    assert_eq!((quasi[0].weight, quasi[0].nullable, quasi[0].size()), (2.0, true, 121));
    assert_eq!(quasi[1].hierarchy().map(|tree| (tree.leaf_count(), tree.height())), Some((4, 2)));
    assert_eq!((quasi[2].nullable, quasi[2].size()), (false, 3));
    assert_eq!(quasi[3].domain, Domain::Date { lo: 18_276, hi: 18_353 });
    assert_eq!(quasi[3].grid, Grid::Lines(vec![17, 46]));
    assert_eq!(quasi[4].domain, Domain::Real { lo: -100, hi: 10_005, decimals: 1 });
    assert_eq!(quasi[4].grid, Grid::Every { pitch: 250, phase: 100 });
    assert_eq!(policy.promise, MInvariance::new(4).into());
    assert_eq!((policy.limits.counterfeits, policy.limits.withheld), (0.05, 0.01));
    assert_eq!(policy.output, Output { formats: vec![Format::Csv], row_weight: false, ..Output::default() });
    assert_eq!((policy.series.name.as_str(), loaded.digest.len()), ("ward-stays", 64));
}

#[test]
fn the_digest_covers_the_hierarchies() {
    let (folder, path) = folder();
    let before = parse_policy(WARD, &path).unwrap().digest;
    assert_eq!(before, parse_policy(WARD, &path).unwrap().digest);
    std::fs::write(folder.path().join("hierarchies/postcode.csv"), "1234;1***;*\n2000;2***;*\n").unwrap();
    assert_ne!(before, parse_policy(WARD, &path).unwrap().digest);
}

#[test]
fn every_promise_is_read() {
    let policy = |text: &str| parse(&with_promise(text)).unwrap_or_else(|error| panic!("{error}")).policy;
    let promise = |text: &str, promise: SeriesPromise| assert_eq!(policy(text).promise, Promised::Series(promise));
    promise(
        "model = \"m-invariance\"\nm = 3\nk = 12\non_ineligible = \"defer\"\n",
        MInvariance { k: Some(12), on_ineligible: OnIneligible::Defer, ..MInvariance::new(3) }.into(),
    );
    let incremental = |rest: &str| format!("model = \"incremental-k-anonymity\"\nk = 5\n{rest}");
    let with = IncrementalKAnonymity::new(5);
    let without = IncrementalKAnonymity { cohorts: false, ..with };
    promise(&incremental(""), with.into());
    promise(
        &incremental("l = 3\non_delete = \"withhold\"\n"),
        IncrementalKAnonymity { l: Some(3), on_delete: OnDelete::Withhold, ..with }.into(),
    );
    promise(&incremental("cohorts = false\ntight = true\n"), IncrementalKAnonymity { tight: true, ..without }.into());
    promise(&incremental("cohorts = false\nl = 2\n"), IncrementalKAnonymity { l: Some(2), ..without }.into());
    let single = |rest: &str| format!("model = \"k-anonymity\"\nk = 5\n{rest}");
    let study = "optimise = false\nrefresh = \"when loss > 1.1 x static\"\nloss = \"height\"\naccept_series_risk = \"a study\"\n";
    let five = KAnonymity::new(5);
    let height = KAnonymity { optimise: false, refresh: Some(1.1), loss: LossKind::Height, ..five };
    promise(&single(study), height.into());
    let reasons = policy(&single(study)).reasons;
    assert_eq!(reasons, Reasons { accept_series_risk: Some("a study".into()), ..Reasons::default() });
    promise(&single("refresh = 2\n"), KAnonymity { refresh: Some(2.0), ..five }.into());
    promise(
        &single("base = \"k-member\"\nseed_rule = \"last-seed\"\n"),
        KAnonymity { base: Some(Base::KMember), seed_rule: SeedRule::LastSeed, ..five }.into(),
    );
    let diversity = |rest: &str| format!("model = \"incremental-l-diversity\"\nl = 3\n{rest}");
    promise(&diversity(""), IncrementalLDiversity::new(3).into());
    promise(
        &diversity("mode = \"paper\"\nmade_up = true\n"),
        IncrementalLDiversity { mode: DiversityMode::Paper, made_up: true, ..IncrementalLDiversity::new(3) }.into(),
    );
    let linked = with_promise("model = \"incremental-k-anonymity\"\nk = 5\n") + "linked_ids = true\n";
    assert!(parse(&linked).unwrap().policy.output.linked_ids);
}

#[test]
fn a_sensitive_value_may_be_published_coarser() {
    let labels = |extra: &str| {
        let text = with(
            "type = \"category\", missing = \"error\" }",
            &format!("hierarchy = \"hierarchies/postcode.csv\"{extra} }}"),
        );
        parse(&text.replace("m     = 4", "m = 2")).map(|loaded| loaded.policy.schema.sensitive[0].labels.clone())
    };
    let pair = |cell: &str, label: &str| (cell.to_string(), label.to_string());
    assert_eq!(labels("").unwrap(), [pair("1234", "1234"), pair("1299", "1299"), pair("2000", "2000")]);
    assert_eq!(labels(", level = 1").unwrap(), [pair("1234", "12**"), pair("1299", "12**"), pair("2000", "20**")]);
    assert_eq!(labels(", level = 2").unwrap_err().code(), "P224");
    assert_eq!(labels(", level = 3").unwrap_err().code(), "P224");
}

#[test]
fn a_promise_of_more_values_than_are_declared_is_a_fault() {
    let declared = |columns: &str, promise: &str| {
        let text = with("diagnosis   = { role = \"sensitive\", type = \"category\", missing = \"error\" }", columns);
        text.replacen("model = \"m-invariance\"\nm     = 4\n", promise, 1)
    };
    let four = "diagnosis = { role = \"sensitive\", values = [\"a\", \"b\", \"c\", \"d\"] }";
    let or_missing = "diagnosis = { role = \"sensitive\", values = [\"a\", \"b\", \"c\", \"d\"], missing = \"value\" }";
    let coarse = "diagnosis = { role = \"sensitive\", hierarchy = \"hierarchies/postcode.csv\", level = 1 }";
    let pair = format!("{coarse}\nsmoker = {{ role = \"sensitive\", values = [\"y\", \"n\"] }}");
    let open = format!("{coarse}\nsmoker = {{ role = \"sensitive\" }}");
    let invariance = |m: u32| format!("model = \"m-invariance\"\nm = {m}\n");
    let diversity = |l: u32| format!("model = \"incremental-l-diversity\"\nl = {l}\n");
    let guard = |l: u32| format!("model = \"incremental-k-anonymity\"\nk = 9\nl = {l}\n");
    for (columns, most) in [(four, 4), (or_missing, 5), (coarse, 2), (&pair, 4)] {
        for promise in [&invariance as &dyn Fn(u32) -> String, &diversity, &guard] {
            parse(&declared(columns, &promise(most))).unwrap_or_else(|error| panic!("{error}"));
            let more = (most + 1).to_string();
            assert_eq!(only_fault(&declared(columns, &promise(most + 1))), ("P228", more), "{columns}");
        }
    }
    parse(&declared(&open, &invariance(50))).unwrap_or_else(|error| panic!("{error}"));
    let error = parse(&declared(four, &invariance(5))).unwrap_err().to_string();
    assert!(
        error.contains(
            "m = 5 needs at least 5 sensitive values, and the policy file declares 4; lower m, or declare every sensitive \
             value that may ever come"
        ),
        "{error}"
    );
}

/// The code of the only fault, and the text it points at.
fn only_fault(text: &str) -> (&'static str, String) {
    let error = parse(text).expect_err("something is wrong with it");
    let [fault] = &error.faults[..] else { panic!("one fault: {error}") };
    (fault.kind.code(), fault.span.clone().map_or(String::new(), |span| text[span].to_string()))
}

#[test]
fn each_fault_has_its_code_and_its_place() {
    let cases: Vec<(String, &str, &str)> = vec![
        (with("policy = 1", "policy = 2"), "P205", "2"),
        (with("policy = 1", ""), "P205", ""),
        (with("weight = 2.0", "wieght = 2.0"), "P202", "wieght"),
        (with("title ", "titel "), "P202", "titel"),
        (with("[output]", "[outputs]"), "P202", "outputs"),
        (with("\"ward-stays\"", "\"Ward stays\""), "P206", "\"Ward stays\""),
        (with("\"ward-stays\"", "7"), "P203", "7"),
        (with("name    = \"ward-stays\"\n", ""), "P204", "series"),
        (with("role = \"identifier\"", "role = \"drop\""), "P207", "columns"),
        (with("full_name   = { role = \"drop\" }", "full_name = { role = \"identifier\" }"), "P207", "full_name"),
        (
            with("role = \"sensitive\", type = \"category\", missing = \"error\"", "role = \"drop\""),
            "P209",
            "\"m-invariance\"",
        ),
        (with("domain = [0, 120], ", ""), "P210", "age"),
        (with("[0, 120]", "[120, 120]"), "P211", "[120, 120]"),
        (with("[0, 120]", "[0.5, 120]"), "P211", "[0.5, 120]"),
        (with("[0, 120]", "[0, 120, 7]"), "P211", "[0, 120, 7]"),
        (with("[2020-01-15, 2020-04-01]", "[\"2020-01-15\", 2020-04-01]"), "P211", "[\"2020-01-15\", 2020-04-01]"),
        (with("1000.5", "1000.55"), "P211", "[-10, 1000.55]"),
        (with("[0, 120]", "[0, 5000000000]"), "P212", "[0, 5000000000]"),
        (
            with("[0, 120]", "[-9223372036854775807, 9223372036854775807]"),
            "P212",
            "[-9223372036854775807, 9223372036854775807]",
        ),
        (with("m     = 4", "m = 1"), "P213", "1"),
        (with("m     = 4", ""), "P204", "promise"),
        (with("m     = 4", "m = 4\ncohorts = true"), "P214", "cohorts"),
        (with("values = [\"F\", \"M\", \"X\"]", "values = [\"F\", \"M\", \"X\"], grid = 2"), "P214", "grid"),
        (with("because = \"Public bed plan, six values\"", "because = \" \""), "P215", "ward_type"),
        (with("postcode.csv", "post.csv"), "P216", "\"hierarchies/post.csv\""),
        (with("[\"F\", \"M\", \"X\"]", "[]"), "P218", "[]"),
        (with("[\"F\", \"M\", \"X\"]", "[\"F\", \"F\"]"), "P218", "[\"F\", \"F\"]"),
        (with("ward_type ", "group_id "), "P219", "group_id"),
        (with("0.05", "5"), "P220", "5"),
        (with("role = \"sensitive\"", "role = \"sensible\""), "P221", "\"sensible\""),
        (with("row_weight = false", "linked_ids = true"), "P222", "true"),
        (with("\"month\"", "\"week\""), "P225", "\"week\""),
        (with("grid = 25", "grid = 0"), "P225", "0"),
        (with(", values = [\"F\", \"M\", \"X\"]", ""), "P226", "sex"),
        (
            with("values = [\"F\", \"M\", \"X\"]", "values = [\"F\"], hierarchy = \"hierarchies/postcode.csv\""),
            "P226",
            "[\"F\"]",
        ),
        (with("weight = 2.0", "weight = 0"), "P227", "0"),
        (with("weight = 2.0", "min_width = 0"), "P227", "0"),
        (with("precision = 0.1", "precision = 0.3"), "P227", "0.3"),
        (with("postcode.csv\"", "postcode.csv\", cells = \"leaves\""), "P221", "\"leaves\""),
        (with("weight = 2.0", "cells = \"sets\""), "P214", "cells"),
        (TAX.replacen("\"driver\"]", "\"driver\"], cells = \"sets\"", 1), "P239", "\"sets\""),
        (with_promise("model = \"incremental-k-anonymity\"\nk = 5\ntight = true\n"), "P214", "true"),
        (with_promise("model = \"k-anonymity\"\nk = 5\nrefresh = \"often\"\n"), "P227", "\"often\""),
    ];
    for (text, code, place) in cases {
        let (found, at) = only_fault(&text);
        assert_eq!((found, at.as_str()), (code, place));
    }
}

#[test]
fn no_quasi_attribute_is_a_fault() {
    let text = "policy = 1\n[series]\nname = \"s\"\n[columns]\nid = { role = \"identifier\" }\n[promise]\nmodel = \"k-anonymity\"\nk = 2\n";
    assert_eq!(only_fault(text), ("P208", "columns".into()));
}

#[test]
fn an_unknown_key_is_pointed_at_and_the_nearest_named() {
    let error = parse(&with("weight = 2.0", "wieght = 2.0")).unwrap_err();
    assert_eq!(error.faults[0].help, "did you mean weight?");
    assert!(error.to_string().contains("tacenda.toml:11: unknown key wieght in column age"), "{error}");
    let error = parse(&with("title ", "colour ")).unwrap_err();
    assert_eq!(error.faults[0].help, "known here: name, title, contact, language");
}

#[test]
fn several_faults_come_together_in_the_order_of_the_file() {
    let text = with("[0, 120]", "[9, 0]").replace("m     = 4", "m = 0").replace("name    =", "nam =");
    let codes: Vec<&str> = parse(&text).unwrap_err().faults.iter().map(|fault| fault.kind.code()).collect();
    assert_eq!(codes, ["P204", "P202", "P211", "P213"]);
}

#[test]
fn a_bad_hierarchy_is_named_with_its_line() {
    let (folder, path) = folder();
    std::fs::write(folder.path().join("hierarchies/postcode.csv"), "1;a;*\n\n2;a\n").unwrap();
    let error = parse_policy(WARD, &path).unwrap_err();
    assert_eq!((error.code(), error.exit_code()), ("P217", 2));
    assert!(error.to_string().contains("postcode.csv: line 3 has 2 levels"), "{error}");
}

/// What is taken for a hierarchy is published: a private table must never be, and nothing of it is shown.
#[test]
fn a_table_in_the_place_of_a_hierarchy_is_refused() {
    let (folder, path) = folder();
    let refused = |text: &str| {
        std::fs::write(folder.path().join("hierarchies/postcode.csv"), text).unwrap();
        let error = parse_policy(WARD, &path).unwrap_err();
        let said = format!("{error} {:?}", error.faults);
        assert_eq!((error.code(), said.contains("this is a table")), ("P217", true), "{said}");
        assert!(!said.contains("Smith") && !said.contains("HIV"), "{said}");
    };
    for mark in [",", ";", "\t", "|"] {
        refused(&["age", "postcode", "diagnosis\n34", "1011", "HIV\n"].join(mark));
        refused(&["\"age\"", " \"postcode\"\n34", "1011\n"].join(mark));
    }
    refused("Smith,34,HIV\nSmithson,35,flu\n");
    refused("Smith\t34\tHIV\n");
    // A label may have a comma, and may be called like a column.
    std::fs::write(folder.path().join("hierarchies/postcode.csv"), "\"1011, Centre\";age;*\n2011;West, North;*\n")
        .unwrap();
    parse_policy(WARD, &path).unwrap();
}

#[test]
fn text_that_is_no_toml_is_pointed_at() {
    let error = parse("policy = 1\n[series\n").unwrap_err();
    assert_eq!((error.code(), error.line(&error.faults[0])), ("P201", Some(2)));
    assert_eq!(read_policy(Path::new("no/such.toml")).unwrap_err().code(), "P200");
}

#[test]
fn every_code_is_explained() {
    assert!(CODES.is_sorted_by(|a, b| a.0 < b.0));
    assert!(CODES.iter().all(|(_, title, text)| !title.is_empty() && text.ends_with('.')));
}

#[test]
fn what_is_looser_is_refused() {
    let same = |text: String| assert_eq!(looser(WARD, &text), None);
    let refused = |text: String, why: &str| {
        let reason = looser(WARD, &text).unwrap_or_else(|| panic!("not refused: {why}"));
        assert!(reason.contains(why), "{reason}");
    };
    same(WARD.into());
    same(with("weight = 2.0", "weight = 3.0"));
    same(with("Inpatient stays", "Stays"));
    same(with("full_name   = { role = \"drop\" }", ""));
    same(with("0.05", "0.04"));
    same(with("0.05", "0.06"));
    same(with("[output]", "[withheld]\nmax_share = 0.5\n\n[output]"));
    same(with("m     = 4", "m = 4\nk = 8"));
    same(with("[\"csv\"]", "[\"parquet\"]"));
    refused(with("m     = 4", "m = 3"), "m was 4");
    refused(with("m     = 4", "m = 5"), "needs a new series");
    refused(with("[0, 120]", "[0, 121]"), "column age");
    refused(with("postcode.csv\"", "postcode.csv\", cells = \"sets\""), "column postcode");
    same(with("postcode.csv\"", "postcode.csv\", cells = \"nodes\""));
    refused(with("grid = \"month\"", "grid = \"year\""), "column admitted_on");
    refused(with("[\"F\", \"M\", \"X\"]", "[\"F\", \"M\"]"), "column sex");
    refused(
        with("role = \"public\", because = \"Public bed plan, six values\"", "role = \"drop\""),
        "no longer listed",
    );
    refused(with("ward-stays", "other"), "another name");
    refused(with_promise("model = \"incremental-k-anonymity\"\nk = 5\n"), "another promise");

    let ika = |rest: &str| with_promise(&format!("model = \"incremental-k-anonymity\"\nk = 5\n{rest}"));
    assert!(looser(&ika(""), &ika("cohorts = false\n")).is_some());
    assert!(looser(&ika("l = 2\n"), &ika("")).is_some());
    assert!(looser(&ika(""), &(ika("") + "linked_ids = true\n")).is_some());
    assert_eq!(looser(&(ika("") + "linked_ids = true\n"), &ika("")), None);
    let single = |k: u32| with_promise(&format!("model = \"k-anonymity\"\nk = {k}\n"));
    assert_eq!(looser(&single(3), &single(4)), None);
    assert!(looser(&single(4), &single(3)).is_some());
    assert_eq!(Remembered::read("not json"), None);
}

/// Why the policy `new` may not follow on `old`, which is remembered as a text meanwhile.
fn looser(old: &str, new: &str) -> Option<String> {
    let remembered = |text: &str| Remembered::of(&parse(text).unwrap_or_else(|error| panic!("{error}")).policy);
    let old = remembered(old);
    let back = Remembered::read(&old.write()).expect("what was written is read");
    assert_eq!(back, old);
    back.may_be_followed_by(&remembered(new)).err().map(|looser| looser.to_string())
}

const TAX: &str = r#"policy = 1

[series]
name = "tax"

[columns]
id      = { role = "identifier" }
sex     = { role = "quasi", type = "category", values = ["F", "M"], missing = "error" }
age     = { role = "quasi", type = "integer", domain = [0, 100], missing = "error" }
job     = { role = "quasi", type = "category", values = ["clerk", "driver"], missing = "error" }
disease = { role = "sensitive", values = ["flu", "hiv", "pregnant"] }

[views.tax]
columns    = ["job", "sex", "age"]
recipients = ["bank", "press"]

[views.health]
columns = ["job", "disease"]

[promise]
model          = "xy-linkability"
x              = ["age", "sex", "tax.job"]
y              = ["disease"]
max_confidence = 0.5
thresholds     = [{ value = "hiv", max_confidence = 0.2 }]
sensitive      = ["flu"]
pool           = [["bank", "press"]]
target         = "sex"

[[also]]
model = "xy-anonymity"
x     = ["job", "age"]
y     = ["tax.record"]
k     = 3

[[impossible]]
sex     = "M"
disease = "pregnant"

[[impossible]]
age     = "[0,12)"
disease = "pregnant"
"#;

#[test]
fn views_are_read() {
    let loaded = parse(TAX).unwrap_or_else(|error| panic!("{error}"));
    let Promised::Views(views) = &loaded.policy.promise else { panic!("views") };
    assert_eq!(views.list[0].columns, ["sex", "age", "job"], "in the order of [columns]");
    assert_eq!(
        (&views.list[0].name[..], &views.list[0].recipients[..]),
        ("tax", &["bank".to_string(), "press".into()][..])
    );
    assert_eq!(views.list[1].recipients, ["everyone"]);
    assert_eq!(views.pools, [["bank", "press"]]);
    assert_eq!((views.target.as_deref(), views.score), (Some("sex"), Score::Entropy));
    assert_eq!(views.impossible[1].left, ("age".to_string(), Span::new(0, 11)));
    assert_eq!(
        views.also,
        [XyAnonymity { x: vec!["job".into(), "age".into()], y: vec!["tax.record".into()], k: 3 }.into()]
    );
    let share = |value: &str, code: u32, max_permille: u32| ListedShare {
        values: vec![value.into()],
        spans: vec![Span::exact(code)],
        max_permille,
    };
    let promise = XyLinkability {
        x: vec!["age".into(), "sex".into(), "tax.job".into()],
        y: vec!["disease".into()],
        max_confidence_permille: 500,
        listed: vec![share("hiv", 1, 200), share("flu", 0, 500)],
        only_listed: true,
    };
    assert_eq!(views.promise, promise.into());
    // A sensitive column is one with declared values, like any other; nothing about it is left unsaid.
    assert_eq!(loaded.policy.schema.quasi.len(), 4);
    assert_eq!(loaded.notes, Vec::<String>::new());
}

#[test]
fn faults_of_views_point_at_their_place() {
    let fault = |old: &str, new: &str, code: &str, text: &str| {
        assert!(TAX.contains(old), "{old}");
        let error = parse(&TAX.replacen(old, new, 1)).expect_err(text);
        let shown = error.to_string();
        assert!(shown.contains(code) && shown.contains(text), "{code} {text} not in {shown}");
    };
    fault("[\"job\", \"sex\", \"age\"]", "[\"jobb\", \"sex\", \"age\"]", "P231", "did you mean job?");
    fault("columns    = [\"job\", \"sex\", \"age\"]", "columns = []", "P231", "has no columns");
    fault("[views.tax]", "[views.job]", "P231", "a column as well as a view");
    fault("\"tax.job\"]", "\"tax.jib\"]", "P232", "did you mean tax.job?");
    fault("\"tax.job\"]", "\"health.sex\"]", "P232", "which no view has");
    fault("\"tax.job\"]", "\"tax.record\"]", "P233", "a record cannot be in x");
    fault("\"tax.job\"]", "\"disease\"]", "P233", "both in x and in y");
    fault("[\"tax.record\"]", "[]", "P232", "y is empty");
    fault("sex     = \"M\"", "sex     = \"X\"", "P235", "sex has no such value");
    fault("sex     = \"M\"\n", "", "P235", "two columns");
    let twice = "columns = [\"job\", \"disease\", \"age\"]";
    fault("columns = [\"job\", \"disease\"]", twice, "P235", "age has ranges and is in 2 views");
    fault("\"press\"]]", "\"pres\"]]", "P236", "did you mean press?");
    fault("[\"flu\"]", "[\"cold\"]", "P238", "disease has no such value");
    fault("[\"flu\"]", "[[\"flu\", \"clerk\"]]", "P238", "one value per column of y: 1");
    fault("max_confidence = 0.5", "max_confidence = 1.5", "P220", "between 0.001 and 1");
    fault("max_confidence = 0.5", "", "P204", "max_confidence is missing");
    fault("k     = 3", "k = 1", "P213", "at least 2");
    fault("k     = 3", "k = 3\npool = [[\"bank\"]]", "P214", "pool has no effect for xy-anonymity under [[also]]");
    fault(", values = [\"flu\", \"hiv\", \"pregnant\"]", "", "P239", "are not declared");
    fault(
        "role = \"quasi\", type = \"integer\", domain = [0, 100], missing = \"error\"",
        "role = \"public\", because = \"x\"",
        "P239",
        "views join on it",
    );
    fault(
        "[views.health]\ncolumns = [\"job\", \"disease\"]",
        "[views.health]\ncolumns = [\"job\", \"disease\"]\nfor = 1",
        "P202",
        "unknown key for",
    );
    fault("target         = \"sex\"", "score = \"entropy\"", "P214", "needs a target");
    let without = TAX.replace("[views.tax]\ncolumns    = [\"job\", \"sex\", \"age\"]\nrecipients = [\"bank\", \"press\"]\n\n[views.health]\ncolumns = [\"job\", \"disease\"]\n", "");
    assert!(parse(&without).unwrap_err().faults.iter().any(|fault| fault.kind.code() == "P234"));
    let other = with("[output]", "[views.a]\ncolumns = [\"age\"]\n\n[output]");
    assert!(parse(&other).unwrap_err().to_string().contains("P214"));
}

#[test]
fn a_column_nobody_speaks_of_is_named() {
    let text = TAX.replace("x              = [\"age\", \"sex\", \"tax.job\"]", "x = [\"sex\", \"tax.job\"]");
    let text = text.replace("x     = [\"job\", \"age\"]", "x     = [\"tax.job\"]");
    let notes = parse(&text).unwrap().notes;
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("column age of view tax is in no x and no y"), "{notes:?}");
    assert!(notes[1].starts_with("column job of view health is in no x and no y"), "{notes:?}");
    let coarse = text.replace("domain = [0, 100]", "domain = [0, 100], grid = 10");
    assert!(parse(&coarse).unwrap_err().to_string().contains("P237"));
    // In x the grid is kept by specialising along it.
    let kept = TAX.replace("domain = [0, 100]", "domain = [0, 100], grid = 10").replace("[0,12)", "[0,10)");
    parse(&kept).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn looser_views_are_refused() {
    let looser = |old: &str, new: &str| looser(TAX, &TAX.replacen(old, new, 1));
    assert_eq!(
        looser("max_confidence = 0.5", "max_confidence = 0.4\n"),
        Some("a series cannot change its listed: that needs a new series".into())
    );
    assert!(looser("max_confidence = 0.5", "max_confidence = 0.6").unwrap().contains("larger"));
    assert!(
        looser("[[impossible]]\nsex     = \"M\"\ndisease = \"pregnant\"\n", "").unwrap().contains("[[impossible]]")
    );
    assert!(looser("k     = 3", "k = 2").unwrap().contains("[[also]]"));
    assert!(looser("pool           = [[\"bank\", \"press\"]]", "pool = [[\"bank\"]]").unwrap().contains("pool"));
    assert_eq!(looser("pool           = [[\"bank\", \"press\"]]", ""), None);
    assert!(
        looser("[\"job\", \"sex\", \"age\"]", "[\"job\", \"sex\", \"age\", \"disease\"]").unwrap().contains("view tax")
    );
    assert_eq!(looser("[promise]", "[views.third]\ncolumns = [\"job\"]\n\n[promise]"), None);
    assert_eq!(looser("recipients = [\"bank\", \"press\"]", "recipients = [\"bank\", \"press\", \"ngo\"]"), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_changes_never_panic(
        cuts in prop::collection::vec((0usize..2_000, 0usize..12, prop::sample::select(vec![
            "", "0", "-1", "1e400", "99999999999999999999", "[", "]", "{", "}", "\"", "=", "\n", ".", "1979-05-27", "true", "\"month\"", "role", "columns", "é", "[columns.age]\n",
        ])), 1..4),
    ) {
        let mut text = WARD.to_string();
        for (at, length, put) in cuts {
            let floor = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            let (start, end) = (floor(at % text.len().max(1)), floor(at % text.len().max(1) + length));
            text.replace_range(start..end.max(start), put);
        }
        if let Err(error) = parse(&text) {
            prop_assert!(!error.faults.is_empty());
            prop_assert!(!error.to_string().is_empty());
        }
    }
}
