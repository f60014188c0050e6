"""Checks of temperature, power and clocks."""

from collections.abc import Sequence
from typing import Any, Final

from gputop.core.doctor.each import about, judged, missing, numbers, of, only, said, why_none
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.memory import is_data_centre
from gputop.core.doctor.verdict import Severity, Verdict, Verdicts, fail, info, nothing, ok, unknown, warn
from gputop.core.model.catalogue import (
    EVENT_REASONS,
    FAN,
    MEMORY_TEMPERATURE,
    PERSISTENCE,
    POWER_LIMIT,
    POWER_LIMIT_DEFAULT,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
    TEMPERATURE_MEMORY_MAX,
    TEMPERATURE_SLOWDOWN,
)
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu

SAMPLES: Final = 3
_MARGIN_C: Final = 5
_WARM_C: Final = 70
_SLACK_W: Final = 1.0
_HARDWARE: Final = ("hardware slowdown", "hardware thermal", "power brake")
_REMEDY: Final = {
    "power brake": "Check the power supply and the rack's power cap.",
    "hardware thermal": "Check fans, dust and air flow.",
    "hardware slowdown": "Check cooling and power supply.",
}


def throttle_hw(facts: Facts) -> Verdicts:
    """Judge whether the hardware reduces the clocks."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        words = [word for word in _HARDWARE if any(word in _lasting(facts, gpu) for gpu in gpus)]
        return fail(
            f"{about(gpus)}: hardware clock throttling: {', '.join(words)}",
            evidence=[
                f"GPU {gpu.index}: {', '.join(sorted(_lasting(facts, gpu)))} in {len(facts.samples)} samples"
                for gpu in gpus
            ],
            fix=[_REMEDY[word] for word in reversed(words)],
        )

    return _throttle(facts, frozenset(_HARDWARE), verdict, "no hardware clock throttling")


def throttle_sw(facts: Facts) -> Verdicts:
    """Judge whether the driver reduces the clocks because of heat."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: the driver reduces the clocks because of heat",
            evidence=[
                f"GPU {gpu.index}: software thermal slowdown in {len(facts.samples)} samples{_heat(gpu)}"
                for gpu in gpus
            ],
            fix=(f"Check air flow and fans, or lower the power limit: sudo nvidia-smi -i {numbers(gpus)} -pl WATTS",),
        )

    return _throttle(facts, frozenset({"software thermal"}), verdict, "no thermal clock throttling")


def power_limit(facts: Facts) -> Verdicts:
    """Judge whether the power limit is below the default, or the clocks are set by hand."""

    def lower(gpu: Gpu) -> Any:  # noqa: ANN401
        limit, default = of(POWER_LIMIT)(gpu), of(POWER_LIMIT_DEFAULT)(gpu)
        return missing(limit, default) or default - limit > _SLACK_W

    def limited(gpus: Sequence[Gpu]) -> Verdict:
        return info(
            f"{about(gpus)}: the power limit is below the default",
            evidence=[
                f"GPU {g.index}: {said(g, POWER_LIMIT):.0f}W of {said(g, POWER_LIMIT_DEFAULT):.0f}W" for g in gpus
            ],
            fix=(
                "If this is not intended:",
                *(f"$ sudo nvidia-smi -i {g.index} -pl {said(g, POWER_LIMIT_DEFAULT):.0f}" for g in gpus),
            ),
        )

    def set_clocks(gpus: Sequence[Gpu]) -> Verdict:
        return info(
            f"{about(gpus)}: the clocks are set by hand",
            evidence=("clocks event reason: application clocks",),
            fix=(f"To reset them: sudo nvidia-smi -i {numbers(gpus)} -rgc; sudo nvidia-smi -i {numbers(gpus)} -rac",),
        )

    found = judged(facts, lower, bool, limited, "every power limit is at or above the default")
    clocks = judged(facts, of(EVENT_REASONS), lambda words: "application clocks" in words, set_clocks, "")
    return (*found, *only(clocks, Severity.INFO))


def temperature(facts: Facts) -> Verdicts:
    """Judge whether a GPU is near its slowdown temperature, or a fan has stopped."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: hot",
            evidence=[f"GPU {gpu.index}: {text}" for gpu in gpus for text in _hot(gpu)],
            fix=("Check fans, dust and air flow. Are the neighbouring GPUs hot too?",),
        )

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        chip = of(TEMPERATURE)(gpu)
        return chip if isinstance(chip, Missing) else _hot(gpu)

    return judged(facts, answer, bool, verdict, "no GPU is near its limits")


def persistence(facts: Facts) -> Verdicts:
    """Judge whether the driver unloads a server's idle GPUs."""
    none = why_none(facts)
    if none:
        return none
    if facts.runs("nvidia-persiste"):
        return ok("nvidia-persistenced runs")
    if not any(is_data_centre(facts, gpu) for gpu in facts.gpus):
        return nothing("persistence matters on servers only")

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: persistence is off: the first use waits for the driver, and settings are lost",
            evidence=("persistence mode is disabled, and nvidia-persistenced does not run",),
            fix=(
                "$ sudo systemctl enable --now nvidia-persistenced",
                f"Or until the next boot: sudo nvidia-smi -i {numbers(gpus)} -pm 1",
            ),
        )

    return judged(facts, of(PERSISTENCE), lambda on: not on, verdict, "persistence is on")


def _throttle(facts: Facts, words: frozenset[str], verdict: Any, ok_text: str) -> Verdicts:  # noqa: ANN401
    none = why_none(facts)
    if none:
        return none
    if len(facts.samples) < SAMPLES:
        return unknown(f"this check needs {SAMPLES} samples, but only {len(facts.samples)} were taken")

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        now = of(EVENT_REASONS)(gpu)
        return now if isinstance(now, Missing) else _lasting(facts, gpu) & words

    return judged(facts, answer, bool, verdict, ok_text)


def _lasting(facts: Facts, gpu: Gpu) -> frozenset[str]:
    """Return the clocks event reasons that a GPU has in every sample."""
    reasons = [
        frozenset(said(each, EVENT_REASONS) or ())
        for one in facts.samples
        for each in one.gpus
        if each.uuid == gpu.uuid
    ]
    return frozenset.intersection(*reasons) if reasons else frozenset()


def _heat(gpu: Gpu) -> str:
    return f", {said(gpu, TEMPERATURE):.0f}°C" if said(gpu, TEMPERATURE) is not None else ""


def _hot(gpu: Gpu) -> tuple[str, ...]:
    chip, margin, slowdown = said(gpu, TEMPERATURE), said(gpu, TEMPERATURE_MARGIN), said(gpu, TEMPERATURE_SLOWDOWN)
    memory, memory_max, fan = said(gpu, MEMORY_TEMPERATURE), said(gpu, TEMPERATURE_MEMORY_MAX), said(gpu, FAN)
    if margin is None and slowdown is not None and chip is not None:
        margin = slowdown - chip
    found = []
    if margin is not None and margin <= _MARGIN_C:
        found.append(f"chip at {chip}°C, {margin}°C below its slowdown temperature")
    if memory is not None and memory_max is not None and memory_max - memory <= _MARGIN_C:
        found.append(f"memory at {memory}°C, limit {memory_max}°C")
    if fan == 0 and chip is not None and chip > _WARM_C:
        found.append(f"fan at 0%, chip at {chip}°C")
    return tuple(found)
