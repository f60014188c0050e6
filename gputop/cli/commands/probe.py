"""gputop probe: test GPUs: correct results, memory, speed, sustained load."""

import argparse
from collections.abc import Callable
from typing import Final

from gputop.app.errors import OK, BadRequestError
from gputop.app.hosts.request import HostsRequest
from gputop.app.hosts.run import run_on_hosts
from gputop.app.probing.command import list_tests, run_probe
from gputop.app.probing.request import ProbeRequest
from gputop.cli.args.hosts import add_hosts, check_alone, words_there
from gputop.cli.args.options import add_ending, add_place, duration, seconds
from gputop.cli.args.parser import USAGE, Parser
from gputop.cli.args.requests import request_of
from gputop.core.model.metric import Unit
from gputop.core.model.quantity import expected, quantity
from gputop.core.probing.probe import Level
from gputop.core.text.text import excerpt

_DESCRIPTION: Final = (
    "Test GPUs in parallel, with a program that a plugin provides. gputop refuses to test GPUs in use. "
    "gputop changes no GPU setting and ends only processes that it started itself."
)
_MOST_MEMORY: Final = 0.95
_MOST_BUSBW: Final = 1e6
_LIMIT_S: Final = 7200.0  # of a host


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE
    parser.description = _DESCRIPTION
    _add_what(parser)
    _add_results(parser)
    parser.add_argument(
        "--min-busbw", type=_busbw, metavar="GB/S", help="minimum all-reduce bus bandwidth (busbw of nccl-tests)"
    )
    parser.add_argument(
        "--python", metavar="PYTHON", help="the Python interpreter that has torch (default: the first one found)"
    )
    _add_manner(parser)
    parser.add_argument(
        "--control", dest="is_controlled", action="store_true",
        help="report progress as JSON lines; stop when stdin closes",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the tests and exit")
    add_place(parser, repeats=False)
    add_hosts(parser, limit="2h")
    add_ending(
        parser,
        "gputop probe --level quick -i 0,1",
        "gputop probe gemm.bf16 memory --json - | jq .status",
        "gputop probe --hosts slurm:gpu --batch --level quick > probe.sh",
        status="(of the worst GPU) 0 pass, 1 warnings or unclear, 2 fail, 3 error, 4 refused because it is in use, 5"
        " nothing was tested, 64 bad options, 130 stopped; of many hosts the worst one, and 3 for a host without a"
        " result",
    )


def _add_what(parser: argparse.ArgumentParser) -> None:
    """Add the tests, and how much of them."""
    parser.add_argument(
        "tests", nargs="*", metavar="TEST", help="only these tests, such as gemm.bf16 or memory (--list shows all)"
    )
    levels = [level.value for level in Level]
    parser.add_argument(
        "--level", choices=levels, default="standard", metavar="LEVEL",
        help=f"how thorough: {', '.join(levels)} (default standard)",
    )  # fmt: skip
    parser.add_argument(
        "--time", dest="time_s", type=duration, metavar="DURATION", help="time limit of the whole run, such as 90s, 2h"
    )
    parser.add_argument(
        "--mem", dest="memory", type=_memory, metavar="SIZE",
        help="memory to test: 8GiB, or a share of free memory (default 90%%, quick 25%%)",
    )  # fmt: skip


def _add_manner(parser: argparse.ArgumentParser) -> None:
    """Add the options of the tests."""
    parser.add_argument(
        "--device", dest="cpus", type=_device, metavar="cpu:N", help="test N CPUs instead of GPUs, to try the command"
    )
    parser.add_argument(
        "--serial", dest="is_serial", action="store_true", help="test one device after another, not in parallel"
    )
    _add_ceilings(parser)
    parser.add_argument("--force", dest="is_forced", action="store_true", help="test GPUs even if they are in use")
    parser.add_argument(
        "--strict", dest="is_strict", action="store_true", help="count warnings and skipped tests as failures"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the random numbers (default 1)")
    parser.add_argument(
        "--patience",
        dest="patience_s",
        type=seconds(1.0),
        default=30.0,
        metavar="SECONDS",
        help="how long a test may stay silent before gputop ends it (default 30)",
    )


def _add_ceilings(parser: argparse.ArgumentParser) -> None:
    """Add the limits that stop the load of a GPU."""
    parser.add_argument(
        "--max-temp", dest="temperature_c", type=_ceiling("°C", 120.0), metavar="CELSIUS",
        help="if a GPU gets hotter than this, stop its test and count it as failed",
    )  # fmt: skip
    parser.add_argument(
        "--max-power", dest="power_w", type=_ceiling("W", 10_000.0), metavar="WATTS",
        help="if a GPU draws more than this, stop its test and count it as failed; its power limit does not change",
    )  # fmt: skip


def _add_results(parser: argparse.ArgumentParser) -> None:
    """Add the options of the results and their comparison."""
    parser.add_argument("--json", metavar="FILE", help="write all results as JSON to this file; - for standard output")
    parser.add_argument("--junit", metavar="FILE", help="write JUnit XML to this file")
    parser.add_argument(
        "--baseline", choices=("save", "compare"), metavar="WHAT",
        help="save: save the results of this run; compare: compare with the saved results",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Test the devices, and print or write the report."""
    if options.list:
        list_tests()
        return OK
    if options.hosts is None:
        check_alone(options)
        return run_probe(request_of(options, ProbeRequest))
    for name, value in (("--junit", options.junit), ("--control", options.is_controlled)):
        if value:
            raise BadRequestError(f"{name} cannot be combined with --hosts")
    there = {
        "command": "probe",
        "words": words_there(options.words, "probe", {"--json": True}, instead=["--json", "-"]),
        "limit_s": options.limit_s or _LIMIT_S,
    }
    return run_on_hosts(request_of(argparse.Namespace(**vars(options) | there), HostsRequest))


def _memory(text: str) -> tuple[float, int | None]:
    """Read 90% as a share of free memory, 8GiB as a limit in bytes."""
    share = quantity(text, Unit.PERCENT) if text.endswith("%") else None
    if share is not None and 0 < share <= _MOST_MEMORY * 100:
        return share / 100, None
    size = None if text.endswith("%") else quantity(text, Unit.BYTES)
    if not size or size <= 0:
        raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is neither a share up to 95% nor {expected(Unit.BYTES)}")
    return _MOST_MEMORY, int(size)


def _ceiling(unit: str, most: float) -> Callable[[str], float]:
    """Return a reader of a number with a unit."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value <= most:
            raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a number of {unit} up to {most:g}")
        return value

    return read


def _busbw(text: str) -> float:
    """Read GB/s as bytes per second."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < _MOST_BUSBW:
        raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not a number of GB/s")
    return value * 1e9


def _device(text: str) -> int:
    """Read cpu, cpu:2 as a number of CPUs."""
    kind, _, count = text.partition(":")
    if kind != "cpu" or not (count or "1").isdecimal() or not 1 <= int(count or "1") <= 16:
        raise argparse.ArgumentTypeError(f"{excerpt(text)!r} is not cpu or cpu:N, with N from 1 to 16")
    return int(count or "1")
