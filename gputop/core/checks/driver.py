"""The driver: is it there, is it one version, can its device files be opened, does it see every GPU."""

import errno
from typing import Final

from gputop.core.checks.each import NO_DRIVER, NO_GPU, ranges
from gputop.core.checks.facts import DeviceFile, Facts
from gputop.core.checks.verdict import Verdict, Verdicts, fail, info, nothing, ok, unknown, warn
from gputop.core.metrics import MINOR_NUMBER
from gputop.core.text import clean

NOT_FOUND: Final = 6
NOT_LOADED: Final = 9
NO_LIBRARY: Final = 12
MISMATCH: Final = 18
UNKNOWN: Final = 999
_RELOAD: Final = (
    "Stop what uses the GPUs, then reload the modules, or reboot:",
    "$ sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia",
    "So that it does not come again: keep the driver out of unattended upgrades.",
)
_NEEDED: Final = ("/dev/nvidiactl", "/dev/nvidia-uvm")


def absent(facts: Facts) -> Verdicts:
    """Judge whether the driver is there at all, and if not, which part of it lacks."""
    if facts.is_up:
        return ok(f"driver {facts.driver.version or 'of unknown version'}")
    if facts.start.code is None:
        return fail(
            "the driver does not answer: its start hangs",
            evidence=(facts.start.text,),
            fix=("A GPU is stuck. Look at the kernel log: sudo dmesg | tail -50", "If it stays so: reboot."),
        )
    if facts.start.code == MISMATCH:
        return nothing("see nvml.mismatch")
    evidence = (facts.start.text, *_seen(facts))
    if facts.start.code == NO_LIBRARY:
        return _no_library(facts, evidence)
    if facts.start.code == NOT_LOADED:
        return _not_loaded(facts, evidence)
    return fail(
        f"the driver refuses to start: NVML error {facts.start.code}",
        evidence=evidence,
        fix=("$ sudo dmesg | grep -i -e nvrm -e xid | tail -20", "$ nvidia-smi"),
    )


def mismatch(facts: Facts) -> Verdicts:
    """Judge whether the library and the loaded kernel module are of one version."""
    module = facts.module.version if facts.module else None
    library = facts.library.version if facts.library else None
    nvml = facts.driver.nvml_version
    if library is None and nvml is not None and nvml.count(".") >= 2:
        library = nvml.partition(".")[2]  # 12.570.124.06: that of CUDA stands before it
    versions = (f"kernel module {module or 'unknown'}", f"library {library or 'unknown'}")
    if facts.start.code == MISMATCH:
        return fail("the driver was updated, and the old kernel module is still loaded", evidence=versions, fix=_RELOAD)
    if module is None or library is None:
        return _no_version(facts, module)
    if module != library:
        return fail("the library is of another version than the kernel module", evidence=versions, fix=_RELOAD)
    return ok(f"library and kernel module are both {module}")


def nouveau(facts: Facts) -> Verdicts:
    """Judge whether another driver holds the GPUs."""
    if facts.pci is None:
        return _unread(facts, "PCI bus")
    held = {board.address: board.driver for board in facts.boards if board.driver in {"nouveau", "nova", "nova_core"}}
    if not held:
        return ok("no other driver holds a GPU") if facts.boards else nothing("no GPU of NVIDIA on the PCI bus")
    return fail(
        f"{', '.join(sorted(set(map(str, held.values()))))} holds {len(held)} of the GPUs, so that NVIDIA's cannot",
        evidence=[f"{address}: {name}" for address, name in held.items()],
        fix=(
            "$ echo blacklist nouveau | sudo tee /etc/modprobe.d/blacklist-nouveau.conf",
            "$ sudo update-initramfs -u || sudo dracut --force",
            "Then reboot.",
        ),
    )


def vfio(facts: Facts) -> Verdicts:
    """Tell of GPUs that belong to virtual machines."""
    if facts.pci is None:
        return _unread(facts, "PCI bus")
    held = [board.address for board in facts.boards if board.driver == "vfio-pci"]
    if not held:
        return ok("no GPU is given away") if facts.boards else nothing("no GPU of NVIDIA on the PCI bus")
    return info(
        f"{len(held)} GPU{'s' if len(held) > 1 else ''} given to virtual machines",
        evidence=[f"{address}: vfio-pci" for address in held],
    )


def device_files(facts: Facts) -> Verdicts:
    """Judge whether the device files are there and can be opened."""
    if facts.is_wsl:
        return nothing("WSL has other device files")
    if facts.files is None:
        return _unread(facts, "device files")
    if not facts.is_up and not facts.files and not _is_loaded(facts):
        return nothing("the driver is not loaded")
    closed = [file for file in facts.files if file.error]
    found = [*_closed(facts, closed)]
    lacking = [path for path in _NEEDED if path not in {file.path for file in facts.files}]
    lacking += _numbers_lacking(facts)
    if lacking:
        found.append(
            fail(
                f"{', '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} not there",
                evidence=("CUDA programs need them; the driver may not have been asked to make them yet",),
                fix=(
                    "Pass the GPUs in: docker run --gpus all"
                    if facts.is_in_container
                    else "$ sudo nvidia-modprobe -u -c 0",
                ),
            )
        )
    return found or ok(f"{len(facts.files)} device files can be opened")


