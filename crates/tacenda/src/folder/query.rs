//! Questions to a release: comparisons joined by `and`.
//!
//! ```text
//! age >= 65 and diagnosis in (flu, 'broken leg') and "weight, kg" < 80 and place = north
//! ```
//!
//! Columns and values are bare words or are in single or double quotes; a quote inside is doubled. A category may be
//! compared with a value or with a group of its hierarchy. Not recorded is `''`; it is a value like any other, so
//! `place != north` counts it, and `<` and `>` never do.

use crate::folder::FolderError;

/// A question: every condition must hold. Without conditions it asks for everyone.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Question {
    /// The conditions, in the order they were written.
    pub conditions: Vec<Condition>,
}

/// One comparison.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Condition {
    /// The column.
    pub column: Word,
    /// How it is compared.
    pub comparison: Comparison,
    /// With what: one value, or any number for [`Comparison::Equal`] and [`Comparison::NotEqual`].
    pub values: Vec<Word>,
}

/// A column or value, and where it stands, counted in characters from 1.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Word {
    /// The word without quotes.
    pub text: String,
    /// Where it starts.
    pub position: usize,
}

/// How a column is compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Comparison {
    /// One of the values.
    Equal,
    /// None of the values.
    NotEqual,
    /// Less.
    Less,
    /// Less or equal.
    AtMost,
    /// More.
    More,
    /// More or equal.
    AtLeast,
}

/// Reads a question.
pub fn parse_question(text: &str) -> Result<Question, FolderError> {
    let mut parser = Parser { characters: text.chars().collect(), at: 0 };
    let mut question = Question::default();
    parser.skip_blanks();
    if parser.is_done() {
        return Ok(question);
    }
    loop {
        question.conditions.push(parser.condition()?);
        if parser.is_done() {
            return Ok(question);
        }
        parser.keyword_and()?;
    }
}

struct Parser {
    characters: Vec<char>,
    at: usize,
}

impl Parser {
    fn condition(&mut self) -> Result<Condition, FolderError> {
        let column = self.word("a column, such as age")?;
        let (comparison, list) = self.comparison(&column.text)?;
        let mut values = Vec::new();
        if list {
            self.expect('(', "( before the list of values")?;
            loop {
                values.push(self.word("a value")?);
                if self.take(')') {
                    break;
                }
                self.expect(',', ", or ) after a value of the list")?;
            }
        } else {
            values.push(self.word("a value, such as 65 or 'broken leg'")?);
        }
        Ok(Condition { column, comparison, values })
    }

    /// The comparison, and whether a list of values follows.
    fn comparison(&mut self, column: &str) -> Result<(Comparison, bool), FolderError> {
        const SIGNS: [(&str, Comparison); 8] = [
            ("!=", Comparison::NotEqual),
            ("<>", Comparison::NotEqual),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("==", Comparison::Equal),
            ("=", Comparison::Equal),
            ("<", Comparison::Less),
            (">", Comparison::More),
        ];
        for (sign, comparison) in SIGNS {
            let length = sign.chars().count();
            if self.characters[self.at..].iter().take(length).copied().eq(sign.chars()) {
                self.at += length;
                self.skip_blanks();
                return Ok((comparison, false));
            }
        }
        let start = self.at;
        let word: String = self.bare().to_lowercase();
        match word.as_str() {
            "in" => Ok((Comparison::Equal, true)),
            "not" => {
                let second: String = self.bare().to_lowercase();
                if second == "in" {
                    Ok((Comparison::NotEqual, true))
                } else {
                    Err(fault(start, "write `not in (…)`, or != for a single value"))
                }
            }
            _ => Err(fault(
                start,
                &format!("after {column} comes one of = != < <= > >= or in (…); put odd names in quotes"),
            )),
        }
    }

    fn keyword_and(&mut self) -> Result<(), FolderError> {
        let start = self.at;
        match self.bare().to_lowercase().as_str() {
            "and" => Ok(()),
            "or" => Err(fault(start, "only `and` joins comparisons; for either of two values write column in (a, b)")),
            _ => Err(fault(start, "write `and` between comparisons, and put values with blanks in quotes")),
        }
    }

