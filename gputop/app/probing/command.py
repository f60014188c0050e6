"""The command: what it needs, one run of the probe, and where its report goes."""

import os
import sys
from typing import Final

from gputop.app.backend.operations.read_only import read_only_control
from gputop.app.errors import OK, UseCaseError
from gputop.app.interrupts import interrupt_at_end_of_stdin, interruptible
from gputop.app.output_file import write_file
from gputop.app.probing.json_observer import JsonObserver
from gputop.app.probing.request import ProbeRequest
from gputop.app.probing.run import probe
from gputop.app.probing.terminal_observer import TerminalObserver
from gputop.app.terminal import print_json, warn
from gputop.core.plugins.tables import PROBES
from gputop.core.probing.result import ProbeReport
from gputop.report.grid import look
from gputop.report.probe import report as text_of
from gputop.wire.encoder import encode

_ERROR: Final = 3
_NO_PROBE: Final = (
    "no tests are installed: they are a plugin. From a checkout of gputop: pip install ./plugins/cuda-probe. "
    "To list the plugins: gputop plugins"
)


def list_tests() -> None:
    """Print the tests of all probes."""
    _check_installed()
    for one in PROBES:
        for test in one.tests:
            levels = ", ".join(f"{level.value} {seconds:g} s" for level, seconds in test.seconds.items())
            print(f"{test.key:20}  {test.question}  ({levels})")


def run_probe(request: ProbeRequest) -> int:
    """Test the devices, print or write the report, and return the exit status."""
    _check_installed()
    shut = read_only_control(is_read_only=request.read_only, notify=warn)
    if shut is not None:
        raise UseCaseError(_ERROR, f"{shut.detail}, so no test runs. {shut.remedy}")
    if request.is_controlled:
        interrupt_at_end_of_stdin()
    observer = JsonObserver(sys.stdout.buffer) if request.is_controlled else TerminalObserver(sys.stderr)
    with interruptible():
        report = probe(request, observer)
    written = OK if request.is_controlled else _deliver(report, request)
    return report.exit_status or written


def _check_installed() -> None:
    if not PROBES:
        raise UseCaseError(_ERROR, _NO_PROBE)


def _deliver(report: ProbeReport, request: ProbeRequest) -> int:
    """Write the files, and print the text unless the JSON goes to standard output. Return the status of the files."""
    status = OK
    if request.junit:
        from gputop.report.junit import junit

        status = write_file(request.junit, junit(report, is_strict=request.is_strict))
    if request.json == "-":
        print_json(report)
        return status
    if request.json:
        status = write_file(request.json, encode(report)) or status
    questions = {test.key: test.question for test in request.probe.tests}
    print(text_of(report, questions, *look(sys.stdout, os.environ)))
    return status
