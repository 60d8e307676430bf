//! Numbers and lists as people read them.

pub use crate::model::{counted, number, people, percent};

/// The last step of a story, if matching everyone at once rules out more than the person's own groups.
pub const MATCHED: &str = "Everyone is matched at once: each person needs a row of their own in every release that \
                           has the person. A value that leaves someone without a row is impossible.";

/// The text for people below a threshold of one, which nobody falls below.
pub fn no_threshold(is_promised: bool) -> &'static str {
    if is_promised { "the promise sets no threshold" } else { "no threshold is set" }
}

/// A measured number without needless digits.
pub fn decimal(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}{}", number(value.abs() as u64));
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// `1`, `1 and 2`, `1, 2 and 3`.
pub fn list<T: ToString>(items: &[T]) -> String {
    match items {
        [] => String::new(),
        [only] => only.to_string(),
        [rest @ .., last] => {
            let rest: Vec<String> = rest.iter().map(ToString::to_string).collect();
            format!("{} and {}", rest.join(", "), last.to_string())
        }
    }
}

/// A text of at most `most` letters.
pub fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}

/// A sentence with its first letter in upper case.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// A text from a file without characters that a terminal or an XML reader would interpret.
pub fn clean(text: &str) -> String {
    let is_plain =
        |letter: char| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}');
    text.chars().map(|letter| if is_plain(letter) { letter } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_from_a_file_gives_no_commands() {
        assert_eq!(clean("a\u{1b}[31mb\nc é"), "a\u{fffd}[31mb\u{fffd}c é");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!((percent(0.25), percent(0.0123), percent(0.0)), ("25.0 %".into(), "1.23 %".into(), "0.0 %".into()));
        assert_eq!((decimal(2.0), decimal(0.3333333), decimal(-1.5)), ("2".into(), "0.3333".into(), "-1.5".into()));
        assert_eq!((list(&[1]), list(&[1, 2]), list(&[1, 2, 3])), ("1".into(), "1 and 2".into(), "1, 2 and 3".into()));
    }
}
