"""The driver: is it there, does it start, is it one version, does another one hold the GPUs."""

from typing import Final

from gputop.core.doctor.each import NO_DRIVER, unread
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, info, nothing, ok, unknown

NOT_LOADED: Final = 9
NO_LIBRARY: Final = 12
MISMATCH: Final = 18
_RELOAD: Final = (
    "Stop what uses the GPUs, then reload the modules, or reboot:",
    "$ sudo rmmod nvidia_uvm nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia",
    "So that it does not come again: keep the driver out of unattended upgrades.",
)


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
        return unread(facts, "PCI bus")
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
        return unread(facts, "PCI bus")
    held = [board.address for board in facts.boards if board.driver == "vfio-pci"]
    if not held:
        return ok("no GPU is given away") if facts.boards else nothing("no GPU of NVIDIA on the PCI bus")
    return info(
        f"{len(held)} GPU{'s' if len(held) > 1 else ''} given to virtual machines",
        evidence=[f"{address}: vfio-pci" for address in held],
    )


def _no_library(facts: Facts, evidence: tuple[str, ...]) -> Verdict:
    if facts.is_in_container and (facts.is_loaded or facts.boards):
        return fail(
            "the GPUs were not passed into this container: libnvidia-ml.so.1 is not here",
            evidence=evidence,
            fix=(
                "Start the container with the GPUs: docker run --gpus all, with NVIDIA's container toolkit on the host",
            ),
        )
    if facts.is_loaded:
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


def _no_version(facts: Facts, module: str | None) -> Verdict:
    if facts.is_wsl:
        return nothing("WSL: the driver is that of Windows")
    if not facts.is_up:
        return nothing("the driver is not loaded") if module is None else unknown(NO_DRIVER)
    if module is None:
        why = facts.unread.get("kernel module", "/proc/driver/nvidia/version does not tell")
        return unknown(f"the version of the kernel module is not known: {why}")
    return unknown(f"the version of the library is not known: {facts.unread.get('library', 'its name does not tell')}")
