//! Doubts about a cell that its column settles: commas between thousands, `20-` for 20 and more, `-20` for minus
//! twenty.
//!
//! Such a form is accepted only if the whole column is written that way. Otherwise the cells are labels or an error. A
//! column is never read in two ways.

use crate::ingest::error::Kind;
use crate::ingest::foreign::cell::{Cell, DASHES, Range, Written};
use crate::ingest::foreign::column::{Texts, Unreadable};
use crate::ingest::foreign::{Notation, Wish, lookalike, thousands, twins};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Settles every doubt. Afterwards no cell is [`Cell::Maybe`], except in columns of exact texts or with a given tree.
pub fn settle(wish: &Wish, published: &mut Texts<'_>, truth: &mut Texts<'_>) -> Result<(), Unreadable> {
    if wish.has_tree() || wish.notation == Notation::Exact {
        return Ok(());
    }
    let is_label = |cell: &Cell<'_>| matches!(cell, Cell::Label(_) | Cell::Prefix(_) | Cell::Set(_) | Cell::Unclear);
    let column = UnsettledColumn { wish: wish.notation, has_labels: !published.places(is_label).is_empty() };
    settle_joined(&column, published, truth);
    settle_sets(&column, published)?;
    settle_months(&column, published)?;
    settle_twins(&column, published, truth)?;
    settle_points(&column, published)?;
    settle_thousands(&column, published)?;
    settle_signs(&column, published)?;
    settle_dashes(&column, published)?;
    // A cell of a private table is one value, whatever else it looks like.
    let thousands = published.thousands;
    truth.change(|cell, text| match cell {
        Cell::Maybe(Written::Point(at), _) if thousands => Some(Cell::Point(*at)),
        Cell::Maybe(..) => Some(Cell::Label(text.trim())),
        _ => None,
    });
    Ok(())
}

/// What is known of a column before its doubts are settled.
struct UnsettledColumn {
    wish: Notation,
    has_labels: bool,
}

impl UnsettledColumn {
    /// Whether an option says that its texts are labels.
    fn is_said_to_be_labels(&self) -> bool {
        matches!(self.wish, Notation::Prefix | Notation::Set)
    }
}

fn refused(detail: &str, texts: Vec<usize>) -> Result<(), Unreadable> {
    Err(Unreadable { detail: detail.into(), ..Unreadable::new(Kind::UnknownNotation, texts) })
}

/// `F,M` beside `F` and `M` is a set without braces, as anonypyx writes it. Every part must occur alone elsewhere.
fn settle_joined(column: &UnsettledColumn, published: &mut Texts<'_>, truth: &Texts<'_>) {
    if column.wish != Notation::Auto && column.wish != Notation::Set {
        return;
    }
    let alone: BTreeSet<String> = [&*published, truth]
        .iter()
        .flat_map(|texts| texts.texts.iter().zip(&texts.cells))
        .filter(|(_, cell)| matches!(cell, Cell::Label(_) | Cell::Point(_)))
        .map(|(text, _)| text.trim().to_string())
        .collect();
    published.change(|cell, text| {
        let Cell::Label(label) = cell else { return None };
        let are_labels = label.contains(',') && label.split(',').all(|part| alone.contains(part.trim()));
        are_labels.then(|| Cell::Set(text.trim().split(',').map(|part| Cow::Borrowed(part.trim())).collect()))
    });
}

/// `{1,000, 2,000}` has two members or four. Its commas separate members if the commas of another set can only do that,
/// or if some number of a thousand or more has none.
fn settle_sets(column: &UnsettledColumn, published: &Texts<'_>) -> Result<(), Unreadable> {
    // A member in quotes is taken literally.
    let is_bare = |&at: &usize| matches!(published.cells[at], Cell::Set(_)) && !published.texts[at].contains('"');
    let is_doubtful = |at: &usize| thousands::without_commas(published.texts[*at]).is_some();
    let sets = (0..published.cells.len()).filter(is_bare);
    let (doubtful, clear): (Vec<usize>, Vec<usize>) = sets.partition(is_doubtful);
    let divides = |at: &usize| published.texts[*at].split(',').skip(1).any(|next| !next.starts_with(' '));
    let is_clear = clear.iter().any(divides) || published.texts.iter().any(|text| thousands::has_bare(text));
    if doubtful.is_empty() || is_clear || column.wish != Notation::Auto {
        return Ok(());
    }
    refused("commas in a set may divide its members, or the thousands of one", doubtful)
}

/// `2020-05` contains the day `2020-05-17` and lies in the year `2020`. So beside these it is no label.
fn settle_months(column: &UnsettledColumn, published: &Texts<'_>) -> Result<(), Unreadable> {
    let months = published.places(|cell| matches!(cell, Cell::Label(text) if lookalike::is_month(text)));
    let has_others = !published.places(|cell| matches!(cell, Cell::Point(_))).is_empty();
    if months.is_empty() || !has_others || column.wish != Notation::Auto {
        return Ok(());
    }
    refused("months beside days or years", months)
}

/// Refuses `25` and `25.0` among labels, because they would be two values.
fn settle_twins(column: &UnsettledColumn, published: &Texts<'_>, truth: &Texts<'_>) -> Result<(), Unreadable> {
    if !column.has_labels {
        return Ok(());
    }
    let texts: Vec<&str> = published.texts.iter().chain(&truth.texts).map(|text| text.trim()).collect();
    let texts = twins::of(&texts);
    if texts.is_empty() { Ok(()) } else { Err(Unreadable::new(Kind::WrittenTwice, texts)) }
}

