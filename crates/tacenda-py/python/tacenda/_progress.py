"""Progress of long work: a bar of tqdm, a line on standard error, or a function of the caller's own."""

from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator, Optional, Union

Teller = Callable[[int, int, str], Any]
Progress = Union[bool, Teller, None]


class Bar:
    """A bar of tqdm, in a notebook too; without tqdm, lines on standard error."""

    def __init__(self) -> None:
        self._bar: Any = None
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=1, leave=False)

    def __call__(self, step: int, steps: int, what: str) -> None:
        if self._bar is None:
            print(f"tacenda: {step}/{max(step, steps)} {what}", file=sys.stderr)
            return
        self._bar.total = max(step, steps)
        self._bar.n = step
        self._bar.set_description(what)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()


@contextlib.contextmanager
def telling(progress: Progress) -> Iterator[Optional[Teller]]:
    """Who is told of progress, as long as the work goes on."""
    told = teller(progress)
    try:
        yield told
    finally:
        if isinstance(told, Bar):
            told.close()


def teller(progress: Progress) -> Optional[Teller]:
    """Who is told of progress."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return Bar()
    if not callable(progress):
        raise TypeError("progress is True, or a function of step, steps and what")
    return progress
