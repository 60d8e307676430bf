//! Gives everyone who needs one a value set, with the next release in mind.
//!
//! Only counts are used, and how likely people of each value are to stay. So this is for promises against the rule
//! reader (science A3.15). First the copies of all sets are chosen as if nearly everyone could enter every set: only of
//! the value with most people without a place is it known who may not be beside it. Then people whose value changed get
//! their places: their set may share no value with any set they have had (science A3.6-3). Who finds none gets a further
//! copy of a set, and the copies are chosen anew around it.

use crate::grouping::buckets::levels::{LevelSteps, Levels};
use crate::grouping::buckets::outlook::Outlook;
use crate::model::{Rng, Value};

/// How often copies are taken out and chosen again.
const ROUNDS: usize = 300;

/// At most so many ways to place everyone are made, and the one that costs least is taken.
const TRIES: usize = 8;

/// So many are made while more than one in [`MANY`] is a counterfeit.
const HARD_TRIES: usize = 32;

/// One in so many counterfeits are many.
const MANY: i64 = 25;

/// No further way is made once at most one in so many is a counterfeit.
const ENOUGH: i64 = 400;

/// What it costs if somebody waits, in counterfeits.
const WAIT: f64 = 2.0;

/// One more person may wait for so many places that nobody can fill.
const UNFILLED: i64 = 20;

/// How often people who found no place get a further copy.
const REPAIRS: usize = 3;

/// One in so many people may wait because too many people changed to one value, and as many because every place for
/// them costs counterfeits of all other values. Where many places stay empty, a few more may.
const WAITING: i64 = 250;

/// How many people there are, and how many of them may wait at most.
#[derive(Clone, Copy)]
pub struct Allowance {
    /// Everyone in the table.
    pub everyone: usize,
    /// At most so many wait, unless no set is open to them.
    pub may_wait: usize,
}

/// People who need a place.
#[cfg_attr(test, derive(Debug))]
pub struct Wanting {
    /// The value they have.
    pub value: Value,
    /// All values of the sets they have had, ascending. Newcomers have none.
    pub past: Vec<Value>,
    /// How many they are.
    pub people: u64,
}

impl Wanting {
    /// Whether they may enter no set with this value, because they had one.
    fn is_barred(&self, value: usize) -> bool {
        self.value.index() != value && self.past.binary_search(&Value(value as u32)).is_ok()
    }
}

/// Where everyone goes.
pub struct Settlement {
    /// The value sets: first the known ones, then new ones.
    pub sets: Vec<Vec<Value>>,
    /// How many copies each has.
    pub copies: Vec<u64>,
    /// Per kind of people who need a place: set and number.
    pub places: Vec<Vec<(usize, u64)>>,
}

/// The sets, and how many people of which kind are in which.
struct Settling<'a> {
    levels: Levels<'a>,
    /// The value with most people without a place.
    scarce: Option<usize>,
    wanting: &'a [Wanting],
    /// Per set and value of it, how many people it has.
    lists: Vec<Vec<i64>>,
    /// Per kind, how many have no place yet and do not wait.
    left: Vec<i64>,
    /// Per kind, set and number.
    places: Vec<Vec<(usize, i64)>>,
}

