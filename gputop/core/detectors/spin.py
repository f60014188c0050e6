"""The detector of busy threads whose process does no GPU work."""

from collections.abc import Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Claim, Context, Dial, Kind
from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.group import Group, count_text, groups
from gputop.core.detectors.activity.process import Track, busiest
from gputop.core.model.finding import Evidence, Stage, confidence_of
from gputop.core.model.units import bytes_text, duration_text

KIND: Final = Kind(
    name="spin",
    question="Does a thread use a whole CPU core while the process does no work on its GPU?",
    codes={"spin.host": "A thread uses a whole CPU core, but the process sends no work to its GPU."},
    remedies={
        "spin.host": "See what it does: `py-spy dump --pid PID`. For a server that polls for requests this is normal.",
    },
    dials=(
        Dial("after_s", 120.0, 10.0, 86400.0, "If a process spins for this time, that is an observation."),
        Dial("suspect_s", 600.0, 10.0, 86400.0, "If a process spins for this time, that is a suspect."),
        Dial(
            "used_s", 30.0, 0.0, 86400.0,
            "A process that used the GPU for less than this time may still be starting up (see fresh_times).",
        ),
        Dial("thread_percent", 85.0, 10.0, 100.0, "A process spins if its busiest thread uses at least this much CPU."),
        Dial(
            "times", 2.0, 1.0, 100.0,
            "The process must also spin longer than before. With 2, twice as long as its longest time.",
        ),
        Dial(
            "fresh_times", 2.75, 1.0, 100.0,
            "If the process may still be starting up (see used_s), gputop waits longer. With 2.75, it waits 2.75 times "
            "as long.",
        ),
        Dial(
            "falls_times", 6.0, 0.0, 1000.0,
            "How fast gputop forgets. With 6, one second without spinning takes 6 seconds off the counted time.",
        ),
    ),
)  # fmt: skip

_HARMLESS: Final = "Nothing to do: it polls for requests, or it reports progress. To see its threads: Enter on its row"


class SpinDetector:
    """Counts on each track how long it has been spinning."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._after_s, self._suspect_s, self._thread = dials["after_s"], dials["suspect_s"], dials["thread_percent"]
        self._used_s = dials["used_s"]
        self._times, self._fresh, self._falls = dials["times"], dials["fresh_times"], dials["falls_times"]

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per process or job that spins."""
        activity = Activity.of(context)
        found = []
        for track in activity.tracks:
            if track.idle_s:
                process = track.process
                thread = process.busiest_thread_percent
                if thread is None:
                    thread = busiest(process)
                if thread is not None and thread >= self._thread:
                    track.spin_s += track.step_s
                    if self._spins(track):
                        found.append(track)
                elif track.spin_s:
                    track.spin_s = max(0.0, track.spin_s - self._falls * track.step_s)
            elif track.spin_s:
                track.longest_spin_s = max(track.longest_spin_s, track.spin_s)
                track.spin_s = 0.0
        for group in groups(activity, found, self._spins) if found else ():
            ranks = activity.ranks_of(group.first)  # one rank alone may evaluate or compile while the others wait
            those = ranks.tracks if ranks else activity.siblings(group.first)
            if all(self._spins(one) or activity.has_exited(one) for one in those):
                yield self._claim(group, context)

    def _spins(self, track: Track) -> bool:
        return track.spin_s >= self._limit_s(track, self._after_s)

    def _limit_s(self, track: Track, least_s: float) -> float:
        return max(least_s, self._times * track.longest_spin_s) * (1.0 if track.busy_s >= self._used_s else self._fresh)

    def _claim(self, group: Group, context: Context) -> Claim:
        track = group.first
        lasted_s = min(one.spin_s for one in group.tracks)
        is_harmless = track.role.is_server or any(one.is_progressing(context.now_s) for one in group.tracks)
        limit_s = self._limit_s(track, self._suspect_s)
        held = sum(one.use.memory_bytes or 0 for one in group.tracks)
        thread = busiest(track.process) or 0.0
        return Claim(
            code="spin.host",
            stage=Stage.SUSPECT if lasted_s >= limit_s and not is_harmless else Stage.OBSERVATION,
            subject=group.subject,
            summary=f"{count_text(group)}spinning on the CPU for {duration_text(lasted_s)} without GPU work: "
            f"busiest thread at {thread:.0f}% of a core, {bytes_text(held)} held"
            + (" (a server that polls for requests)" if track.role.is_server else ""),
            evidence=(
                Evidence("busiest_thread_percent", round(thread, 1), f"busiest thread at {thread:.0f}% of a core"),
                Evidence(
                    "lasted_s", round(lasted_s, 1), f"spinning on the CPU for {duration_text(lasted_s)}",
                    round(track.longest_spin_s, 1) or None,
                ),
                Evidence("memory_bytes", held, f"{bytes_text(held)} held"),
            ),
            remedy=_HARMLESS if is_harmless else f"See what it does: py-spy dump --pid {track.process.pid}. Do CPU "
            "work before you allocate GPU memory, or in data loader workers.",
            action="process",
            confidence=confidence_of(0.5, 0.3 if track.busy_s else 0.0, 0.2 if group.ranks else 0.0),
            began_s=context.now_s - lasted_s,
        )  # fmt: skip
