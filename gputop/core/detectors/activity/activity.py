"""What all processes do on their GPUs, worked out once a look for all questions that need it.

`Activity.of` returns it; a question reads ``tracks``, those of the processes whose turn it is, and ``crews``.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from gputop.core.detection.detector import FORGET_S, Claim, Context
from gputop.core.detectors.activity.board import Board, BoardKey
from gputop.core.detectors.activity.process import Key, Track, followed
from gputop.core.detectors.activity.ranks import Ranks, ranks_by_job
from gputop.core.detectors.activity.role import role_of
from gputop.core.detectors.activity.thresholds import USUAL, ActivityLimits, limits_of
from gputop.core.model.sample import GpuProcess, HostProcess, Job, Presence

_ROLE_SOON_S: Final = 30.0  # a worker may come to be known by its title only later
_ROLE_EVERY_S: Final = 600.0  # how often it is looked at: what a process is for hardly ever changes
_YOUNG_S: Final = 120.0
_SWEEP_EVERY_S: Final = 10.0  # how often those who are gone are looked for
_ASLEEP_S: Final = 180.0  # from then on its host side is not followed: it costs time, and nobody asks
_FAST_ASLEEP_S: Final = 240.0  # when what was said of it is over
_GRAPHICS: Final = "G"


class ActivityDetector:
    """Finds nothing: it is asked first, and its dials are the thresholds by which all others see what is going on."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._limits = limits_of(dials)

    def detect(self, context: Context) -> Iterable[Claim]:
        """Work out what all processes do."""
        Activity.of(context, self._limits)
        return ()


