//! A first policy: drop a table, look at its columns, answer three questions, move two sliders, and save.
//!
//! The answers lie in the private folder of the console until they are saved, so that a page can be reloaded.

use crate::console::{Choosable, Console};
use crate::drops::List;
use crate::forms::Fields;
use crate::jobs::{Standing, Work};
use crate::pages::numbers::{english, trial_figures};
use crate::shell::{Here, Sheet, back, drop_zone, error_box, failed, job_box, notice, piece, quoted, table_choice};
use axum::response::Response;
use maud::{Markup, html};
use std::collections::BTreeMap;
use std::fs;
use tacenda::ingest::{Draft, DraftColumn};
use tacenda::model::{Role, counted};
use tacenda::report::number;
use tacenda::report::parts::{Tone, column_name, data};
use tacenda::use_cases::{DraftRequest, Drafting, InitReport, ToldError, Trial, UseCaseError};

/// Up to how many rows sliders answer at once.
const LIVE: u64 = 100_000;

/// The page.
pub fn get(console: &Console, fields: &Fields) -> Response {
    let overview = match console.overview() {
        Ok(overview) => overview,
        Err(error) => return failed(console, Here::Start, "Start", &error),
    };
    let written = console.jobs.any(Work::Draft);
    if overview.policy.is_some() || overview.fault.is_some() {
        return settled(console, &written);
    }
    let tables = console.tables();
    let Some(key) = fields.some("table") else { return choose(console, &tables, &written) };
    match begun(console, key) {
        Ok((table, drafting, answers)) => questions(console, &table, &drafting, &answers, &written),
        Err(error) => failed(console, Here::Start, "Start", &error),
    }
}

/// There is a policy already.
fn settled(console: &Console, written: &Option<Standing>) -> Response {
    let body = html! {
        @match written {
            Some(_) => (job_box(Work::Draft, written)),
            None => (notice(Tone::Pass, "THE POLICY IS THERE", html! {
                p { "This folder has a policy. Read it, correct it, and rehearse the first release." }
            })),
        }
        p { a class="button" href="/next" { "Rehearse a release" } " " a href="/policy" { "Read and change the policy" } }
        p class="soft" { "To start over after a false start, use the command below. The old series is kept." }
    };
    let lead = "A first policy: which columns there are, and what is promised.";
    Sheet { here: Here::Start, title: "Start", lead, command: console.command("new --name NAME"), body }.answer(console)
}

/// No table was chosen yet.
fn choose(console: &Console, tables: &[Choosable], written: &Option<Standing>) -> Response {
    let body = html! {
        (job_box(Work::Draft, written))
        (drop_zone(List::Tables, "Drop the first table here, or choose a file", false))
        form method="get" action="/start" {
            (table_choice(tables, None))
            p { button disabled[tables.is_empty()] { "Look at the columns" } }
        }
    };
    let lead = "A first policy: which columns there are, and what is promised.";
    Sheet { here: Here::Start, title: "Start", lead, command: console.command("init TABLE"), body }.answer(console)
}

/// The draft for a table, with what was answered so far.
fn begun(console: &Console, key: &str) -> Result<(Choosable, Drafting, Fields), UseCaseError> {
    let table = console.table(key)?;
    let answers = kept(console, key);
    let drafting = drafted(console, &table, &answers)?;
    Ok((table, drafting, answers))
}

/// Where the answers about a table are kept.
fn place(console: &Console, key: &str) -> std::path::PathBuf {
    let name: String = key.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    console.drops.own(&format!("answers-{name}"))
}

fn kept(console: &Console, key: &str) -> Fields {
    Fields::read(&fs::read(place(console, key)).unwrap_or_default())
}

fn drafted(console: &Console, table: &Choosable, answers: &Fields) -> Result<Drafting, UseCaseError> {
    let request = DraftRequest {
        project: console.project().clone(),
        data: tacenda::Given::Path(table.path.clone()),
        name: answers.some("name").map(String::from),
        promise: None,
    };
    let mut drafting = request.draft(&|_, _| {})?;
    apply(&mut drafting.draft, answers);
    Ok(drafting)
}

