//! What the releases say of one person, to answer a request for access. The key is sent in the body of a form, is in no address, and
//! is not kept.

use crate::console::Console;
use crate::drops::List;
use crate::forms::Fields;
use crate::shell::{Here, Sheet, drop_zone, failed, private_tables, truth_given};
use axum::response::Response;
use maud::{Markup, html};
use tacenda::report;
use tacenda::report::Names;
use tacenda::use_cases::{LogEvent, Overview, SubjectRequest, UseCaseError, person_stories};

/// The page.
pub fn get(console: &Console, _: &Fields) -> Response {
    match console.overview() {
        Ok(overview) => page(console, &overview, &[], None),
        Err(error) => failed(console, Here::Person, "Person", &error),
    }
}

fn page(console: &Console, overview: &Overview, given: &[String], answer: Option<Markup>) -> Response {
    let releases: Vec<&LogEvent> =
        overview.log.iter().flat_map(|log| &log.events).filter(|event| event.release.is_some()).collect();
    let tables = console.tables();
    let identifier = overview.policy.as_ref().map_or("", |policy| policy.identifier.as_str());
    let body = html! {
        @if let Some(answer) = answer { (answer) }
        @if releases.is_empty() {
            p class="soft" { "Nothing is published yet." }
        } @else {
            details open[tables.is_empty()] {
                summary { "Add private tables" }
                (drop_zone(List::Tables, "Drop private tables here, or choose them", true))
            }
            form method="post" action="/person" autocomplete="off" {
                (private_tables(console, &releases, given))
                label for="key" { "The person's key, as in the column " code { (identifier) } }
                div class="row" { input id="key" name="key" required autocomplete="off" spellcheck="false"; button { "Look up" } }
                label { input type="checkbox" name="show" value="yes"; " Show sensitive values by name" }
            }
        }
    };
    let lead = "What each release says of one person, and what is left when all are combined.";
    let command = console.command("explain person --truth TABLE… < key.txt");
    Sheet { here: Here::Person, title: "Person", lead, command, body }.answer(console)
}

/// Looks a person up.
pub fn post(console: &Console, fields: &Fields) -> Response {
    let overview = match console.overview() {
        Ok(overview) => overview,
        Err(error) => return failed(console, Here::Person, "Person", &error),
    };
    match explained(console, fields) {
        Ok(answer) => page(console, &overview, &fields.all("truth"), Some(answer)),
        Err(error) => failed(console, Here::Person, "Person", &error),
    }
}

fn explained(console: &Console, fields: &Fields) -> Result<Markup, UseCaseError> {
    let truth = truth_given(console, fields)?;
    let names = if fields.text("show") == "yes" { Names::Shown } else { Names::Coded };
    let subject = SubjectRequest { project: console.project().clone(), truth, ..SubjectRequest::default() };
    let stories = person_stories(fields.raw("key").trim(), subject, names, &|_, _| {})?;
    Ok(html! {
        section aria-label="What the releases say" {
            h2 { "What the releases say" }
            @if stories.is_empty() { p { "No release with sensitive values contains this person." } }
            @if stories.len() > 1 { p { "The value changed between releases. Each period is attacked separately." } }
            @for story in stories.iter().filter_map(report::story_steps) { div class="told" { (story) } }
        }
    })
}
