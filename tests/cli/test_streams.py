"""What gputop's standard streams are: closed, full, a terminal that cannot move its cursor."""

import os
import pty
import re
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

PATIENCE_S = 60
GPUTOP = (sys.executable, "-m", "gputop")


def in_shell(line: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    command = ["/bin/sh", "-c", f"{' '.join(GPUTOP)} {line}"]
    return subprocess.run(
        command, capture_output=True, check=False, env=os.environ | variables, text=True, timeout=PATIENCE_S
    )


@pytest.mark.parametrize(
    "arguments", ["snapshot", "snapshot --json", "snapshot --format csv", "stream --count 2 --interval 0.1", "schema"]
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is full")
def test_a_full_disk_is_said_and_no_traceback(arguments: str) -> None:
    demo = "" if arguments == "schema" else "--demo training"
    done = in_shell(f"{arguments} {demo} >/dev/full")

    assert done.stderr == "gputop: cannot write the output: No space left on device\n"
    assert done.returncode == 1


@pytest.mark.parametrize("arguments", ["--version", "--help"])
def test_what_argparse_prints_reaches_a_pipe(arguments: str) -> None:
    assert "gputop" in in_shell(arguments, PYTHONUNBUFFERED="").stdout


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-"])
def test_a_closed_stream_is_no_reason_to_fail(closed: str) -> None:
    done = in_shell(f"--demo training {closed}")

    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert "H100" in done.stdout


@pytest.mark.parametrize(
    "arguments",
    ["snapshot --demo mig", "doctor --demo", "mig status --demo", "inspect 48276 --demo", "watch --demo --for 0.1s"],
)
def test_signs_that_a_locale_does_not_have_are_written_in_ascii(arguments: str) -> None:
    locale = os.environ | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*GPUTOP, *arguments.split()], capture_output=True, check=False, env=locale, timeout=PATIENCE_S
    )

    assert done.stdout.isascii()
    assert not re.search(rb"\d\?C|\s\?\s", done.stdout)  # no ?C for degrees, no ? between words


def test_a_terminal_that_cannot_move_its_cursor_gets_a_snapshot_and_not_a_flood() -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [*GPUTOP, "--demo", "training"], stdin=theirs, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "dumb"}
    )
    os.close(theirs)
    told = b""
    with suppress(OSError):  # the other end is closed
        while select.select([ours], [], [], PATIENCE_S)[0]:
            told += os.read(ours, 65536)
    os.close(ours)

    assert child.wait(PATIENCE_S) == 0
    assert b"\x1b" not in told
    assert b"H100" in told
