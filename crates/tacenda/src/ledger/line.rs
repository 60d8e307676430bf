//! The ledger: one line per event, each with the hash of the line before.
//!
//! A line is a JSON object without line breaks, followed by a line feed. Its last two fields are `prev`, the hash of
//! the line before (64 zeros for the first), and `hash`. The text of a line ends in `,"hash":"` + 64 lower-case
//! hexadecimal digits + `"}`. The hash is the SHA-256 of the bytes before that ending followed by `}`, which is the
//! same object without its last field. It covers the bytes as written, so no canonical form of JSON is needed. `seq`
//! counts lines from 1.
//!
//! If the writer has a signing key, `signer` names it, and `signature` is between `prev` and `hash`. It signs the
//! SHA-256 of the bytes before it followed by `}`, which is the same object without its last two fields. A signed line
//! vouches for all lines before it, because it holds their hashes.
//!
//! A line is safe to show. Digests of vault files are keyed with the seed, so that nobody can test guesses about their
//! contents. Their sizes are left out, because they would reveal how many people were ever seen.
//!
//! A crash while a line is appended leaves a strict prefix of it at the end of the file; the line feed counts as part
//! of the line. Such a tail was never committed. Other bytes after a whole line are no such tail and are refused.

use crate::keys::{Introduction, KeyError, Signer, Trust};
use crate::ledger::LedgerError;
use crate::model::{Reading, Release, hex};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The path of the ledger, relative to the project folder.
pub(super) const LEDGER: &str = ".tacenda/ledger.jsonl";

/// The hash before the first line.
pub(super) const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The version of the files this room writes: 2 where the vault is encrypted from the start, else 1.
pub(super) const FORMAT: u32 = 2;
pub(super) const PLAIN_FORMAT: u32 = 1;

const ENDING: &str = ",\"hash\":\"";
const SIGNATURE: &str = ",\"signature\":\"";

/// The length of a signature in base64.
const SIGNATURE_LENGTH: usize = 88;

/// The payload type of a signed line.
const SIGNED: &str = "application/vnd.tacenda.ledger-line";

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number, from 1.
    pub seq: u64,
    /// When it was written.
    pub at: String,
    /// What happened.
    pub what: What,
    /// The key that signed it, if it is signed.
    pub signer: Option<Introduction>,
    /// The hash of the line before.
    pub prev: String,
    /// The signature, and the SHA-256 of what is signed.
    pub(super) signed: Option<LineSignature>,
    /// The hash of this line.
    pub hash: String,
}

/// The signature of a line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct LineSignature {
    digest: String,
    signature: String,
}

/// What happened.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum What {
    /// The project was set up.
    Init(Init),
    /// A release was made.
    Publish(Publication),
    /// A release made elsewhere was adopted. It counts as a release of the series from then on.
    Adopt(Publication),
    /// Something that releases said is not true.
    Erratum {
        /// What is true instead.
        text: String,
    },
    /// The ledger was behind its anchor, and a person accepted that.
    Rollback {
        /// Why, in the person's words.
        because: String,
        /// How many lines the ledger had been seen to have.
        lines: u64,
        /// The hash of the last of them.
        head: String,
    },
    /// People were forgotten: the vault was written anew without them.
    Erase(Erasure),
    /// A release was taken back.
    Retract {
        /// What is to be shown of it.
        details: Value,
    },
    /// A database has a release, or has marked it as withdrawn.
    Deliver(Delivery),
}

/// What a line says of a delivery. It names the place and its schema as the policy file does, and nothing else of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Delivery {
    /// The name of the place in the policy file.
    pub to: String,
    /// The release's number.
    pub release: u32,
    /// The SHA-256 of the release's manifest, which the database has too.
    pub manifest_sha256: String,
    /// The schema, for a place may name another one later. Older lines do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Whether the release is marked there as withdrawn, or is gone from there, as somebody said who knows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

