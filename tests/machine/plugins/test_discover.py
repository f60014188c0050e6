"""Which plugins gputop loads: none from the working directory, and as root none that others can change."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from installed import install
from other_users import directory_of_other, give, needs_root

from gputop.machine.plugins.discover import plug_in

PLUGIN = "from gputop.plugin import *\nprint('LOADED')\nPLUGIN = Plugin(name='x', api=API_VERSION)"


def gputop(*command: str, cwd: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, *command, "plugins", "--json"],
        capture_output=True,
        check=False,
        cwd=cwd,
        env=os.environ | environment,
        text=True,
    )


def found(done: "subprocess.CompletedProcess[str]") -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["entry"]["name"]: line for line in lines}


@pytest.mark.parametrize("path", [None, "", ":", ".", "relative:"])
def test_a_plugin_in_the_working_directory_is_not_loaded(tmp_path: Path, path: str | None) -> None:
    install(tmp_path, "planted", PLUGIN)
    environment = {} if path is None else {"PYTHONPATH": path}
    done = gputop("-m", "gputop", cwd=tmp_path, **environment)

    assert "planted" not in found(done)
    assert "LOADED" not in done.stderr


def test_modules_in_the_working_directory_replace_none_of_gputop(tmp_path: Path) -> None:
    for name in ("argparse", "msgspec", "typing"):
        (tmp_path / f"{name}.py").write_text("print('LOADED'); raise SystemExit(9)")
    done = gputop("-m", "gputop", cwd=tmp_path)

    assert "LOADED" not in done.stdout + done.stderr
    assert done.returncode in (0, 1)


def test_a_plugin_whose_import_hangs_stops_every_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, "hanging", "import time\ntime.sleep(600)\n" + PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    (plugin,) = plug_in((str(tmp_path),), patience_s=0.1)

    assert plugin.rejected.startswith("its import hangs: it did not return within")
    assert plugin.adds == {}


def test_a_plugin_that_calls_exit_when_it_is_loaded_ends_gputop(tmp_path: Path) -> None:
    install(tmp_path, "leaves", "import sys\nsys.exit(0)\n")
    done = gputop("-m", "gputop", cwd=Path("/"), PYTHONPATH=str(tmp_path))

    assert "SystemExit: 0" in found(done)["leaves"]["rejected"]
    assert "gputop_leaves.py, line 2" in found(done)["leaves"]["rejected"]


def test_a_working_directory_that_the_user_names_counts(tmp_path: Path) -> None:
    install(tmp_path, "wanted", PLUGIN)
    done = gputop("-m", "gputop", cwd=tmp_path, PYTHONPATH=str(tmp_path))

    assert not found(done)["wanted"]["rejected"]


def others_directory(folder: Path) -> Path:
    return directory_of_other(folder / "theirs")


def below_others_directory(folder: Path) -> Path:
    theirs = directory_of_other(folder / "theirs")
    (theirs / "own").mkdir()
    return theirs / "own"


def directory_that_others_can_write_to(folder: Path) -> Path:
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    return folder / "open"


def link_of_another_user(folder: Path) -> Path:
    (folder / "real").mkdir()
    (folder / "link").symlink_to("real")
    return give(folder / "link")


@needs_root
@pytest.mark.parametrize(
    "place", [others_directory, below_others_directory, directory_that_others_can_write_to, link_of_another_user]
)
def test_root_loads_no_plugin_from_where_others_can_write(tmp_path: Path, place: Any) -> None:
    folder = place(tmp_path)
    install(folder, "planted", PLUGIN)
    done = gputop("-m", "gputop", cwd=Path("/"), PYTHONPATH=str(folder))
    rejected = found(done)["planted"]["rejected"]

    assert "LOADED" not in done.stderr
    assert done.returncode == 1
    assert (
        "As root, gputop uses only directories that root alone can write to" in rejected or "is a link of" in rejected
    )


@needs_root
def test_root_loads_no_plugin_whose_code_lies_in_anothers_directory(tmp_path: Path) -> None:
    """An editable installation: its metadata is root's, its code is not."""
    theirs = directory_of_other(tmp_path / "theirs")
    install(tmp_path, "planted", PLUGIN)
    (tmp_path / "gputop_planted.py").rename(theirs / "gputop_planted.py")
    done = gputop("-m", "gputop", cwd=Path("/"), PYTHONPATH=f"{tmp_path}:{theirs}")

    assert "LOADED" not in done.stderr
    assert f"{theirs} belongs to " in found(done)["planted"]["rejected"]
