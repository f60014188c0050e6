"""gputop: a terminal UI process manager for NVIDIA GPUs."""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; importing typing takes longer than all that is here
if TYPE_CHECKING:
    from typing import SupportsFloat

__version__ = "0.1.0"


def report(
    step: SupportsFloat | None = None, total: SupportsFloat | None = None, loss: SupportsFloat | None = None
) -> None:
    """Tell gputop how far this process is: numbers, all optional; shown as progress with the time that is left.

    For training loops: call it in each step. It writes at most once a second, to a file that only this user can read,
    and never raises. A loss may be a tensor; its value is asked for only when it is written.
    """
    try:
        from gputop.progress_writer import report as tell  # noqa: PLC0415 - who imports gputop may never report

        tell(step, total, loss)
    except Exception:  # noqa: BLE001, S110 - nobody's training ends because of its monitor
        pass
