"""Who holds GPU memory without work, for how long, and what does it cost? Memory, and the power of its context."""

from collections.abc import Container, Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Dial, Kind, Look, Sign
from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.board import BoardKey
from gputop.core.detectors.activity.party import parties
from gputop.core.detectors.activity.process import Key, Track
from gputop.core.detectors.idle_wording import crowd_sign, sign_of
from gputop.core.detectors.orphan.parent import Left

KIND: Final = Kind(
    name="idle",
    question="Who holds GPU memory without work, for how long, and what does it cost?",
    codes={"idle.holder": "A process holds GPU memory and has not used the GPU for long."},
    remedies={
        "idle.holder": "Ask its owner; ending it frees the memory: `gputop signal SIGTERM --pid PID`, or `F9`.",
    },
    dials=(
        Dial(key="memory_bytes", default=2.0**28, least=0.0, most=2.0**50, help="Memory held from which it is told."),
        Dial(key="after_s", default=600.0, least=60.0, most=86400.0, help="Idle for so long is worth a line."),
        Dial(key="suspect_s", default=3600.0, least=60.0, most=864000.0, help="Idle for so long is a suspect."),
        Dial(
            key="full_percent", default=80.0, least=0.0, most=100.0,
            help="With so much of the GPU's memory used, a holder is a suspect at once.",
        ),
        Dial(
            key="same_bytes", default=16777216.0, least=0.0, most=1e12,
            help="A change of its memory above this is a sign of life.",
        ),
        Dial(
            key="crowd", default=12.0, least=1.0, most=10000.0,
            help="More holders than this on one GPU are one finding.",
        ),
    ),
)  # fmt: skip

_SAID: Final = ("T", "t", "Z", "X", "D")  # other detectors tell what is wrong with these
_NOTED_S: Final = 10.0  # from then on memory is followed
_AGAIN_S: Final = 20.0  # what is told in minutes and hours need not be told anew each second


class IdleDetector:
    """Notes on the tracks since when the memory has been the same. Idle orphans are told by `orphan`."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._memory, self._full = dials["memory_bytes"], dials["full_percent"]
        self._after_s, self._suspect_s = dials["after_s"], dials["suspect_s"]
        self._same, self._crowd_size = dials["same_bytes"], dials["crowd"]
        self._told: dict[Key, tuple[Sign, float]] = {}  # and until when that will do
        self._crowds: dict[BoardKey, tuple[Sign, float]] = {}
        self._holders: dict[BoardKey, dict[Key, Track]] = {}
        self._prune_s = 0.0

    def look(self, look: Look) -> Iterator[Sign]:
        """Return who holds memory without work; of many on one GPU, all of them as one."""
        activity, now_s, after_s, orphans = Activity.of(look), look.now_s, self._after_s, Left.of(look).idle
        found: list[Track] = []
        crowded: set[BoardKey] = set()
        for track in activity.tracks:
            if track.idle_s < _NOTED_S:
                continue
            held = track.use.memory_bytes or 0
            if abs(held - track.held_bytes) > self._same:
                track.held_bytes, track.held_since_s = held, now_s
            if track.idle_s < after_s or _is_told(track, orphans) or not self._holds(track, now_s):
                continue
            where = track.board.key
            holders = self._holders.setdefault(where, {})
            holders[track.key] = track
            if len(holders) > self._crowd_size:
                crowded.add(where)
                continue
            told = self._told.get(track.key)
            if told and now_s < told[1]:
                yield told[0]
            else:
                found.append(track)
        for party in parties(activity, found, lambda one: self._holds(one, now_s)) if found else ():
            yield self._kept(sign_of(party, look, self._suspect_s, self._full), party.tracks, now_s)
        for where in crowded:
            yield from self._crowd(where, activity, look)
        if now_s >= self._prune_s:
            self._prune(activity, now_s)

    def _crowd(self, where: BoardKey, activity: Activity, look: Look) -> Iterator[Sign]:
        told = self._crowds.get(where)
        gpu = activity.boards[where].gpu
        if told and look.now_s < told[1]:
            yield told[0]
        elif gpu:
            sign = crowd_sign(gpu, list(self._holders[where].values()), look, self._suspect_s, self._full)
            self._crowds[where] = (sign, look.now_s + _AGAIN_S)
            yield sign

    def _kept(self, sign: Sign, tracks: list[Track], now_s: float) -> Sign:
        for track in tracks:
            self._told[track.key] = (sign, now_s + _AGAIN_S)
        return sign

    def _prune(self, activity: Activity, now_s: float) -> None:
        """Forget who works again or is gone."""
        self._prune_s = now_s + _AGAIN_S
        self._told = {key: told for key, told in self._told.items() if now_s < told[1]}
        for where, holders in tuple(self._holders.items()):
            left = {k: one for k, one in holders.items() if self._holds(one, now_s) and not activity.is_gone(one)}
            self._holders[where] = left
            if not left:
                del self._holders[where]

    def _holds(self, track: Track, now_s: float) -> bool:
        if (
            track.process.state in _SAID
            or track.idle_s < self._after_s
            or now_s - track.held_since_s < self._after_s
            or track.gu is None
        ):
            return False
        return (track.use.memory_bytes or 0) >= self._memory and not track.role.is_daemon


def _is_told(track: Track, orphans: Container[tuple[int, int | None]]) -> bool:
    """Say whether somebody else tells it: that its parent is gone says more, and for how long it is idle as well."""
    return bool(track.verdict) or (track.process.pid, track.process.start_ticks) in orphans
