"""gputop signal and gputop renice: on real children where something is done, on simulated boxes for the rest."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from children import Child, child, control, only, signal_to
from examples import frame, gpu, process
from fake_driver import FakeFunctions

from gputop.app.control.escalation import Escalation
from gputop.app.control.process_change import Chosen, carry_out, choose
from gputop.app.terminal import Person
from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo, Host, HostProcess, Job, JobKind, Presence
from gputop.core.monitor import Monitor
from gputop.core.protocol.command import Change, Renice, SendSignal, Target
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.core.protocol.targets import targets
from gputop.core.query.query import Query, kept, parse
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.proc.procfs import RealProc
from gputop.machine.processes.reader import ProcessReader, resolve_user
from gputop.machine.source import Limits, MachineSource

PATIENCE_S = 60  # only ever waited for when a test fails


class Listener(Person):
    """Answers as it was told to; hears everything."""

    def __init__(self, *answers: bool) -> None:
        super().__init__()
        self._answers = list(answers)
        self.heard: list[str] = []
        self.asked: list[str] = []

    def show(self, lines: Sequence[str]) -> None:
        self.heard += lines

    def warn(self, line: str) -> None:
        self.heard.append(line)

    def can_answer(self) -> bool:
        return True

    def agrees(self, question: str) -> bool:
        self.asked.append(question)
        return self._answers.pop(0)


class Stubborn:
    """A door to processes that end ``after`` so many looks at them; None is never."""

    def __init__(self, after: int | None, kills: bool = True) -> None:  # noqa: FBT001, FBT002
        self._after = after
        self._kills = kills
        self.done: list[tuple[str, tuple[int, ...]]] = []

    def execute(self, change: Change) -> Outcome:
        assert isinstance(change, SendSignal)
        self.done.append((change.signal, tuple(target.pid for target in change.targets)))
        if change.signal == "SIGKILL" and self._kills:
            self._after = 0
        results = tuple(Result(pid=t.pid, start_ticks=t.start_ticks, status=Status.DONE) for t in change.targets)
        return Outcome(id=change.id, what=change.signal, results=results)

    def living(self, targets: Iterable[Target]) -> tuple[Target, ...]:
        if self._after is not None:
            self._after -= 1
            if self._after < 0:
                return ()
        return tuple(targets)


class Clock:
    """A clock that sleeping moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def read(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def row(held: Child, **fields: object) -> HostProcess:
    return process(held.pid, start_ticks=held.target.start_ticks, **fields)


def meant(*processes: HostProcess, lacking: tuple[int, ...] = ()) -> Chosen:
    return Chosen(processes, frame().time_s, lacking)


def where(text: str) -> Query:
    query = parse(text)
    assert isinstance(query, Query)
    return query


def term(found: Chosen, name: str = "SIGTERM") -> SendSignal:
    return SendSignal(id="a", signal=name, targets=targets(found.processes))


def gputop(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments],
        capture_output=True, check=False, stdin=subprocess.DEVNULL, text=True, timeout=PATIENCE_S,
    )  # fmt: skip


# --- what is done ------------------------------------------------------------------------------------------------
def test_whom_it_hits_is_listed_before_the_question_and_then_hit(tmp_path: Path) -> None:
    with child("SIGUSR1") as held:
        found = meant(row(held, command="python \x1b[2Jtrain.py"))
        person = Listener(True)
        status = carry_out(term(found, "SIGUSR1"), found, control(tmp_path), person)

        assert held.line() == "SIGUSR1"
    assert status == 0
    assert person.asked == ["SIGUSR1 for 1 process?"]
    assert person.heard[0] == "SIGUSR1: 1 process of ann, 10.0GiB of GPU memory"
    assert person.heard[2].split() == [str(held.pid), "ann", "1h00", "0", "10.0GiB", "python", "␛[2Jtrain.py"]
    assert person.heard[-2:] == [f"{held.pid}: done", "SIGUSR1: 1 done"]


def test_the_question_names_several_users(tmp_path: Path) -> None:
    with child() as held:
        found, person = meant(row(held), process(1, user="bob", start_ticks=1)), Listener(False)
        carry_out(term(found), found, control(tmp_path), person)

    assert person.asked == ["SIGTERM for 2 processes of 2 users: ann 1, bob 1?"]


