"""A visit to a host of the fleet: the live gputop on it, by ssh, on this terminal."""

import subprocess
import sys
from collections.abc import Callable

from gputop.core.protocol.host_name import host_name
from gputop.core.text.text import clean

Visit = Callable[[str], None]


def visit(host: str) -> None:
    """Show the screen of a host until the user leaves it. Wait for Enter after a failure: its reason can be read."""
    try:
        command = [sys.executable, "-m", "gputop", "--host", host_name(host)]
    except ValueError as error:
        why = str(error)
    else:
        # the name comes from a server, and must not choose the user
        why = f"{clean(host)} names a user; gputop goes to hosts only" if "@" in host else _run(command)
    if why:
        print(f"\n{why}. Press Enter to go back to the fleet.", file=sys.stderr, flush=True)
        sys.stdin.readline()


def _run(command: list[str]) -> str:
    """Run a command on this terminal; return why it failed."""
    try:
        status = subprocess.run(command, check=False).returncode
    except OSError as error:
        return f"gputop could not start: {error.strerror}"
    except KeyboardInterrupt:  # the user interrupted ssh
        return ""
    return f"gputop ended with status {status}" if status else ""


def visit_simulated(host: str) -> None:
    """Say that there is no such host."""
    print(f"\n{clean(host)} is simulated. Press Enter to go back to the fleet.", file=sys.stderr, flush=True)
    sys.stdin.readline()
