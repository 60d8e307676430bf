//! Reports: what the auditor found and what was measured, in a form that people can act on.
//!
//! [`Report::new`] gathers the numbers once; every form prints the same ones:
//!
//! | form | for |
//! |---|---|
//! | [`text`] | a terminal: verdict, each release, all together, the worst case, each check, what to do |
//! | [`json`] | programs; the schema is in docs/schema/report.json |
//! | [`html`] | people: one file, no script, no network, light and dark, made to be printed and signed |
//! | [`brief`] | who decides and does not compute: one page, no codes |
//! | [`markdown`] | a pull request or a wiki |
//! | [`sarif`] | code scanning in CI |
//! | [`junit`] | test reports in CI |
//!
//! The page for recipients is written in English, and turned into other languages when it is finished ([`translated`]).
//!
//! An edition is a filter on the numbers, applied when the report is made: what a recipient may not
//! see is not in a recipient's [`Report`].

mod content;
mod words;
mod codes;
mod claim;
mod release_facts;
mod picture;
mod columns;
mod identifying;
mod judge;
mod sequence;
mod signing;
mod truth;
mod gather;
mod text;
mod brief;
mod json;
mod markdown;
mod sarif;
mod junit;
mod html;
mod language;

pub use brief::brief;
pub use content::*;
pub use gather::{About, Gate, Material, Names, ReleaseOrigin};
pub use html::{STYLE, figures, findings, html, parts, plots, story, story_steps, verdict};
pub use json::json;
pub use junit::junit;
pub use language::{Translation, translated};
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::{TextOptions, text};
pub(crate) use truth::truth_facts;
pub(crate) use words::MATCHED;
pub use words::{number, percent};

#[cfg(test)]
mod editions;
#[cfg(test)]
mod every_text;
#[cfg(test)]
mod samples;
