"""Who is slower than its siblings, by how much, and why, as far as the board says."""

from collections.abc import Mapping

from msgspec import Struct

from gputop.core.detection.detector import Look, Sign
from gputop.core.detectors.activity.process import Track
from gputop.core.detectors.activity.ranks import Crew
from gputop.core.detectors.stuck.case import rank_text
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.catalogue import CLOCK_SM, EVENT_REASONS, PCIE_WIDTH, PCIE_WIDTH_MAX, TEMPERATURE
from gputop.core.model.finding import Evidence, Stage, confidence_of
from gputop.core.model.sample import Gpu
from gputop.core.model.units import duration_text

_HARMLESS = ("idle", "application clocks", "sync boost")


class Slow(Struct, frozen=True):
    """A rank against the median of the others. Clocks: shares of the maximum."""

    crew: Crew
    track: Track
    is_clock: bool
    lasted_s: float
    clock: float | None
    others_clock: float
    gu: float
    others_gu: float

    @property
    def is_shared(self) -> bool:
        """Say whether somebody else computes on the same GPU."""
        return not self.is_clock and self.track.board.is_shared


def sign_of(slow: Slow, look: Look, dials: Mapping[str, float]) -> Sign:
    """Return the finding about a slow rank."""
    track = slow.track
    share = (slow.clock or 0.0) / slow.others_clock if slow.others_clock else 1.0
    is_grave = slow.is_clock and slow.lasted_s >= dials["alarm_s"] and 100 * share < dials["alarm_percent"]
    gpu = track.board.gpu
    reasons = _reasons(gpu)
    return Sign(
        code="straggler.gpu" if slow.is_clock else "straggler.neighbour" if slow.is_shared else "straggler.host",
        stage=Stage.ALARM if is_grave else Stage.SUSPECT,
        subject=process_subject(track.process, track.use),
        summary=f"{rank_text(track)} on GPU {track.board.index} of {slow.crew.job.label}: {_how(slow, share)} for "
        f"{duration_text(slow.lasted_s)}{_why(gpu, reasons)}; the others wait for it",
        evidence=(
            Evidence("lasted_s", round(slow.lasted_s, 1), f"for {duration_text(slow.lasted_s)}"),
            Evidence("clock_share", round(share, 3), f"{100 * share:.0f}% of the others' SM clock"),
            Evidence("gpu_utilization_percent", round(slow.gu, 1), f"GPU at {slow.gu:.0f}%"),
            Evidence("others_utilization_percent", round(slow.others_gu, 1), f"the others at {slow.others_gu:.0f}%"),
            Evidence("clocks_event_reasons", ", ".join(reasons) or None, ", ".join(reasons) or "no reason given"),
        ),
        remedy=_remedy(slow),
        action="detail" if slow.is_clock else "process",
        confidence=confidence_of(
            0.7,
            0.5 if slow.is_clock and reasons else 0.0,
            0.3 if track.role.world else 0.0,
        ),
        lacking=() if track.role.world else ("ranks: the environment of its processes",),
        began_s=look.now_s - slow.lasted_s,
        hold_s=30.0,
    )


def _how(slow: Slow, share: float) -> str:
    gpu = slow.track.board.gpu
    if not slow.is_clock:
        return f"GPU at {slow.gu:.0f}% while the others are at {slow.others_gu:.0f}%, at the same clock"
    clock = gpu[CLOCK_SM] if gpu else None
    now = f"SM clock {clock / 1e6:.0f} MHz, " if clock else "SM clock "
    return f"{now}{100 * share:.0f}% of the others'"


def _why(gpu: Gpu | None, reasons: tuple[str, ...]) -> str:
    if gpu is None:
        return ""
    width, most, celsius = gpu[PCIE_WIDTH], gpu[PCIE_WIDTH_MAX], gpu[TEMPERATURE]
    known = [*reasons]
    if reasons and celsius is not None:
        known.append(f"{celsius}°C")
    if width and most and width < most:
        known.append(f"PCIe x{width} of x{most}")
    return f" ({', '.join(known)})" if known else ""


def _reasons(gpu: Gpu | None) -> tuple[str, ...]:
    reasons = gpu[EVENT_REASONS] if gpu else None
    return tuple(reason for reason in reasons or () if reason not in _HARMLESS)


def _remedy(slow: Slow) -> str:
    if slow.is_clock:
        return (
            f"See why: nvidia-smi -q -d PERFORMANCE,CLOCK,POWER -i {slow.track.board.index}; "
            "leave it out of the job until it is well."
        )
    if slow.is_shared:
        return f"Move the other program (gputop -i {slow.track.board.index}) elsewhere: every rank waits for this one."
    pid = slow.track.process.pid
    return f"Look at its CPU side: py-spy dump --pid {pid}, its data shard, cores taken by others, its NUMA node."
