"""THE XIDS: what the driver's error numbers mean, who is to blame, and what to do.

After NVIDIA's catalogue (documentation "XID Errors"): the action is its immediate one, then what to look into if the
error comes again. An Xid says what the driver noticed, which is often not the cause: Xid 45 follows nearly every other.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final

from msgspec import Struct

CATALOGUE: Final = "https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html"


class XidKind(str, Enum):
    """What an Xid asks for. App: the GPU is usable. Watch: look again if it recurs. Hardware: inspect, replace."""

    IGNORE = "ignore"
    WATCH = "watch"
    APP = "app"
    RESET = "reset"
    NODE = "node"
    HARDWARE = "hardware"

    @property
    def is_grave(self) -> bool:
        """Say whether the GPU is not to be used before something is done."""
        return self in {XidKind.RESET, XidKind.NODE, XidKind.HARDWARE}


class Blame(str, Enum):
    """Where the cause is most often. Nobody: the driver only tells. Another: the error that came before."""

    NOBODY = "nobody"
    ANOTHER = "another error"
    APPLICATION = "application"
    DRIVER = "driver or firmware"
    MEMORY = "GPU memory"
    LINK = "NVLink"
    MACHINE = "slot, power or cooling"
    BOARD = "board"


class Xid(Struct, frozen=True):
    """A row. ``meaning`` and ``action`` are sentences; the action is for whoever runs the machine."""

    number: int
    name: str
    meaning: str
    action: str
    kind: XidKind
    blame: Blame


_APP, _IGNORE, _WATCH = XidKind.APP, XidKind.IGNORE, XidKind.WATCH
_RESET, _NODE, _HARDWARE = XidKind.RESET, XidKind.NODE, XidKind.HARDWARE

_RESTART: Final = "Restart the application. If it recurs with other applications too, test the GPU."
_RESET_GPU: Final = "Stop what runs on the GPU, then reset it: sudo nvidia-smi --gpu-reset -i N."
_LINK_RESET: Final = f"If it was fatal: {_RESET_GPU} Non-fatal ones often need nothing; look at that link's both ends."


def _rows(  # noqa: PLR0917 - a row of the table
    numbers: int | Iterable[int], name: str, meaning: str, action: str, kind: XidKind, blame: Blame
) -> list[Xid]:
    held = (numbers,) if isinstance(numbers, int) else numbers
    return [Xid(number, name, meaning, action, kind, blame) for number in held]


_TABLE: Final[tuple[list[Xid], ...]] = (
    _rows(
        8, "GPU stopped processing", "Work was submitted and the GPU did not take it up in time.",
        _RESTART, _APP, Blame.APPLICATION,
    ),
    _rows(
        (11, 25, 32, 80), "corrupted push buffer", "The commands or data that reached the GPU made no sense.",
        "Restart the application. If it recurs on this slot, suspect the PCIe signal: reseat the board or the riser.",
        _APP, Blame.APPLICATION,
    ),
    _rows(
        13, "graphics engine exception", "A kernel did what the GPU does not allow, usually an access out of bounds.",
        "Find it with compute-sanitizer. If several applications hit it on this GPU only, test the GPU.",
        _APP, Blame.APPLICATION,
    ),
    _rows(
        31, "GPU memory page fault", "A kernel touched an address that is not mapped.",
        "Find it with compute-sanitizer. If several applications hit it on this GPU only, test the GPU.",
        _APP, Blame.APPLICATION,
    ),
    _rows(
        (37, 38, 66, 67), "firmware or driver access", "The driver notes an access of its own.",
        "Nothing is to be done.", _IGNORE, Blame.NOBODY,
    ),
    _rows(
        (*range(39, 42), *range(70, 73), *range(75, 78), 85, *range(126, 136)), "copy engine error",
        "A copy between memories failed.", _RESTART, _APP, Blame.APPLICATION,
    ),
    _rows(
        43, "channel reset", "The application's work was thrown away after a fault of its own; the GPU is healthy.",
        "Look at the application. Nothing is to be done on the GPU.", _APP, Blame.APPLICATION,
    ),
    _rows(
        44, "fault during a context switch", "The GPU faulted while it changed between applications.",
        "Nothing is to be done, unless it recurs.", _IGNORE, Blame.APPLICATION,
    ),
    _rows(
        45, "preemptive cleanup", "Work was removed: its process was killed, or another error came before.",
        "Follow the other Xid beside it. Alone after a kill it means nothing; alone and recurring on a machine with "
        "NVSwitch: sudo systemctl restart nvidia-fabricmanager.",
        _IGNORE, Blame.ANOTHER,
    ),
    _rows(46, "GPU timeout", "The GPU stopped answering the driver.", _RESET_GPU, _RESET, Blame.BOARD),
    _rows(
        48, "double-bit ECC error", "Memory held an error that ECC could not correct; the work on it is lost.",
        f"{_RESET_GPU} Then look at row remaps or retired pages: gputop doctor. If it recurs, have the board replaced.",
        _RESET, Blame.MEMORY,
    ),
    _rows(
        54, "auxiliary power not connected", "The board's power connector is open.",
        "Switch the machine off and connect the power cable of the board.", _HARDWARE, Blame.MACHINE,
    ),
    _rows(61, "PMU breakpoint", "The power management unit stopped.", _RESET_GPU, _RESET, Blame.DRIVER),
    _rows(
        62, "PMU halt", "The power management unit stopped and does not go on.",
        f"{_RESET_GPU} If it recurs, update the driver, then have the board replaced.", _RESET, Blame.DRIVER,
    ),
    _rows(
        63, "row remap or page retirement", "A bad row or page of memory is to be replaced by a spare one.",
        "Reset the GPU when it is idle, if a remap is pending: gputop doctor says so.", _IGNORE, Blame.MEMORY,
    ),
    _rows(
        64, "row remap failed", "A bad row or page of memory could not be replaced by a spare one.",
        f"{_RESET_GPU} If the failure stays, have the board replaced.", _HARDWARE, Blame.MEMORY,
    ),
    _rows(
        (68, 82, 83, 84, 86, 88, 89, *range(96, 106), 139), "video engine error",
        "A video, JPEG or optical-flow engine failed.", _RESTART, _APP, Blame.APPLICATION,
    ),
    _rows(
        69, "graphics class error", "An application gave the graphics engine a command that it does not know.",
        _RESTART, _APP, Blame.APPLICATION,
    ),
    _rows(
        74, "NVLink error", "A link to another GPU or to a switch failed.",
        f"See which link, and look at both its ends: bridge, cable, switch. {_RESET_GPU}", _RESET, Blame.LINK,
    ),
    _rows(
        78, "vGPU did not start", "The versions of host and guest do not fit.",
        "Update the vGPU software of the host and the driver of the guest.", _WATCH, Blame.DRIVER,
    ),
    _rows(
        79, "fell off the bus", "The GPU no longer answers on PCIe; nothing on it can be read or saved.",
        "Drain the node and switch it off and on. If it recurs: power, seating, riser, heat, then the board.",
        _NODE, Blame.MACHINE,
    ),
    _rows(
        92, "many single-bit ECC errors", "Memory errors are corrected, but there are many.",
        "Look again tomorrow: if the number grows, plan to replace the board.", _WATCH, Blame.MEMORY,
    ),
    _rows(
        94, "contained memory error", "A memory error hit one application; the others are not affected.",
        "Restart that application. Reset the GPU when it is idle.", _APP, Blame.MEMORY,
    ),
    _rows(
        95, "uncontained memory error", "A memory error may have hit every application on the GPU.",
        f"{_RESET_GPU} Results since then cannot be trusted.", _RESET, Blame.MEMORY,
    ),
    _rows(
        109, "context switch timeout", "The GPU did not let go of an application in time.",
        _RESET_GPU, _RESET, Blame.DRIVER,
    ),
    _rows(110, "security fault", "The GPU's security processor reported a fault.", _RESET_GPU, _RESET, Blame.DRIVER),
    _rows(
        (119, 120), "GSP does not answer", "The GPU's system processor timed out or failed; the driver is blind to it.",
        f"{_RESET_GPU} If it recurs, update the driver.", _RESET, Blame.DRIVER,
    ),
    _rows(
        121, "chip-to-chip link error", "The link between CPU and GPU corrected an error.",
        "Look again if it recurs.", _WATCH, Blame.LINK,
    ),
    _rows(
        136, "link training failed", "An NVLink did not come up.",
        f"{_RESET_GPU} If it recurs, the link's signal is bad: look at both its ends.", _RESET, Blame.LINK,
    ),
    _rows(
        137, "NVLink privilege error", "An application reached for memory of another GPU that it has no right to.",
        "Restart the application on both GPUs; look at how it shares memory between them.", _APP, Blame.APPLICATION,
    ),
    _rows(
        140, "unrecovered ECC error", "Memory held an error that could not be corrected or contained.",
        f"{_RESET_GPU} If it recurs, have the board replaced.", _RESET, Blame.MEMORY,
    ),
    _rows(141, "fast path error", "The driver took another path.", "Nothing is to be done.", _IGNORE, Blame.NOBODY),
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
        154, "recovery action changed", "The driver says what it needs to recover; the text of the line names it.",
        "Do what it names: reset, drain or reboot. gputop doctor shows the action that is due.", _WATCH, Blame.ANOTHER,
    ),
    _rows(
        (155, 156, 158), "NVLink fault", "The link software gave up a link or a resource of it.",
        _RESET_GPU, _RESET, Blame.LINK,
    ),
    _rows(
        157, "resource retirement failed", "A bad resource of the board could not be taken out of use.",
        "Have the board inspected and replaced.", _HARDWARE, Blame.BOARD,
    ),
    _rows(
        (160, 161), "channel retired", "The driver took a channel out of use.", "Look again if it recurs.",
        _WATCH, Blame.DRIVER,
    ),
    _rows(
        (162, 163, 164), "power smoothing", "The power smoothing of the board reports its state.",
        "Nothing is to be done.", _IGNORE, Blame.NOBODY,
    ),
    _rows(
        165, "power smoothing worn out", "The lifetime of the board's power smoothing is used up.",
        "Ask the vendor of the board.", _WATCH, Blame.BOARD,
    ),
    _rows(
        167, "PCIe fatal timeout", "A transfer over PCIe was not answered.",
        f"{_RESET_GPU} If it recurs: seating, riser, then the board.", _RESET, Blame.MACHINE,
    ),
    _rows(
        168, "reduced memory capacity", "The board runs with less memory than it was built with.",
        f"{_RESET_GPU} If the memory stays small, have the board replaced.", _HARDWARE, Blame.MEMORY,
    ),
)  # fmt: skip

XIDS: Final[dict[int, Xid]] = {row.number: row for rows in _TABLE for row in rows}


def explained(number: int) -> Xid:
    """Return what is known of a number. One that is in no table is to be watched, and NVIDIA's catalogue is named."""
    return XIDS.get(number) or Xid(
        number,
        "not in the table",
        "This version of gputop does not know this number.",
        f"Look it up: {CATALOGUE}",
        XidKind.WATCH,
        Blame.DRIVER,
    )
