"""Values to lines of JSON. Apart from the codec, as a snapshot reads nothing back."""

from msgspec import Struct
from msgspec.json import Encoder

_ENCODER = Encoder()


def encode(value: Struct) -> bytes:
    """Return one line, with its newline: a frame, a command or an answer."""
    return _ENCODER.encode(value) + b"\n"
