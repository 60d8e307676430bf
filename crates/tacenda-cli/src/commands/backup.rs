//! A copy of the project in one encrypted file, and the way back.

use crate::args::{BackupArgs, Common};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::Screen;
use tacenda::model::counted;
use tacenda::use_cases;
use tacenda::use_cases::BackupReport;

pub fn run(args: &BackupArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let report = use_cases::backup(&common.folder(), &args.file).map_err(|error| shared::failure(error, screen))?;
    let text =
        format!("{} holds {}, encrypted for your key and the recovery key.\n", args.file.display(), what(&report));
    screen.result(&text, &report)?;
    Ok(0)
}

pub fn restore(args: &BackupArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let report = use_cases::restore(&common.folder(), &args.file).map_err(|error| shared::failure(error, screen))?;
    let mut text = format!("Restored: {}.\n", what(&report));
    if report.behind.is_some() {
        text += "The series was seen to go further. If nothing but releases followed, publish their tables again, in order: each \
                 is accepted if it\ncomes out as it was. Anything else is refused, unless publish --accept-rollback REASON says why. \
                 People who were erased since then are then erased again, as far as the anchor\non this machine names them.\n";
    }
    screen.result(&text, &report)?;
    use_cases::before_publishing(&common.folder()).iter().for_each(|text| screen.warn(text));
    Ok(0)
}

fn what(report: &BackupReport) -> String {
    format!("the series {} with {}", report.series, counted(u64::from(report.releases), "release", "releases"))
}
