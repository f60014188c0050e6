"""The claim that a rank is slow: how it differs from the others, why, and what to do."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.activity.process import Track
from gputop.core.detectors.activity.ranks import Ranks
from gputop.core.detectors.stuck.case import rank_text
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.catalogue import CLOCK_SM, EVENT_REASONS, PCIE_WIDTH, PCIE_WIDTH_MAX, TEMPERATURE
from gputop.core.model.finding import Evidence, Stage, confidence_of
from gputop.core.model.sample import Gpu
from gputop.core.model.units import duration_text

_OFTEN: Final = 0.1  # of the time: a wording that names the time alone says more
_HARMLESS: Final = ("idle", "application clocks", "sync boost")


class Slow(Struct, frozen=True):
    """A rank against the median of the others. Clocks: shares of the maximum.

    ``apart``: how far power or traffic is from that of the others, as a share of theirs; ``alone``: the share of the
    time in which it works while they wait. Both are 0 if clock or utilization tell.
    """

    ranks: Ranks
    track: Track
    is_clock: bool
    lasted_s: float
    clock: float | None
    others_clock: float
    gu: float
    others_gu: float
    apart: float = 0.0
    alone: float = 0.0

    @property
    def is_gpu(self) -> bool:
        """Return whether the GPU itself is slow: it has a lower clock, or works while the others wait."""
        return self.is_clock or self.apart > 0 or self.alone >= _OFTEN

    @property
    def speed(self) -> float:
        """Return the speed of the rank as a share of that of the others."""
        if self.is_clock:
            return (self.clock or 0.0) / self.others_clock if self.others_clock else 1.0
        if self.alone >= _OFTEN:
            return 1 - self.alone
        if self.apart:
            return 1 / (1 + self.apart) if self.apart > 0 else 1 + self.apart
        return self.gu / self.others_gu if self.others_gu else 1.0

    @property
    def is_shared(self) -> bool:
        """Return whether another process computes on the same GPU."""
        return not self.is_gpu and self.track.board.is_shared


def claim_of(slow: Slow, context: Context, dials: Mapping[str, float]) -> Claim:
    """Return the claim about a slow rank."""
    track = slow.track
    share = (slow.clock or 0.0) / slow.others_clock if slow.others_clock else 1.0
    is_grave = slow.lasted_s >= dials["alarm_s"] and 100 * slow.speed < dials["alarm_percent"]
    gpu = track.board.gpu
    reasons = _reasons(gpu)
    return Claim(
        code="straggler.gpu" if slow.is_gpu else "straggler.neighbour" if slow.is_shared else "straggler.host",
        stage=Stage.ALARM if is_grave else Stage.SUSPECT,
        subject=process_subject(track.process, track.use),
        summary=f"{rank_text(track)} on GPU {track.board.index} has slowed job {slow.ranks.job.label} for "
        f"{duration_text(slow.lasted_s)}: it {_how(slow, share)}{_why(gpu, reasons)}",
        evidence=_evidence(slow, share, reasons),
        remedy=_remedy(slow),
        action="detail" if slow.is_gpu else "process",
        confidence=confidence_of(
            0.7,
            0.5 if slow.is_clock and reasons else 0.0,
            0.3 if track.role.world else 0.0,
        ),
        lacking=()
        if track.role.world
        else ("the number of ranks (the environment of its processes does not contain it)",),
        began_s=context.now_s - slow.lasted_s,
        hold_s=30.0,
    )


def _evidence(slow: Slow, share: float, reasons: tuple[str, ...]) -> tuple[Evidence, ...]:
    return (
        Evidence(
            "lasted_s",
            round(slow.lasted_s, 1),
            f"slowed job {slow.ranks.job.label} for {duration_text(slow.lasted_s)}",
        ),
        Evidence(
            "clock_percent",
            round(100 * share, 1),
            f"{100 * share:.0f}% of the SM clock of the other ranks",
            100 if slow.is_clock else None,
        ),
        Evidence(
            "gpu_utilization_percent",
            round(slow.gu, 1),
            f"GPU utilization of this rank: {slow.gu:.0f}%",
            round(slow.others_gu, 1),
        ),
        Evidence(
            "clocks_event_reasons",
            ", ".join(reasons) or None,
            f"the driver reports lower clocks: {_causes(reasons)}" if reasons else "the driver reports no reason",
        ),
    )


def _how(slow: Slow, share: float) -> str:
    gpu = slow.track.board.gpu
    if slow.alone >= _OFTEN:
        return f"works alone for {100 * slow.alone:.0f}% of the time, while the other ranks wait for it"
    if slow.apart:
        more, what = ("more", "works while they wait") if slow.apart > 0 else ("less", "does less")
        return f"takes {100 * abs(slow.apart):.0f}% {more} power or traffic than the other ranks; it {what}"
    if not slow.is_clock:
        others = f"the other ranks for {slow.others_gu:.0f}%, at the same clock"
        return f"keeps its GPU busy for {slow.gu:.0f}% of the time, {others}"
    clock = gpu[CLOCK_SM] if gpu else None
    now = f"{clock / 1e6:.0f} MHz, " if clock else ""
    return f"runs at {now}{100 * share:.0f}% of the SM clock of the other ranks"


def _why(gpu: Gpu | None, reasons: tuple[str, ...]) -> str:
    if gpu is None:
        return ""
    width, most, celsius = gpu[PCIE_WIDTH], gpu[PCIE_WIDTH_MAX], gpu[TEMPERATURE]
    known = [f"reason{'s' * (len(reasons) > 1)}: {_causes(reasons)}"] if reasons else []
    if reasons and celsius is not None:
        known.append(f"{celsius}°C")
    if width and most and width < most:
        known.append(f"PCIe x{width} of x{most}")
    return f" ({'; '.join(known)})" if known else ""


def _causes(reasons: tuple[str, ...]) -> str:
    return ", ".join(dict.fromkeys("heat" if one.endswith("thermal") else one for one in reasons))


def _reasons(gpu: Gpu | None) -> tuple[str, ...]:
    reasons = gpu[EVENT_REASONS] if gpu else None
    return tuple(reason for reason in reasons or () if reason not in _HARMLESS)


def _remedy(slow: Slow) -> str:
    if slow.is_gpu:
        return (
            f"See why: nvidia-smi -q -d PERFORMANCE,CLOCK,POWER -i {slow.track.board.index}. "
            "Keep the GPU out of jobs until it is repaired."
        )
    if slow.is_shared:
        return (
            f"Move the other program (gputop -i {slow.track.board.index}) to another GPU: all ranks wait for this one."
        )
    pid = slow.track.process.pid
    return f"Check its CPU side: py-spy dump --pid {pid}, its data shard, the load on its cores, its NUMA node."
