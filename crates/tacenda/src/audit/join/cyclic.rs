//! The kernel of views that cannot be taken apart: which combinations lie in some assignment of all rows.
//!
//! # Definition
//! Rows that agree in all columns that join views are of one kind. A combination is one kind of every view, such that
//! any two of them can be one person. An assignment uses combinations so that every kind is used as often as it has
//! rows. The kernel is the set of combinations that some assignment uses.
//!
//! # Steps (science A4.8-d)
//! An assignment proves all combinations in it. A walk looks for one by exchanging rows; it is quick and may give up.
//! Only a search of all possibilities shows that there is none. The search excludes what pairs of views rule out, and
//! splits what nothing joins. It places the row with the fewest choices next, and remembers its answers.
//!
//! # Not concluded
//! Steps are counted. If they do not suffice, there is no answer.

use crate::model::Rng;
use crate::space::matching::Matching;
use crate::space::ties::Ties;
use rustc_hash::FxHashMap;

/// The steps did not suffice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Spent;

/// The steps that listing one combination costs, because it takes memory.
const LISTED: u64 = 16;

/// The greatest depth of the search, in rows placed.
const DEEPEST: usize = 512;

/// How many combinations the walk tries for one row.
const LOOKS: usize = 16;

/// The search for assignments.
struct Search {
    views: usize,
    /// Per kind, how many rows it has. The kinds of all views are numbered consecutively.
    rows: Vec<u32>,
    /// The first kind of each view, and one past the last.
    starts: Vec<u32>,
    /// The combinations, `views` kinds each.
    kinds: Vec<u32>,
    /// Per kind, the combinations with it that are not ruled out from the start.
    with: Vec<Vec<u32>>,
    /// Answers so far: for numbers of rows left of each kind, an assignment of these rows, if there is one.
    known: FxHashMap<Box<[u32]>, Option<Vec<u32>>>,
    rng: Rng,
    /// The most exchanges of a walk: at first, and after pairs of views did not rule the combination out.
    exchanges: (usize, usize),
    steps: u64,
}

/// Some rows placed: how often each combination is used, and how many rows of each kind wait.
struct Placed {
    used: Vec<u32>,
    /// Per kind, the rows in combinations that may be given up; in `waiting`, the rows that wait.
    held: Vec<u32>,
    waiting: Vec<u32>,
    /// The waiting rows of the first view.
    queue: Vec<u32>,
    /// What was changed: a combination, and whether it was taken up or given up.
    changes: Vec<(u32, bool)>,
}

/// The combinations that some assignment uses, each as one kind per view; `None` where there is no assignment. `rows`
/// says per view how many rows each kind has.
pub(super) fn kernel(
    rows: &[Vec<u32>],
    can_meet: impl Fn((usize, usize), (usize, usize)) -> bool,
    steps: &mut u64,
) -> Result<Option<Vec<Box<[u32]>>>, Spent> {
    let mut search = Search::new(rows, can_meet, *steps)?;
    let answer = search.kernel();
    *steps = search.steps;
    let of_view = |combination: usize| -> Box<[u32]> {
        search.of(combination).iter().zip(&search.starts).map(|(kind, start)| kind - start).collect()
    };
    Ok(answer?.map(|is_used| (0..is_used.len()).filter(|&at| is_used[at]).map(of_view).collect()))
}

impl Search {
    fn new(
        rows: &[Vec<u32>],
        can_meet: impl Fn((usize, usize), (usize, usize)) -> bool,
        steps: u64,
    ) -> Result<Search, Spent> {
        let mut starts = vec![0];
        for kinds in rows {
            starts.push(starts[starts.len() - 1] + kinds.len() as u32);
        }
        let mut search = Search {
            views: rows.len(),
            rows: rows.concat(),
            starts,
            kinds: Vec::new(),
            with: Vec::new(),
            known: FxHashMap::default(),
            rng: Rng::from_number(0),
            exchanges: (1 << 8, 1 << 14),
            steps,
        };
        search.list(&can_meet, &mut Vec::new())?;
        search.index(0..search.len() as u32);
        Ok(search)
    }

    fn len(&self) -> usize {
        self.kinds.len() / self.views
    }

    fn of(&self, combination: usize) -> &[u32] {
        &self.kinds[combination * self.views..(combination + 1) * self.views]
    }

