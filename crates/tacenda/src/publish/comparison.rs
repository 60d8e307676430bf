//! The utility of a view, compared with what else could have been published (paper 004, section 6).
//!
//! There are four lines: the view; its rows as they are (the paper's baseline BLE); plain k-anonymity on all its
//! columns but the target (KAE); and the rows as they are without the columns that readers can join on (RJE). Each has
//! its distortion per row. If the view has the target, each also has the information that its columns keep about the
//! target, and the error of a decision tree. Private: it needs the private table, and is for the steward.
//!
//! The tree is grown on two of three rows and tested on the others, in the order of the keyed identifiers. This order
//! is independent of the rows' contents, and the same in every run of a project.

use crate::grouping::views;
use crate::grouping::views::{Options, Task};
use crate::measure::{Feature, Tree};
use crate::model::{Bound, Cuts, Demand, PublishedView, Requirement, Schema, Table, View, ViewColumn, ViewRows};
use crate::promise::Views;
use crate::publish::PreparedView;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// The most rows that trees are grown and tested on.
pub const MOST_ROWS: usize = 60_000;

/// The most classes that a tree predicts.
const MOST_CLASSES: usize = 50;

/// A view compared with what else could be published. Private: for the steward.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct ComparisonReport {
    /// The column that is predicted, if the view has it.
    pub target: Option<String>,
    /// The view first.
    pub lines: Vec<Compared>,
    /// Rows that trees were grown on: two of three in the order of the keyed identifiers.
    pub training_rows: u64,
    /// Rows that trees were tested on: every third one.
    pub test_rows: u64,
    /// What was not measured.
    pub notes: Vec<String>,
}

/// What was compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Against {
    /// The view.
    View,
    /// Its rows as they are.
    AsItIs,
    /// Plain k-anonymity on all columns.
    KAnonymity,
    /// Its rows as they are, without the columns that readers can join on.
    WithoutJoin,
}

/// One line of the comparison.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ComparedReport")]
pub struct Compared {
    /// `view`, `as-it-is`, `k-anonymity` on all columns, or `without-join`: without the columns readers can join on.
    #[schemars(with = "String")]
    pub of: Against,
    /// The k of `k-anonymity`.
    pub k: Option<u64>,
    /// Per row, how many levels its categories were lifted, summed over the columns.
    pub distortion_categories: f64,
    /// Per row, the share of the domain that its numeric spans cover, summed over the columns.
    pub distortion_numbers: f64,
    /// The share of the columns' information about the target that is kept, column by column.
    pub information_kept: Option<f64>,
    /// The share of test rows whose class a decision tree predicts wrongly.
    pub classification_error: Option<f64>,
}

/// The rows of a view and what is asked of them.
struct Laid<'a> {
    prepared: &'a PreparedView,
    views: &'a Views,
    view: View,
    rows: ViewRows,
    /// The place of the target.
    target: Option<usize>,
    /// The rows trees are grown on, and tested on; none where there are no trees.
    split: Option<(Vec<u32>, Vec<u32>)>,
    classes: Vec<u32>,
}

impl ComparisonReport {
    /// Measures the view and the others. `schema` and `table` have the view's columns only.
    pub fn of(views: &Views, prepared: &PreparedView, schema: &Schema, table: &Table) -> ComparisonReport {
        let setting = Laid::new(views, prepared, schema, table);
        let mut notes = Vec::new();
        let mut asked: Vec<(Against, Cuts)> =
            vec![(Against::View, prepared.cuts.clone()), (Against::AsItIs, setting.as_it_is())];
        let least = least(views);
        match least {
            None => notes.push("plain k-anonymity was not measured: no k is promised".to_string()),
            Some(k) => match setting.anonymous(k) {
                Some(cuts) => asked.push((Against::KAnonymity, cuts)),
                None => notes.push(format!("plain k-anonymity was not measured: these rows cannot have k = {k}")),
            },
        }
        if !prepared.joined.is_empty() {
            asked.push((Against::WithoutJoin, setting.without_join()));
        }
        let k = |of: Against| least.filter(|_| of == Against::KAnonymity);
        let lines = asked.par_iter().map(|(of, cuts)| Compared { k: k(*of), ..setting.line(*of, cuts) }).collect();
        if setting.target.is_some() && setting.split.is_none() {
            notes.push(format!("no tree was grown: the target has one value, or more than {MOST_CLASSES}"));
        }
        if setting.rows.len() > MOST_ROWS && setting.split.is_some() {
            notes.push(format!("trees were grown on every {}th row only", setting.rows.len().div_ceil(MOST_ROWS)));
        }
        // There may be no trees.
        let (training, test) = setting.split.as_ref().map_or((0, 0), |(training, test)| (training.len(), test.len()));
        let target = setting.target.map(|at| setting.view.columns[at].name.clone());
        ComparisonReport { target, lines, training_rows: training as u64, test_rows: test as u64, notes }
    }
}

