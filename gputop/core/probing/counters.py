"""The driver's error counters during a probe, compared before and after each test, and alarms that always count.

A pattern test on memory with ECC passes while these counters rise.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.model.sample import Gpu, XidEvent
from gputop.core.model.xid import XidKind, explained
from gputop.core.probing.result import Data, Scalar, TestFinding, TestResult, TestStatus, with_findings

COUNTERS: Final = "counters"
_DELTAS: Final = {  # how many more warn, and how many more fail; None: never
    "ecc_volatile_corrected": (1, 100),
    "ecc_volatile_uncorrected": (1, 1),
    "remapped_rows_correctable": (1, 1),
    "remapped_rows_uncorrectable": (1, 1),
    "retired_pages_single_bit": (1, 1),
    "retired_pages_double_bit": (1, 1),
    "pcie_replays": (9, 81),
    "pcie_correctable_errors": (None, None),
    "pcie_non_fatal_errors": (1, None),
    "pcie_fatal_errors": (1, 1),
    "nvlink_links_down": (1, 1),
    "nvlink_replay_errors": (1, None),
    "nvlink_recovery_errors": (1, 1),
    "nvlink_crc_errors": (None, None),
}
_REPLAYS: Final = "pcie_replays"
_REPLAYS_PER_MIN: Final = 8
_CRC: Final = "nvlink_crc_errors"
_CRC_PER_S: Final = 100
_RETIRED: Final = ("retired_pages_single_bit", "retired_pages_double_bit")
_RETIRED_WARN: Final = 15
_RETIRED_FAIL: Final = 63
_REMAPPED_FAIL: Final = 512
_ALARMS: Final = {
    "remapped_rows_pending": "row remap pending: reset the GPU",
    "remapped_rows_failed": "row remap failed: replace the board",
    "retired_pages_pending": "page retirement pending: reset the GPU",
}
_OWN_END: Final = frozenset({43})  # what an application that was ended leaves: it may have been our worker


class Board(Struct, frozen=True, kw_only=True):
    """Readings taken once at the end. None: the GPU does not report it."""

    banks_without_spares: int | None = None
    sram_exceeded: bool | None = None


Marks = Sequence[tuple[str, Gpu]]
"""The tests that ended and the GPU's readings at that time, in order of time."""


def counters(before: Gpu, after: Gpu, marks: Marks = (), board: Board = Board()) -> TestResult:  # noqa: B008 - frozen
    """Compare the driver's counters before and after, and name the tests during which they grew."""
    found = [*_deltas(before, after, marks), *_alarms(after, board), *_xids(before, after, marks)]
    known = [key for key in _DELTAS if _count(after, key) is not None]
    if not known and not found:
        return TestResult(key=COUNTERS, status=TestStatus.SKIP, reason="the driver reports none of the counters")
    return with_findings(TestResult(key=COUNTERS, status=TestStatus.PASS, params=_params(before, after)), found)


def _params(before: Gpu, after: Gpu) -> Data:
    """Return all counters; None if not reported, with the reason under ``missing``."""
    was: dict[str, Scalar] = {key: _count(before, key) for key in _DELTAS}
    is_: dict[str, Scalar] = {key: _count(after, key) for key in _DELTAS}
    delta: dict[str, Scalar] = {key: _grown(before, after, key) for key in _DELTAS}
    why: dict[str, Scalar] = {
        key: reason.value for key in _DELTAS if is_[key] is None and (reason := after.missing.get(key)) is not None
    }
    return {"before": was, "after": is_, "delta": delta, "missing": why}


def _deltas(before: Gpu, after: Gpu, marks: Marks) -> Iterator[TestFinding]:
    seconds = max(1.0, (after.read_s or 0.0) - (before.read_s or 0.0))
    for key, (warn, fail) in _DELTAS.items():
        grown = _grown(before, after, key)
        if grown is None or grown <= 0:
            continue
        status = TestStatus.WARN if warn is not None and grown >= warn else None
        if fail is not None and grown >= fail:
            status = TestStatus.FAIL
        if key == _REPLAYS and status is TestStatus.WARN and grown <= _REPLAYS_PER_MIN * seconds / 60:
            status = None
        if key == _CRC and grown / seconds >= _CRC_PER_S:
            status = TestStatus.FAIL
        if status is not None:
            when = _when(before, marks, after, key)
            yield TestFinding(
                f"counters.{key}", status, f"{key} rose by {grown} during the probe{when}",
                {"before": _count(before, key), "after": _count(after, key)},
            )  # fmt: skip


def _when(before: Gpu, marks: Marks, after: Gpu, key: str) -> str:
    """Return the tests during which a counter grew, as text."""
    found, last = [], before
    for test, gpu in marks:
        if grown := _grown(last, gpu, key):
            found.append(f"{test} {grown:+}")
        last = gpu
    if found and (rest := _grown(last, after, key)):
        found.append(f"afterwards {rest:+}")
    return f": {', '.join(found)}" if found else ""


def _alarms(after: Gpu, board: Board) -> Iterator[TestFinding]:
    action = after.metrics.get("recovery_action")
    retired = sum(_count(after, key) or 0 for key in _RETIRED)
    remapped, banks = _count(after, "remapped_rows_uncorrectable") or 0, board.banks_without_spares
    fail, warn = TestStatus.FAIL, TestStatus.WARN
    rows = (
        *((key, after.metrics.get(key) is True, fail, text) for key, text in _ALARMS.items()),
        ("recovery_action", action not in (None, "none"), fail, f"the driver requests a recovery action: {action}"),
        ("retired_pages", retired >= _RETIRED_WARN, fail if retired >= _RETIRED_FAIL else warn,
         f"{retired} of at most 64 memory pages are retired"),
        ("remapped_rows", remapped >= _REMAPPED_FAIL, fail, f"{remapped} memory rows are remapped: replace the board"),
        ("sram", board.sram_exceeded, fail, "SRAM errors exceed the board's threshold: replace the board"),
        ("banks_without_spares", banks, warn, f"{banks} memory banks have no spare rows left"),
    )  # fmt: skip
    return (TestFinding(f"counters.{key}", status, text) for key, is_so, status, text in rows if is_so)


def _xids(before: Gpu, after: Gpu, marks: Marks) -> Iterator[TestFinding]:
    for event in after.xids:
        known = explained(event.xid)
        if event in before.xids or known.kind is XidKind.IGNORE:
            continue
        is_soft = event.xid in _OWN_END or known.kind is XidKind.WATCH
        yield TestFinding(
            f"counters.xid_{event.xid}", TestStatus.WARN if is_soft else TestStatus.FAIL,
            f"Xid {event.xid}, {known.name}, {_during(event, marks)}. {known.action}", {"time_s": event.time_s},
        )  # fmt: skip


def _during(event: XidEvent, marks: Marks) -> str:
    test = next((test for test, gpu in marks if event.time_s <= (gpu.read_s or 0.0)), None)
    return f"during {test}" if test else "during the probe"


def _grown(before: Gpu, after: Gpu, key: str) -> int | None:
    was, is_ = _count(before, key), _count(after, key)
    return None if was is None or is_ is None else is_ - was


def _count(gpu: Gpu, key: str) -> int | None:
    value = gpu.metrics.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
