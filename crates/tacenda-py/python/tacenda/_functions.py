"""What needs no project: release folders, codes, keys, and the way to a project."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Union, overload

from tacenda import _native, answers
from tacenda._ask import ask, domain as domains, release_name
from tacenda._data import Path, table, tables
from tacenda._progress import Progress
from tacenda._report import Domains, OfColumns


def promises() -> List[Dict[str, str]]:
    """The promises there are: ``model``, ``line``, ``parameters`` and ``paper`` of each.

    >>> import tacenda
    >>> sorted(promise["model"] for promise in tacenda.promises())[:2]
    ['incremental-k-anonymity', 'incremental-l-diversity']
    """
    return _native.promises()


def explain(
    what: str,
    *,
    audit: Optional[Path] = None,
    person: Optional[str] = None,
    releases: Any = None,
    truth: Any = None,
    quasi: Union[str, Iterable[str], None] = None,
    sensitive: Union[str, Iterable[str], None] = None,
    id: Optional[str] = None,
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
    root: Path = ".",
    progress: Progress = None,
) -> answers.ExplainReport:
    """Explains a code, a finding, a group or a person in plain words.

    ``what`` is a code such as ``D103``; ``finding N`` of an ``audit`` that was saved as JSON; ``group RELEASE:GROUP``; or
    ``person``, with the identifier in ``person``. Groups and people are looked for in ``releases``, or in the project at
    ``root``. The other keywords say how the releases are read, as for :func:`tacenda.audit`.

    >>> import tacenda
    >>> tacenda.explain("D103").title
    'duplicate column'
    """
    said: Dict[str, Any] = {
        "what": what, "audit": audit, "person": person, "quasi": quasi, "sensitive": sensitive, "id": id, "group": group,
        "linked": linked, "weight": weight, "notation": notation, "hierarchy": hierarchy, "hierarchies": hierarchies,
        "domain": domains(domain), "date_format": date_format, "any": any, "missing": missing, "order": order, "dates": dates,
        "root": root, "releases": tables(releases), "truth": tables(truth),
    }
    return ask(answers.ExplainReport, "explain", said, progress)


def draft(
    data: Any,
    folder: Path = ".",
    *,
    name: Optional[str] = None,
    promise: Optional[str] = None,
    policy: Optional[Path] = None,
    progress: Progress = None,
) -> answers.InitReport:
    """Looks at a table and drafts the policy file of a new project, as ``tacenda init --yes`` does.

    Read the policy file and correct it before you publish: :attr:`InitReport.columns` says what is proposed, and why.

    >>> import pandas, tacenda, tempfile
    >>> stays = pandas.DataFrame({
    ...     "patient_id": [f"p{number}" for number in range(60)],
    ...     "age": [20 + number % 50 for number in range(60)],
    ...     "diagnosis": ["flu", "mumps", "gout"] * 20,
    ... })
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     drafted = tacenda.draft(stays, folder, name="stays")
    >>> {column.name: column.role for column in drafted.columns}
    {'patient_id': 'identifier', 'age': 'quasi', 'diagnosis': 'sensitive'}
    """
    said = {"data": table(data), "root": folder, "name": name, "promise": promise, "policy": policy}
    return ask(answers.InitReport, "draft", said, progress)


def count(release: Path, where: str = "") -> answers.CountReport:
    """Counts people in a release folder who meet a condition, such as ``age >= 65 and disease = flu``.

    ``estimate`` is the expected number; no fewer than ``lowest`` and no more than ``highest`` are possible.

    >>> counted = tacenda.count("stays/releases/stays/r0001", "age >= 60 and disease = flu")
    >>> counted.lowest, counted.estimate, counted.highest
    (1, 1.0, 1)
    """
    return ask(answers.CountReport, "count", {"release": release_name(release), "where": where})


def show(release: Path) -> answers.ShowReport:
    """What a recipient can see of a release folder: rows, groups, promise, loss.

    >>> shown = tacenda.show("stays/releases/stays/r0002")
    >>> shown.label, shown.rows, shown.counterfeits
    ('2026-Q2', 6, 0)
    """
    return ask(answers.ShowReport, "show", {"release": release_name(release)})


def diff(first: Path, second: Path) -> answers.DiffReport:
    """What a recipient sees change from one release folder to another: sums only.

    >>> changed = tacenda.diff("stays/releases/stays/r0001", "stays/releases/stays/r0002")
    >>> changed.from_.rows, changed.to.rows
    (4, 6)
    """
    return ask(answers.DiffReport, "diff", {"from": release_name(first), "to": release_name(second)})


def verify(
    folders: Union[Path, Iterable[Path]], key: Union[str, Iterable[str]] = (), *, progress: Progress = None
) -> answers.VerifyReport:
    """Checks release folders, or a project, against their digests: ``whole``, ``faults``, ``signed_by``.

    ``key`` is the publisher's public key, its file, or a list of them; then only what is signed by it counts.

    >>> import pathlib, tacenda, tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     shown = tacenda.demo(pathlib.Path(home, "demo"), name="k-anonymity")
    ...     verified = tacenda.verify(shown.project)
    >>> verified.whole, verified.releases == len(shown.published), verified.faults
    (True, True, [])
    """
    return ask(answers.VerifyReport, "verify", {"folders": folders, "key": key}, progress)


def restore(
    backup: Path, folder: Path, *, keys: Optional[Path] = None, anchor: Optional[Path] = None, anchor_from: Optional[Path] = None,
) -> answers.BackupReport:
    """Puts a backup back into a folder that has no project. ``behind`` says why nothing else than what followed may follow now.

    ``anchor_from`` is a receipt or a release folder: it stands in for an anchor that is lost.

    >>> _ = project.backup("stays.age")
    >>> tacenda.restore("stays.age", "again", keys="keys", anchor="another anchor").releases
    2
    """
    said = {"file": backup, "root": folder, "keys": keys, "anchor": anchor, "anchor_from": anchor_from}
    return ask(answers.BackupReport, "restore", said)


def approve(plan: Path, *, keys: Optional[Path] = None) -> answers.ApproveReport:
    """Approves a plan with your key, as a second person. The ledger will record the key.

    >>> plan = project.plan(stays, "2026-Q3", file="plan.json").plan
    >>> key = tacenda.Keys("her keys").new(passphrase=None)
    >>> tacenda.approve(plan, keys="her keys").key == key.key
    True
    """
    return ask(answers.ApproveReport, "approve", {"plan": plan, "keys": keys})


def demos() -> List[answers.DemoEntry]:
    """The demos there are, one for the situation of each paper: ``name``, ``about`` and ``citation``.

    >>> import tacenda
    >>> "m-invariance" in [demo.name for demo in tacenda.demos()]
    True
    """
    found: List[answers.DemoEntry] = ask(list, "demos", {})
    return found


@overload
def demo(
    folder: Path = ..., *, name: None = ..., patients: int = ..., seed: int = ..., memory: Optional[int] = ...,
    threads: int = ..., progress: Progress = ...,
) -> answers.DemoReport: ...
@overload
def demo(folder: Path = ..., *, name: str, progress: Progress = ...) -> answers.SituationReport: ...
def demo(
    folder: Path = "tacenda-demo",
    *,
    name: Optional[str] = None,
    patients: int = 10_000,
    seed: int = 1,
    memory: Optional[int] = None,
    threads: int = 0,
    progress: Progress = None,
) -> Union[answers.DemoReport, answers.SituationReport]:
    """Breaks a naive series of made-up data, then publishes the same data safely, into ``folder``.

    ``name`` is one of :func:`demos`: a paper's situation in small. Without it, a hospital of so many ``patients`` is published
    under m-invariance. Ctrl-C ends it at its next step, and leaves no folder.

    >>> import pathlib, tacenda, tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     shown = tacenda.demo(pathlib.Path(home, "demo"), name="incremental-k-anonymity")
    >>> shown.learned.decision, shown.learned_then.findings
    ('FAIL', [])
    """
    said: Dict[str, Any] = {
        "folder": folder, "name": name, "patients": patients, "seed": seed, "memory": memory, "threads": threads,
    }
    if name is not None and name != _HOSPITAL:
        return ask(answers.SituationReport, "demo", said, progress)
    return ask(answers.DemoReport, "demo", said, progress)


# The demo that is no situation in small.
_HOSPITAL = "m-invariance"


class Keys:
    """Your keys: one signs releases, one opens the vaults of your projects.

    They are in ``folder``, or in tacenda/keys in the user's configuration folder. A key that has a passphrase takes it from
    ``TACENDA_PASSPHRASE``.

    >>> keys = tacenda.Keys("her keys")
    >>> first = keys.new(passphrase=None)
    >>> keys.show().public_key == first.public_key
    True
    """

    def __init__(self, folder: Optional[Path] = None) -> None:
        self._where = {"keys": folder}

    def show(self) -> answers.KeyReport:
        """The public key. Recipients need it, by another way than a release.

        >>> keys = tacenda.Keys("her keys")
        >>> made = keys.new(passphrase=None)
        >>> keys.show().public_key == made.public_key
        True
        """
        return ask(answers.KeyReport, "key", {**self._where, "how": "show"})

    def new(self, *, passphrase: Optional[str]) -> answers.KeyReport:
        """Makes a signing key. With ``None`` as passphrase, anybody who reads its file can sign.

        >>> made = tacenda.Keys("his keys").new(passphrase="a long sentence")
        >>> made.has_passphrase
        True
        """
        return self._with("new", passphrase)

    def rotate(self, *, passphrase: Optional[str]) -> answers.KeyReport:
        """Makes a new signing key that the old one signs.

        >>> keys = tacenda.Keys("her keys")
        >>> first = keys.new(passphrase=None)
        >>> keys.rotate(passphrase=None).follows == first.key
        True
        """
        return self._with("rotate", passphrase)

    def set_vault_passphrase(self, passphrase: Optional[str]) -> answers.VaultReport:
        """Encrypts the key that opens your vaults with a passphrase; ``None`` takes the passphrase away.

        >>> tacenda.Keys("keys").set_vault_passphrase("a long sentence").has_passphrase
        True
        """
        _not_empty(passphrase)
        return ask(answers.VaultReport, "key", {**self._where, "how": "vault", "passphrase": passphrase})

    def _with(self, how: str, passphrase: Optional[str]) -> answers.KeyReport:
        _not_empty(passphrase)
        return ask(answers.KeyReport, "key", {**self._where, "how": how, "passphrase": passphrase})

    def __repr__(self) -> str:
        return f"Keys({self._where['keys']!r})" if self._where["keys"] is not None else "Keys()"


def _not_empty(passphrase: Optional[str]) -> None:
    if passphrase == "":
        raise ValueError("the passphrase is empty; None is a key without one")
