"""Workers that behave and workers that do not, played by small programs."""

import os
import signal
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

import pytest
from other_users import directory_of_other, needs_root

from gputop.core.probing.plan import PlannedTest, WorkerPlan
from gputop.core.probing.probe import Level, Probe, ProbeTest, Purpose
from gputop.core.probing.result import TestStatus
from gputop.machine.probe.child import undisturbed
from gputop.machine.probe.python import candidates, with_package, worker_environment
from gputop.machine.probe.runner import Limits, Task, WorkerJob, run, worker_command

QUICK = Limits(start_s=20, silence_s=0.5, stop_s=0.3, end_s=0.3, kill_s=5)
BEGIN = """
    import json, os, signal, sys, time
    def say(event, **fields):
        print(json.dumps({"ev": event} | fields), flush=True)
    plan = json.loads(sys.stdin.readline())
    say("hello", name="fake", pid=os.getpid())
    def test(key):
        say("start", id=key)
        say("end", id=key, status="pass")
"""


def task(tmp_path: Path, body: str, *tests: str) -> Task:
    script = tmp_path / "worker.py"
    script.write_text(textwrap.dedent(BEGIN) + textwrap.dedent(body))
    plan = WorkerPlan(
        device="cpu", uuid="CPU-0", index=0, tests=tuple(PlannedTest(name, 1.0) for name in tests or ("a", "b"))
    )
    return Task(label="x", command=(sys.executable, str(script)), plan=plan, environment=dict(os.environ))


def quiet(_: Sequence[WorkerJob]) -> None:
    """Be told, and do nothing."""


def told(job: WorkerJob) -> list[tuple[str, str, list[str]]]:
    return [(one.key, one.status.value, [f.code for f in one.findings]) for one in job.record.results()]


def is_alive(pid: int) -> bool:
    return os.path.exists(f"/proc/{pid}")


def test_what_a_worker_says_is_its_result(tmp_path: Path) -> None:
    body = "[test(t['id']) for t in plan['tests']]; say('summary', status='done')"
    job = run([task(tmp_path, body)], quiet, QUICK)[0]

    assert told(job) == [("a", "pass", []), ("b", "pass", [])]


def test_a_worker_that_hangs_fails_in_its_test_and_a_fresh_one_runs_the_rest(tmp_path: Path) -> None:
    body = """
        for t in plan["tests"]:
            if t["id"] == "a":
                say("start", id="a")
                time.sleep(600)
            test(t["id"])
        say("summary", status="done")
    """
    job = run([task(tmp_path, body)], quiet, QUICK)[0]

    assert told(job) == [("a", "fail", ["hang"]), ("b", "pass", [])]


def test_heartbeats_of_a_main_loop_that_stands_still_are_no_sign_of_life(tmp_path: Path) -> None:
    body = """
        say("start", id="a")
        while True:
            say("hb", n=1)
            time.sleep(0.05)
    """
    job = run([task(tmp_path, body, "a")], quiet, QUICK)[0]

    assert told(job) == [("a", "fail", ["hang"])]


def test_a_worker_that_heeds_no_signal_is_killed(tmp_path: Path) -> None:
    body = """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say("start", id="a")
        while True:
            time.sleep(600)
    """
    job = run([task(tmp_path, body, "a")], quiet, QUICK)[0]

    assert told(job) == [("a", "fail", ["hang"])]
    assert job.record.hello is not None
    assert not is_alive(job.record.hello.pid)


@pytest.mark.parametrize(
    ("end", "status", "code"),
    [
        ("os.abort()", "fail", "worker.crash"), ("os.kill(os.getpid(), 9)", "error", "worker.killed"),
        ("sys.exit(7)", "error", "worker.ended"),
    ],
)  # fmt: skip
def test_how_a_worker_dies_is_a_result_and_a_fresh_one_runs_the_rest(
    tmp_path: Path, end: str, status: str, code: str
) -> None:
    body = f"""
        if plan["tests"][0]["id"] == "a":
            say("start", id="a")
            {end}
        test("b")
        say("summary", status="done")
    """
    job = run([task(tmp_path, body)], quiet, QUICK)[0]

    assert told(job) == [("a", status, [code]), ("b", "pass", [])]


