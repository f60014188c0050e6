"""The columns of the process table."""

import pytest
from examples import GIB, NOW, frame, gpu, process

from gputop.core.model.catalogue import MEMORY_TOTAL
from gputop.core.model.owner import Container, Owner, Pod, SlurmStep
from gputop.core.model.sample import GpuInstance, GpuProcess, HostProcess, Job, JobKind, Presence
from gputop.core.model.units import NOTHING
from gputop.core.processes.column import Column, Row
from gputop.core.processes.columns import COLUMN_BY_KEY, COLUMNS, DEFAULT_COLUMNS, rows, sorted_rows, visible_columns
from gputop.core.text.cells import width

every_column = pytest.mark.parametrize("column", COLUMNS, ids=[column.key for column in COLUMNS])


def text(key: str, row: Row) -> str:
    return COLUMN_BY_KEY[key].text(row)


def one(**fields: object) -> Row:
    return rows(frame(1, (process(4711, **fields),)))[0]


def test_keys_are_unique_and_columns_explained() -> None:
    assert len(COLUMN_BY_KEY) == len(COLUMNS)
    assert [column.key for column in COLUMNS if not column.help.endswith(".")] == []


@every_column
def test_a_title_is_not_wider_than_its_column(column: Column) -> None:
    assert column.width == 0 or width(column.title) <= column.width


@every_column
def test_a_process_of_which_nothing_is_known_can_be_shown_and_sorted(column: Column) -> None:
    row = Row(HostProcess(pid=1), GpuProcess(gpu="GPU-0", gpu_index=0, type="C"), NOW)

    assert isinstance(column.text(row), str)
    assert sorted_rows([row], column, is_reversed=False) == [row]


def test_a_process_on_two_gpus_has_two_rows() -> None:
    held = rows(frame(2, (process(4711, 0, 1),)))

    assert [text("gpu", row) for row in held] == ["0", "1"]
    assert len({row.key for row in held}) == 2


def test_a_gpu_instance_is_named_behind_its_gpu() -> None:
    use = GpuProcess(gpu="GPU-1", gpu_index=1, type="C", gpu_instance=7)

    assert text("gpu", Row(process(), use, NOW)) == "1:7"


def test_values_are_shown_in_short() -> None:
    row = one(nice=-5, started_s=NOW - 7500)

    shown = {key: text(key, row) for key in ("pid", "user", "gpu_memory", "sm", "cpu", "memory", "nice", "time")}
    assert " ".join(shown.values()) == "4711 ann 10.0GiB 80 99 3.0GiB -5 2h05"


@pytest.mark.parametrize("presence", [Presence.GONE, Presence.HIDDEN, Presence.REUSED])
def test_instead_of_the_command_of_nobody_the_reason_is_told(presence: Presence) -> None:
    row = Row(HostProcess(pid=1, presence=presence), GpuProcess(gpu="GPU-0", gpu_index=0, type="C"), NOW)

    assert text("command", row) == presence.text != ""
    assert text("user", row) == text("cpu", row) == text("memory", row) == text("time", row) == NOTHING


def test_a_clock_that_was_set_back_makes_no_negative_run_time() -> None:
    assert text("time", one(started_s=NOW + 60)) == "0s"


def test_what_is_absent_comes_last_either_way() -> None:
    held = rows(frame(1, (process(1, cpu_percent=None), process(2, cpu_percent=5.0), process(3, cpu_percent=50.0))))
    column = COLUMN_BY_KEY["cpu"]

    assert [row.process.pid for row in sorted_rows(held, column, is_reversed=False)] == [2, 3, 1]
    assert [row.process.pid for row in sorted_rows(held, column, is_reversed=True)] == [3, 2, 1]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_ties_stand_still(is_reversed: bool) -> None:  # noqa: FBT001
    held = rows(frame(2, (process(9, 1), process(8, 0), process(7, 1), process(6, 0))))

    ordered = sorted_rows(held, COLUMN_BY_KEY["user"], is_reversed=is_reversed)

    assert [row.process.pid for row in ordered] == [6, 8, 7, 9]


