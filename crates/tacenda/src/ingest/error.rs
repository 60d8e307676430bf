//! What can be wrong with an input, and the messages.
//!
//! Reading does not stop at the first bad cell. Problems are counted by kind and column, with the number of rows and
//! the first few places. No message shows the content of a cell, unless the steward asked for the values that a
//! hierarchy lacks.

use crate::model::CellFault;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How many places, and how many values, a problem lists.
const LISTED: usize = 5;

/// The column of a delta that says what happens to a record.
pub(super) const OP: &str = "op";

/// The message for a delta without that column.
const NO_OP: &str = "a delta says in it what happens to each record";

/// Why an input was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The data are at fault: at least one problem, most basic first.
    #[error("{}", list(.0))]
    Rejected(Vec<Problem>),
    /// The machine is at fault: the input cannot be opened or read.
    #[error("cannot read {name}: {source}; check the path, its permissions and the disk")]
    Unreadable {
        /// What was to be read.
        name: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// There are more rows than the caller allows. This is checked before rows are read.
    #[error(
        "{name} has about {rows} rows, and the memory that is free or allowed holds about {most}; read it where there is more"
    )]
    TooManyRows {
        /// What was to be read.
        name: String,
        /// How many rows it has, or says that it has.
        rows: u64,
        /// How many are allowed.
        most: u64,
    },
}

impl IngestError {
    /// The code of the first problem, such as `D103`.
    pub fn code(&self) -> &'static str {
        match self {
            IngestError::Rejected(problems) => problems.first().map_or("D100", |problem| problem.kind.code()),
            IngestError::Unreadable { .. } => Kind::Unreadable.code(),
            IngestError::TooManyRows { .. } => Kind::TooLarge.code(),
        }
    }

    /// What the program exits with.
    pub fn exit_code(&self) -> u8 {
        match self {
            IngestError::Rejected(_) | IngestError::TooManyRows { .. } => 3,
            IngestError::Unreadable { .. } => 7,
        }
    }

    /// The problems, one by one.
    pub fn problems(&self) -> &[Problem] {
        match self {
            IngestError::Rejected(problems) => problems,
            IngestError::Unreadable { .. } | IngestError::TooManyRows { .. } => &[],
        }
    }

    /// A problem with the input as a whole.
    pub(super) fn whole(kind: Kind, detail: impl Into<String>) -> IngestError {
        IngestError::Rejected(vec![Problem::whole(kind, detail)])
    }

    /// The same for a file that was declared as a view: its way out points to the policy file.
    pub fn of_view(mut self) -> IngestError {
        if let IngestError::Rejected(problems) = &mut self {
            problems.iter_mut().for_each(|problem| problem.said_in = SaidIn::View);
        }
        self
    }

    /// A failed read. Damaged contents are a fault of the data, anything else a fault of the machine.
    pub(super) fn reading(name: &str, source: std::io::Error) -> IngestError {
        use std::io::ErrorKind;
        match source.kind() {
            ErrorKind::FileTooLarge => IngestError::whole(Kind::TooLarge, format!("{name}: {source}")),
            ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof | ErrorKind::Other => {
                IngestError::whole(Kind::NotWhatItSays, format!("{name} is damaged or cut short: {source}"))
            }
            _ => IngestError::Unreadable { name: name.into(), source },
        }
    }
}

/// One thing that is wrong with the data.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Problem {
    /// What is wrong.
    pub kind: Kind,
    /// The column, if the problem is about one.
    pub column: Option<String>,
    /// How many rows have the problem; 0 if it is not about rows.
    pub rows: u64,
    /// The first few lines, ascending; rows counted from 1 if the input has no lines.
    pub places: Vec<u64>,
    /// Whether `places` are rows and not lines.
    pub places_are_rows: bool,
    /// Further details: names and numbers, never the content of a cell.
    pub detail: String,
    /// A few of the values, if the caller asked to see them.
    pub values: Vec<String>,
    /// Where the reading of the input is configured.
    pub said_in: SaidIn,
}

