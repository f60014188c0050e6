"""A command on many hosts as one step of Slurm, which runs now or not at all."""

import os
from typing import Final

from gputop.app.errors import NO_DRIVER, UseCaseError
from gputop.app.interrupts import interruptible
from gputop.core.hosts.result import HostResult
from gputop.core.hosts.slurm_step import SlurmStep, gathered
from gputop.core.text.text import excerpt
from gputop.machine.bounded_run import run_bounded
from gputop.machine.files.walk import program

_WAIT_S: Final = 60  # for the hosts to be free
_GRACE_S: Final = 10.0  # for srun to end the step
_MOST_BYTES: Final = 256 << 20


def by_srun(step: SlurmStep) -> list[HostResult]:
    """Run a step, and return the result of each host. Raises UseCaseError without srun."""
    srun = program("srun", os.environ)
    if srun is None:
        raise UseCaseError(NO_DRIVER, "there is no program srun on the PATH. On a cluster without Slurm: --over ssh")
    words = [srun, *step.srun(_WAIT_S)[1:]]
    limit_s = _WAIT_S + step.limit_s + _GRACE_S
    try:
        with interruptible():
            ran = run_bounded(words, limit_s, _MOST_BYTES, os.environ, grace_s=_GRACE_S)
    except OSError as error:
        raise UseCaseError(NO_DRIVER, f"srun cannot be started: {error.strerror}") from None
    return gathered(step.hosts, ran.out.splitlines(), _why(ran.err, ran.excess, ran.status))


def _why(err: bytes, excess: str, status: int | None) -> str:
    """Return why a host has no result. The first line of srun says it; those after it are of its end."""
    if excess:
        return f"srun {excess}"
    lines = [line for line in err.decode(errors="replace").splitlines() if line.startswith("srun: ")]
    wrong = [line for line in lines if "error" in line] or lines
    return excerpt(wrong[0]) if wrong else f"it sent no result; srun ended with status {status}"
