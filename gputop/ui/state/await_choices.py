"""The conditions that the user may wait for, of the selected row, of the GPU in focus, and of all GPUs."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, Gpu, HostProcess, Job
from gputop.core.notification.notification import Condition, Event
from gputop.core.processes.program import program_of
from gputop.ui.state.rows import Grouping, TableLine
from gputop.ui.state.selection import Tags, find, pointed_at


class Table(Protocol):
    """The process table: its cursor and its tags."""

    tags: Tags
    grouping: Grouping

    @property
    def selected_line(self) -> TableLine | None:
        """The line under the cursor."""
        ...


def conditions(frame: Frame, table: Table, focus: int | None) -> Iterator[Condition]:
    """Yield the conditions, those about the selected row first."""
    line, tagged = table.selected_line, table.tags.ids
    if tagged:
        yield _ended([one for name in sorted(tagged, key=_pid) if (one := find(frame, name)) is not None], "tagged")
    if line is not None:
        yield from _of_line(frame, line, table.grouping)
    if line is None and focus is None:
        yield from _of_any()
        yield from (_free(gpu) for gpu in frame.gpus)
        return
    indices = {focus} if focus is not None else {row.use.gpu_index for row in line.rows} if line is not None else set()
    yield from _of_gpus(gpu for gpu in frame.gpus if gpu.index in indices)
    yield from _of_any()


def conditions_about(frame: Frame, gpus: Collection[str], process: HostProcess | None) -> Iterator[Condition]:
    """Yield the conditions about a process, and about these GPUs, by uuid."""
    if process is not None and process.start_ticks is not None:
        yield from _of_process(frame, process)
    yield from _of_gpus(gpu for gpu in frame.gpus if gpu.uuid in gpus)
    yield from _of_any()


def _of_line(frame: Frame, line: TableLine, grouping: Grouping) -> Iterator[Condition]:
    process = pointed_at(line, frame)
    if process is None or process.start_ticks is None:
        return
    if line.is_group and grouping is not Grouping.JOB:
        yield _ended([one for one in line.processes if one.start_ticks is not None], "of this group")
        return
    if line.is_group:
        yield from _of_jobs(frame, process)
    else:
        yield from _of_process(frame, process)


def _of_process(frame: Frame, process: HostProcess) -> Iterator[Condition]:
    yield _ended([process])
    yield _finding(process)
    yield from _of_jobs(frame, process)


def _of_jobs(frame: Frame, process: HostProcess) -> Iterator[Condition]:
    for job in (job for job in frame.jobs if process.id in job.members):
        yield from _of_job(job)


def _of_job(job: Job) -> Iterator[Condition]:
    plain, label = f"job of {_counted(len(job.members))}", f"{job.kind.value} {job.label}"
    yield Condition(event=Event.ENDED, plain=plain, label=label, job=job.key, processes=job.members)
    yield Condition(event=Event.FINDING, plain=plain, label=label, job=job.key, processes=job.members)


def _of_gpus(gpus: Iterable[Gpu]) -> Iterator[Condition]:
    for gpu in gpus:
        yield _free(gpu)
        yield Condition(event=Event.FINDING, plain=f"GPU {gpu.index}", gpu=gpu.uuid)


def _free(gpu: Gpu) -> Condition:
    return Condition(event=Event.FREE, plain=f"GPU {gpu.index}", gpu=gpu.uuid)


def _of_any() -> Iterator[Condition]:
    yield Condition(event=Event.FREE, plain="any GPU")
    yield Condition(event=Event.FINDING, plain="any GPU or process")


def _ended(processes: Sequence[HostProcess], which: str = "") -> Condition:
    ids = tuple(ProcessId(one.pid, one.start_ticks) for one in processes)
    if len(processes) == 1 and not which:
        return Condition(event=Event.ENDED, plain=f"process {ids[0].pid}", label=_name(processes[0]), processes=ids)
    return Condition(event=Event.ENDED, plain=f"{_counted(len(ids))} {which}".strip(), processes=ids)


def _finding(process: HostProcess) -> Condition:
    return Condition(event=Event.FINDING, plain=f"process {process.pid}", label=_name(process), processes=(process.id,))


def _name(process: HostProcess) -> str:
    return program_of(process.command).text


def _pid(process: ProcessId) -> int:
    return process.pid


def _counted(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"