def test_without_a_yes_nothing_is_done(tmp_path: Path) -> None:
    with child() as held:
        found, person = meant(row(held)), Listener(False)
        status = carry_out(term(found), found, control(tmp_path), person)

        assert held.process.poll() is None
    assert status == 4
    assert person.heard[-1] == "Nothing was changed."


def test_a_dry_run_only_lists(tmp_path: Path) -> None:
    with child() as held:
        found, person = meant(row(held)), Listener()
        status = carry_out(term(found), found, control(tmp_path), person, is_dry=True)

        assert held.process.poll() is None
    assert (status, person.asked) == (0, [])


def test_the_status_says_whether_all_some_or_none_worked(tmp_path: Path) -> None:
    door = control(tmp_path)
    with child("SIGUSR1") as held:
        there, gone = row(held), process(held.pid, start_ticks=1)
        statuses = [
            carry_out(term(found, "SIGUSR1"), found, door, Listener(True))
            for found in (meant(there), meant(there, gone), meant(there, lacking=(7,)), meant(gone), meant())
        ]

    assert statuses == [0, 1, 1, 4, 4]


def test_a_row_that_is_no_process_of_ours_is_listed_with_the_reason_and_refused(tmp_path: Path) -> None:
    found, person = meant(HostProcess(pid=os.getpid(), presence=Presence.HIDDEN)), Listener(True)
    status = carry_out(term(found), found, control(tmp_path), person)

    assert status == 4
    assert person.heard[2].endswith(Presence.HIDDEN.text)
    assert person.heard[3] == f"{os.getpid()}: refused: {Presence.HIDDEN.text}"


def test_renice_says_what_was_and_what_became(tmp_path: Path) -> None:
    with child() as held:
        was = os.getpriority(os.PRIO_PROCESS, held.pid)
        found, person = meant(row(held)), Listener(True)
        carry_out(Renice(id="a", nice=15, targets=targets(found.processes)), found, control(tmp_path), person)

    assert f"{held.pid}: done: {was} → 15: all 2 threads" in person.heard


def test_processes_are_chosen_by_pid_and_those_that_lack_are_named() -> None:
    found = choose(frame(2), [4712, 9, 9])

    assert [each.pid for each in found.processes] == [4712]
    assert found.lacking == (9,)
    assert len(choose(frame(2), []).processes) == 2


def test_workers_without_their_launcher_are_hit_and_it_is_said_who_leads_them(tmp_path: Path) -> None:
    with child("SIGUSR1") as held:
        worker, launcher = row(held), process(4000, gpus=())
        job = Job(key="j", kind=JobKind.LAUNCHER, label="j", launcher=launcher.id, members=(launcher.id, worker.id))
        shown = frame(2, processes=(worker,), relatives=(launcher,), jobs=(job,))
        found, person = choose(shown, []), Listener(True)
        carry_out(term(found, "SIGUSR1"), found, control(tmp_path), person)

        assert held.line() == "SIGUSR1"
    assert found.led == ((4000, 1),)
    assert any(line.startswith("Launcher 4000, which started 1 of these") for line in person.heard)
    assert choose(shown, [4000, held.pid]).led == ()


def test_before_a_stop_it_is_hidden_that_the_process_keeps_its_gpu_memory(tmp_path: Path) -> None:
    with child("SIGUSR1") as held:
        found, person = choose(frame(2, processes=(row(held),)), []), Listener(False)
        carry_out(term(found, "SIGSTOP"), found, control(tmp_path), person)

    assert "Stopped processes keep their 10.0GiB of GPU memory." in person.heard
    assert person.asked


def test_where_the_driver_lists_nobody_that_is_said_and_not_that_a_pid_is_on_no_gpu(tmp_path: Path) -> None:
    found, person = (
        choose(frame(gpus=(gpu(missing={"processes": Missing.UNSUPPORTED}),), processes=()), [7]),
        Listener(),
    )

    assert carry_out(term(found), found, control(tmp_path), person) == 3
    assert person.heard[1:] == [
        "7: unknown whether it runs on the selected GPUs",
        f"GPU 0 does not report its processes: {Missing.UNSUPPORTED.text}",
    ]


