//! The promises there are: name, parameters, what is claimed.

use crate::failure::Failure;
use crate::screen::Screen;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use tacenda::promise::entries;

/// What promises answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PromisesReport {
    /// The promises.
    pub promises: Vec<PromiseRow>,
}

/// One promise.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PromiseRow {
    /// Its name in the policy file.
    pub model: String,
    /// What it is for.
    pub line: String,
    /// Its parameters.
    pub parameters: String,
    /// The paper it comes from.
    pub paper: String,
}

pub fn run(screen: &Screen) -> Result<u8, Failure> {
    let promises: Vec<PromiseRow> = entries()
        .map(|policy| PromiseRow {
            model: policy.name.to_string(),
            line: policy.line.to_string(),
            parameters: policy.parameters.to_string(),
            paper: policy.paper.to_string(),
        })
        .collect();
    let mut text = String::new();
    for row in &promises {
        let _ =
            writeln!(text, "{}\n  {}\n  parameters: {}\n  paper {}\n", row.model, row.line, row.parameters, row.paper);
    }
    screen.result(&text, &PromisesReport { promises })?;
    Ok(0)
}
