"""What commands that change processes have in common: whom they mean, the question, the exit status."""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

from msgspec import Struct

from gputop.cli.args.exits import BAD_INPUT, OK, fail, warn
from gputop.cli.args.options import add_common, add_ending, words
from gputop.cli.backend.control import Door, opened_door
from gputop.cli.backend.monitoring import monitored, opened
from gputop.core.model.sample import Frame, HostProcess
from gputop.core.protocol.command import Change, SendSignal, wording
from gputop.core.protocol.outcome import Outcome
from gputop.core.query.selection import why_no_processes

SOME: Final = 1
NONE: Final = 4
_SIMULATED: Final = "SIMULATED: nothing on this machine is touched; each gputop --demo begins with the box as it was."
_LED: Final = "Launcher {pid}, which started {count} of these, is not among them; to end its whole job: --pid {pid}"
_RATES_S: Final = 1.0  # between the two readings that a filter on rates needs


class Person(Protocol):
    """Whoever called: told, and asked where something is to be decided."""

    def tell(self, lines: Sequence[str]) -> None:
        """Print lines."""
        ...

    def agrees(self, question: str) -> bool:
        """Ask, and say whether the answer is yes."""
        ...


class Meant(Struct, frozen=True):
    """The processes that are meant, as they are now; ``lacking``: pids that were named, and are not there.

    ``led``: launchers that are not among them, and how many of them each leads. ``silence``: why there are none.
    """

    processes: tuple[HostProcess, ...]
    time_s: float
    lacking: tuple[int, ...] = ()
    led: tuple[tuple[int, int], ...] = ()
    silence: str = ""


class Caller:
    """The person at the terminal; ``is_sure``: --yes was given."""

    def __init__(self, *, is_sure: bool) -> None:
        self._is_sure = is_sure

    def tell(self, lines: Sequence[str]) -> None:
        """Print lines."""
        for line in lines:
            print(line)
        sys.stdout.flush()

    def agrees(self, question: str) -> bool:
        """Ask on stderr; anything but y and yes is no."""
        if self._is_sure:
            return True
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")


def add_choice(parser: argparse.ArgumentParser, *examples: str) -> None:
    """Add the options that say whom and whether, and how the help ends."""
    parser.add_argument(
        "--pid", action="append", type=_pids, metavar="PID", help="only these processes: --pid 4711,4712"
    )
    parser.add_argument("-n", "--dry-run", action="store_true", help="list the processes that are meant, and end")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    add_common(parser, repeats=False, changes=True)
    add_ending(parser, *examples, status="0 done for all, 1 for some, 2 bad input, 3 no driver, 4 for none")


def carry_out(
    options: argparse.Namespace,
    make: Callable[[tuple[HostProcess, ...]], Change],
    act: Callable[[Change, Door, Person], Outcome] | None = None,
) -> int:
    """List whom it hits, ask, do it, say how it ended; return the exit status.

    ``make`` makes the change of the processes; ``act`` executes it where that is more than one step.
    """
    _check(options)
    door = opened_door(options, frozenset({os.getpid()}), warn)
    caller = Caller(is_sure=options.yes)
    if options.demo:
        caller.tell([_SIMULATED])
    meant = _meant(options)
    return settle(make(meant.processes), meant, door, caller, act=act, is_dry=options.dry_run)


def settle(
    change: Change,
    meant: Meant,
    door: Door,
    person: Person,
    *,
    act: Callable[[Change, Door, Person], Outcome] | None = None,
    is_dry: bool = False,
) -> int:
    """Carry a change out on the processes that are meant; see `carry_out`."""
    from gputop.report.change import counted, ended, plan
    from gputop.report.grid import look

    room, style = look(sys.stdout, os.environ)
    person.tell(plan(wording(change), meant.processes, meant.time_s, room, style))
    if not meant.processes and meant.silence:
        person.tell([meant.silence])
    elif meant.lacking:
        person.tell([f"{pid}: has nothing to do with these GPUs" for pid in meant.lacking])
    if isinstance(change, SendSignal):
        person.tell([_LED.format(pid=pid, count=count) for pid, count in meant.led])
    if is_dry or not meant.processes:
        return OK if meant.processes and not meant.lacking else NONE if not meant.processes else SOME
    if not person.agrees(f"{wording(change)} for {counted(len(meant.processes))}?"):
        person.tell(["Nothing was done."])
        return NONE
    outcome = act(change, door, person) if act else door.execute(change)
    person.tell(list(ended(outcome, style)))
    if outcome.none_worked:
        return NONE
    return OK if outcome.all_worked and not meant.lacking else SOME


def choose(frame: Frame, pids: Sequence[int], *, is_filtered: bool = False) -> Meant:
    """Return the processes of a frame, only those of these pids if there are any.

    A pid may also be that of a launcher or helper without a GPU, unless a filter, which knows only processes on GPUs,
    ``is_filtered`` them.
    """
    known = frame.processes if is_filtered or not pids else (*frame.processes, *frame.relatives)
    kept = tuple(process for process in known if not pids or process.pid in pids)
    present = {process.pid for process in kept}
    lacking = tuple(pid for pid in dict.fromkeys(pids) if pid not in present)
    return Meant(kept, frame.time_s, lacking, tuple(_launchers(frame, present)), _silence(frame))


def _silence(frame: Frame) -> str:
    """Return why the driver lists no processes, if it does not; nothing if nobody is meant by what was asked for."""
    return why_no_processes(frame) if any("processes" in gpu.missing for gpu in frame.gpus) else ""


def _launchers(frame: Frame, present: set[int]) -> Iterator[tuple[int, int]]:
    for job in frame.jobs:
        led = sum(member.pid in present for member in job.members)
        if led and job.launcher and job.launcher.pid not in present:
            yield job.launcher.pid, led


def new_id() -> str:
    """Return an id for a change."""
    return f"{os.getpid()}-{time.time_ns()}"


def _check(options: argparse.Namespace) -> None:
    filters = [query for query in options.where or () if str(query)]
    if not (filters or options.pid or options.user or options.gpu):
        fail(BAD_INPUT, "which processes? Name them with --where, --pid, --user or --gpu")
    if not (options.yes or options.dry_run or (sys.stdin.isatty() and sys.stderr.isatty())):
        fail(BAD_INPUT, "there is no terminal to ask on: add --yes to do it, --dry-run to see whom it would hit")


def _meant(options: argparse.Namespace) -> Meant:
    step = monitored(opened(options, is_once=True), options, is_once=True)
    frame = step()
    if options.where:
        time.sleep(_RATES_S)
        frame = step()
    pids = [pid for group in options.pid or () for pid in group]
    return choose(frame, pids, is_filtered=bool(options.where or options.user or options.gpu))


def _pids(text: str) -> tuple[int, ...]:
    found = words(text)
    if not all(word.isdecimal() and int(word) > 0 for word in found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a pid, nor several with commas")
    return tuple(int(word) for word in found)
