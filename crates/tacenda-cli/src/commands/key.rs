//! Your signing key: make one, show it, replace it.

use crate::args::{Common, KeyArgs, KeyCommand, NewKeyArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, passphrase};
use tacenda::keys::KeyFolder;
use tacenda::use_cases;
use tacenda::use_cases::KeyReport;

pub fn run(args: &KeyArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let keys = folder(common)?;
    // Before a person is asked for a passphrase.
    let possible = match args.what {
        KeyCommand::Show => Ok(()),
        KeyCommand::New(_) => keys.need_none(),
        KeyCommand::Rotate(_) => keys.need_public().map(drop),
    };
    possible.map_err(|error| shared::failure(error, screen))?;
    let report = match args.what {
        KeyCommand::Show => use_cases::show_key(&keys),
        KeyCommand::New(args) => use_cases::new_key(&keys, new_passphrase(args)?.as_deref()),
        KeyCommand::Rotate(args) => use_cases::rotate_key(&keys, new_passphrase(args)?.as_deref()),
    };
    let report = report.map_err(|error| shared::failure(error, screen))?;
    screen.result(&text(&report, args.what), &report)?;
    Ok(0)
}

/// The user's keys.
pub fn folder(common: &Common) -> Result<KeyFolder, Failure> {
    common.keys().ok_or_else(|| Failure::usage("there is no home folder for keys; name a folder with --keys"))
}

/// The passphrase of a new key, said twice where a person says it.
pub fn new_passphrase(args: NewKeyArgs) -> Result<Option<String>, Failure> {
    if args.no_passphrase {
        return Ok(None);
    }
    let ask = |question: &str| {
        passphrase(question).ok_or_else(|| {
            Failure::usage("nobody can be asked for a passphrase: set TACENDA_PASSPHRASE, or say --no-passphrase")
        })
    };
    let first = ask("Passphrase of the new key:")?;
    if first.is_empty() {
        return Err(Failure::usage("the passphrase is empty; say --no-passphrase for a key without one"));
    }
    match ask("The same again:")? == first {
        true => Ok(Some(first)),
        false => Err(Failure::usage("the two passphrases differ; no key was made")),
    }
}

fn text(report: &KeyReport, what: KeyCommand) -> String {
    let mut out = format!("key         {}\npublic key  {}\n", report.key, report.public_key);
    if let Some(before) = &report.follows {
        out.push_str(&format!("follows     {before}, which signed it\n"));
    }
    out.push_str(&format!("folder      {}\n\n", report.folder.display()));
    if !report.has_passphrase {
        out.push_str("The key has NO passphrase: anybody who reads its file can sign in your name.\n");
    }
    out.push_str(match what {
        KeyCommand::Show => "",
        KeyCommand::New(_) => {
            "From now on publish signs releases and ledger lines. Give the public key to recipients, and not only inside \
             a release.\nKeep a copy of the folder in a safe place.\n"
        }
        KeyCommand::Rotate(_) => {
            "Recipients who trust the old key can check what the new one signs. The old secret key is kept as retired-*.key.\n\
             If others may have the old key, a rotation does not help: move the folder away, make a new key and tell recipients.\n"
        }
    });
    out
}
