//! Texts that no notation reads but that a person would read as a range or a mask: `20 to 29 years`, `20~29`,
//! `10k-20k`, `age 20-29`, `47XXX`.
//!
//! If such cells were read as labels, they would count as disjoint values, and the audit would be wrong about the
//! people in them. So they are refused. An option declares that the texts are labels.

use crate::ingest::foreign::cell::DASHES;

/// Signs of money before a number.
const CURRENCIES: [char; 4] = ['$', '€', '£', '¥'];

/// Words of a range with one open end.
const ENDLESS: &[&str] = &["over", "above", "more", "older", "up", "under", "below", "less", "fewer", "younger"];

/// Words between the ends of a range.
const JOINS: &[&str] = &["to", "through", "thru", "until", "till", "bis"];

/// What a text is made of.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A number, perhaps with a unit or separators between its digits.
    Number,
    /// A dash, or a sign used as one.
    Dash,
    /// Anything else, in lower case.
    Word(String),
}

/// Whether a person would read a range, an open range or a mask.
pub fn is_lookalike(text: &str) -> bool {
    !is_month(text) && (is_range(text) || is_masked(text) || is_pair(text) || text.starts_with("Interval("))
}

/// `2020-01`: a year and a month.
pub fn is_month(text: &str) -> bool {
    let digits = |text: &str, count: usize| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_month = |month: &str| digits(month, 2) && ("01"..="12").contains(&month);
    text.split_once('-').is_some_and(|(year, month)| digits(year, 4) && is_month(month))
}

fn is_range(text: &str) -> bool {
    let has_digit = text.contains(|char: char| char.is_ascii_digit());
    let begins_with_number = text.trim_start_matches(CURRENCIES).starts_with(|char: char| char.is_ascii_digit());
    if has_digit && text.contains(['<', '>', '≤', '≥']) || begins_with_number && text.contains('+') {
        return true;
    }
    let tokens = tokens(text);
    let is_word = |token: &Token, words: &[&str]| matches!(token, Token::Word(word) if words.contains(&word.as_str()));
    let joins = |token: &Token| *token == Token::Dash || is_word(token, JOINS);
    let are_units = |tokens: &[Token]| tokens.len() <= 2 && tokens.iter().all(|token| matches!(token, Token::Word(_)));
    match tokens.as_slice() {
        [Token::Number, join, Token::Number, units @ ..] if joins(join) => are_units(units) || are_numbers(&tokens),
        [Token::Number, Token::Word(_), join, Token::Number, units @ ..] if joins(join) => are_units(units),
        [Token::Word(_), Token::Number, join, Token::Number, units @ ..] if joins(join) => are_units(units),
        [Token::Number, .., and, end] if is_word(and, &["and", "or"]) => is_word(end, ENDLESS),
        [side, Token::Number, units @ ..] if is_word(side, ENDLESS) => are_units(units),
        [up, to, Token::Number, ..] if is_word(up, &["up"]) => is_word(to, &["to"]),
        [Token::Number, plus] if is_word(plus, &["plus"]) => true,
        [Token::Number, ..] => are_numbers(&tokens),
        _ => false,
    }
}

/// Whether the text is two numbers with one range sign or word between them: `10 000-20 000`, `2020-01 to 2020-06`.
fn are_numbers(tokens: &[Token]) -> bool {
    let is_join = |token: &Token| matches!(token, Token::Word(word) if JOINS.contains(&word.as_str()));
    let by_words: Vec<&[Token]> = tokens.split(is_join).collect();
    let sides: Vec<&[Token]> = match by_words.len() {
        1 => tokens.split(|token| *token == Token::Dash).collect(),
        _ => by_words,
    };
    let is_number = |token: &Token| matches!(token, Token::Number | Token::Dash);
    sides.len() == 2 && sides.iter().all(|side| !side.is_empty() && side.iter().all(is_number))
}

fn tokens(text: &str) -> Vec<Token> {
    let is_dash = |char: char| DASHES.contains(&char) || char == '~';
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let end = match is_dash(first) {
            true => first.len_utf8(),
            false => rest.find(|char: char| char.is_whitespace() || is_dash(char)).unwrap_or(rest.len()),
        };
        let (token, behind) = rest.split_at(end);
        rest = behind.trim_start();
        let token = token.trim_start_matches(CURRENCIES);
        if !token.is_empty() {
            tokens.push(match (is_dash(first), is_number(token)) {
                (true, _) => Token::Dash,
                (false, true) => Token::Number,
                (false, false) => Token::Word(token.to_lowercase()),
            });
        }
    }
    tokens
}

/// `10`, `10.5`, `10'000`, `10%`, `10k`, `29yrs`, `01/02/2020`; not `7th`, which is a name.
fn is_number(token: &str) -> bool {
    let is_mark = |char: char| char.is_ascii_digit() || ".,%'’/".contains(char);
    let unit = token.trim_start_matches(is_mark).trim_end_matches(CURRENCIES);
    token.starts_with(|char: char| char.is_ascii_digit())
        && unit.len() <= 6
        && unit.chars().all(char::is_alphabetic)
        && !["st", "nd", "rd", "th"].contains(&unit.to_lowercase().as_str())
}

/// Digits, followed by signs for digits that were removed: `47XXX`, `47###`, `47--`, `47??`.
fn is_masked(text: &str) -> bool {
    let mask = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let least = if mask.starts_with('#') { 1 } else { 2 };
    let is_mask = |sign: char| mask.chars().all(|char| char == sign);
    mask.len() < text.len() && mask.len() >= least && ['X', 'x', '#', '_', '?', '-'].into_iter().any(is_mask)
}

/// `20,29`: two numbers, or one number with a decimal comma.
fn is_pair(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_grouped = || super::thousands::without_commas(text).is_some();
    text.split_once(',').is_some_and(|(lo, hi)| is_digits(lo.trim()) && is_digits(hi.trim())) && !is_grouped()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_person_reads_as_a_range_is_no_label() {
        let ranges = "20 to 29 years|20-29 years|20-29y|20-29yrs|10k-20k|$10k-$20k|65+ yrs|65 years+|20~29|20,29|20, 29|\
                      age 20-29|Ages 20 to 29|20 through 29|20 to <30|20<=x<30|=>20|10 000-20 000|10'000-20'000|\
                      01/02/2020-05/02/2020|Interval(20, 30, closed='left')|47XXX|47##|479#|47---|47__|1990-95|\
                      2020-01 to 2020-06|02138-02145|85 years and over|under 5 years old|up to 40|65 plus|over 65s|€ 10 – € 20|10%-20%";
        for text in ranges.split('|') {
            assert!(is_lookalike(text), "{text}");
        }
        let labels = "7th-8th|A00-B99|24-hour|New to town|12-34-56|3 rooms|9 to 5 with a long break|3-4 W Main St|2020-01|\
                      A+|0-|B-|1,000|X|12X|next to 5 others|Flat 3|E11.9|under|G3-x|HS-grad|10th";
        for text in labels.split('|') {
            assert!(!is_lookalike(text), "{text}");
        }
    }
}
