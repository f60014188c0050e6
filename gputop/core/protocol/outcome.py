"""Outcomes of changes, process by process. A failure says what the user can do."""

from collections.abc import Iterator
from enum import Enum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from gputop.core.protocol.command import Change, ChangeMig, wording


class Status(str, Enum):
    """The status of a change for one target. Only DONE is a success.

    GONE: the target had exited, and nothing was changed. REFUSED: gputop does not do it. FAILED: the kernel or the
    driver did not, for another reason than missing permission. SURVIVED: it got the signal, and still runs.
    PENDING: the driver accepted it, and it takes effect at a reset of the GPU.
    """

    DONE = "done"
    NOT_PERMITTED = "not_permitted"
    GONE = "gone"
    REFUSED = "refused"
    FAILED = "failed"
    SURVIVED = "survived"
    PENDING = "pending"

    @property
    def text(self) -> str:
        """The status in words."""
        return self.value.replace("_", " ")


class Result(Struct, frozen=True, kw_only=True):
    """The result of a change for one process, or for one GPU: then ``gpu`` is its index, and ``pid`` has no meaning.

    ``detail``: what happened, beyond the status. ``remedy``: what the user can do. ``before`` and ``after``: the
    changed value; signals have none.
    """

    pid: int = 0
    start_ticks: int | None = None
    gpu: int | None = None
    status: Status
    detail: str = ""
    remedy: str = ""
    before: str | None = None
    after: str | None = None

    @property
    def subject(self) -> str:
        """Return ``4711``, ``GPU 0``."""
        return str(self.pid) if self.gpu is None else f"GPU {self.gpu}"

    @property
    def text(self) -> str:
        """Return a line for people, without its subject."""
        became = "" if self.after is None else f": {self.before} → {self.after}"
        parts = (f"{self.status.text}{became}", self.detail and f": {self.detail}", self.remedy and f". {self.remedy}")
        return "".join(parts)


class Outcome(Struct, frozen=True, kw_only=True, tag_field="answer", tag="outcome"):
    """The answer to a change. ``id``: the sender's. ``note``: about the whole change, such as a full audit log."""

    id: str
    what: str
    results: tuple[Result, ...]
    note: str = ""

    @property
    def worked(self) -> int:
        """The number of processes for which it worked."""
        return sum(result.status is Status.DONE for result in self.results)

    @property
    def all_worked(self) -> bool:
        """Whether it worked for every process, and for at least one."""
        return 0 < len(self.results) == self.worked

    @property
    def none_worked(self) -> bool:
        """Whether it worked for no process."""
        return self.worked == 0

    @property
    def failures(self) -> tuple[Result, ...]:
        """The results of processes for which it did not work."""
        return tuple(result for result in self.results if result.status is not Status.DONE)

    @property
    def summary(self) -> str:
        """Return ``SIGTERM: 1 not permitted, 3 done``: failures first."""
        return f"{self.what}: {', '.join(self._counts()) or 'nothing'}"

    def _counts(self) -> Iterator[str]:
        for status in _GRAVEST_FIRST:
            count = sum(result.status is status for result in self.results)
            if count:
                yield f"{count} {status.text}"


_GRAVEST_FIRST: Final = (
    Status.FAILED, Status.NOT_PERMITTED, Status.REFUSED, Status.SURVIVED, Status.PENDING, Status.GONE,
    Status.DONE,
)  # fmt: skip


def unanimous(change: Change, result: Result) -> Outcome:
    """Return an outcome with the same result for all targets."""
    if isinstance(change, ChangeMig):
        of_gpus = tuple(replace(result, gpu=plan.index) for plan in change.plans)
        return Outcome(id=change.id, what=wording(change), results=of_gpus)
    results = tuple(replace(result, pid=target.pid, start_ticks=target.start_ticks) for target in change.targets)
    return Outcome(id=change.id, what=wording(change), results=results)


def refused(change: Change, detail: str, remedy: str = "") -> Outcome:
    """Return the outcome of a change that gputop refuses as a whole."""
    return unanimous(change, Result(pid=0, status=Status.REFUSED, detail=detail, remedy=remedy))


def unanswered(change: Change, detail: str, remedy: str) -> Outcome:
    """Return the outcome of a change that no sampler answered."""
    return unanimous(change, Result(pid=0, status=Status.FAILED, detail=detail, remedy=remedy))
