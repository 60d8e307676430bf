//! Files that were dropped: moved up their list, or removed.

use crate::console::Console;
use crate::drops::List;
use crate::forms::Fields;
use crate::shell::back;
use axum::response::Response;

/// Moves or removes a file.
pub fn change(console: &Console, fields: &Fields) -> Response {
    let (Some(list), Some(number)) = (List::named(fields.text("list")), fields.number("number")) else {
        return back("/series");
    };
    match fields.text("what") {
        // A file that cannot be moved stays where it is, and the page shows it there.
        "up" => drop(console.drops.move_up(list, number)),
        _ => console.drops.forget(list, number),
    }
    back(match (list, fields.text("from")) {
        (List::Tables, "start") => "/start",
        (List::Tables, _) => "/next",
        (List::Audit | List::Truth, _) => "/audit",
    })
}
