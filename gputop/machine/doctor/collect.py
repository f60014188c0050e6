"""Collection of all facts in parallel; a part that is late or unreadable has a reason."""

import os
import site
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeVar

from msgspec import Struct

from gputop.core.doctor.facts import DriverStart, Facts
from gputop.core.doctor.thermal import SAMPLES
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Sample
from gputop.core.text.text import clean
from gputop.machine.doctor.boards import details
from gputop.machine.doctor.hardware import device_files, has_iommu, library, module, pci_devices
from gputop.machine.doctor.log import Journal, LogUnreadError, kernel_log, real_journal
from gputop.machine.doctor.programs import programs
from gputop.machine.doctor.progress import progress_folders
from gputop.machine.doctor.software import containers, services, torches
from gputop.machine.nvml.driver import NoDriverError
from gputop.machine.proc.root import Files, RealRoot, Root
from gputop.machine.source import MachineSource
from gputop.machine.worker import Worker

T = TypeVar("T")

_ANSWERS_S: Final = 3.0
BETWEEN_S: Final = 0.25
_OF_A_FILE: Final = 0.6  # of the patience: which file it is that does not answer is known before the patience ends
_INITIAL: Final = "pid:[4026531836]"
_VARIABLES: Final = ("CUDA_", "NVIDIA_", "NSIGHT_", "COMPUTE_PROFILE", "OPENCL_PROFILE", "LD_LIBRARY_PATH")


class DoctorBox(Struct, frozen=True, kw_only=True):
    """The host that the doctor reads. ``paths``: extra places to search for Python packages."""

    root: Root
    source: MachineSource
    host: str
    environment: Mapping[str, str] = {}
    paths: tuple[str, ...] = ()
    is_root: bool = False
    own_pid: int = 0
    journal: Journal = real_journal
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    patience_s: float = _ANSWERS_S


def real_box() -> DoctorBox:
    """Return the parts of this host."""
    from gputop.core.query.selection import Selection  # noqa: PLC0415 - a simulated box does not need it
    from gputop.machine.build import build  # noqa: PLC0415

    source = build(Selection(), BETWEEN_S, is_once=True)
    user = site.getusersitepackages() if site.ENABLE_USER_SITE else ""
    return DoctorBox(
        root=RealRoot(),
        source=source,
        host=clean(os.uname().nodename),
        environment=os.environ,
        paths=(*site.getsitepackages(), user),
        is_root=os.geteuid() == 0,
        own_pid=os.getpid(),
    )


def collect(box: DoctorBox, expected: int | None = None) -> Facts:
    """Collect the facts. ``expected``: the expected number of GPUs. Takes about a second, longer on a faulty host."""
    readings = _Readings(box.patience_s)
    for field, (name, read) in _PARTS.items():
        readings.begin(field, name, partial(read, box))
    start, samples = _samples(box)
    is_loaded = bool(samples) or Files(box.root).has("proc/driver/nvidia/version")
    files = partial(device_files, box.root, may_open=is_loaded, seconds=box.patience_s * _OF_A_FILE)
    readings.begin("files", "device files", files)
    readings.begin("library", "library", lambda: library(box.root, box.environment))  # after the driver has loaded it
    return Facts(
        time_s=box.wall(),
        host=box.host,
        is_root=box.is_root,
        is_wsl=Files(box.root).has("dev/dxg"),
        is_initial=Files(box.root).target("proc/self/ns/pid") == _INITIAL,
        expected=expected,
        start=start,
        samples=samples,
        details=details(box.source.driver, samples[-1].gpus) if samples else {},
        environment={name: value for name, value in box.environment.items() if name.startswith(_VARIABLES)},
        **readings.end(),
        unread=readings.unread,
    )


_PARTS: Final[Mapping[str, tuple[str, Callable[[DoctorBox], Any]]]] = {  # by the field of `Facts`
    "pci": ("PCI bus", lambda box: pci_devices(box.root)),
    "module": ("kernel module", lambda box: module(box.root)),
    "programs": ("processes", lambda box: programs(box.root, box.own_pid)),
    "containers": ("containers", lambda box: containers(box.root, box.environment)),
    "torches": ("installed packages", lambda box: torches(box.root, box.environment, box.paths)),
    "services": ("services", lambda box: services(box.root)),
    "log": ("kernel log", lambda box: kernel_log(box.root, box.journal)),
    "iommu": ("IOMMU", lambda box: has_iommu(box.root)),
    "progress": ("progress folders", lambda box: progress_folders(box.root, box.environment, os.geteuid())),
}


class _Readings:
    """Readings in threads: a file of /proc/driver can hang like a driver call."""

    def __init__(self, patience_s: float) -> None:
        self.unread: dict[str, str] = {}
        self._patience_s = patience_s
        self._workers: dict[str, tuple[str, Worker[Any]]] = {}

    def begin(self, field: str, name: str, read: Callable[[], object]) -> None:
        """Start a reading in a thread."""
        worker: Worker[Any] = Worker(partial(_reading, read))
        self._workers[field] = name, worker
        worker.ask(0.0)

    def end(self) -> dict[str, Any]:
        """Return the readings by field, None with a reason in ``unread``. They share the patience."""
        deadline = time.monotonic() + self._patience_s
        late = None, f"did not answer within {self._patience_s:g}s"
        values = {}
        for field, (name, worker) in self._workers.items():
            values[field], why = worker.take(deadline - time.monotonic()) or late
            if why:
                self.unread[name] = why
        return values


def _reading(read: Callable[[], object], _: float) -> tuple[object, str]:
    """Return the reading, or None, and the reason if it failed."""
    try:
        return read(), ""
    except LogUnreadError as error:
        return None, str(error)
    except OSError as error:
        return None, f"{clean(str(error.filename or ''))}: {error.strerror}".lstrip(": ")


def _samples(box: DoctorBox) -> tuple[DriverStart, tuple[Sample, ...]]:
    """Start the driver and take a few samples."""
    try:
        box.source.open()
    except NoDriverError as error:
        return DriverStart(code=error.code, text=str(error)), ()
    samples = [box.source.read()]
    if samples[0].driver.missing.get("version") is Missing.HUNG:
        return DriverStart(code=None, text=f"no answer to nvmlInit within {box.source.limits.hung_s:g}s"), ()
    while len(samples) < SAMPLES:
        box.sleep(BETWEEN_S)
        samples.append(box.source.read())
    return DriverStart(), tuple(samples)
