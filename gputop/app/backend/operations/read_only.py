"""Control that refuses every change, and the settings that ask for it."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from gputop.core.protocol.command import Change, Target
from gputop.core.protocol.outcome import Outcome, refused


class ReadOnlyControl(Struct, frozen=True):
    """A control that refuses every change. ``detail``: why; ``remedy``: how to allow changes."""

    detail: str
    remedy: str

    def execute(self, change: Change) -> Outcome:
        """Refuse."""
        return refused(change, self.detail, self.remedy)

    def living(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        """Return all targets, since nothing is done to them."""
        return tuple(targets)


def read_only_control(*, is_read_only: bool, tell: Callable[[str], None] | None = None) -> ReadOnlyControl | None:
    """Return a control that refuses, if the user, the environment or the configuration file want it; else None."""
    if is_read_only:
        return ReadOnlyControl("gputop runs with --read-only", "Start it without, to change anything.")
    from gputop.app.settings import settings_file
    from gputop.app.settings.config_path import path

    settled = settings_file.settled(said=settings_file.first_written(path()))
    if tell:
        for problem in settled.problems:
            tell(problem)
    if settled.is_in_doubt:
        return ReadOnlyControl("gputop cannot tell whether it is set to read_only", "What is wrong: gputop config show")
    if settled.settings.read_only:
        return ReadOnlyControl(
            "gputop is set to read_only by its file or a variable", "To see the settings: gputop config show"
        )
    return None
