"""The trace: a world, how long it is watched, and what a person who knows everything about it would say."""

import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from detector_benchmark.independent.disturbances import Disturbance
from detector_benchmark.independent.world import World
from msgspec import Struct

KINDS: Final = {  # of trouble: the codes of findings that name it
    "leak": ("leak.process", "leak.gpu"),
    "filling": ("memory.filling",),
    "hang": ("stuck.collective",),
    "kernel": ("stuck.kernel",),
    "stalled": ("stalled.job", "stalled.process"),
    "idle": ("idle.holder",),
    "spin": ("spin.host",),
    "input": ("bound.input",),
    "launch": ("bound.launch",),
    "tiny": ("busy.fake",),
    "orphan": ("orphan.parent", "orphan.gone", "orphan.zombie", "memory.unexplained"),
    "thermal": ("throttle.thermal", "temperature.gpu", "temperature.memory"),
    "brake": ("throttle.power_brake",),
    "straggler": ("straggler.gpu", "straggler.host", "straggler.neighbour"),
    "lost": ("gpu.lost", "gpu.hung", "driver.hung", "xid.grave", "gpu.recovery"),
    "blocked": ("process.blocked", "process.stopped"),
}
SCORED: Final = (
    "leak", "hang", "stalled", "kernel", "idle", "spin", "input", "launch", "orphan", "thermal", "straggler", "lost",
)  # fmt: skip
FROM_OBSERVATION: Final = {
    "idle",
    "spin",
    "input",
    "launch",
    "tiny",
}  # the others are shown from the stage of a suspect
NEUTRAL: Final = {  # facts, which are neither right nor wrong here
    "bound.compute", "bound.memory", "bound.communication", "reading.incomplete", "throttle.power_cap", "xid.note",
    "xid.application", "memory.full",
}  # fmt: skip


class Want(Struct, frozen=True):
    """A trouble that must be shown. ``kinds``: any of them is right, the first one is counted.

    ``names``: of actors, or ``gpu:2``; a finding about any of them is right. It begins at ``from_s``, and must be shown
    at ``by_s``, seconds of the world. ``still_s``: it must be shown then, too. ``is_alarm``: a suspect is not enough.
    """

    kinds: tuple[str, ...]
    names: frozenset[str]
    from_s: float
    by_s: float
    still_s: float | None = None
    is_alarm: bool = False


class Allow(Struct, frozen=True):
    """A kind that is not wrong, for some names, or for all if there are none; perhaps as an observation only."""

    kind: str
    names: frozenset[str] = frozenset()
    is_seen_only: bool = False


class Scene(Struct, frozen=True, kw_only=True):
    """A world and its labels. It is watched until ``until_s``."""

    world: World
    until_s: float
    wants: Sequence[Want] = ()
    allows: Sequence[Allow] = ()
    disturbances: Sequence[Disturbance] = ()


Maker: TypeAlias = Callable[[int], Scene]


class Trace(Struct, frozen=True):
    """A trace. ``group``: its class; ``truth``: what a person would say; ``make``: the scene for a seed."""

    name: str
    group: str
    truth: str
    make: Maker


def want(
    kinds: str, names: str, from_s: float, by_s: float, *, still_s: float | None = None, is_alarm: bool = False
) -> Want:
    """Return a want from lists of words."""
    return Want(tuple(kinds.split()), frozenset(names.split()), from_s, by_s, still_s, is_alarm)


def allow(kinds: str, names: str = "") -> tuple[Allow, ...]:
    """Return kinds that are not wrong; ``hang~`` is one as an observation only."""
    return tuple(Allow(kind.rstrip("~"), frozenset(names.split()), kind.endswith("~")) for kind in kinds.split())


def traces_in(folder: Path) -> list[Trace]:
    """Load the traces of a folder: the public functions of its files, each with a sentence."""
    return [trace for path in sorted(folder.glob("*.py")) for trace in _loaded(path)]


def _loaded(path: Path) -> Iterator[Trace]:
    name = f"independent_traces_{path.parent.name}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for key, value in vars(module).items():
        if not key.startswith("_") and callable(value) and getattr(value, "__module__", "") == name:
            yield Trace(key, path.stem, " ".join((value.__doc__ or "").split()), value)
