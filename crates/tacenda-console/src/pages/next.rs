//! The next release: choose the data, check them, rehearse, compare, and publish with the label typed.

use crate::console::Console;
use crate::drops::List;
use crate::forms::Fields;
use crate::jobs::Work;
use crate::pages::numbers::{choices, english, forecast, summary, trial_table};
use crate::shell::{Here, Sheet, back, drop_zone, failed, job_box, notice, quoted, table_choice, without_policy};
use axum::response::Response;
use maud::{Markup, html};
use tacenda::ingest::Given;
use tacenda::report::parts::{Tone, data, label};
use tacenda::use_cases::{
    self, CheckReport, Overview, PlanReport, Planned, PublishReport, ReleaseRequest, Trial, TrialReport, UseCaseError,
    discard_plan,
};

/// The page.
pub fn get(console: &Console, fields: &Fields) -> Response {
    let overview = match console.overview() {
        Ok(overview) => overview,
        Err(error) => return failed(console, Here::Next, "Next release", &error),
    };
    if let Some(fault) = &overview.fault {
        return failed(console, Here::Next, "Next release", fault);
    }
    let Some(policy) = &overview.policy else { return without_policy(console, Here::Next, "Next release") };
    let tables = console.tables();
    let head = overview.log.as_ref().map_or("", |log| log.head.as_str());
    let chosen = fields.some("table");
    let names: Vec<&str> = policy.numbers.iter().filter_map(|number| number.split(' ').next()).collect();
    let body = html! {
        (job_box(Work::Publish, &console.jobs.any(Work::Publish)))
        section {
            h2 { "1. The data" }
            (drop_zone(List::Tables, "Drop the new table here, or choose a file", false))
        }
        form method="post" action="/next/rehearse" {
            (table_choice(&tables, chosen))
            @if !policy.views.is_empty() {
                label for="view" { "View" }
                select id="view" name="view" translate="no" { @for view in &policy.views { option { (view) } } }
            }
            section {
                h2 { "2. Check" }
                p { "Can this table be published under the policy? Nothing is written." }
                p { button class="second" formaction="/next/check" formnovalidate { "Check the table" } }
                (job_box(Work::Check, &console.jobs.standing(Work::Check, head)))
            }
            section {
                h2 { "3. Compare two settings" }
                p { "What would the release cost with another number? The policy stays as it is." }
                div class="row" {
                    label { "Number " select name="number" translate="no" { @for name in names { option { (name) } } } }
                    label { "One value " input type="number" name="one" min="2" max="1000" value="2"; }
                    label { "Other value " input type="number" name="other" min="2" max="1000" value="4"; }
                    button class="second" formaction="/next/compare" formnovalidate { "Compare" }
                }
                (job_box(Work::Compare, &console.jobs.standing(Work::Compare, head)))
            }
            section {
                h2 { "4. Rehearse" }
                p { "Makes the release, has it judged with everything published before, and keeps it as a plan." }
                label for="label" { "The label of the release, such as 2026-Q3" }
                div class="row" {
                    input id="label" name="label" required maxlength="60" autocomplete="off";
                    button { "Rehearse" }
                }
                (job_box(Work::Plan, &console.jobs.standing(Work::Plan, head)))
            }
        }
        section { h2 { "5. Publish" } (to_publish(console, &overview)) }
    };
    let commands =
        ["check TABLE".to_string(), "plan TABLE --label LABEL".into(), "publish --plan tacenda-plan.json".into()];
    let command = commands.map(|rest| console.command(&rest)).join("\n");
    let lead = "Rehearse as often as you like. Nothing is published before you type the label.";
    Sheet { here: Here::Next, title: "Next release", lead, command, body }.answer(console)
}

fn to_publish(console: &Console, overview: &Overview) -> Markup {
    let fresh = overview.planned.as_ref().filter(|planned| !planned.is_stale);
    let Some(Planned { release, label: planned, .. }) = fresh else {
        return html! { p class="soft" { "There is no plan to publish. Rehearse first." } };
    };
    html! {
        p { "A plan is waiting: release " (release) ", " (label(planned)) ". A published release cannot be taken back." }
        @if console.settings.allow_publish {
            form method="post" action="/next/publish" {
                label for="typed" { "Type the label of the release to publish it" }
                div class="row" {
                    input id="typed" name="typed" required autocomplete="off";
                    button class="danger" { "Publish" }
                }
            }
        } @else {
            (notice(Tone::Plain, "PUBLISHING IS OFF", html! {
                p { "This console may not publish. Start it with " code { "--allow-publish" } ", or use the command line." }
            }))
        }
        form method="post" action="/next/discard" { button class="plain" { "Discard the plan" } }
    }
}

/// What a form asks for.
fn request(console: &Console, fields: &Fields) -> Result<ReleaseRequest, UseCaseError> {
    let table = console.table(fields.text("table"))?;
    Ok(ReleaseRequest {
        project: console.project().clone(),
        data: Some(Given::Path(table.path)),
        label: fields.some("label").map(String::from),
        view: fields.some("view").map(String::from),
        ..ReleaseRequest::default()
    })
}

/// The page again, with the table that was chosen.
fn again(fields: &Fields) -> Response {
    let table: String = form_urlencoded::byte_serialize(fields.text("table").as_bytes()).collect();
    back(&format!("/next?table={table}"))
}

