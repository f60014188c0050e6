"""gputop serve: the screen, or a wall, in browsers."""

import argparse

from gputop.app.errors import OK
from gputop.app.web.serve import ServeRequest, serve
from gputop.cli.args.options import add_common, add_ending, whole
from gputop.cli.args.requests import request_of


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Serve the screen to browsers, read-only; or with --wall a simple page for a wall display or a phone: findings,"
        " GPUs and users. It prints the address, which contains a secret: anyone with it can look. docs/browser.md"
        " has more."
    )
    parser.add_argument(
        "--wall", action="store_true", help="serve the wall: one sampler for all visitors, and no command lines"
    )
    parser.add_argument(
        "--allow-changes", action="store_true",
        help="visitors of the screen may do all that you may: end processes, for example",
    )  # fmt: skip
    parser.add_argument("--commands", action="store_true", help="show command lines on the wall, without secrets")
    _add_access(parser.add_argument_group("who can reach it"))
    add_common(parser)
    add_ending(
        parser,
        "gputop serve",
        "gputop serve --wall --listen :8010 --web-config /etc/gputop/web.yml --secret-file /etc/gputop/wall-secret",
        status="0 ended by a signal, 2 bad input, 3 no driver",
    )


def _add_access(group: argparse._ArgumentGroup) -> None:
    """Add the options for addresses, secrets and visitors."""
    group.add_argument(
        "--listen", default="127.0.0.1:8010", metavar="ADDRESS:PORT",
        help="where to serve (default 127.0.0.1:8010: only this host). From elsewhere: ssh -L 8010:localhost:8010 HOST",
    )  # fmt: skip
    group.add_argument(
        "--web-config", metavar="FILE",
        help="TLS, client certificates and passwords, in the format of Prometheus' exporter toolkit",
    )  # fmt: skip
    group.add_argument(
        "--visitors",
        type=whole(1),
        metavar="MOST",
        help="maximum number of visitors at a time (default 8; 64 with --wall)",
    )
    group.add_argument(
        "--host-name", dest="host_names", action="append", metavar="NAME",
        help="another name by which browsers reach this host, such as that of a proxy; may be repeated",
    )  # fmt: skip
    group.add_argument(
        "--secret-file", metavar="FILE",
        help="the secret of the address, so that it stays the same: openssl rand -hex 16 > FILE (default: a new one)",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Serve."""
    serve(request_of(options, ServeRequest))
    return OK
