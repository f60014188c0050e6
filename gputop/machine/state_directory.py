"""Files for this user's eyes only, in the state directory of XDG: opened without following links."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

_OPEN: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def state_directory(environment: Mapping[str, str]) -> str:
    """Return where gputop keeps state: $XDG_STATE_HOME/gputop, else ~/.local/state/gputop.

    sudo may leave the home of its caller in the environment: a directory of somebody else is no place for root's
    files, so the home of the effective user takes its place then.
    """
    base = environment.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):  # XDG: a relative path is to be ignored
        base = environment.get("HOME", "") + "/.local/state"
    if not base.startswith("/") or not _is_ours(base):
        import pwd  # noqa: PLC0415 - only where the environment is of no use

        try:
            base = pwd.getpwuid(os.geteuid()).pw_dir.rstrip("/") + "/.local/state"
        except KeyError:
            base = f"/tmp/gputop-{os.geteuid()}"  # noqa: S108 - made with mode 0700 and checked when it is opened
    return f"{base}/gputop"


def open_private(directory: str, name: str) -> int:
    """Open a file for appending, 0600 in 0700, both made where they are not there. Raises OSError in words.

    Refused are links, and what belongs to somebody else, who could read it or lead it elsewhere.
    """
    os.makedirs(os.path.dirname(directory), mode=0o700, exist_ok=True)
    with suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    place = os.open(directory, _DIRECTORY)
    try:
        _keep_private(place, 0o700)
        file = os.open(name, _OPEN, 0o600, dir_fd=place)
    finally:
        os.close(place)
    try:
        _keep_private(file, 0o600)
    except OSError:
        os.close(file)
        raise
    return file


def _is_ours(path: str) -> bool:
    """Say whether the nearest directory of a path that exists belongs to the effective user."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return os.stat(path).st_uid == os.geteuid()


def _keep_private(descriptor: int, mode: int) -> None:
    """Take away the rights of others. Raises OSError for what is not ours alone."""
    found = os.fstat(descriptor)
    is_file = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
    if not is_file and not stat.S_ISDIR(found.st_mode):
        raise PermissionError(None, "it is not a file of its own")
    if found.st_uid != os.geteuid():
        raise PermissionError(None, "it belongs to another user")
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.fchmod(descriptor, mode)
