//! Which page answers which address, and what every answer carries.

use crate::console::Console;
use crate::door::Outside;
use crate::drops::List;
use crate::forms::Fields;
use crate::jobs::{Standing, Work};
use crate::pages;
use crate::shell::{asset, back, bare, piece, progress};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http_body_util::BodyExt;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use tacenda::model::Language;
use tacenda::report::STYLE;

/// What a page of ours may do: its own script, its own style, its own forms, and nothing else.
const MAY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; \
                   form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The sign of the console.
const ICON: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\"><rect width=\"24\" height=\"24\" rx=\"5\" \
                    fill=\"#1f5f8b\"/><path d=\"M6 8h12M12 8v10\" stroke=\"#fff\" stroke-width=\"2.6\" stroke-linecap=\"round\"/></svg>";

/// The longest form.
const MOST_FORM: usize = 4 << 20;

type Held = State<Arc<Console>>;

/// All addresses.
pub fn router(console: Arc<Console>) -> Router {
    let reads = [
        ("/series", pages::series::get as Reads),
        ("/start", pages::start::get),
        ("/next", pages::next::get),
        ("/release", pages::release::list),
        ("/audit", pages::audit::get),
        ("/audit/report", pages::audit::report_alone),
        ("/person", pages::person::get),
        ("/hierarchy", pages::hierarchy::get),
        ("/ledger", pages::ledger::get),
        ("/report", pages::series::report_alone),
        ("/policy", pages::policy::get),
    ];
    let sends = [
        ("/series/judge", pages::series::judge as Sends),
        ("/start/live", pages::start::live),
        ("/start/save", pages::start::save),
        ("/start/try", pages::start::try_large),
        ("/next/check", pages::next::check),
        ("/next/compare", pages::next::compare),
        ("/next/rehearse", pages::next::rehearse),
        ("/next/discard", pages::next::discard),
        ("/next/publish", pages::next::publish),
        ("/audit/run", pages::audit::run),
        ("/person", pages::person::post),
        ("/hierarchy", pages::hierarchy::post),
        ("/policy", pages::policy::post),
        ("/ledger/verify", pages::ledger::verify),
        ("/ledger/key", pages::ledger::make_key),
        ("/drop/change", pages::drops::change),
        ("/language", language),
    ];
    let mut app = Router::new();
    for (path, page) in reads {
        app = app.route(path, get(move |State(console): Held, request: Request| answer_read(console, page, request)));
    }
    for (path, page) in sends {
        app = app.route(path, post(move |State(console): Held, body: Body| answer_sent(console, page, body)));
    }
    app.route("/", get(opening))
        .route("/session", post(session))
        .route("/leave", post(leave))
        .route("/app.css", get(|| async { asset("text/css", format!("{STYLE}{}", include_str!("style.css"))) }))
        .route("/app.js", get(|| async { asset("text/javascript", include_str!("script.js").into()) }))
        .route("/icon.svg", get(|| async { asset("image/svg+xml", ICON.into()) }))
        .route("/release/{number}", get(one_release))
        .route("/release/{number}/report", get(release_report))
        .route("/release/{number}/file/{name}", get(release_file))
        .route("/drop/{list}", post(drop_file))
        .route("/job/{work}", get(job))
        .route("/job/{work}/cancel", post(cancel))
        .fallback(|| async { bare(StatusCode::NOT_FOUND, "Not here", "The console has no such page.") })
        .layer(from_fn_with_state(Arc::clone(&console), guard))
        .with_state(console)
}

/// A page that is read: what stands after `?` is its fields.
type Reads = fn(&Console, &Fields) -> Response;

/// A form that is sent.
type Sends = fn(&Console, &Fields) -> Response;

async fn answer_read(console: Arc<Console>, page: Reads, request: Request) -> Response {
    let fields = Fields::read(request.uri().query().unwrap_or_default().as_bytes());
    blocking(move || page(&console, &fields)).await
}

async fn answer_sent(console: Arc<Console>, page: Sends, body: Body) -> Response {
    match axum::body::to_bytes(body, MOST_FORM).await {
        Ok(body) => {
            let fields = Fields::read(&body);
            blocking(move || page(&console, &fields)).await
        }
        Err(_) => bare(StatusCode::PAYLOAD_TOO_LARGE, "Too large", "This form is larger than any form of the console."),
    }
}

/// Runs what reads files in a thread of its own, so that other pages answer meanwhile.
async fn blocking(run: impl FnOnce() -> Response + Send + 'static) -> Response {
    let ended = tokio::task::spawn_blocking(run).await;
    ended.unwrap_or_else(|_| {
        let sentence = "This is a bug in Tacenda. Nothing was published by it. Please report what you did.";
        bare(StatusCode::INTERNAL_SERVER_ERROR, "A bug", sentence)
    })
}

