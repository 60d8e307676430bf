//! The sentences and limits that promises about a sensitive value share, by reader.

use crate::model::Reader;
use crate::promise::series::{Alternative, SeriesPromise};
use crate::promise::{GroupForming, IncrementalLDiversity};
use crate::settings::{Key, key};

/// The key for the reader in the policy file.
pub(in crate::promise::series) const READER: Key = key(
    "promise",
    "reader",
    "rule, method",
    "rule",
    "the reader against whom it holds: one who knows the rule of the releases, or one who also knows this program",
);

/// The words for readers in the policy file.
pub(in crate::promise::series) const READERS: [(&str, Reader); 2] =
    [("rule", Reader::Rule), ("method", Reader::Method)];

/// What waiting reveals.
pub(in crate::promise::series) const WAITING: &str = "A person who waits for their first release mostly has a value \
    that is too frequent among the people who arrived at the same time. If a reader knows that this person is in the \
    data, the waiting almost gives the value away. Others wait because of k, or because few people arrive.";

/// What a refusal tells.
pub(in crate::promise::series) const SKIPPED: &str = "A release is refused and skipped if the values of arrivals are too \
    uneven, or if a value changed. A reader who sees that can be certain of values: the bound does not hold for such a series.";

/// What choosing by results tells.
const CHOSEN_BY_RESULT: &str = "If a parameter or the way to form groups was chosen by comparing results on these data, \
    the bound is not proved.";

/// What tight boxes reveal.
pub(in crate::promise::series) const TIGHT_BOXES: &str = "Without a grid, the ends of a published interval are values of \
    people in it. Such an end can single a person out.";

/// The sentence of a promise that a value is one of `one_in`.
pub(in crate::promise::series) fn value_sentence(one_in: u32, reader: Reader) -> String {
    let bound = format!(
        "Across all releases of this series, a reader attributes a person's sensitive value correctly with probability at \
         most 1/{one_in}."
    );
    let knows = match reader {
        Reader::Rule => {
            "The reader may know everyone's exact quasi-identifiers, who is in which release, and the rule that every release \
             keeps, but not how people and counterfeits were placed. Every way to assign people to rows that fits all \
             releases counts equally."
        }
        Reader::Method => {
            "The reader may know everyone's exact quasi-identifiers, who is in which release, and exactly how this program works, \
             but nobody's value. To the reader, all ways to distribute the values among people who arrive together are \
             equally likely, whatever their quasi-identifiers. Leaving and returning say nothing about values."
        }
    };
    format!("{bound} {knows}")
}

/// What such a promise does not cover. Groups within cells show how values are related to quasi-identifiers; the order within
/// drawn groups does not.
pub(in crate::promise::series) fn value_limits(reader: Reader, groups: GroupForming) -> Vec<&'static str> {
    let (are_drawn, are_in_cells) = (groups == GroupForming::Drawn, groups != GroupForming::Close);
    let mut limits = vec![
        "It does not hide who is in the data.",
        "It does not hide that two people share a value.",
        "It does not resist knowledge of other people's values, or of who shares a value, such as relatives. One known \
         value can give away others, whatever the parameter.",
        TIGHT_BOXES,
    ];
    match reader {
        Reader::Rule => limits.push(
            "It does not resist a reader who knows how this program places people. Such a reader can be nearly certain about many \
             people: in later releases, and in the first one too if values are related to quasi-identifiers.",
        ),
        Reader::Method => {
            if !are_drawn {
                limits.push(
                    "If values are related to quasi-identifiers, a reader who knows this program can work the relation out from one \
                     release, and with it the values of most people.",
                );
            }
            if are_in_cells {
                limits.push(
                    "The releases show how values are related to quasi-identifiers. A reader who works this relation \
                     out, or knows it already, can guess better than the bound says.",
                );
            }
            limits.push("If people with some values leave more often than others, the bound does not hold.");
            limits.push(SKIPPED);
            limits.push(CHOSEN_BY_RESULT);
        }
    }
    limits
}

/// The ways to keep such a promise: close groups against each reader, and groups within cells, dealt or drawn. Only
/// incremental-l-diversity has cells (science A3.11-d); with `of_another`, that is a different promise.
pub(in crate::promise::series) fn ways(
    rule: SeriesPromise,
    method: (&str, SeriesPromise),
    l: u32,
    of_another: bool,
) -> Vec<Alternative> {
    let model = if of_another { format!("model = \"incremental-l-diversity\", l = {l}, ") } else { String::new() };
    let in_cells = |groups: GroupForming| IncrementalLDiversity {
        reader: Reader::Method,
        groups,
        ..IncrementalLDiversity::new(l)
    };
    vec![
        Alternative {
            name: "close",
            setting: "reader = \"rule\"".into(),
            about: "holds against a reader who knows the rule of the releases, but not this program",
            promise: rule,
        },
        Alternative {
            name: "method",
            setting: method.0.into(),
            about: "holds against a reader who knows this program, if values are unrelated to quasi-identifiers and to leaving",
            promise: method.1,
        },
        Alternative {
            name: "dealt",
            setting: format!("{model}reader = \"method\", groups = \"dealt\""),
            about: "holds against a reader who knows this program, if values are unrelated to quasi-identifiers; records may \
                only be added",
            promise: in_cells(GroupForming::Dealt).into(),
        },
        Alternative {
            name: "drawn",
            setting: format!("{model}reader = \"method\", groups = \"drawn\""),
            about: "how groups were drawn says nothing about who in a group has which value, not even to a reader who \
                knows this program; records may only be added",
            promise: in_cells(GroupForming::Drawn).into(),
        },
    ]
}
