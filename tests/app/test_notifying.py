"""Programs that notify, and the words of a hostile process."""

import json
import os
from pathlib import Path

from gputop.app.notifying import ProgramNotifier
from gputop.core.notification.notification import Event, Notification
from gputop.core.settings.settings import Settings

EVIL = "--urgency=critical $(touch pwned) `touch pwned`; touch pwned #' \"%n"


def program(folder: Path, name: str) -> str:
    """Write a program that keeps its arguments and its stdin; return its path."""
    path = folder / name
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {path}.arguments; /bin/cat > {path}.stdin\n')
    path.chmod(0o755)
    return str(path)


def test_the_words_of_a_process_become_arguments_of_a_program_or_are_run_by_a_shell(tmp_path: Path) -> None:
    page = program(tmp_path, "page")
    program(tmp_path, "notify-send")
    notification = Notification(
        event=Event.ENDED, title="process 7 has ended", text=f"process 7 has ended: {EVIL}", host="node7", time_s=0.0,
        pids=(7,), job=EVIL, user=EVIL, command=EVIL,
    )  # fmt: skip
    settings = Settings(notify=("desktop", "command"), notify_command=(page, "--page"))
    notifier = ProgramNotifier({"PATH": str(tmp_path), "DISPLAY": ":0"})
    before = os.listdir()

    assert notifier.send(notification, settings) == ()
    assert (tmp_path / "notify-send.arguments").read_text().split("\n")[1:-1] == ["--", "process 7 has ended"]
    assert (tmp_path / "page.arguments").read_text() == "--page\n"
    assert json.loads((tmp_path / "page.stdin").read_text())["command"] == EVIL
    assert os.listdir() == before
