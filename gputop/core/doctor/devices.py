"""The device files, and the GPUs that the driver sees."""

import errno
from typing import Final

from gputop.core.doctor.each import NO_DRIVER, NO_GPU, ranges, unread
from gputop.core.doctor.facts import DeviceFile, Facts
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, nothing, ok, unknown
from gputop.core.model.catalogue import MINOR_NUMBER
from gputop.core.text.text import clean

_HAND_IN: Final = "Pass the GPUs in: docker run --gpus all"
_NEEDED: Final = ("/dev/nvidiactl", "/dev/nvidia-uvm")


def device_files(facts: Facts) -> Verdicts:
    """Judge whether the device files are there and can be opened."""
    if facts.is_wsl:
        return nothing("WSL has other device files")
    if facts.files is None:
        return unread(facts, "device files")
    if not facts.is_up and not facts.files and not facts.is_loaded:
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
                fix=(_HAND_IN if facts.is_in_container else "$ sudo nvidia-modprobe -u -c 0",),
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
    if not seen and (facts.is_in_container or not facts.boards):
        return fail(
            "the driver sees no GPU",
            evidence=(f"driver {facts.driver.version or 'of unknown version'} answers and lists none",),
            fix=(_HAND_IN if facts.is_in_container else "$ lspci -d 10de:",),
        )
    return unread(facts, "PCI bus") if facts.pci is None else _beside_the_bus(facts, seen)


def _beside_the_bus(facts: Facts, seen: int) -> Verdicts:
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
