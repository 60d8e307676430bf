//! The next release: choose the data, check them, rehearse, compare, and publish with the label typed.

use crate::console::Console;
use crate::drops::List;
use crate::forms::Fields;
use crate::jobs::Work;
use crate::pages::cautions;
use crate::pages::numbers::{choices, english, forecast, summary, trial_table};
use crate::shell::{Here, Sheet, back, drop_zone, failed, job_box, notice, quoted, table_choice, without_policy};
use axum::response::Response;
use maud::{Markup, html};
use tacenda::ingest::Given;
use tacenda::report::parts::{Tone, data, label};
use tacenda::use_cases::{
    self, CheckReport, Overview, PlanReport, Planned, PublishReport, ReleaseRequest, SettingChoice, Trial, TrialReport,
    UseCaseError, discard_plan,
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
    let body = html! {
        (job_box(Work::Publish, &console.jobs.any(Work::Publish)))
        (cautions(console))
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
            (comparison(console, fields, head))
            section {
                h2 { "4. Rehearse" }
                p { "Makes the release, has it judged with everything published before, and keeps it as a plan." }
                label for="label" { "The label of the release, such as 2026-Q3" }
                div class="row" {
                    input id="label" name="label" required maxlength="60" autocomplete="off" value=(fields.text("label"));
                    button { "Rehearse" }
                }
                (job_box(Work::Plan, &console.jobs.standing(Work::Plan, head)))
            }
        }
        section { h2 { "5. Publish" } (to_publish(console, &overview)) }
    };
    let table = tables.iter().find(|table| chosen.is_none_or(|key| table.key == key));
    let table = table.map_or_else(|| "TABLE".to_string(), |table| quoted(&table.name));
    let fresh = overview.planned.as_ref().filter(|planned| !planned.is_stale);
    let named = fields.some("label").or(fresh.map(|planned| planned.label.as_str()));
    let named = named.map_or_else(|| "LABEL".to_string(), quoted);
    let commands = [
        format!("check {table}"),
        format!("plan {table} --label {named}"),
        "publish --plan tacenda-plan.json".to_string(),
    ];
    let command = commands.map(|rest| console.command(&rest)).join("\n");
    let lead = "Rehearse as often as you like. Nothing is published before you type the label.";
    Sheet { here: Here::Next, title: "Next release", lead, command, body }.answer(console)
}

/// Two values of a setting, next to each other.
fn comparison(console: &Console, fields: &Fields, head: &str) -> Markup {
    let settings = SettingChoice::of_project(console.project()).unwrap_or_default();
    html! {
        section {
            h2 { "3. Compare two settings" }
            p { "What would the release cost with another setting? The policy stays as it is." }
            div class="row" {
                label { "Setting " select name="setting" translate="no" { @for setting in &settings {
                    option value=(setting.name) selected[setting.name == fields.text("setting")] {
                        (setting.name) @if !setting.now.is_empty() { " = " (setting.now) }
                    }
                } } }
                label { "One value " input name="one" maxlength="20" size="8" autocomplete="off" value=(fields.some("one").unwrap_or("3")); }
                label { "Other value " input name="other" maxlength="20" size="8" autocomplete="off" value=(fields.some("other").unwrap_or("5")); }
                button class="second" formaction="/next/compare" formnovalidate { "Compare" }
            }
            p class="soft small" { "A limit (max_share) refuses a release that costs more. The other settings are compared without limits." }
            (job_box(Work::Compare, &console.jobs.standing(Work::Compare, head)))
        }
    }
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
    let mut kept = form_urlencoded::Serializer::new(String::new());
    for name in ["table", "label", "setting", "one", "other"] {
        kept.append_pair(name, fields.text(name));
    }
    back(&format!("/next?{}", kept.finish()))
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
    let name = table_name(console, fields);
    console.jobs.start(Work::Check, &head(console), move |progress| {
        Ok(checked(&use_cases::check(request, None, progress)?, &name).into_string())
    });
    console.jobs.wait_a_moment(Work::Check);
    again(fields)
}

/// The name of the table that was chosen: a result says which table it is about.
fn table_name(console: &Console, fields: &Fields) -> String {
    console.table(fields.text("table")).map_or_else(|_| String::new(), |table| table.name)
}

fn checked(report: &CheckReport, table: &str) -> Markup {
    html! {
        (notice(Tone::Pass, "POSSIBLE", html! { p { "This table can be published under the policy." } p { (data(table)) } }))
        @if let Some(found) = &report.summary { (summary(found)) }
        @if !report.notes.is_empty() { details { summary { "Notes" } (english(&report.notes)) } }
    }
}

/// Begins a comparison.
pub fn compare(console: &Console, fields: &Fields) -> Response {
    let requests = match (request(console, fields), request(console, fields)) {
        (Ok(one), Ok(other)) => [one, other],
        (Err(error), _) | (_, Err(error)) => return failed(console, Here::Next, "Next release", &error),
    };
    let settings = SettingChoice::of_project(console.project()).unwrap_or_default();
    let Some(setting) = settings.into_iter().find(|setting| setting.name == fields.text("setting")) else {
        let error = UseCaseError::Usage("choose a setting from the list; then compare again".into());
        return failed(console, Here::Next, "Next release", &error);
    };
    let values = [fields.text("one").to_string(), fields.text("other").to_string()];
    let (name, folder) = (table_name(console, fields), console.drops.own("variant"));
    console.jobs.start(Work::Compare, &head(console), move |progress| {
        let mut found: Vec<(String, TrialReport)> = Vec::new();
        for (request, value) in requests.into_iter().zip(values) {
            let report = Trial::of_setting(request, &setting, &value, &folder, progress)?;
            found.push((format!("{} = {value}", setting.name), report));
        }
        Ok(html! { p { (data(&name)) } (trial_table(&found)) }.into_string())
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
    let name = table_name(console, fields);
    console.jobs.start(Work::Plan, &head(console), move |progress| {
        Ok(rehearsed(&use_cases::plan(request, None, progress)?, &name).into_string())
    });
    console.jobs.wait_a_moment(Work::Plan);
    again(fields)
}

fn rehearsed(report: &PlanReport, table: &str) -> Markup {
    let found = &report.summary;
    html! {
        (notice(Tone::Pass, "REHEARSED", html! {
            p { "Release " (found.release) ", " (data(&found.label)) ": rehearsed, nothing is published yet." }
            p { (data(table)) }
        }))
        (summary(found))
        @if let Some(ahead) = &report.forecast { (forecast(ahead, found.release)) }
        (choices(&report.choices))
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
                None => { p { "Nothing is signed: there is no signing key." " " a href="/ledger" { "Make a signing key" } } }
            }
            p { a href={ "/release/" (report.release) } { "Look at the release" } " " a href="/series" { "What the series gives away now" } }
        },
    )
}
