"""Private files in the XDG state directory, opened without following links."""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

_OPEN: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def state_directory(environment: Mapping[str, str]) -> str:
    """Return where gputop keeps its state: $XDG_STATE_HOME/gputop, else ~/.local/state/gputop.

    sudo may keep the caller's HOME in the environment. Root must not write to another user's directory, so the home of
    the effective user is used instead.
    """
    base = environment.get("XDG_STATE_HOME", "")
    if not base.startswith("/"):  # XDG: ignore a relative path
        base = environment.get("HOME", "") + "/.local/state"
    if not base.startswith("/") or not _is_ours(base):
        import pwd  # noqa: PLC0415 - only if the environment is no help

        try:
            base = pwd.getpwuid(os.geteuid()).pw_dir.rstrip("/") + "/.local/state"
        except KeyError:
            base = f"/tmp/gputop-{os.geteuid()}"  # noqa: S108 - made with mode 0700 and checked when it is opened
    return f"{base}/gputop"


def open_private(directory: str, name: str) -> int:
    """Open a file for appending, mode 0600 in a directory of mode 0700; create both. Raises OSError with a message.

    Links and files of other users are refused: their owner could read them or redirect them.
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
    """Return whether the nearest existing directory of a path belongs to the effective user."""
    while not os.path.exists(path):
        path = os.path.dirname(path)
    return os.stat(path).st_uid == os.geteuid()


def _keep_private(descriptor: int, mode: int) -> None:
    """Remove the rights of other users. Raises OSError for a file that is not ours alone."""
    found = os.fstat(descriptor)
    is_file = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
    if not is_file and not stat.S_ISDIR(found.st_mode):
        raise PermissionError(None, "it is a link, or not a regular file")
    if found.st_uid != os.geteuid():
        raise PermissionError(None, "it belongs to another user")
    if stat.S_IMODE(found.st_mode) & 0o077:
        os.fchmod(descriptor, mode)
