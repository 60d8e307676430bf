//! A finished page in another language than English.
//!
//! English stands in the code; `languages.toml` has every text of the page for recipients a second and a third time, and
//! `console.toml` those of the console, found by the English one, as gettext does it. What comes from the data or the policy file is never looked up: the page marks it with
//! `translate="no"`, and inside a sentence it stands in a slot that is copied. Numbers are written as the language writes
//! them. A page is our own markup, so tags and texts are told apart by the signs `<` and `>` alone.

use crate::model::Language;
use maud::html;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// A page in another language.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Translation {
    /// The page.
    pub page: String,
    /// The texts that have no translation and stay English. There should be none.
    pub missing: BTreeSet<String>,
}

/// A page for recipients, made by [`crate::report::html`], in another language.
pub fn translated(page: &str, language: Language) -> Translation {
    let Some(texts) = Texts::of(language) else {
        return Translation { page: page.into(), missing: BTreeSet::new() };
    };
    let mut scribe = Scribe { texts, known: BTreeMap::new(), missing: BTreeSet::new() };
    let page = scribe.page(page);
    Translation { page, missing: scribe.missing }
}

/// The file of all texts.
#[derive(Deserialize)]
struct TextFile {
    text: Vec<TextEntry>,
}

/// One text in every language.
#[derive(Deserialize)]
struct TextEntry {
    en: String,
    de: String,
    fr: String,
}

/// The texts of the page for recipients, and those of the console.
static FILE: LazyLock<TextFile> = LazyLock::new(|| {
    let read = |text: &str| -> TextFile { toml::from_str(text).expect("our own file is well formed") };
    let mut all = read(include_str!("languages.toml"));
    all.text.extend(read(include_str!("console.toml")).text);
    all
});
static GERMAN: LazyLock<Texts> = LazyLock::new(|| Texts::new(Language::German));
static FRENCH: LazyLock<Texts> = LazyLock::new(|| Texts::new(Language::French));

/// The texts of one language.
struct Texts {
    language: Language,
    /// Texts without a slot.
    plain: BTreeMap<&'static str, String>,
    /// Texts with slots, those with the most letters of their own first.
    patterns: Vec<Pattern>,
    /// The word between the last two items of a list.
    and: String,
}

/// A text with slots, and how the language says it.
struct Pattern {
    english: Vec<Piece>,
    said: Vec<Piece>,
}

impl Pattern {
    /// Whether a text begins and ends as this one does, which is quickly seen.
    fn may_fit(&self, text: &str) -> bool {
        let begins = match self.english.first() {
            Some(Piece::Letters(letters)) => text.starts_with(letters.as_str()),
            Some(Piece::Slot(_, Slot::Number)) => text.starts_with(|letter: char| letter.is_ascii_digit()),
            _ => true,
        };
        let ends = match self.english.last() {
            Some(Piece::Letters(letters)) => text.ends_with(letters.as_str()),
            _ => true,
        };
        begins && ends
    }
}

/// A piece of a text: letters, or a slot.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Piece {
    Letters(String),
    Slot(u32, Slot),
}

/// What a slot takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Slot {
    /// `{1}`: a number or a percentage.
    Number,
    /// `{1:list}`: numbers or names of checks, with commas and an and.
    List,
    /// `{1:code}`: the code of a finding.
    Code,
    /// `{1:text}`: another text of the file.
    Text,
    /// `{1:data}`: anything; it is copied.
    Data,
}

impl Texts {
    fn of(language: Language) -> Option<&'static Texts> {
        match language {
            Language::English => None,
            Language::German => Some(&GERMAN),
            Language::French => Some(&FRENCH),
        }
    }

    fn new(language: Language) -> Texts {
        let said = |text: &TextEntry| match language {
            Language::English => text.en.clone(),
            Language::German => text.de.clone(),
            Language::French => french_spaces(&text.fr),
        };
        let is_plain = |text: &&TextEntry| !text.en.contains('{');
        let plain: BTreeMap<&str, String> =
            FILE.text.iter().filter(is_plain).map(|text| (&*text.en, said(text))).collect();
        let mut patterns: Vec<Pattern> = FILE
            .text
            .iter()
            .filter(|text| !is_plain(text))
            .map(|text| Pattern { english: pieces(&text.en), said: pieces(&said(text)) })
            .collect();
        patterns.sort_by_key(|pattern| std::cmp::Reverse(letters(&pattern.english)));
        let and = plain.get("and").cloned().unwrap_or_default();
        Texts { language, plain, patterns, and }
    }
}

