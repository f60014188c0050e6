"""The status of targets, which frames may lack: whether they run, and how they are scheduled."""

from msgspec import Struct


class ProcessStatus(Struct, frozen=True, kw_only=True, gc=False):
    """The status of a target. ``is_running``: None if /proc cannot be read; a zombie does not run.

    ``state``: the letter of /proc/PID/stat. ``nice``, ``io_class``, ``cpus``: of its first thread, worded as in the
    `Result` of a change; None if the kernel does not report them.
    """

    pid: int
    start_ticks: int | None
    is_running: bool | None
    state: str | None = None
    nice: int | None = None
    io_class: str | None = None
    cpus: str | None = None


class ProcessStatuses(Struct, frozen=True, kw_only=True, tag_field="answer", tag="process_statuses"):
    """The answer to `ReadStatus`. ``id``: the sender's; ``statuses``: of each target, in their order."""

    id: str
    statuses: tuple[ProcessStatus, ...]
