"""Questions about processes, and their answers on the wire."""

import io
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue

from examples import frame

from gputop.core.insight.explanation import Explanation, SourceReport, SourceState
from gputop.core.insight.kernel import KernelPlaces
from gputop.core.insight.member import Member
from gputop.core.insight.stacks import Stacks
from gputop.core.inspection.inspection import Inspection, Limit, Variable
from gputop.core.mig.answers import MigBox
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Explain, Inspect, Question, ReadMig, ReadStatus, SendSignal, Target
from gputop.core.protocol.link import News
from gputop.core.protocol.outcome import Outcome, refused
from gputop.core.protocol.process_status import ProcessStatus, ProcessStatuses
from gputop.wire import codec
from gputop.wire.client import Client
from gputop.wire.encoder import encode
from gputop.wire.questions import Questions
from gputop.wire.server import ChangeQueue, Lines, Rhythm, obey

PATIENCE_S = 30  # only ever waited for when a test fails
QUESTION = Inspect(id="q", pid=7, start_ticks=70)
ANSWER = Inspection(
    id="q", pid=7, start_ticks=70, command=("a", "b c"), environment=(Variable("HF_TOKEN", None, is_secret=True),),
    limits=(Limit("open files", 1024, None),), missing={"transfers": Missing.FORBIDDEN},
)  # fmt: skip
READ_STATUS = ReadStatus(id="g", targets=(Target(4711, 5000),))
STATUSES = ProcessStatuses(
    id="g", statuses=(ProcessStatus(pid=4711, start_ticks=5000, is_running=True, state="S", nice=0),)
)
TERM = SendSignal(id="1", signal="SIGTERM", targets=(Target(4711, 47110),))


class Still:
    """A source that is never read."""

    interval_s = 1.0

    def read(self) -> Frame:
        return frame()


