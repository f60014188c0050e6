"""Recording beside a screen."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

from examples import frame, process
from recordings import Sink

from gputop.core.recording.recording import Recording
from gputop.machine.files.output import create_output
from gputop.wire.tape.file import TapeFile
from gputop.wire.tape.reader import Tape, open_tape
from gputop.wire.tape.recorder import TapeRecorder

PATIENCE_S = 10.0


def tape_file(path: str) -> TapeFile:
    return TapeFile(create_output(path))


def recorded(recorder: TapeRecorder) -> Recording:
    assert recorder.recording is not None
    return recorder.recording


def test_what_is_taken_is_in_the_file_in_its_order(tmp_path: Path) -> None:
    recorder, path = TapeRecorder(tape_file), str(tmp_path / "a.tape")
    recorder.take(frame(1, sequence=99))  # nobody records yet
    recorder.start(path)
    for n in range(10):
        recorder.take(frame(1, sequence=n))
    recorder.close(PATIENCE_S)
    recorder.take(frame(1, sequence=98))  # nor any more
    tape = open_tape(path)

    assert isinstance(tape, Tape)
    assert [moment.frame.sequence for moment in tape.play()] == list(range(10))
    assert (recorded(recorder).frames, recorded(recorder).is_on, recorded(recorder).problem) == (10, False, "")
    assert recorded(recorder).bytes == (tmp_path / "a.tape").stat().st_size


def test_only_its_owner_may_read_a_tape(tmp_path: Path) -> None:
    recorder, path = TapeRecorder(tape_file), tmp_path / "a.tape"
    recorder.start(str(path))
    recorder.close(PATIENCE_S)

    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_there_is_not_touched(tmp_path: Path) -> None:
    recorder, path = TapeRecorder(tape_file), tmp_path / "a.tape"
    path.write_text("precious")
    recorder.start(str(path))
    recorder.close(PATIENCE_S)

    assert path.read_text() == "precious"
    assert recorded(recorder).problem == f"{path} already exists"
    assert not recorded(recorder).is_on


def full(room: int) -> Callable[[str], Sink]:
    return lambda _: Sink(room)


def test_a_full_disk_ends_the_recording_in_words(tmp_path: Path) -> None:
    recorder, path = TapeRecorder(full(1800)), str(tmp_path / "a.tape")
    recorder.start(path)
    for n in range(50):
        recorder.take(frame(8, (process(n, command=f"run {n}"),), sequence=n))
    recorder.close(PATIENCE_S)

    assert recorded(recorder).problem == f"the recording stopped: the disk is full. {path} is readable up to here"
    assert recorded(recorder).frames > 0


def test_a_folder_that_vanishes_ends_the_recording_in_words(tmp_path: Path) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    made: list[TapeFile] = []

    def create(path: str) -> TapeFile:
        made.append(tape_file(path))
        shutil.rmtree(folder)
        return made[0]

    recorder = TapeRecorder(create)
    recorder.start(str(folder / "a.tape"))
    recorder.take(frame(1))
    recorder.close(PATIENCE_S)

    assert recorded(recorder).problem == f"the recording stopped: {folder / 'a.tape'} was deleted"


def test_a_folder_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    recorder = TapeRecorder(tape_file)
    recorder.start(str(tmp_path / "none" / "a.tape"))
    recorder.close(PATIENCE_S)

    assert "No such file or directory" in recorded(recorder).problem


def test_a_disk_that_does_not_keep_up_costs_frames_and_no_time(tmp_path: Path) -> None:
    gate = tmp_path / "a.tape"
    recorder = TapeRecorder(lambda _: Slow())
    recorder.start(str(gate))
    for n in range(1000):
        recorder.take(frame(1, sequence=n))
    Slow.is_open.set()
    recorder.close(PATIENCE_S)

    assert 0 < recorded(recorder).frames <= 61


class Slow(Sink):
    """A disk that takes nothing until it is told to."""

    is_open = threading.Event()

    def write(self, raw: memoryview) -> int:
        assert self.is_open.wait(PATIENCE_S)
        return super().write(raw)