@pytest.mark.parametrize("pids", [(7,), ()])
@pytest.mark.parametrize("is_dry", [True, False])
def test_a_driver_that_hangs_is_not_taken_for_a_process_that_is_on_no_gpu(
    tmp_path: Path, *, pids: tuple[int, ...], is_dry: bool
) -> None:
    silent = DriverInfo(missing={"version": Missing.HUNG})
    found, person = choose(frame(gpus=(), processes=(), driver=silent), pids), Listener()
    status = carry_out(term(found), found, control(tmp_path), person, is_dry=is_dry)

    assert status == 3
    assert person.heard[-1] == Missing.HUNG.text
    assert not any("not running" in line for line in person.heard)


def test_a_process_list_that_proc_did_not_answer_for_is_not_taken_for_no_process(tmp_path: Path) -> None:
    late = "/proc has not answered for 4s: processes are shown as they were"
    stale = frame(2, host=Host(name="node7", missing={"processes": Missing.BLOCKED}), problems=(late,))
    found, person = choose(stale, [9]), Listener()

    assert carry_out(term(found), found, control(tmp_path), person) == 3
    assert person.heard[1:] == ["9: unknown whether it runs on the selected GPUs", late]


def test_a_pid_on_no_gpu_is_not_unknown_because_another_process_blocks_its_readers(tmp_path: Path) -> None:
    shown = frame(2, problems=("cannot read the command line of process 4712: …",))
    found, person = choose(shown, [9]), Listener()

    assert carry_out(term(found), found, control(tmp_path), person) == 4
    assert person.heard[1:] == ["9: not running on the selected GPUs"]


def test_a_blocked_process_that_a_filter_cannot_judge_is_unknown_and_not_said_to_be_elsewhere(tmp_path: Path) -> None:
    problem = "cannot read the command line of process 4711: …"
    found, person = choose(frame(processes=(), problems=(problem,)), [4711], is_filtered=True), Listener()

    assert carry_out(term(found), found, control(tmp_path), person) == 3
    assert person.heard[1:] == ["4711: unknown whether it runs on the selected GPUs", problem]


def test_of_a_list_with_hidden_processes_no_process_is_said_to_match_although_one_may(tmp_path: Path) -> None:
    hidden = process(9, user=None, presence=Presence.HIDDEN)
    with child("SIGUSR1") as held:
        shown = kept(frame(2, (row(held), hidden)), where("user:ann"))
        none = kept(frame(1, (hidden,)), where("user:ann"))
        some, nobody = Listener(True), Listener()
        found = choose(shown, [], is_filtered=True)
        empty = choose(none, [], is_filtered=True)

        assert carry_out(term(found, "SIGUSR1"), found, control(tmp_path), some) == 0
        assert held.line() == "SIGUSR1"
    doubt = "cannot tell whether 1 process matches --where: unknown values of PID 9"
    assert doubt in some.heard
    assert carry_out(term(empty), empty, control(tmp_path), nobody) == 3
    assert nobody.heard[-1] == doubt


def test_a_launcher_without_a_gpu_is_chosen_by_its_pid_alone() -> None:
    shown = frame(2, relatives=(process(4000, gpus=()),))

    assert [each.pid for each in choose(shown, [4000]).processes] == [4000]
    assert choose(shown, [4000], is_filtered=True).lacking == (4000,)
    assert 4000 not in [each.pid for each in choose(shown, []).processes]


def test_from_the_drivers_list_to_the_signal_it_is_one_process(tmp_path: Path) -> None:
    proc = RealProc()
    with child("SIGUSR1") as held, child("SIGUSR1") as other:
        driver = FakeFunctions(nvmlDeviceGetComputeRunningProcesses=[(held.pid, 2**30, None, None)])
        reader = ProcessReader(proc, resolve_user)
        source = MachineSource(Driver(driver), HostReader(proc, "node7"), reader, limits=Limits(patience_s=30.0))
        source.open()
        found, person = choose(Monitor(source).step(), []), Listener(True)
        status = carry_out(term(found, "SIGUSR1"), found, control(tmp_path), person)

        assert held.line() == "SIGUSR1"
        assert other.process.poll() is None
    assert status == 0
    assert [each.id for each in found.processes] == [held.target.id]


