"""The facts that the doctor judges: one reading of the host, with the reason for each part that is missing."""

from collections.abc import Mapping

from msgspec import Struct

from gputop.core.doctor.kernel_log import LogLine, same_bus
from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo, Gpu, HostProcess, Sample

NVIDIA = 0x10DE
_NOT_THERE = frozenset({9, 12})  # the driver is not loaded; the library was not found


class DriverStart(Struct, frozen=True, kw_only=True):
    """The result of nvmlInit. ``code``: nvmlReturn_t, 0 is success; None: it did not answer in time."""

    code: int | None = 0
    text: str = ""


class Module(Struct, frozen=True, kw_only=True):
    """The kernel modules. ``loaded``: the loaded modules that drive GPUs. ``release``: of the running kernel.

    ``is_installed``: an nvidia module exists for the running kernel; None: unknown. ``gsp``: by PCI address, the GSP
    firmware version in the driver's words. ``secure_boot``: None: unknown.
    """

    version: str | None = None
    loaded: tuple[str, ...] = ()
    release: str = ""
    is_installed: bool | None = None
    secure_boot: bool | None = None
    gsp: Mapping[str, str] = {}


class Library(Struct, frozen=True, kw_only=True):
    """The NVML library that the loader finds, and the version in its file name."""

    path: str
    version: str | None = None


class PciDevice(Struct, frozen=True, kw_only=True):
    """An NVIDIA device on the PCI bus. ``kind``: class and subclass; 0x0302 is a 3D controller, 0x0680 a switch.

    ``port_…``: the limits of the upstream slot. Generation and width describe the link.
    """

    address: str
    kind: int
    driver: str | None = None
    width_max: int | None = None
    port_width_max: int | None = None
    port_generation_max: int | None = None

    @property
    def is_gpu(self) -> bool:
        """Say whether the device is a display controller."""
        return self.kind >> 8 == 0x03

    @property
    def is_switch(self) -> bool:
        """Say whether the device is an NVSwitch."""
        return self.kind == 0x0680


class DeviceFile(Struct, frozen=True, kw_only=True):
    """A device file, and the errno of opening it; 0 is success."""

    path: str
    error: int = 0


class Program(Struct, frozen=True, kw_only=True):
    """A process that holds GPU device files open, or a GPU service that is known by name.

    ``name``: the process chooses it. ``uid``: of its user; None: not readable. ``is_first``: of a PID namespace.
    ``devices``: the device files that it has open; None: not readable.
    """

    pid: int
    name: str
    uid: int | None = None
    is_first: bool = False
    command: str = ""
    state: str = ""
    devices: tuple[str, ...] | None = ()


class Programs(Struct, frozen=True, kw_only=True):
    """The programs found. ``hidden``: the number of processes whose open files are not readable."""

    found: tuple[Program, ...] = ()
    hidden: int = 0


class Cdi(Struct, frozen=True, kw_only=True):
    """A CDI specification for GPUs: the driver versions it names, and its device files that do not exist."""

    path: str
    versions: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class Containers(Struct, frozen=True, kw_only=True):
    """Containers. ``inside``: the kind of container that gputop runs in, empty outside.

    ``docker``: docker is installed; ``knows_nvidia``: its configuration has NVIDIA's runtime;
    ``has_toolkit``: nvidia-ctk is installed; ``has_links``: /dev/char has links to the GPUs.
    """

    inside: str = ""
    docker: bool = False
    knows_nvidia: bool = False
    has_toolkit: bool = False
    has_links: bool = False
    cdi: tuple[Cdi, ...] = ()


class ProgressFolder(Struct, frozen=True, kw_only=True):
    """A folder for the progress of a user's jobs. ``is_theirs``: it is the user's or root's; ``is_open``: others write.

    ``is_folder``: it is neither a link nor a file.
    """

    path: str
    user: str
    owner: str
    is_theirs: bool = True
    is_folder: bool = True
    is_open: bool = False


class Torch(Struct, frozen=True, kw_only=True):
    """An installed torch. ``cuda``: the version it was built with; None for a build without CUDA."""

    path: str
    version: str
    cuda: str | None = None


