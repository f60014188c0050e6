"""py-spy, an optional program: the stack of one Python process."""

import os
import sys
from collections.abc import Mapping
from typing import Final

from msgspec import DecodeError, Struct, ValidationError
from msgspec.json import Decoder

from gputop.core.insight.stacks import StackFrame
from gputop.core.text.text import clean, decode
from gputop.machine.bounded_run import run_bounded
from gputop.machine.files.walk import danger, program

NAME: Final = "py-spy"
_LIMIT_S: Final = 5.0
_MOST_BYTES: Final = 8 << 20
_MOST_FRAMES: Final = 200
_MOST_TEXT: Final = 300
_MOST_LINE: Final = 10_000_000
_MAIN: Final = "MainThread"
_ADDRESS: Final = "0x"  # a native function without a name; its address is another one in each process
_PASSED: Final = ("PATH", "LANG", "LC_ALL", "HOME")


class Stack(Struct, frozen=True):
    """The stack of the main thread, innermost frame first. ``thread``: its name, empty for the main thread."""

    thread: str
    frames: tuple[StackFrame, ...]


class Refusal(Struct, frozen=True):
    """The reason why py-spy has no stack, in its words."""

    text: str


class _Frame(Struct):
    name: str
    filename: str = ""
    module: str | None = None
    line: int = 0


class _Thread(Struct):
    frames: list[_Frame]
    os_thread_id: int | None = None
    thread_name: str | None = None


_THREADS: Final = Decoder(list[_Thread])


def find(environment: Mapping[str, str]) -> str | None:
    """Return the path of py-spy: on PATH, or beside the Python that runs gputop; None if there is none that is safe."""
    beside = os.path.join(os.path.dirname(sys.executable), NAME)
    if path := program(NAME, environment):
        return path
    return beside if os.access(beside, os.X_OK) and not danger(beside) else None


def dump(path: str, pid: int, *, is_native: bool, is_blocking: bool) -> Stack | Refusal:
    """Return the stack of a process. ``is_blocking``: pause it for some milliseconds, which ``is_native`` needs."""
    words = [path, "dump", "--json", "--pid", str(pid)]
    words += ["--native"] if is_native else []
    words += [] if is_blocking or is_native else ["--nonblocking"]
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    try:
        ran = run_bounded(words, _LIMIT_S, _MOST_BYTES, environment)
    except OSError as error:
        return Refusal(f"cannot run {NAME}: {error.strerror or error}")
    if ran.excess:
        return Refusal(f"{NAME} {ran.excess}")
    if ran.status != 0:
        return Refusal(_words(ran.err))
    return stack_of(ran.out, pid)


def stack_of(raw: bytes, pid: int) -> Stack | Refusal:
    """Return the stack of the main thread, or of the first one, from the answer of py-spy."""
    try:
        threads = _THREADS.decode(raw)
    except (DecodeError, ValidationError, RecursionError, UnicodeDecodeError):
        return Refusal(f"{NAME} sent an answer that is not known here")
    if not threads:
        return Refusal("it has no threads in Python")
    by_id = (thread for thread in threads if thread.os_thread_id == pid)
    by_name = (thread for thread in threads if thread.thread_name == _MAIN)
    main = next(by_id, None) or next(by_name, None)
    chosen = main or threads[0]
    name = "" if main else clean((chosen.thread_name or f"thread {chosen.os_thread_id}")[:_MOST_TEXT])
    named = [frame for frame in chosen.frames if not frame.name.startswith(_ADDRESS)]
    return Stack(name, tuple(_frame(frame) for frame in named[:_MOST_FRAMES]))


def _frame(frame: _Frame) -> StackFrame:
    return StackFrame(
        clean(frame.name[:_MOST_TEXT]),
        clean(frame.filename[-_MOST_TEXT:]),
        frame.line if 0 <= frame.line <= _MOST_LINE else 0,
        is_native=frame.module is not None,
    )


def _words(raw: bytes) -> str:
    """Return the error and its causes, without the backtrace."""
    lines = raw.partition(b"Stack backtrace")[0].splitlines()
    texts = [decode(line.strip()) for line in lines if line.strip() and line.strip() != b"Caused by:"]
    return "; ".join(texts)[:_MOST_TEXT] or "it said nothing"
