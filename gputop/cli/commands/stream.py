"""gputop stream: one frame per line until stopped. With --control it is the screen's sampler."""

import argparse

from gputop.app.errors import OK
from gputop.app.monitoring.stream import StreamRequest, stream
from gputop.cli.args.options import add_common, add_ending, add_host_details, add_reveal, whole
from gputop.cli.args.requests import request_of


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("--count", type=whole(1), metavar="N", help="exit after N lines")
    parser.add_argument(
        "--control",
        action="store_true",
        help="read commands (signal, renice, …) as JSON from standard input; exit when standard input closes",
    )
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
    if options.control:
        from gputop.app.serving.sampler import sample

        sample(request)
    else:
        stream(request)
    return OK
