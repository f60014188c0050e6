"""Opens the door through which the machine is changed, or one that is shut, as the options say."""

import argparse
from collections.abc import Callable, Iterable
from typing import Protocol

from msgspec import Struct

from gputop.cli.args.exits import BAD_INPUT, fail
from gputop.core.mig.answers import MigProgress
from gputop.core.protocol.command import Change, Target
from gputop.core.protocol.outcome import Outcome, refused


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


def opened_door(
    options: argparse.Namespace,
    protected: frozenset[int],
    tell: Callable[[str], None] | None = None,
    progress: Callable[[MigProgress], None] = lambda _: None,
) -> Door:
    """Return the door, which the options, the environment or the configuration file may shut.

    ``protected``: pids of gputop's own processes. ``tell``: is told what is wrong with file and environment.
    ``progress``: is told how far a change of a MIG layout has come.
    """
    shut = shut_by(options, tell)
    if shut is not None:
        return shut
    if options.source is not None:
        from gputop.cli.backend.plugin_source import REFUSAL

        return Shut(REFUSAL, "Change it on the machine that they are of.")
    if options.demo is not None:
        return _simulated_door(options.demo, progress)
    from gputop.machine.control.control import control_of_this_machine

    return control_of_this_machine(protected, progress)


def shut_by(options: argparse.Namespace, tell: Callable[[str], None] | None = None) -> Shut | None:
    """Return a shut door where options, environment or configuration file want nothing changed; else None."""
    if options.read_only:
        return Shut("gputop runs with --read-only", "Start it without, to change anything.")
    from gputop.app.settings import settings_file
    from gputop.app.settings.config_path import path

    held = settings_file.settled(said=settings_file.first_written(path()))
    if tell:
        for problem in held.problems:
            tell(problem)
    if held.is_in_doubt:
        return Shut("gputop cannot tell whether it is set to read_only", "What is wrong: gputop config show")
    if held.settings.read_only:
        return Shut("gputop is set to read_only by its file or a variable", "To see the settings: gputop config show")
    return None


def _simulated_door(name: str, progress: Callable[[MigProgress], None]) -> Door:
    from gputop.simulator import running
    from gputop.simulator.control import control_of_box

    try:
        return control_of_box(running(name), progress)
    except ValueError as error:
        fail(BAD_INPUT, str(error))
