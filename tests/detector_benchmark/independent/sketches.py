"""Sketches: short ways to write down a scene, for sets of many traces."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from detector_benchmark.independent.activity import IDLE, Activity
from detector_benchmark.independent.actors import Actor, Use
from detector_benchmark.independent.boards import Board
from detector_benchmark.independent.circuit import GOOD, Condition, Conditions
from detector_benchmark.independent.disturbances import Disturbance
from detector_benchmark.independent.drawn import Draw
from detector_benchmark.independent.roles import RankPart, program, ranks, shell
from detector_benchmark.independent.scripts import Curve, Part, Script, level, phases, script
from detector_benchmark.independent.trace import Scene, Want, allow
from detector_benchmark.independent.world import World

Actors = Sequence[Actor]
LATE: Final = 1e9
BATCH: Final[dict[str, Any]] = {"variables": {}, "terminal": 0}  # of a process that no person started by hand
_OF_SCENES: Final = ("allows", "disturb", "conditions", "interval_s", "is_in_container")


def scene(
    seed: int,
    boards: Sequence[Board],
    actors: Actors,
    until_s: float,
    *wants: Want,
    allows: str = "",
    disturb: Sequence[Disturbance] = (),
    conditions: Mapping[int, Conditions] | None = None,
    is_in_container: bool = False,
    interval_s: float = 1.0,
) -> Scene:
    """Return a scene. Without wants it is harmless."""
    world = World(
        boards, actors, seed=seed, conditions=conditions, interval_s=interval_s, is_in_container=is_in_container
    )
    return Scene(world=world, until_s=until_s, wants=wants, allows=allow(allows), disturbances=disturb)


def turns(first: Part, at_s: float, later: Part) -> Script:
    """Do one thing, and another from a time on."""
    return phases(first, (at_s, later))


def well_fed(draw: Draw, low: float = 20, high: float = 38) -> Activity:
    """Return a data loader that keeps up with its GPU."""
    return Activity(cpu=draw.between(low, high))


def jammed(cpu: float, state: str = "S") -> Activity:
    """Return the CPU of a process whose GPU has nothing to do."""
    return IDLE.but(cpu=cpu, thread=min(100.0, cpu), state=state)


def from_then(at_s: float, until_s: float = LATE, **bad: object) -> Conditions:
    """Return the conditions of a board that is bad between two times."""
    return lambda t_s: Condition(**bad) if at_s <= t_s < until_s else GOOD  # type: ignore[arg-type] # names of fields


def notebook(
    name: str,
    gpu: int,
    does: Part,
    memory: Curve,
    *,
    user: str = "ann",
    age_s: float = 9000,
    instance: int | None = None,
) -> list[Actor]:
    """Return a kernel of Jupyter and its server."""
    lab = shell(f"{name}.lab", "/opt/env/bin/python /opt/env/bin/jupyter-lab --port 8899 --no-browser", user=user)
    kernel = Actor(
        name=name,
        command=f"/opt/env/bin/python -m ipykernel_launcher -f /home/{user}/.local/share/jupyter/kernel-{gpu}.json",
        parent=lab.name,
        user=user,
        age_s=age_s,
        uses=(Use(gpu, script(does), memory, instance),),
    )
    return [lab, kernel]


def ghost(gpu: int, mib: float, at_s: float) -> Actor:
    """Return memory that stays on a board after its process. The trace hides the stand-in itself."""
    use = Use(gpu, script(IDLE), level(mib), is_listed=False)
    return Actor(name="ghost", command="ghost", uses=(use,), from_s=at_s, gone_s=at_s)


def mib_of(board: Board, share: float) -> Curve:
    """Return a level of memory, as a share of what processes can have of a board."""
    return level(share * (board.memory_mib - board.reserved_mib) // 2 * 2)


def alone(
    seed: int,
    board: Board,
    does: Part,
    memory: Curve,
    until_s: float,
    *wants: Want,
    command: str = "python -u train.py",
    actors: Actors = (),
    **more: Any,
) -> Scene:
    """Return a scene of one process, ``job``, on one board. ``more``: of the scene or of the process."""
    given = {key: more.pop(key) for key in _OF_SCENES if key in more}
    job = program("job", command, 0, does, memory, **BATCH | more)
    return scene(seed, [board], [*actors, job], until_s, *wants, **given)


def team(
    seed: int,
    boards: Sequence[Board],
    does: RankPart,
    memory: Curve,
    until_s: float,
    *wants: Want,
    change: Callable[[list[Actor]], Actors] = list,
    **more: Any,
) -> Scene:
    """Return a scene of a job with a rank on each board.

    ``change``: of its actors; ``more``: of the scene or of the ranks.
    """
    given = {key: more.pop(key) for key in _OF_SCENES if key in more}
    return scene(seed, boards, change(ranks(range(len(boards)), does, memory, **more)), until_s, *wants, **given)
