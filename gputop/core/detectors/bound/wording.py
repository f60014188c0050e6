"""What a verdict says: the numbers behind it, and the thing to try."""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec.structs import replace

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.activity.process import Track
from gputop.core.detectors.bound.verdict import Bound, Means
from gputop.core.model.finding import Evidence, Stage, Subject, confidence_of
from gputop.core.model.units import rate_text

# percent; these affect the confidence of a verdict only
_FEW_SMS: Final = 50.0
_LOW_OCCUPANCY: Final = 15.0
_STRONG_WORKER: Final = 60.0


def claim_of(
    bound: Bound, subject: Subject, alike: list[tuple[Track, Means]], *, of: int, since_s: float, context: Context
) -> Claim:
    """Return the verdict of a job or a process. ``alike``: of its GPUs those that it is of, ``of`` so many."""
    track, means = alike[0]
    mean = _mean_of([one for _, one in alike])
    share = f"{len(alike)} of {of} GPUs " if of > 1 else ""
    return Claim(
        code=bound.value,
        stage=Stage.OBSERVATION,
        subject=subject,
        summary=share + _SUMMARIES[bound](mean, _idle_text(track)),
        evidence=_evidence(mean),
        remedy=f"{_REMEDIES[bound](mean, context)} {_SEE[bound].format(pid=track.process.pid, gpu=track.board.index)}",
        confidence=min(0.6, _sure(bound, means)) if means.lacking else _sure(bound, means),
        lacking=means.lacking,
        began_s=min(since_s, context.now_s - min(one.passed_s for _, one in alike)),
        hold_s=15.0,
    )


def _mean_of(all_means: list[Means]) -> Means:
    """Return the mean over the GPUs of a job."""
    if len(all_means) == 1:
        return all_means[0]
    names = [name for name in Means.__struct_fields__ if not name.startswith("is_")]
    return replace(all_means[0], **{name: _mean([getattr(one, name) for one in all_means]) for name in names})


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _evidence(means: Means) -> tuple[Evidence, ...]:
    effort = None if means.effort is None else round(100 * means.effort, 1)
    known = (
        ("gpu_utilization_percent", means.gu, "GPU at {:.0f}%"),
        ("power_range_percent", effort, "power at {:.0f}% of the range from idle to the limit"),
        ("power_w", means.watts, "{:.0f} W"),
        ("memory_utilization_percent", means.memory, "memory controller {:.0f}% busy"),
        ("dram_active_percent", means.dram, "DRAM {:.0f}% active"),
        ("tensor_active_percent", means.tensor, "tensor cores {:.0f}% active"),
        ("sm_active_percent", means.sm, "SMs {:.0f}% active"),
        ("busiest_thread_percent", means.thread, "busiest CPU thread at {:.0f}% of a core"),
        (
            "worker_percent",
            means.worker_percent if means.workers else None,
            "data loader workers at {:.0f}% of a core each",
        ),
        ("over_s", means.passed_s, "these values are means over {:.0f} s"),
    )
    return tuple([Evidence(n, round(value, 1), text.format(value)) for n, value, text in known if value is not None])


def _sure(bound: Bound, means: Means) -> float:
    match bound:
        case Bound.INPUT:
            is_strong = means.worker_percent >= _STRONG_WORKER or means.blocked_share >= 0.5
            return confidence_of(0.7 if is_strong else 0.5, 0.4 if means.gu < 50 else 0.0)
        case Bound.LAUNCH:
            is_small = (means.sm or 100.0) < _FEW_SMS or (means.occupancy or 100.0) < _LOW_OCCUPANCY
            return confidence_of(0.6, 0.6 if is_small else 0.0)
        case Bound.MEMORY:
            return 0.9 if means.dram is not None else 0.7
        case Bound.COMPUTE:
            return confidence_of(
                0.7 if (means.effort or 0.0) >= 0.55 else 0.4, 0.6 if (means.tensor or 0) >= 30 else 0.0
            )
        case Bound.COMMUNICATION:
            return 0.75
        case Bound.FAKE:
            return confidence_of(0.7, 0.5 if means.tensor is not None and means.tensor < 1 else 0.0)


def _idle_text(track: Track) -> str:
    """Return the level that power is measured from; a guess where the GPU was never seen idle with a context."""
    return f"{'' if track.board.context_w else 'about '}{track.board.idle_w() or 0.0:.0f} W"


