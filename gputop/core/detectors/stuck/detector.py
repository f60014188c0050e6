"""The detector of jobs that hang inside a kernel: full utilization, but idle power and no traffic.

Kernels of a collective look like this while they wait for a missing rank. Waiting alone is no fault: an evaluation or
a checkpoint of one rank looks the same for minutes. What counts: how long, which ranks wait, whether the job ever
worked, and how long its normal waits were.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.process import Track, busiest
from gputop.core.detectors.activity.ranks import Ranks, Stance, stance
from gputop.core.detectors.stuck.case import Case, busy_claim, hang_claim
from gputop.core.detectors.stuck.neighbour import is_at_work, shared_gpu_claim
from gputop.core.detectors.subjects import job_subject, process_subject
from gputop.core.model.finding import Stage, Subject

KIND: Final = Kind(
    name="stuck",
    question="Does a job hang inside a kernel? The GPU then has full utilization, but idle power and no traffic.",
    codes={
        "stuck.collective": "Ranks of a job wait in a collective. No other rank works, so the wait cannot end.",
        "stuck.kernel": "A process that worked before runs a kernel that does nothing and does not end.",
    },
    remedies={
        "stuck.collective": "Find the rank that does not wait: `gputop explain PID`. To end the job: `c` tags "
        "it, then `F9`.",
        "stuck.kernel": "See which kernel: `gputop explain PID --native` or `cuda-gdb -p PID`. To end the process: "
        "`F9`.",
    },
    dials=(
        Dial("waiting_s", 240.0, 30.0, 86400.0, "A wait of this time is an observation."),
        Dial(
            "aside_s", 600.0, 30.0, 86400.0,
            "While other ranks of the job work, only a wait of this time is an observation. If its first rank uses the "
            "CPU and not its GPU, a wait is reported only as a suspect (see host_alarm_s).",
        ),
        Dial(
            "longer_times", 1.25, 1.0, 100.0,
            "For an observation, the wait must also be longer than usual. With 1.25, a quarter longer than the longest "
            "wait that ended normally.",
        ),
        Dial(
            "alarm_s", 300.0, 60.0, 86400.0,
            "A wait of this time is an alarm if the process worked before (see worked_s).",
        ),
        Dial(
            "fresh_alarm_s", 600.0, 60.0, 86400.0,
            "A wait of this time is an alarm if gputop has not seen the process work.",
        ),
        Dial(
            "host_alarm_s", 720.0, 60.0, 86400.0,
            "If the first rank of a job uses the CPU and not its GPU, it may evaluate or write a checkpoint. A wait of "
            "the other ranks is then an alarm only after this time.",
        ),
        Dial("behind_s", 1800.0, 60.0, 86400.0, "If other ranks work, a wait of this time is a suspect."),
        Dial(
            "times", 2.0, 1.0, 100.0,
            "For an alarm, the wait must also be longer than usual. With 2, twice as long as the longest wait that "
            "ended normally.",
        ),
        Dial("behind_times", 4.0, 1.0, 100.0, "The same as times, for a suspect while other ranks work."),
        Dial(
            "worked_s", 60.0, 0.0, 86400.0,
            "gputop calls a process hung only if it worked for this time before. Otherwise many small kernels would "
            "look like a hang.",
        ),
        Dial(
            "suspect_percent", 80.0, 1.0, 100.0,
            "A wait becomes a suspect at this share of the alarm time. With 80 and an alarm after 300 s: after 240 s.",
        ),
        Dial(
            "unsteady_times", 3.0, 1.0, 100.0,
            "If the power of a single process varies, gputop waits longer. With 3, a suspect and an alarm need 3 times "
            "as long.",
        ),
        Dial(
            "moves_percent", 1.2, 0.0, 100.0,
            "A single process whose memory utilization is at least this on average runs small kernels and does not "
            "hang. That is an observation.",
        ),
        Dial(
            "beside_s", 360.0, 60.0, 86400.0,
            "On a shared GPU: a process is a suspect if it uses the GPU but has moved no data in GPU memory for this "
            "time.",
        ),
        Dial(
            "spins_percent", 90.0, 1.0, 100.0,
            "On a shared GPU: a thread that uses at least this much CPU may be spinning while it waits.",
        ),
        Dial(
            "rests_percent", 5.0, 0.0, 100.0,
            "On a shared GPU: a thread or child process that uses less CPU than this does nothing.",
        ),
    ),
)  # fmt: skip

_OUT: Final = (Stance.IDLE, Stance.EXITED, Stance.LOST)


class StuckDetector:
    """Judges jobs by all of their ranks, and single processes."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._waiting_s, self._worked_s = dials["waiting_s"], dials["worked_s"]
        self._aside_s, self._longer = dials["aside_s"], dials["longer_times"]
        self._alarm_s, self._fresh_s = dials["alarm_s"], dials["fresh_alarm_s"]
        self._behind_s, self._times = dials["behind_s"], dials["times"]
        self._host_alarm_s = dials["host_alarm_s"]
        self._behind_times = dials["behind_times"]
        self._suspect, self._unsteady = dials["suspect_percent"] / 100, dials["unsteady_times"]
        self._shared_s, self._moves = dials["beside_s"], dials["moves_percent"]
        self._host = dials["spins_percent"], dials["rests_percent"]
        self._least_s = min(self._waiting_s, self._suspect * min(self._alarm_s, self._fresh_s))  # of any claim
        self._hanging: dict[str, Ranks] = {}

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per process or job that hangs or has waited for long."""
        activity = Activity.of(context)
        waiting: dict[str, Ranks] = {}
        for track in activity.tracks:
            if track.wait_s:
                ranks = activity.ranks_of(track)
                if ranks:
                    waiting[ranks.job.key] = ranks
                else:
                    yield from self._alone(track, context)
            if track.shared_still_s and not track.wait_s:
                yield from self._on_shared_gpu(track, activity, context)
        for key, ranks in (self._hanging | waiting).items():
            yield from self._together(ranks, activity, context)
            if ranks.hang_s and key in activity.by_job:
                self._hanging[key] = ranks
            else:
                self._hanging.pop(key, None)

    # --- a single process --------------------------------------------------------------------------------------
    def _alone(self, track: Track, context: Context) -> Iterator[Claim]:
        is_collective = (track.role.world or 1) > 1
        if track.wait_s < self._least_s or track.role.is_server or track.is_progressing(context.now_s):
            return
        if not self._has_worked([track]) and not is_collective:
            return  # tiny kernels look like this permanently
        limit_s = self._limit_s([track], track.longest_wait_s)
        is_moving = not is_collective and track.wait_memory >= self._moves and _is_only_user(track, context)
        if not is_collective and not track.board.is_static:
            limit_s *= self._unsteady  # the power of waiting kernels is constant, that of tiny ones is not
        use = track.use if len(track.process.gpus) == 1 else None
        case = Case(
            code="stuck.collective" if is_collective else "stuck.kernel",
            subject=process_subject(track.process, use),
            lasted_s=track.wait_s,
            limit_s=limit_s,
            waiting=[track],
            has_worked=self._has_worked([track]),
        )
        stage = Stage.OBSERVATION if is_moving else self._stage(case)
        if stage is not Stage.OBSERVATION or self._is_unusual(case.lasted_s, track.longest_wait_s):
            yield hang_claim(case, stage, context)

    def _on_shared_gpu(self, track: Track, activity: Activity, context: Context) -> Iterator[Claim]:
        """Claim a hang where a neighbour hides power and traffic. A job whose other ranks work does not hang."""
        ranks, role = activity.ranks_of(track), track.role
        if is_at_work(track, context, *self._host):
            track.shared_still_s = 0.0
        least_s = max(self._shared_s, self._times * track.longest_wait_s)
        if track.shared_still_s < least_s or track.moved_s < self._worked_s:
            return
        if ranks or role.is_server or role.is_interactive or track.is_progressing(context.now_s):
            return
        others = [one for one in activity.tracks if one.board is track.board and one.process.pid != track.process.pid]
        yield shared_gpu_claim(track, others, context)

    # --- a job ---------------------------------------------------------------------------------------------------
    def _together(self, ranks: Ranks, activity: Activity, context: Context) -> Iterator[Claim]:
        tracks = _participants(ranks)
        if len(tracks) == 1 and (tracks[0].role.world or 1) == 1:
            ranks.hang_s = 0.0
            yield from self._alone(tracks[0], context)
            return
        stances = [(track, stance(track, has_exited=activity.has_exited(track))) for track in tracks]
        waiting = [track for track, is_so in stances if is_so is Stance.WAITS]
        out: list[tuple[Track, Stance]] = [one for one in stances if one[1] in _OUT]
        if not waiting or self._is_healthy(ranks, waiting, context):
            ranks.hang_s = 0.0
            return
        longest_s = max(track.wait_s for track in waiting)
        if len(waiting) + len(out) < len(stances):
            ranks.hang_s = 0.0
            yield from self._aside(
                ranks, waiting, [track for track, is_so in stances if is_so is Stance.WORKS], context
            )
            return
        ranks.hang_s = (
            ranks.hang_s + context.step_s if ranks.hang_s else min(waiting[0].board.limits.rank_waits_s, longest_s)
        )
        lasted_s = min(ranks.hang_s, longest_s)
        if lasted_s >= self._least_s:
            yield from self._hang(ranks, waiting, out, lasted_s, context)

    def _aside(self, ranks: Ranks, waiting: list[Track], working: list[Track], context: Context) -> Iterator[Claim]:
        """Claim that some ranks have waited for very long while others work."""
        longest_s = max(track.wait_s for track in waiting)
        is_suspect = longest_s >= self._patience_s(ranks, working)
        if is_suspect or longest_s >= max(self._aside_s, self._longer * ranks.longest_wait_s):
            stage = Stage.SUSPECT if is_suspect else Stage.OBSERVATION
            yield busy_claim(_subject(ranks, waiting, context), stage, waiting, working, context)

    def _hang(
        self, ranks: Ranks, waiting: list[Track], out: list[tuple[Track, Stance]], lasted_s: float, context: Context
    ) -> Iterator[Claim]:
        is_host_busy = self._is_host_busy(ranks, out, context)
        case = Case(
            code="stuck.collective",
            subject=_subject(ranks, waiting, context),
            lasted_s=lasted_s,
            limit_s=self._limit_s(waiting, ranks.longest_wait_s, is_host_busy=is_host_busy),
            waiting=waiting,
            out=out,
            ranks=len(_participants(ranks)),
            has_worked=self._has_worked(waiting),
        )
        stage, is_usual = self._stage(case), is_host_busy or not self._is_unusual(lasted_s, ranks.longest_wait_s)
        if stage is not Stage.OBSERVATION or not is_usual:
            yield hang_claim(case, stage, context)

    # --- how long is too long ------------------------------------------------------------------------------------
    def _is_unusual(self, lasted_s: float, longest_s: float) -> bool:
        """Return whether a wait is long enough for an observation. An evaluation or a checkpoint repeats."""
        return lasted_s >= max(self._waiting_s, self._longer * longest_s)

    def _is_healthy(self, ranks: Ranks, waiting: list[Track], context: Context) -> bool:
        """Return whether it reports progress, or may be several programs of tiny kernels, which look like this."""
        is_job = self._has_worked(waiting) or any((track.role.world or 1) > 1 for track in waiting)
        is_job = is_job or any(track.process.state == "D" and track.idle_s for track in ranks.tracks)
        return not is_job or any(track.is_progressing(context.now_s) for track in ranks.tracks)

    def _has_worked(self, tracks: list[Track]) -> bool:
        return any(track.worked_s >= self._worked_s for track in tracks)

    def _limit_s(self, tracks: list[Track], longest_s: float, *, is_host_busy: bool = False) -> float:
        least_s = self._alarm_s if self._has_worked(tracks) else self._fresh_s
        return max(least_s, self._host_alarm_s if is_host_busy else 0.0, self._times * longest_s)

    def _is_host_busy(self, ranks: Ranks, out: list[tuple[Track, Stance]], context: Context) -> bool:
        """Return whether the first rank, without GPU work, uses the CPU, itself or by a child.

        It may write a checkpoint: in most programs only the first rank does so.
        """
        first = min(_participants(ranks), key=lambda track: (track.process.owner.rank or 0, track.board.index))
        idle = [track.process for track, is_so in out if is_so is Stance.IDLE and track is first]
        hosts = [one for process in idle for one in (process, *context.relatives.get(process.pid, ()))]
        return any((busiest(one) or one.cpu_percent or 0.0) >= self._host[1] for one in hosts)

    def _patience_s(self, ranks: Ranks, working: list[Track]) -> float:
        """Return how long ranks may wait while others work; utilization without power and traffic is no work."""
        least_s = self._behind_s if any(_has_power(track) for track in working) else self._fresh_s
        return max(least_s, self._behind_times * ranks.longest_wait_s)

    def _stage(self, case: Case) -> Stage:
        """Return the stage; without an essential signal, or with possibly tiny kernels, it is never an alarm."""
        is_doubtful = not case.has_worked and not all(track.board.is_static for track in case.waiting)
        if case.lasted_s < self._suspect * case.limit_s or case.lacks_power:
            return Stage.OBSERVATION if case.lasted_s < case.limit_s else Stage.SUSPECT
        return Stage.ALARM if case.lasted_s >= case.limit_s and not is_doubtful else Stage.SUSPECT


def _has_power(track: Track) -> bool:
    board = track.board
    return not board.is_quiet or track.has_link_traffic or board.effort is None or board.effort > board.limits.low


def _is_only_user(track: Track, context: Context) -> bool:
    """Return whether no other process is on its GPU, a desktop included: memory traffic is then its own."""
    users = (one.pid for one in context.sample.processes for use in one.gpus if use.gpu == track.use.gpu)
    return all(pid == track.process.pid for pid in users)


def _subject(ranks: Ranks, waiting: list[Track], context: Context) -> Subject:
    """Return the job; if only one of its ranks is left, there is no job any more, and the rank is the subject."""
    if any(job.key == ranks.job.key for job in context.jobs):
        return job_subject(ranks.job)
    return process_subject(waiting[0].process)


def _participants(ranks: Ranks) -> list[Track]:
    """Return the tracks that can hang: servers and notebooks in the same container do not belong to the job."""
    return [track for track in ranks.tracks if not (track.role.is_server or track.role.is_interactive)]