class Activity:
    """Follows every process on every GPU. Bounded by the processes there are; forgets who is gone for a minute."""

    def __init__(self, limits: ActivityLimits = USUAL) -> None:
        self._limits = limits
        self.boards: dict[BoardKey, Board] = {}
        self.tracks: list[Track] = []
        self.by_job: dict[str, Ranks] = {}
        self._round_s = 0.0  # until each process has come once
        self._all: dict[Key, Track] = {}
        self._number = 0
        self._now_s = 0.0
        self._everybody: dict[int, HostProcess] = {}  # while a look lasts, once somebody asks
        self._jobs: tuple[Job, ...] | None = None
        self._is_changed = False
        self._ranks_s = self._swept_s = 0.0
        self._time_s: float | None = None
        self._gaps = 0
        self._is_short_gap = True

    @classmethod
    def of(cls, context: Context, limits: ActivityLimits | None = None) -> "Activity":
        """Return what is shared by the detectors of this judge, as of this look; who asks first sets the limits."""
        held = context.shared.get(cls)
        activity = held if isinstance(held, Activity) else cls(limits or USUAL)
        context.shared[cls] = activity
        activity.see(context)
        return activity

    def see(self, context: Context) -> None:
        """Take a look, once."""
        if context.number == self._number:
            return
        self._number, self._now_s = context.number, context.now_s
        self._mind_gap(context)
        self._round_s = context.round_s
        self._see_boards(context, is_everyone=len(context.sample.processes) == len(context.due))
        self._see_processes(context)
        self._everybody = {}
        if context.now_s - self._ranks_s >= self._round_s and (self._is_changed or context.jobs != self._jobs):
            self._jobs, self._is_changed, self._ranks_s = context.jobs, False, context.now_s
            self.by_job = ranks_by_job(context.jobs, self._all.values(), self.by_job)
        if context.now_s - self._swept_s >= _SWEEP_EVERY_S:
            self._swept_s = context.now_s
            self._sweep(context)

    def is_gone(self, track: Track) -> bool:
        """Say whether a process was not seen when it should have been."""
        return self._now_s - track.seen_s > 2 * self._round_s + 2.0

    def ranks_of(self, track: Track) -> Ranks | None:
        """Return the ranks that a process is one of, None if it works for itself."""
        return None if track.ranks is None else self.by_job.get(track.ranks)

    def siblings(self, track: Track) -> list[Track]:
        """Return what the same process does on each of its GPUs."""
        process, known = track.process, self._all
        if len(process.gpus) == 1:
            return [track]
        keys = [(process.pid, process.start_ticks, use.gpu, use.gpu_instance) for use in process.gpus]
        return [known[key] for key in keys if key in known]

    def _mind_gap(self, context: Context) -> None:
        time_s = context.sample.time_s
        if context.is_gap:
            self._gaps += 1
            self._is_short_gap = self._time_s is not None and 0 <= time_s - self._time_s <= self._limits.short_gap_s
        self._time_s = time_s

    def _see_boards(self, context: Context, *, is_everyone: bool) -> None:
        held = (
            {use.gpu for process in context.due for use in process.gpus if use.type != _GRAPHICS} if is_everyone else ()
        )
        for uuid, gpu in context.gpus.items():
            if (uuid, None) not in self.boards:
                self.boards[uuid, None] = Board((uuid, None), gpu.index, self._limits)
        for key, board in self.boards.items():
            is_held = key[0] in held if is_everyone else True if board.holders else None
            board.see(context, is_held=is_held)

    def _see_processes(self, context: Context) -> None:
        now_s, gaps, known, relatives = context.now_s, self._gaps, self._all, context.relatives
        self.tracks = tracks = []
        for process in context.due:
            presence = process.presence
            if presence is Presence.GONE or presence is Presence.REUSED:
                continue
            pid, start_ticks = process.pid, process.start_ticks
            for use in process.gpus:
                if use.type == _GRAPHICS:
                    continue
                key = (pid, start_ticks, use.gpu, use.gpu_instance)
                track = known.get(key) or self._begin(key, process, use, now_s)
                track.process, track.use, track.verdict = process, use, ""
                if track.gaps != gaps:
                    track.gaps = gaps
                    track.begin_again(self._is_short_gap)
                track.step_s = step_s = now_s - track.seen_s
                track.seen_s = now_s
                if now_s >= track.role_due_s:
                    self._describe(track, context)
                if process.progress is not None and process.progress.step is not None:
                    track.report(process.progress.step, now_s)
                track.advance(use, step_s, now_s)
                if track.idle_s < _ASLEEP_S and not track.board.is_shared and track.gu is not None:
                    track.follow(followed(process, relatives.get(pid, ())))
                tracks.append(track)

    def _begin(self, key: Key, process: HostProcess, use: GpuProcess, now_s: float) -> Track:
        where = (use.gpu, use.gpu_instance)
        board = self.boards.get(where)
        if board is None:
            board = self.boards[where] = Board(where, use.gpu_index, self._limits)
        board.holders += 1
        track = self._all[key] = Track(key, process, use, board, now_s)
        track.gaps = self._gaps
        self._is_changed = True
        return track

    def _describe(self, track: Track, context: Context) -> None:
        is_young = context.now_s - track.first_s < _YOUNG_S
        every_s = _ROLE_SOON_S if is_young else _ROLE_EVERY_S
        track.role_due_s = context.now_s + every_s + track.process.pid % every_s  # not all at once
        if not self._everybody:
            self._everybody = {
                one.pid: one for held in (context.sample.relatives, context.sample.processes) for one in held
            }
        track.role = role_of(track.process, self._everybody)

    def _sweep(self, context: Context) -> None:
        """Forget those who are gone for a minute."""
        for key, track in tuple(self._all.items()):
            if context.now_s - track.seen_s > FORGET_S + self._round_s:
                del self._all[key]
                self._is_changed = True
        for where, board in tuple(self.boards.items()):
            board.holders = 0
            if board.unknown_s > FORGET_S and where[0] not in context.gpus:
                del self.boards[where]
        for track in self._all.values():
            board = track.board
            board.holders += not self.is_gone(track)
            if track.window is not None and (board.is_shared or track.idle_s >= _FAST_ASLEEP_S):
                track.window = None  # nothing can be said of it, and once it can be, that was long ago
