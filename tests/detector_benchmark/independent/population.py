"""The processes of the world, as /proc and the driver would report them in one second."""

import zlib
from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from detector_benchmark.independent.activity import Activity, busiest
from detector_benchmark.independent.actors import Actor, Use
from detector_benchmark.independent.boards import PROCESS_MEMORY, PROCESS_UTILIZATION, Board
from detector_benchmark.independent.circuit import Condition, Total
from detector_benchmark.independent.noise import Noise
from msgspec import Struct
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.sample import PROCESS_READINGS, USE_READINGS, GpuProcess, GpuState, HostProcess, Presence

EPOCH_S: Final = 1_790_000_000.0
UPTIME_S: Final = 900_000.0
MIB: Final = 1024**2
_LOOKS: Final = 6  # samples of the driver in a second, each of one process
_SHARES: Final = (
    "sm_percent", "memory_utilization_percent", "encoder_percent", "decoder_percent", "gpu_seconds", "energy_j",
)  # fmt: skip


class Second(Struct):
    """A second of the world. ``works``: of each use, by actor and number; the others: of each board."""

    t_s: float
    works: Mapping[tuple[str, int], Activity]
    conditions: Sequence[Condition]
    totals: Sequence[Total] = ()


class Population:
    """The actors with their noise, pids and sums. ``uuids``: of the boards."""

    def __init__(
        self, actors: Sequence[Actor], boards: Sequence[Board], uuids: Sequence[str], seed: int, interval_s: float
    ) -> None:
        self.actors = {actor.name: actor for actor in actors}
        self.pids = {actor.name: 4000 + 37 * n for n, actor in enumerate(actors)}
        self._boards = boards
        self._uuids = uuids
        self._interval_s = interval_s
        self._random = Random(seed)
        self._owners = {actor.name: actor.owner() for actor in actors}
        self._hosts = {actor.name: actor.on_host() for actor in actors}
        self._noises = {
            (actor.name, n): Noise(seed ^ zlib.crc32(f"{actor.name}/{n}".encode()))
            for actor in actors
            for n in range(len(actor.uses))
        }
        self._seconds: dict[tuple[str, int], float] = {}

    def works(self, t_s: float) -> dict[tuple[str, int], Activity]:
        """Return the noisy work of each use: none of a process that is dead."""
        return {
            (actor.name, n): self._noises[actor.name, n](use.does(t_s))
            for actor in self.actors.values()
            if actor.lives(t_s) and t_s < min(actor.gone_s, actor.zombie_s)
            for n, use in enumerate(actor.uses)
        }

    def on(self, gpu: int, works: Mapping[tuple[str, int], Activity], instance: int | None = None) -> list[Activity]:
        """Return the works on a board, or on one of its instances."""
        return [
            work
            for (name, n), work in works.items()
            for use in (self.actors[name].uses[n],)
            if use.gpu == gpu and (instance is None or use.instance == instance)
        ]

    def memory(self, gpu: int, t_s: float, instance: int | None = None) -> float:
        """Return the memory in use on a board, or on one of its instances, in MiB."""
        return sum(
            use.memory(t_s)
            for actor in self.actors.values()
            if actor.lives(t_s)
            for use in actor.uses
            if use.gpu == gpu and (instance is None or use.instance == instance)
        )

    def processes(self, second: Second) -> list[HostProcess]:
        """Return all processes of a second."""
        return [self._process(actor, second) for actor in self.actors.values() if actor.lives(second.t_s)]

    def _process(self, actor: Actor, second: Second) -> HostProcess:
        t_s, started_s, pid = second.t_s, max(-actor.age_s, actor.from_s), self.pids[actor.name]
        uses = self._uses(actor, second)
        if actor.presence(t_s) is Presence.GONE:
            missing = dict.fromkeys(PROCESS_READINGS, Missing.HIDDEN)
            return HostProcess(pid=pid, presence=Presence.GONE, gpus=uses, missing=missing)
        work = self._hosts[actor.name](t_s)
        cpu = max(0.0, round(work.cpu + self._random.gauss(0, 0.2 + 0.012 * work.cpu)))
        process = HostProcess(
            pid=pid,
            start_ticks=int((UPTIME_S + started_s) * 100),
            started_s=EPOCH_S + started_s,
            user=actor.user,
            command=actor.command,
            parent_pid=self._parent_pid(actor, t_s),
            state=work.state,
            nice=actor.nice,
            threads=actor.threads,
            cpu_percent=cpu,
            busiest_thread_percent=min(cpu, busiest(work)) if work.cpu else 0.0,
            memory_bytes=int(actor.resident_mib * MIB),
            owner=self._owners[actor.name],
            progress=actor.reported(EPOCH_S, t_s),
            gpus=uses,
        )
        return _zombie(process) if t_s >= actor.zombie_s else process

    def _parent_pid(self, actor: Actor, t_s: float) -> int:
        parent = self.actors.get(actor.parent)
        is_there = parent is not None and parent.lives(t_s) and parent.presence(t_s) is Presence.ALIVE
        return self.pids[actor.parent] if is_there else 1

    def _uses(self, actor: Actor, second: Second) -> tuple[GpuProcess, ...]:
        conditions = second.conditions
        listed = [
            (use, self._use(actor, n, use, second))
            for n, use in enumerate(actor.uses)
            if use.is_listed and conditions[use.gpu].is_listed
        ]
        return tuple(
            one if conditions[use.gpu].state is GpuState.OK else _silenced(one, conditions[use.gpu].state)
            for use, one in listed
        )

    def _use(self, actor: Actor, n: int, use: Use, second: Second) -> GpuProcess:
        has = self._boards[use.gpu].has
        missing: dict[str, Missing] = {}
        values: dict[str, float | None] = {}
        if PROCESS_UTILIZATION in has:
            values = self._charged((actor.name, n), use, second)
        else:
            missing |= dict.fromkeys(_SHARES, Missing.UNSUPPORTED)
        if PROCESS_MEMORY not in has:
            missing["memory_bytes"] = Missing.UNSUPPORTED
        return GpuProcess(
            gpu=self._uuids[use.gpu],
            gpu_index=use.gpu,
            type=use.type,
            memory_bytes=int(use.memory(second.t_s)) * MIB if PROCESS_MEMORY in has else None,
            gpu_instance=use.instance,
            compute_instance=None if use.instance is None else 0,
            missing=missing,
            **values,
        )

    def _charged(self, key: tuple[str, int], use: Use, second: Second) -> dict[str, float | None]:
        """Charge the looks of the driver, each to one of the processes that work on the board."""
        mine, total = second.works.get(key), second.totals[use.gpu]
        util = mine.util if mine else 0.0
        others = sum(work.util for work in self.on(use.gpu, second.works)) - util
        part = util / (util + others) if util else 0.0
        if util and others > 1:
            part = sum(self._random.random() < part for _ in range(_LOOKS)) / _LOOKS
        sm = float(round(min(100.0, total.util) * part))
        self._seconds[key] = round(self._seconds.get(key, 0.0) + sm / 100 * self._interval_s, 3)
        return {
            "sm_percent": sm,
            "memory_utilization_percent": float(round(total.mc * part)),
            "encoder_percent": float(round(mine.encoder if mine else 0)),
            "decoder_percent": float(round(mine.decoder if mine else 0)),
            "window_s": 1.003 * self._interval_s,
            "gpu_seconds": self._seconds[key],
        }


def _zombie(process: HostProcess) -> HostProcess:
    name = process.command.split()[0].rpartition("/")[2]
    return replace(
        process,
        command=f"[{name}]",
        state="Z",
        threads=1,
        cpu_percent=0.0,
        busiest_thread_percent=0.0,
        memory_bytes=0,
    )


def _silenced(use: GpuProcess, state: GpuState) -> GpuProcess:
    """Return the use on a board that does not answer."""
    reason = Missing.LOST if state is GpuState.LOST else Missing.HUNG
    return replace(use, missing=dict.fromkeys(USE_READINGS, reason), **dict.fromkeys(USE_READINGS))
