"""The sample: the readings of the machine at one instant, in the shape of gputop's JSON.

Base units everywhere: bytes, watts, °C, seconds, hertz, percent 0-100. A value that could not be read is None, and
``missing`` names the reason under the same key. The garbage collector does not track numerous structs (``gc=False``):
they contain values only, so they form no cycles.
"""

from enum import Enum
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct

from gputop.core.model.finding import Finding
from gputop.core.model.metric import Metric, Missing
from gputop.core.model.owner import Owner
from gputop.core.model.process_id import ProcessId
from gputop.core.model.progress import Progress

T = TypeVar("T")

MetricValue: TypeAlias = bool | int | float | str | tuple[str, ...] | None
Reasons: TypeAlias = dict[str, Missing]

SCHEMA_VERSION = 1


class GpuState(str, Enum):
    """Whether a GPU answers."""

    OK = "ok"
    LOST = "lost"
    HUNG = "hung"


class Presence(str, Enum):
    """The state of a pid that the driver lists, according to /proc."""

    ALIVE = "alive"
    GONE = "gone"
    HIDDEN = "hidden"
    REUSED = "reused"

    @property
    def text(self) -> str:
        """Return the text that replaces the command line."""
        return _PRESENCE[self]


_PRESENCE = {
    Presence.ALIVE: "",
    Presence.GONE: "exited; the driver still lists it",
    Presence.HIDDEN: "not visible from here: another PID namespace, or hidepid",
    Presence.REUSED: "this pid now belongs to a process that does not use the GPU",
}


class Readings(Struct, frozen=True, kw_only=True):
    """Values by metric. ``readings[POWER]`` is a value or None; then ``readings.why(POWER)`` is the reason."""

    metrics: dict[str, MetricValue] = {}
    missing: Reasons = {}

    def __getitem__(self, metric: Metric[T]) -> T | None:
        """Return the value; None if it is missing."""
        return self.metrics.get(metric.key)  # type: ignore[return-value]  # a cast costs as much as the rest

    def why(self, metric: Metric[Any]) -> Missing | None:
        """Return why the value is missing; None if it is present."""
        if self.metrics.get(metric.key) is not None:
            return None
        return self.missing.get(metric.key, Missing.NOT_YET)


class ComputeInstance(Struct, frozen=True, kw_only=True, gc=False):
    """A compute instance, which CUDA_VISIBLE_DEVICES can name. ``uuid``: of its MIG device."""

    id: int
    uuid: str
    name: str
    multiprocessors: int | None = None


class GpuInstance(Readings, frozen=True, kw_only=True):
    """A GPU instance of a GPU in MIG mode, with memory and GPM metrics of its own."""

    id: int
    profile: str
    compute_instances: tuple[ComputeInstance, ...] = ()


class XidEvent(Struct, frozen=True, kw_only=True, gc=False):
    """An error that the driver reported while gputop ran. ``time_s``: seconds since the epoch."""

    time_s: float
    xid: int


class Gpu(Readings, frozen=True, kw_only=True):
    """The identity and the readings of a GPU.

    ``read_s``: time of its last answer, seconds since the epoch; None before the first. While ``state`` is not OK,
    every metric is missing.
    """

    index: int
    uuid: str
    name: str
    bus_id: str
    state: GpuState = GpuState.OK
    read_s: float | None = None
    instances: tuple[GpuInstance, ...] = ()
    xids: tuple[XidEvent, ...] = ()

    def part(self, instance: int | None) -> Readings | None:
        """Return the instance with an id, if the GPU has it; the GPU itself for None."""
        return self if instance is None else next((one for one in self.instances if one.id == instance), None)


def _readings_of(struct: type[Struct], *others: str) -> tuple[str, ...]:
    """Return the fields with a reading or None; ``others`` are optional fields that are not readings."""
    fields = zip(reversed(struct.__struct_fields__), reversed(struct.__struct_defaults__), strict=False)
    return tuple(name for name, default in fields if default is None and name not in others)[::-1]


class GpuProcess(Struct, frozen=True, kw_only=True, gc=False):
    """A process on one GPU.

    ``gpu``: the UUID of the GPU, which is permanent; ``gpu_index``: its present number, which tables show under GPU.
    Both are those of the whole GPU, even if the process runs on a MIG instance; ``gpu_instance`` names that instance.
    ``type``: C compute, G graphics, C+G both, M a client of MPS. Utilizations are means over ``window_s`` seconds: the
    driver charges each of its about 7 samples a second to one process. ``gpu_seconds`` and ``energy_j`` are sums since
    gputop first saw the process: the time in which its kernels ran, and its estimated share of the energy above idle.
    """

    gpu: str
    gpu_index: int
    type: str
    memory_bytes: int | None = None
    gpu_instance: int | None = None
    compute_instance: int | None = None
    sm_percent: float | None = None
    memory_utilization_percent: float | None = None
    encoder_percent: float | None = None
    decoder_percent: float | None = None
    window_s: float | None = None
    gpu_seconds: float | None = None
    energy_j: float | None = None
    missing: Reasons = {}


USE_READINGS: Final = _readings_of(GpuProcess, "gpu_instance", "compute_instance")
"""The readings of the driver for a process on a GPU: missing, with a reason, while the GPU does not answer."""


