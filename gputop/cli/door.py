"""Opens the door through which the machine is changed, or one that is shut, as the options say."""

import argparse
from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

from gputop.core.command import Change, Target
from gputop.core.outcome import Outcome, refused


class Door(Protocol):
    """What carries changes out."""

    def execute(self, change: Change) -> Outcome:
        """Carry a change out. Never raises."""
        ...

    def living(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        """Return those that still run."""
        ...


class Shut(Struct, frozen=True):
    """A door that is shut, and how it would be open."""

    detail: str
    remedy: str

    def execute(self, change: Change) -> Outcome:
        """Refuse."""
        return refused(change, self.detail, self.remedy)

    def living(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        """Return all of them: nothing is done to any."""
        return tuple(targets)


def is_read_only(options: argparse.Namespace) -> bool:
    """Say whether nothing may be changed: by the options, the environment or the configuration file."""
    if options.read_only:
        return True
    from gputop.cli import settings_file

    return settings_file.settled()[0].read_only


def opened_door(options: argparse.Namespace, protected: frozenset[int]) -> Door:
    """Return the door. ``protected``: pids of gputop's own processes."""
    if is_read_only(options):
        how = "runs with --read-only" if options.read_only else "is set to read_only by its file or a variable"
        return Shut(f"gputop {how}", "Start it without, to change anything.")
    if options.demo is not None:
        return Shut("this box is simulated", "Start gputop without --demo, to change anything.")
    from gputop.machine.control import control_of_this_machine

    return control_of_this_machine(protected)
