"""gputop pick: the freest GPUs, for CUDA_VISIBLE_DEVICES."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from typing import Final

from gputop.cli.args.exits import BAD_INPUT, OK, fail
from gputop.cli.args.options import USUAL_INTERVAL_S, add_ending, add_json, add_place, whole
from gputop.cli.backend.monitoring import opened
from gputop.core.model.metric import Unit
from gputop.core.model.quantity import expected, quantity
from gputop.core.model.sample import Frame
from gputop.core.monitor import Monitor
from gputop.core.query.pick import Pick, Wish, pick
from gputop.core.text.text import clean

NOT_ENOUGH: Final = 1
_NOT_STARTED: Final = {True: 127, False: 126}  # as of a shell: not found, cannot be run
_FORMATS: Final = ("env", "index", "uuid", "json")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Name the freest GPUs: most free memory first (by the GiB), then least utilization (the higher of two"
        " readings), then fewest processes. Lost and hung GPUs are never named.\nThey are free now and not reserved:"
        " a process that has started and holds no memory yet cannot be seen, nor can another gputop pick at the same"
        " moment."
    )
    add_ending(
        parser,
        "gputop pick -n 2 --min-free 20GiB --wait --exec python train.py",
        "env $(gputop pick) python train.py",
        status="0 found, 1 there are not enough (why is on standard error), 2 bad input, 3 no driver; with --exec"
        " that of the command",
    )
    parser.add_argument("-n", "--count", type=whole(1), default=1, metavar="N", help="how many (default 1)")
    parser.add_argument(
        "--min-free",
        type=_measured(Unit.BYTES),
        default=0.0,
        metavar="SIZE",
        help="memory that must be free on each, such as 20GiB",
    )
    parser.add_argument(
        "--max-util",
        type=_measured(Unit.PERCENT),
        metavar="PERCENT",
        help="utilization that none may exceed, such as 10",
    )
    parser.add_argument("--mig", action="store_true", help="name MIG instances too; a process can use only one of them")
    parser.add_argument("--wait", action="store_true", help="look again every interval until there are enough")
    parser.add_argument(
        "--format", choices=_FORMATS, default="env", metavar="FORMAT",
        help="env (default: CUDA_VISIBLE_DEVICES=…), uuid, json, or index: that of nvidia-smi, which CUDA shares with"
        " CUDA_DEVICE_ORDER=PCI_BUS_ID only",
    )  # fmt: skip
    add_json(parser)
    parser.add_argument(
        "--exec", nargs=argparse.REMAINDER, metavar="COMMAND", default=argparse.SUPPRESS,
        help="print nothing and run this command with CUDA_VISIBLE_DEVICES set; must come last",
    )  # fmt: skip
    add_place(parser)


def run(options: argparse.Namespace) -> int:
    """Look twice, or until there are enough; print, or become the command."""
    _check(options)
    wish = Wish(
        count=options.count,
        min_free_bytes=options.min_free,
        max_utilization_percent=options.max_util,
        with_instances=options.mig,
    )
    interval_s = options.interval or USUAL_INTERVAL_S
    found = look(Monitor(opened(options, is_once=True)).step, wish, lambda: time.sleep(interval_s), waits=options.wait)
    if not found.chosen:
        if options.format == "json" and options.command is None:
            print(_text(found, "json"))
        print(_in_the_way(found, wish), file=sys.stderr)
        return NOT_ENOUGH
    if options.command is not None:
        return _become(options.command, found)
    print(_text(found, options.format))
    return OK


def look(step: Callable[[], Frame], wish: Wish, pause: Callable[[], None], *, waits: bool) -> Pick:
    """Read twice and choose; with ``waits`` go on until there are enough, having said once what is in the way."""
    before = step()
    has_said = False
    while True:
        pause()
        now = step()
        found = pick(before, now, wish)
        if found.chosen or not waits:
            return found
        if not has_said:
            print(f"{_in_the_way(found, wish)}\ngputop: waiting", file=sys.stderr, flush=True)
            has_said = True
        before = now


def _check(options: argparse.Namespace) -> None:
    if options.command is not None:
        if options.command[:1] == ["--"]:
            del options.command[0]
        if not options.command:
            fail(BAD_INPUT, "--exec needs a command")
    if options.user or options.only_compute or options.where:
        fail(BAD_INPUT, "pick counts all processes: --user, --only-compute and --where cannot be used with it")


def _text(found: Pick, form: str) -> str:
    if form == "json":
        import msgspec

        return msgspec.json.encode(found).decode()
    if form == "index":
        return ",".join(one.place for one in found.chosen)
    return ("CUDA_VISIBLE_DEVICES=" if form == "env" else "") + _uuids(found)


def _uuids(found: Pick) -> str:
    return ",".join(one.uuid for one in found.chosen)


def _in_the_way(found: Pick, wish: Wish) -> str:
    none = "" if found.suitable or found.obstacles else ": the driver lists none"
    lines = [f"gputop: {found.suitable} of {wish.count} GPUs found{none}"]
    return "\n".join([*lines, *(f"  GPU {one.place}: {one.reason}" for one in found.obstacles)])


def _become(command: list[str], found: Pick) -> int:
    """Replace this process by the command. Returns only where that fails, with the status that a shell would give."""
    import signal

    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and a command would inherit that
        signal.signal(ignored, signal.SIG_DFL)
    chosen = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID", "CUDA_VISIBLE_DEVICES": _uuids(found)}
    sys.stdout.flush()
    try:
        os.execvpe(command[0], command, os.environ | chosen)  # noqa: S606 - to become it is what was asked for
    except OSError as error:
        print(f"gputop: cannot run {clean(command[0])}: {error.strerror}", file=sys.stderr)
        return _NOT_STARTED[isinstance(error, FileNotFoundError)]


def _measured(unit: Unit) -> Callable[[str], float]:
    """Return what reads a number with a unit."""

    def read(text: str) -> float:
        value = quantity(text, unit)
        if value is None or value < 0:
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected(unit)}")
        if unit is Unit.BYTES and value and text[-1].isdecimal():  # nobody means bytes
            raise argparse.ArgumentTypeError(f"{text!r} has no unit: write {text}GiB or {text}MiB")
        return value

    return read