    /// A bare or quoted word.
    fn word(&mut self, wanted: &str) -> Result<Word, FolderError> {
        let start = self.at;
        let position = start + 1;
        match self.characters.get(self.at) {
            Some(&quote @ ('\'' | '"')) => {
                self.at += 1;
                let mut text = String::new();
                loop {
                    let Some(&next) = self.characters.get(self.at) else {
                        return Err(fault(start, &format!("this {quote} is never closed")));
                    };
                    self.at += 1;
                    if next != quote {
                        text.push(next);
                    } else if self.characters.get(self.at) == Some(&quote) {
                        text.push(quote);
                        self.at += 1;
                    } else {
                        break;
                    }
                }
                self.skip_blanks();
                Ok(Word { text, position })
            }
            _ => {
                let text = self.bare();
                if text.is_empty() {
                    Err(fault(start, &format!("expected here: {wanted}")))
                } else {
                    Ok(Word { text, position })
                }
            }
        }
    }

    /// Characters up to a blank, a sign, a bracket, a comma or a quote.
    fn bare(&mut self) -> String {
        let stops = |character: char| character.is_whitespace() || "()=!<>,'\"".contains(character);
        let start = self.at;
        while self.characters.get(self.at).is_some_and(|&character| !stops(character)) {
            self.at += 1;
        }
        let text = self.characters[start..self.at].iter().collect();
        self.skip_blanks();
        text
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.characters.get(self.at) == Some(&wanted);
        if found {
            self.at += 1;
            self.skip_blanks();
        }
        found
    }

    fn expect(&mut self, wanted: char, what: &str) -> Result<(), FolderError> {
        if self.take(wanted) { Ok(()) } else { Err(fault(self.at, &format!("expected here: {what}"))) }
    }

    fn skip_blanks(&mut self) {
        while self.characters.get(self.at).is_some_and(|character| character.is_whitespace()) {
            self.at += 1;
        }
    }

    fn is_done(&self) -> bool {
        self.at == self.characters.len()
    }
}

fn fault(at: usize, what: &str) -> FolderError {
    FolderError::Question { position: at + 1, what: what.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn spelled_out(text: &str) -> String {
        match parse_question(text) {
            Err(error) => error.to_string(),
            Ok(question) => {
                let condition = |condition: &Condition| {
                    let values: Vec<&str> = condition.values.iter().map(|value| value.text.as_str()).collect();
                    format!("{} {:?} {values:?}", condition.column.text, condition.comparison)
                };
                question.conditions.iter().map(condition).collect::<Vec<_>>().join("; ")
            }
        }
    }

    #[test]
    fn comparisons_are_joined_by_and() {
        assert_eq!(spelled_out(" "), "");
        assert_eq!(spelled_out("age>=65 AND diagnosis = flu"), r#"age AtLeast ["65"]; diagnosis Equal ["flu"]"#);
        assert_eq!(
            spelled_out(r#""weight, kg" < -1.5 and d in (flu, 'broken "leg"', 'it''s', '')"#),
            r#"weight, kg Less ["-1.5"]; d Equal ["flu", "broken \"leg\"", "it's", ""]"#
        );
        assert_eq!(spelled_out("d not in (a) and e != 12***"), r#"d NotEqual ["a"]; e NotEqual ["12***"]"#);
    }

    #[test]
    fn faults_say_where_and_what_to_write() {
        for (text, wanted) in [
            (
                "age",
                "position 4 of the question: after age comes one of = != < <= > >= or in (…); put odd names in quotes",
            ),
            ("age >", "position 6 of the question: expected here: a value, such as 65 or 'broken leg'"),
            (
                "age > 3 or d = x",
                "position 9 of the question: only `and` joins comparisons; for either of two values write column in (a, b)",
            ),
            (
                "d = broken leg",
                "position 12 of the question: write `and` between comparisons, and put values with blanks in quotes",
            ),
            ("d = 'broken", "position 5 of the question: this ' is never closed"),
            ("d in flu", "position 6 of the question: expected here: ( before the list of values"),
            ("d in (flu; x)", "position 12 of the question: expected here: , or ) after a value of the list"),
            ("= 3", "position 1 of the question: expected here: a column, such as age"),
            ("é = 1 and", "position 10 of the question: expected here: a column, such as age"),
        ] {
            assert_eq!(spelled_out(text), wanted);
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_parser(text in "[a-c'\"()=!<>, and in]{0,24}") {
            let _ = parse_question(&text);
        }
    }
}