/// How many letters of its own a text has.
fn letters(pieces: &[Piece]) -> usize {
    let own = |piece: &Piece| match piece {
        Piece::Letters(letters) => letters.len(),
        Piece::Slot(..) => 0,
    };
    pieces.iter().map(own).sum()
}

/// Takes a text apart at its slots.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, (slot, after))) =
        rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        if !before.is_empty() {
            pieces.push(Piece::Letters(before.into()));
        }
        let (number, kind) = slot.split_once(':').unwrap_or((slot, ""));
        let kind = match kind {
            "" => Slot::Number,
            "list" => Slot::List,
            "code" => Slot::Code,
            "text" => Slot::Text,
            "data" => Slot::Data,
            _ => panic!("no slot takes {kind}: {text}"),
        };
        pieces.push(Piece::Slot(number.parse().expect("slots are numbered"), kind));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Letters(rest.into()));
    }
    pieces
}

/// The spaces that French sets before marks, which break no line; the file has plain ones.
fn french_spaces(text: &str) -> String {
    let narrow = [" ;", " ?", " !"]
        .iter()
        .fold(text.to_string(), |text, mark| text.replace(mark, &format!("{NARROW_SPACE}{}", mark.trim_start())));
    narrow.replace(" :", "\u{a0}:").replace("« ", "«\u{a0}").replace(" »", "\u{a0}»")
}

/// A narrow space at which no line breaks.
const NARROW_SPACE: char = '\u{202f}';

/// Elements whose text is no text: style, and what is typed as it stands.
const NO_TEXT: [&str; 4] = ["style", "code", "pre", "textarea"];

/// Elements that have no end.
const WITHOUT_END: [&str; 6] = ["meta", "br", "link", "input", "hr", "img"];

/// Attributes that people read.
const READ: [&str; 4] = ["aria-label", "title", "alt", "placeholder"];

/// Who translates one page.
struct Scribe {
    texts: &'static Texts,
    /// What was asked before, so that no text is taken apart twice.
    known: BTreeMap<String, Option<String>>,
    missing: BTreeSet<String>,
}

impl Scribe {
    fn page(&mut self, page: &str) -> String {
        let mut out = String::with_capacity(page.len() + page.len() / 4);
        // How many elements are open in one that is left as it is, itself included.
        let mut inside = 0usize;
        for part in page.split_inclusive('>') {
            let (text, tag) = part.find('<').map_or((part, ""), |start| part.split_at(start));
            if inside > 0 || text.is_empty() {
                out.push_str(text);
            } else {
                out.push_str(&self.node(text));
            }
            let name = tag.trim_start_matches(['<', '/']).split([' ', '>']).next().unwrap_or_default();
            let is_left = || NO_TEXT.contains(&name) || tag.contains(" translate=\"no\"");
            if tag.starts_with("</") {
                inside = inside.saturating_sub(1);
            } else if !WITHOUT_END.contains(&name) && !tag.is_empty() && (inside > 0 || is_left()) {
                inside += 1;
            }
            if inside > 0 {
                out.push_str(tag);
            } else {
                out.push_str(&self.tag(tag));
            }
        }
        out
    }

    /// A tag with the attributes that people read.
    fn tag(&mut self, tag: &str) -> String {
        let mut tag = tag.to_string();
        for name in READ {
            let opening = format!(" {name}=\"");
            let Some(start) = tag.find(&opening).map(|at| at + opening.len()) else { continue };
            let Some(end) = tag[start..].find('"').map(|length| start + length) else { continue };
            let said = self.node(&tag[start..end]);
            tag.replace_range(start..end, &said);
        }
        tag
    }

    /// A text between two tags, as markup. Marks around it stay where they are.
    fn node(&mut self, markup: &str) -> String {
        let text = plain(markup);
        let core = text.trim_start_matches(|letter: char| letter.is_whitespace() || ".,;:·–)".contains(letter));
        let (before, core) = text.split_at(text.len() - core.len());
        let core = core.trim_end_matches(|letter: char| letter.is_whitespace() || ",;·".contains(letter));
        let after = &text[before.len() + core.len()..];
        if core.is_empty() {
            return markup.into();
        }
        let said = self.say(core).unwrap_or_else(|| {
            self.missing.insert(core.into());
            core.into()
        });
        html! { (before) (said) (after) }.into_string()
    }

