"""Hangs on a GPU that a neighbour uses. Power and traffic are those of the neighbour, so they are never an alarm.

The evidence is weak: the process keeps its share of the GPU's time, no longer moves data in GPU memory, and does
nothing on the host. The driver may charge all activity of a sample to one process: a process that works next to one
that moves no data then shows a quarter of its memory utilization, which is still above the threshold.
"""

from typing import Final

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.activity.process import Track, busiest
from gputop.core.detectors.subjects import process_subject
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import HostProcess
from gputop.core.model.units import bytes_text, duration_text

SURE: Final = 0.5  # low: no reading of the GPU itself supports it


def is_at_work(track: Track, context: Context, spins_percent: float, rests_percent: float) -> bool:
    """Return whether it works on the host; threads that always spin or always sleep do not count."""
    thread = busiest(track.process)
    if thread is None or rests_percent <= thread < spins_percent:
        return True
    return any(_works(child, rests_percent) for child in context.relatives.get(track.process.pid, ()))


def shared_gpu_claim(track: Track, others: list[Track], context: Context) -> Claim:
    """Return the claim. ``others``: the other processes on the GPU that are due now."""
    use, lasted_s, thread = track.use, track.shared_still_s, busiest(track.process) or 0.0
    neighbours = ", ".join(f"pid {one.process.pid}" for one in others[:3]) or "another process"
    is_collective = (track.role.world or 1) > 1
    what = "it waits in a collective, or a kernel does not end" if is_collective else "a kernel does not end"
    return Claim(
        code="stuck.collective" if is_collective else "stuck.kernel",
        stage=Stage.SUSPECT,
        subject=process_subject(track.process, use if len(track.process.gpus) == 1 else None),
        summary=f"perhaps hung for {duration_text(lasted_s)}: {what} · it uses {track.gu or 0:.0f}% of the GPU next to "
        f"{neighbours}, but no longer reads or writes GPU memory",
        evidence=(
            Evidence(
                "waiting_s", round(lasted_s, 1), f"hung for {duration_text(lasted_s)}", track.longest_wait_s or None
            ),
            Evidence("sm_percent", use.sm_percent, f"its SM utilization {use.sm_percent or 0:.0f}%"),
            Evidence(
                "memory_utilization_percent", use.memory_utilization_percent,
                f"its memory utilization {use.memory_utilization_percent or 0:.0f}%",
            ),
            Evidence("moved_s", round(track.moved_s, 1), f"it read or wrote GPU memory for "
            f"{duration_text(track.moved_s)} before"),
            Evidence("memory_bytes", use.memory_bytes, f"holds {bytes_text(use.memory_bytes)}, unchanged"),
            Evidence("busiest_thread_percent", round(thread, 1), f"busiest CPU thread at {thread:.0f}% of a core"),
        ),
        remedy=f"See where it is: gputop explain {track.process.pid}. To be sure, "
        "pause the neighbour, if its owner agrees: then power shows whether it works.",
        action="process",
        confidence=SURE,
        lacking=("its own power draw and PCIe traffic (another process computes on the same GPU)",),
        began_s=context.now_s - lasted_s,
    )  # fmt: skip


def _works(child: HostProcess, rests_percent: float) -> bool:
    return child.state == "D" or (child.cpu_percent or 0.0) >= rests_percent
