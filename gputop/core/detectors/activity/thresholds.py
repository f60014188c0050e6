"""The thresholds of work, idle time and waiting inside a kernel, which several detectors share."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Dial, Kind
from gputop.core.detectors.limits import limits_from

KIND: Final = Kind(
    name="activity",
    question="When does a process work, idle or wait in a kernel? "
    "These settings apply to the detectors stuck, stalled, spin, idle, straggler and bound.",
    codes={},
    dials=(
        Dial("full_percent", 97.0, 50.0, 100.0, "A kernel may be waiting if the GPU utilization is at least this."),
        Dial("idle_percent", 1.0, 0.0, 50.0, "A process is idle if its GPU utilization is at most this."),
        Dial(
            "low_percent", 12.0, 0.0, 100.0,
            "A kernel may be waiting if the power is at most this share of the range between idle power (a CUDA "
            "context without work) and the power limit.",
        ),
        Dial(
            "low_of_work_percent", 30.0, 0.0, 100.0,
            "If the power is steady, a kernel may also be waiting if the power above idle is at most this share of "
            "the power above idle while the process worked.",
        ),
        Dial(
            "low_most_percent", 25.0, 0.0, 100.0,
            "low_of_work_percent applies only up to this share of the range between idle power and the power limit.",
        ),
        Dial(
            "working_percent", 25.0, 0.0, 100.0,
            "A process does real work if the power is above this share of the range between idle power and the "
            "power limit.",
        ),
        Dial(
            "steady_percent", 2.2, 0.1, 100.0,
            "Power is steady if it varies by less than this share of the range between idle power and the power "
            "limit. It is steady while a kernel waits, and not while many small kernels run.",
        ),
        Dial(
            "own_memory_percent", 10.0, 1.0, 100.0,
            "On a shared GPU: a process works if its own memory utilization is at least this.",
        ),
        Dial(
            "own_still_percent", 1.0, 0.0, 100.0,
            "On a shared GPU: a process moves no data if its own memory utilization is at most this.",
        ),
        Dial(
            "quiet_memory_percent", 3.0, 0.0, 100.0,
            "A kernel may be waiting only if the memory utilization and the DRAM activity of the GPU are at most "
            "this.",
        ),
        Dial(
            "quiet_tensor_percent", 2.0, 0.0, 100.0,
            "A kernel may be waiting only if the tensor activity of the GPU is at most this.",
        ),
        Dial(
            "quiet_pcie_bytes_per_s", 25e6, 0.0, 1e12,
            "A kernel may be waiting only if the PCIe traffic of the GPU is at most this.",
        ),
        Dial(
            "quiet_nvlink_bytes_per_s", 200e6, 0.0, 1e13,
            "A kernel may be waiting only if the NVLink traffic of the GPU is at most this.",
        ),
        Dial(
            "context_percent", 30.0, 0.0, 90.0,
            "Until gputop has measured the idle power (a CUDA context without work), it assumes at most this share "
            "of the power limit.",
        ),
        Dial(
            "interrupted_s", 30.0, 0.0, 3600.0,
            "If a process shows other activity during a wait, a wait shorter than this ends. A longer wait may only "
            "become shorter (see interruption_times).",
        ),
        Dial("rank_waits_s", 30.0, 1.0, 3600.0, "A rank counts as waiting after it has waited for at least this time."),
        Dial("rank_rests_s", 10.0, 1.0, 3600.0, "A rank counts as idle after it has been idle for at least this time."),
        Dial(
            "heartbeat_s", 3.0, 0.0, 60.0,
            "A process is not idle any more when it has worked for at least this time in total within "
            "heartbeat_within_s.",
        ),
        Dial("progress_s", 120.0, 1.0, 86400.0, "A job does not hang if its last reported step is at most this old."),
        Dial(
            "means_s", 90.0, 30.0, 3600.0,
            "To judge what limits a job, gputop averages over this time, or over up to twice as long.",
        ),
        Dial(
            "progress_times", 3.0, 1.0, 100.0,
            "A job does not hang if the time since its last reported step is at most this many times the duration "
            "of its longest step.",
        ),
        Dial(
            "interruption_times", 5.0, 0.0, 1000.0,
            "If other activity only makes a wait shorter, the counted time decreases this many times faster than it "
            "grew.",
        ),
        Dial(
            "interruption_percent", 80.0, 0.0, 100.0,
            "Other activity can make a wait shorter, instead of ending it, only if the GPU utilization is at least "
            "this: it may be a measurement error.",
        ),
        Dial("resumed_s", 10.0, 0.0, 3600.0, "A wait was normal if the process works for at least this time after it."),
        Dial(
            "pause_s", 3.0, 0.0, 3600.0,
            "A pause that is at most this long belongs to a normal step and does not count.",
        ),
        Dial(
            "heartbeat_within_s", 60.0, 1.0, 3600.0,
            "If an idle process works for short times, gputop adds them up over at most this time (see heartbeat_s).",
        ),
        Dial(
            "short_gap_s", 60.0, 0.0, 86400.0,
            "If gputop takes no samples for at most this time, a process keeps its idle time.",
        ),
        Dial(
            "own_percent", 50.0, 0.0, 100.0,
            "If the GPU utilization of a process is above this, gputop assigns the power of the GPU to it.",
        ),
        Dial(
            "shared_percent", 40.0, 0.0, 100.0,
            "If two processes share a GPU, a kernel may be waiting if its process uses at least this share of the "
            "GPU time.",
        ),
        Dial(
            "active_percent", 5.0, 0.0, 100.0,
            "A process affects the other processes on its GPU if its GPU utilization is at least this.",
        ),
        Dial(
            "neighbour_s", 30.0, 1.0, 3600.0,
            "A GPU counts as shared for this time after a second process computed on it.",
        ),
        Dial(
            "hidden_s", 45.0, 1.0, 3600.0,
            "If another process works on the same GPU, gputop cannot see whether a process still waits. It assumes "
            "so for at most this time.",
        ),
        Dial("fed_percent", 15.0, 0.0, 100.0, "Data loaders work if they use at least this much CPU each, on average."),
        Dial(
            "left_out_s", 10.0, 1.0, 3600.0,
            "gputop leaves a process out of the averages when it has been idle for at least this time.",
        ),
        Dial("lost_s", 10.0, 1.0, 3600.0, "A rank counts as lost if its GPU has not answered for at least this time."),
        Dial("stale_s", 5.0, 1.0, 3600.0, "gputop does not judge values of a GPU that are older than this."),
        Dial(
            "settled_s", 20.0, 1.0, 3600.0,
            "gputop measures idle power only after the GPU has been idle for at least this time, because power "
            "takes time to settle.",
        ),
        Dial("smooth_s", 5.0, 0.1, 3600.0, "gputop averages the power over this time."),
        Dial("steady_s", 30.0, 1.0, 3600.0, "gputop measures over this time how much the power varies."),
        Dial("work_smooth_s", 30.0, 1.0, 3600.0, "gputop averages the power of a working process over this time."),
        Dial(
            "context_of_default_percent", 20.0, 0.0, 90.0,
            "If the power limit was lowered, gputop accepts idle power up to this share of the default power limit.",
        ),
        Dial(
            "context_seen_percent", 60.0, 0.0, 90.0,
            "gputop accepts a measured idle power only up to this share of the power limit.",
        ),
    ),
)  # fmt: skip


class ActivityLimits(Struct, frozen=True):
    """The dials in the units of the code: shares of a range are 0 to 1."""

    full_percent: float
    idle_percent: float
    low: float
    low_of_work: float
    low_most: float
    working: float
    steady: float
    own_memory_percent: float
    own_still_percent: float
    quiet: tuple[float, float, float, float, float]
    context: float
    interrupted_s: float
    rank_waits_s: float
    rank_rests_s: float
    heartbeat_s: float
    progress_s: float
    means_s: float
    progress_times: float
    interruption_times: float
    interruption_percent: float
    resumed_s: float
    pause_s: float
    heartbeat_within_s: float
    short_gap_s: float
    own_percent: float
    shared_percent: float
    active_percent: float
    neighbour_s: float
    hidden_s: float
    fed_percent: float
    left_out_s: float
    lost_s: float
    stale_s: float
    settled_s: float
    smooth_s: float
    steady_s: float
    work_smooth_s: float
    context_of_default: float
    context_seen: float


def limits_of(dials: Mapping[str, float]) -> ActivityLimits:
    """Return the limits. ``quiet``: memory controller, PCIe, NVLink, tensor cores, DRAM."""
    memory, pcie = dials["quiet_memory_percent"], dials["quiet_pcie_bytes_per_s"]
    quiet = (memory, pcie, dials["quiet_nvlink_bytes_per_s"], dials["quiet_tensor_percent"], memory)
    return limits_from(ActivityLimits, dials, quiet=quiet)


USUAL: Final = limits_of(KIND.settled({}))
