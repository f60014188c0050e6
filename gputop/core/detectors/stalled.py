"""The detector of jobs that have stopped working: no use of GPU and CPU, but their memory stays allocated."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.group import Group, count_text, groups
from gputop.core.detectors.activity.process import Track, busiest
from gputop.core.model.finding import Evidence, Stage, confidence_of
from gputop.core.model.sample import HostProcess
from gputop.core.model.units import bytes_text, duration_text
from gputop.core.processes.ending import end_command

KIND: Final = Kind(
    name="stalled",
    question="Has a job stopped working, on the GPU and on the CPU?",
    codes={
        "stalled.process": "A process that worked before does nothing. It never paused for so long.",
        "stalled.job": "A job that worked before does nothing, on all ranks. It never paused for so long.",
    },
    remedies={
        "stalled.process": "See where it waits: `gputop explain PID`. Look for killed data loaders: `sudo dmesg | "
        "grep -i oom`.",
        "stalled.job": "See where a rank waits: `gputop explain PID`. To end the job: `c` tags it, then `F9`.",
    },
    dials=(
        Dial("pause_s", 300.0, 30.0, 86400.0, "A pause of this time can be a stall."),
        Dial(
            "times", 4.0, 1.0, 100.0,
            "The pause must also be longer than usual. With 4, at least 4 times as long as the longest pause before.",
        ),
        Dial("worked_s", 120.0, 10.0, 86400.0, "The process must have used the GPU for this time before."),
        Dial(
            "thread_percent", 5.0, 0.0, 100.0,
            "A process does nothing if its busiest thread uses less CPU than this.",
        ),
        Dial(
            "steady_percent", 50.0, 0.0, 100.0,
            "A process worked steadily if it used the GPU for at least this share of the time before the pause.",
        ),
        Dial(
            "patience_times", 4.0, 1.0, 100.0,
            "If a process did not work steadily (see steady_percent), gputop waits longer. With 4, an alarm needs 4 "
            "times as long.",
        ),
        Dial(
            "reads_percent", 0.3, 0.0, 100.0,
            "A process in state D is not stalled if it uses at least this much CPU: it still makes progress.",
        ),
        Dial(
            "still_percent", 30.0, 1.0, 50.0,
            "A stall also needs an idle CPU: the process and its children use no CPU for at least this share of "
            "pause_s.",
        ),
        Dial(
            "work_weighs_times", 5.0, 0.0, 1000.0,
            "CPU use shortens the time of still_percent. With 5, one second of CPU use takes 5 seconds off it.",
        ),
        Dial(
            "child_times", 3.0, 1.0, 100.0,
            "If the process itself does nothing and only one of its children uses the CPU, gputop waits longer. With "
            "3, a suspect needs 3 times as long.",
        ),
        Dial(
            "alone_times", 2.0, 1.0, 100.0,
            "gputop waits longer for a single process without child processes, which may wait for work. With 2, a "
            "suspect needs twice pause_s. An alarm needs patience_times.",
        ),
        Dial(
            "alone_worked_s", 300.0, 0.0, 864_000.0,
            "The same as worked_s, for a single process without child processes: it may simply have finished. The "
            "detector idle reports it.",
        ),
        Dial(
            "attended_s", 1800.0, 0.0, 864_000.0,
            "The same as alone_worked_s, for a process with a terminal or a window: it may also wait for input.",
        ),
    ),
)  # fmt: skip

_DEAD: Final = frozenset("ZX")
_REPORTED_ELSEWHERE: Final = frozenset("TtZX")  # states that other detectors report


class StalledDetector:
    """Learns how long each process pauses."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._pause_s, self._times = dials["pause_s"], dials["times"]
        self._worked_s, self._thread = dials["worked_s"], dials["thread_percent"]
        self._steady, self._still = dials["steady_percent"] / 100, dials["still_percent"] / 100
        self._patience, self._reads = dials["patience_times"], dials["reads_percent"]
        self._weighs, self._child = dials["work_weighs_times"], dials["child_times"]
        self._alone, self._alone_s, self._attended_s = (
            dials["alone_times"],
            dials["alone_worked_s"],
            dials["attended_s"],
        )

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per process or job that has stalled."""
        activity = Activity.of(context)
        half_s, found = self._pause_s / 2, []
        for track in activity.tracks:
            if track.pause_s >= half_s:
                self._count(track, context)
                if track.pause_s >= self._pause_s and self._is_still(track, context):
                    found.append(track)
        for group in groups(activity, found, lambda one: self._is_still(one, context)) if found else ():
            if self._are_all(group, activity):
                yield self._claim(group, context)

    def _count(self, track: Track, context: Context) -> None:
        """Count how long neither the process nor its children have used the CPU. Work weighs more than rest."""
        if track.pause_s - track.step_s < self._pause_s / 2:
            track.still_s = 0.0
        relatives = context.relatives.get(track.process.pid)
        children = [one for one in relatives if self._works(one)] if relatives else ()
        track.is_child_busy = len(children) == 1
        works = self._works(track.process) or len(children) > 1
        track.still_s = max(0.0, track.still_s - self._weighs * track.step_s) if works else track.still_s + track.step_s

    def _works(self, one: HostProcess) -> bool:
        return (_cpu(one) or 0.0) >= (self._reads if one.state == "D" else self._thread)

    def _is_still(self, track: Track, context: Context) -> bool:
        role, process = track.role, track.process
        if track.gu is None or track.busy_s < self._worked_s or role.is_server or role.is_interactive:
            return False
        is_alone = _is_alone(track, context)
        if is_alone and track.busy_s < (self._attended_s if role.is_attended else self._alone_s):
            return False
        least_s = self._pause_s * (self._alone if is_alone else 1.0)
        least_s = max(least_s, self._times * track.longest_pause_s) * self._patience_of(track)
        if track.pause_s < least_s or process.state in _REPORTED_ELSEWHERE or track.is_progressing(context.now_s):
            return False
        return track.still_s >= self._still * self._pause_s

    def _patience_of(self, track: Track) -> float:
        return self._child if track.is_child_busy else 1.0

    def _are_all(self, group: Group, activity: Activity) -> bool:
        """Return whether no other rank of the job works: one rank alone may have nothing to do by design."""
        ranks = activity.ranks_of(group.first)
        those = ranks.tracks if ranks else activity.siblings(group.first)
        alike = {one.key for one in group.tracks}
        return all(one.key in alike or activity.has_exited(one) or one.process.state in _DEAD for one in those)

    def _stage(self, group: Group, context: Context) -> Stage:
        track = group.first
        before_s = context.now_s - track.first_s - track.pause_s
        is_steady = track.busy_s >= self._steady * before_s
        if any(one.is_child_busy for one in group.tracks):
            return Stage.SUSPECT
        is_alone = _is_alone(track, context)
        if _cpu(track.process) is None or (track.role.is_attended and is_alone):
            return Stage.SUSPECT  # it may wait for input
        limit_s = max(self._pause_s, self._times * track.longest_pause_s) * (
            1 if is_steady and not is_alone else self._patience
        )
        return Stage.ALARM if track.pause_s >= limit_s else Stage.SUSPECT

    def _claim(self, group: Group, context: Context) -> Claim:
        track = group.first
        pause_s = min(one.pause_s for one in group.tracks)
        children = context.relatives.get(track.process.pid, ())
        dead = [child for child in children if child.state in _DEAD]
        is_blocked = any(one.state == "D" for one in (track.process, *children))
        has_stopped = any(one.has_stopped_to_report(context.now_s) for one in group.tracks)
        is_unseen = _cpu(track.process) is None
        confidence = confidence_of(
            0.5, 0.5 if track.busy_s >= 5 * self._worked_s else 0.35, 0.5 if dead else 0.0,
            0.3 if is_blocked else 0.0, 0.5 if group.ranks else 0.0, 0.6 if has_stopped else 0.0,
            0.6 if children or track.process.owner.slurm else 0.0,
        )  # fmt: skip
        return Claim(
            code="stalled.job" if group.ranks else "stalled.process",
            stage=self._stage(group, context),
            subject=group.subject,
            summary=_summary(group, pause_s, children, dead),
            evidence=_evidence(group, pause_s, len(dead), has_stopped=has_stopped),
            remedy=_remedy(track, dead, is_blocked=is_blocked),
            action="process",
            confidence=min(0.6, confidence) if is_unseen else confidence,
            lacking=("its CPU time",) if is_unseen else (),
            began_s=context.now_s - pause_s,
        )


def _is_alone(track: Track, context: Context) -> bool:
    """Return whether nothing shows a job that cannot go on: it may have finished, or wait for work or a person."""
    process, is_attended = track.process, track.role.is_attended
    is_job = track.ranks or track.role.world or (process.owner.slurm and not is_attended)
    is_held_up = process.state == "D" or track.has_stopped_to_report(context.now_s)
    return not (is_job or is_held_up or context.relatives.get(process.pid))


def _cpu(process: HostProcess) -> float | None:
    thread = busiest(process)
    return process.cpu_percent if thread is None else thread


def _summary(
    group: Group, pause_s: float, children: Sequence[HostProcess], dead: list[HostProcess]
) -> str:  # fmt: skip
    track = group.first
    held = sum(one.use.memory_bytes or 0 for one in group.tracks)
    workers = f", {len(children)} idle child process{'' if len(children) == 1 else 'es'}" if children else ""
    zombies = f" ({len(dead)} of them dead)" if dead else ""
    longest = f", longest pause {duration_text(track.longest_pause_s)}" if track.longest_pause_s else ""
    return (
        f"{count_text(group)}stalled for {duration_text(pause_s)}: GPU and CPU at 0%{workers}{zombies}, "
        f"{bytes_text(held)} held; worked for {duration_text(track.busy_s)} before{longest}"
    )


def _longest(track: Track) -> float | str:
    return round(track.longest_pause_s, 1) or "no pause"


def _evidence(group: Group, pause_s: float, dead: int, *, has_stopped: bool) -> tuple[Evidence, ...]:
    track = group.first
    return (
        Evidence("pause_s", round(pause_s, 1), f"stalled for {duration_text(pause_s)}", _longest(track)),
        Evidence("worked_s", round(track.busy_s, 1), f"worked for {duration_text(track.busy_s)}"),
        *((Evidence("dead_children", dead, f"dead child processes: {dead}"),) if dead else ()),
        *((Evidence("reports_stopped", True, "it stopped reporting progress"),) if has_stopped else ()),
    )


def _remedy(track: Track, dead: list[HostProcess], *, is_blocked: bool) -> str:
    if dead:
        return (
            "A data loader worker died. Look for an out-of-memory kill (sudo dmesg | grep -i oom), end the job "
            f"({end_command(track.process)}) and restart it from its checkpoint."
        )
    if is_blocked:
        pid = track.process.pid
        return (
            f"It waits for storage. Check the file system that it reads before you end it: sudo cat /proc/{pid}/stack"
        )
    return f"See where it waits: gputop explain {track.process.pid}. If a data loader is deadlocked, end the job."
