"""The metrics of one GPU: each from the first origin that the GPU supports, in as few calls as possible."""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from gputop.core.model.catalogue import CATALOGUE
from gputop.core.model.metric import ONCE, Field, FieldRate, Gpm, Metric, Missing, NvmlCall, Origin, Reading
from gputop.core.model.sample import MetricValue, Reasons
from gputop.machine.gpu import readings
from gputop.machine.gpu.gpm import GpmReader
from gputop.machine.nvml import codes
from gputop.machine.nvml.driver import LASTING, Driver, Handle, reason

_STAGGER: Final = 0.13  # of an interval, per index: slow readings of many GPUs must not fall on the same second

_ORIGINS: Final = {metric.key: metric.origins for metric in CATALOGUE}
_BY_CADENCE: Final = {
    cadence: tuple(metric for metric in CATALOGUE if metric.every_s == cadence)
    for cadence in sorted({metric.every_s for metric in CATALOGUE})
}

FieldAnswer: TypeAlias = Missing | tuple[float, int]  # the value, and its timestamp in µs

_ODD: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # an answer of an unexpected shape


class GpuLostError(Exception):
    """The GPU does not answer any more: it fell off the bus or needs a reset."""


class MetricReader:
    """The metrics of a GPU, kept from reading to reading; a metric that is not due keeps its value."""

    def __init__(self, driver: Driver, handle: Handle, index: int) -> None:
        self._driver = driver
        self._handle = handle
        self._index = index
        self.forget()

    def forget(self) -> None:
        """Start again, because a change of the MIG mode may change the supported metrics."""
        self._gpm = GpmReader(self._driver, self._handle)
        self._origins = _ORIGINS.copy()
        self._due: dict[float, float] = {}
        self._pending: list[Metric[Any]] = []  # a metric that needs a second reading does not wait for its turn
        self._counters: dict[str, tuple[float, int]] = {}
        self._values: dict[str, MetricValue] = dict.fromkeys(_ORIGINS)
        self._missing: Reasons = dict.fromkeys(_ORIGINS, Missing.NOT_YET)
        self._by_cadence = _BY_CADENCE.copy()

    def hasten(self) -> None:
        """Read all metrics in the next reading, also those that are not due."""
        self._due = {cadence: due for cadence, due in self._due.items() if cadence == ONCE}

    def read(self, now: float) -> tuple[dict[str, MetricValue], Reasons]:
        """Read the metrics that are due at ``now`` (monotonic seconds); return values, and reasons of absent ones.

        Raises `GpuLostError`.
        """
        self._answers: dict[tuple[Any, ...], Any] = {}
        wanted = [metric for cadence in self._take_due(now) for metric in self._by_cadence[cadence]]
        wanted += [metric for metric in self._pending if metric not in wanted]
        self._pending = []
        while wanted:
            wanted = self._read(wanted, now)
        return self._values.copy(), self._missing.copy()

    def ask(self, name: str, *args: Any) -> Any:
        """Call the driver; an identical call is made once per reading. Raises `GpuLostError`."""
        question = (name, *args)
        answer = self._answers.get(question)
        if answer is None:
            answer = self._answers[question] = self._driver.ask(name, self._handle, *args)
            if answer is Missing.LOST:
                raise GpuLostError
        return answer

    def _take_due(self, now: float) -> list[float]:
        due = [cadence for cadence in self._by_cadence if now >= self._due.get(cadence, now)]
        for cadence in due:
            if cadence not in self._due and 0 < cadence < ONCE:
                self._due[cadence] = now + cadence * (1 + self._index * _STAGGER % 1)
            else:
                self._due[cadence] = now + cadence
        return due

    def _read(self, metrics: list[Metric[Any]], now: float) -> list[Metric[Any]]:
        """Read these metrics; return those to try again with their next origin."""
        origins = [self._origins[metric.key][0] for metric in metrics]
        fields = self._fields({(o.id, o.scope): None for o in origins if type(o) is Field or type(o) is FieldRate})
        ids = tuple([o.id for o in origins if type(o) is Gpm])
        gpm = self._gpm.read(ids, now) if ids else {}
        again = []
        for metric, origin in zip(metrics, origins, strict=True):
            try:
                value = self._value(metric, origin, fields, gpm)
            except _ODD:
                value = Missing.FAULT
            if type(value) is not Missing:
                self._keep(metric, value)
            elif value is Missing.LOST:
                raise GpuLostError
            elif value in LASTING and self._drop(metric):
                again.append(metric)
            else:
                self._lack(metric, value)
        return again

    def _value(
        self,
        metric: Metric[Any],
        origin: Origin,
        fields: dict[tuple[int, int], FieldAnswer],
        gpm: dict[int, float | Missing],
    ) -> Any:
        if type(origin) is NvmlCall:  # `type` costs a tenth of `isinstance`, for structs and for an enum
            answer = self.ask(origin.name, *origin.args)
            return answer if type(answer) is Missing else origin.to(answer)
        if type(origin) is Gpm:
            share = gpm[origin.id]
            return share if type(share) is Missing else origin.to(share)
        if type(origin) is Reading:
            return getattr(readings, origin.name)(self.ask)
        answer = fields[origin.id, origin.scope]
        if type(answer) is Missing:
            return answer
        number, time_us = answer
        return origin.to(number) if type(origin) is Field else self._rate(metric, origin, number, time_us)

    def _fields(self, wanted: Iterable[tuple[int, int]]) -> dict[tuple[int, int], FieldAnswer]:
        """Fetch all these field values in one call."""
        ids = tuple(wanted)
        if not ids:
            return {}
        answer = self.ask("nvmlDeviceGetFieldValues", ids)
        if isinstance(answer, Missing):
            return dict.fromkeys(ids, answer)
        values = zip(ids, answer, strict=True)
        return {one: _field_reason(code) if code else (number, time_us) for one, (code, number, time_us) in values}

    def _rate(self, metric: Metric[Any], origin: FieldRate, number: float, time_us: int) -> float | Missing:
        """Return the growth per second; start again after a counter went back (reset, reload, overflow)."""
        key, before = metric.key, self._counters.get(metric.key)
        if before is not None and time_us == before[1]:
            value = self._values[key]  # the driver has not updated it
            return value if isinstance(value, float) else Missing.NOT_YET
        self._counters[key] = (number, time_us)
        if before is None or number < before[0] or time_us < before[1]:
            return Missing.NOT_YET
        return origin.to((number - before[0]) / (time_us - before[1]) * 1_000_000)

    def _keep(self, metric: Metric[Any], value: Any) -> None:
        if value is None:
            self._lack(metric, Missing.UNSUPPORTED)
        elif not metric.unit.allows(value):
            self._lack(metric, Missing.FAULT)
        else:
            self._values[metric.key] = value
            self._missing.pop(metric.key, None)

    def _lack(self, metric: Metric[Any], why: Missing) -> None:
        self._values[metric.key] = None
        self._missing[metric.key] = why
        if why is Missing.NOT_YET:
            self._pending.append(metric)

    def _drop(self, metric: Metric[Any]) -> bool:
        """Never use this origin again; return whether there is another one to try."""
        rest = self._origins[metric.key][1:]
        if rest:
            self._origins[metric.key] = rest
            return True
        cadence = metric.every_s
        self._by_cadence[cadence] = tuple(m for m in self._by_cadence[cadence] if m is not metric)
        return False


def _field_reason(code: int) -> Missing:
    """Return why a field has no value; drivers before R525 call a field that they do not know an invalid argument."""
    return Missing.OUTDATED if code == codes.INVALID_ARGUMENT else reason(code)