/// Places everyone. `homes` are the known sets with the people in each, and `is_held` says which values somebody has.
pub fn settle(
    homes: &[(Vec<Value>, Vec<u64>)],
    wanting: &[Wanting],
    outlook: &Outlook,
    is_held: &[bool],
    allowance: Allowance,
    m: u64,
    rng: &mut Rng,
) -> Settlement {
    let index = |set: &[Value]| set.iter().map(|value| value.index()).collect::<Vec<_>>();
    let homes: Vec<(Vec<usize>, Vec<i64>)> =
        homes.iter().map(|(set, lists)| (index(set), lists.iter().map(|&people| people as i64).collect())).collect();
    let mut best: Option<(f64, Settling<'_>)> = None;
    let is_one_in = |settling: &Settling<'_>, share: i64| settling.counterfeits() * share <= allowance.everyone as i64;
    for tries in 1..=HARD_TRIES {
        let mut settling = Settling::new(&homes, wanting, outlook, is_held.len(), m as usize);
        settling.place(is_held, allowance, rng);
        let (cost, is_good) = (settling.cost(), is_one_in(&settling, ENOUGH));
        if best.as_ref().is_none_or(|best| cost < best.0) {
            best = Some((cost, settling));
        }
        if is_good || tries >= TRIES && best.as_ref().is_some_and(|best| is_one_in(&best.1, MANY)) {
            break;
        }
    }
    best.expect("everyone was placed in some way").1.finish()
}

impl<'a> Settling<'a> {
    fn new(
        homes: &[(Vec<usize>, Vec<i64>)],
        wanting: &'a [Wanting],
        outlook: &'a Outlook,
        values: usize,
        m: usize,
    ) -> Settling<'a> {
        let mut people = vec![0; values];
        wanting.iter().for_each(|kind| people[kind.value.index()] += kind.people as i64);
        let mut levels = Levels::new(homes, &people, outlook, m);
        let scarce = levels.neediest().map(|(value, _)| value);
        if let Some(scarce) = scarce {
            let mut apart = vec![0; values];
            for kind in wanting.iter().filter(|kind| kind.is_barred(scarce)) {
                apart[kind.value.index()] += kind.people as i64;
            }
            levels.keep_apart(scarce, homes, &apart);
        }
        Settling {
            levels,
            scarce,
            wanting,
            lists: homes.iter().map(|(_, lists)| lists.clone()).collect(),
            left: wanting.iter().map(|kind| kind.people as i64).collect(),
            places: vec![Vec::new(); wanting.len()],
        }
    }

    /// Places everyone.
    fn place(&mut self, is_held: &[bool], allowance: Allowance, rng: &mut Rng) {
        let people: i64 = self.left.iter().sum();
        let unfilled = self.counterfeits();
        let mut may_wait = allowance.everyone as i64 / WAITING;
        self.wait(may_wait.min(allowance.may_wait as i64), self.levels.m as i64);
        let waiting = people - self.left.iter().sum::<i64>();
        // If too many people changed to one value, nobody else waits for places that nobody can fill.
        if waiting == 0 {
            may_wait += unfilled / UNFILLED;
        }
        may_wait = may_wait.min(allowance.may_wait as i64 - waiting);
        // With many values, a round costs more.
        let rounds = ROUNDS.min(people as usize / 4).min(100_000 / is_held.len().max(1));
        self.levels.fill(rng, &mut LevelSteps::new());
        self.levels.search(rng, rounds);
        for _ in 0..REPAIRS {
            let without = self.without_place();
            if without.is_empty() {
                break;
            }
            for kind in without {
                self.make_room(kind, is_held, &mut may_wait);
            }
            self.levels.fill(rng, &mut LevelSteps::new());
            self.levels.search(rng, rounds / 2);
        }
        self.enter_changed(is_held, &mut may_wait);
        self.enter_newcomers(is_held);
    }

    /// How many places stay empty.
    fn counterfeits(&self) -> i64 {
        self.levels.spare.iter().map(|&spare| spare.max(0)).sum()
    }

    /// What this way to place everyone costs, now and probably in the next release.
    fn cost(&self) -> f64 {
        let placed: i64 = self.places.iter().flatten().map(|&(_, people)| people).sum();
        let all: u64 = self.wanting.iter().map(|kind| kind.people).sum();
        self.levels.total() + WAIT * (all as i64 - placed) as f64
    }
}

