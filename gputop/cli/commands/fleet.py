"""gputop fleet: the GPU hosts that a Prometheus server knows."""

import argparse
from typing import Any, Final

from gputop.app.fleet.configured import configured
from gputop.app.fleet.free import free_hosts
from gputop.app.fleet.request import FleetFreeRequest, FleetRequest
from gputop.app.fleet.show import show
from gputop.cli.args.options import add_ending, add_json, duration, seconds, whole
from gputop.cli.args.requests import request_of

_ABSENT: Final[Any] = argparse.SUPPRESS  # an option before `free` must not be reset by its default there


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options and the subcommand."""
    parser.description = (
        "Show all GPU hosts that a Prometheus server knows: dcgm-exporter's series are enough. Without a server,"
        " --hosts reads exporters directly; this works up to a few hundred hosts."
    )
    _source(parser)
    parser.add_argument(
        "--by",
        default=_ABSENT,
        metavar="WHAT",
        help="groups in place of hosts: user, job, model, server, or a label such as rack",
    )
    parser.add_argument(
        "--sort", default=_ABSENT, metavar="COLUMN",
        help="order of the hosts: host, util, free, power, temp, age …; of groups: gpus, idle …",
    )  # fmt: skip
    parser.add_argument("--reverse", dest="is_reversed", action="store_true", default=_ABSENT, help="reverse the order")
    parser.add_argument(
        "--format", choices=("table", "json", "csv"), default=_ABSENT, metavar="FORMAT",
        help="print once: table, json or csv (default: the screen on a terminal, else a table)",
    )  # fmt: skip
    add_json(parser)
    parser.add_argument(
        "--interval", dest="interval_s", type=seconds(1), default=_ABSENT, metavar="SECONDS",
        help="how often the screen asks (default 15)",
    )  # fmt: skip
    add_ending(
        parser,
        "gputop fleet --prometheus http://prometheus:9090",
        "gputop fleet --demo --where 'model:h100 free>=4' --sort free",
        "gputop fleet --demo --by user --sort idle",
        "gputop fleet --hosts 'node[001-040]' --json",
        "gputop fleet free -n 8 --where model:h100 --prometheus http://prometheus:9090",
        status="0 printed, 2 bad input, 3 no server answered",
    )
    commands = parser.add_subparsers(metavar="WHAT", dest="what")
    _add_free(commands.add_parser("free", help="list the hosts with enough free GPUs"))


def run(options: argparse.Namespace) -> int:
    """Run the command."""
    if options.what == "free":
        return free_hosts(configured(request_of(options, FleetFreeRequest)))
    return show(configured(request_of(options, FleetRequest)))


def _add_free(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "List the hosts with enough free GPUs. The host with the fewest free GPUs comes first: if you take it, the"
        " others keep their free GPUs for larger jobs. A GPU is free if, for the whole time of --over, its utilization"
        " was at most 10 % and its memory was not held. With --hosts there is no history, so only the present"
        " values count."
    )
    parser.add_argument(
        "-n", "--count", type=whole(1), default=1, metavar="COUNT", help="free GPUs on one host (default 1)"
    )
    parser.add_argument(
        "--over", dest="over_s", type=duration, default=300.0, metavar="DURATION",
        help="how long a GPU must have been free (default 5m)",
    )  # fmt: skip
    _source(parser)
    parser.add_argument(
        "--format", choices=("table", "json"), default=_ABSENT, metavar="FORMAT", help="table (default) or json"
    )
    add_json(parser)
    add_ending(
        parser,
        "gputop fleet free -n 8 --where model:h100 --prometheus http://prometheus:9090",
        "gputop fleet free --demo --json | jq -r '.hosts[].host'",
        status="0 there is one, 1 none, 2 bad input, 3 no server answered",
    )


def _source(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where from")
    group.add_argument(
        "--prometheus", action="append", default=_ABSENT, metavar="URL",
        help="base URL of a server with the API of Prometheus, such as http://HOST:9090; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--http-config", default=_ABSENT, metavar="FILE",
        help="how to reach it: passwords, tokens, headers and certificates, in the format of promtool",
    )  # fmt: skip
    group.add_argument(
        "--hosts", action="append", default=_ABSENT, metavar="LIST",
        help="read the exporters of these hosts instead: 'node[001-040],login1:9401'; or Slurm's hosts with GPUs:"
        " slurm, slurm:PARTITION, slurm:job:NUMBER",
    )  # fmt: skip
    group.add_argument(
        "--port", type=whole(1), default=_ABSENT, metavar="PORT", help="port of the exporters (default 9400)"
    )
    group.add_argument("--demo", dest="is_demo", action="store_true", default=_ABSENT, help="a simulated fleet")
    group.add_argument(
        "--timeout", dest="timeout_s", type=seconds(0.1), default=_ABSENT, metavar="SECONDS",
        help="time limit for each answer (default 10)",
    )  # fmt: skip
    parser.add_argument(
        "--where", action="append", default=_ABSENT, metavar="FILTER",
        help="only hosts that match, such as 'host~dgx idle>3 model:h100 free>=4'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--label", dest="labels", action="append", default=_ABSENT, metavar="NAME",
        help="also show this label of each host, such as cluster or rack; may be repeated",
    )  # fmt: skip