/// What a line says of people who were forgotten. It says how many, never who.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Erasure {
    /// How many.
    pub people: u64,
    /// Where people were forgotten because they left: after how many releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retain: Option<u32>,
    /// Keyed digests of the files of the vault.
    pub vault: BTreeMap<String, String>,
}

/// The first line.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Init {
    /// The version of these files.
    pub format: u32,
    /// The name of the series.
    pub series: String,
    /// The SHA-256 of `tacenda seed` and the seed. It can prove later that the seed was fixed at the start.
    pub seed_commitment: String,
    /// The digest of the policy.
    pub policy_digest: String,
    /// Keyed digests of the files of the vault.
    pub vault: BTreeMap<String, String>,
}

/// A release was made or adopted.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Publication {
    /// Its number, from 1.
    pub number: u32,
    /// The steward's name for it.
    pub label: String,
    /// The promise about the series; for a release made elsewhere, the promise from then on.
    pub promise: Value,
    /// The digest of the policy it was made or judged under.
    pub policy_digest: String,
    /// What can be counted in the published files, and how they are read.
    pub numbers: LineNumbers,
    /// For promises about views: its view and who gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<PublishedTo>,
    /// Views made elsewhere that were joined with it for the first time, and who has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken_in: Vec<PublishedTo>,
    /// A keyed digest of the table it was made from, to recognise that table again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// A keyed digest of the input's bytes, to recognise a delta file again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The values that the policy's columns gained since the release before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub amended: Vec<Amendment>,
    /// Who approved the plan that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<Approval>,
    /// The published files.
    pub files: BTreeMap<String, FileDigest>,
    /// Keyed digests of the files of the vault: together the state after this release.
    pub vault: BTreeMap<String, String>,
}

/// A second person's approval of a plan.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Approval {
    /// The id of that person's key.
    pub key: String,
    /// The SHA-256 of the plan file.
    pub plan_sha256: String,
    /// The signature file over the plan file.
    pub signature: String,
}

/// What a column has gained. It is public: a domain is published with every release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Amendment {
    /// The column.
    pub column: String,
    /// What, in words.
    pub what: String,
}

/// The counts of a release, and facts about one that was made elsewhere. An unknown key or value is refused, because it
/// may decide how a file is read. The order of the fields is that of all earlier versions.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LineNumbers {
    /// Artificial rows.
    pub counterfeits: u64,
    /// For a release made elsewhere: the codes of the auditor's findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Vec<String>>,
    /// Groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
    /// For a release made elsewhere: how its files are read, if not in the default way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// Rows, counterfeits included.
    pub rows: u64,
    /// For a release made elsewhere: whether its private table was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truth_known: Option<bool>,
}

impl LineNumbers {
    /// What can be counted in a release.
    pub fn of(release: &Release) -> LineNumbers {
        LineNumbers {
            counterfeits: release.counterfeit_count(),
            groups: Some(release.group_count() as u64),
            rows: release.row_count() as u64,
            ..LineNumbers::default()
        }
    }
}

/// Which view left, and to whom.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PublishedTo {
    /// The view.
    pub name: String,
    /// Who got it.
    pub recipients: Vec<String>,
}

/// The identity of a published file.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FileDigest {
    /// The SHA-256 of its bytes, in lower-case hexadecimal digits.
    pub sha256: String,
    /// How many bytes it has.
    pub bytes: u64,
}

#[derive(Deserialize, Serialize)]
struct Body {
    seq: u64,
    at: String,
    #[serde(flatten)]
    what: What,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signer: Option<Introduction>,
    prev: String,
}

