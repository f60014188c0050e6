"""gputop stream: one frame per line until stopped. With --control it is the screen's sampler."""

import argparse
from typing import Final

from gputop.app.errors import OK
from gputop.app.monitoring.stream import StreamRequest, stream
from gputop.cli.args.options import add_common, add_ending, add_host_details, add_reveal, seconds, whole
from gputop.cli.args.requests import request_of

_PATIENCE_S: Final = 60.0


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--count", type=whole(1), metavar="N", help="exit after N lines")
    parser.add_argument(
        "--control",
        action="store_true",
        help="read commands (signal, renice, …) as JSON from standard input; exit when standard input closes",
    )
    parser.add_argument(
        "--remote", nargs="?", type=seconds(1), const=_PATIENCE_S, metavar="SECONDS",
        help="as --control, for gputop --host: greet first, and exit when no command arrives for so long (default 60)",
    )  # fmt: skip
    add_host_details(parser)
    add_reveal(parser)
    add_common(parser, changes=True)
    add_ending(
        parser,
        "gputop stream --interval 5 | jq -c --unbuffered '.gpus[] | select(.state != \"ok\") | {index, state}'",
        status="0 done, 2 bad input, 3 no driver",
    )


def run(options: argparse.Namespace) -> int:
    """Print frames."""
    request = request_of(options, StreamRequest)
    if options.control or options.remote is not None:
        from gputop.app.serving.sampler import sample

        sample(request, patience_s=options.remote)
    else:
        stream(request)
    return OK
