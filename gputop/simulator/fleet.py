"""A simulated fleet: 128 hosts in two clusters, for a first look without a server."""

import time
from collections.abc import Callable, Sequence
from math import pi, sin
from random import Random
from typing import Final

from msgspec.structs import replace

from gputop.core.fleet.history import FleetCurve, FleetHistory, Stretch, Subject, history_queries
from gputop.core.fleet.model import Fleet, FleetAlert, FleetGpu, FleetHost, FleetServer, Holding, totals, use_of

_SERVER: Final = "demo"
_GIB: Final = 1024**3
_KINDS: Final = (
    # cluster, first number, hosts, GPUs of each, model, memory, watts of an idle GPU, watts at full load
    ("alpha", 1, 64, 8, "NVIDIA H100 80GB HBM3", 80, 70.0, 690.0),
    ("alpha", 65, 32, 8, "NVIDIA A100-SXM4-80GB", 80, 55.0, 395.0),
    ("beta", 1, 32, 4, "NVIDIA L40S", 45, 35.0, 340.0),
)
_JOBS: Final = (
    ("llama-70b", "ann", 24, 94.0), ("diffusion-xl", "bob", 12, 88.0), ("moe-8x22b", "chloe", 16, 71.0),
    ("protein-fold", "dmitri", 9, 97.0), ("vllm-serve", "ops", 8, 38.0), ("notebook", "emma", 11, 0.0),
    ("whisper-ft", "farid", 6, 55.0), ("hung-sweep", "gita", 2, 100.0),
)  # fmt: skip


_RANGES: Final = {
    "util": (0.0, 100.0), "tensor": (0.0, 55.0), "mem": (1.0, 88.0), "power": (560.0, 5500.0), "temp": (31.0, 71.0),
    "clock": (345e6, 1980e6), "busy": (0.0, 8.0), "held": (8.0, 8.0), "used": (1e9, 600e9), "active": (0.0, 8.0),
}  # fmt: skip
_SLOW_JOB: Final = "moe-8x22b"  # on its first host it works less than on the others
_SLOW_LOAD: Final = 24.0
_UNEVEN_JOB: Final = "llama-70b"  # one GPU of its first host works less than the others
_UNEVEN_GPU: Final = 3
_TENSOR_SHARE: Final = 0.45  # of the utilization


