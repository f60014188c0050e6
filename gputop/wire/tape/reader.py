"""The reader of recordings: intact parts are played, damaged parts are reported."""

import errno
import os
import stat
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from msgspec import DecodeError, Struct, convert
from msgspec.json import Decoder
from msgspec.structs import replace

from gputop.core.model.plausible import is_time
from gputop.core.model.sample import SCHEMA_VERSION, Frame
from gputop.core.model.units import duration_text
from gputop.core.monitor import Judging
from gputop.core.text.text import excerpt
from gputop.wire.codec import Problem
from gputop.wire.limits import ExcessError, check_frame, check_line
from gputop.wire.tape.delta import Patcher
from gputop.wire.tape.layout import GZIP, HEAD_BYTES, KIND, MARK, VERSION, Header, Line, Place, place
from gputop.wire.tape.member import MOST_BYTES, Member, unpack

_CACHE_BYTES: Final = 32 * 2**20  # bytes of decompressed lines
_HEADER: Final = Decoder(Header)
_LINE: Final = Decoder(Line)
_UNENDED: Final = "the recording is incomplete: it was interrupted, or still runs. All frames so far can be played."
_CHUNK: Final = 2**20
_MOST_RAW: Final = MOST_BYTES + 2**20  # data that cannot be compressed grows a little
_MOST_GAP: Final = 2 * _MOST_RAW  # without the head of a member; a sparse file may have terabytes
_MOST_SAMPLED: Final = 16  # parts of which one frame is read to see whether it was judged
_LEAST_MEMBER: Final = HEAD_BYTES + 128  # its header and first frame have more
_MOST_TRIED: Final = 1000  # members, for one that is intact
_MOST_PROBLEMS: Final = 100
_WRONG: Final = (DecodeError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError, ExcessError)


class Moment(Struct, frozen=True):
    """A frame of a recording, its number from 0, and the seconds since the recording began."""

    number: int
    at_s: float
    frame: Frame


class _Part(Struct, frozen=True):
    """A member, and its position in the file."""

    first: int
    end: int
    place: Place


class _At(Struct):
    at_s: float


_AT: Final = Decoder(_At)


def open_tape(path: str) -> "Tape | Problem":
    """Open a recording; return the problem if it cannot be played at all."""
    name = excerpt(path)
    try:
        file = _File(path)
    except OSError as error:
        return Problem(f"cannot read {name}: {error.strerror or error}")
    parts = _parts(file)
    if not parts:
        return Problem(f"{name} is not a gputop recording: {_description(file.read(0, 64))}")
    tape = Tape(file, parts)
    if tape.refusal:
        return Problem(f"{name} {tape.refusal}")
    if not tape.frames:
        return Problem(f"{name} contains no complete frame: {tape.problems[0]}")
    return tape


