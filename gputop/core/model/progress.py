"""The progress that a job reports, and the remaining time at its present rate."""

from typing import Final

from msgspec import Struct

from gputop.core.model.units import NOTHING, bytes_text, duration_text

_STALE_S: Final = 60.0
_STALE_STEPS: Final = 5.0


class TorchMemory(Struct, frozen=True, kw_only=True, gc=False):
    """The counters of PyTorch's allocator for a device. ``device``: its number in the process.

    ``allocated``: bytes of tensors; ``reserved``: bytes that it holds, with those cached and unused; ``peak``: the most
    that was allocated. ``retries``: allocations that succeeded only after the cache was freed; ``ooms``: those that
    failed.
    """

    device: int
    allocated: int
    reserved: int
    peak: int = 0
    retries: int = 0
    ooms: int = 0

    @property
    def cached(self) -> int:
        """Return the bytes that are reserved and unused."""
        return max(0, self.reserved - self.allocated)

    @property
    def text(self) -> str:
        """Return the counters in a line."""
        parts = [
            f"{bytes_text(self.allocated)} allocated",
            f"{bytes_text(self.cached)} of {bytes_text(self.reserved)} cached and unused",
            f"peak {bytes_text(self.peak)}",
        ]
        parts += [f"{self.retries} allocations only after freeing the cache"] if self.retries else []
        parts += [f"{self.ooms} out of memory"] if self.ooms else []
        return f"device {self.device}: {', '.join(parts)}"


class Progress(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """The last report of a process. ``time_s``: its time, seconds since the epoch.

    ``rate_per_s``: steps per second over the last minutes, an estimate from the reports; None at first.
    ``torch``: the memory of PyTorch per device, if the job reports it.
    """

    time_s: float
    step: int | float | None = None
    total: int | float | None = None
    loss: float | None = None
    rate_per_s: float | None = None
    torch: tuple[TorchMemory, ...] = ()

    @property
    def percent(self) -> float | None:
        """Return the share that is done, 0-100; None without a total."""
        if self.step is None or not self.total:
            return None
        return min(100.0, 100 * self.step / self.total)

    def left_s(self, now_s: float) -> float | None:
        """Return the remaining seconds; None if unknown, or if the last report is stale."""
        if self.step is None or not self.total:
            return None
        rest = self.total - self.step
        if rest <= 0:
            return 0.0
        if not self.rate_per_s or self.is_stale(now_s):
            return None
        return max(0.0, rest / self.rate_per_s - (now_s - self.time_s))

    def is_stale(self, now_s: float) -> bool:
        """Return whether no report came for a minute and for five steps."""
        a_step_s = 1 / self.rate_per_s if self.rate_per_s else 0.0
        return now_s - self.time_s > max(_STALE_S, _STALE_STEPS * a_step_s)

    def text(self, now_s: float) -> str:
        """Return ``41% 1h07`` with the remaining time, ``41% 6m ago`` if it is old, or the step without a total."""
        percent, left_s = self.percent, self.left_s(now_s)
        done = NOTHING if self.step is None else f"{self.step:.0f}" if percent is None else f"{int(percent)}%"
        if percent != 100 and self.is_stale(now_s):
            return f"{done} {_age(now_s - self.time_s)} ago"
        return done if left_s is None or percent == 100 else f"{done} {duration_text(left_s)}"


def _age(seconds: float) -> str:
    """Return an age in its largest unit: the column is narrow."""
    units = ((86_400, "d"), (3600, "h"), (60, "m"))
    return next((f"{int(seconds // size)}{unit}" for size, unit in units if seconds >= size), f"{int(seconds)}s")


def progress_facts(progress: Progress, now_s: float) -> list[str]:
    """Return all facts of a report."""
    left_s = progress.left_s(now_s)
    facts = [progress.text(now_s).partition(" ")[0]] if progress.percent is not None else []
    if progress.step is not None:
        facts.append(f"step {progress.step:.10g}" + (f" of {progress.total:.10g}" if progress.total else ""))
    if progress.rate_per_s:
        facts.append(f"{progress.rate_per_s:.3g} steps/s")
    if left_s is not None and progress.percent != 100:
        facts.append(f"about {duration_text(left_s)} left")
    if progress.loss is not None:
        facts.append(f"loss {progress.loss:.4g}")
    return [*facts, f"reported {duration_text(now_s - progress.time_s)} ago"]
