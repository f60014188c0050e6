"""What goes beside the program, the man page and what shells complete, follows the parser and works."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from generate_share import FILES, SHARE
from shells import PATIENCE_S, bash, fish, zsh

from gputop.cli.main import COMMANDS
from gputop.core.settings.settings import SETTINGS

Complete = Callable[[Path, str], set[str]]
SHELLS = (bash, zsh, fish)
LINES = {
    "gputop ": set(COMMANDS),
    "gputop snapsh": {"snapshot"},
    "gputop --demo trouble snapsh": {"snapshot"},
    "gputop --demo ": {"training", "h200", "mig", "workstation", "trouble", "dying"},
    "gputop snapshot --demo h200 --format ": {"table", "json", "csv", "csv-processes", "prometheus"},
    "gputop signal SIGTE": {"SIGTERM"},
    "gputop signal --user roo": {"root"},
    "gputop mig ch": {"checkpoint"},
    "gputop mig apply --fi": {"--file"},
    "gputop mig restore pyproject.t": {"pyproject.toml"},
    "gputop config ": {"path", "init", "check", "show"},
    "gputop probe --level ": {"quick", "standard", "long", "soak"},
}


@pytest.fixture(params=SHELLS, ids=lambda shell: shell.__name__)
def complete(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Complete:
    if not shutil.which(request.param.__name__):
        pytest.skip(f"there is no {request.param.__name__} here")
    monkeypatch.chdir(SHARE.parent)
    found: Complete = request.param
    return found


@pytest.mark.parametrize("name", FILES)
def test_what_goes_beside_the_program_is_current(name: str) -> None:
    assert (SHARE / name).read_text() == FILES[name](), "run: python docs/generate.py"


@pytest.mark.parametrize("line", LINES)
def test_a_shell_completes(complete: Complete, line: str) -> None:
    assert complete(SHARE, line) == LINES[line]


@pytest.mark.parametrize(("option", "known"), [("-i ", {"0"}), ("signal --pid ", {"20394", "33870"})])
def test_a_shell_asks_the_gputop_on_the_line_for_gpus_and_pids(
    complete: Complete, option: str, known: set[str], tmp_path: Path
) -> None:
    own = tmp_path / "gputop"
    own.write_text(f'#!/bin/sh\nexec {sys.executable} -m gputop "$@" --demo h200\n')
    own.chmod(0o700)

    assert complete(SHARE, f"{own} {option}") == known


def test_the_man_page_is_roff_without_a_warning() -> None:
    if not shutil.which("groff"):
        pytest.skip("there is no groff here")
    page = SHARE / "man/man1/gputop.1"
    done = subprocess.run(
        ["groff", "-ww", "-man", "-Tutf8", "-K", "utf8", page], capture_output=True, check=True, text=True,
        timeout=PATIENCE_S,
    )  # fmt: skip

    assert done.stderr == ""
    assert "SIGTERM" in done.stdout


def test_the_man_page_has_every_command_and_variable() -> None:
    page = (SHARE / "man/man1/gputop.1").read_text().replace("\\", "")
    told = [f"gputop {name} " for name in COMMANDS] + [setting.variable for setting in SETTINGS if setting.variable]

    assert [word for word in told if word not in page] == []