class HostProcess(Struct, frozen=True, kw_only=True, gc=False):
    """A process on the host, with its use of GPUs.

    ``start_ticks``: None in the first reading of a process that has just started (`core.model.process_id`).
    ``cpu_percent``: of one core, so 8 busy threads are 800. ``started_s``: seconds since the epoch. ``memory_bytes``:
    resident in RAM. ``state``: the letter of /proc/PID/stat. ``inner_pid``: its pid inside the container, if that
    differs. ``progress``: its own report.
    """

    pid: int
    start_ticks: int | None = None
    inner_pid: int | None = None
    presence: Presence = Presence.ALIVE
    started_s: float | None = None
    user: str | None = None
    command: str = ""
    parent_pid: int | None = None
    state: str | None = None
    nice: int | None = None
    threads: int | None = None
    cpu_percent: float | None = None
    busiest_thread_percent: float | None = None
    memory_bytes: int | None = None
    owner: Owner = Owner()
    progress: Progress | None = None
    missing: Reasons = {}
    gpus: tuple[GpuProcess, ...] = ()

    @property
    def id(self) -> ProcessId:
        """Return the identity."""
        return ProcessId(self.pid, self.start_ticks)


PROCESS_READINGS: Final = _readings_of(HostProcess, "start_ticks", "inner_pid", "progress")
"""The readings of /proc for a process: missing, with a reason, if they could not be read."""


class JobKind(str, Enum):
    """The rule that joins processes to a job, in the order in which the rules apply."""

    SLURM = "slurm"
    TORCH = "torch"
    POD = "pod"
    CONTAINER = "container"
    LAUNCHER = "launcher"
    PROCESS = "process"


class Job(Struct, frozen=True, kw_only=True, gc=False):
    """Processes that work together: on two GPUs, or two on one GPU; also those among them without a GPU.

    ``launcher``: the process that started and leads the others, if there is one. ``members``: the launcher first, then
    parents before their children. A process belongs to one job at most.
    """

    key: str
    kind: JobKind
    label: str
    launcher: ProcessId | None = None
    members: tuple[ProcessId, ...] = ()


class Pressure(Struct, frozen=True, kw_only=True):
    """Pressure stall information: share of the last 10 s in which at least one task waited, percent."""

    cpu_percent: float | None = None
    memory_percent: float | None = None
    io_percent: float | None = None


class Temperature(Struct, frozen=True, kw_only=True):
    """A sensor of the host. ``high_celsius``: the limit of the chip; None if it has none."""

    chip: str
    label: str
    celsius: float
    high_celsius: float | None = None


class Fan(Struct, frozen=True, kw_only=True):
    """A fan of the host, in revolutions per minute."""

    chip: str
    label: str
    rpm: float


class HostDetails(Struct, frozen=True, kw_only=True):
    """Network, disks, sensors, users and CPU frequency of the host.

    Rates are means since the previous sample, summed over physical devices; ``cpu_hertz`` is a mean over the cores.
    Sensors, ``users`` (logged-in users) and frequency are at most about 10 s old.
    """

    network_received_bytes_per_s: float | None = None
    network_sent_bytes_per_s: float | None = None
    disk_read_bytes_per_s: float | None = None
    disk_written_bytes_per_s: float | None = None
    cpu_hertz: float | None = None
    temperatures: tuple[Temperature, ...] = ()
    fans: tuple[Fan, ...] = ()
    users: tuple[str, ...] | None = None
    missing: Reasons = {}


class Host(Struct, frozen=True, kw_only=True):
    """The host of the GPUs. ``cpu_percent`` and ``cores_percent``: 0-100, since the previous sample.

    ``is_initial_pid_namespace``: whether gputop runs outside containers, where it sees every pid of the host.
    ``details``: None unless requested (``--host-details``; the screen requests them while it shows them).
    ``missing`` contains ``processes`` while /proc does not answer, and the processes are those of an earlier sample.
    """

    name: str
    uptime_s: float | None = None
    cpu_percent: float | None = None
    cores_percent: tuple[float, ...] = ()
    load: tuple[float, float, float] | None = None
    memory_total_bytes: int | None = None
    memory_used_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_used_bytes: int | None = None
    pressure: Pressure = Pressure()
    is_initial_pid_namespace: bool | None = None
    details: HostDetails | None = None
    missing: Reasons = {}


class DriverInfo(Struct, frozen=True, kw_only=True):
    """The driver. ``simulated``: name of the simulated box; None on a real one.

    ``source``: the plugin's source of the whole sample; None if gputop read the driver itself.
    """

    version: str | None = None
    cuda_version: str | None = None
    nvml_version: str | None = None
    simulated: str | None = None
    source: str | None = None
    missing: Reasons = {}


class Sample(Struct, frozen=True, kw_only=True):
    """All readings of the machine at one instant, in seconds since the epoch; ``interval_s``: between two samples.

    ``problems``: problems of the reading itself, as sentences.
    ``relatives``: ancestors and descendants of ``processes`` that use no GPU themselves: launchers, data loaders.
    ``left_out``: which processes are missing or may be, and why, as sentences.
    """

    time_s: float
    interval_s: float
    driver: DriverInfo
    host: Host
    gpus: tuple[Gpu, ...] = ()
    processes: tuple[HostProcess, ...] = ()
    relatives: tuple[HostProcess, ...] = ()
    problems: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class Frame(Sample, frozen=True, kw_only=True):
    """A sample with jobs and findings: everything that a view needs, and one line of a stream.

    ``findings``: the gravest first, then the newest. ``judged_in_s``: seconds until gputop has watched for long
    enough to judge; None if it has. Until then, no findings does not mean that nothing is wrong.
    """

    schema_version: int = SCHEMA_VERSION
    sequence: int = 0
    jobs: tuple[Job, ...] = ()
    findings: tuple[Finding, ...] = ()
    judged_in_s: float | None = None
