//! A receipt of how far a series went, to be printed and kept apart from every disk.

use crate::ledger::{RealDisk, Receipt, ReceiptRelease, Store};
use crate::use_cases::UseCaseError;
use maud::{DOCTYPE, html};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What the receipt answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ReceiptReport {
    /// The series' name.
    pub series: String,
    /// What the first ledger line says of the seed.
    pub commitment: String,
    /// How many lines the ledger has.
    pub lines: u64,
    /// The hash of the last line.
    pub head: String,
    /// When the last line was written.
    pub at: String,
    /// The receipt itself: what `--anchor-from` reads back.
    pub receipt: Vec<String>,
    /// The releases, the oldest first.
    pub releases: Vec<ReceiptedRelease>,
}

/// A release on a receipt.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ReceiptedRelease {
    /// Its number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// When it was published.
    pub at: String,
    /// Whether it was withdrawn.
    pub withdrawn: bool,
    /// The SHA-256 of its manifest and of its list of checksums; of one made elsewhere, of all files.
    pub digests: BTreeMap<String, String>,
}

/// A receipt, in every form.
#[derive(Debug)]
pub struct ReceiptAnswer {
    /// For programs.
    pub report: ReceiptReport,
}

const TITLE: &str = "Receipt of a Tacenda series";

const USE: &str = "Keep this apart from the project and its backups, best on paper. If the anchor is lost, tacenda publish \
                   --anchor-from FILE takes it back. Nothing on it is private.";

/// Makes the receipt of a project.
pub fn receipt(root: &Path) -> Result<ReceiptAnswer, UseCaseError> {
    let store = Store::open_look(Arc::new(RealDisk), root)?;
    let receipt = Receipt::of(&store);
    let lines = receipt.lines();
    let Receipt { series, commitment, lines: count, head, at, releases, .. } = receipt;
    let release = |one: ReceiptRelease| ReceiptedRelease {
        release: one.number,
        label: one.label,
        at: one.at,
        withdrawn: one.withdrawn,
        digests: one.digests,
    };
    let releases = releases.into_iter().map(release).collect();
    Ok(ReceiptAnswer { report: ReceiptReport { series, commitment, lines: count, head, at, receipt: lines, releases } })
}

impl ReceiptedRelease {
    fn title(&self) -> String {
        let day = self.at.split('T').next().unwrap_or_default();
        let withdrawn = if self.withdrawn { ", withdrawn" } else { "" };
        format!("Release {}, {}, {day}{withdrawn}", self.release, self.label)
    }

    /// A line as `sha256sum` writes it.
    fn sums(&self) -> Vec<String> {
        self.digests.iter().map(|(name, digest)| format!("{digest}  {name}")).collect()
    }
}

impl ReceiptAnswer {
    /// Plain text.
    pub fn text(&self) -> String {
        let mut out = format!("{TITLE}\n\n{}\n", self.report.receipt.join("\n"));
        for release in &self.report.releases {
            out.push_str(&format!("\n{}\n", release.title()));
            release.sums().iter().for_each(|sum| out.push_str(&format!("  {sum}\n")));
        }
        out + "\n" + USE + "\n"
    }

    /// Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {TITLE}\n\n```\n{}\n```\n", self.report.receipt.join("\n"));
        for release in &self.report.releases {
            out.push_str(&format!("\n## {}\n\n```\n{}\n```\n", release.title(), release.sums().join("\n")));
        }
        out + "\n" + USE + "\n"
    }

    /// A page to be printed. Every text is escaped.
    pub fn html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    title { (TITLE) ": " (self.report.series) }
                    style { "body{font:11pt sans-serif;max-width:46em;margin:2em auto}pre{font-size:9pt;white-space:pre-wrap}" }
                }
                body {
                    h1 { (TITLE) }
                    pre { "\n" (self.report.receipt.join("\n")) "\n" }
                    @for release in &self.report.releases {
                        h2 { (release.title()) }
                        pre { "\n" (release.sums().join("\n")) "\n" }
                    }
                    p { (USE) }
                }
            }
        };
        page.into_string() + "\n"
    }
}
