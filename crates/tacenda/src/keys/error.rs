//! What can be wrong with a key, a passphrase or a signature.

use crate::model::{coded, exit_of};
use std::io;
use std::path::{Path, PathBuf};

coded! {
    /// Why a key cannot be used or a signature is not valid. It names files and keys, never a secret.
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum KeyError {
        #[error("there is no signing key in {}; tacenda key new makes one", folder.display())]
        NoKey {
            /// The folder of keys.
            folder: PathBuf,
        } = "K201", "no signing key",
            "A signing key shows recipients that a release is yours. It is kept in your configuration folder, outside every \
             project. tacenda key new makes one.";
        #[error("there is a signing key in {} already; tacenda key rotate makes a new one that the old key signs", folder.display())]
        Exists {
            /// The folder of keys.
            folder: PathBuf,
        } = "K202", "there is a key already",
            "Recipients cannot trust a new key that no known key has signed. tacenda key rotate makes a new key and signs it \
             with the old one. Recipients who trust the old key can then check what the new one signs.";
        #[error("{what} is no minisign public key; name the file that ends in .pub, or the 56 characters that begin with RW")]
        NotAKey {
            /// What was given.
            what: String,
        } = "K203", "not a public key",
            "A public key is what tacenda key show prints, or minisign writes: 56 characters that begin with RW, alone or \
             below a line of comment. Secret keys are never asked for.";
        #[error("{what}: the signature is not valid; get the files again from the publisher")]
        BadSignature {
            /// What is signed.
            what: String,
        } = "K501", "a signature is not valid",
            "The file or the signature was changed after signing, or the signature belongs to something else. Do not use \
             the release. Get it again from the publisher.";
        #[error("{what} is signed by the key {key}, which is not a key that you named; ask the publisher whether the key is theirs")]
        Stranger {
            /// What is signed.
            what: String,
            /// The id of the key.
            key: String,
        } = "K502", "signed by another key",
            "The signature was made with a key that you did not name. No chain of rotated keys leads from a key that you named \
             to it. Either the publisher has a new key that the old one did not sign, or somebody else made this.";
        #[error("{what} is not signed; because you named a key, only signed files are accepted")]
        Unsigned {
            /// What is not signed.
            what: String,
        } = "K503", "not signed",
            "You named a key, and there is no signature. Releases are signed as soon as the publisher has a key. \
             Anybody who passes a release on can remove its signature.";
        #[error("{} can be read or written by others; run: chmod -R go-rwx {}", file.display(), file.parent().unwrap_or(file).display())]
        Loose {
            /// The file.
            file: PathBuf,
        } = "K504", "a secret key is open to others",
            "Anybody who can read a secret key can sign in your name. Run the chmod command above. Then find \
             out who had access in the meantime. If you cannot, rotate the key.";
        #[error("{} is damaged or is no key; restore it from a backup", file.display())]
        Damaged {
            /// The file.
            file: PathBuf,
        } = "K505", "a key file is damaged",
            "The file is not as it was written. Restore it from a backup. Without the key nothing can be signed. If there is \
             no backup, make a new key and give its public half to your recipients.";
        #[error("{what} is not covered by the signature; remove it, or get the release again")]
        NotCovered {
            /// The file.
            what: String,
        } = "K506", "a file that nobody signed",
            "The signature covers the list of checksums, and the list does not name this file. Somebody added it after \
             the release was published.";
        #[error("the key in {} has a passphrase; set TACENDA_PASSPHRASE, or run this on a terminal", file.display())]
        NeedsPassphrase {
            /// The key file.
            file: PathBuf,
        } = "K601", "a passphrase is needed",
            "The secret key is encrypted with a passphrase. On a terminal, the command asks for it. Otherwise it is read from \
             the environment variable TACENDA_PASSPHRASE.";
        #[error("the passphrase of the key in {} is wrong; try again", file.display())]
        WrongPassphrase {
            /// The key file.
            file: PathBuf,
        } = "K602", "the passphrase is wrong",
            "The passphrase does not open the secret key. Nobody can recover a lost passphrase. If it is lost, make a new key.";
        #[error("the policy file asks for an approved plan, and {why}; run tacenda plan, let an approver run tacenda approve, then publish --plan")]
        NotApproved {
            /// What is missing.
            why: String,
        } = "K603", "a second person has not approved",
            "The policy file lists approvers under [signatures]. A release then needs a plan that one of them signed with \
             tacenda approve PLAN. The approver must not be the signer of the release. The ledger records the approval.";
        #[error("the policy file lists who signs releases, and {why}; use one of these keys, or change [signatures] signers")]
        NotASigner {
            /// What is wrong.
            why: String,
        } = "K604", "not one of the signers",
            "The policy file lists the public keys that releases are signed with, under [signatures]. This release would not \
             be signed by one of them. Nothing was published.";
        #[error("the vault is encrypted, and no key in {} opens it; name the folder with the key by --keys, or put the recovery key there", folder.display())]
        NoVaultKey {
            /// The folder of keys.
            folder: PathBuf,
        } = "K605", "the vault is closed",
            "The vault is encrypted, and its key is apart from it: in the configuration folder of the user who set up the \
             project. Name that folder with --keys. If the key is lost, copy recovery.key into your folder of keys, from the \
             safe place where it was put. Without either, nobody can open the vault.";
        #[error("this is no file that age encrypted, or it is damaged; take another copy of it")]
        NotAge = "K507", "no age file",
            "A file that should be encrypted in the format of age is not, or its header was changed. The wrapped key of a \
             vault (key.age) and backups are such files. Put a copy from a backup in its place.";
        #[error("{} can be written by others; run: chmod go-w {}", file.display(), file.display())]
        Open {
            /// The file or folder.
            file: PathBuf,
        } = "K508", "a folder of keys is open to others",
            "Anybody who can write there can add a key of their own: vaults and backups would then be encrypted for them too. Run \
             the chmod command above. Then look whether the keys in the folder are yours, and rekey vaults that were made since.";
        #[error("{} is a key that the key of this vault does not vouch for: somebody put it there; move it out of the vault", file.display())]
        Foreign {
            /// The file.
            file: PathBuf,
        } = "K509", "a key of somebody else in the vault",
            "tacenda vault rekey writes the next key beside the present one, with a tag that only the present key can make. \
             This key has no such tag. Everything that is written next would be encrypted with a key that somebody else \
             knows. Nothing was written. Move the file out of the vault, and find out who can write there. If files of the vault cannot be \
             opened then, a rekey had begun and its tag is lost: restore the vault from a backup.";
        #[error("cannot {action} {}: {source}", path.display())]
        Disk {
            /// What was tried.
            action: &'static str,
            /// On what.
            path: PathBuf,
            /// Why not.
            source: io::Error,
        } = "K701", "a key file cannot be read or written",
            "An operation on a key file or its folder failed. The message says which, and what the system answered.";
        #[error("the system provides no random numbers, and a key must be random")]
        NoRandomness = "K702", "no randomness for a key",
            "A key must be unpredictable. The system did not provide random numbers.";
    }
}

impl KeyError {
    /// The exit code: 2 for wrong use, 5 for integrity, 6 if a person's approval is missing, 7 for the environment.
    pub fn exit_code(&self) -> u8 {
        exit_of(self.code())
    }

    /// Whether all that is wrong is that a vault stays closed.
    pub(crate) fn leaves_vault_closed(&self) -> bool {
        matches!(self, KeyError::NoVaultKey { .. } | KeyError::NeedsPassphrase { .. })
    }

    /// The error of a failed disk operation.
    pub(super) fn disk<'p>(action: &'static str, path: &'p Path) -> impl Fn(io::Error) -> KeyError + 'p {
        move |source| KeyError::Disk { action, path: path.into(), source }
    }
}
