"""The detector of reduced clocks: by heat, by the power supply, or by the power limit."""

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Final

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.counters import EachGpu, Growth, starts_again
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.model.catalogue import (
    CLOCK_SM,
    CLOCK_SM_MAX,
    EVENT_REASONS,
    GPU_UTILIZATION,
    MEMORY_TEMPERATURE,
    POWER_LIMIT,
    POWER_LIMIT_DEFAULT,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
    THROTTLED_HW_THERMAL,
    THROTTLED_POWER_BRAKE,
    THROTTLED_POWER_CAP,
    THROTTLED_SW_THERMAL,
)
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import Gpu, GpuState
from gputop.core.model.units import duration_text, value_text

KIND: Final = Kind(
    name="throttle",
    question="Are the clocks of a GPU reduced by heat, by its power supply, or by its power limit?",
    codes={
        "throttle.thermal": "The clocks are reduced because the GPU or its memory is too hot.",
        "throttle.power_brake": "The clocks are halved because the power supply or the rack demands it.",
        "throttle.power_cap": "The clocks are reduced to stay below the power limit. This is normal for a busy GPU.",
    },
    remedies={
        "throttle.thermal": "Check fans, dust and airflow. Until then reduce power: `sudo nvidia-smi -i N -pl WATTS`.",
        "throttle.power_brake": "Check the power supply and the rack's power cap: `nvidia-smi -q -d PERFORMANCE -i N`.",
        "throttle.power_cap": "Do nothing, unless the limit is lower than intended: `nvidia-smi -q -d POWER -i N`.",
    },
    dials=(
        Dial(
            "hardware_percent", 15.0, 0.1, 100.0,
            "If the hardware reduces the clocks because of heat for more than this share of minute_s, that is an "
            "alarm.",
        ),
        Dial(
            "brake_percent", 1.0, 0.1, 100.0,
            "If the power supply reduces the clocks for more than this share of minute_s, that is an alarm.",
        ),
        Dial(
            "software_percent", 20.0, 0.1, 100.0,
            "Thermal slowdown for more than this share of the shorter window (minute_s) is a suspect.",
        ),
        Dial(
            "lasting_percent", 30.0, 0.1, 100.0,
            "Thermal slowdown for more than this share of the longer window (long_s) is an alarm.",
        ),
        Dial(
            "cap_percent", 50.0, 1.0, 100.0,
            "If the power limit reduces the clocks for at least this share of the longer window (long_s), that is an "
            "observation.",
        ),
        Dial(
            "lowered_percent", 2.0, 0.0, 99.0,
            "A GPU at its power limit is a suspect if the limit is lower than the default limit by more than this.",
        ),
        Dial(
            "clock_percent", 80.0, 1.0, 100.0,
            "A GPU at its power limit is also a suspect if its SM clock is low: below this share of the clock of other "
            "busy GPUs of the same model.",
        ),
        Dial(
            "reason_s", 10.0, 2.0, 3600.0,
            "Some drivers have no counters for reduced clocks. gputop then reports reduced clocks that last at least "
            "this long.",
        ),
        Dial("minute_s", 60.0, 10.0, 3600.0, "Length of the shorter window."),
        Dial("long_s", 300.0, 60.0, 86400.0, "Length of the longer window."),
        Dial(
            "busy_percent", 20.0, 1.0, 100.0,
            "gputop compares clocks only between GPUs with at least this utilization.",
        ),
        Dial("hold_s", 60.0, 0.0, 3600.0, "Slowdowns are one finding if the pause between them is at most this long."),
    ),
)  # fmt: skip

_NO_COUNTERS: Final = "how long the clocks were reduced (the driver does not count it)"
_SW_THERMAL, _HW_THERMAL, _BRAKE, _CAP = "software thermal", "hardware thermal", "power brake", "power cap"
_COUNTERS: Final = {
    _SW_THERMAL: THROTTLED_SW_THERMAL,
    _HW_THERMAL: THROTTLED_HW_THERMAL,
    _BRAKE: THROTTLED_POWER_BRAKE,
    _CAP: THROTTLED_POWER_CAP,
}
_COOLING: Final = "Check fans, dust, airflow and blocked slots. Until then give it less work or a lower power limit: "
_COOLER: Final = _COOLING + "sudo nvidia-smi -i {n} -pl WATTS"
_SUPPLY: Final = "Check the power supply, its cables and the power cap of the rack: nvidia-smi -q -d PERFORMANCE -i {n}"
_LOWERED: Final = "If this is not intended, restore the limit: sudo nvidia-smi -i {n} -pl {watts:.0f}"
_NORMAL: Final = "Nothing to do: the job uses all the power that the board may draw. nvidia-smi -q -d POWER -i {n}"


