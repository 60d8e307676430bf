//! Publishing a view: specialise it against all published views, let the auditor judge, and take steps back if
//! necessary.
//!
//! A view is published like any other release. The source table is projected to the view's columns, rows that are
//! published alike form a group, and the auditor judges the finished release together with all views that a recipient
//! could join with it. Steps of the specialisation are taken back until it passes.

use crate::audit::{Evidence, Finding, ViewEvidence, ViewVerdict, gate_view};
use crate::grouping::views::{Options, Task, Unrelated, Utility, ViewsError};
use crate::grouping::{GroupingError, views};
use crate::model::{
    Change, Cuts, Demand, Grouping, History, Membership, PastView, PublishedView, Release, Requirement, Role, Row,
    Schema, Seed, Table, View, ViewRows, asked,
};
use crate::promise::{NamedView, Views};
use crate::publish::{Before, PeopleFacts, Prepared, Prepares, PublishError, Stamp, recode};

/// How many steps the auditor may take to count one join.
const LIMIT: u64 = 1 << 30;

/// Results about a view, besides its release.
#[derive(Clone, Debug)]
pub struct PreparedView {
    /// Its name.
    pub name: String,
    /// Who gets it.
    pub recipients: Vec<String>,
    /// How many specialisations were taken back because the finished view did not pass.
    pub steps_back: usize,
    /// The utility of the view.
    pub utility: Utility,
    /// Per column, the spans it is published with; `None` if it is published as it is.
    pub cuts: Cuts,
    /// The columns that it shares with an earlier view that some recipient also sees.
    pub joined: Vec<usize>,
    /// What was found and what was not examined, one sentence each.
    pub notes: Vec<String>,
}

/// A view that is to be published.
#[derive(Clone, Copy, Debug)]
pub struct NewView<'a> {
    /// All columns of the policy.
    pub schema: &'a Schema,
    /// The policy's part about views.
    pub views: &'a Views,
    /// The view.
    pub named: &'a NamedView,
}

/// A view about to be published, and all that it is judged by.
pub(super) struct Setting<'a> {
    /// All columns.
    schema: &'a Schema,
    views: &'a Views,
    demands: Vec<Demand>,
    named: &'a NamedView,
    view: View,
    rows: ViewRows,
    earlier: Vec<PublishedView>,
    past: Vec<PastView>,
    /// Per group of recipients who may pool: the earlier views they see.
    seen: Vec<Vec<usize>>,
    requirements: Vec<Requirement>,
    /// Per requirement, the earlier views it is about, numbered from 1.
    members: Vec<Vec<usize>>,
    /// Per requirement, the place of its promise in `demands`.
    promise_of: Vec<usize>,
    /// What was concluded about views made elsewhere.
    notes: Vec<String>,
}

impl<'a> Setting<'a> {
    /// Projects `table` to the new view and recalls what is published. `adopted` are views made elsewhere.
    pub(super) fn new(new: NewView<'a>, history: &History, adopted: &[PastView], table: &Table) -> Setting<'a> {
        let NewView { schema, views, named } = new;
        let columns = places(schema, &named.columns);
        let quasi = columns.iter().map(|&column| schema.quasi[column].clone()).collect();
        let view = View { name: named.name.clone(), columns: quasi };
        let target = views.target.as_ref().filter(|target| named.columns.contains(target));
        let target = target.map(|target| places(schema, std::slice::from_ref(target))[0]);
        let target = target.map_or(Vec::new(), |column| table.quasi(column).to_vec());
        let rows = ViewRows::new(columns.iter().map(|&column| table.quasi(column).to_vec()).collect(), target);
        let new = adopted.iter().filter(|adopted| history.views.iter().all(|known| known.name != adopted.name));
        let past: Vec<PastView> = history.views.iter().chain(new).cloned().collect();
        let published = |past: &PastView| past.published(schema).expect("a series keeps its columns");
        let earlier: Vec<PublishedView> = past.iter().map(published).collect();
        let recipients: Vec<Vec<String>> = past.iter().map(|past| recipients(views, past)).collect();
        let seen = views.seen_together(&named.recipients, &recipients);
        let demands = views.demands();
        // Columns of Y are published as they are.
        let asked = asked(&demands, (&view, |_| true), &earlier, &seen);
        let promise_of = asked.iter().map(|asked| asked.demand).collect();
        let (members, requirements) = asked.into_iter().map(|asked| (asked.members, asked.requirement)).unzip();
        let setting = Setting {
            schema,
            views,
            demands,
            named,
            view,
            rows,
            earlier,
            past,
            seen,
            requirements,
            members,
            promise_of,
            notes: Vec::new(),
        };
        setting.noting_apart(&recipients)
    }

    /// The same with these notes first.
    pub(super) fn noting(self, notes: Vec<String>) -> Setting<'a> {
        Setting { notes: notes.into_iter().chain(self.notes).collect(), ..self }
    }

