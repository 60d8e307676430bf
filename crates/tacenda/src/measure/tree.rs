//! A decision tree, to measure how well a generalised table still predicts a class.
//!
//! It follows C4.5, which paper 004 uses. A category divides into all its values, a number in two. The column with the
//! best gain ratio is taken, among those of at least average gain. A branch is pruned if its pessimistic error is no
//! less than that of a leaf (confidence 25 %). Two parts of C4.5 are left out: missing values, which are a separate
//! value here, and subtree raising.

/// One column as the tree sees it.
#[derive(Clone, Debug)]
pub struct Feature {
    /// The value of each row.
    pub codes: Vec<u32>,
    /// One past the largest value.
    pub size: u32,
    /// Whether the order of values means something.
    pub ordered: bool,
}

/// A tree, grown.
#[derive(Clone, Debug)]
pub struct Tree {
    /// What most rows here are.
    class: u32,
    fork: Option<Fork>,
}

#[derive(Clone, Debug)]
struct Fork {
    feature: usize,
    /// For a number, the largest value that goes left.
    limit: Option<u32>,
    /// One per value, or left and right. `None` if no row was there; then the answer is that of this node.
    branches: Vec<Option<Tree>>,
}

/// A way to divide some rows.
struct Split {
    limit: Option<u32>,
    gain: f64,
    ratio: f64,
}

/// At least two branches must have this many rows.
const LEAST: usize = 2;

/// The margin above the observed error rate: the 75th percentile of the normal distribution.
const CONFIDENCE: f64 = 0.674_489_75;

impl Tree {
    /// Grows a tree on the given rows.
    pub fn grow(features: &[Feature], classes: &[u32], rows: &[u32]) -> Tree {
        let mut rows = rows.to_vec();
        let kinds = classes.iter().max().map_or(1, |most| *most as usize + 1);
        grow(features, Classes { of_row: classes, kinds }, &mut rows).0
    }

    /// The predicted class of a row.
    pub fn say(&self, features: &[Feature], row: u32) -> u32 {
        let mut at = self;
        while let Some(fork) = &at.fork {
            let code = features[fork.feature].codes[row as usize];
            let branch = fork.limit.map_or(code as usize, |limit| usize::from(code > limit));
            match fork.branches.get(branch).and_then(Option::as_ref) {
                Some(next) => at = next,
                None => break,
            }
        }
        at.class
    }

    /// Percent of rows for which it is wrong.
    pub fn error(&self, features: &[Feature], classes: &[u32], rows: &[u32]) -> f64 {
        let wrong = rows.iter().filter(|&&row| self.say(features, row) != classes[row as usize]).count();
        100.0 * wrong as f64 / rows.len().max(1) as f64
    }
}

/// The classes to predict.
#[derive(Clone, Copy)]
struct Classes<'a> {
    /// The class of each row.
    of_row: &'a [u32],
    /// One past the largest class.
    kinds: usize,
}

impl Classes<'_> {
    fn none(self) -> Vec<usize> {
        vec![0; self.kinds]
    }

    fn of(self, row: u32) -> usize {
        self.of_row[row as usize] as usize
    }

    fn count(self, rows: &[u32]) -> Vec<usize> {
        let mut counts = self.none();
        rows.iter().for_each(|&row| counts[self.of(row)] += 1);
        counts
    }
}

/// A tree, and the number of errors expected on as many new rows.
fn grow(features: &[Feature], classes: Classes<'_>, rows: &mut [u32]) -> (Tree, f64) {
    let counts = classes.count(rows);
    let most = counts.iter().copied().max().unwrap_or(0);
    let class = counts.iter().position(|&count| count == most).unwrap_or(0) as u32;
    let leaf_errors = pessimistic(rows.len(), rows.len() - most);
    let leaf = (Tree { class, fork: None }, leaf_errors);
    if most == rows.len() || rows.len() < 2 * LEAST {
        return leaf;
    }
    let Some((feature, split)) = best(features, classes, rows, &counts) else { return leaf };
    let codes = &features[feature].codes;
    let branch = |row: u32| match split.limit {
        Some(limit) => u32::from(codes[row as usize] > limit),
        None => codes[row as usize],
    };
    rows.sort_by_key(|&row| branch(row));
    let count = if split.limit.is_some() { 2 } else { features[feature].size as usize };
    let mut branches = vec![None; count];
    let mut errors = 0.0;
    for part in rows.chunk_by_mut(|&a, &b| branch(a) == branch(b)) {
        let place = branch(part[0]) as usize;
        let (tree, expected) = grow(features, classes, part);
        errors += expected;
        branches[place] = Some(tree);
    }
    if errors >= leaf_errors - 0.1 {
        return leaf;
    }
    (Tree { class, fork: Some(Fork { feature, limit: split.limit, branches }) }, errors)
}

/// The best ratio among the columns whose gain is at least average.
fn best(features: &[Feature], classes: Classes<'_>, rows: &[u32], all: &[usize]) -> Option<(usize, Split)> {
    let splits: Vec<(usize, Split)> = features
        .iter()
        .enumerate()
        .filter_map(|(index, feature)| {
            let split = if feature.ordered {
                number(feature, classes, rows, all)
            } else {
                category(feature, classes, rows, all)
            };
            split.filter(|split| split.gain > 1e-9).map(|split| (index, split))
        })
        .collect();
    let average = splits.iter().map(|(_, split)| split.gain).sum::<f64>() / splits.len().max(1) as f64;
    let good = splits.into_iter().filter(|(_, split)| split.gain >= average - 1e-9);
    good.max_by(|(a, left), (b, right)| left.ratio.total_cmp(&right.ratio).then(b.cmp(a)))
}