/// `1.000-1.999` beside `500-999`: the points may be decimal points or thousands separators.
fn settle_points(column: &UnsettledColumn, published: &Texts<'_>) -> Result<(), Unreadable> {
    let measured = published.places(|cell| matches!(cell, Cell::Point(_) | Cell::Range(_)));
    if column.wish != Notation::Auto || column.has_labels {
        return Ok(());
    }
    let kinds = |at: usize| thousands::points(published.texts[at]);
    if measured.iter().any(|&at| kinds(at).decimals) || !measured.iter().any(|&at| kinds(at).whole) {
        return Ok(());
    }
    let doubtful: Vec<usize> = measured.into_iter().filter(|&at| kinds(at).grouped).collect();
    if doubtful.is_empty() {
        return Ok(());
    }
    refused("a point may stand before three decimals, or between thousands", doubtful)
}

fn settle_thousands(column: &UnsettledColumn, published: &mut Texts<'_>) -> Result<(), Unreadable> {
    let in_doubt = |cell: &Cell<'_>| matches!(cell, Cell::Maybe(_, doubt) if doubt.thousands);
    let grouped = published.places(in_doubt);
    if grouped.is_empty() {
        return Ok(());
    }
    // A number of a thousand or more without commas, or a comma that may separate two ends: [1,200].
    let differs = |at: &usize| match &published.cells[*at] {
        cell if in_doubt(cell) => thousands::has_bare(published.texts[*at]),
        Cell::Point(_) | Cell::Range(_) | Cell::Maybe(..) => {
            let text = published.texts[*at];
            thousands::has_bare(text) || thousands::without_commas(text).is_some()
        }
        _ => false,
    };
    let differing: Vec<usize> = (0..published.cells.len()).filter(differs).collect();
    let is_range = |at: &usize| matches!(published.cells[*at], Cell::Maybe(Written::Range(_), _));
    if !differing.is_empty() && grouped.iter().any(is_range) {
        return refused("commas between thousands must be used throughout a column", grouped);
    }
    let agrees = differing.is_empty() && !column.has_labels && !column.is_said_to_be_labels();
    published.thousands = agrees;
    published.change(|cell, text| match cell {
        Cell::Maybe(_, doubt) if !doubt.thousands || doubt.open_dash => None,
        Cell::Maybe(Written::Point(_), _) if !agrees => Some(Cell::Label(text.trim())),
        // Among labels, such a range is refused like any other range.
        Cell::Maybe(written, _) => Some(written.cell()),
        _ => None,
    });
    Ok(())
}

/// `-20` beside `21-30` or `40+` is minus twenty, or up to twenty. It is a minus sign if ranges have brackets or an end
/// below zero. Beside `20-` it cannot be decided.
fn settle_signs(column: &UnsettledColumn, published: &Texts<'_>) -> Result<(), Unreadable> {
    if column.wish != Notation::Auto || column.has_labels {
        return Ok(());
    }
    let mut leading = published.places(|cell| matches!(cell, Cell::Point(_)));
    leading.retain(|&at| published.texts[at].trim().starts_with(DASHES));
    let ranges = published.places(|cell| matches!(cell, Cell::Range(_)));
    let is_negative = |&at: &usize| match &published.cells[at] {
        Cell::Range(range) => range.bounds().any(|bound| bound.is_negative()),
        _ => false,
    };
    let is_bracketed = |&at: &usize| published.texts[at].trim().starts_with(['[', '(', ']']);
    let has_open_dashes = !published.places(|cell| matches!(cell, Cell::Maybe(..))).is_empty();
    let is_sign = ranges.iter().any(is_negative) || ranges.iter().all(is_bracketed);
    if leading.is_empty() || is_sign && !has_open_dashes {
        return Ok(());
    }
    refused("a dash before a number may be a minus sign, or a range without a lower end", leading)
}

/// `65-` beside `20-64` means 65 and more. Beside numbers alone nothing shows that, and beside `85+` it may mean up to
/// 65.
fn settle_dashes(column: &UnsettledColumn, published: &mut Texts<'_>) -> Result<(), Unreadable> {
    let open = published.places(|cell| matches!(cell, Cell::Maybe(..)));
    if open.is_empty() {
        return Ok(());
    }
    let has =
        |is: fn(&Range) -> bool| published.cells.iter().any(|cell| matches!(cell, Cell::Range(range) if is(range)));
    let are_ranges = match column.wish {
        Notation::Prefix | Notation::Set => false,
        Notation::Auto if column.has_labels => has(|_| true),
        Notation::Auto if has(|range| range.hi.is_none()) => {
            return refused("numbers with a dash behind them, beside others with another sign for and more", open);
        }
        Notation::Auto if !has(|range| range.lo.is_some()) => {
            return refused("numbers with a dash behind them, and nothing that says whether they are ranges", open);
        }
        _ => true,
    };
    published.change(|cell, text| match cell {
        Cell::Maybe(written, _) if are_ranges => Some(written.cell()),
        Cell::Maybe(..) => Some(Cell::Label(text.trim())),
        _ => None,
    });
    Ok(())
}
