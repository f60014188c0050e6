"""The recorder of the screen's frames, in a thread of its own: a slow disk does not delay the screen."""

import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, Protocol

from msgspec.structs import replace

from gputop.core.model.sample import Frame
from gputop.core.recording.recording import Recording
from gputop.wire.tape.file import cannot_record, stopped

_MOST_WAITING: Final = 60  # frames; a disk that is slow for longer loses some


class Opened(Protocol):
    """The open file of a recording, unbuffered."""

    def write(self, raw: memoryview, /) -> int:
        """Write a part of ``raw``; return its length."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


class TapeRecorder:
    """A `Recorder`. ``create`` opens a new file and raises OSError."""

    def __init__(self, create: Callable[[str], Opened]) -> None:
        self._create = create
        self._run: _Run | None = None

    @property
    def recording(self) -> Recording | None:
        """The current recording, or the last one."""
        return None if self._run is None else self._run.recording

    def start(self, path: str) -> None:
        """Start a recording, in a thread; ``~`` is the home directory."""
        self.stop()
        self._run = _Run(os.path.expanduser(path), self._create)

    def take(self, frame: Frame) -> None:
        """Add a frame, if a recording runs."""
        if self._run is not None:
            self._run.take(frame)

    def stop(self) -> None:
        """End it; queued frames are still written."""
        if self._run is not None:
            self._run.stop()

    def close(self, patience_s: float) -> None:
        """End it, and wait for at most this long."""
        if self._run is not None:
            self._run.stop()
            self._run.thread.join(patience_s)


class _Run:
    """One recording."""

    def __init__(self, path: str, create: Callable[[str], Opened]) -> None:
        self.recording = Recording(path=path)
        self._create = create
        self._waiting: SimpleQueue[Frame | None] = SimpleQueue()
        self._is_stopped = False
        self.thread = threading.Thread(target=self._write, name="recorder", daemon=True)
        self.thread.start()

    def take(self, frame: Frame) -> None:
        if not self._is_stopped and self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put(frame)

    def stop(self) -> None:
        if not self._is_stopped:
            self._is_stopped = True
            self._waiting.put(None)

    def _write(self) -> None:
        path = self.recording.path
        try:
            file = self._create(path)
        except OSError as error:
            self._end(cannot_record(path, error))
            return
        try:
            self._write_to(file)
            self._end("")
        except OSError as error:
            self._end(stopped(path, error))
        finally:
            file.close()

    def _write_to(self, file: Opened) -> None:
        from gputop.wire.tape.writer import TapeWriter  # noqa: PLC0415 - few screens record

        writer = TapeWriter(file)
        while (frame := self._waiting.get()) is not None:
            writer.write(frame)
            self._report(writer.frames, writer.bytes, writer.seconds)
        writer.close()
        self._report(writer.frames, writer.bytes, writer.seconds)

    def _report(self, frames: int, size: int, seconds: float) -> None:
        self.recording = replace(self.recording, frames=frames, bytes=size, seconds=seconds)

    def _end(self, problem: str) -> None:
        self.recording = replace(self.recording, is_on=False, problem=problem)
