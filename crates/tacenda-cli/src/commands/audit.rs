//! What can anyone learn from these releases? Any tool may have made them.

use crate::args::{AuditArgs, Common, FormatArg};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, printable, telling};
use std::io;
use std::io::IsTerminal;
use tacenda::ingest::Given;
use tacenda::report::{Names, TextOptions};
use tacenda::use_cases::{AuditRequest, explain_audit};

pub fn run(args: &AuditArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let request = AuditRequest {
        subject: args.reading.request(&args.files, common),
        attacker: args.attacker.clone(),
        k: args.k,
        l: args.l,
        t: args.t,
        checks: args.checks.clone(),
        reader: args.reader.clone(),
        permanent: args.permanent.clone(),
        population: args.population.clone().map(Given::Path),
        household: args.household.clone(),
        effort: args.work.effort(),
        budget: args.work.budget,
        names: names(args.show_values, common, screen),
    };
    let remedies = args.explain.then(|| request.remedies());
    let bar = screen.bar();
    let audit = request.read(&telling(&bar)).map_err(|error| shared::unread(error, screen))?;
    bar.finish_and_clear();
    audit.notes().iter().for_each(|note| screen.note(&format!("note: {note}")));
    let bar = screen.bar();
    let mut answer = audit.judge(&telling(&bar));
    bar.finish_and_clear();
    if let Some(remedies) = remedies {
        let bar = screen.bar();
        remedies.try_out(&audit, &mut answer, &telling(&bar));
        bar.finish_and_clear();
    }
    // Forms other than text have what to do next in their own place.
    let page = match common.form(FormatArg::Text) {
        FormatArg::Text if args.explain => printable(&explain_audit(&answer.report)),
        form => shared::printed(&answer.report, form, TextOptions::default()),
    };
    screen.print(&page)?;
    Ok(answer.exit_code(args.fail_on.into()))
}

/// Values are named where someone asked for it and looks at it; a file or a pipe outlasts the look.
pub fn names(asked: bool, common: &Common, screen: &Screen) -> Names {
    if !asked {
        return Names::Coded;
    }
    if common.output.is_none() && io::stdout().is_terminal() {
        return Names::Shown;
    }
    screen.note("note: values are named on a terminal only; here they are D1, D2, …");
    Names::Coded
}
