"""Keymaps: presets and the user's own keys, followed by bindings, footer, palette and help."""

import re
from typing import Any

import pytest
from app_driver import SMALL, WIDE, staged, text_of, text_on
from examples import frame, process
from textual.actions import parse

from gputop.core.protocol.command import SendSignal
from gputop.core.settings.settings import KEYMAPS, Settings
from gputop.ui.input.actions import ACT, ACTIONS, Place
from gputop.ui.input.keymap import key_of, keymap, presets
from gputop.ui.screens.dialogs.affinity import AffinityScreen
from gputop.ui.screens.dialogs.escalation import EscalationScreen
from gputop.ui.screens.dialogs.io_class import IoClassScreen
from gputop.ui.screens.dialogs.menu import MenuScreen
from gputop.ui.screens.dialogs.modal import KeyedScreen
from gputop.ui.screens.dialogs.outcome import OutcomeScreen
from gputop.ui.screens.dialogs.renice import ReniceScreen
from gputop.ui.screens.dialogs.setup import SetupScreen
from gputop.ui.screens.dialogs.signal import SignalScreen
from gputop.ui.screens.main.screen import MainScreen
from gputop.ui.screens.mig.apply_dialog import MigApplyScreen
from gputop.ui.screens.mig.page import MigScreen
from gputop.ui.screens.mig.plan_dialog import MigPlanScreen
from gputop.ui.screens.pages.findings import FindingsScreen
from gputop.ui.screens.pages.gpu import GpuScreen
from gputop.ui.screens.pages.help import HelpScreen
from gputop.ui.screens.pages.history import HistoryScreen
from gputop.ui.screens.pages.plugin_panels import PanelsScreen
from gputop.ui.screens.pages.process import ProcessScreen
from gputop.ui.screens.pages.why import WhyScreen
from gputop.ui.screens.probe.page import ProbeScreen

WITH_KEYS = {action.id for action in ACTIONS if action.keys}
FEW = frame(1, (process(1), process(2), process(3)))


@pytest.mark.parametrize("name", KEYMAPS)
def test_no_key_of_a_preset_does_two_things(name: str) -> None:
    for place in Place:
        keys = [key for action in keymap(name).actions if action.place is place for key in action.keys]

        assert len(keys) == len(set(keys))


SCREENS = (
    AffinityScreen, EscalationScreen, FindingsScreen, GpuScreen, HelpScreen, HistoryScreen, IoClassScreen, MenuScreen,
    MigApplyScreen, MigPlanScreen, MigScreen, OutcomeScreen, PanelsScreen, ProbeScreen, ProcessScreen, ReniceScreen,
    SetupScreen, SignalScreen, WhyScreen,
)  # fmt: skip


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", KEYMAPS)
def test_no_key_of_a_preset_does_two_things_in_a_dialog_or_on_a_page(name: str, screen: type[KeyedScreen[Any]]) -> None:
    taken = [action for action in keymap(name).actions if action.id in screen.TAKES]
    means = {(key, screen.TAKES[action.id]) for action in taken for key in action.keys}

    assert len(means) == len({key for key, _ in means})


@pytest.mark.parametrize("screen", SCREENS)
def test_a_dialog_takes_actions_that_there_are_and_has_a_method_for_each(screen: type[KeyedScreen[Any]]) -> None:
    assert screen.TAKES.keys() <= {action.id for action in ACTIONS}
    assert all(callable(getattr(screen, parse(method.format(key=0))[1])) for method in screen.TAKES.values())


def test_every_action_of_dialogs_and_pages_is_taken_somewhere() -> None:
    taken = {action for screen in SCREENS for action in screen.TAKES}

    assert {action.id for action in ACTIONS if action.place is not Place.MAIN} <= taken


@pytest.mark.parametrize("screen", SCREENS)
def test_esc_leaves_every_dialog_and_page_and_ctrl_c_is_none_of_their_keys(screen: type[KeyedScreen[Any]]) -> None:
    table = keymap("gputop").taken(screen.TAKES)

    assert table["escape"] in {"cancel", "close", "give_up", "step_back"}
    assert "ctrl+c" not in table


@pytest.mark.parametrize("name", KEYMAPS)
def test_a_preset_leaves_every_action_a_key_and_every_f_key_a_twin(name: str) -> None:
    for action in keymap(name).actions:
        others = [key for key in action.keys if not re.fullmatch(r"(shift\+)?f\d+", key)]

        assert others or action.id not in WITH_KEYS, action.id


