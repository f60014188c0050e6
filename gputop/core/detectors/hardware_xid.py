"""What errors has the driver reported? Their meaning, who is to blame, and what to do."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gputop.core.detector import Look, Sign
from gputop.core.detectors.counters import EachGpu
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.finding import Evidence, Stage
from gputop.core.sample import Gpu, XidEvent
from gputop.core.units import duration_text
from gputop.core.xid import Blame, Xid, XidKind, explained

_GRAVE, _APPLICATION, _NOTE = "xid.grave", "xid.application", "xid.note"
_STAGES: Final = {_GRAVE: Stage.ALARM, _APPLICATION: Stage.SUSPECT, _NOTE: Stage.OBSERVATION}
_BESIDE_S: Final = 60.0  # an Xid that follows another comes within seconds of it


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
        self._lasts_s = {_GRAVE: dials["grave_xid_s"], _APPLICATION: dials["xid_s"], _NOTE: dials["xid_s"]}
        self._seen = EachGpu(_Seen)

    def look(self, look: Look) -> Iterator[Sign]:
        """Return a sign for each GPU and gravity, about the latest error."""
        for gpu in look.sample.gpus:
            seen = self._seen.of(gpu.uuid, look.now_s)
            seen.take(gpu.xids, look.now_s)
            if seen.events:
                yield from self._of(gpu, seen.events, look)
        self._seen.forget(look.now_s)

    def _of(self, gpu: Gpu, events: Mapping[XidEvent, float], look: Look) -> Iterator[Sign]:
        found: dict[str, list[tuple[float, Xid]]] = {}
        known = [(seen_s, explained(event.xid)) for event, seen_s in events.items()]
        for seen_s, xid in known:
            code = _code(xid)
            if look.now_s - seen_s <= self._lasts_s[code] and not _follows(xid, seen_s, known):
                found.setdefault(code, []).append((seen_s, xid))
        for code, held in found.items():
            yield _sign(gpu, code, held, look)


def _code(xid: Xid) -> str:
    if xid.kind.is_grave:
        return _GRAVE
    return _APPLICATION if xid.kind is XidKind.APP else _NOTE


def _follows(xid: Xid, seen_s: float, known: Sequence[tuple[float, Xid]]) -> bool:
    """Say whether an error is nothing but the consequence of another one beside it."""
    return xid.blame is Blame.ANOTHER and any(
        other.blame is not Blame.ANOTHER and abs(at_s - seen_s) <= _BESIDE_S for at_s, other in known
    )


def _sign(gpu: Gpu, code: str, held: Sequence[tuple[float, Xid]], look: Look) -> Sign:
    last_s, xid = held[-1]
    ago = duration_text(look.now_s - last_s)
    times = f"{len(held)} errors in {duration_text(look.now_s - held[0][0])}, the last" if len(held) > 1 else "an error"
    counts: dict[int, int] = {}
    for _, one in held:
        counts[one.number] = counts.get(one.number, 0) + 1
    return Sign(
        code=code,
        stage=_STAGES[code],
        subject=gpu_subject(gpu),
        summary=f"{times} {ago} ago: Xid {xid.number}, {xid.name}. {xid.meaning}",
        evidence=tuple(
            Evidence(f"xid_{number}", count, f"Xid {number} {explained(number).name}, {count} times, {_blame(number)}")
            for number, count in counts.items()
        ),
        remedy=xid.action.replace(" -i N", f" -i {gpu.index}"),
        began_s=held[0][0],
    )


def _blame(number: int) -> str:
    return f"mostly the fault of: {explained(number).blame.value}"
