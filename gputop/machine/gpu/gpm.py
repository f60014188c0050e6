"""GPM: the activity of the chip between two samples, of a whole GPU or of a GPU instance. Hopper and newer."""

from typing import Any, Final

from gputop.core.model.metric import Missing
from gputop.machine.nvml.driver import LASTING, Driver, Handle, reason

_LEAST_S: Final = 0.1  # the driver updates its samples about every 100 ms


class GpmReader:
    """Keeps two samples and swaps them, so that one driver call per reading is enough."""

    def __init__(self, driver: Driver, handle: Handle, instance: int | None = None) -> None:
        self._driver = driver
        self._handle = handle
        self._instance = instance
        self._is_supported: bool | Missing = Missing.NOT_YET
        self._older: Any = None
        self._spare: Any = None
        self._older_s = 0.0

    def read(self, ids: tuple[int, ...], now: float) -> dict[int, float | Missing]:
        """Return a value or a reason for each metric id. The first reading has no values yet."""
        if isinstance(self._is_supported, Missing) and self._is_supported not in LASTING:
            self._is_supported = self._driver.ask("nvmlGpmQueryDeviceSupport", self._handle)
        if self._is_supported is not True:
            return dict.fromkeys(ids, self._is_supported or Missing.UNSUPPORTED)
        if self._older is not None and now - self._older_s < _LEAST_S:
            return dict.fromkeys(ids, Missing.NOT_YET)
        newer = self._sample()
        if isinstance(newer, Missing):
            return dict.fromkeys(ids, newer)
        older, self._older, self._older_s, self._spare = self._older, newer, now, self._older
        if older is None:
            return dict.fromkeys(ids, Missing.NOT_YET)
        return self._between(older, newer, ids)

    def _sample(self) -> Any:
        sample = self._spare if self._spare is not None else self._driver.ask("nvmlGpmSampleAlloc")
        if isinstance(sample, Missing):
            return sample
        if self._instance is None:
            answer = self._driver.ask("nvmlGpmSampleGet", self._handle, sample)
        else:
            answer = self._driver.ask("nvmlGpmMigSampleGet", self._handle, self._instance, sample)
        self._spare = sample
        return answer if isinstance(answer, Missing) else sample

    def _between(self, older: Any, newer: Any, ids: tuple[int, ...]) -> dict[int, float | Missing]:
        answer = self._driver.ask("nvmlGpmMetricsGet", older, newer, ids)
        if isinstance(answer, Missing):
            return dict.fromkeys(ids, answer)
        return {
            metric_id: reason(code) if code else value for metric_id, (code, value) in zip(ids, answer, strict=True)
        }
