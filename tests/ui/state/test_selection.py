"""Tags: on processes, not on rows."""

from typing import Any

import pytest
from app_driver import Stage, staged
from examples import frame, process

from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, Job, JobKind
from gputop.ui.state.rows import Grouping


def identity(pid: int) -> ProcessId:
    return ProcessId(pid, pid * 10)


def job(*pids: int, launcher: int | None = None) -> Job:
    lead = None if launcher is None else identity(launcher)
    return Job(key="torch:1", kind=JobKind.TORCH, label="torchrun", launcher=lead, members=tuple(map(identity, pids)))


def some(*pids: int, **fields: Any) -> Frame:
    return frame(1, tuple(process(pid) for pid in pids), **fields)


def tagged(stage: Stage) -> set[int]:
    return {one.pid for one in stage.app.main.processes.tags.ids}


async def test_space_tags_and_goes_on_to_the_next() -> None:
    async with staged(some(1, 2, 3)) as stage:
        await stage.press("space", "space")

        assert tagged(stage) == {1, 2}
        assert " 3 " in (stage.cursor or "")


@pytest.mark.parametrize(
    ("key", "pids", "said"),
    [
        ("U", (1,), "no process is tagged"),
        ("c", (1,), "move the cursor onto one"),
        ("space", (), "no process is using a GPU"),
        ("k", (), "no process is using a GPU"),
    ],
)
async def test_a_key_that_has_nothing_to_act_on_says_so(key: str, pids: tuple[int, ...], said: str) -> None:
    async with staged(some(*pids)) as stage:
        await stage.press(key)

        assert [said in note for note in stage.messages] == [True]


async def test_a_tagged_row_has_a_mark_and_the_title_counts_them() -> None:
    async with staged(some(1, 2, 3)) as stage:
        await stage.press("space")

        assert [line[0] for line in stage.processes[1:4]] == ["*", " ", " "]
        assert "1 tagged" in stage.processes[0]


async def test_space_again_takes_the_tag_away() -> None:
    async with staged(some(1, 2, 3)) as stage:
        await stage.press("space", "up", "space")

        assert tagged(stage) == set()
        assert "tagged" not in stage.processes[0]


async def test_u_and_esc_take_all_tags_away_and_esc_leaves_the_cursor() -> None:
    for key in ("U", "escape"):
        async with staged(some(1, 2, 3)) as stage:
            await stage.press("space", "space", key)

            assert tagged(stage) == set()
            assert stage.cursor is not None


async def test_c_tags_the_whole_job_with_its_launcher_that_uses_no_gpu() -> None:
    held = some(2, 3, 4, relatives=(process(1, gpus=()),), jobs=(job(1, 2, 3, launcher=1),))
    async with staged(held) as stage:
        await stage.press("down", "c")

        assert tagged(stage) == {1, 2, 3}


async def test_c_without_a_job_tags_what_the_process_started() -> None:
    processes = (process(1), process(2, parent_pid=1), process(3, parent_pid=2), process(4))
    async with staged(frame(1, processes)) as stage:
        await stage.press("down", "c")

        assert tagged(stage) == {1, 2, 3}


async def test_tags_stay_on_their_processes_when_the_order_changes() -> None:
    async with staged(some(1, 2, 3)) as stage:
        await stage.press("space", "N", "I")

        assert [line[0] for line in stage.processes[1:4]] == [" ", " ", "*"]


async def test_a_tag_vanishes_with_its_process_and_never_passes_on_to_the_next_one_of_its_pid() -> None:
    async with staged(some(1, 2)) as stage:
        await stage.press("space", "space")
        await stage.deliver(frame(1, (process(1, start_ticks=99), process(2))))

        assert tagged(stage) == {2}


async def test_a_process_on_two_gpus_is_tagged_once() -> None:
    async with staged(frame(2, (process(1, 0, 1),))) as stage:
        await stage.press("space")

        assert [line[0] for line in stage.processes[1:3]] == ["*", "*"]
        assert "1 tagged" in stage.processes[0]


async def test_space_on_a_group_tags_all_in_it() -> None:
    async with staged(some(1, 2, 3)) as stage:
        stage.app.main.processes.group(Grouping.USER)
        await stage.press("space")

        assert tagged(stage) == {1, 2, 3}
