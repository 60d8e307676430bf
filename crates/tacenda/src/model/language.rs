//! The languages that the page for recipients is written in.

/// A language of the page for recipients. Promises are made in English; the others are translations.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// German.
    German,
    /// French.
    French,
}

impl Language {
    /// Every language, by its word in the policy file, which is its tag on a page as well.
    pub const WORDS: [(&str, Language); 3] =
        [("en", Language::English), ("de", Language::German), ("fr", Language::French)];

    /// Its word in the policy file.
    pub fn word(self) -> &'static str {
        match self {
            Language::English => "en",
            Language::German => "de",
            Language::French => "fr",
        }
    }
}
