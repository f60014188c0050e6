"""Process changes: the processes that the user chose, the question, the change, and its exit status."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.choice import open_backend
from gputop.app.backend.operations.choice import open_control
from gputop.app.backend.operations.operations import Control
from gputop.app.errors import NONE, OK, SOME, UNKNOWN, BadRequestError
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import Person, warn
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.processes.gpu_use import why_incomplete
from gputop.core.processes.stopping import STOPS, kept_text
from gputop.core.protocol.command import Change, SendSignal, wording
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.targets import users_text

_LED: Final = "Launcher {pid}, which started {count} of these, is not among them; to end its whole job: --pid {pid}"
_RATES_S: Final = 1.0  # between the two readings that a filter on rates needs

Act = Callable[[Change, Control, Person], Outcome]


class ProcessesRequest(Struct, frozen=True, kw_only=True):
    """The processes to change. ``pids``: only these; ``is_dry``: only list them; ``is_sure``: do not ask."""

    backend: BackendRequest
    pids: tuple[int, ...] = ()
    is_dry: bool = False
    is_sure: bool = False

    @property
    def is_filtered(self) -> bool:
        """Return whether more than pids choose the processes."""
        return bool(self.backend.where or self.backend.selection.users or self.backend.selection.gpus)


class Chosen(Struct, frozen=True):
    """The chosen processes in their current state. ``lacking``: chosen pids that are not among them.

    ``led``: launchers that are not among them, and how many of them each leads. ``doubts``: why processes may be
    missing; without doubts, the pids in ``lacking`` do not run on the selected GPUs. ``is_filtered``: more than pids
    chose them.
    """

    processes: tuple[HostProcess, ...]
    time_s: float
    lacking: tuple[int, ...] = ()
    led: tuple[tuple[int, int], ...] = ()
    doubts: tuple[str, ...] = ()
    is_filtered: bool = False


def change_processes(
    request: ProcessesRequest,
    make: Callable[[tuple[HostProcess, ...]], Change],
    act: Act | None = None,
) -> int:
    """List the chosen processes, ask, change them and report the result; return the exit status.

    ``make`` makes the change of the processes; ``act`` executes it if that takes more than one step.
    """
    person = Person(is_sure=request.is_sure)
    _check(request, person)
    control = open_control(request.backend, frozenset({os.getpid()}), notify=warn)
    notice = open_backend(request.backend).notice
    if notice:
        person.show([notice])
    chosen = _chosen(request)
    return carry_out(make(chosen.processes), chosen, control, person, act=act, is_dry=request.is_dry)


def carry_out(
    change: Change, chosen: Chosen, control: Control, person: Person, *, act: Act | None = None, is_dry: bool = False
) -> int:
    """Execute a change on the chosen processes; see `change_processes`."""
    from gputop.report.change import counted, ended, plan
    from gputop.report.grid import look

    room, style = look(sys.stdout, os.environ)
    person.show(plan(wording(change), chosen.processes, chosen.time_s, room, style))
    person.show(list(_lacking(chosen)))
    if isinstance(change, SendSignal):
        person.show(list(_consequences(change.signal, chosen)))
    if not chosen.processes:
        return UNKNOWN if chosen.doubts else NONE
    if is_dry:
        return SOME if chosen.lacking else OK
    several = users_text(chosen.processes)
    if not person.agrees(f"{wording(change)} for {counted(len(chosen.processes))}{several and f' of {several}'}?"):
        person.show(["Nothing was changed."])
        return NONE
    outcome = act(change, control, person) if act else control.execute(change)
    person.show(list(ended(outcome, style)))
    if outcome.none_worked:
        return NONE
    return OK if outcome.all_worked and not chosen.lacking else SOME


def choose(frame: Frame, pids: Sequence[int], *, is_filtered: bool = False) -> Chosen:
    """Return the processes of a frame, only those of these pids if there are any.

    A pid may also be that of a launcher or helper without a GPU, unless a filter, which knows only processes on GPUs,
    ``is_filtered`` them.
    """
    known = frame.processes if is_filtered or not pids else (*frame.processes, *frame.relatives)
    kept = tuple(process for process in known if not pids or process.pid in pids)
    present = {process.pid for process in kept}
    lacking = tuple(pid for pid in dict.fromkeys(pids) if pid not in present)
    problems = frame.problems if is_filtered else ()  # a filter needs every value
    doubts = why_incomplete(frame) or (*problems, *frame.left_out)
    return Chosen(kept, frame.time_s, lacking, tuple(_launchers(frame, present)), doubts, is_filtered)


def new_id() -> str:
    """Return an id for a change."""
    return f"{os.getpid()}-{time.time_ns()}"


def _lacking(chosen: Chosen) -> Iterator[str]:
    """Return a line per chosen pid that is not there, and why processes may be missing or not judged."""
    where = "unknown whether it runs on the selected GPUs" if chosen.doubts else "not running on the selected GPUs"
    yield from (f"{pid}: {where}" for pid in chosen.lacking)
    if chosen.lacking or chosen.is_filtered or not chosen.processes:
        yield from chosen.doubts


def _consequences(signal: str, chosen: Chosen) -> Iterator[str]:
    """Return what a stopped process keeps, or which launchers a signal that ends processes does not reach."""
    if signal not in STOPS:
        yield from (_LED.format(pid=pid, count=count) for pid, count in chosen.led)
    elif kept := kept_text(chosen.processes):
        yield kept


def _launchers(frame: Frame, present: set[int]) -> Iterator[tuple[int, int]]:
    for job in frame.jobs:
        led = sum(member.pid in present for member in job.members)
        if led and job.launcher and job.launcher.pid not in present:
            yield job.launcher.pid, led


def _check(request: ProcessesRequest, person: Person) -> None:
    if not (request.is_filtered or request.pids):
        raise BadRequestError("no processes selected: use --where, --pid, --user or --gpu")
    if not (request.is_dry or person.can_answer()):
        raise BadRequestError("no terminal to confirm on: add --yes to go ahead, or --dry-run to list the targets")


def _chosen(request: ProcessesRequest) -> Chosen:
    step = frames(open_source(request.backend, is_once=True), request.backend, is_once=True)
    frame = step()
    if request.backend.where:
        time.sleep(_RATES_S)
        frame = step()
    return choose(frame, request.pids, is_filtered=request.is_filtered)
