"""The consequence of a stop signal for GPU memory."""

from collections.abc import Sequence
from typing import Final

from gputop.core.model.sample import HostProcess
from gputop.core.model.units import bytes_text

STOPS: Final = frozenset({"SIGSTOP", "SIGTSTP"})


def kept_text(processes: Sequence[HostProcess]) -> str:
    """Return which GPU memory processes keep while they are stopped; empty without a GPU."""
    uses = [use for process in processes for use in process.gpus]
    held = sum(use.memory_bytes or 0 for use in uses)
    least = "" if all(use.memory_bytes is not None for use in uses) else "at least "
    memory = f"{least}{bytes_text(held)} of GPU memory" if held else "GPU memory"
    return f"Stopped processes keep their {memory}." if uses else ""
