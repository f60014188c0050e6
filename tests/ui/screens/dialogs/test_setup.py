"""The settings dialog: shown at once, saved when it closes."""

from collections.abc import Mapping

import pytest
from app_driver import SMALL, WIDE, staged, text_on
from examples import frame, process

from gputop.core.processes.columns import COLUMN_BY_KEY
from gputop.core.protocol.command import SetInterval
from gputop.core.settings.column_choice import USUAL
from gputop.core.settings.settings import Settings, Value
from gputop.ui.screens.dialogs.setup import SetupScreen
from gputop.ui.state.settings_edit import OPTIONS, changes, listed, moved, shown, toggled

FEW = frame(1, (process(1), process(2)))


class Kept:
    """Remembers what was saved, and refuses to where it is told."""

    def __init__(self, refusal: str | None = None) -> None:
        self.refusal = refusal
        self.changes: list[Mapping[str, Value | None]] = []

    def __call__(self, new: Mapping[str, Value | None]) -> str | None:
        self.changes.append(new)
        return self.refusal


def test_a_column_is_shown_before_the_command_and_hidden_again() -> None:
    with_job = toggled(Settings(), "job")

    assert shown(with_job)[-2:] == ("job", "command")
    assert toggled(with_job, "job").columns == (), "the usual columns are no choice"


def test_the_last_column_stays() -> None:
    assert toggled(Settings(columns=("pid",)), "pid").columns == ("pid",)


def test_a_column_moves_and_not_beyond_the_end() -> None:
    first = moved(Settings(), "pid", -1)

    assert shown(first)[:2] == ("pid", "gpu")
    assert moved(first, "pid", -1) == first
    assert moved(Settings(), "job", -1) == Settings(), "one that is not shown has no place"


def test_all_columns_are_listed_once() -> None:
    assert sorted(listed(Settings(columns=("job", "pid")))) == sorted(listed(Settings()))


def test_only_what_changed_is_saved() -> None:
    after = toggled(Settings(theme="dark"), "job")

    assert changes(Settings(), after) == {"theme": "dark", "columns": ("+job",)}
    assert changes(after, Settings(theme="dark")) == {"columns": None}


async def test_a_change_is_shown_at_once_and_saved_on_closing() -> None:
    kept = Kept()
    async with staged(FEW, size=WIDE, save=kept) as stage:
        await stage.press("f2", "end", *["up"] * (len(listed(Settings())) - len(USUAL) - 1), "space")
        assert isinstance(stage.app.screen, SetupScreen)
        added = shown(stage.app.screen.settings)
        titles = stage.processes[0]
        before = list(kept.changes)
        await stage.press("enter")
        await stage.app.workers.wait_for_complete()

        (new,) = set(added) - set(USUAL)

        assert COLUMN_BY_KEY[new].title in titles
        assert before == []
        assert kept.changes == [{"columns": (f"+{new}",)}]


async def test_the_cursor_stays_on_the_column_that_moves() -> None:
    async with staged(FEW, size=WIDE) as stage:
        await stage.press("S", *["down"] * (len(OPTIONS) + 1), "left")
        titles = stage.processes[0].split()
        await stage.press("right")

        assert titles[0] == "PID"
        assert stage.processes[0].split()[:2] == ["GPU▲", "PID"]


async def test_theme_and_panels_change_while_one_looks() -> None:
    async with staged(FEW, save=Kept()) as stage:
        await stage.press("f2", "right", "down", "right", "down", "space")

        assert stage.app.theme == "light"
        assert "╭" not in stage.gpus
        assert stage.app.main.host.styles.height is not None
        assert stage.app.main.host.styles.height.value == 0


async def test_a_sort_that_keys_chose_is_what_the_screen_begins_with_and_it_is_kept_only_if_changed() -> None:
    kept = Kept()
    async with staged(FEW, save=kept) as stage:
        await stage.press("P", "f2", "enter")
        await stage.app.workers.wait_for_complete()

        assert kept.changes == []
        assert "CPU%▼" in stage.processes[0]


async def test_why_nothing_was_saved_is_told() -> None:
    async with staged(FEW, save=Kept("the disk is full")) as stage:
        await stage.press("f2", "right", "enter")
        await stage.app.workers.wait_for_complete()
        await stage.pilot.pause()

        assert stage.messages == ["not saved: the disk is full"]


