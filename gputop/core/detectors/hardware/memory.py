"""Faults of GPU memory: uncorrected errors, replaced rows, retired pages."""

from collections.abc import Iterator, Mapping
from typing import Final

from gputop.core.detection.detector import Claim, Context
from gputop.core.detectors.counters import EachGpu, Growth, starts_again
from gputop.core.detectors.subjects import gpu_claim
from gputop.core.model.catalogue import (
    ECC_VOLATILE_CORRECTED,
    ECC_VOLATILE_UNCORRECTED,
    REMAPPED_ROWS_FAILED,
    REMAPPED_ROWS_PENDING,
    REMAPPED_ROWS_UNCORRECTABLE,
    RETIRED_PAGES_DOUBLE,
    RETIRED_PAGES_PENDING,
    RETIRED_PAGES_SINGLE,
)
from gputop.core.model.finding import Evidence, Stage
from gputop.core.model.sample import Gpu
from gputop.core.model.units import duration_text

_DAY_S: Final = 86_400.0
_RESET: Final = "When nothing runs on the GPU, reset it: sudo nvidia-smi --gpu-reset -i {n}"
_REPLACE: Final = "Take the GPU out of service and have the board replaced. For the vendor: nvidia-smi -q -i {n}, "
"nvidia-bug-report.sh"


class _Counted:
    """The counters of a GPU."""

    def __init__(self) -> None:
        self.corrected, self.uncorrected, self.pages = Growth(_DAY_S), Growth(_DAY_S), Growth(7 * _DAY_S)

    def take(self, gpu: Gpu, context: Context) -> None:
        """Add what the GPU says."""
        is_new = starts_again(gpu, context)
        for growth, value in (
            (self.corrected, gpu[ECC_VOLATILE_CORRECTED]),
            (self.uncorrected, gpu[ECC_VOLATILE_UNCORRECTED]),
            (self.pages, _pages(gpu)),
        ):
            if is_new:
                growth.forget()
            growth.add(context.now_s, value)


class MemoryWatch:
    """Checks counters that hardly ever change: mostly any value but 0 is a fault."""

    def __init__(self, dials: Mapping[str, float]) -> None:
        self._dials = dials
        self._counted = EachGpu(_Counted)

    def detect(self, context: Context) -> Iterator[Claim]:
        """Return a claim per fault."""
        for gpu in context.sample.gpus:
            counted = self._counted.of(gpu.uuid, context.now_s)
            counted.take(gpu, context)
            yield from _uncorrected(gpu, counted.uncorrected)
            yield from self._corrected(gpu, counted.corrected)
            yield from self._rows(gpu)
            yield from self._pages_of(gpu, counted.pages)
        self._counted.forget(context.now_s)

    def _corrected(self, gpu: Gpu, growth: Growth) -> Iterator[Claim]:
        grown, span_s = growth.over(_DAY_S)
        if grown > self._dials["corrected_a_day"]:
            yield gpu_claim(
                gpu, "ecc.corrected", Stage.OBSERVATION,
                f"{grown:.0f} memory errors in {duration_text(span_s)}, all corrected",
                Evidence(
                    "ecc_corrected_grown", grown, f"{grown:.0f} memory errors in {duration_text(span_s)}",
                    f"at most {self._dials['corrected_a_day']:.0f} a day",
                ),
                "No data is lost. Check again tomorrow: gputop doctor. If the number grows, plan to replace the board.",
            )  # fmt: skip

    def _rows(self, gpu: Gpu) -> Iterator[Claim]:
        replaced = gpu[REMAPPED_ROWS_UNCORRECTABLE]
        if gpu[REMAPPED_ROWS_FAILED]:
            yield gpu_claim(
                gpu, "remap.failed", Stage.ALARM, "a bad memory row could not be replaced: no spare row is left",
                Evidence("remapped_rows_failed", value=True, text="the driver reports: row remap failure"), _REPLACE,
            )  # fmt: skip
        if gpu[REMAPPED_ROWS_PENDING]:
            yield gpu_claim(
                gpu, "remap.pending", Stage.SUSPECT, "a bad memory row will be replaced at the next reset",
                Evidence("remapped_rows_pending", value=True, text="the driver reports: row remap pending"), _RESET,
            )  # fmt: skip
        if replaced is not None and replaced >= self._dials["most_remaps"]:
            yield gpu_claim(
                gpu, "remap.many", Stage.ALARM, f"{replaced} memory rows were replaced after uncorrected errors",
                Evidence("remapped_rows_uncorrectable", replaced, f"{replaced} memory rows", 0), _REPLACE,
            )  # fmt: skip

    def _pages_of(self, gpu: Gpu, growth: Growth) -> Iterator[Claim]:
        if gpu[RETIRED_PAGES_PENDING]:
            yield gpu_claim(
                gpu, "retired.pending", Stage.SUSPECT, "bad memory pages will be retired at the next reset",
                Evidence("retired_pages_pending", value=True, text="the driver reports: page retirement pending"),
                _RESET,
            )  # fmt: skip
        pages, double = _pages(gpu), gpu[RETIRED_PAGES_DOUBLE] or 0
        if pages is None or pages < self._dials["many_pages"]:
            return
        grown, span_s = growth.over(7 * _DAY_S)
        is_worn = pages >= self._dials["most_pages"] or (grown > 0 and double > self._dials["many_pages"])
        more = f", {grown:.0f} more in {duration_text(span_s)}" if grown else ""
        yield gpu_claim(
            gpu, "retired.many", Stage.ALARM if is_worn else Stage.OBSERVATION,
            f"{pages} memory pages are retired{more}",
            Evidence("retired_pages", pages, f"{pages} pages, {double} of them after an uncorrected error", 0),
            _REPLACE if is_worn else "Plan to replace the board: nvidia-smi -q -d PAGE_RETIREMENT -i {n}",
        )  # fmt: skip


def _uncorrected(gpu: Gpu, growth: Growth) -> Iterator[Claim]:
    count = gpu[ECC_VOLATILE_UNCORRECTED]
    if not count:
        return
    grown, span_s = growth.over(_DAY_S)
    errors = "1 uncorrectable memory error" if count == 1 else f"{count} uncorrectable memory errors"
    while_watched = f", {grown:.0f} of them in the last {duration_text(span_s)}" if grown else ""
    yield gpu_claim(
        gpu, "ecc.uncorrected", Stage.ALARM,
        f"{errors} (ECC) since the driver was loaded{while_watched}",
        Evidence("ecc_volatile_uncorrected", count, errors, 0),
        f"Do not trust results from this GPU. {_RESET}. If it happens again, have the board replaced.",
    )  # fmt: skip


def _pages(gpu: Gpu) -> int | None:
    single, double = gpu[RETIRED_PAGES_SINGLE], gpu[RETIRED_PAGES_DOUBLE]
    return None if single is None or double is None else single + double
