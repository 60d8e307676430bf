//! The folder's words: a Frictionless description for programs, a page for people.

use crate::folder::digest::WrittenFile;
use crate::folder::{Issue, ManifestFacts, file_stem};
use crate::model::{COUNTERFEITS, COUNTS, Domain, GROUP_ID, PeopleCounts, Quasi, RECORD, ROW_WEIGHT, Role, Schema};
use crate::promise::{Format, PolicyFile, Promise, Views};
use serde_json::{Value as Json, json};
use std::fmt::Write;

/// The Frictionless data package over the data files.
pub fn data_package(issue: &Issue<'_>, files: &[WrittenFile]) -> Json {
    let Issue { release, policy, .. } = *issue;
    let stem = file_stem(&policy.series.name, release.number);
    let mut resources = Vec::new();
    for file in files {
        let mut resource = json!({
            "path": file.name,
            "bytes": file.bytes,
            "hash": format!("sha256:{}", file.sha256),
        });
        let more = if file.name.ends_with(COUNTERFEITS) {
            json!({
                "name": format!("{stem}-counterfeits"),
                "profile": "tabular-data-resource",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": { "fields": counterfeit_fields(), "primaryKey": GROUP_ID },
            })
        } else if file.name.ends_with(COUNTS) {
            json!({
                "name": format!("{stem}-counts"),
                "profile": "tabular-data-resource",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": { "fields": count_fields(issue), "primaryKey": ["column", "cell"], "missingValues": [] },
            })
        } else if file.name.ends_with(".csv") {
            json!({
                "name": format!("{stem}-csv"),
                "profile": "tabular-data-resource",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": { "fields": fields(issue), "missingValues": [""] },
            })
        } else {
            json!({
                "name": format!("{stem}-parquet"),
                "format": "parquet",
                "mediatype": "application/vnd.apache.parquet",
            })
        };
        for (key, value) in more.as_object().expect("it was just made as an object") {
            resource[key] = value.clone();
        }
        resources.push(resource);
    }
    json!({
        "profile": "data-package",
        "name": stem,
        "title": format!("{}, {}", title(policy), release.label),
        "description": policy.terms().sentence,
        "version": release.number.to_string(),
        "contributors": [{ "title": policy.series.contact, "role": "contact" }],
        "resources": resources,
    })
}

fn counterfeit_fields() -> Json {
    json!([
        { "name": GROUP_ID, "type": "integer", "description": "The group, as in the data." },
        { "name": "rows", "type": "integer", "description": "How many rows the group has, artificial ones included." },
        { "name": "counterfeits", "type": "integer", "description": "How many of these rows are artificial." },
    ])
}

fn count_fields(issue: &Issue<'_>) -> Json {
    let unit = issue.release.counts.as_ref().map_or(0, |counts| counts.unit);
    json!([
        { "name": "column", "type": "string", "description": "A column of the data." },
        { "name": "cell", "type": "string", "description": "A value or an interval of it. Empty: not recorded." },
        {
            "name": "people",
            "type": "integer",
            "description": format!("How many people of this release, rounded: a multiple of {unit}. Cells that are not listed round to 0."),
        },
    ])
}

fn fields(issue: &Issue<'_>) -> Vec<Json> {
    let Issue { release, schema, policy } = *issue;
    let field =
        |name: &str, kind: &str, description: String| json!({ "name": name, "type": kind, "description": description });
    let mut fields = Vec::new();
    if !release.linked.is_empty() {
        fields.push(field(RECORD, "string", "A keyed hash that is the same for a person in every release.".into()));
    }
    fields.push(field(
        GROUP_ID,
        "integer",
        "Rows with the same number are one group. Numbers are drawn anew for every release.".into(),
    ));
    for &(role, index) in &schema.order {
        let description = match role {
            Role::Quasi => describe_quasi(&schema.quasi[index]),
            Role::Sensitive => {
                let missing = if schema.sensitive[index].nullable { " Empty: not recorded." } else { "" };
                format!("Published as it is.{missing}")
            }
            _ => {
                let because = schema.public[index].because.trim_end_matches('.');
                format!("Published as it is: {because}. Shuffled within each group.")
            }
        };
        fields.push(field(schema.column_name(role, index), "string", description));
    }
    if policy.output.row_weight {
        let description = "The share of people among the group's rows; its sum counts people.";
        fields.push(field(ROW_WEIGHT, "number", description.into()));
    }
    fields
}

