"""Commands to a sampler, each one line of JSON.

A `Change` changes the machine, and nothing else does. Its answer is an `Outcome` with the same ``id``, which the sender
chooses. It acts on its targets in their order: a launcher comes before its workers.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from gputop.core.insight.member import Member
from gputop.core.mig.steps import Plan
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import HostProcess, Presence
from gputop.core.text.ranges import ranges


class Target(ProcessId, frozen=True):
    """The process that a change is for, as the screen showed it. Only ALIVE ones are accepted."""

    presence: Presence = Presence.ALIVE

    @property
    def id(self) -> ProcessId:
        """Return the identity alone."""
        return ProcessId(self.pid, self.start_ticks)


class IoClass(str, Enum):
    """How the kernel serves disks to a process. NONE: by its nice value; IDLE: while no other process uses the disk."""

    NONE = "none"
    REALTIME = "realtime"
    BEST_EFFORT = "best-effort"
    IDLE = "idle"


class SetInterval(Struct, frozen=True, tag_field="command", tag="set_interval"):
    """Take a sample every so many seconds from now on."""

    interval_s: float


class WatchHost(Struct, frozen=True, tag_field="command", tag="watch_host"):
    """Read the details of the host too, for so many seconds; the sender repeats it as long as it shows them."""

    for_s: float


class ReadNow(Struct, frozen=True, tag_field="command", tag="read_now"):
    """Take a sample at once."""


class Beat(Struct, frozen=True, kw_only=True, tag_field="command", tag="beat"):
    """Report to a remote sampler that this side listens; the answer is an `Echo`.

    ``frames``: how many were read since the greeting; ``sent_s``: the time, by any clock of the sender.
    """

    frames: int
    sent_s: float


class Inspect(Struct, frozen=True, kw_only=True, tag_field="command", tag="inspect"):
    """Read everything about a process; the answer is an `Inspection` with the same ``id``.

    ``start_ticks``: None means the present process of the pid. ``reveal``: include the secrets of its environment and
    command line.
    """

    id: str
    pid: int
    start_ticks: int | None = None
    reveal: bool = False


class Explain(Struct, frozen=True, kw_only=True, tag_field="command", tag="explain"):
    """Ask all sources where processes hang; the answers are `Explanation`s with the same ``id``, the last is complete.

    ``native``: include the frames of C and C++. ``since_s``: when they ceased to make progress, seconds since the
    epoch, if a finding says so.
    """

    id: str
    members: tuple[Member, ...]
    native: bool = False
    since_s: float | None = None


class ReadStatus(Struct, frozen=True, kw_only=True, tag_field="command", tag="read_status"):
    """Read whether targets still run and how they are scheduled; the answer is a `ProcessStatuses`."""

    id: str
    targets: tuple[Target, ...]


class ReadMig(Struct, frozen=True, kw_only=True, tag_field="command", tag="read_mig"):
    """Read the MIG layout of the GPUs, with placements and profiles; the answer is a `MigBox`.

    ``holders_of``: uuid of a GPU; the answer then lists the processes that have it open, from a walk over all
    processes.
    """

    id: str
    holders_of: str = ""


class SendSignal(Struct, frozen=True, kw_only=True, tag_field="command", tag="send_signal"):
    """Send a signal, by its name (`core.signals`): numbers differ between machine types."""

    id: str
    signal: str
    targets: tuple[Target, ...]


class Renice(Struct, frozen=True, kw_only=True, tag_field="command", tag="renice"):
    """Set the nice value of all threads: -20 goes first, 19 last. ``is_relative``: add to the present value."""

    id: str
    nice: int
    is_relative: bool = False
    targets: tuple[Target, ...]


class SetIoClass(Struct, frozen=True, kw_only=True, tag_field="command", tag="set_io_class"):
    """Set the I/O class of all threads. ``level``: 0 goes first, 7 last; only in REALTIME and BEST_EFFORT."""

    id: str
    io_class: IoClass
    level: int = 4
    targets: tuple[Target, ...]


class SetAffinity(Struct, frozen=True, kw_only=True, tag_field="command", tag="set_affinity"):
    """Set the CPUs that all threads may run on; threads that chose their own lose them."""

    id: str
    cpus: tuple[int, ...]
    targets: tuple[Target, ...]


class ChangeMig(Struct, frozen=True, kw_only=True, tag_field="command", tag="change_mig"):
    """Carry out plans, one per GPU, in order; the first that fails is rolled back, and the rest is skipped.

    A plan is refused if the layout of its GPU has changed since, or if a process uses an instance that it destroys;
    ``is_forced``: only the driver decides about the latter.
    """

    id: str
    plans: tuple[Plan, ...]
    is_forced: bool = False


ProcessChange: TypeAlias = SendSignal | Renice | SetIoClass | SetAffinity
Change: TypeAlias = ProcessChange | ChangeMig
Question: TypeAlias = Inspect | Explain | ReadStatus
Command: TypeAlias = SetInterval | WatchHost | ReadNow | Beat | Question | ReadMig | Change


def target(process: HostProcess) -> Target:
    """Return a process as a target: this process, not a later one of its pid."""
    return Target(process.pid, process.start_ticks, process.presence)


def wording(change: Change) -> str:
    """Return a change in a few words, for dialogs, outcomes and the audit log."""
    match change:
        case SendSignal(signal=name):
            return name
        case Renice(nice=nice, is_relative=is_relative):
            return f"nice {nice:+d}" if is_relative else f"nice {nice}"
        case SetIoClass(io_class=io_class, level=level):
            return f"I/O class {io_class_text(io_class, level)}"
        case SetAffinity(cpus=cpus):
            return f"CPUs {ranges(cpus)}"
        case ChangeMig(plans=plans):
            return f"MIG of {gpus_text(tuple(plan.index for plan in plans))}"


def io_class_text(io_class: IoClass, level: int) -> str:
    """Return ``best-effort 4``; NONE and IDLE have no levels."""
    return f"{io_class.value} {level}" if io_class in (IoClass.REALTIME, IoClass.BEST_EFFORT) else io_class.value


def gpus_text(indices: tuple[int, ...]) -> str:
    """Return ``GPU 0``, ``GPUs 0-3``."""
    return f"GPU{'' if len(indices) == 1 else 's'} {ranges(indices)}"