/// The largest k that is promised.
fn least(views: &Views) -> Option<u64> {
    let k = |demand: Demand| match demand.bound {
        Bound::Anonymity { k } => Some(k),
        Bound::Linkability { .. } | Bound::OneIn { .. } => None,
    };
    views.demands().into_iter().filter_map(k).max()
}

impl<'a> Laid<'a> {
    fn new(views: &'a Views, prepared: &'a PreparedView, schema: &Schema, table: &Table) -> Laid<'a> {
        let view = View { name: prepared.name.clone(), columns: schema.quasi.clone() };
        let target = views.target.as_ref().and_then(|name| view.column(name));
        let target_codes = target.map_or(Vec::new(), |at| table.quasi(at).to_vec());
        // Only classes that occur are numbered, so that wide domains cost nothing.
        let mut kinds = target_codes.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let place = |code: &u32| kinds.binary_search(code).expect("every class was listed") as u32;
        let classes: Vec<u32> = target_codes.iter().map(place).collect();
        let columns = (0..view.columns.len()).map(|at| table.quasi(at).to_vec()).collect();
        let every = table.len().div_ceil(MOST_ROWS).max(1);
        let sample = || (0..table.len() as u32).step_by(every).enumerate();
        let part = |is_test: bool| sample().filter(|(at, _)| (at % 3 == 2) == is_test).map(|(_, row)| row).collect();
        let split = (2..=MOST_CLASSES).contains(&kinds.len()).then(|| (part(false), part(true)));
        let rows = ViewRows::new(columns, target_codes);
        Laid { prepared, views, view, rows, target, split, classes }
    }

    fn as_it_is(&self) -> Cuts {
        vec![None; self.view.columns.len()]
    }

    fn without_join(&self) -> Cuts {
        let root = |at: usize| self.prepared.joined.contains(&at).then(|| vec![self.view.columns[at].root()]);
        (0..self.view.columns.len()).map(root).collect()
    }

    /// Plain k-anonymity on all columns but the target, made with the same algorithm as the view.
    fn anonymous(&self, k: u64) -> Option<Cuts> {
        let columns = (0..self.view.columns.len()).filter(|&at| Some(at) != self.target);
        let x = columns.map(|column| ViewColumn::new(0, column)).collect();
        let requirements = [Requirement::anonymity(x, vec![ViewColumn::record(0)], k)];
        let task =
            Task { view: &self.view, rows: &self.rows, earlier: &[], requirements: &requirements, impossible: &[] };
        let options = Options { information: self.views.score, ..Options::default() };
        views::specialise(&task, &options).ok().map(|outcome| outcome.cuts)
    }

    fn line(&self, of: Against, cuts: &Cuts) -> Compared {
        let utility = views::utility(&self.view, &self.rows, cuts);
        let told = utility.told.iter().enumerate().filter(|(at, _)| Some(*at) != self.target);
        let [kept, exact] = told.fold([0.0, 0.0], |sum, (_, told)| [sum[0] + told[0], sum[1] + told[1]]);
        Compared {
            of,
            k: None,
            distortion_categories: utility.distortion_categories,
            distortion_numbers: utility.distortion_numbers,
            information_kept: (self.target.is_some() && exact > 1e-9).then(|| (kept / exact).clamp(0.0, 1.0)),
            classification_error: self.split.as_ref().map(|split| self.error(cuts, split)),
        }
    }

    /// The error of a tree that sees the view with these cuts.
    fn error(&self, cuts: &Cuts, (training, test): &(Vec<u32>, Vec<u32>)) -> f64 {
        let published = PublishedView::recode(&self.view, &self.rows, cuts);
        let feature = |at: usize| {
            let column = published.column(at);
            let ordered = self.view.columns[at].hierarchy().is_none();
            Feature { codes: column.codes.clone(), size: column.spans.len() as u32, ordered }
        };
        let columns = (0..self.view.columns.len()).filter(|&at| Some(at) != self.target);
        let features: Vec<Feature> = columns.map(feature).collect();
        Tree::grow(&features, &self.classes, training).error(&features, &self.classes, test) / 100.0
    }
}
