"""The driver that sleeps until a key is pressed."""

import asyncio
import os
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread

import pytest
from textual.app import App
from textual.events import Key
from textual.message import Message

from gputop.ui.render.quiet_driver import QuietDriver

PATIENCE_S = 30.0


class Typing(QuietDriver):
    """The driver with a pipe in place of a terminal."""

    def __init__(self) -> None:
        super().__init__(App())
        self.fileno, self.keyboard = os.pipe()
        self.got: SimpleQueue[Message] = SimpleQueue()
        self.thread = Thread(target=self.run_input_thread, daemon=True)
        self._key_thread = self.thread
        self.thread.start()

    def process_message(self, message: Message) -> None:
        """Keep a message."""
        self.got.put(message)

    def write(self, data: str) -> None:
        """Write nothing: there is no terminal."""

    def press(self, keys: bytes) -> str:
        """Type, and return the next key that arrives."""
        os.write(self.keyboard, keys)
        message = self.got.get(timeout=PATIENCE_S)
        assert isinstance(message, Key)
        return message.key


@pytest.fixture
def driver() -> Iterator[Typing]:
    made = asyncio.run(_made())
    yield made
    made.disable_input()
    os.close(made.fileno)
    os.close(made.keyboard)


async def _made() -> Typing:
    """Return a driver; Textual's own takes the running event loop."""
    return Typing()


def test_keys_arrive_one_after_the_other(driver: Typing) -> None:
    assert [driver.press(keys) for keys in (b"k", b"\x1b[A", "é".encode())] == ["k", "up", "é"]


def test_a_lone_escape_does_not_wait_for_the_next_key(driver: Typing) -> None:
    assert driver.press(b"\x1b") == "escape"


def test_half_a_character_waits_for_its_other_half(driver: Typing) -> None:
    first, second = "é".encode()[:1], "é".encode()[1:]
    os.write(driver.keyboard, first)

    assert driver.press(second) == "é"


def test_a_thread_that_sleeps_ends_with_the_screen(driver: Typing) -> None:
    driver.disable_input()

    driver.thread.join(PATIENCE_S)
    assert not driver.thread.is_alive()


def test_the_end_of_the_input_does_not_keep_the_thread_busy(driver: Typing) -> None:
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), driver.keyboard)  # closes the writing end

    driver.thread.join(PATIENCE_S)
    assert not driver.thread.is_alive()