    /// Notes which earlier views nobody is assumed to combine with this one.
    fn noting_apart(mut self, recipients: &[Vec<String>]) -> Setting<'a> {
        let is_apart = |view: &usize| !self.seen.iter().flatten().any(|seen| seen == view);
        let note = |view: usize| {
            let (name, who) = (&self.past[view].name, recipients[view].join(", "));
            format!("view {name} was not joined: pool says that {who} does not share with this view's recipients")
        };
        self.notes = (0..self.past.len()).filter(is_apart).map(note).collect();
        self
    }

    fn task(&self) -> Task<'_> {
        Task {
            view: &self.view,
            rows: &self.rows,
            earlier: &self.earlier,
            requirements: &self.requirements,
            impossible: &self.views.impossible,
        }
    }

    /// Per earlier view, whether it was made elsewhere: it may lack people or have counterfeits.
    fn elsewhere(&self) -> Vec<bool> {
        self.past.iter().map(|past| past.release == 0).collect()
    }

    /// The columns of the view that readers can join it on.
    fn joined(&self) -> Vec<usize> {
        let is_seen =
            |name: &str| self.seen.iter().flatten().any(|&view| self.earlier[view].view.column(name).is_some());
        (0..self.view.columns.len()).filter(|&column| is_seen(&self.view.columns[column].name)).collect()
    }

    fn options(&self) -> Options {
        let unrelated = if self.elsewhere().contains(&true) { Unrelated::Allow } else { Unrelated::Refuse };
        Options { information: self.views.score, unrelated, ..Options::default() }
    }

    /// What a steward should know about each requirement, before any work is done.
    pub(super) fn explain(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.notes.clone();
        if self.requirements.is_empty() {
            notes.push(format!(
                "view {} is published as it is: its recipients do not see all of y, so no requirement applies yet",
                self.named.name
            ));
        }
        let is_whole = |members: &[usize]| {
            let is_seen = |seen: &Vec<usize>| seen.iter().map(|view| view + 1).eq(members.iter().copied());
            self.seen.iter().any(is_seen)
        };
        for (index, members) in self.members.iter().enumerate().filter(|(_, members)| is_whole(members)) {
            // The same with only the views it concerns, renumbered.
            let earlier: Vec<PublishedView> = members.iter().map(|&view| self.earlier[view - 1].clone()).collect();
            let place = |view: usize| members.iter().position(|&member| member == view).map_or(0, |at| at + 1);
            let mut requirement = self.requirements[index].clone();
            requirement.x.iter_mut().chain(&mut requirement.y).for_each(|at| at.view = place(at.view));
            let requirements = [requirement];
            let task = Task { earlier: &earlier, requirements: &requirements, ..self.task() };
            let found = views::explain_requirement(&task, 0).unwrap_or_default();
            notes.extend(found.iter().map(|note| format!("requirement {}: {note}", self.promise_of[index] + 1)));
        }
        notes.dedup();
        notes
    }

    /// The release with these cuts: rows that are published alike are a group.
    fn release(&self, schema: &Schema, cuts: &Cuts, table: &Table, stamp: Stamp<'_>) -> (Release, Membership) {
        let published = PublishedView::recode(&self.view, &self.rows, cuts);
        let columns: Vec<usize> = (0..self.view.columns.len()).collect();
        let classes = published.classes(&columns);
        let mut rows: Vec<u32> = (0..published.len() as u32).collect();
        rows.sort_by_key(|&row| classes.of_row[row as usize]);
        let mut grouping = Grouping::default();
        for alike in rows.chunk_by(|&a, &b| classes.of_row[a as usize] == classes.of_row[b as usize]) {
            let people: Vec<Row> = alike.iter().map(|&row| Row(row)).collect();
            grouping.push_with_region(&people, &[], &published.spans(alike[0] as usize, &columns));
        }
        recode(schema, &grouping, table, stamp)
    }

    fn judge(&self, made: &Made<'_>, release: &Release, membership: &Membership) -> ViewVerdict {
        gate_view(&ViewEvidence {
            release: Evidence { schema: &made.schema, history: made.history, table: &made.table, release, membership },
            name: &self.named.name,
            earlier: &self.earlier,
            seen: &self.seen,
            demands: &self.demands,
            impossible: &self.views.impossible,
            elsewhere: &self.elsewhere(),
            pairs_suffice: self.views.pairs_suffice,
            limit: LIMIT,
        })
    }
}

