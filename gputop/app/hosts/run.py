"""A command on many hosts: by ssh on a handful, by srun on a cluster with Slurm. A table shows the hosts that fail."""

import os
import sys
from typing import Final

from gputop.app.errors import OK, BadRequestError
from gputop.app.fleet.host_names import host_names
from gputop.app.hosts.request import HostsRequest
from gputop.app.output_file import write_file
from gputop.app.terminal import print_json
from gputop.core.hosts.result import HostResult, HostResults, results_of
from gputop.core.hosts.slurm_step import SlurmStep, gathered
from gputop.core.text.text import clean
from gputop.machine.files.walk import program
from gputop.wire.encoder import encode

SSH: Final = "ssh"
SRUN: Final = "srun"
_MOST_BYTES: Final = 256 << 20


def run_on_hosts(request: HostsRequest) -> int:
    """Run the command, or print its batch script, and return the worst exit status."""
    hosts = host_names(request.hosts)
    step = SlurmStep(
        command=request.command, hosts=hosts, words=request.words, limit_s=request.limit_s, options=request.slurm
    )
    if request.is_batch:
        print(step.script(), end="")
        return 0
    results = results_of(request.command, _results(request, step))
    written = _deliver(results, request.json)
    return results.status or written


def _results(request: HostsRequest, step: SlurmStep) -> list[HostResult]:
    if request.results is not None:
        return _read(request.results, step)
    if (request.over or (SRUN if program(SRUN, os.environ) else SSH)) == SRUN:
        from gputop.app.hosts.by_srun import by_srun

        return by_srun(step)
    from gputop.app.hosts.by_ssh import by_ssh

    return by_ssh(step.hosts, step.words, step.limit_s)


def _read(path: str, step: SlurmStep) -> list[HostResult]:
    """Return the results that a batch script wrote."""
    try:
        with open(path, "rb") as opened:
            lines = opened.read(_MOST_BYTES).splitlines()
    except OSError as error:
        raise BadRequestError(f"{clean(path)}: {error.strerror}") from None
    return gathered(step.hosts, lines, "it has no result in this file")


def _deliver(results: HostResults, json: str | None) -> int:
    """Print the results, and return the exit status of the file with all of them."""
    if json == "-":
        print_json(results)
        return OK
    status = write_file(json, encode(results)) if json else OK
    from gputop.report.grid import look
    from gputop.report.hosts import hosts_table

    print(hosts_table(results, *look(sys.stdout, os.environ)))
    return status