def test_a_worker_that_dies_again_and_again_is_started_twice_only(tmp_path: Path) -> None:
    body = "say('start', id=plan['tests'][0]['id']); os.abort()"
    job = run([task(tmp_path, body, "a", "b", "c")], quiet, QUICK)[0]

    assert [(one.key, one.status) for one in job.record.results()] == [
        ("a", TestStatus.FAIL), ("b", TestStatus.FAIL), ("c", TestStatus.SKIP),
    ]  # fmt: skip


def test_a_worker_that_cannot_begin_makes_every_test_an_error(tmp_path: Path) -> None:
    body = "say('error', id='', type='ImportError', text='no torch here'); sys.exit(3)"
    job = run([task(tmp_path, body)], quiet, QUICK)[0]

    assert [(one.status, one.reason) for one in job.record.results()] == [(TestStatus.ERROR, "no torch here")] * 2


def test_an_interrupt_stops_the_workers_and_is_told(tmp_path: Path) -> None:
    body = """
        say("start", id="a")
        sys.stdin.read()
        say("end", id="a", status="aborted")
        say("summary", status="aborted")
    """
    told_once: list[int] = []

    def interrupt(jobs: Sequence[WorkerJob]) -> None:
        if jobs[0].record.current and not told_once:
            told_once.append(1)
            raise KeyboardInterrupt

    job = run([task(tmp_path, body)], interrupt, QUICK)[0]

    assert [(one.key, one.status) for one in job.record.results()] == [
        ("a", TestStatus.ABORTED),
        ("b", TestStatus.ABORTED),
    ]


def test_a_stop_that_is_final_ends_the_test_that_runs_and_no_fresh_worker_runs_the_rest(tmp_path: Path) -> None:
    body = """
        say("start", id="a")
        sys.stdin.read()
    """

    def stop(jobs: Sequence[WorkerJob]) -> None:
        if jobs[0].record.current:
            jobs[0].stop((TestStatus.INCONCLUSIVE, "gave_way", "somebody came"), is_final=True)

    job = run([task(tmp_path, body)], stop, QUICK)[0]

    assert told(job) == [("a", "inconclusive", ["gave_way"]), ("b", "inconclusive", [])]


def test_a_test_that_heeds_a_stop_is_told_with_why_it_was_stopped(tmp_path: Path) -> None:
    body = """
        say("start", id="a")
        sys.stdin.read()
        say("end", id="a", status="aborted")
        say("summary", status="aborted")
    """

    def stop(jobs: Sequence[WorkerJob]) -> None:
        if jobs[0].record.current:
            jobs[0].stop((TestStatus.INCONCLUSIVE, "gave_way", "somebody came"), is_final=True)

    job = run([task(tmp_path, body, "a")], stop, QUICK)[0]

    assert told(job) == [("a", "inconclusive", ["gave_way"])]
    assert job.record.results()[0].reason == "somebody came"


def test_an_interrupt_while_a_worker_is_started_comes_when_it_is_known() -> None:
    seen: list[str] = []

    def start() -> None:
        with undisturbed():
            signal.raise_signal(signal.SIGINT)
            seen.append("started")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs in the background may ignore it
    try:
        with pytest.raises(KeyboardInterrupt):
            start()

        assert seen == ["started"]
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_is_no_line_of_the_protocol_is_passed_over_and_stderr_is_kept(tmp_path: Path) -> None:
    body = "print('hello'); print('oops', file=sys.stderr); test('a'); say('summary', status='done')"
    job = run([task(tmp_path, body, "a")], quiet, QUICK)[0]

    assert told(job) == [("a", "pass", [])]
    assert job.last_words == "oops"


def test_a_worker_takes_its_package_from_a_folder_and_nothing_else_from_there(tmp_path: Path) -> None:
    package = tmp_path / "site" / "probe_of_a_test"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tmp_path / "site" / "neighbour.py").write_text("")
    (package / "other.py").write_text("NAME = 'other'")
    (package / "worker.py").write_text(
        "import json, sys\nfrom probe_of_a_test.other import NAME\n"
        "try:\n    import neighbour\nexcept ImportError:\n    NAME += ' alone'\n"
        "print(json.dumps({'ev': 'hello', 'name': NAME}))\nprint('{\"ev\":\"summary\",\"status\":\"done\"}')\n"
    )
    test = ProbeTest(key="a", question="", purpose=Purpose.SPEED, seconds={Level.QUICK: 1})
    probe = Probe(key="p", help="", folder=str(package), worker="probe_of_a_test.worker", tests=(test,))
    plan = WorkerPlan(device="cpu", uuid="", index=0, tests=())
    one = Task(label="x", command=worker_command(sys.executable, probe), plan=plan, environment=dict(os.environ))
    job = run([one], quiet, QUICK)[0]

    assert job.record.hello is not None
    assert job.record.hello.name == "other alone"


