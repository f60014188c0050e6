"""Every check on a box in a folder: well, sick in each way, and unable to tell."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from broken_hosts import ADDRESSES, GIB, KERNEL, VERSION, Clinic, as_lines
from fake_driver import NVMLError
from other_users import needs_root

from gputop.core.doctor.table import CHECKS
from gputop.core.doctor.verdict import Severity
from gputop.core.model.metric import Missing
from gputop.machine.files.walk import user_name

Make = Callable[[Clinic], object]
FAIL, WARN, INFO, UNKNOWN, OK = Severity.FAIL, Severity.WARN, Severity.INFO, Severity.UNKNOWN, Severity.OK
NOTHING = Severity.NOT_APPLICABLE
PORTS = ("sys/devices/pci0000:00/0000:00:01.0", "sys/devices/pci0000:00/0000:00:02.0")


def both(*makes: Make) -> Make:
    return lambda box: [make(box) for make in makes]


def container(box: Clinic) -> None:
    box.write(".dockerenv")


def docker(box: Clinic, *, runtime: bool = True, links: bool = True) -> None:
    box.write("usr/bin/dockerd")
    box.write(
        "etc/docker/daemon.json", '{"runtimes": {"nvidia": {"path": "nvidia-container-runtime"}}}' * runtime or "{}"
    )
    if links:
        box.write("dev/char/195:0")


def cdi(box: Clinic, version: str = VERSION, device: str = "nvidia0") -> None:
    text = f'kind: "nvidia.com/gpu"\npath: /dev/{device}\nhostPath: /usr/lib64/libcuda.so.{version}\n'
    box.write("etc/cdi/nvidia.yaml", text)


def torch(box: Clinic, version: str, cuda: str | None) -> None:
    place = "venv/lib/python3.11/site-packages"
    box.write(f"{place}/torch-{version}.dist-info/METADATA")
    line = f"cuda: Optional[str] = {cuda!r}\n"
    box.write(f"{place}/torch/version.py", f"__version__ = '{version}'\n{line}hip: Optional[str] = None\n")
    box.environment["VIRTUAL_ENV"] = "/venv"


def switch(box: Clinic, state: int = 3, status: int = 0, health: int = 1) -> None:
    box.answer(nvmlDeviceGetGpuFabricInfoV=(state, status, health))
    for name, text in {"vendor": "0x10de", "class": "0x068000"}.items():
        box.write(f"sys/bus/pci/devices/0000:c0:00.0/{name}", text)


def no_persistence(box: Clinic) -> None:
    box.write("proc/1260/stat", (box.folder / "proc/1/stat").read_text())
    box.answer(nvmlDeviceGetPersistenceMode={0: 1, 1: 0})


def mps(box: Clinic) -> None:
    box.process(3100, "nvidia-cuda-mps-", command="nvidia-cuda-mps-control -d")


def busy(gib: float) -> Make:
    info = SimpleNamespace(total=80 * GIB, reserved=0, used=int(gib * GIB), free=int((80 - gib) * GIB))
    return lambda box: box.answer(nvmlDeviceGetMemoryInfo=lambda *_: info)


def elsewhere(box: Clinic) -> None:
    box.link("proc/self/ns/pid", "pid:[4026532222]")


def waiting(box: Clinic) -> None:
    box.process(900, state="D", gpus=[1])
    box.uses(900, 1)


def log(text: str, ago_s: float = 3600.0) -> Make:
    return lambda box: box.log(text, ago_s=ago_s)


def xid(number: int, rest: str = "pid=900, name=python, Ch 1", ago_s: float = 3600.0, bus: str = "0000:02:00") -> Make:
    return log(f"NVRM: Xid (PCI:{bus}): {number}, {rest}", ago_s)


def set_variable(name: str, value: str) -> Make:
    return lambda box: box.environment.__setitem__(name, value)


def answer(**answers: object) -> Make:
    return lambda box: box.answer(**answers)


def field(name: str, value: object) -> Make:
    return lambda box: box.field.__setitem__(name, value)


def written(path: str, text: str = "") -> Make:
    return lambda box: box.write(path, text)


def closed(code: int, *paths: str) -> Make:
    return lambda box: box.root.closed.update(dict.fromkeys(paths, code))


def firmware(version: str) -> Make:
    return written(f"proc/driver/nvidia/gpus/{ADDRESSES[1]}/information", f"GPU Firmware: \t {version}\n")


def links(*up: int) -> Make:
    """Let so many of four links be up, by GPU."""
    return answer(nvmlDeviceGetNvLinkState=lambda gpu, link: NVMLError(2) if link > 3 else link < up[int(gpu[-1])])


def split(box: Clinic) -> None:
    """Let the first GPU have one MIG instance."""
    box.answer(
        nvmlDeviceGetMigMode={0: [1, 1], 1: [0, 0]},
        nvmlDeviceGetMaxMigDeviceCount={0: 7, 1: 0},
        nvmlDeviceGetMigDeviceHandleByIndex=lambda _, slot: "mig-0" if slot == 0 else NVMLError(6),
        nvmlDeviceGetName=lambda handle: "NVIDIA H100 80GB HBM3" + " MIG 1g.10gb" * handle.startswith("mig"),
        nvmlDeviceGetGpuInstanceId=9,
        nvmlDeviceGetComputeInstanceId=0,
        nvmlDeviceGetAttributes_v2=SimpleNamespace(multiprocessorCount=16),
    )


def at_the_second_look(make: Make) -> Make:
    return lambda box: setattr(box, "between", lambda: make(box))


def forbidden(path: str, code: int = errno.EACCES) -> Make:
    return lambda box: box.root.forbidden.__setitem__(path, OSError(code, "Permission denied", path))


OWN_FOLDER = f"tmp/gputop-{os.geteuid()}"


def progress_folder(mode: int = 0o700) -> Make:
    def make(box: Clinic) -> None:
        (box.folder / OWN_FOLDER).mkdir(parents=True)
        (box.folder / OWN_FOLDER).chmod(mode)

    return make


SICK: dict[str, list[tuple[Make, Severity, str]]] = {
    "nvml.absent": [
        (lambda box: box.without_driver(12), FAIL, "its library libnvidia-ml.so.1 is not found"),
        (both(lambda box: box.remove("proc/driver/nvidia/version"), lambda box: box.remove("sys/module/nvidia/version"),
              lambda box: (box.folder / "sys/module/nvidia").rmdir(), lambda box: box.without_driver(12)),
         FAIL, "the host has an NVIDIA GPU, but no driver"),
        (both(container, lambda box: box.without_driver(12)), FAIL, "docker run --gpus all"),
        (lambda box: box.without_driver(9), FAIL, "$ sudo modprobe nvidia"),
        (both(written(f"lib/modules/{KERNEL}/modules.dep", "kernel/fs/ext4.ko:\n"), lambda box: box.without_driver(9)),
         FAIL, f"linux-headers-{KERNEL}"),
        (both(lambda box: (box.folder / "sys/firmware/efi/efivars").mkdir(parents=True),
              lambda box: (box.folder / "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c")
              .write_bytes(b"\6\0\0\0\1"), lambda box: box.without_driver(9)), FAIL, "Secure Boot is on"),
        (lambda box: box.without_driver(999), FAIL, "NVML error 999"),
        (lambda box: box.without_gpu(), INFO, "this host has no NVIDIA GPU and no driver"),
    ],
    "nvml.mismatch": [
        (lambda box: box.without_driver(18), FAIL, "sudo rmmod nvidia_uvm"),
        (written("proc/self/maps", "7f00 r-xp 0 08:02 1 /usr/lib/libnvidia-ml.so.575.57.08\n"), FAIL, "library 575.5"),
        (lambda box: box.remove("proc/driver/nvidia/version"), UNKNOWN, "/proc/driver/nvidia/version"),
    ],
    "nvml.unknown_in_container": [
        (both(container, closed(errno.EPERM, "dev/nvidia0", "dev/nvidiactl")), FAIL, "create-dev-char-symlinks"),
        (both(container, lambda box: box.without_driver(999)), FAIL, "NVML: unknown error (999)"),
    ],
    "drv.nouveau": [
        (lambda box: box.link(f"{PORTS[1]}/{ADDRESSES[1]}/driver", "../../bus/pci/drivers/nouveau"), FAIL,
         "0000:02:00.0: nouveau"),
        (forbidden("sys/bus/pci/devices"), UNKNOWN, "PCI bus: sys/bus/pci/devices: Permission denied"),
    ],
    "drv.vfio": [
        (lambda box: box.link(f"{PORTS[1]}/{ADDRESSES[1]}/driver", "../../bus/pci/drivers/vfio-pci"), INFO, "vfio-pci"),
    ],
    "dev.nodes": [
        (closed(errno.EACCES, "dev/nvidia1"), FAIL, "EACCES: permission denied"),
        (closed(errno.EPERM, "dev/nvidia1"), FAIL, "DeviceAllow="),
        (closed(errno.EIO, "dev/nvidia1"), FAIL, "the GPU cannot be started"),
        (lambda box: box.remove("dev/nvidia-uvm"), FAIL, "nvidia-modprobe -u"),
        (lambda box: box.remove("dev/nvidia1"), FAIL, "/dev/nvidia1 does not exist"),
    ],
    "gpu.count": [
        (answer(nvmlDeviceGetCount=1), FAIL, "sees 1 of the 2 GPUs"),
        (both(answer(nvmlDeviceGetCount=1), log("NVRM: GPU 0000:02:00.0: RmInitAdapter failed! (0x26:0x65)")), FAIL,
         "RmInitAdapter failed"),
        (lambda box: setattr(box, "expected", 8), FAIL, "2 GPUs, but 8 are expected"),
        (both(container, answer(nvmlDeviceGetCount=0)), FAIL, "docker run --gpus all"),
    ],
    "gpu.answers": [
        (answer(nvmlDeviceGetUUID={0: "GPU-0", 1: NVMLError(15)}), FAIL, "GPU 1 lost"),
    ],
    "recovery.action": [
        (field("f230", {0: (0, 0), 1: (1, 0)}), FAIL, "sudo nvidia-smi --gpu-reset -i 1"),
        (field("f230", {0: (0, 0), 1: (2, 0)}), FAIL, "sudo reboot"),
        (field("f230", {0: (0, 0), 1: (5, 0)}), FAIL, "nvidia-imex"),
    ],
    "xid.recent": [
        (xid(79), FAIL, "GPU 1: Xid 79, fell off the bus, 1h00 ago"),
        (xid(79, ago_s=3 * 86_400), WARN, "3d00h ago"),
        (xid(13), WARN, "process: pid 900 (python)"),
        (xid(13, ago_s=3 * 86_400), INFO, "compute-sanitizer"),
        (xid(63), INFO, "row remap"),
        (xid(4711), WARN, "docs.nvidia.com"),
        (xid(48, bus="0000:99:00"), FAIL, "the GPU at 0000:99:00: Xid 48"),
        (xid(149, "NETIR_LINK_EVT Nonfatal XC0 i0 Link 7 (0x4505c6)"), WARN, "link 7"),
        (xid(149, "NETIR_LINK_EVT Fatal XC0 i0 Link 7 (0x4505c6)"), FAIL, "link 7"),
        (log("NVRM: GPU 0000:02:00.0: GPU has fallen off the bus."), FAIL, "GPU 1: Xid 79"),
        (both(xid(31), xid(31)), WARN, "2 times, last 1h00 ago"),
        (forbidden("dev/kmsg", errno.EPERM), UNKNOWN, "kernel.dmesg_restrict is 1"),
    ],
    "ecc.errors": [
        (field("f4", {0: (0, 0), 1: (3, 0)}), FAIL, "GPU 1: 3 uncorrected"),
        (answer(nvmlDeviceGetSramEccErrorStatus={0: True, 1: False}), FAIL, "exceed the board's limit"),
    ],
    "remap.failure": [
        (answer(nvmlDeviceGetRemappedRows={0: (0, 1, 0, 1), 1: (0, 0, 0, 0)}), FAIL, "no spare row is left"),
        (answer(nvmlDeviceGetRemappedRows={0: (0, 512, 0, 0), 1: (0, 0, 0, 0)}), FAIL, "GPU 0: 512 of 512"),
    ],
    "remap.pending": [
        (answer(nvmlDeviceGetRemappedRows={0: (0, 1, 1, 0), 1: (0, 0, 0, 0)}), FAIL, "--gpu-reset -i 0"),
        (answer(nvmlDeviceGetRemappedRows=NVMLError(999)), UNKNOWN, "impossible value"),
        (answer(nvmlDeviceGetRemappedRows=NVMLError(3)), NOTHING, "no GPU here supports it"),
    ],
    "repair.pending": [
        (answer(nvmlDeviceGetRepairStatus={0: [0, 1], 1: [0, 0]}), WARN, "--gpu-reset -i 0"),
        (answer(nvmlDeviceGetRepairStatus=NVMLError(3)), NOTHING, "no GPU here supports it"),
    ],
    "remap.histogram": [
        (answer(nvmlDeviceGetRowRemapperHistogram={0: SimpleNamespace(none=2), 1: SimpleNamespace(none=0)}), WARN,
         "GPU 0: 2 banks without spares"),
    ],
    "retired": [
        (field("f31", {0: (1, 0), 1: (0, 0)}), FAIL, "GPU 0: memory page retirement pending"),
        (field("f30", {0: (15, 0), 1: (0, 0)}), WARN, "GPU 0: 15 of at most 63"),
        (both(field("f29", (40, 0)), field("f30", (23, 0))), FAIL, "GPUs 0-1: many memory pages"),
    ],
    "ecc.off": [
        (answer(nvmlDeviceGetEccMode={0: [1, 1], 1: [0, 0]}), WARN, "nvidia-smi -i 1 -e 1"),
        (answer(nvmlDeviceGetEccMode=[0, 0], nvmlDeviceGetBrand=5), NOTHING, "no GPU here supports it"),  # a GeForce
    ],
    "ecc.pending": [(answer(nvmlDeviceGetEccMode={0: [1, 1], 1: [0, 1]}), WARN, "current off, pending on")],
    "fabric.manager": [
        (lambda box: switch(box, 2), FAIL, "error 802"),
        (lambda box: switch(box, 3, 999), FAIL, "status 999"),
        (lambda box: switch(box, 3, 0, 3), FAIL, "limited capacity"),
        (lambda box: switch(box, 0), FAIL, "nv-fabricmanager does not run"),
        (both(lambda box: switch(box, 1), answer(nvmlDeviceGetName="NVIDIA GB200")), FAIL, "switch trays"),
    ],
    "nvlink.down": [
        (links(4, 2), FAIL, "GPU 1: 2 of"),
        (links(2, 2), INFO, "the same number"),
        (both(links(0, 0), field("f91", (4, 0))), NOTHING, "no GPU is connected by NVLink"),
    ],
    "pcie.link": [
        (answer(nvmlDeviceGetCurrPcieLinkWidth=8, nvmlDeviceGetVirtualizationMode=1), INFO, "virtual machine"),
        (answer(nvmlDeviceGetCurrPcieLinkWidth=8, nvmlDeviceGetVirtualizationMode=0), WARN, "Reseat"),
        (answer(nvmlDeviceGetCurrPcieLinkWidth={0: 16, 1: 8}), WARN, "GPU 1: x8 of x16"),
        (answer(nvmlDeviceGetCurrPcieLinkWidth={0: 16, 1: 4}), FAIL, "GPU 1: x4 of x16"),
        (answer(nvmlDeviceGetCurrPcieLinkGeneration={0: 5, 1: 3}), WARN, "GPU 1 in P0: gen 3 of 5"),
        (answer(nvmlDeviceGetCurrPcieLinkGeneration=3, nvmlDeviceGetPerformanceState=2), WARN, "in P2: gen 3 of 5"),
    ],
    "iommu.p2p": [
        (both(written("sys/class/iommu/dmar0/x"), answer(nvmlDeviceGetNvLinkState=NVMLError(3))), INFO, "iommu=pt"),
    ],
    "throttle.hw": [
        (answer(nvmlDeviceGetCurrentClocksEventReasons={0: 0x48, 1: 0}), FAIL, "hardware thermal"),
        (answer(nvmlDeviceGetCurrentClocksEventReasons={0: 0x80, 1: 0}), FAIL, "power supply"),
        (both(answer(nvmlDeviceGetCurrentClocksEventReasons=NVMLError(4)),
              answer(nvmlDeviceGetCurrentClocksThrottleReasons=NVMLError(4))), UNKNOWN, "no permission"),
    ],
    "throttle.sw": [(answer(nvmlDeviceGetCurrentClocksEventReasons={0: 0x20, 1: 0}), WARN, "slowdown in 3 samples")],
    "temp": [
        (answer(nvmlDeviceGetMarginTemperature={0: 5, 1: 50}), WARN, "5°C below its slowdown"),
        (both(answer(nvmlDeviceGetTemperature=71), answer(nvmlDeviceGetFanSpeed=0)), WARN, "fan at 0%"),
    ],
    "power.limit": [
        (answer(nvmlDeviceGetEnforcedPowerLimit={0: 700_000, 1: 500_000}), INFO, "GPU 1: 500W of 700W"),
        (answer(nvmlDeviceGetCurrentClocksEventReasons={0: 0x2, 1: 0}), INFO, "set by hand"),
    ],
    "persistence": [(no_persistence, WARN, "nvidia-persistenced does not run")],
    "mem.zombie": [
        (busy(3.0), WARN, "GPU 0: 3.0GiB not owned by any process"),
        (both(busy(3.0), lambda box: box.process(700, gpus=[0])), WARN, "pid 700 (python) has /dev/nvidia0 open"),
        (lambda box: box.uses(901, 1, 2), WARN, "pid 901 on GPU 1: 2.0GiB"),
        (elsewhere, UNKNOWN, "another PID namespace"),
    ],
    "proc.dstate": [
        (waiting, WARN, "pid 900 on GPU 1 is blocked in the kernel"),
        (both(waiting, log("INFO: task python:900 blocked for more than 122 seconds.")), FAIL, "more than 122s"),
        (both(lambda box: box.uses(901, 1, 2), elsewhere), UNKNOWN, "cannot read the state of pid 901"),
    ],
    "proc.monitors": [
        (lambda box: box.process(800, "nv-hostengine", gpus=[0], uid=0), INFO, "$ sudo systemctl stop nvidia-dcgm"),
        (lambda box: box.process(800, "nv-hostengine", gpus=[0]), INFO, "systemctl status 800"),
        (lambda box: box.process(801, "nvtop", gpus=[0], inner_pid=1), INFO, "stop the container of nvtop"),
        (lambda box: box.process(801, "nvtop", gpus=[0]), INFO, "$ kill 801"),
    ],
    "mps.leak": [(mps, INFO, "echo quit | nvidia-cuda-mps-control")],
    "mig.empty": [(answer(nvmlDeviceGetMigMode={0: [1, 1], 1: [0, 0]}), WARN, "GPU 0: MIG is on")],
    "mig.pending": [(answer(nvmlDeviceGetMigMode={0: [0, 1], 1: [0, 0]}), WARN, "MIG turns on only after")],
    "mig.service": [
        (both(split, written("etc/systemd/system/multi-user.target.wants/ssh.service")), INFO, "gputop mig service"),
        (both(split, forbidden("etc/systemd/system/multi-user.target.wants")), UNKNOWN, "Permission denied"),
        (split, NOTHING, "no systemd"),
    ],
    "compute.mode": [(answer(nvmlDeviceGetComputeMode={0: 3, 1: 0}), INFO, "exclusive process")],
    "env.bad": [
        (set_variable("CUDA_INJECTION64_PATH", "/opt/x.so"), WARN, "$ unset CUDA_INJECTION64_PATH"),
        (set_variable("CUDA_VISIBLE_DEVICES", ""), WARN, "hides every GPU"),
        (set_variable("CUDA_VISIBLE_DEVICES", "0,2"), FAIL, "names 2, which does not exist"),
        (set_variable("LD_LIBRARY_PATH", "/opt/lib:/usr/local/cuda/lib64/stubs"), WARN, "stubs cannot run"),
        (set_variable("LD_LIBRARY_PATH", "/usr/local/cuda/compat/"), WARN, "compat is for older drivers"),
    ],
    "cuda.version": [
        (lambda box: torch(box, "2.9.0+cu130", "13.0"), FAIL, "whl/cu128"),
        (lambda box: torch(box, "2.8.0+cu129", "12.9"), WARN, "newer than the driver's"),
        (lambda box: torch(box, "2.8.0+cpu", None), INFO, "no CUDA support"),
        (both(lambda box: torch(box, "2.8.0", "12.1"), lambda box: box.without_driver(9)), UNKNOWN, "torch is"),
    ],
    "runtime": [
        (lambda box: docker(box, runtime=False), WARN, "nvidia-ctk runtime configure"),
        (lambda box: docker(box, links=False), INFO, "create-dev-char-symlinks"),
        (lambda box: cdi(box, "535.183.01"), WARN, f"it names driver 535.183.01, but {VERSION} is loaded"),
        (lambda box: cdi(box, device="nvidia7"), WARN, "/dev/nvidia7, which does not exist"),
    ],
    "gputop.plugins": [(lambda box: box.plugins.update(good="", bad="it is a dict"), WARN, "bad: it is a dict")],
    "gputop.progress": [
        (progress_folder(0o777), WARN, "can be written by others"),
        (progress_folder(0o777), WARN, f"$ chmod go-w -- /{OWN_FOLDER}"),
        (lambda box: box.link(OWN_FOLDER, "elsewhere"), WARN, f"/{OWN_FOLDER} is not a folder"),
    ],
    "gsp": [
        (firmware("535.1.2"), WARN, "GPU 1: 535.1.2"),
        (firmware("N/A"), INFO, "without GSP"),
    ],
    "inforom": [
        (answer(nvmlDeviceValidateInforom={0: NVMLError(14), 1: None}), WARN, "GPU 0: the InfoROM is corrupt"),
        (answer(nvmlDeviceValidateInforom=NVMLError(4)), UNKNOWN, "no permission"),
    ],
}  # fmt: skip

_ALSO_WELL: dict[str, list[Make]] = {
    "nvml.mismatch": [
        written("proc/self/maps", "7f00 r-xp 0 08:02 1 /opt/libnvidia-ml.so.1\n"),  # NVML tells its version as well
        written(
            "proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {VERSION}  Rel"
        ),
    ],
    "nvml.unknown_in_container": [container],
    "gpu.count": [
        lambda box: setattr(box, "expected", 2),
        both(
            answer(nvmlDeviceGetCount=1),
            lambda box: box.link(f"{PORTS[1]}/{ADDRESSES[1]}/driver", "../../bus/pci/drivers/vfio-pci"),
        ),
    ],
    "xid.recent": [
        log("NVRM: loading NVIDIA UNIX x86_64 Kernel Module"),
        both(forbidden("dev/kmsg"), lambda box: setattr(box, "journal", "1700000000.5 n kernel: Linux version\n")),
    ],
    "ecc.off": [answer(nvmlDeviceGetEccMode={0: [1, 1], 1: NVMLError(3)})],
    "fabric.manager": [switch],
    "nvlink.down": [
        answer(nvmlDeviceGetNvLinkState=lambda handle, link: 1 if link < 4 + int(handle[-1]) else NVMLError(2))
    ],
    "pcie.link": [
        # an idle link trains down
        both(answer(nvmlDeviceGetCurrPcieLinkGeneration=1), answer(nvmlDeviceGetPerformanceState=8)),
        # the slot has no more
        both(answer(nvmlDeviceGetCurrPcieLinkWidth={0: 16, 1: 8}), written(f"{PORTS[1]}/max_link_width", "8")),
        both(
            answer(nvmlDeviceGetCurrPcieLinkGeneration={0: 5, 1: 3}),
            written(f"{PORTS[1]}/max_link_speed", "8.0 GT/s PCIe"),
        ),
    ],
    "iommu.p2p": [written("sys/class/iommu/dmar0/x")],  # they talk over NVLink
    "throttle.hw": [
        answer(nvmlDeviceGetCurrentClocksEventReasons=0x4),  # a power cap is normal
        both(  # one look is none
            answer(nvmlDeviceGetCurrentClocksEventReasons=0x8),
            at_the_second_look(answer(nvmlDeviceGetCurrentClocksEventReasons=0x1)),
        ),
    ],
    "persistence": [
        answer(nvmlDeviceGetPersistenceMode=0),  # the daemon runs
    ],
    "mem.zombie": [
        both(busy(3.0), lambda box: box.process(900), lambda box: box.uses(900, 0, 3), lambda box: box.uses(900, 1, 3)),
        busy(1.5),  # below 2 % of 80 GiB
    ],
    "proc.dstate": [
        lambda box: box.process(900, state="D"),  # on no GPU
        both(waiting, at_the_second_look(lambda box: box.process(900, state="S"))),
    ],
    "proc.monitors": [lambda box: box.process(801, "nvtop")],  # has no GPU open
    "mps.leak": [both(mps, lambda box: box.process(900), lambda box: box.uses(900, kind="MPSCompute"))],
    "mig.service": [both(split, written("etc/systemd/system/multi-user.target.wants/gputop-mig.service"))],
    "env.bad": [set_variable("CUDA_VISIBLE_DEVICES", "1,0"), set_variable("CUDA_VISIBLE_DEVICES", "GPU-1")],
    "cuda.version": [
        lambda box: torch(box, "2.7.1+cu128", "12.8"),
        lambda box: torch(box, "2.4.0", "12.1"),
    ],
    "gputop.plugins": [lambda box: box.plugins.update(good="")],
    "gputop.progress": [progress_folder()],
    "runtime": [docker, cdi],
}
_NOT_HERE = {
    "nvml.unknown_in_container",
    "cuda.version",
    "runtime",
    "mps.leak",
    "mig.service",
    "gputop.plugins",
    "gputop.progress",
}  # the usual box has none of it


def well() -> list[tuple[str, Make]]:
    usual: list[tuple[str, Make]] = [(check.code, lambda _: None) for check in CHECKS if check.code not in _NOT_HERE]
    return usual + [(code, make) for code, held in _ALSO_WELL.items() for make in held]


def cases() -> list[tuple[str, Make, Severity, str]]:
    return [(code, *case) for code, held in SICK.items() for case in held]


@pytest.fixture
def box(tmp_path: Path) -> Clinic:
    return Clinic(tmp_path)


@pytest.mark.parametrize(("code", "sicken", "severity", "words"), cases())
def test_a_fault_gets_a_verdict(box: Clinic, code: str, sicken: Make, severity: Severity, words: str) -> None:
    sicken(box)
    found = box.check(code)

    assert (found.severity, words in as_lines(found)) == (severity, True), as_lines(found)
    assert all(one.fix and one.evidence for one in found.verdicts if one.severity in {FAIL, WARN})


@pytest.mark.parametrize(("code", "make"), well())
def test_a_healthy_box_is_left_in_peace(box: Clinic, code: str, make: Make) -> None:
    make(box)
    found = box.check(code)

    assert found.severity is OK, as_lines(found)


@needs_root
def test_a_progress_folder_that_another_user_made_is_ignored_without_a_word(box: Clinic) -> None:
    (box.folder / "tmp").mkdir()
    squatted = box.folder / "tmp/gputop-1002"
    squatted.mkdir(mode=0o700)
    os.chown(squatted, 1001, 1001)
    found = box.check("gputop.progress")

    assert found.severity is WARN
    assert f"tmp/gputop-1002 belongs to {user_name(1001)}" in as_lines(found)
    assert "$ sudo rm -r --one-file-system -- /tmp/gputop-1002" in as_lines(found)


def test_every_check_has_a_sick_and_a_healthy_case() -> None:
    codes = {check.code for check in CHECKS}

    assert len(codes) == len(CHECKS)
    assert SICK.keys() == codes
    assert {code for code, _ in well()} == codes


def test_a_healthy_box_is_healthy(box: Clinic) -> None:
    diagnosis = box.diagnose()

    assert diagnosis.status == 0
    assert {one.severity for one in diagnosis.checks} == {OK, NOTHING}


@pytest.mark.parametrize(
    ("sicken", "status"),
    [(xid(63), 0), (xid(13), 1), (xid(79), 2), (lambda box: box.without_gpu(), 3), (forbidden("dev/kmsg"), 0)],
)
def test_the_status_is_that_of_the_gravest(box: Clinic, sicken: Make, status: int) -> None:
    sicken(box)

    assert box.diagnose().status == status


def test_without_a_driver_nothing_about_gpus_is_called_well(box: Clinic) -> None:
    box.without_driver(999)
    well = {one.code for one in box.diagnose().checks if one.severity is OK}

    assert well <= {
        "nvml.mismatch", "drv.nouveau", "drv.vfio", "dev.nodes", "xid.recent", "proc.monitors", "env.bad",
    }  # fmt: skip


def test_a_box_without_a_gpu_says_so_and_what_to_do(box: Clinic) -> None:
    box.without_gpu()
    found = box.check("nvml.absent")

    assert found.severity is INFO
    assert "lspci -d 10de:" in as_lines(found)


def test_no_device_file_is_opened_where_that_could_load_a_module(box: Clinic) -> None:
    box.without_gpu()
    box.write("dev/nvidia0")
    box.diagnose()

    assert box.root.opened == []


def test_what_is_expected_and_not_there_is_a_failure_also_without_a_driver(box: Clinic) -> None:
    box.without_gpu()
    box.expected = 8

    assert box.check("gpu.count").severity is FAIL
    assert box.diagnose().status == 2


def test_a_part_that_does_not_answer_is_unknown_and_holds_nobody_up(box: Clinic) -> None:
    box.patience_s = 0.2
    box.root.stuck["etc/docker/daemon.json"] = stuck = threading.Event()
    found = box.check("runtime")
    stuck.set()

    assert found.severity is UNKNOWN
    assert as_lines(found) == "containers: did not answer within 0.2s"


def test_a_device_file_that_does_not_answer_is_named(box: Clinic) -> None:
    box.patience_s = 1.0
    box.root.stuck["dev/nvidia1"] = stuck = threading.Event()
    found = box.check("dev.nodes")
    stuck.set()

    assert found.severity is FAIL
    assert "/dev/nvidia1 cannot be opened\nETIMEDOUT: the GPU did not answer in time" in as_lines(found)


def test_of_a_gpu_that_is_lost_nothing_is_called_well(box: Clinic) -> None:
    box.answer(nvmlDeviceGetUUID={0: "GPU-0", 1: NVMLError(15)})
    found = {one.code: one for one in box.diagnose().checks}

    for code in ("ecc.off", "ecc.errors", "remap.histogram", "temp", "throttle.hw", "pcie.link"):
        assert as_lines(found[code]) == f"GPU 1: {Missing.LOST.text}", code


def test_a_check_that_fails_takes_no_other_with_it(box: Clinic) -> None:
    box.answer(nvmlDeviceGetRowRemapperHistogram=SimpleNamespace(none="nonsense"))
    found = {one.code: one for one in box.diagnose().checks}

    assert found["remap.histogram"].severity is UNKNOWN
    assert "the check failed" in found["remap.histogram"].verdicts[0].summary
    assert found["remap.pending"].severity is OK


def test_a_hostile_log_line_is_one_harmless_line(box: Clinic) -> None:
    box.log("NVRM: Xid (PCI:0000:02:00): 13, pid=900, name=\x1b[31mx\x07, Ch")

    assert all(text.isprintable() for text in as_lines(box.check("xid.recent")).splitlines())
