"""The screen as a whole: what arrives is shown, keys do what they say, and quitting never waits."""

import re

import pytest
from app_driver import MIDDLE, SMALL, WIDE, Stage, staged, text_of
from examples import NOW, frame, gpu, process
from msgspec.structs import replace

from gputop.core.model.catalogue import GPU_UTILIZATION, TEMPERATURE
from gputop.core.model.sample import Frame, GpuState
from gputop.core.protocol.command import ReadNow, SetInterval
from gputop.core.protocol.link import Down
from gputop.ui.input.actions import ACTIONS, CHORD
from gputop.ui.messages import NewsArrived
from gputop.ui.screens.pages.gpu import GpuScreen
from gputop.ui.screens.pages.help import HelpScreen


def busy(percent: int) -> Frame:
    return replace(frame(1), gpus=(gpu(0, {GPU_UTILIZATION: percent}),))


@pytest.mark.parametrize("size", [WIDE, MIDDLE, SMALL, (60, 24), (40, 10), (20, 5)])
async def test_the_screen_stands_before_the_first_frame(size: tuple[int, int]) -> None:
    async with staged(size=size) as stage:
        assert "gputop" in stage.header
        assert "Quit" in stage.footer
        assert "waiting for the driver…" in stage.gpus


async def test_a_frame_is_shown() -> None:
    async with staged(busy(37)) as stage:
        assert "node7" in stage.header
        assert "37%" in stage.gpus
        assert "CPU" in stage.host
        assert "4711" in stage.processes[1]


async def test_of_waiting_frames_only_the_newest_is_shown() -> None:
    assert NewsArrived(busy(1)).can_replace(NewsArrived(busy(2)))


async def test_a_driver_without_gpus_is_told() -> None:
    async with staged(frame(0, ())) as stage:
        assert "no GPU" in stage.gpus


@pytest.mark.parametrize("key", ["q", "f10", "ctrl+c"])
async def test_it_quits_at_once_and_lets_the_sampler_go(key: str) -> None:
    async with staged(frame()) as stage:
        await stage.pilot.press(key)
        await stage.pilot.pause()

        assert not stage.app.is_running or stage.app._exit
    assert stage.link.is_closed


async def test_esc_never_quits() -> None:
    async with staged(frame()) as stage:
        await stage.press("escape", "escape", "escape")

        assert stage.app.is_running


async def test_a_late_frame_shows_its_age_and_greys_the_values() -> None:
    async with staged(frame()) as stage:
        await stage.age(12)

        assert "last frame 12s ago" in stage.header
        assert stage.app.main.gpus.is_grey
        assert stage.app.main.processes.is_grey


async def test_a_first_frame_that_does_not_come_is_waited_for_with_its_time() -> None:
    async with staged() as stage:
        await stage.age(12)

        assert "waiting for the driver… for 12s" in stage.header
        assert "last frame" not in stage.header


async def test_a_frame_within_two_intervals_is_not_late() -> None:
    async with staged(frame()) as stage:
        await stage.age(1.9)

        assert "ago" not in stage.header


async def test_the_next_frame_ends_the_greying() -> None:
    async with staged(frame()) as stage:
        await stage.age(12)
        await stage.deliver(frame())

        assert "ago" not in stage.header
        assert not stage.app.main.gpus.is_grey


async def test_a_dead_sampler_is_told_with_its_reason_and_the_countdown() -> None:
    async with staged(busy(37), Down("killed by signal 9", 5.0)) as stage:
        first = stage.header
        await stage.age(2)

        assert "SAMPLER DOWN: killed by signal 9" in first
        assert "restarting in 5s" in first
        assert "restarting in 3s" in stage.header
        assert "37%" in stage.gpus
        assert stage.app.main.gpus.is_grey


async def test_a_sampler_that_is_not_started_again_says_so() -> None:
    async with staged(Down("no driver", None)) as stage:
        assert "not restarted" in stage.header


async def test_a_timer_without_news_paints_nothing() -> None:
    async with staged(frame()) as stage:
        before = stage.app.main.header.lines
        await stage.age(1)

        assert stage.app.main.header.lines is before


async def test_a_line_that_stays_the_same_is_not_painted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with staged(busy(37)) as stage:
        painted: list[int] = []
        header = stage.app.main.header
        monkeypatch.setattr(header, "refresh", lambda *regions: painted.extend(region.y for region in regions))
        await stage.deliver(busy(38))

        assert painted == []


async def test_pause_holds_the_picture_and_history_goes_on() -> None:
    async with staged(busy(37)) as stage:
        await stage.press("Z")
        await stage.deliver(busy(61))
        held, header = stage.gpus, stage.header
        await stage.press("Z")

        assert "37%" in held
        assert "PAUSED" in header
        assert "61%" in stage.gpus
        assert "PAUSED" not in stage.header
        assert list(stage.app.view.history.window("GPU-00000000", GPU_UTILIZATION, 9)) == [37, 61]


async def test_a_lost_gpu_shows_its_last_values() -> None:
    lost = replace(frame(1), gpus=(gpu(0, metrics={}, missing={}, state=GpuState.LOST, read_s=NOW),))
    async with staged(replace(frame(1), gpus=(gpu(0, {TEMPERATURE: 41}),)), lost) as stage:
        assert "LOST" in stage.gpus
        assert "41°C" in stage.gpus


def on_a_box_of_a_long_name() -> Frame:
    made = frame()
    return replace(made, driver=replace(made.driver, version="570.124.06", simulated="workstation"))