/// What a release of a view is made from and judged with.
struct Made<'a> {
    schema: Schema,
    table: Table,
    history: &'a History,
}

/// Makes the release of a view and has it judged. `adopted` are views made elsewhere that the history does not hold
/// yet. Changes nothing.
#[doc(hidden)] // Only tests and benches call it from outside.
pub fn prepare_view(
    new: NewView<'_>,
    adopted: &[PastView],
    seed: &Seed,
    before: Before<'_>,
    table: &Table,
    label: &str,
) -> Result<Prepared, PublishError> {
    prepare_setting(&Setting::new(new, before.history, adopted, table), seed, before, table, label)
}

/// The same once the setting is made.
pub(super) fn prepare_setting(
    setting: &Setting<'_>,
    seed: &Seed,
    before: Before<'_>,
    table: &Table,
    label: &str,
) -> Result<Prepared, PublishError> {
    assert_impossible(setting, table)?;
    assert_same_people(setting, before, table)?;
    let task = setting.task();
    // A steward knows the promises of the policy file, not the requirements made from them.
    let number = |requirement: usize| setting.promise_of[requirement - 1] + 1;
    let outcome = views::specialise_among(&task, &setting.members, &setting.options());
    let mut outcome = outcome.map_err(|error| error.numbered(number))?;
    let schema = project(setting.schema, setting.named);
    let part = narrow(table, setting.schema, &schema);
    let made = Made { schema, table: part, history: before.history };
    // No promise about views covers ids that are stable over the series.
    let stamp = Stamp { seed, number: before.history.releases + 1, label, linked_ids: false };
    let mut passed: Option<(Cuts, Release, Membership, ViewVerdict)> = None;
    let mut refused: Option<Vec<Finding>> = None;
    let steps_back = outcome.back_off(|cuts| {
        let (release, membership) = setting.release(&made.schema, cuts, &made.table, stamp);
        let verdict = setting.judge(&made, &release, &membership);
        let passes = verdict.findings.is_empty();
        if passes {
            passed = Some((cuts.clone(), release, membership, verdict));
        } else {
            refused.get_or_insert(verdict.findings);
        }
        passes
    });
    let steps_back = steps_back.ok_or_else(|| PublishError::Refused(refused.unwrap_or_default()))?;
    // The last state that passed need not be the one that is kept.
    let (release, membership, verdict) = match passed {
        Some((cuts, release, membership, verdict)) if cuts == outcome.cuts => (release, membership, verdict),
        _ => {
            let (release, membership) = setting.release(&made.schema, &outcome.cuts, &made.table, stamp);
            let verdict = setting.judge(&made, &release, &membership);
            (release, membership, verdict)
        }
    };
    if !verdict.findings.is_empty() {
        return Err(PublishError::Refused(verdict.findings));
    }
    let own = PublishedView::of_release(&setting.named.name, &made.schema, &[], &release);
    let own = own.expect("there are no sensitive values to encode");
    let mut past = setting.past.clone();
    past.push(PastView::of(&own, stamp.number, setting.named.recipients.clone()));
    let warnings = outcome.warnings.iter().map(|warning| warning.clone().numbered(number).to_string());
    let notes = notes_of(setting, warnings, &verdict);
    let view = PreparedView {
        name: setting.named.name.clone(),
        recipients: setting.named.recipients.clone(),
        utility: views::utility(&setting.view, &setting.rows, &outcome.cuts),
        joined: setting.joined(),
        cuts: outcome.cuts,
        steps_back,
        notes,
    };
    Ok(Prepared {
        history: before.history.after_view(table, stamp.number, past),
        change: Change::between(before.history, before.snapshot, table),
        facts: PeopleFacts::of(before.history, table, &membership),
        release,
        schema: made.schema,
        membership,
        about: Prepares::View(view),
    })
}