class _Slowed:
    """For how long the clocks of a GPU were reduced, by reason, and since when without a break."""

    def __init__(self, longest_s: float) -> None:
        self.growth = {name: Growth(longest_s) for name in _COUNTERS}
        self.lasts_s = dict.fromkeys(_COUNTERS, 0.0)
        self.slow_s = 0.0

    def take(self, gpu: Gpu, context: Context, *, is_new: bool) -> None:
        """Add the readings of a sample."""
        reasons = gpu[EVENT_REASONS] or ()
        is_broken = starts_again(gpu, context)
        for name, metric in _COUNTERS.items():
            growth = self.growth[name]
            if is_broken:
                growth.forget()
            if is_new:
                growth.add(context.now_s, gpu[metric])
            self.lasts_s[name] = self.lasts_s[name] + context.step_s if name in reasons else 0.0

    def seconds(self, name: str, span_s: float) -> tuple[float, float]:
        """Return the seconds of reduced clocks, and the watched seconds, of the last ``span_s``."""
        grown, watched_s = self.growth[name].over(span_s)
        longer = max(1.0, watched_s / span_s)  # points are 5 s apart
        return min(grown, watched_s) / longer, watched_s / longer


class ThrottleDetector:
    """Reads the driver's counters of reduced clocks; without counters, the clocks event reasons."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._minute_s, self._long_s = dials["minute_s"], max(dials["minute_s"], dials["long_s"])
        self._slowed = EachGpu(lambda: _Slowed(self._long_s))

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per GPU and kind of slowdown."""
        clocks = _busy_clocks(context, self._dials["busy_percent"])
        for gpu in context.sample.gpus:
            slowed = self._slowed.of(gpu.uuid, context.now_s)
            slowed.take(gpu, context, is_new=gpu.state is GpuState.OK)
            if gpu.state is GpuState.OK:
                yield from self._heat(gpu, slowed, context)
                yield from self._brake(gpu, slowed)
                yield from self._cap(gpu, slowed, context, clocks.get(gpu.name, ()))
        self._slowed.forget(context.now_s)

    def _heat(self, gpu: Gpu, slowed: _Slowed, context: Context) -> Iterator[Claim]:
        hard_s, span_s = slowed.seconds(_HW_THERMAL, self._minute_s)
        soft_s, _ = slowed.seconds(_SW_THERMAL, self._minute_s)
        lasting_s, long_s = slowed.seconds(_SW_THERMAL, self._long_s)
        is_hard = hard_s > self._of_minute("hardware_percent") or self._lasts(gpu, slowed, _HW_THERMAL)
        is_lasting = long_s >= self._long_s * 0.98 and 100 * lasting_s / long_s > self._dials["lasting_percent"]
        is_soft = soft_s > self._of_minute("software_percent") or self._lasts(gpu, slowed, _SW_THERMAL)
        if not (is_hard or is_lasting or is_soft):
            return
        share = _share(hard_s + soft_s, span_s) if is_hard or not is_lasting else _share(lasting_s, long_s)
        span_s = span_s if is_hard or not is_lasting else long_s
        yield _claim(
            gpu, "throttle.thermal", Stage.ALARM if is_hard or is_lasting else Stage.SUSPECT,
            f"thermal slowdown {_of(share, span_s)}{_clock(gpu)}; {_heat_of(gpu)}{_neighbours(gpu, context)}",
            (
                Evidence("thermal_slowdown_percent", share, _of(share, span_s)),
                Evidence("hardware_thermal_s", round(hard_s, 1), _hard_text(hard_s)),
                Evidence("temperature_c", gpu[TEMPERATURE], _heat_of(gpu), _others_celsius(gpu, context)),
                *_clock_evidence(gpu),
            ),
            _COOLER.format(n=gpu.index), hold_s=self._dials["hold_s"],
        )  # fmt: skip

    def _brake(self, gpu: Gpu, slowed: _Slowed) -> Iterator[Claim]:
        braked_s, span_s = slowed.seconds(_BRAKE, self._minute_s)
        if braked_s > self._of_minute("brake_percent") or self._lasts(gpu, slowed, _BRAKE):
            share = _share(braked_s, span_s)
            yield _claim(
                gpu, "throttle.power_brake", Stage.ALARM, f"power brake {_of(share, span_s)}{_clock(gpu)}",
                (Evidence("power_brake_percent", share, _of(share, span_s)), *_clock_evidence(gpu)),
                _SUPPLY.format(n=gpu.index),
                hold_s=self._dials["hold_s"],
            )  # fmt: skip

    def _cap(self, gpu: Gpu, slowed: _Slowed, context: Context, clocks: tuple[int, ...]) -> Iterator[Claim]:
        capped_s, span_s = slowed.seconds(_CAP, self._long_s)
        clock, limit, usual = gpu[CLOCK_SM], gpu[POWER_LIMIT], gpu[POWER_LIMIT_DEFAULT]
        if span_s < self._minute_s or 100 * capped_s / span_s < self._dials["cap_percent"]:
            slowed.slow_s = 0.0
            return
        siblings = median(clocks) if len(clocks) > 2 else None
        is_slow = clock is not None and siblings is not None and clock < siblings * self._dials["clock_percent"] / 100
        slowed.slow_s = slowed.slow_s + context.step_s if is_slow else 0.0
        is_lowered = (
            limit is not None and usual is not None and limit < usual * (1 - self._dials["lowered_percent"] / 100)
        )
        share = _share(capped_s, span_s)
        evidence = [Evidence("power_cap_percent", share, _of(share, span_s))]
        why, remedy = "", _NORMAL.format(n=gpu.index)
        if slowed.slow_s >= self._minute_s and siblings is not None:
            why = f"; the other busy GPUs of this model run at {siblings / 1e6:.0f}MHz"
            evidence.append(Evidence("clock_sm_hz", clock, f"SM clock at {(clock or 0) / 1e6:.0f}MHz", siblings))
            remedy = _COOLER.format(n=gpu.index)
        if is_lowered and usual is not None:
            why += (
                f"; the limit is {value_text(limit, POWER_LIMIT.unit)} instead of {value_text(usual, POWER_LIMIT.unit)}"
            )
            evidence.append(Evidence("power_limit_w", limit, value_text(limit, POWER_LIMIT.unit), usual))
            remedy = _LOWERED.format(n=gpu.index, watts=usual)
        yield _claim(
            gpu, "throttle.power_cap", Stage.SUSPECT if why else Stage.OBSERVATION,
            f"power cap {_of(share, span_s)}{_clock(gpu)}{why}", tuple(evidence), remedy,
            hold_s=self._dials["hold_s"],
        )  # fmt: skip

    def _of_minute(self, dial: str) -> float:
        return self._dials[dial] * self._minute_s / 100

    def _lasts(self, gpu: Gpu, slowed: _Slowed, name: str) -> bool:
        """Return whether the driver has given a reason for long enough; used only without a counter for it."""
        return gpu[_COUNTERS[name]] is None and slowed.lasts_s[name] >= self._dials["reason_s"]


