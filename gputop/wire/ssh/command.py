"""The command line of ssh. The user's ssh configuration decides about the rest: port, user, keys, jumps, host keys."""

import shlex
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from gputop.core.hosts.search_path import SEARCH

NOT_FOUND: Final = 127
_OPTIONS: Final = {
    "ConnectTimeout": "10",
    "ServerAliveInterval": "3",  # ssh's own default never notices a dead network
    "ServerAliveCountMax": "3",
    "RemoteCommand": "none",  # one of the configuration would keep ours from running
    "ClearAllForwardings": "yes",  # forwarded ports are for logins, and a second connection cannot open them again
}
_SCRIPT: Final = (  # `exec`: no shell stays between sshd and gputop
    f"{SEARCH}"
    'command -v gputop >/dev/null 2>&1 && exec gputop "$@"; '
    'echo "gputop is not on the PATH of $(uname -n): $PATH" >&2; '
    f"exit {NOT_FOUND}"
)


class Remote(Struct, frozen=True):
    """A host, and the path of the ssh that reaches it. ``host``: as `core.protocol.host_name` checks it."""

    ssh: str
    host: str

    def command(self, words: Sequence[str], *, can_ask: bool, variables: Sequence[str] = ()) -> list[str]:
        """Return the command line that runs gputop with these words on the host.

        ``can_ask``: ssh may ask for a password on the terminal. ``variables``: ``NAME=value``, of the remote gputop.
        """
        return self.shell(_SCRIPT, ("gputop", *words), can_ask=can_ask, variables=variables)

    def shell(self, script: str, words: Sequence[str], *, can_ask: bool, variables: Sequence[str] = ()) -> list[str]:
        """Return the command line that runs a script of sh on the host; ``words``: $0, $1 and so on.

        There is no terminal on the host: it would echo the input and add its own line ends.
        """
        options = _OPTIONS if can_ask else {**_OPTIONS, "BatchMode": "yes"}
        settings = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        there = shlex.join((*(("env", *variables) if variables else ()), "sh", "-c", script, *words))
        return [self.ssh, "-T", "-C", "-a", "-x", *settings, "--", self.host, f"exec {there}"]
