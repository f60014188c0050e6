"""Numbers as ranges: ``0-3,8``."""

from collections.abc import Iterable


def ranges(numbers: Iterable[int], between: str = ",") -> str:
    """Return ``0-3,8`` for 0, 1, 2, 3 and 8; empty without numbers."""
    spans: list[list[int]] = []
    for number in sorted(set(numbers)):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return between.join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans)
