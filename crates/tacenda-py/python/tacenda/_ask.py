"""Hands a request over to the library, with who is told of progress."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional, Type, TypeVar, Union

from tacenda import _native
from tacenda._progress import Progress, telling
from tacenda._warnings import warn


Kind = TypeVar("Kind")


def ask(kind: Type[Kind], what: str, said: Mapping[str, Any], progress: Progress = None) -> Kind:
    """The answer to a request, which is of this kind. Paths are handed over as texts. What a person should know is said first."""
    plain = {name: _plain(value) for name, value in said.items()}
    # There is nothing to know of a project before it is restored.
    if what != "restore":
        warn(_native.cautions(what, plain))
    with telling(progress) as told:
        answer = _native.ask(what, plain, told)
    if what == "restore":
        warn(_native.cautions(what, plain))
    assert isinstance(answer, kind), f"{what} answers with {type(answer).__name__}"
    return answer


def _plain(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def attacker(words: Optional[str], presence: bool) -> Optional[str]:
    """What the attacker knows, where it is not what every attacker knows."""
    if words is not None or presence:
        return words
    return "quasi"


def domain(said: Any) -> Any:
    """Domains as the command writes them: ``LO..HI``."""
    if not isinstance(said, Mapping):
        return said
    return {name: f"{of[0]}..{of[1]}" if isinstance(of, (list, tuple)) else of for name, of in said.items()}


def release_name(release: Union[int, str, "os.PathLike[str]"]) -> str:
    """A release by its number, its label or its folder."""
    return os.fspath(release) if isinstance(release, os.PathLike) else str(release)