/// Gives the draft what a person answered.
fn apply(draft: &mut Draft, answers: &Fields) {
    let roles = answers.beginning("role:");
    let named: Vec<(String, Role)> =
        roles.iter().filter_map(|(column, role)| Some((column.clone(), Role::named(role)?))).collect();
    // A new identifier replaces the one before, so it comes first.
    let identifiers = named.iter().filter(|(_, role)| *role == Role::Identifier);
    let others = named.iter().filter(|(_, role)| *role != Role::Identifier);
    for (column, role) in identifiers.chain(others) {
        if draft.column(column).is_some_and(|known| known.role != *role || known.undecided) {
            draft.set_role(column, *role);
        }
    }
    // What cannot be told is a question, and a person answers it.
    let undecided = draft.columns.iter().filter(|column| column.undecided).map(|column| column.name.clone());
    for column in undecided.collect::<Vec<String>>() {
        draft.leave_open(&column);
    }
    match answers.text("leaving") {
        "yes" => draft.set_leaving(true),
        "no" => draft.set_leaving(false),
        _ => {}
    }
    answers.number("m").into_iter().for_each(|m| draft.set_sure(u64::from(m)));
    answers.number("k").into_iter().for_each(|k| draft.set_least_group(k));
}

fn questions(
    console: &Console,
    table: &Choosable,
    drafting: &Drafting,
    answers: &Fields,
    written: &Option<Standing>,
) -> Response {
    let draft = &drafting.draft;
    let (m, k) = (answers.number("m").unwrap_or(3), answers.number("k").unwrap_or(2));
    let leaves = answers.text("leaving") != "no";
    let body = html! {
        (job_box(Work::Draft, written))
        p { (data(&table.name)) ": " (counted(draft.rows, "row", "rows")) }
        @if !draft.notes.is_empty() { details { summary { "Notes about the file" } (english(&draft.notes)) } }
        form method="post" action="/start/save" data-live="/start/live" data-into="tried" class="two" {
            input type="hidden" name="table" value=(table.key);
            div {
                section {
                    h2 { "The columns" }
                    p { "Values are shown only if at least " (DraftColumn::SHOWN) " rows share them." }
                    (columns(draft))
                    (roles_in_words())
                }
                section {
                    h2 { "Three questions" }
                    fieldset {
                        legend { "1. Do people leave, return or change between releases?" }
                        label { input type="radio" name="leaving" value="yes" checked[leaves]; " Yes, or I am not sure" }
                        label { input type="radio" name="leaving" value="no" checked[!leaves]; " No, people are only ever added" }
                        p class="soft small" { "If yes, releases may contain artificial rows. How many is published. A series cannot change this later." }
                    }
                    fieldset {
                        legend { "2. What must nobody learn about a person?" }
                        p { "The columns with the role sensitive. One such column per series is best." }
                    }
                    fieldset {
                        legend { "3. How sure may anybody be of that?" }
                        (slider("m", "At most 1 in this many", m, 2, 12))
                        (slider("k", "Each group has at least this many people", k, 2, 20))
                    }
                    label for="name" { "The name of the series" }
                    input id="name" name="name" value=(drafting.series()) required maxlength="60" pattern="[a-z0-9\\-]+" autocomplete="off";
                    p class="soft small" { "Small letters, digits and hyphens. It cannot be changed later." }
                }
            }
            aside {
                div id="tried" aria-live="polite" { (tried(console, table, drafting, answers)) }
                p { button { "Save this policy" } }
            }
        }
    };
    // The command drafts with the usual roles and numbers.
    let command = format!(
        "{}\n$EDITOR tacenda.toml   # the roles, and below [promise] the numbers, as on this page",
        console.command(&format!("init {} --name {}", quoted(&table.name), quoted(drafting.series())))
    );
    let lead = "A first policy: which columns there are, and what is promised.";
    Sheet { here: Here::Start, title: "Start", lead, command, body }.answer(console)
}

