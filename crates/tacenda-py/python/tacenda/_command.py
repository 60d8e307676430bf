"""The command ``tacenda``, as this package brings it along."""

from __future__ import annotations

import signal
import sys

from tacenda import _native


def main() -> int:
    """Runs the command with the words of this process, and answers with its exit code."""
    # The interpreter would only note Ctrl-C and wait for the command to end. Now it ends the process, as it ends the binary.
    # A shell that starts it in the background has asked for Ctrl-C to be ignored, and that stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run(["tacenda", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
