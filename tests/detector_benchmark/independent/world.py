"""The world: boards and actors, and the sample that gputop would take of them at each second."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Final

from detector_benchmark.independent.actors import Actor
from detector_benchmark.independent.boards import GPM, NVLINK, Board
from detector_benchmark.independent.circuit import GOOD, Circuit, Condition, Conditions, Total
from detector_benchmark.independent.population import EPOCH_S, MIB, UPTIME_S, Population, Second
from detector_benchmark.independent.readings import changing, lacking, profiled, steady

from gputop.core.model.metric import Missing
from gputop.core.model.sample import ComputeInstance, DriverInfo, Gpu, GpuInstance, GpuState, Host, Sample, XidEvent

_CORES: Final = 64


class World:
    """A host with GPUs. A `Source` of samples: each read goes on by ``interval_s``.

    ``is_in_container``: gputop does not see the processes of other containers.
    """

    def __init__(
        self,
        boards: Sequence[Board],
        actors: Sequence[Actor],
        *,
        seed: int,
        conditions: Mapping[int, Conditions] | None = None,
        first_s: float = 0.0,
        interval_s: float = 1.0,
        is_in_container: bool = False,
    ) -> None:
        self.interval_s = interval_s
        self.now_s = first_s
        self.uuids = [f"GPU-{n:08x}-0000-4000-8000-{len(boards):012x}" for n in range(len(boards))]
        self.people = Population(actors, boards, self.uuids, seed, interval_s)
        self._random = Random(seed)
        self._is_in_container = is_in_container
        self.boards = boards
        self._circuits = [Circuit(board, Random(seed * 97 + n)) for n, board in enumerate(boards)]
        self._steady = [steady(board, n) for n, board in enumerate(boards)]
        self._lacking = [lacking(board) for board in boards]
        self._profiled: list[dict[str, Any]] = [{} for _ in boards]
        self._conditions = conditions or {}

    def read(self) -> Sample:
        """Take a sample, then go on."""
        t_s, numbers = self.now_s, range(len(self.boards))
        self.now_s += self.interval_s
        conditions = [self._conditions[n](t_s) if n in self._conditions else GOOD for n in numbers]
        second = Second(t_s, self.people.works(t_s), conditions)
        second.totals = [self._advance(n, second) for n in numbers]
        processes = self.people.processes(second)
        return Sample(
            time_s=EPOCH_S + t_s,
            interval_s=self.interval_s,
            driver=DriverInfo(version="570.124.06", cuda_version="12.8", nvml_version="12.570.124.06"),
            host=Host(
                name="box",
                uptime_s=UPTIME_S + t_s,
                cpu_percent=min(100.0, 3 + sum(process.cpu_percent or 0 for process in processes) / _CORES),
                load=(8.0, 8.0, 8.0),
                memory_total_bytes=2**40,
                memory_used_bytes=2**38,
                swap_total_bytes=0,
                swap_used_bytes=0,
                is_initial_pid_namespace=not self._is_in_container,
            ),
            gpus=tuple(self._gpu(n, second) for n in numbers if conditions[n].is_listed),
            processes=tuple(process for process in processes if process.gpus),
            relatives=tuple(process for process in processes if not process.gpus),
        )

    def _advance(self, n: int, second: Second) -> Total:
        here = self.people.on(n, second.works)
        total = Total.of(here)
        if NVLINK not in self.boards[n].has and total.nv:
            total.rx, total.tx = total.rx + min(total.nv, 9000) * 0.4, total.tx + min(total.nv, 9000) * 0.4
        self._circuits[n].advance(total, second.conditions[n], has_context=bool(here), step_s=self.interval_s)
        if GPM in self.boards[n].has and (int(second.t_s) % 2 == 0 or not self._profiled[n]):
            self._profiled[n] = profiled(total)
        return total

    def _gpu(self, n: int, second: Second) -> Gpu:
        board, condition = self.boards[n], second.conditions[n]
        known: dict[str, Any] = {
            "index": n,
            "uuid": self.uuids[n],
            "name": board.name,
            "bus_id": f"00000000:{16 + n:02X}:00.0",
            "xids": _xids(condition, second.t_s),
        }
        if condition.state is not GpuState.OK:
            reason = Missing.LOST if condition.state is GpuState.LOST else Missing.HUNG
            dead = dict.fromkeys(self._steady[n])
            return Gpu(metrics=dead, missing=dict.fromkeys(dead, reason), state=condition.state, **known)
        used_mib = 4.0 + self.people.memory(n, second.t_s)
        values = changing(self._circuits[n], second.totals[n], used_mib, self._random)
        values |= self._profiled[n] if not board.slices else {}
        lacks = self._lacking[n]
        return Gpu(
            metrics=self._steady[n] | {name: value for name, value in values.items() if name not in lacks},
            missing=lacks,
            read_s=EPOCH_S + second.t_s,
            instances=tuple(self._instance(n, at, second) for at in range(len(board.slices))),
            **known,
        )

    def _instance(self, n: int, at: int, second: Second) -> GpuInstance:
        board, part = self.boards[n], self.boards[n].slices[at]
        used, total = int(self.people.memory(n, second.t_s, part.id)) * MIB, part.memory_mib * MIB
        values = profiled(Total.of(self.people.on(n, second.works, part.id)))
        missing = {} if GPM in board.has else dict.fromkeys(values, Missing.UNSUPPORTED)
        one = ComputeInstance(id=0, uuid=f"MIG-{n}-{at}", name=part.profile, multiprocessors=part.multiprocessors)
        return GpuInstance(
            id=part.id,
            profile=part.profile,
            metrics={
                "memory_total_bytes": total,
                "memory_used_bytes": used,
                "memory_reserved_bytes": 0,
                "memory_free_bytes": max(0, total - used),
                **(values if GPM in board.has else dict.fromkeys(values)),
            },
            missing=missing,
            compute_instances=(one,),
        )


def _xids(condition: Condition, t_s: float) -> tuple[XidEvent, ...]:
    return tuple(XidEvent(time_s=EPOCH_S + at_s, xid=xid) for at_s, xid in condition.xids if at_s <= t_s)
