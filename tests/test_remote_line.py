"""gputop on another host, by a real ssh on a line that is slow, silent or dead, and on twenty lines at once."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from examples import frame
from real_terminal import GPUTOP, terminal
from slow_line import SlowLine, slow_line
from ssh_host import SshHost, ssh_host
from ssh_links import greeting, link, until

from gputop.core.model.sample import Frame
from gputop.core.protocol.link import Delay, Down
from gputop.wire.encoder import encode

SLOW = 30_000  # bytes per second
WARM_UP, MOST_FRAMES = 10, 60
FRAMES = 30


@pytest.fixture
def box(tmp_path: Path) -> Iterator[SshHost]:
    with ssh_host(tmp_path / "host") as host:
        yield host


@pytest.fixture
def line(box: SshHost) -> Iterator[SlowLine]:
    """Return the line by which ssh reaches the host."""
    with slow_line(box.port) as opened:
        box.lead_through(opened.port)
        yield opened


# --- slow ----------------------------------------------------------------------------------------------------------
def test_frames_grow_old_on_a_slow_line(box: SshHost, line: SlowLine) -> None:
    line.bytes_per_s = SLOW
    with link(box, "--demo", "training", "--interval", "0.1") as (_, news):
        ages: list[float] = []
        while len(ages) < WARM_UP or ages[-1] >= 1:  # queued frames would be older each time
            assert len(ages) < MOST_FRAMES, ages
            delay = until(news, Delay)
            assert isinstance(delay, Delay)
            ages.append(delay.age_s)


def test_a_line_carries_more_than_8_kb_for_a_frame_of_11_processes(box: SshHost, line: SlowLine) -> None:
    words = ("stream", "--demo", "training", "--interval", "0.1", "--count", str(FRAMES))
    done = subprocess.run(box.remote.command(words, can_ask=False), capture_output=True, check=True)
    frames = done.stdout.splitlines()

    assert [len(json.loads(text)["processes"]) for text in frames] == [11] * FRAMES
    assert line.carried_bytes / FRAMES < 8000 < len(done.stdout) / FRAMES / 4


# --- silent and dead -----------------------------------------------------------------------------------------------
def test_a_silent_line_looks_alive_or_takes_signals_or_stays_dead(box: SshHost, line: SlowLine) -> None:
    words = (*GPUTOP, "--host", "box", "--demo", "--interval", "0.5")
    with terminal(*words, size=(200, 50), environment=box.environment) as shown:
        shown.until("COMMAND", "round trip")
        line.hold()
        shown.until("last frame")
        shown.until_so(lambda: _age_of(shown.text) > 6, "never 6 s old")
        shown.insist("k", "before Enter")
        shown.press("p")
        shown.until_gone("before Enter")
        shown.press("\r")
        shown.until("the screen shows box as it was more than 6 s ago")
        shown.insist_until_gone("\x1b", "as it was more than")
        shown.until("NO LINK TO box", "last frame")
        line.release()
        shown.until_gone("NO LINK TO box")
        shown.until("round trip")
        shown.press("q")
        assert shown.end() == 0
    for pid in box.pids:
        box.until_ended(pid)


def _age_of(text: str) -> int:
    found = re.search(r"last frame (\d+)s ago", text)
    return int(found[1]) if found else 0


def test_a_cut_line_stays_dead(box: SshHost, line: SlowLine) -> None:
    with link(box, "--demo") as (_, news):
        until(news, Frame)
        line.cut()
        down = until(news, Down)
        until(news, Frame)
        box.until_ended(box.pids[0])
    assert isinstance(down, Down)
    assert down.retry_s is not None


def test_a_sampler_behind_a_silent_line_outlives_its_reader(box: SshHost, line: SlowLine) -> None:
    first = ("import os, sys", "words = [word.replace('--remote', '--remote=2') for word in sys.argv[1:]]")
    log = f"open({str(box.place / 'pids')!r}, 'a').write(f'{{os.getpid()}}\\n')"
    box.install(*first, log, f"os.execv({sys.executable!r}, [{sys.executable!r}, '-m', 'gputop', *words])")
    with link(box, "--demo", "--interval", "0.1") as (client, news):
        until(news, Frame)
        line.hold()
        client.child.kill()
        box.until_ended(box.pids[0])
        line.release()


# --- hosts that flood the line ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("print('x' * 1000)", "it sent more than 64 lines a second, so gputop ended it"),
        ("print('x' * 2**20, end='')", "it sent a line of more than 32 MiB, so gputop ended it"),
        ("print('x' * 1000, file=sys.stderr)", "it sent more than 1 MiB a second on stderr, so gputop ended it"),
    ],
    ids=["lines", "line", "stderr"],
)
def test_a_host_that_floods_after_its_greeting_is_not_ended(box: SshHost, script: str, reason: str) -> None:
    box.install("import sys", greeting(), f"while True: {script}")
    with link(box) as (_, news):
        down = until(news, Down)
    assert isinstance(down, Down)
    assert down.reason == reason


# --- many ----------------------------------------------------------------------------------------------------------
def test_one_of_twenty_hosts_is_missing_or_hides_that_it_is_down(box: SshHost) -> None:
    install_sampler_of_one_frame(box)
    names = [f"box{number:02}" for number in range(1, 20)]
    words = (*GPUTOP, "--host", "box[01-19],dead")
    with terminal(*words, size=(150, 44), environment=box.environment) as shown:
        shown.until("20 hosts (1 down)", "Connection refused", *(f"{name} ██" for name in names))
        box.uninstall()
        os.kill(box.pids[0], signal.SIGKILL)
        shown.until("20 hosts (2 down)", "gputop is not on the PATH")
        shown.press("q")
        assert shown.end() == 0
    for pid in box.pids:
        box.until_ended(pid)


def install_sampler_of_one_frame(box: SshHost) -> None:
    """Install a sampler that starts twenty times in a second."""
    one = encode(frame()).decode()
    box.install(
        "import os, sys, time",
        f"open({str(box.place / 'pids')!r}, 'a').write(str(os.getpid()) + '\\n')",
        greeting(),
        f"print({one!r}, end='', flush=True)",
        "for beat in sys.stdin:",
        """    print('{"answer":"echo","sent_s":0,"time_s":0}', flush=True)""",
    )
