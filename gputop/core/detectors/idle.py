"""Who holds GPU memory without work, for how long, and what does it cost? Memory, and the power of its context."""

from collections.abc import Iterator, Mapping
from typing import Final

from gputop.core.detector import Dial, Kind, Look, Sign
from gputop.core.detectors.activity import Activity
from gputop.core.detectors.activity_party import Party, count_text, parties
from gputop.core.detectors.activity_track import Key, Track
from gputop.core.finding import Evidence, Stage
from gputop.core.metrics import MEMORY_TOTAL, MEMORY_USED
from gputop.core.units import bytes_text, duration_text

KIND: Final = Kind(
    name="idle",
    question="Who holds GPU memory without work, for how long, and what does it cost?",
    codes={"idle.holder": "A process holds GPU memory and has not used the GPU for long."},
    dials=(
        Dial(key="memory_bytes", default=2.0**28, least=0.0, most=2.0**50, help="Memory that is worth a line."),
        Dial(key="after_s", default=600.0, least=60.0, most=86400.0, help="Idle for so long is worth a line."),
        Dial(key="suspect_s", default=3600.0, least=60.0, most=864000.0, help="Idle for so long is a suspect."),
        Dial(key="full_percent", default=80.0, least=0.0, most=100.0, help="With so much used, it is one at once."),
    ),
)

_NOTED_S: Final = 10.0  # from then on memory is followed
_AGAIN_S: Final = 20.0  # what is told in minutes and hours need not be told anew each second
_SOME: Final = 64
_SAME: Final = 16 * 1024.0**2  # bytes: more than this is a sign of life


class IdleDetector:
    """Notes on the tracks since when the memory has been the same."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._memory, self._full = dials["memory_bytes"], dials["full_percent"]
        self._after_s, self._suspect_s = dials["after_s"], dials["suspect_s"]
        self._told: dict[Key, tuple[Sign, float]] = {}  # and until when that will do

    def look(self, look: Look) -> Iterator[Sign]:
        """Return who holds memory without work."""
        activity, now_s, after_s = Activity.of(look), look.now_s, self._after_s
        found = []
        for track in activity.tracks:
            if track.idle_s < _NOTED_S:
                continue
            held = track.use.memory_bytes or 0
            if abs(held - track.held_bytes) > _SAME:
                track.held_bytes, track.held_since_s = held, now_s
            if track.idle_s < after_s or track.verdict or not self._holds(track, now_s):
                continue
            told = self._told.get(track.key)
            if told and now_s < told[1]:
                yield told[0]
            else:
                found.append(track)
        for party in parties(activity, found, lambda one: self._holds(one, now_s)) if found else ():
            sign = self._sign(party, look)
            for track in party.tracks:
                self._told[track.key] = (sign, now_s + _AGAIN_S)
            yield sign
        if len(self._told) > 2 * len(look.sample.processes) + _SOME:
            self._told = {key: told for key, told in self._told.items() if now_s < told[1]}

    def _holds(self, track: Track, now_s: float) -> bool:
        if track.idle_s < self._after_s or now_s - track.held_since_s < self._after_s or track.gu is None:
            return False
        return (track.use.memory_bytes or 0) >= self._memory and not track.role.is_daemon

    def _sign(self, party: Party, look: Look) -> Sign:
        track = party.first
        idle_s = min(one.idle_s for one in party.tracks)
        held = sum(one.use.memory_bytes or 0 for one in party.tracks)
        is_scarce = any(_used_percent(one) > self._full for one in party.tracks)
        is_suspect = idle_s >= self._suspect_s or is_scarce
        watts, watts_text = _watts(party)
        spent = held / 2**30 * idle_s / 3600
        has_worked = track.busy_s > 0
        since = "no GPU work for" if has_worked else "no GPU work since gputop looks, for"
        return Sign(
            code="idle.holder",
            stage=Stage.SUSPECT if is_suspect and not track.role.is_server else Stage.OBSERVATION,
            subject=party.subject,
            summary=f"{count_text(party)}{since} {duration_text(idle_s)}, holds {_held_text(party, held)}; "
            f"cost so far {spent:.1f} GiB·h{watts_text and f' and {watts_text}'}{_who(track)}",
            evidence=(
                Evidence("idle_s", round(idle_s, 1), f"idle for {duration_text(idle_s)}"),
                Evidence("memory_bytes", held, f"holds {bytes_text(held)}"),
                Evidence("memory_gib_hours", round(spent, 2), f"{spent:.1f} GiB·h held in vain"),
                *((Evidence("power_w", round(watts, 1), watts_text),) if watts else ()),
            ),
            remedy=_remedy(track),
            action="signal",
            confidence=0.9 if has_worked or idle_s >= self._suspect_s else 0.7,
            lacking=() if has_worked else ("when it last worked, before gputop looked",),
            began_s=look.now_s - idle_s,
            hold_s=60.0,
        )


def _used_percent(track: Track) -> float:
    gpu = track.board.gpu
    used, total = (gpu[MEMORY_USED], gpu[MEMORY_TOTAL]) if gpu else (None, None)
    return 100 * used / total if used and total else 0.0


def _held_text(party: Party, held: int) -> str:
    gpu = party.first.board.gpu
    total = gpu[MEMORY_TOTAL] if gpu and len(party.tracks) == 1 else None
    return f"{bytes_text(held)} ({100 * held / total:.0f}%)" if total else bytes_text(held)


def _watts(party: Party) -> tuple[float, str]:
    """Return what the contexts draw: all of a GPU that nobody else is on, else what a context was seen to add."""
    alone = [one.board for one in party.tracks if one.board.holders == 1 and one.board.watts is not None]
    if len(alone) == len(party.tracks):
        watts = sum(board.watts or 0.0 for board in alone)
        return watts, f"{watts:.0f} W of an otherwise empty GPU" if len(alone) == 1 else f"{watts:.0f} W of empty GPUs"
    learned = [(one.board.context_w, one.board.empty_w) for one in party.tracks]
    added = sum(max(0.0, context - empty) for context, empty in learned if context and empty)
    return added, f"about {added:.0f} W for its context" if added else ""


def _who(track: Track) -> str:
    if track.role.is_server:
        return "; it serves, and no requests come"
    if track.role.is_interactive:
        return "; a notebook or prompt"
    return ""


def _remedy(track: Track) -> str:
    process = track.process
    if track.role.is_server:
        return "Stop it while nobody asks, or let another model share its GPU."
    if track.role.is_interactive:
        return f"Ask {process.user or 'its owner'} to shut the kernel down, or to delete what it keeps on the GPU."
    return f"Ask {process.user or 'its owner'} whether it is still needed; ending it frees the memory."
