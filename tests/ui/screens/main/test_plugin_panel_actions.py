"""Panels of plugins: each is asked for lines about the frame, in a thread of its own."""

from collections.abc import Iterable

from fake_host import FakeHost

from gputop.core.plugins.panel import Panel, Shown
from gputop.ui.messages import PanelChanged
from gputop.ui.screens.main.plugin_panel_actions import PluginPanelActions
from gputop.ui.screens.pages.help import HelpScreen

PATIENCE_S = 30  # only ever waited for when a test fails


def lines(shown: Shown) -> Iterable[str]:
    return [f"{len(shown.frame.gpus)} GPUs in {shown.width} cells"]


def requested(host: FakeHost) -> PluginPanelActions:
    """Return the actions after the panels answered."""
    actions = PluginPanelActions(host)
    actions.request()
    assert isinstance(host.posted.get(timeout=PATIENCE_S), PanelChanged)
    return actions


def test_a_panel_gets_the_frame_and_the_width_of_the_screen() -> None:
    host = FakeHost(panels=(Panel(key="count", title="Count", help="", lines=lines),))

    (state,) = requested(host).states

    assert "".join(text for text, _ in state.lines[0]) == "2 GPUs in 118 cells"


def test_a_panel_that_fails_is_shut_off_with_its_reason() -> None:
    def fails(_: Shown) -> Iterable[str]:
        raise ValueError("no route to host")

    ended: list[tuple[str, str]] = []
    host = FakeHost(
        panels=(Panel(key="net", title="Net", help="", lines=fails),), panel_ended=lambda *why: ended.append(why)
    )

    (state,) = requested(host).states

    assert state.problem == "ValueError: no route to host"
    assert ended == [("net", state.problem)]


def test_panels_take_lines_of_the_screen_only_where_they_are_shown() -> None:
    host = FakeHost(panels=(Panel(key="count", title="Count", help="", lines=lines),))
    actions = requested(host)

    assert (actions.draw(is_shown=True), actions.draw(is_shown=False)) == (2, 0)


def test_new_lines_are_not_drawn_below_a_page_that_covers_them() -> None:
    host = FakeHost(panels=(Panel(key="count", title="Count", help="", lines=lines),))
    actions = requested(host)
    host.screens.append(HelpScreen(actions=()))
    before = host.draws

    actions.draw_changed()

    assert host.draws == before
