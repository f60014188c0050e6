"""The files of /proc about the simulated host as a whole, consistent with its processes."""

from collections.abc import Callable
from typing import Final

from gputop.simulator.clock import BoxClock
from gputop.simulator.curve import Curve, Wave, spread
from gputop.simulator.plan import BoxPlan
from gputop.simulator.procfiles import HERTZ, ProcessFiles

_MINUTE: Final = 60
_HIGHEST: Final = 0.96  # of a core: no core is ever quite full
_SHARES: Final = (0.80, 0.01, 0.14, 0.03, 0.0, 0.02, 0.0)  # user nice system iowait irq softirq steal
_OWN_MEMORY: Final = 9_000_000_000  # the kernel and unsimulated processes


class HostFiles:
    """The files of the host."""

    def __init__(self, plan: BoxPlan, processes: list[ProcessFiles], clock: BoxClock) -> None:
        self._plan = plan
        self._clock = clock
        self._processes = processes
        self._cpu = self._mean()
        self._cores = [_core(self._cpu / plan.cores, n) for n in range(plan.cores)]

    def follow(self, processes: list[ProcessFiles]) -> None:
        """Replace the processes; the counters keep their past work."""
        self._processes = processes
        self._cpu = self._mean()
        now, mean = self._clock.now(), self._cpu / self._plan.cores
        self._cores = [core.until(now) + _core(mean, n).since(now) for n, core in enumerate(self._cores)]

    def _mean(self) -> float:
        """Return the mean number of busy cores."""
        return self._plan.background.level + sum(p.mean_cpu for p in self._processes if p.plan.state != "T")

    def read(self, path: str) -> str | None:
        """Return the text of a file; None if there is no such file."""
        row = _FILES.get(path)
        return row(self) if row else None

    def stat(self) -> str:
        """Return CPU times in ticks, of all cores and of each; btime is the second of the boot."""
        cores = [self._core_ticks(core) for core in self._cores]
        lines = [("cpu ", [sum(column) for column in zip(*cores, strict=True)])]
        lines += [(f"cpu{n}", core) for n, core in enumerate(cores)]
        text = "".join(f"{name} {' '.join(map(str, ticks))}\n" for name, ticks in lines)
        switches = int(self._clock.now() * 52_000)
        return (
            f"{text}intr {switches // 2}\nctxt {switches}\nbtime {self._clock.boot_s}\nprocesses 812345\n"
            f"procs_running {max(1, round(self._cpu))}\nprocs_blocked 0\n"
        )

    def meminfo(self) -> str:
        """Return memory in kB; free memory is what the processes leave."""
        total = self._plan.memory_bytes
        now = self._clock.now()
        used = _OWN_MEMORY + sum(round(p.plan.memory.at(now)) for p in self._processes)
        cached = min(total - used, total // 3) * 3 // 4
        swap = self._plan.swap_bytes
        kilobytes = {
            "MemTotal": total, "MemFree": total - used - cached, "MemAvailable": total - used - cached // 20,
            "Buffers": cached // 90, "Cached": cached - cached // 90 - cached // 30, "SwapCached": 0,
            "Shmem": 2_400_000_000, "SReclaimable": cached // 30, "SwapTotal": swap, "SwapFree": swap - swap // 160,
        }  # fmt: skip
        return "".join(f"{name + ':':<15} {value // 1024:>9} kB\n" for name, value in kilobytes.items())

    def loadavg(self) -> str:
        """Return the load over 1, 5 and 15 minutes, the tasks, and the newest pid."""
        now = self._clock.now()
        swing = Curve(self._cpu, (Wave(self._cpu * 0.1, 230.0), Wave(self._cpu * 0.08, 1100.0)))
        loads = " ".join(f"{swing.lagged(now, minutes * _MINUTE) + 0.4:.2f}" for minutes in (1, 5, 15))
        return f"{loads} {max(1, round(self._cpu))}/{len(self._processes) * 9 + 400} 61234\n"

    def uptime(self) -> str:
        """Return the seconds since boot, and the idle seconds of all cores."""
        now = self._clock.now()
        return f"{now:.2f} {now * (self._plan.cores - self._cpu):.2f}\n"

    def pressure(self, resource: str) -> str:
        """Return pressure stall information: cpu, memory or io."""
        level = {"cpu": 55 * (self._cpu / self._plan.cores) ** 3, "memory": 0.0, "io": 0.9}[resource]
        waits = Curve(level, (Wave(level * 0.6, 47.0), Wave(level * 0.3, 13.0)))
        now = self._clock.now()
        averages = " ".join(f"avg{s}={waits.mean(now - s, now):.2f}" for s in (10, 60, 300))
        total = int(waits.integral(now) / 100 * 1e6)
        return f"some {averages} total={total}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={total // 9}\n"

    def _core_ticks(self, busy: Curve) -> list[int]:
        now = self._clock.now()
        spent = (busy.integral(now) - busy.integral(0.0)) * HERTZ
        user, nice, system, wait, irq, soft, steal = (int(spent * share) for share in _SHARES)
        return [user, nice, system, int(now * HERTZ - spent), wait, irq, soft, steal, 0, 0]


_FILES: Final[dict[str, Callable[[HostFiles], str]]] = {
    "stat": HostFiles.stat,
    "meminfo": HostFiles.meminfo,
    "loadavg": HostFiles.loadavg,
    "uptime": HostFiles.uptime,
    "pressure/cpu": lambda host: host.pressure("cpu"),
    "pressure/memory": lambda host: host.pressure("memory"),
    "pressure/io": lambda host: host.pressure("io"),
    "sys/kernel/osrelease": lambda host: host._plan.kernel + "\n",
}


def _core(mean: float, number: int) -> Curve:
    """Return the use of a core: some cores do more than others, and none is idle."""
    level = min(_HIGHEST, mean * (0.25 + 1.5 * spread(number)))
    swing = min(level, 1 - level) * 0.45
    return Curve(level, (Wave(swing * 0.6, 9.0 + 8 * spread(number * 3), number), Wave(swing * 0.4, 3.7, number * 2.0)))
