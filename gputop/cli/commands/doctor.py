"""gputop doctor: the health of this host."""

import argparse
from typing import Final

from gputop.app.hosts.request import HostsRequest
from gputop.app.hosts.run import run_on_hosts
from gputop.app.monitoring.doctor import DoctorRequest, doctor
from gputop.cli.args.hosts import add_hosts, check_alone, words_there
from gputop.cli.args.options import add_demo, add_ending, whole
from gputop.cli.args.parser import USAGE, Parser
from gputop.cli.args.requests import request_of

_LIMIT_S: Final = 60.0  # of a host


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    Parser.usage_status = USAGE  # of all parsers: an unknown option is reported by the outermost one
    parser.add_argument("--json", dest="is_json", action="store_true", help="one line of JSON")
    parser.add_argument(
        "-q", "--quiet", dest="is_quiet", action="store_true", help="print only problems; nothing if there are none"
    )
    parser.add_argument(
        "--expect",
        dest="expected",
        type=whole(0),
        metavar="N",
        help="expected number of GPUs (default: expected_gpus in the configuration file)",
    )
    add_demo(parser, box="dying")
    add_hosts(parser, limit="1m")
    parser.description = (
        "Check the driver, GPUs and configuration of this host, and suggest fixes for problems.\n"
        "gputop only reports: it changes nothing and applies no fix."
    )
    add_ending(
        parser,
        "gputop doctor --expect 8 --quiet",
        "gputop doctor --json | jq -r '.checks[] | select(.severity == \"fail\") | .code'",
        "gputop doctor --hosts 'node[01-08]' --expect 8",
        status="0 healthy, 1 warnings, 2 act now, 3 no GPU to check or a host without a result, 64 bad options; of many"
        " hosts the worst one",
    )


def run(options: argparse.Namespace) -> int:
    """Collect the facts, judge them and print the diagnosis."""
    if options.hosts is None:
        check_alone(options)
        return doctor(request_of(options, DoctorRequest))
    there = {
        "command": "doctor",
        "words": words_there(
            options.words, "doctor", {"--json": False, "--quiet": False, "-q": False}, instead=["--json"]
        ),
        "json": "-" if options.is_json else None,
        "limit_s": options.limit_s or _LIMIT_S,
    }
    return run_on_hosts(request_of(argparse.Namespace(**vars(options) | there), HostsRequest))
