//! Open the steward's page on this machine.

use crate::args::{Common, ServeArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, passphrase};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{fs, io};
use tacenda::keys::{AskPassphrase, KeyFolder};
use tacenda::use_cases::{ProjectFolder, UseCaseError};
use tacenda_console::{ConsoleSettings, serve};

pub fn run(args: &ServeArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let failed = |error: UseCaseError| shared::failure(error, screen);
    let root = &common.project;
    fs::create_dir_all(root).map_err(|error| Failure::environment(format!("{}: {error}", root.display())))?;
    let keys = common.keys().map(|keys| keys.asking(remembering()));
    open_keys(keys.as_ref(), args.allow_publish).map_err(failed)?;
    let settings = ConsoleSettings {
        project: ProjectFolder { keys, ..common.folder() },
        bind: args.bind,
        port: args.port,
        plain_address: args.plain_address,
        allow_publish: args.allow_publish,
        i_know: args.i_know,
        idle: Duration::from_secs(u64::from(args.idle) * 60),
        words: shared::project_words(common),
    };
    screen.note("Open this link in a browser on this machine. It works once. Ctrl-C ends the console.");
    if !args.allow_publish {
        screen.note("Publishing is off; --allow-publish turns it on.");
    }
    let told = |link: &str| {
        // A closed pipe is no reason to stop serving.
        let _ = writeln!(io::stdout(), "{link}").and_then(|()| io::stdout().flush());
    };
    serve(settings, told).map_err(failed)?;
    Ok(0)
}

/// Asks for each passphrase once, and keeps it as long as the console runs.
fn remembering() -> AskPassphrase {
    let known: Mutex<BTreeMap<String, String>> = Mutex::default();
    Arc::new(move |question: &str| {
        let mut known = known.lock().ok()?;
        if let Some(given) = known.get(question) {
            return Some(given.clone());
        }
        let given = passphrase(question)?;
        known.insert(question.into(), given.clone());
        Some(given)
    })
}

/// Opens the signing key now, because later nobody sits at the terminal.
fn open_keys(keys: Option<&KeyFolder>, allow_publish: bool) -> Result<(), UseCaseError> {
    if let Some(keys) = keys.filter(|_| allow_publish) {
        keys.signer()?;
    }
    Ok(())
}
