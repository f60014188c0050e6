"""The control that refuses every change, and the settings that select it."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from gputop.core.protocol.command import Change, Target
from gputop.core.protocol.outcome import Outcome, refused


class ReadOnlyControl(Struct, frozen=True):
    """A control that refuses every change. ``detail``: why; ``remedy``: how to allow changes."""

    detail: str
    remedy: str

    def execute(self, change: Change) -> Outcome:
        """Refuse the change."""
        return refused(change, self.detail, self.remedy)

    def living(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        """Return all targets, since no change affects them."""
        return tuple(targets)


def read_only_control(*, is_read_only: bool, notify: Callable[[str], None] | None = None) -> ReadOnlyControl | None:
    """Return a control that refuses, if the user, the environment or the configuration file request it; else None."""
    if is_read_only:
        return ReadOnlyControl("gputop runs with --read-only", "To allow changes, start it without.")
    from gputop.app.settings import settings_file
    from gputop.machine.files.places import config_file

    settled = settings_file.settled(said=settings_file.first_written(config_file()))
    if notify:
        for problem in settled.problems:
            notify(problem)
    if settled.is_in_doubt:
        return ReadOnlyControl("gputop cannot read its read_only setting", "For details: gputop config show")
    if settled.settings.read_only:
        return ReadOnlyControl(
            "read_only is set in the configuration file or a variable", "To see the settings: gputop config show"
        )
    return None
