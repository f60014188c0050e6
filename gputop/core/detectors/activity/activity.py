"""The activity of all processes on their GPUs, worked out once per sample for all detectors that need it.

`Activity.of` returns it. Detectors read ``tracks``, one for each due process on each GPU, and ``by_job``.
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

_ROLE_SOON_S: Final = 30.0  # a worker may set its title late
_ROLE_EVERY_S: Final = 600.0  # how often the role is read: it hardly ever changes
_YOUNG_S: Final = 120.0
_SWEEP_EVERY_S: Final = 10.0  # how often exited processes are removed
_ASLEEP_S: Final = (
    180.0  # idle time after which its host side is not followed: that costs time, and no detector needs it
)
_FAST_ASLEEP_S: Final = 240.0  # idle time after which no claim about its work remains
_GRAPHICS: Final = "G"


class ActivityDetector:
    """Claims nothing. It runs before the others and sets the thresholds that they share."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._limits = limits_of(dials)

    def detect(self, context: Context) -> Iterable[Claim]:
        """Work out the activity of all processes."""
        Activity.of(context, self._limits)
        return ()


class Activity:
    """Follows every process on every GPU. Memory is bounded by their number; an absent one is forgotten."""

    def __init__(self, limits: ActivityLimits = USUAL) -> None:
        self._limits = limits
        self.boards: dict[BoardKey, Board] = {}
        self.tracks: list[Track] = []
        self.by_job: dict[str, Ranks] = {}
        self._round_s = 0.0  # until each process was due once
        self._all: dict[Key, Track] = {}
        self._number = 0
        self._now_s = 0.0
        self._by_pid: dict[int, HostProcess] = {}  # filled on demand, for one sample
        self._jobs: tuple[Job, ...] | None = None
        self._is_changed = False
        self._ranks_s = self._swept_s = 0.0

    @classmethod
    def of(cls, context: Context, limits: ActivityLimits | None = None) -> "Activity":
        """Return the activity that the detectors of a judge share, as of this sample; the first call sets limits."""
        known = context.shared.get(cls)
        activity = known if isinstance(known, Activity) else cls(limits or USUAL)
        context.shared[cls] = activity
        activity.update(context)
        return activity

    def update(self, context: Context) -> None:
        """Take the sample of this context, once."""
        if context.number == self._number:
            return
        self._number, self._now_s = context.number, context.now_s
        self._round_s = context.round_s
        self._update_boards(context, is_complete=len(context.sample.processes) == len(context.due))
        self._update_tracks(context)
        self._by_pid = {}
        if context.now_s - self._ranks_s >= self._round_s and (self._is_changed or context.jobs != self._jobs):
            self._jobs, self._is_changed, self._ranks_s = context.jobs, False, context.now_s
            self.by_job = ranks_by_job(context.jobs, self._all.values(), self.by_job)
        if context.now_s - self._swept_s >= _SWEEP_EVERY_S:
            self._swept_s = context.now_s
            self._sweep(context)

    def has_exited(self, track: Track) -> bool:
        """Return whether the driver no longer lists a process that was due."""
        return self._now_s - track.seen_s > 2 * self._round_s + 2.0

    def ranks_of(self, track: Track) -> Ranks | None:
        """Return the ranks of the job of a process; None if it works alone."""
        return None if track.ranks is None else self.by_job.get(track.ranks)

    def siblings(self, track: Track) -> list[Track]:
        """Return the tracks of the same process on each of its GPUs."""
        process, known = track.process, self._all
        if len(process.gpus) == 1:
            return [track]
        keys = [(process.pid, process.start_ticks, use.gpu, use.gpu_instance) for use in process.gpus]
        return [known[key] for key in keys if key in known]

    def _update_boards(self, context: Context, *, is_complete: bool) -> None:
        in_use = (
            {use.gpu for process in context.due for use in process.gpus if use.type != _GRAPHICS} if is_complete else ()
        )
        for uuid, gpu in context.gpus.items():
            if (uuid, None) not in self.boards:
                self.boards[uuid, None] = Board((uuid, None), gpu.index, self._limits)
        for key, board in self.boards.items():
            has_context = key[0] in in_use if is_complete else True if board.holders else None
            board.update(context, has_context=has_context)

    def _update_tracks(self, context: Context) -> None:
        now_s, known, relatives = context.now_s, self._all, context.relatives
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
                track.process, track.use = process, use
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
        self._is_changed = True
        return track

    def _describe(self, track: Track, context: Context) -> None:
        is_young = context.now_s - track.first_s < _YOUNG_S
        every_s = _ROLE_SOON_S if is_young else _ROLE_EVERY_S
        track.role_due_s = context.now_s + every_s + track.process.pid % every_s  # spread over time
        if not self._by_pid:
            self._by_pid = {
                one.pid: one for some in (context.sample.relatives, context.sample.processes) for one in some
            }
        track.role = role_of(track.process, self._by_pid)

    def _sweep(self, context: Context) -> None:
        """Forget processes that have been absent for a minute."""
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
            board.holders += not self.has_exited(track)
            if track.window is not None and (board.is_shared or track.idle_s >= _FAST_ASLEEP_S):
                track.window = None  # no claim is possible now, and later the window would be outdated
