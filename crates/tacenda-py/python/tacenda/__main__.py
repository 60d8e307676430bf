"""``python -m tacenda`` is the command ``tacenda``."""

import sys

from tacenda._command import main

sys.exit(main())