fn head(console: &Console) -> String {
    console.overview().ok().and_then(|overview| overview.log).map_or_else(String::new, |log| log.head)
}

/// Begins a check.
pub fn check(console: &Console, fields: &Fields) -> Response {
    let request = match request(console, fields) {
        Ok(request) => request,
        Err(error) => return failed(console, Here::Next, "Next release", &error),
    };
    console.jobs.start(Work::Check, &head(console), move |progress| {
        Ok(checked(&use_cases::check(request, None, progress)?).into_string())
    });
    console.jobs.wait_a_moment(Work::Check);
    again(fields)
}

fn checked(report: &CheckReport) -> Markup {
    html! {
        (notice(Tone::Pass, "POSSIBLE", html! { p { "This table can be published under the policy." } }))
        @if let Some(found) = &report.summary { (summary(found)) }
        @if !report.notes.is_empty() { details { summary { "Notes" } (english(&report.notes)) } }
    }
}

/// Begins a comparison.
pub fn compare(console: &Console, fields: &Fields) -> Response {
    let request = match request(console, fields) {
        Ok(request) => request,
        Err(error) => return failed(console, Here::Next, "Next release", &error),
    };
    let name = fields.text("number").to_string();
    let values = [fields.number("one").unwrap_or(2), fields.number("other").unwrap_or(4)];
    console.jobs.start(Work::Compare, &head(console), move |progress| {
        let trial = Trial::of_project(request, progress)?;
        let mut found: Vec<(String, TrialReport)> = Vec::new();
        for value in values {
            progress(4, "forming groups");
            found.push((format!("{name} = {value}"), trial.with(&[(&name, value)])?));
        }
        Ok(trial_table(&found).into_string())
    });
    console.jobs.wait_a_moment(Work::Compare);
    again(fields)
}

/// Begins a rehearsal.
pub fn rehearse(console: &Console, fields: &Fields) -> Response {
    let request = match request(console, fields) {
        Ok(request) if request.label.is_some() => request,
        Ok(_) => {
            let error = UseCaseError::Usage("a release needs a label, such as 2026-Q3; type one".into());
            return failed(console, Here::Next, "Next release", &error);
        }
        Err(error) => return failed(console, Here::Next, "Next release", &error),
    };
    console.jobs.forget(Work::Publish);
    // A rehearsal makes the ledger the first time, so what it is about is not known before.
    if head(console).is_empty()
        && let Err(error) = console.project().open(tacenda::publish::Access::Rehearse)
    {
        return failed(console, Here::Next, "Next release", &error.into());
    }
    console.jobs.start(Work::Plan, &head(console), move |progress| {
        Ok(rehearsed(&use_cases::plan(request, None, progress)?).into_string())
    });
    console.jobs.wait_a_moment(Work::Plan);
    again(fields)
}

fn rehearsed(report: &PlanReport) -> Markup {
    let found = &report.summary;
    html! {
        (notice(Tone::Pass, "REHEARSED", html! {
            p { "Release " (found.release) ", " (data(&found.label)) ": rehearsed, nothing is published yet." }
        }))
        (summary(found))
        @if let Some(ahead) = &report.forecast { (forecast(ahead, found.release)) }
        (choices(&report.choices))
        p class="soft small" { "The same: " code { "tacenda plan TABLE --label " (quoted(&found.label)) } }
    }
}

/// Throws the plan away.
pub fn discard(console: &Console, _: &Fields) -> Response {
    match discard_plan(console.project()) {
        Ok(()) => {
            console.jobs.forget(Work::Plan);
            back("/next")
        }
        Err(error) => failed(console, Here::Next, "Next release", &error),
    }
}

/// Publishes the plan, if that is allowed and the label was typed.
pub fn publish(console: &Console, fields: &Fields) -> Response {
    let refused = |why: &str| failed(console, Here::Next, "Next release", &UseCaseError::Usage(why.into()));
    if !console.settings.allow_publish {
        return refused("this console may not publish; start it with tacenda serve --allow-publish");
    }
    let planned = match console.overview() {
        Ok(overview) => overview.planned,
        Err(error) => return failed(console, Here::Next, "Next release", &error),
    };
    let Some(planned) = planned else { return refused("there is no plan to publish; rehearse first") };
    if fields.raw("typed").trim() != planned.label {
        return refused("the label that was typed is not that of the plan; nothing was published");
    }
    let request = ReleaseRequest { project: console.project().clone(), ..ReleaseRequest::default() };
    console.jobs.start(Work::Publish, "", move |progress| {
        let next = request.prepare(Some(planned.file), progress)?;
        Ok(published(&next.publish(progress)?).into_string())
    });
    console.jobs.wait_a_moment(Work::Publish);
    back("/next")
}

fn published(report: &PublishReport) -> Markup {
    let word = if report.already { "PUBLISHED BEFORE" } else { "PUBLISHED" };
    notice(
        Tone::Pass,
        word,
        html! {
            p { "Release " (report.release) ", " (data(&report.label)) ". It is in " (data(&report.folder.display().to_string())) }
            @match &report.signed_by {
                Some(key) => { p { "Signed by the key " code { (key) } "." } }
                None => { p { "Nothing is signed: there is no signing key." } }
            }
            p { a href={ "/release/" (report.release) } { "Look at the release" } " " a href="/series" { "What the series gives away now" } }
        },
    )
}
