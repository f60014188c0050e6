"""The use of GPUs by a process, in words."""

from collections.abc import Sequence
from typing import Final

from gputop.core.model.catalogue import MEMORY_TOTAL
from gputop.core.model.metric import Missing
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Gpu, GpuProcess, GpuState, Presence, Readings, Sample
from gputop.core.model.units import bytes_text, duration_text, percent_text

_ON_NONE: Final = "the driver lists it on no GPU"
_NAMES: Final = {
    "memory_bytes": "memory", "sm_percent": "SM", "memory_utilization_percent": "MBW", "encoder_percent": "encoder",
    "decoder_percent": "decoder",
}  # fmt: skip


def use_label(use: GpuProcess) -> str:
    """Return ``GPU 0``, or ``GPU 0:3`` on a GPU instance."""
    return f"GPU {use.gpu_index}" if use.gpu_instance is None else f"GPU {use.gpu_index}:{use.gpu_instance}"


def use_text(use: GpuProcess, total: int | None) -> str:
    """Return type, memory (of ``total``, if known), utilizations, and the reasons for missing values."""
    parts = [use.type, f"memory {bytes_text(use.memory_bytes)}{f' of {bytes_text(total)}' if total else ''}"]
    parts += [f"SM {percent_text(use.sm_percent)}", f"MBW {percent_text(use.memory_utilization_percent)}"]
    video = (("encoder", use.encoder_percent), ("decoder", use.decoder_percent))
    parts += [f"{name} {percent_text(value)}" for name, value in video if value]
    if use.window_s:
        parts.append(f"means over {duration_text(use.window_s)}")
    return " · ".join([*parts, *_reasons(use)])


def memory_total(use: GpuProcess, gpus: Sequence[Gpu]) -> int | None:
    """Return the memory of the GPU or GPU instance on which a process runs."""
    for gpu in gpus:
        if gpu.uuid == use.gpu:
            parts: list[Readings] = [part for part in gpu.instances if part.id == use.gpu_instance]
            return (parts or [gpu])[0][MEMORY_TOTAL]
    return None


def uses_of(sample: Sample, identity: ProcessId) -> tuple[tuple[GpuProcess, ...], tuple[str, ...]]:
    """Return the uses of a process, and notes: it is on no GPU, or a GPU does not report its processes."""
    of_pid = [process for process in sample.processes if process.pid == identity.pid]
    notes = [process.presence.text for process in of_pid if process.presence is not Presence.ALIVE]
    silent = why_incomplete(sample)
    uses = tuple(use for process in of_pid if process.id == identity for use in process.gpus)
    is_known = len(silent) < max(1, len(sample.gpus))  # some GPU reports its processes
    return uses, (*notes, *([_ON_NONE] if is_known and not uses else []), *silent)


def why_incomplete(sample: Sample) -> tuple[str, ...]:
    """Return why a process on a GPU may not be among the processes of a sample; empty if all are."""
    if not sample.gpus and sample.driver.missing.get("version") is Missing.HUNG:
        return (Missing.HUNG.text,)
    stale = sample.problems if "processes" in sample.host.missing else ()
    silent = [(gpu.index, why) for gpu in sample.gpus if (why := _silence(gpu))]
    return (*stale, *(f"GPU {index} does not report its processes: {why.text}" for index, why in silent))


def _silence(gpu: Gpu) -> Missing | None:
    """Return why a GPU does not report its processes; None if it does."""
    return gpu.missing.get("processes") if gpu.state is GpuState.OK else Missing(gpu.state.value)


def _reasons(use: GpuProcess) -> list[str]:
    by_reason: dict[Missing, list[str]] = {}
    for key, name in _NAMES.items():
        if key in use.missing:
            by_reason.setdefault(use.missing[key], []).append(name)
    return [f"no {', '.join(names)}: {reason.text}" for reason, names in by_reason.items()]
