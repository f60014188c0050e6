"""Processes as a tree and in groups with sums."""

from collections.abc import Sequence
from typing import Any

import pytest
from app_driver import Stage, staged
from examples import GIB, frame, process
from msgspec.structs import replace

from gputop.core.model.metric import Missing
from gputop.core.model.owner import Container, Owner
from gputop.core.model.process_id import ProcessId
from gputop.core.model.sample import Frame, HostProcess, Job, JobKind
from gputop.core.processes.columns import COLUMN_BY_KEY, rows
from gputop.core.protocol.command import SendSignal
from gputop.ui.screens.pages.gpu import GpuScreen
from gputop.ui.state.rows import Grouping, Order, TableLine, table_lines
from gputop.ui.state.tree import process_tree

LAUNCHER = HostProcess(
    pid=10, start_ticks=1, user="ann", command="torchrun train.py", parent_pid=1, cpu_percent=3.0, memory_bytes=GIB
)
RANKS = tuple(process(11 + n, n, parent_pid=10, command=f"python train.py --rank {n}") for n in range(2))
SERVER = process(
    30,
    0,
    1,
    user="bob",
    command="vllm serve",
    owner=Owner(container=Container(runtime="docker", id="c1"), trusted=("container",)),
)
ORDER = Order(COLUMN_BY_KEY["pid"])


def training() -> Frame:
    members = tuple(ProcessId(p.pid, p.start_ticks) for p in (LAUNCHER, *RANKS))
    job = Job(
        key="launcher:10/1", kind=JobKind.LAUNCHER, label="torchrun train.py", launcher=members[0], members=members
    )
    return frame(2, (*RANKS, SERVER), relatives=(LAUNCHER,), jobs=(job,))


def lines(grouping: Grouping, of: Frame | None = None, *folded: tuple[int | str | None, ...]) -> Sequence[TableLine]:
    shown = of or training()
    return table_lines(shown, rows(shown), grouping, ORDER, frozenset(folded))


def commands(stage: Stage) -> list[str]:
    at = stage.processes[1].index("COMMAND")
    return [line[at:].rstrip("│┃ ") for line in stage.processes[2:] if line.strip()]


def test_a_launcher_stands_above_its_workers_and_a_process_on_two_gpus_is_one_line() -> None:
    found = lines(Grouping.TREE)

    assert [(entry.row.process.pid, entry.prefix) for entry in found] == [
        (10, "▼ "), (11, "├─ "), (12, "└─ "), (30, ""),
    ]  # fmt: skip
    assert found[3].instead["gpu"] == "0-1"
    assert found[3].row.use.memory_bytes == 20 * GIB


def test_a_folded_process_has_the_sums_of_those_below() -> None:
    found = lines(Grouping.TREE, None, ("process", 10, 1))

    assert [entry.row.process.id for entry in found] == [LAUNCHER.id, SERVER.id]
    assert found[0].row.use.memory_bytes == 20 * GIB
    assert found[0].row.use.sm_percent == 160.0


LOADERS = tuple(
    process(20 + n, parent_pid=11, gpus=(), command="python loader", cpu_percent=50.0, memory_bytes=GIB)
    for n in range(2)
)


def loading(**fields: Any) -> Frame:
    return replace(training(), relatives=(LAUNCHER, *LOADERS), **fields)


def test_data_loaders_stand_below_their_worker() -> None:
    found = lines(Grouping.TREE, loading())

    assert [(entry.row.process.pid, entry.prefix) for entry in found] == [
        (10, "▼ "), (11, "├─ ▼ "), (20, "│  ├─ "), (21, "│  └─ "), (12, "└─ "), (30, ""),
    ]  # fmt: skip
    assert found[2].instead["gpu"] == "–"


def test_a_folded_launcher_adds_up_everybody_below_it() -> None:
    (head, _) = lines(Grouping.TREE, loading(), ("process", 10, 1))

    assert head.row.process.cpu_percent == 3.0 + 2 * 99.0 + 2 * 50.0
    assert head.row.process.memory_bytes == GIB + 2 * 3 * GIB + 2 * GIB
    assert head.row.use.memory_bytes == 20 * GIB
    assert (head.instead["gpu"], head.row.use.type) == ("0-1", "C")
    assert head.row.process.command.endswith("(+4)")


def test_the_loaders_of_a_worker_that_is_hidden_are_hidden_too() -> None:
    shown = loading()
    kept = [row for row in rows(shown) if row.process.pid == 12]
    found = table_lines(shown, kept, Grouping.TREE, ORDER, frozenset())

    assert [entry.row.process.pid for entry in found] == [10, 12]


