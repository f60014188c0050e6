"""The detector of what limits a job: input, kernel launches, memory, communication or compute.

Utilization alone shows only that a kernel ran: a GPU at 100 % utilization can do almost nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from gputop.core.detection.detector import FORGET_S, Claim, Context, Dial, Kind
from gputop.core.detectors.activity.activity import Activity
from gputop.core.detectors.activity.group import Group, groups
from gputop.core.detectors.activity.process import Key, Track
from gputop.core.detectors.bound.verdict import Bound, Means, is_guess, means_of, verdict
from gputop.core.detectors.bound.wording import claim_of
from gputop.core.detectors.subjects import job_subject

KIND: Final = Kind(
    name="bound",
    question="What limits the speed of a job: input, kernel launches, memory, communication or compute?",
    codes={
        "bound.input": "The GPU waits for data. The data loaders or the storage are too slow.",
        "bound.launch": "The GPU waits for the next kernel. One thread launches many small kernels.",
        "bound.memory": "Memory bandwidth limits the job. This is usual when a language model generates text.",
        "bound.communication": "The GPUs spend their time on communication with each other.",
        "bound.compute": "The GPU computes at full speed.",
        "busy.fake": "The GPU looks busy, but its power is low: the kernels do almost nothing.",
    },
    remedies={
        "bound.input": "Use more workers, cheaper decoding or prepared data. To see what is slow: `py-spy top "
        "--subprocesses --pid PID`.",
        "bound.launch": "Use CUDA graphs, `torch.compile(mode='reduce-overhead')` or a bigger batch. To see the "
        "thread: `py-spy top --pid PID`.",
        "bound.memory": "Use a bigger batch or quantized weights. `i` shows DRAM and tensor activity.",
        "bound.communication": "Overlap it with compute, or use larger buckets. To see the links: `nvidia-smi topo "
        "-m`.",
        "bound.compute": "Do nothing. `i` shows the use of the tensor cores.",
        "busy.fake": "See what it launches: `py-spy dump --pid PID`.",
    },
    dials=(
        Dial("after_s", 60.0, 30.0, 3600.0, "gputop measures a job for this time before it judges it."),
        Dial("memory_percent", 60.0, 1.0, 100.0, "Memory limits a job if the memory activity is at least this."),
        Dial(
            "power_percent", 55.0, 1.0, 100.0,
            "Compute limits a job if the power is at least this share of the power range.",
        ),
        Dial("tensor_percent", 30.0, 1.0, 100.0, "Compute limits a job if the tensor activity is at least this."),
        Dial(
            "worker_percent", 70.0, 1.0, 100.0,
            "Data loaders are too slow if each uses at least this much CPU on average.",
        ),
        Dial(
            "weak_worker_percent", 60.0, 1.0, 100.0,
            "The same as worker_percent, for a GPU whose idle time has no other explanation.",
        ),
        Dial(
            "blocked_percent", 30.0, 1.0, 100.0,
            "Storage is too slow if a data loader waits for it for at least this share of the time.",
        ),
        Dial(
            "main_percent", 80.0, 1.0, 100.0,
            "The main thread waits for its data loaders if it uses less CPU than this.",
        ),
        Dial(
            "waits_percent", 95.0, 1.0, 100.0,
            "The same as main_percent, for a GPU whose idle time has no other explanation.",
        ),
        Dial("thread_percent", 90.0, 1.0, 100.0, "A thread is fully busy if it uses at least this much CPU."),
        Dial("gaps_percent", 75.0, 1.0, 100.0, "A GPU has idle gaps if its utilization is below this."),
        Dial(
            "half_percent", 45.0, 1.0, 100.0,
            "gputop has to guess what a fully busy thread does. If the GPU utilization is at least this, the "
            "thread launches kernels. Below, the thread prepares data.",
        ),
        Dial(
            "guess_s", 300.0, 0.0, 86400.0,
            "gputop reports that one thread prepares data only if it looks so for this time.",
        ),
        Dial(
            "fed_bytes_per_s", 3e6, 0.0, 1e12,
            "A thread prepares data only if the PCIe traffic of the GPU is at least this.",
        ),
        Dial(
            "talking_percent", 90.0, 1.0, 100.0,
            "Communication can limit a job only if the GPU utilization of its ranks is at least this.",
        ),
        Dial(
            "nvlink_bytes_per_s", 20e9, 1e6, 1e13,
            "Communication limits a job if the NVLink traffic of its ranks is at least this.",
        ),
        Dial(
            "pcie_bytes_per_s", 2e9, 1e6, 1e12,
            "Communication limits a job if the PCIe traffic of its ranks is at least this.",
        ),
        Dial(
            "launch_least_percent", 30.0, 1.0, 100.0,
            "Kernel launches can limit a job only if the GPU utilization is at least this.",
        ),
        Dial(
            "cpu_percent", 250.0, 1.0, 100_000.0,
            "If a process uses at least this much CPU, it computes or compiles on the CPU. gputop then does "
            "not report kernel launches, or one thread that prepares data, as its limit.",
        ),
        Dial(
            "launch_power_percent", 42.0, 1.0, 100.0,
            "Kernels are small only if the power is at most this share of the power range.",
        ),
        Dial(
            "launch_most_percent", 10.0, 0.0, 100.0,
            "If the power is above heavy_percent (see [detectors.activity]) for more than this share of the time, the "
            "kernels are not small.",
        ),
        Dial(
            "launch_memory_percent", 20.0, 0.0, 100.0,
            "Kernels are small only if the memory activity is at most this.",
        ),
        Dial(
            "fake_percent", 95.0, 1.0, 100.0,
            "gputop reports `busy.fake` only if the GPU utilization is at least this.",
        ),
        Dial(
            "fake_power_percent", 15.0, 0.0, 100.0,
            "gputop reports `busy.fake` only if the power is at most this share of the power range.",
        ),
        Dial(
            "fake_memory_percent", 3.0, 0.0, 100.0,
            "gputop reports `busy.fake` only if the memory activity is at most this.",
        ),
        Dial("changes_s", 30.0, 0.0, 3600.0, "A new diagnosis replaces the old one after this time."),
        Dial(
            "idle_s", 60.0, 1.0, 3600.0,
            "A diagnosis ends after the process was idle or waited in a kernel for this time.",
        ),
        Dial("starved_s", 170.0, 1.0, 180.0, "The same as idle_s, while the data loaders work."),
    ),
)  # fmt: skip

_EVERY_S: Final = 5.0  # a shorter interval costs time and changes little


class _Judged(Struct):
    """The verdict of a track and the one that may follow it. Times are those of `Context.now_s`."""

    bound: Bound | None = None
    means: Means | None = None
    next: Bound | None = None
    next_since_s: float = 0.0
    due_s: float = 0.0
    seen_s: float = 0.0
    since_s: float = 0.0


class BoundDetector:
    """Gives one verdict per job, and per GPU for single processes. A verdict changes when another one lasts."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._held: dict[Key, _Judged] = {}
        self._sweep_s = 0.0

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per verdict."""
        activity = Activity.of(context)
        found = [
            track
            for track in activity.tracks
            if track.window is not None and not track.board.is_shared and self._is_judged(track, context)
        ]
        for group in groups(activity, found, self._has_verdict) if found else ():
            claim = self._claim(group, activity, context)
            if claim:
                yield claim
        if context.now_s >= self._sweep_s:
            self._sweep_s = context.now_s + FORGET_S
            old = [key for key, held in self._held.items() if context.now_s - held.seen_s > FORGET_S]
            for key in old:
                del self._held[key]

    def _has_verdict(self, track: Track) -> bool:
        held = self._held.get(track.key)
        return held is not None and held.bound is not None

    def _is_judged(self, track: Track, context: Context) -> bool:
        """Return whether a track has a verdict; renew the verdict if it is due."""
        held = self._held.get(track.key)
        if held is None:
            held = self._held[track.key] = _Judged()
        held.seen_s = context.now_s
        if context.now_s >= held.due_s:
            held.due_s = context.now_s + _EVERY_S
            self._judge(track, held, context)
        return held.bound is not None

    def _judge(self, track: Track, held: _Judged, context: Context) -> None:
        window = track.window
        if window is None or window.passed_s < self._dials["after_s"] or track.gu is None:
            return
        means = means_of(track, window, is_multi=bool(track.ranks) or (track.role.world or 1) > 1)
        is_asleep = track.idle_s >= self._dials["starved_s" if track.is_fed else "idle_s"]
        is_asleep = is_asleep or (track.wait_s >= self._dials["idle_s"] and track.awaits_others)
        rests = track.idle_s >= track.board.limits.left_out_s and not track.is_fed  # the means are those of before
        bound = None if is_asleep else held.bound if rests else verdict(means, self._dials)
        held.means = means
        if bound is held.bound:
            held.next = bound
        elif bound is not held.next:
            held.next, held.next_since_s = bound, context.now_s
        elif context.now_s - held.next_since_s >= self._lasting_s(bound, means, held):
            held.bound, held.since_s = bound, context.now_s

    def _lasting_s(self, bound: Bound | None, means: Means, held: _Judged) -> float:
        """Return for how long a new verdict has to last."""
        usual_s = 0.0 if held.bound is None else self._dials["changes_s"]
        return max(usual_s, self._dials["guess_s"] if is_guess(bound, means, self._dials) else 0.0)

    def _claim(self, group: Group, activity: Activity, context: Context) -> Claim | None:
        """Return the claim about a process or a job; a limit of a few ranks is none of the job."""
        ranks = activity.ranks_of(group.first)
        held = [(track, self._held[track.key]) for track in group.tracks if self._has_verdict(track)]
        counts = Counter(one.bound for _, one in held)
        bound = counts.most_common(1)[0][0]
        alike = [(track, one.means) for track, one in held if one.bound is bound and one.means is not None]
        if ranks and 2 * len(alike) < len(ranks.tracks):
            return None
        since_s = min(one.since_s for _, one in held if one.bound is bound)
        subject = job_subject(ranks.job) if ranks else group.subject
        return claim_of(bound or Bound.COMPUTE, subject, alike, of=len(held), since_s=since_s, context=context)
