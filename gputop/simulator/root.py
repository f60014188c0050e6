"""The file system of a simulated box, as far as the doctor reads it: a healthy installation, and the kernel log."""

import errno
import os
from typing import Final

from gputop.simulator.boards import Board
from gputop.simulator.clock import BoxClock
from gputop.simulator.plan import BoxPlan, GpuPlan
from gputop.simulator.proc import SimulatedProc

_SPEEDS: Final = {3: "8.0", 4: "16.0", 5: "32.0"}
_LIBRARY: Final = "usr/lib/x86_64-linux-gnu"
_TURING: Final = 6
_DEVICES: Final = "sys/bus/pci/devices"


class SimulatedRoot:
    """Serves the files of a plan. Paths below ``proc`` that are not the driver's belong to the box's processes."""

    def __init__(self, plan: BoxPlan, proc: SimulatedProc, clock: BoxClock) -> None:
        self._plan = plan
        self._proc = proc
        self._clock = clock
        self._files = _driver(plan) | {path: text for gpu in plan.gpus for path, text in _slot(gpu).items()}
        self._links = {f"{_LIBRARY}/libnvidia-ml.so.1": f"libnvidia-ml.so.{plan.driver}"}
        for gpu in plan.gpus:
            address, port = _addresses(gpu)
            self._links[f"{_DEVICES}/{address}"] = f"../../../devices/pci0000:{gpu.bus - 1:02x}/{port}/{address}"
            self._links[f"{_DEVICES}/{address}/driver"] = "../../../../bus/pci/drivers/nvidia"
        names = ["nvidiactl", "nvidia-uvm", *(f"nvidia{n}" for n in range(len(plan.gpus)))]
        self._device_files = {f"dev/{name}" for name in names}
        self._paths = [*self._files, *self._links, *self._device_files, "dev/kmsg", "sys/module/nvidia/version"]

    def read(self, path: str) -> bytes:
        """Return the content of a file."""
        if path == "dev/kmsg":
            return self._log().encode()
        if path in self._files:
            return self._files[path].encode()
        if path.startswith("proc/"):
            return self._proc.read(path.removeprefix("proc/"))
        raise _no_entry(path)

    def list(self, path: str) -> list[str]:
        """Return the names in a directory."""
        if path == "proc" or (path.startswith("proc/") and not path.startswith("proc/driver")):
            return self._proc.list(path.removeprefix("proc").lstrip("/"))
        start = f"{path}/" if path else ""
        found = {held[len(start) :].partition("/")[0] for held in self._paths if held.startswith(start)}
        if not found:
            raise _no_entry(path)
        return sorted(found)

    def link(self, path: str) -> str:
        """Return where a symbolic link points."""
        if path in self._links:
            return self._links[path]
        if path.startswith("proc/"):
            return self._proc.link(path.removeprefix("proc/"))
        raise _no_entry(path)

    def open(self, path: str) -> int:
        """Return the result of opening a device file."""
        return 0 if path in self._device_files else errno.ENOENT

    def mode(self, path: str) -> tuple[int, int]:
        """Return type, rights and owner of a file: no simulated user has files."""
        raise _no_entry(path)

    def _log(self) -> str:
        """Return the kernel log: times in microseconds since the boot."""
        lines = [(2.0, f"nvidia: loading out-of-tree module, version {self._plan.driver}")]
        lines += [(self._clock.uptime_s - ago_s, text) for ago_s, text in self._plan.log]
        return "".join(f"4,{n},{int(time_s * 1e6)},-;{text}\n" for n, (time_s, text) in enumerate(sorted(lines)))


def _driver(plan: BoxPlan) -> dict[str, str]:
    """Return the files of the driver and its installation."""
    version = f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {plan.driver}  Release Build\n"
    return {
        "proc/driver/nvidia/version": version,
        f"{_LIBRARY}/libnvidia-ml.so.{plan.driver}": "",
        f"lib/modules/{plan.kernel}/modules.dep": "updates/dkms/nvidia.ko:\n",
    } | {_information(gpu): f"GPU Firmware: \t {_firmware(gpu.board, plan)}\n" for gpu in plan.gpus}


def _slot(gpu: GpuPlan) -> dict[str, str]:
    """Return the PCI bus's files of a GPU and of the port above it."""
    address, port = _addresses(gpu)
    return {
        f"{_DEVICES}/{address}/vendor": "0x10de\n",
        f"{_DEVICES}/{address}/class": "0x030200\n",
        f"{_DEVICES}/{address}/max_link_width": "16\n",
        f"{_DEVICES}/{port}/vendor": "0x8086\n",
        f"{_DEVICES}/{port}/class": "0x060400\n",
        f"{_DEVICES}/{port}/max_link_width": "16\n",
        f"{_DEVICES}/{port}/max_link_speed": f"{_SPEEDS.get(gpu.board.pcie_generation, '8.0')} GT/s PCIe\n",
    }


def _addresses(gpu: GpuPlan) -> tuple[str, str]:
    return f"0000:{gpu.bus:02x}:00.0", f"0000:{gpu.bus - 1:02x}:01.0"


def _information(gpu: GpuPlan) -> str:
    return f"proc/driver/nvidia/gpus/{_addresses(gpu)[0]}/information"


def _firmware(board: Board, plan: BoxPlan) -> str:
    return plan.driver if board.architecture >= _TURING else "N/A"


def _no_entry(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
