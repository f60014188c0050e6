"""The encoding of values as JSON lines; separate from the codec, because a snapshot decodes nothing."""

from msgspec import Struct
from msgspec.json import Encoder

_ENCODER = Encoder()


def encode(value: Struct) -> bytes:
    """Return one line, with its newline: a frame, a command or an answer."""
    return _ENCODER.encode(value) + b"\n"


def encode_into(value: Struct, line: bytearray) -> None:
    """Replace the contents of ``line``: a frame of 2,000 processes has 1.5 MB, and one is written every second."""
    _ENCODER.encode_into(value, line)
    line += b"\n"
