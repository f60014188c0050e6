"""Faults of links: PCIe below its width under load, replays, NVLinks that are down or have errors."""

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Final

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.counters import EachGpu, Growth, starts_again
from gputop.core.detectors.subjects import gpu_claim, gpu_subject
from gputop.core.model.catalogue import (
    GPU_UTILIZATION,
    NVLINK_CRC,
    NVLINK_LINKS,
    NVLINK_LINKS_DOWN,
    NVLINK_RECOVERIES,
    NVLINK_REPLAYS,
    PCIE_GENERATION,
    PCIE_GENERATION_MAX,
    PCIE_REPLAYS,
    PCIE_WIDTH,
    PCIE_WIDTH_MAX,
    PSTATE,
)
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import Gpu
from gputop.core.model.units import duration_text

_MINUTE_S: Final = 60.0
_WINDOW_S: Final = 120.0  # counters are read every 30 s
_REPLAYS: Final = {1: 0.15, 2: 0.3, 3: 0.48, 4: 0.96, 5: 1.92, 6: 3.84}  # a lane and minute: DCGM, bit error rate 1e-12
_NVLINK: Final = "See which link: nvidia-smi nvlink -e -i {n}. Check both ends: bridge, cable, switch."


class _Links:
    """The history of the links of a GPU."""

    def __init__(self) -> None:
        self.narrow_s = 0.0
        self.down_at_first: int | None = None
        self.replays, self.nvlink, self.crc = Growth(_WINDOW_S), Growth(_WINDOW_S), Growth(_WINDOW_S)

    def take(self, gpu: Gpu, context: Context) -> None:
        """Add the counters of a sample."""
        replays, recoveries = gpu[NVLINK_REPLAYS], gpu[NVLINK_RECOVERIES]
        nvlink = None if replays is None or recoveries is None else replays + recoveries
        values = (gpu[PCIE_REPLAYS], nvlink, gpu[NVLINK_CRC])
        is_new = starts_again(gpu, context)
        for growth, value in zip((self.replays, self.nvlink, self.crc), values, strict=True):
            if is_new:
                growth.forget()
            growth.add(context.now_s, value)


