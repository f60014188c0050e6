"""Names that may become labels. They are bounded, so that no user can create series without end."""

from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

_HOUR_S = 3600.0


class Names(Generic[T]):
    """Admits names: ``most`` at a time, and at most ``per_hour`` new ones an hour after the first ``most``.

    A name that returns within an hour is not new.
    """

    def __init__(self, most: int, per_hour: int) -> None:
        self._most = most
        self._per_s = per_hour / _HOUR_S
        self._left = float(most)
        self._taken_s: float | None = None
        self._present: set[T] = set()
        self._seen_s: dict[T, float] = {}

    def take(self, wanted: Iterable[T], now_s: float) -> set[T]:
        """Return the admitted names among the wanted ones, the most important of which come first.

        A name stays admitted as long as it is wanted. ``now_s``: monotonic seconds.
        """
        self._refill(now_s)
        names = list(dict.fromkeys(wanted))
        admitted = self._present.intersection(names)
        for name in names:
            if name not in admitted and len(admitted) < self._most and self._admits(name):
                admitted.add(name)
        self._present = admitted
        self._seen_s |= dict.fromkeys(admitted, now_s)
        return admitted

    def _admits(self, name: T) -> bool:
        if name in self._seen_s:
            return True
        if self._left < 1:
            return False
        self._left -= 1
        return True

    def _refill(self, now_s: float) -> None:
        passed_s = 0.0 if self._taken_s is None else max(0.0, now_s - self._taken_s)
        self._taken_s = now_s
        self._left = min(self._most, self._left + passed_s * self._per_s)
        self._seen_s = {name: seen_s for name, seen_s in self._seen_s.items() if now_s - seen_s < _HOUR_S}
