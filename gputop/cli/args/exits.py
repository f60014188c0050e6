"""Exit statuses that commands share, and the line on stderr that explains one."""

import sys
from typing import Final, NoReturn

OK: Final = 0
BAD_INPUT: Final = 2
NO_DRIVER: Final = 3
USAGE: Final = 64  # bad input of a command that uses 2 as a verdict


def warn(message: str) -> None:
    """Print a line on stderr."""
    print(f"gputop: {message}", file=sys.stderr)


def fail(status: int, message: str) -> NoReturn:
    """End the program with a line on stderr."""
    warn(message)
    raise SystemExit(status)
