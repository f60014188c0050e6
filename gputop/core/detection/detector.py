"""What a detector is: it looks at samples one after the other and tells what it sees in each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from gputop.core.model.finding import Judgement
from gputop.core.model.sample import Gpu, HostProcess, Job, Sample


class Claim(Judgement, frozen=True, kw_only=True, gc=False):
    """What a detector sees now. The `Judge` makes findings of claims that last.

    Return the same claim again while nothing changes: that is the cheapest way.

    ``began_s``: the `Context.now_s` at which it began, if the detector knows; None: at the first claim.
    ``hold_s``: how long the finding stays after the last claim.
    """

    began_s: float | None = None
    hold_s: float = 10.0


class Context(Struct, frozen=True, kw_only=True):
    """What detectors get to see. Everything comes from the sample; there is no clock but this.

    ``number``: of this look. Nobody keeps a look: its sample would stay with it.
    ``now_s``: seconds that were observed so far: it never goes back, and stands still while nobody looked. ``step_s``:
    by how much it grew, 0 at the first look. ``is_gap``: something was missed before this look (a late sampler, a
    suspended machine, a changed clock): what has to last without a break starts again.
    ``due``: the processes whose turn it is; all of them on a usual box, a share of them on a crowded one, where each
    comes every ``round_s`` seconds: measure time from look to look of the same process, never by counting looks.
    ``relatives``: children without a GPU, by the pid of their parent.
    ``shared``: what several detectors of the same judge work out together, by its type; it stays from look to look.
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
        """Return the seconds since the epoch of an instant of ``now_s``, as seen from this look."""
        return self.sample.time_s - (self.now_s - now_s)


class Detector(Protocol):
    """Answers one question. Keeps bounded memory per process and GPU, and forgets who is gone for a minute."""

    def detect(self, context: Context) -> Iterable[Claim]:
        """Return what is seen now."""
        ...


class Dial(Struct, frozen=True):
    """A threshold that can be set: ``[detectors.leak]`` ``least_growth_bytes = 134217728``. The unit is in the key."""

    key: str
    default: float
    least: float
    most: float
    help: str


def settled(dials: Iterable[Dial], given: Mapping[str, float]) -> dict[str, float]:
    """Return all dials, those that are not given at their defaults."""
    return {dial.key: given.get(dial.key, dial.default) for dial in dials}


class Kind(Struct, frozen=True, kw_only=True):
    """A detector as the table of contents lists it. ``codes``: of the findings that it can make, with their meaning.

    ``remedies``: by code, what to do, with keys and commands in backquotes; of a finding its own remedy is more exact.
    ``is_instant``: it can tell something from one or two samples, so that a snapshot asks it as well.
    """

    name: str
    question: str
    codes: Mapping[str, str]
    remedies: Mapping[str, str] = {}
    dials: tuple[Dial, ...] = ()
    is_instant: bool = False

    def settled(self, given: Mapping[str, float]) -> dict[str, float]:
        """Return all dials, those that are not given at their defaults."""
        return settled(self.dials, given)


FORGET_S: Final = 60.0
"""For how long a detector remembers a process or GPU that is no longer there: the driver's lists flicker."""
