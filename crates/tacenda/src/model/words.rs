//! Numbers, counted things and digests as people read them.

/// A whole number in groups of three: `12,345`.
pub fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// `1 person`, `2 people`.
pub fn people(count: u64) -> String {
    counted(count, "person", "people")
}

/// A count with its word.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// A share as a percentage with a sensible number of decimals.
pub fn percent(share: f64) -> String {
    if share == 0.0 || share.abs() >= 0.1 {
        format!("{:.1} %", share * 100.0)
    } else {
        format!("{:.2} %", share * 100.0)
    }
}

/// Bytes in lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).expect("four bits");
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_words() {
        assert_eq!((number(7), number(1234567)), ("7".into(), "1,234,567".into()));
        assert_eq!((people(1), people(0)), ("1 person".into(), "0 people".into()));
        assert_eq!((counted(1, "row", "rows"), counted(12345, "row", "rows")), ("1 row".into(), "12,345 rows".into()));
    }
}
