"""Keys are pressed in a terminal, and answers timed; a program that is stuck is not pressed for ever."""

import sys
from collections.abc import Iterator

import pytest
from screen import keys
from terminal import Terminal

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*multi-threaded:DeprecationWarning"
)  # xdist's; the child execs at once
ECHO = "import os, tty; tty.setraw(0)\nwhile data := os.read(0, 9): os.write(1, data)"
DEAF = "import os, tty; tty.setraw(0)\nwhile os.read(0, 9): pass"


@pytest.fixture
def terminal(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    opened = Terminal((sys.executable, "-S", "-c", request.param))
    yield opened
    opened.close()


@pytest.mark.parametrize("terminal", [ECHO], indirect=True)
def test_every_press_that_is_answered_is_timed(terminal: Terminal) -> None:
    pressed = keys(terminal, 3, 10)

    assert (pressed.presses, pressed.unanswered) == (3, 0)
    assert pressed.median_ms is not None


@pytest.mark.parametrize("terminal", [DEAF], indirect=True)
def test_who_answers_nothing_is_given_up_and_has_no_times(terminal: Terminal) -> None:
    pressed = keys(terminal, 100, 10, no_answer_s=0.01)

    assert (pressed.presses, pressed.unanswered) == (5, 5)
    assert (pressed.median_ms, pressed.p95_ms, pressed.most_ms) == (None, None, None)
