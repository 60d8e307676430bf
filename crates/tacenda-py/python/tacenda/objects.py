"""A project in object storage: S3, Google Cloud Storage or Azure, by its URL.

::

    from tacenda.objects import fetch
    from tacenda.spark import Series

    series = Series(spark, policy="tacenda.toml", at="s3://bucket/stays")
    release = series.publish(spark.table("stays_q3"), "2026-Q3")
    fetch("s3://bucket/stays", "copy")  # then: tacenda verify copy

Needs ``pip install 'tacenda[objects]'``. Credentials are those that the package ``obstore`` finds in the environment; they are
written nowhere. Who may read and write is the bucket's matter: docs/scale.md says what it must grant and to whom.
"""

from __future__ import annotations

import os
import pathlib
import re
import urllib.parse
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Type

from tacenda import _native
from tacenda._data import Path

__all__ = ["Bucket", "fetch", "is_url"]

SCHEMES = ("s3", "s3a", "gs", "az", "azure", "abfs", "abfss", "file")

CHUNK = 8 << 20

COPIED_BY_THE_STORAGE = 1 << 30
"""An object over so many bytes is copied by way of this machine: S3 copies none over 5 GiB, and an answer is not waited for as
long as a large copy may take."""

MOST_PIECES = 9_000
"""S3 takes an object in 10,000 pieces at most."""

KINDS: Dict[str, Type[OSError]] = {
    "NotFoundError": FileNotFoundError,
    "AlreadyExistsError": FileExistsError,
    "PermissionDeniedError": PermissionError,
    "UnauthenticatedError": PermissionError,
}
"""The errors of files that errors of object storage are told as."""


def is_url(place: Any) -> bool:
    """Whether a place is a URL, and not a folder.

    >>> is_url("s3://bucket/stays"), is_url("/mnt/stays")
    (True, False)
    """
    return isinstance(place, str) and "://" in place


def fetch(url: str, folder: Path, *, vault: bool = False) -> List[str]:
    """Copies a project from object storage into a new folder, where the command reads it. Returns the names of its files.

    The ledger and the releases come along: enough for ``tacenda verify`` and ``tacenda log``. With ``vault`` the private vault
    comes too, encrypted where it is. Never publish from a copy while others publish to the URL.
    """
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise FileExistsError(f"{os.fspath(folder)} is there already; name a new folder")
    bucket = Bucket(url)
    return _native.fetch_project(bucket, bucket.url, folder, vault)


class Bucket:
    """What Tacenda needs from object storage. Keys are relative to the URL. Errors are those of files.

    >>> import pathlib, tempfile
    >>> home = tempfile.TemporaryDirectory()
    >>> bucket = Bucket(pathlib.Path(home.name).as_uri() + "/stays")
    >>> bucket.put("folder/key", b"what it holds")
    >>> bucket.copy("folder/key", "folder/copy")
    >>> sorted(bucket.list("folder")), bucket.get("folder/copy")
    (['folder/copy', 'folder/key'], b'what it holds')
    >>> bucket.get("nothing")
    Traceback (most recent call last):
        ...
    FileNotFoundError: object storage: ...
    >>> home.cleanup()
    """

    def __init__(self, url: str) -> None:
        scheme, _, rest = url.partition("://")
        if scheme not in SCHEMES:
            raise ValueError(f"{scheme}:// is not supported; known are {', '.join(SCHEMES)}")
        if not rest.strip("/") or "?" in rest or "#" in rest or "@" in rest.split("/")[0] and not scheme.startswith("abfs"):
            raise ValueError("a URL is a scheme, a bucket and a folder in it; credentials come from the environment")
        self.url = url.rstrip("/")
        try:
            import obstore
            import obstore.store
        except ImportError as error:
            raise ImportError("object storage needs another package: pip install 'tacenda[objects]'") from error
        if scheme == "file":
            # Nobody else may look into what is made here.
            os.makedirs(urllib.parse.unquote(urllib.parse.urlsplit(self.url).path), mode=0o700, exist_ok=True)
        self._calls = obstore
        with _told():
            self._store = obstore.store.from_url(self.url)

    def get(self, key: str) -> bytes:
        with _told():
            return bytes(self._calls.get(self._store, key).bytes())

    def chunks(self, key: str) -> Iterator[bytes]:
        with _told():
            stream = iter(self._calls.get(self._store, key).stream(min_chunk_size=CHUNK))

        def rest() -> Iterator[bytes]:
            while True:
                with _told():
                    chunk = next(stream, None)
                if chunk is None:
                    return
                yield bytes(chunk)

        return rest()

    def has(self, key: str) -> bool:
        try:
            with _told():
                self._calls.head(self._store, key)
        except FileNotFoundError:
            return False
        return True

    def put(self, key: str, content: bytes) -> None:
        with _told():
            self._calls.put(self._store, key, content)

    def put_file(self, key: str, path: Path) -> None:
        with _told():
            piece = _piece(os.path.getsize(path))
            self._calls.put(self._store, key, pathlib.Path(path), chunk_size=piece, max_concurrency=8)

    def put_if_absent(self, key: str, content: bytes) -> None:
        with _told():
            self._calls.put(self._store, key, content, mode="create")

    def copy(self, source: str, target: str) -> None:
        with _told():
            size = self._calls.head(self._store, source)["size"]
            if size <= COPIED_BY_THE_STORAGE:
                self._calls.copy(self._store, source, target)
            else:
                self._copy_in_pieces(source, target, size)

    def _copy_in_pieces(self, source: str, target: str, size: int) -> None:
        """The target is there once the writer is closed, and never if this ends before: so the writer is not one of `with`."""
        piece = _piece(size)
        writer = self._calls.open_writer(self._store, target, buffer_size=piece, max_concurrency=4)
        for start in range(0, size, piece):
            end = min(start + piece, size)
            read = self._calls.get_range(self._store, source, start=start, end=end)
            if len(read) != end - start:
                raise OSError("an object changed while it was copied")
            writer.write(read)
        writer.close()

    def delete(self, key: str) -> None:
        try:
            with _told():
                self._calls.delete(self._store, key)
        except FileNotFoundError:
            pass

    def list(self, folder: str) -> List[str]:
        with _told():
            return [one["path"] for batch in self._calls.list(self._store, folder) for one in batch]


def _piece(size: int) -> int:
    """How many bytes of an object are sent at a time."""
    return max(CHUNK, -(-size // MOST_PIECES))


@contextmanager
def _told() -> Iterator[None]:
    """Turns errors of object storage into those of files. Their first line alone is told, without what the storage answered,
    and of URLs what is before a question mark: more might hold a signature."""
    try:
        yield
    except StopIteration:
        raise
    except Exception as error:
        # Some are errors of files already, with words as long as the others'.
        kind = type(error) if isinstance(error, OSError) else KINDS.get(type(error).__name__, OSError)
        lines = str(error).splitlines() or [""]
        words = re.sub(r"\?\S*|<.*", "…", lines[0])[:300]
        raise kind(f"object storage: {words} ({type(error).__name__})") from None