def count(facts: Facts) -> Verdicts:
    """Judge whether the driver sees the GPUs that the bus shows, and those that are expected."""
    seen = len(facts.gpus)
    if facts.expected is not None and seen != facts.expected:
        return fail(
            f"{seen} GPUs, and {facts.expected} are expected",
            evidence=(f"the driver sees {seen}, the PCI bus {len(facts.boards)}",),
            fix=("Look for Xid 79 and at power and seating of those that are not there.",),
        )
    if not facts.is_up:
        return nothing(NO_GPU) if facts.has_no_gpu else unknown(NO_DRIVER)
    if facts.pci is None:
        return _unread(facts, "PCI bus")
    mine = [board for board in facts.boards if board.driver != "vfio-pci"]
    if facts.is_in_container or facts.is_wsl or not mine:
        return nothing("the bus of the host does not tell which GPUs are ours")
    if seen < len(mine):
        return fail(
            f"the driver sees {seen} of the {len(mine)} GPUs on the PCI bus",
            evidence=[*(f"{board.address}: driver {board.driver or 'none'}" for board in mine), *_refused(facts)],
            fix=(
                "$ sudo dmesg | grep -i -e nvrm -e xid | tail -20",
                "A GPU that fell off the bus: switch the machine off and on; then look at seating and power.",
            ),
        )
    return ok(f"the driver sees {seen} of {len(mine)}")


def _refused(facts: Facts) -> list[str]:
    """Return what the kernel log says of GPUs that did not start."""
    return [clean(line.text) for line in facts.log or () if "rminitadapter failed" in line.text.lower()][-2:]


def cuda(facts: Facts) -> Verdicts:
    """Judge whether the installed torch fits the driver."""
    if facts.torches is None:
        return _unread(facts, "installed packages")
    if not facts.torches:
        return nothing("no torch is installed where gputop looks")
    newest = _pair(facts.driver.cuda_version)
    if newest is None:
        return unknown(f"torch is there, but {NO_DRIVER}")
    found = []
    for torch in facts.torches:
        built = _pair(torch.cuda)
        place = (f"torch {torch.version} in {torch.path}", f"the driver supports CUDA {facts.driver.cuda_version}")
        if built is None:
            found.append(info("a torch without CUDA is installed: it uses no GPU", evidence=place[:1]))
        elif built[0] > newest[0]:
            found.append(
                fail(
                    f"torch was built for CUDA {torch.cuda}, and the driver is too old for it",
                    evidence=place,
                    fix=("Update the driver, or install the torch that fits it:", _wheel(newest)),
                )
            )
        elif built > newest:
            found.append(
                warn(
                    f"torch was built for CUDA {torch.cuda}, newer than the driver's",
                    evidence=(*place, "one major version: most works, what is compiled while it runs may not"),
                    fix=(
                        "If something fails with cudaErrorUnsupportedPtxVersion: update the driver, or",
                        _wheel(newest),
                    ),
                )
            )
    return found or ok(f"every torch fits CUDA {facts.driver.cuda_version}")


def _no_library(facts: Facts, evidence: tuple[str, ...]) -> Verdict:
    if facts.is_in_container and (_is_loaded(facts) or facts.boards):
        return fail(
            "the GPUs were not passed into this container: libnvidia-ml.so.1 is not here",
            evidence=evidence,
            fix=(
                "Start the container with the GPUs: docker run --gpus all, with NVIDIA's container toolkit on the host",
            ),
        )
    if _is_loaded(facts):
        return fail(
            "the kernel module is loaded, but its library libnvidia-ml.so.1 is not found",
            evidence=evidence,
            fix=("Install the driver's user part of the same version, or: sudo ldconfig",),
        )
    if facts.boards:
        return fail("there is a GPU, and no driver", evidence=evidence, fix=_install(facts))
    if facts.pci is None:
        return fail("there is no NVIDIA driver", evidence=evidence, fix=("Install the driver from NVIDIA.",))
    return info(
        "there is no NVIDIA GPU here, and no driver",
        evidence=evidence,
        fix=(
            "If there should be one: is it seated and powered? lspci -d 10de:",
            "In a virtual machine, the host must pass it in. To look around without a GPU: gputop --demo",
        ),
    )


