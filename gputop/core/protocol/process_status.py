"""What is asked of several processes at once, since frames do not tell it: who still runs, and how it is scheduled."""

from msgspec import Struct


class ProcessStatus(Struct, frozen=True, kw_only=True, gc=False):
    """A process that was looked for. ``is_running``: None where /proc does not tell; a zombie lives no more.

    ``state``: the letter of /proc/PID/stat. ``nice``, ``io_class``, ``cpus``: of its first thread, in the words of the
    `Result` of a change; None where the kernel does not tell.
    """

    pid: int
    start_ticks: int | None
    is_running: bool | None
    state: str | None = None
    nice: int | None = None
    io_class: str | None = None
    cpus: str | None = None


class ProcessStatuses(Struct, frozen=True, kw_only=True, tag_field="answer", tag="process_statuses"):
    """The answer to `ReadStatus`. ``id``: the sender's; ``seen``: a look at each target, in their order."""

    id: str
    statuses: tuple[ProcessStatus, ...]
