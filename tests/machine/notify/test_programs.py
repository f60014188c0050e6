"""Programs that deliver a notification: what they get, how long they may take, and which of them root runs."""

import os
import stat
import threading
import time
from pathlib import Path

import pytest

from gputop.machine.notify.programs import Programs

PATIENCE_S = 30.0
_OPEN = 0o777


def script(folder: Path, text: str, mode: int = 0o755) -> str:
    path = folder / "page"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return str(path)


def programs(deadline_s: float = PATIENCE_S) -> Programs:
    return Programs(dict(os.environ), deadline_s)


def test_a_program_gets_its_words_the_variables_and_stdin(tmp_path: Path) -> None:
    name = script(tmp_path, f'printf "%s|" "$@" "$GPUTOP_TEXT" > {tmp_path}/out; cat >> {tmp_path}/out')

    assert programs().run([name, "a b", "$HOME"], {"GPUTOP_TEXT": "$(id); `id`"}, b'{"event":"free"}') == ""
    assert (tmp_path / "out").read_text() == 'a b|$HOME|$(id); `id`|{"event":"free"}'


def test_a_program_that_reads_nothing_does_not_hold_up_the_notification(tmp_path: Path) -> None:
    assert programs().run([script(tmp_path, "exit 0")], {}, b"x" * 1_000_000) == ""


def test_a_failure_is_reported_with_its_status(tmp_path: Path) -> None:
    name = script(tmp_path, "exit 3")

    assert programs().run([name], {}, b"") == f"{name} ended with status 3"


def test_a_program_that_never_ends_is_killed_with_its_children(tmp_path: Path) -> None:
    name = script(tmp_path, f"sleep 1000 & echo $! > {tmp_path}/child; wait")

    assert "did not end within 1 s" in programs(1.0).run([name], {}, b"")
    assert_ends(int((tmp_path / "child").read_text()))


def test_the_end_of_gputop_is_the_end_of_a_program_that_runs(tmp_path: Path) -> None:
    name = script(tmp_path, f"echo > {tmp_path}/begun; exec sleep 1000")
    held, said = programs(), list[str]()
    thread = threading.Thread(target=lambda: said.append(held.run([name], {}, b"")))
    thread.start()
    deadline = time.monotonic() + PATIENCE_S
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        thread.join(0.01)
    held.close()
    thread.join(PATIENCE_S)

    assert said == [f"{name} ended with status -9"]


@pytest.mark.parametrize("name", ["no-such-program", "./page", "/no/such/program", "bin/page"])
def test_a_program_that_is_not_there_or_depends_on_the_directory_is_an_error_in_words(name: str) -> None:
    assert programs().run([name], {}, b"").startswith(f"cannot run {name}: ")


def test_a_folder_of_path_that_depends_on_the_directory_does_not_count(tmp_path: Path) -> None:
    script(tmp_path, "exit 0")
    held = Programs({"PATH": f".:{os.path.relpath(tmp_path)}"})

    assert held.run(["page"], {}, b"") == "cannot run page: no such program"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have files of others")
def test_root_runs_no_program_that_another_user_can_change(tmp_path: Path) -> None:
    name = script(tmp_path, f"echo > {tmp_path}/ran")
    os.chown(name, 1001, 1001)
    refused = programs().run([name], {}, b"")
    os.chown(name, 0, 0)
    Path(name).chmod(_OPEN)
    refused_too = programs().run([name], {}, b"")
    tmp_path.chmod(_OPEN)
    Path(name).chmod(stat.S_IRWXU)
    refused_also = programs().run([name], {}, b"")
    tmp_path.chmod(stat.S_IRWXU)

    assert "other users can change it" in refused
    assert "other users can change it" in refused_too
    assert "other users can write to" in refused_also
    assert not (tmp_path / "ran").exists()


def assert_ends(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return
        except FileNotFoundError:
            return
        threading.Event().wait(0.01)
    pytest.fail(f"{pid} lives on")
