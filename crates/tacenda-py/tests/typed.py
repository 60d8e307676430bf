"""What a researcher's own program looks like to a type checker. It is checked, and never run."""

from pathlib import Path
from typing import Optional

import tacenda


def share_of_old_people(folder: Path) -> float:
    project = tacenda.Project(folder)
    counted: tacenda.answers.CountReport = project.count(1, "age >= 65")
    everyone = tacenda.count(folder / "releases/stays/r0001").estimate
    return counted.estimate / everyone


def smallest_group(folder: Path) -> Optional[int]:
    shown = tacenda.show(folder)
    return shown.smallest_group if shown.withdrawn is None else None


def worst_finding(files: "list[str]") -> str:
    audit = tacenda.audit(files, "age", "disease", notation={"age": "interval"}, progress=True)
    first = audit.findings[0] if audit.findings else None
    return audit.sentence if first is None else first.code


def manifest(release: tacenda.Release) -> str:
    if release.folder is None:
        return f"{release.url}/manifest.json"
    return (release.folder / "manifest.json").read_text()


def codes(folder: Path) -> "list[str]":
    try:
        release = tacenda.Project(folder).publish("q1.csv", "2026-Q1")
    except tacenda.InputError as error:
        return [problem.code for problem in error.problems]
    return [warning.split()[0] for warning in release.warnings]
