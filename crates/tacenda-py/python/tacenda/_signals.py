"""Ctrl-C waits while something is written."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack
from types import FrameType
from typing import Any, Dict, Optional


class Held:
    """From here on, signals that Python handles wait. :meth:`release` lets their handlers run.

    While something is written to a folder, no code in Python runs, so none of its handlers does. Object storage is reached
    by code in Python: an exception of a handler would end it between two objects.
    """

    def __init__(self) -> None:
        self._handlers: Dict[int, Any] = {}
        self._came: Dict[int, Optional[FrameType]] = {}
        self._holds = True
        if threading.current_thread() is not threading.main_thread():
            # Handlers run in the main thread only.
            return
        try:
            for number in signal.valid_signals():
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._take)
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Puts the handlers back. Then it runs those whose signals came, and raises what they raise."""
        with ExitStack() as last_first:
            last_first.callback(self._tell)
            for number, handler in self._handlers.items():
                last_first.callback(signal.signal, number, handler)

    def _take(self, number: int, frame: Optional[FrameType]) -> None:
        if self._holds:
            self._came[number] = frame
        else:
            self._handlers[number](number, frame)

    def _tell(self) -> None:
        self._holds = False
        with ExitStack() as each:
            for number, frame in self._came.items():
                each.callback(self._handlers[number], number, frame)
