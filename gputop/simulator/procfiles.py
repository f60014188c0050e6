"""The files of /proc/PID for a simulated process: the kernel's texts, written from a plan and an instant."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from gputop.simulator import namespace as inner
from gputop.simulator.clock import BoxClock
from gputop.simulator.curve import ZERO, total
from gputop.simulator.plan import ProcessPlan, ThreadPlan

HERTZ: Final = 100
PAGE: Final = 4096
_COMM_LENGTH: Final = 15
_TID_BASE: Final = 1_000_000  # above all pids, and below pid_max of a 64-bit host
_BUSY: Final = 0.5
_LONG_S: Final = 9600.0  # long compared with the periods of all loads
_MAPPED_BYTES: Final = 21_000_000_000  # CUDA reserves address space without memory


class ProcessFiles:
    """The files of one process."""

    def __init__(self, plan: ProcessPlan, clock: BoxClock, session: int) -> None:
        self.plan = plan
        self._clock = clock
        self._session = session
        self._born_s = clock.uptime_s - plan.age_s
        self._follow()
        self.mean_cpu = self.cpu.mean(0.0, _LONG_S)

    def change(self, **fields: Any) -> None:
        """Replace these fields of the plan from now on."""
        self.plan = replace(self.plan, **fields)
        self._follow()

    def _follow(self) -> None:
        self._threads = [thread for thread in self.plan.threads for _ in range(thread.count)]
        self.cpu = total(*(thread.cpu for thread in self._threads))
        base = _TID_BASE + self.plan.pid % 10_000 * 250
        tids = (self.plan.pid, *range(base + 1, base + len(self._threads)))
        self._by_tid = {str(tid): thread for tid, thread in zip(tids, self._threads, strict=True)}

    def names(self) -> list[str]:
        """Return the names in the directory that are served here."""
        return [*_FILES, "task"]

    def tids(self) -> list[str]:
        """Return the names in ``task``."""
        return list(self._by_tid)

    def has(self, tid: str) -> bool:
        """Return whether a thread belongs to this process."""
        return tid in self._by_tid

    def read(self, name: str) -> str | None:
        """Return the text of a file; None if there is no such file."""
        row = _FILES.get(name)
        return row(self) if row else None

    def read_task(self, tid: str, name: str) -> str | None:
        """Return the text of a thread's file; None if there is no such file."""
        thread = self._by_tid.get(tid)
        if thread is None or name not in {"stat", "comm"}:
            return None
        title = (thread.name or self._name())[:_COMM_LENGTH]
        return title + "\n" if name == "comm" else self._line([thread], int(tid), title)

    def _stat(self) -> str:
        return self._line(self._threads, self.plan.pid, self._name())

    def _statm(self) -> str:
        resident = self._resident() // PAGE
        return f"{_MAPPED_BYTES // PAGE} {resident} {resident // 6} 1200 0 {resident * 2} 0\n"

    def _io(self) -> str:
        return inner.transfers(self.plan, self._clock.now() - self._born_s)

    def _name(self) -> str:
        plain = self.plan.name or (self.plan.command[0].rpartition("/")[2] if self.plan.command else "")
        return plain[:_COMM_LENGTH]

    def _resident(self) -> int:
        return round(self.plan.memory.at(self._clock.now()))

    def _state(self, threads: Sequence[ThreadPlan]) -> str:
        now = self._clock.now()
        return self.plan.state or ("R" if threads[0].cpu.mean(now - 1, now) > _BUSY else "S")

    def _ticks(self, threads: Sequence[ThreadPlan]) -> tuple[int, int]:
        """Return user and system time since the process started."""
        now = self._clock.now()
        user = system = 0.0
        for thread in threads:
            if thread.cpu == ZERO:
                continue
            spent = thread.cpu.integral(now) - thread.cpu.integral(self._born_s)
            user += spent * (1 - thread.in_kernel)
            system += spent * thread.in_kernel
        return int(user * HERTZ), int(system * HERTZ)

    def _line(self, threads: Sequence[ThreadPlan], number: int, name: str) -> str:
        """Return the 52 fields of proc_pid_stat(5), in its order."""
        plan = self.plan
        user, system = self._ticks(threads)
        start = round(self._born_s * HERTZ)
        memory = f"{_MAPPED_BYTES} {self._resident() // PAGE} 18446744073709551615"
        group = f"{plan.parent} {self._session} {self._session} {plan.terminal} -1"
        return (
            f"{number} ({name}) {self._state(threads)} {group} "
            f"4194304 812345 0 12 0 {user} {system} 0 0 {20 + plan.nice} {plan.nice} {len(self._threads)} 0 {start} "
            f"{memory} 94028712345600 94028715430113 140732712345776 0 0 0 0 16781312 17663 0 0 0 17 "
            f"{plan.pid % 16} 0 0 0 0 0 94028716567376 94028717145792 94029412345856 140732712348000 140732712348200 "
            f"140732712348200 140732712353761 0\n"
        )

    def _syscall(self) -> str:
        return "running\n" if self._state(self._threads) == "R" else "-1 0x7ffd17951968 0x7f3fea8d32ad\n"

    def _status(self) -> str:
        plan = self.plan
        state = {"R": "R (running)", "S": "S (sleeping)", "D": "D (disk sleep)", "Z": "Z (zombie)", "T": "T (stopped)"}
        resident = self._resident() // 1024
        switches = int(self._clock.now() * 90 + self.cpu.integral(self._clock.now()) * 40)
        inner = f"\t{plan.inner_pid}" if plan.inner_pid else ""
        uids = f"{plan.uid}\t" * 3 + f"{plan.uid}\n"
        return (
            f"Name:\t{self._name()}\nUmask:\t0022\nState:\t{state[self._state(self._threads)]}\nTgid:\t{plan.pid}\n"
            f"Pid:\t{plan.pid}\nPPid:\t{plan.parent}\nTracerPid:\t0\nUid:\t{uids}"
            f"Gid:\t{uids}NStgid:\t{plan.pid}{inner}\nNSpid:\t{plan.pid}{inner}\n"
            f"VmPeak:\t{_MAPPED_BYTES // 1024} kB\nVmSize:\t{_MAPPED_BYTES // 1024} kB\nVmHWM:\t{resident} kB\n"
            f"VmRSS:\t{resident} kB\nRssAnon:\t{resident * 5 // 6} kB\nRssFile:\t{resident - resident * 5 // 6} kB\n"
            f"RssShmem:\t0 kB\nVmSwap:\t0 kB\nThreads:\t{len(self._threads)}\n"
            f"voluntary_ctxt_switches:\t{switches}\nnonvoluntary_ctxt_switches:\t{switches // 60}\n"
        )


_WAITS: Final = {"S": "futex_wait_queue", "D": "rpc_wait_bit_killable", "T": "do_signal_stop"}
_FILES: Final[dict[str, Callable[[ProcessFiles], str]]] = {
    "cgroup": lambda of: f"0::{of.plan.cgroup}\n",
    "cmdline": lambda of: "".join(argument + "\0" for argument in of.plan.command),
    "comm": lambda of: of._name() + "\n",
    "environ": lambda of: "".join(f"{key}={value}\0" for key, value in of.plan.environ.items()),
    "io": ProcessFiles._io,
    "limits": lambda _: inner.LIMITS,
    "maps": lambda of: inner.maps(of.plan),
    "stat": ProcessFiles._stat,
    "statm": ProcessFiles._statm,
    "status": ProcessFiles._status,
    "syscall": ProcessFiles._syscall,
    "wchan": lambda of: _WAITS.get(of._state(of._threads), "0"),
}
