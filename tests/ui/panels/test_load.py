"""Load colours, the mark of a free GPU, and the line of free GPUs and totals."""

from typing import Any

import pytest
from app_driver import MIDDLE, SMALL, WIDE, staged, text_of
from examples import GIB, frame, gpu, process
from msgspec.structs import replace

from gputop.core.model.catalogue import EVENT_REASONS, GPU_UTILIZATION, MEMORY_USED, MIG_MODE, PSTATE
from gputop.core.model.load import Load, memory_load, utilization_load
from gputop.core.model.metric import Missing
from gputop.core.model.sample import ComputeInstance, Frame, Gpu, GpuInstance, GpuState
from gputop.core.query.free import vacancies
from gputop.core.recording.gpu_history import History
from gputop.ui.panels import values
from gputop.ui.panels.gpus import gpu_panel
from gputop.ui.panels.header import header
from gputop.ui.render.layout import Density, arrange
from gputop.ui.render.line import Line
from gputop.ui.state.plots import Plots
from gputop.ui.state.view import PLOTTED, View


def unused(index: int, **fields: Any) -> Gpu:
    return gpu(index, {GPU_UTILIZATION: 0, MEMORY_USED: 0, PSTATE: 8, EVENT_REASONS: ("idle",)}, **fields)


def view(of: Frame, *, before: int = 0) -> View:
    history = History(PLOTTED)
    for ago in range(before, -1, -1):
        history.remember(replace(of, time_s=of.time_s - ago))
    return View(history=history, plots=Plots(history), frame=of, vacancies=vacancies(of, of))


def panel(shown: View, size: tuple[int, int], density: Density = Density.AUTO) -> list[Line]:
    return gpu_panel(shown, arrange(size, [0] * len(shown.gpus), density).gpus, size[0])[0]


def inks(lines: list[Line], text: str) -> set[str]:
    """Return the inks of the spans that contain a text."""
    return {ink for line in lines for part, ink in line.spans if text in part}


def mixed(gpus: int = 8, free: tuple[int, ...] = (1, 4, 7)) -> Frame:
    held = tuple(unused(n) if n in free else gpu(n) for n in range(gpus))
    return frame(held, tuple(process(100 + n, n) for n in range(gpus) if n not in free))


@pytest.mark.parametrize(
    ("percent", "utilization", "memory"),
    [
        (None, None, None), (0, Load.LOW, Load.LOW), (10, Load.LOW, Load.LOW), (11, Load.MIDDLE, Load.MIDDLE),
        (75, Load.MIDDLE, Load.MIDDLE), (76, Load.HIGH, Load.MIDDLE), (81, Load.HIGH, Load.HIGH),
    ],
)  # fmt: skip
def test_the_levels_of_load_are_those_that_users_of_nvitop_know(
    percent: float | None, utilization: Load | None, memory: Load | None
) -> None:
    assert (utilization_load(percent), memory_load(percent)) == (utilization, memory)


@pytest.mark.parametrize(("size", "density"), [(SMALL, Density.COMPACT), (WIDE, Density.DETAILED)])
@pytest.mark.parametrize(("busy", "ink"), [(5, "low"), (50, "middle"), (99, "high")])
def test_utilization_has_the_colour_of_its_load(
    size: tuple[int, int], density: Density, busy: int, ink: str
) -> None:  # fmt: skip
    shown = view(frame((gpu(0, {GPU_UTILIZATION: busy}),)), before=5)
    lines = panel(shown, size, density)

    assert inks(lines, f"{busy}%") == {ink}


@pytest.mark.parametrize(("used", "ink"), [(4, "low"), (40, "middle"), (70, "high"), (79, "hot")])
def test_memory_has_the_colour_of_its_load_and_is_hot_if_nearly_full(used: int, ink: str) -> None:
    lines = panel(view(frame((gpu(0, {MEMORY_USED: used * GIB}),))), SMALL, Density.COMPACT)

    assert inks(lines, f"{used}.0") == {ink}
    assert inks(lines, "━") | inks(lines, "╸") >= {ink}


def test_an_unknown_utilization_has_no_load() -> None:
    lines = panel(view(frame((gpu(0, {GPU_UTILIZATION: Missing.UNSUPPORTED}),))), SMALL, Density.COMPACT)

    assert not inks(lines, "–") & {"low", "middle", "high"}


def test_a_plot_keeps_its_colour_when_one_value_crosses_a_limit() -> None:
    history = History(PLOTTED)
    steady, peak = frame((gpu(0, {GPU_UTILIZATION: 60}),)), frame((gpu(0, {GPU_UTILIZATION: 90}),))
    for second in range(30):
        history.remember(replace(steady, time_s=steady.time_s + second))
    history.remember(replace(peak, time_s=peak.time_s + 30))
    lines = panel(View(history=history, plots=Plots(history), frame=peak), WIDE, Density.DETAILED)

    assert inks(lines, "90%") == {"high"}
    assert "high" not in inks(lines, "⣿")


