//! Releases made by anyone, in any of the usual notations.
//!
//! [`read`] turns published files into [`Release`]s with one numbering of values and one order of codes over all of
//! them. What the texts of a column mean is decided for all files together, reported in a [`ColumnNote`], and can be
//! overruled. What cannot be read is an error with file, row and column. Nothing is guessed silently.
//!
//! # Guarantee
//! The releases depend on what the files publish, not on how they write it: the same spans in another
//! notation, delimiter or row order give the same releases.

mod bound;
mod cell;
mod lookalike;
mod thousands;
mod settle;
mod spelling;
mod parts;
mod raw;
mod weights;
mod links;
mod sets;
mod levels;
mod arx_project;
mod hierarchy;
mod numbers;
mod labels;
mod column;
mod counts;
mod groups;
mod truth;
mod twins;
mod when;

pub use arx_project::{hierarchies as arx_hierarchies, is_hierarchy, read_hierarchy};
pub use cell::Cell;
pub use column::ColumnNote;
pub use counts::counts_beside;
pub use raw::header;
pub use spelling::DateForm;
pub use truth::{key, read_households, read_population, read_truth};
pub use weights::Weight;
pub use when::{date, date_in};

use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::source::Source;
use crate::model::{Domain, GROUP_ID, Hierarchy, Quasi, RECORD, ROW_WEIGHT, Release, Schema, Sensitive, Table, Traces};
use bound::NumberOrDay;
use column::Column;
use groups::Numbering;
use raw::{RawColumn, RawFile};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How many files an error names.
const NAMED_FILES: usize = 3;

/// How many columns a sentence names.
const NAMED_COLUMNS: usize = 12;

/// What is to be read.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The quasi columns. A file may lack some.
    pub quasi: Vec<String>,
    /// The sensitive columns; several count as one combined value. A file may lack all of them.
    pub sensitive: Vec<String>,
    /// The column that numbers groups; by default `group_id`, if files have it.
    pub group: Option<String>,
    /// The column that links records; by default `record`, if files have it.
    pub linked: Option<String>,
    /// Whether to look for other columns that link records if files do not have that one.
    pub finds_links: bool,
    /// Whether a text that no span expresses exactly may be read as a wider span. That is enough for an audit, but not
    /// for publishing.
    pub reads_around: bool,
    /// The column that says how many people a row stands for.
    pub weight: Weight,
    /// The identifier column of the private tables. Without one, every row is a different person.
    pub identifier: Option<String>,
    /// Options for single columns.
    pub wishes: BTreeMap<String, Wish>,
}

/// Options for a column.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// How it is to be read.
    pub notation: Notation,
    /// Its tree, in ARX's layout.
    pub hierarchy: Option<PathBuf>,
    /// Its lower and upper end, half open.
    pub domain: Option<(String, String)>,
    /// Its domain or tree as declared in a policy file. The two fields above take precedence.
    pub declared: Option<Domain>,
    /// Texts that mean any value.
    pub any: Vec<String>,
    /// What missing values in published cells mean.
    pub missing: Missing,
    /// The format of its dates or times, if it is not 2026-11-15.
    pub dates: Option<DateForm>,
}

impl Wish {
    /// Whether texts are nodes of a given tree.
    fn has_tree(&self) -> bool {
        self.hierarchy.is_some() || matches!(self.declared, Some(Domain::Category(_)))
    }

    /// The given tree, if there is one.
    fn tree(&self) -> Option<Result<Hierarchy, String>> {
        match (&self.hierarchy, &self.declared) {
            (Some(file), _) => Some(hierarchy::read(file)),
            // "Not recorded" is an empty cell in every file, not a node of the tree.
            (None, Some(Domain::Category(tree))) => Some(tree.without_null().map_err(|error| error.to_string())),
            (None, _) => None,
        }
    }

