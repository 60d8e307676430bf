//! The new view while it is being specialised: its rows in cells that are published alike.
//!
//! Rows that agree on all relevant columns are one atom with a weight; rows are read once, to form atoms. A cell is a
//! run of atoms with one current value per generalised attribute. A value knows the values it would be divided into and
//! the information that would add. It is divided everywhere at once, so the values of an attribute are always a cut.

use crate::grouping::views::split;
use crate::model::{Classes, Cuts, Quasi, Score, Span, View, ViewRows};
use rayon::prelude::*;
use std::ops::Range;

/// From this many atoms on, several threads are used.
pub(super) const WORTH_A_THREAD: usize = 1 << 14;

/// The new view, partitioned.
#[derive(Clone)]
pub(super) struct Tree {
    /// The attributes that are generalised, in the order of the view's columns.
    pub(super) attributes: Vec<Attribute>,
    /// The attributes that matter and are published as they are.
    pub(super) fixed: Vec<Fixed>,
    /// Per atom, how many rows it stands for.
    weight: Vec<u64>,
    /// Per atom, its class; empty without a target.
    target: Vec<u32>,
    classes: usize,
    /// Every value so far (see [`GeneralisedValue::is_live`]).
    pub(super) values: Vec<GeneralisedValue>,
    pub(super) cells: Vec<Cell>,
    /// Per value, the cells that have it now; empty once it is divided.
    links: Vec<Vec<u32>>,
    /// Per atom, further numbers that move along with it.
    extra: Vec<Vec<u32>>,
    information: Score,
}

/// A generalised attribute and the code of each atom.
#[derive(Clone)]
pub(super) struct Attribute {
    pub(super) column: usize,
    pub(super) quasi: Quasi,
    codes: Vec<u32>,
}

/// An attribute that is published as it is, and the code of each atom.
#[derive(Clone)]
pub(super) struct Fixed {
    pub(super) column: usize,
    codes: Vec<u32>,
}

/// A generalised value, and what it would be divided into.
#[derive(Clone)]
pub(super) struct GeneralisedValue {
    pub(super) attribute: usize,
    pub(super) span: Span,
    /// The values below it; empty if it cannot be divided.
    pub(super) children: Vec<Span>,
    /// Which child a code belongs to, counted from `span.lo`; empty if there are only two children.
    lookup: Vec<u32>,
    /// The information gain of dividing it, in billionths of a bit or whole units (see [`Score`]).
    pub(super) gain: u64,
    /// Whether it is in the current cut.
    pub(super) is_live: bool,
    /// Whether dividing it breaks a requirement for good.
    pub(super) is_dead: bool,
}

/// Rows that are published alike in all columns that are generalised or joined.
#[derive(Clone)]
pub(super) struct Cell {
    start: u32,
    end: u32,
    pub(super) weight: u64,
    /// Per attribute, its value.
    pub(super) values: Box<[u32]>,
}

/// A cell that was divided: its parts, each with the child it belongs to. The first part has taken
/// the cell's place.
#[derive(Clone)]
pub(super) struct Divided {
    pub(super) cell: u32,
    pub(super) parts: Vec<(u32, u32)>,
}

impl GeneralisedValue {
    /// The child that `code` belongs to.
    pub(super) fn child(&self, code: u32) -> usize {
        if self.lookup.is_empty() {
            usize::from(code >= self.children[1].lo)
        } else {
            self.lookup[(code - self.span.lo) as usize] as usize
        }
    }

    /// Whether it is a candidate for division.
    pub(super) fn is_candidate(&self) -> bool {
        self.is_live && !self.is_dead && !self.children.is_empty()
    }
}

impl Tree {
    /// The most general state, and a sample row per atom. `generalised` and `fixed` are columns of the view; `also` are
    /// further columns on which atoms must agree.
    pub(super) fn new(
        view: &View,
        rows: &ViewRows,
        generalised: &[usize],
        fixed: &[usize],
        also: &[usize],
        information: Score,
    ) -> (Tree, Vec<u32>) {
        let mut columns: Vec<&[u32]> =
            fixed.iter().chain(generalised).chain(also).map(|&column| rows.column(column)).collect();
        if !rows.target().is_empty() {
            columns.push(rows.target());
        }
        let atoms = Classes::of(rows.len(), &columns);
        let codes_of = |codes: &[u32]| -> Vec<u32> { atoms.sample.iter().map(|&row| codes[row as usize]).collect() };
        let attribute = |&column: &usize| Attribute {
            column,
            quasi: view.columns[column].clone(),
            codes: codes_of(rows.column(column)),
        };
        let fix = |&column: &usize| Fixed { column, codes: codes_of(rows.column(column)) };
        let mut tree = Tree {
            attributes: generalised.iter().map(attribute).collect(),
            fixed: fixed.iter().map(fix).collect(),
            target: if rows.target().is_empty() { Vec::new() } else { codes_of(rows.target()) },
            classes: rows.target().iter().copied().max().map_or(0, |most| most as usize + 1),
            weight: atoms.size,
            values: Vec::new(),
            cells: Vec::new(),
            links: Vec::new(),
            extra: Vec::new(),
            information,
        };
        tree.plant();
        (tree, atoms.sample)
    }

