"""Who holds GPU memory without work, for how long, and what does it cost? Memory, and the power of its context."""

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Final

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.board import BoardKey
from gputop.core.detectors.activity.group import Group, count_text, groups
from gputop.core.detectors.activity.process import Key, Track
from gputop.core.detectors.orphan.parent import Left
from gputop.core.detectors.subjects import gpu_subject
from gputop.core.model.catalogue import MEMORY_TOTAL, MEMORY_USED
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.metric import Unit
from gputop.core.model.sample import Gpu
from gputop.core.model.units import bytes_text, duration_text, value_text

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
_MOST_NAMED: Final = 3


class IdleDetector:
    """Notes on the tracks since when the memory has been the same. Idle orphans are told by `orphan`."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._memory, self._full = dials["memory_bytes"], dials["full_percent"]
        self._after_s, self._suspect_s = dials["after_s"], dials["suspect_s"]
        self._same, self._crowd_size = dials["same_bytes"], dials["crowd"]
        self._told: dict[Key, tuple[Claim, float]] = {}  # and until when that will do
        self._crowds: dict[BoardKey, tuple[Claim, float]] = {}
        self._holders: dict[BoardKey, dict[Key, Track]] = {}
        self._prune_s = 0.0

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return who holds memory without work; of many on one GPU, all of them as one."""
        activity, now_s, after_s, orphans = Activity.of(context), context.now_s, self._after_s, Left.of(context).idle
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
        for group in groups(activity, found, lambda one: self._holds(one, now_s)) if found else ():
            yield self._kept(claim_of(group, context, self._suspect_s, self._full), group.tracks, now_s)
        for where in crowded:
            yield from self._crowd(where, activity, context)
        if now_s >= self._prune_s:
            self._prune(activity, now_s)

    def _crowd(self, where: BoardKey, activity: Activity, context: Context) -> Iterator[Claim]:
        told = self._crowds.get(where)
        gpu = activity.boards[where].gpu
        if told and context.now_s < told[1]:
            yield told[0]
        elif gpu:
            claim = crowd_claim(gpu, list(self._holders[where].values()), context, self._suspect_s, self._full)
            self._crowds[where] = (claim, context.now_s + _AGAIN_S)
            yield claim

    def _kept(self, claim: Claim, tracks: list[Track], now_s: float) -> Claim:
        for track in tracks:
            self._told[track.key] = (claim, now_s + _AGAIN_S)
        return claim

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


def claim_of(group: Group, context: Context, suspect_s: float, full_percent: float) -> Claim:
    """Return the finding about a process or a job."""
    track = group.first
    idle_s = min(one.idle_s for one in group.tracks)
    held = sum(one.use.memory_bytes or 0 for one in group.tracks)
    is_suspect = idle_s >= suspect_s or any(used_percent(one.board.gpu) > full_percent for one in group.tracks)
    watts, watts_text = _watts(group)
    energy = value_text(watts * idle_s, Unit.JOULES)
    spent = held / 2**30 * idle_s / 3600
    has_worked = track.busy_s > 0
    since = "no GPU work for" if has_worked else "no GPU work since gputop looks, for"
    return Claim(
        code="idle.holder",
        stage=Stage.SUSPECT if is_suspect and not track.role.is_server else Stage.OBSERVATION,
        subject=group.subject,
        summary=f"{count_text(group)}{since} {duration_text(idle_s)}, holds {_held_text(group, held)}; "
        f"cost so far {spent:.1f} GiB·h{watts_text and f' and {energy} ({watts_text})'}{_who(track)}",
        evidence=(
            *_evidence(idle_s, held, spent),
            *((Evidence("power_w", round(watts, 1), watts_text),) if watts else ()),
            *((Evidence("energy_j", round(watts * idle_s), f"{energy} at that power"),) if watts else ()),
        ),
        remedy=_remedy(track),
        action="signal",
        confidence=0.9 if has_worked or idle_s >= suspect_s else 0.7,
        lacking=() if has_worked else ("when it last worked, before gputop looked",),
        began_s=context.now_s - idle_s,
    )


