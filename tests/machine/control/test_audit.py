"""The audit log: what is in it, whose it is, and what happens where it cannot be written."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from children import Mute, child, control, only, signal_to
from fake_proc import FakeProc

from gputop.core.protocol.command import Renice, Target
from gputop.core.protocol.outcome import Status
from gputop.machine.control.audit import Audit
from gputop.machine.control.rotating_log import open_bounded
from gputop.machine.files.places import state_directory

HOSTILE = b"python\0\x1b]0;PWNED\x07\x1b[2J\0x\ny\0\xe2\x80\xaeevil\0=cmd|'/C calc'!A0\0"


def lines(place: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (place / "state/audit.jsonl").read_text().splitlines()]


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_line_is_written_before_and_one_after(tmp_path: Path) -> None:
    with child() as held:
        control(tmp_path).execute(Renice(id="42", nice=15, targets=(held.target,)))
        before, after = lines(tmp_path)

    assert before["time"].endswith("Z")
    assert before | {"time": ""} == {
        "time": "",
        "event": "intent",
        "id": "42",
        "by": "ann",
        "what": "nice 15",
        "pid": held.pid,
        "start_ticks": held.target.start_ticks,
        "owner": before["owner"],
        "command": before["command"],
    }
    assert before["command"].startswith(f"{sys.executable} -c ␊import signal")
    assert (after["event"], after["status"], after["after"]) == ("outcome", "done", "15")
    assert after["pid"] == held.pid


def test_a_refusal_is_written_down_as_well(tmp_path: Path) -> None:
    control(tmp_path).execute(signal_to(Target(1, 5)))

    assert [(line["event"], line["status"]) for line in lines(tmp_path)] == [("outcome", "refused")]


def test_who_called_sudo_is_named(tmp_path: Path) -> None:
    audit = Audit(str(tmp_path / "state"), "root", "ann\x1b[2J", clock=lambda: 1_800_000_000.25)
    audit.begin(signal_to())
    audit.conclude(only(control(tmp_path).execute(signal_to(Target(1, 5)))), None)
    audit.end()
    line = lines(tmp_path)[-1]

    assert (line["by"], line["sudo_user"], line["time"]) == ("root", "ann␛[2J", "2027-01-15T08:00:00.250Z")


def test_a_hostile_command_line_is_one_harmless_line(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711, command=HOSTILE)
    control(tmp_path, proc, Mute()).execute(signal_to(Target(4711, 5000)))
    raw = (tmp_path / "state/audit.jsonl").read_bytes()

    assert len(raw.splitlines()) == 2
    assert not set(raw) & (set(range(0x20)) - {0x0A})
    assert lines(tmp_path)[0]["command"] == "python ␛]0;PWNED␇␛[2J x␊y \ufffdevil =cmd|'/C calc'!A0"


def test_a_secret_of_a_command_line_is_never_written_into_the_audit_log(tmp_path: Path) -> None:
    proc = FakeProc()
    proc.add(4711, command=b"python\0--password\0hunter2\0--db=postgres://ann:hunter2@db/prod\0")
    control(tmp_path, proc, Mute()).execute(signal_to(Target(4711, 5000)))

    assert {line["command"] for line in lines(tmp_path)} == {
        "python --password •••••••• --db=postgres://ann:••••••••@db/prod"
    }


def test_directory_and_file_are_for_their_owner_alone(tmp_path: Path) -> None:
    control(tmp_path).execute(signal_to(Target(1, 5)))

    assert mode(tmp_path / "state") == 0o700
    assert mode(tmp_path / "state/audit.jsonl") == 0o600


def test_a_log_that_others_can_read_becomes_private(tmp_path: Path) -> None:
    place = tmp_path / "state"
    place.mkdir()
    (place / "audit.jsonl").write_text("")
    (place / "audit.jsonl").chmod(0o644)
    os.close(open_bounded(str(place), "audit.jsonl"))

    assert mode(place / "audit.jsonl") == 0o600


def test_lines_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    for _ in range(3):
        control(tmp_path).execute(signal_to(Target(1, 5)))

    assert len(lines(tmp_path)) == 3


def symlinked_file(place: Path) -> None:
    (place / "state").mkdir()
    (place / "elsewhere").write_text("")
    (place / "state/audit.jsonl").symlink_to(place / "elsewhere")


def symlinked_directory(place: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root, to give links away")
    (place / "elsewhere").mkdir()
    (place / "state").symlink_to(place / "elsewhere")
    os.lchown(place / "state", 65534, 65534)


def hard_link(place: Path) -> None:
    (place / "state").mkdir()
    (place / "elsewhere").write_text("")
    os.link(place / "elsewhere", place / "state/audit.jsonl")


def fifo(place: Path) -> None:
    (place / "state").mkdir()
    os.mkfifo(place / "state/audit.jsonl")


def somebody_elses(place: Path) -> None:
    if os.geteuid():
        pytest.skip("needs root, to give files away")
    (place / "state").mkdir()
    os.chown(place / "state", 65534, 65534)


def a_file_in_the_way(place: Path) -> None:
    (place / "state").write_text("")


@pytest.mark.parametrize(
    "prepare", [symlinked_file, symlinked_directory, hard_link, fifo, somebody_elses, a_file_in_the_way]
)
def test_a_log_that_is_not_ours_alone_is_not_written_and_the_signal_is_sent_all_the_same(
    tmp_path: Path, prepare: Any
) -> None:
    prepare(tmp_path)
    with child("SIGUSR1") as held:
        outcome = control(tmp_path).execute(signal_to(held.target, name="SIGUSR1"))

        assert held.line() == "SIGUSR1"
    assert only(outcome).status is Status.DONE
    assert outcome.note.startswith(f"The audit log {tmp_path}/state/audit.jsonl is not complete: ")
    if (tmp_path / "elsewhere").is_file():
        assert (tmp_path / "elsewhere").read_text() == ""


def test_a_full_disk_keeps_nobody_from_ending_a_job(tmp_path: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    audit = Audit(str(tmp_path), "ann", opener=lambda *_: os.open("/dev/full", os.O_WRONLY))
    with child("SIGUSR1") as held:
        outcome = control(tmp_path, audit=audit).execute(signal_to(held.target, name="SIGUSR1"))

        assert held.line() == "SIGUSR1"
    assert outcome.all_worked
    assert "No space left on device" in outcome.note


def test_a_line_that_a_full_disk_cut_off_spoils_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir(mode=0o700)
    path = tmp_path / "state/audit.jsonl"
    path.write_text('{"time":"2027-01-15T08:00:00.000Z","event":"int')
    outcome = control(tmp_path).execute(signal_to(Target(1, 5)))
    cut, *rest = path.read_text().splitlines()

    assert outcome.note == ""
    assert cut.endswith('"event":"int')
    assert [json.loads(line)["event"] for line in rest] == ["outcome"]


@pytest.mark.parametrize(
    ("environment", "directory"),
    [
        ({"XDG_STATE_HOME": "{place}/s", "HOME": "{place}/h"}, "{place}/s/gputop"),
        ({"XDG_STATE_HOME": "relative", "HOME": "{place}/h"}, "{place}/h/.local/state/gputop"),
        ({"HOME": "{place}/h"}, "{place}/h/.local/state/gputop"),
    ],
)
def test_the_state_directory_is_that_of_xdg(tmp_path: Path, environment: dict[str, str], directory: str) -> None:
    filled = {name: value.format(place=tmp_path) for name, value in environment.items()}

    assert state_directory(filled) == directory.format(place=tmp_path)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files away")
def test_root_leaves_no_files_in_the_home_of_whoever_called_sudo(tmp_path: Path) -> None:
    os.chown(tmp_path, 65534, 65534)

    assert not state_directory({"HOME": str(tmp_path)}).startswith(str(tmp_path))
    assert state_directory({}).endswith("/.local/state/gputop")
