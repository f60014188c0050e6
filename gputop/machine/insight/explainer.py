"""The explainer: asks all sources of insight about processes at once, and sends the explanation as it grows."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from queue import Empty, SimpleQueue
from typing import Final

from msgspec import convert, to_builtins
from msgspec.structs import replace

from gputop.core.insight.explanation import Explanation, SourceReport
from gputop.core.insight.member import Member
from gputop.core.insight.source import InsightSource, without
from gputop.core.insight.verdict import verdict
from gputop.core.model.foreign import harmless
from gputop.core.model.units import duration_text
from gputop.core.protocol.command import Explain
from gputop.core.text.text import excerpt
from gputop.machine.insight.identity import ended
from gputop.machine.proc.procfs import Reader, RealProc

_MOST_LATE: Final = 32  # threads of sources that hang
_MOST_LINES: Final = 500
_MOST_LETTERS: Final = 500
_MOST_CLAIMS: Final = 2000


class Explainer:
    """Asks sources. One that hangs or fails costs only itself.

    ``proc``: of the identity of processes, which is compared before and after each answer.
    """

    def __init__(
        self,
        sources: Sequence[InsightSource],
        proc: Reader,
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._sources = sources
        self._proc = proc
        self._clock = clock
        self._wall = wall
        self._threads = threading.BoundedSemaphore(_MOST_LATE)

    def explain(self, question: Explain, send: Callable[[Explanation], None]) -> None:
        """Ask all sources; send an explanation at the start and after each answer, the last one complete.

        Never raises. It returns when all sources have answered or their time is over.
        """
        now_s = self._wall()
        lasted_s = None if question.since_s is None else max(0.0, now_s - question.since_s)
        gone = ended(self._proc, question.members)
        members = tuple(member for member in question.members if member.pid not in gone)
        sources = [source for source in self._sources if members and _applies(source, members)]
        reports = {source.name: source.asked() for source in sources}

        def tell(*, is_complete: bool) -> None:
            found = tuple(without(report, gone) for report in reports.values())
            send(
                Explanation(
                    id=question.id,
                    time_s=now_s,
                    members=question.members,
                    ended=tuple(sorted(gone)),
                    sources=found,
                    verdict=verdict(question.members, gone, found, lasted_s, is_complete=is_complete),
                    is_complete=is_complete,
                )
            )

        tell(is_complete=not sources)
        for report in self._answers(sources, members, is_native=question.native):
            reports[report.name] = report
            gone |= ended(self._proc, members)
            sources = [source for source in sources if source.name != report.name]
            tell(is_complete=not sources)

    def _answers(
        self, sources: Sequence[InsightSource], members: Sequence[Member], *, is_native: bool
    ) -> Iterator[SourceReport]:
        """Ask, each source in a thread of its own; yield a report of each, also of one that is late."""
        begun = self._clock()
        answers: SimpleQueue[SourceReport] = SimpleQueue()
        open_ = {source.name: source for source in sources}
        for source in sources:
            if not self._start(source, members, answers, is_native=is_native):
                answers.put(source.unavailable("too many earlier questions have not been answered"))
        while open_:
            first = min(open_.values(), key=lambda source: source.limit_s)
            rest_s = begun + first.limit_s - self._clock()
            try:
                report = answers.get(timeout=max(0.0, rest_s))
            except Empty:
                report = first.unavailable(f"no answer within {duration_text(first.limit_s)}")
            if open_.pop(report.name, None) is not None:  # a late answer comes after its report
                yield replace(report, took_s=round(self._clock() - begun, 3))

    def _start(
        self,
        source: InsightSource,
        members: Sequence[Member],
        answers: "SimpleQueue[SourceReport]",
        *,
        is_native: bool,
    ) -> bool:
        """Ask a source in a thread; return whether it was started."""

        def run() -> None:
            try:
                answers.put(_report(source, members, is_native=is_native))
            finally:
                self._threads.release()

        if not self._threads.acquire(blocking=False):
            return False
        try:
            threading.Thread(target=run, name=f"insight {source.name}", daemon=True).start()
        except RuntimeError:  # the limit of processes of this user
            self._threads.release()
            return False
        return True


@cache
def explainer_of_this_machine(*, is_read_only: bool) -> Explainer:
    """Return the explainer of processes on this machine. ``is_read_only``: no source makes a process write a file."""
    from gputop.machine.insight.sources import SOURCES, without_requests  # noqa: PLC0415 - not for a simulated box

    return Explainer(without_requests(SOURCES) if is_read_only else SOURCES, RealProc())


def _applies(source: InsightSource, members: Sequence[Member]) -> bool:
    try:
        return bool(source.applies_to(members))
    except Exception:  # noqa: BLE001 - the border to sources, also of plugins: `ask` then says what is wrong
        return True


def _report(source: InsightSource, members: Sequence[Member], *, is_native: bool) -> SourceReport:
    """Return the answer of a source with clean text, or why there is none."""
    try:
        report = source.ask(members, is_native)
        short = replace(
            report,
            name=source.name,
            title=source.title,
            claims=report.claims[:_MOST_CLAIMS],
            lines=tuple(line[:_MOST_LETTERS] for line in report.lines[:_MOST_LINES]),
        )
        return convert(harmless(to_builtins(short)), SourceReport)
    except Exception as error:  # noqa: BLE001 - the border to sources, also of plugins
        return source.unavailable(f"it failed: {type(error).__name__}: {excerpt(str(error))}")
