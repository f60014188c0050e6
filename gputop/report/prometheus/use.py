"""gputop's own series of users, jobs, processes and findings. None has a command line as a label."""

# Python evaluates no annotations here: those of the rows take longer than the rows.
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gputop.core.model.finding import Finding
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, GpuProcess, HostProcess
from gputop.core.usage.accounts import Account
from gputop.core.usage.ledger import Totals, Usage, Use
from gputop.report.prometheus.labels import Labels, Number, rendered
from gputop.report.prometheus.series import Entity, Group, Scene, Series

JOB_LABELS: Final = ("job_kind", "job_id", "user")
DEVICE_LABELS: Final = ("gpu", "uuid", "gpu_instance_id")


class OwnUser(Entity):
    """A user."""

    use: Use


class OwnJob(Entity):
    """A job of a user."""

    use: Use


class JobDevice(Entity):
    """A job on a GPU or GPU instance."""

    memory_bytes: int | None
    sm_percent: float | None


class OwnProcess(Entity):
    """A process."""

    process: HostProcess


class ProcessDevice(Entity):
    """A process on a GPU or GPU instance."""

    use: GpuProcess


class FindingCount(Entity):
    """The findings with the same labels."""

    count: int


def entities_of(frame: Frame, usage: Usage) -> Scene:
    """Return the users, jobs, processes and findings of a frame."""
    indices = {gpu.uuid: str(gpu.index) for gpu in frame.gpus}
    shown = [process for process in frame.processes if process.id in usage.processes]
    jobs = [OwnJob(rendered(_labels(use.account)), use) for use in usage.jobs]
    return {
        OwnUser: [OwnUser(rendered(_labels(use.account)), use) for use in usage.users],
        OwnJob: jobs,
        JobDevice: [each for job in jobs for each in _job_devices(job, indices)],
        OwnProcess: [OwnProcess(rendered(_process_labels(process, usage)), process) for process in shown],
        ProcessDevice: [each for process in shown for each in _process_devices(process, usage)],
        FindingCount: list(_findings(frame, usage, indices)),
    }


# --- labels ------------------------------------------------------------------------------------------------------
def _labels(account: Account) -> Labels:
    return (("job_kind", account.kind), ("job_id", account.id), ("user", account.user))


def _device(index: str, uuid: str, instance: int | None) -> Labels:
    return (("gpu", index), ("uuid", uuid), ("gpu_instance_id", "" if instance is None else str(instance)))


def _process_labels(process: HostProcess, usage: Usage) -> Labels:
    account = usage.accounts.get(process.id)
    return (("pid", str(process.pid)), *(_labels(account) if account else ()))


def _job_devices(job: OwnJob, indices: Mapping[str, str]) -> Iterator[JobDevice]:
    for (uuid, instance), memory_bytes in job.use.memory.items():
        labels = f"{rendered(_device(indices.get(uuid, ''), uuid, instance))},{job.labels}"
        yield JobDevice(labels, memory_bytes, job.use.sm_percent[uuid, instance])


def _process_devices(process: HostProcess, usage: Usage) -> Iterator[ProcessDevice]:
    seen = set()
    for use in process.gpus:
        if (use.gpu, use.gpu_instance, use.compute_instance) in seen:
            continue
        seen.add((use.gpu, use.gpu_instance, use.compute_instance))
        compute = "" if use.compute_instance is None else str(use.compute_instance)
        where = (*_device(str(use.gpu_index), use.gpu, use.gpu_instance), ("compute_instance_id", compute))
        yield ProcessDevice(rendered((*where, *_process_labels(process, usage))), use)


def _findings(frame: Frame, usage: Usage, indices: Mapping[str, str]) -> Iterator[FindingCount]:
    first = {job.key: next((one for one in job.members if one in usage.accounts), _NOBODY) for job in frame.jobs}
    counts = Counter(_finding_labels(finding, usage, indices, first) for finding in frame.findings)
    for labels, count in counts.items():
        yield FindingCount(rendered(labels), count)


_NOBODY: Final = ProcessId(0, None)


def _finding_labels(
    finding: Finding, usage: Usage, indices: Mapping[str, str], first: Mapping[str, ProcessId]
) -> Labels:  # fmt: skip
    subject = finding.subject
    process = subject.process or first.get(subject.job or "", _NOBODY)
    account = usage.accounts.get(process)
    uuid = subject.gpu or ""
    where = _device(indices.get(uuid, ""), uuid, subject.gpu_instance)
    return (("code", finding.code), ("stage", finding.stage.value), *where, *(_labels(account) if account else ()))


# --- rows --------------------------------------------------------------------------------------------------------
def _of_totals(name: str) -> Callable[[Any], Number | None]:
    def value(entity: OwnUser | OwnJob) -> Number | None:
        totals: Totals | None = entity.use.totals
        total = None if totals is None else getattr(totals, name)
        return None if total is None else round(total * 1000) / 1000  # five times as quick as round(total, 3)

    return value


def _memory(entity: OwnUser) -> Number | None:
    known = [size for size in entity.use.memory.values() if size is not None]
    return sum(known) if known else None


