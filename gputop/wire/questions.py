"""Answers to the questions that a sampler receives, a line each, while frames and changes continue."""

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Generic, TypeVar

from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.protocol.command import Explain, Inspect, Question, ReadMig, ReadStatus
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.wire import codec
from gputop.wire.server import Lines

Q = TypeVar("Q")


class Questions:
    """Answers each kind of question with its function.

    A process that is stuck in the kernel can block the reader of its memory map, and the driver can hang: inspections
    and MIG readings have a thread each. An explanation takes seconds and has several answers: each has a thread. The
    status of processes never blocks, so `ask` answers it at once.
    """

    def __init__(
        self,
        lines: Lines,
        *,
        inspect: Callable[[Inspect], Inspection],
        explain: Callable[[Explain, Callable[[Explanation], None]], None],
        process_status: Callable[[ReadStatus], ProcessStatuses],
        read_mig: Callable[[ReadMig], MigBox],
    ) -> None:
        self._lines = lines
        self._process_status = process_status
        self._explain = explain
        self._inspections = _Answering(inspect, lines, "inspections")
        self._mig = _Answering(read_mig, lines, "mig")

    def ask(self, question: Question | ReadMig) -> None:
        """Answer a question with a line."""
        match question:
            case Inspect():
                self._inspections.questions.put(question)
            case ReadMig():
                self._mig.questions.put(question)
            case Explain():
                write = answer_lines(self._lines)
                threading.Thread(target=self._explain, args=(question, write), name="explanation", daemon=True).start()
            case ReadStatus():
                with suppress(OSError):  # the pipe has closed
                    self._lines.write(self._process_status(question))


class _Answering(Generic[Q]):
    """A thread that answers questions one after the other."""

    def __init__(self, answer: Callable[[Q], codec.Answer], lines: Lines, name: str) -> None:
        self.questions: SimpleQueue[Q] = SimpleQueue()
        self._answer = answer
        self._lines = lines
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        while True:
            answer = self._answer(self.questions.get())
            try:
                self._lines.write(answer)
            except OSError:
                return  # the pipe has closed


def answer_lines(lines: Lines) -> Callable[[Explanation | MigProgress], None]:
    """Return a function that writes answers as lines; what makes them continues if the pipe is closed."""

    def write(answer: Explanation | MigProgress) -> None:
        with suppress(OSError):
            lines.write(answer)

    return write
