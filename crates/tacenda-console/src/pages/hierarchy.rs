//! The tree of a column: values without a place, and a new tree by how values begin, by bands, or by hand.

use crate::console::Console;
use crate::forms::Fields;
use crate::shell::{Here, Sheet, back, error_box, failed, notice, without_policy};
use axum::response::Response;
use maud::{Markup, html};
use tacenda::ingest::{DraftColumn, Given};
use tacenda::report::number;
use tacenda::report::parts::{Tone, data};
use tacenda::use_cases::{ToldError, TreeNode, TreeReport, TreeRule, UseCaseError, new_tree, save_tree, tree};

/// The most nodes that are shown.
const MOST_NODES: usize = 2_000;

/// The page.
pub fn get(console: &Console, fields: &Fields) -> Response {
    let saved = fields.text("saved") == "yes";
    let done = saved.then(|| notice(Tone::Pass, "SAVED", html! { p { "The policy can be used with the new tree." } }));
    page(console, fields, done, None)
}

/// The tree that the fields name.
fn asked(console: &Console, fields: &Fields) -> Result<TreeReport, UseCaseError> {
    let table = fields.some("table").map(|key| console.table(key)).transpose()?;
    tree(console.project(), fields.some("column"), table.map(|table| Given::Path(table.path)))
}

fn page(console: &Console, fields: &Fields, above: Option<Markup>, text: Option<&str>) -> Response {
    if console.overview().is_ok_and(|overview| overview.policy.is_none() && overview.fault.is_none()) {
        return without_policy(console, Here::Hierarchy, "Hierarchy");
    }
    let report = match asked(console, fields) {
        Ok(report) => report,
        Err(error) => return failed(console, Here::Hierarchy, "Hierarchy", &error),
    };
    let tables = console.tables();
    let chosen = fields.text("table");
    let body = html! {
        @if let Some(above) = above { (above) }
        form method="get" action="/hierarchy" class="row" {
            label { "Column " select name="column" translate="no" {
                @for name in &report.columns { option selected[*name == report.column] { (name) } }
            } }
            label { "Table to hold against it " select name="table" {
                option value="" { "not given" }
                @for table in &tables { option value=(table.key) selected[table.key == chosen] translate="no" { (table.name) } }
            } }
            button class="second" { "Show" }
        }
        @if !report.lost.is_empty() || report.rare_lost > 0 { (without_place(&report)) }
        form method="post" action="/hierarchy" {
            input type="hidden" name="column" value=(report.column);
            input type="hidden" name="table" value=(chosen);
            div class="two" {
                section { h2 { "The tree" } p class="soft small" { "Counts below " (DraftColumn::SHOWN) " are not shown." } (drawn(&report)) }
                aside { (rules(&report)) @if let Some(text) = text { (proposal(&report, text)) } }
            }
        }
    };
    let lead = "How values of a column are generalised.";
    let command = format!("$EDITOR {}\n{}", report.file, console.command("check"));
    Sheet { here: Here::Hierarchy, title: "Hierarchy", lead, command, body }.answer(console)
}

fn without_place(report: &TreeReport) -> Markup {
    notice(
        Tone::Open,
        "VALUES WITHOUT A PLACE",
        html! {
            @if !report.lost.is_empty() {
                ul { @for (value, rows) in report.lost.iter().take(50) { li { (data(value)) " " span class="soft small" { (number(*rows)) " rows" } } } }
            }
            @if report.rare_lost > 0 { p { (number(report.rare_lost)) " further values are too rare to be shown." } }
            p { "A new tree takes in those that are shown. With unknown = \"other\" the others are published as other." }
        },
    )
}

fn drawn(report: &TreeReport) -> Markup {
    let shown = &report.nodes[..report.nodes.len().min(MOST_NODES)];
    html! {
        ul class="tree" tabindex="0" aria-label="The tree" {
            @for node in shown {
                li class={ "depth-" (node.depth.min(8)) @if node.is_leaf { " leaf" } } draggable=[node.is_leaf.then_some("true")] data-value=[node.is_leaf.then_some(&node.label)] {
                    (data(&node.label))
                    @if let Some(rows) = node.rows { " " span class="soft small" { (number(rows)) } }
                }
            }
        }
        @if report.nodes.len() > shown.len() { p class="soft small" { "The tree is longer than this page." } }
    }
}

fn rules(report: &TreeReport) -> Markup {
    let leaves: Vec<&TreeNode> = report.nodes.iter().filter(|node| node.is_leaf).take(200).collect();
    html! {
        h2 { "A new tree" }
        fieldset {
            legend { "How values are grouped" }
            label { input type="radio" name="rule" value="prefix" checked; " By how they begin" }
            label { input type="radio" name="rule" value="bands"; " In bands of this width " input type="number" name="width" min="2" value="10" aria-label="Width of a band"; }
            label { input type="radio" name="rule" value="groups"; " By hand" }
            details {
                summary { "Groups by hand: write a group beside each value, or drag values onto a group" }
                div class="groups" data-groups="" {
                    label { "New group " input data-new-group="" autocomplete="off"; }
                    ul class="targets" {}
                }
                @for leaf in leaves {
                    label class="row" { (data(&leaf.label)) " " input name={ "group:" (leaf.label) } autocomplete="off"; }
                }
            }
        }
        p { button class="second" name="what" value="show" { "Show the new tree" } }
    }
}

fn proposal(report: &TreeReport, text: &str) -> Markup {
    html! {
        h3 { "The new file" }
        label for="text" { "One line per value: the value, its groups, and * at the end" }
        textarea id="text" name="text" rows="16" spellcheck="false" { "\n" (text) }
        @if report.is_listed { p class="soft" { "The policy lists the values of this column itself. It will name this file in their place." } }
        p { button name="what" value="save" { "Save" } " " (data(&report.file)) }
    }
}

/// Shows a new tree, or saves it.
pub fn post(console: &Console, fields: &Fields) -> Response {
    let column = fields.text("column");
    if fields.text("what") == "save" {
        let text = fields.raw("text").replace("\r\n", "\n");
        return match save_tree(console.project(), column, &text) {
            Ok(()) => {
                let column: String = form_urlencoded::byte_serialize(column.as_bytes()).collect();
                back(&format!("/hierarchy?saved=yes&column={column}"))
            }
            Err(error) => page(console, fields, Some(error_box(&ToldError::of(&error))), Some(&text)),
        };
    }
    let rule = match fields.text("rule") {
        "bands" => TreeRule::Bands(fields.number("width").unwrap_or(0)),
        "groups" => TreeRule::Groups(fields.beginning("group:")),
        _ => TreeRule::Prefix,
    };
    match asked(console, fields).and_then(|report| new_tree(&report, &rule)) {
        Ok(text) => page(console, fields, None, Some(&text)),
        Err(error) => page(console, fields, Some(error_box(&ToldError::of(&error))), None),
    }
}
