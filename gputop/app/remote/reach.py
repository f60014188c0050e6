"""The ssh that reaches a host."""

import os

from gputop.app.errors import NO_DRIVER, UseCaseError
from gputop.machine.files.walk import program
from gputop.wire.ssh.command import Remote


def reached(host: str) -> Remote:
    """Return the way to a host. Raises UseCaseError without ssh, or if root could not trust it."""
    ssh = program("ssh", os.environ)
    if ssh is None:
        raise UseCaseError(NO_DRIVER, "--host needs the program ssh on the PATH. Install openssh-client")
    return Remote(ssh=ssh, host=host)