    /// The given ends of its numbers or dates, half open. The outer `None` means that none were given, the inner one
    /// that they cannot be read.
    fn ends(&self) -> Option<Option<(NumberOrDay, NumberOrDay)>> {
        match (&self.domain, &self.declared) {
            (Some((lo, hi)), _) => Some(bound::read(lo.trim()).zip(bound::read(hi.trim()))),
            (None, Some(domain)) => Some(NumberOrDay::ends(domain)),
            (None, None) => None,
        }
    }
}

/// What a missing value in a published cell means.
///
/// It may be suppressed: then the row may be anybody's. Or it was never recorded, which is a value that distinguishes
/// people. The first reading never excludes anyone wrongly.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Missing {
    /// Any value, unless the column also uses stars for that or the private table has missing values.
    #[default]
    Auto,
    /// Any value, as `*` does.
    Any,
    /// "Not recorded", a value like any other.
    Value,
}

impl Missing {
    /// The meaning with this name.
    pub fn named(name: &str) -> Option<Missing> {
        match name {
            "auto" => Some(Missing::Auto),
            "any" => Some(Missing::Any),
            "value" => Some(Missing::Value),
            _ => None,
        }
    }
}

/// How a column is to be read.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Notation {
    /// As its cells suggest.
    #[default]
    Auto,
    /// Numbers or dates and their ranges.
    Interval,
    /// Whole numbers and their ranges.
    Integer,
    /// Numbers and their ranges, with this many decimals, or as many as are written.
    Real(Option<u8>),
    /// Dates and their ranges.
    Date,
    /// Labels and their prefixes, sets too.
    Prefix,
    /// Labels and their sets, prefixes too.
    Set,
    /// Every text is a value.
    Exact,
}

impl Notation {
    /// The notation with this name.
    pub fn named(name: &str) -> Option<Notation> {
        Some(match name {
            "auto" => Notation::Auto,
            "interval" => Notation::Interval,
            "integer" => Notation::Integer,
            "real" => Notation::Real(None),
            "date" => Notation::Date,
            "prefix" => Notation::Prefix,
            "set" => Notation::Set,
            "exact" => Notation::Exact,
            _ => Notation::Real(Some(name.strip_prefix("real:")?.parse().ok().filter(|&decimals: &u8| decimals <= 9)?)),
        })
    }
}

/// A published file.
#[derive(Debug)]
pub struct File {
    /// The file.
    pub source: Source,
    /// What the release is called.
    pub label: String,
    /// The counts of counterfeits beside it, if there are any.
    pub counterfeits: Option<Source>,
}

/// Releases of anyone, read.
#[derive(Debug)]
pub struct Foreign {
    /// The columns of all files together.
    pub schema: Schema,
    /// The releases in the order of the files.
    pub releases: Vec<Release>,
    /// Per release, what its file shows beside the rows.
    pub shown: Vec<Traces>,
    /// The private tables, in order; empty if none were given.
    pub truth: Vec<Table>,
    /// What was concluded about each quasi column.
    pub columns: Vec<ColumnNote>,
    /// Columns of the files that no option names. They are not examined.
    pub others: Vec<String>,
    /// What else was concluded, one sentence each.
    pub notes: Vec<String>,
    /// What was assumed about the publisher, one sentence each. All conclusions depend on it.
    pub assumptions: Vec<String>,
    /// The SHA-256 of each file.
    pub digests: Vec<String>,
}

