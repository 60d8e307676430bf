"""What a person should know of a project before Python adds to it or answers from it: warnings at the caller's own line."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Iterable

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


class TacendaWarning(UserWarning):
    """Something of a project that nobody is told again: nothing here remembers it, its vault is plain, it was set back.

    Turn it into an error with ``warnings.simplefilter("error", tacenda.TacendaWarning)``: then nothing is published.

    >>> import warnings
    >>> _ = project.vault("unlock")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     _ = project.publish(stays, "2026-Q3")
    >>> [one.category.__name__ for one in caught]
    ['TacendaWarning']
    """


def warn(texts: Iterable[str]) -> None:
    """Warns where the package was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_PACKAGE + os.sep):
        frame, level = frame.f_back, level + 1
    for text in texts:
        warnings.warn(text, TacendaWarning, stacklevel=level)
