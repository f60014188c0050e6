"""What a signal will do, in words: to whom it goes, who may be spared, and whether there is a better way."""

from collections.abc import Sequence
from typing import Final

from gputop.core.model.sample import HostProcess
from gputop.ui.screens.dialogs.target_list import SENT
from gputop.ui.state.signal_targets import Aim, Processes, better_way

KILL: Final = "SIGKILL"
_ASKS_LAUNCHERS: Final = "SIGTERM"


def remarks(aim: Aim, signal: str, targets: Processes) -> list[tuple[str, str]]:
    """Return what is to be said, each with its ink."""
    led = aim.led(signal, targets)
    launchers = " ".join(str(pid) for pid in sorted({one.pid for one in led.values()}))
    hit = [one for one in targets if one.id not in led]
    doubts = sum(bool(aim.doubt(one)) for one in hit)
    way = better_way(targets)
    said = [
        (f"{SENT} Sent to launcher {launchers} only: it ends its {len(led)} workers." if led else "", "accent"),
        (_reach_of_kill(aim, targets) if signal == KILL else "", "accent"),
        (f"{_part(doubts, len(hit))} may be refused or wait, see above." if doubts else "", "warm"),
        (f"The owner's way: {way}" if way else "", "muted"),
    ]
    return [(text, ink) for text, ink in said if text]


def _part(some: int, all_of_them: int) -> str:
    return "It" if all_of_them == 1 else f"{some} of {all_of_them} processes"


def names(targets: Sequence[HostProcess]) -> str:
    """Return who they are as far as one line tells it."""
    return " ".join(f"{one.pid} {one.command}" if len(targets) == 1 else str(one.pid) for one in targets)


def _reach_of_kill(aim: Aim, targets: Processes) -> str:
    """Say that SIGKILL goes to launchers and workers alike."""
    workers = aim.led(_ASKS_LAUNCHERS, targets)
    launchers = len({one.id for one in workers.values()})
    each = "launcher" if launchers == 1 else f"{launchers} launchers"
    return f"Sent to the {each} and to {len(workers)} workers." if workers else ""
