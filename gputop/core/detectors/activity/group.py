"""Groups of tracks that share a finding: a job with two or more such processes, or a single process."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.process import Track
from gputop.core.detectors.activity.ranks import Ranks
from gputop.core.detectors.subjects import job_subject, process_subject
from gputop.core.model.finding import Subject


class Group(Struct, frozen=True):
    """``tracks``: those to which the claim applies. ``ranks``: their job, if it applies to several of its processes."""

    subject: Subject
    tracks: list[Track]
    ranks: Ranks | None = None

    @property
    def first(self) -> Track:
        """Return the track to look at first."""
        return self.tracks[0]


def groups(activity: Activity, found: Iterable[Track], is_so: Callable[[Track], bool]) -> Iterator[Group]:
    """Return each job or process among ``found`` once, with all of its tracks that ``is_so``, due or not."""
    seen: set[object] = set()
    for track in found:
        ranks = activity.ranks_of(track)
        key: object = ranks.job.key if ranks else (track.process.pid, track.process.start_ticks)
        if key in seen:
            continue
        seen.add(key)
        alike = [one for one in (ranks.tracks if ranks else activity.siblings(track)) if is_so(one)]
        pids = {one.process.pid for one in alike}
        if ranks and len(pids) > 1:
            yield Group(job_subject(ranks.job), alike, ranks)
        else:
            use = track.use if len(track.process.gpus) == 1 else None
            yield Group(process_subject(track.process, use), alike or [track])


def count_text(group: Group) -> str:
    """Return the number of ranks: ``7 of 8 ranks``; empty for a single process."""
    return f"{len(group.tracks)} of {len(group.ranks.tracks)} ranks " if group.ranks else ""
