//! The policy file as text. What cannot be used is not saved.

use crate::console::Console;
use crate::forms::Fields;
use crate::shell::{Here, Sheet, back, error_box, failed, without_policy};
use axum::http::StatusCode;
use axum::response::Response;
use maud::html;
use tacenda::report::parts::Tone;
use tacenda::use_cases::{ToldError, policy_text, save_policy_text};

/// The page.
pub fn get(console: &Console, fields: &Fields) -> Response {
    if console.overview().is_ok_and(|overview| overview.policy.is_none() && overview.fault.is_none()) {
        return without_policy(console, Here::Elsewhere, "Policy");
    }
    match policy_text(console.project()) {
        Ok(text) => page(console, &text, None, fields.text("saved") == "yes"),
        Err(error) => failed(console, Here::Elsewhere, "Policy", &error),
    }
}

fn page(console: &Console, text: &str, told: Option<&ToldError>, saved: bool) -> Response {
    let body = html! {
        @if saved { (crate::shell::notice(Tone::Pass, "SAVED", html! { p { "The policy can be used." } })) }
        @if let Some(told) = told { (error_box(told)) }
        form method="post" action="/policy" {
            label for="text" { "The text of the policy file" }
            textarea id="text" name="text" rows="28" spellcheck="false" { "\n" (text) }
            p { button { "Check and save" } }
        }
        p class="soft" {
            "Fill in a title and a contact. Columns may gain values at any time. After the first release, a looser promise is refused."
        }
    };
    let lead = "What is published, and what is promised. It is checked before it is saved.";
    let status = if told.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    let sheet = Sheet { here: Here::Elsewhere, title: "Policy", lead, command: console.command("check"), body };
    sheet.with_status(console, status)
}

/// Saves it, if it can be used.
pub fn post(console: &Console, fields: &Fields) -> Response {
    let text = fields.raw("text").replace("\r\n", "\n");
    match save_policy_text(console.project(), &text) {
        Ok(()) => back("/policy?saved=yes"),
        Err(error) => page(console, &text, Some(&ToldError::of(&error)), false),
    }
}
