"""Project folders, shared with the command."""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Optional, Type, Union

from tacenda import _native, answers
from tacenda._ask import Kind, ask, release_name
from tacenda._data import Path, table, tables
from tacenda._native import Release
from tacenda._progress import Progress
from tacenda._report import Audit, Report, _said
from tacenda._series import counted

Named = Union[int, str, Path]


class Project:
    """A project folder: ``tacenda.toml``, ``.tacenda/`` and ``releases/``, shared with the command.

    ``anchor`` is the folder outside the project that records how far its series has come. ``anchor_from`` is a receipt or a
    release folder: it stands in for an anchor that is lost. ``keys`` is the folder with your keys. A passphrase comes from
    ``TACENDA_PASSPHRASE``.

    Examples of the methods are about a project as this one makes it, once a second quarter is published with two more people:

    >>> import pandas, pathlib, tacenda, tempfile
    >>> home = tempfile.TemporaryDirectory()
    >>> keys, anchor, root = (pathlib.Path(home.name) / name for name in ("keys", "anchor", "stays"))
    >>> root.mkdir()
    >>> _ = (root / "tacenda.toml").write_text('''
    ... policy = 1
    ... [series]
    ... name = "stays"
    ... [columns]
    ... patient = { role = "identifier" }
    ... age = { role = "quasi", type = "integer", domain = [0, 120] }
    ... disease = { role = "sensitive", type = "category" }
    ... [promise]
    ... model = "m-invariance"
    ... m = 2
    ... ''')
    >>> stays = pandas.DataFrame({
    ...     "patient": ["p1", "p2", "p3", "p4"], "age": [20, 22, 61, 65], "disease": ["flu", "mumps", "flu", "mumps"],
    ... })
    >>> project = tacenda.Project(root, keys=keys, anchor=anchor)
    >>> project.check(stays).summary.people
    4
    >>> plan = project.plan(stays, "2026-Q1", file=root / "plan.json")
    >>> plan.summary.release, plan.summary.people, plan.summary.counterfeits
    (1, 4, 0)
    >>> project.publish(plan=plan.plan)
    Release(1 "2026-Q1": 4 rows in 2 groups, 0 counterfeits)
    >>> project.publish(stays, "2026-Q1").already
    True
    >>> project.verify().whole
    True
    >>> home.cleanup()
    """

    def __init__(
        self,
        path: Path = ".",
        *,
        policy: Optional[Path] = None,
        anchor: Optional[Path] = None,
        anchor_from: Optional[Path] = None,
        keys: Optional[Path] = None,
    ) -> None:
        self.path = os.fspath(path)
        self._where: Dict[str, Any] = {
            "root": self.path, "policy": policy, "anchor": anchor, "anchor_from": anchor_from, "keys": keys,
        }
        ask(tuple, "open", self._where)

    def _ask(self, kind: Type[Kind], what: str, progress: Progress = None, **said: Any) -> Kind:
        return ask(kind, what, {**self._where, **said}, progress)

    def check(
        self, data: Any = None, *, what_if: Optional[str] = None, delta: bool = False, view: Optional[str] = None,
        memory: Optional[int] = None, threads: int = 0, progress: Progress = None,
    ) -> answers.CheckReport:
        """Is the policy sound, and can these data keep it? Writes nothing.

        ``what_if`` tries other parameters, such as ``m=2..6``.

        >>> [row.parameter for row in project.check(stays, what_if="m=2..3").what_if]
        ['m = 2', 'm = 3']
        """
        data = None if data is None else table(data)
        return self._ask(
            answers.CheckReport, "check", progress, data=data, what_if=what_if, delta=delta, view=view,
            memory=memory, threads=threads,
        )

    def rehearse(
        self, data: Any = None, label: Optional[str] = None, *, delta: bool = False, view: Optional[str] = None,
        memory: Optional[int] = None, threads: int = 0, progress: Progress = None,
    ) -> Release:
        """The next release, to look at. Nothing is published; publishing the same data gives the same rows.

        Without ``data`` the table comes from the ``[source]`` of the policy file.

        >>> project.rehearse(stays, "2026-Q3").number, project.show().release
        (3, 2)
        """
        return self._ask(
            Release, "rehearse", progress, data=None if data is None else table(data), label=label, delta=delta, view=view,
            memory=memory, threads=threads,
        )

    def plan(
        self, data: Any = None, label: Optional[str] = None, *, file: Optional[Path] = None, delta: bool = False,
        view: Optional[str] = None, memory: Optional[int] = None, threads: int = 0, progress: Progress = None,
    ) -> answers.PlanReport:
        """Rehearses the next release, says what it costs, and writes the plan: ``publish(plan=answer.plan)`` publishes it.

        Without ``data`` the table comes from the ``[source]`` of the policy file.

        >>> project.plan(stays, "2026-Q3", file="plan.json").summary.people
        6
        >>> project.publish(plan="plan.json").label
        '2026-Q3'
        """
        return self._ask(
            answers.PlanReport, "plan", progress, data=None if data is None else table(data), label=label, file=file, delta=delta,
            view=view, memory=memory, threads=threads,
        )

    def publish(
        self, data: Any = None, label: Optional[str] = None, *, plan: Optional[Path] = None, delta: bool = False,
        view: Optional[str] = None, accept_rollback: Optional[str] = None, backup: Optional[Path] = None,
        memory: Optional[int] = None, threads: int = 0, progress: Progress = None,
    ) -> Release:
        """Publishes the next release: ``release.folder`` is complete, or nothing has changed.

        If the same data were published under this label before, nothing is done, and ``release.already`` is true. Ctrl-C
        ends it before anything is published, and never in the middle. Without ``data`` and ``plan`` the table comes from the
        ``[source]`` of the policy file. ``release.report.deliveries`` says what was delivered to databases, and what was not.

        >>> release = project.publish(stays, "2026-Q3")
        >>> release.number, release.already, release.folder.name
        (3, False, 'r0003')
        """
        if plan is not None and (data is not None or label is not None or delta or view is not None):
            raise ValueError("a plan names its data, label and view itself")
        data = None if data is None else table(data)
        return self._ask(
            Release, "publish", progress, data=data, label=label, plan=plan, delta=delta, view=view,
            accept_rollback=accept_rollback, backup=backup, memory=memory, threads=threads,
        )

    def adopt(
        self, files: Union[Path, Iterable[Path]], *, truth: Any = None,
        labels: Union[str, Iterable[str], None] = None, group: Optional[str] = None, notation: Any = None,
        hierarchy: Any = None, hierarchies: Optional[Path] = None, any: Any = None, look: bool = False, threads: int = 0,
        progress: Progress = None,
    ) -> answers.AdoptReport:
        """Adopts releases made elsewhere, so that the next release is judged together with them. It cannot be undone.

        ``files`` are files, because they are kept byte for byte. ``truth`` are the tables behind them, as paths or frames.
        With ``look``, it only says what would be adopted.

        >>> import pathlib, shutil
        >>> made_elsewhere = tacenda.publish(stays, "stays/tacenda.toml", seed=1)
        >>> made_elsewhere.frame.to_pandas().astype(str).to_csv("theirs.csv", index=False)
        >>> pathlib.Path("ward").mkdir()
        >>> _ = shutil.copy("stays/tacenda.toml", "ward")
        >>> ward = tacenda.Project("ward", keys="keys", anchor="anchor")
        >>> len(ward.adopt("theirs.csv", truth=stays, labels="2026-Q1").releases)
        1
        """
        return self._ask(
            answers.AdoptReport, "adopt", progress, files=files, truth=tables(truth), labels=labels, group=group, notation=notation,
            hierarchy=hierarchy, hierarchies=hierarchies, any=any, look=look, threads=threads,
        )

    def audit(
        self, *, truth: Any = None, k: Optional[int] = None, l: Optional[int] = None, t: Optional[float] = None,
        attacker: Optional[str] = None, presence: bool = True, checks: Union[str, Iterable[str], None] = None,
        reader: Optional[str] = None, permanent: Union[str, Iterable[str], None] = None, population: Any = None,
        household: Optional[str] = None, effort: Optional[str] = None, budget: Optional[int] = None,
        explain: bool = False, progress: Progress = None,
    ) -> Audit:
        """Attacks everything published so far, as :func:`tacenda.audit` does. ``k`` and ``l`` are what is promised.

        ``truth`` are the private tables behind all releases, in order; the vault has the last one only.

        >>> project.audit(truth=[first_stays, stays], effort="quick").report["releases"][1]["label"]
        '2026-Q2'
        """
        return Audit(ask(_native.Report, "audit", {**self._where, **_said(locals())}, progress))

    def report(
        self, edition: str = "recipient", *, language: Optional[str] = None, truth: Any = None,
        review_by: Optional[str] = None, effort: Optional[str] = None, budget: Optional[int] = None,
        progress: Progress = None,
    ) -> Report:
        """The report for ``recipient``, ``steward`` or ``auditor``. ``html`` is its page; a notebook shows it.

        ``language`` (``en``, ``de``, ``fr``) is for recipients; without it, the policy file's is taken.

        >>> '<html lang="de">' in project.report(language="de", effort="quick").html
        True
        """
        return Report(self._ask(
            _native.Report, "report", progress, edition=edition, language=language, truth=tables(truth), review_by=review_by,
            effort=effort, budget=budget,
        ))

    def count(self, release: Named, where: str = "") -> answers.CountReport:
        """Counts people in a release who meet a condition. See :func:`tacenda.count`.

        >>> counted = project.count("2026-Q1", "age >= 60 and disease = flu")
        >>> counted.lowest, counted.estimate, counted.highest
        (1, 1.0, 1)
        """
        return self._ask(answers.CountReport, "count", release=release_name(release), where=where)

    def show(self, release: Optional[Named] = None) -> answers.ShowReport:
        """What a recipient can see of a release, by its number or label; of the last one if none is named.

        >>> project.show().label, project.show(1).rows
        ('2026-Q2', 4)
        """
        name = None if release is None else release_name(release)
        return self._ask(answers.ShowReport, "show", release=name)

    def diff(self, first: Named, second: Named) -> answers.DiffReport:
        """What a recipient sees change from one release to another: sums only.

        >>> changed = project.diff(1, "2026-Q2")
        >>> changed.from_.rows, changed.to.rows
        (4, 6)
        """
        return ask(
            answers.DiffReport, "diff", {**self._where, "from": release_name(first), "to": release_name(second)}
        )

    def log(self) -> List[answers.LogEvent]:
        """The events of the series, the oldest first, as ``tacenda log --format json`` lists them.

        >>> [line.event for line in project.log()]
        ['init', 'publish', 'publish']
        """
        return self._ask(answers.LogReport, "log").events

    def verify(self, key: Union[str, Iterable[str]] = (), *, progress: Progress = None) -> answers.VerifyReport:
        """Checks ledger, vault and releases against their digests: ``whole``, ``faults``, ``signed_by``.

        ``key`` is the publisher's public key, its file, or a list of them; then only what is signed by it counts.

        >>> project.verify().whole
        True
        """
        return self._ask(answers.VerifyReport, "verify", progress, key=key)

    def receipt(self) -> answers.ReceiptReport:
        """How far the series has come. ``receipt["text"]`` is to be printed and kept apart; ``markdown`` and ``html`` too.

        >>> receipt = project.receipt()
        >>> receipt.lines, len(receipt.releases)
        (3, 2)
        """
        report: answers.ReceiptReport
        report, forms = self._ask(tuple, "receipt")
        report.update(zip(("text", "markdown", "html"), forms))
        return report

    def retract(self, release: Named, because: str) -> answers.RetractReport:
        """Declares a release withdrawn: the next release tells recipients. Later ones are still judged together with it.

        >>> project.retract("2026-Q1", "ages were wrong").release
        1
        """
        return self._ask(answers.RetractReport, "retract", release=release_name(release), because=because)

    def deliver(
        self, to: Optional[str] = None, release: Optional[Named] = None, *, progress: Progress = None
    ) -> answers.DeliverReport:
        """Delivers published releases to the databases of the policy file: what is not there yet.

        ``to`` names one place, ``release`` one release. A delivery that failed says so in its ``outcome``. Ctrl-C ends it
        between two releases; what is left is delivered the next time.

        >>> try:
        ...     project.deliver()
        ... except tacenda.TacendaError as error:
        ...     print(error)
        U201: the policy file names no place to deliver to; add a section [deliver.NAME]
        """
        named = None if release is None else release_name(release)
        return self._ask(answers.DeliverReport, "deliver", progress, to=to, release=named)

    def erase(self, identifiers: Union[str, Iterable[str]]) -> answers.EraseReport:
        """Erases people, by one identifier or several, from the vault and from all later releases.

        The answer says what cannot be erased (``stays``) and what the next release does (``departures``). An identifier that
        nobody has is no error: ``unknown`` counts these, and ``unknown_at`` says which they are.

        >>> erased = project.erase(["p6", "nobody"])
        >>> erased.people, erased.unknown
        (1, 1)
        """
        return self._ask(answers.EraseReport, "erase", identifiers=identifiers)

    def retain(self, releases: int) -> answers.EraseReport:
        """Forgets people who left and have not been published for so many releases.

        >>> project.retain(4).people
        0
        """
        return self._ask(answers.EraseReport, "retain", releases=releases)

    def new(self, name: Optional[str] = None) -> answers.NewReport:
        """Starts a new series in this folder after a false start. The old one is kept in ``earlier/``.

        >>> begun = project.new("stays-2")
        >>> begun.old_series, begun.new_series
        ('stays', 'stays-2')
        """
        return self._ask(answers.NewReport, "new", name=name)

    def backup(self, file: Path) -> answers.BackupReport:
        """Writes the project into one file, encrypted for your key and the recovery key. :func:`tacenda.restore` reads it.

        >>> project.backup("stays.age").releases
        2
        """
        return self._ask(answers.BackupReport, "backup", file=file)

    def vault(self, how: str) -> answers.VaultReport:
        """The private vault: ``lock`` encrypts it, ``rekey`` gives it a new key, ``unlock`` decrypts it.

        A person who reads the files of a decrypted vault can re-identify everyone.

        >>> project.vault("rekey").encrypted
        True
        """
        return self._ask(answers.VaultReport, "vault", how=how)

    def __repr__(self) -> str:
        series, releases = self._ask(tuple, "open")
        return f"Project({self.path!r}: {series}, {counted(releases)})"
