//! Deliver what databases lack, and say what arrived and what did not.

use crate::args::{Common, DeliverArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, telling};
use tacenda::use_cases::{self, DeliveryOutcome, DeliveryReport, OwedDelivery, ProblemReport, WantedDeliveries};

/// The exit code of a release that is published and not delivered everywhere.
const NOT_DELIVERED: u8 = 8;

pub fn run(args: &DeliverArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let wanted = WantedDeliveries { to: args.to.as_deref(), release: args.release.as_deref() };
    let bar = screen.bar();
    let report = use_cases::deliver(&common.folder(), wanted, &telling(&bar));
    let report = report.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let text = match report.deliveries.is_empty() {
        true => "Everything is delivered. Nothing was done.\n".to_string(),
        false => text(&report.deliveries),
    };
    screen.result(&text, &report)?;
    ended(&report.deliveries, "what is published stays published")
}

/// What arrived, a line each.
pub fn text(deliveries: &[DeliveryReport]) -> String {
    let line = |one: &DeliveryReport| {
        let (release, to) = (one.release, &one.to);
        match one.outcome {
            DeliveryOutcome::Delivered => format!("Release {release} is delivered to {to}.\n"),
            DeliveryOutcome::Already => {
                format!("Release {release} was delivered to {to} before. Nothing was done there.\n")
            }
            DeliveryOutcome::Withdrawn => format!("Release {release} is marked as withdrawn in {to}.\n"),
            DeliveryOutcome::Absent => {
                format!("Release {release} is withdrawn, and {to} does not have it. Nothing was done there.\n")
            }
            DeliveryOutcome::Failed => String::new(),
        }
    };
    deliveries.iter().map(line).collect()
}

/// What is owed to a place, without the release.
pub fn owed(one: &OwedDelivery) -> String {
    match one.withdrawal {
        true => format!("is not marked as withdrawn in {}", one.to),
        false => format!("is not delivered to {}", one.to),
    }
}

/// How a command ends that delivered something: with an error of its own if something did not arrive. `done` is what
/// happened in any case.
pub fn ended(deliveries: &[DeliveryReport], done: &str) -> Result<u8, Failure> {
    let failed: Vec<&DeliveryReport> = DeliveryReport::failed(deliveries).collect();
    let Some(first) = failed.first() else { return Ok(0) };
    let code = first.code.as_deref().unwrap_or_default();
    let message = format!("{done}; not every database has it. To try again: tacenda deliver");
    let mut failure = Failure::new(code, NOT_DELIVERED, message);
    for one in failed {
        let (code, message) = (one.code.clone().unwrap_or_default(), one.message.clone().unwrap_or_default());
        failure = failure.line(format!("  {code} release {} to {}: {message}", one.release, one.to));
        failure.problems.push(ProblemReport { code, message, ..ProblemReport::default() });
    }
    Err(failure)
}
