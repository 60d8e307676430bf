"""Publish a changing table of people again and again, so that all releases together keep one promise.

Frames in, frames out::

    import tacenda

    series = tacenda.Series(policy, seed=1)       # policy: a dict, a path, or the text of a policy file
    first = series.publish(stays_q1, "2026-Q1")   # pandas, polars, pyarrow: anything that speaks Arrow
    second = series.publish(stays_q2, "2026-Q2")
    second.frame.to_pandas()

Every release is judged by the auditor together with all earlier ones before it is handed out. What it
refuses is raised as :class:`TacendaError`.

The promises, by paper:

- ``m-invariance``: X. Xiao, Y. Tao. *m-invariance: towards privacy preserving re-publication of dynamic
  datasets.* SIGMOD 2007.
- ``incremental-k-anonymity``: J. Pei, J. Xu, Z. Wang, W. Wang, K. Wang. *Maintaining k-anonymity against
  incremental updates.* SSDBM 2007.
- ``k-anonymity``: T. M. Truta, A. Campan. *k-anonymization incremental maintenance and optimization
  techniques.* SAC 2007.
- ``incremental-l-diversity``: *Incremental l-diversity by clustering.* Appl. Math. Inf. Sci. 7(5), 2013.

``tacenda.promises()`` lists them with their parameters.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union

from tacenda import _native
from tacenda._native import Frame, Release, TacendaError, __version__

__all__ = [
    "Audit",
    "Frame",
    "Project",
    "Release",
    "Series",
    "TacendaError",
    "__version__",
    "audit",
    "promises",
    "publish",
]

Policy = Union[Mapping[str, Any], str, "os.PathLike[str]"]
Seed = Union[int, bytes, None]


def promises() -> List[Dict[str, str]]:
    """The promises there are: ``model``, ``line``, ``parameters`` and ``paper`` of each."""
    return _native.promises()


class Series:
    """A series in memory: it lives as long as this object.

    The same computation as the command ``tacenda``, with the same rows for the same seed. Use
    :class:`Project` to publish for real: the next release must know this one, and a project remembers.

    ``policy`` is a dict with the keys of a policy file, a path to one, or its text. Hierarchy files are
    looked for beside the policy file, or in ``folder``. ``seed`` makes the series reproducible: a number,
    or the 32 bytes of a vault's seed. Anyone who knows the seed can undo the keyed hashes: leave it out
    for real data.
    """

    def __init__(
        self, policy: Policy, *, seed: Seed = None, folder: Union[str, "os.PathLike[str]"] = "."
    ) -> None:
        text, path = _policy(policy, folder)
        self._native = _native.Series(text, path, _seed(seed))

    def publish(
        self, data: Any, label: Optional[str] = None, *, delta: bool = False, threads: int = 0
    ) -> Release:
        """Makes the next release from ``data``, or raises and changes nothing.

        ``data`` is a whole snapshot, one row per person, as a frame or a path; with ``delta``, only what
        changed, with a column ``op`` (insert, update, delete). A pandas index is not read.
        """
        return self._native.publish(_data(data), label, delta, threads)

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return self._native.releases

    @property
    def notes(self) -> List[str]:
        """What is worth saying about the policy though it is no fault."""
        return self._native.notes

    def __repr__(self) -> str:
        return f"Series({self.releases} releases)"


class Project:
    """A project folder: ``tacenda.toml``, ``.tacenda/`` and ``releases/``, shared with the command."""

    def __init__(
        self,
        path: Union[str, "os.PathLike[str]"] = ".",
        *,
        policy: Union[str, "os.PathLike[str]", None] = None,
        anchor_from: Union[str, "os.PathLike[str]", None] = None,
    ) -> None:
        """``anchor_from`` is a receipt or a release folder: it stands in for an anchor that is lost."""
        named = [None if one is None else os.fspath(one) for one in (policy, anchor_from)]
        self._native = _native.Project(os.fspath(path), *named)

    def plan(self, data: Any, label: Optional[str] = None, *, delta: bool = False, threads: int = 0) -> Release:
        """Rehearses the next release. Nothing is published; publishing the same data gives the same rows."""
        return self._native.plan(_data(data), label, delta, threads)

    def publish(self, data: Any, label: Optional[str] = None, *, delta: bool = False, threads: int = 0) -> Release:
        """Publishes the next release: ``release.folder`` is complete, or nothing has changed."""
        return self._native.publish(_data(data), label, delta, threads)

    def audit(
        self, *, truth: Any = None, k: Optional[int] = None, l: Optional[int] = None, presence: bool = True
    ) -> "Audit":
        """Attacks everything published so far, as :func:`audit` does. ``k`` and ``l`` are what is promised.

        ``truth`` are the private tables behind all releases, in order; the vault has the last one only.
        """
        return Audit(*self._native.audit([_data(table) for table in _several(truth)], k, l, presence))

    def report(self, edition: str = "recipient", *, language: Optional[str] = None) -> str:
        """The report for ``recipient``, ``steward`` or ``auditor``, as one HTML page.

        ``language`` (``en``, ``de``, ``fr``) is for recipients; without it, the policy file's is taken.
        """
        return self._native.report(edition, language)

    def log(self) -> List[Dict[str, Any]]:
        """The events of the series, the oldest first, as ``tacenda log --format json`` lists them."""
        return self._native.log()

    def erase(self, identifiers: Any) -> Dict[str, Any]:
        """Erases people, by one identifier or a list, from the vault and from all later releases.

        The answer says what cannot be erased (``stays``) and what the next release does (``departures``).
        """
        return self._native.erase([identifiers] if isinstance(identifiers, str) else list(identifiers))

    def retain(self, releases: int) -> Dict[str, Any]:
        """Forgets people who left and have not been published for so many releases."""
        return self._native.retain(releases)

    def receipt(self) -> Dict[str, Any]:
        """How far the series has come, as ``tacenda receipt`` says it; ``text`` is to be printed and kept apart."""
        return self._native.receipt()

    def verify(self, key: Any = ()) -> Dict[str, Any]:
        """Checks ledger, vault and releases against their digests: ``whole``, ``faults``, ``signed_by``.

        ``key`` is the publisher's public key, its file, or a list of them; then only what is signed by it counts.
        """
        return self._native.verify([os.fspath(one) for one in ([key] if isinstance(key, (str, os.PathLike)) else key)])


def publish(
    data: Any, policy: Policy, *, seed: Seed = None, folder: Union[str, "os.PathLike[str]"] = "."
) -> Any:
    """Publishes one frame, or a list of frames as a series, in memory.

    Returns a :class:`Release`, or a list of them. Short for :class:`Series`.
    """
    series = Series(policy, seed=seed, folder=folder)
    if isinstance(data, (list, tuple)):
        return [series.publish(snapshot) for snapshot in data]
    return series.publish(data)


class Audit:
    """What an audit found. ``report`` is everything, as in ``docs/schema/report.json``."""

    def __init__(self, report: Dict[str, Any], text: str) -> None:
        self.report = report
        self.text = text

    @property
    def decision(self) -> str:
        """``PASS``, ``PASS WITH NAMED ASSUMPTION``, ``FAIL`` or ``NOT ASSESSED``."""
        return self.report["verdict"]["decision"]

    @property
    def findings(self) -> List[Dict[str, Any]]:
        """The findings, the worst first. Sensitive values are coded as D1, D2, …"""
        return self.report["findings"]

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Audit({self.decision}, {len(self.findings)} findings)"


def audit(
    releases: Any,
    quasi: Iterable[str],
    sensitive: Union[str, Iterable[str], None] = None,
    *,
    truth: Any = None,
    id: Optional[str] = None,
    k: int = 2,
    l: int = 2,
    presence: bool = True,
    missing: Optional[str] = None,
) -> Audit:
    """Audits releases made by any tool: what can a reader of all of them work out?

    ``releases`` are frames or paths (also :class:`Release` objects), in order of time; generalised cells
    in any of the usual notations. ``truth`` are the tables behind them, one per release, with the identifier
    ``id``: then people are counted. A person must be one of at least ``k``, with at least ``l`` values left;
    the attacker knows everyone's quasi values and, with ``presence``, who is in which release. ``missing``
    says what an empty quasi cell means: ``"any"`` value, or ``"value"``, a value of its own. ``report["assumptions"]``
    lists the assumptions.

    The attacks: intersection of candidate sets over releases (Ganta, Kasiviswanathan, Smith, KDD 2008; Xiao,
    Tao, SIGMOD 2007), correspondence attacks (Fung, Wang, Fu, Pei, EDBT 2008), differences of releases,
    and others, each under its own name in ``report["checks"]``.
    """
    if missing not in (None, "any", "value"):
        raise ValueError('missing is "any" or "value"')
    told = _native.audit(
        [_data(release) for release in _several(releases)],
        list(quasi),
        [sensitive] if isinstance(sensitive, str) else list(sensitive or ()),
        [_data(table) for table in _several(truth)],
        id,
        k,
        l,
        presence,
        missing,
    )
    return Audit(*told)


def _several(data: Any) -> List[Any]:
    if data is None:
        return []
    return list(data) if isinstance(data, (list, tuple)) else [data]


def _data(data: Any) -> Any:
    """A path as text, a frame as something with ``__arrow_c_stream__``."""
    if isinstance(data, (str, os.PathLike)):
        return os.fspath(data)
    if isinstance(data, Release):
        return data.frame
    if type(data).__module__.split(".")[0] == "pandas":
        import pyarrow

        # Without the index: it is no column, and a filtered frame would have one more.
        return pyarrow.Table.from_pandas(data, preserve_index=False)
    if not hasattr(data, "__arrow_c_stream__"):
        raise TypeError(f"a table is a path or a frame that speaks Arrow, not {type(data).__name__}")
    return data


def _seed(seed: Seed) -> Optional[bytes]:
    if seed is None:
        return None
    if isinstance(seed, int):
        return hashlib.sha256(b"tacenda seed number %d" % seed).digest()
    if len(seed) != 32:
        raise ValueError(f"a seed is a number or 32 bytes, not {len(seed)}")
    return bytes(seed)


def _policy(policy: Policy, folder: Union[str, "os.PathLike[str]"]) -> "tuple[str, str]":
    """The text of a policy, and the path of the file it stands for."""
    beside = os.path.join(os.fspath(folder), "tacenda.toml")
    if isinstance(policy, Mapping):
        return _toml(policy), beside
    if isinstance(policy, str) and "\n" in policy:
        return policy, beside
    path = os.fspath(policy)
    with open(path, encoding="utf-8") as file:
        return file.read(), path


def _toml(policy: Mapping[str, Any]) -> str:
    return "".join(f"{_toml_key(key)} = {_toml_value(value)}\n" for key, value in policy.items())


def _toml_key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a policy are texts, not {type(key).__name__}")
    return json.dumps(key, ensure_ascii=False)


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml_key(key)} = {_toml_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    raise TypeError(f"a policy holds texts, numbers, truths, dates, lists and dicts, not {type(value).__name__}")
