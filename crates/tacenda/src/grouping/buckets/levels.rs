//! How many copies of each value set there are, what they cost now, and what they will probably cost next time.
//!
//! A value of a set that has fewer people than copies leaves places empty: counterfeits. How many copies a set must have
//! in the next release is decided by the value whose people stay. So sets of values that stay alike long shrink
//! together, and large sets are more even than small ones. Only counts are used.

use crate::grouping::buckets::outlook::Outlook;
use crate::model::{Rng, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What a new value set costs at least beyond its counterfeits: its members may return for as long as the series runs.
const FOUNDING: usize = 3;

/// How far the largest of a few random numbers is above their mean, in standard deviations.
const ABOVE: f64 = 0.7;

/// How many ways are tried to found a set around a value.
const WAYS: usize = 4;

/// The copies of every value set while people are placed.
pub struct Levels<'a> {
    outlook: &'a Outlook,
    /// The least number of values of a set.
    pub m: usize,
    /// What a new set costs beyond its counterfeits. Large sets share people between more values, so a small one of them has
    /// more empty places.
    founding: f64,
    /// The value sets: first the known ones, then new ones.
    pub sets: Vec<Vec<usize>>,
    numbers: FxHashMap<Vec<usize>, usize>,
    known: usize,
    /// Per value, the sets that hold it.
    pub holding: Vec<Vec<usize>>,
    is_listed: Vec<bool>,
    /// The copies each set must have for the people in it.
    pub least: Vec<i64>,
    /// The copies each set has.
    pub copies: Vec<i64>,
    /// Per value, places minus people.
    pub spare: Vec<i64>,
    /// The values with more people than places, those with most first.
    needy: BTreeSet<(i64, usize)>,
    /// How many people have no place.
    pub lacking: i64,
    /// Per value, how many places are expected to be empty before the next arrivals.
    gaps: Vec<f64>,
    /// The value that most people need a place for. Who had a set with it may not enter another one.
    scarce: Option<usize>,
    /// Per value, places in sets without that value, minus people who must have one of them.
    apart: Vec<i64>,
    /// The values with more such people than places, those with most first.
    parted: BTreeSet<(i64, usize)>,
}

/// Changes that can be taken back.
pub type LevelSteps = Vec<(usize, i64)>;