def _busy_clocks(context: Context, least_percent: float) -> dict[str, tuple[int, ...]]:
    """Return the SM clocks of the busy boards, by model."""
    found: dict[str, tuple[int, ...]] = {}
    for gpu in context.sample.gpus:
        clock = gpu[CLOCK_SM]
        if clock is not None and (gpu[GPU_UTILIZATION] or 0) >= least_percent:
            found[gpu.name] = (*found.get(gpu.name, ()), clock)
    return found


def _claim(  # noqa: PLR0917 - the parts of a sentence
    gpu: Gpu, code: str, stage: Stage, summary: str, evidence: tuple[Evidence, ...], remedy: str, *, hold_s: float
) -> Claim:
    return Claim(
        code=code, stage=stage, subject=gpu_subject(gpu), summary=summary, evidence=evidence, remedy=remedy,
        hold_s=hold_s,
        lacking=() if gpu[THROTTLED_SW_THERMAL] is not None else (_NO_COUNTERS,),
    )  # fmt: skip


def _share(seconds: float, span_s: float) -> float | None:
    """Return the share of a time in percent; None if nothing was counted."""
    return min(100.0, round(100 * seconds / span_s, 1)) if seconds and span_s else None


def _of(share: float | None, span_s: float) -> str:
    if share is None:
        return "now"
    return f"for {share:.0f}% of the last {duration_text(span_s)}"


def _hard_text(hard_s: float) -> str:
    return (
        f"hardware slowdown for {hard_s:.0f} s of the last minute"
        if hard_s
        else "no hardware slowdown in the last minute"
    )


def _clock(gpu: Gpu) -> str:
    now, most = gpu[CLOCK_SM], gpu[CLOCK_SM_MAX]
    return f": SM clock at {now / 1e6:.0f} of {most / 1e6:.0f} MHz" if now is not None and most else ""


def _heat_of(gpu: Gpu) -> str:
    chip, margin, memory = gpu[TEMPERATURE], gpu[TEMPERATURE_MARGIN], gpu[MEMORY_TEMPERATURE]
    parts = (
        [] if chip is None else [f"{chip}°C" + ("" if margin is None else f" ({margin}°C below the hardware slowdown)")]
    )
    return ", ".join([*parts, *([] if memory is None else [f"memory {memory}°C"])]) or "temperature unknown"


def _clock_evidence(gpu: Gpu) -> tuple[Evidence, ...]:
    now, most = gpu[CLOCK_SM], gpu[CLOCK_SM_MAX]
    return () if now is None else (Evidence("clock_sm_hz", now, f"SM clock at {now / 1e6:.0f} MHz", most),)


def _neighbours(gpu: Gpu, context: Context) -> str:
    celsius = _others_celsius(gpu, context)
    return "" if celsius is None else f"; the other GPUs are at {celsius:.0f}°C"


def _others_celsius(gpu: Gpu, context: Context) -> float | None:
    """Return the temperature of the other GPUs: if they are cool, this board's own cooling is at fault."""
    others = [one[TEMPERATURE] for one in context.sample.gpus if one.uuid != gpu.uuid]
    known = [celsius for celsius in others if celsius is not None]
    return median(known) if known else None