impl Settling<'_> {
    /// Lets people wait who changed to a value that too many of those without a place have. The longer somebody's past,
    /// the fewer sets are open to them.
    fn wait(&mut self, most: i64, m: i64) {
        for _ in 0..most {
            let Some((value, lacking)) = self.levels.neediest() else { return };
            if lacking * m <= self.levels.lacking {
                return;
            }
            let has_changed = |&kind: &usize| {
                let Wanting { value: own, past, .. } = &self.wanting[kind];
                own.index() == value && !past.is_empty() && self.left[kind] > 0
            };
            let kinds = (0..self.wanting.len()).filter(has_changed);
            let Some(kind) = kinds.max_by_key(|&kind| (self.wanting[kind].past.len(), kind)) else { return };
            self.give_up(kind);
            self.levels.give(value, 1);
        }
    }

    /// Whether people of a kind may enter a set that holds their value.
    fn may_enter(&self, kind: usize, set: usize) -> bool {
        let past = &self.wanting[kind].past;
        self.levels.sets[set].iter().all(|&value| past.binary_search(&Value(value as u32)).is_err())
    }

    fn position(&self, set: usize, value: usize) -> usize {
        self.levels.sets[set].binary_search(&value).expect("the set holds the value")
    }

    /// How many places of a value are empty in a set.
    fn room(&self, set: usize, value: usize) -> i64 {
        let there = self.lists.get(set).map_or(0, |lists| lists[self.position(set, value)]);
        self.levels.copies[set] - there
    }

    /// How many places of a value are empty.
    fn rooms(&self, value: usize) -> i64 {
        self.levels.holding[value].iter().map(|&set| self.room(set, value)).sum()
    }

    /// Puts people of a kind into a set.
    fn enter(&mut self, kind: usize, set: usize, people: i64) {
        while self.lists.len() < self.levels.sets.len() {
            self.lists.push(vec![0; self.levels.sets[self.lists.len()].len()]);
        }
        let position = self.position(set, self.wanting[kind].value.index());
        self.lists[set][position] += people;
        self.levels.least[set] = self.levels.least[set].max(self.lists[set][position]);
        self.left[kind] -= people;
        self.places[kind].push((set, people));
    }

    /// One person of each kind who changed and finds no place, as often as there are such people.
    fn without_place(&self) -> Vec<usize> {
        (0..self.levels.holding.len()).flat_map(|value| self.matching(value).1).collect()
    }

    /// Gives people who changed their places, and further copies to who has none.
    fn enter_changed(&mut self, is_held: &[bool], may_wait: &mut i64) {
        let mut without = Vec::new();
        for value in 0..self.levels.holding.len() {
            let (found, none) = self.matching(value);
            found.into_iter().for_each(|(kind, set, people)| self.enter(kind, set, people));
            without.extend(none);
        }
        for kind in without {
            self.make_room(kind, is_held, may_wait);
        }
    }

    /// Matches people who changed to a value with its empty places: kind, set and number, and the kinds of those who
    /// find none.
    fn matching(&self, value: usize) -> (Vec<(usize, usize, i64)>, Vec<usize>) {
        let is_here = |&kind: &usize| {
            let Wanting { value: own, past, .. } = &self.wanting[kind];
            own.index() == value && !past.is_empty() && self.left[kind] > 0
        };
        let mut kinds: Vec<usize> = (0..self.wanting.len()).filter(is_here).collect();
        if kinds.is_empty() {
            return (Vec::new(), Vec::new());
        }
        kinds.sort_by_key(|&kind| (std::cmp::Reverse(self.wanting[kind].past.len()), kind));
        let open = self.levels.holding[value].iter().copied().filter(|&set| self.room(set, value) > 0);
        let sets: Vec<usize> = open.collect();
        let mut room: Vec<i64> = sets.iter().map(|&set| self.room(set, value)).collect();
        let mut flow = vec![vec![0; sets.len()]; kinds.len()];
        let may: Vec<Vec<bool>> =
            kinds.iter().map(|&kind| sets.iter().map(|&set| self.may_enter(kind, set)).collect()).collect();
        let best = |of: &[bool], room: &[i64]| {
            let open = (0..sets.len()).filter(|&at| of[at] && room[at] > 0);
            open.max_by(|&a, &b| {
                let behind = |at: usize| self.levels.behind(sets[at], value, self.levels.copies[sets[at]] - room[at]);
                behind(a).total_cmp(&behind(b)).then(b.cmp(&a))
            })
        };
        let mut none = Vec::new();
        for (of, &kind) in kinds.iter().enumerate() {
            for _ in 0..self.left[kind] {
                if let Some(at) = best(&may[of], &room) {
                    (room[at], flow[of][at]) = (room[at] - 1, flow[of][at] + 1);
                    continue;
                }
                // Somebody else may make way.
                let swap = (0..sets.len()).filter(|&at| may[of][at]).find_map(|at| {
                    let others = (0..of).filter(|&other| flow[other][at] > 0);
                    others.map(|other| (at, other, best(&may[other], &room))).find(|swap| swap.2.is_some())
                });
                match swap {
                    Some((at, other, Some(to))) => {
                        (flow[of][at], flow[other][at]) = (flow[of][at] + 1, flow[other][at] - 1);
                        (room[to], flow[other][to]) = (room[to] - 1, flow[other][to] + 1);
                    }
                    _ => none.push(kind),
                }
            }
        }
        let found = |(of, &kind): (usize, &usize)| {
            let of: Vec<i64> = flow[of].clone();
            let sets = sets.clone();
            of.into_iter()
                .enumerate()
                .filter(|&(_, people)| people > 0)
                .map(move |(at, people)| (kind, sets[at], people))
        };
        (kinds.iter().enumerate().flat_map(found).collect(), none)
    }

    /// Gives somebody a further copy of a set. If that costs counterfeits of all other values, they wait, as long as
    /// people may.
    fn make_room(&mut self, kind: usize, is_held: &[bool], may_wait: &mut i64) {
        let Wanting { value, past, .. } = &self.wanting[kind];
        let value = value.index();
        // Their place among those of their value is no longer needed.
        self.levels.give(value, 1);
        let is_open =
            |&other: &usize| other != value && is_held[other] && past.binary_search(&Value(other as u32)).is_err();
        let mut others: Vec<usize> = (0..is_held.len()).filter(is_open).collect();
        others.sort_by_key(|&other| (self.levels.spare[other], other));
        others.truncate(self.levels.m - 1);
        if others.len() == self.levels.m - 1 {
            others.push(value);
            self.levels.number(others);
        }
        let open = self.levels.holding[value].iter().copied().filter(|&set| self.may_enter(kind, set));
        let by_cost =
            |&a: &usize, &b: &usize| self.levels.cost(a, 1).total_cmp(&self.levels.cost(b, 1)).then(a.cmp(&b));
        let best = open.min_by(by_cost);
        let Some(set) = best else { return self.give_up(kind) };
        let helps = |&other: &usize| other != value && self.levels.spare[other] < 0;
        if *may_wait > 0 && !self.levels.sets[set].iter().any(helps) {
            *may_wait -= 1;
            return self.give_up(kind);
        }
        self.levels.change(set, 1);
        self.levels.give(value, -1);
        self.enter(kind, set, 1);
    }

    /// Lets somebody wait whose place among those of their value is given back.
    fn give_up(&mut self, kind: usize) {
        self.left[kind] -= 1;
        let wanting = &self.wanting[kind];
        if self.scarce.is_some_and(|scarce| wanting.is_barred(scarce)) {
            self.levels.part(wanting.value.index(), 1);
        }
    }

    /// Gives newcomers the places that are left. Where there are more places than newcomers, those come first whose
    /// sets will need them.
    fn enter_newcomers(&mut self, is_held: &[bool]) {
        let newcomers: Vec<usize> =
            (0..self.wanting.len()).filter(|&kind| self.wanting[kind].past.is_empty()).collect();
        for &kind in &newcomers {
            while self.left[kind] > self.rooms(self.wanting[kind].value.index()) {
                self.make_room(kind, is_held, &mut 0);
            }
        }
        let mut rate = vec![1.0; is_held.len()];
        for &kind in &newcomers {
            let value = self.wanting[kind].value.index();
            rate[value] = self.left[kind] as f64 / self.rooms(value).max(1) as f64;
        }
        let price: Vec<f64> = (0..is_held.len()).map(|value| self.levels.price(value)).collect();
        for &kind in &newcomers {
            let value = self.wanting[kind].value.index();
            let sets: Vec<usize> =
                self.levels.holding[value].iter().copied().filter(|&set| self.room(set, value) > 0).collect();
            let mut open: Vec<(usize, i64)> = sets.iter().map(|&set| (set, self.room(set, value))).collect();
            if rate[value] >= 1.0 {
                open.iter().for_each(|&(set, room)| self.enter(kind, set, room));
                continue;
            }
            let mut taken = vec![0; open.len()];
            let expected = |set: usize, other: usize| {
                let room = self.room(set, other);
                (self.levels.copies[set] - room) as f64 + room as f64 * rate[other].min(1.0)
            };
            let gain = |(set, room): (usize, i64)| {
                let there = self.levels.copies[set] - room;
                let others = self.levels.sets[set].iter().filter(|&&other| other != value);
                let lead = others.map(|&other| self.levels.high(other, expected(set, other))).fold(0.0, f64::max);
                let level = |people: i64| lead.max(self.levels.high(value, people as f64));
                let all: f64 = self.levels.sets[set].iter().map(|&other| price[other]).sum();
                price[value] * self.levels.stay(value) * self.levels.short(set, value, there, lead)
                    - (level(there + 1) - level(there)) * all
            };
            let mut gains: Vec<f64> = open.iter().map(|&place| gain(place)).collect();
            for _ in 0..self.left[kind] {
                let best = (0..open.len()).filter(|&at| open[at].1 > 0);
                let best = best.max_by(|&a, &b| gains[a].total_cmp(&gains[b]).then(b.cmp(&a)));
                let at = best.expect("there are more places than newcomers");
                (open[at].1, taken[at]) = (open[at].1 - 1, taken[at] + 1);
                gains[at] = gain(open[at]);
            }
            for (set, people) in sets.into_iter().zip(taken).filter(|&(_, people)| people > 0) {
                self.enter(kind, set, people);
            }
        }
    }

    fn finish(self) -> Settlement {
        let sets = 0..self.levels.sets.len();
        Settlement {
            sets: sets.map(|set| self.levels.values(set)).collect(),
            copies: self.levels.copies.iter().map(|&copies| copies as u64).collect(),
            places: (self.places.into_iter())
                .map(|places| places.into_iter().map(|(set, people)| (set, people as u64)).collect())
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Rng;
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    type Home = (Vec<Value>, Vec<u64>);

    /// Known sets with people, and kinds of people who need a place.
    fn table() -> impl Strategy<Value = (usize, Vec<Home>, Vec<Wanting>)> {
        (2usize..5, 6usize..10).prop_flat_map(|(m, values)| {
            let all: Vec<Value> = (0..values as u32).map(Value).collect();
            let home = (subsequence(all.clone(), m..=m + 1), prop::collection::vec(0u64..9, m + 1));
            let kind = (0..values, subsequence(all, 0..4), 1u64..20);
            (Just(m), prop::collection::vec(home, 0..6), prop::collection::vec(kind, 1..12)).prop_map(
                |(m, mut homes, kinds)| {
                    homes.iter_mut().for_each(|(set, lists)| lists.truncate(set.len()));
                    homes.sort();
                    homes.dedup_by(|a, b| a.0 == b.0);
                    let mut wanting: Vec<Wanting> = Vec::new();
                    for (value, mut past, people) in kinds {
                        let value = Value(value as u32);
                        past.retain(|&other| other != value);
                        if wanting.iter().all(|kind| (kind.value, &kind.past) != (value, &past)) {
                            wanting.push(Wanting { value, past, people });
                        }
                    }
                    (m, homes, wanting)
                },
            )
        })
    }

    /// Half of the others had a set with value 0, and every further copy must hold it. They form copies among themselves,
    /// and the others are left for value 0.
    #[test]
    fn who_may_not_be_beside_the_scarce_value_is_no_company_for_it() {
        let of = |(value, past, people): (u32, &[u32], u64)| Wanting {
            value: Value(value),
            past: past.iter().map(|&value| Value(value)).collect(),
            people,
        };
        let (new, had): (&[u32], &[u32]) = (&[], &[0, 7, 8]);
        let changed = [(1, had, 50), (2, had, 50), (3, had, 50)];
        let kinds = [(0, new, 60), (4, new, 30), (5, new, 30), (6, new, 30), (9, new, 30)].into_iter().chain(changed);
        let wanting: Vec<Wanting> = kinds.map(of).collect();
        let outlook = Outlook { stay: vec![0.7; 10], arrivals: vec![50.0; 10] };
        let allowance = Allowance { everyone: 5000, may_wait: 5000 };
        for seed in 0..10 {
            let mut rng = Rng::from_number(seed);
            let plan = settle(&[], &wanting, &outlook, &[true; 10], allowance, 3, &mut rng);
            let places: u64 = plan.sets.iter().zip(&plan.copies).map(|(set, copies)| set.len() as u64 * copies).sum();
            let placed: u64 = plan.places.iter().flatten().map(|&(_, people)| people).sum();
            assert_eq!((placed, places), (330, 330), "seed {seed}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Newcomers all get a place, nobody enters a set that shares a value with their past, no place is given twice,
        /// and few people wait.
        #[test]
        fn everyone_has_a_place_they_may_have(
            (m, homes, wanting) in table(),
            seed in 0u64..100,
            may_wait in 0usize..20,
        ) {
            let values = 10;
            let mut is_held = vec![false; values];
            let mut arriving = vec![0; values];
            for (set, lists) in &homes {
                set.iter().zip(lists).for_each(|(value, &people)| is_held[value.index()] |= people > 0);
            }
            for kind in &wanting {
                is_held[kind.value.index()] = true;
                arriving[kind.value.index()] += kind.people;
            }
            let outlook = Outlook { stay: vec![0.6; values], arrivals: arriving.iter().map(|&n| n as f64).collect() };
            let everyone = 500;
            let allowance = Allowance { everyone, may_wait };
            let mut rng = Rng::from_number(seed);
            let plan = settle(&homes, &wanting, &outlook, &is_held, allowance, m as u64, &mut rng);
            let mut lists: Vec<Vec<u64>> = plan.sets.iter().map(|set| vec![0; set.len()]).collect();
            for (list, home) in lists.iter_mut().zip(&homes) {
                list.clone_from(&home.1);
            }
            let (mut waiting, mut stuck) = (0, 0);
            let held = is_held.iter().filter(|is_held| **is_held).count();
            for (kind, places) in wanting.iter().zip(&plan.places) {
                for &(set, people) in places {
                    let values = &plan.sets[set];
                    prop_assert!(values.len() >= m && values.iter().all(|value| !kind.past.contains(value)));
                    lists[set][values.binary_search(&kind.value).unwrap()] += people;
                }
                let placed: u64 = places.iter().map(|&(_, people)| people).sum();
                prop_assert!(placed <= kind.people);
                let open = (0..values).filter(|&value| is_held[value] && !kind.past.contains(&Value(value as u32)));
                match kind.past.is_empty() {
                    true if held >= m => prop_assert_eq!(placed, kind.people),
                    _ if open.count() < m => stuck += kind.people - placed,
                    _ => waiting += kind.people - placed,
                }
            }
            let places: u64 = homes.iter().map(|(set, lists)| set.len() as u64 * lists.iter().max().unwrap_or(&0)).sum();
            let most = (2 * everyone as u64 / WAITING as u64 + places / UNFILLED as u64).min(may_wait as u64);
            prop_assert!(waiting <= most, "{} wait, {} cannot enter any set", waiting, stuck);
            for ((list, &copies), set) in lists.iter().zip(&plan.copies).zip(0..) {
                prop_assert!(list.iter().all(|&people| people <= copies), "set {} has {:?} of {}", set, list, copies);
            }
        }
    }
}