/// Where the reading of an input is configured. The way out of a problem points there.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SaidIn {
    /// On the command line.
    #[default]
    Command,
    /// In the policy file, under the view that the file belongs to.
    View,
}

impl Problem {
    /// A problem that is not about rows.
    pub fn whole(kind: Kind, detail: impl Into<String>) -> Problem {
        Problem {
            kind,
            column: None,
            rows: 0,
            places: Vec::new(),
            places_are_rows: false,
            detail: detail.into(),
            values: Vec::new(),
            said_in: SaidIn::default(),
        }
    }

    /// Its code.
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// The problem of a delta that does not say what happens to its records.
    pub(super) fn missing_op() -> Problem {
        Problem { column: Some(OP.into()), ..Problem::whole(Kind::MissingColumn, NO_OP) }
    }

    /// What to do about it, in one sentence.
    pub fn way_out(&self) -> &'static str {
        if self.kind == Kind::MissingColumn && self.detail == NO_OP {
            return "add a column op (insert, update, delete), or leave out --delta";
        }
        match self.said_in {
            SaidIn::Command => self.kind.way_out(),
            SaidIn::View => self.kind.way_out_in_view(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.code(), self.kind.title())?;
        let is_column = matches!(self.kind, Kind::MissingColumn | Kind::UnlistedColumn | Kind::DuplicateColumn);
        if let Some(column) = &self.column {
            write!(out, "{} {column}", if is_column { "" } else { " in column" })?;
        }
        if self.rows > 0 {
            write!(out, ": {} {}", self.rows, if self.rows == 1 { "row" } else { "rows" })?;
        }
        if !self.places.is_empty() {
            let places: Vec<String> = self.places.iter().map(u64::to_string).collect();
            let word = if self.places_are_rows { "row" } else { "line" };
            let plural = if places.len() == 1 { "" } else { "s" };
            let more = if self.rows > places.len() as u64 { ", …" } else { "" };
            write!(out, " ({word}{plural} {}{more})", places.join(", "))?;
        }
        if !self.detail.is_empty() {
            write!(out, ": {}", self.detail)?;
        }
        if !self.values.is_empty() {
            write!(out, ": among them {}", self.values.join(" | "))?;
        }
        write!(out, "; {}", self.way_out())
    }
}

fn list(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::to_string).collect();
    lines.join("\n")
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $name:ident, $code:literal, $title:literal, $way_out:literal, $explanation:literal;)*) => {
        /// A kind of problem; the order is the order in which problems are listed.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        #[non_exhaustive]
        pub enum Kind { $($(#[doc = $doc])* $name,)* }

        impl Kind {
            /// All of them.
            pub const ALL: &[Kind] = &[$(Kind::$name,)*];

            /// Its code, such as `D103`.
            pub fn code(self) -> &'static str {
                match self { $(Kind::$name => $code,)* }
            }

            /// Its name.
            pub fn title(self) -> &'static str {
                match self { $(Kind::$name => $title,)* }
            }

            /// What to do about it.
            pub fn way_out(self) -> &'static str {
                match self { $(Kind::$name => $way_out,)* }
            }
        }

        /// Every code with its title and a paragraph that explains it.
        pub const CODES: &[(&str, &str, &str)] = &[$(($code, $title, $explanation),)*];
    };
}

