//! Every use case under its name: keywords in, an answer out. One function each, and one row in the table.

use crate::answer::answer;
use crate::asked::Asked;
use crate::error;
use crate::release::PyRelease;
use crate::report::PyReport;
use crate::work::Steps;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use tacenda::audit::Effort;
use tacenda::keys::{KeyError, KeyFolder, PublicKey};
use tacenda::ledger::Reseal;
use tacenda::model::Language;
use tacenda::publish::{Access, ReportRequest};
use tacenda::report::{Edition, Names};
use tacenda::use_cases;
use tacenda::use_cases::{
    AdoptRequest, Approving, AuditAnswer, AuditRequest, DemoRequest, DraftRequest, Next, UseCaseError, VerifyRequest,
};

type Answering = fn(&Asked<'_>, &Steps) -> PyResult<Py<PyAny>>;

/// The use cases.
const USE_CASES: &[(&str, Answering)] = &[
    ("adopt", adopt),
    ("approve", approve),
    ("audit", audit),
    ("backup", backup),
    ("check", check),
    ("count", count),
    ("demo", demo),
    ("diff", diff),
    ("draft", draft),
    ("erase", erase),
    ("explain", explain),
    ("key", key),
    ("log", log),
    ("new", new),
    ("open", open),
    ("plan", plan),
    ("publish", publish),
    ("receipt", receipt),
    ("rehearse", rehearse),
    ("report", report),
    ("restore", restore),
    ("retain", retain),
    ("retract", retract),
    ("show", show),
    ("vault", vault),
    ("verify", verify),
];

/// Asks for a use case by its name. `teller` is called before each step, with its number, how many there are, and what is
/// done.
#[pyfunction]
#[pyo3(signature = (what, said, teller=None))]
pub fn ask(what: &str, said: Bound<'_, PyDict>, teller: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
    let (_, answering) = USE_CASES
        .iter()
        .find(|(name, _)| *name == what)
        .ok_or_else(|| PyValueError::new_err(format!("there is no use case {what}")))?;
    answering(&Asked(said), &Steps::new(teller))
}

fn open(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let folder = asked.project()?;
    let name = steps.look(asked.py(), |_| {
        let project = folder.open(Access::Look)?;
        let releases = project.store().map_or(0, |store| store.releases());
        Ok((project.policy().series.name.clone(), releases))
    })?;
    Ok(name.into_pyobject(asked.py())?.into_any().unbind())
}

fn draft(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let request = DraftRequest {
        project: asked.project()?,
        data: asked.table("data")?.ok_or_else(|| PyValueError::new_err("data is missing"))?,
        name: asked.get("name")?,
        promise: asked.get("promise")?,
    };
    let drafting = steps.look(asked.py(), |tell| request.draft(tell))?;
    let report = steps.write(asked.py(), |tell| drafting.write(tell))?;
    answer(asked.py(), &report)
}

fn check(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (request, what_if) = (asked.release()?, asked.get::<String>("what_if")?);
    let report = steps.look(asked.py(), |tell| use_cases::check(request, what_if.as_deref(), tell))?;
    answer(asked.py(), &report)
}

fn plan(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (request, file) = (asked.release()?, asked.get::<PathBuf>("file")?);
    // The last step comes before the first file is written.
    let report = steps.look(asked.py(), |tell| use_cases::plan(request, file, tell))?;
    answer(asked.py(), &report)
}

fn rehearse(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let request = asked.release()?;
    let rehearsed = steps.look(asked.py(), |tell| request.rehearse(tell))?;
    Ok(Py::new(asked.py(), PyRelease::rehearsed(rehearsed, None))?.into_any())
}

fn publish(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (request, plan, py) = (asked.release()?, asked.get::<PathBuf>("plan")?, asked.py());
    let folder = request.project.clone();
    let release = match steps.look(py, |tell| request.prepare(plan, tell))? {
        Next::Release(mut rehearsed) => {
            let report = steps.write(py, |tell| rehearsed.publish(tell))?;
            PyRelease::rehearsed(*rehearsed, Some(report))
        }
        Next::Already(report) => {
            let read = steps.look(py, |_| Ok((tacenda::folder::read(&report.folder)?, folder.open(Access::Look)?)));
            let (received, project) = read?;
            PyRelease::read(received, project.policy().clone(), report)
        }
    };
    Ok(Py::new(py, release)?.into_any())
}

fn adopt(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let request = AdoptRequest {
        project: asked.project()?,
        files: asked.several("files")?,
        truth: asked.several("truth")?,
        labels: asked.several("labels")?,
        options: asked.reading()?,
        threads: asked.get("threads")?.unwrap_or(0),
    };
    let adopting = steps.look(asked.py(), |tell| request.consider(tell))?;
    if asked.is("look")? {
        return answer(asked.py(), adopting.report());
    }
    let report = steps.write(asked.py(), |_| adopting.adopt())?;
    answer(asked.py(), &report)
}

fn effort(asked: &Asked<'_>) -> PyResult<Effort> {
    let words = [("quick", Effort::Quick), ("standard", Effort::Standard), ("thorough", Effort::Thorough)];
    Ok(asked.word("effort", &words)?.unwrap_or_default())
}

fn audit(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let request = AuditRequest {
        subject: asked.subject()?,
        attacker: asked.get("attacker")?,
        k: asked.get("k")?,
        l: asked.get("l")?,
        t: asked.get("t")?,
        checks: asked.several("checks")?,
        reader: asked.get("reader")?,
        permanent: asked.several("permanent")?,
        population: asked.table("population")?,
        household: asked.get("household")?,
        effort: effort(asked)?,
        budget: asked.get("budget")?,
        names: Names::Coded,
    };
    let answer = steps.look(asked.py(), |tell| Ok(request.read(tell)?.judge(tell)))?;
    Ok(Py::new(asked.py(), PyReport { answer })?.into_any())
}

fn report(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let editions = [Edition::Recipient, Edition::Steward, Edition::Auditor].map(|edition| (edition.word(), edition));
    let request = ReportRequest {
        edition: asked.word("edition", &editions)?.unwrap_or(Edition::Recipient),
        truth: asked.tables("truth")?,
        review_by: asked.get("review_by")?,
        budget: use_cases::budget(effort(asked)?, asked.get("budget")?),
        language: asked.word("language", &Language::WORDS)?,
    };
    let folder = asked.project()?;
    let report = steps.look(asked.py(), |tell| use_cases::report(&folder, request, tell))?;
    let answer = AuditAnswer { report, worst: None, hidden: None };
    Ok(Py::new(asked.py(), PyReport { answer })?.into_any())
}

fn count(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (root, release) = (asked.project()?.root, asked.need::<String>("release")?);
    let condition = asked.get::<String>("where")?.unwrap_or_default();
    let report = steps.look(asked.py(), |tell| use_cases::count(&root, &release, &condition, tell))?;
    answer(asked.py(), &report)
}

fn show(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (root, release) = (asked.project()?.root, asked.get::<String>("release")?);
    let report = steps.look(asked.py(), |tell| use_cases::show(&root, release.as_deref(), tell))?;
    answer(asked.py(), &report)
}

fn diff(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (root, from, to) = (asked.project()?.root, asked.need::<String>("from")?, asked.need::<String>("to")?);
    let report = steps.look(asked.py(), |tell| use_cases::diff(&root, &from, &to, tell))?;
    answer(asked.py(), &report)
}

fn log(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let root = asked.project()?.root;
    let report = steps.look(asked.py(), |_| use_cases::log(&root))?;
    answer(asked.py(), &report)
}

fn verify(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (folder, mut folders) = (asked.project()?, asked.several::<PathBuf>("folders")?);
    if folders.is_empty() {
        folders.push(folder.root.clone());
    }
    let keys = asked.several::<String>("key")?;
    let report = steps.look(asked.py(), |tell| {
        let keys = keys.iter().map(|key| PublicKey::named(key)).collect::<Result<Vec<PublicKey>, KeyError>>()?;
        let anchors = folder.held_anchors()?;
        let request = VerifyRequest { folders, anchors: anchors.as_ref(), keys: &keys, own: folder.keys.as_ref() };
        use_cases::verify(&request, tell)
    })?;
    answer(asked.py(), &report)
}

fn receipt(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let root = asked.project()?.root;
    let receipt = steps.look(asked.py(), |_| use_cases::receipt(&root))?;
    let forms = (receipt.text(), receipt.markdown(), receipt.html());
    let report = answer(asked.py(), &receipt.report)?;
    Ok((report, forms).into_pyobject(asked.py())?.into_any().unbind())
}

fn retract(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (folder, release) = (asked.project()?, asked.need::<String>("release")?);
    let because = asked.need::<String>("because")?;
    let report = steps.write(asked.py(), |_| use_cases::retract(&folder, &release, &because))?;
    answer(asked.py(), &report)
}

fn erase(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (folder, identifiers) = (asked.project()?, asked.several::<String>("identifiers")?);
    let report = steps.write(asked.py(), |_| use_cases::erase(&folder, &identifiers))?;
    answer(asked.py(), &report)
}

fn retain(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (folder, releases) = (asked.project()?, asked.need::<u32>("releases")?);
    let report = steps.write(asked.py(), |_| use_cases::retain(&folder, releases))?;
    answer(asked.py(), &report)
}

fn new(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (folder, name) = (asked.project()?, asked.get::<String>("name")?);
    let report = steps.write(asked.py(), |_| use_cases::start_over(&folder, name.as_deref())?.carry_out())?;
    answer(asked.py(), &report)
}

fn backup(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (folder, file) = (asked.project()?, asked.need::<PathBuf>("file")?);
    let report = steps.write(asked.py(), |_| use_cases::backup(&folder, &file))?;
    answer(asked.py(), &report)
}

fn restore(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (folder, file) = (asked.project()?, asked.need::<PathBuf>("file")?);
    let report = steps.write(asked.py(), |_| use_cases::restore(&folder, &file))?;
    answer(asked.py(), &report)
}

fn vault(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let ways = [("lock", Reseal::Lock), ("unlock", Reseal::Unlock), ("rekey", Reseal::Rekey)];
    let how = asked.word("how", &ways)?.ok_or_else(|| PyValueError::new_err("how is missing"))?;
    let folder = asked.project()?;
    let report = steps.write(asked.py(), |_| use_cases::reseal_vault(&folder, how))?;
    answer(asked.py(), &report)
}

/// The user's keys, which some use cases cannot do without.
fn need_keys(asked: &Asked<'_>) -> PyResult<KeyFolder> {
    let none = || UseCaseError::Usage("there is no home folder for keys; name a folder with --keys".into());
    asked.keys()?.ok_or_else(|| error::raise(asked.py(), none()))
}

fn approve(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (keys, plan) = (need_keys(asked)?, asked.need::<PathBuf>("plan")?);
    let report = steps.write(asked.py(), |_| Approving::read(&plan)?.approve(&keys))?;
    answer(asked.py(), &report)
}

fn key(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let (keys, how, py) = (need_keys(asked)?, asked.need::<String>("how")?, asked.py());
    let passphrase = asked.get::<String>("passphrase")?;
    let passphrase = passphrase.as_deref();
    match how.as_str() {
        "show" => answer(py, &steps.write(py, |_| use_cases::show_key(&keys))?),
        "new" => answer(py, &steps.write(py, |_| use_cases::new_key(&keys, passphrase))?),
        "rotate" => answer(py, &steps.write(py, |_| use_cases::rotate_key(&keys, passphrase))?),
        _ => answer(py, &steps.write(py, |_| use_cases::set_vault_passphrase(&keys, passphrase))?),
    }
}

fn explain(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let what = asked.need::<String>("what")?;
    let words: Vec<&str> = what.split_whitespace().collect();
    let (subject, file) = (asked.subject()?, asked.get::<PathBuf>("audit")?);
    let person = asked.get::<String>("person")?;
    let report = steps.look(asked.py(), |tell| match words[..] {
        ["finding", number] => {
            let unnamed = || UseCaseError::Usage("name the saved audit with --audit".into());
            use_cases::explain_finding(number, &file.ok_or_else(unnamed)?)
        }
        ["group", place] => use_cases::explain_group(place, subject, Names::Coded, tell),
        ["person"] => {
            let unnamed = || UseCaseError::Usage("name the person's identifier with --person".into());
            use_cases::explain_person(&person.ok_or_else(unnamed)?, subject, Names::Coded, tell)
        }
        [code] => use_cases::explain_code(code),
        _ => Err(UseCaseError::Usage("name a code, finding N, group RELEASE:GROUP, or person".into())),
    })?;
    answer(asked.py(), &report)
}

fn demo(asked: &Asked<'_>, steps: &Steps) -> PyResult<Py<PyAny>> {
    let request = DemoRequest {
        folder: asked.need("folder")?,
        patients: asked.need("patients")?,
        seed: asked.need("seed")?,
        memory: None,
        threads: 0,
    };
    let report = steps.write(asked.py(), |tell| use_cases::demo(&request, tell))?;
    answer(asked.py(), &report)
}
