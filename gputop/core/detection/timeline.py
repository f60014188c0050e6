"""The timeline of findings: each from its beginning to its end, with its stages."""

from collections import deque
from collections.abc import Sequence

from msgspec import Struct

from gputop.core.model.finding import Finding, Stage


class Passage(Struct, frozen=True, kw_only=True):
    """The time at which a finding reached a stage. ``at_s``: since the recording began; ``time_s``: since the epoch."""

    stage: Stage
    at_s: float
    time_s: float


class Episode(Struct, frozen=True, kw_only=True):
    """A finding from its beginning to its end, with the wording of its gravest stage.

    ``end_s``: since the epoch, ``end_at_s``: since the recording began; None if it lasted to the end.
    """

    finding: Finding
    passages: tuple[Passage, ...]
    end_s: float | None = None
    end_at_s: float | None = None


class _Open(Struct):
    finding: Finding
    passages: list[Passage]
    stage: Stage


class Timeline:
    """Follows findings from frame to frame. ``most``: number of past ones to keep; None: all."""

    def __init__(self, most: int | None = None) -> None:
        self._open: dict[tuple[object, ...], _Open] = {}
        self._ended: deque[Episode] = deque(maxlen=most)

    def add(self, at_s: float, time_s: float, findings: Sequence[Finding]) -> None:
        """Add the findings of an instant."""
        present = {finding.key: finding for finding in findings}
        for key in self._open.keys() - present.keys():
            self._ended.append(_episode(self._open.pop(key), time_s, at_s))
        for key, finding in present.items():
            held = self._open.get(key)
            if held is None:
                held = self._open[key] = _Open(finding, [], finding.stage)
            if not held.passages or held.stage is not finding.stage:
                held.passages.append(Passage(stage=finding.stage, at_s=at_s, time_s=time_s))
                held.stage = finding.stage
            if finding.stage.rank >= held.finding.stage.rank:
                held.finding = finding

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """All episodes by their beginning; of those that began together, the gravest first."""
        held = (*self._ended, *(_episode(each) for each in self._open.values()))
        return tuple(sorted(held, key=_order))


def _episode(held: _Open, end_s: float | None = None, end_at_s: float | None = None) -> Episode:
    return Episode(finding=held.finding, passages=tuple(held.passages), end_s=end_s, end_at_s=end_at_s)


def _order(episode: Episode) -> tuple[object, ...]:
    finding = episode.finding
    return (episode.passages[0].at_s, -finding.stage.rank, finding.code, finding.subject.label)