@pytest.mark.parametrize("name", KEYMAPS)
def test_a_preset_names_only_actions_that_there_are(name: str) -> None:
    assert presets(name).keys() <= {action.id for action in ACTIONS}


@pytest.mark.parametrize("name", ["nvtop", "vim"])
def test_no_key_that_moves_in_a_preset_acts_on_a_process(name: str) -> None:
    acting = {key for action in keymap(name).actions if action.group == ACT for key in action.keys}

    assert not acting & {"h", "j", "k", "l"}


@pytest.mark.parametrize("name", KEYMAPS)
def test_ctrl_c_quits_in_every_preset(name: str) -> None:
    assert [action.id for action in keymap(name).actions if "ctrl+c" in action.keys] == ["quit"]


def test_presets_report_nothing() -> None:
    assert [keymap(name).problems for name in KEYMAPS] == [()] * len(KEYMAPS)


def test_a_key_of_ones_own_is_taken_from_who_had_it_and_that_is_told() -> None:
    held = keymap("gputop", {"pause": ("t",)})
    keys = {action.id: action.keys for action in held.actions}

    assert keys["pause"] == ("t",)
    assert keys["tree"] == ("f5",)
    assert held.problems == ("keys.pause: t no longer does “Tree”",)


def test_two_actions_may_swap_their_keys_without_a_word() -> None:
    held = keymap("gputop", {"pause": ("t",), "tree": ("Z", "f5")})

    assert held.problems == ()


def test_ctrl_c_cannot_be_given_to_anything_else() -> None:
    held = keymap("gputop", {"kill": ("ctrl+c", "K")})
    keys = {action.id: action.keys for action in held.actions}

    assert keys["kill"] == ("K",)
    assert "ctrl+c" in keys["quit"]
    assert held.problems == ("keys.kill: Ctrl-C always quits",)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("?", "question_mark"), ("/", "slash"), ("\\", "backslash"), ("+", "plus"), ("-", "minus"), ("x", "x"),
        ("X", "X"), ("F3", "f3"), ("Ctrl-R", "ctrl+r"), ("ctrl+r", "ctrl+r"), ("Alt-k", "alt+k"), ("Esc", "escape"),
        ("PgUp", "pageup"), ("space", "space"), ("Shift-F3", "shift+f3"), ("question_mark", "question_mark"),
        ("[", "left_square_bracket"), ("<", "less_than_sign"), ("Alt-K", "alt+K"),
    ],
)  # fmt: skip
def test_keys_may_be_written_as_people_write_them(text: str, key: str) -> None:
    assert key_of(text) == key


async def test_vim_moves_with_its_letters_and_k_kills_nobody() -> None:
    async with staged(FEW, settings=Settings(keymap="vim")) as stage:
        await stage.press("j", "j", "j", "k")
        row = stage.app.main.processes.selected

        assert isinstance(stage.app.screen, MainScreen)
        assert row is not None
        assert row.process.pid == 2


async def test_a_key_of_nvitop_that_kills_there_asks_here() -> None:
    async with staged(FEW, settings=Settings(keymap="nvitop")) as stage:
        await stage.press("down", "k")

        assert isinstance(stage.app.screen, SignalScreen)
        assert stage.link.sent == []


async def test_footer_help_and_palette_follow_the_keys() -> None:
    settings = Settings(keys={"tree": ("w",), "command-line": ("W",), "density": ()})
    async with staged(FEW, size=WIDE, settings=settings) as stage:
        footer = stage.footer
        await stage.press("w")
        title = stage.processes[0]
        await stage.press("f1")
        assert isinstance(stage.app.screen, HelpScreen)
        page = text_of(stage.app.screen.page(150, 40))

        assert "w Tree" in footer
        assert "Size" not in footer
        assert "Tree" in title
        assert re.search(r"\bw +Tree", page)
        palette = [command.title for command in stage.app.get_system_commands(stage.app.screen)]
        assert len(palette) > len(ACTIONS) / 2
        assert ["Tree", "w"] in [title.split() for title in palette]


async def test_a_chord_begins_with_the_key_that_was_chosen() -> None:
    async with staged(FEW, settings=Settings(keys={"sort-chord": ("z",)})) as stage:
        await stage.pilot.press("z", "c")
        await stage.pilot.pause()

        assert "CPU%▼" in stage.processes[0]