def test_a_python_without_the_package_is_not_chosen() -> None:
    assert with_package((sys.executable,), "msgspec", os.environ) == sys.executable
    assert with_package((sys.executable, "/nothing/python"), "no_package_of_this_name", os.environ) is None


def test_the_python_that_is_named_is_the_only_one() -> None:
    assert candidates("/opt/py", {"VIRTUAL_ENV": "/venv"}) == ("/opt/py",)
    assert candidates(None, {"VIRTUAL_ENV": "/venv", "PATH": "/nothing"}) == (sys.executable, "/venv/bin/python")


@needs_root
def test_root_chooses_no_python_of_another_user(tmp_path: Path) -> None:
    theirs = directory_of_other(tmp_path / "venv")
    (theirs / "bin").mkdir()
    for name in ("python", "python3"):
        (theirs / "bin" / name).symlink_to(sys.executable)
    environment = {"VIRTUAL_ENV": str(theirs), "PATH": f"{theirs}/bin"}

    assert candidates(None, environment) == (sys.executable,)
    assert candidates(f"{theirs}/bin/python", environment) == (f"{theirs}/bin/python",)


def test_no_python_of_the_working_directory_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "python3").symlink_to(sys.executable)
    monkeypatch.chdir(tmp_path)

    assert candidates(None, {"PATH": ".:"}) == (sys.executable,)


def test_a_worker_sees_its_device_alone_and_nothing_that_would_change_a_figure() -> None:
    made = worker_environment({"CUDA_LAUNCH_BLOCKING": "1", "CUDA_VISIBLE_DEVICES": "7", "A": "b"}, "GPU-x", "/folder")

    assert "CUDA_LAUNCH_BLOCKING" not in made
    assert (made["CUDA_VISIBLE_DEVICES"], made["A"], made["TMPDIR"]) == ("GPU-x", "b", "/folder")


def test_one_after_another_the_next_worker_starts_when_the_one_before_has_ended(tmp_path: Path) -> None:
    log = tmp_path / "log"
    body = f"""
        def note(word):
            with open({str(log)!r}, "a") as opened:
                opened.write(word)
        note("[")
        [test(t['id']) for t in plan['tests']]
        note("]")
        say('summary', status='done')
    """
    waiting: list[list[bool]] = []
    jobs = run(
        [task(tmp_path, body)] * 3, lambda jobs: waiting.append([job.is_waiting for job in jobs]), QUICK, is_serial=True
    )

    assert log.read_text() == "[][][]"
    assert waiting[0] == [False, True, True]
    assert [told(job) for job in jobs] == [[("a", "pass", []), ("b", "pass", [])]] * 3


def test_an_interrupt_leaves_out_those_whose_turn_has_not_come(tmp_path: Path) -> None:
    body = """
        say("start", id="a")
        sys.stdin.read()
        say("end", id="a", status="aborted")
        say("summary", status="aborted")
    """
    told_once: list[int] = []

    def interrupt(jobs: Sequence[WorkerJob]) -> None:
        if jobs[0].record.current and not told_once:
            told_once.append(1)
            raise KeyboardInterrupt

    jobs = run([task(tmp_path, body)] * 2, interrupt, QUICK, is_serial=True)

    assert jobs[1].child is None
    assert {one.status for job in jobs for one in job.record.results()} == {TestStatus.ABORTED}


def test_what_follows_a_stop_may_have_a_status_of_its_own(tmp_path: Path) -> None:
    body = """
        say("start", id="a")
        sys.stdin.read()
        say("end", id="a", status="aborted")
    """

    def stop(jobs: Sequence[WorkerJob]) -> None:
        if jobs[0].record.current:
            jobs[0].stop((TestStatus.FAIL, "guard.temperature", "too hot"), is_final=True, rest=TestStatus.SKIP)

    job = run([task(tmp_path, body)], stop, QUICK)[0]

    assert told(job) == [("a", "fail", ["guard.temperature"]), ("b", "skip", [])]
    assert [one.reason for one in job.record.results()] == ["too hot", "too hot"]
