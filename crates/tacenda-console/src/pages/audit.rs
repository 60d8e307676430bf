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
use std::collections::BTreeSet;
use std::fs;
use tacenda::ingest::{Given, Source, draft};
use tacenda::model::Role;
use tacenda::report;
use tacenda::report::parts::column_name;
use tacenda::report::{Names, Report};
use tacenda::use_cases::{AuditRequest, ExplainReport, SubjectRequest, ToldError, UseCaseError, explain_code};

/// Where it is written down what was said about the columns.
const ANSWERS: &str = "audit-answers";

/// The page.
pub fn get(console: &Console, _: &Fields) -> Response {
    let (files, truth) = (console.drops.list(List::Audit), console.drops.list(List::Truth));
    let columns = files.first().map(guessed);
    let answers = Fields::read(&fs::read(console.drops.own(ANSWERS)).unwrap_or_default());
    let body = html! {
        section {
            h2 { "1. The releases, the oldest first" }
            (drop_zone(List::Audit, "Drop published files here, or choose them", true))
            (dropped_files(List::Audit, &files))
        }
        @match columns {
            None => { p class="soft" { "Any tool may have made them: ARX, sdcMicro, pandas, or a person by hand." } }
            Some(Err(error)) => (error_box(&ToldError::of(&error))),
            Some(Ok(columns)) => (mapped(&columns, &truth, &answers)),
        }
        (job_box(Work::Audit, &console.jobs.any(Work::Audit)))
    };
    let command = console.command(&same(&files, &truth, &answers));
    let lead = "What can anyone learn from these releases together?";
    Sheet { here: Here::Audit, title: "Audit", lead, command, body }.answer(console)
}

/// What the command line is given for the same audit.
fn same(files: &[Dropped], truth: &[Dropped], answers: &Fields) -> String {
    let names = |files: &[Dropped]| files.iter().map(|file| quoted(&file.name)).collect::<Vec<String>>().join(" ");
    let columns = |role: &str| match of_role(answers, role).join(",") {
        none if none.is_empty() => "COLUMNS".to_string(),
        some => quoted(&some),
    };
    let mut words = format!("audit {} --quasi {}", names(files), columns("quasi"));
    words += &format!(" --sensitive {}", columns("sensitive"));
    for name in ["k", "l"] {
        words += &answers.number(name).map_or_else(String::new, |number| format!(" --{name} {number}"));
    }
    if !truth.is_empty() {
        words += &format!(" --truth {} --id {}", names(truth), answers.some("id").map_or("COLUMN".into(), quoted));
    }
    words + " -o audit.html"
}

/// The columns that were given a role.
fn of_role(answers: &Fields, wanted: &str) -> Vec<String> {
    answers.beginning("role:").into_iter().filter(|(_, role)| role == wanted).map(|(column, _)| column).collect()
}

/// The columns of a file, each with the role that its name and its values suggest.
fn guessed(file: &Dropped) -> Result<Vec<(String, Role)>, UseCaseError> {
    let found = draft(&Source::open(&file.path)?)?;
    Ok(found.columns.into_iter().map(|column| (column.name, column.role)).collect())
}

fn mapped(columns: &[(String, Role)], truth: &[Dropped], answers: &Fields) -> Markup {
    let roles = [("quasi", "an attacker may know it"), ("sensitive", "nobody may learn it"), ("none", "left out")];
    let said = answers.beginning("role:");
    let proposed = |name: &str, role: Role| match (said.get(name), role) {
        (Some(said), _) => said.as_str(),
        (None, Role::Quasi) => "quasi",
        (None, Role::Sensitive) => "sensitive",
        _ => "none",
    };
    let id = answers.some("id").map(String::from).or_else(|| truth.first().and_then(identifier)).unwrap_or_default();
    let least = |name: &str| answers.number(name).unwrap_or(2);
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
                                            option value=(word) selected[word == proposed(name, *role)] { (meaning) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                } }
                div class="row" {
                    label { "Least people alike (k) " input type="number" name="k" min="1" max="1000" value=(least("k")); }
                    label { "Least possible values (l) " input type="number" name="l" min="1" max="1000" value=(least("l")); }
                    @if !truth.is_empty() {
                        label { "Column that names a person " input name="id" autocomplete="off" value=(id); }
                    }
                }
                label { input type="checkbox" name="show" value="yes" checked[answers.text("show") == "yes"]; " Show sensitive values by name" }
                p { button { "Audit" } }
            }
        }
    }
}

/// The column that names a person in a private table, if one does.
fn identifier(table: &Dropped) -> Option<String> {
    guessed(table).ok()?.into_iter().find(|(_, role)| *role == Role::Identifier).map(|(name, _)| name)
}

/// Writes down what was said about the columns, for the next time the page is opened.
fn keep(console: &Console, fields: &Fields) {
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (column, role) in fields.beginning("role:") {
        form.append_pair(&format!("role:{column}"), &role);
    }
    for name in ["k", "l", "id", "show"] {
        form.append_pair(name, fields.text(name));
    }
    // Without it the columns are guessed again, which is no harm.
    let _ = fs::write(console.drops.own(ANSWERS), form.finish());
}

/// Begins an audit.
pub fn run(console: &Console, fields: &Fields) -> Response {
    keep(console, fields);
    let paths = |list: List| -> Vec<Given> {
        console.drops.list(list).into_iter().map(|file| Given::Path(file.path)).collect()
    };
    let (releases, truth) = (paths(List::Audit), paths(List::Truth));
    if releases.is_empty() {
        let error = UseCaseError::Usage("there is nothing to audit; drop at least one published file".into());
        return failed(console, Here::Audit, "Audit", &error);
    }
    let subject = SubjectRequest {
        releases,
        truth,
        quasi: of_role(fields, "quasi"),
        sensitive: of_role(fields, "sensitive"),
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
            div class="two findings" {
                div { h3 { "Findings" } (report::findings(report)) }
                aside {
                    @match report::story(report) {
                        Some(story) => (PreEscaped(story.into_string())),
                        None => { p class="soft" { "No single case was worked out." } }
                    }
                }
            }
            (meanings(report))
            @if !report.next_steps.is_empty() {
                h3 { "What to do" }
                (english(&report.next_steps))
            }
            details { summary { "How the files were read" } (english(notes)) }
            p { a href="/audit/report" target="_blank" rel="noopener" { "The whole report, to read and print" } }
        }
    }
}

/// What the codes of the findings mean: the pages of `tacenda explain`.
fn meanings(report: &Report) -> Markup {
    let codes: BTreeSet<&str> = report.findings.iter().map(|finding| finding.code.as_str()).collect();
    let pages: Vec<ExplainReport> = codes.into_iter().filter_map(|code| explain_code(code).ok()).collect();
    html! {
        @if !pages.is_empty() {
            details {
                summary { "What the findings mean" }
                dl lang="en" translate="no" { @for page in &pages { dt { code { (page.code) } " " (page.title) } dd { (page.explanation) } } }
            }
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
