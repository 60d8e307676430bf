"""A policy as a dict, a path or a text, as the text of a policy file."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
from typing import Any, Iterable, Mapping, Optional, Tuple, Union

from tacenda._data import Path

Policy = Union[Mapping[str, Any], str, "os.PathLike[str]"]
Seed = Union[int, bytes, None]

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def seed_bytes(seed: Seed) -> Optional[bytes]:
    """The 32 bytes that a seed stands for."""
    if seed is None:
        return None
    if isinstance(seed, int):
        return hashlib.sha256(b"tacenda seed number %d" % seed).digest()
    if len(seed) != 32:
        raise ValueError(f"a seed is a number or 32 bytes, not {len(seed)}")
    return bytes(seed)


def policy_text(policy: Policy, folder: Path) -> Tuple[str, str]:
    """The text of a policy, and the path of the file it stands for."""
    if isinstance(policy, Mapping):
        return _toml(_dated(policy)), os.path.join(os.fspath(folder), "policy")
    if isinstance(policy, str) and "\n" in policy:
        return policy, os.path.join(os.fspath(folder), "policy")
    path = os.fspath(policy)
    with open(path, encoding="utf-8") as file:
        return file.read(), path


def _dated(policy: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same, with the dates that JSON can only write as texts: the domain of a column of dates."""
    columns = policy.get("columns")
    if not isinstance(columns, Mapping):
        return policy

    def bound(value: Any) -> Any:
        return datetime.date.fromisoformat(value) if isinstance(value, str) and _DATE.fullmatch(value) else value

    def column(of: Any) -> Any:
        if not isinstance(of, Mapping) or of.get("type") != "date" or not isinstance(of.get("domain"), (list, tuple)):
            return of
        return {**of, "domain": [bound(value) for value in of["domain"]]}

    return {**policy, "columns": {name: column(of) for name, of in columns.items()}}


def _toml(policy: Mapping[str, Any]) -> str:
    """A table and each column in a line of its own, so that an error names the right one."""
    plain = [(key, value) for key, value in policy.items() if not isinstance(value, Mapping)]
    lines = [f"{_key(key)} = {_value(value)}\n" for key, value in plain]
    for key, entries in policy.items():
        if isinstance(entries, Mapping):
            lines.append(f"[{_key(key)}]\n")
            lines.extend(f"{_key(name)} = {_value(value)}\n" for name, value in entries.items())
    return "".join(lines)


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(f"the keys of a policy are texts, not {type(key).__name__}")
    # A bare key reads better in an error.
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        # TOML writes the character DEL as JSON does not.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise TypeError(f"a policy holds texts, numbers, truths, dates, lists and dicts, not {type(value).__name__}")