fn slider(name: &str, sentence: &str, value: u32, least: u32, most: u32) -> Markup {
    html! {
        label for=(name) { (sentence) }
        div class="slider" {
            input type="range" id=(name) name=(name) min=(least) max=(most) value=(value.clamp(least, most)) data-shows={ (name) "-shown" };
            output id={ (name) "-shown" } for=(name) { (value) }
        }
    }
}

/// The columns: what was found, and the role, which can be changed.
fn columns(draft: &Draft) -> Markup {
    let roles = [Role::Identifier, Role::Quasi, Role::Sensitive, Role::Public, Role::Drop];
    html! {
        div class="scroll" { table class="columns" {
            thead { tr { th scope="col" { "Column" } th scope="col" { "Role" } th scope="col" { "Why, and what is in it" } } }
            tbody {
                @for column in &draft.columns {
                    @let id = format!("role:{}", column.name);
                    @let samples = if column.role == Role::Identifier { Vec::new() } else { column.samples(5) };
                    tr {
                        th scope="row" { (column_name(&column.name)) }
                        td {
                            select name=(id) aria-label={ "Role of " (column.name) } {
                                @if column.open { option value="?" selected { "decide" } }
                                @for role in roles {
                                    option value=(role.word()) selected[role == column.role && !column.open] { (role.word()) }
                                }
                            }
                        }
                        td class="small" {
                            span lang="en" translate="no" { (column.because) } br;
                            @match column.distinct {
                                Some(distinct) => { (number(distinct as u64)) " values" }
                                None => { "very many values" }
                            }
                            @if column.missing > 0 { ", " (number(column.missing)) " empty" }
                            @if !samples.is_empty() { br; span class="soft" { (data(&samples.join(" | "))) } }
                        }
                    }
                }
            }
        } }
    }
}

fn roles_in_words() -> Markup {
    let roles = [
        ("identifier", "names the person. It is never published."),
        ("quasi", "an attacker may know it: age, postcode, sex, dates. It is generalised."),
        ("sensitive", "nobody may learn it about a person. It is published as it is, hidden among others."),
        ("public", "published as it is. The policy must say why that harms no one."),
        ("drop", "not published: names, remarks, numbers of other systems."),
    ];
    html! {
        details {
            summary { "What the roles mean" }
            dl class="roles" { @for (role, meaning) in roles { dt { code { (role) } } dd { (meaning) } } }
        }
    }
}

/// What the answers give: what is lacking, what the release would be, and the policy text.
fn tried(console: &Console, table: &Choosable, drafting: &Drafting, answers: &Fields) -> Markup {
    let lacking: Vec<String> = drafting.draft.lacking().into_iter().map(String::from).collect();
    let is_open = drafting.draft.columns.iter().any(|column| column.open);
    html! {
        h2 { "What this gives" }
        @if !lacking.is_empty() {
            (notice(Tone::Open, "NOT USABLE YET", html! {
                @if is_open { p { "Choose a role for each column that says decide." } }
                (english(&lacking))
            }))
        } @else if drafting.draft.rows > LIVE {
            p { "The table has more than 100,000 rows, so the numbers are tried when you ask for it." }
            p { button formaction="/start/try" formnovalidate { "Try these numbers" } }
            (job_box(Work::Try, &console.jobs.standing(Work::Try, &trial_key(table, answers))))
        } @else {
            @match with_trial(console, table, drafting, answers) {
                Ok(figures) => (figures),
                Err(error) => (error_box(&ToldError::of(&error))),
            }
        }
        @if let Some(uneven) = drafting.draft.too_uneven() { (english(&[uneven])) }
        h3 { "The policy file" }
        pre class="policy" tabindex="0" { (drafting.text()) }
    }
}

/// What the reading of a table depends on: the table and the roles. The numbers do not matter.
fn trial_key(table: &Choosable, answers: &Fields) -> String {
    let roles: Vec<String> =
        answers.beginning("role:").into_iter().map(|(column, role)| format!("{column}={role}")).collect();
    format!("{} {} {} {}", table.key, table.bytes, answers.text("leaving"), roles.join(" "))
}

