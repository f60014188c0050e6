"""The audit log: a line of JSON before and after each change of a process or a GPU."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import Encoder

from gputop.core.mig.steps import Plan
from gputop.core.protocol.command import Change, wording
from gputop.core.protocol.outcome import Result, Status
from gputop.core.text.text import clean
from gputop.machine.control.handle import TargetHandle
from gputop.machine.control.rotating_log import open_bounded
from gputop.machine.files.places import state_directory

_NAME: Final = "audit.jsonl"


class Line(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line about a process or a GPU. ``by``: the user of gputop; ``sudo_user``: the caller of sudo.

    ``ssh``: addresses and ports of the ssh connection that gputop runs in, the client's first.
    ``status``: of an outcome; ``steps``: of the plan.
    """

    time: str
    event: str
    id: str
    by: str
    sudo_user: str = ""
    ssh: str = ""
    what: str
    status: Status | None = None
    detail: str = ""
    before: str | None = None
    after: str | None = None
    pid: int | UnsetType = UNSET
    start_ticks: int | UnsetType | None = UNSET
    owner: str = ""
    command: str = ""
    gpu: str | UnsetType = UNSET
    index: int | UnsetType = UNSET
    steps: tuple[str, ...] = ()


class Audit:
    """Writes to ``audit.jsonl`` in a directory; ``audit.old.jsonl`` has the older lines.

    A problem is kept until `end`, since it must not stop a change.
    """

    def __init__(
        self,
        directory: str,
        by: str,
        sudo_user: str = "",
        *,
        ssh: str = "",
        clock: Callable[[], float] = time.time,
        opener: Callable[[str, str], int] = open_bounded,
    ) -> None:
        self._directory = directory
        self._by = by
        self._sudo_user = clean(sudo_user)
        self._ssh = clean(ssh)
        self._clock = clock
        self._opener = opener
        self._encoder = Encoder()
        self._file: int | None = None
        self._problem = ""
        self._id = self._what = ""

    def begin(self, change: Change) -> None:
        """Begin a change: open the log again, so that it may be moved between changes."""
        self.begin_other(change.id, wording(change))

    def begin_other(self, id_: str, what: str) -> None:
        """Begin something that is not a `Change`, but reaches a process all the same."""
        self._id, self._what = clean(id_), what
        self._problem = ""
        try:
            self._file = self._opener(self._directory, _NAME)
        except OSError as error:
            self._complain(error)

    def intend(self, handle: TargetHandle, what: str = "") -> None:
        """Write the change and its target, before it happens. ``what``: a part of the change."""
        target = handle.target
        self._write(
            "intent", what=what, pid=target.pid, start_ticks=target.start_ticks, owner=handle.user,
            command=handle.command,
        )  # fmt: skip

    def conclude(self, result: Result, handle: TargetHandle | None, what: str = "") -> None:
        """Write the result of the change, or of a part of it. Without a handle nothing was done."""
        who = {"owner": handle.user, "command": handle.command} if handle else {}
        self._write("outcome", result, what=what, pid=result.pid, start_ticks=result.start_ticks, **who)

    def intend_plan(self, plan: Plan) -> None:
        """Write a plan, before it is carried out."""
        steps = tuple(step.text for step in plan.steps)
        self._write("intent", gpu=clean(plan.gpu), index=plan.index, steps=steps)

    def conclude_plan(self, plan: Plan, result: Result) -> None:
        """Write the result of a plan."""
        self._write("outcome", result, gpu=clean(plan.gpu), index=plan.index)

    def end(self) -> str:
        """End the change; return why the log is incomplete, or an empty text."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
        return self._problem

    def _write(self, event: str, result: Result | None = None, *, what: str = "", **about: Any) -> None:
        if self._file is None:
            return
        if result:
            about |= {name: getattr(result, name) for name in ("status", "detail", "before", "after")}
        line = Line(
            time=_iso(self._clock()), event=event, id=self._id, by=self._by, sudo_user=self._sudo_user, ssh=self._ssh,
            what=what or self._what, **about,
        )  # fmt: skip
        raw = self._encoder.encode(line) + b"\n"
        try:
            _end_cut_line(self._file)
            if os.write(self._file, raw) < len(raw):
                self._complain(OSError(None, "a line was cut off"))
        except OSError as error:
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        self._problem = f"The audit log {self._directory}/{_NAME} is not complete: {error.strerror or error}."


def _end_cut_line(file: int) -> None:
    """End the last line if the disk was full in the middle of it. Raises OSError."""
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":
        os.write(file, b"\n")


def audit_of_this_user(user: str, environment: Mapping[str, str]) -> Audit:
    """Return the audit log of a user, in the state directory."""
    caller, connection = environment.get("SUDO_USER", ""), environment.get("SSH_CONNECTION", "")
    return Audit(state_directory(environment), user, caller, ssh=connection)


def _iso(seconds: float) -> str:
    """Return 2027-01-15T08:00:00.000Z."""
    milliseconds = int(seconds * 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03d}Z"
