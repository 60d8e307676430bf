//! The ledger: every event, who signed it, how far the series went, and whether all is as it was.

use crate::console::Console;
use crate::forms::Fields;
use crate::jobs::Work;
use crate::pages::numbers::english;
use crate::shell::{Here, Sheet, back, failed, job_box, notice};
use axum::response::Response;
use maud::{Markup, html};
use tacenda::model::counted;
use tacenda::report::parts::{N, Tone, W, data, label, table};
use tacenda::use_cases::{LogEvent, LogReport, UseCaseError, VerifyReport, VerifyRequest, receipt};

/// The page.
pub fn get(console: &Console, _: &Fields) -> Response {
    let overview = match console.overview() {
        Ok(overview) => overview,
        Err(error) => return failed(console, Here::Ledger, "Ledger", &error),
    };
    let head = overview.log.as_ref().map_or("", |log| log.head.as_str());
    let body = html! {
        @match &overview.log {
            None => (notice(Tone::Plain, "NOTHING PUBLISHED", html! { p { "There is no ledger yet. The first rehearsal makes it." } })),
            Some(log) => {
                section {
                    h2 { "Is everything as it was?" }
                    p { "Every file is compared with the ledger, the vault with its seal, and the ledger with the anchor outside of the project." }
                    form method="post" action="/ledger/verify" { button { "Verify" } }
                    (job_box(Work::Verify, &console.jobs.standing(Work::Verify, head)))
                }
                section { h2 { "Events" } (events(log)) }
                section { h2 { "Keys" } (key(console)) }
                section { h2 { "Receipt" } (paper(console)) }
            }
        }
    };
    let commands = ["log", "verify", "receipt -o receipt.html"].map(|rest| console.command(rest));
    let lead = "What happened, in order. Each line has the hash of the line before.";
    Sheet { here: Here::Ledger, title: "Ledger", lead, command: commands.join("\n"), body }.answer(console)
}

fn events(log: &LogReport) -> Markup {
    let row = |event: &LogEvent| {
        let what = html! {
            (name(&event.event))
            @if let (Some(number), Some(label)) = (event.release, &event.label) { " " (number) ", " (data(label)) }
            @if let Some(says) = &event.says { br; (data(says)) }
            @for amended in &event.amended { br; (data(amended)) }
        };
        let signed = html! {
            @match &event.signed_by { Some(key) => { code { (key) } } None => { "–" } }
            @if let Some(key) = &event.approved_by { br; "approved by " code { (key) } }
        };
        vec![
            html! { (event.seq) },
            html! { (label(event.at.get(..16).unwrap_or(&event.at))) },
            what,
            signed,
            html! { span class="hash" { (data(event.hash.get(..16).unwrap_or(&event.hash))) } },
        ]
    };
    let rows: Vec<Vec<Markup>> = log.events.iter().map(row).collect();
    table(&[("No.", N), ("When", W), ("What", W), ("Signed by", W), ("Hash", W)], &rows, 0)
}

/// An event in a word that people read.
fn name(event: &str) -> &'static str {
    match event {
        "init" => "The series begins",
        "publish" => "Published: release",
        "adopt" => "Taken in from elsewhere: release",
        "erase" => "Erased",
        "erratum" => "Correction",
        "retract" => "Withdrawn",
        _ => "Rolled back",
    }
}

fn key(console: &Console) -> Markup {
    let keys = console.project().keys.as_ref();
    let public = keys.and_then(|keys| keys.public().ok().flatten());
    let beside = keys.filter(|keys| keys.path().join("recovery.key").exists());
    html! {
        @if let Some(keys) = beside {
            p {
                "The vault is encrypted. Its key and the recovery key lie in " (data(&keys.path().display().to_string()))
                ". Move recovery.key to a safe place: without the two nobody opens the vault again."
            }
        }
        @match public {
            Some(key) => {
                p { "Releases are signed with this key. Give it to recipients, by another way than a release." }
                pre tabindex="0" { (key.text()) }
            }
            None => { p { "There is no signing key, so nothing is signed. This makes one: " code { "tacenda key new" } } }
        }
    }
}

fn paper(console: &Console) -> Markup {
    let lines = receipt(console.root()).map(|answer| answer.report.receipt).unwrap_or_default();
    html! {
        p { "How far the series went. Print this page and keep it apart from every disk: it stands in for a lost anchor. Nothing on it is private." }
        pre tabindex="0" { (lines.join("\n")) }
    }
}

/// Checks everything.
pub fn verify(console: &Console, _: &Fields) -> Response {
    let head = console.overview().ok().and_then(|overview| overview.log).map_or_else(String::new, |log| log.head);
    let project = console.project().clone();
    console.jobs.start(Work::Verify, &head, move |progress| {
        let anchors = project.held_anchors().map_err(UseCaseError::from)?;
        let own = project.keys.as_ref().and_then(|keys| keys.public().ok().flatten());
        let keys: Vec<_> = own.into_iter().collect();
        let folders = vec![project.root.clone()];
        let checked = |keys| VerifyRequest {
            folders: folders.clone(),
            anchors: anchors.as_ref(),
            keys,
            own: project.keys.as_ref(),
        };
        let mut report = tacenda::use_cases::verify(&checked(&[]), progress)?;
        // Signatures are asked about only where there are some.
        if report.signed && !keys.is_empty() {
            report = tacenda::use_cases::verify(&checked(&keys), progress)?;
        }
        Ok(verified(&report).into_string())
    });
    back("/ledger")
}

fn verified(report: &VerifyReport) -> Markup {
    let releases = counted(u64::from(report.releases), "release", "releases");
    let signed = html! {
        @match (report.signed_by.is_empty(), report.signed) {
            (false, _) => { p { "Signed by your key " code { (report.signed_by.join(", ")) } "." } }
            (true, true) => { p { "There are signatures, and they were not checked: your key is not here." } }
            (true, false) => {}
        }
    };
    match report.whole {
        true if report.vault => notice(
            Tone::Pass,
            "INTACT",
            html! { p { "The ledger, the vault and " (releases) " are as they were published." } (signed) },
        ),
        true => notice(
            Tone::Open,
            "INTACT, VAULT NOT CHECKED",
            html! { p { (releases) " as published. The vault was not checked: it is not here, or closed to you." } (signed) },
        ),
        false if report.unfinished => notice(
            Tone::Open,
            "NOT FINISHED",
            html! { p { "A publish is not finished. The next rehearsal finishes it." } },
        ),
        false => {
            let faults: Vec<String> =
                report.faults.iter().map(|fault| format!("{}: {}", fault.code, fault.message)).collect();
            notice(
                Tone::Fail,
                "DAMAGED",
                html! { p { "Do not publish before this is mended. Restore a backup." } (english(&faults)) },
            )
        }
    }
}
