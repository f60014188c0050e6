"""The way along a path, step by step: each link and each directory is checked before it is used."""

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from errno import EACCES, ELOOP
from functools import cache
from typing import Final, TypeAlias

from gputop.core.text.text import clean

Check: TypeAlias = Callable[[str, os.stat_result], None]

_ENTRY: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_MAP_BYTES: Final = 4096
_MOST_LINKS: Final = 40  # as many as the kernel follows
_ROOT_ALONE: Final = "As root, gputop uses only directories that root alone can write to"


def walk(path: str, check: Check, *, mode: int | None = None) -> tuple[int, str]:
    """Return an open directory and the last name of the path, which may be missing in it. All links are resolved.

    ``check`` raises OSError for a link or directory on the way that must not be used. ``mode``: of missing directories,
    which are then created. Raises OSError.
    """
    way = _Way(path, check, mode)
    try:
        return way.walk()
    except OSError:
        way.close()
        raise


def check_links(path: str, found: os.stat_result) -> None:
    """Refuse the link of another user, who could let it lead anywhere."""
    if stat.S_ISLNK(found.st_mode) and found.st_uid not in (0, os.geteuid()):
        raise PermissionError(EACCES, f"{clean(path)} is a link of {user_name(found.st_uid)}. Name its target instead")


def check_all(path: str, found: os.stat_result) -> None:
    """Refuse the link of another user, and as root also a directory in which another user can write."""
    check_links(path, found)
    if not stat.S_ISDIR(found.st_mode) or not is_root():
        return
    name = clean(path)
    if found.st_uid != 0:
        raise PermissionError(EACCES, f"{name} belongs to {user_name(found.st_uid)}. {_ROOT_ALONE}")
    others = stat.S_IWOTH | (stat.S_IWGRP if found.st_gid else 0)
    if found.st_mode & others and not found.st_mode & stat.S_ISVTX:  # in /tmp, others cannot replace root's files
        raise PermissionError(EACCES, f"other users can write to {name}. {_ROOT_ALONE}: chmod go-w {name}")


def danger(path: str) -> str:
    """Return why root must not run or load a file, because another user can replace it; empty if not root."""
    if not is_root():
        return ""
    try:
        os.close(walk(path, check_all)[0])
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or str(error)
    return ""


def program(name: str, environment: Mapping[str, str]) -> str | None:
    """Return the path of the first program of this name on PATH; None if there is none.

    Folders that depend on the working directory do not count, nor, for root, a program that another user can replace.
    """
    folders = filter(os.path.isabs, environment.get("PATH", os.defpath).split(os.pathsep))
    path = next((path for folder in folders if os.access(path := f"{folder}/{name}", os.X_OK)), None)
    return None if path is None or danger(path) else path


def is_root() -> bool:
    """Return whether this is root; root of a user namespace with a single user is that user under another number."""
    return os.geteuid() == 0 and not _is_alone()


def user_name(uid: int) -> str:
    """Return the name of a user; the number if it has none."""
    import pwd  # noqa: PLC0415 - only for a message

    try:
        return clean(pwd.getpwuid(uid).pw_name)
    except KeyError:
        return f"user {uid}"


@cache
def _is_alone() -> bool:
    try:
        with open("/proc/self/uid_map", "rb") as opened:
            return opened.read(_MAP_BYTES).split()[2:] == [b"1"]
    except OSError:
        return False


class _Way:
    """An open directory, and the names that are left."""

    def __init__(self, path: str, check: Check, mode: int | None) -> None:
        self._check = check
        self._mode = mode
        self._links = 0
        self._left = _names(path)
        self._start("/" if path.startswith("/") else "")

    def walk(self) -> tuple[int, str]:
        while len(self._left) > 1 or self._is_link(self._left[0]):
            self._step(self._left.pop())
        return self._place, self._left[0]

    def close(self) -> None:
        os.close(self._place)

    def _start(self, path: str) -> None:
        self._at, self._place = path, os.open(path or ".", _ENTRY)

    def _step(self, name: str) -> None:
        path, entry = os.path.join(self._at, name), self._open(name)
        before, target = self._place, None
        try:
            found = os.fstat(entry)
            self._check(path, found)
            if stat.S_ISLNK(found.st_mode):
                target = os.readlink("", dir_fd=entry)
            else:
                self._at, self._place, entry = path, entry, before
        finally:
            os.close(entry)
        if target is not None:
            self._follow(target)

    def _open(self, name: str) -> int:
        try:
            return self._open_directory(name)
        except NotADirectoryError:  # a link
            return os.open(name, _ENTRY, dir_fd=self._place)

    def _open_directory(self, name: str) -> int:
        flags = _ENTRY | os.O_DIRECTORY  # without O_DIRECTORY, autofs would not mount a home
        try:
            return os.open(name, flags, dir_fd=self._place)
        except FileNotFoundError:
            if self._mode is None:
                raise
        with suppress(FileExistsError):
            os.mkdir(name, self._mode, dir_fd=self._place)
        return os.open(name, flags, dir_fd=self._place)

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > _MOST_LINKS:
            raise OSError(ELOOP, os.strerror(ELOOP))
        self._left += _names(target)
        if target.startswith("/"):
            os.close(self._place)
            self._start("/")

    def _is_link(self, name: str) -> bool:
        try:
            return stat.S_ISLNK(os.stat(name, dir_fd=self._place, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return False


def _names(path: str) -> list[str]:
    """Return the names of a path, the last one first."""
    return [name for name in reversed(path.split("/")) if name] or ["."]