class SimulatedFleet:
    """Reads a fleet that does not exist. The same moment gives the same values. ``wall``: Unix time."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self._wall = wall

    def read(self, *, is_urgent: bool = False, detailed: Sequence[str] = ()) -> Fleet:  # noqa: ARG002 - always all
        """Return all hosts."""
        now = self._wall()
        hosts = tuple(_hosts(now))
        alert = FleetAlert(
            name="GpuLost", severity="critical", host="alpha-051", summary="GPU 5 fell off the bus", server=_SERVER
        )
        return Fleet(
            time_s=now,
            totals=totals(hosts),
            servers=(FleetServer(name=_SERVER, took_s=0.0),),
            hosts=hosts,
            alerts=(alert,),
            simulated=True,
        )

    def history(self, subject: Subject, stretch: Stretch) -> FleetHistory:
        """Return curves that a day could have."""
        keys = [query.key for query in history_queries(subject, stretch.step_s)]
        curves = tuple(_curve(key, subject, stretch) for key in keys)
        return FleetHistory(subject=subject, stretch=stretch, curves=curves)

    def close(self) -> None:
        """Do nothing: there is no connection."""


def _curve(key: str, subject: Subject, stretch: Stretch) -> FleetCurve:
    """Return a curve that follows the day, with a pause now and then."""
    random = Random(subject.name + subject.gpu)  # noqa: S311 - a demo
    phase, pause = random.random() * 2 * pi, random.randrange(5, 11)
    low, high = _RANGES[key]

    def at(time_s: float) -> float:
        if int(time_s // 3600) % pause == 0:
            return low
        load = 0.72 + 0.18 * sin(time_s / 86_400 * 2 * pi + phase) + 0.06 * sin(time_s / 600 + phase)
        return low + (high - low) * min(1.0, load)

    return FleetCurve(key=key, values=tuple(map(at, stretch.times)))


def _hosts(now: float) -> list[FleetHost]:
    work = _work()
    slow = min(name for name, job in work.items() if job[0] == _UNEVEN_JOB)
    hosts = []
    for cluster, first, count, gpus, model, memory_gib, idle_w, full_w in _KINDS:
        for number in range(first, first + count):
            name = f"{cluster}-{number:03d}"
            random = Random(name)  # noqa: S311 - a demo
            job = work.get(name)
            held = tuple(
                _powered(_gpu(index, job, memory_gib * _GIB, now, random), idle_w, full_w) for index in range(gpus)
            )
            held = _with_slow(held, idle_w, full_w) if name == slow else held
            load = sum(gpu.utilization_percent or 0.0 for gpu in held) / gpus
            hosts.append(
                FleetHost(
                    name=name,
                    server=_SERVER,
                    instances=(f"{name}:9400",),
                    models=(model,),
                    labels={"cluster": cluster},
                    gpus=_lost(held) if name == "alpha-051" else held,
                    tensor_percent=load * _TENSOR_SHARE,
                    power_w=sum(gpu.power_w or 0.0 for gpu in held),
                    temperature_c=round(31 + random.random() * 6 + load * 0.38),
                    jobs=(job[0],) if job else (),
                    users=(job[1],) if job else (),
                    holdings=_holdings(job, held),
                    findings=("hung",) if job and job[0] == "hung-sweep" else (),
                    age_s=round(now % 15, 1),
                )
            )
    hosts[76] = FleetHost(name="alpha-077", server=_SERVER, instances=("alpha-077:9400",), problem="down")
    return hosts


def _work() -> dict[str, tuple[str, str, int, float]]:
    """Return the job of each host that has one."""
    names = [f"{kind[0]}-{kind[1] + place:03d}" for kind in _KINDS for place in range(kind[2])]
    Random(7).shuffle(names)  # noqa: S311
    held: dict[str, tuple[str, str, int, float]] = {}
    for job in _JOBS:
        for _ in range(job[2]):
            held[names.pop()] = job
    slow = min(name for name, job in held.items() if job[0] == _SLOW_JOB)
    held[slow] = (*held[slow][:3], _SLOW_LOAD)
    return held


def _holdings(job: tuple[str, str, int, float] | None, gpus: tuple[FleetGpu, ...]) -> tuple[Holding, ...]:
    if job is None:
        return ()
    indices = tuple(gpu.index for gpu in gpus)
    return (
        Holding(user=job[1], count=len(indices), gpus=indices),
        Holding(user=job[1], job=job[0], count=len(indices), gpus=indices),
    )


def _gpu(index: int, job: tuple[str, str, int, float] | None, memory: int, now: float, random: Random) -> FleetGpu:
    phase, spread = random.random() * 2 * pi, random.random()
    load = 0.0 if job is None else job[3]
    if 0 < load < 100:
        load = min(100.0, max(0.0, load + 6 * sin(now / 20 + phase) + 4 * (spread - 0.5)))
    used = int(memory * (0.006 if job is None else 0.55 + 0.4 * spread))
    return FleetGpu(
        index=str(index),
        utilization_percent=round(load),
        memory_used_bytes=used,
        memory_total_bytes=memory,
        xid=0,
        use=use_of(load, used, memory),
    )


def _powered(gpu: FleetGpu, idle_w: float, full_w: float) -> FleetGpu:
    """Return a GPU with the power and the activity of tensor cores of its load."""
    load = gpu.utilization_percent or 0.0
    return replace(gpu, tensor_percent=load * _TENSOR_SHARE, power_w=idle_w + (full_w - idle_w) * load / 100)


def _with_slow(gpus: tuple[FleetGpu, ...], idle_w: float, full_w: float) -> tuple[FleetGpu, ...]:
    """Return GPUs of which one works less."""
    slow = replace(gpus[_UNEVEN_GPU], utilization_percent=_SLOW_LOAD)
    return (*gpus[:_UNEVEN_GPU], _powered(slow, idle_w, full_w), *gpus[_UNEVEN_GPU + 1 :])


def _lost(gpus: tuple[FleetGpu, ...]) -> tuple[FleetGpu, ...]:
    return (*gpus[:5], FleetGpu(index="5", xid=79, use="lost"), *gpus[6:])
