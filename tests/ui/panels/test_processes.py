"""The process table: a window with a cursor that stays on its process."""

from typing import Any

import pytest
from app_driver import SMALL, WIDE, Stage, staged
from examples import GIB, NOW, frame, process
from rich.cells import cell_len
from textual.events import MouseScrollDown

from gputop.core.model.owner import Owner
from gputop.core.model.progress import Progress
from gputop.core.model.sample import Frame, HostProcess, Presence


def many(count: int = 60, **fields: Any) -> Frame:
    """Return a frame with processes of pids 100, 101, … of which each uses a little more CPU than the one before."""
    return frame(1, tuple(process(100 + n, cpu_percent=float(n), **fields) for n in range(count)))


def pids(stage: Stage) -> list[int]:
    return [int(line.split()[1]) for line in stage.processes[1:] if line.split()]


async def test_the_titles_stay_while_rows_scroll() -> None:
    async with staged(many(), size=SMALL) as stage:
        await stage.press("end")

        assert "PID" in stage.processes[0]
        assert pids(stage)[-1] == 159


async def test_at_the_start_there_is_no_cursor_and_the_first_move_sets_it_on_the_first_row() -> None:
    async with staged(many()) as stage:
        assert stage.cursor is None

        await stage.press("down")

        assert " 100 " in (stage.cursor or "")


async def test_the_cursor_stays_on_its_process_when_the_order_changes() -> None:
    async with staged(many(20)) as stage:
        await stage.press("down", "down", "down", "P")

        assert " 102 " in (stage.cursor or "")
        assert pids(stage)[0] == 119


async def test_the_cursor_follows_its_process_out_of_the_old_window() -> None:
    async with staged(many(), size=SMALL) as stage:
        await stage.press("down", "P")

        assert " 100 " in (stage.cursor or "")


async def test_a_reused_pid_is_another_process() -> None:
    reused = frame(1, (process(1), process(2, start_ticks=999), process(3)))
    async with staged(frame(1, (process(1), process(2), process(3)))) as stage:
        await stage.press("down", "down")
        await stage.deliver(reused)
        row = stage.app.main.processes.selected

        assert row is not None
        assert row.process.start_ticks == 999, "the place of the process that is gone"


async def test_when_the_process_ends_the_cursor_stays_in_its_place() -> None:
    async with staged(frame(1, (process(1), process(2), process(3)))) as stage:
        await stage.press("down", "down")
        await stage.deliver(frame(1, (process(1), process(3))))

        assert " 3 " in (stage.cursor or "")


async def test_when_all_processes_end_nothing_breaks() -> None:
    async with staged(many(3)) as stage:
        await stage.press("down", "end")
        await stage.deliver(frame(1, ()))
        await stage.press("down", "pagedown", "home", "right")

        assert stage.cursor is None
        assert "no processes to show" in stage.processes[1]


@pytest.mark.parametrize(
    ("keys", "title", "first"),
    [
        (("P",), "CPU%▼", 119), (("N",), "PID▲", 100), (("N", "I"), "PID▼", 119), (("M",), "RSS▼", 100),
        (("T",), "TIME▼", 100), (("G",), "GPU-MEM▼", 100), (("o", "c"), "CPU%▼", 119), (("o", "C"), "CPU%▲", 100),
        (("o", "n"), "GPU▲", 100), (("full_stop",), "PID▲", 100), (("P", "comma"), "MBW%▼", 100),
    ],
)  # fmt: skip
async def test_keys_sort_and_the_title_shows_it(keys: tuple[str, ...], title: str, first: int) -> None:
    async with staged(many(20), size=(200, 60)) as stage:
        await stage.press(*keys)

        assert title in stage.processes[0]
        assert pids(stage)[0] == first


async def test_a_chord_survives_fast_typing() -> None:
    async with staged(many(20)) as stage:
        await stage.pilot.press("o", "c", "o", "p", "o", "c")
        await stage.pilot.pause()

        assert "CPU%▼" in stage.processes[0]


async def test_a_chord_in_progress_is_shown_and_esc_ends_it() -> None:
    async with staged(many(20)) as stage:
        await stage.press("o")
        during = stage.footer
        await stage.press("escape")

        assert "sort by:" in during
        assert "sort by:" not in stage.footer


async def test_a_key_that_no_chord_knows_does_nothing_else() -> None:
    async with staged(many(20)) as stage:
        await stage.press("o", "q")

        assert stage.app.is_running
        assert "GPU▲" in stage.processes[0]


async def test_a_click_on_a_title_sorts_and_a_second_one_inverts() -> None:
    async with staged(many(20)) as stage:
        at = stage.processes[0].index("CPU%")
        await stage.pilot.click("ProcessPanel", offset=(at, 0))
        await stage.pilot.pause()
        first = stage.processes[0]
        await stage.pilot.click("ProcessPanel", offset=(at, 0))
        await stage.pilot.pause()

        assert "CPU%▼" in first
        assert "CPU%▲" in stage.processes[0]


async def test_a_click_on_a_row_selects_it() -> None:
    async with staged(many(20)) as stage:
        await stage.pilot.click("ProcessPanel", offset=(20, 3))
        await stage.pilot.pause()

        assert " 102 " in (stage.cursor or "")


