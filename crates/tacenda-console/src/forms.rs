//! What a form sends.

use std::collections::BTreeMap;

/// The fields of a form, in order.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads the body of a form.
    pub fn read(body: &[u8]) -> Fields {
        Fields(form_urlencoded::parse(body).map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// A field; empty if it is missing.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value.trim())
    }

    /// A field as it is, blanks included.
    pub fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.text(name).parse().ok()
    }

    /// A field that is there only if it is not empty.
    pub fn some(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// All values of a field.
    pub fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(field, _)| field == name).map(|(_, value)| value.clone()).collect()
    }

    /// The fields whose name begins so, by the rest of their name.
    pub fn beginning(&self, prefix: &str) -> BTreeMap<String, String> {
        let named = |(name, value): &(String, String)| Some((name.strip_prefix(prefix)?.to_string(), value.clone()));
        self.0.iter().filter_map(named).collect()
    }
}