def crowd_claim(gpu: Gpu, tracks: Sequence[Track], context: Context, suspect_s: float, full_percent: float) -> Claim:
    """Return one finding about many processes on one GPU: nobody reads hundreds."""
    held = sum(one.use.memory_bytes or 0 for one in tracks)
    spent = sum((one.use.memory_bytes or 0) / 2**30 * one.idle_s / 3600 for one in tracks)
    least_s, most_s = min(one.idle_s for one in tracks), max(one.idle_s for one in tracks)
    users = Counter(one.process.user or "?" for one in tracks).most_common()
    named = ", ".join(f"{user} {count}" for user, count in users[:_MOST_NAMED])
    more = f", {len(users) - _MOST_NAMED} more users" if len(users) > _MOST_NAMED else ""
    is_suspect = least_s >= suspect_s or used_percent(gpu) > full_percent
    return Claim(
        code="idle.holder",
        stage=Stage.SUSPECT if is_suspect else Stage.OBSERVATION,
        subject=gpu_subject(gpu),
        summary=f"{len(tracks)} processes ({named}{more}) without GPU work for {duration_text(least_s)} to "
        f"{duration_text(most_s)} hold {bytes_text(held)}; cost so far {spent:.1f} GiB·h",
        evidence=(*_evidence(least_s, held, spent), Evidence("processes", len(tracks), f"{len(tracks)} processes")),
        remedy="Sort by GPU memory (G), filter for sm=0 (F4), and ask their owners whether they are still needed.",
        confidence=0.9,
        began_s=context.now_s - least_s,
    )


def _evidence(idle_s: float, held: int, spent: float) -> tuple[Evidence, ...]:
    return (
        Evidence("idle_s", round(idle_s, 1), f"idle for {duration_text(idle_s)}"),
        Evidence("memory_bytes", held, f"holds {bytes_text(held)}"),
        Evidence("memory_gib_hours", round(spent, 2), f"{spent:.1f} GiB·h held in vain"),
    )


def used_percent(gpu: Gpu | None) -> float:
    """Return how full the memory of a GPU is; 0 where that is not known."""
    used, total = (gpu[MEMORY_USED], gpu[MEMORY_TOTAL]) if gpu else (None, None)
    return 100 * used / total if used and total else 0.0


def _held_text(group: Group, held: int) -> str:
    gpu = group.first.board.gpu
    total = gpu[MEMORY_TOTAL] if gpu and len(group.tracks) == 1 else None
    return f"{bytes_text(held)} ({100 * held / total:.0f}%)" if total else bytes_text(held)


def _watts(group: Group) -> tuple[float, str]:
    """Return what the contexts draw: all of a GPU that nobody else is on, else what a context was seen to add."""
    alone = [one.board for one in group.tracks if one.board.holders == 1 and one.board.watts is not None]
    if len(alone) == len(group.tracks):
        watts = sum(board.watts or 0.0 for board in alone)
        return watts, f"{watts:.0f} W of an otherwise empty GPU" if len(alone) == 1 else f"{watts:.0f} W of empty GPUs"
    learned = [(one.board.context_w, one.board.empty_w) for one in group.tracks]
    added = sum(max(0.0, context - empty) for context, empty in learned if context and empty)
    return added, f"about {added:.0f} W for its context" if added else ""


def _who(track: Track) -> str:
    if track.role.is_server:
        return "; it serves, and no requests come"
    if track.role.is_interactive:
        return "; a notebook or prompt"
    return ""


def _remedy(track: Track) -> str:
    owner = track.process.user or "its owner"
    end = f"gputop signal SIGTERM --pid {track.process.pid}"
    if track.role.is_server:
        return f"Stop it while nobody asks ({end}), or let another model share its GPU."
    if track.role.is_interactive:
        return f"Ask {owner} to shut the kernel down, or to delete what it keeps on the GPU. To end it: {end}"
    return f"Ask {owner} whether it is still needed; ending it frees the memory: {end}"