fn describe_quasi(attribute: &Quasi) -> String {
    let mut text = match &attribute.domain {
        Domain::Category(tree) if tree.is_flat() => {
            "A value, or a set of values in braces such as {a,b}; * is any value.".to_string()
        }
        Domain::Category(_) if attribute.sets => {
            "A value, a group of values of the hierarchy (in manifest.json), or a set of \
                                                  values in braces such as {a,b}; * is any value."
                .to_string()
        }
        Domain::Category(_) => {
            "A value, or a group of values of the hierarchy (in manifest.json); * is any value.".to_string()
        }
        _ => {
            let numbers = attribute.size() - u32::from(attribute.nullable);
            let (mut lo, mut hi) = (String::new(), String::new());
            attribute.print_bound(0, &mut lo);
            attribute.print_bound(numbers, &mut hi);
            format!(
                "An interval [from,to): from is included, to is not. * is any value of the domain [{lo},{hi}){}.",
                if attribute.nullable { " or none" } else { "" }
            )
        }
    };
    if attribute.nullable {
        text.push_str(" Empty: not recorded.");
    }
    text
}

/// The page for the recipient.
pub fn readme(issue: &Issue<'_>, facts: &ManifestFacts) -> String {
    let Issue { release, policy, .. } = *issue;
    let mut page = String::new();
    let stem = file_stem(&policy.series.name, release.number);
    let rows = release.row_count();
    let counterfeits = release.counterfeit_count();
    let people = rows as u64 - counterfeits;
    let groups = release.group_count();
    say(&mut page, &format!("# {}, {}", plain(title(policy)), release.label));
    say(
        &mut page,
        &format!(
            "Release {} of the series `{}`: {rows} rows in {groups} groups, for {people} people.{}{}{}",
            release.number,
            policy.series.name,
            match counterfeits {
                0 => String::new(),
                1 => " One row is artificial.".into(),
                many => format!(" {many} rows are artificial."),
            },
            release.alone_sentence().map_or(String::new(), |alone| format!(" {alone}")),
            match policy.series.contact.as_str() {
                "" => String::new(),
                contact => format!(" Questions: {}.", plain(contact)),
            },
        ),
    );
    if policy.is_study() {
        say(
            &mut page,
            "**The data are made up.** No row is a real person. The release shows what a study mode does, and may \
             break its promise.",
        );
    }
    say(&mut page, "## What is promised");
    for promise in policy.promises() {
        say(&mut page, &format!("> {}", promise.terms().sentence));
        if let Promise::View(promise) = promise {
            say(&mut page, &promise.sides());
        }
    }
    if let Some(judged) = policy.views().and_then(Views::judged) {
        say(&mut page, &judged);
    }
    if let Some(withdrawn) = &facts.withdrawn {
        say(&mut page, &format!("**Withdrawn.** {}", plain(withdrawn)));
    }
    if let Some(erratum) = &facts.erratum {
        say(&mut page, &format!("**Erratum.** {erratum}"));
    }
    say(&mut page, "What this does not cover:");
    let limits: Vec<String> = policy.terms().limits.iter().map(|limit| format!("- {limit}")).collect();
    say(&mut page, &limits.join("\n"));
    say(&mut page, "## How to read a cell");
    say(&mut page, &how_to_read(issue));
    say(&mut page, "## How to count");
    say(&mut page, &how_to_count(issue, &stem));
    say(&mut page, "## Files");
    say(
        &mut page,
        "`manifest.json` has the promise, the numbers, the hierarchies and all checksums; `datapackage.json` describes \
         the columns (Frictionless). `sha256sum --check SHA256SUMS` checks that you have what was published.",
    );
    say(&mut page, &how_to_check(facts));
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

/// How the recipient checks who signed the release; nothing where nobody did.
fn how_to_check(facts: &ManifestFacts) -> String {
    facts.signer.as_ref().map_or_else(String::new, |key| {
        format!(
            "The release is signed. `minisign -Vm SHA256SUMS -P {key}` checks that. Get the key from the publisher once, by \
             another way than this folder, and compare it. `tacenda verify FOLDER --key {key}` checks everything."
        )
    })
}

fn how_to_read(issue: &Issue<'_>) -> String {
    let Issue { release, schema, policy } = *issue;
    let mut points = Vec::new();
    if !release.linked.is_empty() {
        points.push(format!("`{RECORD}`: the same person has the same code in every release of this series."));
    }
    points.push(format!(
        "`{GROUP_ID}`: rows with the same number are one group. Numbers are drawn anew for every release and mean \
         nothing across releases."
    ));
    let named = |wanted: &dyn Fn(&Quasi) -> bool| {
        let names: Vec<String> =
            schema.quasi.iter().filter(|quasi| wanted(quasi)).map(|quasi| code(&quasi.name)).collect();
        names.join(", ")
    };
    let numbers = named(&|quasi| quasi.hierarchy().is_none());
    if !numbers.is_empty() {
        points.push(format!("{numbers}: an interval `[from,to)`; `from` is included, `to` is not: `[34,35)` is 34."));
    }
    let is_flat = |quasi: &Quasi| quasi.hierarchy().is_some_and(|tree| tree.is_flat());
    let sets = named(&|quasi| quasi.sets && !is_flat(quasi));
    let (trees, flat) = (named(&|quasi| quasi.nodes().is_some()), named(&is_flat));
    let set = "a set `{a,b}`: one of these.";
    let listed = "`manifest.json` lists the values of each group.";
    points.extend((!sets.is_empty()).then(|| format!("{sets}: a value, a group of values, or {set} {listed}")));
    points.extend((!trees.is_empty()).then(|| format!("{trees}: a value, or a group of values; {listed}")));
    points.extend((!flat.is_empty()).then(|| format!("{flat}: a value, or {set}")));
    let missing = named(&|quasi| quasi.nullable);
    if missing.is_empty() {
        points.push("`*`: any value of the column.".into());
    } else {
        points.push("`*`: any value of the column, or not recorded where that can be.".into());
        points.push(format!("Empty in {missing}: not recorded."));
    }
    let sensitive = names(schema, Role::Sensitive);
    if !sensitive.is_empty() {
        // The source codes of labels are not published, so a recipient does not know which columns have some.
        let has_labels = policy.schema.sensitive.iter().any(|sensitive| !sensitive.labels.is_empty());
        let how = if has_labels { "published as recorded, or as a coarser label" } else { "published as recorded" };
        points.push(format!(
            "{sensitive}: {how}. Empty: not recorded. No row shows which person of the group it belongs to."
        ));
    }
    let public = names(schema, Role::Public);
    if !public.is_empty() {
        // Codes are of whole combinations, so that these cells of a person stay together.
        points.push(format!(
            "{public}: published as recorded, but shuffled within each group. These cells of a row are of one person of the \
             group. The other cells of the row may be of another person.{}",
            match release.counterfeit_count() {
                0 => "",
                _ => " An artificial row repeats the cells of a person of its group.",
            }
        ));
    }
    if policy.output.formats.contains(&Format::Parquet) && !numbers.is_empty() {
        let mut point =
            String::from("In Parquet, intervals have the fields `left` and `right`; pandas reads them as intervals.");
        if has_companion(schema) {
            point.push_str(
                " Where `<column>_maybe_missing` is true, the text form says `*`: any value or not recorded.",
            );
        }
        points.push(point);
    }
    let points: Vec<String> = points.iter().map(|point| format!("- {point}")).collect();
    points.join("\n")
}

/// The names of the columns with a role, in the policy's order.
fn names(schema: &Schema, role: Role) -> String {
    let columns = schema.order.iter().filter(|(of, _)| *of == role);
    columns.map(|&(role, at)| code(schema.column_name(role, at))).collect::<Vec<_>>().join(", ")
}

fn how_to_count(issue: &Issue<'_>, stem: &str) -> String {
    let Issue { release, schema, policy } = *issue;
    let mut text = String::new();
    let (sensitive, public) = (names(schema, Role::Sensitive), names(schema, Role::Public));
    let mut estimates = Vec::new();
    if !sensitive.is_empty() {
        estimates.push(match release.counterfeit_count() {
            0 => format!("No row is artificial here, so counts by the values of {sensitive} are exact for the people of this release."),
            _ => format!(
                "Counts by the values of {sensitive}{} are estimates: artificial rows have values like other rows. \
                 Only counts of whole groups are exact.",
                if public.is_empty() { String::new() } else { format!(" or {public}") }
            ),
        });
    }
    if !sensitive.is_empty() && !public.is_empty() {
        estimates.push(format!(
            "Counts by {public} together with {sensitive} are estimates, because they are shuffled against each other \
             within each group."
        ));
    }
    let column = quotable(schema.sensitive.first().map_or(GROUP_ID, |sensitive| &sensitive.name));
    if issue.counts_counterfeits() {
        write!(
            text,
            "Some rows may be artificial; the files do not say which. `{stem}.counterfeits.csv` says how many each group has. "
        )
        .expect("writing to a string cannot fail");
    }
    if !policy.output.row_weight {
        text.push_str(if issue.counts_counterfeits() {
            "Counts of rows are too high by that many."
        } else {
            "Every row counts as one person."
        });
        estimates.iter().for_each(|sentence| text.extend([" ", sentence]));
        text.push_str(&about_counts(issue, stem));
        return text;
    }
    let (python, r) = if policy.output.formats.contains(&Format::Csv) {
        (
            format!("pd.read_csv(\"{stem}.csv\", keep_default_na=False)"),
            format!("read.csv(\"{stem}.csv\", check.names = FALSE)"),
        )
    } else {
        (format!("pd.read_parquet(\"{stem}.parquet\")"), format!("arrow::read_parquet(\"{stem}.parquet\")"))
    };
    write!(
        text,
        "Sum `{ROW_WEIGHT}` instead of counting rows: it counts people.\n\n\
         ```python\n\
         import pandas as pd\n\
         people = {python}\n\
         people.groupby(\"{column}\", dropna=False)[\"{ROW_WEIGHT}\"].sum()\n\
         ```\n\n\
         ```r\n\
         people <- {r}\n\
         aggregate(people[\"{ROW_WEIGHT}\"], people[\"{column}\"], sum)\n\
         ```\n\n\
         ```sql\n\
         select \"{column}\", sum({ROW_WEIGHT}) from people group by \"{column}\";\n\
         ```\n\n\
         {}{}A question that cuts through an interval has no exact answer. `tacenda count . --where '…'` gives an estimate, \
         and the lowest and highest count that this release allows.{}",
        estimates.join(" "),
        if estimates.is_empty() { "" } else { "\n\n" },
        about_counts(issue, stem),
    )
    .expect("writing to a string cannot fail");
    text
}

/// What is said of the counts of people: where there are none, which columns can have none.
fn about_counts(issue: &Issue<'_>, stem: &str) -> String {
    match &issue.release.counts {
        Some(counts) => published_counts(counts, issue, stem),
        None => uncounted(issue),
    }
}

/// What the file of counts says, and how rows are weighed with it.
fn published_counts(counts: &PeopleCounts, issue: &Issue<'_>, stem: &str) -> String {
    let Issue { schema, policy, .. } = *issue;
    let unit = counts.unit;
    let columns: Vec<String> = counts
        .columns
        .iter()
        .map(|column| format!("{} ({})", code(&column.name), PeopleCounts::describe(column.rule)))
        .collect();
    let sample = schema.quasi.iter().find(|quasi| counts.column(&quasi.name).is_some());
    let (column, wanted) = match sample {
        Some(quasi) if quasi.hierarchy().is_none() => (quotable(&quasi.name), "cell.startswith(\"[\")"),
        Some(quasi) => (quotable(&quasi.name), "cell != \"\""),
        None => return String::new(),
    };
    let said = format!(
        "\n\n`{stem}{COUNTS}` says how many people have which values, one column at a time: {}. The numbers are rounded so that each running \
         total is the nearest multiple of {unit}. So a range of cells is off by less than {unit} people. Cells that are not listed round to 0.{} Do not \
         share the people of an interval or a set evenly among its values: weigh them with these counts.",
        columns.join(", "),
        uncounted(issue)
    );
    if !policy.output.row_weight || !policy.output.formats.contains(&Format::Csv) {
        return said;
    }
    format!(
        "{said} `spread` does so, by iterative proportional fitting.\n\n\
         ```python\n{}\n\
         # People by two conditions: row_weight times the share of each row that fits.\n\
         fits = share(\"{column}\", lambda cell: {wanted})\n\
         (people[\"{ROW_WEIGHT}\"].astype(float) * fits).sum()\n\
         ```",
        RECIPE.replace("STEM", stem).trim_end(),
    )
}

/// Which columns the file of counts leaves out, and why.
fn uncounted(issue: &Issue<'_>) -> String {
    let left_out = issue.policy.uncounted(issue.release.counts.as_ref());
    left_out.iter().map(|(name, why)| format!(" There are no counts of {}: {why}.", code(name))).collect()
}

/// Weighs rows by the published counts, in pandas. A test runs it on the demo's releases.
const RECIPE: &str = include_str!("recipe.py");

fn has_companion(schema: &Schema) -> bool {
    schema.quasi.iter().any(|quasi| quasi.nullable && quasi.hierarchy().is_none())
}

/// A text of a steward in Markdown: it commands neither a terminal nor a browser, and links to nothing.
fn plain(text: &str) -> String {
    let mut page = String::new();
    for letter in text.chars() {
        match letter {
            '\\' | '<' | '>' | '&' | '[' | ']' | '`' => page.extend(['\\', letter]),
            // The first two ranges turn the direction of what follows.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => page.push(char::REPLACEMENT_CHARACTER),
            _ if letter.is_control() => page.push(char::REPLACEMENT_CHARACTER),
            _ => page.push(letter),
        }
    }
    page
}

/// A name as code: what would end the code is replaced.
fn code(name: &str) -> String {
    let ends = |letter: char| letter.is_control() || letter == '`';
    format!("`{}`", name.replace(ends, "\u{fffd}"))
}

/// A name that stands between quotes in an example: what would end the text is replaced.
fn quotable(name: &str) -> String {
    let ends = |letter: char| letter.is_control() || matches!(letter, '`' | '"' | '\\');
    name.replace(ends, "\u{fffd}")
}

fn title(policy: &PolicyFile) -> &str {
    if policy.series.title.is_empty() { &policy.series.name } else { &policy.series.title }
}

fn say(page: &mut String, paragraph: &str) {
    page.push_str(paragraph);
    page.push_str("\n\n");
}
