//! How the releases of a series hang together: each names the one before by the checksum of its manifest.
//!
//! Whoever has some of the releases can see by that alone whether they are of one series. A project that was restored from a
//! backup makes a second release with a number that is out already; no reader needs more than both folders to prove it.

use std::collections::BTreeMap;

/// What a release says of its place in its series.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChainLink {
    /// The name of the series.
    pub series: String,
    /// The number of the release.
    pub number: u32,
    /// The checksum of its manifest.
    pub manifest: String,
    /// The number of the release before and the checksum of its manifest. The checksum is empty if it was made elsewhere.
    pub previous: Option<(u32, String)>,
    /// Whether it is one of several views: then others may have gone to other recipients.
    pub of_view: bool,
}

/// How releases can fail to be one series.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChainFault {
    /// Two different releases have one number.
    TwoOfOneNumber,
    /// A release names another one before it than the one that is there.
    Broken,
    /// A release between two others is not there.
    Missing,
}

/// One place where releases are not one series.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ChainBreak {
    /// What is wrong.
    pub fault: ChainFault,
    /// The place of the release that shows it.
    pub at: usize,
    /// The place of the release that it is compared with; its own, if it contradicts itself.
    pub with: usize,
}

/// Everything that shows that releases are not one series. Each series is looked at by itself; a release that says nothing
/// of its place is skipped, and one that was given twice counts once.
pub fn chain_breaks(links: &[Option<&ChainLink>]) -> Vec<ChainBreak> {
    let mut series: BTreeMap<&str, Vec<(usize, &ChainLink)>> = BTreeMap::new();
    for (at, link) in links.iter().enumerate().filter_map(|(at, link)| Some((at, (*link)?))) {
        let members = series.entry(&link.series).or_default();
        let is_again = |known: &(usize, &ChainLink)| known.1.number == link.number && known.1.manifest == link.manifest;
        if !members.iter().any(is_again) {
            members.push((at, link));
        }
    }
    let mut breaks = Vec::new();
    for members in series.values_mut() {
        members.sort_by_key(|(at, link)| (link.number, *at));
        let by_number: Vec<&[(usize, &ChainLink)]> = members.chunk_by(|a, b| a.1.number == b.1.number).collect();
        for (place, same) in by_number.iter().enumerate() {
            let first = same[0].0;
            let others = same[1..].iter().map(|(at, _)| *at);
            breaks.extend(others.map(|at| ChainBreak { fault: ChainFault::TwoOfOneNumber, at, with: first }));
            let before = place.checked_sub(1).map(|place| by_number[place]);
            breaks.extend(same.iter().filter_map(|&(at, link)| broken(at, link, before)));
            breaks.extend(before.and_then(|before| missing(before[0], same[0])));
        }
    }
    breaks
}

/// Whether a release names another one before it than those that are there with that number.
fn broken(at: usize, link: &ChainLink, before: Option<&[(usize, &ChainLink)]>) -> Option<ChainBreak> {
    let named = link.previous.as_ref();
    let fault = ChainFault::Broken;
    // It contradicts itself: the number before is one less, and nothing is before the first.
    let fits = |named: &(u32, String)| named.0 > 0 && named.0.checked_add(1) == Some(link.number);
    if !named.map_or(link.number == 1, fits) {
        return Some(ChainBreak { fault, at, with: at });
    }
    let before = before.filter(|before| before[0].1.number + 1 == link.number)?;
    let is_named = before.iter().any(|(_, other)| named.is_some_and(|named| named.1 == other.manifest));
    (!is_named).then_some(ChainBreak { fault, at, with: before[0].0 })
}

/// Whether a release between two others is not there, and should be.
fn missing(before: (usize, &ChainLink), link: (usize, &ChainLink)) -> Option<ChainBreak> {
    let between = link.1.number - before.1.number - 1;
    // One that was made elsewhere is no folder of ours.
    let made_elsewhere = between == 1 && link.1.previous.as_ref().is_some_and(|named| named.1.is_empty());
    let is_expected = !before.1.of_view && !link.1.of_view && !made_elsewhere;
    (between > 0 && is_expected).then_some(ChainBreak { fault: ChainFault::Missing, at: link.0, with: before.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words such as `s 2 b a`: series, number, own checksum, checksum of the one before (`-` for none, `*` for one made
    /// elsewhere).
    fn links(words: &[&str]) -> Vec<ChainLink> {
        let link = |words: &&str| {
            let part: Vec<&str> = words.split(' ').collect();
            let number: u32 = part[1].parse().unwrap();
            let previous = (part[3] != "-").then(|| (number.saturating_sub(1), part[3].replace('*', "")));
            ChainLink {
                series: part[0].into(),
                number,
                manifest: part[2].into(),
                previous,
                of_view: part.get(4).is_some(),
            }
        };
        words.iter().map(link).collect()
    }

    fn told(words: &[&str]) -> Vec<(ChainFault, usize, usize)> {
        let links = links(words);
        let links: Vec<Option<&ChainLink>> = links.iter().map(Some).collect();
        chain_breaks(&links).into_iter().map(|found| (found.fault, found.at, found.with)).collect()
    }

    #[test]
    fn a_whole_series_is_not_accused() {
        assert_eq!(told(&["s 1 a -", "s 2 b a", "s 3 c b"]), []);
        // In any order, from the middle on, and one given twice.
        assert_eq!(told(&["s 3 c b", "s 2 b a", "s 3 c b"]), []);
        // Two series, and one that goes on after a release that was made elsewhere.
        assert_eq!(told(&["s 1 a -", "t 1 x -", "s 2 b a", "t 3 z *"]), []);
        // A view in between went to somebody else.
        assert_eq!(told(&["s 1 a - v", "s 3 c b v"]), []);
    }

    #[test]
    fn forks_broken_chains_and_gaps_are_found() {
        use ChainFault::{Broken, Missing, TwoOfOneNumber};
        assert_eq!(told(&["s 1 a -", "s 2 b a", "s 2 B a"]), [(TwoOfOneNumber, 2, 1)]);
        assert_eq!(told(&["s 1 a -", "s 2 b a", "s 3 c B"]), [(Broken, 2, 1)]);
        // The third follows the second of the two: only the fork is said.
        assert_eq!(told(&["s 1 a -", "s 2 b a", "s 2 B a", "s 3 c B"]), [(TwoOfOneNumber, 2, 1)]);
        assert_eq!(told(&["s 1 a -", "s 3 c b"]), [(Missing, 1, 0)]);
        assert_eq!(told(&["s 1 a -", "s 4 c *"]), [(Missing, 1, 0)]);
        assert_eq!(told(&["s 1 a x"]), [(Broken, 0, 0)]);
        assert_eq!(told(&["s 2 a -"]), [(Broken, 0, 0)]);
        assert_eq!(told(&["s 1 a -", "s 2 b *"]), [(Broken, 1, 0)]);
    }
}
