"""A program: a crowd of processes that come and go, and a door that is asked 10,000 times to signal one of them.

Run it in a PID namespace of its own as root: then the pids of the crowd are used again and again. It prints as JSON
how the requests ended, and how many processes were hit. The signal is SIGURG, which hurts nobody.

python pid_reuse.py DIRECTORY careful|careless
"""
# ruff: noqa: S311 - this chance need not be secret

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NoReturn

from gputop.core.protocol.command import SendSignal, Target
from gputop.core.protocol.outcome import Status
from gputop.machine.control.audit import Audit
from gputop.machine.control.control import Control
from gputop.machine.control.handle import TargetError, TargetOpener
from gputop.machine.control.kernel import Kernel
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.stat import ProcessStat, parse_stat

REQUESTS = {"careful": 10_000, "careless": 1000}
CROWD = 24
FIRST_PID = 400
LONGEST_LIFE_S = 0.04
LAST_PID = "/proc/sys/kernel/ns_last_pid"

Identity = tuple[int, int]


def live(born: int, hit: int) -> NoReturn:
    """Be a process of the crowd: say who it is, live for a moment, say whether it was hit."""
    with open("/proc/self/stat") as file:
        start = file.read().rpartition(")")[2].split()[19]
    name = f"{os.getpid()} {start}\n".encode()
    os.write(born, name)
    time.sleep(random.random() * LONGEST_LIFE_S)
    if signal.SIGURG in signal.sigpending():
        os.write(hit, name)
    os._exit(0)


def crowd(born: int, hit: int, stop: int) -> NoReturn:
    """Keep the crowd alive until ``stop`` ends."""
    is_recycling = os.getppid() == 1 and os.access(LAST_PID, os.W_OK)  # in a namespace of its own
    os.set_blocking(stop, False)
    alive = 0
    while True:
        try:
            if os.read(stop, 1) == b"":
                break
        except BlockingIOError:
            pass
        if is_recycling:
            Path(LAST_PID).write_text(str(FIRST_PID))
        if os.fork() == 0:
            random.seed()
            live(born, hit)
        alive += 1
        while alive and os.waitpid(-1, 0 if alive >= CROWD else os.WNOHANG)[0]:
            alive -= 1
    while alive:
        os.wait()
        alive -= 1
    os._exit(0)


class Requests:
    """What is asked for: half of the identities as they are, of the others only what is wrong about them."""

    def __init__(self, born: int) -> None:
        self._born = born
        self._rest = b""
        self.known: list[Identity] = []
        os.set_blocking(born, False)

    def listen(self) -> None:
        try:
            *lines, self._rest = (self._rest + os.read(self._born, 65_536)).split(b"\n")
        except BlockingIOError:
            return
        for line in lines:
            pid, start = line.split()
            self.known.append((int(pid), int(start)))

    def one(self) -> Identity:
        pid, start = random.choice(self.known[-3 * CROWD :])
        if (pid * 31 + start) % 2 and random.random() < 0.8:
            return pid, start
        other = random.choice(self.known[-300:])
        return random.choice(((pid, other[1]), (pid, start + random.randint(1, 9)), (pid, start - 1), other))


def door(place: str, kind: str) -> Control:
    """Return the door, or for comparison one that looks at nothing but the pid."""

    class Careless(TargetOpener):
        def confirm(self, target: Target) -> ProcessStat:
            try:
                stat = parse_stat(RealProc().read(f"{target.pid}/stat"))
            except OSError:
                stat = None
            if stat is None:
                raise TargetError(Status.GONE, "")
            return stat

    proc, kernel = RealProc(), Kernel()
    opener = (TargetOpener if kind == "careful" else Careless)(proc, lambda _: "ann", kernel, frozenset({os.getpid()}))
    return Control(proc, kernel, opener, Audit(place, "ann"), None)


def ask(control: Control, requests: Requests, count: int) -> tuple[set[Identity], Counter[str]]:
    """Ask the door; return whom it says to have signalled, and how often it ended how."""
    done: set[Identity] = set()
    ends: Counter[str] = Counter()
    while len(requests.known) < CROWD:
        requests.listen()
    for n in range(count):
        requests.listen()
        pid, start = requests.one()
        command = SendSignal(id=str(n), signal="SIGURG", targets=(Target(pid, start),))
        status = control.execute(command).results[0].status
        ends[status.value] += 1
        if status is Status.DONE:
            done.add((pid, start))
    return done, ends


def reused(known: list[Identity]) -> int:
    """Return how many pids had more than one owner."""
    return sum(n > 1 for n in Counter(pid for pid, _ in set(known)).values())


def main(place: str, kind: str) -> None:
    """Start the crowd, ask the door, end the crowd, print what came of it."""
    (born, says_born), (hit, says_hit), (stop, stops) = os.pipe(), os.pipe(), os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGURG})
    nursery = os.fork()
    if nursery == 0:
        for descriptor in (born, hit, stops):
            os.close(descriptor)
        crowd(says_born, says_hit, stop)
    for descriptor in (says_born, says_hit, stop):
        os.close(descriptor)
    requests = Requests(born)
    done, ends = ask(door(place, kind), requests, REQUESTS[kind])
    os.close(stops)
    os.set_blocking(born, True)
    while os.read(born, 65_536):
        pass  # the last of the crowd say who they are
    with os.fdopen(hit, "rb") as file:
        wounded = {(int(pid), int(start)) for pid, start in (line.split() for line in file)}
    os.waitpid(nursery, 0)
    wrongly = len(wounded - done)
    answer = {"ends": ends, "hit": len(wounded), "wrongly": wrongly, "reused": reused(requests.known)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main(*sys.argv[1:])
