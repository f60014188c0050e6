"""Tapes on a disk that fills up, of programs that crash, of other programs, of the future."""

import gzip
from pathlib import Path
from random import Random

import pytest
from examples import frame, gpu, process
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.json import decode, encode
from msgspec.structs import replace
from recordings import Metronome, Sink, opened, simulated, taped

from gputop.core.model.catalogue import MEMORY_USED, POWER_AVERAGE
from gputop.core.model.sample import Frame, GpuState, HostProcess
from gputop.wire.codec import Problem
from gputop.wire.tape.delta import rounded
from gputop.wire.tape.layout import FRAMES_A_MEMBER, HEAD_BYTES, MARK
from gputop.wire.tape.reader import open_tape
from gputop.wire.tape.writer import TapeWriter

MIB = 2**20


def moving(count: int) -> list[Frame]:
    """Return frames in which a number grows and a process comes and goes."""
    return [
        frame(
            (gpu(0, {POWER_AVERAGE: 300.0 + n, MEMORY_USED: n * 4096}),),
            (process(4711, cpu_percent=n % 7 * 1.0), *((process(4712),) if n % 10 < 5 else ())),
            time_s=1_800_000_000.0 + n,
            sequence=n,
        )
        for n in range(count)
    ]


def refusal(raw: bytes, folder: Path) -> str:
    file = folder / "b.tape"
    file.write_bytes(raw)
    found = open_tape(str(file))
    assert isinstance(found, Problem)
    return found.text


def test_what_is_played_is_what_was_recorded(tmp_path: Path) -> None:
    frames = moving(300)
    tape = opened(taped(frames), tmp_path)

    assert [moment.frame for moment in tape.play()] == frames
    assert (tape.frames, tape.length_s, tape.problems) == (300, 299.0, [])


@pytest.mark.parametrize("name", ["training", "h200", "mig", "workstation", "dying"])
def test_the_frames_of_every_simulated_box_come_back_but_for_the_noise(name: str, tmp_path: Path) -> None:
    frames = list(simulated(130, name))
    tape = opened(taped(frames), tmp_path)
    played = [decode(encode(moment.frame)) for moment in tape.play()]

    assert played == [rounded(decode(encode(each))) for each in frames]


def test_memory_of_a_gpu_is_kept_to_the_byte_and_nobody_loses_more_than_half_a_percent(tmp_path: Path) -> None:
    frames = list(simulated(20))
    tape = opened(taped(frames), tmp_path)

    for before, after in zip(frames, (moment.frame for moment in tape.play()), strict=True):
        for one, other in zip(before.gpus, after.gpus, strict=True):
            assert one[MEMORY_USED] == other[MEMORY_USED]
            assert one[POWER_AVERAGE] == pytest.approx(other[POWER_AVERAGE], rel=0.005)


def test_an_hour_of_eight_gpus_and_their_processes_takes_two_mib() -> None:
    frames = 240
    size = len(taped(simulated(frames)))

    assert size * 3600 / frames < 2.0 * MIB


def test_processes_that_come_and_go_cost_little_more_than_their_own_lines() -> None:
    def crowd(n: int) -> tuple[HostProcess, ...]:
        return (*(process(1000 + k, k % 8) for k in range(100)), process(5000 + n, 0))

    churning = [frame(8, crowd(n)) for n in range(100)]
    still = [frame(8, crowd(0)) for _ in range(100)]

    assert len(taped(churning)) - len(taped(still)) < 100 * 250


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_a_tape_that_is_cut_anywhere_plays_all_that_was_written_before(
    tmp_path_factory: pytest.TempPathFactory, at: int
) -> None:
    frames, ends = moving(260), []
    sink = Sink()
    writer = TapeWriter(sink, Metronome())
    for each in frames:
        writer.write(each)
        ends.append(len(sink.raw))
    cut = ends[0] + at % (len(sink.raw) - ends[0])
    whole = sum(end <= cut for end in ends)
    tape = opened(bytes(sink.raw[:cut]), tmp_path_factory.mktemp("cut"))
    played = [moment.frame for moment in tape.play()]

    assert played == frames[: len(played)]
    assert len(played) == tape.frames
    assert len(played) in {whole, whole + 1}  # a line may be there before the mark behind it is
    assert whole % FRAMES_A_MEMBER == 0 or "is incomplete" in tape.problems[0]


@pytest.mark.parametrize("room", [0, 1, HEAD_BYTES, 5_000, 12_000])
def test_a_full_disk_ends_a_recording_and_leaves_it_readable(room: int, tmp_path: Path) -> None:
    frames = moving(1_000)
    sink = Sink(room, most=700)
    writer = TapeWriter(sink, Metronome())
    with pytest.raises(OSError, match="No space left"):
        any(map(writer.write, frames))

    if writer.frames:
        played = [moment.frame for moment in opened(bytes(sink.raw), tmp_path).play()]
        assert played == frames[: len(played)]
        assert len(played) in {writer.frames, writer.frames + 1}  # a line may be there before the mark behind it is


