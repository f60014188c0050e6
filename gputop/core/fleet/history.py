"""History of a part of a fleet: the queries over time that describe it, and the curves that they give."""

from collections.abc import Sequence
from math import floor, isfinite, nan
from typing import Final

from msgspec import Struct

from gputop.core.fleet.groups import JOB, MODEL, SERVER, USER
from gputop.core.fleet.matcher import matcher
from gputop.core.fleet.plan import Query
from gputop.core.model.metric import Unit

FLEET: Final = "fleet"
HOST: Final = "host"
GPU: Final = "gpu"
LEAST_STEP_S: Final = 15.0  # as often as a server usually asks an exporter
_MEAN_FROM_S: Final = 120.0  # with such a step, a mean says more than one value
_MOST_POINTS: Final = 2000


class Subject(Struct, frozen=True, kw_only=True):
    """What a history is of. ``kind``: fleet, host, gpu, user, job, model, server, or the name of a label.

    ``server``: which has the values. ``instances``: of a host; ``gpu``: index. ``is_dcgm``: the job is known by a
    label of dcgm-exporter only.
    """

    kind: str
    name: str
    server: str
    instances: tuple[str, ...] = ()
    gpu: str = ""
    is_dcgm: bool = False


class Stretch(Struct, frozen=True):
    """The times of a history: each ``step_s`` from start to end."""

    start_s: float
    end_s: float
    step_s: float

    @property
    def times(self) -> list[float]:
        """Return the times."""
        count = int((self.end_s - self.start_s) / self.step_s + 1e-6) + 1
        return [self.start_s + at * self.step_s for at in range(min(count, _MOST_POINTS))]

    @property
    def is_mean(self) -> bool:
        """Return whether each value is the mean of its step."""
        return self.step_s >= _MEAN_FROM_S


class FleetCurve(Struct, frozen=True, kw_only=True):
    """A series of a history. ``values``: one for each time of the stretch; NaN is a gap."""

    key: str
    values: tuple[float, ...]


class FleetHistory(Struct, frozen=True, kw_only=True):
    """The curves of a subject. ``problems``: what could not be asked, and why."""

    subject: Subject
    stretch: Stretch
    curves: tuple[FleetCurve, ...] = ()
    problems: tuple[str, ...] = ()


class Measure(Struct, frozen=True):
    """A curve: its key, its name on the page, its unit, its colour, and the top of its axis if that is fixed."""

    key: str
    name: str
    unit: Unit
    ink: str
    top: float | None = None


MEASURES: Final = {
    measure.key: measure
    for measure in (
        Measure("util", "GPU", Unit.PERCENT, "utilization", 100.0),
        Measure("tensor", "TENSOR", Unit.PERCENT, "low", 100.0),
        Measure("mem", "MEM", Unit.PERCENT, "memory", 100.0),
        Measure("power", "POWER", Unit.WATTS, "power"),
        Measure("temp", "TEMP", Unit.CELSIUS, "temperature"),
        Measure("clock", "CLOCK", Unit.HERTZ, "cpu"),
        Measure("busy", "BUSY", Unit.COUNT, "high"),
        Measure("held", "HELD", Unit.COUNT, "text"),
        Measure("used", "USED", Unit.BYTES, "memory"),
        Measure("active", "ACTIVE", Unit.NONE, "utilization"),
    )
}


def stretch_of(start_s: float, end_s: float, parts: int) -> Stretch:
    """Return the times for a picture of so many parts; they lie on a grid, so that peaks stay where they are."""
    step_s = max(LEAST_STEP_S, (end_s - start_s) / max(1, parts))
    first = floor(start_s / step_s) + 1
    last = max(first, floor(end_s / step_s))
    return Stretch(first * step_s, last * step_s, step_s)


def history_queries(subject: Subject, step_s: float) -> tuple[Query, ...]:
    """Return the queries of a subject's curves, for steps of this length."""
    over_s = round(step_s) if step_s >= _MEAN_FROM_S else 0
    if subject.kind == USER or (subject.kind == JOB and not subject.is_dcgm):
        return _of_holder(subject, over_s)
    match = _match(subject)
    memory = f"sum({_over('DCGM_FI_DEV_FB_USED', match, over_s)})"
    free = f"sum({_over('DCGM_FI_DEV_FB_FREE', match, over_s)})"
    power = f"sum(max by (instance, gpu) ({_over('DCGM_FI_DEV_POWER_USAGE', match, over_s)}))"
    util = _over("DCGM_FI_DEV_GPU_UTIL", match, over_s)
    found = (
        Query("util", f"avg({util})"),
        Query("tensor", f"100 * avg({_over('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', match, over_s)})"),
        Query("mem", f"100 * {memory} / ({memory} + {free})"),
        Query("power", power),
        Query("temp", f"max({_over('DCGM_FI_DEV_GPU_TEMP', match, over_s)})"),
    )
    if subject.kind == GPU:
        return (*found, Query("clock", f"1e6 * avg({_over('DCGM_FI_DEV_SM_CLOCK', match, over_s)})"))
    return (*found, Query("busy", f"count(max by (instance, gpu) ({util}) > 10) or 0 * count({util})"))


def curve_of(key: str, stretch: Stretch, points: Sequence[tuple[float, float]]) -> FleetCurve:
    """Return a curve from times and values; a time without a value is a gap."""
    known = {round((time_s - stretch.start_s) / stretch.step_s): value for time_s, value in points}
    values = (known.get(at, nan) for at in range(len(stretch.times)))
    return FleetCurve(key=key, values=tuple(value if isfinite(value) else nan for value in values))


def _of_holder(subject: Subject, over_s: int) -> tuple[Query, ...]:
    kind = subject.kind
    if kind == USER:
        match = matcher({"user": subject.name})
    else:
        job, _, host = subject.name.partition("@")
        job_kind, _, number = job.partition(":")
        match = matcher({"job_kind": job_kind, "job_id": number}, subject.instances if host else ())
    by = "instance" if kind == USER else "instance, gpu, gpu_instance_id"
    memory = "gputop_user_gpu_memory_used_bytes" if kind == USER else "gputop_job_gpu_memory_used_bytes"
    return (
        Query("held", f"sum(max by (instance) ({_over(f'gputop_{kind}_gpus', match, over_s)}))"),
        Query("active", f"sum(max by ({by}) ({_over(f'gputop_{kind}_sm_utilization_ratio', match, over_s)}))"),
        Query("used", f"sum(max by ({by}) ({_over(memory, match, over_s)}))"),
    )


def _match(subject: Subject) -> str:
    """Return what selects the series of a subject."""
    kind = subject.kind
    if kind in {HOST, GPU}:
        return matcher({"gpu": subject.gpu} if subject.gpu else {}, subject.instances)
    if kind == JOB:
        sort, _, name = subject.name.partition(":")
        if sort == "hpc":
            return matcher({"hpc_job": name})
        namespace, _, pod = name.partition("/")
        return matcher({"exported_namespace": namespace, "exported_pod": pod})
    if kind in {FLEET, SERVER}:
        return ""
    name = "" if subject.name.startswith("(") else subject.name
    return matcher({"modelName" if kind == MODEL else kind: name})


def _over(series: str, match: str, over_s: int) -> str:
    return f"avg_over_time({series}{match}[{over_s}s])" if over_s else f"{series}{match}"
