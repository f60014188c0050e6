"""MIG over the wire: questions, answers, progress and plans survive it, on a simulated box that a sampler changes."""

import json
import subprocess
import sys
from io import BytesIO
from threading import Event, Thread
from typing import Any

from mig_boards import H100, board, instance
from msgspec.json import encode

from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.mig.planner import plan
from gputop.core.mig.request import read_request
from gputop.core.mig.steps import Plan
from gputop.core.protocol.command import Change, ChangeMig, ReadMig
from gputop.core.protocol.outcome import Outcome, Status, refused
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.wire import codec
from gputop.wire.questions import Questions, answer_lines
from gputop.wire.server import ChangeQueue, Lines, Rhythm

GPU = board(H100, instance(H100, "3g.40gb", 4, users=1, computes=(1, 2)), instance(H100, "1g.10gb", 0, computes=()))


def made() -> Plan:
    found = plan(GPU, read_request("+2x1g.10gb", GPU))
    assert found is not None
    return found


def test_a_plan_survives_the_wire() -> None:
    change = ChangeMig(id="7", plans=(made(),), is_forced=True)

    assert codec.command(encode(change)) == change
    assert codec.command(encode(ReadMig(id="8"))) == ReadMig(id="8")


def test_a_box_and_progress_survive_the_wire() -> None:
    box = MigBox(id="8", gpus=(GPU,), warnings=("slurmd runs here",))
    progress = MigProgress(id="7", index=0, done=1, total=4, text="create 1g.10gb@1")

    assert codec.answer(encode(box)) == box
    assert codec.answer(encode(progress)) == progress


def test_a_shut_door_refuses_each_gpu_of_a_change() -> None:
    outcome = refused(ChangeMig(id="7", plans=(made(),)), "read-only")

    assert [(result.gpu, result.status) for result in outcome.results] == [(0, Status.REFUSED)]
    assert outcome.summary == "MIG of GPU 0: 1 refused"


def test_a_question_is_answered_by_a_line() -> None:
    written = Event()

    class Out(BytesIO):
        def flush(self) -> None:
            written.set()

    out = Out()
    Questions(
        Lines(out),
        inspect=lambda question: Inspection(id=question.id, pid=question.pid),
        explain=lambda _question, _send: None,
        process_status=lambda question: ProcessStatuses(id=question.id, statuses=()),
        read_mig=lambda question: MigBox(id=question.id, gpus=(GPU,)),
    ).ask(ReadMig(id="8"))

    assert written.wait(30)
    assert codec.answer(out.getvalue()) == MigBox(id="8", gpus=(GPU,))


def test_progress_is_lost_where_nobody_reads_and_stops_nothing() -> None:
    class Closed(BytesIO):
        def write(self, _: Any) -> int:
            raise BrokenPipeError

    answer_lines(Lines(Closed()))(MigProgress(id="7", index=0, done=0, total=1, text=""))


def test_a_sampler_of_a_simulated_box_changes_it_and_shows_what_it_did() -> None:
    sampler = subprocess.Popen(
        [sys.executable, "-m", "gputop", "stream", "--control", "--demo", "mig", "--interval", "0.1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert sampler.stdin
    assert sampler.stdout

    def ask(command: Any) -> None:
        assert sampler.stdin
        sampler.stdin.write(encode(command) + b"\n")
        sampler.stdin.flush()

    def until(key: str, value: Any) -> dict[str, Any]:
        assert sampler.stdout
        for line in sampler.stdout:
            if json.loads(line).get(key) == value:
                return dict(json.loads(line))
        raise AssertionError(f"the sampler ended without {key} {value}")

    try:
        ask(ReadMig(id="1"))
        box = codec.answer(encode(until("answer", "mig_box")))
        assert isinstance(box, MigBox)
        first = box.gpus[0]
        wanted = plan(first, read_request("-1g.5gb", first))
        assert wanted is not None
        ask(ChangeMig(id="2", plans=(wanted,)))
        progress, outcome = until("answer", "mig_progress"), until("answer", "outcome")
        frame = until_instances(sampler, 3)
    finally:
        sampler.stdin.close()
        sampler.stdout.close()
        sampler.wait(30)

    assert (progress["id"], progress["done"]) == ("2", 0)
    assert outcome["results"][0]["status"] == "done"
    assert [one["profile"] for one in frame["gpus"][0]["instances"]] == ["3g.20gb", "2g.10gb", "1g.5gb"]


def until_instances(sampler: "subprocess.Popen[bytes]", count: int) -> dict[str, Any]:
    assert sampler.stdout
    for line in sampler.stdout:
        frame = json.loads(line)
        if "gpus" in frame and "sequence" in frame and len(frame["gpus"][0]["instances"]) == count:
            return dict(frame)
    raise AssertionError("no frame shows it")


def test_a_gpu_that_is_being_split_is_not_left_half_way_when_the_pipe_closes() -> None:
    begun, may_end, ended = Event(), Event(), Event()

    def execute(change: Change) -> Outcome:
        begun.set()
        may_end.wait(30)
        ended.set()
        return refused(change, "a test")

    class Still:
        interval_s = 1.0

        def read(self) -> Any: ...

    changes = ChangeQueue(execute, Lines(BytesIO()), Rhythm(Still()))
    changes.put(ChangeMig(id="7", plans=(made(),)))
    assert begun.wait(30)
    closing = Thread(target=changes.close, args=(0.0,))
    closing.start()
    closing.join(0.1)

    assert closing.is_alive()
    may_end.set()
    closing.join(30)
    assert ended.is_set()
    assert not closing.is_alive()
