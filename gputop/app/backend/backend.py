"""Backend: one kind of box, as monitoring needs it. A snapshot loads no more of it."""

import os
from typing import Final, Protocol

from msgspec import Struct

from gputop.core.monitor import Judging, Source
from gputop.core.query.selection import Selection

_USUAL_INTERVAL_S: Final = 1.0


class BackendRequest(Struct, frozen=True, kw_only=True):
    """The chosen box, and the part of it to read.

    ``demo``: the name of a simulated box. ``source``: NAME[:ARGUMENT] of a plugin's source. Without either: this host.
    ``interval_s``: None means the usual one. ``where``: filters of processes that must all match.
    ``has_host_details``: with network, disks, sensors and users of the host in every frame. ``read_only``: change
    nothing. ``reveal``: show secrets in command lines.
    """

    demo: str | None = None
    source: str | None = None
    selection: Selection = Selection()
    interval_s: float | None = None
    where: tuple[str, ...] = ()
    has_host_details: bool = False
    read_only: bool = False
    reveal: bool = False

    @property
    def every_s(self) -> float:
        """Return the interval between samples."""
        return self.interval_s or _USUAL_INTERVAL_S

    @property
    def has_all_processes(self) -> bool:
        """Return whether frames contain all processes on the GPUs."""
        return self.selection == Selection(gpus=self.selection.gpus) and not self.where


class OpenSource(Source, Protocol):
    """A source whose GPUs are known."""

    def refresh_layout(self, uuid: str) -> None:
        """Read the MIG layout of a GPU again with the next sample, because it was changed."""
        ...

    def want_details(self, for_s: float) -> None:
        """Also read the details of the host, for this long."""
        ...


class Viewer(Struct, frozen=True):
    """The user of the screen. ``name``: None means unknown. ``pid``: of gputop itself, if it runs on the box."""

    name: str | None
    pid: int | None = None


class Backend(Protocol):
    """One kind of box. Its parts open when they are first used.

    All methods raise BadRequestError for an invalid request, such as an unknown box.
    """

    notice: str = ""
    """A sentence to print before a change, or an empty text."""

    def source(self, *, is_once: bool) -> OpenSource:
        """Return the source of samples. ``is_once``: the user waits for a single sample. Raises NoDriverError."""
        ...

    def judge(self, judge: Judging, *, waits: bool) -> Judging:
        """Return the judge with the past of the box, if it has one. ``waits``: until the judge has seen the past."""
        del waits
        return judge

    def viewer(self) -> Viewer:
        """Return the user of the screen: the one who runs gputop."""
        return Viewer(own_user())


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
