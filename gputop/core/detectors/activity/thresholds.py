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
            "A kernel may be waiting if the power is at most this share of the power range. The power range goes from "
            "idle power (a process that does no work) to the power limit.",
        ),
        Dial(
            "low_of_work_percent", 30.0, 0.0, 100.0,
            "A kernel may also be waiting if the power is steady and low for this process. With 30: at most 30% of the "
            "power that the process used for its work. Both powers are counted from idle power.",
        ),
        Dial(
            "low_of_silent_percent", 45.0, 0.0, 100.0,
            "The same as low_of_work_percent, for a process that used much GPU memory bandwidth for its work and now "
            "uses hardly any (see silent_percent).",
        ),
        Dial(
            "silent_percent", 10.0, 0.0, 100.0,
            "A process uses hardly any memory bandwidth if the memory utilization is at most this share of "
            "the memory utilization while it worked.",
        ),
        Dial(
            "low_most_percent", 25.0, 0.0, 100.0,
            "Above this share of the power range, low_of_work_percent and low_of_silent_percent are not used. "
            "Below this, a rank that never worked counts as waiting if it moves no data (see "
            "own_still_percent).",
        ),
        Dial(
            "working_percent", 25.0, 0.0, 100.0,
            "A process does real work if the power is above this share of the power range, or above low_percent while "
            "the memory utilization is at least own_memory_percent.",
        ),
        Dial(
            "heavy_percent", 42.0, 0.0, 100.0,
            "Small kernels do not take more power than this share of the power range.",
        ),
        Dial(
            "steady_percent", 2.2, 0.1, 100.0,
            "Power is steady if it varies by less than this share of the power range. It is steady while one kernel "
            "waits. It varies while many small kernels run.",
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
            "A kernel may be waiting only if the memory utilization and the DRAM activity are at most this.",
        ),
        Dial(
            "quiet_tensor_percent", 2.0, 0.0, 100.0,
            "A kernel may be waiting only if the tensor activity of the GPU is at most this.",
        ),
        Dial(
            "quiet_pcie_bytes_per_s", 25e6, 0.0, 1e12,
            "A kernel may be waiting if the PCIe traffic of the GPU is at most this.",
        ),
        Dial(
            "quiet_pcie_of_work_percent", 50.0, 0.0, 100.0,
            "A kernel may also be waiting if the PCIe traffic is at most this share of the traffic while the process "
            "worked.",
        ),
        Dial(
            "polling_bytes_per_s", 1e9, 0.0, 1e12,
            "A rank of a job may also be waiting if the PCIe traffic is at most this. Without NVLink, a waiting "
            "rank reads host memory again and again (polling).",
        ),
        Dial(
            "quiet_nvlink_bytes_per_s", 200e6, 0.0, 1e13,
            "A kernel may be waiting if the NVLink traffic of the GPU is at most this.",
        ),
        Dial(
            "quiet_nvlink_of_work_percent", 15.0, 0.0, 100.0,
            "A kernel may also be waiting if the NVLink traffic is at most this share of the traffic while the process "
            "worked.",
        ),
        Dial(
            "context_percent", 30.0, 0.0, 90.0,
            "gputop first has to measure the idle power. Until then it assumes at most this share of the power limit.",
        ),
        Dial(
            "ended_s", 5.0, 0.0, 3600.0,
            "A wait ends when the process has worked or been idle for this time. Shorter work does not end "
            "the wait, unless both power and traffic show work.",
        ),
        Dial("rank_waits_s", 30.0, 1.0, 3600.0, "gputop calls a rank waiting after this time."),
        Dial("rank_rests_s", 10.0, 1.0, 3600.0, "gputop calls a rank idle after this time."),
        Dial(
            "heartbeat_s", 3.0, 0.0, 60.0,
            "An idle process that works for a moment stays idle. It counts as working again only after this many "
            "seconds of work within heartbeat_within_s.",
        ),
        Dial("progress_s", 120.0, 1.0, 86400.0, "A job does not hang if it reported a step within this time."),
        Dial(
            "means_s", 90.0, 30.0, 3600.0,
            "To find what limits a job, gputop uses means over at least this time and at most twice this time.",
        ),
        Dial(
            "progress_times", 3.0, 1.0, 100.0,
            "A job with long steps gets more time. With 3 and steps of 10 minutes, it does not hang for 30 minutes "
            "after its last reported step.",
        ),
        Dial(
            "interruption_times", 5.0, 0.0, 1000.0,
            "Other activity shortens a long wait. With 5, one second of activity takes 5 seconds off the wait.",
        ),
        Dial("resumed_s", 10.0, 0.0, 3600.0, "A wait was normal if the process then works for this time."),
        Dial("pause_s", 3.0, 0.0, 3600.0, "A pause up to this long is part of a normal step."),
        Dial(
            "heartbeat_within_s", 60.0, 1.0, 3600.0,
            "See heartbeat_s. gputop adds up the short times of work over this time. If only one sample in this time "
            "shows work, and the power is low, it is a wrong reading.",
        ),
        Dial(
            "own_percent", 50.0, 0.0, 100.0,
            "gputop assigns the power of a GPU to a process if the GPU utilization of the process is above this.",
        ),
        Dial(
            "shared_percent", 40.0, 0.0, 100.0,
            "On a shared GPU: a kernel may be waiting if its process uses at least this share of the GPU time.",
        ),
        Dial(
            "active_percent", 5.0, 0.0, 100.0,
            "A process affects the other processes on its GPU if its GPU utilization is at least this.",
        ),
        Dial(
            "neighbour_s", 30.0, 1.0, 3600.0,
            "A GPU counts as shared for this time after two processes computed on it.",
        ),
        Dial(
            "hidden_s", 45.0, 1.0, 3600.0,
            "While another process works on the GPU, gputop cannot see whether a process still waits. It assumes that "
            "the wait continues, but only for this time.",
        ),
        Dial("fed_percent", 15.0, 0.0, 100.0, "Data loaders work if each uses at least this much CPU on average."),
        Dial(
            "fed_times", 2.0, 1.0, 1000.0,
            "A process waits for its data loaders if its pause is not much longer than usual. With 2, at most twice as "
            "long as the longest pause before. A longer pause is a standstill.",
        ),
        Dial(
            "loaded_bytes", 2.0**28, 0.0, 2.0**50,
            "To find what limits a job, gputop leaves out the time in which the job loads a model. A smaller rise of "
            "its GPU memory is not loading.",
        ),
        Dial(
            "often_percent", 10.0, 0.0, 100.0,
            "To find what limits a job, gputop leaves out the time that the job spent waiting in a kernel, if "
            "the job really works for at least this share of its time.",
        ),
        Dial(
            "left_out_s", 10.0, 1.0, 3600.0,
            "gputop leaves a process out of the averages after it was idle for this time.",
        ),
        Dial("lost_s", 10.0, 1.0, 3600.0, "A rank is lost if its GPU has not answered for this time."),
        Dial("stale_s", 5.0, 1.0, 3600.0, "gputop does not judge values that are older than this."),
        Dial(
            "settled_s", 20.0, 1.0, 3600.0,
            "gputop measures idle power after the GPU was idle for this time. The power needs time to settle.",
        ),
        Dial("smooth_s", 5.0, 0.1, 3600.0, "gputop averages the power over this time."),
        Dial(
            "odd_s", 10.0, 0.0, 3600.0,
            "A single power reading far from the usual power does not count, if there was no other within this time.",
        ),
        Dial("steady_s", 30.0, 1.0, 3600.0, "gputop checks over this time whether the power is steady."),
        Dial("work_smooth_s", 30.0, 1.0, 3600.0, "gputop averages the power of a working process over this time."),
        Dial(
            "context_of_default_percent", 20.0, 0.0, 90.0,
            "If the power limit was lowered: gputop accepts idle power up to this share of the default power limit.",
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
    low_of_silent: float
    silent: float
    low_most: float
    working: float
    heavy: float
    steady: float
    own_memory_percent: float
    own_still_percent: float
    quiet: tuple[float, float, float]
    quiet_nvlink: float
    quiet_nvlink_of_work: float
    quiet_pcie: float
    quiet_pcie_of_work: float
    polling: float
    context: float
    ended_s: float
    rank_waits_s: float
    rank_rests_s: float
    heartbeat_s: float
    progress_s: float
    means_s: float
    progress_times: float
    interruption_times: float
    resumed_s: float
    pause_s: float
    heartbeat_within_s: float
    own_percent: float
    shared_percent: float
    active_percent: float
    neighbour_s: float
    hidden_s: float
    fed_percent: float
    fed_times: float
    loaded_bytes: float
    often: float
    left_out_s: float
    lost_s: float
    stale_s: float
    settled_s: float
    smooth_s: float
    odd_s: float
    steady_s: float
    work_smooth_s: float
    context_of_default: float
    context_seen: float


def limits_of(dials: Mapping[str, float]) -> ActivityLimits:
    """Return the limits. ``quiet``: memory controller, tensor cores, DRAM; PCIe and NVLink: bytes per second."""
    memory = dials["quiet_memory_percent"]
    return limits_from(
        ActivityLimits,
        dials,
        quiet=(memory, dials["quiet_tensor_percent"], memory),
        quiet_nvlink=dials["quiet_nvlink_bytes_per_s"],
        quiet_pcie=dials["quiet_pcie_bytes_per_s"],
        polling=dials["polling_bytes_per_s"],
    )


USUAL: Final = limits_of(KIND.settled({}))
