//! The kernel of views that cannot be taken apart: which combinations lie in some assignment of all rows.
//!
//! # Definition
//! Rows alike in all that joins them are one kind. A combination is one kind of every view, each two of which
//! can be one person. An assignment uses combinations so that every kind is used as often as it has rows. The
//! kernel are the combinations that some assignment uses.
//!
//! # Steps
//! An assignment that is found is proof for all combinations in it. A walk looks for one by exchanging rows: it
//! is quick and may give up. That there is none is known only from a search of all possibilities: it places the
//! row with the fewest choices, leaves out what pairs of views rule out, and remembers what failed.
//!
//! # Not concluded
//! Steps are counted. Where they do not suffice nothing is said.

use crate::model::Rng;
use crate::space::matching::Matching;
use rustc_hash::FxHashSet;

/// The steps did not suffice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Spent;

/// What listing one combination costs: it stands in memory.
const LISTED: u64 = 16;

/// How many rows a search places at most, one inside the other.
const DEEPEST: usize = 512;

/// How many combinations the walk looks at for one row.
const LOOKS: usize = 16;

/// How often a walk exchanges rows at first, and once pairs of views do not rule out that it gets there.
const EXCHANGES: usize = 256;
const MANY_EXCHANGES: usize = 1 << 14;

/// Looking for assignments.
struct Search {
    views: usize,
    /// The kinds of all views are numbered through; per kind, how many rows it has.
    rows: Vec<u32>,
    /// The first kind of each view, and one past the last.
    starts: Vec<u32>,
    /// The combinations, `views` kinds each.
    kinds: Vec<u32>,
    /// Per combination, whether it is not ruled out from the start.
    is_open: Vec<bool>,
    /// Per kind, the combinations with it that are not.
    with: Vec<Vec<u32>>,
    /// What is left of each kind where no assignment of the rest exists.
    failed: FxHashSet<Box<[u32]>>,
    rng: Rng,
    steps: u64,
}

/// Some rows placed: how often each combination is used, and how many rows of each kind wait.
struct Placed {
    used: Vec<u32>,
    /// Per kind, the rows in combinations that may be given up, and those that wait.
    held: Vec<u32>,
    waiting: Vec<u32>,
    /// The waiting rows of the first view.
    queue: Vec<u32>,
    /// What was changed: a combination, and whether it was taken up or given up.
    changes: Vec<(u32, bool)>,
}

