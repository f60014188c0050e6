"""Insight into hangs that become alarms: all sources are asked, and the answers are evidence for the findings."""

import threading
import time
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final

from gputop.core.insight.evidence import with_answers
from gputop.core.insight.explanation import Explanation
from gputop.core.insight.members import AlarmedHangs
from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Explain

_MOST_ANSWERS: Final = 16
_PATIENCE_S: Final = 60.0  # longer than any source may take
_QUESTIONS: Final = count()


class HangInsight:
    """Asks in threads, while frames continue. ``explain``: sends explanations, the last one complete."""

    def __init__(
        self,
        explain: Callable[[Explain, Callable[[Explanation], None]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._explain = explain
        self._clock = clock
        self._hangs = AlarmedHangs()
        self._answers: deque[Explanation] = deque(maxlen=_MOST_ANSWERS)
        self._open: dict[str, float] = {}

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is expected that no frame has yet."""
        return any(self._clock() - asked_s < _PATIENCE_S for asked_s in self._open.values())

    def weighed(self, frame: Frame) -> Frame:
        """Ask about new hangs; return the frame with the answers so far as evidence."""
        for asked in self._hangs.new(frame):
            question = Explain(id=f"alarm {next(_QUESTIONS)}", members=asked.members, since_s=asked.since_s)
            self._open[question.id] = self._clock()
            threading.Thread(target=self._explain, args=(question, self._take), name="insight", daemon=True).start()
        answers = tuple(self._answers)
        for answer in answers:
            self._open.pop(answer.id, None)
        return with_answers(frame, answers)

    def _take(self, explanation: Explanation) -> None:
        if explanation.is_complete:
            self._answers.append(explanation)
