"""Secrets in what gputop writes for programs, as a user runs it."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

KEY = "0123456789-not-a-key"
SERVER = "20117"
BOX = ("--demo", "h200")


def gputop(*arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "gputop", *arguments], capture_output=True, check=True, text=True)
    return done.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("snapshot", "--json", "--wait", "0"),
        ("stream", "--count", "1"),
        ("inspect", SERVER, "--wait", "0"),
        ("inspect", SERVER, "--wait", "0", "--json"),
    ],
    ids=" ".join,
)
def test_a_secret_of_a_command_line_is_never_printed_without_reveal(command: tuple[str, ...]) -> None:
    masked, revealed = gputop(*command, *BOX), gputop(*command, *BOX, "--reveal")

    assert ("--api-key" in masked, KEY in masked, "••••••••" in masked) == (True, False, True)
    assert KEY in revealed


@pytest.mark.parametrize(("flags", "shown"), [((), "••••••••"), (("--reveal",), KEY)])
def test_a_recording_never_holds_a_secret_of_a_command_line_without_reveal(
    flags: tuple[str, ...], shown: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.tape"
    gputop("record", str(path), *BOX, "--interval", "0.1", "--for", "0.1s", *flags)
    text = gzip.decompress(path.read_bytes()).decode()

    assert f"--api-key {shown}" in text
    assert (KEY in text) == (shown == KEY)
