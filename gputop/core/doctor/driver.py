"""Checks of the driver: present, started, of one version, and not displaced by another driver."""

from typing import Final

from gputop.core.doctor.each import NO_DRIVER, unread
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, info, nothing, ok, unknown

NOT_LOADED: Final = 9
NO_LIBRARY: Final = 12
MISMATCH: Final = 18
_RELOAD: Final = (
    "Stop all programs that use the GPUs, then reload the modules, or reboot:",
    "$ sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia",
    "To prevent this from happening again, exclude the driver from unattended upgrades.",
)


def absent(facts: Facts) -> Verdicts:
    """Judge whether the driver is present, and if not, which part is missing."""
    if facts.is_up:
        return ok(f"driver {facts.driver.version or 'of unknown version'}")
    if facts.start.code is None:
        return fail(
            "the driver does not respond: it hangs while starting",
            evidence=(facts.start.text,),
            fix=("Look for a stuck GPU in the kernel log: sudo dmesg | tail -50", "If this does not change: reboot."),
        )
    if facts.start.code == MISMATCH:
        return nothing("see nvml.mismatch")
    evidence = (facts.start.text, *_hardware_seen(facts))
    if facts.start.code == NO_LIBRARY:
        return _no_library(facts, evidence)
    if facts.start.code == NOT_LOADED:
        return _not_loaded(facts, evidence)
    return fail(
        f"the driver does not start: NVML error {facts.start.code}",
        evidence=evidence,
        fix=("$ sudo dmesg | grep -i -e nvrm -e xid | tail -20", "$ nvidia-smi"),
    )


def mismatch(facts: Facts) -> Verdicts:
    """Judge whether the library and the loaded kernel module have the same version."""
    module = facts.module.version if facts.module else None
    library = facts.library.version if facts.library else None
    nvml = facts.driver.nvml_version
    if library is None and nvml is not None and nvml.count(".") >= 2:
        library = nvml.partition(".")[2]  # 12.570.124.06: CUDA's version comes before it
    versions = (f"kernel module {module or 'unknown'}", f"library {library or 'unknown'}")
    if facts.start.code == MISMATCH:
        return fail("the driver was updated, but the old kernel module is still loaded", evidence=versions, fix=_RELOAD)
    if module is None or library is None:
        return _no_version(facts, module)
    if module != library:
        return fail("the library and the kernel module have different versions", evidence=versions, fix=_RELOAD)
    return ok(f"library and kernel module are both {module}")


def nouveau(facts: Facts) -> Verdicts:
    """Judge whether another driver has claimed the GPUs."""
    if facts.pci is None:
        return unread(facts, "PCI bus")
    claimed = {
        board.address: board.driver for board in facts.boards if board.driver in {"nouveau", "nova", "nova_core"}
    }
    if not claimed:
        return ok("no other driver has claimed a GPU") if facts.boards else nothing("no NVIDIA GPU on the PCI bus")
    return fail(
        f"{', '.join(sorted(set(map(str, claimed.values()))))} blocks NVIDIA's driver on {len(claimed)} of the GPUs",
        evidence=[f"{address}: {name}" for address, name in claimed.items()],
        fix=(
            "$ echo blacklist nouveau | sudo tee /etc/modprobe.d/blacklist-nouveau.conf",
            "$ sudo update-initramfs -u || sudo dracut --force",
            "Then reboot.",
        ),
    )


def vfio(facts: Facts) -> Verdicts:
    """Report GPUs that are passed through to virtual machines."""
    if facts.pci is None:
        return unread(facts, "PCI bus")
    passed = [board.address for board in facts.boards if board.driver == "vfio-pci"]
    if not passed:
        return (
            ok("no GPU is passed through to a virtual machine")
            if facts.boards
            else nothing("no NVIDIA GPU on the PCI bus")
        )
    return info(
        f"{len(passed)} GPU{'s' if len(passed) > 1 else ''} passed through to virtual machines",
        evidence=[f"{address}: vfio-pci" for address in passed],
    )


def _no_library(facts: Facts, evidence: tuple[str, ...]) -> Verdict:
    if facts.is_in_container and (facts.is_loaded or facts.boards):
        return fail(
            "the GPUs were not passed into this container: it has no libnvidia-ml.so.1",
            evidence=evidence,
            fix=("Install NVIDIA's container toolkit on the host, and start the container with docker run --gpus all",),
        )
    if facts.is_loaded:
        return fail(
            "the kernel module is loaded, but its library libnvidia-ml.so.1 is not found",
            evidence=evidence,
            fix=("Install the driver's user-space libraries of the same version, or run: sudo ldconfig",),
        )
    if facts.boards:
        return fail("the host has an NVIDIA GPU, but no driver", evidence=evidence, fix=_install(facts))
    if facts.pci is None:
        return fail("no NVIDIA driver found", evidence=evidence, fix=("Install the driver from NVIDIA.",))
    return info(
        "this host has no NVIDIA GPU and no driver",
        evidence=evidence,
        fix=(
            "If you expect a GPU, check that it is seated and powered: lspci -d 10de:",
            "In a virtual machine, the host must pass it in. To try gputop without a GPU: gputop --demo",
        ),
    )


def _not_loaded(facts: Facts, evidence: tuple[str, ...]) -> Verdict:
    if facts.has_no_gpu:
        return info(
            "the driver is installed, but the host has no NVIDIA GPU",
            evidence=evidence,
            fix=("Check that the GPU is seated and powered: lspci -d 10de:",),
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
        return ("Install the driver's user-space libraries in the version of the installed kernel module.",)
    return ("$ sudo ubuntu-drivers install", "On other systems: install the distribution's driver, or NVIDIA's.")


def _hardware_seen(facts: Facts) -> tuple[str, ...]:
    """Return evidence of GPUs and kernel modules on this host."""
    found = [
        f"PCI bus: {len(facts.boards)} NVIDIA GPUs"
        if facts.pci is not None
        else f"PCI bus: {facts.unread.get('PCI bus', 'not read')}"
    ]
    if facts.module:
        loaded = ", ".join(facts.module.loaded) or "none"
        found.append(f"kernel modules loaded: {loaded}")
        if facts.module.is_installed is not None:
            installed = "installed" if facts.module.is_installed else "not installed"
            found.append(f"nvidia module for kernel {facts.module.release}: {installed}")
    if facts.is_in_container and facts.containers:
        found.append(f"in a container: {facts.containers.inside}")
    return tuple(found)


def _no_version(facts: Facts, module: str | None) -> Verdict:
    if facts.is_wsl:
        return nothing("WSL uses the Windows driver")
    if not facts.is_up:
        return nothing("the driver is not loaded") if module is None else unknown(NO_DRIVER)
    if module is None:
        why = facts.unread.get("kernel module", "/proc/driver/nvidia/version does not state it")
        return unknown(f"unknown kernel module version: {why}")
    return unknown(f"unknown library version: {facts.unread.get('library', 'its file name does not state it')}")
