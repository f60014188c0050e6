"""gputop inspect: all that is known about one process."""

import argparse
import sys
import time
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.cli.args.exits import BAD_INPUT, OK, fail
from gputop.cli.args.options import USUAL_INTERVAL_S, add_demo, add_ending, seconds, whole
from gputop.cli.backend.questions import opened_lookout
from gputop.core.inspection.inspection import Inspection
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Gpu, GpuProcess
from gputop.core.protocol.command import Inspect
from gputop.core.query.selection import Selection

_NOTHING: Final = 4  # as where a signal reached nobody
_WAIT_S: Final = 1.0


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("pid", type=whole(1), metavar="PID", help="of any process, on a GPU or not")
    parser.add_argument("--json", action="store_true", help="one line of JSON, with the reason where a part is missing")
    parser.add_argument(
        "--reveal", action="store_true", help="show secrets in its environment, which are masked otherwise"
    )
    parser.add_argument(
        "--wait", type=seconds(0), default=_WAIT_S, metavar="SECONDS",
        help="time between the two readings that rates need (default 1); 0: one reading, no rates",
    )  # fmt: skip
    add_demo(parser)
    add_ending(
        parser, "gputop inspect 4711 --json | jq .limits", status="0 done, 2 bad input, 4 there is no such process"
    )


def run(options: argparse.Namespace) -> int:
    """Look, and once more where there are rates to be told; print."""
    try:
        look = opened_lookout(options)
        first = look(Inspect(id="", pid=options.pid, reveal=options.reveal))
    except ValueError as error:
        fail(BAD_INPUT, str(error))
    gpus = _gpus(ProcessId(first.pid, first.start_ticks), getattr(options, "demo", None), options.wait)
    found = first
    if gpus.uses and options.wait and not first.problem:
        found = look(Inspect(id="", pid=first.pid, start_ticks=first.start_ticks, reveal=options.reveal))
    found = replace(found, gpus=gpus.uses, gpu_notes=gpus.notes)
    if options.json:
        sys.stdout.buffer.write(_json(found))
    elif found.problem:
        fail(_NOTHING, _problem(found, gpus.present))
    else:
        sys.stdout.buffer.write(_text(found, first, gpus.present))
    return _NOTHING if found.problem else OK


class _Gpus(Struct, frozen=True):
    """What the process uses of the GPUs, what is not known of that, and all GPUs that there are."""

    uses: tuple[GpuProcess, ...] = ()
    notes: tuple[str, ...] = ()
    present: tuple[Gpu, ...] = ()


def _gpus(who: ProcessId, demo: str | None, wait_s: float) -> _Gpus:
    from gputop.cli.backend.monitoring import machine
    from gputop.core.processes.gpu_use import uses_of
    from gputop.machine.nvml.driver import NoDriverError

    try:
        source = machine(Selection(), USUAL_INTERVAL_S, demo, is_once=True)
        source.open()
    except NoDriverError as error:
        return _Gpus(notes=(str(error),))
    sample = source.read()
    if wait_s and any(process.id == who for process in sample.processes):
        time.sleep(wait_s)
        sample = source.read()
    uses, notes = uses_of(sample, who)
    return _Gpus(uses, notes, sample.gpus)


def _problem(found: Inspection, gpus: tuple[Gpu, ...]) -> str:
    """Return why there is nothing to be told; if the driver lists the pid all the same, what it holds."""
    from gputop.core.inspection.text import uses

    rows = (
        [f"{row.label}: {row.text}" if row.label else row.text for row in uses(found, gpus).rows] if found.gpus else []
    )
    return "\n  ".join([f"{found.pid}: {found.problem}", *rows])


def _json(found: Inspection) -> bytes:
    from gputop.wire.encoder import encode

    return encode(found)


def _text(found: Inspection, first: Inspection, gpus: tuple[Gpu, ...]) -> bytes:
    from gputop.core.inspection.text import lines

    text = "".join(f"{line}\n" for line in lines(found, first, gpus))
    return text.encode(sys.stdout.encoding or "utf-8", sys.stdout.errors or "replace")
