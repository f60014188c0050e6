"""A program: a pid that gets another owner between a listing and a signal, most often within one clock tick.

Run it as root in a PID namespace of its own. Each round starts a process, lists it, and sends it a signal through
`Control`; at a random call in between, the process is replaced by another one with the same pid. It prints as JSON how
the requests ended, how many processes got the signal that were not listed, and how many signals went through a pidfd
with another inode than that of the listed process. The signal is SIGURG, which is harmless.

python tick_reuse.py DIRECTORY certain|start-tick REUSES
"""
# ruff: noqa: S311 - this chance need not be secret

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

from gputop.core.protocol.command import SendSignal, Target
from gputop.core.protocol.outcome import Status
from gputop.machine.control.audit import Audit
from gputop.machine.control.control import Control
from gputop.machine.control.handle import TargetOpener
from gputop.machine.control.kernel import Kernel
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.stat import parse_stat
from gputop.machine.processes.reader import ProcessReader

PID = 400
LAST_PID = Path("/proc/sys/kernel/ns_last_pid")
LONGEST_LIFE_S = 0.05  # five ticks
CALLS = {"listing": (2, 8), "between": (1, 1), "signal": (1, 6), "never": (0, 0)}  # some rounds make fewer
MOST_ROUNDS = 20  # for each reuse that is wanted
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Owners:
    """The owners of the pid, one after the other; each is a real process that waits for ever."""

    def __init__(self) -> None:
        self.number = 0
        self.start_ticks = 0

    def start(self) -> None:
        """Start the next owner."""
        LAST_PID.write_text(str(PID - 1))
        child = os.fork()
        if child == 0:
            while True:
                signal.pause()
        if child != PID:
            sys.exit(f"the pid is {child}, not {PID}")
        self.number += 1
        stat = parse_stat(Path(f"/proc/{PID}/stat").read_bytes())
        self.start_ticks = stat.start_ticks if stat else 0

    def end(self) -> None:
        """End the present owner."""
        os.kill(PID, signal.SIGKILL)
        os.waitpid(PID, 0)

    def is_hit(self) -> bool:
        """Return whether the present owner got the signal, which it blocks."""
        lines = Path(f"/proc/{PID}/status").read_text().splitlines()
        pending = next(int(line.split()[1], 16) for line in lines if line.startswith("ShdPnd:"))
        return bool(pending >> (signal.SIGURG - 1) & 1)


class Round(RealProc):
    """A /proc that replaces the owner of the pid before one of the calls, once. ``listed``: the owner that was read.

    ``listed_ticks``: its start tick, even where the listing has none.
    """

    def __init__(self, owners: Owners) -> None:
        super().__init__()
        self._owners = owners
        self._calls = 0
        self.place = random.choice(tuple(CALLS))
        self.listed = self.listed_ticks = 0
        self.listed_inode: int | None = None
        self.is_reuse = self.is_same_tick = self.is_other_inode = False

    def reread(self, path: str) -> bytes:
        self.count()
        content = super().reread(path)
        stat = parse_stat(content)
        self.listed, self.listed_ticks = self._owners.number, stat.start_ticks if stat else 0
        self.listed_inode = inode_of(PID)
        return content

    def read(self, path: str) -> bytes:
        self.count()
        return super().read(path)

    def reach(self, place: str) -> None:
        """Begin a part of the round; the reuse happens in one of them."""
        self._calls = random.randint(*CALLS[place]) if place == self.place else 0

    def count(self) -> None:
        """Replace the owner if it is time."""
        self._calls -= 1
        if self._calls == 0:
            before = self._owners.start_ticks
            self._owners.end()
            self._owners.start()
            self.is_reuse = self.listed > 0
            self.is_same_tick = self.is_reuse and self._owners.start_ticks == before


class SwappedKernel(Kernel):
    """The kernel, with a reuse before a pidfd is opened as well."""

    def __init__(self, proc: Round) -> None:
        self._proc = proc

    def open(self, pid: int) -> int:
        self._proc.count()
        return super().open(pid)

    def send(self, descriptor: int, number: int) -> None:
        self._proc.is_other_inode = self.inode(descriptor) != self._proc.listed_inode
        self._proc.count()
        super().send(descriptor, number)


def inode_of(pid: int) -> int | None:
    """Return the inode of the present owner of a pid; None before Linux 6.9."""
    kernel = Kernel()
    descriptor = kernel.open(pid)
    try:
        return kernel.inode(descriptor)
    finally:
        kernel.close(descriptor)


def signalled(proc: Round, place: str, kind: str) -> Status:
    """List the process, send it a signal, and return how that ended."""
    proc.reach("listing")
    row = ProcessReader(proc, lambda _: "ann").read({PID: ()}, time.monotonic())[0]
    proc.reach("between")
    proc.count()
    proc.reach("signal")
    start = row.start_ticks if kind == "certain" else proc.listed_ticks
    opener = TargetOpener(proc, lambda _: "ann", SwappedKernel(proc), frozenset({os.getpid()}))
    control = Control(proc, SwappedKernel(proc), opener, Audit(place, "ann"), None)
    command = SendSignal(id="1", signal="SIGURG", targets=(Target(PID, start, row.presence),))
    return control.execute(command).results[0].status


def main(place: str, kind: str, reuses: str) -> None:
    """Run rounds until the pid was reused so often, every tenth time within a tick, and print what came of them."""
    with suppress(PermissionError):  # on a busy host a tick is over before a round is
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGURG})
    owners, ends = Owners(), Counter[str]()
    found = dict.fromkeys(("reused", "same_tick", "hit", "wrongly", "other_inode"), 0)
    for _ in range(MOST_ROUNDS * int(reuses)):
        if found["reused"] >= int(reuses) and found["same_tick"] >= int(reuses) // 10:
            break
        time.sleep((TICK_NS - time.clock_gettime_ns(time.CLOCK_BOOTTIME) % TICK_NS) / 1_000_000_000)
        owners.start()  # at the beginning of a tick
        if random.random() < 0.5:
            time.sleep(random.random() * LONGEST_LIFE_S)
        proc = Round(owners)
        ends[signalled(proc, place, kind).value] += 1
        found["reused"] += proc.is_reuse
        found["same_tick"] += proc.is_same_tick
        found["other_inode"] += proc.is_other_inode
        found["hit"] += owners.is_hit()
        found["wrongly"] += owners.is_hit() and owners.number != proc.listed
        owners.end()
        proc.forget(f"{PID}/stat")
    sys.stdout.write(json.dumps(found | {"ends": ends}))


if __name__ == "__main__":
    main(*sys.argv[1:])
