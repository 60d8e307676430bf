//! The keys of the policy language, in one table that the reader and the documentation share.

/// A key of the policy file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Key {
    /// The section it stands in; empty for the top, `columns.NAME` for every column.
    pub section: &'static str,
    /// Its name.
    pub key: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// What holds when it is absent; empty if it must be there.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// The section of every column.
pub(super) const COLUMN: &str = "columns.NAME";

const fn key(
    section: &'static str,
    key: &'static str,
    takes: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key { section, key, takes, default, meaning }
}

/// Every key there is.
pub const KEYS: &[Key] = &[
    key("", "policy", "1", "", "the version of this language"),
    key("", "series", "a section", "", "what the series is called and whom to ask"),
    key("", "columns", "a section", "", "every column of the source, in the order of the release"),
    key("", "promise", "a section", "", "what must hold of all releases together"),
    key("", "counterfeits", "a section", "max_share = 0.02", "how many rows may be added"),
    key("", "withheld", "a section", "max_share = 0.01", "how many rows may be left out of a release"),
    key("", "output", "a section", "CSV and Parquet, with weights", "what is written"),
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
    key(COLUMN, "role", "identifier, quasi, sensitive, public, drop", "", "the part the column plays"),
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
        "quasi numbers and dates: published boundaries fall on these public lines (a number for dates counts days from the domain's start)",
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
    key(COLUMN, "because", "text", "", "public: why publishing it as it is harms no one"),
    key(
        "promise",
        "model",
        "m-invariance, incremental-k-anonymity, k-anonymity, incremental-l-diversity, xy-anonymity, xy-linkability",
        "",
        "the promise",
    ),
    key("promise", "m", "a number, at least 2", "", "m-invariance: the least number of values of a group"),
    key("promise", "k", "a number, at least 2", "none for m-invariance", "the least number of people of a group"),
    key(
        "promise",
        "l",
        "a number, at least 2",
        "none for incremental-k-anonymity",
        "incremental-l-diversity: the least number of values of a group; incremental-k-anonymity with cohorts: no value makes up more than one in l of a group",
    ),
    key(
        "promise",
        "on_ineligible",
        "refuse, defer, counterfeit",
        "refuse",
        "m-invariance: what happens when newcomers' values are too uneven",
    ),
    key(
        "promise",
        "cohorts",
        "true, false",
        "true",
        "incremental-k-anonymity: safe even if it is known who arrived when",
    ),
    key(
        "promise",
        "tight",
        "true, false",
        "false",
        "incremental-k-anonymity without cohorts: publish fixed tight boxes instead of cells",
    ),
    key(
        "promise",
        "on_delete",
        "refuse, withhold",
        "refuse",
        "incremental-k-anonymity: what happens when a record disappears",
    ),
    key("promise", "optimise", "true, false", "true", "k-anonymity: run the loss optimisation"),
    key(
        "promise",
        "refresh",
        "a number, or \"when loss > 1.1 x static\"",
        "never",
        "k-anonymity: group from scratch when the loss exceeds this many times that of the last time",
    ),
    key("promise", "loss", "leaf-share, height", "leaf-share", "k-anonymity: what groupings minimise"),
    key(
        "promise",
        "accept_series_risk",
        "text",
        "none",
        "k-anonymity: why publishing more than one release is acceptable",
    ),
    key(
        "promise",
        "accept_adopted",
        "text",
        "none",
        "m-invariance, k-anonymity: why the series may go on from adopted releases that do not keep the promise",
    ),
    key(
        "promise",
        "mode",
        "safe, paper",
        "safe",
        "incremental-l-diversity: the corrected algorithm, or the printed one for study",
    ),
    key(
        "promise",
        "made_up",
        "true, false",
        "false",
        "incremental-l-diversity: the data are made up, so a study mode may publish what it breaks",
    ),
    key("promise", "x", "[\"…\"]", "", "xy promises: the columns an attacker knows, as job or tax.job"),
    key(
        "promise",
        "y",
        "[\"…\"]",
        "",
        "xy promises: the columns that must stay open; tax.record for the records of a view, record for those of every view",
    ),
    key("promise", "max_confidence", "0.001 to 1", "", "xy-linkability: the largest share of one value of y"),
    key(
        "promise",
        "sensitive",
        "[\"…\"]",
        "every value",
        "xy-linkability: the values of y that are sensitive; with several columns in y, a list each",
    ),
    key(
        "promise",
        "thresholds",
        "[{ value = \"…\", max_confidence = 0.2 }]",
        "none",
        "xy-linkability: values with a share of their own",
    ),
    key(
        "promise",
        "pool",
        "[[\"bank\", \"clinic\"]]",
        "everyone with everyone",
        "xy promises: which recipients may lay their views side by side; who is in no list pools with nobody",
    ),
    key("promise", "target", "a column", "none", "xy promises: the class that detail should tell apart"),
    key(
        "promise",
        "score",
        "entropy, distortion, discernability",
        "entropy with a target, else distortion",
        "xy promises: what detail is good for",
    ),
    key(
        "promise",
        "too_large",
        "refuse, pairs",
        "refuse",
        "xy promises: where the join of all views is too large to be judged, publish nothing, or be content with each two views",
    ),
    key("promise.thresholds", "value", "\"…\"", "", "the value of y; with several columns in y, a list"),
    key("promise.thresholds", "max_confidence", "0.001 to 1", "", "its largest share"),
    key("views.NAME", "columns", "[\"…\"]", "", "the columns of the view"),
    key("views.NAME", "recipients", "[\"…\"]", "[\"everyone\"]", "who gets it"),
    key(
        "views.NAME",
        "adopted",
        "a path, relative to the policy file",
        "none",
        "the folder of a release made elsewhere: the view is out already",
    ),
    key("counterfeits", "max_share", "0 to 1", "0.02", "the largest share of counterfeits among published rows"),
    key("withheld", "max_share", "0 to 1", "0.01", "the largest share of the table's rows that may be withheld"),
    key("output", "formats", "[\"csv\", \"parquet\"]", "both", "the files of a release"),
    key("output", "row_weight", "true, false", "true", "whether rows carry a weight that sums up to people"),
    key(
        "output",
        "linked_ids",
        "true, false",
        "false",
        "incremental-k-anonymity: whether rows carry a keyed hash that is stable over the series",
    ),
];
