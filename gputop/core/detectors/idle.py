"""The detector of idle processes that hold GPU memory, and what they cost: memory, and the power of their context."""

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
from gputop.core.processes.ending import end_command

KIND: Final = Kind(
    name="idle",
    question="Which processes hold GPU memory but do not use the GPU?",
    codes={"idle.holder": "A process holds GPU memory but has not used the GPU for a long time."},
    remedies={
        "idle.holder": "Ask its owner. To free the memory, end it: `gputop signal SIGTERM --pid PID`, or `F9`.",
    },
    dials=(
        Dial(
            "memory_bytes", 2.0**28, 0.0, 2.0**50,
            "gputop ignores idle processes that hold less GPU memory than this.",
        ),
        Dial("after_s", 600.0, 60.0, 86400.0, "If a process is idle for this time, that is an observation."),
        Dial("suspect_s", 3600.0, 60.0, 864000.0, "If a process is idle for this time, that is a suspect."),
        Dial(
            "full_percent", 80.0, 0.0, 100.0,
            "If more than this share of the GPU's memory is used, an idle process becomes a suspect at after_s "
            "already.",
        ),
        Dial(
            "unseen_s", 1200.0, 60.0, 864_000.0,
            "The same as after_s, if the GPU utilization of the process is unknown. It must use no CPU for this time. "
            "For a notebook or a prompt, after_s applies.",
        ),
        Dial(
            "rests_percent", 2.0, 0.0, 100.0,
            "In unseen_s: a process and its children use no CPU if they use less than this on average (see "
            "rests_smooth_s). A process that launches kernels uses more.",
        ),
        Dial("rests_smooth_s", 60.0, 0.1, 3600.0, "In unseen_s: gputop averages the CPU use over this time."),
        Dial(
            "work_weighs_times", 60.0, 0.0, 1000.0,
            "In unseen_s: CPU use shortens the time. With 60, one second of CPU use takes 60 seconds off it.",
        ),
        Dial("same_bytes", 16777216.0, 0.0, 1e12, "A process is not idle if its GPU memory changes by more than this."),
        Dial(
            "cpu_percent", 50.0, 1.0, 100_000.0,
            "A process that uses at least this much CPU, with its children, computes: it is not idle.",
        ),
        Dial(
            "cpu_s", 300.0, 0.0, 86400.0,
            "After a process computed on the CPU, gputop waits for up to this time before it calls the process idle.",
        ),
        Dial("crowd", 12.0, 1.0, 10000.0, "If more processes than this are idle on one GPU, they share one finding."),
    ),
)  # fmt: skip

_REPORTED_ELSEWHERE: Final = ("T", "t", "Z", "X", "D")  # states that other detectors report
_NOTED_S: Final = 10.0  # idle time after which the memory is followed
_AGAIN_S: Final = 20.0  # a claim that counts minutes is renewed this seldom
_MOST_NAMED: Final = 3


