"""What the driver said of a GPU while it was tested: counters before and after, and power and heat under the soak."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, Final

from gputop.core.metric import Metric
from gputop.core.metrics import (
    CLOCK_SM,
    CLOCK_SM_MAX,
    EVENT_REASONS,
    POWER_AVERAGE,
    POWER_LIMIT,
    POWER_LIMIT_DEFAULT,
    TEMPERATURE,
    TEMPERATURE_MARGIN,
)
from gputop.core.probing.result import Figure, Finding, Scalar, Status, TestResult
from gputop.core.sample import Gpu

COUNTERS: Final = "counters"
_DELTAS: Final = {  # how many more warn, and how many more fail; None: never
    "ecc_volatile_corrected": (1, 100),
    "ecc_volatile_uncorrected": (1, 1),
    "remapped_rows_correctable": (1, 1),
    "remapped_rows_uncorrectable": (1, 1),
    "retired_pages_single_bit": (1, 1),
    "retired_pages_double_bit": (1, 1),
    "pcie_replays": (9, 81),
    "pcie_fatal_errors": (1, 1),
    "nvlink_replay_errors": (1, None),
    "nvlink_recovery_errors": (1, 1),
}
_ALARMS: Final = {
    "remapped_rows_pending": "a row is to be remapped: reset the GPU",
    "remapped_rows_failed": "rows cannot be remapped any more: replace the board",
    "retired_pages_pending": "a page is to be retired: reset the GPU",
}
_HARD: Final = ("hardware slowdown", "hardware thermal", "power brake")
_SOFT: Final = "software thermal"
_IN_A_ROW: Final = 3
_LEAST_SHARE: Final = 0.02
_SOFT_SHARE: Final = 0.20
_MARGIN_C: Final = 5


def counters(before: Gpu, after: Gpu) -> TestResult:
    """Compare what the driver counted. A pattern test on memory with ECC passes while these climb."""
    found = [*_deltas(before, after), *_alarms(after), *_xids(before, after)]
    known = [key for key in _DELTAS if isinstance(after.metrics.get(key), int)]
    if not known and not found:
        return TestResult(key=COUNTERS, status=Status.SKIP, reason="the driver tells none of the counters")
    status = min((finding.status for finding in found), key=lambda one: one.rank, default=Status.PASS)
    params: dict[str, Scalar] = {key: _count(after, key) for key in known}
    return TestResult(key=COUNTERS, status=status, findings=tuple(found), params=dict(params))


def soak(samples: Sequence[Gpu]) -> tuple[tuple[Figure, ...], tuple[Finding, ...]]:
    """Judge power, heat and clocks under load, by samples of the whole soak."""
    late = samples[len(samples) // 2 :]
    figures = tuple(_figures(late))
    findings = [*_throttling(samples), *_power(late), *_heat(late)]
    return figures, tuple(findings)


def _deltas(before: Gpu, after: Gpu) -> Iterator[Finding]:
    for key, (warn, fail) in _DELTAS.items():
        was, is_ = _count(before, key), _count(after, key)
        if was is None or is_ is None or is_ - was < warn:
            continue
        status = Status.FAIL if fail is not None and is_ - was >= fail else Status.WARN
        yield Finding(
            code=f"counters.{key}", status=status, text=f"{key} went up by {is_ - was} while this GPU was tested",
            data={"before": was, "after": is_},
        )  # fmt: skip


def _alarms(after: Gpu) -> Iterator[Finding]:
    for key, text in _ALARMS.items():
        if after.metrics.get(key) is True:
            yield Finding(code=f"counters.{key}", status=Status.FAIL, text=text)
    action = after.metrics.get("recovery_action")
    if isinstance(action, str) and action != "none":
        yield Finding(code="counters.recovery_action", status=Status.FAIL, text=f"the driver asks for: {action}")


def _xids(before: Gpu, after: Gpu) -> Iterator[Finding]:
    for event in after.xids[len(before.xids) :]:
        yield Finding(
            code=f"counters.xid_{event.xid}", status=Status.FAIL, text=f"Xid {event.xid} came while it was tested",
            data={"time_s": event.time_s},
        )  # fmt: skip


def _count(gpu: Gpu, key: str) -> int | None:
    value = gpu.metrics.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _figures(late: Sequence[Gpu]) -> Iterator[Figure]:
    rows: tuple[tuple[str, Metric[Any], str], ...] = (
        ("power", POWER_AVERAGE, "W"), ("clock", CLOCK_SM, "Hz"), ("temperature", TEMPERATURE, "°C"),
    )  # fmt: skip
    for name, metric, unit in rows:
        values = [float(value) for gpu in late if (value := gpu[metric]) is not None]
        if values:
            yield Figure(name=name, value=median(values), unit=unit, n=len(values))


def _throttling(samples: Sequence[Gpu]) -> Iterator[Finding]:
    for reason in (*_HARD, _SOFT):
        marks = [reason in (gpu[EVENT_REASONS] or ()) for gpu in samples]
        share = sum(marks) / len(marks) if marks else 0.0
        if share < _LEAST_SHARE or not _has_run(marks):
            continue
        is_grave = reason in _HARD or share > _SOFT_SHARE
        yield Finding(
            code=f"soak.{reason.replace(' ', '_')}", status=Status.FAIL if is_grave else Status.WARN,
            text=f"clocks were lowered for {reason} in {share:.0%} of the soak", data={"share": share},
        )  # fmt: skip


def _has_run(marks: Sequence[bool]) -> bool:
    return any(all(marks[at : at + _IN_A_ROW]) for at in range(len(marks) - _IN_A_ROW + 1))


def _power(late: Sequence[Gpu]) -> Iterator[Finding]:
    draws = [gpu[POWER_AVERAGE] for gpu in late]
    limits = [gpu[POWER_LIMIT] for gpu in late]
    held = [draw for draw in draws if draw is not None]
    limit = next((one for one in reversed(limits) if one), None)
    if not held or limit is None:
        return
    usual = late[-1][POWER_LIMIT_DEFAULT]
    is_lowered = usual is not None and limit < usual
    if is_lowered:
        yield Finding(
            code="soak.power_limit_lowered",
            status=Status.WARN,
            text=f"its limit is {limit:.0f} W, usual is {usual:.0f} W",
        )
    share = median(held) / limit
    if share >= 0.90:
        return
    clocks = [gpu[CLOCK_SM] for gpu in late if gpu[CLOCK_SM]]
    most = late[-1][CLOCK_SM_MAX]
    is_capped = any("power cap" in (gpu[EVENT_REASONS] or ()) for gpu in late)
    is_slow = bool(clocks and most and median(clock for clock in clocks if clock) < 0.9 * most) and not is_capped
    status = Status.FAIL if share < 0.75 and is_slow and not is_lowered else Status.WARN
    yield Finding(
        code="soak.power", status=status, text=f"it drew {share:.0%} of its limit of {limit:.0f} W under full load",
        data={"share": share, "limit_w": limit},
    )  # fmt: skip


def _heat(late: Sequence[Gpu]) -> Iterator[Finding]:
    margins = [margin for gpu in late if (margin := gpu[TEMPERATURE_MARGIN]) is not None]
    if margins and min(margins) < _MARGIN_C:
        yield Finding(
            code="soak.margin", status=Status.WARN, text=f"{min(margins)} °C were left until it slows itself down"
        )
