"""The facts that the doctor judges: what was read of the box, once, and what could not be read and why."""

from collections.abc import Mapping

from msgspec import Struct

from gputop.core.doctor.kernel_log import LogLine
from gputop.core.model.metric import Missing
from gputop.core.model.sample import DriverInfo, Gpu, HostProcess, Sample

NVIDIA = 0x10DE
_NOT_THERE = frozenset({9, 12})  # the driver is not loaded; the library was not found


class DriverStart(Struct, frozen=True, kw_only=True):
    """How the start of NVML ended. ``code``: nvmlReturn_t, 0 is well; None: it did not answer in time."""

    code: int | None = 0
    text: str = ""


class Module(Struct, frozen=True, kw_only=True):
    """The kernel's side. ``loaded``: which of the modules that drive GPUs. ``release``: of the running kernel.

    ``is_installed``: whether there is an nvidia module for the running kernel; None: not known. ``gsp``: by PCI address
    the version of the firmware of the GPU's system processor, as the driver writes it. ``secure_boot``: None: unknown.
    """

    version: str | None = None
    loaded: tuple[str, ...] = ()
    release: str = ""
    is_installed: bool | None = None
    secure_boot: bool | None = None
    gsp: Mapping[str, str] = {}


class Library(Struct, frozen=True, kw_only=True):
    """The NVML library that the loader finds, and the version that its name tells."""

    path: str
    version: str | None = None


class PciDevice(Struct, frozen=True, kw_only=True):
    """A device of NVIDIA on the PCI bus. ``kind``: class and subclass, 0x0302 is a 3D controller, 0x0680 a switch.

    ``port_…``: what the slot above it can do. Generation and width are those of the link.
    """

    address: str
    kind: int
    driver: str | None = None
    width_max: int | None = None
    port_width_max: int | None = None
    port_generation_max: int | None = None

    @property
    def is_gpu(self) -> bool:
        """Say whether it is a display controller."""
        return self.kind >> 8 == 0x03

    @property
    def is_switch(self) -> bool:
        """Say whether it is an NVSwitch."""
        return self.kind == 0x0680


class DeviceFile(Struct, frozen=True, kw_only=True):
    """A device file, and the errno with which opening it ended: 0 is well."""

    path: str
    error: int = 0


class Program(Struct, frozen=True, kw_only=True):
    """A process that holds device files of GPUs open, or a service of GPUs that is known by name.

    ``devices``: those that it has open; None: that could not be seen.
    """

    pid: int
    name: str
    command: str = ""
    state: str = ""
    devices: tuple[str, ...] | None = ()


class Programs(Struct, frozen=True, kw_only=True):
    """The programs that were found. ``hidden``: the number of processes whose open files could not be seen."""

    found: tuple[Program, ...] = ()
    hidden: int = 0


class Cdi(Struct, frozen=True, kw_only=True):
    """A CDI specification for GPUs: driver versions that it names, and device files of it that are not there."""

    path: str
    versions: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class Containers(Struct, frozen=True, kw_only=True):
    """Containers. ``inside``: the kind that we are in, empty where we are in none.

    ``docker``: whether docker is installed; ``knows_nvidia``: whether its configuration has the runtime;
    ``has_toolkit``: whether nvidia-ctk is there; ``has_links``: whether /dev/char names the GPUs.
    """

    inside: str = ""
    docker: bool = False
    knows_nvidia: bool = False
    has_toolkit: bool = False
    has_links: bool = False
    cdi: tuple[Cdi, ...] = ()


class Torch(Struct, frozen=True, kw_only=True):
    """An installed torch. ``cuda``: the version that it was built with, None for one without CUDA."""

    path: str
    version: str
    cuda: str | None = None


class Details(Struct, frozen=True, kw_only=True):
    """What is asked of a GPU for the doctor alone; None: it does not say, or a reason why not.

    ``banks_without_spares``: of the row remapper. ``sram_exceeded``: errors of the on-chip memory are above their
    limit. ``fabric_state``: 0 not supported, 1 not started, 2 in progress, 3 completed; ``fabric_health``: 2 unhealthy,
    3 limited.
    """

    ecc_pending: bool | Missing | None = None
    banks_without_spares: int | Missing | None = None
    sram_exceeded: bool | Missing | None = None
    fabric_state: int | None = None
    fabric_status: int | None = None
    fabric_health: int | None = None
    inforom_is_valid: bool | Missing | None = None


class Facts(Struct, frozen=True, kw_only=True):
    """All of it. A part that could not be read is None, and ``unread`` has the reason under its name.

    ``samples``: some looks at the GPUs within about a second, oldest first; empty where the driver does not start.
    ``services``: the units that start at boot, empty without systemd. ``log``: of the kernel, only lines that concern
    GPUs. ``iommu``: whether one is on. ``plugins``: of gputop, by name why each was rejected, empty where it was not.
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
    plugins: Mapping[str, str] = {}
    unread: Mapping[str, str] = {}

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """Return the GPUs as of the last look."""
        return self.samples[-1].gpus if self.samples else ()

    @property
    def processes(self) -> tuple[HostProcess, ...]:
        """Return the processes on them."""
        return self.samples[-1].processes if self.samples else ()

    @property
    def driver(self) -> DriverInfo:
        """Return what the driver says of itself."""
        unknown = dict.fromkeys(("version", "cuda_version", "nvml_version"), Missing.NOT_YET)
        return self.samples[-1].driver if self.samples else DriverInfo(missing=unknown)

    @property
    def is_up(self) -> bool:
        """Say whether the driver answers."""
        return bool(self.samples)

    @property
    def is_loaded(self) -> bool:
        """Say whether the kernel module is loaded, as far as is known."""
        return self.module is not None and (self.module.version is not None or "nvidia" in self.module.loaded)

    @property
    def has_no_gpu(self) -> bool:
        """Say whether there is no GPU, and no driver either: not by NVML, and not on the bus."""
        return not self.samples and self.start.code in _NOT_THERE and self.pci is not None and not self.boards

    @property
    def boards(self) -> tuple[PciDevice, ...]:
        """Return the GPUs that the PCI bus shows."""
        return tuple(device for device in self.pci or () if device.is_gpu)

    @property
    def is_in_container(self) -> bool:
        """Say whether we are in a container, as far as is known."""
        return self.containers is not None and bool(self.containers.inside)
