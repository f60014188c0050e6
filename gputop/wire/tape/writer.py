"""The writer of recordings: each frame reaches the file before the next one is taken."""

import time
from collections.abc import Callable
from typing import Final, Protocol
from zlib import DEFLATED, MAX_WBITS, Z_FINISH, Z_SYNC_FLUSH, compressobj, crc32

from msgspec.json import decode

from gputop import __version__
from gputop.core.model.sample import Frame
from gputop.wire.encoder import encode
from gputop.wire.tape.delta import Differ
from gputop.wire.tape.layout import FRAMES_A_MEMBER, TRAILER, Header, Line, Place, head
from gputop.wire.tape.member import MOST_BYTES

_LEVEL: Final = 9
_MOST_MEMORY: Final = 9


class Out(Protocol):
    """An unbuffered file."""

    def write(self, raw: memoryview, /) -> int:
        """Write a part of ``raw``; return its length."""
        ...


class TapeWriter:
    """Writes frames. ``clock``: monotonic seconds.

    ``frames``, ``bytes`` and ``seconds``: the amounts written so far.
    """

    def __init__(self, out: Out, clock: Callable[[], float] = time.monotonic) -> None:
        self.frames = 0
        self.bytes = 0
        self.seconds = 0.0
        self._out = out
        self._clock = clock
        self._began_s: float | None = None
        self._member: _Member | None = None
        self._differ: Differ | None = None

    def write(self, frame: Frame) -> None:
        """Write a frame. Raises OSError if the file accepts no more; then do not write again."""
        now = self._clock()
        self._began_s = now if self._began_s is None else self._began_s
        self.seconds = round(now - self._began_s, 3)
        if self._differ is None or self._member is None or self._member.is_full:
            self._put(self._begun(frame))
        else:
            changed, moved = self._differ.step(decode(encode(frame)))
            self._put(self._add(encode(Line(at_s=self.seconds, changed=changed, moved=moved))))
        self.frames += 1

    def close(self) -> None:
        """Write the end of the last member. The file stays open."""
        self._put(self._ended())

    def _begun(self, frame: Frame) -> bytes:
        """End a member and start another with a whole frame."""
        end = self._ended()
        self._differ = Differ(decode(encode(frame)))
        self._member = _Member()
        header = Header(gputop=__version__, host=frame.host.name, interval_s=frame.interval_s)
        whole = Line(at_s=self.seconds, frame=self._differ.tree)
        place = Place(self.seconds, self.frames, frame.time_s)
        return end + head(place) + self._add(encode(header) + encode(whole))

    def _add(self, lines: bytes) -> bytes:
        return b"" if self._member is None else self._member.add(lines)

    def _ended(self) -> bytes:
        member, self._member = self._member, None
        return b"" if member is None else member.end()

    def _put(self, raw: bytes) -> None:
        left = memoryview(raw)
        while left:
            written = self._out.write(left)
            self.bytes += written
            left = left[written:]


class _Member:
    """Compresses the lines of a member."""

    def __init__(self) -> None:
        self._compressor = compressobj(_LEVEL, DEFLATED, -MAX_WBITS, _MOST_MEMORY)
        self._sum = 0
        self._size = 0
        self._frames = 0

    @property
    def is_full(self) -> bool:
        """Say whether the next frame starts another member: a reader holds all lines of one."""
        return self._frames >= FRAMES_A_MEMBER or self._size >= MOST_BYTES // 2

    def add(self, lines: bytes) -> bytes:
        self._frames += 1
        self._sum = crc32(lines, self._sum)
        self._size += len(lines)
        return self._compressor.compress(lines) + self._compressor.flush(Z_SYNC_FLUSH)

    def end(self) -> bytes:
        return self._compressor.flush(Z_FINISH) + TRAILER.pack(self._sum, self._size & 0xFFFFFFFF)
