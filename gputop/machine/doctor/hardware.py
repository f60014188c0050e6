"""Readers of the PCI bus, the kernel modules, the NVML library and the device files."""

import errno
import re
from collections.abc import Callable, Mapping
from typing import Final

from gputop.core.doctor.facts import NVIDIA, DeviceFile, Library, Module, PciDevice
from gputop.core.text.text import clean
from gputop.machine.proc.root import Files, Root
from gputop.machine.worker import Worker

_DEVICES: Final = "sys/bus/pci/devices"
_MODULES: Final = ("nvidia", "nvidia_uvm", "nouveau", "nova_core")
_VERSION: Final = re.compile(r"Kernel Module(?: for \S+)?\s+(\d+\.\d+(?:\.\d+)?)")
_OF_LIBRARY: Final = re.compile(r"libnvidia-ml\.so\.(\d+\.\d+(?:\.\d+)?)$")
_MAPPED: Final = re.compile(r"(/\S*libnvidia-ml\.so\S*)", re.MULTILINE)
_OF_KERNEL: Final = re.compile(r"(?:^|/)nvidia\.ko", re.MULTILINE)
_FIRMWARE: Final = re.compile(r"^GPU Firmware:[ \t]*(.+)$", re.MULTILINE)
_SECURE_BOOT: Final = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_GENERATIONS: Final = {"2.5": 1, "5.0": 2, "5": 2, "8.0": 3, "8": 3, "16.0": 4, "32.0": 5, "64.0": 6}
_FOLDERS: Final = (
    "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu", "usr/lib64", "usr/lib", "usr/lib/wsl/lib",
    "usr/local/nvidia/lib64", "run/opengl-driver/lib",
)  # fmt: skip
_FILE: Final = re.compile(r"nvidia\d+|nvidiactl|nvidia-uvm")


def pci_devices(root: Root) -> tuple[PciDevice, ...]:
    """Return NVIDIA's display controllers and switches. Raises OSError if the PCI bus is not visible."""
    files = Files(root)
    found = [_device(files, address) for address in root.list(_DEVICES) if _is_of_nvidia(files, address)]
    return tuple(device for device in found if device.is_gpu or device.is_switch)


def module(root: Root) -> Module:
    """Return the state of the kernel modules that drive GPUs."""
    files = Files(root)
    version = _VERSION.search(files.text("proc/driver/nvidia/version") or "")
    release = clean(files.text("proc/sys/kernel/osrelease") or "")
    known = files.text(f"lib/modules/{release}/modules.dep") if release else None
    return Module(
        version=version[1] if version else None,
        loaded=tuple(name for name in files.names("sys/module") if name in _MODULES),
        release=release,
        is_installed=None if known is None else bool(_OF_KERNEL.search(known)),
        secure_boot=_is_secure(root),
        gsp={address: _firmware(files, address) for address in files.names("proc/driver/nvidia/gpus")},
    )


def library(root: Root, environment: Mapping[str, str]) -> Library | None:
    """Return the NVML library that this process has loaded, or else would load."""
    files = Files(root)
    mapped = _MAPPED.search(files.text("proc/self/maps") or "")
    if mapped:
        return _library(mapped[1], mapped[1])
    folders = [folder.strip("/") for folder in environment.get("LD_LIBRARY_PATH", "").split(":") if folder]
    for folder in (*folders, *_FOLDERS):
        if "libnvidia-ml.so.1" in files.names(folder):
            path = f"/{folder}/libnvidia-ml.so.1"
            return _library(path, files.target(path.lstrip("/")))
    return None


def device_files(root: Root, *, may_open: bool, seconds: float) -> tuple[DeviceFile, ...]:
    """Return the GPU device files with the errno of opening them; opening the file of a stuck GPU can hang.

    ``may_open``: False if opening would load a module.
    """
    paths = [f"dev/{name}" for name in root.list("dev") if _FILE.fullmatch(name)]
    if not may_open:
        return tuple(DeviceFile(path=f"/{path}") for path in paths)
    workers = [(path, Worker(_opening(root, path))) for path in paths]
    for _, worker in workers:
        worker.ask(0.0)
    ends = [(path, worker.take(seconds)) for path, worker in workers]
    return tuple(DeviceFile(path=f"/{path}", error=errno.ETIMEDOUT if end is None else end) for path, end in ends)


def has_iommu(root: Root) -> bool:
    """Say whether an IOMMU is on."""
    return bool(Files(root).names("sys/class/iommu"))


def _opening(root: Root, path: str) -> Callable[[float], int]:
    return lambda _: root.open(path)


def _is_of_nvidia(files: Files, address: str) -> bool:
    return _number(files.text(f"{_DEVICES}/{address}/vendor"), 16) == NVIDIA


def _device(files: Files, address: str) -> PciDevice:
    folder = f"{_DEVICES}/{address}"
    path = files.target(folder).split("/")  # ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0
    port = f"{_DEVICES}/{path[-2]}" if len(path) > 1 and ":" in path[-2] and "." in path[-2] else None
    driver = files.target(f"{folder}/driver").rpartition("/")[2]
    return PciDevice(
        address=clean(address),
        kind=(_number(files.text(f"{folder}/class"), 16) or 0) >> 8,
        driver=clean(driver) or None,
        width_max=_number(files.text(f"{folder}/max_link_width")),
        port_width_max=(_number(files.text(f"{port}/max_link_width")) or None) if port else None,
        port_generation_max=_generation(files.text(f"{port}/max_link_speed")) if port else None,
    )


def _generation(speed: str | None) -> int | None:
    """Return the PCIe generation of a link speed: 4 for ``16.0 GT/s PCIe``."""
    return _GENERATIONS.get((speed or "").partition(" ")[0])


def _number(text: str | None, base: int = 10) -> int | None:
    try:
        return int(text or "", base)
    except ValueError:
        return None


def _firmware(files: Files, address: str) -> str:
    found = _FIRMWARE.search(files.text(f"proc/driver/nvidia/gpus/{address}/information") or "")
    return clean(found[1].strip()) if found else ""


def _is_secure(root: Root) -> bool | None:
    """Say whether Secure Boot is on. The EFI variable has four bytes of attributes before its value."""
    try:
        content = root.read(_SECURE_BOOT)
    except OSError:
        return None
    return content[4] == 1 if len(content) > 4 else None


def _library(path: str, target: str) -> Library:
    version = _OF_LIBRARY.search(target)
    return Library(path=clean(path), version=version[1] if version else None)