/// The numbers that the promise has, as they were chosen.
fn numbers(trial: &Trial, answers: &Fields) -> Vec<(&'static str, u32)> {
    let (m, k) = (answers.number("m").unwrap_or(3), answers.number("k").unwrap_or(2));
    let has = |name: &str| trial.numbers().iter().any(|number| number.split(' ').next() == Some(name));
    [("m", m), ("l", m), ("k", k)].into_iter().filter(|(name, _)| has(name)).collect()
}

fn with_trial(
    console: &Console,
    table: &Choosable,
    drafting: &Drafting,
    answers: &Fields,
) -> Result<Markup, UseCaseError> {
    let key = trial_key(table, answers);
    let mut held = console.trial.lock().unwrap_or_else(|broken| broken.into_inner());
    if held.as_ref().is_none_or(|(known, _)| *known != key) {
        *held = None;
        *held = Some((key, Trial::of_draft(drafting, &console.drops.own("draft"))?));
    }
    let (_, trial) = held.as_ref().expect("it was just made");
    let chosen = numbers(trial, answers);
    Ok(trial_figures(&trial.with(&chosen)?))
}

/// Keeps the answers, and answers with what they give.
pub fn live(console: &Console, fields: &Fields) -> Response {
    keep(console, fields);
    match begun(console, fields.text("table")) {
        Ok((table, drafting, answers)) => piece(console, &tried(console, &table, &drafting, &answers)),
        Err(error) => piece(console, &error_box(&ToldError::of(&error))),
    }
}

/// Writes the answers down for the next time the page is opened.
fn keep(console: &Console, fields: &Fields) {
    let mut form = form_urlencoded::Serializer::new(String::new());
    let roles: BTreeMap<String, String> = fields.beginning("role:");
    for (column, role) in &roles {
        form.append_pair(&format!("role:{column}"), role);
    }
    for name in ["leaving", "m", "k", "name"] {
        form.append_pair(name, fields.text(name));
    }
    // Without it the answers are asked again, which is no harm.
    let _ = fs::write(place(console, fields.text("table")), form.finish());
}

/// Tries the numbers on a large table.
pub fn try_large(console: &Console, fields: &Fields) -> Response {
    keep(console, fields);
    let page = format!(
        "/start?table={}",
        form_urlencoded::byte_serialize(fields.text("table").as_bytes()).collect::<String>()
    );
    let (table, drafting, answers) = match begun(console, fields.text("table")) {
        Ok(begun) => begun,
        Err(error) => return failed(console, Here::Start, "Start", &error),
    };
    let folder = console.drops.own("draft");
    console.jobs.start(Work::Try, &trial_key(&table, &answers), move |progress| {
        progress(2, "reading the table");
        let trial = Trial::of_draft(&drafting, &folder)?;
        progress(2, "forming groups");
        let report = trial.with(&numbers(&trial, &answers))?;
        let (m, k) = (answers.text("m"), answers.text("k"));
        Ok(html! { p { code { "m = " (m) ", k = " (k) } } (trial_figures(&report)) }.into_string())
    });
    back(&page)
}

/// Writes the policy.
pub fn save(console: &Console, fields: &Fields) -> Response {
    keep(console, fields);
    let (table, drafting, _) = match begun(console, fields.text("table")) {
        Ok(begun) => begun,
        Err(error) => return failed(console, Here::Start, "Start", &error),
    };
    if let Some(why) = drafting.draft.lacking().first() {
        let error = UseCaseError::Usage(format!("{why}; then save again"));
        return failed(console, Here::Start, "Start", &error);
    }
    console
        .jobs
        .start(Work::Draft, "", move |progress| Ok(saved(&drafting.write(progress)?, &table.name).into_string()));
    // Small tables are done at once.
    console.jobs.wait_a_moment(Work::Draft);
    back("/start")
}

fn saved(report: &InitReport, table: &str) -> Markup {
    html! {
        (notice(Tone::Pass, "SAVED", html! { p { "The policy was drafted from " (data(table)) " and written to " (data(&report.policy.display().to_string())) "." } }))
        @if !report.notes.is_empty() { details { summary { "Notes" } (english(&report.notes)) } }
    }
}
