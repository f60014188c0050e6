"""The plan of a simulated box, as values: its GPUs, their instances, and its processes."""

from msgspec import Struct

from gputop.simulator.boards import Board
from gputop.simulator.curve import Curve
from gputop.simulator.load import Activity


class Outage(Struct, frozen=True):
    """A repeated event, in seconds since the simulation began."""

    first_s: float
    length_s: float
    period_s: float

    def left(self, time_s: float) -> float:
        """Return the remaining seconds; 0 outside of it."""
        if time_s < self.first_s:
            return 0.0
        return max(0.0, self.length_s - (time_s - self.first_s) % self.period_s)

    def next_start(self, time_s: float) -> float:
        """Return its next start after ``time_s``."""
        if time_s < self.first_s:
            return self.first_s
        return time_s + self.period_s - (time_s - self.first_s) % self.period_s


class Health(Struct, frozen=True, kw_only=True):
    """Error counters of a board. ``ecc``: by (error type, counter type), 0 corrected or volatile, 1 the other."""

    ecc: dict[tuple[int, int], int] = {}
    remapped: tuple[int, int, int, int] = (0, 0, 0, 0)
    pcie_replays: int = 0
    nvlink_replays: int = 0
    links_down: frozenset[int] = frozenset()
    recovery_action: int = 0


class Fault(Struct, frozen=True):
    """An Xid that the driver reports repeatedly. ``when``: its starts count."""

    xid: int
    when: Outage


class InstancePlan(Struct, frozen=True, kw_only=True):
    """A MIG device: a compute instance of a GPU instance. ``slot``: its index among the MIG devices, gaps allowed."""

    slot: int
    gpu_instance: int
    profile: str
    start: int = 0  # its first memory slot
    compute_instance: int = 0
    compute_profile: str = ""  # as 2c.4g.40gb, if it is not the whole GPU instance


class GpuPlan(Struct, frozen=True, kw_only=True):
    """A GPU. ``limit_w`` None: the default. ``warmer_c``: from its place in the chassis. ``pcie_width``: of 16 lanes.

    ``unowned``: memory in bytes that no listed process uses.
    """

    board: Board
    bus: int
    limit_w: float | None = None
    warmer_c: float = 0.0
    instances: tuple[InstancePlan, ...] = ()
    health: Health = Health()
    lost: Outage | None = None
    hung: Outage | None = None
    faults: tuple[Fault, ...] = ()
    pcie_width: int = 16
    unowned: Curve = Curve()


class Use(Struct, frozen=True, kw_only=True):
    """The use of one GPU by a process. ``memory``: bytes. ``type``: C, G, C+G or M."""

    gpu: int
    memory: Curve
    activity: Activity
    type: str = "C"
    gpu_instance: int | None = None
    compute_instance: int | None = None


class ThreadPlan(Struct, frozen=True, kw_only=True):
    """``count`` threads with one name, each with this CPU use in cores, a part of it in the kernel."""

    cpu: Curve
    name: str = ""
    count: int = 1
    in_kernel: float = 0.08


class Steps(Struct, frozen=True, kw_only=True):
    """The progress that a job reports. ``began_s``, ``stops_s``: seconds since the simulation began.

    ``loss``: at the start; it falls with the steps. ``cached_bytes``: what PyTorch holds beyond its tensors; None if
    the job does not report its memory.
    """

    total: int
    per_s: float
    began_s: float
    stops_s: float | None = None
    loss: float = 4.0
    cached_bytes: float | None = None


class ProcessPlan(Struct, frozen=True, kw_only=True):
    """A process. ``age_s``: its age when the simulation begins. ``memory``: resident bytes.

    ``ends_s``: when it exits, if it does so before the simulation begins: -400 is 400 s before.
    """

    pid: int
    command: tuple[str, ...]
    uid: int
    age_s: float
    parent: int = 1
    name: str = ""
    threads: tuple[ThreadPlan, ...] = (ThreadPlan(cpu=Curve()),)
    memory: Curve = Curve(20e6)
    cgroup: str = "/"
    environ: dict[str, str] = {}
    nice: int = 0
    state: str = ""
    terminal: int = 0
    inner_pid: int | None = None
    uses: tuple[Use, ...] = ()
    ends_s: float | None = None
    steps: Steps | None = None
    is_gone: bool = False  # the driver still lists it, /proc does not


class BoxPlan(Struct, frozen=True, kw_only=True):
    """A box. ``background``: other CPU use, in cores. ``outdated``: functions that its driver lacks.

    ``log``: of the kernel, each line with its age in seconds when the simulation begins.
    """

    host: str
    driver: str
    cuda: int
    gpus: tuple[GpuPlan, ...]
    processes: tuple[ProcessPlan, ...]
    users: dict[int, str]
    viewer: int
    cores: int
    memory_bytes: int
    swap_bytes: int = 0
    uptime_s: float = 1_000_000.0
    background: Curve = Curve(0.6)
    outdated: frozenset[str] = frozenset()
    kernel: str = "6.8.0-58-generic"
    log: tuple[tuple[float, str], ...] = ()
