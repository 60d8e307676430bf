//! One file per page: words for the reader, and a call into the library.

pub mod series;
pub mod start;
pub mod next;
pub mod release;
pub mod audit;
pub mod person;
pub mod hierarchy;
pub mod ledger;
pub mod policy;
pub mod drops;

mod numbers;

use crate::console::Console;
use crate::shell::notice;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, html};
use sha2::{Digest, Sha256};
use tacenda::report::parts::Tone;
use tacenda::use_cases::{before_publishing, set_back};

/// What a person should know of the project before the next release. The command says it on standard error.
fn cautions(console: &Console) -> Markup {
    let project = console.project();
    let set_back = set_back(project).unwrap_or_else(|error| Some(format!("{}: {error}", error.code())));
    let told: Vec<String> = set_back.into_iter().chain(before_publishing(project)).collect();
    match told.is_empty() {
        true => html! {},
        false => notice(Tone::Open, "BEFORE YOU PUBLISH", numbers::english(&told)),
    }
}

/// A report as it is, with a policy that allows its own style, by its digest, and nothing else.
fn report_page(page: String) -> Response {
    let style =
        page.split_once("<style>").and_then(|(_, rest)| rest.split_once("</style>")).map_or("", |(style, _)| style);
    let digest = STANDARD.encode(Sha256::digest(style.as_bytes()));
    let may = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    );
    let mut response = Html(page).into_response();
    if let Ok(may) = HeaderValue::from_str(&may) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, may);
    }
    response
}
