"""Frames and commands as lines of JSON."""

import pytest
from examples import frame, gpu
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gputop.core.inspection.inspection import Inspection
from gputop.core.model.catalogue import EVENT_REASONS, FAN
from gputop.core.model.foreign import LONGEST
from gputop.core.model.metric import Missing
from gputop.core.model.sample import Frame, GpuState, Presence
from gputop.core.protocol.command import (
    Command,
    IoClass,
    ReadNow,
    Renice,
    SendSignal,
    SetAffinity,
    SetInterval,
    SetIoClass,
    Target,
    WatchHost,
)
from gputop.core.protocol.outcome import Outcome, Result, Status
from gputop.wire import codec
from gputop.wire.encoder import encode


def test_a_number_that_is_too_large_to_print_makes_no_frame() -> None:
    raw = encode(frame()).replace(b'"memory_used_bytes":268435456000', b'"memory_used_bytes":1' + b"0" * 400)

    assert codec.answer(raw) == codec.Problem("not a gputop frame: an impossible number")


@pytest.mark.parametrize("name", ["x" * 1_000_000, 'x"' * 500_000, "x\\" * 500_000, "\x1b" * 1_000_000])
def test_a_name_of_a_million_signs_holds_up_the_screen(name: str) -> None:
    (board,) = frame(1).gpus
    read = codec.answer(encode(replace(frame(1), gpus=(replace(board, name=name),))))

    assert isinstance(read, Frame)
    assert len(read.gpus[0].name) == LONGEST
    assert read.gpus[0].name.endswith("…")


def test_a_long_name_is_cut_although_the_screen_can_draw_it() -> None:
    (board,) = frame(1).gpus
    sent = replace(frame(1), gpus=(replace(board, name='"x' * (LONGEST // 2)),))

    assert codec.answer(encode(sent)) == sent


def test_an_argument_of_a_process_page_is_cut_like_a_name() -> None:
    sent = Inspection(id="1", pid=7, command=("x" * 100_000,))

    assert codec.answer(encode(sent)) == sent


def test_a_frame_comes_back_as_it_was() -> None:
    sent = frame(gpus=3)

    assert codec.frame(encode(sent)) == sent


def test_a_missing_value_travels_as_null_with_its_reason() -> None:
    line = encode(frame((gpu(values={FAN: Missing.FORBIDDEN}),)))

    assert b'"fan_percent":null' in line
    assert b'"missing":{"fan_percent":"forbidden"}' in line


def test_lists_states_and_reasons_keep_their_types() -> None:
    sent = frame((gpu(values={EVENT_REASONS: ("power cap",)}, state=GpuState.LOST),))
    received = codec.frame(encode(sent))

    assert not isinstance(received, codec.Problem)
    assert received.gpus[0][EVENT_REASONS] == ("power cap",)
    assert received.gpus[0].state is GpuState.LOST


def test_fields_that_are_newer_than_this_gputop_are_ignored() -> None:
    line = encode(frame()).replace(b'{"time_s"', b'{"from_the_future":[1],"time_s"')

    assert codec.frame(line) == frame()


def test_a_newer_schema_is_refused_in_words() -> None:
    line = encode(frame()).replace(b'"schema_version":1', b'"schema_version":999')
    problem = codec.frame(line)

    assert isinstance(problem, codec.Problem)
    assert "newer gputop" in problem.text


@pytest.mark.parametrize("line", [b"", b"\n", b"{", b"[]", b"{}", b"\xff\xfe", b'{"time_s": "noon"}', b"null"])
def test_a_line_that_is_not_a_frame_is_a_problem_and_no_crash(line: bytes) -> None:
    assert isinstance(codec.frame(line), codec.Problem)


@given(st.binary())
def test_no_bytes_crash_the_codec(line: bytes) -> None:
    assert isinstance(codec.frame(line), codec.Problem)
    codec.command(line)


TARGETS = (Target(4711, 47110), Target(8, None, Presence.HIDDEN))
OUTCOME = Outcome(
    id="a",
    what="nice 10",
    results=(
        Result(pid=4711, start_ticks=47110, status=Status.DONE, before="0", after="10"),
        Result(pid=8, status=Status.REFUSED, detail="hidden", remedy="Look elsewhere."),
    ),
    note="The audit log is full.",
)


@pytest.mark.parametrize(
    "command",
    [
        SetInterval(0.5),
        ReadNow(),
        WatchHost(30.0),
        SendSignal(id="a", signal="SIGTERM", targets=TARGETS),
        Renice(id="b", nice=-1, is_relative=True, targets=TARGETS),
        SetIoClass(id="c", io_class=IoClass.IDLE, targets=TARGETS),
        SetAffinity(id="d", cpus=(0, 2), targets=TARGETS),
    ],
)
def test_a_command_comes_back_as_it_was(command: Command) -> None:
    assert codec.command(encode(command)) == command


def test_an_outcome_comes_back_as_it_was() -> None:
    assert codec.answer(encode(OUTCOME)) == OUTCOME


def test_a_frame_among_outcomes_comes_back_as_it_was() -> None:
    assert codec.answer(encode(frame())) == frame()


def test_a_reader_that_knows_only_frames_skips_outcomes_and_what_is_newer() -> None:
    assert isinstance(codec.frame(encode(OUTCOME)), codec.Problem)
    assert isinstance(codec.answer(b'{"answer":"from_the_future","id":"a"}'), codec.Problem)


@given(st.binary())
def test_no_bytes_crash_the_reader_of_answers(line: bytes) -> None:
    assert isinstance(codec.answer(line), codec.Problem)
