//! A receipt: how far a series went, to be printed and kept apart from every disk.
//!
//! A receipt is lines of `key: value`. What counts of it is `series`, `commitment`, `lines`, `head` and `at`, and `erased` where
//! somebody was erased; `check` is the beginning of their SHA-256, so that a mistyped digit is noticed. Anything around these
//! lines is passed over: the same receipt may stand in a page or in a letter. It holds nothing private.
//!
//! Where the anchor is lost, a receipt stands in for it; so does a release that recipients have.

use crate::ledger::{Event, LedgerError, Store};
use crate::model::{ChainLink, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// How many digits of the checksum are printed.
const CHECK_DIGITS: usize = 8;

/// The checksums of a release that recipients can compare.
const SHOWN: [&str; 2] = ["manifest.json", "SHA256SUMS"];

/// How far a series went when the receipt was made.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Receipt {
    /// The name of the series.
    pub series: String,
    /// What the first ledger line says of the seed: it tells series of one name apart.
    pub commitment: String,
    /// How many lines the ledger had.
    pub lines: u64,
    /// The hash of the last.
    pub head: String,
    /// When that line was written.
    pub at: String,
    /// How many people were erased by then because they asked for it. Receipts of earlier versions do not say.
    #[serde(default)]
    pub erased: u64,
    /// The releases, in order.
    pub releases: Vec<ReceiptRelease>,
}

/// A release on a receipt.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct ReceiptRelease {
    /// Its number.
    pub number: u32,
    /// Its label.
    pub label: String,
    /// When it was published.
    pub at: String,
    /// Whether it was withdrawn.
    pub withdrawn: bool,
    /// Files and their SHA-256: the manifest and the list of checksums; of one made elsewhere, all of them.
    pub digests: BTreeMap<String, String>,
}

impl Receipt {
    /// The receipt of a project as it is now.
    pub fn of(store: &Store) -> Receipt {
        let retracted = store.retracted();
        let release = |event: &Event| {
            let one = event.publication()?;
            let is_shown = |name: &str| event.is_adoption() || SHOWN.contains(&name);
            let files = one.files.iter().filter(|(name, _)| is_shown(name));
            Some(ReceiptRelease {
                number: one.number,
                label: one.label.clone(),
                at: event.at.clone(),
                withdrawn: retracted.iter().any(|&(number, _, _)| number == one.number),
                digests: files.map(|(name, file)| (name.clone(), file.sha256.clone())).collect(),
            })
        };
        let events = store.events();
        Receipt {
            series: store.series().into(),
            commitment: store.seed_commitment().into(),
            lines: events.len() as u64,
            head: store.head().into(),
            at: events.last().map_or_else(String::new, |event| event.at.clone()),
            erased: store.erased_people(),
            releases: events.iter().filter_map(release).collect(),
        }
    }

    /// The lines that count, with their checksum.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.facts().into_iter().map(|(key, value)| format!("{:<12}{value}", format!("{key}:"))).collect();
        lines.push(format!("{:<12}{}", "check:", self.check()));
        lines
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![
            ("series", self.series.clone()),
            ("commitment", self.commitment.clone()),
            ("lines", self.lines.to_string()),
            ("head", self.head.clone()),
            ("at", self.at.clone()),
        ];
        // Left out where nobody was erased: such a receipt is one of earlier versions.
        facts.extend((self.erased > 0).then(|| ("erased", self.erased.to_string())));
        facts
    }

    fn check(&self) -> String {
        let facts: Vec<String> = self.facts().into_iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
        let mut digest = hex(&Sha256::digest(facts.concat().as_bytes()));
        digest.truncate(CHECK_DIGITS);
        digest
    }

    /// Reads a receipt back, from any text that has its lines. What it says of releases is not read.
    pub fn read(text: &str) -> Result<Receipt, LedgerError> {
        let bad = |what: &'static str| LedgerError::BadReceipt { what };
        let find = |key: &str| {
            let of_key = |line: &str| Some(line.trim().strip_prefix(key)?.strip_prefix(':')?.trim().to_string());
            let mut found = text.lines().filter_map(of_key);
            let first = found.next();
            // Two receipts in one file: which of them is meant is not guessed.
            if found.next().is_some() { None } else { first }
        };
        let need = |key: &str| {
            find(key).filter(|value| !value.is_empty()).ok_or_else(|| bad("it lacks a line, or has one twice"))
        };
        let receipt = Receipt {
            series: need("series")?,
            commitment: need("commitment")?.to_ascii_lowercase(),
            lines: need("lines")?.parse().map_err(|_| bad("lines is no number"))?,
            head: need("head")?.to_ascii_lowercase(),
            at: need("at")?,
            erased: find("erased")
                .map_or(Ok(0), |count| count.parse::<u64>())
                .map_err(|_| bad("erased is no number"))?,
            releases: Vec::new(),
        };
        match need("check")?.to_ascii_lowercase() == receipt.check() {
            true => Ok(receipt),
            false => Err(bad("its checksum does not fit: a line is mistyped")),
        }
    }
}

