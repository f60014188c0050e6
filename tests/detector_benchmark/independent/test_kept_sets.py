"""The later sets of traces that are kept aside: they load, their labels fit, and they have enough of each kind."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from detector_benchmark.independent.__main__ import DEV, KEPT, KEPT2, KEPT3, KEPT4, KEPT5
from detector_benchmark.independent.trace import KINDS, SCORED, Scene, Trace, traces_in

SETS = {folder: traces_in(folder) for folder in (KEPT2, KEPT3, KEPT4, KEPT5)}
GROUPS = [(folder, group) for folder, traces in SETS.items() for group in sorted({trace.group for trace in traces})]
_NAMES = [f"{folder.name}-{group}" for folder, group in GROUPS]
_LOOKS = 24  # times of a trace at which a test looks

of_each_group = pytest.mark.parametrize(("folder", "group"), GROUPS, ids=_NAMES)


@cache  # the tests share the worlds: no one goes on with a world where another left it
def _scenes(folder: Path, group: str) -> list[tuple[Trace, Scene]]:
    return [(trace, trace.make(1)) for trace in SETS[folder] if trace.group == group]


@pytest.mark.parametrize(
    ("folder", "kinds"),
    [(KEPT2, tuple(KINDS)), (KEPT3, SCORED), (KEPT4, SCORED), (KEPT5, SCORED)],
    ids=["kept2", "kept3", "kept4", "kept5"],
)
def test_a_kind_has_too_few_traces(folder: Path, kinds: tuple[str, ...]) -> None:
    groups = sorted({trace.group for trace in SETS[folder]})
    scenes = [scene for group in groups for _, scene in _scenes(folder, group)]
    counts = Counter(want.kinds[0] for scene in scenes for want in scene.wants)

    assert sum(not scene.wants for scene in scenes) >= 100
    assert {kind: counts[kind] for kind in kinds if counts[kind] < 10} == {}
    assert set(counts) == set(KINDS)


def test_two_traces_share_a_name() -> None:
    names = Counter(trace.name for folder in (DEV, KEPT, KEPT2, KEPT3, KEPT4, KEPT5) for trace in traces_in(folder))

    assert [name for name, count in names.items() if count > 1] == []


@of_each_group
def test_a_label_names_something_that_its_world_does_not_have(folder: Path, group: str) -> None:
    for trace, scene in _scenes(folder, group):
        known = {*scene.world.people.actors, *(f"gpu:{n}" for n in range(len(scene.world.uuids)))}

        assert trace.truth.endswith("."), trace.name
        for want in scene.wants:
            assert set(want.kinds) <= set(KINDS), trace.name
            assert want.names, trace.name
            assert want.names <= known, trace.name
            assert 0 <= want.from_s < want.by_s <= scene.until_s, trace.name
            assert want.still_s is None or want.still_s < scene.until_s, trace.name
        for allow in scene.allows:
            assert allow.kind in KINDS, trace.name
            assert allow.names <= known, trace.name


@of_each_group
def test_processes_hold_more_memory_than_a_board_has(folder: Path, group: str) -> None:
    for trace, scene in _scenes(folder, group):
        people = scene.world.people
        times = [scene.until_s * look / _LOOKS for look in range(_LOOKS + 1)]
        for n, board in enumerate(scene.world.boards):
            room = board.memory_mib - board.reserved_mib

            assert max(people.memory(n, t_s) for t_s in times) <= room, trace.name
            for part in board.slices:
                assert max(people.memory(n, t_s, part.id) for t_s in times) <= part.memory_mib, trace.name


@of_each_group
def test_a_world_cannot_be_read(folder: Path, group: str) -> None:
    for trace, scene in _scenes(folder, group):
        for look in range(2):
            scene.world.now_s = scene.until_s * (0.3 + 0.6 * look)

            assert scene.world.read().gpus, trace.name


@pytest.mark.parametrize("folder", SETS, ids=[folder.name for folder in SETS])
def test_the_same_seed_gives_another_trace(folder: Path) -> None:
    for trace in SETS[folder][::2]:  # each other one: their neighbours draw by the same helpers
        first, again, other = trace.make(5), trace.make(5), trace.make(6)
        reads = [scene.world.read() for scene in (first, again, other)]

        assert (first.until_s, first.wants, reads[0]) == (again.until_s, again.wants, reads[1]), trace.name
        assert reads[0] != reads[2], trace.name
