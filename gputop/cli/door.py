"""Opens the door through which the machine is changed, or one that is shut, as the options say."""

import argparse
from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from gputop.core.command import Change, ChangeMig, Target, wording
from gputop.core.mig_answers import MigProgress
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


class SimulatedDoor:
    """The door of a simulated box: MIG layouts can be changed, in this process; its processes are none."""

    def __init__(self, box: object, progress: Callable[[MigProgress], None]) -> None:
        from gputop.machine.mig_control import MigControl
        from gputop.machine.partitioning import of_box

        self._mig = MigControl(lambda: of_box(box).partitioner, progress)
        self._shut = Shut("this box is simulated", "Start gputop without --demo, to change anything.")

    def execute(self, change: Change) -> Outcome:
        """Carry out a change of a MIG layout; refuse all others."""
        if not isinstance(change, ChangeMig):
            return self._shut.execute(change)
        return Outcome(id=change.id, what=wording(change), results=self._mig.settle(change, None))

    def living(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        """Return all of them: nothing is done to any."""
        return tuple(targets)


class Progress(Struct, frozen=True):
    """Who is told how far a change of a MIG layout has come, and of which simulated box, if it is one."""

    tell: Callable[[MigProgress], None] = lambda _: None
    box: object = None


def opened_door(
    options: argparse.Namespace,
    protected: frozenset[int],
    tell: Callable[[str], None] | None = None,
    mig: Progress = Progress(),  # noqa: B008 - immutable
) -> Door:
    """Return the door, which the options, the environment or the configuration file may shut.

    ``protected``: pids of gputop's own processes. ``tell``: is told what is wrong with file and environment. ``mig``:
    for changes of MIG layouts.
    """
    if options.read_only:
        return Shut("gputop runs with --read-only", "Start it without, to change anything.")
    from gputop.cli import settings_file

    held = settings_file.settled()
    if tell:
        for problem in held.problems:
            tell(problem)
    if held.is_in_doubt:
        return Shut("gputop cannot tell whether it is set to read_only", "What is wrong: gputop config show")
    if held.settings.read_only:
        return Shut("gputop is set to read_only by its file or a variable", "To see the settings: gputop config show")
    if options.demo is not None and mig.box is not None:
        return SimulatedDoor(mig.box, mig.tell)
    if options.demo is not None:
        return Shut("this box is simulated", "Start gputop without --demo, to change anything.")
    from gputop.machine.control import control_of_this_machine

    return control_of_this_machine(protected, mig.tell)