/// Divides into all values.
fn category(feature: &Feature, classes: Classes<'_>, rows: &[u32], all: &[usize]) -> Option<Split> {
    let kinds = classes.kinds;
    let mut counts = vec![0usize; feature.size as usize * kinds];
    for &row in rows {
        counts[feature.codes[row as usize] as usize * kinds + classes.of(row)] += 1;
    }
    let parts: Vec<&[usize]> = counts.chunks(kinds).filter(|part| part.iter().any(|&count| count > 0)).collect();
    let large = parts.iter().filter(|part| part.iter().sum::<usize>() >= LEAST).count();
    (large >= 2).then(|| split_of(&parts, rows.len(), all, None, 0.0))
}

/// Divides at the best place between two values.
fn number(feature: &Feature, classes: Classes<'_>, rows: &[u32], all: &[usize]) -> Option<Split> {
    let mut sorted: Vec<(u32, usize)> =
        rows.iter().map(|&row| (feature.codes[row as usize], classes.of(row))).collect();
    sorted.sort_unstable();
    let (mut left, mut right, mut places) = (classes.none(), all.to_vec(), 0usize);
    let mut best = None::<(f64, u32, Vec<usize>, Vec<usize>)>;
    for at in 0..sorted.len() - 1 {
        left[sorted[at].1] += 1;
        right[sorted[at].1] -= 1;
        if sorted[at].0 == sorted[at + 1].0 {
            continue;
        }
        places += 1;
        if at + 1 < LEAST || sorted.len() - at - 1 < LEAST {
            continue;
        }
        let rest = bits(&left) + bits(&right);
        if best.as_ref().is_none_or(|(least, ..)| rest < *least) {
            best = Some((rest, sorted[at].0, left.clone(), right.clone()));
        }
    }
    let (_, limit, left, right) = best?;
    // C4.5 subtracts the cost of choosing the place.
    let charge = (places as f64).log2() / rows.len() as f64;
    Some(split_of(&[&left, &right], rows.len(), all, Some(limit), charge))
}

fn split_of(parts: &[&[usize]], rows: usize, all: &[usize], limit: Option<u32>, charge: f64) -> Split {
    let gain = (bits(all) - parts.iter().map(|part| bits(part)).sum::<f64>()) / rows as f64 - charge;
    let sizes: Vec<f64> = parts.iter().map(|part| part.iter().sum::<usize>() as f64 / rows as f64).collect();
    let information: f64 = -sizes.iter().map(|size| size * size.log2()).sum::<f64>();
    Split { limit, gain, ratio: gain / information.max(1e-9) }
}

/// The bits needed to encode the classes of these rows.
fn bits(counts: &[usize]) -> f64 {
    let all = counts.iter().sum::<usize>() as f64;
    counts.iter().filter(|&&count| count > 0).map(|&count| -(count as f64) * (count as f64 / all).log2()).sum()
}

/// The errors to expect where `errors` of `rows` were seen: the upper end of the confidence interval.
fn pessimistic(rows: usize, errors: usize) -> f64 {
    let (n, z) = (rows as f64, CONFIDENCE);
    if rows == 0 {
        return 0.0;
    }
    let f = errors as f64 / n;
    let upper =
        (f + z * z / (2.0 * n) + z * (f / n - f * f / n + z * z / (4.0 * n * n)).max(0.0).sqrt()) / (1.0 + z * z / n);
    n * upper
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feature(codes: Vec<u32>, ordered: bool) -> Feature {
        Feature { size: codes.iter().max().unwrap() + 1, codes, ordered }
    }

    #[test]
    fn what_is_there_to_learn_is_learned() {
        let rows: Vec<u32> = (0..400).collect();
        let number = feature(rows.clone(), true);
        let colour = feature(rows.iter().map(|row| row % 3).collect(), false);
        // Red ones above 200, and all blue ones.
        let classes: Vec<u32> =
            rows.iter().map(|row| u32::from(row % 3 == 2 || (row % 3 == 0 && *row > 200))).collect();
        let features = [number, colour];
        let tree = Tree::grow(&features, &classes, &rows);
        assert_eq!(tree.error(&features, &classes, &rows), 0.0);
    }

    #[test]
    fn more_than_two_classes_are_told_apart() {
        let rows: Vec<u32> = (0..300).collect();
        let colour = feature(rows.iter().map(|row| row % 3).collect(), false);
        let classes: Vec<u32> = rows.iter().map(|row| [4, 0, 2][*row as usize % 3]).collect();
        let features = [colour];
        let (training, test) = rows.split_at(200);
        assert_eq!(Tree::grow(&features, &classes, training).error(&features, &classes, test), 0.0);
        let guess = Tree::grow(&[], &classes, training).error(&[], &classes, &rows);
        assert!((guess - 200.0 / 3.0).abs() < 0.1, "one class in three is right by itself: {guess}");
    }

    #[test]
    fn noise_is_cut_off() {
        let rows: Vec<u32> = (0..400).collect();
        let noise = feature(rows.iter().map(|row| row * 7919 % 20).collect(), false);
        let classes: Vec<u32> = rows.iter().map(|row| u32::from(row * 31 % 10 == 0)).collect();
        let tree = Tree::grow(std::slice::from_ref(&noise), &classes, &rows);
        let leaf = Tree::grow(&[], &classes, &rows);
        assert!(leaf.fork.is_none());
        assert!(tree.error(&[noise], &classes, &rows) <= 10.0);
    }
}