    /// One root value per attribute, one cell per combination of fixed codes.
    fn plant(&mut self) {
        let atoms = self.weight.len();
        let columns: Vec<&[u32]> = self.fixed.iter().map(|fixed| &fixed.codes[..]).collect();
        let cells = Classes::of(atoms, &columns);
        assert!(cells.of_row.is_sorted(), "atoms are numbered by their fixed codes first");
        let values: Box<[u32]> = (0..self.attributes.len() as u32).collect();
        let mut end = 0;
        for class in 0..cells.len() {
            let start = end;
            end += cells.size[class] as u32;
            let weight = self.weight[start as usize..end as usize].iter().sum();
            self.cells.push(Cell { start, end, weight, values: values.clone() });
        }
        let all: Vec<u32> = (0..atoms as u32).collect();
        let root = |attribute: usize| self.value(attribute, self.attributes[attribute].quasi.root(), &all);
        let attributes = 0..self.attributes.len();
        self.values = if atoms < WORTH_A_THREAD {
            attributes.map(root).collect()
        } else {
            attributes.into_par_iter().map(root).collect()
        };
        self.links = vec![(0..self.cells.len() as u32).collect(); self.attributes.len()];
    }

    /// The atoms of a cell. They are contiguous, and move when the cell is divided.
    pub(super) fn atoms(&self, cell: usize) -> Range<usize> {
        self.cells[cell].start as usize..self.cells[cell].end as usize
    }

    /// The codes of an attribute by atom of a cell.
    pub(super) fn codes(&self, attribute: usize, cell: usize) -> &[u32] {
        &self.attributes[attribute].codes[self.atoms(cell)]
    }

    /// The weights of the atoms of a cell.
    pub(super) fn weights(&self, cell: usize) -> &[u64] {
        &self.weight[self.atoms(cell)]
    }

    /// Adds numbers by atom, which move with the atoms from now on. Returns where they are stored.
    pub(super) fn take_in(&mut self, numbers: Vec<u32>) -> usize {
        assert_eq!(numbers.len(), self.weight.len(), "every atom has a number");
        self.extra.push(numbers);
        self.extra.len() - 1
    }

    /// The numbers stored at `at`, by atom of a cell.
    pub(super) fn extra(&self, at: usize, cell: usize) -> &[u32] {
        &self.extra[at][self.atoms(cell)]
    }

    /// The code that every row of a cell has in a fixed attribute.
    pub(super) fn fixed_code(&self, fixed: usize, cell: usize) -> u32 {
        self.fixed[fixed].codes[self.cells[cell].start as usize]
    }

    /// The span that a cell has in an attribute.
    pub(super) fn span(&self, attribute: usize, cell: usize) -> Span {
        self.values[self.cells[cell].values[attribute] as usize].span
    }

