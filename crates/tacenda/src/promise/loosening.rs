//! What may follow a promise within one series, and what may not.
//!
//! A weaker promise is refused. So is a stronger one that past releases did not keep: a promise cannot be strengthened
//! after the fact. Each promise says in `may_follow` how each of its parameters is judged.

use std::fmt;

/// Why a policy may not follow another one in the same series.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Looser(String);

impl Looser {
    /// A refusal with this reason.
    pub fn because(why: impl Into<String>) -> Looser {
        Looser(why.into())
    }

    /// The promise is another one.
    pub fn another_promise() -> Looser {
        Looser("another promise needs a new series".into())
    }

    /// Refuses unless a number stayed or grew. An absent number counts as less than any other.
    pub fn unless_at_least(key: &str, before: Option<u32>, after: Option<u32>) -> Result<(), Looser> {
        let (before, after) = (before.unwrap_or(0), after.unwrap_or(0));
        if after < before {
            return Err(Looser(format!(
                "{key} was {before} at the last release: a smaller one would break what was \
                 promised"
            )));
        }
        Ok(())
    }

    /// Refuses any change of a number on which the promise to people published so far depends.
    pub fn unless_kept(key: &str, before: Option<u32>, after: Option<u32>) -> Result<(), Looser> {
        Looser::unless_at_least(key, before, after)?;
        match (before, after) {
            (before, Some(after)) if before.unwrap_or(0) < after => Err(Looser(format!(
                "{key} was {}: the people published so far are in groups with fewer than {after}; that needs a new \
                 series",
                before.map_or("not given".into(), |before| before.to_string())
            ))),
            _ => Ok(()),
        }
    }

    /// Refuses any change of a setting.
    pub fn unless_same<T: PartialEq + ?Sized>(key: &str, before: &T, after: &T) -> Result<(), Looser> {
        match before == after {
            true => Ok(()),
            false => Err(Looser(format!("a series cannot change its {key}: that needs a new series"))),
        }
    }
}

impl fmt::Display for Looser {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