/// What was seen of a series outside of its project, apart from the anchor.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Seen {
    /// A receipt.
    Receipt(Receipt),
    /// A release that somebody has.
    Release(ChainLink),
}

impl Seen {
    /// Refuses a ledger that does not reach what was seen. What a person has accepted before is not asked again.
    pub(super) fn hold(&self, store: &Store) -> Result<(), LedgerError> {
        let events = store.events();
        match self {
            Seen::Receipt(receipt) if receipt.commitment != store.seed_commitment() => {
                Err(LedgerError::BadReceipt { what: "it is of another series" })
            }
            Seen::Receipt(receipt) => {
                let last = receipt.lines.checked_sub(1).and_then(|last| events.get(last as usize));
                match last.is_some_and(|event| event.hash == receipt.head) || store.has_accepted(&receipt.head) {
                    true => Ok(()),
                    false => Err(store.rolled_back(receipt.lines, &receipt.at)),
                }
            }
            Seen::Release(link) if link.series != store.series() => {
                Err(LedgerError::BadReceipt { what: "the release is of another series" })
            }
            Seen::Release(link) => {
                let mut own = store.publications().filter(|one| one.number == link.number);
                let is_it = own.any(|one| one.files.get(SHOWN[0]).is_some_and(|file| file.sha256 == link.manifest));
                match is_it || store.has_accepted(&link.manifest) {
                    true => Ok(()),
                    false => Err(LedgerError::LacksRelease { release: link.number, found: store.releases() }),
                }
            }
        }
    }

    /// How many lines were seen, as far as that is known, and what the last is known by.
    pub(super) fn reached(&self) -> (u64, &str) {
        match self {
            Seen::Receipt(receipt) => (receipt.lines, &receipt.head),
            Seen::Release(link) => (0, &link.manifest),
        }
    }

    /// How many people were erased by then, as far as that is known. It is not known who they are.
    pub(super) fn erased(&self) -> u64 {
        match self {
            Seen::Receipt(receipt) => receipt.erased,
            Seen::Release(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt() -> Receipt {
        let (commitment, head) = ("ab".repeat(32), "01".repeat(32));
        let at = "2026-11-17T14:00:00Z".into();
        Receipt { series: "wards".into(), commitment, lines: 7, head, at, erased: 0, releases: Vec::new() }
    }

    #[test]
    fn a_receipt_is_read_back_from_any_page_it_stands_in() {
        let text = receipt().lines().join("\n");
        assert_eq!(Receipt::read(&text).unwrap(), receipt());
        let page = format!("<h1>Receipt</h1>\r\n<pre>\r\n{}\r\n</pre> series A", text.replace('\n', "\r\n  "));
        assert_eq!(Receipt::read(&page).unwrap(), receipt());
        assert_eq!(Receipt::read(&text.replace("ab", "AB")).unwrap(), receipt());
    }

    #[test]
    fn who_was_erased_is_counted_and_older_receipts_are_read() {
        let with = Receipt { erased: 2, ..receipt() };
        assert_eq!(Receipt::read(&with.lines().join("\n")).unwrap(), with);
        assert_eq!((with.lines().len(), receipt().lines().len()), (7, 6));
        // A line that was left out, or added, is noticed like any other.
        let other = |receipt: Receipt, keep: &dyn Fn(&&String) -> bool, more: &str| {
            let lines: Vec<String> = receipt.lines().iter().filter(keep).cloned().collect();
            Receipt::read(&format!("{}\n{more}", lines.join("\n")))
        };
        assert!(other(with, &|line| !line.starts_with("erased"), "").is_err());
        assert!(other(receipt(), &|_| true, "erased: 2").is_err());
        assert!(other(receipt(), &|_| true, "").is_ok());
    }

    #[test]
    fn every_mistyped_sign_of_a_receipt_is_noticed() {
        let text = Receipt { erased: 1, ..receipt() }.lines().join("\n");
        for (at, sign) in text.char_indices().filter(|(_, sign)| sign.is_alphanumeric()) {
            let other = if sign == '3' { '4' } else { '3' };
            let mistyped: String =
                text.char_indices().map(|(place, sign)| if place == at { other } else { sign }).collect();
            assert!(matches!(Receipt::read(&mistyped), Err(LedgerError::BadReceipt { .. })), "{mistyped}");
        }
        assert!(Receipt::read(&format!("{text}\n{text}")).is_err() && Receipt::read("").is_err());
    }
}