kinds! {
    /// A column of the policy file is not in the input.
    MissingColumn, "D101", "missing column",
        "add the column to the input; before the first release it can be taken out of the policy file instead",
        "The policy file names a column that the input does not have. Names are compared exactly: case and blanks count. \
         Either the wrong file was given, or the column was renamed at the source.";
    /// A column of the input is not in the policy file.
    UnlistedColumn, "D102", "unlisted column",
        "name it in [columns] of the policy file, with role = \"drop\" if it is not to be published",
        "The input has a column that the policy file does not name. Publishing stops, because a column that appears \
         unnoticed at the source must never appear unnoticed in a release. List it with a role; role = \"drop\" leaves it out.";
    /// Two columns have one name.
    DuplicateColumn, "D103", "duplicate column",
        "give every column of the input its own name",
        "Two columns of the input have the same name, so the policy file cannot say which one it means.";
    /// Two rows have one identifier.
    DuplicateIdentifier, "D104", "duplicate identifier",
        "keep one row per person; or say under [person] what happens to several: rows = \"latest\" with order = \
         \"COLUMN\", or rows = \"combine\"; or choose the column that names a person",
        "Two or more rows have the same identifier. A snapshot has one row per person: with several, a person would \
         be counted several times in a group, and the group would have fewer people than promised. [person] in the \
         policy file says what happens to several rows: the first or the latest counts, or they are combined. Deltas \
         have one row per person always.";
    /// A row without an identifier.
    EmptyIdentifier, "D105", "empty identifier",
        "fill in the identifier; without it a person cannot be followed through the series",
        "A row has nothing in the identifier column. The identifier is never published, but it links a person's rows \
         in different snapshots, and the promise needs that.";
    /// A cell that should hold a whole number.
    NotAnInteger, "D106", "not an integer",
        "correct the cells, or declare the column as real or category",
        "The policy file declares the column as integer, and a cell holds something else. 34 and 34.0 are integers; 34.5, \
         1e3 and 'n/a' are not. Leave a cell empty for a missing value.";
    /// A cell that should hold a number.
    NotANumber, "D107", "not a number",
        "correct the cells (decimal point, no thousands marks), or declare the column as category",
        "The policy file declares the column as real, and a cell holds something that is not a finite number with a decimal \
         point. Leave a cell empty for a missing value.";
    /// A cell that should hold a date.
    NotADate, "D108", "not a date",
        "write dates as the column's format says, 2026-11-15 where it has none, or declare the column as category",
        "The policy file declares the column as date, and a cell is not a date of the form that the column's format gives, or 2026-11-15 where \
         it has none. In Parquet, dates \
         and timestamps are taken as they are, numbers are not. A time of day after the date is left out.";
    /// A number or date outside the declared domain.
    OutsideDomain, "D109", "outside the domain",
        "correct the cells, or widen the domain in the policy file, where the promise takes that; it never gets narrower again",
        "A number or date lies outside the domain that the policy file declares. The domain is half open: [lo, \
         hi) does not contain hi. It is public and may not follow the data, or it would reveal the most extreme \
         person. Correct the cells, or widen the domain in the policy file, by whole steps of its grid. That is an \
         amendment; some promises refuse it (docs/guarantees.md).";
    /// A value that the hierarchy lacks.
    UnknownValue, "D110", "value not in the hierarchy",
        "correct the cells, or add the values to the list or hierarchy, or set unknown = \"other\" for a quasi column; \
         --show-values names a few",
        "A cell holds a value that is not in the column's list of values, or no leaf of its hierarchy. Values are \
         compared exactly: case and blanks count. The list is published with every release. It may gain \
         values, and never lose one. With unknown = \"other\" a quasi value that is not listed is read as the listed value other.";
    /// A sensitive cell is empty.
    EmptySensitive, "D111", "empty sensitive value",
        "fill it in, or set missing = \"value\" to publish 'not recorded' as a value of its own",
        "A sensitive cell is empty and the policy file does not allow that. Whether 'not recorded' is a value like any \
         other is a decision about people, so the policy file must state it.";
    /// A quasi cell is empty.
    EmptyQuasi, "D112", "empty quasi value",
        "fill it in, or set missing = \"value\" for the column",
        "A quasi cell is empty and the policy file says missing = \"error\" for its column.";
    /// A row with too many or too few cells.
    RaggedRow, "D113", "ragged row",
        "give every row as many cells as the header; look for stray delimiters and quotes",
        "A row has more or fewer cells than the header, or its quotes do not fit: one is opened and never closed, or text \
         follows a closing one. A stray quote makes the rows after it part of one cell, so that people would vanish or be \
         published as they are. Put quotes around cells that hold delimiters, and double the quotes within.";
    /// Text in no encoding we know.
    WrongEncoding, "D114", "wrong encoding",
        "save the file as UTF-8",
        "The text is not UTF-8, not UTF-16 with a byte order mark, and not plausibly windows-1252 either; or it mixes \
         encodings. Reading on would turn letters into other letters.";
    /// Nothing in the file.
    EmptyFile, "D115", "empty file",
        "check that the export ran",
        "The input has no contents at all, not even a header.";
    /// A header and nothing below.
    NoRows, "D116", "no rows",
        "check that the export ran; an empty snapshot would remove everyone",
        "The input has a header and no rows. Publishing it would say that everyone has left.";
    /// Binary contents, or another kind of file.
    NotWhatItSays, "D117", "not a table we can read",
        "give a CSV (plain, gzip or zstd), a Parquet file or an Excel workbook (.xlsx)",
        "The input's first bytes, or bytes further down, are not those of text, Parquet or an Excel workbook: another kind of file, or a \
         damaged one. Files are recognised by contents and never by name.";
    /// The system could not read it.
    Unreadable, "D118", "unreadable",
        "check the path, its permissions and the disk",
        "The operating system could not open or read the input.";
    /// A Parquet column of a type without a text form.
    UnsupportedType, "D119", "unsupported column type",
        "write the column as text, a number, a date or a truth value, or list it with role = \"drop\"",
        "A Parquet column has a type that does not hold one value per row (a list, a structure, a duration …). \
         Dropped columns may have any type.";
    /// A delta row that says neither insert nor update nor delete.
    UnknownOp, "D120", "unknown op",
        "write insert, update or delete (or I, U, D) in the op column",
        "In a delta, every row says in its op column what happens to its record: insert, update or delete.";
    /// An insert of someone who is there.
    InsertOfPresent, "D121", "insert of a present record",
        "use update, or publish from a whole snapshot",
        "A delta inserts a record that the last snapshot already has. The delta was not made against the last \
         snapshot.";
    /// An update or delete of someone who is not there.
    ChangeOfAbsent, "D122", "update or delete of an absent record",
        "use insert, or publish from a whole snapshot",
        "A delta updates or deletes a record that the last snapshot does not have. The delta was not made against the \
         last snapshot.";
    /// Too many rows for 32 bits.
    TooManyRows, "D123", "too many rows",
        "divide the table into several series",
        "Rows are numbered with 32 bits: a snapshot holds at most 4,294,967,294 of them.";
    /// A line break in a cell that is published, or in an identifier.
    LineBreak, "D124", "line break in a cell",
        "look for stray quotes from this line on; take line breaks out of the cells",
        "An identifier, or a cell that would be published, holds a line break. Usually two stray quotes have made the rows \
         between them part of one cell: people would vanish, and their rows would be published as they are. Columns with \
         role = \"drop\" may hold line breaks between quotes.";
    /// A published cell in no notation of its column.
    UnknownNotation, "D125", "cell in no notation of its column",
        "correct the cells; or use --notation COLUMN=exact if the texts are labels, --any TEXT if a text means any \
         value, or --hierarchy COLUMN=FILE",
        "All cells of a column, in all files, are read in one notation. It has numbers or dates with their ranges, \
         such as [20,30), (20, 30], 20-29, 20..29, 20 to 29, >=65, 65+ and under 18. Or it has labels with their sets \
         and prefixes, such as {a, b} and 47***. This column mixes the two, or a cell looks like a range, a set or a prefix and \
         is none. Nothing is guessed: 20-29 read as a label in one file and as a range in another would hide \
         risks. A column of whole numbers has no value between two of them, such as a mean; --notation \
         COLUMN=real reads it. Three forms are read only if the whole column agrees. Commas between thousands \
         (1,000-2,000) must be used throughout, and not in sets. 20- means 20 and more if there are ranges such \
         as 10-19 and no other sign for it. -20 means minus twenty, unless 21-30 or 40+ shows that it may mean up \
         to twenty. --notation COLUMN=integer reads the last two. With --notation COLUMN=set every comma \
         separates members. Write ranges without units, currencies and leading zeros: 20 to 29 years, $10-$20 and \
         02138-02145 are not read.";
    /// Sets that no order of the values makes runs.
    NoOrder, "D126", "sets that fit no order",
        "give the column's tree with --hierarchy COLUMN=FILE",
        "A published set of values is kept as a run: neighbours in one order of all values. No order makes runs \
         of all the sets in this column, and they are not nested either. Larger sets would fit, but they would \
         hide what the file reveals.";
    /// A range without a value in it.
    EmptyRange, "D127", "range that holds no value",
        "correct the cells, or use --notation COLUMN=real if values lie between the whole numbers",
        "A range such as (20,21) holds no whole number, and all bounds of its column are whole numbers.";
    /// Rows with one group id and different cells.
    GroupDiffers, "D128", "rows of one group differ",
        "correct the file, name the column that numbers groups with --group, or rename group_id where it does not",
        "Rows with the same group id have different published quasi cells. Rows of a group are published alike: either the \
         column does not number groups, or the file mixes them up.";
    /// Counts of counterfeits that do not fit the rows.
    CountsDiffer, "D129", "counterfeit counts do not fit",
        "correct the counts, name the column that numbers groups with --group, or take the counts away: counterfeits then \
         count as people",
        "The counts of counterfeits do not fit the groups of the file. They are in a file beside it \
         (STEM.counterfeits.csv) or in its column row_weight. A group is missing, has another number of rows, or would \
         have more counterfeits than rows. Counts beside a file name groups, so the file needs a column that numbers \
         its groups.";
    /// Too many values for one column.
    TooFine, "D130", "too many values for one column",
        "use --notation COLUMN=integer or COLUMN=real:2 for fewer decimals, or --domain COLUMN=LO..HI for a narrower \
         domain",
        "A column's values are numbered with 32 bits. Bounds with many decimals over a wide range need more numbers than \
         that. More than nine decimals are never kept; if fewer are asked for, the rest is cut off, and a note says \
         so.";
    /// A named column that a published file lacks.
    NotInFile, "D131", "column not in the file",
        "check the name; case and blanks count",
        "A column named on the command line is in none of the files, or a private table lacks it. Or a file has only \
         some of the sensitive columns.";
    /// A cell of a private table is a range, a set or a star.
    NotExact, "D132", "a private table with generalised cells",
        "give the private tables the releases were made from, with single values",
        "A cell of a table given with --truth is a range, a set or a star. --truth takes the private table that a \
         release was made from: one value per cell.";
    /// One value in two forms.
    WrittenTwice, "D133", "one value written in two ways",
        "write it alike everywhere: the same letters of one alphabet, no blanks or points around it, no .0 behind whole numbers",
        "Some texts of this column differ only in blanks around them or in how a number is written (25 and 25.0). \
         Read as two values they would be counted twice, and releases would seem to have nothing in common. In \
         sensitive columns, capital letters, accents, and points around a text make no difference either: Flu, flu and \
         flu. are one value. Invisible characters, and letters of another alphabet that look the same, make none.";
    /// A workbook with several sheets, or without the one that was named.
    WhichSheet, "D134", "which sheet",
        "name the sheet behind the file: FILE.xlsx#SHEET, in quotes for the shell",
        "An Excel workbook has data in several visible sheets, or none of the name that was given. Nothing is guessed: write \
         the sheet's name behind the file's, as in 'stays.xlsx#2026-Q1'.";
    /// A sheet that is no plain table.
    BadSheet, "D135", "a sheet that is no plain table",
        "make it a plain table, save it in the spreadsheet program, and try again",
        "A sheet is read as a table: the first row that is not empty has the names, and below it is one row for each \
         person. Titles above the names, empty rows in between, totals or remarks below, and errors such as #N/A are \
         refused, because they would be taken for people or for values. A formula without a value comes from a program \
         that did not calculate: open the workbook in a spreadsheet program and save it.";
    /// Rows of one person whose order cannot be determined.
    NoRowOrder, "D136", "rows of one person without an order",
        "fill in the column that orders them, order by one that tells them apart, or set rows = \"combine\" under [person]",
        "The policy file says that the first or the latest of a person's rows counts. The cell that orders a row is empty, \
         or two rows have the same cell there and differ elsewhere. Which one is published may not depend on the order in the file.";
    /// Rows of one person with different values where no choice was declared.
    RowsDiffer, "D137", "rows of one person differ",
        "set at the column which value is kept: combine = \"first\", \"latest\", \"least\" or \"most\"",
        "With rows = \"combine\" a person's rows become one. The rows differ in a column that is published, and the policy file \
         does not say which value is kept. least and most are for numbers and dates. first and latest need order under \
         [person]. Public columns all take the same choice.";
    /// A value that looks combined.
    HoldsMark, "D138", "a value with + in it",
        "replace + in these cells, for example by a word",
        "With rows = \"combine\" a combined value is written with + between its parts. A single value with + in it could \
         not be told from a combination.";
    /// A delta where people have several rows.
    DeltaOfRows, "D139", "a delta of people with several rows",
        "give the whole table, without --delta",
        "The policy file says what happens to several rows of a person. A delta has only the rows that changed, and \
         the vault keeps one row for each person, so the remaining rows are not known. A whole table has all of them.";
    /// A count of people that is none.
    NotACount, "D140", "a count that is no whole number",
        "name another column with --weight, or use --weight none if a row is a person",
        "The column of counts says for how many people a row stands. It must hold whole numbers. Sampling weights are \
         something else: they say how many people outside the table a row stands for.";
    /// More than is read.
    TooLarge, "D141", "input beyond the size limit",
        "check what the input is; if it is a real table, unpack it or write it to a file",
        "A small file can unpack to more than any disk holds, and a pipe may never end. So there are limits. A \
         compressed text may unpack to 1 GiB, or to 200 times its size if that is more. A release of another tool may have as many \
         rows as fit into the memory that is free. A pipe may have 8 GiB. A \
         Parquet file with over a million rows may have at most eight rows a byte. A real table of people has fewer, \
         because all identifiers are different.";
    /// A column has no name.
    NamelessColumn, "D142", "column without a name",
        "give the column a name in the first line of the table, or take it out of the table",
        "The first line of the input names the columns, and one of them has no name, so the policy file cannot say what it is. \
         Where every line ends with a delimiter, the last column has no name and no cells; that one is ignored.";
}