    fn spend(&mut self, steps: u64) -> Result<(), Spent> {
        self.steps = self.steps.checked_sub(steps).ok_or(Spent)?;
        Ok(())
    }

    /// Lists every choice of one kind per view in which all pairs can meet.
    fn list(
        &mut self,
        can_meet: &impl Fn((usize, usize), (usize, usize)) -> bool,
        chosen: &mut Vec<usize>,
    ) -> Result<(), Spent> {
        let view = chosen.len();
        if view == self.views {
            self.kinds.extend(chosen.iter().zip(&self.starts).map(|(&kind, start)| kind as u32 + start));
            return self.spend(LISTED);
        }
        for kind in 0..(self.starts[view + 1] - self.starts[view]) as usize {
            self.spend(1)?;
            if chosen.iter().enumerate().all(|(other, &theirs)| can_meet((other, theirs), (view, kind))) {
                chosen.push(kind);
                self.list(can_meet, chosen)?;
                chosen.pop();
            }
        }
        Ok(())
    }

    fn index(&mut self, combinations: impl Iterator<Item = u32>) {
        self.with = vec![Vec::new(); self.rows.len()];
        for combination in combinations {
            for at in 0..self.views {
                self.with[self.kinds[combination as usize * self.views + at] as usize].push(combination);
            }
        }
    }

    fn kernel(&mut self) -> Result<Option<Vec<bool>>, Spent> {
        let rows = self.rows.clone();
        let Some(open) = self.narrow(&rows)? else { return Ok(None) };
        self.index(open.iter().copied());
        let mut placed = Placed::nobody(self);
        let people = placed.queue.len();
        if !self.exchange(&mut placed, self.exchanges.0 * people)? {
            let Some(found) = self.seek(&rows, 0)? else { return Ok(None) };
            placed = Placed::everybody(self, &found);
        }
        let mut is_used: Vec<bool> = placed.used.iter().map(|&used| used > 0).collect();
        for combination in open.into_iter().map(|combination| combination as usize) {
            if is_used[combination] {
                continue;
            }
            let mut left = rows.clone();
            self.of(combination).iter().for_each(|&kind| left[kind as usize] -= 1);
            let mut is_there = self.walk(&mut placed, combination, self.exchanges.0)?;
            if !is_there && self.narrow(&left)?.is_some() {
                is_there = self.walk(&mut placed, combination, self.exchanges.1)?;
                if !is_there && let Some(found) = self.seek(&left, 0)? {
                    is_used[combination] = true;
                    found.iter().for_each(|&at| is_used[at as usize] = true);
                }
            }
            if is_there {
                placed.changes.iter().for_each(|&(at, _)| is_used[at as usize] |= placed.used[at as usize] > 0);
            }
        }
        Ok(Some(is_used))
    }

    /// Changes the assignment into one that uses a combination. Returns `false`, with the assignment as it was, if that
    /// did not succeed.
    fn walk(&mut self, placed: &mut Placed, combination: usize, most: usize) -> Result<bool, Spent> {
        placed.changes.clear();
        self.make_room(placed, combination)?;
        let is_there = self.exchange(placed, most)?;
        if is_there {
            self.hold(placed, combination);
        } else {
            placed.undo(self);
        }
        Ok(is_there)
    }

    /// Uses a combination whose rows were freed by `make_room`.
    fn hold(&self, placed: &mut Placed, combination: usize) {
        placed.used[combination] += 1;
        placed.changes.push((combination as u32, true));
        self.of(combination).iter().for_each(|&kind| placed.held[kind as usize] += 1);
    }

    /// Frees one row of each kind of a combination, so that the combination can use them.
    fn make_room(&mut self, placed: &mut Placed, combination: usize) -> Result<(), Spent> {
        for at in 0..self.views {
            let kind = self.kinds[combination * self.views + at];
            if placed.waiting[kind as usize] == 0 {
                self.give_up(placed, kind)?;
            }
            placed.waiting[kind as usize] -= 1;
            if at == 0 {
                let place = placed.queue.iter().position(|&waiting| waiting == kind).expect("the row waits");
                placed.queue.swap_remove(place);
            }
        }
        Ok(())
    }

