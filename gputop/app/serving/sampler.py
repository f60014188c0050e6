"""Sampler: the process behind the screen, which streams frames and executes commands."""

import os
import sys
from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from gputop.app.backend.backend import BackendRequest, OpenSource
from gputop.app.backend.operations.choice import open_control, open_operations
from gputop.app.control.mig.survey import survey
from gputop.app.monitoring.frames import frames, open_source
from gputop.app.monitoring.stream import StreamRequest
from gputop.core.insight.evidence import with_answers
from gputop.core.insight.explanation import Explanation
from gputop.core.protocol.command import Change, ChangeMig, Explain
from gputop.core.protocol.outcome import Outcome
from gputop.lazy_imports import collect_seldom
from gputop.wire.questions import Questions, answer_lines
from gputop.wire.server import LAST_CHANGES_S, ChangeQueue, Lines, Rhythm, end, obey, serve

_MOST_ANSWERS: Final = 16
_Explain: TypeAlias = Callable[[Explain, Callable[[Explanation], None]], None]


def sample(request: StreamRequest, *, patience_s: float | None = None) -> None:
    """Write frames, obey the commands on stdin, and end when that closes.

    ``patience_s``: greet a reader on another host, and end when it has been silent for so long.
    """
    lines = Lines(sys.stdout.buffer)
    listener = None
    if patience_s is not None:
        from gputop.app.serving.greeting import greet

        listener = greet(request.backend, lines, patience_s)
    source = open_source(request.backend, is_once=False)
    rhythm = Rhythm(source, watch_host=source.want_details)
    answers: deque[Explanation] = deque(maxlen=_MOST_ANSWERS)
    changes, questions = _answering(request.backend, source, rhythm, lines, answers)
    if listener is None:
        obey(sys.stdin.buffer, rhythm, changes, questions=questions.ask)
    else:
        obey(sys.stdin.buffer, rhythm, changes, questions=questions.ask, beats=listener.take)
        listener.watch(lambda: end(changes))
    collect_seldom()
    step = frames(source, request.backend)
    paced = step if listener is None else listener.paced(step)
    try:
        serve(lambda: with_answers(paced(), tuple(answers)), lines, rhythm, request.count)
    finally:
        changes.close(LAST_CHANGES_S)


def _answering(
    request: BackendRequest, source: OpenSource, rhythm: Rhythm, lines: Lines, answers: "deque[Explanation]"
) -> tuple[ChangeQueue, Questions]:
    """Return what executes changes, and what answers questions. ``answers``: receives explanations."""
    protected = frozenset({os.getpid(), os.getppid()})
    control = open_control(request, protected, progress=answer_lines(lines))
    changes = ChangeQueue(_followed(control.execute, source), lines, rhythm)
    operations = open_operations(request)
    questions = Questions(
        lines,
        inspect=operations.inspect,
        explain=_kept(operations.explain, answers),
        process_status=operations.process_status,
        read_mig=survey(operations),
    )
    return changes, questions


def _kept(explain: _Explain, answers: "deque[Explanation]") -> _Explain:
    """Return a function that also keeps complete explanations, which are evidence for findings."""

    def ask(question: Explain, send: Callable[[Explanation], None]) -> None:
        def take(explanation: Explanation) -> None:
            if explanation.is_complete:
                answers.append(explanation)
            send(explanation)

        explain(question, take)

    return ask


def _followed(execute: Callable[[Change], Outcome], source: OpenSource) -> Callable[[Change], Outcome]:
    """Return a function that also makes the source read changed MIG layouts: not every driver reports events."""

    def act(change: Change) -> Outcome:
        outcome = execute(change)
        for plan in change.plans if isinstance(change, ChangeMig) else ():
            source.refresh_layout(plan.gpu)
        return outcome

    return act