async def test_without_changes_nothing_is_saved() -> None:
    kept = Kept()
    async with staged(FEW, save=kept) as stage:
        await stage.press("f2", "enter")
        await stage.app.workers.wait_for_complete()

        assert kept.changes == []


async def test_settings_hold_from_the_start() -> None:
    settings = Settings(columns=("pid", "job", "command"), sort="pid", sort_reversed=True, show_host=False)
    async with staged(FEW, settings=settings) as stage:
        assert stage.processes[0].split()[:2] == ["PID▼JOB", "COMMAND"]
        assert stage.processes[1].split()[0] == "2"
        assert stage.app.main.host.size.height == 0


async def test_every_entry_is_reached_on_a_small_screen() -> None:
    async with staged(FEW, size=SMALL) as stage:
        await stage.press("f2", "end")
        assert isinstance(stage.app.screen, SetupScreen)
        marked = [line for line in stage.app.screen.page(70, 20) if line.base == "cursor"]

        assert len(marked) == 1


async def test_how_much_is_below_is_said_until_its_end_is_seen() -> None:
    async with staged(frame(), size=SMALL) as stage:
        await stage.press("f2")
        assert isinstance(stage.app.screen, SetupScreen)
        at_first = text_on(stage.app.screen)
        await stage.press("end")

        assert " more below " in at_first
        assert " more below " not in text_on(stage.app.screen)


async def test_a_theme_that_a_key_chose_is_what_the_screen_begins_with() -> None:
    kept = Kept()
    async with staged(FEW, save=kept) as stage:
        await stage.press("ctrl+t", "f2")
        assert isinstance(stage.app.screen, SetupScreen)
        begun = stage.app.screen.settings.theme
        await stage.press("escape")
        await stage.app.workers.wait_for_complete()

        assert begun == stage.app.theme == "light"
        assert kept.changes == []


@pytest.mark.parametrize("key", ["f12", "W"])
async def test_what_keys_have_changed_is_kept_when_it_is_asked_for(key: str) -> None:
    kept = Kept()
    async with staged(FEW, save=kept) as stage:
        await stage.press(key, "P", "m", "ctrl+t", key)
        await stage.app.workers.wait_for_complete()
        await stage.press(key)
        await stage.app.workers.wait_for_complete()

        assert kept.changes == [{"sort": "cpu", "show_host": False, "theme": "light"}]


async def test_esc_undoes_what_set_up_changed_and_saves_nothing() -> None:
    kept = Kept()
    async with staged(FEW, size=WIDE, save=kept, settings_file="/home/ann/.config/gputop/config.toml") as stage:
        await stage.press("f2", "right", *["down"] * 5, "left")
        during = stage.app.theme, stage.app.main.keys.name("down")
        title = text_on(stage.app.screen).splitlines()[0]
        await stage.press("escape")
        await stage.app.workers.wait_for_complete()

        assert during == ("light", "↓")
        assert title == "Settings · Enter saves to /home/ann/.config/gputop/config.toml"
        assert stage.app.theme == "dark"
        assert stage.app.main.controllers.settings.current.keymap == "gputop"
        assert kept.changes == []


async def test_f12_says_what_it_saved_and_where_and_saves_a_shown_column_alone() -> None:
    kept = Kept()
    async with staged(FEW, size=WIDE, save=kept, settings_file="/etc/x.toml") as stage:
        await stage.press("O", "f12")
        await stage.app.workers.wait_for_complete()
        await stage.pilot.pause()

        assert kept.changes == [{"columns": ("+container",)}]
        assert stage.messages[-1] == "saved in /etc/x.toml: columns"


async def test_the_interval_of_the_dialog_reaches_the_sampler_and_esc_restores_it() -> None:
    down = ["down"] * [option.key for option in OPTIONS].index("interval_s")
    async with staged(FEW, size=WIDE) as stage:
        await stage.press("f2", *down, "right")
        chosen = stage.app.view.interval_s
        await stage.press("escape")

        assert chosen == 2.0
        assert stage.app.view.interval_s == 1.0
        assert [one for one in stage.link.sent if isinstance(one, SetInterval)] == [SetInterval(2.0), SetInterval(1.0)]