    /// Gives up some combination that uses a row of this kind. There is one.
    fn give_up(&mut self, placed: &mut Placed, kind: u32) -> Result<(), Spent> {
        let count = self.with[kind as usize].len();
        let first = self.rng.below(count as u64) as usize;
        let mut around = (0..count).map(|at| self.with[kind as usize][(first + at) % count] as usize).enumerate();
        let (tried, combination) = around.find(|(_, at)| placed.used[*at] > 0).expect("a row of the kind is held");
        self.spend(tried as u64 + 1)?;
        placed.used[combination] -= 1;
        placed.changes.push((combination as u32, false));
        for &kind in self.of(combination) {
            placed.held[kind as usize] -= 1;
            placed.waiting[kind as usize] += 1;
        }
        placed.queue.push(self.of(combination)[0]);
        Ok(())
    }

    /// Places the rows that wait, giving up other combinations if necessary. Returns `false` if it does not finish.
    fn exchange(&mut self, placed: &mut Placed, most: usize) -> Result<bool, Spent> {
        for _ in 0..most {
            if placed.queue.is_empty() {
                return Ok(true);
            }
            let place = self.rng.below(placed.queue.len() as u64) as usize;
            let Some(combination) = self.choose(placed, placed.queue[place])? else { continue };
            placed.queue.swap_remove(place);
            for at in 0..self.views {
                let kind = self.kinds[combination * self.views + at];
                if placed.waiting[kind as usize] == 0 {
                    self.give_up(placed, kind)?;
                }
                placed.waiting[kind as usize] -= 1;
            }
            self.hold(placed, combination);
        }
        Ok(placed.queue.is_empty())
    }

    /// A combination for a waiting row that takes little from others. Now and then a random one, to leave dead ends.
    fn choose(&mut self, placed: &Placed, kind: u32) -> Result<Option<usize>, Spent> {
        let count = self.with[kind as usize].len();
        let looks = count.min(if self.rng.below(8) == 0 { 1 } else { LOOKS });
        self.spend(looks as u64 + 1)?;
        let first = self.rng.below(count.max(1) as u64) as usize;
        let around = (0..looks).map(|at| self.with[kind as usize][(first + at) % count] as usize);
        let waits = |kind: u32| placed.waiting[kind as usize] > 0;
        let can_be = |at: &usize| self.of(*at).iter().all(|&kind| waits(kind) || placed.held[kind as usize] > 0);
        let taken = |at: usize| self.of(at).iter().filter(|&&kind| !waits(kind)).count();
        Ok(around.filter(can_be).min_by_key(|&at| taken(at)))
    }

    /// The combinations that remain possible for these numbers of rows per kind: those whose pairs lie in an assignment
    /// of every two views, repeated until nothing changes. `None` if two views have no assignment.
    fn narrow(&mut self, left: &[u32]) -> Result<Option<Vec<u32>>, Spent> {
        let is_left = |at: &u32| self.of(*at as usize).iter().all(|&kind| left[kind as usize] > 0);
        let first = (0..self.starts[1] as usize).filter(|&kind| left[kind] > 0);
        let mut open: Vec<u32> = first.flat_map(|kind| self.with[kind].iter().copied().filter(is_left)).collect();
        loop {
            let before = open.len();
            for b in 1..self.views {
                for a in 0..b {
                    self.spend((open.len() + self.rows.len()) as u64)?;
                    let pair = |at: &u32| {
                        let kinds = self.of(*at as usize);
                        (kinds[a] - self.starts[a], kinds[b] - self.starts[b])
                    };
                    let mut arcs: Vec<(u32, u32)> = open.iter().map(pair).collect();
                    arcs.sort_unstable();
                    arcs.dedup();
                    let of_view =
                        |view: usize| left[self.starts[view] as usize..self.starts[view + 1] as usize].to_vec();
                    let matching = Matching { supplies: of_view(a), capacities: of_view(b), arcs };
                    let Some(usable) = matching.usable_arcs() else { return Ok(None) };
                    let is_usable = |at: &u32| usable[matching.arcs.binary_search(&pair(at)).expect("it is listed")];
                    open.retain(is_usable);
                }
            }
            if open.len() == before {
                return Ok(Some(open));
            }
        }
    }

    /// The combinations of an assignment of the rows left, by trying all; `None` if there is none.
    fn seek(&mut self, left: &[u32], depth: usize) -> Result<Option<Vec<u32>>, Spent> {
        if let Some(known) = self.known.get(left) {
            return Ok(known.clone());
        }
        if depth == DEEPEST {
            return Err(Spent);
        }
        let found = match self.narrow(left)? {
            Some(open) if open.is_empty() => Some(Vec::new()),
            Some(open) => self.seek_among(left, &open, depth)?,
            None => None,
        };
        if found.is_none() {
            self.known.insert(left.into(), None);
        }
        Ok(found)
    }

