"""The table of Xids, the error numbers of the driver: meaning, usual cause, action.

It follows NVIDIA's catalogue ("XID Errors"): first the immediate action, then the checks if the error recurs. An Xid
often names a symptom instead of the cause: Xid 45 follows nearly every other one.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final

from msgspec import Struct

CATALOGUE: Final = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"


class XidKind(str, Enum):
    """The action that an Xid needs. App: the GPU is usable. Watch: act if it recurs. Hardware: inspect or replace."""

    IGNORE = "ignore"
    WATCH = "watch"
    APP = "app"
    RESET = "reset"
    NODE = "node"
    HARDWARE = "hardware"

    @property
    def is_grave(self) -> bool:
        """Return whether the GPU must not be used until the problem is fixed."""
        return self in {XidKind.RESET, XidKind.NODE, XidKind.HARDWARE}


class Blame(str, Enum):
    """The usual cause. NONE: the Xid is only a note. ANOTHER: an earlier error."""

    NONE = "none"
    ANOTHER = "another error"
    APPLICATION = "application"
    DRIVER = "driver or firmware"
    MEMORY = "GPU memory"
    LINK = "NVLink"
    MACHINE = "slot, power or cooling"
    BOARD = "board"


class Xid(Struct, frozen=True):
    """A row. ``meaning`` and ``action`` are sentences; the action is for the operator of the machine."""

    number: int
    name: str
    meaning: str
    action: str
    kind: XidKind
    blame: Blame


_APP, _IGNORE, _WATCH = XidKind.APP, XidKind.IGNORE, XidKind.WATCH
_RESET, _NODE, _HARDWARE = XidKind.RESET, XidKind.NODE, XidKind.HARDWARE

_RESTART: Final = "Restart the application. If it recurs with other applications too, test the GPU."
_RESET_GPU: Final = "Stop all processes on the GPU, then reset it: sudo nvidia-smi --gpu-reset -i N."
_LINK_RESET: Final = f"Fatal: {_RESET_GPU} Non-fatal: often nothing; check both ends of the link."


def _rows(  # noqa: PLR0917 - a row of the table
    numbers: int | Iterable[int], name: str, meaning: str, action: str, kind: XidKind, blame: Blame
) -> list[Xid]:
    each = (numbers,) if isinstance(numbers, int) else numbers
    return [Xid(number, name, meaning, action, kind, blame) for number in each]


_TABLE: Final[tuple[list[Xid], ...]] = (
    _rows(
        8, "GPU stopped processing", "The GPU did not start the submitted work in time.",
        _RESTART, _APP, Blame.APPLICATION,
    ),
    _rows(
        (11, 25, 32, 80), "corrupted push buffer", "The GPU received invalid commands or data.",
        "Restart the application. If it recurs on this slot, suspect the PCIe signal: reseat the board or the riser.",
        _APP, Blame.APPLICATION,
    ),
    _rows(
        13, "graphics engine exception", "A kernel did something illegal, usually a memory access out of bounds.",
        "Find the bug with compute-sanitizer. If several applications fail on this GPU only, test the GPU.",
        _APP, Blame.APPLICATION,
    ),
    _rows(
        31, "GPU memory page fault", "A kernel used an address that is not mapped.",
        "Find the bug with compute-sanitizer. If several applications fail on this GPU only, test the GPU.",
        _APP, Blame.APPLICATION,
    ),
    _rows(
        (37, 38, 66, 67), "firmware or driver access", "The driver logs one of its own accesses.",
        "Do nothing.", _IGNORE, Blame.NONE,
    ),
    _rows(
        (*range(39, 42), *range(70, 73), *range(75, 78), 85, *range(126, 136)), "copy engine error",
        "A copy between memories failed.", _RESTART, _APP, Blame.APPLICATION,
    ),
    _rows(
        43, "channel reset", "The driver discarded the application's work after an error in it; the GPU is healthy.",
        "Check the application. The GPU needs nothing.", _APP, Blame.APPLICATION,
    ),
    _rows(
        44, "fault during a context switch", "The GPU failed while it switched between applications.",
        "Do nothing, unless it recurs.", _IGNORE, Blame.APPLICATION,
    ),
    _rows(
        45, "preemptive cleanup", "Work was removed: its process was killed, or another error came before.",
        "If another Xid came first, act on that one. If you killed the process, do nothing. If it recurs alone on a "
        "machine with NVSwitch: sudo systemctl restart nvidia-fabricmanager.",
        _IGNORE, Blame.ANOTHER,
    ),
    _rows(46, "GPU timeout", "The GPU stopped answering the driver.", _RESET_GPU, _RESET, Blame.BOARD),
    _rows(
        48, "double-bit ECC error", "ECC could not correct a memory error; the affected work is lost.",
        f"{_RESET_GPU} Then check row remaps and retired pages: gputop doctor. If it recurs, have the board replaced.",
        _RESET, Blame.MEMORY,
    ),
    _rows(
        54, "auxiliary power not connected", "The power cable of the board is not connected.",
        "Switch the machine off and connect the power cable of the board.", _HARDWARE, Blame.MACHINE,
    ),
    _rows(61, "PMU breakpoint", "The power management unit stopped.", _RESET_GPU, _RESET, Blame.DRIVER),
    _rows(
        62, "PMU halt", "The power management unit stopped for good.",
        f"{_RESET_GPU} If it recurs, update the driver, then have the board replaced.", _RESET, Blame.DRIVER,
    ),
    _rows(
        63, "row remap or page retirement", "The driver replaces a bad row or page of memory with a spare.",
        "If gputop doctor reports a pending remap, reset the GPU when it is idle.", _IGNORE, Blame.MEMORY,
    ),
    _rows(
        64, "row remap failed", "The driver could not replace a bad row or page of memory.",
        f"{_RESET_GPU} If the failure remains, have the board replaced.", _HARDWARE, Blame.MEMORY,
    ),
    _rows(
        (68, 82, 83, 84, 86, 88, 89, *range(96, 106), 139), "video engine error",
        "A video, JPEG or optical-flow engine failed.", _RESTART, _APP, Blame.APPLICATION,
    ),
    _rows(
        69, "graphics class error", "An application sent an unknown command to the graphics engine.",
        _RESTART, _APP, Blame.APPLICATION,
    ),
    _rows(
        74, "NVLink error", "A link to another GPU or to a switch failed.",
        f"Check both ends of the link: bridge, cable, switch. {_RESET_GPU}", _RESET, Blame.LINK,
    ),
    _rows(
        78, "vGPU did not start", "The versions of host and guest do not match.",
        "Update the vGPU software of the host and the driver of the guest.", _WATCH, Blame.DRIVER,
    ),
    _rows(
        79, "fell off the bus", "The GPU no longer answers on PCIe; its data is lost.",
        "Drain the node and power-cycle it. If it recurs, check power, seating, riser, temperature, then the board.",
        _NODE, Blame.MACHINE,
    ),
    _rows(
        92, "many single-bit ECC errors", "ECC corrected many memory errors.",
        "Check again tomorrow. If the number grows, plan to replace the board.", _WATCH, Blame.MEMORY,
    ),
    _rows(
        94, "contained memory error", "A memory error affected one application, and no other.",
        "Restart that application. Reset the GPU when it is idle.", _APP, Blame.MEMORY,
    ),
    _rows(
        95, "uncontained memory error", "A memory error may have affected every application on the GPU.",
        f"{_RESET_GPU} Do not trust results that were computed since then.", _RESET, Blame.MEMORY,
    ),
    _rows(
        109, "context switch timeout", "The GPU did not switch away from an application in time.",
        _RESET_GPU, _RESET, Blame.DRIVER,
    ),
    _rows(110, "security fault", "The GPU's security processor reported a fault.", _RESET_GPU, _RESET, Blame.DRIVER),
    _rows(
        (119, 120), "GSP does not answer", "The GPU's system processor timed out or failed.",
        f"{_RESET_GPU} If it recurs, update the driver.", _RESET, Blame.DRIVER,
    ),
    _rows(
        121, "chip-to-chip link error", "The link between CPU and GPU corrected an error.",
        "Act only if it recurs.", _WATCH, Blame.LINK,
    ),
    _rows(
        136, "link training failed", "An NVLink did not come up.",
        f"{_RESET_GPU} If it recurs, the signal is bad: check both ends of the link.", _RESET, Blame.LINK,
    ),
    _rows(
        137, "NVLink privilege error", "An application used memory of another GPU without the right to do so.",
        "Restart the application on both GPUs. Check how it shares memory between them.", _APP, Blame.APPLICATION,
    ),
    _rows(
        140, "unrecovered ECC error", "A memory error could be neither corrected nor contained.",
        f"{_RESET_GPU} If it recurs, have the board replaced.", _RESET, Blame.MEMORY,
    ),
    _rows(141, "fast path error", "The driver used another path.", "Do nothing.", _IGNORE, Blame.NONE),
    _rows(143, "GPU did not start", "The GPU's initialisation failed.", _RESET_GPU, _RESET, Blame.BOARD),
    _rows(
        range(144, 151), "NVLink 5 error", "A part of the NVLink engine reported an error of one link.",
        _LINK_RESET, _RESET, Blame.LINK,
    ),
    _rows(
        151, "key rotation failed", "Confidential computing could not renew its keys.",
        "Restart the virtual machine.", _NODE, Blame.DRIVER,
    ),
    _rows(
        154, "recovery action changed", "The driver reports what it needs to recover; the log line names it.",
        "Do what the log line says: reset, drain or reboot. gputop doctor shows the action too.", _WATCH, Blame.ANOTHER,
    ),
    _rows(
        (155, 156, 158), "NVLink fault", "The link software gave up a link, or a part of it.",
        _RESET_GPU, _RESET, Blame.LINK,
    ),
    _rows(
        157, "resource retirement failed", "The driver could not take a bad part of the board out of use.",
        "Have the board inspected and replaced.", _HARDWARE, Blame.BOARD,
    ),
    _rows(
        (160, 161), "channel retired", "The driver took a channel out of use.", "Act only if it recurs.",
        _WATCH, Blame.DRIVER,
    ),
    _rows(
        (162, 163, 164), "power smoothing", "The power smoothing of the board reports its state.",
        "Do nothing.", _IGNORE, Blame.NONE,
    ),
    _rows(
        165, "power smoothing worn out", "The power smoothing of the board is worn out.",
        "Ask the vendor of the board.", _WATCH, Blame.BOARD,
    ),
    _rows(
        167, "PCIe fatal timeout", "A PCIe transfer got no answer.",
        f"{_RESET_GPU} If it recurs, check seating, riser, then the board.", _RESET, Blame.MACHINE,
    ),
    _rows(
        168, "reduced memory capacity", "The board runs with only a part of its memory.",
        f"{_RESET_GPU} If memory is still missing, have the board replaced.", _HARDWARE, Blame.MEMORY,
    ),
)  # fmt: skip

XIDS: Final[dict[int, Xid]] = {row.number: row for rows in _TABLE for row in rows}


def explained(number: int) -> Xid:
    """Return the row of a number; for an unknown number, a row that names NVIDIA's catalogue."""
    return XIDS.get(number) or Xid(
        number,
        "not in the table",
        "This version of gputop does not know this number.",
        f"Look it up: {CATALOGUE}",
        XidKind.WATCH,
        Blame.DRIVER,
    )
