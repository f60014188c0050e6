"""The request for a probe."""

from typing import Literal, TypeAlias

from msgspec import Struct

from gputop.core.plugins.tables import PROBES
from gputop.core.probing.limits import Ceiling
from gputop.core.probing.probe import Level, Probe

BaselineUse: TypeAlias = Literal["save", "compare"]


class ProbeRequest(Struct, frozen=True, kw_only=True):
    """The devices, tests and limits of a probe.

    ``cpus``: test this many CPUs in place of GPUs. ``memory``: the share of the free memory to test, and the most bytes
    per device; None: as the level has it. ``min_busbw``: bytes per second that sums over all devices must reach.
    ``patience_s``: how long a test may be silent. ``json``, ``junit``: files for the report. ``is_controlled``: report
    the progress as lines of JSON, and stop when stdin closes.
    """

    demo: str | None = None
    gpus: tuple[str, ...] = ()
    cpus: int | None = None
    read_only: bool = False
    level: Level
    tests: tuple[str, ...]
    time_s: float | None = None
    memory: tuple[float, int | None] | None = None
    python: str | None = None
    seed: int
    is_forced: bool
    is_strict: bool
    is_serial: bool
    patience_s: float
    baseline: BaselineUse | None = None
    min_busbw: float | None = None
    ceiling: Ceiling
    json: str | None = None
    junit: str | None = None
    is_controlled: bool

    @property
    def probe(self) -> Probe:
        """Return the probe: the first one that a plugin provides."""
        return PROBES[0]