class Answers(io.BytesIO):
    """An output that tells when it has so many lines."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.is_full = threading.Event()
        self._count = count

    def flush(self) -> None:
        if len(self.getvalue().splitlines()) >= self._count:
            self.is_full.set()

    def answers(self) -> list[object]:
        assert self.is_full.wait(PATIENCE_S)
        return [codec.answer(line) for line in self.getvalue().splitlines()]


def asked(lines: Lines, inspect: Callable[[Inspect], Inspection]) -> Callable[[Question | ReadMig], None]:
    """Return what answers questions, with these inspections."""
    return Questions(
        lines,
        inspect=inspect,
        process_status=lambda _: STATUSES,
        explain=lambda question, send: send(Explanation(id=question.id, members=question.members)),
        read_mig=lambda question: MigBox(id=question.id),
    ).ask


def test_a_question_comes_back_as_it_was() -> None:
    assert codec.command(encode(QUESTION)) == QUESTION


def test_an_inspection_comes_back_as_it_was() -> None:
    assert codec.answer(encode(ANSWER)) == ANSWER


def test_an_inspection_is_no_frame() -> None:
    assert isinstance(codec.frame(encode(ANSWER)), codec.Problem)


def test_a_masked_secret_is_null_on_the_wire() -> None:
    assert b'{"name":"HF_TOKEN","value":null,"is_secret":true}' in encode(ANSWER)


def test_a_question_is_answered_by_a_line() -> None:
    out = Answers(1)
    rhythm, lines = Rhythm(Still()), Lines(out)
    left: SimpleQueue[int] = SimpleQueue()
    changes = ChangeQueue(lambda change: refused(change, "no"), lines, rhythm)
    obey(io.BytesIO(encode(QUESTION)), rhythm, changes, left.put, questions=asked(lines, lambda _: ANSWER))

    assert out.answers() == [ANSWER]
    assert left.get(timeout=PATIENCE_S) == 0


def test_a_process_that_cannot_be_read_holds_up_no_change() -> None:
    go_on = threading.Event()

    def stuck(_: Inspect) -> Inspection:
        assert go_on.wait(PATIENCE_S)
        return ANSWER

    out = Answers(1)
    rhythm, lines = Rhythm(Still()), Lines(out)
    changes = ChangeQueue(lambda change: refused(change, "no"), lines, rhythm)
    text = encode(QUESTION) + encode(TERM)
    obey(io.BytesIO(text), rhythm, changes, lambda _: None, questions=asked(lines, stuck))
    found = out.answers()
    go_on.set()

    assert [type(each) for each in found] == [Outcome]


def test_a_sampler_without_answers_goes_on() -> None:
    out = Answers(1)
    rhythm, lines = Rhythm(Still()), Lines(out)
    changes = ChangeQueue(lambda change: refused(change, "no"), lines, rhythm)
    obey(io.BytesIO(encode(QUESTION) + encode(TERM)), rhythm, changes, lambda _: None)

    assert out.answers() == [refused(TERM, "no")]


def test_an_inspection_is_handed_on_by_the_link() -> None:
    line = encode(ANSWER).decode()
    script = f"import sys; sys.stdin.readline(); print({line!r}, end='', flush=True); sys.stdin.read()"
    client = Client([sys.executable, "-c", script])
    news: SimpleQueue[News] = SimpleQueue()
    client.open(news.put)
    client.send(QUESTION)
    received = news.get(timeout=PATIENCE_S)
    client.close()
    client.child.wait(PATIENCE_S)

    assert received == ANSWER


def test_a_status_comes_back_as_it_was() -> None:
    assert codec.command(encode(READ_STATUS)) == READ_STATUS
    assert codec.answer(encode(STATUSES)) == STATUSES


def test_a_status_is_answered_while_an_inspection_hangs() -> None:
    go_on = threading.Event()

    def stuck(_: Inspect) -> Inspection:
        assert go_on.wait(PATIENCE_S)
        return ANSWER

    out = Answers(1)
    rhythm, lines = Rhythm(Still()), Lines(out)
    changes = ChangeQueue(lambda change: refused(change, "no"), lines, rhythm)
    text = encode(QUESTION) + encode(READ_STATUS)
    obey(io.BytesIO(text), rhythm, changes, lambda _: None, questions=asked(lines, stuck))
    found = out.answers()
    go_on.set()

    assert found == [STATUSES]


EXPLAIN = Explain(id="e", members=(Member(pid=7, start_ticks=70, rank=3),), native=True, since_s=5.0)
EXPLANATIONS = [
    Explanation(
        id="e", members=EXPLAIN.members, verdict=f"rank 3 is in f{n}", is_complete=n == 1,
        sources=(
            SourceReport(name="stacks", title="Stacks", state=SourceState.ANSWERED, details=Stacks()),
            SourceReport(name="kernel", title="Kernel", state=SourceState.ANSWERED, details=KernelPlaces(())),
        ),
    )
    for n in range(2)
]  # fmt: skip


def test_a_question_where_a_job_hangs_has_one_answer_only_or_waits_for_another_question() -> None:
    go_on = threading.Event()

    def explain(question: Explain, send: Callable[[Explanation], None]) -> None:
        if question.id != "e":
            assert go_on.wait(PATIENCE_S)
        for each in EXPLANATIONS:
            send(each)

    out = Answers(2)
    questions = Questions(
        Lines(out), inspect=lambda _: ANSWER, explain=explain, process_status=lambda _: STATUSES,
        read_mig=lambda question: MigBox(id=question.id),
    )  # fmt: skip
    slow, quick = codec.command(encode(Explain(id="slow", members=()))), codec.command(encode(EXPLAIN))
    assert isinstance(slow, Explain)
    assert quick == EXPLAIN
    questions.ask(slow)
    questions.ask(quick)
    found = out.answers()
    go_on.set()

    assert found == EXPLANATIONS


def test_explanations_are_lost_on_their_way_to_the_screen() -> None:
    text = b"".join(map(encode, EXPLANATIONS)).decode()
    script = f"import sys; sys.stdin.readline(); print({text!r}, end='', flush=True); sys.stdin.read()"
    client = Client([sys.executable, "-c", script])
    news: SimpleQueue[News] = SimpleQueue()
    client.open(news.put)
    client.send(EXPLAIN)
    received = [news.get(timeout=PATIENCE_S) for _ in EXPLANATIONS]
    client.close()
    client.child.wait(PATIENCE_S)

    assert received == EXPLANATIONS
