//! Approve a plan with your key, as a second person.

use crate::args::{ApproveArgs, Common};
use crate::commands::{key, shared};
use crate::failure::Failure;
use crate::screen::Screen;
use tacenda::use_cases::Approving;

pub fn run(args: &ApproveArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let failed = |error| shared::failure(error, screen);
    let keys = key::folder(common)?;
    let approving = Approving::read(&args.plan).map_err(failed)?;
    let plan = approving.plan();
    if !common.yes {
        screen.note(&format!(
            "Release {}, label {}, from {}\n  the table\'s digest    {}\n  the policy\'s SHA-256  {}\n  the release\'s digest  {}\n",
            plan.release,
            plan.label,
            plan.data.display(),
            plan.source,
            plan.policy_sha256,
            plan.release_digest
        ));
    }
    if !screen.agrees("Approve it? The ledger will record your key. [y/N]")? {
        return Err(Failure::nobody_agreed(
            "nothing was approved, because nobody agreed; use --yes if nobody can be asked",
        ));
    }
    let report = approving.approve(&keys).map_err(failed)?;
    let text = format!(
        "Approved: release {}, label {}, by the key {}.\nThe approval is in {}. Next: tacenda publish --plan {}\n",
        report.release,
        report.label,
        report.key,
        report.signature.display(),
        shared::quoted(&report.plan)
    );
    screen.result(&text, &report)?;
    Ok(0)
}
