"""What the panels say of a frame, as plain lines."""

from collections.abc import Sequence
from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, WIDE, text_of
from examples import GIB, NOW, frame, gpu
from msgspec.structs import replace
from rich.cells import cell_len

from gputop.core.model.catalogue import FAN, GPU_UTILIZATION, MEMORY_USED, SM_ACTIVE, TEMPERATURE
from gputop.core.model.metric import Missing
from gputop.core.model.sample import (
    ComputeInstance,
    DriverInfo,
    Frame,
    Gpu,
    GpuInstance,
    GpuState,
    Host,
    HostDetails,
    Temperature,
)
from gputop.core.recording.gpu_history import History
from gputop.core.text.ascii import plain
from gputop.core.text.fit import fit, fit_right
from gputop.ui.panels.gpus import gpu_panel
from gputop.ui.panels.header import header
from gputop.ui.panels.host import host_lines
from gputop.ui.panels.values import name_within, rate
from gputop.ui.render.layout import Density, arrange
from gputop.ui.render.line import Line
from gputop.ui.state.plots import Plots
from gputop.ui.state.view import PLOTTED, View


def view(of: Frame, **fields: Any) -> View:
    history = History(PLOTTED)
    history.remember(of)
    return View(history=history, plots=Plots(history), frame=of, **fields)


def panel(gpus: Sequence[Gpu], size: tuple[int, int], *, density: Density = Density.AUTO, **fields: Any) -> list[Line]:
    shown = view(replace(frame(0), gpus=tuple(gpus)), **fields)
    plan = arrange(size, [len(each.instances) for each in gpus], density).gpus
    return gpu_panel(shown, plan, size[0])[0]


def mig() -> Gpu:
    return gpu(
        0,
        {GPU_UTILIZATION: Missing.UNSUPPORTED},
        instances=tuple(
            GpuInstance(
                id=n,
                profile="1g.10gb",
                metrics={"memory_total_bytes": 10 * GIB, "memory_used_bytes": n * GIB, "sm_active_percent": 50.0},
                compute_instances=(ComputeInstance(id=0, uuid=f"MIG-{n}", name="1c"),) * n,
            )
            for n in (1, 2, 5)
        ),
    )


@pytest.mark.parametrize("size", [WIDE, MIDDLE, SMALL, (60, 24)])
@pytest.mark.parametrize("count", [1, 2, 3, 8, 16, 40])
def test_no_line_is_wider_than_the_screen_nor_the_panel_higher_than_planned(size: tuple[int, int], count: int) -> None:
    lines = panel([gpu(n) for n in range(count)], size)

    assert max(cell_len(text_of([line])) for line in lines) <= size[0]
    assert len(lines) == arrange(size, [0] * count, Density.AUTO).gpus.height


@pytest.mark.parametrize("size", [WIDE, MIDDLE, SMALL, (60, 24)])
@pytest.mark.parametrize("count", [1, 8])
@pytest.mark.parametrize("name", ["学習機械" * 12, "e\u0301" * 90, "x" * 90, "長い 名前 " * 12])
def test_a_name_of_any_length_and_width_moves_no_edge(size: tuple[int, int], count: int, name: str) -> None:
    usual = panel([gpu(n) for n in range(count)], size)
    odd = panel([gpu(n, name=name) for n in range(count)], size)

    assert {cell_len(text_of([line])) for line in odd} == {cell_len(text_of([line])) for line in usual}


@pytest.mark.parametrize("density", [Density.COMPACT, Density.DETAILED])
def test_nothing_moves_when_numbers_change_their_width(density: Density) -> None:
    small = gpu(0, {GPU_UTILIZATION: 0, MEMORY_USED: 0, TEMPERATURE: 9, SM_ACTIVE: 0.0, FAN: 0})
    large = gpu(0, {GPU_UTILIZATION: 100, MEMORY_USED: 80 * GIB, TEMPERATURE: 101, SM_ACTIVE: 100.0, FAN: 100})

    for few, many in zip(panel([small], MIDDLE, density=density), panel([large], MIDDLE, density=density), strict=True):
        assert cell_len(text_of([few])) == cell_len(text_of([many]))


def test_an_absent_value_is_a_dash_and_never_zero() -> None:
    text = text_of(panel([gpu(0, {GPU_UTILIZATION: Missing.UNSUPPORTED})], SMALL, density=Density.COMPACT))

    assert "–" in text
    assert "0%" not in text


def test_a_column_that_no_board_fills_is_left_out() -> None:
    assert "FAN" not in text_of(panel([gpu(0), gpu(1)], WIDE, density=Density.COMPACT))
    assert "FAN" in text_of(panel([gpu(0), gpu(1, {FAN: 40})], WIDE, density=Density.COMPACT))


@pytest.mark.parametrize("size", [WIDE, MIDDLE, SMALL])
@pytest.mark.parametrize("density", [Density.AUTO, Density.COMPACT])
@pytest.mark.parametrize(("state", "word"), [(GpuState.LOST, "LOST"), (GpuState.HUNG, "NO ANSWER")])
def test_a_gpu_that_does_not_answer_keeps_its_place_and_says_why(
    size: tuple[int, int], density: Density, state: GpuState, word: str
) -> None:
    gone = gpu(1, metrics={}, missing={}, state=state, read_s=NOW)
    known = {gone.uuid: gpu(1, {TEMPERATURE: 42})}

    text = text_of(panel([gpu(0), gone, gpu(2)], size, density=density, known=known))

    assert word in text
    assert "since " in text
    assert "42°C" in text


