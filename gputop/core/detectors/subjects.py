"""The subjects of findings and their labels."""

from gputop.core.detection.detector import Claim
from gputop.core.model.finding import Evidence, Stage, Subject
from gputop.core.model.sample import Gpu, GpuProcess, HostProcess, Job

_LONGEST = 60


def gpu_subject(gpu: Gpu) -> Subject:
    """Return a GPU as the subject of a finding."""
    return Subject(label=f"GPU {gpu.index}", gpu=gpu.uuid)


def gpu_claim(  # noqa: PLR0917 - the parts of a sentence
    gpu: Gpu, code: str, stage: Stage, summary: str, evidence: Evidence, remedy: str, hold_s: float = 10.0
) -> Claim:
    """Build the claim that one reading makes about a GPU. ``remedy``: with ``{n}`` for the index of the GPU."""
    return Claim(
        code=code,
        stage=stage,
        subject=gpu_subject(gpu),
        summary=summary,
        evidence=(evidence,),
        remedy=remedy.format(n=gpu.index),
        hold_s=hold_s,
    )


def process_subject(process: HostProcess, use: GpuProcess | None = None) -> Subject:
    """Return a process as the subject, on one of its GPUs if ``use`` is given."""
    where = f" on GPU {use.gpu_index}" if use else ""
    return Subject(
        label=f"pid {process.pid}{where}"
        + (f": {_cut(process.command)}" if process.command else f" ({process.presence.text})"),
        process=process.id,
        gpu=use.gpu if use else None,
        gpu_instance=use.gpu_instance if use else None,
    )


def job_subject(job: Job) -> Subject:
    """Return a job as the subject; its launcher, if it has one, is the process to act on."""
    return Subject(label=f"job {_cut(job.label)}", job=job.key, process=job.launcher)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