def test_a_job_adds_up_its_launcher_and_its_loaders() -> None:
    members = tuple(one.id for one in (LAUNCHER, *RANKS, *LOADERS))
    (job,) = training().jobs
    head = lines(Grouping.JOB, loading(jobs=(replace(job, members=members),)))[0]

    assert head.row.process.cpu_percent == 3.0 + 2 * 99.0 + 2 * 50.0
    assert head.row.use.gpu_index == 0
    assert head.instead["pid"] == "×5"


async def test_launchers_are_sorted_by_the_first_gpu_of_their_workers() -> None:
    async with staged(training()) as stage:
        await stage.press("t")

        assert commands(stage)[0] == "▼ torchrun train.py"


async def test_enter_folds_a_group_and_unfolds_it() -> None:
    async with staged(training()) as stage:
        await stage.press("v", "v", "v", "home", "enter")
        folded = commands(stage)
        await stage.press("enter")

        assert folded[0].startswith("▶ ann")
        assert commands(stage)[0].startswith("▼ ann")
        assert stage.app.screen is stage.app.main


@pytest.mark.parametrize(("views", "pids"), [(2, [10]), (3, [11, 12]), (5, [11, 30])])
async def test_a_signal_on_a_group_is_meant_for_all_of_it(views: int, pids: list[int]) -> None:
    async with staged(training()) as stage:
        await stage.press(*["v"] * views, "home", "k", "enter")
        (change,) = stage.changes

        assert isinstance(change, SendSignal)
        assert [one.pid for one in change.targets] == pids


async def test_c_on_a_group_tags_all_of_it() -> None:
    async with staged(training()) as stage:
        await stage.press("v", "v", "v", "v", "v", "home", "c")

        assert {one.pid for one in stage.app.main.processes.tags.ids} == {11, 30}


async def test_a_data_loader_can_be_looked_at_and_signalled_alone() -> None:
    async with staged(loading()) as stage:
        await stage.press("t", "home", "down", "down", "k", "p", "enter")
        (change,) = stage.changes

        assert isinstance(change, SendSignal)
        assert [one.pid for one in change.targets] == [20]


def test_parents_that_go_in_a_circle_do_not_hang_the_tree() -> None:
    one, two = process(1, parent_pid=2), process(2, parent_pid=1)

    assert [node.process.pid for node in process_tree([one, two], {1: one, 2: two})] == [1]


def test_a_very_long_line_of_parents_is_a_tree_too() -> None:
    line = {n: process(n, parent_pid=n - 1) for n in range(1, 3000)}

    assert sum(len(root.all()) for root in process_tree(line.values(), line)) == 2999


@pytest.mark.parametrize(
    ("grouping", "labels"),
    [
        (Grouping.JOB, ["launcher torchrun train.py", "vllm serve", "vllm serve"]),
        (Grouping.USER, ["ann", "bob"]),
        (Grouping.CONTAINER, ["no container", "docker c1"]),
        (Grouping.GPU, ["GPU 0 NVIDIA H100 80GB HBM3", "GPU 1 NVIDIA H100 80GB HBM3"]),
    ],
)
def test_groups_have_a_label(grouping: Grouping, labels: list[str]) -> None:
    found = [entry for entry in lines(grouping) if entry.parent is None]

    assert [entry.row.process.command for entry in found] == labels


def test_a_group_adds_up_each_process_once() -> None:
    (head,) = [entry for entry in lines(Grouping.USER) if entry.is_group and entry.row.process.user == "bob"]

    assert head.row.use.memory_bytes == 20 * GIB
    assert head.row.use.sm_percent == 160.0
    assert head.row.process.cpu_percent == 99.0
    assert head.instead["gpu"] == "0-1"
    assert head.instead["pid"] == "×1"


def test_a_sum_of_unknown_values_is_absent_and_never_zero() -> None:
    blind = process(5, gpus=tuple(replace(use, memory_bytes=None, sm_percent=None) for use in process(5).gpus))
    head = lines(Grouping.USER, frame(1, (blind,)))[0]

    assert head.row.use.memory_bytes is None
    assert head.row.use.sm_percent is None


def test_a_container_that_cannot_be_known_is_not_no_container() -> None:
    unknown = process(5, owner=Owner(missing={"container": Missing.FORBIDDEN}))

    assert lines(Grouping.CONTAINER, frame(1, (unknown,)))[0].row.process.command.startswith("container unknown")


