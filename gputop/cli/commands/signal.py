"""gputop signal: send a signal to processes on GPUs."""

import argparse

from gputop.app.control.changes import SignalRequest, send_signal
from gputop.cli.args.options import seconds
from gputop.cli.args.processes import add_choice
from gputop.cli.args.requests import request_of
from gputop.core.protocol.signals import signal_name


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("signal", type=_signal, metavar="SIGNAL", help="signal name or number: SIGTERM, TERM or 15")
    parser.add_argument(
        "--escalate", dest="escalate_s", type=seconds(0), metavar="SECONDS",
        help="wait this long for the processes to exit, then ask again and send SIGKILL to those left",
    )  # fmt: skip
    add_choice(
        parser,
        "gputop signal SIGTERM --where 'user:ann sm<5 time>2h' --dry-run",
        "gputop signal SIGTERM --pid 4711 --escalate 10",
    )
    parser.description = "List the selected GPU processes, ask for confirmation, and send them a signal."


def run(options: argparse.Namespace) -> int:
    """List, ask, send."""
    return send_signal(request_of(options, SignalRequest))


def _signal(text: str) -> str:
    try:
        return signal_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
