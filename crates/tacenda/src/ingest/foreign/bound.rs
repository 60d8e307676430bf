//! The end of a range: a number to any number of decimals, or a day.

use crate::ingest::encode::quick_date;
use crate::model::Domain;

/// The most digits a number may have.
const MOST_DIGITS: usize = 30;

/// A number or a day, ordered by size. A column never mixes days and numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NumberOrDay {
    digits: i128,
    decimals: u8,
    is_day: bool,
}

/// Reads a number or a date such as 2026-11-15. A leading zero makes a code, not a number.
pub fn read(text: &str) -> Option<NumberOrDay> {
    number(text).or_else(|| day(text))
}

fn number(text: &str) -> Option<NumberOrDay> {
    let (negative, rest) = match (text.strip_prefix(['-', '−']), text.strip_prefix('+')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => (false, text),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok().filter(|size| size.abs() <= 30)?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole)
        || !plain(fraction)
        || whole.len() + fraction.len() == 0
        || whole.len() > 1 && whole.starts_with('0')
    {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    if whole.len() + fraction.len() > MOST_DIGITS {
        return None;
    }
    let digits = whole.bytes().chain(fraction.bytes()).fold(0i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    NumberOrDay::scaled(if negative { -digits } else { digits }, fraction.len() as i32 - exponent)
}

fn day(text: &str) -> Option<NumberOrDay> {
    let (date, time) = text.split_at_checked(10)?;
    let is_midnight = time.is_empty()
        || [" 00:00:00", "T00:00:00"].iter().any(|midnight| {
            time.strip_prefix(midnight)
                .is_some_and(|rest| rest.trim_start_matches('.').bytes().all(|byte| byte == b'0'))
        });
    let days = quick_date(date.as_bytes()).filter(|_| is_midnight)?;
    Some(NumberOrDay { digits: i128::from(days), decimals: 0, is_day: true })
}

impl NumberOrDay {
    /// The ends of a domain of numbers or dates, half open.
    pub fn ends(domain: &Domain) -> Option<(NumberOrDay, NumberOrDay)> {
        let day = |days: i64| NumberOrDay { digits: i128::from(days), decimals: 0, is_day: true };
        let number = |units: i64, decimals: u8| NumberOrDay::scaled(i128::from(units), i32::from(decimals));
        match *domain {
            Domain::Integer { lo, hi } => number(lo, 0).zip(number(hi, 0)),
            Domain::Real { lo, hi, decimals } => number(lo, decimals).zip(number(hi, decimals)),
            Domain::Date { lo, hi } => Some((day(lo), day(hi))),
            Domain::Category(_) => None,
        }
    }

    /// `digits` with this many decimals, in lowest terms. Negative `decimals` are zeros before the point.
    fn scaled(mut digits: i128, mut decimals: i32) -> Option<NumberOrDay> {
        while decimals > 0 && digits % 10 == 0 {
            digits /= 10;
            decimals -= 1;
        }
        while decimals < 0 {
            digits = digits.checked_mul(10)?;
            decimals += 1;
        }
        let decimals = u8::try_from(decimals).ok().filter(|&decimals| usize::from(decimals) <= MOST_DIGITS)?;
        (digits.abs() < 10i128.pow(MOST_DIGITS as u32)).then_some(NumberOrDay { digits, decimals, is_day: false })
    }

    /// Whether the other is the next whole number or day.
    pub fn is_before(self, other: NumberOrDay) -> bool {
        let whole = self.decimals == 0 && other.decimals == 0 && self.is_kind_of(other);
        whole && self.digits + 1 == other.digits
    }

    /// Whether it is a number below zero.
    pub fn is_negative(self) -> bool {
        self.digits < 0 && !self.is_day
    }

    /// Whether it is a day.
    pub fn is_day(self) -> bool {
        self.is_day
    }

    /// Whether both are days or both are numbers.
    pub fn is_kind_of(self, other: NumberOrDay) -> bool {
        self.is_day == other.is_day
    }

    /// How many decimals it has.
    pub fn decimals(self) -> u8 {
        self.decimals
    }

    /// The value in units of the last of `decimals` decimals, rounded down, and whether that is exact.
    pub fn units(self, decimals: u8) -> Option<(i64, bool)> {
        let more = i32::from(decimals) - i32::from(self.decimals);
        let (units, exact) = if more >= 0 {
            (self.digits.checked_mul(10i128.checked_pow(more as u32)?)?, true)
        } else {
            let scale = 10i128.checked_pow(-more as u32)?;
            (self.digits.div_euclid(scale), self.digits.rem_euclid(scale) == 0)
        };
        Some((i64::try_from(units).ok()?, exact))
    }
}

impl PartialOrd for NumberOrDay {
    fn partial_cmp(&self, other: &NumberOrDay) -> Option<std::cmp::Ordering> {
        if !self.is_kind_of(*other) {
            return None;
        }
        let (low, high) = (self.decimals.min(other.decimals), self.decimals.max(other.decimals));
        let scale = 10i128.checked_pow(u32::from(high - low))?;
        // A value that does not fit 128 bits is farther from zero than any that does.
        let mine = if self.decimals < high { self.digits.saturating_mul(scale) } else { self.digits };
        let theirs = if other.decimals < high { other.digits.saturating_mul(scale) } else { other.digits };
        Some(mine.cmp(&theirs))
    }
}