    fn seek_among(&mut self, left: &[u32], open: &[u32], depth: usize) -> Result<Option<Vec<u32>>, Spent> {
        let parts = self.parts(left, open);
        if parts.len() > 1 {
            let mut all = Vec::new();
            for part in parts {
                let Some(found) = self.seek(&part, depth + 1)? else { return Ok(None) };
                all.extend_from_slice(&found);
                self.known.insert(part.into(), Some(found));
            }
            return Ok(Some(all));
        }
        let mut choices: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &combination in open {
            for &kind in self.of(combination as usize) {
                choices.entry(kind).or_default().push(combination);
            }
        }
        let fewest = choices.into_iter().min_by_key(|(kind, choices)| (choices.len(), *kind));
        for combination in fewest.expect("something is open").1 {
            let mut rest = left.to_vec();
            self.of(combination as usize).iter().for_each(|&kind| rest[kind as usize] -= 1);
            if let Some(mut found) = self.seek(&rest, depth + 1)? {
                found.push(combination);
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The rows left, split into parts that no combination joins, the smallest first.
    fn parts(&self, left: &[u32], open: &[u32]) -> Vec<Vec<u32>> {
        let mut ties = Ties::new(left.len());
        for &combination in open {
            let kinds = self.of(combination as usize);
            kinds[1..].iter().for_each(|&kind| ties.tie(kinds[0], kind));
        }
        let mut parts: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (kind, &rows) in left.iter().enumerate().filter(|(_, rows)| **rows > 0) {
            parts.entry(ties.find(kind as u32)).or_insert_with(|| vec![0; left.len()])[kind] = rows;
        }
        let mut parts: Vec<Vec<u32>> = parts.into_values().collect();
        parts.sort_unstable_by_key(|part| (part.iter().filter(|rows| **rows > 0).count(), part.clone()));
        parts
    }
}

impl Placed {
    /// No row is placed yet.
    fn nobody(search: &Search) -> Placed {
        let rows = &search.rows;
        Placed {
            used: vec![0; search.len()],
            held: vec![0; rows.len()],
            waiting: rows.clone(),
            queue: (0..search.starts[1]).flat_map(|kind| vec![kind; rows[kind as usize] as usize]).collect(),
            changes: Vec::new(),
        }
    }

    /// All rows are placed by these combinations.
    fn everybody(search: &Search, chosen: &[u32]) -> Placed {
        let mut placed = Placed { held: search.rows.clone(), queue: Vec::new(), ..Placed::nobody(search) };
        placed.waiting.fill(0);
        chosen.iter().for_each(|&combination| placed.used[combination as usize] += 1);
        placed
    }

    /// Restores the state before the changes, in which all rows were placed.
    fn undo(&mut self, search: &Search) {
        for (combination, is_taken_up) in self.changes.drain(..).rev() {
            let used = &mut self.used[combination as usize];
            *used = if is_taken_up { *used - 1 } else { *used + 1 };
        }
        self.held.clone_from(&search.rows);
        self.waiting.fill(0);
        self.queue.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// People with three columns, and how many rows three views have, each with two of the columns.
    fn ring(rng: &mut Rng, count: usize, values: usize) -> (Vec<[usize; 3]>, Vec<Vec<u32>>) {
        let mut code = || rng.below(values as u64).min(rng.below(values as u64)) as usize;
        let people: Vec<[usize; 3]> = (0..count).map(|_| [code(), code(), code()]).collect();
        let mut rows = vec![vec![0; values * values]; 3];
        for codes in &people {
            kinds(codes, values).iter().zip(&mut rows).for_each(|(&kind, rows)| rows[kind as usize] += 1);
        }
        (people, rows)
    }

    fn kinds(codes: &[usize; 3], values: usize) -> Box<[u32]> {
        (0..3).map(|view| (codes[view] * values + codes[(view + 1) % 3]) as u32).collect()
    }

    /// Neighbours share the column between them.
    fn shares(values: usize) -> impl Fn((usize, usize), (usize, usize)) -> bool {
        move |(a, own), (b, theirs)| {
            if (a, b) == (0, 2) { own / values == theirs % values } else { own % values == theirs / values }
        }
    }

    type CanMeet<'a> = &'a dyn Fn((usize, usize), (usize, usize)) -> bool;

    /// Everything that some assignment of three views uses, by trying all rows for one person after another.
    fn by_trying(
        left: &mut [Vec<u32>],
        can_meet: CanMeet<'_>,
        chosen: &mut Vec<Box<[u32]>>,
        used: &mut BTreeSet<Box<[u32]>>,
    ) {
        let Some(first) = left[0].iter().position(|&rows| rows > 0) else {
            used.extend(chosen.iter().cloned());
            return;
        };
        for second in (0..left[1].len()).filter(|&second| can_meet((0, first), (1, second))) {
            for third in 0..left[2].len() {
                let kinds = [first, second, third];
                if can_meet((0, first), (2, third))
                    && can_meet((1, second), (2, third))
                    && (0..3).all(|view| left[view][kinds[view]] > 0)
                {
                    (0..3).for_each(|view| left[view][kinds[view]] -= 1);
                    chosen.push(kinds.map(|kind| kind as u32).into());
                    by_trying(left, can_meet, chosen, used);
                    chosen.pop();
                    (0..3).for_each(|view| left[view][kinds[view]] += 1);
                }
            }
        }
    }

    /// Whether there is an assignment. The kernel is what all assignments use, with the walk and without it.
    fn check(rows: &[Vec<u32>], can_meet: CanMeet<'_>) -> bool {
        let mut expected = BTreeSet::new();
        by_trying(&mut rows.to_vec(), can_meet, &mut Vec::new(), &mut expected);
        for exchanges in [(1 << 8, 1 << 14), (0, 0)] {
            let mut search = Search::new(rows, can_meet, 1 << 24).unwrap();
            search.exchanges = exchanges;
            let is_used = search.kernel().unwrap();
            let of = |at: usize| search.of(at).iter().zip(&search.starts).map(|(kind, start)| kind - start).collect();
            let kept = is_used.iter().flat_map(|used| (0..used.len()).filter(|&at| used[at])).map(of);
            assert_eq!(kept.collect::<BTreeSet<Box<[u32]>>>(), expected, "{rows:?}");
            assert_eq!(is_used.is_some(), !expected.is_empty(), "{rows:?}");
        }
        !expected.is_empty()
    }

    #[test]
    fn the_search_of_everything_needs_no_walk() {
        let mut settled = [0, 0];
        for seed in 0..400 {
            let mut rng = Rng::from_number(seed);
            let count = 4 + rng.below(4) as usize;
            let (_, mut rows) = ring(&mut rng, count, 3);
            for _ in 0..rng.below(6) {
                // Two rows exchange a value: perhaps nobody fits any more, though each two views still do.
                let (from, to) = (rng.below(9) as usize, rng.below(9) as usize);
                let (other_from, other_to) = (from / 3 * 3 + to % 3, to / 3 * 3 + from % 3);
                if from != to && rows[2][from] > 0 && rows[2][to] > 0 {
                    [from, to].iter().for_each(|&kind| rows[2][kind] -= 1);
                    [other_from, other_to].iter().for_each(|&kind| rows[2][kind] += 1);
                }
            }
            settled[usize::from(check(&rows, &shares(3)))] += 1;
            // Everyone of a kind of their own, and anybody may meet anybody.
            let meets: Vec<bool> = (0..3 * 49).map(|_| rng.below(9) < 5).collect();
            let can_meet =
                |(a, own): (usize, usize), (b, theirs): (usize, usize)| meets[(a + b - 1) * 49 + own * 7 + theirs];
            settled[usize::from(check(&vec![vec![1; 7]; 3], &can_meet))] += 1;
        }
        assert!(settled.iter().all(|&count| count > 100), "{settled:?}");
    }

    /// As many people and values as a real ring of views has: settled within the steps, and the truth is among it.
    #[test]
    fn a_ring_of_two_thousand_people_is_settled() {
        let (people, rows) = ring(&mut Rng::from_number(1), 2000, 6);
        let mut steps = 1 << 20;
        let kept = kernel(&rows, shares(6), &mut steps).unwrap().unwrap();
        assert!(people.iter().all(|codes| kept.contains(&kinds(codes, 6))));
    }
}
