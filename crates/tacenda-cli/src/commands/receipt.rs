//! A receipt of how far the series has come, to print and keep apart from every disk.

use crate::args::{Common, FormatArg};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, printable};
use tacenda::use_cases;

pub fn run(common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let receipt = use_cases::receipt(&common.project).map_err(|error| shared::failure(error, screen))?;
    match common.form(FormatArg::Text) {
        FormatArg::Markdown => screen.print(&printable(&receipt.markdown()))?,
        FormatArg::Html => screen.print(&receipt.html())?,
        FormatArg::Json => {
            let json = serde_json::to_string_pretty(&receipt.report).map_err(Failure::bug)?;
            screen.print(&(json + "\n"))?;
        }
        _ => screen.print(&printable(&receipt.text()))?,
    }
    Ok(0)
}
