"""Backend: one kind of box, as far as monitoring needs it. A snapshot loads no more of it."""

from typing import Final, Protocol

from msgspec import Struct

from gputop.core.monitor import Judging, Source
from gputop.core.query.selection import Selection

USUAL_INTERVAL_S: Final = 1.0


class BackendRequest(Struct, frozen=True, kw_only=True):
    """The box that the user chose, and what of it to read.

    ``demo``: the name of a simulated box. ``source``: NAME[:ARGUMENT] of a plugin's source. Without either: this host.
    ``interval_s``: None means the usual one. ``read_only``: change nothing.
    """

    demo: str | None = None
    source: str | None = None
    selection: Selection = Selection()
    interval_s: float | None = None
    read_only: bool = False


class OpenSource(Source, Protocol):
    """A source whose GPUs are known."""

    def look_again(self, uuid: str) -> None:
        """Read the MIG layout of a GPU again with the next sample, because it has changed."""
        ...

    def want_details(self, for_s: float) -> None:
        """Read the details of the host too, for so long."""
        ...


class Viewer(Struct, frozen=True):
    """The user of the screen. ``name``: None means unknown. ``pid``: of gputop itself, if it runs on the box."""

    name: str | None
    pid: int | None = None


class Backend(Protocol):
    """One kind of box. Its parts open when they are first used.

    All methods raise BadRequestError if the request makes no sense, for example if it names an unknown box.
    """

    notice: str
    """A sentence to print before a change; empty if there is nothing to say."""

    def source(self, *, is_once: bool) -> OpenSource:
        """Return the source of samples. ``is_once``: the user waits for one sample. Raises NoDriverError."""
        ...

    def judge(self, judge: Judging, *, waits: bool) -> Judging:
        """Return the judge with the past of the box, if it has one. ``waits``: until the judge has seen the past."""
        ...

    def viewer(self) -> Viewer:
        """Return the user of the screen."""
        ...
