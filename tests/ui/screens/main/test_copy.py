"""Copies: what reaches the clipboard, and what a file gets instead."""

from pathlib import Path

import pytest
from app_driver import staged
from examples import NOW, frame, process
from msgspec.structs import replace

from gputop.app.copying import keep_copy
from gputop.core.model.finding import Finding, Stage, Subject
from gputop.core.model.process_id import ProcessId
from gputop.core.text.osc import MOST_COPIED
from gputop.report.csv import csv
from gputop.ui.screens.dialogs.menu import MenuScreen
from gputop.ui.screens.pages.page import Page

FINDING = Finding(
    code="idle.process", stage=Stage.SUSPECT, subject=Subject(label="2 train.py", process=ProcessId(2, 20)),
    summary="idle for 2h", remedy="End it.", since_s=NOW, stage_since_s=NOW,
)  # fmt: skip
SHOWN = frame(2, (process(1), process(2, 1)), findings=(FINDING,))


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.mark.parametrize(
    ("part", "copied"),
    [
        ("pid", "2"), ("command", "python train.py --seed 2"),
        ("finding", "suspect idle.process: 2 train.py\nidle for 2h\nWhat to do: End it."),
    ],
)  # fmt: skip
async def test_a_part_of_the_selected_row_is_copied(part: str, copied: str) -> None:
    async with staged(SHOWN) as stage:
        await stage.press("down", "down")
        await stage.app.run_action(f"copy.copy('{part}')")

        assert stage.app.clipboard == copied


async def test_on_the_page_of_findings_the_marked_one_is_copied() -> None:
    other = replace(FINDING, code="leak.process", stage=Stage.ALARM)
    async with staged(replace(SHOWN, findings=(other, FINDING))) as stage:
        await stage.press("F", "down", "y")
        await stage.pilot.pause()

        assert stage.app.clipboard.startswith("suspect idle.process: 2 train.py")


async def test_the_csv_is_that_of_snapshot_without_the_rows_that_are_not_shown() -> None:
    async with staged(SHOWN, csv=csv) as stage:
        await stage.app.run_action("copy.copy('processes')")
        assert stage.app.clipboard == csv(SHOWN, "processes")

        await stage.press("1")
        await stage.app.run_action("copy.copy('processes')")
        lines = csv(SHOWN, "processes").splitlines()
        assert stage.app.clipboard.splitlines() == [lines[0], lines[2]]


async def test_the_menu_copies_the_screen_as_it_is_seen() -> None:
    async with staged(SHOWN) as stage:
        await stage.press("down", "y")
        screen = stage.app.screen
        assert isinstance(screen, MenuScreen)
        labels = [choice.label for choice in screen.choices]
        await stage.press(*["down"] * labels.index("screen as text"), "enter")

        assert "train.py --seed 2" in stage.app.clipboard
        assert "Copy" not in stage.app.clipboard.splitlines()[3]
        assert stage.messages[-1].startswith("copied, if the terminal supports OSC 52: screen as text, 40 lines")


async def test_what_a_terminal_cannot_take_is_in_a_file_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    long = frame(1, (process(1, command="x" * (MOST_COPIED + 1)),))
    async with staged(long, keep_copy=keep_copy) as stage:
        await stage.press("down")
        await stage.app.run_action("copy.copy('command')")
        (path,) = (tmp_path / "gputop/copies").iterdir()

        assert stage.app.clipboard == ""
        assert stage.messages[-1] == f"the terminal cannot take it, so it is in a file: wrote {path}"
        assert path.read_text() == "x" * (MOST_COPIED + 1)
        assert path.stat().st_mode & 0o777 == 0o600


async def test_the_linux_console_gets_a_file_and_no_sequence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    async with staged(SHOWN, keep_copy=keep_copy) as stage:
        await stage.press("down")
        await stage.app.run_action("copy.copy('pid')")

        assert stage.app.clipboard == ""
        assert [path.read_text() for path in (tmp_path / "gputop/copies").iterdir()] == ["1"]


@pytest.mark.parametrize(
    ("keys", "title", "line"),
    [
        (("i",), "GPU 0 · NVIDIA H100", "python train.py --seed 1"), (("down", "enter"), "Process 1 · ", "GPU 0"),
        (("b",), "History · GPU 0 · ", "at most 1h00 is kept"),
    ],
)  # fmt: skip
async def test_on_a_page_its_whole_text_is_copied(keys: tuple[str, ...], title: str, line: str) -> None:
    async with staged(SHOWN) as stage:
        await stage.press(*keys, "y")
        await stage.pilot.pause()
        copied = stage.app.clipboard

        assert copied.startswith(title)
        assert line in copied
        page = stage.app.screen
        assert isinstance(page, Page)
        assert len(copied.splitlines()) == len(page.body.lines) + 2
        assert stage.messages[-1].startswith(f"copied, if the terminal supports OSC 52: {copied.splitlines()[0]}")


async def test_a_page_that_shows_secrets_is_not_copied() -> None:
    async with staged(SHOWN) as stage:
        await stage.press("down", "enter", "s", "y")
        await stage.pilot.pause()

        assert stage.app.clipboard == ""
        assert stage.messages[-1] == "This page shows secrets. Press s to mask them, then copy."


async def test_without_a_row_there_is_no_pid_to_copy() -> None:
    async with staged(SHOWN) as stage:
        await stage.app.run_action("copy.copy('pid')")

        assert stage.messages[-1] == "there is no PID to copy: select a row"
        assert stage.app.clipboard == ""
