"""Backend of this host."""

import os
from typing import Protocol

from gputop.app.backend.backend import USUAL_INTERVAL_S, BackendRequest, OpenSource, Viewer
from gputop.app.errors import BadRequestError
from gputop.core.monitor import Judging


class RealBackend:
    """This host: its driver, /proc and kernel."""

    notice = ""

    def __init__(self, request: BackendRequest) -> None:
        self._request = request

    def source(self, *, is_once: bool) -> OpenSource:
        """Return the source of samples."""
        from gputop.machine.build import build

        request = self._request
        return opened(build(request.selection, request.interval_s or USUAL_INTERVAL_S, is_once=is_once))

    def judge(self, judge: Judging, *, waits: bool) -> Judging:
        """Return the judge, without a history of this host."""
        del waits
        return judge

    def viewer(self) -> Viewer:
        """Return the user who runs gputop."""
        return Viewer(own_user(), os.getpid())


class _Closed(OpenSource, Protocol):
    """A source before it has found its GPUs."""

    def open(self) -> None: ...


def opened(source: _Closed) -> OpenSource:
    """Return the source after it has found its GPUs. Raises NoDriverError."""
    try:
        source.open()
    except ValueError as error:
        raise BadRequestError(str(error)) from None
    return source


def own_user() -> str | None:
    """Return the name of the user whose rights gputop has."""
    uid, name = os.geteuid(), os.environ.get("USER")
    if uid == 0:
        return "root"
    return name if name not in (None, "", "root") else _name_of(uid)


def _name_of(uid: int) -> str:
    """Return the name of a user, which may be slow: call it only if the environment cannot be right."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
