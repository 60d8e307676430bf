//! What all pages have: the head, the ways to the others, the command that does the same, boxes for jobs and errors.

use crate::console::{Choosable, Console};
use crate::drops::{Dropped, List};
use crate::forms::Fields;
use crate::jobs::{Standing, Work};
use axum::http::{StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use tacenda::ingest::Given;
use tacenda::model::Language;
use tacenda::report::parts::{Tone, data, icon, label};
use tacenda::report::{number, translated};
use tacenda::use_cases::{LogEvent, RequestFault, ToldError, UseCaseError};

/// The pages, in the order of the head.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Here {
    /// Where the series stands.
    Series,
    /// A first policy.
    Start,
    /// The next release.
    Next,
    /// What was published.
    Release,
    /// Releases of other tools.
    Audit,
    /// What the releases say of one person.
    Person,
    /// The trees of columns.
    Hierarchy,
    /// The ledger.
    Ledger,
    /// A page without a place of its own.
    Elsewhere,
}

/// The ways to the pages.
const WAYS: [(Here, &str, &str); 8] = [
    (Here::Series, "/series", "Series"),
    (Here::Start, "/start", "Start"),
    (Here::Next, "/next", "Next release"),
    (Here::Release, "/release", "Releases"),
    (Here::Audit, "/audit", "Audit"),
    (Here::Person, "/person", "Person"),
    (Here::Hierarchy, "/hierarchy", "Hierarchy"),
    (Here::Ledger, "/ledger", "Ledger"),
];

/// A page.
pub struct Sheet<'a> {
    /// Where it is.
    pub here: Here,
    /// Its heading.
    pub title: &'a str,
    /// One sentence below it.
    pub lead: &'a str,
    /// The command that does the same; may be several lines.
    pub command: String,
    /// What stands on it.
    pub body: Markup,
}

impl Sheet<'_> {
    /// The page as an answer, in the language of the reader.
    pub fn answer(self, console: &Console) -> Response {
        self.with_status(console, StatusCode::OK)
    }

    /// The same with another status.
    pub fn with_status(self, console: &Console, status: StatusCode) -> Response {
        let language = console.spoken();
        let page = self.render(console, language).into_string();
        (status, Html(said(&page, language))).into_response()
    }

    fn render(&self, console: &Console, language: Language) -> Markup {
        let project = console.root().canonicalize().unwrap_or_else(|_| console.root().to_path_buf());
        html! {
            (DOCTYPE)
            html lang=(language.word()) {
                (head(self.title))
                body {
                    a class="skip" href="#content" { "Skip to the content" }
                    header class="top" {
                        a class="brand" href="/series" translate="no" { "tacenda" }
                        nav class="ways" aria-label="Pages" { ul {
                            @for (here, href, name) in WAYS {
                                li { a href=(href) aria-current=[(here == self.here).then_some("page")] { (name) } }
                            }
                        } }
                        form method="post" action="/leave" { button class="plain" { "Lock" } }
                    }
                    main id="content" tabindex="-1" {
                        header {
                            h1 { (self.title) }
                            p class="lead" { (self.lead) }
                        }
                        (self.body)
                        @if !self.command.is_empty() {
                            section class="command" aria-label="The same on the command line" {
                                h2 { "The same on the command line" }
                                pre tabindex="0" { (self.command) }
                            }
                        }
                        footer {
                            p { "This page is on your machine only. Project folder: " (data(&project.display().to_string())) }
                            form method="post" action="/language" class="languages" {
                                @for (word, name) in [("en", "English"), ("de", "Deutsch"), ("fr", "Français")] {
                                    button class="plain" name="language" value=(word) lang=(word) translate="no"
                                        aria-pressed=(if word == language.word() { "true" } else { "false" }) { (name) }
                                }
                            }
                        }
                    }
                    form id="cancel" method="post" {}
                    form id="forget" method="post" action="/drop/change" {
                        input type="hidden" name="list" value="tables";
                        input type="hidden" name="from" value=(if self.here == Here::Start { "start" } else { "next" });
                    }
                    div id="gone" class="stopped" role="alert" hidden { "The console has stopped. Nothing is lost: start tacenda serve again." }
                }
            }
        }
    }
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="robots" content="noindex";
            title { (title) " · Tacenda" }
            link rel="icon" href="/icon.svg" type="image/svg+xml";
            link rel="stylesheet" href="/app.css";
            script type="module" src="/app.js" {}
        }
    }
}

