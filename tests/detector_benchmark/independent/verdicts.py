"""The comparison of what gputop shows on a trace with the labels of the trace."""

from collections.abc import Iterable, Sequence
from typing import Final

from detector_benchmark.independent.disturbances import apply
from detector_benchmark.independent.trace import FROM_OBSERVATION, KINDS, NEUTRAL, Allow, Scene, Trace, Want
from msgspec import Struct

from gputop.core.detection.judge import Judge
from gputop.core.detection.steady import Steady
from gputop.core.detectors.registry import detectors, made
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.sample import Frame, Sample
from gputop.core.monitor import Monitor

_KIND_OF: Final = {code: kind for kind, codes in KINDS.items() for code in codes}


class Episode(Struct):
    """A finding as it was shown. Times of the world: first at each stage, and last at each stage."""

    code: str
    names: frozenset[str]
    summary: str
    first_s: dict[Stage, float]
    last_s: dict[Stage, float]

    @property
    def kind(self) -> str:
        """Return the kind of its code; the code itself for one that the labels do not know."""
        return _KIND_OF.get(self.code, self.code)

    @property
    def floor(self) -> int:
        """Return the rank of the stage from which it counts as shown."""
        return 0 if self.kind in FROM_OBSERVATION else 1

    def begin_s(self, rank: int) -> float | None:
        """Return when it reached a stage of this rank."""
        return min((at_s for stage, at_s in self.first_s.items() if stage.rank >= rank), default=None)

    def end_s(self, rank: int) -> float:
        """Return when it last had a stage of this rank."""
        return max((at_s for stage, at_s in self.last_s.items() if stage.rank >= rank), default=0.0)


class Verdict(Struct):
    """The outcome of a trace: the wants that were met, those that were not, and the false episodes."""

    trace: str
    group: str
    is_trouble: bool
    met: list[tuple[str, float]]  # kind, seconds from the beginning
    missed: list[tuple[str, str]]  # kind, what was shown instead
    false: list[tuple[str, bool, str]]  # kind, whether only an observation, the episode
    frames: int = 0


class _Source:
    """The samples of a scene, disturbed; a lost sample is never read."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.interval_s = scene.world.interval_s
        self.at_s = 0.0

    def read(self) -> Sample:
        while True:
            self.at_s = self._scene.world.now_s
            sample = apply(self._scene.world.read(), self._scene.disturbances)
            if sample is not None:
                return sample


def judged(trace: Trace, seed: int) -> Verdict:
    """Show the trace to gputop and compare."""
    scene = trace.make(seed)
    episodes, frames = watched(scene)
    return _compared(trace, scene, episodes, frames)


def watched(scene: Scene) -> tuple[list[Episode], int]:
    """Return all that gputop shows of a scene."""
    source = _Source(scene)
    monitor = Monitor(source, Judge(made(detectors(), {}), steady=Steady()))
    names = {pid: name for name, pid in scene.world.people.pids.items()}
    found: dict[tuple[object, ...], Episode] = {}
    frames = 0
    while scene.world.now_s < scene.until_s:
        frame = monitor.step()
        frames += 1
        for finding in frame.findings:
            key = (finding.key, finding.since_s)
            episode = found.get(key)
            if episode is None:
                episode = found[key] = Episode(finding.code, _named(finding, frame, names), finding.summary, {}, {})
            episode.first_s.setdefault(finding.stage, source.at_s)
            episode.last_s[finding.stage] = source.at_s
            episode.summary = finding.summary
    return list(found.values()), frames


def _named(finding: Finding, frame: Frame, names: dict[int, str]) -> frozenset[str]:
    """Return the names of the subject: of the process and its board, or of all members of the job."""
    subject = finding.subject
    pids = [subject.process.pid] if subject.process else []
    users = {process.pid for process in frame.processes}
    if subject.job and not users.intersection(pids):  # the launcher speaks for its job
        pids += [each.pid for job in frame.jobs if job.key == subject.job for each in job.members]
    found = [names[pid] for pid in pids if pid in names]
    found += [f"gpu:{gpu.index}" for gpu in frame.gpus if gpu.uuid == subject.gpu]
    if subject.gpu and not found:
        found.append(f"gpu:{int(subject.gpu[4:12], 16)}")
    return frozenset(found)


def _compared(trace: Trace, scene: Scene, episodes: Sequence[Episode], frames: int) -> Verdict:
    verdict = Verdict(trace.name, trace.group, bool(scene.wants), [], [], [], frames)
    for wanted in scene.wants:
        shown = [each for each in episodes if _meets(each, wanted)]
        if shown:
            first_s = min(max(wanted.from_s, each.begin_s(_rank(each, wanted)) or 0.0) for each in shown)
            verdict.met.append((wanted.kinds[0], first_s - wanted.from_s))
        else:
            verdict.missed.append((wanted.kinds[0], _instead(wanted, episodes)))
    for each in episodes:
        if each.code not in NEUTRAL and not _is_right(each, scene):
            verdict.false.append((each.kind, each.begin_s(1) is None, _line(each)))
    return verdict


def _meets(each: Episode, wanted: Want) -> bool:
    rank = _rank(each, wanted)
    begin_s, end_s = each.begin_s(rank), each.end_s(rank)
    if begin_s is None or each.kind not in wanted.kinds or not each.names & wanted.names:
        return False
    is_there = begin_s <= wanted.by_s and end_s >= wanted.from_s
    return is_there and (wanted.still_s is None or end_s >= wanted.still_s)


def _rank(each: Episode, wanted: Want) -> int:
    return 2 if wanted.is_alarm else each.floor


def _is_right(each: Episode, scene: Scene) -> bool:
    """Say whether an episode is the truth, or may be shown; a trouble may not be shown before it began."""
    if any(_is_allowed(each, one) for one in scene.allows):
        return True
    begin_s = each.begin_s(each.floor)
    return any(
        each.kind in one.kinds and each.names & one.names and (begin_s is None or begin_s >= one.from_s)
        for one in scene.wants
    )


def _is_allowed(each: Episode, one: Allow) -> bool:
    is_named = not one.names or bool(each.names & one.names)
    return each.kind == one.kind and is_named and (not one.is_seen_only or each.begin_s(1) is None)


def _instead(wanted: Want, episodes: Iterable[Episode]) -> str:
    """Return what was shown of the subject of a missed want."""
    shown = [_line(each) for each in episodes if each.names & wanted.names and each.code not in NEUTRAL]
    return "; ".join(shown) or "nothing was shown"


def _line(each: Episode) -> str:
    stage, at_s = max(each.first_s.items(), key=lambda pair: pair[0].rank)
    begin_s, end_s = min(each.first_s.values()), max(each.last_s.values())
    where = ",".join(sorted(each.names))[:40]
    return f"{each.code} {stage.value} at {at_s:.0f} s ({begin_s:.0f}-{end_s:.0f}) on {where}: {each.summary[:110]}"