/// The combinations that some assignment uses, each as one kind a view; `None` where there is no assignment. `rows`
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
            is_open: Vec::new(),
            with: Vec::new(),
            failed: FxHashSet::default(),
            rng: Rng::from_number(0),
            steps,
        };
        search.list(&can_meet, &mut Vec::new())?;
        search.is_open = vec![true; search.len()];
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

    /// Lists every choice of one kind a view in which all pairs can meet.
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

    fn kernel(&mut self) -> Result<Option<Vec<bool>>, Spent> {
        let rows = self.rows.clone();
        let Some(is_open) = self.narrow(&rows)? else { return Ok(None) };
        self.is_open = is_open;
        self.with = vec![Vec::new(); rows.len()];
        for combination in (0..self.len()).filter(|&combination| self.is_open[combination]) {
            for at in 0..self.views {
                self.with[self.kinds[combination * self.views + at] as usize].push(combination as u32);
            }
        }
        let mut placed = Placed::nobody(self);
        let people = placed.queue.len();
        if !self.exchange(&mut placed, EXCHANGES + 32 * people)? {
            let Some(found) = self.seek(&rows)? else { return Ok(None) };
            placed = Placed::everybody(self, &found);
        }
        let mut is_used: Vec<bool> = placed.used.iter().map(|&used| used > 0).collect();
        for combination in 0..self.len() {
            if is_used[combination] || !self.is_open[combination] {
                continue;
            }
            let mut left = rows.clone();
            self.of(combination).iter().for_each(|&kind| left[kind as usize] -= 1);
            let mut is_there = self.walk(&mut placed, combination, EXCHANGES)?;
            if !is_there && self.narrow(&left)?.is_some() {
                is_there = self.walk(&mut placed, combination, MANY_EXCHANGES)?;
                if !is_there && let Some(found) = self.seek(&left)? {
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

    /// Goes from one assignment to another that uses a combination; `false` where it did not get there, and the
    /// assignment is as it was.
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

    /// Takes up a combination whose rows wait for nobody else.
    fn hold(&self, placed: &mut Placed, combination: usize) {
        placed.used[combination] += 1;
        placed.changes.push((combination as u32, true));
        self.of(combination).iter().for_each(|&kind| placed.held[kind as usize] += 1);
    }

    /// Takes one row of each kind of a combination out of the assignment: nobody else may have them.
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

    /// Gives up a combination that holds a row of a kind: some does.
    fn give_up(&mut self, placed: &mut Placed, kind: u32) -> Result<(), Spent> {
        let count = self.with[kind as usize].len();
        let first = self.rng.below(count as u64) as usize;
        let around = (0..count).map(|at| self.with[kind as usize][(first + at) % count] as usize);
        let (tried, combination) =
            around.enumerate().find(|(_, at)| placed.used[*at] > 0).expect("a row of the kind is held");
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

    /// Places whoever waits, by giving up combinations of others where need be; `false` where it does not come to an
    /// end.
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

    /// A combination for a waiting row that takes little away from others; now and then any.
    fn choose(&mut self, placed: &Placed, kind: u32) -> Result<Option<usize>, Spent> {
        let count = self.with[kind as usize].len();
        let looks = count.min(if self.rng.below(8) == 0 { 1 } else { LOOKS });
        self.spend(looks as u64 + 1)?;
        let first = self.rng.below(count.max(1) as u64) as usize;
        let around = (0..looks).map(|at| self.with[kind as usize][(first + at) % count] as usize);
        let waits = |kind: u32| placed.waiting[kind as usize] > 0;
        let can_be = |at: &usize| self.of(*at).iter().all(|&kind| waits(kind) || placed.held[kind as usize] > 0);
        Ok(around.filter(can_be).min_by_key(|&at| self.of(at).iter().filter(|&&kind| !waits(kind)).count()))
    }

    /// Which combinations are left when so many rows of each kind are: those whose pairs lie in an assignment of each
    /// two views, again and again. `None`: two views have none.
    fn narrow(&mut self, left: &[u32]) -> Result<Option<Vec<bool>>, Spent> {
        let is_left = |at: usize| self.is_open[at] && self.of(at).iter().all(|&kind| left[kind as usize] > 0);
        let mut is_open: Vec<bool> = (0..self.len()).map(is_left).collect();
        loop {
            let mut is_changed = false;
            for b in 1..self.views {
                for a in 0..b {
                    self.spend(self.len() as u64)?;
                    let pair = |at: usize| {
                        let kinds = self.of(at);
                        (kinds[a] - self.starts[a], kinds[b] - self.starts[b])
                    };
                    let mut arcs: Vec<(u32, u32)> = (0..self.len()).filter(|&at| is_open[at]).map(pair).collect();
                    arcs.sort_unstable();
                    arcs.dedup();
                    let of_view = |view: usize| left[self.starts[view] as usize..self.starts[view + 1] as usize].to_vec();
                    let matching = Matching { supplies: of_view(a), capacities: of_view(b), arcs };
                    let Some(usable) = matching.usable_arcs() else { return Ok(None) };
                    if usable.contains(&false) {
                        for (at, is_open) in is_open.iter_mut().enumerate().filter(|(_, is_open)| **is_open) {
                            *is_open = usable[matching.arcs.binary_search(&pair(at)).expect("every pair is listed")];
                        }
                        is_changed = true;
                    }
                }
            }
            if !is_changed {
                return Ok(Some(is_open));
            }
        }
    }

    /// An assignment of what is left, by trying all; `None` where there is none.
    fn seek(&mut self, left: &[u32]) -> Result<Option<Vec<u32>>, Spent> {
        let (mut left, mut chosen) = (left.to_vec(), Vec::new());
        Ok(self.place(&mut left, &mut chosen)?.then_some(chosen))
    }

    fn place(&mut self, left: &mut Vec<u32>, chosen: &mut Vec<u32>) -> Result<bool, Spent> {
        if left.iter().all(|&rows| rows == 0) {
            return Ok(true);
        }
        if self.failed.contains(&left[..]) {
            return Ok(false);
        }
        if chosen.len() == DEEPEST {
            return Err(Spent);
        }
        let mut choices: Vec<u32> = Vec::new();
        if let Some(is_open) = self.narrow(left)? {
            let open = |kind: &usize| self.with[*kind].iter().filter(|&&at| is_open[at as usize]).count();
            let kind = (0..left.len()).filter(|&kind| left[kind] > 0).min_by_key(open).expect("rows are left");
            choices.extend(self.with[kind].iter().filter(|&&at| is_open[at as usize]));
        }
        for combination in choices {
            let kinds = self.of(combination as usize).to_vec();
            kinds.iter().for_each(|&kind| left[kind as usize] -= 1);
            chosen.push(combination);
            if self.place(left, chosen)? {
                return Ok(true);
            }
            chosen.pop();
            kinds.iter().for_each(|&kind| left[kind as usize] += 1);
        }
        self.failed.insert(left.clone().into());
        Ok(false)
    }
}

impl Placed {
    /// Everybody waits.
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

    /// Everybody is placed.
    fn everybody(search: &Search, chosen: &[u32]) -> Placed {
        let mut used = vec![0; search.len()];
        chosen.iter().for_each(|&combination| used[combination as usize] += 1);
        let waiting = vec![0; search.rows.len()];
        Placed { used, held: search.rows.clone(), waiting, queue: Vec::new(), changes: Vec::new() }
    }

    /// As it was before the changes, when everybody was placed.
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
