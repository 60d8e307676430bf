//! x
use crate::args::*; use crate::failure::Failure; use crate::screen::Screen;
#[derive(Debug, schemars::JsonSchema, serde::Serialize)]
pub struct InitReport {}
pub fn run(_args: &InitArgs, _common: &Common, _screen: &Screen) -> Result<u8, Failure> { Ok(0) }
