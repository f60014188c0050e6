"""gputop wait."""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path

import pytest
from examples import GIB, frame, gpu, process

from gputop.app.errors import BadRequestError
from gputop.app.monitoring.wait import goal_of, waited
from gputop.core.inspection.inspection import Inspection
from gputop.core.model.catalogue import GPU_UTILIZATION, MEMORY_USED
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, Job, JobKind
from gputop.core.notification.notification import Condition, Notification
from gputop.core.protocol.command import Inspect
from gputop.machine.inspect.process_status import process_status_of_this_machine

PATIENCE_S = 60
JOBS = tuple(Job(key=f"slurm:{n}", kind=JobKind.SLURM, label=f"{n}.0", members=(ProcessId(n, n * 10),)) for n in (1, 2))


def gputop(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", "wait", "--interval", "0.1", *arguments],
        capture_output=True, check=False, env=dict(os.environ) | variables, stdin=subprocess.DEVNULL, text=True,
        timeout=PATIENCE_S, start_new_session=True,
    )  # fmt: skip


def unknown(question: Inspect) -> Inspection:
    return Inspection(id="", pid=question.pid, problem="no such process", has_ended=True)


def titles(first: Frame, goal: str, later: Iterator[Frame], pauses: int = 5) -> list[str]:
    left = iter(range(pauses))
    happened = waited(
        first,
        [goal_of(goal, first, unknown)],
        later.__next__,
        process_status_of_this_machine().read,
        lambda: next(left, None) is not None,
    )
    return [one.title for one in happened]


def test_a_free_gpu_ends_the_wait() -> None:
    done = gputop("free", "--demo", "mig")

    assert (done.returncode, done.stdout) == (0, "GPU 0:11 is free\n")


def test_the_end_of_the_time_is_status_1() -> None:
    done = gputop("free:1", "--demo", "workstation", "--for", "0.2s")

    assert (done.returncode, done.stdout) == (1, "")


@pytest.mark.parametrize(
    "words", [["fre"], ["free:"], ["ended"], ["finding:3"], ["ended:" + "9" * 6000], [], ["free", "--user", "ann"]]
)
def test_bad_input_is_status_2(words: list[str]) -> None:
    assert gputop(*words, "--demo", "mig").returncode == 2


def test_the_notification_goes_to_the_command_of_the_settings(tmp_path: Path) -> None:
    (tmp_path / "gputop").mkdir()
    out = tmp_path / "out"
    words = f'["/bin/sh", "-c", "printf %s \\"$GPUTOP_EVENT $GPUTOP_GPU\\" > {out}"]'
    (tmp_path / "gputop/config.toml").write_text(f'notify = ["bell", "command"]\nnotify_command = {words}\n')
    done = gputop("free", "--demo", "mig", "--notify", XDG_CONFIG_HOME=str(tmp_path))

    assert (done.returncode, done.stderr) == (0, "")
    assert out.read_text() == "free 0"


def test_a_gpu_is_free_only_by_two_readings() -> None:
    idle = frame((gpu(0, {GPU_UTILIZATION: 0, MEMORY_USED: GIB // 4}),), ())

    assert titles(frame(1), "free:0", iter([idle, frame(1), idle, idle])) == ["GPU 0 is free"]
    assert titles(idle, "free", iter(()), pauses=0) == []


def test_the_end_of_a_real_process_ends_the_wait() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        stat = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        first = frame(1, (process(child.pid, start_ticks=int(stat[19])),))
        assert titles(first, f"ended:{child.pid}", repeat(frame(1, ()))) == []
        child.communicate(b"\n")

        assert titles(first, f"ended:{child.pid}", repeat(frame(1, ())))[0].startswith(f"process {child.pid} has ended")


def test_a_process_that_does_not_run_has_ended() -> None:
    found = goal_of("ended:99", frame(1), unknown)

    assert isinstance(found, Notification)
    assert found.title == "process 99 does not run"


@pytest.mark.parametrize("name", ["1", "1.0", "slurm:1"])
def test_a_job_is_found_by_its_number_and_its_name(name: str) -> None:
    found = goal_of(f"ended:{name}", frame(1, (), jobs=JOBS), unknown)

    assert isinstance(found, Condition)
    assert (found.job, found.processes) == ("slurm:1", (ProcessId(1, 10),))


def test_an_unknown_job_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(BadRequestError, match=r"no job is called train\. Jobs on GPUs: 1\.0, 2\.0"):
        goal_of("ended:train", frame(1, (), jobs=JOBS), unknown)
