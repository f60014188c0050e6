"""The compiled libraries for another Python: whose settings pip and uv obey."""

import os
import sys
from pathlib import Path

import pytest
from other_users import directory_of_other, needs_root

from gputop.app.remote import wheels
from gputop.core.protocol.python_kind import PythonKind
from gputop.machine.files.walk import program

KIND = PythonKind(python="3.10", machine="aarch64")


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return where a uv, which is the only installer, writes its directory, its words and its variables."""
    found = tmp_path / "seen"
    uv = tmp_path / "bin" / "uv"
    uv.parent.mkdir()
    uv.write_text(f'#!/bin/sh\n{{ echo "$*"; /usr/bin/env; }} >{found}\n')
    uv.chmod(0o700)
    monkeypatch.setattr(wheels, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", f"{uv.parent}:/usr/bin:/bin")
    for name in ("SUDO_USER", "DOAS_USER", "PKEXEC_UID"):
        monkeypatch.delenv(name, raising=False)
    return found


def test_uv_obeys_the_working_directory(seen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wheels.fetch(("msgspec",), KIND, f"{tmp_path}/out")

    words = seen.read_text().splitlines()[0].split()
    assert words[:2] == ["--directory", "/"]
    assert words[words.index("--python") + 1] == sys.executable


def test_the_planted_python_of_the_working_directory_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = program("uv", os.environ)
    if real is None:
        pytest.skip("needs uv")
    planted = tmp_path / ".venv" / "bin" / "python"
    planted.parent.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    planted.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    planted.chmod(0o700)
    (tmp_path / "uv.toml").write_text(f'no-index = true\nfind-links = ["{tmp_path}/planted-index"]\n')
    monkeypatch.setattr(wheels, "find_spec", lambda _: None)
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_CACHE_DIR", f"{tmp_path}/cache")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(wheels.FetchError) as failed:
        wheels.fetch(("msgspec",), KIND, f"{tmp_path}/out")

    assert not (tmp_path / "ran").exists()
    assert "planted-index" not in str(failed.value)


def variables(seen: Path) -> dict[str, str]:
    return dict(line.partition("=")[::2] for line in seen.read_text().splitlines()[1:])


@pytest.mark.parametrize("by_sudo", [False, True])
def test_the_index_of_another_user_is_used(
    seen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, by_sudo: bool
) -> None:
    own = {"HOME": str(tmp_path), "PIP_INDEX_URL": "x", "UV_INDEX_URL": "x", "XDG_CONFIG_HOME": "/x"}
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    if by_sudo:
        monkeypatch.setenv("SUDO_USER", "mallory")
    wheels.fetch(("msgspec",), KIND, f"{tmp_path}/out")

    passed = variables(seen)
    assert (own.items() <= passed.items()) is not by_sudo
    assert not by_sudo or not set(own.values()) & {passed[name] for name in own if name in passed}


@needs_root
def test_root_obeys_the_home_of_another_user(seen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = directory_of_other(tmp_path / "home")
    monkeypatch.setenv("HOME", str(home))
    wheels.fetch(("msgspec",), KIND, f"{tmp_path}/out")

    assert variables(seen)["HOME"] != str(home)
