//! How a file of another tool is read, beyond what the policy file says about its columns.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How files of others are read. For adopted releases it is kept in the ledger, because those files are read again.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// The column that numbers groups, if not `group_id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Per column, the name of its notation.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notation: BTreeMap<String, String>,
    /// Per column, texts that mean any value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub any: BTreeMap<String, Vec<String>>,
    /// Per column, their tree, in ARX's layout.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hierarchy: BTreeMap<String, PathBuf>,
}
