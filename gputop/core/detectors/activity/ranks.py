"""The ranks of a job on their GPUs: which work, wait, idle or have exited."""

from collections.abc import Iterable, Mapping
from enum import Enum

from gputop.core.detectors.activity.process import Track
from gputop.core.model.sample import Job


class Stance(Enum):
    """The state of a rank. ``UNKNOWN``: the driver does not report it, or its GPU does not answer now."""

    WORKS = "works"
    WAITS = "waits"
    IDLE = "idle"
    EXITED = "exited"
    LOST = "lost"
    UNKNOWN = "unknown"


class Ranks:
    """The processes of a job, each on each of its GPUs. Exited ones stay known while another one runs.

    ``hang_s``: how long some have waited while none worked. ``is_apart``: each has a GPU of its own.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.tracks: list[Track] = []
        self.hang_s = 0.0
        self.is_apart = True

    def take(self, job: Job, tracks: Iterable[Track]) -> None:
        """Take the present processes of the job; an exited one stays known until another one uses its GPU."""
        now = list(tracks)
        present = {track.key for track in now}
        boards = {track.board.key for track in now}
        left = [track for track in self.tracks if track.key not in present and track.board.key not in boards]
        self.job, self.tracks = job, [*now, *left]
        self.is_apart = len({track.board.key for track in self.tracks}) == len(self.tracks)
        for track in now:
            track.ranks = job.key

    @property
    def longest_wait_s(self) -> float:
        """Return the longest wait after which work continued."""
        return max((track.longest_wait_s for track in self.tracks), default=0.0)

    @property
    def is_server(self) -> bool:
        """Return whether one of them serves: then all may wait for requests."""
        return any(track.role.is_server for track in self.tracks)


def ranks_by_job(jobs: Iterable[Job], tracks: Iterable[Track], before: Mapping[str, Ranks]) -> dict[str, Ranks]:
    """Return the ranks by the key of their job: of jobs on two or more GPUs, and of those that were."""
    by_id: dict[tuple[int, int | None], list[Track]] = {}
    for track in tracks:
        by_id.setdefault((track.process.pid, track.process.start_ticks), []).append(track)
    by_job: dict[str, Ranks] = {}
    for job in jobs:
        found = [track for one in job.members for track in by_id.get((one.pid, one.start_ticks), ())]
        known = before.get(job.key)
        if known or len({track.board.key for track in found}) > 1:
            ranks = by_job[job.key] = known or Ranks(job)
            ranks.take(job, found)
    for key, ranks in before.items():
        if key not in by_job and any(track.ranks == key for track in _present(ranks, by_id)):
            by_job[key] = ranks
    return by_job


def stance(track: Track, *, has_exited: bool) -> Stance:
    """Return the state of a rank. For seconds without readings it is what it was."""
    board = track.board
    if has_exited:
        return Stance.EXITED
    if board.unknown_s >= board.limits.lost_s:
        return Stance.LOST
    if track.wait_s >= board.limits.rank_waits_s:
        return Stance.WAITS
    if track.gu is None and not track.idle_s:
        return Stance.UNKNOWN
    is_copying = board.pcie is not None and board.pcie > board.limits.quiet_pcie  # a rank that copies is alive
    return Stance.IDLE if track.idle_s >= board.limits.rank_rests_s and not is_copying else Stance.WORKS


def _present(ranks: Ranks, by_id: Mapping[tuple[int, int | None], list[Track]]) -> Iterable[Track]:
    return (track for track in ranks.tracks if (track.process.pid, track.process.start_ticks) in by_id)
