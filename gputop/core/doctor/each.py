"""The same question to each GPU: who is sick, who is well, who does not say."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from gputop.core.doctor.facts import Details, Facts
from gputop.core.doctor.verdict import Severity, Verdict, nothing, ok, unknown
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Gpu, GpuState

NO_DRIVER: Final = "the driver does not answer"
NO_GPU: Final = "there is no GPU"
OUT_OF_REACH: Final = {GpuState.LOST: Missing.LOST, GpuState.HUNG: Missing.HUNG}
_NOT_THERE: Final = frozenset({Missing.UNSUPPORTED, Missing.OUTDATED})

Answer: TypeAlias = Callable[[Gpu], Any]
"""What a GPU says: a value, or a `Missing`."""


def of(metric: Metric[Any]) -> Answer:
    """Return what reads a metric."""

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401 - as the metric
        value = gpu[metric]
        return (OUT_OF_REACH.get(gpu.state) or gpu.why(metric)) if value is None else value

    return answer


def said(gpu: Gpu, metric: Metric[Any]) -> Any:  # noqa: ANN401 - as the metric
    """Return a value where it is known to be there, without the type checker's doubts."""
    return gpu[metric]


def missing(*values: Any) -> Missing | None:  # noqa: ANN401 - what GPUs say
    """Return the first reason among values."""
    return next((value for value in values if isinstance(value, Missing)), None)


def detail(facts: Facts, pick: Callable[[Details], Any]) -> Answer:
    """Return what reads a part of the details."""

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401 - as the part
        held = facts.details.get(gpu.uuid)
        if held is None:
            return OUT_OF_REACH.get(gpu.state, Missing.HUNG)  # it did not answer in time
        value = pick(held)
        return Missing.UNSUPPORTED if value is None else value

    return answer


def why_none(facts: Facts) -> Verdict | None:
    """Return why no GPU can be asked; None where there are some."""
    if not facts.is_up:
        return nothing(NO_GPU) if facts.has_no_gpu else unknown(NO_DRIVER)
    return None if facts.gpus else nothing(NO_GPU)


def unread(facts: Facts, part: str) -> Verdict:
    """Return that a part of the facts could not be read, and why."""
    return unknown(f"{part}: {facts.unread.get(part, 'not read')}")


def judged(
    facts: Facts,
    answer: Answer,
    is_sick: Callable[[Any], bool],
    verdict: Callable[[Sequence[Gpu]], Verdict],
    well: str,
) -> tuple[Verdict, ...]:
    """Return one verdict on all that are sick, and who does not say. Where all are well: ``well``."""
    none = why_none(facts)
    if none:
        return (none,)
    answers = [(gpu, answer(gpu)) for gpu in facts.gpus]
    told = [(gpu, value) for gpu, value in answers if not isinstance(value, Missing)]
    sick = [gpu for gpu, value in told if is_sick(value)]
    found = [verdict(sick)] if sick else []
    found += _silent((gpu, why) for gpu, why in answers if isinstance(why, Missing) and why not in _NOT_THERE)
    if found:
        return tuple(found)
    return (ok(well) if told else nothing("no GPU here has it"),)


def only(verdicts: Iterable[Verdict], *severities: Severity) -> tuple[Verdict, ...]:
    """Return those of these severities: what a second question adds to the answer of a first."""
    return tuple(verdict for verdict in verdicts if verdict.severity in severities)


def about(gpus: Sequence[Gpu]) -> str:
    """Return GPU 3, or GPUs 0-2, 5."""
    return f"GPU{'s' if len(gpus) > 1 else ''} {ranges(gpu.index for gpu in gpus)}"


def numbers(gpus: Sequence[Gpu]) -> str:
    """Return 0,1,2: as nvidia-smi and gputop take it."""
    return ",".join(str(gpu.index) for gpu in gpus)


def plural(gpus: Sequence[Gpu], one: str, several: str) -> str:
    """Return the form of a verb."""
    return several if len(gpus) > 1 else one


def ranges(indices: Iterable[int]) -> str:
    """Return 0-2, 5."""
    parts: list[list[int]] = []
    for index in sorted(indices):
        if parts and parts[-1][-1] == index - 1:
            parts[-1].append(index)
        else:
            parts.append([index])
    return ", ".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def reset(gpus: Sequence[Gpu]) -> tuple[str, ...]:
    """Return how GPUs are reset; nothing may use them meanwhile."""
    return (
        f"Stop what runs on {about(gpus)}. To see it: gputop -i {numbers(gpus)}",
        f"$ sudo nvidia-smi --gpu-reset -i {numbers(gpus)}",
    )


def _silent(answers: Iterable[tuple[Gpu, Missing]]) -> list[Verdict]:
    by_reason: dict[Missing, list[Gpu]] = {}
    for gpu, why in answers:
        by_reason.setdefault(why, []).append(gpu)
    return [unknown(f"{about(gpus)}: {why.text}") for why, gpus in by_reason.items()]
