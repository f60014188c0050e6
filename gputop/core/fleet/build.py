"""From the answers of one server to its hosts."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from gputop.core.fleet.answer import Alert, Answers
from gputop.core.fleet.holders import Holders
from gputop.core.fleet.model import FleetAlert, FleetGpu, FleetHost, Holding, use_of
from gputop.core.fleet.plan import (
    AGENTS,
    DOWN,
    FINDINGS,
    FREE,
    GPU_POWER,
    GPU_TENSOR,
    JOBS,
    NAMES,
    USED,
    USERS,
    WHOLE,
    host_name,
    without_port,
)
from gputop.core.text.text import clean, excerpt

_MIB: Final = 1024**2
_MOST: Final = 1e12  # of a plausible value, in DCGM's units
_LOST_XID: Final = 79  # the GPU has fallen off the bus
_MOST_LABEL: Final = 120
_MOST_NAMES: Final = 20_000
STALE_S: Final = 120.0
_MOST_SAID: Final = 50  # users, jobs or findings of a host
_SAID_BY: Final = {USERS: ("user",), JOBS: ("job_kind", "job_id"), FINDINGS: ("code",)}
_PER_HOST: Final = ("tensor", "power", "temperature", "age")
_GPU_JOBS: Final = ("dcgm", "gputop", "gpu")
_PER_GPU: Final = ("utilization", "activity", USED, FREE, WHOLE, "xid", GPU_TENSOR, GPU_POWER)
_Row: TypeAlias = "list[float | None]"  # one value for each of them
_NO_ROW: Final[_Row] = [None] * len(_PER_GPU)


def hosts_of(server: str, answers: Answers, labels: Sequence[str] = ()) -> tuple[FleetHost, ...]:
    """Return the hosts that the answers describe, by name."""
    named = _names(answers)
    values = _Values(answers)
    down = _down(answers)
    hosts = []
    for name, (instances, models, found) in named.items():
        kept = {label: excerpt(found[label], _MOST_LABEL) for label in labels if found.get(label)}
        hosts.append(_host(server, name, tuple(instances), tuple(models), kept, values, down))
    hosts += [
        FleetHost(name=name, server=server, instances=(instance,), problem="down")
        for instance in down
        if (name := _text(without_port(instance))) not in named and instance not in values.instances
    ]
    return tuple(sorted(hosts, key=lambda host: natural(host.name)))


def alerts_of(server: str, alerts: Sequence[Alert]) -> tuple[FleetAlert, ...]:
    """Return the alerts that fire."""
    return tuple(
        FleetAlert(
            name=_text(one.name),
            severity=_text(one.labels.get("severity", "")),
            host=_text(host_name(one.labels)),
            summary=excerpt(one.annotations.get("summary", "") or one.annotations.get("description", "")),
            server=server,
        )
        for one in alerts
        if one.state == "firing"
    )


@lru_cache(_MOST_NAMES)  # the same names come with every reading
def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """Return a sort key by which n2 comes before n10."""
    parts: list[tuple[bool, int, str]] = []
    digits = text = ""
    for sign in name:
        if sign.isascii() and sign.isdigit():
            if text:
                parts.append((True, 0, text))
                text = ""
            digits += sign
        else:
            if digits:
                parts.append((False, int(digits[:18]), digits))
                digits = ""
            text += sign
    parts.append((False, int(digits[:18]), digits) if digits else (True, 0, text))
    return tuple(parts)


class _Values:
    """The numbers of all answers, by instance and GPU."""

    def __init__(self, answers: Answers) -> None:
        self._by_host = {
            key: {one.metric.instance: one.value[1] for one in answers.values.get(key, ()) if abs(one.value[1]) < _MOST}
            for key in _PER_HOST
        }
        self._by_gpu = _by_gpu(answers)
        self._agents = {series.metric.get("instance", "") for series in answers.labels.get(AGENTS, ())}
        self._said = {key: _said(answers, key) for key in (USERS, JOBS, FINDINGS)}
        self.holders = Holders(answers)
        self.instances = self._by_gpu.keys()

    def of_host(self, key: str, instances: Sequence[str]) -> float | None:
        """Return the value of a host; of several exporters on it, the one that has it."""
        found = self._by_host[key]
        if len(instances) == 1:  # nearly always
            return found.get(instances[0])
        return next((value for one in instances if (value := found.get(one)) is not None), None)

    def said(self, key: str, instances: Sequence[str]) -> tuple[str, ...] | None:
        """Return the users, jobs or findings of a host; None if no gputop export runs there."""
        if not self._agents or not self._agents.intersection(instances):
            return None
        return tuple(sorted({text for one in instances for text in self._said[key].get(one, ())}))[:_MOST_SAID]

    def gpus(self, instances: Sequence[str]) -> tuple[FleetGpu, ...]:
        """Return the GPUs of a host. If several exporters run on it, each adds what those before it lack."""
        held = self._by_gpu.get(instances[0], {})
        for instance in instances[1:]:
            held = dict(held)
            for index, row in self._by_gpu.get(instance, {}).items():
                held[index] = [_either(*pair) for pair in zip(held.get(index, _NO_ROW), row, strict=True)]
        return tuple([_gpu(index, held[index]) for index in sorted(held, key=natural)])


def _by_gpu(answers: Answers) -> dict[str, dict[str, _Row]]:
    """Return the rows of all GPUs: the innermost loop, which runs for each of 24,000 values of 1,000 hosts."""
    found: dict[str, dict[str, _Row]] = {}
    for place, key in enumerate(_PER_GPU):
        before, gpus = None, dict[str, _Row]()
        for one in answers.values.get(key, ()):
            metric, value = one.metric, one.value[1]
            if not -_MOST < value < _MOST:  # also NaN
                continue
            instance = metric.instance
            if instance != before:  # neighbours are often of one host
                before = instance
                gpus = found.get(instance) or found.setdefault(instance, {})
            gpu = metric.gpu
            if gpu not in gpus:
                gpus[gpu] = _NO_ROW.copy()
            gpus[gpu][place] = value
    return found


def _said(answers: Answers, key: str) -> dict[str, set[str]]:
    """Return the users, jobs or findings of each instance. Observations need no action, and are left out."""
    found: dict[str, set[str]] = {}
    for series in answers.labels.get(key, ()):
        labels = series.metric
        if labels.get("stage") != "observation":
            found.setdefault(labels.get("instance", ""), set()).add(_text(":".join(_words(key, labels))))
    return found


def _words(key: str, labels: dict[str, str]) -> list[str]:
    return [labels.get(name, "") for name in _SAID_BY[key]]


def _either(first: float | None, second: float | None) -> float | None:
    return second if first is None else first


def _host(  # noqa: PLR0917 - what is known of a host
    server: str,
    name: str,
    instances: tuple[str, ...],
    models: tuple[str, ...],
    labels: dict[str, str],
    values: _Values,
    down: set[str],
) -> FleetHost:
    tensor, age = values.of_host("tensor", instances), values.of_host("age", instances)
    gpus = values.gpus(instances)
    holdings = values.holders.of(instances, gpus)
    return FleetHost(
        name=name,
        server=server,
        instances=instances,
        models=models,
        labels=labels,
        gpus=gpus,
        tensor_percent=None if tensor is None else tensor * 100,
        power_w=values.of_host("power", instances),
        temperature_c=values.of_host("temperature", instances),
        jobs=_all_jobs(values.said(JOBS, instances), holdings),
        users=values.said(USERS, instances),
        findings=values.said(FINDINGS, instances),
        holdings=holdings,
        age_s=None if age is None else max(0.0, age),
        problem="down" if down.issuperset(instances) else "old values" if age is not None and age > STALE_S else "",
    )


def _all_jobs(said: tuple[str, ...] | None, holdings: Sequence[Holding]) -> tuple[str, ...] | None:
    """Return the jobs that gputop knows, and those that hold GPUs by a label of dcgm-exporter."""
    held = {one.job for one in holdings if one.job}
    return said if said is None and not held else tuple(sorted(held.union(said or ())))[:_MOST_SAID]


def _gpu(index: str, row: _Row) -> FleetGpu:
    utilization, activity, used_mib, free_mib, whole_mib, xid, tensor, power_w = row
    if utilization is None and activity is not None:  # a board in MIG mode has no utilization
        utilization = activity * 100
    used = whole = None
    if used_mib is not None:
        used = int(used_mib * _MIB)
        whole_mib = whole_mib if free_mib is None else used_mib + free_mib
        whole = None if whole_mib is None else int(whole_mib * _MIB)
    use = "lost" if xid == _LOST_XID else use_of(utilization, used, whole)
    tensor_percent = None if tensor is None else tensor * 100
    return FleetGpu(  # by place: names cost twice as much, 8,000 times
        _text(index), utilization, used, whole, int(xid) if xid else None, use, tensor_percent, power_w
    )


def _names(answers: Answers) -> dict[str, tuple[dict[str, None], dict[str, None], dict[str, str]]]:
    """Return the instances, models and labels of each host."""
    found: dict[str, tuple[dict[str, None], dict[str, None], dict[str, str]]] = {}
    for sample in answers.labels.get(NAMES, ()):
        labels = sample.metric
        instances, models, held = found.setdefault(_text(host_name(labels)), ({}, {}, {}))
        instances[labels.get("instance", "")] = None
        if labels.get("modelName"):
            models[_text(labels["modelName"])] = None
        held.update(labels)
    return found


def _down(answers: Answers) -> set[str]:
    """Return the instances that a server cannot scrape, of the jobs that serve GPUs."""
    jobs = {sample.metric.get("job", "") for sample in answers.labels.get(NAMES, ())}
    return {
        sample.metric.get("instance", "")
        for sample in answers.labels.get(DOWN, ())
        if (job := sample.metric.get("job", "")) in jobs or any(word in job.lower() for word in _GPU_JOBS)
    }


@lru_cache(_MOST_NAMES)  # the same names come with every reading
def _text(text: str) -> str:
    return clean(text[:_MOST_LABEL])
