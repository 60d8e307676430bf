"""Publish a Spark table on the cluster that has it.

::

    from tacenda.spark import Series

    series = Series(spark, policy="tacenda.toml", at="/mnt/stays")
    release = series.publish(spark.table("stays_q3"), "2026-Q3")

The rows, their order and the ledger are those of ``tacenda publish`` from the same table. Executors encode, form
groups and judge them. ``at`` has the ledger, the vault and the releases. It is a project folder on the driver's machine, or a
place in object storage: ``at="s3://bucket/stays"`` (see :mod:`tacenda.objects`). docs/scale.md says what is in whose memory,
and when one machine is enough.

Needs Spark 4.0 or later, and the same version of tacenda on every machine. Only what Spark Connect offers is used.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, List, Optional, Tuple

from tacenda import _native
from tacenda._data import Path
from tacenda._native import Release
from tacenda.objects import Bucket, is_url
from tacenda._progress import Bar, Progress, teller
from tacenda._warnings import warn

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Series"]

Blobs = Tuple[List[int], List[int], List[bytes]]

BLOBS = "place int, kind int, blob binary"
"""What is kept and moved: bytes with a place and a kind. Spark never looks into them."""

DRIVERS = 14
"""Blobs of this kind and above are for the driver."""

ROWS_AT_A_TIME = 1 << 18


class Series:
    """A series of releases of Spark tables, in the project ``at``: a folder, or a URL of object storage.

    ``policy`` is the policy file, ``tacenda.toml`` in the folder if not given. With a URL it must be given: it is a file
    of the driver's machine. ``parts`` and ``unit`` say how the work is
    cut: into how many parts people are sorted by their keys, and how many people a unit has at most. No release depends on
    them. ``memory`` is the most memory that the driver may use, in bytes. ``anchor`` and ``keys`` are as in
    :class:`tacenda.Project`.
    """

    def __init__(
        self,
        spark: Any,
        policy: Optional[Path] = None,
        at: Path = ".",
        *,
        parts: int = 64,
        unit: int = 1 << 18,
        memory: Optional[int] = None,
        anchor: Optional[Path] = None,
        keys: Optional[Path] = None,
    ) -> None:
        self._spark = spark
        self._cut = (parts, unit)
        said = {"root": at, "policy": policy, "anchor": anchor, "keys": keys, "memory": memory}
        self._said: Dict[str, Any] = {
            name: os.fspath(value) if isinstance(value, os.PathLike) else value for name, value in said.items()
        }
        if is_url(at):
            if policy is None:
                raise ValueError("policy is missing: with a URL, it is a file of the driver's machine")
            bucket = Bucket(str(at))
            self._said.update(root=bucket.url, objects=bucket)

    def publish(self, table: Any, label: Optional[str] = None, *, progress: Progress = None) -> Release:
        """Publishes a Spark table, one row per person: ``release.folder``, or ``release.url`` in object storage, is complete,
        or nothing has changed.

        If the same rows were published under this label before, nothing is done, and ``release.already`` is true.
        """
        warn(_native.cautions("publish", self._said))
        told = teller(progress)
        cluster = _Cluster(self._spark, table)
        try:
            return _native.publish_in(
                {**self._said, "label": label}, cluster, list(table.columns), self._cut, told
            )
        finally:
            cluster.forget()
            if isinstance(told, Bar):
                told.close()


class _Cluster:
    """Runs the steps of a release as Spark jobs. What they make is kept as one table of blobs at a time."""

    def __init__(self, spark: Any, table: Any) -> None:
        self._spark = spark
        self._table = table
        self._kept: Any = None

    def step(
        self,
        name: str,
        kinds: Optional[List[int]],
        spread: Optional[bytes],
        each_place: Optional[bytes],
        more: Blobs,
        ways: Tuple[bool, bool],
    ) -> Iterator[Tuple[int, int, bytes]]:
        """Runs a step, and gives what is for the driver: place, kind and bytes. ``ways`` says whether what is made is kept, and
        whether what is for the driver is large."""
        keeps, is_large = ways
        if kinds is None:
            assert spread is not None, "a table is encoded"
            made = self._table.mapInArrow(_encoding(spread), BLOBS)
        else:
            made = self._kept.where(self._kept.kind.isin(kinds))
            if spread is not None:
                made = made.mapInArrow(_spreading(spread), BLOBS)
        if more[0]:
            made = made.unionAll(self._given(more))
        if each_place is not None:
            made = made.groupBy("place").applyInArrow(_each_place(each_place), BLOBS)
        if keeps:
            # Known before it is made: a step that fails leaves nothing behind.
            made = made.persist()
            before, self._kept = self._kept, made
            try:
                yield from _blobs(made.where(made.kind >= DRIVERS).toArrow())
            finally:
                _unpersist(before)
        elif not is_large:
            yield from _blobs(made.toArrow())
        else:
            made = made.persist()
            try:
                # All parts are made first, side by side. Then one after another comes here, so that no more than one is in
                # memory.
                made.groupBy().count().collect()
                for row in made.toLocalIterator():
                    yield row.place, row.kind, bytes(row.blob)
            finally:
                _unpersist(made)

    def forget(self) -> None:
        """Forgets what is kept."""
        _unpersist(self._kept)
        self._kept = None

    def _given(self, more: Blobs) -> Any:
        """Blobs of the driver. Each is a batch, so that Spark sends them to different machines."""
        import pyarrow

        batches = [_batch(([place], [kind], [blob])) for place, kind, blob in zip(*more)]
        return self._spark.createDataFrame(pyarrow.Table.from_batches(batches), BLOBS)


def _unpersist(made: Any) -> None:
    if made is not None:
        made.unpersist()


def _blobs(table: "pyarrow.Table") -> Iterator[Tuple[int, int, bytes]]:
    for batch in table.to_batches():
        yield from zip(*(column.to_pylist() for column in batch.columns))


def _batch(made: Blobs) -> "pyarrow.RecordBatch":
    import pyarrow

    types = (pyarrow.int32(), pyarrow.int32(), pyarrow.binary())
    arrays = [pyarrow.array(values, kind) for values, kind in zip(made, types)]
    return pyarrow.RecordBatch.from_arrays(arrays, ["place", "kind", "blob"])


@functools.lru_cache(maxsize=2)
def _kernel(task: bytes) -> _native.Kernel:
    """The kernel of a step. A worker makes it once."""
    return _native.Kernel(task)


def _encoding(task: bytes) -> Any:
    def encode(batches: Iterable[Any]) -> Iterator[Any]:
        waiting: List[Any] = []
        for batch in batches:
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= ROWS_AT_A_TIME:
                yield _batch(_kernel(task).encode(waiting))
                waiting = []
        if waiting:
            yield _batch(_kernel(task).encode(waiting))

    return encode


def _spreading(task: bytes) -> Any:
    def spread(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            columns = [column.to_pylist() for column in batch.columns]
            yield _batch(_kernel(task).spread(list(zip(*columns))))

    return spread


def _each_place(task: bytes) -> Any:
    def run(table: Any) -> Any:
        import pyarrow

        columns = [column.to_pylist() for column in table.columns]
        made = _kernel(task).run(columns[0][0], list(zip(columns[1], columns[2])))
        return pyarrow.Table.from_batches([_batch(made)])

    return run
