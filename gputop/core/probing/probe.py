"""A probe as a row: the tests that a worker program can run on a device, and by what their figures are judged.

The worker is a program of its own: gputop starts it, sends it a plan, and reads events (``docs/probe.md``). gputop
imports nothing of it.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

PROTOCOL: Final = 1
"""The version of what is said between gputop and a worker."""


class Level(str, Enum):
    """How long and how much is tested."""

    QUICK = "quick"
    STANDARD = "standard"
    LONG = "long"
    SOAK = "soak"


class Purpose(str, Enum):
    """What a test is for. A device passes only if a test of correctness ran to its end."""

    CORRECTNESS = "correctness"
    SPEED = "speed"
    HEALTH = "health"


class Measure(Struct, frozen=True, kw_only=True):
    """A figure that a test reports, and what is asked of it. Of pairs the first warns, the second fails.

    ``name``: that of the figure, or what it begins with, up to a dot: figures of a test over all devices are
    ``peer.0-1``, ``peer.1-0``, and siblings of each other.
    ``siblings``: least share of the median of GPUs of one model. ``expected``: the column of the reference table.
    ``most``: the most that it may be, in its unit. ``is_cost``: less is better, and shares are turned over.
    """

    name: str
    siblings: tuple[float, float] | None = (0.95, 0.90)
    expected: str = ""
    most: tuple[float, float] | None = None
    is_cost: bool = False


class ProbeTest(Struct, frozen=True, kw_only=True):
    """A test. ``seconds``: how long it takes at each level; at a level that is not there it is not run.

    ``stretches``: what is left of the time that somebody gives is its own. ``is_joint``: one run over all devices, by
    torchrun, of the module that `Probe.joint` names. ``sees_all``: one worker that sees all devices makes it.
    """

    key: str
    question: str
    purpose: Purpose
    seconds: Mapping[Level, float]
    measures: tuple[Measure, ...] = ()
    stretches: bool = False
    is_joint: bool = False
    sees_all: bool = False


class Probe(Struct, frozen=True, kw_only=True):
    """What `gputop probe` can run.

    ``folder``: of the package that holds ``worker``, a module that is run in a Python which need not have gputop.
    ``joint``: the module of the joint tests. ``needs``: the package that this Python must have. ``reference``: path of
    the table of expected figures.
    """

    key: str
    help: str
    folder: str
    worker: str
    tests: tuple[ProbeTest, ...]
    joint: str = ""
    needs: str = ""
    reference: str = ""
