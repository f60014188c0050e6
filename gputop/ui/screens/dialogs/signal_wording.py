"""Consequences of a signal in words: who gets it, what can fail, and a better command."""

from collections.abc import Sequence
from typing import Final

from gputop.core.model.sample import HostProcess
from gputop.core.processes.stopping import STOPS, kept_text
from gputop.core.protocol.signals import KILL
from gputop.ui.screens.dialogs.target_list import SENT
from gputop.ui.state.signal_targets import Processes, Scope, TargetSelection, common_command

_ASKS_LAUNCHERS: Final = "SIGTERM"
_MPS_CLIENT: Final = "M"
_MPS_FIRST: Final = "First, MPS ends the GPU work of the client (terminate_client)."
_MPS_HARM: Final = "If that fails, SIGKILL can end the GPU work of all clients of its server."


def remarks(selection: TargetSelection, signal: str, targets: Processes) -> list[tuple[str, str]]:
    """Return the remarks, each with its ink."""
    via_launcher = selection.via_launcher(signal, targets)
    launchers = " ".join(str(pid) for pid in sorted({one.pid for one in via_launcher.values()}))
    recipients = [one for one in targets if one.id not in via_launcher]
    obstacles = sum(bool(selection.obstacle(one)) for one in recipients)
    way = common_command(targets)
    only = f"{SENT} The signal goes to launcher {launchers} only, which ends its {_workers(len(via_launcher))}."
    said = [
        (only if via_launcher else "", "accent"),
        (_reach_of_kill(selection, targets) if signal == KILL else "", "accent"),
        (_MPS_FIRST if signal == KILL and _has_mps_client(targets) else "", "accent"),
        (_MPS_HARM if signal == KILL and _has_mps_client(targets) else "", "warm"),
        (kept_text(targets) if signal in STOPS else "", "warm"),
        (_waiting(selection, targets) if signal in STOPS else "", "warm"),
        (
            f"The signal may fail or be delayed{_part(obstacles, len(recipients))}: see the list." if obstacles else "",
            "warm",
        ),
        (way, "muted"),
    ]
    return [(text, ink) for text, ink in said if text]


def _part(some: int, all_of_them: int) -> str:
    return "" if all_of_them == 1 else f" for {some} of {all_of_them} processes"


def names(targets: Sequence[HostProcess]) -> str:
    """Return the pids; for a single target its command too."""
    return " ".join(f"{one.pid} {one.command}" if len(targets) == 1 else str(one.pid) for one in targets)


def _reach_of_kill(selection: TargetSelection, targets: Processes) -> str:
    """Return the sentence that SIGKILL goes to launchers and workers alike, or nothing without a launcher."""
    workers = selection.via_launcher(_ASKS_LAUNCHERS, targets)
    launchers = len({one.id for one in workers.values()})
    each = "launcher" if launchers == 1 else f"{launchers} launchers"
    return f"The signal goes to the {each} and to {_workers(len(workers))}." if workers else ""


def _waiting(selection: TargetSelection, targets: Processes) -> str:
    """Return what happens to the rest of the job while some of its processes are stopped."""
    rest = {one.id for one in selection.within(Scope.JOB) if one.gpus} - {one.id for one in targets}
    return "The rest of the job waits. NCCL may declare a stopped rank dead after 60 s." if rest else ""


def _has_mps_client(targets: Processes) -> bool:
    return any(use.type == _MPS_CLIENT for one in targets for use in one.gpus)


def _workers(number: int) -> str:
    return f"{number} worker{'s' * (number != 1)}"
