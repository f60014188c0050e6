"""Real processes of two users, with the environment and the cgroup that they choose."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from children import settle
from examples import frame, process

from gputop.core.model.sample import Frame
from gputop.core.processes.jobs import JobFinder
from gputop.machine.proc.procfs import RealProc
from gputop.machine.processes.reader import ProcessReader

ALICE, BOB = 1001, 1002
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can start processes of two users")


@contextmanager
def stranger(uid: int, **variables: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a process of a user that does nothing, until the end of the test."""
    with subprocess.Popen(
        ["/bin/sleep", "600"], user=uid, group=uid, extra_groups=[], env=variables, cwd="/", start_new_session=True
    ) as held:
        try:
            yield held
        finally:
            held.kill()


@contextmanager
def strangers(*wanted: tuple[int, dict[str, str]]) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Run several, in this order."""
    with ExitStack() as stack:
        yield [stack.enter_context(stranger(uid, **variables)) for uid, variables in wanted]


def seen(*pids: int) -> Frame:
    """Return the frame of these processes as gputop reads them, each on a GPU of its own."""
    settle(*pids)
    uses = {pid: process(1, at).gpus for at, pid in enumerate(pids)}
    rows = ProcessReader(RealProc(), {ALICE: "alice", BOB: "bob"}.get).read(uses, time.monotonic())
    return frame(len(pids), rows, jobs=JobFinder().find(rows, ()))


def pids_of_jobs(held: Frame) -> list[list[int]]:
    return [[one.pid for one in job.members] for job in held.jobs]


@contextmanager
def cgroup(*names: str, owner: int) -> Iterator[Path]:
    """Make cgroups, each below the one before it; all but the first belong to a user. Skip without cgroup v2."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    roots = [Path(words[1]) for words in mounts if words[2] == "cgroup2" and "rw" in words[3].split(",")]
    made: list[Path] = []
    place = roots[0] if roots else Path("/nowhere")
    try:
        for name in names:
            place /= name
            place.mkdir()
            made.append(place)
            if len(made) > 1:
                for path in (place, place / "cgroup.procs"):
                    os.chown(path, owner, owner)
    except OSError as error:
        pytest.skip(f"no cgroup can be made here: {error}")
    try:
        yield place
    finally:
        for path in sorted(made[0].rglob("*"), reverse=True):
            if path.is_dir():
                path.rmdir()
        made[0].rmdir()