impl Event {
    /// The event that follows a line with the hash `prev`, and the bytes of its line. The signer comes with the
    /// introduction that the line carries.
    pub(super) fn next(
        seq: u64,
        prev: &str,
        at: &str,
        what: What,
        signer: Option<(&Signer, Introduction)>,
    ) -> (Event, Vec<u8>) {
        let (signer, introduction) = signer.unzip();
        let body = Body { seq, at: at.into(), what, signer: introduction, prev: prev.into() };
        let mut text = serde_json::to_string(&body).expect("strings, numbers and maps with text keys become JSON");
        let signed = signer.map(|signer| {
            let digest = hex(&Sha256::digest(text.as_bytes()));
            LineSignature { signature: signer.sign(SIGNED, digest.as_bytes()), digest }
        });
        if let Some(signed) = &signed {
            text.pop();
            let _ = write!(text, "{SIGNATURE}{}\"}}", signed.signature);
        }
        let hash = hex(&Sha256::digest(text.as_bytes()));
        text.pop();
        let _ = writeln!(text, "{ENDING}{hash}\"}}");
        let Body { seq, at, what, signer, prev } = body;
        (Event { seq, at, what, signer, prev, signed, hash }, text.into_bytes())
    }

    /// Checks the signature of the line. Returns whether there is one.
    pub fn check_signature(&self, trust: &Trust) -> Result<bool, KeyError> {
        let what = format!("{LEDGER} line {}", self.seq);
        match (&self.signer, &self.signed) {
            (Some(signer), Some(signed)) => {
                let key = trust.find(&what, &signer.key)?;
                key.check(&what, SIGNED, signed.digest.as_bytes(), &signed.signature)?;
                Ok(true)
            }
            (None, None) => Ok(false),
            _ => Err(KeyError::BadSignature { what }),
        }
    }

    /// The release it added to the series, if it added one.
    pub fn publication(&self) -> Option<&Publication> {
        match &self.what {
            What::Publish(publication) | What::Adopt(publication) => Some(publication),
            _ => None,
        }
    }

    /// Whether its release was made elsewhere.
    pub fn is_adoption(&self) -> bool {
        matches!(self.what, What::Adopt(_))
    }

    /// The files of the vault as of this line, if it changed them.
    pub(super) fn vault(&self) -> Option<&BTreeMap<String, String>> {
        match &self.what {
            What::Init(init) => Some(&init.vault),
            What::Publish(publication) | What::Adopt(publication) => Some(&publication.vault),
            What::Erase(erasure) => Some(&erasure.vault),
            What::Retract { .. } | What::Erratum { .. } | What::Rollback { .. } | What::Deliver(_) => None,
        }
    }
}

/// The parsed ledger.
pub(super) struct Lines {
    /// The events of all whole lines.
    pub events: Vec<Event>,
    /// How many bytes they take.
    pub whole: u64,
    /// How many bytes of a torn line follow.
    pub torn: u64,
}

/// Reads a ledger. Every whole line is checked.
pub(super) fn read(bytes: &[u8]) -> Result<Lines, LedgerError> {
    let mut lines = Lines { events: Vec::new(), whole: 0, torn: 0 };
    let mut prev = NO_HASH.to_string();
    let mut releases = 0;
    for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
        let seq = lines.events.len() as u64 + 1;
        let fault = |fault| LedgerError::Line { file: LEDGER.into(), line: seq, offset: lines.whole, fault };
        let Some(line) = piece.strip_suffix(b"\n") else {
            if holds_whole_line(piece) {
                return Err(fault("its line feed is damaged"));
            }
            lines.torn = piece.len() as u64;
            break;
        };
        let (object, hash) = unseal(line).ok_or_else(|| fault("it is damaged (its hash is not that of its bytes)"))?;
        let body: Body =
            serde_json::from_str(&object).map_err(|_| LedgerError::Newer { file: LEDGER.into(), line: seq })?;
        if body.seq != seq {
            return Err(fault("its number is not the next one"));
        }
        if body.prev != prev {
            return Err(fault("it does not follow the line before"));
        }
        if !body.what.names_only_its_own() {
            return Err(fault("it names a file outside of its folder"));
        }
        match &body.what {
            What::Init(init) if init.format > FORMAT => {
                return Err(LedgerError::Newer { file: LEDGER.into(), line: seq });
            }
            What::Init(_) if seq != 1 => return Err(fault("only the first line sets up a project")),
            What::Publish(publication) | What::Adopt(publication) => {
                releases += 1;
                if publication.number != releases {
                    return Err(fault("its release number is not the next one"));
                }
                let is_adoption = matches!(body.what, What::Adopt(_));
                if is_adoption != publication.numbers.truth_known.is_some() {
                    return Err(fault("it does not say whether the people of a release made elsewhere are known"));
                }
            }
            _ => {}
        }
        if seq == 1 && !matches!(body.what, What::Init(_)) {
            return Err(fault("the first line must set up the project"));
        }
        let Body { seq, at, what, signer, prev: before } = body;
        prev = hash.clone();
        lines.events.push(Event { seq, at, what, signer, prev: before, signed: signature_in(&object), hash });
        lines.whole += piece.len() as u64;
    }
    Ok(lines)
}

