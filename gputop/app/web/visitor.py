"""A visitor of the screen: a child process with a screen of its own, which speaks Textual's protocol for browsers.

The child writes ``__GANGLION__`` when it begins. Then both sides send packets: ``D`` (keys, or what a terminal gets) or
``M`` (JSON), a length of four bytes, and the content.
"""

import asyncio
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from gputop.core.text.text import clean

_BEGIN: Final = b"__GANGLION__\n"
_MOST: Final = 16 * 1024 * 1024  # bytes of a packet
_MOST_WORDS: Final = 4096  # bytes of the last words of a screen that failed
_BEGIN_S: Final = 30.0
_END_S: Final = 3.0
_WIDEST, _HIGHEST = 500, 200  # cells

Send = Callable[[bytes], Awaitable[None]]


class Visitor:
    """A screen for one browser. ``send``: sends the browser what a terminal gets."""

    def __init__(self, command: Sequence[str], send: Send) -> None:
        self._command = command
        self._send = send
        self._process: Process | None = None

    async def show(self, width: int, height: int) -> None:
        """Start the screen, and send what it draws until it ends. Raises OSError."""
        columns, lines = _bounded(width, height)
        more = {"COLUMNS": str(columns), "ROWS": str(lines), "COLORTERM": "truecolor"}
        self._process = await _started(self._command, more)
        words = asyncio.create_task(_last(self._process.stderr))
        try:
            with suppress(asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError):  # it ended, or is no screen
                await self._draw(self._process.stdout)
        finally:
            await self.end()  # also if the browser left while the screen started
        text = "\r\n".join(clean(line) for line in (await words).splitlines())
        if text:
            await self._send(f"\x1b[2J\x1b[H{text}\r\n".encode())

    async def take(self, message: str) -> str:
        """Pass a message of the browser on; return the answer to it, if it has one. Raises ValueError."""
        match msgspec.json.decode(message):
            case ["stdin", str(keys)]:
                await self._write(b"D", keys.encode())
            case ["resize", {"width": int(width), "height": int(height)}]:
                columns, lines = _bounded(width, height)
                await self._tell({"type": "resize", "width": columns, "height": lines})
            case ["focus" | "blur" as kind, *_]:
                await self._tell({"type": kind})
            case ["ping", value]:
                return msgspec.json.encode(["pong", value]).decode()
            case _:
                raise ValueError("not a message of the page")
        return ""

    async def end(self) -> None:
        """End the screen: by request, else by force."""
        process = self._process
        if process is None:
            return
        with suppress(OSError):
            await self._tell({"type": "quit"})
        if process.stdin:
            process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _END_S)
        except asyncio.TimeoutError:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def _draw(self, out: asyncio.StreamReader | None) -> None:
        if out is None or await asyncio.wait_for(out.readline(), _BEGIN_S) != _BEGIN:
            raise ValueError("not a screen")
        while True:
            head = await out.readexactly(5)
            size = int.from_bytes(head[1:], "big")
            if size > _MOST:
                raise ValueError("too long")
            content = await out.readexactly(size)
            if head[:1] == b"D":
                await self._send(content)
            elif head[:1] == b"M" and msgspec.json.decode(content).get("type") == "exit":
                return

    async def _tell(self, value: dict[str, Any]) -> None:
        await self._write(b"M", msgspec.json.encode(value))

    async def _write(self, kind: bytes, content: bytes) -> None:
        """Send the screen a packet; one that has ended gets none."""
        stdin = self._process.stdin if self._process else None
        if stdin is None or stdin.is_closing():
            return
        stdin.write(kind + len(content).to_bytes(4, "big") + content)
        with suppress(OSError):
            await stdin.drain()


async def _started(command: Sequence[str], more: dict[str, str]) -> Process:
    """Start a screen. ``LINES`` and ``COLUMNS`` of the server's own terminal would count more than the browser's."""
    environment = {name: value for name, value in os.environ.items() if name != "LINES"} | more
    return await asyncio.create_subprocess_exec(
        *command, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=True
    )


async def _last(err: asyncio.StreamReader | None) -> str:
    """Return the last words of a process, when it has ended."""
    kept = b""
    while err and (part := await err.read(_MOST_WORDS)):
        kept = (kept + part)[-_MOST_WORDS:]
    return kept.decode(errors="replace")


def _bounded(width: int, height: int) -> tuple[int, int]:
    return max(1, min(width, _WIDEST)), max(1, min(height, _HIGHEST))
