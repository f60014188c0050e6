"""Heat, power and clocks."""

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

LOOKS: Final = 3
_MARGIN_C: Final = 5
_WARM_C: Final = 70
_SLACK_W: Final = 1.0
_HARDWARE: Final = ("hardware slowdown", "hardware thermal", "power brake")
_REMEDY: Final = {
    "power brake": "Look at the power supply and at the power cap of the rack.",
    "hardware thermal": "Look at fans, dust and air flow.",
    "hardware slowdown": "Look at cooling and power supply.",
}


def throttle_hw(facts: Facts) -> Verdicts:
    """Judge whether the hardware halves the clocks."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        words = [word for word in _HARDWARE if any(word in _lasting(facts, gpu) for gpu in gpus)]
        return fail(
            f"{about(gpus)}: the hardware lowers the clocks: {', '.join(words)}",
            evidence=[
                f"GPU {gpu.index}: {', '.join(sorted(_lasting(facts, gpu)))} in {len(facts.samples)} looks"
                for gpu in gpus
            ],
            fix=[_REMEDY[word] for word in reversed(words)],
        )

    return _throttle(facts, frozenset(_HARDWARE), verdict, "the hardware lowers no clocks")


def throttle_sw(facts: Facts) -> Verdicts:
    """Judge whether the driver lowers the clocks because of heat."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: the driver lowers the clocks because of heat",
            evidence=[f"GPU {gpu.index}: software thermal in {len(facts.samples)} looks{_heat(gpu)}" for gpu in gpus],
            fix=(f"Look at air flow and fans, or lower the limit: sudo nvidia-smi -i {numbers(gpus)} -pl WATTS",),
        )

    return _throttle(facts, frozenset({"software thermal"}), verdict, "no clocks are lowered because of heat")


def power_limit(facts: Facts) -> Verdicts:
    """Judge whether a board may draw less than it was built for, or has its clocks set."""

    def lower(gpu: Gpu) -> Any:  # noqa: ANN401
        limit, default = of(POWER_LIMIT)(gpu), of(POWER_LIMIT_DEFAULT)(gpu)
        return missing(limit, default) or default - limit > _SLACK_W

    def limited(gpus: Sequence[Gpu]) -> Verdict:
        return info(
            f"{about(gpus)}: the power limit is below the default one",
            evidence=[
                f"GPU {g.index}: {said(g, POWER_LIMIT):.0f}W of {said(g, POWER_LIMIT_DEFAULT):.0f}W" for g in gpus
            ],
            fix=(
                "If nobody meant it:",
                *(f"$ sudo nvidia-smi -i {g.index} -pl {said(g, POWER_LIMIT_DEFAULT):.0f}" for g in gpus),
            ),
        )

    def set_clocks(gpus: Sequence[Gpu]) -> Verdict:
        return info(
            f"{about(gpus)}: the clocks are set by hand",
            evidence=("clocks event reason: application clocks",),
            fix=(f"To let them go: sudo nvidia-smi -i {numbers(gpus)} -rgc; sudo nvidia-smi -i {numbers(gpus)} -rac",),
        )

    found = judged(facts, lower, bool, limited, "every power limit is the default one or above")
    clocks = judged(facts, of(EVENT_REASONS), lambda words: "application clocks" in words, set_clocks, "")
    return (*found, *only(clocks, Severity.INFO))


def temperature(facts: Facts) -> Verdicts:
    """Judge whether a board is near the temperature at which it slows down, or a fan stands still."""

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: hot",
            evidence=[f"GPU {gpu.index}: {text}" for gpu in gpus for text in _hot(gpu)],
            fix=("Look at fans, dust and air flow; what do its neighbours have?",),
        )

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        chip = of(TEMPERATURE)(gpu)
        return chip if isinstance(chip, Missing) else _hot(gpu)

    return judged(facts, answer, bool, verdict, "none is near its limits")


def persistence(facts: Facts) -> Verdicts:
    """Judge whether the driver lets go of a server's GPUs when nobody uses them."""
    none = why_none(facts)
    if none:
        return none
    programs = facts.programs.found if facts.programs else ()
    if any(program.name.startswith("nvidia-persiste") for program in programs):
        return ok("nvidia-persistenced runs")
    if not any(is_data_centre(gpu) for gpu in facts.gpus):
        return nothing("it matters on servers only")

    def verdict(gpus: Sequence[Gpu]) -> Verdict:
        return warn(
            f"{about(gpus)}: persistence is off: each first use waits for the driver, and settings are lost",
            evidence=("persistence mode disabled, and nvidia-persistenced does not run",),
            fix=(
                "$ sudo systemctl enable --now nvidia-persistenced",
                f"Or until the next boot: sudo nvidia-smi -i {numbers(gpus)} -pm 1",
            ),
        )

    return judged(facts, of(PERSISTENCE), lambda on: not on, verdict, "persistence is on")


def _throttle(facts: Facts, words: frozenset[str], verdict: Any, well: str) -> Verdicts:  # noqa: ANN401
    none = why_none(facts)
    if none:
        return none
    if len(facts.samples) < LOOKS:
        return unknown(f"it takes {LOOKS} looks to tell, and there were {len(facts.samples)}")

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401
        now = of(EVENT_REASONS)(gpu)
        return now if isinstance(now, Missing) else _lasting(facts, gpu) & words

    return judged(facts, answer, bool, verdict, well)


def _lasting(facts: Facts, gpu: Gpu) -> frozenset[str]:
    """Return the reasons that a GPU gave in every look."""
    looks = [
        frozenset(said(each, EVENT_REASONS) or ())
        for one in facts.samples
        for each in one.gpus
        if each.uuid == gpu.uuid
    ]
    return frozenset.intersection(*looks) if looks else frozenset()


def _heat(gpu: Gpu) -> str:
    return f", {said(gpu, TEMPERATURE):.0f}°C" if said(gpu, TEMPERATURE) is not None else ""


def _hot(gpu: Gpu) -> tuple[str, ...]:
    chip, margin, slowdown = said(gpu, TEMPERATURE), said(gpu, TEMPERATURE_MARGIN), said(gpu, TEMPERATURE_SLOWDOWN)
    memory, memory_max, fan = said(gpu, MEMORY_TEMPERATURE), said(gpu, TEMPERATURE_MEMORY_MAX), said(gpu, FAN)
    if margin is None and slowdown is not None and chip is not None:
        margin = slowdown - chip
    found = []
    if margin is not None and margin <= _MARGIN_C:
        found.append(f"chip at {chip}°C, {margin}°C below its slowdown")
    if memory is not None and memory_max is not None and memory_max - memory <= _MARGIN_C:
        found.append(f"memory at {memory}°C of at most {memory_max}°C")
    if fan == 0 and chip is not None and chip > _WARM_C:
        found.append(f"fan at 0 % and the chip at {chip}°C")
    return tuple(found)