def test_the_least_important_columns_go_first() -> None:
    held = rows(frame(2))
    wide, normal, narrow = ([c.key for c in visible_columns(room, held)] for room in (200, 80, 50))

    assert wide == [column.key for column in COLUMNS if not column.only_if_used and not column.is_optional]
    assert set(narrow) < set(normal) < set(wide)
    assert {"gpu", "pid", "gpu_memory", "command"} <= set(narrow)


@pytest.mark.parametrize("room", range(0, 200, 7))
def test_the_columns_fit_and_the_most_important_ones_always_stay(room: int) -> None:
    chosen = visible_columns(room, rows(frame(2)))

    least = [column for column in DEFAULT_COLUMNS if column.rank == 0]
    assert [column for column in least if column not in chosen] == []
    assert chosen == least or sum((column.width or 16) + 1 for column in chosen) - 1 <= room


def test_a_narrow_column_is_there_where_a_wide_one_that_matters_more_has_no_room() -> None:
    keys = [column.key for column in visible_columns(79, (), used=frozenset({"progress"}), least_command=20)]

    assert "progress" not in keys
    assert "state" in keys


def test_a_column_that_somebody_asked_for_outlives_most_of_the_usual_ones() -> None:
    chosen = [*(column.key for column in DEFAULT_COLUMNS[:-1]), "container", "command"]
    keys = [column.key for column in visible_columns(79, (), chosen=chosen, least_command=20)]

    assert keys == ["gpu", "pid", "user", "gpu_memory", "sm", "cpu", "state", "container", "command"]


def test_the_video_columns_are_shown_while_somebody_uses_them() -> None:
    use = GpuProcess(gpu="GPU-0", gpu_index=0, type="C", encoder_percent=3.0, decoder_percent=0.0)
    busy = rows(frame(1, (process(1, gpus=(use,)),)))

    shown = [column.key for column in visible_columns(300, busy)]

    assert "encoder" in shown
    assert "decoder" not in shown


def test_chosen_columns_stand_in_their_order_and_unknown_keys_are_passed_over() -> None:
    shown = visible_columns(200, (), chosen=("command", "job", "no such column", "pid"))

    assert [column.key for column in shown] == ["command", "job", "pid"]


def test_of_the_chosen_columns_those_of_the_owner_go_first() -> None:
    shown = visible_columns(60, (), chosen=("pid", "gpu_memory", "unit", "container", "command"))

    assert [column.key for column in shown] == ["pid", "gpu_memory", "container", "command"]


def test_memory_is_a_share_of_the_gpu_and_on_an_instance_of_the_instance() -> None:
    instance = GpuInstance(id=3, profile="1g.10gb", metrics={MEMORY_TOTAL.key: 10 * GIB})
    uses = tuple(
        GpuProcess(gpu="GPU-00000000", gpu_index=0, type="C", memory_bytes=5 * GIB, gpu_instance=where)
        for where in (None, 3, 9)
    )
    held = rows(frame((gpu(0, instances=(instance,)),), (process(gpus=uses),)))

    assert [text("gpu_memory_percent", row) for row in held] == ["6", "50", NOTHING]


def test_a_row_knows_its_job() -> None:
    member = process(7)
    job = Job(key="j", kind=JobKind.TORCH, label="torchrun train.py", members=(member.id,))
    known, other = rows(frame(1, (member, process(8)), jobs=(job,)))

    assert (text("job", known), text("job", other)) == ("torchrun train.py", NOTHING)


def test_the_owner_is_shown_by_name_and_else_by_the_beginning_of_its_number() -> None:
    named = Owner(
        container=Container(runtime="docker", id="a" * 64, name="web"),
        pod=Pod(uid="u" * 36, name="web-0", namespace="prod"), trusted=("container", "pod"),
    )  # fmt: skip
    bare = Owner(
        container=Container(runtime="crio", id="b" * 64), pod=Pod(uid="12345678-9abc"),
        slurm=SlurmStep(job="84213", step="0"), session="tmux", terminal="pts/3",
        trusted=("container", "pod", "slurm"),
    )  # fmt: skip

    shown = [[text(key, one(owner=owner)) for key in ("container", "pod", "job", "session")] for owner in (named, bare)]

    assert shown == [["web", "web-0", NOTHING, NOTHING], ["b" * 12, "12345678", "84213.0", "tmux pts/3"]]
