//! The JSON that commands print is documented: `docs/schema/` holds a schema for each, and what they
//! print fits it.

use crate::kit::{POLICY, TestProject, patients};
use serde_json::Value;
use std::path::Path;
use std::{env, fs};

/// The schemas as the binary prints them, against the ones in the documentation.
#[test]
fn schemas_are_documented() {
    let project = TestProject::empty();
    let schemas: Value = serde_json::from_str(&project.ok(&["schemas"])).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    for (command, schema) in schemas.as_object().unwrap() {
        let path = folder.join(format!("{command}.json"));
        let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &text).unwrap();
        }
        assert_eq!(fs::read_to_string(&path).ok(), Some(text), "docs/schema/{command}.json is out of date");
    }
}

/// Every field that a schema requires is there, and every field that is there is in the schema.
fn fits(schema: &Value, root: &Value, value: &Value, place: &str) {
    // Something or nothing: there is something.
    let schema = match schema["anyOf"].as_array().filter(|_| !value.is_null()) {
        Some(forms) => forms.iter().find(|form| form["type"] != "null").unwrap(),
        None => schema,
    };
    let schema = match schema["$ref"].as_str() {
        Some(name) => &root["$defs"][name.rsplit('/').next().unwrap()],
        None => schema,
    };
    if let Some(items) = value.as_array() {
        items
            .iter()
            .enumerate()
            .for_each(|(index, item)| fits(&schema["items"], root, item, &format!("{place}[{index}]")));
    }
    let (Some(fields), Some(properties)) = (value.as_object(), schema["properties"].as_object()) else { return };
    for required in schema["required"].as_array().into_iter().flatten() {
        assert!(fields.contains_key(required.as_str().unwrap()), "{place} lacks {required}");
    }
    for (name, field) in fields {
        assert!(properties.contains_key(name), "{place}.{name} is not in the schema");
        fits(&properties[name], root, field, &format!("{place}.{name}"));
    }
}

#[test]
fn what_commands_print_fits_their_schema() {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    project.write("table.csv", &patients(0, 60));
    let schemas: Value = serde_json::from_str(&project.ok(&["schemas"])).unwrap();
    let runs: &[(&str, &[&str])] = &[
        ("check", &["check", "table.csv"]),
        ("check", &["check", "table.csv", "--what-if", "m=2..3"]),
        ("plan", &["plan", "table.csv"]),
        ("publish", &["publish", "table.csv", "--yes"]),
        ("log", &["log"]),
        ("show", &["show"]),
        ("report", &["report"]),
        ("report", &["report", "--edition", "recipient"]),
        ("report", &["report", "--edition", "auditor", "--truth", "table.csv"]),
        ("audit", &["audit"]),
        ("audit", &["audit", "--truth", "table.csv"]),
        ("verify", &["verify"]),
        ("count", &["count", "1", "--where", "age >= 40"]),
        ("explain", &["explain", "D101"]),
        ("promises", &["promises"]),
        ("demo-list", &["demo", "--list"]),
        ("demo-small", &["demo", "k-anonymity", "small"]),
    ];
    for (command, words) in runs {
        let printed: Value =
            serde_json::from_str(&project.ok(&[words as &[&str], &["--format", "json"]].concat())).unwrap();
        let schema = &schemas[command];
        fits(schema, schema, &printed, command);
        assert!(printed.is_object());
    }
}

/// Findings with their witnesses, a worked case and what was left out are in the schema, too.
#[test]
fn an_audit_that_finds_something_fits_its_schema() {
    let project = TestProject::with(&[
        ("r1.csv", "age,disease\n20-29,flu\n20-29,cold\n"),
        ("r2.csv", "age,disease\n20-29,flu\n20-29,mumps\n30-39,cold\n"),
        ("t1.csv", "id,age,disease\na,20,flu\nb,21,cold\n"),
        ("t2.csv", "id,age,disease\na,20,flu\nc,22,mumps\nb,31,cold\n"),
    ]);
    let schemas: Value = serde_json::from_str(&project.ok(&["schemas"])).unwrap();
    let columns = ["audit", "r1.csv", "r2.csv", "--quasi", "age", "--sensitive", "disease", "--format", "json"];
    let truth = ["--truth", "t1.csv", "t2.csv", "--id", "id"];
    for words in [columns.to_vec(), [&columns[..], &truth].concat()] {
        let ended = project.run(&words);
        assert_eq!(ended.code, 1, "{}", ended.stderr);
        let printed: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert!(printed["findings"][0]["witness"]["claim"].is_string(), "{printed}");
        fits(&schemas["audit"], &schemas["audit"], &printed, "audit");
    }
}
