"""The link to a sampler: a real child process that plays its part."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from examples import frame

from gputop.core.command import SetInterval
from gputop.core.link import Down, News
from gputop.core.sample import Frame
from gputop.wire import codec
from gputop.wire.client import Client, sampler_command

PATIENCE_S = 30  # only ever waited for when a test fails


@contextmanager
def link(*script: str) -> Iterator[tuple[Client, SimpleQueue[News]]]:
    """Start a child that runs these lines of Python, with ``line`` as a frame to print."""
    lines = ["import os, sys, time", f"line = {codec.encode(frame()).decode()!r}", *script]
    client = Client([sys.executable, "-c", "\n".join(lines)])
    news: SimpleQueue[News] = SimpleQueue()
    client.open(news.put)
    try:
        yield client, news
    finally:
        client.close()
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
    assert down == Down("killed by signal 9", 1.0)
    assert isinstance(again, Frame)


def test_what_a_sampler_said_last_is_the_reason_and_harmless() -> None:
    script = ("print(line, end='', flush=True)", "print('\\x1b[2Jboom', file=sys.stderr)", "sys.exit(70)")
    with link(*script) as (_, news):
        news.get(timeout=PATIENCE_S)
        down = news.get(timeout=PATIENCE_S)

    assert down == Down("␛[2Jboom", 1.0)


def test_without_a_driver_there_is_no_second_try() -> None:
    with link("print('gputop: no NVIDIA driver here', file=sys.stderr)", "sys.exit(3)") as (_, news):
        assert news.get(timeout=PATIENCE_S) == Down("gputop: no NVIDIA driver here", None)


def test_closing_ends_a_sampler_that_still_runs() -> None:
    with link("print(line, end='', flush=True)", "sys.stdin.read()") as (client, news):
        news.get(timeout=PATIENCE_S)
        client.close()

        assert client.child.wait(PATIENCE_S) == 0


def test_a_command_to_a_dead_sampler_is_dropped() -> None:
    with link("sys.exit(3)") as (client, news):
        news.get(timeout=PATIENCE_S)
        client.send(SetInterval(2.0))


def test_the_sampler_is_this_python_without_the_working_directory_on_its_path() -> None:
    command = sampler_command(["--demo", "h200"])

    assert command[0] == sys.executable
    assert "filter(None, sys.path)" in command[2]
    assert command[3:] == ["stream", "--control", "--demo", "h200"]
