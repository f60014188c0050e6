"""The thresholds of work, idle time and waiting inside a kernel, which several detectors share."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Dial, Kind
from gputop.core.detectors.limits import limits_from

KIND: Final = Kind(
    name="activity",
    question="When does a process work, idle or wait in a kernel? For stuck, stalled, spin, idle, straggler, bound.",
    codes={},
    dials=(
        Dial("full_percent", 97.0, 50.0, 100.0, "GPU utilization from which a kernel may be waiting."),
        Dial("idle_percent", 1.0, 0.0, 50.0, "GPU utilization up to which a process is idle."),
        Dial(
            "low_percent", 12.0, 0.0, 100.0,
            "Power of a kernel that waits, as a share of the range from an idle context to the limit.",
        ),
        Dial(
            "low_of_work_percent", 30.0, 0.0, 100.0,
            "The same power, as a share of the power at work; used if it is higher and the power is steady.",
        ),
        Dial("low_most_percent", 25.0, 0.0, 100.0, "Upper limit for low_of_work_percent, as a share of the range "
        "from an idle context to the limit."),
        Dial(
            "working_percent", 25.0, 0.0, 100.0,
            "Power above which a process does real work, as a share of that range.",
        ),
        Dial(
            "steady_percent", 2.2, 0.1, 100.0,
            "Power that varies less than this (share of that range) is steady: waiting kernels, not tiny ones.",
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
            "A GPU is quiet if its memory utilization or DRAM activity is at most this.",
        ),
        Dial("quiet_tensor_percent", 2.0, 0.0, 100.0, "Highest tensor activity of a quiet GPU."),
        Dial("quiet_pcie_bytes_per_s", 25e6, 0.0, 1e12, "Highest PCIe traffic of a quiet GPU."),
        Dial("quiet_nvlink_bytes_per_s", 200e6, 0.0, 1e13, "Highest NVLink traffic of a quiet GPU."),
        Dial(
            "context_percent", 30.0, 0.0, 90.0,
            "Highest power of an idle context, as a share of the power limit, until gputop measures it.",
        ),
        Dial(
            "interrupted_s", 30.0, 0.0, 3600.0,
            "An interruption ends a wait that is shorter than this, and reduces a longer wait by interruption_times.",
        ),
        Dial("rank_waits_s", 30.0, 1.0, 3600.0, "Waiting time after which a rank counts as waiting."),
        Dial("rank_rests_s", 10.0, 1.0, 3600.0, "Idle time after which a rank counts as idle."),
        Dial("heartbeat_s", 3.0, 0.0, 60.0, "Work of this length within heartbeat_within_s ends idle time."),
        Dial(
            "progress_s", 120.0, 1.0, 86400.0,
            "A job that reported a step within this time does not hang.",
        ),
        Dial(
            "means_s", 90.0, 30.0, 3600.0,
            "gputop averages over this time, or up to twice as long, to judge what limits a job.",
        ),
        Dial(
            "progress_times", 3.0, 1.0, 100.0,
            "A job does not hang if it reported a step within this many times its longest step.",
        ),
        Dial(
            "interruption_times", 5.0, 0.0, 1000.0,
            "During an interruption, a waiting time shrinks this many times faster than it grew.",
        ),
        Dial(
            "interruption_percent", 80.0, 0.0, 100.0,
            "At this GPU utilization or more, an interruption of a wait may be a measurement error.",
        ),
        Dial("resumed_s", 10.0, 0.0, 3600.0, "Work of this length after a wait shows that the wait was normal."),
        Dial("pause_s", 3.0, 0.0, 3600.0, "A shorter pause belongs to a normal step and does not count."),
        Dial("heartbeat_within_s", 60.0, 1.0, 3600.0, "Time within which work of heartbeat_s ends idle time."),
        Dial(
            "short_gap_s", 60.0, 0.0, 86400.0,
            "A process that is idle before and after a shorter gap in sampling was also idle during the gap.",
        ),
        Dial(
            "own_percent", 50.0, 0.0, 100.0,
            "At this GPU utilization or more, a process causes the power draw of its GPU.",
        ),
        Dial("shared_percent", 40.0, 0.0, 100.0, "GPU utilization from which a kernel may be waiting, if two "
        "processes share the GPU."),
        Dial("active_percent", 5.0, 0.0, 100.0, "At this GPU utilization or more, a process affects other processes "
        "on the GPU."),
        Dial("neighbour_s", 30.0, 1.0, 3600.0, "Time for which a GPU counts as shared after a neighbour computed."),
        Dial("hidden_s", 45.0, 1.0, 3600.0, "Longest time for which a neighbour that works can hide a wait."),
        Dial("fed_percent", 15.0, 0.0, 100.0, "Data loaders work if each of them uses at least this much CPU."),
        Dial("left_out_s", 10.0, 1.0, 3600.0, "After this idle time, a process is left out of the averages."),
        Dial("lost_s", 10.0, 1.0, 3600.0, "The ranks of a GPU are lost if the GPU does not answer for this time."),
        Dial("stale_s", 5.0, 1.0, 3600.0, "Older readings of a GPU are not judged."),
        Dial("settled_s", 20.0, 1.0, 3600.0, "Time that power takes to settle."),
        Dial("smooth_s", 5.0, 0.1, 3600.0, "Time over which power is smoothed."),
        Dial("steady_s", 30.0, 1.0, 3600.0, "Time over which the variation of power is measured."),
        Dial("work_smooth_s", 30.0, 1.0, 3600.0, "Time over which the power of work is smoothed."),
        Dial(
            "context_of_default_percent", 20.0, 0.0, 90.0,
            "If the power limit was lowered: share of the default limit that an idle context may take.",
        ),
        Dial(
            "context_seen_percent", 60.0, 0.0, 90.0,
            "gputop accepts a measured power of an idle context up to this share of the power limit.",
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