/// A page in a language.
pub fn said(page: &str, language: Language) -> String {
    match language {
        Language::English => page.into(),
        language => translated(page, language).page,
    }
}

/// A page with one sentence, for somebody who is not signed in.
pub fn bare(status: StatusCode, title: &str, sentence: &str) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title))
            body { main id="content" { h1 { (title) } p class="lead" id="opening" role="status" { (sentence) } } }
        }
    };
    (status, Html(page.into_string())).into_response()
}

/// A piece of a page, for the script to put in its place.
pub fn piece(console: &Console, markup: &Markup) -> Response {
    Html(said(&markup.0, console.spoken())).into_response()
}

/// Back to a page, after a form was sent.
pub fn back(place: &str) -> Response {
    Redirect::to(place).into_response()
}

/// A page that shows why something could not be done.
pub fn failed(console: &Console, here: Here, title: &str, error: &UseCaseError) -> Response {
    let told = ToldError::of(error);
    let status = match told.exit {
        7 | 70 => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let way = WAYS.iter().find(|(place, _, _)| *place == here).map_or("/series", |(_, href, _)| href);
    let body = html! { (error_box(&told)) p { a class="button" href=(way) { "Back" } } };
    let lead = "This was not done. Nothing was changed.";
    Sheet { here, title, lead, command: String::new(), body }.with_status(console, status)
}

/// A page that needs a policy, where there is none yet.
pub fn without_policy(console: &Console, here: Here, title: &str) -> Response {
    let body = html! {
        (notice(Tone::Plain, "NO POLICY YET", html! { p { "This page needs a policy." } }))
        p { a class="button" href="/start" { "Start with a table" } }
    };
    let lead = "The first step is a policy: which columns there are, and what is promised.";
    Sheet { here, title, lead, command: console.command("init TABLE"), body }.answer(console)
}

/// An error as the command line tells it: code, what is wrong, where, and the way out. It stays English.
pub fn error_box(told: &ToldError) -> Markup {
    html! {
        div class="verdict fail" role="alert" {
            (icon(Tone::Fail))
            strong translate="no" { "error[" (told.code) "]" }
            div lang="en" translate="no" {
                p { (told.message) }
                @if !told.lines.is_empty() || !told.notes.is_empty() {
                    ul { @for line in told.lines.iter().chain(&told.notes) { li { (line) } } }
                }
                // The page about wrong use is about the command line.
                @if !told.page.is_empty() && told.code != RequestFault::Usage.code() { p class="soft small" { (told.page) } }
            }
        }
    }
}

/// A sentence with a sign.
pub fn notice(tone: Tone, word: &str, sentence: Markup) -> Markup {
    html! {
        div class={ "verdict " (tone.class()) } role="status" {
            (icon(tone))
            strong { (word) }
            div { (sentence) }
        }
    }
}

/// The box of a job: its progress while it runs, and what came of it. The script asks again until it has ended.
pub fn job_box(work: Work, standing: &Option<Standing>) -> Markup {
    match standing {
        None => html! {},
        Some(Standing::Running(done, of, now)) => html! {
            div class="job" data-job=(work.word()) role="status" aria-live="polite" { (progress(work, *done, *of, now)) }
        },
        Some(Standing::Done(page)) => html! { div class="result" id={ "done-" (work.word()) } { (PreEscaped(page)) } },
        Some(Standing::Failed(told)) => error_box(told),
        Some(Standing::Cancelled) => {
            notice(Tone::Plain, "Cancelled", html! { p { "You stopped this. Nothing was left behind." } })
        }
    }
}

/// How far a job is.
pub fn progress(work: Work, done: usize, of: usize, now: &str) -> Markup {
    html! {
        p { strong { (work.title()) } }
        progress max=(of.max(1)) value=(done.min(of)) aria-label=(work.title()) {}
        p class="soft small" lang="en" translate="no" { (now) }
        @if work != Work::Publish {
            // The box may stand in a form of its page, and no form stands in another.
            button class="plain" form="cancel" formaction={ "/job/" (work.word()) "/cancel" } { "Cancel" }
        }
    }
}

/// Where files are dropped or chosen.
pub fn drop_zone(list: List, sentence: &str, several: bool) -> Markup {
    let id = format!("drop-{}", list.word());
    html! {
        div class="drop" data-drop=(list.word()) {
            label for=(id) { (sentence) }
            input type="file" id=(id) multiple[several] accept=".csv,.tsv,.txt,.parquet,.xlsx,.gz,.zst";
            p class="soft small" {
                "CSV, Parquet or Excel, up to 1 GiB. The file goes into a private folder on this machine, which is removed when the \
                 console ends."
            }
            p class="small" role="status" data-said="" {}
        }
    }
}

/// The tables to choose from, as radio buttons of a form.
pub fn table_choice(tables: &[Choosable], chosen: Option<&str>) -> Markup {
    html! {
        fieldset class="choice" {
            legend { "Table" }
            @if tables.is_empty() {
                p class="soft" { "There is no table yet: drop one above, or put one into the project folder." }
            }
            @for (at, table) in tables.iter().enumerate() {
                label {
                    input type="radio" name="table" value=(table.key) required
                        checked[chosen.map_or(at == 0, |chosen| chosen == table.key)];
                    " " (data(&table.name)) " "
                    span class="soft small" { (size(table.bytes)) @if table.dropped.is_some() { ", dropped here" } }
                    @if let Some(number) = table.dropped {
                        " " button class="plain small" form="forget" name="number" value=(number) aria-label={ "Remove: " (table.name) } { "Remove" }
                    }
                }
            }
        }
    }
}

/// The private table of each release, chosen from the tables that there are.
pub fn private_tables(console: &Console, releases: &[&LogEvent], given: &[String]) -> Markup {
    let tables = console.tables();
    html! {
        fieldset {
            legend { "The private table of each release" }
            p class="soft small" { "The vault keeps the last table only. After a single release it is enough." }
            @for (at, event) in releases.iter().enumerate() {
                @let name = event.label.as_deref().unwrap_or_default();
                @let chosen = given.get(at).cloned().unwrap_or_else(|| likely(&tables, name));
                label {
                    "Release " (event.release.unwrap_or(0)) " " (label(name)) " "
                    select name="truth" {
                        option value="" { "not given" }
                        @for table in &tables { option value=(table.key) selected[table.key == chosen] translate="no" { (table.name) } }
                    }
                }
            }
        }
    }
}

/// The table that a release was probably made from: its name has the label.
fn likely(tables: &[Choosable], label: &str) -> String {
    let named = |table: &&Choosable| !label.is_empty() && table.name.contains(label);
    tables.iter().find(named).map_or_else(String::new, |table| table.key.clone())
}

/// The private tables that were chosen, in the order of the releases.
pub fn truth_given(console: &Console, fields: &Fields) -> Result<Vec<Given>, UseCaseError> {
    let keys: Vec<String> = fields.all("truth").into_iter().filter(|key| !key.is_empty()).collect();
    keys.iter().map(|key| console.table(key).map(|table| Given::Path(table.path))).collect()
}

/// The files of a list, each with a way to remove it and to move it up.
pub fn dropped_files(list: List, files: &[Dropped]) -> Markup {
    html! {
        @if !files.is_empty() {
            ol class="files" {
                @for (at, file) in files.iter().enumerate() {
                    li {
                        (data(&file.name)) " " span class="soft small" { (size(file.bytes)) }
                        form method="post" action="/drop/change" {
                            input type="hidden" name="list" value=(list.word());
                            input type="hidden" name="number" value=(file.number);
                            @if at > 0 {
                                button class="plain" name="what" value="up" aria-label={ "Move up: " (file.name) } { "Move up" }
                            }
                            button class="plain" name="what" value="remove" aria-label={ "Remove: " (file.name) } { "Remove" }
                        }
                    }
                }
            }
        }
    }
}

/// A size as people read it.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", number(bytes / 1_000)),
        _ => format!("{} MB", number(bytes / 1_000_000)),
    }
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:,@%=".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A file of ours.
pub fn asset(kind: &'static str, text: String) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