class IdleDetector:
    """Notes on each track since when its memory is the same. The detector `orphan` reports idle orphans."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._memory, self._full = dials["memory_bytes"], dials["full_percent"]
        self._after_s, self._suspect_s = dials["after_s"], dials["suspect_s"]
        self._same, self._crowd_size = dials["same_bytes"], dials["crowd"]
        self._cpu, self._cpu_s = dials["cpu_percent"], dials["cpu_s"]
        self._unseen_s, self._rests = dials["unseen_s"], dials["rests_percent"]
        self._rests_smooth_s = dials["rests_smooth_s"]
        self._work_weighs = dials["work_weighs_times"]
        self._claims: dict[Key, tuple[Claim, float]] = {}  # with the time at which to renew each
        self._crowds: dict[BoardKey, tuple[Claim, float]] = {}
        self._holders: dict[BoardKey, dict[Key, Track]] = {}
        self._prune_s = 0.0

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per idle process, or one per GPU that many of them share."""
        activity, now_s, after_s, orphans = Activity.of(context), context.now_s, self._after_s, Left.of(context).idle
        found: list[Track] = []
        crowded: set[BoardKey] = set()
        for track in activity.tracks:
            if (
                not self._noted(track, context)
                or _idle_s(track) < after_s
                or _is_reported(track, orphans)
                or not self._holds(track, now_s)
            ):
                continue
            where = track.board.key
            holders = self._holders.setdefault(where, {})
            holders[track.key] = track
            if len(holders) > self._crowd_size:
                crowded.add(where)
                continue
            known = self._claims.get(track.key)
            if known and now_s < known[1]:
                yield known[0]
            else:
                found.append(track)
        for group in groups(activity, found, lambda one: self._holds(one, now_s)) if found else ():
            yield self._kept(claim_of(group, context, self._suspect_s, self._full), group.tracks, now_s)
        for where in crowded:
            yield from self._crowd(where, activity, context)
        if now_s >= self._prune_s:
            self._prune(activity, now_s)

    def _noted(self, track: Track, context: Context) -> bool:
        """Note memory and CPU use of a process that may be idle; return whether it may."""
        if track.gu is None and track.board.is_known:
            self._note_rest(track, context)
        if _idle_s(track) < _NOTED_S:
            return False
        held = track.use.memory_bytes or 0
        if abs(held - track.held_bytes) > self._same:
            track.held_bytes, track.held_since_s = held, context.now_s
        self._note_cpu(track, context)
        return True

    def _note_cpu(self, track: Track, context: Context) -> None:
        """Count the time in which it computes on the CPU; rest shortens this."""
        used, children = track.process.cpu_percent or 0.0, context.relatives.get(track.process.pid)
        if children:
            used += sum([one.cpu_percent or 0.0 for one in children])
        if used >= self._cpu:
            track.computes_s = min(self._cpu_s, track.computes_s + track.step_s)
        elif track.computes_s:
            track.computes_s = max(0.0, track.computes_s - track.step_s)

    def _note_rest(self, track: Track, context: Context) -> None:
        """Count the time without CPU use: a process that launches no kernel does not use its GPU."""
        hosts = (track.process, *context.relatives.get(track.process.pid, ()))
        known = [one.cpu_percent for one in hosts if one.cpu_percent is not None]
        used = sum(known) if len(known) == len(hosts) else self._rests
        before = used if track.rest_percent is None else track.rest_percent
        track.rest_percent = before + (used - before) * track.step_s / (track.step_s + self._rests_smooth_s)
        is_at_rest = track.rest_percent < self._rests
        track.rests_s = max(0.0, track.rests_s + (1.0 if is_at_rest else -self._work_weighs) * track.step_s)

    def _crowd(self, where: BoardKey, activity: Activity, context: Context) -> Iterator[Claim]:
        known = self._crowds.get(where)
        gpu = activity.boards[where].gpu
        if known and context.now_s < known[1]:
            yield known[0]
        elif gpu:
            claim = crowd_claim(gpu, list(self._holders[where].values()), context, self._suspect_s, self._full)
            self._crowds[where] = (claim, context.now_s + _AGAIN_S)
            yield claim

    def _kept(self, claim: Claim, tracks: list[Track], now_s: float) -> Claim:
        for track in tracks:
            self._claims[track.key] = (claim, now_s + _AGAIN_S)
        return claim

    def _prune(self, activity: Activity, now_s: float) -> None:
        """Forget processes that work again or have exited."""
        self._prune_s = now_s + _AGAIN_S
        self._claims = {key: known for key, known in self._claims.items() if now_s < known[1]}
        for where, holders in tuple(self._holders.items()):
            left = {k: one for k, one in holders.items() if self._holds(one, now_s) and not activity.has_exited(one)}
            self._holders[where] = left
            if not left:
                del self._holders[where]

    def _holds(self, track: Track, now_s: float) -> bool:
        is_unseen = track.gu is None and not track.role.is_interactive
        if (
            track.process.state in _REPORTED_ELSEWHERE
            or _idle_s(track) < (self._unseen_s if is_unseen else self._after_s)
            or now_s - track.held_since_s < self._after_s
            or track.computes_s > 0
        ):
            return False
        return (track.use.memory_bytes or 0) >= self._memory and not track.role.is_daemon


def _idle_s(track: Track) -> float:
    """Return how long it has been idle: by its GPU, or by its CPU use where the driver does not report that."""
    return track.idle_s if track.gu is not None else track.rests_s


def _is_reported(track: Track, orphans: Container[tuple[int, int | None]]) -> bool:
    """Return whether another detector reports the process: an orphan finding says more, the idle time included."""
    return (track.process.pid, track.process.start_ticks) in orphans


def claim_of(group: Group, context: Context, suspect_s: float, full_percent: float) -> Claim:
    """Return the claim about an idle process or job."""
    track = group.first
    idle_s = min(_idle_s(one) for one in group.tracks)
    is_seen = all(one.gu is not None for one in group.tracks)
    held = sum(one.use.memory_bytes or 0 for one in group.tracks)
    is_suspect = idle_s >= suspect_s or any(used_percent(one.board.gpu) > full_percent for one in group.tracks)
    watts, watts_text = _watts(group)
    energy = value_text(watts * idle_s, Unit.JOULES)
    spent = held / 2**30 * idle_s / 3600
    has_worked = track.busy_s > 0
    idle = f"idle for {'' if has_worked else 'at least '}{duration_text(idle_s)}"
    cost = f"{spent:.1f} GiB·h" + (f" and {energy} ({watts_text})" if watts_text else "") + " wasted so far"
    return Claim(
        code="idle.holder",
        stage=Stage.SUSPECT if is_suspect and not track.role.is_server else Stage.OBSERVATION,
        subject=group.subject,
        summary=f"{count_text(group)}{idle}: {_held_text(group, held)} held, {cost}{_who(track)}",
        evidence=(
            Evidence("idle_s", round(idle_s, 1), idle, round(track.longest_pause_s, 1) or None),
            *_evidence(held, spent),
            *((Evidence("power_w", round(watts, 1), watts_text),) if watts else ()),
            *((Evidence("energy_j", round(watts * idle_s), f"{energy} ({watts_text})"),) if watts else ()),
        ),
        remedy=_remedy(track),
        action="signal",
        confidence=0.5 if not is_seen else 0.9 if has_worked or idle_s >= suspect_s else 0.7,
        lacking=_lacking(has_worked=has_worked, is_seen=is_seen),
        began_s=context.now_s - idle_s,
    )


