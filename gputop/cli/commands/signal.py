"""gputop signal: send a signal to processes on GPUs."""

import argparse
import time

from gputop.cli.args.options import seconds
from gputop.cli.commands.escalate import Escalation
from gputop.cli.commands.process_change import add_choice, carry_out, new_id
from gputop.core.model.sample import HostProcess
from gputop.core.protocol.command import Change, SendSignal
from gputop.core.protocol.signals import signal_name
from gputop.core.protocol.targets import targets


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("signal", type=_signal, metavar="SIGNAL", help="its name or number: SIGTERM, TERM or 15")
    parser.add_argument(
        "--escalate", type=seconds(0), metavar="SECONDS",
        help="wait so long for them to end, then ask again and send SIGKILL to those that are left",
    )  # fmt: skip
    add_choice(
        parser,
        "gputop signal SIGTERM --where 'user:ann sm<5 time>2h' --dry-run",
        "gputop signal SIGTERM --pid 4711 --escalate 10",
    )
    parser.description = "List the processes on GPUs that are meant, ask, and send them a signal."


def run(options: argparse.Namespace) -> int:
    """List, ask, send."""
    act = None if options.escalate is None else Escalation(options.escalate, time.monotonic, time.sleep).run

    def make(processes: tuple[HostProcess, ...]) -> Change:
        return SendSignal(id=new_id(), signal=options.signal, targets=targets(processes))

    return carry_out(options, make, act)


def _signal(text: str) -> str:
    try:
        return signal_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
