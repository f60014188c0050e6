"""A frame for the wall: what people look at from a distance, without command lines unless they are wanted."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from msgspec import Struct

from gputop.core.model.catalogue import (
    GPU_UTILIZATION,
    MEMORY_TOTAL,
    MEMORY_USED,
    POWER_AVERAGE,
    POWER_LIMIT,
    TEMPERATURE,
)
from gputop.core.model.finding import Finding, Stage
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, Gpu, GpuState, HostProcess
from gputop.core.model.tone_rules import memory_tone, temperature_tone
from gputop.core.model.units import share
from gputop.core.query.free import summary, vacancies
from gputop.core.text.text import clean, excerpt

_UNKNOWN: Final = "(unknown)"  # no user has parentheses in its name
_LONGEST_COMMAND: Final = 100
_MOST_COMMANDS: Final = 8  # of a user
_STATES: Final = {GpuState.LOST: "lost", GpuState.HUNG: "does not answer"}
_SHOWN: Final = (GPU_UTILIZATION, MEMORY_USED, MEMORY_TOTAL, TEMPERATURE, POWER_AVERAGE, POWER_LIMIT)


class WallFinding(Struct, frozen=True, kw_only=True):
    """A finding. ``code`` names its section of docs/findings.md; ``since_s``: seconds since the epoch."""

    stage: Stage
    subject: str
    summary: str
    remedy: str
    code: str
    since_s: float


class WallGpu(Struct, frozen=True, kw_only=True):
    """A GPU. A value that could not be read is None, and its reason is in ``missing``. Units as in `Gpu`.

    ``state``: empty if the GPU answers. ``tones``: of the memory and the temperature.
    """

    index: int
    name: str
    state: str
    utilization_percent: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    memory_percent: float | None
    temperature_c: float | None
    power_w: float | None
    power_limit_w: float | None
    is_free: bool
    users: tuple[str, ...]
    tones: tuple[str, str]
    missing: dict[str, str]


class WallUser(Struct, frozen=True, kw_only=True):
    """A user. ``memory_bytes``: None if it is not known of each process. ``commands``: None unless they are wanted."""

    name: str
    gpus: tuple[int, ...]
    processes: int
    memory_bytes: int | None
    commands: tuple[str, ...] | None


class Wall(Struct, frozen=True, kw_only=True):
    """A frame. ``judged_in_s``: seconds until all detectors can judge; None if they can."""

    time_s: float
    interval_s: float
    host: str
    simulated: str | None
    free: str
    judged_in_s: float | None
    findings: tuple[WallFinding, ...]
    gpus: tuple[WallGpu, ...]
    users: tuple[WallUser, ...]
    problems: tuple[str, ...]


def wall(frame: Frame, *, has_commands: bool) -> Wall:
    """Return what the wall shows of a frame. ``has_commands``: with the command lines of processes."""
    found = vacancies(frame, frame)
    held = _held(frame)
    by_id = {process.id: process for process in (*frame.processes, *frame.relatives)}
    return Wall(
        time_s=frame.time_s,
        interval_s=frame.interval_s,
        host=clean(frame.host.name),
        simulated=frame.driver.simulated,
        free=summary(found),
        judged_in_s=frame.judged_in_s,
        findings=tuple(
            _finding(one, frame, by_id, has_commands=has_commands)
            for one in sorted(frame.findings, key=lambda one: (-one.stage.rank, one.since_s))
        ),
        gpus=tuple(
            _gpu(gpu, is_free=found.is_free(gpu), users=tuple(sorted(held.get(gpu.uuid, ())))) for gpu in frame.gpus
        ),
        users=tuple(_users(frame, has_commands=has_commands)),
        problems=tuple(clean(problem) for problem in frame.problems),
    )


def _held(frame: Frame) -> dict[str, set[str]]:
    """Return the users of each GPU."""
    held: dict[str, set[str]] = {}
    for process in frame.processes:
        for use in process.gpus:
            held.setdefault(use.gpu, set()).add(_user(process))
    return held


def _user(process: HostProcess) -> str:
    return clean(process.user) if process.user else _UNKNOWN


def _finding(
    finding: Finding, frame: Frame, by_id: Mapping[ProcessId, HostProcess], *, has_commands: bool
) -> WallFinding:
    subject = finding.subject
    label = clean(subject.label)
    if subject.process and not subject.job and not has_commands:
        label = _process(subject.process, subject.gpu, frame, by_id)
    return WallFinding(
        stage=finding.stage,
        subject=label,
        summary=clean(finding.summary),
        remedy=clean(finding.remedy),
        code=finding.code,
        since_s=finding.since_s,
    )


def _process(who: ProcessId, gpu: str | None, frame: Frame, by_id: Mapping[ProcessId, HostProcess]) -> str:
    """Return a process without its command line. ``gpu``: the UUID of the GPU that the finding is about."""
    process = by_id.get(who)
    where = "".join(f" on GPU {each.index}" for each in frame.gpus if each.uuid == gpu)
    return f"pid {who.pid}{where}" + (f" of {_user(process)}" if process else "")


def _gpu(gpu: Gpu, *, is_free: bool, users: tuple[str, ...]) -> WallGpu:
    return WallGpu(
        index=gpu.index,
        name=clean(gpu.name),
        state=_STATES.get(gpu.state, ""),
        utilization_percent=gpu[GPU_UTILIZATION],
        memory_used_bytes=gpu[MEMORY_USED],
        memory_total_bytes=gpu[MEMORY_TOTAL],
        memory_percent=share(gpu[MEMORY_USED], gpu[MEMORY_TOTAL]),
        temperature_c=gpu[TEMPERATURE],
        power_w=gpu[POWER_AVERAGE],
        power_limit_w=gpu[POWER_LIMIT],
        is_free=is_free,
        users=users,
        tones=(memory_tone(gpu).value, temperature_tone(gpu).value),
        missing={metric.key: gpu.missing[metric.key].text for metric in _SHOWN if metric.key in gpu.missing},
    )


def _users(frame: Frame, *, has_commands: bool) -> Iterator[WallUser]:
    """Yield the users with processes on GPUs, the one on most GPUs first."""
    of: dict[str, list[HostProcess]] = {}
    for process in frame.processes:
        of.setdefault(_user(process), []).append(process)
    found = [_user_of(name, processes, has_commands=has_commands) for name, processes in of.items()]
    yield from sorted(found, key=lambda user: (-len(user.gpus), -(user.memory_bytes or 0), user.name))


def _user_of(name: str, processes: list[HostProcess], *, has_commands: bool) -> WallUser:
    uses = [use for process in processes for use in process.gpus]
    memory = [use.memory_bytes for use in uses]
    commands = (clean(excerpt(process.command, _LONGEST_COMMAND)) for process in processes if process.command)
    return WallUser(
        name=name,
        gpus=tuple(sorted({use.gpu_index for use in uses})),
        processes=len(processes),
        memory_bytes=None if None in memory else sum(value or 0 for value in memory),
        commands=tuple(islice(dict.fromkeys(commands), _MOST_COMMANDS)) if has_commands else None,
    )