/// Reads published files, and the private tables behind them if these are given.
pub fn read(files: &[File], truth: &[Source], ask: &Ask) -> Result<Foreign, IngestError> {
    let sources: Vec<&Source> = files.iter().map(|file| &file.source).collect();
    let (count, found) = look_around(&sources, ask)?;
    let names = Names::new(ask, found.as_ref(), count.as_deref());
    let wanted = names.wanted();
    let read = |source: &Source| RawFile::read(source, &wanted, ask.quasi.len());
    let published = files.par_iter().map(|file| read(&file.source)).collect::<Result<Vec<RawFile>, IngestError>>()?;
    let mut published = published;
    let mut private = truth.par_iter().map(read).collect::<Result<Vec<RawFile>, IngestError>>()?;
    names.refuse_absent(&published, &private)?;
    let (mut notes, mut assumptions) = (Vec::new(), Vec::new());
    let is_weighted = names.weigh(&mut published, &mut assumptions)?;
    rewrite(ask, &mut published, &mut private, &mut notes);
    names.refuse_twins(&published, &private)?;

    let columns = (0..ask.quasi.len())
        .into_par_iter()
        .map(|at| {
            let name = &ask.quasi[at];
            let wish = ask.wishes.get(name).cloned().unwrap_or_default();
            column::read(name, &wish, ask.reads_around, &of(&published, at), &of(&private, at))
        })
        .collect::<Result<Vec<Column>, IngestError>>()?;
    let numbering = Numbering::new(&names, &published, &private);
    let mut others = names.others(&published, is_weighted);
    let releases = (0..files.len())
        .into_par_iter()
        .map(|at| groups::release(at, &files[at], &published[at], &columns, &names, &numbering))
        .collect::<Result<Vec<(Release, Traces)>, IngestError>>()?;
    let (mut releases, shown): (Vec<Release>, Vec<Traces>) = releases.into_iter().unzip();
    let is_linked =
        found.as_ref().is_some_and(|found| links::fit(&releases, names.has_values(&shown)).links(found.is_counter));
    if let Some(found) = &found {
        assumptions.push(said_of_link(found, is_linked));
        if !is_linked {
            releases.iter_mut().for_each(|release| release.linked = Vec::new());
        }
        others.retain(|name| *name != found.column);
    }
    assumptions.extend(names.assumptions(&published, &others));
    let tables = truth::tables(&private, &columns, &names, &numbering, &key)?;
    names.tell(&published, &shown, found.is_none() || is_linked, !truth.is_empty(), &mut notes);
    let sensitive = ask.sensitive.iter().map(|name| Sensitive { nullable: true, ..Sensitive::open(name) }).collect();
    let identifier = ask.identifier.as_deref().unwrap_or_default();
    let (quasi, column_notes): (Vec<Quasi>, Vec<ColumnNote>) =
        columns.into_iter().map(|column| (column.quasi, column.note)).unzip();
    assumptions.extend(column_notes.iter().flat_map(ColumnNote::assumptions));
    Ok(Foreign {
        schema: Schema::new(identifier, quasi, sensitive),
        releases,
        shown,
        truth: tables,
        assumptions,
        columns: column_notes,
        others,
        notes,
        digests: published.into_iter().map(|file| file.digest).collect(),
    })
}

/// Looks for columns that no option names but that matter: counts of people, and ids that link files.
fn look_around(sources: &[&Source], ask: &Ask) -> Result<(Option<String>, Option<links::Found>), IngestError> {
    let own = [GROUP_ID, RECORD, ROW_WEIGHT];
    let named = ask.quasi.iter().chain(&ask.sensitive).chain(&ask.group).chain(&ask.linked).map(String::as_str);
    let asked: Vec<&str> = named.chain(own).collect();
    let count = match &ask.weight {
        Weight::None => None,
        Weight::Find => weights::candidate(sources, &asked)?,
        Weight::Column(name) => Some(name.clone()),
    };
    if !ask.finds_links || ask.linked.is_some() {
        return Ok((count, None));
    }
    for source in sources {
        if raw::header(source)?.iter().any(|name| name == RECORD) {
            return Ok((count, None));
        }
    }
    let asked: Vec<&str> = asked.into_iter().chain(count.as_deref()).collect();
    let found = links::find(sources, &asked)?;
    Ok((count, found))
}

/// The sentence about a column that may link rows.
fn said_of_link(found: &links::Found, is_used: bool) -> String {
    let links::Found { column, others, shared, .. } = found;
    let others: Vec<&str> = others.iter().map(|name| in_words(name)).collect();
    let more = if others.is_empty() { String::new() } else { format!(" (so are {})", others.join(", ")) };
    let column = in_words(column);
    let what = format!("Column {column} is unique in each file, and {shared} of its cells are found again{more}");
    match is_used {
        true => format!("{what}: it is used as ids that link the releases."),
        false => format!(
            "{what}: the rows do not fit each other, so it is read as row numbers. If they are ids, use --linked."
        ),
    }
}

