"""Screen of several hosts: a row for each, and the whole screen of the one that the user opens."""

import os
import sys
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from gputop.app.errors import OK, UNKNOWN, BadRequestError, UseCaseError
from gputop.app.fleet.request import FleetRequest
from gputop.app.monitoring.screen import ScreenRequest, configured, has_terminal, sampler_arguments
from gputop.app.remote.hosts import MOST_HOSTS, SshReader
from gputop.app.remote.screen import show_remote_screen
from gputop.app.terminal import warn

_EVERY_S: Final = 2.0
_SORTS: Final = ("host", "gpus")


def show_hosts(request: ScreenRequest, names: Sequence[str]) -> int:
    """Show the hosts until the user quits, or print them once without a terminal; return the exit status."""
    if len(names) > MOST_HOSTS:
        raise BadRequestError(f"--host takes at most {MOST_HOSTS} hosts. For more: gputop fleet")
    _, settings = configured(request)
    every_s = request.backend.interval_s or _EVERY_S
    reader = SshReader(names, sampler_arguments(request.backend, replace(settings, interval_s=every_s)))
    try:
        if not has_terminal():
            return _printed(reader)
        _shown(reader, request, every_s)
    finally:
        reader.close()
    return OK


def _shown(reader: SshReader, request: ScreenRequest, every_s: float) -> None:
    """Show the rows, and the host that the user opens, until the user quits the rows."""
    from gputop.app.fleet.screen import show_reader

    while host := show_reader(reader, FleetRequest(interval_s=every_s), (), _SORTS, opens_hosts=True):
        while host:
            host = _show_one(reader, request, host)


def _show_one(reader: SshReader, request: ScreenRequest, host: str) -> str:
    """Show the screen of a host until the user leaves it; return the next host, or an empty text for the rows.

    If it cannot be reached, say why and wait for Enter.
    """
    steps: list[int] = []
    try:
        show_remote_screen(request, host, steps.append)
    except UseCaseError as error:
        warn(str(error))
        print("Enter shows the hosts again.", file=sys.stderr, flush=True)
        sys.stdin.readline()
    names = [each.name for each in reader.read().hosts if each.gpus or each.name == host]
    return names[(names.index(host) + steps[0]) % len(names)] if steps else ""


def _printed(reader: SshReader) -> int:
    from gputop.report.fleet import table
    from gputop.report.grid import look

    reader.wait()
    fleet = reader.read()
    print(table(fleet, *look(sys.stdout, os.environ)))
    return OK if any(host.gpus for host in fleet.hosts) else UNKNOWN
