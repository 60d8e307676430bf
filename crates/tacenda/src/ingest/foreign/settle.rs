//! What one cell leaves open and its column decides: commas between thousands, and `20-` for 20 and more.
//!
//! Both are taken for what they look like only where the whole column is written so. Otherwise they are labels, as any
//! other text, or an error: a column is never read in two ways.

use crate::ingest::error::Kind;
use crate::ingest::foreign::Notation;
use crate::ingest::foreign::Wish;
use crate::ingest::foreign::cell::Cell;
use crate::ingest::foreign::cell::Written;
use crate::ingest::foreign::column::Texts;
use crate::ingest::foreign::column::Unreadable;
use crate::ingest::foreign::thousands;

/// Settles every doubt. Afterwards no cell is [`Cell::Maybe`], but where texts stand for themselves or for nodes of a
/// given tree.
pub fn settle(wish: &Wish, published: &mut Texts<'_>, truth: &mut Texts<'_>) -> Result<(), Unreadable> {
    if wish.hierarchy.is_some() || wish.notation == Notation::Exact {
        return Ok(());
    }
    let is_label = |cell: &Cell<'_>| matches!(cell, Cell::Label(_) | Cell::Prefix(_) | Cell::Set(_) | Cell::Unclear);
    let column = Column { wish: wish.notation, has_labels: !published.places(is_label).is_empty() };
    settle_thousands(&column, published)?;
    settle_dashes(&column, published)?;
    // The truth is one value a cell; what else it looks like, it is not.
    let thousands = published.thousands;
    truth.change(|cell, text| match cell {
        Cell::Maybe(Written::Point(at), _) if thousands => Some(Cell::Point(*at)),
        Cell::Maybe(..) => Some(Cell::Label(text.trim())),
        _ => None,
    });
    Ok(())
}

/// What is known of a column before its doubts are settled.
struct Column {
    wish: Notation,
    has_labels: bool,
}

impl Column {
    /// Whether somebody said that its texts are labels.
    fn is_said_to_be_labels(&self) -> bool {
        matches!(self.wish, Notation::Prefix | Notation::Set)
    }
}

fn settle_thousands(column: &Column, published: &mut Texts<'_>) -> Result<(), Unreadable> {
    let in_doubt = |cell: &Cell<'_>| matches!(cell, Cell::Maybe(_, doubt) if doubt.thousands);
    let grouped = published.places(in_doubt);
    if grouped.is_empty() {
        return Ok(());
    }
    // A number of a thousand or more without commas, or a comma that stands between two ends: [1,200].
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
        let detail = "commas between thousands must be used throughout a column";
        return Err(Unreadable { detail: detail.into(), ..Unreadable::new(Kind::UnknownNotation, grouped) });
    }
    let agrees = differing.is_empty() && !column.has_labels && !column.is_said_to_be_labels();
    published.thousands = agrees;
    published.change(|cell, text| match cell {
        Cell::Maybe(_, doubt) if !doubt.thousands || doubt.open_dash => None,
        Cell::Maybe(Written::Point(_), _) if !agrees => Some(Cell::Label(text.trim())),
        // Among labels a range is refused like any other.
        Cell::Maybe(written, _) => Some(written.cell()),
        _ => None,
    });
    Ok(())
}

fn settle_dashes(column: &Column, published: &mut Texts<'_>) -> Result<(), Unreadable> {
    let open = published.places(|cell| matches!(cell, Cell::Maybe(..)));
    if open.is_empty() {
        return Ok(());
    }
    let has = |is: fn(&Cell<'_>) -> bool| !published.places(is).is_empty();
    let has_ranges = has(|cell| matches!(cell, Cell::Range(_)));
    let has_points = has(|cell| matches!(cell, Cell::Point(_)));
    let said =
        |detail: &str, texts| Unreadable { detail: detail.into(), ..Unreadable::new(Kind::UnknownNotation, texts) };
    let are_ranges = match column.wish {
        Notation::Prefix | Notation::Set => false,
        Notation::Auto if column.has_labels => has_ranges,
        Notation::Auto if !has_ranges && !has_points => {
            return Err(said("numbers with a dash behind them, and nothing that says whether they are ranges", open));
        }
        Notation::Auto => {
            let leads = |at: &usize| {
                let text = published.texts[*at].trim();
                matches!(published.cells[*at], Cell::Point(_)) && text.starts_with(super::cell::DASHES)
            };
            let leading: Vec<usize> = (0..published.cells.len()).filter(leads).collect();
            if !leading.is_empty() {
                let detail =
                    "beside numbers with a dash behind them, one before a number may be a minus sign or an open range";
                return Err(said(detail, leading));
            }
            true
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
