"""Verdicts and figures of a probe in words, for reports and for the screen."""

from typing import Final

from gputop.core.probing.result import Figure, Status
from gputop.core.tones import Tone

WORDS: Final = {
    Status.PASS: ("✓ pass", Tone.OK),
    Status.WARN: ("! WARN", Tone.WARM),
    Status.FAIL: ("✗ FAIL", Tone.HOT),
    Status.ERROR: ("✗ ERROR", Tone.HOT),
    Status.REFUSED: ("– refused", Tone.WARM),
    Status.SKIP: ("– skipped", Tone.NONE),
    Status.INCONCLUSIVE: ("? unclear", Tone.WARM),
    Status.ABORTED: ("– aborted", Tone.WARM),
}
_PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def figure_text(figure: Figure) -> str:
    """Return a figure with its unit and what it was compared with."""
    value = f"{figure.name} {number_text(figure.value, figure.unit)}"
    notes = [
        f"{ratio:.0%} of {what}"
        for ratio, what in (
            (figure.ratio, "expected"), (figure.sibling_ratio, "siblings"), (figure.baseline_ratio, "baseline"),
        )
        if ratio is not None
    ]  # fmt: skip
    return f"{value} ({', '.join(notes)})" if notes else value


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
