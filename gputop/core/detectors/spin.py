"""Does a thread take a whole core while the GPU of its process does nothing? Nothing reaches the GPU."""

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
    question="Does a thread take a whole core while the GPU of its process does nothing?",
    codes={"spin.host": "A thread runs all the time, and nothing reaches the GPU that the process holds."},
    remedies={
        "spin.host": "See what it does: `py-spy dump --pid PID`. A server that polls for requests is well.",
    },
    dials=(
        Dial(key="after_s", default=60.0, least=10.0, most=86400.0, help="Spinning for so long is worth a line."),
        Dial(key="suspect_s", default=300.0, least=10.0, most=86400.0, help="Spinning for so long is a suspect."),
        Dial(
            key="thread_percent", default=85.0, least=10.0, most=100.0,
            help="CPU of its busiest thread from which it spins.",
        ),
        Dial(
            key="times", default=2.0, least=1.0, most=100.0,
            help="It must also spin so many times as long as it ever did before it worked.",
        ),
        Dial(
            key="fresh_times", default=3.0, least=1.0, most=100.0,
            help="One that never worked must spin so many times as long.",
        ),
        Dial(
            key="falls_times", default=6.0, least=0.0, most=1000.0,
            help="How much faster than it rose the time of spinning falls while it does not spin.",
        ),
    ),
)  # fmt: skip

_MEANT: Final = "Nothing to do: it polls for requests, or reports that it goes on. Its threads: Enter on its row"


class SpinDetector:
    """Counts on the tracks how long it has been so."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._after_s, self._suspect_s, self._thread = dials["after_s"], dials["suspect_s"], dials["thread_percent"]
        self._times, self._fresh, self._falls = dials["times"], dials["fresh_times"], dials["falls_times"]

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return who spins."""
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
                    if track.spin_s >= self._after_s and not track.verdict:
                        found.append(track)
                elif track.spin_s:
                    track.spin_s = max(0.0, track.spin_s - self._falls * track.step_s)
            elif track.spin_s:
                track.longest_spin_s = max(track.longest_spin_s, track.spin_s)
                track.spin_s = 0.0
        for group in groups(activity, found, self._spins) if found else ():
            if group.ranks or all(self._spins(one) for one in activity.siblings(group.first)):
                yield self._claim(group, context)

    def _spins(self, track: Track) -> bool:
        return track.spin_s >= self._after_s

    def _claim(self, group: Group, context: Context) -> Claim:
        track = group.first
        for one in group.tracks:
            one.verdict = one.verdict or "spin"
        lasted_s = min(one.spin_s for one in group.tracks)
        is_meant = track.role.is_server or any(one.is_progressing(context.now_s) for one in group.tracks)
        limit_s = max(self._suspect_s, self._times * track.longest_spin_s) * (1 if track.busy_s else self._fresh)
        held = sum(one.use.memory_bytes or 0 for one in group.tracks)
        thread = busiest(track.process) or 0.0
        return Claim(
            code="spin.host",
            stage=Stage.SUSPECT if lasted_s >= limit_s and not is_meant else Stage.OBSERVATION,
            subject=group.subject,
            summary=f"{count_text(group)}GPU at 0% with a thread at {thread:.0f}% CPU for {duration_text(lasted_s)}, "
            f"holds {bytes_text(held)}" + (": a server that polls for requests" if track.role.is_server else ""),
            evidence=(
                Evidence("busiest_thread_percent", round(thread, 1), f"busiest thread at {thread:.0f}% of a core"),
                Evidence("lasted_s", round(lasted_s, 1), f"nothing on the GPU for {duration_text(lasted_s)}"),
                Evidence("memory_bytes", held, f"holds {bytes_text(held)}"),
            ),
            remedy=_MEANT if is_meant else f"See what it does: py-spy dump --pid {track.process.pid}. Work on the CPU "
            "belongs before the GPU is taken, or into data loader workers.",
            action="process",
            confidence=confidence_of(0.5, 0.3 if track.busy_s else 0.0, 0.2 if group.ranks else 0.0),
            began_s=context.now_s - lasted_s,
        )  # fmt: skip
