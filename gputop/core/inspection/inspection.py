"""The details of one process from /proc, read on demand."""

from msgspec import Struct

from gputop.core.model.owner import Owner
from gputop.core.model.progress import Progress
from gputop.core.model.sample import GpuProcess, Reasons


class Variable(Struct, frozen=True):
    """An environment variable at the program's start. ``value``: None for a masked secret."""

    name: str
    value: str | None
    is_secret: bool = False


class Thread(Struct, frozen=True):
    """A thread. ``cpu_s``: user and system time since its start."""

    tid: int
    name: str
    state: str
    cpu_s: float


class OpenFile(Struct, frozen=True):
    """An open file: its descriptor and its target."""

    descriptor: int
    target: str


class Ancestor(Struct, frozen=True):
    """An ancestor of the process."""

    pid: int
    name: str


class Limit(Struct, frozen=True):
    """A resource limit; None is unlimited. The process may raise the soft one up to the hard one."""

    name: str
    soft: int | None
    hard: int | None


class Mapping(Struct, frozen=True):
    """A mapped file with its address space in bytes; the kernel reports the part in RAM only slowly."""

    path: str
    size_bytes: int


class Transfers(Struct, frozen=True, kw_only=True):
    """Bytes since the process started. ``read_bytes``, ``written_bytes``: through system calls.

    ``storage_…``: from and to disks; network file systems may not count.
    """

    read_bytes: int
    written_bytes: int
    storage_read_bytes: int
    storage_written_bytes: int


class MemoryParts(Struct, frozen=True, kw_only=True):
    """The parts of the resident memory in bytes. ``anonymous``: heaps and stacks; ``file``: mapped files."""

    resident_bytes: int
    anonymous_bytes: int
    file_bytes: int
    shared_bytes: int
    swapped_bytes: int


class MemoryShares(Struct, frozen=True, kw_only=True):
    """Memory of the process alone. ``uss``: what its end would free; ``pss``: with its share of what others map too."""

    uss_bytes: int
    pss_bytes: int
    swap_bytes: int


class Socket(Struct, frozen=True, kw_only=True):
    """An Internet socket. ``local``, ``remote``: address and port, or empty. ``state``: of TCP, in words."""

    protocol: str
    local: str
    remote: str
    state: str


class Inspection(Struct, frozen=True, kw_only=True, tag_field="answer", tag="inspection"):
    """The answer to `Inspect`. ``id``: the sender's; ``time_s``: when it was read, seconds since the epoch.

    ``problem``: why nothing at all is known; ``has_ended``: the process that was meant is no more. A part that could
    not be read is None or empty, and ``missing`` has the reason under its name: command, directory, executable,
    environment, cgroup, files, threads, switches, transfers, memory, mappings, limits, sockets, shares. ``shortened``:
    the parts that hold only the first of what there is; ``open_files`` and ``thread_count`` count all. All text is
    cleaned.

    ``gpus``: what it uses of them, with ``gpu_notes`` for people on what is not known of that. ``progress``: its last
    report. Only `gputop inspect` fills these in: who reads frames as well has them from there.
    """

    id: str
    pid: int
    start_ticks: int | None = None
    time_s: float = 0.0
    problem: str = ""
    has_ended: bool = False
    name: str = ""
    state: str = ""
    user: str | None = None
    started_s: float | None = None
    command: tuple[str, ...] = ()
    directory: str | None = None
    executable: str | None = None
    environment: tuple[Variable, ...] = ()
    cgroup: tuple[str, ...] = ()
    owner: Owner = Owner()
    devices: tuple[OpenFile, ...] = ()
    files: tuple[OpenFile, ...] = ()
    open_files: int | None = None
    threads: tuple[Thread, ...] = ()
    thread_count: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    transfers: Transfers | None = None
    memory: MemoryParts | None = None
    mappings: tuple[Mapping, ...] = ()
    limits: tuple[Limit, ...] = ()
    sockets: tuple[Socket, ...] = ()
    shares: MemoryShares | None = None
    ancestors: tuple[Ancestor, ...] = ()
    gpus: tuple[GpuProcess, ...] = ()
    gpu_notes: tuple[str, ...] = ()
    progress: Progress | None = None
    missing: Reasons = {}
    shortened: tuple[str, ...] = ()
