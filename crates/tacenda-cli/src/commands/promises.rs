//! The promises there are: name, parameters, what is claimed.

use crate::failure::Failure;
use crate::screen::Screen;
use serde_json::json;
use std::fmt::Write;
use tacenda::policy::POLICIES;

pub fn run(screen: &Screen) -> Result<u8, Failure> {
    let mut text = String::new();
    let mut rows = Vec::new();
    for policy in POLICIES {
        let _ = writeln!(text, "{}\n  {}\n  parameters: {}\n  paper {}\n", policy.name, policy.line, policy.parameters, policy.paper);
        rows.push(json!({
            "model": policy.name, "line": policy.line, "parameters": policy.parameters, "paper": policy.paper
        }));
    }
    screen.result(&text, &json!({ "promises": rows }))?;
    Ok(0)
}