def _not_loaded(facts: Facts, evidence: tuple[str, ...]) -> Verdict:
    if facts.has_no_gpu:
        return info(
            "the driver is installed, and there is no NVIDIA GPU",
            evidence=evidence,
            fix=("Is it seated and powered? lspci -d 10de:",),
        )
    if facts.module and facts.module.is_installed is False:
        return fail(
            "the driver is installed, but not built for the running kernel",
            evidence=evidence,
            fix=(
                f"$ sudo apt install linux-headers-{facts.module.release} && sudo dkms autoinstall",
                "$ sudo modprobe nvidia",
            ),
        )
    locked = facts.module is not None and facts.module.secure_boot is True
    secure = ("Secure Boot is on: the module must be signed with an enrolled key (mokutil --list-enrolled).",)
    return fail(
        "the driver is installed but not loaded",
        evidence=evidence,
        fix=("$ sudo modprobe nvidia", *(secure if locked else ()), "$ sudo dmesg | tail -20"),
    )


def _install(facts: Facts) -> tuple[str, ...]:
    if facts.module and facts.module.is_installed:
        return ("The kernel module is there, the library is not: install the driver's user part of the same version.",)
    return ("$ sudo ubuntu-drivers install", "On other systems: the driver of the distribution, or of NVIDIA.")


def _seen(facts: Facts) -> tuple[str, ...]:
    """Return what speaks for a GPU and for a module."""
    found = [
        f"PCI bus: {len(facts.boards)} GPUs of NVIDIA"
        if facts.pci is not None
        else f"PCI bus: {facts.unread.get('PCI bus', 'not read')}"
    ]
    if facts.module:
        loaded = ", ".join(facts.module.loaded) or "none"
        found.append(f"kernel modules loaded: {loaded}")
        if facts.module.is_installed is not None:
            there = "there is" if facts.module.is_installed else "there is no"
            found.append(f"{there} nvidia module for kernel {facts.module.release}")
    if facts.is_in_container and facts.containers:
        found.append(f"in a container: {facts.containers.inside}")
    return tuple(found)


def _is_loaded(facts: Facts) -> bool:
    return facts.module is not None and (facts.module.version is not None or "nvidia" in facts.module.loaded)


def _no_version(facts: Facts, module: str | None) -> Verdict:
    if facts.is_wsl:
        return nothing("WSL: the driver is that of Windows")
    if not facts.is_up:
        return nothing("the driver is not loaded") if module is None else unknown(NO_DRIVER)
    if module is None:
        why = facts.unread.get("kernel module", "/proc/driver/nvidia/version does not tell")
        return unknown(f"the version of the kernel module is not known: {why}")
    return unknown(f"the version of the library is not known: {facts.unread.get('library', 'its name does not tell')}")


def _unread(facts: Facts, part: str) -> Verdict:
    return unknown(f"{part}: {facts.unread.get(part, 'not read')}")


def _closed(facts: Facts, closed: list[DeviceFile]) -> list[Verdict]:
    """Return what it means that files cannot be opened: EPERM with rights is the device cgroup."""
    by_error: dict[int, list[str]] = {}
    for file in closed:
        by_error.setdefault(file.error, []).append(file.path)
    found = []
    for code, paths in by_error.items():
        if code == errno.EPERM and facts.is_in_container:
            continue  # nvml.unknown_in_container tells
        fix = {
            errno.EACCES: (
                "Their group and mode decide: ls -l /dev/nvidia*",
                "$ sudo usermod -aG video $USER",
                "Or in the driver's settings: NVreg_DeviceFileMode=0666 (/etc/modprobe.d).",
            ),
            errno.EPERM: ("A device cgroup forbids it: look at DeviceAllow= of the service or the job.",),
        }.get(code, ("$ sudo dmesg | grep -i nvrm | tail -20",))
        word = errno.errorcode.get(code, str(code))
        found.append(
            fail(
                f"{', '.join(paths)} cannot be opened",
                evidence=(f"{word}: {_ERRORS.get(code, 'the driver refuses')}",),
                fix=fix,
            )
        )
    return found


_ERRORS: Final = {
    errno.EACCES: "permission denied",
    errno.EPERM: "operation not permitted",
    errno.EIO: "the GPU cannot be started",
    errno.ENXIO: "there is no such device",
    errno.ENODEV: "there is no such device",
    errno.ETIMEDOUT: "it did not answer in time",
}


def _numbers_lacking(facts: Facts) -> list[str]:
    """Return the files of GPUs that the driver knows and /dev does not have."""
    wanted = {minor for gpu in facts.gpus if (minor := gpu[MINOR_NUMBER]) is not None}
    there = {file.path for file in facts.files or ()}
    lacking = [minor for minor in wanted if f"/dev/nvidia{minor}" not in there]
    return [f"/dev/nvidia{part}" for part in ranges(lacking).split(", ") if part]


def _pair(version: str | None) -> tuple[int, int] | None:
    try:
        major, minor = (version or "").split(".")[:2]
        return int(major), int(minor)
    except ValueError:
        return None


def _wheel(newest: tuple[int, int]) -> str:
    return f"$ pip install torch --index-url https://download.pytorch.org/whl/cu{newest[0]}{newest[1]}"