def test_its_last_values_stand_back() -> None:
    gone = gpu(0, metrics={}, missing={}, state=GpuState.LOST, read_s=NOW)

    lines = panel([gone], SMALL, density=Density.COMPACT, known={gone.uuid: gpu(0)})

    assert {ink for _, ink in lines[1].spans} <= {"title", "muted", "faint", "alarm", "hot", "text"}


@pytest.mark.parametrize("density", [Density.AUTO, Density.COMPACT])
def test_instances_are_listed_under_their_gpu(density: Density) -> None:
    text = text_of(panel([mig()], MIDDLE, density=density))

    assert text.count("1g.10gb") == 3
    assert "1g.10gb×5" in text
    assert "5.0/10.0GiB" in text


def test_more_gpus_than_lines_are_counted_together() -> None:
    gpus = [*(gpu(n, {GPU_UTILIZATION: 50}) for n in range(63)), gpu(63, state=GpuState.LOST)]

    text = text_of(panel(gpus, SMALL))

    assert "1 does not answer" in text
    assert "50%" in text


def test_the_header_names_host_driver_and_count() -> None:
    text = text_of([header(view(frame(2)), 200)])

    assert all(part in text for part in ("node7", "2 GPUs", "driver 570.124.06", "CUDA 12.8", "every 1s"))


def test_a_simulated_box_is_labelled_even_where_it_is_narrow() -> None:
    simulated = frame(2, driver=DriverInfo(version="570.124.06", simulated="dgx-h100"))

    assert "SIMULATED dgx-h100" in text_of([header(view(simulated), 60)])


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_the_header_is_one_line(width: int) -> None:
    assert cell_len(text_of([header(view(frame(2)), width)])) == width


@pytest.mark.parametrize("lines", [0, 1, 2, 3])
def test_the_host_has_the_lines_that_it_was_given(lines: int) -> None:
    shown = view(frame(2))
    assert shown.frame is not None

    drawn = host_lines(shown.frame.host, shown, (120, lines))

    assert len(drawn) == lines
    assert all(cell_len(text_of([line])) <= 120 for line in drawn)


def test_a_host_of_which_nothing_is_known_shows_dashes() -> None:
    text = text_of(host_lines(Host(name="x"), view(frame(1)), (120, 3)))

    assert "–" in text
    assert "0%" not in text


def test_more_cores_than_cells_share_cells() -> None:
    host = Host(name="x", cores_percent=tuple(float(n % 100) for n in range(512)))

    assert cell_len(text_of(host_lines(host, view(frame(1)), (120, 3))[2:])) <= 120


@pytest.mark.parametrize("text", ["abc", "训练模型", "e\u0301te\u0301", "a训b练c"])
@pytest.mark.parametrize("width", [0, 1, 2, 3, 5, 9])
def test_text_is_fitted_as_the_terminal_counts(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) == width
    assert cell_len(fit_right(text, width)) == width


def test_plain_text_has_the_width_of_what_it_stands_for() -> None:
    rich = "╭─ GPU 0 · 61°C ━━╸── ▲ 训练 …"

    assert plain(rich).isascii()
    assert cell_len(plain(rich)) == cell_len(rich)


@pytest.mark.parametrize(
    ("name", "width", "short"),
    [
        ("NVIDIA H100 80GB HBM3", 20, "H100 80GB HBM3"),
        ("NVIDIA H100 80GB HBM3", 10, "H100 80GB"),
        ("NVIDIA GeForce RTX 4090", 8, "RTX 4090"),
        ("NVIDIA A100-SXM4-80GB", 8, "A100-SXM4-80GB"),
    ],
)
def test_a_name_loses_whole_words(name: str, width: int, short: str) -> None:
    assert name_within(name, width) == short


@pytest.mark.parametrize("value", [None, 0.0, 999.0, 1023.0, 99_999.0, 5e6, 1.2e9, 8.9e11])
def test_a_rate_takes_five_cells(value: float | None) -> None:
    assert len(rate(value)) == 5


def test_the_details_of_the_host_fill_the_room_beside_the_cores() -> None:
    details = HostDetails(
        network_received_bytes_per_s=1.5e9, network_sent_bytes_per_s=2e6, cpu_hertz=3.1e9, users=("ann", "bob"),
        temperatures=(Temperature(chip="k10temp", label="Tctl", celsius=96.0, high_celsius=95.0),),
    )  # fmt: skip
    host = Host(name="x", cores_percent=(50.0,) * 16, details=details)
    wide, narrow = (text_of(host_lines(host, view(frame(1)), (width, 3))[2:]) for width in (160, 70))

    assert "net ↓ 1.4G ↑ 1.9M" in " ".join(wide.split())
    assert ("96°C" in wide, "3.1 GHz" in wide, "users 2" in wide) == (True, True, True)
    assert "16 cores" in narrow
    assert cell_len(narrow) <= 70
