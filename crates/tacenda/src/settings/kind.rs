//! The kinds of faults that a policy file can have: a name for the code, the code, and its page.

use crate::model::coded;

coded! {
    /// What is wrong with a policy file.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum FaultKind of units {
        Unreadable = "P200", "unreadable policy file",
            "The policy file cannot be opened, or is not UTF-8 text.";
        NotToml = "P201", "not TOML",
            "The policy file is not well-formed TOML 1.1. The place is where the parser stopped understanding.";
        UnknownKey = "P202", "unknown key",
            "The key is not part of the policy language. A misspelt key is refused, because ignoring it would \
             silently drop a requirement.";
        WrongKind = "P203", "wrong kind of value",
            "The key takes another kind of value, such as a number in place of a text.";
        MissingKey = "P204", "missing key",
            "The key has no default and is missing.";
        UnknownVersion = "P205", "unknown version",
            "The first line of a policy file is policy = 1, the version of its language.";
        BadSeriesName = "P206", "bad series name",
            "The name of a series is used for folders and files. It has at most 64 lower case letters, digits and \
             dashes, and starts with a letter or digit.";
        NotOneIdentifier = "P207", "not one identifier",
            "Exactly one column has the role identifier. It is never published; it links a person's rows in \
             different snapshots.";
        NoQuasi = "P208", "no quasi attribute",
            "No column has the role quasi. Then nothing is generalised, and a release would be as detailed as the \
             table.";
        NoSensitive = "P209", "no sensitive attribute",
            "The promise is about sensitive values, and no column has the role sensitive.";
        NoDomain = "P210", "no domain",
            "Numbers and dates need a domain, which is public. Bounds taken from the data would reveal the most \
             extreme person.";
        BadDomain = "P211", "bad domain",
            "A domain is [lo, hi) with lo below hi, both of the column's type.";
        DomainTooLarge = "P212", "domain too large",
            "A domain may have at most 4,294,967,293 values. Choose a coarser precision or narrower bounds.";
        TooSmall = "P213", "parameter too small",
            "m, k and l are the least numbers of values or people in a group: at least 2.";
        SaysNothing = "P214", "key does not apply",
            "The key is part of the language, but it has no meaning here: for this role, type or promise.";
        NoReason = "P215", "no reason",
            "A public column is published as it is. Write down in because = … why that is harmless.";
        HierarchyMissing = "P216", "hierarchy file missing",
            "The hierarchy file cannot be opened. Its path is relative to the policy file.";
        BadHierarchy = "P217", "bad hierarchy",
            "A hierarchy file has one line per value: the value, then its ancestors up to *, separated by semicolons. \
             All lines have the same number of levels. A label has one place in the tree.";
        BadList = "P218", "bad list of values",
            "values = […] lists each value once, and at least one.";
        ReservedName = "P219", "reserved column name",
            "A release has columns of this name already: group_id, row_weight, record.";
        NotAShare = "P220", "not a share",
            "A share lies between 0 and 1.";
        UnknownWord = "P221", "unknown word",
            "The key takes one of a few words, and this is none of them.";
        LinkedIds = "P222", "linked ids not covered",
            "Ids that stay the same link a person's rows in all releases. Only incremental-k-anonymity covers \
             that.";
        BadPerson = "P223", "bad rows of a person",
            "[person] says what happens to several rows of one person. rows = \"first\" and \"latest\" need order: a \
             column of dates or numbers, which may have role = \"drop\" with its type. With rows = \"combine\", combine at a column says which of a person's \
             values is kept: least and most are for numbers and dates, first and latest need order.";
        BadLevel = "P224", "bad level",
            "level = N publishes the label in column N of the hierarchy file in place of the sensitive value. Level 0 \
             is the value itself. The root says nothing and cannot be published.";
        BadGrid = "P225", "bad grid",
            "grid is a number of units, or \"month\" or \"year\" for dates.";
        ValuesOrHierarchy = "P226", "values or hierarchy",
            "A category takes its values from a hierarchy or from a list: one of them, not both.";
        BadNumber = "P227", "bad number",
            "The number is out of range.";
        TooFewValues = "P228", "too few sensitive values",
            "The promise hides each sensitive value among m or l different ones, and the lists or hierarchies of \
             the sensitive columns declare fewer. No table could keep it. A missing value counts as one where \
             missing = \"value\" allows it.";
        UnlistedValues = "P229", "values that are not listed",
            "unknown = \"other\" reads a value that is not listed as other, so other must be listed. unlisted = \"prefix\" publishes a \
             sensitive value that is not listed by the beginning that a hierarchy or a list of values gives, so there must be one.";
        BadFormat = "P230", "bad format",
            "format says how the table writes dates: YYYY, MM and DD with the marks between them, and … for a rest that is not \
             read. excel means the days of a spreadsheet. Without it dates are written like 2025-12-31. Which number is the month is \
             never guessed.";
        BadView = "P231", "bad view",
            "[views.NAME] lists columns that are published: those with the role quasi or sensitive. Its name has \
             letters, digits, - and _. It is not the name of a column, because tax.job must mean one thing.";
        NoSuchColumn = "P232", "no such column in a view",
            "x and y name columns of views. job is the column of that name in every view that has it. tax.job is the \
             column of the view tax. tax.record stands for the records of that view, record for those of every view. \
             target names a published column.";
        KnownAndProtected = "P233", "a column cannot be both known and protected",
            "A column is in x or in y, not in both: x is what an attacker knows, y what must stay unknown. A \
             record in x would make every row unique.";
        NoViews = "P234", "no views",
            "The promise is about views, and no section [views.NAME] says which there are.";
        BadImpossible = "P235", "bad impossible pair",
            "[[impossible]] has two columns with a value each that never belong to one person, such as sex = \
             \"M\" and condition = \"pregnant\". A node of a hierarchy includes everything below it.";
        RecipientOfNone = "P236", "a recipient of no view",
            "pool lists recipients who may join their views; each must be a recipient of some view.";
        PublishedAsItIs = "P237", "a column that must be coarse is published as it is",
            "A view generalises a column only if it is in x and not in y. Otherwise a grid or a least width \
             cannot be kept.";
        BadValueOfY = "P238", "bad value of y",
            "sensitive and thresholds list values of y as a release prints them. A node of a hierarchy stands for all \
             values below it. With several columns in y, list one value per column.";
        NotForViews = "P239", "a column that views cannot have",
            "Views of the same people are joined on their columns, so all values must be declared. A sensitive column \
             needs values or a hierarchy. A public column needs the role quasi: a column that is in no x is published \
             unchanged anyway.";
        OutsidePath = "P240", "a path that leads out of the project",
            "Hierarchies, adopted files and queries lie in the folder of the policy file or below it. Most of what they contain is \
             published with every release. A path with .., an absolute path or a symbolic link could name any file \
             that you can read, by mistake or by somebody's intent. Copy the file into the folder.";
        OpenQuestion = "P241", "an open question",
            "tacenda init could not find the role of a column, and nobody answered. Nothing is published before a \
             person has decided. quasi: an attacker may know it, so it is generalised. sensitive: nobody may learn it \
             about a person, so it is published as it is, hidden among others. drop: it is not published. public: it \
             is published as it is, and you say why that harms no one.";
        BadKey = "P242", "not a public key",
            "[signatures] lists public keys: signers may sign releases, approvers may approve plans. A key is what tacenda key show \
             prints, 56 characters that begin with RW. Secret keys never stand in a policy file.";
        BadConnection = "P243", "bad connection",
            "postgres says how a database is reached, in the words of libpq: service=ward_ro, or host=db.example.org \
             dbname=hospital user=reader. It names one host.";
        PasswordWritten = "P244", "a password in the policy file",
            "People read and copy policy files, so no password may stand there. Change the password that stood there. Write the new \
             one into ~/.pgpass, which only you can read, or use PGPASSWORD or a client certificate.";
        BadSource = "P245", "where the table comes from is not clear",
            "[source] has postgres and either query or table. query is the path of a file with one SELECT, relative to \
             the policy file. table is SCHEMA.NAME, each part written as the database has it.";
        BadDelivery = "P246", "a delivery that a database cannot take",
            "PostgreSQL cuts names after 63 bytes and keeps some names for itself. So the series, the schema, the roles and the \
             columns need other names, or nothing is delivered. Views go to different people and are not delivered.";
    }
}
