"""Changes in words, and how they ended."""

import pytest
from examples import process

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import HostProcess, Presence
from gputop.core.protocol.command import (
    Change,
    IoClass,
    Renice,
    SendSignal,
    SetAffinity,
    SetIoClass,
    Target,
    target,
    wording,
)
from gputop.core.protocol.outcome import Outcome, Result, Status, refused
from gputop.core.text.ranges import ranges

ONE = (Target(1234, 5),)


def outcome(*statuses: Status) -> Outcome:
    results = tuple(Result(pid=n, status=status) for n, status in enumerate(statuses))
    return Outcome(id="a", what="SIGTERM", results=results)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (SendSignal(id="a", signal="SIGTERM", targets=ONE), "SIGTERM"),
        (Renice(id="a", nice=10, targets=ONE), "nice 10"),
        (Renice(id="a", nice=1, is_relative=True, targets=ONE), "nice +1"),
        (SetIoClass(id="a", io_class=IoClass.BEST_EFFORT, level=2, targets=ONE), "I/O class best-effort 2"),
        (SetIoClass(id="a", io_class=IoClass.IDLE, targets=ONE), "I/O class idle"),
        (SetAffinity(id="a", cpus=(0, 1, 2, 8), targets=ONE), "CPUs 0-2,8"),
    ],
)
def test_a_change_is_said_in_a_few_words(change: Change, words: str) -> None:
    assert wording(change) == words


def test_cpus_are_written_as_spans() -> None:
    assert ranges((3, 2, 1, 7, 7, 9, 10)) == "1-3,7,9-10"


def test_a_target_is_the_process_that_the_row_shows() -> None:
    assert target(process(4711)) == Target(4711, 47110, Presence.ALIVE)
    assert target(HostProcess(pid=7, presence=Presence.HIDDEN)) == Target(7, None, Presence.HIDDEN)
    assert target(process(4711)).id == ProcessId(4711, 47110)


def test_only_what_is_done_counts_as_worked() -> None:
    assert outcome(Status.DONE, Status.DONE).all_worked
    assert not outcome(Status.DONE, Status.GONE).all_worked
    assert not outcome(Status.DONE, Status.GONE).none_worked
    assert outcome(Status.GONE, Status.NOT_PERMITTED, Status.SURVIVED).none_worked
    assert outcome().none_worked
    assert not outcome().all_worked


def test_a_summary_names_failures_first() -> None:
    ended = outcome(Status.DONE, Status.GONE, Status.NOT_PERMITTED, Status.DONE)

    assert ended.summary == "SIGTERM: 1 not permitted, 1 gone, 2 done"
    assert [result.pid for result in ended.failures] == [1, 2]


def test_a_result_says_what_was_and_what_became_and_what_to_do() -> None:
    changed = Result(pid=1, status=Status.DONE, before="0", after="10")
    denied = Result(pid=1, status=Status.NOT_PERMITTED, detail="owned by ann", remedy="Ask ann.")

    assert changed.text == "done: 0 → 10"
    assert denied.text == "not permitted: owned by ann. Ask ann."


def test_a_refusal_answers_for_every_target() -> None:
    change = Renice(id="x", nice=5, targets=(Target(7, 70), Target(8, 80)))
    answer = refused(change, "read-only")

    assert (answer.id, answer.what) == ("x", "nice 5")
    assert [(r.pid, r.start_ticks, r.status, r.detail) for r in answer.results] == [
        (7, 70, Status.REFUSED, "read-only"),
        (8, 80, Status.REFUSED, "read-only"),
    ]
