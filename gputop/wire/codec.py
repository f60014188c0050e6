"""The decoding of JSON lines into frames, commands and answers.

Unknown fields are ignored; a newer schema is refused with a message.
"""

import re
from functools import cache
from typing import Any, Final, TypeAlias

from msgspec import DecodeError, Struct, convert, to_builtins
from msgspec.json import Decoder

from gputop.core.insight.explanation import Explanation
from gputop.core.inspection.inspection import Inspection
from gputop.core.mig.answers import MigBox, MigProgress
from gputop.core.model.foreign import LONGEST, harmless
from gputop.core.model.sample import SCHEMA_VERSION, Frame
from gputop.core.protocol.command import Command
from gputop.core.protocol.outcome import Outcome
from gputop.core.protocol.process_status import ProcessStatuses
from gputop.core.protocol.remote import Echo, Hello
from gputop.core.text.text import excerpt, is_clean

Answer: TypeAlias = Outcome | Inspection | Explanation | ProcessStatuses | MigBox | MigProgress | Hello | Echo


class Problem(Struct, frozen=True):
    """A line that could not be decoded, and the reason."""

    text: str


class _Version(Struct):
    schema_version: int = SCHEMA_VERSION


_LETTERS: Final = b"bfnrtu"
_ESCAPE: Final = re.compile(rb"\\[bfnrtu]")
_FEW: Final = 5000
_BACKSLASH: Final = ord("\\")
_DIGITS: Final = bytes(ord("0") if each in b"0123456789" else ord(" ") for each in range(256))
_HUGE: Final = b"0" * 150  # digits; a float takes 308
_STEP: Final = 13  # bytes: of so many digits each 13th is seen first
_SEEN: Final = _HUGE[: len(_HUGE) // _STEP]
_ASCII: Final = bytes(range(0x80))
_UNREADABLE: Final = (DecodeError, UnicodeDecodeError, RecursionError)  # a ValidationError is a DecodeError


@cache
def _decoder(kind: Any) -> Decoder[Any]:  # noqa: ANN401 - a type, or a union of them
    """Return the decoder of a type, made at its first use."""
    return Decoder(kind)


def frame(line: bytes | memoryview) -> Frame | Problem:
    """Decode a line of a stream."""
    try:
        read: Frame = _decoder(Frame).decode(line)
    except _UNREADABLE as error:
        return _newer(_version(line)) or Problem(f"not a gputop frame: {excerpt(str(error))}")
    return _newer(read.schema_version) or read


def answer(line: bytes | memoryview) -> Frame | Answer | Problem:
    """Decode a line of a sampler: a frame, or the answer to a command. Readers of frames alone skip answers.

    The sampler may run on the host of a stranger, so its text is cleaned; that of an honest one is clean already.
    """
    read: Frame | Answer | Problem = frame(line)
    if isinstance(read, Problem):
        try:
            read = _decoder(Answer).decode(line)
        except _UNREADABLE:
            return read
    if isinstance(read, Problem):
        return read
    raw = bytes(line)
    is_short = not isinstance(read, Frame) or not _has_long_text(raw)
    return read if is_short and _is_clean(raw) else _cleaned(read, LONGEST if isinstance(read, Frame) else len(raw))


def _cleaned(read: Frame | Answer, longest: int) -> Frame | Answer | Problem:
    try:
        return convert(harmless(to_builtins(read), longest), type(read))
    except ValueError as error:
        return Problem(f"not a gputop frame: {error}")


def command(line: bytes) -> Command | Problem:
    """Decode a line of the control pipe."""
    try:
        read: Command = _decoder(Command).decode(line)
    except _UNREADABLE as error:
        return Problem(f"not a command: {excerpt(str(error))}")
    return read


def _is_clean(line: bytes) -> bool:
    """Say whether a line of JSON has clean text, and no numbers that are too large to print.

    JSON escapes control characters, and need not escape others.
    """
    if _SEEN in line[::_STEP].translate(_DIGITS) and _HUGE in line.translate(_DIGITS):
        return False
    if _has_control_escape(line):
        return False
    return line.isascii() or is_clean(line.translate(None, _ASCII).decode(errors="replace"))


def _has_control_escape(line: bytes) -> bool:
    """Say whether JSON escapes a character by a letter. A few backslashes are found faster than a pattern reads on."""
    at = line.find(b"\\")
    for _ in range(_FEW):
        if at < 0:
            return False
        if line[at + 1] in _LETTERS:
            return True
        at = line.find(b"\\", at + 2)
    return at >= 0 and _ESCAPE.search(line[at:].replace(rb"\\", b"")) is not None


def _has_long_text(line: bytes) -> bool:
    """Say whether a line of JSON may have a text of more than `LONGEST` bytes: so many between two quotes."""
    at = 0
    while len(line) - at > LONGEST:
        end = line.rfind(b'"', at + 1, at + LONGEST + 2)
        while end >= 0 and line[end - 1] == _BACKSLASH:
            end = line.rfind(b'"', at + 1, end)
        if end < 0:
            return True
        at = end
    return False


def _newer(version: int) -> Problem | None:
    if version <= SCHEMA_VERSION:
        return None
    return Problem(f"written by a newer gputop (schema {version}, this one reads {SCHEMA_VERSION}): update gputop")


def _version(line: bytes | memoryview) -> int:
    """Return the schema version of an undecodable line; our own if it has none."""
    try:
        version: int = _decoder(_Version).decode(line).schema_version
    except _UNREADABLE:
        return SCHEMA_VERSION
    return version
