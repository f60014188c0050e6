"""Checks of the device files, and of the number of GPUs that the driver sees."""

import errno
from typing import Final

from gputop.core.doctor.each import NO_DRIVER, NO_GPU, unread
from gputop.core.doctor.facts import DeviceFile, Facts
from gputop.core.doctor.verdict import Verdict, Verdicts, fail, nothing, ok, unknown
from gputop.core.model.catalogue import MINOR_NUMBER
from gputop.core.text.ranges import ranges
from gputop.core.text.text import clean

_HAND_IN: Final = "Pass the GPUs into the container: docker run --gpus all"
_NEEDED: Final = ("/dev/nvidiactl", "/dev/nvidia-uvm")


def device_files(facts: Facts) -> Verdicts:
    """Judge whether the device files exist and can be opened."""
    if facts.is_wsl:
        return nothing("WSL uses other device files")
    if facts.files is None:
        return unread(facts, "device files")
    if not facts.is_up and not facts.files and not facts.is_loaded:
        return nothing("the driver is not loaded")
    closed = [file for file in facts.files if file.error]
    found = [*_closed(facts, closed)]
    absent = [path for path in _NEEDED if path not in {file.path for file in facts.files}]
    absent += _numbers_absent(facts)
    if absent:
        found.append(
            fail(
                f"{', '.join(absent)} {'does' if len(absent) == 1 else 'do'} not exist",
                evidence=("CUDA programs need them; the driver may not have created them yet",),
                fix=(_HAND_IN if facts.is_in_container else "$ sudo nvidia-modprobe -u -c 0",),
            )
        )
    return found or ok(f"{len(facts.files)} device files can be opened")


def count(facts: Facts) -> Verdicts:
    """Judge whether the driver sees the GPUs that the bus shows, and those that are expected."""
    seen = len(facts.gpus)
    if facts.expected is not None and seen != facts.expected:
        return fail(
            f"{seen} GPUs, but {facts.expected} are expected",
            evidence=(f"the driver sees {seen}, the PCI bus shows {len(facts.boards)}",),
            fix=("Look for Xid 79 in the kernel log. Check power and seating of the missing GPUs.",),
        )
    if not facts.is_up:
        return nothing(NO_GPU) if facts.has_no_gpu else unknown(NO_DRIVER)
    if not seen and (facts.is_in_container or not facts.boards):
        return fail(
            "the driver sees no GPU",
            evidence=(f"driver {facts.driver.version or 'of unknown version'} responds and lists none",),
            fix=(_HAND_IN if facts.is_in_container else "$ lspci -d 10de:",),
        )
    return unread(facts, "PCI bus") if facts.pci is None else _compared_with_bus(facts, seen)


def _compared_with_bus(facts: Facts, seen: int) -> Verdicts:
    mine = [board for board in facts.boards if board.driver != "vfio-pci"]
    if facts.is_in_container or facts.is_wsl or not mine:
        return nothing("the host's PCI bus does not show which GPUs belong to this system")
    if seen < len(mine):
        return fail(
            f"the driver sees {seen} of the {len(mine)} GPUs on the PCI bus",
            evidence=[*(f"{board.address}: driver {board.driver or 'none'}" for board in mine), *_refused(facts)],
            fix=(
                "$ sudo dmesg | grep -i -e nvrm -e xid | tail -20",
                "If a GPU fell off the bus: power-cycle the host, then check seating and power.",
            ),
        )
    return ok(f"the driver sees {seen} of {len(mine)}")


def _refused(facts: Facts) -> list[str]:
    """Return the kernel log lines about GPUs that did not start."""
    return [clean(line.text) for line in facts.log or () if "rminitadapter failed" in line.text.lower()][-2:]


def _closed(facts: Facts, closed: list[DeviceFile]) -> list[Verdict]:
    """Return a verdict per errno of the closed files; EPERM despite file permissions is the device cgroup."""
    by_error: dict[int, list[str]] = {}
    for file in closed:
        by_error.setdefault(file.error, []).append(file.path)
    found = []
    for code, paths in by_error.items():
        if code == errno.EPERM and facts.is_in_container:
            continue  # nvml.unknown_in_container tells
        fix = {
            errno.EACCES: (
                "Check their group and mode: ls -l /dev/nvidia*",
                "$ sudo usermod -aG video $USER",
                "Or set NVreg_DeviceFileMode=0666 in the driver's settings (/etc/modprobe.d).",
            ),
            errno.EPERM: ("A device cgroup forbids it: check DeviceAllow= of the service or the job.",),
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
    errno.ENXIO: "no such device",
    errno.ENODEV: "no such device",
    errno.ETIMEDOUT: "the GPU did not answer in time",
}


def _numbers_absent(facts: Facts) -> list[str]:
    """Return the device files of known GPUs that /dev does not have."""
    wanted = {minor for gpu in facts.gpus if (minor := gpu[MINOR_NUMBER]) is not None}
    there = {file.path for file in facts.files or ()}
    absent = [minor for minor in wanted if f"/dev/nvidia{minor}" not in there]
    return [f"/dev/nvidia{part}" for part in ranges(absent).split(",") if part]
