"""Times as people write them on a command line."""

import argparse

from gputop.core.model.metric import Unit
from gputop.core.model.quantity import expected, quantity


def duration(text: str) -> float:
    """Read 90s, 10m, 1h30m as seconds, more than none."""
    seconds = quantity(text, Unit.SECONDS)
    if seconds is None or seconds <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no time: {expected(Unit.SECONDS).removeprefix('a time: ')}")
    return seconds
