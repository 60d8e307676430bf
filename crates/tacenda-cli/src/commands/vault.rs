//! The private vault: encrypt it, decrypt it, change its key.

use crate::args::{Common, VaultArgs, VaultCommand};
use crate::commands::{key, shared};
use crate::failure::Failure;
use crate::screen::Screen;
use tacenda::ledger::Reseal;
use tacenda::use_cases;
use tacenda::use_cases::VaultReport;

pub fn run(args: &VaultArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let how = match args.what {
        VaultCommand::Lock => Reseal::Lock,
        VaultCommand::Rekey => Reseal::Rekey,
        VaultCommand::Unlock => {
            if !screen.agrees("Decrypt the vault? A person who reads its files can then re-identify everyone. [y/N]")? {
                let message = "the vault stays encrypted: nobody agreed; say --yes where nobody can be asked";
                return Err(Failure::nobody_agreed(message));
            }
            Reseal::Unlock
        }
        VaultCommand::Passphrase(args) => {
            let keys = key::folder(common)?;
            let passphrase = key::new_passphrase(args)?;
            let report = use_cases::set_vault_passphrase(&keys, passphrase.as_deref());
            let report = report.map_err(|error| shared::failure(error, screen))?;
            screen.result(&key_text(&report), &report)?;
            return Ok(0);
        }
    };
    let report = use_cases::reseal_vault(&common.folder(), how).map_err(|error| shared::failure(error, screen))?;
    let files = report.files;
    let said = match how {
        Reseal::Lock => format!("The vault is encrypted: {files} files were written anew.\n"),
        Reseal::Rekey => format!("The vault has a new key: {files} files were written anew.\n"),
        Reseal::Unlock => format!("The vault is NOT encrypted any more: {files} files were written anew.\n"),
    };
    screen.result(&(said + &key_text(&report)), &report)?;
    Ok(0)
}

fn key_text(report: &VaultReport) -> String {
    let keys = report.keys.display();
    let passphrase = match report.has_passphrase {
        true => "It has a passphrase.",
        false => "It has NO passphrase: a person who reads it can open your vaults. tacenda vault passphrase sets one.",
    };
    let recovery = match report.recovery_is_here {
        true => {
            "\nMove recovery.key from there to a safe place, such as a sealed envelope. It opens every vault if the key is lost."
        }
        false => "",
    };
    format!("The key is vault.key in {keys}. {passphrase}{recovery}\n")
}

/// What is said once, when a command has made the key.
pub fn made_key(keys: &std::path::Path) -> String {
    format!(
        "The vault is encrypted. Its key is {0}/vault.key, without a passphrase; tacenda vault passphrase sets one.\n\
         Move {0}/recovery.key to a safe place: it opens the vault if the key is lost. Without both nobody can.",
        keys.display()
    )
}