    /// Divides a value everywhere.
    pub(super) fn divide(&mut self, value: usize) -> Vec<Divided> {
        let attribute = self.values[value].attribute;
        let first = self.values.len() as u32;
        let children = self.values[value].children.clone();
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); children.len()];
        self.links.resize(self.links.len() + children.len(), Vec::new());
        let mut divided = Vec::new();
        for cell in std::mem::take(&mut self.links[value]) {
            divided.push(self.divide_cell(cell as usize, value, first, &mut members));
        }
        self.values[value].is_live = false;
        let below: Vec<(Span, Vec<u32>)> = children.into_iter().zip(members).collect();
        let grow = |(span, atoms): &(Span, Vec<u32>)| self.value(attribute, *span, atoms);
        let below: Vec<GeneralisedValue> = if self.weight.len() < WORTH_A_THREAD {
            below.iter().map(grow).collect()
        } else {
            below.par_iter().map(grow).collect()
        };
        self.values.extend(below);
        divided
    }

    fn divide_cell(&mut self, cell: usize, value: usize, first: u32, members: &mut [Vec<u32>]) -> Divided {
        let Cell { start, end, .. } = self.cells[cell];
        let attribute = self.values[value].attribute;
        let mut parts: Vec<Vec<u32>> = vec![Vec::new(); members.len()];
        for (atom, &code) in (start..end).zip(self.codes(attribute, cell)) {
            parts[self.values[value].child(code)].push(atom);
        }
        self.rearrange(start as usize, &parts.concat());
        let mut divided = Divided { cell: cell as u32, parts: Vec::new() };
        let general = self.cells[cell].values.clone();
        let mut at = start;
        for (child, atoms) in parts.iter().enumerate().filter(|(_, atoms)| !atoms.is_empty()) {
            let range = at..at + atoms.len() as u32;
            members[child].extend(range.clone());
            let mut values = general.clone();
            values[attribute] = first + child as u32;
            let weight = self.weight[range.start as usize..range.end as usize].iter().sum();
            let part = Cell { start: range.start, end: range.end, weight, values };
            at = part.end;
            let place = if divided.parts.is_empty() { cell } else { self.cells.len() };
            if place == cell {
                // The first part takes the cell's place and its other links.
                self.links[first as usize + child].push(place as u32);
                self.cells[cell] = part;
            } else {
                part.values.iter().for_each(|&value| self.links[value as usize].push(place as u32));
                self.cells.push(part);
            }
            divided.parts.push((first + child as u32, place as u32));
        }
        divided
    }

    /// Puts the atoms from `start` on into the given order, in every column. Atoms of a cell stay contiguous, so that a
    /// cell is read sequentially.
    fn rearrange(&mut self, start: usize, order: &[u32]) {
        fn put<T: Copy>(column: &mut [T], start: usize, order: &[u32]) {
            let moved: Vec<T> = order.iter().map(|&atom| column[atom as usize]).collect();
            column[start..start + order.len()].copy_from_slice(&moved);
        }
        self.attributes.iter_mut().for_each(|attribute| put(&mut attribute.codes, start, order));
        self.fixed.iter_mut().for_each(|fixed| put(&mut fixed.codes, start, order));
        self.extra.iter_mut().for_each(|numbers| put(numbers, start, order));
        put(&mut self.weight, start, order);
        if !self.target.is_empty() {
            put(&mut self.target, start, order);
        }
    }

    /// A value over `atoms`, with its children and the information gain of dividing it.
    fn value(&self, attribute: usize, span: Span, atoms: &[u32]) -> GeneralisedValue {
        let quasi = &self.attributes[attribute].quasi;
        let counts = split::Counts {
            codes: &self.attributes[attribute].codes,
            weight: &self.weight,
            target: &self.target,
            classes: self.classes,
        };
        let weight: u64 = atoms.iter().map(|&atom| self.weight[atom as usize]).sum();
        let children = split::children(quasi, span, atoms, &counts);
        let mut value =
            GeneralisedValue { attribute, span, children, lookup: Vec::new(), gain: 0, is_live: true, is_dead: false };
        if value.children.len() > 2 {
            let below = value.children.iter().enumerate();
            value.lookup = below.flat_map(|(child, span)| (0..span.width()).map(move |_| child as u32)).collect();
        }
        if !value.children.is_empty() {
            value.gain = match self.information {
                Score::Entropy if self.classes > 0 => split::entropy_gain(&value, atoms, &counts),
                _ => weight * split::UNIT,
            };
        }
        value
    }

    /// The current information gain of dividing `value`.
    pub(super) fn gain(&self, value: usize) -> u64 {
        if self.information != Score::Discernability {
            return self.values[value].gain;
        }
        // The number of pairs of rows that are published alike now and would not be after the division.
        let attribute = self.values[value].attribute;
        let mut pairs = 0u64;
        for cell in self.links[value].iter().map(|&cell| cell as usize) {
            let mut parts = vec![0u64; self.values[value].children.len()];
            for (&code, &weight) in self.codes(attribute, cell).iter().zip(self.weights(cell)) {
                parts[self.values[value].child(code)] += weight;
            }
            let squares: u64 = parts.iter().map(|part| part * part).sum();
            pairs = pairs.saturating_add(self.cells[cell].weight.pow(2) - squares);
        }
        pairs
    }

    /// The current cut, for a view of `columns` columns.
    pub(super) fn cuts(&self, columns: usize) -> Cuts {
        let mut cuts: Cuts = vec![None; columns];
        for (index, attribute) in self.attributes.iter().enumerate() {
            let live = self.values.iter().filter(|value| value.is_live && value.attribute == index);
            let mut spans: Vec<Span> = live.map(|value| value.span).collect();
            spans.sort_unstable();
            cuts[attribute.column] = Some(spans);
        }
        cuts
    }

    /// Per attribute, the values of its cut.
    pub(super) fn live(&self) -> Vec<Vec<usize>> {
        let mut live = vec![Vec::new(); self.attributes.len()];
        let values = self.values.iter().enumerate().filter(|(_, value)| value.is_live);
        values.for_each(|(at, value)| live[value.attribute].push(at));
        live
    }

    /// The live value of an attribute with this span.
    pub(super) fn find(&self, attribute: usize, span: Span) -> Option<usize> {
        self.values.iter().position(|value| value.is_live && value.attribute == attribute && value.span == span)
    }
}
