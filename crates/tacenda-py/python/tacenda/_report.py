"""Audits and reports: what a reader of all releases can work out."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from tacenda import _html, _native, answers
from tacenda._ask import ask, attacker, domain
from tacenda._data import Path, table, tables
from tacenda._progress import Progress

OfColumns = Union[str, Iterable[str], Mapping[str, Union[str, Sequence[str]]], None]
Domains = Union[str, Iterable[str], Mapping[str, Union[str, Tuple[Any, Any]]], None]


class Report:
    """A report in every form that the command prints. A notebook shows its page.

    >>> report = project.report("steward", effort="quick")
    >>> report.text.startswith(report.decision)
    True
    """

    def __init__(self, native: _native.Report) -> None:
        self._native = native
        self.report: answers.Report = native.facts()
        """Everything in it, as ``docs/schema/report.json`` says."""

    @property
    def decision(self) -> str:
        """``PASS``, ``PASS WITH NAMED ASSUMPTION``, ``NOT PROMISED``, ``FAIL`` or ``NOT ASSESSED``."""
        return self.report.verdict.decision

    @property
    def sentence(self) -> str:
        """The verdict, in one sentence."""
        return self.report.verdict.sentence

    @property
    def findings(self) -> List[answers.FindingFacts]:
        """The findings, the worst first. Sensitive values are coded as D1, D2, …"""
        return self.report.findings

    @property
    def text(self) -> str:
        """For a terminal."""
        return self._native.form("text")

    @property
    def html(self) -> str:
        """One page for a browser: no script, no network."""
        return self._native.form("html")

    def form(self, form: str) -> str:
        """The report as ``text``, ``brief``, ``json``, ``sarif``, ``junit``, ``markdown`` or ``html``.

        >>> project.report(effort="quick").form("json")[:1]
        '{'
        """
        return self._native.form(form)

    def save(self, path: Path, form: Optional[str] = None) -> None:
        """Writes it to a file, in the form that the ending stands for (txt, json, md, html, sarif, xml), or in ``form``.

        >>> project.report("steward", effort="quick").save("report.html")
        >>> open("report.html", encoding="utf-8").read(15)
        '<!DOCTYPE html>'
        """
        forms = {"txt": "text", "json": "json", "md": "markdown", "html": "html", "htm": "html", "sarif": "sarif", "xml": "junit"}
        ending = os.path.splitext(os.fspath(path))[1][1:].lower()
        text = self.form(form or forms.get(ending, "text"))
        # It tells of private tables: only its owner may read it.
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(opened, "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        notes = sum(finding.severity == "note" for finding in self.findings)
        return f"{type(self).__name__}({self.decision}, {len(self.findings) - notes} findings, {notes} notes)"

    def _repr_html_(self) -> str:
        return _html.page(self.html)


class Audit(Report):
    """What an audit found. ``report`` is everything, as in ``docs/schema/report.json``.

    >>> [(finding.code, finding.severity) for finding in project.audit(effort="quick").findings]
    [('A774', 'note')]
    """

    def exit_code(self, fail_on: str = "any") -> int:
        """What ``tacenda audit`` would end with: 1 if something was found, 6 if a gap may hide something, else 0.

        ``fail_on`` is ``severe``, ``any``, ``found`` or ``never``.

        >>> found = project.audit(effort="quick")
        >>> found.exit_code("never")
        0
        """
        return self._native.exit_code(fail_on)


def audit(
    releases: Any,
    quasi: Union[str, Iterable[str], None] = None,
    sensitive: Union[str, Iterable[str], None] = None,
    *,
    truth: Any = None,
    id: Optional[str] = None,
    k: Optional[int] = None,
    l: Optional[int] = None,
    t: Optional[float] = None,
    attacker: Optional[str] = None,
    presence: bool = True,
    checks: Union[str, Iterable[str], None] = None,
    reader: Optional[str] = None,
    permanent: Union[str, Iterable[str], None] = None,
    population: Any = None,
    household: Optional[str] = None,
    group: Optional[str] = None,
    linked: Optional[str] = None,
    weight: Optional[str] = None,
    notation: OfColumns = None,
    hierarchy: OfColumns = None,
    hierarchies: Optional[Path] = None,
    domain: Domains = None,
    date_format: OfColumns = None,
    any: OfColumns = None,
    missing: OfColumns = None,
    order: str = "given",
    dates: Union[str, Iterable[str], None] = None,
    effort: Optional[str] = None,
    budget: Optional[int] = None,
    explain: bool = False,
    progress: Progress = None,
) -> Audit:
    """Audits releases made by any tool: what can a reader of all of them work out?

    ``releases`` are frames, paths, release folders or :class:`Release` objects, in order of time. Generalised cells may have
    any of the usual notations; ``pandas.Interval`` and ``pandas.qcut`` are read as they are. ``quasi`` and ``sensitive`` are
    names of columns: one text is one column. Our own release folders name their columns themselves.

    ``truth`` are the private tables behind the releases, one per release, with the identifier ``id``: then people are
    counted. A person must be one of at least ``k``, with at least ``l`` values left (2 and 2 if nothing is promised). The
    attacker knows everyone's quasi values and, with ``presence``, who is in which release.

    With ``explain``, ways out are tried, and ``form("explained")`` tells what helped.

    The other keywords are the options of ``tacenda audit``, which ``docs/audit.md`` explains. An option of columns is a dict
    such as ``{"age": "interval"}``, or a text for all columns. ``progress`` is ``True``, or a function of step, steps and what.

    >>> import pandas, tacenda
    >>> ages = pandas.qcut(pandas.Series([20, 22, 31, 35]), 2)
    >>> table = pandas.DataFrame({"age": ages, "disease": ["flu", "flu", "flu", "mumps"]})
    >>> found = tacenda.audit(table, "age", "disease")
    >>> found.decision, found.exit_code()
    ('FAIL', 1)

    The attacks: intersection of candidate sets over releases (Ganta, Kasiviswanathan, Smith, KDD 2008; Xiao, Tao, SIGMOD
    2007), correspondence attacks (Fung, Wang, Fu, Pei, EDBT 2008), differences of releases, and others. Each has its own name
    in ``report["checks"]``.
    """
    said = _said(locals())
    if not said["releases"]:
        raise ValueError("name at least one release")
    return Audit(ask(_native.Report, "audit", said, progress))


def _said(keywords: Dict[str, Any]) -> Dict[str, Any]:
    """The keywords of an audit as the library takes them."""
    said = dict(keywords)
    said["attacker"] = attacker(said["attacker"], said.pop("presence"))
    said["domain"] = domain(said.get("domain"))
    for name in ("releases", "truth"):
        said[name] = tables(said.get(name))
    if said.get("population") is not None:
        said["population"] = table(said["population"])
    said.pop("progress", None)
    said.pop("self", None)
    return said
