"""The leak detector on labelled traces: its inner part at one sample a second."""

from __future__ import annotations

from time import perf_counter

from suite.leak_shapes import CARD, Trace
from suite.scoring import Outcome

from gputop.core.detectors.leak_vote import Limits, Vote
from gputop.core.detectors.leak_track import MemoryTrack

LIMITS = Limits()


def judged(trace: Trace) -> Outcome:
    """Return when a leak was reported."""
    track, vote = MemoryTrack(0.0, trace.memory[0], trace.age_s, trace.seed), Vote()
    for second, mib in enumerate(trace.memory):
        if mib != mib:
            continue
        if track.add(float(second), mib, trace.busy_at(second)):
            vote.evaluate(track, LIMITS, CARD)
            if vote.leak:
                return Outcome(trace.kind, trace.seed, trace.onset_s, float(second))
    return Outcome(trace.kind, trace.seed, trace.onset_s, None, str(vote.why))