def test_groups_are_sorted_by_their_sums() -> None:
    order = Order(COLUMN_BY_KEY["gpu_memory"], is_reversed=True)
    small = process(1, user="eve", gpus=tuple(replace(use, memory_bytes=1) for use in process(1).gpus))
    shown = frame(2, (small, *RANKS))
    found = table_lines(shown, rows(shown), Grouping.USER, order, frozenset())

    assert [entry.row.process.user for entry in found if entry.is_group] == ["ann", "eve"]


@pytest.mark.parametrize("key", ["t", "f5"])
async def test_a_key_shows_the_tree_and_the_list_again(key: str) -> None:
    async with staged(training()) as stage:
        await stage.press(key)
        tree, title = commands(stage), stage.processes[0]
        await stage.press(key)

        assert tree[0] == "▼ torchrun train.py"
        assert tree[1].startswith("├─ python train.py")
        assert "Tree" in title
        assert "PID" in stage.processes[0]


async def test_v_goes_through_the_views_and_shift_v_back() -> None:
    async with staged(training()) as stage:
        titles = []
        for _ in range(5):
            await stage.press("v")
            titles.append(stage.processes[0].strip())
        await stage.press("v")
        last = stage.processes[0]
        await stage.press("V")

        assert titles == ["Tree", "By job", "By user", "By container", "By GPU"]
        assert "PID" in last
        assert "By GPU" in stage.processes[0]


async def test_minus_folds_and_plus_unfolds_and_the_interval_stays() -> None:
    async with staged(training()) as stage:
        await stage.press("v", "v", "v", "down", "down", "minus")
        folded, cursor = commands(stage), stage.cursor
        await stage.press("plus")

        assert folded[0].startswith("▶ ann")
        assert folded[1].startswith("▼ bob")
        assert "ann" in (cursor or "")
        assert commands(stage)[0].startswith("▼ ann")
        assert stage.link.sent == []


async def test_the_cursor_stays_on_its_process_from_view_to_view() -> None:
    async with staged(training()) as stage:
        await stage.press("end")
        for _ in range(6):
            await stage.press("v")

            assert stage.app.main.processes.selected is not None
            assert stage.app.main.processes.selected.process.pid == 30


async def test_what_is_folded_stays_folded_when_a_frame_comes() -> None:
    async with staged(training()) as stage:
        await stage.press("t", "down", "minus")
        await stage.deliver(training())

        assert commands(stage)[0] == "▶ torchrun train.py  (+2)"


async def test_the_filter_holds_in_a_tree_and_keeps_the_launcher_above() -> None:
    async with staged(training()) as stage:
        await stage.press("t", "f", "1", "2", "enter")

        assert [text.split()[0] for text in commands(stage)] == ["▼", "└─"]


async def test_a_click_on_a_row_below_the_title_selects_it() -> None:
    async with staged(training()) as stage:
        await stage.press("t")
        await stage.pilot.click("ProcessPanel", offset=(20, 3))
        await stage.pilot.pause()

        assert stage.app.main.processes.selected is not None
        assert stage.app.main.processes.selected.process.pid == 11


async def test_a_launcher_without_a_gpu_shows_some_gpu_in_detail() -> None:
    async with staged(training()) as stage:
        await stage.press("t", "home", "i")

        assert isinstance(stage.app.screen, GpuScreen)


async def test_without_a_cursor_everything_is_folded_and_unfolded() -> None:
    async with staged(training()) as stage:
        await stage.press("v", "v", "v", "minus")
        folded = commands(stage)
        await stage.press("plus")

        assert folded == ["▶ ann", "▶ bob"]
        assert len(commands(stage)) == 6


@pytest.mark.parametrize(("key", "title"), [("A", "By user"), ("J", "By job"), ("f5", "Tree")])
@pytest.mark.parametrize("back", ["same", "escape"])
async def test_a_view_is_one_key_away_and_so_is_the_list(key: str, title: str, back: str) -> None:
    async with staged(frame(1, (process(1), process(2)))) as stage:
        await stage.press(key)
        shown = stage.processes[0]
        await stage.press(key if back == "same" else back)

        assert title in shown
        assert "COMMAND" in stage.processes[0]


async def test_the_sums_of_a_user_are_not_below_the_processes_of_others() -> None:
    crowd = (*(process(pid, user="ann") for pid in range(100, 160)), process(200, user="bob"))
    async with staged(frame(1, crowd)) as stage:
        await stage.press("A")
        collapsed = commands(stage)
        await stage.press("home", "enter")

        assert [line.strip() for line in collapsed] == ["▶ ann", "▶ bob"]
        assert len(commands(stage)) > 3
