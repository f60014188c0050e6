"""Explain: where processes hang that make no progress."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct

from gputop.app.backend.backend import BackendRequest
from gputop.app.backend.operations.choice import open_operations
from gputop.app.backend.operations.operations import Operations
from gputop.app.errors import NONE, OK, UNKNOWN, BadRequestError, UseCaseError
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.terminal import print_json, warn
from gputop.core.insight.explanation import Explanation, SourceState
from gputop.core.insight.member import Member
from gputop.core.insight.members import Asked, joined, of_finding, of_job, of_member, of_process
from gputop.core.model.sample import Frame
from gputop.core.processes.jobs import jobs_named
from gputop.core.processes.program import program_of
from gputop.core.protocol.command import Explain, Inspect
from gputop.core.text.text import excerpt

_LONGEST_PID: Final = 10  # digits; int() refuses thousands of them
_CLEAR_LINE: Final = "\r\x1b[K"


class ExplainRequest(Struct, frozen=True, kw_only=True):
    """What to explain: pids, jobs by key or label, and codes of findings.

    ``native``: with frames of C and C++. ``read_only``: no process is asked to write a file.
    """

    demo: str | None = None
    names: tuple[str, ...]
    native: bool = False
    read_only: bool = False
    is_json: bool = False


def explain(request: ExplainRequest) -> int:
    """Ask all sources about the processes, print the explanation, and return the exit status."""
    backend = BackendRequest(demo=request.demo, read_only=request.read_only)
    operations = open_operations(backend)
    asked = _all_asked(request.names, _Box(backend, operations))
    question = Explain(id="explain", members=asked.members, native=request.native, since_s=asked.since_s)
    latest: list[Explanation] = []
    operations.explain(question, _watched(latest))
    explanation = latest[-1]
    if request.is_json:
        print_json(explanation)
    else:
        from gputop.core.insight.text import lines

        print("\n".join([asked.heading, *lines(explanation)]))
    return _status(explanation)


def _all_asked(names: Sequence[str], box: "_Box") -> Asked:
    """Return the processes of all words; warn of those that have exited, unless all have."""
    results = [_asked_or_exited(name, box) for name in names]
    found = [one for one in results if isinstance(one, Asked)]
    exited = [one for one in results if isinstance(one, UseCaseError)]
    if not found:
        raise exited[0]
    for error in exited:
        warn(str(error))
    return joined(found)


def _asked_or_exited(name: str, box: "_Box") -> Asked | UseCaseError:
    try:
        return _asked(name, box)
    except UseCaseError as error:
        if error.status != NONE:
            raise
        return error


class _Box:
    """The box, whose sample is taken when a name needs it."""

    def __init__(self, backend: BackendRequest, operations: Operations) -> None:
        self.operations = operations
        self._backend = backend
        self._frame: Frame | None = None

    def frame(self) -> Frame:
        """Return the sample. Raises UseCaseError without a driver."""
        if self._frame is None:
            self._frame = frames(open_source(self._backend, is_once=False), self._backend, waits=True)()
        return self._frame


def _asked(name: str, box: _Box) -> Asked:
    """Return the processes that a word means: a pid, a job, or the code of a finding."""
    pid = int(name) if name.isdecimal() and len(name) <= _LONGEST_PID else None
    try:
        frame = box.frame()
    except UseCaseError:
        if pid is None:
            raise
        return _inspected(pid, box.operations)  # the kernel knows processes without a driver
    known = next((one for one in (*frame.processes, *frame.relatives) if one.pid == pid), None)
    if known is not None and known.start_ticks is not None:
        return of_process(frame, known)
    jobs = jobs_named(name, frame.jobs)
    if len(jobs) == 1:
        return of_job(frame, jobs[0])
    if len(jobs) > 1:
        raise BadRequestError(f"several jobs are called {excerpt(name)}. Use a key: {_listed(job.key for job in jobs)}")
    if pid is not None:
        return _inspected(pid, box.operations)
    found = next((one for one in frame.findings if name in {one.code, one.code.partition(".")[0]}), None)
    if found is None:
        raise BadRequestError(_unknown(name, frame))
    asked = of_finding(frame, found)
    if not asked.members:
        raise BadRequestError(f"{found.code} is about {found.subject.label}: no process to ask")
    return asked


def _inspected(pid: int, operations: Operations) -> Asked:
    """Return a process that uses no GPU."""
    found = operations.inspect(Inspect(id="explain", pid=pid))
    if found.start_ticks is None or found.problem:
        status = NONE if found.has_ended else UNKNOWN
        raise UseCaseError(status, f"{pid}: {found.problem or 'its start time is unknown'}")
    name = program_of(" ".join(found.command)).text or found.name
    start_ticks, rank = found.start_ticks, found.owner.rank
    return of_member(Member(pid=pid, start_ticks=start_ticks, rank=rank, name=name, user=found.user))


def _unknown(name: str, frame: Frame) -> str:
    jobs = _listed(job.label for job in frame.jobs)
    codes = _listed(dict.fromkeys(finding.code for finding in frame.findings))
    return (
        f"{excerpt(name)} is no pid, job or present finding. Jobs on GPUs: {jobs}. Present findings: {codes}."
        " To find a hang, gputop must watch for minutes: give the job or a pid instead"
    )


def _listed(names: Iterable[str]) -> str:
    return excerpt(", ".join(names)) or "none"


def _watched(latest: list[Explanation]) -> Callable[[Explanation], None]:
    """Return a function that keeps the latest explanation and, on a terminal, shows which sources have not answered."""
    is_shown = sys.stderr.isatty()

    def take(explanation: Explanation) -> None:
        latest[:] = [explanation]
        if is_shown:
            waits = [each.title for each in explanation.sources if each.state is SourceState.ASKED]
            text = f"asking {', '.join(waits)} …" if waits else ""
            print(_CLEAR_LINE + text, end="", file=sys.stderr, flush=True)

    return take


def _status(explanation: Explanation) -> int:
    """Return 0 if a source answered, 4 if all processes have ended, 3 if nothing is known."""
    if explanation.members and len(explanation.ended) == len(explanation.members):
        return NONE
    is_known = any(each.state is SourceState.ANSWERED for each in explanation.sources)
    return OK if is_known else UNKNOWN
