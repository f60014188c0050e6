"""One check over every GPU: the faulty ones, the healthy ones, and those without a reading."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeAlias

from gputop.core.doctor.facts import Details, Facts
from gputop.core.doctor.verdict import Severity, Verdict, nothing, ok, unknown
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.sample import Gpu, GpuState
from gputop.core.text.ranges import ranges

NO_DRIVER: Final = "the driver does not respond"
NO_GPU: Final = "no GPU found"
OUT_OF_REACH: Final = {GpuState.LOST: Missing.LOST, GpuState.HUNG: Missing.HUNG}
_NOT_THERE: Final = frozenset({Missing.UNSUPPORTED, Missing.OUTDATED})

Answer: TypeAlias = Callable[[Gpu], Any]
"""A reading of a GPU: a value, or a `Missing`."""


def of(metric: Metric[Any]) -> Answer:
    """Return a reader of a metric."""

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401 - as the metric
        value = gpu[metric]
        return (OUT_OF_REACH.get(gpu.state) or gpu.why(metric)) if value is None else value

    return answer


def said(gpu: Gpu, metric: Metric[Any]) -> Any:  # noqa: ANN401 - as the metric
    """Return a value that is known to be present, typed as Any."""
    return gpu[metric]


def missing(*values: Any) -> Missing | None:  # noqa: ANN401 - readings of any type
    """Return the first `Missing` among values."""
    return next((value for value in values if isinstance(value, Missing)), None)


def detail(facts: Facts, pick: Callable[[Details], Any]) -> Answer:
    """Return a reader of one field of the details."""

    def answer(gpu: Gpu) -> Any:  # noqa: ANN401 - as the part
        details = facts.details.get(gpu.uuid)
        if details is None:
            return OUT_OF_REACH.get(gpu.state, Missing.HUNG)  # it did not answer in time
        value = pick(details)
        return Missing.UNSUPPORTED if value is None else value

    return answer


def why_none(facts: Facts) -> Verdict | None:
    """Return why no GPU can be checked; None if there are GPUs."""
    if not facts.is_up:
        return nothing(NO_GPU) if facts.has_no_gpu else unknown(NO_DRIVER)
    return None if facts.gpus else nothing(NO_GPU)


def unread(facts: Facts, part: str) -> Verdict:
    """Build a verdict that says why a part of the facts could not be read."""
    return unknown(f"{part}: {facts.unread.get(part, 'not read')}")


def judged(
    facts: Facts,
    answer: Answer,
    is_faulty: Callable[[Any], bool],
    verdict: Callable[[Sequence[Gpu]], Verdict],
    ok_text: str,
) -> tuple[Verdict, ...]:
    """Return one verdict for all faulty GPUs, and one per reason for those without a reading; else ``ok_text``."""
    none = why_none(facts)
    if none:
        return (none,)
    answers = [(gpu, answer(gpu)) for gpu in facts.gpus]
    known = [(gpu, value) for gpu, value in answers if not isinstance(value, Missing)]
    faulty = [gpu for gpu, value in known if is_faulty(value)]
    found = [verdict(faulty)] if faulty else []
    found += _unread_gpus((gpu, why) for gpu, why in answers if isinstance(why, Missing) and why not in _NOT_THERE)
    if found:
        return tuple(found)
    return (ok(ok_text) if known else nothing("no GPU here supports it"),)


def only(verdicts: Iterable[Verdict], *severities: Severity) -> tuple[Verdict, ...]:
    """Return the verdicts of these severities; a second question adds only those to the answer of the first."""
    return tuple(verdict for verdict in verdicts if verdict.severity in severities)


def about(gpus: Sequence[Gpu]) -> str:
    """Return the GPUs as the subject of a sentence: ``GPU 3``, ``GPUs 0-2, 5``."""
    indices = ranges((gpu.index for gpu in gpus), ", ")
    return f"GPU{'s' if len(gpus) > 1 else ''} {indices}"


def numbers(gpus: Sequence[Gpu]) -> str:
    """Return the indices as nvidia-smi and gputop accept them: ``0,1,2``."""
    return ",".join(str(gpu.index) for gpu in gpus)


def plural(gpus: Sequence[Gpu], one: str, several: str) -> str:
    """Return the form of a verb that fits the number of GPUs."""
    return several if len(gpus) > 1 else one


def reset(gpus: Sequence[Gpu]) -> tuple[str, ...]:
    """Return the steps that reset GPUs; no process may use them during the reset."""
    return (
        f"Stop all processes on {about(gpus)}. To list them: gputop -i {numbers(gpus)}",
        f"$ sudo nvidia-smi --gpu-reset -i {numbers(gpus)}",
    )


def _unread_gpus(answers: Iterable[tuple[Gpu, Missing]]) -> list[Verdict]:
    by_reason: dict[Missing, list[Gpu]] = {}
    for gpu, why in answers:
        by_reason.setdefault(why, []).append(gpu)
    return [unknown(f"{about(gpus)}: {why.text}") for why, gpus in by_reason.items()]
