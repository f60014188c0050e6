"""The second set of traces that are kept aside: it loads, its labels fit, and it has enough of each kind."""

from collections import Counter

import pytest
from detector_benchmark.independent.__main__ import DEV, KEPT, KEPT2
from detector_benchmark.independent.trace import KINDS, Scene, traces_in

TRACES = {f"{trace.group}/{trace.name}": trace for trace in traces_in(KEPT2)}
GROUPS = sorted({trace.group for trace in TRACES.values()})
_LOOKS = 24  # times of a trace at which a test looks


def _scenes(group: str, seed: int) -> dict[str, Scene]:
    return {name: trace.make(seed) for name, trace in TRACES.items() if trace.group == group}


def test_a_kind_has_too_few_traces() -> None:
    scenes = [trace.make(1) for trace in TRACES.values()]
    counts = Counter(want.kinds[0] for scene in scenes for want in scene.wants)

    assert sum(not scene.wants for scene in scenes) >= 100
    assert {kind: counts[kind] for kind in KINDS if counts[kind] < 10} == {}


def test_two_traces_share_a_name() -> None:
    names = Counter(trace.name for folder in (DEV, KEPT, KEPT2) for trace in traces_in(folder))

    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.parametrize("group", GROUPS)
def test_a_label_names_something_that_its_world_does_not_have(group: str) -> None:
    for name, scene in _scenes(group, seed=1).items():
        known = {*scene.world.people.actors, *(f"gpu:{n}" for n in range(len(scene.world.uuids)))}

        assert TRACES[name].truth.endswith("."), name
        for want in scene.wants:
            assert set(want.kinds) <= set(KINDS), name
            assert want.names, name
            assert want.names <= known, name
            assert 0 <= want.from_s < want.by_s <= scene.until_s, name
            assert want.still_s is None or want.still_s < scene.until_s, name
        for allow in scene.allows:
            assert allow.kind in KINDS, name
            assert allow.names <= known, name


@pytest.mark.parametrize("group", GROUPS)
def test_processes_hold_more_memory_than_a_board_has(group: str) -> None:
    for name, scene in _scenes(group, seed=2).items():
        people = scene.world.people
        times = [scene.until_s * look / _LOOKS for look in range(_LOOKS + 1)]
        for n, board in enumerate(scene.world.boards):
            room = board.memory_mib - board.reserved_mib

            assert max(people.memory(n, t_s) for t_s in times) <= room, name
            for part in board.slices:
                assert max(people.memory(n, t_s, part.id) for t_s in times) <= part.memory_mib, name


@pytest.mark.parametrize("group", GROUPS)
def test_a_world_cannot_be_read(group: str) -> None:
    for name, scene in _scenes(group, seed=3).items():
        for look in range(4):
            scene.world.now_s = scene.until_s * look / 4

            assert scene.world.read().gpus, name


def test_the_same_seed_gives_another_trace() -> None:
    for trace in TRACES.values():
        first, again, other = trace.make(5), trace.make(5), trace.make(6)
        reads = [scene.world.read() for scene in (first, again, other)]

        assert (first.until_s, first.wants, reads[0]) == (again.until_s, again.wants, reads[1]), trace.name
        assert reads[0] != reads[2], trace.name
