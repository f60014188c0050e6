"""The tables of docs/performance.md, from the measurements of bench/performance.py.

python docs/generate_performance.py FILE     prints the tables of a FILE that bench/performance.py wrote
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

from generate_doctor import table

VALUES: Final = Path(__file__).parent / "performance.json"
Box = dict[str, Any]  # the output of bench/run.py for one box
Result = dict[str, Any]
_PARTS: Final = ("snapshot", "screen", "first", "keys")
_CPU: Final = {"snapshot": "cpu_ms", "screen": "cpu_percent"}
_ALL: Final = ""
SLOW: Final = ", slow driver"  # the label of `boxes.Plan`


class Budget(NamedTuple):
    """The highest cost allowed, on boxes whose label starts with ``box``."""

    what: str
    most: float
    unit: str
    box: str
    cost: Callable[[Box], float | None]


def _against(part: str, peer: str) -> Callable[[Box], float | None]:
    """Return a function that divides gputop's CPU time by that of a peer."""

    def cost(box: Box) -> float | None:
        ours, theirs = (_value(box, part, name, _CPU[part]) for name in ("gputop", peer))
        return ours / theirs if ours and theirs else None

    return cost


def _value(box: Box, part: str, name: str, value: str) -> float | None:
    found = box.get(part, {}).get(name, {})
    return None if found.get("status") else found.get(value)


def _first_ms(box: Box) -> float | None:
    times = [time_s for time_s in box.get("first", {}).get("gputop", ()) if time_s is not None]
    return median(times) * 1000 if times else None


def _pss_mib(box: Box) -> float | None:
    pss = _value(box, "screen", "gputop", "pss_bytes")
    return pss and pss / 2**20


BUDGETS: Final = (
    Budget("snapshot: CPU time ÷ `nvitop -1`, 8 x 60", 0.45, "", "8 x 60", _against("snapshot", "nvitop")),
    Budget("snapshot: CPU time ÷ bare script", 1.5, "", _ALL, _against("snapshot", "bare pynvml script")),
    Budget("screen: CPU time ÷ nvitop, 8 x 200", 0.2, "", "8 x 200", _against("screen", "nvitop")),
    Budget("screen: CPU time ÷ nvitop, 16 x 2,000", 0.14, "", "16 x 2,000", _against("screen", "nvitop")),
    Budget("first full frame, 8 x 60", 400, "ms", "8 x 60", _first_ms),
    Budget("key to repaint, 95th percentile", 20, "ms", _ALL, lambda box: _value(box, "keys", "gputop", "p95_ms")),
    Budget(
        "key to repaint while a driver call hangs, 95th percentile", 20, "ms", _ALL,
        lambda box: _value(box, "keys", "gputop, a driver call hangs", "p95_ms"),
    ),
    Budget("memory (PSS) of screen and sampler", 75, "MiB", _ALL, _pss_mib),
)  # fmt: skip
JUDGED: Final = ("detectors and history, 2,000 processes", 5.0, "ms per frame")


# --- the parts of the page ---------------------------------------------------------------------------------------
def budgets(result: Result) -> str:
    """Return each budget with its limit and the worst box of each driver."""
    return table(_budgets(result)) + busy(result)


def busy(result: Result) -> str:
    """Return a warning if the machine was busy, else nothing."""
    m = result["machine"]
    if m["load"] <= m["cores"] / 2:
        return ""
    return (
        f"\n**The machine was busy with other work** (load {m['load']} on {m['cores']} cores): do not "
        "rely on times and their ratios, least of all on waiting times.\n"
    )


def _budgets(result: Result) -> Iterator[tuple[str, ...]]:
    yield "budget", "limit", "worst result", "machine", "", "slow driver", "machine", ""
    for budget in BUDGETS:
        costs = {box["label"]: cost for box in result["boxes"] if (cost := budget.cost(box)) is not None}
        costs = {label: cost for label, cost in costs.items() if label.startswith(budget.box)}
        if costs:
            limit = budget.most, budget.unit
            slow = {label: cost for label, cost in costs.items() if label.endswith(SLOW)}
            quick = {label: cost for label, cost in costs.items() if label not in slow}
            yield _head(budget.what, *limit) + _worst(quick, *limit) + _worst(slow, *limit)
    for curve in result["growth"]:
        last = curve["points"][-1]
        if curve["what"] == "detectors and history: processes":
            yield _head(*JUDGED) + _worst({"detectors only": last["cost"]}, *JUDGED[1:]) + ("",) * 3


def _head(what: str, most: float, unit: str) -> tuple[str, ...]:
    return what, f"{most:g} {unit}".strip()


def _worst(costs: dict[str, float], most: float, unit: str) -> tuple[str, ...]:
    """Return the highest cost, its box, and whether it meets the budget."""
    if not costs:
        return ("",) * 3
    where, cost = max(costs.items(), key=lambda item: item[1])
    kept = "met" if cost <= most else f"**missed by {cost / most - 1:.0%}**"
    return f"{_short(cost)} {unit}".strip(), where.removesuffix(SLOW), kept


def _short(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:.0f}"


def measurements(result: Result) -> str:
    """Return the machine, and one table per part with all boxes."""
    return "\n".join([machine(result), *(_part(result, part) for part in _PARTS)])


def machine(result: Result) -> str:
    """Return a description of the machine that ran the measurements."""
    m = result["machine"]
    programs = ", ".join(f"{name} {version}" for name, version in m["programs"].items())
    boards = ", ".join(dict.fromkeys(name for box in result["boxes"] for name in box["gpus"]))
    return (
        f"{m['date']}, in {m['minutes']} minutes: {m['cores']} cores of {m['cpu']}, load {m['load']} at the start, "
        f"Linux {m['linux']}, Python {m['python']}; {programs}; boards: {boards}.\n"
    )


def _part(result: Result, part: str) -> str:
    boxes = [(box["label"], box["tables"][part]) for box in result["boxes"] if part in box["tables"]]
    if not boxes:
        return ""
    _, first = boxes[0]
    return f"### {first['title']}\n\n" + table([("GPUs x processes", *first["rows"][0]), *_rows(boxes)])


def _rows(boxes: list[tuple[str, Any]]) -> Iterator[tuple[str, ...]]:
    for label, shown in boxes:
        for number, row in enumerate(shown["rows"][1:]):
            yield ("" if number else label), *row


def growth(result: Result) -> str:
    """Return how costs grow, and whether any grows faster than its cause."""
    fast = [curve["what"] for curve in result["growth"] if (curve["exponent"] or 0) > 1.1]
    verdict = (
        f"Faster than linear over the last step: {'; '.join(fast)}." if fast else "Nothing grew faster than linear."
    )
    return table(_growth(result)) + f"\n{verdict}\n"


def _growth(result: Result) -> Iterator[tuple[str, ...]]:
    yield "what grows", "values", "cost", "PSS MiB", "exponent"
    for curve in result["growth"]:
        points = curve["points"]
        yield (
            curve["what"],
            " · ".join(point["at"] for point in points),
            " · ".join(f"{point['cost']:.2f}" for point in points) + f" {curve['unit']}",
            " · ".join(f"{point['pss_bytes'] / 2**20:.0f}" for point in points if point["pss_bytes"]),
            "" if curve["exponent"] is None else f"{curve['exponent']:.2f}",
        )


def kept() -> Result:
    """Return the latest stored measurements."""
    result: Result = json.loads(VALUES.read_text())
    return result


if __name__ == "__main__":
    given: Result = json.loads(Path(sys.argv[1]).read_text())
    print("\n".join(part(given) for part in (budgets, measurements, growth)))
