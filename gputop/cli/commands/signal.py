"""gputop signal: send a signal to processes on GPUs."""

import argparse

from gputop.app.control.changes import SignalRequest, send_signal
from gputop.cli.args.options import seconds
from gputop.cli.args.processes import add_choice, named_pids
from gputop.cli.args.requests import backend_request, filters
from gputop.cli.terminal import TerminalPerson
from gputop.core.protocol.signals import signal_name


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("signal", type=_signal, metavar="SIGNAL", help="signal name or number: SIGTERM, TERM or 15")
    parser.add_argument(
        "--escalate", type=seconds(0), metavar="SECONDS",
        help="wait this long for the processes to exit, then ask again and send SIGKILL to those left",
    )  # fmt: skip
    add_choice(
        parser,
        "gputop signal SIGTERM --where 'user:ann sm<5 time>2h' --dry-run",
        "gputop signal SIGTERM --pid 4711 --escalate 10",
    )
    parser.description = "List the selected GPU processes, ask, and send them a signal."


def run(options: argparse.Namespace) -> int:
    """List, ask, send."""
    request = SignalRequest(
        backend=backend_request(options), where=filters(options), pids=named_pids(options), is_dry=options.dry_run,
        signal=options.signal, escalate_s=options.escalate,
    )  # fmt: skip
    return send_signal(request, TerminalPerson(is_sure=options.yes))


def _signal(text: str) -> str:
    try:
        return signal_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
