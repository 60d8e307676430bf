//! Releases of any tool: drop them in order, say what the columns are, and see what a reader of all of them can work out.

use crate::console::Console;
use crate::drops::{Dropped, List};
use crate::forms::Fields;
use crate::jobs::Work;
use crate::pages::numbers::english;
use crate::pages::report_page;
use crate::shell::{Here, Sheet, back, drop_zone, dropped_files, error_box, failed, job_box, quoted};
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use std::fs;
use tacenda::ingest::{Given, Source, draft};
use tacenda::model::Role;
use tacenda::report;
use tacenda::report::parts::column_name;
use tacenda::report::{Names, Report};
use tacenda::use_cases::{AuditRequest, SubjectRequest, ToldError, UseCaseError};

/// The page.
pub fn get(console: &Console, _: &Fields) -> Response {
    let (files, truth) = (console.drops.list(List::Audit), console.drops.list(List::Truth));
    let columns = files.first().map(guessed);
    let body = html! {
        section {
            h2 { "1. The releases, the oldest first" }
            (drop_zone(List::Audit, "Drop published files here, or choose them", true))
            (dropped_files(List::Audit, &files))
        }
        @match columns {
            None => { p class="soft" { "Any tool may have made them: ARX, sdcMicro, pandas, or a person by hand." } }
            Some(Err(error)) => (error_box(&ToldError::of(&error))),
            Some(Ok(columns)) => (mapped(&columns, &truth)),
        }
        (job_box(Work::Audit, &console.jobs.any(Work::Audit)))
    };
    let names: Vec<String> = files.iter().map(|file| quoted(&file.name)).collect();
    let command =
        console.command(&format!("audit {} --quasi COLUMNS --sensitive COLUMNS -o audit.html", names.join(" ")));
    let lead = "What can anyone learn from these releases together?";
    Sheet { here: Here::Audit, title: "Audit", lead, command, body }.answer(console)
}

/// The columns of a file, each with the role that its name and its values suggest.
fn guessed(file: &Dropped) -> Result<Vec<(String, Role)>, UseCaseError> {
    let found = draft(&Source::open(&file.path)?)?;
    Ok(found.columns.into_iter().map(|column| (column.name, column.role)).collect())
}

fn mapped(columns: &[(String, Role)], truth: &[Dropped]) -> Markup {
    let roles = [("quasi", "an attacker may know it"), ("sensitive", "nobody may learn it"), ("none", "left out")];
    let proposed = |role: Role| match role {
        Role::Quasi => "quasi",
        Role::Sensitive => "sensitive",
        _ => "none",
    };
    html! {
        details open[!truth.is_empty()] {
            summary { "The private tables behind them, if you have them" }
            p { "One per release, in the same order. Then the answers are about people." }
            (drop_zone(List::Truth, "Drop private tables here, or choose them", true))
            (dropped_files(List::Truth, truth))
        }
        form method="post" action="/audit/run" {
            section {
                h2 { "2. The columns" }
                div class="scroll" { table class="columns" {
                    thead { tr { th scope="col" { "Column" } th scope="col" { "What it is" } } }
                    tbody {
                        @for (name, role) in columns {
                            tr {
                                th scope="row" { (column_name(name)) }
                                td {
                                    select name={ "role:" (name) } aria-label={ "What it is: " (name) } {
                                        @for (word, meaning) in roles {
                                            option value=(word) selected[word == proposed(*role)] { (meaning) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                } }
                div class="row" {
                    label { "Least people alike (k) " input type="number" name="k" min="1" max="1000" value="2"; }
                    label { "Least possible values (l) " input type="number" name="l" min="1" max="1000" value="2"; }
                    @if !truth.is_empty() {
                        label { "Column that names a person " input name="id" autocomplete="off"; }
                    }
                }
                label { input type="checkbox" name="show" value="yes"; " Show sensitive values by name" }
                p { button { "Audit" } }
            }
        }
    }
}

/// Begins an audit.
pub fn run(console: &Console, fields: &Fields) -> Response {
    let paths = |list: List| -> Vec<Given> {
        console.drops.list(list).into_iter().map(|file| Given::Path(file.path)).collect()
    };
    let (releases, truth) = (paths(List::Audit), paths(List::Truth));
    if releases.is_empty() {
        let error = UseCaseError::Usage("there is nothing to audit; drop at least one published file".into());
        return failed(console, Here::Audit, "Audit", &error);
    }
    let of_role = |wanted: &str| -> Vec<String> {
        fields.beginning("role:").into_iter().filter(|(_, role)| role == wanted).map(|(column, _)| column).collect()
    };
    let subject = SubjectRequest {
        releases,
        truth,
        quasi: of_role("quasi"),
        sensitive: of_role("sensitive"),
        id: fields.some("id").map(String::from),
        ..SubjectRequest::default()
    };
    let names = if fields.text("show") == "yes" { Names::Shown } else { Names::Coded };
    let request =
        AuditRequest { subject, k: fields.number("k"), l: fields.number("l"), names, ..AuditRequest::default() };
    let page = console.drops.own("audit.html");
    console.jobs.start(Work::Audit, "", move |progress| {
        let audit = request.read(progress)?;
        let notes = audit.notes().to_vec();
        let answer = audit.judge(progress);
        fs::write(&page, report::html(&answer.report))
            .map_err(|source| UseCaseError::File { file: "the audit".into(), source })?;
        Ok(found(&answer.report, &notes).into_string())
    });
    console.jobs.wait_a_moment(Work::Audit);
    back("/audit")
}

/// What was found: findings left, the worked case right, what to do below.
fn found(report: &Report, notes: &[String]) -> Markup {
    html! {
        section {
            h2 { "3. What was found" }
            (report::verdict(report))
            (report::figures(report))
            div class="two" {
                div { h3 { "Findings" } (report::findings(report)) }
                aside {
                    @match report::story(report) {
                        Some(story) => (PreEscaped(story.into_string())),
                        None => { p class="soft" { "No single case was worked out." } }
                    }
                }
            }
            @if !report.next_steps.is_empty() {
                h3 { "What to do" }
                (english(&report.next_steps))
            }
            details { summary { "How the files were read" } (english(notes)) }
            p { a href="/audit/report" target="_blank" rel="noopener" { "The whole report, to read and print" } }
        }
    }
}

/// The report on the last audit.
pub fn report_alone(console: &Console, _: &Fields) -> Response {
    match fs::read_to_string(console.drops.own("audit.html")) {
        Ok(page) => report_page(page),
        Err(_) => back("/audit"),
    }
}
