//! Every use case under its name: keywords in, an answer out. One function each, and one row in the table.

use crate::answer::answer;
use crate::error;
use crate::keywords::Keywords;
use crate::release::PyRelease;
use crate::report::PyReport;
use crate::work::Errand;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use tacenda::audit::Effort;
use tacenda::keys::{KeyError, KeyFolder, PublicKey};
use tacenda::ledger::Reseal;
use tacenda::made_up::hospital;
use tacenda::model::Language;
use tacenda::publish::{Access, ReportRequest};
use tacenda::report::{Edition, Names};
use tacenda::use_cases;
use tacenda::use_cases::{
    AdoptRequest, Approving, AuditAnswer, AuditRequest, DemoRequest, DraftRequest, Next, SituationRequest,
    UseCaseError, VerifyRequest, WantedDeliveries,
};

type Answering = fn(&Keywords<'_>, &Errand) -> PyResult<Py<PyAny>>;

/// The use cases.
const USE_CASES: &[(&str, Answering)] = &[
    ("adopt", adopt),
    ("approve", approve),
    ("audit", audit),
    ("backup", backup),
    ("check", check),
    ("count", count),
    ("deliver", deliver),
    ("demo", demo),
    ("demos", demos),
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
    answering(&Keywords(said), &Errand::new(teller))
}

/// What a person should know of the project before it is asked this, one sentence each; for a restore, afterwards. The command
/// warns alike.
#[pyfunction]
pub fn cautions(what: &str, said: Bound<'_, PyDict>) -> PyResult<Vec<String>> {
    let said = Keywords(said);
    let (project, py) = (said.project()?, said.py());
    let about_files = said.has("releases")?;
    Errand::new(None).look(py, |_| {
        Ok(match what {
            "plan" | "publish" | "rehearse" | "adopt" => use_cases::before_publishing(&project),
            // What they write is remembered: after them nobody would be told.
            "erase" | "retain" | "retract" | "deliver" => use_cases::unremembered(&project).into_iter().collect(),
            "restore" => {
                use_cases::set_back(&project)?.into_iter().chain(use_cases::before_publishing(&project)).collect()
            }
            "audit" if about_files => Vec::new(),
            "check" | "log" | "show" | "diff" | "count" | "audit" | "report" | "receipt" | "backup" | "vault" => {
                use_cases::set_back(&project)?.into_iter().collect()
            }
            _ => Vec::new(),
        })
    })
}

fn open(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let folder = said.project()?;
    let name = errand.look(said.py(), |_| {
        let project = folder.open(Access::Look)?;
        let releases = project.store().map_or(0, |store| store.releases());
        Ok((project.policy().series.name.clone(), releases))
    })?;
    Ok(name.into_pyobject(said.py())?.into_any().unbind())
}

fn draft(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let request = DraftRequest {
        project: said.project()?,
        data: said.table("data")?.ok_or_else(|| PyValueError::new_err("data is missing"))?,
        name: said.get("name")?,
        promise: said.get("promise")?,
    };
    let drafting = errand.look(said.py(), |tell| request.draft(tell))?;
    let report = errand.write(said.py(), |tell| drafting.write(tell))?;
    answer(said.py(), &report)
}

fn check(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (request, what_if) = (said.release()?, said.get::<String>("what_if")?);
    let report = errand.look(said.py(), |tell| use_cases::check(request, what_if.as_deref(), tell))?;
    answer(said.py(), &report)
}

fn plan(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (request, file) = (said.remembered_release()?, said.get::<PathBuf>("file")?);
    // The last step comes before the first file is written.
    let report = errand.look(said.py(), |tell| use_cases::plan(request, file, tell))?;
    answer(said.py(), &report)
}

fn rehearse(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let request = said.release()?;
    let rehearsed = errand.look(said.py(), |tell| request.rehearse(tell))?;
    Ok(Py::new(said.py(), PyRelease::rehearsed(rehearsed, None))?.into_any())
}

fn publish(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (request, plan, py) = (said.remembered_release()?, said.get::<PathBuf>("plan")?, said.py());
    let folder = request.project.clone();
    let release = match errand.look(py, |tell| request.prepare(plan, tell))? {
        Next::Release(mut rehearsed) => {
            let report = errand.write(py, |tell| rehearsed.publish(tell))?;
            PyRelease::rehearsed(*rehearsed, Some(report))
        }
        Next::Already(report) | Next::Committed(report) => {
            let read = errand.look(py, |_| Ok((tacenda::folder::read(&report.folder)?, folder.open(Access::Look)?)));
            let (received, project) = read?;
            PyRelease::read(received, project.policy().clone(), report)
        }
    };
    Ok(Py::new(py, release)?.into_any())
}

fn adopt(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let request = AdoptRequest {
        project: said.project()?,
        files: said.several("files")?,
        truth: said.tables("truth")?,
        labels: said.several("labels")?,
        options: said.reading()?,
        threads: said.get("threads")?.unwrap_or(0),
    };
    request.project.assert_remembered().map_err(|error| error::raise(said.py(), error))?;
    let adopting = errand.look(said.py(), |tell| request.consider(tell))?;
    if said.is("look")? {
        return answer(said.py(), adopting.report());
    }
    let report = errand.write(said.py(), |_| adopting.adopt())?;
    answer(said.py(), &report)
}

fn effort(said: &Keywords<'_>) -> PyResult<Effort> {
    let words = [("quick", Effort::Quick), ("standard", Effort::Standard), ("thorough", Effort::Thorough)];
    Ok(said.word("effort", &words)?.unwrap_or_default())
}

fn audit(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let request = AuditRequest {
        subject: said.subject()?,
        attacker: said.get("attacker")?,
        k: said.get("k")?,
        l: said.get("l")?,
        t: said.get("t")?,
        checks: said.several("checks")?,
        reader: said.get("reader")?,
        permanent: said.several("permanent")?,
        population: said.table("population")?,
        household: said.get("household")?,
        effort: effort(said)?,
        budget: said.get("budget")?,
        names: Names::Coded,
    };
    let remedies = said.get("explain")?.unwrap_or(false).then(|| request.remedies());
    let answer = errand.look(said.py(), |tell| {
        let audit = request.read(tell)?;
        let mut answer = audit.judge(tell);
        if let Some(remedies) = &remedies {
            remedies.try_out(&audit, &mut answer, tell);
        }
        Ok(answer)
    })?;
    Ok(Py::new(said.py(), PyReport { answer })?.into_any())
}

fn report(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let editions = [Edition::Recipient, Edition::Steward, Edition::Auditor].map(|edition| (edition.word(), edition));
    let request = ReportRequest {
        edition: said.word("edition", &editions)?.unwrap_or(Edition::Recipient),
        truth: said.tables("truth")?,
        review_by: said.get("review_by")?,
        budget: use_cases::budget(effort(said)?, said.get("budget")?),
        language: said.word("language", &Language::WORDS)?,
    };
    let folder = said.project()?;
    let report = errand.look(said.py(), |tell| use_cases::report(&folder, request, tell))?;
    let answer = AuditAnswer { report, worst: None, hidden: None };
    Ok(Py::new(said.py(), PyReport { answer })?.into_any())
}

fn count(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (root, release) = (said.project()?.root, said.need::<String>("release")?);
    let condition = said.get::<String>("where")?.unwrap_or_default();
    let report = errand.look(said.py(), |tell| use_cases::count(&root, &release, &condition, tell))?;
    answer(said.py(), &report)
}

fn show(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (root, release) = (said.project()?.root, said.get::<String>("release")?);
    let report = errand.look(said.py(), |tell| use_cases::show(&root, release.as_deref(), tell))?;
    answer(said.py(), &report)
}

fn diff(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (root, from, to) = (said.project()?.root, said.need::<String>("from")?, said.need::<String>("to")?);
    let report = errand.look(said.py(), |tell| use_cases::diff(&root, &from, &to, tell))?;
    answer(said.py(), &report)
}

fn log(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let root = said.project()?.root;
    let report = errand.look(said.py(), |_| use_cases::log(&root))?;
    answer(said.py(), &report)
}

fn verify(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (folder, mut folders) = (said.project()?, said.several::<PathBuf>("folders")?);
    if folders.is_empty() {
        folders.push(folder.root.clone());
    }
    let keys = said.several::<String>("key")?;
    let report = errand.look(said.py(), |tell| {
        let keys = keys.iter().map(|key| PublicKey::named(key)).collect::<Result<Vec<PublicKey>, KeyError>>()?;
        let anchors = folder.held_anchors()?;
        let request = VerifyRequest { folders, anchors: anchors.as_ref(), keys: &keys, own: folder.keys.as_ref() };
        use_cases::verify(&request, tell)
    })?;
    answer(said.py(), &report)
}

fn receipt(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let root = said.project()?.root;
    let receipt = errand.look(said.py(), |_| use_cases::receipt(&root))?;
    let forms = (receipt.text(), receipt.markdown(), receipt.html());
    let report = answer(said.py(), &receipt.report)?;
    Ok((report, forms).into_pyobject(said.py())?.into_any().unbind())
}

fn retract(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (folder, release) = (said.project()?, said.need::<String>("release")?);
    let because = said.need::<String>("because")?;
    let report = errand.write(said.py(), |_| use_cases::retract(&folder, &release, &because))?;
    answer(said.py(), &report)
}

fn deliver(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let folder = said.project()?;
    let (to, release) = (said.get::<String>("to")?, said.get::<String>("release")?);
    // Every release is delivered whole or not at all, and a step comes before each.
    let report = errand.look(said.py(), |progress| {
        let wanted = WantedDeliveries { to: to.as_deref(), release: release.as_deref() };
        use_cases::deliver(&folder, wanted, progress)
    })?;
    answer(said.py(), &report)
}

fn erase(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (folder, identifiers) = (said.project()?, said.several::<String>("identifiers")?);
    let report = errand.write(said.py(), |_| use_cases::erase(&folder, &identifiers))?;
    answer(said.py(), &report)
}

fn retain(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (folder, releases) = (said.project()?, said.need::<u32>("releases")?);
    let report = errand.write(said.py(), |_| use_cases::retain(&folder, releases))?;
    answer(said.py(), &report)
}

fn new(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (folder, name) = (said.project()?, said.get::<String>("name")?);
    let report = errand.write(said.py(), |_| use_cases::start_over(&folder, name.as_deref())?.carry_out())?;
    answer(said.py(), &report)
}

fn backup(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (folder, file) = (said.project()?, said.need::<PathBuf>("file")?);
    let report = errand.write(said.py(), |_| use_cases::backup(&folder, &file))?;
    answer(said.py(), &report)
}

fn restore(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (folder, file) = (said.project()?, said.need::<PathBuf>("file")?);
    let report = errand.write(said.py(), |_| use_cases::restore(&folder, &file))?;
    answer(said.py(), &report)
}

fn vault(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let ways = [("lock", Reseal::Lock), ("unlock", Reseal::Unlock), ("rekey", Reseal::Rekey)];
    let how = said.word("how", &ways)?.ok_or_else(|| PyValueError::new_err("how is missing"))?;
    let folder = said.project()?;
    let report = errand.write(said.py(), |_| use_cases::reseal_vault(&folder, how))?;
    answer(said.py(), &report)
}

/// The user's keys, which some use cases cannot do without.
fn need_keys(said: &Keywords<'_>) -> PyResult<KeyFolder> {
    let none = || UseCaseError::Usage("there is no home folder for keys; name a folder with --keys".into());
    said.keys()?.ok_or_else(|| error::raise(said.py(), none()))
}

fn approve(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (keys, plan) = (need_keys(said)?, said.need::<PathBuf>("plan")?);
    let report = errand.write(said.py(), |_| Approving::read(&plan)?.approve(&keys))?;
    answer(said.py(), &report)
}

fn key(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (keys, how, py) = (need_keys(said)?, said.need::<String>("how")?, said.py());
    let passphrase = said.get::<String>("passphrase")?;
    let passphrase = passphrase.as_deref();
    match how.as_str() {
        "show" => answer(py, &errand.write(py, |_| use_cases::show_key(&keys))?),
        "new" => answer(py, &errand.write(py, |_| use_cases::new_key(&keys, passphrase))?),
        "rotate" => answer(py, &errand.write(py, |_| use_cases::rotate_key(&keys, passphrase))?),
        _ => answer(py, &errand.write(py, |_| use_cases::set_vault_passphrase(&keys, passphrase))?),
    }
}

fn explain(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let what = said.need::<String>("what")?;
    let words: Vec<&str> = what.split_whitespace().collect();
    let (subject, file) = (said.subject()?, said.get::<PathBuf>("audit")?);
    let person = said.get::<String>("person")?;
    let report = errand.look(said.py(), |tell| match words[..] {
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
    answer(said.py(), &report)
}

fn demo(said: &Keywords<'_>, errand: &Errand) -> PyResult<Py<PyAny>> {
    let (py, folder) = (said.py(), said.need::<PathBuf>("folder")?);
    // A demo that ends early takes its folder with it.
    if let Some(name) = said.get::<String>("name")?.filter(|name| name != hospital::DEMO) {
        let request = SituationRequest { name, folder };
        let report = errand.look(py, |tell| use_cases::show_situation(&request, tell))?;
        return answer(py, &report);
    }
    let request = DemoRequest {
        folder,
        patients: said.need("patients")?,
        seed: said.need("seed")?,
        memory: said.get("memory")?,
        threads: said.get("threads")?.unwrap_or(0),
    };
    let report = errand.look(py, |tell| use_cases::demo(&request, tell))?;
    answer(py, &report)
}

fn demos(said: &Keywords<'_>, _: &Errand) -> PyResult<Py<PyAny>> {
    let all = use_cases::demos().iter().map(|demo| answer(said.py(), demo)).collect::<PyResult<Vec<Py<PyAny>>>>()?;
    Ok(all.into_pyobject(said.py())?.into_any().unbind())
}