@pytest.mark.parametrize(
    ("size", "density"),
    [(SMALL, Density.AUTO), (MIDDLE, Density.AUTO), (WIDE, Density.AUTO), (MIDDLE, Density.COMPACT)],
)
def test_every_free_gpu_and_no_other_says_so_in_a_word(size: tuple[int, int], density: Density) -> None:
    lines = panel(view(mixed()), size, density)
    words = [part for line in lines for part, ink in line.spans if ink == "free"]

    assert [word.strip() for word in words] == ["free"] * 3
    assert text_of(lines).count("free") == 3


def test_several_free_gpus_in_a_line_say_so() -> None:
    assert text_of(panel(view(mixed(16, (3, 9))), SMALL)).count("free") == 2


def test_the_strip_colours_the_number_of_a_free_gpu() -> None:
    lines = panel(view(mixed(120, (3,))), SMALL)

    assert [part for line in lines for part, ink in line.spans if ink == "free"] == ["  3"]


def test_idle_clocks_are_not_taken_for_a_free_gpu() -> None:
    held = unused(0)
    busy = replace(held, metrics=held.metrics | {MEMORY_USED.key: 60 * GIB})
    used = text_of(panel(view(frame((busy, gpu(1)), (process(1, 0),))), WIDE, Density.DETAILED))
    free = text_of(panel(view(frame((held, gpu(1)), ())), WIDE, Density.DETAILED))

    assert ("idle clocks" in used, "free" in used) == (True, False)
    assert ("idle" in free, "free" in free) == (False, True)


@pytest.mark.parametrize("width", [80, 120, 200])
def test_the_header_names_the_free_gpus_at_every_width(width: int) -> None:
    line = header(view(mixed()), width)

    assert "3 of 8 GPUs free: 1 4 7" in text_of([line])
    assert inks([line], "3 of 8") == {"free"}


def test_a_long_list_of_free_gpus_gives_way_to_their_number() -> None:
    free = tuple(range(0, 64, 2))

    assert "32 of 64 GPUs free · " in text_of([header(view(mixed(64, free)), 120)])


def test_free_instances_are_named_or_at_least_counted() -> None:
    parts = tuple(
        GpuInstance(
            id=n, profile="1g", metrics={MEMORY_USED.key: 0},
            compute_instances=(ComputeInstance(id=0, uuid=f"MIG-{n}", name="1g"),),
        )
        for n in (1, 2)
    )  # fmt: skip
    held = frame((gpu(0), unused(1, instances=parts)))
    split = replace(held.gpus[1], metrics=held.gpus[1].metrics | {MIG_MODE.key: True})
    shown = view(replace(held, gpus=(held.gpus[0], split), processes=(process(1, 0),)))

    assert "0 of 1 GPUs free · 2 of 2 instances free: 1:1 1:2" in text_of([header(shown, 120)])
    assert "2 of 3 free" in text_of([header(shown, 48)])
    assert inks(panel(shown, WIDE, Density.DETAILED), "free") == {"free"}


def test_a_lost_gpu_and_one_with_unread_processes_are_not_free() -> None:
    held = frame((unused(0), unused(1, state=GpuState.LOST), unused(2, missing={"processes": Missing.FORBIDDEN})), ())

    assert "1 of 3 GPUs free: 0 · 2 unknown" in text_of([header(view(held), 120)])


def test_the_header_has_the_totals_of_several_gpus() -> None:
    text = text_of([header(view(mixed()), 140)])

    assert "UTIL  56% · MEMORY 200GiB/640GiB · POWER 4.0kW · HOTTEST  60°C" in text
    assert "UTIL" not in text_of([header(view(frame(1)), 140)])


async def test_a_screen_of_some_users_processes_claims_no_gpu_to_be_free() -> None:
    held = mixed()
    async with staged(held, has_all_processes=False) as stage:
        assert "free" not in stage.header + stage.gpus
    async with staged(held) as stage:
        assert "3 of 8 GPUs free: 1 4 7" in stage.header


@pytest.mark.parametrize(
    ("reason", "state", "shown"),
    [
        ("idle", 0, "idle clocks"), ("idle", 8, "idle clocks"), ("power cap", 2, "P2 power cap"),
        ("power cap", 0, "power cap"), (None, 0, ""), (None, 8, "P8"),
    ],
)  # fmt: skip
def test_a_gpu_that_holds_memory_is_not_called_idle_because_its_clocks_are(
    reason: str | None, state: int, shown: str
) -> None:
    held = gpu(values={EVENT_REASONS: (reason,) if reason else (), PSTATE: state})

    assert "".join(text for text, _ in values.note(held, 12)).strip() == shown
