//! Sensitive values under other names: D1, D2, …, in the order in which a report mentions them.
//!
//! A code keeps a value from being read over a shoulder or pasted into a ticket. It is no secret: anyone with the
//! releases can find out which value it is.

use crate::model::{Value, Values};
use crate::report::Names;
use crate::report::words::clean;

/// The names of the values of one report.
pub struct Codes<'a> {
    names: Names,
    values: Option<&'a Values>,
    seen: Vec<Value>,
}

impl<'a> Codes<'a> {
    /// No value has a name yet.
    pub fn new(names: Names, values: Option<&'a Values>) -> Codes<'a> {
        Codes { names, values, seen: Vec::new() }
    }

    /// The name of a value.
    pub fn name(&mut self, value: Value) -> String {
        if let (Names::Shown, Some(values)) = (self.names, self.values) {
            let text = clean(&values.cells(value).join(" / "));
            return if text.is_empty() { "not recorded".into() } else { text };
        }
        let place = self.seen.iter().position(|&seen| seen == value).unwrap_or_else(|| {
            self.seen.push(value);
            self.seen.len() - 1
        });
        format!("D{}", place + 1)
    }

    /// The names of several values, in order.
    pub fn names(&mut self, values: &[Value]) -> Vec<String> {
        values.iter().map(|&value| self.name(value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_keeps_its_code_and_shows_its_name_only_when_asked() {
        let values = Values::of(["asthma", "flu"]);
        let mut coded = Codes::new(Names::Coded, Some(&values));
        assert_eq!(coded.names(&[Value(1), Value(0), Value(1)]), ["D1", "D2", "D1"]);
        let mut shown = Codes::new(Names::Shown, Some(&values));
        assert_eq!(shown.names(&[Value(1), Value(0)]), ["flu", "asthma"]);
    }
}
