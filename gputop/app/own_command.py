"""The command that starts this gputop again."""

import os
import sys


def own_command() -> str:
    """Return the path of this gputop, or else of its Python with ``-m gputop``."""
    called = os.path.abspath(sys.argv[0])
    return called if os.path.basename(called) == "gputop" else f"{sys.executable} -m gputop"
