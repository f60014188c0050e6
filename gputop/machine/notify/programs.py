"""Programs that deliver a notification: started without a shell, with a deadline, as the user of gputop."""

import os
import signal
import stat
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Final

from gputop.core.text.text import excerpt
from gputop.machine.files.walk import check_all, is_root, walk

DEADLINE_S: Final = 10.0


class Programs:
    """Runs programs. ``environment``: of gputop, which they inherit; ``deadline_s``: after it a program is killed."""

    def __init__(self, environment: Mapping[str, str], deadline_s: float = DEADLINE_S) -> None:
        self._environment = environment
        self._deadline_s = deadline_s
        self._starting = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def run(self, words: Sequence[str], more: Mapping[str, str], content: bytes) -> str:
        """Run a program and wait for its end; return why it failed, or an empty text.

        ``more``: further variables; ``content``: its stdin, a file in memory, so that nothing waits for its reader.
        """
        try:
            path = self._found(words[0])
            with open(os.memfd_create("notification"), "w+b", buffering=0) as stdin:
                stdin.write(content)
                stdin.seek(0)
                with self._starting:
                    child = subprocess.Popen(
                        words, executable=path, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                        env={**self._environment, **more}, start_new_session=True,
                    )  # fmt: skip
                    self._running.add(child)
        except (OSError, ValueError) as error:
            return f"cannot run {excerpt(words[0])}: {getattr(error, 'strerror', None) or error}"
        return self._ended(child, words[0])

    def close(self) -> None:
        """Kill the programs that still run."""
        with self._starting:  # a program is started and noted at one stroke
            for child in tuple(self._running):
                _kill(child)

    def _ended(self, child: "subprocess.Popen[bytes]", name: str) -> str:
        try:
            status = child.wait(self._deadline_s)
        except subprocess.TimeoutExpired:
            _kill(child)
            child.wait()
            return f"{excerpt(name)} did not end within {self._deadline_s:g} s, so gputop killed it"
        finally:
            self._running.discard(child)
        return f"{excerpt(name)} ended with status {status}" if status else ""

    def _found(self, name: str) -> str:
        """Return the path of a program. Raises OSError, as root also for one that another user can replace."""
        folders = [""] if name.startswith("/") else self._environment.get("PATH", os.defpath).split(os.pathsep)
        if "/" in name and not name.startswith("/"):
            raise ValueError("write its full path, or a name that is on PATH")
        paths = [f"{folder}/{name}" if folder else name for folder in folders if folder.startswith("/") or "/" in name]
        path = next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)
        if path is None:
            raise ValueError("no such program")
        if is_root():
            _check(path)
        return path


def _check(path: str) -> None:
    """Refuse a program that another user can replace or change. Raises OSError."""
    place, name = walk(path, check_all)
    try:
        found = os.stat(name, dir_fd=place, follow_symlinks=False)
    finally:
        os.close(place)
    others = stat.S_IWOTH | (stat.S_IWGRP if found.st_gid else 0)
    if found.st_uid != 0 or found.st_mode & others:
        raise PermissionError(None, "other users can change it. As root, gputop runs only programs of root")


def _kill(child: "subprocess.Popen[bytes]") -> None:
    """Kill a program and its group, unless it has exited: until then the number of the group is its own."""
    if child.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
