"""The link to a sampler: a real child process that plays its part."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

import pytest
from examples import frame

from gputop.core.model.sample import Frame
from gputop.core.protocol.command import SendSignal, SetInterval, Target
from gputop.core.protocol.link import Down, News
from gputop.core.protocol.outcome import Outcome, Status, refused
from gputop.wire.client import Client, sampler_command
from gputop.wire.encoder import encode

PATIENCE_S = 30  # only ever waited for when a test fails
STRESS = "GPUTOP_STRESS" in os.environ
TERM = SendSignal(id="1", signal="SIGTERM", targets=(Target(4711, 47110), Target(4712, 47120)))


@contextmanager
def link(*script: str) -> Iterator[tuple[Client, SimpleQueue[News]]]:
    """Start a child that runs these lines of Python, with ``line`` as a frame to print."""
    lines = ["import os, sys, time", f"line = {encode(frame()).decode()!r}", *script]
    client = Client([sys.executable, "-c", "\n".join(lines)])
    news: SimpleQueue[News] = SimpleQueue()
    client.open(news.put)
    try:
        yield client, news
    finally:
        client.close()
        for thread in [each for each in threading.enumerate() if each.name == "link"]:
            thread.join(PATIENCE_S)
        client.child.wait(PATIENCE_S)


def test_frames_are_handed_on() -> None:
    with link("print(line, end='', flush=True)", "sys.stdin.read()") as (_, news):
        assert news.get(timeout=PATIENCE_S) == frame()


def test_a_line_that_is_no_frame_does_not_end_the_link() -> None:
    with link("print('garbage', flush=True)", "print(line, end='', flush=True)", "sys.stdin.read()") as (_, news):
        assert news.get(timeout=PATIENCE_S) == frame()


def test_commands_reach_the_sampler() -> None:
    script = ("said = sys.stdin.readline()", "print(line.replace('node7', said.split(':')[1][1:13]), flush=True)")
    with link(*script, "sys.stdin.read()") as (client, news):
        client.send(SetInterval(2.0))
        received = news.get(timeout=PATIENCE_S)

    assert isinstance(received, Frame)
    assert received.host.name == "set_interval"


def test_a_sampler_that_dies_is_said_to_and_started_again() -> None:
    with link("print(line, end='', flush=True)", "os.kill(os.getpid(), 9)") as (_, news):
        first, down, again = (news.get(timeout=PATIENCE_S) for _ in range(3))

    assert isinstance(first, Frame)
    assert down == Down("killed by signal 9", 0.0)
    assert isinstance(again, Frame)


def test_the_screen_waits_before_it_starts_the_first_samplers_that_died_again() -> None:
    with link("print(line, end='', flush=True)", "os.kill(os.getpid(), 9)") as (_, news):
        told = [news.get(timeout=PATIENCE_S) for _ in range(8)]

    assert [each.retry_s for each in told if isinstance(each, Down)] == [0.0, 0.0, 0.0, 1.0]
    assert [type(each) for each in told] == [Frame, Down] * 4


def left_behind() -> tuple[int, int, int]:
    """Return how many files, threads and children this process has."""
    children = [path.read_text().split() for path in Path("/proc/self/task").glob("*/children")]
    return len(os.listdir("/proc/self/fd")), threading.active_count(), sum(map(len, children))


def killed_in_a_row(client: Client, news: SimpleQueue[News], kills: int) -> None:
    """Kill each sampler after its first frame, and wait for the first frame of the next one."""
    for _ in range(kills):
        while not isinstance(news.get(timeout=PATIENCE_S), Frame):
            pass
        client.child.kill()
        while not isinstance(news.get(timeout=PATIENCE_S), Down):
            pass


def test_samplers_that_are_killed_leave_a_zombie_a_file_or_a_thread_behind() -> None:
    with link("print(line * 10, end='', flush=True)", "sys.stdin.read()") as (client, news):
        killed_in_a_row(client, news, 2)
        assert isinstance(news.get(timeout=PATIENCE_S), Frame)
        before = left_behind()
        killed_in_a_row(client, news, 200 if STRESS else 10)
        assert isinstance(news.get(timeout=PATIENCE_S), Frame)
        for log in [thread for thread in threading.enumerate() if thread.name == "log"][:-1]:
            log.join(PATIENCE_S)

        assert left_behind() == before


def test_a_sampler_that_cannot_be_started_again_is_said_to_be_down(tmp_path: Path) -> None:
    program = tmp_path / "sampler"
    line = encode(frame()).decode()
    program.write_text(f"#!{sys.executable}\nimport os, sys\nprint({line!r}, end='')\nos.unlink(sys.argv[0])\n")
    program.chmod(0o700)
    client = Client([str(program)])
    news: SimpleQueue[News] = SimpleQueue()
    try:
        client.open(news.put)
        _, *told = [news.get(timeout=PATIENCE_S) for _ in range(3)]
    finally:
        client.close()

    assert told == [Down("ended with status 0", 0.0), Down("cannot be started: No such file or directory", 5.0)]


def test_what_a_sampler_said_last_is_the_reason_and_harmless() -> None:
    script = ("print(line, end='', flush=True)", "print('\\x1b[2Jboom', file=sys.stderr)", "sys.exit(70)")
    with link(*script) as (_, news):
        news.get(timeout=PATIENCE_S)
        down = news.get(timeout=PATIENCE_S)

    assert down == Down("␛[2Jboom", 0.0)


def test_without_a_driver_there_is_no_second_try() -> None:
    with link("print('gputop: no NVIDIA driver here', file=sys.stderr)", "sys.exit(3)") as (_, news):
        assert news.get(timeout=PATIENCE_S) == Down("gputop: no NVIDIA driver here", None, 3)


def test_closing_ends_a_sampler_that_still_runs() -> None:
    with link("print(line, end='', flush=True)", "sys.stdin.read()") as (client, news):
        news.get(timeout=PATIENCE_S)
        client.close()

        assert client.child.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("stop", ["", "os.kill(os.getpid(), 19)"], ids=["deaf", "stopped"])
def test_a_sampler_that_never_reads_lives_on_after_the_screen(stop: str) -> None:
    with link("print(line, end='', flush=True)", stop, "time.sleep(600)") as (client, news):
        news.get(timeout=PATIENCE_S)
        client.close()

        assert client.child.wait(PATIENCE_S) == -9


@pytest.mark.parametrize("stop", ["", "os.kill(os.getpid(), 19)"], ids=["deaf", "stopped"])
def test_a_sampler_that_read_no_change_lives_on_and_makes_it_after_the_screen(stop: str) -> None:
    with link("print(line, end='', flush=True)", stop, "time.sleep(600)") as (client, news):
        news.get(timeout=PATIENCE_S)
        client.send(SetInterval(2.0))
        client.send(TERM)
        client.close()

        assert client.child.wait(PATIENCE_S) == -9


def test_a_sampler_is_killed_in_a_change_because_it_has_not_read_what_came_later() -> None:
    script = ("os.read(0, 65536)", "print(line, end='', flush=True)", "time.sleep(3)", "sys.stdin.read()")
    with link(*script, "sys.exit(7)") as (client, news):
        client.send(TERM)
        news.get(timeout=PATIENCE_S)
        for _ in range(100):
            client.send(SetInterval(2.0))
        client.close()

        assert client.child.wait(PATIENCE_S) == 7


def test_a_sampler_is_killed_in_the_middle_of_a_change() -> None:
    script = ("said = sys.stdin.readline()", "print(line, end='', flush=True)", "sys.stdin.read()", "time.sleep(3)")
    with link(*script, "sys.exit(7)") as (client, news):
        client.send(TERM)
        news.get(timeout=PATIENCE_S)
        client.close()

        assert client.child.wait(PATIENCE_S) == 7


def test_a_command_to_a_dead_sampler_is_dropped() -> None:
    with link("sys.exit(3)") as (client, news):
        news.get(timeout=PATIENCE_S)
        client.send(SetInterval(2.0))


def test_the_outcome_of_a_change_is_handed_on_and_no_other_follows() -> None:
    answer = encode(refused(TERM, "no")).decode()
    script = ("sys.stdin.readline()", f"print({answer!r}, end='', flush=True)", "sys.exit(3)")
    with link(*script) as (client, news):
        client.send(TERM)
        received = [news.get(timeout=PATIENCE_S) for _ in range(2)]

    assert received == [refused(TERM, "no"), Down("ended with status 3", None, 3)]


def test_a_change_that_no_sampler_takes_is_answered_by_a_failure() -> None:
    with link("sys.exit(3)") as (client, news):
        assert isinstance(news.get(timeout=PATIENCE_S), Down)
        client.send(TERM)
        outcome = news.get(timeout=PATIENCE_S)

    assert isinstance(outcome, Outcome)
    assert outcome.id == TERM.id
    assert [(r.pid, r.status) for r in outcome.results] == [(4711, Status.FAILED), (4712, Status.FAILED)]
    assert "nothing was changed" in outcome.results[0].detail


def test_a_sampler_that_dies_over_a_change_is_said_to_have_left_it_unanswered() -> None:
    with link("sys.stdin.readline()", "os.kill(os.getpid(), 9)") as (client, news):
        client.send(TERM)
        outcome, down = (news.get(timeout=PATIENCE_S) for _ in range(2))

    assert isinstance(outcome, Outcome)
    assert outcome.results[0].detail == "the sampler died before it answered: the change may have been made"
    assert "before you try again" in outcome.results[0].remedy
    assert isinstance(down, Down)


def test_a_sampler_that_takes_nothing_never_makes_the_screen_wait() -> None:
    many = SendSignal(id="many", signal="SIGTERM", targets=tuple(Target(n, n) for n in range(1, 200_000)))
    with link("print(line, end='', flush=True)", "time.sleep(60)") as (client, news):
        news.get(timeout=PATIENCE_S)
        client.send(many)
        outcome = news.get(timeout=PATIENCE_S)
        pipe = client.child.stdin
        is_closed = pipe and pipe.closed
        client.close()  # else another one is started
        client.child.kill()

    assert isinstance(outcome, Outcome)
    assert outcome.none_worked
    assert is_closed  # half a line went into it


def test_the_sampler_is_this_python_without_the_working_directory_on_its_path() -> None:
    command = sampler_command(["--demo", "h200"])

    assert command[0] == sys.executable
    assert "filter(None, sys.path)" in command[2]
    assert command[3:] == ["stream", "--control", "--demo", "h200"]


def ended(*script: str) -> Down:
    """Return why the link is down after these lines of a sampler, which has sent a frame before."""
    with link("print(line, end='', flush=True)", *script) as (_, news):
        while not isinstance(down := news.get(timeout=PATIENCE_S), Down):
            pass
    return down


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("while True: sys.stdout.write('x' * 65536)", "it sent a line of more than 32 MiB, so gputop ended it"),
        ("while True: sys.stdout.write(line)", "it sent more than 64 lines a second, so gputop ended it"),
        ("while True: sys.stdout.write('{}\\n')", "it sent more than 64 lines a second, so gputop ended it"),
        (
            "print('{\"a\":[' + '0,' * 1_100_000 + '0]}', flush=True); time.sleep(99)",
            "it sent a line of more than 1,000,000 values, so gputop ended it",
        ),
        (
            "import re; print(re.sub('\"time_s\":[^,]*', '\"time_s\":1e300', line), flush=True); time.sleep(99)",
            "it sent a frame with an impossible time, so gputop ended it",
        ),
        (
            "while True: sys.stderr.write('x' * 65536)",
            "it sent more than 1 MiB a second on stderr, so gputop ended it",
        ),
    ],
    ids=["endless line", "flood of frames", "flood of nothing", "many values", "lie", "flood of messages"],
)
def test_a_sampler_without_bounds_is_ended_and_takes_no_memory(script: str, why: str) -> None:
    assert ended(script).reason == why


def test_a_sampler_that_was_ended_is_started_again() -> None:
    with link("print(line, end='', flush=True)", "while True: sys.stdout.write('x' * 65536)") as (_, news):
        heard = [news.get(timeout=PATIENCE_S) for _ in range(3)]

    assert [type(one) for one in heard] == [Frame, Down, Frame]


def test_a_line_of_messages_without_an_end_is_kept_in_part() -> None:
    down = ended("sys.stderr.write('y' * 100_000)", "sys.exit(70)")

    assert 0 < len(down.reason) <= 1000


def test_text_of_a_sampler_cannot_steer_the_terminal() -> None:
    raw = "line.replace('node7', '\\\\u001b]0;owned\\\\u0007\\\\n\\u202e')"
    with link(f"print({raw}, flush=True)", "sys.stdin.read()") as (_, news):
        received = news.get(timeout=PATIENCE_S)

    assert isinstance(received, Frame)
    assert received.host.name == "␛]0;owned␇␊\ufffd"


def test_an_outcome_that_nobody_asked_for_is_not_shown() -> None:
    answer = encode(refused(TERM, "no")).decode()
    with link(f"print({answer!r}, end='', flush=True)", "print(line, end='', flush=True)", "sys.stdin.read()") as (
        _, news,
    ):  # fmt: skip
        assert isinstance(news.get(timeout=PATIENCE_S), Frame)
