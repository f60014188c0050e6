"""Incremental search: to the next process that has the text, and back."""

import pytest
from app_driver import Stage, staged
from examples import frame, process

from gputop.core.model.sample import Frame


def some() -> Frame:
    names = ("python a.py", "vllm one", "python b.py", "vllm two", "python c.py")
    return frame(1, tuple(process(100 + n, command=name, user="ann") for n, name in enumerate(names)))


def at(stage: Stage) -> int | None:
    row = stage.app.main.processes.selected
    return row.process.pid if row else None


def marked(stage: Stage) -> list[str]:
    spans = [span for line in stage.app.main.processes.lines for span in line.spans]
    return [text for text, ink in spans if ink == "badge"]


@pytest.mark.parametrize("key", ["slash", "f3"])
async def test_typing_goes_to_the_next_match_and_marks_all(key: str) -> None:
    async with staged(some()) as stage:
        await stage.press(key, "v", "l")

        assert at(stage) == 101
        assert marked(stage) == ["vl", "vl"]


async def test_more_letters_begin_again_where_the_search_began() -> None:
    async with staged(some()) as stage:
        await stage.press("slash", *"python", "space", "b")

        assert at(stage) == 102


async def test_f3_goes_on_and_shift_f3_back_within_the_prompt_and_after_it() -> None:
    async with staged(some()) as stage:
        await stage.press("slash", *"vllm", "f3")
        second = at(stage)
        await stage.press("enter", "n")
        third = at(stage)
        await stage.press("f15")
        before = at(stage)
        await stage.press("f3")

        assert (second, third, before, at(stage)) == (103, 101, 103, 101)


async def test_esc_goes_back_to_where_it_began() -> None:
    async with staged(some()) as stage:
        await stage.press("end", "slash", *"vllm", "escape")

        assert at(stage) == 104
        assert marked(stage) == []
        assert not stage.app.main.prompt.display


async def test_enter_stays_and_esc_then_takes_the_marks_away() -> None:
    async with staged(some()) as stage:
        await stage.press("slash", *"vllm", "enter")
        stays, marks = at(stage), len(marked(stage))
        await stage.press("escape", "escape")

        assert (stays, marks) == (101, 2)
        assert marked(stage) == []


@pytest.mark.parametrize(("text", "pid"), [("104", 104), ("TWO", 103)])
async def test_pid_and_command_are_searched_whatever_the_case(text: str, pid: int) -> None:
    async with staged(some()) as stage:
        await stage.press("slash", *text)

        assert at(stage) == pid


async def test_what_nobody_has_is_told_and_the_cursor_stays() -> None:
    async with staged(some()) as stage:
        await stage.press("down", "down", "slash", *"zebra")

        assert at(stage) == 101
        assert "no process matches" in stage.footer


async def test_letters_typed_at_once_after_the_slash_are_searched_for() -> None:
    async with staged(some()) as stage:
        await stage.pilot.press("slash", "q", "t")
        await stage.pilot.pause()

        assert stage.app.is_running
        assert stage.app.main.prompt.text == "qt"


async def test_n_without_a_search_says_so() -> None:
    async with staged(some()) as stage:
        await stage.press("n")

        assert any("no search yet" in note for note in stage.messages)
