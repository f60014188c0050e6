"""What errors has the driver reported? Their meaning, who is to blame, and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.counters import EachGpu
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import Gpu, XidEvent
from gputop.core.model.units import duration_text
from gputop.core.model.xid import Blame, Xid, XidKind, explained

GRAVE, APPLICATION, NOTE = "xid.grave", "xid.application", "xid.note"
_STAGES: Final = {GRAVE: Stage.ALARM, APPLICATION: Stage.SUSPECT, NOTE: Stage.OBSERVATION}
_LOG: Final = " The kernel log has more: sudo dmesg | grep -i xid"


class _Seen:
    """The errors of a GPU: each with the second in which it was seen first."""

    def __init__(self) -> None:
        self.events: dict[XidEvent, float] = {}

    def take(self, events: Sequence[XidEvent], now_s: float) -> None:
        """Take what the sample has."""
        if len(events) != len(self.events) or (events and events[-1] not in self.events):
            self.events = {event: self.events.get(event, now_s) for event in events}


class XidWatch:
    """Remembers errors for a while: an Xid is an instant, its damage stays."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._grave_s, self._other_s, self._beside_s = dials["grave_xid_s"], dials["xid_s"], dials["beside_s"]
        self._seen = EachGpu(_Seen)

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a sign for each GPU and gravity, about the latest error."""
        for gpu in context.sample.gpus:
            seen = self._seen.of(gpu.uuid, context.now_s)
            seen.take(gpu.xids, context.now_s)
            if seen.events:
                yield from self._claims(gpu, seen.events, context)
        self._seen.forget(context.now_s)

    def _claims(self, gpu: Gpu, events: Mapping[XidEvent, float], context: Context) -> Iterator[Claim]:
        from gputop.core.detectors.hardware.xid import APPLICATION, GRAVE, NOTE, Limits, claims  # noqa: PLC0415

        lasts_s = {GRAVE: self._grave_s, APPLICATION: self._other_s, NOTE: self._other_s}
        return claims(gpu, events, context, Limits(lasts_s, self._beside_s))


class Limits(Struct, frozen=True):
    """``lasts_s``: how long each code is shown. ``beside_s``: how near an Xid is that only follows another."""

    lasts_s: Mapping[str, float]
    beside_s: float


def claims(gpu: Gpu, events: Mapping[XidEvent, float], context: Context, limits: Limits) -> Iterator[Claim]:
    """Return a sign for each gravity. ``events``: when each was seen first."""
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
    """Say whether an error is nothing but the consequence of another one beside it."""
    return xid.blame is Blame.ANOTHER and any(
        other.blame is not Blame.ANOTHER and abs(at_s - seen_s) <= beside_s for at_s, other in known
    )


def _claim(gpu: Gpu, code: str, held: Sequence[tuple[float, Xid]], context: Context) -> Claim:
    last_s, xid = held[-1]
    ago = duration_text(context.now_s - last_s)
    times = (
        f"{len(held)} errors in {duration_text(context.now_s - held[0][0])}, the last" if len(held) > 1 else "an error"
    )
    counts: dict[int, int] = {}
    for _, one in held:
        counts[one.number] = counts.get(one.number, 0) + 1
    return Claim(
        code=code,
        stage=_STAGES[code],
        subject=gpu_subject(gpu),
        summary=f"{times} {ago} ago: Xid {xid.number}, {xid.name}. {xid.meaning}",
        evidence=tuple(
            Evidence(f"xid_{number}", count, f"Xid {number} {explained(number).name}, {count} times, {_blame(number)}")
            for number, count in counts.items()
        ),
        remedy=xid.action.replace(" -i N", f" -i {gpu.index}") + _LOG,
        began_s=held[0][0],
    )


def _blame(number: int) -> str:
    return f"mostly the fault of: {explained(number).blame.value}"
