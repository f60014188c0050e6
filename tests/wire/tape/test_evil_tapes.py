"""Recordings that were made to take all memory or time: they end at the first line that no recorder writes."""

import json
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from examples import NOW, frame
from recordings import Metronome, Sink, opened, packed

from gputop.core.model.foreign import LONGEST
from gputop.core.model.sample import Frame
from gputop.wire.encoder import encode
from gputop.wire.tape import member
from gputop.wire.tape.layout import Header, Place, head
from gputop.wire.tape.writer import TapeWriter

PATIENCE_S = 60  # only ever waited for when a test fails
MEMORY_BYTES = 2**30
MIB = 2**20
PLAY = """
import json, sys
from gputop.wire.tape.reader import open_tape
tape = open_tape(sys.argv[1])
frames = [moment.frame for moment in tape.play()] if hasattr(tape, "play") else []
print(json.dumps([len(frames), tape.problems if hasattr(tape, "play") else [tape.text]]))
"""


def tape(*lines: str) -> bytes:
    """Return a recording with a whole frame and these lines below it."""
    first = '{"at_s":0.0,"frame":' + encode(frame()).decode().strip() + "}"
    return packed(encode(Header()) + "\n".join((first, *lines, "")).encode())


def changes(*changes: str) -> Iterator[str]:
    return (f'{{"at_s":{number}.0,{change}}}' for number, change in enumerate(changes, 1))


def played(path: Path) -> tuple[int, Sequence[str]]:
    """Return the frames and problems that a player with little memory finds in a file."""
    done = subprocess.run(
        [sys.executable, "-c", PLAY, str(path)], capture_output=True, check=False, text=True, timeout=PATIENCE_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES)),
    )  # fmt: skip
    assert done.stderr == ""
    count, problems = json.loads(done.stdout)
    return count, problems


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([f'"changed":{{"processes":[[0,{2**n}],[0,{2**n}]]}}' for n in range(1, 60)], "used twice"),
        (['"changed":{"x":[' + "[]," * 5_000_000 + "[]]}"], "a line of more than 1,000,000 values"),
        (['"changed":{"processes":[' + "0," * 100_001 + "0]}"], "a list of more than 100,000 rows"),
        ([f'"changed":{{"x{n}":{{"y":[{"0," * 300_000}0]}}}}' for n in range(9)], "a frame of more than 1,000,000"),
        (['"moved":{"time_s":[1e308]}'], "an impossible number"),
        (['"moved":{"processes.memory_bytes":[[1' + "0" * 4000 + "],0]}"], "an impossible number"),
        (['"moved":{"time_s":[1e17]}'], "a frame with an impossible time"),
    ],
    ids=["doubling", "values", "rows", "growth", "infinity", "digits", "year"],
)
def test_a_recording_cannot_make_a_frame_that_no_host_has(lines: list[str], why: str, tmp_path: Path) -> None:
    (tmp_path / "evil.tape").write_bytes(tape(*changes(*lines)))
    count, problems = played(tmp_path / "evil.tape")

    assert count <= len(lines)
    assert why in problems[0]


def test_a_name_of_a_million_signs_in_a_recording_holds_up_the_screen(tmp_path: Path) -> None:
    longer = changes(f'"moved":{{"host.name":[["{"x" * 1_000_000}"]]}}')
    names = [moment.frame.host.name for moment in opened(tape(*longer), tmp_path).play()]

    assert [len(name) for name in names] == [len(frame().host.name), LONGEST]


@pytest.mark.parametrize("letter", ["\n", " "])
def test_a_part_that_inflates_without_an_end_is_cut(letter: str, tmp_path: Path) -> None:
    whole = tape()
    (tmp_path / "evil.tape").write_bytes(whole + packed(encode(Header()) + letter.encode() * 40 * MIB, 1))
    count, problems = played(tmp_path / "evil.tape")

    assert count == 1
    assert "more data than a recorder writes" in problems[0]


def test_a_hundred_thousand_heads_without_members_are_refused_at_once(tmp_path: Path) -> None:
    heads = b"".join(head(Place(float(number), number, NOW)) for number in range(1, 100_000))
    (tmp_path / "evil.tape").write_bytes(tape() + heads)
    count, problems = played(tmp_path / "evil.tape")

    assert count == 0
    assert "contains no complete frame" in problems[0]


def test_a_file_with_a_hole_of_a_terabyte_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "evil.tape"
    path.write_bytes(tape())
    with path.open("r+b") as file:
        file.truncate(2**40)

    assert played(path)[0] == 1


def test_a_head_with_an_impossible_place_is_no_head(tmp_path: Path) -> None:
    (tmp_path / "evil.tape").write_bytes(tape() + bytes(500) + head(Place(1e300, 2**63, 1e300)) + bytes(500))

    assert played(tmp_path / "evil.tape")[0] == 1


def test_a_recorder_begins_a_new_part_before_a_reader_would_refuse_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gputop.wire.tape.writer.MOST_BYTES", 20_000)
    monkeypatch.setattr(member, "MOST_BYTES", 20_000)
    frames: list[Frame] = [frame(8, time_s=NOW + n, sequence=n) for n in range(30)]
    sink = Sink()
    writer = TapeWriter(sink, Metronome())
    for each in frames:
        writer.write(each)
    writer.close()
    read = opened(bytes(sink.raw), tmp_path)

    assert [moment.frame for moment in read.play()] == frames
    assert read.problems == []
