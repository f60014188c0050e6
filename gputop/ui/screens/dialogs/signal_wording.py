"""What a signal will do, in words: to whom it goes, who may be spared, and whether there is a better way."""

from collections.abc import Sequence
from typing import Final

from gputop.core.model.sample import HostProcess
from gputop.ui.screens.dialogs.target_list import SENT
from gputop.ui.state.signal_targets import Processes, TargetSelection, owner_command

KILL: Final = "SIGKILL"
_ASKS_LAUNCHERS: Final = "SIGTERM"


def remarks(selection: TargetSelection, signal: str, targets: Processes) -> list[tuple[str, str]]:
    """Return what is to be said, each with its ink."""
    via_launcher = selection.via_launcher(signal, targets)
    launchers = " ".join(str(pid) for pid in sorted({one.pid for one in via_launcher.values()}))
    recipients = [one for one in targets if one.id not in via_launcher]
    obstacles = sum(bool(selection.obstacle(one)) for one in recipients)
    way = owner_command(targets)
    only = f"{SENT} Sent to launcher {launchers} only: it ends its {len(via_launcher)} workers."
    said = [
        (only if via_launcher else "", "accent"),
        (_reach_of_kill(selection, targets) if signal == KILL else "", "accent"),
        (f"{_part(obstacles, len(recipients))} may be refused or wait, see above." if obstacles else "", "warm"),
        (f"Better: {way}" if way else "", "muted"),
    ]
    return [(text, ink) for text, ink in said if text]


def _part(some: int, all_of_them: int) -> str:
    return "It" if all_of_them == 1 else f"{some} of {all_of_them} processes"


def names(targets: Sequence[HostProcess]) -> str:
    """Return who they are as far as one line tells it."""
    return " ".join(f"{one.pid} {one.command}" if len(targets) == 1 else str(one.pid) for one in targets)


def _reach_of_kill(selection: TargetSelection, targets: Processes) -> str:
    """Say that SIGKILL goes to launchers and workers alike."""
    workers = selection.via_launcher(_ASKS_LAUNCHERS, targets)
    launchers = len({one.id for one in workers.values()})
    each = "launcher" if launchers == 1 else f"{launchers} launchers"
    return f"Sent to the {each} and to {len(workers)} workers." if workers else ""
