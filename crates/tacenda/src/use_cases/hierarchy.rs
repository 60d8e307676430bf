//! The tree of a column: what it holds, which values of a table have no place in it, and new trees by rule or by hand.
//!
//! Counts below [`DraftColumn::SHOWN`] are left out, and so are values that fewer rows share: a rare value may identify somebody.

use crate::ingest::{DraftColumn, Given};
use crate::model::{Hierarchy, OTHER, Quasi};
use crate::publish::{Access, POLICY_FILE};
use crate::use_cases::draft::write;
use crate::use_cases::policy_text::may_be_used;
use crate::use_cases::{ProjectFolder, UseCaseError, policy_text, save_policy_text};
use crate::{files, ingest};
use std::collections::BTreeMap;
use std::fs;

/// The tree of a column, and a table held against it. Private.
#[derive(Debug)]
pub struct TreeReport {
    /// The column.
    pub column: String,
    /// The columns that have a tree.
    pub columns: Vec<String>,
    /// The hierarchy file, relative to the policy file.
    pub file: String,
    /// Whether the policy file lists the values itself. The file is then made when a tree is saved.
    pub is_listed: bool,
    /// Its nodes, each before those below it.
    pub nodes: Vec<TreeNode>,
    /// Values of the table without a place, each shared by enough rows to be shown, with how many.
    pub lost: Vec<(String, u64)>,
    /// How many further values have no place, and are too rare to be shown.
    pub rare_lost: u64,
}

/// A node of a tree.
#[derive(Clone, Debug)]
pub struct TreeNode {
    /// Its label.
    pub label: String,
    /// How many nodes are above it.
    pub depth: usize,
    /// Whether it is a value.
    pub is_leaf: bool,
    /// How many rows of the table are below it; none without a table, or if they are too few to be shown.
    pub rows: Option<u64>,
}

/// How a tree is made.
#[derive(Clone, Debug)]
pub enum TreeRule {
    /// By how the values begin, letter by letter.
    Prefix,
    /// Numbers in bands of this width.
    Bands(u32),
    /// By hand: the group of each value; the others stand below the root.
    Groups(BTreeMap<String, String>),
}

/// The tree of a column; of the first one that has a tree where none is named.
pub fn tree(project: &ProjectFolder, column: Option<&str>, data: Option<Given>) -> Result<TreeReport, UseCaseError> {
    let opened = project.open(Access::Look)?;
    let with_tree: Vec<&Quasi> =
        opened.policy().schema.quasi.iter().filter(|quasi| quasi.hierarchy().is_some()).collect();
    let columns: Vec<String> = with_tree.iter().map(|quasi| quasi.name.clone()).collect();
    let found = with_tree.iter().find(|quasi| column.is_none_or(|name| quasi.name == name));
    let Some((quasi, tree)) = found.and_then(|quasi| Some((quasi, quasi.hierarchy()?))) else {
        return Err(UseCaseError::usage("no quasi-identifier of that name has categories"));
    };
    let counts = match data {
        Some(given) => counts(given, &quasi.name)?,
        None => Vec::new(),
    };
    let by_value: BTreeMap<&str, u64> = counts.iter().map(|(value, rows)| (value.as_str(), *rows)).collect();
    let is_lost = |value: &str| !value.is_empty() && tree.leaf(value).is_none();
    let lost: Vec<&(String, u64)> = counts.iter().filter(|(value, _)| is_lost(value)).collect();
    let shown = |rows: u64| rows >= u64::from(DraftColumn::SHOWN);
    let file = file_of(project, &quasi.name)?;
    Ok(TreeReport {
        column: quasi.name.clone(),
        columns,
        is_listed: file.is_none(),
        file: file.unwrap_or_else(|| new_file(&quasi.name)),
        nodes: nodes(tree, &by_value),
        rare_lost: lost.iter().filter(|(_, rows)| !shown(*rows)).count() as u64,
        lost: lost.into_iter().filter(|(_, rows)| shown(*rows)).cloned().collect(),
    })
}

/// The text of a new hierarchy file for the values of a column: those of its tree and those of a table that enough rows share.
pub fn new_tree(report: &TreeReport, rule: &TreeRule) -> Result<String, UseCaseError> {
    let leaves = report.nodes.iter().filter(|node| node.is_leaf).map(|node| node.label.clone());
    let mut values: Vec<String> = leaves.chain(report.lost.iter().map(|(value, _)| value.clone())).collect();
    values.retain(|value| value != OTHER);
    let mut rows = match rule {
        TreeRule::Prefix => beginnings(&values),
        TreeRule::Bands(width) => bands(&values, *width)?,
        TreeRule::Groups(groups) => grouped(&values, groups),
    };
    let levels = rows.first().map_or(2, Vec::len);
    if report.nodes.iter().any(|node| node.is_leaf && node.label == OTHER) {
        rows.push(std::iter::repeat_n(OTHER.to_string(), levels - 1).chain(["*".into()]).collect());
    }
    Hierarchy::from_rows(&rows).map_err(|error| UseCaseError::usage(error.to_string()))?;
    Ok(ingest::hierarchy_text(rows))
}

