"""Series in memory."""

from __future__ import annotations

from typing import Any, List, Optional

from tacenda import _native
from tacenda._data import Path, table
from tacenda._native import Release
from tacenda._policy import Policy, Seed, policy_text, seed_bytes
from tacenda._progress import Progress, telling


class Series:
    """A series in memory: it lives as long as this object.

    The same computation as the command ``tacenda``, with the same rows for the same seed. Use
    :class:`Project` to publish for real: the next release must know this one, and a project remembers.

    ``policy`` is a dict with the keys of a policy file, a path to one, or its text. Hierarchy files are
    looked for beside the policy file, or in ``folder``. ``seed`` makes the series reproducible: a number,
    or the 32 bytes of a vault's seed. Anyone who knows the seed can undo the keyed hashes: leave it out
    for real data.

    >>> import pandas, tacenda
    >>> policy = {
    ...     "policy": 1,
    ...     "series": {"name": "stays"},
    ...     "columns": {
    ...         "patient": {"role": "identifier"},
    ...         "age": {"role": "quasi", "type": "integer", "domain": [0, 120]},
    ...         "disease": {"role": "sensitive", "type": "category"},
    ...     },
    ...     "promise": {"model": "m-invariance", "m": 2},
    ... }
    >>> stays = pandas.DataFrame({
    ...     "patient": ["p1", "p2", "p3", "p4"], "age": [20, 22, 61, 65], "disease": ["flu", "mumps", "flu", "mumps"],
    ... })
    >>> series = tacenda.Series(policy, seed=1)
    >>> series.publish(stays, "2026-Q1")
    Release(1 "2026-Q1": 4 rows in 2 groups, 0 counterfeits)
    >>> series
    Series('stays', 1 release)
    """

    def __init__(self, policy: Policy, *, seed: Seed = None, folder: Path = ".") -> None:
        text, path = policy_text(policy, folder)
        self._native = _native.Series(text, path, seed_bytes(seed))

    def publish(
        self, data: Any, label: Optional[str] = None, *, delta: bool = False, threads: int = 0, progress: Progress = None
    ) -> Release:
        """Makes the next release from ``data``, or raises and changes nothing.

        ``data`` is a whole snapshot, one row per person, as a frame or a path; with ``delta``, only what
        changed, with a column ``op`` (insert, update, delete). A pandas index is not read. ``progress`` is ``True``, or a
        function of step, steps and what. Ctrl-C ends it at its next step, and the series has not changed.

        >>> series = tacenda.Series("stays/tacenda.toml", seed=1)
        >>> series.publish(first_stays, "2026-Q1").number, series.publish(stays, "2026-Q2").number
        (1, 2)
        """
        with telling(progress) as told:
            return self._native.publish(table(data), label, delta, threads, told)

    @property
    def name(self) -> str:
        """The name of the series."""
        return self._native.name

    @property
    def releases(self) -> int:
        """How many releases there are."""
        return self._native.releases

    @property
    def notes(self) -> List[str]:
        """What is worth saying about the policy though it is no fault."""
        return self._native.notes

    def __repr__(self) -> str:
        return f"Series({self.name!r}, {counted(self.releases)})"


def counted(releases: int) -> str:
    """So many releases."""
    return "1 release" if releases == 1 else f"{releases} releases"


def publish(data: Any, policy: Policy, *, seed: Seed = None, folder: Path = ".", progress: Progress = None) -> Any:
    """Publishes one frame, or a list of frames as a series, in memory.

    Returns a :class:`Release`, or a list of them. Short for :class:`Series`.

    >>> release = tacenda.publish(stays, "stays/tacenda.toml", seed=1)
    >>> len(release), release.counterfeits
    (6, 0)
    """
    series = Series(policy, seed=seed, folder=folder)
    if isinstance(data, (list, tuple)):
        return [series.publish(snapshot, progress=progress) for snapshot in data]
    return series.publish(data, progress=progress)
