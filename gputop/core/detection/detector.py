"""The detector: it takes one sample after the other and makes claims about each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from gputop.core.model.finding import Judgement
from gputop.core.model.sample import Gpu, HostProcess, Job, Sample


class Claim(Judgement, frozen=True, kw_only=True, gc=False):
    """A claim of a detector about the present sample. The `Judge` makes findings of claims that last.

    Return the same object again while nothing changes: that is cheapest.

    ``began_s``: the `Context.now_s` at which it began, if the detector knows; None means the first claim.
    ``hold_s``: how long the finding stays after the last claim.
    """

    began_s: float | None = None
    hold_s: float = 10.0


class Context(Struct, frozen=True, kw_only=True):
    """The input of detectors. Everything comes from the sample; there is no other clock.

    ``sample``, ``gpus``, ``due``: without single bad readings (see `Steady`), so a detector need not expect them.
    ``number``: of this sample. Do not keep a context: it would keep its sample alive.
    ``now_s``: seconds of observation so far; it never goes back, and does not grow during gaps. ``step_s``: its growth
    since the previous sample, 0 at the first. ``is_gap``: samples are missing before this one (a suspended machine, a
    changed clock): durations continue where they were, and counters of the driver are compared from here on.
    ``due``: the processes to judge now: usually all; with very many processes a share of them, so that each is due
    every ``round_s`` seconds. Measure time between two samples of the same process; never count samples.
    ``relatives``: children without a GPU, by the pid of their parent.
    ``shared``: values that several detectors of a judge share, by type; they stay from sample to sample.
    """

    number: int
    now_s: float
    step_s: float
    is_gap: bool
    sample: Sample
    jobs: tuple[Job, ...]
    due: tuple[HostProcess, ...]
    round_s: float
    gpus: Mapping[str, Gpu]
    relatives: Mapping[int, Sequence[HostProcess]]
    shared: dict[type, object] = {}

    def epoch_s(self, now_s: float) -> float:
        """Return an instant of ``now_s`` in seconds since the epoch."""
        return self.sample.time_s - (self.now_s - now_s)


class Detector(Protocol):
    """Answers one question. It keeps bounded memory per process and GPU, and forgets those absent for a minute."""

    def detect(self, context: Context) -> Iterable[Claim]:
        """Return the claims about this sample."""
        ...


class Dial(Struct, frozen=True):
    """A threshold that users can set: ``[detectors.leak]`` ``least_growth_bytes = 134217728``. The key has the unit."""

    key: str
    default: float
    least: float
    most: float
    help: str


def settled(dials: Iterable[Dial], given: Mapping[str, float]) -> dict[str, float]:
    """Return the values of all dials, with defaults for those that are not given."""
    return {dial.key: given.get(dial.key, dial.default) for dial in dials}


class Kind(Struct, frozen=True, kw_only=True):
    """A detector in the registry. ``codes``: of its findings, with their meaning.

    ``remedies``: what to do, by code, with keys and commands in backquotes; the remedy of a finding is more exact.
    ``is_instant``: one or two samples are enough, so a snapshot runs it too.
    """

    name: str
    question: str
    codes: Mapping[str, str]
    remedies: Mapping[str, str] = {}
    dials: tuple[Dial, ...] = ()
    is_instant: bool = False

    def settled(self, given: Mapping[str, float]) -> dict[str, float]:
        """Return the values of all dials, with defaults for those that are not given."""
        return settled(self.dials, given)


FORGET_S: Final = 60.0
"""How long a detector remembers an absent process or GPU: the lists of the driver flicker."""
