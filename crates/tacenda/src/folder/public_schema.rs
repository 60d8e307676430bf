//! The columns of a release as its manifest describes them: enough to read every cell back.
//!
//! The identifier, dropped columns and the source codes of sensitive labels are left out.

use crate::folder::FolderError;
use crate::folder::fits::parts;
use crate::model::{Domain, Grid, Hierarchy, Public, Quasi, Release, Role, RowRule, Schema, Sensitive, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A column of a release.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum PublicColumn {
    Quasi {
        name: String,
        #[serde(flatten)]
        domain: ColumnDomain,
        missing: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grid: Option<ColumnGrid>,
        min_width: u32,
        weight: f64,
        /// Whether `other` stands for values that are not listed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        takes_unknown: bool,
        /// Whether the values of a tree are published as sets of leaves.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sets: bool,
    },
    Sensitive {
        name: String,
        missing: bool,
        /// The labels of this release that stand for values of other names. Which ones is not said.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        coarse: Vec<String>,
        /// Whether a cell lists the values of all rows of a person.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        combined: bool,
    },
    Public {
        name: String,
        because: String,
    },
}

/// The values of a quasi column. Intervals are half open.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ColumnDomain {
    Integer {
        lo: i64,
        hi: i64,
    },
    /// Bounds in units of the last decimal.
    Real {
        lo: i64,
        hi: i64,
        decimals: u8,
    },
    /// Bounds in days since 1970-01-01.
    Date {
        lo: i64,
        hi: i64,
    },
    /// One row per leaf, in the order of the leaves: the leaf, then its ancestors up to the root.
    Category {
        hierarchy: Vec<Vec<String>>,
    },
}

/// Where boundaries may lie, counted from the domain's lower end.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ColumnGrid {
    Every { pitch: u32, phase: u32 },
    Lines(Vec<u32>),
}

impl PublicColumn {
    /// The columns of a release, in the order of the data file.
    pub fn all(schema: &Schema, release: &Release) -> Vec<PublicColumn> {
        schema.order.iter().map(|&(role, index)| column(schema, release, role, index)).collect()
    }
}

/// The columns that a manifest describes, as a schema.
pub fn schema_of(columns: &[PublicColumn]) -> Result<Schema, FolderError> {
    let mut schema = Schema::default();
    for column in columns.iter().cloned() {
        match column {
            PublicColumn::Quasi { name, domain, missing, grid, min_width, weight, takes_unknown, sets } => {
                schema.order.push((Role::Quasi, schema.quasi.len()));
                let grid = match grid {
                    None => Grid::Free,
                    Some(ColumnGrid::Every { pitch: 0, .. }) => return Err(damaged("columns: a grid of pitch 0")),
                    Some(ColumnGrid::Every { pitch, phase }) => Grid::Every { pitch, phase },
                    Some(ColumnGrid::Lines(lines)) => Grid::Lines(lines),
                };
                let domain = domain_of(domain)?;
                let nullable = missing;
                let written = None;
                schema.quasi.push(Quasi {
                    name,
                    domain,
                    nullable,
                    grid,
                    min_width,
                    weight,
                    takes_unknown,
                    sets,
                    written,
                });
            }
            PublicColumn::Sensitive { name, missing, coarse, combined } => {
                schema.order.push((Role::Sensitive, schema.sensitive.len()));
                let labels = coarse.into_iter().map(|label| (String::new(), label)).collect();
                schema.sensitive.push(Sensitive { nullable: missing, labels, ..Sensitive::open(&name) });
                if combined {
                    schema.person.rule = RowRule::Combine;
                }
            }
            PublicColumn::Public { name, because } => {
                schema.order.push((Role::Public, schema.public.len()));
                schema.public.push(Public { name, because });
            }
        }
    }
    Ok(schema)
}

fn column(schema: &Schema, release: &Release, role: Role, index: usize) -> PublicColumn {
    match role {
        Role::Quasi => {
            let Quasi { name, domain, nullable, grid, min_width, weight, takes_unknown, sets, .. } =
                schema.quasi[index].clone();
            let domain = match domain {
                Domain::Integer { lo, hi } => ColumnDomain::Integer { lo, hi },
                Domain::Real { lo, hi, decimals } => ColumnDomain::Real { lo, hi, decimals },
                Domain::Date { lo, hi } => ColumnDomain::Date { lo, hi },
                Domain::Category(tree) => ColumnDomain::Category { hierarchy: tree.rows() },
            };
            let grid = match grid {
                Grid::Free => None,
                Grid::Every { pitch, phase } => Some(ColumnGrid::Every { pitch, phase }),
                Grid::Lines(lines) => Some(ColumnGrid::Lines(lines)),
            };
            PublicColumn::Quasi { name, domain, missing: nullable, grid, min_width, weight, takes_unknown, sets }
        }
        Role::Sensitive => {
            let Sensitive { name, nullable, .. } = schema.sensitive[index].clone();
            let combined = schema.person.rule == RowRule::Combine;
            let coarse = shown_labels(schema, release, index);
            PublicColumn::Sensitive { name, missing: nullable, coarse, combined }
        }
        Role::Public => {
            let Public { name, because } = schema.public[index].clone();
            PublicColumn::Public { name, because }
        }
        Role::Identifier | Role::Drop => unreachable!("neither is published"),
    }
}

/// The labels of a sensitive column that stand for values of other names and that this release has.
fn shown_labels(schema: &Schema, release: &Release, index: usize) -> Vec<String> {
    let mut coarse = schema.sensitive[index].coarse();
    let combined = schema.person.rule == RowRule::Combine;
    let values: BTreeSet<Value> =
        if coarse.is_empty() { BTreeSet::new() } else { release.sensitive.iter().copied().collect() };
    let shown: BTreeSet<&str> =
        values.iter().flat_map(|&value| parts(&release.values.cells(value)[index], combined)).collect();
    coarse.retain(|label| shown.contains(label));
    coarse.into_iter().map(String::from).collect()
}

fn domain_of(domain: ColumnDomain) -> Result<Domain, FolderError> {
    let sound = |lo: i64, hi: i64| {
        let width = hi.checked_sub(lo).filter(|width| (1..i64::from(u32::MAX)).contains(width));
        width.map(|_| (lo, hi)).ok_or_else(|| damaged("columns: a domain is empty or too wide"))
    };
    Ok(match domain {
        ColumnDomain::Integer { lo, hi } => sound(lo, hi).map(|(lo, hi)| Domain::Integer { lo, hi })?,
        ColumnDomain::Real { decimals: 19.., .. } => return Err(damaged("columns: too many decimals")),
        ColumnDomain::Real { lo, hi, decimals } => sound(lo, hi).map(|(lo, hi)| Domain::Real { lo, hi, decimals })?,
        ColumnDomain::Date { lo, hi } => sound(lo, hi).map(|(lo, hi)| Domain::Date { lo, hi })?,
        ColumnDomain::Category { hierarchy } => {
            Domain::Category(Hierarchy::from_rows(&hierarchy).map_err(|error| damaged(&format!("columns: {error}")))?)
        }
    })
}

fn damaged(what: &str) -> FolderError {
    FolderError::Manifest { what: what.into() }
}