impl<'a> Levels<'a> {
    /// With these known sets and the people in each, and so many people of each value to place.
    pub fn new(homes: &[(Vec<usize>, Vec<i64>)], people: &[i64], outlook: &'a Outlook, m: usize) -> Levels<'a> {
        let values = people.len();
        let mut levels = Levels {
            outlook,
            m,
            founding: FOUNDING.max(m * m.saturating_sub(2)) as f64,
            sets: Vec::new(),
            numbers: FxHashMap::default(),
            known: homes.len(),
            holding: vec![Vec::new(); values],
            is_listed: Vec::new(),
            least: Vec::new(),
            copies: Vec::new(),
            spare: vec![0; values],
            needy: BTreeSet::new(),
            lacking: 0,
            gaps: vec![0.0; values],
            scarce: None,
            apart: vec![0; values],
            parted: BTreeSet::new(),
        };
        for (set, lists) in homes {
            let number = levels.number(set.clone());
            let copies = lists.iter().copied().max().unwrap_or(0);
            levels.change(number, copies);
            levels.least[number] = copies;
            set.iter().zip(lists).for_each(|(&value, &there)| levels.give(value, -there));
        }
        people.iter().enumerate().for_each(|(value, &people)| levels.give(value, -people));
        levels
    }

    /// From here on, so many people of each value must have a place in a set without this value.
    pub fn keep_apart(&mut self, scarce: usize, homes: &[(Vec<usize>, Vec<i64>)], people: &[i64]) {
        self.scarce = Some(scarce);
        for ((set, lists), &copies) in homes.iter().zip(&self.copies) {
            if set.binary_search(&scarce).is_err() {
                set.iter().zip(lists).for_each(|(&value, &there)| self.apart[value] += copies - there);
            }
        }
        self.parted = BTreeSet::new();
        for (value, &people) in people.iter().enumerate() {
            self.part(value, -people);
        }
    }

    /// Adds places in sets without the scarce value; negative: people who need one.
    pub fn part(&mut self, value: usize, places: i64) {
        let before = self.apart[value];
        let after = before + places;
        if before < 0 {
            self.parted.remove(&(before, value));
        }
        if after < 0 {
            self.parted.insert((after, value));
        }
        self.apart[value] = after;
    }

    /// Whether a set is without the scarce value.
    fn is_apart(&self, set: usize) -> bool {
        self.scarce.is_some_and(|scarce| self.sets[set].binary_search(&scarce).is_err())
    }

    /// The number of a set, which is founded if it is not known.
    pub fn number(&mut self, mut set: Vec<usize>) -> usize {
        set.sort_unstable();
        let number = match self.numbers.get(&set) {
            Some(&number) => number,
            None => {
                self.numbers.insert(set.clone(), self.sets.len());
                self.sets.push(set);
                self.is_listed.push(false);
                self.least.push(0);
                self.copies.push(0);
                self.sets.len() - 1
            }
        };
        if !self.is_listed[number] {
            self.is_listed[number] = true;
            self.sets[number].iter().for_each(|&value| self.holding[value].push(number));
        }
        number
    }

    /// Forgets new sets without copies.
    pub fn tidy(&mut self) {
        for number in self.known..self.sets.len() {
            self.is_listed[number] = self.copies[number] > 0;
        }
        let is_listed = &self.is_listed;
        self.holding.iter_mut().for_each(|sets| sets.retain(|&set| is_listed[set]));
    }

    /// Adds places without people; negative: people without places.
    pub fn give(&mut self, value: usize, places: i64) {
        let before = self.spare[value];
        let after = before + places;
        if before < 0 {
            self.needy.remove(&(before, value));
        }
        if after < 0 {
            self.needy.insert((after, value));
        }
        self.lacking += before.min(0) - after.min(0);
        self.spare[value] = after;
    }

    /// The value with most people without a place, and how many they are.
    pub fn neediest(&self) -> Option<(usize, i64)> {
        self.needy.first().map(|&(spare, value)| (value, -spare))
    }

    /// The share of people with a value who stay.
    pub fn stay(&self, value: usize) -> f64 {
        self.outlook.stay[value]
    }

    /// How many of so many people with a value stay, if many do.
    pub fn high(&self, value: usize, people: f64) -> f64 {
        let stay = self.outlook.stay[value];
        stay * people + ABOVE * (stay * (1.0 - stay) * people).sqrt()
    }

    /// How surely a value with so many people in a set will have a gap there, if `lead` others stay.
    pub fn short(&self, set: usize, value: usize, people: i64, lead: f64) -> f64 {
        let behind = (lead - self.stay(value) * people as f64).max(0.0);
        (behind / (0.3 * (self.copies[set] as f64).sqrt() + 0.3)).min(3.0)
    }

    /// How far a value with so many people in a full set will fall behind its other values.
    pub fn behind(&self, set: usize, value: usize, people: i64) -> f64 {
        let copies = self.copies[set] as f64;
        let lead = self.sets[set].iter().map(|&other| self.stay(other) * copies).fold(0.0, f64::max);
        (lead - self.stay(value) * people as f64) / (0.3 * copies.sqrt() + 0.3)
    }

    /// The copies a set of so many copies will probably need in the next release.
    fn level(&self, set: usize, copies: i64) -> f64 {
        let copies = copies as f64;
        self.sets[set].iter().map(|&value| self.high(value, copies)).fold(0.0, f64::max).min(copies)
    }

    /// The expected number of gaps that arrivals will not fill.
    fn unfilled(&self, value: usize, gaps: f64) -> f64 {
        let arrivals = self.outlook.arrivals[value];
        let unsure = 0.6 * arrivals + arrivals.sqrt() + 2.0;
        let over = (gaps - arrivals) / unsure;
        unsure * 0.5 * (over + (over * over + 1.0).sqrt())
    }

    /// What all sets cost: empty places, new sets, and the gaps that arrivals will probably not fill.
    pub fn total(&self) -> f64 {
        let empty: i64 = self.spare.iter().map(|&spare| spare.max(0)).sum();
        let later: f64 = self.gaps.iter().enumerate().map(|(value, &gaps)| self.unfilled(value, gaps)).sum();
        let new = self.copies[self.known..].iter().filter(|&&copies| copies > 0).count();
        empty as f64 + later + self.founding * new as f64
    }

    /// What one more gap of a value will probably cost.
    pub fn price(&self, value: usize) -> f64 {
        self.unfilled(value, self.gaps[value] + 0.5) - self.unfilled(value, self.gaps[value] - 0.5)
    }

    fn cost_now(&self, spare: i64) -> f64 {
        if spare >= 0 { spare as f64 } else { self.m as f64 * -spare as f64 }
    }

    fn founding(&self, set: usize, copies: i64) -> f64 {
        if set >= self.known && copies > 0 { self.founding } else { 0.0 }
    }

    /// The further gaps of a value if a set gets more copies, given by how much its level changes.
    fn further_gaps(&self, value: usize, more: i64, rise: f64) -> f64 {
        rise - self.outlook.stay[value] * more as f64
    }

    /// What it costs to give a set more copies.
    pub fn cost(&self, set: usize, more: i64) -> f64 {
        let (before, after) = (self.copies[set], self.copies[set] + more);
        let rise = self.level(set, after) - self.level(set, before);
        let is_apart = self.is_apart(set);
        let of = |&value: &usize| {
            let (spare, gaps) = (self.spare[value], self.gaps[value]);
            let mut now = self.cost_now(spare + more) - self.cost_now(spare);
            if is_apart {
                let short = |apart: i64| (self.m as i64 * (-apart).max(0)) as f64;
                now += short(self.apart[value] + more) - short(self.apart[value]);
            }
            now + self.unfilled(value, gaps + self.further_gaps(value, more, rise)) - self.unfilled(value, gaps)
        };
        self.founding(set, after) - self.founding(set, before) + self.sets[set].iter().map(of).sum::<f64>()
    }

    /// Gives a set more copies, or fewer.
    pub fn change(&mut self, set: usize, more: i64) {
        let (before, after) = (self.copies[set], self.copies[set] + more);
        let rise = self.level(set, after) - self.level(set, before);
        self.copies[set] = after;
        let is_apart = self.is_apart(set);
        let values = std::mem::take(&mut self.sets[set]);
        for &value in &values {
            if is_apart {
                self.part(value, more);
            }
            self.gaps[value] += self.further_gaps(value, more, rise);
            self.give(value, more);
        }
        self.sets[set] = values;
    }

    /// Adds copies until everyone has a place, always those that cost least. Returns what was done, and what it cost.
    pub fn fill(&mut self, rng: &mut Rng, steps: &mut LevelSteps) -> f64 {
        let mut cost = self.fill_apart(steps);
        while let Some(&(spare, first)) = self.needy.first() {
            // If one value has one in m of the people to place, every copy must hold it.
            let is_tight = (-spare + 4) * self.m as i64 >= self.lacking;
            let mut around = vec![first];
            if !is_tight && self.needy.len() > 1 {
                let second = rng.below(self.needy.len() as u64) as usize;
                around.push(self.needy.iter().nth(second).expect("it is below the length").1);
            }
            let mut best = None;
            for value in around {
                for set in self.ways(value) {
                    let most = self.sets[set].iter().map(|&value| (-self.spare[value]).max(0)).min().unwrap_or(0);
                    self.weigh(set, most, &mut best);
                }
            }
            // A value that is in no set, and too few others have people to place.
            let Some((_, set, more)) = best else { break };
            cost += self.step(set, more, steps);
        }
        cost
    }

    /// Keeps the cheaper way to add copies, by what each copy costs: the best so far, or some of at most `most` copies of a
    /// set.
    fn weigh(&self, set: usize, most: i64, best: &mut Option<(f64, usize, i64)>) {
        let is_new = set >= self.known && self.copies[set] == 0;
        let more = if is_new { most.max(1) } else { (most / 4).max(1) };
        let each = self.cost(set, more) / more as f64;
        if best.is_none_or(|(least, ..)| each < least) {
            *best = Some((each, set, more));
        }
    }

    /// Gives a set more copies, or fewer, and notes it. Returns what that costs.
    fn step(&mut self, set: usize, more: i64, steps: &mut LevelSteps) -> f64 {
        let cost = self.cost(set, more);
        self.change(set, more);
        steps.push((set, more));
        cost
    }

    /// Adds copies until everyone who must have a place in a set without the scarce value has one.
    fn fill_apart(&mut self, steps: &mut LevelSteps) -> f64 {
        let mut cost = 0.0;
        while let Some(&(short, value)) = self.parted.first() {
            self.found_apart(value);
            let mut best = None;
            for &set in self.holding[value].iter().filter(|&&set| self.is_apart(set)) {
                let lacking = |&value: &usize| (-self.apart[value]).max(-self.spare[value]).max(0);
                let most = self.sets[set].iter().map(lacking).min().unwrap_or(0).min(-short);
                self.weigh(set, most, &mut best);
            }
            let Some((_, set, more)) = best else { break };
            cost += self.step(set, more, steps);
        }
        cost
    }

    /// Founds sets around a value, without the scarce one: with those who must be apart too, and with those of whom most
    /// have no place.
    fn found_apart(&mut self, value: usize) {
        let is_other = |&&(_, other): &&(i64, usize)| other != value && Some(other) != self.scarce;
        let needy: Vec<usize> = self.needy.iter().filter(is_other).map(|&(_, other)| other).collect();
        let mut together: Vec<usize> = self.parted.iter().filter(is_other).map(|&(_, other)| other).collect();
        together.extend(needy.iter().copied().filter(|other| self.apart[*other] >= 0));
        for mut others in [together, needy] {
            others.truncate(self.m - 1);
            if others.len() == self.m - 1 {
                others.push(value);
                self.number(others);
            }
        }
    }

    /// The sets that could take people of a value: those that exist, and some new ones.
    fn ways(&mut self, value: usize) -> Vec<usize> {
        if self.needy.len() >= self.m {
            let own = -self.spare[value];
            let stay = &self.outlook.stay;
            for way in 0..WAYS {
                // With those of whom most are left, or with those who stay alike long and are about as many.
                let least = [1, 1, own / 2, own / 8][way];
                let others = self.needy.iter().filter(|&&(spare, other)| other != value && -spare >= least);
                let mut others: Vec<usize> = others.map(|&(_, other)| other).collect();
                if way > 0 {
                    let apart = |other: usize| (stay[other] - stay[value]).abs();
                    others.sort_by(|&a, &b| apart(a).total_cmp(&apart(b)).then(a.cmp(&b)));
                }
                others.truncate(self.m - 1);
                if others.len() == self.m - 1 {
                    others.push(value);
                    self.number(others);
                }
            }
        }
        self.holding[value].clone()
    }

    /// Takes out a few copies and fills again, and keeps what costs less.
    pub fn search(&mut self, rng: &mut Rng, rounds: usize) {
        for round in 0..rounds {
            if round % 20 == 0 {
                self.tidy();
            }
            let above = |levels: &Levels<'_>, set: usize| levels.copies[set] - levels.least[set];
            let open: Vec<usize> = (0..self.sets.len()).filter(|&set| above(self, set) > 0).collect();
            if open.is_empty() {
                return;
            }
            let is_rich = |&set: &usize| self.sets[set].iter().any(|&value| self.spare[value] > 0);
            let rich: Vec<usize> = open.iter().copied().filter(is_rich).collect();
            let mut steps: LevelSteps = Vec::new();
            let mut cost = 0.0;
            for _ in 0..=rng.below(3) {
                let from = if !rich.is_empty() && rng.below(2) == 0 { &rich } else { &open };
                let set = from[rng.below(from.len() as u64) as usize];
                let most = above(self, set);
                if most == 0 {
                    continue;
                }
                let fewer = if rng.below(4) == 0 { most } else { 1 + rng.below(most.min(3) as u64) as i64 };
                cost += self.step(set, -fewer, &mut steps);
            }
            cost += self.fill(rng, &mut steps);
            if cost > 1e-9 {
                steps.iter().rev().for_each(|&(set, more)| self.change(set, -more));
            }
        }
    }

    /// The values of a set.
    pub fn values(&self, set: usize) -> Vec<Value> {
        self.sets[set].iter().map(|&value| Value(value as u32)).collect()
    }
}