def _sm(entity: OwnUser) -> Number | None:
    known = [percent for percent in entity.use.sm_percent.values() if percent is not None]
    return round(sum(known) / 100, 6) if known else None


def _ratio(percent: float | None) -> Number | None:
    return None if percent is None else round(percent / 100, 6)


def _row(
    of: type[Any], name: str, unit: str, about: str, value: Callable[[Any], Any], *labels: str
) -> Series[Any]:  # fmt: skip
    kind: Any = "counter" if name.endswith("_total") else "gauge"
    group = Group.PROCESSES if name.startswith("gputop_process_") else Group.GPUTOP
    return Series(name=name, type=kind, unit=unit, help=about, labels=labels, of=of, value=value, group=group)


_HELD: Final = "Time for which the {} held GPUs: 1 per second for each GPU or GPU instance."
_BUSY: Final = "Time in which kernels of the {} ran, summed over GPUs."
_IDLE: Final = "Time for which the {} held GPUs and ran nothing on them."
_ENERGY: Final = "Estimated energy of the {}: its share of the energy above idle."
_JOB_DEVICE: Final = (*DEVICE_LABELS, *JOB_LABELS)
_PROCESS: Final = ("pid", *JOB_LABELS)
_PROCESS_DEVICE: Final = (*DEVICE_LABELS, "compute_instance_id", *_PROCESS)


def _totals(of: type[Entity], what: str, labels: tuple[str, ...]) -> tuple[Series[Any], ...]:
    rows = (
        ("gpu_seconds", "s", _HELD, "gpu_seconds"), ("busy_gpu_seconds", "s", _BUSY, "busy_seconds"),
        ("idle_gpu_seconds", "s", _IDLE, "idle_seconds"), ("energy_joules", "J", _ENERGY, "energy_j"),
    )  # fmt: skip
    return tuple(
        _row(of, f"gputop_{what}_{name}_total", unit, about.format(what), _of_totals(field), *labels)
        for name, unit, about, field in rows
    )


USE: Final[tuple[Series[Any], ...]] = (
    _row(OwnUser, "gputop_user_processes", "", "Processes of the user on GPUs.", lambda e: e.use.processes, "user"),
    _row(OwnUser, "gputop_user_gpus", "", "GPUs and MIG instances of the user.", lambda e: len(e.use.memory), "user"),
    _row(OwnUser, "gputop_user_gpu_memory_used_bytes", "B", "GPU memory of the user.", _memory, "user"),
    _row(
        OwnUser, "gputop_user_sm_utilization_ratio", "ratio", "SM utilization, summed over GPUs: 8 busy GPUs are 8.",
        _sm, "user",
    ),
    *_totals(OwnUser, "user", ("user",)),
    _row(OwnJob, "gputop_job_processes", "", "Processes of the job on GPUs.", lambda e: e.use.processes, *JOB_LABELS),
    _row(OwnJob, "gputop_job_gpus", "", "GPUs and MIG instances of the job.", lambda e: len(e.use.memory), *JOB_LABELS),
    _row(
        JobDevice, "gputop_job_gpu_memory_used_bytes", "B", "GPU memory of the job on this GPU.",
        lambda e: e.memory_bytes, *_JOB_DEVICE,
    ),
    _row(
        JobDevice, "gputop_job_sm_utilization_ratio", "ratio", "SM utilization of the job on this GPU.",
        lambda e: _ratio(e.sm_percent), *_JOB_DEVICE,
    ),
    *_totals(OwnJob, "job", JOB_LABELS),
    _row(
        FindingCount, "gputop_finding", "", "Present findings: observation, suspect or alarm (docs/findings.md).",
        lambda e: e.count, "code", "stage", *_JOB_DEVICE,
    ),
    _row(
        ProcessDevice, "gputop_process_gpu_memory_used_bytes", "B", "GPU memory of the process.",
        lambda e: e.use.memory_bytes, *_PROCESS_DEVICE,
    ),
    _row(
        ProcessDevice, "gputop_process_sm_utilization_ratio", "ratio", "SM utilization of the process.",
        lambda e: _ratio(e.use.sm_percent), *_PROCESS_DEVICE,
    ),
    _row(
        ProcessDevice, "gputop_process_busy_gpu_seconds_total", "s", "Time in which its kernels ran.",
        lambda e: e.use.gpu_seconds, *_PROCESS_DEVICE,
    ),
    _row(
        ProcessDevice, "gputop_process_energy_joules_total", "J", "Its estimated energy.",
        lambda e: e.use.energy_j, *_PROCESS_DEVICE,
    ),
    _row(
        OwnProcess, "gputop_process_cpu_ratio", "ratio", "CPU use: one busy core is 1.",
        lambda e: _ratio(e.process.cpu_percent), *_PROCESS,
    ),
    _row(
        OwnProcess, "gputop_process_resident_memory_bytes", "B", "Memory of the host in use by the process.",
        lambda e: e.process.memory_bytes, *_PROCESS,
    ),
    _row(
        OwnProcess, "gputop_process_start_time_seconds", "s", "When the process started, since the epoch.",
        lambda e: e.process.started_s, *_PROCESS,
    ),
)  # fmt: skip
