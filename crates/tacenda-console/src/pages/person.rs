//! What the releases say of one person, to answer a request for access. The key is sent in the body of a form, is in no address, and
//! is not kept.

use crate::console::Console;
use crate::forms::Fields;
use crate::shell::{Here, Sheet, failed};
use axum::response::Response;
use maud::{Markup, html};
use tacenda::ingest::Given;
use tacenda::report::Names;
use tacenda::report::parts::label;
use tacenda::use_cases::{LogEvent, Overview, SubjectRequest, UseCaseError, explain_person};

/// The page.
pub fn get(console: &Console, _: &Fields) -> Response {
    match console.overview() {
        Ok(overview) => page(console, &overview, None),
        Err(error) => failed(console, Here::Person, "Person", &error),
    }
}

fn page(console: &Console, overview: &Overview, answer: Option<Markup>) -> Response {
    let releases: Vec<&LogEvent> =
        overview.log.iter().flat_map(|log| &log.events).filter(|event| event.release.is_some()).collect();
    let tables = console.tables();
    let identifier = overview.policy.as_ref().map_or("", |policy| policy.identifier.as_str());
    let body = html! {
        @if let Some(answer) = answer { (answer) }
        @if releases.is_empty() {
            p class="soft" { "Nothing is published yet." }
        } @else {
            form method="post" action="/person" autocomplete="off" {
                fieldset {
                    legend { "The private table of each release" }
                    p class="soft small" { "The vault keeps the last table only. After a single release it is enough." }
                    @for event in &releases {
                        label {
                            "Release " (event.release.unwrap_or(0)) " " (label(event.label.as_deref().unwrap_or_default())) " "
                            select name="truth" {
                                option value="" { "not given" }
                                @for table in &tables { option value=(table.key) translate="no" { (table.name) } }
                            }
                        }
                    }
                }
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
        Ok(answer) => page(console, &overview, Some(answer)),
        Err(error) => failed(console, Here::Person, "Person", &error),
    }
}

fn explained(console: &Console, fields: &Fields) -> Result<Markup, UseCaseError> {
    let keys: Vec<String> = fields.all("truth").into_iter().filter(|key| !key.is_empty()).collect();
    let truth = keys.iter().map(|key| console.table(key).map(|table| Given::Path(table.path)));
    let truth = truth.collect::<Result<Vec<Given>, UseCaseError>>()?;
    let names = if fields.text("show") == "yes" { Names::Shown } else { Names::Coded };
    let subject = SubjectRequest { project: console.project().clone(), truth, ..SubjectRequest::default() };
    let report = explain_person(fields.raw("key").trim(), subject, names, &|_, _| {})?;
    Ok(html! {
        section aria-label="What the releases say" {
            h2 { "What the releases say" }
            pre class="told" tabindex="0" { (report.explanation) }
        }
    })
}