    /// A text in the language, if the file has it or all its parts.
    fn say(&mut self, text: &str) -> Option<String> {
        if !text.contains(char::is_alphabetic) {
            return Some(numbers(text, self.texts.language));
        }
        if let Some(said) = self.texts.plain.get(text) {
            return Some(said.clone());
        }
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        // Until it is known, a text is not a part of itself.
        self.known.insert(text.into(), None);
        let said = self.by_pattern(text).or_else(|| self.by_sentences(text)).or_else(|| self.lower(text));
        self.known.insert(text.into(), said.clone());
        said
    }

    fn by_pattern(&mut self, text: &str) -> Option<String> {
        let texts = self.texts;
        texts.patterns.iter().filter(|pattern| pattern.may_fit(text)).find_map(|pattern| {
            let mut slots = Vec::new();
            self.fits(&pattern.english, text, &mut slots).then(|| filled(&pattern.said, &slots))
        })
    }

    /// Whether a text is made of these pieces; collects what the slots hold, in the language.
    fn fits(&mut self, pieces: &[Piece], text: &str, slots: &mut Vec<(u32, String)>) -> bool {
        let Some((piece, rest)) = pieces.split_first() else { return text.is_empty() };
        let (number, slot) = match piece {
            Piece::Letters(letters) => {
                return text.strip_prefix(letters.as_str()).is_some_and(|text| self.fits(rest, text, slots));
            }
            Piece::Slot(number, slot) => (*number, *slot),
        };
        let ends: Vec<usize> = match rest.first() {
            None => vec![text.len()],
            Some(Piece::Letters(letters)) => text.match_indices(letters.as_str()).map(|(at, _)| at).collect(),
            Some(Piece::Slot(..)) => unreachable!("letters stand between two slots"),
        };
        for end in ends {
            let Some(said) = self.takes(slot, &text[..end]) else { continue };
            slots.push((number, said));
            if self.fits(rest, &text[end..], slots) {
                return true;
            }
            slots.pop();
        }
        false
    }

    /// What a slot holds, in the language.
    fn takes(&mut self, slot: Slot, text: &str) -> Option<String> {
        match slot {
            _ if text.is_empty() => None,
            Slot::Number => is_number(text).then(|| numbers(text, self.texts.language)),
            Slot::List => {
                let is_name = |item: &str| item.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
                let is_list = text.trim_end_matches(['…', ',', ' ']).replace(" and ", ", ").split(", ").all(is_name);
                is_list.then(|| text.replace(" and ", &format!(" {} ", self.texts.and)))
            }
            Slot::Code => {
                let is_code = text.len() == 4 && text.starts_with('A') && text[1..].bytes().all(|b| b.is_ascii_digit());
                is_code.then(|| text.to_string())
            }
            Slot::Text => self.say(text),
            Slot::Data => Some(text.to_string()),
        }
    }

    /// A text made of sentences, each by itself; the longest beginning that is known comes first.
    fn by_sentences(&mut self, text: &str) -> Option<String> {
        let ends = text.match_indices(' ').map(|(at, _)| at);
        let ends = ends.filter(|&at| text[..at].trim_end_matches('"').ends_with(['.', '?', '!']));
        let ends: Vec<usize> = ends.collect();
        ends.into_iter().rev().find_map(|end| {
            let (first, rest) = (self.say(&text[..end])?, self.say(text[end..].trim_start())?);
            Some(format!("{first} {rest}"))
        })
    }

    /// A text that begins with a capital letter only because a sentence does.
    fn lower(&mut self, text: &str) -> Option<String> {
        let first = text.chars().next().filter(|first| first.is_uppercase())?;
        let lower: String = first.to_lowercase().chain(text.chars().skip(1)).collect();
        self.say(&lower).map(|said| crate::report::words::capital(&said))
    }
}

/// A text with its slots filled.
fn filled(pieces: &[Piece], slots: &[(u32, String)]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Letters(letters) => letters.clone(),
        Piece::Slot(number, _) => {
            slots.iter().find(|(slot, _)| slot == number).map_or(String::new(), |(_, said)| said.clone())
        }
    };
    pieces.iter().map(piece).collect()
}

