"""The width and the colours of a table."""

import fcntl
import os
import struct
import termios
from collections.abc import Iterator
from io import StringIO
from typing import TextIO

import pytest

from gputop.report.grid import Style, look

XTERM = {"TERM": "xterm-256color"}


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    """Return a terminal of 97 columns."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 97, 0, 0))
    with os.fdopen(slave, "w") as stream:
        yield stream
    os.close(master)


def test_a_terminal_has_a_width_and_colours(terminal: TextIO) -> None:
    assert look(terminal, XTERM) == (97, Style.COLOUR)


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {}, XTERM | {"NO_COLOR": "1"}])
def test_a_terminal_that_does_not_want_colours_gets_none(terminal: TextIO, environment: dict[str, str]) -> None:
    assert look(terminal, environment) == (97, Style.PLAIN)


def test_an_empty_no_color_counts_as_unset(terminal: TextIO) -> None:
    assert look(terminal, XTERM | {"NO_COLOR": ""}) == (97, Style.COLOUR)


def test_a_pipe_or_a_file_has_no_width_and_no_colours() -> None:
    assert look(StringIO(), XTERM) == (None, Style.PLAIN)