class _File:
    """A file with random access. It is not mapped: if another program truncated it, access would end gputop."""

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        found = os.fstat(self._descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        self.size = found.st_size

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def read(self, first: int, end: int) -> bytes:
        """Return these bytes; fewer if the file ends or cannot be read any more."""
        found: list[bytes] = []
        with suppress(OSError):
            while first < end and (chunk := os.pread(self._descriptor, end - first, first)):
                found.append(chunk)
                first += len(chunk)
        return b"".join(found)


class Tape:
    """A recording. ``length_s``: from the first frame to the last; ``problems`` are added as it is played.

    ``judging``: makes the judge of frames that were recorded without findings; None: they have the recorded ones.
    """

    def __init__(self, file: _File, parts: tuple[_Part, ...]) -> None:
        self.problems: list[str] = []
        self.refusal = ""
        self.header = Header()
        self.judging: Callable[[], Judging] | None = None
        self._file = file
        self._parts = parts
        self._cache: dict[int, Member] = {}
        self._starts_s = [part.place.at_s for part in parts]
        self._numbers = [part.place.frames for part in parts]
        self.frames = 0
        self.length_s = 0.0
        self._find_ends()

    @property
    def began_s(self) -> float:
        """The time of the first frame, since the epoch."""
        return self._parts[0].place.time_s

    def play(self, number: int = 0) -> Iterator[Moment]:
        """Yield the frames from this one on. After a damaged part the next intact ones follow."""
        judge = self.judging() if self.judging is not None else None
        for index in range(self._part_of(number), len(self._parts)):
            for moment in self._moments(index, number):
                yield moment if judge is None else _judged(moment, judge)

    def has_findings(self) -> bool:
        """Return whether frames here and there show that a judge saw them: a finding, or when it can judge."""
        step = max(1, len(self._parts) // _MOST_SAMPLED)
        sampled = (next(self._moments(index, 0), None) for index in range(0, len(self._parts), step))
        frames = [moment.frame for moment in sampled if moment is not None]
        return any(frame.findings or frame.judged_in_s is not None for frame in frames)

    def number_at(self, at_s: float) -> int:
        """Return the number of the last frame that is not later; of the first one if all are later."""
        index = max(0, bisect_right(self._starts_s, at_s) - 1)
        first = self._numbers[index]
        times = [_time(line, at_s) for line in self._member(index).lines]
        return first + max(0, bisect_right(times, at_s) - 1)

    def at(self, number: int) -> float:
        """Return the time of a frame, or of the nearest one in its part, in seconds since the start."""
        index = self._part_of(number)
        lines = self._member(index).lines
        place = min(number - self._numbers[index], len(lines) - 1)
        return _time(lines[place], self._starts_s[index]) if lines and place >= 0 else self._starts_s[index]

    def _part_of(self, number: int) -> int:
        return max(0, bisect_right(self._numbers, number) - 1)

    def _find_ends(self) -> None:
        """Find the header, and the end of the recording."""
        for index in range(min(len(self._parts), _MOST_TRIED)):
            if self._header(index):
                break
        for index in reversed(range(max(0, len(self._parts) - _MOST_TRIED), len(self._parts))):
            lines = self._member(index).lines
            if lines:
                self.frames = self._numbers[index] + len(lines)
                times_s = (_time(line, -1.0) for line in reversed(lines))  # of a damaged part the end may lack it
                self.length_s = next((at_s for at_s in times_s if at_s >= 0), self._starts_s[index])
                return

    def _header(self, index: int) -> bool:
        header = self._member(index).header
        if header is None:
            return False
        try:
            self.header = _HEADER.decode(header)
        except (DecodeError, RecursionError):
            return False
        self.refusal = _newer(self.header)
        return True

    def _moments(self, index: int, first: int) -> Iterator[Moment]:
        patcher: Patcher | None = None
        for number, line in enumerate(self._member(index).lines, self._numbers[index]):
            try:
                check_line(line)
                read = _LINE.decode(line)
                patcher = _patched(patcher, read)
                if number < first:
                    continue
                frame = convert(patcher.tree, Frame)
                check_frame(frame)
            except _WRONG as error:
                self._note(index, excerpt(str(error)))
                return
            yield Moment(number, read.at_s, frame)

    def _member(self, index: int) -> Member:
        member = self._cache.pop(index, None)
        if member is None:
            part = self._parts[index]
            member = unpack(self._file.read(part.first + HEAD_BYTES, min(part.end, part.first + _MOST_RAW)))
            self._report(index, member)
        self._cache[index] = member
        while len(self._cache) > 1 and sum(each.size for each in self._cache.values()) > _CACHE_BYTES:
            del self._cache[next(iter(self._cache))]
        return member

    def _report(self, index: int, member: Member) -> None:
        is_last = index == len(self._parts) - 1
        missing = 0 if is_last else self._numbers[index + 1] - self._numbers[index] - len(member.lines)
        if member.problem or missing > 0:
            self._note(index, member.problem or f"{missing} frames are missing")
        elif member.is_cut and is_last:
            self.problems.append(_UNENDED)

    def _note(self, index: int, why: str) -> None:
        at = duration_text(self._starts_s[index])
        is_last = index == len(self._parts) - 1
        end = "its end" if is_last else duration_text(self._starts_s[index + 1])
        text = f"the recording is damaged between {at} and {end}: {why}"
        if len(self.problems) < _MOST_PROBLEMS and text not in self.problems:
            self.problems.append(text)


def _judged(moment: Moment, judge: Judging) -> Moment:
    findings = judge.judge(moment.frame, moment.frame.jobs)
    return replace(moment, frame=replace(moment.frame, findings=findings, judged_in_s=judge.judged_in_s))


def _patched(patcher: Patcher | None, line: Line) -> Patcher:
    """Return the frame after this line."""
    if not is_time(line.at_s):
        raise ValueError("an impossible time")
    if line.frame is not None:
        return Patcher(line.frame)
    if patcher is None:
        raise ValueError("its first frame is missing")
    patcher.step(line.changed, line.moved)
    return patcher


def _parts(file: _File) -> tuple[_Part, ...]:
    """Return the members by their heads."""
    heads: list[tuple[int, Place]] = []
    at = 0
    while at < file.size and at - (heads[-1][0] if heads else 0) < _MOST_GAP:
        chunk = file.read(at, at + _CHUNK + HEAD_BYTES)
        here = chunk.find(MARK)
        while 0 <= here < _CHUNK:
            found = place(chunk[here : here + HEAD_BYTES])
            if found is not None and (not heads or _is_later(at + here, found, *heads[-1])):
                heads.append((at + here, found))
            here = chunk.find(MARK, here + 1)
        at += _CHUNK
    ends = [first for first, _ in heads[1:]] + [file.size] * bool(heads)
    return tuple(_Part(first, end, begun) for (first, begun), end in zip(heads, ends, strict=True))


def _time(line: bytes, otherwise: float) -> float:
    """Return when a line was written, or ``otherwise`` if it does not contain the time."""
    try:
        at_s = _AT.decode(line).at_s
    except (DecodeError, RecursionError):
        return otherwise
    return at_s if is_time(at_s) else otherwise


def _is_later(first: int, found: Place, first_before: int, before: Place) -> bool:
    """Return whether a head follows another one, with room for a member between them."""
    return first - first_before >= _LEAST_MEMBER and found.at_s >= before.at_s and found.frames > before.frames


def _newer(header: Header) -> str:
    if header.tape != KIND:
        return f"is a recording of {excerpt(header.tape)}, not of gputop"
    for what, version, known in (
        ("recording", header.version, VERSION),
        ("schema", header.schema_version, SCHEMA_VERSION),
    ):
        if version > known:
            return (
                f"was recorded by a newer gputop {excerpt(header.gputop)} ({what} {version}, this one reads {known}): "
                "update gputop"
            )
    return ""


def _description(beginning: bytes) -> str:
    if not beginning:
        return "it is empty"
    if MARK.startswith(beginning[: len(MARK)]):
        return "it ends within its first bytes"
    if beginning.startswith(GZIP):
        return "it is another kind of gzip file"
    if beginning.lstrip().startswith(b"{"):
        return "it looks like JSON, maybe of gputop stream; gputop record makes recordings"
    return "gputop record makes recordings"
