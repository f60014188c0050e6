"""Disturbances: what goes wrong between the driver and gputop. Each changes a sample, or loses it (None)."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, TypeAlias

from detector_benchmark.independent.population import EPOCH_S
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.sample import Gpu, HostProcess, Sample

Disturbance: TypeAlias = Callable[[Sample], Sample | None]
_POWERS: Final = ("power_average_w", "power_instant_w")


def _at(sample: Sample) -> float:
    return sample.time_s - EPOCH_S


def gaps(*spans: tuple[float, float]) -> Disturbance:
    """Take no sample from each time on, for some seconds."""
    return lambda sample: None if any(at <= _at(sample) < at + length for at, length in spans) else sample


def often_gaps(seed: int, *, each_s: float, from_s: float, to_s: float) -> Disturbance:
    """Take no sample for ``from_s`` to ``to_s``, at random times."""
    random, spans, at_s = Random(seed), [], 0.0
    while at_s < 20000:
        at_s += random.expovariate(1 / each_s)
        spans.append((at_s, random.uniform(from_s, to_s)))
        at_s += to_s
    return gaps(*spans)


def clock_jump(at_s: float, by_s: float) -> Disturbance:
    """Set the clock of the host at a time, forward or back."""

    def jump(sample: Sample) -> Sample:
        if _at(sample) < at_s:
            return sample
        gpus = tuple(replace(gpu, read_s=gpu.read_s and gpu.read_s + by_s) for gpu in sample.gpus)
        return replace(sample, time_s=sample.time_s + by_s, gpus=gpus)

    return jump


def bad_process_zeros(seed: int, share: float) -> Disturbance:
    """Charge some processes 0 % for single samples, though the board says otherwise."""
    return _uses(seed, share, lambda use: {"sm_percent": 0.0, "memory_utilization_percent": 0.0})


def no_process_values(seed: int, share: float) -> Disturbance:
    """Have no utilization of a process for single samples."""
    lost = {"sm_percent": Missing.NOT_YET, "memory_utilization_percent": Missing.NOT_YET}
    return _uses(
        seed,
        share,
        lambda use: {"sm_percent": None, "memory_utilization_percent": None, "missing": use.missing | lost},
    )


def zero_memory(seed: int, share: float) -> Disturbance:
    """Report no memory of a process for single samples, whatever its board reports."""
    return _uses(seed, share, lambda use: {"memory_bytes": 0})


def lost_memory(seed: int, share: float) -> Disturbance:
    """Fail to read the memory of processes for single samples."""
    return _uses(
        seed, share, lambda use: {"memory_bytes": None, "missing": use.missing | {"memory_bytes": Missing.FAULT}}
    )


def raw_255(seed: int, share: float) -> Disturbance:
    """Say 255 % for a process in single samples, as old drivers do."""
    return _uses(seed, share, lambda use: {"sm_percent": 255.0})


def bad_gpu_zeros(seed: int, share: float) -> Disturbance:
    """Say 0 % and 0 W of a board for single samples."""
    zeros = {
        "gpu_utilization_percent": 0,
        "memory_utilization_percent": 0,
        "power_average_w": 0.0,
        "power_instant_w": 0.0,
    }
    return _gpus(seed, share, lambda gpu: {"metrics": gpu.metrics | zeros})


def late_power(seed: int, share: float) -> Disturbance:
    """Report the power of the sample before in single samples: power and utilization are not of one instant."""
    random, before = Random(seed), dict[str, dict[str, Any]]()

    def disturb(sample: Sample) -> Sample:
        gpus = [
            replace(gpu, metrics=gpu.metrics | before.get(gpu.uuid, {})) if random.random() < share else gpu
            for gpu in sample.gpus
        ]
        before.update({gpu.uuid: {name: gpu.metrics[name] for name in _POWERS} for gpu in sample.gpus})
        return replace(sample, gpus=tuple(gpus))

    return disturb


def faults(seed: int, share: float, *names: str) -> Disturbance:
    """Fail to read some metrics of a board for single samples."""
    reasons = dict.fromkeys(names, Missing.FAULT)
    return _gpus(
        seed, share, lambda gpu: {"metrics": gpu.metrics | dict.fromkeys(names), "missing": gpu.missing | reasons}
    )


def hidden_hosts(*pids: int) -> Disturbance:
    """Hide what the CPU does of some processes: they belong to another user."""

    def hide(process: HostProcess) -> HostProcess:
        if process.pid not in pids:
            return process
        names = ("cpu_percent", "busiest_thread_percent")
        return replace(process, missing=dict.fromkeys(names, Missing.FORBIDDEN), **dict.fromkeys(names))

    return lambda sample: replace(sample, processes=tuple(map(hide, sample.processes)))


def _uses(seed: int, share: float, change: Callable[[Any], dict[str, Any]]) -> Disturbance:
    random = Random(seed)

    def disturb(sample: Sample) -> Sample:
        processes = list(sample.processes)
        for n, process in enumerate(processes):
            if random.random() < share:
                processes[n] = replace(process, gpus=tuple(replace(use, **change(use)) for use in process.gpus))
        return replace(sample, processes=tuple(processes))

    return disturb


def _gpus(seed: int, share: float, change: Callable[[Gpu], dict[str, Any]]) -> Disturbance:
    random = Random(seed)
    return lambda sample: replace(
        sample, gpus=tuple(replace(gpu, **change(gpu)) if random.random() < share else gpu for gpu in sample.gpus)
    )


def apply(sample: Sample, disturbances: Sequence[Disturbance]) -> Sample | None:
    """Apply one after the other."""
    for disturb in disturbances:
        changed = disturb(sample)
        if changed is None:
            return None
        sample = changed
    return sample