impl Kind {
    /// What to do about it if the file belongs to a view and the policy file configures its reading.
    fn way_out_in_view(self) -> &'static str {
        match self {
            Kind::UnknownNotation => {
                "correct the cells, or describe the file under the view; notation = { COLUMN = \"exact\" } if the \
                 texts are labels; any = { COLUMN = [\"TEXT\"] } if a text means any value; hierarchy = { COLUMN = \
                 \"FILE\" } for its own hierarchy"
            }
            Kind::UnknownValue => {
                "correct the cells, or give the file's own hierarchy under the view: hierarchy = { COLUMN = \"FILE\" \
                 }; any = { COLUMN = [\"TEXT\"] } says that a text means any value"
            }
            Kind::NoOrder => "give the column's tree under the view: hierarchy = { COLUMN = \"FILE\" }",
            Kind::EmptyRange => {
                "correct the cells, or set under the view notation = { COLUMN = \"real\" } if values lie between the \
                 whole numbers"
            }
            Kind::TooFine => {
                "set under the view notation = { COLUMN = \"integer\" } or \"real:2\" for fewer decimals, as many as \
                 the policy file gives the column"
            }
            Kind::NotInFile => {
                "check the columns that the view lists, and that adopted names the file that was meant; case and blanks count"
            }
            Kind::OutsideDomain => "correct the cells, or see that adopted names the file that was meant",
            Kind::GroupDiffers => "correct the file: rows with one group_id are published alike",
            Kind::CountsDiffer => "correct the counts",
            kind => kind.way_out(),
        }
    }

    /// The kind of a cell's fault.
    pub(super) fn of(fault: CellFault) -> Kind {
        match fault {
            CellFault::NotAnInteger => Kind::NotAnInteger,
            CellFault::NotANumber => Kind::NotANumber,
            CellFault::NotADate => Kind::NotADate,
            CellFault::OutsideDomain => Kind::OutsideDomain,
            CellFault::UnknownValue => Kind::UnknownValue,
            CellFault::Missing => Kind::EmptyQuasi,
        }
    }
}

