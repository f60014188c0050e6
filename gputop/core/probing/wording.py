"""Verdicts and figures of a probe as text, for reports and for the screen."""

from collections.abc import Iterator, Sequence
from typing import Final

from gputop.core.probing.result import Figure, TestStatus
from gputop.core.text.tone import Tone

WORDS: Final = {
    TestStatus.PASS: ("✓ pass", Tone.OK),
    TestStatus.WARN: ("! WARN", Tone.WARM),
    TestStatus.FAIL: ("✗ FAIL", Tone.HOT),
    TestStatus.ERROR: ("✗ ERROR", Tone.HOT),
    TestStatus.REFUSED: ("– refused", Tone.WARM),
    TestStatus.SKIP: ("– skipped", Tone.NONE),
    TestStatus.INCONCLUSIVE: ("? unclear", Tone.WARM),
    TestStatus.ABORTED: ("– aborted", Tone.WARM),
}
_MOST_OF_GROUP: Final = 3
_PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def figure_text(figure: Figure) -> str:
    """Return a figure with its unit and its ratios."""
    value = f"{figure.name} {number_text(figure.value, figure.unit)}"
    notes = [
        f"{ratio:.0%} of {reference}"
        for ratio, reference in (
            (figure.ratio, "expected"), (figure.sibling_ratio, "siblings"), (figure.baseline_ratio, "baseline"),
        )
        if ratio is not None
    ]  # fmt: skip
    return f"{value} ({', '.join(notes)})" if notes else value


def figures_text(figures: Sequence[Figure]) -> str:
    """Return figures as one line; many pairs or ranks as their range."""
    groups: dict[str, list[Figure]] = {}
    for figure in figures:
        groups.setdefault(figure.name.partition(".")[0], []).append(figure)
    return ", ".join(text for name, held in groups.items() for text in _group(name, held))


def _group(name: str, figures: Sequence[Figure]) -> Iterator[str]:
    if len(figures) <= _MOST_OF_GROUP:
        yield from map(figure_text, figures)
        return
    least, most = (pick(figures, key=lambda figure: figure.value) for pick in (min, max))
    yield f"{len(figures)} {name}, {number_text(least.value, least.unit)} to {number_text(most.value, most.unit)}"


def number_text(value: float, unit: str) -> str:
    """Return a figure's value with its unit."""
    if unit == "s":
        return (
            f"{value:.2f} s" if value >= 1 else f"{value * 1000:.2f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} µs"
        )
    if unit in ("B/s", "Hz"):
        factor, prefix = next(((f, p) for f, p in _PREFIXES if abs(value) >= f), (1.0, ""))
        return f"{value / factor:.4g} {prefix}{unit}"
    return f"{value:.4g} {unit}"
