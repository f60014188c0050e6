"""Comparison of GPUs of one model: differing bits, slow figures, high temperatures, and their explanations."""

from collections.abc import Iterable, Iterator, Mapping
from statistics import median
from typing import Final

from gputop.core.probing.probe import Measure, Probe
from gputop.core.probing.result import DeviceResult, Figure, TestFinding, TestStatus

_MANY: Final = 3  # from here on a median means something
_SOAK: Final = "soak"
_WARMER_C: Final = 10.0

Shares = Mapping[tuple[str, str, str], float]
"""The ratio of each figure to its siblings, by uuid, test and figure."""


def votes(devices: Iterable[DeviceResult]) -> dict[tuple[str, str], str]:
    """Return the digest of the majority, by model and product; empty without a majority."""
    ballots: dict[tuple[str, str], list[str]] = {}
    for device in devices:
        for test in device.tests:
            for key, value in test.digests.items():
                ballots.setdefault((kin(device), key), []).append(value)
    found = {}
    for place, values in ballots.items():
        most = max(set(values), key=values.count)
        found[place] = most if values.count(most) * 2 > len(values) else ""
    return found


def shares(devices: list[DeviceResult], probe: Probe) -> dict[tuple[str, str, str], float]:
    """Return each figure's ratio to its siblings: to their median, or to the better one of two."""
    measures = {(test.key, m.name): m for test in probe.tests for m in test.measures}
    held: dict[tuple[str, str, str], list[tuple[str, float]]] = {}
    for device in devices:
        for test in device.tests:
            for figure in test.figures:
                held.setdefault((kin(device), test.key, figure.name), []).append((device.uuid, figure.value))
    found = {}
    for (_, key, name), values in held.items():
        measure = measures.get((key, name.partition(".")[0]))
        if measure is None or len(values) < 2:
            continue
        usual = middle(measure, [value for _, value in values])
        for uuid, value in values:
            if ratio := ratio_of(measure, value, usual):
                found[uuid, key, name] = ratio
    return found


def group(figure: Figure) -> str:
    """Return the name of the measure that a figure is judged by."""
    return figure.name.partition(".")[0]


def middle(measure: Measure, values: list[float]) -> float:
    """Return the reference of siblings: their median, or the better one of two."""
    if len(values) >= _MANY:
        return median(values)
    return min(values) if measure.is_cost else max(values)


def kin(device: DeviceResult) -> str:
    """Return the key that siblings share. MIG instances have no siblings: their neighbours slow them down."""
    own = device.uuid if device.uuid.startswith("MIG-") else ""
    return "/".join((device.kind, device.name, device.torch, device.cuda, str(device.total_bytes), own))


def ratio_of(measure: Measure, value: float, other: float) -> float | None:
    """Return the ratio of speeds: above 1 is better, also for costs."""
    if value <= 0 or other <= 0:
        return None
    return other / value if measure.is_cost else value / other


def warm(device: DeviceResult, devices: Iterable[DeviceResult]) -> Iterator[TestFinding]:
    """Yield a finding if a device was much warmer under load than its siblings, which points to its cooling."""
    own = _temperature(device)
    held = [value for other in devices if kin(other) == kin(device) and (value := _temperature(other)) is not None]
    if own is None or len(held) < 2:
        return
    usual = median(held) if len(held) >= _MANY else min(held)
    if own - usual > _WARMER_C:
        text = f"temperature {own:.0f} °C, its siblings {usual:.0f} °C: check its cooling"
        yield TestFinding("straggler.temperature", TestStatus.WARN, text, {"value": own, "siblings": usual})


def explanation(device: DeviceResult, held: Shares) -> str:
    """Return the likely explanation of a device slower than its siblings: low clocks, or a reason for them."""
    share = held.get((device.uuid, _SOAK, "clock"))
    found = [f"its clock is {share:.0%} of theirs"] if share is not None and share < 1 else []
    reasons = ("soak.hardware", "soak.software", "soak.power_", "link.", "straggler.temperature")
    found += [f.text for test in device.tests for f in test.findings if f.code.startswith(reasons)]
    return "".join(f"; {text}" for text in dict.fromkeys(found))


def _temperature(device: DeviceResult) -> float | None:
    tests = (test for test in device.tests if test.key == _SOAK)
    return next((figure.value for test in tests for figure in test.figures if figure.name == "temperature"), None)
