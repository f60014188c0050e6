"""Typed requests from the options that commands share."""

import argparse

from gputop.app.backend.backend import BackendRequest
from gputop.cli.args.options import selection


def backend_request(options: argparse.Namespace) -> BackendRequest:
    """Return the box that the options choose."""
    return BackendRequest(
        demo=options.demo,
        source=options.source,
        selection=selection(options),
        interval_s=options.interval,
        read_only=options.read_only,
    )


def filters(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the filters of --where."""
    return tuple(text for query in options.where or () if (text := str(query)))