class LinkWatch:
    """Checks links while a board is busy (idle links are slow by design) and against those of its siblings."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._links = EachGpu(_Links)

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per faulty link."""
        best = _fewest_down(context.sample.gpus)
        for gpu in context.sample.gpus:
            links = self._links.of(gpu.uuid, context.now_s)
            links.take(gpu, context)
            yield from self._width(gpu, links, context)
            yield from self._replays(gpu, links.replays)
            yield from _down(gpu, links, best.get(gpu.name, 0))
            yield from self._errors(gpu, links)
        self._links.forget(context.now_s)

    def _width(self, gpu: Gpu, links: _Links, context: Context) -> Iterator[Claim]:
        width, most, generation, newest = (
            gpu[PCIE_WIDTH], gpu[PCIE_WIDTH_MAX], gpu[PCIE_GENERATION], gpu[PCIE_GENERATION_MAX],
        )  # fmt: skip
        is_awake = (gpu[PSTATE] or 0) <= self._dials["awake_pstate"]
        is_busy = is_awake and (gpu[GPU_UTILIZATION] or 0) >= self._dials["busy_percent"]
        is_narrow = width is not None and most is not None and width < most
        is_slow = generation is not None and newest is not None and generation < newest
        if not is_busy or not (is_narrow or is_slow):
            links.narrow_s = 0.0
            return
        links.narrow_s += context.step_s
        if links.narrow_s < self._dials["link_s"]:
            return
        lanes = f"{width} of {most} lanes"
        speed = f"PCIe generation {generation} of {newest}"
        how = ", ".join(text for text, is_bad in ((lanes, is_narrow), (speed, is_slow)) if is_bad)
        yield Claim(
            code="pcie.link",
            stage=Stage.SUSPECT,
            subject=gpu_subject(gpu),
            summary=f"slow PCIe link: {how} for {duration_text(links.narrow_s)} while busy",
            evidence=(
                Evidence("pcie_width", width, f"width: {lanes}", most),
                Evidence("pcie_generation", generation, f"speed: {speed}", newest),
            ),
            remedy="Check seating, riser and the slot's BIOS settings: sudo lspci -vv | grep -i lnksta",
            began_s=context.now_s - links.narrow_s,
        )

    def _replays(self, gpu: Gpu, growth: Growth) -> Iterator[Claim]:
        grown, span_s = growth.over(_WINDOW_S)
        if not grown or span_s < _MINUTE_S:
            return
        lanes, generation = gpu[PCIE_WIDTH] or 16, gpu[PCIE_GENERATION] or 3
        allowed = ceil(lanes * _REPLAYS.get(generation, _REPLAYS[6])) * self._dials["replay_factor"]
        rate = grown * _MINUTE_S / span_s
        if rate > allowed:
            yield gpu_claim(
                gpu, "pcie.replays", Stage.SUSPECT,
                f"{rate:.0f} PCIe replays per minute; a good link of this kind has at most {allowed:.0f}",
                Evidence(
                    "pcie_replays_per_minute", round(rate, 1), f"{grown:.0f} replays in {duration_text(span_s)}",
                    f"at most {allowed:.0f}",
                ),
                "Reseat the board or its riser. If it continues, suspect the slot, then the board. Kernel log: "
                "sudo dmesg | grep -i aer", _MINUTE_S,
            )  # fmt: skip

    def _errors(self, gpu: Gpu, links: _Links) -> Iterator[Claim]:
        grown, span_s = links.nvlink.over(_WINDOW_S)
        rate = grown * _MINUTE_S / span_s if span_s >= _MINUTE_S else 0.0
        if rate >= self._dials["nvlink_a_minute"]:
            what = f"{rate:.0f} NVLink replays and recoveries per minute"
            evidence = Evidence("nvlink_errors_per_minute", round(rate, 1), what, 0)
            yield gpu_claim(gpu, "nvlink.errors", Stage.ALARM, what, evidence, _NVLINK, _MINUTE_S)
            return
        grown, span_s = links.crc.over(_WINDOW_S)
        rate = grown / span_s if span_s >= _MINUTE_S else 0.0
        if rate >= self._dials["nvlink_crc_a_second"]:
            what = f"{rate:.0f} NVLink CRC errors per second"
            evidence = Evidence("nvlink_crc_per_s", round(rate, 1), what, 0)
            yield gpu_claim(gpu, "nvlink.errors", Stage.SUSPECT, what, evidence, _NVLINK, _MINUTE_S)


def _down(gpu: Gpu, links: _Links, fewest: int) -> Iterator[Claim]:
    """Compare with the siblings: on boards without a bridge all links are down, which is no fault."""
    down, count = gpu[NVLINK_LINKS_DOWN], gpu[NVLINK_LINKS]
    if down is None:
        return
    links.down_at_first = down if links.down_at_first is None else min(links.down_at_first, down)
    if down <= min(fewest, links.down_at_first):
        return
    went = down > links.down_at_first
    before = f"{links.down_at_first or 'none'} before" if went else f"{fewest or 'none'} on other GPUs of this model"
    yield gpu_claim(
        gpu, "nvlink.down", Stage.ALARM if went else Stage.SUSPECT,
        f"{down} of {count or '?'} NVLinks {'is' if down == 1 else 'are'} down; {before}",
        Evidence("nvlink_links_down", down, f"links down: {down}", min(fewest, links.down_at_first)),
        "See which: nvidia-smi nvlink -s -i {n}. Check bridge or cable, and: systemctl status nvidia-fabricmanager",
    )  # fmt: skip


def _fewest_down(gpus: tuple[Gpu, ...]) -> dict[str, int]:
    """Return, by model, the smallest number of links that are down on a board."""
    best: dict[str, int] = {}
    for gpu in gpus:
        down = gpu[NVLINK_LINKS_DOWN]
        if down is not None:
            best[gpu.name] = min(best.get(gpu.name, down), down)
    return best
