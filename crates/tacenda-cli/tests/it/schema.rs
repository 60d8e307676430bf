//! The JSON that commands print is documented: `docs/schema/` holds a schema for each, and what they
//! print fits it.

use crate::kit::POLICY;
use crate::kit::Project;
use crate::kit::patients;
use serde_json::Value;
use std::env;
use std::fs;
use std::path::Path;

/// The schemas as the binary prints them, against the ones in the documentation.
#[test]
fn schemas_are_documented() {
    let project = Project::empty();
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
    let project = Project::with(&[("tacenda.toml", POLICY)]);
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
        ("verify", &["verify"]),
        ("count", &["count", "1", "--where", "age >= 40"]),
        ("explain", &["explain", "D101"]),
        ("promises", &["promises"]),
    ];
    for (command, words) in runs {
        let printed: Value =
            serde_json::from_str(&project.ok(&[words as &[&str], &["--format", "json"]].concat())).unwrap();
        let schema = &schemas[command];
        fits(schema, schema, &printed, command);
        assert!(printed.is_object());
    }
}
