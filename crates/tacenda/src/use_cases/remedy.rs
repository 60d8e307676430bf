//! What helps, if an audit fails: changes to the releases, each tried on these files.
//!
//! Two kinds are tried. A column is left out of every release: the files are read again without it, as they would be if it
//! had not been published. Or a release is left out. If no single column helps, columns are left out one after another, the
//! one first that leaves the fewest people.
//!
//! Nothing is said to help that was not seen to help: every question of the audit is asked again.

use crate::audit::{Assessment, Check, Severity};
use crate::ingest::Given;
use crate::model::counted;
use crate::report::Decision;
use crate::use_cases::{Audit, AuditAnswer, AuditRequest, FileOptions, Progress, Said, SubjectRequest};

/// The most audits that are tried.
const MOST_TRIED: usize = 60;

/// Changes to the releases of a request, not yet tried.
#[derive(Debug)]
pub struct Remedies {
    /// The request; none where a table is in memory and cannot be read twice.
    request: Option<AuditRequest>,
}

/// What is left after a change.
struct Remains {
    /// How many people the findings above a note concern, each finding counted.
    people: u64,
    findings: usize,
    gaps: usize,
}

impl Remains {
    fn of(assessment: &Assessment) -> Remains {
        let findings = || assessment.findings().filter(|finding| finding.fault.severity() > Severity::Note);
        Remains {
            people: findings().map(|finding| finding.people).sum(),
            findings: findings().count(),
            gaps: assessment.gaps(Severity::Warning).count(),
        }
    }

    /// What to say of a change that helps.
    fn said(&self) -> String {
        match self.gaps {
            0 => "nothing is found".into(),
            gaps => {
                let stay = counted(gaps as u64, "question stays", "questions stay");
                format!("nothing is found, but {stay} NOT ASSESSED")
            }
        }
    }
}

impl AuditRequest {
    /// Changes to the releases that can be tried later.
    pub fn remedies(&self) -> Remedies {
        Remedies { request: self.without(&[]) }
    }

    /// The same request without some columns; `None` where a table is in memory.
    fn without(&self, columns: &[&str]) -> Option<AuditRequest> {
        let path = |given: &Given| match given {
            Given::Path(path) => Some(Given::Path(path.clone())),
            Given::Frame(_) => None,
        };
        let paths = |list: &[Given]| list.iter().map(path).collect::<Option<Vec<Given>>>();
        let is_kept = |name: &str| !columns.contains(&name);
        let said = |list: &[Said]| -> Vec<Said> {
            list.iter().filter(|said| said.column.as_deref().is_none_or(is_kept)).cloned().collect()
        };
        let subject = &self.subject;
        let options = FileOptions {
            notation: said(&subject.options.notation),
            hierarchy: said(&subject.options.hierarchy),
            any: said(&subject.options.any),
            ..subject.options.clone()
        };
        Some(AuditRequest {
            subject: SubjectRequest {
                releases: paths(&subject.releases)?,
                truth: paths(&subject.truth)?,
                project: subject.project.clone(),
                quasi: subject.quasi.iter().filter(|name| is_kept(name)).cloned().collect(),
                sensitive: subject.sensitive.clone(),
                id: subject.id.clone(),
                linked: subject.linked.clone(),
                options,
                domain: said(&subject.domain),
                missing: said(&subject.missing),
                date_format: said(&subject.date_format),
                weight: subject.weight.clone(),
                order: subject.order.clone(),
            },
            attacker: self.attacker.clone(),
            k: self.k,
            l: self.l,
            t: self.t,
            checks: self.checks.clone(),
            reader: self.reader.clone(),
            permanent: self.permanent.clone(),
            population: match &self.population {
                Some(given) => Some(path(given)?),
                None => None,
            },
            household: self.household.clone(),
            effort: self.effort,
            budget: self.budget,
            names: self.names,
        })
    }
}

impl Remedies {
    /// Tries the changes if the audit failed, and adds what helps to what to do next.
    pub fn try_out(&self, audit: &Audit, answer: &mut AuditAnswer, progress: Progress<'_>) {
        if answer.report.verdict.decision != Decision::Fail {
            return;
        }
        let mut helps = self.columns(audit, progress);
        let releases = answer.report.releases.len();
        for place in (0..releases).filter(|_| releases > 1) {
            progress(releases, "trying without a release");
            let remains = Remains::of(&audit.assess_without(place));
            if remains.findings == 0 {
                let number = answer.report.releases[place].number;
                helps.push(format!(
                    "Tried: without release {number}, {}. That helps only while it is not published.",
                    remains.said()
                ));
            }
        }
        if helps.is_empty() {
            let what = match (self.has_columns(), releases > 1) {
                (true, true) => "leaving out columns, and leaving out a release",
                (true, false) => "leaving out columns",
                (false, true) => "leaving out a release",
                (false, false) => return,
            };
            helps.push(format!("Tried without success: {what}."));
        }
        answer.report.next_steps.append(&mut helps);
    }

    fn has_columns(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.subject.quasi.len() > 1)
    }

    /// Leaves columns out: each alone, and if none helps, one after another. One column always stays.
    fn columns(&self, audit: &Audit, progress: Progress<'_>) -> Vec<String> {
        let Some(request) = self.request.as_ref().filter(|_| self.has_columns()) else { return Vec::new() };
        let all = &request.subject.quasi;
        let (mut gone, mut tried): (Vec<&str>, usize) = (Vec::new(), 0);
        while gone.len() + 1 < all.len() {
            let (mut helps, mut best): (Vec<String>, Option<(u64, &str)>) = (Vec::new(), None);
            for column in all.iter().filter(|column| !gone.contains(&column.as_str())) {
                let without: Vec<&str> =
                    all.iter().map(String::as_str).filter(|name| gone.contains(name) || name == column).collect();
                progress(MOST_TRIED, "trying without a column");
                tried += 1;
                let again = request.without(&without).and_then(|request| request.read(&|_, _| ()).ok());
                let Some(again) = again else { continue };
                let remains = Remains::of(&again.assess(&audit.questions()));
                if remains.findings == 0 {
                    helps.push(without_columns(&without, &remains));
                } else if best.is_none_or(|(people, _)| remains.people < people) {
                    best = Some((remains.people, column));
                }
            }
            if !helps.is_empty() || tried + all.len() > MOST_TRIED {
                return helps;
            }
            let Some((_, column)) = best else { return Vec::new() };
            gone.push(column);
        }
        Vec::new()
    }
}

fn without_columns(columns: &[&str], remains: &Remains) -> String {
    let (word, is) = if columns.len() == 1 { ("column", "is") } else { ("columns", "are") };
    format!(
        "Tried: if the {word} {} {is} left out of every release, {}. Coarser values may do, too: audit them again.",
        columns.join(" and "),
        remains.said()
    )
}

impl Audit {
    /// The questions of the audit. A release that is left out breaks a chain, so the chain is not asked about again.
    fn questions(&self) -> Vec<Check> {
        self.checks().iter().copied().filter(|&check| check != Check::Chain).collect()
    }

    fn assess_without(&self, place: usize) -> Assessment {
        self.assess_only(|other| other != place, &self.questions())
    }

    fn assess(&self, checks: &[Check]) -> Assessment {
        self.assess_only(|_| true, checks)
    }
}