def _power(means: Means, idle: str) -> str:
    if means.watts is None or means.effort is None:
        return "power unknown"
    return f"{means.watts:.0f} W (idle {idle})"


def _input_text(means: Means, _: str) -> str:
    if not means.workers:
        return (
            f"input-bound: one CPU thread loads the data without workers, at {means.thread or 0:.0f}% of a core, "
            f"GPU at {means.gu:.0f}%"
        )
    waits = (
        f", which wait for storage {100 * means.blocked_share:.0f}% of the time" if means.blocked_share > 0.1 else ""
    )
    return (
        f"input-bound: {means.workers:.0f} data loader workers at {means.worker_percent:.0f}% of a core each{waits}, "
        f"GPU at {means.gu:.0f}%"
    )


def _launch_text(means: Means, idle: str) -> str:
    return (
        f"launch-bound: busy with tiny kernels, one CPU thread at {means.thread or 0:.0f}%, GPU at {means.gu:.0f}% but "
        f"{_power(means, idle)}, memory {means.memory_activity or 0:.0f}% active"
    )


def _fake_text(means: Means, idle: str) -> str:
    return (
        "looks busy, does almost nothing: "
        f"GPU at {means.gu:.0f}%, {_power(means, idle)}, memory {means.memory_activity or 0:.0f}% active"
    )


def _memory_text(means: Means, _: str) -> str:
    return f"memory-bound: memory {means.memory_activity or 0:.0f}% active, GPU at {means.gu:.0f}%"


def _compute_text(means: Means, idle: str) -> str:
    tensor = f", tensor cores {means.tensor:.0f}% active" if means.tensor is not None else ""
    return f"compute-bound (good): GPU at {means.gu:.0f}%, {_power(means, idle)}{tensor}"


def _communication_text(means: Means, idle: str) -> str:
    links = [f"{name} at {rate_text(rate)}" for name, rate in (("NVLink", means.nvlink), ("PCIe", means.pcie)) if rate]
    return f"communication-bound: {' and '.join(links)}, GPU at {means.gu:.0f}%, {_power(means, idle)}"


def _input_remedy(means: Means, context: Context) -> str:
    host = context.sample.host
    cores, load = len(host.cores_percent), host.load
    room = f" (this host has {cores} cores, load {load[0]:.0f})" if cores and load else ""
    if means.blocked_share > 0.3:
        return "It waits for storage: use a local copy, larger reads, fewer and bigger files, or prefetching."
    if not means.workers:
        return f"Load data in workers, not in the main thread: num_workers, pin_memory, prefetching{room}."
    return f"Use more workers{room}, cheaper decoding (on the GPU: DALI, nvJPEG), or prepared data."


_Text = Callable[[Means, str], str]
_SUMMARIES: Final[Mapping[Bound, _Text]] = {
    Bound.INPUT: _input_text,
    Bound.LAUNCH: _launch_text,
    Bound.MEMORY: _memory_text,
    Bound.COMMUNICATION: _communication_text,
    Bound.COMPUTE: _compute_text,
    Bound.FAKE: _fake_text,
}
_REMEDIES: Final[Mapping[Bound, Callable[[Means, Context], str]]] = {
    Bound.INPUT: _input_remedy,
    Bound.LAUNCH: lambda *_: "Use CUDA graphs, torch.compile(mode='reduce-overhead'), fused kernels or a bigger batch.",
    Bound.MEMORY: lambda *_: "Usual for decoding. Use a bigger batch, a quantized model or cache, or fused kernels.",
    Bound.COMMUNICATION: lambda *_: "Overlap it with compute, use larger buckets or gradient accumulation.",
    Bound.COMPUTE: lambda *_: "Nothing.",
    Bound.FAKE: lambda *_: "Use CUDA graphs or bigger kernels, or end the process if it only polls.",
}
_SEE: Final[Mapping[Bound, str]] = {
    Bound.INPUT: "To see where the time goes: py-spy top --subprocesses --pid {pid}",
    Bound.LAUNCH: "To see what launches them: py-spy top --pid {pid}",
    Bound.MEMORY: "To compare DRAM and tensor activity, press i (GPU details)",
    Bound.COMMUNICATION: "To see the links: nvidia-smi topo -m",
    Bound.COMPUTE: "To see the use of the tensor cores, press i (GPU details)",
    Bound.FAKE: "To see what it launches: py-spy dump --pid {pid}",
}