impl What {
    /// Whether every name in it is a plain name of a file or folder in its proper place. A ledger may come from
    /// anybody, and the files it names are read, renamed and removed.
    fn names_only_its_own(&self) -> bool {
        let is_plain =
            |name: &String| !name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0']);
        match self {
            What::Init(init) => is_plain(&init.series) && init.vault.keys().all(is_plain),
            What::Publish(publication) | What::Adopt(publication) => {
                publication.files.keys().chain(publication.vault.keys()).all(is_plain)
            }
            What::Erase(erasure) => erasure.vault.keys().all(is_plain),
            What::Erratum { .. } | What::Rollback { .. } | What::Retract { .. } | What::Deliver(_) => true,
        }
    }
}

/// The object of a line without its hash, and its hash, if they belong together.
fn unseal(line: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(line).ok()?;
    let (start, ending) = text.split_at_checked(text.len().checked_sub(ENDING.len() + 64 + 2)?)?;
    let hash = ending.strip_prefix(ENDING)?.strip_suffix("\"}")?;
    let object = format!("{start}}}");
    (hex(&Sha256::digest(object.as_bytes())) == hash).then(|| (object, hash.to_string()))
}

/// The signature in the object of a line, if there is one.
fn signature_in(object: &str) -> Option<LineSignature> {
    let start = object.len().checked_sub(SIGNATURE.len() + SIGNATURE_LENGTH + 2)?;
    let (before, ending) = object.split_at_checked(start)?;
    let signature = ending.strip_prefix(SIGNATURE)?.strip_suffix("\"}")?.to_string();
    Some(LineSignature { digest: hex(&Sha256::digest(format!("{before}}}").as_bytes())), signature })
}

