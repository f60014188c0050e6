"""Where state and configuration lie, and whose environment counts."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from other_users import directory_of_other, link_of_other, needs_root

from gputop.machine.files.places import config_file, state_directory

HOME = pwd.getpwuid(os.geteuid()).pw_dir.rstrip("/")
STATE = f"{HOME}/.local/state/gputop"
CONFIG = f"{HOME}/.config/gputop/config.toml"


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_home_the_state_does_not_go_to_the_root_of_the_file_system(environment: dict[str, str]) -> None:
    assert state_directory(environment) == STATE
    assert config_file(environment) == CONFIG


@needs_root
def test_a_kept_home_of_another_user_gives_root_neither_state_nor_configuration(tmp_path: Path) -> None:
    home = directory_of_other(tmp_path / "bob")
    (home / ".config").mkdir()  # even if root made a directory in it

    assert state_directory({"HOME": str(home)}) == STATE
    assert config_file({"HOME": str(home)}) == CONFIG


@needs_root
@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "HOME"])
def test_a_link_of_another_user_does_not_lead_root_to_its_own_directories(tmp_path: Path, variable: str) -> None:
    (tmp_path / "opt").mkdir()
    link = link_of_other(tmp_path / "link", tmp_path / "opt")

    assert state_directory({variable: str(link)}) == STATE


@needs_root
def test_a_directory_that_others_can_write_to_does_not_count_for_root(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)

    assert state_directory({"XDG_STATE_HOME": str(tmp_path)}) == STATE
    assert config_file({"XDG_CONFIG_HOME": str(tmp_path)}) == CONFIG


@pytest.mark.parametrize("caller", [{"SUDO_USER": "bob"}, {"DOAS_USER": "bob"}, {"PKEXEC_UID": "1234567"}])
def test_the_caller_of_sudo_does_not_choose_the_directories(tmp_path: Path, caller: dict[str, str]) -> None:
    chosen = {name: str(tmp_path) for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME")}

    assert state_directory(chosen | caller) == STATE
    assert config_file(chosen | caller) == CONFIG


def test_the_own_variables_count_for_who_called_sudo_for_themselves(tmp_path: Path) -> None:
    own = {"SUDO_USER": pwd.getpwuid(os.geteuid()).pw_name, "XDG_STATE_HOME": str(tmp_path)}

    assert state_directory(own) == f"{tmp_path}/gputop"


def test_an_own_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "scratch")

    assert state_directory({"XDG_STATE_HOME": f"{tmp_path}/link"}) == f"{tmp_path}/link/gputop"


@needs_root
def test_a_user_without_a_home_does_not_use_the_directory_that_another_user_made_for_it() -> None:
    """A user with no entry in the password database; the name of its directory in /tmp can be guessed."""
    uid = 1_234_567_890
    script = f"""
import os, pwd
from gputop.machine.files.places import config_file
os.setgid({uid}); os.setuid({uid})
print(config_file({{}}))
"""
    folder = Path(f"/tmp/gputop-{uid}")  # noqa: S108
    free = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    directory_of_other(folder)
    try:
        taken = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True).stdout
    finally:
        folder.rmdir()

    assert (free, taken) == (f"{folder}/.config/gputop/config.toml\n", "/nonexistent/.config/gputop/config.toml\n")