async def test_conflicts_and_what_is_wrong_with_the_settings_are_told_at_the_start() -> None:
    settings = Settings(keys={"pause": ("t",)})
    async with staged(FEW, settings=settings, problems=("config.toml: line 3: no such key",)) as stage:
        told = stage.messages

        assert told == ["config.toml: line 3: no such key\nkeys.pause: t no longer does “Tree”"]


async def test_many_mistakes_are_one_note_that_says_where_the_others_are() -> None:
    async with staged(FEW, problems=tuple(f"line {n}: no such key" for n in range(1, 11))) as stage:
        (note,) = stage.messages

        assert note.split("\n") == [*(f"line {n}: no such key" for n in (1, 2, 3)), "and 7 more: gputop config show"]


async def test_ctrl_q_of_textual_does_not_quit() -> None:
    async with staged(FEW) as stage:
        await stage.press("ctrl+q")

        assert stage.app.is_running
        assert stage.app._exit is False


@pytest.mark.parametrize("opens", ["f1", "f2", "f6", "k", "K", "r", "i", "enter", "f"])
async def test_ctrl_c_quits_wherever_one_is_and_sends_nothing(opens: str) -> None:
    async with staged(FEW) as stage:
        await stage.press("down", opens, "ctrl+c")

        assert stage.app._exit
        assert stage.changes == []


async def test_tab_goes_to_the_next_view_and_back() -> None:
    async with staged(FEW) as stage:
        await stage.press("tab")
        there = stage.processes[0]
        await stage.press("shift+tab")

        assert "Tree" in there
        assert "PID" in stage.processes[0]


async def test_a_keymap_that_is_chosen_in_set_up_holds_at_once_there_too() -> None:
    async with staged(FEW, size=WIDE) as stage:
        await stage.press("down", "f2", *["down"] * 5, "left")
        await stage.press("k", "j", "enter", "j", "k", "k")
        row = stage.app.main.processes.selected

        assert stage.app.main.controllers.settings.current.keymap == "vim"
        assert isinstance(stage.app.screen, MainScreen)
        assert row is not None
        assert row.process.pid == 1


async def test_keys_of_a_preset_hold_in_dialogs_and_on_pages() -> None:
    async with staged(FEW, size=SMALL, settings=Settings(keymap="vim")) as stage:
        await stage.press("j", "f9", "j")
        assert isinstance(stage.app.screen, SignalScreen)
        below = stage.app.screen.signal
        await stage.press("escape", "f1", "j", "j")
        page = stage.app.screen_stack[-1]

        assert below == "SIGSTKFLT"
        assert isinstance(page, HelpScreen)
        assert page.top == 2


async def test_keys_of_ones_own_hold_in_dialogs_and_their_lines_say_so() -> None:
    async with staged(FEW, settings=Settings(keys={"accept": ("x",), "scope-tree": ("w",)})) as stage:
        await stage.press("down", "k")
        assert isinstance(stage.app.screen, SignalScreen)
        said = text_on(stage.app.screen)
        await stage.press("enter", "w", "x")
        (change,) = stage.changes

        assert "x send SIGTERM" in said
        assert " w tree (1) " in said
        assert isinstance(change, SendSignal)


def test_no_key_that_is_pressed_without_a_thought_can_be_made_to_send_sigkill() -> None:
    held = keymap("gputop", {"yes": ("enter", "space", "Y")})

    assert held.keys_of("yes") == ("Y",)
    assert "never sends SIGKILL" in held.problems[0]


async def test_percent_shows_memory_in_percent_and_in_bytes_again() -> None:
    async with staged(FEW) as stage:
        await stage.press("percent_sign")
        titles, line = stage.processes[0].split(), stage.processes[1].split()
        await stage.press("percent_sign")

        assert line[titles.index("GMEM%")] == "12"
        assert "GPU-MEM" in stage.processes[0]


@pytest.mark.parametrize("size", [SMALL, WIDE])
async def test_o_shows_the_containers_even_on_a_small_screen_and_hides_them(size: tuple[int, int]) -> None:
    async with staged(FEW, size=size) as stage:
        await stage.press("O")
        there = stage.processes[0]
        await stage.press("O")

        assert "CONTAINER" in there
        assert stage.messages == []
        assert "CONTAINER" not in stage.processes[0]


async def test_keys_typed_ahead_are_taken_by_the_page_that_a_key_before_them_opened() -> None:
    async with staged(FEW) as stage:
        await stage.pilot.press("i", "escape", "f1", "end", "q", "down")
        await stage.pilot.pause()

        assert isinstance(stage.app.screen, MainScreen)
        assert stage.cursor is not None
