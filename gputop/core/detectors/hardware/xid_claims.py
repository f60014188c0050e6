"""Claims about Xid errors: their meaning, their cause, and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import Gpu, XidEvent
from gputop.core.model.units import duration_text
from gputop.core.model.xid import Blame, Xid, XidKind, explained

GRAVE, APPLICATION, NOTE = "xid.grave", "xid.application", "xid.note"
_STAGES: Final = {GRAVE: Stage.ALARM, APPLICATION: Stage.SUSPECT, NOTE: Stage.OBSERVATION}
_LOG: Final = " The kernel log has more: sudo dmesg | grep -i xid"


class Limits(Struct, frozen=True):
    """``lasts_s``: how long each code is shown. ``beside_s``: within what time an Xid may be a mere consequence."""

    lasts_s: Mapping[str, float]
    beside_s: float


def claims(gpu: Gpu, events: Mapping[XidEvent, float], context: Context, limits: Limits) -> Iterator[Claim]:
    """Return a claim per gravity. ``events``: when each was first seen."""
    found: dict[str, list[tuple[float, Xid]]] = {}
    known = [(seen_s, explained(event.xid)) for event, seen_s in events.items()]
    for seen_s, xid in known:
        code = _code(xid)
        if context.now_s - seen_s <= limits.lasts_s[code] and not _follows(xid, seen_s, known, limits.beside_s):
            found.setdefault(code, []).append((seen_s, xid))
    for code, held in found.items():
        yield _claim(gpu, code, held, context)


def _code(xid: Xid) -> str:
    if xid.kind.is_grave:
        return GRAVE
    return APPLICATION if xid.kind is XidKind.APP else NOTE


def _follows(xid: Xid, seen_s: float, known: Sequence[tuple[float, Xid]], beside_s: float) -> bool:
    """Return whether an error is only the consequence of another one near it."""
    return xid.blame is Blame.ANOTHER and any(
        other.blame is not Blame.ANOTHER and abs(at_s - seen_s) <= beside_s for at_s, other in known
    )


def _claim(gpu: Gpu, code: str, held: Sequence[tuple[float, Xid]], context: Context) -> Claim:
    last_s, xid = held[-1]
    ago = duration_text(context.now_s - last_s)
    times = f", {len(held)} errors in {duration_text(context.now_s - held[0][0])}" if len(held) > 1 else ""
    counts: dict[int, int] = {}
    for _, one in held:
        counts[one.number] = counts.get(one.number, 0) + 1
    return Claim(
        code=code,
        stage=_STAGES[code],
        subject=gpu_subject(gpu),
        summary=f"Xid {xid.number} ({ago} ago{times}): {xid.name}. {xid.meaning}",
        evidence=tuple(
            Evidence(
                f"xid_{number}",
                count,
                f"Xid {number} ({explained(number).name}) came {_times(count)}; {_blame(number)}",
            )
            for number, count in counts.items()
        ),
        remedy=xid.action.replace(" -i N", f" -i {gpu.index}") + _LOG,
        began_s=held[0][0],
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _blame(number: int) -> str:
    return f"usual cause: {explained(number).blame.value}"
