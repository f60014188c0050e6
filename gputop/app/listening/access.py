"""The access that the web configuration describes now: its files are read again when they change, without a restart."""

import os
from typing import TypeAlias

from gputop.app.errors import BadRequestError
from gputop.app.listening.web_config import Access, access_of
from gputop.app.terminal import warn
from gputop.core.text.text import clean

_Mark: TypeAlias = "tuple[int, int, int, int] | None"


class CurrentAccess:
    """The access by the files as they are; by their last right content while they are wrong. Raises BadRequestError.

    ``problem``: the mistake in the present files; empty without one.
    """

    def __init__(self, path: str | None) -> None:
        self.problem = ""
        self._path = path
        self._access = access_of(path)
        self._marks = self._now()
        self._reread(self._marks)  # a file may have changed before its mark was taken

    def latest(self) -> Access:
        """Return the access; this costs a look at each file."""
        marks = self._now()
        if marks != self._marks:
            self._reread(marks)
        return self._access

    def _now(self) -> tuple[_Mark, ...]:
        return tuple(_mark(file) for file in self._access.files)

    def _reread(self, marks: tuple[_Mark, ...]) -> None:
        self._marks = marks
        try:
            access = access_of(self._path)
        except BadRequestError as error:
            self.problem = str(error)
            warn(clean(f"{error}. The last right web configuration stays in use"))
            return
        files = self._access.files
        self._access.close()
        self._access = access
        self.problem = ""
        if access.files != files:
            self._reread(self._now())


def _mark(file: str) -> _Mark:
    """Return what changes with a file; None if it is absent."""
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
