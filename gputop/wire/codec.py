"""Frames and commands to lines of JSON and back. Unknown fields are ignored; a newer schema is refused in words."""

from msgspec import DecodeError, Struct
from msgspec.json import Decoder, Encoder

from gputop.core.command import Command
from gputop.core.sample import SCHEMA_VERSION, Frame


class Problem(Struct, frozen=True):
    """A line that could not be read, and why."""

    text: str


class _Version(Struct):
    schema_version: int = SCHEMA_VERSION


_ENCODER = Encoder()
_FRAMES = Decoder(Frame)
_VERSIONS = Decoder(_Version)
_COMMANDS: Decoder[Command] = Decoder(Command)


def encode(value: Frame | Command) -> bytes:
    """Return one line, with its newline."""
    return _ENCODER.encode(value) + b"\n"


def frame(line: bytes) -> Frame | Problem:
    """Read a line of a stream or a tape."""
    try:
        version = _VERSIONS.decode(line).schema_version
        if version > SCHEMA_VERSION:
            return Problem(
                f"written by a newer gputop (schema {version}, this one reads {SCHEMA_VERSION}): update gputop"
            )
        return _FRAMES.decode(line)
    except (DecodeError, UnicodeDecodeError) as error:  # a ValidationError is a DecodeError
        return Problem(f"not a frame of gputop: {error}")


def command(line: bytes) -> Command | Problem:
    """Read a line of the control pipe."""
    try:
        return _COMMANDS.decode(line)
    except (DecodeError, UnicodeDecodeError) as error:
        return Problem(f"not a command: {error}")
