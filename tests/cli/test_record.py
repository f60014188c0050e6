"""gputop record and gputop analyse, as programs."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from recordings import simulated, taped

from gputop.wire.tape.reader import Tape, open_tape

GPUTOP = [sys.executable, "-m", "gputop"]


@pytest.fixture(autouse=True)
def _no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def ran(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*GPUTOP, *arguments], capture_output=True, text=True, check=False)


def test_a_recording_of_some_time_holds_its_frames(tmp_path: Path) -> None:
    path = tmp_path / "a.tape"
    done = ran("record", str(path), "--demo", "--interval", "0.1", "--for", "0.5s")
    tape = open_tape(str(path))

    assert done.returncode == 0
    assert isinstance(tape, Tape)
    assert tape.problems == []
    assert tape.header.host == "dgx-07"
    assert f"{tape.frames} frames" in done.stderr.splitlines()[-1]


def test_a_file_that_is_there_is_only_overwritten_when_told_to(tmp_path: Path) -> None:
    path = tmp_path / "a.tape"
    path.write_text("precious")
    refused = ran("record", str(path), "--demo")
    precious = path.read_text()
    forced = ran("record", str(path), "--demo", "--interval", "0.1", "--for", "0.1s", "--force")

    assert (refused.returncode, precious) == (2, "precious")
    assert "To overwrite it, add --force" in refused.stderr
    assert forced.returncode == 0
    assert isinstance(open_tape(str(path)), Tape)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_a_recording_with_a_line_of_what_was_written(number: int, tmp_path: Path) -> None:
    path = tmp_path / "a.tape"
    child = subprocess.Popen([*GPUTOP, "record", str(path), "--demo"], stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    assert "press Ctrl-C to stop" in child.stderr.readline()
    os.kill(child.pid, number)
    said = child.communicate()[1]
    tape = open_tape(str(path))

    assert child.returncode == 0
    assert said.startswith("gputop: 1 frame, ")
    assert isinstance(tape, Tape)
    assert tape.problems == []


def test_a_full_disk_is_said_and_is_no_success() -> None:
    done = ran("record", "/dev/full", "--force", "--demo")

    assert done.returncode == 1
    assert "the disk is full" in done.stderr


def test_a_tape_can_be_piped(tmp_path: Path) -> None:
    path = tmp_path / "a.tape"
    with path.open("wb") as out:
        command = [*GPUTOP, "record", "-", "--demo", "--interval", "0.1", "--for", "0.2s"]
        subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL, check=True)

    assert isinstance(open_tape(str(path)), Tape)


@pytest.mark.parametrize("text", ["x", "0s", "5 parsecs"])
def test_a_time_that_cannot_be_read_is_said(text: str, tmp_path: Path) -> None:
    done = ran("record", str(tmp_path / "a.tape"), "--for", text)

    assert done.returncode == 2
    assert "is not a time" in done.stderr


def test_analyse_judges_a_tape_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.tape"
    path.write_bytes(taped(simulated(30)))
    for_people = ran("analyse", str(path))
    found = json.loads(ran("analyse", str(path), "--format", "json").stdout)

    assert for_people.returncode == 0
    assert "memory.full  GPU 6" in for_people.stdout
    assert "in 30 frames of 29s" in for_people.stderr
    assert (found["frames"], found["length_s"], found["host"]) == (30, 29.0, "dgx-07")
    assert "memory.full" in {each["finding"]["code"] for each in found["findings"]}


def test_analyse_says_what_of_a_tape_is_damaged_and_what_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.tape"
    path.write_bytes(taped(simulated(30))[:-200])
    cut = ran("analyse", str(path))
    path.write_text("hello")
    foreign = ran("analyse", str(path))

    assert cut.returncode == 0
    assert "the recording is incomplete" in cut.stderr
    assert foreign.returncode == 2
    assert "is not a gputop recording" in foreign.stderr
