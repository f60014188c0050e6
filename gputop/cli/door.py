"""Opens the door through which the machine is changed, or one that is shut, as the options say."""

import argparse
from collections.abc import Callable
from functools import partial

from gputop.core.command import Change
from gputop.core.outcome import Outcome, refused

_READ_ONLY = "gputop runs with --read-only"
_SIMULATED = "this box is simulated"


def opened_door(options: argparse.Namespace, protected: frozenset[int]) -> Callable[[Change], Outcome]:
    """Return what carries changes out. ``protected``: pids of gputop's own processes."""
    if options.read_only:
        return partial(refused, detail=_READ_ONLY, remedy="Start it without, to change anything.")
    if options.demo is not None:
        return partial(refused, detail=_SIMULATED, remedy="Start gputop without --demo, to change anything.")
    from gputop.machine.control import control_of_this_machine

    return control_of_this_machine(protected).execute
