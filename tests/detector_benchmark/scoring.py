"""How well detectors do on labelled traces: confusion, precision, recall, time to detect; for all suites the same.

A positive is found when it is raised at or after its onset. Whatever is raised on a negative, or before the onset, is
a false alarm. Tune on `DEVELOPMENT` seeds, report on `HELD_OUT`.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Final, TypeVar

from msgspec import Struct

DEVELOPMENT: Final = range(1000, 1008)
HELD_OUT: Final = range(5000, 5030)

In = TypeVar("In")
Out = TypeVar("Out")


class Outcome(Struct, frozen=True):
    """What a detector said of one trace. ``kind``: the class of the trace. Times are seconds since its start.

    ``onset_s``: when it begins to be wrong, None for a trace on which nothing is. ``raised_s``: when it was reported.
    """

    kind: str
    seed: int
    onset_s: float | None
    raised_s: float | None
    note: str = ""

    @property
    def is_hit(self) -> bool:
        """Say whether it was rightly reported."""
        return self.onset_s is not None and self.raised_s is not None and self.raised_s >= self.onset_s

    @property
    def is_false(self) -> bool:
        """Say whether it was wrongly reported: too early is wrong as well."""
        return self.raised_s is not None and not self.is_hit

    @property
    def is_missed(self) -> bool:
        """Say whether it should have been reported and was not; who was too early is counted as false only."""
        return self.onset_s is not None and self.raised_s is None


class Score(Struct, frozen=True):
    """The counts of many outcomes. ``times_s``: from the onset to the report, sorted."""

    hits: int
    false: int
    missed: int
    quiet: int
    times_s: tuple[float, ...]

    @property
    def precision(self) -> float:
        """Return the share of reports that are right; 1 where nothing was reported."""
        return _share(self.hits, self.hits + self.false)

    @property
    def recall(self) -> float:
        """Return the share of positives that were found; 1 where there is none."""
        return _share(self.hits, self.hits + self.missed)

    @property
    def f1(self) -> float:
        """Return the harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    @property
    def false_rate(self) -> float:
        """Return the share of traces without trouble that were reported all the same."""
        return 1 - _share(self.quiet, self.quiet + self.false)

    @property
    def median_s(self) -> float | None:
        """Return the median time to detect."""
        return median(self.times_s) if self.times_s else None

    @property
    def p90_s(self) -> float | None:
        """Return the time within which nine of ten were found, of those that were found."""
        return self.times_s[min(len(self.times_s) - 1, int(0.9 * len(self.times_s)))] if self.times_s else None

    @property
    def line(self) -> str:
        """Return all of it in a line."""
        times = "" if self.median_s is None else f" · median {self.median_s:.0f} s, p90 {self.p90_s:.0f} s"
        return (
            f"precision {self.precision:.3f} recall {self.recall:.3f} F1 {self.f1:.3f} "
            f"false rate {self.false_rate:.3f} (hits {self.hits}, false {self.false}, missed {self.missed}, "
            f"quiet {self.quiet}){times}"
        )


def score(outcomes: Iterable[Outcome]) -> Score:
    """Count."""
    held = tuple(outcomes)
    times = sorted(
        one.raised_s - one.onset_s for one in held if one.is_hit and one.raised_s and one.onset_s is not None
    )
    return Score(
        hits=sum(one.is_hit for one in held),
        false=sum(one.is_false for one in held),
        missed=sum(one.is_missed for one in held),
        quiet=sum(one.onset_s is None and one.raised_s is None for one in held),
        times_s=tuple(times),
    )


def by_kind(outcomes: Iterable[Outcome]) -> dict[str, Score]:
    """Count class by class, in their order."""
    kinds: dict[str, list[Outcome]] = {}
    for one in outcomes:
        kinds.setdefault(one.kind, []).append(one)
    return {kind: score(held) for kind, held in kinds.items()}


def kinds_text(scores: Mapping[str, Score]) -> str:
    """Return a table, a class a line."""
    wide = max(map(len, scores), default=0)
    return "\n".join(f"{kind:{wide}}  {_brief(one)}" for kind, one in scores.items())


def confusion_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Return how often each right label (a row) was given each label (a column); rows without a mistake are brief."""
    counts = Counter(pairs)
    rows: dict[str, Counter[str]] = {}
    for (right, given), count in counts.items():
        rows.setdefault(right, Counter())[given] += count
    wide = max(map(len, rows), default=0)
    return "\n".join(
        f"{right:{wide}}  " + ", ".join(f"{given} {count}" for given, count in row.most_common())
        for right, row in rows.items()
    )


def accuracy(pairs: Sequence[tuple[str, str]]) -> float:
    """Return the share of right labels."""
    return _share(sum(right == given for right, given in pairs), len(pairs))


def spread(judged: Callable[[In], Out], traces: Sequence[In]) -> list[Out]:
    """Return what becomes of each, with all cores at work. ``judged``: a function of a module."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(judged, traces, chunksize=4))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _brief(one: Score) -> str:
    counts = {"found": one.hits, "missed": one.missed, "false": one.false, "quiet": one.quiet}
    times = "" if one.median_s is None else f" · median {one.median_s:.0f} s, p90 {one.p90_s:.0f} s"
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) + times
