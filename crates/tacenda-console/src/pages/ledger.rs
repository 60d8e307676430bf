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
use tacenda::use_cases::{LogEvent, LogReport, UseCaseError, VerifyReport, VerifyRequest, new_key, receipt};

/// The page.
pub fn get(console: &Console, _: &Fields) -> Response {
    let overview = match console.overview() {
        Ok(overview) => overview,
        Err(error) => return failed(console, Here::Ledger, "Ledger", &error),
    };
    let head = overview.log.as_ref().map_or("", |log| log.head.as_str());
    let body = html! {
        @match &overview.log {
            None => {
                (notice(Tone::Plain, "NOTHING PUBLISHED", html! { p { "There is no ledger yet. The first rehearsal makes it." } }))
                section { h2 { "Keys" } (key(console)) }
            }
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
    let commands = ["log", "verify", "receipt -o receipt.html", "key new"].map(|rest| console.command(rest));
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
            None => {
                p { "There is no signing key, so nothing is signed." }
                @if keys.is_some() && console.settings.allow_publish { (new_key_form()) }
            }
        }
    }
}

fn new_key_form() -> Markup {
    html! {
        details {
            summary { "Make a signing key" }
            form method="post" action="/ledger/key" autocomplete="off" {
                p { "From then on, releases are signed with it. Releases that are published already stay as they are." }
                div class="row" {
                    label { "Passphrase " input type="password" name="passphrase" autocomplete="off"; }
                    label { "The same again " input type="password" name="again" autocomplete="off"; }
                }
                label { input type="checkbox" name="without" value="yes"; " Without a passphrase: anybody who reads the file of the key can sign" }
                p class="soft small" { "The console keeps the passphrase until it ends. The next one asks for it in the terminal. Nobody can restore it." }
                p { button class="second" { "Make the key" } }
            }
        }
    }
}

/// Makes a signing key.
pub fn make_key(console: &Console, fields: &Fields) -> Response {
    match made_key(console, fields) {
        Ok(()) => back("/ledger"),
        Err(error) => failed(console, Here::Ledger, "Ledger", &error),
    }
}

fn made_key(console: &Console, fields: &Fields) -> Result<(), UseCaseError> {
    let refused = |why: &str| Err(UseCaseError::Usage(why.into()));
    if !console.settings.allow_publish {
        return refused(
            "this console makes no key; start it with tacenda serve --allow-publish, or use tacenda key new",
        );
    }
    let Some(keys) = &console.project().keys else {
        return refused("there is no home folder for keys; start tacenda serve with --keys");
    };
    let (given, again) = (fields.raw("passphrase"), fields.raw("again"));
    let passphrase = match (given.is_empty(), fields.text("without") == "yes") {
        (true, true) => None,
        (true, false) => return refused("type a passphrase twice, or choose a key without one; no key was made"),
        (false, true) => return refused("a passphrase was typed, and a key without one was chosen; no key was made"),
        (false, false) if given != again => return refused("the two passphrases differ; no key was made"),
        (false, false) => Some(given),
    };
    new_key(keys, passphrase)?;
    *console.passphrase.lock().expect("nobody panics with it in hand") = passphrase.map(String::from);
    Ok(())
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