/// The notes for the steward: about the view, the warnings of specialising, and those of the gate.
fn notes_of(setting: &Setting<'_>, warnings: impl Iterator<Item = String>, verdict: &ViewVerdict) -> Vec<String> {
    let mut notes: Vec<String> = setting.notes.iter().cloned().chain(warnings).collect();
    notes.dedup();
    notes.extend(verdict.standing.iter().chain(&verdict.warnings).cloned());
    notes
}

/// Refuses an impossible pair that somebody in the table has, because excluding true pairs would falsify every count.
fn assert_impossible(setting: &Setting<'_>, table: &Table) -> Result<(), ViewsError> {
    for rule in &setting.views.impossible {
        let column = |name: &String| setting.schema.quasi.iter().position(|quasi| quasi.name == *name);
        let (Some(left), Some(right)) = (column(&rule.left.0), column(&rule.right.0)) else { continue };
        let pairs = table.quasi(left).iter().zip(table.quasi(right));
        let people = pairs.filter(|(a, b)| rule.left.1.contains(**a) && rule.right.1.contains(**b)).count() as u64;
        if people > 0 {
            return Err(ViewsError::NotImpossible { left: rule.left.0.clone(), right: rule.right.0.clone(), people });
        }
    }
    Ok(())
}

/// Refuses other people than those of earlier views, and changes of published values.
fn assert_same_people(setting: &Setting<'_>, before: Before<'_>, table: &Table) -> Result<(), GroupingError> {
    if before.history.releases == 0 {
        return Ok(());
    }
    let known = before.history.align(table).filter(Option::is_some).count();
    let (gone, arrived) = (before.history.records.len() - known, table.len() - known);
    if gone + arrived > 0 {
        return Err(GroupingError::OtherPeople { gone, arrived });
    }
    let Some(last) = before.snapshot else { return Ok(()) };
    let out: Vec<String> = setting.past.iter().flat_map(|past| past.columns.clone()).collect();
    let out = places(setting.schema, &out);
    let differs = |row: &usize| out.iter().any(|&column| table.quasi(column)[*row] != last.quasi(column)[*row]);
    match (0..table.len()).filter(differs).count() {
        0 => Ok(()),
        records => Err(GroupingError::Changed {
            records,
            what: "published",
            way_out: "publish every view from the same snapshot, or start a new series",
        }),
    }
}

/// The places of columns among the quasi attributes, ascending, each once.
fn places(schema: &Schema, columns: &[String]) -> Vec<usize> {
    (0..schema.quasi.len()).filter(|&at| columns.contains(&schema.quasi[at].name)).collect()
}

/// The recipients of a view: those it was published to, and those the policy names now. If recipients are judged
/// separately, `Project` refuses new recipients for a published view.
fn recipients(views: &Views, past: &PastView) -> Vec<String> {
    let named = views.find(&past.name).map_or(&[][..], |view| &view.recipients);
    let mut all = past.recipients.clone();
    all.extend(named.iter().filter(|name| !past.recipients.contains(name)).cloned());
    all
}

/// The schema with the columns of one view.
fn project(schema: &Schema, named: &NamedView) -> Schema {
    let columns = places(schema, &named.columns);
    let quasi = columns.iter().map(|&column| schema.quasi[column].clone()).collect::<Vec<_>>();
    let order = (0..quasi.len()).map(|index| (Role::Quasi, index)).collect();
    Schema { identifier: schema.identifier.clone(), quasi, order, ..Schema::default() }
}

/// The part of a table with the columns `whole` that has the columns `part`.
pub(super) fn narrow(table: &Table, whole: &Schema, part: &Schema) -> Table {
    let names: Vec<String> = part.quasi.iter().map(|quasi| quasi.name.clone()).collect();
    let columns = places(whole, &names).into_iter().map(|column| table.quasi(column).to_vec()).collect();
    let sensitive = table.sensitive().to_vec();
    Table::new(table.keys().to_vec(), columns, sensitive, table.values.clone(), Vec::new(), Vec::new())
}
