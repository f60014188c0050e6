"""The figures of verdicts: precision, recall and F1 of each kind, and the harmless traces with a false claim."""

from collections.abc import Sequence
from statistics import median

from detector_benchmark.independent.trace import FROM_OBSERVATION, SCORED
from detector_benchmark.independent.verdicts import Verdict


def summary_text(verdicts: Sequence[Verdict]) -> str:
    """Return the table of kinds, and the shares of harmless traces."""
    harmless = [one for one in verdicts if not one.is_trouble]
    claims = [one for one in harmless if any(not is_only_seen for _, is_only_seen, _ in one.false)]
    seen = [one for one in harmless if one.false]
    return "\n".join(
        [
            f"{len(verdicts) - len(harmless)} traces with trouble, {len(harmless)} harmless",
            "kind       precision recall  F1     found missed false  median to show",
            *(_row(kind, verdicts) for kind in SCORED),
            f"harmless traces with a false suspect or alarm: {_share(claims, harmless)}",
            f"harmless traces with any false claim, observations included: {_share(seen, harmless)}",
            *_other(verdicts),
        ]
    )


def details_text(verdicts: Sequence[Verdict]) -> str:
    """Return a line for each miss and each false claim."""
    lines = []
    for one in verdicts:
        where = f"{one.group}/{one.trace}"
        lines += [f"MISSED {kind:9} {where}: {instead}" for kind, instead in one.missed]
        harm = "" if one.is_trouble else " (harmless)"
        lines += [f"FALSE  {kind:9} {where}{harm}: {line}" for kind, _, line in one.false]
    return "\n".join(lines)


def _row(kind: str, verdicts: Sequence[Verdict]) -> str:
    times = [after_s for one in verdicts for met, after_s in one.met if met == kind]
    missed = sum(name == kind for one in verdicts for name, _ in one.missed)
    false = sum(any(name == kind and _counts(kind, is_seen) for name, is_seen, _ in one.false) for one in verdicts)
    found = len(times)
    precision = found / (found + false) if found + false else 1.0
    recall = found / (found + missed) if found + missed else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    after = f"{median(times):6.0f} s" if times else "     -"
    return f"{kind:10} {precision:9.2f} {recall:6.2f} {f1:5.2f}  {found:5} {missed:6} {false:5}  {after}"


def _counts(kind: str, is_only_seen: bool) -> bool:  # noqa: FBT001
    return not is_only_seen or kind in FROM_OBSERVATION


def _share(some: Sequence[Verdict], whole: Sequence[Verdict]) -> str:
    return f"{len(some)} of {len(whole)}, {100 * len(some) / max(1, len(whole)):.1f} %"


def _other(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the false claims of kinds without a row."""
    counts: dict[str, int] = {}
    for one in verdicts:
        for kind in {name for name, is_seen, _ in one.false if name not in SCORED and not is_seen}:
            counts[kind] = counts.get(kind, 0) + 1
    text = ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
    return [f"false suspects or alarms of other kinds, by traces: {text}"] if text else []
