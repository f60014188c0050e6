"""Nice value, I/O class and CPUs from the screen."""

from typing import Any

import pytest
from app_driver import Stage, staged, text_on
from examples import frame, process

from gputop.core.model.sample import Frame
from gputop.core.protocol.command import Change, IoClass, Renice, SetAffinity, SetIoClass, Target
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.ui.input.cpus import parse_cpus
from gputop.ui.screens.dialogs.dialog import Dialog

ONE = (Target(1, 10),)


def some(*pids: int, **fields: Any) -> Frame:
    return frame(1, tuple(process(pid, **fields) for pid in pids))


def page(stage: Stage) -> str:
    assert isinstance(stage.app.screen, Dialog)
    return text_on(stage.app.screen)


async def asked(*keys: str, **fields: Any) -> Change:
    """Return the one command that these keys send, with the cursor on process 1."""
    async with staged(some(1, **fields)) as stage:
        await stage.press("down", *keys)
        (command,) = stage.changes
        return command


@pytest.mark.parametrize(
    ("key", "step"), [("f7", -1), ("right_square_bracket", -1), ("f8", 1), ("left_square_bracket", 1)]
)
async def test_f7_raises_the_priority_and_f8_lowers_it_as_in_htop(key: str, step: int) -> None:
    assert await asked(key) == Renice(id="screen-1", nice=step, is_relative=True, targets=ONE)


async def test_tagged_processes_are_meant() -> None:
    async with staged(some(1, 2, 3)) as stage:
        await stage.press("space", "space", "f8")

        (change,) = stage.changes

        assert change == Renice(id="screen-1", nice=1, is_relative=True, targets=(*ONE, Target(2, 20)))


async def test_r_asks_for_a_number_and_sends_it() -> None:
    assert await asked("r", "1", "0", "enter") == Renice(id="screen-1", nice=10, targets=ONE)


async def test_a_typed_sign_takes_the_place_of_the_proposed_value() -> None:
    assert await asked("r", "minus", "5", "enter", nice=7) == Renice(id="screen-1", nice=-5, targets=ONE)


async def test_arrows_step_from_the_present_value() -> None:
    assert await asked("r", "up", "up", "down", "enter", nice=7) == Renice(id="screen-1", nice=8, targets=ONE)


async def test_the_dialog_shows_the_present_value_and_the_range() -> None:
    async with staged(some(1, nice=7), own_user="ann") as stage:
        await stage.press("down", "r")

        assert "now 7; allowed -20 (highest priority) to 19 (lowest)" in page(stage)
        assert "a lower value needs root" in page(stage)


@pytest.mark.parametrize("typed", ["2,0", "minus,2,1", "minus", "backspace"])
async def test_what_is_no_nice_value_is_refused_where_it_is_typed(typed: str) -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "r", *typed.split(","), "enter")

        assert stage.changes == []
        assert "a number from -20 to 19" in page(stage)


@pytest.mark.parametrize("key", ["r", "d", "a"])
async def test_esc_changes_nothing(key: str) -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", key, "1", "escape")

        assert stage.changes == []
        assert stage.app.screen is stage.app.main


async def test_the_io_class_is_chosen_with_arrows_and_its_level_with_a_digit() -> None:
    expected = SetIoClass(id="screen-1", io_class=IoClass.REALTIME, level=2, targets=ONE)

    assert await asked("d", "up", "2", "enter") == expected


async def test_the_usual_io_class_is_proposed() -> None:
    expected = SetIoClass(id="screen-1", io_class=IoClass.BEST_EFFORT, level=4, targets=ONE)

    assert await asked("d", "enter") == expected


async def test_cpus_are_typed_as_spans() -> None:
    assert await asked("a", "0", "minus", "1", "enter") == SetAffinity(id="screen-1", cpus=(0, 1), targets=ONE)


async def test_all_cpus_are_proposed() -> None:
    assert await asked("a", "enter") == SetAffinity(id="screen-1", cpus=(0, 1), targets=ONE)


async def test_a_cpu_that_is_not_there_is_refused() -> None:
    async with staged(some(1)) as stage:
        await stage.press("down", "a", "7", "enter")

        assert stage.changes == []
        assert "there is no CPU 7: this host has 0 to 1" in page(stage)


@pytest.mark.parametrize(("text", "cpus"), [("0", (0,)), ("0-3,8", (0, 1, 2, 3, 8)), ("3,1", (1, 3))])
def test_spans_of_cpus(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpus(text) == cpus


@pytest.mark.parametrize("text", ["", ",", "1-", "-1", "3-1", "1,,2", "99999", "0-99999999999"])
def test_what_is_no_span_of_cpus(text: str) -> None:
    with pytest.raises(ValueError, match=r"0-3,8|no CPU"):
        parse_cpus(text)


async def test_what_was_and_what_became_is_told() -> None:
    result = Result(pid=1, status=Status.DONE, before="0", after="1")
    async with staged(some(1), Outcome(id="1", what="nice +1", results=(result,))) as stage:
        assert stage.messages == ["nice +1: 1 done\n1: 0 → 1"]