/// A column's name in a sentence.
fn in_words(name: &str) -> &str {
    if name.is_empty() { "without a name" } else { name }
}

/// Rewrites dates and decimals of other formats, in the same way in all files.
fn rewrite(ask: &Ask, published: &mut [RawFile], private: &mut [RawFile], notes: &mut Vec<String>) {
    for (at, name) in ask.quasi.iter().enumerate() {
        let wish = ask.wishes.get(name).cloned().unwrap_or_default();
        if wish.has_tree() || wish.notation == Notation::Exact {
            continue;
        }
        let texts = || published.iter().chain(private.iter()).filter_map(|file| file.columns[at].as_ref());
        let all: Vec<&str> = texts().flat_map(|column| column.texts.iter().map(|text| &**text)).collect();
        let new = match &wish.dates {
            Some(form) => {
                form.unit().into_iter().for_each(|unit| notes.push(format!("{name}: times, counted in {unit}")));
                Some(all.iter().map(|text| form.rewrite(text)).collect())
            }
            None => spelling::with_points(&all).inspect(|_| {
                notes.push(format!(
                    "{name}: the comma is the decimal \
                    separator"
                ))
            }),
        };
        let Some(new): Option<Vec<String>> = new else { continue };
        let mut new = new.into_iter();
        for file in published.iter_mut().chain(private.iter_mut()) {
            for text in file.columns[at].iter_mut().flat_map(|column| &mut column.texts) {
                *text = new.next().expect("one new text for each").into();
            }
        }
    }
}

/// A column of each file.
fn of(files: &[RawFile], column: usize) -> Vec<(&RawFile, Option<&RawColumn>)> {
    files.iter().map(|file| (file, file.columns[column].as_ref())).collect()
}

/// The columns that are read, and their places among the wanted ones.
struct Names<'a> {
    ask: &'a Ask,
    group: &'a str,
    linked: &'a str,
    count: &'a str,
}

/// Stands for a column that is not wanted; no file has such a name.
const NO_COLUMN: &str = "\u{0}";

impl<'a> Names<'a> {
    fn new(ask: &'a Ask, link: Option<&'a links::Found>, count: Option<&'a str>) -> Names<'a> {
        let linked = link.map(|found| found.column.as_str()).or(ask.linked.as_deref()).unwrap_or(RECORD);
        Names { ask, group: ask.group.as_deref().unwrap_or(GROUP_ID), linked, count: count.unwrap_or(NO_COLUMN) }
    }

    /// Quasi columns, sensitive columns, then the group, the link, the weight, the count of people and the identifier.
    fn wanted(&self) -> Vec<&'a str> {
        let own = [self.group, self.linked, ROW_WEIGHT, self.count];
        let named = self.ask.quasi.iter().chain(&self.ask.sensitive).map(String::as_str);
        named.chain(own).chain(self.ask.identifier.as_deref()).collect()
    }

    fn sensitive(&self) -> std::ops::Range<usize> {
        self.ask.quasi.len()..self.ask.quasi.len() + self.ask.sensitive.len()
    }

    fn group(&self) -> usize {
        self.sensitive().end
    }

    fn linked(&self) -> usize {
        self.sensitive().end + 1
    }

    fn weight(&self) -> usize {
        self.sensitive().end + 2
    }

    fn count(&self) -> usize {
        self.sensitive().end + 3
    }

    fn identifier(&self) -> usize {
        self.sensitive().end + 4
    }

    /// Whether every release has values.
    fn has_values(&self, shown: &[Traces]) -> bool {
        shown.iter().all(|shown| !shown.without_sensitive)
    }