class Details(Struct, frozen=True, kw_only=True):
    """Readings of a GPU that only the doctor needs; None: the driver does not report it.

    ``banks_without_spares``: of the row remapper. ``repair_pending``: a reset replaces a faulty memory channel or TPC.
    ``sram_exceeded``: on-chip memory errors exceed their limit. ``fabric_state``: 0 not supported, 1 not started,
    2 in progress, 3 completed; ``fabric_health``: 2 unhealthy, 3 limited. ``brand``: nvmlBrandType_t.
    ``virtualization``: nvmlGpuVirtualizationMode_t.
    """

    ecc_pending: bool | Missing | None = None
    banks_without_spares: int | Missing | None = None
    sram_exceeded: bool | Missing | None = None
    repair_pending: bool | Missing | None = None
    fabric_state: int | None = None
    fabric_status: int | None = None
    fabric_health: int | None = None
    inforom_is_valid: bool | Missing | None = None
    brand: int | Missing | None = None
    virtualization: int | Missing | None = None


class Facts(Struct, frozen=True, kw_only=True):
    """All facts. A part that could not be read is None, and ``unread`` has the reason under its name.

    ``samples``: a few samples within about a second, oldest first; empty if the driver does not start.
    ``services``: the units that start at boot, empty without systemd. ``log``: the kernel log lines that concern GPUs.
    ``iommu``: an IOMMU is on. ``plugins``: by name, why gputop rejected the plugin; empty if it is loaded.
    """

    time_s: float
    host: str = ""
    is_root: bool = False
    is_wsl: bool = False
    is_initial: bool = True
    expected: int | None = None
    start: DriverStart = DriverStart()
    samples: tuple[Sample, ...] = ()
    details: Mapping[str, Details] = {}
    module: Module | None = None
    library: Library | None = None
    pci: tuple[PciDevice, ...] | None = None
    files: tuple[DeviceFile, ...] | None = None
    programs: Programs | None = None
    containers: Containers | None = None
    torches: tuple[Torch, ...] | None = None
    log: tuple[LogLine, ...] | None = None
    services: tuple[str, ...] | None = None
    environment: Mapping[str, str] = {}
    iommu: bool | None = None
    progress: tuple[ProgressFolder, ...] | None = None
    plugins: Mapping[str, str] = {}
    unread: Mapping[str, str] = {}

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """Return the GPUs of the last sample."""
        return self.samples[-1].gpus if self.samples else ()

    @property
    def processes(self) -> tuple[HostProcess, ...]:
        """Return the processes of the last sample."""
        return self.samples[-1].processes if self.samples else ()

    @property
    def driver(self) -> DriverInfo:
        """Return the driver's versions."""
        unknown = dict.fromkeys(("version", "cuda_version", "nvml_version"), Missing.NOT_YET)
        return self.samples[-1].driver if self.samples else DriverInfo(missing=unknown)

    @property
    def is_up(self) -> bool:
        """Say whether the driver responds."""
        return bool(self.samples)

    @property
    def is_loaded(self) -> bool:
        """Say whether the kernel module is known to be loaded."""
        return self.module is not None and (self.module.version is not None or "nvidia" in self.module.loaded)

    @property
    def has_no_gpu(self) -> bool:
        """Say whether neither NVML nor the PCI bus shows a GPU."""
        return not self.samples and self.start.code in _NOT_THERE and self.pci is not None and not self.boards

    @property
    def boards(self) -> tuple[PciDevice, ...]:
        """Return the GPUs that the PCI bus shows."""
        return tuple(device for device in self.pci or () if device.is_gpu)

    @property
    def is_in_container(self) -> bool:
        """Say whether gputop is known to run in a container."""
        return self.containers is not None and bool(self.containers.inside)

    def runs(self, name: str) -> bool:
        """Say whether a program whose name starts so is known to run."""
        return self.programs is not None and any(one.name.startswith(name) for one in self.programs.found)

    def index_at(self, bus_id: str) -> int | None:
        """Return the index of the GPU at a PCI address; None if no GPU is there."""
        return next((gpu.index for gpu in self.gpus if same_bus(gpu.bus_id) == same_bus(bus_id)), None)
