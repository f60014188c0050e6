"""A host in a folder for the doctor: a healthy root that tests make faulty, and a driver that answers."""

import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fake_driver import FakeFunctions, NVMLError, fields
from fake_proc import INITIAL, stat_line
from msgspec.structs import replace

from gputop.core.doctor.diagnose import diagnose
from gputop.core.doctor.verdict import Checked, Diagnosis
from gputop.core.query.selection import Selection
from gputop.machine.doctor.collect import DoctorBox, collect
from gputop.machine.nvml.driver import Driver
from gputop.machine.proc.host import HostReader
from gputop.machine.proc.procfs import RealProc
from gputop.machine.proc.root import RealRoot
from gputop.machine.processes.reader import ProcessReader
from gputop.machine.source import Limits, MachineSource

GIB = 1024**3
VERSION = "570.124.06"
KERNEL = "6.8.0-58-generic"
BOOT_S = 1_700_000_000
NOW_S = BOOT_S + 10 * 86_400.0
ADDRESSES = ("0000:01:00.0", "0000:02:00.0")
_MIB = 1024**2


class ClosedRoot(RealRoot):
    """A folder in which no process can open some device files, and some files do not answer."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.closed: dict[str, int] = {}
        self.forbidden: dict[str, OSError] = {}
        self.stuck: dict[str, threading.Event] = {}
        self.opened: list[str] = []

    def read(self, path: str) -> bytes:
        if path in self.stuck:
            self.stuck[path].wait()
        if path in self.forbidden:
            raise self.forbidden[path]
        return super().read(path)

    def list(self, path: str) -> list[str]:
        if path in self.forbidden:
            raise self.forbidden[path]
        return super().list(path)

    def open(self, path: str) -> int:
        self.opened.append(path)
        if path in self.stuck:
            self.stuck[path].wait()
        return self.closed.get(path) or super().open(path)


class Clinic:
    """A healthy server with two H100. Add faults, then run a check."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root = ClosedRoot(str(folder))
        self.environment: dict[str, str] = {}
        self.expected: int | None = None
        self.plugins: dict[str, str] = {}
        self.is_root = True
        self.journal = ""
        self.patience_s = 30.0
        self.between: Callable[[], object] = lambda: None  # done between two looks
        self.field: dict[str, Any] = {f"f{id_}": (0, 0) for id_ in (4, 29, 30, 31, 230)}
        self.answers: dict[str, Any] = _answers()
        self._live: dict[str, Any] = {}  # those of the driver that is being asked
        self._write()

    # --- what makes it sick --------------------------------------------------------------------------------------
    def write(self, path: str, text: str = "") -> None:
        """Write a file of the box."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.unlink(missing_ok=True)
        file.symlink_to(target)

    def remove(self, path: str) -> None:
        """Remove a file."""
        (self.folder / path).unlink()

    def answer(self, **answers: Any) -> None:
        """Let the driver answer these; a dict answers by GPU."""
        given = {name: _by_gpu(value) if isinstance(value, dict) else value for name, value in answers.items()}
        self.answers |= given
        self._live |= given

    def fail(self, **codes: int) -> None:
        """Let functions fail with these codes."""
        self.answers |= {name: NVMLError(code) for name, code in codes.items()}

    def log(self, *lines: str, ago_s: float = 3600.0) -> None:
        """Write lines to the kernel log."""
        stamp = int((NOW_S - BOOT_S - ago_s) * 1e6)
        with (self.folder / "dev/kmsg").open("a") as file:
            file.writelines(f"4,77,{stamp},-;{line}\n SUBSYSTEM=pci\n" for line in lines)

    def process(
        self, pid: int, name: str = "python", *, state: str = "S", parent: int = 1, gpus: Iterable[int] = (),
        command: str = "", uid: int = 1000, inner_pid: int | None = None,
    ) -> None:  # fmt: skip
        """Start a process that has the device files of these GPUs open."""
        self.write(f"proc/{pid}/stat", stat_line(pid, name.encode(), state=state, parent=parent).decode())
        self.write(f"proc/{pid}/status", f"Name:\tx\nUid:\t{uid}\t0\t0\t0\nNSpid:\t{pid}\t{inner_pid or pid}\n")
        self.write(f"proc/{pid}/cmdline", (command or name).replace(" ", "\0"))
        (self.folder / f"proc/{pid}/fd").mkdir(exist_ok=True)
        for n, gpu in enumerate(gpus):
            self.link(f"proc/{pid}/fd/{n}", f"/dev/nvidia{gpu}")

    def uses(self, pid: int, gpu: int = 0, gib: float = 1.0, kind: str = "Compute") -> None:
        """Let the driver list a process on a GPU."""
        name = f"nvmlDeviceGet{kind}RunningProcesses"
        before = self.answers.get(name)
        held = {0: [], 1: []} if not callable(before) else {n: before(f"handle-{n}") for n in range(2)}
        held[gpu] = [*held[gpu], (pid, int(gib * GIB), None, None)]
        self.answers[name] = _by_gpu(held)

    def without_driver(self, code: int) -> None:
        """Let NVML refuse to start."""
        self.fail(nvmlInit=code)

    def without_gpu(self) -> None:
        """Remove the GPUs from the bus, and the driver with them."""
        for address in ADDRESSES:
            self.remove(f"sys/bus/pci/devices/{address}")
        for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"):
            self.remove(f"dev/{name}")
        self.remove("proc/driver/nvidia/version")
        self.remove("sys/module/nvidia/version")
        (self.folder / "sys/module/nvidia").rmdir()
        self.without_driver(12)

    # --- what the doctor says ------------------------------------------------------------------------------------
    def diagnose(self) -> Diagnosis:
        """Return the diagnosis."""
        answers = {"nvmlDeviceGetFieldValues": _field_values(self.field)} | self.answers
        functions = FakeFunctions(**answers)
        self._live = functions.answers
        proc = RealProc(str(self.folder / "proc"))
        source = MachineSource(
            Driver(functions),
            HostReader(proc, "node7"),
            ProcessReader(proc, {1000: "ann"}.get),
            selection=Selection(),
            limits=Limits(patience_s=30.0, hung_s=30.0),
            watches_events=False,
        )
        box = DoctorBox(
            root=self.root,
            source=source,
            host="node7",
            environment=self.environment,
            is_root=self.is_root,
            own_pid=4242,
            journal=lambda: self.journal,
            wall=lambda: NOW_S,
            sleep=self._pass_time,
            patience_s=self.patience_s,
        )
        return diagnose(replace(collect(box, self.expected), plugins=self.plugins))

    def _pass_time(self, _: float) -> None:
        self.between()

    def check(self, code: str) -> Checked:
        """Return the verdict of one check."""
        return next(one for one in self.diagnose().checks if one.code == code)

    def _write(self) -> None:
        write = self.write
        write("proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {VERSION}  Tue Feb\n")
        write("proc/sys/kernel/osrelease", f"{KERNEL}\n")
        write("proc/sys/kernel/dmesg_restrict", "1\n")
        write("proc/stat", f"cpu  1 2 3 4 5 6 7 8 0 0\nbtime {BOOT_S}\n")
        write("proc/self/maps", f"7f00-7f01 r-xp 0 08:02 1    /usr/lib64/libnvidia-ml.so.{VERSION}\n")
        write("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n")
        self.link("proc/self/ns/pid", INITIAL)
        self.process(1, "systemd", parent=0)
        self.process(1260, "nvidia-persiste", gpus=(0, 1))
        write(f"lib/modules/{KERNEL}/modules.dep", "updates/dkms/nvidia.ko.zst:\n")
        write("sys/module/nvidia/version", f"{VERSION}\n")
        write("sys/devices/pci0000:00/present", "")
        for n, address in enumerate(ADDRESSES):
            write(f"proc/driver/nvidia/gpus/{address}/information", f"Model: \t H100\nGPU Firmware: \t {VERSION}\n")
            self._board(n, address)
        for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "kmsg"):
            write(f"dev/{name}")
        write("etc/hostname", "node7\n")

    def _board(self, n: int, address: str) -> None:
        port = f"0000:00:0{n + 1}.0"
        place = f"sys/devices/pci0000:00/{port}"
        for name, text in {"vendor": "0x8086", "class": "0x060400", "max_link_width": "16"}.items():
            self.write(f"{place}/{name}", f"{text}\n")
        self.write(f"{place}/max_link_speed", "32.0 GT/s PCIe\n")
        for name, text in {"vendor": "0x10de", "class": "0x030200", "max_link_width": "16"}.items():
            self.write(f"{place}/{address}/{name}", f"{text}\n")
        self.link(f"{place}/{address}/driver", "../../../../bus/pci/drivers/nvidia")
        self.link(f"sys/bus/pci/devices/{port}", f"../../../devices/pci0000:00/{port}")
        self.link(f"sys/bus/pci/devices/{address}", f"../../../devices/pci0000:00/{port}/{address}")


def _answers() -> dict[str, Any]:
    total = 80 * GIB
    return {
        "nvmlDeviceGetCount": 2,
        "nvmlSystemGetDriverVersion": VERSION,
        "nvmlSystemGetNVMLVersion": f"12.{VERSION}",
        "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3",
        "nvmlDeviceGetPciInfo": lambda handle: SimpleNamespace(busId=f"0000{ADDRESSES[int(handle[-1])].upper()}"),
        "nvmlDeviceGetMinorNumber": lambda handle: int(handle[-1]),
        "nvmlDeviceGetMemoryInfo": lambda *_: SimpleNamespace(
            total=total, reserved=_MIB, used=_MIB, free=total - 2 * _MIB
        ),
        "nvmlDeviceGetTemperature": 40,
        "nvmlDeviceGetMarginTemperature": 50,
        "nvmlDeviceGetTemperatureThreshold": 92,
        "nvmlDeviceGetFanSpeed": NVMLError(3),
        "nvmlDeviceGetCurrentClocksEventReasons": 0x1,
        "nvmlDeviceGetEnforcedPowerLimit": 700_000,
        "nvmlDeviceGetPowerManagementDefaultLimit": 700_000,
        "nvmlDeviceGetPersistenceMode": 1,
        "nvmlDeviceGetPerformanceState": 0,
        "nvmlDeviceGetCurrPcieLinkGeneration": 5,
        "nvmlDeviceGetMaxPcieLinkGeneration": 5,
        "nvmlDeviceGetCurrPcieLinkWidth": 16,
        "nvmlDeviceGetMaxPcieLinkWidth": 16,
        "nvmlDeviceGetNvLinkState": lambda _, link: 1 if link < 4 else NVMLError(2),
        "nvmlDeviceGetGpuFabricInfoV": (3, 0, 1),
        "nvmlDeviceGetEccMode": [1, 1],
        "nvmlDeviceGetRemappedRows": (0, 0, 0, 0),
        "nvmlDeviceGetRowRemapperHistogram": SimpleNamespace(max=640, high=0, partial=0, low=0, none=0),
        "nvmlDeviceGetRepairStatus": [0, 0],
        "nvmlDeviceGetSramEccErrorStatus": False,
        "nvmlDeviceValidateInforom": None,
        "nvmlDeviceGetMigMode": [0, 0],
        "nvmlDeviceGetComputeMode": 0,
        "nvmlDeviceGetComputeRunningProcesses": [],
    }


def _by_gpu(values: Mapping[int, Any]) -> Callable[..., Any]:
    """Answer by the number at the end of a handle."""
    return lambda handle, *_: values[int(handle[-1])]


def _field_values(field: dict[str, Any]) -> Callable[..., Any]:
    """Answer field values; one that is a dict answers by GPU."""

    def answer(handle: str, ids: Any) -> Any:
        index = int(handle[-1])
        mine = {name: value[index] if isinstance(value, dict) else value for name, value in field.items()}
        return fields(**mine)(handle, ids)

    return answer


def as_lines(checked: Checked) -> str:
    """Return all verdicts of a check."""
    return "\n".join(line for one in checked.verdicts for line in (one.summary, *one.evidence, *one.fix))
