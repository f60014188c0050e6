"""The room is shared so that GPUs are seen and processes always have some."""

from itertools import product

import pytest
from app_driver import MIDDLE, SMALL, WIDE

from gputop.ui.render.layout import LEAST_ROWS, Density, Kind, arrange, cards_height, column_width, steady

SIZES = (WIDE, MIDDLE, SMALL)


@pytest.mark.parametrize(("size", "gpus"), list(product(SIZES, range(1, 17))))
def test_processes_always_have_their_rows(size: tuple[int, int], gpus: int) -> None:
    shared = arrange(size, [0] * gpus, Density.AUTO)

    assert size[1] - 3 - shared.host_lines - shared.gpus.height >= LEAST_ROWS


@pytest.mark.parametrize(
    ("size", "gpus", "kind"),
    [
        (WIDE, 1, Kind.CARDS), (WIDE, 8, Kind.CARDS), (WIDE, 16, Kind.CARDS),
        (MIDDLE, 1, Kind.CARDS), (MIDDLE, 8, Kind.CARDS), (MIDDLE, 16, Kind.LINES),
        (SMALL, 1, Kind.CARDS), (SMALL, 8, Kind.LINES), (SMALL, 16, Kind.BLOCKS), (SMALL, 64, Kind.STRIP),
        ((60, 24), 8, Kind.LINES), ((60, 24), 16, Kind.STRIP),
    ],
)  # fmt: skip
def test_cards_give_way_to_lines_and_lines_to_less(size: tuple[int, int], gpus: int, kind: Kind) -> None:
    assert arrange(size, [0] * gpus, Density.AUTO).gpus.kind is kind


def test_compact_means_a_line_each() -> None:
    plan = arrange(WIDE, [0] * 4, Density.COMPACT).gpus

    assert (plan.kind, plan.height) == (Kind.LINES, 5)


def test_detailed_takes_what_processes_do_not_need() -> None:
    detailed = arrange(WIDE, [0] * 8, Density.DETAILED).gpus

    assert detailed.height > arrange(WIDE, [0] * 8, Density.AUTO).gpus.height


def test_detailed_without_room_falls_back_to_lines() -> None:
    assert arrange(SMALL, [0] * 8, Density.DETAILED).gpus.kind is Kind.LINES


def test_instances_get_lines_of_their_own() -> None:
    without, with_them = (arrange(MIDDLE, [count], Density.COMPACT).gpus for count in (0, 7))

    assert with_them.height > without.height


def test_instances_go_when_there_is_no_room_for_them() -> None:
    plan = arrange(SMALL, [7] * 8, Density.COMPACT).gpus

    assert (plan.kind, plan.has_instances) == (Kind.LINES, False)


def test_in_a_row_of_cards_the_tallest_counts() -> None:
    card = column_width(120, 2)

    assert cards_height(card, 2, (2, 1), [0, 7]) == cards_height(card, 2, (2, 1), [7, 7])


def test_a_low_screen_has_no_host() -> None:
    assert arrange((80, 14), [0], Density.AUTO).host_lines == 0


def test_the_host_can_be_hidden() -> None:
    assert arrange(WIDE, [0], Density.AUTO, has_host=False).host_lines == 0


@pytest.mark.parametrize("size", [(1, 1), (10, 3), (30, 8), (500, 200)])
def test_any_size_has_an_arrangement(size: tuple[int, int]) -> None:
    assert arrange(size, [0] * 8, Density.AUTO).gpus.height >= 1


@pytest.mark.parametrize("size", [MIDDLE, WIDE, (160, 48), (400, 100)])
def test_one_gpu_with_few_processes_leaves_no_empty_screen(size: tuple[int, int]) -> None:
    shared = arrange(size, [0], Density.AUTO, wanted=LEAST_ROWS)
    empty = size[1] - 3 - LEAST_ROWS - shared.gpus.height - shared.host_lines

    assert shared.gpus.plot_rows >= 8
    assert empty <= size[1] // 10


@pytest.mark.parametrize("gpus", [1, 2, 4, 8, 16])
def test_spare_lines_go_to_the_plots_of_gpus_before_those_of_the_host(gpus: int) -> None:
    crowded, calm = (arrange(WIDE, [0] * gpus, Density.AUTO, wanted=wanted) for wanted in (200, 12))

    assert calm.gpus.plot_rows > crowded.gpus.plot_rows
    assert crowded.host_lines == 3


@pytest.mark.parametrize(("size", "wanted"), list(product(SIZES, (0, 6, 12, 20, 40, 200))))
def test_plots_take_no_line_of_a_process(size: tuple[int, int], wanted: int) -> None:
    for gpus in range(1, 17):
        usual = arrange(size, [0] * gpus, Density.AUTO)
        shared = arrange(size, [0] * gpus, Density.AUTO, wanted=wanted)
        left, before = (size[1] - 3 - one.host_lines - one.gpus.height for one in (shared, usual))

        assert left >= min(before, max(LEAST_ROWS, wanted))


def test_a_process_that_comes_and_goes_moves_no_panel() -> None:
    held = steady(0, 12)

    assert steady(held, 12) == steady(held, 13) == steady(held, 11) == held
    assert steady(held, 60) > 60
    assert steady(60, 12) < 60
