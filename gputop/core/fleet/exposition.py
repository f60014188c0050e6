"""Pages of exporters, read by line for the few series that describe a host: a whole parser takes ten times as long."""

import re
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Final, TypeAlias

from msgspec import Struct

from gputop.core.fleet.answer import Answers, Place, Sample, Series
from gputop.core.fleet.plan import AGENTS, FINDINGS, GPU_POWER, GPU_TENSOR, HOLDERS, JOBS, NAMES, PODS, USERS

_LINE: Final = re.compile(r"([A-Za-z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)(?:\s+-?\d+)?\s*", re.ASCII)
_LABEL: Final = re.compile(r'([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)",?\s*', re.ASCII)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_MOST_LINES: Final = 100_000
_NAMES: Final = "DCGM_FI_DEV_GPU_TEMP"

Join: TypeAlias = Callable[[Iterable[float]], float]


def _mean(values: Iterable[float]) -> float:
    known = tuple(values)
    return sum(known) / len(known)


class _Series(Struct, frozen=True):
    """A series that answers a query: how the values of MIG instances make one of a GPU, and those one of the host."""

    key: str
    name: str
    of_instances: Join
    of_gpus: Join | None = None
    is_of_instances: bool = False


_SERIES: Final = (
    _Series("utilization", "DCGM_FI_DEV_GPU_UTIL", max),
    _Series("activity", "DCGM_FI_PROF_GR_ENGINE_ACTIVE", max, is_of_instances=True),
    _Series("used", "DCGM_FI_DEV_FB_USED", sum),
    _Series("free", "DCGM_FI_DEV_FB_FREE", sum),
    _Series("xid", "DCGM_FI_DEV_XID_ERRORS", max),
    _Series("tensor", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", _mean, _mean),
    _Series("power", "DCGM_FI_DEV_POWER_USAGE", max, sum),
    _Series("temperature", _NAMES, max, max),
    _Series(GPU_TENSOR, "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", _mean),
    _Series(GPU_POWER, "DCGM_FI_DEV_POWER_USAGE", max),
)
_LABELS: Final = {
    NAMES: _NAMES, AGENTS: "gputop_build_info", USERS: "gputop_user_gpus", JOBS: "gputop_job_gpus",
    HOLDERS: "gputop_job_gpu_memory_used_bytes", FINDINGS: "gputop_finding",
}  # fmt: skip
_POD_LABELS: Final = {"namespace": "exported_namespace", "pod": "exported_pod"}  # as a server names them
_READ: Final = frozenset((*_LABELS.values(), *(series.name for series in _SERIES)))


def answers_of(page: str, instance: str) -> Answers:
    """Return what a server would answer to the queries of `plan` if it had scraped this page alone."""
    samples = _samples(page)
    return Answers(
        {series.key: _answer(series, samples.get(series.name, []), instance) for series in _SERIES},
        {
            key: [Series(labels | {"instance": instance}, (0.0, value)) for labels, value in samples.get(name, [])]
            for key, name in _LABELS.items()
        }
        | {PODS: _pods(samples.get("DCGM_FI_DEV_FB_USED", []), instance)},
    )


def _pods(samples: list[tuple[dict[str, str], float]], instance: str) -> list[Series]:
    """Return the samples that name a job or a pod, with the labels that a server would give them."""
    return [
        Series({_POD_LABELS.get(name, name): text for name, text in labels.items()} | {"instance": instance})
        for labels, _ in samples
        if labels.get("hpc_job") or labels.get("pod")
    ]


def _samples(page: str) -> dict[str, list[tuple[dict[str, str], float]]]:
    """Return labels and number of the series that are read, by name. Skip other lines, and numbers that are none."""
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for line in page.split("\n", _MOST_LINES)[:_MOST_LINES]:
        name = line.partition("{")[0].partition(" ")[0]
        match = _LINE.fullmatch(line) if name in _READ else None
        value = _number(match[3]) if match is not None else None
        if match is not None and value is not None:
            found.setdefault(name, []).append((_labels(match[2] or ""), value))
    return found


def _labels(text: str) -> dict[str, str]:
    """Return the labels up to the first mistake; to look behind it would take time that grows with its square."""
    found, at = {}, 0
    while match := _LABEL.match(text, at):
        found[match[1]] = _plain(match[2])
        at = match.end()
    return found


def _answer(series: _Series, samples: list[tuple[dict[str, str], float]], instance: str) -> list[Sample]:
    parts: dict[str, dict[str, float]] = {}
    for labels, value in samples:
        part = labels.get("GPU_I_ID", "")
        if part or not series.is_of_instances:
            held = parts.setdefault(labels.get("gpu", ""), {})
            held[part] = max(value, held.get(part, value))
    values = {gpu: series.of_instances(held.values()) for gpu, held in parts.items()}
    if series.of_gpus is not None:
        values = {"": series.of_gpus(values.values())} if values else {}
    return [Sample(Place(instance, gpu), (0.0, value)) for gpu, value in values.items()]


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None


def _plain(value: str) -> str:
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], value) if "\\" in value else value
