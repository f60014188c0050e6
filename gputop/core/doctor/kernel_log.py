"""GPU messages of the kernel log: Xids, GPUs that fell off the bus, hung tasks."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from gputop.core.model.xid import Xid, XidKind, explained

FELL_OFF: Final = 79
_ONCE_S: Final = 5.0

_ADDRESS: Final = r"([0-9a-fA-F]{1,8}(?::[0-9a-fA-F]{1,4}){1,2}(?:\.[0-9a-fA-F])?)"
_XID: Final = re.compile(rf"NVRM: Xid \((?:PCI:)?{_ADDRESS}(?: [^)]*)?\): (\d{{1,5}})(?=[,\s]|$)[,\s]*(.*)")
_PROCESS: Final = re.compile(r"pid='?(\d{1,10})'?(?:, name=([^,]+))?")
_LINK: Final = re.compile(r"\b(Nonfatal|Fatal)\b.*?\bLink\s+(-?\d{1,4})\b")
# without [: after the name of a process that crashed, the kernel writes [PID] and the name of a file
_FELL_OFF: Final = re.compile(rf"NVRM: [^\[]*?{_ADDRESS}[^\[]*fallen off the bus")
_HUNG: Final = re.compile(r"INFO: task (.+):(\d{1,10}) blocked for more than (\d{1,10}) seconds")


class LogLine(Struct, frozen=True, gc=False):
    """A line of the kernel log. ``time_s``: seconds since the epoch, None if unknown."""

    time_s: float | None
    text: str


class XidLine(Struct, frozen=True, kw_only=True, gc=False):
    """An Xid of the log. ``is_fatal``, ``link``: of NVLink errors only."""

    time_s: float | None
    bus_id: str
    number: int
    pid: int | None = None
    name: str = ""
    link: int | None = None
    is_fatal: bool | None = None
    text: str = ""

    @property
    def xid(self) -> Xid:
        """Return the Xid's row of the table."""
        return explained(self.number)

    @property
    def kind(self) -> XidKind:
        """Return the kind of the Xid; a non-fatal link error is WATCH instead of RESET."""
        kind = self.xid.kind
        return XidKind.WATCH if kind is XidKind.RESET and self.is_fatal is False else kind


class HungTask(Struct, frozen=True, kw_only=True, gc=False):
    """A task that the kernel reported as blocked."""

    time_s: float | None
    pid: int
    name: str
    seconds: int


def same_bus(text: str) -> str:
    """Return a PCI address as 0000:3b:00; the driver, the kernel and NVML spell it in three ways."""
    parts = text.strip().lower().partition(".")[0].split(":")
    if len(parts) not in {2, 3} or not all(parts):
        return text.strip().lower()
    domain, bus, device = parts if len(parts) == 3 else ("0", *parts)
    try:
        return f"{int(domain, 16):04x}:{int(bus, 16):02x}:{int(device, 16):02x}"
    except ValueError:
        return text.strip().lower()


def xid_lines(lines: Iterable[LogLine]) -> Iterator[XidLine]:
    """Return the Xids among the lines. A GPU that the kernel reports as fallen off the bus counts as Xid 79, once."""
    fallen: dict[str, float | None] = {}
    for line in lines:
        found = _parsed(line)
        if found is None:
            continue
        if found.number == FELL_OFF:
            is_same = found.bus_id in fallen and _are_near(fallen[found.bus_id], found.time_s)
            fallen[found.bus_id] = found.time_s
            if is_same:
                continue  # the kernel tells it in two or three lines
        yield found


def hung_tasks(lines: Iterable[LogLine]) -> Iterator[HungTask]:
    """Return the tasks that the kernel reported as blocked."""
    for line in lines:
        if found := _HUNG.match(line.text):
            yield HungTask(time_s=line.time_s, name=found[1], pid=int(found[2]), seconds=int(found[3]))


def is_relevant(text: str) -> bool:
    """Say whether a line concerns GPUs or blocked tasks.

    Only its begin counts: users choose names of processes, cgroups and files, which the kernel writes into other lines.
    """
    return text.startswith(("NVRM: ", "INFO: task "))


def _parsed(line: LogLine) -> XidLine | None:
    if found := _XID.match(line.text):
        return _xid(line, found)
    if found := _FELL_OFF.match(line.text):
        return XidLine(time_s=line.time_s, bus_id=same_bus(found[1]), number=FELL_OFF, text=line.text)
    return None


def _are_near(first_s: float | None, second_s: float | None) -> bool:
    return first_s is None or second_s is None or abs(second_s - first_s) < _ONCE_S


def _xid(line: LogLine, found: re.Match[str]) -> XidLine:
    rest = found[3]
    process, link = _PROCESS.search(rest), _LINK.search(rest)
    name = process[2].strip() if process and process[2] else ""
    return XidLine(
        time_s=line.time_s,
        bus_id=same_bus(found[1]),
        number=int(found[2]),
        pid=int(process[1]) if process else None,
        name="" if name == "<unknown>" else name,
        link=int(link[2]) if link else None,
        is_fatal=link[1] == "Fatal" if link else None,
        text=line.text,
    )