/// Lets in who may come in, and gives every answer its headers.
async fn guard(State(console): Held, request: Request, next: Next) -> Response {
    let (method, path) = (request.method().clone(), request.uri().path().to_string());
    let mut response = match console.door.admit(&method, &path, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(outside) => {
            if outside == Outside::Idle {
                console.announce();
            }
            bare(outside.status(), "Closed", outside.words())
        }
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A report has a policy of its own.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(MAY));
    response
}

async fn opening() -> Response {
    bare(StatusCode::OK, "Tacenda", "Opening…")
}

/// Takes the token, once, and gives a cookie for it.
async fn session(State(console): Held, body: Bytes) -> Response {
    let token = String::from_utf8_lossy(&body);
    match console.door.exchange(token.trim()) {
        Some(cookie) => ([(header::SET_COOKIE, cookie)], "ok").into_response(),
        None => (StatusCode::FORBIDDEN, Outside::NoSession.words()).into_response(),
    }
}

/// Locks the console; the terminal shows a new link.
async fn leave(State(console): Held) -> Response {
    console.door.lock();
    console.announce();
    bare(StatusCode::OK, "Locked", "The console is locked. The terminal shows a new link; each link works once.")
}

fn language(console: &Console, fields: &Fields) -> Response {
    let chosen = Language::WORDS.into_iter().find(|(word, _)| *word == fields.text("language"));
    *console.language.lock().expect("nobody panics with it in hand") = chosen.map(|(_, language)| language);
    back("/series")
}

async fn one_release(State(console): Held, Path(number): Path<u32>) -> Response {
    blocking(move || pages::release::one(&console, number)).await
}

async fn release_report(State(console): Held, Path(number): Path<u32>) -> Response {
    blocking(move || pages::release::report(&console, number)).await
}

async fn release_file(State(console): Held, Path((number, name)): Path<(u32, String)>) -> Response {
    blocking(move || pages::release::file(&console, number, &name)).await
}

/// How a job stands: a piece of a page while it runs, and 204 when it has ended.
async fn job(State(console): Held, Path(word): Path<String>) -> Response {
    let work = Work::named(&word);
    match work.and_then(|work| Some((work, console.jobs.any(work)?))) {
        Some((work, Standing::Running(done, of, now))) => piece(&console, &progress(work, done, of, &now)),
        _ => StatusCode::NO_CONTENT.into_response(),
    }
}

async fn cancel(State(console): Held, Path(word): Path<String>) -> Response {
    let Some(work) = Work::named(&word) else { return back("/series") };
    console.jobs.cancel(work);
    back(match work {
        Work::Judge => "/series",
        Work::Draft | Work::Try => "/start",
        Work::Check | Work::Compare | Work::Plan | Work::Publish => "/next",
        Work::Audit => "/audit",
        Work::Verify => "/ledger",
    })
}

/// Takes a file that was dropped, as the bytes of the request, and never more of it than is allowed.
async fn drop_file(State(console): Held, Path(word): Path<String>, request: Request) -> Response {
    let refused = |status: StatusCode, why: &str| (status, why.to_string()).into_response();
    let Some(list) = List::named(&word) else { return refused(StatusCode::NOT_FOUND, "there is no such list") };
    let name = request.headers().get("x-name").and_then(|name| name.to_str().ok()).unwrap_or("table");
    let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
    let left = console.drops.room();
    let too_large =
        "The file is too large: at most 1 GiB each and 4 GiB in all. Remove others, or put it into the project folder.";
    let Ok(place) = console.drops.place(list, &name) else {
        return refused(StatusCode::INTERNAL_SERVER_ERROR, "the private folder cannot be written");
    };
    let forget = |status: StatusCode, why: &str| {
        place.parent().map(std::fs::remove_dir_all);
        refused(status, why)
    };
    let Ok(mut file) = private(&place) else {
        return forget(StatusCode::INTERNAL_SERVER_ERROR, "the private folder cannot be written");
    };
    let (mut body, mut taken) = (request.into_body(), 0u64);
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return forget(StatusCode::BAD_REQUEST, "the file did not come whole") };
        let Some(bytes) = frame.data_ref() else { continue };
        taken += bytes.len() as u64;
        if taken > left {
            return forget(StatusCode::PAYLOAD_TOO_LARGE, too_large);
        }
        if file.write_all(bytes).is_err() {
            return forget(StatusCode::INSUFFICIENT_STORAGE, "the disk is full; nothing was kept");
        }
    }
    "ok".into_response()
}

/// A new file that only its owner may read.
fn private(path: &std::path::Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
