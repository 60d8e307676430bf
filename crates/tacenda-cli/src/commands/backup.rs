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
        text += "The series was seen to go further. If nothing but releases followed, and the anchor on this machine knows them, \
                 publish their tables\nagain, in order: each is accepted if it comes out as it was. Anything else is refused, unless \
                 publish --accept-rollback REASON says why.\nPeople who were erased since then are then erased again, as far as \
                 that anchor names them. A receipt or a release names nobody:\nerase them again first.\n";
    }
    screen.result(&text, &report)?;
    let project = common.folder();
    // A quiet job is told as well.
    let set_back = use_cases::set_back(&project).map_err(|error| shared::failure(error, screen))?;
    set_back.into_iter().chain(use_cases::before_publishing(&project)).for_each(|text| screen.warn(&text));
    Ok(0)
}

fn what(report: &BackupReport) -> String {
    format!("the series {} with {}", report.series, counted(u64::from(report.releases), "release", "releases"))
}
