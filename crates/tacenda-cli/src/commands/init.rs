//! Look at a table and draft the policy file: roles, types, padded domains.

use crate::args::{Common, InitArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use tacenda::ingest::{Draft, Given};
use tacenda::model::Role;
use tacenda::publish::is_offer;
use tacenda::use_cases::{DraftRequest, InitReport};

pub fn run(args: &InitArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let request = DraftRequest {
        project: common.folder(),
        data: Given::Path(args.data.clone()),
        name: args.name.clone(),
        promise: args.promise.clone(),
    };
    let bar = screen.bar();
    let mut drafting = request.draft(&telling(&bar)).map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    confirm(&mut drafting.draft, common, screen)?;
    let bar = screen.bar();
    let report = drafting.write(&telling(&bar)).map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let text = match common.quiet {
        true => format!("{}\n", report.policy.display()),
        false => text(&report, args, common),
    };
    screen.result(&text, &report)?;
    Ok(0)
}

/// What the roles mean, for `?`.
const ROLES: &str =
    "  identifier  names the person. It is never published; keyed hashes of it follow a person through the series
  quasi       an attacker may know it: age, postcode, sex, dates. It is generalised
  sensitive   nobody may learn it about a person: a diagnosis, a charge. It is published as it is, hidden among others
  public      published as it is, shuffled within each group; the policy file must say why that harms no one
  drop        not published: names, remarks, numbers of other systems
  Enter keeps the proposal, b goes back to the question before.";

/// What an answer means for where the questions stand.
enum Step {
    On,
    Again,
    Back,
}

/// On a terminal, asks about each column and the three questions that decide everything; elsewhere `--yes` must have been
/// said, which takes the safe reading of what cannot be told.
fn confirm(draft: &mut Draft, common: &Common, screen: &Screen) -> Result<(), Failure> {
    if common.yes {
        return Ok(());
    }
    let columns = draft.columns.len();
    let mut at = 0;
    while at < columns + 3 {
        let (question, help) = match at.checked_sub(columns) {
            None => (column_question(draft, at), ROLES.to_string()),
            Some(number) => whole_question(draft, number),
        };
        let Some(answer) = screen.ask(&question)? else {
            let message = "nothing was drafted: there is no terminal to ask on; use --yes to accept every proposal";
            return Err(Failure::nobody_agreed(message));
        };
        let step = match answer.as_str() {
            "?" => {
                screen.note(&help);
                Step::Again
            }
            "b" => Step::Back,
            answer => match at.checked_sub(columns) {
                None => about_column(draft, at, answer, screen),
                Some(number) => about_whole(draft, number, answer, screen),
            },
        };
        at = match step {
            Step::On => at + 1,
            Step::Again => at,
            Step::Back => at.saturating_sub(1),
        };
    }
    Ok(())
}

/// What there is to know about a column, and the question.
fn column_question(draft: &Draft, at: usize) -> String {
    let column = &draft.columns[at];
    let distinct = column.distinct.map_or("very many".to_string(), |distinct| number(distinct as u64));
    let samples = column.samples(5);
    let samples = match samples.is_empty() {
        true => "no value that five rows share".to_string(),
        false => format!("such as {}", samples.join(" | ")),
    };
    let enter = if column.undecided { "Enter leaves it as a question" } else { "Enter keeps it" };
    format!(
        "\n{}: {distinct} values, {} empty cells, {samples}\n  {}: {}\n  {enter}; or identifier, quasi, sensitive, public, drop; ? helps, b goes back:",
        column.name,
        number(column.missing),
        column.role.word(),
        column.because
    )
}

fn about_column(draft: &mut Draft, at: usize, answer: &str, screen: &Screen) -> Step {
    let (name, undecided) = (draft.columns[at].name.clone(), draft.columns[at].undecided);
    if answer.is_empty() {
        if undecided {
            draft.leave_open(&name);
        }
        return Step::On;
    }
    match Role::named(answer) {
        Some(role) => {
            draft.set_role(&name, role);
            Step::On
        }
        None => {
            screen.note("there is no such role; ? lists the roles");
            Step::Again
        }
    }
}

/// One of the three questions, and its help.
fn whole_question(draft: &Draft, at: usize) -> (String, String) {
    let sensitive: Vec<&str> = draft
        .columns
        .iter()
        .filter(|column| column.role == Role::Sensitive)
        .map(|column| column.name.as_str())
        .collect();
    match at {
        0 => (
            "\n1. Do people leave, return or change between releases? yes or no, ? helps [yes]:".into(),
            "  yes: m-invariance. Releases may contain artificial rows, and how many is published.\n  no: people are only ever added, for \
             years. Then no artificial row is needed, but a release is refused when somebody is gone.\n  If you are not sure: yes. A series \
             cannot change its promise later."
                .into(),
        ),
        1 => (
            format!(
                "\n2. What must nobody learn about a person? Names of columns, separated by commas, ? helps [{}]:",
                if sensitive.is_empty() { "nothing".to_string() } else { sensitive.join(",") }
            ),
            "  These columns get role = \"sensitive\". Other columns that were proposed as sensitive are left out. One \
             column per series is best: several count as one combined value."
                .into(),
        ),
        _ => (
            "\n3. How sure may anybody be of that? At most 1 in this many: 2 or more, ? helps [3]:".into(),
            "  3: a reader who knows a person's quasi-identifiers is right about the value at most one time in three, \
             as the promise counts. Larger numbers protect more and make releases coarser. The draft takes a smaller \
             number if the data do not allow this one."
                .into(),
        ),
    }
}

fn about_whole(draft: &mut Draft, at: usize, answer: &str, screen: &Screen) -> Step {
    let again = |what: &str| {
        screen.note(what);
        Step::Again
    };
    match (at, answer.to_lowercase().as_str()) {
        (0, "" | "y" | "yes") => draft.set_leaving(true),
        (0, "n" | "no") => draft.set_leaving(false),
        (0, _) => return again("answer yes or no"),
        (1, "") | (2, "") => {}
        (1, _) => {
            let wanted: Vec<&str> = answer.split(',').map(str::trim).collect();
            if let Some(unknown) = wanted.iter().find(|name| draft.column(name).is_none()) {
                return again(&format!("there is no column {unknown}"));
            }
            let before: Vec<String> = draft
                .columns
                .iter()
                .filter(|column| column.role == Role::Sensitive && !wanted.contains(&&*column.name))
                .map(|column| column.name.clone())
                .collect();
            for name in before {
                draft.set_role(&name, Role::Drop);
            }
            for name in wanted {
                draft.set_role(name, Role::Sensitive);
            }
        }
        (_, sure) => match sure.parse() {
            Ok(one_in) if one_in >= 2 => draft.set_sure(one_in),
            _ => return again("answer with a whole number, 2 or more"),
        },
    }
    Step::On
}

fn text(report: &InitReport, args: &InitArgs, common: &Common) -> String {
    let mut out = format!("{} rows. Proposed:\n\n", number(report.rows));
    for column in &report.columns {
        let role = if column.open { "?" } else { &column.role };
        let _ = writeln!(out, "  {:<20} {role:<11} {}", column.name, column.because);
        let distinct = column.distinct.map_or("very many".to_string(), |distinct| number(distinct as u64));
        let empty = if column.missing == 0 { String::new() } else { format!(", {} empty", number(column.missing)) };
        let samples =
            if column.samples.is_empty() { String::new() } else { format!(": {}", column.samples.join(" | ")) };
        let _ = writeln!(out, "  {:<32} {distinct} values{empty}{samples}", "");
    }
    // A draft is there to be read. `check` offers the other ways, with what each assumes.
    let (offers, notes): (Vec<&String>, Vec<&String>) = report.notes.iter().partition(|note| is_offer(note));
    for note in notes {
        let _ = writeln!(out, "  note: {note}");
    }
    if !offers.is_empty() {
        let _ = writeln!(
            out,
            "  note: other ways to form groups work for this table, too; nothing has to be done; check says what they assume"
        );
    }
    let project = shared::project_words(common);
    let (policy, first) = (report.policy.display(), "say what must be corrected first. Then");
    let _ = match report.is_usable {
        true => writeln!(out, "\nThe policy is in {policy}. Read it and correct it. Then"),
        false => writeln!(out, "\nThe policy is in {policy}. It is not usable yet: the notes above {first}"),
    };
    let _ = writeln!(out, "  tacenda{project} check {0}\n  tacenda{project} plan {0}", shared::quoted(&args.data));
    out
}