# --- escalation --------------------------------------------------------------------------------------------------
def escalated(door: Stubborn, *answers: bool) -> tuple[Outcome, Listener]:
    clock, person = Clock(), Listener(*answers)
    change = signal_to(Target(1000, 1), Target(2000, 2))
    return Escalation(10, clock.read, clock.sleep).run(change, door, person), person


def test_processes_that_end_in_time_are_not_killed() -> None:
    door = Stubborn(after=3)
    outcome, person = escalated(door)

    assert door.done == [("SIGTERM", (1000, 2000))]
    assert outcome.all_worked
    assert person.asked == []


def test_those_that_are_left_are_killed_only_after_another_yes() -> None:
    door = Stubborn(after=None)
    outcome, person = escalated(door, True)

    assert person.asked == ["Send SIGKILL to 2 of them?"]
    assert door.done == [("SIGTERM", (1000, 2000)), ("SIGKILL", (1000, 2000))]
    assert outcome.summary == "SIGTERM, then SIGKILL: 2 done"


def test_without_another_yes_they_survive() -> None:
    door = Stubborn(after=None)
    outcome, _ = escalated(door, False)

    assert door.done == [("SIGTERM", (1000, 2000))]
    assert outcome.none_worked
    assert outcome.results[0].text == "survived: it did not exit within 10 s"


def test_who_outlives_sigkill_is_said_to_wait_in_the_kernel() -> None:
    outcome, _ = escalated(Stubborn(after=None, kills=False), True)

    assert outcome.summary == "SIGTERM, then SIGKILL: 2 survived"
    assert "waits in the kernel" in outcome.results[0].detail


def test_a_real_process_that_ignores_sigterm_is_killed_in_the_end(tmp_path: Path) -> None:
    clock = Clock()
    with child("SIGTERM") as held:
        change = signal_to(held.target)
        outcome = Escalation(0.5, clock.read, clock.sleep).run(change, control(tmp_path), Listener(True))

        assert held.process.wait(PATIENCE_S) == -9
    assert only(outcome).pid == held.pid


# --- the command line --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["signal", "SIGTREM", "--demo", "--yes", "--pid", "1"], "did you mean SIGTERM?"),
        (["signal", "TERM", "--demo", "--yes"], "no processes selected"),
        (["signal", "TERM", "--demo", "--yes", "--where", ""], "no processes selected"),
        (["signal", "TERM", "--demo", "--user", "ann"], "no terminal to confirm on: add --yes"),
        (["signal", "TERM", "--demo", "--pid", "x"], "'x' is not a pid"),
        (["signal", "TERM", "--demo", "--pid", "0"], "'0' is not a pid"),
        (["renice", "20", "--demo", "--pid", "1"], "'20' is not a nice value"),
        (["renice", "+1", "--demo", "--pid", "1"], "'+1' is not a nice value"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: list[str], said: str) -> None:
    done = gputop(*arguments)

    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr


@pytest.mark.parametrize("command", [["signal", "15"], ["renice", "-5"]])
def test_a_dry_run_shows_whom_a_filter_means(command: list[str]) -> None:
    done = gputop(*command, "--demo", "--where", "user:bob", "--dry-run")

    assert (done.returncode, done.stderr) == (0, "")
    assert "1 process of bob" in done.stdout
    assert "ipykernel_launcher" in done.stdout


@pytest.mark.parametrize(
    ("answer", "said"),
    [(b"y\n", "SIGKILL: 1 not permitted"), (b"n\n", "Nothing was changed."), (b"\n", "Nothing was changed.")],
)
def test_on_a_terminal_it_asks_and_only_a_yes_is_one(answer: bytes, said: str) -> None:
    keyboard, terminal = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "gputop", "signal", "KILL", "--demo", "--user", "bob"],
        stdin=terminal, stdout=subprocess.PIPE, stderr=terminal, text=True,
    ) as asking:  # fmt: skip
        os.close(terminal)
        os.write(keyboard, answer)
        assert asking.stdout
        printed = asking.stdout.read()
    os.close(keyboard)

    assert asking.returncode == 4
    assert said in printed


