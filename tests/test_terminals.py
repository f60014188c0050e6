"""The screen in a real terminal: sizes, lost connections, Ctrl-Z, poor terminals, a sampler in trouble."""

import os
import re
import shutil
import signal

import pytest
from own_terminal import GPUTOP, gone, terminal, wait_until

COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:[34][0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


def test_it_survives_every_size_and_is_whole_again_after_it() -> None:
    sizes = [(20, 5), (400, 100), (1, 1), (80, 24), (200, 3), (10, 60), (121, 41)]
    with terminal() as shown:
        shown.until("COMMAND")
        for turn in range(70):
            shown.resize(*sizes[turn % len(sizes)])
            shown.type(b"\x1b[B")  # keys go on being pressed
        shown.resize(120, 40)
        seen = shown.until(lambda text: "gputop" in text and "COMMAND" in text and "Quit" in text)

        assert "Traceback" not in seen
        shown.type(b"q")
        assert shown.end() == 0


@pytest.mark.parametrize("size", [(20, 5), (400, 100), (80, 24)])
def test_it_starts_at_any_size(size: tuple[int, int]) -> None:
    with terminal(size=size) as shown:
        seen = shown.until("gputop")

        assert "Traceback" not in seen
        shown.type(b"q")
        assert shown.end() == 0


def test_a_lost_connection_ends_it_and_its_sampler() -> None:
    with terminal() as shown:
        shown.until("COMMAND")
        (sampler,) = shown.children()
        shown.hang_up()
        shown.end()

        wait_until(lambda: gone(sampler), "the sampler lives on")


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash, for its job control")
def test_ctrl_z_gives_the_shell_back_and_fg_the_screen() -> None:
    with terminal(("bash", "--norc", "--noediting", "-i"), environment={"PS1": "shell> "}) as shown:
        shown.until("shell>")
        shown.type(" ".join(GPUTOP).encode() + b"\n")
        shown.until("COMMAND")
        shown.type(b"\x1a")
        shown.until(lambda _: b"Stopped" in shown.written and shown.written.endswith(b"shell> "))
        shown.written.clear()
        shown.type(b"fg\n")
        shown.until(lambda _: b"COMMAND" in shown.written)
        shown.type(b"q")
        shown.until(lambda _: shown.written.endswith(b"shell> "))

        assert shown.children() == []


def test_without_colours_it_writes_none() -> None:
    with terminal(environment={"NO_COLOR": "1"}) as shown:
        shown.until("COMMAND")

        assert not COLOUR.search(bytes(shown.written))


@pytest.mark.parametrize(
    "environment", [{"TERM": "linux"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}]
)
def test_a_terminal_that_cannot_show_more_gets_ascii(environment: dict[str, str]) -> None:
    with terminal(environment=environment) as shown:
        seen = shown.until("COMMAND")

        assert seen.isascii(), sorted(set(seen) - set(map(chr, range(128))))


def test_a_killed_sampler_is_told_and_started_again() -> None:
    with terminal() as shown:
        shown.until("COMMAND")
        (sampler,) = shown.children()
        os.kill(sampler, signal.SIGKILL)
        shown.until("killed by signal 9")
        shown.until(lambda text: "killed by signal 9" not in text and "COMMAND" in text)

        assert shown.children() != [sampler]
        shown.type(b"q")
        assert shown.end() == 0


def test_with_a_sampler_that_does_not_go_on_the_age_is_shown_and_keys_work() -> None:
    with terminal() as shown:
        shown.until("COMMAND")
        (sampler,) = shown.children()
        os.kill(sampler, signal.SIGSTOP)
        try:
            shown.until(lambda text: "late" in text.splitlines()[0] or "ago" in text.splitlines()[0])
            shown.type(b"\x1bOP")  # F1
            shown.until("more below")
            shown.type(b"\x1b")
            shown.until(lambda text: "more below" not in text)
            shown.type(b"q")
            assert shown.end() == 0
        finally:
            os.kill(sampler, signal.SIGCONT)
        wait_until(lambda: gone(sampler), "the sampler lives on")
