"""What can be asked of a sampler: the only ways to change anything. Each is one line of JSON.

A `Change` changes the machine and is answered by an `Outcome` of the same ``id``, which the sender chooses. It acts on
its targets in their order, so a launcher stands before its workers.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from gputop.core.mig.steps import Plan
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import HostProcess, Presence


class Target(ProcessId, frozen=True):
    """A process as it was shown. Anything but ALIVE is refused for that reason."""

    presence: Presence = Presence.ALIVE

    @property
    def id(self) -> ProcessId:
        """Return the identity alone."""
        return ProcessId(self.pid, self.start_ticks)


class IoClass(str, Enum):
    """How the kernel serves disks to a process. NONE: by its nice value; IDLE: when nobody else wants the disk."""

    NONE = "none"
    REALTIME = "realtime"
    BEST_EFFORT = "best-effort"
    IDLE = "idle"


class SetInterval(Struct, frozen=True, tag_field="command", tag="set_interval"):
    """Take a sample every so many seconds from now on."""

    interval_s: float


class ReadNow(Struct, frozen=True, tag_field="command", tag="read_now"):
    """Take a sample at once."""


class Inspect(Struct, frozen=True, kw_only=True, tag_field="command", tag="inspect"):
    """Tell all of a process; answered by an `Inspection` of the same ``id``.

    ``start_ticks``: None means whoever has the pid now. ``reveal``: with the values of secrets in its environment.
    """

    id: str
    pid: int
    start_ticks: int | None = None
    reveal: bool = False


class ReadStatus(Struct, frozen=True, kw_only=True, tag_field="command", tag="read_status"):
    """Tell of several processes whether they still run and how they are scheduled; answered by a `ProcessStatuses`."""

    id: str
    targets: tuple[Target, ...]


class ReadMig(Struct, frozen=True, kw_only=True, tag_field="command", tag="read_mig"):
    """Tell how the GPUs are split with MIG, placements and profiles included; answered by a `MigBox`.

    ``holders_of``: the uuid of a GPU of which it is to be told as well who has it open; that is a walk through all
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
    """Set the nice value of all threads: -20 goes first, 19 last. ``is_relative``: add to what it is."""

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
    """Carry out plans, a GPU each, one after the other; the first that fails is taken back and ends it.

    A plan is refused where its GPU is no longer as it was planned for, or where a process has come to what it destroys;
    ``is_forced``: the driver alone has a say in the latter.
    """

    id: str
    plans: tuple[Plan, ...]
    is_forced: bool = False


ProcessChange: TypeAlias = SendSignal | Renice | SetIoClass | SetAffinity
Change: TypeAlias = ProcessChange | ChangeMig
Question: TypeAlias = Inspect | ReadStatus
Command: TypeAlias = SetInterval | ReadNow | Question | ReadMig | Change


def target(process: HostProcess) -> Target:
    """Return a process as a target: the very process that this row shows, not the next one of its pid."""
    return Target(process.pid, process.start_ticks, process.presence)


def wording(change: Change) -> str:
    """Return what is asked for, in a few words: for questions, outcomes and the audit log."""
    match change:
        case SendSignal(signal=name):
            return name
        case Renice(nice=nice, is_relative=is_relative):
            return f"nice {nice:+d}" if is_relative else f"nice {nice}"
        case SetIoClass(io_class=io_class, level=level):
            return f"I/O class {io_class_text(io_class, level)}"
        case SetAffinity(cpus=cpus):
            return f"CPUs {cpus_text(cpus)}"
        case ChangeMig(plans=plans):
            return f"MIG of {gpus_text(tuple(plan.index for plan in plans))}"


def io_class_text(io_class: IoClass, level: int) -> str:
    """Return ``best-effort 4``; NONE and IDLE have no levels."""
    return f"{io_class.value} {level}" if io_class in (IoClass.REALTIME, IoClass.BEST_EFFORT) else io_class.value


def gpus_text(indices: tuple[int, ...]) -> str:
    """Return ``GPU 0``, ``GPUs 0-3``."""
    return f"GPU{'' if len(indices) == 1 else 's'} {cpus_text(indices)}"


def cpus_text(cpus: tuple[int, ...]) -> str:
    """Return ``0-3,8`` for 0, 1, 2, 3 and 8."""
    spans: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if spans and cpu == spans[-1][1] + 1:
            spans[-1][1] = cpu
        else:
            spans.append([cpu, cpu])
    return ",".join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans)