def test_a_shut_door_refuses_and_says_how_to_open_it() -> None:
    done = gputop("signal", "SIGKILL", "--demo", "--read-only", "--user", "bob", "--yes", "--escalate", "60")

    assert done.returncode == 4
    assert "refused: gputop runs with --read-only. To allow changes, start it without." in done.stdout
    assert "SIGKILL: 1 refused" in done.stdout


def test_on_a_simulated_box_all_of_it_can_be_tried_and_is_labelled() -> None:
    own = gputop("signal", "SIGTERM", "--demo", "--pid", "48277", "--yes", "--escalate", "60")
    others = gputop("renice", "5", "--demo", "--user", "bob", "--yes")

    assert (own.returncode, own.stdout.splitlines()[-1]) == (0, "SIMULATED SIGTERM: 1 done")
    assert own.stdout.startswith("SIMULATED: nothing on this machine changes")
    assert (others.returncode, others.stdout.splitlines()[-1]) == (4, "SIMULATED nice 5: 1 not permitted")


def test_a_simulated_box_that_is_none_is_bad_input() -> None:
    done = gputop("signal", "SIGTERM", "--demo", "nosuch", "--user", "bob", "--yes")

    assert done.returncode == 2
    assert done.stderr.startswith("gputop: no simulated box 'nosuch'")


def test_pids_that_are_not_on_a_gpu_are_never_touched() -> None:
    with child() as held:
        done = gputop("signal", "SIGKILL", "--demo", "--pid", str(held.pid), "--yes")

        assert held.process.poll() is None
    assert done.returncode == 4
    assert f"{held.pid}: not running on the selected GPUs" in done.stdout


@pytest.mark.parametrize(
    ("option", "what", "said"),
    [
        ("--demo", "SIMULATED SIGKILL", "it is init, which everything depends on"),
        ("--read-only", "SIGKILL", "gputop runs with --read-only"),
    ],
)
def test_a_sampler_answers_a_change_between_its_frames(option: str, what: str, said: str) -> None:
    asked = {"command": "send_signal", "id": "x1", "signal": "SIGKILL", "targets": [{"pid": 1, "start_ticks": 2}]}
    command = [sys.executable, "-m", "gputop", "stream", "--demo", option, "--control", "--interval", "3600"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sampler:
        assert sampler.stdin
        assert sampler.stdout
        sampler.stdin.write(json.dumps(asked) + "\n")
        sampler.stdin.flush()
        kinds = []
        while (answer := json.loads(sampler.stdout.readline())).get("answer") is None:
            kinds.append("frame")
        frame_after = json.loads(sampler.stdout.readline()) if not kinds else None
        sampler.stdin.close()
        sampler.stdout.close()
        sampler.wait(PATIENCE_S)

    assert (answer["id"], answer["what"]) == ("x1", what)
    assert [(result["pid"], result["status"], result["detail"]) for result in answer["results"]] == [
        (1, "refused", said)
    ]
    assert frame_after is None or frame_after["sequence"] == 1


def test_what_is_ended_on_a_simulated_box_is_not_in_the_frames_after() -> None:
    command = [sys.executable, "-m", "gputop", "stream", "--demo", "--control", "--interval", "0.1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sampler:
        assert sampler.stdin
        assert sampler.stdout
        first = json.loads(sampler.stdout.readline())
        (mine,) = [each for each in first["processes"] if each["pid"] == 48_277]
        whom = {"pid": mine["pid"], "start_ticks": mine["start_ticks"]}
        asked = {"command": "send_signal", "id": "x1", "signal": "SIGTERM", "targets": [whom]}
        sampler.stdin.write(json.dumps(asked) + "\n")
        sampler.stdin.flush()
        lines = (json.loads(line) for line in sampler.stdout)
        ended = next(line for line in lines if "answer" in line)
        frames = [next(line for line in lines if "processes" in line) for _ in range(10)]
        sampler.stdin.close()
        sampler.stdout.close()
        sampler.wait(PATIENCE_S)

    assert ended["results"][0]["status"] == "done"
    assert mine["pid"] not in [each["pid"] for each in frames[-1]["processes"]]
    assert len(frames[-1]["processes"]) == len(first["processes"]) - 1
