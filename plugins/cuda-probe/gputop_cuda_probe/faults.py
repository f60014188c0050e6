"""Faults on purpose: what proves that each detector fires. ``GPUTOP_PROBE_INJECT=flip@gemm.bf16,slow@vote#1``.

A fault is KIND@TEST, for one device only with #NUMBER. TEST may be the beginning of a test's name, up to a dot.
"""

import os
import time
from collections.abc import Mapping
from typing import Final, NamedTuple

VARIABLE: Final = "GPUTOP_PROBE_INJECT"
KINDS: Final = {
    "flip": "one bit of a result or of memory is turned over",
    "odd": "a result is another than that of the siblings, each time",
    "nan": "one element of a result is not a number",
    "alias": "a word of memory takes the content of another address",
    "fade": "a bit of memory is lost while nothing is written",
    "misread": "what is in memory is right, and is read wrongly once",
    "slow": "a figure is a hundred times worse than it is",
    "droop": "the speed of steady load falls as time goes by",
    "hang": "the worker stops",
    "crash": "the worker is aborted",
}
SLOWNESS: Final = 100.0
_FOR_EVER_S: Final = 86_400.0


class Fault(NamedTuple):
    """A fault to inject: its kind, test and device; ``device`` None: on all devices."""

    kind: str
    test: str
    device: int | None


class Faults:
    """The faults that are injected into one test of one device."""

    def __init__(self, faults: tuple[Fault, ...], test: str, index: int) -> None:
        self._kinds = {
            fault.kind
            for fault in faults
            if fault.device in (None, index) and (test == fault.test or test.startswith(f"{fault.test}."))
        }

    def has(self, kind: str) -> bool:
        """Return whether this fault must be injected."""
        return kind in self._kinds

    @property
    def slowness(self) -> float:
        """Return the factor by which a measured time is reported too long."""
        return SLOWNESS if "slow" in self._kinds else 1.0

    def strike(self) -> None:
        """Hang or crash, if that is to happen."""
        if "hang" in self._kinds:
            time.sleep(_FOR_EVER_S)
        if "crash" in self._kinds:
            os.abort()


def read_faults(environment: Mapping[str, str] = os.environ) -> tuple[Fault, ...]:
    """Return what the variable asks for. Raises ValueError: a fault that is never made would prove nothing."""
    return tuple(_fault(word.strip()) for word in environment.get(VARIABLE, "").split(",") if word.strip())


def _fault(word: str) -> Fault:
    kind, at, place = word.partition("@")
    test, sharp, number = place.partition("#")
    if kind not in KINDS or not at or not test or (sharp and not number.isdecimal()):
        raise ValueError(f"{VARIABLE}: {word!r} is not KIND@TEST or KIND@TEST#NUMBER; kinds: {', '.join(KINDS)}")
    return Fault(kind, test, int(number) if sharp else None)