def test_a_damaged_part_is_left_out_and_named_and_the_rest_is_played(tmp_path: Path) -> None:
    raw = bytearray(taped(moving(5 * FRAMES_A_MEMBER)))
    second = raw.find(MARK, raw.find(MARK) + 1)
    raw[second + 400 : second + 440] = bytes(40)
    tape = opened(bytes(raw), tmp_path)
    numbers = [moment.number for moment in tape.play()]

    assert numbers[:FRAMES_A_MEMBER] == list(range(FRAMES_A_MEMBER))
    assert numbers[-3 * FRAMES_A_MEMBER :] == list(range(2 * FRAMES_A_MEMBER, 5 * FRAMES_A_MEMBER))
    assert len(numbers) < 5 * FRAMES_A_MEMBER
    assert "damaged between 2m00 and 4m00" in tape.problems[0]


def test_a_tape_whose_last_lines_are_damaged_is_as_long_as_what_can_be_read_of_it(tmp_path: Path) -> None:
    raw = taped(moving(20))
    lines = gzip.decompress(raw).split(b"\n")
    tape = opened(repacked(raw, b"\n".join([*lines[:-3], b"?" + lines[-3], lines[-2][:-9], b""])), tmp_path)
    played = [moment.at_s for moment in tape.play()]

    assert played == [float(second) for second in range(18)]
    assert tape.length_s == 17.0


def test_no_damage_whatever_stops_the_player(tmp_path: Path) -> None:
    good = taped(moving(3 * FRAMES_A_MEMBER))
    random = Random(7)  # noqa: S311
    for _ in range(60):
        raw = bytearray(good)
        for _ in range(random.randint(1, 20)):
            raw[random.randrange(len(raw))] = random.randrange(256)
        file = tmp_path / "c.tape"
        file.write_bytes(raw)
        tape = open_tape(str(file))
        if not isinstance(tape, Problem):
            played = sum(1 for _ in tape.play())
            assert played == 3 * FRAMES_A_MEMBER or tape.problems


def test_a_tape_that_lost_its_beginning_plays_from_the_next_good_frame(tmp_path: Path) -> None:
    raw = taped(moving(2 * FRAMES_A_MEMBER))
    tape = opened(raw[1000:], tmp_path)

    assert next(tape.play()).number == FRAMES_A_MEMBER


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "it is empty"),
        (b"hello", "is not a gputop recording"),
        (b'{"schema_version":1}\n', "gputop stream"),
        (gzip.compress(b"hello", mtime=0), "another kind of gzip file"),
        (MARK[:9], "ends within its first bytes"),
        (taped(moving(1))[:200], "contains no complete frame"),
    ],
)
def test_what_is_no_tape_is_refused_in_words(raw: bytes, words: str, tmp_path: Path) -> None:
    assert words in refusal(raw, tmp_path)


def test_a_tape_of_a_newer_gputop_is_refused_and_not_guessed_at(tmp_path: Path) -> None:
    raw = taped(moving(1))
    lines = gzip.decompress(raw)
    newer = lines.replace(b'"version":1', b'"version":2', 1)
    schema = lines.replace(b'"schema_version":1', b'"schema_version":99', 1)
    foreign = lines.replace(b'"tape":"gputop"', b'"tape":"other"', 1)

    assert "newer gputop" in refusal(repacked(raw, newer), tmp_path)
    assert "schema 99, this one reads 1" in refusal(repacked(raw, schema), tmp_path)
    assert "is a recording of other" in refusal(repacked(raw, foreign), tmp_path)


def repacked(raw: bytes, lines: bytes) -> bytes:
    """Return a member with the head of another one."""
    return raw[:HEAD_BYTES] + gzip.compress(lines, mtime=0)[10:]


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    found = open_tape(str(tmp_path / "none.tape"))

    assert isinstance(found, Problem)
    assert found.text.endswith("No such file or directory")


def test_zcat_prints_a_tape() -> None:
    lines = gzip.decompress(taped(moving(250))).splitlines()

    assert decode(lines[0])["tape"] == "gputop"
    assert decode(lines[1])["frame"]["gpus"][0]["name"].startswith("NVIDIA")
    assert decode(lines[2])["moved"]["time_s"] == [1]


def test_a_place_is_found_by_its_time(tmp_path: Path) -> None:
    tape = opened(taped(moving(500), step_s=0.5), tmp_path)

    assert [tape.number_at(at) for at in (-1, 0, 0.7, 100.0, 249.4, 9999)] == [0, 0, 1, 200, 498, 499]
    assert next(tape.play(201)).at_s == 100.5


def test_a_gpu_that_is_lost_and_comes_back(tmp_path: Path) -> None:
    lost = gpu(1, metrics={}, missing={}, state=GpuState.LOST, read_s=None)
    frames = [frame(2), frame((gpu(0), lost)), frame(2), frame(1), frame(0, ()), frame(2)]

    assert [moment.frame for moment in opened(taped(frames), tmp_path).play()] == frames


def test_a_clock_that_jumps_back_does_not_turn_a_tape_round(tmp_path: Path) -> None:
    frames = [replace(each, time_s=each.time_s - 3600 * (n > 150)) for n, each in enumerate(moving(300))]
    tape = opened(taped(frames), tmp_path)

    assert [moment.number for moment in tape.play(tape.number_at(140.0))] == list(range(140, 300))