/// Whether a tail without a line feed begins with a whole line and continues after it. Then its line feed was damaged,
/// because a crash leaves only a prefix.
fn holds_whole_line(tail: &[u8]) -> bool {
    let ending = ENDING.as_bytes();
    (0..tail.len().saturating_sub(ending.len() - 1))
        .filter(|&at| tail[at..].starts_with(ending))
        .filter_map(|at| tail.get(..at + ending.len() + 64 + 2))
        .any(|line| line.len() < tail.len() && unseal(line).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Vec<u8> {
        let init = Init {
            format: FORMAT,
            series: "s".into(),
            seed_commitment: NO_HASH.into(),
            policy_digest: "p".into(),
            vault: BTreeMap::from([("seed".into(), "d".into())]),
        };
        let (first, mut bytes) = Event::next(1, NO_HASH, "2026-01-01", What::Init(init), None);
        let details = serde_json::json!({"release": 1, "because": "ä \"quoted\" reason,\"hash\":\""});
        let (_, second) = Event::next(2, &first.hash, "2026-01-02", What::Retract { details }, None);
        bytes.extend(second);
        bytes
    }

    #[test]
    fn a_ledger_reads_back_as_it_was_written() {
        let bytes = ledger();
        let lines = read(&bytes).unwrap();
        assert_eq!((lines.events.len(), lines.whole, lines.torn), (2, bytes.len() as u64, 0));
        assert_eq!(lines.events[1].prev, lines.events[0].hash);
        assert!(matches!(&lines.events[1].what, What::Retract { details } if details["release"] == 1));
    }

    /// What `numbers` decide is never guessed: how the files of a release made elsewhere are read, and whether its
    /// people are known.
    #[test]
    fn numbers_that_cannot_be_read_are_an_error_that_names_the_line() {
        let reading = Reading { group: Some("class".into()), ..Reading::default() };
        let publication = Publication {
            number: 1,
            label: "theirs".into(),
            promise: serde_json::json!({}),
            policy_digest: "p".into(),
            numbers: LineNumbers {
                findings: Some(vec!["A601".into()]),
                groups: Some(2),
                reading: Some(reading),
                rows: 4,
                truth_known: Some(false),
                ..LineNumbers::default()
            },
            view: None,
            taken_in: Vec::new(),
            amended: Vec::new(),
            input: None,
            source: None,
            approved: None,
            files: BTreeMap::new(),
            vault: BTreeMap::new(),
        };
        let first: Vec<u8> = ledger().split_inclusive(|&byte| byte == b'\n').next().unwrap().to_vec();
        let prev = read(&first).unwrap().events.remove(0).hash;
        let (_, line) = Event::next(2, &prev, "2026-01-02", What::Adopt(publication), None);
        let (good, _) = unseal(line.strip_suffix(b"\n").unwrap()).unwrap();
        let numbers = r#""numbers":{"counterfeits":0,"findings":["A601"],"groups":2,"reading":{"group":"class"},"rows":4,"truth_known":false}"#;
        assert!(good.contains(numbers), "{good}");
        let fault = |from: &str, to: &str| {
            let object = good.replacen(from, to, 1);
            let sealed = format!("{}{ENDING}{}\"}}\n", &object[..object.len() - 1], hex(&Sha256::digest(&object)));
            read(&[&first[..], sealed.as_bytes()].concat()).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(fault("", ""), Ok(()));
        for (from, to) in [
            ("\"group\":\"class\"", "\"group\":7"),
            ("\"group\":\"class\"", "\"separator\":\";\""),
            ("{\"group\":\"class\"}", "\"as before\""),
            ("\"truth_known\":false", "\"truth_known\":\"no\""),
            (",\"truth_known\":false", ""),
            ("\"rows\":4,", ""),
        ] {
            let error = fault(from, to).unwrap_err();
            assert!(error.contains("ledger.jsonl line 2") && error.contains("; "), "{to}: {error}");
        }
    }

    #[test]
    fn every_flipped_byte_is_an_error_that_names_the_line() {
        let good = ledger();
        let second = good.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for at in 0..good.len() {
            for mask in [0x01, 0x0a ^ b'x', 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= mask;
                let Err(LedgerError::Line { line, .. }) = read(&bad) else { panic!("byte {at} flipped unseen") };
                assert_eq!(line, if at < second { 1 } else { 2 });
            }
        }
    }

    #[test]
    fn a_prefix_of_a_line_is_torn_and_no_line() {
        let good = ledger();
        let second = good.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        for len in 0..good.len() {
            let lines = read(&good[..len]).unwrap();
            let whole = if len < second { 0 } else { second };
            assert_eq!((lines.whole, lines.torn), (whole as u64, (len - whole) as u64));
        }
    }

    #[test]
    fn lines_cannot_be_left_out_swapped_or_doubled() {
        let good = ledger();
        let second = good.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let (one, two) = good.split_at(second);
        for bad in [two.to_vec(), [two, one].concat(), [one, one].concat(), [one, two, two].concat()] {
            assert!(matches!(read(&bad), Err(LedgerError::Line { .. })));
        }
    }
}
