"""Does a process hang beside a neighbour that computes? Power and traffic are the neighbour's, so it is never an alarm.

What is left is little: it keeps its share of the GPU's time, moves nothing in GPU memory where it did before, and
nothing of it goes on on the host. The driver may charge each of its samples to one process with all that the GPU did
in it: then of a process that works beside one that moves nothing, half of half of what it moved is left, and that is
still above the line.
"""

from typing import Final

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.activity.process import Track, busiest
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import HostProcess
from gputop.core.model.units import bytes_text, duration_text

SURE: Final = 0.5  # low: nothing of the GPU itself says so


def is_at_work(track: Track, context: Context, spins_percent: float, rests_percent: float) -> bool:
    """Say whether something of it goes on on the host; threads that spin all the time or sleep all the time do not."""
    thread = busiest(track.process)
    if thread is None or rests_percent <= thread < spins_percent:
        return True
    return any(_works(child, rests_percent) for child in context.relatives.get(track.process.pid, ()))


def beside_claim(track: Track, others: list[Track], context: Context) -> Claim:
    """Return the finding. ``others``: who computes beside it, as far as they are known now."""
    use, lasted_s, thread = track.use, track.beside_s, busiest(track.process) or 0.0
    neighbours = ", ".join(f"pid {one.process.pid}" for one in others[:3]) or "another process"
    is_collective = (track.role.world or 1) > 1
    held = bytes_text(use.memory_bytes)
    what = "waiting in a collective, or a kernel that does not end" if is_collective else "a kernel that does not end"
    return Claim(
        code="stuck.collective" if is_collective else "stuck.kernel",
        stage=Stage.SUSPECT,
        subject=process_subject(track.process, use if len(track.process.gpus) == 1 else None),
        summary=f"has {track.gu or 0:.0f}% of the GPU's time beside {neighbours}, and has moved nothing in GPU memory "
        f"for {duration_text(lasted_s)}, after {duration_text(track.moved_s)} in which it did -> maybe {what}",
        evidence=(
            Evidence("waiting_s", round(lasted_s, 1), f"for {duration_text(lasted_s)}"),
            Evidence("sm_percent", use.sm_percent, f"SM utilization {use.sm_percent or 0:.0f}%"),
            Evidence(
                "memory_utilization_percent", use.memory_utilization_percent,
                f"its own memory utilization {use.memory_utilization_percent or 0:.0f}%",
            ),
            Evidence("moved_s", round(track.moved_s, 1), f"it moved memory for {duration_text(track.moved_s)} before"),
            Evidence("memory_bytes", use.memory_bytes, f"holds {held}, all the time the same"),
            Evidence("busiest_thread_percent", round(thread, 1), f"busiest thread at {thread:.0f}% of a core"),
        ),
        remedy=f"See where it is: py-spy dump --pid {track.process.inner_pid or track.process.pid}. To be sure, let "
        "its neighbour pause: then power tells.",
        action="process",
        confidence=SURE,
        lacking=("its own power draw and PCIe traffic: a neighbour computes on the same GPU",),
        began_s=context.now_s - lasted_s,
    )  # fmt: skip


def _works(child: HostProcess, rests_percent: float) -> bool:
    return child.state == "D" or (child.cpu_percent or 0.0) >= rests_percent