def _lacking(*, has_worked: bool, is_seen: bool) -> tuple[str, ...]:
    if not is_seen:
        return ("its GPU utilization (gputop judges by its CPU use)",)
    return () if has_worked else ("when it last worked (gputop started later)",)


def crowd_claim(gpu: Gpu, tracks: Sequence[Track], context: Context, suspect_s: float, full_percent: float) -> Claim:
    """Return one claim about many idle processes on one GPU."""
    held = sum(one.use.memory_bytes or 0 for one in tracks)
    spent = sum((one.use.memory_bytes or 0) / 2**30 * _idle_s(one) / 3600 for one in tracks)
    least_s, most_s = min(_idle_s(one) for one in tracks), max(_idle_s(one) for one in tracks)
    users = Counter(one.process.user or "?" for one in tracks).most_common()
    named = ", ".join(f"{user} {count}" for user, count in users[:_MOST_NAMED])
    more = f", {len(users) - _MOST_NAMED} more users" if len(users) > _MOST_NAMED else ""
    is_suspect = least_s >= suspect_s or used_percent(gpu) > full_percent
    least, most = duration_text(least_s), duration_text(most_s)
    idle = f"idle for {least}" + (f" to {most}" if most != least else "")
    return Claim(
        code="idle.holder",
        stage=Stage.SUSPECT if is_suspect else Stage.OBSERVATION,
        subject=gpu_subject(gpu),
        summary=f"{len(tracks)} processes ({named}{more}) {idle}: {bytes_text(held)} held, {spent:.1f} GiB·h wasted "
        f"so far",
        evidence=(
            Evidence("idle_s", round(least_s, 1), idle),
            *_evidence(held, spent),
            Evidence("processes", len(tracks), f"{len(tracks)} processes"),
        ),
        remedy="Sort by GPU memory (G), filter for sm=0 (F4), and ask the owners whether they still need them.",
        confidence=0.9,
        began_s=context.now_s - least_s,
    )


def _evidence(held: int, spent: float) -> tuple[Evidence, ...]:
    return (
        Evidence("memory_bytes", held, bytes_text(held)),
        Evidence("memory_gib_hours", round(spent, 2), f"{spent:.1f} GiB·h"),
    )


def used_percent(gpu: Gpu | None) -> float:
    """Return the used share of a GPU's memory in percent; 0 if unknown."""
    used, total = (gpu[MEMORY_USED], gpu[MEMORY_TOTAL]) if gpu else (None, None)
    return 100 * used / total if used and total else 0.0


def _held_text(group: Group, held: int) -> str:
    gpu = group.first.board.gpu
    total = gpu[MEMORY_TOTAL] if gpu and len(group.tracks) == 1 else None
    return f"{bytes_text(held)} ({100 * held / total:.0f}%)" if total else bytes_text(held)


def _watts(group: Group) -> tuple[float, str]:
    """Return the watts that the contexts draw: all of a GPU without other processes, else the measured increase."""
    alone = [one.board for one in group.tracks if one.board.holders == 1 and one.board.watts is not None]
    if len(alone) == len(group.tracks):
        watts = sum(board.watts or 0.0 for board in alone)
        return watts, f"{watts:.0f} W of an otherwise empty GPU" if len(alone) == 1 else f"{watts:.0f} W of idle GPUs"
    learned = [(one.board.context_w, one.board.empty_w) for one in group.tracks]
    added = sum(max(0.0, context - empty) for context, empty in learned if context and empty)
    return added, f"about {added:.0f} W for its context" if added else ""


def _who(track: Track) -> str:
    if track.role.is_server:
        return " · a server without requests"
    if track.role.is_interactive:
        return " · a notebook or shell"
    if track.busy_s:
        return f" · it worked for {duration_text(track.busy_s)} before: it has finished, waits, or has stalled"
    return ""


def _remedy(track: Track) -> str:
    owner = track.process.user or "its owner"
    end = end_command(track.process)
    if track.role.is_server:
        return f"Stop it while it has no requests ({end}), or let another model share its GPU."
    if track.role.is_interactive:
        return f"Ask {owner} to shut down the Jupyter kernel or shell, or to free its GPU memory. To end it: {end}"
    return f"Ask {owner} whether it is still needed. To free the memory, end it: {end}"
