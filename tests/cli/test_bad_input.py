"""Input that is endless, huge or no file at all: a short error, and status 2."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PATIENCE_S = 60  # only ever waited for when a test fails
LONG = "x" * 100_000
NUMBER = "9" * 100_000
EACH = """
import json, os, sys
from gputop.cli.main import main
for arguments in json.load(sys.stdin):
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        main(arguments)
    os.close(writing)
    with open(reading, errors="replace") as pipe:
        said = pipe.read()
    print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said]))
"""
GIVEN = [
    ("snapshot", "--where", f"user:{LONG}"),
    ("snapshot", "--where", f"{LONG[:1500]}<3"),
    ("snapshot", "--where", f"gpu_mem<{LONG[:1500]}"),
    ("snapshot", f"--{LONG}"),
    ("snapshot", f"--js={LONG}"),
    ("snapshot", LONG),
    ("snapshot", "--format", LONG),
    ("snapshot", "--interval", LONG),
    ("snapshot", "-i", f"{NUMBER}-3"),
    ("snapshot", "-i", f"0,,{LONG}"),
    ("snapshot", "--demo", LONG),
    ("snapshot", "--source", LONG),
    ("signal", LONG),
    ("signal", "TERM", "--pid", LONG),
    ("signal", "TERM", "--pid", NUMBER),
    ("renice", LONG),
    ("inspect", LONG),
    ("pick", "--count", NUMBER),
    ("pick", "--min-free", LONG),
    ("free", "--format", LONG),
    ("watch", "--for", LONG),
    ("analyse", LONG),
    ("analyse", "a\nb" + LONG),
    ("record", f"/nowhere/{LONG}"),
    ("mig", "apply", "-f", LONG),
    ("--demo", "mig", "mig", "apply", "-n", "-i", "0", LONG),
    ("--demo", "mig", "mig", "status", "-i", LONG),
    ("probe", "--device", LONG),
    ("probe", "--test", LONG),
    (LONG,),
]


def gputop(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputop", *arguments], capture_output=True, check=False, text=True, timeout=PATIENCE_S,
        env=os.environ | variables, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def home(folder: Path, kind: str) -> str:
    """Make a home whose configuration is a pipe or a device; return the folder for XDG_CONFIG_HOME."""
    (folder / "gputop").mkdir()
    file = folder / "gputop" / "config.toml"
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    return str(folder)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_a_configuration_that_is_no_file_hangs_no_command_and_fills_no_memory(kind: str, tmp_path: Path) -> None:
    done = gputop("config", "check", XDG_CONFIG_HOME=home(tmp_path, kind))

    assert done.returncode == 2
    assert "it is not a regular file" in done.stderr


def test_a_snapshot_does_not_wait_for_the_pipe_in_the_place_of_the_configuration(tmp_path: Path) -> None:
    done = gputop("snapshot", "--demo", "--wait", "0", XDG_CONFIG_HOME=home(tmp_path, "pipe"))

    assert done.returncode == 0
    assert "it is not a regular file" in done.stderr


@pytest.mark.parametrize("command", [("analyse",), ("--demo", "mig", "mig", "apply", "-n", "-f")])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(command: tuple[str, ...], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = gputop(*command, str(tmp_path / "pipe"))

    assert done.returncode in (2, 64)
    assert "regular file" in done.stderr


def test_an_error_does_not_print_all_of_what_was_given() -> None:
    done = subprocess.run(
        [sys.executable, "-c", EACH], input=json.dumps(GIVEN), capture_output=True, check=True, text=True,
        timeout=PATIENCE_S,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    names = [" ".join(word[:12] for word in arguments) for arguments in GIVEN]

    assert [name for name, (status, _) in zip(names, answers, strict=True) if status not in (2, 3, 64)] == []
    assert [name for name, (_, said) in zip(names, answers, strict=True) if not 0 < len(said) < 2000] == []
    assert [
        name for name, (_, said) in zip(names, answers, strict=True) if max(said.count(x) for x in "x9") > 1100
    ] == []