/// The text of markup.
fn plain(markup: &str) -> String {
    markup.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// Whether it is one number or percentage.
fn is_number(text: &str) -> bool {
    let digits = text.strip_suffix(" %").unwrap_or(text);
    digits.starts_with(|letter: char| letter.is_ascii_digit())
        && digits.ends_with(|letter: char| letter.is_ascii_digit())
        && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b',' || byte == b'.')
}

/// Every number of a text as the language writes it: signs between digits, and the space before a percent sign.
fn numbers(text: &str, language: Language) -> String {
    let thousands = if language == Language::German { '.' } else { NARROW_SPACE };
    let letters: Vec<char> = text.chars().collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(char::is_ascii_digit);
    let written = letters.iter().enumerate().map(|(at, &letter)| {
        let is_between = is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        match letter {
            ',' if is_between => thousands,
            '.' if is_between => ',',
            ' ' if letters.get(at + 1) == Some(&'%') => NARROW_SPACE,
            _ => letter,
        }
    });
    written.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(text: &str) -> BTreeSet<u32> {
        let number = |piece: Piece| match piece {
            Piece::Slot(number, _) => Some(number),
            Piece::Letters(_) => None,
        };
        pieces(text).into_iter().filter_map(number).collect()
    }

    /// A sentence in another language says every number and every name that the English one says.
    #[test]
    fn no_slot_is_lost_and_no_text_stands_twice() {
        let mut seen = BTreeSet::new();
        for text in &FILE.text {
            assert!(seen.insert(&text.en), "twice: {}", text.en);
            assert_eq!(slots(&text.en), slots(&text.de), "{}", text.de);
            assert_eq!(slots(&text.en), slots(&text.fr), "{}", text.fr);
            let apart = pieces(&text.en);
            assert!(!apart.windows(2).any(|two| matches!(two, [Piece::Slot(..), Piece::Slot(..)])), "{}", text.en);
            // Not so `No.`, which is short for a word.
            let is_sentence = |said: &str| text.en != "No." && said.ends_with('.');
            assert!(is_sentence(&text.en) == is_sentence(&text.de), "a sentence stays one: {}", text.de);
            assert!(is_sentence(&text.en) == is_sentence(&text.fr), "a sentence stays one: {}", text.fr);
        }
    }

    fn said(text: &str, language: Language) -> String {
        translated(&format!("<p>{text}</p>"), language).page.replace("<p>", "").replace("</p>", "")
    }

    #[test]
    fn numbers_are_written_as_the_language_writes_them() {
        let (german, french) = (Language::German, Language::French);
        assert_eq!(said("12,345.6", german), "12.345,6");
        assert_eq!(said("12,345.6", french), "12\u{202f}345,6");
        assert_eq!(said("4 (25.0 %)", german), "4 (25,0\u{202f}%)");
        assert_eq!(said("2,000 people", french), "2\u{202f}000 personnes");
        assert_eq!(said("1, 2", german), "1, 2");
    }

    #[test]
    fn a_paragraph_is_said_sentence_by_sentence_and_what_is_missing_is_named() {
        assert_eq!(
            said("Records are only added. Some wait.", Language::German),
            "Datensätze kommen nur hinzu. Einige warten."
        );
        assert_eq!(said("1 release and 2 people", Language::French), "1 publication et 2 personnes");
        let open = translated("<p>Nobody has ever said this.</p>", Language::German);
        assert_eq!(open.missing, BTreeSet::from(["Nobody has ever said this.".to_string()]));
        assert_eq!(open.page, "<p>Nobody has ever said this.</p>");
    }

    #[test]
    fn markup_and_what_is_marked_stay() {
        let page = "<i title=\"People\"><br></i><a title=\"People\" translate=\"no\">People<br><b>People</b></a>People<code>People</code>";
        let said = translated(page, Language::German).page;
        let expected = "<i title=\"Personen\"><br></i><a title=\"People\" translate=\"no\">People<br><b>People</b></a>Personen<code>People</code>";
        assert_eq!(said, expected);
        let reason = "Release 1 was withdrawn on 2026-01-02: &quot;a &lt; b&quot; &amp;amp;. Do not use it.";
        let said = translated(&format!("<p>{reason}</p>"), Language::French).page;
        assert!(said.contains(": &quot;a &lt; b&quot; &amp;amp;. Ne"), "{said}");
    }
}
