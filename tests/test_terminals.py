"""The screen in a real terminal: sizes, lost connections, Ctrl-Z, poor terminals, a sampler in trouble."""

import os
import re
import select
import shutil
import signal
import sys
import time
from pathlib import Path

import pytest
from real_terminal import CTRL_Z, DOWN, ESCAPE, F1, GPUTOP, PATIENCE_S, terminal

DEMO = (*GPUTOP, "--demo", "training")
NO_KEYS = """
import threading
from gputop.__main__ import main
start = threading.Thread.start
def limited(thread):
    if thread.name == "textual-input":
        raise RuntimeError("can't start new thread")
    start(thread)
threading.Thread.start = limited
main()
"""
COLOUR = re.compile(rb"\x1b\[(?:[0-9;]*;)?(?:[34][0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


def test_it_survives_every_size_and_is_whole_again_after_it() -> None:
    sizes = [(20, 5), (400, 100), (1, 1), (80, 24), (200, 3), (10, 60), (121, 41)]
    with terminal(*DEMO) as shown:
        shown.until("COMMAND")
        for turn in range(70):
            shown.resize(*sizes[turn % len(sizes)])
            shown.press(DOWN)  # keys go on being pressed
        shown.resize(120, 44)
        shown.until("gputop", "COMMAND", "Quit")

        assert "Traceback" not in shown.text
        shown.press("q")
        assert shown.end() == 0


@pytest.mark.parametrize("size", [(400, 100), (80, 24), (40, 10)])
def test_it_starts_at_any_size(size: tuple[int, int]) -> None:
    with terminal(*DEMO, size=size) as shown:
        shown.until("gputop")

        assert "Traceback" not in shown.text
        shown.press("q")
        assert shown.end() == 0


@pytest.mark.parametrize(("size", "needed"), [((20, 3), "20x3, needs at least 40x10"), ((30, 6), "30x6, needs")])
def test_in_too_small_a_terminal_the_message_is_all_that_is_shown(size: tuple[int, int], needed: str) -> None:
    with terminal(*DEMO, size=size) as shown:
        shown.until("terminal too small: ", needed)
        words = re.compile(r"terminal too small: \d+x\d+, needs at least 40x10")
        shown.until_so(lambda: words.fullmatch(shown.text) is not None, "crumbs")

        shown.resize(80, 24)
        shown.until("COMMAND", "Quit")
        shown.until_gone("too small")
        shown.resize(*size)
        shown.until_so(lambda: words.fullmatch(shown.text) is not None, "crumbs of the larger screen")
        shown.press("q")
        assert shown.end() == 0


def test_a_lost_connection_ends_it_and_its_sampler() -> None:
    with terminal(*DEMO) as shown:
        shown.until("COMMAND")
        (sampler,) = shown.children()
        shown.hang_up()
        shown.end()

        wait_for_end(sampler)


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash, for its job control")
def test_ctrl_z_gives_the_shell_back_and_fg_the_screen() -> None:
    with terminal("bash", "--norc", "--noediting", "-i", PS1="shell> ") as shown:
        shown.until("shell>")
        shown.press(" ".join(DEMO) + "\n")
        shown.until("COMMAND")
        shown.press(CTRL_Z)
        shown.until_so(lambda: b"Stopped" in shown.written and shown.written.endswith(b"shell> "), "it is not stopped")
        shown.written.clear()
        shown.press("fg\n")
        shown.until_so(lambda: b"COMMAND" in shown.written, "the screen does not come back")
        shown.press("q")
        shown.until_so(lambda: shown.written.endswith(b"shell> "), "the shell does not come back")

        assert shown.children() == []


def test_without_colours_it_writes_none() -> None:
    with terminal(*DEMO, NO_COLOR="1") as shown:
        shown.until("COMMAND")

        assert not COLOUR.search(bytes(shown.written))


@pytest.mark.parametrize(
    "changed",
    [
        {"TERM": "linux"},
        {"LC_ALL": "C"},
        {"LC_ALL": "", "LANG": "C"},
        {"LC_ALL": "", "LANG": "POSIX"},
        {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    ],
)
def test_a_terminal_that_cannot_show_more_gets_ascii(changed: dict[str, str]) -> None:
    with terminal(*DEMO, **changed) as shown:  # type: ignore[arg-type] # the environment
        shown.until("COMMAND")
        seen = "".join(shown.lines)

        assert seen.isascii(), sorted(set(seen) - set(map(chr, range(128))))


def test_the_palette_has_no_characters_that_ascii_lacks() -> None:
    with terminal(*DEMO, LC_ALL="C") as shown:
        shown.until("COMMAND")
        shown.press(":")
        shown.until("By job")
        seen = "".join(shown.lines)

        assert seen.isascii()
        assert "??" not in seen


@pytest.mark.parametrize("changed", [{"LC_ALL": "", "LANG": ""}, {"LC_ALL": "en_US.UTF-8", "LANG": "C"}])
def test_a_container_without_a_locale_or_with_one_that_is_not_installed_keeps_its_plots(
    changed: dict[str, str],
) -> None:
    with terminal(*DEMO, **changed) as shown:  # type: ignore[arg-type] # the environment
        shown.until("COMMAND", "━")


def test_a_command_writes_ascii_to_a_terminal_of_the_c_locale() -> None:
    with terminal(*GPUTOP, "snapshot", "--demo", "training", LC_ALL="C") as shown:
        assert shown.end() == 0
        assert shown.written.isascii()


def test_a_dumb_terminal_gets_the_table() -> None:
    with terminal(*DEMO, TERM="dumb") as shown:
        assert shown.end() == 0
        assert b"COMMAND" in shown.written
        assert b"\x1b" not in shown.written


@pytest.mark.parametrize(
    ("changed", "codes"),
    [
        ({"TERM": "screen", "COLORTERM": ""}, {3, 4, 9, 10}),
        ({"TERM": "linux", "COLORTERM": ""}, {3, 4, 9, 10}),
        ({"TERM": "xterm-256color", "COLORTERM": ""}, {38, 48}),
    ],
)
def test_it_writes_no_colour_that_the_terminal_lacks(changed: dict[str, str], codes: set[int]) -> None:
    """16 colours are 30-37, 40-47, 90-97 and 100-107; 256 are 38;5;n."""
    with terminal(*DEMO, **changed) as shown:  # type: ignore[arg-type] # the environment
        shown.until("COMMAND")
        written = bytes(shown.written)

        assert b";2;" not in b"".join(re.findall(rb"\x1b\[[0-9;]*m", written))
        assert (b"8;5;" in written) == (38 in codes)


def test_two_hundred_resizes_end_with_a_picture_of_another_size() -> None:
    with terminal(*DEMO) as shown:
        shown.until("COMMAND")
        for turn in range(200):
            shown.resize(20 + turn * 37 % 190, 4 + turn * 13 % 60)
        shown.resize(80, 24)

        def is_right() -> bool:
            heads = sum("COMMAND" in line for line in shown.lines)
            return shown.lines[0].startswith(" gputop") and shown.lines[-1].startswith(" q Quit") and heads == 1

        shown.until_so(is_right, "not the picture of 80x24")
        assert "Traceback" not in shown.text
        shown.press("q")
        assert shown.end() == 0


def test_a_killed_sampler_is_told_and_started_again() -> None:
    with terminal(*DEMO) as shown:
        shown.until("COMMAND")
        (sampler,) = shown.children()
        os.kill(sampler, signal.SIGKILL)
        shown.until("killed by signal 9")
        shown.until_gone("killed by signal 9")

        assert shown.children() != [sampler]
        shown.press("q")
        assert shown.end() == 0


def test_with_a_sampler_that_does_not_go_on_the_age_is_shown_and_keys_work() -> None:
    with terminal(*DEMO) as shown:
        shown.until("COMMAND", "SIMULATED")
        (sampler,) = shown.children()
        os.kill(sampler, signal.SIGSTOP)
        try:
            shown.until(" ago")
            shown.press(F1)
            shown.until("Open files")
            shown.press(ESCAPE)
            shown.until_gone("Open files")
            shown.press("q")
            assert shown.end() == 0
        finally:
            os.kill(sampler, signal.SIGCONT)
        wait_for_end(sampler)


def wait_for_end(pid: int) -> None:
    """Wait until a process has ended; one that nobody has collected yet has."""
    deadline = time.monotonic() + PATIENCE_S
    while _state(pid) not in "ZX":
        if time.monotonic() > deadline:
            pytest.fail(f"{pid} lives on")
        select.select([], [], [], 0.01)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "X"


def test_root_writes_a_log_of_the_toolkit_where_the_caller_of_sudo_says(tmp_path: Path) -> None:
    (tmp_path / "log").symlink_to(tmp_path / "precious")
    with terminal(*GPUTOP, "--demo", "h200", SUDO_USER="stranger", TEXTUAL_LOG=str(tmp_path / "log")) as shown:
        shown.until("VLLM")
        shown.press("q")

        assert shown.end() == 0
    assert not (tmp_path / "precious").exists()


def test_a_screen_that_cannot_start_a_thread_ends_with_status_0_or_a_traceback() -> None:
    """As at a limit of processes (ulimit -u)."""
    with terminal(sys.executable, "-c", NO_KEYS, "--demo", "training") as shown:
        assert shown.end() == 1
        assert b"gputop: cannot start a thread: your limit of processes or memory is reached." in shown.written
        assert b"Traceback" not in shown.written
