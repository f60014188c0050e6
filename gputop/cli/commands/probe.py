"""gputop probe: test GPUs: exact results, memory, speed, steady load."""

import argparse
import os
import sys
from collections.abc import Callable
from typing import Final

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.read_only import read_only_control
from gputop.app.interrupts import interrupt_at_end_of_stdin, interruptible
from gputop.app.probing.devices import Devices, open_devices
from gputop.app.probing.files import write_file
from gputop.app.probing.json_observer import JsonObserver
from gputop.app.probing.request import ProbeRequest
from gputop.app.probing.run import probe
from gputop.cli.args.exits import OK, USAGE, fail, warn
from gputop.cli.args.options import add_ending, add_place, duration, seconds
from gputop.cli.args.parser import Parser
from gputop.cli.commands.probe_progress import TerminalProgress
from gputop.core.model.metric import Unit
from gputop.core.model.quantity import expected, quantity
from gputop.core.plugins.tables import PROBES
from gputop.core.probing.limits import Ceiling
from gputop.core.probing.probe import Level, Probe
from gputop.core.probing.result import ProbeReport
from gputop.core.query.selection import Selection

_ERROR: Final = 3
_MOST_MEMORY: Final = 0.95
_MEMORY: Final = 0.9
_QUICK_MEMORY: Final = 0.25
_MOST_BUSBW: Final = 1e6
_NO_PROBE: Final = (
    "no tests are installed: they are a plugin. From a checkout of gputop: pip install ./plugins/cuda-probe. "
    "To list the plugins: gputop plugins"
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE
    parser.description = (
        "Test GPUs in parallel, with a program that a plugin provides. GPUs in use are refused. "
        "gputop changes no GPU setting and ends only processes that it started itself."
    )
    parser.add_argument(
        "tests", nargs="*", metavar="TEST", help="only these tests, such as gemm.bf16 or memory (--list shows all)"
    )
    levels = [level.value for level in Level]
    parser.add_argument(
        "--level", choices=levels, default="standard", metavar="LEVEL",
        help=f"how thorough: {', '.join(levels)} (default standard)",
    )  # fmt: skip
    parser.add_argument(
        "--time", type=duration, metavar="DURATION", help="time limit of the whole run, such as 90s, 2h"
    )
    parser.add_argument(
        "--mem",
        type=_memory,
        metavar="SIZE",
        help="memory to test: 8GiB, or a share of free memory (default 90%%, quick 25%%)",
    )
    _add_results(parser)
    parser.add_argument(
        "--min-busbw",
        type=_busbw,
        metavar="GB/S",
        help="minimum all-reduce bandwidth of all GPUs, by nccl-tests' formula",
    )
    parser.add_argument("--python", metavar="PYTHON", help="the Python with torch (default: the first one found)")
    _add_manner(parser)
    parser.add_argument("--control", action="store_true", help="report progress as JSON lines; stop when stdin closes")
    parser.add_argument("--list", action="store_true", help="print the tests and exit")
    add_place(parser, repeats=False)
    add_ending(
        parser,
        "gputop probe --level quick -i 0,1",
        "gputop probe gemm.bf16 memory --json - | jq .status",
        status="of the worst GPU: 0 pass, 1 warnings or unclear, 2 fail, 3 error, 4 refused because it is in use, 5"
        " nothing was tested, 64 bad options, 130 stopped",
    )


def _add_manner(parser: argparse.ArgumentParser) -> None:
    """Add the options of the tests."""
    parser.add_argument("--device", type=_device, metavar="cpu:N", help="test N CPUs instead of GPUs, to try it out")
    parser.add_argument("--serial", action="store_true", help="test one device after another, not in parallel")
    _add_ceilings(parser)
    parser.add_argument("--force", action="store_true", help="test GPUs even if they are in use")
    parser.add_argument("--strict", action="store_true", help="count warnings and skipped tests as failures")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the random numbers (default 1)")
    parser.add_argument(
        "--patience",
        type=seconds(1.0),
        default=30.0,
        metavar="SECONDS",
        help="how long a test may stay silent before gputop ends it (default 30)",
    )


def _add_ceilings(parser: argparse.ArgumentParser) -> None:
    """Add the limits that stop the load of a GPU."""
    parser.add_argument(
        "--max-temp", type=_ceiling("°C", 120.0), metavar="CELSIUS",
        help="stop loading a GPU that gets hotter than this, and fail its test",
    )  # fmt: skip
    parser.add_argument(
        "--max-power", type=_ceiling("W", 10_000.0), metavar="WATTS",
        help="stop loading a GPU that draws more than this, and fail its test; its power limit is unchanged",
    )  # fmt: skip


def _add_results(parser: argparse.ArgumentParser) -> None:
    """Add the options of the results and their comparison."""
    parser.add_argument("--json", metavar="FILE", help="write all results as JSON to this file; - for standard output")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML to this file")
    parser.add_argument(
        "--baseline", choices=("save", "compare"), metavar="WHAT",
        help="save: keep the figures of this run; compare: compare with the saved ones",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Test the devices, and print or write the report."""
    if not PROBES:
        fail(_ERROR, _NO_PROBE)
    if options.list:
        _print_tests()
        return OK
    shut = read_only_control(is_read_only=options.read_only, notify=warn)
    if shut is not None:
        fail(_ERROR, f"{shut.detail}, so no test runs. {shut.remedy}")
    if options.control:
        interrupt_at_end_of_stdin()
    observer = JsonObserver(sys.stdout.buffer) if options.control else TerminalProgress(sys.stderr)
    with interruptible():
        report = probe(_request(options, PROBES[0]), lambda: _devices(options), os.environ, observer)
    if not options.control:
        _deliver(report, options.json, options.junit, is_strict=options.strict)
    return report.exit_status


def _request(options: argparse.Namespace, one: Probe) -> ProbeRequest:
    share, most_bytes = options.mem or (_QUICK_MEMORY if options.level == Level.QUICK.value else _MEMORY, None)
    return ProbeRequest(
        probe=one, level=Level(options.level), tests=tuple(options.tests), time_s=options.time, memory_share=share,
        memory_bytes=most_bytes, python=options.python, cpus=options.device, seed=options.seed,
        is_forced=options.force, is_strict=options.strict, is_serial=options.serial, patience_s=options.patience,
        baseline=options.baseline, min_busbw=options.min_busbw, arguments=tuple(sys.argv[1:]),
        ceiling=Ceiling(temperature_c=options.max_temp, power_w=options.max_power),
    )  # fmt: skip


def _devices(options: argparse.Namespace) -> Devices:
    """Return the CPUs or the GPUs of the options."""
    gpus = Selection(gpus=tuple(word for group in options.gpu or () for word in group))
    return open_devices(BackendRequest(demo=options.demo, selection=gpus), options.device)


def _deliver(report: ProbeReport, json: str | None, junit_file: str | None, *, is_strict: bool) -> None:
    """Write the files, and print the text unless the JSON goes to standard output."""
    from gputop.report.grid import look
    from gputop.report.probe import report as text_of
    from gputop.wire.encoder import encode

    if junit_file:
        from gputop.report.junit import junit

        _write(junit_file, junit(report, is_strict=is_strict))
    if json == "-":
        sys.stdout.buffer.write(encode(report))
        return
    if json:
        _write(json, encode(report))
    room, style = look(sys.stdout, os.environ)
    print(text_of(report, {test.key: test.question for test in PROBES[0].tests}, room, style))


def _write(path: str, content: bytes) -> None:
    try:
        write_file(path, content)
    except OSError as error:
        warn(f"{path}: {error.strerror}")


def _print_tests() -> None:
    for one in PROBES:
        for test in one.tests:
            levels = ", ".join(f"{level.value} {seconds:g} s" for level, seconds in test.seconds.items())
            print(f"{test.key:20}  {test.question}  ({levels})")


def _memory(text: str) -> tuple[float, int | None]:
    """Read 90% as a share of free memory, 8GiB as a limit in bytes."""
    share = quantity(text, Unit.PERCENT) if text.endswith("%") else None
    if share is not None and 0 < share <= _MOST_MEMORY * 100:
        return share / 100, None
    size = None if text.endswith("%") else quantity(text, Unit.BYTES)
    if not size or size <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a share up to 95% nor {expected(Unit.BYTES)}")
    return _MOST_MEMORY, int(size)


def _ceiling(unit: str, most: float) -> Callable[[str], float]:
    """Return a reader of a number with a unit."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number of {unit} up to {most:g}")
        return value

    return read


def _busbw(text: str) -> float:
    """Read GB/s as bytes per second."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < _MOST_BUSBW:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of GB/s")
    return value * 1e9


def _device(text: str) -> int:
    """Read cpu, cpu:2 as a number of CPUs."""
    kind, _, count = text.partition(":")
    if kind != "cpu" or not (count or "1").isdecimal() or not 1 <= int(count or "1") <= 16:
        raise argparse.ArgumentTypeError(f"{text!r} is not cpu or cpu:N, with N from 1 to 16")
    return int(count or "1")
