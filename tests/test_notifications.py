"""Notifications and copies of the screen, as a real terminal and a real command of the user get them."""

import json
import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from real_terminal import DOWN, ENTER, ESCAPE, GPUTOP, Terminal, terminal

DEMO = (*GPUTOP, "--demo", "h200")


def wait_for_the_end(shown: Terminal) -> None:
    """Wait for the end of the first process of the demo, and end it."""
    shown.until("VLLM")
    shown.press(DOWN)
    shown.press("B")
    shown.until("Notify me when")
    shown.press(ENTER)
    shown.until("gputop notifies you when process")
    shown.press("K")
    shown.until("Press y")
    shown.insist_until_gone("y", "Press y")
    shown.until("held up to")


def test_the_terminal_gets_a_bell_and_one_notification_when_the_process_ends() -> None:
    with terminal(*DEMO, TERM_PROGRAM="WezTerm", TMUX="") as shown:
        wait_for_the_end(shown)
        shown.until_so(lambda: b"\x1b]9;gputop: process " in shown.written, "no notification")
        shown.press("q")

        assert shown.end() == 0
        assert shown.written.count(b"\x1b]9;") == 1
        assert shown.written.split(b"\x1b]9;")[0].endswith(b"\a")


def test_tmux_gets_the_notification_wrapped() -> None:
    with terminal(*DEMO, TMUX="/nowhere,1,0", TERM_PROGRAM="tmux", VTE_VERSION="7600") as shown:
        wait_for_the_end(shown)
        shown.until_so(lambda: b"\x1bPtmux;\x1b\x1b]777;notify;process " in shown.written, "no notification")


def test_the_linux_console_gets_a_bell_alone() -> None:
    with terminal(*DEMO, TERM="linux") as shown:
        wait_for_the_end(shown)
        shown.press("q")

        assert shown.end() == 0
        assert b"\a" in shown.written
        assert not re.search(rb"\x1b\](9|777|99);", shown.written)


def test_the_command_of_the_user_gets_the_facts(tmp_path: Path) -> None:
    with terminal(*DEMO, XDG_CONFIG_HOME=settings(tmp_path, notify=["command"])) as shown:
        wait_for_the_end(shown)
        shown.until_so((tmp_path / "done").exists, "the command did not run")
        told = json.loads((tmp_path / "json").read_text())

        assert told["event"] == "ended"
        assert (tmp_path / "title").read_text() == told["title"]
        assert told["title"].startswith("process ")
        assert b"\x1b]9;" not in shown.written


def test_a_command_that_fails_is_an_error_on_the_screen(tmp_path: Path) -> None:
    folder = settings(tmp_path, notify=["command"], notify_command=["/bin/sh", "-c", "exit 3"])
    with terminal(*DEMO, XDG_CONFIG_HOME=folder) as shown:
        wait_for_the_end(shown)

        shown.until("not sent: /bin/sh ended with status 3")


def test_what_is_waited_for_is_marked_and_can_be_removed() -> None:
    with terminal(*DEMO, size=(80, 24)) as shown:
        shown.until("VLLM")
        shown.press(DOWN)
        shown.press("B")
        shown.until("Notify me when")
        shown.press(ENTER)
        shown.until("@ ")
        shown.press("B")
        shown.until("set · removes it")
        shown.press(ENTER)
        shown.until("no longer waiting")
        shown.until_gone("Notify me when")
        shown.press("B")
        shown.until("Notify me when")

        assert "removes it" not in shown.text
        shown.press(ESCAPE)


def settings(folder: Path, **values: Any) -> str:
    """Write a settings file whose command keeps what it gets; return the folder for XDG_CONFIG_HOME."""
    script = f'printf %s "$GPUTOP_TITLE" > {folder}/title; cat > {folder}/json; : > {folder}/done'
    chosen = {"notify_command": ["/bin/sh", "-c", script]} | values
    (folder / "gputop").mkdir()
    (folder / "gputop/config.toml").write_text(
        "".join(f"{name} = {json.dumps(value)}\n" for name, value in chosen.items())
    )
    return str(folder)


@pytest.fixture(autouse=True)
def _no_multiplexer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TMUX", "STY", "TERM_PROGRAM", "VTE_VERSION", "KITTY_WINDOW_ID", "LC_TERMINAL"):
        monkeypatch.delenv(name, raising=False)


def test_a_copy_reaches_a_terminal_inside_tmux() -> None:
    with terminal(*DEMO, TMUX="/nowhere,1,0") as shown:
        shown.until("VLLM")
        shown.press(DOWN)
        shown.press("y")
        shown.until("Copy", "20394")
        shown.press(ENTER)
        shown.until("copied, if the terminal supports OSC 52: PID, 20394")
        copy = b"\x1b]52;c;" + b64encode(b"20394") + b"\a"

        shown.until_so(lambda: copy in shown.written, "no copy")
        shown.until_so(lambda: b"\x1bPtmux;\x1b" + copy + b"\x1b\\" in shown.written, "no copy for the terminal")
