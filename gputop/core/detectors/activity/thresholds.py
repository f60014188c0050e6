"""The thresholds of work, idle time and waiting inside a kernel, which several detectors share."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import Dial, Kind

KIND: Final = Kind(
    name="activity",
    question="When does a process work, idle or wait in a kernel? For stuck, stalled, spin, idle, straggler, bound.",
    codes={},
    dials=(
        Dial(
            key="full_percent", default=97.0, least=50.0, most=100.0,
            help="GPU utilization from which a kernel may be waiting.",
        ),
        Dial(
            key="idle_percent", default=1.0, least=0.0, most=50.0,
            help="GPU utilization up to which a process is idle.",
        ),
        Dial(
            key="low_percent", default=12.0, least=0.0, most=100.0,
            help="Power of a kernel that waits, as a share of the range from an idle context to the limit.",
        ),
        Dial(
            key="low_of_work_percent", default=30.0, least=0.0, most=100.0,
            help="The same, as a share of its power while it worked; counts if that is more and the power is steady.",
        ),
        Dial(
            key="low_most_percent", default=25.0, least=0.0, most=100.0,
            help="Upper limit of low_of_work_percent, as a share of the same range.",
        ),
        Dial(
            key="working_percent", default=25.0, least=0.0, most=100.0,
            help="Power above which a process does real work, as a share of the same range.",
        ),
        Dial(
            key="steady_percent", default=2.2, least=0.1, most=100.0,
            help="Variation of power below which it is steady, in the same range: waiting kernels, not tiny ones.",
        ),
        Dial(
            key="own_memory_percent", default=10.0, least=1.0, most=100.0,
            help="Memory utilization of the process itself from which it works, on a GPU that it shares.",
        ),
        Dial(
            key="own_still_percent", default=1.0, least=0.0, most=100.0,
            help="Memory utilization of the process itself up to which it moves nothing, on a GPU that it shares.",
        ),
        Dial(
            key="quiet_memory_percent", default=3.0, least=0.0, most=100.0,
            help="Memory utilization or DRAM activity of a GPU up to which it moves no data.",
        ),
        Dial(
            key="quiet_tensor_percent", default=2.0, least=0.0, most=100.0,
            help="Tensor activity of such a GPU at most.",
        ),
        Dial(
            key="quiet_pcie_bytes_per_s", default=25e6, least=0.0, most=1e12,
            help="PCIe traffic of such a GPU at most.",
        ),
        Dial(
            key="quiet_nvlink_bytes_per_s", default=200e6, least=0.0, most=1e13,
            help="NVLink traffic of such a GPU at most.",
        ),
        Dial(
            key="context_percent", default=30.0, least=0.0, most=90.0,
            help="Share of the power limit that an idle context takes at most, until gputop measures more.",
        ),
        Dial(
            key="interrupted_s", default=30.0, least=0.0, most=3600.0,
            help="An interruption ends a shorter wait; it reduces a longer one, by interruption_times.",
        ),
        Dial(
            key="rank_waits_s", default=30.0, least=1.0, most=3600.0,
            help="Waiting time after which a rank counts as waiting.",
        ),
        Dial(
            key="rank_rests_s", default=10.0, least=1.0, most=3600.0,
            help="Idle time after which a rank counts as idle.",
        ),
        Dial(
            key="heartbeat_s", default=3.0, least=0.0, most=60.0,
            help="Work of this length within heartbeat_within_s ends idle time.",
        ),
        Dial(
            key="progress_s", default=120.0, least=1.0, most=86400.0,
            help="A reported step this recent, or within three of the longest steps, excludes a hang.",
        ),
        Dial(
            key="means_s", default=90.0, least=30.0, most=3600.0,
            help="gputop judges the limit of a job by averages over once to twice this time.",
        ),
        Dial(
            key="progress_times", default=3.0, least=1.0, most=100.0,
            help="Number of longest steps after which the last reported step no longer excludes a hang.",
        ),
        Dial(
            key="interruption_times", default=5.0, least=0.0, most=1000.0,
            help="How many times faster than it grew a waiting time shrinks during an interruption.",
        ),
        Dial(
            key="interruption_percent", default=80.0, least=0.0, most=100.0,
            help="GPU utilization from which an interruption of a wait may be an error of measurement.",
        ),
        Dial(
            key="resumed_s", default=10.0, least=0.0, most=3600.0,
            help="Work of this length after a wait shows that the wait was normal.",
        ),
        Dial(
            key="pause_s", default=3.0, least=0.0, most=3600.0,
            help="A shorter pause belongs to a normal step and does not count.",
        ),
        Dial(
            key="heartbeat_within_s", default=60.0, least=1.0, most=3600.0,
            help="Time within which work of heartbeat_s ends idle time.",
        ),
        Dial(
            key="short_gap_s", default=60.0, least=0.0, most=86400.0,
            help="A process that is idle before and after a gap in sampling up to this length was idle in it.",
        ),
        Dial(
            key="own_percent", default=50.0, least=0.0, most=100.0,
            help="GPU utilization from which the power of the GPU belongs to the process.",
        ),
        Dial(
            key="shared_percent", default=40.0, least=0.0, most=100.0,
            help="The same for waiting, if two processes share the GPU.",
        ),
        Dial(
            key="active_percent", default=5.0, least=0.0, most=100.0,
            help="GPU utilization from which a process is a neighbour of others.",
        ),
        Dial(
            key="neighbour_s", default=30.0, least=1.0, most=3600.0,
            help="Time for which a GPU counts as shared after a neighbour computed.",
        ),
        Dial(
            key="hidden_s", default=45.0, least=1.0, most=3600.0,
            help="Longest time for which a neighbour that works can hide a wait.",
        ),
        Dial(
            key="fed_percent", default=15.0, least=0.0, most=100.0,
            help="CPU use of each data loader from which the loaders work.",
        ),
        Dial(
            key="left_out_s", default=10.0, least=1.0, most=3600.0,
            help="Idle time after which the averages leave a process out.",
        ),
        Dial(
            key="lost_s", default=10.0, least=1.0, most=3600.0,
            help="Time without answers from a GPU after which its ranks are lost.",
        ),
        Dial(
            key="stale_s", default=5.0, least=1.0, most=3600.0,
            help="Older readings of a GPU are not judged.",
        ),
        Dial(
            key="settled_s", default=20.0, least=1.0, most=3600.0,
            help="Time that power takes to settle.",
        ),
        Dial(key="smooth_s", default=5.0, least=0.1, most=3600.0, help="Time over which power is smoothed."),
        Dial(
            key="steady_s", default=30.0, least=1.0, most=3600.0,
            help="Time over which the variation of power is measured.",
        ),
        Dial(
            key="work_smooth_s", default=30.0, least=1.0, most=3600.0,
            help="Time over which the power of work is smoothed.",
        ),
        Dial(
            key="context_of_default_percent", default=20.0, least=0.0, most=90.0,
            help="Share of the default power limit that an idle context may take if the limit was lowered.",
        ),
        Dial(
            key="context_seen_percent", default=60.0, least=0.0, most=90.0,
            help="Share of the power limit up to which gputop accepts the power of an idle context as measured.",
        ),
    ),
)  # fmt: skip


class ActivityLimits(Struct, frozen=True):
    """The dials in the units of the code: shares of a range are 0 to 1."""

    full: float
    idle: float
    low: float
    low_of_work: float
    low_most: float
    working: float
    static: float
    own_memory: float
    own_still: float
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
    interruption: float
    resumed_s: float
    pause_s: float
    heartbeat_within_s: float
    short_gap_s: float
    own: float
    shared: float
    active: float
    neighbour_s: float
    hidden_s: float
    fed: float
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
    return ActivityLimits(
        full=dials["full_percent"],
        idle=dials["idle_percent"],
        low=dials["low_percent"] / 100,
        low_of_work=dials["low_of_work_percent"] / 100,
        low_most=dials["low_most_percent"] / 100,
        working=dials["working_percent"] / 100,
        static=dials["steady_percent"] / 100,
        own_memory=dials["own_memory_percent"],
        own_still=dials["own_still_percent"],
        quiet=(memory, pcie, dials["quiet_nvlink_bytes_per_s"], dials["quiet_tensor_percent"], memory),
        context=dials["context_percent"] / 100,
        interrupted_s=dials["interrupted_s"],
        rank_waits_s=dials["rank_waits_s"],
        rank_rests_s=dials["rank_rests_s"],
        heartbeat_s=dials["heartbeat_s"],
        progress_s=dials["progress_s"],
        means_s=dials["means_s"],
        progress_times=dials["progress_times"],
        interruption_times=dials["interruption_times"],
        interruption=dials["interruption_percent"],
        resumed_s=dials["resumed_s"],
        pause_s=dials["pause_s"],
        heartbeat_within_s=dials["heartbeat_within_s"],
        short_gap_s=dials["short_gap_s"],
        own=dials["own_percent"],
        shared=dials["shared_percent"],
        active=dials["active_percent"],
        neighbour_s=dials["neighbour_s"],
        hidden_s=dials["hidden_s"],
        fed=dials["fed_percent"],
        left_out_s=dials["left_out_s"],
        lost_s=dials["lost_s"],
        stale_s=dials["stale_s"],
        settled_s=dials["settled_s"],
        smooth_s=dials["smooth_s"],
        steady_s=dials["steady_s"],
        work_smooth_s=dials["work_smooth_s"],
        context_of_default=dials["context_of_default_percent"] / 100,
        context_seen=dials["context_seen_percent"] / 100,
    )


USUAL: Final = limits_of(KIND.settled({}))
