"""The directories of gputop: state and configuration, by XDG.

The environment counts only if it is the user's own. sudo may keep the HOME of its caller, and `su` may keep
XDG_CONFIG_HOME; then gputop takes the home directory of the password database.
"""

import os
import stat
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Final

from gputop.machine.files.walk import check_all, user_name, walk

_NOWHERE: Final = "/nonexistent"
_CALLERS: Final = ("SUDO_USER", "DOAS_USER", "PKEXEC_UID")


def state_directory(environment: Mapping[str, str]) -> str:
    """Return the directory of logs, baselines and checkpoints: $XDG_STATE_HOME/gputop, else ~/.local/state/gputop."""
    return f"{_base(environment, 'XDG_STATE_HOME', '.local/state', (os.geteuid(),))}/gputop"


def config_directory(environment: Mapping[str, str] = os.environ) -> str:
    """Return the directory of the configuration: $XDG_CONFIG_HOME/gputop, else ~/.config/gputop.

    It may belong to root: an administrator or a container image may provide the files.
    """
    return f"{_base(environment, 'XDG_CONFIG_HOME', '.config', (os.geteuid(), 0))}/gputop"


def config_file(environment: Mapping[str, str] = os.environ) -> str:
    """Return the path of the configuration file, which may not exist."""
    return f"{config_directory(environment)}/config.toml"


def home_directory(environment: Mapping[str, str]) -> str:
    """Return $HOME if no other user may have set it or controls it, else the home of the password database."""
    home = environment.get("HOME", "")
    is_own = home.startswith("/") and not is_of_another_user(environment)
    return home if is_own and _belongs_to(home, (os.geteuid(), 0)) else _home()


def is_of_another_user(environment: Mapping[str, str]) -> bool:
    """Return whether another user ran sudo, doas or pkexec, and may have set the variables."""
    callers = [environment[name] for name in _CALLERS if environment.get(name)]
    return bool(callers) and not {user_name(os.geteuid()), str(os.geteuid())}.issuperset(callers)


def _base(environment: Mapping[str, str], variable: str, usual: str, owners: Collection[int]) -> str:
    if not is_of_another_user(environment):
        home = environment.get("HOME", "")
        for folder in (environment.get(variable, ""), home and f"{home.rstrip('/')}/{usual}"):
            if folder.startswith("/") and _belongs_to(folder, owners):  # XDG: ignore a relative path
                return folder
    return f"{_home()}/{usual}"


def _belongs_to(path: str, owners: Collection[int]) -> bool:
    """Return whether the nearest existing directory belongs to an owner, and no other user controls the way to it."""
    nearest = -1

    def check(at: str, found: os.stat_result) -> None:
        nonlocal nearest
        check_all(at, found)
        nearest = found.st_uid if stat.S_ISDIR(found.st_mode) else nearest

    try:
        with suppress(FileNotFoundError, NotADirectoryError):  # the first use of the directory will say so
            os.close(walk(f"{path}/.", check)[0])
    except OSError:
        return False
    return nearest in owners


def _home() -> str:
    import pwd  # noqa: PLC0415 - only if the environment is no help

    try:
        return pwd.getpwuid(os.geteuid()).pw_dir.rstrip("/")
    except KeyError:
        folder = f"/tmp/gputop-{os.geteuid()}"  # noqa: S108 - its owner is checked
        return folder if _belongs_to(folder, (os.geteuid(), 0)) else _NOWHERE
