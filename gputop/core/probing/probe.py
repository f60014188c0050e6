"""Probes as rows: the tests that a worker program can run on a device, and the thresholds of their figures.

The worker is a separate program: gputop starts it, sends it a plan, and reads its events (``docs/probe.md``). gputop
imports nothing of it.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct

PROTOCOL: Final = 1
"""The version of the protocol between gputop and a worker."""


class Level(str, Enum):
    """The duration and extent of a probe."""

    QUICK = "quick"
    STANDARD = "standard"
    LONG = "long"
    SOAK = "soak"


class Purpose(str, Enum):
    """The purpose of a test. A device passes only if a correctness test completed."""

    CORRECTNESS = "correctness"
    SPEED = "speed"
    HEALTH = "health"


class Measure(Struct, frozen=True, kw_only=True):
    """A figure that a test reports, and its thresholds. In a pair the first warns, the second fails.

    ``name``: of the figure, or its prefix up to a dot: figures of a test over all devices are ``peer.0-1``,
    ``peer.1-0``, and siblings of each other.
    ``siblings``: least share of the median of GPUs of one model. ``expected``: the column of the reference table.
    ``most``: the highest allowed value, in its unit. ``is_cost``: less is better, so ratios are inverted.
    """

    name: str
    siblings: tuple[float, float] | None = (0.95, 0.90)
    expected: str = ""
    most: tuple[float, float] | None = None
    is_cost: bool = False


class ProbeTest(Struct, frozen=True, kw_only=True):
    """A test. ``seconds``: its duration by level; it does not run at other levels.

    ``stretches``: it uses the rest of a given time limit. ``is_joint``: one run over all devices, by torchrun, of the
    module `Probe.joint`. ``sees_all``: one worker that sees all devices runs it.
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
    """A set of tests for `gputop probe`.

    ``folder``: the folder of the package with ``worker``, a module that runs in a Python that need not have gputop.
    ``joint``: the module of the joint tests. ``needs``: the package that this Python needs. ``reference``: path of
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
