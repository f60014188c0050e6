"""gputop: a terminal UI process manager for NVIDIA GPUs."""

TYPE_CHECKING = False  # type checkers know this name; the import of typing takes longer than the rest of this file
if TYPE_CHECKING:
    from typing import SupportsFloat

__version__ = "0.1.0"


def report(
    step: "SupportsFloat | None" = None,
    total: "SupportsFloat | None" = None,
    loss: "SupportsFloat | None" = None,
    *,
    memory: bool = False,
) -> None:
    """Report the progress of this process to gputop, which shows it with the remaining time. All numbers are optional.

    Call it in each step of a training loop. It writes at most once a second, to a file that only this user can read,
    and never raises. A loss may be a tensor; its value is read only when it is written. ``memory`` adds how much GPU
    memory PyTorch has allocated and reserved.
    """
    try:
        from gputop.progress_writer import report as write  # noqa: PLC0415 - most importers never report

        write(step, total, loss, memory=memory)
    except Exception:  # noqa: BLE001, S110 - a monitor must not end a training
        pass
