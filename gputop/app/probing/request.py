"""The request for a probe."""

from typing import Literal, TypeAlias

from msgspec import Struct

from gputop.core.probing.limits import Ceiling
from gputop.core.probing.probe import Level, Probe

BaselineUse: TypeAlias = Literal["save", "compare"]


class ProbeRequest(Struct, frozen=True, kw_only=True):
    """The devices, tests and limits of a probe.

    ``cpus``: test this many CPUs in place of GPUs. ``memory_share`` of the free memory is tested, at most
    ``memory_bytes`` per device. ``min_busbw``: bytes per second that sums over all devices must reach. ``patience_s``:
    the longest silence of a test. ``arguments``: of the command line, for the report.
    """

    probe: Probe
    level: Level = Level.STANDARD
    tests: tuple[str, ...] = ()
    time_s: float | None = None
    memory_share: float = 0.9
    memory_bytes: int | None = None
    python: str | None = None
    cpus: int | None = None
    seed: int = 1
    is_forced: bool = False
    is_strict: bool = False
    is_serial: bool = False
    patience_s: float = 30.0
    baseline: BaselineUse | None = None
    min_busbw: float | None = None
    ceiling: Ceiling = Ceiling()
    arguments: tuple[str, ...] = ()
