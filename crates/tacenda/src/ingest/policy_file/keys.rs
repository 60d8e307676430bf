//! The keys of the policy language, in one table that the reader and the documentation share.

use crate::promise::entries;
use crate::promise::views::ONCE;
use crate::settings::{Key, key};

/// The section of every column.
pub(super) const COLUMN: &str = "columns.NAME";

/// All keys. Each promise adds its own; a key that several promises have is listed for each.
pub fn keys() -> Vec<Key> {
    let promises = entries().flat_map(|entry| entry.keys);
    KEYS.iter().chain(promises).chain(ONCE).copied().collect()
}

/// The keys that do not belong to one promise.
const KEYS: &[Key] = &[
    key("", "policy", "1", "", "the version of this language"),
    key("", "series", "a section", "", "what the series is called and whom to ask"),
    key("", "columns", "a section", "", "every column of the source, in the order of the release"),
    key("", "person", "a section", "rows = \"one\"", "which of a person's rows counts, where the table has several"),
    key("", "promise", "a section", "", "what must hold of all releases together"),
    key("", "counterfeits", "a section", "max_share = 0.02", "how many rows may be added"),
    key("", "withheld", "a section", "max_share = 0.01", "how many rows may be left out of a release"),
    key("", "output", "a section", "CSV and Parquet, with weights", "what is written"),
    key("", "signatures", "a section", "empty", "whose keys must sign a release and approve its plan"),
    key("", "source", "a section", "none", "the table in a database, where no file is named"),
    key("", "deliver", "sections [deliver.NAME]", "none", "the databases that releases are delivered to"),
    key("", "governance", "a section", "empty", "what only people know about the series, for the report"),
    key("", "views", "sections [views.NAME]", "none", "xy promises: which columns go to whom"),
    key("", "also", "sections [[also]]", "none", "xy promises: what must hold besides, with the keys of [promise]"),
    key(
        "",
        "impossible",
        "sections [[impossible]]",
        "none",
        "xy promises: two columns with a value each that never belong to one person, nor anything below them",
    ),
    key("series", "name", "lower case letters, digits, dashes", "", "used for folders and files"),
    key("series", "title", "text", "empty", "a title for people"),
    key("series", "contact", "text", "empty", "whom to ask"),
    key("series", "language", "en, de, fr", "en", "the language of the page for recipients; it may change at any time"),
    key(
        "person",
        "rows",
        "one, first, latest, combine",
        "one",
        "what happens to several rows of one person: an error; the first or latest counts; or all become one row with \
         a set of sensitive values, such as asthma+flu",
    ),
    key(
        "person",
        "order",
        "the name of a column",
        "none",
        "the column of dates or numbers that orders a person's rows; it may have role = \"drop\", with its type",
    ),
    key(
        "signatures",
        "signers",
        "[\"RW…\", …]",
        "none",
        "the minisign public keys that releases are signed with; without one of them nothing is published",
    ),
    key(
        "signatures",
        "approvers",
        "[\"RW…\", …]",
        "none",
        "the minisign public keys of those who approve plans; without one of them, other than the signer, nothing is published",
    ),
    key("source", "postgres", "words of libpq, without a password", "", "how the database is reached"),
    key("source", "table", "SCHEMA.NAME", "none", "the table or view that is read"),
    key("source", "query", "a path, relative to the policy file", "none", "a file with the SELECT that is read"),
    key("deliver.NAME", "postgres", "words of libpq, without a password", "", "how the database is reached"),
    key("deliver.NAME", "schema", "the name of a schema", "", "the schema that tables are made in; it must exist"),
    key("deliver.NAME", "grant", "[\"…\"]", "none", "the roles that may read them; public is everyone"),
    key("governance", "purpose", "text", "empty", "why the releases are made"),
    key("governance", "recipients", "text", "empty", "who gets them"),
    key(
        "governance",
        "environment",
        "text",
        "empty",
        "where they are used: in public, under contract, in a secure room",
    ),
    key("governance", "controls", "text", "empty", "what contracts and technology forbid or prevent"),
    key("governance", "other_data", "text", "empty", "what else recipients can reasonably get"),
    key("governance", "legal_basis", "text", "empty", "which law allows it"),
    key(COLUMN, "role", "identifier, quasi, sensitive, public, drop", "", "the role of the column"),
    key(COLUMN, "type", "integer, real, date, category", "category", "what its cells are; must be given for quasi"),
    key(
        COLUMN,
        "domain",
        "[lo, hi]",
        "",
        "quasi numbers and dates: the public bounds, half open; a value outside is an error",
    ),
    key(
        COLUMN,
        "precision",
        "1, 0.1, 0.01, …",
        "0.01",
        "quasi reals: the unit that is kept; what lies between is read as the lower one",
    ),
    key(
        COLUMN,
        "grid",
        "a number, \"month\", \"year\"",
        "none",
        "quasi numbers and dates: published boundaries are multiples of this (for dates, a number counts days from \
         the domain's start)",
    ),
    key(
        COLUMN,
        "min_width",
        "a number",
        "one value",
        "quasi: the least a published span covers, in the column's own unit (leaves for categories, days for dates)",
    ),
    key(COLUMN, "weight", "a number above 0", "1.0", "quasi: how much its precision counts against the others'"),
    key(
        COLUMN,
        "hierarchy",
        "a path, relative to the policy file",
        "none",
        "categories: a file of lines value;group;…;*",
    ),
    key(COLUMN, "values", "[\"…\", …]", "none", "categories: the values, a hierarchy without groups"),
    key(
        COLUMN,
        "level",
        "a number",
        "0",
        "sensitive with a hierarchy: the column of the hierarchy that is published, 0 for the value itself",
    ),
    key(
        COLUMN,
        "missing",
        "error, value",
        "value for quasi, error for sensitive",
        "whether an empty cell is an error, or a value of its own",
    ),
    key(
        COLUMN,
        "format",
        "a pattern of YYYY, MM and DD, or excel",
        "YYYY-MM-DD",
        "quasi dates: how the table writes them, such as DD.MM.YYYY; … stands for a rest that is not read, such as a time",
    ),
    key(
        COLUMN,
        "unknown",
        "refuse, other",
        "refuse",
        "quasi categories: whether a value that is not listed is an error, or is read as the listed value other",
    ),
    key(
        COLUMN,
        "unlisted",
        "refuse, prefix",
        "refuse",
        "sensitive with a hierarchy: a value that is not listed is an error, or is published as the longest label \
         BEGINNING* that it begins with, or else as it is",
    ),
    key(
        COLUMN,
        "combine",
        "first, latest, least, most",
        "an error if they differ",
        "quasi and public, with rows = \"combine\": which of a person's values is kept",
    ),
    key(COLUMN, "because", "text", "", "public: why publishing it as it is harms no one"),
    key("promise", "model", "the name of a promise, as tacenda promises lists them", "", "the promise"),
    key("views.NAME", "columns", "[\"…\"]", "", "the columns of the view"),
    key("views.NAME", "recipients", "[\"…\"]", "[\"everyone\"]", "who gets it"),
    key(
        "views.NAME",
        "adopted",
        "a path, relative to the policy file",
        "none",
        "the release folder, or another tool's CSV, TSV or Parquet file: the view was made elsewhere and is \
         published already",
    ),
    key(
        "views.NAME",
        "notation",
        "{ COLUMN = \"interval\" }",
        "as the policy file's columns suggest",
        "with an adopted file: how a column is written: auto, interval, integer, real, real:DECIMALS, date, prefix, set, exact",
    ),
    key("views.NAME", "any", "{ COLUMN = [\"…\"] }", "*", "with an adopted file: texts that mean any value"),
    key(
        "views.NAME",
        "hierarchy",
        "{ COLUMN = \"FILE\" }",
        "the column's own",
        "with an adopted file: its own tree of a column, lines value;group;…;*",
    ),
    key("counterfeits", "max_share", "0 to 1", "0.02", "the largest share of counterfeits among published rows"),
    key("withheld", "max_share", "0 to 1", "0.01", "the largest share of the table's rows that may be withheld"),
    key("output", "formats", "[\"csv\", \"parquet\"]", "both", "the files of a release"),
    key(
        "output",
        "spreadsheet_safe",
        "true, false",
        "true",
        "whether texts that a spreadsheet would run as a formula are refused",
    ),
    key("output", "row_weight", "true, false", "true", "whether rows carry a weight that sums up to people"),
    key(
        "output",
        "counts",
        "true, false",
        "true",
        "m-invariance, and incremental-k-anonymity with cohorts: whether rounded counts of people by quasi value are published",
    ),
    key(
        "output",
        "linked_ids",
        "true, false",
        "false",
        "incremental-k-anonymity: whether rows carry a keyed hash that is stable over the series",
    ),
];
