"""Checks for errors: unresponsive GPUs, recovery actions of the driver, Xids in the kernel log."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.doctor.each import about, judged, of, plural, reset, why_none
from gputop.core.doctor.facts import Facts
from gputop.core.doctor.kernel_log import XidLine, same_bus, xid_lines
from gputop.core.doctor.verdict import Severity, Verdict, Verdicts, fail, ok, unknown
from gputop.core.model.catalogue import RECOVERY_ACTION
from gputop.core.model.sample import Gpu, GpuState
from gputop.core.model.units import duration_text
from gputop.core.model.xid import XidKind
from gputop.core.text.text import clean

RECENT_S: Final = 86_400.0
_SEVERITY: Final = {
    XidKind.IGNORE: Severity.INFO,
    XidKind.WATCH: Severity.WARN,
    XidKind.APP: Severity.WARN,
    XidKind.RESET: Severity.FAIL,
    XidKind.NODE: Severity.FAIL,
    XidKind.HARDWARE: Severity.FAIL,
}
_MILDER: Final = {Severity.FAIL: Severity.WARN, Severity.WARN: Severity.INFO, Severity.INFO: Severity.INFO}
_ACTIONS: Final = {
    "reset GPU": (),
    "drain and reset": ("Let running jobs finish, and start no new ones.",),
    "drain P2P": ("End the jobs that use this GPU's NVLink, or copy between it and other GPUs.",),
    "recover IMEX domain": ("$ sudo systemctl restart nvidia-imex",),
    "reset bus": ("Reset the bus as the vendor of the host describes, or reboot.",),
}


def answers(facts: Facts) -> Verdicts:
    """Judge whether every GPU responds."""
    none = why_none(facts)
    if none:
        return none
    lost = [gpu for gpu in facts.gpus if gpu.state is GpuState.LOST]
    hung = [gpu for gpu in facts.gpus if gpu.state is GpuState.HUNG]
    found = []
    if lost:
        found.append(
            fail(
                f"{about(lost)} lost: fell off the bus, or {plural(lost, 'needs', 'need')} a reset",
                evidence=[f"GPU {gpu.index} ({gpu.bus_id or 'unknown address'}): NVML: GPU is lost" for gpu in lost],
                fix=(
                    "Drain the node, then power-cycle it; the jobs on this GPU are dead.",
                    "If it happens again, check power, seating, riser and heat, then the board (Xid 79).",
                ),
            )
        )
    if hung:
        found.append(
            fail(
                f"{about(hung)} {plural(hung, 'does', 'do')} not respond to the driver",
                evidence=[f"GPU {gpu.index} ({gpu.bus_id}): no answer in time" for gpu in hung],
                fix=(
                    "Look for Xids 119 and 120: sudo dmesg | grep Xid",
                    *reset(hung),
                    "If the reset hangs too: reboot.",
                ),
            )
        )
    return found or ok(f"all {len(facts.gpus)} GPUs respond" if len(facts.gpus) > 1 else "the GPU responds")


def recovery(facts: Facts) -> Verdicts:
    """Judge whether the driver requests a recovery action."""
    requested: dict[str, list[Gpu]] = {}
    for gpu in facts.gpus:
        action = gpu[RECOVERY_ACTION]
        if action is not None and action != "none":
            requested.setdefault(action, []).append(gpu)
    if not requested:
        none = "the driver requests no recovery action"
        return judged(facts, of(RECOVERY_ACTION), lambda _: False, lambda _: ok(none), none)
    return [_requested(action, gpus) for action, gpus in requested.items()]


def xids(facts: Facts) -> Verdicts:
    """Judge the Xid errors in the kernel log."""
    reported = [*_reported(facts)]
    if facts.log is None and not reported:
        why = facts.unread.get("kernel log", "not read")
        return unknown(f"kernel log: {why}", fix=("$ sudo gputop doctor",))
    groups: dict[tuple[str, int], list[XidLine]] = {}
    for line in (*xid_lines(facts.log or ()), *reported):
        groups.setdefault((line.bus_id, line.number), []).append(line)
    if not groups:
        return ok("no Xid in the kernel log")
    return [_xid(facts, _Group(bus_id, number, tuple(lines))) for (bus_id, number), lines in groups.items()]


class _Group(Struct, frozen=True):
    """The Xids of one number on one GPU."""

    bus_id: str
    number: int
    lines: tuple[XidLine, ...]


def _xid(facts: Facts, group: _Group) -> Verdict:
    last = group.lines[-1]
    xid = last.xid
    severity = max((_SEVERITY[line.kind] for line in group.lines), key=lambda each: -each.rank)
    ages = [facts.time_s - line.time_s for line in group.lines if line.time_s is not None]
    age_s = min(ages, default=None)
    if age_s is not None and age_s > RECENT_S:
        severity = _MILDER[severity]
    times = f", {len(group.lines)} times" if len(group.lines) > 1 else ""
    ago = f", {'last ' if times else ''}{duration_text(age_s)} ago" if age_s is not None else ""
    index = facts.index_at(group.bus_id)
    name = f"the GPU at {group.bus_id}" if index is None else f"GPU {index}"
    return Verdict(
        severity=severity,
        summary=f"{name}: Xid {group.number}, {xid.name}{times}{ago}",
        evidence=(f"{xid.meaning} Usual cause: {xid.blame.value}.", *_details(group.lines), clean(last.text)),
        fix=(xid.action if index is None else xid.action.replace(" -i N", f" -i {index}"),),
    )


def _details(lines: Iterable[XidLine]) -> list[str]:
    """Return the processes and NVLinks that the lines name."""
    processes = dict.fromkeys(
        f"pid {line.pid}" + (f" ({clean(line.name)})" if line.name else "") for line in lines if line.pid
    )
    links = dict.fromkeys(str(line.link) for line in lines if line.link is not None)
    found = [f"process: {', '.join(processes)}"] if processes else []
    return [*found, *([f"link {', '.join(links)}"] if links else [])]


def _reported(facts: Facts) -> Iterable[XidLine]:
    """Return the Xids that the driver reported while gputop took its samples."""
    for gpu in facts.gpus:
        for event in gpu.xids:
            text = f"reported by the driver: Xid {event.xid}"
            yield XidLine(time_s=event.time_s, bus_id=same_bus(gpu.bus_id), number=event.xid, text=text)


def _requested(action: str, gpus: Sequence[Gpu]) -> Verdict:
    fix = _ACTIONS.get(action, ("Drain the node, then reboot it: sudo reboot",))
    return fail(
        f"{about(gpus)}: the driver requests a recovery action: {action}",
        evidence=(f"NVML recovery action: {action}",),
        fix=(*fix, *(reset(gpus) if "reset" in action and "bus" not in action else ())),
    )