async def test_the_wheel_moves_the_window_and_a_frame_does_not_move_it_back() -> None:
    async with staged(many(), size=SMALL) as stage:
        await stage.pilot._post_mouse_events([MouseScrollDown], "ProcessPanel", offset=(5, 5), button=0)
        await stage.pilot.pause()
        moved = pids(stage)[0]
        await stage.deliver(many())

        assert moved == 103
        assert pids(stage)[0] == 103


async def test_a_process_on_two_gpus_has_two_rows() -> None:
    async with staged(frame(2, (process(7, 0, 1),))) as stage:
        assert pids(stage) == [7, 7]


async def test_a_digit_shows_only_that_gpu_and_esc_shows_all() -> None:
    async with staged(frame(3)) as stage:
        await stage.press("1")
        only = pids(stage)
        await stage.press("escape")

        assert only == [4712]
        assert pids(stage) == [4711, 4712, 4713]


async def test_the_same_digit_again_shows_all() -> None:
    async with staged(frame(3)) as stage:
        await stage.press("1", "1")

        assert len(pids(stage)) == 3


async def test_a_click_on_a_gpu_shows_only_its_processes() -> None:
    async with staged(frame(8), size=SMALL) as stage:
        await stage.pilot.click("GpuPanel", offset=(10, 3))
        await stage.pilot.pause()

        assert pids(stage) == [4713]


@pytest.mark.parametrize(
    ("presence", "words"),
    [(Presence.GONE, "exited; the"), (Presence.HIDDEN, "not visible from here"), (Presence.REUSED, "now belongs")],
)
async def test_a_pid_that_is_not_what_it_was_says_so(presence: Presence, words: str) -> None:
    odd = HostProcess(pid=5, presence=presence, gpus=process(5).gpus)
    async with staged(frame(1, (odd,))) as stage:
        assert words in stage.processes[1]


async def test_text_that_looks_like_markup_is_shown_as_it_is() -> None:
    async with staged(frame(1, (process(1, command="x [red]a[/] [bold"), process(2, user="[b]")))) as stage:
        assert "x [red]a[/] [bold" in stage.processes[1]
        assert "[b]" in stage.processes[2]


async def test_wide_characters_do_not_move_the_right_edge() -> None:
    odd = tuple(process(n, command=text * 40) for n, text in enumerate(("训练", "a训", "e\u0301", "x"), 1))
    async with staged(frame(1, odd), size=SMALL) as stage:
        lines = [line for line in stage.processes if line.strip()]

        assert {cell_len(line) for line in lines} == {79}


async def test_right_scrolls_the_command_only() -> None:
    async with staged(frame(1, (process(1, command="0123456789abcdef"),))) as stage:
        await stage.press("right")

        assert stage.processes[1].rstrip().endswith("89abcdef")
        assert " 1 " in stage.processes[1]


async def test_where_there_is_no_room_the_interpreter_and_its_directory_go_first() -> None:
    long = "/very/long/path/to/some/environment/bin/python train.py --with --many --arguments"
    async with staged(frame(1, (process(1, command=long),)), size=SMALL) as stage:
        assert "1h00 train.py --with" in stage.processes[1]


async def test_a_column_that_was_used_once_stays() -> None:
    use = process(1).gpus[0]
    busy = frame(1, (process(1, gpus=(type(use)(gpu=use.gpu, gpu_index=0, type="C", encoder_percent=9.0),)),))
    async with staged(busy, size=(200, 60)) as stage:
        await stage.deliver(frame(1, (process(1),)))

        assert "ENC%" in stage.processes[0]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
async def test_columns_go_and_nothing_wraps(width: int) -> None:
    async with staged(many(), size=(width, 24)) as stage:
        assert {cell_len(line) for line in stage.processes[1:]} == {width}
        assert "GPU-MEM" in stage.processes[0]


async def test_numbers_stay_in_their_columns() -> None:
    small = frame(1, (process(1, cpu_percent=0.0, memory_bytes=1, threads=1),))
    large = frame(1, (process(1, cpu_percent=6400.0, memory_bytes=999 * GIB, threads=9999),))
    async with staged(small, size=(200, 60)) as stage:
        before = stage.processes[1].index("python")
        await stage.deliver(large)

        assert stage.processes[1].index("python") == before


async def test_ranks_of_a_job_are_told_apart_on_a_small_screen() -> None:
    long = "/opt/llm/bin/python -u train.py --config configs/llama3_8b.toml --bf16 --fsdp"
    ranks = tuple(process(n, command=long, owner=Owner(rank=n, world_size=8)) for n in range(1, 9))
    async with staged(frame(1, ranks), size=SMALL) as stage:
        shown = "\n".join(stage.processes)

        assert all(f"r{n} train.py" in shown for n in range(1, 9))


async def test_one_of_many_rows_makes_no_column_of_dashes() -> None:
    told = Progress(time_s=NOW, step=5, total=10)
    some = [process(n, progress=told if n < 2 else None) for n in range(1, 12)]
    async with staged(frame(1, tuple(some)), size=WIDE) as stage:
        one = stage.processes[0]
    some[5] = process(6, progress=told)
    async with staged(frame(1, tuple(some)), size=WIDE) as stage:
        assert "PROGRESS" not in one
        assert "PROGRESS" in stage.processes[0]