/// Writes the hierarchy file of a column. If the project cannot go on with it, everything stays as it was. A policy file that lists
/// the values itself names the new file in their place.
pub fn save_tree(project: &ProjectFolder, column: &str, text: &str) -> Result<(), UseCaseError> {
    let policy = project.policy.clone().unwrap_or_else(|| project.root.join(POLICY_FILE));
    let beside = policy.parent().unwrap_or(&project.root);
    if let Some(name) = file_of(project, column)? {
        let path = beside.join(name);
        let before = files::read_text(&path).map_err(UseCaseError::file(&path))?;
        write(&path, text)?;
        return may_be_used(project).or_else(|error| write(&path, &before).and(Err(error)));
    }
    let name = new_file(column);
    let path = beside.join(&name);
    if path.exists() {
        let message = format!("{} exists already; nothing was changed: move it away first", path.display());
        return Err(UseCaseError::Exists(message));
    }
    let by_hand = || {
        UseCaseError::usage(format!(
            "the values of {column} were not found in the policy file; write hierarchy = \"{name}\" there in place of values"
        ))
    };
    let changed = naming_file(&policy_text(project)?, column, &name).ok_or_else(by_hand)?;
    write(&path, text)?;
    save_policy_text(project, &changed).inspect_err(|_| {
        let _ = fs::remove_file(&path);
    })
}

/// The file that a tree of a column is written to where the policy file names none.
fn new_file(column: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "-_".contains(letter) { letter } else { '_' };
    format!("hierarchies/{}.csv", column.chars().map(plain).collect::<String>())
}

/// The text of a policy file that names a hierarchy file in place of the listed values of a column. Comments and layout stay. A change is
/// taken only if it changed this and nothing else.
fn naming_file(text: &str, column: &str, file: &str) -> Option<String> {
    let mut wanted: toml::Table = toml::from_str(text).ok()?;
    let settings = wanted.get_mut("columns")?.get_mut(column)?.as_table_mut()?;
    settings.remove("values")?;
    settings.insert("hierarchy".into(), toml::Value::String(file.into()));
    let changed = |at: usize| {
        let list = text[at..].find('[')? + at;
        let ends = text[list..].match_indices(']').map(|(end, _)| list + end + 1);
        let named = format!("hierarchy = {}", toml::Value::String(file.into()));
        // A value may hold a bracket, so the list does not always end at the first one.
        let mut tried = ends.take(100).map(|end| format!("{}{named}{}", &text[..at], &text[end..]));
        tried.find(|changed| toml::from_str::<toml::Table>(changed).is_ok_and(|found| found == wanted))
    };
    text.match_indices("values").find_map(|(at, _)| changed(at))
}

/// The hierarchy file that the policy file names for a column.
fn file_of(project: &ProjectFolder, column: &str) -> Result<Option<String>, UseCaseError> {
    let table: Option<toml::Table> = toml::from_str(&policy_text(project)?).ok();
    let named = |table: &toml::Table| Some(table.get("columns")?.get(column)?.get("hierarchy")?.as_str()?.to_string());
    Ok(table.as_ref().and_then(named))
}

/// How many rows of a table have each value of a column.
fn counts(given: Given, column: &str) -> Result<Vec<(String, u64)>, UseCaseError> {
    let draft = ingest::draft(&given.open()?)?;
    let wrong = || UseCaseError::usage(format!("the table has no column {column}, or too many values in it"));
    draft.column(column).and_then(DraftColumn::counts).ok_or_else(wrong)
}

/// The nodes of a tree in the order of its rows, each once.
fn nodes(tree: &Hierarchy, counts: &BTreeMap<&str, u64>) -> Vec<TreeNode> {
    let mut below: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    let mut order: Vec<(Vec<String>, bool)> = Vec::new();
    for row in tree.rows() {
        let rows = row.first().and_then(|leaf| counts.get(leaf.as_str())).copied().unwrap_or(0);
        // From the root down; a leaf at a higher level repeats its label.
        let mut path: Vec<String> = row.into_iter().rev().collect();
        path.dedup();
        for end in 1..=path.len() {
            let node = path[..end].to_vec();
            if !below.contains_key(&node) {
                order.push((node.clone(), end == path.len()));
            }
            *below.entry(node).or_default() += rows;
        }
    }
    let node = |(path, is_leaf): (Vec<String>, bool)| TreeNode {
        rows: below.get(&path).copied().filter(|rows| *rows >= u64::from(DraftColumn::SHOWN)),
        depth: path.len() - 1,
        label: path.last().cloned().unwrap_or_default(),
        is_leaf,
    };
    order.into_iter().map(node).collect()
}

