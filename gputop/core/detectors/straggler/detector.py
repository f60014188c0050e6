"""The detector of ranks and GPUs that are slower than their siblings. All ranks wait for the slowest.

In synchronous training the slow rank shows the lower utilization: it enters the collective last, while the others wait
in it at 100 %. Where all of them show 100 %, one that works while the others wait takes more power, and moves more.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.process import Key, Track, workers
from gputop.core.detectors.activity.ranks import Ranks
from gputop.core.detectors.straggler.claim import Slow, claim_of
from gputop.core.detectors.straggler.levels import Levels, Pace, compare, learned, note_alone

KIND: Final = Kind(
    name="straggler",
    question="Is one GPU or one rank of a job slower than the others?",
    codes={
        "straggler.gpu": "A GPU of a job is slower than the others, and all ranks wait for it.",
        "straggler.host": "A rank keeps its GPU less busy than the other ranks do, and they wait for it.",
        "straggler.neighbour": "A rank shares its GPU with another program, and the other ranks wait for it.",
    },
    remedies={
        "straggler.gpu": "See why: `nvidia-smi -q -d PERFORMANCE,CLOCK,POWER -i N`. Keep the GPU out of jobs until "
        "it is repaired.",
        "straggler.host": "Check its threads (`py-spy dump --pid PID`), its data and its NUMA node (`a` shows cores).",
        "straggler.neighbour": "Move the other program to another GPU: `gputop -i N` lists the processes.",
    },
    dials=(
        Dial("after_s", 120.0, 30.0, 3600.0, "If a rank is slower than the others for this time, that is a suspect."),
        Dial(
            "alarm_s", 300.0, 30.0, 86400.0,
            "If a rank is much slower (see alarm_percent) for this time, that is an alarm.",
        ),
        Dial(
            "alarm_percent", 67.0, 1.0, 100.0,
            "A rank is much slower if its speed is less than this share of the speed of the other ranks. The speed is "
            "measured by clock, utilization or power.",
        ),
        Dial(
            "clock_percent", 93.0, 1.0, 100.0,
            "A rank is slower if its clock is below this share of the clock of the other ranks.",
        ),
        Dial(
            "behind_points", 8.0, 1.0, 100.0,
            "A rank is also slower if its GPU utilization is lower by more than this many percentage points. With 8: "
            "85% if the others have 94%.",
        ),
        Dial(
            "works_percent", 50.0, 1.0, 100.0,
            "A lower clock counts only while the GPU utilization of the rank is at least this.",
        ),
        Dial(
            "full_percent", 85.0, 1.0, 100.0,
            "A lower GPU utilization counts only while that of the other ranks is at least this. Ranks that "
            "wait for the slow one show full utilization.",
        ),
        Dial(
            "spread_times", 6.0, 0.0, 100.0,
            "The gap in GPU utilization must also be unusual. With 6, it must be 6 times the usual difference between "
            "the ranks.",
        ),
        Dial(
            "clearly_points", 15.0, 1.0, 100.0,
            "A gap in GPU utilization of this many percentage points always counts. A smaller gap counts only if it is "
            "new.",
        ),
        Dial(
            "apart_percent", 20.0, 1.0, 1000.0,
            "If all ranks are at full utilization, a rank is slower if its power, memory utilization or SM activity "
            "differs from the others by this share. The difference must be new.",
        ),
        Dial(
            "clearly_percent", 45.0, 1.0, 1000.0,
            "The same as apart_percent, for a rank that does more than the others. The difference may be old.",
        ),
        Dial(
            "fallen_percent", 15.0, 1.0, 100.0,
            "A job has become slower if the power of all its ranks has fallen by this share, at full utilization.",
        ),
        Dial(
            "fallen_apart_percent", 5.0, 1.0, 1000.0,
            "The same as apart_percent, for a job that has become slower (see fallen_percent).",
        ),
        Dial(
            "fallen_ranks", 4.0, 3.0, 100000.0,
            "fallen_apart_percent counts only if the job has at least this many ranks.",
        ),
        Dial(
            "alone_percent", 20.0, 1.0, 100.0,
            "A rank is also slower if it works while all others wait, for this share of the time.",
        ),
        Dial("alone_s", 120.0, 1.0, 3600.0, "gputop averages alone_percent over this time."),
        Dial(
            "work_percent", 40.0, 0.0, 100.0,
            "A rank whose GPU has always been less busy than the others is slower only if it does about as "
            "much work as the others. With 40: it takes at least 40% of their power, counted from idle power. "
            "A parameter server takes less.",
        ),
        Dial("learn_s", 600.0, 60.0, 86400.0, "gputop learns the usual gaps between the ranks during this time."),
        Dial(
            "known_s", 300.0, 30.0, 86400.0,
            "gputop must compare the ranks for this time before it can call a gap new.",
        ),
        Dial(
            "ranks", 3.0, 3.0, 100000.0,
            "gputop compares the ranks only if the job has at least this many. With two, it cannot know which one is "
            "slow.",
        ),
        Dial("smooth_s", 20.0, 1.0, 3600.0, "gputop averages clock and GPU utilization over this time."),
        Dial(
            "falls_times", 3.0, 0.0, 1000.0,
            "How fast gputop forgets. With 3, one second without a gap takes 3 seconds off the counted time.",
        ),
        Dial(
            "pauses_s", 2.0, 1.0, 3600.0,
            "gputop does not compare the ranks of a job after one of them was idle for this time.",
        ),
        Dial(
            "rests_percent", 10.0, 0.0, 100.0,
            "In pauses_s and fed_s, idle means a GPU utilization below this.",
        ),
        Dial("fed_s", 30.0, 1.0, 3600.0, "The same as pauses_s, for a rank whose data loaders work."),
    ),
)  # fmt: skip

_AT_A_TIME: Final = 16  # jobs per sample: more of them take turns, and so do those with many ranks
_RANKS_AT_A_TIME: Final = 500


class _Rank(Struct):
    clock: float | None = None
    usual_gap: float = 0.0
    slow_s: float = 0.0
    behind_s: float = 0.0
    levels: Levels = field(default_factory=Levels)

    @property
    def gu(self) -> float:
        """Return the smoothed utilization."""
        return self.levels.gu

    def copied(self) -> "_Rank":
        """Return a copy, which stays as it is."""
        return replace(self, levels=replace(self.levels, now=[*self.levels.now], usual=[*self.levels.usual]))


class _Race(Struct):
    """The ranks of a job, compared while all of them work. ``before``: a copy from before the present pause."""

    ranks: dict[Key, _Rank] = {}
    rests: dict[Key, float] = {}
    pace: Pace = field(default_factory=Pace)
    seen_s: float = 0.0
    compared_s: float = 0.0
    slowest_s: float = 0.0  # the longest time for which a rank has been slow
    before: "_Race | None" = None

    def copied(self) -> "_Race":
        """Return a copy, which stays as it is."""
        ranks = {key: one.copied() for key, one in self.ranks.items()}
        return replace(self, ranks=ranks, pace=replace(self.pace), before=None)

    def return_to(self, before: "_Race") -> None:
        """Forget what was compared since a copy was made."""
        self.ranks, self.pace, self.compared_s = before.ranks, before.pace, before.compared_s
        self.slowest_s, self.before = before.slowest_s, None


class StragglerDetector:
    """Compares the ranks of each job."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._races: dict[str, _Race] = {}
        self._turn = 0

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per rank that is slower than the others."""
        by_job = Activity.of(context).by_job
        self._turn += 1
        ranks_in_all = sum([len(ranks.tracks) for ranks in by_job.values()])
        turns = 1 + max(len(by_job) // _AT_A_TIME, ranks_in_all // _RANKS_AT_A_TIME)
        for at, (key, ranks) in enumerate(by_job.items()):
            if len(ranks.tracks) < self._dials["ranks"] or (at + self._turn) % turns:
                continue
            race = self._races.get(key)
            if race is None:
                race = self._races[key] = _Race(seen_s=context.now_s)
            step_s, race.seen_s = context.now_s - race.seen_s, context.now_s
            self._note_rests(ranks.tracks, race, step_s)
            if step_s and _is_comparable(ranks, race.rests, context, self._dials):
                self._compare(ranks.tracks, race, step_s)
            elif step_s and race.before is not None and any(race.rests.values()):
                race.return_to(race.before)  # the first seconds of a pause are no difference in speed
            if race.slowest_s >= self._dials["after_s"]:
                yield from self._slow(ranks, race, context)
        if len(self._races) > len(by_job):
            self._races = {key: race for key, race in self._races.items() if key in by_job}

    def _note_rests(self, tracks: list[Track], race: _Race, step_s: float) -> None:
        """Count for how long each rank has hardly used its GPU."""
        least, rested = self._dials["rests_percent"], any(race.rests.values())
        race.rests = {
            track.key: race.rests.get(track.key, 0.0) + step_s if (track.gu or 0.0) < least else 0.0 for track in tracks
        }
        if rested != any(race.rests.values()):
            race.before = None if rested else race.copied()

    def _compare(self, tracks: list[Track], race: _Race, step_s: float) -> None:
        part = step_s / (step_s + self._dials["smooth_s"]) if race.compared_s else 1.0
        ranks = race.ranks
        race.ranks = {track.key: _smoothed(ranks.get(track.key), track, part) for track in tracks}
        race.compared_s += step_s
        held, falls = list(race.ranks.values()), self._dials["falls_times"]
        clocks = [one.clock for one in held if one.clock is not None]
        usual_clock = median(clocks) if len(clocks) == len(held) else None
        usual = median(one.gu for one in held)
        spread = median(abs(one.gu - usual) for one in held)
        is_full = usual >= self._dials["full_percent"]
        is_one_job = all((track.role.world or 1) > 1 for track in tracks)
        for one in held:
            is_slow = usual_clock and one.clock and one.clock < self._dials["clock_percent"] / 100 * usual_clock
            gap = usual - one.gu
            among = spread if is_one_job else _spread_without(one, held)
            is_behind = is_full and not is_slow and self._is_behind(gap, max(spread, among), one, race)
            is_slow = bool(is_slow) and one.gu >= self._dials["works_percent"]
            one.slow_s = _counted(one.slow_s, step_s, falls, is_so=is_slow)
            one.behind_s = _counted(one.behind_s, step_s, falls, is_so=is_behind)
            if race.compared_s <= self._dials["learn_s"]:
                one.usual_gap += (gap - one.usual_gap) * learned(step_s, race.compared_s, self._dials)
        if is_full:
            levels = [one.levels for one in held]
            race.pace.take(levels, self._dials, step_s)
            note_alone(tracks, levels, step_s / (step_s + self._dials["alone_s"]))
            compare(levels, self._dials, step_s=step_s, compared_s=race.compared_s, has_fallen=race.pace.has_fallen)
        race.slowest_s = max(map(_lasted_s, held))

    def _is_behind(self, gap: float, spread: float, rank: _Rank, race: _Race) -> bool:
        dials = self._dials
        least = max(dials["behind_points"], dials["spread_times"] * spread)
        is_new = race.compared_s >= dials["known_s"] and gap - rank.usual_gap > least
        is_clear = gap >= dials["clearly_points"] and _does_its_share(rank, race, dials["work_percent"] / 100)
        return gap > least and (is_clear or is_new)

    def _slow(self, ranks: Ranks, race: _Race, context: Context) -> Iterator[Claim]:
        after_s = self._dials["after_s"]
        found = [track for track in ranks.tracks if (one := race.ranks.get(track.key)) and _lasted_s(one) >= after_s]
        if not found or 2 * len(found) >= len(ranks.tracks):
            return
        for track in found:
            rank = race.ranks[track.key]
            others = [one for key, one in race.ranks.items() if key != track.key]
            slow = Slow(
                ranks=ranks,
                track=track,
                is_clock=rank.slow_s >= after_s,
                lasted_s=_lasted_s(rank),
                clock=rank.clock,
                others_clock=median(one.clock or 0.0 for one in others),
                gu=rank.gu,
                others_gu=median(one.gu for one in others),
                apart=rank.levels.apart if rank.levels.odd_s >= after_s > rank.behind_s else 0.0,
                alone=rank.levels.alone if rank.levels.odd_s >= after_s > rank.behind_s else 0.0,
            )
            yield claim_of(slow, context, self._dials)


def _does_its_share(rank: _Rank, race: _Race, least: float) -> bool:
    """Return whether it takes as much power as ranks that wait for it; one with another task may take less."""
    own = rank.levels.now[0]
    others = [level for one in race.ranks.values() if one is not rank and (level := one.levels.now[0]) is not None]
    return own is None or not others or own >= least * median(others)


def _spread_without(rank: _Rank, ranks: Sequence[_Rank]) -> float:
    """Return how far one of the others is from their median: programs of one launcher may have nothing in common."""
    others = [one.gu for one in ranks if one is not rank]
    usual = median(others)
    return max(abs(gu - usual) for gu in others)


def _is_comparable(ranks: Ranks, rests: Mapping[Key, float], context: Context, dials: Mapping[str, float]) -> bool:
    """Return whether all ranks work: while some wait, or one has exited, their numbers cannot be compared."""
    if not ranks.is_apart or ranks.is_server:
        return False
    pauses_s, fed_s, smooth_s = dials["pauses_s"], dials["fed_s"], dials["smooth_s"]
    return all(
        track.gu is not None
        and track.wait_s < track.board.limits.rank_waits_s
        and (rests[track.key] < pauses_s or (rests[track.key] < fed_s and _is_fed(track, context)))
        and track.board.is_known
        and context.now_s - track.seen_s < max(smooth_s, 2 * context.round_s)
        for track in ranks.tracks
    )


def _is_fed(track: Track, context: Context) -> bool:
    """Return whether it pauses because its data loaders work, and not to write or to evaluate."""
    children = workers(track.process, context.relatives.get(track.process.pid, ()))
    return any((one.cpu_percent or 0.0) >= track.board.limits.fed_percent for one in children)


def _smoothed(rank: _Rank | None, track: Track, part: float) -> _Rank:
    clock = track.board.clock
    if rank is None:
        rank = _Rank(clock=clock)
        rank.levels.smooth(track, 1.0)
        return rank
    if clock is not None:
        rank.clock = clock if rank.clock is None else rank.clock + (clock - rank.clock) * part
    rank.levels.smooth(track, part)
    return rank


def _counted(seconds: float, step_s: float, falls: float, *, is_so: bool) -> float:
    return seconds + step_s if is_so else max(0.0, seconds - falls * step_s)


def _lasted_s(rank: _Rank) -> float:
    return max(rank.slow_s, rank.behind_s, rank.levels.odd_s)
