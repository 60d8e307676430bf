"""What needs no project: release folders, codes, keys, and the way to a project."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Union

from tacenda import _native, answers
from tacenda._ask import ask, release_name
from tacenda._data import Path, table, tables
from tacenda._progress import Progress


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
    root: Path = ".",
) -> answers.ExplainReport:
    """Explains a code, a finding, a group or a person in plain words.

    ``what`` is a code such as ``D103``; ``finding N`` of an ``audit`` that was saved as JSON; ``group RELEASE:GROUP``; or
    ``person``, with the identifier in ``person``. Groups and people are looked for in ``releases``, or in the project at
    ``root``.

    >>> import tacenda
    >>> tacenda.explain("D103").title
    'duplicate column'
    """
    said: Dict[str, Any] = {
        "what": what, "audit": audit, "person": person, "quasi": quasi, "sensitive": sensitive, "id": id, "root": root,
        "releases": tables(releases), "truth": tables(truth),
    }
    return ask(answers.ExplainReport, "explain", said)


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
    """
    said = {"data": table(data), "root": folder, "name": name, "promise": promise, "policy": policy}
    return ask(answers.InitReport, "draft", said, progress)


def count(release: Path, where: str = "") -> answers.CountReport:
    """Counts people in a release folder who meet a condition, such as ``age >= 65 and disease = flu``.

    ``estimate`` is the expected number; no fewer than ``lowest`` and no more than ``highest`` are possible.
    """
    return ask(answers.CountReport, "count", {"release": release_name(release), "where": where})


def show(release: Path) -> answers.ShowReport:
    """What a recipient can see of a release folder: rows, groups, promise, loss."""
    return ask(answers.ShowReport, "show", {"release": release_name(release)})


def diff(first: Path, second: Path) -> answers.DiffReport:
    """What a recipient sees change from one release folder to another: sums only."""
    return ask(answers.DiffReport, "diff", {"from": release_name(first), "to": release_name(second)})


def verify(folders: Union[Path, Iterable[Path]], key: Union[str, Iterable[str]] = ()) -> answers.VerifyReport:
    """Checks release folders, or a project, against their digests: ``whole``, ``faults``, ``signed_by``.

    ``key`` is the publisher's public key, its file, or a list of them; then only what is signed by it counts.
    """
    return ask(answers.VerifyReport, "verify", {"folders": folders, "key": key})


def restore(backup: Path, folder: Path, *, keys: Optional[Path] = None, anchor: Optional[Path] = None) -> answers.BackupReport:
    """Puts a backup back into a folder that has no project."""
    return ask(answers.BackupReport, "restore", {"file": backup, "root": folder, "keys": keys, "anchor": anchor})


def approve(plan: Path, *, keys: Optional[Path] = None) -> answers.ApproveReport:
    """Approves a plan with your key, as a second person. The ledger will record the key."""
    return ask(answers.ApproveReport, "approve", {"plan": plan, "keys": keys})


def demo(
    folder: Path = "tacenda-demo", *, patients: int = 10_000, seed: int = 1, progress: Progress = None
) -> answers.DemoReport:
    """Breaks a naive series of made-up data, then publishes the same data under m-invariance, into ``folder``."""
    return ask(answers.DemoReport, "demo", {"folder": folder, "patients": patients, "seed": seed}, progress)


class Keys:
    """Your keys: one signs releases, one opens the vaults of your projects.

    They are in ``folder``, or in tacenda/keys in the user's configuration folder. A key that has a passphrase takes it from
    ``TACENDA_PASSPHRASE``.
    """

    def __init__(self, folder: Optional[Path] = None) -> None:
        self._where = {"keys": folder}

    def show(self) -> answers.KeyReport:
        """The public key. Recipients need it, by another way than a release."""
        return ask(answers.KeyReport, "key", {**self._where, "how": "show"})

    def new(self, *, passphrase: Optional[str]) -> answers.KeyReport:
        """Makes a signing key. With ``None`` as passphrase, anybody who reads its file can sign."""
        return self._with("new", passphrase)

    def rotate(self, *, passphrase: Optional[str]) -> answers.KeyReport:
        """Makes a new signing key that the old one signs."""
        return self._with("rotate", passphrase)

    def set_vault_passphrase(self, passphrase: Optional[str]) -> answers.VaultReport:
        """Encrypts the key that opens your vaults with a passphrase; ``None`` takes the passphrase away."""
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