/// Values by how they begin. A shorter value is repeated at the levels that it does not reach.
fn beginnings(values: &[String]) -> Vec<Vec<String>> {
    let longest = values.iter().map(|value| value.chars().count()).max().unwrap_or(0);
    let label = |value: &String, length: usize| match value.char_indices().nth(length) {
        Some((end, _)) => format!("{}*", &value[..end]),
        None => value.clone(),
    };
    let row =
        |value: &String| (1..=longest).rev().map(|length| label(value, length)).chain(["*".to_string()]).collect();
    values.iter().map(row).collect()
}

/// Numbers in bands: `[20,30)`.
fn bands(values: &[String], width: u32) -> Result<Vec<Vec<String>>, UseCaseError> {
    if width < 2 {
        return Err(UseCaseError::usage("a band has a width of 2 or more"));
    }
    let wrong = || UseCaseError::usage("some values are not whole numbers, so they have no band; group them by hand");
    let width = i64::from(width);
    let mut numbers = values
        .iter()
        .map(|value| value.trim().parse::<i64>().map(|number| (number, value)).map_err(|_| wrong()))
        .collect::<Result<Vec<(i64, &String)>, UseCaseError>>()?;
    numbers.sort_unstable();
    let row = |(number, value): (i64, &String)| {
        let low = number.div_euclid(width) * width;
        vec![value.clone(), format!("[{low},{})", low + width), "*".to_string()]
    };
    Ok(numbers.into_iter().map(row).collect())
}

/// Values below the groups that were given to them.
fn grouped(values: &[String], groups: &BTreeMap<String, String>) -> Vec<Vec<String>> {
    let group = |value: &String| groups.get(value).map(|group| group.trim()).filter(|group| !group.is_empty());
    let mut rows: Vec<Vec<String>> = values
        .iter()
        .map(|value| vec![value.clone(), group(value).unwrap_or(value).to_string(), "*".to_string()])
        .collect();
    // The values of a group stand beside each other.
    rows.sort_by(|a, b| a[1].cmp(&b[1]).then_with(|| a[0].cmp(&b[0])));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(rows: &[&str]) -> Vec<String> {
        rows.iter().map(|row| row.to_string()).collect()
    }

    #[test]
    fn bands_hold_their_numbers_and_refuse_words() {
        let rows = bands(&texts(&["25", "7", "31", "-3"]), 10).unwrap();
        assert_eq!(
            rows,
            [["-3", "[-10,0)", "*"], ["7", "[0,10)", "*"], ["25", "[20,30)", "*"], ["31", "[30,40)", "*"]]
        );
        assert!(bands(&texts(&["7", "old"]), 10).is_err());
        assert!(bands(&texts(&["7"]), 1).is_err());
    }

    #[test]
    fn values_are_grouped_by_how_they_begin_in_letters_not_in_bytes() {
        let rows = beginnings(&texts(&["äb", "äc", "z"]));
        assert_eq!(rows, [["äb", "ä*", "*"], ["äc", "ä*", "*"], ["z", "z", "*"]]);
    }

    #[test]
    fn values_are_grouped_by_hand_and_the_rest_stays_below_the_root() {
        let groups = BTreeMap::from([("flu".to_string(), "lung".to_string()), ("cough".into(), "lung".into())]);
        let rows = grouped(&texts(&["flu", "gout", "cough"]), &groups);
        assert_eq!(rows, [["gout", "gout", "*"], ["cough", "lung", "*"], ["flu", "lung", "*"]]);
    }

    #[test]
    fn listed_values_give_way_to_a_file_and_nothing_else_changes() {
        let text = "# values = [\"no\"]\n[columns]\nsex = { role = \"quasi\", values = [\"F\", \"M\"] }\nward = { values = [\"a]b\",\n  \"c\"], unknown = \"other\" } # kept\n";
        let changed = naming_file(text, "ward", "hierarchies/ward.csv").unwrap();
        assert_eq!(
            changed,
            "# values = [\"no\"]\n[columns]\nsex = { role = \"quasi\", values = [\"F\", \"M\"] }\nward = { hierarchy = \"hierarchies/ward.csv\", unknown = \"other\" } # kept\n"
        );
        assert_eq!(naming_file(text, "nothing", "x.csv"), None);
    }

    #[test]
    fn a_count_that_few_rows_share_is_left_out() {
        let rows = [vec!["a".to_string(), "x".into(), "*".into()], vec!["b".into(), "x".into(), "*".into()]];
        let tree = Hierarchy::from_rows(&rows).unwrap();
        let counts = BTreeMap::from([("a", 4), ("b", 9)]);
        let nodes = nodes(&tree, &counts);
        let shown: Vec<(&str, Option<u64>)> = nodes.iter().map(|node| (&*node.label, node.rows)).collect();
        assert_eq!(shown, [("*", Some(13)), ("x", Some(13)), ("a", None), ("b", Some(9))]);
    }
}
