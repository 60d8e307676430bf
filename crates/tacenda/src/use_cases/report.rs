//! The report on everything a project has published, for recipients, the steward or an auditor.

use crate::audit::Check;
use crate::publish::{Access, ReportRequest};
use crate::report::{Edition, Report};
use crate::use_cases::{Progress, ProjectFolder, UseCaseError};

/// Makes the report. Findings are no error here.
pub fn report(project: &ProjectFolder, request: ReportRequest, progress: Progress<'_>) -> Result<Report, UseCaseError> {
    if request.review_by.as_ref().is_some_and(|date| date.parse::<jiff::civil::Date>().is_err()) {
        return Err(UseCaseError::usage("--review-by takes a date such as 2027-06-30"));
    }
    if request.edition == Edition::Recipient && !request.truth.is_empty() {
        let message = "--truth is private: the recipients' edition says nothing that needs it";
        return Err(UseCaseError::usage(message));
    }
    if request.edition != Edition::Recipient && request.language.is_some() {
        let message = "--language is for the recipients' edition: the others are English";
        return Err(UseCaseError::usage(message));
    }
    let mut project = project.open(Access::Look)?;
    project.need_vault()?;
    let releases = project.store().map_or(0, |store| store.releases()) as usize;
    // Every release and every private table is read, every check made, and everything gathered.
    let steps = releases + request.truth.len() + Check::ALL.len() + 1;
    Ok(project.report(request, &|what| progress(steps, what))?)
}
