//! Declare a release withdrawn.

use crate::args::{Common, RetractArgs};
use crate::commands::{deliver, shared};
use crate::failure::Failure;
use crate::screen::Screen;
use tacenda::use_cases;

pub fn run(args: &RetractArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let report = use_cases::retract(&common.folder(), &args.release, &args.because);
    let report = report.map_err(|error| shared::failure(error, screen))?;
    let (release, label) = (report.release, &report.label);
    let text = match report.already {
        true => format!("Release {release}, label {label}, was withdrawn already. Nothing was done.\n"),
        false => format!(
            "Release {release}, label {label}, is withdrawn. The next release says so to recipients. Inform those who \
             have it now.\n\
             Later releases are still judged together with it.\n"
        ),
    };
    screen.result(&(text + &deliver::text(&report.deliveries)), &report)?;
    deliver::ended(&report.deliveries, &format!("release {release}, label {label}, is withdrawn in the ledger"))
}