    /// Repeats rows that stand for several people. Returns whether the column of counts was used.
    fn weigh(&self, published: &mut [RawFile], assumptions: &mut Vec<String>) -> Result<bool, IngestError> {
        let name = self.count;
        match &self.ask.weight {
            _ if name == NO_COLUMN => return Ok(false),
            Weight::Find if !published.iter().all(|file| weights::is_counted(file, self)) => return Ok(false),
            _ => (),
        }
        let rows: usize = published.iter().map(|file| file.rows).sum();
        for file in published.iter_mut() {
            weights::repeat(file, self, name)?;
        }
        let people: usize = published.iter().map(|file| file.rows).sum();
        assumptions.push(format!(
            "Column {name} says for how many people a row stands: {rows} rows count as {people} people."
        ));
        Ok(true)
    }

    fn refuse_absent(&self, published: &[RawFile], private: &[RawFile]) -> Result<(), IngestError> {
        let mut problems = Vec::new();
        let mut refuse = |column: &str, detail: String| {
            problems.push(Problem { column: Some(column.into()), ..Problem::whole(Kind::NotInFile, detail) });
        };
        let wanted = self.wanted();
        let named = [(self.ask.group.as_ref(), self.group()), (self.ask.linked.as_ref(), self.linked())];
        let named = named.into_iter().filter_map(|(name, at)| name.map(|_| at));
        for at in (0..self.sensitive().end).chain(named) {
            if !published.is_empty() && published.iter().all(|file| file.columns[at].is_none()) {
                let files: Vec<&str> = published.iter().take(NAMED_FILES).map(|file| file.name.as_str()).collect();
                let more = if published.len() > files.len() { ", …" } else { "" };
                refuse(wanted[at], format!("looked for in {}{more}", files.join(", ")));
            }
        }
        for file in published {
            let has = |at: &usize| file.columns[*at].is_some();
            let found = self.sensitive().filter(has).count();
            if found > 0 && found < self.ask.sensitive.len() {
                let lacking = self.sensitive().find(|at| !has(at)).expect("fewer were found than are named");
                refuse(wanted[lacking], format!("{} has other sensitive columns and not this one", file.name));
            }
        }
        for file in private {
            let needed = (0..self.sensitive().end).chain(self.ask.identifier.iter().map(|_| self.identifier()));
            for at in needed.filter(|&at| file.columns[at].is_none()) {
                refuse(wanted[at], format!("the private table {} lacks it", file.name));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(IngestError::Rejected(problems)) }
    }

    /// Refuses values and links that are written in two ways, because they would count as two.
    fn refuse_twins(&self, published: &[RawFile], private: &[RawFile]) -> Result<(), IngestError> {
        let all: Vec<&RawFile> = published.iter().chain(private).collect();
        let wanted = self.wanted();
        let own = self.sensitive().chain([self.linked()]).chain(self.ask.identifier.iter().map(|_| self.identifier()));
        let mut problems = Vec::new();
        for at in own {
            let columns: Vec<_> = all.iter().filter_map(|file| Some((file, file.columns[at].as_ref()?))).collect();
            let texts: Vec<&str> =
                columns.iter().flat_map(|(_, column)| column.texts.iter().map(|text| &**text)).collect();
            let is_sensitive = self.sensitive().contains(&at);
            let twins = if is_sensitive { twins::of_values(&texts) } else { twins::of(&texts) };
            let mut first = 0;
            for (file, column) in columns {
                let end = first + column.texts.len();
                let here = twins.iter().filter(|twin| (first..end).contains(*twin));
                let here: Vec<u32> = here.map(|twin| (twin - first) as u32).collect();
                if !here.is_empty() {
                    problems.push(file.problem(Kind::WrittenTwice, wanted[at], column, &here));
                }
                first = end;
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(IngestError::Rejected(problems)) }
    }

    /// The columns of the files that no option names. The identifier belongs to the private tables.
    fn others(&self, published: &[RawFile], is_weighted: bool) -> Vec<String> {
        let wanted = &self.wanted()[..if is_weighted { self.identifier() } else { self.count() }];
        let parts = published.iter().flat_map(|file| file.parts.iter().flat_map(|(_, parts)| parts.columns()));
        let parts: Vec<&str> = parts.collect();
        let mut others: Vec<String> = Vec::new();
        for name in published.iter().flat_map(|file| &file.header) {
            let is_read = wanted.contains(&name.as_str()) || parts.contains(&name.as_str());
            if !is_read && !others.contains(name) {
                others.push(name.clone());
            }
        }
        others
    }

    /// The assumptions about columns that are not quasi columns.
    fn assumptions(&self, published: &[RawFile], others: &[String]) -> Vec<String> {
        let wanted = self.wanted();
        let mut assumed = Vec::new();
        if !others.is_empty() {
            let (word, they) = if others.len() == 1 { ("Column", "it told") } else { ("Columns", "they told") };
            let more = others.len().saturating_sub(NAMED_COLUMNS);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names: Vec<&str> = others.iter().take(NAMED_COLUMNS).map(|name| in_words(name)).collect();
            let names = names.join(", ");
            assumed
                .push(format!("{word} {names}{more} of the files: not examined, as if {they} nothing about anyone."));
        }
        if self.ask.sensitive.len() > 1 {
            let names = self.ask.sensitive.join(", ");
            assumed.push(format!(
                "The sensitive columns {names} count as one value together: what one of them alone gives away is not \
                 examined."
            ));
        }
        for at in self.sensitive() {
            let says_nothing = |text: &str| cell::says_nothing(text) || text.trim().bytes().all(|byte| byte == b'*');
            let cells = |column: &RawColumn| -> u64 {
                let counted = column.texts.iter().zip(&column.counts).filter(|(text, _)| says_nothing(text));
                counted.map(|(_, &count)| count).sum()
            };
            let cells: u64 = published.iter().filter_map(|file| file.columns[at].as_ref()).map(cells).sum();
            if cells > 0 {
                let cells = column::cells_say(cells);
                assumed.push(format!(
                    "In the sensitive column {} {cells} nothing (empty, NA, NULL, *), which is read as a value of its \
                     own.",
                    wanted[at]
                ));
            }
        }
        assumed
    }

    /// Notes what was concluded about the files, besides their quasi columns.
    fn tell(&self, published: &[RawFile], shown: &[Traces], is_linked: bool, has_truth: bool, notes: &mut Vec<String>) {
        if let Some(file) = published.first() {
            notes.extend(file.parts.iter().map(|(name, parts)| parts.words(name)));
        }
        let some = |at: usize| published.iter().filter(|file| file.columns[at].is_some()).count();
        let of = published.len();
        match some(self.group()) {
            0 => notes.push("rows alike in all quasi columns form a group".into()),
            found => notes.push(format!("groups are numbered by column {} in {found} of {of} files", self.group)),
        }
        if some(self.linked()) > 0 && is_linked {
            notes.push(format!(
                "records are linked by column {} in {} of {of} files",
                in_words(self.linked),
                some(self.linked())
            ));
        }
        match shown.iter().filter(|shown| shown.counterfeits_known).count() {
            0 => notes.push("no file says how many rows are counterfeits: none is assumed".into()),
            found => notes.push(format!("counterfeits are counted in {found} of {of} files")),
        }
        for (file, shown) in published.iter().zip(shown) {
            let lacking: Vec<&str> = self
                .ask
                .quasi
                .iter()
                .zip(&shown.columns)
                .filter(|(_, has)| !**has)
                .map(|(name, _)| name.as_str())
                .collect();
            if !lacking.is_empty() {
                notes.push(format!("{} has no column {}: it may be anything there", file.name, lacking.join(", ")));
            }
            if shown.without_sensitive && !self.ask.sensitive.is_empty() {
                notes.push(format!("{} has no sensitive column", file.name));
            }
        }
        if has_truth && self.ask.identifier.is_none() {
            notes.push("without --id, every row of every private table counts as another person".into());
        }
    }
}

#[cfg(test)]
mod tests;
