"""What the driver counted while a GPU was tested: before and after each test, and what is alarming whenever it came.

A pattern test on memory with ECC passes while these climb.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from gputop.core.model.sample import Gpu, XidEvent
from gputop.core.model.xid import XidKind, explained
from gputop.core.probing.result import Data, Finding, Scalar, Status, TestResult, worst

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
    "remapped_rows_pending": "a row is to be remapped: reset the GPU",
    "remapped_rows_failed": "rows cannot be remapped any more: replace the board",
    "retired_pages_pending": "a page is to be retired: reset the GPU",
}
_OWN_END: Final = frozenset({43})  # what an application that was ended leaves: it may have been our worker


class Board(Struct, frozen=True, kw_only=True):
    """What is asked once, at the end. None: the GPU does not tell."""

    banks_without_spares: int | None = None
    sram_exceeded: bool | None = None


Marks = Sequence[tuple[str, Gpu]]
"""The test that had just ended, and the GPU as it was then, in the order of time."""


def counters(before: Gpu, after: Gpu, marks: Marks = (), board: Board = Board()) -> TestResult:  # noqa: B008 - frozen
    """Compare what the driver counted, and say during which test."""
    found = [*_deltas(before, after, marks), *_alarms(after, board), *_xids(before, after, marks)]
    known = [key for key in _DELTAS if _count(after, key) is not None]
    if not known and not found:
        return TestResult(key=COUNTERS, status=Status.SKIP, reason="the driver tells none of the counters")
    status = worst((Status.PASS, *(finding.status for finding in found)))
    return TestResult(key=COUNTERS, status=status, findings=tuple(found), params=_params(before, after))


def _params(before: Gpu, after: Gpu) -> Data:
    """Return all counters: what is not told is None, and why it is not."""
    was: dict[str, Scalar] = {key: _count(before, key) for key in _DELTAS}
    is_: dict[str, Scalar] = {key: _count(after, key) for key in _DELTAS}
    delta: dict[str, Scalar] = {key: _grown(before, after, key) for key in _DELTAS}
    why: dict[str, Scalar] = {
        key: reason.value for key in _DELTAS if is_[key] is None and (reason := after.missing.get(key)) is not None
    }
    return {"before": was, "after": is_, "delta": delta, "missing": why}


def _deltas(before: Gpu, after: Gpu, marks: Marks) -> Iterator[Finding]:
    seconds = max(1.0, (after.read_s or 0.0) - (before.read_s or 0.0))
    for key, (warn, fail) in _DELTAS.items():
        grown = _grown(before, after, key)
        if grown is None or grown <= 0:
            continue
        status = Status.FAIL if fail is not None and grown >= fail else None
        if status is None and warn is not None and grown >= warn:
            status = Status.WARN
        if key == _REPLAYS and status is Status.WARN and grown <= _REPLAYS_PER_MIN * seconds / 60:
            status = None
        if key == _CRC and grown / seconds >= _CRC_PER_S:
            status = Status.FAIL
        if status is not None:
            when = _when(before, marks, after, key)
            yield Finding(
                code=f"counters.{key}", status=status, text=f"{key} went up by {grown} while this GPU was tested{when}",
                data={"before": _count(before, key), "after": _count(after, key)},
            )  # fmt: skip


def _when(before: Gpu, marks: Marks, after: Gpu, key: str) -> str:
    """Say during which tests a counter grew."""
    found, last = [], before
    for test, gpu in marks:
        if grown := _grown(last, gpu, key):
            found.append(f"{test} {grown:+}")
        last = gpu
    if found and (rest := _grown(last, after, key)):
        found.append(f"afterwards {rest:+}")
    return f": {', '.join(found)}" if found else ""


def _alarms(after: Gpu, board: Board) -> Iterator[Finding]:
    for key, text in _ALARMS.items():
        if after.metrics.get(key) is True:
            yield Finding(code=f"counters.{key}", status=Status.FAIL, text=text)
    action = after.metrics.get("recovery_action")
    if isinstance(action, str) and action != "none":
        yield Finding(code="counters.recovery_action", status=Status.FAIL, text=f"the driver asks for: {action}")
    retired = sum(_count(after, key) or 0 for key in _RETIRED)
    if retired >= _RETIRED_WARN:
        status = Status.FAIL if retired >= _RETIRED_FAIL else Status.WARN
        yield Finding(
            code="counters.retired_pages", status=status, text=f"{retired} pages are retired, of 64 there can be"
        )
    remapped = _count(after, "remapped_rows_uncorrectable") or 0
    if remapped >= _REMAPPED_FAIL:
        yield Finding(
            code="counters.remapped_rows", status=Status.FAIL, text=f"{remapped} rows are remapped: replace the board"
        )
    if board.sram_exceeded:
        yield Finding(
            code="counters.sram", status=Status.FAIL, text="SRAM errors are above the board's threshold: replace it"
        )
    if board.banks_without_spares:
        yield Finding(
            code="counters.banks_without_spares", status=Status.WARN,
            text=f"{board.banks_without_spares} banks of memory have no spare row left",
        )  # fmt: skip


def _xids(before: Gpu, after: Gpu, marks: Marks) -> Iterator[Finding]:
    for event in after.xids:
        known = explained(event.xid)
        if event in before.xids or known.kind is XidKind.IGNORE:
            continue
        is_soft = event.xid in _OWN_END or known.kind is XidKind.WATCH
        yield Finding(
            code=f"counters.xid_{event.xid}", status=Status.WARN if is_soft else Status.FAIL,
            text=f"Xid {event.xid}, {known.name}, came {_during(event, marks)}. {known.action}",
            data={"time_s": event.time_s},
        )  # fmt: skip


def _during(event: XidEvent, marks: Marks) -> str:
    test = next((test for test, gpu in marks if event.time_s <= (gpu.read_s or 0.0)), None)
    return f"during {test}" if test else "while it was tested"


def _grown(before: Gpu, after: Gpu, key: str) -> int | None:
    was, is_ = _count(before, key), _count(after, key)
    return None if was is None or is_ is None else is_ - was


def _count(gpu: Gpu, key: str) -> int | None:
    value = gpu.metrics.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