@pytest.mark.parametrize(("keys", "seconds"), [(("plus",), 2.0), (("minus",), 0.5), (("plus",) * 9, 10.0)])
@pytest.mark.parametrize("size", [WIDE, SMALL])
async def test_plus_and_minus_change_the_interval(keys: tuple[str, ...], seconds: float, size: tuple[int, int]) -> None:
    async with staged(on_a_box_of_a_long_name(), size=size) as stage:
        await stage.press(*keys)

        assert stage.link.sent[-1] == SetInterval(seconds)
        assert f"every {seconds:g}s" in stage.header


async def test_ctrl_r_reads_now() -> None:
    async with staged(frame()) as stage:
        await stage.press("ctrl+r")

        assert stage.link.sent == [ReadNow()]


async def test_g_goes_through_the_sizes_of_the_gpu_panel() -> None:
    async with staged(frame(2)) as stage:
        pictures = [stage.gpus]
        for _ in range(3):
            await stage.press("g")
            pictures.append(stage.gpus)

        assert "╭" in pictures[0]
        assert "╭" not in pictures[1]
        assert "╭" in pictures[2]
        assert pictures[3] == pictures[0]


async def test_m_hides_the_host() -> None:
    async with staged(frame()) as stage:
        await stage.press("m")

        assert stage.app.main.host.size.height == 0


async def test_a_new_size_is_used_at_once() -> None:
    async with staged(frame(8), size=WIDE) as stage:
        await stage.pilot.resize_terminal(*SMALL)
        await stage.pilot.pause()
        await stage.pilot.pause()

        assert "╭" not in stage.gpus
        assert all(len(line) <= 80 for line in stage.processes)


@pytest.mark.parametrize("key", ["f1", "h", "question_mark"])
async def test_help_opens_and_any_of_its_keys_closes_it(key: str) -> None:
    async with staged(frame()) as stage:
        await stage.press(key)
        opened = isinstance(stage.app.screen, HelpScreen)
        await stage.press("escape")

        assert opened
        assert stage.app.screen is stage.app.main


async def test_detail_shows_the_gpu_that_is_looked_at() -> None:
    async with staged(frame(3)) as stage:
        await stage.press("2", "i")

        assert isinstance(stage.app.screen, GpuScreen)
        assert stage.app.screen.gpu.index == 2


async def test_detail_shows_the_gpu_of_the_selected_process() -> None:
    async with staged(frame(3, (process(5, 1),))) as stage:
        await stage.press("down", "i")

        assert isinstance(stage.app.screen, GpuScreen)
        assert stage.app.screen.gpu.index == 1


async def test_detail_follows_new_frames() -> None:
    async with staged(busy(37)) as stage:
        await stage.press("i")
        await stage.deliver(busy(61))

        assert isinstance(stage.app.screen, GpuScreen)
        assert "61%" in text_of(stage.app.screen.page(100, 40))


@pytest.mark.parametrize("key", ["colon", "ctrl+p"])
async def test_the_palette_finds_an_action_by_its_name(key: str) -> None:
    async with staged(frame(2)) as stage:
        await stage.press(key, *"theme: light")
        await stage.app.workers.wait_for_complete()
        await stage.press("enter")
        await stage.app.workers.wait_for_complete()
        await stage.pilot.pause()

        assert stage.app.theme == "light"


async def test_a_click_in_the_footer_is_as_good_as_the_key() -> None:
    async with staged(frame()) as stage:
        await stage.pilot.click("FooterPanel", offset=(stage.footer.index("Tree"), 0))
        await stage.pilot.pause()

        assert "Tree" in stage.processes[0]


async def test_redraw_paints_without_harm() -> None:
    async with staged(frame()) as stage:
        await stage.press("ctrl+l")

        assert "node7" in stage.header


def test_every_f_key_has_a_letter_twin() -> None:
    for action in ACTIONS:
        function_keys = [key for key in action.keys if re.fullmatch(r"(shift\+)?f\d+", key)]

        assert not function_keys or set(action.keys) - set(function_keys), action.id


def test_the_chord_letters_are_in_the_help() -> None:
    text = next(action.help for action in ACTIONS if action.id == "sort-chord")

    assert all(f" {letter} " in text for letter in CHORD)


async def stage_is_ascii(stage: Stage) -> bool:
    strips = [strip.text for strip in stage.app.screen._compositor.render_strips()]
    return all(text.isascii() for text in strips)


@pytest.mark.parametrize("keys", [(), ("g",), ("f1",), ("i",)])
async def test_ascii_mode_draws_nothing_else(keys: tuple[str, ...]) -> None:
    odd = replace(frame(2), processes=(process(1, command="训练 – …"),))
    async with staged(odd, is_ascii=True) as stage:
        await stage.press(*keys)

        assert await stage_is_ascii(stage)


async def test_ascii_mode_has_plots() -> None:
    async with staged(*[busy(90)] * 9, is_ascii=True) as stage:
        assert "|||" in stage.gpus


async def test_a_box_without_a_driver_ends_the_screen_with_the_samplers_words() -> None:
    down = Down("gputop: no NVIDIA driver here", None, 3)
    async with staged(down) as stage:
        await stage.pilot.pause()

        assert stage.app.return_value == down


async def test_a_sampler_that_gives_up_later_leaves_the_last_values() -> None:
    async with staged(frame(), Down("gputop: no NVIDIA driver here", None, 3)) as stage:
        assert stage.app.is_running
        assert "no NVIDIA driver here" in stage.header