/// Problems with rows, by kind and column, while an input is read.
#[derive(Default)]
pub(super) struct Tally {
    found: BTreeMap<(Kind, String), Found>,
    /// Whether values may be listed.
    show_values: bool,
}

#[derive(Default)]
struct Found {
    rows: u64,
    places: Vec<u64>,
    values: BTreeSet<String>,
}

impl Tally {
    /// Nothing found yet.
    pub fn new(show_values: bool) -> Tally {
        Tally { show_values, ..Tally::default() }
    }

    /// Counts one row; `column` is empty if the whole row is at fault.
    pub fn add(&mut self, kind: Kind, column: &str, place: u64) {
        self.add_value(kind, column, place, b"");
    }

    /// Counts one row, and keeps the value if values may be listed.
    pub fn add_value(&mut self, kind: Kind, column: &str, place: u64, value: &[u8]) {
        let found = self.found.entry((kind, column.to_string())).or_default();
        found.rows += 1;
        if found.places.len() < LISTED {
            found.places.push(place);
        }
        if self.show_values && kind == Kind::UnknownValue && !value.is_empty() {
            found.keep(String::from_utf8_lossy(value).into_owned());
        }
    }

    /// Adds what another reader of the same input found.
    pub fn merge(&mut self, other: Tally) {
        for (key, theirs) in other.found {
            let mine = self.found.entry(key).or_default();
            mine.rows += theirs.rows;
            mine.places.extend(theirs.places);
            mine.places.sort_unstable();
            mine.places.truncate(LISTED);
            theirs.values.into_iter().for_each(|value| mine.keep(value));
        }
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The problems, or nothing if there are none.
    pub fn into_error(self, places_are_rows: bool) -> Option<IngestError> {
        let problems: Vec<Problem> = self
            .found
            .into_iter()
            .map(|((kind, column), found)| Problem {
                kind,
                column: (!column.is_empty()).then_some(column),
                rows: found.rows,
                places: found.places,
                places_are_rows,
                detail: String::new(),
                values: found.values.into_iter().collect(),
                said_in: SaidIn::default(),
            })
            .collect();
        (!problems.is_empty()).then_some(IngestError::Rejected(problems))
    }
}

impl Found {
    /// Keeps the first few values in the order of their texts, no matter which thread met them first.
    fn keep(&mut self, value: String) {
        self.values.insert(value);
        if self.values.len() > LISTED {
            self.values.pop_last();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        assert!(CODES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(CODES.iter().all(|(_, title, text)| !title.is_empty() && text.ends_with('.')));
    }

    #[test]
    fn a_merged_tally_lists_the_first_places_and_values_whoever_met_them() {
        let mut left = Tally::new(true);
        let mut right = Tally::new(true);
        for place in [9, 11, 13] {
            left.add_value(Kind::UnknownValue, "town", place, format!("v{place:02}").as_bytes());
        }
        for place in [2, 4, 6, 8] {
            right.add_value(Kind::UnknownValue, "town", place, format!("v{place:02}").as_bytes());
        }
        left.merge(right);
        let error = left.into_error(false).expect("seven rows");
        assert_eq!(error.problems()[0].places, [2, 4, 6, 8, 9]);
        assert_eq!(error.problems()[0].values, ["v02", "v04", "v06", "v08", "v09"]);
        assert_eq!(
            error.to_string(),
            "D110 value not in the hierarchy in column town: 7 rows (lines 2, 4, 6, 8, 9, …): among them v02 | v04 | v06 \
             | v08 | v09; correct the cells, or add the values to the list or hierarchy, or set unknown = \"other\" for a \
             quasi column; --show-values names a few"
        );
    }
}
